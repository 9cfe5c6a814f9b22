"""What decoding leaves behind and nobody needs: checks of variables that are bound, and blocks that one jump connects."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.core import Block, Const, Function, Value, map_uses, uses

# Ops that cannot raise, so that what they are part of needs no handler.
SILENT = frozenset(
    (
        "tuple list is is_not make_slice free_cell unbound assertion_error string new_cell set_cell make_function "
        "push_exception pop_exception forget jump return branch match_sequence match_mapping locals build_class"
    ).split()
)


def refers_to(block: Block, value: Value) -> bool:
    if block.handler is not None and value in block.handler.args:
        return True
    return any(v is value for instr in block.instrs for v in uses(instr))


def drop_checks(function: Function, marker: Value | None) -> None:
    """Remove the checks of values that cannot be the marker of an unbound variable.

    3.12 and later check too often around comprehensions, 3.11 where a variable is a copy of a bound one.
    """
    unbound: set[Value] = set() if marker is None else {marker}
    edges = [(p, a) for p, a in _passed(function) if not isinstance(a, Const)]
    size = -1
    while size != len(unbound):
        size = len(unbound)
        unbound.update(p for p, a in edges if a in unbound)
    bound: dict[Value, Value] = {}
    for block in function.blocks:
        kept = []
        for instr in block.instrs:
            if instr.op == "checked_local" and instr.operands[0] not in unbound:
                bound[instr.results[0]] = instr.operands[0]
            else:
                kept.append(instr)
        block.instrs[:] = kept

    def resolve(value: Value) -> Value:
        while value in bound:
            value = bound[value]
        return value

    if bound:
        for block in function.blocks:
            for instr in block.instrs:
                map_uses(instr, resolve)
            if block.handler is not None:
                block.handler.args[:] = map(resolve, block.handler.args)


def _passed(function: Function) -> Iterator[tuple[Value, Value]]:
    """Block parameters with what is passed for them."""
    for block in function.blocks:
        for target in block.successors():
            yield from zip(target.block.params, target.args, strict=True)
        if block.handler is not None:
            yield from zip(block.handler.block.params[1:], block.handler.args, strict=True)


def _silent(block: Block) -> bool:
    return all(instr.op in SILENT for instr in block.instrs)


def merge_blocks(function: Function) -> None:
    """Join blocks that one jump connects, where that leaves the same instructions to the same handlers.

    Protected regions begin and end at many places where nothing can raise.
    """
    edges = function.predecessors()
    merged: dict[Block, Block] = {}
    for block in function.blocks:
        while block.instrs and block.terminator.op == "jump" and block not in merged:
            after = block.terminator.targets[0].block
            if len(edges[after]) != 1 or after.params or after is block:
                break
            if after.handler is None and (block.handler is None or _silent(after)):
                handler = block.handler
            elif block.handler is None and len(block.instrs) == 1:
                # Only a jump: what a block defines, its handler cannot see.
                handler = after.handler
            else:
                break
            block.instrs[-1:] = after.instrs
            block.handler = handler
            for target in [*block.successors(), *([handler] if handler is not None else [])]:
                edges[target.block] = [(block if b is after else b, t) for b, t in edges[target.block]]
            merged[after] = block
    function.blocks[:] = [b for b in function.blocks if b not in merged]
