"""Comparisons, logic and bits of elements, and tests of whole arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays
from zyg.frontend.comparison import compare, truth
from zyg.frontend.elementwise import lift
from zyg.frontend.operators import binary, unary
from zyg.frontend.scalars import scalar_value
from zyg.frontend.values import Abstract, ComplexArrayValue, ComplexValue, Known, Number, is_numeric, known, number_type
from zyg.ir.core import Value, const
from zyg.ir.types import I64, U8

from ..registry import emits, implements
from .reductions import array_like, as_array
from .ufuncs import Element, operand, strong, strong_together, ufunc

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator


def _comparison(name: str) -> Element:
    def emitter(e: Evaluator, x: Abstract, y: Abstract, /) -> Abstract:
        result = compare(e, name, *strong_together(e, x, y))
        return Number(scalar_value(e, result), True) if is_numeric(result) else result

    return emitter


for _function, _name in (
    (np.equal, "eq"), (np.not_equal, "ne"), (np.less, "lt"), (np.less_equal, "le"), (np.greater, "gt"),
    (np.greater_equal, "ge"),
):  # fmt: skip
    ufunc(_function, typed=False)(_comparison(_name))


def _flag(e: Evaluator, v: Abstract) -> Value:
    return truth(e, strong(e, v))


def _logical(op: str) -> Element:
    def emitter(e: Evaluator, x: Abstract, y: Abstract, /) -> Abstract:
        return Number(e.op(op, _flag(e, x), _flag(e, y)), True)

    return emitter


for _name in ("and", "or", "xor"):
    ufunc(getattr(np, f"logical_{_name}"), typed=False)(_logical(_name))


@ufunc(np.logical_not, typed=False)
def _logical_not(e: Evaluator, x: Abstract, /) -> Abstract:
    return Number(e.op("not", _flag(e, x)), True)


def _of_bits(name: str) -> Element:
    return lambda e, x, y, /: binary(e, name, *strong_together(e, x, y))


for _function, _name in (
    (np.bitwise_and, "and"), (np.bitwise_or, "or"), (np.bitwise_xor, "xor"), (np.left_shift, "lshift"),
    (np.right_shift, "rshift"),
):  # fmt: skip
    ufunc(_function)(_of_bits(_name))


@ufunc(np.invert)
def _invert(e: Evaluator, x: Abstract, /) -> Abstract:
    return unary(e, "invert", strong(e, x))


@ufunc(np.bitwise_count, typed=False)
def _bitwise_count(e: Evaluator, x: Abstract, /) -> Abstract:
    x = strong(e, x)
    scalar = number_type(x)
    if scalar is None or scalar.kind == "f":
        e.type_error(
            "ufunc 'bitwise_count' not supported for the input types, and the inputs could not be safely coerced to any "
            "supported types according to the casting rule ''safe''"
        )
    whole = Number(e.builder.cast(scalar_value(e, unary(e, "abs", x)), I64), True)
    return Number(e.builder.cast(scalar_value(e, e.call(known(_ones), [whole])), U8), True)


def _ones(x: Any) -> Any:
    """The number of bits that are set, by sums of pairs, fours and bytes."""
    x = x - ((x >> 1) & 0x5555555555555555)
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
    return ((x * 0x0101010101010101) >> 56) & 0x7F


# ------------------------------------------------------------------------------------ tests of elements


def element_test(function: Callable[..., Any], test: Element) -> None:
    """An entry for a function that is no ufunc, and tests elements."""

    def entry(e: Evaluator, x: Abstract) -> Abstract:
        x = operand(e, x)
        return lift(e, function.__name__, test, [x]) if isinstance(x, arrays.ARRAYS) else test(e, x)

    emits(function)(entry)


def _imaginary_is_zero(e: Evaluator, x: Abstract) -> Value:
    if isinstance(x, ComplexValue):
        return e.op("eq", scalar_value(e, x.im), const(0.0))
    return const(True)


element_test(np.isreal, lambda e, x: Number(_imaginary_is_zero(e, x), True))
element_test(np.iscomplex, lambda e, x: Number(e.op("not", _imaginary_is_zero(e, x)), True))


def _infinite(sign: float) -> Element:
    def test(e: Evaluator, x: Abstract) -> Abstract:
        if isinstance(x, ComplexValue):
            e.type_error("This operation is not supported for complex128 values because it would be ambiguous.")
        return compare(e, "eq", strong(e, x), Known(sign * np.inf))

    return test


element_test(np.isposinf, _infinite(1.0))
element_test(np.isneginf, _infinite(-1.0))


def _kind_test(complex_answer: bool) -> Callable[..., Abstract]:
    def entry(e: Evaluator, x: Abstract) -> Abstract:
        x = array_like(e, x)
        return Known(isinstance(x, (ComplexArrayValue, ComplexValue)) == complex_answer)

    return entry


emits(np.iscomplexobj)(_kind_test(True))
emits(np.isrealobj)(_kind_test(False))


def as_operand(v: Any) -> Any:
    """An array for tuples and lists; numbers stay what they are."""
    return v


@emits(as_operand)
def _as_operand(e: Evaluator, v: Abstract) -> Abstract:
    return operand(e, v)


@implements(np.isclose)
def isclose(a: Any, b: Any, rtol: Any = 1.0e-5, atol: Any = 1.0e-8, equal_nan: Any = False) -> Any:
    a, b = as_operand(a), as_operand(b) * 1.0  # there is no magnitude of the least integer, no difference of bools
    close = (np.abs(a - b) <= atol + rtol * abs(b)) & np.isfinite(b) | (a == b)
    if equal_nan:
        return close | (a != a) & (b != b)
    return close


@implements(np.allclose)
def allclose(a: Any, b: Any, rtol: Any = 1.0e-5, atol: Any = 1.0e-8, equal_nan: Any = False) -> Any:
    return bool(np.all(isclose(as_array(a), as_array(b), rtol, atol, equal_nan)))


@implements(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: Any = False) -> Any:
    a, b = as_array(a1), as_array(a2)
    if a.ndim != b.ndim or a.shape != b.shape:
        return False
    return bool(np.all(_equal(a, b, equal_nan)))


@implements(np.array_equiv)
def array_equiv(a1: Any, a2: Any) -> Any:
    a, b = as_array(a1), as_array(a2)
    for n in range(1, min(a.ndim, b.ndim) + 1):
        x, y = a.shape[-n], b.shape[-n]
        if x != y and x != 1 and y != 1:
            return False
    return bool(np.all(a == b))


def _equal(a: Any, b: Any, equal_nan: Any) -> Any:
    if equal_nan:
        return (a == b) | (a != a) & (b != b)
    return a == b


@implements(np.isfortran)
def isfortran(a: Any) -> bool:
    return a.flags.fnc
