"""Sums of cotangents and the shadows of lists: native code does what the functions in Python do that stand in its place at first."""

import random
import sys
from collections import namedtuple
from fractions import Fraction

import numpy as np
import pytest

import zyg
from tests.oracles.differences import derivative as differences
from tests.turns import by_one_python_a_day
from zyg.autodiff.objects import (
    construction,
    container_operators,
    cotangents,
    methods_,
    reductions,
    shadows,
    subscripts,
)
from zyg.autodiff.objects.cotangents import Refused
from zyg.autodiff.objects.holders import has_attribute
from zyg.autodiff.objects.shadows import Elsewhere, Shadows
from zyg.backend import pulls
from zyg.fallback import python_pullback

BACKS = {
    "part": subscripts.run_list_part,
    "joined": container_operators.run_sum_of_lists,
    "permuted": methods_.run_permuted,
    "reversed": methods_.run_reversed,
    "set": subscripts._run_set_part,
    "summed": reductions.run_sum_of_list,
}
REFUSED = Refused(TypeError("no derivative"))
Point = namedtuple("Point", "x y z")
LENGTHS = (0, 1, 3, 20)


@pytest.fixture(autouse=True, scope="module")
def natively():
    pulls.COTANGENTS.start()


def in_python(builtin):
    return builtin.__self__[0]


def drawn(rng, depth=0):
    """A cotangent: mostly a number, or none."""
    kinds = (
        ["float"] * 4
        + ["none"] * 2
        + ["int", "numpy", "complex", "fraction", "array", "refused"]
        + ["tuple"] * (depth < 3)
    )
    match rng.choice(kinds):
        case "float":
            return rng.choice([rng.uniform(-2.0, 2.0), -0.0, 0.0])
        case "none":
            return None
        case "int":
            return rng.randrange(3)
        case "numpy":
            return np.float64(rng.uniform(-2.0, 2.0))
        case "complex":
            return complex(rng.uniform(-2.0, 2.0), 1.0)
        case "fraction":
            return Fraction(rng.randrange(5), 3)
        case "array":
            return np.array([rng.uniform(-2.0, 2.0), 1.0])
        case "refused":
            return REFUSED
        case _:
            return tuple(drawn(rng, depth + 1) for _ in range(2))


