"""Which attributes are likely to be computed where they are read: these are recorded as often as not, so that they have a pullback of
their own. A guess, about speed alone."""

from __future__ import annotations

import datetime
import enum
from abc import ABCMeta
from collections.abc import Iterator
from functools import cached_property
from types import CodeType, FunctionType
from typing import Any, TypeGuard

from zyg.ir.core import Function
from zyg.ir.plainly import get_plainly

from ..objects.arithmetic import find
from ..objects.attributes import OF_C
from ..objects.cotangents import DATES, FIELD, VALUES

LENGTH = "__len__"
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE


def computed_attributes(code: CodeType, namespace: dict[str, Any]) -> frozenset[str]:
    """Names of properties and other descriptors, of fields of named tuples, and of members of enumerations, of the classes that a function with these global variables mentions,
    or is a method of; if there is no such class, of all, but for names that are other things elsewhere; and of attributes of dates. Such
    attributes are recorded as often as not."""
    return _of_classes(code, namespace) | _of_dates(namespace)


def _of_classes(code: CodeType, namespace: dict[str, Any]) -> frozenset[str]:
    """The same but for those of dates."""
    around: Any = namespace.get(code.co_qualname.partition(".")[0])
    mentioned = [c for c in (around, *map(namespace.get, _names(code))) if _is_class(c)]
    if mentioned:
        found = frozenset().union(*map(_computed, mentioned))
        if any(find(c, "__getattr__") is not None for c in mentioned):  # which has any name
            found |= {name for name in _names(code) if not any(type(find(c, name)) is FunctionType for c in mentioned)}
        return found
    return frozenset().union(*map(_computed, _classes_in(namespace))) - _set_by_classes(namespace)


def _classes_in(namespace: dict[str, Any]) -> list[type]:
    return [c for c in list(namespace.values()) if _is_class(c) and c.__flags__ & _HEAP_TYPE]


def _set_by_classes(namespace: dict[str, Any]) -> frozenset[str]:
    """Names of attributes that classes most likely set."""
    functions = [find(c, "__init__") for c in _classes_in(namespace)]
    return frozenset(name for f in functions if type(f) is FunctionType for name in f.__code__.co_names)


def _of_dates(namespace: dict[str, Any]) -> frozenset[str]:
    """What dates and times have, if there are any."""
    if not any(id(x) in _SAY_DATES for x in list(namespace.values())):
        return frozenset()
    return _DATES - _set_by_classes(namespace)


def _is_class(x: Any) -> TypeGuard[type]:
    return issubclass(type(x), type)  # (isinstance would ask `x.__class__`, which may run code)


def _names(code: CodeType) -> Iterator[str]:
    """The global names of a function, and of those in it."""
    yield from code.co_names
    for inner in code.co_consts:
        if type(inner) is CodeType:
            yield from _names(inner)


def _computed(cls: type) -> set[str]:
    found = {
        k
        for c in cls.__mro__
        for k, v in list(vars(c).items())
        if type(v) in _KINDS or type(find(type(v), "__get__")) is FunctionType or type(v) is cls
    }
    return found | {LENGTH} if type(find(cls, LENGTH)) is FunctionType else found


_SAY_DATES = frozenset(map(id, (datetime, *DATES)))
_DATES = frozenset(
    name for cls in DATES for name, held in vars(cls).items() if type(held) in OF_C and not name.startswith("__")
)
_KINDS = (property, cached_property, FIELD)


def fields_read(code: CodeType, namespace: dict[str, Any], computed: frozenset[str]) -> frozenset[str]:
    """Which of these attributes most likely are fields of named tuples."""
    around: Any = namespace.get(code.co_qualname.partition(".")[0])
    mentioned = [c for c in (around, *map(namespace.get, _names(code))) if _is_class(c)]
    classes = mentioned or _classes_in(namespace)
    return computed & {name for c in classes for name in get_plainly(c, "_fields", ()) if type(find(c, name)) is FIELD}


def members_read(function: Function, namespace: dict[str, Any]) -> dict[tuple[str, str], type]:
    """Of the members of enumerations that a function reads by a global name, the enumerations: they stay what they are, and carry no
    derivative."""
    found: dict[tuple[str, str], type] = {}
    for place, cls in _by_global_names(function, namespace):
        if type(cls) is enum.EnumMeta and place[1] in cls.__members__ and VALUES.isdisjoint(cls.__mro__):
            found[place] = cls
    return found


def constants_read(function: Function, namespace: dict[str, Any]) -> dict[tuple[str, str], type]:
    """Of the numbers that a function reads by the global name of a class, the classes: they most likely stay what they are."""
    found: dict[tuple[str, str], type] = {}
    for place, cls in _by_global_names(function, namespace):
        if type(cls) in _USUAL and type(find(cls, place[1])) in (float, int) and find(type(cls), place[1]) is None:
            found[place] = cls
    return found


def _by_global_names(function: Function, namespace: dict[str, Any]) -> Iterator[tuple[tuple[str, str], Any]]:
    """Attributes of what is read by a global name: both names, and what the first is now."""
    makers = {r: i for _, i in function.instructions() for r in i.results}
    for _, instr in function.instructions():
        made = makers.get(instr.operands[0]) if instr.op == "getattr" else None
        if made is not None and made.op == "global":
            yield (made.attrs["name"], instr.attrs["name"]), namespace.get(made.attrs["name"])


_USUAL = frozenset({type, ABCMeta})
