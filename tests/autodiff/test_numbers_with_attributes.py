"""Instances of classes derived from numbers and text, with attributes and operators of their own, and partial objects."""

from __future__ import annotations

import functools
import operator

import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = [each_in_turn, pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")]


class WithWeight:
    def __new__(cls, value, weight):
        made = super().__new__(cls, value)
        made.weight = weight
        return made

    def cube(self, *others):
        return self.weight**3

    __neg__ = __abs__ = __add__ = __radd__ = cube


class Whole(WithWeight, int):
    pass


class Real(WithWeight, float):
    pass


class Complex(WithWeight, complex):
    pass


class Text(WithWeight, str):
    pass


class Amplitude(complex):
    def __abs__(self):
        return self.real**2 + self.imag**2


VALUES = {Whole: 1, Real: 1.5, Complex: 2.0 + 1.0j, Text: "a"}
ACCESSES = {
    "attribute": lambda o: o.weight**3,
    "method": lambda o: o.cube(),
    "neg": lambda o: -o,
    "abs": abs,
    "add": lambda o: o + 2.0,
    "radd": lambda o: 2.0 + o,
    "getattr": lambda o: o.weight**3,
    "set": lambda o: setattr(o, "weight", o.weight**3) or o.weight,
}


@pytest.mark.parametrize("cls", VALUES)
@pytest.mark.parametrize("access", ACCESSES)
def test_what_they_hold_has_its_derivative(access, cls):
    f = lambda x: ACCESSES[access](cls(VALUES[cls], x))
    if f(1.5) == 2.0 + 1:  # a float adds an int by itself
        assert (access, cls) == ("radd", Whole) and zyg.gradient(f, 1.5) == (None,)
        return
    assert zyg.gradient(f, 1.5) == (pytest.approx(3.0 * 1.5**2),)
    assert zyg.grad(zyg.grad(f))(1.5) == pytest.approx(6.0 * 1.5)


def test_parts_of_a_complex_number_are_the_number():
    assert zyg.gradient(lambda x: abs(Amplitude(x, 1.0)), 3.0) == (6.0,)
    assert zyg.gradient(lambda x: Amplitude(x, 1.0).real ** 2 + complex(2.0, x).imag, 3.0) == (7.0,)


def test_attributes_of_a_partial_object():
    def f(x):
        scaled = functools.partial(operator.mul, 2.0)
        scaled.rate = x * 3.0
        scaled.rate *= x
        scaled.__dict__["shift"] = x
        return scaled(x) * scaled.rate + getattr(scaled, "shift") ** 2 + len(scaled.__dict__)  # noqa: B009

    assert zyg.gradient(f, 2.0) == (76.0,)
    assert zyg.grad(zyg.grad(f))(2.0) == 74.0
