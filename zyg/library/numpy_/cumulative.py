"""Products, running sums and products, differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays
from zyg.frontend.functions import shared_with_adjoint, unchecked
from zyg.frontend.values import Abstract, ArrayValue, ComplexArrayValue, Known, TupleValue, known

from ..registry import emits, implements
from .common import axis_index, from_lines, lines, root
from .extrema import _rows, as_array_value, kept_shape
from .layouts import is_complex
from .ordering import laid_without
from .reductions import (
    UNSET,
    array_like,
    as_array,
    as_initial,
    as_type,
    delivered,
    freedom,
    is_set,
    mask_of,
    over_count,
    reduction,
    store,
    wide,
    without_identity,
)
from .reductions import masked as is_masked

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

NONE, FALSE, YES = Known(None), Known(False), Known(True)


@emits((np.ndarray, "prod"), (np.generic, "prod"), np.prod)
def prod(
    e: Evaluator, a: Abstract, axis: Abstract = NONE, dtype: Abstract = NONE, out: Abstract = NONE,
    keepdims: Abstract = FALSE, initial: Abstract = UNSET, where: Abstract = YES,
) -> Abstract:  # fmt: skip
    """By a reduction, or, where a derivative is wanted, by loops that keep what they multiply (so zeros are no exception)."""
    a = array_like(e, a)
    if not isinstance(a, arrays.ARRAYS):
        a = as_array_value(e, a)
    scalar = wide(e, a, dtype, "product", out)
    empty = without_identity(initial, "multiply")
    initial = as_initial(e, initial, scalar)
    if is_masked(where):
        where = mask_of(e, where, a)
    if scalar.kind in "fc" and (e.context.level > 0 or scalar is arrays.COMPLEX) and arrays.ndim(a) and empty is None:
        axes = arrays.axes_of(e, axis, arrays.ndim(a))
        begin = initial if is_set(initial) else Known(1)
        if is_masked(where):
            a = e.call(known(np.where), [where, a, Known(1)])
        result = e.call(
            known(_product),
            [a, TupleValue(tuple(map(Known, axes))), keepdims, begin, Known(arrays.numpy_dtype(scalar))],
        )
        return delivered(e, result, out)
    term = lambda e, x: as_type(e, x, scalar)
    return delivered(e, reduction(e, "mul", "multiply", term, a, axis, keepdims, initial, where, scalar, empty), out)


@unchecked
def _product_of(row: Any, begin: Any) -> Any:
    total = begin
    for i in range(len(row)):
        total = total * row[i]
    return total


@shared_with_adjoint
@unchecked
def _product(a: Any, axes: Any, keepdims: Any, begin: Any, dtype: Any) -> Any:
    rows = _rows(a.real if is_complex(a) and dtype.kind != "c" else a, axes)
    one = dtype.type(begin)
    if len(axes) == a.ndim:
        total = dtype.type(_product_of(rows[0], one))
        return np.full((1,) * a.ndim, total) if keepdims else total
    result = np.empty(len(rows), dtype)
    for k in range(len(rows)):
        result[k] = _product_of(rows[k], one)
    return laid_without(result.reshape(kept_shape(a, axes, keepdims)), a, axes, keepdims)


# ------------------------------------------------------------------------------------------- running totals


def running_dtype(a: Any, dtype: Any, out: Any) -> Any:
    """The dtype of sums and products."""
    return dtype if dtype is not None else np.dtype(np.int64) if a.dtype in ("bool", "int32") else a.dtype


@emits(running_dtype)
def _running_dtype(e: Evaluator, a: Abstract, dtype: Abstract, out: Abstract) -> Abstract:
    return Known(arrays.numpy_dtype(wide(e, a, dtype, "running sum or product", out)))


@unchecked
def _running_sums(rows: Any, dtype: Any) -> Any:
    result = np.empty(rows.shape, dtype)
    for k in range(len(rows)):
        row, into = rows[k], result[k]
        total = dtype.type(0) if dtype.kind == "b" else -dtype.type(0)  # (0.0 + -0.0 is 0.0)
        for i in range(len(row)):
            total = total + dtype.type(row[i])
            into[i] = total
    return result


@unchecked
def _running_products(rows: Any, dtype: Any) -> Any:
    result = np.empty(rows.shape, dtype)
    for k in range(len(rows)):
        row, into = rows[k], result[k]
        total = dtype.type(1)
        for i in range(len(row)):
            total = total * dtype.type(row[i])
            into[i] = total
    return result


@shared_with_adjoint
def running_sums(a: Any, axis: int, dtype: Any) -> Any:
    return from_lines(_running_sums(lines(a, axis), dtype), a, axis, "I")


@shared_with_adjoint
def running_products(a: Any, axis: int, dtype: Any) -> Any:
    return from_lines(_running_products(lines(a, axis), dtype), a, axis, "I")


def _cumulative(running: Callable[[Any, int, Any], Any], neutral: int | None) -> Callable[..., Any]:
    def function(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        a = as_array(a)
        kind = running_dtype(a, dtype, out)
        if a.ndim == 0:
            a = a.reshape(1)
        if neutral is not None:
            a = without_nan(a, neutral)
        if is_complex(a) and kind.kind != "c":
            a = a.real
        if axis is None:
            return store(running(np.ascontiguousarray(a).reshape(-1), 0, kind), out)
        return store(running(a, axis_index(axis, a.ndim), kind), out)

    return function


def without_nan(a: Any, value: Any) -> Any:
    """The array with a number in place of nans."""
    return np.where(a == a, a, value)


@emits(without_nan)
def _without_nan(e: Evaluator, a: Abstract, value: Abstract) -> Abstract:
    if not isinstance(a, ComplexArrayValue) and not (isinstance(a, ArrayValue) and a.type.dtype.kind == "f"):
        return a
    return e.call(known(_replaced), [a, value])


def _replaced(a: Any, value: Any) -> Any:
    return np.where(a == a, a, value)


implements((np.ndarray, "cumsum"), (np.generic, "cumsum"), np.cumsum)(_cumulative(running_sums, None))
implements((np.ndarray, "cumprod"), (np.generic, "cumprod"), np.cumprod)(_cumulative(running_products, None))
implements(np.nancumsum)(_cumulative(running_sums, 0))
implements(np.nancumprod)(_cumulative(running_products, 1))


def _with_initial(totals: Any, neutral: int) -> Callable[..., Any]:
    def function(
        x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: Any = False
    ) -> Any:
        a = np.atleast_1d(x)
        if axis is None:
            if a.ndim > 1:
                raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
            axis = 0
        if not include_initial:
            return totals(a, axis=axis, dtype=dtype, out=out)
        made = totals(a, axis=axis, dtype=dtype)
        at = axis_index(axis, a.ndim)
        first = np.full_like(made, neutral, shape=(*a.shape[:at], 1, *a.shape[at + 1 :]))
        return store(np.concatenate((first, made), axis=at), out)

    return function


implements(np.cumulative_sum)(_with_initial(np.cumsum, 0))
implements(np.cumulative_prod)(_with_initial(np.cumprod, 1))


@implements(np.diff)
def diff(a: Any, n: Any = 1, axis: Any = -1, prepend: Any = None, append: Any = None) -> Any:
    a = as_array(a)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    if prepend is not None:
        a = np.concatenate((_end(prepend, a, axis), a), axis=axis)
    if append is not None:
        a = np.concatenate((a, _end(append, a, axis)), axis=axis)
    result = np.moveaxis(a, axis, -1)
    if n > 0:
        result = _between_neighbours(result)  # apart from the loop, which usually is none
    for _ in range(n - 1):
        result = _between_neighbours(result)
    return np.moveaxis(result, -1, axis)


def _between_neighbours(a: Any) -> Any:
    following, before = a[..., 1:], a[..., :-1]
    return (following != before) if a.dtype.kind == "b" else following - before


def _end(v: Any, a: Any, axis: Any) -> Any:
    """What is put at an end of an array along an axis: a number stands for a whole slice."""
    v = as_array(v)
    if v.ndim > 0:
        return v
    return np.broadcast_to(v, (*a.shape[: axis % a.ndim], 1, *a.shape[axis % a.ndim + 1 :]))


# ------------------------------------------------------------------------------------ without regard to nans


@implements(np.nansum)
def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = np._NoValue,
    where: Any = True,
) -> Any:  # fmt: skip
    given = without_nan(as_array(a), 0)
    return store(np.sum(given, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where), out)


@implements(np.nanprod)
def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = np._NoValue,
    where: Any = True,
) -> Any:  # fmt: skip
    given = without_nan(as_array(a), 1)
    return store(np.prod(given, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where), out)


@implements(np.nanmean)
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    a = as_array(a)
    if a.dtype.kind not in "fc":
        return np.mean(a, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where)
    check_inexact(dtype)
    count = np.sum(a == a, axis=axis, dtype=np.int64, keepdims=keepdims, where=where)
    total = np.sum(without_nan(a, 0), axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    return store(over_count(total, count), inexact(out))


def check_inexact(dtype: Any) -> None:
    """A mean of floats is no integer."""
    if dtype is not None and np.dtype(dtype).kind not in "fc":
        raise TypeError("If a is inexact, then dtype must be inexact")


def inexact(out: Any) -> Any:
    """Where a mean goes, which has to be able to hold a nan."""
    if out is not None and out.dtype.kind not in "fc":
        raise TypeError("If a is inexact, then out must be inexact")
    return out


@implements(np.nanvar)
def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = None, correction: Any = None,
) -> Any:  # fmt: skip
    a = as_array(a)
    degrees_off = freedom(ddof, correction)
    if a.dtype.kind not in "fc":
        return np.var(
            a, axis=axis, dtype=dtype, out=out, ddof=degrees_off, keepdims=keepdims, where=where, mean=mean
        )  # fmt: skip
    check_inexact(dtype)
    count = np.sum(a == a, axis=axis, dtype=np.int64, keepdims=True, where=where)
    if mean is None:
        mean = over_count(np.sum(without_nan(a, 0), axis=axis, dtype=dtype, keepdims=True, where=where), count)
    d = a - mean
    d = np.where(a == a, d, d.dtype.type(0))
    squares = (d.real * d.real + d.imag * d.imag) if d.dtype.kind == "c" else d * d
    total = np.sum(squares, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    degrees = np.sum(a == a, axis=axis, dtype=np.int64, keepdims=keepdims, where=where) - degrees_off
    return store(over_count(total, np.where(degrees > 0, degrees, np.nan)), inexact(out))


@implements(np.nanstd)
def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = None, correction: Any = None,
) -> Any:  # fmt: skip
    spread = nanvar(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    return store(root(spread), out, "sqrt")
