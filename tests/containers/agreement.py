"""Checks a function of structured arguments: value, exception and what became of the arguments as in CPython, gradients
against central differences. Native code only: the tests make a fallback an error."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import zyg

from ..oracles.differences import derivative

FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)


def parts(value: Any) -> Iterator[tuple[Any, Any]]:
    """What a container or object holds, by key, index or attribute."""
    if isinstance(value, (tuple, list)):
        yield from enumerate(value)
    elif isinstance(value, dict):
        yield from value.items()
    elif not isinstance(value, FUNCTIONS):
        for cls in reversed(type(value).__mro__):
            for name in getattr(cls, "__slots__", ()):
                yield name, getattr(value, name)
        yield from getattr(value, "__dict__", {}).items()


def outline(value: Any, seen: list[Any] | None = None) -> Any:
    """A description that is equal for equal values of the same structure and sharing."""
    seen = [] if seen is None else seen
    if value is None or isinstance(value, (bool, int, float, str, type, *FUNCTIONS)):
        return type(value).__name__, value
    if isinstance(value, np.ndarray):
        return "array", value.tolist()
    if not isinstance(value, tuple):
        for number, other in enumerate(seen):
            if other is value:
                return "again", number
        seen.append(value)
    return type(value).__name__, [(name, outline(part, seen)) for name, part in parts(value)]


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    try:
        result = function(*args)
    except zyg.ZygError:
        raise
    except Exception as error:
        return "raised", type(error), str(error), outline(args) if not isinstance(error, TypeError) else None
    return "value", outline((result, args))


def floats(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], float]]:
    if isinstance(value, float):
        yield path, value
    for name, part in parts(value) if not isinstance(value, (str, bool, int, float)) else ():
        yield from floats(part, (*path, name))


def replaced(value: Any, path: tuple[Any, ...], x: float) -> Any:
    """A copy with the float at `path` replaced."""
    if not path:
        return x
    made = copy.deepcopy(value) if not isinstance(value, FUNCTIONS) else value
    name, rest = path[0], path[1:]
    part = replaced(dict(parts(value))[name], rest, x)
    if isinstance(made, tuple):
        items = [*made[:name], part, *made[name + 1 :]]
        return type(made)(*items) if hasattr(made, "_fields") else tuple(items)
    if isinstance(made, (list, dict)):
        made[name] = part
    else:
        object.__setattr__(made, name, part)
    return made


def entry(gradient: Any, path: tuple[Any, ...]) -> float:
    for name in path:
        if gradient is None:
            return 0.0
        gradient = (
            getattr(gradient, name) if isinstance(name, str) and not isinstance(gradient, dict) else gradient[name]
        )
    return 0.0 if gradient is None else gradient


def agree(function: Callable[..., Any], *args: Any, gradient: bool = True) -> None:
    compiled = zyg.jit(function, vectormath=False)
    for _ in range(2):  # the second call takes the native entry
        assert outcome(compiled, copy.deepcopy(args)) == outcome(function, copy.deepcopy(args))
    if not gradient:
        return
    found = zyg.gradient(function, *copy.deepcopy(args))
    for path, x in floats(args):
        at = lambda x: float(function(*replaced(copy.deepcopy(args), path, x)))  # noqa: B023
        expected, actual = derivative(at, x, 1e-3), entry(found, path)
        assert abs(expected - actual) <= 1e-6 * (1 + abs(expected)), (path, expected, found)
