"""Universal functions: what they do to numbers; of arrays they do it to the elements (`ufunc`), and NumPy's scalar types.

Here are the mechanism and the functions of one float; others are in `arithmetic`, `logic` and `selection`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays, lists, orders
from zyg.frontend.alternatives import refuse_unlike, widened
from zyg.frontend.arrays import converted, element
from zyg.frontend.comparison import truth
from zyg.frontend.elementwise import check_fewer_axes, lift, lift_to
from zyg.frontend.meeting import is_mixed, numpys, of_classes
from zyg.frontend.merging import settled
from zyg.frontend.numpy_numbers import as_numpy, promote
from zyg.frontend.operators import binary, unary
from zyg.frontend.scalars import math_op, scalar_value
from zyg.frontend.type_names import python_type_name
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
    known,
    number_type,
)
from zyg.ir.core import Value, const
from zyg.ir.types import BOOL, F32, F64, I32, I64, U8, Scalar, cotangent_type

from ..registry import emits

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

NONE, ZERO, YES, SAME_KIND = Known(None), Known(0), Known(True), Known("same_kind")
Element = Callable[..., Abstract]
# What NumPy raises if there is no loop for the types, or what it gives fits nowhere; a TypeError.
UFUNC_TYPE_ERROR = "numpy._core._exceptions.UFuncTypeError"


def no_loop(e: Evaluator, name: str, *types: Scalar) -> None:
    """The error of a ufunc that is not for these types."""
    given = ", ".join(repr(type(arrays.numpy_dtype(t))) for t in types)
    text = given if len(types) == 1 else f"({given})"
    e.throw(UFUNC_TYPE_ERROR, f"ufunc '{name}' did not contain a loop with signature matching types {text} -> None")


def cast_scalar(e: Evaluator, v: Abstract, scalar: Scalar) -> Abstract:
    v = settled(e, v, "int() argument must be a string, a bytes-like object or a real number, not 'NoneType'")
    if isinstance(v, ArrayValue) and v.type.ndim == 0:
        v = Number(e.op("load", v.value), True)
    if scalar is arrays.COMPLEX:
        return e.call(known(np.complex128), [v])
    if is_numeric(v) and not is_number(v):
        from zyg.frontend.complex_arrays import as_real

        v = as_real(e, v, scalar)
    if not is_number(v):
        e.type_error(f"a number is required, not '{python_type_name(e, v)}'")
    if isinstance(v, Number) and v.numpy:
        return Number(converted(e, v, scalar), True)
    return Number(element(e, v, scalar), True)


def _scalar_class(scalar: Scalar) -> Callable[..., Abstract]:
    def entry(e: Evaluator, v: Abstract = ZERO, /) -> Abstract:
        if isinstance(v, Known) and isinstance(v.object, str):
            v = e.call(known(float if scalar.kind == "f" else int), [v])
        v = operand(e, v)
        if not isinstance(v, arrays.ARRAYS) or arrays.ndim(v) == 0:
            return cast_scalar(e, v, scalar)
        from .methods import astype

        return astype(e, v, Known(arrays.numpy_dtype(scalar)), copy=Known(False))

    return entry


for _cls, _scalar in (
    (np.float64, F64), (np.float32, F32), (np.int64, I64), (np.int32, I32), (np.uint8, U8), (np.bool_, BOOL),
):  # fmt: skip
    emits(_cls)(_scalar_class(_scalar))


def ufunc(*functions: np.ufunc, typed: bool = True, same: bool = False) -> Callable[[Element], Element]:
    """The decorated emitter says what a ufunc does to numbers; of arrays, it does it to the elements.

    `typed`: its result is of the type that it computes in, so that `dtype=` says what the arguments are converted to.
    `same`: its values are the same for integers and floats of 64 bits, so a number may be either of them.
    """

    def register(emitter: Element) -> Element:
        for function in functions:
            emits(function)(lifted(function, emitter, typed, same))
            SCALARS[function] = emitter
        return emitter

    return register


SCALARS: dict[np.ufunc, Element] = {}


def lifted(function: np.ufunc, emitter: Element, typed: bool, same: bool = False) -> Element:
    name = function.__name__

    def entry(
        e: Evaluator, *args: Abstract, out: Abstract = NONE, where: Abstract = YES, dtype: Abstract = NONE,
        casting: Abstract = SAME_KIND, order: Abstract = NONE, subok: Abstract = YES,
    ) -> Abstract:  # fmt: skip
        if len(args) < function.nin or len(args) > function.nin + function.nout:
            e.type_error(
                f"{name}() takes from {function.nin} to {function.nin + function.nout} positional arguments but "
                f"{len(args)} {'was' if len(args) == 1 else 'were'} given"
            )
        if isinstance(out, Known) and out.object is Ellipsis:
            made = entry(e, *args, where=where, dtype=dtype, casting=casting, order=order, subok=subok)
            return as_arrays(e, made)
        outs = _outs(e, function, list(args[function.nin :]), out)
        check_mask(e, where)
        operands = [operand(e, v) for v in args[: function.nin]]
        key, of_numbers = (name, "ufunc"), emitter
        rule = arrays.constant(e, casting, "a rule of casting")
        if rule not in ("same_kind", "unsafe"):
            raise e.refuse(f"np.{name}(casting={rule!r}) in native code", hint="leave `casting` out")
        letter = memory_order(e, name, order, operands)
        if not (isinstance(dtype, Known) and dtype.object is None):
            key, of_numbers = _in_type(e, key, emitter, dtype, name, typed, rule)
        if any(o is not None for o in outs):
            return _into(e, key, of_numbers, operands, outs, where, name, rule)
        if not (isinstance(where, Known) and where.object is True):
            raise e.refuse(f"np.{name}(where=...) without `out`, whose other elements are undefined",
                           hint=f"write np.where(mask, np.{name}(...), 0.0), or pass `out`")  # fmt: skip
        if any(isinstance(v, arrays.ARRAYS) for v in operands):
            return laid_out(e, lift(e, key, of_numbers, operands, function.nout), letter)
        return of_these(e, of_numbers, operands, f"np.{name}()", same)

    return entry


def memory_order(e: Evaluator, name: str, order: Abstract, operands: list[Abstract]) -> str:
    """The letter that `order` of a ufunc is: "K", the order of the operands, "C" or "F"."""
    from .constructors import order_of

    letter = order_of(e, order) or "K"
    if letter == "A":
        if any(isinstance(v, arrays.ARRAYS) and arrays.memory(v).type.layout != "C" for v in operands):
            raise e.refuse(f"np.{name}(order='A') of arrays that may be in any order", hint="write 'C', 'F' or 'K'")
        return "C"
    return letter


def laid_out(e: Evaluator, made: Abstract, letter: str) -> Abstract:
    """What a ufunc has made in the order of its operands, in the order that the letter asks for."""
    if isinstance(made, TupleValue):
        return TupleValue(tuple(laid_out(e, v, letter) for v in made.items))
    if letter == "K" or not isinstance(made, arrays.ARRAYS) or arrays.ndim(made) < 2:
        return made
    if letter == "C" and arrays.memory(made).type.layout == "C":
        return made
    return orders.relaid(e, made, made, letter)


def of_these(e: Evaluator, function: Element, numbers: list[Abstract], what: str, same: bool = False) -> Abstract:
    """A function of NumPy's of numbers, each of which may be of several classes (see `ufunc`)."""
    if not any(map(is_mixed, numbers)):
        return function(e, *numbers)
    if same:
        return of_classes(function(e, *numbers), widened(e, function, numbers, what))
    refuse_unlike(e, function, numbers, what)
    return function(e, *numbers)


