"""Complex numbers through Python, whose operators are written out, against differences."""

from __future__ import annotations

import cmath

import pytest

from tests.oracles import differences
from tests.turns import each_in_turn
from zyg.autodiff.objects.api import pullback


def iterated(x):
    z, c = 0j, complex(x, 0.4)
    for _ in range(10):
        z = 0.5 * z * z + c
    return abs(z) + z.real


def all_operators(x):
    z = complex(x, 0.4)
    w = cmath.exp(z) / z
    w -= x * z
    w = w / 0.4 - z * 2
    w *= x
    w /= 1 + 2j
    w += x
    w = 3 - w
    return w.real * w.imag + abs(x / w)


def not_always_complex(x):
    z = 1j
    if x > 0.2:
        z = x
    for k in range(3):
        z = z * (x + 0.5) + k
        z = z / x
    if x > 0.5:
        z = z * complex(0.3, x)
    return abs(z) * (z * (1 + 0j)).real


def chosen_beside_real_ones(x):
    z = max(1j + x, x, key=abs) * max([2j + x, x, 1.0], key=abs)
    return z.real + z.imag


@each_in_turn
@pytest.mark.parametrize("f", [iterated, all_operators, not_always_complex, chosen_beside_real_ones])
def test_derivatives(f):
    for x in (0.1, 0.3, 0.7):
        value, back = pullback(f, (x,))
        assert value == f(x)
        given = back(1.0)[0]
        assert type(given) is float
        assert given == pytest.approx(differences.derivative(f, x), rel=1e-6)
    slope = lambda x: pullback(f, (x,))[1](1.0)[0]
    assert pullback(slope, (0.3,))[1](1.0)[0] == pytest.approx(differences.derivative(slope, 0.3), rel=1e-5)
