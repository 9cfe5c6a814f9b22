"""Arrays: their shape, views, assignment, attributes, new ones.

Keys in brackets are taken apart in `indexing`; what works on whole arrays (`a + b`, ufuncs, broadcasting) has its place in
`elementwise`.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from functools import partial
from types import GetSetDescriptorType
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.errors import NeedsConstant
from zyg.ir.core import Const, Value, array_type, const
from zyg.ir.dtypes import NUMPY_SCALARS
from zyg.ir.ops import VIEWS
from zyg.ir.overtaking import OVERTAKING
from zyg.ir.types import BOOL, F64, I32, I64, U8, Array, Scalar
from zyg.library import registry
from zyg.typeof import dtype_scalar

from . import kinds, lists
from .alternatives import refuse_unlike
from .classes import is_object_class
from .merging import settled
from .numpy_numbers import as_numpy
from .opaque import refuse_opaque
from .orders import seen_in_order
from .python_numbers import SYMBOLS
from .scalars import scalar_value, to_int
from .turned import before, inverse, transposed_alike
from .type_names import class_of, python_type_name
from .values import (
    ARRAYS,
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    ComplexValue,
    Known,
    MethodValue,
    Number,
    describe,
    is_number,
    is_numeric,
    known,
    number_type,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator

DTYPES = {scalar: np.dtype(cls) for scalar, cls in NUMPY_SCALARS.items()}
# The ufuncs that the operators are.
UFUNCS: dict[str, np.ufunc] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide, "floordiv": np.floor_divide,
    "mod": np.remainder, "pow": np.power, "lshift": np.left_shift, "rshift": np.right_shift, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip
# The element type of arrays of complex numbers; no SSA value is of this type.
COMPLEX = Scalar("complex128", "c", 128)


def numpy_dtype(scalar: Scalar) -> np.dtype:
    return DTYPES[scalar] if scalar is not COMPLEX else np.dtype(complex)


def _refuse_squares_of_bools(e: Evaluator, a: Abstract, b: Abstract) -> None:
    """NumPy squares them by multiplication, as int8; other powers are of int64."""
    if isinstance(a, ArrayValue) and a.type.dtype is BOOL and number_type(b) is I64:
        hint = "convert it first: a.astype(int)"
        if isinstance(b, Known) and b.object == 2:
            raise e.refuse("the square of an array of bools, which is of int8", hint=hint)
        if isinstance(b, Number) and not b.numpy:
            raise e.refuse(
                "a power of an array of bools, which is of int8 if it is the second, else of int64", hint=hint
            )


def elementwise(e: Evaluator, name: str, *operands: Abstract) -> Abstract:
    """An operator on whole arrays; lists and tuples are arrays too."""
    operands = tuple(_operand(e, v) for v in operands)
    if all(isinstance(v, ARRAYS) or is_numeric(v) for v in operands) and name != "matmul":
        from . import comparison, operators
        from .elementwise import lift

        if len(operands) == 1:
            function = lambda e, x: operators.unary(e, name, x)
        elif name in ("lt", "le", "eq", "ne", "gt", "ge"):
            function = lambda e, x, y: comparison.compare(e, name, x, y)
        else:
            from zyg.library.numpy_.arithmetic import of_elements

            if name == "pow":
                _refuse_squares_of_bools(e, *operands)
            function = lambda e, x, y: of_elements(e, name, x, y)
        return lift(e, name, function, operands)
    if name == "matmul" and all(isinstance(v, ARRAYS) or is_numeric(v) for v in operands):
        from zyg.library.numpy_.products import matmul

        return matmul(e, *operands)
    refuse_opaque(e, f"the operator {SYMBOLS.get(name, name)} on", *operands)
    for v in operands:
        if not (isinstance(v, ARRAYS) or is_numeric(v)):
            if name in ("eq", "ne"):
                types = [describe(o, e.heap) for o in operands]
                raise e.refuse(
                    "a comparison of an array with something else than numbers", types=types, hint="use `is`"
                )
            if is_object_class(class_of(e, v)):
                raise e.refuse(
                    f"the operator {SYMBOLS.get(name, name)} on an array and an object, to whose methods NumPy passes elements",
                    types=[describe(o, e.heap) for o in operands],
                    hint="write `__array_ufunc__ = None` in the class, so that its methods get the array",
                )
            e.type_error(
                f"unsupported operand type(s) for {SYMBOLS.get(name, name)}: "
                + " and ".join(f"'{python_type_name(e, o)}'" for o in operands)
            )
    raise e.refuse(
        f"the operator {SYMBOLS.get(name, name)} on whole arrays",
        types=[describe(v, e.heap) for v in operands],
        hint="write a loop over the elements",
    )


_EMPTY = "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty."
_AMBIGUOUS = "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"


def _operand(e: Evaluator, v: Abstract) -> Abstract:
    if not lists.is_sequence(e, v):
        return v
    from zyg.library.numpy_.constructors import array

    return array(e, v)


def truth(e: Evaluator, v: Abstract) -> Value:
    """bool(a), which arrays of one element have."""
    from .comparison import truth as truth_of

    if ndim(v) > 0:
        count = scalar_value(e, size(e, v), I64)
        e.guard(e.op("ne", count, const(0)), "ValueError", _EMPTY)
        e.guard(e.op("eq", count, const(1)), "ValueError", _AMBIGUOUS)
    return truth_of(e, only_element(e, v))


def only_element(e: Evaluator, v: Abstract) -> Abstract:
    """What an array of one element holds."""
    from .indexing import load

    return load(e, v, [const(0)] * ndim(v))


def python_scalar(e: Evaluator, v: Abstract) -> Abstract:
    """The element of an array that `float` and `int` are called with; anything else stays what it is."""
    if not isinstance(v, ARRAYS):
        return v
    if ndim(v) > 0:
        if not _CONVERTS_ONE:
            e.type_error(_ONE_ONLY)
        e.guard(e.op("eq", scalar_value(e, size(e, v), I64), const(1)), "TypeError", _ONE_ONLY)
    return only_element(e, v)


def _one_element() -> tuple[bool, str]:
    """Whether this NumPy converts arrays of one element to Python numbers if they have dimensions, and what it says of others."""
    try:
        float(np.zeros(2))
    except TypeError as error:
        message = str(error)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return bool(float(np.ones(1))), message
        except TypeError:
            return False, message


_CONVERTS_ONE, _ONE_ONLY = _one_element()


def ndim(a: Abstract) -> int:
    if isinstance(a, ComplexArrayValue):
        return a.ndim
    assert isinstance(a, ArrayValue)
    return a.type.ndim


def memory(a: Abstract) -> ArrayValue:
    """The array of numbers of one kind that an array is: of the parts, if it is one of complex numbers."""
    floats = a.floats if isinstance(a, ComplexArrayValue) else a
    assert isinstance(floats, ArrayValue)
    return floats


def separate(e: Evaluator, a: Value, b: Value) -> bool:
    """Whether two arrays are known to share no memory: one is seen in what was made, the other in something else that was made, in an
    argument, or in what was there before."""
    a, b = owner(e, a), owner(e, b)
    return a is not b and (
        _is_made(e, a) and (_is_made(e, b) or _is_older(e, b, a)) or _is_made(e, b) and _is_older(e, a, b)
    )


def _is_made(e: Evaluator, array: Value) -> bool:
    return array in e.inference.fresh or e.shaped.get(array, ("",))[0] == "alloc"


def _is_older(e: Evaluator, array: Value, made: Value) -> bool:
    """Whether an array was there when the code that is evaluated began, and the one that was made was not: it is an argument, say, or what a
    loop carries round, from which what this iteration makes is apart."""
    if array in e.function.params:
        return True
    at_head = e.node.arrays_at_head(partial(owner, e))
    return array in at_head and made not in at_head


def owner(e: Evaluator, value: Value) -> Value:
    """What an array is a view of, as far as this function's own instructions tell."""
    while (made := e.shaped.get(value)) is not None and made[0] in VIEWS:
        value = made[1][0]
    return value


