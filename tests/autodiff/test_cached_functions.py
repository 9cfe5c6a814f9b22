"""Functions with a cache tell numbers apart by identity: of one float object in several places, too, each has its own derivative, or
the call is refused."""

from __future__ import annotations

import functools

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn


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


def test_how_often_the_cache_hits_is_refused():
    @functools.cache
    def called(a):
        return a * a

    def f(x):
        return called(x) * called(x) * called.cache_info().hits

    with pytest.raises(zyg.Unsupported, match="cache_info"):
        pullback(f, (3.0,))
    assert pullback(lambda x: x * square.cache_info().currsize, (3.0,))[0] == 3.0 * square.cache_info().currsize


def test_others_are_not():
    a, b = 3.0, float("4")
    assert pullback(lambda xs: square(xs[0]) + 10 * square(xs[1]), ([a, b],))[1](1.0) == ([6.0, 80.0],)
    assert pullback(lambda xs, y: sum(xs) + square(y), ([a, a], b))[1](1.0) == ([1.0, 1.0], 8.0)


# ------------------------------------------------------------- what depends on more than its arguments

WEIGHTS = [1.0]


class Holder:
    weight = 1.0


@functools.lru_cache
def by_global(n, *, shift=0):
    return n * WEIGHTS[0] + shift


@functools.lru_cache(maxsize=1)
def of_one(n):
    return n * WEIGHTS[0]


@functools.cache
def by_class(n):
    return n * Holder.weight if n < 2 else by_class(n - 1) * Holder.weight + by_class(n - 2)


@functools.cache
def several(n):
    return (n * WEIGHTS[0], WEIGHTS[0] ** n), [WEIGHTS[0], n]


def globals_read(x):
    WEIGHTS[0] = x
    by_global.cache_clear()
    total = by_global(3) + by_global(3) * x + by_global(3, shift=2) * by_global(3, shift=2)
    WEIGHTS[0] = x * x
    total += by_global(3) * by_global(4)
    by_global.cache_clear()
    return total + by_global(3) * by_global(3)


def evicted(x):
    of_one.cache_clear()
    total = 0.0
    for n in (3, 3, 2, 3, 3, 2):
        WEIGHTS[0] = x + total
        total += of_one(n) * x
    return total


def attributes_of_classes(x):
    Holder.weight = x
    by_class.cache_clear()
    return by_class(4) + by_class(4) * by_class(3)


def defaults(x):
    @functools.lru_cache
    def by_default(n, w=x, *, v=2.0 * x):
        return n * w * v

    return by_default(3) + by_default(3) * by_default(2)


def structured(x):
    several.cache_clear()
    WEIGHTS[0] = x
    several(3)[1][0] *= x
    (a, b), (c, _) = several(3)
    return a * several(3)[0][1] + b * c + several(3)[1][0] + several(2)[0][0]


@each_in_long_turn
@pytest.mark.parametrize("f", [globals_read, evicted, attributes_of_classes, defaults, structured])
def test_hits_have_the_derivative_of_what_came_into_the_cache(f):
    def slope(x):
        return pullback(f, (x,))[1](1.0)[0]

    for of in (f, slope):
        for _ in range(2):
            value, back = pullback(of, (0.7,))
            assert value == pytest.approx(of(0.7), rel=1e-14)
            assert back(1.0)[0] == pytest.approx(differences.derivative(of, 0.7), rel=1e-8)


def test_what_was_there_before_is_a_constant():
    WEIGHTS[0] = 5.0
    by_global.cache_clear()
    by_global(3)

    def kept(x):
        WEIGHTS[0] = x
        return by_global(3) * x + by_global(2)

    value, back = pullback(kept, (2.0,))
    assert (value, back(1.0)) == (34.0, (17.0,))
    assert pullback(kept, (3.0,))[1](1.0) == (15.0,)


def test_what_is_made_once_stays():
    @functools.cache
    def registry():
        return {"calls": 0}

    def through(x):
        made = registry()
        made["calls"] += 1
        return x * made["calls"] * len(registry())

    through(1.0)
    assert pullback(through, (2.0,))[1](1.0) == (2.0,)
    assert registry() == {"calls": 2}


@functools.cache
def triangle(n):
    return n if n < 2 else n + triangle(n - 1)


SCALE = 2.0


@functools.cache
def scaled(n):
    return SCALE * n


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_calls_with_constants():
    def f(x):
        total = 0.0
        for k in range(5):
            total += triangle(k) * x ** triangle(2) + square(0.5 * k) * square(x)
        return total

    assert pullback(f, (0.9,))[0] == f(0.9)
    assert pullback(f, (0.9,))[1](1.0)[0] == pytest.approx(differences.derivative(f, 0.9), rel=1e-8)
    second = zyg.derivative(zyg.derivative(lambda x: f(x) * scaled(3)))(0.9)
    assert second == pytest.approx(differences.derivative(zyg.derivative(lambda x: f(x) * scaled(3)), 0.9), rel=1e-6)


def test_constants_and_globals_that_change():
    global SCALE

    def f(x):
        return x * scaled(7)

    for SCALE in (2.0, 3.0):
        scaled.cache_clear()
        assert pullback(f, (0.9,))[1](1.0) == (7.0 * SCALE,)
    SCALE = 2.0


def test_a_cache_is_counted_as_in_python():
    @functools.cache
    def double(n):
        return 2 * n

    def f(x):
        total = x * double(3) + x * double(3) + double(4)
        return total + double.cache_info().hits

    value, back = pullback(f, (0.9,))
    double.cache_clear()
    assert (value, back(1.0)) == (f(0.9), (12.0,))
