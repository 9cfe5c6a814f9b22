"""Slices of arrays of several dimensions, whose rows are pieces of the rows behind them, against NumPy and matrices of the linear
functions."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn

draw = np.random.default_rng(11)


def curved(u):
    return u[1:-1, 2:] + u[1:-1, :-2] + u[2:, 1:-1] + u[:-2, 1:-1] - 4 * u[1:-1, 1:-1]


def turned(u):
    return u[::-1, 1:] * 2 - u[:, :-1] + u[:, :0:-1]


def deep(u):
    v = u.reshape(2, -1, u.shape[1])
    return (v[:, 1:, 1:] - v[:, :-1, :-1] + v[:1, 1:, :-1])[..., 1:]


def energy(u, of):
    d = of(u)
    return np.sum(d * d)


def matrix_of(of, shape):
    """The matrix of a linear function."""
    units = np.eye(int(np.prod(shape))).reshape(-1, *shape)
    return np.array([of(unit).ravel() for unit in units]).reshape(len(units), -1).T


SHAPES = ((2, 2), (2, 7), (4, 3), (6, 12), (8, 40))
LAYOUTS = {
    "rows": lambda u: u,
    "columns": np.asfortranarray,
    "steps": lambda u: np.repeat(np.repeat(u, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda u: u[::-1, ::-1].copy()[::-1, ::-1],
}


@each_in_long_turn
@pytest.mark.parametrize("of", [curved, turned, deep], ids=lambda f: f.__name__)
def test_values_and_gradients(of):
    value, gradient = zyg.jit(lambda u: energy(u, of)), zyg.grad(lambda u: energy(u, of))
    for shape in SHAPES:
        matrix, u = matrix_of(of, shape), draw.normal(size=shape)
        for name, laid in LAYOUTS.items():
            given = laid(u)
            np.testing.assert_allclose(value(given), energy(u, of), rtol=1e-13, atol=1e-300, err_msg=name)
            expected = 2 * matrix.T @ (matrix @ u.ravel())
            np.testing.assert_allclose(gradient(given).ravel(), expected, rtol=1e-12, atol=1e-12, err_msg=name)


@each_in_turn
def test_single_precision_and_what_is_not_finite():
    value, gradient = zyg.jit(lambda u: energy(u, curved)), zyg.grad(lambda u: energy(u, curved))
    u = draw.normal(size=(9, 21)).astype(np.float32)
    np.testing.assert_allclose(value(u), energy(u, curved), rtol=1e-5)
    assert type(value(u)) is np.float32 and gradient(u).dtype == np.float32
    matrix = matrix_of(curved, u.shape)
    np.testing.assert_allclose(gradient(u).ravel(), 2 * matrix.T @ (matrix @ u.ravel()), rtol=1e-3, atol=1e-3)
    for odd in (np.nan, np.inf):
        u[4, 5] = odd
        with np.errstate(invalid="ignore"):
            np.testing.assert_equal(value(u), energy(u, curved))
        reached = np.abs(np.arange(9)[:, None] - 4) + np.abs(np.arange(21) - 5) <= 2
        reached[:, [0, -1]] &= reached[:, [1, -2]]
        assert not np.isfinite(gradient(u)[reached]).any() and np.isfinite(gradient(u)[~reached]).all()


@each_in_turn
def test_steps_in_place():
    def relaxed(u):
        for _ in range(3):
            u[1:-1, 1:-1] = 0.25 * (u[1:-1, 2:] + u[1:-1, :-2] + u[2:, 1:-1] + u[:-2, 1:-1])
        u[1:, 1:] += u[:-1, :-1]
        return u

    compiled = zyg.jit(relaxed)
    for shape in SHAPES:
        u = draw.normal(size=shape)
        np.testing.assert_allclose(compiled(u.copy()), relaxed(u.copy()), rtol=1e-14)


def test_nothing_is_allocated_for_a_value():
    """Lengths of slices that are equal are found to be, also where nothing is differentiated."""
    text = str(zyg.code_typed(lambda u: energy(u, curved), np.ones((5, 6))))
    assert "alloc" not in text and "contiguous" not in text
