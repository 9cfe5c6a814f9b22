"""Let innermost loops that count down go through arrays upwards, where the order of their iterations does not matter.

Input: any function, best after everything else.  The adjoint pass reverses loops: what went up goes down.  A processor loads
vectors upwards only, so each one is turned round, which costs as much as what is computed with it.  Where iterations only read
and add up what may be added in any order (`reassoc`), or each write elements of their own, they may run as in the forward part:

    header(k, t):  branch (eq k, 0), exit, body       body:  i = k - 1;  t' = t + a[i] * d[i]         for k = n, .., 1

becomes the same with `i = n - k`.  Output: such loops, the number of iterations in a parameter of their header.

Invariant: results agree up to the order of sums that have none.
"""

from __future__ import annotations

from ..core import Block, Function, Instr, Value, const
from ..ops import OPS
from ..types import I64
from .places import Countdown, Memory, Place, countdown, sign_of
from .rewriting import substitute

_PURE = frozenset(name for name, op in OPS.items() if op.effects == "pure" and op.level == "machine")
_SUMS = frozenset({"add", "sub"})


def run(function: Function) -> bool:
    blocks = [b for b in function.blocks if _may_be_a_body(b)]
    if not blocks or any(b.handler is not None for b in function.blocks):
        return False
    memory, predecessors = Memory(function), function.predecessors()
    changed = False
    for block in blocks:
        loop = countdown(block, memory, predecessors)
        if loop is not None and _goes_down(loop, memory) and _commutes(loop, memory):
            _turn(loop)
            changed = True
    return changed


def _may_be_a_body(block: Block) -> bool:
    latch = block.instrs[-1]
    if latch.op != "jump":
        return False
    header = latch.targets[0].block.instrs
    return len(header) == 2 and header[0].op == "eq" and any(i.op == "load" for i in block.instrs)


def _accesses(loop: Countdown, memory: Memory) -> list[tuple[Instr, Place]]:
    return [(i, memory.place(i)) for i in loop.body.instrs if i.op in ("load", "store", "accum")]


def _inside(loop: Countdown) -> set[Value]:
    return {*loop.header.params, *(r for b in (loop.header, loop.body) for i in b.instrs for r in i.results)}


def _goes_down(loop: Countdown, memory: Memory) -> bool:
    """Whether more accesses go down than up as the counter does."""
    inside = _inside(loop)
    return sum(sign_of(place, loop.counter, inside, memory) for _, place in _accesses(loop, memory)) > 0


def _commutes(loop: Countdown, memory: Memory) -> bool:
    """Whether the iterations may run in any order."""
    if any(i.op not in _PURE and i.op not in ("load", "store", "accum") for i in loop.body.instrs[:-1]):
        return False
    if not _only_sums(loop):
        return False
    inside = _inside(loop)
    accesses = _accesses(loop, memory)
    for instr, place in accesses:
        if instr.op == "load":
            continue
        # Each iteration writes an element of its own, and looks at no other of this memory.
        if not sign_of(place, loop.counter, inside, memory):
            return False
        if any(other != place and not memory.distinct(other.root, place.root) for _, other in accesses):
            return False
    return True


def _only_sums(loop: Countdown) -> bool:
    """Whether what goes from one iteration to the next, besides the counter, is the same or a sum in any order."""
    made = {r: i for i in loop.body.instrs for r in i.results}
    users: dict[Value, list[Instr]] = {}
    for instr in loop.body.instrs:
        for v in [*instr.operands, *(a for t in instr.targets for a in t.args)]:
            users.setdefault(v, []).append(instr)
    following = loop.body.instrs[-1].targets[0].args
    for param, value in zip(loop.header.params, following, strict=True):
        if param is loop.counter or value is param:
            continue
        step = made.get(value)
        if step is None or step.op not in _SUMS or "reassoc" not in step.attrs.get("fast", ()):
            return False
        if step.operands[0] is not param and (step.op != "add" or step.operands[1] is not param):
            return False
        if users[param] != [step] or users[value] != [loop.body.instrs[-1]] or following.count(value) != 1:
            return False
    return True


def _turn(loop: Countdown) -> None:
    header, body, counter = loop.header, loop.body, loop.counter
    n = header.params.index(counter)
    latch = body.instrs[-1]
    trips = Value(I64, "trips")
    for target in loop.entering:
        target.args.append(target.args[n])
    header.params.append(trips)
    latch.targets[0].args.append(trips)
    position = body.instrs[0].position
    past, mirrored, fewer = Value(I64, "past"), Value(I64, counter.name), Value(I64, counter.name)
    for instr in body.instrs[:-1]:
        substitute(instr, {counter: mirrored})
    latch.targets[0].args[n] = fewer
    body.instrs[:0] = [
        Instr("add", [trips, const(1)], [past], {"nsw": True}, [], position),
        Instr("sub", [past, counter], [mirrored], {"nsw": True}, [], position),
        Instr("add", [counter, const(-1)], [fewer], {"nsw": True}, [], position),
    ]


__all__ = ["run"]
