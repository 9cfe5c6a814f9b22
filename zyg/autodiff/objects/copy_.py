"""The module copy."""

from __future__ import annotations

import copy
import sys
from collections import deque
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from . import builtins_, calls, dates, filling, foreign, iteration, structure
from .arithmetic import find, method_of
from .calls import known
from .cotangents import INERT, is_number


@known(copy.copy)
def _copy(x: Any) -> tuple[Any, Any]:
    if type(x) in INERT or is_number(x) or isinstance(x, tuple):
        return x, (filling.run_same,)
    method = method_of(x, "__copy__")
    if method is not None:
        return builtins_.shift(calls.call(method, ()))
    _refuse_own_ways(x, "copy.copy", _COPYING)
    y = copy.copy(x)
    dates.hold(y)
    return y, (_run_copied, [(x, y, {})])


@known(copy.deepcopy)
def _deepcopy(x: Any, memo: Any = None) -> tuple[Any, Any]:
    memo = {} if memo is None else memo
    method = method_of(x, "__deepcopy__")
    if method is not None and id(x) not in memo and not isinstance(x, iteration.Iterator):
        y, back = calls.call(method, (memo,))
        memo[id(x)] = y
        return builtins_.shift((y, back))
    inside = _within(x, {})
    for old in inside:
        _refuse_own_ways(old, "copy.deepcopy", ("__deepcopy__", *_COPYING))
    y = copy.deepcopy(x, memo)
    copied = [(old, memo[id(old)], _keys_copied(old, memo)) for old in inside if id(old) in memo]
    for _, new, _ in copied:
        dates.hold(new)
    return y, (_run_copied, copied) if not (is_number(x) or isinstance(x, tuple)) else (_run_deep_tuple, copied)


def _keys_copied(x: Any, memo: dict[int, Any]) -> dict[Any, Any]:
    """The items of a set, or keys of a dict, which have copies that may be equal to nothing but themselves: by these."""
    if not isinstance(x, (dict, set, frozenset)):
        return {}
    return {memo[id(key)]: key for key in iteration.own_items(x) if id(key) in memo}


# What says how an object is copied; that of a container goes through its items, which a subclass may say.
_COPYING = ("__reduce_ex__", "__reduce__", "__getstate__", "__setstate__")
_ITEMS = {list: ("__iter__", "append", "extend"), dict: ("items", "__setitem__")}


def _refuse_own_ways(x: Any, name: str, methods: tuple[str, ...]) -> None:
    """Code of a class by which C code or the standard library copies objects of it is not followed."""
    cls = type(x)
    if isinstance(x, iteration.Iterator):
        foreign.refuse(
            f"{name} of an iterator in code that is differentiated",
            foreign.caller(),
            "make a list of what it gives, or use itertools.tee",
        )
    for method in (*methods, *next((names for base, names in _ITEMS.items() if issubclass(cls, base)), ())):
        found = find(cls, method)
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
    if isinstance(x, tuple):
        return [o for v in x for o in _within(v, seen)]
    found = [x]
    parts: list[Any] = []
    if isinstance(x, (list, deque, set, frozenset)):
        parts += iteration.own_items(x)
    elif isinstance(x, dict):
        parts += [*dict.keys(x), *dict.values(x)]
    if not isinstance(x, (type, ModuleType, FunctionType)):
        parts += [getattr(x, name, None) for name in structure.fields_of(x)]
    return found + [o for v in parts for o in _within(v, seen)]


def _run_deep_tuple(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _run_copied(back, None, shadows)
    return None, d


def _run_copied(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """What the copies have gathered goes to the originals."""
    for old, new, keys in back[1]:
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
                    (shadows.add_key if isinstance(items, dict) else shadows.add_item)(old, keys.get(key, key), c)
        for name, c in shadows.take_attributes(new).items():
            if c is not None:
                shadows.add_attr(old, name, c)
    return None
