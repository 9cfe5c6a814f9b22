"""None where the value does not depend on a part of an argument, 0.0 where it does on another path: alike in both back ends."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn
from zyg.fallback import python_pullback

pytestmark = each_in_turn


class Body:
    def __init__(self, x: float, v: float):
        self.x, self.v = x, v


def item_of_a_list(x, i):
    return [x, 1.0][i] * 2.0


def item_of_a_tuple(x, i):
    return (x, 1.0)[i] * 2.0


def known_item(x, y):
    items = [x, y]
    return items[1]


def item_that_was_added(x, y):
    items = [x, y]
    items.append(3.0)
    return items[1]


def item_that_was_replaced(x, y):
    items = [x, y]
    items[0] = 3.0
    return items[0] + items[1]


def largest_by_key(xs):
    rows = [[xs[0], 1.0], [2.0, xs[1]]]
    return max(rows, key=lambda row: row[0])[0]


def other_column_of_the_largest(xs):
    rows = [[xs[0], 1.0], [2.0, xs[1]]]
    return max(rows, key=lambda row: row[0])[1]


def smallest_row(x, y):
    return min([(x, 1.0), (y, 2.0)])[0]


def first_in_order(x, y):
    return sorted([x, y])[0]


def first_row_in_order(x, y):
    return sorted([(x, y), (y, 1.0)])[0][1]


def no_round(x, n):
    total = 0.0
    for v in [x] * n:
        total += v
    return total


def sum_of_nothing(x, n):
    return sum([x] * n) + 1.0


def exchanged(x, y):
    a, _ = (x, y) if y > 0 else (y, x)
    return a


def item_in_a_branch(xs, y):
    return xs[0] * 2.0 if y > 0 else y


def sum_in_a_branch(xs, y):
    return sum(xs) * 2.0 if y > 0 else y


def entry_in_a_branch(table, y):
    return table["a"] * 2.0 if y > 0 else y


def loop_in_a_branch(xs, y):
    total = 0.0
    if y > 0:
        for x in xs:
            total += x
    return total + y


def array_in_a_branch(a, y):
    return a[0] * 2.0 if y > 0 else y


def shape_in_a_branch(a, y):
    return a.shape[0] * 2.0 if y > 0 else y


def tuple_in_a_branch(pair, y):
    return pair[0] if y > 0 else y


def row(rows, i):
    return rows[i][1] * 2.0


def known_row(rows):
    return rows[0][1] * 2.0


def row_of_the_largest(rows):
    return max(rows, key=lambda row: row[1])[0]


def first_of_the_sorted(rows):
    return sorted(rows, key=lambda row: row[1])[0][0]


def body(bodies, i):
    return bodies[i].x * 2.0


def known_body(bodies):
    return bodies[0].x * 2.0


def body_of_the_largest(bodies):
    return max(bodies, key=lambda b: b.v).x


BODIES = [Body(1.0, 2.0), Body(3.0, 4.0)]
CASES: list[tuple[Any, tuple[Any, ...], Any]] = [
    (item_of_a_list, (3.0, 1), (0.0, None)),
    (item_of_a_tuple, (3.0, 1), (0.0, None)),
    (known_item, (1.0, 2.0), (None, 1.0)),
    (item_that_was_added, (1.0, 2.0), (None, 1.0)),
    (item_that_was_replaced, (1.0, 2.0), (None, 1.0)),
    (largest_by_key, ([1.0, 2.0],), ([0.0, 0.0],)),
    (other_column_of_the_largest, ([3.0, 2.0],), ([0.0, 0.0],)),
    (smallest_row, (1.0, 2.0), (1.0, 0.0)),
    (first_in_order, (1.0, 2.0), (1.0, 0.0)),
    (first_row_in_order, (1.0, 2.0), (None, 1.0)),
    (no_round, (1.0, 0), (0.0, None)),
    (sum_of_nothing, (1.0, 0), (0.0, None)),
    (exchanged, (1.0, 2.0), (1.0, 0.0)),
    (item_in_a_branch, ([1.0, 2.0], -1.0), ([0.0, 0.0], 1.0)),
    (sum_in_a_branch, ([1.0, 2.0], -1.0), ([0.0, 0.0], 1.0)),
    (entry_in_a_branch, ({"a": 1.0, "b": 2.0}, -1.0), ({"a": 0.0, "b": None}, 1.0)),
    (loop_in_a_branch, ([1.0, 2.0], -1.0), ([0.0, 0.0], 1.0)),
    (array_in_a_branch, (np.ones(2), -1.0), (np.zeros(2), 1.0)),
    (shape_in_a_branch, (np.ones(2), -1.0), (None, 1.0)),
    (tuple_in_a_branch, ((1.0, 2.0), -1.0), ((0.0, None), 1.0)),
    (row, ([[1.0, 2.0], [3.0, 4.0]], 1), ([[0.0, 0.0], [0.0, 2.0]], None)),
    (row, ([(1.0, 2.0), (3.0, 4.0)], 1), ([(None, 0.0), (None, 2.0)], None)),
    (row, (((1.0, 2.0), (3.0, 4.0)), 1), (((None, 0.0), (None, 2.0)), None)),
    (known_row, ([[1.0, 2.0], [3.0, 4.0]],), ([[0.0, 2.0], None],)),
    (row_of_the_largest, ([(1.0, 2.0), (3.0, 1.0)],), ([(1.0, None), (0.0, None)],)),
    (row_of_the_largest, ([[1.0, 2.0], [3.0, 1.0]],), ([[1.0, 0.0], [0.0, 0.0]],)),
    (first_of_the_sorted, ([(1.0, 2.0), (3.0, 1.0)],), ([(0.0, None), (1.0, None)],)),
    (body, (BODIES, 1), ([(0.0, None), (2.0, None)], None)),
    (known_body, (BODIES,), ([(2.0, None), None],)),
    (body_of_the_largest, (BODIES,), ([(0.0, None), (1.0, None)],)),
]


@pytest.mark.filterwarnings("error::zyg.errors.FallbackWarning")
@pytest.mark.parametrize("case", range(len(CASES)), ids=[f"{k} {f.__name__}" for k, (f, _, _) in enumerate(CASES)])
def test_both_back_ends_tell_zeros_from_none(case):
    function, args, expected = CASES[case]
    native = zyg.gradient(function, *copy.deepcopy(args))
    through_python = python_pullback(function, copy.deepcopy(args), {})[1](1.0)
    assert repr(native) == repr(through_python)
    np.testing.assert_equal(native, expected)


def test_zeros_in_second_derivatives_through_python():
    slope = lambda rows, i: python_pullback(row, (rows, i), {})[1](1.0)[0][i][1] * rows[i][1]
    assert python_pullback(slope, ([[1.0, 2.0], [3.0, 4.0]], 1), {})[1](1.0)[0][1] == [0.0, 2.0]


def test_functions_of_ones_own_by_the_names_of_pythons():
    space: dict[str, Any] = {"max": lambda a, b: b}
    exec("def f(x, y):\n    return max(x, y)", space)
    assert python_pullback(space["f"], (1.0, 2.0), {})[1](1.0) == (None, 1.0)


LENGTHS = """np.linspace(0, 1, n).sum()|np.linspace(np.zeros(2), np.ones(2), n).sum()|np.linspace(0, 1, n, endpoint=False, retstep=True)[1]
np.logspace(0, 1, n).sum()|np.geomspace(1, 10, n).sum()|np.geomspace(np.ones(2), 2 * np.ones(2), n).sum()|np.fft.fftfreq(n)[-1]
np.fft.rfftfreq(n)[1]|np.ones(n).mean()|np.ones((2, n)).mean(1).sum()|np.arange(n).var()|np.arange(n).mean()|np.std(np.arange(n))
np.average(np.ones(n))|1.0 / np.ones(n).shape[0]|1.0 / np.ones(n).size|1.0 / np.ones(n).nbytes|1.0 / np.size(np.ones(n))
1.0 / np.shape(np.ones(n))[0]|1.0 / len(np.ones(n))|1.0 / len(range(n))|1.0 / len(range(1, n))|1.0 / len([2.0] * n)
np.arange(8.0)[:n].mean()|np.repeat(np.arange(3.0), n).mean()|np.vander(np.arange(3.0), n).mean()|np.arange(n).sum()|np.hanning(n).sum()
sum(1.0 / k for k in range(1, n))|np.concatenate([np.ones(n), np.ones(2)]).mean()|np.ones(n).reshape(-1, 1).mean()""".replace(
    "\n", "|"
).split("|")


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("text", LENGTHS)
def test_no_derivative_goes_through_a_length(text):
    f = eval(f"lambda n: {text}", {"np": np})
    assert zyg.gradient(f, 5) == (None,)
    value, back = python_pullback(f, (5,), {})
    assert value == pytest.approx(f(5), rel=1e-14) and back(1.0) == (None,)


def test_an_integer_that_is_a_length_and_a_number_has_the_derivative_of_the_number():
    assert zyg.gradient(lambda n: 1.0 / n, 4) == (-1 / 16,)
    assert zyg.gradient(lambda n: np.full(n, 1.0 / n).sum(), 4) == (-1 / 4,)
    assert zyg.gradient(lambda n, x: x * np.linspace(0.0, x, n).mean() / n, 4, 3.0) == (-9 / 32, 3 / 4)
    found = zyg.gradient(lambda n, a: a[:n].mean(), 3, np.arange(4.0))
    assert found[0] is None and found[1] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0.0])
