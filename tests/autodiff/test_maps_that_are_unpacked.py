"""`a, b = map(f, xs)`, and lambdas that are called where they are made: they become part of the function, and do what they do under CPython."""

from __future__ import annotations

import math
from itertools import islice, takewhile

import pytest

import zyg
from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_turn
from zyg.autodiff.objects.api import pullback
from zyg.autodiff.python.comprehensions import taken_in
from zyg.frontend.capture import capture

LOG: list = []


def squared(v):
    LOG.append(len(LOG))
    return v * v


def of_a_display(x):
    total = 0.0
    for k in range(3):
        a, b = map(lambda v: v * x, (total, k))  # noqa: C417
        c, d, e = map(squared, [a, b, x])
        total += a * b + c * d - e
    (f,) = map(math.sin, (total,))
    return f * total


def of_a_list(x):
    xs = [x, x * x]
    total = 0.0
    for _ in range(3):
        a, b = map(squared, xs)
        c, d = map(lambda v: v / x if v > 0.5 else v * total, xs)  # noqa: C417
        xs[0] = a + c
        total += b * d
    return total + xs[0]


def of_texts(x):
    total = 0.0
    for line in "1.5,2;3,4".split(";"):
        a, b = map(float, line.split(","))
        c, d = map(lambda v: v * x, (a, b))  # noqa: C417
        total += c * x + d
    return total


def of_a_generator(x):
    def items():
        yield x
        LOG.append("between")
        yield x * 2.0
        LOG.append("behind")

    a, b = map(squared, items())
    (c, d), e = map(lambda p: p, ((x, x * x), x))  # noqa: C417
    return a * b + c * d * e


def changed_meanwhile(x):
    scale = x
    total = 0.0
    for k in range(3):
        by = lambda v: v * scale  # noqa: B023
        scale = scale + k
        a, b = map(by, (x, total))
        scale = scale * 0.5
        total += a - b * by(1.0)
    return total


def in_a_handler(x):
    total = 0.0
    for k in range(3):
        try:
            a, b = map(lambda v: x / v, (k, k + 1))  # noqa: C417
            total += a * b
        except ZeroDivisionError:
            total += x * x
        try:
            a, b = map(squared, range(k))
            total += a * x
        except ValueError as error:
            total += x * len(str(error)[:3])
    return total


def of_items_of_generators(x):
    def powers(a):
        while True:
            yield a
            a *= x

    total = 0.0
    for v in takewhile(lambda v: v > 0.05, powers(x)):
        total += v
    for v in islice(map(lambda v: v * v if v < 0.4 else v - x, powers(x)), 6):  # noqa: C417
        total += v
    for v in filter(lambda v: v > total, islice(powers(x), 5)):
        total -= v * 0.1
    return total


def left_as_it_was(x):
    a, *b = map(squared, (x, 2.0 * x, 3.0 * x))
    c, d = map(lambda u, v: u * v, (x, 2.0), (x, x))
    return a * b[0] * b[1] + c + d


PROGRAMS = [
    of_a_display, of_a_list, of_texts, of_a_generator, changed_meanwhile, in_a_handler, of_items_of_generators, left_as_it_was,
]  # fmt: skip


@each_in_turn
@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f):
    for x in (0.7, 0.3):
        check(f, x, times=2, rel=1e-6, step=1e-3)
    check_second(f, step=1e-3)


@each_in_turn
@pytest.mark.parametrize("f", PROGRAMS)
def test_order(f):
    LOG.clear()
    f(0.7)
    expected = LOG[:]
    LOG.clear()
    pullback(f, (0.7,))
    assert expected == LOG


def too_many(x):
    a, b = map(squared, (x, x, x, x))
    return a * b


def too_many_of_a_list(x):
    xs = [x, x, x, x]
    a, b = map(squared, xs)
    return a * b


def too_few(x):
    a, b = map(squared, (x,))
    return a * b


def not_iterable(x):
    a, b = map(squared, x)
    return a * b


def stopped(x):
    a, b = map(next, (iter([x]), iter([])))
    return a * b


@pytest.mark.parametrize("f", [too_many, too_many_of_a_list, too_few, not_iterable, stopped])
def test_what_cpython_raises(f):
    LOG.clear()
    with pytest.raises((ValueError, TypeError)) as expected:
        f(0.7)
    order = LOG[:]
    LOG.clear()
    with pytest.raises(type(expected.value)) as raised:
        pullback(f, (0.7,))
    assert str(raised.value) == str(expected.value)
    assert order == LOG


def test_what_is_taken_in():
    ops = [i.op for _, i in taken_in(capture(of_a_display.__code__), globals()).instructions()]
    assert "unpack" not in ops
    assert "make_function" not in ops


def test_another_function_of_that_name(monkeypatch):
    check(of_a_display, rel=1e-6, step=1e-3)
    monkeypatch.setitem(globals(), "map", lambda f, xs: [x * 2.0 for x in xs])
    with pytest.raises(zyg.Unsupported, match="another function"):
        pullback(of_a_display, (0.7,))
