"""Arrays: indexing, views, assignment, attributes.

Loads, stores and views are unchecked in the IR; the guards and the wrapping of negative indices are emitted here.  What
works on whole arrays (`a + b`, ufuncs, broadcasting) has its place in `elementwise`.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from types import GetSetDescriptorType
from typing import TYPE_CHECKING

import numpy as np

from zyg.errors import NeedsConstant
from zyg.ir.core import Const, Value, const
from zyg.ir.types import BOOL, F32, F64, I32, I64, U8, Array, Scalar
from zyg.typeof import dtype_scalar

from . import lists
from .boundary import scalar_value
from .operators import SYMBOLS, as_numpy, python_type_name, settled, to_int
from .values import (
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    Known,
    MaybeValue,
    MethodValue,
    Number,
    SliceValue,
    TupleValue,
    describe,
    is_number,
    is_numeric,
    number_type,
)

if TYPE_CHECKING:
    from .infer import Evaluator

BAD_INDEX = "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices"
_NAMES = {F64: "float64", F32: "float32", I64: "int64", I32: "int32", U8: "uint8", BOOL: "bool"}
DTYPES = {scalar: np.dtype(name) for scalar, name in _NAMES.items()}
ARRAYS = (ArrayValue, ComplexArrayValue)
# The element type of arrays of complex numbers; no SSA value is of this type.
COMPLEX = Scalar("complex128", "c", 128)


def numpy_dtype(scalar: Scalar) -> np.dtype:
    return DTYPES[scalar] if scalar is not COMPLEX else np.dtype(complex)


def elementwise(e: Evaluator, name: str, *operands: Abstract) -> Abstract:
    """An operator on whole arrays."""
    if all(isinstance(v, ARRAYS) or is_numeric(v) for v in operands) and name != "matmul":
        from . import operators
        from .elementwise import lift

        if len(operands) == 1:
            function = lambda e, x: operators.unary(e, name, x)
        elif name in ("lt", "le", "eq", "ne", "gt", "ge"):
            function = lambda e, x, y: operators.compare(e, name, x, y)
        else:
            function = lambda e, x, y: operators.binary(e, name, x, y)
        return lift(e, name, function, operands)
    if name == "matmul" and all(isinstance(v, ARRAYS) or is_numeric(v) for v in operands):
        from zyg.library.numpy_.products import matmul

        return matmul(e, *operands)
    for v in operands:
        if not (isinstance(v, ARRAYS) or is_numeric(v)):
            if name in ("eq", "ne"):
                return Known(name == "ne")
            e.type_error(
                f"unsupported operand type(s) for {SYMBOLS.get(name, name)}: "
                + " and ".join(f"'{python_type_name(e, o)}'" for o in operands)
            )
    raise e.refuse(
        f"the operator {SYMBOLS.get(name, name)} on whole arrays",
        types=[describe(v, e.heap) for v in operands],
        hint="write a loop over the elements",
    )


def truth(e: Evaluator, v: ArrayValue | ComplexArrayValue) -> Value:
    raise e.refuse("the truth of an array", types=[describe(v)], hint="test an element, or len(a)")


def ndim(a: Abstract) -> int:
    return a.ndim if isinstance(a, ComplexArrayValue) else a.type.ndim  # type: ignore[attr-defined]


def memory(a: Abstract) -> ArrayValue:
    """The array of numbers of one kind that an array is: of the parts, if it is one of complex numbers."""
    floats = a.floats if isinstance(a, ComplexArrayValue) else a
    assert isinstance(floats, ArrayValue)
    return floats


def of_kind(a: Abstract, floats: ArrayValue) -> ArrayValue | ComplexArrayValue:
    """An array of the same element type as `a`, by its numbers."""
    return ComplexArrayValue(floats) if isinstance(a, ComplexArrayValue) else floats


def element_type(a: Abstract) -> Scalar:
    return COMPLEX if isinstance(a, ComplexArrayValue) else memory(a).type.dtype


def dims(e: Evaluator, a: Abstract) -> list[Value]:
    """The lengths of the axes of an array."""
    value = memory(a).value
    return [e.dim(value, n) for n in range(ndim(a))]


def length(e: Evaluator, a: Abstract) -> Value:
    """The length of the first axis."""
    if ndim(a) == 0:
        e.type_error("len() of unsized object")
    return dims(e, a)[0]


def scalar_of(e: Evaluator, a: Abstract) -> Abstract:
    """What a 0-d array holds."""
    return get_item(e, a, TupleValue(()))


# ----------------------------------------------------------------------------------------------- indexing


def get_item(e: Evaluator, a: Abstract, key: Abstract) -> Abstract:
    if isinstance(a, ComplexArrayValue):
        from . import complex_arrays

        return complex_arrays.get_item(e, a, key)
    assert isinstance(a, ArrayValue)
    parts = _parts(e, a, key)
    if len(parts) == a.type.ndim and all(map(is_number, parts)):
        positions = [_position(e, a, axis, p) for axis, p in enumerate(parts)]
        return Number(e.op("load", a.value, *positions), numpy=True)
    result = _view(e, a, parts)
    e.views[id(result.value)] = (result.value, a.value, key)
    return result


def element_or_row(e: Evaluator, a: Abstract, position: Value) -> Abstract:
    """a[position] for a position in range."""
    if isinstance(a, ComplexArrayValue):
        from . import complex_arrays

        return complex_arrays.element_or_row(e, a, position)
    assert isinstance(a, ArrayValue)
    if a.type.ndim == 1:
        return Number(e.op("load", a.value, position), numpy=True)
    type = Array(a.type.dtype, a.type.ndim - 1, a.type.layout, a.type.writable)
    spec = "i" + ":" * type.ndim
    return ArrayValue(e.op("view", a.value, position, type=type, spec=spec))


_FULL = SliceValue(Known(None), Known(None), Known(None))


def _parts(e: Evaluator, a: ArrayValue, key: Abstract) -> list[Abstract]:
    """One index or slice per axis."""
    parts = list(key.items if isinstance(key, TupleValue) else (key,))
    parts = [p if isinstance(p, Known) else settled(e, p, BAD_INDEX) for p in parts]
    ndim = a.type.ndim
    ellipses = [n for n, p in enumerate(parts) if isinstance(p, Known) and p.object is Ellipsis]
    if len(ellipses) > 1:
        e.throw("IndexError", "an index can only have a single ellipsis ('...')")
    count = sum(not isinstance(p, Known) or p.object is not None for p in parts) - len(ellipses)
    if count > ndim:
        e.throw("IndexError", f"too many indices for array: array is {ndim}-dimensional, but {count} were indexed")
    full = [_FULL] * (ndim - count)
    where = ellipses[0] if ellipses else len(parts)
    parts[where : where + len(ellipses)] = full
    for p in parts:
        if isinstance(p, SliceValue) or isinstance(p, Known) and p.object is None:
            continue
        scalar = number_type(p)
        if scalar is None or scalar.kind not in "iu":
            if isinstance(p, ArrayValue) or scalar is BOOL or lists.is_list(e, p):
                raise e.refuse(
                    "indexing by arrays, lists or bools",
                    types=[describe(p, e.heap)],
                    hint="index by integers and slices",
                )
            e.throw("IndexError", BAD_INDEX)
    return parts


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
    if id(index) in e.nonnegative:
        if e.options.boundscheck:
            e.guard(e.op("lt", index, length), "IndexError", _out_of_bounds(axis), index, length)
        return index
    position = e.op("select", e.op("lt", index, const(0)), e.op("add", index, length), index)
    if e.options.boundscheck:
        inside = e.op("and", e.op("ge", position, const(0)), e.op("lt", position, length))
        e.guard(inside, "IndexError", _out_of_bounds(axis), index, length)
    return position


def _view(e: Evaluator, a: ArrayValue, parts: list[Abstract]) -> ArrayValue:
    spec = ""
    operands: list[Value] = []
    axis = 0
    for p in parts:
        if isinstance(p, Known) and p.object is None:
            spec += "n"
            continue
        if not isinstance(p, SliceValue):
            spec += "i"
            operands.append(_position(e, a, axis, p))
        elif all(isinstance(x, Known) and x.object is None for x in p.parts()):
            spec += ":"
        else:
            spec += "s"
            operands.extend(slice_bounds(e, p, e.dim(a.value, axis)))
        axis += 1
    return view(e, a, spec, operands)


def view(e: Evaluator, a: ArrayValue, spec: str, operands: list[Value]) -> ArrayValue:
    """The view that the letters of `spec` tell (see the op `view`); contiguous where that can be seen."""
    rest = spec.lstrip("in")
    unit = True
    if rest.startswith("s"):
        step = operands[spec[: len(spec) - len(rest)].count("i") + 2]
        unit = isinstance(step, Const) and step.value == 1
        rest = rest[1:]
    contiguous = a.type.layout == "C" and unit and set(rest) <= {":", "n"}
    type = Array(a.type.dtype, len(spec) - spec.count("i"), "C" if contiguous else "A", a.type.writable)
    return ArrayValue(e.op("view", a.value, *operands, type=type, spec=spec))


def seen(e: Evaluator, a: Abstract, spec: str, *operands: Value) -> Abstract:
    """The same for an array of any element type."""
    return of_kind(a, view(e, memory(a), spec + ":" * isinstance(a, ComplexArrayValue), list(operands)))


def permuted(e: Evaluator, a: Abstract, to: Sequence[int], writable: bool = True) -> Abstract:
    """`a` with its axis k as axis to[k]; of axes that go to the same place the diagonal is seen."""
    floats = memory(a)
    ndim = len(set(to))
    if isinstance(a, ComplexArrayValue):
        to = [*to, ndim]
        ndim += 1
    writable = writable and floats.type.writable
    if [*to] == [*range(ndim)]:
        type = Array(floats.type.dtype, ndim, floats.type.layout, writable)
        return (
            a if type == floats.type else of_kind(a, ArrayValue(e.op("view", floats.value, type=type, spec=":" * ndim)))
        )
    type = Array(floats.type.dtype, ndim, "A", writable)
    return of_kind(a, ArrayValue(e.op("transpose", floats.value, type=type, axes=tuple(to))))


def constant(e: Evaluator, v: Abstract, what: str) -> object:
    """An argument that has to be known when compiling."""
    items = lists.known_items(e, v)
    if items is not None:
        return tuple(constant(e, item, what) for item in items)
    if not isinstance(v, Known):
        what = f"{what} that is not known when compiling"
        raise NeedsConstant(what, e.position, types=[describe(v, e.heap)], hint="write a constant")
    return v.object


def axis_of(e: Evaluator, axis: Abstract, ndim: int) -> int:
    """An axis, counted from the front; it has to be known when compiling."""
    given = constant(e, axis, "an axis")
    try:
        number = operator.index(given)  # type: ignore[arg-type]
    except TypeError as error:
        e.type_error(str(error))
        raise
    if not -ndim <= number < ndim:
        e.throw("numpy.exceptions.AxisError", f"axis {number} is out of bounds for array of dimension {ndim}")
    return number % ndim


def axes_of(e: Evaluator, axis: Abstract, ndim: int, name: str = "axis") -> tuple[int, ...]:
    """One or several axes; all of them for None."""
    given = constant(e, axis, "an axis")
    if given is None:
        return tuple(range(ndim))
    axes = tuple(axis_of(e, Known(n), ndim) for n in (given if isinstance(given, tuple) else (given,)))
    if len(set(axes)) < len(axes):
        e.throw("ValueError", f"repeated axis in `{name}` argument" if name != "axis" else "duplicate value in 'axis'")
    return axes


def slice_bounds(e: Evaluator, s: SliceValue, length: Value) -> tuple[Value, Value, Value]:
    """(start, number of items, step) of a slice of a sequence, clipped as Python does (PySlice_AdjustIndices)."""
    start, stop, step = (settled_bound(e, p) for p in s.parts())
    stride: Value = const(1) if step is None else step
    # As PySlice_Unpack: the negative of a step is a number too.
    if isinstance(stride, Const):
        stride = const(max(stride.value, -(2**63 - 1)))
        if stride.value == 0:
            e.throw("ValueError", "slice step cannot be zero")
        first, last = _bounds(e, start, stop, length, stride.value > 0)
        return first, _count(e, first, last, stride), stride
    stride = e.op("select", e.op("lt", stride, const(-(2**63 - 1))), const(-(2**63 - 1)), stride)
    e.guard(e.op("ne", stride, const(0)), "ValueError", "slice step cannot be zero")
    up = e.op("gt", stride, const(0))
    up_first, up_last = _bounds(e, start, stop, length, True)
    down_first, down_last = _bounds(e, start, stop, length, False)
    first = e.op("select", up, up_first, down_first)
    count = e.op(
        "select", up, _count(e, up_first, up_last, stride, True), _count(e, down_first, down_last, stride, False)
    )
    return first, count, stride


def settled_bound(e: Evaluator, p: Abstract) -> Value | None:
    message = "slice indices must be integers or None or have an __index__ method"
    if isinstance(p, Known) and p.object is None:
        return None
    if isinstance(p, MaybeValue):
        raise e.refuse(
            "a slice bound that may be None", types=[describe(p)], hint="write both slices out under an `if`"
        )
    scalar = number_type(p)
    if scalar is None or scalar.kind == "f":
        e.type_error(message)
    if isinstance(p, Known):
        return const(max(-(2**63), min(2**63 - 1, int(p.object))))
    return e.builder.cast(scalar_value(e, p), I64)


def _bounds(e: Evaluator, start: Value | None, stop: Value | None, length: Value, up: bool) -> tuple[Value, Value]:
    def clip(bound: Value) -> Value:
        if isinstance(bound, Const) and bound.value >= 0:
            wrapped = bound
        elif isinstance(bound, Const):
            wrapped = e.op("add", bound, length)
        else:
            wrapped = e.op("select", e.op("lt", bound, const(0)), e.op("add", bound, length), bound)
        low = const(0) if up else const(-1)
        high = length if up else e.op("sub", length, const(1))
        if not (isinstance(wrapped, Const) and up):
            wrapped = e.op("select", e.op("lt", wrapped, low), low, wrapped)
        if isinstance(wrapped, Const) and wrapped.value == 0 and up:
            return wrapped
        return e.op("select", e.op("gt", wrapped, high), high, wrapped)

    if up:
        return (const(0) if start is None else clip(start)), (length if stop is None else clip(stop))
    first = e.op("sub", length, const(1)) if start is None else clip(start)
    return first, const(-1) if stop is None else clip(stop)


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


# ---------------------------------------------------------------------------------------------- assignment


def element(e: Evaluator, v: Abstract, dtype: Scalar) -> Value:
    """A number as an element of an array, by NumPy's casting on assignment."""
    scalar = number_type(v)
    assert scalar is not None
    if dtype is BOOL:
        from .operators import truth as truth_of

        return truth_of(e, v)
    if scalar.kind == "f" and dtype.kind in "iu":
        from zyg.library.builtins_ import int_of_float

        from .infer import known

        whole = e.call(known(int_of_float), [v])
        return as_numpy(e, whole, dtype) if dtype is not I64 else scalar_value(e, whole, I64)
    return as_numpy(e, v, dtype)


