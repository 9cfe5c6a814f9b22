"""The functions of `cmath`, raising what CPython raises.

They are Python code on real and imaginary part, after the algorithms that CPython uses, so that results agree with it to the
last bit.  For infinities and nans CPython is asked itself.  Where an algorithm takes absolute values and signs apart, the
derivative is stated in closed form (`complexes.with_slope`); elsewhere it is that of the code.
"""

from __future__ import annotations

import cmath
import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zyg.frontend import complexes, operators, scalars
from zyg.frontend.merging import settled
from zyg.frontend.scalars import boolean
from zyg.frontend.values import Abstract, ComplexValue, Known, Number, TupleValue, is_numeric, known
from zyg.ir.core import Const, const

from .intrinsics import machine, python_complex, to_f64
from .math_ import DOMAIN, RANGE, real, scale_by_two
from .registry import emits, implements

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

LARGE = sys.float_info.max / 4.0
SQRT_LARGE = math.sqrt(LARGE)
LOG_LARGE = math.log(LARGE)
SMALLEST_NORMAL = sys.float_info.min
SQRT_SMALLEST = math.sqrt(SMALLEST_NORMAL)
LN2, LN10 = math.log(2.0), math.log(10.0)


def argument(e: Evaluator, v: Abstract) -> ComplexValue:
    """An argument as a Python complex number."""
    v = settled(e, v, "must be real number, not NoneType")
    if not is_numeric(v):
        from zyg.frontend.classes import operator_method

        own = operator_method(e, "complex", v)
        if own is not None:
            return argument(e, own)
        v = Number(real(e, v))
    if isinstance(v, ComplexValue):
        return ComplexValue(v.re, v.im)
    value = scalars.to_float(e, v)
    return ComplexValue(Known(value.value) if isinstance(value, Const) else Number(value), Known(0.0))


def quietly(function: Callable[..., complex]) -> Callable[[complex], complex]:
    """`function` without exceptions."""

    def quiet(z: complex) -> complex:
        try:
            return function(z)
        except (ValueError, OverflowError):
            return complex(math.nan, math.nan)

    return quiet


class Function:
    """How a function of one complex number is compiled."""

    def __init__(self, function: Any, algorithm: Any, slope: Any = None):
        self.function = function
        self.algorithm = algorithm
        self.slope = slope
        self.quiet = quietly(function)

    def emit(self, e: Evaluator, z: ComplexValue, checked: bool) -> ComplexValue:
        outside = Known(self.function if checked else self.quiet)
        found = e.call(known(self.algorithm), [z.re, z.im, Known(checked), outside])
        assert isinstance(found, TupleValue)
        result = ComplexValue(found.items[0], found.items[1])
        if self.slope is None or e.context.level == 0:
            return result
        return complexes.with_slope(e, result, self.slope, [z], z)

    def __call__(self, e: Evaluator, z: Abstract, /) -> Abstract:
        z = argument(e, z)
        python = e.options.error_model == "python"
        given = complexes.constant(z)
        if given is not None and python:
            return operators.fold(e, self.function, given)
        return self.emit(e, z, python)

    def of_numpy(self, e: Evaluator, z: ComplexValue, outside: Any) -> ComplexValue:
        """As NumPy's function `outside`: no exceptions, and a NumPy scalar."""
        found = e.call(known(numpys), [Known(self.algorithm), Known(outside), z.re, z.im])
        assert isinstance(found, TupleValue)
        result = ComplexValue(found.items[0], found.items[1], True)
        if self.slope is None or e.context.level == 0:
            return result
        return complexes.with_slope(e, result, self.slope, [z], z)


def numpys(algorithm: Any, outside: Any, re: float, im: float) -> tuple[float, float]:
    """NumPy is asked itself where arguments or results are infinite or nan."""
    if finite(re, im):
        x, y = algorithm(re, im, False, outside)
        if finite(x, y):
            return x, y
    return python_complex(outside, re, im)


FUNCTIONS: dict[Any, Function] = {}


def function(target: Any, slope: Any = None) -> Callable[[Any], Any]:
    def register(algorithm: Any) -> Any:
        FUNCTIONS[target] = made = Function(target, algorithm, slope)
        emits(target)(made)
        return algorithm

    return register


