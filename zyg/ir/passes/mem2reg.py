"""Turn variables in memory into SSA values.

Input: any function without handlers.  Output: 0-dimensional arrays that were allocated here and are only loaded,
stored, accumulated into and filled are gone; their contents travel as values and block arguments.  (Inference makes
such arrays for captured variables that are assigned.)

Invariant: none beyond the verifier's.
"""

from __future__ import annotations

from collections.abc import Hashable

from ..analysis import reverse_postorder
from ..builder import Variables
from ..core import Block, Function, Instr, Value, const, uses
from ..types import Array, Scalar, Type
from .rewriting import remove_blocks, resolve, substitute

_ALLOWED = frozenset({"load", "store", "accum", "fill", "retain", "release"})


def run(function: Function) -> bool:
    variables = promotable(function)
    if not variables:
        return False
    _promote(function, variables)
    return True


def promotable(function: Function) -> set[Value]:
    """The results of `alloc` that nothing but loads and stores sees."""
    found = {
        instr.results[0]
        for _, instr in function.instructions()
        if instr.op == "alloc" and not instr.operands
    }  # fmt: skip
    if not found or any(b.handler is not None for b in function.blocks):
        return set()
    for _, instr in function.instructions():
        allowed = instr.op in _ALLOWED
        for n, v in enumerate(uses(instr)):
            if v in found and not (allowed and n == 0):
                found.discard(v)
    return found


def _promote(function: Function, arrays: set[Value]) -> None:
    order = reverse_postorder(function)
    remove_blocks(function, set(order))
    replaced: dict[Value, Value] = {}
    ssa = Variables(type_of=_dtype, initial=lambda v: const(0, _dtype(v)), name_of=lambda v: getattr(v, "name", ""))
    missing: dict[Block, int] = {b: len(edges) for b, edges in function.predecessors().items()}

    def seal(block: Block) -> None:
        if missing[block] == 0 and block not in ssa.sealed:
            ssa.seal(block)

    seal(function.entry)
    for block in order:
        kept: list[Instr] = []
        for instr in block.instrs:
            substitute(instr, replaced)
            if instr.op == "alloc" and instr.results[0] in arrays:
                array = instr.results[0]
                ssa.write(block, array, const(0, _dtype(array)))
            elif instr.op in _ALLOWED and instr.operands and instr.operands[0] in arrays:
                _access(ssa, block, instr, replaced, kept)
            else:
                kept.append(instr)
        block.instrs[:] = kept
        for target in block.successors():
            ssa.add_edge(block, target)
            missing[target.block] -= 1
        for target in block.successors():
            seal(target.block)
    for block in order:
        for instr in block.instrs:
            substitute(instr, replaced)
    ssa.finish(order)


def _access(ssa: Variables, block: Block, instr: Instr, replaced: dict[Value, Value], kept: list[Instr]) -> None:
    array = instr.operands[0]
    if instr.op == "load":
        replaced[instr.results[0]] = resolve(replaced, ssa.read(block, array))
    elif instr.op in ("store", "fill"):
        ssa.write(block, array, instr.operands[1])
    elif instr.op == "accum":
        before = ssa.read(block, array)
        total = Value(before.type, array.name)
        kept.append(Instr("add", [before, instr.operands[1]], [total], dict(instr.attrs), position=instr.position))
        ssa.write(block, array, total)


def _dtype(array: Hashable) -> Type:
    assert isinstance(array, Value) and isinstance(array.type, Array) and isinstance(array.type.dtype, Scalar)
    return array.type.dtype
