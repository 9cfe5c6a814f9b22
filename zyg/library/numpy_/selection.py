"""Choices between elements: np.where, np.clip, np.maximum, np.select and their relatives; rounding."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays, lists, orders
from zyg.frontend.comparison import truth
from zyg.frontend.elementwise import lift
from zyg.frontend.numpy_numbers import as_numpy, promote
from zyg.frontend.operators import binary
from zyg.frontend.scalars import scalar_value
from zyg.frontend.values import (
    Abstract,
    ArrayValue,
    ComplexArrayValue,
    ComplexValue,
    Known,
    Number,
    as_complex,
    describe,
    is_number,
    is_numeric,
    known,
    number_type,
)
from zyg.ir.core import Const, Value, const
from zyg.ir.types import BOOL, F32, F64, Scalar
from zyg.typeof import dtype_scalar

from ..registry import emits, implements
from .reductions import UNSET, as_array, delivered_elements, is_set
from .ufuncs import Element, fits_kind, level, of_these, operand, strong, strong_together, ufunc

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

NONE = Known(None)


def _complex_of(parts: list[Abstract]) -> ComplexValue:
    re, im = parts
    assert isinstance(re, Number) and isinstance(im, Number)
    return ComplexValue(Number(re.value), Number(im.value), True)


def _doubles(e: Evaluator, v: Abstract) -> list[Abstract]:
    """The parts of a number as a complex one."""
    return [Number(as_numpy(e, part, F64)) for part in as_complex(v).parts()]


def choose(e: Evaluator, flag: Value, x: Abstract, y: Abstract) -> Abstract:
    """x if flag else y, of the type that both have together; neither is a branch."""
    if isinstance(x, ComplexValue) or isinstance(y, ComplexValue):
        parts = [choose(e, flag, p, q) for p, q in zip(_doubles(e, x), _doubles(e, y))]
        return _complex_of(parts)
    x, y = strong_together(e, x, y)
    scalar = promote(e, x, y)
    if isinstance(flag, Const):
        return Number(as_numpy(e, x if flag.value else y, scalar), True)
    assert is_number(x) and is_number(y)
    return Number(e.op("select", flag, as_numpy(e, x, scalar), as_numpy(e, y, scalar)), True)


@emits(np.where)
def where(e: Evaluator, condition: Abstract, x: Abstract = NONE, y: Abstract = NONE, /) -> Abstract:
    if x is NONE and y is NONE:
        return e.call(known(np.nonzero), [condition])
    if x is NONE or y is NONE:
        e.throw("ValueError", "either both or neither of x and y should be given")
    operands = [operand(e, v) for v in (condition, x, y)]
    function = lambda e, c, x, y: choose(e, truth(e, c), x, y)
    if any(isinstance(v, arrays.ARRAYS) for v in operands):
        return lift(e, "where", function, operands)
    return of_these(e, function, operands, "np.where()")


# ------------------------------------------------------------------------------------- larger and smaller


def extremum(op: str) -> Element:
    """The first argument where it is as good as the second; a nan wins, the first one."""

    def emitter(e: Evaluator, a: Abstract, b: Abstract, /) -> Abstract:
        a, b = strong_together(e, a, b)
        _refuse_complex(e, a, b)
        scalar = promote(e, a, b)
        x, y = as_numpy(e, a, scalar), as_numpy(e, b, scalar)
        return Number(_better(e, op, x, y, scalar), True)

    return emitter


def _better(e: Evaluator, op: str, x: Value, y: Value, scalar: Scalar) -> Value:
    """x where it is as good as y, or a nan, else y."""
    if scalar.kind == "f" and isinstance(y, Const) and not math.isnan(y.value):
        return e.op("select", e.op({"ge": "lt", "le": "gt"}[op], x, y), y, x)  # a nan is not worse than a number
    first = e.op(op, x, y)
    if scalar.kind == "f":
        first = e.op("or", first, e.op("ne", x, x))
    return e.op("select", first, x, y)


def _refuse_complex(e: Evaluator, *numbers: Abstract) -> None:
    if any(isinstance(v, ComplexValue) for v in numbers):
        raise e.refuse("an order of complex numbers", hint="compare their parts or absolute values")


ufunc(np.maximum, same=True)(extremum("ge"))
ufunc(np.minimum, same=True)(extremum("le"))


def _but_nan(op: str) -> Element:
    """The same, but a nan loses."""

    def emitter(e: Evaluator, a: Abstract, b: Abstract, /) -> Abstract:
        a, b = strong_together(e, a, b)
        _refuse_complex(e, a, b)
        scalar = promote(e, a, b)
        x, y = as_numpy(e, a, scalar), as_numpy(e, b, scalar)
        first = e.op(op, x, y)
        if scalar.kind == "f":
            first = e.op("or", first, e.op("ne", y, y))
        return Number(e.op("select", first, x, y), True)

    return emitter


ufunc(np.fmax, same=True)(_but_nan("ge"))
ufunc(np.fmin, same=True)(_but_nan("le"))


def _clipped(e: Evaluator, x: Abstract, low: Abstract, high: Abstract) -> Abstract:
    """minimum(maximum(x, low), high), of the type that all three have together; where x is at a bound, the slope is x's."""
    given = [v for v in (x, low, high) if not (isinstance(v, Known) and v.object is None)]
    given = strong_together(e, *given)
    _refuse_complex(e, *given)
    scalar = number_type(given[0])
    first: Abstract = next(v for v in given if isinstance(v, Number) and v.numpy)
    for v in given:
        scalar = promote(e, first, v)
        first = Number(Value(scalar), True)
    assert scalar is not None
    bounds = iter(given[1:])
    value = Number(as_numpy(e, given[0], scalar), True)
    for bound, op in ((low, "ge"), (high, "le")):
        if not (isinstance(bound, Known) and bound.object is None):
            value = Number(_better(e, op, value.value, as_numpy(e, next(bounds), scalar), scalar), True)
    return value


