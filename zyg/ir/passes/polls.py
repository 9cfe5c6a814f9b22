"""Let code that may run for long look at signals (Ctrl-C) and let other threads run.

Input: a module after all passes that care about loops.  Output: polls with an amount of work each; the runtime looks at
the clock whenever enough work has added up.

* A loop that counts and has no loops inside is cut into strips, so that a strip itself stays a plain counted loop that
  LLVM vectorises.  One that stands in another loop polls before each strip, by the strip's length, else after it; if it is
  small and cannot be longer than a dimension of an array, it stays whole, and the loop around it polls for its work.
* Any other innermost loop counts its iterations and polls every so many.
* A loop around loops, or around calls or operations on whole arrays, polls in each iteration, unless a loop in it does
  so already whenever it runs.
* A loop over the elements of arrays (`elements` at the jump back), or a nest of these, is an operation on whole arrays
  like any other, and stays whole. Outside of other loops a poll for all its work comes before it, unless there was one
  before one of the last few of them: each is code, and a test.
* A recursive function polls when it is entered; `shallow` functions, the parts of an operation on whole arrays, never do.

Polls that are `rare`, beside operations on whole arrays, are small rather than fast (rare.py finds more of them).

Invariant: values do not change.
"""

from __future__ import annotations

from collections.abc import Set

from ..analysis import Dominators, Loop, Loops, has_cycles
from ..builder import Builder
from ..core import Block, Const, Function, Instr, Module, Target, Value, const
from ..counters import Counter, find_counter, reached_functions, walks_array
from ..ops import OPS
from ..records import field, record
from ..types import BOOL, I64
from .places import Memory
from .rewriting import split_edge

STRIP = 1 << 16  # iterations between polls of a counted loop
ROUNDS = 1 << 12  # of one that is not
ROUND = 64  # the work of an iteration of a loop around loops, and of a call, in iterations of innermost loops
WHOLE_ARRAY = 1 << 10  # of an operation that may walk through a whole array
NEGLIGIBLE = 1 << 10  # so many iterations inside another loop need no poll of their own
LONGEST_STEP = 1 << 20
EVERY = 3  # loops over elements outside of other loops, one of which polls
SMALL = 96  # instructions of a loop that may run over a dimension without a poll: not much longer than a copy of it


def run_module(module: Module) -> bool:
    """`run` for each function; and a poll at the head of those that may call themselves."""
    changed = False
    reached = reached_functions(module)
    looping = {name for name, f in module.functions.items() if has_cycles(f)}
    heavy = {name for name, others in reached.items() if name in looping or not looping.isdisjoint(others)}
    elements = {name for name, function in module.functions.items() if "elements" in function.attrs}
    for function in module.functions.values():
        if not function.attrs.get("shallow"):
            changed |= run(function, heavy, elements)
    recursive = [name for name, others in reached.items() if name in others]
    for name in recursive:
        if module.functions[name].attrs.get("shallow"):
            continue
        entry = module.functions[name].entry
        position = next((i.position for i in entry.instrs if i.position is not None), None)
        entry.instrs.insert(0, Instr("poll", [const(ROUND)], position=position))
        changed = True
    return changed


@record
class _Plan:
    """What to do to a loop: a poll in each iteration for some work (0: none is asked for) and for loops over elements in it,
    of these lengths; or a counter by which to cut it into strips."""

    loop: Loop
    work: int = 0
    lengths: list[Value | None] = field(default_factory=list)
    rare: bool = False
    counter: Counter | None = None
    before: bool = False


