"""Arrays as sets of their elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..registry import implements

INDICES = {"return_indices": "look the elements up: np.searchsorted"}


@implements(np.union1d)
def union1d(ar1: Any, ar2: Any) -> Any:
    return np.unique(np.concatenate((ar1, ar2), axis=None))


@implements(np.intersect1d, instead=INDICES)
def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    first, second = np.asarray(ar1), np.asarray(ar2)
    if not assume_unique:
        first, second = np.unique(first), np.unique(second)
    both = np.sort(np.concatenate((first.ravel(), second.ravel())))
    return both[:-1][both[1:] == both[:-1]]


@implements(np.setxor1d)
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    first, second = np.asarray(ar1), np.asarray(ar2)
    if not assume_unique:
        first, second = np.unique(first), np.unique(second)
    both = np.sort(np.concatenate((first.ravel(), second.ravel())))
    apart = np.ones(both.size + 1, bool)
    apart[1:-1] = both[1:] != both[:-1]
    return both[apart[1:] & apart[:-1]] if both.size > 0 else both


@implements(np.setdiff1d)
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    first = np.ravel(ar1) if assume_unique else np.unique(ar1)
    return first[np.isin(first, ar2, assume_unique=True, invert=True)]
