"""Short paths for functions of arrays of float64: of elements, products, reductions, copies (`numpy_operators` says what for)."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from . import builtins_, calls, numpy_, numpy_functions, numpy_methods, numpy_products
from .cotangents import Refused
from .numpy_ import refuse
from .numpy_operators import OPERATORS, REAL, WITHOUT_NUMBERS, Made, Short, isfinite, ndarray, strong, times
from .shadows import F64, owner_of

_GENERAL = numpy_functions, numpy_methods, numpy_products  # whose entries are there first


def _function(u: np.ufunc) -> Short:
    """Of a function of elements, of one argument."""
    uses_y, uses_x, slopes = numpy_.UFUNCS[u]

    def short(x: Any, *others: Any, **options: Any) -> Made:
        if others or options:
            return None
        if type(x) is not ndarray:
            return (u(x), (run_function_of_number, u, slopes, x)) if type(x) is np.float64 else None
        if x.dtype is not F64:
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


def run_function_of_number(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    _, u, slopes, x = back
    shadows.hush()
    slope = float(slopes(u(x), x)[0])
    return None, d * slope if isfinite(slope) else float(strong(d * slope, d, slope))


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


def _choice(u: np.ufunc, wins: Any) -> Short:
    """Of the larger or smaller one of two arrays, or of an array and a number: where the second one wins, it gets the cotangent."""

    def short(a: Any, b: Any = None, *others: Any, **options: Any) -> Made:
        if others or options:
            return None
        if type(a) is ndarray and a.dtype is F64:
            if type(b) is ndarray:
                if b.dtype is not F64 or a.shape != b.shape:
                    return None
                run = run_choice
            elif type(b) in REAL:
                run = run_choice_with_number
            else:
                return None
        elif type(a) in REAL and type(b) is ndarray and b.dtype is F64:
            run = run_choice_with_number
        else:
            return None
        y = u(a, b)
        if type(y) is not ndarray:
            return None
        return y, (run, y, a, b, ~wins(b, a) & (b == b))

    return short


def run_choice(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, a, b, first = back
    dy = shadows.take_made(y)
    if dy is not None:
        if type(dy) is Refused:
            refuse(a, dy, shadows)
            refuse(b, dy, shadows)
        else:
            shadows.gain(a, dy * first)
            shadows.gain(b, dy * ~first)
    return None


def run_choice_with_number(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, a, b, first = back
    dy = shadows.take_made(y)
    if dy is None:
        return None
    if type(dy) is Refused:
        return None, refuse(a, dy, shadows), refuse(b, dy, shadows)
    if type(a) is ndarray:
        shadows.gain(a, dy * first)
        return None, None, float(np.add.reduce(dy * ~first, None))
    shadows.gain(b, dy * ~first)
    return None, float(np.add.reduce(dy * first, None)), None


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


def _outer(a: Any, b: Any = None, *others: Any, **options: Any) -> Made:
    if type(a) is not ndarray or type(b) is not ndarray or others or options or a.ndim != 1 or b.ndim != 1:
        return None
    if a.dtype is not F64 or b.dtype is not F64:
        return None
    y = np.outer(a, b)
    return y, (run_outer, y, a, b, a.copy(), b.copy())


def run_outer(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, a, b, va, vb = back
    dy = shadows.take_made(y)
    if dy is not None:
        if type(dy) is Refused:
            refuse(a, dy, shadows)
            refuse(b, dy, shadows)
        else:
            shadows.gain(a, dy.dot(vb))
            shadows.gain(b, va.dot(dy))
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


def _extreme(function: Any, position: Any) -> Short:
    """Of the largest or smallest element, of all or of each row or column of a matrix. The first one that is it gets the cotangent."""

    def short(x: Any, axis: Any = None, *others: Any, keepdims: Any = False, **options: Any) -> Made:
        if (
            type(x) is not ndarray
            or x.dtype is not F64
            or others
            or options
            or x.size == 0
            or type(keepdims) is not bool
        ):
            return None
        if axis is None and not keepdims:
            return function(x), (run_element, x, np.unravel_index(position(x), x.shape))
        if type(axis) is not int or x.ndim != 2:
            return None
        y = function(x, axis, keepdims=keepdims)
        places, along = np.arange(x.shape[1 - axis % 2]), position(x, axis)
        return y, (run_elements, y, x, (places, along) if axis % 2 else (along, places))

    return short


def run_element(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, key = back
    if d is not None:
        if type(d) is Refused:
            refuse(x, d, shadows)
        else:
            shadows.of_array(x)[key] += d
    return None


def run_elements(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x, key = back
    dy = shadows.take_made(y)
    if dy is not None:
        if type(dy) is Refused:
            refuse(x, dy, shadows)
        else:
            shadows.of_array(x)[key] += dy.reshape(-1)  # each of them in a place of its own
    return None


def _viewed(function: Any) -> Short:
    """Of a method that gives a view of the same memory, if it does here: the shadow of a view is one."""

    def short(x: Any, *sizes: Any, **options: Any) -> Made:
        if type(x) is not ndarray or x.dtype is not F64 or options or not all(map(_is_size, sizes)):
            return None
        y = function(x, *sizes)
        return (y, None) if owner_of(y) is owner_of(x) else None

    return short


def _is_size(x: Any) -> bool:
    return type(x) is int or (type(x) is tuple and _INTS.issuperset(map(type, x)))


_INTS = frozenset({int})


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
    np.maximum: _choice(np.maximum, operator.gt),
    np.minimum: _choice(np.minimum, operator.lt),
    np.sum: _reduction(np.sum, False),
    np.mean: _reduction(np.mean, True),
    np.max: _extreme(np.max, ndarray.argmax),
    np.min: _extreme(np.min, ndarray.argmin),
    np.outer: _outer,
    np.array: _made_of_numbers,
}


def run_method(name: str, short: Short | None, general: Any, x: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A method of arrays where it is called, whatever the array holds."""
    made = None if short is None else short(x, *args, **kwargs)
    if made is not None:
        return made
    if numpy_.of_objects(x):
        return calls.method_handler_of(getattr(x, name))(x, *args, **kwargs)
    return general(x, *args, **kwargs)


_METHODS: dict[str, Short] = {
    "sum": _reduction(ndarray.sum, False),
    "mean": _reduction(ndarray.mean, True),
    "max": _extreme(ndarray.max, ndarray.argmax),
    "min": _extreme(ndarray.min, ndarray.argmin),
    "dot": _product(ndarray.dot),
    "copy": _copied,
    **{name: _viewed(getattr(ndarray, name)) for name in ("reshape", "ravel", "transpose", "swapaxes")},
}
OPERATORS["matmul"] = WITHOUT_NUMBERS["matmul"] = _product(operator.matmul)
for _f, _short in FUNCTIONS.items():
    calls.KNOWN[_f] = _entry(_short, calls.KNOWN[_f])

# By name, what places remember of methods of arrays.
METHODS: dict[str, Any] = {
    name: functools.partial(run_method, name, _METHODS.get(name), general)
    for (cls, name), general in calls.METHODS.items()
    if cls is ndarray
}
calls.METHODS.update({(ndarray, name): entry for name, entry in METHODS.items()})
