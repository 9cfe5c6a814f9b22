"""Forward mode, and every mix of modes: `jvp`, `pushforward`, `hvp`, `hessian`, `jacobian`.

The oracles are dual numbers and their nests (tests/oracles), and mathematics.
"""

import functools
import itertools
import math
import warnings

import numpy as np
import pytest

import zyg
from zyg.library.drivers import several

from .oracles import dual
from .turns import each_in_turn

pytestmark = each_in_turn


def forward(f):
    return lambda x: zyg.jvp(f, (x,), (1.0,))[1]


reverse = zyg.derivative
MODES = {"F": forward, "R": reverse}


def mixed(f, modes):
    """The derivative of `f` by these modes, the outermost first, compiled as one."""
    for mode in reversed(modes):
        f = MODES[mode](f)
    return zyg.jit(f)


# ------------------------------------------------------------------------------------------------ programs


def power(x):
    n, r = 6, 1.0
    while n > 0:
        n -= 1
        r *= x
    return r


def loop_and_branch(x):
    total = 0.0
    for i in range(7):
        if i == 3:
            continue
        if total > 4.0:
            break
        y = math.sin(x * i) if i % 2 else x * x
        total += y * total + y
    return total


def mutation(x):
    a = np.zeros(5)
    a[0] = x
    for i in range(1, 5):
        a[i] = a[i - 1] * x + math.cos(a[i - 1])
    b = a[1:4]
    for _ in range(2):
        for j in range(len(b)):
            b[j] += a[j] * b[j]
    a[2] = a[4] / (1.0 + a[1] * a[1])
    return a[2] * a[3] + a.sum()


def factorial_power(x, n=4):
    return 1.0 if n == 0 else x * factorial_power(x * 0.9, n - 1)


def even(x, n):
    return x if n == 0 else odd(x * x + 0.1, n - 1)


def odd(x, n):
    return math.sin(x) if n == 0 else x * even(x - 0.3, n - 1)


def mutual(x):
    return even(x, 3) + odd(x, 2)


def swapped(x):
    a, b = x, 1.0
    for _ in range(5):
        a, b = b * x, a + b
    return a / b


def closure(x):
    total = 0.0

    def add(y):
        nonlocal total
        total += y * x

    for i in range(4):
        add(math.exp(-x * i))
    return total


def recursive_mutation(x):
    a = np.zeros(4)
    a[:] = x

    def go(i):
        if i < 4:
            a[i] = a[i] * a[i - 1] + i
            go(i + 1)
            a[0] = a[0] + a[i] * x

    go(1)
    return a[0]


PROGRAMS = [
    power, loop_and_branch, mutation, factorial_power, mutual, swapped, closure, recursive_mutation
]  # fmt: skip


SECOND = ["FF", "FR", "RF", "RR"]
THIRD = list(map("".join, itertools.product("FR", repeat=3)))
MIXES = [(p, m) for p in PROGRAMS for m in ["F", *SECOND]]
MIXES += [(p, m) for p in (loop_and_branch, mutation, recursive_mutation) for m in THIRD]
MIXES += [(p, m) for p in (mutual, swapped, closure) for m in ("FRF", "RFR")]


@each_in_turn
@pytest.mark.parametrize(("program", "modes"), MIXES, ids=lambda x: getattr(x, "__name__", x))
def test_every_mix_of_modes(program, modes):
    x = 0.7
    expected = dual.derivative(program, len(modes))(x)
    assert mixed(program, modes)(x) == pytest.approx(expected, rel=1e-10)


def test_fourth_and_fifth_derivatives():
    for modes in ("FRFR", "RFFR", "RRFF", "FFRRF"):
        order = len(modes)
        expected = math.prod(range(7 - order, 7)) * 0.7 ** (6 - order)
        assert mixed(power, modes)(0.7) == pytest.approx(expected, rel=1e-12)


# -------------------------------------------------------------------------------------------- the functions


def test_jvp():
    value, tangent = zyg.jvp(lambda x, y: math.sin(x) * y / x, (2.0, 3.0), (1.0, 0.5))
    assert value == math.sin(2.0) * 3.0 / 2.0
    expected = math.cos(2.0) * 1.5 - math.sin(2.0) * 0.75 + math.sin(2.0) / 2.0 * 0.5
    assert tangent == pytest.approx(expected, rel=1e-15)


