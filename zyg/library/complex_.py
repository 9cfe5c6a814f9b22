"""`complex`, its methods, and powers of complex numbers."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import complex_arrays, complexes, operators, scalars
from zyg.frontend.elementwise import sum_elements
from zyg.frontend.functions import shared, unchecked
from zyg.frontend.merging import settled
from zyg.frontend.python_numbers import message_of
from zyg.frontend.scalars import scalar_value
from zyg.frontend.type_names import python_type_name
from zyg.frontend.values import (
    Abstract,
    ChoiceValue,
    ComplexArrayValue,
    ComplexValue,
    Known,
    Number,
    as_complex,
    describe,
    is_numeric,
    known,
    number_type,
)
from zyg.ir.core import Const, const
from zyg.ir.types import BOOL

from .intrinsics import machine, python_complex, to_i64
from .numpy_.ufuncs import ufunc
from .registry import emits

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

# ------------------------------------------------------------------------------------------ construction

_ABSENT = Known(object())
_ZERO = Known(0.0)


@emits(complex)
def _complex(e: Evaluator, real: Abstract = _ABSENT, imag: Abstract = _ABSENT) -> Abstract:
    """complex(x), complex(text), complex(x, y), where x and y may be complex themselves."""
    given = [v for v in (real, imag) if v is not _ABSENT]
    if isinstance(real, ChoiceValue):
        return e.each(real, lambda option: _complex(e, option, imag))
    if isinstance(imag, ChoiceValue):
        return e.each(imag, lambda option: _complex(e, real, option))
    if all(isinstance(v, Known) for v in given) or any(isinstance(v, Known) and _is_text(v) for v in given):
        names = [n for n, v in (("real", real), ("imag", imag)) if v is not _ABSENT]
        objects = [v.object if isinstance(v, Known) else 0.0 for v in given]
        try:
            made = complex(**dict(zip(names, objects)))
        except (TypeError, ValueError, OverflowError) as error:
            e.throw(type(error).__name__, str(error))
            raise AssertionError from None
        return ComplexValue(Known(made.real), Known(made.imag))
    x = _argument(e, real, 0) if real is not _ABSENT else None
    y = _argument(e, imag, 1) if imag is not _ABSENT else None
    if y is None:
        assert x is not None
        return ComplexValue(x.re, x.im)
    re: Abstract = x.re if x is not None else Known(0.0)
    im = y.re
    if isinstance(imag, ComplexValue):
        re = operators.binary(e, "sub", re, y.im)
    if x is not None and isinstance(real, ComplexValue):
        im = operators.binary(e, "add", im, x.im)
    return ComplexValue(re, im)


def _is_text(v: Known) -> bool:
    return isinstance(v.object, (str, bytes))


_NOT_FIRST = message_of(complex, None).replace("NoneType", "{}")
_NOT_SECOND = message_of(complex, 1, []).replace("list", "{}")


def _argument(e: Evaluator, v: Abstract, place: int) -> ComplexValue:
    """An argument as a Python complex number."""
    from zyg.frontend.classes import operator_method, refuse_unless_without
    from zyg.frontend.values import ArrayValue, ComplexArrayValue

    message = (_NOT_FIRST, _NOT_SECOND)[place]
    v = settled(e, v, message.format("NoneType"))
    own = operator_method(e, "complex", v) if place == 0 and not is_numeric(v) else None
    v = own if own is not None else v
    if not is_numeric(v):
        own = operator_method(e, "float", v)
        if own is None and isinstance(v, (ArrayValue, ComplexArrayValue)):
            raise e.refuse("complex() of an array", hint="take an element of it")
        if own is None:
            name = python_type_name(e, v)
            if name == "str":
                raise e.refuse("a number read from text", types=[describe(v, e.heap)], hint="pass the number itself")
            refuse_unless_without(e, v, "complex()", "__complex__", "__float__", "__index__")
            e.type_error(message.format(name))
            raise AssertionError
        v = own
    if isinstance(v, ComplexValue):
        return ComplexValue(v.re, v.im)
    value = scalars.to_float(e, v)
    return ComplexValue(Known(value.value) if isinstance(value, Const) else Number(value), Known(0.0))


# ----------------------------------------------------------------------------------------------- methods


@emits((complex, "conjugate"), (np.complexfloating, "conj"))
def conjugate(e: Evaluator, v: Abstract) -> Abstract:
    assert isinstance(v, ComplexValue)
    im = complexes.values(e, v)[1]
    negative = const(-im.value) if isinstance(im, Const) else e.op("neg", im)
    return ComplexValue(v.re, Known(negative.value) if isinstance(negative, Const) else Number(negative), v.numpy)


@emits((complex, "__complex__"), (np.complexfloating, "item"), (np.complexfloating, "tolist"))
def plain(e: Evaluator, v: Abstract) -> Abstract:
    assert isinstance(v, ComplexValue)
    return ComplexValue(v.re, v.im)


@emits(np.complex128)
def _numpy_complex(e: Evaluator, v: Abstract = _ZERO, /) -> Abstract:
    found = _argument(e, v, 0)
    return ComplexValue(found.re, found.im, True)


# ------------------------------------------------------------------------------------------------ powers

ZERO_TO_NEGATIVE = message_of(pow, 0j, -1)
OVERFLOW = complexes.POWER_OVERFLOW


def power(ar: float, ai: float, br: float, bi: float, checked: bool) -> tuple[float, float]:
    """z ** w as CPython has it: c_powi for small whole exponents, else _Py_c_pow."""
    if bi == 0.0 and machine("floor", br) == br and abs(br) <= 100.0:
        re, im = power_of_whole(ar, ai, to_i64(br), checked)
    elif ar == 0.0 and ai == 0.0:
        if checked and (bi != 0.0 or br < 0.0):
            raise ZeroDivisionError(ZERO_TO_NEGATIVE)
        return 0.0, 0.0
    else:
        re, im = power_polar(ar, ai, br, bi, checked)
    if checked and (math.isinf(re) or math.isinf(im)):
        raise OverflowError(OVERFLOW)
    return re, im


def power_polar(ar: float, ai: float, br: float, bi: float, checked: bool) -> tuple[float, float]:
    size = machine("modulus", ar, ai)
    length = machine("pow", size, br)
    angle = machine("atan2", ai, ar)
    phase = angle * br
    if bi != 0.0:
        length = machine("div", length, machine("exp", angle * bi))
        phase += bi * machine("log", size)
    if checked and math.isinf(phase):
        raise ZeroDivisionError(ZERO_TO_NEGATIVE)  # so it does: the C library's cos and sin report a domain error
    return length * machine("cos", phase), length * machine("sin", phase)


def power_of_whole(ar: float, ai: float, n: int, checked: bool) -> tuple[float, float]:
    re, im = 1.0, 0.0
    count = n if n > 0 else -n
    while count > 0:
        if count & 1:
            re, im = re * ar - im * ai, re * ai + im * ar
        count = count >> 1
        if count > 0:
            ar, ai = ar * ar - ai * ai, ar * ai + ai * ar
    if n <= 0:
        if checked and re == 0.0 and im == 0.0:
            raise ZeroDivisionError(ZERO_TO_NEGATIVE)
        inverse = 1.0 / complex(re, im)
        return inverse.real, inverse.imag
    return re, im


def numpy_power(ar: float, ai: float, br: float, bi: float, checked: bool) -> tuple[float, float]:
    """z ** w of NumPy scalars; it asks the C library where this is in polar form: a few units in the last place."""
    if br == 0.0 and bi == 0.0:
        return 1.0, 0.0
    if ar == 0.0 and ai == 0.0:
        return (0.0, 0.0) if br > 0.0 else (math.nan, math.nan)
    if bi == 0.0 and machine("floor", br) == br and abs(br) < 100.0:
        n = to_i64(br)
        if n == 1:
            return ar, ai
        if n == 2:
            return ar * ar - ai * ai, ar * ai + ai * ar
        if n == 3:
            sr, si = ar * ar - ai * ai, ar * ai + ai * ar
            return ar * sr - ai * si, ar * si + ai * sr
        re, im = power_of_whole(ar, ai, abs(n), False)
        if n < 0:
            inverse = 1.0 / np.complex128(complex(re, im))
            return inverse.real, inverse.imag
        return re, im
    re, im = power_polar(ar, ai, br, bi, False)
    if math.isfinite(re) and math.isfinite(im):
        return re, im
    return python_complex(_numpy_power, ar, ai, br, bi)


def power_slope_in_base(z: complex, w: complex) -> complex:
    return w * z ** (w - 1.0) if w != 0.0 else 0j


def power_slope_in_exponent(z: complex, w: complex) -> complex:
    return z**w * cmath.log(z) if z != 0.0 else 0j


# ----------------------------------------------------------------------------------------------- functions


def numpy_function(e: Evaluator, op: str, z: ComplexValue) -> Abstract:
    """A ufunc of a complex number: by `cmath`'s algorithm, without its exceptions."""
    from .cmath_ import FUNCTIONS

    found = FUNCTIONS.get(getattr(cmath, op, None))
    if found is None:
        raise e.refuse(f"the NumPy function {op} of a complex number", hint="cmath has what native code knows")
    return found.of_numpy(e, z, _QUIET[op])


