"""`bisect` in compiled code: places and sorted insertion, as CPython has them, and derivatives by what is found there."""

from __future__ import annotations

import bisect
import random

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn


def places(items, x, lo, hi):
    return (
        bisect.bisect(items, x),
        bisect.bisect_left(items, x),
        bisect.bisect_right(items, x, lo, hi),
        bisect.bisect_left(items, x, lo, hi),
        bisect.bisect(items, -x, key=lambda v: v - 1.0),
    )


def outcome(function, *args):
    try:
        return function(*args)
    except (ValueError, IndexError) as error:
        return type(error), str(error)


def test_places():
    compiled = zyg.jit(places)
    draw = random.Random(5)
    for _ in range(60):
        items = sorted(draw.choice([0.0, 0.5, 1.0, 2.0]) for _ in range(draw.randrange(6)))
        args = items, draw.choice([-1.0, 0.0, 0.5, 0.7, 2.0, 3.0]), draw.randrange(-1, 4), draw.randrange(-2, 7)
        assert outcome(compiled, *args) == outcome(places, *args)


def interpolated(x, slope):
    """Nodes of run-time number, inserted in any order."""
    nodes: list[float] = []
    for k in range(9):
        bisect.insort(nodes, (k * 4 % 9) * 0.25)
    values = [slope * v * v for v in nodes]
    k = bisect.bisect_right(nodes, x) - 1
    return values[k] + (values[k + 1] - values[k]) * (x - nodes[k]) / (nodes[k + 1] - nodes[k])


@each_in_turn
def test_derivatives():
    compiled = zyg.jit(interpolated)
    assert compiled(0.8, 2.0) == interpolated(0.8, 2.0)
    assert zyg.gradient(compiled, 0.8, 2.0) == pytest.approx((2.0 * (0.75 + 1.0), 0.5625 + 0.4375 * 0.2))


@each_in_turn
def test_arrays_and_tuples():
    def inserted(a, x):
        items = [x, 2.0 * x]
        bisect.insort_left(items, 1.5 * x, key=lambda v: v)
        return bisect.bisect(a, x), bisect.bisect_left((0.0, 1.0, 2.0), x), items

    a = np.array([0.1, 0.5, 0.9])
    assert zyg.jit(inserted)(a, 0.5) == inserted(a, 0.5)
