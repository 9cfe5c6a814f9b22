"""Transforms of functions whose values are instances, nested or in several places; natively and through Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = [each_in_turn, pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")]


class Plain:
    def __init__(self, a, b):
        self.a, self._b = a, b


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


@dataclass
class Data:
    a: float
    b: float


@dataclass(frozen=True)
class Frozen:
    a: float
    b: float


class Named(NamedTuple):
    a: float
    b: float


@dataclass
class Outer:
    inner: Any
    items: Any
    table: Any


def nested(a, b):
    return Outer(Data(a, b), [Named(a, b), (b, Plain(a, b))], {"x": [Frozen(b, a)], "y": np.array([a, b])})


def twice(a, b):
    o = Plain(a, b)
    return [o, o]


def numbers(v):
    """The numbers in a structure, in order."""
    if isinstance(v, np.ndarray):
        return v.tolist()
    if isinstance(v, dict):
        return [n for part in v.values() for n in numbers(part)]
    if isinstance(v, (tuple, list)):
        return [n for part in v for n in numbers(part)]
    return [] if v is None else [v]


def function(make, objects):
    def native(x):
        return make(x * x, x * 3.0)

    def through_python(x):
        {x: 1, ("a",): 2}.clear()
        return make(x * x, x * 3.0)

    return through_python if objects else native


SLOPES = {
    **{make: [4.0, 3.0] for make in (Plain, Slotted, Data, Frozen, Named)},
    nested: [4.0, 3.0, 4.0, 3.0, 3.0, 4.0, 3.0, 3.0, 4.0, 4.0, 3.0],
    twice: [4.0, 3.0, 4.0, 3.0],
}


@pytest.mark.parametrize("objects", [False, True])
@pytest.mark.parametrize("make", SLOPES)
def test_instances_have_tangents_and_jacobians(make, objects):
    f = function(make, objects)
    assert numbers(zyg.jvp(f, (2.0,), (1.0,))[1]) == SLOPES[make]
    assert numbers(zyg.pushforward(f, 2.0)[1](1.0)) == SLOPES[make]
    assert numbers(zyg.jacobian(f, 2.0)) == SLOPES[make]


def test_fields_have_the_names_that_they_have_in_gradients():
    tangent = zyg.jvp(function(Plain, True), (2.0,), (1.0,))[1]
    assert (tangent.a, tangent.b) == (4.0, 3.0)


@pytest.mark.parametrize("objects", [False, True])
def test_one_object_has_one_cotangent(objects):
    _, back = zyg.pullback(function(twice, objects), 2.0)
    assert back([Plain(1.0, 10.0), None]) == (34.0,)
    with pytest.raises(TypeError, match="the value holds before: give all of its cotangent there"):
        back([Plain(1.0, 10.0), Plain(2.0, 20.0)])


def test_one_object_has_one_cotangent_in_compiled_code():
    def f(x):
        _, back = zyg.pullback(lambda y: twice(y * y, y * 3.0), x)
        return back([[1.0, 10.0], [2.0, 20.0]])[0]

    def g(x):
        _, back = zyg.pullback(lambda y: twice(y * y, y * 3.0), x)
        return back([[1.0, 10.0], None])[0]

    def numbers_and_arrays(x):
        def both(y):
            a = np.array([y * y, y * 3.0])
            return a, a, a[0], a[0]

        _, back = zyg.pullback(both, x)
        return back((np.array([1.0, 10.0]), np.array([2.0, 20.0]), 100.0, 200.0))[0]

    with pytest.raises(zyg.Unsupported, match=r"two entries, .* for one object"):
        zyg.jit(f)(2.0)
    assert zyg.jit(g)(2.0) == 34.0
    assert zyg.jit(numbers_and_arrays)(2.0) == 3 * 4 + 30 * 3 + 300 * 4


def test_what_holds_itself_has_tangents_but_no_jacobian():
    def f(x):
        o = Plain(x * x, None)
        o._b = {("me", 1): o}
        return o

    assert zyg.jvp(f, (2.0,), (1.0,))[1].a == 4.0
    with pytest.raises(zyg.Unsupported, match="holds itself"):
        zyg.jacobian(f, 2.0)
