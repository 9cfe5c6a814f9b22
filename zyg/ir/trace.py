"""Mathematics that runs on numbers and on SSA values alike, for writing derivative rules.

A rule in the op table is a plain function such as `lambda d, y, x: d * cos(x)`.  Called with floats it computes; called
with `Traced` values it emits instructions through their builder.  So a rule can be tested by finite differences without
the compiler.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

from .core import Const, Value, const


class Emits(Protocol):
    """What `Traced` needs of a builder."""

    def arith(self, op: str, *operands: Value, **attrs: Any) -> Value:
        """Emit `op` after converting the operands to their common type."""
        ...

    def resolve(self, value: Any) -> Value:
        """The SSA value to use for a leaf of a rule (a primal value may have to be fetched first)."""
        ...


class Traced:
    """A value inside a rule. `leaf` is resolved when it is first used, so unused primal values cost nothing."""

    def __init__(self, builder: Emits, leaf: Any):
        self.builder = builder
        self.leaf = leaf

    def value(self) -> Value:
        return self.builder.resolve(self.leaf)

    def apply(self, op: str, *operands: Any, **attrs: Any) -> Traced:
        values = [v.value() if isinstance(v, Traced) else const(v) for v in operands]
        return Traced(self.builder, self.builder.arith(op, *values, **attrs))

    def __add__(self, other: Any) -> Traced:
        return self.apply("add", self, other)

    def __radd__(self, other: Any) -> Traced:
        return self.apply("add", other, self)

    def __sub__(self, other: Any) -> Traced:
        return self.apply("sub", self, other)

    def __rsub__(self, other: Any) -> Traced:
        return self.apply("sub", other, self)

    def __mul__(self, other: Any) -> Traced:
        return self.apply("mul", self, other)

    def __rmul__(self, other: Any) -> Traced:
        return self.apply("mul", other, self)

    def __truediv__(self, other: Any) -> Traced:
        return self.apply("div", self, other)

    def __rtruediv__(self, other: Any) -> Traced:
        return self.apply("div", other, self)

    def __neg__(self) -> Traced:
        return self.apply("neg", self)

    def __abs__(self) -> Traced:
        return self.apply("abs", self)

    def __lt__(self, other: Any) -> Traced:
        return self.apply("lt", self, other)

    def __gt__(self, other: Any) -> Traced:
        return self.apply("gt", self, other)


def _call(op: str, function: Any, *args: Any) -> Any:
    for a in args:
        if isinstance(a, Traced):
            return a.apply(op, *args)
    return function(*args)


def quiet(function: Callable[..., float], overflow: Callable[..., float] | float = math.inf) -> Callable[..., float]:
    """`function` as C has it: nan for a domain error, infinity on overflow (`overflow` may say which)."""

    def quietly(*args: float) -> float:
        try:
            return function(*args)
        except OverflowError:
            return overflow(*args) if callable(overflow) else overflow
        except ValueError:
            return math.nan

    return quietly


def quiet_log(function: Callable[[float], float], pole: float = 0.0) -> Callable[[float], float]:
    """A logarithm as C has it: minus infinity at its pole."""
    inner = quiet(function)
    return lambda x: -math.inf if x == pole else inner(x)


def ieee_div(x: float, y: float) -> float:
    """x / y by IEEE 754."""
    if isinstance(y, (float, int)) and y == 0.0:
        return math.nan if x == 0.0 or x != x else math.copysign(math.inf, x) * math.copysign(1.0, y)
    return x / y


def ieee_pow(x: float, y: float) -> float:
    """C's pow."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and y % 2 == 1 else math.inf
    except ValueError:
        if x == 0:
            return math.copysign(math.inf, x) if y % 2 == 1 else math.inf
        return math.nan


def whole(function: Callable[[float], int]) -> Callable[[float], float]:
    """Rounding to a whole number as C does it: the result is a float with the sign of the argument."""
    return lambda x: math.copysign(float(function(x)), x) if math.isfinite(x) else x


