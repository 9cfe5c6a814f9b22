"""Other shapes of an array, and what its shape is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zyg.frontend import arrays, lists
from zyg.frontend.arrays import shape_argument
from zyg.frontend.boundary import scalar_value
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
)
from zyg.ir.core import Const, Value, const
from zyg.ir.types import I64, Array

from ..registry import emits
from .methods import copy

if TYPE_CHECKING:
    from zyg.frontend.infer import Evaluator

NONE, ZERO, YES = Known(None), Known(0), Known(True)


@emits((np.ndarray, "reshape"), np.reshape)
def reshape(e: Evaluator, a: Abstract, *shape: Abstract) -> Abstract:
    if len(shape) == 1 and not is_number(shape[0]):
        dims = shape_argument(e, shape[0])
    else:
        dims = shape_argument(e, TupleValue(shape))
    size = scalar_value(e, arrays.size(e, a), I64)
    known_product: Value = const(1)
    for d in dims:
        if not (isinstance(d, Const) and d.value == -1):
            known_product = (
                d if isinstance(known_product, Const) and known_product.value == 1 else e.op("mul", known_product, d)
            )
    unknown = [n for n, d in enumerate(dims) if isinstance(d, Const) and d.value == -1]
    if len(unknown) > 1:
        e.throw("ValueError", "can only specify one unknown dimension")
    if unknown:
        safe = e.op("select", e.op("ne", known_product, const(0)), known_product, const(1))
        dims[unknown[0]] = e.op("floordiv", size, safe)
        known_product = e.op("mul", known_product, dims[unknown[0]])
    for d in dims:
        if not isinstance(d, Const):
            e.guard(e.op("ge", d, const(0)), "ValueError", "negative dimensions are not allowed")
    text = (
        "cannot reshape array of size {} into shape ("
        + ",".join(["{}"] * len(dims))
        + (",)" if len(dims) == 1 else ")")
    )
    e.guard(e.op("eq", known_product, size), "ValueError", text, size, *dims)
    floats = a.floats if isinstance(a, ComplexArrayValue) else a
    assert isinstance(floats, ArrayValue)
    if floats.type.layout != "C":
        # NumPy gives a view where the strides allow one, and a copy elsewhere: what is written to it tells them apart.
        raise e.refuse(
            "another shape of an array that is not contiguous", types=[describe(a)], hint="copy it first: a.copy()"
        )
    if isinstance(a, ComplexArrayValue):
        dims.append(const(2))
    type = Array(floats.type.dtype, len(dims), "C", floats.type.writable)
    result = ArrayValue(e.op("reshape", floats.value, *dims, type=type))
    return ComplexArrayValue(result) if isinstance(a, ComplexArrayValue) else result


@emits((np.ndarray, "flatten"))
def flatten(e: Evaluator, a: Abstract) -> Abstract:
    return reshape(e, copy(e, a), Known(-1))


@emits((np.ndarray, "ravel"), np.ravel)
def ravel(e: Evaluator, a: Abstract) -> Abstract:
    if isinstance(a, ArrayValue) and a.type.ndim == 1 and a.type.layout == "C":
        return a
    return reshape(e, a, Known(-1))


@emits((np.ndarray, "__len__"))
def array_len(e: Evaluator, a: Abstract) -> Abstract:
    return lists.length(e, a)


@emits(np.shape)
def shape(e: Evaluator, a: Abstract) -> Abstract:
    if is_numeric(a):
        return TupleValue(())
    if not isinstance(a, arrays.ARRAYS):
        raise e.refuse("np.shape of this", types=[describe(a, e.heap)])
    return TupleValue(tuple(map(Number, arrays.dims(e, a))))


@emits(np.ndim)
def ndim(e: Evaluator, a: Abstract) -> Abstract:
    return Known(arrays.ndim(a) if isinstance(a, arrays.ARRAYS) else 0)


@emits(np.size)
def size(e: Evaluator, a: Abstract) -> Abstract:
    return arrays.size(e, a) if isinstance(a, arrays.ARRAYS) else Known(1)
