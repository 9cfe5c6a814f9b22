"""Fractions and decimals: numbers whose cotangents are floats, as they do not mix with floats themselves."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

from . import arithmetic, calls, foreign
from .calls import known, method
from .cotangents import is_number


def _run_converted(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return (*[None] * (1 + back[1]), d)


@known(Fraction)
def _fraction(numerator: Any = 0, denominator: Any = None) -> tuple[Any, Any]:
    return _fraction_of(Fraction, 0, numerator, denominator)


@known(Fraction.__new__)
def _instance(cls: Any, numerator: Any = 0, denominator: Any = None) -> tuple[Any, Any]:
    return _fraction_of(cls, 1, numerator, denominator)


def _fraction_of(cls: Any, at: int, numerator: Any, denominator: Any) -> tuple[Any, Any]:
    """The numerator is argument `at`."""
    y = Fraction.__new__(cls, numerator, denominator)
    if denominator is not None:
        return y, (_run_ratio, at, y, float(denominator))
    return y, (_run_converted, at) if is_number(numerator) else None


def _run_ratio(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, at, y, denominator = back
    return None if d is None else (*[None] * (1 + at), d / denominator, -d * float(y) / denominator)


@known(numbers.Rational.__float__)
def _rational_as_float(x: Any) -> tuple[Any, Any]:
    if isinstance(x, Fraction):
        return Fraction.__float__(x), (_run_converted, 0)
    return calls.call(_quotient, (x,))


def _quotient(x: Any) -> float:
    return int(x.numerator) / int(x.denominator)


@known(Decimal, Decimal.from_float)
def _decimal(value: Any = "0", context: Any = None) -> tuple[Any, Any]:
    return Decimal(value, context), (_run_converted, 0) if is_number(value) else None


@known(Fraction.from_float.__func__, Fraction.from_decimal.__func__)
def _from_number(cls: Any, x: Any, /) -> tuple[Any, Any]:
    return Fraction(x), (_run_converted, 1)


@known(Fraction.limit_denominator)
def _limit_denominator(x: Fraction, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    hint = (
        "round the float that is made of the fraction, or take it out of the derivative's path with zyg.stop_gradient"
    )
    y = x.limit_denominator(*args, **kwargs)
    return foreign.result(y, "a derivative through `Fraction.limit_denominator`", hint, (None, x, *args))


def _parts_of_fraction(f: Any) -> None:
    """The integers that a fraction is made of jump where it changes: a derivative through one is refused, as by `float.as_integer_ratio`."""
    what = f"a derivative through an integer that `Fraction.{f.__name__}` gives"
    hint = "use the fraction itself, or float(x)"

    @known(f, exact=True)
    def handler(x: Any) -> tuple[Any, Any]:
        return foreign.result(f(x), what, hint, (None, x))


for _part in (Fraction.numerator, Fraction.denominator):
    _parts_of_fraction(cast(Any, _part).fget)
_parts_of_fraction(Fraction.as_integer_ratio)


# The slope of each method of decimals, by value and argument.
_SLOPES: dict[str, Callable[[float, float], float]] = {
    "sqrt": lambda y, x: 0.5 / y if y else math.inf,
    "exp": lambda y, x: y,
    "ln": lambda y, x: 1.0 / x,
    "log10": lambda y, x: 1.0 / (x * math.log(10.0)),
}


def _decimal_method(name: str, slope: Callable[[float, float], float]) -> None:
    def handler(x: Decimal, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        y = getattr(x, name)(*args, **kwargs)
        return y, (_run_slope, slope(float(y), float(x)))

    method(Decimal, name)(handler)


def _run_slope(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (arithmetic.strong(d, back[1]),)


for _name, _slope in _SLOPES.items():
    _decimal_method(_name, _slope)
