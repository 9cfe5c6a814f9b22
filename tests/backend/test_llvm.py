"""The native back end op by op, on IR text: against CPython's own functions, NumPy and the interpreter."""

from __future__ import annotations

import math
import operator
import random
import re

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn
from zyg.backend.llvm import matrixmath, runtime, vectormath
from zyg.backend.llvm.boxing import TYPE_NUMBERS
from zyg.backend.llvm.engine import engine
from zyg.backend.llvm.lowered import LoweringError
from zyg.backend.llvm.lowering.mathematics import OWN_MATH
from zyg.backend.llvm.lowering.registry import lowered_ops
from zyg.backend.llvm.text import literal, symbol
from zyg.ir.interpret import run
from zyg.ir.ops import OPS
from zyg.ir.options import Options
from zyg.ir.trace import digamma_of, trigamma_of
from zyg.ir.types import BOOL, F32, F64, I32, I64, NONE, U8, Array, NpScalar, Tuple

from .native import compile_text, native, parse

pytestmark = each_in_turn


VECTOR = Array(F64, 1)
SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, 1e-320, -1e-320, 5e-324, 2.2250738585072014e-308, 1e308, -1e308, math.inf,
    -math.inf, math.nan, 1e-20, 1e20, 709.8, -745.2, 170.6, 171.7, -0.9999999, 4.49e307, 1.7e308,
]  # fmt: skip


def function(op: str, types, result, attrs: str = "") -> object:
    params = ", ".join(f"%x{k}: {t}" for k, t in enumerate(types))
    args = ", ".join(f"%x{k}" for k in range(len(types)))
    text = f"func @f({params}) -> {result} {{\nentry:\n  %y = {op} {args}{attrs} : {result}\n  return %y\n}}"
    return native(text, tuple(types), result)


def same(x, y) -> bool:
    if isinstance(x, float):
        return x.hex() == y.hex() or (math.isnan(x) and math.isnan(y))
    return x == y and type(x) is type(y)


def test_no_name_stands_for_two_functions():
    """Parts of the runtime and kernels share the names by which compiled code is linked to them."""
    names = [name for symbols in runtime.PARTS.values() for name in symbols]
    names += [f"zyg_{name}" for name in OWN_MATH] + [*vectormath.NAMES, *matrixmath.NAMES]
    assert len(set(names)) == len(names)


def test_every_machine_op_is_lowered():
    machine = {name for name, op in OPS.items() if op.level == "machine"}
    # `reraise` is for objects, `apply` is written out as loops (ir/passes/expand.py).
    assert machine - lowered_ops() == {"reraise", "apply"}


# ------------------------------------------------------------------------------------------------- mathematics

LIKE_CPYTHON = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "erf",
    "erfc",
    "cbrt",
    "sqrt",
    "gamma",
    "lgamma",
]


def samples(seed: int, count: int = 300) -> list[float]:
    r = random.Random(seed)
    return (
        SPECIAL
        + [r.gauss(0, 3) for _ in range(count)]
        + [r.uniform(-1, 1) * 10 ** r.uniform(-300, 300) for _ in range(count)]
    )


@pytest.mark.parametrize("name", LIKE_CPYTHON)
def test_functions_of_one_number_are_those_of_cpython(name):
    f, reference = function(name, [F64], F64), getattr(math, name)
    for x in samples(1):
        try:
            expected = reference(x)
        except (ValueError, OverflowError):
            continue  # CPython raises; inference puts a guard there
        assert same(expected, f(x)), x


@pytest.mark.parametrize("name", ["pow", "atan2", "fmod", "remainder", "copysign", "nextafter", "hypot"])
def test_functions_of_two_numbers_are_those_of_cpython(name):
    f, reference = function(name, [F64, F64], F64), getattr(math, name)
    xs, ys = samples(2), samples(3)
    random.Random(4).shuffle(ys)
    for x, y in [*zip(xs, ys), *((a, b) for a in SPECIAL for b in SPECIAL)]:
        try:
            expected = reference(x, y)
        except (ValueError, OverflowError):
            continue
        if name == "hypot" and 0 < max(abs(x), abs(y)) < 2.3e-308:
            continue  # of subnormal numbers CPython's own versions differ in the last bit
        assert same(expected, f(x, y)), (x, y)


