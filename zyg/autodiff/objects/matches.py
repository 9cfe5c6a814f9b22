"""Compiled patterns, and their matches, text that is kept as a file is, and formats of binary data: what they give is text, and places in it, or
what is read from bytes, which carries no derivative; they call no code.
(But for the text itself, `match.string`, which is the object that was searched, and functions that substitutes are asked of.)"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Callable
from typing import Any

from zyg.ir.plainly import get_plainly

from .cotangents import INERT

OF_TEXT = frozenset({re.Pattern, re.Match, io.StringIO, struct.Struct})
_WITH_COUNTS = INERT | {int}
_WRITTEN = _WITH_COUNTS | {float, bytearray}  # numbers are written down
_UNPACKED = type(struct.iter_unpack("b", b""))
_ITERATORS = type(re.finditer("", ""))  # which `iter(f, sentinel)` gives, too


def _searching(iterator: Any) -> Any:
    """What the steps of such an iterator are a method of; nothing once it is over."""
    return get_plainly(iterator.__reduce__()[1][0], "__self__")


_SCANNERS = type(_searching(re.finditer("", "")))


def method(cls: type, name: str, otherwise: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    """A method of such an object, as a function of it; `otherwise`: for other arguments."""
    find: Callable[..., Any] = getattr(cls, name)
    plain = INERT if name in ("groups", "groupdict") else _WITH_COUNTS  # these give their argument back
    if cls is struct.Struct:
        plain = _WRITTEN

    def call(owner: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        if kwargs or not plain.issuperset(map(type, args)):
            return otherwise(owner, *args, **kwargs)
        return told(find, owner, *args), None

    return call


def call_on_bytes(find: Callable[..., Any], otherwise: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """The same of a function of the module `struct`, which does what a method of `struct.Struct` does."""
    if kwargs or not _WRITTEN.issuperset(map(type, args)):
        return otherwise(find, *args, **kwargs)
    return told(find, *args), None


def told(find: Callable[..., Any], *args: Any) -> Any:
    """What is a constant in second derivatives, too (`texts`)."""
    return find(*args)


def are_matches(x: Any) -> bool:
    """Whether an iterator is what `finditer` gives, or `struct.iter_unpack`.

    >>> are_matches(re.finditer("a", "aa")), are_matches(iter(lambda: 1, 1)), are_matches(iter("aa"))
    (True, False, False)
    """
    return type(x) is _UNPACKED or type(x) is _ITERATORS and type(_searching(x)) is _SCANNERS


__all__ = ["OF_TEXT", "are_matches", "call_on_bytes", "method", "told"]
