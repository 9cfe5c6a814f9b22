"""What NumPy does where numbers overflow: `np.errstate`, `np.seterr`, `np.seterrcall`.

It may call a function of the user's then, in the middle of whatever operation. What that one does is not followed, so it is refused.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy._core import umath

from . import arithmetic, calls, foreign
from .calls import known


def calls_the_users() -> bool:
    """Whether a function, or a `write` that is written in Python, is called as things stand."""
    called = np.geterrcall()
    if called is None:
        return False
    kinds = np.geterr().values()
    return "call" in kinds or ("log" in kinds and arithmetic.is_python(arithmetic.find(type(called), "write")))


# NumPy's settings, an object that is replaced when they change, where this NumPy keeps them in a variable; and those by which nothing
# was called, when they were last looked at.
_variable: ContextVar[Any] | None = getattr(umath, "_extobj_contextvar", None)
_quiet: Any = None


def check() -> None:
    """Code is about to be differentiated."""
    global _quiet
    present = None if _variable is None else _variable.get()  # (there is one from the start)
    if present is None or present is not _quiet:
        if calls_the_users():
            _refuse()
        if np.geterrcall() is None:  # (what `write` is of a class can change)
            _quiet = present


def _refuse() -> None:
    foreign.refuse(
        "a function that NumPy calls where numbers overflow (np.seterrcall), in code that is differentiated",
        foreign.caller(),
        "use 'raise', or look at the result: np.isfinite(y)",
    )


@known(np.errstate, exact=True, of_arrays=False)
def _errstate(**modes: Any) -> tuple[Any, Any]:
    return np.errstate(**modes), None


@known(np.errstate.__enter__, exact=True, of_arrays=False)
def _enter(state: Any) -> tuple[Any, Any]:
    if type(state) is not np.errstate:
        return calls.call_foreign(np.errstate.__enter__, state)
    entered = np.errstate.__enter__(state)
    if calls_the_users():
        np.errstate.__exit__(state, None, None, None)
        _refuse()
    return entered, None


@known(np.errstate.__exit__, exact=True, of_arrays=False)
def _exit(state: Any, *exception: Any) -> tuple[Any, Any]:
    if type(state) is not np.errstate:
        return calls.call_foreign(np.errstate.__exit__, state, *exception)
    return np.errstate.__exit__(state, *exception), None


@known(np.seterr, of_arrays=False)
def _seterr(*args: Any, **modes: Any) -> tuple[Any, Any]:
    before = np.seterr(*args, **modes)
    if calls_the_users():
        np.seterr(**before)
        _refuse()
    return before, None


@known(np.seterrcall, of_arrays=False)
def _seterrcall(func: Any) -> tuple[Any, Any]:
    before = np.seterrcall(func)
    if calls_the_users():
        np.seterrcall(before)
        _refuse()
    return before, None
