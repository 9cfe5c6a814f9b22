"""Counted loops and amounts of work: against loops that are run."""

from __future__ import annotations

import itertools

import pytest

from zyg.ir.analysis import Loops
from zyg.ir.counters import find_counter, is_brief
from zyg.ir.parsing import parse_module

HEAD = """
func @f() -> i64 {{
entry:
  jump loop({start}, 0)
loop(%i: i64, %n: i64):
  %go = {op} %i, {bound} : bool
  branch %go, body, done
body:
  %n1 = add %n, 1 : i64
  %i1 = add %i, {step} : i64
  jump loop(%i1, %n1)
done:
  return %n
}}
"""
LATCH = """
func @f() -> i64 {{
entry:
  jump loop({start}, 0)
loop(%i: i64, %n: i64):
  %n1 = add %n, 1 : i64
  %i1 = add %i, {step} : i64
  %go = {op} %i1, {bound} : bool
  branch %go, loop(%i1, %n1), done
done:
  return %n
}}
"""
CONDITIONS = {"lt": int.__lt__, "le": int.__le__, "gt": int.__gt__, "ge": int.__ge__, "ne": int.__ne__}


@pytest.mark.parametrize("text", [HEAD, LATCH], ids=["head", "latch"])
@pytest.mark.parametrize("op", CONDITIONS)
def test_trips(text, op):
    for start, bound, step in itertools.product((0, 3, -5), (0, 1, 7, -4), (1, 2, 3, -1, -2)):
        module = parse_module(text.format(start=start, bound=bound, step=step, op=op))
        (loop,) = Loops(module.functions["f"]).all
        counter = find_counter(loop)
        assert counter is not None
        i = start if text is HEAD else start + step
        trips = 0
        while CONDITIONS[op](i, bound) and trips < 100:
            i += step
            trips += 1
        assert counter.trips == (None if trips == 100 or not counter.ends else trips)


def test_brief():
    few = HEAD.format(start=0, bound=7, step=1, op="lt")
    assert is_brief(parse_module(few))
    assert not is_brief(parse_module(few.replace("7", "70")))
    assert not is_brief(parse_module(few.replace("@f()", "@f(%m: i64)").replace("7", "%m")))
