"""Arrays of complex128: indexing, views, assignment, attributes.

Such an array is the float64 array of its parts (`a.view(float)` with the parts in an axis of their own, the last): loads,
stores, views and shadows are those of that array, with one index or slice more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zyg.ir.core import Const, Value, const
from zyg.ir.types import F64, Array

from . import arrays, complexes, lists
from .operators import settled
from .values import (
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    ComplexValue,
    Known,
    Number,
    as_complex,
    describe,
    is_number,
    is_numeric,
)

if TYPE_CHECKING:
    from .infer import Evaluator

DTYPE = np.dtype(np.complex128)


def _parts(e: Evaluator, a: ComplexArrayValue, key: Abstract) -> list[Abstract]:
    """One index or slice per axis, without that of the parts."""
    return arrays._parts(e, ArrayValue(Value(Array(F64, a.ndim))), key)


def load(e: Evaluator, a: ComplexArrayValue, positions: list[Value]) -> ComplexValue:
    re, im = (e.op("load", a.floats.value, *positions, const(n)) for n in range(2))
    return ComplexValue(Number(re), Number(im), numpy=True)


def get_item(e: Evaluator, a: ComplexArrayValue, key: Abstract) -> Abstract:
    parts = _parts(e, a, key)
    if len(parts) == a.ndim and all(map(is_number, parts)):
        return load(e, a, [arrays._position(e, a.floats, axis, p) for axis, p in enumerate(parts)])
    result = arrays._view(e, a.floats, [*parts, arrays._FULL])
    e.views[id(result.value)] = (result.value, a.floats.value, key)
    return ComplexArrayValue(result)


def element_or_row(e: Evaluator, a: ComplexArrayValue, position: Value) -> Abstract:
    """a[position] for a position in range."""
    if a.ndim == 1:
        return load(e, a, [position])
    floats = arrays.element_or_row(e, a.floats, position)
    assert isinstance(floats, ArrayValue)
    return ComplexArrayValue(floats)


def part(e: Evaluator, a: ComplexArrayValue, name: str) -> ArrayValue:
    """a.real or a.imag, a view."""
    floats = a.floats
    type = Array(F64, a.ndim, "A", floats.type.writable)
    index = const(0 if name == "real" else 1)
    return ArrayValue(e.op("view", floats.value, index, type=type, spec=":" * a.ndim + "i"))


# -------------------------------------------------------------------------------------------- assignment


def _converted(e: Evaluator, v: Abstract) -> ComplexValue:
    from .operators import to_float

    if isinstance(v, ComplexValue):
        return v
    value = to_float(e, v)
    return as_complex(Known(value.value) if isinstance(value, Const) else Number(value))


def set_item(e: Evaluator, a: ComplexArrayValue, key: Abstract, value: Abstract) -> None:
    value = settled(e, value, "complex() first argument must be a string or a number, not 'NoneType'")
    arrays.check_writable(e, a.floats)
    parts = _parts(e, a, key)
    if len(parts) == a.ndim and all(map(is_number, parts)):
        if isinstance(value, (ArrayValue, ComplexArrayValue)) and arrays.ndim(value) == 0:
            value = arrays.scalar_of(e, value)
        if not is_numeric(value):
            raise e.refuse("an assignment to an element of an array", types=[describe(a), describe(value, e.heap)],
                           hint="assign a number")  # fmt: skip
        positions = [arrays._position(e, a.floats, axis, p) for axis, p in enumerate(parts)]
        for n, x in enumerate(complexes.values(e, _converted(e, value))):
            e.emit("store", a.floats.value, x, *positions, const(n))
        return
    if isinstance(value, ComplexArrayValue):
        origin = e.views.get(id(value.floats.value))
        if origin is not None and origin[0] is value.floats.value and origin[1] is a.floats.value and origin[2] is key:
            return  # `a[i:j] += x` has written through the view already
    assign(e, ComplexArrayValue(arrays._view(e, a.floats, [*parts, arrays._FULL])), value)


def assign(e: Evaluator, target: ComplexArrayValue, value: Abstract) -> None:
    """target[...] = value"""
    from zyg.library.numpy_ import inplace as whole

    from .infer import known

    if is_numeric(value):
        for name, x in zip(("real", "imag"), complexes.values(e, _converted(e, value))):
            e.emit("fill", part(e, target, name).value, x)
        return
    items = lists.known_items(e, value)
    if items is not None and target.ndim:
        length = e.dim(target.floats.value, 0)
        message = f"could not broadcast input array from shape ({len(items)},) into shape ({{}},)"
        e.guard(e.op("eq", length, const(len(items))), "ValueError", message, length)
        for n, item in enumerate(items):
            set_item(e, target, Known(n), item)
        return
    if isinstance(value, ArrayValue):
        arrays.assign(e, part(e, target, "real"), value)
        e.emit("fill", part(e, target, "imag").value, const(0.0))
        return
    if not isinstance(value, ComplexArrayValue) or value.ndim > target.ndim:
        raise e.refuse("an assignment to a part of an array", types=[describe(target), describe(value, e.heap)],
                       hint="assign a number, or an array of the same shape")  # fmt: skip
    if value.ndim < target.ndim:
        e.call(known(whole.assign_rows), [target, value])
        return
    arrays.check_same_shape(e, target.floats, value.floats, target.ndim)
    e.emit("copyto", target.floats.value, value.floats.value)


def inplace(e: Evaluator, name: str, a: ComplexArrayValue, b: Abstract) -> Abstract:
    """a += b and its relatives: element by element, in the array's own memory."""
    from zyg.library.numpy_ import inplace as whole

    from .infer import known

    b = settled(e, b, "unsupported operand type: 'NoneType'")
    if name not in ("add", "sub", "mul", "truediv", "pow") or not (
        is_numeric(b) or isinstance(b, (ArrayValue, ComplexArrayValue)) and arrays.ndim(b) == a.ndim
    ):
        raise e.refuse(f"the operator {arrays.SYMBOLS[name]}= on an array of complex numbers",
                       types=[describe(a), describe(b, e.heap)], hint="write a loop")  # fmt: skip
    arrays.check_writable(e, a.floats)
    if isinstance(b, (ArrayValue, ComplexArrayValue)):
        floats = b.floats if isinstance(b, ComplexArrayValue) else b
        arrays.check_same_shape(e, a.floats, floats, a.ndim)
        if floats.value is not a.floats.value:
            apart = e.call(known(whole.without_overlap), [a.floats, floats])
            assert isinstance(apart, ArrayValue)
            b = ComplexArrayValue(apart) if isinstance(b, ComplexArrayValue) else apart
    e.call(known(whole.INPLACE[name]), [a, b])
    return a
