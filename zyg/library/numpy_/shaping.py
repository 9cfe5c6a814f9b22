"""Other shapes of an array, and what its shape is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from zyg.frontend import arrays, lists
from zyg.frontend.arrays import shape_argument
from zyg.frontend.edges import array_as
from zyg.frontend.scalars import scalar_value
from zyg.frontend.selection import flat, reshaped
from zyg.frontend.strides import split
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
from zyg.ir.types import F64, I64, Array

from ..registry import emits
from .attributes import transposed
from .constructors import order_of
from .methods import copy
from .views import as_array

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

C_ORDER, NONE = Known("C"), Known(None)


@emits((np.ndarray, "reshape"))
def reshape(e: Evaluator, a: Abstract, *shape: Abstract, order: Abstract = C_ORDER, copy: Abstract = NONE) -> Abstract:
    one = len(shape) == 1 and not is_number(shape[0])
    return _reshaped(e, a, shape_argument(e, shape[0] if one else TupleValue(shape)), order, copy)


@emits(np.reshape)
def reshape_function(
    e: Evaluator, a: Abstract, shape: Abstract, order: Abstract = C_ORDER, *, copy: Abstract = NONE
) -> Abstract:
    return _reshaped(e, as_array(e, a), shape_argument(e, shape), order, copy)


def _reshaped(e: Evaluator, a: Abstract, shape: list[Value], order: Abstract, apart: Abstract) -> Abstract:
    dims = _lengths(e, a, shape)
    if order_of(e, order) == "K":
        e.throw("ValueError", "order 'K' is not permitted for reshaping")
    copies = arrays.constant(e, apart, "`copy`")
    if copies:
        a = copy(e, a, order)
    elif copies is not None and (arrays.memory(a).type.layout != "C" or order_of(e, order) == "F"):
        raise e.refuse("reshape(copy=False) of what may have to be copied", hint="leave `copy` out")

    def taken(fortran: bool) -> Abstract:
        return transposed(e, in_shape(e, transposed(e, a), dims[::-1])) if fortran else in_shape(e, a, dims)

    return _in_order(e, a, order, taken)


def _in_order(e: Evaluator, a: Abstract, order: Abstract, taken: Callable[[bool], Abstract]) -> Abstract:
    """What is `taken` of an array's elements in Fortran order or in C order, which may depend on how they lie in memory."""
    letter, ndim = order_of(e, order), arrays.ndim(a)
    if letter not in ("A", "K") or arrays.memory(a).type.layout == "C" or ndim < 2:
        return taken(letter == "F")
    if letter == "A":
        fortran = arrays.is_contiguous(e, transposed(e, a))
        fortran = e.op("and", fortran, e.op("not", arrays.is_contiguous(e, a)))
    elif ndim == 2:
        first, last = (e.op("abs", e.op("stride", arrays.memory(a).value, axis=axis)) for axis in (0, 1))
        fortran = e.op("and", e.op("lt", first, last), e.op("gt", first, const(0)))
    else:
        raise e.refuse("order='K' of an array that may be in any order", types=[describe(a)], hint="write 'C' or 'F'")
    return e.if_else(fortran, lambda: arrays.general(e, taken(True)), lambda: arrays.general(e, taken(False)))


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
        if not isinstance(d, Const) and not e.is_natural(d):
            e.guard(e.op("ge", d, const(0)), "ValueError", "negative dimensions are not allowed")
    known = scalar_value(e, arrays.product(e, given), I64)
    constants = [d.value for d in given if isinstance(d, Const)]
    if known is not size and len(given) > 1 and (len(constants) < len(given) or math.prod(constants) >= 2**63):
        # The product of lengths that are too large might wrap to the size; that of floats does not.
        e.guard(e.op("fits", *given, item=1), "ValueError", message, size, *given)
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
    if split(e, floats.value, shape) is not None:
        return arrays.of_kind(a, ArrayValue(_seen_as(e, floats, shape)))
    return _view_or_copy(e, a, dims, e.op("reshapable", floats.value, *shape))


def _seen_as(e: Evaluator, floats: ArrayValue, shape: Sequence[Value]) -> Value:
    return e.op("reshape", floats.value, *shape, type=Array(floats.type.dtype, len(shape), "A", floats.type.writable))


