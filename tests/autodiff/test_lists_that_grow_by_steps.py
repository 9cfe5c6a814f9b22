"""Lists and deques that are extended by iterators which look at them meanwhile, by `extend` and `+=`; by what is there already; by iterators
that raise. Against differences."""

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


@pytest.mark.parametrize(
    "f", [of_itself, in_deques, by_map, grown_inside, already_begun, left_by_an_exception, by_what_is_there]
)
def test_lists_that_grow(f):
    check(f)


@each_in_long_turn
@pytest.mark.parametrize("f", [of_itself, in_deques, grown_inside, by_what_is_there])
def test_second_derivatives(f):
    check_second(f)
