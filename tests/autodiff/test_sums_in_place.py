"""`x.a += v` and its like: the cotangent of the sum stays in the shadow, unless something else takes it from there meanwhile. Against
differences, in the plain version of emitted code and where that is left."""

from __future__ import annotations

import enum
import functools
import operator
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.oracles import differences
from tests.turns import each_in_turn
from zyg.autodiff.objects.api import pullback


class Box:
    def __init__(self, a):
        self.a = a
        self.b = 2.0


def attributes(x):
    box = Box(x)
    for k in range(4):
        box.a += x * k
        box.b = box.a - box.b
        box.a = 0.5 + box.a
        box.a *= x
    return box.a * box.b


def items(x):
    c, d = [x, x * x, 3.0 * x], {"u": x, 1: 2.0}
    for k in range(3):
        c[k] += x * c[0]
        c[k] = c[k] - x
        c[0] -= c[k]
        d["u"] += c[k]
        d[1] = d["u"] + d[1]
    return c[0] * c[1] * c[2] * d[1]


def one_under_two_names(x):
    c = [x, x * x, 3.0 * x]
    d = c
    box = other = Box(x)
    for i in range(2):
        c[i + 1] += d[i + 1] * d[i]
        d[i] += c[i] * c[i]
        box.a += other.a * x
        other.b = other.a + other.b + other.b
    return c[0] + c[1] * c[2] + box.a * other.b


def set_meanwhile(x):
    c = [x, x * x]
    box = Box(x)

    def put(v):
        c[0] = v * v
        box.a = v
        return v

    def both(a, b):
        return a + b

    for _ in range(3):
        c[0] += put(c[1] * x)
        box.a += put(x * box.a)
        box.a = both(box.a, x)
    return c[0] * box.a


def left_by_nothing(x):
    """No cotangent comes to some of the sums."""
    c, kept = [x, x, x], 0.0
    for k in range(3):
        c[k] += x
        kept += c[k] * k
        c[k] = 0.0
        c[k] += x * k
    return kept + c[1]


def cells(x):
    total, count = x, 0

    def add(v):
        nonlocal total, count
        total += v * x
        count += 1
        total = total - v

    for _ in range(4):
        add(x + count)
    return total * total


def of_other_kinds(x):
    """Numbers that are complex, tuples, texts, and keys that are not there before."""
    c: list[Any] = [1j * x, (x,), "a", 1]
    found: dict[str, float] = defaultdict(float)
    for k, word in enumerate("abab"):
        c[0] += x * (1 + 1j)
        c[1] += (x * k,)
        c[2] += word
        c[3] += k
        found[word] += x * k
    return c[0].real * c[0].imag + sum(c[1]) + len(c[2]) * found["a"] + c[3] * found["b"]


class Mean:
    def __init__(self):
        self.count, self.mean = 0, 0.0

    def __iadd__(self, v):
        if v is None:
            return NotImplemented
        self.count += 1
        self.mean += (v - self.mean) / self.count
        return self

    def __add__(self, other):
        return self.mean


def methods_in_place(x):
    mean: Any = Mean()
    total = 0.0
    for k in range(4):
        mean += x * k * k
        total += mean.mean
    mean += None
    return total * mean


class State(enum.Enum):
    UP = "up"
    DOWN = "down"


class Scale:
    def __init__(self, by):
        self.by = by


@dataclass
class Machine:
    level: Any
    state: State = State.UP
    log: list[Any] = field(default_factory=list)
    scale = Scale(2.0)

    def step(self, x):
        if self.state is State.UP:
            self.level += x
            self.state = State.DOWN if self.level > 2.0 else self.state
        else:
            self.level -= x * self.scale.by
            self.state = State.UP
        self.log.append(self.level)


def defaults_of_classes(x):
    machine = Machine(x)
    for k in range(6):
        if k == 3:
            machine.scale = Scale(x)
        machine.step(x)
    return machine.level * sum(machine.log)


def callbacks(x):
    seen = []
    listeners = [lambda k, value: seen.append(value * k), lambda k, *, value=x: seen.append(value + x)]
    steps = [functools.partial(operator.mul, x), functools.partial(pow, 2.0), abs]

    def emit(*args, **more):
        for f in listeners:
            f(*args, **more)

    for k in range(4):
        for f in steps:
            emit(k, value=f(x + k))
            listeners[0](k=k, value=x)
    return sum(seen)


PROGRAMS = [attributes, items, one_under_two_names, set_meanwhile, left_by_nothing, cells, of_other_kinds]
PROGRAMS += [methods_in_place, defaults_of_classes, callbacks]


@each_in_turn
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivative(f):
    expected = differences.derivative(f, 0.7)
    for _ in range(3):  # what is called again has been noted
        value, back = pullback(f, (0.7,))
        assert value == f(0.7)
        assert back(1.0)[0] == pytest.approx(expected, rel=1e-7)
        assert back(-2.0)[0] == pytest.approx(-2.0 * expected, rel=1e-7)


def test_a_default_that_becomes_a_descriptor(monkeypatch):
    def f(x):
        machine = Machine(x)
        return machine.scale.by * x

    assert pullback(f, (0.7,))[1](1.0)[0] == 2.0
    with monkeypatch.context() as patch:
        patch.setattr(Scale, "__get__", lambda self, instance, owner: Box(instance.level), raising=False)
        patch.setattr(Box, "by", property(lambda self: self.a * 3.0), raising=False)
        assert pullback(f, (0.7,))[1](1.0)[0] == pytest.approx(6.0 * 0.7)
    assert pullback(f, (0.7,))[1](1.0)[0] == 2.0
