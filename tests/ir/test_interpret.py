"""The interpreter: memory, stacks, calls, Python calls, exceptions, ownership."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from zyg.ir import types as t
from zyg.ir.interpret import (
    OwnershipError,
    StepLimit,
    convert,
    leaves_of,
    machine_value,
    run,
    unflatten,
)
from zyg.ir.parsing import parse_function, parse_module


def function(head: str, *lines: str):
    return parse_function("\n".join([f"func @f{head} {{", *(x if x.endswith(":") else f"  {x}" for x in lines), "}"]))


def test_arrays():
    f = function(
        "(%a: array<f64, 2, C>) -> (array<f64, 1, A>, f64, i64)",
        "entry:",
        '%v = view %a, 1, 0, 2, 2 {spec="is"} : array<f64, 1, A>',
        "store %v, 10.0, 1",
        "accum %v, 1.0, 1",
        "%x = load %a, 1, 2 : f64",
        "%s = stride %v {axis=0} : i64",
        "return %v, %x, %s",
    )
    a = np.arange(6.0).reshape(2, 3)
    v, x, stride = run(f, a)
    assert x == 11.0 and a[1, 2] == 11.0 and v.tolist() == [3.0, 11.0] and stride == 16


def test_views_backwards_and_empty():
    f = function(
        "(%a: array<f64, 1, C>, %start: i64, %length: i64, %step: i64) -> array<f64, 1, A>",
        "entry:",
        '%v = view %a, %start, %length, %step {spec="s"} : array<f64, 1, A>',
        "return %v",
    )
    a = np.arange(5.0)
    assert run(f, a, 4, 5, -1)[0].tolist() == [4, 3, 2, 1, 0]
    assert run(f, a, 4, 2, -2)[0].tolist() == [4, 2]
    assert run(f, a, 7, 0, 1)[0].tolist() == []
    with pytest.raises(AssertionError):
        run(f, a, 3, 3, 1)


def test_f32_and_small_integers_round_and_wrap():
    f = function(
        "(%x: f32, %n: i32, %k: u8) -> (f32, i32, u8)",
        "entry:",
        "%y = add %x, 0.1:f32 : f32",
        "%m = mul %n, %n : i32",
        "%l = add %k, 250:u8 : u8",
        "return %y, %m, %l",
    )
    y, m, k = run(f, 1.0, 2**20, 10)
    assert y == float(np.float32(1.0) + np.float32(0.1)) and m == 0 and k == 4


def test_guards_raise_with_formatted_messages():
    f = function(
        "(%i: i64, %c: bool)",
        "entry:",
        'guard %c, %i {exc="IndexError", message="index {} is out"}',
        'raise {exc="ValueError", message="as {it} is"}',
    )
    with pytest.raises(IndexError, match="index 7 is out"):
        run(f, 7, False)
    with pytest.raises(ValueError, match=re.escape("as {it} is")):
        run(f, 7, True)


def test_stacks_are_values_across_calls_and_cursors():
    module = parse_module("""
func @main(%x: f64) -> (f64, f64, f64) {
entry:
  %s = stack : stack<f64>
  push %s, 1.0
  push %s, %x
  %a = call @take %s : f64
  %c = cursor %s : stack<f64>
  %b = pop %c : f64
  %d = pop %s : f64
  return %a, %b, %d
}
func @take(%s: stack<f64>) -> f64 {
entry:
  rewind %s, 2
  %x = pop %s : f64
  %y = pop %s : f64
  drop %s
  %z = add %x, %y : f64
  return %z
}""")
    assert run(module, 5.0, entry="main") == (6.0, 5.0, 5.0)


def test_python_calls():
    f = function(
        "(%x: f64, %n: i64) -> (f64, i64)",
        "entry:",
        "%a, %b = pycall %x, %n {callable=<builtins.divmod>, arguments=(f64, i64), result=tuple<f64, i64>} : f64, i64",
        "return %a, %b",
    )
    assert run(f, 7.5, 2) == (3.0, 1)


def test_handlers_catch():
    f = function(
        "(%x: f64) -> object",
        "entry handler caught(%x):",
        'guard false {exc="KeyError", message="k"}',
        "return 1",
        "caught(%e: object, %y: f64):",
        "return %e",
    )
    (error,) = run(f, 2.0)
    assert isinstance(error, KeyError)


def test_endless_loops_end():
    f = function("()", "entry:", "jump loop", "loop:", "jump loop")
    with pytest.raises(StepLimit):
        run(f, limit=1000)


def test_casts():
    assert convert(2.9, t.I64) == 2 and convert(-2.9, t.I64) == -2
    assert convert(math.nan, t.I64) == 0 and convert(1e300, t.I64) == 0
    assert convert(True, t.F64) == 1.0 and convert(0.5, t.BOOL) is True
    assert machine_value(-(2**63) - 1, t.I64) == 2**63 - 1


def test_structured_values():
    type = t.Tuple((t.F64, t.Optional(t.I64), t.NONE, t.ListType((t.NpScalar(t.F32),)), t.RANGE, t.Const("x")))
    value = (1.0, 3, None, [np.float32(0.5)], range(1, 7, 2), "x")
    leaves = leaves_of(value, type)
    assert leaves == [1.0, True, 3, 0.5, 1, 7, 2] and len(leaves) == len(t.flatten(type))
    assert unflatten(type, iter(leaves)) == value
    assert leaves_of(None, t.Optional(t.F64))[0] is False


def test_ownership_is_checked():
    head = "(%n: i64) -> f64"
    make = '%a = alloc 1 {fill="zeros"} : array<f64, 1, C>'
    good = function(head, "entry:", make, "%x = load %a, 0 : f64", "release %a", "return %x")
    leak = function(head, "entry:", make, "%x = load %a, 0 : f64", "return %x")
    late = function(head, "entry:", make, "release %a", "%x = load %a, 0 : f64", "return %x")
    assert run(good, 1, check_ownership=True) == (0.0,)
    with pytest.raises(OwnershipError, match="1 owners at the end"):
        run(leak, 1, check_ownership=True)
    with pytest.raises(OwnershipError, match="uses an array that was freed"):
        run(late, 1, check_ownership=True)
