"""NumPy's arrays as values: operators, universal functions, attributes. (Items are in `numpy_items`.)

An array's cotangent is in its shadow, which views share as they share memory: what gives a view needs no rule. What gives a
new array takes the shadow of that in the reverse pass, and adds to those of what it was computed from.  Arrays may be written
later, so the backs keep copies of what a rule needs.
"""

from __future__ import annotations

import array
import math
import numbers
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from zyg.autodiff import objects
from zyg.ir.plainly import is_in_class

from . import foreign, memory, numpy_arguments
from .cotangents import Refused, is_number

Slopes = Callable[..., tuple[Any, ...]]

# ----------------------------------------------------------------------------------------------- universal functions

# Per function: whether the rule needs the value, whether it needs the arguments, and the slopes `rule(y, *arguments)`.
_LOG2, _LOG10 = math.log(2.0), math.log(10.0)
UFUNCS: dict[np.ufunc, tuple[bool, bool, Slopes]] = {
    np.add: (False, False, lambda y, a, b: (1.0, 1.0)),
    np.subtract: (False, False, lambda y, a, b: (1.0, -1.0)),
    np.multiply: (False, True, lambda y, a, b: (b, a)),
    np.divide: (True, True, lambda y, a, b: (1.0 / b, -y / b)),
    np.power: (True, True, lambda y, a, b: _power_slopes(y, a, b)),
    np.float_power: (True, True, lambda y, a, b: _power_slopes(y, a, b)),
    np.remainder: (True, True, lambda y, a, b: (1.0, -np.floor((a - y) / b + 0.5))),
    np.fmod: (True, True, lambda y, a, b: (1.0, -np.floor((a - y) / b + 0.5))),
    np.maximum: (False, True, lambda y, a, b: _chosen((b == b) & np.logical_not(b > a))),
    np.minimum: (False, True, lambda y, a, b: _chosen((b == b) & np.logical_not(b < a))),
    np.fmax: (False, True, lambda y, a, b: _chosen(np.logical_not((b > a) | (a != a)))),
    np.fmin: (False, True, lambda y, a, b: _chosen(np.logical_not((b < a) | (a != a)))),
    np.arctan2: (False, True, lambda y, a, b: (b / (a * a + b * b), -a / (a * a + b * b))),
    np.hypot: (True, True, lambda y, a, b: (_quotient(a, y), _quotient(b, y))),
    np.logaddexp: (False, True, lambda y, a, b: _shares(np.exp, a, b)),
    np.logaddexp2: (False, True, lambda y, a, b: _shares(np.exp2, a, b)),
    np.copysign: (False, True, lambda y, a, b: (np.copysign(1.0, a) * np.copysign(1.0, b), 0.0)),
    np.heaviside: (False, True, lambda y, a, b: (0.0, np.equal(a, 0) * 1.0)),
    np.negative: (False, False, lambda y, a: (-1.0,)),
    np.positive: (False, False, lambda y, a: (1.0,)),
    np.absolute: (True, True, lambda y, a: (_quotient(np.conj(a), y) if np.iscomplexobj(a) else np.sign(a),)),
    np.fabs: (False, True, lambda y, a: (np.sign(a),)),
    np.sqrt: (True, False, lambda y, a: (0.5 / y,)),
    np.cbrt: (True, False, lambda y, a: (1.0 / (3.0 * y * y),)),
    np.square: (False, True, lambda y, a: (2.0 * a,)),
    np.reciprocal: (
        True,
        False,
        lambda y, a: (-y * y if np.result_type(y).kind in "fc" else 0.0,),
    ),  # of integers it is cut off
    np.exp: (True, False, lambda y, a: (y,)),
    np.exp2: (True, False, lambda y, a: (y * _LOG2,)),
    np.expm1: (True, False, lambda y, a: (y + 1.0,)),
    np.log: (False, True, lambda y, a: (1.0 / a,)),
    np.log2: (False, True, lambda y, a: (1.0 / (a * _LOG2),)),
    np.log10: (False, True, lambda y, a: (1.0 / (a * _LOG10),)),
    np.log1p: (False, True, lambda y, a: (1.0 / (1.0 + a),)),
    np.sin: (False, True, lambda y, a: (np.cos(a),)),
    np.cos: (False, True, lambda y, a: (-np.sin(a),)),
    np.tan: (True, False, lambda y, a: (1.0 + y * y,)),
    np.arcsin: (False, True, lambda y, a: (1.0 / np.sqrt((1.0 - a) * (1.0 + a)),)),
    np.arccos: (False, True, lambda y, a: (-1.0 / np.sqrt((1.0 - a) * (1.0 + a)),)),
    np.arctan: (False, True, lambda y, a: (1.0 / (1.0 + a * a),)),
    np.sinh: (False, True, lambda y, a: (np.cosh(a),)),
    np.cosh: (False, True, lambda y, a: (np.sinh(a),)),
    np.tanh: (True, False, lambda y, a: (1.0 - y * y,)),
    np.arcsinh: (False, True, lambda y, a: (1.0 / np.sqrt(a * a + 1.0),)),
    np.arccosh: (False, True, lambda y, a: (1.0 / np.sqrt((a - 1.0) * (a + 1.0)),)),
    np.arctanh: (False, True, lambda y, a: (1.0 / ((1.0 - a) * (1.0 + a)),)),
    np.deg2rad: (False, False, lambda y, a: (math.pi / 180.0,)),
    np.radians: (False, False, lambda y, a: (math.pi / 180.0,)),
    np.rad2deg: (False, False, lambda y, a: (180.0 / math.pi,)),
    np.degrees: (False, False, lambda y, a: (180.0 / math.pi,)),
    np.floor: (False, False, lambda y, a: (0.0,)),
    np.ceil: (False, False, lambda y, a: (0.0,)),
    np.rint: (False, False, lambda y, a: (0.0,)),
    np.trunc: (False, False, lambda y, a: (0.0,)),
    np.sign: (False, False, lambda y, a: (0.0,)),
}

