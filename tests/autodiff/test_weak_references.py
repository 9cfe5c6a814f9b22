"""What weak references, proxies and the containers of `weakref` give is the object, whose derivative is one."""

from __future__ import annotations

import weakref
from typing import Any

import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn
from zyg.fallback import python_pullback

pytestmark = each_in_turn


NAME = "value"
weak: Any = weakref


class Cell:
    def __init__(self, value: Any):
        self.value = value

    @property
    def twice(self):
        return 2.0 * self.value

    def times(self, x):
        return self.value * x


class Vector(Cell):
    def __getitem__(self, k):
        return self.value * k


class Float(float):
    pass


def item_of_a_dictionary(x):
    table, cell = weak.WeakValueDictionary(), Cell(x * x)
    table["k"] = cell
    return table["k"].value * x


def methods_of_a_dictionary(x):
    table, cell = weak.WeakValueDictionary(), Cell(x * x)
    table.setdefault("k", cell)
    total = sum(v.value for v in table.values()) + table.get("k").value + dict(table.items())["k"].value
    return (total + ("k" in table) * table.pop("k").value) * x / 4.0


def keys(x):
    table, cell = weak.WeakKeyDictionary(), Cell(x * x)
    table[cell] = x
    return table[cell] * cell.value


def reference(x):
    cell = Cell(x * x)
    return weak.ref(cell)().value * x


def attributes_of_a_proxy(x):
    cell: Any = Cell(x * x)
    proxy: Any = weak.proxy(cell)
    proxy.other = x
    return (proxy.value + proxy.twice + proxy.times(x) / cell.other + getattr(proxy, NAME)) * proxy.other / 5.0


def changed_by_a_proxy(x):
    cell = Cell(x)
    proxy = weak.proxy(cell)
    proxy.value *= x
    del proxy.value
    proxy.value = x * x
    return cell.value * x


@each_in_long_turn
@pytest.mark.parametrize(
    "f", [item_of_a_dictionary, methods_of_a_dictionary, keys, reference, attributes_of_a_proxy, changed_by_a_proxy]
)
def test_the_object_is_meant(f):
    value, back = python_pullback(f, (1.5,), {})
    assert value == pytest.approx(f(1.5)) == pytest.approx(1.5**3)
    assert back(1.0) == pytest.approx((3 * 1.5**2,))
    slope = lambda x: python_pullback(f, (x,), {})[1](1.0)[0]
    assert python_pullback(slope, (1.5,), {})[1](1.0) == pytest.approx((6 * 1.5,))


@pytest.mark.parametrize(
    "f",
    [
        lambda x, v: weak.proxy(v)[1] * x,
        lambda x, v: weak.ref(v.value)() * x,
    ],
)
def test_what_leaves_no_trace_is_refused(f):
    def refused(x):
        return f(x, Vector(Float(x * x)))

    with pytest.raises(zyg.Unsupported, match=r"a weak reference to a (Vector|Float)"):
        python_pullback(refused, (1.5,), {})


def test_operators_of_a_proxy_from_outside_are_refused():
    class Sum(Cell):
        def __add__(self, x):
            return self.value + x

    cell = Sum(3.0)
    proxy = weak.proxy(cell)
    with pytest.raises(zyg.Unsupported, match=r"of a weakref\.proxy"):
        python_pullback(lambda x: proxy + x, (1.5,), {})