def test_row_38_pushforward():
    y, push = zyg.pushforward(math.sin, 0.5)
    assert (y, push(1.0), push(2.0)) == (math.sin(0.5), math.cos(0.5), 2.0 * math.cos(0.5))
    assert "pushforward of sin" in repr(push)


def test_a_tangent_of_each_structure():
    def f(pair, a, n, flag):
        return [pair[0] * a[0], pair[1] + a[1]], a * 2.0 if False else a, n, flag

    a = np.array([1.0, 2.0])
    _, tangent = zyg.jvp(f, ((3.0, 4.0), a, 5, True), ((1.0, None), np.array([0.5, 0.25]), None, None))
    assert tangent[0] == [1.0 * 1.0 + 3.0 * 0.5, 0.25]
    assert tangent[1].tolist() == [0.5, 0.25]
    assert tangent[2:] == (0.0, None)


def test_what_does_not_depend_has_a_zero_tangent():
    assert zyg.jvp(lambda x, y: y, (1.0, 2.0), (1.0, None)) == (2.0, 0.0)
    assert zyg.jvp(lambda x: math.floor(x), (1.5,), (1.0,)) == (1, 0.0)
    value, tangent = zyg.jvp(lambda x: np.ones(2), (1.0,), (1.0,))
    assert value.tolist() == [1.0, 1.0] and tangent.tolist() == [0.0, 0.0]


def test_integers_are_numbers():
    assert zyg.jvp(lambda x, n: x * n, (2.0, 3), (0.0, 1)) == (6.0, 2.0)


def test_float32():
    def f(a):
        return a[0] * a[1]

    a = np.array([2.0, 3.0], np.float32)
    value, tangent = zyg.jvp(f, (a,), (np.array([1.0, 0.0], np.float32),))
    assert (value, tangent) == (6.0, 3.0)


def test_keywords_are_constants():
    def f(x, scale=1.0):
        return x * x * scale

    assert zyg.jvp(f, (3.0,), (1.0,), scale=2.0) == (18.0, 12.0)
    assert zyg.hvp(f, 3.0, 1.0, scale=2.0) == 4.0
    assert zyg.hessian(f, 3.0, scale=5.0) == 10.0
    assert zyg.pushforward(f, 3.0, scale=2.0)[1](1.0) == 12.0


def test_writes_are_seen_by_the_caller_and_tangents_are_not_written_to():
    def f(a):
        a[0] = a[0] * a[1]
        return a[0] + a[1]

    a, t = np.array([2.0, 3.0]), np.array([1.0, 0.5])
    assert zyg.jvp(f, (a,), (t,)) == (9.0, 3.0 + 1.0 + 0.5)
    assert a.tolist() == [6.0, 3.0] and t.tolist() == [1.0, 0.5]


def test_push_refers_to_the_arguments_as_they_were():
    def f(a):
        a[0] = a[0] * a[1]
        return a[0] + a[1]

    a = np.array([2.0, 3.0])
    value, push = zyg.pushforward(f, a)
    assert value == 9.0 and a.tolist() == [6.0, 3.0]
    a[:] = 100.0
    assert [push(np.array([1.0, 0.5])) for _ in range(2)] == [4.5, 4.5]


def test_views_and_aliases():
    def f(a):
        row, column = a[1], a[:, 0]
        row[0] = row[1] * a[0, 0]
        column[1] += row[1]
        b = a.flatten()
        c = np.zeros((2, 2))
        c[:] = a
        c[0] = a[1]
        c.fill(b[2])
        return row[0] * b[1] + c[0, 1]

    a = np.array([[0.5, 1.5], [2.5, 3.5]])
    gradient = dual.gradient(f, a.copy())[0]
    for t in np.array([[[1.0, -1.0], [0.5, 2.0]], [[-0.25, 3.0], [1.5, 0.75]]]):
        along = pytest.approx(float((gradient * t).sum()), rel=1e-12)
        assert zyg.jvp(f, (a.copy(),), (t,))[1] == along
        assert zyg.jvp(f, (np.asfortranarray(a),), (t,))[1] == along


