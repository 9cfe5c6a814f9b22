"""`dict.__getitem__` called as a function or method: what `__missing__` and a `default_factory` give, what they change, and what they
raise is in the derivatives."""

# ruff: noqa: SIM105

from __future__ import annotations

import functools
import operator
from collections import Counter, OrderedDict, defaultdict

import pytest

import zyg
from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_turn

pytestmark = each_in_turn


class Scope(dict):
    def __init__(self, outer=None, **names):
        super().__init__(**names)
        self.outer = outer

    def __missing__(self, key):
        return self.outer[key]

    def __getitem__(self, key):
        return super().__getitem__(key)


class Sparse(defaultdict):
    def __getitem__(self, key):
        return super().__getitem__(key)


class Filling(OrderedDict):
    asked = 1.0

    def __missing__(self, key):
        self.asked = self.asked * self["a"]
        if key == "gone":
            raise KeyError(key)
        self[key] = self.asked * 2.0
        return self[key]

    def __getitem__(self, key):
        return super().__getitem__(key)


class Storing(defaultdict):
    stored = 1.0

    def __setitem__(self, key, value):
        self.stored = self.stored * value
        super().__setitem__(key, value * 2.0)


class Tally(Counter):
    def __getitem__(self, key):
        return super().__getitem__(key)


def outer_scope(x):
    return Scope(Scope(a=x, b=x * x), c=2.0)["a"] * x


def filled_with(x):
    values = Sparse(lambda: x * x)
    values["a"] += 1.0
    return values["a"] * 2.0 + len(values)


def mapped(x):
    values = defaultdict(lambda: x * x)
    return sum(map(values.__getitem__, "abca"))


def by_method(x):
    values = defaultdict(lambda: x * x, b=x)
    f = values.__getitem__
    return values.__getitem__("a") * f("c") * f("b") + dict.__getitem__(values, "d") + values["a"]


def by_functions(x):
    values = defaultdict(lambda: x * x, b=x)
    return functools.partial(dict.__getitem__, values)("a") * operator.methodcaller("__getitem__", "c")(
        values
    ) * defaultdict.__getitem__(values, "d") + functools.reduce(dict.__getitem__, ["e"], values)


def ordered(x):
    values = Filling(a=x)
    return values["b"] * OrderedDict.__getitem__(values, "c") * values.asked + values["b"]


def raising(x):
    values = Filling(a=x)
    r = 1.0
    try:
        r = values["b"] * values["gone"]
    except KeyError:
        pass
    try:
        r += dict.__getitem__(values, "gone")
    except KeyError:
        r *= 2.0
    return values.asked * r + values["a"]


def raising_factory(x):
    made = [x]

    def factory():
        made[0] = made[0] * x
        if len(made) > 1:
            raise ValueError
        made.append(made[0] * 2.0)
        return made[1]

    values = defaultdict(factory)
    f = values.__getitem__
    try:
        f("a")
        f("b")
    except ValueError:
        pass
    return made[0] * values["a"]


def storing(x):
    values = Storing(lambda: x * x)
    y = values.__getitem__("a") * dict.__getitem__(values, "b")
    return y * values.stored + values["a"]


def counted(x):
    values = Tally()
    values["a"] = x
    return (values["a"] + values["b"] + Counter.__getitem__(values, "c")) * x


def without_any(x):
    values = {"a": x}
    try:
        return values.__getitem__("a") + dict.__getitem__(values, "b")
    except KeyError:
        return values.__getitem__("a") * x


def keys_that_are_sorted(x):
    values = defaultdict(lambda: x * x, a=x)
    order = sorted("cab", key=values.__getitem__)
    return values[order[0]] * values["b"] + values[max("abe", key=values.__getitem__)]


def keys_by_functions(x):
    values = defaultdict(lambda: x * x, a=x)
    order = sorted("cab", key=lambda k: values[k])
    return values[order[0]] * values["b"] + values[min("abe", key=lambda k: -values[k])]


def taken_by_c_code(x):
    values = Filling(a=x)
    kept = len([*filter(values.__getitem__, "b")])
    got = operator.itemgetter("a", "e")(values)
    return got[0] * got[1] + operator.getitem(values, "f") + kept + len(values) * values.asked


def got_in_turn(x):
    class Own(dict):
        def __missing__(self, key):
            return self[key[1:]] * x

        def __getitem__(self, key):
            return dict.__getitem__(self, key) * 2.0

    values = Own(a=x)
    return values["bca"] + Own.__getitem__(values, "ba") + [*map(values.__getitem__, ["a", "ca"])][1]


def changed_behind(x):
    """What is made is held by the dict, and changed there."""
    values = defaultdict(lambda: [x])
    values.__getitem__("a").append(x * x)
    values.__getitem__("a")[0] *= 2.0
    return sum(dict.__getitem__(values, "a"))


def by_other_methods(x):
    """`get`, `pop` and `setdefault` ask for nothing that is missing."""
    values = defaultdict(lambda: x * x, a=x)
    y = dict.get(values, "b", x) * dict.setdefault(values, "c", x * 3.0) * dict.pop(values, "d", x)
    return y * dict.pop(values, "a") + len(values) * x


FUNCTIONS = (
    outer_scope, filled_with, mapped, by_method, by_functions, ordered, raising, raising_factory, storing, counted, without_any,
    keys_that_are_sorted, keys_by_functions, taken_by_c_code, got_in_turn, changed_behind, by_other_methods,
)  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_missing_items_are_in_derivatives(f):
    check(f, 1.3, rel=1e-7)
    check_second(f, 1.3)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_missing_items_are_in_both_modes(f):
    assert zyg.jvp(f, (1.3,), (1.0,))[1] == pytest.approx(zyg.gradient(f, 1.3)[0])
