"""The arguments of NumPy's functions as entries take them, whose parameters are fewer, or stand in another order."""

from __future__ import annotations

import functools
import inspect
import sys
from typing import Any

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def fitting(f: Any, handler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments | None:
    """The same arguments in the same order, as an entry takes them; None where it does not."""
    limit, names = by_position(f, handler), _keywords(handler)
    if len(args) > limit:
        beyond = list(inspect.signature(f).parameters)[limit : len(args)]
        if len(beyond) < len(args) - limit:
            return None
        args, kwargs = args[:limit], dict(zip(beyond, args[limit:])) | kwargs
    elif kwargs and (not args or not (names is None or names.issuperset(kwargs))):
        args, kwargs = _placed(f, args, kwargs, limit)
    return (args, kwargs) if names is None or names.issuperset(kwargs) else None


_limits: dict[Any, int] = {}


def by_position(f: Any, handler: Any) -> int:
    """How many arguments by position mean the same to an entry as to NumPy's function, which may have others in between."""
    limit = _limits.get(f)
    if limit is None:
        limit = _limits[f] = _limit(f, handler)
    return limit


def _limit(f: Any, handler: Any) -> int:
    try:
        theirs = list(inspect.signature(f).parameters)
    except ValueError:  # C code that does not say it
        return sys.maxsize
    own = _parameters(handler)
    if any(p.kind is p.VAR_POSITIONAL for p in own):
        return sys.maxsize
    count = 0
    for p in own:
        another = p.name in theirs and theirs.index(p.name) != count
        if another or p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            break
        count += 1
    return count


def _placed(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], limit: int) -> Arguments:
    """As many arguments by position as NumPy's names allow, where an entry has other names."""
    try:
        parameters = list(inspect.signature(f).parameters.values())[len(args) : limit]
    except ValueError:
        return args, kwargs
    placed = 0
    for name, p in zip(kwargs, parameters):
        if p.kind is not p.POSITIONAL_OR_KEYWORD or p.name != name:
            break
        placed += 1
    given = list(kwargs.items())
    return (*args, *(x for _, x in given[:placed])), dict(given[placed:])


@functools.cache
def _keywords(handler: Any) -> frozenset[str] | None:
    """The keyword arguments that an entry knows, None for any."""
    parameters = _parameters(handler)
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return frozenset(p.name for p in parameters if p.kind is not p.POSITIONAL_ONLY)


def _parameters(handler: Any) -> Any:
    from . import calls

    if isinstance(handler, functools.partial) and handler.func is calls.run_known:
        handler = handler.args[0]
    return inspect.signature(handler).parameters.values()
