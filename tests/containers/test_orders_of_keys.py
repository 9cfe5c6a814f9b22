"""Dictionaries whose keys come in another order on some paths: what depends on the order goes through Python, or is refused where only native
code is wanted; what does not stays native.  The oracle is CPython."""

from __future__ import annotations

from typing import Any

import pytest

import zyg

from ..oracles import differences


def in_a_loop(x, y):
    s = {"x": x, "v": y}
    for _ in range(7):
        s = {"v": s["v"] - s["x"] * 0.1, "x": s["x"] + s["v"] * 0.1}
    a, b = s.values()
    return a * 10 + b


def in_a_loop_of_any_length(x, y):
    s = {"x": x, "v": y}
    while s["x"] < 4:
        s = {"v": s["v"] + s["x"] * 0.1, "x": s["x"] + s["v"]}
    a, b = s.values()
    return a * 10 + b


def in_branches(x, y):
    r = {"b": y, "a": x} if x > y else {"a": x * y, "b": x}
    s = 1.0
    for v in r.values():
        s = s * 3 + v
    return s


def put_back(x, y):
    r = {"a": x, "b": y * x}
    if x < y:
        t = r.pop("a")
        r["a"] = t
    s = 1.0
    for k in r:
        s = s * 3 + r[k]
    return s


def deleted_and_set(x, y):
    r = {"a": x, "b": y * x}
    if x < y:
        del r["a"]
        r["a"] = y
    (first, u), (second, v) = r.items()
    return u * 5 + v + len(first + second)


def recursion(x, y):
    def turned(d, n):
        return d if n == 0 else turned({"b": d["a"], "a": d["b"] * x}, n - 1)

    u, v = turned({"a": x, "b": y}, 3).values()
    return u * 10 + v


def early_return(x, y):
    def made(c):
        if c:
            return {"p": x, "q": y}
        return {"q": y, "p": x * 2}

    m = made(x > y)
    return m[min(m, key=lambda k: 0)] * 10 + m["p"]


def keywords(x, y):
    def f(**named):
        u, v = named.values()
        return u * 10 + v

    return f(**({"b": y, "a": x} if x > y else {"a": x, "b": y}))


def set_on_some_paths(x, y):
    r = {}
    if x > y:
        r["a"] = x
    r["b"] = y
    r["a"] = x * y
    u, v = r.values()
    return u * 10 + v


def updated(x, y):
    r = {}
    if x > y:
        r["a"] = x
    r["b"] = y
    r.update(a=x * y, c=x)
    return sum(k * v for k, v in enumerate(r.values()))


def first_of(x, y):
    m = {"p": x, "q": y} if x > y else {"q": y, "p": x * 2}
    for k in m:  # noqa: B007
        break
    return m[k] * x


ORDERED = [
    in_a_loop, in_a_loop_of_any_length, in_branches, put_back, deleted_and_set, recursion, early_return, keywords, set_on_some_paths, updated, first_of
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::zyg.errors.FallbackWarning")
@pytest.mark.parametrize("f", ORDERED)
@pytest.mark.parametrize("args", [(1.3, 0.7), (0.7, 1.3)])
def test_values_and_gradients(f: Any, args: tuple[float, float]) -> None:
    value, gradient = zyg.withgradient(f, *args)
    assert value == pytest.approx(f(*args), rel=1e-14)
    gradient = [d or 0.0 for d in gradient]
    assert gradient == pytest.approx(differences.gradient(f, *args), rel=1e-6)
    assert zyg.jvp(f, args, (1.0, 2.0))[1] == pytest.approx(gradient[0] + 2 * gradient[1], rel=1e-12)


# (The rounds of the first are written out, recursion is refused anyway, and from 3.12 on the keywords are passed by either path itself.)
@pytest.mark.parametrize("f", [f for f in ORDERED if f not in (in_a_loop, recursion, keywords)])
def test_native_code_alone_refuses(f: Any) -> None:
    with pytest.raises(zyg.errors.Unsupported, match="order of a dictionary's keys"):
        zyg.jit(f)(1.3, 0.7)


def test_a_dictionary_that_is_returned() -> None:
    def f(x, c):
        return {"a": x, "b": 2 * x} if c else {"b": x, "a": 2 * x}

    with pytest.raises(zyg.errors.Unsupported, match="order of a dictionary's keys"):
        zyg.jit(f)(1.5, False)
    with pytest.warns(zyg.errors.FallbackWarning):
        value, back = zyg.pullback(f, 1.5, False)
    assert list(value) == ["b", "a"] and back({"a": 1.0, "b": 10.0})[0] == 12.0


def test_a_dictionary_that_was_given() -> None:
    def f(d, c):
        if c:
            d["a"] = d.pop("a") * 2
        return d["b"]

    for c in (False, True):
        given = {"a": 1.5, "b": 2.5}
        with pytest.raises(zyg.errors.Unsupported, match="order of a dictionary's keys"):
            zyg.jit(f)(given, c)


def test_what_does_not_depend_on_the_order_is_native() -> None:
    def f(x, y):
        s = {"x": x, "v": y}
        for _ in range(7):
            s = {"v": s["v"] - s["x"] * 0.1, "x": s["x"] + s["v"] * 0.1}
        t = {"v": s["v"], "x": s["x"]}
        s["v"] += 1.0
        return s["x"] * len(s) + s["v"] * ("x" in s) + s.get("v", 0.0) + (s == t) + s.pop("x")

    assert zyg.jit(f)(1.3, 0.7) == pytest.approx(f(1.3, 0.7), rel=1e-14)


def test_keys_that_come_last_on_all_paths_are_in_order() -> None:
    def f(x, y):
        r = {"a": x}
        if x > y:
            r["b"] = x
        r["b"] = y * 2
        u, v = r.values()
        return u * 10 + v

    for args in ((1.3, 0.7), (0.7, 1.3)):
        assert zyg.jit(f)(*args) == f(*args)
