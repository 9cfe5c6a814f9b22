"""Values that go along with a loop's counter are computed from it.

Input: loops in the form of loop_simplify.  Output: a parameter of a counted loop's header to which each iteration adds a
constant, such as a running index into a packed triangle, is `counter * factor + offset`, with the offset in the preheader.
So that guards can see what it is, and the loop carries nothing but its counter from one iteration to the next.

Integers wrap in unchecked arithmetic, where the two are equal whatever they hold; what is still checked for overflow is left
alone.
"""

from __future__ import annotations

from ..analysis import Loop, Loops
from ..builder import Builder
from ..core import Block, Const, Function, Instr, Value, const
from ..counters import Counter, find_counter
from ..types import I64
from .rewriting import replace_uses


def run(function: Function) -> bool:
    if len(function.blocks) == 1:
        return False
    replaced: dict[Value, Value] = {}
    for loop in Loops(function).all:
        if sum(p.type is I64 for p in loop.header.params) > 1 and loop.preheader is not None:
            counter = find_counter(loop)
            if counter is not None:
                _rewrite(function, loop, counter, replaced)
    replace_uses(function, replaced)
    return bool(replaced)


def _rewrite(function: Function, loop: Loop, counter: Counter, replaced: dict[Value, Value]) -> None:
    header, preheader, latch = loop.header, loop.preheader, loop.latch
    assert preheader is not None and latch is not None
    enter = preheader.terminator.targets[0]
    again = next(t for t in latch.terminator.targets if t.block is header)
    made = {v: i for b in loop.blocks for i in b.instrs for v in i.results}
    start = enter.args[counter.index]
    for n, param in reversed([*enumerate(header.params)]):
        if param is counter.param or param.type is not I64:
            continue
        step = _step(made.get(again.args[n]), param)
        if not step or step % counter.step:
            continue
        first = enter.args[n]
        before, within = _builder(function, preheader), _builder(function, header)
        factor = step // counter.step
        offset = before.op("sub", first, before.op("mul", start, const(factor)) if factor != 1 else start)
        scaled = counter.param if factor == 1 else within.op("mul", counter.param, const(factor))
        value = within.op("add", scaled, offset, name=param.name)
        assert before.block is not None and within.block is not None
        preheader.instrs[-1:-1] = before.block.instrs
        header.instrs[:0] = within.block.instrs
        replaced[param] = value
        del header.params[n], enter.args[n], again.args[n]


def _builder(function: Function, near: Block) -> Builder:
    builder = Builder(function, Block("induction"))
    builder.position = near.instrs[-1].position
    return builder


def _step(instr: Instr | None, param: Value) -> int | None:
    """c where the instruction computes `param + c`, and wraps."""
    if instr is None or instr.op not in ("add", "sub"):
        return None
    x, y = instr.operands
    if x is not param and instr.op == "add":
        x, y = y, x
    if x is not param or not isinstance(y, Const):
        return None
    return y.value if instr.op == "add" else -y.value
