"""Threads: what runs in one is not differentiated."""

from __future__ import annotations

import _thread
import functools
import threading
from typing import Any

from zyg.errors import Unsupported

from . import foreign, structure
from .builtins_ import _constant
from .calls import known, method

_HINT = "call the function here; or start the thread outside of the differentiated function, or with constants"


def _refuse_numbers(*values: Any) -> None:
    if any(structure.holds_numbers(structure.form(v)) for v in values):
        place = foreign.position_of(foreign.caller())
        raise Unsupported(
            "a thread that gets numbers, in code that is differentiated through Python", place, hint=_HINT
        )


@known(threading.Thread.start)
def _start(thread: Any) -> tuple[Any, Any]:
    own = [vars(thread).get(f"_{name}") for name in ("target", "args", "kwargs")]
    run = type(thread).run
    if run is not threading.Thread.run:
        own += [run, *[value for name, value in vars(thread).items() if name not in _OF_ALL]]
    _refuse_numbers(*own)
    return thread.start(), None


_OF_ALL = frozenset(vars(threading.Thread()))  # the names of what every thread has


@known(_thread.start_new_thread)
def _start_new_thread(function: Any, args: Any, kwargs: Any = None, /) -> tuple[Any, Any]:
    _refuse_numbers(function, args, kwargs)
    return _thread.start_new_thread(function, args, kwargs or {}), None


# Locks hold nothing.
for _cls in (type(threading.Lock()), type(threading.RLock())):
    for _name in ("acquire", "release", "locked", "__enter__", "__exit__"):
        if hasattr(_cls, _name):
            method(_cls, _name, exact=True)(functools.partial(_constant, getattr(_cls, _name)))
