"""Kernels of our own for library code, beside those of BLAS (blas.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.ir.types import F64, I64, Scalar

from . import blas
from .registry import emits

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator
    from zyg.frontend.values import Abstract
    from zyg.ir.core import Value


def rows(
    n: int, m: int, length: int, a: Any, a0: int, a1: int, b: Any, b0: int, b1: int, c: Any, c0: int, c1: int, adds: int
) -> None:
    """c = a @ b, or c += a @ b, for matrices of few doubles on any machine; each with its strides."""
    c[...] = c + a @ b if adds else a @ b


@emits(rows)
def _rows(e: Evaluator, *args: Abstract) -> Abstract:
    return _emit(e, "zyg_rows", "vvvrvvrvvmvvv", args)


def matmul(
    n: int, m: int, length: int, a: Any, a0: int, a1: int, b: Any, b0: int, b1: int, c: Any, c0: int, c1: int, adds: int
) -> None:
    """The same of any number of doubles, by a kernel or BLAS, if there is one."""
    rows(n, m, length, a, a0, a1, b, b0, b1, c, c0, c1, adds)


@emits(matmul)
def _matmul(e: Evaluator, *args: Abstract) -> Abstract:
    found = blas.provider()
    symbol = "zyg_rows" if found is None else f"zyg_matmul_{found.bits}"
    return _emit(e, symbol, "vvvrvvrvvmvvv", args)


def matvec(n: int, length: int, a: Any, a0: int, a1: int, x: Any, x0: int, y: Any, y0: int, adds: int) -> None:
    """y = a @ x, or y += a @ x, for a matrix and a vector of doubles, where there is a BLAS."""
    y[...] = y + a @ x if adds else a @ x


@emits(matvec)
def _matvec(e: Evaluator, *args: Abstract) -> Abstract:
    found = blas.provider()
    assert found is not None
    return _emit(e, f"zyg_matvec_{found.bits}", "vvrvvrvmvv", args)


def add_outer(n: int, m: int, c: Any, c0: int, c1: int, x: Any, x0: int, y: Any, y1: int) -> None:
    """c += outer(x, y) for doubles, where c lies apart from the others; each with its strides."""
    c[...] += np.outer(x, y)


@emits(add_outer)
def _add_outer(e: Evaluator, *args: Abstract) -> Abstract:
    from zyg.frontend.values import Known

    *matrix, x, x0, y, y1 = args
    return _emit(e, "zyg_add_outer", "vvmvvrvvrv", (*matrix, y, Known(0), y1, x, x0))


def factor(n: int, m: int, lu: Any, pivots: Any) -> int:
    """The LU factorisation of a packed matrix of doubles in its place, as LAPACK's of the transposed; 1 if it is singular. (This and
    the next two are where there is LAPACK.)"""
    singular = 0
    for k in range(min(n, m)):
        best = k + int(np.argmax(np.abs(lu[k, k:])))
        pivots[k] = best + 1
        if lu[k, best] == 0:
            singular = 1
            continue
        lu[:, [k, best]] = lu[:, [best, k]]
        lu[k, k + 1 :] /= lu[k, k]
        lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])
    return singular


@emits(factor)
def _factor(e: Evaluator, *args: Abstract) -> Abstract:
    return _lapack(e, "zyg_factor", "vvmw", args, True)


def solve_factored(count: int, n: int, lu: Any, pivots: Any, x: Any, transposed: int) -> None:
    """The rows of `x`, which is packed, become inv(a), or inv(a).T, times themselves, for the matrix that was factored."""
    columns = (np.tril(lu.T, -1) + np.eye(n)) @ np.triu(lu.T)
    for k in reversed(range(n)):
        columns[[k, pivots[k] - 1]] = columns[[pivots[k] - 1, k]]
    x[...] = np.linalg.solve(columns if transposed else columns.T, x.T).T


@emits(solve_factored)
def _solve_factored(e: Evaluator, *args: Abstract) -> Abstract:
    return _lapack(e, "zyg_solve_factored", "vvrrmv", args, False)


def cholesky(n: int, a: Any) -> int:
    """Cholesky's factor of the lower triangle of a packed matrix of doubles, in its place; 1 if it is not positive definite."""
    try:
        a[...] = np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        return 1
    return 0


