"""Lists of objects as arguments: what they look like, their shadows and their gradients, which are made for many objects together."""

from __future__ import annotations

import gc
import itertools
import math
import warnings
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import zyg
from zyg.autodiff.objects import structure, together
from zyg.fallback import python_pullback


class Plain:
    def __init__(self, x: Any, v: Any):
        self.x = x
        self.v = v


class Derived(Plain):
    scale = 2.0

    def __init__(self, x: Any, v: Any):
        super().__init__(x, v)
        self.name = "derived"


class Keeping(Plain):
    """Of which `make` gives some more attributes."""


class Slotted:
    __slots__ = ("v", "x")

    def __init__(self, x: Any, v: Any):
        self.x = x
        self.v = v


class Both(Slotted):
    """With a slot, a slot of its base, and a `__dict__`."""

    def __init__(self, x: Any, v: Any):
        super().__init__(x, v)
        self.w = x * v if isinstance(x, int) else 0.25


@dataclass
class Data:
    x: Any
    v: Any = 0.0


@dataclass(frozen=True)
class Frozen:
    x: Any
    v: Any


@dataclass(slots=True)
class DataSlots:
    x: Any
    v: Any


class Private:
    def __init__(self, x: Any, v: Any):
        self._x = x
        self.v = v

    @property
    def x(self) -> Any:
        return self._x

    @x.setter
    def x(self, value: Any) -> None:
        self._x = value


class Answering:
    """It answers to more names than it has."""

    def __init__(self, x: Any, v: Any):
        self.x = x
        self.v = v

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return 1.0


class Default:
    """The attribute of some instances is that of the class."""

    v = 0.75

    def __init__(self, x: Any, v: Any):
        self.x = x


class Vector:
    def __init__(self, a: Any, b: Any):
        self.a = a
        self.b = b


class Body:
    def __init__(self, place: Any, speed: Any, mass: Any):
        self.place = place
        self.speed = speed
        self.mass = mass


CLASSES = [Plain, Derived, Slotted, Both, Data, Frozen, DataSlots, Private, Answering, Default]
N = 6
VALUES = [0.3 + 0.17 * k for k in range(40)]


def leaves(value: Any, gradient: Any, found: dict[Any, Any]) -> None:
    """The gradient by each float, which are all different; also of those that stand in several places."""
    if type(value) is not float:
        if gradient is None and id(value) in found:
            return  # it is part of itself
        found[id(value)] = value
    if type(value) is float:
        if value not in found or gradient is not None:
            assert found.setdefault(value, gradient or 0.0) == (gradient or 0.0)
    elif isinstance(value, (list, tuple, deque)):
        for k, item in enumerate(value):
            leaves(item, None if gradient is None else gradient[k], found)
    elif isinstance(value, dict):
        for k, item in value.items():
            leaves(item, None if gradient is None else gradient[k], found)
    elif isinstance(value, np.ndarray):
        for k, item in enumerate(value.tolist()):
            leaves(item, None if gradient is None else float(gradient[k]), found)
    elif not isinstance(value, (int, str, type(None))):
        names = dict.fromkeys(getattr(value, "__dict__", ()))
        for cls in type(value).__mro__:
            names |= dict.fromkeys(cls.__dict__.get("__slots__", ()))
        for name in names:
            if not hasattr(value, name):
                continue  # a slot that is not filled
            leaves(getattr(value, name), getattr(gradient, name.lstrip("_"), None), found)


def check(function: Any, make: Any, times: int = 3) -> Any:
    """Each of several gradients against differences; the last one."""
    gradient = None
    for _ in range(times):
        given = make(VALUES)
        value, back = python_pullback(function, (given,), {})
        assert value == function(make(VALUES))
        (gradient,) = back(1.0)
        (again,) = back(1.0)
        assert repr(again) == repr(gradient)
        found: dict[Any, Any] = {}
        leaves(make(VALUES), gradient, found)
        for k, at in enumerate(VALUES):
            if at in found:
                moved = [[*VALUES[:k], at + h, *VALUES[k + 1 :]] for h in (1e-4, -1e-4, 2e-4, -2e-4)]
                f1, f2, f3, f4 = (function(make(values)) for values in moved)
                slope = (8.0 * (f1 - f2) - (f3 - f4)) / 12e-4
                assert math.isclose(found[at], slope, rel_tol=1e-7, abs_tol=1e-8), (k, found[at], slope)
    return gradient


