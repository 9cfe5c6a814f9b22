"""Positions: where things are (np.nonzero and its relatives), flat positions and those along each axis, modes out of range."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays, indexing, lists
from zyg.frontend.functions import unchecked
from zyg.frontend.scalars import scalar_value
from zyg.frontend.selection import flat, reshaped
from zyg.frontend.values import Abstract, Known, Number, TupleValue
from zyg.ir.core import Value, const
from zyg.ir.types import BOOL, I64

from ..registry import emits, implements
from . import gathering
from .common import call
from .views import as_array

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

C_ORDER = Known("C")
MODES = ("raise", "wrap", "clip")


def positions_of(e: Evaluator, indices: Abstract) -> Abstract:
    """Indices as an array of integers; an empty list is one too, and bools are 0 and 1."""
    items = lists.known_items(e, indices)
    if items is not None and not items:
        return arrays.allocate(e, [const(0)], I64, "empty")
    a = as_array(e, indices)
    scalar = arrays.element_type(a)
    if scalar is BOOL:
        from .methods import astype

        return astype(e, a, Known(np.dtype(np.int64)))
    if scalar.kind not in "iu":
        dtype = arrays.numpy_dtype(scalar)
        e.type_error(f"Cannot cast array data from dtype('{dtype}') to dtype('int64') according to the rule 'safe'")
    return a


def shaped_like(e: Evaluator, given: Abstract, found: Abstract, shape: list[Any]) -> Abstract:
    """Positions along one axis in the shape that they were given in."""
    if not shape:
        return indexing.load(e, found, [const(0)])
    return found if len(shape) == 1 else reshaped(e, found, shape)


def mode_of(e: Evaluator, mode: Abstract) -> str:
    given = arrays.constant(e, mode, "a mode")
    if given not in MODES:
        e.throw("ValueError", f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {given!r})")
    assert isinstance(given, str)
    return given


@unchecked
def wrapped(flat: Any, length: int) -> Any:
    result = np.empty(len(flat), np.int64)
    for n in range(len(flat)):
        result[n] = int(flat[n]) % length
    return result


@unchecked
def clipped(flat: Any, length: int) -> Any:
    result = np.empty(len(flat), np.int64)
    for n in range(len(flat)):
        i = int(flat[n])
        result[n] = 0 if i < 0 else length - 1 if i >= length else i
    return result


# --------------------------------------------------------------------------------------------------- where things are


@emits(np.nonzero, (np.ndarray, "nonzero"))
def nonzero(e: Evaluator, a: Abstract) -> Abstract:
    a = as_array(e, a)
    if arrays.ndim(a) == 0:
        message = "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead."
        e.throw("ValueError", message)
    found = call(e, gathering.flat_nonzero, flat(e, a))
    if arrays.ndim(a) == 1:
        return TupleValue((found,))
    found = call(e, gathering.unravelled, found, TupleValue(tuple(map(Number, arrays.dims(e, a)))))
    return TupleValue(tuple(_side_by_side(e, found)))


def _side_by_side(e: Evaluator, vectors: Abstract, shape: list[Value] | None = None) -> list[Abstract]:
    """Vectors, in another shape perhaps; as the indices that NumPy gives, those of one element lie next to each other."""
    table = call(e, columns, vectors)
    length, count = arrays.dims(e, table)
    axes = [length] if shape is None else shape
    whole = reshaped(e, table, [*axes, count])
    items = lists.known_items(e, vectors)
    assert items is not None
    return [arrays.seen(e, whole, ":" * len(axes) + "i", const(k)) for k in range(len(items))]


def columns(vectors: Any) -> Any:
    """Vectors of one length as the columns of a matrix."""
    table = np.empty((len(vectors[0]), len(vectors)), np.int64)
    for k, v in enumerate(vectors):
        table[:, k] = v
    return table


@emits(np.flatnonzero)
def flatnonzero(e: Evaluator, a: Abstract) -> Abstract:
    return call(e, gathering.flat_nonzero, flat(e, as_array(e, a)))


@implements(np.argwhere)
def argwhere(a: Any) -> Any:
    if np.ndim(a) == 0:
        return np.empty((int(bool(a)), 0), np.int64)
    return np.array(np.nonzero(a)).T


@emits(np.ix_)
def ix_(e: Evaluator, *args: Abstract) -> Abstract:
    result = []
    for k, v in enumerate(args):
        items = lists.known_items(e, v)
        a = arrays.allocate(e, [const(0)], I64, "empty") if items is not None and not items else as_array(e, v)
        if arrays.ndim(a) != 1:
            e.throw("ValueError", "Cross index must be 1 dimensional")
        if arrays.element_type(a) is BOOL:
            a = call(e, gathering.flat_nonzero, a)
        result.append(arrays.seen(e, a, "n" * k + ":" + "n" * (len(args) - k - 1)))
    return TupleValue(tuple(result))


# ------------------------------------------------------------------------------------------ flat, and along each axis


@emits(np.unravel_index)
def unravel_index(e: Evaluator, indices: Abstract, shape: Abstract, order: Abstract = C_ORDER) -> Abstract:
    lengths = tuple(Number(d) for d in arrays.shape_argument(e, shape))
    fortran = arrays.constant(e, order, "an order") == "F"
    whole = as_array(e, indices)
    if arrays.element_type(whole).kind not in "iu":
        e.type_error("only int indices permitted")
    own = arrays.dims(e, whole)
    if own and not lengths:
        e.throw("ValueError", "multiple indices are not supported for 0d arrays")
    size = arrays.product(e, [scalar_value(e, d, I64) for d in lengths])
    call(e, check_positions, flat(e, whole), size)
    if not lengths:
        return TupleValue(())
    found = call(e, gathering.unravelled, flat(e, whole), TupleValue(lengths[::-1] if fortran else lengths))
    separate = lists.known_items(e, found)
    assert separate is not None
    parts = _side_by_side(e, found, own) if own else [shaped_like(e, indices, v, own) for v in separate]
    return TupleValue(tuple(parts[::-1] if fortran else parts))


@unchecked
def check_positions(flat: Any, size: int) -> None:
    for n in range(len(flat)):
        i = int(flat[n])
        if i < 0 or i >= size:
            raise ValueError(f"index {i} is out of bounds for array with size {size}")


@implements(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise") -> Any:
    if len(multi_index) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    result = 0
    for index, length in zip(multi_index, dims):
        result = result * length + coordinate(index, length, mode)
    return result


def coordinate(index: Any, length: int, mode: Any) -> Any:
    """Positions along an axis, checked or brought into range."""
    return index


@emits(coordinate)
def _coordinate(e: Evaluator, index: Abstract, length: Abstract, mode: Abstract) -> Abstract:
    rule = mode_of(e, mode)
    positions = as_array(e, index)
    if rule == "raise":
        call(e, check_coordinates, flat(e, positions), length)
        wide = call(e, np.astype, positions, Known(np.dtype(np.int64)))
        return wide if arrays.ndim(wide) else arrays.scalar_of(e, wide)
    moved = call(e, wrapped if rule == "wrap" else clipped, flat(e, positions), length)
    return shaped_like(e, index, moved, arrays.dims(e, positions))


@unchecked
def check_coordinates(flat: Any, length: int) -> None:
    for n in range(len(flat)):
        i = int(flat[n])
        if i < 0 or i >= length:
            raise ValueError("invalid entry in coordinates array")
