"""Stacks of a few records lie in the frame: which ones, and that what is on them comes back."""

from __future__ import annotations

import pytest

import zyg
from zyg.ir.core import Function
from zyg.ir.interpret import Interpreter
from zyg.ir.parsing import parse_module
from zyg.ir.passes import frames
from zyg.ir.verify import verify

# Squares are pushed in an inner loop and taken from the stack behind the loops.
NESTED = """
func @f(%x: f64, %n: i64) -> f64 {{
entry:
  %s = stack : stack<f64>
  {reserve}
  jump outer(0)
outer(%i: i64):
  %go = lt %i, {outer} : bool
  branch %go, enter, take(0, 0.0)
enter:
  {within}
  jump inner(0)
inner(%j: i64):
  %y = mul %x, %x : f64
  push {stack}, %y
  %j1 = add %j, 1 : i64
  %more = lt %j1, {inner} : bool
  branch %more, inner(%j1), next
next:
  {after}
  %i1 = add %i, 1 : i64
  jump outer(%i1)
take(%k: i64, %sum: f64):
  %some = lt %k, {pops} : bool
  branch %some, one, done
one:
  %v = pop %s : f64
  %sum1 = add %sum, %v : f64
  %k1 = add %k, 1 : i64
  jump take(%k1, %sum1)
done:
  drop %s
  return %sum
}}
"""


def nested(outer: str, inner: str, pops: int = 0, per_round: bool = False) -> Function:
    text = NESTED.format(
        outer=outer,
        inner=inner,
        pops=pops,
        reserve="" if per_round else "reserve %s, 8",
        within="%t = stack : stack<f64>" if per_round else "",
        stack="%t" if per_round else "%s",
        after="%w = pop %t : f64\n  drop %t" if per_round else "",
    )
    return parse_module(text).functions["f"]


def rooms(function: Function) -> list[int | None]:
    return [i.attrs.get("room") for _, i in function.instructions() if i.op == "stack"]


def ops(function: Function) -> set[str]:
    return {i.op for _, i in function.instructions()}


@pytest.mark.parametrize(
    "outer, inner, room",
    [("3", "4", 16), ("0", "1", 1), ("%n", "4", None), ("3", "%n", None), ("16", "16", None), ("2", "400", None)],
)
def test_a_stack_has_room_where_its_pushes_are_counted(outer: str, inner: str, room: int | None) -> None:
    function = nested(outer, inner)
    assert frames.run(function) is (room is not None)
    assert rooms(function) == [room]
    assert ("drop" in ops(function)) is (room is None)
    assert ("reserve" in ops(function)) is (room is None)


def test_a_stack_made_in_a_loop_has_room_for_one_round() -> None:
    function = nested("%n", "4", per_round=True)
    assert frames.run(function)
    assert rooms(function) == [0, 4]  # nothing is pushed on the first


def test_values_are_the_same() -> None:
    module = parse_module(NESTED.format(
        outer="3", inner="4", pops=12, reserve="", within="", stack="%s", after=""))  # fmt: skip
    function = module.functions["f"]
    before = Interpreter(module).call(function, [1.5, 0])
    frames.run(function)
    verify(module)
    assert Interpreter(module).call(function, [1.5, 0]) == before == [12 * 1.5**2]


def test_a_stack_that_escapes_is_left_alone() -> None:
    module = parse_module("""
func @f(%x: f64) -> stack<f64> {
entry:
  %s = stack : stack<f64>
  push %s, %x
  return %s
}
""")
    assert not frames.run(module.functions["f"])


def test_code_with_loops_of_known_length_keeps_no_stacks() -> None:
    def f(x: float) -> float:
        y = x
        for i in range(5):
            for _ in range(3):
                y = y * x + i if y < 2.0 else y * 0.5
        return y

    text = str(zyg.code_llvm(zyg.grad(f), 1.1))
    assert "zyg_stack" not in text
    assert zyg.gradient(f, 1.1)[0] == pytest.approx(zyg.jvp(f, (1.1,), (1.0,))[1])