def test_inside_compiled_functions():
    @zyg.jit
    def f(a):
        value, push = zyg.pushforward(lambda x: x * x * a, 3.0)
        return value, push(1.0), push(2.0), zyg.hvp(lambda x: x * x * x * a, 2.0, 1.0)

    assert f(2.0) == (18.0, 12.0, 24.0, 24.0)
    assert zyg.grad(lambda a: f(a)[1] * f(a)[3])(2.0) == pytest.approx(2 * 6.0 * 12.0 * 2.0)


def test_the_public_functions_can_be_jitted():
    def f(x):
        return x[0] * x[0] * x[1]

    x = np.array([2.0, 3.0])
    assert zyg.jit(zyg.hessian)(f, x).tolist() == [[6.0, 4.0], [4.0, 0.0]]
    assert zyg.jit(zyg.hvp)(f, x, np.array([1.0, 0.0])).tolist() == [6.0, 4.0]
    assert zyg.jit(zyg.jvp)(f, (x,), (np.array([1.0, 0.0]),)) == (12.0, 12.0)
    assert zyg.jit(lambda x: zyg.hessian(f, x), error_model="numpy")(x)[0, 1] == 4.0


# ---------------------------------------------------------------------------- wrong tangents, refusals


def test_wrong_tangents():
    with pytest.raises(TypeError, match="2 positional arguments, but 1 tangents"):
        zyg.jvp(lambda x, y: x * y, (1.0, 2.0), (1.0,))
    with pytest.raises(TypeError, match="another structure"):
        zyg.jvp(lambda x: x[0], (np.ones(2),), (1.0,))
    with pytest.raises(TypeError, match="not a tuple"):
        zyg.jvp(lambda x: x, 1.0, 1.0)
    with pytest.raises(ValueError, match="another shape"):
        zyg.jvp(lambda x: x[0], (np.ones(2),), (np.ones(3),))
    with pytest.raises(TypeError, match="takes a function"):
        zyg.jvp(3, (1.0,), (1.0,))
    with pytest.raises(ZeroDivisionError):
        zyg.jvp(lambda x: 1.0 / x, (0.0,), (1.0,))


def test_bound_methods_and_partials():
    class Cubic:
        def __init__(self, k):
            self.k = k

        def at(self, x):
            return self.k * x * x * x

    f = Cubic(2.0).at
    assert zyg.jvp(f, (3.0,), (1.0,)) == (54.0, 54.0) and zyg.pushforward(f, 3.0)[1](1.0) == 54.0
    assert zyg.hvp(f, 3.0, 1.0) == zyg.hessian(f, 3.0) == 36.0
    assert zyg.jacobian(f, 3.0) == (54.0,)
    g = functools.partial(math.pow, 2.0)
    assert zyg.jvp(g, (3.0,), (1.0,))[1] == pytest.approx(8 * math.log(2))
    assert zyg.hessian(g, 3.0) == pytest.approx(8 * math.log(2) ** 2)


def test_tangents_of_arrays_are_converted():
    f = lambda a: a[0] * a[1]
    a = np.array([2.0, 3.0])
    assert zyg.jvp(f, (a,), ([1, 0],)) == zyg.jvp(f, (a,), (np.array([1, 0]),)) == (6.0, 3.0)
    assert zyg.hvp(f, a, [1, 0]).tolist() == [0.0, 1.0]
    a.flags.writeable = False
    assert zyg.jvp(f, (a,), (a,)) == (6.0, 12.0)
    assert zyg.hessian(f, a).tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_complex_tangents():
    assert zyg.jvp(lambda z: z * z, (1 + 2j,), (1j,)) == (-3 + 4j, 2 * (1 + 2j) * 1j)
    z, t = np.array([1j, 2.0]), np.array([1.0, 1j])
    assert zyg.jvp(lambda a: a[0] * a[1], (z,), (t,)) == (2j, 1.0 * 2.0 + 1j * 1j)


def test_overlapping_arrays_that_are_only_read():
    x = np.array([1.0, 2.0])

    def f(a):
        b = np.zeros((2, 2))
        total = 0.0
        for i in range(2):
            row, other = b[i], x.reshape(2, 1)[i]
            row[0] = a[i] * other[0]
            total += row[0] * a[i]
        return total

    assert zyg.hvp(f, x, np.ones(2)).tolist() == [2.0, 4.0]
    assert zyg.hessian(lambda a: (a * x * a).sum(), x).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert zyg.hvp(lambda a: (a * x * a).sum(), x, np.ones(2)).tolist() == [2.0, 4.0]


