"""Arithmetic and order of Python's numbers, as CPython has them: integers are checked, division by zero raises, comparisons of
int and float are exact.  The texts of exceptions are asked of the running interpreter, since they differ between versions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zyg.ir.core import Const, Value, const
from zyg.ir.departures import departing
from zyg.ir.ops import past_64_bits
from zyg.ir.types import BOOL, F64, I64

from .scalars import (
    EXACT_INTEGERS,
    all_of,
    any_of,
    exact_as_float,
    finite_or_nan,
    is_nan,
    math_op,
    nonzero,
    not_finite,
    scalar_value,
    to_float,
    to_int,
)
from .type_names import python_type_name
from .values import Abstract, Known, Number, known, number_type

if TYPE_CHECKING:
    from .evaluator import Evaluator


MIN_INT, MAX_INT = -(2**63), 2**63 - 1
SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "** or pow()",
    "lshift": "<<", "rshift": ">>", "matmul": "@", "and": "&", "or": "|", "xor": "^",
    "lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">=",
}  # fmt: skip
PYTHON: dict[str, Callable[..., Any]] = {
    name: getattr(operator, name)
    for name in "add sub mul truediv floordiv mod pow lshift rshift xor matmul lt le eq ne gt ge neg pos invert abs".split()
} | {"and": operator.and_, "or": operator.or_}
COMPARISONS = frozenset({"lt", "le", "eq", "ne", "gt", "ge"})
SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


def message_of(function: Callable[..., Any], *args: Any) -> str:
    """The text of the exception that the running interpreter raises for this call."""
    try:
        function(*args)
    except Exception as error:
        return str(error)
    raise AssertionError("the call was expected to raise")


ZERO_DIVISION = {
    (name, kind): message_of(PYTHON[name], one, zero)
    for name in ("truediv", "floordiv", "mod")
    for kind, one, zero in (("i", 1, 0), ("f", 1.0, 0.0))
}
ZERO_TO_NEGATIVE = {"i": message_of(pow, 0, -1), "f": message_of(pow, 0.0, -1.0)}
POW_OVERFLOW = message_of(pow, 10.0, 1000.0)
NEGATIVE_SHIFT = message_of(operator.lshift, 1, -1)


def python_arithmetic(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract:
    """`a <operator> b` of numbers that are Python's both."""
    ta, tb = number_type(a), number_type(b)
    if ta is F64 or tb is F64:
        return _float_arithmetic(e, name, a, b)
    if ta is BOOL and tb is BOOL and name in ("and", "or", "xor"):
        return Number(e.op(name, scalar_value(e, a), scalar_value(e, b)))
    return _int_arithmetic(e, name, a, b)