def _beyond(a: Abstract, bound: Abstract, upper: bool) -> bool:
    """Whether a bound is a Python integer that all integers of the array's type are within: NumPy leaves it out."""
    scalar = arrays.element_type(a) if isinstance(a, arrays.ARRAYS) else None
    if scalar is None or scalar.kind not in "iu" or not isinstance(bound, Known) or type(bound.object) is not int:
        return False
    limits = np.iinfo(arrays.numpy_dtype(scalar))
    return bound.object >= limits.max if upper else bound.object <= limits.min


@emits(np.clip)
def clip(
    e: Evaluator, a: Abstract, a_min: Abstract = UNSET, a_max: Abstract = UNSET, out: Abstract = NONE, *,
    min: Abstract = NONE, max: Abstract = NONE,
) -> Abstract:  # fmt: skip
    if (a_min is UNSET) != (a_max is UNSET):
        e.type_error(f"clip() missing 1 required positional argument: 'a_{'min' if a_min is UNSET else 'max'}'")
    if (is_set(a_min) or is_set(a_max)) and (is_set(min) or is_set(max)):
        e.throw(
            "ValueError",
            "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.",
        )
    low, high = (a_min if is_set(a_min) else min), (a_max if is_set(a_max) else max)
    operands = [operand(e, v) if is_set(v) else NONE for v in (a, low, high)]
    if is_numeric(operands[0]):
        operands[0] = strong(e, operands[0])  # an array of no dimensions, to NumPy, and the bounds are what may be weak
    operands[1:] = [NONE if _beyond(operands[0], v, n == 1) else v for n, v in enumerate(operands[1:])]
    given = [v for v in operands if v is not NONE]
    if not given:
        e.type_error("bad operand type for unary +: 'NoneType'")
    if any(isinstance(v, arrays.ARRAYS) for v in given):
        present = tuple(v is not NONE for v in operands)

        def function(e: Evaluator, *numbers: Abstract) -> Abstract:
            rest = iter(numbers)
            return _clipped(e, *(next(rest) if p else NONE for p in present))

        return delivered_elements(e, lift(e, ("clip", present), function, given), out, "clip")
    return delivered_elements(e, of_these(e, _clipped, operands, "np.clip()"), out, "clip")


@emits((np.ndarray, "clip"), (np.generic, "clip"))
def clip_method(
    e: Evaluator, a: Abstract, min: Abstract = NONE, max: Abstract = NONE, out: Abstract = NONE
) -> Abstract:
    return clip(e, a, min, max, out)


# --------------------------------------------------------------------------------------------- rounding