def test_overlapping_arrays_that_are_written():
    def f(a, b):
        a[0] = b[0] * 2.0
        return a[0]

    a = np.ones(3)
    with pytest.raises(ValueError, match="overlap"):
        zyg.jvp(f, (a[:2], a[1:]), (np.ones(2), np.ones(2)))


# ------------------------------------------------------------------------------------ perturbation confusion


def test_perturbation_confusion():
    """Siskind and Pearlmutter, "Perturbation confusion and referential transparency" (IFL 2005): d/dx x (d/dy x + y) is 1,
    not 2."""
    for outer, inner in itertools.product(MODES.values(), repeat=2):
        assert zyg.jit(outer(lambda x: x * inner(lambda y: x + y)(1.0)))(1.0) == 1.0  # noqa: B023
        # and where the inner derivative depends on the outer variable
        g = outer(lambda x: x * inner(lambda y: x * y * y)(2.0))  # noqa: B023
        assert zyg.jit(g)(3.0) == 2 * 3.0 * 4.0


def test_a_function_that_returns_a_function():
    """Manzyuk, Pearlmutter, Radul, Rush and Siskind, "Perturbation confusion in forward automatic differentiation of
    higher-order functions" (2019): an offset of a function, differentiated by the offset."""

    def shifted(offset, f):
        return lambda x: f(x + offset)

    for outer, inner in itertools.product(MODES.values(), repeat=2):

        def at(offset):
            h = shifted(offset, math.sin)
            return inner(lambda y: h(y) * offset)(0.5)  # noqa: B023

        expected = math.cos(0.5 + 0.25) - 0.25 * math.sin(0.5 + 0.25)
        assert zyg.jit(outer(at))(0.25) == pytest.approx(expected, rel=1e-14)


def test_tangents_of_captured_arrays_stay_apart():
    def outer(x):
        a = np.zeros(2)
        a[0] = x

        def inner(y):
            b = a.copy()
            b[1] = y * a[0]
            return b[0] * b[1]

        return zyg.jvp(inner, (2.0,), (1.0,))[1] + a[1]

    for mode in MODES.values():
        assert zyg.jit(mode(outer))(3.0) == 6.0


# -------------------------------------------------------------------------------------- the derivative table

U, DU = math.sin, math.cos
V, DV = math.exp, math.exp


def composed(x):
    return U(V(x))


