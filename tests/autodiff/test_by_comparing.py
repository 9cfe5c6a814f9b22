"""Sorting by a function that compares two items: the order is CPython's, and what the function changes is undone in
its place."""

from __future__ import annotations

import functools
import math
import operator

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback


class Circle:
    """Keeps what it has computed, and notes that."""

    def __init__(self, radius, log):
        self.radius, self.log, self.kept = radius, log, 0.0

    @property
    def area(self):
        if not self.kept:
            self.kept = 3.0 * self.radius**2
            self.log.append(self.kept * self.radius)
        return self.kept


class Difference:
    """What a comparison gives, which changes something when it is asked."""

    def __init__(self, value, log):
        self.value, self.log = value, log

    def __lt__(self, other):
        self.log.append(self.value * self.value)
        return self.value < other


class Length:
    """Its difference is an object that changes something."""

    def __init__(self, value, log):
        self.value, self.log = value, log

    def __sub__(self, other):
        return Difference(self.value - other.value, self.log)


def by_size(a, b):
    return (a > b) - (a < b)


def by_both(a, b):
    return by_size(a["name"], b["name"]) or -by_size(a["x"], b["x"])


BY_SIZE = functools.cmp_to_key(by_size)
BY_DIFFERENCE = functools.cmp_to_key(operator.sub)


def weighted(items):
    return sum([k * v for k, v in enumerate(items, 1)])


def numbers(x):
    return [2.0 * x, x, x * x, 1.5 * x, 0.4]


def records(x):
    return [{"name": "ABAB"[k], "x": v} for k, v in enumerate(numbers(x)[:4])]


def noting(x, log):
    def compare(a, b):
        log.append(a * b * x)
        return a - b

    return compare


def sorted_in_place(x):
    items = numbers(x)
    items.sort(key=functools.cmp_to_key(lambda a, b: b - a))
    return weighted(items)


def of_what_is_noted(x):
    log = []
    ordered = sorted(numbers(x), key=functools.cmp_to_key(noting(x, log)), reverse=True)
    return weighted(ordered) + sum(log)


def raising_half_way(x):
    log = []

    def compare(a, b):
        log.append(a * x)
        if len(log) == 3:
            raise ValueError
        return -1 if a < b else 1

    try:
        sorted((v * x for v in numbers(x)), key=functools.cmp_to_key(compare))
    except ValueError:
        log.append(x)
    return sum(log)


def keeping_what_they_computed(x):
    log = []
    circles = [Circle(v, log) for v in numbers(x)]
    ordered = sorted(circles, key=functools.cmp_to_key(lambda a, b: a.area - b.area))
    return weighted(c.radius for c in ordered) + weighted(log)


def differences_that_change_something(x):
    log = []
    ordered = sorted([Length(v, log) for v in numbers(x)], key=functools.cmp_to_key(lambda a, b: a - b))
    return weighted([v.value for v in ordered]) + weighted(log)


def records_that_are_changed(x):
    items = records(x)

    def compare(a, b):
        a["x"] = a["x"] * 1.01
        return a.setdefault("asked", a["x"]) - b["x"]

    return weighted([r["x"] * r.get("asked", 1.0) for r in sorted(items, key=functools.cmp_to_key(compare))])


def what_is_captured(x):
    kept = {"far": x}

    def compare(a, b):
        kept["far"] = kept["far"] + abs(a - b)
        return a - b

    return weighted(sorted(numbers(x), key=functools.cmp_to_key(compare))) * kept["far"]


PROGRAMS = {
    "numbers": lambda x: weighted(sorted(numbers(x), key=functools.cmp_to_key(by_size))),
    "downwards": lambda x: weighted(sorted(numbers(x), key=functools.cmp_to_key(by_size), reverse=True)),
    "of a generator": lambda x: weighted(sorted((v * x for v in numbers(x)), key=functools.cmp_to_key(by_size))),
    "made elsewhere": lambda x: (
        weighted(sorted(numbers(x), key=BY_SIZE)) + weighted(sorted([x, 0.1], key=BY_DIFFERENCE))
    ),
    "by an operator": lambda x: weighted(sorted(numbers(x), key=functools.cmp_to_key(operator.sub))),
    "with equal ones": lambda x: weighted(sorted(numbers(x), key=functools.cmp_to_key(lambda a, b: int(a) - int(b)))),
    "of records": lambda x: weighted(
        [r["x"] for r in sorted(records(x), key=functools.cmp_to_key(lambda a, b: a["x"] - b["x"]))]
    ),
    "by helpers": lambda x: weighted([r["x"] for r in sorted(records(x), key=functools.cmp_to_key(by_both))]),
    "by methods": lambda x: weighted(
        [
            r["x"]
            for r in sorted(
                records(x), key=functools.cmp_to_key(lambda a, b: math.copysign(1.0, a.get("x") - b.get("x")))
            )
        ]
    ),
    "of keys": lambda x: weighted([2.0 * x if k.obj > 1.0 else x for k in sorted(map(BY_SIZE, numbers(x)))]),
    **{
        f.__name__.replace("_", " "): f
        for f in (
            *(sorted_in_place, of_what_is_noted, raising_half_way, keeping_what_they_computed),
            *(differences_that_change_something, records_that_are_changed, what_is_captured),
        )
    },
}


@each_in_turn
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_of_what_is_sorted_by_comparing(name):
    f = PROGRAMS[name]
    value, back = pullback(f, (0.9,))
    assert value == f(0.9)
    assert back(1.0)[0] == pytest.approx(differences.derivative(f, 0.9), rel=1e-7)


@each_in_long_turn
@each_in_turn
@pytest.mark.parametrize(
    "f", [PROGRAMS["numbers"], of_what_is_noted, keeping_what_they_computed], ids=["numbers", "noted", "kept"]
)
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_second_derivatives(f):
    second = zyg.derivative(zyg.derivative(f))(0.9)
    assert second == pytest.approx(differences.derivative(zyg.derivative(f), 0.9), rel=1e-6)


@pytest.mark.parametrize("reverse", [False, True])
def test_comparisons_are_those_of_python(reverse):
    asked = []

    def compare(a, b):
        asked.append((a, b))
        return (a > b) - (a < b)

    def f(x):
        return sorted([x * ((k * 7) % 10) for k in range(40)], key=functools.cmp_to_key(compare), reverse=reverse)[3]

    value = f(0.9)
    expected = asked[:]
    asked.clear()
    assert pullback(f, (0.9,))[0] == value
    assert asked == expected


def test_errors_of_comparisons_are_raised():
    def f(x):
        return sorted([x, "a"], key=functools.cmp_to_key(lambda a, b: a - b))[0]

    with pytest.raises(TypeError, match="unsupported operand"):
        pullback(f, (0.9,))
