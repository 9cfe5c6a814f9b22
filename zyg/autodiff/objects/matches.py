"""Compiled patterns, and their matches, and text that is kept as a file is: what they give is text, and places in it, which carries no
derivative; they call no code.
(But for the text itself, `match.string`, which is the object that was searched, and functions that substitutes are asked of.)"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

from .cotangents import INERT

OF_TEXT = frozenset({re.Pattern, re.Match, io.StringIO})
_WITH_COUNTS = INERT | {int}
_ITERATORS = type(re.finditer("", ""))  # which `iter(f, sentinel)` gives, too


def _searching(iterator: Any) -> Any:
    """What the steps of such an iterator are a method of; nothing once it is over."""
    return getattr(iterator.__reduce__()[1][0], "__self__", None)


_SCANNERS = type(_searching(re.finditer("", "")))


def method(cls: type, name: str, otherwise: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    """A method of such an object, as a function of it; `otherwise`: for other arguments."""
    find: Callable[..., Any] = getattr(cls, name)
    plain = INERT if name in ("groups", "groupdict") else _WITH_COUNTS  # these give their argument back

    def call(owner: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        if kwargs or not plain.issuperset(map(type, args)):
            return otherwise(owner, *args, **kwargs)
        return find(owner, *args), None

    return call


def are_matches(x: Any) -> bool:
    """Whether an iterator is what `finditer` gives.

    >>> are_matches(re.finditer("a", "aa")), are_matches(iter(lambda: 1, 1)), are_matches(iter("aa"))
    (True, False, False)
    """
    return type(x) is _ITERATORS and type(_searching(x)) is _SCANNERS


__all__ = ["OF_TEXT", "are_matches", "method"]