def in_range(re: float, im: float, checked: bool) -> tuple[float, float]:
    if checked and (math.isinf(re) or math.isinf(im)):
        raise OverflowError(RANGE)
    return re, im


def finite(re: float, im: float) -> bool:
    return machine("lt", machine("abs", re), math.inf) and machine("lt", machine("abs", im), math.inf)


# ------------------------------------------------------------------------------- exponential, trigonometric


@function(cmath.exp)
def exp(re: float, im: float, checked: bool, outside: Any) -> tuple[float, float]:
    if not finite(re, im):
        return python_complex(outside, re, im)
    if re > LOG_LARGE:
        size = machine("exp", re - 1.0)
        return in_range(size * machine("cos", im) * math.e, size * machine("sin", im) * math.e, checked)
    size = machine("exp", re)
    return in_range(size * machine("cos", im), size * machine("sin", im), checked)


@function(cmath.cosh)
def cosh(re: float, im: float, checked: bool, outside: Any) -> tuple[float, float]:
    if not finite(re, im):
        return python_complex(outside, re, im)
    return cosh_of_finite(re, im, checked)


def cosh_of_finite(re: float, im: float, checked: bool) -> tuple[float, float]:
    if abs(re) > LOG_LARGE:
        less = re - machine("copysign", 1.0, re)
        x = machine("cos", im) * machine("cosh", less) * math.e
        return in_range(x, machine("sin", im) * machine("sinh", less) * math.e, checked)
    x = machine("cos", im) * machine("cosh", re)
    return in_range(x, machine("sin", im) * machine("sinh", re), checked)


@function(cmath.sinh)
def sinh(re: float, im: float, checked: bool, outside: Any) -> tuple[float, float]:
    if not finite(re, im):
        return python_complex(outside, re, im)
    return sinh_of_finite(re, im, checked)


def sinh_of_finite(re: float, im: float, checked: bool) -> tuple[float, float]:
    if abs(re) > LOG_LARGE:
        less = re - machine("copysign", 1.0, re)
        x = machine("cos", im) * machine("sinh", less) * math.e
        return in_range(x, machine("sin", im) * machine("cosh", less) * math.e, checked)
    x = machine("cos", im) * machine("sinh", re)
    return in_range(x, machine("sin", im) * machine("cosh", re), checked)


@function(cmath.cos)
def cos(re: float, im: float, checked: bool, outside: Any) -> tuple[float, float]:
    if not finite(re, im):
        return python_complex(outside, re, im)
    return cosh_of_finite(-im, re, checked)


@function(cmath.sin)
def sin(re: float, im: float, checked: bool, outside: Any) -> tuple[float, float]:
    if not finite(re, im):
        return python_complex(outside, re, im)
    x, y = sinh_of_finite(-im, re, checked)
    return y, -x


def tanh_slope(z: complex) -> complex:
    inverse = 1.0 / cmath.cosh(z)
    return inverse * inverse


def tan_slope(z: complex) -> complex:
    inverse = 1.0 / cmath.cos(z)
    return inverse * inverse


@function(cmath.tanh, tanh_slope)
def tanh(re: float, im: float, checked: bool, outside: Any) -> tuple[float, float]:
    if not finite(re, im):
        return python_complex(outside, re, im)
    return tanh_of_finite(re, im)


def tanh_of_finite(re: float, im: float) -> tuple[float, float]:
    if abs(re) > LOG_LARGE:
        y = 4.0 * machine("sin", im) * machine("cos", im) * machine("exp", -2.0 * abs(re))
        return machine("copysign", 1.0, re), y
    tx, ty = machine("tanh", re), machine("tan", im)
    cx = 1.0 / machine("cosh", re)
    product = tx * ty
    denominator = 1.0 + product * product
    return tx * (1.0 + ty * ty) / denominator, ((ty / denominator) * cx) * cx


@function(cmath.tan, tan_slope)
def tan(re: float, im: float, checked: bool, outside: Any) -> tuple[float, float]:
    if not finite(re, im):
        return python_complex(outside, re, im)
    x, y = tanh_of_finite(-im, re)
    return y, -x


