"""Counted loops, in which a counter goes by a constant step to a bound that the loop does not change; amounts of work.

    counter = find_counter(loop)        None, or how the loop counts
    is_brief(module)                    whether a call never takes more than some hundred instructions

The recogniser of such loops for passes that ask how often a loop runs, or cut it up.
"""

from __future__ import annotations

from .analysis import Loop, Loops
from .core import Block, Const, Instr, Module, Value
from .records import record
from .types import I64, Array

_TURNED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
_OPPOSITE = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq"}


@record(frozen=True, eq=False)
class Counter:
    """The loop goes on while `tested op bound`, where `tested` is the counter, or the counter after its step.

    start: the counter on entering, if all ways in agree on a value; param: the counter among the header's parameters,
    `index` its place; block: where the test is, the header or the latch; test: the comparison, whose operand number
    `side` is the bound; leaving: which target of the block's branch leaves the loop.
    """

    loop: Loop
    index: int
    param: Value
    step: int
    tested: Value
    op: str
    bound: Value
    start: Value | None
    block: Block
    test: Instr
    side: int
    leaving: int

    @property
    def ends(self) -> bool:
        """Whether the bound is met, unless it is passed by an overflow of the counter."""
        if self.op in ("ne", "eq"):
            return self.op == "ne" and abs(self.step) == 1
        return (self.step > 0) == (self.op in ("lt", "le"))

    @property
    def trips(self) -> int | None:
        """How often the test lets the loop go on, where start and bound are constants (an exit by another way may come
        first)."""
        if not (self.ends and isinstance(self.start, Const) and isinstance(self.bound, Const)):
            return None
        first = self.start.value + (self.step if self.tested is not self.param else 0)
        distance = (self.bound.value - first) * (1 if self.step > 0 else -1)
        if self.op in ("le", "ge"):
            distance += 1
        if self.op == "ne" and distance < 0:
            return None
        return max(0, -(-distance // abs(self.step)))


def find_counter(loop: Loop) -> Counter | None:
    """How `loop`, which has one latch, counts; the test is the branch of its header or of its latch."""
    latch = loop.latch
    if latch is None:
        return None
    inside = {v: i for b in loop.blocks for i in b.instrs for v in i.results}
    params = {p for b in loop.blocks for p in b.params}
    again = next(t for t in latch.terminator.targets if t.block is loop.header)
    for block in dict.fromkeys((loop.header, latch)):
        branch = block.terminator
        if branch.op != "branch":
            continue
        leaving = [k for k, t in enumerate(branch.targets) if t.block not in loop.blocks]
        test = inside.get(branch.operands[0])
        if len(leaving) != 1 or test is None or test.op not in _TURNED or test.operands[0].type is not I64:
            continue
        for side in (1, 0):
            tested, bound = test.operands[1 - side], test.operands[side]
            if bound in inside or bound in params:
                continue
            index = _index(loop, tested, inside)
            step = None if index is None else _step(again.args[index], loop.header.params[index], inside)
            if (
                index is None
                or not step
                or tested is not loop.header.params[index]
                and (_step(tested, loop.header.params[index], inside) != step)
            ):
                continue
            op = test.op if side == 1 else _TURNED[test.op]
            if leaving[0] == 0:  # it goes on where the comparison fails
                op = _OPPOSITE[op]
            starts = {target.args[index] for _, target in loop.entering}
            values = {v.value for v in starts if isinstance(v, Const)}
            agree = len(starts) == 1 or (len(values) == 1 and all(isinstance(v, Const) for v in starts))
            start = next(iter(starts)) if agree else None
            param = loop.header.params[index]
            return Counter(loop, index, param, step, tested, op, bound, start, block, test, side, leaving[0])
    return None


def _index(loop: Loop, tested: Value, inside: dict[Value, Instr]) -> int | None:
    """Which parameter of the header `tested` is, or is one step from."""
    for index, param in enumerate(loop.header.params):
        if tested is param or _step(tested, param, inside) is not None:
            return index
    return None


def _step(value: Value, param: Value, inside: dict[Value, Instr]) -> int | None:
    """The constant c where `value`, computed in the loop, is param + c."""
    instr = inside.get(value)
    return None if instr is None else advance(instr, param)


def advance(instr: Instr, param: Value) -> int | None:
    """The constant c where an instruction computes param + c."""
    if instr.op not in ("add", "cadd", "sub", "csub"):
        return None
    x, y = instr.operands
    if x is not param and instr.op in ("add", "cadd"):
        x, y = y, x
    if x is not param or not isinstance(y, Const):
        return None
    return y.value if instr.op in ("add", "cadd") else -y.value


# ---------------------------------------------------------------------------------------------------- work

_AT_ONE_PLACE = frozenset({"call", "load", "store", "accum", "dim", "stride", "view", "guard", "retain", "release",
                           "overlap", "same", "reshape", "reshapable", "transpose", "strided", "stop"})  # fmt: skip
BRIEF = 64  # iterations


def walks_array(instr: Instr) -> bool:
    """Whether an operation may go through all of an array (or make one)."""
    if instr.op in _AT_ONE_PLACE or instr.targets:
        return False
    return instr.op == "readymade" or any(isinstance(v.type, Array) for v in (*instr.operands, *instr.results))


def reached_functions(module: Module) -> dict[str, set[str]]:
    """Per function those that a call of it may call in the end; itself, if it is recursive."""
    calls = {
        name: {i.attrs["callee"] for _, i in f.instructions() if i.op == "call"} & module.functions.keys()
        for name, f in module.functions.items()
    }
    found: dict[str, set[str]] = {}
    for name, direct in calls.items():
        seen = found[name] = set()
        work = [*direct]
        while work:
            callee = work.pop()
            if callee not in seen:
                seen.add(callee)
                work += calls[callee]
    return found


def is_brief(module: Module) -> bool:
    """Whether nothing repeats in a call of any of the functions but loops of a few iterations, known when compiling."""
    if any(name in others for name, others in reached_functions(module).items()):
        return False
    for function in module.functions.values():
        if any(walks_array(instr) for _, instr in function.instructions()):
            return False
        rounds: dict[Loop, int] = {}
        for loop in Loops(function).all:  # outer before inner
            counter = find_counter(loop)
            trips = counter.trips if counter is not None else None
            if trips is None:
                return False
            rounds[loop] = trips * (rounds[loop.parent] if loop.parent is not None else 1)
            if rounds[loop] > BRIEF:
                return False
    return True


__all__ = ["Counter", "advance", "find_counter", "is_brief", "reached_functions", "walks_array"]
