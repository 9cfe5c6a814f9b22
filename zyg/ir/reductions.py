"""The operations that reduce: what they begin with, and their step."""

from __future__ import annotations

from typing import Any

from .builder import Builder
from .core import Const, Value, const
from .types import BOOL, Scalar

REDUCING = ("add", "mul", "max", "min", "and", "or")


def identity(kind: str, type: Scalar) -> Const:
    """What a reduction begins with."""
    if kind in ("max", "min"):
        if type is BOOL:
            return const(kind == "min", BOOL)
        low, high = (float("-inf"), float("inf")) if type.kind == "f" else type.bounds
        return const(low if kind == "max" else high, type)
    if type is BOOL:
        return const(kind in ("and", "mul"), BOOL)
    one = kind == "mul"
    return const(float(one) if type.kind == "f" else int(one), type)


def combine(b: Builder, kind: str, x: Value, y: Value, **attrs: Any) -> Value:
    """One step of a reduction: what there is, and a term."""
    type = x.type
    assert isinstance(type, Scalar)
    if kind in ("max", "min"):
        if type is BOOL:
            return b.op("or" if kind == "max" else "and", x, y)
        if type.kind == "f":
            return b.op("maximum" if kind == "max" else "minimum", x, y)
        return b.op("select", b.op("gt" if kind == "max" else "lt", y, x), y, x)
    if type is BOOL:
        return b.op("and" if kind in ("and", "mul") else "or", x, y)
    return b.op(kind, x, y, **attrs)
