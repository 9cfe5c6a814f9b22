"""Small functions for library code: in Python they compute, in compiled code each is an instruction or two."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn

from zyg.ir.core import Const, Value
from zyg.ir.types import BOOL, F64, I64

from .registry import emits

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator
    from zyg.frontend.values import Abstract


def compiled_only(f: Callable[..., Any]) -> Callable[..., Any]:
    """Marks the signature of an instruction that has a meaning in compiled code alone, given by an emitter; Python cannot
    call it."""

    @wraps(f)
    def refused(*_: Any, **__: Any) -> NoReturn:
        raise TypeError(f"{f.__module__}.{f.__name__} stands for an instruction of native code: Python cannot call it")

    return refused


def machine(op: str, *operands: Any) -> Any:
    """The op of the IR's table on values of one type, without Python's checks: machine("add", i, 1) wraps."""
    from zyg.ir.ops import OPS

    evaluate = OPS[op].eval
    assert evaluate is not None
    return evaluate(*operands)


def select(condition: bool, x: Any, y: Any) -> Any:
    """`x if condition else y`, without a branch."""
    return x if condition else y


def cut(x: Any) -> Any:
    """x, with no derivative."""
    return x


def to_f64(x: Any) -> float:
    """A number as a float, an int rounded, with the TypeError of `math` for what is none."""
    return float(x)


def to_i64(x: float) -> int:
    """A float in range as an int, truncated."""
    return int(x)


def is_now(x: Any, cls: type) -> bool:
    """Whether a number is of a class in machine code, where an int that met a float has become one."""
    return type(x) is cls


def now_float(x: Any) -> float:
    """What `is_now` a float: that, of what may be of other types on other paths."""
    return x


def check(ok: bool, exception: type[Exception], message: str) -> None:
    """Raise unless `ok`."""
    if not ok:
        raise exception(message)


def unsupported(what: str, instead: str) -> NoReturn:
    """Library code refuses what it was called with when it is compiled; to stand under conditions that are known then."""
    raise NotImplementedError(f"{what}: {instead}")


def python_float(function: Any, *args: Any) -> float:
    """What the Python function gives, a float: called with boxed arguments, so slow."""
    return function(*args)


def python_complex(function: Any, *parts: float) -> tuple[float, float]:
    """The same for a function of complex numbers, given by their parts, to one."""
    result = function(*map(complex, parts[::2], parts[1::2]))
    return result.real, result.imag


@emits(machine)
def _machine(e: Evaluator, op: Any, *operands: Abstract) -> Abstract:
    from zyg.frontend.scalars import math_op, scalar_value
    from zyg.frontend.values import Number, number_type

    types = [number_type(v) for v in operands]
    scalar = F64 if F64 in types else next((t for t in types if t is not None and t is not BOOL), types[0])
    if op.object == "select":
        raise AssertionError("use select")
    varying = [v.type for v in operands if isinstance(v, Number)]
    values = [scalar_value(e, v, varying[0] if varying else scalar) for v in operands]
    numpy = any(isinstance(v, Number) and v.numpy for v in operands)
    name = op.object
    return Number(math_op(e, name, *values) if name in ("pow", "exp", "log") else e.op(name, *values), numpy)


@emits(select)
def _select(e: Evaluator, condition: Abstract, x: Abstract, y: Abstract) -> Abstract:
    from zyg.frontend.comparison import truth
    from zyg.frontend.meeting import join_numbers, joined_number
    from zyg.frontend.scalars import scalar_value
    from zyg.frontend.values import Number
    from zyg.ir.core import Const

    flag = truth(e, condition)
    if isinstance(flag, Const):
        return x if flag.value else y
    # A constant beside a NumPy number is of its type.
    strong = [v for v in (x, y) if isinstance(v, Number) and v.numpy]
    numbers = [x, y] if len(strong) != 1 or all(isinstance(v, Number) for v in (x, y)) else strong
    joined = join_numbers(numbers)
    assert joined is not None
    chosen = e.op("select", flag, scalar_value(e, x, joined[0]), scalar_value(e, y, joined[0]))
    return joined_number(chosen, joined[1], numbers)


@emits(is_now)
def _is_now(e: Evaluator, x: Abstract, cls: Any) -> Abstract:
    from zyg.frontend.type_names import class_of
    from zyg.frontend.values import Known

    return Known(class_of(e, x) is cls.object)


@emits(now_float)
def _now_float(e: Evaluator, x: Abstract) -> Abstract:  # (called for each of several types)
    from zyg.frontend.values import Known, Number

    if isinstance(x, Known) or isinstance(x, Number) and not x.numpy and x.value.type is F64:
        return x
    return Known(0.0)


@emits(cut)
def _cut(e: Evaluator, x: Abstract) -> Abstract:
    from zyg.frontend.values import ArrayValue, Known, Number, map_leaves

    def leaf(v: Value) -> Value:
        return e.op("stop", v) if v.type is not BOOL else v

    if isinstance(x, (Known, ArrayValue)):
        return x if isinstance(x, Known) else ArrayValue(e.op("stop", x.value))
    return Number(leaf(x.value), x.numpy) if isinstance(x, Number) else map_leaves(x, leaf)


@emits(to_f64)
def _to_f64(e: Evaluator, x: Abstract) -> Abstract:
    from zyg.frontend.scalars import scalar_value
    from zyg.frontend.values import Known, Number

    if isinstance(x, Number):
        return Number(e.builder.cast(scalar_value(e, x), F64))
    from .math_ import real

    value = real(e, x)
    return Known(value.value) if isinstance(value, Const) else Number(value)


@emits(to_i64)
def _to_i64(e: Evaluator, x: Abstract) -> Abstract:
    from zyg.frontend.scalars import scalar_value
    from zyg.frontend.values import Known, Number

    if isinstance(x, Known):
        return Known(int(x.object))
    return Number(e.builder.cast(scalar_value(e, x), I64))


@emits(check)
def _check(e: Evaluator, ok: Abstract, exception: Abstract, message: Abstract) -> Abstract:
    from zyg.frontend.comparison import truth
    from zyg.frontend.values import Known

    assert isinstance(exception, Known) and isinstance(message, Known)
    e.guard(truth(e, ok), exception.object.__name__, message.object)
    return Known(None)


@emits(unsupported)
def _unsupported(e: Evaluator, what: Abstract, instead: Abstract) -> Abstract:
    from zyg.frontend.values import Known

    assert isinstance(what, Known) and isinstance(instead, Known)
    raise e.refuse(what.object, hint=instead.object)


@emits(python_float)
def _python_float(e: Evaluator, function: Abstract, *args: Abstract) -> Abstract:
    from zyg.frontend.boundary import disassemble
    from zyg.frontend.values import Known, Number

    assert isinstance(function, Known)
    leaves: list[Value] = []
    types = tuple(disassemble(e, a, leaves) for a in args)
    attrs = {"callable": function.object, "arguments": types, "result": F64, "reads": True}
    (value,) = e.emit("pycall", *leaves, types=(F64,), **attrs)
    return Number(e.op("stop", value))


@emits(python_complex)
def _python_complex(e: Evaluator, function: Abstract, *parts: Abstract) -> Abstract:
    from zyg.frontend.scalars import scalar_value
    from zyg.frontend.values import Known, Number, TupleValue
    from zyg.ir.types import Complex

    assert isinstance(function, Known)
    leaves = [scalar_value(e, part, F64) for part in parts]
    arguments = (Complex(),) * (len(parts) // 2)
    attrs = {"callable": function.object, "arguments": arguments, "result": Complex(), "reads": True}
    results = e.emit("pycall", *leaves, types=(F64, F64), **attrs)
    return TupleValue(tuple(Number(e.op("stop", r)) for r in results))