def of_kind(a: Abstract, floats: ArrayValue) -> ArrayValue | ComplexArrayValue:
    """An array of the same element type as `a`, by its numbers."""
    return ComplexArrayValue(floats) if isinstance(a, ComplexArrayValue) else floats


def general(e: Evaluator, a: Abstract) -> ArrayValue | ComplexArrayValue:
    """The array as one of any strides: what is this on one path and a copy on another has one type then."""
    return _of_layout(e, a, "A")


def packed(e: Evaluator, a: Abstract) -> ArrayValue | ComplexArrayValue:
    """An array that is contiguous, as one that is known to be."""
    return _of_layout(e, a, "C")


def _of_layout(e: Evaluator, a: Abstract, layout: str) -> ArrayValue | ComplexArrayValue:
    from .edges import array_as

    floats = memory(a)
    type = Array(floats.type.dtype, floats.type.ndim, layout, floats.type.writable)
    return of_kind(a, ArrayValue(array_as(e, floats.value, type)))


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
    from .indexing import load

    return load(e, a, [])


# -------------------------------------------------------------------------------------------------- views


def view(e: Evaluator, a: ArrayValue, spec: str, operands: list[Value]) -> ArrayValue:
    """The view that the letters of `spec` tell (see the op `view`); contiguous where that can be seen."""
    found = None if a.value in e.seeming else before(e, a.value)
    if found is not None and "n" not in spec and array_type(found[0]).writable == a.type.writable:
        return _view_before(e, ArrayValue(found[0]), found[1], spec, operands)
    rest = spec.lstrip("in")
    unit = True
    if rest.startswith("s"):
        step = operands[spec[: len(spec) - len(rest)].count("i") + 2]
        unit = isinstance(step, Const) and step.value == 1
        rest = rest[1:]
    contiguous = a.type.layout == "C" and unit and set(rest) <= {":", "n"}
    type = Array(a.type.dtype, len(spec) - spec.count("i"), "C" if contiguous else "A", a.type.writable)
    return ArrayValue(e.op("view", a.value, *operands, type=type, spec=spec))