@emits(cholesky)
def _cholesky(e: Evaluator, *args: Abstract) -> Abstract:
    return _lapack(e, "zyg_cholesky", "vm", args, True)


def first_equal(n: int, row: Any, step: int, value: float) -> int:
    """The place of the first element that is `value`, or the first nan if it is one; `n` if there is none.  `step`: the bytes from
    one element to the next."""
    return next((i for i in range(n) if row[i] == value or row[i] != row[i] and value != value), n)


@emits(first_equal)
def _first_equal(e: Evaluator, *args: Abstract) -> Abstract:
    from zyg.frontend.values import Number

    return Number(_emitted(e, "zyg_first_equal", "vrvv", args, I64)[0])


def first_outside(n: int, index: Any, step: int, size: int) -> int:
    """The place of the first index that is none of an axis of `size` elements; `n` if there is none."""
    return next((i for i in range(n) if not -size <= index[i] < size), n)


@emits(first_outside)
def _first_outside(e: Evaluator, *args: Abstract) -> Abstract:
    from zyg.frontend.values import Number

    return Number(_emitted(e, "zyg_first_outside", "vrvv", args, I64)[0])


def largest(n: int, row: Any) -> tuple[int, float]:
    """Of a row of doubles that lie together, and are not none: the place of the largest, the first of equal ones, and its value; a nan
    counts as larger than all numbers."""
    return int(np.argmax(row)), float(np.max(row))


def smallest(n: int, row: Any) -> tuple[int, float]:
    return int(np.argmin(row)), float(np.min(row))


@emits(largest)
def _largest(e: Evaluator, *args: Abstract) -> Abstract:
    return _extremum(e, "zyg_largest", args)


@emits(smallest)
def _smallest(e: Evaluator, *args: Abstract) -> Abstract:
    return _extremum(e, "zyg_smallest", args)


def _extremum(e: Evaluator, symbol: str, args: tuple[Abstract, ...]) -> Abstract:
    from zyg.frontend.values import Number, TupleValue

    place, value = _emitted(e, symbol, "vro", args, I64, F64)
    return TupleValue((Number(place), Number(value, True)))


def collect(n: int, row: Any, low: float, high: float, between: Any) -> tuple[int, int]:
    """Put the numbers from `low` to `high`, of doubles that lie together, to where there is room for all; how many are less, and how
    many these are."""
    found = row[(low <= row) & (row <= high)]
    between[: len(found)] = found
    return int(np.count_nonzero(row < low)), len(found)


@emits(collect)
def _collect(e: Evaluator, *args: Abstract) -> Abstract:
    from zyg.frontend.values import Number, TupleValue

    below, found = _emitted(e, "zyg_collect", "vrvvwo", args, I64, I64)
    return TupleValue((Number(below), Number(found)))


def row_largest(n: int, m: int, rows: Any, s0: int, s1: int, places: Any) -> None:
    """Where in rows of doubles that are not none the largest elements are; `s0`, `s1`: the strides."""
    places[...] = np.argmax(rows, 1)


def row_smallest(n: int, m: int, rows: Any, s0: int, s1: int, places: Any) -> None:
    places[...] = np.argmin(rows, 1)


@emits(row_largest)
def _row_largest(e: Evaluator, *args: Abstract) -> Abstract:
    return _emit(e, "zyg_row_largest", "vvrvvw", args)


@emits(row_smallest)
def _row_smallest(e: Evaluator, *args: Abstract) -> Abstract:
    return _emit(e, "zyg_row_smallest", "vvrvvw", args)


