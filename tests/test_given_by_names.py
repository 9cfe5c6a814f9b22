"""Cotangents and tangents of what has names (dicts, named tuples, objects) go by these names, in whatever order they are given:
natively and through Python. A name that there is not is an error, one that is left out is zero."""

from __future__ import annotations

import warnings
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import zyg
from tests.turns import by_one_python_a_day
from zyg.autodiff.objects import api

pytestmark = pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")

Named = namedtuple("Named", "a b")
Swapped = namedtuple("Swapped", "b a")
Other = namedtuple("Other", "a zz")


class Plain:
    def __init__(self, a, b):
        self.a, self.b = a, b


class Behind:
    def __init__(self, a, b):
        self.b, self.a = b, a


class More(Plain):
    def __init__(self, a, b):
        self.a, self.b, self.zz = a, b, 50.0


@dataclass(frozen=True)
class Frozen:
    a: float
    b: float


@dataclass
class Open:
    b: float
    a: float


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


def by_key(p):
    return p["a"] * p["a"] * p["b"]


def by_attribute(p):
    return p.a * p.a * p.b


def in_a_list(p):
    return p[0]["a"] * p[0]["a"] * p[0]["b"]


# What is of no value's order, and what has other names than it.
ORDERS = {
    "dict": lambda a, b: {"b": b, "a": a},
    "named tuple": lambda a, b: Swapped(b, a),
    "object": Behind,
    "dataclass": lambda a, b: Open(b, a),
    "slots": Slots,
    "one of the same order": lambda a, b: {"a": a, "b": b},
}
UNKNOWN = {
    "dict": lambda a, b: {"a": a, "zz": b},
    "dict, one more": lambda a, b: {"a": a, "b": b, "zz": 50.0},
    "named tuple": Other,
    "object": More,
}
VALUES = {
    "dict": (by_key, lambda a, b: {"a": a, "b": b}),
    "named tuple": (by_attribute, Named),
    "object": (by_attribute, Plain),
    "frozen": (by_attribute, Frozen),
}


@pytest.fixture
def rule():
    targets = []

    def register(target, made, register=zyg.adjoint):
        targets.append((target, "tangent" if register is zyg.tangent else "adjoint"))
        register(target)(made)

    yield register
    for target, kind in targets:
        zyg.rules.remove(target, kind)