def energy(ps: Any) -> Any:
    total = 0.0
    for k, p in enumerate(ps):
        total += (1.0 + 0.1 * k) * p.v * p.v + math.sin(p.x)
    return total


def first_only(ps: Any) -> Any:
    return ps[0].x * ps[-1].v


def stepped(ps: Any) -> Any:
    for _ in range(2):
        for p, q in itertools.pairwise(ps):
            p.v += 0.1 * (q.x - p.x)
            p.x = p.x + 0.1 * p.v
    return sum(p.x * p.v for p in ps)


def exchanged(ps: Any) -> Any:
    """The list changes, and what one attribute is."""
    last = ps.pop()
    ps.insert(0, last)
    ps[1].x = ps[0].v * ps[2].x
    ps.append(type(last)(ps[0].x, 0.5))
    return energy(ps)


READING, CHANGING = (energy, first_only), (stepped, exchanged)


@pytest.mark.parametrize(
    "function, cls",
    [(f, cls) for cls in CLASSES for f in (READING if cls is Frozen else READING + CHANGING)],
    ids=lambda x: x.__name__,
)
def test_objects_of_one_class(function: Any, cls: Any) -> None:
    check(function, lambda values: [cls(values[k], values[k + N]) for k in range(N)])


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("kind", [tuple, deque], ids=lambda kind: kind.__name__)
def test_in_tuples_and_deques(kind: Any, cls: Any) -> None:
    check(energy, lambda values: kind([cls(values[k], values[k + N]) for k in range(N)]))


@pytest.mark.parametrize("kind", [dict, OrderedDict], ids=lambda kind: kind.__name__)
def test_in_dicts(kind: Any) -> None:
    make = lambda values: kind([(f"p{k}", Plain(values[k], values[k + N])) for k in range(N)])
    check(lambda ps: energy(ps.values()), make)
    check(lambda ps: ps["p2"].x * ps["p3"].v, make)


def test_gradients_have_the_fields_of_the_objects() -> None:
    gradient = check(first_only, lambda values: [Private(values[k], values[k + N]) for k in range(N)])
    assert gradient[1:-1] == [None] * (N - 2) and gradient[0]._fields == ("x", "v") and gradient[0].v is None
    assert check(lambda ps: 2.0, lambda values: [Plain(values[k], 1.0) for k in range(N)]) is None


def test_ints_text_and_nothing() -> None:
    def make(values: list[float]) -> Any:
        ps = [Plain(values[k], k) for k in range(N)]
        for p in ps:
            p.name, p.parent = "a", None
        return ps

    gradient = check(lambda ps: sum(p.x * p.v for p in ps), make)
    assert gradient[2]._fields == ("x", "v", "name", "parent") and gradient[2] == (2.0, VALUES[2], None, None)


def of_bodies(bodies: Any) -> Any:
    total = 0.0
    for b in bodies:
        b.place.a += 0.1 * b.speed.a
        total += b.mass * (b.speed.a**2 + b.speed.b * b.place.b) + b.place.a
    return total


def bodies(values: list[float]) -> Any:
    at = iter(values)
    return [Body(Vector(next(at), next(at)), Vector(next(at), next(at)), next(at)) for _ in range(5)]


def test_objects_in_objects() -> None:
    check(of_bodies, bodies)


def test_one_object_in_several_places() -> None:
    def shared(values: list[float]) -> Any:
        made = bodies(values)
        made[3].place = made[1].place  # in two of them
        made[2].speed = made[2].place  # in two attributes of one
        return made

    check(of_bodies, shared)
    check(energy, lambda values: [Plain(values[k], values[k + N]) for k in range(N)] * 2)

    def twice(values: list[float]) -> Any:
        ps = [Plain(values[k], values[k + N]) for k in range(N)]
        return [*ps, ps[2]]

    gradient = check(energy, twice)
    assert gradient[2] == gradient[-1]


