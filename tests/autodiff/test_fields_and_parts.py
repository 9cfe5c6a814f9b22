"""Fields of named tuples, slices of tuples, distances, and complex numbers of two parts: their short ways, and where these are not taken."""

from __future__ import annotations

import cmath
import itertools
import math
from typing import NamedTuple

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg import rules
from zyg.autodiff.objects.api import pullback
from zyg.errors import Unsupported

pytestmark = each_in_turn


class Point(NamedTuple):
    name: str
    x: float
    y: float
    z: float

    def norm(self):
        return math.sqrt(self.x * self.x + self.y * self.y + self.z**2)


class Other:
    """It has attributes under the same names."""

    def __init__(self, x):
        self.x = x
        self.kept = 0.0

    @property
    def y(self):
        self.kept = self.kept + self.x
        return self.kept * self.x


class Shifted(Point):
    """A field is something else."""

    @property
    def x(self):
        return self[1] * self[2] + 1.0


def captured(t):
    a = Point("a", 2.0, t, t * t)

    def f(u):
        return a.x * u + a.z * a.y

    return sum([f(t * k) for k in range(3)])


def captured_and_rebound(t):
    a = Point("a", t, 1.0, 3.0)

    def f(u):
        nonlocal a
        y = a.x * u
        a = Point("b", a.y * u, a.x, u)
        return y + a.z

    return f(t) + f(2.0 * t) + a.x * a.y


def captured_plain_tuple(t):
    a = (t, 2.0, (t * t, 3.0))

    def f(u):
        return a[0] * u + a[2][0] + a[-2]

    return f(t) + f(3.0)


def in_lists(t):
    points = [Point("a", t, k * t, t**k) for k in range(4)]
    total = 0.0
    for p in points + points[1:3]:
        total += p.x * p.y + p.z
    return total + sum(p.z * t for p in points)


def of_several_classes(t):
    total = 0.0
    for p in [Point("a", t, 2.0, t), Other(t * t), Shifted("b", t, t * t, 1.0), Point("d", t, t, t)]:
        total += p.x * p.y
    return total


def fields_that_are_containers(t):
    class Holding(NamedTuple):
        items: list
        inner: Point

    h = Holding([t, t * t], Point("a", t, t * t, 2.0))
    h.items.append(h.inner.y)
    return sum(h.items) * h.inner.x + h.inner.norm()


def methods(t):
    points = {"a": Point("a", t, 2.0, t), "b": Point("b", 1.0, t * t, t)}
    return sum(points[k].norm() * t for _ in range(3) for k in "ab")


def replaced(t):
    p = Point("a", t, 2.0, 3.0)
    for _ in range(3):
        p = p._replace(x=p.x * t, y=p.x + p.y)
    return p.x * p.y


def slices(t):
    a = (t, t * t, 3.0, t**3)
    total = 0.0
    for start, stop in (
        (0, 2),
        (1, None),
        (None, 3),
        (-2, None),
        (-3, -1),
        (3, 1),
        (9, None),
        (None, None),
        (-9, 2),
        (5, 9),
    ):
        total += sum(k * v for k, v in enumerate(a[start:stop], 1))
    return total + a[::2][1] + a[::-1][0] * a[3:0:-1][1]


def slices_of_named_tuples(t):
    p = Point("a", t, t * t, 2.0)
    rest = p[1:]
    first, second, _ = rest
    return first * second + p[2:3][0] * sum(p[-2:]) + len(p[:1])


class Part:
    """It is asked for its index."""

    def __init__(self, at):
        self.at = at
        self.asked = 0.0

    def __index__(self):
        self.asked += self.at
        return 1


def slices_by_objects(t):
    part = Part(t)
    a = (t, t * t, 3.0)
    return sum(a[part:]) * part.asked


class Sliced(tuple):
    def __getitem__(self, key):
        found = tuple.__getitem__(self, key)
        return tuple(2.0 * v for v in found) if type(key) is slice else found


def slices_by_a_class(t):
    return sum(Sliced((t, t * t, 3.0))[1:])


def slices_of_containers(t):
    a = ([t], {"k": t * t}, (t, 2.0))
    rest = a[1:]
    rest[0]["k"] *= t
    a[:1][0].append(t)
    return rest[0]["k"] + rest[1][0] * sum(a[0])


def distances(t):
    total = 0.0
    points = [(t, 0.0, 1.0), (0.0, t * t, 2.0), (3.0, 1.0, t)]
    for p, q in itertools.combinations(points, 2):
        total += math.dist(p, q) + math.dist(p[:2], q[:2]) + math.dist(p[:1], q[:1]) * math.dist(p + q, q + p)
    return total