@pytest.mark.parametrize(("op", "reference"), [("digamma", digamma_of), ("trigamma", trigamma_of)])
def test_polygamma(op, reference):
    f = function(op, [F64], F64)
    for x in [r for r in samples(5) if 1e-100 < abs(r) < 1e6]:
        assert f(x) == pytest.approx(reference(x), rel=1e-11, nan_ok=True), x
    assert f(1.0) == pytest.approx({"digamma": -0.5772156649015329, "trigamma": math.pi**2 / 6}[op], rel=1e-15)


@pytest.mark.parametrize("op", ["floordiv", "mod"])
def test_floor_division_of_floats(op):
    f, reference = function(op, [F64, F64], F64), getattr(operator, op)
    for x in SPECIAL + samples(6, 50):
        for y in [v for v in SPECIAL if v != 0]:
            assert same(reference(x, y), f(x, y)), (x, y)


@pytest.mark.parametrize("op", ["floordiv", "mod"])
def test_floor_division_of_ints(op):
    f, reference = function(op, [I64, I64], I64), getattr(operator, op)
    edges = [0, 1, -1, 2, -2, 7, -7, 2**63 - 1, -(2**63), 12345, -98765]
    for x in edges:
        for y in edges:
            if y != 0 and (x, y, op) != (-(2**63), -1, "floordiv"):
                assert f(x, y) == reference(x, y), (x, y)
        for constant in (1, 2, 8, 3, -4, -1):
            text = f"func @f(%x: i64) -> i64 {{\nentry:\n  %y = {op} %x, {constant} : i64\n  return %y\n}}"
            if x != -(2**63):
                assert native(text, (I64,), I64)(x) == reference(x, constant)
    assert function("floordiv", [I64, I64], I64)(-(2**63), -1) == -(2**63)  # wraps


@pytest.mark.parametrize(
    "op",
    ["fmin", "fmax", "minimum", "maximum", "abs", "neg", "floor", "ceil", "trunc", "rint", "add", "sub", "mul", "div"],
)
def test_floats_against_the_interpreter(op):
    count = {"fmin": 2, "fmax": 2, "minimum": 2, "maximum": 2, "add": 2, "sub": 2, "mul": 2, "div": 2}.get(op, 1)
    f = function(op, [F64] * count, F64)
    for x in SPECIAL:
        for y in SPECIAL if count == 2 else [0.0]:
            expected = OPS[op].eval(*[x, y][:count])
            assert same(float(expected), f(*[x, y][:count])), (x, y)


@pytest.mark.parametrize("op", ["lt", "le", "eq", "ne", "gt", "ge"])
def test_comparisons(op):
    reference = getattr(operator, op)
    floats, ints, bools = (function(op, [t, t], BOOL) for t in (F64, I64, BOOL))
    for x in SPECIAL:
        assert all(floats(x, y) is reference(x, y) for y in SPECIAL)
    for x in (-(2**63), -1, 0, 5, 2**63 - 1):
        assert all(ints(x, y) is reference(x, y) for y in (-(2**63), -1, 0, 5, 2**63 - 1))
    for x in (False, True):
        assert all(bools(x, y) is reference(x, y) for y in (False, True))


@pytest.mark.parametrize("op", ["and", "or", "xor", "shl", "shr", "add", "sub", "mul", "invert", "neg", "abs"])
def test_ints_wrap(op):
    unary = op in ("invert", "neg", "abs")
    f = function(op, [I64] if unary else [I64, I64], I64)
    for x in (0, 1, -1, 2**62, -(2**62), 2**63 - 1, 12345, -98765):
        for y in (0, 1, 3, 17, 63):
            args = (x,) if unary else (x, y)
            assert f(*args) == (OPS[op].eval(*args) + 2**63) % 2**64 - 2**63, args


@pytest.mark.parametrize(("op", "reference"), [
    ("cadd", operator.add), ("csub", operator.sub), ("cmul", operator.mul), ("ipow", operator.pow),
])  # fmt: skip
def test_checked_ints_raise(op, reference):
    f = function(op, [I64, I64], I64)
    for x in (0, 1, -1, 2, -3, 10, 2**31, -(2**31), 2**62, 2**63 - 1, -(2**63)):
        for y in (0, 1, 2, 3, 5, 31, 63) if op == "ipow" else (0, 1, -1, 5, 2**31, 2**62, 2**63 - 1, -(2**63)):
            exact = reference(x, y)
            if -(2**63) <= exact < 2**63:
                assert f(x, y) == exact
            else:
                with pytest.raises(OverflowError, match="does not fit into 64 bits"):
                    f(x, y)
    with pytest.raises(OverflowError):
        function("cneg", [I64], I64)(-(2**63))


