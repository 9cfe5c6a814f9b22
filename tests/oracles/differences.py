"""Numerical derivatives: Richardson-extrapolated central differences, and the complex step."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .dual import lift


def derivative(function: Callable[[float], float], x: float, step: float = 1e-2) -> float:
    """f'(x) by central differences, extrapolated (Ridders); good to about 1e-10 relative for smooth functions.

    >>> abs(derivative(math.sin, 1.0) - math.cos(1.0)) < 1e-10
    True
    """
    h = step * max(abs(x), 1.0)
    rows = [[(function(x + h) - function(x - h)) / (2 * h)]]
    best, error = rows[0][0], math.inf
    for i in range(1, 10):
        h /= 1.6
        row = [(function(x + h) - function(x - h)) / (2 * h)]
        factor = 1.0
        for j in range(1, i + 1):
            factor *= 1.6**2
            row.append((factor * row[j - 1] - rows[-1][j - 1]) / (factor - 1))
            estimate = max(abs(row[j] - row[j - 1]), abs(row[j] - rows[-1][j - 1]))
            if estimate <= error:
                best, error = row[j], estimate
        rows.append(row)
        if abs(row[-1] - rows[-2][-1]) >= 2 * error:
            break
    return best


def kinked(function: Callable[[float], float], x: float, step: float = 1e-5, tolerance: float = 1e-4) -> bool:
    """Whether the slopes on the two sides of x are not the same, so that there is no derivative.

    >>> kinked(abs, 0.0), kinked(math.floor, 1.0), kinked(math.sin, 0.0)
    (True, True, False)
    """
    left, right = ((-3 * function(x) + 4 * function(x + h) - function(x + 2 * h)) / (2 * h) for h in (-step, step))
    return not abs(right - left) <= tolerance * (1.0 + abs(right))


def gradient(function: Callable[..., float], *args: Any) -> tuple[Any, ...]:
    """The gradient with respect to every float and float array among the arguments; None for the rest."""
    return tuple(_partial(function, args, i) for i in range(len(args)))


def _partial(function: Callable[..., float], args: tuple[Any, ...], i: int) -> Any:
    arg = args[i]
    copies = lambda: [a.copy() if isinstance(a, np.ndarray) else a for a in args]

    def at(x: float, index: Any = None) -> float:
        fresh = copies()
        if index is None:
            fresh[i] = x
        else:
            fresh[i][index] = x
        return float(function(*fresh))

    if isinstance(arg, float):
        return derivative(at, arg)
    if isinstance(arg, np.ndarray) and arg.dtype.kind == "f":
        out = np.zeros(arg.shape)
        for index in np.ndindex(arg.shape):
            out[index] = derivative(lambda x: at(x, index), float(arg[index]))  # noqa: B023
        return out
    return None


class _ComplexMath:
    def __getattr__(self, name: str) -> Any:
        return getattr(cmath, name, None) or getattr(math, name)


def complex_step(function: Callable[[float], Any], x: float) -> float:
    """f'(x) to the last bits, for a function of `math` that is analytic and does not compare its numbers.

    >>> complex_step(lambda x: math.sin(x) * x, 1.5) - (math.sin(1.5) + 1.5 * math.cos(1.5))
    0.0
    """
    return lift(function, _ComplexMath())(complex(x, 1e-200)).imag / 1e-200