def test_an_object_of_the_list_elsewhere() -> None:
    class World:
        def __init__(self, first: Any, ps: Any, last: Any):
            self.first, self.ps, self.last = first, ps, last

    def make(values: list[float]) -> Any:
        ps = [Plain(values[k], values[k + N]) for k in range(N)]
        return World(ps[1], ps, ps[4])

    def f(world: Any) -> Any:
        world.last.v *= world.first.x
        return energy(world.ps) + world.first.v

    gradient = check(f, make)
    assert gradient.first == gradient.ps[1] and gradient.last == gradient.ps[4]
    check(lambda pair: energy(pair[0]) * pair[1].x, lambda values: ((w := make(values)).ps, w.first))
    check(lambda pair: energy(pair[0]) + energy(pair[1]), lambda values: [(w := make(values)).ps, [w.first, *w.ps[3:]]])


def test_forms_are_made_once() -> None:
    """Not for each object again that stands elsewhere, too: that took a minute for some ten thousand."""
    ps = [Plain(0.5 * k, 1.0) for k in range(N)]
    alike = together.look(ps, structure.nothing_seen())
    assert alike is not None
    for p, form in zip(ps, alike):
        assert alike.form_of(p) == form and alike.form_of(p) is alike.form_of(p)


def test_objects_that_lead_to_their_list() -> None:
    class Node:
        def __init__(self, x: Any, all: Any):
            self.x, self.all = x, all

    class Linked:
        def __init__(self, x: Any):
            self.x, self.next = x, None

    def in_list(values: list[float]) -> Any:
        nodes: list[Any] = []
        nodes += [Node(values[k], nodes) for k in range(N)]
        return nodes

    def ring(values: list[float]) -> Any:
        nodes = [Linked(values[k]) for k in range(N)]
        for k in range(N):
            nodes[k].next = nodes[(k + 1) % N]
        return nodes

    check(lambda nodes: sum(n.x * n.all[0].x for n in nodes), in_list)
    check(lambda nodes: sum(n.x * n.next.x for n in nodes), ring)


def test_attributes_that_only_some_have() -> None:
    def make(values: list[float]) -> Any:
        ps = [Keeping(values[k], values[k + N]) for k in range(N)]
        ps[3].more = values[30]
        del ps[4].v
        ps[4].other = values[31]
        return ps

    f = lambda ps: sum(p.x * getattr(p, "v", 1.0) for p in ps) + ps[3].more * ps[4].other
    gradient = check(f, make)
    assert gradient[3]._fields == ("x", "v", "more") and gradient[4]._fields == ("x", "other")

    def all_more(values: list[float]) -> Any:
        ps = [Keeping(values[k], values[k + N]) for k in range(N)]
        for k, p in enumerate(ps):
            p.more = values[k + 20]
        return ps

    assert check(lambda ps: energy(ps) + ps[2].more, all_more)[2]._fields == ("x", "v", "more")
    assert check(energy, lambda values: all_more(values)[:0] or make(values)[:3] * 1)[0]._fields == ("x", "v")


@pytest.mark.parametrize("cls", [Slotted, Both], ids=lambda cls: cls.__name__)
def test_slots_that_only_some_have_filled(cls: Any) -> None:
    """Whether the first one has, or the first ones that were ever looked at."""

    def make(values: list[float], without: Any = (0, 3)) -> Any:
        ps = [cls(values[k], values[k + N]) for k in range(N)]
        for k in without:
            del ps[k].v
        return ps

    f = lambda ps: sum(p.x * getattr(p, "v", 1.0) for p in ps)
    gradient = check(f, make)
    assert "v" not in gradient[0]._fields and "v" in gradient[1]._fields
    check(f, lambda values: make(values, range(N)))
    gradient = check(f, lambda values: make(values, ()))
    assert all("v" in g._fields for g in gradient)