TABLE = [  # row 39: the rules listed in the notebook
    ("x", lambda x: x, lambda x: 1.0),
    ("-u", lambda x: -U(x), lambda x: -DU(x)),
    ("u + v", lambda x: U(x) + V(x), lambda x: DU(x) + DV(x)),
    ("u - v", lambda x: U(x) - V(x), lambda x: DU(x) - DV(x)),
    ("u v", lambda x: U(x) * V(x), lambda x: V(x) * DU(x) + U(x) * DV(x)),
    ("u / v", lambda x: U(x) / V(x), lambda x: (V(x) * DU(x) - U(x) * DV(x)) / V(x) ** 2),
    ("u ** n", lambda x: U(x) ** 3, lambda x: 3 * U(x) ** 2 * DU(x)),
    ("u ** -n", lambda x: U(x) ** -2, lambda x: -2 * U(x) ** -3 * DU(x)),
    ("u(v)", composed, lambda x: DU(V(x)) * DV(x)),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("function", "derivative"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_row_39_the_derivative_table(function, derivative, mode):
    for x in (0.3, 1.7):
        assert mixed(function, mode)(x) == pytest.approx(derivative(x), rel=1e-14)


# ------------------------------------------------------------------------------------------- singular points


@pytest.mark.parametrize("modes", SECOND)
def test_second_derivatives_where_a_first_one_happens_to_be_zero(modes):
    """The strong zero of a rule is for its singular point only."""
    assert mixed(lambda x: (math.sqrt(x) - 2) * (math.sqrt(x) - 2), modes)(4.0) == pytest.approx(0.125)
    assert mixed(lambda x: math.log(x) * math.log(x), modes)(1.0) == pytest.approx(2.0)
    assert mixed(lambda x: math.hypot(x, 2.0), modes)(0.0) == pytest.approx(0.5)
    assert mixed(lambda x: math.atan2(x * x, 2.0), modes)(0.0) == pytest.approx(1.0)
    assert mixed(lambda x: math.asin(x * x), modes)(0.0) == pytest.approx(2.0)


def test_zero_tangents_at_singular_points():
    assert zyg.jvp(lambda x, y: math.sqrt(x) + y, (0.0, 1.0), (0.0, 1.0))[1] == 1.0
    assert zyg.jvp(lambda x: math.hypot(x, x), (0.0,), (1.0,))[1] == 0.0
    assert zyg.jvp(lambda x: abs(x), (0.0,), (1.0,))[1] == 0.0
    assert zyg.jvp(lambda x: max(x, 1.0), (1.0,), (1.0,))[1] == zyg.derivative(lambda x: max(x, 1.0))(1.0)
    assert zyg.jvp(lambda x: x**0, (0.0,), (1.0,))[1] == 0.0


# ------------------------------------------------------------------------------- several tangents at once


@pytest.mark.parametrize("program", [mutation, mutual, recursive_mutation], ids=lambda f: f.__name__)
def test_lanes(program):
    run = zyg.jit(lambda x, t: several(program, (x,), (t,), 3))
    value, tangents = run(0.7, (1.0, -2.0, 0.0))
    slope = dual.derivative(program)(0.7)
    assert value == pytest.approx(program(0.7), rel=1e-14)
    assert tangents == pytest.approx((slope, -2.0 * slope, 0.0), rel=1e-10)
    second = zyg.jit(lambda x, t: several(zyg.derivative(program), (x,), (t,), 2))(0.7, (1.0, 0.5))[1]
    curvature = dual.derivative(program, 2)(0.7)
    assert second == pytest.approx((curvature, 0.5 * curvature), rel=1e-10)


def test_lanes_of_arrays():
    def f(a):
        b = np.zeros((2, 3))
        for i in range(2):
            b[i, :] = a[i]
            b[i, 1] *= b[i, 0]
        b[1].fill(a[0])
        b[::-1, ::2][1, 1] += a[1] * a[1]
        return b

    a = np.array([1.5, 2.5])
    seeds = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, -1.0]])
    _, tangents = zyg.jit(lambda a, s: several(f, (a,), (s,), 3))(a, seeds)
    assert tangents.shape == (2, 3, 3)
    for lane in range(3):
        assert np.array_equal(tangents[:, :, lane], zyg.jvp(f, (a,), (seeds[:, lane],))[1])


# ------------------------------------------------------------------------------------ Hessians and Jacobians


def rosenbrock(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total


def rosenbrock_hessian(x):
    n = len(x)
    h = np.zeros((n, n))
    for i in range(n - 1):
        h[i, i] += 1200 * x[i] ** 2 - 400 * x[i + 1] + 2
        h[i + 1, i + 1] += 200
        h[i, i + 1] -= 400 * x[i]
        h[i + 1, i] -= 400 * x[i]
    return h


@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 9, 19])
def test_hessian(n):
    x = np.linspace(0.5, 1.5, n)
    expected = rosenbrock_hessian(x)
    found = zyg.hessian(rosenbrock, x)
    assert found.shape == (n, n) and np.allclose(found, expected, rtol=1e-13, atol=1e-12)
    v = np.cos(x)
    assert np.allclose(zyg.hvp(rosenbrock, x, v), expected @ v, rtol=1e-13, atol=1e-12)


def test_hessians_of_other_shapes():
    def f(a):
        return a[0, 0] * a[1, 2] * a[1, 2]

    a = np.arange(1.0, 7.0).reshape(2, 3)
    h = zyg.hessian(f, a)
    assert h.shape == (2, 3, 2, 3)
    assert (h[0, 0, 1, 2], h[1, 2, 0, 0], h[1, 2, 1, 2]) == (12.0, 12.0, 2.0)
    assert np.count_nonzero(h) == 3
    assert zyg.hessian(f, np.asfortranarray(a)).tolist() == h.tolist()
    assert zyg.hessian(math.sin, 1.0) == -math.sin(1.0)
    assert zyg.hessian(lambda x: 3.0, 1.0) == 0.0
    assert zyg.hessian(lambda x: 3.0, np.ones(2)).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_hessian_leaves_its_argument_alone():
    def f(a):
        a[0] = a[0] * a[1]
        return a[0] * a[0]

    a = np.array([2.0, 3.0])
    assert zyg.hessian(f, a).tolist() == [[2 * 9.0, 4 * 6.0], [4 * 6.0, 2 * 4.0]]
    assert a.tolist() == [2.0, 3.0]


