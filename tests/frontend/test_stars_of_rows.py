"""`f(*array)`: the rows are the arguments, as many as the function has parameters."""

from __future__ import annotations

import math

import numpy as np
import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_turn

pytestmark = each_in_turn


def weighted(a, b, c):
    return (a * b).sum() + (c * c).sum()


def hypot(points):
    return np.hypot(*points.T).sum()


def largest(points):
    return np.maximum(*points[:, :2].T).sum() + np.multiply(*(points.T * 2.0))[0]


def of_python(points):
    return weighted(*points) * 0.5


def numbers(points):
    return (lambda x, y: x * y * y)(*points[0])


POINTS = np.arange(6.0).reshape(3, 2) + 1.0


@pytest.mark.parametrize("f", [hypot, largest, of_python, numbers])
def test_rows_are_arguments(f):
    assert zyg.jit(f)(POINTS) == pytest.approx(f(POINTS), rel=1e-15)
    found = zyg.jit(zyg.grad(f))(POINTS)
    slopes = [differences.derivative(lambda t, at=at: f(POINTS + t * at), 0.0) for at in np.eye(6).reshape(6, 3, 2)]
    assert found.ravel() == pytest.approx(slopes, abs=1e-7)


@pytest.mark.parametrize("count", [0, 1, 2, 4, 7])
def test_more_or_fewer_rows_are_the_error_of_cpython(count):
    points = np.ones((count, 2))
    with pytest.raises(TypeError) as wanted:
        of_python(points)
    with pytest.raises(TypeError) as found:
        zyg.jit(of_python)(points)
    assert str(found.value) == str(wanted.value)


@pytest.mark.parametrize("count", [0, 1, 4])
def test_more_or_fewer_rows_for_a_ufunc(count):
    points = np.ones((2, count))
    for f in (hypot, zyg.jit(hypot)):
        with pytest.raises(TypeError, match=rf"hypot\(\) takes .* but {count} w"):
            f(points)


def test_a_row_that_would_be_written_to_is_refused():
    """The third argument of a ufunc is where the result goes."""
    with pytest.raises(TypeError, match=r"compiled hypot\(\) takes 2 positional arguments but 3 were given"):
        zyg.jit(hypot)(np.ones((2, 3)))


def test_functions_that_take_any_number_are_refused():
    with pytest.raises(zyg.Unsupported, match="length that is not known when compiling"):
        zyg.jit(lambda points: math.hypot(*points[0]))(POINTS)
