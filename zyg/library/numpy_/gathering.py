"""The loops behind `a[i]` and `a[i] = v` with arrays of indices (see frontend/selection.py).

`index` is a tuple of arrays of indices of one length, checked; the axes that they index stand behind others, of which `before`
has one item each (so that how many there are is known when compiling).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays, indexing
from zyg.frontend.functions import shared, shared_with_adjoint, unchecked
from zyg.frontend.values import Abstract, Known
from zyg.rules import adjoint, tangent

from .. import kernels
from ..intrinsics import machine, select
from ..registry import emits

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator


def store(target: Any, place: Any, value: Any) -> None:
    """target[place] = value, for a value that is a number or has the shape of what it is assigned to."""
    target[place] = value


@emits(store)
def _store(e: Evaluator, target: Abstract, place: Abstract, value: Abstract) -> Abstract:
    if isinstance(value, arrays.ARRAYS):
        arrays.copy_elements(e, indexing.get_item(e, target, place), value)
    else:
        indexing.set_item(e, target, place, value)
    return Known(None)


@shared_with_adjoint
@unchecked
def gather(target: Any, source: Any, before: tuple[None, ...], index: Any) -> None:
    if len(before) == 0:
        for n in range(len(target)):
            store(target, n, source[tuple([i[n] for i in index])])
    elif len(before) == 1:
        for m in range(len(target)):
            for n in range(target.shape[1]):
                store(target, (m, n), source[(m, *[i[n] for i in index])])
    else:
        for m in range(len(target)):
            gather(target[m], source[m], before[1:], index)


def taken(source: Any, index: Any) -> Any:
    """source[index], for doubles, or rows of doubles, by one list of int64."""
    rows = _as_rows(source)
    result = np.empty((len(index), *source.shape[1:]))
    made = _as_rows(result)
    (n, m), (m0, m1), (r0, r1) = made.shape, made.strides, rows.strides
    kernels.take_rows(n, m, made, m0, m1, rows, r0, r1, index, index.strides[0], len(rows))
    return result


def add_taken(target: Any, index: Any, values: Any) -> None:
    """target[index] += values, one after the other, of the same."""
    rows, added = _as_rows(target), _as_rows(values)
    (n, m), (a0, a1), (r0, r1) = added.shape, added.strides, rows.strides
    kernels.add_rows(n, m, added, a0, a1, rows, r0, r1, index, index.strides[0], len(rows))


def _as_rows(a: Any) -> Any:
    return a if a.ndim == 2 else a[:, None]


def each_others_rules(take: Callable[..., Any], add: Callable[..., Any]) -> None:
    """The rules of what takes elements by an index, take(source, index), and of what adds to these, add(target, index, values)."""

    @adjoint(take)
    def taken_back(source: Any, index: Any) -> Any:
        return take(source, index), lambda d: (lambda made: add(made, index, d), None)

    @tangent(take)
    def taken_along(source: Any, index: Any) -> Any:
        return take(source, index), lambda moved, _: take(moved, index)

    @adjoint(add, mutates="target")
    def added_back(target: Any, index: Any, values: Any) -> Any:
        add(target, index, values)
        return None, lambda _, d: (d, None, take(d, index))

    @tangent(add, mutates="target")
    def added_along(target: Any, index: Any, values: Any) -> Any:
        add(target, index, values)

        def push(moved: Any, _: Any, added: Any) -> Any:
            made = moved.copy()
            add(made, index, added)
            return None, made

        return None, push


each_others_rules(taken, add_taken)


@unchecked
def scatter(target: Any, value: Any, before: tuple[None, ...], index: Any) -> None:
    if len(before) == 0:
        for n in range(len(index[0])):
            store(target, tuple([i[n] for i in index]), value[n] if isinstance(value, np.ndarray) else value)
    elif len(before) == 1:
        for m in range(len(target)):
            for n in range(len(index[0])):
                place = (m, *[i[n] for i in index])
                store(target, place, value[m, n] if isinstance(value, np.ndarray) else value)
    else:
        for m in range(len(target)):
            scatter(target[m], value[m] if isinstance(value, np.ndarray) else value, before[1:], index)


@unchecked
def update(target: Any, value: Any, before: tuple[None, ...], index: Any, function: Callable[..., Any]) -> None:
    """target[index] = function(target[index], value), one after the other; without the value, where that is None."""
    if len(before) == 0:
        for n in range(len(index[0])):
            place = tuple([i[n] for i in index])
            if value is None:
                target[place] = function(target[place])
            else:
                target[place] = function(target[place], value[n] if isinstance(value, np.ndarray) else value)
    else:
        for m in range(len(target)):
            update(target[m], value[m] if isinstance(value, np.ndarray) else value, before[1:], index, function)


@shared
@unchecked
def check_range(index: Any, size: int, axis: int, count: int) -> None:
    """IndexError if an index is out of range, unless there is nothing to take."""
    if index.dtype == np.int64:
        at = kernels.first_outside(len(index), index, index.strides[0], size)
        if at < len(index) and count > 0:
            raise IndexError(f"index {int(index[at])} is out of bounds for axis {axis} with size {size}")
        return
    outside = False
    for n in range(len(index)):
        i = int(index[n])
        outside = outside | (i < -size) | (i >= size)
    if outside and count > 0:
        for n in range(len(index)):
            i = int(index[n])
            if i < -size or i >= size:
                raise IndexError(f"index {i} is out of bounds for axis {axis} with size {size}")


@unchecked
def positions_of_range(r: Any) -> Any:
    result = np.empty(len(r), np.int64)
    for n, x in enumerate(r):
        result[n] = x
    return result


@unchecked
def flat_nonzero(flags: Any) -> Any:
    """The positions where an array of one axis is not zero."""
    if flags.dtype == np.bool_:
        result = np.empty(kernels.count_set(len(flags), flags, flags.strides[0]), np.int64)
        kernels.places_set(len(result), result, len(flags), flags, flags.strides[0])
        return result
    count = 0
    for n in range(len(flags)):
        count += select(bool(flags[n]), 1, 0)
    result = np.empty(count, np.int64)
    k = 0
    for n in range(len(flags)):
        if flags[n]:
            result[k] = n
            k = machine("add", k, 1)
    return result


@unchecked
def unravelled(flat: Any, shape: Any) -> Any:
    """The index along each axis of positions in an array of this shape, counted row by row."""
    result = []
    rest = flat
    for length in shape[:0:-1]:
        result.append(remainders(rest, length))
        rest = quotients(rest, length)
    return (rest, *result[::-1])


@unchecked
def remainders(flat: Any, length: int) -> Any:
    result = np.empty(len(flat), np.int64)
    for n in range(len(flat)):
        result[n] = machine("mod", int(flat[n]), length)
    return result


@unchecked
def quotients(flat: Any, length: int) -> Any:
    result = np.empty(len(flat), np.int64)
    for n in range(len(flat)):
        result[n] = machine("floordiv", int(flat[n]), length)
    return result