class Quiet:
    """Called from compiled code: a function of NumPy's of complex numbers, which warns of nothing."""

    def __init__(self, name: str):
        self.function = getattr(np, name)
        self.made_of = (name,)  # (keeping/places.py)
        self.__name__ = self.__qualname__ = f"np.{name}"

    def __call__(self, *args: complex) -> complex:
        with np.errstate(all="ignore"):
            return complex(self.function(*args))


_QUIET = {
    op: Quiet(name)
    for op, name in {
        "exp": "exp", "log": "log", "log10": "log10", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan",
        "asin": "arcsin", "acos": "arccos", "atan": "arctan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
        "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    }.items()
}  # fmt: skip
_numpy_power = Quiet("power")


def _log2(z: Any) -> Any:
    w = np.log(z)
    return joined(w.real * (1.0 / math.log(2.0)), w.imag * (1.0 / math.log(2.0)))


def _exp2(z: Any) -> Any:
    return np.exp(joined(z.real * math.log(2.0), z.imag * math.log(2.0)))


def _expm1(z: Any) -> Any:
    half = np.sin(z.imag / 2)
    return joined(np.expm1(z.real) * np.cos(z.imag) - 2 * half * half, np.exp(z.real) * np.sin(z.imag))


def _log1p(z: Any) -> Any:
    return joined(np.log(np.hypot(z.real + 1, z.imag)), np.arctan2(z.imag, z.real + 1))


def _rint(z: Any) -> Any:
    return joined(np.rint(z.real), np.rint(z.imag))


# Those that cmath does not have, by parts, as NumPy has them.
OF_COMPLEX: dict[str, Callable[[Any], Any]] = {
    "log2": _log2, "exp2": _exp2, "expm1": _expm1, "log1p": _log1p, "rint": _rint,
}  # fmt: skip


def joined(re: Any, im: Any) -> Any:
    """The complex number of these parts."""
    return np.complex128(complex(re, im))


@ufunc(np.conjugate)
def _conjugate(e: Evaluator, z: Abstract, /) -> Abstract:
    from .numpy_.ufuncs import strong

    z = strong(e, z)
    if number_type(z) is BOOL:
        raise e.refuse("np.conjugate of bool, which gives an int8", hint="convert it first: a.astype(int)")
    return conjugate(e, z) if isinstance(z, ComplexValue) else z


# ---------------------------------------------------------------------------------------------- arrays


def sum_array(e: Evaluator, a: ComplexArrayValue) -> Abstract:
    """The sum of an array in NumPy's order; the derivative is that of a plain loop."""
    total = as_complex(e.call(known(sum_in_order), [a]))
    if e.context.level == 0:
        return ComplexValue(total.re, total.im, True)
    sums = []
    for name, value in zip(("real", "imag"), total.parts(), strict=True):
        plain_sum = sum_elements(e, complex_arrays.part(e, a, name)).value
        sums.append(Number(e.op("slope", e.op("stop", scalar_value(e, value)), const(1.0), plain_sum)))
    return ComplexValue(sums[0], sums[1], True)


@unchecked
def sum_in_order(a: Any) -> Any:
    total = a.dtype.type(0)
    if a.ndim > 1:
        for i in range(len(a)):
            total = total + sum_in_order(a[i])
        return total
    return total + pairwise_by_four(a, 0, len(a))


@shared
@unchecked
def pairwise_by_four(a: Any, start: int, count: int) -> Any:
    """NumPy's pairwise summation of complex numbers: four running sums in blocks of up to 64 numbers."""
    if count > 64:
        half = machine("floordiv", count - machine("mod", count, 8), 2)
        return pairwise_by_four(a, start, half) + pairwise_by_four(a, start + half, count - half)
    stop = start + count
    if count < 4:
        total = -a.dtype.type(0)
        for i in range(start, stop):
            total += a[i]
        return total
    r0, r1, r2, r3 = a[start], a[start + 1], a[start + 2], a[start + 3]
    whole = stop - count % 4
    for i in range(start + 4, whole, 4):
        r0 += a[i]
        r1 += a[i + 1]
        r2 += a[i + 2]
        r3 += a[i + 3]
    total = (r0 + r1) + (r2 + r3)
    for i in range(whole, stop):
        total += a[i]
    return total


@emits((np.ndarray, "conj"), (np.ndarray, "conjugate"))
def conjugate_array(e: Evaluator, a: Abstract) -> Abstract:
    """A real array is its own conjugate."""
    return e.call(known(np.conjugate), [a]) if isinstance(a, ComplexArrayValue) else a
