"""Complex numbers: Python's operators on them, their attributes and methods.

A complex number is two floats all the way (docs/decisions tells why); what is written here emits float instructions, and
so needs no rules for derivatives.  The algorithms are CPython's and NumPy's, operation by operation, so that results agree
to the last bit and exceptions are the same.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.ir.core import Const, Value, const
from zyg.ir.records import replace
from zyg.ir.types import F32, F64

from .comparison import compare
from .later import numpy_numbers
from .operators import fold
from .python_numbers import COMPARISONS, PYTHON, SYMBOLS, message_of
from .scalars import any_of, finite_or_nan, math_op, negate, nonzero, not_finite, scalar_value, to_float
from .type_names import certain, python_type_name
from .values import Abstract, ComplexValue, Known, MethodValue, Number, TupleValue, as_complex, describe, known

if TYPE_CHECKING:
    from .evaluator import Evaluator

ABS_OVERFLOW = message_of(abs, complex(1.7e308, 1.7e308))
MAX_UNROLLED = 100  # |n| up to which CPython multiplies for z**n


def values(e: Evaluator, v: ComplexValue) -> tuple[Value, Value]:
    """Real and imaginary part as SSA values."""
    return scalar_value(e, v.re, F64), scalar_value(e, v.im, F64)


def make(re: Value, im: Value, numpy: bool = False) -> ComplexValue:
    parts = [Known(x.value) if isinstance(x, Const) else Number(x) for x in (re, im)]
    return ComplexValue(parts[0], parts[1], numpy)


def constant(v: Abstract) -> Any:
    """The number that a value is known to be; None if it is not known."""
    if isinstance(v, ComplexValue) and isinstance(v.re, Known) and isinstance(v.im, Known) and not v.numpy:
        return complex(v.re.object, v.im.object)
    return v.object if isinstance(v, Known) else None


def converted(e: Evaluator, v: Abstract) -> ComplexValue:
    """An operand as a complex number; an int is rounded as CPython and NumPy do it."""
    if isinstance(v, ComplexValue):
        return v
    value = to_float(e, v)
    return ComplexValue(Known(value.value) if isinstance(value, Const) else Number(value), Known(0.0))


def follows_numpy(e: Evaluator, a: Abstract, b: Abstract) -> bool:
    """Whether an operator of a complex number and another number is NumPy's: Python's complex takes np.float64 for a
    float, and its own operator is asked first if it is on the left."""
    python = isinstance(a, ComplexValue) and not a.numpy
    for v, other in ((a, b), (b, a)):
        single = isinstance(v, Number) and v.numpy and v.type is F32
        if single and isinstance(other, ComplexValue) and not other.numpy:
            raise e.refuse("arithmetic of a Python complex number and a np.float32, which gives a complex64",
                           hint="convert the float32: float(x)")  # fmt: skip
    if python and isinstance(b, Number) and b.numpy and b.type is F64:
        return False
    return any(isinstance(v, (ComplexValue, Number)) and v.numpy for v in (a, b))


def arithmetic(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract:
    """`a <operator> b` of numbers of which one is complex."""
    if name not in ("add", "sub", "mul", "truediv", "pow"):
        e.type_error(
            f"unsupported operand type(s) for {SYMBOLS[name]}: '{python_type_name(e, a)}' and '{python_type_name(e, b)}'"
        )
    x, y = constant(a), constant(b)
    if x is not None and y is not None and e.options.error_model == "python":
        return fold(e, PYTHON[name], x, y)
    numpy = follows_numpy(e, a, b)
    if name == "pow":
        return power(e, a, b, numpy)
    (ar, ai), (br, bi) = values(e, converted(e, a)), values(e, converted(e, b))
    if name in ("add", "sub"):
        return make(e.op(name, ar, br), e.op(name, ai, bi), numpy)
    if name == "mul":
        return product(e, (ar, ai), (br, bi), numpy)
    return quotient(e, (ar, ai), (br, bi), numpy)


Pair = tuple[Value, Value]


def product(e: Evaluator, a: Pair, b: Pair, numpy: bool = False) -> ComplexValue:
    (ar, ai), (br, bi) = a, b
    return make(
        e.op("sub", e.op("mul", ar, br), e.op("mul", ai, bi)),
        e.op("add", e.op("mul", ar, bi), e.op("mul", ai, br)),
        numpy,
    )


ZERO_DIVISION = message_of(PYTHON["truediv"], 1j, 0j)


def quotient(e: Evaluator, a: Pair, b: Pair, numpy: bool = False) -> ComplexValue:
    """Smith's division, as CPython and NumPy do it: top and bottom are divided by the larger part of the bottom.

    By selects instead of branches: it vectorises, and its derivative remembers no paths.
    """
    (ar, ai), (br, bi) = a, b
    python = not numpy and e.options.error_model == "python"
    by_real = e.op("ge", e.op("abs", br), e.op("abs", bi))
    larger, smaller = e.op("select", by_real, br, bi), e.op("select", by_real, bi, br)
    p, q = e.op("select", by_real, ar, ai), e.op("select", by_real, ai, ar)
    zero = negate(e, any_of(e, nonzero(e, br), nonzero(e, bi)))
    if python:
        e.guard(negate(e, zero), "ZeroDivisionError", ZERO_DIVISION)
    bottom = larger if python else e.op("select", zero, const(1.0), larger)
    ratio = e.op("div", smaller, bottom)
    scale = e.op("add", larger, e.op("mul", smaller, ratio))
    scale = scale if python else e.op("select", zero, const(1.0), scale)
    crossed = e.op("mul", p, ratio)
    re = e.op("add", p, e.op("mul", q, ratio))
    im = e.op("select", by_real, e.op("sub", q, crossed), e.op("sub", crossed, q))
    if python:
        result = make(e.op("div", re, scale), e.op("div", im, scale))
    else:
        inverse = e.op("div", const(1.0), scale)
        # By zero: a complex infinity, or nan.
        size = e.op("select", zero, e.op("abs", larger), const(1.0))
        re = e.op("select", zero, e.op("sdiv", ar, size), e.op("mul", re, inverse))
        im = e.op("select", zero, e.op("sdiv", ai, size), e.op("mul", im, inverse))
        result = make(re, im, numpy)
    if e.context.level == 0:
        return result
    # The slopes 1/b and -(a/b)/b remember less than the algorithm does.
    inverse_re = e.op("div", e.op("select", by_real, const(1.0), ratio), scale)
    inverse_im = e.op("neg", e.op("div", e.op("select", by_real, ratio, const(1.0)), scale))
    if not python:
        inverse_re = e.op("select", zero, const(math.inf), inverse_re)
        inverse_im = e.op("select", zero, const(math.nan), inverse_im)
    slope = (inverse_re, inverse_im)
    second = values(e, product(e, values(e, result), slope))
    graded = _sloping(e, result, slope, a)
    return _sloping(e, graded, (e.op("neg", second[0]), e.op("neg", second[1])), b, keep=True)


def power(e: Evaluator, a: Abstract, b: Abstract, numpy: bool) -> Abstract:
    """z ** w: by multiplication where w is a small whole number, else in polar form."""
    from zyg.library import complex_

    exponent = constant(b)
    if exponent is not None and exponent.imag == 0.0 and float(exponent.real).is_integer():
        n = int(exponent.real)
        if abs(n) <= MAX_UNROLLED - numpy:
            return _whole_power(e, converted(e, a), n, numpy)
    x, y = converted(e, a), converted(e, b)
    parts = [Number(v) for v in (*values(e, x), *values(e, y))]
    checked = not numpy and e.options.error_model == "python"
    algorithm = complex_.numpy_power if numpy else complex_.power
    result = _pair(e, e.call(known(algorithm), [*parts, Known(checked)]), numpy)
    if e.context.level == 0:
        return result
    by_base = isinstance(a, ComplexValue) or not isinstance(a, Known)
    if by_base:
        result = with_slope(e, result, complex_.power_slope_in_base, [x, y], x)
    if isinstance(b, ComplexValue) and exponent is None or isinstance(b, Number) and b.type.kind == "f":
        result = with_slope(e, result, complex_.power_slope_in_exponent, [x, y], y, keep=by_base)
    return result


def _pair(e: Evaluator, v: Abstract, numpy: bool = False) -> ComplexValue:
    """The complex number of a tuple of two floats that library code returned."""
    assert isinstance(v, TupleValue)
    return ComplexValue(v.items[0], v.items[1], numpy)


def _whole_power(e: Evaluator, a: ComplexValue, n: int, numpy: bool) -> ComplexValue:
    """z**n by repeated squaring, in the order of CPython's c_powi and NumPy's npy_cpow."""
    if numpy:
        return _numpy_whole_power(e, values(e, a), n)
    return _repeated_product(e, a, n, False)


def _numpy_whole_power(e: Evaluator, x: Pair, n: int) -> ComplexValue:
    if n == 0:
        return ComplexValue(Known(1.0), Known(0.0), True)
    if n in (1, 2, 3):
        result = x if n == 1 else values(e, product(e, x, x))
        result = values(e, product(e, x, result)) if n == 3 else result
    else:
        result = values(e, _repeated_product(e, make(*x), n, True))
    zero = negate(e, any_of(e, nonzero(e, x[0]), nonzero(e, x[1])))
    at_zero = const(0.0 if n > 0 else float("nan"))
    return make(*(e.op("select", zero, at_zero, part) for part in result), numpy=True)


def _repeated_product(e: Evaluator, a: ComplexValue, n: int, numpy: bool) -> ComplexValue:
    result = ComplexValue(Known(1.0), Known(0.0), numpy)
    square, mask, count = ComplexValue(a.re, a.im, numpy), 1, abs(n)
    while mask <= count:
        if count & mask:
            result = product(e, values(e, result), values(e, square), numpy)
        mask <<= 1
        if mask <= count:
            square = product(e, values(e, square), values(e, square), numpy)
    if n < 0:
        result = _inverse(e, result, numpy)
    if not numpy and e.options.error_model == "python":
        parts = values(e, result)
        e.guard(_finite(e, parts), "OverflowError", POWER_OVERFLOW)
    return result


def _inverse(e: Evaluator, v: ComplexValue, numpy: bool) -> ComplexValue:
    from zyg.library import complex_

    br, bi = values(e, v)
    if not numpy and e.options.error_model == "python":
        e.guard(any_of(e, nonzero(e, br), nonzero(e, bi)), "ZeroDivisionError", complex_.ZERO_TO_NEGATIVE)
    return quotient(e, (const(1.0), const(0.0)), (br, bi), numpy)


POWER_OVERFLOW = message_of(pow, complex(1e300, 1.0), 2)


def _finite(e: Evaluator, parts: Pair) -> Value:
    """Neither part infinite (a nan may be)."""
    flags = [finite_or_nan(e, p) for p in parts]
    return e.op("and", *flags)


def with_slope(
    e: Evaluator, w: ComplexValue, slope: Any, arguments: list[Abstract], z: Abstract, keep: bool = False
) -> ComplexValue:
    """The complex number `w` with the derivative `slope(*arguments)` by `z`, in place of what the algorithm that computed
    it has (added to it if `keep`).

    For functions whose algorithm takes absolute values and signs apart: its derivative would be none on the axes.  The
    slope is computed without checks, and is differentiated one time less: so it may use the function itself.
    """
    from .frames import Context

    with e.in_context(Context(replace(e.options, error_model="numpy"), e.context.level - 1, e.context.forwards)):
        found = e.call(known(slope), arguments)
    return _sloping(e, w, values(e, converted(e, found)), values(e, converted(e, z)), keep)


def _sloping(e: Evaluator, w: ComplexValue, p: Pair, z: Pair, keep: bool = False) -> ComplexValue:
    """`w` with the derivative `p` by `z`, in place of its own or added to it."""
    (pr, pi), (zr, zi) = (_cut(e, p) if e.context.level == 1 else p), z
    re, im = values(e, w) if keep else _cut(e, values(e, w))
    if not isinstance(zr, Const):
        re, im = e.op("slope", re, pr, zr), e.op("slope", im, pi, zr)
    if not isinstance(zi, Const):
        re, im = e.op("slope", re, e.op("neg", pi), zi), e.op("slope", im, pr, zi)
    return make(re, im, w.numpy)


def _cut(e: Evaluator, pair: Pair) -> Pair:
    re, im = (e.op("stop", x) for x in pair)
    return re, im


# ------------------------------------------------------------------------------------------- unary, comparison


def unary(e: Evaluator, name: str, v: ComplexValue) -> Abstract:
    x = constant(v)
    if name == "invert":
        e.type_error(f"bad operand type for unary ~: '{python_type_name(e, v)}'")
    if x is not None and e.options.error_model == "python":
        return fold(e, PYTHON[name], x)
    re, im = values(e, v)
    if name == "neg":
        return make(e.op("neg", re), e.op("neg", im), v.numpy)
    if name == "pos":
        return v
    size = math_op(e, "modulus", re, im) if v.numpy else e.op("modulus", re, im)
    if not v.numpy and e.options.error_model == "python":
        ok = any_of(e, finite_or_nan(e, size), not_finite(e, re), not_finite(e, im))
        e.guard(ok, "OverflowError", ABS_OVERFLOW)
    return Number(size, v.numpy)


def comparison(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract:
    assert name in COMPARISONS
    if name not in ("eq", "ne"):
        if any(isinstance(v, (ComplexValue, Number)) and v.numpy for v in (a, b)):
            raise e.refuse("the order of NumPy's complex numbers", types=[describe(a), describe(b)],
                           hint="compare z.real, or abs(z)")  # fmt: skip
        e.type_error(f"'{SYMBOLS[name]}' not supported between instances of '{python_type_name(e, a)}' and "
                     f"'{python_type_name(e, b)}'")  # fmt: skip
    numpy = follows_numpy(e, a, b)
    x, y = as_complex(a), as_complex(b)
    # Part by part, as numbers compare: with an int exactly.
    flags = [scalar_value(e, compare(e, "eq", p, q)) for p, q in zip(x.parts(), y.parts())]
    rest = [f for f in flags if not isinstance(f, Const)]
    if any(isinstance(f, Const) and not f.value for f in flags):
        return Known(name == "ne")
    if not rest:
        return Known(name == "eq")
    both = rest[0] if len(rest) == 1 else e.op("and", *rest)
    return Number(both if name == "eq" else e.op("not", both), numpy)


def truth(e: Evaluator, v: ComplexValue) -> Value:
    re, im = values(e, v)
    return any_of(e, nonzero(e, re), nonzero(e, im))


# ------------------------------------------------------------------------------------------------ attributes


def part(v: ComplexValue, name: str) -> Abstract:
    """z.real or z.imag."""
    found = v.re if name == "real" else v.im
    if not v.numpy:
        return found
    assert isinstance(found, (Known, Number))
    return Number(const(found.object) if isinstance(found, Known) else found.value, True)


def attribute(e: Evaluator, v: ComplexValue, name: str) -> Abstract | None:
    from zyg.library import registry

    if name in ("real", "imag"):
        return part(v, name)
    if name != "conjugate":
        certain(e, v, f"the attribute '{name}'")
    cls = np.complex128 if v.numpy else complex
    if name == "__class__":
        return Known(cls)
    if v.numpy:
        said = numpy_numbers.attribute(v, cls, name)
        if said is not None:
            return said
    for base in cls.__mro__:
        if registry.method(base, name) is not None:
            return MethodValue((base, name), v)
    return None