def run(function: Function, heavy: Set[str] | None = None, elements: Set[str] = frozenset()) -> bool:
    """`heavy` are the functions that have loops, or call some that have; None stands for all. `elements`: those that are loops
    over elements."""
    loops = Loops(function, Dominators(function))
    changed = _poll_between(function, loops, elements)
    if len(function.blocks) < 2:
        return changed
    plans: list[_Plan] = []  # outer loops last
    polled: dict[Loop, list[Block]] = {}  # per loop, heads of loops in it that poll whenever they run
    lengths: dict[Loop, list[Value | None]] = {}  # per loop, of the loops in it that stay whole
    beside: set[Loop] = set()  # loops around loops over elements
    memory = Memory(function)
    for loop in reversed(loops.all):
        if any(i.op == "poll" for b in loop.blocks for i in b.instrs):
            continue
        parent = loop.parent
        if _over_elements(loop):
            length = _length(loop)
            if parent is None:
                plans.append(_Plan(loop, lengths=[length], before=True))
            elif not _over_elements(parent):
                lengths.setdefault(parent, []).append(length)
                beside.add(parent)
            continue
        work = sum(_work(block, heavy, elements) for block in loop.blocks)
        if loop.children or work or loop.latch is None:
            dominates = loops.dominators.dominates
            always = any(all(dominates(head, latch) for latch in loop.latches) for head in polled.get(loop, ()))
            if work or loop in lengths or not always:
                plans.append(_Plan(loop, ROUND + work, lengths.get(loop, []), loop in beside))
        else:
            counter = find_counter(loop)
            trips = None if counter is None else counter.trips
            if trips is not None and trips <= (STRIP if parent is None else NEGLIGIBLE):
                continue
            if counter is not None and parent is not None and sum(len(b.instrs) for b in loop.blocks) <= SMALL:
                length = _dimension(counter, memory.made)
                if length is not None or _goes_along(counter, memory):
                    lengths.setdefault(parent, []).append(length if length is not None else _most(counter))
                    continue
            plans.append(_Plan(loop, counter=counter))
        if parent is not None:
            polled.setdefault(parent, []).append(loop.header)
    waiting = _just_polled(loops, {plan.loop.header for plan in plans if plan.before})
    # Outer loops first: what is done to a loop may move the edge by which one around it goes back.
    for plan in reversed(plans):
        if plan.before:
            if plan.loop.header not in waiting:
                _poll_before(function, plan)
        elif plan.work:
            _poll_on_back_edges(function, plan)
        elif plan.counter is not None and _strippable(plan.counter):
            _strip(function, plan.counter, plan.loop.parent is not None)
        else:
            _count_rounds(function, plan.loop)
    return changed or bool(plans)


def _poll_between(function: Function, loops: Loops, elements: Set[str]) -> bool:
    """Outside of loops, a poll comes before one of the last few calls of loops over elements in a block."""
    changed = False
    for block in function.blocks if elements else []:
        calls = [i for i in block.instrs if i.op == "call" and i.attrs["callee"] in elements]
        for call in [] if block in loops.of else calls[EVERY - 1 :: EVERY]:
            poll = Instr("poll", [const(EVERY * WHOLE_ARRAY)], attrs={"rare": True}, position=call.position)
            block.instrs.insert(block.instrs.index(call), poll)
            changed = True
    return changed


def _just_polled(loops: Loops, heads: set[Block]) -> set[Block]:
    """Those before which, whatever the way there, a poll came before one of the last loops, of these heads outside of others."""
    since: dict[Block, int] = {}  # per block, loops since a poll at most; no entry where nothing is known
    done: set[Block] = set()
    found: set[Block] = set()
    for block in loops.dominators.order:
        count = since.get(block, EVERY)
        if block in heads:
            if count < EVERY:
                found.add(block)
                count += 1
            else:
                count = 1
        done.add(block)
        for target in block.successors():
            if target.block not in done:
                since[target.block] = max(count, since.get(target.block, 0))
    return found


def _over_elements(loop: Loop) -> bool:
    return all(latch.terminator.attrs.get("elements") for latch in loop.latches)


def _length(loop: Loop) -> Value | None:
    """How many elements a loop goes through at most, if that is a value at hand before it and it has no loops inside."""
    counter = None if loop.children else find_counter(loop)
    return counter.bound if counter is not None and counter.ends and counter.step > 0 else None


def _dimension(counter: Counter, made: dict[Value, Instr]) -> Value | None:
    """How often a loop that runs over a dimension of an array goes on at most."""
    if abs(counter.step) != 1 or not counter.ends:
        return None
    length = _most(counter)
    return length if length is not None and _is_dimension(length, made, 4) else None


