"""NumPy's functions that reduce: sums and products, means and spreads, the largest element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import calls
from .calls import known
from .cotangents import Refused
from .numpy_ import as_operand, refuse, saved, taken
from .numpy_entries import arguments, foreign_call, functions_of, known_as, only, run_moved_list, run_zero


def _reduction(f: Any, slope: Any) -> Any:
    """`sum` and its relatives: `slope(y, x, axis)` broadcasts against `x`, with `y` as if dimensions were kept."""

    def handler(x: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        given = arguments(args, kwargs, "axis", "dtype", "out")
        if not only(given, "axis", "keepdims"):
            return foreign_call(f, (x, *args), kwargs)
        axis = given.pop("axis", None)
        kwargs = {k: v for k, v in given.items() if v is not None}
        x, made = as_operand(x)
        y = f(x, axis=axis, **kwargs)
        if not isinstance(x, np.ndarray):
            return y, (_run_same, x)
        if y.dtype.kind not in "fciu":
            return y, None
        kept = f(x, axis=axis, keepdims=True) if slope is not None else None
        back = (run_reduced, y, x, axis, slope, saved(x) if slope is not None else None, kept)
        return y, back if made is None else (run_moved_list, back, made)

    return handler


def _run_same(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, d


def run_reduced(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x, axis, slope, values, kept = back
    dy = taken(y, d, shadows)
    if dy is None:
        return None
    if type(dy) is Refused:
        return None, refuse(x, dy, shadows)
    if axis is not None:
        axes = axis if isinstance(axis, tuple) else (axis,)
        shape = [1 if k in {a % x.ndim for a in axes} else n for k, n in enumerate(x.shape)]
        dy = np.reshape(dy, shape)
    elif isinstance(dy, np.ndarray):
        dy = dy.reshape((1,) * x.ndim)
    if slope is not None:
        shadows.hush()
        s = slope(kept, values, axis)
        dy = dy * (np.conj(s) if np.iscomplexobj(s) else s)
    shadows.add_array(x, np.broadcast_to(dy, x.shape))
    return None


def _count(x: Any, axis: Any) -> int:
    if axis is None:
        return x.size
    return math.prod(x.shape[a] for a in (axis if isinstance(axis, tuple) else (axis,)))


def _first_of(y: Any, x: Any, axis: Any) -> Any:
    """One at the first element that is the extreme along the axis: it gets all, as in Python's `max`."""
    hit = (x == y) | ((x != x) & (y != y))
    if axis is None:
        first = np.zeros(x.shape)
        first.reshape(-1)[np.argmax(hit)] = 1.0
        return first
    if isinstance(axis, tuple):
        axes = tuple(a % x.ndim for a in axis)
        rest = tuple(k for k in range(x.ndim) if k not in axes)
        moved = np.transpose(hit, rest + axes)
        flat = moved.reshape((*moved.shape[: len(rest)], -1))
        first = np.zeros(flat.shape)
        np.put_along_axis(first, np.argmax(flat, -1)[..., None], 1.0, -1)
        return np.transpose(first.reshape(moved.shape), np.argsort(rest + axes))
    first = np.zeros(x.shape)
    np.put_along_axis(first, np.expand_dims(np.argmax(hit, axis), axis), 1.0, axis)
    return first


def _prod_slope(y: Any, x: Any, axis: Any) -> Any:
    """The product of the others; where there are zeros, of those before and those after, which has derivatives of all orders.
    (Products of integers may wrap: their derivatives are those by floats.)"""
    if x.dtype.kind not in "fc":
        x = x.astype(np.float64)
    elif np.all(x != 0):
        return y / x
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    order = [a % x.ndim for a in axes] + [k for k in range(x.ndim) if k not in {a % x.ndim for a in axes}]
    moved = np.transpose(x, order)
    rows = moved.reshape((-1, *moved.shape[len(axes) :]))
    before, after = np.ones_like(rows), np.ones_like(rows)
    before[1:] = np.cumprod(rows[:-1], 0)
    after[:-1] = np.cumprod(rows[:0:-1], 0)[::-1]
    return np.transpose((before * after).reshape(moved.shape), np.argsort(order))


def _mean_slope(y: Any, x: Any, axis: Any) -> Any:
    return 1.0 / (_count(x, axis) or 1)  # of nothing there is no mean, and nothing to give anything to


REDUCTIONS: dict[str, Any] = {
    "sum": None,
    "mean": _mean_slope,
    "prod": _prod_slope,
    "max": _first_of,
    "min": _first_of,
    "amax": _first_of,
    "amin": _first_of,
}
for _name, _slope in REDUCTIONS.items():
    for _f in functions_of(_name):
        if _f not in calls.KNOWN:
            known(_f)(_reduction(_f, _slope))


def _spread(f: Any, x: Any, axis: Any = None, ddof: int = 0, **kwargs: Any) -> tuple[Any, Any]:
    """`var` and `std`."""
    if kwargs and not only(kwargs, "keepdims") or type(ddof) is not int:  # (a derivative by ddof is refused)
        return foreign_call(f, (x,), {"axis": axis, "ddof": ddof, **kwargs})
    x, made = as_operand(x)
    y = f(x, axis=axis, ddof=ddof, **kwargs)
    if not isinstance(x, np.ndarray):
        return y, (run_zero, y, x)

    def slope(kept: Any, x: Any, axis: Any) -> Any:
        s = 2.0 * (x - x.mean(axis=axis, keepdims=True)) / (_count(x, axis) - ddof)
        s = s.conj() if s.dtype.kind == "c" else s  # (a back multiplies by the conjugate)
        return s if f is np.var else s / (2.0 * np.where(kept == 0, np.inf, kept))

    kept = f(x, axis=axis, ddof=ddof, keepdims=True)
    back = (run_reduced, y, x, axis, slope, saved(x), kept)
    return y, back if made is None else (run_moved_list, back, made)


known_as("var std", _spread)
