"""Polls: loops can be interrupted, and compute what they did."""

from __future__ import annotations

import pytest

from zyg.ir.analysis import Loops
from zyg.ir.interpret import run
from zyg.ir.parsing import parse_function, parse_module
from zyg.ir.passes import polls
from zyg.ir.verify import verify

COUNTED = """
func @f(%x: f64, %n: i64) -> f64 {
entry:
  jump loop(0, %x)
loop(%i: i64, %s: f64):
  %go = lt %i, %n : bool
  branch %go, body, done
body:
  %t = mul %s, 1.5 : f64
  %i1 = add %i, 1 : i64
  jump loop(%i1, %t)
done:
  return %s
}
"""
DOWN = """
func @f(%x: f64, %n: i64) -> f64 {
entry:
  jump loop(%n, %x)
loop(%k: i64, %s: f64):
  %end = eq %k, 0 : bool
  branch %end, done, body
body:
  %t = mul %s, 1.5 : f64
  %k1 = sub %k, 1 : i64
  jump loop(%k1, %t)
done:
  return %s
}
"""
BY_THREE = DOWN.replace("sub %k, 1", "sub %k, 3")
WHILE = """
func @f(%x: f64, %n: i64) -> f64 {
entry:
  jump loop(%n, %x)
loop(%k: i64, %s: f64):
  %t = mul %s, 1.5 : f64
  %k1 = sub %k, 1 : i64
  %more = gt %k1, 0 : bool
  branch %more, loop(%k1, %t), done
done:
  return %t
}
"""
NESTED = """
func @f(%x: f64, %n: i64) -> f64 {
entry:
  jump outer(0, %x)
outer(%i: i64, %s: f64):
  %go = lt %i, %n : bool
  branch %go, inner(0, %s), done
inner(%j: i64, %t: f64):
  %more = lt %j, %n : bool
  branch %more, body, next
body:
  %u = mul %t, 1.25 : f64
  %j1 = add %j, 1 : i64
  jump inner(%j1, %u)
next:
  %i1 = add %i, 1 : i64
  jump outer(%i1, %t)
done:
  return %s
}
"""


@pytest.mark.parametrize("text", [COUNTED, DOWN, WHILE, NESTED])
@pytest.mark.parametrize("strip", [1, 3, 1 << 16])
def test_values_do_not_change(text, strip, monkeypatch):
    monkeypatch.setattr(polls, "STRIP", strip)
    monkeypatch.setattr(polls, "ROUNDS", 4)
    plain, polled = parse_module(text), parse_module(text)
    assert polls.run(polled.functions["f"])
    verify(polled)
    assert sum(i.op == "poll" for _, i in polled.functions["f"].instructions()) == 1
    for n in (1, 2, 3, 6, 7):
        assert run(polled, 1.0, n, entry="f") == run(plain, 1.0, n, entry="f")


def test_short_loops_do_not_poll():
    assert not polls.run(parse_module(COUNTED.replace("%i, %n", "%i, 100")).functions["f"])


def test_a_counter_that_jumps_over_the_end_of_a_strip(monkeypatch):
    monkeypatch.setattr(polls, "STRIP", 4)
    monkeypatch.setattr(polls, "ROUNDS", 4)
    module = parse_module(BY_THREE)
    polls.run(module.functions["f"])
    verify(module)
    assert run(module, 1.0, 30, entry="f", limit=10000) == (1.5**10,)


INNER = {
    "at the head": ("lt", "%j, %m", "add %j, 1", 0),
    "down to a bound": ("gt", "%j, %m", "sub %j, 3", 40),
    "by steps": ("le", "%j, %m", "add %j, 3", 0),
    "until it is met": ("ne", "%j, %m", "add %j, 1", 0),
}


@pytest.mark.parametrize("op, operands, step, start", INNER.values(), ids=INNER)
@pytest.mark.parametrize("rotated", [False, True], ids=["head", "latch"])
def test_inner_counted_loops_poll_by_their_work(op, operands, step, start, rotated, monkeypatch):
    monkeypatch.setattr(polls, "STRIP", 4)
    head = f"inner(%j: i64, %t: f64):\n  %more = {op} {operands} : bool\n  branch %more, body, next(%t)\nbody:"
    back = f"  %j1 = {step} : i64\n  jump inner(%j1, %u)"
    if rotated:
        head = "inner(%j: i64, %t: f64):"
        back = f"  %j1 = {step} : i64\n  %more = {op} {operands.replace('%j', '%j1')} : bool\n  branch %more, inner(%j1, %u), next(%u)"
    text = f"""
func @f(%x: f64, %n: i64, %m: i64) -> f64 {{
entry:
  jump outer(0, %x)
outer(%i: i64, %s: f64):
  %go = lt %i, %n : bool
  branch %go, inner({start}, %s), done
{head}
  %u = mul %t, 1.25 : f64
{back}
next(%r: f64):
  %i1 = add %i, 1 : i64
  jump outer(%i1, %r)
done:
  return %s
}}
"""
    plain, polled = parse_module(text), parse_module(text)
    assert polls.run(polled.functions["f"])
    verify(polled)
    assert sum(i.op == "poll" for _, i in polled.functions["f"].instructions()) == 1
    for m in (1, 4, 5, 13):
        assert run(polled, 1.0, 3, m, entry="f", limit=10000) == run(plain, 1.0, 3, m, entry="f")


