"""np.array of lists of rows: lists of lengths that turn out at run time, tuples, arrays, and mixtures of them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = each_in_turn

ROWS: list[Any] = [
    [[1.0, 2.0], [3.0, 4.0]],
    [[1, 2], [3, 4]],
    [[1, 2.5], [3, 4]],
    [[1.0, 2.0], [3, 4]],
    [[True, False], [True, True]],
    [[1.0, 2.0], [3.0]],
    [[1.0], [2.0, 3.0]],
    [[], []],
    [[1.0, 2.0]],
    [[[1.0], [2.0]], [[3.0], [4.0]]],
    [[1.0, 2.0], (3.0, 4.0)],
    [[1 + 2j, 2.0], [3.0, 4.0]],
    [[1.0, 2.0]] * 2,
    [[1.0, 2.0], np.array([3.0, 4.0])],
]


def made(rows: Any) -> Any:
    return np.array(rows)


def of_floats(rows: Any) -> Any:
    return np.asarray(rows, dtype=float)


def grown(rows: Any) -> Any:
    rows.append([5.0, rows[0][0]])
    rows[0][1] = 7.0
    return np.array(rows)


def twice(rows: Any) -> Any:
    return np.array([rows, rows])


def beside_a_tuple(rows: Any) -> Any:
    return np.array([(1.0, 2.0), rows[0]])


def beside_an_array(rows: Any) -> Any:
    return np.array([np.ones(2), rows[0]])


def stacked(rows: Any) -> Any:
    return np.vstack(rows)


def averaged(rows: Any) -> Any:
    return np.mean(rows, axis=0)


def result(f: Callable[[Any], Any], rows: Any) -> tuple[Any, ...]:
    try:
        y = f(copy.deepcopy(rows))
    except (ValueError, TypeError, IndexError) as error:
        return (type(error),)
    return y.dtype, y.shape, y.tolist()


@pytest.mark.parametrize("rows", ROWS, ids=str)
@pytest.mark.parametrize("f", [made, of_floats, grown, twice, beside_a_tuple, beside_an_array, stacked, averaged])
def test_as_in_numpy(f: Callable[[Any], Any], rows: Any) -> None:
    assert result(zyg.jit(f), rows) == result(f, rows)


@pytest.mark.parametrize("f", [made, of_floats, grown, twice, beside_a_tuple, beside_an_array, stacked, averaged])
def test_gradients_are_native(f: Callable[[Any], Any]) -> None:
    """(a fallback would be an error, as in all tests)"""
    weights = np.arange(1.0, 13.0)

    def g(rows: Any) -> Any:
        y = f(rows)
        return np.sum(y * y * weights[: y.size].reshape(y.shape))

    rows = [[0.3, -0.4], [0.5, 0.7]]
    (found,) = zyg.gradient(g, copy.deepcopy(rows))
    for k, row in enumerate(rows):
        for n in range(len(row)):
            sides = []
            for step in (1e-6, -1e-6):
                moved = copy.deepcopy(rows)
                moved[k][n] += step
                sides.append(g(moved))
            assert (found[k] or (0.0, 0.0))[n] == pytest.approx((sides[0] - sides[1]) / 2e-6, abs=1e-7)
