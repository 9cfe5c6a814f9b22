"""np.split and its relatives at places that are in an array: as many parts as are found out when the code runs."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.fallback import python_pullback

pytestmark = each_in_turn

ROW, TABLE = np.array([1.0, 2.0, -0.5, 3.0]), np.arange(6.0).reshape(2, 3)

CALLS = """
np.split(ROW, np.array([1, 3]))
np.split(ROW, np.array([0, 1, 1, 4, 9]))
np.split(ROW, np.array([-3, -1]))
np.split(ROW, np.array([3, 1], np.int32))
np.split(ROW, np.array([1], np.uint8))
np.split(ROW, np.zeros(0, int))
np.split(ROW, np.array([1.5]))
np.split(ROW, np.array([True]))
np.array_split(ROW, np.cumsum(np.array([1, 2])))
np.split(TABLE, np.array([1, 2]), axis=1)
np.split(TABLE.T, np.array([1, 2]), axis=-2)
np.hsplit(TABLE, np.array([1]))
np.vsplit(TABLE, np.array([1]))
np.dsplit(TABLE[None], np.array([2]))
""".strip().splitlines()


def _outcome(function):
    try:
        return function()
    except Exception as error:
        return type(error), str(error)


@each_in_long_turn
@pytest.mark.parametrize("call", CALLS)
def test_places_in_an_array(call):
    parts = eval(f"lambda: {call}", globals())
    for what in (lambda: [np.sum(p) for p in parts()], lambda: len(parts()), lambda: parts()[0], lambda: parts()[-1]):
        np.testing.assert_equal(_outcome(zyg.jit(what)), _outcome(what))


def test_their_derivatives():
    f = lambda x, places: sum([np.sum(part) ** 3 for part in np.split(x, places)])
    places = np.array([1, 3])
    slope = differences.gradient(lambda x: f(x, places), ROW)[0]
    np.testing.assert_allclose(zyg.gradient(f, ROW, places)[0], slope, rtol=1e-8)
    np.testing.assert_allclose(python_pullback(f, (ROW, places), {})[1](1.0)[0], slope, rtol=1e-8)
    second = zyg.hessian(lambda x: f(x, places), ROW)
    expected = np.zeros((4, 4))
    for part in np.split(np.arange(4), places):
        expected[np.ix_(part, part)] = 6.0 * np.sum(ROW[part])
    np.testing.assert_allclose(second, expected, rtol=1e-12)
    g = lambda x, lengths: np.sum(np.split(x, np.cumsum(lengths))[1] ** 2)
    np.testing.assert_allclose(zyg.gradient(g, ROW, np.array([1, 2]))[0], [0.0, 4.0, -1.0, 0.0])
