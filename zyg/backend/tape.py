"""Lowering of the tape: a list, which is read by an iterator over it from the end that each run of a reverse half makes for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir.analysis import components
from ..ir.core import Block, Function
from .opcodes import PY313, Tree
from .phrases import call_method, operation

if TYPE_CHECKING:
    from .python import Emitter


@operation
def op_tape(e: Emitter, tree: Tree) -> None:
    e.out("BUILD_LIST", 0)
    e.store(tree.operation.result)


@operation
def op_push(e: Emitter, tree: Tree) -> None:
    e.push(tree, 0)
    for k in range(1, len(tree.operation.operands)):
        e.push(tree, k)
        e.out("LIST_APPEND", 1)
    e.out("POP_TOP")


@operation
def op_cursor(e: Emitter, tree: Tree) -> None:
    """An iterator over the tape from its end. 3.13 steps through lists by an instruction of its own: where loops take many values
    off, that is worth a copy."""
    tape = tree.operation.operands[0]
    if PY313 and _pops_in_loops(e.function):
        e.load(tape)
        e.out("LOAD_CONST", slice(None, None, -1))
        e.out("BINARY_SUBSCR")
        e.out("GET_ITER")
    else:
        call_method(e, tape, "__reversed__")  # (`reversed` looks that up, and takes twice as long)
    e.store(tree.operation.result)


def _pops_in_loops(function: Function) -> bool:
    def following(block: Block) -> list[Block]:
        return [target.block for target in block.successors()]

    return any(
        instr.op == "pop"
        for blocks in components([function.entry], following)
        if len(blocks) > 1 or blocks[0] in following(blocks[0])
        for block in blocks
        for instr in block.instrs
    )


@operation
def op_pop(e: Emitter, tree: Tree) -> None:
    instr = tree.operation
    e.load(instr.operands[0])
    for r in reversed(instr.results):
        e.out("FOR_ITER", e.exhausted_tape())
        e.store(r)
    e.out("POP_TOP")


OPS = frozenset({"tape", "push", "cursor", "pop"})
