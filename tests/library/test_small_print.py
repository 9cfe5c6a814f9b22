"""Corners that differ easily: remainders by -1, what is broadcast and written, powers of bools, and the texts of errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import zyg

NUMPY: Any = np


@pytest.mark.parametrize("error_model", ["python", "numpy"])
def test_remainders_have_their_derivative_by_a_divisor_of_one_in_magnitude(error_model):
    """x % y is x - floor(x / y) * y."""
    scalars = zyg.jit(zyg.grad(lambda x, y: x % y, argnums=(0, 1)), error_model=error_model)
    arrays = zyg.jit(zyg.grad(lambda x, y: np.sum(x % y), argnums=(0, 1)), error_model=error_model)
    for x, y in ((7, 1), (7, -1), (-7, -1), (-7, 1), (7, 2), (-7, 3), (7, -3)):
        assert scalars(x, y) == (1.0, -float(x // y))
        by_x, by_y = arrays(np.array([x]), np.array([y]))
        assert (by_x.item(), by_y.item()) == (1.0, -float(x // y))
    remainders = zyg.jit(lambda x, y: x % y)
    least = -(2**63)
    assert remainders(np.array([least, least, 5, 5]), np.array([-1, 0, -3, 0])).tolist() == [0, 0, -1, 0]
    assert remainders(least, -1) == 0


def test_arrays_that_were_broadcast_together_are_not_written():
    def tripled(z):
        view = np.broadcast_arrays(z, np.ones((2, 6)))[0]
        view *= 3.0
        return np.sum(z)

    with pytest.raises(ValueError, match="read-only"):
        zyg.jit(tripled)(np.ones(6))
    f = lambda z: sum(np.sum(a * a) for a in np.broadcast_arrays(z, np.ones((2, 3))))
    assert zyg.gradient(f, np.ones(3))[0].tolist() == [4.0, 4.0, 4.0]


def test_squares_of_bools_are_of_int8():
    flags = np.array([True, False])
    with pytest.raises(zyg.Unsupported, match="int8"):
        zyg.jit(lambda b: b**2)(flags)
    with pytest.raises(zyg.Unsupported, match="int8"):
        zyg.jit(lambda b, n: b**n)(flags, 2)
    assert zyg.jit(lambda b: b**3)(flags).dtype == (flags**3).dtype


def added(x):
    x += np.ones(3)
    return x


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (lambda x: x**2, None),
        (lambda x: x**2, [1.0, 2.0]),
        (lambda x: x.nonexistent, np.ones(4)),
        (lambda x: x.sum().nonexistent, np.ones(4)),
        (lambda x: NUMPY.nonexistent(x), np.ones(4)),
        (added, np.ones(4)),
        (lambda x: np.einsum("ij,jk", x, x), np.ones(4)),
        (lambda x: len(x[0]), np.ones(4)),
    ],
)
def test_errors_are_worded_as_theirs(function, argument):
    with pytest.raises((TypeError, AttributeError, ValueError)) as wanted:
        function(argument)
    with pytest.raises(type(wanted.value)) as found:
        zyg.jit(function)(argument)
    assert str(found.value).strip() == str(wanted.value).strip()
