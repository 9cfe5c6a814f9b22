"""What is written is told apart from what is read, however many views there are of it."""

from __future__ import annotations

from zyg.ir.parsing import parse_function
from zyg.ir.passes.accesses import Views

TEXT = """
func @f(%x: array<f64, 1, A>, %n: i64) -> array<f64, 1, C> {
entry:
  %a = alloc %n {fill="empty"} : array<f64, 1, C>
  %b = alloc %n {fill="empty"} : array<f64, 1, C>
  %v = view %a {spec=":"} : array<f64, 1, A>
  return %a
}
"""


def test_apart():
    function = parse_function(TEXT)
    views = Views(function)
    a, b, v = (i.result for i in function.entry.instrs if i.results)
    x = function.entry.params[0]
    assert views.apart([a], [a, b, x])
    assert not views.apart([a], [v])
    assert not views.apart([a], [v, a])
    assert not views.apart([a], [a, v])
    assert not views.apart([a, v], [])
    assert not views.apart([x], [])
