"""The module copy."""

from __future__ import annotations

import copy
import sys
from collections import deque
from types import FunctionType
from typing import Any

import numpy as np

from . import builtins_, calls, dates, foreign, iterables_
from .arithmetic import method_of
from .calls import known
from .cotangents import INERT, is_number


@known(copy.copy)
def _copy(x: Any) -> tuple[Any, Any]:
    if type(x) in INERT or is_number(x) or isinstance(x, tuple):
        return x, (iterables_.run_same,)
    method = method_of(x, "__copy__")
    if method is not None:
        return builtins_.shift(calls.call(method, ()))
    _refuse_own_ways(x, "copy.copy", _COPYING)
    y = copy.copy(x)
    dates.hold(y)
    return y, (_run_copied, [(x, y)])


@known(copy.deepcopy)
def _deepcopy(x: Any, memo: Any = None) -> tuple[Any, Any]:
    memo = {} if memo is None else memo
    for old in _within(x, {}):
        _refuse_own_ways(old, "copy.deepcopy", ("__deepcopy__", *_COPYING))
    y = copy.deepcopy(x, memo)
    copied = [(old, memo[id(old)]) for old in _within(x, {}) if id(old) in memo]
    for _, new in copied:
        dates.hold(new)
    return y, (_run_copied, copied) if not (is_number(x) or isinstance(x, tuple)) else (_run_deep_tuple, copied)


# What says how an object is copied; that of a container goes through its items, which a subclass may say.
_COPYING = ("__reduce_ex__", "__reduce__", "__getstate__", "__setstate__")
_ITEMS = {list: ("__iter__", "append", "extend"), dict: ("items", "__setitem__")}


def _refuse_own_ways(x: Any, name: str, methods: tuple[str, ...]) -> None:
    """Code of a class by which C code or the standard library copies objects of it is not followed."""
    cls = type(x)
    for method in (*methods, *next((names for base, names in _ITEMS.items() if issubclass(cls, base)), ())):
        found = getattr(cls, method, None)
        if type(found) is FunctionType and found.__module__.partition(".")[0] not in sys.stdlib_module_names:
            foreign.refuse(
                f"{name} of a {cls.__qualname__}, whose {method} says how it is copied",
                foreign.caller(),
                f"give {cls.__qualname__} a method that makes the copy, and call that",
            )


def _within(x: Any, seen: dict[int, Any]) -> list[Any]:
    """The mutable objects in a value."""
    if id(x) in seen or type(x) in INERT or is_number(x):
        return []
    seen[id(x)] = x
    if isinstance(x, (tuple, set, frozenset)):
        return [o for v in x for o in _within(v, seen)] + ([x] if isinstance(x, set) else [])
    found = [x]
    if isinstance(x, (list, deque)):
        found += [o for v in x for o in _within(v, seen)]
    elif isinstance(x, dict):
        found += [o for v in x.values() for o in _within(v, seen)]
    held = getattr(x, "__dict__", None)
    if held and not isinstance(x, type):
        found += [o for v in held.values() for o in _within(v, seen)]
    return found


def _run_deep_tuple(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _run_copied(back, None, shadows)
    return None, d


def _run_copied(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """What the copies have gathered goes to the originals."""
    for old, new in back[1]:
        if shadows.marks and (refused := shadows.mark_of(new)) is not None:
            shadows.mark(old, refused)
        if isinstance(old, np.ndarray):
            c = shadows.take_array(new)
            if c is not None:
                shadows.add_array(old, c)
            continue
        items = shadows.items.get(id(new))
        if items:
            shadows.items[id(new)] = type(items)()
            for key, c in items.items() if isinstance(items, dict) else enumerate(items):
                if c is not None:
                    (shadows.add_key if isinstance(items, dict) else shadows.add_item)(old, key, c)
        for name, c in shadows.take_attributes(new).items():
            if c is not None:
                shadows.add_attr(old, name, c)
    return None
