"""Generators that become part of loops: what they are given beside others is asked for its iterator when CPython asks."""

from __future__ import annotations

from itertools import islice

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