def test_attributes_in_the_place_of_those_of_the_class() -> None:
    """Where a class has a value for an attribute, too, an object need not have it, and as many others."""

    def make(values: list[float]) -> Any:
        ps = [Data(values[k], values[k + N]) for k in range(N)]
        for p, other in zip(ps[2:], values[30:]):
            del p.v
            p.other = other
        return ps

    for _ in range(40):  # as often as it takes for native code to run
        gradient = check(lambda ps: sum(p.x * p.x + 3.0 * getattr(p, "other", p.v) for p in ps), make, times=1)
        assert [g._fields for g in gradient] == [("x", "v")] * 2 + [("x", "other")] * (N - 2)


@pytest.mark.parametrize("asked", [False, True], ids=["as made", "asked for their dict"])
@pytest.mark.parametrize("default", [0.5, None], ids=str)
def test_what_else_refers_to_a_default_or_to_an_attribute(default: Any, asked: bool) -> None:
    """Where the class has a value for an attribute, an object without one that has another refers to as many things, and to the same."""

    class Marked:
        v = None

        def __init__(self, x: Any):
            self.x = x

    @dataclass
    class Node:
        x: Any
        v: Any = field(default=default, init=False)

    def make(values: list[float], cls: Any = Node) -> Any:
        ps = [cls(values[k]) for k in range(N)]
        for k, p in enumerate(ps):
            if k == 3:
                p.other = p.v
            elif k == 4:
                p.other = p.x
            else:
                p.v = values[k + N]
            if asked:
                vars(p)
        return ps

    f = lambda ps: sum(p.x * (p.v or 2.0) * (getattr(p, "other", None) or 3.0) for p in ps)
    for _ in range(40):  # as often as it takes for native code to run
        for cls in (Node, Marked):
            _, back = python_pullback(f, (make(VALUES, cls),), {})
            (gradient,) = back(1.0)
            assert [g._fields for g in gradient] == [("x", "other") if k in (3, 4) else ("x", "v") for k in range(N)]
            v = 2.0 if cls is Marked else default or 2.0
            assert gradient[4] == pytest.approx((v * VALUES[4], VALUES[4] * v))
            assert gradient[2] == pytest.approx((3.0 * VALUES[2 + N], 3.0 * VALUES[2]))


def test_one_attribute_that_is_not_a_dict_of_several() -> None:
    """With one attribute each refers to two things, as those do that have a `__dict__`."""

    class One:
        pass

    def make(values: list[float]) -> Any:
        ps = [One() for _ in range(N)]
        for k, p in enumerate(ps):
            p.x = values[k]
            p.__dict__["y"] = values[k + N]
        return ps

    def one(values: list[float]) -> Any:
        ps = [One() for _ in range(N)]
        for k, p in enumerate(ps):
            p.x = values[k]
        return ps

    check(lambda ps: sum(p.x**2 for p in ps), one)
    gradient = check(lambda ps: sum(p.x * p.y for p in ps), make)
    assert gradient[0]._fields == ("x", "y")
    check(lambda ps: sum(p.x**2 for p in ps), one)

    class OfMany(dict):
        pass

    def others(values: list[float]) -> Any:
        ps = one(values)
        for p, q in zip(ps, make(values)):
            p.__dict__ = OfMany(q.__dict__)
        return ps

    _, back = python_pullback(lambda ps: sum(p.x * p.y for p in ps), (others(VALUES),), {})
    assert [g.y for g in back(1.0)[0]] == VALUES[:N]


def test_classes_that_change() -> None:
    class Changing:
        def __init__(self, x: Any, v: Any):
            self.x, self.v = x, v

    make = lambda values: [Changing(values[k], values[k + N]) for k in range(N)]
    check(energy, make)
    Changing.v = property(lambda self: self.__dict__["v"] * self.x, lambda self, v: self.__dict__.update(v=v))
    check(energy, make)
    del Changing.v
    Changing.__getattribute__ = lambda self, name: object.__getattribute__(self, name)
    check(energy, make)


