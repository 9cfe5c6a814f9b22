"""Second derivatives of the square of a norm where the norm is 0: those of the sum of squares that it is."""

from __future__ import annotations

import math

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn


NORMS = {
    "abs": lambda x: abs(x[0]) ** 2 + abs(x[1]) * abs(x[1]),
    "complex": lambda x: abs(complex(x[0], x[1])) ** 2,
    "hypot": lambda x: math.hypot(x[0], x[1]) ** 2,
    "np.hypot": lambda x: np.hypot(x[0], x[1]) ** 2,
    "norm": lambda x: np.linalg.norm(x) ** 2,
    "np.square": lambda x: np.square(np.linalg.norm(x)),
    "np.abs": lambda x: np.sum(np.abs(x) ** 2),
    "complex arrays": lambda x: np.sum(np.abs(x * 1j) ** 2),
    "norms of rows": lambda x: np.sum(np.linalg.norm(x.reshape(2, 1), axis=1) ** 2),
    "a loop": lambda x: sum([np.linalg.norm(x * k) ** 2 for k in range(2)]),
}


@each_in_long_turn
@pytest.mark.parametrize("name", NORMS)
def test_at_zero(name):
    f, x = NORMS[name], np.zeros(2)
    np.testing.assert_array_equal(zyg.hessian(f, x), 2 * np.eye(2))
    np.testing.assert_array_equal(zyg.jacobian(zyg.grad(f), x)[0], 2 * np.eye(2))
    np.testing.assert_array_equal(zyg.hvp(f, x, np.array([1.0, 3.0])), [2.0, 6.0])


@pytest.mark.parametrize("name", NORMS)
def test_elsewhere_and_values(name):
    f, x = NORMS[name], np.array([0.3, -0.7])
    value, (gradient,) = zyg.withgradient(f, x)
    assert value == zyg.jit(f)(x) == pytest.approx(f(x), rel=1e-15)
    np.testing.assert_allclose(gradient, 2 * x, rtol=1e-15)
    np.testing.assert_allclose(zyg.hessian(f, x), 2 * np.eye(2), rtol=1e-14, atol=1e-14)


@each_in_long_turn
def test_a_perfect_fit():
    a = np.random.default_rng(1).normal(size=(5, 2))
    w = np.array([0.5, -1.0])
    y = a @ w
    hessian = zyg.hessian(lambda w: 0.5 * np.linalg.norm(a @ w - y) ** 2, w)
    np.testing.assert_allclose(hessian, a.T @ a, rtol=1e-13)


def test_the_norm_itself_keeps_its_derivative():
    def f(x):
        h = np.linalg.norm(x)
        return h * h + 3 * h

    np.testing.assert_array_equal(zyg.gradient(f, np.zeros(2))[0], 0.0)
    x = np.array([3.0, 4.0])
    np.testing.assert_allclose(zyg.gradient(f, x)[0], 2 * x + 3 * x / 5, rtol=1e-15)


def test_what_is_a_square_root_where_it_is_positive_and_itself_elsewhere():
    def f(x):
        h = np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), x)
        return np.sum(h * h)

    x = np.array([0.3, -0.7, 2.0, -1.5])
    slopes = np.array([1.0, -1.4, 1.0, -3.0])
    np.testing.assert_allclose(zyg.gradient(f, x)[0], slopes, rtol=1e-15)
    np.testing.assert_allclose(zyg.jvp(f, (x,), (np.ones(4),))[1], slopes.sum(), rtol=1e-15)
    np.testing.assert_allclose(zyg.hessian(f, x), np.diag([0.0, 2.0, 0.0, 2.0]), atol=1e-15)


WEIGHTS = np.array([1.0, 2.0, 3.0])
SINGULAR = {
    "log": lambda a: np.sum(np.log(a)[1:]),
    "sqrt": lambda a: np.sum(np.sqrt(a)[1:]),
    "power": lambda a: np.sum((a**0.5)[1:]),
    "quotient": lambda a: np.sum((1 / a)[1:]),
    "both": lambda a: np.sum((a * a / (2 * a))[1:]),
    "quotients": lambda a: np.sum((1 / (1 / a + 1 / (a * a)))[1:]),
    "weights": lambda a: np.sum(np.log(a) * np.array([0.0, 1.0, 1.0])),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_reverse_over_reverse_where_a_first_cotangent_is_zero(name):
    f = SINGULAR[name]
    a, b = np.array([0.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
    twice = zyg.jit(zyg.grad(lambda a: np.sum(zyg.gradient(f, a)[0] * WEIGHTS)))
    with np.errstate(divide="ignore"):
        found = twice(a)
    assert found[0] == 0.0
    np.testing.assert_allclose(found[1:], twice(b)[1:], rtol=1e-15)
    np.testing.assert_allclose(found, zyg.hvp(f, a, WEIGHTS), rtol=1e-14)


def test_what_a_call_gives_with_other_things_is_squared():
    def both(x, y):
        return x * y, x + y

    def f(x):
        u, v = zyg.jit(both)(x, 3.0)
        return u * u + v * v

    assert zyg.gradient(f, 2.0) == (2 * 6.0 * 3.0 + 2 * 5.0,)


@each_in_long_turn
@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_norms_themselves_have_the_slope_0_at_0_and_no_curvature(scale):
    """(they had the second derivative of their squares)"""
    x = np.zeros(2)
    for f in (
        lambda x: scale * np.linalg.norm(x),
        lambda x: scale * np.std(x),
        lambda x: scale * np.sum(np.linalg.norm(x.reshape(2, 1), axis=1)),
        lambda x: scale * np.exp(np.linalg.norm(x)),
        lambda x: scale * np.linalg.norm(x, 3) + scale * np.sum(np.linalg.norm(x.reshape(2, 1), 4, axis=1)),
    ):
        assert zyg.gradient(f, x)[0].tolist() == [0.0, 0.0]
        assert zyg.jvp(f, (x,), (np.ones(2),))[1] == 0.0
        assert zyg.hessian(f, x).tolist() == [[0.0, 0.0], [0.0, 0.0]]
        assert zyg.hessian(lambda x, f=f: f(x) + x @ x, x).tolist() == [[2.0, 0.0], [0.0, 2.0]]

    def of_both(x):
        n = np.linalg.norm(x)
        return n * n + scale * n

    assert zyg.hessian(of_both, x).tolist() == [[2.0, 0.0], [0.0, 2.0]]


@each_in_long_turn
@pytest.mark.parametrize("order", [0.5, 1.5, 2.5, 3, 3.0, 4, 7])
def test_norms_of_any_order_have_the_slope_0_at_0(order):
    rows = np.array([[0.0, 0.0], [1.0, -2.0]])
    f = lambda x: np.sum(np.linalg.norm(x, order, axis=1))
    slope = zyg.gradient(f, rows)[0]
    assert slope[0].tolist() == [0.0, 0.0]
    h = 1e-6
    for k in range(2):
        step = np.array([[0.0, 0.0], [h * (k == 0), h * (k == 1)]])
        assert slope[1, k] == pytest.approx((f(rows + step) - f(rows - step)) / (2 * h), rel=1e-6)
    assert zyg.gradient(lambda x: np.linalg.norm(x, order), rows[0])[0].tolist() == [0.0, 0.0]
