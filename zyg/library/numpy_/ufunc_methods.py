"""The methods of ufuncs: `np.add.reduce` and its relatives of two arguments, `np.add.at`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays, indexing
from zyg.frontend.functions import shared_with_adjoint, unchecked
from zyg.frontend.selection import Selection
from zyg.frontend.values import Abstract, ArrayValue, Known, TupleValue, is_numeric, known
from zyg.ir.types import BOOL, U8

from ..intrinsics import unsupported
from ..registry import emits
from . import views
from .common import from_lines, lines
from .extrema import _rows, kept_shape
from .ordering import laid_at, laid_without
from .reductions import (
    TESTS,
    UNMASKED,
    UNSET,
    array_like,
    as_array,
    as_initial,
    is_passed,
    is_set,
    mask_of,
    reduction_axes,
    store,
)
from .taking import array_to_write
from .ufuncs import as_arrays

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

NONE, FALSE, YES = Known(None), Known(False), Known(True)

# Reductions that are functions of their own.
REDUCTIONS: dict[np.ufunc, Callable[..., Any]] = {
    np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min, **TESTS,
}  # fmt: skip
COMPARISONS = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
RUNNING: dict[np.ufunc, Callable[..., Any]] = {np.add: np.cumsum, np.multiply: np.cumprod}


def _function(e: Evaluator, f: Abstract, method: str) -> np.ufunc:
    assert isinstance(f, Known)
    function = f.object
    if function.nin != 2 or function.nout != 1:
        e.throw("ValueError", f"{method} only supported for binary functions")
    return function


def _operands(e: Evaluator, f: np.ufunc, array: Abstract, dtype: Abstract) -> Abstract:
    """The array that a method goes through, converted where a dtype is passed."""
    array = e.call(known(as_array), [array])
    if is_set(dtype):
        array = e.call(known(np.astype), [array, dtype])
    if f in COMPARISONS and isinstance(array, arrays.ARRAYS) and arrays.element_type(array) is not BOOL:
        e.type_error(f"No loop matching the specified signature and casting was found for ufunc {f.__name__}")
    return array


def _not_a_number(e: Evaluator, array: Abstract, method: str) -> Abstract:
    """The array that has to have an axis."""
    array = array_like(e, array)
    if is_numeric(array) or arrays.ndim(array) == 0:
        e.type_error(f"cannot {method} on a scalar")
    return array


@emits((np.ufunc, "reduce"))
def reduce(
    e: Evaluator, f: Abstract, array: Abstract, axis: Abstract = Known(0), dtype: Abstract = NONE,  # noqa: B008
    out: Abstract = NONE, keepdims: Abstract = FALSE, initial: Abstract = UNSET, where: Abstract = YES,
) -> Abstract:  # fmt: skip
    if isinstance(out, Known) and out.object is Ellipsis:
        return as_arrays(e, reduce(e, f, array, axis, dtype, NONE, keepdims, initial, where))
    function = _function(e, f, "reduce")
    own = REDUCTIONS.get(function)
    given = {"axis": axis, "keepdims": keepdims}
    optional = {"dtype": dtype, "out": out}
    given |= {k: v for k, v in optional.items() if is_set(v)}
    if is_passed(initial):
        given["initial"] = initial
    if not (isinstance(where, Known) and where.object is True):
        given["where"] = where
    if own is not None:
        return e.call(known(own), [array], given)
    array = _operands(e, function, array, dtype)
    axes = reduction_axes(e, axis, arrays.ndim(array))
    if len(axes) > 1 and not _reorderable(function):
        e.throw(
            "ValueError",
            f"reduction operation '{function.__name__}' is not reorderable, so at most one axis may be specified",
        )
    where_to = TupleValue(tuple(map(Known, axes)))
    begin = initial
    if not is_passed(initial):
        begin = Known(255 if function.identity == -1 and arrays.element_type(array) is U8 else function.identity)
    mask = NONE
    if "where" in given:
        if not is_set(begin):
            e.throw("ValueError", UNMASKED.format(function.__name__))
        mask = mask_of(e, where, array)
    return e.call(known(_reduced), [f, array, where_to, keepdims, out, begin, mask])


def _reorderable(function: np.ufunc) -> bool:
    """Whether NumPy reduces along several axes at once: it is asked, as ufuncs do not say."""
    try:
        function.reduce(np.ones((1, 1), np.int64), axis=(0, 1))
    except ValueError:
        return False
    return True


def _begun(initial: Any, dtype: Any) -> Any:
    """What a reduction begins with."""
    return dtype.type(initial)


@emits(_begun)
def _emit_begun(e: Evaluator, initial: Abstract, dtype: Abstract) -> Abstract:
    return as_initial(e, initial, arrays.dtype_of(e, dtype))


@unchecked
def _folded(f: Any, row: Any) -> Any:
    total = row[0]
    for i in range(1, len(row)):
        total = f(total, row[i])
    return total


@unchecked
def _folded_from(f: Any, row: Any, begin: Any, mask: Any) -> Any:
    total = begin
    for i in range(len(row)):
        if mask is None or mask[i]:
            total = f(total, row[i])
    return total


@unchecked
def _reduced(f: Any, a: Any, axes: Any, keepdims: Any, out: Any, initial: Any, mask: Any) -> Any:
    """`initial` is None where it begins with the first element: then there has to be one."""
    rows = _rows(a, axes)
    kind = np.result_type(f(rows[:0, 0], rows[:0, 0]))
    if initial is None:
        if rows.shape[1] == 0:
            raise ValueError(f"zero-size array to reduction operation {f.__name__} which has no identity")
        begin = None
    else:
        begin = _begun(initial, kind)
    masks = None if mask is None else _rows(np.broadcast_to(mask, a.shape), axes)
    if len(axes) == a.ndim:
        total = kind.type(_folded(f, rows[0]) if begin is None else _folded_from(f, rows[0], begin, _row(masks, 0)))
        return store(np.full((1,) * a.ndim, total) if keepdims else total, out)
    result = np.empty(len(rows), kind)
    for k in range(len(rows)):
        result[k] = _folded(f, rows[k]) if begin is None else _folded_from(f, rows[k], begin, _row(masks, k))
    return store(laid_without(result.reshape(kept_shape(a, axes, keepdims)), a, axes, keepdims), out)


def _row(masks: Any, k: int) -> Any:
    return None if masks is None else masks[k]


@emits((np.ufunc, "accumulate"))
def accumulate(
    e: Evaluator, f: Abstract, array: Abstract, axis: Abstract = Known(0), dtype: Abstract = NONE,  # noqa: B008
    out: Abstract = NONE,
) -> Abstract:  # fmt: skip
    function = _function(e, f, "accumulate")
    array = _not_a_number(e, array, "accumulate")
    own = RUNNING.get(function)
    if own is not None:
        given = {"axis": axis} | {k: v for k, v in (("dtype", dtype), ("out", out)) if is_set(v)}
        return e.call(known(own), [array], given)
    return e.call(known(_accumulated), [f, _operands(e, function, array, dtype), axis, out])


def _accumulated(f: Any, array: Any, axis: Any, out: Any) -> Any:
    return store(accumulated(f, as_array(array), axis), out)


@shared_with_adjoint
@unchecked
def accumulated(f: Any, a: Any, axis: int) -> Any:
    rows = lines(a, axis)
    result = np.empty(rows.shape, np.result_type(f(rows[:0], rows[:0])))
    for k in range(len(rows)):
        row, into = rows[k], result[k]
        if len(row) > 0:
            total = row[0]
            into[0] = total
            for i in range(1, len(row)):
                total = f(total, row[i])
                into[i] = total
    return from_lines(result, a, axis % a.ndim, "I")


@emits((np.ufunc, "reduceat"))
def reduceat(
    e: Evaluator, f: Abstract, array: Abstract, indices: Abstract, axis: Abstract = Known(0),  # noqa: B008
    dtype: Abstract = NONE, out: Abstract = NONE,
) -> Abstract:  # fmt: skip
    function = _function(e, f, "reduceat")
    array = _not_a_number(e, array, "reduceat")
    if function is np.power:
        raise e.refuse("np.power.reduceat, which in NumPy depends on how the array lies in memory", hint="write a loop")
    if not isinstance(indices, arrays.ARRAYS):
        indices = e.call(known(np.astype), [e.call(known(as_array), [indices]), known(int)])
    array = _operands(e, function, array, dtype)
    if not is_set(dtype) and function in RUNNING:
        array = e.call(known(_widened), [array])
    own = REDUCTIONS.get(function, _fold)
    return e.call(known(_reduced_at), [f, known(own), array, indices, axis, out])


def _widened(a: Any) -> Any:
    """Sums and products of bools and small integers are of int64."""
    if a.dtype.kind == "u":
        unsupported("sums and products of uint8 by reduceat (which are of uint64)", "convert first: a.astype(int)")
    return a.astype(np.int64) if a.dtype.kind == "b" or a.dtype == np.int32 else a


def _fold(f: Any, part: Any) -> Any:
    return _folded(f, part)


@unchecked
def _reduced_at(f: Any, own: Any, a: Any, indices: Any, axis: Any, out: Any) -> Any:
    """Of each line, what is from an index to the next one; the item at the index where that is nothing."""
    places = as_array(indices)
    if places.ndim != 1:
        raise ValueError(
            "object of too small depth for desired array" if places.ndim == 0 else "object too deep for desired array"
        )
    if places.dtype.kind not in "iub":
        raise TypeError(f"Cannot cast array data from {places.dtype!r} to dtype('int64') according to the rule 'safe'")
    rows = lines(a, axis)
    n = rows.shape[1]
    for i in places:
        if i < 0 or i >= n:
            raise IndexError(f"index {i} out-of-bounds in {f.__name__}.reduceat [0, {n})")
    result = np.empty((len(rows), len(places)), np.result_type(f(rows[:0], rows[:0])))
    for k in range(len(rows)):
        for j in range(len(places)):
            start = int(places[j])
            stop = int(places[j + 1]) if j + 1 < len(places) else n
            if start + 1 < stop:
                part = rows[k, start:stop]
                result[k, j] = own(f, part) if own is _fold else own(part)
            else:
                result[k, j] = rows[k, start]
    return store(laid_at(from_lines(result, a, axis % a.ndim, "C"), a, axis % a.ndim), out)


@emits((np.ufunc, "outer"))
def outer(e: Evaluator, f: Abstract, a: Abstract, b: Abstract) -> Abstract:
    _function(e, f, "outer product")
    return e.call(known(_outer), [f, a, b])


def _outer(f: Any, a: Any, b: Any) -> Any:
    a, b = as_array(a), as_array(b)
    return f(np.expand_dims(a, tuple(range(a.ndim, a.ndim + b.ndim))), b)


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
    array_to_write(e, a, "at")
    parts, _ = indexing.parts_of(e, arrays.ndim(a), indices)
    given = [] if b is None else [b if is_numeric(b) else views.as_array(e, b)]
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
