"""Copies of arguments for code that runs on them instead: it cannot tell their arrays from the original ones by how they lie.

`ravel` is a view of some arrays and a copy of others, and so is `reshape`: what is written into it depends on that.  What compiled
code makes of its arguments is in autodiff/helpers.py (empty_like).
"""

from __future__ import annotations

import copy
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def twins(value: T) -> T:
    """A deep copy."""
    memo: dict[int, Any] = {}
    _find(value, memo, set())
    return copy.deepcopy(value, memo)


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
