"""The adjoint pass on IR text, run by the reference interpreter, against central differences of the function itself."""

from __future__ import annotations

import numpy as np
import pytest

from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.activity import dependence
from zyg.autodiff.adjoint import adjoint
from zyg.ir.builder import Builder
from zyg.ir.core import Function, Module, Value, const
from zyg.ir.interpret import run
from zyg.ir.parsing import parse_module
from zyg.ir.passes import loop_simplify, optimise
from zyg.ir.verify import verify

pytestmark = each_in_turn


PROGRAMS = {
    "straight": """
func @f(%x: f64) -> f64 {
entry:
  %a = log %x : f64
  %b = sin %a : f64
  %c = mul 5.0, %b : f64
  return %c
}
""",
    "counted": """
func @pow(%x: f64, %n: i64) -> f64 {
entry:
  jump loop(1.0, %n)
loop(%r: f64, %i: i64):
  %more = gt %i, 0 : bool
  branch %more, body, done
body:
  %r1 = mul %r, %x : f64
  %i1 = csub %i, 1 : i64
  jump loop(%r1, %i1)
done:
  return %r
}
""",
    "branches": """
func @w(%x: f64) -> f64 {
entry:
  jump loop(%x, 0)
loop(%r: f64, %i: i64):
  %more = lt %r, 100.0 : bool
  branch %more, body, done
body:
  %m = mod %i, 2 : i64
  %e = eq %m, 0 : bool
  branch %e, even, odd
even:
  %r1 = mul %r, %x : f64
  jump latch(%r1)
odd:
  %r2 = sin %r : f64
  %r3 = add %r2, %r : f64
  %r4 = mul %r3, 2.0 : f64
  jump latch(%r4)
latch(%q: f64):
  %i1 = cadd %i, 1 : i64
  jump loop(%q, %i1)
done:
  return %r
}
""",
    "stencil": """
func @arr(%u: array<f64, 1, C>, %c: f64) -> f64 {
entry:
  %n = dim %u {axis=0} : i64
  %m = sub %n, 1 : i64
  jump outer(0)
outer(%t: i64):
  %more = lt %t, 3 : bool
  branch %more, pre, post
pre:
  jump loop(1)
loop(%i: i64):
  %go = lt %i, %m : bool
  branch %go, body, next
body:
  %il = sub %i, 1 : i64
  %ir = add %i, 1 : i64
  %a = load %u, %il : f64
  %b = load %u, %ir : f64
  %d = load %u, %i : f64
  %s = mul %a, %b : f64
  %s2 = mul %s, %c : f64
  %d3 = mul %d, %d : f64
  %v = add %s2, %d3 : f64
  store %u, %v, %i
  %i1 = add %i, 1 : i64
  jump loop(%i1)
next:
  %t1 = add %t, 1 : i64
  jump outer(%t1)
post:
  jump sl(0, 0.0)
sl(%k: i64, %tot: f64):
  %g = lt %k, %n : bool
  branch %g, sb, done
sb:
  %y = load %u, %k : f64
  %yy = mul %y, %y : f64
  %tot1 = add %tot, %yy : f64
  %k1 = add %k, 1 : i64
  jump sl(%k1, %tot1)
done:
  return %tot
}
""",
    "recursion": """
func @rec(%x: f64, %n: i64) -> f64 {
entry:
  %z = eq %n, 0 : bool
  branch %z, base, step
base:
  jump out(1.0)
step:
  %n1 = csub %n, 1 : i64
  %s = sin %x : f64
  %r = call %s, %n1 {callee="rec"} : f64
  %p = mul %r, %x : f64
  jump out(%p)
out(%o: f64):
  return %o
}
""",
    "early_return": """
func @early(%x: f64, %n: i64) -> f64 {
entry:
  jump loop(0, %x)
loop(%i: i64, %s: f64):
  %go = lt %i, %n : bool
  branch %go, body, done
body:
  %t = mul %s, %x : f64
  %big = gt %t, 50.0 : bool
  branch %big, out, on
out:
  %u = mul %t, %s : f64
  return %u
on:
  %i1 = cadd %i, 1 : i64
  jump loop(%i1, %t)
done:
  %v = sin %s : f64
  return %v
}
""",
    "swap": """
func @swap(%x: f64, %n: i64) -> f64 {
entry:
  %one = mul %x, %x : f64
  jump loop(0, %x, %one)
loop(%i: i64, %a: f64, %b: f64):
  %go = lt %i, %n : bool
  branch %go, body, done
body:
  %s = sin %a : f64
  %c = mul %s, %b : f64
  %i1 = add %i, 1 : i64
  jump loop(%i1, %b, %c)
done:
  %r = mul %a, %b : f64
  return %r
}
""",
    "nested": """
func @nested(%x: f64, %n: i64) -> f64 {
entry:
  jump outer(0, %x)
outer(%i: i64, %s: f64):
  %go = lt %i, %n : bool
  branch %go, pre, done
pre:
  %q = cos %s : f64
  jump inner(0, %s)
inner(%j: i64, %t: f64):
  %more = le %j, %i : bool
  branch %more, work, next
work:
  %t1 = mul %t, %q : f64
  %t2 = add %t1, %x : f64
  %stop = gt %t2, 3.0 : bool
  branch %stop, leave, step
step:
  %j1 = add %j, 1 : i64
  jump inner(%j1, %t2)
leave:
  %t3 = mul %t2, 0.5 : f64
  jump next2(%t3)
next:
  jump next2(%t)
next2(%u: f64):
  %i1 = add %i, 1 : i64
  jump outer(%i1, %u)
done:
  return %s
}
""",
    "rotating_arrays": """
func @rotate(%x: f64, %n: i64) -> f64 {
entry:
  %a0 = alloc 3 {fill="zeros"} : array<f64, 1, C>
  %b0 = alloc 3 {fill="zeros"} : array<f64, 1, C>
  store %a0, %x, 0
  store %b0, 2.0, 1
  jump loop(0, %a0, %b0)
loop(%i: i64, %a: array<f64, 1, C>, %b: array<f64, 1, C>):
  %go = lt %i, %n : bool
  branch %go, body, done
body:
  %p = load %a, 0 : f64
  %q = load %b, 1 : f64
  %m = mul %p, %q : f64
  %s = sin %m : f64
  store %b, %s, 0
  store %b, %m, 1
  %i1 = add %i, 1 : i64
  jump loop(%i1, %b, %a)
done:
  %r = load %a, 0 : f64
  %t = load %b, 1 : f64
  %y = mul %r, %t : f64
  %z = add %y, %r : f64
  return %z
}
""",
    "temporaries": """
func @temporaries(%x: f64, %n: i64) -> f64 {
entry:
  jump loop(0, %x)
loop(%i: i64, %s: f64):
  %go = lt %i, %n : bool
  branch %go, body, done
body:
  %a = alloc 2 {fill="empty"} : array<f64, 1, C>
  fill %a, %s
  %d = load %a, 0 : f64
  %e = mul %d, %d : f64
  store %a, %e, 0
  %v = view %a, 0, 2, 1 {spec="s"} : array<f64, 1, A>
  %f = load %v, 0 : f64
  %g = load %v, 1 : f64
  %h = mul %f, %g : f64
  %k = sin %h : f64
  %i1 = add %i, 1 : i64
  jump loop(%i1, %k)
done:
  return %s
}
""",
}

