"""Sampled functions: integrals, slopes, products by convolution, phases without jumps, polynomials."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zyg.frontend.functions import shared, shared_with_adjoint, unchecked
from zyg.rules import adjoint, tangent

from ..intrinsics import unsupported
from ..registry import implements
from .common import axis_index, from_lines, inexact_dtype, is_sequence, lines, result_dtype
from .joining import along
from .layouts import conjugated


@implements(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    values = np.asarray(y)
    if values.ndim == 0:
        raise IndexError("list assignment index out of range")
    axis = axis_index(axis, values.ndim)
    sides = values[along(axis, slice(1, None))] + values[along(axis, slice(None, -1))]
    if x is None:
        return (dx * sides / 2.0).sum(axis)
    points = np.asarray(x)
    if points.ndim == 1:
        steps = points[1:] - points[:-1]
        steps = steps.reshape((len(steps),) + (1,) * (values.ndim - axis - 1))
    else:
        steps = points[along(axis, slice(1, None))] - points[along(axis, slice(None, -1))]
    return (steps * sides / 2.0).sum(axis)


@implements(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    values = np.asarray(f)
    if values.dtype.kind == "b":
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported")
    axes = tuple(range(values.ndim)) if axis is None else tuple(axis) if is_sequence(axis) else (axis,)
    axes = tuple([axis_index(k, values.ndim) for k in axes])
    if len(varargs) == 0:
        steps = (1.0,) * len(axes)
    elif len(varargs) == 1 and np.ndim(varargs[0]) == 0:
        steps = varargs * len(axes)
    elif len(varargs) == len(axes):
        steps = varargs
    else:
        raise TypeError("invalid number of arguments")
    if edge_order != 1 and edge_order != 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    work = values if values.dtype.kind == "c" or values.dtype.kind == "f" else values.astype(float)
    for k in axes:
        if work.shape[k] < edge_order + 1:
            raise ValueError(
                "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required."
            )
    slopes = tuple([slopes_along(work, step, k, edge_order) for k, step in zip(axes, steps)])
    return slopes[0] if len(axes) == 1 else slopes


def slopes_along(f: Any, step: Any, axis: int, edge_order: int) -> Any:
    n = f.shape[axis]
    result = np.empty_like(f)
    at = lambda i: f[along(axis, i)]
    inner = lambda i: f[along(axis, slice(1 + i, n - 1 + i))]
    if np.ndim(step) == 0:
        result[along(axis, slice(1, n - 1))] = (inner(1) - inner(-1)) / (2.0 * step)
        if edge_order == 1:
            result[along(axis, 0)] = (at(1) - at(0)) / step
            result[along(axis, n - 1)] = (at(n - 1) - at(n - 2)) / step
        else:
            result[along(axis, 0)] = (-1.5 / step) * at(0) + (2.0 / step) * at(1) + (-0.5 / step) * at(2)
            result[along(axis, n - 1)] = (0.5 / step) * at(n - 3) + (-2.0 / step) * at(n - 2) + (1.5 / step) * at(n - 1)
        return result
    points = np.asarray(step)
    if points.ndim != 1:
        raise ValueError("distances must be either scalars or 1d")
    if len(points) != n:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    if points.dtype.kind in "iub":
        points = points.astype(float)  # differences of unsigned integers would wrap
    h = (points[1:] - points[:-1]).astype(float)
    before, after = h[:-1], h[1:]
    shape = (n - 2,) + (1,) * (f.ndim - axis - 1)
    a = (-after / (before * (before + after))).reshape(shape)
    b = ((after - before) / (before * after)).reshape(shape)
    c = (before / (after * (before + after))).reshape(shape)
    result[along(axis, slice(1, n - 1))] = a * inner(-1) + b * inner(0) + c * inner(1)
    if edge_order == 1:
        result[along(axis, 0)] = (at(1) - at(0)) / h[0]
        result[along(axis, n - 1)] = (at(n - 1) - at(n - 2)) / h[n - 2]
    else:
        p, q = h[0], h[1]
        result[along(axis, 0)] = (
            -(2.0 * p + q) / (p * (p + q)) * at(0) + (p + q) / (p * q) * at(1) - p / (q * (p + q)) * at(2)
        )
        p, q = h[n - 3], h[n - 2]
        result[along(axis, n - 1)] = (
            q / (p * (p + q)) * at(n - 3) - (q + p) / (p * q) * at(n - 2) + (2.0 * q + p) / (q * (p + q)) * at(n - 1)
        )
    return result


# -------------------------------------------------------------------------------------------------- convolution


BLOCK = 1024  # sums that are made together
FEW = 64  # sums that are made one after the other


def convolved(a: Any, v: Any) -> Any:
    """All sums of products of two vectors. (Of one type, but for tangents of integers, which are floats.)"""
    return np.convolve(a, v)


@implements(convolved)
def _convolved(a: Any, v: Any) -> Any:
    return convolved_by_shorter(v, a) if len(v) > len(a) else convolved_by_shorter(a, v)


@shared
@unchecked
def convolved_by_shorter(a: Any, v: Any) -> Any:
    n, m = len(a), len(v)
    result = np.zeros(n + m - 1, result_dtype(a, v))
    turned = v[::-1].copy()
    # What is before and behind: nothing is multiplied with zeros, which might make nans.
    for j in range(m - 1):
        result[j] = np.dot(turned[m - 1 - j :], a[: j + 1])
        result[n + j] = np.dot(a[n + j - m + 1 :], turned[: m - 1 - j])
    add_sliding(result[m - 1 : n], a, turned)
    return result


@shared
@unchecked
def add_sliding(result: Any, a: Any, v: Any) -> None:
    """result[i] += sum(a[i + j] * v[j]), block by block, so that what is added to stays near."""
    n, m = len(result), len(v)
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        part = result[start:stop]
        whole = m - m % 4
        for j in range(0, whole, 4):
            low, high = start + j, stop + j
            part += (v[j] * a[low:high] + v[j + 1] * a[low + 1 : high + 1]) + (
                v[j + 2] * a[low + 2 : high + 2] + v[j + 3] * a[low + 3 : high + 3]
            )
        for j in range(whole, m):
            part += v[j] * a[start + j : stop + j]


def correlated(a: Any, v: Any, n: int) -> Any:
    """sums[i] = sum(a[i + j] * conj(v[j])) for i < n."""
    return np.convolve(a, np.conj(v[::-1]))[len(v) - 1 : len(v) - 1 + n].copy()


@implements(correlated)
@shared
@unchecked
def _correlated(a: Any, v: Any, n: int) -> Any:
    result = np.zeros(n, result_dtype(a, v))
    if n <= FEW and n < len(v):
        for i in range(n):
            result[i] = np.vdot(v, a[i : i + len(v)])
    else:
        add_sliding(result, a, np.ascontiguousarray(conjugated(v)))
    return result


@adjoint(convolved)
def _convolved_rule(a: Any, v: Any) -> Any:
    """It is linear in each: the cotangent of one is the correlation of the result's with the other."""
    return convolved(a, v), lambda d: (correlated(d, v, len(a)), correlated(d, a, len(v)))


