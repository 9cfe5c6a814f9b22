"""Operators on NumPy's numbers of type float64, which elements of arrays, and sums of them, are.

What is kept of them are Python's floats, with which the reverse pass calculates four times as fast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import arithmetic

# The types of two operands of which one is such a number: real numbers whose operators calculate, and run nothing else.
_BESIDE = float, int, bool, np.float64, np.float32, np.int64
PAIRS = frozenset({pair for t in _BESIDE for pair in ((np.float64, t), (t, np.float64))})


def run_sum(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (d, d)


def run_difference(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (d, -d)


def run_product(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (d * back[2], d * back[1])


def run_quotient(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    _, y, b = back
    if b == 0:
        return arithmetic.truediv(d, y, None, b)
    c = d / b
    return c, -c * y


_SUM, _DIFFERENCE = (run_sum,), (run_difference,)

# By the name of an operator: the back, from the result and the operands.
BACKS: dict[str, Callable[[Any, Any, Any], tuple[Any, ...]]] = {
    "add": lambda y, a, b: _SUM,
    "sub": lambda y, a, b: _DIFFERENCE,
    "mul": lambda y, a, b: (run_product, float(a), float(b)),
    "truediv": lambda y, a, b: (run_quotient, float(y), float(b)),
}