SCALAR_CASES = {
    "straight": [(3.0,)],
    "counted": [(2.0, 5), (1.1, 0), (1.1, 7)],
    "branches": [(1.5,), (2.2,), (200.0,)],
    "recursion": [(1.3, 0), (1.3, 1), (1.3, 4)],
    "early_return": [(1.7, 10), (1.7, 2), (0.9, 6), (60.0, 3)],
    "swap": [(0.8, 0), (0.8, 1), (0.8, 5)],
    "nested": [(0.7, 0), (0.7, 1), (1.3, 4), (2.1, 5)],
    "rotating_arrays": [(0.8, 0), (0.8, 1), (0.8, 2), (0.8, 5)],
    "temporaries": [(0.8, 0), (0.8, 1), (0.8, 4)],
}
CASES = [(name, args) for name, cases in SCALAR_CASES.items() for args in cases]


def load(name: str) -> tuple[Module, str]:
    module = parse_module(PROGRAMS[name])
    return module, next(iter(module.functions))


def difference(function, x: float, h: float = 1e-5) -> float:
    """Central differences, extrapolated once (Richardson)."""
    coarse = (function(x + h) - function(x - h)) / (2 * h)
    fine = (function(x + h / 2) - function(x - h / 2)) / h
    return (4 * fine - coarse) / 3


