"""Sums and their relatives, of all elements or along axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.errors import NeedsConstant
from zyg.frontend import arrays, lists
from zyg.frontend.comparison import truth
from zyg.frontend.elementwise import broadcast_shape, check_fits_output, lift, real_part
from zyg.frontend.merging import settled
from zyg.frontend.operators import binary
from zyg.frontend.reducing import reduce
from zyg.frontend.scalars import scalar_value
from zyg.frontend.values import (
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    ComplexValue,
    Known,
    Number,
    describe,
    is_number,
    is_numeric,
    known,
)
from zyg.ir.core import const, scalar_type
from zyg.ir.types import BOOL, F32, F64, I32, I64, U8, Scalar

from ..registry import emits, implements
from .common import result_dtype, root
from .ufuncs import as_type, check_mask, check_output, fits_kind

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

NONE, FALSE, YES = Known(None), Known(False), Known(True)
# `initial` that is not passed: 0 for a sum. None, passed, says that there is none.
UNSET = Known(np._NoValue)
UNMASKED = "reduction operation '{}' does not have an identity, so to use a where mask one has to specify 'initial'"


def array_like(e: Evaluator, v: Abstract) -> Abstract:
    """An array for what NumPy makes one of; numbers stay what they are."""
    v = settled(e, v, "unsupported operand type: 'NoneType'")
    if is_numeric(v) or isinstance(v, arrays.ARRAYS):
        return v
    if lists.is_list(e, v) or lists.all_items(e, v) is not None:
        from .constructors import array

        return array(e, v)
    raise e.refuse("a reduction of this", types=[describe(v, e.heap)], hint="pass an array")


def is_set(v: Abstract) -> bool:
    """Whether an optional argument was given."""
    return not (isinstance(v, Known) and (v.object is None or v.object is np._NoValue))


def is_passed(initial: Abstract) -> bool:
    """Whether `initial` was passed, if it is None."""
    return not (isinstance(initial, Known) and initial.object is np._NoValue)


def without_identity(initial: Abstract, name: str) -> str | None:
    """The error for sums or products of nothing, where `initial=None` was passed."""
    if isinstance(initial, Known) and initial.object is None:
        return f"zero-size array to reduction operation {name} which has no identity"
    return None


def reduction_axes(e: Evaluator, axis: Abstract, ndim: int) -> tuple[int, ...]:
    """The axes of a reduction: what has no dimensions may be reduced along its first and its last one."""
    if ndim == 0 and isinstance(axis, Known) and axis.object in (0, -1):
        return ()
    return arrays.axes_of(e, axis, ndim)


def flag_of(e: Evaluator, v: Abstract, name: str) -> bool:
    if not isinstance(v, Known):
        what, hint = f"`{name}` that is not known when compiling", f"write {name}=True or {name}=False"
        raise NeedsConstant(what, e.position, hint=hint)
    return bool(v.object)


def masked(where: Abstract) -> bool:
    return not (isinstance(where, Known) and where.object is True)


def as_initial(e: Evaluator, initial: Abstract, scalar: Scalar) -> Abstract:
    """What a reduction of elements of this type begins with, as an element that is set by itself; what is not set stays as it is."""
    if not is_set(initial):
        return initial
    initial = settled(e, initial, "unsupported operand type: 'NoneType'")
    if isinstance(initial, arrays.ARRAYS):
        if arrays.ndim(initial) and scalar is not BOOL:
            e.throw("ValueError", "setting an array element with a sequence.")
        initial = Known(True) if arrays.ndim(initial) else arrays.scalar_of(e, initial)
    if scalar is arrays.COMPLEX:
        return as_type(e, initial, scalar)
    if scalar is BOOL:
        return Number(truth(e, initial), True)
    if isinstance(initial, ComplexValue):
        e.type_error("float() argument must be a string or a real number, not 'complex'" if scalar.kind == "f" else
                     "int() argument must be a string, a bytes-like object or a real number, not 'complex'")  # fmt: skip
    return Number(arrays.element(e, initial, scalar), True)


def mask_of(e: Evaluator, where: Abstract, a: Abstract) -> Abstract:
    """The mask of a reduction of an array, to which it has to fit."""
    check_mask(e, where)
    mask = array_like(e, where)
    if not isinstance(mask, arrays.ARRAYS):
        return mask
    whole = arrays.dims(e, a)
    if arrays.ndim(mask) > len(whole):
        e.throw("ValueError", "input operand has more dimensions than allowed by the axis remapping")
    fault = "operands could not be broadcast together with remapped shapes [original->remapped]:"
    common = broadcast_shape(e, [real_part(e, a), real_part(e, mask)], fault=fault)
    for own, length in zip(whole, common, strict=True):
        if own is not length:
            text = "(" + ",".join(["{}"] * len(whole)) + (",)" if len(whole) == 1 else ")")
            fault = f"non-broadcastable operand with shape {text} doesn't match the broadcast shape {text}"
            e.guard(e.op("eq", own, length), "ValueError", fault, *whole, *common)
    return mask


def delivered(e: Evaluator, result: Abstract, out: Abstract, ufunc: str | None = None) -> Abstract:
    """What a reduction gives, or `out` that it was written to: of `ufunc` if it is of a kind that fits, of anything else converted."""
    if not is_set(out):
        return result
    check_is_array(e, out)
    count, own = arrays.ndim(out), arrays.ndim(result) if isinstance(result, arrays.ARRAYS) else 0
    if count != own:
        e.throw("ValueError", f"output array has the wrong number of dimensions: {count} instead of {own}")
    if isinstance(result, arrays.ARRAYS):
        for p, q in zip(arrays.dims(e, out), arrays.dims(e, result), strict=True):
            message = (
                "operands could not be broadcast together: the output of a reduction has the lengths of its result"
            )
            e.guard(e.op("eq", p, q), "ValueError", message)
    if ufunc is not None:
        check_output(e, ufunc, element_type(e, result), arrays.element_type(out))
    return put(e, result, out)


def delivered_elements(e: Evaluator, result: Abstract, out: Abstract, ufunc: str) -> Abstract:
    """What `ufunc` gives element by element, or `out` that it was broadcast to."""
    if not is_set(out):
        return result
    check_is_array(e, out)
    check_output(e, ufunc, element_type(e, result), arrays.element_type(out))
    check_fits_output(e, out, result)
    return put(e, result, out)


def check_is_array(e: Evaluator, out: Abstract) -> None:
    if not isinstance(out, arrays.ARRAYS):
        e.type_error("return arrays must be of ArrayType")


def put(e: Evaluator, result: Abstract, out: Abstract) -> Abstract:
    arrays.check_writable(e, arrays.memory(out))
    arrays.assign(e, out, result if isinstance(result, arrays.ARRAYS) else as_element(e, result, out))
    return out


def element_type(e: Evaluator, a: Abstract) -> Scalar:
    return arrays.element_type(a if isinstance(a, arrays.ARRAYS) else _zero_dimensional(e, a))


def as_element(e: Evaluator, v: Abstract, a: Abstract) -> Abstract:
    """A number as an element of an array, converted as arrays are."""
    return Number(arrays.converted(e, v, a.type.dtype), True) if isinstance(a, ArrayValue) and is_number(v) else v


def check_index_output(e: Evaluator, out: Abstract) -> None:
    """That indices can be written to `out`: NumPy asks whether they can be read back."""
    if isinstance(out, arrays.ARRAYS) and not fits_kind(arrays.element_type(out), I64):
        e.type_error(
            f"Cannot cast array data from {arrays.numpy_dtype(arrays.element_type(out))!r} to dtype('int64') according to the "
            "rule 'safe'"
        )


_Term = Callable[["Evaluator", Abstract], Abstract]


def _masked_term(term: _Term, neutral: Callable[[Evaluator, Abstract], Abstract]) -> Callable[..., Abstract]:
    """The term where a mask is set, and something that changes nothing elsewhere."""

    def function(e: Evaluator, x: Abstract, mask: Abstract) -> Abstract:
        from .selection import choose

        value = term(e, x)
        return choose(e, truth(e, mask), value, neutral(e, value))

    return function


def reduction(
    e: Evaluator,
    kind: str,
    name: str,
    term: _Term,
    a: Abstract,
    axis: Abstract,
    keepdims: Abstract,
    initial: Abstract,
    where: Abstract,
    key: object = None,
    nonempty: str | None = None,
) -> Abstract:
    """`np.add.reduce` and its relatives: what `term` makes of the elements, reduced. `initial` is of the type that it gives."""
    if is_numeric(a):
        a = _zero_dimensional(e, a)
    assert isinstance(a, arrays.ARRAYS)
    axes = reduction_axes(e, axis, arrays.ndim(a))
    begin = initial if is_set(initial) else None
    operands: list[Abstract] = [a]
    function: Callable[..., Abstract] = term
    if masked(where):
        from zyg.ir.reductions import identity

        if nonempty is not None and begin is None:
            e.throw("ValueError", UNMASKED.format(name))
        operands.append(mask_of(e, where, a))
        neutral = lambda e, v: Number(identity(kind, v.type), True) if isinstance(v, Number) else Known(0.0)
        function = _masked_term(term, neutral)
    if arrays.ndim(a) == 0:
        numbers = [arrays.scalar_of(e, v) if isinstance(v, arrays.ARRAYS) else v for v in operands]
        value = function(e, *numbers)
        return value if begin is None else _step(e, kind, begin, value)
    keep = flag_of(e, keepdims, "keepdims")
    whole_key = (name, key, masked(where))
    return reduce(e, kind, whole_key, function, operands, axes, keep, begin, nonempty if begin is None else None)


def _zero_dimensional(e: Evaluator, v: Abstract) -> Abstract:
    from .constructors import array

    return array(e, v)


def _step(e: Evaluator, kind: str, x: Abstract, y: Abstract) -> Abstract:
    from zyg.frontend.operators import binary
    from zyg.ir.reductions import combine

    if kind in ("add", "mul"):
        return binary(e, kind, x, y)
    assert isinstance(y, Number)
    return Number(combine(e.builder, kind, scalar_value(e, x, y.type), y.value), True)


def wide(e: Evaluator, a: Abstract, dtype: Abstract, what: str, out: Abstract = NONE) -> Scalar:
    """The type that sums and products have: integers are as wide as can be, or as `out` asks for."""
    own = element_type(e, a)
    if is_set(dtype):
        return arrays.dtype_of(e, dtype, own)
    if isinstance(out, arrays.ARRAYS):
        common = np.result_type(*(arrays.numpy_dtype(t) for t in (own, arrays.element_type(out))))
        return arrays.dtype_of(e, Known(common)) if common.kind != "b" else I64
    if own is U8:
        raise e.refuse(
            f"the {what} of a uint8 array, which is a uint64", hint="convert it: a.astype(np.int64), or dtype=np.int64"
        )
    return I64 if own in (BOOL, I32) else own


@emits((np.ndarray, "sum"), (np.generic, "sum"), np.sum)
def sum_(
    e: Evaluator, a: Abstract, axis: Abstract = NONE, dtype: Abstract = NONE, out: Abstract = NONE,
    keepdims: Abstract = FALSE, initial: Abstract = UNSET, where: Abstract = YES,
) -> Abstract:  # fmt: skip
    a = array_like(e, a)
    scalar = wide(e, a, dtype, "sum", out)
    empty = without_identity(initial, "add")
    if (
        isinstance(a, ComplexArrayValue) and not masked(where) and scalar is arrays.COMPLEX
        and not is_set(initial) and empty is None
    ):  # fmt: skip
        axes = reduction_axes(e, axis, a.ndim)
        if len(axes) == a.ndim and not flag_of(e, keepdims, "keepdims"):
            return delivered(e, _sum_of_complex(e, a), out)
    term = lambda e, x: as_type(e, x, scalar)
    initial = as_initial(e, initial, scalar)
    result = reduction(e, "add", "add", term, a, axis, keepdims, initial, where, scalar, empty)
    return delivered(e, result, out)


def _sum_of_complex(e: Evaluator, a: ComplexArrayValue) -> Abstract:
    from ..complex_ import sum_array
    from .shaping import reshape

    if a.ndim == 0:
        return arrays.scalar_of(e, a)
    whole = reshape(e, a, Known(-1)) if a.ndim > 1 and a.floats.type.layout == "C" else a
    assert isinstance(whole, ComplexArrayValue)
    return sum_array(e, whole)


_COUNTS_ARE_INT = type(np.count_nonzero(np.ones(1))) is int  # up to some version of NumPy


@emits(np.count_nonzero)
def count_nonzero(e: Evaluator, a: Abstract, axis: Abstract = NONE, keepdims: Abstract = FALSE) -> Abstract:
    term = lambda e, x: Number(e.builder.cast(truth(e, x), I64), True)
    result = reduction(e, "add", "count_nonzero", term, array_like(e, a), axis, keepdims, NONE, YES)
    return Number(result.value) if isinstance(result, Number) and _COUNTS_ARE_INT else result


def _test(kind: str, ufunc: np.ufunc, test: Callable[..., Any]) -> None:
    """`test` is the reduction by a ufunc, which may begin with something and has a dtype, which may be no other one."""
    name = ufunc.__name__

    def reduced(
        e: Evaluator, a: Abstract, axis: Abstract = NONE, dtype: Abstract = NONE, out: Abstract = NONE,
        keepdims: Abstract = FALSE, initial: Abstract = UNSET, where: Abstract = YES,
    ) -> Abstract:  # fmt: skip
        if is_set(dtype) and arrays.dtype_of(e, dtype) is not BOOL:
            e.type_error(f"No loop matching the specified signature and casting was found for ufunc {name}")
        term = lambda e, x: Number(truth(e, x), True)
        begin, empty = as_initial(e, initial, BOOL), without_identity(initial, name)
        result = reduction(e, kind, name, term, array_like(e, a), axis, keepdims, begin, where, nonempty=empty)
        return delivered(e, result, out)

    def tested(
        e: Evaluator, a: Abstract, axis: Abstract = NONE, out: Abstract = NONE, keepdims: Abstract = FALSE,
        where: Abstract = YES,
    ) -> Abstract:  # fmt: skip
        return reduced(e, a, axis, NONE, out, keepdims, UNSET, where)

    emits((np.ndarray, test.__name__), (np.generic, test.__name__), test)(tested)
    emits(TESTS[ufunc])(reduced)


def _all_of(a: Any) -> Any: ...


def _any_of(a: Any) -> Any: ...


TESTS: dict[np.ufunc, Callable[..., Any]] = {np.logical_and: _all_of, np.logical_or: _any_of}
_test("and", np.logical_and, np.all)
_test("or", np.logical_or, np.any)


# ----------------------------------------------------------------------------------------------- averages


def mean_dtype(a: Any, dtype: Any) -> Any:
    """The dtype in which NumPy sums up for a mean."""
    return dtype if dtype is not None else np.dtype(float) if a.dtype.kind in "iub" else a.dtype


@emits(mean_dtype)
def _mean_dtype(e: Evaluator, a: Abstract, dtype: Abstract) -> Abstract:
    own = element_type(e, a)
    scalar = arrays.dtype_of(e, dtype, F64 if own.kind in "iub" else own)
    if scalar.kind in "iub":
        raise e.refuse(
            f"a mean or variance of dtype={arrays.numpy_dtype(scalar)}, which NumPy cuts off", hint="leave `dtype` out"
        )
    return Known(arrays.numpy_dtype(scalar))


def as_array(a: Any) -> Any:
    return np.asarray(a)


@emits(as_array)
def _as_array(e: Evaluator, a: Abstract) -> Abstract:
    a = array_like(e, a)
    return a if isinstance(a, arrays.ARRAYS) else _zero_dimensional(e, a)


def reduced_size(a: Any, axis: Any) -> int:
    """How many elements there are along these axes."""
    axes = range(a.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return int(np.prod([a.shape[n] for n in axes], dtype=np.int64))


@emits(reduced_size)
def _reduced_size(e: Evaluator, a: Abstract, axis: Abstract) -> Abstract:
    own = arrays.dims(e, a)
    return arrays.counted(e, arrays.product(e, [own[n] for n in arrays.axes_of(e, axis, len(own))]))


def store(result: Any, out: Any, ufunc: Any = None) -> Any:
    return result


@emits(store)
def _store(e: Evaluator, result: Abstract, out: Abstract, ufunc: Abstract = NONE) -> Abstract:
    return delivered(e, result, out, arrays.constant(e, ufunc, "the name of a ufunc"))


def over_count(total: Any, count: Any) -> Any:
    """A sum over a number of terms, in the type of the sum."""
    return total / count


@emits(over_count)
def _over_count(e: Evaluator, total: Abstract, count: Abstract) -> Abstract:
    """Integers that are NumPy's would make doubles of singles."""

    from .methods import astype

    if element_type(e, total) is F32:
        if isinstance(count, ArrayValue):
            count = astype(e, count, Known(np.dtype(np.float32)))
        elif isinstance(count, Number) and count.numpy:
            count = Number(arrays.converted(e, count, F32), True)
    return binary(e, "truediv", total, count)


