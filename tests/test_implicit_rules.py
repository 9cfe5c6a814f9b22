"""Rules that differentiate a function which they are given: solvers of equations, by the implicit function theorem. Natively and
through Python, to second order. Oracle: differences."""

from collections import namedtuple

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn
from zyg.fallback import python_pullback

NATIVELY = pytest.mark.filterwarnings("error::zyg.FallbackWarning")


def root(g, x):
    for _ in range(40):
        x = x - g(x) / zyg.derivative(g)(x)
    return x


def vector_root(g, x):
    for _ in range(20):
        x = x - np.linalg.solve(zyg.jacobian(g, x)[0], g(x))
    return x


@pytest.fixture(autouse=True)
def rules():
    @zyg.adjoint(root)
    def _(g, x):
        y = root(g, x)

        def back(d):
            _, pull = zyg.pullback(lambda h: h(y), g)
            return pull(-d / zyg.gradient(g, y)[0])[0], None

        return y, back

    @zyg.adjoint(vector_root)
    def _(g, x):
        y = vector_root(g, x)

        def back(d):
            _, pull = zyg.pullback(lambda h: h(y), g)
            return pull(-np.linalg.solve(zyg.jacobian(g, y)[0].T, d))[0], None

        return y, back

    yield
    zyg.rules.remove(root)
    zyg.rules.remove(vector_root)


Settings = namedtuple("Settings", "a b")


class Mutable:
    def __init__(self, a):
        self.a = a


def of_a_number(a):
    return root(lambda x: x**3 + a * x - a * a, 1.0)


def of_a_list(a):
    c = [a, a * a]
    return root(lambda x: x**3 + c[0] * x - c[1], 1.0)


def of_a_tuple(a):
    c = Settings(a, (a * a, 2.0))
    return root(lambda x: x**3 + c.a * x - c.b[0], 1.0)


def of_an_object(a):
    m = Mutable(a)
    return root(lambda x: x**3 + m.a * x - m.a**2, 1.0)


def of_an_object_that_changes(a):
    m = Mutable(a)
    y = root(lambda x: x**3 + m.a * x - m.a**2, 1.0)
    m.a = y
    return y + root(lambda x: x**3 + m.a * x - a, 1.0)


def of_roots(a):
    return root(lambda x: x**3 + root(lambda y: y**3 + y * x - a, 1.0) * x - a, 1.0)


def of_a_list_that_changes(a):
    c = [a, a * a]
    y = root(lambda x: x**3 + c[0] * x - c[1], 1.0)
    c[0] = y
    return y + root(lambda x: x**3 + c[0] * x - a, 1.0)


def in_a_loop(a):
    total = 0.0
    for k in range(1, 4):
        total += root(lambda x: x**3 + a * k * x - a, total)  # noqa: B023
    return total


def of_a_variable_bound_anew(a):
    b = a
    g = lambda x: x**3 + b * x - b
    y = root(g, 1.0)
    b = b * b
    return y + root(g, 1.0)


def of_arrays(a):
    A, b = np.array([[2.0, 0.3 * a], [0.1, 1.5]]), np.array([a, 2.0])
    y = vector_root(lambda x: A @ x + 0.1 * x**3 - b, np.ones(2))
    return y[0] * y[1] + y[1]


PROGRAMS = [
    of_a_number, of_a_list, of_a_tuple, of_an_object, of_roots, in_a_loop, of_a_list_that_changes, of_a_variable_bound_anew,
    of_arrays,
]  # fmt: skip


def differences(f, x, h=1e-3):
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)


def second_differences(f, x, h=1e-2):
    at = [f(x + n * h) for n in range(-3, 4)]
    return sum(c * y for c, y in zip((2, -27, 270, -490, 270, -27, 2), at)) / (180 * h * h)


@NATIVELY
@each_in_long_turn
@pytest.mark.parametrize("f", [*PROGRAMS, of_an_object_that_changes], ids=lambda f: f.__name__)
def test_natively(f) -> None:
    value, (second,) = zyg.withgradient(lambda a: zyg.gradient(f, a)[0], 1.7)
    assert value == pytest.approx(differences(f, 1.7), rel=1e-8)
    assert second == pytest.approx(second_differences(f, 1.7), rel=1e-6)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@each_in_long_turn
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_through_python(f) -> None:
    """Second derivatives by what objects and functions hold were lost; what was bound anew later was seen by pullbacks of before."""
    value, back = python_pullback(lambda a: python_pullback(f, (a,), {})[1](1.0)[0], (1.7,), {})
    assert value == pytest.approx(differences(f, 1.7), rel=1e-8)
    assert back(1.0)[0] == pytest.approx(second_differences(f, 1.7), rel=1e-6)


@each_in_turn
def test_defaults_are_not_what_a_function_captured() -> None:
    def f(a):
        def g(x, b=a):
            return x**3 + b * x - b * b

        return root(g, 1.0)

    for differentiate in (zyg.gradient, lambda f, x: python_pullback(f, (x,), {})[1](1.0)):
        with pytest.raises(zyg.Unsupported, match="by the default of a parameter of a function"):
            differentiate(f, 1.7)


@each_in_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_objects_that_change_through_python() -> None:
    """They are for the pullback what they were; second derivatives are right, or refused."""
    f = of_an_object_that_changes
    slope = lambda a: python_pullback(f, (a,), {})[1](1.0)[0]
    assert slope(1.7) == pytest.approx(differences(f, 1.7), rel=1e-8)
    try:
        (second,) = python_pullback(slope, (1.7,), {})[1](1.0)
    except zyg.Unsupported as refused:
        assert "keeps an object that changes" in str(refused)
    else:
        assert second == pytest.approx(differences(slope, 1.7), rel=1e-6)
