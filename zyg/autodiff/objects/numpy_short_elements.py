"""Short paths for arrays of floats: functions of elements, choices among them. (`numpy_backs` says what for.)"""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.backend.pulls import Case

from . import builtins_, numpy_, numpy_native
from .cotangents import Refused
from .numpy_backs import (
    BESIDE,
    BOOL,
    F32,
    FLOATS,
    REAL,
    Made,
    Short,
    isfinite,
    ndarray,
    of_floats,
    run_one,
    run_operands,
    strong,
    times,
)
from .numpy_native import plan
from .numpy_operators import OPERATORS
from .shadows import F64

# By rules of native code (`numpy_native`): what these keep is the value or the argument.
_RULES: dict[np.ufunc, str] = {
    np.negative: "negative", np.square: "square", np.reciprocal: "reciprocal", np.sqrt: "sqrt", np.exp: "exp", np.log: "log",
    np.log1p: "log1p", np.sin: "sin", np.cos: "cos", np.tanh: "tanh", np.absolute: "absolute", np.fabs: "absolute",
}  # fmt: skip

CASES: dict[np.ufunc, Case] = {}


def of_one(u: np.ufunc) -> Short:
    """Of a function of elements, of one argument."""
    uses_y, uses_x, slopes = numpy_.UFUNCS[u]
    native = None
    if u in _RULES:
        of_y = uses_y and not uses_x
        usual = lambda y, a, b, p, q: (run_one, y, a, _by_slope, slopes, (p, None) if of_y else (None, p))
        native = CASES[u] = Case(plan(_RULES[u], usual), "a" if uses_x else "y" if uses_y else "", b=False)

    def short(x: Any, *others: Any, **options: Any) -> Made:
        if others or options:
            return None
        if type(x) is not ndarray:
            if type(x) not in REAL:
                return None
            y = u(x)
            return (y, (run_function_of_numbers, y, slopes, x)) if type(y) is np.float64 else None
        if not (x.dtype is F64 or x.dtype is F32):
            return None
        y = u(x)
        if type(y) is not ndarray:
            return None
        if native is not None and x.dtype is F64:
            return numpy_native.recorded(native, y, x)
        return y, (run_one, y, x, _by_slope, slopes, (y.copy() if uses_y else None, x.copy() if uses_x else None))

    return short


def _by_slope(dy: Any, slopes: Any, kept: Any) -> Any:
    return times(dy, slopes(*kept)[0], slopes in numpy_.CHOICES)