def test_derivatives_of_hessians():
    x = np.array([1.0, 2.0, 3.0])
    third = zyg.grad(lambda x: zyg.hvp(rosenbrock, x, np.ones(3))[0])(x)
    assert third.tolist() == [2400.0 * 1.0 - 400.0, -400.0, 0.0]
    fourth = zyg.hessian(lambda x: zyg.hessian(rosenbrock, x)[0, 0], x)
    assert fourth.tolist() == [[2400.0, 0.0, 0.0], [0.0] * 3, [0.0] * 3]
    trace = zyg.grad(lambda x: zyg.hessian(rosenbrock, x)[1, 1])(x)
    assert trace.tolist() == [0.0, 4800.0, -400.0]


def narrow(a):
    b = np.zeros(2)
    for i in range(len(a)):
        b[i % 2] += a[i] * a[i]
    return b


def wide(a):
    b = np.zeros(40)
    for i in range(40):
        b[i] = a[i % len(a)] * i
    return b


@pytest.mark.parametrize("function", [narrow, wide])
def test_jacobian_by_the_cheaper_mode(function):
    a = np.linspace(1.0, 2.0, 20)
    (found,) = zyg.jacobian(function, a)
    assert np.allclose(found, dual.jacobian(function, a), rtol=1e-14)
    assert np.allclose(zyg.jit(zyg.jacobian)(function, a)[0], found, rtol=0)


def test_jacobian_by_several_arguments():
    def f(a, s, n, m):
        b = np.zeros(len(a) - 1)
        for i in range(len(b)):
            b[i] = a[i] * a[i + 1] * s * n
        a[0] = 7.0
        return b

    a = np.arange(1.0, 5.0)
    by_a, by_s, by_n, by_m = zyg.jacobian(f, a, 2.0, 3, 1)
    assert a.tolist() == [7.0, 2.0, 3.0, 4.0]
    assert by_a.tolist() == [[12.0, 6.0, 0, 0], [0, 18.0, 12.0, 0], [0, 0, 24.0, 18.0]]
    assert by_s.tolist() == [6.0, 18.0, 36.0] and by_n.tolist() == [4.0, 12.0, 24.0] and by_m is None


def test_jacobian_inside_compiled_functions():
    @zyg.jit
    def f(s):
        return zyg.jacobian(lambda x: (x * s, x * x * s), s)[0][1]

    assert f(3.0) == 18.0
    assert zyg.grad(f)(3.0) == 12.0
    assert mixed(f, "FR")(3.0) == 4.0


# ------------------------------------------------------------------------------------------------ rules


def cube(x):
    return x**3


def test_a_reverse_rule_is_transposed():
    def f(x):
        return x**3

    @zyg.adjoint(f)
    def _(x):
        return x**3, lambda d: (30.0 * x * x * d,)

    assert zyg.jvp(lambda x: f(x) * 2.0, (2.0,), (0.5,)) == (16.0, 120.0)
    assert mixed(lambda x: f(x), "RF")(2.0) == mixed(lambda x: f(x), "FR")(2.0) == 120.0


def test_a_reverse_rule_of_arrays():
    def dot(a, b):
        return sum(x * y for x, y in zip(a, b))

    @zyg.adjoint(dot)
    def _(a, b):
        def back(d):
            da, db = np.zeros(len(a)), np.zeros(len(a))
            for i in range(len(a)):
                da[i], db[i] = d * b[i], d * a[i]
            return da, db

        return sum(x * y for x, y in zip(a, b)), back

    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    t = np.array([0.5, -1.0])
    assert zyg.jvp(lambda a: dot(a, b), (a,), (t,))[1] == 0.5 * 3 - 4
    assert zyg.hessian(lambda a: dot(a, a), a).tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_a_reverse_rule_that_cannot_be_transposed():
    def doubled(a):
        return a.copy()

    @zyg.adjoint(doubled)
    def _(a):
        return a.copy(), lambda d: (d,)

    with pytest.raises(zyg.Unsupported, match=r"(?s)doubled.*reverse mode.*zyg\.tangent"):
        zyg.jvp(zyg.jit(lambda a: doubled(a)[0]), (np.ones(2),), (np.ones(2),))


