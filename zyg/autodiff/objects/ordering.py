"""Comparisons that run no Python code, or only code that calculates: they are made as they are."""

from __future__ import annotations

from types import FunctionType, WrapperDescriptorType
from typing import Any

from zyg.backend.phrases import COMPARED

from ..identity import note
from . import attributes
from .arithmetic import find
from .effects import only_calculates
from .reach import PLAIN

_ORDERED = frozenset({float, int, bool, str})


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
        return all(_ORDERED.issuperset(map(type, item)) for item in items)
    return all_quiet(items)


def all_quiet(items: list[Any]) -> bool:
    """Whether comparisons of items, all of one class, only calculate."""
    kinds = set(map(type, items))
    return len(kinds) == 1 and all(map(is_quiet, items))


def is_quiet(x: Any) -> bool:
    """Whether comparing an object with another one of its class by `<` or `>` does nothing but calculate with what it holds."""
    t = type(x)
    if t not in COMPARED and not _note_quiet(t):
        return False
    return PLAIN.issuperset(map(type, x.__dict__.values()))


def _note_quiet(cls: type) -> bool:
    from ..python import knowledge

    if not knowledge.is_of_python(cls) or not cls.__dictoffset__ or not attributes.plain_lookup(cls):
        return False
    functions = []
    for c in cls.__mro__[:-1]:
        if "__slots__" in c.__dict__:
            return False
        functions += [held.fget for held in c.__dict__.values() if type(held) is property]
    for name in ("__lt__", "__gt__"):
        method = find(cls, name)
        if type(method) is FunctionType:
            functions.append(method)
        elif type(method) is not WrapperDescriptorType:
            return False
    if find(cls, "__getattr__") is not None or not all(
        type(f) is FunctionType and only_calculates(f) for f in functions
    ):
        return False
    knowledge.note_class(cls)
    note(COMPARED, cls, (cls,))
    return True


__all__ = ["all_ordered", "all_quiet", "is_quiet", "less"]
