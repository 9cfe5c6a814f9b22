"""Views of dictionaries, and loops over them: they show what the dictionary holds by then, and notice when its size changes."""

from __future__ import annotations

import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = each_in_turn


def pair(x):
    return {"a": x, "b": 2.0}


def values_later(x):
    d = pair(x)
    v = d.values()
    d["a"] = x * x
    return sum(v)


def items_in_the_loop(x):
    d = pair(x)
    t = 0.0
    for k, v in d.items():
        d["b"] = x * 5.0
        t += v * d[k]
    return t


def keys_later(x):
    d = pair(x)
    keys = d.keys()
    d["c"] = x
    return sum([d[k] for k in keys])


def set_in_the_loop(x):
    d = pair(x)
    for _ in range(3):
        for k, v in d.items():
            d[k] = v * x
    return d["a"] * d["b"]


def nested(x):
    d = {"a": {"p": x}, "b": {"p": 2.0}}
    t = 0.0
    for sub in d.values():
        for q, v in sub.items():
            sub[q] = v * 2
            t += sub[q]
    return t * d["a"]["p"]


def consumed(x):
    d = pair(x)
    a, b = d.values()
    t = a * b + sum(d.values()) + len(d.items()) + max(d.values()) + (1.0 if 2.0 in d.values() else 0.0)
    for i, (k, v) in enumerate(d.items()):
        t += i * v * d[k]
    for k, v in zip(d, d.values()):
        t += d[k] * v
    return t + sum([v * v for v in {k: v * 2 for k, v in d.items()}.values()])


def left_before_it_is_noticed(x):
    d = pair(x)
    for _ in d:
        d["c"] = x
        break
    return d["c"]


def over_a_copy(x):
    d = pair(x)
    for k in list(d):
        d["c"] = d[k]
    return d["c"] * d["a"]


SAME = [
    values_later,
    items_in_the_loop,
    keys_later,
    set_in_the_loop,
    nested,
    consumed,
    left_before_it_is_noticed,
    over_a_copy,
]


@pytest.mark.parametrize("f", SAME, ids=lambda f: f.__name__)
def test_as_in_cpython(f):
    assert zyg.jit(f)(3.0) == f(3.0)
    difference = (f(3.0 + 1e-6) - f(3.0 - 1e-6)) / 2e-6
    assert zyg.jit(zyg.grad(f))(3.0) == pytest.approx(difference, rel=1e-6)


def grows(x):
    d = pair(x)
    for _ in d:
        d["c"] = 1.0
    return d["a"]


def grows_at_the_end(x):
    d = pair(x)
    for k in d:
        if k == "b":
            d["c"] = 1.0
    return d["c"]


def shrinks(x):
    d = pair(x)
    for _ in d.values():
        d.pop("b", 0.0)
    return d["a"]


def by_update(x):
    d = pair(x)
    for i, (_, v) in enumerate(d.items()):
        d.update(c=v * i)
    return d["c"]


def in_a_comprehension(x):
    d = pair(x)

    def add(k):
        d["z"] = 1.0
        return d[k]

    return sum([add(k) for k in d])


@pytest.mark.parametrize(
    "f", [grows, grows_at_the_end, shrinks, by_update, in_a_comprehension], ids=lambda f: f.__name__
)
def test_a_size_that_changes(f):
    for run in (f, zyg.jit(f), zyg.jit(zyg.grad(f))):
        with pytest.raises(RuntimeError, match="dictionary changed size during iteration"):
            run(3.0)


def other_keys(x):
    d = pair(x)
    for k in d:
        if k == "a":
            del d["b"]
            d["c"] = 1.0
    return d["a"]


def perhaps(x):
    d = pair(x)
    for _ in d:
        if x > 2:
            d["c"] = 1.0
    return d["a"]


@pytest.mark.parametrize("f", [other_keys, perhaps])
def test_what_is_not_known_is_refused(f):
    with pytest.raises(zyg.Unsupported, match="a dictionary"):
        zyg.jit(f)(3.0)


def test_views_have_no_items():
    with pytest.raises(TypeError, match="'dict_values' object is not subscriptable"):
        zyg.jit(lambda x: pair(x).values()[0])(3.0)