def as_arrays(e: Evaluator, made: Abstract) -> Abstract:
    """What `out=...` asks for: arrays of no dimensions instead of numbers."""
    from .constructors import asarray

    if isinstance(made, TupleValue):
        return TupleValue(tuple(asarray(e, v) for v in made.items))
    return asarray(e, made)


def operand(e: Evaluator, v: Abstract) -> Abstract:
    """A number or an array, for what NumPy takes for one."""
    v = settled(e, v, "unsupported operand type: 'NoneType'")
    if is_numeric(v) or isinstance(v, arrays.ARRAYS):
        return v
    if lists.is_list(e, v) or lists.all_items(e, v) is not None:
        from .constructors import array

        return array(e, v)
    raise e.refuse("a NumPy function of this", types=[describe(v, e.heap)], hint="pass numbers or arrays")


def _outs(e: Evaluator, function: np.ufunc, given: list[Abstract], out: Abstract) -> list[Abstract | None]:
    """Where the results go, None for new arrays."""
    items = lists.known_items(e, out)
    if given and not (isinstance(out, Known) and out.object is None):
        e.type_error("cannot specify 'out' as both a positional and keyword argument")
    if not (isinstance(out, Known) and out.object is None) and (
        lists.is_list(e, out) or items is None and function.nout > 1
    ):
        e.type_error("return arrays must be of ArrayType" if function.nout == 1 else "'out' must be a tuple of arrays")
    if items is not None:
        if len(items) != function.nout:
            e.throw("ValueError", "The 'out' tuple must have exactly one entry per ufunc output")
        given = list(items)
    elif not (isinstance(out, Known) and out.object is None):
        given = [out]
    result = [None if isinstance(v, Known) and v.object is None else v for v in given]
    for v in result:
        if v is not None and not isinstance(v, arrays.ARRAYS):
            dots = isinstance(v, Known) and v.object is Ellipsis
            e.type_error("must use `...` as `out=...` and not per-operand/in a tuple" if dots and items is not None
                         else "out=... is only allowed as a keyword argument." if dots
                         else "return arrays must be of ArrayType")  # fmt: skip
    return result + [None] * (function.nout - len(result))


