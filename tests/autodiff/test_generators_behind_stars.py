"""Generator expressions behind stars: `f(*(x * x for x in xs))` and `[0.0, *(x * y for x in xs)]` are loops of the function around."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.fallback import python_pullback

LOG: list[Any] = []


class Vector:
    def __init__(self, *items):
        self.items = items

    def dot(self, other):
        return sum(a * b for a, b in zip(self.items, other.items))

    def __iter__(self):
        return iter(self.items)


def total(*items, scale=1.0, **more):
    return scale * sum(items) + sum(more.values())


def first(a, b, c=2.0):
    return a * b * c


def of_a_class(x, y):
    v = Vector(*(x * k + y for k in range(4)))
    for _ in range(3):
        w = Vector(*(0.5 * a + 0.1 * x for a in v.items))
        v = Vector(*(a * b for a, b in zip(v, w)))
    return v.dot(w)


def with_others(x, y):
    return total(x, *(x * k for k in range(3)), y, *(y * k for k in range(2)), scale=x * y)


def with_keywords(x, y):
    return total(*(x * k for k in range(3)), scale=y, **{"a": x * y})


def of_plain_functions(x, y):
    return first(*(v * v for v in (x, y))) + first(*(v for v in [x, y, x])) + max(*(v * y for v in (x, y, 0.1)))


def displays(x, y):
    made = [x, *(v * y for v in (x, y) if v > 0.5), *(v for v in (1.0, x))]
    pair = (*(v * v for v in made), y)
    return sum(a * k for k, a in enumerate(made)) + pair[0] * pair[-1]


def nested(x, y):
    rows = [[*(x * i + y * j for j in range(3))] for i in range(3)]
    return total(*(total(*(v * v for v in row)) for row in rows))


def of_methods(x, y):
    v = Vector(x, y)
    return v.__class__(*(getattr(v, "items")[k] for k in (1, 0))).dot(Vector(*(v * x for v in v)))  # noqa: B009


def captured(x, y):
    shift = x

    def moved():
        return total(*(v + shift for v in (x, y)))

    shift = y * y
    return moved() * shift


def left_by_an_exception(x, y):
    made = []
    try:
        total(*(made.append(v * x) or v / (v - y) for v in (x, y, 1.0)))
    except ZeroDivisionError:
        return sum(made) * y
    return x


def unpacked_too_many(x, y):
    try:
        return first(*(v for v in (x, y, x, y)))
    except TypeError:
        return x * y


def not_callable(x, y):
    seen = []
    try:
        x(*(seen.append(v) or v for v in (x, y)))
    except TypeError:
        return sum(seen) * y


def empty(x, y):
    return total(*(v for v in ()), scale=x) + y * total(*(v for v in (x, y) if v > 100.0)) + x * y


def in_order(x, y):
    """The argument by keyword comes before the items, as in CPython."""
    seen = []
    first(*(seen.append(v) or v for v in (x, y)), c=seen.append(2.0 * x) or 1.0)
    return sum(v * k for k, v in enumerate(seen))


def stopping(x, y):
    def stop(v):
        if v > 0.6:
            raise StopIteration
        return v

    try:
        return total(*(stop(v) for v in (0.5 * x, y)))
    except RuntimeError:
        return x * y * 3.0


FUNCTIONS = [
    of_a_class, with_others, with_keywords, of_plain_functions, displays, nested, of_methods, captured, left_by_an_exception,
    unpacked_too_many, not_callable, empty, in_order, stopping,
]  # fmt: skip


@each_in_turn
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_derivatives(function):
    for x, y in ((0.7, 1.3), (1.1, 0.4), (0.7, 0.9)):
        value, back = python_pullback(function, (x, y), {})
        assert value == function(x, y)
        assert back(1.0) == pytest.approx(differences.gradient(function, x, y), rel=1e-7)


@each_in_long_turn
def test_second_derivatives():
    def slope(x, y):
        return zyg.gradient(of_a_class, x, y)[0]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        found = zyg.gradient(slope, 0.7, 1.3)
    expected = differences.gradient(lambda x, y: differences.gradient(of_a_class, x, y)[0], 0.7, 1.3)
    assert found == pytest.approx(expected, rel=1e-4)
