"""Native code inside object code: calls of functions that compile, with arguments that nothing else can change.

Jitted functions are native.  Plain functions are tried if there is something to gain: if they loop, or call themselves.  Both
only where what goes in and out are numbers, tuples of them, and arrays that are read: then a derivative can take no other way
than through arguments and value.  All else is differentiated as the Python code that it is: also what reads a global, or an
attribute of a module or class, of a name that differentiated code has assigned to.
"""

from __future__ import annotations

import dis
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from zyg.autodiff.trying import bodies
from zyg.errors import Unsupported
from zyg.fallback import Entangled, arrays_read, check_apart, check_repeatable, departures, native_pullback
from zyg.ir.types import (
    BOOL,
    F64,
    I64,
    Array,
    Complex,
    ComplexArray,
    DictType,
    ListType,
    NpScalar,
    ObjectOf,
    Optional,
    Scalar,
    Struct,
    Tuple,
    Type,
)
from zyg.pullbacks import Pullback
from zyg.transforms import Transform, transform_of

from . import gathering, scattering, structure, user_rules
from .backs import run_shifted
from .cotangents import Refused, refused_in
from .passing import passes

# After so many refusals in a row a function goes through Python at once.
_PATIENCE = 3
# The same of calls that native code ends with an error which CPython would not raise: that depends on the numbers.
_MORE_PATIENCE = 24

_PLAIN = frozenset({float, int, bool, type(None), str})
OF_NUMPY = frozenset({np.ndarray, np.float64, np.float32, np.int64, np.int32, np.bool_, np.complex128})


def worthwhile(code: CodeType) -> bool:
    """Whether a function has loops or calls itself. (Not generators, and not closures: what they captured may carry a
    derivative.)"""
    if code.co_flags & 0x2A0 or code.co_freevars:
        return False
    if code.co_name in code.co_names:
        return True
    return any(instruction.opname.startswith("JUMP_BACKWARD") for instruction in dis.get_instructions(code))


def simple(value: Any) -> bool:
    """Whether a value has no identity that matters: a number, a tuple of them, or an array (which is not written; the
    compiler sees to that)."""
    t = type(value)
    return t in _PLAIN or t in OF_NUMPY or (t is tuple and all(map(simple, value)))


def _numeric(value: Any) -> bool:
    """Whether there is a number or an array in a simple value: else there is nothing to gain."""
    return any(map(_numeric, value)) if type(value) is tuple else type(value) in (float, int) or type(value) in OF_NUMPY


# The names of globals, and of attributes of modules and classes, that differentiated code has assigned to.
_assigned: set[str] = set()


def assigned(name: str) -> None:
    """What stands under this name may carry a derivative, which native code that reads it would not pass on."""
    _assigned.add(name)


def reads_assigned(f: Any) -> bool:
    """Whether a function, or one that it may call by name, mentions a name that was assigned to."""
    return bool(_assigned) and _reads_assigned(f, set())


def _reads_assigned(f: Any, seen: set[int]) -> bool:
    while (transform := transform_of(f)) is not None:
        f = transform.function
    if isinstance(f, type):
        return any(_reads_assigned(m, seen) for m in list(vars(f).values()) if type(m) is FunctionType)
    if type(f) is not FunctionType or id(f) in seen:
        return False
    seen.add(id(f))
    names = _names(f.__code__)
    if not _assigned.isdisjoint(names):
        return True
    found = [f.__globals__[n] for n in names if n in f.__globals__]
    found += [
        vars(m).get(n) for m in found if type(m) is ModuleType for n in names
    ]  # (asks no `__getattr__` of a module)
    return any(_reads_assigned(g, seen) for g in found)


def _names(code: CodeType) -> set[str]:
    return {*code.co_names}.union(*[_names(c) for c in code.co_consts if isinstance(c, CodeType)])


def made_here(f: FunctionType) -> bool:
    """Whether a function may have been made in differentiated code, so that its defaults may carry a derivative."""
    return "<locals>" in f.__qualname__


def call_native(f: Any, args: tuple[Any, ...], jitted: bool = False) -> tuple[Any, Any] | None:
    """(value, back) of a call by native code, None if it does not take it."""
    if not all(map(simple, args)) or not any(map(_numeric, args)):
        return None
    if user_rules.in_forward_mode():
        return None  # a native pullback knows nothing of tangent rules
    if reads_assigned(f):
        return None
    try:
        accept = check_apart if jitted else check_repeatable
        made = native_pullback(f, args, accept, not jitted)
    except Exception as error:
        if carries_numbers(error):
            return None
        raise
    if made is None:
        return _reading(f, args) if arrays_read(f, args, accept, not jitted) else None
    value, back = made
    value = as_in_python(value, back)
    return value, (run_native, back, args, structure.form(value))


def _reading(f: Any, args: tuple[Any, ...]) -> tuple[Any, Any] | None:
    """The same of a function that reads arrays from global variables."""
    from . import inner

    made = inner.call(_CALL, f, args)
    return made if made is None or made[1] is None else (made[0], (run_shifted, made[1]))


