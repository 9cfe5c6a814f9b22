"""Operators on values of types that are known when the code runs.

A rule `rule(d, y, *operands)` gives the cotangents of the operands of an operator on numbers.  What is not a number is
dispatched as Python does: to the operator methods of classes, which are differentiated, to sequences, to NumPy.
"""

from __future__ import annotations

import array
import math
import operator
from collections import deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from types import FunctionType
from typing import Any

import numpy as np

from zyg.autodiff import objects
from zyg.ir.plainly import is_in_class

from . import foreign, later
from .cotangents import SCALARS, accumulate, is_number, real_like
from .passing import passes

COMPLEX = (complex, np.complexfloating)
Rule = Callable[..., tuple[Any, ...]]

# ------------------------------------------------------------------------------------------- rules of numbers


def add(d: Any, y: Any, a: Any, b: Any) -> tuple[Any, ...]:
    if type(y) is not float and isinstance(y, COMPLEX):
        return real_like(a, d), real_like(b, d)
    return d, d


def sub(d: Any, y: Any, a: Any, b: Any) -> tuple[Any, ...]:
    if type(y) is not float and isinstance(y, COMPLEX):
        return real_like(a, d), real_like(b, -d)
    return d, -d


def mul(d: Any, y: Any, a: Any, b: Any) -> tuple[Any, ...]:
    if type(y) is not float and isinstance(y, COMPLEX):
        return real_like(a, d * b.conjugate()), real_like(b, d * a.conjugate())
    return d * b, d * a


def truediv(d: Any, y: Any, a: Any, b: Any) -> tuple[Any, ...]:
    if type(y) is not float and isinstance(y, COMPLEX):
        q = d / b.conjugate()
        return real_like(a, q), real_like(b, -q * y.conjugate())
    if b == 0:  # of a NumPy scalar: 0 where the cotangent is 0
        return (0.0, 0.0) if d == 0 else (d * _signed_infinity(b), math.nan)
    return d / b, -d * y / b


def _signed_infinity(b: Any) -> float:
    return math.copysign(math.inf, b)


def mod(d: Any, y: Any, a: Any, b: Any) -> tuple[Any, ...]:
    if not math.isfinite(b):
        return d, 0.0 if y == a else -d * math.floor(a / b)
    return d, -d * math.floor((a - y) / b + 0.5)


_REAL = frozenset({float, int})


def pow_(d: Any, y: Any, a: Any, b: Any) -> tuple[Any, ...]:
    if type(y) is float and type(a) in _REAL and 1e-150 < a < 1e150 and 0.0 < y < 1e150:  # both slopes are finite
        return d * b * a ** (b - 1), d * (y * math.log(a))
    if type(y) is not float and isinstance(y, COMPLEX):
        return _complex_pow(d, y, a, b)
    if type(b) is int:
        if b == 1:
            return d, _pow_exponent(d, y, a)
        if b == 2:
            return d * (2.0 * a), _pow_exponent(d, y, a)
    return strong(d * b, _real_pow(a, b - 1)), _pow_exponent(d, y, a)


def pow_by_base(d: Any, y: Any, a: Any, b: Any) -> tuple[Any, ...]:
    """The same where the exponent carries no derivative."""
    if type(y) is float and type(a) in _REAL and 1e-150 < a < 1e150 and 0.0 < y < 1e150:
        return (d * b * a ** (b - 1),)
    return pow_(d, y, a, b)


def pow_by_exponent(d: Any, y: Any, a: Any, b: Any) -> tuple[Any, ...]:
    """The same where the base carries no derivative."""
    if type(y) is float and type(a) in _REAL and 1e-150 < a < 1e150 and 0.0 < y < 1e150:
        return None, d * (y * math.log(a))
    return pow_(d, y, a, b)


def strong(d: Any, slope: Any) -> Any:
    """`d * slope`, where 0 times an infinite slope is 0. What happens to be 0 may have a derivative: so the product is asked."""
    c = d * slope
    return c if c == c or d != 0 else 0.0


def _real_pow(a: Any, b: Any) -> float:
    try:
        power = float(a) ** float(b)
        return power if type(power) is float else math.nan  # (as NumPy's numbers, whose powers are not complex)
    except ZeroDivisionError:
        return math.copysign(math.inf, a) if b % 2 == 1 else math.inf
    except OverflowError:
        return -math.inf if a < 0 and b % 2 == 1 else math.inf


def _pow_exponent(d: Any, y: Any, a: Any) -> Any:
    """The slope by the exponent; 0 where there is none, at a base below 0, and at a base of 0."""
    if y == 0 or a <= 0:
        return 0.0
    return strong(d, y * math.log(a))


