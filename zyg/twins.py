"""Copies of arguments for code that runs on them instead: it cannot tell their arrays from the original ones by how they lie.

`ravel` is a view of some arrays and a copy of others, and so is `reshape`: what is written into it depends on that.  What compiled
code makes of its arguments is in autodiff/helpers.py (empty_like).
"""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def twins(value: T) -> T:
    """A deep copy."""
    memo: dict[int, Any] = {}
    _find(value, memo, set())
    return copy.deepcopy(value, memo)


def holds_of(function: Any, args: tuple[Any, ...]) -> bool:
    """Whether a function has something mutable of these arguments besides: captured, as a default, as what a method is bound to, in an
    object that is called."""
    fixed = (tuple, frozenset, FunctionType, MethodType)
    mutable = {id(x) for x in _all_of(args) if not isinstance(x, fixed)}
    return bool(mutable) and any(id(x) in mutable for x in _all_of(function))


def _all_of(value: Any) -> Iterator[Any]:
    """A value and what it holds, but for what nobody can change and holds nothing; each once."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        x = waiting.pop()
        if not isinstance(x, _CONSTANT) and id(x) not in seen:
            seen.add(id(x))
            yield x
            waiting.extend(_parts(x))


_CONSTANT = (int, float, complex, str, bytes, type(None), ModuleType, type)


def _parts(value: Any) -> Iterator[Any]:
    """What a value holds of containers, objects and functions."""
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from value
    elif isinstance(value, FunctionType):
        yield from ((value.__defaults__ or ()), (value.__kwdefaults__ or {}))
        for cell in value.__closure__ or ():
            with contextlib.suppress(ValueError):  # nothing is in it yet
                yield cell.cell_contents
    elif isinstance(value, MethodType):
        yield from (value.__self__, value.__func__)
    elif isinstance(value, functools.partial):
        yield from (value.func, value.args, value.keywords)
    yield from getattr(value, "__dict__", {}).values()
    for cls in type(value).__mro__:
        names = vars(cls).get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            private = name.startswith("__") and not name.endswith("__")
            yield getattr(value, f"_{cls.__name__.lstrip('_')}{name}" if private else name, None)


def _find(value: Any, memo: dict[int, Any], seen: set[int]) -> None:
    """The twins of the arrays in a structure, by identity."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if type(value) is np.ndarray:
        if not value.dtype.hasobject:
            memo[id(value)] = twin(value)
        return
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    if not callable(value) and not isinstance(value, ModuleType):
        parts = (*parts, *getattr(value, "__dict__", {}).values())
    for part in parts:
        _find(part, memo, seen)


def twin(a: np.ndarray) -> np.ndarray:
    """A copy that is contiguous where `a` is, with its axes in the same order, and seen in another shape where `a` can be. Elements that
    share memory there do not here."""
    if a.flags.c_contiguous or a.size == 0:
        return np.copy(a, "C")
    steps = [abs(step) for step in a.strides]
    many = [k for k in range(a.ndim) if a.shape[k] > 1]
    strides = list(a.strides)
    step = a.itemsize if any(steps[k] == a.itemsize for k in many) else 2 * a.itemsize
    for k in sorted(many, key=lambda k: (steps[k] == 0, steps[k], -k)):
        strides[k] = -step if a.strides[k] < 0 else step
        goes_on = any(steps[other] == steps[k] * a.shape[k] for other in many if other != k)
        step *= a.shape[k] if goes_on else a.shape[k] + 1
    first = sum(-strides[k] * (a.shape[k] - 1) for k in many if strides[k] < 0)
    made = np.ndarray(a.shape, a.dtype, np.empty(step // a.itemsize, a.dtype), first, strides)
    made[...] = a
    return made
