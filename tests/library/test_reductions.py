"""Reductions with what they begin with and with masks: compiled code gives what NumPy gives, or raises what it raises."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.fallback import python_pullback

pytestmark = each_in_turn

BOOLS, FLOATS, INTS, SINGLE = (
    np.array([True, True]),
    np.array([-3.0, 2.0]),
    np.array([3, 6]),
    np.array([1.5], np.float32),
)
TABLE, COMPLEX, NOTHING = np.arange(6.0).reshape(2, 3), np.array([1 + 2j, 2.0]), np.zeros(0)
BYTES, SHORT, NAN = np.array([3, 6], np.uint8), np.array([3, 6], np.int32), np.array([np.nan])
MASK, MANY, ONE = np.array([False, True]), np.ones((3, 1), bool), np.ones((1, 2))

CALLS = """
np.hypot.reduce(FLOATS[:1])
np.logical_and.reduce(BOOLS, initial=True)
np.logical_and.reduce(BOOLS, initial=0)
np.logical_and.reduce(BOOLS, initial=None)
np.logical_and.reduce(NOTHING, initial=None)
np.logical_or.reduce(NOTHING, initial=2.5)
np.logical_and.reduce(TABLE, axis=1, initial=0)
np.logical_and.reduce(TABLE, axis=1, initial=5, keepdims=True)
np.logical_and.reduce(TABLE, axis=None, initial=5, keepdims=True)
np.logical_and.reduce(FLOATS, dtype=bool)
np.logical_and.reduce(FLOATS, dtype=float)
np.logical_or.reduce(FLOATS, where=MASK, initial=None)
np.logical_and.reduce(FLOATS, where=MASK, initial=0)
np.logical_and.reduce(COMPLEX, initial=1)
np.logical_and.reduce(3.0, initial=0)
np.logical_xor.reduce(BOOLS, initial=3)
np.logical_xor.reduce(FLOATS, initial=0)
np.logical_xor.reduce(TABLE, axis=1, initial=1)
np.logical_xor.reduce(NOTHING)
np.logical_xor.reduce(NOTHING, initial=None)
np.bitwise_and.reduce(BOOLS, initial=2)
np.bitwise_xor.reduce(BOOLS, initial=2)
np.bitwise_and.reduce(INTS, initial=7.7)
np.bitwise_and.reduce(BYTES)
np.bitwise_xor.reduce(INTS, initial=True)
np.equal.reduce(BOOLS, initial=2)
np.equal.reduce(BOOLS, initial=0.5)
np.not_equal.reduce(BOOLS, initial=2)
np.not_equal.reduce(BOOLS, initial=None)
np.less.reduce(BOOLS, initial=2)
np.subtract.reduce(INTS, initial=2.7)
np.subtract.reduce(INTS, initial=2j)
np.subtract.reduce(FLOATS, initial=2j)
np.subtract.reduce(COMPLEX, initial=2j)
np.divide.reduce(INTS, initial=2.7)
np.power.reduce(SHORT, initial=2.7)
np.max(INTS, initial=7.7)
np.max(BOOLS[:0], initial=2)
np.max(INTS, initial=np.nan)
np.max(INTS, initial=np.inf)
np.sum(INTS, initial=1e30)
np.sum(SHORT, initial=7.7)
np.prod(INTS, initial=7.7)
np.prod(INTS, initial=2j)
np.sum(INTS, initial=np.array(2.5))
np.sum(INTS, initial=np.array([2.5]))
np.divide.reduce(FLOATS, where=MASK, initial=1.0)
np.divide.reduce(FLOATS, where=MASK)
np.hypot.reduce(FLOATS, where=~MASK)
np.hypot.reduce(FLOATS, where=MASK, initial=None)
np.subtract.reduce(TABLE, axis=1, where=TABLE > 1, initial=2)
np.subtract.reduce(TABLE.T, axis=1, where=TABLE.T > 1, initial=2)
np.subtract.reduce(TABLE, axis=0, where=[True, False, True], initial=2)
np.subtract.reduce(TABLE, axis=0, where=np.array([1, 0, 1]), initial=2)
np.subtract.reduce(TABLE, axis=0, where=False, initial=2)
np.subtract.reduce(FLOATS, where=np.ones((2, 2), bool), initial=2)
np.subtract.reduce(FLOATS, where=np.ones(3, bool), initial=2)
np.subtract.reduce(SINGLE, where=MASK[1:], initial=2)
np.bitwise_or.reduce(INTS, where=MASK)
np.logical_xor.reduce(TABLE, axis=0, where=TABLE > 1)
np.logaddexp.reduce(TABLE, axis=1, where=TABLE > 2, keepdims=True)
np.logaddexp.reduce(TABLE, axis=None, where=TABLE > 2)
np.sum(TABLE, axis=0, where=np.array([1.0, 0.0, 1.0]))
np.sum(FLOATS, where=np.ones((2, 2), bool))
np.sum(FLOATS, where=np.ones(3, bool))
np.sum(ONE, where=MANY)
np.max(ONE, axis=0, where=MANY, initial=0)
np.prod(ONE, where=MANY)
np.subtract.reduce(ONE, axis=1, where=MANY, initial=0)
np.add(FLOATS, FLOATS, out=np.zeros(2), where=INTS)
np.nanmax(FLOATS, initial=5.0)
np.nanmin(FLOATS, initial=5.0)
np.nanmax(NAN, initial=-5.0)
np.nanmax(np.array([np.nan, 2.0]), initial=np.nan)
np.nanmin(TABLE, axis=1, initial=1.0)
np.nanmax(INTS, initial=9)
np.nanmax(NOTHING, initial=9)
np.nanmax(TABLE, axis=1, where=TABLE > 1, initial=0)
np.nanmax(np.array([np.nan, 2.0]), where=~MASK, initial=np.nan)
np.nanmax(TABLE, where=TABLE > 1)
np.nanmax(3.0, initial=5.0)
""".strip().splitlines()


def _outcome(function):
    try:
        made = function()
    except Exception as error:
        return type(error), str(error)
    return np.asarray(made).dtype, np.asarray(made).tolist()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("call", CALLS)
def test_reductions(call):
    function = eval(f"lambda: {call}", globals())
    expected, got = _outcome(function), _outcome(zyg.jit(function))
    np.testing.assert_equal(got, expected)


POINT = np.array([[1.0, 2.0, 0.5], [0.7, 3.0, 1.5]])
SLOPES = {
    "quotients": lambda p, x: np.sum(np.divide.reduce(x, axis=1, initial=p) * x[:, 0]),
    "of some": lambda p, x: np.sum(np.divide.reduce(x, axis=1, initial=p, where=x > 0.6) ** 2),
    "lengths": lambda p, x: np.hypot.reduce(x[0] * p, where=x[0] > 0.6),
    "logarithms": lambda p, x: np.logaddexp.reduce(x * p, axis=None, where=x < 2.5),
    "differences": lambda p, x: np.subtract.reduce(x * x, axis=0, initial=p * p, where=np.array([[True], [False]])) @ x[0],
    "largest": lambda p, x: np.nanmax(x * p, initial=0.0) ** 2,
    "initial": lambda p, x: np.nanmax(x, initial=p * p) * p,
    "smallest": lambda p, x: np.nanmin(x * x, axis=1, initial=p) @ x[:, 1],
    "some": lambda p, x: np.nanmax(x * x, axis=0, initial=p, where=x < 2.5) @ x[1],
    "sum": lambda p, x: np.sum(x, axis=1, initial=p * p) @ x[:, 0],
    "product": lambda p, x: np.prod(x, axis=1, initial=p * p) @ x[:, 0],
}  # fmt: skip


@each_in_long_turn
@pytest.mark.parametrize("name", SLOPES)
def test_their_derivatives(name):
    f, p = SLOPES[name], 2.4
    assert zyg.jit(f)(p, POINT) == pytest.approx(f(p, POINT), rel=1e-14)
    slope = differences.gradient(lambda p: f(p, POINT), p)[0]
    table = differences.gradient(lambda x: f(p, x), POINT)[0]
    for given in (zyg.gradient(f, p, POINT), python_pullback(f, (p, POINT), {})[1](1.0)):
        assert given[0] == pytest.approx(slope, rel=1e-7, abs=1e-9)
        np.testing.assert_allclose(given[1], table, rtol=1e-7, atol=1e-9)
    assert zyg.jvp(f, (p, POINT), (1.0, 0 * POINT))[1] == pytest.approx(slope, rel=1e-7, abs=1e-9)
    times = lambda p, x: p * f(p, x)
    second = zyg.jit(zyg.grad(zyg.grad(times)))(p, POINT)
    of_gradient = differences.gradient(lambda p: zyg.gradient(times, p, POINT)[0], p)[0]
    assert second == pytest.approx(of_gradient, rel=1e-5, abs=1e-8)
