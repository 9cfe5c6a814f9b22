"""Classes derived from dict, OrderedDict and defaultdict whose methods for items are called by C code."""

from collections import OrderedDict, defaultdict

import pytest

import zyg
from tests.oracles.differences import derivative
from tests.turns import each_in_long_turn, each_in_turn
from zyg.fallback import python_pullback


class Ordered(OrderedDict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value * 2.0)


class Initialised(Ordered):
    def __init__(self, *args, **items):
        super().__init__(*args, **items)


class Read(OrderedDict):
    def __getitem__(self, key):
        return super().__getitem__(key) * 3.0


class Recent(OrderedDict):
    """The last two."""

    def __setitem__(self, key, value):
        if key in self:
            self.move_to_end(key)
        super().__setitem__(key, value)
        if len(self) > 2:
            self.popitem(last=False)


class Default(defaultdict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value * 2.0)


class Logged(defaultdict):
    def __missing__(self, key):
        return super().__missing__(key) * 5.0


class Plain(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value * 2.0)


class Mapping:
    def __init__(self, x):
        self.x = x

    def keys(self):
        return ["a"]

    def __getitem__(self, key):
        return self.x * 7.0


def updated(x):
    o = Ordered()
    o.update(a=x, function=x * x)
    o.update({"c": x})
    o.update([("d", 3.0 * x)], e=x)
    o.update(Ordered(f=x))
    return sum(o.values()) + o["function"]


def set_by_default(x):
    o = Ordered()
    o.setdefault("a", x)
    return o.setdefault("a", 3.0) * o.setdefault("b", x) + o["b"]


def united(x):
    o = Ordered(a=x)
    o |= {"b": x}
    return o["a"] * o["b"] + (o | {"c": x})["c"] + ({"d": x} | o)["d"] + (o | Ordered(e=x))["e"]


def of_recent(x):
    o = Recent(a=x, b=x * x)
    o["a"] = 5.0 * x
    o["c"] = 3.0 * x
    return sum(o.values()) * x


def read(x):
    return Read(a=x).copy()["a"] + Read(a=x).setdefault("a", 1.0) + Ordered(Read(a=x))["a"]


def defaulted(x):
    d = Default(lambda: x)
    return d["a"] * d["a"] + d["a"]


def added_to_default(x):
    d = Default(lambda: x * x, b=x)
    d["a"] += x
    return d["a"] * d["b"]


def missing(x):
    d = Logged(lambda: x)
    return d["a"] * x + d["a"]


def from_keys(x):
    return Ordered.fromkeys("ab", x)["a"] + Default.fromkeys(["a"], x)["a"] * Plain.fromkeys(("b",), x * x)["b"]


def raised(x):
    try:
        Default(None)["a"]
    except KeyError:
        return x * 2.0
    return x


PROGRAMS = [
    lambda x: Ordered(a=x)["a"],
    lambda x: Ordered({"a": x}, b=x * x)["b"],
    lambda x: Ordered(zip("ab", [x, x * x]))["b"],
    lambda x: Ordered(Mapping(x))["a"],
    lambda x: Initialised({"a": x}, b=x)["a"] * x,
    lambda x: Ordered(a=x).copy()["a"],
    updated, set_by_default, united, of_recent, read, defaulted, added_to_default, missing, from_keys, raised,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_items_that_c_code_sets(f):
    value, back = python_pullback(f, (1.1,), {})
    assert (value, back(1.0)[0]) == (f(1.1), pytest.approx(derivative(f, 1.1), rel=1e-7))


@each_in_long_turn
@each_in_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_second_derivatives():
    f = zyg.derivative(united)
    assert zyg.gradient(f, 1.1)[0] == pytest.approx(derivative(derivative_of(united), 1.1), rel=1e-5)


def derivative_of(f):
    return lambda x: derivative(f, x)
