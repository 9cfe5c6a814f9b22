"""Python's operators on abstract values: arithmetic, comparison, truth.

Python numbers follow CPython: integers are checked, division by zero raises, comparisons of int and float are exact.
NumPy scalars follow NumPy: IEEE division, wrapping integers, promotion by NEP 50.  The texts of exceptions are asked of the
running interpreter, since they differ between versions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zyg.ir.core import Const, Value, const
from zyg.ir.types import BOOL, F32, F64, I32, I64, U8, Scalar

from .boundary import conflict, literal, scalar_value, single
from .values import (
    NUMBER_CLASSES,
    Abstract,
    ArrayValue,
    ChoiceValue,
    ComplexArrayValue,
    ComplexValue,
    ConflictValue,
    FunctionValue,
    Known,
    MaybeValue,
    MethodValue,
    Number,
    PullbackValue,
    RangeValue,
    Reference,
    SliceValue,
    StructValue,
    TupleValue,
    describe,
    is_number,
    is_numeric,
    known_key,
    number_type,
)

if TYPE_CHECKING:
    from .infer import Evaluator

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


def python_type_name(e: Evaluator, v: Abstract) -> str:
    """type(x).__name__ of what an abstract value stands for."""
    from .classes import class_of

    if isinstance(v, ConflictValue):
        raise conflict(e, v)
    cls = class_of(e, v)
    return getattr(cls, "__name__", None) or describe(v, e.heap)


# ----------------------------------------------------------------------------------------------- optionals


def settled(e: Evaluator, v: Abstract, message: Callable[[], str] | str) -> Abstract:
    """A value that cannot be None any more: where it may be, a guard raises TypeError(message)."""
    if isinstance(v, ConflictValue):
        raise conflict(e, v)
    if isinstance(v, MaybeValue):
        if v.absent is not None:
            e.guard(
                v.present, "UnboundLocalError", "cannot access a local variable that is not associated with a value"
            )
        else:
            e.guard(v.present, "TypeError", message if isinstance(message, str) else message())
        return settled(e, v.item, message)
    return v


# ---------------------------------------------------------------------------------------------- arithmetic


def binary(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract:
    """`a <operator> b` for the operator module's name of it (comparisons included)."""
    if name in COMPARISONS:
        return compare(e, name, a, b)
    if not (is_number(a) and is_number(b)):
        from .exceptions import no_text

        no_text(e, a, b)

        def message() -> str:
            return (
                f"unsupported operand type(s) for {SYMBOLS[name]}: '{_name_or_none(e, a)}' and '{_name_or_none(e, b)}'"
            )

        a, b = settled(e, a, message), settled(e, b, message)
    if (isinstance(a, ComplexValue) or isinstance(b, ComplexValue)) and is_numeric(a) and is_numeric(b):
        from . import complexes

        return complexes.arithmetic(e, name, a, b)
    if isinstance(a, Known) and isinstance(b, Known) and _foldable(a) and _foldable(b):
        return fold(e, PYTHON[name], a.object, b.object)
    if is_number(a) and is_number(b):
        if isinstance(a, Number) and a.numpy or isinstance(b, Number) and b.numpy:
            return numpy_arithmetic(e, name, a, b)
        return python_arithmetic(e, name, a, b)
    return _other_binary(e, name, a, b)


def _name_or_none(e: Evaluator, v: Abstract) -> str:
    return "NoneType" if isinstance(v, MaybeValue) else python_type_name(e, v)


def _foldable(v: Known) -> bool:
    return type(v.object) in (bool, int, float, str, bytes)


def fold(e: Evaluator, function: Callable[..., Any], *args: Any) -> Abstract:
    """Evaluate at compile time; an exception is raised at run time."""
    from .infer import known

    if function is operator.pow and all(type(a) is int for a in args) and abs(args[1]) > 4096 and abs(args[0]) > 1:
        e.throw("OverflowError", "integer result does not fit into 64 bits")
    if function is operator.lshift and args[1] > 4096:
        e.throw("OverflowError", "integer result does not fit into 64 bits")
    try:
        result = function(*args)
    except (ArithmeticError, ValueError, TypeError) as error:
        if isinstance(error, ZeroDivisionError) and e.options.error_model == "numpy" and type(args[0]) is not str:
            import numpy as np

            with np.errstate(all="ignore"):
                return known(float(function(*map(np.float64, args))))
        e.throw(type(error).__name__, str(error))
    return known(result)


