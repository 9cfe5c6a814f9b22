"""Arrays: indexing, views, assignment, attributes.

Loads, stores and views are unchecked in the IR; the guards and the wrapping of negative indices are emitted here.  What
works on whole arrays (`a + b`, ufuncs, broadcasting) has its place in `elementwise`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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


def dims(e: Evaluator, a: Abstract) -> list[Value]:
    """The lengths of the axes of an array."""
    value = a.floats.value if isinstance(a, ComplexArrayValue) else a.value  # type: ignore[attr-defined]
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
    if _has_new_axis(key):
        return _with_new_axes(e, a, key)
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


def _has_new_axis(key: Abstract) -> bool:
    parts = key.items if isinstance(key, TupleValue) else (key,)
    return any(isinstance(p, Known) and p.object is None for p in parts)


def _with_new_axes(e: Evaluator, a: ArrayValue, key: Abstract) -> Abstract:
    """a[..., None]: the view without the new axes, seen with axes of length 1 among its own."""
    wanted = list(key.items) if isinstance(key, TupleValue) else [key]
    given = [p for p in wanted if not (isinstance(p, Known) and p.object is None)]
    plain = get_item(e, a, TupleValue(tuple(given)))
    if not isinstance(plain, ArrayValue) or plain.type.layout != "C":
        raise e.refuse(
            "a new axis (None) in an array that is not contiguous",
            types=[describe(a)],
            hint="copy it first: a.copy()[None]",
        )
    dims: list[Value] = []
    axis = 0
    for p in wanted:
        if isinstance(p, Known) and p.object is None:
            dims.append(const(1))
        elif isinstance(p, Known) and p.object is Ellipsis:
            for _ in range(a.type.ndim - (len(given) - 1)):
                dims.append(e.dim(plain.value, axis))
                axis += 1
        elif isinstance(p, SliceValue):
            dims.append(e.dim(plain.value, axis))
            axis += 1
    while axis < plain.type.ndim:
        dims.append(e.dim(plain.value, axis))
        axis += 1
    type = Array(a.type.dtype, len(dims), "C", a.type.writable)
    return ArrayValue(e.op("reshape", plain.value, *dims, type=type))


_FULL = SliceValue(Known(None), Known(None), Known(None))


def _parts(e: Evaluator, a: ArrayValue, key: Abstract) -> list[Abstract]:
    """One index or slice per axis."""
    if _has_new_axis(key):
        raise e.refuse("an assignment to an index with None", types=[describe(a)], hint="leave the None out")
    key = settled(e, key, BAD_INDEX)
    parts = [settled(e, p, BAD_INDEX) for p in (key.items if isinstance(key, TupleValue) else (key,))]
    ndim = a.type.ndim
    ellipses = [n for n, p in enumerate(parts) if isinstance(p, Known) and p.object is Ellipsis]
    if len(ellipses) > 1:
        e.throw("IndexError", "an index can only have a single ellipsis ('...')")
    count = len(parts) - len(ellipses)
    if count > ndim:
        e.throw("IndexError", f"too many indices for array: array is {ndim}-dimensional, but {count} were indexed")
    full = [_FULL] * (ndim - count)
    where = ellipses[0] if ellipses else len(parts)
    parts[where : where + len(ellipses)] = full
    for p in parts:
        if isinstance(p, SliceValue):
            continue
        scalar = number_type(p)
        if scalar is None or scalar.kind not in "iu":
            if (
                isinstance(p, ArrayValue)
                or scalar is BOOL
                or lists.is_list(e, p)
                or isinstance(p, Known)
                and p.object is None
            ):
                raise e.refuse(
                    "indexing by arrays, lists, bools or None",
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
    for axis, p in enumerate(parts):
        if isinstance(p, SliceValue):
            if all(isinstance(x, Known) and x.object is None for x in p.parts()):
                spec += ":"
                continue
            spec += "s"
            operands.extend(slice_bounds(e, p, e.dim(a.value, axis)))
        else:
            spec += "i"
            operands.append(_position(e, a, axis, p))
    return view(e, a, spec, operands, parts)


def view(e: Evaluator, a: ArrayValue, spec: str, operands: list[Value], parts: list[Abstract]) -> ArrayValue:
    ndim = sum(c != "i" for c in spec)
    rest = spec.lstrip("i")
    unit = True
    if rest.startswith("s"):
        first = parts[len(spec) - len(rest)] if parts else None
        step = first.step if isinstance(first, SliceValue) else None
        unit = isinstance(step, Known) and step.object in (None, 1)
        rest = rest[1:]
    contiguous = a.type.layout == "C" and unit and set(rest) <= {":"}
    type = Array(a.type.dtype, ndim, "C" if contiguous else "A", a.type.writable)
    return ArrayValue(e.op("view", a.value, *operands, type=type, spec=spec))


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


def attribute(e: Evaluator, a: ArrayValue, name: str) -> Abstract | None:
    from zyg.library import registry

    ndim = a.type.ndim
    if name == "shape":
        return TupleValue(tuple(Number(e.dim(a.value, n)) for n in range(ndim)))
    if name == "ndim":
        return Known(ndim)
    if name == "size":
        return size(e, a)
    if name == "dtype":
        return Known(DTYPES[a.type.dtype])
    if name == "itemsize":
        return Known(DTYPES[a.type.dtype].itemsize)
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