def _view_or_copy(e: Evaluator, a: Abstract, dims: list[Value], seen: Value) -> Abstract:
    floats = arrays.memory(a)
    shape = [*dims, const(2)] if isinstance(a, ComplexArrayValue) else dims
    general = Array(floats.type.dtype, len(shape), "A", floats.type.writable)

    def view() -> Abstract:
        return ArrayValue(_seen_as(e, floats, shape))

    def copied() -> Abstract:
        return ArrayValue(array_as(e, arrays.memory(reshaped(e, copy(e, a), dims)).value, general))

    result = e.if_else(seen, view, copied)
    assert isinstance(result, ArrayValue)
    return arrays.of_kind(a, result)


@emits((np.ndarray, "flatten"))
def flatten(e: Evaluator, a: Abstract, order: Abstract = C_ORDER) -> Abstract:
    return _in_order(e, a, order, lambda fortran: flat(e, copy(e, transposed(e, a) if fortran else a)))


@emits((np.ndarray, "ravel"), np.ravel)
def ravel(e: Evaluator, a: Abstract, order: Abstract = C_ORDER) -> Abstract:
    """A view of an array that is contiguous, a copy of any other."""
    a = as_array(e, a)
    return _in_order(e, a, order, lambda fortran: _in_one_axis(e, transposed(e, a) if fortran else a))


def _in_one_axis(e: Evaluator, a: Abstract) -> Abstract:
    if arrays.memory(a).type.layout == "C":
        return flat(e, a)
    size = scalar_value(e, arrays.size(e, a), I64)
    return _view_or_copy(e, a, [size], arrays.is_contiguous(e, a))


@emits((np.ndarray, "view"))
def view(e: Evaluator, a: Abstract, dtype: Abstract = NONE) -> Abstract:
    """The same array; complex numbers as pairs of floats along the last axis, and pairs as complex numbers."""
    own = arrays.element_type(a)
    array = isinstance(dtype, Known) and dtype.object in (None, np.ndarray)
    wanted = own if array else arrays.dtype_of(e, dtype)
    if wanted is own:
        return arrays.seen(e, a, ":" * arrays.ndim(a))
    if {own, wanted} != {arrays.COMPLEX, F64}:
        raise e.refuse(
            f"a view of {arrays.numpy_dtype(own)} as {arrays.numpy_dtype(wanted)}", types=[describe(a)],
            hint="for the same numbers in another element type use a.astype(dtype)",
        )  # fmt: skip
    if arrays.ndim(a) == 0:
        e.throw("ValueError", "Changing the dtype of a 0d array is only supported if the itemsize is unchanged")
    floats, lengths = arrays.memory(a), arrays.dims(e, a)
    one = e.op("le", lengths[-1], const(1))
    itemsize = 8 if own is F64 else 16
    lies = e.op("eq", e.op("stride", floats.value, axis=len(lengths) - 1), const(itemsize))
    message = "To change to a dtype of a different size, the last axis must be contiguous"
    e.guard(e.op("or", one, lies), "ValueError", message)
    if own is arrays.COMPLEX:
        pairs = [*lengths[:-1], e.op("mul", lengths[-1], const(2))]
    else:
        half = e.op("floordiv", lengths[-1], const(2))
        message = "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis of the array."
        e.guard(e.op("eq", e.op("mul", half, const(2)), lengths[-1]), "ValueError", message)
        pairs = [*lengths[:-1], half, const(2)]
    type = Array(F64, len(pairs), floats.type.layout, floats.type.writable)
    made = ArrayValue(e.op("reshape", floats.value, *pairs, type=type))
    return made if own is arrays.COMPLEX else ComplexArrayValue(made)


@emits((np.ndarray, "__len__"))
def array_len(e: Evaluator, a: Abstract) -> Abstract:
    return lists.length(e, a)


@emits(np.shape)
def shape(e: Evaluator, a: Abstract) -> Abstract:
    if is_numeric(a):
        return TupleValue(())
    return TupleValue(tuple(arrays.counted(e, Number(d)) for d in arrays.dims(e, as_array(e, a))))


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
        return arrays.counted(e, arrays.size(e, a))
    lengths = arrays.dims(e, a)
    return arrays.counted(e, arrays.product(e, [lengths[k] for k in arrays.axes_of(e, axis, len(lengths))]))


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
