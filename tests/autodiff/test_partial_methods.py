"""`functools.partialmethod`, partial objects of bound methods, and `np.errstate`: calls that are taken apart, or left alone."""

import functools
import math

import numpy as np
import pytest

import zyg
from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects import adapters
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn


class Scale:
    def __init__(self, v):
        self.v, self.n = v, 1.0

    def apply(self, x, mode, off=0.0):
        self.n *= x
        if mode == "raise":
            raise ValueError(self.v * x)
        return self.v * x + off if mode == "linear" else math.log1p(self.v * x) - off

    def scaled(self, a, b, c=1.0):
        return self.v * a * b * b * c

    linear = functools.partialmethod(apply, mode="linear")
    logarithm = functools.partialmethod(apply, mode="log", off=0.1)
    raising = functools.partialmethod(apply, mode="raise")
    twice = functools.partialmethod(scaled, 2.0)
    six_times = functools.partialmethod(twice, c=3.0)
    of_class = functools.partialmethod(classmethod(lambda cls, x, y: x * y * y), 2.0)
    static = functools.partialmethod(staticmethod(lambda x, y: x * y * y), 2.0)


class Other(Scale):
    def apply(self, x, mode, off=0.0):
        return 100.0 * x

    mine = functools.partialmethod(apply, mode="linear", off=5)


class Slotted:
    __slots__ = ("v",)

    def __init__(self, v):
        self.v = v

    scaled = Scale.scaled
    twice = functools.partialmethod(scaled, 2.0)


class Pair(tuple):
    def scaled(self, a, b):
        return self[0] * a * b

    twice = functools.partialmethod(scaled, 2.0)


def of_classes(x):
    c, d, total = Scale(x), Other(x * x), 0.0
    for k in range(3):
        total += c.linear(x) + c.logarithm(2.0) + c.linear(x, off=x * k) + c.logarithm(x, off=x)
        try:
            total += c.raising(x)
        except ValueError as error:
            total += error.args[0] * x
    total += (
        c.twice(x) + c.six_times(x) * d.six_times(x) + d.linear(x) + d.mine(x, mode="q") + c.of_class(x) + c.static(x)
    )
    return total * c.n + Slotted(x).twice(x) + Pair((x, 2.0)).twice(x)


def of_numbers_that_carry(x):
    class Local(Scale):
        fixed = functools.partialmethod(Scale.scaled, x, c=x * x)
        first = functools.partialmethod(Scale.scaled, x)

    local = Local(2.0 * x)
    kept, more = local.fixed, functools.partial(local.first, c=x)
    total = local.fixed(x) * local.first(x, c=x) + sum(map(local.first, [x, 2.0 * x]))
    return total + kept(x) + more(x) + functools.partial(more, 2.0)() + kept.__self__.v


def held_by_the_instance(x):
    c = Scale(x)
    c.__dict__["linear"] = lambda v: v * x
    total = c.linear(x)
    del c.__dict__["linear"]
    return total + c.linear(x)


def partials_of_methods(x):
    c = Scale(x)
    first = functools.partial(c.apply, x, off=x)
    second = functools.partial(first, "linear")
    total = first("linear") * second(off=3.0 * x) + first(mode="log") + second.func.__self__.v
    for wrong in (lambda: c.linear(), lambda: c.linear(x, x, x, x), lambda: c.linear(x, other=3)):
        try:
            wrong()
        except TypeError as error:
            total += len(str(error)) * x
    return total + functools.partial(x.__add__)(x) + functools.partial(Pair((x, 2.0)).scaled, x)(x)


def in_error_states(x):
    called, total = [], {}
    for k in range(3):
        with np.errstate(divide="ignore", invalid="ignore"):
            r = np.float64(1.0) / np.sin(np.float64(x) * k)
            with np.errstate(all="raise"):
                try:
                    np.float64(x) / np.float64(0.0)
                except FloatingPointError:
                    total[k, "raised"] = x * k
        total[k] = 0.0 if np.isinf(r) else float(r)
        with np.errstate(divide="call"):  # nobody is
            called.append(k)
    state = np.errstate(divide="ignore")
    state.__enter__()
    try:
        state.__enter__()
    except TypeError:
        total["twice"] = x
    state.__exit__(None, None, None)
    return sum(total.values()) + len(called) * x


PROGRAMS = [of_classes, of_numbers_that_carry, held_by_the_instance, partials_of_methods, in_error_states]


@pytest.mark.parametrize("f", PROGRAMS)
def test_first_derivatives(f):
    check(f, times=3, rel=1e-7, step=1e-3)


@each_in_long_turn
@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives(f):
    check_second(f, step=1e-3)


BOX = [1.0]


def doubling(kind, flag):
    BOX[0] *= 2.0


class Log:
    def write(self, message):
        BOX[0] *= 2.0


def overflowing(x):
    BOX[0] = x
    np.array([1.0]) / np.array([0.0])
    return BOX[0]


def by_errstate(x):
    with np.errstate(divide="call", call=doubling):
        return overflowing(x)


def by_errstate_of_the_callers(x):
    with np.errstate(divide="call"):
        return overflowing(x)


def by_seterr(x):
    before = np.seterr(divide="call")
    try:
        return overflowing(x)
    finally:
        np.seterr(**before)


def by_log(x):
    with np.errstate(divide="log", call=Log()):
        return overflowing(x)


@pytest.mark.parametrize("f", [by_errstate, by_errstate_of_the_callers, by_seterr, by_log, overflowing])
def test_functions_that_numpy_calls_are_refused(f):
    """(what they had changed was left out of the gradient)"""
    called, kinds = np.geterrcall(), np.geterr()
    try:
        np.seterrcall(doubling)
        if f is overflowing:
            np.seterr(divide="call")
        mine = np.geterr()
        assert f(0.7) == 1.4
        with pytest.raises(zyg.Unsupported, match="a function that NumPy calls where numbers overflow"):
            pullback(f, (0.7,))
        assert np.geterr() == mine and np.geterrcall() is doubling
    finally:
        np.seterrcall(called)
        np.seterr(**kinds)


def test_what_numpy_calls_is_looked_up_when_it_has_changed():
    called, kinds = np.geterrcall(), np.geterr()
    plain = lambda x: x * x
    try:
        for _ in range(3):
            assert pullback(plain, (0.7,))[1](1.0) == (1.4,)
            np.seterrcall(doubling)
            assert pullback(plain, (0.7,))[1](1.0) == (1.4,)  # it is called for nothing
            np.seterr(divide="call")
            for _ in range(2):
                with pytest.raises(zyg.Unsupported, match="a function that NumPy calls where numbers overflow"):
                    pullback(plain, (0.7,))
            np.seterr(divide="warn")
            assert pullback(plain, (0.7,))[1](1.0) == (1.4,)
            np.seterrcall(None)
            with np.errstate(over="raise"):
                assert pullback(plain, (0.7,))[1](1.0) == (1.4,)
    finally:
        np.seterrcall(called)
        np.seterr(**kinds)


ROUND = [1.0]
ROUND.append(ROUND)  # (who looks through the globals for numbers comes to no end)


@each_in_long_turn
@pytest.mark.parametrize("f", [of_classes, of_numbers_that_carry])
def test_second_derivatives_that_find_nothing_known(f, monkeypatch):
    """Each call's forward half is made anew within the derivative."""
    monkeypatch.setattr(adapters, "note", lambda *args: None)
    test_second_derivatives(f)
