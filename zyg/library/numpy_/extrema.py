"""Largest and smallest elements, and where they are.

The derivative of a maximum is that of the element that `argmax` names: the first of equal ones, and the first nan.  The
value itself is found by a reduction; the place is looked for only where a derivative is wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays
from zyg.frontend.comparison import compare
from zyg.frontend.functions import shared, unchecked
from zyg.frontend.values import (
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    Known,
    Number,
    TupleValue,
    describe,
    is_numeric,
    known,
)
from zyg.ir.reductions import identity
from zyg.ir.types import F64

from .. import kernels
from ..intrinsics import cut, machine, select
from ..registry import emits, implements
from .common import axis_index, lines
from .gathering import each_others_rules
from .ordering import laid_without
from .reductions import (
    array_like,
    as_array,
    as_initial,
    check_index_output,
    delivered,
    is_set,
    masked,
    reduction,
    reduction_axes,
    store,
)

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

NONE, FALSE, YES = Known(None), Known(False), Known(True)
_BLOCK = 64
_PART = 1024  # elements, among which the largest is looked for again
EMPTY = "zero-size array to reduction operation {} which has no identity"


def _stopped(e: Evaluator, x: Abstract) -> Abstract:
    assert isinstance(x, (Number, Known))
    if isinstance(x, Number) and x.type.kind == "f":
        return Number(e.op("stop", x.value), x.numpy)
    return x


def _is_nan(e: Evaluator, x: Abstract) -> Any:
    from zyg.frontend.scalars import scalar_value

    return scalar_value(e, compare(e, "ne", x, x))


def _but_nan(kind: str) -> Callable[..., Abstract]:
    """The element, and what every other one wins against for a nan."""

    def term(e: Evaluator, x: Abstract) -> Abstract:
        assert isinstance(x, Number)
        value = e.op("stop", x.value)
        return Number(e.op("select", _is_nan(e, x), identity(kind, x.type), value), True)

    return term


def _extremum(kind: str, name: str, ignored: bool = False) -> Callable[..., Abstract]:
    def emitter(
        e: Evaluator, a: Abstract, axis: Abstract = NONE, out: Abstract = NONE, keepdims: Abstract = FALSE,
        initial: Abstract = NONE, where: Abstract = YES,
    ) -> Abstract:  # fmt: skip
        a = array_like(e, a)
        if is_numeric(a):
            a = as_array_value(e, a)
        if isinstance(a, ComplexArrayValue):
            raise e.refuse(f"np.{name} of complex numbers, whose order is that of their parts", types=[describe(a)],
                           hint="take the maximum of a.real, or of abs(a)")  # fmt: skip
        assert isinstance(a, ArrayValue)
        if isinstance(out, arrays.ARRAYS) and not np.can_cast(
            arrays.numpy_dtype(a.type.dtype), arrays.numpy_dtype(arrays.element_type(out)), "safe"
        ):
            # NumPy compares what it has put there before, converted.
            raise e.refuse(f"np.{name}.reduce(out=...) into a narrower type", types=[describe(a), describe(out)],
                           hint=f"assign it: out[...] = np.{kind}(...)")  # fmt: skip
        floats = a.type.dtype.kind == "f"
        if not a.type.ndim and not is_set(initial) and not masked(where):
            reduction_axes(e, axis, 0)
            return delivered(e, arrays.scalar_of(e, a), out)
        slopes = e.context.level > 0 and floats and a.type.ndim
        if slopes and not ignored and not is_set(initial) and not masked(where):
            whole = len(arrays.axes_of(e, axis, a.type.ndim)) == a.type.ndim
            if whole and not arrays.constant(e, keepdims, "keepdims"):
                return delivered(e, e.call(known(_WHOLE[kind]), [a]), out)
            if a.type.dtype is F64:
                along = TupleValue(tuple(map(Known, arrays.axes_of(e, axis, a.type.ndim))))
                return delivered(e, e.call(known(_along), [a, along, keepdims, known(_OF_ROWS[kind])]), out)
        nan_too = ignored and floats
        term = _but_nan(kind) if nan_too else _stopped
        key = "nan" if nan_too else None
        initial = as_initial(e, initial, a.type.dtype)
        begin = term(e, initial) if is_set(initial) else initial
        value = reduction(e, kind, name, term, a, axis, keepdims, begin, where, key, EMPTY.format(name))
        if nan_too:
            # Where there are only nans, it is one.
            is_number = lambda e, x: Number(e.op("not", _is_nan(e, x)), True)
            begin = is_number(e, initial) if is_set(initial) else NONE
            counts = reduction(e, "or", "numbers", is_number, a, axis, keepdims, begin, where)
            value = e.call(known(_or_nan), [counts, value])
        if slopes:
            axes = arrays.axes_of(e, axis, a.type.ndim)
            if masked(where):
                source = e.call(known(np.where), [where, a, Known(float("nan"))])
            else:
                source = a
            begin = initial if is_set(initial) else NONE
            value = e.call(known(_with_slope), [value, source, TupleValue(tuple(map(Known, axes))), keepdims, begin])
        return delivered(e, value, out)

    return emitter


def as_array_value(e: Evaluator, a: Abstract) -> Abstract:
    return e.call(known(as_array), [a])


def _or_nan(any_number: Any, value: Any) -> Any:
    return np.where(any_number, value, value * np.nan)


for _kind, _name in (("max", "maximum"), ("min", "minimum")):
    emits((np.ndarray, _kind), (np.generic, _kind), getattr(np, _kind), getattr(np, f"a{_kind}"))(
        _extremum(_kind, _name)
    )
    emits(getattr(np, f"nan{_kind}"))(_extremum(_kind, "f" + _kind, ignored=True))


@shared
@unchecked
def first_equal(row: Any, value: Any) -> int:
    """The place of the first element that is `value`, or the first nan if it is one; the length if there is none."""
    n = len(row)
    if row.dtype == np.float64:
        return kernels.first_equal(n, row, row.strides[0], value)
    start = n - n % _BLOCK
    # Blocks that do not have it, in which the processor looks at several elements at once.
    for block in range(n // _BLOCK):
        found = False
        for k in range(_BLOCK):
            x = row[block * _BLOCK + k]
            found |= (x == value) | ((value != value) & (x != x))
        if found:
            start = block * _BLOCK
            break
    for i in range(start, n):
        if (row[i] == value) | ((value != value) & (row[i] != row[i])):
            return i
    return n


@unchecked
def _element_slope(value: Any, row: Any, initial: Any) -> Any:
    """`value`, with the derivative of the element of the row that it is, or else of `initial`, if that is a number."""
    at = first_equal(row, value)
    if at < len(row):
        return _with_slope_of(value, row[at])
    return value if initial is None else _with_slope_of(value, value.dtype.type(initial))


@unchecked
def _with_slope_of(value: Any, element: Any) -> Any:
    one = value.dtype.type(1)
    return machine("slope", value, select(value - value == 0, value * 0 + one, one), element)


def _of_whole_array(kind: str, better: Any, kernel: Any) -> Any:
    """A function that gives the extremum of all elements, with its derivative: the place where it is is remembered."""
    name = better.__name__
    message = EMPTY.format(name)

    def best(row: Any) -> Any:
        return better.reduce(row)

    @emits(best)
    def emit_best(e: Evaluator, row: Abstract) -> Abstract:
        """Without a derivative."""
        assert isinstance(row, ArrayValue)
        return reduction(e, kind, name, _stopped, row, NONE, FALSE, NONE, YES, None, message)

    @shared
    @unchecked
    def found(row: Any) -> Any:
        """The place of the extremum, and its value, without a derivative.  Out of line: a reverse part need not go through its loops."""
        value, first, i = cut(row[0]), 0, 0
        while i < len(row) and value == value:
            # A nan counts as better than all numbers.
            reached = better(value, best(row[i : i + _PART]))
            if reached != value:
                value, first = reached, i
            i += _PART
        return first + first_equal(row[first : first + _PART], value), value

    @unchecked
    def function(a: Any) -> Any:
        row = np.ascontiguousarray(a).reshape(-1)
        if len(row) == 0:
            raise ValueError(message)
        place, value = kernel(len(row), cut(row)) if row.dtype == np.float64 else found(row)
        return _with_slope_of(value, row[place])

    return function


_WHOLE = {
    "max": _of_whole_array("max", np.maximum, kernels.largest),
    "min": _of_whole_array("min", np.minimum, kernels.smallest),
}


@unchecked
def _along(a: Any, axes: Any, keepdims: Any, of_rows: Any) -> Any:
    rows = (a if axes[0] == 1 else a.T) if a.ndim == 2 and len(axes) == 1 else _rows(a, axes)
    return laid_without(of_rows(rows).reshape(kept_shape(a, axes, keepdims)), a, axes, keepdims)


def _of_rows(kernel: Any, message: str) -> Any:
    """A function that gives the extrema of the rows of a matrix of doubles."""

    @unchecked
    def extrema(rows: Any) -> Any:
        n, m = rows.shape
        if m == 0:
            raise ValueError(message)
        step0, step1 = rows.strides
        places = np.empty(n, np.int64)
        kernel(n, m, cut(rows), step0, step1, places)
        return _at_places(rows, places)

    return extrema


_OF_ROWS = {
    "max": _of_rows(kernels.row_largest, EMPTY.format("maximum")),
    "min": _of_rows(kernels.row_smallest, EMPTY.format("minimum")),
}


def _at_places(rows: Any, places: Any) -> Any:
    """An element of each row."""
    result = np.empty(len(rows))
    step0, step1 = rows.strides
    kernels.take_places(len(rows), result, 8, rows, step0, step1, places)
    return result


def _add_at_places(target: Any, places: Any, values: Any) -> None:
    """Add to an element of each row."""
    step0, step1 = target.strides
    kernels.add_places(len(target), values, values.strides[0], target, step0, step1, places)


each_others_rules(_at_places, _add_at_places)


@unchecked
def _with_slope(value: Any, a: Any, axes: Any, keepdims: Any, initial: Any) -> Any:
    rows = _rows(a, axes)
    if not isinstance(value, np.ndarray):
        return _element_slope(value, rows[0], initial)
    flat = value.reshape(-1)
    result = np.empty(flat.shape, flat.dtype)
    for k in range(len(flat)):
        result[k] = _element_slope(flat[k], rows[k], initial)
    return laid_without(result.reshape(value.shape), a, axes, keepdims)


def _rows(a: Any, axes: Any) -> Any:
    """What is reduced into one element, as a row each."""
    if len(axes) == a.ndim:
        return np.ascontiguousarray(a).reshape((1, a.size))
    if len(axes) == 1:
        return lines(a, axes[0])
    count = len(axes)
    moved = np.ascontiguousarray(np.moveaxis(a, axes, tuple(range(a.ndim - count, a.ndim))))
    length = 1
    for n in axes:
        length = length * a.shape[n]
    size = 1
    for n in moved.shape[: a.ndim - count]:
        size = size * n
    return moved.reshape((size, length))


def kept_shape(a: Any, axes: Any, keepdims: bool) -> Any:
    """The shape of a reduction along axes."""
    if keepdims:
        return tuple([1 if n in axes else a.shape[n] for n in range(a.ndim)])
    return tuple([a.shape[n] for n in range(a.ndim) if n not in axes])


@emits(kept_shape)
def _kept_lengths(e: Evaluator, a: Abstract, axes: Abstract, keepdims: Abstract) -> Abstract:

    given = arrays.constant(e, axes, "the axes")
    assert isinstance(given, tuple)
    keep = arrays.constant(e, keepdims, "keepdims")
    lengths: list[Abstract] = []
    for n, d in enumerate(arrays.dims(e, a)):
        if n not in given:
            lengths.append(Number(d))
        elif keep:
            lengths.append(Known(1))
    return TupleValue(tuple(lengths))


@implements(np.ptp)
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    return store(np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims), out, "subtract")


# ------------------------------------------------------------------------------------------------- places


@unchecked
def _places(values: Any, rows: Any) -> Any:
    result = np.empty(len(rows), np.int64)
    for k in range(len(rows)):
        result[k] = first_equal(rows[k], values[k])
    return result


def takes_indices(out: Any) -> None:
    """TypeError where `out` is no place for indices."""


@emits(takes_indices)
def _takes_indices(e: Evaluator, out: Abstract) -> Abstract:
    check_index_output(e, out)
    return NONE


def _argument(best: Any, kernel: Any, name: str) -> Callable[..., Any]:
    """argmax and argmin."""
    message = f"attempt to get {name} of an empty sequence"

    def function(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        a = as_array(a)
        takes_indices(out)
        if axis is None or a.ndim == 0 and axis in (0, -1):
            if a.size == 0:
                raise ValueError(message)
            whole = np.ascontiguousarray(a).reshape(-1)
            if whole.dtype == np.float64:
                place, _ = kernel(len(whole), cut(whole))
            else:
                place = first_equal(whole, best(whole))
            place = np.int64(place)
            if keepdims:
                return store(np.full((1,) * a.ndim, place), out)
            return store(place, out)
        if a.shape[axis_index(axis, a.ndim)] == 0:
            raise ValueError(message)
        values = best(a, axis=axis)  # which says what an axis may be
        axis = axis_index(axis, a.ndim)
        if not isinstance(values, np.ndarray):
            place = np.int64(first_equal(a, values))
            return store(np.full((1,), place) if keepdims else place, out)
        result = _places(values.reshape(-1), lines(a, axis)).reshape(values.shape)
        if keepdims:
            return store(np.expand_dims(result, axis), out)
        return store(result, out)

    return function


argmax = implements((np.ndarray, "argmax"), (np.generic, "argmax"), np.argmax)(
    _argument(np.max, kernels.largest, "argmax")
)
argmin = implements((np.ndarray, "argmin"), (np.generic, "argmin"), np.argmin)(
    _argument(np.min, kernels.smallest, "argmin")
)


def _nan_argument(best: Any) -> Callable[..., Any]:
    def function(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        a = as_array(a)
        takes_indices(out)
        if np.any(np.all(np.isnan(a), axis=axis)):
            raise ValueError("All-NaN slice encountered")
        if axis is None:
            whole = np.ascontiguousarray(a).reshape(-1)
            place = np.int64(first_equal(whole, best(whole)))
            return store(np.full((1,) * a.ndim, place) if keepdims else place, out)
        values = best(a, axis=axis)
        if not isinstance(values, np.ndarray):
            place = np.int64(first_equal(a, values))
            return store(np.full((1,), place) if keepdims else place, out)
        result = _places(values.reshape(-1), lines(a, axis)).reshape(values.shape)
        return store(np.expand_dims(result, axis) if keepdims else result, out)

    return function


implements(np.nanargmax)(_nan_argument(np.nanmax))
implements(np.nanargmin)(_nan_argument(np.nanmin))
