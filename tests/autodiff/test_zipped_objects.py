"""`zip` of objects with an `__iter__` of their own, which gives iterators of lists and tuples, generators, or objects with a `__next__`; what
`__iter__` does, and exceptions out of it. Against differences."""

from __future__ import annotations

import pytest

from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn


class Vector:
    def __init__(self, *parts):
        self.parts = parts

    def __iter__(self):
        return iter(self.parts)

    def __mul__(self, k):
        return Vector(*(a * k for a in self.parts))

    def dot(self, other):
        return sum(a * b for a, b in zip(self, other))


class Row(Vector):
    def __init__(self, *parts):
        self.parts = list(parts)


class Each(Vector):
    def __iter__(self):
        for k, part in enumerate(self.parts):
            yield part * (k + 1)


class Stepped(Vector):
    def __iter__(self):
        self.at = -1
        return self

    def __next__(self):
        self.at += 1
        if self.at >= len(self.parts):
            raise StopIteration
        return self.parts[self.at] * self.at


class Counting(Vector):
    asked = 0.0

    def __iter__(self):
        self.asked = self.asked + self.parts[0]
        return iter(self.parts)


class Broken(Vector):
    def __iter__(self):
        self.parts = (*self.parts, 2.0)
        raise ValueError


def vectors(x):
    v, w = Vector(x, x * x, 2.0), Row(1.0, x, x * x * x)
    total = v.dot(w) + w.dot(v * x) + v.dot([x, 2.0, 3.0]) + w.dot((x, x, 1.0))
    for k, a, b in zip(range(3), v, w):
        total += k * a * b
    return total + sum(a * b for a, b in zip(w, dict.fromkeys("abc", x).values()))


def others(x):
    v, w, s = Vector(x, x * x), Each(x, 2.0, x), Stepped(x, x * x, 3.0)
    total = sum(a * b for a, b in zip(v, w)) + sum(a * b * c for a, b, c in zip(s, v, w))
    return total + sum(a * b for a, b in zip(map(abs, v), s)) + sum(a for (a,) in zip(w))


def asked(x):
    c, total = Counting(x, x * x), 0.0
    for a, b in zip(c, c):
        total += a * b * c.asked
    return total + c.asked * len(list(zip(c, [1.0], strict=False)))


def left(x):
    c, b, total = Counting(x, 2.0 * x), Broken(x), 0.0
    for others in ((c, b), (5, c), (b, c), (c, 5)):
        try:
            total += sum(p * q for p, q in zip(*others))
        except (ValueError, TypeError):
            total += c.asked * x
    try:
        zip(5, c)
    except TypeError:
        total += c.asked
    try:
        total += sum(p * q for p, q in zip(c, Row(x), strict=True))
    except ValueError:
        total += 2.0 * c.asked
    return total + sum(b.parts)


@pytest.mark.parametrize("f", [vectors, others, asked, left])
def test_zip_of_objects(f):
    check(f)


@each_in_long_turn
@pytest.mark.parametrize("f", [vectors, others, asked])
def test_second_derivatives(f):
    check_second(f)
