"""Sorting.

A permutation is found by comparisons, which have no derivative; the sorted numbers are those that it picks, so that the
derivative comes by itself.  NumPy's own C functions sort (c_sorts.py), a few numbers are sorted here, by insertion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays
from zyg.frontend.functions import shared_by_flags, shared_with_adjoint, unchecked
from zyg.frontend.values import Abstract
from zyg.ir.types import I64, Array

from .. import kernels
from ..intrinsics import cut, unsupported
from ..registry import emits, implements
from . import c_sorts
from .common import axis_index, constant, from_lines, is_differentiated, is_sequence, lines, product, result_dtype

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

RUN = 12  # numbers that are sorted by insertion
MANY = 1000  # numbers that are parted by NumPy's function, which has to be called through Python, not sorted, if at one place
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
        return (x < y) | ((y != y) & (x == x))
    return x < y


@unchecked
def order_of(a: Any, order: Any, stable: bool) -> None:
    """Put into `order` the places of the numbers of a packed vector in sorted order."""
    kernels.count_up(len(a), order)
    put_in_order(a, order, stable)


@unchecked
def put_in_order(a: Any, order: Any, stable: bool) -> None:
    """Sort places by the numbers that stand there."""
    n = len(a)
    if c_sorts.AVAILABLE and (n > RUN or not stable):  # of equal numbers NumPy's order
        no_memory(c_sorts.stable_argsort(a, order, n) if stable else c_sorts.argsort(a, order, n))
        return
    for start in range(0, n, RUN):
        for i in range(start + 1, min(start + RUN, n)):
            place = order[i]
            x = a[place]
            j = i
            while j > start and before(x, a[order[j - 1]]):
                order[j] = order[j - 1]
                j -= 1
            order[j] = place
    if not c_sorts.AVAILABLE:
        merge_places(a, order)


@unchecked
def merge_places(a: Any, order: Any) -> None:
    """Sorted runs of places into one."""
    n = len(a)
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


@shared_by_flags
@unchecked
def sort_vector(a: Any) -> None:
    """Sort the numbers of a packed vector in their memory."""
    n = len(a)
    if c_sorts.AVAILABLE and n > RUN:
        no_memory(c_sorts.sort_by_counting(a, n) if a.dtype.itemsize == 1 else c_sorts.sort(a, n))
        return
    if not c_sorts.AVAILABLE:
        order = np.empty(n, np.int64)
        order_of(a, order, False)
        a[...] = a[order]
        return
    for i in range(1, n):
        x = a[i]
        j = i
        while j > 0 and before(x, a[j - 1]):
            a[j] = a[j - 1]
            j -= 1
        a[j] = x


def no_memory(failed: int) -> None:
    if failed != 0:
        raise MemoryError("no memory for sorting")


@shared_by_flags
@unchecked
def orders(rows: Any, stable: bool) -> Any:
    """The places of the numbers of each row of a packed matrix, in sorted order."""
    result = np.empty(rows.shape, np.int64)
    for i in range(len(rows)):
        order_of(rows[i], result[i], stable)
    return result


@shared_with_adjoint
@unchecked
def picked(rows: Any, places: Any) -> Any:
    """Of each row the numbers at these places."""
    result = np.empty(places.shape, rows.dtype)
    for i in range(places.shape[0]):
        for j in range(places.shape[1]):
            result[i, j] = rows[i, places[i, j]]
    return result


@shared_with_adjoint
def sorted_rows(rows: Any) -> Any:
    """A copy of a matrix with sorted rows."""
    if is_differentiated() and rows.dtype.kind in "fc":
        return picked(rows, orders(cut(rows), False))
    return sorted_copy(rows)


@shared_by_flags
@unchecked
def sorted_copy(rows: Any) -> Any:
    """The same, which has no derivative."""
    result = rows.copy()
    for i in range(len(result)):
        sort_vector(result[i])
    return result


def is_stable(kind: Any, stable: Any) -> Any:
    """What the parameters of a function that sorts say, checked."""
    if kind is not None and kind not in KINDS:
        raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got '{kind}')")
    if stable is None:
        return kind is not None and kind[0] in "MmSs"
    if kind is not None:
        raise ValueError("`kind` and keyword parameters can't be provided at the same time. Use only one of them.")
    return bool(stable)


FIELDS = {"order": "sort by one array after another, the most important one last, with kind='stable'"}


@implements(np.sort, instead=FIELDS)
def sort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> Any:
    is_stable(kind, stable)
    source = np.asarray(a)
    if axis is None:
        source = source.ravel()
    axis = 0 if axis is None else axis_index(axis, source.ndim)
    return from_lines(sorted_rows(lines(source, axis)), source, axis, "K")


@implements((np.ndarray, "sort"), instead=FIELDS)
def sort_in_place(a: Any, axis: int = -1, kind: Any = None, *, stable: Any = None) -> None:
    a[...] = np.sort(a, axis, kind, stable=stable)


@implements(np.sort_complex)
def sort_complex(a: Any) -> Any:
    if result_dtype(a) == np.uint8:
        unsupported("np.sort_complex of uint8, which gives complex64", "convert the array first: a.astype(int)")
    return np.sort(np.array(a, complex))


@implements(np.argsort, (np.ndarray, "argsort"), instead=FIELDS)
def argsort(a: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> Any:
    keeps = is_stable(kind, stable)
    source = np.asarray(a)
    if axis is None or source.ndim == 0:
        source = source.ravel()
        axis = 0
    axis = axis_index(axis, source.ndim)
    return from_lines(orders(lines(source, axis), keeps), source, axis)


# ---------------------------------------------------------------------------------------------------- partitions


def parted(rows: Any, places: Any) -> Any:
    """Called from compiled code: a partition of each row, by NumPy's function."""
    return np.partition(rows, places, -1)


