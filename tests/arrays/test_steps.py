"""A slice of the random steps, and what they do not come by: slopes that are infinite, types that take no short path, error states."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import zyg
from zyg.autodiff.objects.api import pullback

from ..turns import TURN, each_in_turn
from . import steps


def test_random_steps():
    assert steps.wrong(80, seed=1000 * TURN, length=12) == []


def gradient(function: Any, *args: Any) -> Any:
    _, back = pullback(function, args)
    return back(1.0)


X = np.array([0.0, 4.0, 0.25])


@each_in_turn
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        # A cotangent that is zero stays zero behind an infinite slope.
        (lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)), [0.0, 0.25, 1.0]),
        (lambda x: np.sum((x / x)[1:]), [0.0, 0.0, 0.0]),
        (lambda x: np.sum((1.0 / x)[1:]), [0.0, -0.0625, -16.0]),
        (lambda x: np.sum((x**0.5)[1:]), [0.0, 0.25, 1.0]),
        (lambda x: np.sum((x * np.array([np.inf, 2.0, 3.0]))[1:]), [0.0, 2.0, 3.0]),
        (lambda x: np.sum((np.array([np.nan, 2.0, 3.0]) * x)[1:]), [0.0, 2.0, 3.0]),
        (lambda x: np.sum(np.log(x)[1:] + x[1:] / np.inf), [0.0, 0.25, 4.0]),
        # Zeros where nothing is divided.
        (lambda x: np.sum(x**2) + np.sum(x**0) + np.sum(x**1), [1.0, 9.0, 1.5]),
        (lambda x: np.sum(np.abs(x)) + np.sum(np.floor(x)), [0.0, 1.0, 1.0]),
    ],
)
def test_zeros_and_infinite_slopes(function, expected):
    with np.errstate(all="ignore"):
        (got,) = gradient(function, X)
    np.testing.assert_allclose(got, expected)


def add_in_turn(x):
    """An operand twice, and views of one memory, in all places."""
    y = x + x
    z = y - y[::-1]
    y += y
    z *= z
    y[1:] -= y[:-1]
    y[0] = y[1]
    return np.sum(y * z) + np.dot(z, z) * 0.01


def test_one_array_in_several_places():
    x = np.array([0.5, -1.0, 2.0])
    expected = [add_in_turn(x + 1e-30j * e).imag / 1e-30 for e in np.eye(3)]
    np.testing.assert_allclose(gradient(add_in_turn, x)[0], expected, rtol=1e-13)


@each_in_turn
def test_second_derivatives_of_short_paths():
    """(`python -m tests.arrays.steps --second` draws more.)"""

    def slope(x, v):
        return np.sum(pullback(add_in_turn, (x,))[1](1.0)[0] * v)

    x, v = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.5, -0.25])
    h = 1e-6
    along = lambda x: np.array([add_in_turn(x + 1e-30j * e).imag / 1e-30 for e in np.eye(3)])
    np.testing.assert_allclose(gradient(slope, x, v)[0], (along(x + h * v) - along(x - h * v)) / (2 * h), rtol=1e-7)


def in_other_orders(w, s):
    t = w.T * s  # laid out as Fortran does
    u = t[:, 0] + t.T[0] + t.ravel()[:3]
    v = (t + 1.0)[::2, 1:].T * 2.0
    return np.sum(u * u) + np.sum(v) + np.sum(t[1] * np.sin(t).T[1])


@each_in_turn
def test_orders_in_memory():
    w, s = np.arange(9.0).reshape(3, 3) / 5, 1.5
    expected = [in_other_orders(w + 1e-30j * e.reshape(3, 3), s).imag / 1e-30 for e in np.eye(9)]
    got, ds = gradient(in_other_orders, w, s)
    np.testing.assert_allclose(got.ravel(), expected, rtol=1e-13)
    np.testing.assert_allclose(ds, in_other_orders(w, s + 1e-30j).imag / 1e-30, rtol=1e-13)


def test_elements_in_the_order_of_memory():
    w, wide = np.arange(12.0), np.arange(24.0).reshape(3, 8) / 5
    for a in (np.asfortranarray(wide)[:, ::2], np.asfortranarray(wide[:, ::2]), wide[::-1, ::2].T):
        for f in (
            lambda a: np.sum(a.ravel("K") * w),
            lambda a: np.sum(a.flatten("K") * w),
            lambda a: np.sum(a.flatten("A") * w),
        ):
            expected = []
            for place in np.ndindex(a.shape):
                before, a[place] = a[place], 1e3
                expected.append(f(a))
                a[place] = before
            (got,) = pullback(f, (a,))[1](1.0)
            np.testing.assert_allclose(got.ravel(), (np.array(expected) - f(a)) / (1e3 - a.ravel()), rtol=1e-9)


def test_an_axis_more_on_the_right_of_an_assignment():
    def f(x):
        a = (x * 1.0).reshape(1, 3)
        a[0] = a
        return np.sum(a * a)

    np.testing.assert_array_equal(gradient(f, np.array([1.0, 2.0, 3.0]))[0], [2.0, 4.0, 6.0])


@each_in_turn
def test_other_types_of_elements():
    def f(x, k, single):
        y = x * single + k / 2
        y += k
        y *= single
        return np.sum(y * y), y

    x, k, single = np.array([1.0, 2.0]), np.array([3, 4]), np.array([0.5, 0.25], np.float32)
    (value, y), back = pullback(f, (x, k, single))
    assert y.dtype == np.float64 and value == np.sum(y * y)
    dx, dk, dsingle = back((1.0, None))
    np.testing.assert_allclose(dx, 2 * y * single**2)
    np.testing.assert_allclose(dk, 2 * y * 1.5 * single)
    assert dsingle.dtype == np.float32
    np.testing.assert_allclose(dsingle, 2 * y * (2 * x * single + 1.5 * k), rtol=1e-6)
    assert (lambda z: np.sum(z * z * 0.5))(single).dtype == np.float32
    (ds,) = gradient(lambda z: np.sum(z * z * 0.5), single)
    assert ds.dtype == np.float32


def test_arrays_without_dimensions():
    def f(s):
        a = np.array(s)
        b = a * a + a  # a number
        a += b
        return a[()] * 2.0 + np.sum(a * np.ones(3)) + np.dot(a, b)

    s = 0.75
    assert gradient(f, s)[0] == pytest.approx((f(s + 1e-7) - f(s - 1e-7)) / 2e-7, rel=1e-7)


class Quiet(np.ndarray):
    """Does nothing in its own way."""


def test_updates_by_arrays_without_dimensions():
    """NumPy calculates numbers from them, which are no shadows."""

    def twice(x):
        b, a = np.zeros(()), np.zeros(())
        b += x[0]
        a -= b
        a -= b
        return float(a)

    def read_before(x):
        b, a = np.array(x.sum()), np.zeros(())
        c = b.copy()
        a -= b
        c *= b
        return float(a) + float(c)

    assert pullback(twice, (X,))[1](1.0)[0].tolist() == [-2.0, 0.0, 0.0]
    assert pullback(read_before, (X,))[1](1.0)[0] == pytest.approx(np.full(3, 2.0 * X.sum() - 1.0))


@each_in_turn
def test_what_is_overwritten_by_a_value_without_derivative():
    """Nothing of the derivative by it is left, where it is written."""

    def divided(x):
        b = x * 1.5
        b //= 1
        return np.sum(b * x)

    def a_part(x):
        b = x * 1.5
        b[1:] //= 1
        return np.sum(b * b)

    def into(x):
        b = x * 1.5
        np.floor_divide(b, 0.5, out=b)
        c = x * 2.0
        np.greater(x, 1.0, c)
        return np.sum((b + c) * x)

    def chosen(x):
        b = x * 1.5
        np.floor_divide(b, 0.5, out=b, where=b > 1)
        return np.sum(b * b)

    x = np.array([0.3, 1.7, -2.1])
    assert gradient(divided, x)[0].tolist() == [0.0, 2.0, -4.0]
    assert gradient(a_part, x)[0] == pytest.approx([4.5 * 0.3, 0.0, 0.0])
    assert gradient(into, x)[0].tolist() == [0.0, 6.0, -7.0]
    assert gradient(chosen, x)[0] == pytest.approx([4.5 * 0.3, 0.0, 4.5 * -2.1])
    second = gradient(lambda x: gradient(a_part, x)[0][0] * x[1], x)[0]
    assert second == pytest.approx([4.5 * 1.7, 4.5 * 0.3, 0.0])


@each_in_turn
@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.trace(x[0][:, :2] @ x[0][:2], 1) ** 2,
        lambda x: np.sum(np.trace(x) ** 2),
        lambda x: np.sum(x.trace(offset=1, axis1=2, axis2=1) ** 2),
    ],
)
def test_traces_of_other_diagonals_and_axes(function):
    x = np.arange(18.0).reshape(2, 3, 3) + 0.5
    assert gradient(function, x)[0] == pytest.approx(zyg.gradient(function, x)[0])


@each_in_turn
@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sum(np.diff(x[0], prepend=0.0) ** 2),
        lambda x: np.sum(np.diff(a=x, n=2, axis=1) ** 2),
        lambda x: np.sum(np.triu(m=x, k=1) ** 2),
        lambda x: np.linalg.det(a=x) ** 2,
        lambda x: np.sum(a=x, axis=1, keepdims=True).prod(),
        lambda x: np.sum(np.tile(A=x[0], reps=2) ** 2),
        lambda x: np.linspace(start=x[0, 0], num=3, stop=x[1, 1]).prod(),
        lambda x: np.linspace(stop=x[0, 0], start=x[1, 1], num=3).prod(),
        lambda x: np.sum(np.clip(x, a_max=x[1, 1] * 0.8, a_min=x[0, 1]) ** 2),
        lambda x: np.sum(np.full(fill_value=x[0, 0], shape=2) ** 2),
        lambda x: np.sum(np.full_like(a=x, fill_value=x[0, 0], dtype=float) ** 2),
        lambda x: pow(exp=x[0, 0], base=x[1, 1]),
    ],
)
def test_arguments_by_numpys_names(function):
    x = np.array([[1.5, 0.5, 2.0], [1.0, 3.0, 0.25], [0.5, 1.0, 2.5]])
    assert gradient(function, x)[0] == pytest.approx(zyg.gradient(function, x)[0])


def test_classes_of_arrays_take_no_short_path():
    def f(x):
        y = x.view(Quiet) * 2.0
        assert type(y) is Quiet
        return np.sum(np.asarray(y))

    np.testing.assert_array_equal(gradient(f, np.array([1.0, 2.0]))[0], [2.0, 2.0])
    with pytest.raises(zyg.Unsupported):
        gradient(lambda x: np.sum(np.asarray(np.asmatrix(x) * 2.0)), np.array([1.0, 2.0]))


def test_numpys_own_errors_and_messages():
    tanh: Any = np.tanh
    for f in (
        lambda x: x + np.ones(2),
        lambda x: x @ np.ones(2),
        lambda x: tanh(),
        lambda x: np.sum(x, 5),
        lambda x: x.sum(3),
    ):
        with pytest.raises((ValueError, TypeError)) as expected:
            f(X)
        with pytest.raises(type(expected.value)) as got:
            pullback(f, (X,))
        assert str(got.value) == str(expected.value)


def test_error_state():
    """The reverse pass warns of nothing, and leaves NumPy as it was."""

    def f(x):
        return np.sum(np.sqrt(x * 1e-300) * 1e200)

    with np.errstate(all="raise", under="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        before = np.geterr()
        _, back = pullback(f, (np.array([1e-300, 0.0]),))
        assert np.geterr() == before
        back(1.0)
        assert np.geterr() == before
