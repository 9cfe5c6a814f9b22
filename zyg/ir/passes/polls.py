"""Let every loop that may run for long look at signals (Ctrl-C) and let other threads run.

Input: a function after all passes that care about loops.  Output: each iteration of a loop around loops ends in a `poll`;
an innermost loop that is not inside another is cut into strips, with a `poll` after each, so that the strip itself stays a
plain counted loop that LLVM vectorises; innermost loops that are not counted by their head poll every so many iterations.

Invariant: values do not change.  An innermost counted loop inside another does not poll: its end is known when it starts,
and the loop around it polls.
"""

from __future__ import annotations

from ..analysis import Dominators, Loop, Loops
from ..builder import Builder
from ..core import Block, Const, Function, Instr, Target, Value, const
from ..ops import OPS
from ..types import I64

STRIP = 1 << 16  # iterations between polls of a counted loop
ROUNDS = 1 << 12  # of one that is not


def run(function: Function) -> bool:
    if len(function.blocks) < 2:
        return False
    loops = Loops(function, Dominators(function))
    changed = False
    for loop in loops.all:
        if any(i.op == "poll" for b in loop.blocks for i in b.instrs):
            continue
        if loop.children:
            _poll_on_back_edges(function, loop)
            changed = True
            continue
        counter = _counter(loop)
        if counter is None and (loop.parent is None or not _is_counted(loop)):
            changed |= _count_rounds(function, loop)
        elif counter is None:
            continue
        elif loop.parent is None and not _short(loop, *counter):
            _strip(function, loop, *counter)
            changed = True
    return changed


def _poll_on_back_edges(function: Function, loop: Loop) -> None:
    """A block for the poll on each edge back to the head: the latch itself may be the head of an inner loop."""
    for latch in loop.latches:
        for target in latch.terminator.targets:
            if target.block is loop.header:
                again = Block(f"{loop.header.name}.next")
                position = latch.terminator.position
                again.instrs = [
                    Instr("poll", position=position),
                    Instr("jump", targets=[Target(loop.header, list(target.args))], position=position),
                ]
                target.block, target.args = again, []
                function.blocks.insert(function.blocks.index(latch) + 1, again)


def _counter(loop: Loop) -> tuple[Instr, int, int] | None:
    """(test, index of the counter among the header's parameters, which target leaves) of a loop that its head ends by
    comparing a counter with something that the loop does not change."""
    header = loop.header
    if header.terminator.op != "branch" or len(loop.latches) != 1:
        return None
    if any(OPS[i.op].effects != "pure" for i in header.body):
        return None  # the head runs once more for each strip
    leaving = [k for k, t in enumerate(header.terminator.targets) if t.block not in loop.blocks]
    if len(leaving) != 1:
        return None
    condition = header.terminator.operands[0]
    test = next((i for i in header.body if condition in i.results), None)
    if test is None or test.operands[0].type is not I64:
        return None
    counter, bound = test.operands
    index = next((k for k, p in enumerate(header.params) if p is counter), None)
    inside = {v for b in loop.blocks for i in b.instrs for v in i.results} | {p for b in loop.blocks for p in b.params}
    if index is None or bound in inside:
        return None
    if test.op == "lt" and leaving == [1]:
        return test, index, 1
    to_zero = test.op == "eq" and leaving == [0] and isinstance(bound, Const) and bound.value == 0
    if to_zero and _counts_down(loop, index):  # the end of a strip must be met exactly
        return test, index, 0
    return None


def _counts_down(loop: Loop, index: int) -> bool:
    """Whether the counter goes down by one in each iteration."""
    counter = loop.header.params[index]
    inside = {v: i for b in loop.blocks for i in b.instrs for v in i.results}
    for target in loop.latches[0].terminator.targets:
        if target.block is not loop.header:
            continue
        step = inside.get(target.args[index])
        if step is None or step.operands[0] is not counter or not isinstance(step.operands[-1], Const):
            return False
        amount = step.operands[-1].value
        if not (step.op in ("sub", "csub") and amount == 1 or step.op in ("add", "cadd") and amount == -1):
            return False
    return True


def _is_counted(loop: Loop) -> bool:
    """Whether some exit compares what is a counter, or a step beyond it, with something that the loop does not change."""
    inside = {v: i for b in loop.blocks for i in b.instrs for v in i.results}
    params = {p for b in loop.blocks for p in b.params}
    for block, _ in loop.exits:
        test = inside.get(block.terminator.operands[0]) if block.terminator.op == "branch" else None
        if test is None or test.op not in ("lt", "le", "gt", "ge", "eq", "ne") or test.operands[0].type is not I64:
            continue
        for counter, bound in (test.operands, test.operands[::-1]):
            step = inside.get(counter)
            if step is not None and step.op in ("add", "sub") and isinstance(step.operands[1], Const):
                counter = step.operands[0]
            if counter in loop.header.params and bound not in inside and bound not in params:
                return True
    return False


def _short(loop: Loop, test: Instr, index: int, leaving: int) -> bool:
    """Whether the loop is known to end within one strip."""
    start, bound = loop.entering[0][1].args[index], test.operands[1]
    del leaving
    if len(loop.entering) > 1 or not isinstance(start, Const) or not isinstance(bound, Const):
        return False
    return abs(bound.value - start.value) <= STRIP


def _strip(function: Function, loop: Loop, test: Instr, index: int, leaving: int) -> None:
    """Cut the loop into strips: an outer loop whose head computes where the strip ends."""
    header = loop.header
    bound = test.operands[1]
    strip = Block(f"{header.name}.strip", [Value(p.type, p.name) for p in header.params])
    for _, target in loop.entering:
        target.block = strip
    b = Builder(function, strip)
    b.position = header.terminator.position
    start = strip.params[index]
    if test.op == "lt":
        left = b.op("sub", bound, start)
        end = b.op("add", start, const(STRIP))
    else:
        left = start
        end = b.op("sub", start, const(STRIP))
    end = b.op("select", b.op("gt", left, const(STRIP)), end, bound, name="end")
    b.jump(header, *strip.params)
    ended = Block(f"{header.name}.ended")
    again = Block(f"{header.name}.again")
    exit = header.terminator.targets[leaving]
    header.terminator.targets[leaving] = Target(ended)
    b.at(ended)
    more = b.op(test.op, header.params[index], bound)
    targets = [Target(again), exit] if test.op == "lt" else [exit, Target(again)]
    b.append(Instr("branch", [more], targets=targets))
    b.at(again)
    b.emit("poll")
    b.jump(strip, *header.params)
    at = header.instrs.index(test)
    header.instrs[at] = Instr(test.op, [test.operands[0], end], test.results, test.attrs, [], test.position)
    place = function.blocks.index(header)
    function.blocks[place:place] = [strip]
    place = function.blocks.index(header) + 1
    function.blocks[place:place] = [ended, again]


def _count_rounds(function: Function, loop: Loop) -> bool:
    """Count the iterations, and poll every so many."""
    latch = loop.latch
    if latch is None:
        return False
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
    b.emit("poll")
    b.jump(again)
    again.instrs.append(terminator)
    place = function.blocks.index(latch) + 1
    function.blocks[place:place] = [polling, again]
    return True
