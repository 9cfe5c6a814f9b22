"""What is known when compiling is not emitted: lengths that are constants, a length that is compared with itself.

The optimiser would fold it, too (ir/passes/fold.py); but by then the ways that are never taken have been evaluated.  Numbers with a fraction
are left to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from zyg.ir.core import Const, Value, const
from zyg.ir.ops import OPS
from zyg.ir.types import BOOL, I64

_WITH_ITSELF = {"eq": True, "le": True, "ge": True, "ne": False, "lt": False, "gt": False}
_ARITHMETIC = frozenset({"add", "sub", "mul", "neg", "cadd", "csub", "cmul", "cneg", "floordiv"})
_NEUTRAL = {"add": 0, "cadd": 0, "sub": 0, "csub": 0, "mul": 1, "cmul": 1}
_OF_FLAGS = frozenset({"and", "or", "not"})


def folded(op: str, operands: Sequence[Value]) -> Value | None:
    """The value of an operation on ints or bools, if it is known."""
    if op == "stop":
        return operands[0] if isinstance(operands[0], Const) else None
    if op == "select":
        return _chosen(*operands)
    if op not in _WITH_ITSELF and op not in _ARITHMETIC and op not in _OF_FLAGS:
        return None
    kind = operands[0].type
    if kind is not I64 and kind is not BOOL or any(v.type is not kind for v in operands):
        return None
    if op in _WITH_ITSELF and operands[0] is operands[1]:
        return const(_WITH_ITSELF[op])
    values = [v.value for v in operands if isinstance(v, Const)]
    if len(values) == len(operands):
        evaluate = OPS[op].eval
        assert evaluate is not None
        try:
            return const(evaluate(*values))
        except ArithmeticError:  # which is raised where the code comes to it
            return None
    if values and kind is I64 and op in _NEUTRAL:
        return _unchanged(op, *operands)
    if values and kind is BOOL and op in _OF_FLAGS:
        (other,) = [v for v in operands if not isinstance(v, Const)]
        decides = op == "or"
        return const(decides) if values[0] is decides else other
    return None


def _unchanged(op: str, first: Value, second: Value) -> Value | None:
    if isinstance(second, Const):
        return first if second.value == _NEUTRAL[op] else None
    assert isinstance(first, Const)
    return second if first.value == _NEUTRAL[op] and op not in ("sub", "csub") else None


def _chosen(condition: Value, first: Value, second: Value) -> Value | None:
    if isinstance(condition, Const):
        return first if condition.value else second
    return first if first is second else None


__all__ = ["folded"]
