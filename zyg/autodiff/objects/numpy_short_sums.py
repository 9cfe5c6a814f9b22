"""Short paths for arrays of floats: products of vectors and matrices, sums, means, the largest element. (`numpy_backs` says what for.)"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from zyg.backend.pulls import Case

from . import numpy_native
from .cotangents import Refused
from .numpy_ import refuse
from .numpy_backs import (
    F32,
    NUMBERS,
    Made,
    Short,
    is_size,
    isfinite,
    ndarray,
    of_floats,
    run_number_of_one,
    run_number_of_two,
    run_one,
    run_two,
    strong,
    times,
)
from .numpy_items import run_number
from .numpy_native import LOOPS, SMALL, Plan, plan, recorded
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
        if a.dtype is F64:
            return recorded(_CASES[a.ndim, b.ndim], y, a, b)
        if cotangents is _of_dot:
            return y, (run_number_of_two, a, b, _of_dot, a.copy(), b.copy())
        return y, (run_two, y, a, b, cotangents, None, a.copy(), b.copy())

    return short


def _each(dy: Any, slope: Any) -> Any:
    """Products one by one, as native code has them: nothing times an infinite slope is nothing. (What BLAS makes of it depends on
    the machine and on shapes: some of its functions pass over zeros.)"""
    return strong(dy * slope, dy, slope)


def _is_plain(dy: Any, *found: Any) -> bool:
    """Whether cotangents of products are what BLAS has found. (Of many, where there is nothing that is 0, the infinite ones are, too.)"""
    return all(isfinite(np.vdot(c, c)) for c in (dy, *found)) or dy.size > SMALL and bool(dy.all())


def _of_dot(d: Any, a: Any, b: Any) -> Any:
    return times(d, b), times(d, a)


def _of_matrix_vector(dy: Any, y: Any, a: Any, b: Any) -> Any:
    da, db = dy.reshape(-1, 1).dot(b.reshape(1, -1)), dy.dot(a)
    if _is_plain(dy, da, db):
        return da, db
    return _each(dy[:, None], b), _each(dy[:, None], a).sum(0)


def _of_vector_matrix(dy: Any, y: Any, a: Any, b: Any) -> Any:
    da, db = b.dot(dy), a.reshape(-1, 1).dot(dy.reshape(1, -1))
    if _is_plain(dy, da, db):
        return da, db
    return _each(dy, b).sum(1), _each(dy, a[:, None])


def _of_matrices(dy: Any, y: Any, a: Any, b: Any) -> Any:
    da, db = dy.dot(b.T), a.T.dot(dy)
    if not _is_plain(dy, da, db):
        da, db = np.empty_like(da), np.zeros_like(db)
        for row, of_row, factors in zip(dy, da, a):
            of_row[...] = _each(row, b).sum(1)
            db += _each(row, factors[:, None])
    return da, db


_PRODUCTS = {(1, 1): _of_dot, (2, 1): _of_matrix_vector, (1, 2): _of_vector_matrix, (2, 2): _of_matrices}


def _product_case(cotangents: Any, y: tuple[int, ...], a: tuple[int, ...], b: tuple[int, ...]) -> Case:
    usual = lambda y, a, b, p, q: (run_two, y, a, b, cotangents, None, p, q)
    return Case(plan("product", usual, y=y, p=a, q=b, a=a, b=b), "a", "b")


def _usual_dot(y: Any, a: Any, b: Any, p: Any, q: Any) -> Any:
    return run_number_of_two, a, b, _of_dot, p, q


# By the dimensions of the operands. Of two matrices i, j and j, k the loops are those of i, j, and k.
_CASES = {
    (1, 1): Case(plan("product", _usual_dot, of_number=True), "a", "b"),
    (1, 2): _product_case(_of_vector_matrix, y=(-1, 0), a=(0, -1), b=(0, 1)),
    (2, 1): _product_case(_of_matrix_vector, y=(0, -1), a=(0, 1), b=(-1, 0)),
    (2, 2): _product_case(_of_matrices, y=(0, -1, 1), a=(0, 1, -1), b=(-1, 0, 1)),
}
CASES = list(_CASES.values())


def outer(a: Any, b: Any = None, *others: Any, **options: Any) -> Made:
    if not of_floats(a) or not of_floats(b) or others or options or a.ndim != 1 or b.ndim != 1:
        return None
    y = np.outer(a, b)
    if a.dtype is F64 and b.dtype is F64:
        return recorded(_OUTER, y, a, b)
    return y, (run_two, y, a, b, _of_outer, None, a.copy(), b.copy())


def _of_outer(dy: Any, y: Any, a: Any, b: Any) -> Any:
    da, db = dy.dot(b), a.dot(dy)
    if _is_plain(dy, da, db):
        return da, db
    return _each(dy, b).sum(1), _each(dy, a[:, None]).sum(0)


_OUTER = _product_case(_of_outer, y=(0, 1), a=(0, -1), b=(-1, 0))


def reduction(function: Any, is_mean: bool) -> Short:
    """Of sums and means, of all elements or along axes."""
    add = np.add.reduce

    def short(x: Any, axis: Any = None, *others: Any, keepdims: Any = False, **options: Any) -> Made:
        if type(x) is not ndarray or not (x.dtype is F64 or x.dtype is F32) or others or options or x.size == 0:
            return None
        if axis is None and not keepdims:
            if x.dtype is F64:  # (what NumPy does)
                y = add(x, axis=None)
                return y / x.size if is_mean else y, (
                    numpy_native.run,
                    None,
                    x,
                    None,
                    None,
                    x.size if is_mean else 1,
                    _EVENLY,
                )
            return function(x), (run_number_of_one, x, _evenly, x.size if is_mean else 1)
        if type(keepdims) is not bool or not (axis is None or is_size(axis)):
            return None
        if x.dtype is F64:  # (what NumPy does)
            y = add(x, axis=axis, keepdims=keepdims)
            count = x.size // y.size
            if is_mean:
                y /= count
        else:
            y = function(x, axis, keepdims=keepdims) if keepdims else function(x, axis)
            count = x.size // y.size
        if type(y) is not ndarray:
            return (y, (run_number_of_one, x, _evenly, count if is_mean else 1)) if type(y) in NUMBERS else None
        if x.dtype is F64 and x.ndim <= LOOPS:
            return y, (numpy_native.run, y, x, None, None, count if is_mean else 1, _plan_along(x.ndim, axis, keepdims))
        shape = list(x.shape)
        for k in _axes(x.ndim, axis):
            shape[k] = 1
        return y, (run_one, y, x, _along, x.shape, (tuple(shape), count if is_mean else 1))

    return short


def _axes(ndim: int, axis: Any) -> tuple[int, ...]:
    return tuple(range(ndim)) if axis is None else axis if type(axis) is tuple else (axis,)


_EVENLY = plan("over", lambda y, a, b, p, q: (run_number_of_one, a, _evenly, q), of_number=True)


@functools.lru_cache(256)
def _plan_along(ndim: int, axis: Any, keepdims: bool) -> Plan:
    """Of a sum or mean along axes, over the number that is kept."""
    gone = {k % ndim for k in _axes(ndim, axis)}

    def usual(y: Any, a: Any, b: Any, p: Any, q: Any) -> Any:
        return run_one, y, a, _along, a.shape, (tuple([1 if k in gone else n for k, n in enumerate(a.shape)]), q)

    rest = itertools.count()
    places = [(k if keepdims else -1) if k in gone else k if keepdims else next(rest) for k in range(ndim)]
    return plan("over", usual, y=tuple(places))


def _evenly(d: Any, x: Any, count: int) -> Any:
    c = np.empty(x.shape, x.dtype)
    c.fill(d / count)
    return c


def _along(dy: Any, shape: Any, kept: Any) -> Any:
    c = np.empty(shape, dy.dtype)
    c[...] = dy.reshape(kept[0])
    return c if kept[1] == 1 else c / kept[1]


def extreme(function: Any, position: Any, reduced: Any) -> Short:
    """Of the largest or smallest element, of all or of each row or column of a matrix. The first one that is it gets the cotangent."""

    def short(x: Any, axis: Any = None, *others: Any, keepdims: Any = False, **options: Any) -> Made:
        if not of_floats(x) or others or options or x.size == 0 or type(keepdims) is not bool:
            return None
        if not keepdims and (axis is None or x.ndim == 1 and type(axis) is int):
            return function(x, axis), (run_number, x, np.unravel_index(position(x), x.shape))
        if type(axis) is not int or x.ndim != 2:
            return None
        if x.dtype is F64:
            where = position(x, axis, keepdims=True).astype(float)
            y = reduced(x, axis=axis, keepdims=keepdims)
            return y, (
                numpy_native.run,
                y,
                x,
                None,
                where,
                _places(x.shape[axis], axis),
                _plan_picked(axis % 2, keepdims),
            )
        y = function(x, axis, keepdims=keepdims)
        along = position(x, axis)
        return y, (run_elements, y, x, _keys(along, axis))

    return short


def _keys(along: Any, axis: int) -> Any:
    """The places of elements, by where they are along an axis of a matrix."""
    places = np.arange(len(along))
    return (places, along) if axis % 2 else (along, places)


@functools.lru_cache(256)
def _places(count: int, axis: int) -> Any:
    """The indices along an axis of a matrix, as numbers."""
    return np.arange(float(count)).reshape((-1,) if axis % 2 else (-1, 1))


@functools.lru_cache(16)
def _plan_picked(axis: int, keepdims: bool) -> Plan:
    def usual(y: Any, a: Any, b: Any, p: Any, q: Any) -> Any:
        return run_elements, y, a, _keys(p.astype(int).ravel(), axis)

    places = (0, 1) if keepdims else (0, -1) if axis else (-1, 0)
    return plan("picked", usual, y=places)


def run_elements(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x, key = back
    dy = shadows.take_made(y)
    if dy is not None:
        if type(dy) is Refused:
            refuse(x, dy, shadows)
        else:
            shadows.of_array(x)[key] += dy.reshape(-1)  # each of them in a place of its own
    return None
