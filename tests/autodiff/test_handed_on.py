"""Instances whose `__iter__` hands on what an attribute holds, and tuples and lists by what goes through them in other orders."""

# ruff: noqa: RUF015

from __future__ import annotations

import collections
import functools
import itertools
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_turn

pytestmark = each_in_turn


class Row:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)

    def __len__(self):
        return len(self.items)


class Slotted:
    __slots__ = ("items",)

    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)


class Derived(Row):
    def __iter__(self):
        return iter(self.items)


class Property:
    """What is read is computed each time."""

    def __init__(self, items):
        self._items = items
        self.asked = 0.0

    @property
    def items(self):
        self.asked += 1.0
        return [self.asked * v for v in self._items]

    @items.setter
    def items(self, items):
        self._items = items

    def __iter__(self):
        return iter(self.items)


class Missing(Row):
    def __init__(self, items):
        self._items = items

    def __getattr__(self, name):
        return self._items


class OfGenerator(Row):
    def __iter__(self):
        return iter(v * 2.0 for v in self.items)


class Nested(Row):
    def __init__(self, items):
        self.items = Row(items)


def looped(o):
    s = 0.0
    for k, v in enumerate(o):
        for w in o:
            s = s + v * w * k
    return s


def unpacked(o):
    a, b, c = o
    return a * b + c * c


def with_rest(o):
    a, *rest = o
    return a * sum(rest)


def grown(o):
    """A list that grows while it is gone through."""
    s = 0.0
    for v in o:
        if type(o.items) is list and len(o.items) < 6:
            o.items.append(v * 0.5)
        s = s + v * v
    return s


def replaced(o):
    """What an attribute holds is replaced while the loop goes through what it held."""
    s = 0.0
    for v in o:
        o.items = [v * 3.0, v]
        s = s + v * v
    return s + sum(o)


CONSUMERS: dict[str, Callable[[Any], Any]] = {
    "loops": looped,
    "unpack": unpacked,
    "unpack a rest": with_rest,
    "grown": grown,
    "replaced": replaced,
    "sum": lambda o: sum(o) * sum(o, 1.0),
    "list": lambda o: list(o)[1] * 2.0,
    "tuple": lambda o: tuple(o)[1] * 2.0,
    "star": lambda o: sum([1.0, *o]) * max(*o),
    "comprehension": lambda o: sum([v * v for v in o]),
    "generator": lambda o: sum(v * v for v in o),
    "zip": lambda o: sum(v * w for v, w in zip(o, o)),
    "zip with a list": lambda o: sum(v * w for v, w in zip([1.0, 2.0], o)),
    "zip strictly": lambda o: sum(v * w for v, w in zip(o, o, strict=True)),
    "zip by steps": lambda o: next(zip(o, o))[1],
    "enumerate": lambda o: sum(k * v for k, v in enumerate(o, 2)),
    "map": lambda o: sum(map(lambda v, w: v * w, o, o)),
    "filter": lambda o: sum(filter(lambda v: v > 1.0, o)),
    "zip_longest": lambda o: sum(v * w for v, w in itertools.zip_longest(o, [2.0] * 4, fillvalue=3.0)),
    "zip_longest, filled": lambda o: sum(v * w for v, w in itertools.zip_longest([*o, 2.0], o, fillvalue=max(o))),
    "chain": lambda o: sum(itertools.chain(o, o)),
    "reduce": lambda o: functools.reduce(lambda v, w: v * w, o),
    "sorted": lambda o: sorted(o)[0] * 3.0,
    "min": lambda o: min(o) * max(o),
    "any": lambda o: sum(o) if any(o) and all(o) else 0.0,
    "deque": lambda o: collections.deque(o, 2)[0],
    "pairwise": lambda o: sum(v * w for v, w in itertools.pairwise(o)),
    "in": lambda o: sum(o) if 1e6 not in o else 0.0,
    "iter": lambda o: next(iter(o)) ** 2,
    "yield from": lambda o: sum(delegated(o)),
}  # fmt: skip


def delegated(o):
    yield from o
    yield 2.0


CLASSES = [Row, Slotted, Derived, Property, Missing, OfGenerator, Nested]
CONTAINERS: dict[str, Callable[[float], Any]] = {
    "list": lambda x: [x, 2.0 * x, x * x],
    "tuple": lambda x: (x, 2.0 * x, x * x),
    "deque": lambda x: collections.deque([x, 2.0 * x, x * x]),
    "dict": lambda x: {1.0: x, 2.0: 2.0 * x, 3.0: x},
    "of numbers": lambda x: (1.0, 2.5, 3.0),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("name", CONSUMERS)
def test_derivatives(name, cls, container):
    consumer, made = CONSUMERS[name], CONTAINERS[container]
    check(lambda x: x * consumer(cls(made(x))), 1.3)


@pytest.mark.parametrize("container", ["list", "tuple"])
@pytest.mark.parametrize("name", [name for name in CONSUMERS if name != "any"])  # (which is refused: C code asks)
def test_second_derivatives(name, container):
    consumer, made = CONSUMERS[name], CONTAINERS[container]
    check_second(lambda x: x * consumer(Row(made(x))), 1.3)


def test_a_class_that_changes():
    class Changing(Row):
        def __iter__(self):
            return iter(self.items)

    def f(x):
        o = Changing([x, 2.0 * x])
        s = sum(o)
        Changing.__iter__ = lambda self: iter([v * v for v in self.items])
        s = s + sum(o)
        Changing.__iter__ = Row.__iter__
        Changing.items = property(lambda self: [7.0 * x])
        s = s + sum(o)
        del Changing.items
        return s

    for _ in range(2):
        check(f, 1.3)


@pytest.mark.parametrize("x", [1.3])
def test_another_iter(x, monkeypatch):
    def f(x):
        return sum(Row([x, 2.0 * x])) + sum(v * w for v, w in zip(Row((x, x)), Row([x])))

    check(f, x)
    monkeypatch.setattr(
        sys.modules[__name__], "iter", lambda items: itertools.chain(items, [items[0] * 2.0]), raising=False
    )
    check(f, x)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: functools.reduce(lambda s, v: s * x + v, reversed((x, 2.0, x * x)), 0.0),
        lambda x: sum(k * v for k, v in enumerate(reversed((x, 2.0 * x, x * x)))),
        lambda x: next(reversed((x, x * x))),
        lambda x: [*reversed((x, (x, 2.0 * x)))][0][1],
        lambda x: sum(v * w for v, w in itertools.zip_longest((x, 2.0), [x, x * x, x], fillvalue=x)),
        lambda x: sum(v * w for v, w in itertools.zip_longest((x, 2.0), (1.0, 2.0, 3.0), fillvalue=2.0)),
        lambda x: [*itertools.zip_longest((x, 2.0), "abc")][0][0],
        lambda x: x if any([0.0, x]) and not all((x, 0.0)) else 1.0,
    ],
)
def test_tuples(f):
    check(f, 1.3)
    check_second(f, 1.3)
