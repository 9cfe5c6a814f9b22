"""Order statistics and covariances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zyg.frontend.functions import unchecked

from ..intrinsics import unsupported
from ..registry import implements
from .common import axis_index, constant, inexact_dtype, is_sequence, lines
from .sorting import sorted_rows


def reduced_lines(a: Any, axis: Any) -> Any:
    """The lines of an array along one or several axes (None: all of them) as rows, and its shape without and with them."""
    if axis is None:
        return a.ravel().reshape((1, a.size)), (), (1,) * a.ndim
    gone = tuple(axis_index(k, a.ndim) for k in axis) if is_sequence(axis) else (axis_index(axis, a.ndim),)
    rest = tuple(k for k in tuple(range(a.ndim)) if k not in gone)
    outer = tuple(a.shape[k] for k in rest)
    kept = tuple(1 if k in gone else a.shape[k] for k in tuple(range(a.ndim)))
    if len(gone) == 1:
        return lines(a, gone[0]), outer, kept
    moved = np.ascontiguousarray(np.transpose(a, rest + gone))
    count, length = 1, 1
    for n in outer:
        count = count * n
    for k in gone:
        length = length * a.shape[k]
    return moved.reshape((count, length)), outer, kept


@unchecked
def at_quantiles(rows: Any, q: Any, without_nan: bool) -> Any:
    """Of sorted rows, what stands at the fractions q of their length, linearly between two numbers; of a row with a nan a nan, or
    what its numbers alone would give."""
    result = np.empty((len(q), rows.shape[0]), rows.dtype)
    for i in range(rows.shape[0]):
        n = numbers(rows[i]) if without_nan else rows.shape[1]
        for k in range(len(q)):
            if n == 0:
                result[k, i] = math.nan
            else:
                where = q[k] * (n - 1)
                below = min(math.floor(where), n - 1)
                above = min(below + 1, n - 1)
                t = where - below
                x, y = rows[i, below], rows[i, above]
                step = y - x
                value = x + step * t if t < 0.5 else y - step * (1.0 - t)
                result[k, i] = rows[i, n - 1] if rows[i, n - 1] != rows[i, n - 1] else value
    return result


@unchecked
def numbers(row: Any) -> int:
    """How many elements of a sorted row are no nan."""
    n = len(row)
    while n > 0 and row[n - 1] != row[n - 1]:
        n -= 1
    return n


def quantile_of(a: Any, q: Any, axis: Any, method: Any, keepdims: bool, message: str, without_nan: bool = False) -> Any:
    if method != "linear":
        unsupported("np.quantile(method=...) other than linear, in native code", "use method='linear'")
    source, fractions = np.asarray(a), np.asarray(q)
    if source.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    if source.dtype.kind == "b":
        raise TypeError(
            "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the "
            "logical_xor function instead."
        )
    # One fraction is as precise as the array; an array of them is of doubles.
    source = source.astype(inexact_dtype(source) if fractions.ndim == 0 else np.dtype(float))
    rows, outer, kept = reduced_lines(source, axis)
    flat = fractions.ravel()
    for k in range(len(flat)):
        if not (0.0 <= flat[k] <= 1.0):
            raise ValueError(message)
    if rows.shape[1] == 0 and not without_nan:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    found = at_quantiles(sorted_rows(rows), flat, without_nan)
    shape = kept if constant(keepdims, "the flag keepdims") else outer
    return reshaped(found, (*fractions.shape, *shape))


def reshaped(a: Any, shape: Any) -> Any:
    """In another shape; a number if it has no axes."""
    return a.ravel()[0] if len(shape) == 0 else a.reshape(shape)


ORDER = {"weights": "sort by hand", "interpolation": "use method='linear'"}


@implements(np.quantile, instead=ORDER)
def quantile(a: Any, q: Any, axis: Any = None, *, method: Any = "linear", keepdims: bool = False) -> Any:
    return quantile_of(a, q, axis, method, keepdims, "Quantiles must be in the range [0, 1]")


@implements(np.percentile, instead=ORDER)
def percentile(a: Any, q: Any, axis: Any = None, *, method: Any = "linear", keepdims: bool = False) -> Any:
    fractions = np.asarray(q) / 100
    return quantile_of(a, fractions, axis, method, keepdims, "Percentiles must be in the range [0, 100]")


@implements(np.nanquantile, instead=ORDER)
def nanquantile(a: Any, q: Any, axis: Any = None, *, method: Any = "linear", keepdims: bool = False) -> Any:
    return quantile_of(a, q, axis, method, keepdims, "Quantiles must be in the range [0, 1]", True)


@implements(np.nanpercentile, instead=ORDER)
def nanpercentile(a: Any, q: Any, axis: Any = None, *, method: Any = "linear", keepdims: bool = False) -> Any:
    fractions = np.asarray(q) / 100
    return quantile_of(a, fractions, axis, method, keepdims, "Percentiles must be in the range [0, 100]", True)


@implements(np.median)
def median(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    source = np.asarray(a)
    source = source.astype(inexact_dtype(source))
    rows, outer, kept = reduced_lines(source, axis)
    shape = kept if constant(keepdims, "the flag keepdims") else outer
    return reshaped(middles(sorted_rows(rows), False), shape)


@implements(np.nanmedian)
def nanmedian(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    source = np.asarray(a)
    source = source.astype(inexact_dtype(source))
    rows, outer, kept = reduced_lines(source, axis)
    shape = kept if constant(keepdims, "the flag keepdims") else outer
    return reshaped(middles(sorted_rows(rows), True), shape)


@unchecked
def middles(rows: Any, without_nan: bool) -> Any:
    result = np.empty(rows.shape[0], rows.dtype)
    for i in range(rows.shape[0]):
        n = numbers(rows[i]) if without_nan else rows.shape[1]
        if n == 0:
            result[i] = math.nan
        elif rows[i, n - 1] != rows[i, n - 1]:
            result[i] = rows[i, n - 1]
        elif n % 2:
            result[i] = rows[i, n // 2]
        else:
            result[i] = (rows[i, n // 2 - 1] + rows[i, n // 2]) / 2
    return result


# -------------------------------------------------------------------------------------------------- covariances


def observations(m: Any, rowvar: bool) -> Any:
    a = np.asarray(m)
    if a.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    if a.ndim == 2 and not constant(rowvar, "the flag rowvar"):
        return a.T
    return np.array(a, copy=None, ndmin=2)


def covariances(m: Any, y: Any, rowvar: bool, freedom: Any) -> Any:
    x = observations(m, rowvar)
    if y is not None:
        x = np.concatenate((x, observations(y, rowvar)), 0)
    work = x if x.dtype.kind == "c" else x.astype(float)
    n = work.shape[1]
    centred = work - work.mean(1)[:, None]
    return (centred @ np.conjugate(centred.T)) * scale_of(n - freedom, work.dtype.type)


def scale_of(count: Any, number: Any) -> Any:
    return np.true_divide(1.0, max(count, 0.0))


@implements(np.cov, instead={"fweights": "repeat the observations", "aweights": "weigh the observations by hand"})
def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None) -> Any:
    freedom = ddof if ddof is not None else 0 if bias else 1
    c = covariances(m, y, rowvar, freedom)
    single = np.ndim(m) <= 1 and y is None
    return c.reshape(()) if single else c


@implements(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> Any:
    c = covariances(x, y, rowvar, 1)
    if np.ndim(x) <= 1 and y is None:
        return c[0, 0] / c[0, 0]
    deviations = np.sqrt(np.real(np.diagonal(c)))
    return clipped(c / deviations[:, None] / deviations[None, :])


@unchecked
def clipped(c: Any) -> Any:
    """Between -1 and 1, the parts of complex numbers each."""
    result = c.copy()
    for part in (result.real, result.imag) if c.dtype.kind == "c" else (result,):
        for i in range(len(part)):
            for j in range(part.shape[1]):
                part[i, j] = min(max(part[i, j], -1.0), 1.0)
    return result
