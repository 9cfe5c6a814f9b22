"""Short paths for arrays of float64: operators, functions of elements, products, sums.

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

from . import builtins_, calls, memory, numpy_, numpy_functions, numpy_methods, numpy_products
from .cotangents import Refused
from .numpy_ import refuse, unbroadcast
from .shadows import F64

ndarray = np.ndarray
Made = tuple[Any, Any] | None  # (value, back); None where the general entry has to do it
Short = Callable[..., Made]
_REAL = frozenset({float, int, np.float64})
_vdot, _isfinite = np.vdot, math.isfinite
_GENERAL = numpy_functions, numpy_methods, numpy_products  # whose entries are there first


def strong(c: Any, dy: Any, slope: Any) -> Any:
    """A product of a cotangent and slopes that is not finite: nothing times an infinite slope is nothing. (Elsewhere what happens
    to be 0 may have a derivative.)"""
    return c if np.isfinite(slope).all() else np.where(np.equal(dy, 0) & np.isnan(c), 0.0, c)


def times(dy: Any, slope: Any) -> Any:
    c = dy * slope
    return c if _isfinite(_vdot(c, c)) else strong(c, dy, slope)


def over(dy: Any, b: Any) -> Any:
    c = dy / b
    return c if _isfinite(_vdot(c, c)) else strong(c, dy, 1.0 / b)


def summed(dy: Any, slope: Any) -> float:
    """The cotangent of a number beside an array: the sum of the products."""
    c = float(_vdot(dy, slope))
    return c if _isfinite(c) else float(np.sum(strong(dy * slope, dy, slope)))


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
                    if type(b) in _REAL and left is not None:
                        return with_number(function(a, b), a, b, left, run_left)
            elif type(a) in _REAL and b.dtype is F64 and type(b) is ndarray and right is not None:
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
    return da, db if _isfinite(_vdot(db, db)) else strong(db, dy, -y / b)


def _same(dy: Any, s: Any, kept: Any) -> Any:
    return dy


def _negative(dy: Any, s: Any, kept: Any) -> Any:
    return -dy


def _total(dy: Any, s: Any, kept: Any) -> Any:
    return float(dy.sum())


def _minus_total(dy: Any, s: Any, kept: Any) -> Any:
    return -float(dy.sum())


def _scaled(dy: Any, s: Any, kept: Any) -> Any:
    return dy * s if _isfinite(s) else strong(dy * s, dy, s)


def _of_scale(dy: Any, s: Any, x: Any) -> Any:
    return summed(dy, x)


def _slope_by(s: Any) -> float:
    return 1.0 / s if s != 0 else math.copysign(math.inf, s)


def _divided(dy: Any, s: Any, kept: Any) -> Any:
    slope = _slope_by(s)
    return dy / s if _isfinite(slope) else strong(dy * slope, dy, slope)


def _of_divisor(dy: Any, s: Any, y: Any) -> Any:
    slope = _slope_by(s)
    return -summed(dy, y) * slope if _isfinite(slope) else summed(dy, -y * slope)


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
        elif type(b) in _REAL and number is not None:
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


# ---------------------------------------------------------------------------------------------------- functions


def _function(u: np.ufunc) -> Short:
    """Of a function of elements, of one argument."""
    uses_y, uses_x, slopes = numpy_.UFUNCS[u]

    def short(x: Any, *others: Any, **options: Any) -> Made:
        if type(x) is not ndarray or x.dtype is not F64 or others or options:
            return None
        y = u(x)
        if type(y) is not ndarray:
            return None
        return y, (run_function, y, x, slopes, y.copy() if uses_y else None, x.copy() if uses_x else None)

    return short


def run_function(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x, slopes, vy, vx = back
    dy = shadows.take_made(y)
    if dy is not None:
        if type(dy) is Refused:
            refuse(x, dy, shadows)
        else:
            shadows.gain(x, times(dy, slopes(vy, vx)[0]))
    return None


def _called(u: np.ufunc) -> Short:
    """Of the function that an operator calls."""
    record = OPERATORS[_NAMES[u]]

    def short(*operands: Any, **options: Any) -> Made:
        if len(operands) != 2 or options or not (type(operands[0]) is ndarray or type(operands[1]) is ndarray):
            return None
        made = record(*operands)
        return None if made is None else (made[0], (builtins_.run_shift, made[1]))

    return short


_NAMES = {u: name for name, u in numpy_.OPERATORS.items() if name in OPERATORS}


def _product(function: Any) -> Short:
    """Of a product of vectors and matrices."""

    def short(a: Any, b: Any = None, *others: Any, **options: Any) -> Made:
        if type(a) is not ndarray or type(b) is not ndarray or others or options:
            return None
        if a.dtype is not F64 or b.dtype is not F64:
            return None
        run = _PRODUCTS.get((a.ndim, b.ndim))
        if run is None:
            return None
        y = function(a, b)
        return y, (run, y, a, b, a.copy(), b.copy())

    return short


def run_dot(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Of two vectors."""
    _, _, a, b, va, vb = back
    if d is not None:
        if type(d) is Refused:
            refuse(a, d, shadows)
            refuse(b, d, shadows)
        else:
            shadows.gain(a, vb * d)
            shadows.gain(b, va * d)
    return None


