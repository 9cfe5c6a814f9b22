"""Comparisons that run no Python code, or only code that calculates: they are made as they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.backend.phrases import COMPARED

from ..identity import note
from . import attributes
from .arithmetic import find
from .reach import INERT, read_by

_ORDERED = frozenset({float, int, bool, str, np.float64, np.float32, np.int64, np.int32})


def less(a: Any, b: Any) -> bool | None:
    """Whether `a < b`, None if that runs code that has to be followed, or raises an error (which it does again).

    >>> less(1, 2.0), less((1.0, "b"), (1.0, "a")), less(1, "a") is None
    (True, False, True)
    """
    t, u = type(a), type(b)
    if t is tuple and u is tuple:
        for x, y in zip(a, b):
            if x is y:
                continue
            if type(x) not in _ORDERED or type(y) not in _ORDERED:
                return None
            if x != y:
                return less(x, y)
        return len(a) < len(b)
    if not (t in _ORDERED and u in _ORDERED) and not (t is u and is_quiet(a) and is_quiet(b)):
        return None
    try:
        return bool(a < b)
    except Exception:
        return None


def all_ordered(items: list[Any]) -> bool:
    """Whether comparisons of any two items by `<` run no code, or code that only calculates: numbers and texts, flat tuples of them,
    and objects of one class whose comparisons do so."""
    kinds = set(map(type, items))
    if _ORDERED.issuperset(kinds):
        return True
    if kinds == {tuple}:
        return _differ_at_once(items) or all(_ORDERED.issuperset(map(type, item)) for item in items)
    return all_quiet(items)


def _differ_at_once(items: list[tuple[Any, ...]]) -> bool:
    """Whether tuples differ by their first items, numbers and texts, so that nothing asks the others."""
    firsts = {item[0] for item in items if item and type(item[0]) in _ORDERED}
    return len(firsts) == len(items)


def all_quiet(items: list[Any]) -> bool:
    """Whether comparisons of items, all of one class, only calculate."""
    kinds = set(map(type, items))
    return len(kinds) == 1 and all(map(is_quiet, items))


def is_quiet(x: Any) -> bool:
    """Whether comparing an object with another one of its class does nothing but calculate with what it holds."""
    t = type(x)
    names = COMPARED[t] if t in COMPARED else _note_comparisons(t)
    if names is None:
        return False
    held = x.__dict__ if t.__dictoffset__ else None
    for name in names:
        y = getattr(x, name, None) if held is None else held.get(name)
        if type(y) not in INERT and not _is_plain(y):
            return False
    return True


def _is_plain(x: Any) -> bool:
    return type(x) in INERT or (type(x) is tuple and all(map(_is_plain, x)))


def _note_comparisons(cls: type) -> frozenset[str] | None:
    """The attributes that comparisons of instances of a class read, if they only calculate; of a class whose instances have nothing but
    slots those that are slots."""
    from ..python import knowledge

    if not knowledge.is_of_python(cls):
        return None
    names = None
    if (
        attributes.plain_lookup(cls)
        and not (cls.__dictoffset__ and any("__slots__" in c.__dict__ for c in cls.__mro__[:-1]))
        and find(cls, "__getattr__") is None
    ):
        names = read_by(cls, _COMPARISONS)
        if names is not None and not cls.__dictoffset__:
            names = frozenset(name for name in names if attributes.is_slot(cls, find(cls, name)))
    knowledge.note_class(cls)
    note(COMPARED, cls, (cls,), names)
    return names


_COMPARISONS = tuple(f"__{name}__" for name in "lt le eq ne gt ge".split())

__all__ = ["all_ordered", "all_quiet", "is_quiet", "less"]
