"""What it takes to forget what is known of classes and functions depends on the program that changes them, and on no other one.

Counted in calls of functions, Python's and C's, not in seconds."""

from __future__ import annotations

import functools
import linecache
import sys

import pytest

import zyg
from zyg.backend import pulls


class Scale:
    factor = 2.0
    made = 0

    def __init__(self, x):
        self.x = x
        Scale.made += 1  # a number of the class that changes at each call

    def scaled(self):
        return self.x * self.factor


def power(x, n=2):
    return x**n


def cube(x, n=2):
    return x * x * x


def scaled_power(x):
    try:
        return Scale(x).scaled() + power(x)
    finally:
        pass


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_changes_are_seen_by_native_code(monkeypatch):
    pulls.STANDING.start()
    gradient = zyg.grad(scaled_power)

    def check(expected):
        for _ in range(3):
            assert gradient(3.0) == pytest.approx(expected)

    check(2.0 + 6.0)
    monkeypatch.setattr(Scale, "factor", 5.0)
    check(5.0 + 6.0)
    monkeypatch.setattr(power, "__defaults__", (3,))
    check(5.0 + 27.0)
    monkeypatch.setattr(Scale, "scaled", lambda self: self.x * self.x)
    check(6.0 + 27.0)
    monkeypatch.setattr(power, "__code__", cube.__code__)
    check(6.0 + 27.0)
    monkeypatch.setattr(power, "__code__", (lambda x, n: 7.0 * x).__code__)
    check(6.0 + 7.0)
    monkeypatch.setattr(Scale, "__init__", lambda self, x: setattr(self, "x", 2.0 * x))
    check(8.0 * 3.0 + 7.0)


def defaults_set(x, y):
    def g(a):
        return a * a

    g.__defaults__ = (y,)
    return x * g()


def code_set(x, y):
    def f(a):
        return a * 2

    def g(a):
        return a * a

    r = f(x)
    f.__code__ = g.__code__
    return r + f(y)


def operators_set(x, y):
    class E:
        def __init__(self, v):
            self.v = v

    E.__mul__ = lambda a, b: E(a.v * b.v)
    return (E(x) * E(y)).v


def ordered(x, y):
    @functools.total_ordering
    class A:
        def __init__(self, v):
            self.v = v

        def __lt__(self, other):
            return self.v < other.v

    return max(A(x), A(y)).v * x if A(x) <= A(y) else x


OTHER = """
def f(x):
    class C:
        def __init__(self, v): self.v = v
        def m(self): return self.v * 2.0
    def inner(v): return C(v).m() + h(v)
    def h(v): return v * v
    try: return sum(inner(v) for v in (x, 2.0 * x))
    finally: pass
"""


def other(number):
    """A function of its own that is differentiated through Python, too."""
    name = f"<other {number}>"
    linecache.cache[name] = len(OTHER), None, OTHER.splitlines(True), name
    namespace = {}
    exec(compile(OTHER, name, "exec"), namespace)
    return namespace["f"]


def calls_of(f):
    count = 0

    def counting(frame, event, arg):
        nonlocal count
        count += event in ("call", "c_call")

    gradient = zyg.grad(f, (0, 1))
    for _ in range(5):
        gradient(1.5, 2.0)
    sys.setprofile(counting)
    try:
        gradient(1.5, 2.0)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_other_functions_cost_nothing():
    functions = defaults_set, code_set, operators_set, ordered
    before = [*map(calls_of, functions)]
    for number in range(12):
        zyg.gradient(other(number), 1.5)
    for f, count in zip(functions, before):
        assert calls_of(f) < count + 12 * 12, f.__name__
