"""Short paths for functions of arrays of floats: of elements, products, reductions, copies, joins. (`numpy_backs` says what for.)"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from . import builtins_, calls, numpy_, numpy_functions, numpy_methods, numpy_products
from .cotangents import Refused
from .numpy_ import refuse
from .numpy_backs import (
    BESIDE,
    BOOL,
    F32,
    FLOATS,
    NUMBERS,
    REAL,
    Made,
    Short,
    isfinite,
    ndarray,
    of_floats,
    run_number_of_one,
    run_number_of_two,
    run_one,
    run_operands,
    run_two,
    strong,
    times,
)
from .numpy_operators import OPERATORS, WITHOUT_NUMBERS
from .shadows import F64, owner_of

_GENERAL = numpy_functions, numpy_methods, numpy_products  # whose entries are there first


# --------------------------------------------------------------------------------------------- functions of elements


def _function(u: np.ufunc) -> Short:
    """Of a function of elements, of one argument."""
    uses_y, uses_x, slopes = numpy_.UFUNCS[u]

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
        return y, (run_one, y, x, _by_slope, slopes, (y.copy() if uses_y else None, x.copy() if uses_x else None))

    return short


def _by_slope(dy: Any, slopes: Any, kept: Any) -> Any:
    return times(dy, slopes(*kept)[0])


def run_function_of_numbers(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    if type(d) is Refused:
        return (None, *[d] * (len(back) - 3))
    shadows.hush()
    return (None, *[_by_number(d, float(slope)) for slope in back[2](back[1], *back[3:])])


def _by_number(d: Any, slope: float) -> Any:
    return d * slope if isfinite(slope) else float(strong(d * slope, d, slope))


def _function_of_two(u: np.ufunc) -> Short:
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
    return [times(dy, slope) for slope in slopes(*kept)]


def _called(u: np.ufunc) -> Short:
    """Of the function that an operator calls."""
    record = OPERATORS[_NAMES[u]]
    otherwise = _function_of_two(u)

    def short(*operands: Any, **options: Any) -> Made:
        if len(operands) != 2 or options:
            return None
        made = record(*operands) if type(operands[0]) is ndarray or type(operands[1]) is ndarray else None
        return otherwise(*operands) if made is None else (made[0], (builtins_.run_shift, made[1]))

    return short


_NAMES = {u: name for name, u in numpy_.OPERATORS.items() if name in OPERATORS}


def _choice(u: np.ufunc, wins: Any, of_nans: bool) -> Short:
    """Of the larger or smaller one of two arrays, or of an array and a number: where the second one wins, it gets the cotangent.

    of_nans: whether a nan wins.
    """
    of_numbers = _function_of_two(u)

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
        return y, (run_operands, y, (a, b), _chosen, second, None)

    return short


def _chosen(dy: Any, second: Any, _: Any) -> Any:
    return np.where(second, 0.0, dy), np.where(second, dy, 0.0)


def _where(condition: Any, a: Any = None, b: Any = None, /, *others: Any, **options: Any) -> Made:
    if others or options or not (_is_operand(a) and _is_operand(b)):
        return None
    if type(condition) is not ndarray or condition.dtype is not BOOL:
        return None
    y = np.where(condition, a, b)
    return (
        (y, (run_operands, y, (condition, a, b), _of_where, condition.copy(), None))
        if y.dtype in FLOATS and y.ndim
        else None
    )


def _of_where(dy: Any, condition: Any, _: Any) -> Any:
    return None, np.where(condition, dy, 0.0), np.where(condition, 0.0, dy)


def _clipped(function: Any) -> Short:
    def short(x: Any, low: Any = None, high: Any = None, /, *others: Any, **options: Any) -> Made:
        """Between two numbers."""
        if not of_floats(x) or others or options or type(low) not in REAL or type(high) not in REAL or not low <= high:
            return None
        y = function(x, low, high)
        if type(y) is not ndarray or y.dtype is not x.dtype:
            return None
        return y, (run_operands, y, (x, low, high), _of_clip, x < low, x > high)

    return short


def _of_clip(dy: Any, below: Any, above: Any) -> Any:
    return np.where(below | above, 0.0, dy), np.where(below, dy, 0.0), np.where(above, dy, 0.0)


# --------------------------------------------------------------------------------------------------------- products


def _product(function: Any) -> Short:
    """Of a product of vectors and matrices."""

    def short(a: Any, b: Any = None, *others: Any, **options: Any) -> Made:
        if type(a) is not ndarray or type(b) is not ndarray or others or options:
            return None
        if not (a.dtype is F64 and b.dtype is F64) and not (a.dtype is F32 and b.dtype is F32):
            return None
        cotangents = _PRODUCTS.get((a.ndim, b.ndim))
        if cotangents is None:
            return None
        y = function(a, b)
        if cotangents is _of_dot:
            return y, (run_number_of_two, a, b, _of_dot, a.copy(), b.copy())
        return y, (run_two, y, a, b, cotangents, None, a.copy(), b.copy())

    return short


def _of_dot(d: Any, a: Any, b: Any) -> Any:
    return b * d, a * d


def _of_matrix_vector(dy: Any, y: Any, a: Any, b: Any) -> Any:
    return dy.reshape(-1, 1).dot(b.reshape(1, -1)), dy.dot(a)


def _of_vector_matrix(dy: Any, y: Any, a: Any, b: Any) -> Any:
    return b.dot(dy), a.reshape(-1, 1).dot(dy.reshape(1, -1))


def _of_matrices(dy: Any, y: Any, a: Any, b: Any) -> Any:
    return dy.dot(b.T), a.T.dot(dy)


_PRODUCTS = {(1, 1): _of_dot, (2, 1): _of_matrix_vector, (1, 2): _of_vector_matrix, (2, 2): _of_matrices}


def _outer(a: Any, b: Any = None, *others: Any, **options: Any) -> Made:
    if not of_floats(a) or not of_floats(b) or others or options or a.ndim != 1 or b.ndim != 1:
        return None
    y = np.outer(a, b)
    return y, (run_two, y, a, b, _of_outer, None, a.copy(), b.copy())


def _of_outer(dy: Any, y: Any, a: Any, b: Any) -> Any:
    return dy.dot(b), a.dot(dy)


# ------------------------------------------------------------------------------------------------------- reductions


def _reduction(function: Any, is_mean: bool) -> Short:
    """Of sums and means, of all elements or along axes."""

    def short(x: Any, axis: Any = None, *others: Any, keepdims: Any = False, **options: Any) -> Made:
        if type(x) is not ndarray or not (x.dtype is F64 or x.dtype is F32) or others or options or x.size == 0:
            return None
        if axis is None and not keepdims:
            return function(x), (run_number_of_one, x, _evenly, x.size if is_mean else 1)
        if type(keepdims) is not bool or not (axis is None or _is_size(axis)):
            return None
        y = function(x, axis, keepdims=keepdims) if keepdims else function(x, axis)
        count = x.size // y.size
        if type(y) is not ndarray:
            return (y, (run_number_of_one, x, _evenly, count if is_mean else 1)) if type(y) in NUMBERS else None
        shape = list(x.shape)
        for k in range(x.ndim) if axis is None else axis if type(axis) is tuple else (axis,):
            shape[k] = 1
        return y, (run_one, y, x, _along, x.shape, (tuple(shape), count if is_mean else 1))

    return short


def _evenly(d: Any, x: Any, count: int) -> Any:
    c = np.empty(x.shape, x.dtype)
    c.fill(d / count)
    return c


def _along(dy: Any, shape: Any, kept: Any) -> Any:
    c = np.empty(shape, dy.dtype)
    c[...] = dy.reshape(kept[0])
    return c if kept[1] == 1 else c / kept[1]


def _extreme(function: Any, position: Any) -> Short:
    """Of the largest or smallest element, of all or of each row or column of a matrix. The first one that is it gets the cotangent."""

    def short(x: Any, axis: Any = None, *others: Any, keepdims: Any = False, **options: Any) -> Made:
        if not of_floats(x) or others or options or x.size == 0 or type(keepdims) is not bool:
            return None
        if not keepdims and (axis is None or x.ndim == 1 and type(axis) is int):
            return function(x, axis), (run_element, x, np.unravel_index(position(x), x.shape))
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


# ---------------------------------------------------------------------------------------------- views, copies, joins


def _viewed(function: Any) -> Short:
    """Of what gives a view of the same memory, if it does here: the shadow of a view is one."""

    def short(x: Any, *sizes: Any, **options: Any) -> Made:
        if type(x) is not ndarray or x.dtype not in BESIDE or options or not all(map(_is_size, sizes)):
            return None
        y = function(x, *sizes)
        return (y, None) if owner_of(y) is owner_of(x) else None

    return short


def _is_size(x: Any) -> bool:
    return type(x) is int or (type(x) is tuple and _INTS.issuperset(map(type, x)))


_INTS = frozenset({int})


def _copied(function: Any) -> Short:
    def short(x: Any, *others: Any, **options: Any) -> Made:
        if not of_floats(x) or others or options:
            return None
        y = function(x)
        return y, (run_one, y, x, _itself, None, None)

    return short


def _itself(dy: Any, p: Any, q: Any) -> Any:
    return dy


def _turned(function: Any, backwards: Callable[..., Any]) -> Short:
    """Of what moves each element to another place, and of what moves it back: both by the same arguments."""

    def short(x: Any, *others: Any, **options: Any) -> Made:
        if not of_floats(x) or not others or not all(map(_is_size, (*others, *options.values()))):
            return None
        y = function(x, *others, **options)
        y = y if y.base is None else y.copy()
        return y, (run_one, y, x, backwards, others, options)

    return short


def _rolled_back(dy: Any, shifts: Any, options: Any) -> Any:
    shift, *axis = shifts
    return np.roll(dy, tuple([-s for s in shift]) if type(shift) is tuple else -shift, *axis, **options)


def _array(x: Any, dtype: Any = None, *others: Any, **options: Any) -> Made:
    """`np.array` of a list or tuple of floats, of a list of rows of them, of a list of arrays, or of an array."""
    if others or options or not (dtype is None or dtype is float):
        return None
    if type(x) is ndarray:
        return _COPIED(x) if dtype is None or x.dtype is F64 else None
    if type(x) is not list and type(x) is not tuple or not x:
        return None
    types = frozenset(map(type, x))
    if types <= REAL and (dtype is None or type(x) is list):
        y = np.array(x, dtype)
        return (y, (run_made_of_numbers, y, x)) if y.dtype is F64 else None
    if types == _ARRAYS:
        return _stacked(np.array, x, 0) if _are_joined(x) else None
    if types == _LISTS and x[0] and all(map(_SOME_NUMBERS, x)):
        y = np.array(x, dtype)
        return (y, (run_made_of_rows, y, tuple(x))) if y.dtype is F64 else None
    return None


_COPIED = _copied(np.array)
_ARRAYS, _LISTS = frozenset({ndarray}), frozenset({list})
_SOME_NUMBERS = lambda row: REAL.issuperset(map(type, row))


def run_made_of_numbers(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x = back
    dy = shadows.take_made(y)
    if dy is None:
        return None
    ds = [dy] * len(y) if type(dy) is Refused else dy.tolist()
    if type(x) is tuple:
        return None, tuple(ds)
    shadows.add_all(x, 0, ds)
    return None


def run_made_of_rows(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x = back
    dy = shadows.take_made(y)
    if dy is not None:
        rows = [[dy] * y.shape[1]] * len(x) if type(dy) is Refused else dy.tolist()
        for row, ds in zip(x, rows):
            shadows.add_all(row, 0, ds)
    return None


def _stacked(function: Any, arrays: Any, axis: int, *options: Any) -> Made:
    """Of arrays of one shape, which become parts of a new one along a new axis."""
    first = arrays[0]
    if not first.ndim or axis < 0:
        return None
    y = function(arrays, *options)
    if y.dtype is not F64 or y.ndim != first.ndim + 1:  # (rows that are not alike)
        return None
    return y, (run_joined, y, tuple(arrays), [(*(slice(None),) * axis, k) for k in range(len(arrays))])


def _concatenated(function: Any, arrays: Any, axis: int, *options: Any) -> Made:
    """Of arrays that are put one behind the other."""
    if not arrays[0].ndim:
        return None
    y = function(arrays, *options)
    before = (slice(None),) * (axis % y.ndim)
    keys, start = [], 0
    for x in arrays:
        stop = start + x.shape[axis]
        keys.append((*before, slice(start, stop)))
        start = stop
    return y, (run_joined, y, tuple(arrays), keys)


def run_joined(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, arrays, keys = back
    dy = shadows.take_made(y)
    if dy is None:
        return None
    if type(dy) is Refused:
        for x in arrays:
            refuse(x, dy, shadows)
        return None
    for x, key in zip(arrays, keys):
        shadows.gain(x, dy[key].copy())
    return None


def _joining(function: Any, how: Callable[[int], tuple[Any, int]]) -> Short:
    """Of a list or tuple of arrays. how: by the dimensions of the arrays, in what way, and along which axis if none is given."""

    def short(arrays: Any, axis: Any = None, **options: Any) -> Made:
        if options or type(arrays) not in _SEQUENCES or not _are_joined(arrays):
            return None
        join, usual = how(arrays[0].ndim)
        if axis is None:
            return join(function, arrays, usual)
        return join(function, arrays, axis, axis) if type(axis) is int else None

    return short


_SEQUENCES = frozenset({list, tuple})


def _are_joined(arrays: Any) -> bool:
    """Whether these are arrays of float64, of the same number of dimensions."""
    return (
        frozenset(map(type, arrays)) == _ARRAYS
        and len({(x.ndim, x.dtype is F64) for x in arrays}) == 1
        and arrays[0].dtype is F64
    )


def _appended(x: Any, values: Any = None, *others: Any, **options: Any) -> Made:
    """Of a number, or of an array, to a vector."""
    if others or options or not of_floats(x) or x.ndim != 1 or x.dtype is not F64:
        return None
    if type(values) in REAL:
        y = np.append(x, values)
        return y, (run_operands, y, (x, values), _of_append, None, None)
    if type(values) is not ndarray or values.dtype is not F64 or values.ndim != 1:
        return None
    return _concatenated(lambda arrays: np.append(*arrays), (x, values), 0)


def _of_append(dy: Any, p: Any, q: Any) -> Any:
    return dy[:-1].copy(), dy[-1:]


# ---------------------------------------------------------------------------------------------------------- tables


def _entry(f: Any, short: Short, general: Any) -> Any:
    """A function of NumPy where it is called: by the short path, if that takes the arguments."""

    def entry(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        if not args:
            return calls.call_foreign(f, **kwargs)
        return short(*args, **kwargs) or general(*args, **kwargs)

    return entry


FUNCTIONS: dict[Any, Short] = {
    **{u: _function(u) if u.nin == 1 else _function_of_two(u) for u in numpy_.UFUNCS},
    **{u: _called(u) for u in _NAMES},
    **{f: _product(f) for f in (np.dot, np.matmul)},
    np.maximum: _choice(np.maximum, operator.gt, True),
    np.minimum: _choice(np.minimum, operator.lt, True),
    np.fmax: _choice(np.fmax, operator.gt, False),
    np.fmin: _choice(np.fmin, operator.lt, False),
    np.where: _where,
    np.clip: _clipped(np.clip),
    np.sum: _reduction(np.sum, False),
    np.mean: _reduction(np.mean, True),
    np.max: _extreme(np.max, ndarray.argmax),
    np.min: _extreme(np.min, ndarray.argmin),
    np.outer: _outer,
    np.array: _array,
    np.copy: _copied(np.copy),
    np.roll: _turned(np.roll, _rolled_back),
    np.concatenate: _joining(np.concatenate, lambda ndim: (_concatenated, 0)),
    np.stack: _joining(np.stack, lambda ndim: (_stacked, 0)),
    np.hstack: _joining(np.hstack, lambda ndim: (_concatenated, 0 if ndim == 1 else 1)),
    np.vstack: _joining(np.vstack, lambda ndim: (_stacked, 0) if ndim == 1 else (_concatenated, 0)),
    np.column_stack: _joining(np.column_stack, lambda ndim: (_stacked, 1) if ndim == 1 else (_concatenated, 1)),
    np.append: _appended,
    **{
        f: _viewed(f)
        for f in (np.reshape, np.ravel, np.transpose, np.swapaxes, np.expand_dims, np.squeeze, np.moveaxis)
    },
}


def run_method(name: str, short: Short | None, general: Any, x: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A method of arrays where it is called, whatever the array holds."""
    made = None if short is None else short(x, *args, **kwargs)
    if made is not None:
        return made
    if numpy_.of_objects(x):
        return calls.method_handler_of(getattr(x, name))(x, *args, **kwargs)
    return general(x, *args, **kwargs)


