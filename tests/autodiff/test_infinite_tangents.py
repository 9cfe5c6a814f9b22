"""In forward mode an infinite tangent counts for nothing where a slope is exactly 0: what a mask of infinities, divided by a
temperature, has where nobody uses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import zyg
from tests.turns import each_in_turn

LOW, HIGH = np.array([-np.inf, 1.0, 2.0]), np.array([np.inf, 1.0, 2.0])
SCORES = np.arange(9.0).reshape(3, 3) * 0.3
COSTS = np.array([[0.3, 0.8], [0.5, 0.1]])


def attention(t: float) -> Any:
    m = np.where(np.tri(3, dtype=bool), SCORES, -np.inf) / t
    e = np.exp(m - m.max(1, keepdims=True))
    p = e / e.sum(1, keepdims=True)
    return np.sum(p**2)


def warped(g: float) -> Any:
    """Dynamic time warping with a soft minimum."""
    r = np.full((3, 3), np.inf)
    r[0, 0] = 0
    for i in range(1, 3):
        for j in range(1, 3):
            a = np.array([r[i - 1, j - 1], r[i - 1, j], r[i, j - 1]])
            m = a.min()
            r[i, j] = COSTS[i - 1, j - 1] + m - g * np.log(np.sum(np.exp(-(a - m) / g)))
    return r[-1, -1]


FUNCTIONS: dict[str, Callable[[float], Any]] = {
    "attention": attention,
    "soft DTW": warped,
    "exp": lambda t: np.sum(np.exp(LOW / t) ** 2),
    "exp2": lambda t: np.sum(np.exp2(LOW / t) ** 2),
    "expm1": lambda t: np.sum(np.expm1(LOW / t) ** 2),
    "tanh": lambda t: np.sum(np.tanh(HIGH / t) ** 3),
    "arctan": lambda t: np.sum(np.arctan(HIGH / t) ** 3),
    "erf": lambda t: np.sum(scipy.special.erf(HIGH / t) ** 3),
    "erfc": lambda t: np.sum(scipy.special.erfc(HIGH / t) ** 3),
    "expit": lambda t: np.sum(scipy.special.expit(LOW / t) ** 3),
    "quotient": lambda t: np.sum((1 / (HIGH / t)) ** 3),
    "quotient of two": lambda t: np.sum((t / (HIGH / t)) ** 3),
    "power": lambda t: np.sum((HIGH / t) ** -1.5),
    "logaddexp": lambda t: np.sum(np.logaddexp(LOW / t, t) ** 2),
    "logaddexp.reduce": lambda t: np.logaddexp.reduce(LOW / t) ** 2,
    "softmax": lambda t: np.sum(scipy.special.softmax(LOW / t) ** 2),
}


@each_in_turn
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_forward_mode_beside_infinities(name: str) -> None:
    f, t, h = FUNCTIONS[name], 1.3, 1e-3
    first = (8 * (f(t + h) - f(t - h)) - (f(t + 2 * h) - f(t - 2 * h))) / (12 * h)
    second = (16 * (f(t + h) + f(t - h)) - f(t + 2 * h) - f(t - 2 * h) - 30 * f(t)) / (12 * h * h)
    close = lambda got, wanted: np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-7)
    close(zyg.jvp(f, (t,), (1.0,))[1], first)
    close(zyg.gradient(f, t)[0], first)
    close(zyg.hvp(f, t, 1.0), second)
    close(zyg.hessian(f, t), second)
    close(zyg.jvp(lambda t: zyg.jvp(f, (t,), (1.0,))[1], (t,), (1.0,))[1], second)
