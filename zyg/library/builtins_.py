"""The builtin types and functions of numbers: emitters for what looks at types, Python code for the algorithms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import classes, comparison, exceptions, instances, kinds, operators, scalars, type_names
from zyg.frontend.later import arrays, construction, lists
from zyg.frontend.merging import settled
from zyg.frontend.opaque import natural
from zyg.frontend.python_numbers import message_of
from zyg.frontend.scalars import boolean
from zyg.frontend.values import (
    ARRAYS,
    NONE,
    Abstract,
    CallableValue,
    ChoiceValue,
    ComplexValue,
    Known,
    MaybeValue,
    Number,
    PullbackValue,
    TupleValue,
    a_thing,
    describe,
    is_number,
    known,
    number_type,
)
from zyg.ir.core import Const
from zyg.ir.departures import departing_class
from zyg.ir.ops import past_64_bits
from zyg.ir.types import BOOL, F32, F64
from zyg.remedies import OUTSIDE

from .intrinsics import check, cut, machine, python_float, select, to_f64, to_i64
from .registry import emits, implements

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

# Defaults of emitters' parameters.
ZERO, ZERO_FLOAT, FALSE, NO_TEXT = Known(0), Known(0.0), Known(False), Known("")


# ------------------------------------------------------------------------------------------------- types


@emits(len)
def _len(e: Evaluator, v: Abstract) -> Abstract:
    result = lists.length(e, v)
    return Number(e.op("stop", result.value)) if isinstance(result, Number) else result


@emits(isinstance)
def _isinstance(e: Evaluator, v: Abstract, classes_: Abstract) -> Abstract:
    return instances.is_instance(e, v, classes_)


@emits(issubclass)
def _issubclass(e: Evaluator, cls: Abstract, classes_: Abstract) -> Abstract:
    items = kinds.known_items(e, classes_) or (classes_,)
    wanted = [c.object for c in items if isinstance(c, Known)]
    if not isinstance(cls, Known) or len(wanted) < len(items):
        raise e.refuse("issubclass of classes that are not known when compiling", hint="name the classes themselves")
    if not all(isinstance(c, type) for c in (cls.object, *wanted)):
        return Known(issubclass(cls.object, tuple(wanted)))  # raises, or asks for a union
    return instances.is_subclass(e, cls.object, wanted)


@emits(type)
def _type(e: Evaluator, v: Abstract) -> Abstract:
    cls = type_names.class_of(e, type_names.certain(e, v, "the type"))
    if cls is None:
        raise e.refuse(
            f"type() of a {describe(v, e.heap)}", hint="test for None first" if isinstance(v, MaybeValue) else OUTSIDE
        )
    return Known(cls)


@emits(callable)
def _callable(e: Evaluator, v: Abstract) -> Abstract:
    if isinstance(v, ChoiceValue):
        return e.each(v, lambda option: _callable(e, option))
    if isinstance(v, (PullbackValue, CallableValue)):
        return Known(True)
    if isinstance(v, Known):
        return Known(callable(v.object))
    cls = type_names.class_of(e, v)
    if cls is None:
        raise e.refuse(f"callable() of {a_thing(v, e.heap)}", hint=OUTSIDE)
    return Known(classes.find_in_class(cls, "__call__") is not None)


@emits(float)
def _float(e: Evaluator, v: Abstract = ZERO_FLOAT) -> Abstract:
    v = settled(e, v, "float() argument must be a string or a real number, not 'NoneType'")
    v = natural(_scalar_of_array(e, v))
    if isinstance(v, Known) and isinstance(v.object, str):
        return operators.fold(e, float, v.object)
    if isinstance(v, ChoiceValue):
        return e.each(v, lambda option: _float(e, option))
    if is_number(v):
        value = scalars.to_float(e, v)
        return Known(value.value) if isinstance(value, Const) else Number(value)
    own = classes.operator_method(e, "float", v)
    if own is not None:
        given = type_names.python_type_name(e, own)
        if given in ("int", "bool", "complex", "NoneType", "str"):
            e.type_error(f"{type_names.python_type_name(e, v)}.__float__ returned non-float (type {given})")
        return own
    raise _not_a_number(e, v, "float() argument must be a string or a real number, not ")


def _scalar_of_array(e: Evaluator, v: Abstract) -> Abstract:
    v = arrays.python_scalar(e, v)
    if isinstance(v, ComplexValue) and v.numpy:
        raise e.refuse("a NumPy complex number as a real one, which drops its imaginary part", hint="write z.real")
    return v


@emits(int)
def _int(e: Evaluator, v: Abstract = ZERO) -> Abstract:
    message = "int() argument must be a string, a bytes-like object or a real number, not "
    v = settled(e, v, message + "'NoneType'")
    v = natural(_scalar_of_array(e, v))
    if isinstance(v, Known) and type(v.object) in (str, bool, int, float):
        return operators.fold(e, int, v.object)
    if isinstance(v, ChoiceValue):
        return e.each(v, lambda option: _int(e, option))
    if isinstance(v, Number):
        if v.type.kind == "f":
            return e.call(known(int_of_float), [v])
        return Number(e.op("stop", scalars.to_int(e, v)))
    own = classes.operator_method(e, "int", v)
    if own is not None:
        given = type_names.python_type_name(e, own)
        if given in ("float", "complex", "NoneType", "str"):
            e.type_error(f"__int__ returned non-int (type {given})")
        return own
    raise _not_a_number(e, v, message)


def _not_a_number(e: Evaluator, v: Abstract, message: str) -> Exception:
    """For what `float` and `int` do not take, and for text that is known only when it runs, which they would take."""
    name = type_names.python_type_name(e, v)
    if name in ("str", "bytes", "bytearray"):
        return e.refuse("a number read from text", types=[describe(v, e.heap)], hint="pass the number itself")
    e.type_error(f"{message}'{name}'")
    raise AssertionError


NAN_TO_INT = message_of(int, math.nan)
INF_TO_INT = message_of(int, math.inf)
INT_TOO_LARGE = past_64_bits("int()")
NO_INT = departing_class(OverflowError)
NO_POWER = departing_class(ValueError)
TWO_63 = 2.0**63


def int_of_float(x: Any) -> int:
    """int(x)"""
    x = to_f64(x)
    check(machine("eq", x, x), ValueError, NAN_TO_INT)
    check(machine("ne", machine("abs", x), math.inf), OverflowError, INF_TO_INT)
    inside = machine("and", machine("ge", x, -TWO_63), machine("lt", x, TWO_63))
    check(inside, NO_INT, INT_TOO_LARGE)
    return cut(to_i64(x))


@emits(bool)
def _bool(e: Evaluator, v: Abstract = FALSE) -> Abstract:
    return boolean(comparison.truth(e, v))


@emits(set, frozenset)
def _container(e: Evaluator, *args: Abstract, **entries: Abstract) -> Abstract:
    raise e.refuse("a set", hint="use a tuple, or a list")


@emits(str)
def _str(e: Evaluator, v: Abstract = NO_TEXT, *encoding: Abstract, **named: Abstract) -> Abstract:
    if encoding or named:
        raise e.refuse("text made of bytes", hint="make the text outside of the function")
    return exceptions.format_value(e, v, "s", NO_TEXT)


@emits(repr)
def _repr(e: Evaluator, v: Abstract) -> Abstract:
    return exceptions.format_value(e, v, "r", NO_TEXT)


@emits(ascii)
def _ascii(e: Evaluator, v: Abstract) -> Abstract:
    return exceptions.format_value(e, v, "a", NO_TEXT)


@emits(format)
def _formatted(e: Evaluator, v: Abstract, spec: Abstract = NO_TEXT) -> Abstract:
    return exceptions.format_value(e, v, "", spec)


# -------------------------------------------------------------------------------------------- arithmetic


@emits(abs)
def _abs(e: Evaluator, v: Abstract) -> Abstract:
    return operators.unary(e, "abs", v)


DIVMOD = {"i": message_of(divmod, 1, 0), "f": message_of(divmod, 1.0, 0.0)}


@emits(divmod)
def _divmod(e: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    message = "unsupported operand type(s) for divmod()"
    a, b = comparison.plain_tuple(settled(e, a, message)), comparison.plain_tuple(settled(e, b, message))
    if isinstance(a, ARRAYS) or isinstance(b, ARRAYS) or comparison.is_made_an_array(e, a, b):
        return e.call(known(np.divmod), [a, b])
    if not (is_number(a) and is_number(b)):
        e.type_error(f"{message}: '{type_names.python_type_name(e, a)}' and '{type_names.python_type_name(e, b)}'")
    python = not any(isinstance(v, Number) and v.numpy for v in (a, b))
    if python and e.options.error_model == "python":
        kind = "f" if F64 in (number_type(a), number_type(b)) else "i"
        y = scalars.to_float(e, b) if kind == "f" else scalars.to_int(e, b)
        e.guard(scalars.nonzero(e, y), "ZeroDivisionError", DIVMOD[kind])
    return TupleValue((operators.binary(e, "floordiv", a, b), operators.binary(e, "mod", a, b)))


@emits(pow)
def _pow(e: Evaluator, base: Abstract, exp: Abstract, mod: Abstract = NONE) -> Abstract:
    if isinstance(mod, Known) and mod.object is None:
        return operators.binary(e, "pow", base, exp)
    if any(isinstance(v, ComplexValue) for v in (base, exp, mod)):
        e.throw("ValueError", "complex modulo")
    method = classes.special(e, base, "__pow__")
    if method is not None:
        return construction.call_known(e, method, [base, exp, mod])
    python = [v for v in (base, exp, mod) if is_number(v) and not (isinstance(v, Number) and v.numpy)]
    if len(python) < 3:
        names = ", ".join(f"'{type_names.python_type_name(e, v)}'" for v in (base, exp, mod))
        e.type_error(f"unsupported operand type(s) for ** or pow(): {names}")
    if any(number_type(v) is F64 for v in python):
        e.type_error("pow() 3rd argument not allowed unless all arguments are integers")
    return e.call(known(power_modulo), [base, exp, mod])


def power_modulo(base: int, exponent: int, modulus: int) -> int:
    """pow(base, exponent, modulus) for moduli below 2**31."""
    if modulus == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    if exponent < 0:
        raise NO_POWER("pow() with a modulus and a negative exponent is not compiled")
    result = 1 % modulus
    base = base % modulus
    while exponent > 0:
        if exponent & 1:
            result = result * base % modulus
        exponent >>= 1
        if exponent > 0:
            base = base * base % modulus
    return result


def divide_large(x: int, y: int) -> float:
    """x / y for integers past 53 bits, correctly rounded: 55 bits of the quotient, the last one sticky."""
    negative = (x < 0) != (y < 0)
    # Both are counted below zero, where the smallest integer has its place.
    x = select(x > 0, machine("neg", x), x)
    y = select(y > 0, machine("neg", y), y)
    quotient = select(machine("eq", y, -1), machine("neg", x), 0)
    rest = 0
    huge = False
    if y == -1:
        huge = quotient < 0  # 2**63 does not fit; its float is exact
    else:
        quotient = machine("floordiv", x, y)
        rest = machine("sub", x, machine("mul", quotient, y))
    exponent = 0
    while not huge and quotient < 2**55 and (rest != 0 or quotient == 0) and exponent > -1200:
        # Twice the rest against the divisor, without leaving 64 bits.
        if rest <= y - rest:
            rest = rest - (y - rest)
            quotient = quotient * 2 + 1
        else:
            rest = rest + rest
            quotient = quotient * 2
        exponent -= 1
    if rest != 0:
        quotient = quotient | 1
    value = select(huge, TWO_63, to_f64(quotient))
    while exponent < 0:
        value = value * 0.5
        exponent += 1
    return -value if negative else value


@emits(round)
def _round(e: Evaluator, number: Abstract, ndigits: Abstract = NONE) -> Abstract:
    v = settled(e, number, "type NoneType doesn't define __round__ method")
    if isinstance(v, Known) and isinstance(ndigits, Known):
        return operators.fold(e, round, v.object, *([] if ndigits.object is None else [ndigits.object]))
    if not is_number(v):
        method = classes.special(e, v, "__round__")
        if method is not None:
            given = [] if isinstance(ndigits, Known) and ndigits.object is None else [ndigits]
            return construction.call_known(e, method, [v, *given])
        e.type_error(f"type {type_names.python_type_name(e, v)} doesn't define __round__ method")
    if isinstance(v, Number) and v.numpy and v.type is BOOL:
        e.type_error("type numpy.bool doesn't define __round__ method")
    scalar = number_type(v)
    none = isinstance(ndigits, Known) and ndigits.object is None
    if not none:
        ndigits = lists.index_argument(e, ndigits)
    if scalar in (F64, F32):
        if none:
            return e.call(known(round_to_int), [v])
        if isinstance(v, Number) and v.numpy:
            return e.call(known(round_numpy), [v, ndigits])
        return e.call(known(round_digits), [v, ndigits])
    if not none and isinstance(v, Number) and v.numpy:
        return e.call(known(np.round), [v, ndigits])
    if none or isinstance(ndigits, Known) and (ndigits.object or 0) >= 0:
        return Number(e.op("stop", scalars.to_int(e, v)))
    return e.call(known(round_int), [v, ndigits])


def round_to_int(x: Any) -> int:
    """round(x): halves to even."""
    return int_of_float(machine("rint", to_f64(x)))


def round_digits(x: float, digits: int) -> float:
    """round(x, digits) of a float: the nearest decimal, halves to even, exactly as repr-based rounding has it.

    Scaling decides where the scaled value is well away from a half; near one the interpreter is asked.
    """
    if digits > 22 or digits < 0 or not machine("lt", machine("abs", x), 1e15):
        return python_float(round, x, digits)
    scale = 1.0
    for _ in range(digits):
        scale *= 10.0
    scaled = cut(x) * scale
    if abs(scaled) >= 2.0**50:
        return python_float(round, x, digits)
    distance = abs(scaled - machine("floor", scaled) - 0.5)
    if distance < 1e-9 * (abs(scaled) + 1.0):
        return python_float(round, x, digits)
    return machine("copysign", machine("rint", x * scale) / scale, x)


def round_numpy(x: Any, digits: int) -> Any:
    """round(x, digits) of a NumPy float: scaled, rounded, and scaled back."""
    scale = x * 0 + 1
    for _ in range(abs(digits)):
        scale = scale * 10
    if digits >= 0:
        return machine("rint", x * scale) / scale
    return machine("rint", x / scale) * scale


def round_int(x: int, digits: int) -> int:
    """round(x, digits) of an int: halves to even for negative digits."""
    if digits >= 0:
        return x
    if digits < -18:
        return 0
    scale = 1
    for _ in range(-digits):
        scale *= 10
    low = x % scale
    down = x - low
    if low * 2 > scale or (low * 2 == scale and (down // scale) % 2 == 1):
        return down + scale
    return down


# ----------------------------------------------------------------------------------- methods of numbers


@emits((str, "format"))
def _format(e: Evaluator, template: Abstract, *args: Abstract) -> Abstract:
    from zyg.frontend.exceptions import format_method

    return format_method(e, template, list(args))


@implements((float, "is_integer"))
def _is_integer(x: float) -> bool:
    return machine("floor", x) == x and machine("lt", machine("abs", x), math.inf)


@emits((int, "__index__"), (int, "__int__"), (int, "conjugate"))
def _as_int(e: Evaluator, v: Abstract) -> Abstract:
    return scalars.as_index(e, v) or v


@emits((float, "conjugate"))
def _same(e: Evaluator, v: Abstract) -> Abstract:
    return v


@implements((int, "bit_length"))
def _bit_length(x: int) -> int:
    n = 0
    x = abs(x)
    while x:
        n += 1
        x >>= 1
    return n


@implements((int, "bit_count"))
def _bit_count(x: int) -> int:
    n = 0
    x = abs(x)
    while x:
        x &= x - 1
        n += 1
    return n
