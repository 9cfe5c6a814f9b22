"""`dataclasses.asdict` and `astuple`: dicts and tuples of what data classes hold, and of what their lists, tuples and dicts hold.

The library goes through all that a value may be, and copies what is left; here the same is done for values of the usual types, whose
making runs no code of the user's, together with a *copy*: what is made of what.  The cotangents of the parts go from one to the other.
All else is left to the library's own code, which is differentiated.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from zyg.autodiff.identity import note

from . import calls, later
from .calls import known

_FIELDS = "__dataclass_fields__"
_FIELD = getattr(dataclasses, "_FIELD")  # noqa: B009 (the module's own mark of what is an attribute of instances)
# What is copied as it is. (A number carries a cotangent, which passes on.)
_AS_THEY_ARE = frozenset({float, int, bool, complex, str, bytes, type(None)})

# What is made of what: (what brings cotangents over, old, new, names or None, the copies of the parts that are not as they were, by key)
Copy = tuple[Any, ...]


class _OfAnotherKind(Exception):
    """The library's own code has to see to it."""


def _copied(x: Any, whole: type) -> tuple[Any, Copy | None]:
    """What becomes of a part of a data class; `whole`: dict or tuple, which data classes become."""
    t = type(x)
    if t in _AS_THEY_ARE:
        return x, None
    copies: dict[Any, Copy] = {}

    def part(key: Any, value: Any) -> Any:
        made, of_part = _copied(value, whole)
        if of_part is not None:
            copies[key] = of_part
        return made

    if t is list:
        items = [part(k, v) for k, v in enumerate(x)]
        return items, (_to_list, x, items, None, copies)
    if t is tuple:
        items = tuple([part(k, v) for k, v in enumerate(x)])
        return items, (_to_tuple, x, items, None, copies)
    if t is dict:
        if not _AS_THEY_ARE.issuperset(map(type, x)):
            raise _OfAnotherKind
        entries = {key: part(key, v) for key, v in x.items()}
        return entries, (_to_dict, x, entries, None, copies)
    if t is np.ndarray and x.dtype.kind in "fciub":
        array = copy.deepcopy(x)
        return array, (_to_array, x, array, None, copies)
    names = names_of(t)
    if names is None or not all(later.accesses.reads_plainly(x, name) for name in names):
        raise _OfAnotherKind
    if whole is dict:
        fields = {name: part(name, getattr(x, name)) for name in names}
        return fields, (_from_dict, x, fields, names, copies)
    values = tuple([part(k, getattr(x, name)) for k, name in enumerate(names)])
    return values, (_from_tuple, x, values, names, copies)


_known_names: dict[type, tuple[Any, tuple[str, ...]]] = {}


def names_of(cls: type) -> tuple[str, ...] | None:
    """The names of the fields of a data class; None of another class."""
    fields = getattr(cls, _FIELDS, None)
    if type(fields) is not dict:
        return None
    found = _known_names.get(cls)
    if found is None or found[0] is not fields:
        names = tuple([name for name, f in fields.items() if getattr(f, "_field_type", None) is _FIELD])
        found = fields, names
        note(_known_names, cls, (cls,), found)
    return found[1]


def _bring(of: Copy, d: Any, shadows: Any) -> Any:
    """The cotangent that flows to what was copied, of the one that flows to what was made."""
    return of[0](of, d, shadows)


def _of_part(copies: dict[Any, Copy], key: Any, d: Any, shadows: Any) -> Any:
    of = copies.get(key)
    return d if of is None else of[0](of, d, shadows)


def _from_dict(of: Copy, d: Any, shadows: Any) -> None:
    _, x, made, names, copies = of
    taken = shadows.take_dict(made) or {}
    for name in names:
        c = _of_part(copies, name, taken.get(name), shadows)
        if c is not None:
            shadows.add_attr(x, name, c)


def _from_tuple(of: Copy, d: Any, shadows: Any) -> None:
    _, x, _, names, copies = of
    for k, name in enumerate(names):
        c = _of_part(copies, k, None if d is None else d[k], shadows)
        if c is not None:
            shadows.add_attr(x, name, c)


def _to_dict(of: Copy, d: Any, shadows: Any) -> None:
    _, x, made, _, copies = of
    taken = shadows.take_dict(made) or {}
    for key in {**taken, **copies}:
        c = _of_part(copies, key, taken.get(key), shadows)
        if c is not None:
            shadows.add_key(x, key, c)


def _to_list(of: Copy, d: Any, shadows: Any) -> None:
    _, x, made, _, copies = of
    taken = shadows.take_list(made) or []
    for k in range(max(len(taken), max(copies, default=-1) + 1)):
        c = _of_part(copies, k, taken[k] if k < len(taken) else None, shadows)
        if c is not None:
            shadows.add_item(x, k, c)


def _to_tuple(of: Copy, d: Any, shadows: Any) -> Any:
    _, x, _, _, copies = of
    if d is None and not copies:
        return None
    given = tuple([_of_part(copies, k, None if d is None else d[k], shadows) for k in range(len(x))])
    return None if all(c is None for c in given) else given


def _to_array(of: Copy, d: Any, shadows: Any) -> None:
    c = shadows.take_array(of[2])
    if c is not None:
        shadows.add_array(of[1], c)


@known(_copied, exact=True)
def _copied_in_turn(x: Any, whole: type) -> tuple[Any, Any]:
    """The same where it is differentiated in turn: the copy refers to what there is."""
    made, of = _copied(x, whole)
    return (made, of), None if of is None else (_run_in_turn, of)


def _run_in_turn(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, _bring(back[1], None if d is None else d[0], shadows), None


def _handler(function: Any, option: str, whole: type) -> Callable[..., tuple[Any, Any]]:
    own = FunctionType(
        function.__code__.replace(),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    own.__kwdefaults__ = function.__kwdefaults__  # the same with code of its own: the other one has the rule below

    def handler(x: Any, /, **options: Any) -> tuple[Any, Any]:
        if not options or (len(options) == 1 and options.get(option) is whole):
            try:
                if names_of(type(x)) is not None:
                    made, of = _copied(x, whole)
                    return made, None if of is None else (_run_apart, of)
            except (_OfAnotherKind, AttributeError, RecursionError):
                pass
        return calls.call(own, (x,), options)

    return handler


def _run_apart(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, _bring(back[1], d, shadows), None


known(dataclasses.asdict, exact=True)(_handler(dataclasses.asdict, "dict_factory", dict))
known(dataclasses.astuple, exact=True)(_handler(dataclasses.astuple, "tuple_factory", tuple))

__all__ = ["names_of"]
