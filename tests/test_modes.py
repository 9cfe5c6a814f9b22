"""What Jacobians and Hessians are made of: the cheaper mode, tangents that run together as vectors, forward over reverse.

Functions whose rules disagree tell which of them was asked: such a rule gives another slope for each mode.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import zyg
from tests.turns import by_one_python_a_day
from zyg.library.drivers import LANES

REVERSE, FORWARD = 2.0, 3.0


def marked(x):
    return 1.0 * x


@zyg.adjoint(marked)
def _(x):
    return 1.0 * x, lambda d: (REVERSE * d,)


@zyg.tangent(marked)
def _(x):
    return 1.0 * x, lambda dx: FORWARD * dx


def product(x, a):
    return a @ marked(x)


# A run forward carries LANES columns, one in reverse has a row.
@by_one_python_a_day
@pytest.mark.parametrize(
    "rows, columns, mode",
    [
        (40, 1, FORWARD),
        (40, 8, FORWARD),
        (2, 2 * LANES, FORWARD),
        (2, 2 * LANES + 1, REVERSE),
        (1, LANES, FORWARD),
        (1, LANES + 1, REVERSE),
        (5, 5 * LANES + 1, REVERSE),
    ],
)
def test_jacobians_are_by_the_cheaper_mode(rows, columns, mode):
    a = 1.0 + np.arange(float(rows * columns)).reshape(rows, columns)
    jacobian = zyg.jit(lambda x, a: zyg.jacobian(product, x, a, argnums=0))
    for found in (zyg.jacobian(product, np.ones(columns), a, argnums=0), jacobian(np.ones(columns), a)):
        assert found == pytest.approx(mode * a, rel=1e-14)


def recurrence(x):
    """Each step needs the one before: there are no vectors in it but those of several tangents."""
    result = np.zeros(len(x))
    s = 0.1
    for i in range(len(x)):
        s = s * x[i] + 0.5 * s * s
        result[i] = s
    return result


_OF_VECTORS = re.compile(r"f(?:mul|add) (?:\w+ )*<(\d+) x double>")


def vectors(f, *args):
    return [int(n) for n in _OF_VECTORS.findall(str(zyg.code_llvm(zyg.jit(f), *args)))]


@by_one_python_a_day
def test_tangents_of_a_chunk_are_vectors():
    x = np.linspace(0.5, 1.0, 2 * LANES + 3)
    one = vectors(lambda x, d: zyg.jvp(recurrence, (x,), (d,)), x, x)
    back = vectors(lambda x, d: zyg.pullback(recurrence, x)[1](d), x, x)
    several = vectors(lambda x: zyg.jacobian(recurrence, x), x)
    assert one == []
    # A step has two products and sums and more, each of LANES numbers, in one or in several vectors.
    assert sum(several) - sum(back) >= 4 * LANES
    steps = [(recurrence(x + 1e-6 * v) - recurrence(x - 1e-6 * v)) / 2e-6 for v in np.eye(len(x))]
    assert zyg.jacobian(recurrence, x)[0] == pytest.approx(np.array(steps).T, rel=1e-6, abs=1e-9)


def square(x):
    return x * x


def slope(x):
    return 2.0 * x


@zyg.adjoint(square)
def _(x):
    return x * x, lambda d: (d * slope(x),)


@zyg.tangent(square)
def _(x):
    return x * x, lambda dx: 11.0 * x * dx


@zyg.adjoint(slope)
def _(x):
    return 2.0 * x, lambda d: (7.0 * d,)


@zyg.tangent(slope)
def _(x):
    return 2.0 * x, lambda dx: 5.0 * dx


def test_hessians_are_forward_over_reverse():
    """5 is the tangent of the slope that the pullback of the square has: reverse over reverse would give 7, reverse or forward over
    forward 11."""
    assert zyg.hessian(square, 3.0) == 5.0
    assert np.array_equal(zyg.hessian(lambda x: square(x).sum(), np.ones(LANES + 1)), 5.0 * np.eye(LANES + 1))
    assert zyg.hvp(square, 3.0, 2.0) == 10.0
    assert zyg.jit(lambda x: zyg.hessian(square, x))(3.0) == 5.0
    assert zyg.gradient(lambda x: zyg.gradient(square, x)[0], 3.0) == (7.0,)
    assert zyg.jvp(lambda x: zyg.jvp(square, (x,), (1.0,))[1], (3.0,), (1.0,))[1] == 11.0


def test_columns_of_a_hessian_are_vectors():
    x = np.linspace(0.5, 1.0, LANES + 3)
    assert vectors(lambda x, d: zyg.hvp(lambda x: recurrence(x)[-1], x, d), x, x) == []
    assert sum(vectors(lambda x: zyg.hessian(lambda x: recurrence(x)[-1], x), x)) >= 6 * LANES
