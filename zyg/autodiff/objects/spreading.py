"""Calls `f(*args, **kwargs)`: their arguments come out of a sequence and a dict."""

from __future__ import annotations

import types
from collections.abc import Iterable
from types import FunctionType
from typing import Any

from zyg.ir.plainly import is_in_class

from . import adapters, reentry, unpacking
from .backs import run
from .calls import call
from .passing import hands_on, passes
from .shadows import add_all, add_keys


@passes(lambda variables: _around(variables["args"], variables["kwargs"]))
def record_spread(f: Any, args: tuple[Any, ...], kwargs: Any = None) -> tuple[Any, Any]:
    """RECORD of `f(*args, **kwargs)`."""
    if kwargs:
        check_names(kwargs)
    if type(args) is not tuple:
        return _spread_items(f, args, kwargs)
    forward = None
    if type(f) is FunctionType and type(kwargs) in (dict, types.NoneType):
        forward = adapters.adapter(f, len(args), tuple(kwargs) if kwargs else ())
    if forward is not None:
        y, back = forward(*args, *kwargs.values()) if kwargs else forward(*args)
    else:
        y, back = call(f, args, kwargs if kwargs is None else dict(kwargs))
    if back is None:
        return y, None
    return y, (run_spread, back, len(args), kwargs, tuple(kwargs)) if kwargs else (run_spread_plain, back, len(args))


def check_names(names: Iterable[Any]) -> None:
    """What CPython says of keywords that are not text, where it makes the dict of them."""
    if not _TEXT.issuperset(map(type, names)) and not all(isinstance(name, str) for name in names):
        raise TypeError("keywords must be strings")


_TEXT = frozenset({str})


def _around(args: Any, kwargs: Any) -> list[tuple[Any, ...]]:
    if type(args) is not tuple:
        return []
    return [(run_spread, len(args), kwargs, tuple(kwargs))] if kwargs else [(run_spread_plain, len(args))]


@passes(lambda variables: [(run_spread_list, variables["args"])] if type(variables["args"]) is list else [])
def _spread_items(f: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The same where the arguments come from a list or another iterable, which have no cotangent that flows."""
    if type(args) is list:
        items = tuple(args)
        y, back = record_spread(f, items, kwargs)
        return y, None if back is None else (run_spread_list, back, args)
    if not is_in_class(type(args), "__iter__") and not is_in_class(type(args), "__getitem__"):
        f(*args)  # CPython says what is wrong with it
    items, items_back = unpacking.with_rest(args, 0, 0, True)
    with reentry.undone((_run_taken, items_back)):
        y, back = record_spread(f, tuple(items), kwargs)
    return y, None if back is None and items_back is None else (run_spread_items, back, items, items_back)


def _run_taken(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """The call was left by an exception."""
    run(back[1], (None,), shadows)


@hands_on
def run_spread_plain(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The arguments' cotangents are a sequence's: there are no more of them, though a back may give some for what it was not
    given (the key of `max`)."""
    _, inner, count = back
    given = inner[0](inner, d, shadows) if type(inner) is tuple else run(inner, d, shadows)
    return None if given is None else (given[0], tuple(given[1 : 1 + count]), None)


@hands_on
def run_spread_list(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, items = back
    given = run(inner, d, shadows)
    if given is None:
        return None
    if given[1] is not None:
        add_all(shadows, items, 0, list(given[1]))
    return given[0], None, None


@hands_on
def run_spread_of_nothing(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = run(back[1], d, shadows)
    return None if given is None else (given[0], None, None)


@hands_on
def run_spread_items(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, items, items_back = back
    given = run(inner, d, shadows)
    if given is not None and given[1] is not None:
        for index, c in enumerate(given[1]):
            if c is not None:
                shadows.add_item(items, index, c)
    source = run(items_back, (None,), shadows)
    return None if given is None else (given[0], None if source is None else source[0], None)


@hands_on
def run_spread(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, count, kwargs, names = back
    given = run(inner, d, shadows)
    if given is None:
        return None
    add_keys(shadows, kwargs, names, given, 1 + count)
    return given[0], tuple(given[1 : 1 + count]), None


__all__ = ["record_spread", "run_spread", "run_spread_plain"]
