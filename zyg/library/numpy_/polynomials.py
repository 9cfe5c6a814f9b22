"""Polynomials as arrays of coefficients, the highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.frontend.functions import unchecked
from zyg.ir.departures import departing_class

from ..intrinsics import unsupported
from ..registry import implements
from .common import constant, inexact_dtype, result_dtype
from .eigen import eigvals_of
from .layouts import is_complex


@implements(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    coefficients = np.asarray(p)
    points = np.asarray(x)
    if coefficients.ndim == 0:
        raise TypeError("iteration over a 0-d array")
    dtype = result_dtype(coefficients, points)
    if coefficients.ndim == 1 and points.ndim == 0:
        return horner(coefficients, points[()], dtype.type(0))
    result = np.zeros_like(points, dtype)
    if coefficients.ndim > 1:
        result = result + np.zeros(coefficients.shape[1:], dtype)
    for k in range(len(coefficients)):
        result = result * points + coefficients[k]
    return result


@unchecked
def horner(coefficients: Any, x: Any, zero: Any) -> Any:
    result = zero
    for k in range(len(coefficients)):
        result = result * x + coefficients[k]
    return result


@implements(np.polyfit)
def polyfit(x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    points, values = np.asarray(x) + 0.0, np.asarray(y) + 0.0
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if points.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if len(points) == 0:
        raise TypeError("expected non-empty vector for x")
    if values.ndim < 1 or values.ndim > 2:
        raise TypeError("expected 1D or 2D array for y")
    if len(points) != len(values):
        raise TypeError("expected x and y to have same length")
    powers = np.vander(points, deg + 1)
    if w is not None:
        weights = np.asarray(w) + 0.0
        if weights.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if len(weights) != len(values):
            raise TypeError("expected w and y to have the same length")
        powers = powers * weights[:, None]
        values = values * (weights[:, None] if values.ndim == 2 else weights)
    scale = np.sqrt((powers * powers).sum(0))
    limit = len(points) * np.finfo(points.dtype).eps if rcond is None else rcond
    found, residuals, rank, singular = np.linalg.lstsq(powers / scale, values, limit)
    found = found / (scale[:, None] if values.ndim == 2 else scale)
    if full:
        return found, residuals, rank, singular, limit
    if not cov:
        return found
    spread = np.linalg.inv((powers / scale).T @ (powers / scale)) / np.outer(scale, scale)
    if cov == "unscaled":
        return found, spread if values.ndim == 1 else spread[:, :, None] * 1
    if len(points) <= deg + 1:
        raise ValueError("the number of data points must exceed order to scale the covariance matrix")
    factor = residuals / (len(points) - deg - 1)
    return found, (spread if values.ndim == 1 else spread[:, :, None]) * factor


@implements(np.polyadd)
def polyadd(a1: Any, a2: Any) -> Any:
    first, second = np.atleast_1d(a1), np.atleast_1d(a2)
    n = max(len(first), len(second))
    return padded(first, n) + padded(second, n)


@implements(np.polysub)
def polysub(a1: Any, a2: Any) -> Any:
    first, second = np.atleast_1d(a1), np.atleast_1d(a2)
    n = max(len(first), len(second))
    return padded(first, n) - padded(second, n)


def padded(a: Any, n: int) -> Any:
    """The coefficients with zeros in front, n in all."""
    result = np.zeros(n, a.dtype)
    result[n - len(a) :] = a
    return result


@implements(np.polymul)
def polymul(a1: Any, a2: Any) -> Any:
    return np.convolve(without_leading_zeros(np.atleast_1d(a1)), without_leading_zeros(np.atleast_1d(a2)))


def without_leading_zeros(a: Any) -> Any:
    if len(a) == 0:
        return np.zeros(1, a.dtype)
    first = 0
    while first < len(a) - 1 and a[first] == 0:
        first += 1
    return a[first:]


@implements(np.polyint)
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = np.zeros(m) if k is None else np.atleast_1d(k) + np.zeros(m)
    a = np.asarray(p)
    for n in range(constant(m, "the order of an integral")):
        a = np.concatenate((a / np.arange(len(a), 0, -1), constants[n : n + 1]))
    return a


@implements(np.polyder)
def polyder(p: Any, m: int = 1) -> Any:
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    a = np.asarray(p)
    for _ in range(m):
        n = len(a) - 1
        a = a[: max(n, 0)] * np.arange(n, 0, -1)
    return a


@implements(np.polydiv)
def polydiv(u: Any, v: Any) -> Any:
    top, below = np.atleast_1d(u) + 0.0, np.atleast_1d(v) + 0.0
    rest = top.astype(result_dtype(top, below))
    quotient = np.zeros(max(len(top) - len(below) + 1, 1), rest.dtype)
    for k in range(len(top) - len(below) + 1):
        quotient[k] = (1.0 / below[0]) * rest[k]
        rest[k : k + len(below)] -= quotient[k] * below
    first = 0
    while first < len(rest) - 1 and abs(rest[first]) <= 1e-8:
        first += 1
    return quotient, rest[first:]


@implements(np.roots)
def roots(p: Any) -> Any:
    """The eigenvalues of the companion matrix: real ones where all of them are."""
    a = np.atleast_1d(p) + 0.0
    if a.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    first, last = outermost(a)
    n = last - first - 1
    if a.dtype == np.float32:
        unsupported("np.roots of float32", "convert first: np.roots(p.astype(float))")
    matrix = np.zeros((max(n, 0), max(n, 0)), a.dtype)
    if n > 0:
        fill_companion(matrix, a[first:last])
    found = np.concatenate((eigvals_of(matrix), np.zeros(0 if last == 0 else len(a) - last, np.complex128)))
    if not is_complex(a) and np.all(found.imag == 0.0):
        return found.real.copy()
    return found


@unchecked
def outermost(a: Any) -> Any:
    """Where the numbers that are not zero begin and end."""
    first, last = 0, len(a)
    while last > 0 and a[last - 1] == 0:
        last -= 1
    while first < last and a[first] == 0:
        first += 1
    return first, last


@unchecked
def fill_companion(matrix: Any, a: Any) -> None:
    for i in range(len(matrix)):
        matrix[0, i] = -a[i + 1] / a[0]
        if i > 0:
            matrix[i, i - 1] = 1.0


NO_ROOTS = departing_class(NotImplementedError)


@implements(np.poly)
def poly(seq_of_zeros: Any) -> Any:
    zeros = np.atleast_1d(seq_of_zeros)
    zeros = zeros.astype(inexact_dtype(zeros))
    if zeros.ndim == 2:
        if zeros.shape[0] != zeros.shape[1]:
            raise ValueError("input must be 1d or non-empty square 2d array.")
        return poly(np.linalg.eigvals(zeros))
    if zeros.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if len(zeros) == 0:
        raise NO_ROOTS("np.poly of no roots, which is a number and no array, is not compiled; test for that first")
    made = with_zeros(zeros)
    if is_complex(zeros) and np.all(np.sort(zeros) == np.sort(np.conj(zeros))):
        return made.real.copy()
    return made


@unchecked
def with_zeros(zeros: Any) -> Any:
    made = np.ones(1, zeros.dtype)
    for k in range(len(zeros)):
        longer = np.zeros(len(made) + 1, zeros.dtype)
        longer[:-1] = made
        for i in range(len(made)):
            longer[i + 1] -= zeros[k] * made[i]
        made = longer
    return made
