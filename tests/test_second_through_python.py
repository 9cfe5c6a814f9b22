"""What zyg offers inside of functions that run through Python, under second derivatives of every mix of modes."""

from __future__ import annotations

import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = [each_in_turn, pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")]


def cube(x):
    return x**3


def by_adjoint(x, k=1.0):
    return k * x**3


@zyg.adjoint(by_adjoint)
def _(x, k=1.0):
    return k * x**3, lambda d: (3.0 * k * x * x * d, x**3 * d)


def by_tangent(x):
    return x**3


@zyg.tangent(by_tangent)
def _(x):
    return x**3, lambda dx: 3.0 * x * x * dx


FUNCTIONS = {  # each has the second derivative 6 x
    "checkpoint": lambda x: zyg.checkpoint(cube, x),
    "rule by position": lambda x: by_adjoint(x, 1.0),
    "rule by keyword": lambda x: by_adjoint(x, k=1.0),
    "rule by keywords": lambda x: by_adjoint(k=1.0, x=x),
    "tangent rule": lambda x: by_tangent(x),
    "hook": lambda x: zyg.hook(lambda d: d, x) ** 3,
    "gradient": lambda x: zyg.grad(lambda y: y**4 / 4.0)(x),
    "stop_gradient": lambda x: x**3 + zyg.stop_gradient(x * x),
    "stop_gradient of a factor": lambda x: 3.0 * zyg.stop_gradient(x) * x * x,
    "stop_gradient of a list": lambda x: 3.0 * zyg.stop_gradient([x])[0] * x * x,
}
SECOND = {
    "reverse over reverse": lambda f, x: zyg.grad(zyg.grad(f))(x),
    "forward over reverse": lambda f, x: zyg.jvp(zyg.grad(f), (x,), (1.0,))[1],
    "reverse over forward": lambda f, x: zyg.grad(lambda y: zyg.jvp(f, (y,), (1.0,))[1])(x),
    "forward over forward": lambda f, x: zyg.jvp(lambda y: zyg.jvp(f, (y,), (1.0,))[1], (x,), (1.0,))[1],
    "hessian": lambda f, x: zyg.hessian(f, x),
    "hvp": lambda f, x: zyg.hvp(f, x, 1.0),
}


@each_in_long_turn
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("how", SECOND)
def test_second_derivatives(how, name):
    def through_python(x):
        try:
            return FUNCTIONS[name](x)
        except KeyError:
            return x

    assert SECOND[how](through_python, 3.0) == pytest.approx(18.0)
