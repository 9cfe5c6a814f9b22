"""Operators of an array and an object behind it: NumPy leaves them to the object if its class says so."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.side_by_side import check
from tests.turns import each_in_turn

pytestmark = [pytest.mark.filterwarnings("ignore::zyg.FallbackWarning"), each_in_turn]


class First:
    __array_priority__ = 1000

    def __init__(self, v):
        self.v = v

    def __rmul__(self, a):
        return First(self.v * a * 2)

    def __rsub__(self, a):
        return np.sum(a - self.v) * self.v

    def __rmatmul__(self, a):
        return np.sum(a) * self.v

    def __gt__(self, a):
        return self.v * np.sum(a) * 3.0


class Behind(First):
    __array_priority__ = -1.0


class ByItself(First):
    __array_priority__ = -1.0

    def __init__(self, v):
        self.v = v
        self.__array_priority__ = 5.0


class Real(float):
    __array_priority__ = 10

    def __rmul__(self, a):
        return float(self) * np.sum(a) * 2


class Without:
    __array_priority__ = 10


class LeftAlone(First):
    __array_ufunc__ = None
    __array_priority__ = -1


class Asked:
    __array_priority__ = 10

    def __init__(self, v):
        self.v = v

    def __array_ufunc__(self, ufunc, method, *args, **keywords):
        return Asked(getattr(ufunc, method)(*[a.v if isinstance(a, Asked) else a for a in args]))

    def __rmul__(self, a):
        return 1.0


class Plain:
    def __init__(self, v):
        self.v = v

    def __rmul__(self, k):
        return self.v * k


def in_place(x):
    a = np.array([x, 2.0])
    a *= First(x)
    return np.sum(a.v)


EXAMPLES = {
    "times": lambda x: np.sum((np.array([x, 2.0]) * First(x)).v),
    "minus": lambda x: np.array([x, 2.0]) - First(x),
    "matmul": lambda x: np.array([x, 2.0]) @ First(x),
    "less than": lambda x: np.array([x, 2.0]) < First(x),
    "of the object itself": lambda x: np.sum((np.array([x, 2.0]) * ByItself(x)).v),
    "a float": lambda x: np.array([x, 2.0]) * Real(2.0),
    "no method": lambda x: np.array([x, 2.0]) * Without(),
    "__array_ufunc__ comes first": lambda x: np.sum((np.array([x, 2.0]) * LeftAlone(x)).v),
    "in place": in_place,
    "a scalar": lambda x: (np.float64(x) * First(x)).v,
    "no attribute of an array": lambda x: (np.array([x, 2.0]) * Behind(x)).v,
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_operators_are_left_to_the_object(name):
    check(EXAMPLES[name], 1.5)


def test_gradients_by_array_and_object():
    gradient = zyg.gradient(lambda a, x: np.sum((a * First(x)).v), np.array([1.5, 2.0]), 3.0)
    assert np.array_equal(gradient[0], [6.0, 6.0]) and gradient[1] == 7.0
    assert zyg.jit(EXAMPLES["times"])(1.5) == EXAMPLES["times"](1.5)


@pytest.mark.parametrize(
    "f", [lambda x: np.sum((np.array([x, 2.0]) * Asked(x)).v), lambda x: np.sum(np.array([x, 2.0]) * Plain(x))]
)
def test_what_numpy_passes_elements_to_is_refused(f):
    with pytest.raises(zyg.Unsupported):
        zyg.gradient(f, 1.5)
