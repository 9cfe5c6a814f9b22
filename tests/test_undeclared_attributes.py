"""Attributes that a class does not declare: those of dataclasses that are no fields, and of containers that a class derives from.
Oracle: the same natively and through Python, and by hand."""

from __future__ import annotations

import copy
from collections import deque
from dataclasses import dataclass

import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")


@dataclass
class Par:
    a: float

    def __post_init__(self) -> None:
        self.c = 2 * self.a


@dataclass(frozen=True)
class Frozen:
    a: float
    b: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", 2 * self.a)


class Derived(Par):
    def __init__(self, a: float) -> None:
        super().__init__(a)
        self.c = 2 * a


def native(p):
    return p.c * p.a


def through_python(p):
    return {1: p.c * p.a}[1]


def tangent(cls):
    made = cls(1.0)
    object.__setattr__(made, "c", 10.0)
    return made


both = pytest.mark.parametrize("f", [native, through_python])
classes = pytest.mark.parametrize("cls", [Par, Frozen, Derived])


@both
@classes
def test_gradients(cls, f) -> None:
    (gradient,) = zyg.gradient(f, cls(3.0))
    assert (gradient.a, gradient.c) == (6.0, 3.0)
    assert zyg.jvp(f, (cls(3.0),), (tangent(cls),)) == (18.0, 36.0)


@both
@classes
@each_in_turn
def test_second_derivatives(cls, f) -> None:
    hessian = zyg.hessian(f, cls(3.0))
    assert (hessian.a.a, hessian.a.c, hessian.c.a, hessian.c.c) == (0.0, 1.0, 1.0, 0.0)
    product = zyg.hvp(f, cls(3.0), tangent(cls))
    assert (product.a, product.c) == (10.0, 1.0)


def test_in_lists_of_many() -> None:
    """Which are looked at together, also where one has more than the others, or a field has its default from the class."""

    def total(ps):
        return sum({1: p.c * p.a}[1] for p in ps)

    for cls in (Par, Frozen):
        many = [cls(float(n)) for n in range(1, 60)]
        (found,) = zyg.gradient(total, many)
        assert [(g.a, g.c) for g in found] == [(2.0 * n, 1.0 * n) for n in range(1, 60)]
    many = [Par(float(n)) for n in range(1, 60)]
    many[7].extra = 2.0
    (found,) = zyg.gradient(lambda ps: total(ps) + {1: ps[7].extra ** 2}[1], many)
    assert found[7].extra == 4.0 and found[8]._fields == ("a", "c")


def area(r):
    return r.a * r.c


@zyg.adjoint(area)
def _(r):
    def back(d):
        given = Par(d * r.c)
        given.c = d * r.a
        return (given,)

    return r.a * r.c, back


def test_values_and_rules() -> None:
    assert zyg.gradient(lambda x: area(Par(x)), 3.0) == (12.0,)
    assert zyg.gradient(lambda x: {1: area(Par(x))}[1], 3.0) == (12.0,)
    for f in (lambda x: Par(x * x), lambda x: {1: Par(x * x)}[1]):
        _, back = zyg.pullback(f, 3.0)
        assert back(tangent(Par)) == (126.0,)
        assert zyg.jacobian(f, 3.0)[0] == (6.0, 12.0)
        assert zyg.jvp(f, (3.0,), (1.0,))[1] == (6.0, 12.0)


@dataclass
class Curve(Par):
    def __call__(self, x):
        return self.c * x


def length(r):
    return r.a * r.c


@zyg.adjoint(length)
def _(r):
    def back(d):
        given = Curve(d * r.c)
        given.c = d * r.a
        return (given,)

    return r.a * r.c, back


def test_a_cotangent_that_can_be_called() -> None:
    assert zyg.gradient(lambda x: length(Curve(x)), 3.0) == (12.0,)
    assert zyg.gradient(lambda x: {1: length(Curve(x))}[1], 3.0) == (12.0,)


@pytest.mark.parametrize("hold, read", [(lambda a: [a], lambda h: h[0]), (lambda a: {"k": a}, lambda h: h["k"])])
def test_deep_copies(hold, read) -> None:
    @dataclass
    class Holding:
        a: float

        def __post_init__(self) -> None:
            self.held = hold(self.a)

    assert zyg.gradient(lambda x: {1: read(copy.deepcopy(Holding(x)).held) ** 2}[1], 3.0) == (6.0,)


class Named(dict):
    def __init__(self, k=2.0, **items):
        super().__init__(items)
        self.k = k


class Scaled(list):
    def __init__(self, *items, k=2.0):
        super().__init__(items)
        self.k = k


class Queue(deque):
    k = 2.0


class Row(tuple):
    pass


def row() -> Row:
    made = Row((3.0,))
    made.k = 2.0
    return made


def queue() -> Queue:
    made = Queue([3.0])
    made.k = 2.0
    return made


@pytest.mark.parametrize("made, at", [(Named(z=3.0), "z"), (Scaled(3.0), 0), (queue(), 0), (row(), 0)])
def test_a_container_that_is_an_argument_has_no_place_for_attributes(made, at) -> None:
    with pytest.raises(zyg.Unsupported, match="derivative by the attribute `k` of a"):
        zyg.gradient(lambda p: p[at] * p.k, made)
    (found,) = zyg.gradient(lambda p: p[at] ** 2, made)
    assert found[at] == 6.0


@pytest.mark.parametrize("make", [Named, Scaled])
def test_inside_of_a_function_it_has(make) -> None:
    assert zyg.gradient(lambda x: {1: make(k=x).k ** 2}[1], 3.0) == (6.0,)


def test_names_that_no_gradient_can_have_are_refused() -> None:
    class Both:
        def __init__(self) -> None:
            self._x, self.x = 2.0, 3.0

    for f in (lambda a: a._x * a.x, lambda a: {1: a._x * a.x}[1]):
        with pytest.raises(zyg.Unsupported, match="rename the attribute"):
            zyg.gradient(f, Both())


class Unasked:
    __contains__ = None

    def __iter__(self):
        yield 1.0


def test_what_says_that_it_is_no_container() -> None:
    def f(x):
        try:
            return 70.0 * x if x in Unasked() else x
        except TypeError:
            return 3.0 * x

    assert f(1.0) == 3.0 and zyg.withgradient(f, 1.0) == (3.0, (3.0,))
