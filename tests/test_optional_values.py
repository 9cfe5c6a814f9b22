"""Values that may be None: what asks for their class, and their pullbacks."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn


def largest(x, n):
    best = None
    for i in range(n):
        y = x * i
        if best is None or np.sum(y) > np.sum(best):
            best = y
    return best


@pytest.mark.parametrize("x", [2.0, np.array([1.0, 2.0])], ids=["number", "array"])
def test_their_cotangents_are_those_of_the_value(x):
    value, back = zyg.pullback(largest, x, 4)
    np.testing.assert_array_equal(value, 3 * x)
    np.testing.assert_array_equal(back(np.ones_like(x) if np.ndim(x) else 1.0)[0], 3 * np.ones_like(x))
    np.testing.assert_array_equal(back(None)[0], 0 * x)


def test_of_none_there_is_no_cotangent():
    value, back = zyg.pullback(largest, np.array([1.0, 2.0]), 0)
    assert value is None
    np.testing.assert_array_equal(back(None)[0], [0.0, 0.0])
    with pytest.raises(ValueError, match="another shape than its value"):
        back(np.ones(2))


# What asks for the class of a value that may be None: where it is not None it does what it does for that class.


@dataclass
class Item:
    weight: float
    value: float


class Adding:
    def __init__(self, weight):
        self.weight = weight

    def __iadd__(self, other):
        self.weight += 10.0 * other
        return self

    def __add__(self, other):
        return Adding(self.weight + other)


def replaced_best(x):
    best = None
    for q in [Item(x * k, k + x) for k in range(3)]:
        if best is None or q.value > best.value:
            best = q
    return replace(best, weight=best.weight * 2.0).weight


def replaced_largest(x):
    best = max([Item(x * k, k + x) for k in range(3)], key=lambda q: q.value)
    return replace(best, weight=best.weight * 2.0).weight


def replaced(x):
    q = Item(x, x) if x > 0.0 else None
    return replace(q, weight=q.weight * 2.0).weight * replace(q).value


def replaced_of_two(x):
    q, r = Item(x, x), Item(x * x, 3.0 * x)
    return replace(q if x > 0.0 else r, value=2.0 * x).weight


def extended(x):
    a = [x]
    q = a if x > 0.0 else None
    q += [x * 3.0]
    return sum(a) * x


def repeated(x):
    a = [x]
    q = a if x > 0.0 else None
    q *= 3
    return sum(a) * x


def added_in_place(x):
    a = Adding(x)
    q = a if x > 0.0 else None
    q += x
    return a.weight * x


def added_by_operator(x):
    a = Adding(x)
    q = a if x > 0.0 else None
    operator.iadd(q, x)
    return a.weight * x


def set_weight(x):
    q = Item(x, x) if x > 0.0 else None
    q.weight = x * x
    return q.weight


def deleted_weight(x):
    q = Item(x, x) if x > 0.0 else None
    del q.weight
    return q.value


OF_A_CLASS = [
    replaced_best,
    replaced_largest,
    replaced,
    replaced_of_two,
    extended,
    repeated,
    added_in_place,
    added_by_operator,
]
OF_A_CLASS += [set_weight, deleted_weight]


@each_in_turn
@pytest.mark.filterwarnings("error::zyg.FallbackWarning")
@pytest.mark.parametrize("f", OF_A_CLASS)
@pytest.mark.parametrize("x", [1.1, -1.1])
def test_what_depends_on_the_class(f, x):
    try:
        expected = f(x)
    except (TypeError, AttributeError) as error:
        for compiled in (zyg.jit(f), zyg.grad(f)):
            with pytest.raises(type(error)):
                compiled(x)
        return
    slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    assert zyg.jit(f)(x) == expected
    assert zyg.gradient(f, x)[0] == pytest.approx(slope, rel=1e-7)
    assert zyg.jvp(f, (x,), (1.0,)) == (expected, pytest.approx(slope, rel=1e-7))


def by_its_class(x):
    q = Item(x, x) if x > 0.0 else None
    return q.__class__(x, 3.0 * x).value if x != -1.0 else x * len(q.__class__.__name__)


def test_attributes_that_none_has():
    assert zyg.jit(by_its_class)(2.0) == 6.0
    assert zyg.gradient(by_its_class, 2.0) == (3.0,)
    with pytest.raises(TypeError, match="the attribute '__class__' of None"):
        zyg.jit(by_its_class)(-1.0)
    with pytest.warns(zyg.FallbackWarning):
        assert zyg.gradient(by_its_class, -1.0) == (8.0,)
    with pytest.raises(TypeError, match="NoneType takes no arguments"):
        zyg.gradient(by_its_class, -2.0)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("i", [0, 1])
def test_derivatives_of_one_of_several_arrays_or_none(i):
    """Its kind is known when it runs: natively there is no cotangent for it, so it goes through Python (it was zero, silently)."""
    x, y = np.array([0.3, 0.5]), np.array([[0.7, 0.2]])
    chosen = lambda x, y: (np.cos(x), np.cos(y), None)[i]
    within = lambda x, y: [(np.cos(x), np.cos(y), None)[i], x]
    expected = -np.sin((x, y)[i])
    np.testing.assert_allclose(zyg.jvp(chosen, (x, y), (np.ones_like(x), np.ones_like(y)))[1], expected, rtol=1e-12)
    value, back = zyg.pullback(chosen, x, y)
    np.testing.assert_allclose(back(np.ones_like(value))[i], expected, rtol=1e-12)
    value, back = zyg.pullback(within, x, y)
    np.testing.assert_allclose(back([np.ones_like(value[0]), np.zeros_like(x)])[i], expected, rtol=1e-12)
