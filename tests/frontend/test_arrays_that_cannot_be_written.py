"""A variable that is an argument which cannot be written on one way, and a new array on the other."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.turns import by_one_python_a_day


def in_a_loop(x, n):
    for _ in range(n):
        x = x * 2.0
    x[0] = 1.0
    return x


def on_a_branch(x, n):
    if n:
        x = x.copy()
    x[1:] += x[0]
    return x


def only_read(x, n):
    y = x
    while n > 0:
        y = y[1:] * y[:-1] if n % 2 else np.abs(y)
        n -= 1
    return y


def given_back(x, n):
    return x.copy() if n else x


def outcome(function, x, n, wrap=lambda f: f):
    a = x.copy()
    a.flags.writeable = False
    try:
        y = wrap(function)(a, n)
    except ValueError as error:
        assert "read-only" in str(error)
        return "refused"
    return y.tolist(), y.flags.writeable, np.shares_memory(y, a)


@by_one_python_a_day
@pytest.mark.parametrize("function", [in_a_loop, on_a_branch, only_read, given_back])
@pytest.mark.parametrize(
    "x", [np.arange(1.0, 5.0), np.arange(1.0, 5.0) * 1j, np.arange(1, 5)], ids=lambda x: str(x.dtype)
)
@pytest.mark.parametrize("n", [0, 1, 2])
def test_each_is_what_it_is(function, x, n):
    if function is in_a_loop and x.dtype == int:
        x = x.astype(np.float32)
    assert outcome(function, x, n, zyg.jit) == outcome(function, x, n)


@pytest.mark.parametrize("function", [in_a_loop, on_a_branch, only_read])
def test_gradients(function):
    x = np.arange(1.0, 5.0)
    loss = lambda x: np.sum(function(x, 2) ** 2)
    wanted = zyg.grad(loss)(x.copy())
    x.flags.writeable = False
    np.testing.assert_array_equal(zyg.jit(zyg.grad(loss))(x), wanted)