# ---------------------------------------------------------------------------------------- roots, logarithms


def sqrt_slope(z: complex) -> complex:
    return 0.5 / cmath.sqrt(z)


@function(cmath.sqrt, sqrt_slope)
def sqrt(re: float, im: float, checked: bool, outside: Any) -> tuple[float, float]:
    if not finite(re, im):
        return python_complex(outside, re, im)
    return sqrt_of_finite(re, im)


def sqrt_of_finite(re: float, im: float) -> tuple[float, float]:
    if re == 0.0 and im == 0.0:
        return 0.0, im
    ax, ay = abs(re), abs(im)
    if ax < SMALLEST_NORMAL and ay < SMALLEST_NORMAL:
        ax = scale_by_two(ax, 53)
        s = scale_by_two(machine("sqrt", ax + machine("modulus", ax, scale_by_two(ay, 53))), -27)
    else:
        ax = ax / 8.0
        s = 2.0 * machine("sqrt", ax + machine("modulus", ax, ay / 8.0))
    d = ay / (2.0 * s)
    if re >= 0.0:
        return s, machine("copysign", d, im)
    return d, machine("copysign", s, im)


def log_slope(z: complex) -> complex:
    return 1.0 / z


def log10_slope(z: complex) -> complex:
    return 1.0 / (z * LN10)


@function(cmath.log10, log10_slope)
def log10(re: float, im: float, checked: bool, outside: Any) -> tuple[float, float]:
    if not finite(re, im):
        return python_complex(outside, re, im)
    if checked and re == 0.0 and im == 0.0:
        raise ValueError(DOMAIN)
    x, y = log_of_finite(re, im)
    return x / LN10, y / LN10


def log(re: float, im: float, checked: bool, outside: Any) -> tuple[float, float]:
    if not finite(re, im):
        return python_complex(outside, re, im)
    if checked and re == 0.0 and im == 0.0:
        raise ValueError(DOMAIN)
    return log_of_finite(re, im)


def log_of_finite(re: float, im: float) -> tuple[float, float]:
    ax, ay = abs(re), abs(im)
    angle = machine("atan2", im, re)
    if ax > LARGE or ay > LARGE:
        return machine("log", machine("modulus", ax / 2.0, ay / 2.0)) + LN2, angle
    if ax < SMALLEST_NORMAL and ay < SMALLEST_NORMAL:
        size = machine("modulus", scale_by_two(ax, 53), scale_by_two(ay, 53))
        return machine("log", size) - 53 * LN2, angle
    size = machine("modulus", ax, ay)
    if 0.71 <= size <= 1.73:
        larger, smaller = (ax, ay) if ax > ay else (ay, ax)
        return machine("log1p", (larger - 1.0) * (larger + 1.0) + smaller * smaller) / 2.0, angle
    return machine("log", size), angle


_LOG = FUNCTIONS[cmath.log] = Function(cmath.log, log, log_slope)


@emits(cmath.log)
def _log(e: Evaluator, z: Abstract, base: Abstract | None = None, /) -> Abstract:
    if base is None:
        return _LOG(e, z)
    z, base = argument(e, z), argument(e, base)
    python = e.options.error_model == "python"
    x, y = complexes.constant(z), complexes.constant(base)
    if python and x is not None and y is not None:
        return operators.fold(e, cmath.log, x, y)
    if python:
        # CPython forgets the domain error of the first logarithm; that of the second and of the division count.
        _not_zero(e, base)
    # The logarithm of 1 is the one that is 0.
    top, bottom = _LOG.emit(e, z, False), _LOG.emit(e, base, False)
    if python:
        _not_zero(e, bottom)
        return complexes.quotient(e, complexes.values(e, top), complexes.values(e, bottom))
    return complexes.arithmetic(e, "truediv", top, bottom)


def _not_zero(e: Evaluator, z: ComplexValue) -> None:
    flag = complexes.truth(e, z)
    e.guard(flag, "ValueError", DOMAIN)


# ------------------------------------------------------------------------------------------------ inverses


