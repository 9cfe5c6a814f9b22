"""Mathematical functions that no C library has, or that CPython computes in its own way, to the last bit alike.

`math.gamma` and `math.lgamma` follow Lanczos' approximation with the coefficients of Boost (as CPython does, so that
the results agree bit for bit); `digamma` and `trigamma` are the recurrence and asymptotic series of the interpreter's
definitions in ir/trace.py; `hypot` sums the squares without rounding error and corrects the root once.

Except for `hypot`, which picks numbers apart, they are straight-line formulas: traced into IR, lowered like any
function.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ...ir.builder import Builder
from ...ir.core import Block, Function, Module, Value
from ...ir.trace import Traced, copysign, cos, equal, exp, floor, log, power, sin, where
from ...ir.types import F64
from .lower import lower
from .lowered import no_variants

LANCZOS_G = 6.024680040776729583740234375
LANCZOS_NUMERATOR = (
    23531376880.410759688572007674451636754734846804940,
    42919803642.649098768957899047001988850926355848959,
    35711959237.355668049440185451547166705960488635843,
    17921034426.037209699919755754458931112671403265390,
    6039542586.3520280050642916443072979210699388420708,
    1439720407.3117216736632230727949123939715485786372,
    248874557.86205415651146038641322942321632125127801,
    31426415.585400194380614231628318205362874684987640,
    2876370.6289353724412254090516208496135991145378768,
    186056.26539522349504029498971604569928220784236328,
    8071.6720023658162106380029022722506138218516325024,
    210.82427775157934587250973392071336271166969580291,
    2.5066282746310002701649081771338373386264310793408,
)
LANCZOS_DENOMINATOR = (
    0.0, 39916800.0, 120543840.0, 150917976.0, 105258076.0, 45995730.0, 13339535.0, 2637558.0, 357423.0, 32670.0,
    1925.0, 66.0, 1.0,
)  # fmt: skip
LOG_PI = 1.144729885849400174143427351353058711647
EXACT_FACTORIALS = 23  # gamma(n) is exact up to here


def _abs(x: Traced) -> Traced:
    return x.apply("abs", x)


def _lanczos(x: Traced) -> Traced:
    """The quotient of two polynomials, for large x in powers of 1/x, which cannot overflow."""
    small_n = small_d = 0.0 * x
    for n, d in zip(reversed(LANCZOS_NUMERATOR), reversed(LANCZOS_DENOMINATOR), strict=True):
        small_n, small_d = small_n * x + n, small_d * x + d
    large_n = large_d = 0.0 * x
    for n, d in zip(LANCZOS_NUMERATOR, LANCZOS_DENOMINATOR, strict=True):
        large_n, large_d = large_n / x + n, large_d / x + d
    return where(x < 5.0, small_n / small_d, large_n / large_d)


def _sin_pi(x: Traced) -> Traced:
    """sin(pi x), accurate also near integers."""
    y = x.apply("fmod", _abs(x), 2.0)
    n = floor(2.0 * y + 0.5)
    result = sin(math.pi * (y - 2.0))
    result = where(equal(n, 3.0), -cos(math.pi * (y - 1.5)), result)
    result = where(equal(n, 2.0), sin(math.pi * (1.0 - y)), result)
    result = where(equal(n, 1.0), cos(math.pi * (y - 0.5)), result)
    result = where(equal(n, 0.0), sin(math.pi * y), result)
    return copysign(1.0, x) * result


def gamma(x: Traced) -> Traced:
    size = _abs(x)
    y = size + (LANCZOS_G - 0.5)
    # What rounding took from y.
    error = where(size > LANCZOS_G - 0.5, (y - size) - (LANCZOS_G - 0.5), (y - (LANCZOS_G - 0.5)) - size)
    z = error * LANCZOS_G / y
    wave, total, growth = _sin_pi(size), _lanczos(size), exp(y)
    at_once = power(y, size - 0.5)
    halfway = power(y, size / 2.0 - 0.25)
    small = size < 140.0
    positive = total / growth
    positive = positive + z * positive
    positive = where(small, positive * at_once, positive * halfway * halfway)
    negative = -math.pi / wave / size * growth / total
    negative = negative - z * negative
    negative = where(small, negative / at_once, negative / halfway / halfway)
    result = where(x < 0.0, negative, positive)
    result = where(size > 200.0, where(x < 0.0, copysign(0.0, _sin_pi(x)), math.inf), result)
    result = where(size < 1e-20, 1.0 / x, result)
    for n in range(1, EXACT_FACTORIALS + 1):
        result = where(equal(x, float(n)), float(math.factorial(n - 1)), result)
    is_negative_integer = where(x < 0.0, where(equal(x, floor(x)), 1.0, 0.0), 0.0)
    return where(equal(is_negative_integer, 1.0), math.nan, result)


def lgamma(x: Traced) -> Traced:
    size = _abs(x)
    result = log(_lanczos(size)) - LANCZOS_G
    result = result + (size - 0.5) * (log(size + LANCZOS_G - 0.5) - 1.0)
    reflected = LOG_PI - log(_abs(_sin_pi(size))) - log(size) - result
    result = where(x < 0.0, reflected, result)
    result = where(size < 1e-20, -log(size), result)
    whole = where(equal(x, floor(x)), where(x > 2.0, 0.0, 1.0), 0.0)
    result = where(equal(whole, 1.0), where(x > 0.0, 0.0, math.inf), result)
    return where(equal(size, math.inf), math.inf, result)


def digamma(x: Traced) -> Traced:
    """Reflected to x >= 0.5, by recurrence to x >= 10, then the asymptotic series."""
    reflects = x < 0.5
    at = where(reflects, 1.0 - x, x)
    result = 0.0 * at
    for _ in range(10):
        below = at < 10.0
        result = where(below, result - 1.0 / at, result)
        at = where(below, at + 1.0, at)
    f = 1.0 / (at * at)
    series = f * (1 / 12 - f * (1 / 120 - f * (1 / 252 - f * (1 / 240 - f * (1 / 132 - f * (691 / 32760 - f / 12.0))))))
    result = result + log(at) - 0.5 / at - series
    return _at_poles(x, where(reflects, result - math.pi / _tan(math.pi * x), result))


def trigamma(x: Traced) -> Traced:
    reflects = x < 0.5
    at = where(reflects, 1.0 - x, x)
    result = 0.0 * at
    for _ in range(10):
        below = at < 10.0
        result = where(below, result + 1.0 / (at * at), result)
        at = where(below, at + 1.0, at)
    f = 1.0 / (at * at)
    series = f * (1 / 6 - f * (1 / 30 - f * (1 / 42 - f * (1 / 30 - f * (5 / 66 - f * (691 / 2730 - f * 7 / 6))))))
    result = result + 1.0 / at + 0.5 * f + series / at
    wave = math.pi / sin(math.pi * x)
    return _at_poles(x, where(reflects, wave * wave - result, result))


def _tan(x: Traced) -> Traced:
    return x.apply("tan", x)


def _at_poles(x: Traced, result: Traced) -> Traced:
    pole = where(x > 0.0, 0.0, where(equal(x, floor(x)), 1.0, 0.0))
    return where(equal(pole, 1.0), math.nan, result)


FORMULAS: dict[str, Callable[[Traced], Traced]] = {
    "gamma": gamma, "lgamma": lgamma, "digamma": digamma, "trigamma": trigamma,
}  # fmt: skip

# CPython scales both numbers by the power of two above the larger, adds the squares to 1 in double-double arithmetic,
# and corrects the root by half its residual.
HYPOT = """
declare double @llvm.fabs.f64(double)
declare double @llvm.maxnum.f64(double, double)
declare double @llvm.fma.f64(double, double, double)
declare double @llvm.sqrt.f64(double)

