"""Universal functions: what they do to numbers; of arrays they do it to the elements (`ufunc`), and NumPy's scalar types."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays
from zyg.frontend.arrays import element
from zyg.frontend.boundary import scalar_value
from zyg.frontend.elementwise import lift
from zyg.frontend.operators import as_numpy, binary, math_op, python_type_name, settled, to_float, unary
from zyg.frontend.values import (
    Abstract,
    ArrayValue,
    ComplexValue,
    Known,
    Number,
    describe,
    is_number,
    is_numeric,
    number_type,
)
from zyg.ir.core import const
from zyg.ir.types import BOOL, F32, F64, I32, I64, U8, Scalar

from ..registry import emits

if TYPE_CHECKING:
    from zyg.frontend.infer import Evaluator

NONE, ZERO, YES = Known(None), Known(0), Known(True)


def cast_scalar(e: Evaluator, v: Abstract, scalar: Scalar) -> Abstract:
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
    return lambda e, v=ZERO, /: cast_scalar(e, v, scalar)


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
            from ..complex_ import numpy_function

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


def strong(e: Evaluator, v: Abstract) -> Abstract:
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
    return unary(e, "abs", strong(e, x))


@ufunc(np.fabs)
def _fabs(e: Evaluator, x: Abstract, /) -> Abstract:
    return Number(e.op("abs", to_float(e, settled(e, x, "None is no number"))), True)


@ufunc(np.sign)
def _sign(e: Evaluator, x: Abstract, /) -> Abstract:
    from zyg.frontend.infer import known

    return e.call(known(sign), [strong(e, x)])


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
            a = strong(e, a)
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
    return lambda e, a, b, /: binary(e, name, strong(e, a) if is_numeric(a) and is_numeric(b) else a, b)


for _function, _name in (
    (np.add, "add"), (np.subtract, "sub"), (np.multiply, "mul"), (np.true_divide, "truediv"),
    (np.floor_divide, "floordiv"), (np.remainder, "mod"), (np.power, "pow"),
):  # fmt: skip
    ufunc(_function)(_operator(_name))


def _sign_operator(name: str) -> Callable[..., Abstract]:
    return lambda e, x, /: unary(e, name, strong(e, x))


for _function, _name in ((np.negative, "neg"), (np.positive, "pos")):
    ufunc(_function)(_sign_operator(_name))
