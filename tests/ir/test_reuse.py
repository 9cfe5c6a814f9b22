"""Arrays that are computed twice are computed once, where nobody can tell."""

import numpy as np
import pytest

import zyg
from zyg.ir.interpret import run
from zyg.ir.parsing import parse_module
from zyg.ir.passes import reuse
from zyg.ir.verify import verify

TEXT = """
func @identity(%x: f64) -> f64 {
entry:
  return %x
}
func @product(%x: f64, %y: f64) -> f64 {
entry:
  %e = mul %x, %y : f64
  return %e
}
func @f(%x: array<f64, 2, C>, %y: array<f64, 2, C>) -> RESULTS {
entry:
  %n = dim %x {axis=0} : i64
  %k = dim %x {axis=1} : i64
  %a = alloc %n {fill="empty"} : array<f64, 1, C>
  fill %a, 0.0
  %a2 = reshape %a, %n, 1 : array<f64, 2, C>
  %as = broadcast %a2, %n, %k : array<f64, 2, A>
  apply @identity %as, %x {modes=("add",)}
  BETWEEN
  %b = alloc %n {fill="empty"} : array<f64, 1, C>
  fill %b, FILLED
  %b2 = reshape %b, %n, 1 : array<f64, 2, C>
  %bs = broadcast %b2, %n, %k : array<f64, 2, A>
  apply @identity %bs, %x {modes=("add",)}
  BEHIND
}
"""
SUM = """%s = apply @product %a, %b {modes=()} : f64
  return %s"""
# The shown arrays may be read as well.
SHOWN = """%c = alloc %n, %k {fill="empty"} : array<f64, 2, C>
  apply @product %c, %bs, %x {modes=("set",)}
  %s = apply @product %c, %as {modes=()} : f64
  return %s"""
RNG = np.random.default_rng(0)


def module_of(between="", behind=SUM, filled="0.0", results="f64"):
    text = (
        TEXT.replace("BETWEEN", between).replace("BEHIND", behind).replace("FILLED", filled).replace("RESULTS", results)
    )
    module = parse_module(text)
    verify(module)
    return module


def check(module, changes):
    x, y = RNG.normal(size=(2, 3, 4))
    expected = run(module, x.copy(), y.copy(), entry="f")
    applies = sum(i.op == "apply" for _, i in module.functions["f"].instructions())
    assert reuse.run(module.functions["f"]) == changes
    verify(module)
    assert sum(i.op == "apply" for _, i in module.functions["f"].instructions()) == applies - changes
    for one, other in zip(run(module, x.copy(), y.copy(), entry="f"), expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("behind", [SUM, SHOWN])
@pytest.mark.parametrize("between", ["", '%z = alloc %n {fill="zeros"} : array<f64, 1, C>\n  fill %z, 2.0'])
def test_a_sum_is_made_once(between, behind):
    check(module_of(between, behind), True)


def test_so_is_the_sum_of_all_elements():
    behind = """%s = apply @identity %x {modes=()} : f64
  %t = apply @identity %x {modes=()} : f64
  %u = mul %s, %t : f64
  return %u"""
    check(module_of("%c = apply @identity %y {modes=()} : f64\n  store %a, %c, 0", behind), True)


@pytest.mark.parametrize(
    "between, behind, filled, results",
    [
        ("fill %x, 1.0", SUM, "0.0", "f64"),  # what it is made of
        ("copyto %x, %y", SUM, "0.0", "f64"),
        ("store %y, 1.0, 0, 0", SUM, "0.0", "f64"),  # (the same array may be given twice)
        ("", "store %a, 1.0, 0\n  " + SUM, "0.0", "f64"),  # one of them
        ("", "fill %b, 1.0\n  " + SUM, "0.0", "f64"),
        ("", 'apply @identity %bs, %x {modes=("add",)}\n  ' + SUM, "0.0", "f64"),
        ("", SUM, "1.0", "f64"),  # what is added to
        ("", SUM, "-0.0", "f64"),
        (
            "",
            "return %a, %b",
            "0.0",
            "(array<f64, 1, C>, array<f64, 1, C>)",
        ),  # who gets both can tell one from the other
        ("", "return %a, %b2", "0.0", "(array<f64, 1, C>, array<f64, 2, C>)"),
    ],
)
def test_it_is_made_twice_if_somebody_can_tell(between, behind, filled, results):
    check(module_of(between, behind, filled, results), False)


def test_what_is_read_before_it_is_added_to_is_not_the_same():
    text = TEXT.replace("  apply @identity %bs", "  %first = load %b, 0 : f64\n  apply @identity %bs")
    behind = """%t = apply @product %a, %b {modes=()} : f64
  %s = add %t, %first : f64
  return %s"""
    for name, by in {"BETWEEN": "", "BEHIND": behind, "FILLED": "0.0", "RESULTS": "f64"}.items():
        text = text.replace(name, by)
    module = parse_module(text)
    verify(module)
    check(module, False)


def test_what_changes_under_another_name_is_computed_again():
    def total(a, n):
        y = np.zeros(3)
        z, found = a, 0.0
        for _ in range(n):
            before = np.sum(z * 2.0)
            y[0] = y[0] + a[0]
            found = found + before * 3.0 + np.sum(z * 2.0)
            z = y  # which it is in the rounds that follow
        return found

    a = np.array([0.5, 1.5, -2.0])
    for n in range(4):
        value, grads = zyg.withgradient(total, a.copy(), n)
        np.testing.assert_allclose(value, total(a, n), rtol=1e-14)
        steps = [(total(a + h, n) - total(a - h, n)) / 2.0 for h in np.eye(3)]  # it is linear
        np.testing.assert_allclose(grads[0], steps, rtol=1e-13)
