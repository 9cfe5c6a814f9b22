"""Corners of NumPy's functions that its own tests try: compiled code gives what NumPy gives, or raises what it raises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.arrays.case import Case
from tests.arrays.check import Checker
from tests.turns import each_in_turn

NUMPY: Any = np
FLOATS = np.array([3.0, 1.0, 2.0, 0.5])
INTS = np.arange(5)
BYTES = np.array([1, 2], np.uint8)
NOTHING, NO_ROWS = np.zeros(0), np.zeros((0, 2))

CORNERS = {
    "reduce of a number": (lambda x: NUMPY.power.reduce(x), 3),
    "accumulate of a number": (lambda x: np.add.accumulate(x), 3.0),
    "reduceat of a number": (lambda x: np.add.reduceat(x, [0]), 3.0),
    "at with too many operands": (lambda a: NUMPY.negative.at(a, [0], 1.0), FLOATS),
    "at with too few": (lambda a: NUMPY.add.at(a, [0]), FLOATS),
    "at of what takes matrices": (lambda a: NUMPY.matmul.at(a, [0], 1.0), FLOATS),
    "at of what gives two": (lambda a: NUMPY.modf.at(a, [0]), FLOATS),
    "at of a number": (lambda x: NUMPY.add.at(x, [0], 1), 3.0),
    "a bool in a shape": (lambda a: NUMPY.reshape(a, (True, -1)), FLOATS),
    "a bool as a count": (lambda a: np.tile(a, (True, 2)), FLOATS),
    "one axis as two of another order": (lambda a: (a.reshape((2, 2), order="F"), np.reshape(a, (2, -1), "F")), FLOATS),
    "a shape whose size wraps": (lambda a: a.reshape((2, 13, 419, 691, 823, 2977518503)), np.ones(20)[::2]),
    "choices together": (lambda u: np.choose([0, 1], (1000, u)), BYTES),
    "choices of floats": (lambda u: np.choose([0, 1], (1.0, u)), BYTES.astype(np.float32)),
    "numbers joined": (lambda a: np.concatenate([a, 1.0], axis=None), np.float32(1.0)),
    "numbers joined to bytes": (lambda a: np.concatenate([a, 1000], axis=None), BYTES),
    "a choice of nothing": (lambda a: NUMPY.choose(a, ()), np.array(1)),
    "border of nothing": (lambda a: np.pad(a, 0, "maximum"), NOTHING),
    "ramp beside nothing": (lambda a: np.pad(a, 0, "linear_ramp"), NOTHING),
    "border of no rows": (lambda a: np.pad(a, ((0, 0), (1, 1)), "maximum"), NO_ROWS),
    "border where nothing is": (lambda a: np.pad(a, 1, "maximum"), NO_ROWS),
    "fraction that is a bool": (lambda a: np.quantile(a, True, method="weibull"), INTS),
    "weights that are nothing": (lambda a: np.quantile(a, [0.5], weights=a * 0, method="inverted_cdf"), INTS),
    "weights of another method": (lambda a: np.quantile(a, 0.5, weights=a), INTS),
    "weights of nothing first": (lambda a: np.quantile(a, [0.0, 1.0], weights=a, method="inverted_cdf"), INTS),
    "out that is a number": (lambda a: NUMPY.outer(a, a, out=1), INTS),
    "arrays instead of numbers": (lambda x: NUMPY.divmod(x, 2.0, out=...), 5.0),
    "an array of a product": (lambda a: NUMPY.matmul(a, a, out=...), FLOATS),
    "an array of a reduction": (lambda a: NUMPY.multiply.reduce(a, out=...), FLOATS),
    "real parts summed": (lambda z: np.cumsum(z, dtype=float), FLOATS + 1j),
    "real parts multiplied": (lambda z: np.prod(z, dtype=float), FLOATS + 1j),
    "running sums of a number": (lambda x: np.nancumsum(x), 2.5),
    "dots by position": (lambda a: NUMPY.add(a, a, ...), FLOATS),
    "dots in a tuple": (lambda a: NUMPY.add(a, a, out=(...,)), FLOATS),
}  # fmt: skip


@each_in_turn
@pytest.mark.parametrize("corner", CORNERS)
def test_corners(corner):
    function, argument = CORNERS[corner]
    Checker(Case((), function, {})).value({"a": argument})
