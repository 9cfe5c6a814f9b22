"""Derivatives by numbers that reach what is made of arrays: added to all elements, or as the `initial` of an extremum."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.fallback import python_pullback

pytestmark = each_in_turn

ROW = np.array([1.0, 2.0, 0.5])
TABLE = np.arange(6.0).reshape(2, 3)

SUMS = {
    "added": lambda p, x: np.sum(x + p),
    "mean": lambda p, x: np.mean(x - p),
    "beside another": lambda p, x: np.sum(np.sin(x) * x + p),
    "squared": lambda p, x: np.sum(x * 0.0 + p * p),
    "nothing": lambda p, x: np.sum(x[:0] + p * p),
    "in a loop": lambda p, x: sum(np.sum(x[k:] - p * p * p) for k in range(3)),
    "table": lambda p, x: np.sum(np.outer(x, x) + p * p),
    "broadcast": lambda p, x: np.sum(np.outer(x, x) + x + p),
    "rounded": lambda p, x: np.sum(np.round(x * p)),
    "signs": lambda p, x: np.linalg.norm(np.copysign(x, p)),
    "mean of signs": lambda p, x: np.mean(np.sign(x - p)),
    "in a branch": lambda p, x: np.sum(x + p) if p > 1.0 else np.sum(x),
    "singles": lambda p, x: float(np.sum(x.astype(np.float32) + np.float32(2.0) * p)),
}


@pytest.mark.parametrize("name", SUMS)
def test_numbers_added_to_arrays(name):
    f = SUMS[name]
    slope = differences.gradient(lambda p: float(f(p, ROW)), 2.4)[0]
    close = pytest.approx(slope, rel=1e-5 if name == "singles" else 1e-7, abs=1e-9)
    assert zyg.jit(zyg.grad(f))(2.4, ROW) == close  # of which nobody wants the value
    assert zyg.gradient(f, 2.4, ROW)[0] == close
    assert zyg.jvp(f, (2.4, ROW), (1.0, 0 * ROW))[1] == close
    second = zyg.jit(zyg.grad(zyg.grad(lambda p, x: p * f(p, x))))(2.4, ROW)
    of_gradient = differences.gradient(lambda p: zyg.gradient(lambda p, x: p * f(p, x), p, ROW)[0], 2.4)[0]
    assert second == pytest.approx(of_gradient, rel=1e-5, abs=1e-9)


EXTREMA = {
    "initial": lambda p, x: np.max(x[0], initial=p) * p,
    "no initial": lambda p, x: np.max(x[0], initial=p - 100.0) * p,
    "method": lambda p, x: (x * p).max(initial=90 * p),
    "least": lambda p, x: np.min(x, initial=-p * p),
    "rows": lambda p, x: x.max(axis=1, initial=p) @ np.array([1.0, 2.0]),
    "columns": lambda p, x: np.maximum.reduce(x, axis=0, initial=p) @ np.array([1.0, 2.0, 3.0]),
    "kept": lambda p, x: np.sum(np.max(x, axis=1, initial=p, keepdims=True) ** 2),
    "nothing": lambda p, x: np.max(x[:0], initial=p * p),
    "where": lambda p, x: np.max(x, initial=p * p, where=x < 1),
    "nan among them": lambda p, x: np.fmin.reduce(x, axis=None, initial=-p * p),
}


@each_in_long_turn
@pytest.mark.parametrize("name", EXTREMA)
def test_initial_values_of_extrema(name):
    f = EXTREMA[name]
    assert zyg.jit(f)(3.4, TABLE) == f(3.4, TABLE)
    close = pytest.approx(differences.gradient(lambda p: f(p, TABLE), 3.4)[0], rel=1e-7)
    assert zyg.gradient(f, 3.4, TABLE)[0] == close
    assert python_pullback(f, (3.4, TABLE), {})[1](1.0)[0] == close
    assert zyg.jvp(f, (3.4, TABLE), (1.0, 0 * TABLE))[1] == close


def test_an_element_may_be_the_initial_value():
    assert (zyg.gradient(lambda x: np.max(x[1:], initial=x[0]), np.array([9.0, 1.0, 2.0]))[0] == [1, 0, 0]).all()
