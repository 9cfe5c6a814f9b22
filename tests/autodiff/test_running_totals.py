"""`itertools.accumulate` of lists, with and without what it begins with, by operators and functions; all at once, in part, and later."""

import itertools
import operator

import pytest

from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn

FUNCTIONS = {
    "plus": None, "times": operator.mul, "greatest": max, "least": min, "minus": operator.sub, "own": lambda p, q: p * q + 1.0,
}  # fmt: skip
BEGINNINGS = {
    "none": lambda x: None,
    "number": lambda x: x,
    "square": lambda x: x * x,
    "constant": lambda x: 2.0,
    "integer": lambda x: 3,
}


def in_part(totals):
    s = 0.0
    for k, v in enumerate(totals):
        s += v * k
        if k == 2:
            break
    return s + next(totals)


def behind_a_change(totals, items):
    items.append(5.0 * items[0])
    return sum(totals)


USES = [
    lambda totals, items: sum(totals), lambda totals, items: list(totals)[-1], lambda totals, items: [v * v for v in totals][2],
    lambda totals, items: 3.0 * next(totals) + sum(totals), lambda totals, items: max(totals), lambda totals, items: in_part(totals),
    lambda totals, items: sum(v * w for v, w in zip(totals, items)), behind_a_change,
    # Totals that are left aside have those before them in them.
    lambda totals, items: sum(itertools.islice(totals, 1, None, 2)), lambda totals, items: sum(itertools.islice(totals, 2, 3)),
    lambda totals, items: sum(itertools.compress(totals, [0, 1, 0, 1])), lambda totals, items: next(itertools.islice(totals, 3, 4)),
    lambda totals, items: sum(itertools.dropwhile(lambda v: v < 3.0, totals)), lambda totals, items: sum(filter(lambda v: v > 3.0, totals)),
    lambda totals, items: sum(itertools.filterfalse(lambda v: v > 3.0, totals)) + sum(totals),
    lambda totals, items: sum(v for v in totals if v > 3.0) + next(iter([x for k, x in enumerate(items) if k == 2])),
]  # fmt: skip


def program(function, begin):
    def f(x):
        total = x
        for use in USES:
            items = [x, 2.0, x * x, 3.0 * x]
            total += use(itertools.accumulate(items, function, initial=begin(x)), items)
        return total + sum(itertools.accumulate([], function, initial=begin(x) or x))

    return f


@pytest.mark.parametrize("begin", BEGINNINGS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_first_derivatives(function, begin):
    f = program(FUNCTIONS[function], BEGINNINGS[begin])
    for x in (1.3, 0.7):
        check(f, x, 1, 1e-7, 1e-3)


@each_in_long_turn
@pytest.mark.parametrize(
    ("function", "begin"), [("plus", "square"), ("times", "number"), ("own", "number"), ("greatest", "number")]
)
def test_second_derivatives(function, begin):
    check_second(program(FUNCTIONS[function], BEGINNINGS[begin]), step=1e-3)
