"""Functions with a cache tell numbers apart by identity: of one float object in several places, too, each has its own derivative, or
the call is refused."""

from __future__ import annotations

import functools

import pytest

import zyg
from zyg.autodiff.objects.api import pullback


@functools.cache
def square(a):
    return a * a


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


def test_one_object_as_two_arguments():
    x = 3.0
    assert pullback(lambda x, y: square(x) + 10 * square(y), (x, x))[1](1.0) == (6.0, 60.0)
    assert pullback(lambda x, y, z: square(x) + 10 * square(y) + 100 * square(z), (x, x, x))[1](1.0) == (
        6.0,
        60.0,
        600.0,
    )
    assert pullback(lambda x: square(x) + square(x), (x,))[1](1.0) == (12.0,)


def test_signs_and_nans_stay():
    for x in (-0.0, float("nan"), float("-inf")):
        value, _ = pullback(lambda x, y: (x, y), (x, x))
        assert str(value) == str((x, x))


@pytest.mark.parametrize(
    "f, args",
    [
        (lambda xs: square(xs[0]) + 10 * square(xs[1]), lambda x: ([x] * 2,)),
        (lambda p: square(p.a) + 10 * square(p.b), lambda x: (Pair(x, x),)),
        (lambda x, xs: square(x) + 10 * square(xs[0]), lambda x: (x, [x])),
        (lambda d: square(d["a"][0]) + 10 * square(d["b"]), lambda x: ({"a": (x,), "b": x},)),
    ],
)
def test_one_object_in_several_places_is_refused(f, args):
    with pytest.raises(zyg.Unsupported, match="one object in several places"):
        pullback(f, args(3.0))


def test_others_are_not():
    a, b = 3.0, float("4")
    assert pullback(lambda xs: square(xs[0]) + 10 * square(xs[1]), ([a, b],))[1](1.0) == ([6.0, 80.0],)
    assert pullback(lambda xs, y: sum(xs) + square(y), ([a, a], b))[1](1.0) == ([1.0, 1.0], 8.0)
