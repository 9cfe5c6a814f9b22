"""Derivatives inside of object code that native code takes: `zyg.jacobian(move, m)` where `move` works on numbers and arrays and
has captured nothing else.

The call is one of native code, whose arguments are the function and what it is called with; the gradient by the function is that by
what it captured. So the derivative of a derivative is native, too, where through Python it would be that of the Python code that
computes the inner one (nested.py).
"""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CellType, CodeType, FunctionType
from typing import Any

import zyg
from zyg import rules
from zyg.fallback import arrays_read, check_blocks, check_repeatable
from zyg.ir.options import Options
from zyg.library.reading import Reading
from zyg.transforms import ARGNUMS, DIRECT_KINDS, KINDS, Transform, transform_of

from . import gathering, native, scattering, structure, user_rules
from .cotangents import refused_in
from .library_calls import call_entry_cotangents, entry_cotangents, entry_value, pulled
from .numpy_ import saved

_GIVES_VALUES = frozenset(KINDS) - {"pullback", "implicit_gradient", "implicit_pullback"}
_PLAIN_OPTIONS = None, Options()
_CALLS = 1024  # of so many functions it is remembered
_ROUNDS = 4  # in which more is found that a function reads
_MOST_INPUTS = 16  # functions that are made anew for each call have new variables


def call(transform: Transform, function: Any, args: tuple[Any, ...], exact: bool = True) -> tuple[Any, Any] | None:
    """(value, back) of a derivative by native code, None if it does not take it. The back gives a cotangent for the function, and
    for each argument. `exact`: as for `native_pullback`."""
    function, around = _unwrapped(function)
    called = _called(transform, around, function, args, exact)
    if called is None:
        return None
    try:
        made = _pulled(called, (function, *args))
    except Exception as error:
        if native.carries_numbers(error):
            return None
        raise
    if made is None or not native.simple(made[0]):
        return None
    return made


def _pulled(called: Any, operands: tuple[Any, ...]) -> tuple[Any, Any] | None:
    """The same of the function that the derivative is; of one that reads arrays from global and captured variables, of these
    besides."""
    for _ in range(_ROUNDS):
        found, read = opened(called)
        made = pulled(found, (*read, *operands))
        if made is not None:
            return made if not read or made[1] is None else (made[0], (_run_behind, made[1], len(read)))
        more = arrays_read(found, (*read, *operands), called.accept, called.exact)
        before = called.reading.inputs if called.reading is not None else ()
        if not more or len(before) + len(more) > _MOST_INPUTS:
            return None
        called.reading = Reading(called, (*before, *more))
        called.by_reading = eval("lambda reading: lambda *a: reading(*a)", {})(called.reading)
        called.by_reading.accept = called.accept
        called.by_reading.exact = called.exact
    return None


def opened(called: Any) -> tuple[Any, tuple[Any, ...]]:
    """A function for native code, and the arrays that it takes in front of its arguments; these carry their derivative by what they
    are, not by where they stand."""
    reading = called.reading
    read = None if reading is None else reading.now()
    return (called, ()) if read is None or not all(map(native.simple, read)) else (called.by_reading, read)


