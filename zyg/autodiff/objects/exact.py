"""Fractions and decimals: numbers whose cotangents are floats, as they do not mix with floats themselves."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from . import arithmetic, foreign
from .calls import known, method
from .cotangents import is_number


def _converted(cls: Any, at: int) -> Callable[..., tuple[Any, Any]]:
    """The entry of what makes a number of argument `at`."""

    def handler(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        y = cls(*args, **kwargs)
        if len(args) == at + 2 and cls is Fraction:
            return y, (_run_ratio, y, float(args[at + 1]))
        return y, (_run_converted, at) if len(args) > at and is_number(args[at]) else None

    return handler


def _run_converted(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return (*[None] * (1 + back[1]), d)


def _run_ratio(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, denominator = back
    return None if d is None else (None, d / denominator, -d * float(y) / denominator)


known(Fraction)(_converted(Fraction, 0))
known(Decimal)(_converted(Decimal, 0))
known(Decimal.from_float)(_converted(Decimal.from_float, 0))


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
