"""THE op table: every operation of the IR, declared once.

An entry gives an op's typing (for inference, the builder and the verifier), its meaning (`eval`, for the interpreter
and for folding), its effects and its derivative (`vjp`).  Lowerings are tables in the back ends under the same name; a
test checks that none is missing.

Two levels share the table.  *Python ops* mean what Python means and work on `object`; the decoder emits them.
*Machine ops* are typed and total, apart from `guard` and the checked ones; inference emits them.  Where both mean the
same, as in `add`, it is one op with two typings.

A `vjp` is called as `vjp(d, y, *operands)`, with the cotangent `d` of the result `y`, and returns the cotangents of the
operands, None for those that have none.  It may also be one of the strings
    "none"        the result carries no derivative (comparisons, integer-valued functions)
    "structural"  the passes of differentiation have a method for it (memory, calls, stacks)

The tangent pass reads the forward rule off the `vjp`: a result is a number, so its tangent is the sum, over the operands,
of `vjp(tangent of the operand, y, *operands)` at that operand.  Where several operands together have a shorter one, `jvp`
says it: `jvp(tangents, y, *operands)` gives the tangent of the result.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from zyg.ir.records import record

from .trace import (
    copysign,
    cos,
    cosh,
    digamma,
    digamma_of,
    divide,
    equal,
    exp,
    floor,
    ieee_div,
    ieee_pow,
    is_constant,
    log,
    power,
    quiet,
    quiet_log,
    sin,
    sinh,
    sqrt,
    trigamma,
    trigamma_of,
    where,
    whole,
    zero_where_zero,
)
from .types import BOOL, F64, I64, OBJECT, TAPE, Array, Scalar, Stack, Tape, Type, cotangent_type, is_float, is_int

Typing = Callable[[Sequence[Type], dict[str, Any]], "Sequence[Type] | None"]


@record(frozen=True)
class Op:
    """One operation. `typing(operand_types, attrs)` gives the result types, or None where the caller states them;
    it raises TypeError for operands that do not fit.

    effects: "pure" (may be removed, moved, merged), "read" (reads memory), "write" (writes memory or a stack),
    "check" (may raise, and must stay), "value_check" (may raise, but dies with its value), "effect" (anything).

    vjp(d, result, *operands): the cotangents of the operands.  jvp(tangents, result, *operands): the tangent of the result, where
    several operands together have a shorter one.  flat(result, *operands): per operand a number that is exactly 0 where the
    slope by it is, though the operand may be infinite and so have an infinite tangent: that counts for nothing then; or None.

    memory says where the elements of an array are that is a result: "none" (no result is an array), "new" (in memory of its own),
    "shared" (in that of the first operand), "chosen" (in that of one of the operands), "told" (what is called tells, or what was put
    into a stack). An op of which the caller states the types has to say it.
    """

    name: str
    typing: Typing
    eval: Callable[..., Any] | None
    effects: str
    vjp: Callable[..., Any] | str
    doc: str
    commutative: bool = False
    level: str = "machine"
    jvp: Callable[..., Any] | None = None
    flat: Callable[..., Any] | None = None
    memory: str = "none"


OPS: dict[str, Op] = {}


def op(
    name: str,
    typing: Typing,
    doc: str,
    *,
    eval: Callable[..., Any] | None = None,
    effects: str = "pure",
    vjp: Callable[..., Any] | str = "none",
    commutative: bool = False,
    level: str = "machine",
    jvp: Callable[..., Any] | None = None,
    flat: Callable[..., Any] | None = None,
    memory: str = "",
) -> None:
    assert name not in OPS, name
    assert memory or typing is not _stated or level == "python", (
        f"{name}: where are the elements of an array that it gives?"
    )
    OPS[name] = Op(name, typing, eval, effects, vjp, doc, commutative, level, jvp, flat, memory or "none")


def having(*effects: str) -> frozenset[str]:
    """The ops that have one of these effects (see Op)."""
    return frozenset(name for name, op in OPS.items() if op.effects in effects)


# ------------------------------------------------------------------------------------------------- typings


def _fail(message: str) -> NoReturn:
    raise TypeError(message)


def _same(kinds: str, allow_object: bool = False, result: Type | None = None) -> Typing:
    """All operands of one scalar type whose kind is in `kinds`; the result is of that type, or `result`."""

    def typing(types: Sequence[Type], attrs: dict[str, Any]) -> Sequence[Type]:
        first = types[0]
        if allow_object and OBJECT in types:
            return (OBJECT,)
        if not isinstance(first, Scalar) or first.kind not in kinds or types.count(first) < len(types):
            _fail(f"operands {', '.join(map(str, types))} are not of one type of kind {'/'.join(kinds)}")
        return (result or first,)

    return typing


def _objects(*results: Type) -> Typing:
    return lambda types, attrs: results


def _stated(types: Sequence[Type], attrs: dict[str, Any]) -> None:
    """The result types are stated where the instruction is made."""
    return None


def _array(types: Sequence[Type]) -> Array:
    if types and isinstance(types[0], Array):
        return types[0]
    _fail("the first operand is not an array")


def _element(extra: int) -> Typing:
    """An array, `extra` scalars of its dtype, and an i64 index per dimension."""

    def typing(types: Sequence[Type], attrs: dict[str, Any]) -> Sequence[Type]:
        array = _array(types)
        if any(t != array.dtype for t in types[1 : 1 + extra]):
            _fail(f"{types[1]} does not fit into {array}")
        if len(types) != 1 + extra + array.ndim or any(t is not I64 for t in types[1 + extra :]):
            _fail(f"{array} takes {array.ndim} i64 indices")
        return () if extra else (array.dtype,)

    return typing


def _no_result(types: Sequence[Type], attrs: dict[str, Any]) -> Sequence[Type]:
    return ()


def _position(types: Sequence[Type], attrs: dict[str, Any]) -> Sequence[Type]:
    if len(types) != 1 or not isinstance(types[0], (Stack, Tape)):
        _fail(f"cursor takes a stack or a tape, not {', '.join(map(str, types))}")
    return (types[0],)


def _two_arrays(types: Sequence[Type], attrs: dict[str, Any]) -> Sequence[Type]:
    if len(types) != 2 or not all(isinstance(t, Array) for t in types):
        _fail(f"two arrays are needed, not {', '.join(map(str, types))}")
    return (BOOL,)


def _select(types: Sequence[Type], attrs: dict[str, Any]) -> Sequence[Type]:
    if len(types) != 3 or types[0] is not BOOL or types[1] != types[2]:
        _fail(f"select takes a bool and two values of one type, not {', '.join(map(str, types))}")
    return (types[1],)


# ------------------------------------------------------------------------- arithmetic, Python and machine

_num = "fiu"


def _wrap(function: Callable[..., Any]) -> Callable[..., Any]:
    """Integers wrap at 64 bits, as `add`, `sub`, `mul` and `neg` do on i64."""

    def wrapped(*args: Any) -> Any:
        value = function(*args)
        if type(value) is int:
            value = (value + 2**63) % 2**64 - 2**63
        return value

    return wrapped


def past_64_bits(operation: str) -> str:
    """The text of an OverflowError where Python would go on."""
    return f"integer result of {operation} does not fit into 64 bits: begin with a float, if that is meant"


def _checked(function: Callable[..., Any], symbol: str) -> Callable[..., Any]:
    def checked(*args: Any) -> int:
        value = function(*args)
        if not -(2**63) <= value < 2**63:
            raise OverflowError(past_64_bits(symbol))
        return value

    return checked


def _quotient(x: Any, y: Any, out: Any) -> Any:
    """n where out = x - n * y, a whole number that the division misses by a rounding error."""
    return floor(divide(x - out, y) + 0.5)


_add_vjp = lambda d, out, x, y: (d, d)
_sub_vjp = lambda d, out, x, y: (d, -d)
_mul_vjp = lambda d, out, x, y: (d * y, d * x)

op("add", _same(_num, True), "x + y; integers wrap", eval=_wrap(operator.add), vjp=_add_vjp, commutative=True)
op("sub", _same(_num, True), "x - y; integers wrap", eval=_wrap(operator.sub), vjp=_sub_vjp)
op("mul", _same(_num, True), "x * y; integers wrap", eval=_wrap(operator.mul), vjp=_mul_vjp, commutative=True)
op("neg", _same(_num, True), "-x; integers wrap", eval=_wrap(operator.neg), vjp=lambda d, out, x: (-d,))

op("cadd", _same("i"), "x + y, OverflowError past 64 bits", eval=_checked(operator.add, "+"), effects="value_check",
   vjp=_add_vjp, commutative=True)  # fmt: skip
op("csub", _same("i"), "x - y, OverflowError past 64 bits", eval=_checked(operator.sub, "-"), effects="value_check",
   vjp=_sub_vjp)  # fmt: skip
op("cmul", _same("i"), "x * y, OverflowError past 64 bits", eval=_checked(operator.mul, "*"), effects="value_check",
   vjp=_mul_vjp, commutative=True)  # fmt: skip
op("cneg", _same("i"), "-x, OverflowError past 64 bits", eval=_checked(operator.neg, "-"), effects="value_check",
   vjp=lambda d, out, x: (-d,))  # fmt: skip


def _slope_in_exponent(d: Any, out: Any, x: Any) -> Callable[[], Any]:
    # It takes a logarithm, so it is given as a function, called only where the exponent varies.  For x < 0 there is no such
    # slope (0 here); 0**y has slope 0 for y > 0.
    return lambda: where(equal(out, 0.0), 0.0, d * out * log(where(x > 0.0, x, 1.0)))


def _ipow_vjp(d: Any, out: Any, x: Any, n: Any) -> Any:
    # x**0 is 1 whatever x is: its slope is 0, also at x = 0 where 0 * 0**-1 would not be.
    dx = where(equal(n, 0), 0.0, d * n * power(x * 1.0, n * 1.0 - 1.0))
    return dx, _slope_in_exponent(d, out * 1.0, x * 1.0)


op("ipow", _same("i"), "x ** n for n >= 0, OverflowError past 64 bits", eval=_checked(operator.pow, "**"),
   effects="value_check", vjp=_ipow_vjp)  # fmt: skip


def _div_vjp(d: Any, out: Any, x: Any, y: Any) -> Any:
    # A division takes a processor four to eight multiplications' time, so both slopes come of one.
    dx = divide(d, y)
    return dx, -dx * out


def _sdiv_vjp(d: Any, out: Any, x: Any, y: Any) -> Any:
    # What is chosen is a quotient or a product: by these a second derivative knows the singular points.
    dx = zero_where_zero(d, divide(d, y))
    return dx, zero_where_zero(d, -dx * out)


def _flat_in_divisor(out: Any, x: Any, y: Any) -> Any:
    return None, out


op("div", _same("f"), "x / y by IEEE 754 (no exception)", eval=ieee_div, vjp=_div_vjp,
   jvp=lambda t, out, x, y: divide(t[0] - zero_where_zero(out, t[1] * out), y), flat=_flat_in_divisor)  # fmt: skip
op("sdiv", _same("f"), "x / y by IEEE 754, of NumPy scalars; where the cotangent is 0, so is the slope, at y = 0 too",
   eval=ieee_div, vjp=_sdiv_vjp, flat=_flat_in_divisor)  # fmt: skip
op("floordiv", _same(_num, True), "floor(x / y); y is not 0", eval=operator.floordiv)
op("mod", _same(_num, True), "x - y * floor(x / y), the sign of y; y is not 0", eval=operator.mod,
   vjp=lambda d, out, x, y: (d, -(d * _quotient(x * 1.0, y * 1.0, out * 1.0))))  # fmt: skip


def _pow_vjp(d: Any, out: Any, x: Any, y: Any) -> Any:
    return zero_where_zero(d * y, d * y * power(x, y - 1.0)), _slope_in_exponent(d, out, x)


op("pow", _same("f", True), "x ** y as C's pow", eval=ieee_pow, vjp=_pow_vjp,
   flat=lambda out, x, y: (power(x, y - 1.0), None))  # fmt: skip

op("abs", _same(_num), "|x|; slope 0 at 0", eval=abs,
   vjp=lambda d, out, x: (where(abs(x) > 0.0, d * copysign(1.0, x), 0.0),))  # fmt: skip


def _fmin(x: float, y: float) -> float:
    return y if x != x or y < x else x


def _fmax(x: float, y: float) -> float:
    return y if x != x or y > x else x


def _choice_vjp(d: Any, out: Any, x: Any, y: Any) -> Any:
    # What was chosen gets all; the first where both are equal, as in Python's min and max.
    return where(equal(out, x), d, 0.0), where(equal(out, x), 0.0, d)


def _choice_jvp(t: Any, out: Any, x: Any, y: Any) -> Any:
    return where(equal(out, x), t[0], t[1])


op("fmin", _same("f"), "the smaller, as C's fmin (a nan loses)", eval=_fmin, vjp=_choice_vjp, jvp=_choice_jvp)
op("fmax", _same("f"), "the larger, as C's fmax (a nan loses)", eval=_fmax, vjp=_choice_vjp, jvp=_choice_jvp)
op("minimum", _same("f"), "the smaller; a nan wins, and -0.0 is below 0.0 (IEEE 754-2019)", vjp=_choice_vjp, jvp=_choice_jvp,
   eval=lambda x, y: x if x != x or y == y and (x, -math.copysign(1.0, y)) < (y, -math.copysign(1.0, x)) else y)  # fmt: skip
op("maximum", _same("f"), "the larger; a nan wins, and 0.0 is above -0.0 (IEEE 754-2019)", vjp=_choice_vjp, jvp=_choice_jvp,
   eval=lambda x, y: x if x != x or y == y and (x, -math.copysign(1.0, y)) > (y, -math.copysign(1.0, x)) else y)  # fmt: skip

for _name in ("lt", "le", "eq", "ne", "gt", "ge"):
    more = "; attrs['ends']: by it a loop of a reverse part goes on until it has gone as often as the forward one" * (
        _name == "eq"
    )
    op(_name, _same("fiub", True, BOOL), f"comparison {_name}{more}", eval=getattr(operator, _name))

op("and", _same("bi", True), "bitwise and", eval=operator.and_, commutative=True)
op("or", _same("bi", True), "bitwise or", eval=operator.or_, commutative=True)
op("xor", _same("bi", True), "bitwise exclusive or", eval=operator.xor, commutative=True)
op("not", _same("b", True), "not x", eval=operator.not_)
op("invert", _same("i", True), "~x", eval=operator.invert)
op("shl", _same("i"), "x << n, bits past 64 lost", eval=_wrap(lambda x, n: x << n if 0 <= n < 64 else 0))
op("shr", _same("i"), "x >> n, 0 <= n < 64", eval=operator.rshift)
op("select", _select, "x if c else y", eval=lambda c, x, y: x if c else y,
   vjp=lambda d, out, c, x, y: (None, where(c, d, 0.0), where(c, 0.0, d)), memory="chosen")  # fmt: skip


def _cast_vjp(d: Any, out: Any, x: Any) -> Any:
    return (d,)  # the passes call it where the number is kept; a cast of a float to an integer, or to a bool, cuts


op("cast", _stated, "conversion between scalar types; float to int truncates (in range)", vjp=_cast_vjp, memory="none")


def _slope(types: Sequence[Type], attrs: dict[str, Any]) -> Sequence[Type]:
    x, p, z = types
    if not all(isinstance(t, Scalar) and t is not BOOL for t in types) or x is not z or p is not cotangent_type(x):
        _fail(f"slope takes two numbers of one type, and a float between them, not {', '.join(map(str, types))}")
    return (x,)


def _slope_vjp(d: Any, out: Any, x: Any, p: Any, z: Any) -> Any:
    return d, None, None if is_constant(p, 0.0) else zero_where_zero(d, d * p)


op("slope", _slope, "x, p, z: the value x; p times the derivative of z is added to that of x", eval=lambda x, p, z: x,
   vjp=_slope_vjp, flat=lambda out, x, p, z: (None, None, p))  # fmt: skip
op("stop", lambda types, attrs: (types[0],), "x, with no derivative", eval=lambda x: x, memory="shared")

# ------------------------------------------------------------------------------------------- mathematics


def _signed_infinity(x: float) -> float:
    return math.copysign(math.inf, x)


def _atanh(x: float) -> float:
    return _signed_infinity(x) if abs(x) == 1.0 else quiet(math.atanh)(x)


def _lgamma(x: float) -> float:
    return math.inf if x <= 0.0 and x == math.floor(x) else math.lgamma(x)


def _gamma(x: float) -> float:
    return _signed_infinity(x) if x == 0.0 else quiet(math.gamma)(x)


def _fma(x: float, y: float, z: float) -> float:
    """x * y + z rounded once, in exact fractions (math.fma comes with Python 3.13)."""
    if not (math.isfinite(x) and math.isfinite(y)) or x == 0.0 or y == 0.0:
        return x * y + z
    if not math.isfinite(z):
        return z
    from fractions import Fraction  # on demand: it brings decimal with it

    exact = Fraction(x) * Fraction(y) + Fraction(z)
    try:
        # A sum that cancels exactly is +0; one that underflows keeps its sign.
        return math.copysign(float(exact), exact) if exact else 0.0
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


_TWO_OVER_SQRT_PI = 2.0 / math.sqrt(math.pi)

_UNARY: dict[str, tuple[Callable[..., Any], Callable[..., Any] | str]] = {
    "sqrt": (quiet(math.sqrt), lambda d, y, x: (zero_where_zero(d, divide(d, 2.0 * y)),)),
    "cbrt": (quiet(math.cbrt), lambda d, y, x: (zero_where_zero(d, divide(d, 3.0 * y * y)),)),
    "exp": (quiet(math.exp), lambda d, y, x: (d * y,)),
    "exp2": (quiet(math.exp2), lambda d, y, x: (d * y * math.log(2.0),)),
    "expm1": (quiet(math.expm1), lambda d, y, x: (d * (y + 1.0),)),
    "log": (quiet_log(math.log), lambda d, y, x: (zero_where_zero(d, divide(d, x)),)),
    "log2": (quiet_log(math.log2), lambda d, y, x: (zero_where_zero(d, divide(d, x * math.log(2.0))),)),
    "log10": (quiet_log(math.log10), lambda d, y, x: (zero_where_zero(d, divide(d, x * math.log(10.0))),)),
    "log1p": (quiet_log(math.log1p, -1.0), lambda d, y, x: (zero_where_zero(d, divide(d, 1.0 + x)),)),
    "sin": (quiet(math.sin), lambda d, y, x: (d * cos(x),)),
    "cos": (quiet(math.cos), lambda d, y, x: (-(d * sin(x)),)),
    "tan": (quiet(math.tan), lambda d, y, x: (d * (1.0 + y * y),)),
    "asin": (quiet(math.asin), lambda d, y, x: (zero_where_zero(d, divide(d, sqrt((1.0 - x) * (1.0 + x)))),)),
    "acos": (quiet(math.acos), lambda d, y, x: (zero_where_zero(d, divide(-d, sqrt((1.0 - x) * (1.0 + x)))),)),
    "atan": (quiet(math.atan), lambda d, y, x: (d / (1.0 + x * x),)),
    "sinh": (quiet(math.sinh, _signed_infinity), lambda d, y, x: (d * cosh(x),)),
    "cosh": (quiet(math.cosh), lambda d, y, x: (d * sinh(x),)),
    "tanh": (quiet(math.tanh), lambda d, y, x: (d * (1.0 - y * y),)),
    "asinh": (quiet(math.asinh), lambda d, y, x: (d / sqrt(x * x + 1.0),)),
    "acosh": (quiet(math.acosh), lambda d, y, x: (zero_where_zero(d, divide(d, sqrt((x - 1.0) * (x + 1.0)))),)),
    "atanh": (_atanh, lambda d, y, x: (zero_where_zero(d, divide(d, (1.0 - x) * (1.0 + x))),)),
    "erf": (quiet(math.erf), lambda d, y, x: (d * _TWO_OVER_SQRT_PI * exp(-(x * x)),)),
    "erfc": (quiet(math.erfc), lambda d, y, x: (-(d * _TWO_OVER_SQRT_PI * exp(-(x * x))),)),
    "lgamma": (_lgamma, lambda d, y, x: (d * digamma(x),)),
    "gamma": (_gamma, lambda d, y, x: (d * y * digamma(x),)),
    "floor": (whole(math.floor), lambda d, y, x: (None,)),
    "ceil": (whole(math.ceil), lambda d, y, x: (None,)),
    "trunc": (whole(math.trunc), lambda d, y, x: (None,)),
    "rint": (whole(round), lambda d, y, x: (None,)),
}

# Those that have a bound where their argument is infinite.
_FLAT: dict[str, Callable[..., Any]] = {
    "exp": lambda y, x: (y,),
    "exp2": lambda y, x: (y,),
    "expm1": lambda y, x: (y + 1.0,),
    "tanh": lambda y, x: (1.0 - y * y,),
    "atan": lambda y, x: (1.0 / (1.0 + x * x),),
    "erf": lambda y, x: (exp(-(x * x)),),
    "erfc": lambda y, x: (exp(-(x * x)),),
}
for _name, (_eval, _vjp) in _UNARY.items():
    op(_name, _same("f"), f"{_name}(x) as in C", eval=_eval, vjp=_vjp, flat=_FLAT.get(_name))

op("digamma", _same("f"), "the derivative of lgamma", eval=digamma_of, vjp=lambda d, y, x: (d * trigamma(x),))
op("trigamma", _same("f"), "the derivative of digamma", eval=trigamma_of, vjp="structural")


def _atan2_vjp(d: Any, out: Any, y: Any, x: Any) -> Any:
    square = x * x + y * y
    return zero_where_zero(d, divide(d * x, square)), zero_where_zero(d, divide(-(d * y), square))


def _hypot_vjp(d: Any, out: Any, x: Any, y: Any) -> Any:
    # 0 at the origin, where there is no slope, as for the absolute value
    return zero_where_zero(d * x, divide(d * x, out)), zero_where_zero(d * y, divide(d * y, out))


def _atan2_jvp(t: Any, out: Any, y: Any, x: Any) -> Any:
    square = x * x + y * y
    return zero_where_zero(t[0], divide(t[0] * x, square)) - zero_where_zero(t[1], divide(t[1] * y, square))


def _hypot_jvp(t: Any, out: Any, x: Any, y: Any) -> Any:
    along = t[0] * x + t[1] * y
    return zero_where_zero(along, divide(along, out))


op("atan2", _same("f"), "atan2(y, x)", eval=math.atan2, vjp=_atan2_vjp, jvp=_atan2_jvp)
op("hypot", _same("f"), "sqrt(x*x + y*y) without overflow", eval=math.hypot, vjp=_hypot_vjp, jvp=_hypot_jvp)
op("modulus", _same("f"), "abs(complex(x, y)): C's hypot", eval=quiet(lambda x, y: abs(complex(x, y))),
   vjp=_hypot_vjp, jvp=_hypot_jvp)  # fmt: skip
op("copysign", _same("f"), "|x| with the sign of y", eval=math.copysign,
   vjp=lambda d, out, x, y: (d * copysign(1.0, x) * copysign(1.0, y), None))  # fmt: skip
op("fmod", _same("f"), "the remainder with the sign of x", eval=quiet(math.fmod),
   vjp=lambda d, out, x, y: (d, -(d * _quotient(x, y, out))))  # fmt: skip
op("remainder", _same("f"), "the IEEE remainder", eval=quiet(math.remainder),
   vjp=lambda d, out, x, y: (d, -(d * _quotient(x, y, out))))  # fmt: skip
op("nextafter", _same("f"), "the next float after x towards y", eval=math.nextafter, vjp=lambda d, out, x, y: (d, None))
op("fma", _same("f"), "x * y + z, rounded once", eval=_fma,
   vjp=lambda d, out, x, y, z: (d * y, d * x, d))  # fmt: skip

# ------------------------------------------------------------------------------------- checks and effects

op("guard", _no_result, "raise attrs['exc'](attrs['message']) unless the bool operand holds; further operands are "
   "formatted into the message with str.format", effects="check", vjp="structural")  # fmt: skip
op("call", _stated, "call the function of the module that attrs['callee'] names; several results; attrs['rule'], a "
   "Rule, names the functions that differentiation uses instead; attrs['vector'], a number: so many calls at once, whose last "
   "arguments count up from the one given and whose results are added up, neighbours first; attrs['writes'] "
   "promises that it ends, that it fails for lack of memory or in arithmetic only that dies with its value, and that it does "
   "nothing but write to the operands of these numbers: it may be removed where nobody reads them, not moved", effects="effect", vjp="structural", memory="told")  # fmt: skip
op("pycall", _stated, "call the Python callable attrs['callable'] with arguments of the structured types "
   "attrs['arguments'], flattened; the result is of attrs['result'], a structured type (NONE: ignored); attrs['reads'] "
   "promises that no argument is written, attrs['tells'] that it only says or raises something",
   effects="effect", vjp="structural", memory="told")  # fmt: skip
op("readymade", _stated, "call a function of the library that is there as machine code only, attrs['code'] "
   "(readymade.py)", effects="effect", vjp="structural", memory="told")  # fmt: skip
op("checkpoint", _no_result, "in the head of a loop that differentiation is to checkpoint: attrs['kind'] is 'every' (one "
   "operand: so many iterations at a time) or 'binomial' (the number of iterations, and of snapshots)", effects="effect",
   vjp="structural")  # fmt: skip
op("poll", _no_result, "see Ctrl-C, let other threads run, once enough work (an i64) has added up", effects="effect",
   vjp="structural")  # fmt: skip

# ------------------------------------------------------------------------------------------------- memory

op("alloc", _stated, "a new array of the given shape (an i64 per dimension); attrs['fill'] is 'empty' or 'zeros', "
   "attrs['parts'] says that the last dimension is that of complex numbers; MemoryError when there is no memory", effects="write", vjp="structural", memory="new")  # fmt: skip
op("dim", lambda types, attrs: (I64,), "the length of dimension attrs['axis'] of an array", vjp="none")
op("stride", lambda types, attrs: (I64,), "the stride in bytes of dimension attrs['axis'] of an array; with attrs['order'] only "
   "to tell in which order its elements lie", vjp="none")  # fmt: skip
op("fits", lambda types, attrs: (BOOL,), "whether the product of attrs['item'] and lengths, i64 and not negative, is a number of 64 bits",
   vjp="none")  # fmt: skip
op("contiguous", lambda types, attrs: (BOOL,), "whether the elements of an array lie in memory one after the other, as its indices count; "
   "strict: and its strides say so along axes of length 1 and of no elements, too",
   vjp="none")  # fmt: skip
op("arrange", _stated, "the strides in bytes by which NumPy's iterator lays out a new array that it makes of others, without gaps: "
   "per operand of the iterator and axis the length and the stride, of attrs['axes'] axes; then the lengths of the new array, which "
   "has those in attrs['kept'] of them, of elements of attrs['item'] bytes", vjp="none", memory="none")  # fmt: skip
op("load", _element(0), "an element, by in-bounds non-negative indices", effects="read", vjp="structural")
op("store", _element(1), "array, value, indices: a[indices] = value", effects="write", vjp="structural")
op("accum", _element(1), "array, value, indices: a[indices] += value", effects="write", vjp="structural")
op("view", _stated, "a view by basic indexing; attrs['spec'] has a letter per dimension of the array: 'i' an index "
   "(one operand), 's' a slice (start, length, step), ':' all of it; all in bounds; and 'n' for a new one of length 1",
   vjp="structural", memory="shared")  # fmt: skip
op("reshape", _stated, "an array seen in another shape of the same size (an i64 per dimension); its strides have to allow it, "
   "as `reshapable` tells and those of contiguous arrays do", vjp="structural", memory="shared")  # fmt: skip
op("reshapable", lambda types, attrs: (BOOL,), "whether the strides of an array allow to see it in another shape of the same size "
   "(an i64 per dimension)", vjp="none")  # fmt: skip
op("transpose", _stated, "an array with its dimensions elsewhere: attrs['axes'] has, for each of them, the one of the result that it "
   "becomes; of those that become the same one the diagonal is seen, as long as the shortest", vjp="structural", memory="shared")  # fmt: skip
op("strided", _stated, "a contiguous array of this shape with its elements in another order in memory: an i64 per dimension, its "
   "stride in bytes; along negative ones it runs backwards", vjp="structural", memory="shared")  # fmt: skip
op("fill", _no_result, "array, value: set every element", effects="write", vjp="structural")
op("copyto", _no_result, "destination, source of the same shape and dtype: copy (as if by way of a temporary); attrs['lays']: a new "
   "array that is read only from here on, and instead of the source, which is as new", effects="write", vjp="structural")  # fmt: skip
op("addto", _no_result, "destination, source of the same shape and dtype: destination += source, element by element",
   effects="write", vjp="structural")  # fmt: skip
op("broadcast", _stated, "an array, then an i64 per dimension of the result: the array seen in that shape, its dimensions aligned "
   "at the end; one that is missing or of length 1 repeats (its stride is 0); attrs['unrepeated']: "
   "axes of the array that are known not to", vjp="structural", memory="shared")  # fmt: skip
op("apply", _stated, "for each index: call the function attrs['callee'] with the elements there (scalars as they are). The first "
   "len(attrs['modes']) operands are arrays that take its first results: 'set', or reduced by 'add', 'mul', 'max', 'min', 'and' or "
   "'or' into what is there; the others are its arguments; its remaining results are reduced, by attrs['kinds'] (sums if it is "
   "missing), and are the results. All arrays have one shape. An argument may be the array that is set, but does not overlap "
   "it otherwise. Only sums have a reverse: the others are loops to it", effects="write", vjp="structural", memory="none")  # fmt: skip
op("foreign", _stated, "call the C function attrs['symbol'] (foreign.py); attrs['spec'] has a letter per argument of it: 'r' an array "
   "that is read, 'w' one that is set, 'm' one that is read and written (the address of their data), 'v' a number by value, "
   "'p' a pointer to it, 'o' a pointer to a number that is the next result. Integers have attrs['int'] bits there; with "
   "attrs['returns'] the first result is what the function returns. Arrays that are written overlap no others",
   effects="write", vjp="structural", memory="none")  # fmt: skip
op("overlap", _two_arrays, "whether the memory of two arrays may overlap", effects="read")
op("same", _two_arrays, "whether two array values are the same array (data, shape, strides)")
op("retain", _no_result, "one more owner of the array's memory", effects="effect", vjp="structural")
op("release", _no_result, "one owner less of the array's memory; the last frees it", effects="effect",
   vjp="structural")  # fmt: skip

op("stack", _stated, "a new empty stack; attrs['room'] where it never has more records than so many: it lies in the function's "
   "frame then", effects="write", vjp="structural", memory="none")  # fmt: skip
op("push", _no_result, "stack or tape, values: push; attrs['unchecked'] where there is room", effects="write",
   vjp="structural")  # fmt: skip
op("pop", _stated, "stack or tape: take the last pushed (several results from a tape); attrs['unchecked'] after "
   "`rewind`", effects="write", vjp="structural", memory="told")  # fmt: skip
op("reserve", _no_result, "stack, n: make contiguous room for n more items",
   effects="write", vjp="structural")  # fmt: skip
op("rewind", _no_result, "stack, n: the next n pops take what was pushed under one reserve", effects="write",
   vjp="structural")  # fmt: skip
op("cursor", _position, "stack or tape: a copy of its position, to read without moving the "
   "original", effects="write", vjp="structural")  # fmt: skip
op("drop", _no_result, "stack or tape: free its memory; it is not used again", effects="write", vjp="structural")
op("undefined", _stated, "some value; used only where control cannot come", vjp="none", memory="new")
op("tape", lambda types, attrs: (TAPE,), "a new empty tape; calls take it by reference, results and records by value",
   effects="write", vjp="structural")  # fmt: skip

# -------------------------------------------------------------------------------------------- terminators

op("jump", _no_result, "go on at the target", effects="effect", vjp="structural")
op("branch", _no_result, "a bool (or an object's truth): first target if it holds, else the second", effects="effect",
   vjp="structural")  # fmt: skip
op("switch", _no_result, "an integer: target 0, 1, ...; the last is the default", effects="effect", vjp="structural")
op("return", _no_result, "return the operands", effects="effect", vjp="structural")
op("raise", _no_result, "typed: raise attrs['exc'](attrs['message']); object: raise the operand (from the second, or "
   "again what is being handled if there is none)", effects="effect", vjp="structural")  # fmt: skip
op("reraise", _no_result, "object: raise the operand again with its traceback", effects="effect", vjp="structural")
op("unreachable", _no_result, "control does not come here (after a call that raises)", effects="effect",
   vjp="structural")  # fmt: skip

# --------------------------------------------------------------------------------- Python ops (on `object`)


def python(names: str, doc: str, *results: Type, effects: str = "effect", typing: Typing | None = None) -> None:
    for name in names.split():
        op(name, typing or _objects(*results), doc, effects=effects, vjp="structural", level="python")


python("matmul truediv lshift rshift pos", "the operator of that name", OBJECT)
python("iadd isub imul imatmul itruediv ifloordiv imod ipow_ iand ior ixor ilshift irshift", "in-place operator",
       OBJECT)  # fmt: skip
python("is is_not", "identity of two objects", OBJECT, effects="pure")
python("contains", "item, container: item in container", OBJECT)
python("truth", "bool(x), for a branch", BOOL)
python("getattr", "x.attrs['name']", OBJECT)
python("setattr", "object, value: object.attrs['name'] = value")
python("delattr", "del object.attrs['name']")
python("getitem", "object[key]", OBJECT)
python("setitem", "object, key, value: object[key] = value")
python("delitem", "object, key: del object[key]")
python("make_slice", "slice(start, stop) or slice(start, stop, step)", OBJECT, effects="pure")
python("global", "the global or builtin named attrs['name']", OBJECT)
python("set_global", "value: global attrs['name'] = value")
python("del_global", "del of the global attrs['name']")
python("name", "class or module scope: the name attrs['name'] in locals, globals, builtins", OBJECT)
python("set_name", "class or module scope: attrs['name'] = value")
python("del_name", "class or module scope: del attrs['name']")
python("locals", "class or module scope: the namespace; elsewhere locals()", OBJECT)
python("new_cell", "a cell holding the operand, or empty without one; attrs['name']", OBJECT)
python("free_cell", "the cell of this function's free variable attrs['name']", OBJECT, effects="pure")
python("get_cell", "what a cell holds; NameError if empty; attrs['name']", OBJECT)
python("set_cell", "cell, value")
python("del_cell", "cell: empty it")
python("class_deref", "namespace, cell: attrs['name'] from the namespace, else from the cell", OBJECT)
python("dict_or_global", "namespace: attrs['name'] from the namespace, else from globals or builtins", OBJECT)
python("setup_annotations", "class or module scope: make __annotations__ if it is not there")
python("make_function", "a function with code attrs['code'] and attrs['has'], a subset of ('defaults', 'kwdefaults', "
       "'annotations', 'closure') in this order, an operand each (tuple, dict, tuple, tuple of cells)",
       OBJECT)  # fmt: skip
python("call_object", "function, arguments: a call; the last len(attrs['keywords']) arguments are keyword arguments",
       OBJECT)  # fmt: skip
python("call_spread", "function, tuple of arguments, and optionally a mapping of keyword arguments", OBJECT)
python("tuple", "a tuple of the operands", OBJECT, effects="pure")
python("list set", "a list or set of the operands", OBJECT)
python("dict", "a dict of key, value, key, value, ...", OBJECT)
python("frozen_key_dict", "a dict with the tuple of keys attrs['keys'] and the operands as values", OBJECT)
python("string", "the operands, all strings, joined", OBJECT, effects="pure")
python("format", "format(value, spec) of an f-string; attrs['conversion'] is '', 's', 'r' or 'a'", OBJECT)
python("convert", "str(x), repr(x) or ascii(x); attrs['conversion'] is 's', 'r' or 'a'", OBJECT)
python("list_append set_add", "container, item")
python("list_extend set_update dict_update", "container, iterable")
python("dict_merge", "dict of keyword arguments, mapping, callable: add the mapping; TypeError for a double key")
python("dict_setitem", "dict, key, value of a dict comprehension")
python("list_to_tuple", "tuple(list)", OBJECT)
python("unpack", "iterable: attrs['count'] items, exactly", typing=_stated)
python("unpack_rest", "iterable: attrs['before'] items, a list of the rest, attrs['after'] items", typing=_stated)
python("iter", "iter(x)", OBJECT)
python("next", "iterator: whether there is a next item, and the item", BOOL, OBJECT)
python("len_", "len(x), as `match` uses it", OBJECT)
python("match_sequence match_mapping", "whether `match` sees a sequence, a mapping", BOOL)
python("match_keys", "mapping, tuple of keys: a tuple of values or None", OBJECT)
python("match_class", "subject, class, tuple of attribute names: a tuple of attributes or None; attrs['count'] are "
       "positional", OBJECT)  # fmt: skip
python("import_name", "level, fromlist: __import__(attrs['name'], ...)", OBJECT)
python("import_from", "module: from module import attrs['name']", OBJECT)
python("import_star", "module: from module import *")
python("build_class", "__build_class__", OBJECT)
python("assertion_error", "AssertionError", OBJECT, effects="pure")
python("with_enter", "context manager: its exit method, and what entering gave", OBJECT, OBJECT)
python("with_exit", "exit method, exception (None for a normal end): call it; what it answered", OBJECT)
python("push_exception", "exception: it becomes the one being handled; gives what was handled before", OBJECT)
python("pop_exception", "what push_exception gave: restores it")
python("check_match", "exception, class or tuple of classes: whether `except` matches", BOOL)
python("check_group", "exception, class: (rest, match) of `except*`", OBJECT, OBJECT)
python("prepare_reraise", "original exception, list: what `except*` raises at its end", OBJECT)
python("checked_local", "the operand, or UnboundLocalError for attrs['name'] if it is unbound", OBJECT)
python("unbound", "the marker of an unbound local", OBJECT, effects="pure")
python("forget", "the variable attrs['name'], which held the operand, is deleted or set to None: its object may go")
python("yield", "generators: give a value, receive one", OBJECT)
python("yield_from", "generators: the value of `yield from` the operand", OBJECT)
python("intrinsic", "an intrinsic function of the interpreter, attrs['name']", OBJECT)
python("record", "function, arguments: what op attrs['of'] gives, and last its pullback (None: nothing flows); the function "
       "gives them as a tuple; for 'call_object' it gives what to call in its place; attrs['direct'] is what may be run "
       "plainly; for a 'method', an attribute that is only called, there is the method before the pullback, if it is known, "
       "and the call with attrs['method'] takes it and the object", typing=_stated)  # fmt: skip
python("nothing_recorded", "what a block records rarely, by attrs['rare'] of a `record`, which then has no pullback and takes this as "
       "its last operand: None at first, a dict where something was recorded; of a parameter: None if it is a real number",
       OBJECT)  # fmt: skip
python("so_far", "in a block of a forward half with a handler: what this takes, besides the number of the operation that raised, as "
       "far as it has been computed")  # fmt: skip
python("item", "what an iterator gave, the pullback of all it goes through: if there is one, the former is a pair of an item "
       "and its pullback, else it is the item, and its pullback is None", OBJECT, OBJECT)  # fmt: skip
python("pull", "pullback, cotangent, shadows: run a pullback, which gives a tuple; the results are its items "
       "attrs['wanted'], None where it gives None; then what is wanted for what was run plainly: result and operands of an "
       "operator, with attrs['expressions'] for its cotangents; object, key, name and what was looked up for an access to the "
       "shadow of an object. With attrs['component'], the last result is the cotangent of an item of a tuple", typing=_stated)  # fmt: skip
python("rule", "function, cotangent, result, operands: the cotangents attrs['wanted'] of an operator on numbers, None where "
       "the cotangent is; by attrs['expressions'] if the numbers are real", typing=_stated)  # fmt: skip
python("nothing_looked_up", "the object whose shadow was looked up last, and its shadow: None at first; a `pull` of what was read or "
       "written plainly, which has them as its last operands, changes them", OBJECT, OBJECT)  # fmt: skip
python("cotangents", "a tuple or None: the items attrs['wanted'], or None", typing=_stated)
python(
    "accumulate", "function, two cotangents: their sum (None is zero), by the function unless both are floats", OBJECT
)
python("join", "function, cotangent of a tuple, the tuple, places of items, their cotangents: their sum, by the function unless "
       "these are None", OBJECT)  # fmt: skip


def result_types(name: str, operands: Sequence[Type], attrs: dict[str, Any]) -> Sequence[Type] | None:
    """The types of the results of op `name` for operands of these types; None if they have to be stated.

    >>> from zyg.ir.types import F64
    >>> [str(t) for t in result_types("lt", [F64, F64], {})]
    ['bool']
    """
    return OPS[name].typing(operands, attrs)


# Ops whose result is in the memory of their first operand, and of these the ones along which derivatives flow.
SAME_MEMORY = frozenset(name for name, op in OPS.items() if op.memory == "shared")
VIEWS = frozenset(name for name in SAME_MEMORY if OPS[name].vjp == "structural")


def is_pure(name: str) -> bool:
    return OPS[name].effects == "pure"


def is_removable(name: str) -> bool:
    """Whether an instruction with unused results may be removed."""
    return OPS[name].effects in ("pure", "read", "value_check")


__all__ = ["F64", "OPS", "Op", "Stack", "is_float", "is_int", "is_pure", "is_removable", "op", "result_types"]
