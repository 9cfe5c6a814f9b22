"""`list.sort`: what is called meanwhile finds an empty list, and an exception leaves the items in the order that CPython has come to."""

import functools

import pytest

from tests.autodiff.against_differences import check, check_second, slope_of
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn

FACTORS = (3.0, 2.0, 1.0, 7.0, 200.0, 5.0, 4.0, 1.5)


class Less:
    """Its comparisons change both."""

    def __init__(self, v):
        self.v, self.n = v, 1.0

    def __lt__(self, other):
        self.n += 0.1 * other.v
        other.n += 0.2 * self.v
        if max(self.v, other.v) > 75.0:
            raise ValueError(self.v)
        return self.v < other.v


def weighed(items):
    return sum((k + 1) * v * v for k, v in enumerate(items))


def by_methods(x):
    items = [Less(x * f) for f in FACTORS]
    for reverse in (False, True):
        for key in (None, lambda v: Less(1.1 * v.v)):
            try:
                items.sort(key=key, reverse=reverse)
            except ValueError as error:
                items.append(Less(0.01 * error.args[0]))
    return sum((k + 1) * v.v * v.n for k, v in enumerate(items))


def by_keys(x):
    items, seen = [x * f for f in FACTORS], []

    def key(v):
        seen.append(v * len(items))
        if len(seen) == 12:
            raise ValueError(v * v)
        if len(seen) in (3, 20):
            items.append(v)
        return -v

    for reverse in (False, True, False, True):
        try:
            items.sort(key=key, reverse=reverse)
        except ValueError as error:
            items.append(error.args[0] if type(error.args[0]) is float else 8.0 * x)
    return weighed(items) + sum(seen)


def by_comparing(x):
    items, seen = [x * f for f in FACTORS], []

    def compare(a, b):
        seen.append(a * b * (1 + len(items)))
        if len(seen) == 12:
            raise ValueError(a * b)
        return a - b

    for reverse in (False, True, False, True):
        try:
            items.sort(key=functools.cmp_to_key(compare), reverse=reverse)
        except ValueError as error:
            items.append(error.args[0])
    return weighed(items) + sum(seen)


def of_what_has_no_order(x):
    total = x
    for other, key in (("a", None), (None, lambda v: (v is not None and -v, v))):
        items = [x, 2.0 * x, other, 0.3 * x, x * x]
        try:
            items.sort(key=key, reverse=key is not None)
        except TypeError:
            total += x
        total += sum(v * (k + 1) for k, v in enumerate(items) if v is not other)
    return total


def of_what_changes_meanwhile(x):
    items = [[2.0 * x], [x], [0.3 * x], [x * x]]

    def key(v):
        v.append(x * len(items))
        items.append(v)
        return -v[0]

    try:
        items.sort(key=key)
    except ValueError:
        items.append([x])
    return sum(sum(v) * (k + 1) ** 2 for k, v in enumerate(items))


def a_copy_of_what_changes(x):
    items = [x, 2.0 * x, 0.3 * x, x * x]

    def key(v):
        items.append(v)
        return -v

    made = sorted(items, key=key)
    return weighed(items) + sum(v * (k + 1) for k, v in enumerate(made))


class Derived(list):
    def __getitem__(self, key):
        return 3.0

    def __setitem__(self, key, value):
        raise ValueError


def of_a_derived_class(x):
    items = Derived([x, 2.0 * x, 0.3 * x, x * x])
    items.sort()
    total = list.__getitem__(items, 0) * 3.0 + list.pop(items)
    list.__setitem__(items, slice(1, 3), [x * x * x, 4.0 * x])
    list.__setitem__(items, slice(None, None, 2), (x, x * x)[: (list.__len__(items) + 1) // 2])
    return total + sum(v * v for v in list.__iter__(items))


PROGRAMS = [
    by_methods,
    by_keys,
    by_comparing,
    of_what_has_no_order,
    of_what_changes_meanwhile,
    a_copy_of_what_changes,
    of_a_derived_class,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_first_derivatives(f):
    for x in (1.03, 0.4):
        check(f, x, 1, 1e-7, 1e-4)


@each_in_long_turn
@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives(f):
    if f is by_methods:
        with pytest.raises(Exception, match="second derivative through Python code that `list"):
            pullback(slope_of(f), (1.03,))
    else:
        check_second(f, 1.03, 1e-4)
