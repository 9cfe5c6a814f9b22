"""Dicts that are made of pairs, or get them: of lists, tuples, `zip`, `enumerate`, `items()`, with keys that are there twice, and pairs of
another kind. Against differences."""

from __future__ import annotations

from collections import OrderedDict, defaultdict

import pytest

from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn


def total(d):
    return sum(v * k for k, v in enumerate(d.values(), 1))


def of_zip(x):
    d = dict(zip("abca", [x, x * x, 2 * x, 3 * x]))
    e = OrderedDict(zip(("a", "b"), (x, x + 1.0)))
    e.update(zip(["b", "c", "d"], (x * x, 2.0, 3.0)))
    return total(d) * e["b"] + e["a"]


def of_enumerate(x):
    d = dict(enumerate([x, 2 * x, x * x]))
    d.update(enumerate((x, 3.0), 2))
    return d[0] * d[1] + d[2] + d[3] * x


def of_pairs(x):
    d = defaultdict(float, [("a", x), ("b", x * x), ("a", 3 * x)])
    d.update({"b": 2 * x, "c": x}.items())
    d.update([["d", x], ("e", x * x)])
    d.update(k for k in [("f", x), "gh"])
    return sum(v for v in d.values() if v != "h") * d["a"]


def of_numbers(x):
    d = {}
    d.update([(1.5, x), (2, x * x), ((1, "a"), 2 * x)])
    d.update(zip([0.5, 1.5], [x, 3 * x]))
    return total(d)


class Scope(dict):
    def __init__(self, names=(), values=(), outer=None):
        self.update(zip(names, values))
        self.outer = outer

    def find(self, name):
        return self if name in self else self.outer.find(name)


class Always(dict):
    def __contains__(self, name):
        return True


def of_scopes(x):
    outer = Scope(["a", "b"], [x, x * x])
    inner = Scope(("b",), (2 * x,), outer)
    always = Always(a=x)
    return inner.find("b")["b"] * inner.find("a")["a"] + (x if "z" in always else 0.0)


def too_few(x):
    d = {"a": x}
    try:
        d.update(zip(["b", "c"], [2 * x], strict=True))
    except ValueError:
        d["d"] = x * x
    try:
        d.update([("e", x), ("f",)])
    except ValueError:
        d["g"] = x * x * x
    return total(d)


@pytest.mark.parametrize("f", [of_zip, of_enumerate, of_pairs, of_numbers, of_scopes, too_few])
def test_dicts_of_pairs(f):
    check(f)


@each_in_long_turn
@pytest.mark.parametrize("f", [of_zip, of_pairs, of_scopes])
def test_second_derivatives(f):
    check_second(f)
