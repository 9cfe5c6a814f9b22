"""What `{**vars(x), "y": v}` and `f(**x.__dict__)` take out of an object, and `x.__dict__.update(d)` puts into it: its attributes, which
nobody has at hand as a dict meanwhile.

So the items of a dict need not be one with the attributes of an object (`attributes.instance_dict`): what is taken out is a copy, and
what comes to its items is given to the attributes when that is undone.
"""

from __future__ import annotations

from types import GetSetDescriptorType
from typing import Any

from zyg.backend.cpython import type_version, version_word

from . import attributes, calls
from .arithmetic import find
from .passing import passes
from .shadows import add_part


def held_by(function: Any, x: Any) -> Any:
    """`vars(x)`, if the function is `vars`, where another dict takes over what it gives."""
    return function(x)


def held_in(x: Any) -> Any:
    """The same for `x.__dict__`."""
    return x.__dict__


def update_held(x: Any, other: Any) -> Any:
    """`x.__dict__.update(other)`"""
    return x.__dict__.update(other)


@calls.known(held_by, exact=True)
@passes()
def _held_by(function: Any, x: Any) -> tuple[Any, Any]:
    if function is not vars or not _is_plain(type(x)):
        return calls.differentiated(held_by)(function, x)
    held = dict(x.__dict__)
    return held, (_run_held_by, x, held)


@calls.known(held_in, exact=True)
@passes()
def _held_in(x: Any) -> tuple[Any, Any]:
    if not _is_plain(type(x)):
        return calls.differentiated(held_in)(x)
    held = dict(x.__dict__)
    return held, (_run_held_by, x, held)


@calls.known(update_held, exact=True)
@passes()
def _update_held(x: Any, other: Any) -> tuple[Any, Any]:
    if type(other) is not dict or not _TEXT.issuperset(map(type, other)) or not _is_plain(type(x)):
        return calls.differentiated(update_held)(x, other)
    x.__dict__.update(other)
    return None, (_run_update, x, other, tuple(other))


_TEXT = frozenset({str})


# By the identity of a class: the word that holds its version, the version, and whether its instances are plain.
_found: dict[int, tuple[Any, int, bool]] = {}
_MANY = 1000


def _is_plain(cls: type) -> bool:
    """Whether the attributes of instances are the items of their `__dict__`, and all that code can see of these: all classes are made
    by statements, without slots."""
    known = _found.get(id(cls))
    if (
        known is not None and known[0].value == known[1]
    ):  # (a class that takes the place of another one has another version)
        return known[2]
    plain = (
        attributes.plain_lookup(cls)
        and type(find(cls, "__dict__")) is GetSetDescriptorType
        and all(c is object or c.__flags__ & _HEAP_TYPE for c in cls.__mro__)
        and not attributes.has_slots(cls)
    )
    version = type_version(cls)
    if version:
        if len(_found) >= _MANY:
            _found.clear()
        _found[id(cls)] = version_word(cls), version, plain
    return plain


_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE


def _run_held_by(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, x, held = back
    shadow = shadows.items.get(id(held))
    if shadow:
        holder = shadows.holder_of(x)
        for name, c in shadow.items():
            if c is not None:
                add_part(shadows, holder, name, c)
        shadow.clear()


def _run_update(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, x, other, names = back
    if shadows.holders.get(id(x)) is None:
        return
    for name in reversed(names):
        c = shadows.take_attr(x, name)
        if c is not None:
            shadows.add_key(other, name, c)
