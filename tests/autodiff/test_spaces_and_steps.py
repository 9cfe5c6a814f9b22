"""Attributes of SimpleNamespace, `enumerate` from a start, and `next` of iterators of all kinds, against differences."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_turn

pytestmark = each_in_turn


def nested(x):
    n = SimpleNamespace(a=SimpleNamespace(b=x), c=x * x)
    total = 0.0
    for k in range(3):
        n.a.b = n.a.b * n.c + k
        n.c += x
        total += n.a.b
    del n.c
    n.c = total
    return total * n.c + sum(vars(n.a).values())


class Own(SimpleNamespace):
    scale = 2.0

    def area(self):
        return self.w * self.h * self.scale


def derived(x):
    o = Own(w=x, h=x * x)
    o.w += 1.0
    before = o.area()
    o.scale = x
    return before * o.area() + o.w


def by_names(x):
    n = SimpleNamespace()
    for name in ("a", "b"):
        setattr(n, name, x * len(name))
    n.__dict__["c"] = x * x
    for _ in range(2):
        n.c *= x
    return n.a * n.b + getattr(n, "c") + getattr(n, "d", x)  # noqa: B009


def missing(x):
    n = SimpleNamespace(a=x)
    try:
        return n.a + n.b
    except AttributeError:
        n.b = x * x
    return n.a * n.b


def compared(x):
    a, b = SimpleNamespace(x=x), SimpleNamespace(x=x)
    return x * (a == b) + a.x * b.x + len(repr(a.__class__.__name__))


def enumerated(x):
    xs = [x, x * x, 2.0]
    total = 0.0
    for i, v in enumerate(xs, 1):
        total += i * v * x
        for j, w in enumerate(xs, start=i):
            total += j * w
        for j, w in enumerate(tuple(xs), i):
            total += j * w
    for i, v in enumerate(xs, True):
        total += i * v
    return total


def nexts(x):
    it, total = iter([x, x * x, 2 * x]), 0.0
    total += next(it)
    for v in it:
        total += v * next(it, x)
    total += next(it, x * x)
    try:
        next(it)
    except StopIteration:
        total *= x

    def gen(n):
        try:
            for k in range(n):
                yield x * k
            held.append(x * x)
        finally:
            held.append(x)

    held = []
    g = gen(2)
    while (v := next(g, None)) is not None:
        total += v * x
    total += next(g, x) * len(held) + held[0] * held[1]
    z = zip([x, 2 * x], (x, 3 * x))
    a, b = next(z)
    c = next(z, None)
    return total * a * b + c[1] * x + (0.0 if next(z, None) is None else 1.0)


def nexts_fail(x):
    held = []

    def gen():
        held.append(x * x)
        yield x
        held.append(x)
        raise ValueError

    g = gen()
    total = next(g, 0.0)
    try:
        next(g, 0.0)
    except ValueError:
        total += held[0] * held[1]
    return total + next(g, x)


PROGRAMS = [nested, derived, by_names, missing, compared, enumerated, nexts, nexts_fail]


@pytest.mark.parametrize("f", PROGRAMS)
def test_first_derivatives(f):
    check(f)


@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives(f):
    check_second(f)
