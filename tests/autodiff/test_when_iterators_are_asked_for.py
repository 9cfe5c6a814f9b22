"""Generators that become part of loops: what they are given beside others is asked for its iterator when CPython asks."""

from __future__ import annotations

from itertools import islice, takewhile

import pytest

import zyg
from zyg.errors import ZygError

LOG: list[str] = []


class Snapshot:
    def __init__(self, values):
        self.values = values

    def __iter__(self):
        LOG.append("iter")
        return iter(list(self.values))


class Holder:
    def __init__(self, v):
        self.v = v

    def get(self):
        return self.v


class Other(Holder):
    def products(self, other, x):
        def items(s):
            yield super().get()
            yield s.v * x

        t = x
        for a, b in zip(items(other), items(self)):
            t += a * b
        for a in items(other):
            t += a * x
        return t


def zipped_with_what_a_generator_changes(x):
    def moves(o):
        LOG.append("step")
        o.values[1] = x * x * x
        yield x
        yield x * x

    o = Snapshot([x, 2.0 * x])
    t = x
    for a, b in zip(moves(o), o):
        t += a * b
    return t


def zipped_with_a_map(x):
    def cubes():
        LOG.append("step")
        yield x * x * x
        yield x

    o = Snapshot([x, 2.0 * x])
    t = x
    for a, b, c in zip(cubes(), map(abs, o), cubes()):
        t += a * b + c
    return t


def zipped_with_a_dict_that_grows(x):
    def adds(d):
        d["more"] = x
        yield x
        yield x

    t, d = x, {"a": x, "b": x}
    for a, k in zip(adds(d), d):
        t += a * d[k]
    return t


def zipped_with_a_number(x):
    def none(y):
        if y > 5:
            yield y

    t = x
    for a, b in zip(none(x), x):
        t += a * b
    return t


def none_of_a_map(x):
    n, t = 0, x
    for a in islice(map(abs, Snapshot([x])), n):
        t += a
    for a in islice(map(abs, 5), n):
        t += a
    return t


def a_slice_by_a_generator(x):
    def two(y):
        yield y * y
        yield y

    t = x
    for a in islice(two(x), two(x)):
        t += a
    return t


def super_in_a_generator(x):
    return Other(x).products(Other(x * x * 2), x)


def outcome(run):
    LOG.clear()
    try:
        return run(), list(LOG)
    except ZygError:
        raise
    except Exception as error:
        return type(error), list(LOG)


@pytest.mark.parametrize(
    "f",
    [
        zipped_with_what_a_generator_changes,
        zipped_with_a_map,
        zipped_with_a_dict_that_grows,
        zipped_with_a_number,
        none_of_a_map,
        a_slice_by_a_generator,
        super_in_a_generator,
    ],
)
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_effects_values_and_slopes_are_those_of_cpython(f):
    wanted, effects = outcome(lambda: f(0.7))
    found, seen = outcome(lambda: zyg.withgradient(f, 0.7))
    if isinstance(wanted, type):
        assert found is wanted
    else:
        value, (slope,) = found
        assert value == wanted
        assert slope == pytest.approx((f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6, rel=1e-6)
    assert seen == effects


def ended(z, limit=1.0):
    if z > limit:
        raise StopIteration(z * 0.5)
    return z * 0.75


def doubled(x):
    yield x
    yield 2.0 * x
    yield 4.0 * x


def in_a_map(x):
    return sum(y * x for y in map(ended, doubled(x)))


def in_a_filter_of_a_list(x):
    t = x
    for y in filter(ended, [x, 2.0 * x, 4.0 * x]):
        t = t * 0.5 + y
    return t


def in_a_map_of_what_is_not_native(x):
    t, seen = x, {}
    for y in map(ended, doubled(x)):
        seen[y] = t
        t = t * 0.5 + y
    return t + len(seen)


def in_takewhile(x):
    return sum(takewhile(ended, doubled(x)))


def in_a_generator(x):
    return sum(ended(y) for y in doubled(x))


@pytest.mark.parametrize(
    "f", [in_a_map, in_a_filter_of_a_list, in_a_map_of_what_is_not_native, in_takewhile, in_a_generator]
)
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_a_stop_iteration_is_the_end_of_an_iterator_of_the_library(f):
    """Which is refused where it happens; in a generator it becomes a RuntimeError."""
    _, (slope,) = zyg.withgradient(f, 0.2)
    assert slope == pytest.approx((f(0.2 + 1e-6) - f(0.2 - 1e-6)) / 2e-6, rel=1e-6)
    if f is in_a_generator:
        with pytest.raises(RuntimeError, match="generator raised StopIteration"):
            zyg.withgradient(f, 0.4)
    else:
        assert f(0.4) > 0.0
        with pytest.raises(
            zyg.Unsupported, match=r"StopIteration out of (a function|`.*ended`,) which an iterator calls"
        ):
            zyg.withgradient(f, 0.4)
