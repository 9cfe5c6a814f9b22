"""Second derivatives through Python by the short paths of run-time functions, and where these give way to the general one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.fallback import python_pullback

pytestmark = each_in_turn


def derivative(f):
    def slope(x):
        return python_pullback(f, (x,), {})[1](1.0)[0]

    return slope


class Point:
    rate = 0.5
    __slots__ = ("seen", "x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y
        self.seen = []

    def step(self, h):
        self.x = self.x + h * self.y
        self.y = self.y - h * self.x / (self.y * self.y + 1.0)
        self.seen.append(self.x * self.y)
        return self

    def __mul__(self, other):
        return Point(self.x * other.x, self.y - other.y)


class Whole:
    """With a shadow by attributes, of numbers and of what is none."""

    def __init__(self, x):
        self.x = x
        self.both = (x, x * x)
        self.z = complex(x, 2.0)
        self.a = np.array([x, 1.0, x * x])

    def value(self):
        self.both = (self.both[1], self.both[0] * self.x)
        self.z = self.z * self.z
        self.a[1:] *= self.a[0] * self.x
        return self.both[0] * self.both[1] + self.z.real * self.z.imag + self.a @ self.a


def attributes(x):
    p, q = Point(x, 2.0 * x), Point(x * x, 0.3)
    for _ in range(3):
        p.step(0.3 * p.rate).step(q.y)
    r = p * q
    return r.x * r.y + p.seen[0] * p.seen[-1] + sum(p.seen)


def items(x):
    named, listed = {"a": x, "b": 2.0}, [x, x * x, 3.0]
    for k in range(3):
        named["b"] = named["b"] * named["a"] + listed[k]
        listed[k] = named["b"] - listed[-1] / named["a"]
        named[k] = listed[k] * listed[0]
    listed.append(named.pop(1) * x)
    return listed.pop() * listed[1] + named.get("b") * named[2] + (x, listed[0])[1]


def operators(x):
    a = (x, 3, -x, np.float64(x))
    total = 0.0
    for p in a:
        for q in a:
            total = total + p * q - p / q + (p - q) * (q + p) * x
    return total * x


def arrays(x):
    a, b = np.array([x, 2.0, 0.5 * x]), np.arange(6.0).reshape(2, 3) + x
    c = a * b - b / a + 2.0 * a
    c = c * x + a[0] / (1.0 + c * c) - 3
    c[0] += a
    c *= 0.5 * b
    return np.sum(c * c[:, :1]) * 0.01 + (a - 1.0)[1] * float(x)


PROGRAMS = {
    "attributes": attributes,
    "items": items,
    "operators": operators,
    "arrays": arrays,
    "others": lambda x: Whole(x).value(),
}


@each_in_long_turn
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives(name):
    first = derivative(PROGRAMS[name])
    assert derivative(first)(0.7) == pytest.approx(differences.derivative(first, 0.7), rel=1e-6)


@pytest.mark.parametrize("infinite", [math.inf, -math.inf])
def test_nothing_of_what_is_infinite(infinite):
    """What flows to one operand only is not mixed with the other one's slope."""

    class Held:
        def __init__(self, x):
            self.x, self.bound = x, infinite

        def value(self):
            far = self.bound * 2.0
            return self.x * self.x / (1.0 + 1.0 / far) + 0.0 * (self.x < far)

    assert derivative(derivative(lambda x: Held(x).value()))(0.7) == 2.0
