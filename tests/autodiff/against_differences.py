"""Derivatives through Python against differences, of a call and of those after it, which go by what was found out in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.oracles import differences
from zyg.autodiff.objects.api import pullback


def check(f: Callable[[Any], Any], x: float = 0.7, times: int = 3, rel: float = 1e-8) -> None:
    for _ in range(times):
        expected = differences.derivative(f, x)
        value, back = pullback(f, (x,))
        assert value == f(x)
        assert back(1.0)[0] == pytest.approx(expected, rel=rel)
