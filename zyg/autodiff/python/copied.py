"""Which value a variable has where code was copied: generators that become part of loops assign in several places what was a value."""

from __future__ import annotations

from collections.abc import Iterator

from zyg.ir.builder import Variables
from zyg.ir.core import Block, Function, Instr, Target, Value, map_uses, uses
from zyg.ir.types import OBJECT


def find_values(
    f: Function,
    kept: dict[Value, None],
    assigned: dict[Block, list[tuple[Value, Value]]],
    stands_for: dict[Block, dict[Value, Value]],
    crossing: bool = False,
) -> None:
    """Which value a variable has, where it is used. `crossing`: what takes the place of one in a block may come from other blocks."""
    unbound = Value(OBJECT)
    variables: Variables[Value] = Variables(initial=lambda v: unbound, name_of=lambda v: v.name)
    for block in f.blocks:
        for target in onward(block):
            variables.add_edge(block, target)
    original = {(block, v): k for block, values in stands_for.items() for k, v in values.items() if k in kept}
    for block in f.blocks:
        made: set[Value] = set()

        def now(v: Value, block: Block = block, made: set[Value] = made) -> Value:
            variable = original.get((block, v), v) if crossing else v
            return variables.read(block, variable) if variable in kept and v not in made else v

        def define(v: Value, block: Block = block, made: set[Value] = made) -> None:
            made.add(v)
            variable = original.get((block, v), v)
            if variable in kept:
                variables.write(block, variable, v)

        for p in block.params:
            define(p)
        if block.handler is not None:  # which knows what there was before the block
            block.handler.args[:] = map(now, block.handler.args)
        for instr in block.instrs:
            map_uses(instr, now)
            for r in instr.results:
                define(r)
        ends = [(variable, now(value)) for variable, value in assigned.get(block, []) if variable in kept]
        for variable, value in ends:
            variables.write(block, variable, value)
    for block in f.blocks:
        variables.seal(block)
    variables.finish(f.blocks)
    if any(v is unbound for b in f.blocks for v in values_used(b)):
        f.entry.instrs.insert(0, Instr("unbound", [], [unbound]))


def onward(block: Block) -> list[Target]:
    """Where control may go from a block, handlers included."""
    return block.successors() if block.handler is None else [*block.successors(), block.handler]


def values_used(block: Block) -> Iterator[Value]:
    """What the instructions of a block use, and its handler."""
    for instr in block.instrs:
        yield from uses(instr)
    if block.handler is not None:
        yield from block.handler.args


__all__ = ["find_values", "onward", "values_used"]