def count_set(n: int, flags: Any, step: int) -> int:
    """How many of the bools in a row are True."""
    return sum(map(bool, flags))


@emits(count_set)
def _count_set(e: Evaluator, *args: Abstract) -> Abstract:
    from zyg.frontend.values import Number

    return Number(_emitted(e, "zyg_count_set", "vrv", args, I64)[0])


def places_set(count: int, places: Any, n: int, flags: Any, step: int) -> None:
    """Where they are, in order; there are `count`."""
    places[:] = [n for n, flag in enumerate(flags) if flag]


@emits(places_set)
def _places_set(e: Evaluator, *args: Abstract) -> Abstract:
    return _emit(e, "zyg_places_set", "vwvrv", args)


def count_up(n: int, row: Any) -> None:
    """0, 1, ... to `n` numbers that lie together."""
    row[:] = range(n)


@emits(count_up)
def _count_up(e: Evaluator, *args: Abstract) -> Abstract:
    return _emit(e, "zyg_count_up", "vw", args)


def take_rows(
    count: int, length: int, listed: Any, l0: int, l1: int, table: Any, t0: int, t1: int, index: Any, step: int,
    size: int,
) -> None:  # fmt: skip
    """listed[k] = table[index[k]] for rows of doubles of some length; each matrix with its strides, the table with its length."""
    listed[...] = table[index]


@emits(take_rows)
def _take_rows(e: Evaluator, *args: Abstract) -> Abstract:
    return _emit(e, "zyg_take_rows", "vvwvvrvvrvv", args)


def add_rows(
    count: int, length: int, listed: Any, l0: int, l1: int, table: Any, t0: int, t1: int, index: Any, step: int,
    size: int,
) -> None:  # fmt: skip
    """table[index[k]] += listed[k], one after the other."""
    np.add.at(table, index, listed)


@emits(add_rows)
def _add_rows(e: Evaluator, *args: Abstract) -> Abstract:
    return _emit(e, "zyg_add_rows", "vvrvvmvvrvv", args)


def take_places(count: int, listed: Any, l0: int, table: Any, t0: int, t1: int, places: Any) -> None:
    """listed[k] = table[k, places[k]]"""
    listed[...] = table[np.arange(count), places]


@emits(take_places)
def _take_places(e: Evaluator, *args: Abstract) -> Abstract:
    return _emit(e, "zyg_take_places", "vwvrvvr", args)


def add_places(count: int, listed: Any, l0: int, table: Any, t0: int, t1: int, places: Any) -> None:
    """table[k, places[k]] += listed[k]"""
    table[np.arange(count), places] += listed


@emits(add_places)
def _add_places(e: Evaluator, *args: Abstract) -> Abstract:
    return _emit(e, "zyg_add_places", "vrvmvvr", args)


def _lapack(e: Evaluator, name: str, spec: str, args: tuple[Abstract, ...], returns: bool) -> Abstract:
    from zyg.frontend.values import Known, Number

    found = blas.provider()
    assert found is not None
    results = _emitted(e, f"{name}_{found.bits}", spec, args, *([I64] if returns else []))
    return Number(results[0]) if returns else Known(None)


def _emit(e: Evaluator, symbol: str, spec: str, args: tuple[Abstract, ...]) -> Abstract:
    from zyg.frontend.values import Known

    _emitted(e, symbol, spec, args)
    return Known(None)


def _emitted(e: Evaluator, symbol: str, spec: str, args: tuple[Abstract, ...], *result: Scalar) -> list[Value]:
    from zyg.frontend.scalars import scalar_value
    from zyg.frontend.values import ArrayValue

    operands = [v.value if isinstance(v, ArrayValue) else scalar_value(e, v) for v in args]
    returns = {"returns": True} if result else {}
    return list(e.emit("foreign", *operands, types=result, symbol=symbol, spec=spec, int=64, **returns))
