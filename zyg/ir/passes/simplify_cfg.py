"""Simplify control flow.

Input: any function.  Output: no unreachable blocks; no branch or switch on a constant; no guard on a constant; no
parameter that always receives the same value; no block that only jumps on, and no jump to a block without other
predecessors.  A jump to a block that only branches on one of its parameters goes past it where the argument is a
constant (this is what `and`, `or` and chained comparisons become).

Invariant: two edges from one block to the same target are not made where there were none (LLVM's phi nodes could not
tell them apart).
"""

from __future__ import annotations

from collections.abc import Iterable

from ..analysis import reached_blocks
from ..core import Block, Const, Function, Instr, Target, Value, const
from ..types import BOOL
from .rewriting import remove_blocks, replace_uses, resolve, same

Edges = dict[Block, list[tuple[Block, Target]]]


def run(function: Function) -> bool:
    changed = False
    while _round(function):
        changed = True
    return changed


def _round(function: Function) -> bool:
    changed = fold_terminators(function)
    changed |= len(function.blocks) > 1 and remove_blocks(function, reached_blocks(function))
    if len(function.blocks) == 1:
        return changed
    changed |= remove_redundant_params(function)
    changed |= thread_jumps(function)
    changed |= merge_blocks(function)
    return changed


# ---------------------------------------------------------------------------------------------- terminators


def fold_terminators(function: Function) -> bool:
    """Branches on constants, and between equal targets, become jumps; guards on constants go or become `raise`."""
    changed = False
    for block in function.blocks:
        last = block.instrs[-1]
        if last.op == "branch" or last.op == "switch":
            target = _only_target(last)
            if target is not None:
                block.instrs[-1] = Instr("jump", targets=[target], position=last.position)
                changed = True
            elif last.op == "branch":
                changed |= _condition_on_edges(last)
        for instr in block.instrs:
            if instr.op == "guard" and isinstance(instr.operands[0], Const):
                changed |= _fold_guard(block, block.instrs.index(instr), bool(function.attrs.get("returns")))
                break
    return changed


def _only_target(instr: Instr) -> Target | None:
    if instr.op not in ("branch", "switch"):
        return None
    value = instr.operands[0]
    if isinstance(value, Const):
        if instr.op == "branch":
            return instr.targets[0 if value.value else 1] if isinstance(value.value, (bool, int, float)) else None
        return instr.targets[min(value.value % 2**64, len(instr.targets) - 1)]
    first = instr.targets[0]
    for other in instr.targets[1:]:
        if other.block is not first.block or not all(map(same, first.args, other.args)):
            return None
    return first


def _condition_on_edges(branch: Instr) -> bool:
    """What a branch passes of its own condition is known: true to the first target, false to the second."""
    condition = branch.operands[0]
    then, other = branch.targets
    if condition not in then.args and condition not in other.args:
        return False
    changed = False
    for target, value in zip(branch.targets, (True, False), strict=True):
        if condition in target.args and condition.type is BOOL:
            target.args[:] = [const(value) if arg is condition else arg for arg in target.args]
            changed = True
    return changed


def _fold_guard(block: Block, at: int, returns: bool) -> bool:
    """`returns`: the function has to return, so what always fails stays a guard (functions of elements, and loops over them)."""
    kept: list[Instr] = block.instrs[:at]
    changed = False
    for instr in block.instrs[at:]:
        if instr.op == "guard" and isinstance(condition := instr.operands[0], Const):
            if condition.value:
                changed = True
                continue
            if len(instr.operands) == 1 and not returns:
                kept.append(Instr("raise", attrs=instr.attrs, position=instr.position))
                block.instrs[:] = kept
                return True
        kept.append(instr)
    block.instrs[:] = kept
    return changed


# ----------------------------------------------------------------------------------------------- parameters


def remove_redundant_params(function: Function) -> bool:
    """A parameter that receives the same value along all edges (or itself) is that value."""
    replaced: dict[Value, Value] = {}
    edges: dict[Block, list[Target]] = {block: [] for block in function.blocks[1:] if block.params}
    if not edges:
        return False
    for block in function.blocks:
        for target in block.instrs[-1].targets:
            if target.block in edges:
                edges[target.block].append(target)
    for block in function.blocks:
        if block.handler is not None:
            edges.pop(block.handler.block, None)
    again = True
    while again:
        again = False
        for block, incoming in edges.items():
            if not incoming:
                continue
            keep = []
            for n, param in enumerate(block.params):
                only = _only_argument(param, n, incoming, replaced)
                if only is None:
                    keep.append(n)
                else:
                    replaced[param] = only
            if len(keep) < len(block.params):
                keep_params(block, keep, incoming)
                again = True
    replace_uses(function, replaced)
    return bool(replaced)


