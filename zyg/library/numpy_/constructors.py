"""Arrays made: of a shape, like another array, of a range, of numbers in lists."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays, lists
from zyg.frontend.arrays import allocate, dtype_of, shape_argument
from zyg.frontend.calls import unchecked
from zyg.frontend.operators import settled, to_float, to_int
from zyg.frontend.values import (
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    ComplexValue,
    Known,
    Number,
    TupleValue,
    describe,
    is_number,
    is_numeric,
    join_numbers,
    number_type,
)
from zyg.ir.core import Value, const
from zyg.ir.types import BOOL, F64, I64, Scalar

from ..registry import emits

if TYPE_CHECKING:
    from zyg.frontend.infer import Evaluator

NONE, ZERO, YES = Known(None), Known(0), Known(True)


@emits(np.zeros)
def zeros(e: Evaluator, shape: Abstract, dtype: Abstract = NONE, order: Abstract = NONE) -> Abstract:
    check_order(e, order)
    return allocate(e, shape_argument(e, shape), dtype_of(e, dtype), "zeros")


@emits(np.empty)
def empty(e: Evaluator, shape: Abstract, dtype: Abstract = NONE, order: Abstract = NONE) -> Abstract:
    check_order(e, order)
    return allocate(e, shape_argument(e, shape), dtype_of(e, dtype), "empty")


def check_order(e: Evaluator, order: Abstract) -> None:
    if not isinstance(order, Known) or order.object not in (None, "C", "K", "A"):
        raise e.refuse("an array in Fortran order", hint="leave `order` out")


def filled(e: Evaluator, dims: list[Value], dtype: Scalar, value: Abstract) -> Abstract:
    array = allocate(e, dims, dtype, "empty")
    arrays.assign(e, array, value)
    return array


def scalar_type(v: Abstract) -> Scalar | None:
    """The element type of the array that np.array makes of a number; None for anything else."""
    return arrays.COMPLEX if isinstance(v, ComplexValue) else number_type(v)


@emits(np.ones)
def ones(e: Evaluator, shape: Abstract, dtype: Abstract = NONE, order: Abstract = NONE) -> Abstract:
    check_order(e, order)
    return filled(e, shape_argument(e, shape), dtype_of(e, dtype), Known(1))


@emits(np.full)
def full(
    e: Evaluator, shape: Abstract, fill_value: Abstract, dtype: Abstract = NONE, order: Abstract = NONE
) -> Abstract:
    check_order(e, order)
    default = scalar_type(fill_value)
    if default is None:
        raise e.refuse("np.full of something else than a number", types=[describe(fill_value, e.heap)])
    return filled(e, shape_argument(e, shape), dtype_of(e, dtype, default), fill_value)


def like(e: Evaluator, a: Abstract, dtype: Abstract, fill: str, value: Abstract | None) -> Abstract:
    a = settled(e, a, "None has no shape")
    if is_numeric(a):
        scalar = dtype_of(e, dtype, scalar_type(a) or F64)
        return filled(e, [], scalar, value or Known(0))
    if not isinstance(a, arrays.ARRAYS):
        raise e.refuse("an array like something that is no array", types=[describe(a, e.heap)], hint="pass an array")
    scalar = dtype_of(e, dtype, a.type.dtype if isinstance(a, ArrayValue) else arrays.COMPLEX)
    array = arrays.allocate_unchecked(e, arrays.dims(e, a), scalar, fill)
    if value is not None:
        arrays.assign(e, array, value)
    return array


@emits(np.zeros_like)
def zeros_like(e: Evaluator, a: Abstract, dtype: Abstract = NONE) -> Abstract:
    return like(e, a, dtype, "zeros", None)


@emits(np.empty_like)
def empty_like(e: Evaluator, prototype: Abstract, dtype: Abstract = NONE) -> Abstract:
    return like(e, prototype, dtype, "empty", None)


@emits(np.ones_like)
def ones_like(e: Evaluator, a: Abstract, dtype: Abstract = NONE) -> Abstract:
    return like(e, a, dtype, "empty", Known(1))


@emits(np.full_like)
def full_like(e: Evaluator, a: Abstract, fill_value: Abstract, dtype: Abstract = NONE) -> Abstract:
    return like(e, a, dtype, "empty", fill_value)


@emits(np.arange)
def arange(e: Evaluator, *args: Abstract, dtype: Abstract = NONE) -> Abstract:
    from zyg.frontend.infer import known

    if not 1 <= len(args) <= 3:
        raise e.refuse("np.arange with this number of arguments", hint="write np.arange(start, stop, step)")
    bounds: list[Abstract] = [*args]
    start, stop = (bounds[0], bounds[1]) if len(bounds) > 1 else (ZERO, bounds[0])
    step = bounds[2] if len(bounds) > 2 else Known(1)
    joined = join_numbers([start, stop, step]) if all(map(is_number, (start, stop, step))) else None
    if joined is None:
        raise e.refuse("np.arange of these arguments", types=[describe(a, e.heap) for a in args])
    scalar = dtype_of(e, dtype, I64 if joined[0] is BOOL else joined[0])
    if scalar is arrays.COMPLEX:
        raise e.refuse("np.arange of complex numbers", hint="fill an array made with np.zeros(n, complex)")
    if joined[0].kind == "f":
        return e.call(
            known(arange_floats), [*(Number(to_float(e, v)) for v in (start, stop, step)), Known(arrays.DTYPES[scalar])]
        )
    return e.call(
        known(arange_ints), [*(Number(to_int(e, v)) for v in (start, stop, step)), Known(arrays.DTYPES[scalar])]
    )


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
def arange_floats(start: float, stop: float, step: float, dtype: Any) -> Any:
    """start, start + delta, ... with delta as NumPy has it: the difference of the first two as rounded."""
    if step == 0.0:
        raise ZeroDivisionError("float division by zero")
    length = math.ceil((stop - start) / step)
    count = max(length, 0)
    result = np.empty(count, dtype)
    delta = (start + step) - start
    for i in range(count):
        result[i] = start + step if i == 1 else start + i * delta
    return result


def _is_of(e: Evaluator, v: Abstract, dtype: Abstract) -> bool:
    """Whether a value is an array of this dtype already."""
    if not isinstance(v, arrays.ARRAYS):
        return False
    own = v.type.dtype if isinstance(v, ArrayValue) else arrays.COMPLEX
    return dtype_of(e, dtype, own) is own


@emits(np.asarray)
def asarray(e: Evaluator, v: Abstract, dtype: Abstract = NONE) -> Abstract:
    v = settled(e, v, "None is no array")
    return v if _is_of(e, v, dtype) else array(e, v, dtype)


@emits(np.ascontiguousarray)
def ascontiguousarray(e: Evaluator, v: Abstract, dtype: Abstract = NONE) -> Abstract:
    v = settled(e, v, "None is no array")
    floats = v.floats if isinstance(v, ComplexArrayValue) else v
    from .shaping import reshape

    there = isinstance(floats, ArrayValue) and floats.type.layout == "C" and arrays.ndim(v) > 0
    result = v if there and _is_of(e, v, dtype) else array(e, v, dtype)
    return reshape(e, result, Known(1)) if arrays.ndim(result) == 0 else result


@emits(np.array)
def array(e: Evaluator, v: Abstract, dtype: Abstract = NONE, copy: Abstract = YES) -> Abstract:
    from zyg.frontend.infer import known

    if not isinstance(copy, Known):
        raise e.refuse("np.array with a `copy` that is not known when compiling", hint="write True or False")
    v = settled(e, v, "None is no array")
    if copy.object is not True and _is_of(e, v, dtype):
        return v
    if copy.object is False:
        raise e.refuse("np.array(..., copy=False) of what has to be copied", hint="write np.asarray")
    if isinstance(v, arrays.ARRAYS):
        result = like(e, v, dtype, "empty", None)
        arrays.assign(e, result, v)
        return result
    if is_numeric(v):
        return filled(e, [], dtype_of(e, dtype, scalar_type(v) or F64), v)
    items = lists.all_items(e, v)
    if items is None:
        if lists.is_list(e, v):
            layout = lists.require_growing(e, v, [])  # type: ignore[arg-type]
            if not is_numeric(layout.example):
                raise e.refuse("an array of a list of tuples", hint="make the array first and store into it")
            scalar = dtype_of(e, dtype, scalar_type(layout.example) or F64)
            return e.call(known(array_of_list), [v, Known(arrays.numpy_dtype(scalar))])
        raise e.refuse("an array of this", types=[describe(v, e.heap)], hint="pass numbers in tuples or lists")
    shape, numbers = _nested(e, v)
    joined: tuple[Scalar, bool] | None
    if any(isinstance(n, ComplexValue) for n in numbers):
        joined = (arrays.COMPLEX, True)
    else:
        joined = join_numbers(numbers) if numbers else (F64, True)
    if joined is None:
        raise e.refuse("an array of these numbers", types=[describe(n) for n in numbers])
    scalar = dtype_of(e, dtype, joined[0])
    result = allocate(e, [const(n) for n in shape], scalar, "empty")
    for n, item in enumerate(numbers):
        position = []
        for length in reversed(shape):
            position.insert(0, Known(n % length))
            n //= length
        arrays.set_item(e, result, TupleValue(tuple(position)), item)
    return result


def _nested(e: Evaluator, v: Abstract) -> tuple[list[int], list[Abstract]]:
    """The shape of nested tuples and lists, and the numbers in them."""
    if is_numeric(v):
        return [], [v]
    items = lists.all_items(e, v)
    if items is None:
        raise e.refuse("an array of this", types=[describe(v, e.heap)], hint="pass numbers in tuples or lists")
    inner = [_nested(e, i) for i in items]
    if any(shape != inner[0][0] for shape, _ in inner):
        e.throw(
            "ValueError", "setting an array element with a sequence. The requested array has an inhomogeneous shape"
        )
    return [len(items), *(inner[0][0] if inner else [])], [n for _, numbers in inner for n in numbers]


@unchecked
def array_of_list(items: Any, dtype: Any) -> Any:
    result = np.empty(len(items), dtype)
    for i, x in enumerate(items):
        result[i] = x
    return result
