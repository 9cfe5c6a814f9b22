"""The functions of `math`, raising what CPython raises.

Domain checks look at the argument, so that a derivative does not need the value; overflow checks look at the value and
die with it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zyg.frontend.iterators import is_iterator
from zyg.frontend.lists import index_argument
from zyg.frontend.merging import settled
from zyg.frontend.scalars import any_of, boolean, finite_or_nan, math_op, negate, not_finite, to_float
from zyg.frontend.type_names import python_type_name
from zyg.frontend.values import (
    Abstract,
    ArrayValue,
    ComplexValue,
    Known,
    Number,
    TupleValue,
    is_number,
    known,
    number_type,
)
from zyg.ir.core import Const, Value, const
from zyg.ir.types import F64

from .builtins_ import int_of_float
from .intrinsics import check, cut, is_now, machine, select, to_f64
from .registry import emits, implements

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

DOMAIN, RANGE = "math domain error", "math range error"


def real(e: Evaluator, v: Abstract) -> Value:
    """An argument of a math function as a float."""
    v = settled(e, v, "must be real number, not NoneType")
    if isinstance(v, ArrayValue) and v.type.ndim == 0:
        v = Number(e.op("load", v.value), True)
    if not is_number(v):
        from zyg.frontend.classes import operator_method

        own = operator_method(e, "float", v)
        if own is not None:
            return real(e, own)
        if isinstance(v, ArrayValue):
            e.type_error("only length-1 arrays can be converted to Python scalars")
        if isinstance(v, ComplexValue) and v.numpy:
            raise e.refuse(
                "NumPy's complex number as a real one: NumPy drops the imaginary part, with a warning",
                hint="write z.real",
            )
        e.type_error(f"must be real number, not {python_type_name(e, v)}")
    return to_float(e, v)


# ------------------------------------------------------------------------------------ one float, one op

Domain = Callable[["Evaluator", Value], Value]


def _constant_or(test: Callable[[float], bool], emit: Domain) -> Domain:
    """The condition, decided at once for a constant."""
    return lambda e, x: const(test(x.value)) if isinstance(x, Const) else emit(e, x)


_finite = _constant_or(lambda x: abs(x) != math.inf, lambda e, x: e.op("ne", e.op("abs", x), const(math.inf)))
_unit = _constant_or(lambda x: not abs(x) > 1, lambda e, x: negate(e, e.op("gt", e.op("abs", x), const(1.0))))
_inside_unit = _constant_or(lambda x: not abs(x) >= 1, lambda e, x: negate(e, e.op("ge", e.op("abs", x), const(1.0))))


def _not_below(bound: float) -> Domain:
    return _constant_or(lambda x: not x < bound, lambda e, x: negate(e, e.op("lt", x, const(bound))))


def _above(bound: float) -> Domain:
    return _constant_or(lambda x: not x <= bound, lambda e, x: negate(e, e.op("le", x, const(bound))))


def _anywhere(e: Evaluator, x: Value) -> Value:
    return const(True)


def _no_pole(e: Evaluator, x: Value) -> Value:
    """Not 0 and not a negative integer."""
    if isinstance(x, Const):
        return const(not (x.value <= 0 and x.value == math.floor(x.value)) if math.isfinite(x.value) else True)
    whole = e.op("eq", e.op("floor", x), x)
    return any_of(e, negate(e, e.op("le", x, const(0.0))), negate(e, whole), not_finite(e, x))


def _gamma_domain(e: Evaluator, x: Value) -> Value:
    poles = _no_pole(e, x)
    bottom = const(x.value != -math.inf) if isinstance(x, Const) else e.op("ne", x, const(-math.inf))
    if isinstance(poles, Const) and isinstance(bottom, Const):
        return const(poles.value and bottom.value)
    return e.op("and", poles, bottom)


# name: (where the function is defined, whether it can overflow)
_UNARY: dict[str, tuple[Domain, bool]] = {
    "sin": (_finite, False),
    "cos": (_finite, False),
    "tan": (_finite, False),
    "asin": (_unit, False),
    "acos": (_unit, False),
    "atan": (_anywhere, False),
    "sinh": (_anywhere, True),
    "cosh": (_anywhere, True),
    "tanh": (_anywhere, False),
    "asinh": (_anywhere, False),
    "acosh": (_not_below(1.0), False),
    "atanh": (_inside_unit, False),
    "sqrt": (_not_below(0.0), False),
    "cbrt": (_anywhere, False),
    "exp": (_anywhere, True),
    "exp2": (_anywhere, True),
    "expm1": (_anywhere, True),
    "log": (_above(0.0), False),
    "log2": (_above(0.0), False),
    "log10": (_above(0.0), False),
    "log1p": (_above(-1.0), False),
    "erf": (_anywhere, False),
    "erfc": (_anywhere, False),
    "gamma": (_gamma_domain, True),
    "lgamma": (_no_pole, True),
}


def apply(e: Evaluator, name: str, v: Abstract) -> Abstract:
    """A function of one float: the domain check, the op, the overflow check."""
    domain, overflows = _UNARY[name]
    x = real(e, v)
    python = e.options.error_model == "python"
    if python:
        e.guard(domain(e, x), "ValueError", DOMAIN)
    if isinstance(x, Const):
        try:
            return Known(getattr(math, name)(x.value))
        except OverflowError:
            if python:
                e.throw("OverflowError", RANGE)
        except ValueError:
            pass
    result = math_op(e, name, x)
    if overflows and python:
        e.guard(any_of(e, finite_or_nan(e, result), not_finite(e, x)), "OverflowError", RANGE)
    return Number(result)


def _unary(name: str) -> Callable[..., Abstract]:
    return lambda e, x, /: apply(e, name, x)


for _name in _UNARY:
    if _name != "log":
        emits(getattr(math, _name))(_unary(_name))


@emits(math.log)
def _log(e: Evaluator, x: Abstract, base: Abstract | None = None, /) -> Abstract:
    value = apply(e, "log", x)
    if base is None:
        return value
    from zyg.frontend.operators import binary

    return binary(e, "truediv", value, apply(e, "log", base))


@emits(math.fabs)
def _fabs(e: Evaluator, x: Abstract, /) -> Abstract:
    return Number(e.op("abs", real(e, x)))


# -------------------------------------------------------------------------------------------- two floats


@emits(math.atan2)
def _atan2(e: Evaluator, y: Abstract, x: Abstract, /) -> Abstract:
    return Number(math_op(e, "atan2", real(e, y), real(e, x)))


@emits(math.copysign)
def _copysign(e: Evaluator, x: Abstract, y: Abstract, /) -> Abstract:
    return Number(e.op("copysign", real(e, x), real(e, y)))


def _nan(e: Evaluator, x: Value) -> Value:
    return const(x.value != x.value) if isinstance(x, Const) else e.op("ne", x, x)


def _remainder_like(op: str) -> Callable[..., Abstract]:
    def emitter(e: Evaluator, x: Abstract, y: Abstract, /) -> Abstract:
        a, b = real(e, x), real(e, y)
        if e.options.error_model == "python":
            nonzero = const(b.value != 0) if isinstance(b, Const) else e.op("ne", b, const(0.0))
            finite = _finite(e, a)
            if isinstance(nonzero, Const):
                ok = finite if nonzero.value else const(False)
            else:
                ok = nonzero if isinstance(finite, Const) and finite.value else e.op("and", nonzero, finite)
            e.guard(any_of(e, ok, _nan(e, a), _nan(e, b)), "ValueError", DOMAIN)
        return Number(e.op(op, a, b))

    return emitter


emits(math.fmod)(_remainder_like("fmod"))
emits(math.remainder)(_remainder_like("remainder"))


@emits(math.pow)
def _pow(e: Evaluator, x: Abstract, y: Abstract, /) -> Abstract:
    a, b = real(e, x), real(e, y)
    if e.options.error_model == "python":
        # x < 0 with a fractional y, and 0 with a negative y (-inf excepted), are outside of the domain.
        whole = any_of(e, e.op("eq", e.op("floor", b), b), not_finite(e, b), _nan(e, a), not_finite(e, a))
        e.guard(any_of(e, e.op("ge", a, const(0.0)), whole), "ValueError", DOMAIN)
        e.guard(
            any_of(e, e.op("ne", a, const(0.0)), negate(e, e.op("lt", b, const(0.0))), not_finite(e, b)),
            "ValueError",
            DOMAIN,
        )
    result = e.op("mul", a, a) if isinstance(b, Const) and b.value == 2.0 else math_op(e, "pow", a, b)
    if e.options.error_model == "python":
        e.guard(any_of(e, finite_or_nan(e, result), not_finite(e, a), not_finite(e, b)), "OverflowError", RANGE)
    return Number(result)


@implements(math.nextafter)
def nextafter(x: float, y: float, /, *, steps: Any = None) -> float:
    if steps is None:
        return machine("nextafter", to_f64(x), to_f64(y))
    if steps < 0:
        raise ValueError("steps must be a non-negative integer")
    x = to_f64(x)
    for _ in range(steps):
        if x == y:
            break
        x = machine("nextafter", x, to_f64(y))
    return x


@implements(math.ulp)
def ulp(x: float, /) -> float:
    x = abs(to_f64(x))
    if math.isnan(x) or math.isinf(x):
        return x
    following = machine("nextafter", x, math.inf)
    if following == math.inf:
        return cut(x - machine("nextafter", x, -math.inf))
    return cut(following - x)


if sys.version_info >= (3, 13):

    @implements(math.fma)
    def fma(x: float, y: float, z: float, /) -> float:
        x, y, z = to_f64(x), to_f64(y), to_f64(z)
        result = machine("fma", x, y, z)
        if math.isnan(result) and not (math.isnan(x) or math.isnan(y) or math.isnan(z)):
            raise ValueError("invalid operation in fma")
        if math.isinf(result) and math.isfinite(x) and math.isfinite(y) and math.isfinite(z):
            raise OverflowError("overflow in fma")
        return result


# ------------------------------------------------------------------------------------- tests, conversions


@emits(math.isnan)
def _isnan(e: Evaluator, x: Abstract, /) -> Abstract:
    return boolean(_nan(e, real(e, x)))


@emits(math.isinf)
def _isinf(e: Evaluator, x: Abstract, /) -> Abstract:
    value = real(e, x)
    if isinstance(value, Const):
        return Known(math.isinf(value.value))
    return boolean(e.op("eq", e.op("abs", value), const(math.inf)))


@emits(math.isfinite)
def _isfinite(e: Evaluator, x: Abstract, /) -> Abstract:
    value = real(e, x)
    if isinstance(value, Const):
        return Known(math.isfinite(value.value))
    return boolean(e.op("lt", e.op("abs", value), const(math.inf)))


@implements(math.isclose)
def isclose(a: float, b: float, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> bool:
    a, b = to_f64(a), to_f64(b)
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    diff = abs(b - a)
    return diff <= abs(rel_tol * b) or diff <= abs(rel_tol * a) or diff <= abs_tol


def _to_integer(op: str, special: str) -> Callable[..., Abstract]:
    def emitter(e: Evaluator, x: Abstract, /) -> Abstract:
        from zyg.frontend.classes import operator_method

        x = settled(e, x, f"type NoneType doesn't define {special} method")
        scalar = number_type(x)
        if scalar is None:
            own = operator_method(e, special.strip("_"), x)
            if own is not None:
                return own
        elif scalar.kind != "f" and not (isinstance(x, Number) and x.numpy):
            return e.call(known(cut), [index_argument(e, x)])  # what is an integer by nature, as of a float
        if op == "trunc" and scalar is not F64 and not isinstance(x, Known):
            # NumPy's float64 is a float; its other numbers and arrays have no __trunc__.
            e.type_error(f"type {python_type_name(e, x)} doesn't define __trunc__ method")
        value = real(e, x)
        return e.call(known(int_of_float), [Number(e.op(op, value)) if op != "trunc" else Number(value)])

    return emitter


emits(math.floor)(_to_integer("floor", "__floor__"))
emits(math.ceil)(_to_integer("ceil", "__ceil__"))
emits(math.trunc)(_to_integer("trunc", "__trunc__"))


@implements(math.degrees)
def degrees(x: float, /) -> float:
    return to_f64(x) * (180.0 / math.pi)


@implements(math.radians)
def radians(x: float, /) -> float:
    return to_f64(x) * (math.pi / 180.0)


@implements(math.modf)
def modf(x: float, /) -> tuple[float, float]:
    x = to_f64(x)
    whole = machine("trunc", x)
    rest = select(machine("eq", machine("abs", x), math.inf), 0.0, machine("sub", x, whole))
    return machine("copysign", rest, x), whole


def power_of_two(n: int) -> float:
    """2.0**n for -1022 <= n <= 1023, exactly."""
    return machine("exp2", to_f64(n))


@implements(math.ldexp)
def ldexp(x: float, i: int, /) -> float:
    if not isinstance(i, int):
        raise TypeError("Expected an int as second argument to ldexp.")
    x = to_f64(x)
    result = scale_by_two(x, i)
    check(
        machine("or", machine("ne", machine("abs", result), math.inf), machine("eq", machine("abs", x), math.inf)),
        OverflowError,
        "math range error",
    )
    return result


def scale_by_two(x: float, n: int) -> float:
    """x * 2**n, rounded once: the steps before the last are exact."""
    if n > 1023:
        x = x * 8.98846567431158e307  # 2**1023
        n = n - 1023
        if n > 1023:
            x = x * 8.98846567431158e307
            n = min(n - 1023, 1023)
    elif n < -1022:
        # 2**-969: the result of a step is either normal or so small that the last step rounds it to 0.
        x = x * 2.004168360008973e-292
        n = n + 969
        if n < -1022:
            x = x * 2.004168360008973e-292
            n = max(n + 969, -1022)
    return x * power_of_two(n)


@implements(math.frexp)
def frexp(x: float, /) -> tuple[float, int]:
    x = to_f64(x)
    if x == 0.0 or not math.isfinite(x):
        return x, 0
    exponent = int_of_float(machine("floor", machine("log2", machine("abs", x)))) + 1
    mantissa = scale_by_two(x, -exponent)
    if abs(mantissa) >= 1.0:
        return mantissa * 0.5, exponent + 1
    if abs(mantissa) < 0.5:
        return mantissa * 2.0, exponent - 1
    return mantissa, exponent


# ------------------------------------------------------------------------------------------ several floats


@emits(math.hypot)
def _hypot(e: Evaluator, *coordinates: Abstract) -> Abstract:
    values = [real(e, v) for v in coordinates]
    if not values:
        return Known(0.0)
    if len(values) == 1:
        return Number(e.op("abs", values[0]))
    if len(values) == 2:
        return Number(e.op("hypot", *values))
    return e.call(known(vector_norm), [TupleValue(tuple(map(Number, values)))])


def vector_norm(vector: Any) -> float:
    """The Euclidean norm as CPython computes it: scaled, with compensated squares and one Newton step."""
    largest = 0.0
    found_nan = False
    count = 0
    for x in vector:
        size = machine("abs", to_f64(x))
        found_nan = machine("or", found_nan, machine("ne", size, size))
        largest = select(machine("gt", size, largest), size, largest)
        count += 1
    largest = cut(largest)
    if largest == math.inf:
        return largest
    if found_nan:
        return math.nan
    if largest == 0.0:
        total = 0.0
        for x in vector:
            total += to_f64(x) * to_f64(x)
        return machine("sqrt", total)
    if count == 1:
        for x in vector:
            return machine("abs", to_f64(x))
    unit = 1.0
    if largest < 1.1125369292536007e-308:  # 2**-1023: the scale would overflow, so make them normal first
        unit = 2.2250738585072014e-308
        largest = largest / unit
    exponent = frexp(largest)[1]
    scale = power_of_two(-exponent)
    total = 1.0
    low_squares = 0.0
    low_sums = 0.0
    for x in vector:
        x = to_f64(x) / unit * scale
        square = x * x
        low_squares += cut(machine("fma", cut(x), cut(x), -cut(square)))
        following = total + square
        low_sums += cut(square) - (cut(following) - cut(total))
        total = following
    h = machine("sqrt", total - 1.0 + (low_squares + low_sums))
    fixed = cut(h)
    square = -fixed * fixed
    low_squares += machine("fma", -fixed, fixed, -square)
    following = cut(total) + square
    low_sums += square - (following - cut(total))
    rest = following - 1.0 + (low_squares + low_sums)
    h += rest / (2.0 * fixed)
    return unit * (h / scale)


@implements(math.dist)
def dist(p: Any, q: Any, /) -> float:
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    return vector_norm([to_f64(a) - to_f64(b) for a, b in zip(p, q)])


@implements(math.fsum)
def fsum(seq: Any, /) -> float:
    """The sum, rounded once (Shewchuk's partial sums that do not overlap; at most 40 doubles do not)."""
    import numpy as np

    partials = np.empty(64)
    count = 0
    special = 0.0
    plain = 0.0
    for value in seq:
        y = to_f64(value)
        plain += y
        x = cut(y)
        original = x
        kept = 0
        for j in range(count):
            other = machine("add", float(partials[j]), 0.0)
            big = machine("abs", x) < machine("abs", other)
            larger = select(big, other, x)
            smaller = select(big, x, other)
            high = larger + smaller
            low = smaller - (high - larger)
            if low != 0.0:
                partials[kept] = low
                kept += 1
            x = high
        count = kept
        if x != 0.0:
            if not math.isfinite(x):
                if math.isfinite(original):
                    raise OverflowError("intermediate overflow in fsum")
                if math.isinf(original) and math.isinf(special) and original != special:
                    raise ValueError("-inf + inf in fsum")
                special += original
                count = 0
            else:
                partials[count] = x
                count += 1
    if special != 0.0:
        return special
    high = 0.0
    if count > 0:
        count -= 1
        high = float(partials[count])
        low = 0.0
        while count > 0:
            x = high
            count -= 1
            y = float(partials[count])
            high = x + y
            low = y - (high - x)
            if low != 0.0:
                break
        if count > 0 and ((low < 0.0 and partials[count - 1] < 0.0) or (low > 0.0 and partials[count - 1] > 0.0)):
            y = low * 2.0
            x = high + y
            if y == x - high:
                high = x
    # The value is `high`; the derivative is that of the plain sum.
    return cut(high) + select(math.isfinite(plain), plain - cut(plain), 0.0)


@implements(math.prod)
def prod(iterable: Any, /, *, start: Any = 1) -> Any:
    total = start
    for x in iterable:
        total = total * x
    return total


if sys.version_info >= (3, 12):

    def _with_length(x: Any) -> Any:
        """What an iterator gives as a list; other things as they are."""

    @emits(_with_length)
    def _emit_with_length(e: Evaluator, x: Abstract) -> Abstract:
        return e.call(known(list), [x]) if is_iterator(e, x) else x

    @implements(math.sumprod)
    def sumprod(p: Any, q: Any, /) -> Any:
        """The sum of products; of floats in triple length (Ogita, Rump and Oishi 2005, algorithm 5.10, K = 3)."""
        total = 0
        high = 0.0
        low = 0.0
        tiny = 0.0
        floats = False
        plain = 0.0
        p, q = _with_length(p), _with_length(q)
        if len(p) != len(q):
            raise ValueError("Inputs are not the same length")
        for x, y in zip(p, q, strict=True):
            if is_now(x, int) and is_now(y, int):
                total += x * y
            else:
                floats = True
                plain += to_f64(x) * to_f64(y)
                a, b = cut(to_f64(x)), cut(to_f64(y))
                product = a * b
                error = machine("fma", a, b, -product)
                sum_high, sum_low = two_sum(high, product)
                r1_high, r1_low = two_sum(low, error)
                r2_high, r2_low = two_sum(r1_high, sum_low)
                high = sum_high
                low = r2_high
                tiny += r1_low + r2_low
        if is_now(total, int) and not floats:
            return total
        last_high, last_low = two_sum(low, tiny)
        top, rest = two_sum(high, last_high)
        value = total + (top + (rest + last_low))
        return cut(value) + select(math.isfinite(plain), plain - cut(plain), 0.0)


def two_sum(a: float, b: float) -> tuple[float, float]:
    """The sum and its rounding error (Knuth)."""
    x = a + b
    z = x - a
    return x, (a - (x - z)) + (b - z)