def _view_before(e: Evaluator, source: ArrayValue, to: tuple[int, ...], spec: str, operands: list[Value]) -> ArrayValue:
    """The same of `source` with its axis k as axis to[k]: a view of it, with the axes that are left in that order."""
    given = iter(operands)
    parts = [[next(given) for _ in range({"i": 1, "s": 3}.get(letter, 0))] for letter in spec]
    left = [axis for axis in to if spec[axis] != "i"]
    made = view(e, source, "".join(spec[axis] for axis in to), [v for axis in to for v in parts[axis]])
    return memory(permuted(e, made, [sorted(left).index(axis) for axis in left]))


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
    found = None if floats.value in e.seeming else before(e, floats.value)
    if found is not None:
        to = [to[axis] for axis in found[1]]
        floats = ArrayValue(found[0])
    if [*to] == [*range(ndim)]:
        type = Array(floats.type.dtype, ndim, floats.type.layout, writable)
        if type != floats.type:
            floats = ArrayValue(e.op("view", floats.value, type=type, spec=":" * ndim))
        return of_kind(a, floats)
    type = Array(floats.type.dtype, ndim, "A", writable)
    return of_kind(a, ArrayValue(e.op("transpose", floats.value, type=type, axes=tuple(to))))


def is_contiguous(e: Evaluator, a: Abstract) -> Value:
    """Whether the elements lie in memory one after the other, as the indices count."""
    floats = memory(a)
    if floats.type.layout == "C":
        return const(True)
    return e.op("contiguous", floats.value)


def constant(e: Evaluator, v: Abstract, what: str) -> Any:
    """An argument that has to be known when compiling."""
    items = kinds.known_items(e, v)
    if items is not None:
        return tuple(constant(e, item, what) for item in items)
    if isinstance(v, Number) and isinstance(v.value, Const):  # np.int64(1)
        return v.value.value
    if not isinstance(v, Known):
        what = f"{what} that is not known when compiling"
        raise NeedsConstant(what, e.position, types=[describe(v, e.heap)], hint="write a constant")
    return v.object


def axis_of(e: Evaluator, axis: Abstract, ndim: int, name: str = "", booleans: bool = False) -> int:
    """An axis, counted from the front; it has to be known when compiling. An error names the argument, if that is given.
    `booleans`: whether NumPy takes True for 1 here."""
    given = constant(e, axis, "an axis")
    if type(given) is bool and not booleans:
        e.type_error("an integer is required for the axis")
    try:
        number = operator.index(given)
    except TypeError as error:
        e.type_error(str(error))
        raise
    if not -ndim <= number < ndim:
        e.throw(
            "numpy.exceptions.AxisError",
            f"{name and name + ': '}axis {number} is out of bounds for array of dimension {ndim}",
        )
    return number % ndim


