"""`cycle`, `repeat` and `count` with others: in loops, `zip`, `compress`, `islice`, `takewhile`, `map`, `starmap`, each other. Against differences."""

from __future__ import annotations

import itertools
import operator

import pytest

from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn


def zipped(x):
    xs, ws = [x, x * x, 2.0, 3.0 * x, x + 1.0], [x, 2.0]
    total = sum(a * w for a, w in zip(xs, itertools.cycle(ws)))
    total += sum(a * w * k for k, a, w in zip(itertools.count(), xs, itertools.repeat(x)))
    for (a, b), c, k in zip(
        itertools.combinations(xs, 2), itertools.cycle((x, 1.0, x * x)), itertools.count(x, 2.0 * x)
    ):
        total += a * b * c + k
    for k, (a, w) in enumerate(zip(xs, itertools.cycle(ws)), 1):
        total += a * w * k
    return total + sum(dict(zip(itertools.count(), xs)).values())


def chosen(x):
    xs = [x, x * x, 2.0, 3.0 * x, x + 1.0]
    total = sum(itertools.compress(xs, itertools.cycle([1, 0]))) + sum(itertools.compress((x, 2.0, x * x), [0, 1, 1]))
    total += sum(itertools.compress(itertools.cycle(xs), [1, 0, 0, 1, 1, 0, 1]))
    total += sum(itertools.islice(itertools.cycle(xs), 3, 9)) + sum(itertools.islice(itertools.repeat(x), 3))
    total += sum(itertools.takewhile(lambda v: v < 6.0, itertools.count(x, x))) + sum(itertools.repeat(x, 4))
    return total + next(v for v in itertools.count(x) if v > 3.0) + next(itertools.cycle(xs))


def called(x):
    xs = [x, x * x, 2.0]
    pairs = map(operator.mul, itertools.count(x), itertools.repeat(x))
    total = sum(itertools.islice(pairs, 1, 4)) + sum(map(operator.mul, xs, itertools.cycle([x, 1.0])))
    total += sum(map(lambda a, b: a * b, itertools.cycle(xs), range(5)))
    endless = zip(itertools.cycle(xs), itertools.count(1), itertools.repeat(x))
    total += sum(a * b * c for a, b, c in itertools.islice(endless, 5))
    for k, v in enumerate(itertools.cycle(xs)):
        if k == 5:
            break
        total += v * k
    several = itertools.tee(itertools.cycle(xs))
    return total + next(several[0]) * next(itertools.chain(itertools.repeat(x), xs)) + next(several[1])


def looked_at(x):
    steps, total = itertools.cycle([x, 2.0 * x]), 0.0
    for v in steps:
        total += v
        if total > 5.0:
            break
    total += next(steps) * next(steps)
    for _ in itertools.repeat(None, 3):
        total *= x
    first, second = itertools.repeat(x, 2)
    return total + first * second + sum(itertools.cycle([])) + any(v > 9.0 for v in itertools.count(x))


def numbered(x):
    """Counters that were made before, whole numbers and others, as classes have them."""
    total, numbers, heights = 0.0, Event.numbers(), Event.heights
    for event in [Event(x * k) for k in range(4)]:
        total += event.time * (event.number - numbers)
    for _, n in zip(range(3), Event.counter):
        total += (n - numbers) * x
    return total + (next(heights) - next(heights)) * x + (next(Event.counter, None) - numbers) * x * x


class Event:
    counter = itertools.count()
    heights = itertools.count(0.5, 0.25)

    def __init__(self, time):
        self.time = time
        self.number = next(self.counter)

    @classmethod
    def numbers(cls):
        return next(cls.counter)


@pytest.mark.parametrize("f", [zipped, chosen, called, looked_at, numbered])
def test_first_derivatives(f):
    check(f)


@each_in_long_turn
@pytest.mark.parametrize("f", [zipped, chosen, called, looked_at, numbered])
def test_second_derivatives(f):
    check_second(f)
