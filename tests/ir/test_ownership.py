"""Which writes to an array that dies with them are left out."""

import pytest

from zyg.ir.parsing import parse_module
from zyg.ir.passes import ownership

from ..turns import each_in_turn

FUNCTION = """
func @main(%n: i64, %s: tape) -> f64 {{
entry:
  %a = alloc %n {{fill="zeros"}} : array<f64, 1, C>
  accum %a, 1.0, 0
  %x = load %a, 0 : f64
{use}
  return %x
}}

func @other(%a: array<f64, 1, C>) -> array<f64, 1, C> {{
entry:
  return %a
}}
"""


@each_in_turn
@pytest.mark.parametrize(
    ("use", "stays"),
    [
        ("  fill %a, 0.0", False),
        ("  fill %a, 0.0\n  %y = load %a, 0 : f64", True),
        ("  %b = view %a, 1, 2, 1 {spec=\"s\"} : array<f64, 1, A>\n  fill %b, 0.0", False),
        ("  push %s, %a\n  fill %a, 0.0", True),
        ("  %b = call %a {callee=\"other\"} : array<f64, 1, C>\n  fill %a, 0.0\n  %y = load %b, 0 : f64", True),
    ],
)  # fmt: skip
def test_what_nobody_sees_is_not_set_to_zero(use, stays):
    function = parse_module(FUNCTION.format(use=use)).functions["main"]
    ownership.run(function)
    ops = [instr.op for _, instr in function.instructions()]
    assert ("fill" in ops) == stays
    assert "release" in ops
