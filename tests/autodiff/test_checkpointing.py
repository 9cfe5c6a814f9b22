"""Checkpointed loops: the derivatives are those of the plain loop, to the last bit or nearly; what the tape holds and how
often iterations run is as theory says."""

import copy
import functools
import itertools
import math
import subprocess
import sys

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn
from zyg.inspection import tape_bytes

pytestmark = each_in_turn


def scalars(loop):
    def f(x, y, n):
        for i in loop(range(n)):
            x, y = math.sin(x) + 0.1 * y, x * y * 0.9 + i * 0.01
        return x * y

    return f, (1.0, 0.5, 50)


def in_place(loop):
    def f(a, n):
        for _ in loop(range(n)):
            for j in range(1, len(a)):
                a[j] = a[j] * 0.9 + math.sin(a[j - 1])
        return a.sum() + a[2] * a[1]

    return f, (np.linspace(0.1, 1, 5), 40)


def a_view_made_before_the_loop(loop):
    def f(a, n):
        v = a[1:]
        for i in loop(range(n)):
            v[i % 4] = v[i % 4] * 0.9 + a[0] * a[2]
            a[0] = a[0] + 0.01 * v[3]
        return a.sum()

    return f, (np.linspace(0.1, 1, 5), 40)


def two_buffers(loop):
    def f(a, n):
        b = a.copy()
        for _ in loop(range(n)):
            for j in range(1, len(a) - 1):
                b[j] = a[j] + 0.1 * (a[j - 1] - 2 * a[j] + a[j + 1]) * a[j]
            a, b = b, a
        return a.sum() * a[2]

    return f, (np.linspace(0.1, 1, 6) ** 2, 41)


def arrays_made_in_the_loop(loop):
    def f(x, n):
        u = np.zeros(3)
        u[0] = x
        u[1] = 0.3
        for _ in loop(range(n)):
            w = np.zeros(3)
            for j in range(3):
                w[j] = math.sin(u[j]) + 0.5 * u[(j + 1) % 3]
            u = w
        return u[0] * u[1]

    return f, (1.0, 13)


def arrays_that_are_read(loop):
    def f(a, b, n):
        s = 0.0
        for i in loop(range(n)):
            s = math.sin(s * b[i % 3] + a[i % 3])
        return s

    return f, (np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0]), 13)


def left_early(loop):
    def f(x, n):
        s = 0.0
        for i in loop(range(n)):
            x = x * 1.1 + 0.01
            if x > 5.0:
                s = x * 2
                break
            if i % 3 == 0:
                continue
            s += x * x
        else:
            s = s * 3
        return s + x

    return f, (1.0, 60)


def returned_from(loop):
    def f(x, n):
        for _ in loop(range(n)):
            x = x * 1.1 + 0.01
            if x > 5.0:
                return x * x
        return x

    return f, (1.0, 60)


def nested(loop):
    def f(x, n):
        s = 0.0
        for i in loop(range(n)):
            for j in loop(range(n)):
                x = math.sin(x) + 0.01 * j
                s += x * i
        return s

    return f, (1.0, 13)


def inside_a_plain_loop(loop):
    def f(a, n):
        s = 0.0
        for _ in range(4):
            for j in loop(range(n)):
                s = math.sin(s + a[j % 3])
            a[1] = a[1] * s
        return s

    return f, (np.array([0.1, 0.2, 0.3]), 13)


def in_a_callee(loop):
    def inner(x, n):
        for j in loop(range(n)):
            x = math.sin(x) + 0.01 * j
        return x

    def f(x, n):
        return inner(x, n) * inner(x * 2, n + 3)

    return f, (1.0, 13)


def in_recursion(loop):
    def f(x):
        def g(x, depth):
            if depth == 0:
                return math.sin(x)
            for _ in loop(range(3)):
                x = g(x, depth - 1) * 1.1
            return x

        return g(x, 3)

    return f, (1.0,)


def no_iterations(loop):
    def f(x, n):
        for _ in loop(range(n)):
            x = x * 2
        return x

    return f, (1.0, 0)


