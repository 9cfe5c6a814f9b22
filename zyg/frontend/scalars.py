"""Numbers as SSA values: what an abstract number is in SSA, conversions, and conditions that constants decide at once."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from zyg.ir.core import Const, Value, const
from zyg.ir.departures import departing
from zyg.ir.dtypes import single
from zyg.ir.types import BOOL, F32, F64, I64, Scalar

from .opaque import natural
from .values import Abstract, ArrayValue, ComplexValue, Known, Number, describe, number_type

if TYPE_CHECKING:
    from .evaluator import Evaluator


EXACT_INTEGERS = 2**53


def scalar_value(e: Evaluator, v: Abstract, type: Scalar | None = None) -> Value:
    """The SSA value of a number, converted to `type`; an int that a float cannot hold raises OverflowError."""
    if isinstance(v, Number):
        return v.value if type is None or v.value.type is type else convert(e, v.value, type)
    assert isinstance(v, Known), describe(v)
    own = number_type(v)
    assert own is not None, describe(v)
    return literal(e, v.object, type or own)


def literal(e: Evaluator, value: Any, type: Scalar) -> Value:
    if type.kind in "iu" and isinstance(value, int):
        low, high = type.bounds
        if not low <= value <= high:
            raise e.refuse(
                f"the integer {value}, which does not fit into {type.bits} bits", hint="write a float, or less"
            )
    return const(single(value) if type is F32 else value, type)


def convert(e: Evaluator, value: Value, type: Scalar) -> Value:
    """A cast that keeps the value: from int to float it is guarded, as floats have 53 bits."""
    own = value.type
    assert isinstance(own, Scalar)
    if own is type:
        return value
    if isinstance(value, Const):
        return literal(e, value.value, type)
    if own is I64 and type.kind == "f":
        message = "int too large to become a float where an int and a float meet"
        e.guard(exact_as_float(e, value), departing("OverflowError"), message)
    return e.op("cast", value, type=type, name=value.name)


def exact_as_float(e: Evaluator, value: Value) -> Value:
    """Whether an i64 is one of the integers that a float surely holds: a float has 53 bits."""
    if isinstance(value, Const):
        return const(abs(value.value) <= EXACT_INTEGERS)
    shifted = e.op("add", value, const(EXACT_INTEGERS))
    return e.op("and", e.op("le", const(0), shifted), e.op("le", shifted, const(2 * EXACT_INTEGERS)))


def to_float(e: Evaluator, v: Abstract) -> Value:
    """The float of a Python number, rounded as CPython's int to float conversion."""
    if isinstance(v, ComplexValue):
        raise e.refuse(
            "a complex number where a real one is needed", types=[describe(v)], hint="write z.real, or abs(z)"
        )
    if isinstance(v, Known):
        try:
            return const(float(v.object))
        except OverflowError as error:
            e.throw("OverflowError", str(error))
    assert isinstance(v, Number)
    return e.builder.cast(v.value, F64)


def as_index(e: Evaluator, v: Abstract) -> Abstract | None:
    """The int that `__index__` of a number gives; None for what has none: floats, NumPy's bools, arrays with dimensions."""
    v = natural(v)
    if isinstance(v, ArrayValue) and v.type.ndim == 0 and v.type.dtype.kind in "iu":
        return Number(e.builder.cast(e.op("load", v.value), I64))
    scalar = number_type(v)
    if scalar is None or scalar.kind == "f" or isinstance(v, Number) and v.numpy and scalar is BOOL:
        return None
    return Known(int(v.object)) if isinstance(v, Known) else Number(to_int(e, v))


def to_int(e: Evaluator, v: Abstract) -> Value:
    """A bool or int as i64."""
    if isinstance(v, Known):
        return literal(e, int(v.object), I64)
    assert isinstance(v, Number)
    return e.builder.cast(v.value, I64)


def math_op(e: Evaluator, op: str, *operands: Value) -> Value:
    """A mathematical function of the op table, with what the options say of it."""
    if e.options.vectormath:
        return e.op(op, *operands, vectormath=True)
    return e.op(op, *operands)


def nonzero(e: Evaluator, x: Value) -> Value:
    if isinstance(x, Const):
        return const(x.value != 0)
    return e.op("ne", x, const(0, x.type))


INFINITY = float("inf")


def is_nan(e: Evaluator, x: Value) -> Value:
    if isinstance(x, Const):
        return const(x.value != x.value)
    return e.op("ne", x, x)


def not_finite(e: Evaluator, x: Value) -> Value:
    if isinstance(x, Const):
        return const(not abs(x.value) < INFINITY)
    return e.op("not", e.op("lt", e.op("abs", x), const(INFINITY, x.type)))


def finite_or_nan(e: Evaluator, x: Value) -> Value:
    return e.op("ne", e.op("abs", x), const(INFINITY, x.type))


def negate(e: Evaluator, flag: Value) -> Value:
    """`not flag`, and what is known where it holds: the facts of `flag`, the other way round."""
    if isinstance(flag, Const):
        return const(not flag.value)
    result = e.op("not", flag)
    fact = e.facts.get(id(flag))
    if fact is not None:
        e.facts[id(result)] = (result, fact[1], fact[3], fact[2])
    return result


def all_of(e: Evaluator, *flags: Value) -> Value:
    return _combined(e, "and", flags, neutral=True)


def any_of(e: Evaluator, *flags: Value) -> Value:
    return _combined(e, "or", flags, neutral=False)


def _combined(e: Evaluator, op: str, flags: tuple[Value, ...], neutral: bool) -> Value:
    if any(isinstance(f, Const) and bool(f.value) is not neutral for f in flags):
        return const(not neutral)
    rest = [f for f in flags if not isinstance(f, Const)]
    return functools.reduce(lambda a, b: e.op(op, a, b), rest) if rest else const(neutral)


def boolean(flag: Value) -> Abstract:
    return Known(flag.value) if isinstance(flag, Const) else Number(flag)