# Slopes of functions that choose: where one is 0, nothing depends on the argument, whatever the cotangent is.
_CHOOSING = (
    np.maximum, np.minimum, np.fmax, np.fmin, np.absolute, np.fabs, np.copysign, np.heaviside, np.floor, np.ceil, np.rint,
    np.trunc, np.sign,
)  # fmt: skip
CHOICES = frozenset([UFUNCS[u][2] for u in _CHOOSING])

# These give truth values and integers.
CONSTANT_UFUNCS = (
    np.floor_divide, np.less, np.less_equal, np.equal, np.not_equal, np.greater, np.greater_equal, np.logical_and,
    np.logical_or, np.logical_not, np.logical_xor, np.isnan, np.isinf, np.isfinite, np.signbit, np.bitwise_and,
    np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift, np.gcd, np.lcm, np.isnat, np.spacing,
)  # fmt: skip


def _power_slopes(y: Any, a: Any, b: Any) -> tuple[Any, Any]:
    nothing = (a == 0) & (b == 0)  # where 0 ** -1 is infinite
    first = np.where(nothing, 0.0, b * np.power(a * 1.0, np.where(nothing, 1.0, b * 1.0) - 1.0))
    if np.iscomplexobj(y):
        return first, y * np.log(np.where(a == 0, 1.0, a) + 0j)
    return first, np.where(a > 0, y * np.log(np.where(a > 0, a, 1.0)), 0.0)


def _chosen(first: Any) -> tuple[Any, Any]:
    return np.where(first, 1.0, 0.0), np.where(first, 0.0, 1.0)