def alike(a, b):
    """The same values of the same types, and refusals that are the same."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(alike(a[k], b[k]) for k in a)
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    return a is b or repr(a) == repr(b)


def outcome(function, *args):
    try:
        return function(*args), None
    except Exception as error:
        return None, type(error)


def holding(objects, ds):
    """Shadows in which these objects have these cotangents, those that are not None."""
    found = Shadows()
    for x, d in zip(objects, ds, strict=True):
        if d is not None:
            found.new_items(x).extend(d)
    return found


def shown(found, objects):
    """What they have in the end, as long as their identities stay taken. (A shadow may be shorter than its list.)"""
    items = [found.items.get(id(x)) for x in objects]
    for ds in items:
        while ds and ds[-1] is None:
            ds.pop()
    assert all(any(x is kept for kept in found.kept) for x in objects if id(x) in found.items)
    return ([ds or None for ds in items],)


@pytest.mark.parametrize("name", BACKS)
@pytest.mark.parametrize("numbers", [True, False])
def test_backs_of_lists(name, numbers):
    rng = random.Random(name)
    number = lambda: rng.choice([rng.uniform(-2.0, 2.0), rng.uniform(-2.0, 2.0), None])
    draw = number if numbers else lambda: drawn(rng)
    for _ in range(300):
        x, y, z = ([0.0] * rng.choice(LENGTHS) for _ in range(3))
        ds = [[draw() for _ in range(rng.randint(0, len(v)))] if rng.random() < 0.8 else None for v in (x, y, z)]
        d = draw()
        step = rng.choice([1, 1, -1, 2, -2])
        start = rng.randrange(4) if step > 0 else abs(step) * len(x) + rng.randrange(3)
        back = {
            "part": (x, y, start, step),
            "joined": (x, y, rng.choice([y, z]), len(x) // 2),
            "permuted": (x, rng.sample(range(len(x)), len(x))),
            "reversed": (x, len(x)),
            "set": (x, len(x) // 3, len(x) // 3 + rng.randrange(3), rng.choice([y, tuple(y)]), len(y)),
            "summed": (x, len(x)),
        }[name]
        builtin = BACKS[name]
        found = []
        for function in (builtin, in_python(builtin)):
            ours = holding((x, y, z), ds)
            result = outcome(function, (builtin, *back), d, ours)
            if result[1] is None:  # what an error leaves is looked at by nobody
                result += shown(ours, (x, y, z))
            found.append(result)
        assert alike(*found), (back, ds, d)


def test_what_is_added_to_all_items():
    rng = random.Random(5)
    for _ in range(500):
        x = [0.0] * 20
        before = [drawn(rng) for _ in range(rng.randrange(20))] if rng.random() < 0.7 else None
        ds, start = [drawn(rng) for _ in range(rng.choice(LENGTHS))], rng.randrange(4)
        found = []
        for function in (shadows.add_all, in_python(shadows.add_all)):
            ours = holding((x,), (before,))
            result = outcome(function, ours, x, start, ds[:])
            found.append(result if result[1] else (*result, *shown(ours, (x,))))
        assert alike(*found), (before, ds, start)


class Kept(Elsewhere):
    def __init__(self, *args):
        self.given = []

    def add(self, shadows, d):
        self.given.append(d)


def test_what_is_added_to_a_part():
    rng = random.Random(6)
    has_attribute("weight")
    for _ in range(500):
        old, d = drawn(rng), drawn(rng)
        kind = rng.choice(["list", "dict", "holder", "special"])
        found = []
        for function in (shadows.add_part, in_python(shadows.add_part)):
            ours = Shadows()
            if kind == "list":
                at = rng.choice([0, 2, 3, 5, -1])

                shadow, part = [None, 1.0, old], at
                result = outcome(function, ours, shadow, 2, d)
                shown_now = shadow
            elif kind == "dict":
                shadow, part = ({"a": old} if old is not None else {}), "a"
                result = outcome(function, ours, shadow, part, d)
                shown_now = shadow
            else:
                part = "weight" if kind == "holder" else "__weight"
                shadow = ours.new_holder(type("Thing", (), {})())
                if old is not None:
                    shadow.__dict__[part] = old
                result = outcome(function, ours, shadow, part, d)
                shown_now = {k: v for k, v in shadow.__dict__.items() if v is not None}
            found.append(result if result[1] else (*result, shown_now))
        assert alike(*found), (kind, old, d)
    for at in (0, 1, 2, 4, -1):
        found = []
        for function in (shadows.add_part, in_python(shadows.add_part)):
            shadow = [1.0, None]
            found.append((outcome(function, Shadows(), shadow, at, 2.0), shadow))
        assert alike(*found)
    elsewhere = Kept("inf")
    shadows.add_part(Shadows(), [1.0], elsewhere, 3.0)
    assert elsewhere.given == [3.0]


@pytest.mark.parametrize("name", ["joined", "joined_by_name"])
def test_parts_of_tuples(name):
    rng = random.Random(name)
    builtin = getattr(cotangents, name)
    for _ in range(500):
        x = Point(1.0, 2.0, 3.0) if name == "joined_by_name" else (1.0,) * rng.randint(1, 4)
        count = rng.randint(1, 3)
        if name == "joined":
            places = tuple(sorted(rng.sample(range(-1, len(x)), min(count, len(x)))))
        else:
            places = tuple(sorted(rng.sample(["x", "y", "z", "w", "count"], count)))
        parts = [drawn(rng, 2) for _ in places]
        if "w" in places:  # a name of no field
            parts = [None if at in ("w", "count") else c for at, c in zip(places, parts)]
        elif "count" in places:
            parts[places.index("count")] = None
        d = rng.choice([None, tuple(drawn(rng, 2) for _ in x)])
        found = [outcome(function, d, x, places, *parts) for function in (builtin, in_python(builtin), builtin)]
        assert alike(found[0], found[1]) and alike(found[1], found[2]), (d, x, places, parts)


def test_displays_of_lists():
    rng = random.Random(7)
    for _ in range(200):
        y = [0.0] * rng.randrange(4)
        before = [drawn(rng) for _ in range(rng.randint(0, len(y)))]
        found = []
        for function in (construction.made_list, in_python(construction.made_list)):
            ours = holding((y,), (before,))
            found.append((function(ours, None, y, *y), shown(ours, (y,))))
        assert alike(*found)


def dicts_holding(objects, ds):
    found = Shadows()
    for x, d in zip(objects, ds, strict=True):
        if d is not None:
            found.new_items(x).update(d)
    return found


def test_unions_of_dicts():
    rng = random.Random(8)
    builtin = container_operators.run_dict_union
    for _ in range(300):
        a, b = (dict.fromkeys(rng.sample("uvwxyz", rng.randrange(5)), 1.0) for _ in range(2))
        y = a | b
        ds = [{k: drawn(rng) for k in x if rng.random() < 0.7} if rng.random() < 0.8 else None for x in (y, a, b)]
        found = []
        for function in (builtin, in_python(builtin)):
            ours = dicts_holding((y, a, b), ds)
            result = outcome(function, (builtin, y, a, b, frozenset(b)), None, ours)
            found.append(result if result[1] else (*result, [ours.items.get(id(x)) or None for x in (y, a, b)]))
        assert alike(*found), (a, b, ds)


class Labelled(dict):
    pass


def test_what_is_added_at_keys():
    rng = random.Random(9)
    for _ in range(300):
        mapping = rng.choice([dict, Labelled])(dict.fromkeys("uvwxyz", 1.0))
        keys = tuple(rng.sample("uvwxyz", rng.randrange(5)))
        before = {k: drawn(rng) for k in "uvw"} if rng.random() < 0.7 else None
        ds = rng.choice([list, tuple])(drawn(rng) for _ in range(rng.randrange(8)))
        first = rng.randrange(4)
        found = []
        for function in (shadows.add_keys, in_python(shadows.add_keys)):
            ours = dicts_holding((mapping,), (before,))
            result = outcome(function, ours, mapping, keys, ds, first)
            found.append(result if result[1] else (*result, ours.items.get(id(mapping)) or None))
        assert alike(*found), (mapping, keys, before, ds, first)


def test_what_is_added_at_places():
    rng = random.Random(10)
    for _ in range(300):
        x = [0.0] * 10
        before = [drawn(rng) for _ in range(rng.randrange(10))] if rng.random() < 0.7 else None
        ds = [drawn(rng) for _ in range(rng.randrange(8))]
        places = rng.choice([list, tuple])(rng.randrange(10) for _ in range(rng.choice([len(ds), 3])))
        found = []
        for function in (shadows.add_at_places, in_python(shadows.add_at_places)):
            ours = holding((x,), (before,))
            result = outcome(function, ours, x, places, ds[:])
            found.append(result if result[1] else (*result, *shown(ours, (x,))))
        assert alike(*found), (before, places, ds)


@pytest.mark.parametrize("x", [[], [1.0, 2], [1.0, True], [1.0, np.float64(2.0)], (1.0, 2), (1.0, None), [None]])
def test_whether_all_are_real(x):
    assert cotangents.all_real(x) is in_python(cotangents.all_real)(x)


def test_references():
    """Each reference is given back, also where Python adds, and where that raises."""
    d, odd = 1.5e300, Fraction(1, 3)
    for ds, more in (([d] * 3, [d] * 3), ([odd] * 3, [odd, d, None]), ([(d, odd)] * 3, [(d, (d,)), None, REFUSED])):
        x, y = [0.0] * 3, [0.0] * 3
        counts = [sys.getrefcount(v) for v in (d, odd, REFUSED, x, y)]
        for _ in range(10):
            ours = holding((x, y), (ds, more))
            outcome(subscripts.run_list_part, (subscripts.run_list_part, y, x, 0, 1), None, ours)
            outcome(shadows.add_all, ours, x, 0, ds)
            outcome(shadows.add_part, ours, {"a": d}, "a", d)
            outcome(container_operators.run_sum_of_lists, (None, x, y, y, 1), None, ours)
            outcome(methods_.run_permuted, (None, y, [2, 0, 1]), None, ours)
            outcome(construction.made_list, ours, None, y, *y)
            outcome(reductions.run_sum_of_list, (None, y, 3), d, ours)
            outcome(subscripts._run_set_part, (None, y, 0, 1, x, 2), None, ours)
            outcome(shadows.add_at_places, ours, x, [2, 0, 0], ds)
            both = dicts_holding(({"a": d}, {}), ({"a": d, "b": odd}, {"a": odd}))
            outcome(shadows.add_keys, both, {}, ("a", "b"), ds, 1)
            outcome(
                container_operators.run_dict_union, (None, both.kept[0], {}, both.kept[1], frozenset("a")), None, both
            )
            outcome(cotangents.joined, (d, None), x[:2], (0,), "text")
            outcome(cotangents.joined, (d, None), (1.0, 2.0), (0,), "text")
            del ours, both
        assert [sys.getrefcount(v) for v in (d, odd, REFUSED, x, y)] == counts


# ---------------------------------------------------------------------------------------------------- programs


def in_place(values, x):
    items = values[1:] + values[:2]
    items[-1] += x
    items.reverse()
    del items[0]
    items[1:3] = [items[2] * x, items[1] * 1.1, x]
    items.sort(reverse=x > 0.0)
    again = items[::-1] + items[-2::-2] + items[::2]
    again[:2] = again[3:5]
    return again[0] * again[1] ** 2 + sum(again) * sum(items[1:]) + sum([x, again[-1], x])


def with_itself(values, x):
    items = values + values
    items[2:4] = items[:3]
    rows = [items, items[:2]]
    rows[0][0] = x * x
    rows.reverse()
    return sum(rows[1]) * rows[0][1] + sum(values) * items[-1]


def fields(values, x):
    p = Point(x, values[0], 2.0)
    pairs = [(v * x, v) for v in values]
    pairs[0] = (x, p.y)
    total = p.x * p.y + p.z * x

    def scaled(v):
        return (v - p.x) / (p.y - p.x) * p.z

    for a, b in pairs[::-1] + pairs[:1]:
        total += scaled(a) * b + p[0]
    return total


@pytest.mark.parametrize("program", [in_place, with_itself, fields])
@pytest.mark.parametrize("count", [3, 10, 100])
def test_programs(program, count):
    values, x = [0.3 + 0.61 * k % 1.7 for k in range(count)], 0.8

    def kept(values, x):
        held = {"values": list(values), "x": x}
        return program(held["values"], held["x"])

    value, back = python_pullback(kept, (values, x), {})
    assert value == program(list(values), x)
    for _ in range(2):  # a pullback may be called again
        d_values, d_x = back(1.0)
        for k in (0, 1, count - 1):
            moved = lambda h, k=k: program([*values[:k], values[k] + h, *values[k + 1 :]], x)
            assert d_values[k] == pytest.approx(differences(moved, 0.0), rel=1e-6)
        assert d_x == pytest.approx(differences(lambda v: program(list(values), v), x), rel=1e-6)


@by_one_python_a_day
@pytest.mark.parametrize("program", [in_place, with_itself, fields])
def test_second_derivatives_of_programs(program):
    values = [0.3 + 0.61 * k % 1.7 for k in range(5)]

    def first(x):
        held = {"values": [v * x for v in values], "x": x}
        return python_pullback(lambda x: program([v * x for v in values], x), (held["x"],), {})[1](1.0)[0]

    second = python_pullback(lambda x: zyg.gradient(lambda y: program([v * y for v in values], y), x)[0], (0.8,), {})[1]
    assert second(1.0)[0] == pytest.approx(differences(first, 0.8), rel=1e-5)
