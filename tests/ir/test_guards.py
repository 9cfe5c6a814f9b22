"""Hoisted guards: the same results and errors for all bounds, and the fast version where it should be taken."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from zyg.ir.core import const
from zyg.ir.interpret import StepLimit, run
from zyg.ir.parsing import parse_function
from zyg.ir.passes import dce, fold, guards, licm, loop_simplify, ranges, simplify_cfg
from zyg.ir.text import format_function
from zyg.ir.verify import verify

from ..turns import each_in_turn

EXTREMES = (2**63 - 1, 2**63 - 2, 2**62, 2**55, 2**55 + 1, -(2**63), -(2**63) + 1, -(2**62), -(2**55) - 1)


def index(name: str, of: str, offset: str, axis: int, op: str) -> str:
    """An access as inference emits it: overflow check, negative indices wrapped, bounds checked."""
    return f"""  %{name} = {op} {of}, {offset} : i64
  %{name}n = dim %a {{axis={axis}}} : i64
  %{name}neg = lt %{name}, 0 : bool
  %{name}w = add %{name}, %{name}n : i64
  %{name}k = select %{name}neg, %{name}w, %{name} : i64
  %{name}lo = ge %{name}k, 0 : bool
  %{name}hi = lt %{name}k, %{name}n : bool
  %{name}in = and %{name}lo, %{name}hi : bool
  guard %{name}in, %{name} {{exc="IndexError", message="{name}: {{}}"}}
"""


def single(compare: str, step: int, offset: str, op: str = "cadd"):
    return parse_function(f"""func @f(%a: array<f64, 1, C>, %start: i64, %stop: i64, %c: i64) -> f64 {{
entry:
  jump loop(%start, 0.0)
loop(%i: i64, %s: f64):
  %more = {compare} %i, %stop : bool
  branch %more, body, done
body:
{index("p", "%i", offset, 0, op)}  %x = load %a, %pk : f64
  %s.1 = add %s, %x : f64
  %i.1 = cadd %i, {step} : i64
  jump loop(%i.1, %s.1)
done:
  return %s
}}""")


def nest(inner_start: str, inner_stop: str):
    return parse_function(f"""func @f(%a: array<f64, 2, C>, %start: i64, %stop: i64, %c: i64) -> f64 {{
entry:
  jump outer(%start, 0.0)
outer(%i: i64, %s: f64):
  %go = lt %i, %stop : bool
  branch %go, row, done
row:
  jump inner({inner_start}, %s)
inner(%j: i64, %t: f64):
  %more = lt %j, {inner_stop} : bool
  branch %more, body, next
body:
{index("p", "%i", "-1", 0, "cadd")}{index("q", "%j", "%c", 1, "cadd")}  %x = load %a, %pk, %qk : f64
  %t.1 = add %t, %x : f64
  store %a, %t, %pk, %qk
  %j.1 = cadd %j, 1 : i64
  jump inner(%j.1, %t.1)
next:
  %i.1 = cadd %i, 1 : i64
  jump outer(%i.1, %t)
done:
  return %s
}}""")


def optimised(function):
    text = format_function(function)
    result = parse_function(text)
    for one in (ranges, fold, simplify_cfg, loop_simplify, licm, guards, fold, simplify_cfg, dce):
        one.run(result)
        verify(result)
    return result


def outcome(function, array, *numbers):
    array = array.copy()
    try:
        return run(function, array, *numbers, limit=20_000), array.tolist()
    except StepLimit:
        return "endless"
    except (IndexError, OverflowError) as error:
        return type(error), str(error), array.tolist()


def compare(before, after, array, numbers):
    assert outcome(after, array, *numbers) == outcome(before, array, *numbers), f"{numbers}\n{format_function(after)}"


SINGLE = [
    ("lt", 1, "1", "cadd"), ("le", 1, "-1", "cadd"), ("lt", 2, "1", "cadd"), ("lt", 3, "%c", "cadd"),
    ("gt", -1, "1", "csub"), ("ge", -1, "0", "cadd"), ("gt", -2, "%c", "csub"), ("lt", 1, "2", "cmul"),
]  # fmt: skip


@each_in_turn
@pytest.mark.parametrize(("op", "step", "offset", "arithmetic"), SINGLE)
def test_one_loop(op, step, offset, arithmetic):
    before = single(op, step, offset, arithmetic)
    after = optimised(before)
    assert "checked" in format_function(after), "there are two versions"
    array = np.arange(1.0, 6.0)
    for numbers in itertools.product(range(-7, 8), range(-7, 8), (-2, 0, 1)):
        compare(before, after, array, numbers)
    r = random.Random(1)
    for _ in range(400):
        compare(before, after, array, [r.choice((*EXTREMES, *range(-3, 7))) for _ in range(3)])


NESTS = [("0", "3"), ("%i", "%stop"), ("0", "%i"), ("%start", "%stop"), ("1", "%c")]


@each_in_turn
@pytest.mark.parametrize(("start", "stop"), NESTS)
def test_nests(start, stop):
    before = nest(start, stop)
    after = optimised(before)
    assert "checked" in format_function(after), "there are two versions"
    array = np.arange(1.0, 13.0).reshape(3, 4)
    for numbers in itertools.product(range(-4, 6), range(-3, 6), (-1, 0, 1)):
        compare(before, after, array, numbers)
    r = random.Random(1)
    for _ in range(200):
        compare(before, after, array, [r.choice((*EXTREMES, *range(-3, 7))) for _ in range(3)])


def test_the_fast_version_is_taken():
    """Where a guard would run, this one fails: only the version without guards gets through."""
    after = optimised(single("lt", 1, "-1"))
    for _, instr in after.instructions():
        if instr.op == "guard":
            instr.operands = [const(False)]
            instr.attrs["message"] = "slow"
    array = np.arange(1.0, 6.0)
    assert run(after, array, 1, 6, 0) == (15.0,)
    for start, stop in ((0, 6), (1, 7)):  # a[-1] wraps, a[5] is not there
        with pytest.raises(IndexError, match="slow"):
            run(after, array, start, stop, 0)


def test_guards_that_cannot_be_hoisted_stay_alone():
    function = parse_function("""func @f(%a: array<i64, 1, C>, %n: i64) -> i64 {
entry:
  %len = dim %a {axis=0} : i64
  jump loop(0, 0)
loop(%i: i64, %k: i64):
  %more = lt %i, %n : bool
  branch %more, body, done
body:
  %in = lt %k, %len : bool
  guard %in {exc="IndexError", message="k"}
  %x = load %a, %k : i64
  %i.1 = add %i, 1 : i64
  jump loop(%i.1, %x)
done:
  return %k
}""")
    loop_simplify.run(function)
    assert not guards.run(function)


def test_it_does_not_try_twice():
    after = optimised(single("lt", 1, "-1"))
    loop_simplify.run(after)
    assert not guards.run(after)


def test_a_loop_that_makes_arrays_stays_as_it_is():
    text = format_function(single("lt", 1, "0"))
    assert "checked" in format_function(optimised(parse_function(text)))
    busy = parse_function(
        text.replace(
            "loop(%i: i64, %s: f64):", 'loop(%i: i64, %s: f64):\n  %made = alloc 3 {fill="empty"} : array<f64, 1, C>'
        )
    )
    assert "checked" not in format_function(optimised(busy))
