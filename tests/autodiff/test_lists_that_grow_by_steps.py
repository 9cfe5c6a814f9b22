"""Lists and deques that are extended, and sets that are updated, by iterators which look at them meanwhile, by `extend` and `+=`; by what is
there already; by iterators that raise. Against differences."""

from __future__ import annotations

import itertools
from collections import deque

import pytest

from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn


def of_itself(x):
    xs = [x]
    xs.extend(xs[-1] * x for _ in range(3))
    xs += (xs[-1] * xs[0] * k for k in range(3))
    return sum(v * k for k, v in enumerate(xs))


def in_deques(x):
    xs, last = deque([x]), deque([x, x * x], maxlen=3)
    xs.extend(xs[-1] * x for _ in range(3))
    last.extend(last[0] * x + last[-1] for _ in range(4))
    return sum(xs) + sum(v * k for k, v in enumerate(last))


def by_map(x):
    xs = [1.0, x]
    xs.extend(map(lambda k: xs[-1] * xs[-2] + k, [x, 0.5, x * x]))  # noqa: C417
    xs.extend(itertools.accumulate(xs[:3]))
    return sum(v * v for v in xs)


def grown_inside(x):
    xs = [x]

    def steps():
        for k in range(3):
            xs.append(k * x)
            yield xs[-1] * x + xs[0]
            xs[0] = xs[0] * 1.5

    xs.extend(steps())
    return sum((k + 1) * v for k, v in enumerate(xs))


def already_begun(x):
    items = (x * k for k in range(5))
    next(items)
    xs = [x]
    xs.extend(itertools.islice(items, 2))
    xs.extend(items)
    xs.extend(items)
    return xs[0] * xs[1] + xs[2] * xs[4]


def left_by_an_exception(x):
    xs = [x]

    def steps():
        yield x * xs[-1]
        yield x + xs[-1]
        raise ValueError

    try:
        xs.extend(steps())
    except ValueError:
        xs.append(xs[-1] * xs[-2])
    try:
        xs.extend(zip([x, 2 * x], (x,), strict=True))
    except ValueError:
        xs.append(xs.pop()[0] if type(xs[-1]) is tuple else x)
    return sum(v * k for k, v in enumerate(xs))


def by_what_is_there(x):
    xs: list = []
    xs.extend((x, x * x))
    xs.extend(deque([2 * x]))
    pairs: list = [(x, 1.0)]
    pairs.extend(zip(xs, xs[1:]))  # noqa: RUF007
    pairs.extend(enumerate(xs))
    return sum(a * b for a, b in pairs) + sum(xs)


def sets_of_numbers(x):
    found = {x}
    found.update(k * x + len(found) for k in range(4))
    found.update(min(found) * k for k in (1, 1, 2))
    held = set()
    held.update(v % 3 for v in range(7))
    return sum(v * v for v in found) * len(held)


def sets_changed_inside(x):
    state, found = [x], set()

    def steps():
        for k in range(5):
            state[0] = state[0] * x + k
            found.add(float(k))
            yield state[0] if k % 2 else float(k)
        state.append(state[0] * x)

    items = steps()
    next(items)
    found.update(items)
    found.update(items)
    return sum(found) + state[0] * state[1]


def sets_left_by_an_exception(x):
    def steps(last):
        yield x
        yield x * x
        yield last
        yield x + 1.0

    def failing():
        yield 3 * x
        raise ValueError

    found, items, total = set(), steps([x]), 0.0
    try:
        found.update(items)
    except TypeError:
        total += next(items) * x
    try:
        found.update(failing())
    except ValueError:
        total += len(found) * x
    return total + sum(v * v for v in found) + sum(1 for _ in items)


@pytest.mark.parametrize(
    "f",
    [
        of_itself,
        in_deques,
        by_map,
        grown_inside,
        already_begun,
        left_by_an_exception,
        by_what_is_there,
        sets_of_numbers,
        sets_changed_inside,
        sets_left_by_an_exception,
    ],
)
def test_lists_that_grow(f):
    check(f)


@each_in_long_turn
@pytest.mark.parametrize(
    "f",
    [
        of_itself,
        in_deques,
        grown_inside,
        by_what_is_there,
        sets_of_numbers,
        sets_changed_inside,
        sets_left_by_an_exception,
    ],
)
def test_second_derivatives(f):
    check_second(f)
