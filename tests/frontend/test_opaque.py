"""Constants of classes that compiled code does not know: right, or refused and then right through Python."""

import collections
import enum
import types
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import zyg

from ..turns import each_in_turn


class Kind(enum.IntEnum):
    SPRING = 0
    DAMPER = 1
    MASS = 2


class Layer:
    WEIGHTS = np.array([[1.0, 2.0], [3.0, 4.0]])

    def applied(self, x):
        return self.WEIGHTS @ x


INT8, INT16, UINT16 = np.array([0, 1, 1], np.int8), np.int16(2), np.array([0, 1, 1], np.uint16)
X = np.array([1.0, 2.0, 3.0])


def energy(x, kinds):
    total = 0.0
    for i in range(len(kinds)):
        if kinds[i] == Kind.SPRING:
            total += x * x
        elif kinds[i] == Kind.DAMPER:
            total += 3 * x
    return total


def becomes_a_member(x, n):
    kind = Kind.SPRING if n > 2 else Kind.DAMPER
    return x * 2 if kind == 1 else x


NATIVE = [
    (energy, (2.0, np.array([0, 1, 0]))),
    (energy, (2.0, (0, 1, 0))),
    (becomes_a_member, (2.0, 1)),
    (lambda x, k: x * 2 if k in (Kind.SPRING, Kind.DAMPER) else x, (3.0, 1)),
    (lambda x, k: x if (k, 1) == (Kind.DAMPER, 1) and [k] == [Kind.DAMPER] else -x, (2.0, 1)),
    (lambda x, k: x * (Kind.SPRING, Kind.DAMPER).index(k) * [Kind.DAMPER].count(k), (2.0, 1)),
    (lambda x: x[Kind.DAMPER] + np.sum(x[Kind.DAMPER :]) + [4.0, 5.0][Kind.DAMPER], (X,)),
    (lambda x: sum([x * i for i in range(Kind.MASS)]) * float(Kind.MASS) + Kind.DAMPER, (2.0,)),
    (lambda x: x if min(Kind.DAMPER, 3) < 3 and not Kind.SPRING and Kind.MASS is Kind.MASS else -x, (2.0,)),
    (lambda x: np.sum(Layer.WEIGHTS @ x) + np.sum(Layer().applied(x)), (X[:2],)),
]
REFUSED = [
    (lambda x: np.sum(x[INT8 != 0] * INT8[1:]), (X,)),
    (lambda x: np.sum(np.where(UINT16 == 1, x, 0)), (X,)),
    (lambda x, h=INT8: np.sum(x * h), (X,)),
    (lambda x: x[INT16] + x[:INT16][1] + x[0] ** INT16, (X,)),
    (lambda x: x if x == Fraction(2) else -x, (2.0,)),
    (lambda x, two=Fraction(2): x if x == two else -x, (2.0,)),
    (lambda x, two=Decimal(2): x * float(two), (2.0,)),
]


@each_in_turn
@pytest.mark.parametrize("f, args", NATIVE)
def test_what_is_an_int_is_one(f, args):
    assert zyg.jit(f)(*args) == f(*args)
    with warnings.catch_warnings():
        warnings.simplefilter("error", zyg.FallbackWarning)
        assert zyg.withgradient(f, *args)[0] == f(*args)


@pytest.mark.parametrize("f, args", REFUSED)
@pytest.mark.filterwarnings("ignore::zyg.errors.FallbackWarning")
def test_what_is_not_known_is_left_to_python(f, args):
    with pytest.raises(zyg.Unsupported):
        zyg.jit(f)(*args)
    assert zyg.withgradient(f, *args)[0] == f(*args)


@pytest.mark.filterwarnings("ignore::zyg.errors.FallbackWarning")
def test_the_truth_of_a_container_may_change():
    queue = collections.deque()
    f = lambda x: x * 2 if queue else x
    with pytest.raises(zyg.Unsupported, match="the truth of an object of type 'deque'"):
        zyg.jit(f)(3.0)
    assert zyg.gradient(f, 3.0) == (1.0,)
    queue.append(1)
    assert zyg.gradient(f, 3.0) == (2.0,)


@pytest.mark.parametrize("owner", [types.SimpleNamespace(), types.ModuleType("empty"), Kind.MASS, Layer])
@pytest.mark.filterwarnings("ignore::zyg.errors.FallbackWarning")
def test_an_attribute_may_come_later(owner):
    f = lambda x: x * getattr(owner, "scale", 1.0) + (1.0 if hasattr(owner, "shift") else 0.0)
    compiled = zyg.jit(f)
    assert (compiled(3.0), zyg.gradient(f, 3.0)) == (3.0, (1.0,))
    owner.scale, owner.shift = 5.0, True
    try:
        assert zyg.gradient(f, 3.0) == (5.0,)
        with (
            pytest.raises(zyg.Unsupported)
            if not isinstance(owner, (type, types.ModuleType))
            else warnings.catch_warnings()
        ):
            assert compiled(3.0) == 16.0
    finally:
        del owner.scale, owner.shift


def test_a_list_times_a_float_is_an_error_of_the_program():
    for value in ([[1.0, 2.0], [3.0, 4.0]], [], [(1.0, 2.0)], (1.0, 2.0)):
        with pytest.raises(TypeError, match="can't multiply sequence by non-int of type 'float'"):
            zyg.jit(lambda x: x * 2.0)(value)
