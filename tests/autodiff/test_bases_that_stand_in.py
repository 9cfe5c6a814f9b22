"""Class statements whose bases have an `__mro_entries__`: derivatives through what that captures and changes. And what a class statement
has done where it is left by an exception."""

from __future__ import annotations

import collections
import typing

import pytest

from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_turn

pytestmark = each_in_turn


class Factory:
    def __init__(self, k):
        self.k = k

    def __mro_entries__(self, bases):
        k = self.k

        class Mix:
            held = k * 2.0

            def mul(self):
                return k * k

        return (Mix,)


class Changing:
    def __init__(self, z):
        self.z = z

    def __mro_entries__(self, bases):
        self.z = self.z * 2.0 * len(bases)
        return ()


class Raising(Changing):
    def __mro_entries__(self, bases):
        self.z = self.z * self.z
        raise ValueError


class Found:
    def __init__(self, z):
        self.z = z

    def __getattr__(self, name):
        if name != "__mro_entries__":
            raise AttributeError(name)
        self.z = self.z * self.z
        return lambda bases: (Holding,)


class Numbers(tuple):
    def __mro_entries__(self, bases):
        k = self[0]

        class Mix:
            def mul(self):
                return k * k

        return (Mix, *bases[1:])


class Holding:
    held = 1.0


class Refusing(type):
    def __init__(cls, name, bases, namespace):
        super().__init__(name, bases, namespace)
        if namespace.get("refused"):
            raise ValueError


class Telling:
    def __init_subclass__(cls, o):
        o.z = o.z * 2.0
        raise ValueError


class Counter:
    def __init__(self, z):
        self.z = z


def captured(x):
    class U(Factory(x)):
        pass

    return U().mul() * U.held


def of_two(x):
    first, second = Factory(x), Changing(x)

    class U(Holding, first, second):
        own = x

    return U().mul() * second.z + U.own + len(U.__orig_bases__)


def with_a_metaclass(x):
    class U(Factory(x), metaclass=Refusing):
        own = x * 3.0

    return U().mul() * U.own


def found_by_getattr(x):
    o = Found(x)

    class U(o):
        pass

    return o.z * U.held


def numbers(x):
    class U(Numbers((x, 2.0))):
        pass

    return U().mul()


def raising(x):
    o, r = Raising(x), Changing(x)
    y = 1.0
    try:

        class U(r, o):
            y = 2.0

    except ValueError:
        y = x
    return o.z * y * r.z


def not_a_tuple(x):
    o = Changing(x)

    class Wrong(Changing):
        def __mro_entries__(self, bases):
            self.z = self.z * self.z
            return [Holding]

    w = Wrong(x)
    try:

        class U(o, w):
            pass

    except TypeError:
        return o.z * w.z
    return x


def body_raises(x):
    r, o = Changing(x), Counter(x)
    try:

        class U(r):
            o.z = o.z * r.z
            raise ValueError

    except ValueError:
        return o.z * r.z
    return x


def metaclass_raises(x):
    r, o = Changing(x), Counter(x)
    try:

        class U(r, metaclass=Refusing):
            o.z = o.z * r.z
            refused = True

    except ValueError:
        return o.z * r.z
    return x


def subclass_raises(x):
    o, p = Counter(x), Counter(x)
    try:

        class U(Telling, o=o):
            p.z = p.z * o.z

    except ValueError:
        return o.z * p.z
    return x


def of_typing(x):
    class Pair(typing.NamedTuple):
        a: float
        b: float = 2.0

    class Own(typing.Generic[T], collections.OrderedDict[str, float]):
        held = x

    class Keyed(typing.TypedDict):
        a: float

    p, o = Pair(x), Own(c=x)
    return p.a * p.b * o["c"] * Own.held + Keyed(a=x)["a"]


T = typing.TypeVar("T")

FUNCTIONS = (
    captured, of_two, with_a_metaclass, found_by_getattr, numbers, raising, not_a_tuple, body_raises, metaclass_raises, subclass_raises,
    of_typing,
)  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_bases_that_stand_in(f):
    check(f, 1.3)
    if f is not subclass_raises:  # refused
        check_second(f, 1.3)
