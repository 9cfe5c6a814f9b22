"""Short paths for arrays of float64: operators, in place too. (Functions are in `numpy_plain`.)

Small arrays are mostly overhead: to find out what an operation on an array means takes ten times as long as NumPy takes for it. Here
types are looked at once, where the operation is run, and its back is a function for just this case. What is not exactly an array of
float64, or a real number beside one, is left to the general entries; so are results that are numbers where they might be arrays.

A back takes over the shadow of what the operation has made (`Shadows.take_made`), as nothing before the operation can know of it, and
gives arrays that nobody else has (`Shadows.gain`), which become shadows themselves.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from . import memory, numpy_
from .cotangents import Refused
from .numpy_ import refuse, unbroadcast
from .shadows import F64

ndarray = np.ndarray
Made = tuple[Any, Any] | None  # (value, back); None where the general entry has to do it
Short = Callable[..., Made]
REAL = frozenset({float, int, np.float64})
_vdot, isfinite = np.vdot, math.isfinite


def strong(c: Any, dy: Any, slope: Any) -> Any:
    """A product of a cotangent and slopes that is not finite: nothing times an infinite slope is nothing. (Elsewhere what happens
    to be 0 may have a derivative.)"""
    return c if np.isfinite(slope).all() else np.where(np.equal(dy, 0) & np.isnan(c), 0.0, c)


def times(dy: Any, slope: Any) -> Any:
    c = dy * slope
    return c if isfinite(c.dot(c) if c.ndim == 1 else _vdot(c, c)) else strong(c, dy, slope)


def over(dy: Any, b: Any) -> Any:
    c = dy / b
    return c if isfinite(c.dot(c) if c.ndim == 1 else _vdot(c, c)) else strong(c, dy, 1.0 / b)


def summed(dy: Any, slope: Any) -> float:
    """The cotangent of a number beside an array: the sum of the products."""
    c = float(_vdot(dy, slope))
    return c if isfinite(c) else float(np.sum(strong(dy * slope, dy, slope)))


# --------------------------------------------------------------------------------------------------- operators


class _Side:
    """A number at one side of an operator: what is kept of the array `x` and of the result `y`, and functions of dy, the number, and
    what is kept, that give the cotangents of the array and of the number. That of the number may take more, or not be had here."""

    def __init__(self, alone: Any, keeps: str = "", number: Any = None, keeps_for_number: str | None = None):
        self.alone = alone, _KEEP[keeps]
        self.both = None if number is None else (number, _KEEP[keeps if keeps_for_number is None else keeps_for_number])


_KEEP: dict[str, Any] = {
    "": None, "x": lambda y, x: x.copy(), "y": lambda y, x: y.copy(), "xy": lambda y, x: (x.copy(), y.copy()),
}  # fmt: skip


def _operator(function: Any, arrays: Any, left: _Side | None, right: _Side | None) -> tuple[Short, Short]:
    """(value, back) of an operator: where the cotangents of numbers are wanted, and where they are not.

    arrays: whether y, a, and b are kept, and a function of dy and these that gives the cotangents of both. left, right: of a number
    behind an array, and in front of one.
    """
    if arrays is not None:
        keeps_y, keeps_a, keeps_b, parts = arrays

    def of_arrays(a: Any, b: Any) -> Made:
        y = function(a, b)
        if type(y) is not ndarray:
            return None
        run = run_of_arrays if a.shape == b.shape else run_of_broadcast
        return y, (run, y, a, b, parts, y.copy() if keeps_y else None, a.copy() if keeps_a else None, b.copy() if keeps_b else None)  # fmt: skip

    def alone(y: Any, x: Any, s: Any, side: _Side, run: Any) -> Made:
        if type(y) is not ndarray:
            return None
        part, keep = side.alone
        return y, (run_alone, y, x, s, part, None if keep is None else keep(y, x))

    def both(y: Any, x: Any, s: Any, side: _Side, run: Any) -> Made:
        if type(y) is not ndarray or side.both is None:
            return None
        number, keep = side.both
        return y, (run, y, x, s, side.alone[0], number, None if keep is None else keep(y, x))

    def recording(with_number: Any) -> Short:
        def record(a: Any, b: Any) -> Made:
            if type(a) is ndarray:
                if a.dtype is F64:
                    if type(b) is ndarray:
                        return of_arrays(a, b) if b.dtype is F64 and arrays is not None else None
                    if type(b) in REAL and left is not None:
                        return with_number(function(a, b), a, b, left, run_left)
            elif type(a) in REAL and b.dtype is F64 and type(b) is ndarray and right is not None:
                return with_number(function(a, b), b, a, right, run_right)
            return None

        return record

    return recording(both), recording(alone)


def run_of_arrays(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, a, b, parts, vy, va, vb = back
    dy = shadows.take_made(y)
    if dy is not None:
        if type(dy) is Refused:
            refuse(a, dy, shadows)
            refuse(b, dy, shadows)
            return None
        da, db = parts(dy, vy, va, vb)
        shadows.gain(b, db)
        shadows.gain(a, da)
    return None


def run_of_broadcast(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, a, b, parts, vy, va, vb = back
    dy = shadows.take_made(y)
    if dy is not None:
        if type(dy) is Refused:
            refuse(a, dy, shadows)
            refuse(b, dy, shadows)
            return None
        da, db = parts(dy, vy, va, vb)
        shadows.add_array(b, unbroadcast(db, b.shape))
        shadows.add_array(a, unbroadcast(da, a.shape))
    return None


def run_alone(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x, s, alone, kept = back
    dy = shadows.take_made(y)
    if dy is not None:
        if type(dy) is Refused:
            refuse(x, dy, shadows)
        else:
            shadows.gain(x, alone(dy, s, kept))
    return None


def run_left(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Of an array and a number."""
    _, y, x, s, alone, number, kept = back
    dy = shadows.take_made(y)
    if dy is None:
        return None
    if type(dy) is Refused:
        return refuse(x, dy, shadows), dy
    ds = number(dy, s, kept)
    shadows.gain(x, alone(dy, s, kept))
    return None, ds