def _most(counter: Counter) -> Value | None:
    """A value that is no less than the number of iterations of a loop that begins or ends at 0 or behind."""
    return counter.bound if counter.step > 0 else counter.start


def _goes_along(counter: Counter, memory: Memory) -> bool:
    """Whether each iteration comes to another element of an array, by an index that goes along with the counter: there
    cannot be more iterations than the dimension has elements."""
    loop = counter.loop
    if len(loop.blocks) > 2 or not counter.ends:
        return False
    inside = {v for block in loop.blocks for i in block.instrs for v in i.results}
    inside.update(p for block in loop.blocks for p in block.params if not _stays(loop, p))
    for block in loop.blocks - {counter.block} if counter.block is loop.header else loop.blocks:
        for instr in block.instrs:
            if instr.op in ("load", "store", "accum"):
                for terms in memory.place(instr).terms:
                    if [v for v, _ in terms if v in inside] == [counter.param]:
                        return True
    return False


def _stays(loop: Loop, param: Value) -> bool:
    """Whether a parameter of the header is the same in all iterations."""
    if param not in loop.header.params:
        return False
    n = loop.header.params.index(param)
    return all(t.args[n] is param for latch in loop.latches for t in latch.successors() if t.block is loop.header)


def _is_dimension(v: Value, made: dict[Value, Instr], depth: int) -> bool:
    """Whether a number is at most a little more than the length of an array."""
    instr = made.get(v)
    if isinstance(v, Const):
        return v.value <= NEGLIGIBLE
    if instr is None or depth == 0:
        return False
    if instr.op == "dim":
        return True
    if instr.op in ("add", "sub", "cadd", "csub"):
        x, y = instr.operands
        return isinstance(y, Const) and abs(y.value) <= NEGLIGIBLE and _is_dimension(x, made, depth - 1)
    if instr.op in ("floordiv", "stop"):
        y = instr.operands[-1]
        divides = instr.op == "stop" or isinstance(y, Const) and y.value > 0
        return divides and _is_dimension(instr.operands[0], made, depth - 1)
    return instr.op == "select" and all(_is_dimension(x, made, depth - 1) for x in instr.operands[1:])


def _work(block: Block, heavy: Set[str] | None, elements: Set[str]) -> int:
    """What calls and operations on whole arrays in a block may take."""
    total = 0
    for instr in block.instrs:
        if instr.op == "call" and instr.attrs["callee"] in elements:
            total += WHOLE_ARRAY
        elif instr.op in ("pycall", "readymade") or (
            instr.op == "call" and (heavy is None or instr.attrs["callee"] in heavy)
        ):
            total += ROUND
        elif walks_array(instr):
            total += WHOLE_ARRAY
    return total


def _poll_before(function: Function, plan: _Plan) -> None:
    for source, target in plan.loop.entering:
        # Not at the end of a block that goes elsewhere too: it may be in another loop.
        before = source if len(source.successors()) == 1 else split_edge(function, target, source.terminator.position)
        terminator = before.instrs.pop()
        b = Builder(function, before)
        b.position = terminator.position
        b.emit("poll", _amount(b, plan), rare=True)
        before.instrs.append(terminator)


def _amount(b: Builder, plan: _Plan) -> Value:
    """The work of one round, with that of the loops over elements as far as their lengths are known outside."""
    loop = plan.loop
    inside = {v for block in loop.blocks for i in block.instrs for v in i.results}
    inside.update(p for block in loop.blocks for p in block.params)
    known = [n for n in plan.lengths if n is not None and n not in inside]
    total: Value = const(plan.work + WHOLE_ARRAY * (len(plan.lengths) - len(known)))
    for length in known:
        total = b.arith("add", total, length)
    return total


def _poll_on_back_edges(function: Function, plan: _Plan) -> None:
    """A block for the poll on each edge back to the head: the latch itself may be the head of an inner loop."""
    loop = plan.loop
    for latch in loop.latches:
        for target in latch.terminator.targets:
            if target.block is loop.header:
                again = Block(f"{loop.header.name}.next")
                b = Builder(function, again)
                b.position = latch.terminator.position
                amount = _amount(b, plan)
                if plan.rare:
                    b.emit("poll", amount, rare=True)
                else:
                    b.emit("poll", amount)
                again.instrs.append(
                    Instr("jump", targets=[Target(loop.header, list(target.args))], position=b.position)
                )
                target.block, target.args = again, []
                function.blocks.insert(function.blocks.index(latch) + 1, again)


