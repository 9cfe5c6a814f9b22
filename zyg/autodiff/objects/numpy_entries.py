"""What the entries of NumPy's functions share: their names, their arguments."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from . import calls
from .calls import known
from .cotangents import Refused
from .numpy_ import give, taken


def functions_of(names: str, module: Any = np) -> list[Any]:
    """Those of the functions that this version of NumPy has."""
    return [getattr(module, name) for name in names.split() if hasattr(module, name)]


def known_as(names: str, handler: Any, module: Any = np) -> None:
    for f in functions_of(names, module):
        if f not in calls.KNOWN:
            known(f)(functools.partial(handler, f))


def foreign_call(f: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """A use of a function that its entry does not cover."""
    return calls.call_foreign(f, *args, **kwargs)


def only(kwargs: dict[str, Any], *names: str) -> bool:
    """Whether no other keyword arguments were given."""
    return all(k in names or v is None for k, v in kwargs.items())


def arguments(args: tuple[Any, ...], kwargs: dict[str, Any], *names: str) -> dict[str, Any]:
    """Arguments by name, of which the first ones may have been given by position. (What an entry does not cover is called as it was
    written: cotangents are told apart by their places.)"""
    return {**dict(zip(names, args)), **kwargs} if len(args) <= len(names) else {"": args}


def run_moved_list(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    calls.run(back[1], d, shadows)
    return None, back[2][0](back[2], None, shadows)


def run_zero(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    dy = taken(back[1], d, shadows)
    return None if dy is None else (None, give(back[2], dy if type(dy) is Refused else np.zeros_like(dy), shadows))
