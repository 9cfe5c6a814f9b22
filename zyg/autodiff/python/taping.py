"""Pushes and pops of what the two halves pass each other, brought together: the order on the tape stays what it is.

This is for emission alone, and for functions without handlers: where an exception may come in between, each block pushes for itself.
"""

from __future__ import annotations

from itertools import pairwise

from zyg.ir.core import Block, Function, Instr, Target, Value, map_uses, uses


def _is_simple(function: Function) -> bool:
    return not function.attrs.get("generator") and not any(b.handler is not None for b in function.blocks)


def push_early(function: Function) -> None:
    """A parameter that is only pushed is pushed by the blocks before."""
    if not _is_simple(function) or not any(i.op == "push" for _, i in function.instructions()):
        return
    predecessors = function.predecessors()
    used: dict[Value, int] = {}
    for _, instr in function.instructions():
        for v in uses(instr):
            used[v] = used.get(v, 0) + 1
    for block in function.blocks:
        push = _first(block, "push")
        if push is None or push.operands[1] not in block.params or used[push.operands[1]] != 1:
            continue
        if not all(source.terminator.op == "jump" for source, _ in predecessors[block]):
            continue
        tape, param = push.operands[:2]
        at = block.params.index(param)
        for source, target in predecessors[block]:
            arg = target.args.pop(at)
            last = source.instrs[-2] if len(source.instrs) > 1 else None
            if last is not None and last.op == "push":
                last.operands.append(arg)
            else:
                source.instrs.insert(-1, Instr("push", [tape, arg]))
        del block.params[at], push.operands[1]
        if len(push.operands) == 1:
            block.instrs.remove(push)


def join_chains(function: Function) -> None:
    """Blocks that follow each other, and nothing else, are one; so are their pushes, and their pops."""
    if not _is_simple(function):
        return
    predecessors = function.predecessors()
    gone: set[Block] = set()
    replaced: dict[Value, Value] = {}
    for block in function.blocks:
        if block in gone:
            continue
        while (following := _following(block, predecessors)) is not None and following is not function.entry:
            (target,) = block.instrs.pop().targets
            replaced.update(zip(following.params, target.args, strict=True))
            block.instrs += following.instrs
            gone.add(following)
    function.blocks[:] = [b for b in function.blocks if b not in gone]
    for block in function.blocks:
        for instr in block.instrs:
            map_uses(instr, lambda v: _resolve(v, replaced))
        _join(block)


def _join(block: Block) -> None:
    pushes = [i for i in block.instrs if i.op == "push"]
    for earlier, later in pairwise(pushes):
        later.operands[1:1] = earlier.operands[1:]
        block.instrs.remove(earlier)
    pops = [i for i in block.instrs if i.op == "pop"]
    for later in pops[1:]:
        pops[0].results[:0] = later.results
        block.instrs.remove(later)


def _resolve(v: Value, replaced: dict[Value, Value]) -> Value:
    while v in replaced:
        v = replaced[v]
    return v


def _following(block: Block, predecessors: dict[Block, list[tuple[Block, Target]]]) -> Block | None:
    """The block that only this one goes to, and that it always goes to."""
    if block.terminator.op != "jump":
        return None
    following = block.terminator.targets[0].block
    if following is block or len(predecessors[following]) != 1 or following.in_iterator is not block.in_iterator:
        return None
    return following


def _first(block: Block, op: str) -> Instr | None:
    return next((i for i in block.instrs if i.op == op), None)
