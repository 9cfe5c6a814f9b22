"""What is in the brackets: `a[key]` and `a[key] = v` for arrays.

A key is taken apart into *parts*, one per axis of the array: an integer, a slice, an array of integers or of bools; besides
these there are None, for a new axis, bools (an axis of length 1 or 0), and the ellipsis, which stays where it was because it
keeps arrays left and right of it apart.  Integers and slices make a view, or a load and a store; with arrays among the parts
there is a gather or a scatter (`selection`).

Loads, stores and views are unchecked in the IR; the guards and the wrapping of negative indices are emitted here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zyg.ir.core import Const, Value, const
from zyg.ir.types import BOOL, I64

from . import arrays, kinds, lists, selection
from .arrays import ARRAYS, memory, ndim, seen
from .merging import settled
from .opaque import natural, refuse_opaque
from .scalars import scalar_value
from .type_names import certain
from .values import (
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    Known,
    MaybeValue,
    Number,
    RangeValue,
    SliceValue,
    StructValue,
    TupleValue,
    describe,
    is_number,
    is_numeric,
    known,
    number_type,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator

BAD_INDEX = "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices"
_NOT_INTEGERS = "arrays used as indices must be of integer (or boolean) type"
FULL = SliceValue(Known(None), Known(None), Known(None))


def get_item(e: Evaluator, a: Abstract, key: Abstract) -> Abstract:
    parts, copied = parts_of(e, ndim(a), key)
    if any(_selects(p) for p in parts):
        return selection.get(e, a, parts)
    positions = _all_positions(e, a, parts)
    if positions is not None:
        return load(e, a, positions)
    result = basic_view(e, a, parts)
    if copied:
        from zyg.library.numpy_.methods import copy

        return copy(e, result)
    value = memory(result).value
    e.views[id(value)] = (value, memory(a).value, key)
    return result


def set_item(e: Evaluator, a: Abstract, key: Abstract, value: Abstract) -> None:
    value = settled(e, value, "float() argument must be a string or a real number, not 'NoneType'")
    arrays.check_writable(e, memory(a))
    parts, _ = parts_of(e, ndim(a), key)
    if any(_selects(p) for p in parts):
        selection.set(e, a, parts, value)
        return
    positions = _all_positions(e, a, parts)
    if positions is not None:
        store(e, a, positions, value)
        return
    if isinstance(value, ARRAYS):
        given = memory(value).value
        origin = e.views.get(id(given))
        if origin is not None and origin[0] is given and origin[1] is memory(a).value and origin[2] is key:
            return  # `a[i:j] += x` has written through the view already
    arrays.assign(e, basic_view(e, a, parts), value, apart=False)


def load(e: Evaluator, a: Abstract, positions: list[Value]) -> Abstract:
    """An element, by positions in range."""
    if isinstance(a, ComplexArrayValue):
        from . import complex_arrays

        return complex_arrays.load(e, a, positions)
    return Number(e.op("load", memory(a).value, *positions), numpy=True)


def store(e: Evaluator, a: Abstract, positions: list[Value], value: Abstract) -> None:
    """The same for an assignment."""
    if isinstance(value, ARRAYS):
        if ndim(value) > 0:
            e.throw("ValueError", "setting an array element with a sequence.")
        value = arrays.scalar_of(e, value)
        if is_number(value) and isinstance(a, ArrayValue):
            value = Number(arrays.converted(e, value, a.type.dtype), True)
    value = arrays.real_if_needed(e, a, value)
    if lists.is_sequence(e, value):
        e.throw("ValueError", "setting an array element with a sequence.")
    if not (is_numeric(value) if isinstance(a, ComplexArrayValue) else is_number(value)):
        raise e.refuse(
            "an assignment to an element of an array",
            types=[describe(a), describe(value, e.heap)],
            hint="assign a number",
        )
    if isinstance(a, ComplexArrayValue):
        from . import complex_arrays

        complex_arrays.store(e, a, positions, value)
    else:
        e.emit("store", memory(a).value, arrays.element(e, value, memory(a).type.dtype), *positions)


def element_or_row(e: Evaluator, a: Abstract, position: Value) -> Abstract:
    """a[position] for a position in range."""
    if ndim(a) == 1:
        return load(e, a, [position])
    return seen(e, a, "i" + ":" * (ndim(a) - 1), position)


# ------------------------------------------------------------------------------------------------- parts


def is_none(p: Abstract) -> bool:
    return isinstance(p, Known) and p.object is None


def is_ellipsis(p: Abstract) -> bool:
    return isinstance(p, Known) and p.object is Ellipsis


def is_flag(p: Abstract) -> bool:
    return number_type(p) is BOOL


def _selects(p: Abstract) -> bool:
    """Whether a part makes a gather or a scatter."""
    return isinstance(p, ArrayValue) or is_flag(p)


def axes_of_part(p: Abstract) -> int:
    """How many axes of the array a part is for."""
    if isinstance(p, ArrayValue):
        return p.type.ndim if p.type.dtype is BOOL else 1
    return 0 if is_none(p) or is_ellipsis(p) or is_flag(p) else 1


def parts_of(e: Evaluator, ndim: int, key: Abstract) -> tuple[list[Abstract], bool]:
    """The parts of a key for an array of so many dimensions, and whether the result is a copy in any case."""
    given: tuple[Abstract, ...] = (key,)
    if isinstance(key, TupleValue) or isinstance(key, StructValue) and issubclass(key.cls, tuple):
        given = key.items
    elif isinstance(key, Known) and isinstance(key.object, tuple):
        if not all(isinstance(p, (int, slice, type(None), type(Ellipsis))) for p in key.object):
            raise e.refuse("a constant tuple with arrays or lists as a key", hint="write the key out in the brackets")
        given = tuple(map(Known, key.object))
    parts = [_part(e, p) for p in given]
    copied = any(isinstance(p, ARRAYS) and arrays.ndim(p) == 0 for p in given)
    ellipses = [n for n, p in enumerate(parts) if is_ellipsis(p)]
    if len(ellipses) > 1:
        e.throw("IndexError", "an index can only have a single ellipsis ('...')")
    count = sum(map(axes_of_part, parts))
    if count > ndim:
        e.throw("IndexError", f"too many indices for array: array is {ndim}-dimensional, but {count} were indexed")
    where = ellipses[0] + 1 if ellipses else len(parts)
    parts[where:where] = [FULL] * (ndim - count)
    return parts, copied


def _part(e: Evaluator, p: Abstract) -> Abstract:
    if isinstance(p, SliceValue) or is_none(p) or is_ellipsis(p):
        return p
    if isinstance(p, Known) and isinstance(p.object, (np.ndarray, list)):
        raise e.refuse("a constant tuple with arrays or lists as a key", hint="write the key out in the brackets")
    if isinstance(p, Known) and isinstance(p.object, slice):
        return SliceValue(Known(p.object.start), Known(p.object.stop), Known(p.object.step))
    p = natural(settled(e, p, BAD_INDEX))
    refuse_opaque(e, "an index that is", p)
    if lists.is_sequence(e, p):
        p = _array_of_indices(e, p)
    if isinstance(p, ARRAYS):
        if arrays.element_type(p).kind not in "iub":
            e.throw("IndexError", _NOT_INTEGERS)
        return p if arrays.ndim(p) else arrays.scalar_of(e, p)
    certain(e, p, "an index", _as_index)
    scalar = number_type(p)
    if scalar is None or scalar.kind not in "iub":
        e.throw("IndexError", BAD_INDEX)
    return p


def _as_index(cls: type) -> str:
    """What a number of this class is as an index of an array."""
    return "mask" if issubclass(cls, (bool, np.bool_)) else "position" if issubclass(cls, (int, np.integer)) else "none"


def _array_of_indices(e: Evaluator, p: Abstract) -> Abstract:
    """A list or a range as an array."""
    from zyg.library.numpy_ import constructors, gathering

    if isinstance(p, RangeValue):
        return e.call(known(gathering.positions_of_range), [p])
    items = kinds.known_items(e, p)
    if items is not None and not items:
        return arrays.allocate(e, [const(0)], I64, "empty")
    made = constructors.array(e, p)
    if arrays.element_type(made).kind not in "iub":
        e.throw("IndexError", BAD_INDEX)
    return made


def _all_positions(e: Evaluator, a: Abstract, parts: list[Abstract]) -> list[Value] | None:
    """The position along each axis, if the parts are an integer for each."""
    if len(parts) != ndim(a) or not all(is_number(p) for p in parts):
        return None
    floats = memory(a)
    return [_position(e, floats, axis, p) for axis, p in enumerate(parts)]


def basic_view(e: Evaluator, a: Abstract, parts: list[Abstract]) -> Abstract:
    """The view by the integers and slices among the parts; of axes for arrays all is in it, for a bool there is a new one."""
    spec = ""
    operands: list[Value] = []
    axis = 0
    floats = memory(a)
    for p in parts:
        if is_none(p) or is_flag(p):
            spec += "n"
        elif is_ellipsis(p):
            pass
        elif isinstance(p, ArrayValue):
            spec += ":" * axes_of_part(p)
        elif not isinstance(p, SliceValue):
            spec += "i"
            operands.append(_position(e, floats, axis, p))
        elif all(isinstance(x, Known) and x.object is None for x in p.parts()):
            spec += ":"
        else:
            spec += "s"
            operands.extend(slice_bounds(e, p, e.dim(floats.value, axis)))
        axis += axes_of_part(p)
    return seen(e, a, spec, *operands)


def _position(e: Evaluator, a: ArrayValue, axis: int, p: Abstract) -> Value:
    """An index as a position from the start, guarded."""
    if isinstance(p, Known):
        return e.once(("index", a.value, axis, p.object, e.options.boundscheck), lambda: _known_position(e, a, axis, p))
    index = e.builder.cast(scalar_value(e, p), I64)
    return e.once(
        ("position", a.value, axis, index, e.options.boundscheck), lambda: _checked_position(e, a, axis, index)
    )


def _out_of_bounds(axis: int) -> str:
    return f"index {{}} is out of bounds for axis {axis} with size {{}}"


def _known_position(e: Evaluator, a: ArrayValue, axis: int, p: Known) -> Value:
    length = e.dim(a.value, axis)
    index = scalar_value(e, p, I64)
    assert isinstance(index, Const)
    if index.value >= 0:
        if e.options.boundscheck:
            e.guard(e.op("lt", index, length), "IndexError", _out_of_bounds(axis), index, length)
        return index
    if e.options.boundscheck:
        e.guard(e.op("le", const(-index.value), length), "IndexError", _out_of_bounds(axis), index, length)
    return e.op("add", length, index)


def _checked_position(e: Evaluator, a: ArrayValue, axis: int, index: Value) -> Value:
    length = e.dim(a.value, axis)
    if e.is_natural(index):
        if e.options.boundscheck:
            e.guard(e.op("lt", index, length), "IndexError", _out_of_bounds(axis), index, length)
        return index
    position = e.op("select", e.op("lt", index, const(0)), e.op("add", index, length), index)
    if e.options.boundscheck:
        inside = e.op("and", e.op("ge", position, const(0)), e.op("lt", position, length))
        e.guard(inside, "IndexError", _out_of_bounds(axis), index, length)
    return position


# ------------------------------------------------------------------------------------------------ slices


def slice_bounds(e: Evaluator, s: SliceValue, length: Value) -> tuple[Value, Value, Value]:
    """(start, number of items, step) of a slice of a sequence, clipped as Python does (PySlice_AdjustIndices)."""
    start, stop, stride = _parts(e, s)
    if isinstance(stride, Const):
        left_out = _left_out(start, stop) if stride.value == 1 else None
        if left_out is not None:
            return _bounds(e, start, None, length, True)[0], _rest(e, length, left_out), stride
        first, last = _bounds(e, start, stop, length, stride.value > 0)
        if stride.value == -1 and start is None and stop is None:
            return first, length, stride
        return first, _count(e, first, last, stride), stride
    up = e.op("gt", stride, const(0))
    up_first, up_last = _bounds(e, start, stop, length, True)
    down_first, down_last = _bounds(e, start, stop, length, False)
    first = e.op("select", up, up_first, down_first)
    count = e.op(
        "select", up, _count(e, up_first, up_last, stride, True), _count(e, down_first, down_last, stride, False)
    )
    return first, count, stride


def slice_ends(e: Evaluator, s: SliceValue, length: Value) -> tuple[Value, Value, Value]:
    """(start, stop, step) of a slice of a sequence, as `slice.indices` gives them."""
    start, stop, stride = _parts(e, s)
    if isinstance(stride, Const):
        return *_bounds(e, start, stop, length, stride.value > 0), stride
    up = e.op("gt", stride, const(0))
    ends = zip(_bounds(e, start, stop, length, True), _bounds(e, start, stop, length, False))
    first, last = (e.op("select", up, upwards, downwards) for upwards, downwards in ends)
    return first, last, stride


def _parts(e: Evaluator, s: SliceValue) -> tuple[Value | None, Value | None, Value]:
    """The bounds of a slice that has them, and its step, whose negative is a number too (as PySlice_Unpack has it)."""
    start, stop, step = (settled_bound(e, p) for p in s.parts())
    stride: Value = const(1) if step is None else step
    if isinstance(stride, Const):
        stride = const(max(stride.value, -(2**63 - 1)))
        if stride.value == 0:
            e.throw("ValueError", "slice step cannot be zero")
        return start, stop, stride
    stride = e.op("select", e.op("lt", stride, const(-(2**63 - 1))), const(-(2**63 - 1)), stride)
    e.guard(e.op("ne", stride, const(0)), "ValueError", "slice step cannot be zero")
    return start, stop, stride


def settled_bound(e: Evaluator, p: Abstract) -> Value | None:
    if isinstance(p, Known) and p.object is None:
        return None
    if isinstance(p, MaybeValue):
        raise e.refuse(
            "a slice bound that may be None", types=[describe(p)], hint="write both slices out under an `if`"
        )
    refuse_opaque(e, "a bound of a slice that is", natural(p))
    p = lists.index_argument(e, p, lists.SLICE_INDICES)
    if isinstance(p, Known):
        return const(max(-(2**63), min(2**63 - 1, int(p.object))))
    return e.builder.cast(scalar_value(e, p), I64)


def _bounds(e: Evaluator, start: Value | None, stop: Value | None, length: Value, up: bool) -> tuple[Value, Value]:
    def clip(bound: Value) -> Value:
        if e.is_natural(bound):
            wrapped = bound
        elif isinstance(bound, Const):
            wrapped = e.op("add", bound, length)
        else:
            wrapped = e.op("select", e.op("lt", bound, const(0)), e.op("add", bound, length), bound)
        low = const(0) if up else const(-1)
        high = length if up else e.op("sub", length, const(1))
        if not (up and e.is_natural(wrapped)):
            wrapped = e.op("select", e.op("lt", wrapped, low), low, wrapped)
        if isinstance(wrapped, Const) and wrapped.value == 0 and up:
            return wrapped
        return e.op("select", e.op("gt", wrapped, high), high, wrapped)

    if up:
        return (const(0) if start is None else clip(start)), (length if stop is None else clip(stop))
    first = e.op("sub", length, const(1)) if start is None else clip(start)
    return first, const(-1) if stop is None else clip(stop)


def _left_out(start: Value | None, stop: Value | None) -> int | None:
    """How many items a[start:stop] leaves out of a long enough sequence, if that is known: none of `a[1:-1]` has to be compared
    with `a[2:]` when the code runs to see that they are equally long."""
    at_start = 0 if start is None else start.value if isinstance(start, Const) else -1
    at_end = 0 if stop is None else -stop.value if isinstance(stop, Const) else -1
    if at_start < 0 or at_end < 0 or (stop is not None and at_end == 0):
        return None
    return at_start + at_end


def _rest(e: Evaluator, length: Value, left_out: int) -> Value:
    """length - left_out, but not less than 0."""
    if left_out == 0:
        return length
    rest = e.op("add", length, const(-min(left_out, 2**63 - 1)))
    return e.op("select", e.op("gt", rest, const(0)), rest, const(0))


def _count(e: Evaluator, first: Value, last: Value, step: Value, up: bool | None = None) -> Value:
    """How many items from first (in) to last (out)."""
    if up is None:
        assert isinstance(step, Const)
        up = step.value > 0
    low, high = (first, last) if up else (last, first)
    gap = high if isinstance(low, Const) and low.value == 0 else e.op("sub", high, low)
    if isinstance(step, Const) and abs(step.value) == 1:
        if isinstance(low, Const) and low.value == 0:
            return gap
        return e.op("select", e.op("gt", gap, const(0)), gap, const(0))
    size = step if up else e.op("neg", step) if not isinstance(step, Const) else const(-step.value)
    if not isinstance(size, Const):
        size = e.op("select", e.op("gt", size, const(0)), size, const(1))
    steps = e.op("add", e.op("floordiv", e.op("sub", gap, const(1)), size), const(1))
    return e.op("select", e.op("gt", gap, const(0)), steps, const(0))


def flipped(e: Evaluator, a: Abstract) -> Abstract:
    """a[::-1]"""
    if ndim(a) == 0:
        e.type_error("len() of unsized object")
    return get_item(e, a, SliceValue(Known(None), Known(None), Known(-1)))