def _other_binary(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract:
    from . import arrays, dicts, lists
    from .classes import operator_method

    if isinstance(a, arrays.ARRAYS) or isinstance(b, arrays.ARRAYS):
        return arrays.elementwise(e, name, a, b)
    own = operator_method(e, name, a, b) if isinstance(a, StructValue) or isinstance(b, StructValue) else None
    if own is not None:
        return own
    a, b = _plain_tuple(a), _plain_tuple(b)
    if name == "mod" and isinstance(a, Known) and isinstance(a.object, str):
        from .exceptions import percent

        return percent(e, a.object, b)
    if name == "add" and isinstance(a, TupleValue) and isinstance(b, TupleValue):
        return TupleValue(a.items + b.items)
    if name == "mul":
        for sequence, count in ((a, b), (b, a)):
            known_count = isinstance(count, Known) and type(count.object) in (int, bool)
            if known_count and isinstance(sequence, TupleValue) and isinstance(count, Known):
                return TupleValue(sequence.items * count.object)
            if isinstance(sequence, Reference) and e.heap[sequence.id].kind in ("list", "growing"):
                return lists.repeat(e, sequence, count)
    if name == "add" and lists.is_list(e, a) and lists.is_list(e, b):
        return lists.concatenate(e, a, b)
    if name == "or" and dicts.is_dict(e, a) and dicts.is_dict(e, b):
        return dicts.new_dict(e, dicts.named_items(e, a) | dicts.named_items(e, b))
    result = operator_method(e, name, a, b)
    if result is not None:
        return result
    if any(isinstance(v, (ConflictValue, ChoiceValue)) for v in (a, b)):
        raise e.refuse(f"operator {SYMBOLS[name]} on these values", types=[describe(a, e.heap), describe(b, e.heap)])
    if name == "or" and isinstance(a, Known) and isinstance(b, Known) and isinstance(a.object, type):
        raise e.refuse("a union of types that is made at run time", hint="use a tuple of types")
    for v in (a, b):
        if isinstance(v, Known) and not isinstance(v.object, (str, bytes, type(None), type)) and not callable(v.object):
            raise e.refuse(f"the operator {SYMBOLS[name]} on a {type(v.object).__name__}")
    e.type_error(
        f"unsupported operand type(s) for {SYMBOLS[name]}: '{python_type_name(e, a)}' and '{python_type_name(e, b)}'"
    )
    raise AssertionError


def _plain_tuple(v: Abstract) -> Abstract:
    """A named tuple as the tuple that it is."""
    return TupleValue(v.items) if isinstance(v, StructValue) and issubclass(v.cls, tuple) else v


def python_arithmetic(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract:
    ta, tb = number_type(a), number_type(b)
    if ta is F64 or tb is F64:
        return _float_arithmetic(e, name, a, b)
    if ta is BOOL and tb is BOOL and name in ("and", "or", "xor"):
        return Number(e.op(name, scalar_value(e, a), scalar_value(e, b)))
    return _int_arithmetic(e, name, a, b)


_NEUTRAL = {("add", 0, "i"): True, ("sub", 0, "i"): True, ("mul", 1, "i"): True, ("mul", 1, "f"): True}


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
    return Number(_ieee_floor(e, name, x, y))


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


def to_int(e: Evaluator, v: Abstract) -> Value:
    """A bool or int as i64."""
    if isinstance(v, Known):
        return literal(e, int(v.object), I64)
    assert isinstance(v, Number)
    return e.builder.cast(v.value, I64)


def nonzero(e: Evaluator, x: Value) -> Value:
    if isinstance(x, Const):
        return const(x.value != 0)
    return e.op("ne", x, const(0, x.type))


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
    e.guard(fits, "OverflowError", "integer result does not fit into 64 bits")
    return Number(shifted)


def _floor_ints(e: Evaluator, name: str, x: Value, y: Value) -> Value:
    """`//` or `%` of i64, the divisor not 0. The smallest integer by -1 is the one case past 64 bits."""
    if isinstance(y, Const):
        if y.value == -1:
            return e.op("stop", e.op("cneg", x)) if name == "floordiv" else e.op("mod", x, const(1))
        return e.op(name, x, y)
    if name == "mod":
        return e.op("mod", x, e.op("select", e.op("eq", y, const(-1)), const(1), y))
    if not (isinstance(x, Const) and x.value != MIN_INT):
        fits = e.op("or", e.op("ne", x, const(MIN_INT)), e.op("ne", y, const(-1)))
        e.guard(fits, "OverflowError", "integer result does not fit into 64 bits")
    return e.op("floordiv", x, y)


_EXACT = 2**53


def _int_division(e: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    """int / int, correctly rounded: exact conversion of both up to 53 bits, long division beyond."""
    from zyg.library.builtins_ import divide_large

    from .infer import known

    x, y = to_int(e, a), to_int(e, b)
    if e.options.error_model == "python":
        e.guard(nonzero(e, y), "ZeroDivisionError", ZERO_DIVISION["truediv", "i"])
    division = "div" if e.options.error_model == "python" else "sdiv"

    def small() -> Abstract:
        return Number(e.op(division, e.builder.cast(x, F64), e.builder.cast(y, F64)))

    inside = const(True)
    for value in (x, y):
        if isinstance(value, Const):
            if abs(value.value) <= _EXACT:
                continue
            inside = const(False)
            break
        shifted = e.op("add", value, const(_EXACT))
        this = e.op("and", e.op("le", const(0), shifted), e.op("le", shifted, const(2 * _EXACT)))
        inside = this if isinstance(inside, Const) else e.op("and", inside, this)
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
        e.guard(_or(e, e.op("ge", n, const(0)), nonzero(e, x)), "ZeroDivisionError", ZERO_TO_NEGATIVE["i"])
    e.guard(
        e.op("ge", n, const(0)),
        "ValueError",
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
            ok = e.op("or", e.op("ge", x, const(0.0)), _not_finite(e, x))
            e.guard(ok, "ValueError", COMPLEX_POWER)
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
            _or(e, not_zero, e.op("ge", yv, const(0.0)), _is_nan(e, yv)), "ZeroDivisionError", ZERO_TO_NEGATIVE[kind]
        )
        if not (isinstance(whole, Const) or isinstance(x, Const) and x.value >= 0):
            ok = _or(e, e.op("ge", x, const(0.0)), whole, _not_finite(e, x), _not_finite(e, yv))
            e.guard(ok, "ValueError", COMPLEX_POWER)
    result = math_op(e, "pow", x, yv)
    if python:
        _pow_overflow(e, result, x, yv)
    return Number(result)


def _pow_overflow(e: Evaluator, result: Value, x: Value, y: Value) -> None:
    ok = _or(e, _finite_or_nan(e, result), _not_finite(e, x), _not_finite(e, y))
    e.guard(ok, "OverflowError", POW_OVERFLOW)


def _or(e: Evaluator, *conditions: Value) -> Value:
    rest = [c for c in conditions if not (isinstance(c, Const) and not c.value)]
    if any(isinstance(c, Const) for c in rest):
        return const(True)
    if not rest:
        return const(False)
    result = rest[0]
    for c in rest[1:]:
        result = e.op("or", result, c)
    return result


def _is_nan(e: Evaluator, x: Value) -> Value:
    if isinstance(x, Const):
        return const(x.value != x.value)
    return e.op("ne", x, x)


INFINITY = float("inf")


def _not_finite(e: Evaluator, x: Value) -> Value:
    if isinstance(x, Const):
        return const(not abs(x.value) < INFINITY)
    return e.op("not", e.op("lt", e.op("abs", x), const(INFINITY, x.type)))


def _finite_or_nan(e: Evaluator, x: Value) -> Value:
    return e.op("ne", e.op("abs", x), const(INFINITY, x.type))


def math_op(e: Evaluator, op: str, *operands: Value) -> Value:
    """A mathematical function of the op table, with what the options say of it."""
    if e.options.vectormath:
        return e.op(op, *operands, vectormath=True)
    return e.op(op, *operands)


# ------------------------------------------------------------------------------------------- NumPy scalars

_INT_RANK = {BOOL: 0, U8: 1, I32: 2, I64: 3}


def promote(e: Evaluator, a: Abstract, b: Abstract) -> Scalar:
    """The type of NumPy arithmetic on two numbers, Python's being weak (NEP 50)."""
    strong = [v.type for v in (a, b) if isinstance(v, Number) and v.numpy]
    weak = [v for v in (a, b) if not (isinstance(v, Number) and v.numpy)]
    if len(strong) == 2:
        return promote_strong(strong[0], strong[1])
    (scalar,), (other,) = strong, weak
    kind = number_type(other)
    if kind is F64 and scalar.kind != "f":
        return F64
    if kind is I64 and scalar is BOOL:
        return I64
    return scalar


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
            low, high = (0, 255) if scalar is U8 else (-(1 << (scalar.bits - 1)), (1 << (scalar.bits - 1)) - 1)
            if not low <= value <= high:
                name = {U8: "uint8", I32: "int32", I64: "int64"}[scalar]
                e.throw("OverflowError", f"Python integer {value} out of bounds for {name}")
        return const(single(value) if scalar is F32 else float(value) if scalar is F64 else value, scalar)
    assert isinstance(v, Number)
    if not v.numpy and v.type is I64 and scalar in (I32, U8):
        low, high = (0, 255) if scalar is U8 else (-(2**31), 2**31 - 1)
        inside = e.op("and", e.op("ge", v.value, const(low)), e.op("le", v.value, const(high)))
        name = "uint8" if scalar is U8 else "int32"
        e.guard(inside, "OverflowError", "Python integer {} out of bounds for " + name, v.value)
    return e.builder.cast(v.value, scalar)


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

        from .infer import known

        return e.call(known(wrapping_power), [Number(x, True), Number(y, True)])
    if name in ("floordiv", "mod"):
        if scalar.kind == "f":
            return Number(_ieee_floor(e, name, x, y), True)
        zero = e.op("eq", y, const(0, scalar)) if not isinstance(y, Const) else const(y.value == 0)
        if isinstance(zero, Const) and zero.value:
            return Number(const(0, scalar), True)
        minus = e.op("eq", y, const(-1, scalar)) if scalar.kind == "i" and not isinstance(y, Const) else const(False)
        if isinstance(y, Const):
            if y.value == -1 and scalar.kind == "i":
                by_one = const(1, scalar)
                return Number(e.op("stop", e.op("neg", x)) if name == "floordiv" else e.op("mod", x, by_one), True)
            return Number(e.op(name, x, y), True)
        unsafe = zero if isinstance(minus, Const) else e.op("or", zero, minus)
        divisor = e.op("select", unsafe, const(1, scalar), y)
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


def _ieee_floor(e: Evaluator, name: str, x: Value, y: Value) -> Value:
    """npy_floor_divide and npy_remainder: as Python's, but IEEE for a zero divisor."""
    zero = e.op("eq", y, const(0.0, y.type)) if not isinstance(y, Const) else const(y.value == 0.0)
    if isinstance(zero, Const) and not zero.value:
        return e.op(name, x, y)
    divisor = e.op("select", zero, const(1.0, y.type), y)
    result = e.op(name, x, divisor)
    nan = const(float("nan"), x.type)
    at_zero = e.op("div", x, y) if name == "floordiv" else nan
    return e.op("select", zero, at_zero, result)


# -------------------------------------------------------------------------------------------------- unary


def unary(e: Evaluator, name: str, v: Abstract) -> Abstract:
    """neg, pos, invert, abs, not."""
    if name == "not":
        flag = truth(e, v)
        return Known(not flag.value) if isinstance(flag, Const) else Number(negate(e, flag))
    symbol = {"neg": "unary -", "pos": "unary +", "invert": "unary ~", "abs": "abs()"}[name]
    v = settled(e, v, f"bad operand type for {symbol}: 'NoneType'")
    if isinstance(v, Known) and type(v.object) in NUMBER_CLASSES:
        if name == "invert" and type(v.object) is bool:
            return Known(~int(v.object))
        return fold(e, PYTHON[name], v.object)
    if isinstance(v, Number):
        if v.numpy:
            return _numpy_unary(e, name, v)
        if v.type is BOOL:
            v = Number(e.op("cast", v.value, type=I64))
        if name == "pos":
            return v
        if name == "invert":
            if v.type is F64:
                e.type_error("bad operand type for unary ~: 'float'")
            return Number(e.op("invert", v.value))
        if name == "neg":
            return Number(e.op("neg" if v.type is F64 else "cneg", v.value))
        if v.type is I64:
            in_range = e.op("ne", v.value, const(MIN_INT))
            e.guard(in_range, "OverflowError", "integer result does not fit into 64 bits")
        return Number(e.op("abs", v.value))
    if isinstance(v, ComplexValue):
        from . import complexes

        return complexes.unary(e, name, v)
    if isinstance(v, (ArrayValue, ComplexArrayValue)):
        from . import arrays

        return arrays.elementwise(e, name, v)
    from .classes import operator_method, refuse_unless_without

    result = operator_method(e, name, v)
    if result is not None:
        return result
    refuse_unless_without(e, v, f"the {symbol} of an object", f"__{name}__")
    e.type_error(f"bad operand type for {symbol}: '{python_type_name(e, v)}'")
    raise AssertionError


def _numpy_unary(e: Evaluator, name: str, v: Number) -> Abstract:
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


# ---------------------------------------------------------------------------------------------- comparison


def compare(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract:
    from .exceptions import no_text

    no_text(e, a, b)
    if is_number(a) and is_number(b):
        if isinstance(a, Known) and isinstance(b, Known):
            return Known(PYTHON[name](a.object, b.object))
        if isinstance(a, Number) and a.numpy or isinstance(b, Number) and b.numpy:
            return _numpy_compare(e, name, a, b)
        return Number(_compare_numbers(e, name, a, b))
    if (isinstance(a, ComplexValue) or isinstance(b, ComplexValue)) and is_numeric(a) and is_numeric(b):
        from . import complexes

        return complexes.comparison(e, name, a, b)
    for v in (a, b):
        if isinstance(v, ConflictValue):
            raise conflict(e, v)
    if name in ("eq", "ne"):
        if isinstance(a, (ArrayValue, ComplexArrayValue)) or isinstance(b, (ArrayValue, ComplexArrayValue)):
            from . import arrays

            return arrays.elementwise(e, name, a, b)
        from .classes import operator_method

        result = operator_method(e, name, a, b)
        if result is not None:
            return result
        if name == "ne" and (result := operator_method(e, "eq", a, b)) is not None:
            return boolean_of(negate(e, truth(e, result)))
        flag = equal(e, a, b)
        if isinstance(flag, Const):
            return Known(bool(flag.value) == (name == "eq"))
        return Number(flag if name == "eq" else negate(e, flag))

    def message() -> str:
        return (
            f"'{SYMBOLS[name]}' not supported between instances of '{_name_or_none(e, a)}' and '{_name_or_none(e, b)}'"
        )

    if isinstance(a, MaybeValue) or isinstance(b, MaybeValue):
        return compare(e, name, settled(e, a, message), settled(e, b, message))
    if isinstance(a, Known) and isinstance(b, Known) and type(a.object) is type(b.object) is str:
        return Known(PYTHON[name](a.object, b.object))
    if isinstance(a, (ArrayValue, ComplexArrayValue)) or isinstance(b, (ArrayValue, ComplexArrayValue)):
        from . import arrays

        return arrays.elementwise(e, name, a, b)
    from .classes import class_of, find_in_class, operator_method
    from .lists import is_list, known_items

    result = operator_method(e, name, a, b)
    if result is not None:
        return result
    a, b = _plain_tuple(a), _plain_tuple(b)
    items_a, items_b = known_items(e, a), known_items(e, b)
    if items_a is not None and items_b is not None and type(a) is type(b):
        return _compare_sequences(e, name, items_a, items_b)
    if is_list(e, a) and is_list(e, b):
        raise e.refuse("the order of two lists whose lengths are not known when compiling", hint="compare their items")
    for v in (a, b):
        found = find_in_class(class_of(e, v) or object, f"__{name}__")
        if isinstance(v, Known) and found is not None and found[0].__module__ != "builtins":
            raise e.refuse(f"the operator {SYMBOLS[name]} on a {type(v.object).__name__}")
    e.type_error(message())
    raise AssertionError


def _compare_sequences(e: Evaluator, name: str, a: tuple[Abstract, ...], b: tuple[Abstract, ...]) -> Abstract:
    """Lexicographic order: the first items that differ decide, else the lengths."""
    for i, (x, y) in enumerate(zip(a, b)):
        flag = equal(e, x, y)
        if isinstance(flag, Const):
            if flag.value:
                continue
            return compare(e, name, x, y)
        return e.if_else(
            flag,
            lambda i=i: _compare_sequences(e, name, a[i + 1 :], b[i + 1 :]),
            lambda x=x, y=y: compare(e, name, x, y),
        )
    return Known(PYTHON[name](len(a), len(b)))


def boolean_of(flag: Value) -> Abstract:
    return Known(flag.value) if isinstance(flag, Const) else Number(flag)


def negate(e: Evaluator, flag: Value) -> Value:
    if isinstance(flag, Const):
        return const(not flag.value)
    result = e.op("not", flag)
    fact = e.facts.get(id(flag))
    if fact is not None:
        e.facts[id(result)] = (result, fact[1], fact[3], fact[2])
    return result


def _compare_numbers(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Value:
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
        if isinstance(v, Known) and abs(v.object) <= _EXACT:
            return e.op(name, scalar_value(e, a, F64), scalar_value(e, b, F64))
    if ta is F64:
        return _compare_int_float(e, SWAPPED[name], b, scalar_value(e, a))
    return _compare_int_float(e, name, a, scalar_value(e, b))


def _compare_int_float(e: Evaluator, name: str, a: Abstract, y: Value) -> Value:
    """int <op> float, exactly: where the rounded int equals the float, the integers decide."""
    if isinstance(a, Known):
        exact = abs(int(a.object)) <= _EXACT
        if exact:
            return e.op(name, const(float(a.object)), y)
        value = a.object
        if not MIN_INT <= value <= MAX_INT:
            raise e.refuse(f"the integer {value} in a comparison", hint="write a float")
    x = to_int(e, a)
    rounded = e.builder.cast(x, F64)
    if number_type(a) is BOOL or isinstance(y, Const) and abs(y.value) < _EXACT:
        return e.op(name, rounded, y)
    equal_ = e.op("eq", rounded, y)
    top = const(float(2**63))
    inside = e.op("and", equal_, e.op("lt", y, top))
    as_int = e.op("cast", e.op("select", inside, y, const(0.0)), type=I64)
    at_top = e.op("and", equal_, e.op("ge", y, top))
    decided = e.op("select", inside, e.op(name, x, as_int), e.op(name, rounded, y))
    return e.op("select", at_top, const(PYTHON[name](0, 1)), decided)


def _numpy_compare(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract:
    for v, other, op in ((a, b, SWAPPED[name]), (b, a, name)):
        # A Python int that the NumPy type does not have compares by value.
        scalar = number_type(other)
        if isinstance(v, Known) and type(v.object) is int and scalar is not None and scalar.kind in "iu":
            low, high = (0, 255) if scalar is U8 else (-(1 << (scalar.bits - 1)), (1 << (scalar.bits - 1)) - 1)
            if not low <= v.object <= high:
                return Known(PYTHON[op](0, v.object))
    scalar = promote(e, a, b)
    for v in (a, b):
        if isinstance(v, Number) and not v.numpy and v.type is I64 and scalar in (U8, I32):
            scalar = I64
    if scalar is BOOL:
        x, y = as_numpy(e, a, BOOL), as_numpy(e, b, BOOL)
        return Number(e.op(name, x, y), True)
    return Number(e.op(name, as_numpy(e, a, scalar), as_numpy(e, b, scalar)), True)


def _and(e: Evaluator, flags: list[Value]) -> Value:
    if any(isinstance(f, Const) and not f.value for f in flags):
        return const(False)
    rest = [f for f in flags if not isinstance(f, Const)]
    if not rest:
        return const(True)
    result = rest[0]
    for f in rest[1:]:
        result = e.op("and", result, f)
    return result


def equal(e: Evaluator, a: Abstract, b: Abstract) -> Value:
    """a == b as a bool; of values of different kinds it is False."""
    if is_numeric(a) and is_numeric(b):
        result = compare(e, "eq", a, b)
        return scalar_value(e, result)
    for x, y in ((a, b), (b, a)):
        if isinstance(x, MaybeValue) and x.absent is None:
            if isinstance(y, Known) and y.object is None:
                return negate(e, x.present)
            if isinstance(y, MaybeValue) and y.absent is None:
                both = equal(e, x.item, y.item)
                same_presence = e.op("eq", x.present, y.present)
                return _and(e, [same_presence, e.op("or", both, negate(e, x.present))])
            return _and(e, [x.present, equal(e, x.item, y)])
    if isinstance(a, Known) and isinstance(b, Known):
        try:
            return const(bool(a.object == b.object))
        except Exception:
            return const(a.object is b.object)
    if isinstance(a, ChoiceValue) or isinstance(b, ChoiceValue):
        return identical(e, a, b)
    for v in (a, b):
        if isinstance(v, ConflictValue):
            raise conflict(e, v)
        if isinstance(v, (ArrayValue, ComplexArrayValue)):
            hint = "compare the elements, or say np.array_equal(a, b)"
            raise e.refuse(
                "a comparison by which an array is one of two items", types=[describe(a), describe(b)], hint=hint
            )
    from .exceptions import no_text

    no_text(e, a, b)
    from .classes import operator_method
    from .dicts import is_dict, named_items
    from .lists import is_list, known_items, lists_equal

    if any(isinstance(v, (StructValue, Reference)) for v in (a, b)):
        own = operator_method(e, "eq", a, b)
        if own is not None:
            return truth(e, own)
    if (fields := _compared_fields(e, a, b)) is not None:
        return _and(e, [equal(e, x, y) for x, y in fields])
    if is_dict(e, a) and is_dict(e, b):
        x, y = named_items(e, a), named_items(e, b)
        return _and(e, [equal(e, x[k], y[k]) for k in x]) if x.keys() == y.keys() else const(False)
    if is_list(e, a) and is_list(e, b) and None in (known_items(e, a), known_items(e, b)):
        return lists_equal(e, a, b)
    if isinstance(a, Reference) and isinstance(b, Reference):
        kinds = e.heap[a.id].kind, e.heap[b.id].kind
        if "list" not in kinds and "growing" not in kinds:
            return identical(e, a, b)
    items_a, items_b = known_items(e, a), known_items(e, b)
    if items_a is not None and items_b is not None:
        comparable = _same_class(e, a, b)
        if not comparable or len(items_a) != len(items_b):
            return const(False)
        return _and(e, [equal(e, x, y) for x, y in zip(items_a, items_b)])
    if isinstance(a, RangeValue) and isinstance(b, RangeValue):
        raise e.refuse("a comparison of two ranges", hint="compare start, stop and step")
    if isinstance(a, (FunctionValue, MethodValue, PullbackValue, SliceValue)) or isinstance(b, FunctionValue):
        return identical(e, a, b)
    return const(False)


def _fields(e: Evaluator, v: Abstract) -> dict[str, Abstract]:
    if isinstance(v, StructValue):
        return dict(zip(v.names, v.items))
    assert isinstance(v, Reference)
    return e.heap[v.id].named()


def _compared_fields(e: Evaluator, a: Abstract, b: Abstract) -> list[tuple[Abstract, Abstract]] | None:
    """The pairs of fields that the `__eq__` which dataclass() writes compares; None if it does not apply."""
    from .classes import class_of

    cls = class_of(e, a)
    parameters = getattr(cls, "__dataclass_params__", None)
    if parameters is None or not parameters.eq or class_of(e, b) is not cls:
        return None
    sides = [_fields(e, v) for v in (a, b)]
    wanted = [f.name for f in cls.__dataclass_fields__.values() if f.compare and f._field_type.name == "_FIELD"]
    if any(n not in side for n in wanted for side in sides):
        return None
    return [(sides[0][n], sides[1][n]) for n in wanted]


def _same_class(e: Evaluator, a: Abstract, b: Abstract) -> bool:
    """Tuples and named tuples compare by items whatever their class; dataclasses and lists need the same one."""
    from .classes import class_of

    ca, cb = class_of(e, a), class_of(e, b)
    if ca is cb:
        return True
    return isinstance(ca, type) and isinstance(cb, type) and issubclass(ca, tuple) and issubclass(cb, tuple)


def identical(e: Evaluator, a: Abstract, b: Abstract) -> Value:
    """a is b."""
    from .exceptions import no_text

    if not any(isinstance(v, Known) and v.object is None for v in (a, b)):
        no_text(e, a, b)
    for v in (a, b):
        if isinstance(v, ConflictValue):
            raise conflict(e, v)
    for x, y in ((a, b), (b, a)):
        if isinstance(x, MaybeValue) and isinstance(y, Known) and y.object is x.absent:
            flag = negate(e, x.present)
            if not isinstance(flag, Const):
                e.facts[id(flag)] = (flag, x.present, False, True)
            return flag
        if isinstance(x, MaybeValue) and isinstance(y, Known):
            return _and(e, [x.present, identical(e, x.item, y)])
    if isinstance(a, ChoiceValue) or isinstance(b, ChoiceValue):
        choice, other = (a, b) if isinstance(a, ChoiceValue) else (b, a)
        assert isinstance(choice, ChoiceValue)
        flags = [
            e.op("eq", choice.tag, const(n))
            for n, o in enumerate(choice.options)
            if o.head() == other.head() and not o.parts()
        ]
        return _or(e, *flags) if flags else const(False)
    if isinstance(a, Known) and isinstance(b, Known):
        return const(known_key(a.object) == known_key(b.object))
    if isinstance(a, Reference) and isinstance(b, Reference):
        return const(a.id == b.id)
    if isinstance(a, StructValue) and isinstance(b, StructValue) and a is not b:
        raise e.refuse("`is` of two values that compiled code does not keep apart by identity", hint="write ==")
    if isinstance(a, ArrayValue) and isinstance(b, ArrayValue):
        if a.value is b.value:
            return const(True)
        raise e.refuse("`is` of two arrays", hint="compare what they hold")
    if isinstance(a, ComplexArrayValue) and isinstance(b, ComplexArrayValue):
        return identical(e, a.floats, b.floats)
    if (
        isinstance(a, Number)
        and isinstance(b, Known)
        and type(b.object) is bool
        or isinstance(b, Number)
        and isinstance(a, Known)
        and type(a.object) is bool
    ):
        number = a if isinstance(a, Number) else b
        if number_type(number) is BOOL and isinstance(number, Number) and not number.numpy:
            return equal(e, a, b)
        return const(False)
    if is_numeric(a) and is_numeric(b):
        raise e.refuse("`is` of two numbers", hint="write ==")
    if isinstance(a, FunctionValue) and isinstance(b, FunctionValue):
        if a is b:
            return const(True)
        raise e.refuse("`is` of two functions")
    return const(a is b)


# -------------------------------------------------------------------------------------------------- truth


def truth(e: Evaluator, v: Abstract) -> Value:
    """bool(v) as an SSA bool (a constant where it is known)."""
    if isinstance(v, Known):
        return const(bool(v.object))
    if isinstance(v, Number):
        return v.value if v.type is BOOL else e.op("ne", v.value, const(0, v.type))
    if isinstance(v, ComplexValue):
        from . import complexes

        return complexes.truth(e, v)
    if isinstance(v, ConflictValue):
        raise conflict(e, v)
    if isinstance(v, MaybeValue):
        inner = truth(e, v.item)
        flag = _and(e, [v.present, inner])
        if not isinstance(flag, Const):
            # Where it does not hold, the value may still be there (and be 0), unless it is always true.
            e.facts[id(flag)] = (flag, v.present, True, False if flag is v.present else None)
        return flag
    if isinstance(v, (ArrayValue, ComplexArrayValue)):
        from . import arrays

        return arrays.truth(e, v)
    if isinstance(v, RangeValue):
        from .iterators import range_length

        return e.op("ne", range_length(e, v), const(0))
    from .classes import operator_method
    from .exceptions import no_text
    from .lists import length_of

    no_text(e, v)
    if isinstance(v, (StructValue, Reference)):
        for method in ("bool", "len"):  # the class's own, in the order that Python asks them
            answer = operator_method(e, method, v)
            if answer is not None:
                return truth(e, answer)
    length = length_of(e, v)
    if length is not None:
        return truth(e, length)
    if isinstance(v, ChoiceValue):
        flags = [truth(e, o) for o in v.options]
        if all(isinstance(f, Const) and f.value for f in flags):
            return const(True)
        raise e.refuse("the truth of a choice between constants", types=[describe(v, e.heap)])
    return const(True)
