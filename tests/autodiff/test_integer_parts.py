"""What is an integer by nature carries no derivative, in both back ends: quotients of `//` and divmod, the exponents of frexp."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.special

import zyg
from tests.turns import each_in_turn
from zyg.fallback import python_pullback

X = np.array([0.3, -1.7, 2.2, 5.4])


def gradients(f):
    return zyg.gradient(f, X)[0], python_pullback(f, (X,), {})[1](1.0)[0]


@each_in_turn
@pytest.mark.parametrize(
    "text",
    ["np.divmod(x, 2.0)[0]", "np.divmod(x, x[::-1])[0]", "np.divmod(x[0], x[1])[0]", "np.frexp(x)[1]", "np.frexp(x[0])[1]", "x[0] // x[1] + 0.0",
     "x // x[1]", "np.floor_divide(2.0, x)"],
)  # fmt: skip
def test_no_path_leads_through_an_integer(text):
    assert gradients(eval(f"lambda x: np.sum({text})", {"np": np})) == (None, None)


@each_in_turn
@pytest.mark.parametrize(
    "text, expected",
    [
        ("np.divmod(x, 2.0)[1] * x", lambda: X + X % 2.0),
        ("np.divmod(7.0, x)[1]", lambda: -(7.0 // X)),
        ("np.frexp(x)[0]", lambda: np.frexp(X)[0] / X),
        ("np.ldexp(*np.frexp(x))", lambda: np.ones(4)),
        ("np.divmod([x[0], x[1]], 2.0)[1] + np.frexp([x[0], 1.0])[0]", lambda: np.array([3.0, 1.0, 0.0, 0.0])),
    ],
)
def test_what_stands_beside_it_has_its_derivative(text, expected):
    for found in gradients(eval(f"lambda x: np.sum({text})", {"np": np})):
        np.testing.assert_allclose(found, expected(), rtol=1e-14)


MATRIX = np.outer(X, X[::-1]) + np.eye(4)


@each_in_turn
@pytest.mark.parametrize(
    "text",
    ["scipy.linalg.bandwidth(x)[0]", "scipy.optimize.linear_sum_assignment(x)[1].sum()", "scipy.signal.find_peaks(x[0])[0].sum()",
     "scipy.optimize.linear_sum_assignment(x.tolist())[1].sum()", "np.ma.count(x)", "scipy.linalg.issymmetric(x)", "np.digitize(x[0], [0.0, 1.0]).sum()",
     "np.linalg.matrix_rank(x * np.ones((2, 3, 1, 1))).sum()", "np.isclose(x, 1.0).sum()", "np.count_nonzero(x > 0.0)", "np.shares_memory(x, x)",
     "np.packbits(x > 0.0).sum()", "np.busday_count('2020', '2021')", "scipy.ndimage.label(x > 1.0)[1]"],
)  # fmt: skip
def test_of_functions_that_zyg_cannot_see_into(text):
    f = eval(f"lambda x: (x * x).sum() + 2.0 * {text}", {"np": np, "scipy": scipy})
    value, back = python_pullback(f, (MATRIX,), {})
    assert value == f(MATRIX)
    np.testing.assert_allclose(back(1.0)[0], 2.0 * MATRIX)


@each_in_turn
@pytest.mark.parametrize(
    "f",
    [
        lambda n: 1.0 * scipy.special.stirling2(n, 2, exact=True),
        lambda n: 2.0 * np.frombuffer(np.array([n, 1.0]), int)[0],
        lambda n: 2.0 * float(np.float64(n).view(np.int64).view(np.float64)),
        lambda n: 2.0 * scipy.ndimage.generic_filter(np.array([1.0 * n, 2.0]), lambda w: int(w[0]), 2, output=int)[0],
    ],
)
def test_an_integer_of_integers_is_refused_and_one_of_the_bits_of_a_float(f):
    back = python_pullback(f, (5,), {})[1]
    with pytest.raises(zyg.Unsupported, match="zyg cannot see into"):
        back(1.0)
