"""What is computed twice is computed once, wherever in memory its operands lie."""

from __future__ import annotations

from zyg.ir.core import Value, const
from zyg.ir.parsing import parse_module
from zyg.ir.passes import cse
from zyg.ir.passes.rewriting import substitute
from zyg.ir.types import I64

SOURCE = """
func @main(%x: i64, %y: i64) -> i64 {
entry:
  %a = add %x, 1 : i64
  %b = add 1, %x : i64
  %c = mul %x, %y : i64
  %d = mul %y, %x : i64
  %e = xor %a, %b : i64
  %f = xor %c, %d : i64
  %g = xor %e, %f : i64
  return %g
}
"""


def test_operands_whose_order_is_free():
    function = parse_module(SOURCE).functions["main"]
    ones, values = [const(1) for _ in range(99)], [Value(I64, "x") for _ in range(99)]
    x = sorted(values, key=id)[49]
    below, above = min(ones, key=id), max(ones, key=id)
    old, function.params[0] = function.params[0], x
    for instr in function.entry.instrs:
        substitute(instr, {old: x})
    first, second = function.entry.instrs[:2]
    first.operands[1], second.operands[0] = below, above
    cse.run(function)
    assert [i.op for i in function.entry.instrs] == ["add", "mul", "xor", "xor", "xor", "return"]