def _as_method(short: Short) -> Short:
    """Of the operands behind a function: those of a method come first."""

    def record(*args: Any, **kwargs: Any) -> Made:
        made = short(*args, **kwargs)
        return None if made is None else (made[0], (calls.run_shifted, made[1]))

    return record


_METHODS: dict[str, Short] = {
    "sum": _reduction(ndarray.sum, False),
    "mean": _reduction(ndarray.mean, True),
    "max": _extreme(ndarray.max, ndarray.argmax),
    "min": _extreme(ndarray.min, ndarray.argmin),
    "clip": _as_method(_clipped(ndarray.clip)),
    "dot": _product(ndarray.dot),
    "copy": _copied(ndarray.copy),
    **{name: _viewed(getattr(ndarray, name)) for name in ("reshape", "ravel", "transpose", "swapaxes", "squeeze")},
}
OPERATORS["matmul"] = WITHOUT_NUMBERS["matmul"] = _product(operator.matmul)
for _f, _short in FUNCTIONS.items():
    calls.KNOWN[_f] = _entry(_f, _short, calls.KNOWN[_f])

# By name, what places remember of methods of arrays.
METHODS: dict[str, Any] = {
    name: functools.partial(run_method, name, _METHODS.get(name), general)
    for (cls, name), general in calls.METHODS.items()
    if cls is ndarray
}
calls.METHODS.update({(ndarray, name): entry for name, entry in METHODS.items()})
