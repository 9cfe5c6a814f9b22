"""Times of NumPy, dates that were pickled, sets that take no more items than they need."""

from __future__ import annotations

import datetime
import pickle

import numpy as np
import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_turn
from zyg.autodiff.objects import dates
from zyg.autodiff.objects.api import pullback
from zyg.errors import Unsupported

pytestmark = each_in_turn

SECOND = np.timedelta64(1, "s")


def quotient(x):
    return np.timedelta64(3, "s") / SECOND * x


def difference_of_days(x):
    return float((np.datetime64("2024-01-03") - np.datetime64("2024-01-01")) / np.timedelta64(1, "D")) * x


def array_of_days(x):
    days = (np.array(["2024-01-03", "2024-02-01"], "M8[D]") - np.datetime64("2024-01-01")) / np.timedelta64(1, "D")
    return float(np.sum(days * x * x)) + float(days[0]) * x


def times_of_a_constant(x):
    return float((abs(-np.timedelta64(1000, "s")) * 3) / SECOND) * x


def pickled_constant(x):
    return pickle.loads(pickle.dumps([datetime.timedelta(seconds=1000)]))[0].total_seconds() * x


CONSTANT = [quotient, difference_of_days, array_of_days, times_of_a_constant, pickled_constant]


@pytest.mark.parametrize("program", CONSTANT, ids=lambda program: program.__name__)
def test_constant_times(program):
    value, back = pullback(program, (0.7,))
    assert value == program(0.7)
    assert back(1.0) == (pytest.approx(differences.derivative(program, 0.7), rel=1e-7),)


def span(x):
    return datetime.timedelta(seconds=x * 1000)


def product(x):
    return float(np.timedelta64(1000, "s") * x / SECOND)


def in_place(x):
    t = np.timedelta64(1000, "s")
    t *= x
    return float(t / SECOND)


def later(x):
    start = np.datetime64("2024-01-03T00:00:00")
    return float((start + np.timedelta64(1000, "s") * x - start) / SECOND)


def made_of_a_date(x):
    return float(np.timedelta64(span(x)) / SECOND)


def array_made_of_dates(x):
    return float(np.array([span(x)], dtype="m8[us]")[0] / SECOND)


def array_of_dates_as_a_whole(x):
    return float(np.sum(np.array([span(x)], dtype="m8[us]") / SECOND))


def array_times_a_number(x):
    return float(np.sum(np.array([1000], dtype="m8[us]") * x / SECOND))


def pickled(x):
    return pickle.loads(pickle.dumps(span(x))).total_seconds() * x


def pickled_inside(x):
    return pickle.loads(pickle.dumps([{"a": span(x)}, 1.0]))[0]["a"].total_seconds() * x


def pickled_date(x):
    start = datetime.datetime(2020, 1, 1)
    return (pickle.loads(pickle.dumps(start + span(x))) - start).total_seconds() * x


REFUSED = [
    product, in_place, later, made_of_a_date, array_made_of_dates, array_of_dates_as_a_whole, array_times_a_number, pickled,
    pickled_inside, pickled_date,
]  # fmt: skip


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: program.__name__)
def test_times_that_numbers_went_into(program):
    value, back = pullback(program, (0.7,))
    assert value == program(0.7)
    with pytest.raises(Unsupported):
        back(1.0)


class Items:
    """Each item that is taken changes it."""

    def __init__(self, x, items):
        self.x = self.taken = x
        self.items = items

    def __iter__(self):
        for item in self.items:
            self.taken = self.taken * self.x + 1.0
            yield item
        self.taken = self.taken * self.taken


METHODS = (
    "intersection intersection_update isdisjoint issuperset issubset union difference symmetric_difference".split()
)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("held", [{1}, {0, 3}, set(), {7}])
@pytest.mark.parametrize("around", [lambda items: items, iter, lambda items: map(abs, items)])
def test_how_many_items_are_taken(name, held, around):
    for cls in (set, frozenset):
        if not hasattr(cls, name):
            continue

        def program(x, cls=cls):
            items = Items(x, [0, 1, 1, 2, 3, 4])
            getattr(cls(held), name)(around(items))
            return items.taken

        value, back = pullback(program, (0.7,))
        assert value == program(0.7)
        assert back(1.0) == (pytest.approx(differences.derivative(program, 0.7), rel=1e-7),)


def test_items_of_intersections():
    def program(x):
        found = {x, 2.0}.intersection(iter([x, 3.0, 2.0, x]), [2.0, x])
        return sum(found) * x

    _, back = pullback(program, (0.7,))
    assert back(1.0) == (pytest.approx(differences.derivative(program, 0.7), rel=1e-7),)


def days_between(rate, days, amounts):
    start, total = days[0], 0.0
    for day, amount in zip(days, amounts):
        total += amount / (1.0 + rate) ** ((day - start).days / 365.0)
    return total


DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=40 * k) for k in range(12)]


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("made", [lambda d: d, lambda d: datetime.datetime(d.year, d.month, d.day, 3)])
def test_days_between_dates(made):
    days, amounts = list(map(made, DAYS)), [1.0 + 0.1 * k for k in range(12)]
    for _ in range(3):
        value, back = pullback(days_between, (0.05, days, amounts), {})
        assert value == days_between(0.05, days, amounts)
        slope, _, parts = back(1.0)
        step = 1e-5
        low, high = (days_between(0.05 + s, days, amounts) for s in (-step, step))
        assert slope == pytest.approx((high - low) / (2.0 * step), rel=1e-8)
        assert parts == pytest.approx([(1.05) ** -((day - days[0]).days / 365.0) for day in days])
    second = zyg.grad(lambda r: zyg.gradient(days_between, r, days, amounts)[0])(0.05)
    low, high = (pullback(days_between, (0.05 + s, days, amounts), {})[1](1.0)[0] for s in (-step, step))
    assert second == pytest.approx((high - low) / (2.0 * step), rel=1e-6)


def test_a_number_goes_into_a_date_where_days_between_dates_were_counted():
    def f(x, late):
        total, day = 0.0, DAYS[1]
        for k in range(4):
            if k == late:
                day = datetime.date(2024, 1, 1) + datetime.timedelta(days=10.0 * x)
            total += (day - DAYS[0]).days * x
        return total

    for _ in range(2):
        value, back = pullback(f, (5.0, 9), {})
        assert back(1.0)[0] == 4 * 40.0
        value, back = pullback(f, (5.0, 2), {})
        assert value == f(5.0, 2)
        with pytest.raises(Unsupported, match="which zyg cannot see into"):
            back(1.0)
    assert not dates.held_somewhere
