"""Calls that native code ends with an error which CPython would not raise (ir/departures.py): where there is a way through Python
they go that way, as calls do that native code refuses.

Native code has done nothing by then that others see, or else the error stays: what it writes to objects, lists and dictionaries
of its caller is written when it returns, but arrays are written at once, and Python functions that it calls have run.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from zyg.ir.plainly import get_plainly

from .errors import Unsupported
from .ir.core import Instr, Module
from .ir.departures import departs
from .ir.types import Array, Sequence, Type, children, flatten
from .transforms import transform_of

_INTEGERS = frozenset({"cadd", "csub", "cmul", "cneg", "ipow"})
_PURE = frozenset({"math", "cmath", "numpy"})  # modules whose functions do nothing but give a value,
_DOING = ("save", "set", "put", "place", "copyto", "fill")  # but for those whose names begin so


def handler(function: Any, inferred: Any) -> Callable[..., Any] | None:
    """What native code of a request calls with such an error (see `Signature.departed`); None for what never goes through Python."""
    from .fallback import strict

    transform = transform_of(function)
    if transform is None or transform.kind == "jit" or (transform.function is not None and strict(function)):
        return None
    module, entry, shared = inferred.module, inferred.entry, _shared(inferred)
    return Handler(lambda: _effects(module, entry, shared))


class Departed(Exception):
    """Such an error: why the call cannot be native, what it has done already, and the function that raises the error."""

    def __init__(self, why: Unsupported, effects: Callable[[], str], raising: Any):
        super().__init__(str(why))
        self.why = why
        self.effects = effects
        self.raising = raising

    def note(self, text: str) -> None:
        """One more line at the end of the error."""
        (error,) = self.raising.__defaults__
        error.add_note(text)


_OTHER_NUMBERS = "pass floats, or numbers with which that does not happen: calls with such are native"


class Handler:
    """`effects` tells what a call may do besides giving its value."""

    __slots__ = ("_ask", "_effects")

    def __init__(self, effects: Callable[[], str]):
        self._ask = effects
        self._effects: str | None = None  # not asked

    def __call__(self, raising: Any, native: Any, /, *args: Any, **keywords: Any) -> Any:
        from .callables import DISPATCHER

        (error,) = raising.__defaults__
        what = f"with the numbers of this call native code raises {type(error).__name__}: {error}"
        why = Unsupported(what, vars(raising)["position"], hint=_OTHER_NUMBERS)
        departed = Departed(why, self.effects, raising)
        dispatcher = getattr(native, DISPATCHER, None)
        if dispatcher is None:  # it is called by one
            raise departed
        return dispatcher.departed(departed, args, keywords)

    def effects(self) -> str:
        """What of the call others see though it has failed; "" if there is nothing."""
        if self._effects is None:
            self._effects = self._ask()
        return self._effects


def _shared(inferred: Any) -> frozenset[int]:
    """The numbers of the parameters that are arrays of the caller's. (Those of lists of run-time length are copies.)"""
    types = (*inferred.parameters, *(source.type for source in inferred.inputs))
    ours = [own for type in types for own in _are_shared(type)]
    return frozenset(n for n, own in enumerate(ours) if own)


def _are_shared(type: Type) -> list[bool]:
    if isinstance(type, Sequence) or not children(type):
        return [isinstance(type, Array)] * len(flatten(type))
    return [own for child in children(type) for own in _are_shared(child)]


def instructions(module: Module, entry: str) -> Iterator[Instr]:
    """Those of a function, and of all that it calls."""
    from .autodiff.activity import CALLING

    left, seen = [entry], {entry}
    while left:
        for _, instr in module.functions[left.pop()].instructions():
            yield instr
            callee = instr.attrs["callee"] if instr.op in CALLING else None
            if callee is not None and callee not in seen:
                seen.add(callee)
                left.append(callee)


def effects(inferred: Any) -> str:
    """What a call of native code may do besides giving its value, at once: "" if nothing."""
    return _effects(inferred.module, inferred.entry, _shared(inferred))


def _effects(module: Module, entry: str, shared: frozenset[int]) -> str:
    from .autodiff.activity import summarise

    called = called_out(module, entry)
    if called is not None:
        name = get_plainly(called, "__name__") or getattr(called, "name", "")
        return f"it has called {name or 'Python functions'}"
    if not shared.isdisjoint(summarise(module, entry)[entry].written):
        return "it writes to arrays that it was given"
    return ""


def note_calls_out(inferred: Any, calls: bool) -> None:
    """Have it known of a program that was found on disk."""
    _calling[inferred] = calls


def called_out(module: Module, entry: str) -> Any:
    """A Python function that a function, or one that it calls, calls for more than its value; None if there is none."""
    for instr in instructions(module, entry):
        if instr.op == "pycall" and not _is_quiet(instr.attrs["callable"], instr.attrs.get("reads", False)):
            return instr.attrs["callable"]
    return None


_calling: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()


def calls_out(inferred: Any) -> bool:
    """Whether native code calls Python functions for more than their values."""
    found = _calling.get(inferred)
    if found is None:
        found = _calling[inferred] = called_out(inferred.module, inferred.entry) is not None
    return found


def may_be_repeated(module: Module, entry: str) -> bool:
    """Whether a call may have to be made in Python after native code has failed: with an error that CPython does not raise, or one
    that brings numbers to a handler."""
    from .frontend.exceptions import Raise

    return any(
        instr.op == "raise"
        or instr.op in _INTEGERS
        or departs(instr.attrs.get("exc"))
        or instr.op == "readymade"
        and any(departs(exception) for exception, *_ in instr.attrs["code"].errors)
        or isinstance(instr.attrs.get("callable"), Raise)
        for instr in instructions(module, entry)
    )


def _is_quiet(function: Any, reads: bool) -> bool:
    """Whether a Python function that native code calls does nothing but give a value."""
    from .frontend.exceptions import Raise

    if isinstance(function, np.ufunc):
        return any("O" not in types for types in function.types)  # (what np.frompyfunc makes calls Python)
    if isinstance(function, Raise):
        return True
    if get_plainly(function, "__module__") in _PURE:
        return not function.__name__.startswith(_DOING)
    if (get_plainly(function, "__module__") or "").partition(".")[0] not in ("builtins", "zyg"):
        return False  # (a method of a generator, say, which draws)
    # Draws move the state of a generator that is not the function's own; that of its own is in an array that they write to.
    return reads if not isinstance(function, _draws()) else function.known is None


def _draws() -> type:
    from .library.numpy_.random import Draw  # on demand, as all of the library

    return Draw