def test_casts():
    for source, target, pairs in [
        (I64, F64, [(3, 3.0), (-(2**63), -(2.0**63)), (2**53 + 1, float(2**53 + 1))]),
        (F64, I64, [(3.9, 3), (-3.9, -3), (0.0, 0)]),
        (BOOL, F64, [(True, 1.0), (False, 0.0)]),
        (BOOL, I64, [(True, 1), (False, 0)]),
        (I64, BOOL, [(0, False), (-7, True)]),
        (F64, BOOL, [(0.0, False), (-0.0, False), (math.nan, True), (1e-320, True)]),
    ]:
        f = function("cast", [source], target)
        for given, expected in pairs:
            assert same(f(given), expected), (source, target, given)
    single = native("func @f(%x: f64) -> f32 {\nentry:\n  %y = cast %x : f32\n  return %y\n}", (F64,), NpScalar(F32))
    assert single(0.1) == np.float32(0.1) and type(single(0.1)) is np.float32
    narrow = native("func @f(%x: i64) -> i32 {\nentry:\n  %y = cast %x : i32\n  return %y\n}", (I64,), NpScalar(I32))
    assert narrow(2**31 - 1) == 2**31 - 1 and type(narrow(1)) is np.int32
    byte = native("func @f(%x: i64) -> u8 {\nentry:\n  %y = cast %x : u8\n  return %y\n}", (I64,), NpScalar(U8))
    assert byte(200) == 200


def test_power_is_the_librarys():
    # LLVM would make it x * x, which differs in the last bit for one x in a thousand.
    f = native("func @f(%x: f64) -> f64 {\nentry:\n  %y = pow %x, 2.0 : f64\n  return %y\n}", (F64,), F64)
    r = random.Random(0)
    numbers = [r.uniform(-10, 10) for _ in range(20000)]
    assert all(f(x) == x**2.0 for x in numbers)


def test_fast_flags_reach_llvm():
    module = parse("func @f(%x: f64) -> f64 {\nentry:\n  %y = add %x, 1.0 : f64\n  return %y\n}")
    module.functions["f"].blocks[0].instrs[0].attrs["fast"] = frozenset({"nnan", "reassoc"})
    assert "fadd nnan reassoc double" in compile_text(module, (F64,), F64).llvm


def test_names_and_literals():
    assert symbol("a.b") == "@a.b"
    assert symbol('<lambda>"ä') == '@"<lambda>\\22\\C3\\A4"'
    assert literal(math.nan, F64) == "0x7FF8000000000000"
    assert literal(1e300, F32) == literal(math.inf, F64)
    text = "func @<lambda>(%x: f64) -> f64 {\nentry:\n  return %x\n}"
    assert native(text, (F64,), F64)(2.0) == 2.0


def test_type_numbers():
    assert TYPE_NUMBERS[I64][0] == np.dtype(np.int64).num
    assert {np.dtype("l").num, np.dtype("q").num} == set(TYPE_NUMBERS[I64])


def test_objects_are_refused():
    with pytest.raises((TypeError, LoweringError), match="object"):
        compile_text("func @f(%x: object) -> object {\nentry:\n  return %x\n}", (F64,), F64)


# --------------------------------------------------------------------------------------- what LLVM makes of it


def instructions(text: str) -> list[str]:
    """The instructions in LLVM's printout of a function."""
    body = text[text.index("{\n", text.index("define")) :]
    return [line.strip() for line in body.splitlines() if line.startswith("  ")]


def test_a_function_that_cannot_fail_returns_its_result():
    code = compile_text("func @f(%x: f64) -> f64 {\nentry:\n  return 5.0\n}", (F64,), F64).llvm_optimised
    assert instructions(code) == ["ret double 5.000000e+00"]


