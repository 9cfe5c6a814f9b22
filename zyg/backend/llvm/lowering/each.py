"""Functions that go through elements, each by itself: in the lanes of vectors, and what is left over at once.

A function with attrs["each"] has one loop that counts up by one, whose iterations may be done in any order (ir/passes/expand.py,
ir/passes/pairwise.py); what it carries are sums that begin with nothing.  It is written as a loop of vectors.  A mask says which lanes
count, all but in the last round: what is over needs no code of its own.  That costs nothing that could be measured, but where mathematical
functions are added up: there only what is over has a mask, and calls them.  On processors without masks it is gone through one by one.
"""

from __future__ import annotations

from typing import NamedTuple

from ....ir.analysis import Loops
from ....ir.core import Block, Const, Function, Instr, Target, Value
from ....ir.passes.pairwise import is_mathematical, vectorisable
from ..text import SCALAR_TYPES
from ..vectormath import FUNCTIONS
from .function import FunctionLowering, scalar_type
from .registry import lowering
from .vectors import VectorLowering, varying_in


class Plain(NamedTuple):
    """A loop `for counter in range(..., stop)`, of two blocks."""

    header: Block
    body: Block
    exit: Block
    counter: Value
    stop: Value
    totals: list[Value]  # sums, as they are in the header
    sums: list[Value]  # and with what the body adds


def plain_loop(function: Function) -> Plain | None:
    """The loop of a function, if it is as it was made; passes between may have made something else of it."""
    loops = Loops(function).all if len(function.blocks) > 1 else []
    if len(loops) != 1 or len(loops[0].blocks) != 2:
        return None
    header, body = loops[0].header, loops[0].latch
    if body is None or body is header or not header.params or len(header.instrs) != 2 or body.params:
        return None
    test, branch = header.instrs
    if test.op != "lt" or branch.op != "branch" or branch.operands != [test.result] or body.terminator.op != "jump":
        return None
    (counter, *totals), (inside, outside) = header.params, branch.targets
    if inside.block is not body or test.operands[0] is not counter or test.operands[1] is counter:
        return None
    following, *sums = body.terminator.targets[0].args
    made = {r: i for i in body.body for r in i.results}
    step = made.get(following)
    if (
        step is None
        or step.op != "add"
        or step.operands[0] is not counter
        or getattr(step.operands[1], "value", 0) != 1
    ):
        return None
    if not all(_adds_up(function, loops[0].header, body, n) for n in range(1, len(header.params))):
        return None
    varying = varying_in(function, counter)
    if not varying.issuperset(totals):  # the same number again and again
        return None
    if not all(_in_lanes(i) for i in body.body if not varying.isdisjoint(i.operands)):
        return None
    behind = {v for b in function.blocks if b not in (header, body) for i in b.instrs for v in i.operands}
    behind |= {*outside.args} - {*totals}
    if not behind.isdisjoint([counter, *made]):
        return None
    return Plain(header, body, outside.block, counter, test.operands[1], totals, sums)


def _adds_up(function: Function, header: Block, body: Block, n: int) -> bool:
    """Whether a parameter of the header begins with nothing, and the body only adds to it, which gives the next one."""
    total, sum = header.params[n], body.terminator.targets[0].args[n]
    users = [i for i in body.body if total in i.operands]
    if len(users) != 1 or users[0].results != [sum] or users[0].op not in ("add", "sub"):
        return False
    first, second = users[0].operands
    starts = [t.args[n] for b in function.blocks if b is not body for t in b.terminator.targets if t.block is header]
    return (
        (first is total and second is not total or users[0].op == "add" and second is total)
        and all(isinstance(v, Const) and v.value == 0 for v in starts)
        and sum not in {v for i in body.body for v in i.operands}
    )


def _in_lanes(instr: Instr) -> bool:
    return instr.op in ("store", "accum") or vectorisable(instr) or is_mathematical(instr)


