"""Arithmetic and order of NumPy's scalars, as NumPy has them: IEEE division, wrapping integers, promotion by NEP 50."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zyg.ir.core import Const, Value, const
from zyg.ir.dtypes import single
from zyg.ir.types import BOOL, F32, F64, I32, I64, U8, Scalar

from .python_numbers import PYTHON, SWAPPED, SYMBOLS, ieee_floor
from .scalars import math_op, scalar_value
from .type_names import certain
from .values import Abstract, ArrayValue, ComplexValue, Known, Number, TupleValue, known, number_type

if TYPE_CHECKING:
    from .evaluator import Evaluator


_INT_RANK = {BOOL: 0, U8: 1, I32: 2, I64: 3}


def promote(e: Evaluator, a: Abstract, b: Abstract) -> Scalar:
    """The type of NumPy arithmetic on two numbers, Python's being weak (NEP 50)."""
    strong = [v.type for v in (a, b) if isinstance(v, Number) and v.numpy]
    weak = [v for v in (a, b) if not (isinstance(v, Number) and v.numpy)]
    if len(strong) == 2:
        return promote_strong(strong[0], strong[1])
    (scalar,), (other,) = strong, weak
    return _promote_weak(number_type(other), scalar)


def _promote_weak(weak: Scalar | None, scalar: Scalar) -> Scalar:
    if weak is F64 and scalar.kind != "f":
        return F64
    return I64 if weak is I64 and scalar is BOOL else scalar


def promote_strong(a: Scalar, b: Scalar) -> Scalar:
    if a is b:
        return a
    if F64 in (a, b):
        return F64
    if F32 in (a, b):
        other = b if a is F32 else a
        return F64 if other in (I32, I64) else F32
    return a if _INT_RANK[a] > _INT_RANK[b] else b


def as_numpy(e: Evaluator, v: Abstract, scalar: Scalar) -> Value:
    """A number cast to a NumPy scalar type; Python integers out of its bounds raise OverflowError."""
    if isinstance(v, Known):
        value = v.object
        if scalar.kind in "iu" and type(value) is int:
            low, high = scalar.bounds
            if not low <= value <= high:
                name = {U8: "uint8", I32: "int32", I64: "int64"}[scalar]
                e.throw("OverflowError", f"Python integer {value} out of bounds for {name}")
        return const(single(value) if scalar is F32 else float(value) if scalar is F64 else value, scalar)
    assert isinstance(v, Number)
    if not v.numpy and v.type is I64 and scalar in (I32, U8):
        low, high = scalar.bounds
        inside = e.op("and", e.op("ge", v.value, const(low)), e.op("le", v.value, const(high)))
        name = "uint8" if scalar is U8 else "int32"
        e.guard(inside, "OverflowError", "Python integer {} out of bounds for " + name, v.value)
    return e.builder.cast(v.value, scalar)


def python_number(e: Evaluator, v: Abstract) -> Abstract:
    """A NumPy scalar as the Python number that it holds."""
    if isinstance(v, ComplexValue):
        return ComplexValue(v.re, v.im) if v.numpy else v
    if not isinstance(v, Number) or not v.numpy:
        return known(v.object.item()) if isinstance(v, Known) and isinstance(v.object, np.generic) else v
    target = F64 if v.type.kind == "f" else BOOL if v.type is BOOL else I64
    return Number(e.builder.cast(v.value, target))


def attribute(v: Abstract, cls: type, name: str) -> Abstract | None:
    """What a number of NumPy's says of itself as an array without dimensions; None for what it does not."""
    if name == "T":
        return v
    dtype = np.dtype(cls)
    if name in ("itemsize", "nbytes"):
        return Known(dtype.itemsize)
    if name in ("shape", "strides"):
        return TupleValue(())
    return {"dtype": Known(dtype), "ndim": Known(0), "size": Known(1)}.get(name)


