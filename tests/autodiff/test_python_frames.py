"""Generators, context managers and exceptions of object code, against differences of the functions under CPython."""

from __future__ import annotations

import contextlib
import sys

import pytest

from tests.oracles import differences
from tests.turns import by_one_python_a_day
from zyg.autodiff.objects.api import pullback
from zyg.errors import Unsupported


def two_managers(x):
    state = []

    @contextlib.contextmanager
    def scaled(v):
        yield v * 2
        state.append(v * x * x)

    with scaled(x) as a, scaled(a * x) as b:
        r = a * b
    return r + state[0] * state[0] * state[1]


def manager_that_cleans_up(x):
    state = [x]

    @contextlib.contextmanager
    def scaled(v):
        try:
            yield v * 2
        finally:
            state[0] = state[0] * v

    with scaled(x) as a:
        state[0] = state[0] + a * a
    with contextlib.suppress(KeyError), scaled(x * x) as b:
        state[0] = state[0] * b
        raise KeyError
    return state[0]


def loop_that_meets_the_end(x):
    state = [x]

    def items(v):
        for k in range(3):
            state[0] = state[0] * v
            yield v * k
        state[0] = state[0] + v * v * v

    for a in items(x):
        state[0] = state[0] * (a + x)
    for a in items(x * x):
        for b in items(a):
            state[0] = state[0] + a * b * x
    return state[0]


def closed(x):
    state = [x]

    def items(v):
        try:
            yield v
            yield v * v
        finally:
            state.append(v * state[0] * x)

    i = items(x * x)
    a = next(i)
    state[0] = state[0] * a
    i.close()
    j = items(x)
    b = next(j) * next(j)
    j.close()
    return a * b * state[1] * state[2]


def closing(x):
    state = [x]

    def items(v):
        try:
            yield v
            yield v * v
        finally:
            state[0] = state[0] * v

    r = 0.0
    with contextlib.closing(items(x)) as i:
        for a in i:
            r += a * state[0]
            break
    return r * state[0]


def thrown(x):
    def items(v):
        try:
            yield v
        except KeyError as e:
            yield v * e.args[0]

    i = items(x * x)
    a = next(i)
    r = a * x + i.throw(KeyError(x * 3))
    i.close()
    return r


def sent(x):
    def running():
        total = x
        while True:
            total = total * (yield total)

    i = running()
    r = next(i)
    r = r + i.send(x * 2) * x
    return r * i.send(r)


def value_of_stop(x):
    def items():
        yield x
        return x * x

    i = items()
    r = next(i)
    try:
        next(i)
    except StopIteration as e:
        r = r * e.value
    return r * next(i, x)


class Carrying(Exception):
    def __init__(self, v):
        self.v = v


class Named(Exception):
    def __init__(self, v, name):
        super().__init__(v)
        self.name = name


def attributes_of_exceptions(x):
    r = x
    try:
        raise Carrying(x * x)
    except Carrying as e:
        r = r * e.v
        e.v = e.v * x
        r = r + e.v * e.args[0]
    try:
        raise Named(x * 3, x)
    except Named as e:
        r = r * e.args[0] * e.name
    return r


PROGRAMS = [
    two_managers, manager_that_cleans_up, loop_that_meets_the_end, closed, closing, thrown, sent, value_of_stop,
    attributes_of_exceptions,
]  # fmt: skip


@by_one_python_a_day
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [0.7, 1.9])
def test_gradients(function, x):
    value, back = pullback(function, (x,))
    assert value == function(x)
    (got,) = back(1.0)
    assert got == pytest.approx(differences.derivative(function, x), rel=1e-6, abs=1e-8)
    assert back(1.0) == (got,), "a pullback may be called again"


def left_by_a_break(x):
    state = [x]

    def items(v):
        try:
            yield v
            yield v
        finally:
            state[0] = state[0] * v

    for a in items(x):
        r = a
        break
    return r * state[0]


def test_a_generator_that_a_loop_leaves_is_closed_with_it():
    value, back = pullback(left_by_a_break, (0.7,))
    assert value == pytest.approx(0.7**3) and back(1.0) == pytest.approx((3.0 * 0.7**2,))


def abandoned(x):
    def items(v):
        try:
            yield v
            yield v
        finally:
            v = 2.0 * v

    return next(items(x)) * x


def key_error(x):
    try:
        return {}[x * x]
    except KeyError as e:
        return e.args[0] * x


@pytest.mark.parametrize("function", [abandoned, key_error], ids=lambda f: f.__name__)
def test_what_is_not_known_is_refused(function):
    with pytest.raises(Unsupported):
        pullback(function, (0.7,))[1](1.0)


def raises_while_handling(x):
    try:
        raise KeyError(x)
    except KeyError:
        raise ValueError(x) from None


def test_no_exception_is_left_being_handled():
    with pytest.raises(ValueError):
        pullback(raises_while_handling, (0.7,))
    assert sys.exc_info() == (None, None, None)

    def catches(x):
        try:
            raises_while_handling(x)
        except ValueError as e:
            return x * e.args[0]

    _, back = pullback(catches, (0.7,))
    assert sys.exc_info() == (None, None, None)
    assert back(1.0) == (pytest.approx(1.4),)
    assert sys.exc_info() == (None, None, None)


def test_frames_have_the_names_of_their_functions():
    told = []

    def f(x):
        def inner(z):
            told.append(sys._getframe().f_code.co_name)
            return (lambda u: told.append(sys._getframe().f_code.co_name) or u * z)(z)

        return inner(x)

    f(0.5)
    assert pullback(f, (0.5,))[1](1.0) == (1.0,)
    assert told == ["inner", "<lambda>"] * 2