def axes_of(e: Evaluator, axis: Abstract, ndim: int, name: str = "axis", booleans: bool = False) -> tuple[int, ...]:
    """One or several axes; all of them for None."""
    given = constant(e, axis, "an axis")
    if given is None:
        return tuple(range(ndim))
    several = given if isinstance(given, tuple) else (given,)
    if not booleans and any(type(n) is bool for n in several):
        e.type_error("an integer is required")
    axes = tuple(axis_of(e, Known(n), ndim, booleans=True) for n in several)
    if len(set(axes)) < len(axes):
        e.throw("ValueError", f"repeated axis in `{name}` argument" if name != "axis" else "duplicate value in 'axis'")
    return axes


# ---------------------------------------------------------------------------------------------- assignment


def element(e: Evaluator, v: Abstract, dtype: Scalar) -> Value:
    """A number as an element that is set by itself (`a[i] = v`, `a[:] = v`): by `int(v)` and with its exceptions, where that is
    an integer; only bytes take NumPy's numbers as `converted` does."""
    scalar = number_type(v)
    assert scalar is not None
    strong = isinstance(v, Number) and v.numpy
    if dtype.kind not in "iu" or dtype is U8 and strong:
        return converted(e, v, dtype)
    whole = v
    if isinstance(v, Known):
        try:
            whole = Known(int(v.object))
        except (ValueError, OverflowError) as error:
            e.throw(type(error).__name__, str(error))
        else:
            if not -(2**63) <= whole.object < 2**63:
                e.throw("OverflowError", "Python int too large to convert to C long")
    elif scalar.kind == "f":
        from zyg.library.builtins_ import int_of_float

        whole = e.call(known(int_of_float), [v])
    return as_numpy(e, Number(scalar_value(e, whole)) if isinstance(whole, Number) else whole, dtype)


def converted(e: Evaluator, v: Abstract, dtype: Scalar) -> Value:
    """A number in another element type, as C converts it (and NumPy, whole arrays): integers wrap. Floats that the integer
    type does not hold, nan too, become its smallest number, or 0 as a byte, which is what they are on x86-64."""
    scalar = number_type(v)
    assert scalar is not None
    if dtype is BOOL:
        from .comparison import truth as truth_of

        return truth_of(e, v)
    if scalar.kind != "f" or dtype.kind not in "iu":
        return as_numpy(e, v, dtype)
    wide = I64 if dtype is I64 else I32
    x, least = scalar_value(e, v, scalar), -(2 ** (wide.bits - 1))
    inside = e.op("and", e.op("ge", x, const(float(least), scalar)), e.op("lt", x, const(-float(least), scalar)))
    whole = e.builder.cast(e.op("select", inside, x, const(0.0, scalar)), wide)
    return e.op("select", inside, e.builder.cast(whole, dtype), const(0 if dtype is U8 else least, dtype))


def check_writable(e: Evaluator, a: ArrayValue) -> None:
    if not a.type.writable:
        name = a.value.name
        e.throw("ValueError", "assignment destination is read-only" + (f": '{name}'" if name else ""))


def real_if_needed(e: Evaluator, target: Abstract, value: Abstract) -> Abstract:
    """What is assigned to an array of real numbers, in place of complex numbers."""
    complex_ = isinstance(value, (ComplexValue, ComplexArrayValue)) or is_numeric(value) and not is_number(value)
    if not complex_ or not isinstance(target, ArrayValue):
        return value
    from .complex_arrays import as_real

    return as_real(e, value, target.type.dtype)


def assign(e: Evaluator, target: Abstract, value: Abstract, apart: bool = True) -> None:
    """target[...] = value, broadcast to the shape of the target; they may share memory unless they are said to be `apart`."""
    from zyg.library.numpy_.constructors import array

    value = settled(e, value, "float() argument must be a string or a real number, not 'NoneType'")
    value = real_if_needed(e, target, value)
    if isinstance(target, ComplexArrayValue):
        from . import complex_arrays

        if not isinstance(value, ComplexArrayValue) and (is_numeric(value) or isinstance(value, ArrayValue)):
            complex_arrays.assign(e, target, value)
            return
    elif is_number(value):
        e.emit("fill", memory(target).value, element(e, value, memory(target).type.dtype))
        return
    if lists.is_sequence(e, value):
        value = array(e, value)
    value = real_if_needed(e, target, value)  # a list of complex numbers is an array of them
    if not isinstance(value, ARRAYS):
        raise e.refuse(
            "an assignment to a part of an array",
            types=[describe(target), describe(value, e.heap)],
            hint="assign a number, or an array",
        )
    given = fitted(e, value, dims(e, target), "could not broadcast input array from shape", "into shape")
    if not apart:
        _refuse_overtaking(e, target, given)
    copy_elements(e, target, given)


