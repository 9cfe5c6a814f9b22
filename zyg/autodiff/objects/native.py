"""Native code inside object code: calls of functions that compile, with arguments that nothing else can change.

Jitted functions are native.  Plain functions are tried if there is something to gain: if they loop, or call themselves.  Both
only where what goes in and out are numbers, tuples of them, and arrays that are read: then a derivative can take no other way
than through arguments and value.  All else is differentiated as the Python code that it is: also what reads a global, or an
attribute of a module or class, of a name that differentiated code has assigned to.
"""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

import zyg
from zyg.autodiff.trying import bodies
from zyg.errors import Unsupported
from zyg.fallback import Entangled, native_pullback
from zyg.transforms import transform_of

from . import user_rules
from .cotangents import refused_in

# After so many refusals in a row a function goes through Python at once.
_PATIENCE = 3

_PLAIN = frozenset({float, int, bool, type(None), str})
_OF_NUMPY = frozenset({np.ndarray, np.float64, np.float32, np.int64, np.int32, np.bool_, np.complex128})


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
    return t in _PLAIN or t in _OF_NUMPY or (t is tuple and all(map(simple, value)))


def _numeric(value: Any) -> bool:
    """Whether there is a number or an array in a simple value: else there is nothing to gain."""
    return (
        any(map(_numeric, value)) if type(value) is tuple else type(value) in (float, int) or type(value) in _OF_NUMPY
    )


# The names of globals, and of attributes of modules and classes, that differentiated code has assigned to.
_assigned: set[str] = set()


def assigned(name: str) -> None:
    """What stands under this name may carry a derivative, which native code that reads it would not pass on."""
    _assigned.add(name)


def _reads_assigned(f: Any, seen: set[int]) -> bool:
    """Whether a function, or one that it may call by name, mentions a name that was assigned to."""
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


def _made_here(f: FunctionType) -> bool:
    """Whether a function may have been made in differentiated code, so that its defaults may carry a derivative."""
    return "<locals>" in f.__qualname__


def call_native(f: Any, args: tuple[Any, ...]) -> tuple[Any, Any] | None:
    """(value, back) of a call by native code, None if it does not take it."""
    if not all(map(simple, args)) or not any(map(_numeric, args)):
        return None
    if user_rules.in_forward_mode():
        return None  # a native pullback knows nothing of tangent rules
    if _assigned and _reads_assigned(f, set()):
        return None
    try:
        made = native_pullback(f, args)
    except Exception as error:
        if _carries_numbers(error):
            return None
        raise
    if made is None:
        return None
    value, back = made
    # (Several arrays may have memory in common with each other.)
    return own(value) if type(value) is np.ndarray else value, (run_native, back, args)


def own(value: Any) -> Any:
    """An array that is a view of memory that native code has made, which nobody else has, as one that has its own: only of
    such memory the type of the elements is known to who asks for the shadow."""
    if type(value) is tuple:
        return tuple(map(own, value))
    return value.copy() if type(value) is np.ndarray and value.base is not None else value


def _carries_numbers(error: Exception) -> bool:
    """Whether an exception brings numbers to a handler in differentiated code: Python knows how they were computed."""
    return bool(bodies) and any(type(v) in (float, int) for v in error.args)


