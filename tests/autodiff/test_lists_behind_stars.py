"""Calls whose arguments stand in lists behind stars, with keywords, of functions that are made anew: also where the call changes the
list, and where it is left by an exception."""

from __future__ import annotations

import pytest

from tests.autodiff.against_differences import check
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn


def combine(a, b=2.0, *rest, scale=1.0, **others):
    return (a * b + sum(rest) * a) * scale + sum(others.values()) * b


def shapes(x):
    def inner(a, b, c=x, *rest, by=x * x, **more):
        return (a - b * c + sum(rest)) * by + sum(v * len(k) for k, v in more.items())

    total = 0.0
    for f in (combine, inner):
        total += f(*[x, x * x], **{"left": x}) + f(x, *[2.0, x], right=x)
        total += f(*[x], x * 3.0, *(x, 1.0)) + f(*[x, 1.0, x], *[x], **{"left": 2.0, "right": x})
    return total + inner(*[1.0, x], by=x) + inner(*[1.0, x], c=x, more=2.0)


def of_a_list_that_the_call_changes(x):
    held = [x, x * x]

    def change(a, b, *, by):
        held.append(a * by)
        held[0] = b
        return a * held[-1] + b

    total = change(*held, by=x)
    total += change(*held[:2], by=2.0) * held[0]
    held.pop()
    return total + change(*[held.pop(), held.pop()], by=held[0]) + sum(held)


def left_by_exceptions(x):
    held, total = [x, 2.0 * x], 0.0

    def fails(a, b, *, by, times=x):
        if a > b:
            raise ValueError(a * by)
        held[0] = held[0] * 3.0
        raise KeyError(b * times)

    for _ in range(2):
        try:
            total += fails(*held, by=x)
        except (ValueError, KeyError) as error:
            total += error.args[0] * held[0]
    return total


def wrong_arguments(x):
    total = 0.0
    for arguments, options in (([x], {}), ([x, 1.0, 2.0], {"by": 1.0}), ([x, 1.0], {"a": x})):
        try:
            (lambda a, b, *, by: a)(*arguments, **options)
        except TypeError as error:
            total += x * len(str(error))
    return total


@pytest.mark.parametrize("f", [shapes, of_a_list_that_the_call_changes, left_by_exceptions, wrong_arguments])
def test_derivatives(f):
    check(f)


@each_in_long_turn
@pytest.mark.parametrize("f", [shapes, of_a_list_that_the_call_changes])
def test_second_derivatives(f):
    def first(x):
        return pullback(f, (x,))[1](1.0)[0]

    for _ in range(2):
        assert pullback(first, (0.7,))[1](1.0)[0] == pytest.approx(differences.derivative(first, 0.7), rel=1e-7)


class Joined:
    def __init__(self, rates):
        self.rates = rates

    def between(self, a, b, *, times=1.0):
        if a == b:
            raise KeyError(self.rates[a] * times)
        self.rates[a] = self.rates[a] * self.rates[b]
        return self.rates[a] * times


def of_text_and_ranges(x):
    joined, total = Joined({"a": x, "b": x * x, "c": 2.0}), 0.0
    for pair in ["ab", "bc", "ca"]:
        total += joined.between(*pair) * x + joined.between(*pair, times=x)
    powers = lambda *exponents, base: sum(base**k for k in exponents)
    for count in range(4):
        total += powers(*range(1, count), base=x) + powers(*b"\x01\x02", base=x * total)
    return total


def text_left_by_an_exception(x):
    joined, total = Joined({"a": x, "b": x * x, "c": 2.0 * x}), 0.0
    for pair in ["ab", "cc", "aa"]:
        try:
            total += joined.between(*pair) * x
        except KeyError as error:
            total -= error.args[0]
    return total


@pytest.mark.parametrize("f", [of_text_and_ranges, text_left_by_an_exception])
def test_text_and_ranges_behind_stars(f):
    for x in (0.7, 1.3):
        for _ in range(2):
            value, back = pullback(f, (x,))
            assert value == f(x)
            assert back(1.0)[0] == pytest.approx(differences.derivative(f, x), rel=1e-6)


@each_in_long_turn
def test_second_derivatives_of_text_and_ranges_behind_stars():
    slope = lambda v: pullback(of_text_and_ranges, (v,))[1](1.0)[0]
    second = pullback(slope, (0.7,))[1](1.0)[0]
    assert second == pytest.approx(differences.derivative(slope, 0.7), rel=1e-5)
