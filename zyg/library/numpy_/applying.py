"""Functions of the user's that are applied to elements or lines: np.vectorize, np.apply_along_axis, np.apply_over_axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend.values import Abstract, Known, MethodValue, known

from ..intrinsics import unsupported
from ..registry import emits, implements
from .common import axis_index, is_sequence, product
from .ordering import relaid_as

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

NONE, FALSE = Known(None), Known(False)


@emits(np.vectorize)
def vectorize(e: Evaluator, pyfunc: Abstract, otypes: Abstract = NONE) -> Abstract:
    if isinstance(otypes, Known) and otypes.object is None:
        return MethodValue(over_elements, pyfunc)
    raise e.refuse("np.vectorize(otypes=...) in native code", hint="convert the result: .astype(...)")


@emits((np.vectorize, "__call__"))
def _call_vectorized(e: Evaluator, v: Abstract, *args: Abstract) -> Abstract:
    """Of an object made outside of compiled code."""
    assert isinstance(v, Known)
    plain = np.vectorize(v.object.pyfunc)
    for name in ("otypes", "signature", "excluded", "cache"):
        if getattr(v.object, name) != getattr(plain, name):
            raise e.refuse(f"a call of np.vectorize(..., {name}=...) in native code", hint=f"leave {name} out")
    return e.call(known(over_elements), [known(v.object.pyfunc), *args])


def over_elements(function: Any, *args: Any, **kwargs: Any) -> Any:
    """What the function gives for each element of the arguments broadcast together, as a Python number; the type is that of the
    first, for which NumPy calls it once more, with its own number."""
    if kwargs:
        unsupported("a call of what np.vectorize has made with arguments by keyword", "pass them by position")
    arrays = np.broadcast_arrays(*args)
    shape = arrays[0].shape
    flat = tuple([a.ravel() for a in arrays])
    count = flat[0].size
    if count == 0:
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    first = function(*tuple([a[0] for a in flat]))
    if is_sequence(first):
        unsupported("np.vectorize of a function with several results", "make a function of each")
    result = np.empty(count, np.asarray(first).dtype)
    for i in range(count):
        result[i] = function(*tuple([a[i].item() for a in flat]))
    return relaid_as(result.reshape(shape), args) if shape else np.asarray(result[0])


@implements(np.apply_along_axis, lists=("args", "kwargs"))
def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    a = np.asarray(arr)
    axis = axis_index(axis, a.ndim)
    moved = np.moveaxis(a, axis, -1)
    outer = moved.shape[:-1]
    count = product(outer)
    if count == 0:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    rows = moved.reshape((count, moved.shape[-1]))
    result: Any = None
    for i in range(count):
        y = np.asarray(func1d(rows[i], *args, **kwargs))
        if result is None:
            result = np.empty((count, *y.shape), y.dtype)
        result[i] = y
    inner = result.shape[1:]
    whole = result.reshape((*outer, *inner))
    before = tuple(range(len(outer), len(outer) + len(inner)))
    return np.moveaxis(whole, before, tuple(range(axis, axis + len(inner))))


@implements(np.apply_over_axes)
def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    value = np.asarray(a)
    for axis in axes if is_sequence(axes) else (axes,):
        axis = axis if axis >= 0 else axis + np.ndim(a)
        found = np.asarray(func(value, axis))
        if found.ndim < value.ndim:
            found = np.expand_dims(found, axis)
        if found.ndim != value.ndim:
            raise ValueError("function is not returning an array of the correct shape")
        value = found
    return value
