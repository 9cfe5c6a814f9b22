"""Arrays taken apart: lists of views."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..intrinsics import unsupported
from ..registry import implements
from .common import axis_index, constant, is_sequence
from .joining import along


def cuts(length: int, sections: Any) -> Any:
    """Where the parts of an axis begin and end."""
    if is_sequence(sections):
        return (0, *tuple(sections), length)
    sections = constant(sections, "a number of sections")
    if sections <= 0:
        raise ValueError("number sections must be larger than 0.")
    each, extra = length // sections, length % sections
    return tuple([k * each + min(k, extra) for k in tuple(range(sections + 1))])


@implements(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    a = np.asarray(ary)
    axis = axis_index(axis, a.ndim)
    if isinstance(indices_or_sections, np.ndarray):
        return _at_places(a, indices_or_sections, axis)
    at = cuts(a.shape[axis], indices_or_sections)
    return [a[along(axis, slice(at[k], at[k + 1]))] for k in tuple(range(len(at) - 1))]


def _at_places(a: Any, places: Any, axis: int) -> Any:
    """As many parts as are found out when the code runs."""
    if places.ndim != 1:
        unsupported("np.split at places that are not in an array of one dimension", "pass them in one: places.ravel()")
    if places.dtype.kind not in "iu":
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    parts = []
    begin = 0
    for place in places:
        end = int(place)
        parts.append(a[along(axis, slice(begin, end))])
        begin = end
    parts.append(a[along(axis, slice(begin, a.shape[axis]))])
    return parts


@implements(np.split, lists=("ary",))
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    a = np.asarray(ary)
    in_parts = not is_sequence(indices_or_sections) and not isinstance(indices_or_sections, np.ndarray)
    if in_parts and isinstance(ary, (list, tuple, range)):
        raise AttributeError(f"'{type(ary).__name__}' object has no attribute 'shape'")
    axis = axis_index(axis, a.ndim)
    if in_parts:
        if indices_or_sections != 0 and a.shape[axis] % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
        if indices_or_sections == 0:
            raise ZeroDivisionError("integer modulo by zero")
    return np.array_split(a, indices_or_sections, axis)


@implements(np.hsplit, lists=("ary",))
def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    if np.ndim(ary) == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    if isinstance(ary, (list, tuple, range)):
        raise AttributeError(f"'{type(ary).__name__}' object has no attribute 'ndim'")
    return np.split(ary, indices_or_sections, 1 if np.ndim(ary) > 1 else 0)


@implements(np.vsplit, lists=("ary",))
def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    if np.ndim(ary) < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return np.split(ary, indices_or_sections, 0)


@implements(np.dsplit, lists=("ary",))
def dsplit(ary: Any, indices_or_sections: Any) -> Any:
    if np.ndim(ary) < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return np.split(ary, indices_or_sections, 2)
