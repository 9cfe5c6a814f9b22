"""What functions of arrays share: the element type of a result, axes, the lines of an array along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays, lists
from zyg.frontend.merging import settled
from zyg.frontend.values import (
    Abstract,
    ComplexValue,
    Known,
    Number,
    describe,
    is_numeric,
    known,
    number_type,
)

from ..intrinsics import select, unsupported
from ..registry import emits, implements
from .layouts import is_packed
from .ordering import empty_as

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

SUPPORTED = tuple(map(np.dtype, ("float64", "float32", "int64", "int32", "uint8", "bool", "complex128")))


def call(e: Evaluator, function: Any, *arguments: Abstract) -> Abstract:
    """A function of the library, applied to what is known of its arguments."""
    return e.call(known(function), list(arguments))


def root(s: Any) -> Any:
    """The square root of what is not negative; its slope at 0 is 0, and so are all further ones."""
    return np.where(s > 0, np.sqrt(np.where(s > 0, s, 1.0)), s * 0.0)


@implements(root)
def _root(s: Any) -> Any:
    if isinstance(s, np.ndarray):
        return np.where(s > 0, np.sqrt(np.where(s > 0, s, s.dtype.type(1))), s * 0.0)
    return select(s > 0, np.sqrt(select(s > 0, s, 1.0)), s * 0.0)


def result_dtype(*values: Any) -> Any:
    """The dtype of the array that these arrays, numbers and dtypes make together."""
    return np.result_type(*values)


def inexact_dtype(*values: Any) -> Any:
    """The same, and float64 for whole numbers."""
    dtype = np.result_type(*values)
    return dtype if dtype.kind in "fc" else np.dtype(float)


def axis_index(axis: Any, ndim: int) -> int:
    """An axis counted from the front; AxisError if there is none of this number."""
    return np.lib.array_utils.normalize_axis_index(axis, ndim)


def constant(v: Any, what: str) -> Any:
    """`v`, which has to be known when compiling; `what` says what it is, for the error."""
    return v


def is_differentiated() -> bool:
    """Whether what is compiled is to be differentiated."""
    return False


def is_sequence(v: Any) -> bool:
    """Whether this is a tuple or a list of known length."""
    return isinstance(v, (tuple, list))


def _dtype_like(e: Evaluator, v: Abstract) -> Any:
    """What np.result_type has to know of a value: a dtype, or a Python number, which is weak."""
    v = settled(e, v, "None is no array")
    if isinstance(v, arrays.ARRAYS):
        return arrays.numpy_dtype(arrays.element_type(v))
    if isinstance(v, ComplexValue):
        return np.dtype(complex) if v.numpy else 0j
    if isinstance(v, Known) and (isinstance(v.object, (np.dtype, type))):
        return np.dtype(v.object)
    scalar = number_type(v)
    if scalar is not None:
        own = arrays.numpy_dtype(scalar)
        return own if isinstance(v, Number) and v.numpy else {"b": False, "f": 0.0}.get(scalar.kind, 0)
    from .constructors import asarray

    if lists.is_list(e, v) or lists.all_items(e, v) is not None:
        return arrays.numpy_dtype(arrays.element_type(asarray(e, v)))
    raise e.refuse("an array of this", types=[describe(v, e.heap)], hint="pass arrays, numbers, tuples or lists")


@emits(result_dtype, np.result_type)
def _result_dtype(e: Evaluator, *values: Abstract) -> Abstract:
    return Known(dtype_together(e, values))


@emits(inexact_dtype)
def _inexact_dtype(e: Evaluator, *values: Abstract) -> Abstract:
    found = dtype_together(e, values)
    return Known(found if found.kind in "fc" else np.dtype(float))


def dtype_together(e: Evaluator, values: Any) -> np.dtype[Any]:
    if not values:
        e.throw("ValueError", "at least one array or dtype is required")
    found = np.result_type(*(_dtype_like(e, v) for v in values))
    if found not in SUPPORTED:
        raise e.refuse(f"arrays that together are of dtype {found}", hint="convert them first: a.astype(float)")
    return found


def same_kind(a: Any, dtype: Any) -> None:
    """TypeError unless an array may be cast to this dtype by the rule "same_kind"."""
    if not np.can_cast(a.dtype, dtype, "same_kind"):
        raise TypeError(_cannot_cast(a.dtype, dtype))


def _cannot_cast(own: Any, dtype: Any) -> str:
    return f"Cannot cast array data from {own!r} to {np.dtype(dtype)!r} according to the rule 'same_kind'"


@emits(same_kind)
def _same_kind(e: Evaluator, a: Abstract, dtype: Abstract) -> Abstract:
    own, wanted = _dtype_like(e, a), arrays.numpy_dtype(arrays.dtype_of(e, dtype))
    if not np.can_cast(own, wanted, "same_kind"):
        e.type_error(_cannot_cast(own, wanted))
    return Known(None)


def put_into(made: Any, out: Any) -> Any:
    """The argument `out` of a function that joins arrays, written to."""
    if made.ndim != out.ndim:
        raise ValueError("Output array has wrong dimensionality")
    if made.shape != out.shape:
        raise ValueError("Output array is the wrong shape")
    same_kind(made, out.dtype)
    out[...] = made
    return out


def put_into_alike(made: Any, out: Any, name: str, message: str) -> Any:
    """The same where it has to be an array of the same type as the result."""
    if out.dtype != made.dtype:
        unsupported(f"{name}(out=...) of another type than the result, in native code", "assign it: out[...] = ...")
    if np.shape(made) != out.shape:
        raise ValueError(message)
    out[...] = made
    return out


@emits(np.dtype)
def _dtype(e: Evaluator, dtype: Abstract) -> Abstract:
    return Known(arrays.numpy_dtype(arrays.dtype_of(e, dtype)))


@emits(axis_index)
def _axis_index(e: Evaluator, axis: Abstract, ndim: Abstract) -> Abstract:
    count = arrays.constant(e, ndim, "a number of dimensions")
    assert isinstance(count, int)
    return Known(arrays.axis_of(e, axis, count, booleans=True))


@emits(constant)
def _constant(e: Evaluator, v: Abstract, what: Abstract) -> Abstract:
    assert isinstance(what, Known)
    return Known(arrays.constant(e, v, what.object))


@emits(is_differentiated)
def _is_differentiated(e: Evaluator) -> Abstract:
    return Known(e.context.level > 0)


@emits(is_sequence)
def _is_sequence(e: Evaluator, v: Abstract) -> Abstract:
    return Known(not is_numeric(v) and lists.known_items(e, v) is not None)


# ------------------------------------------------------------------------------------------- lines along an axis


def product(lengths: Any) -> int:
    """The product of a tuple of lengths."""
    result = 1
    for n in lengths:
        result = result * n
    return result


def lines(a: Any, axis: int) -> Any:
    """The lines of an array along an axis, as the rows of a matrix, which may be the array's own memory."""
    moved = np.ascontiguousarray(np.moveaxis(a, axis, -1))
    return moved.reshape((product(moved.shape[:-1]), moved.shape[-1]))


def from_lines(rows: Any, a: Any, axis: int, order: str = "C") -> Any:
    """The array whose lines along an axis are these rows, else of the shape of `a`, in the order asked for of what is made like it."""
    outer = a.shape[:axis] + a.shape[axis + 1 :]
    whole = rows.reshape((*outer, rows.shape[1]))
    result = empty_as(a, (*a.shape[:axis], rows.shape[1], *a.shape[axis + 1 :]), rows.dtype, order)
    if axis == a.ndim - 1 and is_packed(result):
        return whole
    np.moveaxis(result, axis, -1)[...] = whole
    return result


__all__ = [
    "axis_index", "constant", "dtype_together", "from_lines", "inexact_dtype", "is_differentiated", "is_sequence", "lines", "product", "put_into", "put_into_alike",
    "result_dtype",
]  # fmt: skip