def _in_type(
    e: Evaluator, key: Any, emitter: Element, dtype: Abstract, name: str, typed: bool, rule: str
) -> tuple[Any, Element]:
    """The function computed in the type that `dtype` names."""
    scalar = arrays.dtype_of(e, dtype)
    if not typed:
        raise e.refuse(
            f"np.{name}(dtype=...) in native code", hint=f"convert what it gives: np.{name}(...).astype(...)"
        )

    def converted(e: Evaluator, *numbers: Abstract) -> Abstract:
        for n, v in enumerate(numbers):
            if isinstance(v, ComplexValue) and scalar is not arrays.COMPLEX:
                e.type_error(f"No loop matching the specified signature and casting was found for ufunc {name}")
            own = number_type(v)
            weak = not (isinstance(v, Number) and v.numpy)
            weak = weak and not (own is F64 and scalar.kind in "iub" or own is I64 and scalar is BOOL)
            if own is not None and not weak and not fits_kind(own, scalar, rule):
                place = f"{n} " if len(numbers) > 1 else ""
                e.throw(
                    UFUNC_TYPE_ERROR,
                    f"Cannot cast ufunc '{name}' input {place}from {arrays.numpy_dtype(own)!r} to "
                    f"{arrays.numpy_dtype(scalar)!r} with casting rule 'same_kind'",
                )
        made = emitter(e, *(as_type(e, v, scalar) for v in numbers))
        if scalar is arrays.COMPLEX and isinstance(made, Number) and made.type is not BOOL:
            e.type_error(f"No loop matching the specified signature and casting was found for ufunc {name}")
        given = made.items if isinstance(made, TupleValue) else (made,)
        if scalar.kind in "iub" and any(isinstance(v, Number) and v.type.kind == "f" for v in given):
            e.type_error(f"No loop matching the specified signature and casting was found for ufunc {name}")
        return made

    return (*key, scalar), converted


def fits_kind(own: Scalar, scalar: Scalar, rule: str = "same_kind") -> bool:
    """Whether values of one type may become ones of the other by a rule of casting."""
    return rule == "unsafe" or np.can_cast(arrays.numpy_dtype(own), arrays.numpy_dtype(scalar), "same_kind")


def as_output(e: Evaluator, name: str, v: Abstract, dtype: Scalar, rule: str = "same_kind") -> Abstract:
    """What the ufunc `name` gives, as an element of an array that it is put into."""
    own = arrays.COMPLEX if isinstance(v, ComplexValue) else number_type(v)
    assert own is not None
    check_output(e, name, own, dtype, rule)
    return cast_scalar(e, v, dtype) if rule == "same_kind" else as_type(e, v, dtype)


def check_output(e: Evaluator, name: str, own: Scalar, dtype: Scalar, rule: str = "same_kind") -> None:
    """TypeError unless what the ufunc `name` gives may be put into arrays of this type."""
    if not fits_kind(own, dtype, rule):
        e.throw(
            UFUNC_TYPE_ERROR,
            f"Cannot cast ufunc '{name}' output from {arrays.numpy_dtype(own)!r} to {arrays.numpy_dtype(dtype)!r} "
            "with casting rule 'same_kind'",
        )


def check_mask(e: Evaluator, where: Abstract) -> None:
    """TypeError for an array that is no mask; of anything else one is made."""
    if isinstance(where, arrays.ARRAYS) and arrays.element_type(where) is not BOOL:
        own = arrays.numpy_dtype(arrays.element_type(where))
        e.type_error(f"Cannot cast array data from {own!r} to dtype('bool') according to the rule 'safe'")


def as_type(e: Evaluator, v: Abstract, scalar: Scalar) -> Abstract:
    """A number as an element of this type."""
    if scalar is arrays.COMPLEX:
        from zyg.frontend.complex_arrays import _converted as as_complex_number

        return as_complex_number(e, v)
    if isinstance(v, ComplexValue):
        v = Number(scalar_value(e, v.re), True)
    return cast_scalar(e, v, scalar)


