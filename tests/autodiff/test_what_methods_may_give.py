"""Objects that are no iterators, and special methods that do not give what they should: CPython's errors in both back ends."""

from __future__ import annotations

import math

import pytest

import zyg
from tests.turns import each_in_turn
from zyg.fallback import python_pullback

pytestmark = [each_in_turn, pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")]


class OnlyNext:
    def __init__(self, x):
        self.x = x

    def __next__(self):
        return self.x


class Listed(OnlyNext):
    def __iter__(self):
        return [self.x]


class NoNumber:
    def __float__(self):
        return 1

    def __index__(self):
        return 1.0

    def __int__(self):
        return 2.0


def looped(x):
    total = x
    for item in OnlyNext(x):
        total += item
    return total


WRONG = [
    looped,
    lambda x: sum(OnlyNext(x)),
    lambda x: max(OnlyNext(x)),
    lambda x: min(OnlyNext(x), default=x),
    lambda x: math.prod(OnlyNext(x)),
    lambda x: sum(v for v in OnlyNext(x)),
    lambda x: len(list(OnlyNext(x))) * x,
    lambda x: sum(Listed(x)),
    lambda x: x * float(NoNumber()),
    lambda x: x * int(NoNumber()),
    lambda x: x * complex(NoNumber(), x).real,
]


@pytest.mark.parametrize("f", WRONG)
def test_errors_of_what_is_no_iterator_and_no_number(f):
    with pytest.raises(TypeError) as expected:
        f(1.5)
    for call in (lambda: python_pullback(f, (1.5,), {}), lambda: zyg.gradient(f, 1.5)):
        with pytest.raises(TypeError) as found:
            call()
        assert str(found.value) == str(expected.value)


class Cursor:
    """An iterator that cannot be gone through itself."""

    def __init__(self, x):
        self.x, self.left = x, 3

    def __next__(self):
        if not self.left:
            raise StopIteration
        self.left -= 1
        self.x *= 1.1
        return self.x


class Table:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        return Cursor(self.x)


def test_iterators_without_iter_of_tables():
    def f(x):
        total = sum(Table(x)) + sum(v * v for v in Table(x)) + max(Table(x)) * sum([v * 2 for v in Table(x)])
        for a, b in zip(Table(x), Table(2 * x)):
            total += a * b
        a, b, c = Table(x)
        it = iter(Table(x))
        return total + a * b * c + next(it) * next(it) + sum([*Table(x), 1.0])

    value, back = python_pullback(f, (1.5,), {})
    assert value == f(1.5)
    assert back(1.0)[0] == pytest.approx((f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6, rel=1e-6)
