"""Functions that are equal are one."""

from __future__ import annotations

from zyg.ir.interpret import run
from zyg.ir.parsing import parse_module
from zyg.ir.passes import merge

SOURCE = """
func @main(%x: f64) -> f64 {
entry:
  %a = call @first %x : f64
  %b = call @second %x : f64
  %c = call @third %x : f64
  %ab = add %a, %b : f64
  %abc = add %ab, %c : f64
  return %abc
}
func @first(%x: f64) -> f64 {
entry:
  %y = call @inner %x : f64
  return %y
}
func @second(%u: f64) -> f64 {
entry:
  %v = call @other %u : f64
  return %v
}
func @third(%x: f64) -> f64 {
entry:
  %y = call @inner %x : f64
  %z = add %y, 1.0 : f64
  return %z
}
func @inner(%x: f64) -> f64 {
entry:
  %y = mul %x, 2.0 : f64
  return %y
}
func @other(%x: f64) -> f64 {
entry:
  %y = mul %x, 2.0 : f64
  return %y
}
"""


def test_equal_functions_are_one_even_if_they_call_different_ones_that_are_equal():
    module = parse_module(SOURCE)
    before = run(module, 3.0, entry="main")
    assert merge.run(module)
    called = {i.attrs["callee"] for _, i in module.functions["main"].instructions() if i.op == "call"}
    assert len(called) == 2 and "third" in called
    assert run(module, 3.0, entry="main") == before
    assert not merge.run(module)


def test_what_may_fail_at_different_places_is_kept_apart():
    guarded = """
func @main(%x: f64) -> f64 {
entry:
  %a = call @f %x : f64
  %b = call @g %a : f64
  return %b
}
"""
    for name, line in (("f", 3), ("g", 4)):
        guarded += f"""
func @{name}(%x: f64) -> f64 {{
entry:
  %ok = gt %x, 0.0 : bool                              # user.py:{line}:0-{line}:5
  guard %ok {{exc="ValueError", message="no"}}           # user.py:{line}:0-{line}:5
  return %x
}}
"""
    assert not merge.run(parse_module(guarded))
    assert merge.run(parse_module(guarded.replace("user.py:4:0-4:5", "user.py:3:0-3:5")))


def test_a_function_is_kept_as_all_that_those_would_be_kept_as_which_are_equal():
    # Else none of two pairs of halves would be whole, if of one the forward part were left, and of the other the reverse part.
    module = parse_module(SOURCE)
    for name in ("inner", "other", "third"):
        module.functions[name].attrs["offers"] = (name,)
    assert merge.run(module)
    (left,) = {i.attrs["callee"] for _, i in module.functions["first"].instructions() if i.op == "call"}
    assert {*module.functions[left].attrs["offers"]} == {"inner", "other"}
    assert module.functions["third"].attrs["offers"] == ("third",)
