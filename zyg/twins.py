"""Copies of arguments for code that runs on them instead: it cannot tell their arrays from the original ones by how they lie.

`ravel` is a view of some arrays and a copy of others, and so is `reshape`: what is written into it depends on that.  What compiled
code makes of its arguments is in autodiff/helpers.py (empty_like).
"""

from __future__ import annotations

import copy
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def twins(value: T) -> T:
    """A deep copy."""
    memo: dict[int, Any] = {}
    _find(value, memo, set())
    return copy.deepcopy(value, memo)


def twins_of_call(function: T, args: tuple[Any, ...]) -> tuple[T, tuple[Any, ...]]:
    """A function and copies of its arguments: what it has captured of these is the copy, too."""
    memo: dict[int, Any] = {}
    _find(args, memo, set())
    copies = copy.deepcopy(args, memo)
    memo.pop(id(memo), None)  # (what deepcopy keeps alive)
    return _with_twins(function, memo), copies


def _with_twins(function: Any, memo: dict[int, Any], depth: int = 0) -> Any:
    """A function with the twins of what it has captured, where these are known; itself, where it has captured none of it."""
    if isinstance(function, MethodType):
        return MethodType(function.__func__, memo[id(function.__self__)]) if id(function.__self__) in memo else function
    if not isinstance(function, FunctionType) or depth > 4:
        return memo.get(id(function), function)
    cells = []
    for cell in function.__closure__ or ():
        try:
            held = cell.cell_contents
        except ValueError:
            pass
        else:
            if isinstance(held, (FunctionType, MethodType)):
                own = _with_twins(held, memo, depth + 1)
            else:
                own = copy.deepcopy(held, memo) if _reaches(held, memo, set()) else held
            cell = cell if own is held else CellType(own)
        cells.append(cell)
    if all(own is cell for own, cell in zip(cells, function.__closure__ or ())):
        return function
    made = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, tuple(cells))
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    return made


def _reaches(value: Any, memo: dict[int, Any], seen: set[int]) -> bool:
    """Whether there are twins of something mutable in a structure."""
    if isinstance(value, (int, float, complex, str, bytes, type(None), ModuleType, type)) or id(value) in seen:
        return False
    seen.add(id(value))
    if id(value) in memo and memo[id(value)] is not value:
        return True
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    if not callable(value):
        parts = (*parts, *getattr(value, "__dict__", {}).values())
    return any(_reaches(part, memo, seen) for part in parts)


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