@emits(np.round, np.around, (np.ndarray, "round"), (np.generic, "round"))
def round_(e: Evaluator, a: Abstract, decimals: Abstract = Known(0), out: Abstract = NONE) -> Abstract:  # noqa: B008
    """To so many decimals, halves to even, as NumPy does it: by a power of ten up and down again."""
    places = arrays.constant(e, decimals, "a number of decimals")
    assert isinstance(places, int)
    a = operand(e, a)

    def function(e: Evaluator, x: Abstract) -> Abstract:
        if isinstance(x, ComplexValue):
            parts = [function(e, p) for p in x.parts()]
            return _complex_of(parts)
        x = strong(e, x)
        scalar = number_type(x)
        assert scalar is not None and isinstance(x, Number)
        if scalar.kind != "f":
            if scalar is BOOL:
                raise e.refuse("np.round of bool, which gives a float16", hint="convert it first: a.astype(float)")
            if places >= 0:
                return level(e, x)
            tens = const(10.0**-places)
            rounded = e.op("mul", e.op("rint", e.op("div", e.builder.cast(x.value, F64), tens)), tens)
            return level(e, Number(arrays.converted(e, Number(rounded, True), scalar), True), x)
        if places == 0:
            return Number(e.op("rint", x.value), True)
        factor = const(10.0 ** abs(places), scalar)
        up, down = ("mul", "div") if places > 0 else ("div", "mul")
        return Number(e.op(down, e.op("rint", e.op(up, x.value, factor)), factor), True)

    if isinstance(a, arrays.ARRAYS):
        made = lift(e, ("round", places), function, [a])
        if (
            isinstance(made, ArrayValue)
            and made.type.layout != "C"
            and (places < 0 or places > 0 and made.type.dtype.kind == "f")
        ):
            # Multiplied and divided in place, in an array that NumPy has made in C or in Fortran order.
            made = orders.relaid(e, made, a, "A")
        own = arrays.element_type(made)
        if own.kind in "iu" and isinstance(out, arrays.ARRAYS) and not fits_kind(own, arrays.element_type(out)):
            # Whole numbers are copied.
            own, to = map(arrays.numpy_dtype, (own, arrays.element_type(out)))
            e.type_error(f"Cannot cast array data from {own!r} to {to!r} according to the rule 'same_kind'")
    else:
        made = of_these(e, function, [a], "np.round()")
    if isinstance(out, arrays.ARRAYS):
        sizes = [arrays.product(e, arrays.dims(e, v) if isinstance(v, arrays.ARRAYS) else []) for v in (out, made)]
        e.guard(e.op("eq", *(scalar_value(e, n) for n in sizes)), "ValueError", "invalid output shape")
    return delivered_elements(e, made, out, "rint")


emits(np.fix)(lambda e, x, out=NONE: _fix(e, x, out))


def _fix(e: Evaluator, x: Abstract, out: Abstract) -> Abstract:
    return delivered_elements(e, e.call(known(np.trunc), [x]), out, "trunc")


# ---------------------------------------------------------------------------------- replacing and choosing


@emits(np.nan_to_num)
def nan_to_num(
    e: Evaluator, x: Abstract, copy: Abstract = Known(True), nan: Abstract = Known(0.0),  # noqa: B008
    posinf: Abstract = NONE, neginf: Abstract = NONE,
) -> Abstract:  # fmt: skip
    x = operand(e, x)
    in_place = isinstance(copy, Known) and copy.object is False
    set_bounds = [v if is_set(v) else None for v in (posinf, neginf)]
    given = [v for v in (nan, *set_bounds) if v is not None]

    def function(e: Evaluator, z: Abstract, nan: Abstract, *bounds: Abstract) -> Abstract:
        if isinstance(z, ComplexValue):
            parts = [function(e, p, nan, *bounds) for p in z.parts()]
            return _complex_of(parts)
        z = strong(e, z)
        scalar = number_type(z)
        assert scalar is not None and isinstance(z, Number)
        if scalar.kind != "f":
            return z
        largest = float(np.finfo(np.float32 if scalar is F32 else np.float64).max)
        rest = iter(bounds)
        high = next(rest) if set_bounds[0] is not None else Known(largest)
        low = next(rest) if set_bounds[1] is not None else Known(-largest)
        value = z.value
        chosen = e.op("select", e.op("ne", value, value), as_numpy(e, nan, scalar), value)
        infinity = const(np.inf, scalar), const(-np.inf, scalar)
        for bound, limit in zip((high, low), infinity, strict=True):
            chosen = e.op("select", e.op("eq", value, limit), as_numpy(e, bound, scalar), chosen)
        return Number(chosen, True)

    key = ("nan_to_num", *(b is not None for b in set_bounds))
    if not isinstance(x, arrays.ARRAYS):
        return function(e, x, *given)
    result = lift(e, key, function, [x, *given])
    if in_place:
        arrays.check_writable(e, arrays.memory(x))
        arrays.assign(e, x, result)
        return x
    return result