def test_a_tangent_rule_is_seen_by_code_compiled_before_it():
    def f(x):
        return x**3

    run = zyg.jit(lambda x: zyg.jvp(lambda y: f(y) * 2.0, (x,), (1.0,)))
    assert run(2.0) == (16.0, 24.0)

    @zyg.tangent(f)
    def _(x):
        square = x * x
        return square * x, lambda t: 300.0 * square * t

    assert run(2.0) == (16.0, 2400.0)
    assert f(2.0) == 8.0
    # in reverse mode the function is differentiated as it stands
    assert zyg.derivative(f)(2.0) == 12.0
    assert mixed(f, "FF")(2.0) == 1200.0
    assert mixed(f, "RF")(2.0) == 1200.0  # the derivative of what the rule says
    assert mixed(f, "FR")(2.0) == 12.0

    @zyg.adjoint(f)
    def _(x):
        return x**3, lambda d: (7.0 * x * x * d,)

    assert (mixed(f, "F")(2.0), mixed(f, "R")(2.0)) == (1200.0, 28.0)
    zyg.rules.remove(f, "tangent")
    assert run(2.0) == (16.0, 56.0)


factor = 3.0


def tripled(t):
    return t * factor


def test_a_tangent_rule_of_arrays_with_globals(monkeypatch):
    def scaled(a, s):
        b = a.copy()
        for i in range(len(a)):
            b[i] = a[i] * s
        return b

    @zyg.tangent(scaled)
    def _(a, s):
        def push(da, ds):
            t = np.zeros(len(a))
            for i in range(len(a)):
                t[i] = tripled(da[i] * s + a[i] * ds)
            return t

        return scaled(a, s), push

    run = zyg.jit(lambda a, s: zyg.jvp(lambda a, s: scaled(a, s), (a, s), (np.ones(2), 1.0)))
    a = np.array([1.0, 2.0])
    value, tangent = run(a, 5.0)
    assert value.tolist() == [5.0, 10.0] and tangent.tolist() == [18.0, 21.0]
    monkeypatch.setitem(globals(), "factor", 4.0)
    assert run(a, 5.0)[1].tolist() == [24.0, 28.0]
    by_a, by_s = zyg.jit(zyg.jacobian)(lambda a, s: scaled(a, s), a, 5.0)
    assert by_a.tolist() == [[20.0, 0.0], [0.0, 20.0]] and by_s.tolist() == [4.0, 8.0]
    _, lanes = zyg.jit(lambda a, s: several(scaled, (a, 5.0), (s, (1.0, 0.0)), 2))(
        a, np.array([[1.0, 0.0], [0.0, 1.0]])
    )
    assert lanes.tolist() == [[24.0, 0.0], [8.0, 20.0]]


def test_a_tangent_rule_of_in_place_code():
    def double(a):
        for i in range(len(a)):
            a[i] *= 2.0

    @zyg.tangent(double, mutates=0)
    def _(a):
        double(a)

        def push(da):
            t = np.zeros(len(a))
            for i in range(len(a)):
                t[i] = 20.0 * da[i]
            return None, t

        return None, push

    def f(a):
        double(a)
        return a[0] + a[1] * a[1]

    a = np.array([1.0, 2.0])
    assert zyg.jvp(zyg.jit(f), (a,), (np.array([1.0, 0.5]),)) == (18.0, 20.0 + 2 * 4.0 * 10.0)
    assert a.tolist() == [2.0, 4.0]


def test_a_tangent_rule_for_a_function_of_another_package():
    target = math.erf

    @zyg.tangent(target)
    def _(x):
        return math.erf(x), lambda t: 5.0 * t

    try:
        assert mixed(lambda x: math.erf(x) * x, "F")(0.5) == math.erf(0.5) + 2.5
    finally:
        zyg.rules.remove(target, "tangent")


