"""Operators on NumPy's numbers of type float64, which elements of arrays, and sums of them, are.

The reverse pass makes Python's floats of them, with which it calculates four times as fast.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.backend import pulls

from . import arithmetic

# The types of two operands of which one is such a number: real numbers whose operators calculate, and run nothing else.
_BESIDE = float, int, bool, np.float64, np.float32, np.int64
PAIRS = frozenset({pair for t in _BESIDE for pair in ((np.float64, t), (t, np.float64))})


# Backs are (run, y, a, b).


def run_sum(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (d, d)


def run_difference(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (d, -d)


def run_product(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (d * float(back[3]), d * float(back[2]))


def run_quotient(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    _, y, a, b = back
    if b == 0:
        return arithmetic.truediv(d, y, a, b)
    c = d / float(b)
    e = -c * float(y)
    return c, e if e == e or d != 0 else 0.0  # nothing times an infinite slope is nothing


RUN: dict[str, Any] = {
    op: pulls.deferred("pull", f)
    for op, f in {"add": run_sum, "sub": run_difference, "mul": run_product, "truediv": run_quotient}.items()
}


def _run_natively() -> None:
    for op, run in RUN.items():
        pulls.settle_number(run, op)


pulls.when_started(_run_natively)
