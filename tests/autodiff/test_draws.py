"""Draws of the module `random` out of containers, and matches of patterns, through Python: their choices are constants."""

from __future__ import annotations

import random
import re
import warnings

import pytest

import zyg
from tests.autodiff.against_differences import check
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn


class Halves(random.Random):
    def random(self):
        return 0.5


def chosen(x):
    draws, total = random.Random(4), 0.0
    numbers = [x, 2.0 * x, x * x, 1.0]
    for k in range(4):
        total += sum(draws.choices(numbers)) + draws.choices(numbers[:4], [1, 2.0, 3, k])[0] * x
        found = draws.choices(tuple(numbers[-4:]), cum_weights=[1, 2, 3, x + 4.0], k=3)
        found[0] = found[1] * found[2]
        total += sum(found)
        numbers.append(found[1])
        pair = draws.sample(numbers, 2)
        total += pair[0] / (1.0 + pair[1] ** 2) + draws.sample(range(100), 3)[1] * x
        total += sum(draws.sample(numbers[:3], k=4, counts=[1, 2, 3])) + len(draws.choices("abc", k=2)[0]) * x
        numbers[draws.sample(range(4), k=1)[0]] = x**3
    return total


def test_items_that_are_chosen():
    check(chosen)


def test_objects_that_are_chosen():
    class Box:
        def __init__(self, value):
            self.value = value

    def boxes(x):
        draws = random.Random(1)
        made = [Box(x), Box(x * x), Box(1.0)]
        for box in draws.choices(made, weights=(1, 1, 2), k=6):
            box.value = box.value * x + 0.1
        return sum(box.value for box in draws.sample(made, 3))

    check(boxes)


def test_other_generators_populations_and_weights():
    class Weight:
        def __init__(self, value):
            self.value = value

        def __radd__(self, other):
            return self.value + other

        __add__ = __radd__

        def __gt__(self, other):
            return self.value > other

    def others(x):
        halves = Halves()
        total = sum(halves.choices([x, x * x, 1.0], k=2)) + sum(random.SystemRandom().choices([x], k=3))
        population = [x, x * x]
        draws = random.Random(7)
        return total + draws.choices(population, [Weight(1.0), Weight(x)])[0] + draws.sample([x], 1)[0]

    check(others)


def test_wrong_calls():
    def wrong(x, call):
        try:
            return call(random.Random(1), [x, x * x])
        except Exception as error:
            return x * len(str(error)) * len(type(error).__name__)

    for call in (
        lambda draws, items: draws.choices(items, 3),
        lambda draws, items: draws.choices(items, [1]),
        lambda draws, items: draws.choices(items, [0, 0]),
        lambda draws, items: draws.choices(items, [1, 2], cum_weights=[1, 2]),
        lambda draws, items: draws.choices([]),
        lambda draws, items: draws.choices(items, [1, 2], 3),
        lambda draws, items: draws.choices(items, kk=3),
        lambda draws, items: draws.sample(items, 3),
        lambda draws, items: draws.sample(items),
        lambda draws, items: draws.sample(set(items), 1),
        lambda draws, items: draws.sample(items, k=-1),
    ):
        check(lambda x, call=call: wrong(x, call), times=1)


@each_in_long_turn
def test_second_derivatives():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        got = zyg.gradient(lambda x: zyg.gradient(chosen, x)[0], 0.7)[0]
    wanted = differences.derivative(lambda x: pullback(chosen, (x,))[1](1.0)[0], 0.7)
    assert got == pytest.approx(wanted, rel=1e-6)


def test_matches():
    token = re.compile(r"(?P<number>\d+\.?\d*)|(?P<name>[a-z]+)|(?P<sign>[-+*])")

    def read(x):
        text, total, places = "3x + 4.5 yx - 2 * 7", 0.0, 0
        for found in token.finditer(text):
            if found["number"]:
                total += float(found.group(1)) * x + found.start("number") * x
            elif found.lastgroup == "name":
                total += len(found[2]) * x * x + found.end(2)
            else:
                total *= 1.0 + 0.1 * x
            places += found.span(0)[0]
            total += x * len(found.groups("-")[1]) + len(found.groupdict()) + len(found.string) * x
        found = token.match(text, places % 3)
        return total + places * x + (0.0 if found is None else x)

    check(read)


def test_numbers_that_matches_give_back():
    """What stands for groups that took no part, and the text that was searched, are objects of the program."""
    token = re.compile(r"(\d)|([a-z])")

    class Text(str):
        weight = 0.0

    def defaults(x):
        text = Text("1a")
        text.weight = x * x
        total = 0.0
        for found in token.finditer(text):
            total += sum(part for part in found.groups(x) if not isinstance(part, str))
            total += found.string.weight
        for found in token.finditer("1a"):
            total += sum(part for part in found.groups(x) if not isinstance(part, str))
        return total

    for _ in range(2):
        try:
            _, back = pullback(defaults, (0.7,))
            assert back(1.0)[0] == pytest.approx(differences.derivative(defaults, 0.7))
        except zyg.Unsupported as error:
            assert "groups" in str(error) or "string" in str(error)


def test_other_iterators_of_that_type():
    def until(x):
        left = [x, 2.0 * x, x * x, 0.0]
        total = 0.0
        for v in iter(lambda: left.pop(0), 0.0):
            total += v * v
        return total

    check(until)
