"""Derivatives through Python against differences, of a call and of those after it, which go by what was found out in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.oracles import differences
from zyg.autodiff.objects.api import pullback

STEP = 1e-2


def check(f: Callable[[Any], Any], x: float = 0.7, times: int = 3, rel: float = 1e-8, step: float = STEP) -> None:
    for _ in range(times):
        expected = differences.derivative(f, x, step)
        value, back = pullback(f, (x,))
        assert value == f(x)
        assert back(1.0)[0] == pytest.approx(expected, rel=rel)


def slope_of(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: pullback(f, (x,))[1](1.0)[0]


def check_second(f: Callable[[Any], Any], x: float = 0.7, step: float = STEP) -> None:
    slope = slope_of(f)
    value, back = pullback(slope, (x,))
    assert value == pytest.approx(slope(x))
    assert (back(1.0)[0] or 0.0) == pytest.approx(differences.derivative(slope, x, step), rel=1e-6, abs=1e-9)
