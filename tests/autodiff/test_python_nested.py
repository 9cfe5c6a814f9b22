"""Second derivatives through the Python back end: the halves that the pass makes are differentiated by it."""

from __future__ import annotations

import math
from typing import Any

import pytest

import zyg
from tests.autodiff import python_programs
from tests.oracles import differences
from zyg.autodiff.objects.api import pullback


def gradient(function: Any, x: float) -> Any:
    return pullback(function, (x,))[1](1.0)[0]


NAMES = "while_loop lists mutual_recursion catching".split()


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