def test_loops_are_vectorised_with_vector_mathematics():
    text = """
    func @f(%a: array<f64, 1, C>, %b: array<f64, 1, C>) -> i64 {noalias=(0, 1)} {
    entry:
      %n = dim %a {axis=0} : i64
      jump loop(0)
    loop(%i: i64):
      %more = lt %i, %n : bool
      branch %more, body, done
    body:
      %v = load %a, %i : f64
      %e = exp %v {vectormath=true} : f64
      store %b, %e, %i
      %i1 = add %i, 1 : i64
      jump loop(%i1)
    done:
      return %n
    }"""
    compiled = compile_text(text, (VECTOR, VECTOR), I64)
    assert "vector.body" in compiled.llvm_optimised
    assert "memcheck" not in compiled.llvm_optimised  # it was told that they do not overlap
    variants = [symbol for _, symbol in engine().vector_variants("exp", 1, False)]
    assert any(symbol in compiled.asm for symbol in variants) == bool(variants)
    strict = compile_text(text, (VECTOR, VECTOR), I64, options=Options(vectormath=False))
    assert not any(symbol in strict.asm for symbol in variants)
    x, y = np.linspace(-3, 3, 1001), np.empty(1001)
    native(text, (VECTOR, VECTOR), I64)(x, y)
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-15)
    native(text, (VECTOR, VECTOR), I64, options=Options(vectormath=False))(x, y)
    assert all(a == math.exp(b) for a, b in zip(y, x))


def test_reductions_keep_their_order():
    text = """
    func @f(%a: array<f64, 1, C>) -> f64 {
    entry:
      %n = dim %a {axis=0} : i64
      jump loop(0, 0.0)
    loop(%i: i64, %s: f64):
      %more = lt %i, %n : bool
      branch %more, body, done
    body:
      %v = load %a, %i : f64
      %t = add %s, %v : f64
      %i1 = add %i, 1 : i64
      jump loop(%i1, %t)
    done:
      return %s
    }"""
    f = native(text, (VECTOR,), F64)
    x = np.random.default_rng(0).normal(size=1000) * 10.0 ** np.arange(1000) ** 0.3
    total = 0.0
    for v in x.tolist():
        total += v
    assert f(x) == total


# ------------------------------------------------------------------------------------------------- control flow


def test_two_edges_to_one_block():
    text = """
    func @f(%c: bool, %k: i64) -> i64 {
    entry:
      branch %c, join(1), join(2)
    join(%x: i64):
      switch %k, end(%x), end(10), end(20)
    end(%y: i64):
      return %y
    }"""
    f = native(text, (BOOL, I64), I64)
    assert [f(c, k) for c in (True, False) for k in (0, 1, 2, -5)] == [1, 10, 20, 20, 2, 10, 20, 20]


def test_calls_with_several_results():
    text = """
    func @f(%x: f64, %n: i64) -> (f64, f64, i64) {
    entry:
      %a, %b = call %x, %n {callee="two"} : f64, f64
      call %a {callee="none"}
      return %b, %a, %n
    }
    func @two(%x: f64, %n: i64) -> (f64, f64) {
    entry:
      %y = cast %n : f64
      %z = add %x, %y : f64
      return %z, %y
    }
    func @none(%x: f64) {
    entry:
      %ok = gt %x, 0.0 : bool
      guard %ok {exc="ValueError", message="not positive"}
      return
    }"""
    f = native(text, (F64, I64), Tuple((F64, F64, I64)))
    assert f(1.5, 2) == (2.0, 3.5, 2)
    with pytest.raises(ValueError, match="not positive"):
        f(-5.0, 2)


def test_nothing_in_nothing_out():
    assert native("func @f() {\nentry:\n  return\n}", (), NONE)() is None


# ----------------------------------------------------------------------------------------------- stacks, tapes

POWER = """
    func @f(%x: f64, %n: i64) -> (f64, f64) {
    entry:
      %s = stack : stack<f64>
      jump loop(1.0, 0)
    loop(%r: f64, %i: i64):
      %more = lt %i, %n : bool
      branch %more, body, turn
    body:
      push %s, %r
      %r1 = mul %r, %x : f64
      %i1 = add %i, 1 : i64
      jump loop(%r1, %i1)
    turn:
      jump back(1.0, 0.0, %n)
    back(%d: f64, %dx: f64, %k: i64):
      %left = gt %k, 0 : bool
      branch %left, undo, done
    undo:
      %p = pop %s : f64
      %g = mul %d, %p : f64
      %dx1 = add %dx, %g : f64
      %d1 = mul %d, %x : f64
      %k1 = sub %k, 1 : i64
      jump back(%d1, %dx1, %k1)
    done:
      drop %s
      return %r, %dx
    }"""