def distances_of_lists_and_others(t):
    p, q = [t, 2.0], [1.0, t * t]
    total = math.dist(p, q) + math.dist(p, (3.0, 3.0)) + math.dist((t, 1), q) + math.dist((t, 2), (1, 5.0))
    total += math.dist(Point("a", t, 2.0, 1.0)[1:], [1.0, t, 2.0])
    p[0] = p[0] * t
    return total + math.dist(p, p[::-1])


def distance_of_nothing(t):
    same = (t, 2.0)
    return t * t + math.dist((), ()) * t + math.dist([], []) + 0.0 * math.dist(same, same)


def least(t):
    total = 0.0
    for k in range(4):
        total += min(k, t) * max(t * t, k) + min(t, t) + max(2, k) * t + min(True, t)
    return total


def two_parts(t):
    z = complex(t, t * t)
    w = complex(2, t) + complex(imag=t, real=1.0) * complex(t)
    parts = [z, w, complex(0.0, t)]
    return abs(1 / sum(1 / p for p in parts)) + (z / w).real + abs(t / z) + (2 / w).imag + (w / 2.0).imag + (z / t).real


def powers(t):
    return 10 ** (t - 1.0) + 2.5**t + 0.5 ** (-t) + t**t + 1**t + math.e ** (t * t)


def texts_in_order(t):
    factors = {("a", "b"): t, ("b", "c"): t * t}
    total = 0.0
    for pair in ("ba", "bc", "ab"):
        total += factors[tuple(sorted((pair[0], pair[1])))] * len(sorted(pair, reverse=True))
    names = sorted(["b", "a"])
    names[0] = t
    return total + names[0] * t


CASES = [
    *(captured, captured_and_rebound, captured_plain_tuple, in_lists, of_several_classes, fields_that_are_containers),
    *(methods, replaced, slices, slices_of_named_tuples, slices_by_objects, slices_by_a_class, slices_of_containers),
    *(distances, distances_of_lists_and_others, distance_of_nothing, least, two_parts, powers, texts_in_order),
]


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_derivatives(f):
    for _ in range(2):  # what has been noted is used
        y, back = pullback(f, (1.5,))
        assert y == pytest.approx(f(1.5), rel=1e-15)
        assert back(1.0)[0] == pytest.approx(differences.derivative(f, 1.5), rel=1e-6)


@each_in_long_turn
@pytest.mark.filterwarnings("ignore::zyg.errors.FallbackWarning")
@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_second_derivatives(f):
    second = pullback(lambda x: zyg.gradient(f, x)[0], (1.5,))[1](1.0)[0]
    slope = differences.derivative(lambda x: pullback(f, (x,))[1](1.0)[0], 1.5)
    assert (second or 0.0) == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_equal_points():
    """As for the root of a square: 0 where there is none."""
    _, back = pullback(lambda a, b: math.dist((a, b), (a, b)), (1.0, 2.0))
    assert back(1.0) == (0.0, 0.0)


@pytest.mark.parametrize(
    "pair", [((1.0,), (1.0, 2.0)), ((1.0, "a"), (1.0, 2.0)), ((1j,), (2.0,)), (3.0, (2.0,))], ids=str
)
def test_no_distances(pair):
    def f(x):
        return x * math.dist(*pair)

    with pytest.raises(Exception) as cpython:
        f(1.0)
    with pytest.raises((type(cpython.value), Unsupported)):
        pullback(f, (1.0,))


def test_a_rule_comes_first():
    """A user's rule for a function that has a short way."""

    @zyg.adjoint(min)
    def rule(a, b):
        return min(a, b), lambda d: (5.0 * d, 7.0 * d)

    try:
        assert pullback(lambda a, b: min(a, b) * 1.0, (1.0, 2.0))[1](1.0) == (5.0, 7.0)
    finally:
        rules.remove(min)


def test_fields_of_a_class_that_changes():
    class Pair(NamedTuple):
        a: float
        b: float

    def f(t):
        p = Pair(t, t * t)
        return p.a * p.b

    assert pullback(f, (2.0,))[1](1.0)[0] == pytest.approx(12.0)
    Pair.a = property(lambda self: self[0] * self[1])
    assert pullback(f, (2.0,))[1](1.0)[0] == pytest.approx(5 * 2.0**4)


def test_phases():
    _, back = pullback(lambda a, b: cmath.phase(complex(a, b)), (1.0, 2.0))
    assert back(1.0) == pytest.approx((-0.4, 0.2))