def check_writable(e: Evaluator, a: ArrayValue) -> None:
    if not a.type.writable:
        name = a.value.name
        e.throw("ValueError", "assignment destination is read-only" + (f": '{name}'" if name else ""))


def set_item(e: Evaluator, a: Abstract, key: Abstract, value: Abstract) -> None:
    if isinstance(a, ComplexArrayValue):
        from . import complex_arrays

        complex_arrays.set_item(e, a, key, value)
        return
    assert isinstance(a, ArrayValue)
    value = settled(e, value, "float() argument must be a string or a real number, not 'NoneType'")
    check_writable(e, a)
    parts = _parts(e, a, key)
    if len(parts) == a.type.ndim and all(map(is_number, parts)):
        if isinstance(value, ArrayValue) and value.type.ndim == 0:
            value = Number(e.op("load", value.value), True)
        if not is_number(value):
            raise e.refuse(
                "an assignment to an element of an array",
                types=[describe(a), describe(value, e.heap)],
                hint="assign a number",
            )
        positions = [_position(e, a, axis, p) for axis, p in enumerate(parts)]
        e.emit("store", a.value, element(e, value, a.type.dtype), *positions)
        return
    if isinstance(value, ArrayValue):
        origin = e.views.get(id(value.value))
        if origin is not None and origin[0] is value.value and origin[1] is a.value and origin[2] is key:
            return  # `a[i:j] += x` has written through the view already
    target = _view(e, a, parts)
    assert isinstance(target, ArrayValue)
    assign(e, target, value)


