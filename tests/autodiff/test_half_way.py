"""Iterators that raise half-way, while C code puts their items somewhere; numbers of mixed kinds; sets."""

from __future__ import annotations

import math
import warnings
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

import zyg
from tests.turns import each_in_long_turn


def extended(x):
    items = [x]

    def two():
        yield x
        yield x * 2
        raise ValueError

    try:
        items += two()
    except ValueError:
        items[0] *= x
    return sum(v * v for v in items)


def updated(x):
    entries = {"a": x}

    def pairs():
        yield "b", x * 3
        yield "a", x * x
        raise ValueError

    try:
        entries.update(pairs())
    except ValueError:
        entries["a"] *= x
    return entries["a"] * entries["b"]


def bounded(x):
    last = deque([1.0, x], maxlen=2)

    def powers():
        yield x * x
        yield 3 * x
        yield x**3
        raise ValueError

    for extend in (last.extend, last.extendleft):
        try:
            extend(powers())
        except ValueError:
            last[0] *= x
    twice = deque([1.0, x, 2 * x], maxlen=4)
    twice.extend(twice)
    return last[0] * last[1] + sum(i * v * v for i, v in enumerate(twice))


def in_a_set(x):
    found: set[Any] = set()

    def numbers():
        yield x
        yield 2 * x
        raise ValueError

    try:
        found.update(numbers())
    except ValueError:
        found.add(3 * x)
    return sum(v * v for v in found)


def mixed(x):
    try:
        product = abs(math.prod([x, 1j * x + 1, 2]))
        return product + abs(sum([x, 1j * x, 2])) + sum((x, 2j)).imag * x + abs(math.prod([1j, 2.0], start=x))
    except KeyError:
        return x


@each_in_long_turn
@pytest.mark.parametrize("f", (extended, updated, bounded, in_a_set, mixed))
def test_derivatives(f: Callable[..., Any]):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        value, slope = zyg.value_and_grad(f)(0.7)
        bend = zyg.derivative(zyg.derivative(f))(0.7)
    assert value == f(0.7)
    assert type(slope) is float
    assert slope == pytest.approx((f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6, rel=1e-8)
    assert bend == pytest.approx((f(0.701) - 2 * f(0.7) + f(0.699)) / 1e-6, rel=1e-4)
