"""Numbers at equal distances, and grids of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays
from zyg.frontend.arrays import dtype_of
from zyg.frontend.functions import unchecked
from zyg.frontend.scalars import to_int
from zyg.frontend.values import Abstract, Known, Number, describe, is_number, known, number_type
from zyg.ir.types import F64, I64

from ..intrinsics import cut, unsupported
from ..registry import emits, implements
from .common import inexact_dtype, result_dtype

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

NONE, ZERO = Known(None), Known(0)


@emits(np.arange)
def arange(e: Evaluator, *args: Abstract, dtype: Abstract = NONE, **named: Abstract) -> Abstract:
    given = dict(zip(("start", "stop", "step", "dtype"), args)) | named
    if "stop" in given and isinstance(given["stop"], Known) and given["stop"].object is None:
        del given["stop"]
    start, stop = (given["start"], given["stop"]) if "stop" in given and "start" in given else (
        ZERO, given.get("stop", given.get("start")))  # fmt: skip
    step, dtype = given.get("step", Known(1)), given.get("dtype", dtype)
    if stop is None or len(args) > 4 or set(given) - {"start", "stop", "step", "dtype"}:
        raise e.refuse("np.arange with these arguments", hint="write np.arange(start, stop, step)")
    if not all(map(is_number, (start, stop, step))):
        raise e.refuse("np.arange of these arguments", types=[describe(a, e.heap) for a in args], hint="pass numbers")
    # The type of what is made does not tell float32 from float64, int32 from int64; its bounds are computed in their own types.
    bounds = (start, stop, step)
    floats = any(scalar is not None and scalar.kind == "f" for scalar in map(number_type, bounds))
    scalar = dtype_of(e, dtype, F64 if floats else I64)
    if scalar is arrays.COMPLEX:
        raise e.refuse("np.arange of complex numbers", hint="fill an array made with np.zeros(n, complex)")
    into = Known(arrays.DTYPES[scalar])
    whole = [isinstance(v, Number) and v.type is I64 or isinstance(v, Known) and type(v.object) is int for v in bounds]
    if all(whole) and scalar is I64 and not (isinstance(step, Number) and step.numpy):
        return e.call(known(arange_ints), [*(Number(to_int(e, v)) for v in bounds), into])
    return e.call(known(arange_by_steps), [*bounds, into])


@unchecked
def arange_ints(start: int, stop: int, step: int, dtype: Any) -> Any:
    if step == 0:
        raise ZeroDivisionError("division by zero")
    count = len(range(start, stop, step))
    result = np.empty(count, dtype)
    for i in range(count):
        result[i] = start + i * step
    return result


@unchecked
def arange_by_steps(start: Any, stop: Any, step: Any, dtype: Any) -> Any:
    """start, start + delta, ... with delta as NumPy has it: the difference of the first two as elements of the array."""
    length = float((stop - start) / step)
    if length != length:
        raise ValueError("arange: cannot compute length")
    if abs(length) > 2.0**62:
        raise ValueError("Maximum allowed size exceeded")
    count = max(math.ceil(length), 0)
    result = np.empty(count, dtype)
    first, second = dtype.type(start), dtype.type(start + step)
    delta = second - first
    for i in range(count):
        result[i] = second if i == 1 else first + dtype.type(i) * delta
    return result


@implements(np.linspace)
def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0
) -> Any:
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    work = inexact_dtype(start, stop)
    if np.ndim(start) == 0 and np.ndim(stop) == 0:
        result, step = between_numbers(start + work.type(0), stop + work.type(0), num, endpoint, work)
    else:
        result, step = between_arrays(np.asarray(start), np.asarray(stop), num, endpoint, work)
        result = result.astype(work, copy=False)
        if axis != 0:
            result = np.moveaxis(result, 0, axis)
    if dtype is not None:
        if np.dtype(dtype).kind in "iu":
            result = np.floor(result)
        result = result.astype(dtype)
    return (result, step) if retstep else result


@unchecked
def between_numbers(start: Any, stop: Any, num: int, endpoint: bool, work: Any) -> Any:
    result = np.empty(num, work)
    delta = stop - start
    div = cut(num - 1 if endpoint else num)
    step = work.type(math.nan)
    if div > 0:
        step = delta / div
    if div > 0 and step == 0:
        for i in range(num):
            result[i] = (work.type(i) / div) * delta + start
    elif div > 0:
        for i in range(num):
            result[i] = i * step + start
    else:
        for i in range(num):
            result[i] = i * delta + start
    if endpoint and num > 1:
        result[num - 1] = stop
    return result, step


def between_arrays(start: Any, stop: Any, num: int, endpoint: bool, work: Any) -> Any:
    delta = stop.astype(work) - start.astype(work)
    count = np.arange(num).astype(work).reshape((num,) + (1,) * delta.ndim)
    div = cut(num - 1 if endpoint else num)
    step = np.full(delta.shape, math.nan, work)
    if div > 0:
        step = delta / div
    if div <= 0:
        result = count * delta + start
    elif has_zero(step.ravel()):
        result = (count / div) * delta + start
    else:
        result = count * step + start
    if endpoint and num > 1:
        result[-1] = stop
    return result, step


@unchecked
def has_zero(a: Any) -> bool:
    return any(a[i] == 0 for i in range(len(a)))


@implements(np.logspace)
def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    if np.ndim(base) != 0:
        # An array of bases is broadcast against the ends, along axes behind that of the samples.
        exponents = np.linspace(start, stop, num, endpoint)
        ndim = max(np.ndim(start), np.ndim(stop), np.ndim(base))
        bases = np.reshape(base, (1,) * (ndim - np.ndim(base)) + np.shape(base))
        whole = exponents.reshape((num,) + (1,) * (ndim + 1 - exponents.ndim) + exponents.shape[1:])
        made = np.power(bases, whole)
        made = made if axis == 0 else np.moveaxis(made, 0, axis)
        return made if dtype is None else made.astype(dtype)
    result = np.power(base, np.linspace(start, stop, num, endpoint, False, None, axis))
    return result if dtype is None else result.astype(dtype)


@implements(np.geomspace)
def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    start, stop = np.asarray(start), np.asarray(stop)
    work = result_dtype(start, stop, np.dtype(float))
    if work.kind == "c" or dtype is not None and np.dtype(dtype).kind == "c":
        unsupported("np.geomspace of complex numbers in native code", "use np.exp(np.linspace(...))")
    if start.ndim != 0 or stop.ndim != 0:
        ends = np.broadcast_arrays(start.astype(work), stop.astype(work))
        made = between_in_ratio(ends[0], ends[1], num, endpoint)
        made = made if axis == 0 else np.moveaxis(made, 0, axis)
        return made if dtype is None else made.astype(dtype)
    if start == 0 or stop == 0:
        raise ValueError("Geometric sequence cannot include zero")
    first, last = work.type(start[()]), work.type(stop[()])
    sign = np.sign(first)
    first, last = first / sign, last / sign
    result = np.power(work.type(10.0), np.linspace(np.log10(first), np.log10(last), num, endpoint))
    if num > 0:
        result[0] = first
        if num > 1 and endpoint:
            result[-1] = last
    result *= sign
    return result if dtype is None else result.astype(dtype)


def between_in_ratio(start: Any, stop: Any, num: int, endpoint: bool) -> Any:
    if np.any(start == 0) or np.any(stop == 0):
        raise ValueError("Geometric sequence cannot include zero")
    sign = np.sign(start)
    first, last = start / sign, stop / sign
    result = np.power(start.dtype.type(10.0), np.linspace(np.log10(first), np.log10(last), num, endpoint))
    if num > 0:
        result[0] = first
        if num > 1 and endpoint:
            result[-1] = last
    result *= sign
    return result


# --------------------------------------------------------------------------------------------------- grids


def _spread(shape: Any, axis: int) -> Any:
    """The shape of a vector that varies along one axis of a grid."""
    return (1,) * axis + (shape[axis],) + (1,) * (len(shape) - axis - 1)


_VIEWS_IN_A_LIST = np.lib.NumpyVersion(np.__version__) < "2.5.0"  # as sparse grids were given without copies


@implements(np.meshgrid)
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    if indexing != "xy" and indexing != "ij":
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    vectors = tuple([np.asarray(x).reshape(-1) for x in xi])
    if indexing == "xy" and len(xi) > 1:
        lengths = (len(vectors[1]), len(vectors[0]), *tuple([len(v) for v in vectors[2:]]))
        where = (1, 0, *tuple(range(2, len(xi))))
    else:
        lengths = tuple([len(v) for v in vectors])
        where = tuple(range(len(xi)))
    grids = tuple([v.reshape(_spread(lengths, k)) for v, k in zip(vectors, where)])
    if not sparse:
        grids = np.broadcast_arrays(*grids)
    if copy:
        return tuple([v.copy() for v in grids])
    return list(grids) if sparse and _VIEWS_IN_A_LIST else grids


@implements(np.indices)
def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    n = len(dimensions)
    axes = tuple(range(n))  # a tuple: loops over it are unrolled
    if sparse:
        return tuple([np.arange(dimensions[k]).astype(dtype).reshape(_spread(dimensions, k)) for k in axes])
    result = np.empty((n, *dimensions), dtype)
    for k in axes:
        result[k] = np.broadcast_to(np.arange(dimensions[k]).astype(dtype).reshape(_spread(dimensions, k)), dimensions)
    return result


@implements(np.fromiter)
def fromiter(iter: Any, dtype: Any, count: int = -1) -> Any:
    items = []
    for x in iter:
        if count >= 0 and len(items) == count:
            break
        if np.ndim(x) > 0:
            raise ValueError("setting an array element with a sequence.")
        items.append(x)
    if count >= 0 and len(items) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)} items.")
    return np.array(items, dtype)


@implements(np.fromfunction)
def fromfunction(function: Any, shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any) -> Any:
    if like is not None:
        unsupported("np.fromfunction(like=...)", "leave `like` out")
    grid = np.indices(shape, dtype)
    return function(*tuple([grid[k] for k in tuple(range(len(shape)))]), **kwargs)
