"""Second derivatives through the Python back end: the halves that the pass makes are differentiated by it."""

from __future__ import annotations

import contextlib
import math
import operator
from typing import Any

import numpy as np
import pytest

import zyg
from tests.autodiff import python_programs
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff import objects
from zyg.autodiff.objects import later
from zyg.autodiff.objects.api import pullback
from zyg.autodiff.python.compile import halves
from zyg.autodiff.python.nested import plain
from zyg.frontend.capture import capture
from zyg.ir.core import Const


def gradient(function: Any, x: float) -> Any:
    return pullback(function, (x,))[1](1.0)[0]


NAMES = "while_loop mutual_recursion".split()


@each_in_long_turn
@each_in_turn
@pytest.mark.parametrize("name", NAMES)
def test_second_derivatives(name):
    function = getattr(python_programs, name)
    got = gradient(lambda x: zyg.gradient(function, x)[0], 0.7)
    got = 0.0 if got is None else got
    assert got == pytest.approx(differences.derivative(lambda x: gradient(function, x), 0.7), rel=1e-6, abs=1e-8)


def dynamic(x, table={1: 2.0}):  # noqa: B006
    try:
        return math.sin(x) * x * table[1]
    except KeyError:
        return x


SECOND = 2.0 * (2.0 * math.cos(0.5) - 0.5 * math.sin(0.5))


@each_in_turn
@pytest.mark.parametrize(
    "function",
    [
        lambda x: zyg.gradient(dynamic, x)[0],
        lambda x: zyg.withgradient(dynamic, x)[1][0],
        lambda x: zyg.pullback(dynamic, x)[1](1.0)[0],
        zyg.derivative(dynamic),
        zyg.grad(dynamic),
    ],
    ids=["gradient", "withgradient", "pullback", "derivative", "grad"],
)
def test_ways_to_say_it(function):
    assert gradient(function, 0.5) == pytest.approx(SECOND, rel=1e-12)


def test_perturbations_are_kept_apart():
    """Siskind and Pearlmutter's d/dx (x * d/dy (x + y)) is 1."""

    def outer(x):
        return x * zyg.derivative(lambda y: {"sum": x + y}["sum"])(1.0)

    assert gradient(outer, 3.0) == 1.0


def test_keywords():
    def inner(x):
        def scaled(x, *, by):
            return x * by

        return scaled(x, by=x)

    assert gradient(lambda x: zyg.gradient(inner, x)[0], 0.5) == 2.0


def hooked(x):
    return zyg.hook(lambda d: d * 2.0, {0: x}[0]) ** 3


def conjugated(x):
    z = complex(x, x * x)
    w = z * z
    w *= z.conjugate()
    return w.real * x.conjugate() * operator.methodcaller("conjugate")(x * x)


class Unguarded:
    def __init__(self, held):
        self.held = held

    def __getattr__(self, name):
        return self.held[name]


def unguarded(x):
    c = Unguarded({"k": x * x})
    return c.k * c.k


def managed(x):
    state = []

    @contextlib.contextmanager
    def doubled(v):
        yield v * 2.0
        state.append(v * x)

    with doubled(x) as a:
        r = a * a
    return r * state[0]


def raised(x):
    def inner(v):
        raise ValueError(v * x)

    try:
        inner(x)
    except ValueError as error:
        return error.args[0] * x
    return x


@each_in_turn
class Weighed:
    def __init__(self, w):
        self.w = w

    def times(self, a, *more, by=1.0):
        return self.w * a * by + sum(more)


def methods_called(x):
    first, second = operator.methodcaller("times", x, x * x), operator.methodcaller("times", x, by=x)
    return first(Weighed(x)) * second(Weighed(x * x))


@each_in_turn
@pytest.mark.parametrize("function", [hooked, conjugated, unguarded, managed, raised, methods_called])
def test_calls(function):
    got = gradient(lambda x: zyg.gradient(function, x)[0], 0.7)
    assert got == pytest.approx(differences.derivative(lambda x: gradient(function, x), 0.7), rel=1e-6)