def parting(rows: Any, places: Any) -> Any:
    """The same of the places."""
    return np.argpartition(rows, places, -1)


def _called(function: Any) -> Any:
    def emitter(e: Evaluator, rows: Abstract, places: Abstract) -> Abstract:
        from zyg.frontend.exceptions import python_call

        scalar = I64 if function is parting else arrays.element_type(rows)
        return python_call(e, function, [rows, places], Array(scalar, 2), reads=True)

    return emitter


emits(parted)(_called(parted))
emits(parting)(_called(parting))


def places_in(kth: Any, n: int) -> Any:
    """The argument `kth`, for vectors of this length, as a vector."""
    places = np.asarray(kth)
    if places.dtype.kind == "b":
        raise ValueError("Booleans unacceptable as partition index")
    if places.dtype.kind == "f":
        raise TypeError("Partition index must be integer")
    if places.ndim > 1:
        raise ValueError("kth array must have dimension <= 1")
    made = places.astype(np.int64).ravel()
    for i in range(len(made)):
        k = made[i]
        if k < -n or k >= n:
            raise ValueError(f"kth(={k + n if k < 0 else k}) out of bounds ({n})")
        if k < 0:
            made[i] = k + n
    return made


def is_long(rows: Any, places: Any) -> Any:
    """Whether it takes less time to part the rows at these places than to sort them."""
    return rows.dtype.kind != "c" and rows.dtype.itemsize > 1 and rows.shape[1] >= MANY and len(places) == 1


def parted_rows(rows: Any, places: Any) -> Any:
    """A matrix with the rows sorted as far as these places want it: it is there what it is in sorted rows, not greater before
    and not less behind."""
    if is_differentiated() and rows.dtype.kind in "fc":
        return picked(rows, parting_orders(rows, places))
    return parted(rows, places) if is_long(rows, places) else sorted_rows(rows)


def parting_orders(rows: Any, places: Any) -> Any:
    """The places of the numbers of each row in such an order."""
    return parting(cut(rows), cut(places)) if is_long(rows, places) else orders(rows, False)


@implements(np.partition, instead=FIELDS)
def partition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect") -> Any:
    check_kind(kind)
    source = np.asarray(a)
    if axis is None:
        source = source.ravel()
    axis = 0 if axis is None else axis_index(axis, source.ndim)
    if source.size == 0:
        return np.copy(source)
    return from_lines(parted_rows(lines(source, axis), places_in(kth, source.shape[axis])), source, axis, "K")


def check_kind(kind: Any) -> None:
    if kind != "introselect":
        raise ValueError(f"select kind must be 'introselect' (got '{kind}')")


@implements((np.ndarray, "partition"), instead=FIELDS)
def partition_in_place(a: Any, kth: Any, axis: int = -1, kind: Any = "introselect") -> None:
    a[...] = np.partition(a, kth, axis, kind)


@implements(np.argpartition, (np.ndarray, "argpartition"), instead=FIELDS)
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect") -> Any:
    check_kind(kind)
    source = np.asarray(a)
    if axis is None or source.ndim == 0:
        source = source.ravel()
        axis = 0
    axis = axis_index(axis, source.ndim)
    if source.size == 0:
        return np.argsort(source, axis)
    return from_lines(parting_orders(lines(source, axis), places_in(kth, source.shape[axis])), source, axis)


