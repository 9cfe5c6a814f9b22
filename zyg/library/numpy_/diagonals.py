"""Matrices by their diagonals and triangles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend.functions import shared_with_adjoint, unchecked
from zyg.frontend.values import Abstract, Known

from ..intrinsics import cut
from ..registry import emits, implements
from .common import product, result_dtype
from .layouts import is_packed
from .ordering import empty_of
from .views import diagonal_of

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator


@implements(np.eye)
@unchecked
def eye(N: int, M: Any = None, k: int = 0, dtype: Any = float, order: Any = "C") -> Any:
    columns = N if M is None else M
    result = np.zeros((N, columns), dtype, order)
    places_on_diagonal(result, k)[...] = 1
    return result


def places_on_diagonal(a: Any, k: int) -> Any:
    """A diagonal of a matrix, as a view that can be written."""
    return np.lib.stride_tricks.as_strided(np.diagonal(a, k), writeable=True)


@emits(places_on_diagonal)
def _places_on_diagonal(e: Evaluator, a: Abstract, k: Abstract) -> Abstract:
    return diagonal_of(e, a, k, Known(0), Known(1), writable=True)


@implements(np.identity)
def identity(n: int, dtype: Any = float) -> Any:
    return np.eye(n, dtype=dtype)


@implements(np.diag)
def diag(v: Any, k: int = 0) -> Any:
    a = np.asarray(v)
    if a.ndim == 1:
        return from_diagonal(a, k)
    if a.ndim == 2:
        return np.diagonal(a, k)
    raise ValueError("Input must be 1- or 2-d.")


@unchecked
def from_diagonal(v: Any, k: int) -> Any:
    n = len(v) + abs(k)
    result = np.zeros((n, n), v.dtype)
    below, right = max(-k, 0), max(k, 0)
    for i in range(len(v)):
        result[i + below, i + right] = v[i]
    return result


@implements(np.diagflat)
def diagflat(v: Any, k: int = 0) -> Any:
    return from_diagonal(np.asarray(v).ravel(), k)


@implements(np.tri, known=("N", "M"))
@unchecked
def tri(N: int, M: Any = None, k: int = 0, dtype: Any = float) -> Any:
    columns = max(N if M is None else M, 0)
    result = np.zeros((max(N, 0), columns), dtype)
    for i in range(N):
        result[i, : min(max(i + k + 1, 0), columns)] = 1
    return result


@implements(np.tril)
def tril(m: Any, k: int = 0) -> Any:
    return triangle(np.asarray(m), k, True)


@implements(np.triu)
def triu(m: Any, k: int = 0) -> Any:
    return triangle(np.asarray(m), k, False)


@unchecked
def triangle(m: Any, k: int, lower: bool) -> Any:
    if m.ndim == 0:
        raise TypeError("tuple index out of range")
    a = np.broadcast_to(m, (len(m), len(m))) if m.ndim == 1 else m
    result = np.zeros(a.shape, a.dtype)
    rows, columns = a.shape[-2], a.shape[-1]
    if a.ndim == 2:
        keep_triangle(result, a, k, lower)
    else:
        count = product(a.shape[:-2])
        sources = np.ascontiguousarray(a).reshape((count, rows, columns))
        targets = result.reshape((count, rows, columns))
        for i in range(count):
            keep_triangle(targets[i], sources[i], k, lower)
        # NumPy chooses by a mask of the last two axes, which lies in C order.
        laid = empty_of((np.empty((rows, columns), bool), a), a.shape, a.dtype)
        if not is_packed(laid):
            laid[...] = result
            return laid
    return result


@unchecked
def keep_triangle(result: Any, a: Any, k: int, lower: bool) -> None:
    columns = a.shape[1]
    for i in range(len(a)):
        if lower:
            stop = min(max(i + k + 1, 0), columns)
            result[i, :stop] = a[i, :stop]
        else:
            start = min(max(i + k, 0), columns)
            result[i, start:] = a[i, start:]


@implements(np.triu_indices)
def triu_indices(n: int, k: int = 0, m: Any = None) -> Any:
    return places_in_triangle(cut(n), cut(k), cut(n if m is None else m), False)


@implements(np.tril_indices)
def tril_indices(n: int, k: int = 0, m: Any = None) -> Any:
    return places_in_triangle(cut(n), cut(k), cut(n if m is None else m), True)


@shared_with_adjoint  # (which nobody wants: what it is given is cut)
@unchecked
def places_in_triangle(n: int, k: int, columns: int, lower: bool) -> Any:
    """The rows and columns of the elements of a triangle."""
    count = 0
    for i in range(n):
        start, stop = part_of_row(i, k, columns, lower)
        count += stop - start
    rows, there = np.empty(count, np.int64), np.empty(count, np.int64)
    at = 0
    for i in range(n):
        for j in range(*part_of_row(i, k, columns, lower)):
            rows[at], there[at] = i, j
            at += 1
    return rows, there


def part_of_row(i: int, k: int, columns: int, lower: bool) -> Any:
    if lower:
        return 0, min(max(i + k + 1, 0), columns)
    return min(max(i + k, 0), columns), columns


@implements(np.triu_indices_from)
def triu_indices_from(arr: Any, k: int = 0) -> Any:
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return np.triu_indices(arr.shape[0], k, arr.shape[1])


@implements(np.tril_indices_from)
def tril_indices_from(arr: Any, k: int = 0) -> Any:
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return np.tril_indices(arr.shape[0], k, arr.shape[1])


@implements(np.diag_indices)
def diag_indices(n: int, ndim: int = 2) -> Any:
    return (np.arange(n),) * ndim


@implements(np.diag_indices_from)
def diag_indices_from(arr: Any) -> Any:
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    for n in arr.shape:
        if n != arr.shape[0]:
            raise ValueError("All dimensions of input must be of equal length")
    return np.diag_indices(arr.shape[0], arr.ndim)


@implements(np.vander)
@unchecked
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    a = np.asarray(x)
    if a.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    columns = len(a) if N is None else N
    result = np.empty((len(a), columns), result_dtype(a, int))
    powers = result if increasing else result[:, ::-1]
    for i in range(len(a)):
        power = result.dtype.type(1)
        for j in range(columns):
            powers[i, j] = power
            power *= a[i]
    return result


@implements(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: Any = False) -> None:
    values = np.ravel(val)
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2:
        for k in range(1, a.ndim):
            if a.shape[k] != a.shape[0]:
                raise ValueError("All dimensions of input must be of equal length")
        fill_places(a, values, a.shape[0])
    else:
        fill_matrix(a, values, a.size if wrap else min(a.size, a.shape[1] * a.shape[1]))


@unchecked
def fill_places(a: Any, values: Any, count: int) -> None:
    for n in range(count):
        a[(n,) * a.ndim] = values[n % len(values)]


@unchecked
def fill_matrix(a: Any, values: Any, end: int) -> None:
    columns = a.shape[1]
    for n, place in enumerate(range(0, end, columns + 1)):
        a[place // columns, place % columns] = values[n % len(values)]