@tangent(convolved)
def _convolved_tangent(a: Any, v: Any) -> Any:
    return convolved(a, v), lambda da, dv: convolved(da, v) + convolved(a, dv)


@adjoint(correlated)
def _correlated_rule(a: Any, v: Any, n: int) -> Any:
    def back(d: Any) -> Any:
        da = np.zeros(len(a), d.dtype)
        da[: n + len(v) - 1] += convolved(d, v)
        return da, correlated(a, d, len(v)), None

    return correlated(a, v, n), back


@tangent(correlated)
def _correlated_tangent(a: Any, v: Any, n: int) -> Any:
    return correlated(a, v, n), lambda da, dv, _: correlated(da, v, n) + correlated(a, dv, n)


def convolution(a: Any, v: Any, mode: Any) -> Any:
    """Where `a` is not the shorter one."""
    common = result_dtype(a, v)
    x, y = np.ascontiguousarray(a.astype(common)), np.ascontiguousarray(v.astype(common))
    if mode == "valid" or mode == 0:
        return correlated(x, conjugated(y[::-1]), len(x) - len(y) + 1)
    return part_of(convolved(x, y), len(x), len(y), mode)


def part_of(whole: Any, n: int, m: int, mode: Any) -> Any:
    """The part of a full convolution of n with m numbers that a mode asks for, where n >= m."""
    if mode == "full" or mode == 2:
        return whole
    if mode == "same" or mode == 1:
        start = (m - 1) // 2
        return whole[start : start + n].copy()
    if not isinstance(mode, (str, int)):
        raise TypeError("convolve/correlate mode not understood")
    if isinstance(mode, int):
        raise ValueError("integer convolve/correlate mode must be 0, 1, or 2")
    raise ValueError("Use one of 'valid', 'same', or 'full' for convolve/correlate mode")


@implements(np.convolve)
def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    x, y = np.array(a, copy=None, ndmin=1), np.array(v, copy=None, ndmin=1)
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError("object too deep for desired array")
    if len(x) == 0:
        raise ValueError("a cannot be empty")
    if len(y) == 0:
        raise ValueError("v cannot be empty")
    if len(y) > len(x):
        return convolution(y, x, mode)
    return convolution(x, y, mode)


@implements(np.correlate)
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    x, y = np.asarray(a), np.asarray(v)
    if x.ndim == 0 or y.ndim == 0:
        raise ValueError("object of too small depth for desired array")
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError("object too deep for desired array")
    if len(x) == 0:
        raise ValueError("first array argument cannot be empty")
    if len(y) == 0:
        raise ValueError("second array argument cannot be empty")
    kernel = np.conjugate(y)[::-1] if y.dtype.kind == "c" else y[::-1]
    if len(y) > len(x):
        # NumPy changes them and turns the result round, so that "same" is centred from the other side.
        return convolution(kernel[::-1], x[::-1], mode)[::-1].copy()
    return convolution(x, kernel, mode)


@implements(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * math.pi) -> Any:
    """What is added are whole periods, which have no derivative."""
    phases = np.asarray(p)
    axis = axis_index(axis, phases.ndim)
    if result_dtype(phases, period).kind == "i":
        unsupported("np.unwrap of integers with an integer period, in native code", "pass floats")
    limit = period / 2 if discont is None else max(discont, period / 2)
    if phases.dtype.kind == "b":
        unsupported("np.unwrap of bools, whose differences have no sign", "convert them: a.astype(float)")
    own = lines(phases, axis)
    rows = own.astype(inexact_dtype(phases, period))
    return from_lines(without_jumps(rows, own, limit, period), phases, axis, "K")


@shared_with_adjoint
@unchecked
def without_jumps(rows: Any, own: Any, limit: Any, period: Any) -> Any:
    """`own`: the rows in the type that they came in, in which NumPy takes differences."""
    result = rows.copy()
    for i in range(rows.shape[0]):
        turns = rows.dtype.type(0)
        for j in range(1, rows.shape[1]):
            change = own[i, j] - own[i, j - 1]
            step = rows.dtype.type(change)
            away = np.floor((step + period / 2) / period)
            rest = (step + period / 2) - away * period  # a nan if the step is infinite, and so is all that follows
            if rest == 0 and step > 0:
                away -= 1.0
            if not abs(change) < limit:
                turns -= away + 0 * rest
            result[i, j] = rows[i, j] + period * turns
    return result