def natively(f, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("error", zyg.FallbackWarning)
        return zyg.gradient(f, *args)


def inside(f, *args):
    return natively(lambda *args: f(*args) * 1.0, *args)


def anyhow(way):
    """The same for what native code may leave to Python."""
    return way if way is through_python else zyg.gradient


def python_pullback(f, *args):
    return api.pullback(f, args)


def through_python(f, *args):
    return python_pullback(lambda *args: f(*args) * 1.0, *args)[1](1.0)


WAYS = [natively, inside, through_python]


def parts(g):
    return (g["a"], g["b"]) if isinstance(g, dict) else (g.a, g.b)


def of(p):
    return (p["a"], p["b"]) if isinstance(p, dict) else (p.a, p.b)


def copied(f):
    """A function of its own, for a rule."""
    return lambda p: f(p)


@by_one_python_a_day
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("given", ORDERS)
@pytest.mark.parametrize("value", VALUES)
def test_what_a_rule_gives_goes_by_name(rule, value, given, way):
    f, make = VALUES[value]
    make_given = ORDERS[given]
    g = copied(f)
    if value == "dict":
        rule(g, lambda p: (f(p), lambda d: (make_given(2 * d * p["a"] * p["b"], d * p["a"] * p["a"]),)))
    else:
        rule(g, lambda p: (f(p), lambda d: (make_given(2 * d * p.a * p.b, d * p.a * p.a),)))
    assert parts(way(g, make(2.0, 3.0))[0]) == parts(way(f, make(2.0, 3.0))[0]) == (12.0, 4.0)


@pytest.mark.parametrize("way", WAYS)
def test_in_a_list_and_with_arrays(rule, way):
    g = copied(in_a_list)
    rule(
        g,
        lambda p: (
            in_a_list(p),
            lambda d: ([{"b": d * p[0]["a"] * p[0]["a"], "a": 2 * d * p[0]["a"] * p[0]["b"]}],),
        ),
    )
    assert way(g, [{"a": 2.0, "b": 3.0}]) == ([{"a": 12.0, "b": 4.0}],)

    def sums(p):
        return np.sum(p["a"] * p["b"])

    h = copied(sums)
    rule(h, lambda p: (sums(p), lambda d: ({"b": d * p["a"], "a": d * p["b"]},)))
    (found,) = way(h, {"a": np.array([1.0, 2.0]), "b": np.array([3.0, 4.0])})
    assert found["a"].tolist() == [3.0, 4.0]
    assert found["b"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("given", UNKNOWN)
@pytest.mark.parametrize("value", VALUES)
def test_a_name_that_the_argument_has_not(rule, value, given, way):
    f, make = VALUES[value]
    make_given = UNKNOWN[given]
    g = copied(f)
    rule(g, lambda p: (f(p), lambda d: (make_given(d, d),)))
    with pytest.raises(TypeError, match=r"(?s)argument 1 .*has (no|the) (key|attribute) 'zz'.*line \d+.*instead: "):
        way(g, make(2.0, 3.0))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("value", VALUES)
def test_a_name_that_is_left_out_is_zero(rule, value, way):
    f, make = VALUES[value]
    g = copied(f)
    rule(g, lambda p: (f(p), lambda d: ({"a": d},)))
    a, b = parts(way(g, make(2.0, 3.0))[0])
    assert a == 1.0
    assert b in (None, 0.0)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("given", [{"b": 1.0, "a": 1.0}, Plain(1.0, 1.0)])
@pytest.mark.parametrize("value", [(2.0, 3.0), [2.0, 3.0]])
def test_what_has_no_names_takes_none(rule, value, given, way):
    g = lambda p: p[0] * p[1]
    rule(g, lambda p: (p[0] * p[1], lambda d: (given,)))
    with pytest.raises(TypeError, match="argument 1"):
        anyhow(way)(g, value)


@by_one_python_a_day
@pytest.mark.parametrize("given", ORDERS)
@pytest.mark.parametrize("value", VALUES)
def test_tangents(value, given):
    f, make = VALUES[value]
    p, t = make(2.0, 3.0), ORDERS[given](10.0, 1.0)
    wanted = (12.0, 124.0)
    assert zyg.jvp(f, (p,), (t,)) == wanted
    assert zyg.jit(lambda p, t: zyg.jvp(f, (p,), (t,)))(p, t) == wanted
    assert zyg.composed.jvp(None, f, ((p,), (t,)), {}) == wanted
    assert zyg.pushforward(f, p)[1](t) == wanted[1]


@pytest.mark.parametrize("given", UNKNOWN)
@pytest.mark.parametrize("value", VALUES)
def test_tangents_with_a_name_that_the_argument_has_not(value, given):
    f, make = VALUES[value]
    p, t = make(2.0, 3.0), UNKNOWN[given](10.0, 1.0)
    for run in (
        zyg.jvp,
        zyg.jit(lambda f, p, t: zyg.jvp(f, p, t)),
        lambda *args: zyg.composed.jvp(None, args[0], args[1:], {}),
    ):
        with pytest.raises(TypeError, match=r"argument 0 has no (key|attribute) 'zz'"):
            run(f, (p,), (t,))


def of_two_dict(a, b):
    return {"a": a * b, "b": a}


def of_two_named(a, b):
    return Named(a * b, a)


def of_two_plain(a, b):
    return Plain(a * b, a)


def of_two_frozen(a, b):
    return Frozen(a * b, a)


MAKERS = [of_two_dict, of_two_named, of_two_plain, of_two_frozen]


@by_one_python_a_day
@pytest.mark.parametrize("given", ORDERS)
@pytest.mark.parametrize("make", MAKERS)
def test_cotangents_of_values(make, given):
    c = ORDERS[given](10.0, 1.0)
    for pull in (zyg.pullback, python_pullback):
        assert pull(make, 2.0, 3.0)[1](c) == (31.0, 20.0)
    assert zyg.jit(lambda a, b, c: zyg.pullback(make, a, b)[1](c))(2.0, 3.0, c) == (31.0, 20.0)


@pytest.mark.parametrize("given", UNKNOWN)
@pytest.mark.parametrize("make", MAKERS)
def test_cotangents_with_a_name_that_the_value_has_not(make, given):
    c = UNKNOWN[given](10.0, 1.0)
    for pull in (zyg.pullback, python_pullback):
        with pytest.raises(TypeError, match=r"the cotangent.* has the (key|attribute) 'zz', which the value has not"):
            pull(make, 2.0, 3.0)[1](c)
    with pytest.raises(TypeError, match=r"has no (key|attribute) 'zz'"):
        zyg.jit(lambda a, b, c: zyg.pullback(make, a, b)[1](c))(2.0, 3.0, c)


def test_cotangents_of_lists_of_named_things():
    for make in (Named, Plain, lambda a, b: {"a": a, "b": b}):
        f = lambda xs, make=make: [make(2.0 * x, 3.0 * x) for x in xs]
        for pull in (zyg.pullback, python_pullback):
            back = pull(f, [1.0, 2.0])[1]
            for given in ORDERS.values():
                assert back([given(10.0, 1.0), given(1.0, 0.0)]) == ([23.0, 2.0],)
            with pytest.raises(TypeError, match="'zz', which the value has not"):
                back([{"a": 1.0, "zz": 1.0}, None])


@by_one_python_a_day
@pytest.mark.parametrize("given", ORDERS)
@pytest.mark.parametrize("make", MAKERS)
def test_what_a_tangent_rule_gives_goes_by_name(rule, make, given):
    made = ORDERS[given]
    g = lambda a, b: make(a, b)
    rule(g, lambda a, b: (make(a, b), lambda da, db: made(da * b + a * db, da)), zyg.tangent)

    def total(a):
        v = g(a, 3.0)
        return v["a"] * 100.0 + v["b"] if make is of_two_dict else v.a * 100.0 + v.b

    assert zyg.jvp(total, (2.0,), (1.0,)) == (602.0, 301.0)
    assert zyg.composed.jvp(None, total, ((2.0,), (1.0,)), {}) == (602.0, 301.0)


@pytest.mark.parametrize("make", MAKERS)
def test_names_that_a_tangent_rule_should_not_give(rule, make):
    g = lambda a: make(a, 3.0)
    rule(g, lambda a: (make(a, 3.0), lambda da: {"a": da, "zz": da}), zyg.tangent)
    total = lambda a: (v := g(a)) and (v["a"] if make is of_two_dict else v.a)
    for run in (zyg.jvp, lambda f, p, t: zyg.composed.jvp(None, f, (p, t), {})):
        with pytest.raises(TypeError, match=r"its value has no (key|attribute) 'zz'"):
            run(total, (2.0,), (1.0,))


def test_the_gradient_of_an_attribute_with_an_underscore_is_a_cotangent():
    class Hidden:
        def __init__(self, x):
            self._x = x

    Gradient = namedtuple("Gradient", "x")
    for c in (Gradient(3.0), {"_x": 3.0}, {"x": 3.0}):
        for pull in (zyg.pullback, python_pullback):
            assert pull(lambda x: Hidden(x * x), 2.0)[1](c) == (12.0,)


def test_what_functions_captured_goes_by_name(rule):
    def caller(f, x):
        return f(x)

    rule(caller, lambda f, x: (f(x), lambda d: ({"b": d * 3.0, "a": d * 2.0}, d)))
    Captured = namedtuple("Captured", "b a")

    def program(a, b):
        return caller(lambda x: a * x + b * x, 1.0)

    for way in (natively, through_python):
        assert way(program, 5.0, 6.0) == (2.0, 3.0)
    zyg.adjoint(caller)(lambda f, x: (f(x), lambda d: (Captured(d * 3.0, d * 2.0), d)))
    for way in (natively, through_python):
        assert way(program, 5.0, 6.0) == (2.0, 3.0)


# ------------------------------------------------------------------------------------------------- what rules get


@by_one_python_a_day
@pytest.mark.parametrize("way", WAYS)
def test_a_rule_gets_the_cotangent_of_a_dict(rule, way):
    f = lambda x: {"a": x * x, "in": ({"b": 3.0 * x}, x)}
    g = lambda x: f(x)
    rule(g, lambda x: (f(x), lambda d: (2 * x * d["a"] + 3.0 * d["in"][0]["b"] + d["in"][1],)))
    total = lambda f: lambda x: (v := f(x))["a"] * 100.0 + v["in"][0]["b"] * 10.0 + v["in"][1]
    assert way(total(g), 2.0) == way(total(f), 2.0) == (431.0,)
    assert zyg.gradient(lambda x: way(total(g), x)[0], 2.0) == (200.0,)


def test_a_rule_gets_the_cotangent_of_a_dict_that_it_changes(rule):
    def double(p):
        p["a"] = 2.0 * p["a"]

    target = lambda p: double(p)

    def with_rule(p):
        double(p)
        return None, lambda d, after: ({"a": 2.0 * after["a"], "b": after["b"]},)

    zyg.adjoint(target, mutates=0)(with_rule)

    def total(f, x):
        p = {"a": x, "b": 3.0 * x}
        f(p)
        return p["a"] * p["b"]

    for pull in (zyg.pullback, python_pullback):
        assert pull(lambda x: total(target, x), 2.0)[1](1.0) == pull(lambda x: total(double, x), 2.0)[1](1.0) == (24.0,)
    zyg.rules.remove(target)


@pytest.mark.parametrize("way", [zyg.gradient, through_python])
def test_a_rule_gets_the_cotangent_of_a_list_of_any_length(rule, way):
    f = lambda n, x: [x * i for i in range(n)]
    g = lambda n, x: f(n, x)
    rule(g, lambda n, x: (f(n, x), lambda d: (None, sum(c * i for i, c in enumerate(d)))))
    assert way(lambda n, x: sum(g(n, x)), 4, 2.0)[1] == way(lambda n, x: sum(f(n, x)), 4, 2.0)[1] == 6.0


def test_a_tangent_rule_gets_the_tangent_of_a_dict(rule):
    f = lambda p: p["a"] * p["a"] * p["b"]
    g = lambda p: f(p)
    rule(g, lambda p: (f(p), lambda t: 2 * p["a"] * p["b"] * t["a"] + p["a"] * p["a"] * t["b"]), zyg.tangent)
    for run in (zyg.jvp, lambda f, p, t: zyg.composed.jvp(None, f, (p, t), {})):
        assert run(lambda x: g({"a": x, "b": 2.0 * x}), (3.0,), (1.0,)) == (54.0, 54.0)


def test_the_value_of_a_tangent_rule_lacks_nothing(rule):
    f = lambda x: {"a": x * x, "b": x}
    rule(f, lambda x: ({"a": x * x}, lambda t: {"a": 2 * x * t}), zyg.tangent)
    with pytest.raises(KeyError, match="'b'"):  # as the rule gives the value
        zyg.jvp(lambda x: (v := f(x))["a"] * 3.0 + v["b"], (3.0,), (1.0,))


# ------------------------------------------------------------------------------------------------- complex numbers


def product(x, y):
    return x * y


@pytest.mark.parametrize("way", WAYS)
def test_of_a_complex_cotangent_a_real_number_gets_the_real_part(rule, way):
    f, g = lambda x, y: product(x, y), lambda p: product(p[0], p[1])
    rule(f, lambda x, y: (x * y, lambda d: (d * (y + 1j), d * x)))
    rule(g, lambda p: (p[0] * p[1], lambda d: ([d * (p[1] + 1j), d * p[0]],)))
    assert way(f, 2.0, 3.0) == (3.0, 2.0)
    run = anyhow(way)
    assert run(g, [2.0, 3.0]) == ([3.0, 2.0],)
    assert [type(c) for c in (*way(f, 2.0, 3.0), *run(g, [2.0, 3.0])[0])] == [float] * 4


def test_complex_cotangents_of_complex_numbers(rule):
    f = lambda z, x: z * x
    rule(f, lambda z, x: (z * x, lambda d: (d * x, d * z.conjugate())))
    wanted = zyg.gradient(lambda z, x: (z * x).imag, 1 + 2j, 3.0)
    for pull in (zyg.pullback, python_pullback):
        found = pull(lambda z, x: f(z, x).imag, 1 + 2j, 3.0)[1](1.0)
        assert found == wanted == (3j, 2.0)
        found = pull(lambda zs, x: f(zs[0], x).imag, [1 + 2j, 1j], 3.0)[1](1.0)
        assert found[0][0] == 3j
        assert found[1] == 2.0


def test_a_complex_cotangent_of_a_real_value_is_refused():
    for pull in (zyg.pullback, python_pullback):
        for f, c in ((lambda x: x * x, 1j), (lambda x: (x, x), (1j, 1.0)), (lambda x: [x, x], [1j, 1.0])):
            with pytest.raises(TypeError, match="number, not a complex"):
                pull(f, 2.0)[1](c)
        assert pull(lambda x: x * (1 + 2j), 2.0)[1](1j) == (2.0,)


def test_the_place_and_what_is_wanted_are_said():
    back = zyg.pullback(lambda x: {"a": x, "t": (x, Plain(x, x), x)}, 2.0)[1]
    with pytest.raises(TypeError, match=r"^the cotangent\['t'\]\[1\] has the attribute 'zz', which the value has not"):
        back({"t": (None, {"zz": 1.0}, None)})
    with pytest.raises(TypeError, match=r"^the cotangent\['t'\]\[1\] should be a Plain with a, b, or a tuple of 2"):
        back({"t": (None, 1.0, None)})
    with pytest.raises(TypeError, match=r"^the cotangent\['t'\]\[1\].b should be a number"):
        back({"t": (None, {"b": "x"}, None)})
    assert back({"t": (None, {"b": 1.0}, None)}) == (1.0,)
