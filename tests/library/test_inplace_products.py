"""`a @= b` and divmod() of arrays."""

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = each_in_turn

RNG = np.random.default_rng(3)


def product(a, b):
    c = a.copy()
    d = c[0:]
    c @= b
    return d


def test_values_and_errors():
    compiled = zyg.jit(product)
    m, wide = RNG.normal(size=(2, 2)), RNG.normal(size=(2, 3))
    for a, b in ((m, m), (m[0], m), (np.stack([m, m, m]), m), (m + 1j, m)):
        np.testing.assert_allclose(compiled(a, b), product(a, b), rtol=1e-14)
    for a, b in ((m[0], m[0]), (m, wide), (wide, m), (np.ones((2, 2), int), m)):
        with pytest.raises((ValueError, TypeError)) as expected:
            product(a, b)
        with pytest.raises((ValueError, TypeError)) as found:
            compiled(a, b)
        assert issubclass(expected.type, found.type)


def test_derivative():
    f = lambda a: np.sum(product(a, a) * a) + np.sum(divmod(a, 0.3)[1])
    a, d = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3)) * 1e-6
    assert zyg.jit(f)(a) == pytest.approx(f(a), rel=1e-14)
    assert np.sum(zyg.gradient(f, a)[0] * d) == pytest.approx((f(a + d) - f(a - d)) / 2, rel=1e-6)
