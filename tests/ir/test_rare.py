"""What is marked as rare: that beside which there is much to do."""

from __future__ import annotations

import pytest

from zyg.ir.parsing import parse_function
from zyg.ir.passes import rare

LOOP = """
func @f(%x: f64, %n: i64) -> f64 {
entry:
  %s = stack : stack<f64>
  jump outer(0)
outer(%i: i64):
  %go = lt %i, %n : bool
  branch %go, before, done
before:
  # work
  reserve %s, %n
  jump inner(0)
inner(%j: i64):
  push %s, %x {unchecked=true}
  %j1 = add %j, 1 : i64
  %more = lt %j1, %n : bool
  branch %more, inner(%j1), after
after:
  %i1 = add %i, 1 : i64
  jump outer(%i1)
done:
  drop %s
  return %x
}
"""


@pytest.mark.parametrize(
    "work, marked",
    [("", False), ('%a = alloc %n {fill="zeros"} : array<f64, 1, C>', True)],
    ids=["numbers only", "an array"],
)
def test_reserving_is_rare_beside_operations_on_arrays(work, marked):
    function = parse_function(LOOP.replace("  # work\n", f"  {work}\n" if work else ""))
    assert rare.run(function) is marked
    (reserve,) = [i for _, i in function.instructions() if i.op == "reserve"]
    assert bool(reserve.attrs.get("rare")) is marked
    assert not rare.run(function)


def test_outside_of_loops_too():
    text = LOOP.replace("  jump outer(0)", "  reserve %s, %n\n  jump outer(0)")
    assert not rare.run(parse_function(text))
    function = parse_function(text.replace("  drop %s", '  %b = alloc %n {fill="zeros"} : array<f64, 1, C>\n  drop %s'))
    assert rare.run(function)
    assert [bool(i.attrs.get("rare")) for _, i in function.instructions() if i.op == "reserve"] == [True, False]
