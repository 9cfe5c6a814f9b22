"""Lowering of the tape: a list, which is read by an iterator over it from the end that each run of a reverse half makes for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir.analysis import components
from ..ir.core import Block, Function, Value
from ..ir.core import Instr as Operation
from ..ir.types import BOOL
from .opcodes import PY313, Tree
from .phrases import call_method, operation

if TYPE_CHECKING:
    from .python import Emitter


def stays_on_stack(function: Function) -> Value | None:
    """The tape, or the cursor, that may lie at the bottom of the stack as long as the function runs: where there is one, and what
    handlers and generators expect of the stack does not matter."""
    if function.attrs.get("generator") or any(b.handler is not None for b in function.blocks):
        return None
    made = [(block, instr) for block, instr in function.instructions() if instr.op in ("tape", "cursor")]
    if len(made) != 1 or any(t.block is function.entry for b in function.blocks for t in b.successors()):
        return None
    ((block, instr),) = made
    return instr.result if block is function.entry else None


@operation
def op_tape(e: Emitter, tree: Tree) -> None:
    e.out("BUILD_LIST", 0)
    _store(e, tree.operation.result)


def _store(e: Emitter, value: Value) -> None:
    if value is e.resident:
        e.out("COPY", 1)
        e.depth -= 1  # it counts no more
    e.store(value)


@operation
def op_push(e: Emitter, tree: Tree) -> None:
    tape, *values = tree.operation.operands
    if tape is not e.resident:
        e.push(tree, 0)
    for k in range(len(values)):
        e.push(tree, 1 + k)
        e.out("LIST_APPEND", 1)
    if tape is not e.resident:
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
    _store(e, tree.operation.result)


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


def leaves_on_stack(instr: Operation, resident: Value | None) -> bool:
    """Whether what is popped last may stay on the stack: which way control came, where that is asked for at once."""
    return instr.op == "pop" and instr.operands[0] is resident and instr.results[0].type is BOOL


@operation
def op_pop(e: Emitter, tree: Tree) -> None:
    instr = tree.operation
    (cursor,) = instr.operands
    if cursor is not e.resident:
        e.load(cursor)
    for r in reversed(instr.results):
        e.out("FOR_ITER", e.exhausted_tape())
        if not tree.kept or r is not instr.results[0]:
            e.store(r)
    if cursor is not e.resident:
        e.out("POP_TOP")


__all__ = ["OPS", "stays_on_stack"]

OPS = frozenset({"tape", "push", "cursor", "pop"})
