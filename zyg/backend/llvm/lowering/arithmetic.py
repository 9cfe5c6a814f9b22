"""Arithmetic, comparisons and conversions of machine scalars."""

from __future__ import annotations

from ....ir.core import Const, Instr, Value
from ....ir.departures import departing
from ....ir.ops import past_64_bits
from ....ir.types import BOOL, F32, U8, Scalar, Stack, Tape
from ..lowered import LoweringError
from ..text import MATH, SCALAR_TYPES, component_types, components, literal
from .function import FunctionLowering, scalar_type
from .registry import lowers

# Ops that are one LLVM instruction, by the kind of their operands: "f" floats, "i" integers, "u" bytes, "b" booleans.
# {F} is the place of the fast-math flags, {N} that of `nsw`, {T} the LLVM type.
BINARY: dict[str, dict[str, str]] = {
    "add": {"f": "fadd {F}{T}", "i": "add {N}{T}", "u": "add {T}"},
    "sub": {"f": "fsub {F}{T}", "i": "sub {N}{T}", "u": "sub {T}"},
    "mul": {"f": "fmul {F}{T}", "i": "mul {N}{T}", "u": "mul {T}"},
    "div": {"f": "fdiv {F}{T}"},
    "sdiv": {"f": "fdiv {F}{T}"},
    "lt": {"f": "fcmp {F}olt {T}", "i": "icmp slt {T}", "u": "icmp ult {T}", "b": "icmp ult {T}"},
    "le": {"f": "fcmp {F}ole {T}", "i": "icmp sle {T}", "u": "icmp ule {T}", "b": "icmp ule {T}"},
    "gt": {"f": "fcmp {F}ogt {T}", "i": "icmp sgt {T}", "u": "icmp ugt {T}", "b": "icmp ugt {T}"},
    "ge": {"f": "fcmp {F}oge {T}", "i": "icmp sge {T}", "u": "icmp uge {T}", "b": "icmp uge {T}"},
    "eq": {"f": "fcmp {F}oeq {T}", "i": "icmp eq {T}", "u": "icmp eq {T}", "b": "icmp eq {T}"},
    "ne": {"f": "fcmp {F}une {T}", "i": "icmp ne {T}", "u": "icmp ne {T}", "b": "icmp ne {T}"},
    "and": {"i": "and {T}", "u": "and {T}", "b": "and {T}"},
    "or": {"i": "or {T}", "u": "or {T}", "b": "or {T}"},
    "xor": {"i": "xor {T}", "u": "xor {T}", "b": "xor {T}"},
}

# Checked integer arithmetic: LLVM's intrinsics that also give an overflow bit.
CHECKED = {"cadd": "sadd", "csub": "ssub", "cmul": "smul"}
_SYMBOLS = {"sadd": "+", "ssub": "-", "smul": "*"}


@lowers(*BINARY)
def binary(e: FunctionLowering, instr: Instr) -> None:
    x, y = instr.operands
    scalar, type = scalar_type(x), e.llvm_type(x)
    template = BINARY[instr.op].get(scalar.kind)
    if template is None:
        raise LoweringError(f"{instr.op} on {scalar}")
    nsw = "nsw " if instr.attrs.get("nsw") else ""
    text = template.replace("{F}", e.flags(instr)).replace("{N}", nsw).replace("{T}", type)
    e.define(instr, [e.let(f"{text} {e.value(x)}, {e.value(y)}", instr.result.name)])


@lowers(*CHECKED, fails=True)
def checked_binary(e: FunctionLowering, instr: Instr) -> None:
    e.define(instr, [checked(e, CHECKED[instr.op], *map(e.value, instr.operands))])


def checked(e: FunctionLowering, operation: str, x: str, y: str, symbol: str | None = None) -> str:
    both = e.with_overflow(operation, x, y)
    overflow = e.let(f"extractvalue {{i64, i1}} {both}, 1")
    e.check(
        e.let(f"xor i1 {overflow}, true"),
        e.site(departing("OverflowError"), past_64_bits(symbol or _SYMBOLS[operation])),
    )
    return e.let(f"extractvalue {{i64, i1}} {both}, 0", e.instr.results[0].name)


