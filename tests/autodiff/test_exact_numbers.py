"""Fractions and decimals, whose operators are Python code in part: the derivative of the first call and of later ones, which go by
what was found out in the first one."""

from __future__ import annotations

import copy
import math
import operator
import statistics
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_turn
from zyg.autodiff.objects.api import pullback
from zyg.fallback import python_pullback

pytestmark = [pytest.mark.filterwarnings("ignore::zyg.errors.FallbackWarning"), each_in_turn]


class Shifted(Fraction):
    def __add__(self, other):
        return Fraction(self) * 2 + other


class Tripled(Fraction):
    def __add__(self, other):
        return super().__add__(other) * 3

    def __neg__(self):
        return super().__neg__() * 3


class Tagged(Fraction):
    __slots__ = ("tag",)

    def __new__(cls, value, tag=1.0):
        made = super().__new__(cls, value)
        made.tag = tag
        return made


class Amount(Decimal):
    def __add__(self, other):
        return Decimal(self) * 2 + other


class Scale:
    def __init__(self, by):
        self.by = by

    def __radd__(self, other):
        return other * self.by

    def __add__(self, other):
        return other * self.by


PROGRAMS = {
    "unary": lambda x: float(-Fraction(x)) + float(+Fraction(x)) * x + float(abs(-Fraction(x))) * x,
    "power": lambda x: float(Fraction(x) ** 2 + 1) + float(2 ** Fraction(x)),
    "remainder": lambda x: float(Fraction(x) % Fraction(1, 3)) + float(5 // Fraction(x)) * x,
    "divmod": lambda x: float(divmod(Fraction(x), Fraction(1, 2))[1]) + float(divmod(2, Fraction(x))[1]) * 3,
    "divmod of decimals": lambda x: float(divmod(Decimal(x), Decimal("0.3"))[1]),
    "by name": lambda x: float(Fraction(x).__add__(2) * 3) + float(Fraction(x).__rsub__(2) * Fraction(x)),
    "by name, of decimals": lambda x: float(Decimal(x).__mul__(2)) + float(Decimal(x).__rtruediv__(2)),
    "as a float, by name": lambda x: Fraction(x).__float__() * x,
    "with floats": lambda x: Fraction(x) * x + x * Fraction(x),
    "with complex numbers": lambda x: (Fraction(x) * (1 + 2j)).real,
    "with objects": lambda x: float(Fraction(x) + Scale(x * x)) + float(Scale(Fraction(x)) + Fraction(x)),
    "operators of a subclass": lambda x: float(Shifted(x) + 1) + float(Tripled(x) + 1) * x + float(-Tripled(x)),
    "a subclass with more": lambda x: float(Tagged(x, x) * 2) * Tagged(x, x).tag,
    "a subclass of decimals": lambda x: float(Amount(x) + 1),
    "quotients": lambda x: float(Fraction(Fraction(x), Fraction(x * x + 1))) + float(Fraction(2, denominator=Fraction(x))),
    "arguments by name": lambda x: float(Fraction(numerator=x)) + float(Decimal(value=x) ** 2),
    "copies": lambda x: float(copy.copy(Fraction(x)) * copy.deepcopy(Fraction(x))),
    "library": lambda x: float(sum([Fraction(x), Fraction(x) * 2], Fraction(0))) * math.sqrt(Fraction(x)),
    "statistics": lambda x: float(statistics.mean([Fraction(x), Fraction(x) * 3])) * x,
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name):
    f = PROGRAMS[name]
    for at in (0.7, 0.7, 1.3):
        value, back = python_pullback(f, (at,), {})
        assert value == f(at)
        assert back(1.0) == pytest.approx((differences.gradient(f, at)[0],), rel=1e-7)
    second = zyg.hessian(lambda x: f(x) * x, 0.7)
    assert second == pytest.approx(
        differences.gradient(lambda x: zyg.gradient(lambda x: f(x) * x, x)[0], 0.7)[0], rel=1e-6
    )


def test_fractions_as_results():
    for _ in range(2):
        assert zyg.gradient(lambda x: -Fraction(x), 0.7) == (-1.0,)
        assert np.isclose(float(zyg.gradient(lambda x: Fraction(x) ** 2, 0.7)[0]), 1.4)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: Fraction(x).numerator / Fraction(x).denominator,
        lambda x: (lambda f: f.numerator / f.denominator)(Fraction(x) * 2),
        lambda x: operator.truediv(*Fraction(x).as_integer_ratio()),
    ],
)
def test_integers_of_a_fraction_are_refused(program):
    _, back = pullback(program, (0.5,))
    with pytest.raises(zyg.Unsupported, match="an integer that `Fraction"):
        back(1.0)


def test_integers_of_constant_fractions():
    _, back = pullback(lambda x: x * Fraction(3, 4).numerator + x * Fraction(3, 4).as_integer_ratio()[1], (0.5,))
    assert back(1.0) == (7.0,)
    _, back = pullback(lambda x: x * len(str(Fraction(x).numerator)) * (Fraction(x).denominator > 1), (0.5,))
    assert back(1.0) == (1.0,)