def close(value: float, expected: float, tolerance: float = 1e-5) -> bool:
    return abs(value - expected) <= tolerance * max(1.0, abs(expected))


def derivative(module: Module, name: str) -> str:
    """Add to the module the derivative of a function by its first parameter."""
    params = module.functions[name].params
    made = adjoint(module, name, [True] + [False] * (len(params) - 1))
    verify(module)
    joint = module.functions[made.function]
    function = Function(module.unique_name(f"{name}.d"), [], (joint.results[-1],))
    b = Builder(function)
    entry = b.new_block("entry")
    entry.params = [Value(p.type, p.name) for p in params]
    b.at(entry)
    seeds = [const(1.0)] * len(made.seeds)
    b.ret(b.emit("call", *entry.params, *seeds, types=tuple(joint.results), callee=made.function)[-1])
    module.add(function)
    return function.name


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize(("name", "args"), CASES)
def test_gradient(name, args, split):
    module, function = load(name)
    value = run(module, *args, entry=function)[0]
    expected = difference(lambda x: run(load(name)[0], x, *args[1:], entry=function)[0], args[0])
    assert dependence(module, function) == (True, *[False] * (len(args) - 1))
    made = adjoint(module, function, dependence(module, function), split=split)
    verify(module)
    assert made.gradients == (0,)
    if split:
        y, *saved = run(module, *args, entry=made.forward)
        (g,) = run(module, *saved, 1.0, entry=made.reverse)
        assert run(module, *saved, 1.0, entry=made.reverse) == (g,)  # again
        assert close(run(module, *saved, -2.0, entry=made.reverse)[0], -2.0 * g, 1e-12)
    else:
        y, g = run(module, *args, 1.0, entry=made.function)
    assert y == value
    assert close(g, expected)


@pytest.mark.parametrize(("name", "args"), CASES)
def test_gradient_after_optimisation(name, args):
    module, function = load(name)
    made = adjoint(module, function, dependence(module, function))
    expected = run(module, *args, 1.0, entry=made.function)
    optimise(module, "full", verify=True)
    assert run(module, *args, 1.0, entry=made.function) == pytest.approx(expected, rel=1e-13)


@each_in_long_turn
@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize("name", sorted(SCALAR_CASES))
def test_nested(name, order):
    """Derivatives of derivatives: by calls out of line, and with the inner derivative inlined."""
    args = SCALAR_CASES[name][-1]
    lower = []
    for inlined in (False, True):
        module, function = load(name)
        for _ in range(order - 1):
            function = derivative(module, function)
            if inlined:
                optimise(module, "clean")
        lower = [run(module, args[0] + h, *args[1:], entry=function)[0] for h in (1e-4, -1e-4)]
        function = derivative(module, function)
        expected = (lower[0] - lower[1]) / 2e-4
        assert close(run(module, *args, entry=function)[0], expected, 2e-3), inlined


@pytest.mark.parametrize("split", [False, True])
def test_stencil(split):
    module, function = load("stencil")
    u, c = np.random.default_rng(0).random(7), 0.7
    value = lambda u, c: run(load("stencil")[0], u.copy(), c, entry=function)[0]
    made = adjoint(module, function, [True, True], split=split)
    verify(module)
    assert made.gradients == (0, 1)
    if split:
        y, *saved = run(module, u.copy(), c, entry=made.forward)
        du, dc = run(module, *saved, 1.0, entry=made.reverse)
        again, _ = run(module, *saved, 1.0, entry=made.reverse)
        assert np.array_equal(du, again)
    else:
        y, du, dc = run(module, u.copy(), c, 1.0, entry=made.function)
    assert y == value(u, c)
    for k in range(7):
        e = np.eye(7)[k]
        assert close(du[k], difference(lambda t, e=e: value(u + t * e, c), 0.0))
    assert close(dc, difference(lambda t: value(u, t), c))


def test_dependence_is_decided_by_data_flow():
    assert dependence(load("counted")[0], "pow") == (True, False)
    assert dependence(load("recursion")[0], "rec") == (True, False)
    assert dependence(load("stencil")[0], "arr") == (True, True)


def test_straight_line_keeps_no_stack():
    module, function = load("straight")
    made = adjoint(module, function, [True])
    text = str(module.functions[made.function])
    assert "stack" not in text
    assert text.count("log") == text.count("cos") == 1


