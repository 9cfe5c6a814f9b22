"""Other shapes of an array, and what its shape is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zyg.frontend import arrays, lists
from zyg.frontend.arrays import shape_argument
from zyg.frontend.edges import array_as
from zyg.frontend.scalars import scalar_value
from zyg.frontend.selection import flat, reshaped
from zyg.frontend.type_names import class_of
from zyg.frontend.values import (
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    Known,
    MaybeValue,
    Number,
    TupleValue,
    describe,
    is_number,
    is_numeric,
)
from zyg.ir.core import Const, Value, const
from zyg.ir.types import I64, Array

from ..registry import emits
from .attributes import transposed
from .methods import copy
from .views import as_array

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

C_ORDER, NONE = Known("C"), Known(None)


@emits((np.ndarray, "reshape"))
def reshape(e: Evaluator, a: Abstract, *shape: Abstract, order: Abstract = C_ORDER) -> Abstract:
    if len(shape) == 1 and not is_number(shape[0]):
        return _reshaped(e, a, shape_argument(e, shape[0]), order)
    return _reshaped(e, a, shape_argument(e, TupleValue(shape)), order)


@emits(np.reshape)
def reshape_function(e: Evaluator, a: Abstract, shape: Abstract, order: Abstract = C_ORDER) -> Abstract:
    return _reshaped(e, as_array(e, a), shape_argument(e, shape), order)


def _reshaped(e: Evaluator, a: Abstract, shape: list[Value], order: Abstract) -> Abstract:
    dims = _lengths(e, a, shape)
    if _in_order(e, a, order) == "C":
        return in_shape(e, a, dims)
    return transposed(e, in_shape(e, transposed(e, a), dims[::-1]))


def _in_order(e: Evaluator, a: Abstract, order: Abstract) -> str:
    """C or F: in which order the elements are taken; that may depend on how they lie in memory, which the type has to tell."""
    given = arrays.constant(e, order, "an order")
    if given is None or given in ("C", "F"):
        return "F" if given == "F" else "C"
    if given in ("A", "K") and (arrays.memory(a).type.layout == "C" or arrays.ndim(a) < 2):
        return "C"
    raise e.refuse(
        f"order={given!r} of an array that may be in any order", types=[describe(a)], hint="write 'C' or 'F'"
    )


def _lengths(e: Evaluator, a: Abstract, shape: list[Value]) -> list[Value]:
    """The lengths of the axes, the one that was given as -1 among them; ValueError unless they fit the size of `a`."""
    size = scalar_value(e, arrays.size(e, a), I64)
    unknown = [n for n, d in enumerate(shape) if isinstance(d, Const) and d.value < 0]
    if len(unknown) > 1:
        e.throw("ValueError", "can only specify one unknown dimension")
    given = [d for n, d in enumerate(shape) if n not in unknown]
    shown = ",".join("newaxis" if n in unknown else "{}" for n in range(len(shape))) + "," * (len(shape) == 1)
    message = f"cannot reshape array of size {{}} into shape ({shown})"
    for d in given:
        if not isinstance(d, Const):
            e.guard(e.op("ge", d, const(0)), "ValueError", "negative dimensions are not allowed")
    known = scalar_value(e, arrays.product(e, given), I64)
    dims = list(shape)
    if unknown:
        nonzero = e.op("ne", known, const(0))
        dims[unknown[0]] = e.op("floordiv", size, e.op("select", nonzero, known, const(1)))
        whole = e.op("eq", e.op("mul", known, dims[unknown[0]]), size)
        e.guard(e.op("and", nonzero, whole), "ValueError", message, size, *given)
    else:
        e.guard(e.op("eq", known, size), "ValueError", message, size, *given)
    return dims


def in_shape(e: Evaluator, a: Abstract, dims: list[Value]) -> Abstract:
    """An array in another shape of the same size: a view where its strides allow one, else a copy, as in NumPy."""
    floats = arrays.memory(a)
    if floats.type.layout == "C":
        return reshaped(e, a, dims)
    shape = [*dims, const(2)] if isinstance(a, ComplexArrayValue) else dims
    return _view_or_copy(e, a, dims, e.op("reshapable", floats.value, *shape))


def _view_or_copy(e: Evaluator, a: Abstract, dims: list[Value], seen: Value) -> Abstract:
    floats = arrays.memory(a)
    shape = [*dims, const(2)] if isinstance(a, ComplexArrayValue) else dims
    general = Array(floats.type.dtype, len(shape), "A", floats.type.writable)

    def view() -> Abstract:
        return ArrayValue(e.op("reshape", floats.value, *shape, type=general))

    def copied() -> Abstract:
        return ArrayValue(array_as(e, arrays.memory(reshaped(e, copy(e, a), dims)).value, general))

    result = e.if_else(seen, view, copied)
    assert isinstance(result, ArrayValue)
    return arrays.of_kind(a, result)


@emits((np.ndarray, "flatten"))
def flatten(e: Evaluator, a: Abstract, order: Abstract = C_ORDER) -> Abstract:
    if _in_order(e, a, order) == "F":
        a = transposed(e, a)
    return flat(e, copy(e, a))


@emits((np.ndarray, "ravel"), np.ravel)
def ravel(e: Evaluator, a: Abstract, order: Abstract = C_ORDER) -> Abstract:
    """A view of an array that is contiguous, a copy of any other."""
    a = as_array(e, a)
    if _in_order(e, a, order) == "F":
        a = transposed(e, a)
    if arrays.memory(a).type.layout == "C":
        return flat(e, a)
    size = scalar_value(e, arrays.size(e, a), I64)
    return _view_or_copy(e, a, [size], arrays.is_contiguous(e, a))


@emits((np.ndarray, "__len__"))
def array_len(e: Evaluator, a: Abstract) -> Abstract:
    return lists.length(e, a)


@emits(np.shape)
def shape(e: Evaluator, a: Abstract) -> Abstract:
    if is_numeric(a):
        return TupleValue(())
    return TupleValue(tuple(map(Number, arrays.dims(e, as_array(e, a)))))


@emits(np.ndim)
def ndim(e: Evaluator, a: Abstract) -> Abstract:
    return Known(0 if is_numeric(a) else arrays.ndim(as_array(e, a)))


@emits(np.size)
def size(e: Evaluator, a: Abstract, axis: Abstract = NONE) -> Abstract:
    if is_numeric(a) or isinstance(a, Known) and lists.known_items(e, a) is None:
        if not (isinstance(axis, Known) and axis.object is None):
            arrays.axes_of(e, axis, 0)  # there is none
        return Known(1)
    if isinstance(a, MaybeValue):
        raise e.refuse(f"np.size() of a {describe(a, e.heap)}", hint="test for None first")
    a = as_array(e, a)
    if isinstance(axis, Known) and axis.object is None:
        return arrays.size(e, a)
    lengths = arrays.dims(e, a)
    return arrays.product(e, [lengths[k] for k in arrays.axes_of(e, axis, len(lengths))])


@emits(np.isscalar)
def isscalar(e: Evaluator, element: Abstract) -> Abstract:
    if is_numeric(element):
        return Known(True)
    if isinstance(element, Known):
        return Known(np.isscalar(element.object))
    cls = class_of(e, element)
    if cls is None:
        raise e.refuse(f"np.isscalar() of a {describe(element, e.heap)}", hint="test for None first")
    return Known(issubclass(cls, (str, bytes)))
