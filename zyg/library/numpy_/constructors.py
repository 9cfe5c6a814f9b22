"""Arrays made: of a shape, like another array, of a range, of numbers in lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays, growing, indexing, lists, orders
from zyg.frontend.arrays import allocate, dtype_of, shape_argument
from zyg.frontend.functions import unchecked
from zyg.frontend.merging import settled
from zyg.frontend.values import (
    Abstract,
    ArrayValue,
    ComplexValue,
    Known,
    Number,
    RangeValue,
    Reference,
    TupleValue,
    describe,
    is_numeric,
    known,
    number_type,
)
from zyg.ir.core import Const, Value, const
from zyg.ir.departures import departing_class
from zyg.ir.types import F64, Scalar

from ..registry import emits

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

NONE, ZERO, YES, C_ORDER, K_ORDER = Known(None), Known(0), Known(True), Known("C"), Known("K")


@emits(np.zeros)
def zeros(e: Evaluator, shape: Abstract, dtype: Abstract = NONE, order: Abstract = NONE) -> Abstract:
    return ordered(e, shape_argument(e, shape), dtype_of(e, dtype), "zeros", order)


@emits(np.empty)
def empty(e: Evaluator, shape: Abstract, dtype: Abstract = NONE, order: Abstract = NONE) -> Abstract:
    return ordered(e, shape_argument(e, shape), dtype_of(e, dtype), "empty", order)


def order_of(e: Evaluator, order: Abstract) -> str | None:
    """The letter, in upper case, that `order` is."""
    given = arrays.constant(e, order, "the order of an array")
    if given is not None and not isinstance(given, str):
        e.type_error(f"order must be str, not {type(given).__name__}")
    letter = given.upper() if isinstance(given, str) else None
    if letter not in (None, "C", "K", "A", "F"):
        e.throw("ValueError", f"order must be one of 'C', 'F', 'A', or 'K' (got {given!r})")
    return letter


def ordered(e: Evaluator, dims: list[Value], dtype: Scalar, fill: str, order: Abstract) -> Abstract:
    """A new array; one in Fortran order is one in C order seen from its other end."""
    letter = order_of(e, order)
    if letter not in (None, "C", "F"):
        e.throw("ValueError", "only 'C' or 'F' order is permitted")
    if letter != "F":
        return allocate(e, dims, dtype, fill)
    return arrays.permuted(e, allocate(e, dims[::-1], dtype, fill), [*reversed(range(len(dims)))])


def filled(e: Evaluator, dims: list[Value], dtype: Scalar, value: Abstract, order: Abstract = NONE) -> Abstract:
    array = ordered(e, dims, dtype, "empty", order)
    arrays.assign(e, array, value)
    return array


def scalar_type(v: Abstract) -> Scalar | None:
    """The element type of the array that np.array makes of a number; None for anything else."""
    return arrays.COMPLEX if isinstance(v, ComplexValue) else number_type(v)


@emits(np.ones)
def ones(e: Evaluator, shape: Abstract, dtype: Abstract = NONE, order: Abstract = NONE) -> Abstract:
    return filled(e, shape_argument(e, shape), dtype_of(e, dtype), Known(1), order)


@emits(np.full)
def full(
    e: Evaluator, shape: Abstract, fill_value: Abstract, dtype: Abstract = NONE, order: Abstract = NONE
) -> Abstract:
    fill_value = settled(e, fill_value, "None is no number")
    default = scalar_type(fill_value)
    if default is None:
        fill_value = asarray(e, fill_value)
        default = arrays.element_type(fill_value)
    scalar = dtype_of(e, dtype, default)
    return filled(e, shape_argument(e, shape), scalar, _as_filling(e, fill_value, scalar), order)


def _as_filling(e: Evaluator, v: Abstract, scalar: Scalar) -> Abstract:
    """The number that np.full converts as whole arrays are; Python's integers have to fit."""
    own = number_type(v)
    if own is None or scalar is arrays.COMPLEX or not (own.kind == "f" or isinstance(v, Number) and v.numpy):
        return v
    return Number(arrays.converted(e, v, scalar), True)


