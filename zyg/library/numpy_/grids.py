"""Objects that make arrays of what stands in brackets: `np.r_`, `np.c_`, `np.s_`, `np.mgrid`, `np.ogrid`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend.values import Abstract, ComplexValue, Known, SliceValue, TupleValue

from ..registry import emits
from .common import call, result_dtype

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

NONE, ZERO, ONE = Known(None), Known(0), Known(1)


def _items(key: Abstract) -> tuple[Abstract, ...]:
    return key.items if isinstance(key, TupleValue) else (key,)


def _count(e: Evaluator, step: Abstract) -> int | None:
    """The number of points that an imaginary step like 5j asks for; None for a real one."""
    if not isinstance(step, ComplexValue):
        return None
    if not (isinstance(step.re, Known) and isinstance(step.im, Known)):
        raise e.refuse("a number of points in brackets that is not known when compiling", hint="use np.linspace")
    return int(abs(complex(step.re.object, step.im.object)))


def _given(v: Abstract, default: Abstract) -> Abstract:
    return default if isinstance(v, Known) and v.object is None else v


# -------------------------------------------------------------------------------------------------- np.r_, np.c_


@emits((type(np.r_), "__getitem__"))
def _rows(e: Evaluator, maker: Abstract, key: Abstract) -> Abstract:
    return _joined(e, maker, key)


@emits((type(np.c_), "__getitem__"))
def _columns(e: Evaluator, maker: Abstract, key: Abstract) -> Abstract:
    return _joined(e, maker, key)


def _joined(e: Evaluator, maker: Abstract, key: Abstract) -> Abstract:
    """What stands in brackets, joined; a string in front says along which axis, of how many, and where the axes of what has
    fewer are placed among them."""
    assert isinstance(maker, Known)
    axis, ndmin, place = maker.object.axis, maker.object.ndmin, maker.object.trans1d
    items = _items(key)
    first = items[0] if items else None
    if isinstance(first, Known) and isinstance(first.object, str):
        directive, items = first.object, items[1:]
        if directive in ("r", "c"):
            raise e.refuse(f"np.r_[{directive!r}, ...], which makes a matrix", hint="leave the string out")
        try:
            numbers = [int(n) for n in directive.split(",")]
        except ValueError:
            e.throw("ValueError", f"unknown special directive {directive!r}")
        axis, ndmin, place = (*numbers, *(axis, ndmin, place)[len(numbers) :])
    parts = TupleValue(tuple(_part(e, item) for item in items))
    return call(e, joined, parts, Known(axis), Known(ndmin), Known(place))


def _part(e: Evaluator, item: Abstract) -> Abstract:
    if not isinstance(item, SliceValue):
        return item
    start, step = _given(item.start, ZERO), _given(item.step, ONE)
    count = _count(e, step)
    if count is not None:
        return call(e, np.linspace, start, item.stop, Known(count))
    return call(e, np.arange, start, item.stop, step)


def joined(parts: Any, axis: int, ndmin: int, place: int) -> Any:
    dtype = result_dtype(*parts)
    return np.concatenate(tuple([with_axes(part, ndmin, place).astype(dtype) for part in parts]), axis)


def with_axes(part: Any, ndmin: int, place: int) -> Any:
    """An array with as many axes, its own from `place` on; a number is an array of one."""
    a = np.asarray(part)
    if np.ndim(part) == 0:
        return a.reshape((1,) * ndmin)
    new = ndmin - a.ndim
    if new <= 0:
        return a
    first = place if place >= 0 else place + new + 1
    return a[(None,) * first + (...,) + (None,) * (new - first)]


# ------------------------------------------------------------------------------------------------- np.mgrid, np.ogrid


@emits((type(np.mgrid), "__getitem__"))
def _dense(e: Evaluator, maker: Abstract, key: Abstract) -> Abstract:
    if not isinstance(key, TupleValue):
        return call(e, axis_points, *_bounds(e, key))
    return call(e, dense_grid, _points(e, key))


@emits((type(np.ogrid), "__getitem__"))
def _open(e: Evaluator, maker: Abstract, key: Abstract) -> Abstract:
    if not isinstance(key, TupleValue):
        return call(e, axis_points, *_bounds(e, key))
    return call(e, open_grid, _points(e, key))


def _points(e: Evaluator, key: TupleValue) -> Abstract:
    return TupleValue(tuple(call(e, axis_points, *_bounds(e, item)) for item in key.items))


def _bounds(e: Evaluator, item: Abstract) -> tuple[Abstract, ...]:
    """Start, stop, step, and the number of points if it is that which was given."""
    assert isinstance(item, SliceValue)
    step = _given(item.step, ONE)
    count = _count(e, step)
    return _given(item.start, ZERO), item.stop, step if count is None else NONE, Known(count)


def axis_points(start: Any, stop: Any, step: Any, count: Any) -> Any:
    if count is not None:
        gap = (stop - start) / float(count - 1) if count > 1 else stop - start
        return np.arange(count) * float(gap) + float(start)
    return np.arange(math.ceil((stop - start) / (step * 1.0))) * step + start


def dense_grid(points: Any) -> Any:
    shape = tuple([len(p) for p in points])
    result = np.empty((len(points), *shape), result_dtype(*points))
    for n, part in enumerate(open_grid(points)):
        result[n] = part
    return result


def open_grid(points: Any) -> Any:
    dtype = result_dtype(*points)
    n = len(points)
    return tuple([p.astype(dtype).reshape((1,) * k + (len(p),) + (1,) * (n - 1 - k)) for k, p in enumerate(points)])


# ------------------------------------------------------------------------------------------------------------- np.s_


@emits((type(np.s_), "__getitem__"))
def _key(e: Evaluator, maker: Abstract, key: Abstract) -> Abstract:
    assert isinstance(maker, Known)
    return TupleValue((key,)) if maker.object.maketuple and not isinstance(key, TupleValue) else key
