"""Attributes that code of classes gives, and what the language asks objects (truth, length, `in`, `==`), at places that are passed again
and again: values, first and second derivatives, exceptions, and classes that change meanwhile."""

from __future__ import annotations

import enum
import functools
import math
from typing import ClassVar

import pytest

from tests.autodiff.tried import derivative, in_a_try
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn


class Asked:
    """`__getattr__` beside attributes of the instance."""

    def __init__(self, x):
        self.x = x
        self.count = 0

    def __getattr__(self, name):
        if name.startswith("twice_"):
            return 2.0 * getattr(self, name[6:])
        if name == "late":
            self.late = self.x * self.x
            return self.late * 3.0
        raise AttributeError(name)


class Kept:
    def __init__(self, **values):
        self._values = values

    def __getattr__(self, name):
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(name) from None


class Dotted(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class Positive:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        return self if instance is None else getattr(instance, self.name)

    def __set__(self, instance, value):
        if value < 0:
            raise ValueError(value)
        setattr(instance, self.name, value)


class InDict:
    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        return instance.__dict__[self.name] * instance.scale

    def __set__(self, instance, value):
        instance.__dict__[self.name] = value


class NonData:
    """The instance's own attribute comes first."""

    def __get__(self, instance, owner=None):
        return instance.x * 5.0


class Part:
    mass = Positive()
    size = InDict()
    other = NonData()

    def __init__(self, x, scale=1.5):
        self.scale = scale
        self.x = x
        self.mass = x
        self.size = x * x

    @functools.cached_property
    def square(self):
        return self.mass * self.mass

    @property
    def cube(self):
        return self.square * self.mass

    @cube.setter
    def cube(self, value):
        self.mass = value / 3.0


class Kind(enum.Enum):
    LINE = 1
    CURVE = 2.5

    @property
    def factor(self):
        return self.value * 0.5

    def of(self, x):
        return x if self is Kind.LINE else x * x * self.value


class Fraction(float, enum.Enum):
    HALF = 0.5


class Counted:
    made = 0
    rate = 0.25
    weights: ClassVar[list[float]] = [1.0, 2.0]

    def __init__(self, x):
        self.x = x
        Counted.made += 1

    def step(self):
        self.x += self.rate * self.x
        return self.x


class Shelf:
    """Sized, and true as long as there is something in it."""

    def __init__(self, x):
        self.items = [x, x * x, 2.0]
        self.asked = 0.0

    def __len__(self):
        self.asked += self.items[0]
        return len(self.items)

    def __contains__(self, key):
        self.asked *= 1.5
        return key < len(self.items)

    def __bool__(self):
        self.asked += 0.5 * self.items[-1]
        return len(self.items) > 1


class Sized:
    """True as long as its length is not 0."""

    def __init__(self, x):
        self.items = [x, x * x, 2.0]
        self.asked = 0.0

    __len__, __contains__ = Shelf.__len__, Shelf.__contains__


class Same:
    """Compared by identity."""

    def __init__(self, x):
        self.x = x


class Slots:
    """An empty slot is asked for, and filled."""

    __slots__ = ("x", "y")

    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        self.y = self.x * 2.0
        return self.y


def slots(x):
    total = 0.0
    for k in range(3):
        s = Slots(x * k)
        total += s.y * s.x + s.y
        del s.y
        s.x = x
        total += s.y
    return total


def asked(x):
    p, total = Asked(x), 0.0
    for _ in range(4):
        total += p.x * p.twice_x
        p.x = p.x * 0.9
        total += p.late * p.twice_late
        p.late = p.late + 0.1 * x
    return total


def asked_in_vain(x):
    p, total = Asked(x), x
    for k in range(5):
        try:
            total = total * 1.5 + (p.nothing if k % 2 else p.twice_x)
        except AttributeError:
            total += p.x
    return total


def kept(x):
    c, total = Kept(rate=x, decay=0.5 * x), 1.0
    for _ in range(4):
        total = total * c.decay + c.rate * getattr(c, "rate")  # noqa: B009
    return total + (1.0 if hasattr(c, "other") else x)


def dotted(x):
    p, total = Dotted(a=x, b=2.0), 0.0
    for _ in range(4):
        p.a = p.a * 0.9 + p["b"] * p.a
        total += p.b * p.a
    return total


def described(x):
    p, total = Part(x), 0.0
    for k in range(4):
        p.mass = p.mass * 0.9 + p.size
        p.size = p.mass * 0.5
        total += p.mass * p.other + p.square
        if k == 1:
            p.other = x * x
        if k == 2:
            p.cube = p.cube * 2.0
    return total


def described_and_refused(x):
    p, total = Part(x), 0.0
    for k in range(5):
        try:
            p.mass = p.mass - 0.3 * x if k != 2 else -x
        except ValueError:
            total += 2.0 * p.size
        total += p.mass
    return total


def cached(x):
    total = 0.0
    for k in range(3):
        p = Part(x * (k + 1.0))
        total += p.square * p.square + p.cube
        p.__dict__["square"] = total
        total += p.square
    return total


def members(x):
    total = 0.0
    for k in range(4):
        kind = (Kind.LINE, Kind.CURVE)[k % 2]
        if kind == Kind.LINE:
            total += kind.of(x) * kind.factor
        elif kind != Kind.LINE and kind is Kind.CURVE:
            total += kind.of(x) + Kind.CURVE.value * x
        total *= 1.0 + Fraction.HALF
    return total


def counted(x):
    Counted.rate = 0.25
    total = 0.0
    for k in range(4):
        one = Counted(x)
        total += one.step() * Counted.rate
        if k == 1:
            Counted.rate = Counted.rate * x
        total += Counted.weights[1] * one.rate
    return total


def shelves(kind):
    def program(x):
        s, total = kind(x), 0.0
        for k in range(3):
            if s:
                total += s.asked
            while not s and k < 2:
                total += x
                break
            if k in s:
                total *= 1.0 + len(s) * x
            s.items.append(x * k)
            if k:
                del s.items[1:]
        return total + s.asked

    return program


def compared(x):
    a, b = Same(x), Same(2.0 * x)
    total = 0.0
    for k in range(4):
        other = a if k % 2 else b
        if a == other:
            total += a.x * other.x
        if other != b and other:
            total *= 1.0 + b.x
    return total


PROGRAMS = {
    **{f.__name__: f for f in (slots, asked, asked_in_vain, kept, dotted, described, described_and_refused, cached, members, counted, compared)},
    "truth": shelves(Shelf),
    "length for truth": shelves(Sized),
}  # fmt: skip


@each_in_long_turn
@pytest.mark.parametrize("watched", [False, True], ids=["plain", "watched"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name, watched):
    f = PROGRAMS[name]
    g = in_a_try(f) if watched else f
    for x in (0.7, 1.3, 0.9, 0.7):
        value, back = pullback(g, (x,))
        assert value == f(x)
        assert math.isclose(back(1.0)[0], differences.derivative(f, x), rel_tol=1e-8)


@each_in_long_turn
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives(name):
    f = PROGRAMS[name]
    found = derivative(lambda x: derivative(f, x), 0.7) or 0.0
    assert math.isclose(found, differences.derivative(lambda x: derivative(f, x), 0.7), rel_tol=1e-7, abs_tol=1e-9)


class Changing:
    scale = 2.0

    def __init__(self, x):
        self.x = x

    def __len__(self):
        return 3

    def __getattr__(self, name):
        return self.x * self.scale


def changing(x):
    c = Changing(x)
    return c.other * len(c) + (c.x if c else 0.0)


def test_a_class_that_changes_is_looked_at_again():
    for _ in range(3):
        assert derivative(changing, 0.5) == 7.0
    before = Changing.__dict__["__len__"], Changing.__dict__["__getattr__"]
    try:
        Changing.__len__ = lambda self: 0
        assert derivative(changing, 0.5) == 0.0
        Changing.__getattr__ = lambda self, name: self.x * self.x
        Changing.__len__ = lambda self: 1
        assert derivative(changing, 0.5) == 2.0
        Changing.other = property(lambda self: self.x * 7.0)
        assert derivative(changing, 0.5) == 8.0
        Changing.__bool__ = lambda self: False
        assert derivative(changing, 0.5) == 7.0
    finally:
        Changing.__len__, Changing.__getattr__ = before
        for name in ("other", "__bool__"):
            if name in vars(Changing):
                delattr(Changing, name)
    assert derivative(changing, 0.5) == 7.0


@pytest.mark.parametrize(
    ("method", "answer", "error"),
    [("__bool__", 1, TypeError), ("__len__", -1, ValueError), ("__len__", 1.5, TypeError), ("__len__", True, None)],
)
def test_what_special_methods_give_is_checked_as_ever(method, answer, error):
    cls = type("Odd", (), {method: lambda self: answer})

    def f(x):
        total = x
        for _ in range(2):
            if cls():
                total *= x
        return total

    if error is None:
        assert derivative(f, 0.5) == 0.75
        return
    with pytest.raises(error) as expected:
        f(0.5)
    with pytest.raises(error) as found:
        derivative(f, 0.5)
    assert str(found.value) == str(expected.value)
