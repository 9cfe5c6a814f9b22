"""`max` and `min` of the values of a dict, against differences of the program under CPython."""

from __future__ import annotations

from collections import OrderedDict

import pytest

from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_turn
from zyg.autodiff.objects.api import pullback


def of_numbers(x):
    d = {"a": x, "b": x * x, "c": 2, "e": x / 3.0}
    total = 0.0
    for _ in range(3):
        top, bottom = max(d.values()), min(d.values())
        d["a"] = top * x - bottom
        d[len(d)] = bottom * bottom
        total += top * bottom
    return total + sum(d.values())


def of_many_dicts(x):
    graph = {u: {v: x * (u + 1) + v for v in range(3)} for u in range(3)}
    return sum(max(edges.values()) * min(edges.values()) for edges in graph.values())


def changed_behind(x):
    d = {"a": x, "b": 2.0 * x}
    top = max(d.values())
    d["b"] = x * x
    del d["a"]
    return top * d["b"]


def of_other_things(x):
    d = {"a": x, "b": 2.0 * x}
    o = OrderedDict(d)
    return (
        max(o.values()) * max(d.values(), default=3.0) * min({}.values(), default=x) * max(d.values(), key=lambda v: -v)
    )


def by_an_argument(d):
    return max(d.values()) ** 2 - min(d.values())


@each_in_turn
@pytest.mark.parametrize("f", [of_numbers, of_many_dicts, changed_behind, of_other_things])
def test_derivatives(f):
    check(f, rel=1e-6, step=1e-4)
    check_second(f, step=1e-3)


def test_gradient_by_the_dict():
    d = {"a": 0.5, "b": 2.0, "c": 2, "e": -1.0}
    _, back = pullback(by_an_argument, (d,))
    assert back(1.0)[0] == {"a": 0.0, "b": 4.0, "c": 0.0, "e": -1.0}
    _, back = pullback(by_an_argument, ({"a": 1.0, "b": 1.0},))
    assert back(1.0)[0] == {"a": 1.0, "b": 0.0}  # the first of equal ones, as elsewhere


def test_nothing_in_it():
    with pytest.raises(ValueError, match="empty"):
        pullback(by_an_argument, ({},))