@lowers("cneg", fails=True)
def cneg(e: FunctionLowering, instr: Instr) -> None:
    e.define(instr, [checked(e, "ssub", "0", e.value(instr.operands[0]))])


@lowers("ipow", fails=True)
def ipow(e: FunctionLowering, instr: Instr) -> None:
    x, n = instr.operands
    if isinstance(n, Const) and n.value == 2:
        e.define(instr, [checked(e, "smul", e.value(x), e.value(x), "**")])
        return
    callee = e.module.external("zyg_ipow", "{i64, i1}", "i64, i64", MATH)
    both = e.call("{i64, i1}", callee, e.typed(x), e.typed(n), attributes=MATH)
    overflow = e.let(f"extractvalue {{i64, i1}} {both}, 1")
    e.check(e.let(f"xor i1 {overflow}, true"), e.site(departing("OverflowError"), past_64_bits("**")))
    e.define(instr, [e.let(f"extractvalue {{i64, i1}} {both}, 0", instr.result.name)])


@lowers("neg")
def neg(e: FunctionLowering, instr: Instr) -> None:
    operand = instr.operands[0]
    scalar, type, x = scalar_type(operand), e.llvm_type(operand), e.value(operand)
    text = f"fneg {e.flags(instr)}{type} {x}" if scalar.kind == "f" else f"sub {type} 0, {x}"
    e.define(instr, [e.let(text, instr.result.name)])


@lowers("abs")
def abs_(e: FunctionLowering, instr: Instr) -> None:
    operand = instr.operands[0]
    scalar, type, x = scalar_type(operand), e.llvm_type(operand), e.value(operand)
    if scalar.kind == "u":
        e.define(instr, [x])
    elif scalar.kind == "f":
        e.define(instr, [e.math_intrinsic("fabs", type, x, flags=e.flags(instr), hint=instr.result.name)])
    else:
        name = e.module.intrinsic(f"llvm.abs.{type}", type, f"{type}, i1 immarg")
        e.define(instr, [e.let(f"call {type} {name}({type} {x}, i1 false)", instr.result.name)])


@lowers("fmin")
def fmin(e: FunctionLowering, instr: Instr) -> None:
    e.define(instr, [extremum(e, instr, "olt")])


@lowers("fmax")
def fmax(e: FunctionLowering, instr: Instr) -> None:
    e.define(instr, [extremum(e, instr, "ogt")])


def extremum(e: FunctionLowering, instr: Instr, comparison: str) -> str:
    """y if it is better, or if x is a nan; LLVM's own minnum leaves open which zero comes out."""
    x, y = map(e.value, instr.operands)
    type, fast = e.llvm_type(instr.operands[0]), e.flags(instr)
    better = e.let(f"fcmp {fast}{comparison} {type} {y}, {x}")
    chosen = e.let(f"select {fast}i1 {better}, {type} {y}, {type} {x}")
    nan = e.let(f"fcmp {fast}uno {type} {x}, {x}")
    return e.let(f"select {fast}i1 {nan}, {type} {y}, {type} {chosen}", instr.result.name)


@lowers("not")
def not_(e: FunctionLowering, instr: Instr) -> None:
    e.define(instr, [e.let(f"xor i1 {e.value(instr.operands[0])}, true", instr.result.name)])


@lowers("invert")
def invert(e: FunctionLowering, instr: Instr) -> None:
    e.define(instr, [e.let(f"xor {e.typed(instr.operands[0])}, -1", instr.result.name)])


@lowers("shl")
def shl(e: FunctionLowering, instr: Instr) -> None:
    # LLVM leaves a shift by 64 or more open; all bits are lost then.
    x, n = instr.operands
    shifted = e.let(f"shl {e.typed(x)}, {e.value(n)}")
    type = e.llvm_type(x)
    fits = e.let(f"icmp ult {type} {e.value(n)}, {type[1:]}")
    e.define(instr, [e.let(f"select i1 {fits}, {type} {shifted}, {type} 0", instr.result.name)])


@lowers("shr")
def shr(e: FunctionLowering, instr: Instr) -> None:
    x, n = instr.operands
    operation = "lshr" if x.type is U8 else "ashr"
    e.define(instr, [e.let(f"{operation} {e.typed(x)}, {e.value(n)}", instr.result.name)])