_CALL = Transform("jit")


def as_in_python(value: Any, back: Any) -> Any:
    """What native code gives together with its pullback, as Python code goes on with it.

    A number that NumPy would give is of NumPy's class (native code knows it, and gives callers Python's). An array that is a view of
    memory that native code has made, which nobody else has, gets its own: only of such memory the type of the elements is known to
    who asks for the shadow.
    """
    return _as_in_python(value, back.value_type) if isinstance(back, Pullback) else value


def _as_in_python(value: Any, type_: Type) -> Any:
    if isinstance(type_, NpScalar) and type_.scalar in _CLASSES:
        return _CLASSES[type_.scalar](value)
    if isinstance(type_, Complex) and type_.numpy:
        return np.complex128(value)
    if isinstance(type_, Optional):
        return None if value is None else _as_in_python(value, type_.item)
    if isinstance(type_, (Tuple, Struct)) and isinstance(value, tuple):
        items = map(_as_in_python, value, type_.items)
        return tuple(items) if type(value) is tuple else type(value)(*items)
    if type(value) is slice and isinstance(type_, Struct):
        return slice(*map(_as_in_python, (value.start, value.stop, value.step), type_.items))
    if isinstance(type_, (ListType, DictType, ObjectOf, Struct)):
        return _with_numpys_numbers(value, type_)
    return value.copy() if type(value) is np.ndarray and value.base is not None else value


def _with_numpys_numbers(value: Any, type_: ListType | DictType | ObjectOf | Struct) -> Any:
    """The same of a list, dict or object that native code has just made, in place."""
    names: Any
    if isinstance(type_, ListType):
        names, get, put = range(len(type_.items)), value.__getitem__, value.__setitem__
    elif isinstance(type_, DictType):
        names, get, put = type_.keys, value.__getitem__, value.__setitem__
    else:
        names = type_.names
        get, put = partial(object.__getattribute__, value), partial(object.__setattr__, value)
    for name, item in zip(names, type_.items, strict=True):
        if not isinstance(item, (Array, ComplexArray, Scalar)):
            old: Any = get(name)
            new = _as_in_python(old, item)
            if new is not old:
                put(name, new)
    return value


_CLASSES: dict[Any, Any] = {F64: np.float64, I64: np.int64, BOOL: np.bool_}  # which native code gives as Python's


def carries_numbers(error: Exception) -> bool:
    """Whether an exception brings numbers to a handler in differentiated code, as arguments or attributes: Python knows how they were
    computed."""
    return bool(bodies) and structure.holds_numbers(structure.form(error))


def run_native(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, native, args, form = back
    refused = refused_in(d)
    if refused is None:
        try:
            d = gathering.gather(form, d, shadows, take=True)
        except Unsupported as error:
            refused = Refused(error)
    if d is None:
        return None
    if refused is not None:
        return (None, *[scattering.refuse(structure.form(x), refused, shadows) for x in args])
    given = native(gathering.dense(form, d))
    if all(type(x) in _PLAIN for x in args):
        return (None, *given)
    return (None, *[scattering.scatter(structure.form(x), c, shadows) for x, c in zip(args, given)])


class NativeFirst:
    """The handler of functions of one code object that are worth trying; `entry` is how they go through Python."""

    __slots__ = ("entry", "refusals")

    def __init__(self, entry: Any):
        self.entry = entry
        self.refusals = 0

    @passes()
    def call(self, f: FunctionType, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        from .calls import settle
        from .functions import call_bound

        if not kwargs and not ((len(args) < f.__code__.co_argcount or f.__kwdefaults__) and made_here(f)):
            made = call_native(f, args)
            if made is not None:
                self.refusals = 0
                return made
        self.refusals += 1
        if self.refusals >= _PATIENCE and (self.refusals >= _MORE_PATIENCE or not departures(f)):
            settle(f.__code__, self.entry)
        return call_bound(self.entry, f, *args, **kwargs)


@passes()
def call_jitted(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A jitted function: native, unless its arguments, or what it captured, are objects that may carry a derivative by other ways."""
    from . import inner
    from .calls import call

    transform = transform_of(f)
    assert transform is not None
    if not kwargs:
        captures = _captures(transform.function)
        try:
            made = inner.call(transform, transform.function, args, False) if captures else call_native(f, args, True)
        except Entangled as error:  # (which jitted functions raise)
            made = inner.call(transform, transform.function, args, False) if error.inputs else None
            captures = True
        if made is not None:
            return (made[0], (run_shifted, made[1])) if captures and made[1] is not None else made
    return call(transform.function, args, kwargs)


def _captures(f: Any) -> bool:
    """Whether a callable holds values that may carry a derivative."""
    if isinstance(f, FunctionType):
        return bool(f.__closure__ or ((f.__defaults__ or f.__kwdefaults__) and made_here(f)))
    return not isinstance(f, (type, BuiltinFunctionType, np.ufunc))


__all__ = [
    "NativeFirst",
    "call_jitted",
    "call_native",
    "carries_numbers",
    "made_here",
    "reads_assigned",
    "simple",
    "worthwhile",
]