def test_objects_that_were_asked_for_their_dict() -> None:
    for which in (slice(None), slice(2, 4)):

        def make(values: list[float], which: Any = which) -> Any:
            ps = [Plain(values[k], values[k + N]) for k in range(N)]
            for p in ps[which]:
                vars(p)
            return ps

        check(energy, make)


def test_objects_are_not_asked_for_their_dict() -> None:
    """That would make all that reads their attributes slower, in the program itself."""

    class Fresh(Plain):
        pass

    ps = [Fresh(0.5, 0.1 * k) for k in range(50)]
    vars(ps[7])
    for _ in range(3):
        python_pullback(energy, (ps,), {})[1](1.0)
    # The first one is, to find out what instances of the class have. (From 3.13 on that changes nothing.)
    assert {k for k, p in enumerate(ps) if dict in map(type, gc.get_referents(p))} <= {0, 7}
    ps = [Fresh(0.5, 0.1 * k) for k in range(50)]
    python_pullback(energy, (ps,), {})[1](1.0)
    assert not any(dict in map(type, gc.get_referents(p)) for p in ps)


def test_dicts_and_rows() -> None:
    dicts = lambda values: [{"x": values[k], "v": values[k + N], "name": "a"} for k in range(N)]
    check(lambda ps: sum(p["x"] * p["v"] ** 2 for p in ps), dicts)
    check(lambda ps: ps[1]["x"] * ps[2]["v"], dicts)

    def updated(ps: Any) -> Any:
        for p in ps:
            p["x"] += p.pop("v")
            p["w"] = p["x"] * p["x"]
        return sum(p["w"] for p in ps)

    check(updated, dicts)
    rows = lambda values: tuple(
        [values[3 * k], values[3 * k + 1], *values[3 * k + 2 : 3 * k + 2 + k % 2]] for k in range(N)
    )
    check(lambda ps: sum(p[0] * p[-1] for p in ps), rows)
    check(lambda ps: ps[1][0] * ps[2][1], rows)

    def grown(ps: Any) -> Any:
        for p in ps:
            p.append(p[0] * p.pop())
        return sum(map(sum, ps))

    check(grown, rows)
    check(
        lambda ps: sum(p["x"][0] * p["x"][1] for p in ps),
        lambda values: [{"x": values[2 * k : 2 * k + 2]} for k in range(N)],
    )


@pytest.mark.parametrize("kind", [list, tuple], ids=lambda kind: kind.__name__)
def test_rows_that_change(kind: Any) -> None:
    rows = lambda values: kind([list(values[4 * k : 4 * k + 4]) for k in range(N)])

    def shorter(ps: Any) -> Any:
        return sum(p.pop() * p[0] + p.pop(0) for p in ps)

    def emptied(ps: Any) -> Any:
        total = 0.0
        for p in ps:
            total += p[1] * p[2]
            p.clear()
            p.append(total)
        return total * ps[2][0]

    def longer(ps: Any) -> Any:
        for p in ps:
            p.insert(1, p[0] * p[1])
            p.extend([p[2], p[-1] * p[1]])
        return sum(p[1] * p[-1] + p[4] for p in ps)

    def reordered(ps: Any) -> Any:
        for p in ps:
            p.sort(key=lambda x: -x)
            p.reverse()
            del p[1]
            p[0] *= p[-1]
            p[:2] = [p[1] * p[0]]
        return sum(p[0] * p[-1] for p in ps)

    def put_elsewhere(ps: Any) -> Any:
        made = dict(enumerate(ps))
        ps[0].append(ps[1].pop())
        made[2] = made[2] + made[3]
        return sum(p[0] * p[-1] for p in made.values()) * len(ps[0])

    for f in (shorter, emptied, longer, reordered, put_elsewhere):
        check(f, rows)

    def f(ps: Any) -> Any:
        return sum(p.pop() * p[0] for p in ps)

    given = rows(VALUES)
    _, back = python_pullback(f, (given,), {})
    for p in given:  # what becomes of them later is no business of the pullback
        p.extend([5.0, 6.0])
    given[0].clear()
    assert back(1.0)[0][1] == [VALUES[7], 0.0, 0.0, VALUES[4]] and back(1.0)[0][0] == [VALUES[3], 0.0, 0.0, VALUES[0]]


