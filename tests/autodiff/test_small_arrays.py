"""Short paths for small arrays through Python, where they end: mixed types, memory, keywords; against differences."""

from __future__ import annotations

import math

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn
from zyg.errors import Unsupported
from zyg.fallback import python_pullback

X, W, S = np.array([0.3, -0.8, 1.2]), np.arange(6.0).reshape(2, 3) + 0.5, 0.7


def swapped(x, w, s):
    z = 2.0 * x
    z[[0, 1]] = z[[1, 0]]
    z[np.argmax(x)] = s
    return np.sum(z * np.arange(3.0))


PROGRAMS = {
    "a tuple with a type": lambda x, w, s: np.sum(np.array((s, x[0], 1), dtype=float) ** 2),
    "a tuple": lambda x, w, s: np.sum(np.array((s, x[0], 2.0)) ** 2),
    "a list with a type": lambda x, w, s: np.sum(np.array([s, x[0], 1], float) ** 2),
    "rows with a type": lambda x, w, s: np.sum(np.array([[s, 1], [x[0], 2]], dtype=float) ** 2),
    "a copy in its order": lambda x, w, s: np.sum(np.copy(w.T).ravel("K") * np.arange(6.0)),
    "an array in its order": lambda x, w, s: np.sum(np.array(w.T).ravel("K") * np.arange(6.0)),
    "limits by name": lambda x, w, s: np.sum(np.clip(x, a_min=-0.1, a_max=s) ** 2),
    "one limit": lambda x, w, s: np.sum(np.clip(x, None, s) ** 2) + np.sum(x.clip(max=s)),
    "limits in another order": lambda x, w, s: np.sum(np.clip(x, a_max=s, a_min=-s) ** 2),
    "by names": lambda x, w, s: np.sum(a=x * s) + np.sum(x, initial=s, axis=0) + np.sum(np.linspace(stop=s, start=x[0], num=3) ** 2),
    "limits that have changed places": lambda x, w, s: np.sum(np.clip(x, s, -s) ** 2),
    "no elements": lambda x, w, s: np.sum(x[:0]) + np.sum(np.concatenate([x, x[:0]])) + np.sum(x[x > 9] * 2.0),
    "integers": lambda x, w, s: np.sum(x * np.array([1, 2, 3]) / np.array([2, 4, 5])),
    "bools": lambda x, w, s: np.sum(((x > 0) - x) ** 2) + np.sum(x[:1] / (x[:1] > 0)),
    "no dimensions": lambda x, w, s: np.sum(x * np.array(s)) + np.sum(np.where(x > 0, np.array(s), x)),
    "broadcasting": lambda x, w, s: np.sum(np.maximum(x, w) * np.minimum(w, x[:, None][:1])),
    "powers": lambda x, w, s: np.sum(np.power(w, x) + w**x + w**s),
    "indices": lambda x, w, s: np.sum(w[[0, 1, 1], [0, 2, 2]] * x) + x[np.int64(1)] * x[np.argmax(x)],
    "assigned by indices": swapped,
    "joined": lambda x, w, s: np.sum(np.hstack([x, s, [s, 2.0]]) ** 2) + np.sum(np.vstack([w, x]) ** 3),
    "columns": lambda x, w, s: np.sum(np.column_stack([x, w.T]) ** 2) + np.sum(np.stack([x, 2 * x], axis=-1)[:, 0] ** 2),
    "norms": lambda x, w, s: np.linalg.norm(x * s) * np.linalg.norm(w, axis=0)[1] + np.sum(np.linalg.norm(w * x, axis=-1, keepdims=True) / w),
    "linear algebra": lambda x, w, s: np.sum(np.linalg.solve(w @ w.T + s, w) @ x + np.linalg.solve(w.T @ w + np.eye(3), x)[0]) + np.linalg.slogdet(w @ w.T)[1] * np.sum(np.linalg.inv(w @ w.T + s)),
    "methods by name": lambda x, w, s: np.sum(w.sum(axis=1, keepdims=True) * w.mean(axis=0) * x.max(axis=0)) + np.sum(w.reshape((3, 2), order="F")[1] ** 2) * x.clip(min=-0.2, max=s).sum(),
    "within limits": lambda x, w, s: np.sum(np.clip(x, -2.0, 3.0 * s) ** 2) + np.sum(np.clip(w * x, s, 9.0)),
    "axes": lambda x, w, s: np.sum(np.sum(w, axis=(0, 1), keepdims=True) ** 2) + np.sum(w, axis=()).sum(),
    "rolled by name": lambda x, w, s: np.sum(np.roll(w, shift=1, axis=1) * x) + np.sum(np.roll(w, (1, 1), axis=(0, 1)) * x),
    "numbers": lambda x, w, s: np.sqrt(s) + np.exp(s) * np.arctan2(s, 0.3) + np.maximum(s, 1) - np.hypot(s, x[0]),
}  # fmt: skip


def along(f, h):
    return f(X + h * np.arange(1.0, 4.0), W + h * np.cos(W), S + 0.5 * h)


@each_in_turn
@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name):
    f = PROGRAMS[name]
    value, back = python_pullback(f, (X, W, S), {})
    assert value == f(X, W, S)
    given = [0.0 if c is None else c for c in back(1.0)]
    got = np.sum(given[0] * np.arange(1.0, 4.0)) + np.sum(given[1] * np.cos(W)) + 0.5 * given[2]
    assert got == pytest.approx((along(f, 1e-6) - along(f, -1e-6)) / 2e-6, rel=1e-6, abs=1e-6)