@lowers("select")
def select(e: FunctionLowering, instr: Instr) -> None:
    condition, x, y = instr.operands
    c = e.value(condition)
    types = component_types([x.type])
    fast = e.flags(instr) if types[0] in ("double", "float") else ""
    e.define(
        instr,
        [
            e.let(f"select {fast}i1 {c}, {t} {a}, {t} {b}", instr.result.name)
            for t, a, b in zip(types, e.components_of(x), e.components_of(y), strict=True)
        ],
    )


@lowers("slope")
def slope(e: FunctionLowering, instr: Instr) -> None:
    e.define(instr, e.components_of(instr.operands[0]))


@lowers("stop")
def stop(e: FunctionLowering, instr: Instr) -> None:
    e.define(instr, e.components_of(instr.operands[0]))


@lowers("undefined")
def undefined(e: FunctionLowering, instr: Instr) -> None:
    # Stacks are empty and arrays are nobody's, since both may be released; all else is never looked at.
    null = isinstance(instr.result.type, (Stack, Tape))
    parts = components(instr.result.type)
    e.define(instr, ["null" if null or suffix == ".o" else "poison" for suffix, _ in parts])


@lowers("cast")
def cast(e: FunctionLowering, instr: Instr) -> None:
    value = instr.operands[0]
    e.define(instr, [convert(e, e.value(value), scalar_type(value), scalar_type(instr.result), instr.result.name)])


def convert(e: FunctionLowering, x: str, source: Scalar, target: Scalar, hint: str = "t") -> str:
    """Between scalar types, as C has it; to bool by comparison with zero."""
    if source is target:
        return x
    a, b = SCALAR_TYPES[source], SCALAR_TYPES[target]
    if target is BOOL:
        zero = literal(0, source)
        return e.let(f"fcmp une {a} {x}, {zero}" if source.kind == "f" else f"icmp ne {a} {x}, {zero}", hint)
    if source.kind == "f" and target.kind == "f":
        return e.let(f"{'fptrunc' if target is F32 else 'fpext'} {a} {x} to {b}", hint)
    if source.kind == "f":
        # Out of range the result is unspecified, but `freeze` makes it one value instead of undefined behaviour.
        number = e.let(f"{'fptoui' if target.kind == 'u' else 'fptosi'} {a} {x} to {b}")
        return e.let(f"freeze {b} {number}", hint)
    unsigned = source.kind in "ub"
    if target.kind == "f":
        return e.let(f"{'uitofp' if unsigned else 'sitofp'} {a} {x} to {b}", hint)
    if target.bits > source.bits:
        return e.let(f"{'zext' if unsigned else 'sext'} {a} {x} to {b}", hint)
    return e.let(f"trunc {a} {x} to {b}", hint) if target.bits < source.bits else x


@lowers("floordiv")
def floordiv(e: FunctionLowering, instr: Instr) -> None:
    x, y = instr.operands
    scalar, type = scalar_type(x), e.llvm_type(x)
    if scalar.kind == "f":
        e.define(instr, [float_divmod(e, x, y)[0]])
    elif scalar.kind == "u":
        e.define(instr, [e.let(f"udiv {e.typed(x)}, {e.value(y)}", instr.result.name)])
    elif isinstance(y, Const) and y.value > 0 and y.value & (y.value - 1) == 0:
        shift = y.value.bit_length() - 1
        e.define(instr, [e.let(f"ashr {e.typed(x)}, {shift}", instr.result.name)])
    else:
        # The quotient towards zero, less one if there is a remainder of the other sign.  -2**63 // -1 wraps.
        a, b = e.value(x), e.value(y)
        minus_one = e.let(f"icmp eq {type} {b}, -1")
        safe = e.let(f"select i1 {minus_one}, {type} 1, {type} {b}")
        quotient = e.let(f"sdiv {type} {a}, {safe}")
        remainder = e.let(f"srem {type} {a}, {safe}")
        inexact = e.let(f"icmp ne {type} {remainder}, 0")
        signs = e.let(f"xor {type} {remainder}, {b}")
        differ = e.let(f"icmp slt {type} {signs}, 0")
        lower = e.let(f"and i1 {inexact}, {differ}")
        less = e.let(f"sext i1 {lower} to {type}")
        floored = e.let(f"add {type} {quotient}, {less}")
        negated = e.let(f"sub {type} 0, {a}")
        text = f"select i1 {minus_one}, {type} {negated}, {type} {floored}"
        e.define(instr, [e.let(text, instr.result.name)])


