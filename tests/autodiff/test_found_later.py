"""What is found out once while it is being tried to run functions natively, or was looked up each time: properties, named tuples that
functions make, `yield from` of ranges and text, the truth of what `filter` goes through, attributes of classes, classes of text."""

from __future__ import annotations

import itertools
from collections import namedtuple

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn
from zyg.autodiff.python import compile
from zyg.fallback import python_pullback

pytestmark = pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")


class Node:
    def __init__(self, v, left=None, right=None):
        self.v = v
        self.left = left
        self.right = right

    def total(self):
        return self.v + sum(below.total() * 2.0 for below in filter(None, (self.left, self.right)))

    @property
    def depth(self):
        return 0 if self.left is None else 1 + self.left.depth

    @property
    def twice(self):
        return self.v * 2.0

    @twice.setter
    def twice(self, k):
        self.v = k / 2.0


class Flag:
    def __init__(self, v):
        self.v = v

    def __bool__(self):
        self.v = self.v * 1.5
        return self.v > 1.0


class Sized:
    def __init__(self, v):
        self.v = v

    def __len__(self):
        self.v = self.v * 1.5
        return int(self.v > 1.0)


class Text(str):
    def __new__(cls, v, w):
        made = super().__new__(cls, v)
        made.w = w
        return made

    def value(self):
        return self.w * len(self)

    @property
    def square(self):
        return self.w**2

    def __eq__(self, other):
        return False

    __hash__ = str.__hash__


def trees(x):
    t = Node(x, Node(x * x, Node(x)), Node(2.0))
    t.twice = t.twice * x
    return t.total() * t.depth + t.twice


def truths(x):
    flags = [Flag(x), Flag(2 * x), Sized(x), Sized(2 * x)]
    chosen = sum(f.v for f in filter(None, flags)) + sum(f.v * 2 for f in itertools.filterfalse(None, flags))
    return chosen * flags[0].v + sum(f.v for f in itertools.takewhile(lambda q: q, flags))


def delegating(x):
    def items():
        yield from range(3)
        yield from "ab"
        last = yield from range(2)
        yield from b"ab"
        yield last

    return sum(x * x * (i if type(i) is int else 2.0) for i in items())


def made_named_tuples(x):
    def make(n):
        class Made(namedtuple("Made", "a b")):
            def scaled(self):
                return self.a * n + self.b

        return Made

    first, second = make(2.0), make(x)
    p = first(x, 1.0)._replace(b=x * x)
    q = second(x, 1.0)._replace(b=x)
    assert type(p) is first and type(q) is second
    return p.scaled() * q.scaled() + q._replace(a=2.0, b=x).scaled()


def texts(x):
    t = Text("abc", x)
    r = t.value() + t.square + t.w
    t.w = x * x
    return r + t.square * (t == "abc" or 2.0) + {t: x * 3}[t] * len(t.upper())


def orders_of_classes(x):
    class Base:
        k = 2.0

    class Derived(Base):
        pass

    return sum(getattr(c, "k", 0.0) * x * x for c in Derived.__mro__) + len(Derived.__bases__) * x


PROGRAMS = [trees, truths, delegating, made_named_tuples, texts, orders_of_classes]


@each_in_long_turn
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f):
    expected = differences.derivative(f, 0.7)
    for _ in range(4):  # after some, functions are no longer tried natively
        value, back = python_pullback(f, (0.7,), {})
        assert value == f(0.7)
        assert back(1.0)[0] == pytest.approx(expected, rel=1e-7)
    second = differences.derivative(lambda v: differences.derivative(f, v), 0.7)
    assert zyg.grad(zyg.grad(f))(0.7) == pytest.approx(second, rel=1e-4)


def test_named_tuples_that_functions_make_are_compiled_once():
    for _ in range(3):
        python_pullback(made_named_tuples, (0.7,), {})
    known = len(compile._cache)
    for _ in range(3):
        python_pullback(made_named_tuples, (0.7,), {})
    assert len(compile._cache) == known