RESERVED = (
    POWER.replace("jump loop(1.0, 0)", "reserve %s, %n\n      jump loop(1.0, 0)")
    .replace("push %s, %r", "push %s, %r {unchecked=true}")
    .replace("pop %s :", "pop %s {unchecked=true} :")
    .replace("jump back(1.0, 0.0, %n)", "rewind %s, %n\n      jump back(1.0, 0.0, %n)")
)


@pytest.mark.parametrize("text", [POWER, RESERVED], ids=["checked", "reserved"])
def test_stack_of_a_loop(text):
    f = native(text, (F64, I64), Tuple((F64, F64)))
    for n in (0, 1, 2, 5, 63, 64, 65, 1000, 100_000):
        x = 1.0 + 1e-5
        value, slope = f(x, n)
        assert value == pytest.approx(x**n, rel=1e-9)
        assert slope == pytest.approx(n * x ** (n - 1), rel=1e-9)
    assert f(1.0, -3) == (1.0, 0.0)


def test_reserve_of_absurd_sizes():
    f = native(RESERVED, (F64, I64), Tuple((F64, F64)))
    for n in (2**60, 2**61, 2**62, 2**63 - 1, 10**14):
        with pytest.raises(MemoryError):
            f(1.0, n)
    assert f(2.0, 5) == (32.0, 80.0)


def test_stack_of_arrays_and_bools():
    text = """
    func @f(%a: array<f64, 1, A>, %n: i64) -> f64 {
    entry:
      %s = stack : stack<array<f64, 1, A>>
      %e = stack : stack<bool>
      jump loop(0)
    loop(%i: i64):
      %more = lt %i, %n : bool
      branch %more, body, turn
    body:
      %v = view %a, %i, 2, 1 {spec="s"} : array<f64, 1, A>
      %r = mod %i, 3 : i64
      %t = eq %r, 0 : bool
      push %s, %v
      push %e, %t
      %i1 = add %i, 1 : i64
      jump loop(%i1)
    turn:
      jump back(%n, 0.0)
    back(%k: i64, %sum: f64):
      %left = gt %k, 0 : bool
      branch %left, undo, done
    undo:
      %v2 = pop %s : array<f64, 1, A>
      %t2 = pop %e : bool
      %x = load %v2, 1 : f64
      %y = select %t2, %x, 0.0 : f64
      %sum1 = add %sum, %y : f64
      %k1 = sub %k, 1 : i64
      jump back(%k1, %sum1)
    done:
      return %sum
    }"""
    f = native(text, (Array(F64, 1, "A"), I64), F64)
    a = np.arange(2002.0)[::2]
    assert f(a, 1000) == sum(2.0 * (i + 1) for i in range(1000) if i % 3 == 0)


def test_a_cursor_reads_again():
    text = """
    func @f(%x: f64) -> (f64, f64) {
    entry:
      %s = stack : stack<f64>
      push %s, %x
      push %s, 2.0
      %c = cursor %s : stack<f64>
      %a = pop %c : f64
      %b = pop %c : f64
      %a2 = pop %s : f64
      %b2 = pop %s : f64
      %p = add %a, %b2 : f64
      %q = add %b, %a2 : f64
      return %p, %q
    }"""
    assert native(text, (F64,), Tuple((F64, F64)))(5.0) == (7.0, 7.0)


def test_recursion_shares_a_tape():
    text = """
    func @f(%n: i64) -> i64 {
    entry:
      %t = tape : tape
      call %t, %n {callee="down"}
      %sum = call %t, %n {callee="up"} : i64
      return %sum
    }
    func @down(%t: tape, %n: i64) {
    entry:
      %more = gt %n, 0 : bool
      branch %more, again, done
    again:
      %m = sub %n, 1 : i64
      call %t, %m {callee="down"}
      %x = cast %n : f64
      push %t, %n, %x, true
      jump done
    done:
      return
    }
    func @up(%t: tape, %n: i64) -> i64 {
    entry:
      %more = gt %n, 0 : bool
      branch %more, again, done(0)
    again:
      %k, %x, %c = pop %t : i64, f64, bool
      %m = sub %n, 1 : i64
      %rest = call %t, %m {callee="up"} : i64
      %y = cast %x : i64
      %both = add %k, %y : i64
      %sum = add %rest, %both : i64
      jump done(%sum)
    done(%r: i64):
      return %r
    }"""
    f = native(text, (I64,), I64)
    assert [f(n) for n in (0, 1, 10, 3000)] == [n * (n + 1) for n in (0, 1, 10, 3000)]


