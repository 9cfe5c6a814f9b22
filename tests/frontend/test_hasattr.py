"""hasattr() of what compiled code has no attributes of: as in CPython, or refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import zyg

NAMES = ("__len__", "real", "append", "upper", "shape", "__call__", "__iter__", "missing")
VALUES: tuple[Any, ...] = ("ab", (1.0, 2.0), [1.0], {"a": 1.0}, 2.0, 3, True, None, 2j, np.ones(3), np.ones(2) * 1j)


def asking(name: str) -> Callable[[Any, float], tuple[float, ...]]:
    def ask(w: Any, x: float) -> tuple[float, ...]:
        maybe = w if x > 0.5 else None
        return (
            1.0 if hasattr(w, name) else 0.5,
            1.0 if hasattr(maybe, name) else 0.5,
            1.0 if hasattr(range(3), name) else 0.5,
            1.0 if hasattr(math, name) else 0.5,
            1.0 if hasattr(lambda: x, name) else 0.5,
        )

    return ask


@pytest.mark.parametrize("name", NAMES)
def test_as_in_cpython(name: str) -> None:
    for value in VALUES:
        ask = asking(name)
        for x in (0.0, 1.0):
            try:
                found = zyg.jit(ask)(value, x)
            except zyg.Unsupported:
                continue
            assert found == ask(value, x), (value, x)