def over_an_array(loop):
    def f(a):
        s = 1.0
        for i, v in enumerate(loop(a)):
            s = s * v + i
        return s

    return f, (np.linspace(0.5, 1, 9),)


def a_list_that_grows(loop):
    def f(x, n):
        xs = [x]
        for i in loop(range(n)):
            xs.append(math.sin(xs[i]) + x)
        return xs[n] * xs[n - 1]

    return f, (1.0, 11)


PROGRAMS = [
    scalars, in_place, a_view_made_before_the_loop, two_buffers, arrays_made_in_the_loop, arrays_that_are_read, left_early,
    returned_from, nested, inside_a_plain_loop, in_a_callee, in_recursion, no_iterations, over_an_array, a_list_that_grows,
]  # fmt: skip
SCHEDULES = {
    "every=3": lambda items: zyg.checkpointed(items, every=3),
    "sqrt": lambda items: zyg.checkpointed(items),
    "snapshots=1": lambda items: zyg.checkpointed(items, snapshots=1),
    "snapshots=3": lambda items: zyg.checkpointed(items, snapshots=3),
}


def plain(items):
    return items


@functools.cache
def of_the_plain_loop(program):
    f, args = program(plain)
    return zyg.withgradient(f, *args)


def same(got, wanted):
    if wanted is None:
        return got is None
    return got is not None and np.allclose(got, wanted, rtol=1e-12, atol=0.0)


@each_in_long_turn
@pytest.mark.parametrize(("program", "schedule"), list(itertools.product(PROGRAMS, SCHEDULES)),
                         ids=lambda x: getattr(x, "__name__", x))  # fmt: skip
def test_gradient_and_value_are_those_of_the_plain_loop(program, schedule):
    g, args = program(SCHEDULES[schedule])
    assert zyg.jit(g)(*copy.deepcopy(args)) == program(plain)[0](*copy.deepcopy(args))
    wanted = of_the_plain_loop(program)
    got = zyg.withgradient(g, *copy.deepcopy(args))
    assert got[0] == wanted[0]
    assert all(map(same, got[1], wanted[1])), (got, wanted)


@pytest.mark.parametrize("schedule", ["snapshots=3"])
@each_in_long_turn
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_a_pullback_can_be_called_again_after_the_arguments_have_changed(program, schedule):
    g, args = program(SCHEDULES[schedule])
    _, wanted = of_the_plain_loop(program)
    given = copy.deepcopy(args)
    _, back = zyg.pullback(g, *given)
    for a in given:
        if isinstance(a, np.ndarray):
            a[...] = 77.0
    assert all(map(same, back(1.0), wanted))
    assert all(map(same, back(2.0), [w if w is None else w * 2 for w in wanted]))


@each_in_long_turn
@pytest.mark.parametrize("schedule", ["every=3", "snapshots=3"])
@each_in_turn
@pytest.mark.parametrize("program", [scalars, in_place, two_buffers, arrays_made_in_the_loop, nested, in_a_callee],
                         ids=lambda p: p.__name__)  # fmt: skip
def test_second_derivatives(program, schedule):
    def second(f, args):
        if isinstance(args[0], float):
            return zyg.derivative(zyg.derivative(lambda x: f(x, *args[1:])))(args[0])
        return zyg.gradient(lambda a: zyg.gradient(f, a.copy(), *args[1:])[0][1], args[0].copy())[0]

    f, args = program(plain)
    g, _ = program(SCHEDULES[schedule])
    np.testing.assert_allclose(second(g, args), second(f, args), rtol=1e-10)


@each_in_long_turn
def test_third_derivative():
    f, _ = scalars(plain)
    g, _ = scalars(SCHEDULES["every=3"])
    third = lambda f: zyg.derivative(zyg.derivative(zyg.derivative(lambda x: f(x, 0.5, 20))))(1.0)
    assert third(g) == pytest.approx(third(f), rel=1e-9)


def test_forward_mode_sees_the_plain_loop():
    f, _ = scalars(plain)
    g, _ = scalars(SCHEDULES["every=3"])
    of = lambda f: zyg.pushforward(lambda x: f(x, 0.5, 20), 1.0)[1](1.0)
    assert of(g) == of(f)


