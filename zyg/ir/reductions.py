"""The operations that reduce: what they begin with, and their step."""

from __future__ import annotations

import math
from typing import Any

from .builder import Builder
from .core import Const, Value, const
from .types import BOOL, Scalar

_ORDERED = frozenset({"nnan", "nsz"})

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


class Running:
    """A reduction in a loop: what it carries along, its step, and what it comes to.

    Maxima and minima of floats carry whether there was a nan beside the largest of the other elements: two short chains of
    operations, which LLVM does for several vectors at once, instead of a long one.  Once there was a nan the other one is
    undefined, and nobody looks at it.  A zero may be of either sign, as NumPy's is.
    """

    def __init__(self, kind: str, type: Scalar):
        self.kind, self.type = kind, type
        self.apart = kind in ("max", "min") and type.kind == "f"

    def start(self) -> list[Const]:
        first = identity(self.kind, self.type)
        return [first, const(False)] if self.apart else [first]

    def step(self, b: Builder, carried: list[Value], term: Value) -> list[Value]:
        if not self.apart:
            return [combine(b, self.kind, carried[0], term)]
        best, nan = carried
        better = b.op("gt" if self.kind == "max" else "lt", term, best, fast=_ORDERED)
        return [b.op("select", better, term, best, fast=_ORDERED), b.op("or", nan, b.op("ne", term, term))]

    def result(self, b: Builder, carried: list[Value]) -> Value:
        if not self.apart:
            return carried[0]
        best, nan = carried
        return b.op("select", nan, const(math.nan, self.type), best)