def run_matrix_vector(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, a, b, va, vb = back
    dy = shadows.take_made(y)
    if dy is not None:
        if type(dy) is Refused:
            refuse(a, dy, shadows)
            refuse(b, dy, shadows)
        else:
            shadows.gain(a, dy.reshape(-1, 1).dot(vb.reshape(1, -1)))
            shadows.gain(b, dy.dot(va))
    return None


def run_vector_matrix(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, a, b, va, vb = back
    dy = shadows.take_made(y)
    if dy is not None:
        if type(dy) is Refused:
            refuse(a, dy, shadows)
            refuse(b, dy, shadows)
        else:
            shadows.gain(a, vb.dot(dy))
            shadows.gain(b, va.reshape(-1, 1).dot(dy.reshape(1, -1)))
    return None


def run_matrices(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, a, b, va, vb = back
    dy = shadows.take_made(y)
    if dy is not None:
        if type(dy) is Refused:
            refuse(a, dy, shadows)
            refuse(b, dy, shadows)
        else:
            shadows.gain(a, dy.dot(vb.T))
            shadows.gain(b, va.T.dot(dy))
    return None


_PRODUCTS = {(1, 1): run_dot, (2, 1): run_matrix_vector, (1, 2): run_vector_matrix, (2, 2): run_matrices}


def _reduction(function: Any, is_mean: bool) -> Short:
    """Of sums and means, of all elements or along one axis."""

    def short(x: Any, axis: Any = None, *others: Any, **options: Any) -> Made:
        if type(x) is not ndarray or x.dtype is not F64 or others or options or x.size == 0:
            return None
        if axis is None:
            return function(x), (run_total, x, x.size if is_mean else 1)
        if type(axis) is not int or x.ndim == 1:
            return None
        y = function(x, axis)
        shape = list(x.shape)
        count, shape[axis] = shape[axis], 1
        return y, (run_totals, y, x, tuple(shape), count if is_mean else 1)

    return short


def run_total(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, count = back
    if d is not None:
        if type(d) is Refused:
            refuse(x, d, shadows)
        else:
            c = np.empty(x.shape)
            c.fill(d / count)
            shadows.gain(x, c)
    return None


def run_totals(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x, shape, count = back
    dy = shadows.take_made(y)
    if dy is not None:
        if type(dy) is Refused:
            refuse(x, dy, shadows)
        else:
            c = np.empty(x.shape)
            c[...] = dy.reshape(shape)
            shadows.gain(x, c if count == 1 else c / count)
    return None


def _copied(x: Any, *others: Any, **options: Any) -> Made:
    if type(x) is not ndarray or x.dtype is not F64 or others or options:
        return None
    y = x.copy()
    return y, (run_copy, y, x)


def run_copy(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x = back
    dy = shadows.take_made(y)
    if dy is not None:
        if type(dy) is Refused:
            refuse(x, dy, shadows)
        else:
            shadows.gain(x, dy)
    return None


def _made_of_numbers(x: Any, *others: Any, **options: Any) -> Made:
    """`np.array` of a list of floats."""
    if type(x) is not list or others or options or not x or not _FLOATS.issuperset(map(type, x)):
        return None
    y = np.array(x)
    return y, (run_made_of_numbers, y, x)


_FLOATS = frozenset({float, np.float64})


def run_made_of_numbers(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x = back
    dy = shadows.take_made(y)
    if dy is not None:
        shadows.add_all(x, 0, [dy] * len(y) if type(dy) is Refused else dy.tolist())
    return None


def _entry(short: Short, general: Any) -> Any:
    """A function of NumPy where it is called: by the short path, if that takes the arguments."""

    def entry(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        return (short(*args, **kwargs) if args else None) or general(*args, **kwargs)

    return entry


FUNCTIONS: dict[Any, Short] = {
    **{u: _function(u) for u in numpy_.UFUNCS if u.nin == 1},
    **{u: _called(u) for u in _NAMES},
    **{f: _product(f) for f in (np.dot, np.matmul)},
    np.sum: _reduction(np.sum, False),
    np.mean: _reduction(np.mean, True),
    np.array: _made_of_numbers,
}
METHODS: dict[str, Short] = {
    "sum": _reduction(ndarray.sum, False),
    "mean": _reduction(ndarray.mean, True),
    "dot": _product(ndarray.dot),
    "copy": _copied,
}
OPERATORS["matmul"] = WITHOUT_NUMBERS["matmul"] = _product(operator.matmul)
for _f, _short in FUNCTIONS.items():
    calls.KNOWN[_f] = _entry(_short, calls.KNOWN[_f])
for _name, _short in METHODS.items():
    calls.METHODS[ndarray, _name] = _entry(_short, calls.METHODS[ndarray, _name])
