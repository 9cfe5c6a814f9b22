"""Copies, conversions, single items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays, complex_arrays, indexing, lists
from zyg.frontend.arrays import dtype_of
from zyg.frontend.elementwise import lift
from zyg.frontend.numpy_numbers import python_number
from zyg.frontend.scalars import scalar_value
from zyg.frontend.values import (
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    Known,
    Number,
    TupleValue,
    describe,
    is_number,
    is_numeric,
    known,
)
from zyg.ir.core import const
from zyg.ir.types import BOOL, F64

from ..registry import emits, implements
from .constructors import C_ORDER, K_ORDER, in_order, like, order_of
from .views import as_array

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

NONE, ZERO, YES, UNSAFE = Known(None), Known(0), Known(True), Known("unsafe")


@emits((np.ndarray, "copy"))
def copy(e: Evaluator, a: Abstract, order: Abstract = C_ORDER) -> Abstract:
    result = like(e, a, NONE, "empty", None, order=order)
    arrays.copy_elements(e, result, a)
    return result


@emits(np.copy)
def copy_function(e: Evaluator, a: Abstract, order: Abstract = K_ORDER) -> Abstract:
    return copy(e, as_array(e, a), order)


@implements(np.astype, lists=("x",))
def astype_function(x: Any, dtype: Any, /, *, copy: bool = True) -> Any:
    if not isinstance(x, np.ndarray):
        raise TypeError("Input should be a NumPy array. It is of type " + str(type(x)) + ".")
    return x.astype(dtype) if copy else np.asarray(x, dtype)


@emits((np.ndarray, "fill"))
def fill(e: Evaluator, a: Abstract, value: Abstract) -> Abstract:
    floats = a.floats if isinstance(a, ComplexArrayValue) else a
    assert isinstance(floats, ArrayValue)
    arrays.check_writable(e, floats)
    if isinstance(value, arrays.ARRAYS) and arrays.ndim(value) == 0:
        arrays.assign(e, a, value)
        return NONE
    if not (is_numeric(value) if isinstance(a, ComplexArrayValue) else is_number(value)):
        raise e.refuse(
            "fill() with something else than a number", types=[describe(value, e.heap)], hint="write a[...] = value"
        )
    arrays.assign(e, a, value)
    return NONE


@emits((np.ndarray, "item"), lists=("key",))
def item(e: Evaluator, a: Abstract, *key: Abstract) -> Abstract:
    if any(lists.is_list(e, k) for k in key):
        e.type_error("'list' object cannot be interpreted as an integer")
    position: Abstract = key[0] if len(key) == 1 else TupleValue(key)
    if not key:
        size = arrays.size(e, a)
        ok = const(size.object == 1) if isinstance(size, Known) else e.op("eq", scalar_value(e, size), const(1))
        e.guard(ok, "ValueError", "can only convert an array of size 1 to a Python scalar")
        position = TupleValue((Known(0),) * arrays.ndim(a))
    elif len(key) == 1 and is_number(key[0]):
        from zyg.frontend import flat

        return python_number(e, flat.get_item(e, flat.flat_of(e, a), key[0]))
    value = indexing.get_item(e, a, position)
    if not is_numeric(value):
        e.throw("ValueError", "incorrect number of indices for array")
    return python_number(e, value)


@emits((np.ndarray, "tolist"))
def tolist(e: Evaluator, a: Abstract) -> Abstract:
    if arrays.ndim(a) == 0:
        return python_number(e, arrays.scalar_of(e, a))
    return e.call(known(nested_list), [a])


def nested_list(a: Any) -> Any:
    return [x.tolist() for x in a]


def _refused(name: str, hint: str) -> None:
    @emits((np.ndarray, name))
    def refuse(e: Evaluator, a: Abstract, *args: Abstract, **keywords: Abstract) -> Abstract:
        raise e.refuse(f"ndarray.{name}", types=[describe(a)], hint=hint)


_refused("tobytes", "do it outside of native code")
_refused("resize", "make a new array: np.resize, or np.zeros and an assignment")


@emits((np.ndarray, "astype"))
def astype(
    e: Evaluator,
    a: Abstract,
    dtype: Abstract,
    order: Abstract = K_ORDER,
    casting: Abstract = UNSAFE,
    *,
    copy: Abstract = YES,
) -> Abstract:
    own, scalar = arrays.element_type(a), dtype_of(e, dtype)
    rule = arrays.constant(e, casting, "a rule of casting")
    if not np.can_cast(arrays.numpy_dtype(own), arrays.numpy_dtype(scalar), rule):
        e.type_error(
            f"Cannot cast array data from {arrays.numpy_dtype(own)!r} to {arrays.numpy_dtype(scalar)!r} according to the rule '{rule}'"
        )
    letter = order_of(e, order) or "K"
    keeps = letter == "K" or arrays.ndim(a) < 2
    if scalar is own and not arrays.constant(e, copy, "`copy`"):
        return a if keeps or letter == "A" else in_order(e, a, letter, True, NONE)
    if isinstance(a, ComplexArrayValue) and scalar is BOOL:
        made = e.call(known(np.asarray), [arrays.elementwise(e, "ne", a, ZERO)])
        return made if keeps else astype(e, made, dtype, order)
    if isinstance(a, ComplexArrayValue) and scalar is not arrays.COMPLEX:
        a = complex_arrays.part(e, a, "real")
        own = F64
    if arrays.ndim(a) > 0 and isinstance(a, ArrayValue) and scalar not in (own, arrays.COMPLEX) and keeps:
        return lift(e, ("convert", scalar), lambda e, x: Number(arrays.converted(e, x, scalar), True), [a])
    result = like(e, a, dtype, "empty", None, order=order)
    arrays.assign(e, result, a)
    return result
