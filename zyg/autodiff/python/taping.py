"""Pushes and pops of what the two halves pass each other, brought together: the order on the tape stays what it is.

This is for emission alone, and for functions without handlers: where an exception may come in between, each block pushes for itself.
"""

from __future__ import annotations

from zyg.ir.core import Block, Function, Instr, Value, uses


def _is_simple(function: Function) -> bool:
    return not function.attrs.get("generator") and not any(b.handler is not None for b in function.blocks)


def join_pushes(function: Function) -> None:
    """A parameter that is only pushed is pushed by the blocks before; pushes of a chain of blocks are one."""
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
    for block in function.blocks:
        following = _following(block, predecessors)
        push = _last(block, "push")
        if following is not None and push is not None:
            other = _first(following, "push")
            if other is not None:
                other.operands[1:1] = push.operands[1:]
                block.instrs.remove(push)


def join_pops(function: Function) -> None:
    """Pops of a chain of blocks are one."""
    if not _is_simple(function):
        return
    predecessors = function.predecessors()
    for block in reversed(function.blocks):
        following = _following(block, predecessors)
        pop = _last(block, "pop")
        if following is not None and pop is not None:
            other = _first(following, "pop")
            if other is not None and other is following.instrs[0]:
                pop.results[:0] = other.results
                following.instrs.remove(other)


def _following(block: Block, predecessors: dict[Block, list[tuple[Block, object]]]) -> Block | None:
    """The block that only this one goes to, and that it always goes to."""
    if block.terminator.op != "jump":
        return None
    following = block.terminator.targets[0].block
    return following if len(predecessors[following]) == 1 and following is not block else None


def _first(block: Block, op: str) -> Instr | None:
    return next((i for i in block.instrs if i.op == op), None)


def _last(block: Block, op: str) -> Instr | None:
    return next((i for i in reversed(block.instrs) if i.op == op), None)
