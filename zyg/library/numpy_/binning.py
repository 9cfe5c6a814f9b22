"""How many bins a histogram has where a name says how that is estimated from the numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

ESTIMATORS = ("auto", "doane", "fd", "rice", "scott", "sqrt", "sturges")


def count_of(a: Any, name: str, first: Any, last: Any, whole: bool) -> int:
    """How many bins there are from first to last, for the numbers that lie there; whole: integers, which are at least one apart."""
    kept = a[(a >= first) & (a <= last)]
    width = width_of(kept, name) if len(kept) > 0 else 0.0
    if width == 0.0:
        return 1
    return math.ceil((float(last) - float(first)) / (max(width, 1.0) if whole else width))


def width_of(x: Any, name: str) -> float:
    """How wide bins should be, 0 where an estimator does not tell."""
    n, extent = len(x), float(np.max(x) - np.min(x))
    by_sturges = extent / (math.log2(n) + 1.0)
    by_root = extent / math.sqrt(n)
    if name == "sturges":
        return by_sturges
    if name == "sqrt":
        return by_root
    if name == "rice":
        return extent / (2.0 * n ** (1.0 / 3.0))
    if name == "scott":
        return (24.0 * math.pi**0.5 / n) ** (1.0 / 3.0) * float(np.std(x))
    if name == "doane":
        return by_skewness(x, extent)
    upper, lower = np.percentile(x, [75, 25])
    by_quartiles = 2.0 * float(upper - lower) * n ** (-1.0 / 3.0)
    return by_quartiles if name == "fd" else min(max(by_quartiles, by_root / 2), by_sturges)


def by_skewness(x: Any, extent: float) -> float:
    n, deviation = len(x), np.std(x)
    if n <= 2 or deviation == 0.0:
        return 0.0
    unit = math.sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)))
    skewness = float(np.mean(((x - np.mean(x)) / deviation) ** 3))
    return extent / (1.0 + math.log2(n) + math.log2(1.0 + abs(skewness) / unit))