@pytest.mark.parametrize("op", ["div", "sdiv"])
def test_both_slopes_of_a_quotient_come_of_one_division(op):
    text = f"func @f(%x: f64, %y: f64) -> f64 {{\nentry:\n  %q = {op} %x, %y : f64\n  return %q\n}}"
    module = parse_module(text)
    made = adjoint(module, "f", [True, True])
    assert str(module.functions[made.function]).count("= div ") == (2 if op == "div" else 1)
    for x, y in ((3.0, -7.0), (0.0, 2.0), (1e-200, 1e-200), (1e200, 1e150)):
        _, dx, dy = run(module, x, y, 1.5, entry=made.function)
        assert close(dx, 1.5 / y) and close(dy, -1.5 * (x / y) / y)


def test_counted_loop_reserves_its_tape():
    module, function = load("counted")
    made = adjoint(module, function, [True, False])
    text = str(module.functions[made.function])
    assert text.count("reserve") == 1
    assert text.count("push") == text.count("pop") == 1
    loop_simplify.run(module.functions[made.function])
    verify(module)


@pytest.mark.parametrize(("name", "args"), CASES)
def test_gradient_of_a_pullback(name, args):
    """Reverse over reverse, where the inner derivative is a pullback: its halves and the stacks between them."""
    module, function = load(name)
    params = module.functions[function].params
    made = adjoint(module, function, [True] + [False] * (len(params) - 1), split=True)
    forward, reverse = module.functions[made.forward], module.functions[made.reverse]
    pulled = Function("pulled", [], reverse.results)
    b = Builder(pulled)
    entry = b.new_block("entry")
    entry.params = [Value(p.type, p.name) for p in params]
    b.at(entry)
    _, *saved = b.emit("call", *entry.params, types=tuple(forward.results), callee=made.forward)
    b.ret(*b.emit("call", *saved, const(1.0), types=tuple(reverse.results), callee=made.reverse))
    module.add(pulled)
    expected = difference(lambda x: run(module, x, *args[1:], entry="pulled")[0], args[0], 1e-4)
    second = derivative(module, "pulled")
    assert close(run(module, *args, entry=second)[0], expected, 1e-4)


OBJECT_PROGRAM = """
func @f(%x: object, %n: object) -> object {
entry:
  jump loop(1.0:object, 0:object)
loop(%r: object, %i: object):
  %c = lt %i, %n : object
  %more = truth %c : bool
  branch %more, body, done
body:
  %s = call_object <math.sin>, %r {keywords=()} : object
  %t = mul %s, %x : object
  %p = tuple %t, %x : object
  %u, %v = unpack %p {count=2} : object, object
  %w = add %u, %v : object
  %i1 = add %i, 1:object : object
  jump loop(%w, %i1)
done:
  %q = truediv %r, %x : object
  return %q
}
"""


def test_objects():
    """Python ops get two halves of Python ops; the rules run when the code runs."""
    module = parse_module(OBJECT_PROGRAM)
    made = adjoint(module, "f", [True, False], split=True)
    verify(module)
    forward, reverse = module.functions[made.forward], module.functions[made.reverse]
    assert [i.op for _, i in forward.instructions()].count("record") == 6
    assert [i.op for _, i in reverse.instructions()].count("pull") == 6
    text = str(module)
    assert str(parse_module(text)) == text


ROTATED = """
func @rotated(%x: f64, %n: i64) -> f64 {
entry:
  %go = gt %n, 0 : bool
  branch %go, loop(1.0, %n), done(1.0)
loop(%r: f64, %i: i64):
  %i1 = csub %i, 1 : i64
  %r1 = mul %r, %x : f64
  %more = TEST : bool
  branch %more, loop(%r1, %i1), done(%r1)
done(%y: f64):
  return %y
}
"""


@pytest.mark.parametrize("test", ["gt %i1, 0", "gt %i, 1", "ge %i1, 1", "lt 0, %i1"])
@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_loops_that_test_at_the_end(test, n):
    """CPython compiles `while` so. The trip count is known, so is the room on the tape."""
    module = parse_module(ROTATED.replace("TEST", test))
    made = adjoint(module, "rotated", [True, False])
    verify(module)
    function = module.functions[made.function]
    assert [i.op for _, i in function.instructions()].count("reserve") == 1
    value, g = run(module, 1.5, n, 1.0, entry=made.function)
    assert value == 1.5**n
    assert g == pytest.approx(n * 1.5 ** (n - 1))
