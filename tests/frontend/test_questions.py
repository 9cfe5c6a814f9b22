"""Questions about what a value is, hasattr() and its like: answered as in CPython, or refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Sequence  # noqa: UP035

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = each_in_turn

NAMES = ("__len__", "real", "append", "upper", "shape", "__call__", "__iter__", "missing")
VALUES: tuple[Any, ...] = ("ab", (1.0, 2.0), [1.0], {"a": 1.0}, 2.0, 3, True, None, 2j, np.ones(3), np.ones(2) * 1j)


def asking(name: str) -> Callable[[Any, float], tuple[float, ...]]:
    def ask(w: Any, x: float) -> tuple[float, ...]:
        maybe: Any = w if x > 0.5 else None
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


class Called:
    def __init__(self, u: float) -> None:
        self.u = u

    def __call__(self) -> float:
        return self.u


def kinds(w: Any, x: float) -> tuple[float, ...]:
    maybe: Any = w if x > 0.5 else None
    return (
        1.0 if callable(w) else 0.5,
        1.0 if callable(Called(x)) else 0.5,
        1.0 if callable(lambda: x) and callable([x].append) else 0.5,
        1.0 if isinstance(maybe, ((int, (float,)), list)) else 0.5,
        1.0 if isinstance(w, (str | int, tuple)) else 0.5,
        np.size([x] * len([x, x])) * 1.0,
    )


def scalars(w: Any, x: float) -> tuple[bool, bool]:
    maybe: Any = w if x > 0.5 else None
    return np.isscalar(w), np.isscalar(maybe)


def sizes(w: Any, x: float) -> tuple[int, int]:
    maybe: Any = w if x > 0.5 else None
    return np.size(w), np.size(maybe)


@pytest.mark.parametrize("ask", [kinds, scalars, sizes])
def test_what_a_value_is(ask: Callable[[Any, float], Any]) -> None:
    for value in (*VALUES, Called(1.0), max):
        for x in (0.0, 1.0):
            try:
                found = zyg.jit(ask)(value, x)
            except zyg.Unsupported:
                continue
            assert found == ask(value, x), (value, x)


def test_classes_of_typing_are_refused() -> None:
    with pytest.raises(zyg.Unsupported, match="the class itself"):
        zyg.jit(lambda w: isinstance(w, Sequence))([1.0])


class Judged:
    def __init__(self, u: Any):
        self.u = u

    def __bool__(self) -> Any:
        return self.u > 0.0 if self.u is not None else None


class Sized:
    def __init__(self, u: Any):
        self.u = u

    def __len__(self) -> int:
        return self.u


def truths(w: Any, x: float) -> float:
    r = x if Judged(x) else 2.0
    return r * 3.0 if not Judged(w) else r


def lengths(w: Any, x: float) -> float:
    r = x if Sized(2) else 2.0
    return r * len(Sized(w)) if Sized(w) else r


@pytest.mark.parametrize("ask", [truths, lengths])
def test_what_special_methods_give_is_checked(ask: Callable[[Any, float], float]) -> None:
    """A float for a length, or a bool of NumPy for the truth, was taken as it came."""
    for value in (0.5, 1, None, -1, np.float64(0.5), np.int64(1)):
        assert _outcome(zyg.jit(ask), value) == _outcome(ask, value), value


def _outcome(ask: Callable[[Any, float], float], value: Any) -> tuple[type, Any]:
    try:
        return float, ask(value, 0.25)
    except Exception as error:
        return type(error), str(error)
