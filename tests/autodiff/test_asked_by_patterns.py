"""What `match` asks of an object may change it: lengths, items, attributes, classes. Natively and through Python, against CPython and
differences."""

# ruff: noqa: F841  (what patterns bind need not be used)

from __future__ import annotations

import collections
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = each_in_turn


class Halving(Sequence):
    def __init__(self, x):
        self.x = x

    def __len__(self):
        self.x = self.x * 2.0
        return 2

    def __getitem__(self, i):
        self.x = self.x * 1.5
        if i > 1:
            raise IndexError
        return self.x


class Doubling(Mapping):
    def __init__(self, x):
        self.x = x

    def __getitem__(self, k):
        if k not in "ab":
            raise KeyError(k)
        self.x = self.x * 2
        return self.x

    def __iter__(self):
        return iter("ab")

    def __len__(self):
        return 2


class OwnGet(dict):
    asked = 1.0

    def get(self, k, default=None):
        self.asked = self.asked * self["a"]
        return super().get(k, default)


class Missing(dict):
    def __missing__(self, k):
        return 5.0


class Asked:
    def __init__(self, x):
        self.x = x

    def __getattr__(self, n):
        self.x = self.x * 2
        raise AttributeError(n)


class Properties:
    def __init__(self, x):
        self.x = x

    @property
    def q(self):
        self.x = self.x * 3
        return self.x

    @property
    def no(self):
        self.x = self.x * 2
        raise AttributeError("n")


class Counting(type):
    k = 1.0

    def __instancecheck__(cls, o):
        if isinstance(o, float):
            cls.k = cls.k * o
        return isinstance(o, float)


class Counted(metaclass=Counting):
    pass


def length_that_fails(x):
    h = Halving(x)
    match h:
        case [a]:
            return 1.0
    return h.x * x


def length(x):
    h = Halving(x)
    match h:
        case [a, b]:
            return a * b * h.x
    return h.x * x


def length_and_ends(x):
    h = Halving(x)
    match h:
        case [a, *_, b]:
            return a * b * h.x
    return h.x * x


def rest_alone(x):
    h = Halving(x)
    match h:
        case [*a]:
            return a[0] * a[1] * h.x
    return h.x * x


def rest_by_assignment(x):
    (*a,) = h = Halving(x)
    return a[0] * a[1] * h.x


def spread(x):
    h = Halving(x)
    return (lambda *a: a[0] * a[1])(*h) * h.x


def first_and_rest(x):
    h = Halving(x)
    match h:
        case [a, *b]:
            return a * b[0] * h.x
    return h.x * x


def map_(x):
    m = Doubling(x)
    match m:
        case {"a": v}:
            return v * m.x


def map_in_vain(x):
    m = Doubling(x)
    match m:
        case {"a": v, "c": w}:
            return v * m.x
    return m.x * x


def map_and_rest(x):
    m = Doubling(x)
    match m:
        case {"a": v, **r}:
            return v * m.x * r["b"]


def map_second(x):
    m = Doubling(x)
    match m:
        case {"c": v}:
            return 2.0
        case {"a": v, "b": w}:
            return v * m.x * w


def own_get(x):
    d = OwnGet(a=x, b=x * x)
    match d:
        case {"a": v, "b": w}:
            return v * w * d.asked


def own_get_in_vain(x):
    d = OwnGet(a=x, b=x * x)
    match d:
        case {"a": v, "c": w}:
            return v * w * d.asked
    return d.asked * x


def missing(x):
    match Missing(a=x):
        case {"b": v}:
            return v
    return x * x


def ordered(x):
    match collections.OrderedDict(a=x):
        case {"a": v}:
            return v * x


def default(x):
    d = collections.defaultdict(float, a=x)
    match d:
        case {"b": v}:
            return v
        case {"a": v}:
            return v * x


def chained(x):
    match collections.ChainMap({"a": x}, {"b": x * x}):
        case {"a": v, "b": w}:
            return v * w


def counter(x):
    match collections.Counter(a=x):
        case {"z": v}:
            return v
        case {"a": v}:
            return v * x


def user_dict(x):
    match collections.UserDict(a=x):
        case {"a": v}:
            return v * x


def asked_in_vain(x):
    g = Asked(x)
    match g:
        case Asked(no=3):
            return 1.0
    return g.x * x


def asked_in_vain_behind_another(x):
    g = Asked(x)
    match g:
        case Asked(x=v, no=3):
            return 1.0
    return g.x * x


def property_in_vain(x):
    g = Properties(x)
    match g:
        case Properties(q=v, no=3):
            return 1.0
    return g.x * x


def property_(x):
    g = Properties(x)
    match g:
        case Properties(q=v, x=w):
            return v * w * g.x


def by_metaclass(x):
    Counted.k = 1.0
    match x:
        case Counted():
            return Counted.k * x


def by_metaclass_in_vain(x):
    Counted.k = x
    match (x, "a"):
        case (Counted(), Counted()):
            return 1.0
    return Counted.k * x


def by_metaclass_with_attributes(x):
    Counted.k = x
    match x:
        case Counted(real=v):
            return Counted.k * v
    return Counted.k * x


class Told:
    def __init__(self, x):
        self.x = x

    def __getattribute__(self, n):
        if n == "z":
            self.x = object.__getattribute__(self, "x") * 3
            raise AttributeError
        return object.__getattribute__(self, n)


def by_getattribute(x):
    g = Told(x)
    match g:
        case Told(x=v, z=w):
            return 1.0
    return g.x * x


class Hiding:
    def __init__(self, x):
        self.x = x

    @property
    def __class__(self):
        self.x = self.x * 2
        return float


def by_class_property(x):
    c = Hiding(x)
    match c:
        case int():
            return 1.0
        case float():
            return c.x * x


PROGRAMS = [
    *(rest_alone, rest_by_assignment, spread, first_and_rest),
    *(
        length_that_fails,
        length,
        length_and_ends,
        map_,
        map_in_vain,
        map_and_rest,
        map_second,
        own_get,
        own_get_in_vain,
        missing,
        ordered,
        default,
        chained,
        counter,
        user_dict,
        asked_in_vain,
        asked_in_vain_behind_another,
        property_in_vain,
        property_,
        by_metaclass,
        by_metaclass_in_vain,
        by_metaclass_with_attributes,
        by_getattribute,
        by_class_property,
    ),
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_as_in_cpython(f: Callable[[Any], Any]) -> None:
    def through_python(x):
        {object(): 1}
        return f(x)

    x = 0.7
    value = f(x)
    first = (f(x + 1e-5) - f(x - 1e-5)) / 2e-5
    second = (f(x + 1e-3) - 2.0 * value + f(x - 1e-3)) / 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        for g in (f, through_python):
            found, (gradient,) = zyg.withgradient(g, x)
            assert math.isclose(found, value)
            assert math.isclose(gradient, first, rel_tol=1e-6)
            assert math.isclose(zyg.hvp(g, x, 1.0), second, rel_tol=1e-3)
            assert math.isclose(zyg.jvp(g, (x,), (1.0,))[1], first, rel_tol=1e-6)
