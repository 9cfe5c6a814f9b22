"""What arrays say of themselves: shape, strides, element type; transposed, real and imaginary views."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zyg.frontend import arrays, orders
from zyg.frontend.complex_arrays import part
from zyg.frontend.flat import FlagsValue, flat_of
from zyg.frontend.values import Abstract, ComplexArrayValue, Known, Number, TupleValue
from zyg.ir.core import Value, const

from ..registry import emits

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator


@emits(np.ndarray.shape)
def shape(e: Evaluator, a: Abstract) -> Abstract:
    return TupleValue(tuple(arrays.counted(e, Number(d)) for d in arrays.dims(e, a)))


@emits(np.ndarray.ndim)
def ndim(e: Evaluator, a: Abstract) -> Abstract:
    return Known(arrays.ndim(a))


@emits(np.ndarray.size)
def size(e: Evaluator, a: Abstract) -> Abstract:
    return arrays.counted(e, arrays.size(e, a))


@emits(np.ndarray.dtype)
def dtype(e: Evaluator, a: Abstract) -> Abstract:
    return Known(arrays.numpy_dtype(arrays.element_type(a)))


@emits(np.ndarray.itemsize)
def itemsize(e: Evaluator, a: Abstract) -> Abstract:
    return Known(arrays.numpy_dtype(arrays.element_type(a)).itemsize)


@emits(np.ndarray.nbytes)
def nbytes(e: Evaluator, a: Abstract) -> Abstract:
    bytes = arrays.numpy_dtype(arrays.element_type(a)).itemsize
    count = arrays.counted(e, arrays.size(e, a))
    return Known(count.object * bytes) if isinstance(count, Known) else Number(e.op("mul", _value(count), const(bytes)))


def _value(v: Abstract) -> Value:
    assert isinstance(v, Number)
    return v.value


@emits(np.ndarray.strides)
def strides(e: Evaluator, a: Abstract) -> Abstract:
    array = arrays.memory(a).value
    if not (e.frame is not None and e.frame.library):
        orders.record_read(e, array, "strides")
    return TupleValue(tuple(Number(e.op("stride", array, axis=axis)) for axis in range(arrays.ndim(a))))


# ------------------------------------------------------------------------------------------------- views


@emits(np.ndarray.T)
def transposed(e: Evaluator, a: Abstract) -> Abstract:
    return arrays.permuted(e, a, range(arrays.ndim(a))[::-1])


@emits(np.ndarray.mT)
def matrix_transposed(e: Evaluator, a: Abstract) -> Abstract:
    n = arrays.ndim(a)
    if n < 2:
        e.throw("ValueError", "matrix transpose with ndim < 2 is undefined")
    return arrays.permuted(e, a, [*range(n - 2), n - 1, n - 2])


@emits(np.ndarray.real)
def real(e: Evaluator, a: Abstract) -> Abstract:
    return part(e, a, "real") if isinstance(a, ComplexArrayValue) else a


@emits(np.ndarray.imag)
def imag(e: Evaluator, a: Abstract) -> Abstract:
    """Of an array of real numbers NumPy gives zeros that cannot be written."""
    if isinstance(a, ComplexArrayValue):
        return part(e, a, "imag")
    zeros = arrays.allocate_unchecked(e, arrays.dims(e, a), arrays.element_type(a), "zeros")
    zeros = orders.like(e, zeros, a, "A")
    return arrays.permuted(e, zeros, range(arrays.ndim(a)), writable=False)


@emits(np.ndarray.flat)
def flat(e: Evaluator, a: Abstract) -> Abstract:
    return flat_of(e, a)


@emits(np.ndarray.flags)
def flags(e: Evaluator, a: Abstract) -> Abstract:
    if not (e.frame is not None and e.frame.library):
        orders.record_read(e, arrays.memory(a).value, "flags")
    return FlagsValue(a)
