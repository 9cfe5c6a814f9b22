"""Short paths for arrays of floats: how the reverse pass runs them. (What takes them is in `numpy_operators`, `numpy_items`,
`numpy_short_elements`, `numpy_short_sums`, `numpy_short_moves`; which functions these are of is in `numpy_shortcuts`.)

Small arrays are mostly overhead: to find out what an operation on an array means takes ten times as long as NumPy takes for it. On a short
path types are looked at once, where the operation is run, and its back has a function for just this case. What is not exactly an
array of floats (or of what may stand beside one) is left to the general entries, where errors come from, too.

A back takes over the shadow of what the operation has made (`Shadows.take_made`), as nothing before the operation can know of it, and
gives arrays that nobody else has (`Shadows.gain`), which become shadows themselves. In the names of functions of this kind the last
arguments are what was kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .cotangents import Refused
from .numpy_ import refuse, unbroadcast
from .shadows import F64

ndarray = np.ndarray
Made = tuple[Any, Any] | None  # (value, back); None where the general entry has to do it
Short = Callable[..., Made]
REAL = frozenset({float, int, np.float64})
F32, BOOL = np.dtype(np.float32), np.dtype(bool)
FLOATS = frozenset({F64, F32})
BESIDE = frozenset({F64, F32, np.dtype(np.int64), BOOL})  # what may stand beside an array of floats
NUMBERS = frozenset({np.float64, np.float32})  # what elements are, and sums
isfinite = math.isfinite
_vdot = np.vdot


def of_floats(x: Any) -> bool:
    return type(x) is ndarray and (x.dtype is F64 or x.dtype is F32)


def is_size(x: Any) -> bool:
    return type(x) is int or (type(x) is tuple and _INTS.issuperset(map(type, x)))


_INTS = frozenset({int})


def strong(c: Any, dy: Any, slope: Any, choice: bool = False) -> Any:
    """A product of a cotangent and slopes that is not finite: nothing times an infinite slope is nothing, as is what was not chosen.
    (Elsewhere what happens to be 0 may have a derivative.)"""
    if choice:
        return np.where(np.equal(slope, 0), 0.0, c)
    return c if np.isfinite(slope).all() else np.where(np.equal(dy, 0) & np.isnan(c), 0.0, c)


def times(dy: Any, slope: Any, choice: bool = False) -> Any:
    c = dy * slope
    return c if isfinite(c.dot(c) if c.ndim == 1 else _vdot(c, c)) else strong(c, dy, slope, choice)


def over(dy: Any, b: Any) -> Any:
    c = dy / b
    return c if isfinite(c.dot(c) if c.ndim == 1 else _vdot(c, c)) else strong(c, dy, 1.0 / b)


def summed(dy: Any, slope: Any) -> float:
    """The cotangent of a number beside an array: the sum of the products."""
    c = float(_vdot(dy, slope))
    return c if isfinite(c) else float(np.sum(strong(dy * slope, dy, slope)))


def given(x: Any, c: Any, shadows: Any) -> Any:
    """Give an array `c` that nobody else has to an operand that may have been repeated to its shape: what flows, if that is a number."""
    if type(x) is ndarray:
        if x.dtype is not BOOL:
            shadows.gain(x, c if c.shape == x.shape else unbroadcast(c, x.shape))
        return None
    return float(c.sum())


# ------------------------------------------------------------------------------------------------ arrays made of arrays


def run_one(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Of one array: `cotangent(dy, p, q)`."""
    _, y, x, cotangent, p, q = back
    dy = shadows.take_made(y)
    if dy is not None:
        if type(dy) is Refused:
            refuse(x, dy, shadows)
        else:
            shadows.gain(x, cotangent(dy, p, q))
    return None


def run_two(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Of two, of the shape of the result or of shapes that the functions give by themselves: `cotangents(dy, y, a, b)`."""
    _, y, a, b, cotangents, vy, va, vb = back
    dy = shadows.take_made(y)
    if dy is not None:
        if type(dy) is Refused:
            refuse(a, dy, shadows)
            refuse(b, dy, shadows)
            return None
        da, db = cotangents(dy, vy, va, vb)
        shadows.gain(b, db)
        shadows.gain(a, da)
    return None


def run_two_spread(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Of two that were broadcast: `cotangents` of the shape of the result."""
    _, y, a, b, cotangents, vy, va, vb = back
    dy = shadows.take_made(y)
    if dy is not None:
        if type(dy) is Refused:
            refuse(a, dy, shadows)
            refuse(b, dy, shadows)
            return None
        da, db = cotangents(dy, vy, va, vb)
        shadows.gain(b, unbroadcast(db, b.shape))
        shadows.gain(a, unbroadcast(da, a.shape))
    return None


def run_left(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Of an array and a number."""
    _, y, x, s, alone, number, kept = back
    dy = shadows.take_made(y)
    if dy is None:
        return None
    if type(dy) is Refused:
        return refuse(x, dy, shadows), dy
    ds = number(dy, s, kept)
    shadows.gain(x, alone(dy, s, kept))
    return None, ds


def run_right(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Of a number and an array."""
    _, y, x, s, alone, number, kept = back
    dy = shadows.take_made(y)
    if dy is None:
        return None
    if type(dy) is Refused:
        refuse(x, dy, shadows)
        return dy, None
    ds = number(dy, s, kept)
    shadows.gain(x, alone(dy, s, kept))
    return ds, None


def run_operands(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Of a call with arrays and numbers, where `cotangents(dy, p, q)` gives a list of arrays of the shape of the result."""
    _, y, operands, cotangents, p, q = back
    dy = shadows.take_made(y)
    if dy is None:
        return None
    if type(dy) is Refused:
        return (None, *[refuse(x, dy, shadows) for x in operands])
    return (None, *[given(x, c, shadows) for x, c in zip(operands, cotangents(dy, p, q))])


# ---------------------------------------------------------------------------------------------- numbers made of arrays


def run_number_of_one(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Of one array: `cotangent(d, x, p)`."""
    _, x, cotangent, p = back
    if d is not None:
        if type(d) is Refused:
            refuse(x, d, shadows)
        else:
            shadows.gain(x, cotangent(d, x, p))
    return None


def run_number_of_two(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Of two: `cotangents(d, a, b)`."""
    _, a, b, cotangents, va, vb = back
    if d is not None:
        if type(d) is Refused:
            refuse(a, d, shadows)
            refuse(b, d, shadows)
        else:
            shadows.hush()
            da, db = cotangents(d, va, vb)
            shadows.gain(a, da)
            shadows.gain(b, db)
    return None