def item(e: Evaluator, v: Abstract, key: Abstract) -> Abstract:
    """`x[key]` of a number of NumPy's, as of an array without axes: the key says how many axes come before it, and whether it is taken."""
    from . import arrays, indexing, kinds

    certain(e, v, "an item")
    parts = (key,) if kinds.is_list(e, key) else kinds.known_items(e, key)
    parts = (key,) if parts is None else parts
    for p in parts:
        if isinstance(p, Known) and (p.object is None or p.object is Ellipsis):
            continue
        kind = arrays.element_type(p) if isinstance(p, ArrayValue) and p.type.ndim == 0 else number_type(p)
        if kind is not BOOL:
            e.throw("IndexError", "invalid index to scalar variable.")
    return indexing.get_item(e, e.call(known(np.asarray), [v]), key) if parts else v


def numpy_arithmetic(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract:
    scalar = promote(e, a, b)
    if name == "truediv":
        scalar = scalar if scalar.kind == "f" else F64
        return Number(e.op("sdiv", as_numpy(e, a, scalar), as_numpy(e, b, scalar)), True)
    if name in ("and", "or", "xor", "lshift", "rshift") and scalar.kind == "f":
        e.type_error(f"ufunc '{_UFUNC[name]}' not supported for the input types, and the inputs could not be safely coerced "
                     "to any supported types according to the casting rule ''safe''")  # fmt: skip
    if scalar is BOOL:
        return _bool_arithmetic(e, name, a, b)
    x, y = as_numpy(e, a, scalar), as_numpy(e, b, scalar)
    if scalar is U8 and name in ("and", "or", "xor", "lshift", "rshift"):
        # Bits of bytes: as i64, and cut off again.
        wide = [Number(e.builder.cast(v, I64), True) for v in (x, y)]
        result = numpy_arithmetic(e, name, *wide)
        if name == "lshift":
            small = e.op("lt", wide[1].value, const(8))
            result = Number(e.op("select", small, scalar_value(e, result), const(0)), True)
            result = Number(e.op("and", result.value, const(255)), True)
        return Number(e.builder.cast(scalar_value(e, result), U8), True)
    if name in ("add", "sub", "mul", "and", "or", "xor"):
        return Number(e.op(name, x, y), True)
    if name == "pow":
        if scalar.kind == "f":
            if isinstance(y, Const) and y.value == 2.0:
                return Number(e.op("mul", x, x), True)
            return Number(math_op(e, "pow", x, y), True)
        e.guard(e.op("ge", y, const(0, scalar)), "ValueError", "Integers to negative integer powers are not allowed.")
        from zyg.library.numpy_.inplace import wrapping_power

        result = e.call(known(wrapping_power), [Number(x, True), Number(y, True)])
        return result if isinstance(y, Const) or not e.context.level else _with_slope_in_exponent(e, result, x, y)
    if name in ("floordiv", "mod"):
        if scalar.kind == "f":
            return Number(ieee_floor(e, name, x, y), True)
        zero = e.op("eq", y, const(0, scalar)) if not isinstance(y, Const) else const(y.value == 0)
        if isinstance(zero, Const) and zero.value:
            return Number(const(0, scalar), True)
        minus = e.op("eq", y, const(-1, scalar)) if scalar.kind == "i" and not isinstance(y, Const) else const(False)
        if isinstance(y, Const):
            if y.value == -1 and scalar.kind == "i":
                by_one = const(1, scalar)
                return Number(e.op("stop", e.op("neg", x)) if name == "floordiv" else e.op("mod", x, by_one), True)
            return Number(e.op(name, x, y), True)
        # By 1 instead of -1, with the derivative that belongs to it.
        positive = y if isinstance(minus, Const) else e.op("select", minus, e.op("neg", y), y)
        divisor = e.op("select", zero, const(1, scalar), positive)
        result = e.op(name, x, divisor)
        if name == "floordiv" and not isinstance(minus, Const):
            result = e.op("select", minus, e.op("stop", e.op("neg", x)), result)
        return Number(e.op("select", zero, const(0, scalar), result), True)
    if name in ("lshift", "rshift"):
        inside = e.op("and", e.op("ge", y, const(0, scalar)), e.op("lt", y, const(scalar.bits, scalar)))
        amount = e.op("select", inside, y, const(0 if name == "lshift" else scalar.bits - 1, scalar))
        op = "shl" if name == "lshift" else "shr"
        shifted = e.op(op, x, amount)
        if name == "lshift":
            shifted = e.op("select", inside, shifted, const(0, scalar))
        return Number(shifted, True)
    e.type_error(f"unsupported operand type(s) for {SYMBOLS[name]}: NumPy scalars")
    raise AssertionError


def _with_slope_in_exponent(e: Evaluator, power: Abstract, x: Value, y: Value) -> Abstract:
    """A power of integers, which products make, with the derivative by its exponent that floats have: 0 where x is not positive.
    That is made of a power of floats, which has derivatives itself."""
    positive = e.op("select", e.op("gt", x, const(0, x.type)), e.builder.cast(x, F64), const(1.0))
    slope = e.op("mul", math_op(e, "pow", positive, e.builder.cast(y, F64)), math_op(e, "log", positive))
    return Number(e.op("slope", scalar_value(e, power), slope, y), True)


_UFUNC = {
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}


def _bool_arithmetic(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract:
    x, y = as_numpy(e, a, BOOL), as_numpy(e, b, BOOL)
    if name in ("add", "or"):
        return Number(e.op("or", x, y), True)
    if name in ("mul", "and"):
        return Number(e.op("and", x, y), True)
    if name == "xor":
        return Number(e.op("xor", x, y), True)
    if name == "sub":
        e.type_error("numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, "
                     "or the logical_xor function instead.")  # fmt: skip
    raise e.refuse(f"operator {SYMBOLS[name]} on two NumPy bools", hint="convert them: int(x)")


def numpy_unary(e: Evaluator, name: str, v: Number) -> Abstract:
    if v.type is BOOL:
        if name == "invert":
            return Number(e.op("not", v.value), True)
        if name == "abs":
            return v
        e.type_error(f"The numpy boolean {'negative' if name == 'neg' else 'positive'}, the `{'-' if name == 'neg' else '+'}` "
                     "operator, is not supported, use the `~` operator or the logical_not function instead.")  # fmt: skip
    if name == "pos" or name == "abs" and v.type is U8:
        return v
    if name == "invert" and v.type.kind == "f":
        e.type_error("ufunc 'invert' not supported for the input types, and the inputs could not be safely coerced to any "
                     "supported types according to the casting rule ''safe''")  # fmt: skip
    if name == "invert" and v.type is U8:
        flipped = e.op("xor", e.builder.cast(v.value, I64), const(255))
        return Number(e.builder.cast(flipped, U8), True)
    return Number(e.op(name, v.value), True)


def numpy_compare(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract:
    for v, other, op in ((a, b, SWAPPED[name]), (b, a, name)):
        # A Python int that the NumPy type does not have compares by value.
        scalar = number_type(other)
        if isinstance(v, Known) and type(v.object) is int and scalar is not None and scalar.kind in "iu":
            low, high = scalar.bounds
            if not low <= v.object <= high:
                return Known(PYTHON[op](0, v.object))
    types = {number_type(a), number_type(b)}
    # Integers compare by value, whatever their types.
    scalar = I64 if I64 in types and types <= {I64, U8, I32} else promote(e, a, b)
    if scalar is BOOL:
        x, y = as_numpy(e, a, BOOL), as_numpy(e, b, BOOL)
        return Number(e.op(name, x, y), True)
    return Number(e.op(name, as_numpy(e, a, scalar), as_numpy(e, b, scalar)), True)