class EachLowering(VectorLowering):
    """Lowers one such function."""

    def lower(self, linkage: str) -> None:
        loop = self.lowered.plain_loops[self.function.name]
        assert loop is not None
        self.loop = loop
        self.prepare(self.function.attrs["each"], loop.counter)
        FunctionLowering.lower(self, linkage)

    def types_of(self, value: Value) -> list[str]:
        return ["i64"] if value is self.loop.counter else super().types_of(value)

    def arguments(self, target: Target) -> list[list[str]]:
        # The loop is written elsewhere: nothing varies outside of it but what its sums begin with.
        given = FunctionLowering.arguments(self, target)
        if target.block is self.loop.header:
            given[1:] = [[self.vector(v)] for v in target.args[1:]]
        return given

    def lower_return(self, instr: Instr) -> None:
        lowering(instr.op).emit(self, instr)

    def lower_block(self, block: Block) -> None:
        if block is self.loop.header:
            self.lower_loop()
        elif block is self.loop.body:
            self.phi_places[block], self.phi_names[block] = (0, []), []
        else:
            FunctionLowering.lower_block(self, block)

    def lower_loop(self) -> None:
        loop = self.loop
        self.start(self.labels[loop.header])
        self.phi_places[loop.header] = (len(self.lines), [loop.counter, *loop.totals])
        first = "%" + self.name(loop.counter.name or "i")
        totals = ["%" + self.name(v.name or "total") for v in loop.totals]
        self.phi_names[loop.header] = [first, *totals]
        stop = FunctionLowering.value(self, loop.stop)
        body, rest = self.labels[loop.body], self.name("rest")
        following = self.let(f"add nsw i64 {first}, {self.width}")
        if not self.lowered.masks:
            self.branch(self.let(f"icmp sle i64 {following}, {stop}"), body, rest)
            self.start(rest)
            self.sum_lanes(totals)
            self.one_by_one(first, stop)
            self.start(body)
        elif loop.totals and any(i.op in FUNCTIONS for i in loop.body.body):
            # What has formulas takes a tenth longer with masks, which add to what it has to do at a time.
            self.branch(self.let(f"icmp sle i64 {following}, {stop}"), body, rest)
            self.start(rest)
            self.sum_lanes(self.left_over(first, stop, totals))
            self.leave()
            self.start(body)
        else:
            self.branch(self.let(f"icmp slt i64 {first}, {stop}"), body, rest)
            self.start(rest)
            self.sum_lanes(totals)
            self.leave()
            self.start(body)
            self.set_mask(first, stop)
        sums = self.lower_body(first, totals)
        self.edges[loop.header].append((self.label, [[following], *([v] for v in sums)]))
        self.jump(self.labels[loop.header])

    def set_mask(self, first: str, stop: str) -> None:
        """The lanes that count are those before the end."""
        left = self.splat("i64", self.let(f"sub nsw i64 {stop}, {first}"))
        lanes = ", ".join(f"i64 {k}" for k in range(self.width))
        self.mask = self.let(f"icmp sgt {self.vector_type('i64')} {left}, <{lanes}>", "mask")

    def left_over(self, first: str, stop: str, totals: list[str]) -> list[str]:
        """What is left over at once, where the loop has no masks; gives the sums."""
        some, over, before = self.name("some"), self.name("over"), self.label
        self.branch(self.let(f"icmp slt i64 {first}, {stop}"), some, over)
        self.start(some)
        self.set_mask(first, stop)
        self.calls = True
        sums = self.lower_body(first, totals)
        self.mask, self.calls = "", False
        after = self.label
        self.jump(over)
        self.start(over)
        return [
            self.let(f"phi {self.types_of(v)[0]} [ {total}, %{before} ], [ {sum}, %{after} ]", "total")
            for v, total, sum in zip(self.loop.totals, totals, sums, strict=True)
        ]

    def sum_lanes(self, sums: list[str]) -> None:
        """The sums behind the loop are those of all lanes."""
        kinds = [SCALAR_TYPES[scalar_type(v)] for v in self.loop.totals]
        for kind in dict.fromkeys(kinds):
            own = [n for n, k in enumerate(kinds) if k == kind]
            for n, name in zip(own, self.added_up(kind, [sums[n] for n in own]), strict=True):
                self.values[self.loop.totals[n]] = [name]

    def leave(self) -> None:
        """On to what is behind the loop."""
        outside = self.loop.header.terminator.targets[1]
        self.edges.setdefault(outside.block, []).append((self.label, FunctionLowering.arguments(self, outside)))
        self.jump(self.labels[outside.block])

    def lower_body(self, first: str, totals: list[str]) -> list[str]:
        """The work on the elements from `first` on; gives what the sums come to."""
        self.first = {self.loop.counter: first}
        self.down.clear()
        self.wide = dict(zip(self.loop.totals, totals, strict=True))
        for instr in self.loop.body.body:
            self.lower_marked(instr)
        sums = [self.vector(v) for v in self.loop.sums]
        if not self.mask:
            return sums
        types, lanes = [self.types_of(v)[0] for v in self.loop.totals], f"{self.vector_type('i1')} {self.mask}"
        given = zip(types, sums, totals, strict=True)
        return [self.let(f"select {lanes}, {type} {sum}, {type} {total}") for type, sum, total in given]

    def one_by_one(self, first: str, stop: str) -> None:
        """The elements that are left, without vectors."""
        one, again, over = self.name("one"), self.name("again"), self.name("over")
        before = self.label
        self.jump(one)
        self.start(one)
        place = len(self.lines)
        counter = "%" + self.name("i")
        begun = [self.values[v][0] for v in self.loop.totals]
        totals = ["%" + self.name("total") for _ in begun]
        self.branch(self.let(f"icmp slt i64 {counter}, {stop}"), again, over)
        self.start(again)
        self.scalar = True
        self.values[self.loop.counter] = [counter]
        self.values |= {v: [name] for v, name in zip(self.loop.totals, totals, strict=True)}
        for instr in self.loop.body.body:
            self.lower_marked(instr)
        sums = [FunctionLowering.value(self, v) for v in self.loop.sums]
        following = self.let(f"add nsw i64 {counter}, 1")
        carried = [("i64", counter, first, following)]
        types = [SCALAR_TYPES[scalar_type(v)] for v in self.loop.totals]
        carried += zip(types, totals, begun, sums, strict=True)
        self.lines[place:place] = [
            f"  {name} = phi {type} [ {start}, %{before} ], [ {next}, %{self.label} ]"
            for type, name, start, next in carried
        ]
        self.jump(one)
        self.scalar = False
        self.start(over)
        self.leave()

    def lower_marked(self, instr: Instr) -> None:
        """An instruction, with its place in the source."""
        self.instr = instr
        before = len(self.lines)
        if self.scalar:
            lowering(instr.op).emit(self, instr)
        else:
            self.lower_instr(instr)
        if self.places is not None:
            self.lines[before:] = [self.places.mark(line, instr.position) for line in self.lines[before:]]
