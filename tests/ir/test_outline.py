"""Loops that compute become functions of their own, also those with branches and with several ways in; what they mean stays."""

from __future__ import annotations

import numpy as np

from zyg.ir.core import Module, clone
from zyg.ir.interpret import run
from zyg.ir.parsing import parse_function
from zyg.ir.passes import outline
from zyg.ir.verify import verify

TEXT = """
func @f(%x: array<f64, 1, C>, %n: i64, %c: bool) -> f64 {
entry:
  branch %c, one, head(0, 1.0)
one:
  jump head(1, 0.5)
head(%i: i64, %t: f64):
  %0 = lt %i, %n : bool
  branch %0, body, done
body:
  %1 = load %x, %i : f64
  %2 = mod %i, 3 : i64
  switch %2, zero, first, rest
zero:
  jump next(%1)
first:
  %3 = mul %1, 2.0 : f64
  jump next(%3)
rest:
  %4 = neg %1 : f64
  jump next(%4)
next(%v: f64):
  store %x, %v, %i
  %5 = add %t, %v : f64
  %6 = add %i, 1 : i64
  jump head(%6, %5)
done:
  return %t
}
"""


def test_loops_with_switches_and_several_ways_in_are_moved():
    function = parse_function(TEXT)
    module = Module()
    module.add(function)
    verify(function)
    before = Module()
    before.add(clone(function))
    assert outline._outline(module, function)
    verify(function)
    assert [i.attrs["callee"] for _, i in function.instructions() if i.op == "call"] == ["f.loop"]
    verify(module.functions["f.loop"])
    for n in (0, 1, 2, 7):
        for c in (True, False):
            x, y = np.cos(np.arange(7.0)), np.cos(np.arange(7.0))
            assert run(before, x, n, c) == run(module, y, n, c)
            assert np.array_equal(x, y)