def _into(
    e: Evaluator,
    key: Any,
    function: Element,
    operands: list[Abstract],
    outs: list[Abstract | None],
    where: Abstract,
    name: str,
    rule: str,
) -> Abstract:
    """The results in arrays that are there, where the mask says so."""
    from .selection import choose

    plain = isinstance(where, Known) and where.object is True
    out = outs[0]
    if len(outs) > 1 or not isinstance(out, ArrayValue):
        made = lift(e, key, function, operands, len(outs)) if any(
            isinstance(v, arrays.ARRAYS) for v in operands
        ) else of_these(e, function, operands, f"np.{name}()")  # fmt: skip
        results = made.items if isinstance(made, TupleValue) else (made,)
        if not plain:
            raise e.refuse(f"np.{name}(out=..., where=...) of complex numbers or of several results in native code",
                           hint="assign with np.where")  # fmt: skip
        for target, v in zip(outs, results, strict=True):
            if target is not None:
                arrays.check_writable(e, arrays.memory(target))
                arrays.assign(e, target, v)
        given = tuple(v if target is None else target for target, v in zip(outs, results, strict=True))
        return given[0] if len(given) == 1 else TupleValue(given)
    arrays.check_writable(e, out)
    if any(isinstance(v, (ComplexArrayValue, ComplexValue)) for v in operands):
        value = lift(e, key, function, operands)
        arrays.assign(e, out, value)
        return out
    dtype = out.type.dtype

    def converted(e: Evaluator, *numbers: Abstract) -> Abstract:
        count = len(operands)
        v = function(e, *numbers[:count])
        v = as_output(e, name, v, dtype, rule)
        if plain:
            return v
        chosen = choose(e, truth(e, numbers[count]), v, numbers[count + 1])
        return cast_scalar(e, chosen, dtype)

    extra = [] if plain else [operand(e, where), out]
    shown = [*operands, out, *extra[:1]]
    if out.type.ndim == 0:
        check_fewer_axes(e, out, shown)
        numbers = [arrays.scalar_of(e, v) if isinstance(v, arrays.ARRAYS) else v for v in [*operands, *extra]]
        e.emit("fill", out.value, scalar_value(e, converted(e, *numbers), dtype))
        return out
    lift_to(e, ("into", key, dtype, plain, rule), converted, [*operands, *extra], out, shown)
    return out


# ------------------------------------------------------------------------------------------ floats


def float_type(e: Evaluator, name: str, *numbers: Abstract) -> Scalar:
    """The type in which a function of floats computes."""
    strong_numbers = [v for v in numbers if isinstance(v, Number) and v.numpy]
    scalar = number_type(numbers[0]) if not strong_numbers else strong_numbers[0].type
    if strong_numbers:
        first: Abstract = strong_numbers[0]
        for v in numbers:
            scalar = promote(e, first, v)
            first = Number(Value(scalar), True)
    elif any(number_type(v) is not BOOL for v in numbers):
        scalar = F64
    if scalar in (U8, BOOL):
        raise e.refuse(f"np.{name} of {arrays.numpy_dtype(scalar)}, which gives a float16",
                       hint="convert it first: a.astype(float)")  # fmt: skip
    return F32 if scalar is F32 else F64


def float_operands(e: Evaluator, name: str, *numbers: Abstract) -> list[Value]:
    """The arguments of a function of floats."""
    scalar = float_type(e, name, *real_operands(e, name, *numbers))
    return [as_numpy(e, v, scalar) for v in numbers]


def real_operands(e: Evaluator, name: str, *numbers: Abstract) -> tuple[Abstract, ...]:
    """The arguments of a function that complex numbers have not: TypeError for these."""
    for v in numbers:
        if isinstance(v, ComplexValue):
            e.type_error(
                f"ufunc '{name}' not supported for the input types, and the inputs could not be safely coerced to any "
                "supported types according to the casting rule ''safe''"
            )
    return numbers


def _of_float(op: str, name: str, whole: bool = False) -> Element:
    """A ufunc of one float that is an op: IEEE, no exceptions. `whole`: integers are left as they are."""

    def emitter(e: Evaluator, x: Abstract, /) -> Abstract:
        x = settled(e, x, "None is no number")
        if not any(loop.startswith("D") for loop in getattr(np, name).types):
            real_operands(e, name, x)
        if isinstance(x, ComplexValue):
            from ..complex_ import OF_COMPLEX, numpy_function

            return e.call(known(OF_COMPLEX[op]), [x]) if op in OF_COMPLEX else numpy_function(e, op, x)
        scalar = number_type(x)
        if scalar is None:
            raise e.refuse(f"np.{name} of this", types=[describe(x, e.heap)], hint="pass numbers or arrays")
        if whole and scalar.kind in "iub":
            return level(e, strong(e, x))
        (value,) = float_operands(e, name, x)
        return Number(math_op(e, op, value), True)

    return emitter