def test_keys_are_not_asked_for_their_hashes() -> None:
    asked = []

    class Key:
        def __init__(self, k: int):
            self.k = k

        def __hash__(self) -> int:
            asked.append(self.k)
            return hash(self.k)

    given = [{"x": 0.1}, *[{Key(k): 0.1 * k, "x": 0.2} for k in range(N)]]
    asked.clear()
    structure.form(given)
    structure.form([d for d in given if len(d) > 1])
    assert not asked  # neither to compare them nor for the form, which has the keys of a dict with their hashes
    _, back = python_pullback(lambda ps: sum(p["x"] ** 2 for p in ps), (given,), {})
    assert [g["x"] for g in back(1.0)[0]] == [0.2, *[0.4] * N]


def test_attributes_of_other_kinds() -> None:
    arrays = lambda values: [Plain(np.array(values[2 * k : 2 * k + 2]), values[k + 20]) for k in range(N)]
    check(lambda ps: sum(p.x @ p.x * p.v for p in ps), arrays)
    check(lambda ps: ps[2].x[0] * 1.0, arrays)
    tuples = lambda values: [Plain((values[2 * k], values[2 * k + 1]), k) for k in range(N)]
    check(lambda ps: sum(p.x[0] * p.x[1] for p in ps), tuples)
    check(lambda ps: sum(p.x[0] for p in ps), tuples)
    lists = lambda values: [Plain([values[2 * k], values[2 * k + 1]], [1, 2]) for k in range(N)]
    check(lambda ps: sum(p.x[0] * p.x[1] * p.v[1] for p in ps), lists)
    unlike = lambda values: [Plain(values[k], [values[k + N]] if k % 2 else values[k + N]) for k in range(N)]
    check(lambda ps: sum(p.x * p.v if type(p.v) is float else p.v[0] for p in ps), unlike)
    numbers = [Plain(np.float32(0.5 * k), k + 1j) for k in range(N)]
    _, back = python_pullback(lambda ps: sum(abs(p.v) * p.x for p in ps), (numbers,), {})
    assert math.isclose(back(1.0)[0][2].x, abs(2 + 1j))


def test_what_cannot_be_differentiated_is_refused_still() -> None:
    import json

    def through_text(ps: Any) -> Any:
        q = np.poly1d([ps[0].x, ps[1].v])
        return q(0.5) + sum(p.v for p in ps)

    with pytest.raises(zyg.Unsupported):
        python_pullback(through_text, ([Plain(0.5, 0.1 * k) for k in range(N)],), {})[1](1.0)
    assert json


def test_values_that_are_arguments() -> None:
    def f(ps: Any) -> Any:
        ps[1].v *= ps[0].x
        return ps

    ps = [Plain(0.5 + k, 0.1 * k) for k in range(N)]
    _, back = python_pullback(f, (ps,), {})
    (gradient,) = back([{"x": 1.0, "v": 2.0}] * N)
    assert gradient[0] == (1.0 + 2.0 * 0.1, 2.0) and gradient[1] == (1.0, 2.0 * 0.5) and gradient[2] == (1.0, 2.0)


def test_second_derivatives() -> None:
    def f(ps: Any) -> Any:
        return sum(p.x**3 * p.v for p in ps)

    def of_gradient(ps: Any) -> Any:
        (inner,) = zyg.gradient(f, ps)
        try:
            return sum(g.x for g in inner)
        except ZeroDivisionError:
            return 0.0

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        ps = [Plain(0.5 + 0.1 * k, 0.3 + 0.2 * k) for k in range(5)]
        (gradient,) = zyg.gradient(of_gradient, ps)
    for p, g in zip(ps, gradient):
        assert math.isclose(g.x, 6.0 * p.x * p.v, rel_tol=1e-12) and math.isclose(g.v, 3.0 * p.x**2, rel_tol=1e-12)
