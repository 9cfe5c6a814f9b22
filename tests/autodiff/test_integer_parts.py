"""What is an integer by nature carries no derivative, in both back ends: quotients of `//` and divmod, the exponents of frexp."""

from __future__ import annotations

import numpy as np
import pytest

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
