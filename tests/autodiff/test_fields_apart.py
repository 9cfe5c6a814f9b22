"""`dataclasses.asdict` and `astuple` of what data classes may hold: lists, tuples, dicts, arrays, other data classes, named tuples, objects that
are in two places, classes with properties, derived from containers, with attributes that are missing; values and derivatives of what is
written to them later. Against CPython and differences."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest

import zyg
from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn

Pair = namedtuple("Pair", "x y")


@dataclasses.dataclass
class Point:
    x: Any
    y: Any = 2.0


@dataclasses.dataclass
class Path:
    points: Any
    name: str = "path"
    scale: Any = 1.0
    extra: Any = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    a: Any
    b: Any


class Rows(list):
    pass


class Table(dict):
    pass


@dataclasses.dataclass
class Computed:
    a: Any

    @property
    def twice(self):
        return self.a * 2.0

    def __getattr__(self, name):
        if name == "missing":
            return self.a * 3.0
        raise AttributeError(name)


@dataclasses.dataclass
class Missing:
    a: Any
    missing: Any = 1.0


def flat(x):
    total = 0.0
    for k in range(3):
        d = dataclasses.asdict(Point(x * k, x))
        total += d["x"] * d["y"] + dataclasses.astuple(Point(x, k))[0] + len(d)
        d["x"] = x
        d["z"] = d.pop("y")
        total += d["x"] * d["z"] + sum(dataclasses.asdict(Frozen(x, 2.0 * x)).values())
    return total


def nested(x):
    shared = Point(x, x * x)
    path = Path([Point(x), shared, shared, [x, 2.0]], "a", x, {"k": (x, Point(x * x, 1.0)), 3: [shared]})
    total = 0.0
    for d in (dataclasses.asdict(path), {"points": (t := dataclasses.astuple(path))[0], "scale": t[2], "extra": t[3]}):
        first, second, third, last = d["points"]
        parts = [p["y"] if isinstance(p, dict) else p[1] for p in (first, second, third)]
        inner = d["extra"]["k"]
        deep = inner[1]["x"] if isinstance(inner[1], dict) else inner[1][0]
        total += parts[0] * parts[1] + parts[2] ** 2 + last[0] * inner[0] + deep * d["scale"]
        last[0] = 5.0
        d["extra"][3].append(x)
        total += last[0] * x + d["extra"][3][1] + path.points[3][0]
    path.points[3][0] = x * x
    return total + path.points[3][0]


def written_between(x):
    p = Point([x, x], {"a": x})
    d = dataclasses.asdict(p)
    p.x[0] = x * x
    p.y["a"] = 3.0
    e = dataclasses.asdict(p)
    d["x"][1] *= x
    p.x = d["x"]
    return d["x"][0] * e["x"][0] + d["y"]["a"] * x + e["y"]["a"] * x + sum(dataclasses.asdict(p)["x"])


def with_arrays(x):
    a = np.array([1.0, 2.0]) * x
    p = Point(a, [a, a])
    d = dataclasses.asdict(p)
    t = dataclasses.astuple(p)
    d["x"][0] = x
    a[1] = x * x
    return (d["x"] * t[0]).sum() + d["y"][0][1] * t[1][1][0] + a.sum()


def of_other_kinds(x):
    total = 0.0
    for value in (
        Pair(x, [x]),
        Rows([x, x]),
        Table(a=x, b=x),
        OrderedDict(a=x),
        {(1, 2): x},
        {x},
        Computed(x),
        (x, (x, "a")),
    ):
        d, t = dataclasses.asdict(Point(value, x)), dataclasses.astuple(Point(value, x))
        for part in (d["x"], t[0]):
            total += type(part).__name__.count("a") * x
            if isinstance(part, dict):
                total += sum(part.values())
            elif isinstance(part, (list, tuple, set)):
                total += sum(v for v in part if isinstance(v, float))
            else:
                total += part.a
    return total


def other_factories(x):
    d = dataclasses.asdict(
        Path([Point(x)], scale=x), dict_factory=lambda pairs: {k: v for k, v in pairs if k != "name"}
    )
    t = dataclasses.astuple(Point(x, Point(x * x)), tuple_factory=list)
    same = dataclasses.asdict(Point(x), dict_factory=dict)
    return d["points"][0]["x"] * d["scale"] + t[0] * t[1][0] + len(d) * x + same["x"]


def that_fail(x):
    m, total = Missing(x), x
    del m.__class__.missing
    try:
        for value in (3.0, Point, None, m):
            try:
                total += len(dataclasses.asdict(value)) * x
            except (TypeError, AttributeError) as error:
                total += len(str(error)) * x
            m.__dict__.pop("missing", None)
    finally:
        Missing.missing = 1.0
    return total


class Local:
    def __init__(self, make):
        self.make = make


def of_local_classes(x):
    @dataclasses.dataclass
    class Own:
        a: Any
        b: Any = 1.0

    made = [Own(x, k) for k in range(3)]
    return sum(dataclasses.asdict(o)["a"] * dataclasses.astuple(o)[1] for o in made)


FUNCTIONS = [
    flat,
    nested,
    written_between,
    with_arrays,
    of_other_kinds,
    other_factories,
    that_fail,
    of_local_classes,
]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_first_derivatives(f):
    check(f)


@each_in_long_turn
@pytest.mark.parametrize("f", FUNCTIONS)
def test_second_derivatives(f):
    check_second(f)


def test_what_arguments_hold():
    def f(path):
        try:
            d = dataclasses.asdict(path)
        except KeyError:
            return 0.0
        return d["points"][0]["x"] * d["scale"] + d["points"][1]["y"] ** 2

    with pytest.warns(zyg.FallbackWarning):
        (g,) = zyg.gradient(f, Path([Point(2.0, 1.0), Point(3.0, 4.0)], "a", 5.0))
    assert (g.points[0].x, g.points[1].y, g.scale) == (5.0, 8.0, 2.0)


def test_what_has_a_rule_later():
    def f(x):
        try:
            return dataclasses.asdict(Point(x))["x"] * 2.0
        except KeyError:
            return 0.0

    with pytest.warns(zyg.FallbackWarning):
        assert zyg.gradient(f, 3.0) == (2.0,)

    @zyg.adjoint(dataclasses.asdict)
    def rule(p):
        return {"x": p.x}, lambda d: ({"x": 10.0 * d["x"]},)

    try:
        assert zyg.gradient(f, 3.0) == (20.0,)
    finally:
        from zyg import rules

        rules.remove(dataclasses.asdict)
    assert zyg.gradient(f, 3.0) == (2.0,)
