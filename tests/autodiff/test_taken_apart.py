"""Loops that take the tuples of `zip` and `enumerate` apart, numbers that are known to be ints, operators that carry no derivative, and
attributes that an instance holds although its class computes some: against differences, and where the guess was wrong."""

# ruff: noqa: RUF007

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest

from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback
from zyg.autodiff.objects.cotangents import accumulate

pytestmark = each_in_turn


def gradient(f, x):
    return pullback(f, (x,))[1](1.0)[0]


def numbers(x):
    items, total = [x, x * x, 3.0 * x], 0.0
    for i, a in enumerate(items):
        total += x**i * a + items[i] * items[i - 1]
    for i, a in enumerate(items, -2):  # positions from the end
        total += a * items[i] * 0.5**i
    for i, a in enumerate((x, 2.0 * x), len(items)):
        total += i * a * items[i - 3]
    for i, a in enumerate(v * x for v in items):
        items[i + 0] += a
        total += items[i]
    for k in range(-2, 2):
        total += items[k] * k
    for k in range(2, 0, -1):
        total += items[k] * items[k - 3] / (k + 1)
    return total


def pairs(x):
    items, by_name, total = [x, x * x, 3.0 * x], {"a": x, "b": 2.0 * x}, 0.0
    for name, v in zip(by_name, by_name.values()):
        total += v * v * len(name) + by_name[name]
    for k, v in zip(range(5), items):
        total += v**k
    for a, b, c in zip(items, (2.0 * x, 3.0), [x, 1.0, 2.0]):
        if b == 3.0:
            continue
        total += a * b * c
    for text, other in zip("ab", "cd"):
        total += x * len(text + other)
    for i, (a, b) in enumerate(zip(items, items[1:])):
        total += i * a * b
    for (a, b), (_, c) in zip(zip(items, items), enumerate(items)):
        total += a * b * c
    for a, b in zip(items, np.array([x, 2.0, x * x])):
        total += a * b
    return total + sum(a * b for a, b in zip(items, items)) + sum([i * a for i, a in enumerate(items)])


def handled(x):
    items, total = [x, x * x, 2.0], 0.0
    for i, a in enumerate(items):
        try:
            for b, c in zip(items, [1.0, 0.0, x]):
                total += a * b / c
        except ZeroDivisionError:
            total += i * a * b
        finally:
            total += 0.1 * a
    try:
        for i, a in enumerate(items):
            raise KeyError(i, a)
    except KeyError as error:
        total += error.args[1]
    return total


def given_back(x):
    def generated(items):
        for i, a in enumerate(items):
            got = yield i * a
            for b, c in zip(items, items):
                yield b * c * x if got is None else got

    return sum(v * v for v in generated([x, 2.0 * x]))


class Tail(str):
    __slots__ = ()


def texts(x):
    weights, total = {"of_float": x, "of_Tail": x * x}, 0.0
    for v in (x, Tail("a"), 0.5):
        total += (
            weights["of_" + type(v).__name__] if not isinstance(v, Tail) else weights["of_" + ("T" + v[:0] + "ail")]
        )
    for end in ("a", Tail("bc")):
        made = "text" + end
        total += x * len(made)
    made = f"{len(weights)}" + "!"
    made += "?"
    return total * len(made)


def repeated(x):
    total = 0.0
    for n in (3, True, np.int64(2)):
        table = [0.5] * n
        for k in range(len(table)):
            table[k] += x * (k + 1)
        table = table + 2 * [1.0] + list((x,) * 2) + list((2.0,) * 2)
        table[-1] *= x
        total += sum(v * v for v in table)
    row = [0.5]
    row[0] = x
    rows = [[0.0] * 2 for _ in range(2)] + [row * 2]
    rows[0][1] = x * x
    return total + sum(v * v for r in rows for v in r) + float(([1.0] * np.array([x, x * x])).sum())


class Asked:
    limit = 2.0

    def __init__(self, x):
        self.held = x
        self._values = {"rate": x * x}

    def __getattr__(self, name):
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def double(self):
        return self.held * 2.0


class Kept:
    def __init__(self, x):
        self.x = x

    @functools.cached_property
    def held(self):
        return self.x * self.x

    double = 3.0


class Plain:
    def __init__(self, x):
        self.held = self.double = x


def attributes(x):
    total = 0.0
    for made in (Asked(x), Kept(x), Plain(x), Asked(2.0 * x), Kept(x)):
        for _ in range(3):
            total += made.held * made.double
            if isinstance(made, Asked):
                total += made.rate * made.limit
                made.held = made.held * made.rate
            made.held *= 1.5
        total += made.held
        try:
            total += made.held + made.rate
        except AttributeError:
            total += 0.5 * made.held
    return total


FUNCTIONS = [numbers, pairs, handled, given_back, texts, repeated, attributes]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_first_derivatives(function):
    for x in (0.7, 1.3, 0.7):
        assert pullback(function, (x,))[0] == function(x)
        assert gradient(function, x) == pytest.approx(differences.derivative(function, x), rel=1e-7)


@each_in_long_turn
@pytest.mark.parametrize("function", [numbers, pairs, handled, texts, attributes])
def test_second_derivatives(function):
    slope = lambda x: gradient(function, x)
    assert gradient(slope, 0.7) == pytest.approx(differences.derivative(slope, 0.7), rel=1e-6)


def test_tuples_of_another_length():
    def wrong(x):
        for a, b in zip([x], [x], [x]):
            x = a * b
        return x

    with pytest.raises(ValueError, match="too many values to unpack"):
        pullback(wrong, (1.0,))


@pytest.mark.parametrize("length", range(1, 6))
def test_sums_of_cotangents_of_tuples(length):
    """Whatever is left out in one of them."""
    for present in itertools.product((0, 1, 2, 3), repeat=length):
        x = tuple(2.0 + k if which & 1 else None for k, which in enumerate(present))
        y = tuple(
            (0.5 * k, 1.0) if which == 2 and k == 1 else 0.5 * k if which & 2 else None
            for k, which in enumerate(present)
        )
        expected = tuple(b if a is None else a if b is None else a + b for a, b in zip(x, y))
        assert accumulate(x, y) == expected


def of_tuples_of_four(x):
    total = 0.0
    for p in itertools.permutations([x, x * x, 2.0, x + 1.0]):
        t = 0.0
        for a, b in zip(p, p[1:]):
            t += a * b * x
        q = (t, x, p[0], p[3])
        total += q[0] * q[3] + sum(q) * q[1]
    return total


def test_tuples_of_four():
    assert gradient(of_tuples_of_four, 0.7) == pytest.approx(differences.derivative(of_tuples_of_four, 0.7), rel=1e-7)
    slope = lambda x: gradient(of_tuples_of_four, x)
    assert gradient(slope, 0.7) == pytest.approx(differences.derivative(slope, 0.7), rel=1e-6)
