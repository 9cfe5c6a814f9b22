"""Sums and their relatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend.calls import unchecked
from zyg.frontend.elementwise import sum_elements
from zyg.frontend.values import (
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    Known,
    Number,
    describe,
    is_numeric,
)
from zyg.ir.core import const
from zyg.ir.types import U8

from ..registry import emits, implements
from .shaping import reshape

if TYPE_CHECKING:
    from zyg.frontend.infer import Evaluator

NONE, ZERO, YES = Known(None), Known(0), Known(True)


@emits((np.ndarray, "sum"), np.sum)
def sum_(e: Evaluator, a: Abstract, axis: Abstract = NONE) -> Abstract:
    from zyg.frontend.infer import known

    if is_numeric(a):
        return a
    if isinstance(a, ComplexArrayValue) and (isinstance(axis, Known) and axis.object is None or a.ndim == 1):
        from ..complex_ import sum_array

        whole = reshape(e, a, Known(-1)) if a.ndim > 1 and a.floats.type.layout == "C" else a
        assert isinstance(whole, ComplexArrayValue)
        return sum_array(e, whole)
    if not isinstance(a, ArrayValue):
        raise e.refuse("np.sum of this", types=[describe(a, e.heap)], hint="use the builtin sum")
    if not (isinstance(axis, Known) and axis.object is None) and a.type.ndim != 1:
        raise e.refuse("sum along an axis", hint="write a loop over the rows")
    if a.type.dtype is U8:
        raise e.refuse("the sum of a uint8 array, which is a uint64", hint="convert it: a.astype(np.int64)")
    if a.type.ndim == 0:
        return Number(e.op("load", a.value), True)
    if a.type.dtype.kind == "f":
        return sum_elements(e, a)
    if a.type.ndim > 1 and a.type.layout == "C":
        flat = reshape(e, a, Known(-1))
        assert isinstance(flat, ArrayValue)
        a = flat
    zero = Number(const(0), True)
    return e.call(known(sum_ints), [a, zero])


@unchecked
def sum_ints(a: Any, zero: Any) -> Any:
    total = zero
    for i in range(len(a)):
        total = total + (sum_ints(a[i], zero) if a.ndim > 1 else zero + a[i])
    return total


@implements((np.ndarray, "mean"), np.mean)
def mean(a: Any) -> Any:
    return a.sum() / a.size
