"""What a pullback keeps on its stacks carries derivatives, whether or not the value beside it is used."""

from __future__ import annotations

import operator
import typing

import numpy as np
import pytest

import zyg

from .turns import each_in_turn


def number(x, c):
    total = 0.0
    for i in range(len(x)):
        if x[i] < 0.0:
            total += c
        else:
            total += np.sin(x[i]) * c
    return total


def slope(x, c):
    """The derivative by c alone: its path from x leads through what the branches have pushed."""
    return zyg.pullback(number, x, c)[1](1.0)[1]


def interpolated(x, xp, fp):
    return zyg.pullback(np.interp, x, xp, fp)[1](np.array([1.0, 2.0, 3.0]))


def test_of_the_slope_by_another_argument():
    x = np.array([-0.937, 1.447, 0.3])
    by_x, by_c = zyg.gradient(slope, x, 2.0)
    assert by_x == pytest.approx(np.where(x < 0.0, 0.0, np.cos(x)))
    assert by_c is None
    assert zyg.jvp(slope, (x, 2.0), (x, 0.0))[1] == pytest.approx(by_x @ x)


@each_in_turn
def test_in_reverse_over_reverse():
    x, xp, fp = np.array([-0.9, 0.4, 1.1]), np.array([-1.4, -0.1, 1.3]), np.array([0.3, -0.1, 1.0])
    _, back = zyg.pullback(interpolated, x, xp, fp)
    one, two = np.array([0.3, -0.2, 0.5]), np.array([0.7, 0.1, -0.4])
    found = sum(float(g @ two) for g in back((one, one, one)))
    steps = [interpolated(x + h * two, xp + h * two, fp + h * two) for h in (1e-5, -1e-5)]
    difference = sum(float((p - m) @ one) for p, m in zip(*steps)) / 2e-5
    assert found == pytest.approx(difference, rel=1e-7)


def folded(a):
    """The shadow of each item goes through a stack, and that of the whole array beside it."""
    total = 0.0
    for x in np.nditer(a):
        total = total * 0.5 + np.sin(x)
    return total


def test_of_shadows_on_stacks():
    a, w = np.array([-1.8, 0.6, 0.3]), np.array([1.0, 2.0, 3.0])
    _, back = zyg.pullback(lambda a: zyg.pullback(folded, a)[1](1.0), a)
    assert back((w,))[0] == pytest.approx(-np.sin(a) * w * np.array([0.25, 0.5, 1.0]))


def test_of_elements_that_branch():
    """What a condition chooses is found in blocks that are listed before those that they come after."""
    a, w = np.array([0.5, 1.5]), np.array([1.0, 2.0])
    quotient = np.vectorize(lambda z: -1.0 if z == 1.0 else np.log(z) / (1.0 - z))
    found = zyg.jit(lambda a, w: zyg.gradient(lambda a: np.sum(zyg.gradient(lambda a: np.sum(quotient(a) * w), a)[0]), a)[0])(a, w)  # fmt: skip
    slope = lambda z: 1.0 / (z * (1.0 - z)) + np.log(z) / (1.0 - z) ** 2
    assert found == pytest.approx(w * (slope(a + 1e-6) - slope(a - 1e-6)) / 2e-6, rel=1e-6)


class Held(typing.NamedTuple):
    """Each special method gives the cube."""

    x: float

    def cube(self, *others):
        return self.x**3

    __abs__ = __neg__ = __pos__ = __invert__ = __round__ = __float__ = __call__ = __add__ = __rsub__ = __pow__ = cube


class Real(float):
    def cube(self, *others):
        return float(self) ** 3

    __abs__ = __neg__ = __pos__ = __invert__ = __round__ = __call__ = __add__ = __rsub__ = __pow__ = cube


SPECIAL = {
    "abs": abs, "neg": operator.neg, "pos": operator.pos, "invert": operator.invert, "round": round, "float": float,
    "call": lambda t: t(), "add": lambda t: t + 1, "sub": lambda t: 1 - t, "pow": lambda t: pow(t, 2), "iadd": lambda t: operator.iadd(t, 1),
    "method": lambda t: t.cube(),
}  # fmt: skip


@each_in_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("cls", [Held, Real])
@pytest.mark.parametrize("name", SPECIAL)
def test_second_derivatives_through_special_methods_of_what_flows(name, cls):
    def f(x):
        try:
            return SPECIAL[name](cls(x))
        except ValueError:
            return x

    power = 1 if cls is Real and name == "float" else 3
    first, second = power * 1.3 ** (power - 1), power * (power - 1) * 1.3 ** (power - 2)
    assert zyg.grad(f)(1.3) == pytest.approx(first)
    assert zyg.hessian(f, 1.3) == zyg.hvp(f, 1.3, 1.0) == pytest.approx(second)
    assert (zyg.grad(zyg.grad(f))(1.3) or 0.0) == pytest.approx(second)