def _as_operand(e: Evaluator, v: Abstract) -> Abstract:
    """An array for a list or tuple; anything else as it is."""
    return operand(e, v) if lists.is_sequence(e, v) else v


@emits(np.select)
def select(e: Evaluator, condlist: Abstract, choicelist: Abstract, default: Abstract = Known(0)) -> Abstract:  # noqa: B008
    conditions, choices = (lists.all_items(e, v) for v in (condlist, choicelist))
    if conditions is None or choices is None:
        raise e.refuse("np.select of lists whose lengths are not known when compiling", hint="write np.where")
    if len(conditions) != len(choices):
        e.throw("ValueError", "list of cases must be same length as list of conditions")
    if not conditions:
        e.throw("ValueError", "select with an empty condition list is not possible")
    from .common import dtype_together
    from .ufuncs import as_type

    conditions = [_as_operand(e, v) for v in conditions]
    choices = [_as_operand(e, v) for v in choices]
    for n, c in enumerate(conditions):
        kind = arrays.element_type(c) if isinstance(c, arrays.ARRAYS) else number_type(c)
        if kind is not BOOL:
            e.type_error(f"invalid entry {n} in condlist: should be boolean ndarray")
    dtype = dtype_together(e, (*choices, default))
    scalar = arrays.COMPLEX if dtype.kind == "c" else dtype_scalar(dtype)
    result = default
    for c, x in zip(reversed(conditions), reversed(choices), strict=True):
        result = where(e, c, x, result)
    if isinstance(result, arrays.ARRAYS):
        from zyg.frontend.selection import contiguous

        if scalar is arrays.COMPLEX:
            from .constructors import asarray

            result = asarray(e, result, Known(np.dtype(complex)))
        elif arrays.element_type(result) is not scalar:
            result = lift(e, ("as", scalar), lambda e, v: as_type(e, v, scalar or F64), [result])
        return contiguous(e, result)
    return result


@emits(np.piecewise)
def piecewise(e: Evaluator, x: Abstract, condlist: Abstract, funclist: Abstract) -> Abstract:
    """Each function gets the elements where its condition holds."""
    from zyg.frontend import indexing

    from .constructors import zeros_like

    x = operand(e, x)
    functions = lists.all_items(e, funclist)
    conditions = lists.all_items(e, condlist)
    if not isinstance(x, arrays.ARRAYS) or conditions is None or functions is None:
        raise e.refuse("np.piecewise of these", types=[describe(x, e.heap)], hint="pass an array and lists")
    if conditions and all(isinstance(c, Known) for c in conditions):
        conditions = (condlist,)  # one condition, as a list of bools
    if len(functions) not in (len(conditions), len(conditions) + 1):
        n = len(conditions)
        e.throw("ValueError", f"with {n} condition(s), either {n} or {n + 1} functions are expected")
    given = [e.call(known(np.asarray), [c, Known(np.dtype(bool))]) for c in conditions]
    if len(functions) > len(given):
        none = given[0]
        for c in given[1:]:
            none = e.call(known(np.logical_or), [none, c])
        given.append(e.call(known(np.logical_not), [none]))
    result = zeros_like(e, x)
    for c, f in zip(given, functions, strict=True):
        value = f if is_numeric(f) else e.call(f, [indexing.get_item(e, x, c)])
        indexing.set_item(e, result, c, value)
    return result


# ------------------------------------------------------------------------------------------ complex parts


@emits(np.real)
def real(e: Evaluator, val: Abstract) -> Abstract:
    return _part(e, operand(e, val), 0)


@emits(np.imag)
def imag(e: Evaluator, val: Abstract) -> Abstract:
    return _part(e, operand(e, val), 1)


def _part(e: Evaluator, v: Abstract, n: int) -> Abstract:
    from zyg.frontend.complex_arrays import part

    if isinstance(v, ComplexArrayValue):
        return part(e, v, ("real", "imag")[n])
    if isinstance(v, ComplexValue):
        x = v.parts()[n]
        return strong(e, x) if v.numpy else x
    if n == 0:
        return v
    if isinstance(v, ArrayValue):
        from .attributes import imag

        return imag(e, v)
    return binary(e, "mul", v, Known(0))


@implements(np.angle)
def angle(z: Any, deg: Any = False) -> Any:
    z = as_number(z)
    result = np.arctan2(np.imag(z), np.real(z)) if np.iscomplexobj(z) else _angle_of_real(z)
    return result * (180 / np.pi) if deg else result


