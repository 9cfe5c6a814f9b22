"""Arithmetic of elements: the operators as functions, divisions with several results, and what belongs to them.

What is written in Python here takes NumPy's numbers of one type; `select` is a choice without a branch, so that loops over
elements vectorise.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend.numpy_numbers import as_numpy, promote
from zyg.frontend.operators import binary, unary
from zyg.frontend.scalars import math_op, scalar_value
from zyg.frontend.values import Abstract, ComplexValue, Known, Number, TupleValue, is_numeric, known, number_type
from zyg.ir.core import const
from zyg.ir.types import BOOL, F32, F64, I32, I64, U8, Scalar

from ..intrinsics import cut, machine, select
from ..math_ import frexp as frexp_of
from ..math_ import scale_by_two
from .ufuncs import Element, float_operands, level, no_loop, on_floats, real_operands, strong, strong_together, ufunc

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator


def _operator(name: str) -> Element:
    def emitter(e: Evaluator, a: Abstract, b: Abstract, /) -> Abstract:
        if is_numeric(a) and is_numeric(b):
            a, b = strong_together(e, a, b)
        return of_elements(e, name, a, b)

    return emitter


for _function, _name in (
    (np.add, "add"), (np.subtract, "sub"), (np.multiply, "mul"), (np.true_divide, "truediv"),
    (np.floor_divide, "floordiv"), (np.remainder, "mod"), (np.power, "pow"),
):  # fmt: skip
    ufunc(_function, same=_name in ("add", "sub", "mul"))(_operator(_name))


# Powers that are products of so few factors that they are off by 4 units in the last place at most, which is what vectorised
# mathematics may be.  Overflow and underflow are where the power has them, too.
_PRODUCTS = frozenset({-2, -1, 3, 4, 5})
_ROOTS = frozenset({1.5, 2.5})  # and those that are a product with a square root


def of_elements(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract:
    """An operator as ufuncs and whole arrays have it: a power of 0.5 is a square root (which -0.0 and -inf tell apart), small whole
    ones are products, also with a square root."""
    if name == "pow" and isinstance(a, Number) and isinstance(b, Known) and type(b.object) in (int, float):
        if b.object == 0.5:
            return Number(math_op(e, "sqrt", as_numpy(e, a, F32 if a.type is F32 else F64)), True)
        if b.object in _PRODUCTS and a.type in (F64, F32) and e.options.vectormath:
            return _product_of_factors(e, a, int(b.object))
        if b.object in _ROOTS and a.type in (F64, F32) and e.options.vectormath:
            return _product_with_root(e, a, b.object)
    return binary(e, name, a, b)


def _product_of_factors(e: Evaluator, x: Number, n: int) -> Abstract:
    if n < 0:
        inverse = binary(e, "truediv", Known(1), Number(x.value, True))
        return inverse if n == -1 else binary(e, "mul", inverse, inverse)
    x = Number(x.value, True)
    square = binary(e, "mul", x, x)
    product = binary(e, "mul", square, x if n == 3 else square)
    return binary(e, "mul", product, x) if n == 5 else product


def _product_with_root(e: Evaluator, x: Number, exponent: float) -> Number:
    """With the slope that a power has, at 0 too."""
    x = Number(x.value, True)
    lower = Number(e.op("sqrt", x.value), True) if exponent == 1.5 else _product_with_root(e, x, exponent - 1.0)
    infinite = e.op("eq", x.value, const(-math.inf, x.type))
    product = e.op("abs", e.op("mul", x.value, lower.value))  # of -0.0 as well
    value = e.op("select", infinite, const(math.inf, x.type), product)
    slope = e.op("mul", const(exponent, x.type), lower.value)
    return Number(e.op("slope", e.op("stop", value), slope, x.value), True)


def _sign_operator(name: str) -> Element:
    return lambda e, x, /: unary(e, name, strong(e, x))


for _function, _name in ((np.negative, "neg"), (np.positive, "pos")):
    ufunc(_function, same=True)(_sign_operator(_name))


@ufunc(np.divmod)
def _divmod(e: Evaluator, x: Abstract, y: Abstract, /) -> Abstract:
    x, y = strong_together(e, x, y)
    return TupleValue((binary(e, "floordiv", x, y), binary(e, "mod", x, y)))


def _not_bool(e: Evaluator, x: Abstract, name: str) -> Abstract:
    x = strong(e, x)
    if number_type(x) is BOOL:
        raise e.refuse(f"np.{name} of bool, which gives an int8", hint="convert it first: a.astype(int)")
    return x


@ufunc(np.square)
def _square(e: Evaluator, x: Abstract, /) -> Abstract:
    x = _not_bool(e, x, "square")
    return binary(e, "mul", x, x)


@ufunc(np.reciprocal)
def _reciprocal(e: Evaluator, x: Abstract, /) -> Abstract:
    x = _not_bool(e, x, "reciprocal")
    scalar = number_type(x)
    if scalar is None or scalar.kind == "f":
        return binary(e, "truediv", Known(1), x)
    smallest, _ = scalar.bounds
    return level(e, e.call(known(_reciprocal_of_integer), [x, Known(smallest)]), x)


def _reciprocal_of_integer(x: Any, smallest: Any) -> Any:
    """1/x towards 0; the smallest number for 1/0, as NumPy has it on this machine."""
    number = x.dtype.type
    return select(abs(x) == 1, x, select(x == 0, number(smallest), number(0)))


@ufunc(np.float_power)
def _float_power(e: Evaluator, x: Abstract, y: Abstract, /) -> Abstract:
    if isinstance(x, ComplexValue) or isinstance(y, ComplexValue):
        return binary(e, "pow", *strong_together(e, x, y))
    return Number(math_op(e, "pow", as_numpy(e, strong(e, x), F64), as_numpy(e, strong(e, y), F64)), True)


@ufunc(np.fmod)
def _fmod(e: Evaluator, x: Abstract, y: Abstract, /) -> Abstract:
    """The remainder with the sign of x; of integers too."""
    x, y = strong_together(e, *real_operands(e, "fmod", x, y))
    scalar = promote(e, x, y)
    if scalar.kind == "f":
        return Number(math_op(e, "fmod", as_numpy(e, x, scalar), as_numpy(e, y, scalar)), True)
    return e.call(known(_remainder_of_integers), [Number(as_numpy(e, v, scalar), True) for v in (x, y)])


def _remainder_of_integers(x: Any, y: Any) -> Any:
    rest = abs(x) % abs(y)
    return select(x < 0, -rest, rest)


# ------------------------------------------------------------------------------------------------ signs


@ufunc(np.sign)
def _sign(e: Evaluator, x: Abstract, /) -> Abstract:
    x = strong(e, x)
    if number_type(x) is BOOL:
        no_loop(e, "sign", BOOL)
    return e.call(known(_complex_sign if isinstance(x, ComplexValue) else sign), [x])


def sign(x: Any) -> Any:
    number = x.dtype.type
    return select(x > 0, number(1), select(x < 0, number(0) - number(1), select(x == x, number(0), x * number(0))))


def _complex_sign(z: Any) -> Any:
    size = abs(z)
    if size == math.inf:
        return _infinite_sign(z.real, z.imag)
    return z / size if size > 0 else z * 0


def _infinite_sign(x: float, y: float) -> complex:
    """The sign of a complex number with an infinite part; nan if both are."""
    real, imag = abs(x) == math.inf, abs(y) == math.inf
    if real and imag:
        return complex(math.nan, math.nan)
    return complex(math.copysign(1.0, x), 0.0) if real else complex(0.0, math.copysign(1.0, y))


@ufunc(np.signbit, typed=False)
def _signbit(e: Evaluator, x: Abstract, /) -> Abstract:
    x = strong(e, x)
    if number_type(x) in (BOOL, U8):
        return Number(const(False), True)
    (value,) = float_operands(e, "signbit", x)
    return Number(e.op("lt", e.op("copysign", const(1.0, value.type), value), const(0.0, value.type)), True)


@ufunc(np.heaviside)
def _heaviside(e: Evaluator, x: Abstract, h: Abstract, /) -> Abstract:
    return on_floats("heaviside", heaviside)(e, x, h)


def heaviside(x: Any, h: Any) -> Any:
    number = x.dtype.type
    return select(x < 0, number(0), select(x > 0, number(1), select(x == 0, h, x * number(0))))


# --------------------------------------------------------------------------------------- parts of floats


@ufunc(np.modf)
def _modf(e: Evaluator, x: Abstract, /) -> Abstract:
    return e.call(known(modf), [Number(v, True) for v in float_operands(e, "modf", x)])


def modf(x: Any) -> Any:
    whole = machine("trunc", x)
    rest = select(machine("eq", machine("abs", x), math.inf), x.dtype.type(0), x - whole)
    return machine("copysign", rest, x), whole


@ufunc(np.frexp, typed=False)
def _frexp(e: Evaluator, x: Abstract, /) -> Abstract:
    (value,) = float_operands(e, "frexp", x)
    pair = e.call(known(frexp_of), [Number(e.builder.cast(value, F64))])
    assert isinstance(pair, TupleValue)
    mantissa, exponent = pair.items
    scalar = value.type
    assert isinstance(scalar, Scalar)
    return TupleValue(
        (
            Number(e.builder.cast(scalar_value(e, mantissa), scalar), True),
            Number(e.builder.cast(scalar_value(e, exponent, I64), I32), True),
        )
    )


@ufunc(np.ldexp, typed=False)
def _ldexp(e: Evaluator, x: Abstract, n: Abstract, /) -> Abstract:
    kind = number_type(n)
    if kind is None or kind.kind not in "iub":
        e.type_error(
            "ufunc 'ldexp' not supported for the input types, and the inputs could not be safely coerced to any supported "
            "types according to the casting rule ''safe''"
        )
    (value,) = float_operands(e, "ldexp", x)
    scalar = value.type
    assert isinstance(scalar, Scalar)
    whole = Number(e.builder.cast(scalar_value(e, n), I64))
    scaled = e.call(known(scale_by_two), [Number(e.builder.cast(value, F64)), whole])
    return Number(e.builder.cast(scalar_value(e, scaled), scalar), True)


@ufunc(np.spacing)
def _spacing(e: Evaluator, x: Abstract, /) -> Abstract:
    (value,) = float_operands(e, "spacing", x)
    below = e.op("lt", value, const(0.0, value.type))
    away = e.op("select", below, const(-math.inf, value.type), const(math.inf, value.type))
    gap = e.op("sub", e.op("nextafter", e.op("stop", value), away), e.op("stop", value))
    return Number(gap, True)


# ---------------------------------------------------------------------------------------------- angles


def _scaled(factor: float, name: str) -> Element:
    def emitter(e: Evaluator, x: Abstract, /) -> Abstract:
        (value,) = float_operands(e, name, x)
        scale = float(np.float32(factor)) if value.type is F32 else factor
        return Number(e.op("mul", value, const(scale, value.type)), True)

    return emitter


ufunc(np.deg2rad, np.radians)(_scaled(math.pi / 180.0, "deg2rad"))
ufunc(np.rad2deg, np.degrees)(_scaled(180.0 / math.pi, "rad2deg"))


# ------------------------------------------------------------------------------- logarithms of sums


def _shares(x: Any, y: Any, factor: float) -> Any:
    """The smaller exponential over the larger, and what each is of their sum."""
    same_infinity = machine("and", x == y, machine("eq", machine("abs", x), math.inf))
    gap = select(same_infinity, x.dtype.type(0), y - x)
    ratio = np.exp(select(gap > 0, -gap, gap) * factor)
    one = x.dtype.type(1)
    return ratio, select(gap > 0, ratio, one) / (one + ratio), select(gap > 0, one, ratio) / (one + ratio), gap


def logaddexp(x: Any, y: Any) -> Any:
    ratio, p, q, gap = _shares(x, y, 1.0)
    value = select(x == y, x + x.dtype.type(math.log(2.0)), select(gap > 0, y, x) + np.log1p(ratio))
    return machine("slope", machine("slope", cut(value), p, x), q, y)


def logaddexp2(x: Any, y: Any) -> Any:
    ratio, p, q, gap = _shares(x, y, math.log(2.0))
    log = np.log1p(ratio) * x.dtype.type(1.0 / math.log(2.0))
    value = select(x == y, x + x.dtype.type(1.0), select(gap > 0, y, x) + log)
    return machine("slope", machine("slope", cut(value), p, x), q, y)


ufunc(np.logaddexp)(on_floats("logaddexp", logaddexp))
ufunc(np.logaddexp2)(on_floats("logaddexp2", logaddexp2))


# ------------------------------------------------------------------------------------------- integers


def _of_integers(name: str, function: Any) -> Element:
    def emitter(e: Evaluator, x: Abstract, y: Abstract, /) -> Abstract:
        x, y = strong_together(e, *real_operands(e, name, x, y))
        scalar = promote(e, x, y)
        if scalar.kind not in "iu":
            no_loop(e, name, scalar, scalar)
        result = e.call(known(function), [Number(as_numpy(e, v, scalar), True) for v in (x, y)])
        return Number(e.op("stop", e.builder.cast(scalar_value(e, result), scalar)), True)

    return emitter


def _gcd(x: Any, y: Any) -> Any:
    x, y = abs(x), abs(y)
    while y != 0:
        x, y = y, x % y
    return abs(x)  # the smallest integer is its own absolute value


def _lcm(x: Any, y: Any) -> Any:
    common = _gcd(x, y)
    return x * 0 if common == 0 else abs(x) // common * abs(y)


ufunc(np.gcd)(_of_integers("gcd", _gcd))
ufunc(np.lcm)(_of_integers("lcm", _lcm))
