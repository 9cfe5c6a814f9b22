"""Groups, orders and choices by `operator.attrgetter` and `itemgetter`: read at once where that only calculates, else as other code."""

from __future__ import annotations

import itertools
import operator
from collections import defaultdict, namedtuple
from typing import ClassVar

import pytest

from tests.oracles import differences
from tests.turns import each_in_turn
from zyg.autodiff.objects.api import pullback
from zyg.errors import Unsupported

pytestmark = each_in_turn

Order = namedtuple("Order", "customer month amount")


class Sized(namedtuple("Sized", "size")):
    """A named tuple with more than its fields."""

    __slots__ = ()
    asked: ClassVar[list[float]] = []

    @property
    def key(self):
        Sized.asked.append(self.size)
        return "key"


class Item:
    def __init__(self, name, amount):
        self.name = name
        self.amount = amount
        self.asked = 0.0

    @property
    def kept(self):
        self.asked = self.asked + self.amount
        return self.name


def orders(x):
    return [Order(name, k, x * k) for k, name in enumerate("abacabb")]


def grouped_by_attribute(x):
    by_customer = operator.attrgetter("customer")
    total = 0.0
    for name, group in itertools.groupby(sorted(orders(x), key=by_customer), key=by_customer):
        items = list(group)
        total += len(items) * sum(o.amount for o in items) ** 2 * ord(name)
    return total


def grouped_by_item(x):
    total = 0.0
    for key, group in itertools.groupby(orders(x), key=operator.itemgetter(0, 1)):
        total += sum(o[2] for o in group) ** 2 * key[1]
    return total


def grouped_rows(x):
    rows = [{"name": "ab"[k // 2], "value": x**k} for k in range(4)]
    return sum(
        k * sum(r["value"] for r in g) for k, (_, g) in enumerate(itertools.groupby(rows, operator.itemgetter("name")))
    )


def grouped_tuple(x):
    total = 0.0
    for k, group in itertools.groupby((1, x, x * x, 5.0, 7), key=lambda v: type(v) is int):
        total += (2.0 if k else 3.0) * sum(v * v for v in group)
    return total


def keys_with_a_derivative(x):
    pairs = [(x, 1.0), (x, 2.0), (x * x, 3.0)]
    total = 0.0
    for key, group in itertools.groupby(pairs, key=operator.itemgetter(0)):
        total += key * sum(v for _, v in group)
    return total


def tuple_with_keys_that_have_a_derivative(x):
    total = 0.0
    for key, group in itertools.groupby(((x, 1.0), (x, x), (x * x, 3.0)), key=operator.itemgetter(0)):
        total += key * sum(v for _, v in group)
    return total


def fields_with_a_derivative(x):
    total = 0.0
    for key, group in itertools.groupby(orders(x), key=operator.attrgetter("amount")):
        total += key * key * len(list(group))
    return total


def properties_that_change(x):
    items = [Item(name, x * k) for k, name in enumerate("aab")]
    names = [name for name, _ in itertools.groupby(items, key=operator.attrgetter("kept"))]
    best = max(items, key=operator.attrgetter("kept"))
    return sum(i.asked * i.amount for i in sorted(items, key=operator.attrgetter("kept"))) * len(names) + best.amount


def properties_of_a_named_tuple(x):
    Sized.asked.clear()
    items = [Sized(x), Sized(x * x)]
    sorted(items, key=operator.attrgetter("key"))
    min(items, key=lambda s: s.key)
    return sum(v * k for k, v in enumerate(Sized.asked, 1))


def what_is_missing(x):
    row = defaultdict(lambda: x * x)
    other = {"a": 3.0}
    chosen = max([row, other], key=operator.itemgetter("a"))
    also = min([row, other], key=lambda row: row["b" if row is other else "c"] if row is not other else 10.0)
    return chosen["a"] * row["a"] * also["c"]


def paths(x):
    items = [Item(Order("b", 1, x), x), Item(Order("a", 2, x * x), x * x)]
    first, second = sorted(items, key=operator.attrgetter("name.customer", "name.month"))
    return first.amount * 3.0 + second.name.amount


def changed_meanwhile(x):
    items = [Item("a", x), Item("a", x * x), Item("b", x)]
    total = 0.0
    for name, group in itertools.groupby(items, key=operator.attrgetter("name")):
        for item in group:
            total += item.amount * ord(name)
            if len(items) < 5:
                items.append(Item("b", item.amount * x))
    return total


CASES = [
    tuple_with_keys_that_have_a_derivative,
    *(
        grouped_by_attribute,
        grouped_by_item,
        grouped_rows,
        grouped_tuple,
        keys_with_a_derivative,
        fields_with_a_derivative,
    ),
    *(properties_that_change, properties_of_a_named_tuple, what_is_missing, paths, changed_meanwhile),
]


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_derivatives(f):
    y, back = pullback(f, (1.5,))
    assert y == f(1.5)
    assert back(1.0)[0] == pytest.approx(differences.derivative(f, 1.5), rel=1e-6)


@pytest.mark.parametrize(
    "key", [operator.attrgetter("missing"), operator.itemgetter(9), operator.itemgetter("a")], ids=str
)
def test_what_is_not_there(key):
    def f(x):
        return sum(x for _ in itertools.groupby([Order("a", 1, x)], key=key))

    with pytest.raises((AttributeError, IndexError, TypeError)) as cpython:
        f(1.5)
    with pytest.raises(type(cpython.value)) as ours:
        pullback(f, (1.5,))
    assert str(ours.value) == str(cpython.value)


def test_groups_change_their_keys():
    def f(x):
        items = [Item("a", x), Item("a", x)]
        total = 0.0
        for _, group in itertools.groupby(items, key=operator.attrgetter("name")):
            for item in group:
                items[-1].name = x
                total += item.amount
        return total

    with pytest.raises(Unsupported, match="other keys"):
        pullback(f, (1.5,))