_OPS = {
    "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "sqrt": "sqrt", "cbrt": "cbrt", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log",
    "log2": "log2", "log10": "log10", "log1p": "log1p", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
    "rint": "rint",
}  # fmt: skip
for _name, _op in _OPS.items():
    ufunc(getattr(np, _name))(_of_float(_op, _name, _name in ("floor", "ceil", "trunc")))


def level(e: Evaluator, x: Abstract, of: Abstract | None = None) -> Abstract:
    """A whole number that is `x` rounded, or x itself: with the derivative that the rounding of a float has, which is 0."""
    of = x if of is None else of
    if not isinstance(x, Number) or not isinstance(of, Number) or x.type is BOOL:
        return x
    return Number(e.op("slope", e.op("stop", x.value), const(0.0, cotangent_type(x.type)), of.value), x.numpy)


def strong(e: Evaluator, v: Abstract) -> Abstract:
    """A Python number as the NumPy scalar that a function of it alone makes of it."""
    v = settled(e, v, "None is no number")
    if isinstance(v, Number) and v.numpy:
        return v
    if isinstance(v, ComplexValue):
        return ComplexValue(v.re, v.im, True, numpys(v))
    scalar = number_type(v)
    if scalar is None:
        raise e.refuse(
            "a NumPy function of whole arrays", types=[describe(v, e.heap)], hint="write a loop over elements"
        )
    return Number(scalar_value(e, v, scalar), True, numpys(v))


def strong_together(e: Evaluator, *numbers: Abstract) -> list[Abstract]:
    """Numbers one of which at least is NumPy's, so that they follow its rules."""
    settled_ = [settled(e, v, "None is no number") for v in numbers]
    if any(isinstance(v, (Number, ComplexValue)) and v.numpy for v in settled_):
        return settled_
    types = [number_type(v) for v in settled_]
    if any(t is None for t in types):
        return [strong(e, settled_[0]), *settled_[1:]]
    return [strong(e, v) for v in settled_]


@ufunc(np.absolute, same=True)
def _absolute(e: Evaluator, x: Abstract, /) -> Abstract:
    return unary(e, "abs", strong(e, x))


@ufunc(np.fabs)
def _fabs(e: Evaluator, x: Abstract, /) -> Abstract:
    return Number(e.op("abs", *float_operands(e, "fabs", x)), True)


def _float_test(name: str) -> Element:
    def emitter(e: Evaluator, x: Abstract, /) -> Abstract:
        x = settled(e, x, "None is no number")
        if isinstance(x, ComplexValue):
            flags = [emitter(e, part) for part in x.parts()]
            return binary(e, "and" if name == "isfinite" else "or", *flags)
        scalar = number_type(x)
        if scalar is None:
            raise e.refuse(f"np.{name} of this", types=[describe(x, e.heap)], hint="pass numbers or arrays")
        if scalar.kind != "f":
            return Number(const(name == "isfinite"), True)
        value = scalar_value(e, x)
        if name == "isnan":
            return Number(e.op("ne", value, value), True)
        infinity = const(math.inf, scalar)
        return Number(e.op("eq" if name == "isinf" else "lt", e.op("abs", value), infinity), True)

    return emitter


for _name in ("isnan", "isinf", "isfinite"):
    ufunc(getattr(np, _name), typed=False)(_float_test(_name))


def of_two_floats(op: str, name: str) -> Element:
    def emitter(e: Evaluator, x: Abstract, y: Abstract, /) -> Abstract:
        return Number(math_op(e, op, *float_operands(e, name, x, y)), True)

    return emitter


for _name, _op in (("arctan2", "atan2"), ("hypot", "modulus"), ("copysign", "copysign"), ("nextafter", "nextafter")):
    ufunc(getattr(np, _name))(of_two_floats(_op, _name))


def in_python(function: Callable[..., Any]) -> Element:
    """What a Python function does to numbers that are NumPy's."""

    def emitter(e: Evaluator, *numbers: Abstract) -> Abstract:
        return e.call(known(function), strong_together(e, *numbers))

    return emitter


def on_floats(name: str, function: Callable[..., Any]) -> Element:
    """What a Python function does to floats of one type."""

    def emitter(e: Evaluator, *numbers: Abstract) -> Abstract:
        return e.call(known(function), [Number(v, True) for v in float_operands(e, name, *numbers)])

    return emitter
