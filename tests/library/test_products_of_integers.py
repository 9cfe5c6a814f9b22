"""Derivatives by integers through products: their tangents are floats, with which the integers are multiplied."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn

PRODUCTS = {
    "two vectors": lambda n, m: n @ n,
    "inner": lambda n, m: np.inner(n, n[::-1]),
    "vdot": lambda n, m: np.vdot(n, n),
    "dot": lambda n, m: np.dot(n, n),
    "matrix and vector": lambda n, m: np.sum(m @ n),
    "vector and matrix": lambda n, m: np.sum(n @ m),
    "matrices": lambda n, m: np.sum(m @ m),
    "matrices in stacks": lambda n, m: np.sum(m[None] @ m[None]),
    "einsum": lambda n, m: np.einsum("ij,j,i->", m, n, n),
    "convolve": lambda n, m: np.sum(np.convolve(n, m[0, :3], "same") * n),
    "convolve with longer ones": lambda n, m: np.sum(np.convolve(n[:2], m[0]) ** 2),
    "polymul": lambda n, m: np.sum(np.polymul(n[1:], m[1]) * 1.5),
    "outer": lambda n, m: np.sum(np.outer(n, n)),
}


@each_in_long_turn
@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("count", [3, 60])
def test_they_are_those_by_floats(count, name):
    draw = np.random.default_rng(count)
    n, m = draw.integers(-9, 9, count), draw.integers(-9, 9, (count, count))
    dn, dm = draw.normal(size=n.shape), draw.normal(size=m.shape)
    product = lambda n, m: PRODUCTS[name](n, m) * 0.5
    floats = n.astype(float), m.astype(float)
    expected = (
        product(floats[0], floats[1] + 1j * 1e-30 * dm) + product(floats[0] + 1j * 1e-30 * dn, floats[1])
    ).imag / 1e-30
    if name == "vdot":
        expected = n @ dn
    for args in (floats, (n, m)):
        assert zyg.jvp(product, args, (dn, dm))[1] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        along = [np.sum(g * t) for g, t in zip(zyg.gradient(product, *args), (dn, dm)) if g is not None]
        assert sum(along) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@each_in_long_turn
@pytest.mark.parametrize("name", PRODUCTS)
def test_as_factors_in_second_derivatives(name):
    n, m = np.arange(40), np.arange(1600).reshape(40, 40)
    f = lambda x, n, m: PRODUCTS[name](n, m) * np.sum(x**3)
    np.testing.assert_allclose(zyg.hessian(f, np.ones(2), n, m), 6.0 * PRODUCTS[name](n, m) * np.eye(2), rtol=1e-12)


@each_in_turn
def test_tangents_of_correlations():
    n, m, dn, dm = np.arange(1, 8), np.array([2, -1, 3]), np.linspace(1.0, 2.0, 7), np.linspace(-1.0, 1.0, 3)
    for mode in ("full", "same", "valid"):
        f = lambda a, v: np.correlate(a, v, mode)  # noqa: B023
        y, t = zyg.jvp(f, (n, m), (dn, dm))
        np.testing.assert_allclose(t, f(dn, m * 1.0) + f(n * 1.0, dm), rtol=1e-12)
        assert y.dtype == np.int64 and t.dtype == np.float64
