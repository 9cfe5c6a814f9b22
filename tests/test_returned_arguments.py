"""Rules that return the very array that they were given: right as long as nobody writes to it under its other name, else refused."""

from __future__ import annotations

import numpy as np
import pytest

import zyg

X = np.array([1.0, 2.0, 3.0])


def same(a):
    return a


@zyg.adjoint(same)
def _(a):
    return a, lambda d: (2.0 * d,)


def within(a):
    return same(a)[1:]


def argument_written(x):
    y = x * 1.0
    z = same(y)
    y[0] = 5.0
    return np.sum(z * z)


def result_written(x):
    y = x * 1.0
    z = same(y)
    z[0] = 5.0
    return np.sum(y * y)


def written_in_place(x):
    y = x * 1.0
    z = same(y)
    y *= 2.0
    return np.sum(z)


def by_a_view(x):
    y = x * 1.0
    z = within(y)
    z[0] = 5.0
    return np.sum(y * y)


def in_a_loop(x):
    y, total = x * 1.0, 0.0
    for i in range(len(x)):
        z = same(y)
        total += np.sum(z)
        y[i] = total
        total += z[i]
    return total


def by_a_hook(x):
    y = x * 1.0
    z = zyg.hook(lambda d: 3.0 * d, y)
    y[0] = 5.0
    return np.sum(z * z)


def by_either_name(x):
    y = x * 1.0
    z = same(y)
    w = z if x[0] > 0.0 else x * 2.0
    w *= 3.0
    return np.sum(y * x)


@pytest.mark.parametrize(
    "function", [argument_written, result_written, written_in_place, by_a_view, in_a_loop, by_a_hook, by_either_name]
)
def test_what_is_written_under_one_name_and_read_under_the_other_is_refused(function):
    with pytest.raises(zyg.Unsupported, match="under its other name") as refused:
        zyg.jit(zyg.grad(function))(X)
    assert refused.value.position is not None
    with pytest.warns(zyg.FallbackWarning), pytest.raises(zyg.Unsupported):
        zyg.gradient(function, X)


def going_on(x):
    y = x * 1.0
    z = same(y)
    z[0] *= 3.0
    return np.sum(z * z)


def only_read(x):
    y = x * 1.0
    z = same(y)
    return np.sum(z * z) + np.sum(y)


def made_anew(x):
    total = 0.0
    for i in range(len(x)):
        y = x * 1.0
        y[i] = 4.0
        z = same(y)
        total += np.sum(z * z)
    return total


def result_dropped(x):
    y = x * 1.0
    total = np.sum(same(y))
    y[0] = 5.0 * y[1]
    return total + np.sum(y)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (going_on, [2 * 18 * 1.0, 2 * 2 * 2.0, 2 * 2 * 3.0]),
        (only_read, [4 * 1.0 + 1, 4 * 2.0 + 1, 4 * 3.0 + 1]),
        (made_anew, [2 * 2 * 2 * 1.0, 2 * 2 * 2 * 2.0, 2 * 2 * 2 * 3.0]),
        (result_dropped, [2.0, 2.0 + 6.0, 3.0]),
    ],
)
def test_what_is_right(function, expected):
    np.testing.assert_allclose(zyg.jit(zyg.grad(function))(X), expected)
