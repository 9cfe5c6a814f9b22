"""Loops over items and values of classes derived from `dict`, whatever these have in the place of its methods, against differences."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict

import pytest

from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn


class Backwards(dict):
    def __iter__(self):
        return iter(sorted(super().keys(), reverse=True))

    def keys(self):
        return []


class Doubled(dict):
    def items(self):
        return [(k, 2.0 * v) for k, v in super().items()]

    def values(self):
        return [3.0 * v for v in super().values()]


def dicts(x):
    total = 0.0
    ordered = OrderedDict(a=x, b=x * x, c=2.0 * x)
    ordered.move_to_end("a")
    for d in (
        Counter(a=x, b=x * x),
        ordered,
        defaultdict(float, {"p": x, 1: x * x}),
        Backwards(a=x, b=x * x),
        Doubled(a=x, b=x * x),
    ):
        for n, (k, v) in enumerate(d.items()):
            total += (n + 1) * v * len(str(k)) * x
            d[k] = v * x
        for n, v in enumerate(d.values()):
            total += v * v * (n + 1)
        for v in d.values():
            total += v
        for k, v in d.items():
            total += v * len(str(k))
    return total


def numbers_as_keys(x):
    c = Counter({0.5: x, (1, 2): x * x, None: x})
    total = 0.0
    for k, v in c.items():
        total += v * (k if isinstance(k, float) else 2.0)
    return total


def changed(x):
    c, total = Counter(a=x, b=x), 0.0
    try:
        for k, v in c.items():
            total += v * x
            c[k + "x"] = v
    except RuntimeError:
        total *= x
    return total + sum(c.values())


def arithmetic(x):
    stock = Counter(a=10, b=7)
    total = 0.0
    for k in range(3):
        stock = stock - Counter(a=x, b=k) + Counter(a=2 * x, c=x * x)
        stock.update(Counter(c=x))
        stock.subtract({"a": x})
        total += x * stock["a"] + sum(stock.values())
    return total


PROGRAMS = [dicts, numbers_as_keys, changed, arithmetic]


@pytest.mark.parametrize("f", PROGRAMS)
def test_first_derivatives(f):
    check(f)


@each_in_long_turn
@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives(f):
    check_second(f)
