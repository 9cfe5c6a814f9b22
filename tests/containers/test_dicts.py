"""Dictionaries with constant string keys in compiled code."""

import math

import pytest

import zyg
from tests.turns import each_in_turn

from .agreement import agree
from .test_classes import Point

SETTINGS = {"rate": 0.1, "steps": 3, "function": math.sin}
STACK = []


def building(x):
    d = {"a": x, "b": 2.0}
    d["a"] += 1
    d.update(c=x * x)
    d |= {"e": 1.0}
    s = 0.0
    for k in d:
        s += d[k]
    for k, v in d.items():
        s += v * (k == "c")
    return s + len(d) + d.get("z", 5.0) + ("a" in d) + d.pop("a") + sum(d.values()) + d.setdefault("n", x)


def changing(d, k):
    d["s"] = d["u"] * d["v"]
    del d["u"]
    return d["s"] * k


def in_a_loop(d, n):
    for i in range(n):
        d["x"], d["y"] = d["x"] + 0.1 * d["y"], d["y"] - 0.1 * d["x"] * i
    return d["x"] * d["y"]


def on_one_path(x, c):
    d = {"a": x}
    if c:
        d["b"] = 2 * x
    return d["b"] * 3 if "b" in d else d.get("b", d["a"])


def nested(c):
    return c["w"][0] * c["w"][1] + c["p"].x * c["t"][1]["z"]


def both(d, e):
    d["a"] = 5.0
    return d["a"] + e["a"]


def total(*args, **named):
    return sum(args) + len(args) * len(named) + sum(v * v for v in named.values())


def spread(x):
    named = {"y": x, "z": 2 * x}
    return total(x, **named, **{"w": 3 * x})


def copied(d):
    e = d.copy()
    f = dict(d, b=2.0)
    e["a"] = 10.0
    return d["a"] + e["a"] * f["b"]


def history(x):
    h = {"loss": [], "best": None}
    for i in range(4):
        h["loss"].append((x - i) ** 2)
        if h["best"] is None or h["loss"][-1] < h["best"]:
            h["best"] = h["loss"][-1]
    return h["best"] * h["loss"][0]


@each_in_turn
@pytest.mark.parametrize(
    "function, args",
    [
        (building, (2.0,)),
        (changing, ({"u": 2.0, "v": 3.0}, 2.0)),
        (in_a_loop, ({"x": 1.0, "y": 2.0}, 5)),
        (on_one_path, (1.5, True)),
        (on_one_path, (1.5, False)),
        (nested, ({"w": [1.0, 2.0], "p": Point(3.0, 1.0), "t": (1, {"z": 5.0})},)),
        (both, ({"a": 1.0}, {"a": 2.0})),
        (spread, (1.5,)),
        (copied, ({"a": 1.0},)),
        (history, (2.2,)),
        (lambda d, x: d["sin"](x) * d["square"](x), ({"sin": math.sin, "square": lambda t: t * t}, 2.0)),
        (lambda x: SETTINGS["rate"] * x + SETTINGS["steps"] + SETTINGS["function"](x), (2.0,)),
    ],
)
def test_dictionaries(function, args):
    agree(function, *args)


@pytest.mark.parametrize(
    "function, args",
    [
        (lambda x: {k: v * x for k, v in zip(("a", "b"), (1.0, 2.0))}, (2.0,)),
        (lambda x: dict(a=x, b={"c": [x, 2]}), (2.0,)),  # noqa: C408
        (lambda d: (d == {"a": 1.0}, d != {"a": 1.0}, d == {"b": 1.0}, d == 1), ({"a": 1.0},)),
        (lambda d: d["q"], ({"a": 1.0},)),
        (lambda d: d[3], ({"a": 1.0},)),
        (lambda d: d.pop("q"), ({"a": 1.0},)),
        (lambda d: (d.pop("q", 3.0), d.setdefault("r", 4), len(d), list(d), 1 in d), ({"a": 1.0},)),
        (lambda d: d.clear(), ({"a": 1.0},)),
        (lambda d: d, ({"a": 1.0, "b": 2},)),
        (lambda d: 1 if d else 2, ({},)),
    ],
)
def test_values(function, args):
    agree(function, *args, gradient=False)


def test_gradients_mirror():
    assert zyg.gradient(lambda d: d["a"] * 2, {"a": 1.0, "b": 3.0}) == ({"a": 2.0, "b": None},)
    assert zyg.gradient(lambda d, e: d["a"] * 2, {"a": 1.0}, {"b": 3.0}) == ({"a": 2.0}, None)


def test_the_order_of_keys_is_that_of_the_argument():
    first = zyg.jit(lambda d: next(iter(d.values())))
    assert first({"a": 1.0, "b": 2.0}) == 1.0
    assert first({"b": 2.0, "a": 1.0}) == 2.0


def test_keys_made_at_run_time_are_equal_by_value():
    compiled = zyg.jit(lambda d: d["long_key"])
    assert compiled({"long_key": 1.0}) == 1.0
    assert compiled({"_".join(["long", "key"]): 2.0}) == 2.0


def test_one_dict_passed_twice():
    d = {"a": 1.0}
    assert zyg.jit(both)(d, d) == 10.0


def test_globals_are_read_at_each_call_and_not_written():
    compiled = zyg.jit(lambda x: SETTINGS["rate"] * x)
    assert compiled(2.0) == 0.2
    SETTINGS["rate"] = 0.5
    assert compiled(2.0) == 1.0
    SETTINGS["rate"] = 0.1

    def write(x):
        SETTINGS["rate"] = x

    with pytest.raises(zyg.Unsupported, match="global"):
        zyg.jit(write)(1.0)


@pytest.mark.parametrize(
    "function, words",
    [
        (lambda x: {1: x}, "a dictionary with this key"),
        (lambda x: {"a": x}[str(x)], "a dictionary with this key"),
        (lambda x: {x}, "a set"),
    ],
)
def test_refused(function, words):
    with pytest.raises(zyg.Unsupported, match=words):
        zyg.jit(function)(1.0)
