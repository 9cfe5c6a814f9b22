"""Mathematical functions: LLVM's, the C library's with their vector variants, and our own."""

from __future__ import annotations

from ....ir.core import Instr
from ....ir.types import F32, F64
from ..text import MATH
from .arithmetic import convert
from .function import FunctionLowering, scalar_type
from .registry import lowers

# Exact operations that LLVM has as intrinsics (their results are determined by IEEE 754).
INTRINSICS = {
    "sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint",
    "copysign": "copysign", "fma": "fma", "maximum": "maximum", "minimum": "minimum",
}  # fmt: skip

# Functions of the C library, which CPython's `math` calls too; with "f" appended for f32.
LIBM = frozenset(
    {
        "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "atan2",
        "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "cbrt", "pow", "fmod", "remainder",
        "nextafter", "modulus",
    }
)  # fmt: skip

C_NAMES = {"modulus": "hypot"}  # `math.hypot` is CPython's own; `abs` of a complex number is C's

# Functions that CPython computes by its own algorithms, or that no C library has: see runtime.py.
OWN_MATH = {"lgamma": 1, "gamma": 1, "digamma": 1, "trigamma": 1, "hypot": 2}


@lowers(*INTRINSICS)
def intrinsic(e: FunctionLowering, instr: Instr) -> None:
    args = [e.value(v) for v in instr.operands]
    type = e.llvm_type(instr.operands[0])
    name = INTRINSICS[instr.op]
    e.define(instr, [e.math_intrinsic(name, type, *args, flags=e.flags(instr), hint=instr.result.name)])


@lowers(*LIBM)
def library_function(e: FunctionLowering, instr: Instr) -> None:
    name = instr.op
    single = instr.operands[0].type is F32
    type = e.llvm_type(instr.operands[0])
    args = [e.typed(v) for v in instr.operands]
    own = C_NAMES.get(name, name)
    called = own + "f" * single
    if name == "pow" and not instr.attrs.get("fast"):
        # By its own name LLVM would make pow(x, 2.0) x * x, which differs in the last bit for some x.
        called = "zyg_" + called
    callee = e.module.external(called, type, ", ".join([type] * len(args)), MATH)
    variants = vector_attribute(e, called, own, len(args), single) if instr.attrs.get("vectormath") else ""
    group = e.module.group(MATH + variants)
    # A call with fast-math flags LLVM makes an intrinsic, which has no vector variants.
    flags = "" if variants else e.flags(instr)
    call = f"call {flags}{type} {callee}({', '.join(args)}) {group}"
    e.define(instr, [e.let(call, instr.result.name)])


def vector_attribute(e: FunctionLowering, called: str, name: str, arity: int, single: bool) -> str:
    """Names the vector variants of the function, so that a vectorised loop calls them."""
    variants = e.vector_variants(name, arity, single)
    if not variants:
        return ""
    lane = "float" if single else "double"
    entries = []
    for lanes, vector_name in variants:
        vector = f"<{lanes} x {lane}>"
        arguments = ", ".join([vector] * arity)
        declaration = f"declare {vector} @{vector_name}({arguments}) {e.module.group(MATH)}"
        e.module.vector_symbols[vector_name] = declaration
        entries.append(f"_ZGV_LLVM_N{lanes}{'v' * arity}_{called}({vector_name})")
    return f' "vector-function-abi-variant"="{",".join(entries)}"'


@lowers(*OWN_MATH)
def own_function(e: FunctionLowering, instr: Instr) -> None:
    """Functions of our own, in double precision."""
    name = "zyg_" + instr.op
    callee = e.module.external(name, "double", ", ".join(["double"] * OWN_MATH[instr.op]), MATH)
    args = []
    for operand in instr.operands:
        args.append("double " + convert(e, e.value(operand), scalar_type(operand), F64))
    result = e.call("double", callee, *args, attributes=MATH, hint=instr.result.name)
    e.define(instr, [convert(e, result, F64, scalar_type(instr.operands[0]))])
