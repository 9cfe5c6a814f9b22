"""What zyg offers inside of functions that run through Python, under second derivatives of every mix of modes."""

from __future__ import annotations

import math

import numpy as np
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


# Functions of SciPy's with parameters that they have no derivative by, in front of the argument.
SHAPES = {
    "gammainc": (2.0,), "gammaincinv": (2.0,), "betainc": (2.0, 1.5), "jv": (1.5,), "kn": (2,), "iv": (1.5,), "stdtr": (3.0,),
    "chdtr": (3.0,), "expn": (2,), "hyp2f1": (0.5, 1.5, 2.5), "struve": (1.0,),
}  # fmt: skip


@each_in_long_turn
@pytest.mark.parametrize("name", SHAPES)
def test_second_derivatives_beside_arguments_without_derivative(name):
    special = pytest.importorskip("scipy.special")
    f, shape = getattr(special, name), SHAPES[name]

    def dynamic(x, *more):
        try:
            return f(*more, *shape[len(more) :], x)
        except KeyError:
            return x

    def slope(x):
        """By differences of six points."""
        h = 0.01
        steps = {-3: -1 / 60, -2: 3 / 20, -1: -3 / 4, 1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
        return sum(c / h * dynamic(x + k * h) for k, c in steps.items())

    def curvature(x):
        return sum(c / 0.01**2 * dynamic(x + k * 0.01) for k, c in CURVATURE.items())

    x = np.array([0.45, 0.5])
    assert zyg.derivative(dynamic)(0.45) == pytest.approx(slope(0.45), rel=1e-6)
    second = [curvature(0.45), curvature(0.5)]
    near = lambda found: np.testing.assert_allclose(found, second, rtol=1e-5)
    for how in SECOND.values():
        assert how(dynamic, 0.45) == pytest.approx(second[0], rel=1e-5)
    near(np.diag(zyg.hessian(lambda x: np.sum(dynamic(x)), x)))
    near(zyg.hvp(lambda x, a=(*shape, 1.0), j=-1: np.sum(f(*a[:j], x)), x, np.ones(2)))
    # An argument that is not asked for; and one that is.
    near(zyg.hvp(lambda x, a: np.sum(dynamic(x, a)), x, shape[0], np.ones(2)))
    with pytest.raises(zyg.Unsupported, match="by an argument that it has none by"):
        zyg.hessian(lambda x, a: np.sum(dynamic(x, a)), x, float(shape[0]), argnums=(0, 1))


CURVATURE = {-3: 1 / 90, -2: -3 / 20, -1: 3 / 2, 0: -49 / 18, 1: 3 / 2, 2: -3 / 20, 3: 1 / 90}


def test_the_slope_has_a_derivative_by_the_shape():
    """Where the formula of the slope has one, that is the mixed derivative; a constant it is not."""
    special = pytest.importorskip("scipy.special")

    def slope_of(f):
        def slope(a, x):
            try:
                return zyg.derivative(lambda x: f(a, x))(x)
            except KeyError:
                return 0.0

        return slope

    def by_hand(a, x):
        return math.exp(-x) * x ** (a - 1.0) / math.gamma(a)

    found = zyg.gradient(slope_of(special.gammainc), 2.0, 0.5)
    h = 1e-4
    by_shape = (by_hand(2.0 + h, 0.5) - by_hand(2.0 - h, 0.5)) / (2.0 * h)
    by_x = (by_hand(2.0, 0.5 + h) - by_hand(2.0, 0.5 - h)) / (2.0 * h)
    assert found == pytest.approx((by_shape, by_x), rel=1e-6)
    with pytest.raises(
        zyg.Unsupported, match=r"a second derivative of scipy\.special\.jv by an argument that it has none by"
    ):
        zyg.gradient(slope_of(special.jv), 1.5, 0.5)