def _only_argument(param: Value, n: int, incoming: list[Target], replaced: dict[Value, Value]) -> Value | None:
    """The one value that the n-th parameter of a block receives, if there is one."""
    only: Value | None = None
    for target in incoming:
        arg = target.args[n]
        if arg in replaced:
            arg = resolve(replaced, arg)
        if arg is param or arg is only or (only is not None and same(arg, only)):
            continue
        if only is not None:
            return None
        only = arg
    return only


def keep_params(block: Block, keep: list[int], incoming: Iterable[Target]) -> None:
    """Keep the parameters with these indices, and their arguments on the edges."""
    block.params = [block.params[n] for n in keep]
    for target in incoming:
        target.args[:] = [target.args[n] for n in keep]


# ------------------------------------------------------------------------------------------- jump threading


def thread_jumps(function: Function) -> bool:
    """Edges to a block that does nothing but go on lead to where it goes."""
    candidates = [b for b in function.blocks[1:] if _threadable(b)]
    if not candidates:
        return False
    kept = _used_elsewhere(function, candidates)
    predecessors = function.predecessors()
    changed = False
    for block in candidates:
        if block in kept:
            continue
        for source, target in list(predecessors[block]):
            if target.block is not block or target is source.handler:
                continue
            new = _after(block, target)
            if new is None or new.block is block or _would_double(source, target, new.block):
                continue
            target.block, target.args = new.block, new.args
            predecessors[new.block].append((source, target))
            changed = True
    return changed


def _threadable(block: Block) -> bool:
    if len(block.instrs) != 1:
        return False
    instr = block.instrs[0]
    return instr.op == "jump" or (instr.op in ("branch", "switch") and instr.operands[0] in block.params)


def _used_elsewhere(function: Function, candidates: list[Block]) -> set[Block]:
    """The candidates whose parameters are used outside of them."""
    owner = {p: b for b in candidates for p in b.params}
    result: set[Block] = set()
    if not owner:
        return result
    for block in function.blocks:
        for instr in block.instrs:
            for v in instr.operands:
                if v in owner and owner[v] is not block:
                    result.add(owner[v])
            for target in instr.targets:
                result.update(owner[v] for v in target.args if v in owner and owner[v] is not block)
        if block.handler is not None:
            result.update(owner[v] for v in block.handler.args if v in owner)
    return result


def _after(block: Block, edge: Target) -> Target | None:
    """Where control goes from `edge` into `block`, if that is known."""
    arguments = dict(zip(block.params, edge.args, strict=True))
    instr = block.instrs[0]
    if instr.op == "jump":
        target = instr.targets[0]
    else:
        value = arguments[instr.operands[0]]
        if not isinstance(value, Const):
            return None
        known = _only_target(Instr(instr.op, [value], targets=instr.targets))
        if known is None:
            return None
        target = known
    return Target(target.block, [arguments.get(a, a) for a in target.args])


def _would_double(source: Block, edge: Target, block: Block) -> bool:
    targets = source.instrs[-1].targets
    return len(targets) > 1 and any(t.block is block for t in targets if t is not edge)


# --------------------------------------------------------------------------------------------------- merging


def merge_blocks(function: Function) -> bool:
    """A block whose only predecessor jumps to it is appended to that predecessor."""
    count: dict[Block, int] = dict.fromkeys(function.blocks, 0)
    for block in function.blocks:
        for target in block.instrs[-1].targets:
            count[target.block] += 1
        if block.handler is not None:
            count[block.handler.block] += 2  # never merged
    replaced: dict[Value, Value] = {}
    gone: set[Block] = set()
    for block in function.blocks:
        if block in gone:
            continue
        while True:
            last = block.instrs[-1]
            if last.op != "jump":
                break
            target = last.targets[0]
            after = target.block
            if count[after] != 1 or after is block or not _same_handler(block, after):
                break
            replaced.update(zip(after.params, target.args, strict=True))
            block.instrs.pop()
            block.instrs += after.instrs
            gone.add(after)
    if not gone:
        return False
    replace_uses(function, replaced)
    function.blocks[:] = [b for b in function.blocks if b not in gone]
    return True


def _same_handler(a: Block, b: Block) -> bool:
    if a.handler is None or b.handler is None:
        return a.handler is b.handler
    same_arguments = len(a.handler.args) == len(b.handler.args) and all(map(same, a.handler.args, b.handler.args))
    return a.handler.block is b.handler.block and same_arguments