def run_function_of_numbers(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    if type(d) is Refused:
        return (None, *[d] * (len(back) - 3))
    shadows.hush()
    choice = back[2] in numpy_.CHOICES
    return (None, *[_by_number(d, float(slope), choice) for slope in back[2](back[1], *back[3:])])


def _by_number(d: Any, slope: float, choice: bool) -> Any:
    c = d * slope
    return c if isfinite(c) else float(strong(c, d, slope, choice))


def of_two(u: np.ufunc) -> Short:
    """Of a function of the elements of two, of which one may be a number; or of two numbers."""
    uses_y, uses_x, slopes = numpy_.UFUNCS[u]

    def short(a: Any, b: Any = None, /, *others: Any, **options: Any) -> Made:
        if others or options or not (_is_operand(a) and _is_operand(b)):
            return None
        y = u(a, b)
        if type(y) is not ndarray:
            if type(y) is not np.float64 or type(a) is ndarray or type(b) is ndarray:
                return None
            return y, (run_function_of_numbers, y, slopes, a, b)
        if y.dtype not in FLOATS:
            return None
        kept = y.copy() if uses_y else None, *((numpy_.saved(a), numpy_.saved(b)) if uses_x else (None, None))
        return y, (run_operands, y, (a, b), _by_slopes, slopes, kept)

    return short


def _is_operand(x: Any) -> bool:
    return (type(x) is ndarray and x.dtype in BESIDE) or type(x) in REAL


def _by_slopes(dy: Any, slopes: Any, kept: Any) -> Any:
    choice = slopes in numpy_.CHOICES
    return [times(dy, slope, choice) for slope in slopes(*kept)]


def called(u: np.ufunc) -> Short:
    """Of the function that an operator calls."""
    record = OPERATORS[NAMES[u]]
    otherwise = of_two(u)

    def short(*operands: Any, **options: Any) -> Made:
        if len(operands) != 2 or options:
            return None
        made = record(*operands) if type(operands[0]) is ndarray or type(operands[1]) is ndarray else None
        return otherwise(*operands) if made is None else (made[0], (builtins_.run_shift, made[1]))

    return short


NAMES = {u: name for name, u in numpy_.OPERATORS.items() if name in OPERATORS}


def chosen(u: np.ufunc, wins: Any, of_nans: bool) -> Short:
    """Of the larger or smaller one of two arrays, or of an array and a number: where the second one wins, it gets the cotangent.

    of_nans: whether a nan wins.
    """
    of_numbers = of_two(u)

    def short(a: Any, b: Any = None, /, *others: Any, **options: Any) -> Made:
        if others or options or not (_is_operand(a) and _is_operand(b)):
            return None
        if type(a) is not ndarray and type(b) is not ndarray:
            return of_numbers(a, b)
        y = u(a, b)
        if type(y) is not ndarray or y.dtype not in FLOATS:
            return None
        nan = b if of_nans else a
        second = wins(b, a) if type(nan) is not ndarray and nan == nan else wins(b, a) | (nan != nan)
        if _is_double(a) and _is_double(b):
            return y, (numpy_native.run, y, a, b, second, None, _SECOND)
        return y, (run_operands, y, (a, b), _chosen, second, None)

    return short


def _is_double(x: Any) -> bool:
    return type(x) is not ndarray or x.dtype is F64


def _chosen(dy: Any, second: Any, _: Any) -> Any:
    return np.where(second, 0.0, dy), np.where(second, dy, 0.0)


_SECOND = plan("second", lambda y, a, b, p, q: (run_operands, y, (a, b), _chosen, p, None), skip=1)


def where(condition: Any, a: Any = None, b: Any = None, /, *others: Any, **options: Any) -> Made:
    if others or options or not (_is_operand(a) and _is_operand(b)):
        return None
    if type(condition) is not ndarray or condition.dtype is not BOOL:
        return None
    y = np.where(condition, a, b)
    if y.dtype not in FLOATS or not y.ndim:
        return None
    if _is_double(a) and _is_double(b):
        return y, (numpy_native.run, y, a, b, condition.copy(), None, _FIRST)
    return y, (run_operands, y, (condition, a, b), _of_where, condition.copy(), None)


def _of_where(dy: Any, condition: Any, _: Any) -> Any:
    return None, np.where(condition, dy, 0.0), np.where(condition, 0.0, dy)


_FIRST = plan("first", lambda y, a, b, p, q: (run_operands, y, (p, a, b), _of_where, p, None), skip=2)


def clipped(function: Any) -> Short:
    def short(x: Any, low: Any = None, high: Any = None, /, *others: Any, **options: Any) -> Made:
        """Between two numbers."""
        if not of_floats(x) or others or options or type(low) not in REAL or type(high) not in REAL or not low <= high:
            return None
        y = function(x, low, high)
        if type(y) is not ndarray or y.dtype is not x.dtype:
            return None
        below, above = x < low, x > high
        if x.dtype is F64 and not (below | above).any():
            return y, (numpy_native.run, y, x, None, None, None, AS_IT_IS)
        return y, (run_operands, y, (x, low, high), _of_clip, below, above)

    return short


def itself(dy: Any, p: Any, q: Any) -> Any:
    return dy


AS_IT_IS = plan("sum", lambda y, a, b, p, q: (run_one, y, a, itself, None, None))


def _of_clip(dy: Any, below: Any, above: Any) -> Any:
    return np.where(below | above, 0.0, dy), np.where(below, dy, 0.0), np.where(above, dy, 0.0)
