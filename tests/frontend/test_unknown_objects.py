"""Objects that compiled code knows nothing of: what CPython can do with them is no TypeError."""

from __future__ import annotations

import decimal
import enum

import pytest

import zyg


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


ONE, TWO = decimal.Decimal(1), decimal.Decimal(2)


def loop_over_members(x):
    total = 0.0
    for c in Colour:
        total += x * c.value
    return total


def member_by_name(x):
    return x * Colour["BLUE"].value


def members_unpacked(x):
    _, blue = Colour
    return x * blue.value


def reversed_dict(x):
    total = 0.0
    for key in reversed({"a": 1.0, "bb": 2.0}):
        total += x * len(key)
    return total


def union(x):
    return 2.0 * x if isinstance(x, float | str) else x


def order(x):
    return x * (ONE < TWO)


def negated(x):
    return x * float(-TWO)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize(
    "function", [loop_over_members, member_by_name, members_unpacked, reversed_dict, union, order, negated]
)
def test_what_only_python_can_do(function):
    value, (slope,) = zyg.withgradient(function, 0.7)
    assert value == function(0.7)
    assert slope == pytest.approx(function(1.7) - function(0.7))


def loop(x):
    for _ in x:
        pass


@pytest.mark.parametrize(
    "function", [loop, lambda x: x[0], lambda x: x(1), lambda x: next(x), lambda x: x < "a", lambda x: -"a" * x]
)
def test_what_python_cannot_do_either(function):
    with pytest.raises(TypeError) as expected:
        function(0.7)
    with pytest.raises(TypeError) as got:
        zyg.jit(function)(0.7)
    assert str(got.value) == str(expected.value)
