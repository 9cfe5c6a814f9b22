"""Which attributes the sub-patterns of a class pattern are for, as CPython has it (Python/ceval.c), with its errors."""

from __future__ import annotations

from typing import Any

ABSENT = object()  # in the place of a `__match_args__` that there is not
_MATCHES_SELF = 1 << 22  # Py_TPFLAGS_MATCH_SELF: the first sub-pattern is for the subject itself


def places(cls: Any, found: Any, count: int) -> tuple[bool, tuple[Any, ...]]:
    """Whether the first of `count` sub-patterns by position is for the subject itself, and what the class has for names of attributes
    of the others; `found`: its `__match_args__`. A TypeError for what is no tuple, or too short.

    >>> class Point:
    ...     __match_args__ = "x", "y"
    >>> places(Point, Point.__match_args__, 1), places(dict, ABSENT, 1)
    ((False, ('x',)), (True, ()))
    """
    itself = found is ABSENT and cls.__flags__ & _MATCHES_SELF != 0
    names = () if found is ABSENT else found
    if type(names) is not tuple:
        raise TypeError(f"{cls.__name__}.__match_args__ must be a tuple (got {type(names).__name__})")
    allowed = 1 if itself else len(names)
    if allowed < count:
        plural = "" if allowed == 1 else "s"
        raise TypeError(f"{cls.__name__}() accepts {allowed} positional sub-pattern{plural} ({count} given)")
    return itself, names[:count]


def check_place(name: Any) -> None:
    """A TypeError for what is no name of an attribute, in the turn of its sub-pattern.

    >>> check_place("x")
    """
    if type(name) is not str:
        raise TypeError(f"__match_args__ elements must be strings (got {type(name).__name__})")


def check_name(cls: Any, name: str, before: Any) -> None:
    """A TypeError for an attribute that one of the sub-patterns before is for.

    >>> check_name(dict, "x", ("y",))
    """
    if name in before:
        raise TypeError(f"{cls.__name__}() got multiple sub-patterns for attribute {name!r}")


__all__ = ["ABSENT", "check_name", "check_place", "places"]
