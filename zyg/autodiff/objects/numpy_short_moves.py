"""Short paths for arrays of floats: views, copies, what puts arrays together. (`numpy_backs` says what for.)"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import numpy_native
from .cotangents import Refused
from .numpy_ import refuse
from .numpy_backs import BESIDE, REAL, Made, Short, is_size, ndarray, of_floats, run_one, run_operands
from .numpy_short_elements import AS_IT_IS, itself
from .shadows import F64, add_all, owner_of


def viewed(function: Any) -> Short:
    """Of what gives a view of the same memory, if it does here: the shadow of a view is one."""

    def short(x: Any, *sizes: Any, **options: Any) -> Made:
        if type(x) is not ndarray or x.dtype not in BESIDE or options or not all(map(is_size, sizes)):
            return None
        y = function(x, *sizes)
        return (y, None) if owner_of(y) is owner_of(x) else None

    return short


def copied(function: Any) -> Short:
    def short(x: Any, *others: Any, **options: Any) -> Made:
        if not of_floats(x) or others or options:
            return None
        y = function(x)
        if x.dtype is F64:
            return y, (numpy_native.run, y, x, None, None, None, AS_IT_IS)
        return y, (run_one, y, x, itself, None, None)

    return short


def turned(function: Any, backwards: Callable[..., Any]) -> Short:
    """Of what moves each element to another place, and of what moves it back: both by the same arguments."""

    def short(x: Any, *others: Any, **options: Any) -> Made:
        if not of_floats(x) or not others or not all(map(is_size, (*others, *options.values()))):
            return None
        y = function(x, *others, **options)
        y = y if y.base is None else y.copy()
        return y, (run_one, y, x, backwards, others, options)

    return short


def rolled_back(dy: Any, shifts: Any, options: Any) -> Any:
    shift, *axis = shifts
    return np.roll(dy, tuple([-s for s in shift]) if type(shift) is tuple else -shift, *axis, **options)


def array(x: Any, dtype: Any = None, *others: Any, **options: Any) -> Made:
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
        return stacked(np.array, x, 0) if _are_joined(x) else None
    if types == _LISTS and x[0] and all(map(_SOME_NUMBERS, x)):
        y = np.array(x, dtype)
        return (y, (run_made_of_rows, y, tuple(x))) if y.dtype is F64 else None
    return None


def counted(*args: Any, **kwargs: Any) -> Made:
    """`np.arange` of ints."""
    return None if kwargs or not _INT.issuperset(map(type, args)) else (np.arange(*args), None)


_INT = frozenset({int})
_COPIED = copied(np.array)
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
    add_all(shadows, x, 0, ds)
    return None


def run_made_of_rows(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x = back
    dy = shadows.take_made(y)
    if dy is not None:
        rows = [[dy] * y.shape[1]] * len(x) if type(dy) is Refused else dy.tolist()
        for row, ds in zip(x, rows):
            add_all(shadows, row, 0, ds)
    return None


def stacked(function: Any, arrays: Any, axis: int, *options: Any) -> Made:
    """Of arrays of one shape, which become parts of a new one along a new axis."""
    first = arrays[0]
    if not first.ndim or axis < 0:
        return None
    y = function(arrays, *options)
    if y.dtype is not F64 or y.ndim != first.ndim + 1:  # (rows that are not alike)
        return None
    return y, (run_joined, y, tuple(arrays), [(*(slice(None),) * axis, k) for k in range(len(arrays))])


def concatenated(function: Any, arrays: Any, axis: int, *options: Any) -> Made:
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
        shadow = shadows.views.get(id(x))
        if shadow is None:
            shadows.gain(x, dy[key].copy())
        else:
            shadow += dy[key]
    return None


def joining(function: Any, how: Callable[[int], tuple[Any, int]]) -> Short:
    """Of a list or tuple of arrays. how: by the dimensions of the arrays, in what way, and along which axis if none is given."""

    def short(arrays: Any, axis: Any = None, *others: Any, **options: Any) -> Made:
        if others or options or type(arrays) not in _SEQUENCES or not _are_joined(arrays):
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


def appended(x: Any, values: Any = None, *others: Any, **options: Any) -> Made:
    """Of a number, or of an array, to a vector."""
    if others or options or not of_floats(x) or x.ndim != 1 or x.dtype is not F64:
        return None
    if type(values) in REAL:
        y = np.append(x, values)
        return y, (run_operands, y, (x, values), _of_append, None, None)
    if type(values) is not ndarray or values.dtype is not F64 or values.ndim != 1:
        return None
    return concatenated(lambda arrays: np.append(*arrays), (x, values), 0)


def _of_append(dy: Any, p: Any, q: Any) -> Any:
    return dy[:-1].copy(), dy[-1:]