def _complex_pow(d: Any, y: Any, a: Any, b: Any) -> tuple[Any, ...]:
    import cmath

    if b == 0:
        da: Any = 0.0
    elif a == 0:
        da = d if b == 1 else 0.0
    else:
        da = d * (b * y / a).conjugate()
    db: Any = 0.0 if a == 0 else d * (y * cmath.log(a)).conjugate()
    return real_like(a, da), real_like(b, db)


def neg(d: Any, y: Any, a: Any) -> tuple[Any, ...]:
    return (-d,)


def pos(d: Any, y: Any, a: Any) -> tuple[Any, ...]:
    return (d,)


def abs_(d: Any, y: Any, a: Any) -> tuple[Any, ...]:
    if type(a) is not float and isinstance(a, COMPLEX):
        return (d * (a / y) if y else 0.0 * a,)
    return (d if a > 0 else -d if a < 0 else of_kink(d),)


def of_kink(d: Any) -> Any:
    """The cotangent of a number where its absolute value is 0: nothing, also of an infinite one."""
    c = 0.0 * d
    return c if c == c else 0.0


def run_kink(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (None, of_kink(d))


def none(d: Any, y: Any, *operands: Any) -> tuple[Any, ...]:
    """An integer by nature: it carries no derivative."""
    return (None,) * len(operands)


# Backs of operators of which one operand is exactly a complex number, and the other exactly a number: (run, a, b).


def run_complex_add(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    _, a, b = back
    return d if type(a) is complex else real_like(a, d), d if type(b) is complex else real_like(b, d)


def run_complex_sub(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    _, a, b = back
    return d if type(a) is complex else real_like(a, d), -d if type(b) is complex else real_like(b, -d)


def run_complex_mul(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    _, a, b = back
    if type(a) is not complex:
        return real_like(a, d * b.conjugate()), d * a
    return d * b.conjugate(), d * a.conjugate() if type(b) is complex else real_like(b, d * a.conjugate())


def run_complex_truediv(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    _, a, b = back
    q = d / b.conjugate()
    by_b = -q * (a / b).conjugate()
    return q if type(a) is complex else real_like(a, q), by_b if type(b) is complex else real_like(b, by_b)


COMPLEX_BACKS: dict[str, Callable[..., Any]] = {
    "add": run_complex_add, "sub": run_complex_sub, "mul": run_complex_mul, "truediv": run_complex_truediv,
}  # fmt: skip


RULES: dict[str, Rule] = {
    "add": add, "sub": sub, "mul": mul, "truediv": truediv, "mod": mod, "pow": pow_, "floordiv": none,
    "neg": neg, "pos": pos, "abs": abs_, "invert": none,
    "and": none, "or": none, "xor": none, "lshift": none, "rshift": none,
}  # fmt: skip

# Those that are shorter where only the first operand carries a derivative.
BY_FIRST: dict[str, Rule] = {"pow": pow_by_base}
# And only the second one.
BY_SECOND: dict[str, Rule] = {"pow": pow_by_exponent}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "mod": operator.mod, "pow": operator.pow, "floordiv": operator.floordiv, "matmul": operator.matmul,
    "and": operator.and_, "or": operator.or_, "xor": operator.xor, "lshift": operator.lshift, "rshift": operator.rshift,
    "neg": operator.neg, "pos": operator.pos, "invert": operator.invert, "abs": abs,
}  # fmt: skip

UNARY = ("neg", "pos", "invert")
BINARY = tuple(name for name in FUNCTIONS if name not in (*UNARY, "abs"))

INPLACE: dict[str, Callable[..., Any]] = {name: getattr(operator, f"i{name}") for name in BINARY}


# ------------------------------------------------------------------------------------------------- backs


def run_rule(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The back of an operator on numbers: (run_rule, rule, y, operands...)."""
    return None if d is None else back[1](d, *back[2:])


def run_rule_as_float(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The same for fractions and decimals, which do not mix with floats."""
    return None if d is None else back[1](d, *map(_as_float, back[2:]))


def _as_float(x: Any) -> Any:
    return float(x) if isinstance(x, (Fraction, Decimal)) else x


def number_back(rule: Rule, y: Any, *operands: Any) -> Any:
    """The back of a rule of numbers."""
    if rule is none or type(y) is bool:
        return None
    exact = any(isinstance(x, (Fraction, Decimal)) for x in operands)
    return (run_rule_as_float if exact else run_rule, rule, y, *map(plain_number, operands))


def plain_number(x: Any) -> Any:
    """Of what is of a class derived from that of a number the number, whose operators are not those of the class."""
    t = type(x)
    if t in SCALARS:
        return x
    for base in (float, int, complex):
        if issubclass(t, base) and t.__flags__ & _HEAP_TYPE:
            return base.__pos__(x)
    return x


_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: of a class statement


# ---------------------------------------------------------------------------------------------- dispatch


def find(cls: type, name: str) -> Any:
    """What a class or its bases hold under a name, as Python looks for operator methods."""
    for c in cls.__mro__:
        held = c.__dict__
        if name in held:
            return held[name]
    return None


def find_special(cls: type, name: str) -> Any:
    """The same of a special method that is called then. One that is set to None is there, and raises when it is called (by `followed`
    CPython says so); to who only asks whether there is one, `find` says that there is none."""
    for c in cls.__mro__:
        if name in c.__dict__:
            found = c.__dict__[name]
            return found if found is not None else _REFUSING.get(name, _refuse_call)
    return None


def _refuse_call(this: Any, *others: Any) -> Any:
    raise TypeError("'NoneType' object is not callable")


def _refuse_iteration(this: Any) -> Any:
    raise TypeError(f"{type(this).__name__!r} object is not iterable")


def _refuse_reversal(this: Any) -> Any:
    raise TypeError(f"{type(this).__name__!r} object is not reversible")


_REFUSING = {"__iter__": _refuse_iteration, "__reversed__": _refuse_reversal}


def derives(cls: type, base: type) -> bool:
    """Whether a class is derived from another, as operators ask: an abstract class has no say in it."""
    return base in cls.__mro__


def is_python(method: Any) -> bool:
    """Whether an operator method has to be differentiated: it is not of a builtin type."""

    return type(method) is FunctionType or (method is not None and objects.calls.is_differentiable_callable(method))


def method_of(x: Any, name: str) -> Any:
    """The operator method of the class of `x`, if it is one to be differentiated, bound to `x`."""
    method = find_special(type(x), name)
    if method is None or not is_python(method):
        return None
    return method if not is_in_class(type(method), "__get__") else method.__get__(x, type(x))


# A class that has one of these is asked by NumPy.
_OF_ARRAYS = (
    "__array_ufunc__", "__array_priority__", "__array__", "__array_interface__", "__array_struct__", "__buffer__",
)  # fmt: skip


def _is_array(cls: type) -> bool:
    """Whether NumPy asks the class, or makes an array of the items of its objects."""
    if any(hasattr(cls, n) for n in _OF_ARRAYS):
        return True
    return is_in_class(cls, "__len__") and is_in_class(cls, "__getitem__") and not issubclass(cls, dict)


@passes()
def by_methods(op: str, a: Any, b: Any) -> Any:
    """(value, back) of a binary operator, or of divmod, by operator methods of classes; None if there are no such methods."""

    ta, tb = type(a), type(b)
    forward, reflected = _methods(op, ta, tb)
    if not (is_python(forward) or is_python(reflected)):
        return None
    if isinstance(a, np.generic) and forward is not None and not _is_array(tb):
        item = (
            a.item()
        )  # NumPy makes an array of the object, and has Python's number for its items (if there is one for the type)
        if not isinstance(item, np.generic):
            return by_methods(op, item, b)
    if forward is not None and not _is_asked_later(op, ta, tb):
        return _by_both(op, a, b, forward, reflected, 0)
    return _by_both(op, a, b, reflected, forward, 1)


def _methods(op: str, ta: type, tb: type) -> tuple[Any, Any]:
    return find_special(ta, f"__{op}__"), find_special(tb, f"__r{op}__") if ta is not tb else None


# Their `+` and `*` are those of sequences, which CPython comes to behind those of numbers: `"text" + x` asks x first.
_SEQUENCES = (str, bytes, bytearray, list, tuple, deque, array.array)


def _is_asked_later(op: str, ta: type, tb: type) -> bool:
    """Whether the method of the second operand is asked first."""
    forward, reflected = _methods(op, ta, tb)
    if reflected is None:
        return False
    own = find(ta, f"__r{op}__")
    if op in ("add", "mul") and issubclass(ta, _SEQUENCES) and not is_python(forward) and not is_python(own):
        return is_python(reflected)
    return derives(tb, ta) and reflected is not own


@passes()
def _by_both(op: str, a: Any, b: Any, first: Any, second: Any, swapped: int) -> tuple[Any, Any]:
    """`swapped`: the first one that is asked is that of `b`."""
    before = None
    if first is not None:
        y, before = _by_method(first, a, b, swapped)
        if y is not NotImplemented:
            return y, before
    return behind_answer(before, _by_other, op, a, b, second, 1 - swapped)


@passes()
def _by_other(op: str, a: Any, b: Any, method: Any, swapped: int) -> tuple[Any, Any]:
    """The one that is asked last."""
    if method is None:
        raise _unsupported(op, a, b)
    y, back = _by_method(method, a, b, swapped)
    return (y, back) if y is not NotImplemented else behind_answer(back, _nobody, op, a, b)


@passes()
def by_the_other(op: str, a: Any, b: Any, swapped: bool) -> tuple[Any, Any]:
    """The same, if the method of `a`, or if `swapped` that of `b`, has been asked and does not know."""
    forward, reflected = _methods(op, type(a), type(b))
    return _by_other(op, a, b, forward if swapped else reflected, 0 if swapped else 1)


def _nobody(op: str, a: Any, b: Any) -> tuple[Any, Any]:
    raise _unsupported(op, a, b)


def _unsupported(op: str, a: Any, b: Any) -> TypeError:
    """CPython's (which would ask the methods again)."""
    kinds = f"{type(a).__name__!r} and {type(b).__name__!r}"
    return TypeError(f"unsupported operand type(s) for {_SIGNS[op]}: {kinds}")


_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "mod": "%", "pow": "** or pow()", "floordiv": "//", "matmul": "@",
    "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "divmod": "divmod()",
}  # fmt: skip


@passes()
def behind_answer(before: Any, record: Any, *operands: Any) -> tuple[Any, Any]:
    """(value, back) of what is done behind a method that gave NotImplemented; `before`: what undoes what that one did."""
    if before is None:
        return record(*operands)
    with objects.reentry.undone(before):
        y, back = record(*operands)
    return y, before if back is None else (run_answers, back, before)


def run_answers(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The second of two methods has given the value; what the first one did is undone after that."""
    given = objects.calls.run(back[1], d, shadows)
    more = objects.calls.run(back[2], None, shadows)
    return given if more is None else more if given is None else tuple(map(accumulate, given, more))


@passes(lambda variables: [(run_method, variables["swapped"])])
def _by_method(method: Any, a: Any, b: Any, swapped: int) -> tuple[Any, Any]:
    this, other = (b, a) if swapped else (a, b)
    y, back = objects.calls.call(method.__get__(this, type(this)), (other,))
    return y, None if back is None else (run_method, back, swapped)


def run_method(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """(d_this, d_other) from the cotangents of a bound method and its argument."""

    given = objects.calls.run(back[1], d, shadows)
    if given is None:
        return None
    return (given[1], given[0]) if back[2] else (given[0], given[1])


# By operator, and the types of its operands: what it does with containers, and dates, where these types say all.
OF_CONTAINERS: dict[str, dict[tuple[type, type], Callable[[Any, Any], tuple[Any, Any]]]] = {}


def binary(op: str, function: Callable[..., Any]) -> Callable[[Any, Any], tuple[Any, Any]]:
    """RECORD of a binary operator; `function` carries it out as it is written, which errors tell: as `+` or `+=`."""
    rule = RULES.get(op, none)
    of_containers = OF_CONTAINERS.setdefault(op, {})

    @passes()
    def record(a: Any, b: Any) -> tuple[Any, Any]:
        if type(a) in SCALARS and type(b) in SCALARS:
            y = function(a, b)
            return y, None if rule is none else (run_rule, rule, y, a, b)
        return general(a, b)

    @passes()
    def general(a: Any, b: Any) -> tuple[Any, Any]:
        by_types = of_containers.get((type(a), type(b)))
        if by_types is not None:
            return by_types(a, b)
        if (
            isinstance(a, np.ndarray)
            or isinstance(b, np.ndarray)
            and not (op == "mod" and isinstance(a, (str, bytes, bytearray)))
        ):
            return objects.numpy_.binary(op, a, b)
        made = by_methods(op, a, b)
        if made is not None:
            return made
        if type(a) in TIMES or type(b) in TIMES:
            return unknown(op, a, b, function)
        if (is_number(a) or type(a) in _BOOLS) and (is_number(b) or type(b) in _BOOLS):
            y = function(a, b)
            return y, number_back(rule, y, a, b) if is_number(y) else None
        made = objects.container_operators.binary(op, a, b)
        if made is not None:
            return made
        return unknown(op, a, b, function)

    record.__name__ = record.__qualname__ = f"record_{op}"
    return record


HINT = "take it out of the derivative's path with zyg.stop_gradient, or give the function around it a rule with @zyg.adjoint"


def unknown(op: str, a: Any, b: Any, function: Callable[..., Any]) -> tuple[Any, Any]:
    """A binary operator that C code knows."""
    kinds = f"{type(a).__name__} and {type(b).__name__}"
    return _unknown(function, f"the derivative of `{op}` of {kinds}", a, b)


def _unknown(function: Callable[..., Any], what: str, *operands: Any) -> tuple[Any, Any]:
    """An operator that C code knows."""
    y, entered = objects.reentry.followed(function, operands)
    y, back = foreign.result(y, what, HINT, operands)
    return y, back if entered is None else (_run_unknown, back, entered)


def _run_unknown(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = objects.calls.run(back[1], d, shadows)
    called = objects.calls.run(back[2], d, shadows)
    return called if given is None else given if called is None else tuple(map(accumulate, given, called))


_BOOLS = frozenset({bool, np.bool_})
TIMES = frozenset({np.timedelta64, np.datetime64})  # (the first one is a number to NumPy)
_CONTAINERS = frozenset({list, dict, set})


def inplace(op: str) -> Callable[[Any, Any], tuple[Any, Any]]:
    """RECORD of an in-place operator."""
    function = INPLACE[op]
    plain = binary(op, function)

    @passes()
    def record(a: Any, b: Any) -> tuple[Any, Any]:
        if type(a) in SCALARS:
            return plain(a, b)

        if isinstance(a, np.ndarray):
            return objects.numpy_.inplace(op, a, b)
        method = method_of(a, f"__i{op}__") if type(a) not in _CONTAINERS else None
        if method is not None:
            y, back = objects.calls.call(method, (b,))
            return (y, back) if y is not NotImplemented else behind_answer(back, plain, a, b)
        if isinstance(a, _SEQUENCES) and _is_asked_later(op, type(a), type(b)):
            made = by_methods(op, a, b)
        else:
            made = objects.container_operators.inplace(op, a, b)
        if made is not None:
            return made
        if find_special(type(a), f"__i{op}__") is None:
            return plain(a, b)
        what = f"the derivative of in-place `{op}` of a {type(a).__name__}"
        return _unknown(function, what, a, b)

    record.__name__ = record.__qualname__ = f"record_i{op}"
    return record


def unary(op: str, slot: str | None = None) -> Callable[[Any], tuple[Any, Any]]:
    """RECORD of a unary operator (and of `abs`)."""
    function = FUNCTIONS[op]
    rule = RULES[op]
    slot = f"__{op}__"

    @passes()
    def record(a: Any) -> tuple[Any, Any]:
        if type(a) in SCALARS:
            y = function(a)
            return y, None if rule is none else (run_rule, rule, y, a)

        if isinstance(a, np.ndarray):
            return objects.numpy_.unary(op, a)
        forward = later.special.special_method(slot, type(a), 1)
        if forward is not None:
            return forward(a)
        method = method_of(a, slot)  # (a class derived from a number's may have its own)
        if method is not None:
            return objects.calls.call(method, ())
        if is_number(a) and type(a) not in TIMES:
            y = function(a)
            return y, number_back(rule, y, a)
        return _unknown(function, f"the derivative of `{op}` of a {type(a).__name__}", a)

    record.__name__ = record.__qualname__ = f"record_{op}"
    return record


BINARY_RECORD = {op: binary(op, FUNCTIONS[op]) for op in BINARY}
RECORD: dict[str, Callable[..., Any]] = {
    **BINARY_RECORD,
    **{("ipow_" if op == "pow" else f"i{op}"): inplace(op) for op in BINARY},
    **{op: unary(op) for op in UNARY},
}
record_abs = unary("abs")


# What halves call where they are differentiated in turn: functions with code of their own.


def add_in_turn(a: Any, b: Any) -> tuple[Any, Any]:
    return BINARY_RECORD["add"](a, b)


def sub_in_turn(a: Any, b: Any) -> tuple[Any, Any]:
    return BINARY_RECORD["sub"](a, b)


def mul_in_turn(a: Any, b: Any) -> tuple[Any, Any]:
    return BINARY_RECORD["mul"](a, b)


def truediv_in_turn(a: Any, b: Any) -> tuple[Any, Any]:
    return BINARY_RECORD["truediv"](a, b)


IN_TURN = {"add": add_in_turn, "sub": sub_in_turn, "mul": mul_in_turn, "truediv": truediv_in_turn}
