"""NumPy: constructors, methods of arrays, reductions, functions of scalars.

Arrays are passed as they are; what loops over elements is Python code, whose indices are in range by construction and so
are not checked (`unchecked`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays, lists
from zyg.frontend.arrays import allocate, dtype_of, element, shape_argument
from zyg.frontend.boundary import array_as, scalar_value
from zyg.frontend.calls import unchecked
from zyg.frontend.elementwise import lift, sum_elements
from zyg.frontend.operators import as_numpy, binary, math_op, python_type_name, settled, to_float, to_int, unary
from zyg.frontend.values import (
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    ComplexValue,
    Known,
    Number,
    TupleValue,
    describe,
    is_number,
    is_numeric,
    join_numbers,
    number_type,
)
from zyg.ir.core import Const, Value, const
from zyg.ir.types import BOOL, F32, F64, I32, I64, U8, Array, Scalar

from .intrinsics import machine
from .registry import emits, implements

if TYPE_CHECKING:
    from zyg.frontend.infer import Evaluator

NONE, ZERO, YES = Known(None), Known(0), Known(True)

# ------------------------------------------------------------------------------------------- constructors


@emits(np.zeros)
def zeros(e: Evaluator, shape: Abstract, dtype: Abstract = NONE, order: Abstract = NONE) -> Abstract:
    _check_order(e, order)
    return allocate(e, shape_argument(e, shape), dtype_of(e, dtype), "zeros")


@emits(np.empty)
def empty(e: Evaluator, shape: Abstract, dtype: Abstract = NONE, order: Abstract = NONE) -> Abstract:
    _check_order(e, order)
    return allocate(e, shape_argument(e, shape), dtype_of(e, dtype), "empty")


def _check_order(e: Evaluator, order: Abstract) -> None:
    if not isinstance(order, Known) or order.object not in (None, "C", "K", "A"):
        raise e.refuse("an array in Fortran order", hint="leave `order` out")


def _filled(e: Evaluator, dims: list[Value], dtype: Scalar, value: Abstract) -> Abstract:
    array = allocate(e, dims, dtype, "empty")
    arrays.assign(e, array, value)
    return array


def _scalar_type(v: Abstract) -> Scalar | None:
    """The element type of the array that np.array makes of a number; None for anything else."""
    return arrays.COMPLEX if isinstance(v, ComplexValue) else number_type(v)


@emits(np.ones)
def ones(e: Evaluator, shape: Abstract, dtype: Abstract = NONE, order: Abstract = NONE) -> Abstract:
    _check_order(e, order)
    return _filled(e, shape_argument(e, shape), dtype_of(e, dtype), Known(1))


@emits(np.full)
def full(
    e: Evaluator, shape: Abstract, fill_value: Abstract, dtype: Abstract = NONE, order: Abstract = NONE
) -> Abstract:
    _check_order(e, order)
    default = _scalar_type(fill_value)
    if default is None:
        raise e.refuse("np.full of something else than a number", types=[describe(fill_value, e.heap)])
    return _filled(e, shape_argument(e, shape), dtype_of(e, dtype, default), fill_value)


def _like(e: Evaluator, a: Abstract, dtype: Abstract, fill: str, value: Abstract | None) -> Abstract:
    a = settled(e, a, "None has no shape")
    if is_numeric(a):
        scalar = dtype_of(e, dtype, _scalar_type(a) or F64)
        return _filled(e, [], scalar, value or Known(0))
    if not isinstance(a, arrays.ARRAYS):
        raise e.refuse("an array like something that is no array", types=[describe(a, e.heap)], hint="pass an array")
    scalar = dtype_of(e, dtype, a.type.dtype if isinstance(a, ArrayValue) else arrays.COMPLEX)
    array = arrays.allocate_unchecked(e, arrays.dims(e, a), scalar, fill)
    if value is not None:
        arrays.assign(e, array, value)
    return array


@emits(np.zeros_like)
def zeros_like(e: Evaluator, a: Abstract, dtype: Abstract = NONE) -> Abstract:
    return _like(e, a, dtype, "zeros", None)


@emits(np.empty_like)
def empty_like(e: Evaluator, prototype: Abstract, dtype: Abstract = NONE) -> Abstract:
    return _like(e, prototype, dtype, "empty", None)


@emits(np.ones_like)
def ones_like(e: Evaluator, a: Abstract, dtype: Abstract = NONE) -> Abstract:
    return _like(e, a, dtype, "empty", Known(1))


@emits(np.full_like)
def full_like(e: Evaluator, a: Abstract, fill_value: Abstract, dtype: Abstract = NONE) -> Abstract:
    return _like(e, a, dtype, "empty", fill_value)


@emits(np.arange)
def arange(e: Evaluator, *args: Abstract, dtype: Abstract = NONE) -> Abstract:
    from zyg.frontend.infer import known

    if not 1 <= len(args) <= 3:
        raise e.refuse("np.arange with this number of arguments", hint="write np.arange(start, stop, step)")
    bounds: list[Abstract] = [*args]
    start, stop = (bounds[0], bounds[1]) if len(bounds) > 1 else (ZERO, bounds[0])
    step = bounds[2] if len(bounds) > 2 else Known(1)
    joined = join_numbers([start, stop, step]) if all(map(is_number, (start, stop, step))) else None
    if joined is None:
        raise e.refuse("np.arange of these arguments", types=[describe(a, e.heap) for a in args])
    scalar = dtype_of(e, dtype, I64 if joined[0] is BOOL else joined[0])
    if scalar is arrays.COMPLEX:
        raise e.refuse("np.arange of complex numbers", hint="fill an array made with np.zeros(n, complex)")
    if joined[0].kind == "f":
        return e.call(
            known(arange_floats), [*(Number(to_float(e, v)) for v in (start, stop, step)), Known(arrays.DTYPES[scalar])]
        )
    return e.call(
        known(arange_ints), [*(Number(to_int(e, v)) for v in (start, stop, step)), Known(arrays.DTYPES[scalar])]
    )


@unchecked
def arange_ints(start: int, stop: int, step: int, dtype: Any) -> Any:
    if step == 0:
        raise ZeroDivisionError("division by zero")
    count = len(range(start, stop, step))
    result = np.empty(count, dtype)
    for i in range(count):
        result[i] = start + i * step
    return result


@unchecked
def arange_floats(start: float, stop: float, step: float, dtype: Any) -> Any:
    """start, start + delta, ... with delta as NumPy has it: the difference of the first two as rounded."""
    if step == 0.0:
        raise ZeroDivisionError("float division by zero")
    length = math.ceil((stop - start) / step)
    count = max(length, 0)
    result = np.empty(count, dtype)
    delta = (start + step) - start
    for i in range(count):
        result[i] = start + step if i == 1 else start + i * delta
    return result


def _is_of(e: Evaluator, v: Abstract, dtype: Abstract) -> bool:
    """Whether a value is an array of this dtype already."""
    if not isinstance(v, arrays.ARRAYS):
        return False
    own = v.type.dtype if isinstance(v, ArrayValue) else arrays.COMPLEX
    return dtype_of(e, dtype, own) is own


@emits(np.asarray)
def asarray(e: Evaluator, v: Abstract, dtype: Abstract = NONE) -> Abstract:
    v = settled(e, v, "None is no array")
    return v if _is_of(e, v, dtype) else array(e, v, dtype)


@emits(np.ascontiguousarray)
def ascontiguousarray(e: Evaluator, v: Abstract, dtype: Abstract = NONE) -> Abstract:
    v = settled(e, v, "None is no array")
    floats = v.floats if isinstance(v, ComplexArrayValue) else v
    there = isinstance(floats, ArrayValue) and floats.type.layout == "C" and arrays.ndim(v) > 0
    result = v if there and _is_of(e, v, dtype) else array(e, v, dtype)
    return reshape(e, result, Known(1)) if arrays.ndim(result) == 0 else result


@emits(np.array)
def array(e: Evaluator, v: Abstract, dtype: Abstract = NONE, copy: Abstract = YES) -> Abstract:
    from zyg.frontend.infer import known

    if not isinstance(copy, Known):
        raise e.refuse("np.array with a `copy` that is not known when compiling", hint="write True or False")
    v = settled(e, v, "None is no array")
    if copy.object is not True and _is_of(e, v, dtype):
        return v
    if copy.object is False:
        raise e.refuse("np.array(..., copy=False) of what has to be copied", hint="write np.asarray")
    if isinstance(v, arrays.ARRAYS):
        result = _like(e, v, dtype, "empty", None)
        arrays.assign(e, result, v)
        return result
    if is_numeric(v):
        return _filled(e, [], dtype_of(e, dtype, _scalar_type(v) or F64), v)
    items = lists.all_items(e, v)
    if items is None:
        if lists.is_list(e, v):
            layout = lists.require_growing(e, v, [])  # type: ignore[arg-type]
            if not is_numeric(layout.example):
                raise e.refuse("an array of a list of tuples", hint="make the array first and store into it")
            scalar = dtype_of(e, dtype, _scalar_type(layout.example) or F64)
            return e.call(known(array_of_list), [v, Known(arrays.numpy_dtype(scalar))])
        raise e.refuse("an array of this", types=[describe(v, e.heap)], hint="pass numbers in tuples or lists")
    shape, numbers = _nested(e, v)
    joined: tuple[Scalar, bool] | None
    if any(isinstance(n, ComplexValue) for n in numbers):
        joined = (arrays.COMPLEX, True)
    else:
        joined = join_numbers(numbers) if numbers else (F64, True)
    if joined is None:
        raise e.refuse("an array of these numbers", types=[describe(n) for n in numbers])
    scalar = dtype_of(e, dtype, joined[0])
    result = allocate(e, [const(n) for n in shape], scalar, "empty")
    for n, item in enumerate(numbers):
        position = []
        for length in reversed(shape):
            position.insert(0, Known(n % length))
            n //= length
        arrays.set_item(e, result, TupleValue(tuple(position)), item)
    return result


def _nested(e: Evaluator, v: Abstract) -> tuple[list[int], list[Abstract]]:
    """The shape of nested tuples and lists, and the numbers in them."""
    if is_numeric(v):
        return [], [v]
    items = lists.all_items(e, v)
    if items is None:
        raise e.refuse("an array of this", types=[describe(v, e.heap)], hint="pass numbers in tuples or lists")
    inner = [_nested(e, i) for i in items]
    if any(shape != inner[0][0] for shape, _ in inner):
        e.throw(
            "ValueError", "setting an array element with a sequence. The requested array has an inhomogeneous shape"
        )
    return [len(items), *(inner[0][0] if inner else [])], [n for _, numbers in inner for n in numbers]


@unchecked
def array_of_list(items: Any, dtype: Any) -> Any:
    result = np.empty(len(items), dtype)
    for i, x in enumerate(items):
        result[i] = x
    return result


# ------------------------------------------------------------------------------------------------ methods


@emits((np.ndarray, "copy"), np.copy)
def copy(e: Evaluator, a: Abstract, order: Abstract = NONE) -> Abstract:
    _check_order(e, order)
    result = _like(e, a, NONE, "empty", None)
    if isinstance(a, ArrayValue):
        assert isinstance(result, ArrayValue)
        e.emit("copyto", result.value, a.value)
    else:
        arrays.assign(e, result, a)
    return result


@emits((np.ndarray, "fill"))
def fill(e: Evaluator, a: Abstract, value: Abstract) -> Abstract:
    arrays.check_writable(e, a.floats if isinstance(a, ComplexArrayValue) else a)  # type: ignore[arg-type]
    if not (is_numeric(value) if isinstance(a, ComplexArrayValue) else is_number(value)):
        raise e.refuse("fill() with something else than a number", types=[describe(value, e.heap)])
    arrays.assign(e, a, value)
    return NONE


@emits((np.ndarray, "item"))
def item(e: Evaluator, a: Abstract, *key: Abstract) -> Abstract:
    position: Abstract = key[0] if len(key) == 1 else TupleValue(key)
    if not key:
        size = arrays.size(e, a)
        ok = const(size.object == 1) if isinstance(size, Known) else e.op("eq", scalar_value(e, size), const(1))
        e.guard(ok, "ValueError", "can only convert an array of size 1 to a Python scalar")
        position = TupleValue((Known(0),) * arrays.ndim(a))
    value = arrays.get_item(e, a, position)
    if not is_numeric(value):
        raise e.refuse("item() with fewer indices than dimensions", hint="pass an index per dimension")
    return python_number(e, value)


def python_number(e: Evaluator, v: Abstract) -> Abstract:
    """A NumPy scalar as the Python number that it holds."""
    if isinstance(v, ComplexValue):
        return ComplexValue(v.re, v.im)
    if not isinstance(v, Number) or not v.numpy:
        return v
    target = F64 if v.type.kind == "f" else BOOL if v.type is BOOL else I64
    return Number(e.builder.cast(v.value, target))


@emits((np.generic, "item"), (np.generic, "tolist"))
def scalar_item(e: Evaluator, v: Abstract) -> Abstract:
    return python_number(e, v)


@emits((np.generic, "astype"))
def scalar_astype(e: Evaluator, v: Abstract, dtype: Abstract) -> Abstract:
    return _cast_scalar(e, v, dtype_of(e, dtype))


@emits((np.ndarray, "astype"))
def astype(e: Evaluator, a: Abstract, dtype: Abstract) -> Abstract:
    result = _like(e, a, dtype, "empty", None)
    arrays.assign(e, result, a)
    return result


@emits((np.ndarray, "reshape"), np.reshape)
def reshape(e: Evaluator, a: Abstract, *shape: Abstract) -> Abstract:
    if len(shape) == 1 and not is_number(shape[0]):
        dims = shape_argument(e, shape[0])
    else:
        dims = shape_argument(e, TupleValue(shape))
    size = scalar_value(e, arrays.size(e, a), I64)
    known_product: Value = const(1)
    for d in dims:
        if not (isinstance(d, Const) and d.value == -1):
            known_product = (
                d if isinstance(known_product, Const) and known_product.value == 1 else e.op("mul", known_product, d)
            )
    unknown = [n for n, d in enumerate(dims) if isinstance(d, Const) and d.value == -1]
    if len(unknown) > 1:
        e.throw("ValueError", "can only specify one unknown dimension")
    if unknown:
        safe = e.op("select", e.op("ne", known_product, const(0)), known_product, const(1))
        dims[unknown[0]] = e.op("floordiv", size, safe)
        known_product = e.op("mul", known_product, dims[unknown[0]])
    for d in dims:
        if not isinstance(d, Const):
            e.guard(e.op("ge", d, const(0)), "ValueError", "negative dimensions are not allowed")
    text = (
        "cannot reshape array of size {} into shape ("
        + ",".join(["{}"] * len(dims))
        + (",)" if len(dims) == 1 else ")")
    )
    e.guard(e.op("eq", known_product, size), "ValueError", text, size, *dims)
    floats = a.floats if isinstance(a, ComplexArrayValue) else a
    assert isinstance(floats, ArrayValue)
    if floats.type.layout != "C":
        # NumPy gives a view where the strides allow one, and a copy elsewhere: what is written to it tells them apart.
        raise e.refuse(
            "another shape of an array that is not contiguous", types=[describe(a)], hint="copy it first: a.copy()"
        )
    if isinstance(a, ComplexArrayValue):
        dims.append(const(2))
    type = Array(floats.type.dtype, len(dims), "C", floats.type.writable)
    result = ArrayValue(e.op("reshape", floats.value, *dims, type=type))
    return ComplexArrayValue(result) if isinstance(a, ComplexArrayValue) else result


@emits((np.ndarray, "flatten"))
def flatten(e: Evaluator, a: Abstract) -> Abstract:
    return reshape(e, copy(e, a), Known(-1))


@emits((np.ndarray, "ravel"), np.ravel)
def ravel(e: Evaluator, a: Abstract) -> Abstract:
    if isinstance(a, ArrayValue) and a.type.ndim == 1 and a.type.layout == "C":
        return a
    return reshape(e, a, Known(-1))


@emits((np.ndarray, "__len__"))
def array_len(e: Evaluator, a: Abstract) -> Abstract:
    return lists.length(e, a)


@emits(np.shape)
def shape(e: Evaluator, a: Abstract) -> Abstract:
    if is_numeric(a):
        return TupleValue(())
    if not isinstance(a, arrays.ARRAYS):
        raise e.refuse("np.shape of this", types=[describe(a, e.heap)])
    return TupleValue(tuple(map(Number, arrays.dims(e, a))))


@emits(np.ndim)
def ndim(e: Evaluator, a: Abstract) -> Abstract:
    return Known(arrays.ndim(a) if isinstance(a, arrays.ARRAYS) else 0)


@emits(np.size)
def size(e: Evaluator, a: Abstract) -> Abstract:
    return arrays.size(e, a) if isinstance(a, arrays.ARRAYS) else Known(1)


# --------------------------------------------------------------------------------------------- reductions


@emits((np.ndarray, "sum"), np.sum)
def sum_(e: Evaluator, a: Abstract, axis: Abstract = NONE) -> Abstract:
    from zyg.frontend.infer import known

    if is_numeric(a):
        return a
    if isinstance(a, ComplexArrayValue) and (isinstance(axis, Known) and axis.object is None or a.ndim == 1):
        from .complex_ import sum_array

        whole = reshape(e, a, Known(-1)) if a.ndim > 1 and a.floats.type.layout == "C" else a
        assert isinstance(whole, ComplexArrayValue)
        return sum_array(e, whole)
    if not isinstance(a, ArrayValue):
        raise e.refuse("np.sum of this", types=[describe(a, e.heap)], hint="use the builtin sum")
    if not (isinstance(axis, Known) and axis.object is None) and a.type.ndim != 1:
        raise e.refuse("sum along an axis", hint="write a loop over the rows")
    if a.type.dtype is U8:
        raise e.refuse("the sum of a uint8 array, which is a uint64", hint="convert it: a.astype(np.int64)")
    if a.type.ndim == 0:
        return Number(e.op("load", a.value), True)
    if a.type.dtype.kind == "f":
        return sum_elements(e, a)
    if a.type.ndim > 1 and a.type.layout == "C":
        flat = reshape(e, a, Known(-1))
        assert isinstance(flat, ArrayValue)
        a = flat
    zero = Number(const(0), True)
    return e.call(known(sum_ints), [a, zero])


@unchecked
def sum_ints(a: Any, zero: Any) -> Any:
    total = zero
    for i in range(len(a)):
        total = total + (sum_ints(a[i], zero) if a.ndim > 1 else zero + a[i])
    return total


@implements((np.ndarray, "mean"), np.mean)
def mean(a: Any) -> Any:
    return a.sum() / a.size


@emits(np.vdot)
def vdot(e: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    """The first argument conjugated, if it is complex."""
    from zyg.frontend.infer import known

    if isinstance(a, ComplexArrayValue) and a.ndim == 1 and isinstance(b, arrays.ARRAYS) and arrays.ndim(b) == 1:
        return e.call(known(dot_vectors), [a, b, Known(True)])
    if isinstance(a, ComplexValue):
        from .complex_ import conjugate

        a = conjugate(e, a)
    return dot(e, a, b)


@emits((np.ndarray, "dot"), np.dot, np.inner)
def dot(e: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    from zyg.frontend.infer import known

    a, b = settled(e, a, "None is no array"), settled(e, b, "None is no array")
    if is_numeric(a) and is_numeric(b):
        return binary(e, "mul", _strong(e, a), b)
    if not (isinstance(a, arrays.ARRAYS) and isinstance(b, arrays.ARRAYS) and arrays.ndim(a) == arrays.ndim(b) == 1):
        raise e.refuse(
            "dot of these", types=[describe(a, e.heap), describe(b, e.heap)], hint="write loops; vectors can be dotted"
        )
    return e.call(known(dot_vectors), [a, b, Known(False)])


@unchecked
def dot_vectors(a: Any, b: Any, conjugate: bool) -> Any:
    n = len(a)
    if n != len(b):
        raise ValueError(f"shapes ({n},) and ({len(b)},) not aligned: {n} (dim 0) != {len(b)} (dim 0)")
    total = a.dtype.type(0) * b.dtype.type(0)
    for i in range(n):
        total += (a[i].conjugate() if conjugate else a[i]) * b[i]
    return total


# ------------------------------------------------------------------------------- assignment, in-place operators


@unchecked
def assign_rows(target: Any, row: Any) -> None:
    for i in range(len(target)):
        target[i] = row


@unchecked
def assign_converted(target: Any, source: Any) -> None:
    for i in range(len(target)):
        target[i] = source[i]


def without_overlap(a: Any, b: Any) -> Any:
    """b, or a copy of it if it shares memory with a."""
    return b.copy() if np.shares_memory(a, b) else b


@emits(without_overlap)
def _without_overlap(e: Evaluator, a: Abstract, b: Abstract) -> Abstract:
    assert isinstance(a, ArrayValue) and isinstance(b, ArrayValue)
    general = Array(b.type.dtype, b.type.ndim, "A", b.type.writable)

    def copied() -> Abstract:
        fresh = copy(e, b)
        assert isinstance(fresh, ArrayValue)
        return ArrayValue(array_as(e, fresh.value, general))

    return e.if_else(e.op("overlap", a.value, b.value), copied, lambda: ArrayValue(array_as(e, b.value, general)))


def _inplace(function: Callable[..., Any]) -> Callable[..., Any]:
    @unchecked
    def run(a: Any, b: Any) -> None:
        for i in range(len(a)):
            other = b[i] if isinstance(b, np.ndarray) else b
            if a.ndim == 1:
                a[i] = function(a[i], other)
            else:
                run(a[i], other)

    return run


INPLACE: dict[str, Callable[..., Any]] = {
    name: _inplace(getattr(operator, name))
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "xor")
} | {"and": _inplace(operator.and_), "or": _inplace(operator.or_)}


def wrapping_power(base: Any, exponent: Any) -> Any:
    """base ** exponent of NumPy integers, which wraps."""
    result = base * 0 + 1
    while exponent > 0:
        if exponent & 1:
            result = machine("mul", result, base)
        base = machine("mul", base, base)
        exponent >>= 1
    return result


# ---------------------------------------------------------------------------------------- scalar functions


def _cast_scalar(e: Evaluator, v: Abstract, scalar: Scalar) -> Abstract:
    v = settled(e, v, "int() argument must be a string, a bytes-like object or a real number, not 'NoneType'")
    if isinstance(v, ArrayValue) and v.type.ndim == 0:
        v = Number(e.op("load", v.value), True)
    if not is_number(v):
        e.type_error(f"a number is required, not '{python_type_name(e, v)}'")
    own = number_type(v)
    assert own is not None
    if scalar is BOOL:
        from zyg.frontend.operators import truth

        return Number(truth(e, v), True)
    if own.kind == "f" and scalar.kind in "iu":
        return Number(element(e, v, scalar), True)
    if isinstance(v, Number) and v.numpy:
        return Number(e.builder.cast(v.value, scalar), True)
    return Number(as_numpy(e, v, scalar), True)


def _scalar_class(scalar: Scalar) -> Callable[..., Abstract]:
    return lambda e, v=ZERO, /: _cast_scalar(e, v, scalar)


for _cls, _scalar in (
    (np.float64, F64), (np.float32, F32), (np.int64, I64), (np.int32, I32), (np.uint8, U8), (np.bool_, BOOL),
):  # fmt: skip
    emits(_cls)(_scalar_class(_scalar))


def ufunc(function: np.ufunc) -> Callable[[Callable[..., Abstract]], Callable[..., Abstract]]:
    """The decorated emitter says what a ufunc does to numbers; of arrays, it does it to the elements."""

    def register(emitter: Callable[..., Abstract]) -> Callable[..., Abstract]:
        @emits(function)
        def lifted(e: Evaluator, *args: Abstract) -> Abstract:
            if len(args) == function.nin and any(isinstance(v, arrays.ARRAYS) for v in args):
                args = tuple(settled(e, v, "None is no number") for v in args)
                if all(isinstance(v, arrays.ARRAYS) or is_numeric(v) for v in args):
                    return lift(e, function.__name__, emitter, args)
            return emitter(e, *args)

        return emitter

    return register


def _ufunc(op: str) -> Callable[..., Abstract]:
    """A ufunc of one number: IEEE, no exceptions."""

    def emitter(e: Evaluator, x: Abstract, /) -> Abstract:
        x = settled(e, x, "None is no number")
        if isinstance(x, ComplexValue):
            from .complex_ import numpy_function

            return numpy_function(e, op, x)
        scalar = number_type(x)
        if scalar is None:
            raise e.refuse(
                f"the NumPy function of whole arrays ({op})",
                types=[describe(x, e.heap)],
                hint="write a loop over elements",
            )
        single = isinstance(x, Number) and x.numpy and scalar is F32
        value = scalar_value(e, x, F32) if single else to_float(e, x)
        return Number(math_op(e, op, value), True)

    return emitter


_UFUNCS = {
    np.sin: "sin", np.cos: "cos", np.tan: "tan", np.arcsin: "asin", np.arccos: "acos", np.arctan: "atan",
    np.sinh: "sinh", np.cosh: "cosh", np.tanh: "tanh", np.arcsinh: "asinh", np.arccosh: "acosh", np.arctanh: "atanh",
    np.sqrt: "sqrt", np.cbrt: "cbrt", np.exp: "exp", np.exp2: "exp2", np.expm1: "expm1", np.log: "log",
    np.log2: "log2", np.log10: "log10", np.log1p: "log1p", np.floor: "floor", np.ceil: "ceil", np.trunc: "trunc",
    np.rint: "rint",
}  # fmt: skip
for _function, _op in _UFUNCS.items():
    ufunc(_function)(_ufunc(_op))


def _strong(e: Evaluator, v: Abstract) -> Abstract:
    """A Python number as the NumPy scalar that a function of it alone makes of it."""
    v = settled(e, v, "None is no number")
    if isinstance(v, Number) and v.numpy:
        return v
    if isinstance(v, ComplexValue):
        return ComplexValue(v.re, v.im, True)
    scalar = number_type(v)
    if scalar is None:
        raise e.refuse(
            "a NumPy function of whole arrays", types=[describe(v, e.heap)], hint="write a loop over elements"
        )
    return Number(scalar_value(e, v, scalar), True)


@ufunc(np.absolute)
def _absolute(e: Evaluator, x: Abstract, /) -> Abstract:
    return unary(e, "abs", _strong(e, x))


@ufunc(np.fabs)
def _fabs(e: Evaluator, x: Abstract, /) -> Abstract:
    return Number(e.op("abs", to_float(e, settled(e, x, "None is no number"))), True)


@ufunc(np.sign)
def _sign(e: Evaluator, x: Abstract, /) -> Abstract:
    from zyg.frontend.infer import known

    return e.call(known(sign), [_strong(e, x)])


def sign(x: Any) -> Any:
    zero = x * 0
    return x if x != x else (zero + 1 if x > 0 else (zero - 1 if x < 0 else zero))


def _extremum(op: str) -> Callable[..., Abstract]:
    def emitter(e: Evaluator, a: Abstract, b: Abstract, /) -> Abstract:
        a, b = settled(e, a, "None is no number"), settled(e, b, "None is no number")
        if not (is_number(a) and is_number(b)):
            raise e.refuse(
                "np.maximum or np.minimum of arrays", types=[describe(a, e.heap), describe(b, e.heap)],
                hint="write a loop over elements",
            )  # fmt: skip
        from zyg.frontend.operators import promote

        if not any(isinstance(v, Number) and v.numpy for v in (a, b)):
            a = _strong(e, a)
        scalar = promote(e, a, b)
        x, y = as_numpy(e, a, scalar), as_numpy(e, b, scalar)
        first = e.op(op, x, y)
        if scalar.kind == "f":
            # A nan wins, the first one.
            first = e.op("or", first, e.op("ne", x, x))
        return Number(e.op("select", first, x, y), True)

    return emitter


ufunc(np.maximum)(_extremum("ge"))
ufunc(np.minimum)(_extremum("le"))


def _float_test(name: str) -> Callable[..., Abstract]:
    def emitter(e: Evaluator, x: Abstract, /) -> Abstract:
        x = settled(e, x, "None is no number")
        if isinstance(x, ComplexValue):
            flags = [emitter(e, part) for part in x.parts()]
            return binary(e, "and" if name == "isfinite" else "or", *flags)
        if not is_number(x):
            raise e.refuse(f"np.{name} of an array", types=[describe(x, e.heap)], hint="write a loop over elements")
        value = to_float(e, x)
        if name == "isnan":
            return Number(e.op("ne", value, value), True)
        infinity = const(math.inf)
        return Number(e.op("eq" if name == "isinf" else "lt", e.op("abs", value), infinity), True)

    return emitter


for _name in ("isnan", "isinf", "isfinite"):
    ufunc(getattr(np, _name))(_float_test(_name))


def _two_floats(op: str) -> Callable[..., Abstract]:
    def emitter(e: Evaluator, x: Abstract, y: Abstract, /) -> Abstract:
        a, b = to_float(e, settled(e, x, "None is no number")), to_float(e, settled(e, y, "None is no number"))
        return Number(math_op(e, op, a, b), True)

    return emitter


for _function, _op in ((np.arctan2, "atan2"), (np.hypot, "hypot"), (np.copysign, "copysign"), (np.fmod, "fmod")):
    ufunc(_function)(_two_floats(_op))


def _operator(name: str) -> Callable[..., Abstract]:
    return lambda e, a, b, /: binary(e, name, _strong(e, a) if is_numeric(a) and is_numeric(b) else a, b)


for _function, _name in (
    (np.add, "add"), (np.subtract, "sub"), (np.multiply, "mul"), (np.true_divide, "truediv"),
    (np.floor_divide, "floordiv"), (np.remainder, "mod"), (np.power, "pow"),
):  # fmt: skip
    ufunc(_function)(_operator(_name))


def _sign_operator(name: str) -> Callable[..., Abstract]:
    return lambda e, x, /: unary(e, name, _strong(e, x))


for _function, _name in ((np.negative, "neg"), (np.positive, "pos")):
    ufunc(_function)(_sign_operator(_name))