def assign(e: Evaluator, target: Abstract, value: Abstract) -> None:
    """target[...] = value"""
    if isinstance(target, ComplexArrayValue):
        from . import complex_arrays

        complex_arrays.assign(e, target, value)
        return
    assert isinstance(target, ArrayValue)
    from zyg.library.numpy_ import inplace as whole

    from .infer import known

    dtype = target.type.dtype
    if is_number(value):
        e.emit("fill", target.value, element(e, value, dtype))
        return
    items = lists.known_items(e, value)
    if items is not None and target.type.ndim:
        length = e.dim(target.value, 0)
        message = f"could not broadcast input array from shape ({len(items)},) into shape ({{}},)"
        e.guard(e.op("eq", length, const(len(items))), "ValueError", message, length)
        for n, item in enumerate(items):
            set_item(e, target, Known(n), item)
        return
    if not isinstance(value, ArrayValue):
        raise e.refuse(
            "an assignment to a part of an array", types=[describe(target), describe(value, e.heap)],
            hint="assign a number, or an array of the same shape",
        )  # fmt: skip
    if value.type.ndim > target.type.ndim:
        raise e.refuse(
            "an assignment of an array with more dimensions", types=[describe(target), describe(value)],
            hint="assign an array of the same shape",
        )  # fmt: skip
    if value.type.ndim < target.type.ndim:
        e.call(known(whole.assign_rows), [target, value])
        return
    check_same_shape(e, target, value)
    if value.type.dtype is dtype:
        e.emit("copyto", target.value, value.value)
    else:
        e.call(known(whole.assign_converted), [target, value])