def test_halves_made_in_brief_are_differentiated():
    """As those of run-time functions are, where a gradient is in a gradient that is differentiated."""
    forward, _ = halves(capture((lambda x: x.real * x).__code__), brief=True)
    (read,) = [
        i for _, i in plain(forward).instructions() if i.operands and _is(i.operands[0], objects.RECORD["getattr"])
    ]
    assert len(read.operands) == 3  # the function, the object, and the name


def _is(operand, value):
    return isinstance(operand, Const) and operand.value is value


@each_in_long_turn
@each_in_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_products_with_the_hessian_of_a_linear_function():
    assert zyg.hvp(lambda x: {0: x}[0].sum(), np.ones(3), np.ones(3)).tolist() == [0.0, 0.0, 0.0]
    assert zyg.hvp(lambda x: {0: x}[0] * 2.0, 1.0, 1.0) == 0.0


def changed_in_place(a):
    t = a * a
    t += t * a
    t[1:] -= t[:-1]
    t[0] = a[1] * t[1]
    np.add.at(t, [0, 2, 0], a[:3])
    return (t * t).sum()


def elements(a):
    total = 0.0
    for v in a:
        total += v * v * a[0]
    return total * a.item(2) + float(a[1]) * sum(a.tolist())


def matrices(a):
    m = a.reshape(2, 2) * a[0] + 2.0 * np.eye(2)
    return np.linalg.det(m) + np.linalg.solve(m, a[:2]).sum() + (m.sum(axis=0) * np.linalg.norm(m)).sum()


ARRAY_FUNCTIONS = [
    lambda a: np.where(a > 0, a * a, a * 0.5).sum() + np.clip(a * a, 0.1, 1.5).sum() + np.abs(a).sum() * a[0],
    lambda a: (a[a > 0] ** 3).sum() + a[[0, 2]].prod() + np.linspace(a[0], a[1] * a[1], 4).prod(),
    lambda a: (np.concatenate([a, a * a]) ** 2).sum() + np.stack([a, a * a]).prod() + (np.repeat(a, 2) * np.tile(a, 2)).sum(),
    lambda a: (np.sort(a) * a).sum() + a.max() ** 2 + (np.maximum(a, 0.1) * a).sum() + a.std(),
    lambda a: np.einsum("i,i->", a, a * a) + a @ a + np.outer(a, a).sum() + np.cumprod(a).sum() + (np.cumsum(a) ** 2).sum(),
    changed_in_place,
    elements,
    matrices,
]  # fmt: skip


@each_in_turn
@pytest.mark.parametrize("function", ARRAY_FUNCTIONS)
def test_arrays(function):
    a, v = np.array([0.5, -1.0, 2.0, 0.3]), np.array([1.0, -0.5, 0.25, 2.0])

    def along(t):
        return float(pullback(function, (a + t * v,))[1](1.0)[0] @ v)

    assert along(0.0) == pytest.approx(differences.derivative(lambda t: float(function(a + t * v)), 0.0), rel=1e-7)
    (got,) = pullback(lambda b: zyg.gradient(function, b)[0] @ v, (a,))[1](1.0)
    assert got @ v == pytest.approx(differences.derivative(along, 0.0), rel=1e-6)


def test_modules_that_are_loaded_when_first_used_do_not_become_names_of_the_users_module(monkeypatch):
    """Zyg's run-time functions, which second derivatives differentiate, ask for them; the user's module may have the name."""
    monkeypatch.delitem(vars(later), "special", raising=False)
    monkeypatch.setitem(globals(), "special", "the user's")
    cube = lambda x: x * x * x * len(later.special.__name__)
    (got,) = pullback(lambda x: gradient(cube, x), (2.0,))[1](1.0)
    assert got == 12.0 * len("zyg.autodiff.python.special")
    assert globals()["special"] == "the user's" and "special" in vars(later)