def run_native(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    from . import structure

    if d is None:
        return None
    _, native, args = back
    refused = refused_in(d)
    if refused is not None:
        return (None, *[structure.refuse(structure.form(x), refused, shadows) for x in args])
    given = native(d)
    if all(type(x) in _PLAIN for x in args):
        return (None, *given)
    return (None, *[structure.scatter(structure.form(x), c, shadows) for x, c in zip(args, given)])


# Modules of the library whose functions give new results and write to nothing: what they do natively they do here too.
_PURE = frozenset(
    f"zyg.library.{name}"
    for name in (
        "numpy_.linalg",
        "numpy_.hermitian",
        "numpy_.qr",
        "numpy_.singular",
        "numpy_.least_squares",
        "numpy_.norms",
        "numpy_.contractions",
        "special",
        "scipy_linalg",
        "scipy_matfuncs",
        "numpy_.ranges",
        "numpy_.diagonals",
        "numpy_.joining",
        "numpy_.repeating",
        "numpy_.sorting",
        "numpy_.searching",
        "numpy_.signals",
        "numpy_.statistics",
        "numpy_.fft",
        "numpy_.tensors",
        "numpy_.polynomials",
        "bessel",
        "hypergeometric",
    )
)


def call_entry(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any] | None:
    """(value, back) of a function of a package that the library knows, None if it does not."""
    found = recognised(f, args, kwargs)
    if found is None:
        return None
    called, names, order = found
    made = _pulled(called, (*args, *[kwargs[n] for n in names]))
    return None if made is None else (made[0], (*made[1][:2], f, *made[1][3:7], len(args), order))


def _pulled(called: Any, operands: tuple[Any, ...]) -> tuple[Any, Any] | None:
    from . import structure

    forms = [structure.form(a) for a in operands]
    made = native_pullback(called, operands, pure=True)
    if made is None:
        return None
    value, back = own(made[0]), made[1]
    return value, (user_rules.run, back, called, forms, structure.form(value), None, (), len(operands), None)


def recognised(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
    """How a function that the library knows is called natively: what is called, which keywords go by position behind the other
    arguments, since they may carry a derivative, and where the cotangents of keywords are found."""
    from zyg.library import registry

    from . import structure

    entry = registry.find(f)
    if entry is None or user_rules.in_forward_mode():
        return None
    if entry.module not in _PURE and not (type(f) is np.ufunc and not kwargs and len(args) == f.nin):
        return None
    names = tuple([n for n, v in kwargs.items() if type(v) in (float, int) or type(v) in _OF_NUMPY])
    constants = {n: v for n, v in kwargs.items() if n not in names}
    operands = (*args, *[kwargs[n] for n in names])
    if not any(map(_numeric, operands)) or not all(map(simple, operands)):
        return None
    if any(type(v) not in _PLAIN for v in constants.values()):
        return None
    if not kwargs:
        return f, (), None
    place = {n: len(args) + k for k, n in enumerate(names)}
    order = [(place.get(n, user_rules.BEYOND), structure.form(v)) for n, v in kwargs.items()]
    return by_position(f, len(args), names, tuple(constants.items())), names, order


@lru_cache(None)
def by_position(f: Any, count: int, names: tuple[str, ...], constants: tuple[tuple[str, Any], ...]) -> Any:
    """What makes of f(a, b, q=..., full=False) a function of a, b and q, which has the constants (bools, texts, None) in its code:
    what f gives may go by them."""
    given = [f"a{k}" for k in range(count)]
    passed = ", ".join([*given, *(f"{n}={n}" for n in names), *(f"{n}={v!r}" for n, v in constants)])
    return eval(f"lambda f: lambda {', '.join([*given, *names])}: f({passed})", {})(f)


# The same in Python, for second derivatives: its parts are native, and so are their derivatives (nested.py).


def entry_in_python(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    from . import structure

    called, names, order = required(f, args, kwargs)
    operands = (*args, *[kwargs[n] for n in names])
    value = entry_value(called, *operands)

    def back(d: Any) -> Any:
        return entry_cotangents(called, d, *operands)

    forms = [structure.form(a) for a in operands]
    return value, (user_rules.run, back, f, forms, structure.form(value), None, (), len(args), order)


def required(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    found = recognised(f, args, kwargs)
    assert found is not None
    return found


def entry_value(called: Any, *operands: Any) -> Any:
    return called(*operands)


def entry_cotangents(called: Any, d: Any, *operands: Any) -> tuple[Any, ...]:
    made = native_pullback(called, operands, pure=True)
    assert made is not None
    return made[1](d)


def call_entry_value(called: Any, *operands: Any) -> tuple[Any, Any]:
    made = _pulled(called, operands)
    assert made is not None
    return made[0], (run_operands, made[1], 1)


def call_entry_cotangents(called: Any, d: Any, *operands: Any) -> tuple[Any, Any]:
    made = _pulled(pulled_back(called), (d, *operands))
    if made is None:
        name = getattr(called, "__name__", "a function")
        raise Unsupported(f"a second derivative of {name} by way of Python", hint="differentiate it natively: zyg.jit")
    return made[0], (run_operands, made[1], 1)


@lru_cache(None)
def pulled_back(f: Any) -> Any:
    """The pullback of a function, as a function of the cotangent and the arguments."""

    def pulled(d: Any, *args: Any) -> Any:
        return zyg.pullback(f, *args)[1](d)

    return pulled


def run_operands(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The first operands are constants."""
    given = back[1][0](back[1], d, shadows)
    return None if given is None else (None, *(None,) * back[2], *given[1:])


class NativeFirst:
    """The handler of functions of one code object that are worth trying; `entry` is how they go through Python."""

    __slots__ = ("entry", "refusals")

    def __init__(self, entry: Any):
        self.entry = entry
        self.refusals = 0

    def call(self, f: FunctionType, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        from .calls import settle
        from .functions import call_bound

        if not kwargs and not ((len(args) < f.__code__.co_argcount or f.__kwdefaults__) and _made_here(f)):
            made = call_native(f, args)
            if made is not None:
                self.refusals = 0
                return made
            self.refusals += 1
            if self.refusals == _PATIENCE:
                settle(f.__code__, self.entry)
        return call_bound(self.entry, f, *args, **kwargs)


def call_jitted(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A jitted function: native, unless its arguments are objects that may carry a derivative by other ways."""
    from .calls import call

    if not kwargs:
        try:
            made = call_native(f, args)
        except Entangled:
            made = None
        if made is not None:
            return made
    transform = transform_of(f)
    assert transform is not None
    return call(transform.function, args, kwargs)


__all__ = ["NativeFirst", "call_jitted", "call_native", "worthwhile"]
