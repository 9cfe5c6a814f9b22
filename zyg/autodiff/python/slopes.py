"""Slopes of elementary functions as expressions, for forward halves that compute value and slope by themselves.

A slope is written once, as a function of the value and the argument (`objects.math_.SLOPES`); its SSA gives the expression, in the form
of `rules`, where it is made of arithmetic and of calls of functions of C. What would divide by zero is left to the run-time
function: there is a list of what must not be 0.
"""

from __future__ import annotations

import builtins
import functools
import math
from types import BuiltinFunctionType, FunctionType
from typing import Any

from zyg.frontend.capture import capture
from zyg.ir.core import Const, Instr, Value
from zyg.ir.records import field, record

from ..objects import calls, math_
from .rules import Expression

_ARITHMETIC = frozenset({"add", "sub", "mul", "truediv", "neg"})


@record(frozen=True)
class Elementary:
    """A function of a float, and of constants behind it: value and slope are `function(x, ...)` and `slope`."""

    function: Any
    handler: Any  # the run-time function that a place remembers for it, as long as no rule takes its place
    slope: Expression  # leaves: "y", and the numbers of the arguments
    nonzero: tuple[Expression, ...] = field(default=())


class _NotWritten(Exception):
    """The expression is made of something else."""


@functools.cache
def elementary(name: str, count: int) -> Elementary | None:
    """What to write out where a function of the module math with this name is called, most likely, with `count` arguments.

    >>> elementary("tanh", 1).slope
    ('sub', ('const', 1.0), ('mul', 'y', 'y'))
    >>> elementary("sqrt", 1).nonzero
    (('mul', ('const', 2.0), 'y'),)
    >>> elementary("fabs", 1) is None, elementary("append", 1) is None
    (True, True)
    """
    function: Any = getattr(math, name.removeprefix("_"), None)  # (modules import them under such names)
    made = (math_.SLOPES if count == 1 else math_.SLOPES_BY_FIRST).get(function)
    if made is None or count > 2:
        return None
    try:
        slope, nonzero = _expression(made)
    except _NotWritten:
        return None
    return Elementary(function, calls.KNOWN[function], slope, tuple(nonzero))


def _expression(slope: Any) -> tuple[Expression, list[Expression]]:
    function = capture(slope.__code__)
    if len(function.blocks) != 1:
        raise _NotWritten
    known: dict[Value, Expression] = {p: "y" if k == 0 else k - 1 for k, p in enumerate(function.params)}
    nonzero: list[Expression] = []
    for instr in function.entry.instrs:
        operands = [("const", v.value) if isinstance(v, Const) else known[v] for v in instr.operands]
        if instr.op == "return":
            return operands[0], nonzero
        known[instr.result] = _part(slope, instr, operands, nonzero)
    raise _NotWritten


def _part(slope: FunctionType, instr: Instr, operands: list[Expression], nonzero: list[Expression]) -> Expression:
    if instr.op == "global":
        name = instr.attrs["name"]
        return "const", slope.__globals__[name] if name in slope.__globals__ else getattr(builtins, name)
    if instr.op == "getattr":
        return "const", getattr(operands[0][1], instr.attrs["name"])
    if instr.op in _ARITHMETIC:
        if all(isinstance(x, tuple) and x[0] == "const" for x in operands):
            return "const", math_.arithmetic.FUNCTIONS[instr.op](*[x[1] for x in operands])
        return instr.op, *operands
    if instr.op == "call_object":
        (_, callee), *arguments = operands
        if callee is math_.over:
            nonzero.append(arguments[0])
            return "truediv", ("const", 1.0), arguments[0]
        if callee is math_.normal:
            nonzero.append(("mul", arguments[0], ("const", 2.0**-53)))
            return arguments[0]
        if type(callee) is BuiltinFunctionType:
            if all(isinstance(x, tuple) and x[0] == "const" for x in arguments):
                return "const", callee(*[x[1] for x in arguments])
            return "call", callee, *arguments
    raise _NotWritten