define double @zyg_hypot(double %a, double %b) nounwind willreturn memory(none) {
entry:
  %x0 = call double @llvm.fabs.f64(double %a)
  %y0 = call double @llvm.fabs.f64(double %b)
  %max0 = call double @llvm.maxnum.f64(double %x0, double %y0)
  %infinite = fcmp oeq double %max0, 0x7FF0000000000000
  br i1 %infinite, label %as_it_is, label %nans
nans:
  %nan = fcmp uno double %x0, %y0
  br i1 %nan, label %not_a_number, label %zero
zero:
  %is_zero = fcmp oeq double %max0, 0.0
  br i1 %is_zero, label %as_it_is, label %scale
not_a_number:
  ret double 0x7FF8000000000000
as_it_is:
  ret double %max0
scale:
  ; Subnormal numbers are scaled by 2**1022 first.
  %bits0 = bitcast double %max0 to i64
  %subnormal = icmp ult i64 %bits0, 4503599627370496
  %up = select i1 %subnormal, double 0x7FD0000000000000, double 1.0
  %down = select i1 %subnormal, double 0x0010000000000000, double 1.0
  %x = fmul double %x0, %up
  %y = fmul double %y0, %up
  %max = fmul double %max0, %up
  %bits = bitcast double %max to i64
  %exponent = lshr i64 %bits, 52
  %inverse = sub i64 2045, %exponent
  %inverse_bits = shl i64 %inverse, 52
  ; 2**-1024 is subnormal.
  %top = icmp sgt i64 %exponent, 2044
  %inverse_subnormal = sub i64 2046, %exponent
  %half = lshr i64 2251799813685248, 0
  %quarter = lshr i64 1125899906842624, 0
  %last = icmp eq i64 %exponent, 2045
  %last_bits = select i1 %last, i64 %half, i64 %quarter
  %scale_bits = select i1 %top, i64 %last_bits, i64 %inverse_bits
  %s = bitcast i64 %scale_bits to double
  %xs = fmul double %x, %s
  %ys = fmul double %y, %s
  %x_hi = fmul double %xs, %xs
  %x_minus = fneg double %x_hi
  %x_lo = call double @llvm.fma.f64(double %xs, double %xs, double %x_minus)
  %y_hi = fmul double %ys, %ys
  %y_minus = fneg double %y_hi
  %y_lo = call double @llvm.fma.f64(double %ys, double %ys, double %y_minus)
  %c1 = fadd double 1.0, %x_hi
  %d1 = fsub double %c1, 1.0
  %e1 = fsub double %x_hi, %d1
  %c2 = fadd double %c1, %y_hi
  %d2 = fsub double %c2, %c1
  %e2 = fsub double %y_hi, %d2
  %lows = fadd double %x_lo, %y_lo
  %errors = fadd double %e1, %e2
  %rest = fadd double %lows, %errors
  %sum = fsub double %c2, 1.0
  %square = fadd double %sum, %rest
  %h = call double @llvm.sqrt.f64(double %square)
  %h_minus = fneg double %h
  %r_hi = fmul double %h_minus, %h
  %r_hi_minus = fneg double %r_hi
  %r_lo = call double @llvm.fma.f64(double %h_minus, double %h, double %r_hi_minus)
  %c3 = fadd double %c2, %r_hi
  %d3 = fsub double %c3, %c2
  %e3 = fsub double %r_hi, %d3
  %lows3 = fadd double %lows, %r_lo
  %errors3 = fadd double %errors, %e3
  %rest3 = fadd double %lows3, %errors3
  %sum3 = fsub double %c3, 1.0
  %residual = fadd double %sum3, %rest3
  %twice = fmul double %h, 2.0
  %correction = fdiv double %residual, %twice
  %root = fadd double %h, %correction
  %unscaled = fdiv double %root, %s
  %result = fmul double %unscaled, %down
  ret double %result
}
"""


def special_text(name: str) -> str:
    """An LLVM module that defines `zyg_<name>`."""
    if name == "hypot":
        return HYPOT
    x = Value(F64, "x")
    function = Function(name, [Block("entry", [x])], (F64,))
    builder = Builder(function, function.entry)
    builder.ret(FORMULAS[name](builder.traced(x)).value())
    lowered = lower(Module([function]), name, no_variants)
    abi = lowered.signatures[name]
    call = f"%y = call fastcc double {abi.symbol}(double %x)"
    lowered.module.functions.append(f"define double @zyg_{name}(double %x) {{\n  {call}\n  ret double %y\n}}")
    return lowered.text
