"""`a, b = (... for ...)`, `a, b = map(f, xs)` and `for i, x in enumerate(generator())`: values, first and second derivatives, how many
items are taken, and exceptions, as in CPython."""

# ruff: noqa: C417, RUF059

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.autodiff.tried import derivative, in_a_try
from tests.oracles import differences
from tests.turns import by_one_python_a_day
from zyg.autodiff.objects.api import pullback


def pairs_of_expressions(x):
    total, items = 0.0, {1: x, 2: 2.0}
    for k in range(4):
        a, b = (v * x * k for v in items.values())
        (c,) = (a * b for _ in range(1))
        total = total * 0.5 + a - b * c
        items[k % 2 + 1] = total
    return total


def filtered(x):
    a, b, c = (v * u for v in (x, 2.0, 3.0) if v != 2.0 for u in (x * x, -1.0) if u < 0.0 or v == x)
    return a * b + c


def nested(x):
    (a, b), c = (tuple(p * q for p in (x, 2.0)) if q else q * x for q in (3.0, 0))
    return a * b - c + a


def captured(x):
    scale, seen = x * 2.0, []

    def noted(v):
        seen.append(v * scale)
        return seen[-1]

    a, b = (noted(v) for v in (x, 3.0))
    scale = 1.0
    return a * b + sum(seen) * scale


def starred(x):
    first, *rest = (v * x for v in (1.0, x, 3.0))
    *others, last = (v * x for v in rest)
    rest[0] = 0.0
    return first * last + sum(others) + sum(rest)


def mapped(x):
    total = 0.0
    for k in range(4):
        a, b = map(lambda v: v * x + k, (k, x))
        c, d = map(abs, [a, -b])
        e, f = map(lambda u, v: u * v, [a, b], (x, 2.0))
        g, h = map(float, range(2))
        total = total * 0.3 + a * b + c * d + e * f * (g + h)
    return total


def mapped_twice(x):
    items = (x, x * x)
    a, b = map(lambda v: v * 3.0, items)
    c, d = map(lambda v: v * a, items)
    return a * b * c + d + items[0]


def mapped_and_changed(x):
    """What is mapped changes what is gone through, and the items change afterwards."""
    items = [x, 2.0 * x]

    def step(v):
        items[1] = items[1] * v
        return [v * 2.0]

    a, b = map(step, items)
    items[0] = 1.0
    a[0] = a[0] * x
    return a[0] * b[0] + items[1]


def mapped_partly(x):
    """An iterator goes on behind what has been taken."""
    it = map(lambda v: v * x, [x, 1.0, 2.0, 3.0])
    total = next(it)
    try:
        a, b = it  # takes all three
        total += 100.0
    except ValueError:
        total += x
    return total + sum(it)


def too_many(x):
    """No more than one too many are made."""
    seen = []
    total = 0.0

    def noted(v):
        seen.append(v)
        return v

    for items in ((1.0, x), (x, 2.0, 3.0), (2.0, x, 3.0, 4.0)):
        try:
            a, b = (noted(v * x) for v in items)
            total += a * b
        except ValueError as error:
            total += x * len(str(error))
        try:
            a, b = map(noted, items)
            total += a * b
        except ValueError as error:
            total += x * len(str(error))
    return total + sum(seen) + len(seen)


def endless(x):
    try:
        a, b = (v * x for v in itertools.count())
    except ValueError:
        return x * x
    return 0.0


def too_few(x):
    total = 0.0
    for items in ((), (x,), (x, x)):
        try:
            a, b = (v * x for v in items)
            total += a * b
        except ValueError as error:
            total += x * len(str(error))
        try:
            a, b = map(lambda v: v * x, items)
            total += a * b
        except ValueError as error:
            total += x * len(str(error))
    return total


def failing(x):
    """An exception out of an item; what was done before is undone."""
    state = [x]
    total = 0.0

    def step(v):
        if v > 2.0:
            raise KeyError(v)
        state[0] = state[0] * v
        return state[0]

    for items in ((1.5, 1.2), (1.5, 3.0), (3.0, 1.5)):
        try:
            a, b = (step(v * x) for v in items)
            total += a * b
        except KeyError as error:
            total += error.args[0] * state[0]
        try:
            a, b = map(step, [v * x for v in items])
            total += a * b
        except KeyError as error:
            total += error.args[0] * state[0]
    return total + state[0]


def numbered(x):
    def steps(items):
        prev = 0.0
        for v in items:
            prev = prev * 0.5 + v * x
            yield prev

    total, seen = 0.0, {}
    for i, v in enumerate(steps([1.0, x, 2.0])):
        seen[i] = v * i
        total += v
    for i, v in enumerate(steps(steps([1.0, x])), 3):
        seen[i] = v * i
    for i, v in enumerate(steps([x] * 5), start=1):
        if i == 3:
            break
        total += v * v * i
    items = steps([x, x])
    for i, v in enumerate(items, -1):
        total += i * v
        for w in items:  # the same generator
            total += w
    return total + sum(seen.values())


def numbered_and_failing(x):
    state = [x]

    def steps(n):
        try:
            for k in range(n):
                if k == 2:
                    raise ValueError(k)
                state[0] = state[0] * x
                yield state[0]
        finally:
            state[0] = state[0] + x

    total = 0.0
    for n in (1, 2, 4):
        try:
            for i, v in enumerate(steps(n)):
                total += i * v + v
        except ValueError:
            total += state[0]
    return total


PROGRAMS: dict[str, Any] = {
    f.__name__: f
    for f in (
        pairs_of_expressions, filtered, nested, captured, starred, mapped, mapped_twice, mapped_and_changed, mapped_partly, too_many,
        endless, too_few, failing, numbered, numbered_and_failing,
    )
}  # fmt: skip


@by_one_python_a_day
@pytest.mark.parametrize("watched", [False, True], ids=["plain", "watched"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name, watched):
    f = in_a_try(PROGRAMS[name]) if watched else PROGRAMS[name]
    for x in (0.7, 1.1, 0.7):
        y, back = pullback(f, (x,))
        assert y == f(x)
        assert back(1.0)[0] == pytest.approx(differences.derivative(f, x), rel=1e-8)


@by_one_python_a_day
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives(name):
    f = PROGRAMS[name]
    second = derivative(lambda x: derivative(f, x), 0.9)
    assert second == pytest.approx(differences.derivative(lambda x: derivative(f, x), 0.9), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("items", [(), (1.0,), (1.0, 2.0, 3.0), (1.0, 2.0, 3.0, 4.0)])
def test_messages(items):
    def of_expression(x):
        a, b = (v * x for v in items)
        return a * b

    def of_map(x):
        a, b = map(lambda v: v * x, items)
        return a * b

    def with_rest(x):
        a, b, c, d, e, *rest = (v * x for v in items)
        return a * b

    for f in (of_expression, of_map, with_rest):
        with pytest.raises(ValueError) as expected:
            f(1.5)
        with pytest.raises(ValueError) as found:
            pullback(f, (1.5,))
        assert str(found.value) == str(expected.value)


def test_a_generator_expression_that_raises_stop_iteration():
    def f(x):
        a, b = (next(iter(())) * x for _ in (1, 2))
        return a * b

    with pytest.raises(RuntimeError, match="generator raised StopIteration"):
        f(1.0)
    with pytest.raises(RuntimeError, match="generator raised StopIteration"):
        pullback(f, (1.0,))