def test_a_tangent_rule_and_recursion():
    def f(x, n):
        return x if n == 0 else x * f(x, n - 1)

    @zyg.tangent(f)
    def _(x, n):
        return f(x, n), lambda t, _: 1000.0 * t

    assert zyg.jvp(lambda x: f(x, 3) * 2.0, (1.5,), (1.0,)) == (2 * 1.5**4, 2000.0)
    assert zyg.derivative(lambda x: f(x, 3))(1.5) == pytest.approx(4 * 1.5**3)


def test_functions_of_numpy_beside_tangent_rules_through_python():
    """What only native code knows (np.angle of a number) was refused as soon as any function had a tangent rule."""

    def cube(x):
        return x**3

    @zyg.tangent(cube)
    def _(x):
        return cube(x), lambda t: 1000.0 * t

    def f(x):
        try:
            return cube(x) + np.angle(complex(x, x * x))
        finally:
            len([])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        assert zyg.jvp(f, (0.5,), (1.0,))[1] == pytest.approx(1000.0 + 1 / 1.25)


def test_hooks_and_checkpoints_in_forward_mode(capsys):
    # a hook by its transpose: right where its function is linear
    assert zyg.jvp(lambda a, b: zyg.hook(lambda d: -d, a) * b, (2.0, 3.0), (1.0, 0.0)) == (6.0, -3.0)
    assert zyg.jvp(lambda a, b: zyg.showgrad(a) * b, (2.0, 3.0), (1.0, 0.0)) == (6.0, 3.0)
    assert capsys.readouterr().out == ""

    def g(a):
        b = a.copy()
        for i in range(len(a)):
            b[i] = math.sin(a[i]) * a[0]
        return b

    a, t = np.array([1.0, 2.0]), np.array([0.5, -1.0])
    plain, kept = zyg.jvp(g, (a,), (t,)), zyg.jvp(lambda a: zyg.checkpoint(g, a), (a,), (t,))
    assert np.array_equal(plain[1], kept[1])

    def loop(x):
        r = x
        for _ in zyg.checkpointed(range(20), every=4):
            r = math.sin(r) * 1.1
        return r

    def unrolled(x):
        for _ in range(20):
            x = math.sin(x) * 1.1
        return x

    for modes in ("F", "FR", "RF"):
        assert mixed(loop, modes)(0.5) == pytest.approx(dual.derivative(unrolled, len(modes))(0.5), rel=1e-12)


def test_what_a_tangent_rule_has_no_place_for_is_refused():
    def apply(f, x):
        return f(x)

    @zyg.tangent(apply)
    def _(f, x):
        return f(x), lambda df, dx: 2.0 * dx

    with pytest.raises(zyg.Unsupported, match="captures or takes by keyword"):
        zyg.jvp(zyg.jit(lambda y: apply(lambda x: x * y, y)), (1.0,), (1.0,))
    assert zyg.jvp(zyg.jit(lambda y: apply(lambda x: x * 3.0, y)), (1.0,), (1.0,)) == (3.0, 2.0)


def test_wrong_tangent_rules():
    def f(x):
        return x * 2.0

    @zyg.tangent(f)
    def _(x):
        return x

    with pytest.raises(TypeError, match="does not return two things"):
        zyg.jvp(f, (1.0,), (1.0,))

    @zyg.tangent(f)
    def _(x):
        return x * 2.0, lambda t: (t, t)

    with pytest.raises(TypeError, match="another structure"):
        zyg.jvp(f, (1.0,), (1.0,))


@pytest.mark.parametrize("second", [zyg.hvp, zyg.hessian])
def test_arrays_made_in_the_function_are_not_taken_for_arguments(second):
    """A gradient keeps `H`, which is written when it is made, on one stack with `m`, which nobody writes: they are not one array."""

    def f(m, ys):
        H = np.array([[1.0, 0.0]])
        s = 0.0
        for _ in ys:
            S = H @ H.T + 0.5
            s += (H @ m) @ (H @ m) * S[0, 0]
        return s

    m, ys = np.array([0.3, -0.2]), np.array([0.5, 1.0, -0.3])
    expected = {zyg.hvp: [2.7, 0.0], zyg.hessian: [[9.0, 0.0], [0.0, 0.0]]}[second]
    with warnings.catch_warnings():
        warnings.simplefilter("error", zyg.FallbackWarning)
        assert np.allclose(second(f, m, ys, *[m] * (second is zyg.hvp)), expected, rtol=1e-13)