def _refuse_overtaking(e: Evaluator, target: Abstract, value: Abstract) -> None:
    """ValueError where NumPy, which copies vectors element by element, would read what it has just written."""
    to, source = memory(target), memory(value)
    contiguous = to.type.layout == source.type.layout == "C"
    if ndim(target) != 1 or contiguous or to.value is source.value or separate(e, to.value, source.value):
        return
    if type(target) is type(value) and to.type.dtype is source.type.dtype:
        wrong = e.op("overlap", to.value, source.value, copying=True)
        e.guard(e.op("not", wrong), "ValueError", OVERTAKING)


def copy_elements(e: Evaluator, target: Abstract, value: Abstract) -> None:
    """Assign an array of the same shape."""
    from .elementwise import element_function

    if isinstance(target, ComplexArrayValue) and not isinstance(value, ComplexArrayValue):
        from . import complex_arrays

        complex_arrays.assign(e, target, value)
        return
    to, source = memory(target), memory(value)
    if to.value is source.value:
        return
    before = transposed_alike(e, [to, source])
    if before is not None:
        to, source = (memory(v) for v in before[0])
    elif (order := seen_in_order(e, dims(e, to), [to])) is not None:  # loops go along what they write
        to, source = (memory(permuted(e, v, inverse(order[1]))) for v in (to, source))
    dtype = to.type.dtype
    if source.type.dtype is dtype:
        e.emit("copyto", to.value, source.value)
    elif to.type.ndim == 0:
        e.emit("store", to.value, converted(e, Number(e.op("load", source.value), True), dtype))
    else:
        # Arrays of different types share no memory.
        function = lambda e, x: Number(converted(e, x, dtype), True)
        name, _ = element_function(e, ("convert", dtype), function, [source])
        e.emit("apply", to.value, source.value, types=(), callee=name, modes=("set",))


def fitted(e: Evaluator, value: Abstract, shape: Sequence[Value], fault: str, into: str) -> Abstract:
    """An array seen in the shape of what it is assigned to: leading axes of length 1 go, others of length 1 repeat.
    ValueError, with the text `fault` (2,3) `into` (3,), or `fault` alone, where it does not fit."""
    from .elementwise import broadcast

    own = dims(e, value)
    texts = ["(" + ",".join(["{}"] * len(d)) + (",)" if len(d) == 1 else ")") for d in (own, shape)]
    message = f"{fault} {texts[0]} {into} {texts[1]}" if into else fault
    more = len(own) - len(shape)
    for n, d in enumerate(reversed(own)):
        to = shape[-1 - n] if n < len(shape) else const(1)
        if d is to or isinstance(d, Const) and d.value in (1, to.value if isinstance(to, Const) else 1):
            continue
        fits = e.op("eq", d, const(1))
        if n < len(shape):
            fits = e.op("or", e.op("eq", d, to), fits)
        e.guard(fits, "ValueError", message, *own, *shape)
    if more > 0:
        value = seen(e, value, "i" * more + ":" * len(shape), *[const(0)] * more)
    if isinstance(value, ComplexArrayValue):
        shape = [*shape, const(2)]
    return of_kind(value, ArrayValue(broadcast(e, memory(value), shape)))