def _shares(exp: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """What each of two exponentials is of their sum."""
    same = a == b  # infinite ones, too
    gap = np.where(same, 0.0, b - np.where(same, 0.0, a))
    small = exp(-np.abs(gap))
    first, second = 1.0 / (1.0 + small), small / (1.0 + small)
    return np.where(gap > 0, second, first), np.where(gap > 0, first, second)


def _quotient(a: Any, y: Any) -> Any:
    return np.where(y == 0, 0.0, a / np.where(y == 0, 1.0, y))


# ----------------------------------------------------------------------------------------------- values and cotangents

# What is refused of them, and the remedy.
OF_OBJECTS = (
    "a derivative through an array of objects, records or times, or of a subclass of ndarray",
    "use an array of numbers (np.asarray), or a list",
)


def of_objects(x: Any) -> bool:
    """Whether an array holds what is no number, or is of a class that does something in its own way."""
    return isinstance(x, np.ndarray) and (
        x.dtype.kind in "OVmM" or (type(x) is not np.ndarray and _has_own_ways(type(x)))
    )


_own_ways: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()
_USUAL = frozenset(
    "__module__ __doc__ __dict__ __weakref__ __new__ __init__ __slots__ __annotations__ __firstlineno__ "
    "__static_attributes__ __qualname__".split()
)


def _has_own_ways(cls: type) -> bool:
    """Whether a subclass of ndarray replaces something that arrays have: matrices and masked arrays do."""
    found = _own_ways.get(cls)
    if found is None:
        classes = cls.__mro__[: cls.__mro__.index(np.ndarray)]
        found = any(hasattr(np.ndarray, n) for c in classes if c is not np.memmap for n in vars(c) if n not in _USUAL)
        _own_ways[cls] = found
    return found


def is_hidden(x: Any) -> bool:
    """Whether NumPy would get what is in an argument by itself: of objects in an array, or by the array protocols."""
    if isinstance(x, np.ndarray):
        return of_objects(x)
    if isinstance(x, (list, tuple)):
        if has_own_items(type(x)):
            return True
        return not _VISIBLE.issuperset(map(type, x)) and any(map(is_hidden, x))
    t = type(x)
    if t in _VISIBLE or isinstance(x, np.generic):
        return False
    if isinstance(x, _BUFFERS) or _is_sequence(t):
        return True
    return any(hasattr(t, name) for name in _PROTOCOLS) or _is_converted(t)


def has_own_items(cls: type) -> bool:
    """Whether a subclass of list or tuple says in Python what its items are."""
    from .arithmetic import find, is_python

    return cls not in (list, tuple) and any(
        is_python(find(cls, name)) for name in ("__iter__", "__len__", "__getitem__")
    )


def _is_sequence(cls: type) -> bool:
    """Whether NumPy takes what instances hold as the items of an array, though they are not lists or tuples: deques, `UserList`s
    and all that have a length and items."""
    if issubclass(cls, (str, bytes, bytearray, range, Mapping, np.generic, np.dtype, type)) or issubclass(
        cls, _BUFFERS
    ):
        return False
    return (
        is_in_class(cls, "__len__") and is_in_class(cls, "__getitem__") and not any(hasattr(cls, p) for p in _PROTOCOLS)
    )


def _is_converted(cls: type) -> bool:
    """Whether NumPy would make numbers of instances by methods in Python."""
    from .arithmetic import find, is_python

    return any(is_python(find(cls, name)) for name in ("__float__", "__index__", "__int__", "__complex__")) and not (
        issubclass(cls, (float, int, complex, numbers.Number))
    )


_BUFFERS = (array.array, memoryview)
_VISIBLE = frozenset({float, int, bool, complex, str, type(None), np.float64, type, np.dtype})
OBJECT = np.dtype(object)
_PROTOCOLS = ("__array__", "__array_ufunc__", "__array_function__", "__array_interface__")


def guarded(f: Any, handler: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """An entry of a function of NumPy, where it sees what the function works on."""
    if not _VISIBLE.issuperset(map(type, args)) and any(map(is_hidden, args)):
        return _of_items(f, handler, args, kwargs) or objects.calls.call_foreign(f, *args, **kwargs)
    if kwargs and any(map(of_objects, kwargs.values())):
        return objects.calls.call_foreign(f, *args, **kwargs)
    if kwargs or len(args) > 1 and len(args) > numpy_arguments.by_position(f, handler):
        fitting = numpy_arguments.fitting(f, handler, args, kwargs)
        if fitting is None:
            return objects.calls.call_foreign(f, *args, **kwargs)
        args, kwargs = fitting
    y, back = handler(*args, **kwargs)
    if type(y) is np.ndarray and y.dtype.kind == "O":
        return foreign.result(y, *OF_OBJECTS, (None, *args, *kwargs.values()))
    return y, back


def _of_items(f: Any, handler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any] | None:
    """The same with arrays in the place of buffers, and lists in that of other sequences. None if there are none, and if the value
    would not share the memory that NumPy's has."""
    made = [_with_items(x) for x in args]
    if all(x is y for (x, _), y in zip(made, args)):
        return None
    y, back = guarded(f, handler, *[x for x, _ in made], **kwargs)
    if isinstance(y, np.ndarray) and any(of is not None and np.may_share_memory(x, y) for x, of in made):
        return None
    return y, None if back is None else (run_of_lists, back, (None, *[of for _, of in made]))


def _with_items(x: Any) -> tuple[Any, Any]:
    if isinstance(x, _BUFFERS):
        return as_operand(x)
    if not (has_own_items(type(x)) if isinstance(x, (list, tuple)) else _is_sequence(type(x))):
        return x, None
    items, listed = objects.calls.call(list, (x,))
    return items, (_run_items, listed)


def _run_items(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = objects.calls.run(back[1], None, shadows)
    return None if given is None else given[1]


def keeps(given: Any, wanted: Any) -> bool:
    """Whether numbers that are converted carry their derivative: floats that become integers do not, integers do."""
    return wanted.kind in "fc" or (given.kind in "iu" and wanted.kind in "iu")


def saved(x: Any) -> Any:
    """What `x` holds now, for a rule to use later."""
    return x.copy() if isinstance(x, np.ndarray) else x


def _factor(x: Any) -> Any:
    """The same for a rule that computes with it: of a truth value the number that it stands for, as `-` and others do not take it."""
    if isinstance(x, np.ndarray):
        return x.astype(float) if x.dtype.kind == "b" else x.copy()
    return float(x) if type(x) is bool or type(x) is np.bool_ else x


def taken(y: Any, d: Any, shadows: Any) -> Any:
    """The cotangent of a value: of an array that of its shadow, which starts again from zero."""
    return shadows.take_array(y) if isinstance(y, np.ndarray) else d


def give(x: Any, c: Any, shadows: Any) -> Any:
    """Add the cotangent `c`, of the shape of the result, to that of an argument that was broadcast. What flows is the
    result."""
    if type(c) is Refused:
        return refuse(x, c, shadows)
    if isinstance(x, np.ndarray):
        if x.dtype.kind in "fciu":
            shadows.add_array(x, unbroadcast(c, x.shape))
        return None
    if not is_number(x):
        return None
    total = c.sum() if isinstance(c, np.ndarray) else c
    if isinstance(total, (complex, np.complexfloating)) and not isinstance(x, (complex, np.complexfloating)):
        total = total.real
    return complex(total) if isinstance(total, (complex, np.complexfloating)) else float(total)


def refuse(x: Any, c: Any, shadows: Any) -> Any:
    """Pass a refusal on to an argument."""
    if isinstance(x, np.ndarray):
        if x.dtype.kind in "fciu":
            shadows.add_array(x, c)
        return None
    return c if is_number(x) else None


def unbroadcast(c: Any, shape: tuple[int, ...]) -> Any:
    """The sum of `c` over the axes along which an array of `shape` was repeated."""
    c = np.asarray(c)
    if c.shape == shape:
        return c
    if c.ndim < len(shape):  # `x[0] = v`, where v has a leading axis of one element more
        c = c.reshape((1,) * (len(shape) - c.ndim) + c.shape)
    if c.ndim > len(shape):
        c = c.sum(axis=tuple(range(c.ndim - len(shape))))
    axes = tuple([k for k, n in enumerate(shape) if n == 1 and k < c.ndim and c.shape[k] != 1])
    if axes:
        c = c.sum(axis=axes, keepdims=True)
    return c if c.shape == shape else np.broadcast_to(c, shape)


def as_operand(x: Any) -> tuple[Any, Any]:
    """An argument of a NumPy function as an array or number, and the back of making an array of a list, tuple or buffer."""
    if isinstance(x, np.ndarray) or is_number(x):
        return x, None
    if isinstance(x, memoryview) and not isinstance(x.obj, array.array):
        return np.asarray(x), None  # it is the same memory, which is what the derivative of an array is found by
    listed = isinstance(x, (list, tuple, *_BUFFERS))
    if not listed and not _is_sequence(type(x)):
        return x, None
    if not listed or has_own_items(type(x)):
        items, listed = objects.calls.call(list, (x,))
        made, back = as_operand(items)
        return made, (_run_array_of_own, back, listed)
    made = np.array(x)
    return made, (run_array_of, made, objects.structure.form(x), reals_in(x, made))


def _run_array_of_own(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, listed = back
    inner[0](inner, None, shadows)
    return _run_items((_run_items, listed), None, shadows)


def run_array_of(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The cotangent of what an array was made of; it flows where that is a tuple."""
    c = shadows.take_array(back[1])
    return None if c is None else objects.scattering.scatter(back[2], real_where(back[3], c), shadows)


def reals_in(x: Any, made: np.ndarray) -> Any:
    """Which items of nested lists are real, of which a complex array was made: their cotangents are real, too. None if there are none."""
    return _reals_in(x) if made.dtype.kind == "c" else None


def _reals_in(x: Any) -> Any:
    return tuple(map(_reals_in, x)) if isinstance(x, (list, tuple)) else not np.iscomplexobj(x)


def real_where(reals: Any, c: Any) -> Any:
    if type(reals) is tuple and type(c) is not Refused:
        return [real_where(real, part) for real, part in zip(reals, c)]
    return c.real if reals is True else c


# --------------------------------------------------------------------------------------------------- elementwise


def elementwise(u: np.ufunc, *xs: Any, function: Any = None) -> tuple[Any, Any]:
    """(value, back) of a universal function, or of another one that is the same but for the order in memory."""
    rule = UFUNCS[u]
    made = [as_operand(x) for x in xs]
    operands = [x for x, _ in made]
    y = (function or u)(*operands)
    kind = getattr(y, "dtype", OBJECT).kind  # (a number that is not NumPy's came out of an array of objects)
    if kind in "bO":
        return (y, None) if kind == "b" else foreign.result(y, *OF_OBJECTS, (None, *xs))
    lists = [back for _, back in made]
    back = _elementwise_back(rule, y, operands, operands)
    return y, (run_of_lists, back, lists) if any(lists) else back


def _elementwise_back(rule: Any, y: Any, operands: Any, before: Any) -> Any:
    uses_y, uses_x, slopes = rule
    shape = y.shape if isinstance(y, np.ndarray) else ()
    return (run_elementwise, y, slopes, saved(y) if uses_y else None,
            tuple(map(_factor, before)) if uses_x else (None,) * len(operands), tuple(operands), shape)  # fmt: skip


def run_elementwise(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, slopes, value, values, operands, shape = back
    dy = taken(y, d, shadows)
    if dy is None:
        return None
    if type(dy) is Refused:
        return tuple([refuse(x, dy, shadows) for x in operands])
    shadows.hush()
    choice = slopes in CHOICES
    return tuple(
        [
            give(x, _times(dy, slope, shape, choice), shadows) if isinstance(x, np.ndarray) or is_number(x) else None
            for x, slope in zip(operands, slopes(value, *values))
        ]
    )


def _times(dy: Any, slope: Any, shape: tuple[int, ...], choice: bool) -> Any:
    """The cotangent of a result of `shape` times a slope. Nothing times an infinite slope is nothing."""
    if type(slope) is float and math.isfinite(slope) and not choice:
        return dy * slope  # (by 1, too: it may be an argument, and have a derivative of its own)
    c = dy * (np.conj(slope) if np.iscomplexobj(slope) else slope)
    if choice or not np.isfinite(slope).all():
        c = np.where(np.equal(slope if choice else dy, 0) & np.isnan(c), 0.0, c)  # as numpy_backs.strong
    return np.broadcast_to(c, shape) if shape and c.shape != shape else c


def run_of_lists(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """An operation on arrays that were made of lists or tuples first."""
    _, inner, lists = back
    given = inner[0](inner, d, shadows)
    given = list(given) if given is not None else [None] * len(lists)
    for k, made in enumerate(lists):
        if made is not None:
            given[k] = made[0](made, None, shadows)
    return given


# ------------------------------------------------------------------------------------------------------ operators

OPERATORS = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide, "mod": np.remainder, "pow": np.power,
}  # fmt: skip


def binary(op: str, a: Any, b: Any) -> tuple[Any, Any]:
    """(value, back) of an operator with an array."""
    arithmetic = objects.arithmetic
    if of_objects(a) or of_objects(b):
        made = arithmetic.by_methods(op, a, b)
        return made or foreign.result(arithmetic.FUNCTIONS[op](a, b), *OF_OBJECTS, (a, b))
    for this in (a, b):
        if isinstance(this, np.ndarray):
            continue
        opaque = foreign.is_opaque(this)
        if opaque if this is a else leaves_to(a, b):
            made = arithmetic.by_methods(op, a, b)
            if made is not None:
                return made
        if opaque:
            return arithmetic.unknown(op, a, b, arithmetic.FUNCTIONS[op])
    if op == "matmul":
        return matmul(a, b)
    u = OPERATORS.get(op)
    if u is None:
        return arithmetic.FUNCTIONS[op](a, b), None
    return elementwise(u, a, b)


def leaves_to(a: np.ndarray, b: Any, inplace: bool = False) -> bool:
    """Whether the operators of arrays leave what stands behind them to its own methods: because it has no `__array_ufunc__` by its own
    account, or says nothing of that and has the higher `__array_priority__`.

    >>> class Asked:
    ...     __array_priority__ = 1.0
    >>> leaves_to(np.zeros(2), Asked()), leaves_to(np.zeros(2), 1.0)
    (True, False)
    """
    cls = type(b)
    if not cls.__flags__ & _HEAP:
        return False
    for c in cls.__mro__:
        if "__array_ufunc__" in c.__dict__:
            return c.__dict__["__array_ufunc__"] is None and not inplace
    if isinstance(b, type(a)) and not inplace:
        return False  # which CPython has asked first
    priority = objects.arithmetic.find(cls, "__array_priority__")
    if not is_in_class(type(priority), "__set__"):
        priority = _held_by(b).get("__array_priority__", priority)
    return isinstance(priority, (int, float)) and priority > a.__array_priority__


_HEAP = 1 << 9


def _held_by(x: Any) -> Any:
    """The attributes that an object has by itself."""
    try:
        return object.__getattribute__(x, "__dict__")
    except AttributeError:
        return {}


def unary(op: str, a: np.ndarray) -> tuple[Any, Any]:
    """(value, back) of a unary operator on an array."""
    if op == "invert":
        return ~a, None
    if of_objects(a):
        method = objects.arithmetic.method_of(a, f"__{op}__")
        if method is not None:
            return objects.calls.call(method, ())
        return foreign.result({"neg": -a, "pos": a.copy(), "abs": abs(a)}[op], *OF_OBJECTS, (a,))
    return elementwise({"neg": np.negative, "pos": np.positive, "abs": np.absolute}[op], a)


def inplace(op: str, a: np.ndarray, b: Any) -> tuple[Any, Any]:
    """(value, back) of an in-place operator on an array."""
    arithmetic, calls = objects.arithmetic, objects.calls
    if of_objects(a) or of_objects(b):
        method = arithmetic.method_of(a, f"__i{op}__")
        if method is not None:
            return calls.call(method, (b,))
        return foreign.result(arithmetic.INPLACE[op](a, b), *OF_OBJECTS, (a, b))
    if leaves_to(a, b, inplace=True):
        return binary(op, a, b)
    if foreign.is_opaque(b):
        return calls.call_foreign(arithmetic.INPLACE[op], a, b)
    watched = memory.writing(a)
    if op == "matmul":
        y, back = matmul(a, b)
        if np.ndim(b) < 2 or np.shape(y) != a.shape or not np.can_cast(y.dtype, a.dtype, "same_kind"):
            a @= b  # raises
        a[...] = y
        memory.written(watched)
        return a, (run_inplace_matmul, a, y, back)
    u = OPERATORS.get(op)
    if u is None:
        y = arithmetic.INPLACE[op](a, b)
        memory.written(watched)
        return y, (run_overwritten, (a,), True)
    b, made = as_operand(b)
    rule = UFUNCS[u]
    before = (saved(a) if rule[1] else None, saved(b) if rule[1] else None)
    u(a, b, out=a, casting="same_kind")
    memory.written(watched)
    back = (run_inplace, a, rule[2], saved(a) if rule[0] else None, before, b)
    return a, back if made is None else (run_of_lists, back, (None, made))


def run_inplace(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, a, slopes, value, before, b = back
    dy = shadows.take_array(a)
    if dy is None:
        return None
    return run_elementwise((None, None, slopes, value, before, (a, b), a.shape), dy, shadows)


def constant_ufunc(u: np.ufunc, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """(value, back) of a universal function whose value carries no derivative: what it writes to has none any more."""
    out = kwargs.get("out", args[u.nin :])
    into = tuple(x for x in (out if isinstance(out, tuple) else (out,)) if isinstance(x, np.ndarray))
    if not into:
        return u(*args, **kwargs), None
    where = kwargs.get("where", True)
    where = saved(where)
    watched = [w for x in into for w in memory.writing(x)]
    y = u(*args, **kwargs)
    memory.written(watched)
    return y, (run_overwritten, into, where)


def run_overwritten(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, into, where = back
    for x in into:
        dy = shadows.take_array(x)
        if dy is None or where is True:
            continue
        if type(dy) is Refused:
            refuse(x, dy, shadows)
        else:
            shadows.add_array(x, np.where(where, 0.0, dy))


def run_inplace_matmul(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, a, y, inner = back
    dy = shadows.take_array(a)
    if dy is None:
        return None
    shadows.add_array(y, dy)
    return inner[0](inner, None, shadows)


# --------------------------------------------------------------------------------------------------- matrix product


def matmul(a: Any, b: Any, function: Any = np.matmul) -> tuple[Any, Any]:
    """(value, back) of `a @ b`, or of another function that is the same but for rounding."""
    a, of_a = as_operand(a)
    b, of_b = as_operand(b)
    y = function(a, b)
    back = (run_matmul, y, a, b, saved(a), saved(b))
    return y, (run_of_lists, back, (of_a, of_b)) if of_a or of_b else back


def run_matmul(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, a, b, old_a, old_b = back
    dy = taken(y, d, shadows)
    if dy is None:
        return None
    if type(dy) is Refused:
        return refuse(a, dy, shadows), refuse(b, dy, shadows)
    da, db = matmul_cotangents(np.asarray(dy), old_a, old_b)
    give(a, da, shadows)
    give(b, db, shadows)
    return None


def matmul_cotangents(dy: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """The cotangents of the factors of a product of vectors, matrices or stacks of matrices."""
    if a.ndim == 1 and b.ndim == 1:
        return dy * np.conj(b), dy * np.conj(a)
    if a.ndim == 1:
        dy = dy[..., None, :]
    elif b.ndim == 1:
        dy = dy[..., :, None]
    left = a[None, :] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    da = np.matmul(dy, np.conj(np.swapaxes(right, -1, -2)))
    db = np.matmul(np.conj(np.swapaxes(left, -1, -2)), dy)
    if a.ndim == 1:
        da = da[..., 0, :]
    if b.ndim == 1:
        db = db[..., :, 0]
    return da, db


# ---------------------------------------------------------------------------------------------------- attributes


def _constant(name: str) -> Callable[[Any], tuple[Any, Any]]:
    return lambda x: (getattr(x, name), None)


def _number_real(x: Any) -> tuple[Any, Any]:
    return x.real, (_run_real, isinstance(x, np.complexfloating))


def _run_real(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (complex(d, 0.0) if back[1] else d,)


def _number_imag(x: Any) -> tuple[Any, Any]:
    return x.imag, (_run_imag,) if isinstance(x, np.complexfloating) else None


def _run_imag(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (complex(0.0, d),)


def _number_transpose(x: Any) -> tuple[Any, Any]:
    return x.T, (_run_same,)


def _run_same(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return (d,)


def _memory_of(name: str) -> Callable[[Any], tuple[Any, Any]]:
    """An attribute by which the memory of an array may be written."""

    def attribute(x: np.ndarray) -> tuple[Any, Any]:
        y = getattr(x, name)
        held = [x] if x.dtype.kind in "fc" and x.flags.writeable else []
        return y, foreign.holding(held, None, f"its attribute `{name}`") if held else None

    return attribute


ATTRIBUTES: dict[tuple[type, str], Callable[[Any], tuple[Any, Any]]] = {
    **{(np.ndarray, name): _constant(name) for name in (
        "T", "real", "imag", "shape", "size", "ndim", "dtype", "itemsize", "nbytes", "strides", "base", "flags", "flat", "mT") if hasattr(np.ndarray, name)},
    **{(np.generic, name): _constant(name) for name in ("shape", "size", "ndim", "dtype", "itemsize", "nbytes", "strides")},
    **{(np.ndarray, name): _memory_of(name) for name in ("data", "ctypes")},
    (np.generic, "real"): _number_real, (np.generic, "imag"): _number_imag, (np.generic, "T"): _number_transpose,
}  # fmt: skip
