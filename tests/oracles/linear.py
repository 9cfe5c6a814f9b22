"""Numbers with slopes, for programs that only choose, move and weigh the numbers that they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zyg.fallback import python_pullback


class Linear(float):
    """A number with its slopes by the numbers that the program was given; it is compared as a float."""

    slopes: dict[int, float]

    def __new__(cls, value: float, slopes: dict[int, float]) -> Linear:
        made = float.__new__(cls, value)
        made.slopes = slopes
        return made

    def __mul__(self, by: float) -> Linear:
        return Linear(by * float(self), {k: by * s for k, s in self.slopes.items()})

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Linear:
        slopes = dict(self.slopes)
        for k, s in getattr(other, "slopes", {}).items():
            slopes[k] = slopes.get(k, 0.0) + s
        return Linear(float(self) + float(other), slopes)

    __radd__ = __add__

    def __neg__(self) -> Linear:
        return self * -1.0

    def __sub__(self, other: Any) -> Linear:
        return self + -1.0 * other

    def __rsub__(self, other: Any) -> Linear:
        return -self + other


def check(program: Callable[[list[Any]], Any], xs: list[float]) -> None:
    """The gradient of a program of a list of numbers through the Python back end is that of CPython with such numbers."""
    expected = program([Linear(x, {k: 1.0}) for k, x in enumerate(xs)])
    value, back = python_pullback(program, (xs,), {})
    assert value == expected
    given = [*(back(1.0)[0] or ()), *[0.0] * len(xs)][: len(xs)]
    slopes = getattr(expected, "slopes", {})
    assert [c or 0.0 for c in given] == [slopes.get(k, 0.0) for k in range(len(xs))]