def check_same_shape(e: Evaluator, target: ArrayValue, value: ArrayValue, axes: int | None = None) -> None:
    """ValueError unless both have the same lengths along the axes, or the first so many of them."""
    if target.value is value.value:
        return
    lengths = [[e.dim(v.value, axis) for axis in range(v.type.ndim)][:axes] for v in (value, target)]
    shapes = ["(" + ",".join(["{}"] * len(d)) + (",)" if len(d) == 1 else ")") for d in lengths]
    message = f"could not broadcast input array from shape {shapes[0]} into shape {shapes[1]}"
    for x, y in zip(*lengths):
        e.guard(e.op("eq", x, y), "ValueError", message, *lengths[0], *lengths[1])


def inplace(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract:
    """a += b and its relatives: element by element, in the array's own memory."""
    if isinstance(a, ComplexArrayValue):
        from . import complex_arrays

        return complex_arrays.inplace(e, name, a, b)
    assert isinstance(a, ArrayValue)
    from zyg.library.numpy_ import inplace as whole

    from .infer import known

    b = settled(e, b, "unsupported operand type: 'NoneType'")
    if name == "matmul" or not (isinstance(b, ArrayValue) or is_number(b)):
        raise e.refuse(
            f"the operator {SYMBOLS[name]}= on an array", types=[describe(a), describe(b, e.heap)], hint="write a loop"
        )
    check_writable(e, a)
    from . import elementwise as wholes
    from .operators import binary

    if a.type.ndim and wholes.lift_into(e, name, lambda e, x, y: binary(e, name, x, y), a, b):
        return a
    if isinstance(b, ArrayValue):
        if b.type.ndim != a.type.ndim:
            raise e.refuse(
                f"the operator {SYMBOLS[name]}= on arrays of different dimensions",
                types=[describe(a), describe(b)],
                hint="write a loop over the rows",
            )
        check_same_shape(e, a, b)
        if a.value is not b.value:
            b = e.call(known(whole.without_overlap), [a, b])
    function = whole.INPLACE[name]
    e.call(known(function), [a, b])
    return a


# --------------------------------------------------------------------------------------------- attributes


def attribute(e: Evaluator, a: Abstract, name: str) -> Abstract | None:
    from zyg.library import registry

    found = getattr(np.ndarray, name, None)
    if isinstance(found, GetSetDescriptorType):
        entry = registry.find(found)
        return None if entry is None else entry.function(e, a)
    if registry.method(np.ndarray, name) is not None:
        return MethodValue((np.ndarray, name), a)
    return None


def size(e: Evaluator, a: Abstract) -> Abstract:
    return product(e, dims(e, a))


def product(e: Evaluator, lengths: list[Value]) -> Abstract:
    """The number of elements of an array with axes of these lengths."""
    if not lengths:
        return Known(1)
    result = lengths[0]
    for d in lengths[1:]:
        result = e.op("mul", result, d)
    return Number(result)


def dtype_of(e: Evaluator, v: Abstract | None, default: Scalar = F64) -> Scalar:
    """The element type that a dtype argument names."""
    if v is None or isinstance(v, Known) and v.object is None:
        return default
    if isinstance(v, Known):
        try:
            if np.dtype(v.object) == np.complex128:
                return COMPLEX
            scalar = dtype_scalar(np.dtype(v.object))
        except TypeError as error:
            e.type_error(str(error))
            raise AssertionError from None
        if scalar is not None:
            return scalar
    shown = repr(v.object) if isinstance(v, Known) else describe(v, e.heap)
    raise e.refuse(f"the dtype {shown}", hint="use " + ", ".join([*_NAMES.values(), "complex128"]))


def allocate(e: Evaluator, dims: list[Value], dtype: Scalar, fill: str) -> Abstract:
    for d in dims:
        if isinstance(d, Const):
            if d.value < 0:
                e.throw("ValueError", "negative dimensions are not allowed")
        else:
            e.guard(e.op("ge", d, const(0)), "ValueError", "negative dimensions are not allowed")
    _check_size(e, dims, 16 if dtype is COMPLEX else max(1, dtype.bits // 8))
    return allocate_unchecked(e, dims, dtype, fill)


_TOO_BIG = "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size."


def _check_size(e: Evaluator, dims: list[Value], bytes: int) -> None:
    """That the size in bytes is a number of 64 bits, also where nothing but the shape of the array is used."""
    for d in dims:
        if isinstance(d, Const):
            bytes *= max(1, d.value)
    unknown = [d for d in dims if not isinstance(d, Const)]
    if bytes >= 2**63:
        e.throw("ValueError", _TOO_BIG)
    if len(unknown) == 1:
        e.guard(e.op("le", unknown[0], const((2**63 - 1) // bytes)), "ValueError", _TOO_BIG)
    elif unknown:
        total: Value = const(float(bytes))
        for d in unknown:
            total = e.op("mul", total, e.builder.cast(d, F64))
        e.guard(e.op("lt", total, const(2.0**63)), "ValueError", _TOO_BIG)


def allocate_unchecked(e: Evaluator, dims: list[Value], dtype: Scalar, fill: str) -> Abstract:
    """The same, for lengths that are those of an array."""
    if dtype is COMPLEX:
        floats = e.op("alloc", *dims, const(2), type=Array(F64, len(dims) + 1), fill=fill)
        return ComplexArrayValue(ArrayValue(floats))
    return ArrayValue(e.op("alloc", *dims, type=Array(dtype, len(dims)), fill=fill))


def shape_argument(e: Evaluator, v: Abstract) -> list[Value]:
    """The dimensions that a shape argument names."""
    items = lists.all_items(e, v)
    result = []
    for item in items if items is not None else (v,):
        item = settled(e, item, "'NoneType' object cannot be interpreted as an integer")
        scalar = number_type(item)
        if scalar is None or scalar.kind not in "iub":
            e.type_error(f"'{python_type_name(e, item)}' object cannot be interpreted as an integer")
        result.append(to_int(e, item))
    return result