def like(
    e: Evaluator, a: Abstract, dtype: Abstract, fill: str, value: Abstract | None, shape: Abstract = NONE,
    order: Abstract = K_ORDER,
) -> Abstract:  # fmt: skip
    letter = order_of(e, order) or "K"
    a = settled(e, a, "None has no shape")
    if is_numeric(a):
        own = scalar_type(a) or F64
    elif isinstance(a, arrays.ARRAYS):
        own = arrays.element_type(a)
    else:
        a = asarray(e, a)
        own = arrays.element_type(a)
    scalar = dtype_of(e, dtype, own)
    if not (isinstance(shape, Known) and shape.object is None):
        array = allocate(e, shape_argument(e, shape), scalar, fill)
    else:
        lengths = [] if is_numeric(a) else arrays.dims(e, a)
        array = arrays.allocate_unchecked(e, lengths, scalar, fill)
    if letter == "F" or not is_numeric(a) and arrays.ndim(a) == arrays.ndim(array):
        array = orders.like(e, array, a, letter)
    if value is not None:
        arrays.assign(e, array, value)
    return array


@emits(np.zeros_like)
def zeros_like(
    e: Evaluator, a: Abstract, dtype: Abstract = NONE, order: Abstract = K_ORDER, *, shape: Abstract = NONE
) -> Abstract:
    return like(e, a, dtype, "zeros", None, shape, order)


@emits(np.empty_like)
def empty_like(
    e: Evaluator, prototype: Abstract, dtype: Abstract = NONE, order: Abstract = K_ORDER, *, shape: Abstract = NONE
) -> Abstract:
    return like(e, prototype, dtype, "empty", None, shape, order)


@emits(np.ones_like)
def ones_like(
    e: Evaluator, a: Abstract, dtype: Abstract = NONE, order: Abstract = K_ORDER, *, shape: Abstract = NONE
) -> Abstract:
    return like(e, a, dtype, "empty", Known(1), shape, order)


@emits(np.full_like)
def full_like(
    e: Evaluator, a: Abstract, fill_value: Abstract, dtype: Abstract = NONE, order: Abstract = K_ORDER, *,
    shape: Abstract = NONE,
) -> Abstract:  # fmt: skip
    fill_value = settled(e, fill_value, "None is no number")
    if scalar_type(fill_value) is None:
        fill_value = asarray(e, fill_value)
    made = like(e, a, dtype, "empty", None, shape, order)
    arrays.assign(e, made, _as_filling(e, fill_value, arrays.element_type(made)))
    return made


def _is_of(e: Evaluator, v: Abstract, dtype: Abstract) -> bool:
    """Whether a value is an array of this dtype already."""
    if not isinstance(v, arrays.ARRAYS):
        return False
    own = v.type.dtype if isinstance(v, ArrayValue) else arrays.COMPLEX
    return dtype_of(e, dtype, own) is own


@emits(np.asarray, np.asanyarray, lists=("v",))
def asarray(
    e: Evaluator, v: Abstract, dtype: Abstract = NONE, order: Abstract = NONE, *, copy: Abstract = NONE
) -> Abstract:
    return array(e, v, dtype, copy, order)


@emits(np.asfortranarray, lists=("v",))
def asfortranarray(e: Evaluator, v: Abstract, dtype: Abstract = NONE) -> Abstract:
    return array(e, v, dtype, NONE, Known("F"), ndmin=Known(1))


@emits(np.ascontiguousarray, lists=("v",))
def ascontiguousarray(e: Evaluator, v: Abstract, dtype: Abstract = NONE) -> Abstract:
    return array(e, v, dtype, NONE, Known("C"), ndmin=Known(1))