def _strippable(counter: Counter) -> bool:
    if not counter.ends or abs(counter.step) > LONGEST_STEP:
        return False
    # A test at the head is made once more for each strip.
    at_latch = counter.block is counter.loop.latch
    return at_latch or all(OPS[i.op].effects == "pure" for i in counter.block.body)


def _strip(function: Function, counter: Counter, inner: bool) -> None:
    """Cut the loop into strips: an outer loop whose head computes where the strip ends."""
    loop, test, bound = counter.loop, counter.test, counter.bound
    header = loop.header
    strip = Block(f"{header.name}.strip", [Value(p.type, p.name) for p in header.params])
    for _, target in loop.entering:
        target.block = strip
    b = Builder(function, strip)
    b.position = header.terminator.position
    start = strip.params[counter.index]
    span = STRIP * abs(counter.step)
    up = counter.step > 0
    left = b.op("sub", bound, start) if up else b.op("sub", start, bound)
    long = b.op("gt", left, const(span))
    if counter.op == "ne":  # a counter on the far side of its bound goes all the way round
        long = b.op("or", long, b.op("lt", left, const(0)))
    end = b.op("select", long, b.op("add" if up else "sub", start, const(span)), bound, name="end")
    if inner:
        rest = b.op("select", b.op("gt", left, const(1)), left, const(1))
        b.emit("poll", b.op("select", long, const(STRIP), rest))
    b.jump(header, *strip.params)
    ended = Block(f"{header.name}.ended")
    again = Block(f"{header.name}.again")
    branch = counter.block.terminator
    exit = branch.targets[counter.leaving]
    onward = next(t for t in branch.targets if t is not exit)
    # At the latch the next iteration's values, at the head those that this iteration would begin with.
    values = list(onward.args if onward.block is header else header.params)
    branch.targets[counter.leaving] = Target(ended)
    b.at(ended)
    more = b.op(test.op, *test.operands)
    targets = [Target(again), Target(again)]
    targets[counter.leaving] = exit
    b.append(Instr("branch", [more], targets=targets))
    b.at(again)
    if not inner:
        b.emit("poll", const(STRIP), rare=True)
    b.jump(strip, *values, strip=True)
    operands = list(test.operands)
    operands[counter.side] = end
    # Beside the test itself, whose result may have other uses.
    home = next(block for block in loop.blocks if test in block.instrs)
    within = Instr(test.op, operands, [Value(BOOL, "within")], test.attrs, [], test.position)
    home.instrs.insert(home.instrs.index(test) + 1, within)
    branch.operands[0] = within.result
    place = function.blocks.index(header)
    function.blocks[place:place] = [strip]
    place = function.blocks.index(counter.block) + 1
    function.blocks[place:place] = [ended, again]


def _count_rounds(function: Function, loop: Loop) -> None:
    """Count the iterations, and poll every so many."""
    latch = loop.latch
    assert latch is not None
    header = loop.header
    rounds, following = Value(I64, "rounds"), Value(I64, "rounds")
    header.params.append(rounds)
    for _, target in loop.entering:
        target.args.append(const(0))
    for target in latch.terminator.targets:
        if target.block is header:
            target.args.append(following)
    terminator = latch.instrs.pop()
    polling, again = Block(f"{header.name}.poll"), Block(f"{header.name}.next")
    b = Builder(function, latch)
    b.position = terminator.position
    latch.instrs.append(Instr("add", [rounds, const(1)], [following], {"nsw": True}, [], b.position))
    due = b.op("eq", b.op("and", following, const(ROUNDS - 1)), const(0))
    b.branch(due, polling, again)
    b.at(polling)
    b.emit("poll", const(ROUNDS), rare=True)
    b.jump(again)
    again.instrs.append(terminator)
    place = function.blocks.index(latch) + 1
    function.blocks[place:place] = [polling, again]
