"""Lists of many objects that are arguments: natively they are columns of what the objects hold, as long as these are only read."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import zyg
from zyg.errors import ArgumentError
from zyg.typeof import MAX_LIST, MAX_ROWS

from ..oracles.differences import derivative
from ..turns import by_one_python_a_day, each_in_long_turn, each_in_turn

FEW, MANY = MAX_ROWS + 4, MAX_LIST + 5  # looked at one by one where they are written, and never


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        yield


@dataclass
class Point:
    x: float
    y: float = 2.0

    def dot(self, other: Point) -> float:
        return self.x * other.x + self.y * other.y


class Body:
    scale = 3.0

    def __init__(self, x: float, y: float):
        self.x, self.y = x, y

    @property
    def both(self) -> float:
        return self.x * self.y + self.scale

    def move(self) -> None:
        self.x += self.y


class Slotted:
    __slots__ = ("unset", "x", "y")

    def __init__(self, x: float, y: float):
        self.x, self.y = x, y


@dataclass
class Pair:
    first: Point
    second: Point
    mass: float


CLASSES = (Point, Body, Slotted)


def made(cls: Any, count: int) -> list[Any]:
    return [cls(1.03 + k, 2.0 * k + 0.5) for k in range(count)]


def sums(items):
    total = 0.0
    for item in items:
        total += item.x * item.y**2
    return total


def pairs(items):
    total = 0.0
    for k, p in enumerate(items):
        for q in items[k + 1 :]:
            d = p.x - q.x
            total += p.y / (d * d + 0.1)
    return total


def largest(items):
    best = max(items, key=lambda p: p.x * p.y)
    return best.x * best.y**2


def in_order(items):
    return sum((k + 1) * p.x for k, p in enumerate(sorted(items, key=lambda p: -p.y)))


def chosen(items):
    taken = [p for p in items if p.x > 4.0]
    taken.append(items[0])
    return sum(p.x * p.y for p in taken)


def starred(items):
    first, *others, last = items
    return first.x * last.y + sum(p.x for p in others)


def neighbours(items):
    return sum(p.x * q.y for p, q in zip(items, items[2:]))


def backwards(items):
    return sum(k * p.x * p.y for k, p in enumerate(reversed(items)))


READ = (sums, pairs, largest, in_order, chosen, starred, neighbours, backwards)


def with_properties(items):
    return sum(p.both * p.scale for p in items)


def by_patterns(items):
    total = 0.0
    for p in items:
        match p:
            case Point(x=x, y=y) if x > 2.0:
                total += x * y
            case Body(x=x):
                total += x**2
            case _:
                total += 1.0
    return total


def moved(items):
    for p in items:
        p.x = p.x * p.y
    return sum(p.x * p.y for p in items)


def told_apart(items):
    total = 0.0
    for p in items:
        for q in items:
            if p is not q:
                total += p.x * q.y
    return total


def exchanged(items):
    items[0], items[1] = items[1], items[0]
    return items[0].x * 2.0 + items[1].y


def sorted_in_place(items):
    items.sort(key=lambda p: -p.y)
    return items[0].x * items[1].y


def longer(items):
    items.append(type(items[0])(1.0, 2.0))
    return sum(p.x * p.y for p in items)


def shorter(items):
    return items.pop().x * items[0].y


def kept_elsewhere(items):
    kept = {"first": items[0]}
    kept["first"].x = 5.0
    return items[0].x * items[1].x


def with_new_ones(items):
    both = [type(items[0])(p.x * 2.0, p.y) for p in items]
    both.append(items[0])
    return sum(p.x * p.y for p in both)


def one_or_a_new_one(items):
    p = items[0] if items[1].x > 1.5 else type(items[0])(7.0, 8.0)
    return p.x * p.y


WRITTEN = (
    *(moved, told_apart, exchanged, sorted_in_place, longer, shorter, kept_elsewhere),
    *(with_new_ones, one_or_a_new_one),
)


def state(items: list[Any]) -> list[tuple[float, float]]:
    return [(p.x, p.y) for p in items]


def gradients(f: Callable[..., Any], items: list[Any]) -> list[tuple[float, float]]:
    (found,) = zyg.gradient(f, items)
    both = [(0.0, 0.0) if g is None else (g.x or 0.0, g.y or 0.0) for g in found]
    return both + [(0.0, 0.0)] * (len(items) - len(both))


def differences(f: Callable[..., Any], cls: Any, count: int) -> list[tuple[float, ...]]:
    def by(k: int, name: str) -> float:
        def moved_by(step: float) -> float:
            items = made(cls, count)
            setattr(items[k], name, getattr(items[k], name) + step)
            return f(items)

        return derivative(moved_by, 0.0)

    return [tuple(by(k, name) for name in "xy") for k in range(count)]


@each_in_long_turn
@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
@pytest.mark.parametrize("f", READ, ids=lambda f: f.__name__)
def test_what_only_reads_is_native(f: Any, cls: Any) -> None:
    items = made(cls, MANY)
    assert zyg.jit(f)(items) == pytest.approx(f(items), rel=1e-14)
    with warnings.catch_warnings():
        warnings.simplefilter("error", zyg.FallbackWarning)
        found = gradients(f, items)
    for got, expected in zip(found, differences(f, cls, MANY)):
        assert got == pytest.approx(expected, rel=1e-6, abs=1e-7)


@each_in_long_turn
@pytest.mark.parametrize("count", [FEW, MANY])
@pytest.mark.parametrize("cls", (Point, Body), ids=lambda c: c.__name__)
@pytest.mark.parametrize("f", WRITTEN, ids=lambda f: f.__name__)
def test_what_writes_or_tells_apart_is_as_in_python(f: Any, cls: Any, count: int) -> None:
    expected_items = made(cls, count)
    expected = f(expected_items)
    items = made(cls, count)
    before = list(items)
    try:
        value = zyg.jit(f)(items)
    except zyg.Unsupported:
        assert state(items) == state(made(cls, count))
    else:
        assert value == pytest.approx(expected, rel=1e-14)
        assert state(items) == state(expected_items)
        assert all(any(p is q for q in before) for p in items[: count - 1])
    items = made(cls, count)
    found = gradients(f, items)
    assert state(items) == state(expected_items)
    for got, wanted in zip(found, differences(f, cls, count)):
        assert got == pytest.approx(wanted, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("f", [with_properties, by_patterns])
def test_methods_and_patterns(f: Any) -> None:
    items = made(Body, MANY)
    assert zyg.jit(f)(items) == pytest.approx(f(items), rel=1e-14)
    for got, expected in zip(gradients(f, items), differences(f, Body, MANY)):
        assert got == pytest.approx(expected, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("count", [FEW, MANY])
def test_an_object_is_given_back_itself_or_refused(count: int) -> None:
    items = made(Point, count)
    f = zyg.jit(lambda items: items[2])
    try:
        assert f(items) is items[2]
    except zyg.Unsupported as error:
        assert count == MANY and "out of a list of many" in str(error)
    taken = zyg.jit(lambda items: [p for p in items if p.x > 3.0])
    with pytest.raises(zyg.Unsupported):
        taken(items)


def test_objects_in_objects() -> None:
    def energy(items):
        return sum(0.5 * p.mass * p.second.dot(p.second) + p.first.x for p in items)

    items = [Pair(Point(1.0 + k), Point(2.0, 0.1 * k), 1.0 + k) for k in range(MANY)]
    assert zyg.jit(energy)(items) == pytest.approx(energy(items), rel=1e-14)
    found = zyg.gradient(energy, items)[0]
    for p, g in zip(items, found):
        assert (g.first.x, g.mass) == (1.0, pytest.approx(0.5 * p.second.dot(p.second)))
        assert (g.second.x, g.second.y) == (pytest.approx(p.mass * p.second.x), pytest.approx(p.mass * p.second.y))
    # One point is in two places: its derivative is the sum of both.
    items[3].first = items[4].second
    with pytest.raises(ArgumentError, match="different objects"):
        zyg.jit(energy)(items)
    shared = zyg.gradient(energy, items)[0]
    expected = items[4].mass * items[4].second.x + 1.0
    assert shared[3].first.x == shared[4].second.x == pytest.approx(expected)


@pytest.mark.parametrize("count", [FEW, MANY])
def test_one_object_in_two_places(count: int) -> None:
    f, gradient = zyg.jit(sums), zyg.gradient
    items = made(Body, count)
    assert f(items) == pytest.approx(sums(items)) and gradient(sums, items)
    items[1] = items[0]
    if count == FEW:
        assert f(items) == pytest.approx(sums(items))
    found = gradient(sums, items)[0]
    assert found[0].x == found[1].x == pytest.approx(2.0 * items[0].y ** 2)


def test_an_object_that_is_another_argument_as_well() -> None:
    def f(items, one):
        return sum(p.x * p.y for p in items) * one.x

    items, other = made(Body, MANY), Body(2.0, 3.0)
    compiled = zyg.grad(f, (0, 1))
    for one in (other, items[2], other):
        by_items, by_one = compiled(items, one)
        total = sum(p.x * p.y for p in items)
        own = items[2].y * one.x
        if one is other:
            assert (by_items[2].x, by_one.x) == (pytest.approx(own), pytest.approx(total))
        else:
            assert by_items[2].x == by_one.x == pytest.approx(own + total)


def test_objects_that_are_not_alike() -> None:
    f = zyg.jit(sums)
    for cls in CLASSES:
        items = made(cls, MANY)
        assert f(items) == pytest.approx(sums(items))
    items = made(Body, MANY)
    items[5].other = 1.0
    items[6].x = 3
    items[7] = Point(1.0)
    assert zyg.gradient(sums, items)[0][5].x == pytest.approx(items[5].y ** 2)
    items = made(Slotted, MANY)
    items[4].unset = 1.0
    assert zyg.gradient(sums, items)[0][4].x == pytest.approx(items[4].y ** 2)


def test_an_attribute_that_the_class_has() -> None:
    class Default:
        y = 2.0

        def __init__(self, x: float, y: float):
            self.x, self.y = x, y

    f = zyg.jit(sums)
    items = made(Default, MANY)
    assert f(items) == pytest.approx(sums(items))
    del items[3].y  # the class's is found
    items[4].z = items[4].__dict__.pop("y")
    with pytest.raises(ArgumentError):
        f(items)
    assert zyg.gradient(sums, items)[0][3].x == pytest.approx(4.0)


def test_a_property_that_is_defined_later() -> None:
    class Later:
        def __init__(self, x: float, y: float):
            self.x, self.y = x, y

    f = zyg.jit(sums)
    items = made(Later, MANY)
    assert f(items) == pytest.approx(sums(items))
    cls: Any = Later
    cls.y = property(lambda self: 10.0)
    assert f(items) == pytest.approx(sum(p.x * 100.0 for p in items))


def test_a_global_object_that_is_in_the_list() -> None:
    items = made(Body, MANY)
    leader = items[3]
    with pytest.raises(zyg.Unsupported, match="is"):
        zyg.jit(lambda items: [1.0 if p is leader else 0.0 for p in items][3])(items)


def test_other_modes() -> None:
    items = made(Point, MANY)
    tangents = [Point(1.0 + 0.1 * k, 0.5) for k in range(MANY)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", zyg.FallbackWarning)
        by_columns = zyg.jvp(sums, (items,), (tangents,))[1]
        second = zyg.gradient(lambda items: sum(g.x * p.x for g, p in zip(zyg.gradient(sums, items)[0], items)), items)[
            0
        ]
    assert by_columns == pytest.approx(sum(d.x * p.y**2 + 2.0 * p.x * p.y * d.y for p, d in zip(items, tangents)))
    assert second[5].x == pytest.approx(items[5].y ** 2)
    assert second[5].y == pytest.approx(2.0 * items[5].x * items[5].y)


def test_a_list_in_an_object() -> None:
    class World:
        def __init__(self, bodies: list[Body], rate: float):
            self.bodies, self.rate = bodies, rate

        def energy(self) -> float:
            return self.rate * sum(p.x * p.y for p in self.bodies)

    world = World(made(Body, MANY), 2.0)
    energy = lambda world: world.energy()
    assert zyg.jit(energy)(world) == pytest.approx(world.energy())
    found = zyg.gradient(energy, world)[0]
    assert found.bodies[3].x == pytest.approx(2.0 * world.bodies[3].y)
    assert found.rate == pytest.approx(world.energy() / 2.0)

    def led(world):
        world.leader = world.bodies[3]
        world.leader.x = 4.0
        return world.energy()

    expected = World(made(Body, MANY), 2.0)
    value = led(expected)
    assert zyg.value_and_grad(led)(world)[0] == pytest.approx(value)
    assert world.leader is world.bodies[3]


@each_in_long_turn
def test_many_references_of_an_entry() -> None:
    """The references beyond the first ones lie together in memory: none is dropped twice, or kept, by a call that fits or one that does not."""

    class Point:
        def __init__(self, x: float, y: Any):
            self.x, self.y = x, y

    def total(values, points):
        return sum(values.values()) + sum(p.x * p.y for p in points)

    values = {f"k{k}": 1.5 + k for k in range(150)}
    points = [Point(0.5 + k, 2.0 * k) for k in range(8)]
    compiled = zyg.jit(total)
    held = [*values.values(), *(x for p in points for x in (p, p.x, p.y))]
    expected = total(values, points)
    others = [({**values, "k149": "text"}, points), (values, [*points[:7], Point(1.0, "text")])]
    compiled(values, points)
    before = list(map(sys.getrefcount, held))
    for _ in range(3):
        assert compiled(values, points) == expected
        for other in others:
            with pytest.raises((TypeError, zyg.Unsupported)):
                compiled(*other)
    gc.collect()
    assert list(map(sys.getrefcount, held)) == before
    (by_values, _) = zyg.gradient(total, values, points)
    assert by_values == dict.fromkeys(values, 1.0)


# ---------------------------------------------------------------------------------------------------------- dicts


def dicts(count: int) -> list[Any]:
    return [{"x": 0.53 + k, "v": 1.0 + 0.1 * k} for k in range(count)]


def by_keys(rows):
    return sum(r["x"] * r["v"] ** 2 for r in rows)


def by_values(rows):
    return sum(a * a for r in rows for a in r.values())


def by_items(rows):
    return sum(v * (1.0 if k == "x" else 2.0) for r in rows for k, v in r.items())


def taken(rows):
    large = [r for r in rows if r["x"] > 5.0]
    large.append(rows[0])
    return sum(r["x"] * r["v"] for r in large)


def sorted_rows(rows):
    return sum((k + 1) * r["x"] for k, r in enumerate(sorted(rows, key=lambda r: -r["v"])))


def asked(rows):
    total = 0.0
    for p in rows:
        for q in rows[:5]:
            total += p["x"] * q.get("v", 1.0) * (1.0 if "x" in q else 2.0) + len(q)
    return total


def kept(rows):
    best = rows[0]
    for r in rows:
        if r["x"] * r["v"] > 3.0 * best["x"]:
            best = r
    return best["x"] * best["v"]


def copied(rows):
    a, b, c = {**rows[0]}, dict(rows[1]), rows[2].copy()
    a["x"] = 3.0 * b["v"]
    b["x"] = 1.0
    c["v"] = c["x"]
    return a["x"] * b["v"] * c["v"] + rows[0]["x"] + rows[1]["x"] * rows[2]["v"]


def changed(rows):
    for r in rows:
        r["x"] = r["x"] * 2.0
    return sum(r["x"] * r["v"] for r in rows)


def with_more(rows):
    rows[1]["new"] = rows[0]["x"] * 4.0
    return rows[1]["new"] * rows[1]["v"]


def best_row(rows):
    return max(rows, key=lambda r: r["x"] * r["v"])["x"] ** 2


def slopes(f: Any, count: int) -> list[dict[str, float]]:
    def by(k: int, key: str) -> float:
        def moved_by(step: float) -> float:
            rows = dicts(count)
            rows[k][key] += step
            return f(rows)

        return derivative(moved_by, 0.0, 1e-3)

    return [{key: by(k, key) for key in "xv"} for k in range(count)]


@each_in_turn
@pytest.mark.parametrize(
    "f", [by_keys, by_values, by_items, taken, sorted_rows, asked, kept, copied, changed, with_more, best_row]
)
def test_dicts(f: Any) -> None:
    expected_rows, rows = dicts(MANY), dicts(MANY)
    expected = f(expected_rows)
    if f in (changed, with_more, best_row):
        with pytest.raises(zyg.Unsupported):
            zyg.jit(f)(rows)
        assert rows == dicts(MANY)
    else:
        assert zyg.jit(f)(rows) == pytest.approx(expected, rel=1e-14) and rows == dicts(MANY)
    value, (found,) = zyg.withgradient(f, rows)
    assert value == pytest.approx(expected, rel=1e-14) and rows == expected_rows
    for got, wanted in zip(found, slopes(f, MANY)):
        assert got is None or type(got) is dict
        assert [(got or {}).get(key) or 0.0 for key in "xv"] == pytest.approx(
            [wanted[k] for k in "xv"], rel=1e-6, abs=1e-6
        )


def test_dicts_that_are_not_alike() -> None:
    f = zyg.jit(by_keys)
    assert f(dicts(MANY)) == pytest.approx(by_keys(dicts(MANY)))
    for key, value in (("more", 1.0), ("x", "text"), ("x", 2), ("x", None)):
        rows = dicts(MANY)
        rows[7][key] = value
        with pytest.raises(zyg.ZygError):
            f(rows)
    rows = dicts(MANY)
    rows[7] = {"v": 1.0, "x": 2.0}  # in another order
    with pytest.raises(ArgumentError):
        f(rows)
    assert zyg.gradient(by_keys, rows)[0][7] == {"v": 4.0, "x": 1.0}
    rows[7] = rows[8]
    found = zyg.gradient(by_keys, rows)[0]
    assert found[7] == found[8] and found[7]["x"] == pytest.approx(2.0 * rows[8]["v"] ** 2)
    with pytest.raises(zyg.Unsupported, match="out of a list of many"):
        zyg.jit(lambda rows: rows[3])(dicts(MANY))
    with pytest.raises(zyg.Unsupported, match="is"):
        zyg.jit(lambda rows: rows[3] is rows[4])(dicts(MANY))


def test_dicts_in_objects_and_objects_in_dicts() -> None:
    class Sample:
        def __init__(self, k: int):
            self.at = {"x": 0.5 * k, "y": 1.0 + k}
            self.weight = 0.1 * k

    def f(samples):
        return sum(s.weight * s.at["x"] * s.at["y"] for s in samples)

    samples = [Sample(k) for k in range(MANY)]
    assert zyg.jit(f)(samples) == pytest.approx(f(samples))
    found = zyg.gradient(f, samples)[0][4]
    assert found.at == {"x": pytest.approx(0.4 * 5.0), "y": pytest.approx(0.4 * 2.0)}
    assert found.weight == pytest.approx(10.0)

    def g(rows):
        return sum(r["point"].x * r["scale"] for r in rows)

    rows = [{"point": Point(1.0 + k, 2.0), "scale": 0.1 * k} for k in range(MANY)]
    assert zyg.jit(g)(rows) == pytest.approx(g(rows))
    found = zyg.gradient(g, rows)[0][4]
    assert (found["point"].x, found["scale"]) == (pytest.approx(0.4), 5.0)
    second = zyg.gradient(
        lambda rows: sum(d["scale"] * r["scale"] for d, r in zip(zyg.gradient(g, rows)[0], rows)), rows
    )[0]
    assert second[4]["point"].x == pytest.approx(0.4)


# ----------------------------------------------------------------------------------------- attributes that are no numbers


@dataclass
class Named:
    name: Any
    x: float
    y: float
    tag: Any


def named(count: int) -> list[Named]:
    return [Named(f"n{k}", 1.03 + k, 2.0 * k + 0.5, k if k % 2 else 0.5 * k) for k in range(count)]


def by_name(items):
    return sum(p.x * p.y for p in items if p.name != "n3")


def equal_to_one(items):
    return sum(p.x * p.y for p in items if p == items[2])


def by_tag(items):
    return sum(p.x * p.tag for p in items)


def all_values(items):
    return sum(sum(v for v in vars(p).values() if isinstance(v, float)) for p in items)


@by_one_python_a_day
@pytest.mark.parametrize("f", READ, ids=lambda f: f.__name__)
def test_what_is_not_read_may_be_anything(f: Any) -> None:
    items = named(MANY)
    items[4].name = None
    assert zyg.jit(f)(items) == pytest.approx(f(items), rel=1e-14)
    plain = made(Point, MANY)
    assert np.allclose(gradients(f, items), gradients(f, plain), rtol=1e-13)


@by_one_python_a_day
@pytest.mark.parametrize("count", [FEW, MANY])
@pytest.mark.parametrize("f", [by_name, equal_to_one, by_tag, all_values], ids=lambda f: f.__name__)
def test_what_is_read_of_it_is_looked_at_one_by_one(f: Any, count: int) -> None:
    items = named(count)
    with contextlib.suppress(zyg.ZygError):
        assert zyg.jit(f)(items) == pytest.approx(f(items), rel=1e-14)
    value, (found,) = zyg.withgradient(f, items)
    assert value == pytest.approx(f(items), rel=1e-14)
    for k in (1, 2, 3):

        def moved_by(step: float, k: int = k) -> float:
            others = named(count)
            others[k].x += step
            return f(others)

        expected = (moved_by(1e-6) - moved_by(-1e-6)) / 2e-6 if f is not equal_to_one else float(k == 2) * items[2].y
        assert (0.0 if found is None or found[k] is None else found[k].x or 0.0) == pytest.approx(expected, rel=1e-6)


def test_an_object_that_nobody_reads_but_is_another_one() -> None:
    class Node:
        def __init__(self, x: float, other: Any = None):
            self.x, self.y, self.other = x, 2.0, other

    nodes = [Node(1.0 + k) for k in range(MANY)]
    f = zyg.jit(sums)
    assert f(nodes) == pytest.approx(sums(nodes))
    nodes[0].other = nodes[1]
    with pytest.raises(ArgumentError):
        f(nodes)
    found = zyg.gradient(sums, nodes)[0]
    assert found[0].other.x == found[1].x == 4.0


def test_dicts_with_names() -> None:
    rows = [{"name": f"n{k}", **row} for k, row in enumerate(dicts(MANY))]
    assert zyg.jit(by_keys)(rows) == pytest.approx(by_keys(rows))
    assert zyg.gradient(by_keys, rows)[0][3]["x"] == pytest.approx(rows[3]["v"] ** 2)
    chosen_rows = lambda rows: sum(r["x"] for r in rows if r["name"] == "n5")
    assert zyg.gradient(chosen_rows, rows)[0][5]["x"] == 1.0
    with pytest.raises(zyg.Unsupported, match="'name' of many objects"):
        zyg.jit(chosen_rows)(rows)


# ------------------------------------------------------------------------------------------------- what reviews found


class Unequal:
    """It is not equal to itself, which containers do not ask."""

    def __init__(self, x: float, y: float):
        self.x, self.y = x, y

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unequal) and self.x > other.x


@by_one_python_a_day
@pytest.mark.parametrize("count", [FEW, MANY])
@pytest.mark.parametrize(
    "f",
    [
        lambda items: 3.0 * items[0].x if items == items else items[0].x,
        lambda items: 3.0 * items[0].x if (items[0], 1) == (items[0], 1) else items[0].x,
        lambda items: items.count(items[-1]) * items[0].x,
        lambda items: items[0].x if items[-1] in items else 2.0 * items[0].x,
        lambda items: items[0].x if max(items, key=lambda p: p.x) in items[-3:] else 2.0 * items[0].x,
        lambda items: items[0].x if items[-1] == items[-1] else 2.0 * items[0].x,  # this asks
    ],
)
def test_containers_find_an_object_that_is_not_equal_to_itself(f: Any, count: int) -> None:
    expected = f(made(Unequal, count))
    try:
        assert zyg.jit(f)(made(Unequal, count)) == pytest.approx(expected)
    except zyg.Unsupported:
        assert count == MANY
    value, (found,) = zyg.withgradient(f, made(Unequal, count))
    assert value == pytest.approx(expected)
    assert found[0].x == pytest.approx(differences(f, Unequal, count)[0][0])


def test_threads_that_look_at_lists_one_by_one_do_not_disturb_others() -> None:
    def f(items, written):
        if written is None:
            return sum(p.x * p.y for p in items)
        items[0].x = items[1].x * 2.0
        return sum(p.x * p.y for p in items)

    failures: list[Any] = []
    for _ in range(4):
        compiled = zyg.jit(f)

        def call(count: int, written: Any, compiled: Any = compiled) -> None:
            try:
                assert compiled(made(Point, count), written) == pytest.approx(f(made(Point, count), written))
            except BaseException as error:
                failures.append(error)

        calls = [(FEW, 1.0), (MANY, None), (FEW + 1, 2.0)]
        threads = [threading.Thread(target=call, args=args) for args in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []


def test_a_short_list_that_is_written_beside_a_long_one_that_is_read() -> None:
    def f(short, long):
        short[0].x = 3.0 * short[1].x
        return sum(p.x * p.y for p in short) + sum(p.x for p in long)

    expected_items, items, long = made(Point, FEW), made(Point, FEW), made(Point, MANY)
    expected = f(expected_items, long)
    assert zyg.jit(f)(items, long) == pytest.approx(expected)
    assert state(items) == state(expected_items)


def test_the_reason_tells_what_is_written() -> None:
    class World:
        def __init__(self, bodies: list[Body]):
            self.bodies = bodies

    def f(world):
        world.bodies = world.bodies[1:]
        return 1.0

    with pytest.raises(zyg.Unsupported, match="out of a list of many"):
        zyg.jit(f)(World(made(Body, MANY)))


@by_one_python_a_day
@pytest.mark.parametrize("own", [5.0, 3, "text"])
@pytest.mark.parametrize("count", [4, FEW, MANY])
def test_a_property_before_an_attribute_of_the_same_name(count: int, own: Any) -> None:
    class Shadowed:
        def __init__(self, y: float):
            self.__dict__["x"] = own
            self.y = y

        @property
        def x(self) -> float:
            return 3.0 * self.y

    def f(items):
        return sum(p.x * p.y for p in items)

    items = [Shadowed(1.0 + 0.1 * k) for k in range(count)]
    try:
        assert zyg.jit(f)(items) == pytest.approx(f(items))
    except ArgumentError:
        assert own == "text" and count == MANY
    assert zyg.gradient(f, items)[0][2].y == pytest.approx(6.0 * items[2].y)


# ------------------------------------------------------------------------------ lists that are global or captured

GLOBAL: list[Any] = []


def sum_of_global(k):
    total = 0.0
    for item in GLOBAL:
        total += item.x**k * item.y
    return total


def sum_of_records(k):
    total = 0.0
    for item in GLOBAL:
        if item["event"]:
            total += item["x"] ** k
    return total


def sum_of_captured(items):
    def inner(k):
        total = 0.0
        for item in items:
            total += item.x**k * item.y
        return total

    return inner


def checked(f: Callable[[float], float], native: bool = True) -> None:
    with warnings.catch_warnings():
        if native:
            warnings.simplefilter("error", zyg.FallbackWarning)
            assert zyg.jit(f)(1.3) == pytest.approx(f(1.3), rel=1e-14)
        assert zyg.gradient(f, 1.3)[0] == pytest.approx(derivative(f, 1.3), rel=1e-8)


@by_one_python_a_day
@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("count", [FEW, MANY])
def test_global_and_captured_lists(cls, count, monkeypatch):
    monkeypatch.setitem(globals(), "GLOBAL", made(cls, count))
    checked(sum_of_global)
    checked(sum_of_captured(made(cls, count)))
    assert zyg.explain(sum_of_global, 1.3).native


def test_global_records_may_change_between_calls(monkeypatch):
    monkeypatch.setitem(globals(), "GLOBAL", [{"x": 1.0 + k, "event": k % 3 == 0, "name": "n"} for k in range(MANY)])
    checked(sum_of_records)
    GLOBAL[3]["x"] = 7.5
    checked(sum_of_records)
    GLOBAL.append({"x": 2.0, "event": True, "name": "m"})
    checked(sum_of_records)
    GLOBAL[3]["x"] = 7  # no longer numbers of one type
    checked(sum_of_records, native=False)
    GLOBAL[3]["x"] = 7.0
    GLOBAL[5] = GLOBAL[6]  # no longer different objects
    checked(sum_of_records, native=False)


def changes_one(k, item):
    item["x"] = item["x"] * k * k
    total = 0.0
    for other in GLOBAL:
        total += other["x"] * k
    return total


def changes_a_row(k, row):
    row[0] = row[0] * k * k
    total = 0.0
    for other in GLOBAL:
        total += other[0] * k
    return total


@by_one_python_a_day
@pytest.mark.parametrize("count", [4, FEW, MANY])
@pytest.mark.parametrize("form", ["records", "rows"])
def test_an_item_of_a_global_list_that_is_changed_as_an_argument(form, count, monkeypatch):
    """Rows of global lists of more than eight lists were read as they had been: wrong values and gradients, silently."""
    f = changes_one if form == "records" else changes_a_row

    def fresh() -> Any:
        items = [{"x": 1.0 + k} if form == "records" else [1.0 + k, 2.0] for k in range(count)]
        monkeypatch.setitem(globals(), "GLOBAL", items)
        return items[2]

    for run in (zyg.jit(f), zyg.grad(f), zyg.hessian, zyg.gradient):
        args = (f,) if run in (zyg.hessian, zyg.gradient) else ()
        with pytest.raises(zyg.Unsupported, match="also reads as a global"):
            run(*args, 1.3, fresh())
    item = fresh()
    apart = [{"x": 4.0} if form == "records" else [4.0, 2.0] for _ in range(2)]
    assert zyg.jit(f)(1.3, apart[0]) == pytest.approx(f(1.3, apart[1]), rel=1e-14)
    assert apart[0] == apart[1] and (item["x"] if form == "records" else item[0]) == 3.0


def writes_global(k):
    GLOBAL[2].x = k
    return GLOBAL[2].x * GLOBAL[3].x


def test_global_objects_of_many_are_only_read(monkeypatch):
    monkeypatch.setitem(globals(), "GLOBAL", made(Point, MANY))
    with pytest.raises(zyg.Unsupported):
        zyg.jit(writes_global)(1.5)
    assert zyg.gradient(writes_global, 1.5)[0] == pytest.approx(GLOBAL[3].x)
    assert GLOBAL[2].x == 1.5