@implements(np.lexsort)
@unchecked
def lexsort(keys: Any, axis: int = -1) -> Any:
    """Sorted by the last key, then by the one before, and so on."""
    if not is_sequence(keys):
        unsupported("np.lexsort of keys that are not in a tuple, in native code", "pass a tuple of vectors")
    vectors = tuple([np.asarray(k) for k in keys])
    for v in vectors:
        if v.ndim != 1:
            unsupported("np.lexsort of matrices in native code", "pass a tuple of vectors")
        axis_index(axis, v.ndim)
        if len(v) != len(vectors[0]):
            raise ValueError("all keys need to be the same shape")
    order = np.arange(len(vectors[0]))
    for v in vectors:
        put_in_order(np.ascontiguousarray(v), order, True)
    return order


# ----------------------------------------------------------------------------------------------- different numbers


COUNTS = "the flag return_counts"


@implements(np.unique)
def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: Any = None,
    *, equal_nan: bool = True,
) -> Any:  # fmt: skip
    a = np.asarray(ar)
    at = 0 if axis is None else axis_index(axis, a.ndim)
    if axis is not None and a.ndim != 1:
        moved = np.ascontiguousarray(np.moveaxis(a, at, 0))
        rows = moved.reshape((len(moved), product(moved.shape[1:])))
        first, inverse, counts = grouped(rows, order_of_rows(rows), equal_rows)
        found = np.empty((len(first), rows.shape[1]), a.dtype)
        for i in range(len(first)):
            found[i] = rows[first[i]]
        values = np.moveaxis(found.reshape((len(first), *moved.shape[1:])), 0, at)
        shape = (len(moved),)
    else:
        flat, shape = np.ascontiguousarray(a.ravel()), a.shape
        if are_not_set(return_index, return_inverse) and not (is_differentiated() and a.dtype.kind in "fc"):
            values, counts = different(np.sort(flat), equal_nan, constant(return_counts, COUNTS))
            return (values, counts) if constant(return_counts, COUNTS) else values
        order = np.empty(len(flat), np.int64)
        order_of(flat, order, False)
        first, inverse, counts = grouped(flat, order, same_numbers(equal_nan))
        values = at_places(flat, first)
    result = (values,)
    if constant(return_index, "the flag return_index"):
        result = (*result, first)
    if constant(return_inverse, "the flag return_inverse"):
        result = (*result, inverse.reshape(shape))
    if constant(return_counts, COUNTS):
        result = (*result, counts)
    return values if len(result) == 1 else result


def are_not_set(*flags: Any) -> bool:
    return not any(constant(flag, "a flag of np.unique") for flag in flags)


@shared_with_adjoint
@unchecked
def at_places(a: Any, places: Any) -> Any:
    result = np.empty(len(places), a.dtype)
    for i in range(len(places)):
        result[i] = a[places[i]]
    return result


def same_numbers(equal_nan: bool) -> Any:
    """Whether two numbers are one to np.unique."""
    return lambda x, y: x == y or (equal_nan and x != x and y != y)


@unchecked
def different(a: Any, equal_nan: bool, counted: bool) -> Any:
    """The different numbers of a sorted vector, and how many there are of each, if they are to be counted."""
    same = same_numbers(equal_nan)
    result, starts = np.empty(len(a), a.dtype), np.empty(len(a) + 1 if counted else 0, np.int64)
    count = 0
    for i in range(len(a)):
        if i == 0 or not same(a[i], a[i - 1]):
            result[count] = a[i]
            if counted:
                starts[count] = i
            count += 1
    if counted:
        starts[count] = len(a)
        return result[:count].copy(), np.diff(starts[: count + 1])
    return result[:count].copy(), None


@unchecked
def grouped(a: Any, order: Any, same: Any) -> Any:
    """Where each of what is different stands first, which of them each is, and how many there are of each; by an order in
    which what is the same stands together."""
    n = len(a)
    inverse, first, counts = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    last = -1
    for i in range(n):
        place = order[i]
        if i == 0 or not same(a[place], a[order[i - 1]]):
            last += 1
            first[last] = place
            counts[last] = 0
        inverse[place] = last
        first[last] = min(first[last], place)
        counts[last] += 1
    return first[: last + 1].copy(), inverse, counts[: last + 1].copy()


@unchecked
def order_of_rows(rows: Any) -> Any:
    """The lexicographic order of the rows of a matrix: by the last column, then by the one before, and so on."""
    order = np.arange(len(rows))
    for column in range(rows.shape[1] - 1, -1, -1):
        put_in_order(np.ascontiguousarray(rows[:, column]), order, True)
    return order


@unchecked
def equal_rows(x: Any, y: Any) -> bool:
    k = 0
    while k < len(x) and x[k] == y[k]:
        k += 1
    return k == len(x)