def test_recursion_without_end():
    text = """
    func @f(%x: f64) -> f64 {
    entry:
      %y = add %x, 1.0 : f64
      %r = call %y {callee="f"} : f64  # deep.py:7:4-7:12 deep
      %s = sin %r : f64
      return %s
    }"""
    f = native(text, (F64,), F64)
    for _ in range(3):
        with pytest.raises(RecursionError):
            f(0.0)


# ------------------------------------------------------------------------------------------------------- arrays

ELEMENTWISE = """
    func @f(%a: array<f64, 2, A>, %b: array<f64, 2, A>, %x: f64) -> i64 {
    entry:
      OP
      return 0
    }"""


def both(text: str, types, *args):
    """The arguments after the machine code ran, which must agree with what the interpreter makes of them."""
    ours, theirs = [np.copy(a) if isinstance(a, np.ndarray) else a for a in args], list(args)
    native(text, types, I64)(*theirs)
    run(parse(text), *ours)
    return theirs, ours


@pytest.mark.parametrize("op", ["fill %a, %x", "copyto %a, %b", "addto %a, %b"])
@pytest.mark.parametrize("view", [np.s_[:, :], np.s_[::-1, ::2], np.s_[1:1, :], np.s_[:1, 2:]])
def test_whole_array_ops(op, view):
    a, b = np.arange(24.0).reshape(4, 6), np.arange(24.0).reshape(6, 4).T * 10
    types = (Array(F64, 2, "A"), Array(F64, 2, "A"), F64)
    theirs, ours = both(ELEMENTWISE.replace("OP", op), types, a[view], b[view], 1.5)
    np.testing.assert_array_equal(theirs[0], ours[0])


@pytest.mark.parametrize(("to", "source"), [(np.s_[1:], np.s_[:-1]), (np.s_[:-1], np.s_[1:]), (np.s_[:], np.s_[::-1])])
def test_copying_within_an_array(to, source):
    text = "func @f(%a: array<f64, 1, A>, %b: array<f64, 1, A>) -> i64 {\nentry:\n  copyto %a, %b\n  return 0\n}"
    f = native(text, (Array(F64, 1, "A"),) * 2, I64)
    a = np.arange(10.0)
    expected = a.copy()
    expected[to] = a[source].copy()
    f(a[to], a[source])
    np.testing.assert_array_equal(a, expected)


def test_elements_of_every_dtype():
    for scalar, dtype, value in [(F64, "f8", 1.5), (F32, "f4", 2.5), (I64, "i8", -7), (I32, "i4", 9), (U8, "u1", 200),
                                 (BOOL, "?", True)]:  # fmt: skip
        text = f"""
        func @f(%a: array<{scalar}, 2, A>, %i: i64, %j: i64) -> {scalar} {{
        entry:
          %v = load %a, %i, %j : {scalar}
          store %a, %v, %j, %i
          return %v
        }}"""
        f = native(text, (Array(scalar, 2, "A"), I64, I64), NpScalar(scalar))
        a = np.zeros((3, 4), dtype).T
        a[2, 1] = value
        assert f(a, 2, 1) == value and a[1, 2] == value


def test_views_and_reshapes():
    text = """
    func @f(%a: array<f64, 3, C>, %k: i64) -> (array<f64, 2, A>, array<f64, 1, C>, i64, i64) {
    entry:
      %v = view %a, %k, 2, 2, -1 {spec="i:s"} : array<f64, 2, A>
      %r = reshape %a, 24 : array<f64, 1, C>
      %s = stride %v {axis=1} : i64
      %d = dim %v {axis=0} : i64
      return %v, %r, %s, %d
    }"""
    f = native(text, (Array(F64, 3), I64), Tuple((Array(F64, 2, "A"), VECTOR, I64, I64)))
    a = np.arange(24.0).reshape(2, 3, 4)
    v, r, s, d = f(a, 1)
    np.testing.assert_array_equal(v, a[1, :, 2:0:-1])
    np.testing.assert_array_equal(r, a.ravel())
    assert (s, d) == (-8, 3)
    v[0, 0] = -1.0
    assert a[1, 0, 2] == -1.0 and np.shares_memory(v, a) and np.shares_memory(r, a)


