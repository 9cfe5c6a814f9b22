"""Which function lowers which operation.

    @lowers("alloc", context=True, fails=True)
    def alloc(e, instr): ...

`e` is the `FunctionLowering` that writes the code, `instr` the instruction.  The rest says what the function around it
needs: the context, a status to return, the right to run Python; and whether the code is a loop over all elements of arrays.
A condition on the instruction may stand for True.

The modules of this package are imported in this order, up to the one that has the operation: code for scalars does not
wait for what arrays need.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from ....ir.core import Instr
from ....ir.records import record
from ..lowered import LoweringError

if TYPE_CHECKING:
    from .function import FunctionLowering

MODULES = ("arithmetic", "control", "mathematics", "calls", "stacks", "arrays", "whole_arrays", "foreign")

Condition = Callable[[Instr], bool]
Emit = Callable[["FunctionLowering", Instr], None]


@record(frozen=True)
class Lowering:
    emit: Emit
    context: bool | Condition  # whether it uses %ctx
    fails: bool | Condition  # whether it may end the function with a status
    runs_python: bool
    loops: Condition | None  # whether it is a loop over elements, where it may be one


_lowerings: dict[str, Lowering] = {}
_pending = list(reversed(MODULES))


def lowers(
    *ops: str,
    context: bool | Condition = False,
    fails: bool | Condition = False,
    runs_python: bool = False,
    loops: Condition | None = None,
) -> Callable[[Emit], Emit]:
    """The decorated function writes the code of these operations."""

    def register(function: Emit) -> Emit:
        for op in ops:
            assert op not in _lowerings, f"{op} is lowered twice"
            _lowerings[op] = Lowering(function, context, fails, runs_python, loops)
        return function

    return register


def lowering(op: str) -> Lowering:
    """How `op` is lowered."""
    found = _lowerings.get(op)
    while found is None:
        if not _pending:
            raise LoweringError(f"no lowering of {op} to machine code")
        _load_next()
        found = _lowerings.get(op)
    return found


def lowered_ops() -> frozenset[str]:
    """The operations that have a lowering."""
    while _pending:
        _load_next()
    return frozenset(_lowerings)


def _load_next() -> None:
    importlib.import_module(f"{__package__}.{_pending[-1]}")
    _pending.pop()


def uses_context(instr: Instr) -> bool:
    return _holds(lowering(instr.op).context, instr)


def may_fail(instr: Instr) -> bool:
    return _holds(lowering(instr.op).fails, instr)


def has_loops(instr: Instr) -> bool:
    condition = lowering(instr.op).loops
    return condition is not None and condition(instr)


def _holds(condition: bool | Condition, instr: Instr) -> bool:
    return condition if isinstance(condition, bool) else condition(instr)
