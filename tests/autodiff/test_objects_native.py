"""Native code inside object code: numbers that carry a derivative by other ways than arguments and value."""

from __future__ import annotations

import pytest

import zyg
from zyg.autodiff.objects.api import pullback
from zyg.errors import Unsupported

SCALE = 1.0
PAIR = (1.0, 2.0)


class Settings:
    scale = 1.0


def global_loop(n):
    s = 0.0
    for _ in range(n):
        s += SCALE
    return s


def global_by_callee(n):
    s = 0.0
    for _ in range(n):
        s += global_loop(1)
    return s


def pair_loop(n):
    s = 0.0
    for _ in range(n):
        s += PAIR[0]
    return s


def class_loop(n):
    s = 0.0
    for _ in range(n):
        s += Settings.scale
    return s


@zyg.jit
def jitted(n):
    return SCALE * n


def sets_global(x):
    global SCALE
    SCALE = x
    return global_loop(3)


def sets_global_of_callee(x):
    global SCALE
    SCALE = x
    return global_by_callee(3)


def sets_tuple(x):
    global PAIR
    PAIR = (x, 2.0)
    return pair_loop(3)


def sets_class(x):
    Settings.scale = x
    return class_loop(3)


def sets_for_jitted(x):
    global SCALE
    SCALE = x
    return jitted(3.0)


def default(x):
    def loop(n, k=x):
        s = 0.0
        for _ in range(n):
            s += k
        return s

    return loop(3)


def keyword_default(x):
    def loop(n, *, k=x):
        s = 0.0
        for _ in range(n):
            s += k
        return s

    return loop(3)


@pytest.mark.parametrize(
    "f", [sets_global, sets_global_of_callee, sets_tuple, sets_class, sets_for_jitted, default, keyword_default]
)
def test_numbers_that_are_not_arguments_carry_their_derivative(f):
    value, back = pullback(f, (1.5,))
    assert value == 4.5
    assert back(1.0) == (3.0,)


def raising_loop(a, n):
    for k in range(n):
        a = a * a
        if k == 1:
            raise ValueError(a)
    return a


@zyg.jit
def raising_jitted(a, n):
    return raising_loop(a, n)


@pytest.mark.parametrize("g", [raising_loop, raising_jitted])
def test_numbers_in_exceptions_of_native_code_do_not_lose_their_derivative(g):
    def f(x):
        try:
            return g(x, 3)
        except ValueError as error:
            return error.args[0] * x

    value, back = pullback(f, (2.0,))
    assert value == 32.0
    try:
        assert back(1.0) == (80.0,)
    except Unsupported as error:
        assert "left by an exception" in str(error)
