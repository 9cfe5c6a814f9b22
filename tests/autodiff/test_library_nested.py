"""Functions that the library has natively, in code that goes through Python: first and second derivatives, keywords."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
A = np.array([[3.0, 1.11, 0.22], [1.13, 2.0, 0.34], [0.25, 0.36, 4.0]])
V = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0], [0.0, 0.3, 0.7]])


def plain(a):
    return np.sum(np.linalg.cholesky(a) ** 3)


def caught(a):
    try:
        return plain(a)
    except KeyError:
        return 0.0


@each_in_long_turn
@each_in_turn
def test_second_derivatives():
    expected = zyg.gradient(plain, A)[0]
    np.testing.assert_allclose(zyg.gradient(caught, A)[0], expected, rtol=1e-12)
    step = 1e-5
    slopes = (zyg.gradient(plain, A + step * V)[0] - zyg.gradient(plain, A - step * V)[0]) / (2 * step)
    np.testing.assert_allclose(zyg.hvp(caught, A, V), slopes, rtol=1e-5, atol=1e-6)


@each_in_long_turn
def test_numbers_and_arrays_by_keyword_carry_derivatives():
    x = np.array([1.0, 3.0, 2.5, 7.0])

    def direct(x, q):
        return np.percentile(x, q=q * 10) + np.trapezoid(x, x=x * x) + np.interp(x[0] + 0.5, np.arange(4.0), fp=x)

    def indirect(x, q):
        try:
            return direct(x, q)
        except KeyError:
            return 0.0

    for found, wanted in zip(zyg.gradient(indirect, x, 3.0), zyg.gradient(direct, x, 3.0)):
        np.testing.assert_allclose(found, wanted, rtol=1e-13)


@each_in_long_turn
def test_constants_by_keyword_and_second_derivatives_by_keywords():
    def direct(x, axis, q):
        return np.sum(np.median(x, axis=axis) ** 2) + np.percentile(x[0], q=q * q)

    def indirect(x, axis, q):
        try:
            return direct(x, axis, q)
        except KeyError:
            return 0.0

    by_x, by_axis, by_q = zyg.gradient(indirect, A, 1, 3)
    expected = zyg.gradient(direct, A, 1, 3)
    np.testing.assert_allclose(by_x, expected[0])
    assert by_axis is expected[1] is None
    assert by_q == pytest.approx(expected[2])
    bend = zyg.hessian(lambda q: indirect(A, 1, q), 3.0)
    assert bend == pytest.approx(zyg.hessian(lambda q: direct(A, 1, q), 3.0), rel=1e-12)
    assert abs(bend) > 0.001


@each_in_long_turn
def test_eigenvalues_of_general_matrices():
    def direct(a):
        w, v = np.linalg.eig(a)
        return np.sum(np.abs(w) ** 3) + np.sum(np.abs(v) ** 4) + np.sum(np.abs(np.linalg.eigvals(a)))

    def indirect(a):
        try:
            return direct(a)
        except KeyError:
            return 0.0

    for a in (A, A - A.T + np.diag([1.0, 2.0, 4.0])):
        np.testing.assert_allclose(zyg.gradient(indirect, a)[0], zyg.gradient(direct, a)[0], rtol=1e-11)


@each_in_turn
def test_histograms_of_matrices_by_a_number_of_bins():
    """How many columns there are is known when the code runs."""
    points, weights = np.array([[0.7, 1.3], [2.1, 0.2], [0.5, 0.4], [0.6, 0.3]]), np.array([1.0, 2.0, 3.0, 4.0])

    def squares(a, w, bins):
        return np.sum(np.histogramdd(a, bins, weights=w)[0] ** 2)

    found = zyg.gradient(squares, points, weights, 3)[1]
    np.testing.assert_allclose(found, [2.0, 4.0, 14.0, 14.0])