@emits(np.array, lists=("v",))
def array(
    e: Evaluator, v: Abstract, dtype: Abstract = NONE, copy: Abstract = YES, order: Abstract = NONE, *,
    ndmin: Abstract = ZERO,
) -> Abstract:  # fmt: skip
    if not isinstance(copy, Known):
        raise e.refuse("np.array with a `copy` that is not known when compiling", hint="write True or False")
    v = settled(e, v, "None is no array")
    if copy.object is False and not _is_of(e, v, dtype):
        raise e.refuse("np.array(..., copy=False) of what has to be copied", hint="write np.asarray")
    there = copy.object not in (True, 1) and _is_of(e, v, dtype)
    letter = order_of(e, order) or "K"
    if letter == "A" and not _is_of(e, v, dtype):
        letter = "K"  # as NumPy does it
    result = v if there else _made(e, v, dtype, letter)
    wanted = arrays.constant(e, ndmin, "a number of dimensions")
    assert isinstance(wanted, int)
    if letter == "C" and there or letter == "F" and (there or not isinstance(v, arrays.ARRAYS)):
        result = in_order(e, result, letter, there, copy)
    new = wanted - arrays.ndim(result)
    return arrays.seen(e, result, "n" * new + ":" * arrays.ndim(result)) if new > 0 else result


def in_order(e: Evaluator, a: Abstract, letter: str, there: bool, copy: Abstract) -> Abstract:
    """An array whose elements lie in C or in Fortran order: `a` itself if it is `there` already and lies so."""
    n = arrays.ndim(a)
    from_its_end = arrays.permuted(e, a, [*reversed(range(n))]) if letter == "F" and n > 1 else a
    lies = arrays.is_contiguous(e, from_its_end) if there else const(False)
    if isinstance(lies, Const) and lies.value or n < 2 and not there:
        return a
    if isinstance(copy, Known) and copy.object is False:
        e.guard(lies, "ValueError", "Unable to avoid copy while creating an array as requested.")
        return a

    def copied() -> Abstract:
        made = like(e, a, NONE, "empty", None, order=Known(letter))
        arrays.assign(e, made, a)
        return made

    seen = arrays.packed if letter == "C" else arrays.general
    return e.if_else(lies, lambda: seen(e, a), lambda: seen(e, copied())) if there else copied()


def _made(e: Evaluator, v: Abstract, dtype: Abstract, letter: str) -> Abstract:
    """A new array of what an array, a number, or nested tuples and lists hold; of an array in the order of this letter."""
    dtype_of(e, dtype)  # (of a type that is refused, such as object, the items may be anything)
    if isinstance(v, arrays.ARRAYS):
        result = like(e, v, dtype, "empty", None, order=Known(letter))
        arrays.assign(e, result, v)
        return result
    if is_numeric(v):
        return filled(e, [], dtype_of(e, dtype, scalar_type(v) or F64), v)
    if isinstance(v, RangeValue):
        return e.call(known(np.arange), list(v.parts()), {"dtype": dtype})
    if isinstance(v, Reference) and lists.is_list(e, v) and lists.known_items(e, v) is None:
        layout = growing.require_growing(e, v, [])
        if isinstance(layout.example, arrays.ARRAYS):
            return e.call(known(array_of_arrays), [v, dtype])
        if isinstance(layout.example, growing.ListValue):
            return e.call(known(array_of_lists), [v, dtype])
        if layout.pools:
            raise e.refuse("an array of this", types=[describe(v, e.heap)], hint="make arrays of its items first")
        lengths, numbers, _ = _nested(e, layout.example, dtype)
        scalar = dtype_of(e, dtype, _scalar_of_all(e, numbers))
        shape = TupleValue(tuple(map(Number, lengths)))
        return e.call(known(array_of_list), [v, shape, Known(arrays.numpy_dtype(scalar))])
    shape, leaves, depth = _nested(e, v, dtype)
    scalar = dtype_of(e, dtype, _scalar_of_all(e, leaves))
    result = allocate(e, shape, scalar, "empty")
    outer = [n.value for n in shape[:depth] if isinstance(n, Const)]
    for n, item in enumerate(leaves):
        position = []
        for length in reversed(outer):
            position.insert(0, Known(n % length))
            n //= length
        indexing.set_item(e, result, TupleValue(tuple(position)), item)
    return result


