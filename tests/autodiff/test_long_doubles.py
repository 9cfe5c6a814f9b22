"""Through Python, arrays of long doubles have gradients of long doubles, through what moves elements about, too."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.turns import by_one_python_a_day


@by_one_python_a_day
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sum(np.exp(x).copy() * x),
        lambda x: np.sum(np.roll(x, 1) * x),
        lambda x: np.sum(np.concatenate([x, 2 * x[1:]]) ** 2),
        lambda x: np.sum(np.flip(x)[[0, 0, 2]] * x[1:]),
        lambda x: np.sum(np.repeat(x, 2).reshape(2, 4).T.ravel()[:4] * x),
    ],
)
def test_long_doubles(function):
    x = np.array([0.5, -1.0, 2.0, 0.25])
    given = zyg.grad(function)(x.astype(np.longdouble))
    assert given.dtype == np.longdouble
    np.testing.assert_allclose(np.asarray(given, float), zyg.grad(function)(x), rtol=1e-15)
