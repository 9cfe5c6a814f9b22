"""Riemann's zeta function, whose derivatives SciPy does not have."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.fallback import python_pullback

pytestmark = each_in_turn

LOGS = 0.5 * np.log(2 * np.pi)
# From tables: the derivatives at 2, 0 and -1, of which the last has the constant of Glaisher and Kinkelin.
KNOWN = {2.0: -0.937548254315843753702574, 0.0: -LOGS, -1.0: -0.165421143700450929213919}


def of_number(x):
    return special.zeta(x)


@each_in_long_turn
@pytest.mark.parametrize("x", [1.1, 2.0, 2.5, 10.0, 60.0, 0.5, 0.0, -0.5, -1.0, -2.0, -3.3, -10.0, -20.5])
def test_derivatives(x):
    slope = zyg.gradient(of_number, x)[0]
    assert slope == pytest.approx(differences.gradient(of_number, x)[0] if x < 9 else _by_series(x), rel=1e-8)
    assert slope == pytest.approx(KNOWN.get(x, slope), rel=1e-14)
    assert python_pullback(of_number, (x,), {})[1](1.0)[0] == pytest.approx(slope, rel=1e-15)
    of_slope = differences.gradient(lambda x: zyg.gradient(of_number, x)[0], x)[0]
    assert zyg.grad(zyg.grad(of_number))(x) == pytest.approx(of_slope, rel=1e-7)


def _by_series(x):
    n = np.arange(2.0, 4000.0)
    return -np.sum(np.log(n) * n**-x)


def test_limits_and_arrays():
    assert zyg.gradient(of_number, 1.0)[0] == -np.inf
    assert zyg.gradient(of_number, np.inf)[0] == 0.0
    x = np.array([2.0, 0.5])
    np.testing.assert_allclose(zyg.gradient(lambda x: np.sum(special.zetac(x) * x), x)[0][0],
                               special.zetac(2.0) + 2 * KNOWN[2.0], rtol=1e-13)  # fmt: skip