def _angle_of_real(x: Any) -> Any:
    return np.arctan2(0.0, x)


# ------------------------------------------------------------------------------------ special functions


@implements(np.sinc)
def sinc(x: Any) -> Any:
    """sin(pi x)/(pi x); near 0 by its series, whose derivatives are there too."""
    y = np.pi * as_number(x)
    small = np.abs(y) < 1e-2
    safe = np.where(small, 1.0, y)
    t = y * y
    series = 1.0 + t * (-1.0 / 6.0 + t * (1.0 / 120.0 + t * (-1.0 / 5040.0 + t * (1.0 / 362880.0))))
    return np.where(small, series, np.sin(safe) / safe)


def as_number(x: Any) -> Any:
    return x


@emits(as_number)
def _as_number(e: Evaluator, x: Abstract) -> Abstract:
    """Lists as arrays, integers as float64."""
    x = operand(e, x)
    return x if isinstance(x, arrays.ARRAYS) else strong(e, x)


_I0_SMALL = (
    -4.41534164647933937950e-18, 3.33079451882223809783e-17, -2.43127984654795469359e-16, 1.71539128555513303061e-15,
    -1.16853328779934516808e-14, 7.67618549860493561688e-14, -4.85644678311192946090e-13, 2.95505266312963983461e-12,
    -1.72682629144155570723e-11, 9.67580903537323691224e-11, -5.18979560163526290666e-10, 2.65982372468238665035e-9,
    -1.30002500998624804212e-8, 6.04699502254191894932e-8, -2.67079385394061173391e-7, 1.11738753912010371815e-6,
    -4.41673835845875056359e-6, 1.64484480707288970893e-5, -5.75419501008210370398e-5, 1.88502885095841655729e-4,
    -5.76375574538582365885e-4, 1.63947561694133579842e-3, -4.32430999505057594430e-3, 1.05464603945949983183e-2,
    -2.37374148058994688156e-2, 4.93052842396707084878e-2, -9.49010970480476444210e-2, 1.71620901522208775349e-1,
    -3.04682672343198398683e-1, 6.76795274409476084995e-1,
)  # fmt: skip
_I0_LARGE = (
    -7.23318048787475395456e-18, -4.83050448594418207126e-18, 4.46562142029675999901e-17, 3.46122286769746109310e-17,
    -2.82762398051658348494e-16, -3.42548561967721913462e-16, 1.77256013305652638360e-15, 3.81168066935262242075e-15,
    -9.55484669882830764870e-15, -4.15056934728722208663e-14, 1.54008621752140982691e-14, 3.85277838274214270114e-13,
    7.18012445138366623367e-13, -1.79417853150680611778e-12, -1.32158118404477131188e-11, -3.14991652796324136454e-11,
    1.18891471078464383424e-11, 4.94060238822496958910e-10, 3.39623202570838634515e-9, 2.26666899049817806459e-8,
    2.04891858946906374183e-7, 2.89137052083475648297e-6, 6.88975834691682398426e-5, 3.36911647825569408990e-3,
    8.04490411014108831608e-1,
)  # fmt: skip


def _chebyshev(x: Any, coefficients: Any) -> Any:
    """The sum of a Chebyshev series, by Clenshaw's recurrence (Cephes)."""
    b0, b1, b2 = x * 0 + coefficients[0], x * 0, x * 0
    for c in coefficients[1:]:
        b0, b1, b2 = x * b0 - b1 + c, b0, b1
    return 0.5 * (b0 - b2)


@implements(np.i0)
def i0(x: Any) -> Any:
    given = as_array(x)
    if given.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    size = np.abs(given * 1.0)
    # Near 0 in powers of the square, as what is even in |x| has no derivative of its own there.
    near = size < 0.1
    t = np.where(near, given * 1.0, 0.0) ** 2 / 4.0
    series = 1.0 + t * (1.0 + t * (1.0 / 4.0 + t * (1.0 / 36.0 + t * (1.0 / 576.0 + t * (1.0 / 14400.0)))))
    low = np.exp(size) * _chebyshev(size / 2.0 - 2.0, _I0_SMALL)
    high = np.where(size > 8.0, size, 8.0)
    far = np.exp(size) * _chebyshev(32.0 / high - 2.0, _I0_LARGE) / np.sqrt(high)
    return np.where(near, series, np.where(size <= 8.0, low, far))
