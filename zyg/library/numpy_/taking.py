"""Elements by their positions: np.take, np.put, np.choose, np.compress, masks; where things are: np.nonzero and its relatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays, indexing, lists, orders
from zyg.frontend.elementwise import broadcast_shape
from zyg.frontend.functions import unchecked
from zyg.frontend.scalars import scalar_value
from zyg.frontend.selection import Selection, apart, flat, reshaped
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
from zyg.ir.types import BOOL, I64

from ..intrinsics import unsupported
from ..registry import emits, implements
from . import gathering
from .common import is_sequence, put_into_alike, result_dtype
from .views import as_array, as_real, ordered, stretched

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

NONE, ZERO, YES, RAISE, LAST, C_ORDER = Known(None), Known(0), Known(True), Known("raise"), Known(-1), Known("C")
ALL = SliceValue(NONE, NONE, NONE)
MODES = ("raise", "wrap", "clip")


def _call(e: Evaluator, function: Any, *arguments: Abstract) -> Abstract:
    return e.call(known(function), list(arguments))


def _product(e: Evaluator, lengths: list[Value]) -> Value:
    return scalar_value(e, arrays.product(e, lengths), I64)


def _is_none(v: Abstract) -> bool:
    return isinstance(v, Known) and v.object is None


# ----------------------------------------------------------------------------------------- where things are


@emits(np.nonzero, (np.ndarray, "nonzero"))
def nonzero(e: Evaluator, a: Abstract) -> Abstract:
    a = as_array(e, a)
    if arrays.ndim(a) == 0:
        message = "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead."
        e.throw("ValueError", message)
    found = _call(e, gathering.flat_nonzero, flat(e, a))
    if arrays.ndim(a) == 1:
        return TupleValue((found,))
    found = _call(e, gathering.unravelled, found, TupleValue(tuple(map(Number, arrays.dims(e, a)))))
    return TupleValue(tuple(_side_by_side(e, found)))


def _side_by_side(e: Evaluator, vectors: Abstract, shape: list[Value] | None = None) -> list[Abstract]:
    """Vectors, in another shape perhaps; as the indices that NumPy gives, those of one element lie next to each other."""
    table = _call(e, columns, vectors)
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
    return _call(e, gathering.flat_nonzero, flat(e, as_array(e, a)))


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
            a = _call(e, gathering.flat_nonzero, a)
        result.append(arrays.seen(e, a, "n" * k + ":" + "n" * (len(args) - k - 1)))
    return TupleValue(tuple(result))


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
    _call(e, check_positions, flat(e, whole), size)
    if not lengths:
        return TupleValue(())
    found = _call(e, gathering.unravelled, flat(e, whole), TupleValue(lengths[::-1] if fortran else lengths))
    separate = lists.known_items(e, found)
    assert separate is not None
    parts = _side_by_side(e, found, own) if own else [_like(e, indices, v, own) for v in separate]
    return TupleValue(tuple(parts[::-1] if fortran else parts))


def _like(e: Evaluator, given: Abstract, found: Abstract, shape: list[Any]) -> Abstract:
    """Positions along one axis in the shape that they were given in."""
    if not shape:
        return indexing.load(e, found, [const(0)])
    return found if len(shape) == 1 else reshaped(e, found, shape)


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
    rule = _mode(e, mode)
    positions = as_array(e, index)
    if rule == "raise":
        _call(e, check_coordinates, flat(e, positions), length)
        wide = _call(e, np.astype, positions, Known(np.dtype(np.int64)))
        return wide if arrays.ndim(wide) else arrays.scalar_of(e, wide)
    moved = _call(e, wrapped if rule == "wrap" else clipped, flat(e, positions), length)
    return _like(e, index, moved, arrays.dims(e, positions))


@unchecked
def check_coordinates(flat: Any, length: int) -> None:
    for n in range(len(flat)):
        i = int(flat[n])
        if i < 0 or i >= length:
            raise ValueError("invalid entry in coordinates array")


# --------------------------------------------------------------------------------------------- take and put


def _mode(e: Evaluator, mode: Abstract) -> str:
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


def _positions(e: Evaluator, indices: Abstract) -> Abstract:
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
    positions = _positions(e, indices)
    lengths, rule = arrays.dims(e, a), _mode(e, mode)
    others, length = [*lengths[:k], *lengths[k + 1 :]], lengths[k]
    taken = e.op("mul", _product(e, others), scalar_value(e, arrays.size(e, positions), I64))
    some = e.op("or", e.op("ne", length, const(0)), e.op("eq", taken, const(0)))
    e.guard(some, "IndexError", "cannot do a non-empty take from an empty axes.")
    rows = _product(e, lengths[:k])  # where there are none, nothing is taken and indices are not looked at
    if rule != "raise":
        length = e.op("select", e.op("eq", length, const(0)), const(1), length)
        moved = _call(e, wrapped if rule == "wrap" else clipped, flat(e, positions), Number(length))
        positions, rows = _like(e, indices, moved, arrays.dims(e, positions)), _product(e, others)
    elif arrays.ndim(positions) == 0:
        positions = arrays.scalar_of(e, positions)
    if isinstance(positions, ArrayValue) and arrays.ndim(positions):
        return Selection(e, a, [*[ALL] * k, positions, *[ALL] * (len(lengths) - k - 1)], rows).gathered(packed=True)
    result = indexing.get_item(e, a, TupleValue((*[ALL] * k, positions)))
    if is_numeric(positions) and isinstance(result, arrays.ARRAYS):
        from .methods import copy

        return copy(e, result)
    return result


@emits(np.put, (np.ndarray, "put"))
def put(e: Evaluator, a: Abstract, ind: Abstract, v: Abstract, mode: Abstract = RAISE) -> Abstract:
    """Values are repeated as they are needed."""
    _array_to_write(e, a, "put")
    positions = flat(e, _positions(e, ind))
    size = arrays.size(e, a)
    rule = _mode(e, mode)
    if rule == "raise":
        _call(e, gathering.check_range, positions, size, ZERO, Known(1))
    else:
        _call(e, check_empty, positions, size)
    positions = _call(e, clipped if rule == "clip" else wrapped, positions, size)
    put_at(e, a, positions, flat(e, as_array(e, v)))
    return NONE


def check_empty(positions: Any, size: int) -> None:
    if size == 0 and len(positions) > 0:
        raise IndexError("cannot replace elements of an empty array")


def _array_to_write(e: Evaluator, a: Abstract, name: str) -> None:
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
        index = _call(e, gathering.unravelled, places, TupleValue(tuple(map(Number, arrays.dims(e, a)))))
        whole = a
    _call(e, put_values, whole, index, values, places, Known(positions))


@unchecked
def put_values(target: Any, index: Any, values: Any, places: Any, positions: bool) -> None:
    count = len(values)
    if count == 0:
        return
    for n in range(len(places)):
        k = int(places[n]) if positions else n
        target[tuple([i[n] for i in index])] = values[k % count]


@emits(np.place)
def place(e: Evaluator, arr: Abstract, mask: Abstract, vals: Abstract) -> Abstract:
    _array_to_write(e, arr, "place")
    found = _held(e, arr, mask, "place: mask and data must be the same size")
    values = _safely(e, arr, vals)
    missing = e.op("eq", arrays.dims(e, values)[0], const(0))
    some = e.op("gt", arrays.dims(e, found)[0], const(0))
    e.guard(e.op("not", e.op("and", missing, some)), "ValueError", "Cannot insert from an empty array!")
    put_at(e, arr, found, values)
    return NONE


@emits(np.putmask)
def putmask(e: Evaluator, a: Abstract, mask: Abstract, values: Abstract) -> Abstract:
    _array_to_write(e, a, "putmask")
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
    return _call(e, gathering.flat_nonzero, flags)


@emits(np.compress)
def compress(e: Evaluator, condition: Abstract, a: Abstract, axis: Abstract = NONE) -> Abstract:
    flags = as_array(e, condition)
    if arrays.ndim(flags) != 1:
        e.throw("ValueError", "condition must be a 1-d array")
    return take(e, a, _call(e, gathering.flat_nonzero, flags), axis)


@emits((np.ndarray, "compress"))
def compress_method(e: Evaluator, a: Abstract, condition: Abstract, axis: Abstract = NONE) -> Abstract:
    return compress(e, condition, a, axis)


@emits(np.extract)
def extract(e: Evaluator, condition: Abstract, arr: Abstract) -> Abstract:
    found = _call(e, gathering.flat_nonzero, flat(e, as_array(e, condition)))
    return take(e, arr, found)


# -------------------------------------------------------------------------------------------- along an axis


def _along(e: Evaluator, a: Abstract, indices: Abstract, axis: Abstract) -> tuple[Abstract, Abstract, list[int]]:
    """Array and indices seen in the same shape but for the axis, which is their last now; and how to put it back."""
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
        _call(e, gathering.check_range, flat(e, index), Number(arrays.dims(e, a)[k]), Known(k), Known(1))
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


@emits(np.take_along_axis)
def take_along_axis(e: Evaluator, arr: Abstract, indices: Abstract, axis: Abstract = LAST) -> Abstract:
    arr = as_array(e, arr)
    a, index, back = _along(e, arr, indices, axis)
    whole = ordered(e, index, back)
    result = arrays.allocate_unchecked(e, arrays.dims(e, whole), arrays.element_type(a), "empty")
    result = orders.laid_as(e, result, [whole])
    _call(e, take_lines, ordered(e, result, [back.index(k) for k in range(len(back))]), a, index)
    return result


@emits(np.put_along_axis)
def put_along_axis(e: Evaluator, arr: Abstract, indices: Abstract, values: Abstract, axis: Abstract) -> Abstract:
    _array_to_write(e, arr, "put_along_axis")
    a, index, back = _along(e, arr, indices, axis)
    if not is_numeric(values):
        order = [back.index(j) for j in range(len(back))]
        shape = arrays.dims(e, index)
        text = "shape mismatch: value array of shape", "could not be broadcast to indexing result of shape"
        fits = arrays.fitted(e, as_array(e, values), [shape[j] for j in back], *text)
        values = apart(e, a, ordered(e, fits, order))
    _call(e, put_lines, a, apart(e, a, index), values)
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
    return result if out is None else put_into_alike(result, out, "np.choose", CHOSEN_INTO)


@implements((np.ndarray, "choose"))
def choose_method(a: Any, *choices: Any, out: Any = None, mode: Any = "raise") -> Any:
    return choose(a, choices[0] if len(choices) == 1 else choices, out, mode)


CHOSEN_INTO = "choose: invalid shape for output array."


def choice_index(a: Any, count: int, mode: Any) -> Any:
    return a


@emits(choice_index)
def _choice_index(e: Evaluator, a: Abstract, count: Abstract, mode: Abstract) -> Abstract:
    rule = _mode(e, mode)
    positions = _positions(e, a)
    if rule == "raise":
        _call(e, check_choices, flat(e, positions), count)
        return positions
    moved = _call(e, wrapped if rule == "wrap" else clipped, flat(e, positions), count)
    return _like(e, a, moved, arrays.dims(e, positions))


@unchecked
def check_choices(flat: Any, count: int) -> None:
    for n in range(len(flat)):
        i = int(flat[n])
        if i < 0 or i >= count:
            raise ValueError("invalid entry in choice array")


@emits(np.copyto)
def copyto(e: Evaluator, dst: Abstract, src: Abstract, *, where: Abstract = YES) -> Abstract:
    _array_to_write(e, dst, "copyto")
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
        value = _call(e, _kept, apart(e, dst, mask), apart(e, dst, fits), dst)
    else:
        value = _call(e, _kept, mask, src, dst)
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


@implements(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: Any = False) -> None:
    values = np.ravel(val)
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2:
        for k in range(1, a.ndim):
            if a.shape[k] != a.shape[0]:
                raise ValueError("All dimensions of input must be of equal length")
        fill_places(a, values, a.shape[0])
    else:
        fill_matrix(a, values, a.size if wrap else min(a.size, a.shape[1] * a.shape[1]))


@unchecked
def fill_places(a: Any, values: Any, count: int) -> None:
    for n in range(count):
        a[(n,) * a.ndim] = values[n % len(values)]


@unchecked
def fill_matrix(a: Any, values: Any, end: int) -> None:
    columns = a.shape[1]
    for n, place in enumerate(range(0, end, columns + 1)):
        a[place // columns, place % columns] = values[n % len(values)]


@emits(np.may_share_memory)
def may_share_memory(e: Evaluator, a: Abstract, b: Abstract, /) -> Abstract:
    from zyg.frontend.scalars import boolean

    return boolean(e.op("overlap", *(arrays.memory(as_array(e, v)).value for v in (a, b))))


@emits(np.shares_memory)
def shares_memory(e: Evaluator, a: Abstract, b: Abstract, /) -> Abstract:
    """Exactly, which takes NumPy where strides interleave."""
    from zyg.frontend.boundary import disassemble
    from zyg.frontend.scalars import boolean

    a, b = as_array(e, a), as_array(e, b)
    ranges = e.op("overlap", arrays.memory(a).value, arrays.memory(b).value)
    if arrays.memory(a).type.layout == arrays.memory(b).type.layout == "C":
        return boolean(ranges)
    leaves: list[Value] = []
    types = tuple(disassemble(e, v, leaves) for v in (a, b))
    attrs = {"callable": np.shares_memory, "arguments": types, "result": BOOL}
    exact = lambda: Number(e.emit("pycall", *leaves, types=(BOOL,), **attrs)[0])
    return e.if_else(ranges, exact, lambda: Number(const(False)))


@implements(np.ndindex)
def ndindex(*shape: Any) -> Any:
    lengths = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    count = 1
    for length in lengths:
        if length < 0:
            raise ValueError("negative dimensions are not allowed")
        count = count * length
    for n in range(count):
        yield position_of(n, lengths)


def position_of(n: int, shape: Any) -> Any:
    """The index of the element that is number n, row by row."""
    return tuple(int(i) for i in np.unravel_index(n, shape))


@emits(position_of)
def _position_of(e: Evaluator, n: Abstract, shape: Abstract) -> Abstract:
    lengths = lists.known_items(e, shape)
    assert lengths is not None
    rest = scalar_value(e, n, I64)
    found: list[Abstract] = []
    for d in reversed(lengths[1:]):
        length = scalar_value(e, d, I64)
        found.insert(0, Number(e.op("mod", rest, length)))
        rest = e.op("floordiv", rest, length)
    return TupleValue((Number(rest), *found)) if lengths else TupleValue(())


@implements(np.ndenumerate)
def ndenumerate(arr: Any) -> Any:
    for index in np.ndindex(np.shape(arr)):
        yield index, arr[index]


@implements(np.nditer, instead={"flags": "loop over a.flat, or np.ndindex(a.shape)"})
def nditer(op: Any) -> Any:
    """The elements as arrays of no dimensions, in the order in which they lie in memory, which has to be that of the indices."""
    if not lies_in_order(op):
        unsupported("np.nditer of an array that may lie in memory in any order", "loop over a.flat")
    if op.size == 0:
        raise ValueError("Iteration of zero-sized operands is not enabled")
    flat = np.broadcast_to(op.ravel(), (op.size,))
    for n in range(op.size):
        yield flat[n, ...]


def lies_in_order(a: Any) -> bool:
    """Whether the type of an array tells that it is contiguous."""
    return a.flags.c_contiguous


@emits(lies_in_order)
def _lies_in_order(e: Evaluator, a: Abstract) -> Abstract:
    return Known(isinstance(a, arrays.ARRAYS) and arrays.memory(a).type.layout == "C")


_NOT_AT = "array is not broadcastable to correct shape"


@emits((np.ufunc, "at"))
def at(e: Evaluator, function: Abstract, a: Abstract, indices: Abstract, b: Abstract | None = None, /) -> Abstract:
    """a[indices] = function(a[indices], b), one element after the other: repeated indices count each time."""
    assert isinstance(function, Known)
    f = function.object
    if f.signature is not None:
        e.type_error(
            f"{f.__name__}.at does not support ufunc with non-trivial signature: {f.__name__} has signature {f.signature}."
        )
    if f.nout != 1:
        e.throw("ValueError", "Only single output ufuncs supported at this time")
    if is_numeric(a):
        e.type_error("first operand must be array")
    if f.nin == 1 and b is not None:
        e.throw("ValueError", "second operand provided when ufunc is unary")
    if f.nin == 2 and b is None:
        e.throw("ValueError", "second operand needed for ufunc")
    _array_to_write(e, a, "at")
    parts, _ = indexing.parts_of(e, arrays.ndim(a), indices)
    given = [] if b is None else [b if is_numeric(b) else as_array(e, b)]
    more = arrays.ndim(given[0]) if given and isinstance(given[0], arrays.ARRAYS) else 0
    if any(isinstance(p, ArrayValue) for p in parts):
        chosen = Selection(e, a, parts)
        if more > chosen.ndim:
            e.throw("ValueError", _NOT_AT)
        chosen.update(function, given[0] if given else NONE)
        return NONE
    old = indexing.get_item(e, a, indices)
    if more > (arrays.ndim(old) if isinstance(old, arrays.ARRAYS) else 0):
        e.throw("ValueError", _NOT_AT)
    indexing.set_item(e, a, indices, e.call(function, [old, *given]))
    return NONE
