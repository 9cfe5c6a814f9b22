"""Arrays as sets of their elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from zyg.frontend.functions import unchecked

from ..intrinsics import unsupported
from ..registry import implements
from .common import result_dtype
from .searching import places


@implements(np.union1d)
def union1d(ar1: Any, ar2: Any) -> Any:
    return np.unique(np.concatenate((ar1, ar2), axis=None))


@implements(np.intersect1d)
def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    first, second = np.ravel(ar1), np.ravel(ar2)
    if return_indices:
        if assume_unique:
            return common_with_places(first, second)
        (first, i), (second, j) = np.unique(first, return_index=True), np.unique(second, return_index=True)
        both, p, q = common_with_places(first, second)
        return both, i[p], j[q]
    if not assume_unique:
        first, second = np.unique(first), np.unique(second)
    both = np.sort(np.concatenate((first, second)))
    return both[:-1][both[1:] == both[:-1]]


def common_with_places(a: Any, b: Any) -> Any:
    """What two arrays, of elements that differ, have in common, and where in each it stands."""
    both = np.concatenate((a, b))
    order = np.argsort(both, kind="stable")
    both = both[order]
    equal = both[1:] == both[:-1]
    return both[:-1][equal], order[:-1][equal], order[1:][equal] - len(a)


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


UniqueCounts = type(np.unique_counts(np.zeros(1)))
UniqueInverse = type(np.unique_inverse(np.zeros(1)))
UniqueAll = type(np.unique_all(np.zeros(1)))


@implements(np.unique_values)
def unique_values(x: Any) -> Any:
    a = np.asarray(x)
    if a.dtype.kind != "f":
        unsupported("np.unique_values of what are no floats, which NumPy gives in an order of its own", "use np.unique")
    return np.unique(a, equal_nan=False)


@implements(np.unique_counts)
def unique_counts(x: Any) -> Any:
    values, counts = np.unique(x, return_counts=True, equal_nan=False)
    return UniqueCounts(values, counts)


@implements(np.unique_inverse)
def unique_inverse(x: Any) -> Any:
    values, inverse = np.unique(x, return_inverse=True, equal_nan=False)
    return UniqueInverse(values, inverse)


@implements(np.unique_all)
def unique_all(x: Any) -> Any:
    values, indices, inverse, counts = np.unique(x, True, True, True, equal_nan=False)
    return UniqueAll(values, indices, inverse, counts)


@implements(np.isin)
@unchecked
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Any:
    if kind is not None and kind != "sort" and kind != "table":
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    common = result_dtype(element, test_elements)
    if kind == "table" and common.kind not in "iub":
        raise ValueError(
            "The 'table' method is only supported for boolean or integer arrays. Please select 'sort' or None for kind."
        )
    a, others = np.asarray(element), np.sort(np.asarray(test_elements).ravel())
    # (A difference that does not fit wraps to a negative one.)
    if kind == "table" and others.dtype.kind == "i" and len(others) > 0 and others[-1] - others[0] < 0:
        raise RuntimeError(
            "You have specified kind='table', but the range of values in `ar2` or `ar1` exceed the maximum integer of the "
            "datatype. Please set `kind` to None or 'sort'."
        )
    flat = a.ravel()
    result = np.empty(len(flat), bool)
    found = places(others.astype(common), flat.astype(common), False)
    for i in range(len(flat)):
        k = found[i]
        result[i] = (k < len(others) and others[k] == flat[i]) != invert
    return result.reshape(a.shape)
