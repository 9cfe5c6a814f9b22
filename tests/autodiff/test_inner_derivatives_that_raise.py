"""Inner derivatives, and functions that native code takes, which are left by an exception that is caught: what it carries has its
derivative. Oracle: differences."""

import numpy as np
import pytest

import zyg
from tests.oracles import differences
from tests.turns import by_one_python_a_day, each_in_long_turn

pytestmark = pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")


class Limit(Exception):
    def __init__(self, by, at):
        super().__init__("beyond")
        self.by, self.at = by, at


class Held:
    k = 1.0


W = np.array([0.9, 2.0])


def _bounded(x):
    def g(z):
        if z > 1.0:
            raise ValueError(z * x)
        return z * z * x

    return g


def _both(inner):
    """Once the inner derivative is there, once it raises."""

    def f(x):
        total = 0.0
        for z in (x, 2.0 * x):
            try:
                total += inner(_bounded(x), z)
            except ValueError as error:
                total += error.args[0]
        return total

    return f


def by_a_pullback(x):
    def g(z):
        if z * x > 1.0:
            raise Limit(z * x, x)
        return z**3

    total = 0.0
    for z in (x, 3.0 * x):
        try:
            value, back = zyg.pullback(g, z)
            total += value * back(x)[0]
        except Limit as error:
            total += error.by * error.at
    return total


def by_an_object(x):
    held = Held()
    held.k = x * x

    def g(z, scale=1.0):
        held.k += z * len({z > 0.0})  # (compiled code would not have changed it when it raises)
        if held.k > 1.0:
            raise Limit(held.k * scale, z)
        return z * z * held.k

    total = 0.0
    for z in (x / 4, x, 2.0 * x):
        try:
            total += zyg.gradient(g, z, scale=x)[0]
        except Limit as error:
            total += error.by * error.at * held.k
    return total


def by_an_array(x):
    w = np.array([x, 2.0 * x])

    def g(v):
        if v @ v > 2.0:
            raise Limit(v[0] * w[1], v * x)
        return v @ w

    total = 0.0
    for v in (w / 2, w):
        try:
            total += zyg.gradient(g, v)[0] @ w
        except Limit as error:
            total += error.by + error.at.sum()
    return total


def by_parameters(x):
    def g():
        if W[1] * x > 1.0:
            raise Limit(W[1] * x * x, x)
        return W[0] ** 2 * x

    try:
        return zyg.gradient(g, zyg.Params([W]))[W][0]
    except Limit as error:
        return error.by * error.at


def through_another(x):
    def outer(z):
        return zyg.derivative(_bounded(x))(z) * z

    try:
        return outer(x) + outer(2 * x)
    except ValueError as error:
        return error.args[0] * x


def _summed(v, n):
    total = 0.0
    for i in range(n):
        total += v * v * i
        if total > 5.0:
            raise Limit(total, v)
    return total


def _averaged(v, n):
    total = 0.0
    for i in range(n):
        total += v * v * i
        if total > 5.0:
            raise ValueError((total, v))
    return total


def a_call_with_attributes(x):
    total = 0.0
    for n in (2, 9):
        try:
            total += _summed(x, n)
        except Limit as error:
            total += error.by * error.at
    return total


def a_call_with_a_tuple(x):
    try:
        return _averaged(x, 9)
    except ValueError as error:
        (total, v), *_ = error.args
        return total * v


FUNCTIONS = {
    "derivative": _both(lambda g, z: zyg.derivative(g)(z)),
    "gradient": _both(lambda g, z: zyg.gradient(g, z)[0]),
    "value_and_grad": _both(lambda g, z: sum(zyg.value_and_grad(g)(z))),
    "jvp": _both(lambda g, z: zyg.jvp(g, (z,), (z,))[1]),
    "hessian": _both(lambda g, z: zyg.hessian(g, z)),
    "of the second order": _both(lambda g, z: zyg.derivative(zyg.derivative(g))(z)),
    "jitted": _both(lambda g, z: zyg.jit(zyg.grad(g))(z)),
    "jitted, with a value": _both(lambda g, z: sum(zyg.jit(zyg.value_and_grad(g))(z))),
    "jitted functions": _both(lambda g, z: zyg.jit(g)(z) * z),
    **{f.__name__: f for f in (by_a_pullback, by_an_object, by_an_array, by_parameters, through_another)},
    **{f.__name__: f for f in (a_call_with_attributes, a_call_with_a_tuple)},
}


@by_one_python_a_day
@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_what_the_exception_carries_has_its_derivative(f):
    value, (gradient,) = zyg.withgradient(f, 0.7)
    assert value == pytest.approx(f(0.7), rel=1e-14)
    assert gradient == pytest.approx(differences.derivative(f, 0.7, 1e-3), rel=1e-7)


@each_in_long_turn
@pytest.mark.parametrize("name", ["derivative", "gradient", "jitted", "by_parameters", "by_an_array"])
def test_second_derivatives_are_right_or_refused(name):
    f = FUNCTIONS[name]
    try:
        found = zyg.hessian(f, 0.7)
    except zyg.Unsupported as error:
        assert "left by an exception" in str(error)
    else:
        slope = lambda x: zyg.gradient(f, x)[0]
        assert found == pytest.approx(differences.derivative(slope, 0.7, 1e-3), rel=1e-6)