def _scalar_of_all(e: Evaluator, leaves: list[Abstract]) -> Scalar:
    """The element type of an array of these numbers and arrays: Python's numbers are float64 and int64 here."""
    if not leaves:
        return F64
    types = [arrays.element_type(v) if isinstance(v, arrays.ARRAYS) else scalar_type(v) for v in leaves]
    return dtype_of(e, Known(np.result_type(*(arrays.numpy_dtype(t) for t in types if t is not None))))


def _nested(e: Evaluator, v: Abstract, dtype: Abstract) -> tuple[list[Value], list[Abstract], int]:
    """The shape of nested tuples and lists, the numbers and arrays in them, and how deep they are. Rows that become arrays first are
    of the `dtype` of all."""
    v = settled(e, v, "None is no number")
    if is_numeric(v):
        return [], [v], 0
    if isinstance(v, arrays.ARRAYS):
        return ([], [arrays.scalar_of(e, v)], 0) if arrays.ndim(v) == 0 else (arrays.dims(e, v), [v], 0)
    items = lists.all_items(e, v)
    if items is None and isinstance(v, Reference) and lists.is_list(e, v):
        return _as_array(e, v, dtype)  # of as many numbers as there turn out to be
    if items is None or isinstance(v, Known) and isinstance(v.object, str):
        raise e.refuse(
            "an array of this", types=[describe(v, e.heap)], hint="pass numbers or arrays in tuples or lists"
        )
    inner = [_nested(e, i, dtype) for i in items]
    ragged = "setting an array element with a sequence. The requested array has an inhomogeneous shape"
    if len({len(shape) for shape, _, _ in inner}) > 1:
        e.throw("ValueError", ragged)
    if len({depth for _, _, depth in inner}) > 1:  # rows of known lengths, and arrays
        inner = [_as_array(e, i, dtype) for i in items]
    for shape, _, _ in inner[1:]:
        for x, y in zip(shape, inner[0][0]):
            if isinstance(x, Const) and isinstance(y, Const):
                if x.value != y.value:
                    e.throw("ValueError", ragged)
            elif x is not y:
                e.guard(e.op("eq", x, y), "ValueError", ragged)
    shape, _, depth = inner[0] if inner else ([], [], 0)
    return [const(len(items)), *shape], [n for _, numbers, _ in inner for n in numbers], depth + 1


def _as_array(e: Evaluator, v: Abstract, dtype: Abstract) -> tuple[list[Value], list[Abstract], int]:
    """The same of what is made an array first."""
    if not isinstance(v, arrays.ARRAYS):
        v = _made(e, v, dtype, "C")
    assert isinstance(v, arrays.ARRAYS)
    return arrays.dims(e, v), [v], 0


NO_SHAPE = departing_class(NotImplementedError)
OF_NOTHING = (
    "an array of an empty list of arrays, lists or tuples, which has one dimension in NumPy: native code has more; "
    "test for an empty list first"
)


def array_of_arrays(items: Any, dtype: Any) -> Any:
    """np.array of a list of arrays whose length is known only when this runs."""
    if len(items) == 0:
        raise NO_SHAPE(OF_NOTHING)
    shape = items[0].shape
    result = np.empty((len(items), *shape), items[0].dtype if dtype is None else dtype)
    for i, x in enumerate(items):
        if x.shape != shape:
            raise ValueError(
                "setting an array element with a sequence. The requested array has an inhomogeneous shape after 1 "
                f"dimensions. The detected shape was ({len(items)},) + inhomogeneous part."
            )
        result[i] = x
    return result


def array_of_lists(items: Any, dtype: Any) -> Any:
    """The same of a list of lists of numbers."""
    return array_of_arrays([np.array(x, dtype) for x in items], None)


@unchecked
def array_of_list(items: Any, shape: Any, dtype: Any) -> Any:
    if len(items) == 0 and len(shape) > 0:
        raise NO_SHAPE(OF_NOTHING)
    result = np.empty((len(items), *shape), dtype)
    for i, x in enumerate(items):
        result[i] = x
    return result