@lowers("mod")
def mod(e: FunctionLowering, instr: Instr) -> None:
    x, y = instr.operands
    scalar, type = scalar_type(x), e.llvm_type(x)
    if scalar.kind == "f":
        e.define(instr, [float_divmod(e, x, y)[1]])
    elif scalar.kind == "u":
        e.define(instr, [e.let(f"urem {e.typed(x)}, {e.value(y)}", instr.result.name)])
    elif isinstance(y, Const) and y.value > 0 and y.value & (y.value - 1) == 0:
        e.define(instr, [e.let(f"and {e.typed(x)}, {y.value - 1}", instr.result.name)])
    else:
        a, b = e.value(x), e.value(y)
        minus_one = e.let(f"icmp eq {type} {b}, -1")
        safe = e.let(f"select i1 {minus_one}, {type} 1, {type} {b}")
        remainder = e.let(f"srem {type} {a}, {safe}")
        inexact = e.let(f"icmp ne {type} {remainder}, 0")
        signs = e.let(f"xor {type} {remainder}, {safe}")
        differ = e.let(f"icmp slt {type} {signs}, 0")
        other = e.let(f"and i1 {inexact}, {differ}")
        more = e.let(f"select i1 {other}, {type} {safe}, {type} 0")
        e.define(instr, [e.let(f"add {type} {remainder}, {more}", instr.result.name)])


def float_divmod(e: FunctionLowering, x: Value, y: Value) -> tuple[str, str]:
    """Quotient and remainder as CPython's float_divmod computes them; y is not 0."""
    type = e.llvm_type(x)
    a, b = e.value(x), e.value(y)
    zero, one, half = (literal(c, x.type) for c in (0.0, 1.0, 0.5))
    name = "fmodf" if x.type is F32 else "fmod"
    fmod = e.module.external(name, type, f"{type}, {type}", MATH)
    r = e.call(type, fmod, f"{type} {a}", f"{type} {b}", attributes=MATH)
    q = e.let(f"fsub {type} {a}, {r}")
    q = e.let(f"fdiv {type} {q}, {b}")
    exact = e.let(f"fcmp oeq {type} {r}, {zero}")
    negative_y = e.let(f"fcmp olt {type} {b}, {zero}")
    negative_r = e.let(f"fcmp olt {type} {r}, {zero}")
    differ = e.let(f"xor i1 {negative_y}, {negative_r}")
    adjusted = e.let(f"fadd {type} {r}, {b}")
    less = e.let(f"fsub {type} {q}, {one}")
    adjusted = e.let(f"select i1 {differ}, {type} {adjusted}, {type} {r}")
    less = e.let(f"select i1 {differ}, {type} {less}, {type} {q}")
    signed_zero = e.math_intrinsic("copysign", type, zero, b)
    remainder = e.let(f"select i1 {exact}, {type} {signed_zero}, {type} {adjusted}", e.instr.result.name)
    q = e.let(f"select i1 {exact}, {type} {q}, {type} {less}")
    floored = e.math_intrinsic("floor", type, q)
    gap = e.let(f"fsub {type} {q}, {floored}")
    nearer = e.let(f"fcmp ogt {type} {gap}, {half}")
    up = e.let(f"fadd {type} {floored}, {one}")
    floored = e.let(f"select i1 {nearer}, {type} {up}, {type} {floored}")
    ratio = e.let(f"fdiv {type} {a}, {b}")
    signed_zero = e.math_intrinsic("copysign", type, zero, ratio)
    is_zero = e.let(f"fcmp oeq {type} {q}, {zero}")
    quotient = e.let(f"select i1 {is_zero}, {type} {signed_zero}, {type} {floored}", e.instr.result.name)
    return quotient, remainder