def test_overlap_and_same():
    text = """
    func @f(%a: array<f64, 1, A>, %b: array<f64, 1, A>) -> (bool, bool) {
    entry:
      %o = overlap %a, %b : bool
      %s = same %a, %b : bool
      return %o, %s
    }"""
    f = native(text, (Array(F64, 1, "A"),) * 2, Tuple((BOOL, BOOL)))
    a = np.arange(10.0)
    assert f(a, a) == (True, True)
    assert f(a[:5], a[5:]) == (False, False)
    assert f(a[:6], a[5:]) == (True, False)
    assert f(a[::-1], a[9:]) == (True, False)
    assert f(a[3:3], a) == (False, False)
    assert f(a, a.copy()) == (False, False)
    # Interleaved elements do not overlap.
    m = np.zeros((4, 5))
    for x, y in [(a[::2], a[1::2]), (m[:, 0], m[:, 1]), (m[:, 4], m[::-1, 0]), (a[::4], a[2::4]), (a[1::4], a[2::2])]:
        assert f(x, y) == (np.shares_memory(x, y), False) == (False, False)
    for x, y in [(a[::2], a[::3]), (m[:, 0], m[0]), (a[::2], a[2::4]), (m[::2, 1], m[:, 1])]:
        assert f(x, y) == (True, False) and np.shares_memory(x, y)


NEW = 'func @f(%n: i64, %m: i64) -> array<f64, 2, C> {\nentry:\n  %a = alloc %n, %m {fill="FILL"} : array<f64, 2, C>\n  return %a\n}'


def test_new_arrays():
    zeros = native(NEW.replace("FILL", "zeros"), (I64, I64), Array(F64, 2))
    for shape in [(0, 0), (0, 5), (1, 1), (3, 4), (100, 100), (300, 400)]:
        a = zeros(*shape)
        assert a.shape == shape and not a.any() and a.flags.owndata and a.flags.c_contiguous and a.flags.writeable
        a[...] = 1.0
        a.resize((3, 3), refcheck=False)  # NumPy can reallocate what it was given
    empty = native(NEW.replace("FILL", "empty"), (I64, I64), Array(F64, 2))
    assert empty(3, 4).shape == (3, 4)


@pytest.mark.parametrize("shape", [(2**40, 2**40), (2**62, 1), (2**63 - 1, 1), (2**32, 2**31), (10**7, 10**7)])
def test_absurd_arrays(shape):
    f = native(NEW.replace("FILL", "zeros"), (I64, I64), Array(F64, 2))
    with pytest.raises((MemoryError, ValueError)):
        f(*shape)


def test_arrays_released_in_a_loop_are_used_again():
    text = """
    func @f(%n: i64) -> f64 {
    entry:
      jump loop(0, 0.0)
    loop(%i: i64, %s: f64):
      %more = lt %i, %n : bool
      branch %more, body, done
    body:
      %size = mod %i, 5 : i64
      %size1 = add %size, 1 : i64
      %a = alloc %size1 {fill="zeros"} : array<f64, 1, C>
      retain %a
      %old = load %a, 0 : f64
      store %a, 1.0, 0
      %s1 = add %s, %old : f64
      release %a
      release %a
      %i1 = add %i, 1 : i64
      jump loop(%i1, %s1)
    done:
      return %s
    }"""
    f = native(text, (I64,), F64)
    assert f(1_000_000) == 0.0


def test_the_parts_of_the_runtime_define_what_they_are_listed_with():
    defined = re.compile(r"^define (?!internal)[^@]*@(\w+)\(|^@(zyg_\w+) = (?:global|constant)", re.MULTILINE)
    for part, symbols in runtime.PARTS.items():
        found = {name for match in defined.findall(runtime.text(part)) for name in match if name}
        assert found == set(symbols), part


@pytest.mark.parametrize("function", [np.sin, np.exp])
def test_sums_need_not_test_whether_new_arrays_overlap_others(function):
    """LLVM makes vectors of the loops: the gradient alone needs no sum, for which that with exp would be written in lanes."""
    if not engine().vector_variants(function.__name__, 1, False):
        pytest.skip("there is no such function of vectors")

    def f(x, y):
        z = function(x) * y
        return np.sum(z) + np.sum(z * z * x)

    text = str(zyg.code_llvm(zyg.grad(f, (0, 1)), np.ones(9), np.ones(9), optimised=True))
    assert "vector.body" in text
    assert len(re.findall(r"store <\d+ x double>", text)) >= 2  # both gradients
    assert "memcheck" not in text