def step(loop):
    def f(x, n):
        for _ in loop(range(n)):
            x = math.sin(x) * 1.001 + 0.1 * math.cos(x)
        return x

    return f


def test_row_35_the_tape_grows_with_the_square_root():
    f = step(lambda items: zyg.checkpointed(items))
    sizes = [tape_bytes(f, 1.0, n) for n in (1000, 4000, 16000, 64000)]
    assert tape_bytes(step(plain), 1.0, 64000) > 50 * sizes[-1]
    for small, large in itertools.pairwise(sizes):
        assert 1.8 < large / small < 2.2


def test_the_tape_of_a_binomial_schedule_depends_on_the_number_of_snapshots_only():
    f = step(lambda items: zyg.checkpointed(items, snapshots=6))
    assert tape_bytes(f, 1.0, 200) == tape_bytes(f, 1.0, 20000) < 1000


@pytest.fixture
def executions(capsys):
    """How often an iteration runs during a gradient."""

    def count(schedule, n):
        def f(x):
            for _ in schedule(range(n)):
                print()
                x = math.sin(x)
            return x

        zyg.gradient(f, 1.0)
        return capsys.readouterr().out.count("\n")

    return count


def revolve(n, s):
    """The fewest executions by which n iterations can be reversed with s snapshots: Griewank and Walther's formula, and one
    more for each iteration, whose inside is recorded then."""
    r = 0
    while math.comb(s + r, s) < n:
        r += 1
    return (r + 1) * n - math.comb(s + r, s + 1)


@functools.cache
def fewest(n, s):
    """The same by search."""
    if n == 1 or s == 0:
        return n if n == 1 else math.inf
    return min(first + fewest(n - first, s - 1) + fewest(first, s) for first in range(1, n))


def test_the_formula_for_binomial_schedules_is_the_optimum():
    assert all(revolve(n, s) == fewest(n, s) for s in range(1, 6) for n in range(1, 60))


@pytest.mark.parametrize("s, n", [(1, 10), (3, 40), (5, 100), (8, 300)])
def test_iterations_run_as_often_as_theory_says_binomial(executions, s, n):
    assert executions(lambda items: zyg.checkpointed(items, snapshots=s), n) == revolve(n, s)


@pytest.mark.parametrize("every, n", [(None, 100), (7, 100), (100, 100), (1, 20)])
def test_iterations_run_twice(executions, every, n):
    assert executions(lambda items: zyg.checkpointed(items, every=every), n) == 2 * n


def test_arrays_that_share_memory_are_refused():
    def f(a, b):
        x, y = (a, b) if a[0] > 0.0 else (b, a)
        for i in zyg.checkpointed(range(10), every=2):
            x[i % 2] = x[i % 2] + y[1] * 0.5
        return x[0] * y[1]

    a = np.linspace(0.1, 1.0, 6)
    assert zyg.gradient(f, a[:3].copy(), a[3:].copy())
    with pytest.raises(ValueError, match="overlap"):
        zyg.gradient(f, a[:3], a[1:4])


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="every is at least 1, not 0"):
        zyg.checkpointed(range(3), every=0)
    with pytest.raises(TypeError, match="either every= or snapshots="):
        zyg.checkpointed(range(3), every=2, snapshots=2)
    with pytest.raises(TypeError, match="every is a number"):
        zyg.checkpointed(range(3), every="2")
    with pytest.raises(TypeError, match="say every="):
        zyg.checkpointed(iter(range(3)))

    def f(x, k):
        for _ in zyg.checkpointed(range(3), every=k):
            x = x * x
        return x

    with pytest.raises(ValueError, match="every is at least 1"):
        zyg.gradient(f, 1.0, 0)
    assert zyg.gradient(f, 1.0, 2) == (8.0, None)


def test_outside_differentiation_it_is_the_iterable():
    r = range(3)
    assert zyg.checkpointed(r) is r


# ------------------------------------------------------------------------------------------- a call at a time

WEIGHTS = np.array([1.0, 2.0])


