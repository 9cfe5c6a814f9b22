"""What is made of a function that is kept, by functions which take it as their first argument: it is found as the function is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import zyg
from tests.turns import by_one_python_a_day, each_in_long_turn

from .test_programs import function, place  # noqa: F401  (a fixture)
from .worlds import World, same

OF_ARRAYS = {
    "gradient": "zyg.gradient({f}, x)",
    "gradient by two": "zyg.gradient({f}, x, 2.0)",
    "withgradient": "zyg.withgradient({f}, x)",
    "jvp": "zyg.jvp({f}, (x,), (v,))",
    "pushforward": "(lambda y, push: (y, push(v), push(x)))(*zyg.pushforward({f}, x))",
    "hvp": "zyg.hvp({f}, x, v)",
    "hvp by two": "zyg.hvp({f}, x, 2.0, (v, 1.0), argnums=(0, 1))",
    "hessian": "zyg.hessian({f}, x)",
    "hessian by two": "zyg.hessian({f}, x, 2.0, argnums=(0, 1))",
    "jacobian": "zyg.jacobian({f}, x)",
    "jacobian by one": "zyg.jacobian({f}, x, 2.0, argnums=1)",
    "by keyword": "zyg.gradient({f}, x, k=3.0)",
}
GIVEN = "x = np.linspace(0.3, 1.0, 4)\nv = np.array([1.0, -2.0, 0.5, 3.0])\n"


def program(body, before="", arguments="x, k=1.5"):
    return GIVEN + before + function(body, arguments)


PLAIN = program("return np.sum(np.sqrt(x) * x ** 2) * k")
CALLING = program(
    "return np.sum(g(x) * c) * k + kept_helper.h(x[0])",
    "import kept_helper\nc = np.arange(4.0)\ndef g(x): return x ** 3\n",
)
HELPER = "def h(x): return x * x"


@by_one_python_a_day
@pytest.mark.parametrize("name", OF_ARRAYS)
@pytest.mark.parametrize("main", [PLAIN, CALLING], ids=["alone", "calling"])
def test_derivatives_are_found(name, main):
    call = OF_ARRAYS[name]
    first, there = World(main, HELPER).call(call.format(f="f"))
    assert not there
    world = World(main, HELPER)
    second, there = world.call(call.format(f="f"))
    assert there and same(first, second)
    # Who does not want it kept has it compiled, and the same.
    world = World(main.replace("cache=True", "cache=False"), HELPER)
    third, there = world.call(call.format(f="f"))
    assert not there and same(first, third)


CAPTURING = (
    GIVEN
    + "def make(c, g):\n    @zyg.jit(cache=True)\n    def f(x, k=1.5):\n        return np.sum(c * g(x)) * k\n    return f\n"
)
METHOD = (
    GIVEN
    + "class P:\n    def __init__(self, a): self.a = a\n    @zyg.jit(cache=True)\n    def m(self, x, k=1.5): return self.a * np.sum(x ** 3) * k\np = P(2.0)\n"
)
OTHERS = {
    "of what is captured": (CAPTURING + "f = make(np.arange(4.0), np.sqrt)\n", "zyg.pushforward(f, x)[1](v), zyg.jvp(f, (x,), (v,)), zyg.gradient(f, x)"),
    "of a method": (METHOD, "zyg.gradient(p.m, x), zyg.jacobian(p.m, x), zyg.jvp(p.m, (x,), (v,))"),
    "of a partial": ("import functools\n" + program("return np.sum(y * x ** 3)", arguments="y, x"), "zyg.gradient(functools.partial(f, x), v)"),
    "of a derivative": (PLAIN, "zyg.jacobian(zyg.grad(f), x), zyg.gradient(zyg.derivative(zyg.jit(lambda y: y ** 3, cache=True)), 2.0)"),
    "by an object": (program("return x.a * x.b", "@dataclasses.dataclass\nclass P:\n    a: float\n    b: float\n"), "zyg.gradient(f, P(2.0, 3.0)), zyg.hessian(f, P(2.0, 3.0))"),
    "by a list of objects": (program("return sum([p.a * p.a for p in x])", "@dataclasses.dataclass\nclass P:\n    a: float\n"), "zyg.gradient(f, [P(1.0 * i) for i in range(50)])"),
    "with an integer that has to be a constant": (program("return np.sum(np.sum(y, axis=k) ** 2)", "y = np.ones((2, 3))\n", "y, k"), "zyg.gradient(f, y, 1), zyg.hessian(f, y, 0)"),
    "given another that is kept": (program("return np.sum(g(x))", "@zyg.jit(cache=True)\ndef g(x): return x ** 3\n", "g, x"), "zyg.gradient(f, g, x)[1]"),
    "of a function that writes": (program("x[0] = x[1] * k\nreturn x"), "zyg.jacobian(f, x.copy()), zyg.jvp(f, (x.copy(),), (v,))"),
    "of a function that prints": (program("print(k)\nreturn np.sum(x) * k"), "zyg.gradient(f, x), zyg.pushforward(f, x)[0]"),
}  # fmt: skip


@by_one_python_a_day
@pytest.mark.parametrize("name", OTHERS)
def test_other_derivatives_are_found(name):
    main, call = OTHERS[name]
    first, there = World(main).call(call)
    assert not there
    second, there = World(main).call(call)
    if name not in ("of a function that prints",):  # (whose `push` is made of a pullback)
        assert there
    assert same(first, second)
    assert same(first, World(main.replace("cache=True", "cache=False")).call(call)[0])


CAPTURED = CAPTURING + "f = make({}, {})\n"
# What it was, what it is, of the function `f` that is differentiated.
CHANGED = {
    "the body": (PLAIN, PLAIN.replace("x ** 2", "x ** 3")),
    "a callee": (CALLING, CALLING.replace("x ** 3", "x ** 4")),
    "a callee of another module": ((CALLING, HELPER), (CALLING, "def h(x): return x ** 5")),
    "the type of a global": (CALLING, CALLING.replace("np.arange(4.0)", "2.0")),
    "a default": (PLAIN, PLAIN.replace("k=1.5", "k=(1.5, 2.0)[1]")),
    "a function that is captured": (CAPTURED.format("2.0", "np.sqrt"), CAPTURED.format("2.0", "np.square")),
    "an option": (PLAIN, PLAIN.replace("cache=True", "cache=True, error_model='numpy'")),
}


@by_one_python_a_day
@pytest.mark.parametrize("name", CHANGED)
@pytest.mark.parametrize("kind", ["gradient", "jvp", "pushforward", "hessian", "jacobian"])
def test_what_was_changed_is_seen(name, kind):
    before, after = [(x, HELPER) if isinstance(x, str) else x for x in CHANGED[name]]
    call = OF_ARRAYS[kind].format(f="f")
    World(*before).call(call)
    value, there = World(*after).call(call)
    assert not there
    expected, _ = World(after[0].replace("cache=True", "cache=False"), after[1]).call(call)
    assert same(value, expected)
    assert name == "an option" or not same(value, World(*before).call(call)[0])


@by_one_python_a_day
@pytest.mark.parametrize("kind", ["gradient", "jvp", "pushforward"])
def test_values_of_variables_are_read_at_each_call(kind):
    call = OF_ARRAYS[kind].format(f="f")
    World(CALLING, HELPER).call(call)
    other = CALLING.replace("np.arange(4.0)", "np.arange(4.0) ** 2 - 5.0")
    value, there = World(other, HELPER).call(call)
    assert there
    assert same(value, World(other.replace("cache=True", "cache=False"), HELPER).call(call)[0])


def test_which_variable_is_which():
    """`push` reads variables as they were when the function ran: two of the same type are told apart."""
    text = (
        GIVEN
        + "def make(a, b):\n    {}\n    @zyg.jit(cache=True)\n    def f(x):\n        return np.sum(x ** 2 * a - x * b)\n    return f\nf = make(2.0, 3.0)\n"
    )
    for order in ("a, b", "b, a"):
        main = text.format(f"late = lambda: ({order})")
        for _ in range(2):
            world = World(main)
            value, _ = world.call("zyg.pushforward(f, x)[1](v)")
            assert abs(value - eval("np.sum((4 * x - 3) * v)", vars(world.main))) < 1e-12


@each_in_long_turn
def test_other_transforms_and_arguments_are_others():
    calls = [call.format(f="f") for call in OF_ARRAYS.values()]
    others = [
        "zyg.hvp(f, x, 2.0, 1.0, argnums=1)",
        "zyg.hessian(f, x, 2.0, argnums=1)",
        "zyg.jacobian(f, x, 2.0)",
        "zyg.gradient(f, 0.5)",
    ]
    found = []
    for call in [*calls, *others]:
        value, there = World(PLAIN).call(call)
        assert not there, call
        found.append(value)
    for call, value in zip([*calls, *others], found, strict=True):
        again, there = World(PLAIN).call(call)
        assert there and same(again, value)


RULED = GIVEN + "def g(x): return x * x\n" + function("return g(x)")


@pytest.mark.parametrize("of", ["g", "f", "f.py_func"])
@pytest.mark.parametrize("call", ["zyg.gradient(f, 2.5)[0]", "zyg.hvp(f, 2.5, 1.0)"])
def test_rules(of, call):
    plain, _ = World(RULED).call(call)
    world = World(RULED)
    assert world.call(call) == (plain, True)
    ruled = eval(of, vars(world.main))
    zyg.adjoint(ruled)(lambda x: (x * x, lambda d: (100.0 * x * x * d,)))
    with_rule = eval(call, vars(world.main))
    world = World(RULED)
    zyg.adjoint(eval(of, vars(world.main)))(lambda x: (x * x, lambda d: (100.0 * x * x * d,)))
    value, there = world.call(call)
    assert value == with_rule
    if value != plain:
        assert not there
    assert of == "f.py_func" or value != plain
    assert World(RULED).call(call) == (plain, True)


def test_a_rule_for_forward_mode():
    call = "zyg.jvp(f, (2.5,), (1.0,)), zyg.pushforward(f, 2.5)[1](1.0)"
    World(RULED).call(call)
    world = World(RULED)
    zyg.tangent(world.main.g)(lambda x: (x * x, lambda t: 50.0 * t))
    assert world.call(call) == (((6.25, 50.0), 50.0), False)


@pytest.mark.parametrize("damage", [b"", b"rubbish"])
def test_damaged_entries_are_written_anew(place, damage):  # noqa: F811
    call = "zyg.gradient(f, x), zyg.hvp(f, x, v)"
    first, _ = World(PLAIN).call(call)
    for entry in place.iterdir():
        entry.write_bytes(damage)
    for there in (False, True):
        value, found = World(PLAIN).call(call)
        assert same(value, first) and found == there


def test_errors_are_raised_by_what_was_found():
    text = GIVEN + function("if x > 3.0:\n    raise ValueError('too large')\nreturn k ** 40 / (x - 2.0)", "x, k=1")
    World(text).call("zyg.gradient(f, 1.0, 1)")
    for call, error in (("4.0, 1", ValueError), ("2.0, 1", ZeroDivisionError), ("1.0, 10", OverflowError)):
        world = World(text)
        assert world.call("zyg.gradient(f, 1.0, 1)")[1]
        with pytest.raises(error):
            eval(f"zyg.gradient(f, {call})", vars(world.main))


SCRIPT = """
import sys
import numpy as np
import zyg
from zyg.pipeline import timings

@zyg.jit(cache=True)
def f(x, c=2.0):
    s = 0.0
    for i in range(len(x)):
        s += x[i] ** 3 * c
    return s

x, v = np.arange(3.0), np.ones(3)
with timings() as times:
    print([
        zyg.gradient(f, x), zyg.withgradient(f, x), zyg.jvp(f, (x,), (v,)), zyg.hvp(f, x, v), zyg.hessian(f, x),
        zyg.jacobian(f, x), zyg.pushforward(f, x)[1](v),
    ])
print(sorted({stage for _, stage, _ in times}), "zyg.frontend.infer" in sys.modules)
"""


@each_in_long_turn
def test_another_process_finds_derivatives(tmp_path):
    (tmp_path / "main.py").write_text(SCRIPT)

    def run():
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, str(tmp_path / "main.py")], capture_output=True, text=True, env=environment
        )
        assert done.returncode == 0, done.stderr
        *values, stages = done.stdout.splitlines()
        return values, stages

    values, stages = run()
    assert "typed" in stages
    assert run() == (values, "['kept'] False")
