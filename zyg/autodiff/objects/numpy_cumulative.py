"""Sums and products of the elements so far, and differences of neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import calls
from .calls import known
from .cotangents import Refused
from .numpy_ import as_operand, elementwise, give, refuse, saved
from .numpy_entries import foreign_call, run_moved_list


@known(np.cumsum)
def _cumsum(x: Any, axis: Any = None, **kwargs: Any) -> tuple[Any, Any]:
    if kwargs:
        return foreign_call(np.cumsum, (x,), {"axis": axis, **kwargs})
    x, made = as_operand(x)
    y = np.cumsum(x, axis)
    back = (_run_cumsum, y, x, axis)
    return y, back if made is None else (run_moved_list, back, made)


def _run_cumsum(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x, axis = back
    dy = shadows.take_array(y)
    if dy is None or type(dy) is Refused:
        return None if dy is None else (None, refuse(x, dy, shadows))
    if axis is None:
        c = np.flip(np.cumsum(np.flip(dy.ravel()))).reshape(np.shape(x))
    else:
        c = np.flip(np.cumsum(np.flip(dy, axis), axis), axis)
    return None, give(x, c, shadows)


@known(np.cumprod)
def _cumprod(x: Any, axis: Any = None, **kwargs: Any) -> tuple[Any, Any]:
    if kwargs:
        return foreign_call(np.cumprod, (x,), {"axis": axis, **kwargs})
    x, made = as_operand(x)
    y = np.cumprod(x, axis)
    back = (_run_cumprod, y, x, saved(x), axis)
    return y, back if made is None else (run_moved_list, back, made)


def _run_cumprod(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """What follows an element is its factor in all later products: from the end, without division."""
    _, y, x, value, axis = back
    dy = shadows.take_array(y)
    if dy is None or type(dy) is Refused:
        return None if dy is None else (None, refuse(x, dy, shadows))
    factors = np.conj(value.ravel() if axis is None else np.moveaxis(value, axis, 0))
    dy = dy if axis is None else np.moveaxis(dy, axis, 0)
    before = np.ones_like(factors)
    before[1:] = np.cumprod(factors, 0)[:-1]
    c = dy.copy()
    for k in range(len(factors) - 2, -1, -1):
        c[k] += factors[k + 1] * c[k + 1]
    c *= before
    return None, give(x, c.reshape(np.shape(x)) if axis is None else np.moveaxis(c, 0, axis), shadows)


@known(np.diff)
def _diff(x: Any, n: int = 1, axis: int = -1) -> tuple[Any, Any]:
    y, made = as_operand(x)
    backs = []
    for _ in range(n):
        head, tail = _slices(y, axis)
        y, back = elementwise(np.subtract, y[head], y[tail])
        backs.append(back)
    return y, (_run_diff, backs, made)


def _slices(x: Any, axis: int) -> tuple[Any, Any]:
    before = [slice(None)] * x.ndim
    head, tail = list(before), list(before)
    head[axis], tail[axis] = slice(1, None), slice(None, -1)
    return tuple(head), tuple(tail)


def _run_diff(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    for inner in reversed(back[1]):
        calls.run(inner, None, shadows)
    return None if back[2] is None else (None, back[2][0](back[2], None, shadows))


# ---------------------------------------------------------------------------------------------- choices, constants
