"""Short paths for arrays of floats: operators, in place too. (`numpy_backs` says what for.)"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from . import memory, numpy_
from .cotangents import Refused
from .numpy_ import refuse
from .numpy_backs import (
    BESIDE,
    BOOL,
    F32,
    FLOATS,
    REAL,
    Made,
    Short,
    given,
    isfinite,
    ndarray,
    over,
    run_left,
    run_one,
    run_right,
    run_two,
    run_two_spread,
    strong,
    summed,
    times,
)
from .shadows import F64

# --------------------------------------------------------------------------------------------------- operators


class _Side:
    """A number at one side of an operator: what is kept of the array `x` and of the result `y`, and functions of dy, the number, and
    what is kept, that give the cotangents of the array and of the number. That of the number may take more."""

    def __init__(self, alone: Any, keeps: str, number: Any, keeps_for_number: str | None = None, beside: Any = None):
        self.alone = alone, _KEEP[keeps]
        self.both = beside or alone, number, _KEEP[keeps if keeps_for_number is None else keeps_for_number]


_KEEP: dict[str, Any] = {
    "": None, "x": lambda y, x: x.copy(), "y": lambda y, x: y.copy(), "xy": lambda y, x: (x.copy(), y.copy()),
}  # fmt: skip


def _operator(function: Any, arrays: Any, left: _Side | None, right: _Side | None) -> tuple[Short, Short]:
    """(value, back) of an operator: where the cotangents of numbers are wanted, and where they are not.

    arrays: whether y, a, and b are kept, a function of dy and these that gives the cotangents of both, and functions of dy and the
    other one that give the cotangent of an array behind which, or in front of which, an array of bools stands. left, right: of a
    number behind an array, and in front of one.
    """

    def of_arrays(a: Any, b: Any) -> Made:
        if not (a.dtype is F64 and b.dtype is F64) and not (a.dtype in BESIDE and b.dtype in BESIDE):
            return None
        y = function(a, b)
        if type(y) is not ndarray or not (y.dtype is F64 or y.dtype is F32):
            return None
        keeps_y, keeps_a, keeps_b, parts, before_bools, behind_bools = arrays
        if b.dtype is BOOL:
            return (y, (run_one, y, a, before_bools, b.copy(), None)) if a.shape == y.shape and before_bools else None
        if a.dtype is BOOL:
            return (y, (run_one, y, b, behind_bools, a.copy(), None)) if b.shape == y.shape and behind_bools else None
        run = run_two if a.shape == b.shape else run_two_spread
        return y, (run, y, a, b, parts, y.copy() if keeps_y else None, a.copy() if keeps_a else None, b.copy() if keeps_b else None)  # fmt: skip

    def alone(y: Any, x: Any, s: Any, side: _Side, run: Any) -> Made:
        if type(y) is not ndarray:
            return None
        part, keep = side.alone
        return y, (run_one, y, x, part, s, None if keep is None else keep(y, x))

    def both(y: Any, x: Any, s: Any, side: _Side, run: Any) -> Made:
        if type(y) is not ndarray:
            return None
        part, number, keep = side.both
        return y, (run, y, x, s, part, number, None if keep is None else keep(y, x))

    def recording(with_number: Any) -> Short:
        def record(a: Any, b: Any) -> Made:
            if type(a) is ndarray:
                if type(b) is ndarray:
                    return None if arrays is None else of_arrays(a, b)
                if type(b) in REAL and left is not None and _is_beside(b, a.dtype):
                    return with_number(function(a, b), a, b, left, run_left)
            elif type(a) in REAL and right is not None and type(b) is ndarray and _is_beside(a, b.dtype):
                return with_number(function(a, b), b, a, right, run_right)
            return None

        return record

    return recording(both), recording(alone)


def _is_beside(number: Any, dtype: Any) -> bool:
    """Whether an operator with an array of floats and a number gives an array of such floats."""
    return dtype is F64 or (dtype is F32 and type(number) is not np.float64)


def _of_sum(dy: Any, y: Any, a: Any, b: Any) -> Any:
    return dy, dy.copy()


def _of_difference(dy: Any, y: Any, a: Any, b: Any) -> Any:
    return dy, -dy


def _of_product(dy: Any, y: Any, a: Any, b: Any) -> Any:
    return times(dy, b), times(dy, a)


def _of_quotient(dy: Any, y: Any, a: Any, b: Any) -> Any:
    da = over(dy, b)
    db = -da * y
    return da, db if isfinite(np.vdot(db, db)) else strong(db, dy, -y / b)


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
    """(The exponent may have a derivative, too, also where it is 0.)"""
    return times(dy, n * x ** (n - 1) if n != 0 else n / np.where(x == 0, 1.0, x))


def _of_base(dy: Any, n: Any, kept: Any) -> Any:
    return _of_power(dy, n, kept[0])


def _of_exponent(dy: Any, n: Any, kept: Any) -> Any:
    x, y = kept
    return summed(dy, np.where(x > 0, y * np.log(np.where(x > 0, x, 1.0)), 0.0))


def _times_bools(dy: Any, bools: Any, kept: Any) -> Any:
    return dy * bools


def _over_bools(dy: Any, bools: Any, kept: Any) -> Any:
    return over(dy, bools)


_SUM = False, False, False, _of_sum, _same, _same
_DIFFERENCE = False, False, False, _of_difference, _same, _negative
_PRODUCT = False, True, True, _of_product, _times_bools, _times_bools
_QUOTIENT = True, False, True, _of_quotient, _over_bools, None
_BY_UFUNC: dict[np.ufunc, Any] = {
    np.add: (operator.add, _SUM, _Side(_same, "", _total), _Side(_same, "", _total)),
    np.subtract: (operator.sub, _DIFFERENCE, _Side(_same, "", _minus_total), _Side(_negative, "", _total)),
    np.multiply: (operator.mul, _PRODUCT, _Side(_scaled, "", _of_scale, "x"), _Side(_scaled, "", _of_scale, "x")),
    np.divide: (operator.truediv, _QUOTIENT, _Side(_divided, "", _of_divisor, "y"), _Side(_of_inverse, "xy", _of_inverted)),
    np.power: (operator.pow, None, _Side(_of_power, "x", _of_exponent, "xy", _of_base), None),
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
        if type(b) is ndarray:
            if not (a.dtype is F64 and b.dtype is F64) and not (a.dtype in FLOATS and b.dtype in BESIDE):
                return None
            run, part = run_inplace, arrays
        elif type(b) in REAL and a.dtype in FLOATS:
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
        given(b, part(shadow, kept, other), shadows)
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
