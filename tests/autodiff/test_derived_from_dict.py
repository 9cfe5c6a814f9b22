"""Items of instances of classes derived from `dict`, which leave reading and writing to it, but for what is missing."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict

import pytest

from tests.autodiff.against_differences import check
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn


class Table(dict):
    def __init__(self, make):
        super().__init__()
        self.make = make
        self.asked = 0

    def __missing__(self, key):
        self.asked += 1
        value = self[key] = self.make(self, key)
        return value


class Bare(dict):
    pass


class Ordered(OrderedDict):
    def __missing__(self, key):
        return self["default"] * 2.0


class Default(defaultdict):
    pass


class Counted(Counter):
    pass


def powers(x):
    def make(table, n):
        return x if n == 0 else table[n - 1] * math.sin(x) + n

    return make


def test_what_is_missing_is_made():
    def f(x):
        table = Table(powers(x))
        table["a"] = x * x
        return table[5] * table[3] + table["a"] * len(table) + table.asked * x + table[5]

    check(f)


def test_what_raises():
    def make(table, key):
        table["left"] = table["left"] * 3.0
        if key == "bad":
            raise KeyError(table["left"])
        return table["left"]

    def f(x):
        table, total = Table(make), 0.0
        table["left"] = x
        for key in ("a", "bad", "b"):
            try:
                total += table[key] * x
            except KeyError as error:
                total += error.args[0] ** 2
        bare = Bare(a=x)
        try:
            bare["b"]
        except KeyError as error:
            total += bare["a"] * len(error.args[0])
        return total

    check(f)


def test_another_method_from_then_on():
    def twice(self, key):
        return self.make(self, 0) * 2.0

    def f(x):
        before, total = Table.__missing__, 0.0
        table = Table(powers(x))
        try:
            for n in range(4):
                if n == 2:
                    Table.__missing__ = twice
                total += table[n] * (n + 1)
        finally:
            Table.__missing__ = before
        return total

    check(f)
    check(f)


def test_reading_and_writing_by_methods_from_then_on():
    def f(x):
        made = Bare(a=x)
        made["a"] = made["a"] * x
        return made["a"] * 2.0

    check(f)
    try:
        Bare.__getitem__ = lambda self, key: dict.__getitem__(self, key) ** 2
        Bare.__setitem__ = lambda self, key, value: dict.__setitem__(self, key, value * 3.0)
        check(f)
    finally:
        del Bare.__getitem__, Bare.__setitem__
    check(f)


def test_those_of_the_library():
    def f(x):
        ordered, default, counted = Ordered(default=x), Default(float), Counted()
        ordered["a"] = x * x
        default["a"] += x
        counted["a"] += x * 3.0
        total = ordered["a"] * ordered["b"] + default["a"] * x + counted["a"] ** 2 + counted["none"] * x
        ordered["a"] = 1.0
        return total + ordered["a"] * default["none"] + sum(ordered.values())

    check(f)


def test_numbers_as_keys_and_tuples():
    def f(x):
        bare = Bare()
        bare[1, "a"] = x
        bare[2.5] = x * x
        return bare[1, "a"] * bare[2.5] + sum(bare.values())

    check(f)


@each_in_long_turn
def test_second_derivatives():
    def f(x):
        table = Table(powers(x))
        table["a"] = x * x
        table["a"] *= table[2]
        return table[3] * table["a"]

    def first(x):
        return pullback(f, (x,))[1](1.0)[0]

    for _ in range(2):
        assert pullback(first, (0.7,))[1](1.0)[0] == pytest.approx(differences.derivative(first, 0.7), rel=1e-7)
