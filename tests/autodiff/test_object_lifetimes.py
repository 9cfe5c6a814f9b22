"""What the Python back end knows of a program goes with it: classes, functions and code objects that are made at run time."""

from __future__ import annotations

import gc
import sys
import types
import weakref

import pytest

from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.shadows import joined_now
from zyg.fallback import python_pullback

pytestmark = each_in_turn


def gradient(f, x):
    _, back = python_pullback(f, (x,), {})
    return back(1.0)[0]


def with_class(x):
    class P:
        scale = 0.5

        def __init__(self, v, w=1.0):
            self.v = v
            self.w = w

        @property
        def area(self):
            return self.v * self.w

        def step(self, h):
            self.v = self.v + h * self.scale
            return self

        def __add__(self, other):
            return P(self.v + other.v)

    made.append(weakref.ref(P))
    p = P(x)
    for _ in range(3):
        p = p.step(0.1) + p
    return p.area + p.v


SOURCE = """
class Q:
    __slots__ = ("v",)
    def __init__(self, v):
        self.v = v
    def m(self, k=2.0):
        return self.v * k
def g(x, *, k=1.0):
    return x * k
def f(x):
    q, items = Q(x), []
    for i in range(3):
        items.append(q.m() + g(x) + g(x, k=3.0))
    return items[0] + items.pop()
"""

made: list[weakref.ref] = []


@pytest.fixture(autouse=True)
def nothing_made():
    made.clear()


def test_classes_made_in_functions():
    for _ in range(5):
        assert gradient(with_class, 1.5) == 16.0
    gc.collect()
    assert len(made) == 5 and not any(r() for r in made)


def test_code_made_by_exec():
    for _ in range(5):
        scope = {}
        exec(SOURCE, scope)
        assert gradient(scope["f"], 1.5) == 12.0
        made.extend(weakref.ref(x) for x in (scope["f"].__code__, scope["g"].__code__, scope["Q"]))
        del scope
    gc.collect()
    assert not any(r() for r in made)


def test_what_is_replaced_in_its_module():
    module = sys.modules["a_module_that_changes"] = types.ModuleType("a_module_that_changes")
    try:
        for _ in range(5):
            exec(SOURCE, module.__dict__)
            assert gradient(module.f, 1.5) == 12.0
            made.extend(weakref.ref(x) for x in (module.f.__code__, module.g.__code__, module.Q))
        gc.collect()
        assert sum(r() is not None for r in made) == 3
        module.__dict__.clear()
    finally:
        del sys.modules["a_module_that_changes"]


def test_what_is_captured():
    class Big:
        v = 2.0

    def outer():
        big = Big()
        made.append(weakref.ref(big))
        return lambda x: x * big.v

    for _ in range(5):
        h = outer()
        assert gradient(lambda x, h=h: h(x), 1.5) == 2.0
        del h
    gc.collect()
    assert not any(r() for r in made)


class Missed(Exception):
    pass


class Thrown:
    def __init__(self, height):
        self.height = height
        vars(self)["speed"] = height * height

    def move(self, x):
        if x > 1.0:
            raise Missed(x)
        self.height = self.height * x


def with_dicts_of_attributes(x):
    thrown = Thrown(x)
    for k in range(3):
        try:
            thrown.move(0.5 * x + 0.3 * k)
        except Missed:
            thrown.speed = thrown.speed * x
    return thrown.height * thrown.speed


@each_in_long_turn
def test_second_derivatives_leave_nothing_to_later_ones():
    """An object and its dict have one shadow. Those of shadows had, too, which were as many again with each derivative."""
    gc.collect()
    gc.disable()
    try:
        counts = []
        for _ in range(3):
            assert gradient(lambda x: gradient(with_dicts_of_attributes, x), 1.2) == pytest.approx(12 * 1.2**3)
            counts.append(len(joined_now()))
    finally:
        gc.enable()
    assert counts[2] - counts[1] == counts[1] - counts[0] <= 4