def asin_slope(z: complex) -> complex:
    return 1.0 / (cmath.sqrt(1.0 - z) * cmath.sqrt(1.0 + z))


def acos_slope(z: complex) -> complex:
    return -1.0 / (cmath.sqrt(1.0 - z) * cmath.sqrt(1.0 + z))


def acosh_slope(z: complex) -> complex:
    return 1.0 / (cmath.sqrt(z - 1.0) * cmath.sqrt(z + 1.0))


def asinh_slope(z: complex) -> complex:
    return 1.0 / (cmath.sqrt(complex(1.0 + z.imag, -z.real)) * cmath.sqrt(complex(1.0 - z.imag, z.real)))


def atan_slope(z: complex) -> complex:
    return 1.0 / (complex(1.0 + z.imag, -z.real) * complex(1.0 - z.imag, z.real))


def atanh_slope(z: complex) -> complex:
    return 1.0 / ((1.0 - z) * (1.0 + z))


def is_large(re: float, im: float) -> bool:
    return abs(re) > LARGE or abs(im) > LARGE


def log_of_large(re: float, im: float) -> float:
    return machine("log", machine("modulus", re / 2.0, im / 2.0)) + LN2 * 2.0


@function(cmath.acos, acos_slope)
def acos(re: float, im: float, checked: bool, outside: Any) -> tuple[float, float]:
    if not finite(re, im):
        return python_complex(outside, re, im)
    if is_large(re, im):
        size = log_of_large(re, im)
        y = -machine("copysign", size, im) if re < 0.0 else machine("copysign", size, -im)
        return machine("atan2", abs(im), re), y
    ar, ai = sqrt_of_finite(1.0 - re, -im)
    br, bi = sqrt_of_finite(1.0 + re, im)
    return 2.0 * machine("atan2", ar, br), machine("asinh", br * ai - bi * ar)


@function(cmath.acosh, acosh_slope)
def acosh(re: float, im: float, checked: bool, outside: Any) -> tuple[float, float]:
    if not finite(re, im):
        return python_complex(outside, re, im)
    if is_large(re, im):
        return log_of_large(re, im), machine("atan2", im, re)
    ar, ai = sqrt_of_finite(re - 1.0, im)
    br, bi = sqrt_of_finite(re + 1.0, im)
    return machine("asinh", ar * br + ai * bi), 2.0 * machine("atan2", ai, br)


@function(cmath.asinh, asinh_slope)
def asinh(re: float, im: float, checked: bool, outside: Any) -> tuple[float, float]:
    if not finite(re, im):
        return python_complex(outside, re, im)
    return asinh_of_finite(re, im)


def asinh_of_finite(re: float, im: float) -> tuple[float, float]:
    if is_large(re, im):
        size = log_of_large(re, im)
        x = machine("copysign", size, re) if im >= 0.0 else -machine("copysign", size, -re)
        return x, machine("atan2", im, abs(re))
    ar, ai = sqrt_of_finite(1.0 + im, -re)
    br, bi = sqrt_of_finite(1.0 - im, re)
    return machine("asinh", ar * bi - br * ai), machine("atan2", im, ar * br - ai * bi)


@function(cmath.asin, asin_slope)
def asin(re: float, im: float, checked: bool, outside: Any) -> tuple[float, float]:
    if not finite(re, im):
        return python_complex(outside, re, im)
    x, y = asinh_of_finite(-im, re)
    return y, -x


@function(cmath.atanh, atanh_slope)
def atanh(re: float, im: float, checked: bool, outside: Any) -> tuple[float, float]:
    if not finite(re, im):
        return python_complex(outside, re, im)
    return atanh_of_finite(re, im, checked)


def atanh_of_finite(re: float, im: float, checked: bool) -> tuple[float, float]:
    if machine("copysign", 1.0, re) < 0.0:
        x, y = atanh_of_positive(-re, -im, checked)
        return -x, -y
    return atanh_of_positive(re, im, checked)


