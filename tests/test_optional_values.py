"""Pullbacks of values that may be None."""

from __future__ import annotations

import numpy as np
import pytest

import zyg


def largest(x, n):
    best = None
    for i in range(n):
        y = x * i
        if best is None or np.sum(y) > np.sum(best):
            best = y
    return best


@pytest.mark.parametrize("x", [2.0, np.array([1.0, 2.0])], ids=["number", "array"])
def test_their_cotangents_are_those_of_the_value(x):
    value, back = zyg.pullback(largest, x, 4)
    np.testing.assert_array_equal(value, 3 * x)
    np.testing.assert_array_equal(back(np.ones_like(x) if np.ndim(x) else 1.0)[0], 3 * np.ones_like(x))
    np.testing.assert_array_equal(back(None)[0], 0 * x)


def test_of_none_there_is_no_cotangent():
    value, back = zyg.pullback(largest, np.array([1.0, 2.0]), 0)
    assert value is None
    np.testing.assert_array_equal(back(None)[0], [0.0, 0.0])
    with pytest.raises(ValueError, match="another shape than its value"):
        back(np.ones(2))
