"""Arrays put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays as frontend
from zyg.frontend import growing, kinds, lists, orders, turned
from zyg.frontend.functions import shared_with_adjoint
from zyg.frontend.scalars import scalar_value
from zyg.frontend.values import Abstract, Known, Number, Reference, TupleValue, describe, is_numeric, known
from zyg.ir.core import const

from ..intrinsics import unsupported
from ..registry import emits, implements
from .common import axis_index, is_sequence, put_into, result_dtype, same_kind
from .ordering import empty_joined

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator


def along(axis: int, *where: Any) -> Any:
    """The key of a part of an array by what stands at one axis."""
    return (slice(None),) * axis + where


def is_list_of_arrays(v: Any) -> bool:
    """Whether this is a list of arrays whose length is known only when the code runs."""
    return isinstance(v, list)


@emits(is_list_of_arrays)
def _is_list_of_arrays(e: Evaluator, v: Abstract) -> Abstract:
    if not (isinstance(v, Reference) and lists.is_list(e, v)) or lists.known_items(e, v) is not None:
        return Known(False)
    return Known(isinstance(growing.require_growing(e, v, []).example, frontend.ARRAYS))


def numbers_joined(v: Any) -> Any:
    """The array of a list of numbers whose length is known only when the code runs, and of a list of lists of them a list of arrays;
    anything else as it is."""
    return v


@emits(numbers_joined)
def _numbers_joined(e: Evaluator, v: Abstract) -> Abstract:
    if not (isinstance(v, Reference) and lists.is_list(e, v)) or lists.known_items(e, v) is not None:
        return v
    example = growing.require_growing(e, v, []).example
    if isinstance(example, growing.ListValue):
        return e.call(known(rows_as_arrays), [v])
    return e.call(known(np.array), [v]) if is_numeric(example) else v


def rows_as_arrays(rows: Any) -> Any:
    return [np.asarray(row) for row in rows]


def parts_of(arrays: Any) -> Any:
    """The arrays in a tuple or list, whose length has to be known when compiling."""
    if not is_sequence(arrays):
        unsupported(
            "arrays to be joined that are not in a tuple or list whose length is known when compiling",
            "allocate the result and store them into it",
        )
    if len(arrays) == 0:
        raise ValueError("need at least one array to concatenate")
    return tuple([np.asarray(a) for a in arrays])


@implements(np.concatenate, lists=("arrays",))
def concatenate(arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None) -> Any:
    if out is not None:
        if dtype is not None:
            raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
        return put_into(concatenated(arrays, axis, None), out)
    return concatenated(arrays, axis, dtype)


def of_dtype(a: Any, dtype: Any) -> Any:
    if dtype is None:
        return a
    same_kind(a, dtype)
    return a.astype(dtype)


def concatenated(arrays: Any, axis: Any, dtype: Any) -> Any:
    if axis is None and dtype is None and is_sequence(arrays) and len(arrays) > 0:
        kind = result_dtype(*arrays)  # in which Python's numbers are weak, here alone
        return joined(tuple([np.asarray(a).ravel().astype(kind, copy=False) for a in arrays]), 0, None)
    arrays = numbers_joined(arrays)
    if isinstance(arrays, np.ndarray):  # the arrays along its first axis
        if arrays.ndim > 0 and len(arrays) == 0:
            raise ValueError("need at least one array to concatenate")
        if arrays.ndim < (1 if axis is None else 2):
            raise ValueError("zero-dimensional arrays cannot be concatenated")
        arrays = of_dtype(arrays, dtype)
        if axis is None:
            return arrays.flatten()
        at = axis_index(axis, arrays.ndim - 1)
        moved = np.moveaxis(arrays, 0, at).copy()
        shape = (*moved.shape[:at], moved.shape[at] * moved.shape[at + 1], *moved.shape[at + 2 :])
        return moved.reshape(shape)
    if is_list_of_arrays(arrays):
        if axis is None:
            return joined_list([a.ravel() for a in arrays], 0, dtype)
        return joined_list(arrays, axis, dtype)
    if axis is None:
        return joined(tuple([a.ravel() for a in parts_of(arrays)]), 0, dtype)
    return joined(parts_of(arrays), axis, dtype)


def joined_list(parts: Any, axis: int, dtype: Any) -> Any:
    """The same for a list of arrays whose length is known only when this runs."""
    if len(parts) == 0:
        raise ValueError("need at least one array to concatenate")
    first = parts[0]
    axis = axis_index(axis, first.ndim)
    total = 0
    for k, part in enumerate(parts):
        for d in tuple(range(first.ndim)):
            if d != axis and part.shape[d] != first.shape[d]:
                raise ValueError(
                    "all the input array dimensions except for the concatenation axis must match exactly, but along "
                    f"dimension {d}, the array at index 0 has size {first.shape[d]} and the array at index {k} has size "
                    f"{part.shape[d]}"
                )
        total += part.shape[axis]
    if dtype is not None:
        same_kind(first, dtype)
    shape = (*first.shape[:axis], total, *first.shape[axis + 1 :])
    result = empty_listed(parts, shape, first.dtype if dtype is None else dtype, first.ndim)
    at = 0
    for part in parts:
        stop = at + part.shape[axis]
        result[along(axis, slice(at, stop))] = part
        at = stop
    return result


def empty_listed(parts: Any, shape: Any, dtype: Any, new: int) -> Any:
    """A new array in which the arrays in such a list are put together, behind a `new` axis that they get, which is none of theirs if
    it is their number of axes."""
    if lie_in_order(parts):
        return np.empty(shape, dtype)
    n = len(shape)
    axes = tuple([k if k < new else k - 1 for k in tuple(range(n))])
    smaller = np.zeros(
        (n, n), bool
    )  # whether one axis is known to lie inside of another, or with it, by one of the arrays
    for part in parts:
        for j in tuple(range(n)):
            for k in tuple(range(n)):
                if j != new and k != new and j != k and part.shape[axes[j]] != 1 and part.shape[axes[k]] != 1:
                    smaller[j, k] = smaller[j, k] or step_along(part, axes[j]) <= step_along(part, axes[k])
    return empty_sorted(shape, dtype, smaller)


def lie_in_order(parts: Any) -> bool:
    """Whether all arrays in such a list are known to lie in C order."""
    return all(part.flags.c_contiguous for part in parts)


@emits(lie_in_order)
def _lie_in_order(e: Evaluator, v: Abstract) -> Abstract:
    assert isinstance(v, Reference)
    return Known(not growing.require_growing(e, v, []).orders)


def step_along(a: Any, axis: int) -> int:
    """The absolute stride of an array along an axis, by which NumPy lays out what it makes of it."""
    return abs(a.strides[axis])


@emits(step_along)
def _step_along(e: Evaluator, a: Abstract, axis: Abstract) -> Abstract:
    return Number(e.op("abs", orders.stride(e, orders.memory(a).value, frontend.constant(e, axis, "axis")).bytes))


def empty_sorted(shape: Any, dtype: Any, smaller: Any) -> Any:
    """A new array with its axes in the order that a table tells (orders.joined)."""
    return np.empty(shape, dtype)


@emits(empty_sorted)
def _empty_sorted(e: Evaluator, shape: Abstract, dtype: Abstract, smaller: Abstract) -> Abstract:
    made = frontend.allocate(e, frontend.shape_argument(e, shape), frontend.dtype_of(e, dtype), "empty")
    table = frontend.memory(smaller).value
    told = lambda j, k: e.op("load", table, const(j), const(k))
    return orders.joined_by(e, made, told)


def stacked_list(parts: Any, axis: int, dtype: Any) -> Any:
    """np.stack of such a list."""
    if len(parts) == 0:
        raise ValueError("need at least one array to stack")
    first = parts[0]
    axis = axis_index(axis, first.ndim + 1)
    if dtype is not None:
        same_kind(first, dtype)
    shape = (*first.shape[:axis], len(parts), *first.shape[axis:])
    result = empty_listed(parts, shape, first.dtype if dtype is None else dtype, axis)
    for k, part in enumerate(parts):
        if part.shape != first.shape:
            raise ValueError("all input arrays must have the same shape")
        result[along(axis, k)] = part
    return result


def dimensions_of(parts: Any) -> int:
    """Of how many dimensions the arrays in such a list are."""
    return parts[0].ndim


@emits(dimensions_of)
def _dimensions_of(e: Evaluator, v: Abstract) -> Abstract:
    assert isinstance(v, Reference)
    return Known(frontend.ndim(growing.require_growing(e, v, []).example))


def joined(parts: Any, axis: int, dtype: Any) -> Any:
    first = parts[0]
    if first.ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    n = first.ndim
    axis = axis_index(axis, n)
    for k, part in enumerate(parts):
        if part.ndim != n:
            raise ValueError(
                f"all the input arrays must have same number of dimensions, but the array at index 0 has {n} "
                f"dimension(s) and the array at index {k} has {part.ndim} dimension(s)"
            )
    total = length_together(parts, axis)
    if dtype is not None:
        for part in parts:
            same_kind(part, dtype)
    return put_together_as_they_lie(parts, axis, total, result_dtype(*parts) if dtype is None else dtype)


def length_together(parts: Any, axis: int) -> int:
    """How long arrays are along an axis, one behind the other; ValueError unless they are as long as the first one along all others."""
    return sum(part.shape[axis] for part in parts)


@emits(length_together)
def _length_together(e: Evaluator, parts: Abstract, axis: Abstract) -> Abstract:
    items, along = lists.known_items(e, parts), frontend.constant(e, axis, "axis")
    assert items is not None
    first, *others = [frontend.dims(e, v) for v in items]
    total = first[along]
    for k, own in enumerate(others, 1):
        for d, (length, wanted) in enumerate(zip(own, first, strict=True)):
            if d != along and length is not wanted:
                message = (
                    "all the input array dimensions except for the concatenation axis must match exactly, but along "
                    f"dimension {d}, the array at index 0 has size {{}} and the array at index {k} has size {{}}"
                )
                e.guard(e.op("eq", length, wanted), "ValueError", message, wanted, length)
        total = e.op("add", total, own[along])
    return Number(total)


def put_together_as_they_lie(parts: Any, axis: int, total: int, dtype: Any) -> Any:
    """The same as `put_together`: in the order in memory that the result has, if that is known, with the parts seen in that order."""
    return put_together(parts, axis, total, dtype)


@emits(put_together_as_they_lie)
def _put_together_as_they_lie(
    e: Evaluator, parts: Abstract, axis: Abstract, total: Abstract, dtype: Abstract
) -> Abstract:
    items, along = lists.known_items(e, parts), frontend.constant(e, axis, "axis")
    assert items is not None
    shape = frontend.dims(e, items[0])
    shape[along] = scalar_value(e, total)
    order = orders.order_of_joined(e, shape, items)
    if order is not None and order != tuple(range(len(order))):
        seen = tuple([frontend.permuted(e, v, turned.inverse(order)) for v in items])
        if all(frontend.memory(v).type.layout == "C" for v in seen):
            made = e.call(known(put_together), [TupleValue(seen), Known(order.index(along)), total, dtype])
            return frontend.permuted(e, made, order)
    return e.call(known(put_together), [parts, axis, total, dtype])


@shared_with_adjoint
def put_together(parts: Any, axis: int, total: int, dtype: Any) -> Any:
    """Arrays one behind the other along an axis, which is so long then."""
    first = parts[0]
    shape = (*first.shape[:axis], total, *first.shape[axis + 1 :])
    result = empty_joined(parts, shape, dtype)
    at = 0
    for part in parts:
        stop = at + part.shape[axis]
        result[along(axis, slice(at, stop))] = part
        at = stop
    return result


@implements(np.stack, lists=("arrays",))
def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None) -> Any:
    if out is not None:
        if dtype is not None:
            raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
        return put_into(stacked(arrays, axis, None), out)
    return stacked(arrays, axis, dtype)


def stacked(arrays: Any, axis: int, dtype: Any) -> Any:
    arrays = numbers_joined(arrays)
    if isinstance(arrays, np.ndarray):
        if arrays.ndim > 0 and len(arrays) == 0:
            raise ValueError("need at least one array to stack")
        return np.moveaxis(of_dtype(arrays, dtype), 0, axis).copy()
    if is_list_of_arrays(arrays):
        return stacked_list(arrays, axis, dtype)
    if is_sequence(arrays) and len(arrays) == 0:
        raise ValueError("need at least one array to stack")
    parts = parts_of(arrays)
    first = parts[0]
    axis = axis_index(axis, first.ndim + 1)
    for part in parts:
        if part.ndim != first.ndim:
            raise ValueError("all input arrays must have the same shape")
        for d in tuple(range(first.ndim)):
            if part.shape[d] != first.shape[d]:
                raise ValueError("all input arrays must have the same shape")
        if dtype is not None:
            same_kind(part, dtype)
    own = result_dtype(*parts)
    shape = (*first.shape[:axis], len(parts), *first.shape[axis:])
    result = empty_joined(tuple([p[along(axis, None)] for p in parts]), shape, own if dtype is None else dtype)
    for k, part in enumerate(parts):
        result[along(axis, k)] = part
    return result


@implements(np.vstack, lists=("tup",))
def vstack(tup: Any, *, dtype: Any = None) -> Any:
    tup = numbers_joined(tup)
    if isinstance(tup, np.ndarray):
        rows = tup[:, None] if tup.ndim <= 2 else tup
        return np.concatenate(rows[:, None] if tup.ndim == 1 else rows, 0, dtype=dtype)
    if is_list_of_arrays(tup):
        if dimensions_of(tup) >= 2:
            return joined_list(tup, 0, dtype)
        return joined_list([np.atleast_2d(a) for a in tup], 0, dtype)
    return joined(tuple([np.atleast_2d(a) for a in parts_of(tup)]), 0, dtype)


@implements(np.hstack, lists=("tup",))
def hstack(tup: Any, *, dtype: Any = None) -> Any:
    tup = numbers_joined(tup)
    if isinstance(tup, np.ndarray):
        return np.concatenate(tup[:, None] if tup.ndim == 1 else tup, 0 if tup.ndim <= 2 else 1, dtype=dtype)
    if is_list_of_arrays(tup):
        return joined_list(tup, 0 if dimensions_of(tup) == 1 else 1, dtype)
    parts = tuple([np.atleast_1d(a) for a in parts_of(tup)])
    return joined(parts, 0 if parts[0].ndim == 1 else 1, dtype)


@implements(np.dstack, lists=("tup",))
def dstack(tup: Any) -> Any:
    tup = numbers_joined(tup)
    if isinstance(tup, np.ndarray) and tup.ndim == 1:
        return tup[None, None]
    if is_list_of_arrays(tup):
        return joined_list([np.atleast_3d(a) for a in tup], 2, None)
    return joined(tuple([np.atleast_3d(a) for a in parts_of(tup)]), 2, None)


@implements(np.column_stack, lists=("tup",))
def column_stack(tup: Any) -> Any:
    tup = numbers_joined(tup)
    if isinstance(tup, np.ndarray) and tup.ndim == 1:
        return tup[None]
    if is_list_of_arrays(tup):
        return joined_list([as_columns(a) for a in tup], 1, None)
    return joined(tuple([as_columns(a) for a in parts_of(tup)]), 1, None)


def as_columns(a: Any) -> Any:
    if a.ndim == 0:
        return a.reshape((1, 1))
    return a[:, None] if a.ndim == 1 else a


@emits(np.block, lists=("arrays",))
def block(e: Evaluator, arrays: Abstract) -> Abstract:
    """Nested lists of blocks: the innermost are joined along the last axis, those around them along the one before."""

    def depth_of(v: Abstract) -> int:
        items = lists.known_items(e, v)
        if isinstance(v, TupleValue):
            e.type_error(
                "arrays is a tuple. Only lists can be used to arrange blocks, and np.block does not allow implicit "
                "conversion from tuple to ndarray."
            )
        if items is None:
            if kinds.is_list(e, v):
                raise e.refuse("np.block of a list whose length is not known when compiling",
                               types=[describe(v, e.heap)], hint="make an array of it: np.array(...)")  # fmt: skip
            return 0
        if not items:
            e.throw("ValueError", "List at arrays cannot be empty")
        depths = {depth_of(i) for i in items}
        if len(depths) > 1:
            e.throw("ValueError", "List depths are mismatched.")
        return 1 + depths.pop()

    def leaves(v: Abstract) -> list[Abstract]:
        items = lists.known_items(e, v)
        if items is not None:
            return [leaf for i in items for leaf in leaves(i)]
        made = e.call(known(np.asarray), [v])
        if not isinstance(made, frontend.ARRAYS):
            raise e.refuse("np.block of this", types=[describe(v, e.heap)], hint="pass arrays in nested lists")
        return [made]

    depth = depth_of(arrays)
    blocks = leaves(arrays)
    ndim = max(depth, *map(frontend.ndim, blocks), 0)
    blocks = [frontend.seen(e, b, "n" * (ndim - frontend.ndim(b)) + ":" * frontend.ndim(b)) for b in blocks]
    if depth == 0:
        return e.call(known(np.copy), blocks)
    following = iter(blocks)

    def put_together(v: Abstract, level: int) -> Abstract:
        items = lists.known_items(e, v)
        if items is None:
            return next(following)
        inner = tuple([put_together(i, level - 1) for i in items])
        return e.call(known(np.concatenate), [TupleValue(inner), Known(-level)])

    return put_together(arrays, depth)
