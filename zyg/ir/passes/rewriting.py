"""What several passes need to rewrite a function."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..core import Block, Const, Function, Instr, Position, Target, Value, uses


def resolve(replaced: dict[Value, Value], value: Value) -> Value:
    """What stands for `value`, following chains of replacements."""
    new = replaced.get(value)
    if new is None:
        return value
    while (further := replaced.get(new)) is not None:
        new = further
    replaced[value] = new
    return new


def substitute(instr: Instr, replaced: dict[Value, Value]) -> None:
    """Replace what `instr` uses."""
    apart = replaced.keys().isdisjoint
    operands = instr.operands
    if not apart(operands):  # they mostly are
        operands[:] = [resolve(replaced, v) for v in operands]
    for target in instr.targets:
        if not apart(target.args):
            target.args[:] = [resolve(replaced, v) for v in target.args]


def replace_uses(function: Function, replaced: dict[Value, Value]) -> None:
    """Replace all uses in the function."""
    if not replaced:
        return
    apart = replaced.keys().isdisjoint
    for block in function.blocks:
        if block.handler is not None:
            block.handler.args[:] = [resolve(replaced, v) for v in block.handler.args]
        for instr in block.instrs:
            if instr.targets or not apart(instr.operands):
                substitute(instr, replaced)


def replace_elsewhere(function: Function, replaced: dict[Value, Value], seen: Collection[Block]) -> None:
    """Replace what a walk that met each definition before its uses has not replaced: what handlers are given, and all in blocks
    that it did not see."""
    if not replaced:
        return
    known = set(seen) if len(seen) < len(function.blocks) else None
    for block in function.blocks:
        if block.handler is not None:
            block.handler.args[:] = [resolve(replaced, v) for v in block.handler.args]
        if known is not None and block not in known:
            for instr in block.instrs:
                substitute(instr, replaced)


def using_blocks(function: Function) -> dict[Value, set[Block]]:
    """Per value, the blocks that use it."""
    found: dict[Value, set[Block]] = {}
    for block in function.blocks:
        for v in block.handler.args if block.handler is not None else ():
            found.setdefault(v, set()).add(block)
        for instr in block.instrs:
            for v in uses(instr):
                found.setdefault(v, set()).add(block)
    return found


def constant_key(c: Const) -> Any:
    """Equal for literals that are the same value of the same type; 0.0 and -0.0 differ, nan equals itself."""
    value = c.value
    kind = type(value)
    if kind is int or kind is bool or kind is str or value is None:
        return (c.type, kind, value)
    if kind is float:
        return (c.type, kind, repr(value))
    return (c.type, kind, id(value))


def same(a: Value, b: Value) -> bool:
    """Whether two operands are the same value."""
    if a is b:
        return True
    if type(a) is not Const or type(b) is not Const or type(a.value) is not type(b.value):
        return False
    return constant_key(a) == constant_key(b)


def remove_blocks(function: Function, keep: set[Block]) -> bool:
    if len(keep) == len(function.blocks):
        return False
    function.blocks[:] = [b for b in function.blocks if b in keep]
    return True


def split_edge(function: Function, target: Target, position: Position | None = None) -> Block:
    """A new block on the edge `target`, which passes its arguments on."""
    new = Block(f"{target.block.name}.edge")
    new.instrs.append(Instr("jump", targets=[Target(target.block, target.args)], position=position))
    function.blocks.insert(function.blocks.index(target.block), new)
    target.block, target.args = new, []
    return new