def test_recursive_functions_poll_when_they_are_entered():
    module = parse_module("""
func @f(%n: i64) -> i64 {
entry:
  %more = gt %n, 0 : bool
  branch %more, again, done(%n)
again:
  %m = sub %n, 1 : i64
  %r = call @f %m : i64
  jump done(%r)
done(%v: i64):
  return %v
}
""")
    assert polls.run_module(module)
    verify(module)
    assert module.functions["f"].entry.instrs[0].op == "poll"


ELEMENTS = """
func @f(%a: array<f64, 1, C>, %n: i64) {
entry:
  jump first(0)
first(%i: i64):
  %more = lt %i, %n : bool
  branch %more, one, second(0)
one:
  store %a, 1.0, %i
  %i.1 = add %i, 1 : i64
  jump first(%i.1) {elements="small"}
second(%j: i64):
  %more.1 = lt %j, %n : bool
  branch %more.1, two, done
two:
  accum %a, 1.0, %j
  %j.1 = add %j, 1 : i64
  jump second(%j.1) {elements="small"}
done:
  return
}
"""


def test_loops_over_elements_stay_whole_and_are_polled_before_them():
    function = parse_function(ELEMENTS)
    polls.run(function)
    inside = {b for loop in Loops(function).all for b in loop.blocks}
    polling = [b for b in function.blocks if any(i.op == "poll" for i in b.instrs)]
    assert len(polling) == 1 and not inside & set(polling)
    assert len(inside) == 4


def test_of_loops_over_elements_one_in_a_few_polls_on_every_way():
    loop = """head{k}(%i{k}: i64):
  %more{k} = lt %i{k}, %n : bool
  branch %more{k}, body{k}, {after}
body{k}:
  store %a, 1.0, %i{k}
  %next{k} = add %i{k}, 1 : i64
  jump head{k}(%next{k}) {elements="small"}
"""
    # Seven places, at each of which there is a choice between two loops.
    text = "func @f(%a: array<f64, 1, C>, %n: i64, %c: bool) {\nentry:\n  jump place0\n"
    for k in range(7):
        text += f"place{k}:\n  branch %c, head{k}0(0), head{k}1(0)\n"
        for version in "01":
            text += loop.replace("{k}", f"{k}{version}").replace("{after}", f"place{k + 1}")
    function = parse_function(text + "place7:\n  return\n}\n")
    polls.run(function)
    polling = [i for _, i in function.instructions() if i.op == "poll"]
    assert len(polling) == 2 * 3  # at the first, the fourth and the seventh place, before both


def test_a_loop_around_loops_over_elements_polls_for_their_lengths():
    text = ELEMENTS.replace("jump first(0)\n", "jump around(0)\naround(%k: i64):\n  jump first(0)\n")
    text = text.replace(
        "done:\n",
        "done:\n  %k.1 = add %k, 1 : i64\n  %again = lt %k.1, %n : bool\n  branch %again, around(%k.1), end\nend:\n",
    )
    function = parse_function(text)
    polls.run(function)
    (poll,) = [i for _, i in function.instructions() if i.op == "poll"]
    assert poll.attrs["rare"]


ROWS = """
func @f(%a: array<f64, 2, C>) -> f64 {
entry:
  %n = dim %a {axis=0} : i64
  %m = dim %a {axis=1} : i64
  jump outer(0, 0.0)
outer(%i: i64, %s: f64):
  %go = lt %i, %n : bool
  branch %go, inner(0, %s), done
inner(%j: i64, %t: f64):
  %more = lt %j, %m : bool
  branch %more, body, next
body:
  %x = load %a, %i, %j : f64
  %u = add %t, %x : f64
  %j1 = add %j, 1 : i64
  jump inner(%j1, %u)
next:
  %i1 = add %i, 1 : i64
  jump outer(%i1, %t)
done:
  return %s
}
"""


@pytest.mark.parametrize(
    "bound, index, whole",
    [("%m", "0", True), ("%n.big", "0", False), ("%n.big", "%j", True)],
    ids=["a dimension", "any number", "as many as elements"],
)
def test_an_inner_loop_over_a_dimension_stays_whole(bound, index, whole):
    text = ROWS.replace("lt %j, %m", f"lt %j, {bound}").replace("load %a, %i, %j", f"load %a, %i, {index}")
    text = text.replace("  jump outer(0, 0.0)", "  %n.big = mul %n, %m : i64\n  jump outer(0, 0.0)")
    module = parse_module(text)
    function = module.functions["f"]
    assert polls.run(function)
    verify(module)
    (poll,) = [(b, i) for b, i in function.instructions() if i.op == "poll"]
    loop = Loops(function).of[poll[0]]
    assert (loop.header.name == "outer") is whole
    assert not poll[1].attrs.get("rare")
