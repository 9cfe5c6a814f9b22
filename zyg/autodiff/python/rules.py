"""Rules of the op table as arithmetic that the back end can write out.

The derivative of an operator on real numbers is in the op table. Where it is made of sums, products, quotients and negations,
tracing it gives expressions, one per operand: ("mul", "d", 1) is the cotangent times the second operand.
"""

from __future__ import annotations

from typing import Any

from zyg.ir.core import Const, Value
from zyg.ir.ops import OPS
from zyg.ir.trace import Traced
from zyg.ir.types import F64

# Leaves are "d", "y", or the number of an operand; constants are ("const", value).
Expression = Any

_TABLE = {"truediv": "div"}  # Python's division has raised where C's would not
_PYTHON = {"add": "add", "sub": "sub", "mul": "mul", "neg": "neg", "div": "truediv"}
_OPERANDS = {"neg": 1, "pos": 1}


def base(op: str) -> str:
    """The operator that an in-place operator falls back to.

    >>> base("iadd"), base("ipow_"), base("mul")
    ('add', 'pow', 'mul')
    """
    if op == "ipow_":
        return "pow"
    plain = op[1:]
    return plain if op[0] == "i" and plain in ("add", "sub", "mul", "truediv", "floordiv", "mod") else op


class _Node(Value):
    __slots__ = ("expression",)

    def __init__(self, expression: Expression):
        super().__init__(F64)
        self.expression = expression


class _NotArithmetic(Exception):
    pass


def _part(v: Value) -> Expression:
    if isinstance(v, _Node):
        return v.expression
    if isinstance(v, Const):
        return "const", v.value
    raise _NotArithmetic


class _Recorder:
    """In the place of a builder: notes what would be emitted."""

    def arith(self, op: str, *operands: Value, **attrs: Any) -> Value:
        if op not in _PYTHON:
            raise _NotArithmetic
        return _Node((_PYTHON[op], *map(_part, operands)))

    def resolve(self, value: Any) -> Value:
        return value


def _trace(op: str) -> tuple[Expression, ...] | None:
    if op == "pos":
        return ("d",)
    entry = OPS.get(_TABLE.get(op, op))
    if entry is None or not callable(entry.vjp):
        return None
    recorder = _Recorder()
    leaf = lambda x: Traced(recorder, _Node(x))
    count = _OPERANDS.get(op, 2)
    try:
        given = entry.vjp(leaf("d"), leaf("y"), *[leaf(k) for k in range(count)])
    except _NotArithmetic:
        return None
    nodes = [c.value() if isinstance(c, Traced) else None for c in given]
    return tuple(node.expression if isinstance(node, _Node) else None for node in nodes)


# Per operator the cotangents of its operands, of real numbers.
EXPRESSIONS: dict[str, tuple[Expression, ...]] = {}
for _op in ("add", "sub", "mul", "truediv", "neg", "pos"):
    _traced = _trace(_op)
    if _traced is not None:
        EXPRESSIONS[_op] = _traced


# Operators that are done plainly on real numbers; for those without expressions a function gives the cotangents.
DIRECT = frozenset({*EXPRESSIONS, "mod", "pow", "floordiv"})


def leaves(e: Expression) -> set[Any]:
    """What an expression uses.

    >>> sorted(map(str, leaves(("mul", "d", 1))))
    ['1', 'd']
    """
    if not isinstance(e, tuple):
        return {e}
    if e[0] == "const":
        return set()
    found: set[Any] = set()
    for part in e[2 if e[0] == "call" else 1 :]:
        found |= leaves(part)
    return found


# The slope of x**2 by x is finite wherever x is; nothing comes to the 2.
_SQUARE: tuple[Expression, ...] = (("mul", "d", ("mul", ("const", 2.0), 0)), None)


def written_out(op: str, operands: list[Value]) -> tuple[Expression, ...] | None:
    """The cotangents of the operands of an operator as expressions, if they have been written so."""
    if op == "pow" and isinstance(operands[1], Const) and type(operands[1].value) is int and operands[1].value == 2:
        return _SQUARE
    return EXPRESSIONS.get(op)


__all__ = ["EXPRESSIONS", "Const", "base", "leaves", "written_out"]
