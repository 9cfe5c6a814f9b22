"""Numbers that classes hold, read by the name of the class, and `isinstance`: what emitted code guesses of them, where that is wrong, too."""

from __future__ import annotations

import abc
import math
from typing import Any, ClassVar

import pytest

from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_turn
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn


class Tariff:
    rate: ClassVar[Any] = 2.0


class Reduced(Tariff):
    pass


class Counted(abc.ABC):
    step: ClassVar[Any] = 3

    @abc.abstractmethod
    def count(self): ...


class Asking(type):
    @property
    def rate(cls):
        return 5.0


class Asked(metaclass=Asking):
    pass


def read(x):
    return Tariff.rate * x * Reduced.rate + Counted.step * x * x


def set_and_put_back(x):
    old = Tariff.rate
    total = Tariff.rate * x
    Tariff.rate = x * x
    total = total + Tariff.rate * Reduced.rate
    Tariff.rate = old
    return total + Tariff.rate


def newly_set(x):
    """By the class, and by an instance."""
    Reduced.rate = x
    total = Reduced.rate * 3.0 + Reduced().rate * x
    del Reduced.rate
    return total * Reduced.rate * Tariff.rate * Reduced().rate


def set_by_a_callee(x):
    def change(value):
        setattr(Tariff, "rate", value)  # noqa: B010

    before = Tariff.rate
    total = 0.0
    for k in range(3):
        total += Tariff.rate * x
        change(k * x)
    change(before)
    return total


def in_a_try(x):
    total = 0.0
    for k in range(3):
        try:
            total += Tariff.rate * x
            if k == 1:
                raise ValueError
        except ValueError:
            total *= Counted.step
    return total


PROGRAMS = [read, set_and_put_back, newly_set, set_by_a_callee, in_a_try]


@pytest.mark.parametrize("f", PROGRAMS)
def test_numbers_of_classes(f):
    check(f)
    check(read)  # which has been compiled before


@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives(f):
    check_second(f)


def test_numbers_that_are_changed_outside(monkeypatch):
    for rate in (2.0, 3, 0.5, True):
        monkeypatch.setattr(Tariff, "rate", rate)
        check(read)
    monkeypatch.setattr(Tariff, "rate", property(lambda self: 1.0))
    with pytest.raises(TypeError):
        pullback(read, (0.7,))
    monkeypatch.setattr(Tariff, "rate", 1.5)
    check(read)
    monkeypatch.setitem(globals(), "Tariff", Asked)
    check(read)


def test_a_derivative_of_what_is_set_around():
    """What is a constant for one pullback is none for another one around it."""

    def around(x):
        old = Tariff.rate
        Tariff.rate = x * x
        slope = pullback(lambda y: Tariff.rate * y * y, (0.5,))[1](1.0)[0]
        Tariff.rate = old
        return slope * x

    check(around)


# ---------------------------------------------------------------------------------------------------- isinstance


class Square:
    def __init__(self, side):
        self.side = side


class Disk:
    def __init__(self, radius):
        self.radius = radius


class Pretending:
    """Says that it is of another class."""

    def __init__(self, side):
        self.side = side

    @property
    def __class__(self):
        return Square


class Pretended(Disk):
    """The same by `__getattribute__`."""

    side = 2.0

    def __getattribute__(self, name):
        return Square if name == "__class__" else object.__getattribute__(self, name)


class Judging(type):
    def __instancecheck__(cls, x):
        return hasattr(x, "radius")


class Round(metaclass=Judging):
    pass


def area(shape):
    if isinstance(shape, Square):
        return shape.side * shape.side
    if isinstance(shape, Disk):
        return math.pi * shape.radius**2
    if isinstance(shape, (int, float)):
        return shape
    return sum(map(area, shape)) if isinstance(shape, (list, tuple)) else 0.0


def areas(x):
    return area([Square(x), Disk(x), x, (x, [2, Disk(1.0)], "none"), None])


def of_those_that_pretend(x):
    return area([Pretending(x), Square(x), Pretended(x)]) * x


def judged(x):
    total = 0.0
    for shape in (Square(x), Disk(x), x):
        if isinstance(shape, Round):
            total += shape.radius
        if isinstance(shape, (Round, float)):
            total += x * x
    return total


@pytest.mark.parametrize("f", [areas, judged])
def test_instances(f):
    check(f)
    check_second(f)


def test_what_pretends_to_be_of_another_class():
    check(of_those_that_pretend)


def test_classes_that_come_to_pretend(monkeypatch):
    check(areas)
    with monkeypatch.context() as m:
        m.setattr(Disk, "__getattribute__", Pretended.__getattribute__, raising=False)
        m.setattr(Disk, "side", 3.0, raising=False)
        assert isinstance(Disk(1.0), Square)
        check(areas)
    check(areas)


def test_other_functions_of_that_name(monkeypatch):
    check(areas)
    monkeypatch.setitem(globals(), "isinstance", lambda x, cls: type(x) is cls)
    check(lambda x: area(Square(x)))


def test_wrong_arguments():
    with pytest.raises(TypeError, match="isinstance"):
        pullback(lambda x: isinstance(x, 3) * x, (0.7,))
    for kind in ((int, 3), 3.0):
        with pytest.raises(TypeError, match="isinstance"):
            pullback(lambda x, kind=kind: isinstance("a", kind) * x, (0.7,))
