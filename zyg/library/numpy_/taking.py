"""Elements by their positions: np.take, np.put, np.choose, np.compress; by masks: np.place, np.extract, np.copyto."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays, indexing, orders
from zyg.frontend.elementwise import broadcast_shape
from zyg.frontend.functions import unchecked
from zyg.frontend.scalars import scalar_value
from zyg.frontend.selection import Selection, apart, flat
from zyg.frontend.values import (
    Abstract,
    ArrayValue,
    Known,
    Number,
    SliceValue,
    TupleValue,
    is_numeric,
    known,
)
from zyg.ir.core import Value, const
from zyg.ir.types import I64

from ..registry import emits, implements
from . import gathering
from .common import call, is_sequence, put_into_alike, result_dtype
from .positions import clipped, mode_of, positions_of, shaped_like, wrapped
from .views import as_array, as_real, no_sequence, ordered, stretched

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

NONE, ZERO, YES, RAISE, LAST = Known(None), Known(0), Known(True), Known("raise"), Known(-1)
ALL = SliceValue(NONE, NONE, NONE)


def _product(e: Evaluator, lengths: list[Value]) -> Value:
    return scalar_value(e, arrays.product(e, lengths), I64)


def _is_none(v: Abstract) -> bool:
    return isinstance(v, Known) and v.object is None


# ----------------------------------------------------------------------------------------- where things are


# --------------------------------------------------------------------------------------------- take and put


@emits(np.take, (np.ndarray, "take"))
def take(
    e: Evaluator, a: Abstract, indices: Abstract, axis: Abstract = NONE, out: Abstract = NONE, mode: Abstract = RAISE
) -> Abstract:
    if not _is_none(out):
        made = take(e, a, indices, axis, NONE, mode)
        message = "output array does not match result of ndarray.take"
        return e.call(known(put_into_alike), [made, out, Known("np.take"), Known(message)])
    a = as_array(e, a)
    if _is_none(axis):
        a, k = flat(e, a), 0
    else:
        if arrays.ndim(a) == 0:
            a = arrays.seen(e, a, "n")
        k = arrays.axis_of(e, axis, arrays.ndim(a))
    positions = positions_of(e, indices)
    lengths, rule = arrays.dims(e, a), mode_of(e, mode)
    others, length = [*lengths[:k], *lengths[k + 1 :]], lengths[k]
    taken = e.op("mul", _product(e, others), scalar_value(e, arrays.size(e, positions), I64))
    some = e.op("or", e.op("ne", length, const(0)), e.op("eq", taken, const(0)))
    e.guard(some, "IndexError", "cannot do a non-empty take from an empty axes.")
    rows = _product(e, lengths[:k])  # where there are none, nothing is taken and indices are not looked at
    if rule != "raise":
        length = e.op("select", e.op("eq", length, const(0)), const(1), length)
        moved = call(e, wrapped if rule == "wrap" else clipped, flat(e, positions), Number(length))
        positions, rows = shaped_like(e, indices, moved, arrays.dims(e, positions)), _product(e, others)
    elif arrays.ndim(positions) == 0:
        positions = arrays.scalar_of(e, positions)
    if isinstance(positions, ArrayValue) and arrays.ndim(positions):
        return Selection(e, a, [*[ALL] * k, positions, *[ALL] * (len(lengths) - k - 1)], rows).gathered(packed=True)
    result = indexing.get_item(e, a, TupleValue((*[ALL] * k, positions)))
    if is_numeric(positions) and isinstance(result, arrays.ARRAYS):
        from .methods import copy

        return copy(e, result)
    return result


@emits(np.put, (np.ndarray, "put"), lists=("a",))
def put(e: Evaluator, a: Abstract, ind: Abstract, v: Abstract, mode: Abstract = RAISE) -> Abstract:
    """Values are repeated as they are needed."""
    array_to_write(e, a, "put")
    positions = flat(e, positions_of(e, ind))
    size = arrays.size(e, a)
    rule = mode_of(e, mode)
    if rule == "raise":
        call(e, gathering.check_range, positions, size, ZERO, Known(1))
    else:
        call(e, check_empty, positions, size)
    positions = call(e, clipped if rule == "clip" else wrapped, positions, size)
    put_at(e, a, positions, flat(e, as_array(e, v)))
    return NONE


def check_empty(positions: Any, size: int) -> None:
    if size == 0 and len(positions) > 0:
        raise IndexError("cannot replace elements of an empty array")


def array_to_write(e: Evaluator, a: Abstract, name: str) -> None:
    if not isinstance(a, arrays.ARRAYS):
        e.type_error(f"argument 1 of {name} has to be an array")
    arrays.check_writable(e, arrays.memory(a))


def put_at(e: Evaluator, a: Abstract, places: Abstract, values: Abstract, positions: bool = False) -> None:
    """Set elements, given by where they are in the array read row by row, to values that are repeated: the first value is
    for the first of these, or (positions) for the first of all elements."""
    values = apart(e, a, values)
    if arrays.memory(a).type.layout == "C":
        whole, index = flat(e, a), TupleValue((places,))
    else:
        index = call(e, gathering.unravelled, places, TupleValue(tuple(map(Number, arrays.dims(e, a)))))
        whole = a
    call(e, put_values, whole, index, values, places, Known(positions))


@unchecked
def put_values(target: Any, index: Any, values: Any, places: Any, positions: bool) -> None:
    count = len(values)
    if count == 0:
        return
    for n in range(len(places)):
        k = int(places[n]) if positions else n
        target[tuple([i[n] for i in index])] = values[k % count]


@emits(np.place, lists=("arr",))
def place(e: Evaluator, arr: Abstract, mask: Abstract, vals: Abstract) -> Abstract:
    array_to_write(e, arr, "place")
    found = _held(e, arr, mask, "place: mask and data must be the same size")
    values = _safely(e, arr, vals)
    missing = e.op("eq", arrays.dims(e, values)[0], const(0))
    some = e.op("gt", arrays.dims(e, found)[0], const(0))
    e.guard(e.op("not", e.op("and", missing, some)), "ValueError", "Cannot insert from an empty array!")
    put_at(e, arr, found, values)
    return NONE


@emits(np.putmask, lists=("a",))
def putmask(e: Evaluator, a: Abstract, mask: Abstract, values: Abstract) -> Abstract:
    array_to_write(e, a, "putmask")
    found = _held(e, a, mask, "putmask: mask and data must be the same size")
    put_at(e, a, found, _safely(e, a, values), positions=True)
    return NONE


def _safely(e: Evaluator, a: Abstract, values: Abstract) -> Abstract:
    """The values to be put into `a`: arrays have to be of a type of which it holds all values, numbers are converted."""
    if isinstance(values, arrays.ARRAYS):
        own, wanted = (arrays.numpy_dtype(arrays.element_type(v)) for v in (values, a))
        if not np.can_cast(own, wanted, "safe"):
            e.type_error(f"Cannot cast array data from {own!r} to {wanted!r} according to the rule 'safe'")
    return flat(e, as_array(e, values))


def _held(e: Evaluator, a: Abstract, mask: Abstract, message: str) -> Abstract:
    """The positions where a mask of the size of `a` holds."""
    flags = flat(e, as_array(e, mask))
    size = scalar_value(e, arrays.size(e, a), I64)
    e.guard(e.op("eq", arrays.dims(e, flags)[0], size), "ValueError", message)
    return call(e, gathering.flat_nonzero, flags)


@emits(np.compress)
def compress(e: Evaluator, condition: Abstract, a: Abstract, axis: Abstract = NONE) -> Abstract:
    flags = as_array(e, condition)
    if arrays.ndim(flags) != 1:
        e.throw("ValueError", "condition must be a 1-d array")
    return take(e, a, call(e, gathering.flat_nonzero, flags), axis)


@emits((np.ndarray, "compress"))
def compress_method(e: Evaluator, a: Abstract, condition: Abstract, axis: Abstract = NONE) -> Abstract:
    return compress(e, condition, a, axis)


@emits(np.extract)
def extract(e: Evaluator, condition: Abstract, arr: Abstract) -> Abstract:
    found = call(e, gathering.flat_nonzero, flat(e, as_array(e, condition)))
    return take(e, arr, found)


# -------------------------------------------------------------------------------------------- along an axis


def _along(e: Evaluator, a: Abstract, indices: Abstract, axis: Abstract) -> tuple[Abstract, Abstract, list[int]]:
    """Array and indices seen in the same shape but for the axis, which is their last now; and how to put it back."""
    no_sequence(e, indices, "ndim" if _is_none(axis) else "dtype")
    index = as_array(e, indices)
    if arrays.element_type(index).kind not in "iu":
        e.throw("IndexError", "`indices` must be an integer array")
    if _is_none(axis):
        if arrays.ndim(index) != 1:
            e.throw("ValueError", "when axis=None, `indices` must have a single dimension.")
        a, k = flat(e, a), 0
    else:
        k = arrays.axis_of(e, axis, arrays.ndim(a), booleans=True)
    n = arrays.ndim(a)
    if arrays.ndim(index) != n:
        e.throw("ValueError", "`indices` and `arr` must have the same number of dimensions")
    if e.options.boundscheck:
        call(e, gathering.check_range, flat(e, index), Number(arrays.dims(e, a)[k]), Known(k), Known(1))
    order = [*(j for j in range(n) if j != k), k]
    a, index = ordered(e, a, order), ordered(e, index, order)
    own, wanted = arrays.dims(e, a), arrays.dims(e, index)
    if n > 1:
        first = [as_real(e, arrays.seen(e, v, ":" * (n - 1) + "i", const(0))) for v in (index, a)]
        text = "shape mismatch: indexing arrays could not be broadcast together with shapes"
        common = broadcast_shape(e, first, "IndexError", text)
        a = stretched(e, a, [*common, own[-1]])
        index = stretched(e, index, [*common, wanted[-1]])
    back = [order.index(j) for j in range(n)]
    return a, index, back


@emits(np.take_along_axis, lists=("arr", "indices"))
def take_along_axis(e: Evaluator, arr: Abstract, indices: Abstract, axis: Abstract = LAST) -> Abstract:
    no_sequence(e, arr, "ndim")
    arr = as_array(e, arr)
    a, index, back = _along(e, arr, indices, axis)
    whole = ordered(e, index, back)
    result = arrays.allocate_unchecked(e, arrays.dims(e, whole), arrays.element_type(a), "empty")
    result = orders.laid_as(e, result, [whole])
    call(e, take_lines, ordered(e, result, [back.index(k) for k in range(len(back))]), a, index)
    return result


@emits(np.put_along_axis, lists=("arr", "indices"))
def put_along_axis(e: Evaluator, arr: Abstract, indices: Abstract, values: Abstract, axis: Abstract) -> Abstract:
    no_sequence(e, arr, "ndim")
    array_to_write(e, arr, "put_along_axis")
    a, index, back = _along(e, arr, indices, axis)
    if not is_numeric(values):
        order = [back.index(j) for j in range(len(back))]
        shape = arrays.dims(e, index)
        text = "shape mismatch: value array of shape", "could not be broadcast to indexing result of shape"
        fits = arrays.fitted(e, as_array(e, values), [shape[j] for j in back], *text)
        values = apart(e, a, ordered(e, fits, order))
    call(e, put_lines, a, apart(e, a, index), values)
    return NONE


@unchecked
def take_lines(target: Any, source: Any, index: Any) -> None:
    if target.ndim == 1:
        for n in range(len(target)):
            target[n] = source[index[n]]
    elif target.ndim == 2:
        for m in range(len(target)):
            for n in range(target.shape[1]):
                target[m, n] = source[m, index[m, n]]
    else:
        for m in range(len(target)):
            take_lines(target[m], source[m], index[m])


@unchecked
def put_lines(target: Any, index: Any, values: Any) -> None:
    for m in range(len(index)):
        value = values[m] if isinstance(values, np.ndarray) else values
        if target.ndim == 1:
            target[index[m]] = value
        else:
            put_lines(target[m], index[m], value)


# ------------------------------------------------------------------------------------------- choices, copies


@implements(np.choose)
def choose(a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Any:
    if len(choices) == 0:
        raise ValueError("0-length sequence.")
    index = choice_index(a, len(choices), mode)
    # Converted, not compared: np.where lets no Python integer be of a type that it does not fit.
    kind = result_dtype(*choices) if is_sequence(choices) else np.asarray(choices[0]).dtype
    result = np.asarray(choices[0]).astype(kind, copy=False)
    for k, values in enumerate(choices):
        result = np.where(index == k, np.asarray(values).astype(kind, copy=False), result)
    if out is not None:
        return put_into_alike(result, out, "np.choose", CHOSEN_INTO)
    return np.asarray(result, order="C") if isinstance(result, np.ndarray) else result


@implements((np.ndarray, "choose"))
def choose_method(a: Any, *choices: Any, out: Any = None, mode: Any = "raise") -> Any:
    return choose(a, choices[0] if len(choices) == 1 else choices, out, mode)


CHOSEN_INTO = "choose: invalid shape for output array."


def choice_index(a: Any, count: int, mode: Any) -> Any:
    return a


@emits(choice_index)
def _choice_index(e: Evaluator, a: Abstract, count: Abstract, mode: Abstract) -> Abstract:
    rule = mode_of(e, mode)
    positions = positions_of(e, a)
    if rule == "raise":
        call(e, check_choices, flat(e, positions), count)
        return positions
    moved = call(e, wrapped if rule == "wrap" else clipped, flat(e, positions), count)
    return shaped_like(e, a, moved, arrays.dims(e, positions))


@unchecked
def check_choices(flat: Any, count: int) -> None:
    for n in range(len(flat)):
        i = int(flat[n])
        if i < 0 or i >= count:
            raise ValueError("invalid entry in choice array")


@emits(np.copyto, lists=("dst",))
def copyto(e: Evaluator, dst: Abstract, src: Abstract, *, where: Abstract = YES) -> Abstract:
    array_to_write(e, dst, "copyto")
    _check_cast(e, src, dst)
    if isinstance(where, Known) and where.object is True:
        arrays.assign(e, dst, src, apart=False)
        return NONE
    shape = arrays.dims(e, dst)
    text = "could not broadcast where mask from shape", "into shape"
    mask = arrays.fitted(e, as_array(e, where), shape, *text)
    value = src
    if not is_numeric(src):
        text = "could not broadcast input array from shape", "into shape"
        fits = arrays.fitted(e, as_array(e, src), shape, *text)
        value = call(e, _kept, apart(e, dst, mask), apart(e, dst, fits), dst)
    else:
        value = call(e, _kept, mask, src, dst)
    arrays.assign(e, dst, value)
    return NONE


def _kept(mask: Any, value: Any, old: Any) -> Any:
    return np.where(mask, value, old)


def _check_cast(e: Evaluator, src: Abstract, dst: Abstract) -> None:
    """TypeError unless the source can be stored by NumPy's rule 'same_kind', under which Python numbers are weak."""
    to = arrays.numpy_dtype(arrays.element_type(dst))
    weak = is_numeric(src) and not (isinstance(src, Number) and src.numpy)
    source = as_array(e, src)
    own = arrays.numpy_dtype(arrays.element_type(source))
    order = "buifc"
    fits = order.index(own.kind) <= order.index(to.kind) if weak else np.can_cast(own, to, "same_kind")
    if not fits:
        what = "scalar" if arrays.ndim(source) == 0 else "array data"
        e.type_error(f"Cannot cast {what} from dtype('{own}') to dtype('{to}') according to the rule 'same_kind'")
