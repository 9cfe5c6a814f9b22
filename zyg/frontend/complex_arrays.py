"""Arrays of complex128: indexing, views, assignment, attributes.

Such an array is the float64 array of its parts (`a.view(float)` with the parts in an axis of their own, the last): loads,
stores, views and shadows are those of that array, with one index or slice more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zyg.ir.core import Const, Value, const
from zyg.ir.types import BOOL, F64, Array, Scalar

from . import arrays, complexes
from .elementwise import check_fewer_axes
from .merging import settled
from .python_numbers import message_of
from .type_names import certain
from .values import (
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    ComplexValue,
    Known,
    Number,
    as_complex,
    describe,
    is_numeric,
    known,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator

DTYPE = np.dtype(np.complex128)


def load(e: Evaluator, a: ComplexArrayValue, positions: list[Value]) -> ComplexValue:
    re, im = (e.op("load", a.floats.value, *positions, const(n)) for n in range(2))
    return ComplexValue(Number(re), Number(im), numpy=True)


def part(e: Evaluator, a: ComplexArrayValue, name: str) -> ArrayValue:
    """a.real or a.imag, a view."""
    floats = a.floats
    type = Array(F64, a.ndim, "A", floats.type.writable)
    index = const(0 if name == "real" else 1)
    return ArrayValue(e.op("view", floats.value, index, type=type, spec=":" * a.ndim + "i"))


# -------------------------------------------------------------------------------------------- assignment


def _converted(e: Evaluator, v: Abstract) -> ComplexValue:
    from .scalars import to_float

    if isinstance(v, ComplexValue):
        return v
    value = to_float(e, v)
    return as_complex(Known(value.value) if isinstance(value, Const) else Number(value))


def store(e: Evaluator, a: ComplexArrayValue, positions: list[Value], value: Abstract) -> None:
    for n, x in enumerate(complexes.values(e, _converted(e, value))):
        e.emit("store", a.floats.value, x, *positions, const(n))


def assign(e: Evaluator, target: ComplexArrayValue, value: Abstract) -> None:
    """target[...] = value, a number or an array of real numbers"""
    if isinstance(value, ArrayValue):
        arrays.assign(e, part(e, target, "real"), value)
        e.emit("fill", part(e, target, "imag").value, const(0.0))
        return
    for name, x in zip(("real", "imag"), complexes.values(e, _converted(e, value))):
        e.emit("fill", part(e, target, name).value, x)


def as_real(e: Evaluator, v: Abstract, dtype: Scalar) -> Abstract:
    """What an array of real numbers takes of a value: of NumPy's complex numbers the real part, and whether they are 0 as a bool;
    Python's make a TypeError."""
    if isinstance(v, Known) and isinstance(v.object, complex):
        v = known(v.object)
    if isinstance(v, ComplexArrayValue):
        from zyg.library.numpy_.methods import astype

        return astype(e, v, Known(arrays.numpy_dtype(dtype)))
    if not isinstance(v, ComplexValue):
        return v
    if dtype is BOOL:
        return Number(complexes.truth(e, v), True)
    certain(e, v, "a conversion to a real type", lambda cls: cls is complex)
    if not v.numpy:
        e.type_error(_NOT_REAL[dtype.kind == "f"])
    return Number(arrays.converted(e, Number(complexes.values(e, v)[0], True), dtype), True)


_NOT_REAL = (message_of(int, 1j), message_of(float, 1j))


def inplace(e: Evaluator, name: str, a: ComplexArrayValue, b: Abstract) -> Abstract:
    """a += b and its relatives: computed, and then put into the array's own memory."""
    b = settled(e, b, "unsupported operand type: 'NoneType'")
    if name not in ("add", "sub", "mul", "truediv", "pow") or not (is_numeric(b) or isinstance(b, arrays.ARRAYS)):
        raise e.refuse(f"the operator {arrays.SYMBOLS[name]}= on an array of complex numbers",
                       types=[describe(a), describe(b, e.heap)], hint="write a loop")  # fmt: skip
    arrays.check_writable(e, a.floats)
    check_fewer_axes(e, a, [a, b, a])
    arrays.assign(e, a, arrays.elementwise(e, name, a, b))
    return a