def run_right(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Of a number and an array."""
    _, y, x, s, alone, number, kept = back
    dy = shadows.take_made(y)
    if dy is None:
        return None
    if type(dy) is Refused:
        refuse(x, dy, shadows)
        return dy, None
    ds = number(dy, s, kept)
    shadows.gain(x, alone(dy, s, kept))
    return ds, None


def _of_sum(dy: Any, y: Any, a: Any, b: Any) -> Any:
    return dy, dy.copy()


def _of_difference(dy: Any, y: Any, a: Any, b: Any) -> Any:
    return dy, -dy


def _of_product(dy: Any, y: Any, a: Any, b: Any) -> Any:
    return times(dy, b), times(dy, a)


def _of_quotient(dy: Any, y: Any, a: Any, b: Any) -> Any:
    da = over(dy, b)
    db = -da * y
    return da, db if isfinite(_vdot(db, db)) else strong(db, dy, -y / b)


def _same(dy: Any, s: Any, kept: Any) -> Any:
    return dy


def _negative(dy: Any, s: Any, kept: Any) -> Any:
    return -dy


def _total(dy: Any, s: Any, kept: Any) -> Any:
    return float(dy.sum())


def _minus_total(dy: Any, s: Any, kept: Any) -> Any:
    return -float(dy.sum())


def _scaled(dy: Any, s: Any, kept: Any) -> Any:
    return dy * s if isfinite(s) else strong(dy * s, dy, s)


def _of_scale(dy: Any, s: Any, x: Any) -> Any:
    return summed(dy, x)


def _slope_by(s: Any) -> float:
    return 1.0 / s if s != 0 else math.copysign(math.inf, s)


def _divided(dy: Any, s: Any, kept: Any) -> Any:
    slope = _slope_by(s)
    return dy / s if isfinite(slope) else strong(dy * slope, dy, slope)


def _of_divisor(dy: Any, s: Any, y: Any) -> Any:
    slope = _slope_by(s)
    return -summed(dy, y) * slope if isfinite(slope) else summed(dy, -y * slope)


def _of_inverse(dy: Any, s: Any, kept: Any) -> Any:
    return _of_quotient(dy, kept[1], None, kept[0])[1]


def _of_inverted(dy: Any, s: Any, kept: Any) -> Any:
    return float(over(dy, kept[0]).sum())


def _of_power(dy: Any, n: Any, x: Any) -> Any:
    if n == 2:
        return times(dy, 2.0 * x)
    return times(dy, n * x ** (n - 1)) if n != 0 else 0.0 * dy


_SUM = False, False, False, _of_sum
_DIFFERENCE = False, False, False, _of_difference
_PRODUCT = False, True, True, _of_product
_QUOTIENT = True, False, True, _of_quotient
_BY_UFUNC: dict[np.ufunc, Any] = {
    np.add: (operator.add, _SUM, _Side(_same, "", _total), _Side(_same, "", _total)),
    np.subtract: (operator.sub, _DIFFERENCE, _Side(_same, "", _minus_total), _Side(_negative, "", _total)),
    np.multiply: (operator.mul, _PRODUCT, _Side(_scaled, "", _of_scale, "x"), _Side(_scaled, "", _of_scale, "x")),
    np.divide: (operator.truediv, _QUOTIENT, _Side(_divided, "", _of_divisor, "y"), _Side(_of_inverse, "xy", _of_inverted)),
    np.power: (operator.pow, None, _Side(_of_power, "x"), None),
}  # fmt: skip

# By the name of an operator: (value, back), where cotangents of numbers are wanted, and where they are not.
OPERATORS: dict[str, Short] = {}
WITHOUT_NUMBERS: dict[str, Short] = {}
for _name, _u in numpy_.OPERATORS.items():
    if _u in _BY_UFUNC:
        OPERATORS[_name], WITHOUT_NUMBERS[_name] = _operator(*_BY_UFUNC[_u])


# -------------------------------------------------------------------------------------------- in-place operators


def _inplace(function: Any, arrays: Any, number: Any, keeps: str, keeps_b: bool) -> Short:
    """(value, back) of an in-place operator. arrays, number: functions of the shadow, what is kept of the array, and the other operand
    (a copy of it, if it is kept), that change the shadow in place and give the cotangent of the other operand."""

    def record(a: Any, b: Any) -> Made:
        if a.dtype is not F64:
            return None
        if type(b) is ndarray:
            if b.dtype is not F64 or arrays is None:
                return None
            run, part = run_inplace, arrays
        elif type(b) in REAL and number is not None:
            run, part = run_inplace_number, number
        else:
            return None
        watched = memory.writing(a)
        before = a.copy() if keeps == "before" else None
        other = b.copy() if keeps_b and run is run_inplace else b
        function(a, b)
        memory.written(watched)
        return a, (run, a, b, part, a.copy() if keeps == "after" else before, other)

    return record


def run_inplace(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, a, b, part, kept, other = back
    shadow = shadows.found_of(a)
    if shadow is not None:
        if type(shadow) is Refused:
            return None, refuse(b, shadow, shadows)
        db = part(shadow, kept, other)
        if a.shape == b.shape:
            shadows.gain(b, db)
        else:
            shadows.add_array(b, unbroadcast(db, b.shape))
    return None


def run_inplace_number(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, a, _, part, kept, other = back
    shadow = shadows.found_of(a)
    if shadow is None:
        return None
    return None, shadow if type(shadow) is Refused else part(shadow, kept, other)


def _add_to(shadow: Any, kept: Any, b: Any) -> Any:
    return shadow.copy()


def _subtract_from(shadow: Any, kept: Any, b: Any) -> Any:
    return -shadow


def _multiply_by(shadow: Any, before: Any, b: Any) -> Any:
    db = times(shadow, before)
    shadow[...] = times(shadow, b)
    return db


def _divide_by(shadow: Any, after: Any, b: Any) -> Any:
    da, db = _of_quotient(shadow, after, None, b)
    shadow[...] = da
    return db


def _multiply_by_number(shadow: Any, before: Any, s: Any) -> Any:
    ds = summed(shadow, before)
    shadow[...] = _scaled(shadow, s, None)
    return ds


def _divide_by_number(shadow: Any, after: Any, s: Any) -> Any:
    ds = _of_divisor(shadow, s, after)
    shadow[...] = _divided(shadow, s, None)
    return ds


INPLACE: dict[str, Short] = {
    "add": _inplace(operator.iadd, _add_to, _total, "", False),
    "sub": _inplace(operator.isub, _subtract_from, _minus_total, "", False),
    "mul": _inplace(operator.imul, _multiply_by, _multiply_by_number, "before", True),
    "truediv": _inplace(operator.itruediv, _divide_by, _divide_by_number, "after", True),
}
