"""Short paths for arrays of floats: products of vectors and matrices, sums, means, the largest element. (`numpy_backs` says what for.)"""

from __future__ import annotations

from typing import Any

import numpy as np

from .cotangents import Refused
from .numpy_ import refuse
from .numpy_backs import (
    F32,
    NUMBERS,
    Made,
    Short,
    is_size,
    ndarray,
    of_floats,
    run_number_of_one,
    run_number_of_two,
    run_one,
    run_two,
)
from .numpy_items import run_number
from .shadows import F64


def product(function: Any) -> Short:
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


def outer(a: Any, b: Any = None, *others: Any, **options: Any) -> Made:
    if not of_floats(a) or not of_floats(b) or others or options or a.ndim != 1 or b.ndim != 1:
        return None
    y = np.outer(a, b)
    return y, (run_two, y, a, b, _of_outer, None, a.copy(), b.copy())


def _of_outer(dy: Any, y: Any, a: Any, b: Any) -> Any:
    return dy.dot(b), a.dot(dy)


def reduction(function: Any, is_mean: bool) -> Short:
    """Of sums and means, of all elements or along axes."""

    def short(x: Any, axis: Any = None, *others: Any, keepdims: Any = False, **options: Any) -> Made:
        if type(x) is not ndarray or not (x.dtype is F64 or x.dtype is F32) or others or options or x.size == 0:
            return None
        if axis is None and not keepdims:
            return function(x), (run_number_of_one, x, _evenly, x.size if is_mean else 1)
        if type(keepdims) is not bool or not (axis is None or is_size(axis)):
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


def extreme(function: Any, position: Any) -> Short:
    """Of the largest or smallest element, of all or of each row or column of a matrix. The first one that is it gets the cotangent."""

    def short(x: Any, axis: Any = None, *others: Any, keepdims: Any = False, **options: Any) -> Made:
        if not of_floats(x) or others or options or x.size == 0 or type(keepdims) is not bool:
            return None
        if not keepdims and (axis is None or x.ndim == 1 and type(axis) is int):
            return function(x, axis), (run_number, x, np.unravel_index(position(x), x.shape))
        if type(axis) is not int or x.ndim != 2:
            return None
        y = function(x, axis, keepdims=keepdims)
        places, along = np.arange(x.shape[1 - axis % 2]), position(x, axis)
        return y, (run_elements, y, x, (places, along) if axis % 2 else (along, places))

    return short


def run_elements(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x, key = back
    dy = shadows.take_made(y)
    if dy is not None:
        if type(dy) is Refused:
            refuse(x, dy, shadows)
        else:
            shadows.of_array(x)[key] += dy.reshape(-1)  # each of them in a place of its own
    return None