def test_float32_stays_float32():
    def f(x):
        kept = {"x": x}
        return np.sum(np.tanh(2 * kept["x"]) @ x + x[1:].mean() / 3 * x.max())

    found = python_pullback(f, (X.astype(np.float32),), {})[1](1.0)[0]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, python_pullback(f, (X,), {})[1](1.0)[0], rtol=1e-5)


@each_in_long_turn
def test_a_number_in_an_array_without_dimensions_has_second_derivatives():
    """Its cotangent is a number that becomes part of a shadow: it was lost."""

    def f(x, s):
        return np.sum(np.minimum(x, np.array(s)) ** 2)

    def slope(x, s):
        return zyg.gradient(f, x, s)[1]

    _, back = python_pullback(slope, (X, S), {})
    assert back(1.0)[1] == 2.0


def test_nothing_times_an_infinite_slope_is_nothing():
    """By a number of NumPy's, too: where an infinity is divided and not used."""

    def f(values, s):
        unused = values[0] / s
        return np.where(np.array([False, True]), unused, values[1])[0] * s

    assert python_pullback(f, (np.array([np.inf, 2.0]), 0.5), {})[1](1.0)[1] == 2.0


@pytest.mark.parametrize(
    "chosen",
    [
        lambda x: np.maximum(x, 0.0),
        lambda x: -np.minimum(0.0, -x),
        lambda x: np.maximum(np.zeros(3), x),
        lambda x: np.clip(x, 0.0, 1.0),
        lambda x: x.clip(0.0, 1.0),
        lambda x: np.clip(x, 0.0, None),
        lambda x: np.fmax(x, 0.0),
        lambda x: np.abs(x * (x > 0)),
        lambda x: abs(np.array([max(v, 0.0) for v in x])),
        lambda x: np.array([math.fabs(np.fabs(np.fmax(v, 0.0))) for v in x]).astype(x.dtype),
        lambda x: np.clip(x, 0.0, 1.0) + np.floor(np.clip(x, 0.0, 0.9)),
    ],
    ids="maximum minimum arrays clip method limit fmax abs items numbers floor".split(),
)
@pytest.mark.parametrize("type", [np.float64, np.float32])
def test_what_was_not_chosen_gets_nothing_of_an_infinite_cotangent(chosen, type):
    x = np.array([0.25, -0.8, 0.5], type)
    found = python_pullback(lambda x: np.sum(np.sqrt(chosen(x))), (x,), {})[1](1.0)[0]
    assert found.dtype == type
    np.testing.assert_allclose(found, [1.0, 0.0, 0.5**0.5], rtol=1e-6)


@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (lambda x: np.float64(x) * (np.float64(x) > 0), 1.0),
        (lambda x: (np.float64(x) < 0) + x / np.bool_(True), 1.0),
        (lambda x: ([x] * True)[0] * x + (True * [x])[0], 7.0),
        (lambda x: ((x,) * (x > 0))[0] * x, 6.0),
    ],
    ids=["mask", "sum", "list", "tuple"],
)
def test_bools_as_operands(f, slope):
    value, back = python_pullback(f, (3.0,), {})
    assert value == f(3.0) and back(1.0) == (slope,)


@each_in_long_turn
@each_in_turn
@pytest.mark.parametrize("n", [0.0, 1.0, 2.0])
@pytest.mark.parametrize(
    "f",
    [
        lambda x, n: np.power(x, n),
        lambda x, n: x**n,
        lambda x, n: np.multiply(n, x) * x,
        lambda x, n: SOME_INTS * n * x,
    ],
    ids=["power", "operator", "multiply", "ints"],
)
def test_numbers_of_which_rules_know_more_have_second_derivatives(f, n):
    x = np.array([0.3, 0.7, 1.2])

    def first(x, n):
        dx, dn = python_pullback(lambda x, n: np.sum(f(x, n)), (x, n), {})[1](1.0)
        return np.sum(dx * np.arange(3.0)) + dn

    dx, dn = python_pullback(first, (x, n), {})[1](1.0)
    wanted = [(first(x + 1e-6 * e, n) - first(x - 1e-6 * e, n)) / 2e-6 for e in np.eye(3)]
    np.testing.assert_allclose(dx, wanted, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(dn, (first(x, n + 1e-6) - first(x, n - 1e-6)) / 2e-6, rtol=1e-6, atol=1e-6)


SOME_INTS = np.array([1, -2, 3])


def test_the_value_that_heaviside_has_where_it_steps():
    x, h = np.array([-1.0, 0.0, -0.0, 2.0, np.nan]), np.arange(5.0)
    assert np.array_equal(python_pullback(np.heaviside, (x, h), {})[1](np.ones(5))[1], [0.0, 1.0, 1.0, 0.0, 0.0])
    assert python_pullback(lambda h: np.heaviside(x, h) * np.array([1.0, 2.0, 4.0, 8.0, 0.0]), (0.5,), {})[1](
        np.ones(5)
    ) == (6.0,)
    assert python_pullback(np.heaviside, (0.0, 0.5), {})[1](3.0) == (0.0, 3.0)


def test_an_array_that_gets_other_memory_is_refused():
    def f(x):
        b = x.copy()
        b.resize(5)
        return np.sum(b * b)

    with pytest.raises(Unsupported, match=r"resize[\s\S]*b\[:len\(a\)\] = a"):
        python_pullback(f, (np.ones(2),), {})
