"""Lowering of recorded operations: the end of all of them, where results and pullbacks are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytecode import Label

from ..ir.core import Instr as Operation
from ..ir.core import Value
from .phrases import jump, jump_if_none, store_all
from .pullbacks import NOTHING

if TYPE_CHECKING:
    from .python import Emitter


def unpack_results(e: Emitter, instr: Operation) -> None:
    """Store what a run-time function gave, but for the pullback."""
    if len(instr.results) > 1:
        e.out("UNPACK_SEQUENCE", len(instr.results))
        store_all(e, instr.results[:-1])


def store_recorded(e: Emitter, instr: Operation) -> None:
    """Store what a run-time function gave of an operation that was not done plainly."""
    unpack_results(e, instr)
    store_back(e, instr.results[-1])


def store_rarely(e: Emitter, instr: Operation, rare: Value, results: list[Value]) -> None:
    """What a run-time function gave is on the stack: store the results, and the pullback among what is recorded rarely."""
    some = Label()
    if results:
        e.out("UNPACK_SEQUENCE", 1 + len(results))
        store_all(e, results)
    recorded, end = Label(), Label()
    e.out("COPY", 1)
    depth = e.depth - 1
    jump_if_none(e, recorded, negated=True)
    e.out("POP_TOP")
    if "plain" in instr.attrs:  # it carries nothing, if done plainly or not
        jump(e, end)
    else:
        e.out("LOAD_CONST", NOTHING)
    e.label(recorded, depth)
    e.load(rare)
    jump_if_none(e, some, negated=True)
    e.out("BUILD_MAP", 0)
    e.store(rare)
    e.label(some, depth)
    e.load(rare)
    e.out("LOAD_CONST", instr.attrs["rare"])
    e.out("STORE_SUBSCR")
    e.label(end, depth - 1)


def store_back(e: Emitter, back: Value) -> None:
    """Store a pullback; what was recorded by a function has one that is not None."""
    recorded = Label()
    e.out("COPY", 1)
    depth = e.depth - 1
    jump_if_none(e, recorded, negated=True)
    e.out("POP_TOP")
    e.out("LOAD_CONST", NOTHING)
    e.label(recorded, depth)
    e.store(back)
