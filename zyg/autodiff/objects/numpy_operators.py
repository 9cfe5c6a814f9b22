"""Short paths for arrays of floats: operators, in place too. (`numpy_backs` says what for.)"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from zyg.backend import pulls
from zyg.backend.llvm.runtime.pull_rules import ARITHMETIC, POWER
from zyg.backend.pulls import Case, deferred, settle_record

from . import memory, numpy_, numpy_numbers
from . import numpy_native as native_backs
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
from .numpy_native import plan
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


def _operator(
    function: Any, arrays: Any, left: _Side | None, right: _Side | None, native: tuple[Cases, Cases]
) -> tuple[Short, Short]:
    """(value, back) of an operator: where the cotangents of numbers are wanted, and where they are not.

    arrays: whether y, a, and b are kept, a function of dy and these that gives the cotangents of both, and functions of dy and the
    other one that give the cotangent of an array behind which, or in front of which, an array of bools stands. left, right: of a
    number behind an array, and in front of one. native: how native code runs the back where all arrays are of float64.
    """

    def of_arrays(a: Any, b: Any) -> Made:
        if a.dtype is F64 and b.dtype is F64:
            y = function(a, b)
            return (
                None if native[0][0] is None or type(y) is not ndarray else native_backs.recorded(native[0][0], y, a, b)
            )
        if not ((a.dtype is F64 or a.dtype in BESIDE) and (b.dtype is BOOL or b.dtype in BESIDE)):
            return None
        y = function(a, b)
        if type(y) is not ndarray or not (y.dtype is F64 or y.dtype is F32):
            return None
        keeps_y, keeps_a, keeps_b, parts, before_bools, behind_bools = arrays
        if b.dtype is BOOL:
            return _beside_bools(y, a, b, before_bools)
        if a.dtype is BOOL:
            return _beside_bools(y, b, a, behind_bools)
        run = run_two if a.shape == b.shape else run_two_spread
        return y, (run, y, a, b, parts, y.copy() if keeps_y else None, a.copy() if keeps_a else None, b.copy() if keeps_b else None)  # fmt: skip

    def alone(a: Any, b: Any, side: _Side, of_left: bool) -> Made:
        y = function(a, b)
        if type(y) is not ndarray:
            return None
        x, s = (a, b) if of_left else (b, a)
        if x.dtype is I64 and (y.dtype is not F64 or native[1][1] is _POWER_CASE):
            return None
        case = native[1][1 if of_left else 2]
        if (x.dtype is F64 or x.dtype is I64) and case is not None and (case is not _POWER_CASE or s != 0):
            return native_backs.recorded(_SQUARE if case is _POWER_CASE and s == 2 else case, y, a, b)
        part, keep = side.alone
        return y, (run_one, y, x, part, s, None if keep is None else keep(y, x))

    def both(a: Any, b: Any, side: _Side, of_left: bool) -> Made:
        y = function(a, b)
        if type(y) is not ndarray:
            return None
        x, s = (a, b) if of_left else (b, a)
        if x.dtype is I64 and (y.dtype is not F64 or native[0][1] is None):
            return None
        case = native[0][1 if of_left else 2]
        if (x.dtype is F64 or x.dtype is I64) and case is not None:
            return native_backs.recorded(case, y, a, b)
        part, number, keep = side.both
        run = run_left if of_left else run_right
        return y, (run, y, x, s, part, number, None if keep is None else keep(y, x))

    def recording(with_number: Any) -> Short:
        def record(a: Any, b: Any) -> Made:
            if type(a) is ndarray:
                if type(b) is ndarray:
                    return None if arrays is None else of_arrays(a, b)
                if type(b) in REAL and left is not None and (_is_beside(b, a.dtype) or a.dtype is I64):
                    return with_number(a, b, left, True)
            elif (
                type(a) in REAL
                and right is not None
                and type(b) is ndarray
                and (_is_beside(a, b.dtype) or b.dtype is I64)
            ):
                return with_number(a, b, right, False)
            return None

        return record

    return recording(both), recording(alone)


def _beside_bools(y: Any, x: Any, bools: Any, part: Any) -> Made:
    if part is None or x.shape != y.shape:
        return None
    if part is _times_bools and x.dtype is F64:
        return y, (native_backs.run, y, x, None, bools.copy(), None, _MASKED)
    return y, (run_one, y, x, part, bools.copy(), None)


Cases = tuple[Case | None, Case | None, Case | None]  # of arrays, of an array and a number, of a number and an array


def _cases(rule: str, p: str, q: str, parts: Any, left: _Side, right: _Side) -> tuple[Cases, Cases]:
    """How native code runs backs of an operator, where cotangents of numbers are wanted, and where they are not: by a rule, which
    keeps p and q. With each, what Python would run in its place."""
    product = rule == "product"
    of_right = lambda p, q: q if product else (q, p)

    def usual(y: Any, a: Any, b: Any, p: Any, q: Any) -> Any:
        kept = (None, p, q) if product else (p, None, q)
        return run_two if a.shape == b.shape else run_two_spread, y, a, b, parts, *kept

    def usual_left(y: Any, a: Any, b: Any, p: Any, q: Any) -> Any:
        return run_left, y, a, b, *left.both[:2], p

    def usual_left_alone(y: Any, a: Any, b: Any, p: Any, q: Any) -> Any:
        return run_one, y, a, left.alone[0], q, p

    def usual_right(y: Any, a: Any, b: Any, p: Any, q: Any) -> Any:
        return run_right, y, b, a, *right.both[:2], of_right(p, q)

    def usual_right_alone(y: Any, a: Any, b: Any, p: Any, q: Any) -> Any:
        return run_one, y, b, right.alone[0], p, of_right(p, q)

    arrays = Case(plan(rule, usual), p, q)
    return (
        (arrays, Case(plan(rule, usual_left), p, q), Case(plan(rule, usual_right), p, q)),
        (
            arrays,
            Case(plan(rule, usual_left_alone), "", q, b=False),
            Case(plan(rule, usual_right_alone), p, "" if product else q, a=False),
        ),
    )


def _of_constant_power(y: Any, a: Any, b: Any, p: Any, q: Any) -> Any:
    return run_one, y, a, _of_power, q, p


I64 = np.dtype(np.int64)
_SQUARE, _POWER_CASE = (Case(plan(rule, _of_constant_power), "a", "b", b=False) for rule in ("square", "power"))


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
_MASKED = plan("masked", lambda y, a, b, p, q: (run_one, y, a, _times_bools, p, None))


def _with_native(rule: str, p: str, q: str, function: Any, arrays: Any, left: _Side, right: _Side) -> Any:
    return function, arrays, left, right, _cases(rule, p, q, arrays[3], left, right)


_SCALE = _Side(_scaled, "", _of_scale, "x")
_BY_UFUNC: dict[np.ufunc, Any] = {
    np.add: _with_native("sum", "", "", operator.add, _SUM, _Side(_same, "", _total), _Side(_same, "", _total)),
    np.subtract: _with_native(
        "difference", "", "", operator.sub, _DIFFERENCE, _Side(_same, "", _minus_total), _Side(_negative, "", _total)
    ),
    np.multiply: _with_native("product", "a", "b", operator.mul, _PRODUCT, _SCALE, _SCALE),
    np.divide: _with_native(
        "quotient", "y", "b", operator.truediv, _QUOTIENT,
        _Side(_divided, "", _of_divisor, "y"), _Side(_of_inverse, "xy", _of_inverted),
    ),
    np.power: (
        operator.pow, None, _Side(_of_power, "x", _of_exponent, "xy", _of_base), None,
        ((None,) * 3, (None, _POWER_CASE, None)),
    ),
}  # fmt: skip

# By the name of an operator: (value, back), where cotangents of numbers are wanted, and where they are not.
OPERATORS: dict[str, Short] = {}
WITHOUT_NUMBERS: dict[str, Short] = {}
_BY_NAME = {name: _BY_UFUNC[u] for name, u in numpy_.OPERATORS.items() if u in _BY_UFUNC}
for _name in _BY_NAME:
    OPERATORS[_name], WITHOUT_NUMBERS[_name] = (deferred("record", f) for f in _operator(*_BY_NAME[_name]))


def record_natively(records: dict[str, Any], numbers: bool) -> None:
    """Native code records what these do by name. numbers: whether cotangents of numbers are wanted."""
    run, small = native_backs.run, native_backs.SMALL
    for name, record in records.items():
        if name in numpy_numbers.RUN:
            function, *_, cases = _BY_NAME[name]
            cases = cases[0 if numbers else 1]
            settle_record(record, function, run, ARITHMETIC, cases, small, which=name, numbers=numpy_numbers.RUN[name])
        elif name == "pow" and not numbers:
            settle_record(record, operator.pow, run, POWER, [_SQUARE, _POWER_CASE], small)


def _settle_own() -> None:
    record_natively(OPERATORS, True)
    record_natively(WITHOUT_NUMBERS, False)


pulls.when_started(_settle_own)


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
