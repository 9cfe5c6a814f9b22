"""Variables that are a number at first and an array later, or arrays of different kinds on different paths."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import zyg

from ..turns import by_one_python_a_day, each_in_turn

RNG = np.random.default_rng(5)
A, X = RNG.normal(size=(3, 4)), RNG.normal(size=4)


def total_of_rows(a):
    total = 0
    for row in a:
        total = total + row * row
    return np.sum(np.sin(total))


def momentum(a):
    v = 0.0
    for _ in range(3):
        v = 0.9 * v + 2 * a
        a = a - 0.1 * v
    return np.sum(a**2)


def built_in(a):
    return np.sum(sum(a) ** 2) + np.max(sum(np.exp(row) for row in a))


def in_containers(a):
    state = {"v": 0.0}
    sums = [0.0, 0]
    for row in a:
        state["v"] += row
        sums[0] = sums[0] + row.sum()
        sums[1] = row - sums[1]
    return np.sum(state["v"] * sums[1]) * sums[0]


def by_dimensions(a):
    y = a if a[0, 0] > 0 else a[0]
    return np.sum(np.outer(y, y))


@pytest.fixture(autouse=True)
def natively():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@each_in_turn
@pytest.mark.parametrize("f", [total_of_rows, momentum, built_in, in_containers, by_dimensions])
def test_value_and_derivatives(f: Callable[..., Any]):
    for a in (A, -A):
        assert zyg.jit(f)(a) == pytest.approx(f(a), rel=1e-13)
        gradient = zyg.gradient(f, a)[0]
        h, d = 1e-6, RNG.normal(size=A.shape)
        assert np.sum(gradient * d) == pytest.approx((f(a + h * d) - f(a - h * d)) / (2 * h), rel=1e-6, abs=1e-8)


@each_in_turn
def test_second_derivative():
    d, h = RNG.normal(size=A.shape), 1e-5
    first = lambda a: zyg.gradient(total_of_rows, a)
    by_difference = (first(A + h * d)[0] - first(A - h * d)[0]) / (2 * h)
    np.testing.assert_allclose(zyg.hvp(total_of_rows, A, d), by_difference, rtol=1e-6, atol=1e-7)


def test_no_iteration_leaves_the_number():
    def f(a: Any) -> Any:
        total = 0
        for row in a:
            total = total + row
        return total

    assert type(zyg.jit(f)(A[:0])) is int
    np.testing.assert_array_equal(zyg.jit(f)(A), f(A))
    with pytest.raises(AttributeError, match="'int' object has no attribute 'sum'"):
        zyg.jit(lambda a: f(a).sum())(A[:0])


def test_other_element_type():
    def f(x, flag):
        y = x if flag else np.arange(4)
        return y * 2, np.result_type(y)

    for flag in (True, False):
        y, dtype = zyg.jit(f)(X, flag)
        assert y.dtype == dtype == f(X, flag)[1]
        np.testing.assert_array_equal(y, f(X, flag)[0])


@each_in_turn
def test_shapes_that_the_run_tells():
    def f(a):
        x = np.squeeze(a)
        return x.shape, x.ndim, (1.0, 2.0) if a[0, 0] > 0 else a[0, 0]

    for a in (A, A[:1], A[:, :1], A[:1, :1], -A):
        assert zyg.jit(f)(a) == f(a)

    def middle(a):
        (n,) = np.squeeze(a).shape
        return np.squeeze(a)[n // 2]

    assert zyg.jit(middle)(A[:, :1]) == A[1, 0]
    with pytest.raises(ValueError, match="too many values to unpack"):
        zyg.jit(middle)(A)


def test_a_value_of_several_kinds_has_no_derivative_natively():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        found = zyg.gradient(lambda a: np.squeeze(a.sum(axis=1, keepdims=True))[0] ** 2 * np.squeeze(a)[0], A[:, :1])
        np.testing.assert_allclose(found[0][:, 0], [3 * A[0, 0] ** 2, 0.0, 0.0])
    with pytest.raises(zyg.Unsupported, match="a derivative of a value that is a number or an array"):
        zyg.jit(lambda a: zyg.gradient(lambda b: np.squeeze(b[1:])[0], a))(A)


@pytest.mark.parametrize("matrix", [True, False])
def test_a_mask_of_an_array_of_either_number_of_dimensions(matrix):
    def damped(x, matrix):
        if matrix:
            x = x.reshape(2, 3)
        x[x < 0] *= 0.1
        return x

    found = zyg.jit(damped)(np.arange(6.0) - 2.5, matrix)
    expected = damped(np.arange(6.0) - 2.5, matrix)
    assert np.array_equal(found, expected) and found.shape == expected.shape


def items_of_flat(a):
    a.flat[0] = 3.0
    a.flat[1:] *= a.flat[-1]
    a.flat[[0, 1]] += 0.5
    return a.flat[1] * len(a.flat) + sum(v * v for v in a.flat)


def looks(a):
    return a.flags.writeable, a.flags.c_contiguous, a.flags.f_contiguous


def lengths(a):
    n = 1
    for place, d in enumerate(a.shape):
        n = 10 * n + d + place
    return n, max(a.shape), sum([d + 1 for d in a.shape]), sum([m * d * n for m, d in zip(a.shape, a.shape[::-1])])


def elements_by_index(a):
    total = 0.0
    for i in np.ndindex(a.shape):
        total += a[i] * sum(i)
    for i, v in np.ndenumerate(a):
        total += v * i[-1]
    return total


def masked_output(a):
    np.sin(a, out=a, where=a > 0)
    return np.multiply(a, 2.0, out=a, where=a < 0.5).sum()


@by_one_python_a_day
@pytest.mark.parametrize("function", [items_of_flat, looks, lengths, elements_by_index, masked_output])
@pytest.mark.parametrize("matrix", [True, False])
@pytest.mark.parametrize("step", [1, -1])
def test_what_an_array_of_either_number_of_dimensions_gives(function, matrix, step):
    def f(x, matrix):
        return function(x.reshape(2, 3)[:, :2] if matrix else x)

    x, y = (np.linspace(-1.0, 2.0, 6)[::step] for _ in range(2))
    assert zyg.jit(f)(x, matrix) == pytest.approx(f(y, matrix), rel=1e-15)
    np.testing.assert_allclose(x, y, rtol=1e-15)


@each_in_turn
@pytest.mark.parametrize("function", [items_of_flat, masked_output])
@pytest.mark.parametrize("matrix", [True, False])
def test_derivatives_of_what_an_array_of_either_number_of_dimensions_gives(function, matrix):
    def f(x):
        x = x * 1.0
        return function(x.reshape(2, 3)[:, :2] if matrix else x)

    x = np.linspace(-1.0, 2.1, 6)
    numeric = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(6)]
    np.testing.assert_allclose(zyg.jit(zyg.grad(f))(x), numeric, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("count", [1, 3])
def test_a_mask_with_more_axes_than_the_output(count):
    def f(x):
        one = x[:1].reshape(())
        return np.sin(one, out=one, where=x[:count] > 0)

    message = rf"non-broadcastable output operand with shape \(\) doesn't match the broadcast shape \({count},\)"
    for g in (f, zyg.jit(f)):
        with pytest.raises(ValueError, match=message):
            g(np.arange(3.0))


def test_a_loop_over_tuples_of_either_length():
    def f(x, long):
        ts = (1.0, x, 3.0) if long else (x, 2.0)
        total = 0.0
        for n, t in enumerate(ts):
            if n == 2:
                break
            for u in ts[::-1]:
                total = total * 0.5 + t * u
        else:
            total += 100.0
        return total

    for long in (True, False):
        assert zyg.jit(f)(1.5, long) == f(1.5, long)
        slope = (f(1.5 + 1e-6, long) - f(1.5 - 1e-6, long)) / 2e-6
        assert zyg.jit(zyg.grad(f))(1.5, long) == pytest.approx(slope, rel=1e-8)


LISTED = [
    lambda v, h: np.select([v > 1, v < 0], [v, v * 2], h),
    lambda v, h: np.column_stack((h, v)),
    lambda v, h: np.piecewise(v, [v > 1], [1.0, 2.0]),
    lambda v, h: np.stack([v, h]),
    lambda v, h: np.array([v, v]) + np.array([[1.0], [v.sum()]])[:, None],
    lambda v, h: np.lexsort((h, np.ravel(v))),
    lambda v, h: np.hstack([v.ravel(), h]) * np.sum((v, v)),
]
KINDS = [
    lambda h, first: h if first else h[None],
    lambda h, first: h if first else np.arange(3),
    lambda h, first: h if first else h.astype(np.float32),
    lambda h, first: np.squeeze(h[:, None]),
]


@each_in_turn
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", LISTED)
def test_arrays_of_this_or_that_kind_in_lists(function, kind):
    def f(h, first):
        return function(kind(h, first), h)

    for first in (True, False):
        try:
            expected = f(np.array([0.5, 2.0, 1.25]), first)
        except ValueError:
            with pytest.raises(ValueError):
                zyg.jit(f)(np.array([0.5, 2.0, 1.25]), first)
        else:
            found = zyg.jit(f)(np.array([0.5, 2.0, 1.25]), first)
            np.testing.assert_allclose(found, expected, rtol=1e-15)
            assert found.dtype == expected.dtype and found.shape == expected.shape


def test_too_many_numbers_of_this_or_that_kind_in_a_list():
    def f(h, first):
        one = h if first else h[None]
        return np.array([one[..., i] for i in (0, 1, 2, 0, 1, 2)])

    with pytest.raises(zyg.Unsupported, match="more than 5 numbers or arrays"):
        zyg.jit(f)(np.ones(3), True)


def test_dtypes_of_arrays_of_this_or_that_kind():
    def f(h, first):
        v = h * 2.0 if first else np.arange(3)
        w = h if first else h.astype(np.float32)
        return (v.dtype == np.float64, v.dtype != int, np.float64 == v.dtype, v.dtype == "f8", v.dtype == h.dtype,
                v.dtype in (np.float64, bool), w.dtype == np.float32, v.dtype == w.dtype, v.dtype is np.dtype(float))  # fmt: skip

    for first in (True, False):
        assert zyg.jit(f)(np.ones(3), first) == f(np.ones(3), first)