def inplace(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract:
    """a += b and its relatives: element by element, in the array's own memory."""
    b = _operand(e, b)
    if name == "matmul" and isinstance(b, ARRAYS):
        from zyg.library.numpy_.inplace import matmul_inplace

        e.call(known(matmul_inplace), [a, b])
        return a
    if isinstance(a, ComplexArrayValue):
        from . import complex_arrays

        return complex_arrays.inplace(e, name, a, b)
    assert isinstance(a, ArrayValue)
    b = settled(e, b, "unsupported operand type: 'NoneType'")
    if name == "matmul" or not (isinstance(b, ARRAYS) or is_numeric(b)):
        raise e.refuse(
            f"the operator {SYMBOLS[name]}= on an array",
            types=[describe(a), describe(b, e.heap)],
            hint="write a[...] = a @ b" if name == "matmul" else "write a loop",
        )
    check_writable(e, a)
    from zyg.library.numpy_.arithmetic import of_elements
    from zyg.library.numpy_.ufuncs import as_output

    from . import elementwise as wholes

    dtype, ufunc = a.type.dtype, UFUNCS[name].__name__
    refuse_unlike(e, lambda e, x, y: of_elements(e, name, x, y), [a, b])
    if isinstance(b, (ComplexArrayValue, ComplexValue)):
        as_output(e, ufunc, ComplexValue(Known(0.0), Known(0.0), True), dtype)

    def converted(e: Evaluator, x: Abstract, y: Abstract) -> Abstract:
        return as_output(e, ufunc, of_elements(e, name, x, y), dtype)

    if a.type.ndim == 0:
        if isinstance(b, ArrayValue):
            wholes.element_function(e, ("into", name, dtype), converted, [a, b])  # a TypeError comes first
            wholes.check_fewer_axes(e, a, [a, b, a])
            b = scalar_of(e, b)
        e.emit("fill", a.value, scalar_value(e, converted(e, scalar_of(e, a), b), dtype))
    elif not wholes.lift_into(e, name, lambda e, x, y: of_elements(e, name, x, y), a, b):
        wholes.lift_to(e, ("into", name, dtype), converted, [a, b], a)
    return a


# --------------------------------------------------------------------------------------------- attributes


def attribute(e: Evaluator, a: Abstract, name: str) -> Abstract | None:
    found = getattr(np.ndarray, name, None)
    if isinstance(found, GetSetDescriptorType):
        entry = registry.find(found)
        return None if entry is None else entry.function(e, a)
    if registry.method(np.ndarray, name) is not None:
        return MethodValue((np.ndarray, name), a)
    return None


def size(e: Evaluator, a: Abstract) -> Abstract:
    return product(e, dims(e, a))


def counted(e: Evaluator, count: Abstract) -> Abstract:
    """A length, or a number of elements, as a number of the program: it carries no derivative, whatever the array was made with."""
    return Number(e.op("stop", count.value)) if isinstance(count, Number) else count


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
    raise e.refuse(f"the dtype {shown}", hint="use " + ", ".join([*map(str, DTYPES.values()), "complex128"]))


def allocate(e: Evaluator, dims: list[Value], dtype: Scalar, fill: str) -> Abstract:
    for d in dims:
        if isinstance(d, Const):
            if d.value < 0:
                e.throw("ValueError", "negative dimensions are not allowed")
        elif not e.is_natural(d):
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
        e.guard(e.op("fits", *unknown, item=bytes), "ValueError", _TOO_BIG)


def allocate_unchecked(e: Evaluator, dims: list[Value], dtype: Scalar, fill: str) -> Abstract:
    """The same, for lengths that are those of an array."""
    if dtype is COMPLEX:
        floats = e.op("alloc", *dims, const(2), type=Array(F64, len(dims) + 1), fill=fill, parts=True)
        return ComplexArrayValue(ArrayValue(floats))
    return ArrayValue(e.op("alloc", *dims, type=Array(dtype, len(dims)), fill=fill))


def shape_argument(e: Evaluator, v: Abstract) -> list[Value]:
    """The dimensions that a shape argument names."""
    items = lists.all_items(e, v)
    if isinstance(v, ARRAYS) and ndim(v) > 0:
        raise e.refuse("an array as a shape", types=[describe(v)], hint="write it as a tuple: (n, m)")
    if items is None and kinds.is_list(e, v):
        raise e.refuse("a list whose length is not known when compiling as a shape", types=[describe(v, e.heap)],
                       hint="write it as a tuple: (n, m)")  # fmt: skip
    if class_of(e, v) is bool:
        e.type_error("expected a sequence of integers or a single integer, got a bool")
    result = []
    for item in items if items is not None else (v,):
        if class_of(e, item) is bool:
            e.type_error("an integer is required")
        result.append(to_int(e, lists.index_argument(e, item)))
    return result
