"""Methods bound to tuples and numbers, whose cotangent is that of what they are bound to; attributes of classes and functions: first
and second derivatives."""

from __future__ import annotations

import collections
import functools
import itertools
import types

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn
from zyg.fallback import python_pullback


class Pair(collections.namedtuple("Pair", "a b")):
    def area(self):
        return self.a * self.b

    def scaled(self, k):
        return self[0] * self.b * k

    def mixed(self, u, v):
        return self.a * u + v * self.b

    def __sub__(self, other):
        return Pair(self.a - other.a, self.b * other.b)


class Longer(Pair):
    def area(self):
        return super().area() * self.a

    @property
    def twice(self):
        return self.area() * 2.0


class Longest(Longer):
    @property
    def twice(self):
        return super().twice * self.b


class Spot(Pair):
    __slots__ = ()

    def minus(self, other, k=1.0):
        return Spot(self.a - k * other.a, self.b * k)

    def squares(self):
        for v in self:
            yield v * v


class Place:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def area(self):
        return self.a + self.b


def method(x):
    return Pair(x, x).area()


def of_named_tuples_in_a_loop(x):
    here, total = Spot(x, 0.5 * x), 0.0
    for k in range(4):
        there = here.minus(Spot(x * x, k)).minus(other=here, k=x)
        total = total + there.area() * here.mixed(x, total) + sum(here.squares())
        for thing in (here, Place(x, total), there, Pair(total, x)):
            total = total + 0.1 * thing.area()
        read = there.scaled
        total, here = 0.1 * total + read(x) + max([here, there], key=lambda s: s.area()).scaled(2.0), there
    return total


def of_a_base_class(x):
    return Longest(x, x).twice * Longest(x, x).area()


def replaced(x):
    return Pair(x, x)._replace(a=x * x).scaled(x)


def operators(x):
    return (Pair(x, x * x) - Pair(1.0, x)).area() * Pair.area.__get__(Pair(x, 2.0))()


def kept(x):
    found = {"area": [Pair(x, x).area]}
    return found["area"][0]() * found["area"][0].__self__.a


def mapped(x):
    return sum(map(Pair(x, x).scaled, [x, 2.0])) + sum(map((x, x * x).__getitem__, [0, 1]))


def star_mapped(x):
    return sum(itertools.starmap(Pair(x, x).mixed, [(x, 1.0), (2.0, x)]))


def reduced(x):
    return functools.reduce(Pair(x, x).mixed, [x, 2.0, x])


def accumulated(x):
    return sum(itertools.accumulate([x, 2.0, x], Pair(x, x * x).mixed))


def partial(x):
    return sum(map(functools.partial(Pair(x, x * x).mixed, x), [2.0, x]))


def factory(x):
    made = collections.defaultdict(Pair(x, x).area)
    return made["a"] * made["b"]


def until(x):
    steps = iter(Pair(x, x).area, 3.0)
    return next(steps) * next(steps)


def defaults(x):
    def f(a=x * x):
        return a

    return sum(f.__defaults__ or ()) * f()


def other_defaults(x):
    def f(a=1.0, *, b=1.0):
        return a * b

    f.__defaults__, f.__kwdefaults__ = (x * x,), {"b": x}
    first = f()
    f.__kwdefaults__ = {"b": x * x}
    return first * f()


def defaults_by_keyword_changed_in_place(x):
    def f(a, *more, by=(2.0, x), k=x):
        return a * by[0] + by[1] * k

    f.__kwdefaults__["by"] = (x * x, x)
    first = f(x) + f(x, 0.0) * functools.partial(f, x, k=x * x)()
    f.__kwdefaults__["k"] *= x
    return first + f(x, by=(1.0, x)) * f.__kwdefaults__["k"]


def attribute_of_a_class_with_methods(x):
    class A:
        k = x

        def __init__(self, v):
            self.v = v

        @classmethod
        def make(cls, v):
            return cls(v * cls.k)

    return A.make(x).v * x


def attribute_of_a_method(x):
    class A:
        def m(self, v):
            A.m.last = v * x
            return v

    a = A()
    return a.m(x) * a.m.last + a.m.last * getattr(a.m, "none", x)


def keywords_of_a_class(x):
    class A:
        def __init_subclass__(cls, k=1.0, **more):
            cls.k = k * x

    class B(A, k=x * x):
        pass

    return B.k * x


PROGRAMS = [
    method, of_named_tuples_in_a_loop, of_a_base_class, replaced, operators, kept, mapped, star_mapped, reduced, accumulated, partial, factory, until, defaults,
    other_defaults, defaults_by_keyword_changed_in_place, attribute_of_a_class_with_methods,
    attribute_of_a_method, keywords_of_a_class,
]  # fmt: skip


def slope(function, x):
    return python_pullback(function, (x,), {})[1](1.0)[0]


@each_in_long_turn
@pytest.mark.parametrize("function", PROGRAMS)
def test_derivatives(function):
    assert slope(function, 0.7) == pytest.approx(differences.derivative(function, 0.7), rel=1e-7)
    first = functools.partial(slope, function)
    assert slope(lambda x: first(x), 0.7) == pytest.approx(differences.derivative(first, 0.7), rel=1e-7)


def test_a_method_of_a_named_tuple_that_is_replaced(monkeypatch):
    function = lambda x: Spot(x, x * x).area() * Spot(x, 1.0).area()
    assert slope(function, 0.7) == slope(function, 0.7) == pytest.approx(4 * 0.7**3)
    monkeypatch.setattr(Pair, "area", lambda self: self.a)
    assert slope(function, 0.7) == pytest.approx(2 * 0.7)


def bound_by_hand(x):
    class Holder:
        pass

    def scaled(self, v):
        return self.k * v + x

    held = Holder()
    held.k = x * x
    held.scaled = types.MethodType(scaled, held)
    of_number = types.MethodType(lambda self, v: self * v, x)
    of_pair = types.MethodType(lambda self, v: self[0] * v + self[1], (x, 2.0))
    return (
        held.scaled(x)
        + types.MethodType(scaled, held)(2.0)
        + of_number(3.0) * of_number(x)
        + sum(map(of_number, [1.0, x]))
        + of_pair(x)
    )


@each_in_long_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_methods_that_are_made_by_hand():
    for _ in range(2):
        assert python_pullback(bound_by_hand, (0.7,), {})[1](1.0) == (
            pytest.approx(differences.derivative(bound_by_hand, 0.7)),
        )
    second = differences.derivative(lambda v: differences.derivative(bound_by_hand, v), 0.7)
    assert zyg.grad(zyg.grad(bound_by_hand))(0.7) == pytest.approx(second, rel=1e-4)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_methods_of_numbers_are_not_bound_twice():
    with pytest.raises(zyg.Unsupported, match="bound to something else"):
        zyg.gradient(lambda x: types.MethodType(x.__mul__, 2.0)() * len(repr(x)), 1.5)
