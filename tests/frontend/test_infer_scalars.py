"""Operators on Python numbers and NumPy scalars of all types, pairs at random, against the interpreter."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from .running import check

OPERATIONS = (
    (
        "a + b|a - b|a * b|a / b|a // b|a % b|a ** b|a & b|a | b|a ^ b|a << b|a >> b|a < b|a <= b|a == b|a != b|a > b|a >= b|"
        "divmod(a, b)|-a|~a|abs(a)|not a|int(a)|float(a)|bool(a)|round(a)"
    )
    .replace("a | b", "a or_ b")
    .split("|")
)
KINDS = ["float", "int", "bool", "f8", "f4", "i8", "i4", "u1", "?"]
FLOATS = [0.0, -0.0, 1.5, -2.5, math.inf, math.nan, 0.1, -7.0, 3.0]


def number(kind: str, pick: random.Random):
    if kind == "float":
        return pick.choice([*FLOATS, 1e300, 2.0**53])
    if kind == "int":
        return pick.choice([0, 1, -1, 2, 3, -7, 5, 2**31, 2**62, -(2**63), 300, 255, 63])
    if kind == "bool":
        return pick.random() < 0.5
    dtype = np.dtype(kind)
    if dtype.kind == "f":
        return dtype.type(pick.choice([*FLOATS, 1e30]))
    if dtype.kind == "b":
        return np.bool_(pick.random() < 0.5)
    limits = np.iinfo(dtype)
    small = [n for n in (0, 1, 2, 3, 5, 7, -1, -7) if n >= limits.min]
    return dtype.type(pick.choice([*small, limits.max, limits.min]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_operators(operation):
    pick = random.Random(operation)
    namespace: dict = {}
    exec(f"def f(a, b): return {operation.replace('or_', '|')}", namespace)
    for kind in KINDS:
        for other in pick.sample(KINDS, 3):
            if kind in ("bool", "?") and other in ("bool", "?"):
                continue  # arithmetic on two NumPy bools gives int8, and is refused
            a, b = number(kind, pick), number(other, pick)
            if kind == "?" and operation in ("+a", "-a"):
                continue
            try:
                check(namespace["f"], a, b)
            except AssertionError as error:
                documented = ("64 bits", "negative power", "complex")
                if not any(text in str(error.__cause__) for text in documented):
                    raise
