"""Sorting.

A permutation is found by comparisons, which have no derivative; the sorted numbers are those that it picks, so that the
derivative comes by itself.  All sorting is stable (merge sort), whatever `kind` says.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.frontend.functions import unchecked

from ..intrinsics import unsupported
from ..registry import implements
from .common import axis_index, constant, from_lines, is_differentiated, is_sequence, lines, product

RUN = 12  # numbers that are sorted by insertion
KINDS = (
    "quicksort",
    "heapsort",
    "mergesort",
    "stable",
    "quick",
    "heap",
    "merge",
    "Q",
    "q",
    "H",
    "h",
    "M",
    "m",
    "S",
    "s",
)


def before(x: Any, y: Any) -> Any:
    """Whether x stands before y in sorted order: nan is last, complex numbers are ordered by their real part first."""
    if isinstance(x, complex):
        x_imag, y_imag = x.imag == x.imag, y.imag == y.imag
        if x.real < y.real:
            return x_imag or not y_imag
        if x.real > y.real:
            return x_imag and not y_imag
        if x.real == y.real or (x.real != x.real and y.real != y.real):
            return x.imag < y.imag or (x_imag and not y_imag)
        return y.real != y.real
    if isinstance(x, (float, np.floating)):
        return x < y or (y != y and x == x)
    return x < y


@unchecked
def order_of(a: Any, order: Any) -> None:
    """Put into `order` the places of the numbers of a vector in sorted order."""
    n = len(a)
    for i in range(n):
        order[i] = i
    for start in range(0, n, RUN):
        for i in range(start + 1, min(start + RUN, n)):
            x = a[i]
            j = i
            while j > start and before(x, a[order[j - 1]]):
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
    width = RUN
    spare = np.empty(n if n > RUN else 0, np.int64)
    while width < n:
        for start in range(0, n, 2 * width):
            middle, stop = min(start + width, n), min(start + 2 * width, n)
            if middle < stop and before(a[order[middle]], a[order[middle - 1]]):
                i, j = start, middle
                for at in range(start, stop):
                    if j >= stop or (i < middle and not before(a[order[j]], a[order[i]])):
                        spare[at] = order[i]
                        i += 1
                    else:
                        spare[at] = order[j]
                        j += 1
                order[start:stop] = spare[start:stop]
        width *= 2


@unchecked
def sort_vector(a: Any) -> None:
    """The same for the numbers themselves, in their memory."""
    n = len(a)
    for start in range(0, n, RUN):
        for i in range(start + 1, min(start + RUN, n)):
            x = a[i]
            j = i
            while j > start and before(x, a[j - 1]):
                a[j] = a[j - 1]
                j -= 1
            a[j] = x
    width = RUN
    spare = np.empty(n if n > RUN else 0, a.dtype)
    while width < n:
        for start in range(0, n, 2 * width):
            middle, stop = min(start + width, n), min(start + 2 * width, n)
            if middle < stop and before(a[middle], a[middle - 1]):
                i, j = start, middle
                for at in range(start, stop):
                    if j >= stop or (i < middle and not before(a[j], a[i])):
                        spare[at] = a[i]
                        i += 1
                    else:
                        spare[at] = a[j]
                        j += 1
                a[start:stop] = spare[start:stop]
        width *= 2


@unchecked
def orders(rows: Any) -> Any:
    result = np.empty(rows.shape, np.int64)
    for i in range(len(rows)):
        order_of(rows[i], result[i])
    return result


@unchecked
def picked(rows: Any, places: Any) -> Any:
    """Of each row the numbers at these places."""
    result = np.empty(places.shape, rows.dtype)
    for i in range(places.shape[0]):
        for j in range(places.shape[1]):
            result[i, j] = rows[i, places[i, j]]
    return result


@unchecked
def sorted_rows(rows: Any) -> Any:
    """A copy of a matrix with sorted rows."""
    if is_differentiated():
        return picked(rows, orders(rows))
    result = rows.copy()
    for i in range(len(result)):
        sort_vector(result[i])
    return result


def check_kind(kind: Any) -> None:
    if kind is not None and kind not in KINDS:
        raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got '{kind}')")


FIELDS = {"order": "sort by one array after another, the most important one last, with kind='stable'"}


@implements(np.sort, instead=FIELDS)
def sort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> Any:
    check_kind(kind)
    source = np.asarray(a)
    if axis is None:
        source = source.ravel()
    axis = 0 if axis is None else axis_index(axis, source.ndim)
    return from_lines(sorted_rows(lines(source, axis)), source.shape, axis)


@implements((np.ndarray, "sort"), instead=FIELDS)
def sort_in_place(a: Any, axis: int = -1, kind: Any = None, *, stable: Any = None) -> None:
    a[...] = np.sort(a, axis, kind)


@implements(np.argsort, (np.ndarray, "argsort"), instead=FIELDS)
def argsort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> Any:
    check_kind(kind)
    source = np.asarray(a)
    if axis is None or source.ndim == 0:
        source = source.ravel()
        axis = 0
    axis = axis_index(axis, source.ndim)
    return from_lines(orders(lines(source, axis)), source.shape, axis)


def to_be_parted(a: Any, kth: Any, axis: Any) -> Any:
    """An array and the axis along which it is to be parted at these places."""
    source = a.ravel() if axis is None else a
    axis = 0 if axis is None else axis_index(axis, source.ndim)
    if source.size > 0:
        check_places(kth, source.shape[axis])
    return source, axis


def check_places(kth: Any, n: int) -> None:
    for k in tuple(kth) if is_sequence(kth) else (kth,):
        if k < -n or k >= n:
            raise ValueError(f"kth(={k + n if k < 0 else k}) out of bounds ({n})")


@implements(np.partition, instead=FIELDS)
def partition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect") -> Any:
    """All sorted, which is one of the orders that NumPy allows itself."""
    return np.sort(*to_be_parted(np.asarray(a), kth, axis))


@implements((np.ndarray, "partition"), instead=FIELDS)
def partition_in_place(a: Any, kth: Any, axis: int = -1, kind: Any = "introselect") -> None:
    a[...] = np.partition(a, kth, axis)


@implements(np.argpartition, (np.ndarray, "argpartition"), instead=FIELDS)
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect") -> Any:
    source = np.asarray(a)
    if source.ndim == 0:
        return np.argsort(*to_be_parted(source, kth, None))
    return np.argsort(*to_be_parted(source, kth, axis))


@implements(np.lexsort)
@unchecked
def lexsort(keys: Any, axis: int = -1) -> Any:
    """Sorted by the last key, then by the one before, and so on."""
    if not is_sequence(keys):
        unsupported("np.lexsort of keys that are not in a tuple, in native code", "pass a tuple of vectors")
    vectors = tuple(np.asarray(k) for k in keys)
    for v in vectors:
        if v.ndim != 1:
            unsupported("np.lexsort of matrices in native code", "pass a tuple of vectors")
        axis_index(axis, v.ndim)
        if len(v) != len(vectors[0]):
            raise ValueError("all keys need to be the same shape")
    order = np.arange(len(vectors[0]))
    places = np.empty(len(order), np.int64)
    for v in vectors:
        moved = np.empty(len(order), v.dtype)
        for i in range(len(order)):
            moved[i] = v[order[i]]
        order_of(moved, places)
        last = order.copy()
        for i in range(len(order)):
            order[i] = last[places[i]]
    return order


# ----------------------------------------------------------------------------------------------- different numbers


@implements(np.unique)
def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: Any = None,
    *, equal_nan: bool = True,
) -> Any:  # fmt: skip
    a = np.asarray(ar)
    if axis is not None and a.ndim != 1:
        at = axis_index(axis, a.ndim)
        moved = np.ascontiguousarray(np.moveaxis(a, at, 0))
        rows = moved.reshape((len(moved), product(moved.shape[1:])))
        first, inverse, counts = grouped(rows, order_of_rows(rows), equal_rows)
        found = np.empty((len(first), rows.shape[1]), a.dtype)
        for i in range(len(first)):
            found[i] = rows[first[i]]
        values = np.moveaxis(found.reshape((len(first), *moved.shape[1:])), 0, at)
        shape = (len(moved),)
    else:
        first, inverse, counts = groups(a.ravel(), equal_nan)
        values, shape = at_places(a.ravel(), first), a.shape
    result = (values,)
    if constant(return_index, "the flag return_index"):
        result = (*result, first)
    if constant(return_inverse, "the flag return_inverse"):
        result = (*result, inverse.reshape(shape))
    if constant(return_counts, "the flag return_counts"):
        result = (*result, counts)
    return values if len(result) == 1 else result


@unchecked
def at_places(a: Any, places: Any) -> Any:
    result = np.empty(len(places), a.dtype)
    for i in range(len(places)):
        result[i] = a[places[i]]
    return result


def groups(a: Any, equal_nan: bool) -> Any:
    """Of a vector: where each number stands first, which of the different ones each is, and how many there are of each."""
    order = np.empty(len(a), np.int64)
    order_of(a, order)
    return grouped(a, order, lambda x, y: x == y or (equal_nan and x != x and y != y))


@unchecked
def grouped(a: Any, order: Any, same: Any) -> Any:
    """The same of anything in an order in which what is the same stands together."""
    n = len(a)
    inverse = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        if i == 0 or not same(a[order[i]], a[order[i - 1]]):
            count += 1
        inverse[order[i]] = count - 1
    first, counts = np.empty(count, np.int64), np.zeros(count, np.int64)
    for i in range(n):
        k = inverse[order[i]]
        if counts[k] == 0:
            first[k] = order[i]
        counts[k] += 1
    return first, inverse, counts


@unchecked
def order_of_rows(rows: Any) -> Any:
    """The lexicographic order of the rows of a matrix: by the last column, then by the one before, and so on."""
    n = len(rows)
    order, places = np.arange(n), np.empty(n, np.int64)
    moved, last = np.empty(n, rows.dtype), np.empty(n, np.int64)
    for column in range(rows.shape[1] - 1, -1, -1):
        for i in range(n):
            moved[i] = rows[order[i], column]
        order_of(moved, places)
        for i in range(n):
            last[i] = order[i]
        for i in range(n):
            order[i] = last[places[i]]
    return order


@unchecked
def equal_rows(x: Any, y: Any) -> bool:
    k = 0
    while k < len(x) and x[k] == y[k]:
        k += 1
    return k == len(x)


@implements(np.isin)
@unchecked
def isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    a, others = np.asarray(element), np.sort(np.asarray(test_elements).ravel())
    flat = a.ravel()
    result = np.empty(len(flat), bool)
    for i in range(len(flat)):
        low, high = 0, len(others)
        while low < high:
            middle = (low + high) // 2
            if before(others[middle], flat[i]):
                low = middle + 1
            else:
                high = middle
        result[i] = (low < len(others) and others[low] == flat[i]) != invert
    return result.reshape(a.shape)