def is_constant(x: Any, value: float) -> bool:
    """Whether it is known when compiling that `x` is this number."""
    return x.leaf.value == value if isinstance(x, Traced) and isinstance(x.leaf, Const) else x == value


def divide(x: Any, y: Any) -> Any:
    """x / y by IEEE 754, for rules whose divisor may be 0."""
    return _call("div", ieee_div, x, y)


def equal(x: Any, y: Any) -> Any:
    return _call("eq", lambda x, y: x == y, x, y)


def where(condition: Any, x: Any, y: Any) -> Any:
    """`x if condition else y`, evaluating both."""
    return _call("select", lambda c, x, y: x if c else y, condition, x, y)


def sqrt(x: Any) -> Any:
    return _call("sqrt", quiet(math.sqrt), x)


def exp(x: Any) -> Any:
    return _call("exp", quiet(math.exp), x)


def log(x: Any) -> Any:
    return _call("log", quiet_log(math.log), x)


def sin(x: Any) -> Any:
    return _call("sin", quiet(math.sin), x)


def cos(x: Any) -> Any:
    return _call("cos", quiet(math.cos), x)


def sinh(x: Any) -> Any:
    return _call("sinh", quiet(math.sinh, lambda x: math.copysign(math.inf, x)), x)


def cosh(x: Any) -> Any:
    return _call("cosh", quiet(math.cosh), x)


def power(x: Any, y: Any) -> Any:
    return _call("pow", ieee_pow, x, y)


def floor(x: Any) -> Any:
    return _call("floor", whole(math.floor), x)


def trunc(x: Any) -> Any:
    return _call("trunc", whole(math.trunc), x)


def copysign(x: Any, y: Any) -> Any:
    return _call("copysign", math.copysign, x, y)


def digamma(x: Any) -> Any:
    return _call("digamma", digamma_of, x)


def trigamma(x: Any) -> Any:
    """The derivative of digamma."""
    return _call("trigamma", trigamma_of, x)


def zero_where_zero(d: Any, quotient: Any) -> Any:
    """`quotient`, but 0 where the cotangent `d` is 0: the strong zero at a rule's singular point.

    The attribute tells the optimiser that the sign of that zero does not matter.
    """
    if isinstance(d, Traced):
        return d.apply("select", equal(d, 0.0), 0.0, quotient, strong=True)
    # What happens to be 0 may have a derivative, where the quotient is a number.
    return where(equal(d, 0.0), where(equal(quotient, quotient), quotient, 0.0), quotient)


def digamma_of(x: float) -> float:
    """Abramowitz and Stegun 6.3.5, 6.3.18 (recurrence, then the asymptotic series); 6.3.7 for x < 0."""
    if x <= 0.0 and x == math.floor(x):
        return math.nan
    if x < 0.5:
        return digamma_of(1.0 - x) - math.pi / math.tan(math.pi * x)
    result = 0.0
    while x < 10.0:
        result -= 1.0 / x
        x += 1.0
    f = 1.0 / (x * x)
    series = f * (1 / 12 - f * (1 / 120 - f * (1 / 252 - f * (1 / 240 - f * (1 / 132 - f * (691 / 32760 - f / 12))))))
    return result + math.log(x) - 0.5 / x - series


def trigamma_of(x: float) -> float:
    """Abramowitz and Stegun 6.4.6, 6.4.12; 6.4.7 for x < 0."""
    if x <= 0.0 and x == math.floor(x):
        return math.nan
    if x < 0.5:
        return -trigamma_of(1.0 - x) + (math.pi / math.sin(math.pi * x)) ** 2
    result = 0.0
    while x < 10.0:
        result += 1.0 / (x * x)
        x += 1.0
    f = 1.0 / (x * x)
    series = f * (1 / 6 - f * (1 / 30 - f * (1 / 42 - f * (1 / 30 - f * (5 / 66 - f * (691 / 2730 - f * 7 / 6))))))
    return result + 1.0 / x + 0.5 * f + series / x
