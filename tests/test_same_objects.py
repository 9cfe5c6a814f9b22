"""Compiled code keeps apart calls in which two arguments are one object from those in which they are two."""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass

import pytest

import zyg
from tests.turns import each_in_turn


class Body:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return self.x == other.x


@dataclass
class Record:
    x: float


def of_objects(a, b, c):
    a.x = a.x * 2
    b.x = b.x + 1
    return a.x * b.x + c.x + (10.0 if a is b else 0.0) + (100.0 if b is c else 0.0)


def of_dicts(a, b, c):
    a["x"] = a["x"] * 2
    b["x"] = b["x"] + 1
    return a["x"] * b["x"] + c["x"] + (10.0 if a is b else 0.0) + (100.0 if b is c else 0.0)


def of_lists(a, b, c):
    a[0] = a[0] * 2
    b[0] = b[0] + 1
    return a[0] * b[0] + c[0] + (10.0 if a is b else 0.0) + (100.0 if b is c else 0.0)


KINDS = {
    "class": (of_objects, Body),
    "dataclass": (of_objects, Record),
    "dict": (of_dicts, lambda x: {"x": x}),
    "list": (of_lists, lambda x: [x]),
    "long list": (of_lists, lambda x: [x] * 12),
}
PATTERNS = [(0, 1, 2), (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 0, 0)]


def arguments(make, pattern):
    made = [make(float(n + 3)) for n in range(3)]
    return [made[n] for n in pattern]


@each_in_turn
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_calls_with_the_same_objects_in_any_order(kind, seed):
    function, make = KINDS[kind]
    compiled, derived = zyg.jit(lambda a, b, c: function(a, b, c)), zyg.withgradient
    patterns = random.Random(seed).sample(PATTERNS, len(PATTERNS))
    for pattern in [*patterns, *patterns]:
        expected = arguments(make, pattern)
        value = function(*expected)
        for call in (compiled, lambda *args: derived(function, *args)[0]):
            given = arguments(make, pattern)
            assert call(*given) == value
            assert given == expected


def test_the_derivative_of_an_object_in_two_places_is_the_whole_one():
    f = lambda a, b: of_objects(a, b, Body(0.0))
    distinct = zyg.gradient(f, Body(3.0), Body(3.0))
    both = Body(3.0)
    found = zyg.gradient(f, both, both)
    h = 1e-6
    step = lambda x: (lambda o: f(o, o))(Body(x))
    total = (step(3.0 + h) - step(3.0 - h)) / (2 * h)
    assert distinct[0].x == pytest.approx(8.0) and distinct[1].x == pytest.approx(6.0)
    assert found[0].x == found[1].x == pytest.approx(total)


def test_many_objects_in_one_argument():
    def moved(bodies):
        for body in bodies:
            body.x = body.x + 1
        total = 0.0
        for body in bodies:
            total = total + body.x
        return total

    compiled = zyg.jit(moved)
    bodies = [Body(float(n)) for n in range(9)]
    assert compiled(copy.deepcopy(bodies)) == moved(copy.deepcopy(bodies))
    bodies[3] = bodies[7]
    assert compiled(copy.deepcopy(bodies)) == moved(copy.deepcopy(bodies))
    assert compiled([Body(9.0)] * 9) == moved([Body(9.0)] * 9)


def of_rows(t, r):
    total = 0.0
    for row in t:
        total += row[0] * r[0]
    return total


def of_tables(t, u):
    total = 0.0
    for i in range(len(t)):
        for j in range(len(u)):
            total += t[i][0] * u[j][0]
    return total


def distinct_rows():
    return [[float(n)] for n in range(12)]


ROWS = {
    "apart": (of_rows, lambda t, r: (t, r)),
    "a row": (of_rows, lambda t, r: (t, t[3])),
    "one row twice": (of_rows, lambda t, r: ([*t[:5], t[2], *t[5:]], r)),
    "rows of each other": (of_tables, lambda t, r: (t, [*t[3:], *distinct_rows()])),
    "tables apart": (of_tables, lambda t, r: (t, distinct_rows())),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore")
def test_rows_of_long_lists_of_lists(seed):
    """Where a list is met in several places it has one derivative, by all of them, whatever was called before."""
    values = {f: zyg.value_and_grad(f, argnums=(0, 1)) for f in (of_rows, of_tables)}
    calls = list(ROWS) * 2
    random.Random(seed).shuffle(calls)
    for name in calls:
        f, arrange = ROWS[name]
        t, r = arrange(distinct_rows(), [0.5])
        value, gradients = values[f](t, r)
        assert value == f(t, r), name
        lists = {id(x): x for x in [*t, *(r if type(r[0]) is list else [r])]}
        for table, gradient in ((t, gradients[0]), (r, gradients[1])):
            rows = list(zip(table, gradient)) if type(table[0]) is list else [(table, gradient)]
            for row, (d,) in rows:
                before, step = (
                    lists[id(row)][0],
                    2.0**-10,
                )  # f is of second degree in each number: the difference is exact
                sides = []
                for row[0] in (before + step, before - step):
                    sides.append(f(t, r))
                row[0] = before
                assert d == pytest.approx((sides[0] - sides[1]) / (2 * step), abs=1e-9), name