def _count(a: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    """How many elements there are along an axis that a mask lets through."""
    return _masked_count(a, axis, keepdims, where)


@emits(_count)
def _emit_count(e: Evaluator, a: Abstract, axis: Abstract, keepdims: Abstract, where: Abstract) -> Abstract:
    if isinstance(where, Known) and where.object is True:
        return _reduced_size(e, a, axis)
    return e.call(known(_masked_count), [a, axis, keepdims, where])


def _masked_count(a: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    return np.sum(np.broadcast_to(where, a.shape), axis=axis, dtype=np.int64, keepdims=keepdims)


@implements((np.ndarray, "mean"), (np.generic, "mean"), np.mean)
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    a = as_array(a)
    total = np.sum(a, axis=axis, dtype=mean_dtype(a, dtype), keepdims=keepdims, where=where)
    return store(over_count(total, _count(a, axis, keepdims, where)), out)


def freedom(ddof: Any, correction: Any) -> Any:
    """The degrees of freedom to be taken off, which have two names."""
    if correction is None:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


def _degrees(a: Any, axis: Any, keepdims: Any, where: Any, ddof: Any) -> Any:
    """How many elements there are, less the degrees of freedom."""
    count = _count(a, axis, keepdims, where)
    if where is True:
        return max(count - ddof, 0)
    return np.maximum(count - ddof, 0)


def _passive(x: Any) -> Any:
    """`x` without a derivative, element by element: so it is done where the elements are used."""
    return x


@emits(_passive)
def _emit_passive(e: Evaluator, x: Abstract) -> Abstract:
    return lift(e, "stop", lambda e, x: Number(e.op("stop", scalar_value(e, x)), True), (x,))


def _about_mean(squares: Any, whole: Any, count: Any) -> Any:
    """The sum of squares about a constant, with the derivative of that about the mean."""
    return squares


@emits(_about_mean)
def _emit_about_mean(e: Evaluator, squares: Abstract, whole: Abstract, count: Abstract) -> Abstract:
    """The sum of (x - c)**2, with the derivative of the sum of (x - c)**2 less (the sum of x - c)**2 / count.

    That does not depend on c, so that c, the mean, need not be differentiated. The second sum is 0 there; what it adds to the
    gradient is therefore known before the squares are summed."""

    def function(e: Evaluator, squares: Abstract, whole: Abstract, count: Abstract) -> Abstract:
        total, n = scalar_value(e, squares), scalar_value(e, count)
        type = scalar_type(total)
        left = e.op("slope", const(0.0, type), const(1.0, type), scalar_value(e, whole))
        factor = e.op("div", e.op("mul", const(-2.0, type), left), e.builder.cast(n, type))
        return Number(e.op("slope", total, factor, left), True)

    return lift(e, "var", function, (squares, whole, count))


@implements((np.ndarray, "var"), (np.generic, "var"), np.var)
def var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = None, correction: Any = None,
) -> Any:  # fmt: skip
    a = as_array(a)
    kind = mean_dtype(a, dtype)
    if where is True and mean is None and a.dtype.kind == kind.kind == "f":
        centre = over_count(np.sum(a, axis=axis, dtype=kind, keepdims=True), _count(a, axis, True, True))
        d = a - _passive(centre)
        total = np.sum(d * d, axis=axis, dtype=dtype, keepdims=keepdims)
        whole = np.sum(a, axis=axis, dtype=dtype, keepdims=keepdims)
        total = _about_mean(total, whole, reduced_size(a, axis))
        return store(over_count(total, _degrees(a, axis, keepdims, True, freedom(ddof, correction))), out)
    if mean is None:
        whole = np.sum(a, axis=axis, dtype=kind, keepdims=True, where=where)
        mean = over_count(whole, _count(a, axis, True, where))
    d = a - mean
    squares = (d.real * d.real + d.imag * d.imag) if d.dtype.kind == "c" else d * d
    total = np.sum(squares, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    return store(over_count(total, _degrees(a, axis, keepdims, where, freedom(ddof, correction))), out)


@implements((np.ndarray, "std"), (np.generic, "std"), np.std)
def std(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = None, correction: Any = None,
) -> Any:  # fmt: skip
    spread = var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    return store(root(spread), out, "sqrt")


@implements(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: Any = False, *, keepdims: Any = False) -> Any:
    a = as_array(a)
    if weights is None:
        result = np.mean(a, axis, keepdims=keepdims)
        scale: Any = np.float64(reduced_size(a, axis))
    else:
        weights = as_array(weights)
        if weights.ndim != a.ndim:
            weights = _along(weights, a, axis)
        elif weights.shape != a.shape:
            if axis is None:
                raise TypeError(UNLIKE_WEIGHTS)
            if not (isinstance(axis, tuple) and len(axis) == a.ndim):
                raise ValueError(UNFIT_WEIGHTS)
            weights = _along(weights, a, axis)
        kind = result_dtype(a, weights, np.dtype(float)) if a.dtype.kind in "iub" else result_dtype(a, weights)
        weights = weights.astype(kind, copy=False)
        scale = np.sum(weights, axis=axis, keepdims=keepdims)
        if np.any(scale == 0.0):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        result = np.sum(a.astype(kind, copy=False) * weights, axis=axis, keepdims=keepdims) / scale
    if returned:
        if not isinstance(result, np.ndarray):
            return result, result.dtype.type(scale)
        if isinstance(scale, np.ndarray) and scale.shape == result.shape:
            return result, scale
        return result, np.broadcast_to(scale, result.shape).astype(result.dtype, "C")
    return result


UNLIKE_WEIGHTS = "Axis must be specified when shapes of a and weights differ."
UNFIT_WEIGHTS = "Shape of weights must be consistent with shape of a along specified axis."


def _along(weights: Any, a: Any, axis: Any) -> Any:
    """Weights of as many dimensions as there are axes, as they stand along these."""
    if axis is None:
        raise TypeError(UNLIKE_WEIGHTS)
    axes = axis if isinstance(axis, tuple) else (axis,)
    last = tuple(range(a.ndim - len(axes), a.ndim))
    shape = np.moveaxis(a, axes, last).shape
    if weights.shape != shape[a.ndim - len(axes) :]:
        raise ValueError(UNFIT_WEIGHTS)
    return np.moveaxis(weights.reshape((1,) * (a.ndim - len(axes)) + weights.shape), last, axes)
