"""`items.__setitem__(0, x)` and other special methods of builtin containers that are called by their names: values, first and second
derivatives, and exceptions as in CPython."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest

from tests.autodiff.tried import derivative, in_a_try
from tests.oracles import differences
from tests.turns import by_one_python_a_day
from zyg.autodiff.objects.api import pullback


def of_lists(x):
    items, others = [x, 2.0, 3.0], [0.0]
    for k in range(4):
        items.__setitem__(k % 3, items.__getitem__(k - 1) * x + k)
        others.__setitem__(-1, items[0] * others[-1] + x)
        others.__setitem__(slice(1, 2), [items[1]])
        if items.__contains__(x) or items.__len__() > 5:
            items.__setitem__(0, 100.0)
    items.__delitem__(1)
    return sum(items) + sum(others) * others.__getitem__(0) + items.__getitem__(slice(0, 2))[1]


def of_dicts(x):
    d = {"a": x}
    for k in range(4):
        d.__setitem__(k, d.__getitem__("a") * x)
        d.__setitem__("a", d["a"] + d[k])
        if d.__contains__(9) or not d.__len__():
            return 0.0
    d.__delitem__(2)
    d.__setitem__((1, "b"), x)
    return sum(d.values()) * d.__getitem__((1, "b")) + sum(k for k in d.__iter__() if k == 1)


def of_several(x):
    """At one place lists, dicts and other things with such a method."""
    one = Own(x)
    total = 0.0
    for c in ([x, 1.0], {0: x}, deque([x]), one, [2.0], {0: 1.0}, one):
        c.__setitem__(0, c[0] * x + 1.0)
        total += c.__getitem__(0) * x
    return total + one.value


class Own:
    def __init__(self, value):
        self.value = value
        self.times = 1.0

    def __setitem__(self, key, value):
        self.times *= 1.5
        self.value = value * self.times

    def __getitem__(self, key):
        return self.value


class Held(list):
    def __setitem__(self, key, value):
        super().__setitem__(key, value * 2.0)


def of_derived(x):
    h = Held([x])
    total = 0.0
    for c in (h, [x], h):
        c.__setitem__(0, c[0] * x)
        total += c[0]
    return total


def in_functions(x):
    """Bound methods that are kept, and called later; the list is another one's, too."""
    total = [0.0, x]
    alias, d = total, {}
    setters = [total.__setitem__, d.__setitem__, alias.__setitem__]
    for k, put in enumerate(setters * 2):
        put(k % 2, total[1] * 1.1 + k * x)
    actions = [lambda v, k=k: d.__setitem__(k, v * x) for k in range(3)]
    for act in actions:
        act(total[0])
    return sum(total) + sum(d.values()) + alias[1]


def failing(x):
    items, d = [x], {}
    total = 0.0
    for k in (0, 3, -1, -2):
        try:
            items.__setitem__(k, items[0] * x)
            total += d.__getitem__(k)
        except IndexError as error:
            total += x * len(str(error))
        except KeyError:
            d.__setitem__(k, items[0])
    try:
        d.__setitem__([], x)
    except TypeError as error:
        total += x * len(str(error))
    return total + items[0] + sum(d.values())


PROGRAMS: dict[str, Any] = {f.__name__: f for f in (of_lists, of_dicts, of_several, of_derived, in_functions, failing)}


@by_one_python_a_day
@pytest.mark.parametrize("watched", [False, True], ids=["plain", "watched"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name, watched):
    f = in_a_try(PROGRAMS[name]) if watched else PROGRAMS[name]
    for x in (0.7, 1.1, 0.7):
        y, back = pullback(f, (x,))
        assert y == f(x)
        assert back(1.0)[0] == pytest.approx(differences.derivative(f, x), rel=1e-8)


@by_one_python_a_day
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives(name):
    f = PROGRAMS[name]
    second = derivative(lambda x: derivative(f, x), 0.9)
    assert second == pytest.approx(differences.derivative(lambda x: derivative(f, x), 0.9), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("args", [(), (0,), (0, 1.0, 2.0), ("a", 1.0)])
def test_wrong_arguments(args):
    def f(x):
        items = [x, x]
        for _ in range(2):
            items.__setitem__(0, x)
        items.__setitem__(*args)
        return items[0]

    with pytest.raises(TypeError) as expected:
        f(1.0)
    with pytest.raises(TypeError) as found:
        pullback(f, (1.0,))
    assert str(found.value) == str(expected.value)
