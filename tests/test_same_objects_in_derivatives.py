"""An object in several places of the arguments has one derivative, in every transform: against numbers that carry their first and
second derivatives through CPython."""

from __future__ import annotations

import functools
import itertools
import random
from dataclasses import dataclass

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = [each_in_turn, pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")]


class Jet:
    """A number with its slope in one direction, in another one, and in both."""

    def __init__(self, *parts):
        self.parts = parts

    def __add__(self, other):
        return Jet(*[x + y for x, y in zip(self.parts, as_jet(other).parts)])

    def __mul__(self, other):
        (x, x1, x2, x12), (y, y1, y2, y12) = self.parts, as_jet(other).parts
        return Jet(x * y, x * y1 + x1 * y, x * y2 + x2 * y, x * y12 + x1 * y2 + x2 * y1 + x12 * y)

    __radd__, __rmul__ = __add__, __mul__


def as_jet(x):
    return x if isinstance(x, Jet) else Jet(x, 0.0, 0.0, 0.0)


class Body:
    def __init__(self, x, y):
        self.x = x
        self.y = y


@dataclass
class Record:
    x: float
    y: float


class Holder:
    def __init__(self, held):
        self.held = held


def of_objects(a, b, c):
    a.y = a.x * b.y + a.y
    c.x = c.x * c.x * b.x
    total = a.x * b.x * b.x + 2.0 * b.y * c.y * a.y + c.x * c.y
    return total * total


def of_dicts(a, b, c):
    a["y"] = a["x"] * b["y"] + a["y"]
    c["x"] = c["x"] * c["x"] * b["x"]
    total = a["x"] * b["x"] * b["x"] + 2.0 * b["y"] * c["y"] * a["y"] + c["x"] * c["y"]
    return total * total


def of_lists(a, b, c):
    a[1] = a[0] * b[1] + a[1]
    c[0] = c[0] * c[0] * b[0]
    total = a[0] * b[0] * b[0] + 2.0 * b[1] * c[1] * a[1] + c[0] * c[1]
    return total * total


def of_long_lists(a, b, c):
    a[-1] = a[0] * b[-1] + a[-1]
    c[0] = c[0] * c[0] * b[0]
    total = a[0] * b[0] * b[0] + 2.0 * b[-1] * c[-1] * a[-1] + c[0] * c[-1]
    return total * total


def of_nested(a, b, c):
    a.held[1] = a.held[0] * b.held[1] + a.held[1]
    c.held[0] = c.held[0] * c.held[0] * b.held[0]
    total = a.held[0] * b.held[0] * b.held[0] + 2.0 * b.held[1] * c.held[1] * a.held[1] + c.held[0] * c.held[1]
    return total * total


KINDS = {
    "class": (of_objects, Body),
    "dataclass": (of_objects, Record),
    "dict": (of_dicts, lambda x, y: {"x": x, "y": y}),
    "list": (of_lists, lambda x, y: [x, y]),
    "long list": (of_long_lists, lambda x, y: [x, *[0.0] * 9, y]),
    "object with a list": (of_nested, lambda x, y: Holder([x, y])),
}
PATTERNS = [(0, 0, 1), (0, 1, 0), (0, 0, 0), (0, 1, 1), (0, 1, 2)]
POINT = [1.5, -0.5, 2.0, 3.0, 0.25, -1.25]
TABLE = {("key", 1): 1.0}


def through_python(function):
    def refused(*args):
        return function(*args) * TABLE[("key", len([1]))]

    return refused


def in_one(function):
    return lambda held: function(held[0], held[1], held[2])


def numbers(found):
    """What is in a structure of derivatives, one behind the other, without what holds a long list apart."""
    if isinstance(found, (float, int)):
        return [float(found)]
    if isinstance(found, np.ndarray):
        return [float(x) for x in found.ravel()]
    if isinstance(found, dict):
        found = list(found.values())
    elif not isinstance(found, (list, tuple)):
        found = list(vars(found).values())
    return [x for part in found for x in numbers(part)]


def thinned(values, kind, axes=1):
    """The numbers that matter to the function."""
    n = 11 if kind == "long list" else 2
    return np.array(values).reshape((n,) * axes)[(slice(None, None, n - 1),) * axes]


def expected(function, make, pattern):
    """Gradient and Hessian by the numbers of the different objects."""
    n = 2 * (max(pattern) + 1)
    gradient, hessian = np.zeros(n), np.zeros((n, n))
    for k, l in itertools.product(range(n), repeat=2):
        point = [Jet(x, float(i == k), float(i == l), 0.0) for i, x in enumerate(POINT[:n])]
        objects = [make(*point[2 * i : 2 * i + 2]) for i in range(n // 2)]
        _, gradient[k], _, hessian[k, l] = function(*[objects[i] for i in pattern]).parts
    return gradient.reshape(-1, 2), hessian.reshape(n // 2, 2, n // 2, 2).swapaxes(1, 2)


def given(make, pattern, values=POINT):
    objects = [make(*values[2 * i : 2 * i + 2]) for i in range(3)]
    return tuple([objects[i] for i in pattern])


kinds = pytest.mark.parametrize("kind", KINDS)
ways = pytest.mark.parametrize("way", [lambda f: f, through_python], ids=["native", "python"])


def mirrored(found, kind, pattern, of_objects):
    """Whether there is in each place the derivative by the object that is there."""
    for d, p in zip(found, pattern, strict=True):
        assert thinned(numbers(d), kind) == pytest.approx(of_objects[p])


@each_in_long_turn
@ways
@kinds
def test_gradients_and_jacobians(kind, way):
    plain, make = KINDS[kind]
    function = way(plain)
    together = in_one(function)
    for pattern in random.Random(kind).sample(PATTERNS, 2):
        slopes, _ = expected(plain, make, pattern)
        new = functools.partial(given, make, pattern)
        mirrored(zyg.gradient(function, *new()), kind, pattern, slopes)
        mirrored(zyg.pullback(function, *new())[1](1.0), kind, pattern, slopes)
        mirrored(zyg.gradient(together, [*new()])[0], kind, pattern, slopes)
        mirrored(zyg.jacobian(function, *new()), kind, pattern, slopes)
        mirrored(zyg.jacobian(together, new())[0], kind, pattern, slopes)
        mirrored([zyg.grad(function, 1)(*new())], kind, pattern[1:2], slopes)
        mirrored([zyg.jacobian(function, *new(), argnums=2)], kind, pattern[2:], slopes)


@each_in_long_turn
@ways
@kinds
def test_tangents(kind, way):
    plain, make = KINDS[kind]
    function = way(plain)
    together = in_one(function)
    directions = [0.5, 1.0, -2.0, 0.25, 3.0, 1.5]
    for pattern in PATTERNS[:3]:
        slopes, _ = expected(plain, make, pattern)
        new = functools.partial(given, make, pattern)
        along = sum(directions[2 * p + n] * slopes[p][n] for p in set(pattern) for n in (0, 1))
        tangents = given(make, pattern, directions)
        first = tuple([None if p in pattern[:k] else t for k, (p, t) in enumerate(zip(pattern, tangents))])
        last = tuple([None if p in pattern[k + 1 :] else t for k, (p, t) in enumerate(zip(pattern, tangents))])
        for t in (tangents, first, last):
            assert zyg.jvp(function, new(), t)[1] == pytest.approx(along)
        assert zyg.jvp(together, ([*new()],), ([*tangents],))[1] == pytest.approx(along)
        assert zyg.pushforward(function, *new())[1](*tangents) == pytest.approx(along)
    other = make(0.5, 7.0)
    with pytest.raises(ValueError, match=r"for argument 0\S* and argument 2\S*, which are one, differ"):
        zyg.jvp(function, given(make, (0, 1, 0)), (make(0.5, 1.0), None, other))
    with pytest.raises(ValueError, match=r"for argument 0\[0\]\S* and argument 0\[2\]\S*, which are one, differ"):
        zyg.jvp(together, ([*given(make, (0, 1, 0))],), ([make(0.5, 1.0), None, other],))


@each_in_long_turn
@ways
@pytest.mark.parametrize("kind, pattern", list(zip([*KINDS, *KINDS], [*PATTERNS, *PATTERNS, *PATTERNS])))
def test_second_derivatives(kind, pattern, way):
    plain, make = KINDS[kind]
    function = way(plain)
    _, seconds = expected(plain, make, pattern)
    new = lambda: given(make, pattern)

    def is_block(found, p, q):
        assert thinned(numbers(found), kind, 2) == pytest.approx(seconds[p, q])

    k = sum(pattern) % 3
    if kind in ("list", "long list"):
        blocks = zyg.hessian(function, *new(), argnums=(0, 1, 2))
        for row, p in zip(blocks, pattern, strict=True):
            for block, q in zip(row, pattern, strict=True):
                is_block(block, p, q)
        is_block(zyg.hessian(function, *new(), argnums=k), pattern[k], pattern[k])
    else:
        is_block(zyg.hessian(function, *new(), argnums=(k, 1))[0][1], pattern[k], pattern[1]) if k != 1 else None
        is_block(zyg.hessian(function, *new(), argnums=k), pattern[k], pattern[k])
    directions = [0.5, 1.0, -2.0, 0.25, 3.0, 1.5]
    along = [
        sum(seconds[p, q] @ np.array(directions[2 * q : 2 * q + 2]) for q in set(pattern))
        for p in range(max(pattern) + 1)
    ]
    mirrored(zyg.hvp(function, *new(), given(make, pattern, directions), argnums=(0, 1, 2)), kind, pattern, along)


def test_arrays_in_two_places_have_their_partial_derivatives():
    plain = lambda a, b: a[0] * b[0] * b[0] + b[1] * a[1]
    for function in (plain, through_python(plain)):
        a = np.array([3.0, 2.0])
        first, second = zyg.gradient(function, a, a)
        assert (first.tolist(), second.tolist()) == ([9.0, 2.0], [18.0, 2.0])
        assert zyg.jvp(function, (a, a), (np.array([1.0, 0.0]), None))[1] == 9.0
        assert zyg.jvp(function, (a, a), (np.array([1.0, 0.0]), np.array([0.0, 1.0])))[1] == 11.0
        assert zyg.hessian(function, a, a).tolist() == [[0.0, 0.0], [0.0, 0.0]]
        assert zyg.hessian(function, a, a, argnums=1).tolist() == [[6.0, 0.0], [0.0, 0.0]]
        assert zyg.hvp(function, a, a, np.array([1.0, 1.0]), argnums=1).tolist() == [6.0, 0.0]


def test_objects_that_hold_one_another():
    def function(a, b, rate):
        return a.held[0].x * b.x * b.x * rate * a.held[1][0]

    o = Body(3.0, 0.0)
    args = lambda: (Holder([o, [2.0]]), o, 0.5)
    for way in (function, through_python(function)):
        whole, other, rate = zyg.jacobian(way, *args())
        assert other.x == whole.held[0].x == 27.0
        assert rate == 54.0 and whole.held[1].tolist() == [13.5]
        assert zyg.jacobian(way, *args(), argnums=1).x == 27.0
        assert zyg.hessian(way, *args(), argnums=1).x.x == 18.0
        assert zyg.hessian(way, *args(), argnums=(0, 1))[1][0].x.held[0].x == 18.0


def test_lists_of_integers_that_are_one():
    function = lambda a, b: a[0] * b[0] * b[1]
    n = [3, 2.0]
    assert [d.tolist() for d in zyg.jacobian(function, n, n)] == [[12.0, 9.0]] * 2
    assert zyg.hessian(function, n, n).tolist() == [[4.0, 6.0], [6.0, 0.0]]