def atanh_of_positive(re: float, im: float, checked: bool) -> tuple[float, float]:
    ay = abs(im)
    if re > SQRT_LARGE or ay > SQRT_LARGE:
        h = machine("modulus", re / 2.0, im / 2.0)
        return re / 4.0 / h / h, -machine("copysign", math.pi / 2.0, -im)
    if re == 1.0 and ay < SQRT_SMALLEST:
        if ay == 0.0:
            if checked:
                raise ValueError(DOMAIN)
            return math.inf, im
        x = -machine("log", machine("sqrt", ay) / machine("sqrt", machine("modulus", ay, 2.0)))
        return x, machine("copysign", machine("atan2", 2.0, -ay) / 2.0, im)
    x = machine("log1p", 4.0 * re / ((1.0 - re) * (1.0 - re) + ay * ay)) / 4.0
    return x, -machine("atan2", -2.0 * im, (1.0 - re) * (1.0 + re) - ay * ay) / 2.0


@function(cmath.atan, atan_slope)
def atan(re: float, im: float, checked: bool, outside: Any) -> tuple[float, float]:
    if not finite(re, im):
        return python_complex(outside, re, im)
    x, y = atanh_of_finite(-im, re, checked)
    return y, -x


# ---------------------------------------------------------------------------------------- polar coordinates


@emits(cmath.phase)
def _phase(e: Evaluator, z: Abstract, /) -> Abstract:
    re, im = complexes.values(e, argument(e, z))
    return Number(e.op("atan2", im, re))


@emits(cmath.polar)
def _polar(e: Evaluator, z: Abstract, /) -> Abstract:
    z = argument(e, z)
    re, im = complexes.values(e, z)
    size = e.op("modulus", re, im)
    if e.options.error_model == "python":
        ok = scalars.any_of(e, scalars.finite_or_nan(e, size), scalars.not_finite(e, re), scalars.not_finite(e, im))
        e.guard(ok, "OverflowError", RANGE)
    return TupleValue((Number(size), Number(e.op("atan2", im, re))))


def _rect(z: complex) -> complex:
    return cmath.rect(z.real, z.imag)


_quiet_rect = quietly(_rect)


@emits(cmath.rect)
def _rect_emitter(e: Evaluator, r: Abstract, phi: Abstract, /) -> Abstract:
    outside = Known(_rect if e.options.error_model == "python" else _quiet_rect)
    found = e.call(known(rect), [Number(real(e, r)), Number(real(e, phi)), outside])
    assert isinstance(found, TupleValue)
    return ComplexValue(found.items[0], found.items[1])


def rect(r: float, phi: float, outside: Any) -> tuple[float, float]:
    if not finite(r, phi):
        return python_complex(outside, r, phi)
    if phi == 0.0:
        return r, r * phi
    return r * machine("cos", phi), r * machine("sin", phi)


# ------------------------------------------------------------------------------------------------- tests


def _test(name: str) -> Callable[..., Abstract]:
    def emitter(e: Evaluator, z: Abstract, /) -> Abstract:
        parts = complexes.values(e, argument(e, z))
        if name == "isnan":
            flags = [const(p.value != p.value) if isinstance(p, Const) else e.op("ne", p, p) for p in parts]
            return boolean(scalars.any_of(e, *flags))
        if name == "isinf":
            return boolean(scalars.any_of(e, *(scalars.negate(e, scalars.finite_or_nan(e, p)) for p in parts)))
        return boolean(scalars.negate(e, scalars.any_of(e, *(scalars.not_finite(e, p) for p in parts))))

    return emitter


for _name in ("isnan", "isinf", "isfinite"):
    emits(getattr(cmath, _name))(_test(_name))


@implements(cmath.isclose)
def isclose(a: complex, b: complex, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> bool:
    rel_tol, abs_tol = to_f64(rel_tol), to_f64(abs_tol)
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    if cmath.isinf(a) or cmath.isinf(b):
        return False
    difference = complex(a) - complex(b)
    diff = machine("modulus", difference.real, difference.imag)
    size_a = machine("modulus", complex(a).real, complex(a).imag)
    size_b = machine("modulus", complex(b).real, complex(b).imag)
    return diff <= rel_tol * size_b or diff <= rel_tol * size_a or diff <= abs_tol
