"""Other views of an array, without a copy: axes in another order, new ones, reversed ones, diagonals; what shares memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays, lists, orders
from zyg.frontend.complex_arrays import part
from zyg.frontend.elementwise import broadcast, broadcast_shape
from zyg.frontend.merging import MAX_ARRAYS, settled
from zyg.frontend.sized import is_known_one, is_not_one, is_one
from zyg.frontend.type_names import python_type_name
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
from zyg.ir.core import Const, Value, const
from zyg.ir.types import BOOL, Array

from ..registry import emits, implements
from .attributes import matrix_transposed
from .constructors import asarray

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

NONE, ZERO, ONE, TWO = Known(None), Known(0), Known(1), Known(2)


def as_array(e: Evaluator, v: Abstract) -> Abstract:
    """What NumPy takes for an array: an array, a number, a list."""
    v = settled(e, v, "None is no array")
    return v if isinstance(v, arrays.ARRAYS) else asarray(e, v)


# --------------------------------------------------------------------------------------------- axes in order


@emits(np.transpose)
def transpose(e: Evaluator, a: Abstract, axes: Abstract = NONE) -> Abstract:
    a = as_array(e, a)
    n = arrays.ndim(a)
    if isinstance(axes, Known) and axes.object is None:
        return arrays.permuted(e, a, range(n)[::-1])
    given = arrays.constant(e, axes, "an axis")
    order = given if isinstance(given, tuple) else (given,)
    if len(order) != n:
        e.throw("ValueError", "axes don't match array")
    sources = [arrays.axis_of(e, Known(axis), n) for axis in order]
    if len(set(sources)) < n:
        e.throw("ValueError", "repeated axis in transpose")
    return ordered(e, a, sources)


@emits((np.ndarray, "transpose"))
def transpose_method(e: Evaluator, a: Abstract, *axes: Abstract) -> Abstract:
    if len(axes) == 1 and not is_numeric(axes[0]):
        return transpose(e, a, axes[0])
    return transpose(e, a, TupleValue(axes) if axes else NONE)


def ordered(e: Evaluator, a: Abstract, sources: list[int]) -> Abstract:
    """`a` with its axis sources[j] as axis j."""
    return arrays.permuted(e, a, [sources.index(k) for k in range(len(sources))])


@emits(np.swapaxes, (np.ndarray, "swapaxes"))
def swapaxes(e: Evaluator, a: Abstract, axis1: Abstract, axis2: Abstract) -> Abstract:
    a = as_array(e, a)
    n = arrays.ndim(a)
    order = list(range(n))
    i = arrays.axis_of(e, axis1, n, "axis1", booleans=True)
    j = arrays.axis_of(e, axis2, n, "axis2", booleans=True)
    order[i], order[j] = j, i
    return ordered(e, a, order)


@emits(np.moveaxis)
def moveaxis(e: Evaluator, a: Abstract, source: Abstract, destination: Abstract) -> Abstract:
    a = as_array(e, a)
    n = arrays.ndim(a)
    start = _several(e, source, n, "source")
    end = _several(e, destination, n, "destination")
    if len(start) != len(end):
        e.throw("ValueError", "`source` and `destination` arguments must have the same number of elements")
    order = [k for k in range(n) if k not in start]
    for to, k in sorted(zip(end, start)):
        order.insert(to, k)
    return ordered(e, a, order)


def _several(e: Evaluator, axis: Abstract, ndim: int, name: str) -> tuple[int, ...]:
    given = arrays.constant(e, axis, "an axis")
    axes = tuple(
        arrays.axis_of(e, Known(n), ndim, "" if name == "axis" else name, booleans=True)
        for n in (given if isinstance(given, tuple) else (given,))
    )
    if len(set(axes)) < len(axes):
        e.throw("ValueError", f"repeated axis in `{name}` argument")
    return axes


def no_sequence(e: Evaluator, v: Abstract, attribute: str) -> None:
    """AttributeError for a list or tuple, of which NumPy makes no array where it asks for an attribute."""
    if lists.is_sequence(e, v):
        e.throw("AttributeError", f"'{python_type_name(e, v)}' object has no attribute '{attribute}'")


@emits(np.rollaxis, lists=("a",))
def rollaxis(e: Evaluator, a: Abstract, axis: Abstract, start: Abstract = ZERO) -> Abstract:
    no_sequence(e, a, "ndim")
    a = as_array(e, a)
    n = arrays.ndim(a)
    k = arrays.axis_of(e, axis, n)
    given = arrays.constant(e, start, "an axis")
    assert isinstance(given, int)
    to = given + n if given < 0 else given
    if not 0 <= to <= n:
        message = f"'start' arg requires {-n} <= start < {n + 1}, but {to} was passed in"
        e.throw("numpy.exceptions.AxisError", message)
    order = [i for i in range(n) if i != k]
    order.insert(to - 1 if k < to else to, k)
    return ordered(e, a, order)


@emits(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(e: Evaluator, x: Abstract, /) -> Abstract:
    x = as_array(e, x)
    n = arrays.ndim(x)
    if n < 2:
        message = f"Input array must be at least 2-dimensional, but it is {n}"
        e.throw("ValueError", message)
    return matrix_transposed(e, x)


# ------------------------------------------------------------------------------- axes of length one, more or fewer


@emits(np.expand_dims)
def expand_dims(e: Evaluator, a: Abstract, axis: Abstract) -> Abstract:
    a = as_array(e, a)
    given = arrays.constant(e, axis, "an axis")
    count = len(given) if isinstance(given, tuple) else 1
    n = arrays.ndim(a) + count
    new = (
        _several(e, axis, n, "axis")
        if count != 1 or isinstance(given, tuple)
        else (arrays.axis_of(e, axis, n, booleans=True),)
    )
    return arrays.seen(e, a, "".join("n" if k in new else ":" for k in range(n)))


@emits(np.squeeze, (np.ndarray, "squeeze"))
def squeeze(e: Evaluator, a: Abstract, axis: Abstract = NONE) -> Abstract:
    a = as_array(e, a)
    n = arrays.ndim(a)
    lengths = arrays.dims(e, a)
    if isinstance(axis, Known) and axis.object is None:
        ones = [k for k, d in enumerate(lengths) if is_known_one(e, d)]
        if ones:
            a = squeeze(e, a, TupleValue(tuple(map(Known, ones))))
        unknown = [k for k, d in enumerate(arrays.dims(e, a)) if not is_not_one(e, d)]
        if len(unknown) >= MAX_ARRAYS:
            raise e.refuse(
                "np.squeeze without an axis: too many axes may be of length 1",
                types=[describe(a)],
                hint="name the axes: np.squeeze(a, axis=0)",
            )
        return e.call(known(squeezed), [a, TupleValue(tuple(map(Known, reversed(unknown))))])
    if n == 0 and arrays.constant(e, axis, "an axis") in (0, -1):
        return a
    given = arrays.constant(e, axis, "an axis")
    gone = tuple(arrays.axis_of(e, Known(k), n) for k in (given if isinstance(given, tuple) else (given,)))
    if len(set(gone)) < len(gone):
        e.throw("ValueError", "duplicate value in 'axis'")
    for k in gone:
        one = is_one(e, lengths[k])
        e.guard(one, "ValueError", "cannot select an axis to squeeze out which has size not equal to one")
    spec = "".join("i" if k in gone else ":" for k in range(n))
    return arrays.seen(e, a, spec, *[const(0)] * len(gone))


def squeezed(a: Any, axes: Any) -> Any:
    """`a` without those of the axes, last one first, that are of length 1: how many these are may turn out at run time."""
    for k in axes:
        a = without_one(a, k)
    return a


def without_one(a: Any, axis: int) -> Any:
    if a.shape[axis] == 1:
        return np.squeeze(a, axis)
    return a


implements(without_one)(without_one)  # an entry is called for each kind of array that `a` may be


def _at_least(e: Evaluator, given: tuple[Abstract, ...], specs: tuple[str, ...]) -> Abstract:
    """Each argument with new axes; specs[n] is for one of n dimensions."""
    made = []
    for v in given:
        a = as_array(e, v)
        n = arrays.ndim(a)
        made.append(arrays.seen(e, a, specs[n]) if n < len(specs) else a)
    return made[0] if len(made) == 1 else TupleValue(tuple(made))


@emits(np.atleast_1d)
def atleast_1d(e: Evaluator, *arys: Abstract) -> Abstract:
    return _at_least(e, arys, ("n",))


@emits(np.atleast_2d)
def atleast_2d(e: Evaluator, *arys: Abstract) -> Abstract:
    return _at_least(e, arys, ("nn", "n:"))


@emits(np.atleast_3d)
def atleast_3d(e: Evaluator, *arys: Abstract) -> Abstract:
    return _at_least(e, arys, ("nnn", "n:n", "::n"))


@emits(np.broadcast_to)
def broadcast_to(e: Evaluator, array: Abstract, shape: Abstract) -> Abstract:
    """A view that cannot be written."""
    a = as_array(e, array)
    wanted = arrays.shape_argument(e, shape)
    own = arrays.dims(e, a)
    for d in wanted:
        if not isinstance(d, Const):
            e.guard(e.op("ge", d, const(0)), "ValueError", "all elements of broadcast shape must be non-negative")
        elif d.value < 0:
            e.throw("ValueError", "all elements of broadcast shape must be non-negative")
    if len(own) > len(wanted):
        e.throw("ValueError", "input operand has more dimensions than allowed by the axis remapping")
    text = ["(" + ",".join(["{}"] * len(s)) + (",)" if len(s) == 1 else ")") for s in (own, wanted)]
    message = (
        "operands could not be broadcast together with remapped shapes [original->remapped]: "
        f"{text[0]}  and requested shape {text[1]}"
    )
    for d, to in zip(reversed(own), reversed(wanted)):
        fits = e.op("or", e.op("eq", d, to), e.op("eq", d, const(1)))
        e.guard(fits, "ValueError", message, *own, *wanted)
    return stretched(e, a, wanted, writable=False)


@emits(np.broadcast_arrays)
def broadcast_arrays(e: Evaluator, *args: Abstract) -> Abstract:
    """Views that cannot be written: an element of theirs may be there many times (NumPy warns of such writes)."""
    found = [as_array(e, v) for v in args]
    if not found:
        return TupleValue(())
    fault = "shape mismatch: objects cannot be broadcast to a single shape"
    shape = broadcast_shape(e, [as_real(e, a) for a in found], fault=fault)
    return TupleValue(tuple(stretched(e, a, shape, writable=False) for a in found))


def as_real(e: Evaluator, a: Abstract) -> ArrayValue:
    """An array of real numbers of the same shape: of complex ones their real parts."""
    found = part(e, a, "real") if isinstance(a, ComplexArrayValue) else a
    assert isinstance(found, ArrayValue)
    return found


@emits(np.broadcast_shapes, known=("args",))
def broadcast_shapes(e: Evaluator, *args: Abstract) -> Abstract:
    given = [items if (items := lists.known_items(e, s)) is not None else (s,) for s in args]
    result: list[Abstract] = []
    for axis in range(-max(map(len, given), default=0), 0):
        length: Abstract = ONE
        for shape in given:
            if -axis <= len(shape):
                length = e.call(known(common_length), [length, lists.index_argument(e, shape[axis])])
        result.append(length)
    return TupleValue(tuple(result))


def common_length(a: int, b: int) -> int:
    """The length of an axis of two arrays that are broadcast together."""
    if b < 0:
        raise ValueError("negative dimensions are not allowed")
    if a != 1 and b != 1 and a != b:
        raise ValueError("shape mismatch: objects cannot be broadcast to a single shape.")
    return b if a == 1 else a


def stretched(e: Evaluator, a: Abstract, shape: list[Value], writable: bool = True) -> Abstract:
    """An array seen in a shape that it fits."""
    floats = arrays.memory(a)
    if isinstance(a, ComplexArrayValue):
        # Its axes are aligned at the end, where that of the parts is.
        shape = [*shape, const(2)]
    value = broadcast(e, floats, shape)
    type = Array(floats.type.dtype, len(shape), "A", writable and floats.type.writable)
    if value.type != type:
        value = e.op("view", value, type=type, spec=":" * len(shape))
    return arrays.of_kind(a, ArrayValue(value))


@emits(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(
    e: Evaluator,
    x: Abstract,
    window_shape: Abstract,
    axis: Abstract = NONE,
    *,
    writeable: Abstract = Known(False),  # noqa: B008
) -> Abstract:
    """A copy of all windows, where NumPy has a view, which cannot be written either: that the array is changed while they are in
    use is refused (zyg/frontend/listed.py). So a derivative adds to each of them on its own."""
    a = as_array(e, x)
    n = arrays.ndim(a)
    if not (isinstance(writeable, Known) and writeable.object is False):
        raise e.refuse("sliding_window_view(writeable=...) in native code", hint="write to the array itself")
    lengths = arrays.shape_argument(e, window_shape)
    for length in lengths:
        e.guard(e.op("ge", length, const(0)), "ValueError", "`window_shape` cannot contain negative values")
    if isinstance(axis, Known) and axis.object is None:
        axes = tuple(range(n))
        if len(lengths) != n:
            e.throw(
                "ValueError",
                "Since axis is `None`, must provide window_shape for all dimensions of `x`; got "
                f"{len(lengths)} window_shape elements and `x.ndim` is {n}.",
            )
    else:
        given = arrays.constant(e, axis, "an axis")
        axes = tuple(arrays.axis_of(e, Known(k), n) for k in (given if isinstance(given, tuple) else (given,)))
        if len(lengths) != len(axes):
            e.throw(
                "ValueError",
                "Must provide matching length window_shape and axis; got "
                f"{len(lengths)} window_shape elements and {len(axes)} axes elements.",
            )
    left = arrays.dims(e, a)
    for k, length in zip(axes, lengths):
        e.guard(e.op("le", length, left[k]), "ValueError", "window shape cannot be larger than input array shape")
        left[k] = e.op("sub", left[k], e.op("sub", length, const(1)))
    type = arrays.memory(a).type
    looked_at = e.op("view", arrays.memory(a).value, type=type, spec=":" * type.ndim)
    look = e.latest
    made = arrays.of_kind(a, ArrayValue(looked_at))
    for k, length in zip(axes, lengths):
        made = e.call(known(windows_along), [made, Number(length), Known(k)])
    result = arrays.permuted(e, made, range(arrays.ndim(made)), writable=False)
    e.inference.windows[look] = arrays.owner(e, arrays.memory(result).value)
    # What is made of them lies as if they were a view.
    steps = [orders.stride(e, looked_at, k) for k in range(type.ndim)]
    e.seeming[arrays.memory(result).value] = (*steps[:n], *(steps[k] for k in axes), *steps[n:])
    return result


def windows_along(a: Any, length: int, axis: int) -> Any:
    """The windows of this length along an axis, in a new last axis."""
    rest = a.shape[axis] - length + 1
    items = np.moveaxis(a, axis, 0)
    made = np.empty((length, rest, *items.shape[1:]), a.dtype)
    for k in range(length):
        made[k] = items[k : k + rest]
    return np.moveaxis(np.moveaxis(made, 1, axis + 1), 0, -1)


# ----------------------------------------------------------------------------------------- reversed, diagonals


@emits(np.flip)
def flip(e: Evaluator, m: Abstract, axis: Abstract = NONE) -> Abstract:
    a = as_array(e, m)
    return flipped(e, a, arrays.axes_of(e, axis, arrays.ndim(a), booleans=True))


def flipped(e: Evaluator, a: Abstract, axes: tuple[int, ...]) -> Abstract:
    """`a` from its end to its start along the axes."""
    operands: list[Value] = []
    spec = ""
    for k, length in enumerate(arrays.dims(e, a)):
        spec += "s" if k in axes else ":"
        if k in axes:
            operands += [e.op("sub", length, const(1)), length, const(-1)]
    return arrays.seen(e, a, spec, *operands) if operands else a


@emits(np.flipud)
def flipud(e: Evaluator, m: Abstract) -> Abstract:
    a = as_array(e, m)
    if arrays.ndim(a) < 1:
        e.throw("ValueError", "Input must be >= 1-d.")
    return flipped(e, a, (0,))


@emits(np.fliplr)
def fliplr(e: Evaluator, m: Abstract) -> Abstract:
    a = as_array(e, m)
    if arrays.ndim(a) < 2:
        e.throw("ValueError", "Input must be >= 2-d.")
    return flipped(e, a, (1,))


@emits(np.rot90)
def rot90(e: Evaluator, m: Abstract, k: Abstract = ONE, axes: Abstract = TupleValue((ZERO, ONE))) -> Abstract:  # noqa: B008
    a = as_array(e, m)
    n = arrays.ndim(a)
    given = arrays.constant(e, axes, "an axis")
    plane = given if isinstance(given, tuple) else (given,)
    if len(plane) != 2:
        e.throw("ValueError", "len(axes) must be 2.")
    first, second = plane[0], plane[-1]
    assert isinstance(first, int) and isinstance(second, int)
    if first == second or abs(first - second) == n:
        e.throw("ValueError", "Axes must be different.")
    if not (-n <= first < n and -n <= second < n):
        e.throw("ValueError", f"Axes={plane} out of range for array of ndim={n}.")
    first, second = first % n, second % n
    if not isinstance(k, Known):
        return e.call(known(turned), [a, k, Known(first), Known(second)])
    turns = arrays.constant(e, k, "a number of turns")
    assert isinstance(turns, int)
    order = list(range(n))
    order[first], order[second] = second, first
    if turns % 4 == 0:
        return a
    if turns % 4 == 2:
        return flipped(e, a, (first, second))
    if turns % 4 == 1:
        return ordered(e, flipped(e, a, (second,)), order)
    return flipped(e, ordered(e, a, order), (second,))


def turned(m: Any, k: Any, first: int, second: int) -> Any:
    """np.rot90 of so many turns as are found out when the code runs."""
    turns = k % 4
    if turns == 1:
        return np.swapaxes(np.flip(m, second), first, second)
    if turns == 2:
        return np.flip(m, (first, second))
    if turns == 3:
        return np.flip(np.swapaxes(m, first, second), second)
    return m[...]


@emits(np.diagonal, (np.ndarray, "diagonal"))
def diagonal(
    e: Evaluator, a: Abstract, offset: Abstract = ZERO, axis1: Abstract = ZERO, axis2: Abstract = ONE
) -> Abstract:
    """A view that cannot be written."""
    return diagonal_of(e, as_array(e, a), offset, axis1, axis2, writable=False)


def diagonal_of(
    e: Evaluator, a: Abstract, offset: Abstract, axis1: Abstract, axis2: Abstract, writable: bool
) -> Abstract:
    n = arrays.ndim(a)
    if n < 2:
        e.throw("ValueError", "diag requires an array of at least two dimensions")
    i, j = arrays.axis_of(e, axis1, n, "axis1"), arrays.axis_of(e, axis2, n, "axis2")
    if i == j:
        e.throw("ValueError", "axis1 and axis2 cannot be the same")
    below, right = _starts(e, a, offset, i, j)
    operands: list[Value] = []
    spec = ""
    lengths = arrays.dims(e, a)
    for k in range(n):
        start = below if k == i else right if k == j else None
        if start is None or isinstance(start, Const) and start.value == 0:
            spec += ":"
        else:
            spec += "s"
            operands += [start, e.op("sub", lengths[k], start), const(1)]
    if operands:
        a = arrays.seen(e, a, spec, *operands)
    rest = [k for k in range(n) if k not in (i, j)]
    return arrays.permuted(e, a, [rest.index(k) if k in rest else n - 2 for k in range(n)], writable)


def _starts(e: Evaluator, a: Abstract, offset: Abstract, i: int, j: int) -> tuple[Value, Value]:
    """Where the diagonal starts along both axes, at most at their ends."""
    from zyg.frontend.scalars import to_int

    lengths = arrays.dims(e, a)
    zero = const(0)
    if isinstance(offset, Known) and type(offset.object) is int and offset.object == 0:
        return zero, zero
    shift = to_int(e, offset)

    def clipped(start: Value, length: Value) -> Value:
        start = e.op("select", e.op("gt", start, zero), start, zero)
        return e.op("select", e.op("lt", start, length), start, length)

    return clipped(e.op("neg", shift), lengths[i]), clipped(shift, lengths[j])


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
    types = tuple([disassemble(e, v, leaves) for v in (a, b)])
    attrs = {"callable": np.shares_memory, "arguments": types, "result": BOOL, "reads": True}
    exact = lambda: Number(e.emit("pycall", *leaves, types=(BOOL,), **attrs)[0])
    return e.if_else(ranges, exact, lambda: Number(const(False)))
