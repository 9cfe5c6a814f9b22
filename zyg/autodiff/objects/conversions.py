"""Numbers that are made of what is none, by its `__float__` (an array without dimensions, a Fraction, an object of a class with that
method), where functions and arrays of numbers take it."""

from __future__ import annotations

import array
from typing import Any

import numpy as np

from . import calls, draining
from .cotangents import is_number


def is_convertible(x: Any) -> bool:
    return any(hasattr(type(x), name) for name in ("__float__", "__index__", "__complex__"))


def number_of(x: Any, back: Any) -> tuple[Any, Any]:
    """The number that an item is, or that is made of it."""
    if is_number(x) or not is_convertible(x):
        return x, back
    y, made = calls.KNOWN[float](x)
    return y, (_run_number_of, back, made)


def _run_number_of(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    calls.run(back[1], _given(back[2], d, shadows), shadows)


def _given(made: Any, d: Any, shadows: Any) -> Any:
    """What comes to that of which a number was made."""
    given = calls.run(made, d, shadows)
    return None if given is None else given[1]


def drained(iterable: Any) -> tuple[list[Any], tuple[Any, ...]]:
    """`draining.drained`, for what takes numbers."""
    items, drain = draining.drained(iterable)
    if not any(map(_is_other, items)):
        return items, drain
    numbers: list[Any] = []
    backs: list[Any] = []
    made = _give_made, drain, backs, len(items)
    with draining.undone(made):
        for x in items:
            number, back = calls.KNOWN[float](x) if _is_other(x) else (x, _ITSELF)
            backs.append(back)
            numbers.append(number)
    return numbers, made


_ITSELF = object()


def _is_other(x: Any) -> bool:
    return type(x) is not float and not is_number(x) and is_convertible(x)


def _give_made(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> Any:
    _, inner, backs, count = drain
    given: list[Any] = [None] * count
    for k in range(len(backs) - 1, -1, -1):  # (an exception may have come before the last one)
        d = None if ds is None else ds[k]
        given[k] = d if backs[k] is _ITSELF else _given(backs[k], d, shadows)
    return draining.give(inner, given, shadows)


def is_stored_as_number(x: Any, value: Any) -> bool:
    """Whether an array of numbers makes a number of a value that is put into it, and the value is none."""
    if type(value) is float or not _is_other(value):
        return False
    if isinstance(x, array.array):
        return x.typecode in "fd"
    return isinstance(x, np.ndarray) and x.dtype.kind == "f" and not isinstance(value, (np.ndarray, list, tuple))


def stored(put: Any, x: Any, value: Any) -> Any:
    """The back of `put(x, number)`, whose last cotangent is that of the number."""
    number, made = calls.KNOWN[float](value)
    return _run_stored, put(x, number), made


def _run_stored(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], None, shadows)
    c = _given(back[2], None if given is None else given[-1], shadows)
    return None, None, c