def _float_arithmetic(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract:
    if name == "pow":
        return float_power(e, a, b)
    if name in ("lshift", "rshift", "and", "or", "xor", "matmul"):
        e.type_error(
            f"unsupported operand type(s) for {SYMBOLS[name]}: '{python_type_name(e, a)}' and '{python_type_name(e, b)}'"
        )
    x, y = to_float(e, a), to_float(e, b)
    if name in ("add", "sub", "mul"):
        return Number(e.op(name, x, y))
    if e.options.error_model == "python":
        e.guard(nonzero(e, y), "ZeroDivisionError", ZERO_DIVISION[name, "f"])
        return Number(e.op("div" if name == "truediv" else name, x, y))
    if name == "truediv":
        return Number(e.op("sdiv", x, y))
    return Number(ieee_floor(e, name, x, y))


def _int_arithmetic(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract:
    if name == "matmul":
        e.type_error("unsupported operand type(s) for @: 'int' and 'int'")
    if isinstance(b, Known) and not isinstance(a, Known) and number_type(a) is I64:
        n = b.object
        if (n == 0 and name in ("add", "sub")) or (n == 1 and name == "mul"):
            return a
    if name == "pow":
        return _int_power(e, a, b)
    if name == "truediv":
        return _int_division(e, a, b)
    x, y = to_int(e, a), to_int(e, b)
    if name in ("add", "sub", "mul"):
        return Number(e.op("c" + name, x, y))
    if name in ("and", "or", "xor"):
        return Number(e.op(name, x, y))
    if name in ("floordiv", "mod"):
        e.guard(nonzero(e, y), "ZeroDivisionError", ZERO_DIVISION[name, "i"])
        return Number(_floor_ints(e, name, x, y))
    if isinstance(y, Const):
        if y.value < 0:
            e.throw("ValueError", NEGATIVE_SHIFT)
        if name == "rshift":
            return Number(e.op("shr", x, const(min(y.value, 63))))
        if y.value < 63:
            return Number(e.op("stop", e.op("cmul", x, const(1 << y.value))))  # bits carry no derivative
    e.guard(e.op("ge", y, const(0)), "ValueError", NEGATIVE_SHIFT)
    amount = e.op("select", e.op("lt", y, const(63)), y, const(63))
    if name == "rshift":
        return Number(e.op("shr", x, amount))
    shifted = e.op("shl", x, amount)
    fits = e.op("and", e.op("eq", e.op("shr", shifted, amount), x), e.op("eq", amount, y))
    fits = e.op("or", fits, e.op("eq", x, const(0)))
    e.guard(fits, departing("OverflowError"), past_64_bits("<<"))
    return Number(shifted)


def _floor_ints(e: Evaluator, name: str, x: Value, y: Value) -> Value:
    """`//` or `%` of i64, the divisor not 0. The smallest integer by -1 is the one case past 64 bits."""
    if isinstance(y, Const):
        if y.value == -1:
            return e.op("stop", e.op("cneg", x)) if name == "floordiv" else e.op("mod", x, const(1))
        return e.op(name, x, y)
    if name == "mod":
        # By 1 instead of -1: the remainder is 0 either way, and so is what it does to its derivatives.
        return e.op("mod", x, e.op("select", e.op("eq", y, const(-1)), e.op("sub", const(0), y), y))
    if not (isinstance(x, Const) and x.value != MIN_INT):
        fits = e.op("or", e.op("ne", x, const(MIN_INT)), e.op("ne", y, const(-1)))
        e.guard(fits, departing("OverflowError"), past_64_bits("//"))
    return e.op("floordiv", x, y)


def _int_division(e: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    """int / int, correctly rounded: exact conversion of both up to 53 bits, long division beyond."""
    from zyg.library.builtins_ import divide_large

    x, y = to_int(e, a), to_int(e, b)
    if e.options.error_model == "python":
        e.guard(nonzero(e, y), "ZeroDivisionError", ZERO_DIVISION["truediv", "i"])
    division = "div" if e.options.error_model == "python" else "sdiv"

    def small() -> Abstract:
        return Number(e.op(division, e.builder.cast(x, F64), e.builder.cast(y, F64)))

    inside = all_of(e, exact_as_float(e, x), exact_as_float(e, y))
    return e.if_else(inside, small, lambda: e.call(known(divide_large), [Number(x), Number(y)]))


def _int_power(e: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    x = to_int(e, a)
    if isinstance(b, Known):
        n = int(b.object)
        if n < 0:
            return float_power(e, Number(x), b)
        if n == 1:
            return Number(x)
        if n == 2:
            return Number(e.op("cmul", x, x))
        return Number(e.op("ipow", x, const(n)))
    n = to_int(e, b)
    if e.options.error_model == "python":
        e.guard(any_of(e, e.op("ge", n, const(0)), nonzero(e, x)), "ZeroDivisionError", ZERO_TO_NEGATIVE["i"])
    e.guard(
        e.op("ge", n, const(0)),
        departing("ValueError"),
        "an int to a negative power is a float, and the type may not depend on the value: write float(x) ** n",
    )
    return Number(e.op("ipow", x, n))


COMPLEX_POWER = "a negative number to a fractional power is complex, and the type may not depend on the value: write complex(x) ** y"


def float_power(e: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    """`**` with a float result, as float.__pow__."""
    kind = "i" if number_type(a) is not F64 and number_type(b) is not F64 else "f"
    x = to_float(e, a)
    python = e.options.error_model == "python"
    if isinstance(b, Known):
        y = float(b.object)
        if y == 1.0:
            return Number(x)
        if y < 0 and python:
            e.guard(nonzero(e, x), "ZeroDivisionError", ZERO_TO_NEGATIVE[kind])
        if not y.is_integer() and python:
            ok = e.op("or", e.op("ge", x, const(0.0)), not_finite(e, x))
            e.guard(ok, departing("ValueError"), COMPLEX_POWER)
        if y == 2.0:
            result = e.op("mul", x, x)
        elif y == -1.0:
            result = e.op("div" if python else "sdiv", const(1.0), x)
        else:
            result = math_op(e, "pow", x, const(y))
        if python and not -1.0 < y <= 1.0:
            _pow_overflow(e, result, x, const(y))
        return Number(result)
    yv = to_float(e, b)
    if python:
        whole = e.op("eq", e.op("floor", yv), yv) if number_type(b) is F64 else const(True)
        not_zero = nonzero(e, x)
        e.guard(
            any_of(e, not_zero, e.op("ge", yv, const(0.0)), is_nan(e, yv)), "ZeroDivisionError", ZERO_TO_NEGATIVE[kind]
        )
        if not (isinstance(whole, Const) or isinstance(x, Const) and x.value >= 0):
            ok = any_of(e, e.op("ge", x, const(0.0)), whole, not_finite(e, x), not_finite(e, yv))
            e.guard(ok, departing("ValueError"), COMPLEX_POWER)
    result = math_op(e, "pow", x, yv)
    if python:
        _pow_overflow(e, result, x, yv)
    return Number(result)


def _pow_overflow(e: Evaluator, result: Value, x: Value, y: Value) -> None:
    ok = any_of(e, finite_or_nan(e, result), not_finite(e, x), not_finite(e, y))
    e.guard(ok, "OverflowError", POW_OVERFLOW)


def ieee_floor(e: Evaluator, name: str, x: Value, y: Value) -> Value:
    """npy_floor_divide and npy_remainder: as Python's, but IEEE for a zero divisor."""
    zero = e.op("eq", y, const(0.0, y.type)) if not isinstance(y, Const) else const(y.value == 0.0)
    if isinstance(zero, Const) and not zero.value:
        return e.op(name, x, y)
    divisor = e.op("select", zero, const(1.0, y.type), y)
    result = e.op(name, x, divisor)
    nan = const(float("nan"), x.type)
    at_zero = e.op("stop", e.op("div", x, y)) if name == "floordiv" else nan
    return e.op("select", zero, at_zero, result)


def python_unary(e: Evaluator, name: str, v: Number) -> Abstract:
    if v.type is BOOL:
        v = Number(e.op("cast", v.value, type=I64))
    if name == "pos":
        return v
    if name == "invert":
        if v.type is F64:
            e.type_error(f"bad operand type for unary ~: '{python_type_name(e, v)}'")
        return Number(e.op("invert", v.value))
    if name == "neg":
        return Number(e.op("neg" if v.type is F64 else "cneg", v.value))
    if v.type is I64:
        in_range = e.op("ne", v.value, const(MIN_INT))
        e.guard(in_range, departing("OverflowError"), past_64_bits("abs()"))
    return Number(e.op("abs", v.value))


def python_compare(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Value:
    ta, tb = number_type(a), number_type(b)
    if ta is F64 and tb is F64:
        return e.op(name, scalar_value(e, a), scalar_value(e, b))
    if F64 not in (ta, tb):
        if ta is BOOL and tb is BOOL:
            return e.op(name, scalar_value(e, a), scalar_value(e, b))
        for v, other, op in ((a, b, SWAPPED[name]), (b, a, name)):
            if isinstance(v, Known) and not MIN_INT <= v.object <= MAX_INT:
                return const(PYTHON[op](0, v.object))
            del other
        return e.op(name, to_int(e, a), to_int(e, b))
    for v in (a, b):
        if isinstance(v, Known) and abs(v.object) <= EXACT_INTEGERS:
            return e.op(name, scalar_value(e, a, F64), scalar_value(e, b, F64))
    if ta is F64:
        return _compare_int_float(e, SWAPPED[name], b, scalar_value(e, a))
    return _compare_int_float(e, name, a, scalar_value(e, b))


def _compare_int_float(e: Evaluator, name: str, a: Abstract, y: Value) -> Value:
    """int <op> float, exactly: where the rounded int equals the float, the integers decide."""
    if isinstance(a, Known):
        exact = abs(int(a.object)) <= EXACT_INTEGERS
        if exact:
            return e.op(name, const(float(a.object)), y)
        value = a.object
        if not MIN_INT <= value <= MAX_INT:
            raise e.refuse(f"the integer {value} in a comparison", hint="write a float")
    x = to_int(e, a)
    rounded = e.builder.cast(x, F64)
    if number_type(a) is BOOL or isinstance(y, Const) and abs(y.value) < EXACT_INTEGERS:
        return e.op(name, rounded, y)
    equal_ = e.op("eq", rounded, y)
    top = const(float(2**63))
    inside = e.op("and", equal_, e.op("lt", y, top))
    as_int = e.op("cast", e.op("select", inside, y, const(0.0)), type=I64)
    at_top = e.op("and", equal_, e.op("ge", y, top))
    decided = e.op("select", inside, e.op(name, x, as_int), e.op(name, rounded, y))
    return e.op("select", at_top, const(PYTHON[name](0, 1)), decided)
