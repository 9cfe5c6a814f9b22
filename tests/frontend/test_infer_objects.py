"""Named tuples and dataclasses."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest

from .running import check


class Pair(NamedTuple):
    x: float
    y: float = 2.0

    def norm(self):
        return math.hypot(self.x, self.y)


@dataclass
class Body:
    a: float
    b: float = 3.0
    c: float = field(default=0.0, init=False)

    def __post_init__(self):
        self.c = self.a + self.b

    @property
    def total(self):
        return self.a + self.b + self.c

    def bump(self, d):
        self.a += d
        return self

    def __add__(self, other):
        return Body(self.a + other.a, self.b + other.b)


@dataclass(frozen=True)
class Frozen:
    u: float
    v: int = 1


def named_tuple(x):
    p = Pair(x)
    q = Pair(y=1.0, x=x)
    a, b = p
    return p.norm() + q.x + q[1] + a * b, p._replace(x=5.0), p == q, p < q


def takes_named_tuple(p):
    return p.x * p.y, p


def aliases(x):
    d = Body(x)
    e = d
    e.a = 10.0
    d.bump(1)
    f = d + e
    return d.a, e.total, f.c, d is e, f


def in_loop(x, n):
    d = Body(x, 1.0)
    for i in range(n):
        d.a = d.a * d.b + i
        if d.a > 50:
            d = Body(1.0, 2.0)
    return d


def chain(n):
    previous = None
    for i in range(n):
        current = Body(float(i))
        if previous is not None:
            current.b = previous.a + previous.b
        previous = current
    return previous


def frozen(x):
    f = Frozen(x)
    return f.u + f.v, f


def writes_frozen(x):
    f = Frozen(x)
    f.u = 2
    return f


def takes_dataclass(d):
    return d.a + d.total


def class_patterns(x):
    match Pair(x, 1.0):
        case Pair(x=0.0):
            return 1.0
        case Pair(a, b) if a > 5:
            return a + b
    match Body(x):
        case Body(a=1.0):
            return 2.0
        case Body() as d:
            return d.b


def passes_object_on(x):
    d = Body(x)

    def change(o, k):
        if k > 0:
            o.a *= 2.0
            change(o, k - 1)

    change(d, 3)
    return d.a


def wrong_construction(x):
    return Body(x, 1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (named_tuple, (1.5,)), (takes_named_tuple, (Pair(1.0, 2.0),)), (aliases, (1.5,)), (in_loop, (1.5, 10)),
        (chain, (5,)), (chain, (0,)), (frozen, (2.0,)), (writes_frozen, (2.0,)), (takes_dataclass, (Body(1.0, 2.0),)),
        (class_patterns, (0.0,)), (class_patterns, (7.0,)), (class_patterns, (1.0,)), (class_patterns, (2.0,)),
        (passes_object_on, (1.5,)), (wrong_construction, (1.0,)),
    ],
)  # fmt: skip
def test_objects(function, args):
    check(function, *args)


def test_one_name_for_either_of_two_objects():
    def either(x, c):
        a, b = Body(x), Body(2 * x)
        p = a if c else b
        p.a = 100.0
        return a.a + b.a

    check(either, 1.0, True)
    check(either, 1.0, False)