def test_row_35_checkpoint_of_in_place_code_and_of_captured_arrays():
    def scale(a, s):
        for i in range(len(a)):
            a[i] *= s * WEIGHTS[1]

    def f(run):
        def g(a, s):
            run(scale, a, s)
            run(scale, a, s)
            return a.sum()

        return g

    a = np.array([1.0, 2.0, 3.0])
    wanted = zyg.gradient(f(lambda g, *args: g(*args)), a.copy(), 2.0)
    got = zyg.gradient(f(zyg.checkpoint), a.copy(), 2.0)
    assert got[1] == wanted[1] == 96.0 and got[0].tolist() == wanted[0].tolist()


def test_checkpoint_of_a_closure_that_captures_what_is_differentiated():
    def f(x):
        y = x * x
        return zyg.checkpoint(lambda z: z * y, x)

    assert zyg.gradient(f, 3.0) == (27.0,)


def test_row_35_checkpoint_in_a_loop_saves_memory():
    def f(run):
        def g(x, n):
            for _ in range(n):
                x = run(lambda t: math.sin(math.cos(math.exp(t)) * t) * t + 0.3, x)
            return x

        return g

    direct, checked = f(lambda h, x: h(x)), f(zyg.checkpoint)
    assert zyg.gradient(checked, 0.5, 10) == zyg.gradient(direct, 0.5, 10)
    assert tape_bytes(direct, 0.5, 1000) > 3.5 * tape_bytes(checked, 0.5, 1000)


def test_checkpoint_of_a_structured_value():
    assert zyg.gradient(lambda x: zyg.checkpoint(lambda t: (t * t, t), x)[0], 3.0) == (6.0,)
    second = zyg.derivative(zyg.derivative(lambda x: zyg.checkpoint(math.sin, x) * x))
    assert second(0.3) == pytest.approx(2 * math.cos(0.3) - 0.3 * math.sin(0.3))


def test_the_pullback_of_a_recursive_function_is_native():
    def power(x, n):
        return 1.0 if n == 0 else x * power(x, n - 1)

    _, back = zyg.pullback(power, 1.5, 5)
    assert back(2.0) == (pytest.approx(10.0 * 1.5**4), None)


MEMORY = """
import resource, sys
import numpy as np
import zyg

def f(a, n):
    for _ in {loop}:
        for j in range(1, len(a)):
            a[j] = a[j] * 0.9 + 0.1 * a[j] * a[j - 1]
    return a[len(a) - 1]

a = np.linspace(0.1, 1.0, {size})
zyg.gradient(f, a.copy(), 3)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
zyg.gradient(f, a.copy(), {n})
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize(
    "loop, most", [("zyg.checkpointed(range(n))", 16), ("zyg.checkpointed(range(n), snapshots=8)", 8)]
)
def test_row_35_memory_falls_with_arrays(loop, most):
    """Resident memory in MB: the states are copies of the array, and what segments saved is given back."""
    n, size = 1000, 10_000
    plain = n * size * 2 * 8 / 2**20
    script = MEMORY.format(loop=loop, n=n, size=size)
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert plain > 150 and int(ran.stdout) / 1024 < most


@each_in_long_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_second_derivatives_where_an_argument_is_written_and_the_arrays_are_exchanged():
    """What goes by way of a gradient of the gradient has the argument once: not also as something that is captured."""

    def f(x, y):
        for _ in zyg.checkpointed(range(4)):
            x[1:] += 0.1 * np.sin(x[:-1]) * y[1:]
            x, y = y * 1.0, x * 1.0
        return x @ y

    x, y, v = np.array([0.5, -1.5, 2.25, 0.8]), np.array([0.3, 0.7, -0.2, 1.1]), np.array([1.0, 0.5, -1.0, 2.0])
    slope = lambda h, d: zyg.gradient(f, x + h * d, y.copy())[0]
    along = lambda d: (slope(1e-5, d) - slope(-1e-5, d)) / 2e-5
    assert zyg.hvp(f, x.copy(), y.copy(), v) == pytest.approx(along(v), rel=1e-6, abs=1e-8)
    expected = np.array([along(e) for e in np.eye(4)])
    assert zyg.hessian(f, x.copy(), y.copy()) == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert zyg.hvp(f, x.copy(), y.copy(), y, argnums=1).shape == (4,)