def _run_behind(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The first operands, arrays, have their cotangents in their shadows."""
    given = back[1][0](back[1], d, shadows)
    return None if given is None else (None, *given[1 + back[2] :])


def in_python(transform: Transform, function: Any, args: tuple[Any, ...]) -> tuple[Any, Any]:
    """The same in Python, for second derivatives: its parts are native, and so are their derivatives."""
    function, around = _unwrapped(function)
    called, read = opened(_called(transform, around, function, args))
    operands = (*read, function, *args)
    kept = [copied(x) for x in operands]  # arrays may be written before the derivative is asked for
    value = entry_value(called, *kept)

    def back(d: Any) -> Any:
        return entry_cotangents(called, d, *kept)

    forms = [structure.form(x) for x in operands]
    given = (user_rules.run, back, called, forms, structure.form(value), None, (), len(operands), None)
    return value, (_run_behind, given, len(read))


def call_call(transform: Transform, function: Any, args: tuple[Any, ...]) -> tuple[Any, Any]:
    """What `call` is in code that is differentiated."""
    from . import calls

    if user_rules.in_forward_mode(1):  # this one is the derivative of that
        return None, None
    made = call(transform, function, args)
    if made is None:
        return None, None
    bare, around = _unwrapped(function)
    called, read = opened(_called(transform, around, bare, args))
    if not _has_second(called, made[0], (*read, bare, *args)):
        return None, None
    return calls.call(in_python, (transform, function, args))


def refuse_call_call(transform: Transform, function: Any, args: tuple[Any, ...]) -> tuple[Any, Any]:
    """What `call_call` is in code that is differentiated once more: a derivative of the third order goes through Python."""
    return (None, None), None


def _has_second(called: Any, value: Any, operands: tuple[Any, ...]) -> bool:
    """Whether native code has the derivatives of the pullback, for a cotangent like the value."""
    try:
        return call_entry_cotangents(called, value, *operands) is not None
    except zyg.Unsupported:
        return False


Around = tuple[tuple[str, str], ...]  # transforms around a function, from within: their kinds and keyword arguments


def _unwrapped(function: Any) -> tuple[Any, Around]:
    """A function without the transforms around it: that which was captured is its own. (A transform that has a rule stays what it
    is.)"""
    around: list[tuple[str, str]] = []
    while (transform := transform_of(function)) is not None and transform.function is not None:
        if transform.kind not in _GIVES_VALUES or transform.options not in _PLAIN_OPTIONS:
            break
        if rules.rule_for(function) is not None or rules.tangent_rule_for(function) is not None:
            break
        around.append((transform.kind, _keywords(transform)))
        function = transform.function
    return function, tuple(reversed(around))


def _called(transform: Transform, around: Around, function: Any, args: tuple[Any, ...], exact: bool = True) -> Any:
    """The derivative as a function of what is differentiated and the arguments; None if that is not for native code."""
    if transform.kind not in _GIVES_VALUES or transform.options not in _PLAIN_OPTIONS or user_rules.in_forward_mode():
        return None
    if not _is_plain(function) or not all(map(native.simple, args)):
        return None
    return _made(transform.kind, _keywords(transform), around, function.__code__, exact)


@lru_cache(_CALLS)
def _made(kind: str, keywords: str, around: Around, code: CodeType, exact: bool) -> Any:
    """One for each function: native code is found by this, and by the types."""
    inner = "f"
    for k, said in around:
        inner = _text(k, said, inner)
    if kind in DIRECT_KINDS:
        text = f"zyg.{kind}({inner}, *args{keywords})"
    else:
        text = f"{_text(kind, keywords, inner)}(*args)"
    called = eval(f"lambda zyg: lambda f, *args: {text}", {})(zyg)
    called.accept = check_blocks if kind in ("hessian", "jacobian") else check_repeatable
    called.exact = exact
    called.reading = None  # what it reads from global and captured variables, as far as that is known
    return called


def _text(kind: str, keywords: str, function: str) -> str:
    """A transform of a function."""
    return function if kind == "jit" else f"zyg.{kind}({function}{keywords})"


def _keywords(transform: Transform) -> str:
    kind, argnums = transform.kind, transform.argnums
    said = f", argnums={argnums!r}" if kind in ARGNUMS and argnums != ARGNUMS[kind] else ""
    return said + ", has_aux=True" * transform.has_aux


def _is_plain(function: Any, depth: int = 0) -> bool:
    """Whether a function has captured numbers, arrays and functions like it only, and does not change what it captured. (Not with
    defaults that may carry a derivative.)"""
    if (
        type(function) is not FunctionType
        or depth > 4
        or _rebinds(function.__code__)
        or native.reads_assigned(function)
    ):
        return False
    if (function.__defaults__ or function.__kwdefaults__) and native.made_here(function):
        return False
    try:
        held = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # one is empty
        return False
    return all(native.simple(v) or _is_plain(v, depth + 1) for v in held)


@lru_cache(_CALLS)
def _rebinds(code: CodeType) -> bool:
    """Whether a function, or one in it, assigns to a variable of a function around it."""
    instructions = dis.get_instructions(code)
    return any(
        i.opname in ("STORE_DEREF", "DELETE_DEREF") and i.argval in code.co_freevars for i in instructions
    ) or any(_rebinds(c) for c in code.co_consts if isinstance(c, CodeType))


def copied(x: Any) -> Any:
    """What `x` holds now, for a rule to use later; of a function, what it captured."""
    if type(x) is not FunctionType or not x.__closure__:
        return saved(x)
    cells = tuple(CellType(copied(cell.cell_contents)) for cell in x.__closure__)
    return FunctionType(x.__code__, x.__globals__, x.__name__, x.__defaults__, cells)


def call_copied(x: Any) -> tuple[Any, Any]:
    y = copied(x)
    return y, (_run_copied, structure.form(y), structure.form(x))


def _run_copied(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, copy, original = back
    if refused_in(d) is not None:
        return None, d
    return None, scattering.scatter(original, gathering.gather(copy, d, shadows, take=True), shadows)


__all__ = ["call", "call_call", "call_copied", "copied", "in_python", "opened", "refuse_call_call"]
