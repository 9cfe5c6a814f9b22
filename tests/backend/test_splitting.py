"""Modules of LLVM assembly in two parts, and parameters of which only some components are passed."""

import llvmlite.binding as llvm
import numpy as np

import zyg
from zyg.backend.llvm.engine import engine
from zyg.backend.llvm.parameters import needed_components
from zyg.backend.llvm.splitting import COMPUTES, LIGHT, LOOPS, STRAIGHT, Piece, split
from zyg.backend.llvm.text import ModuleText
from zyg.ir.parsing import parse_module

from ..turns import each_in_turn

MODULE = """
func @main(%a: array<f64, 2, C>, %b: array<f64, 1, A>) -> f64 {
entry:
  %n = dim %a {axis=0} : i64
  %s = call %a, %b, %n {callee="sum"} : f64
  return %s
}

func @sum(%a: array<f64, 2, C>, %b: array<f64, 1, A>, %i: i64) -> f64 {
entry:
  %more = lt %i, 3 : bool
  branch %more, again, end
again:
  %j = add %i, 1 : i64
  %t = call %a, %b, %j {callee="sum"} : f64
  %x = load %a, %i, %i : f64
  %y = load %b, %i : f64
  %u = add %x, %y : f64
  %v = add %u, %t : f64
  return %v
end:
  return 0.0
}
"""


def test_of_arrays_whose_elements_are_taken_addresses_and_steps_are_passed():
    needed = needed_components(parse_module(MODULE), ["main", "sum"])
    # Address, owner, lengths, strides.
    assert needed["sum"] == [[True, False, False, True], [True, False, False, True], [True]]
    assert needed["main"] == [[True, False, True, True], [True, False, False, True]]


def test_calls_between_the_two_parts_are_declared():
    module = ModuleText()
    module.functions += [
        "define fastcc double @py.main(double %x) {\nentry:\n  %r = call fastcc double @py.sum(double %x)\n  ret double %r\n}",
        "define internal fastcc double @py.sum(double %x) {\nentry:\n  %r = call fastcc double @py.one(double %x)\n  ret double %r\n}",
        "define internal fastcc double @py.one(double %x) {\nentry:\n  ret double %x\n}",
        "define internal fastcc double @py.two(double %x) {\nentry:\n  ret double %x\n}",
    ]
    parts = split(module, {"@py.sum", "@py.two"})
    found = []
    assert [part.kind for part in parts] == [COMPUTES, LOOPS]
    for part in parts:
        parsed = engine().worker.parse(part.text)
        parsed.verify()
        found.append({f.name: (f.is_declaration, f.linkage) for f in parsed.functions})
    external, internal = llvm.Linkage.external, llvm.Linkage.internal
    assert found[0] == {"py.sum": (True, external), "py.main": (False, external), "py.one": (False, external)}
    assert found[1] == {"py.one": (True, external), "py.sum": (False, external), "py.two": (False, internal)}
    assert split(module, set()) == [Piece(module.text(), COMPUTES)]
    parts = split(module, {"@py.main", "@py.sum", "@py.two"}, straight={"@py.main"})
    assert [(part.kind, "@py.main(double %x) {" in part.text) for part in parts] == [
        (COMPUTES, False),
        (STRAIGHT, True),
        (LOOPS, False),
    ]


@each_in_turn
def test_what_is_light_is_a_piece_where_it_can_be_replaced_unless_it_calls_mathematics():
    module = ModuleText()
    loop = "define internal fastcc double @py.{}(double %x) {{\nentry:\n{}  ret double %x\n}}"
    module.functions += [
        "define fastcc double @py.main(double %x) {\nentry:\n  %r = call fastcc double @py.one(double %x)\n  ret double %r\n}",
        loop.format("one", "  %p = call i32 @zyg_poll(ptr null)\n"),
        loop.format("two", "  %e = call double @exp(double %x)\n"),
        loop.format("three", ""),
    ]
    settled, light = {"@py.three"}, {"@py.one", "@py.two"}

    def kinds(entry):
        parts = split(module, settled, light=light, entry=entry)
        return {
            name: part.kind
            for part in parts
            for name in ("one", "two", "three")
            if f"@py.{name}(double %x) {{" in part.text
        }

    assert kinds("@py.main") == {"one": LIGHT, "two": COMPUTES, "three": LOOPS}
    assert kinds(None) == {"one": COMPUTES, "two": COMPUTES, "three": LOOPS}


def test_what_is_compiled_apart_is_shown():
    def f(x):
        total = np.sum(x)
        for power in (2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0):
            total = total + np.sum(x * power + total)
        for i in range(1, len(x)):  # LLVM's optimiser may find something here
            total = total + x[i] * x[i - 1]
        return total

    x = np.linspace(0.0, 1.0, 11)
    np.testing.assert_allclose(zyg.jit(f)(x), f(x), rtol=1e-12)
    text, asm = zyg.code_llvm(f, x), zyg.code_native(f, x)
    assert text.count("\ndefine fastcc") > 1 and "sum:" in asm
