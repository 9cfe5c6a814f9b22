"""Calls with `**d` of classes: with an `__init__` that takes names or all, dataclasses, classes from a table, metaclasses, wrong names; of methods. And
sets and frozen sets made of what carries nothing, and of numbers. Against differences."""

from __future__ import annotations

import dataclasses

import pytest

from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn


class Settings:
    def __init__(self, **values):
        self.values = values


class Named:
    def __init__(self, a, b=2.0, *, c=3.0):
        self.total = a * b + c


class Derived(Named):
    def __init__(self, d, **rest):
        super().__init__(**rest)
        self.total *= d


@dataclasses.dataclass
class Record:
    a: float
    b: float = 1.5


class Counting(type):
    def __call__(cls, *args, **kwargs):
        made = super().__call__(*args, **kwargs)
        made.total *= len(kwargs)
        return made


class Counted(Named, metaclass=Counting):
    pass


def classes(x):
    total = 0.0
    for k in range(3):
        d = {"a": x, "b": x * x + k}
        for cls in (Named, Counted):
            total += cls(**d).total + cls(x, **{"c": d["a"] * 2.0}).total
        total += Derived(**{"d": x, **d}).total + Record(**d).a * Record(**{"a": x}).b
        s = Settings(**d)
        s.values["a"] += 1.0
        total += s.values["a"] * s.values["b"] + d["a"]
        d["a"] = 5.0
        total += s.values["a"] + Settings(**{name: v * x for name, v in d.items()}).values["a"]
    return total


def wrong_names(x):
    total = x
    for d in ({"a": x}, {"a": x, "z": x}, {"b": x}):
        try:
            total += Named(**d).total
        except TypeError as error:
            total += len(str(error)) * x
    return total


def local(x):
    class Own:
        def __init__(self, a, **rest):
            self.a, self.rest = a * x, rest

    made = [Own(**{"a": x, "b": k * x}) for k in range(3)]
    return sum(o.a * o.rest["b"] for o in made)


class Taking:
    def __init__(self, scale):
        self.scale = scale

    def all(self, *args, **kwargs):
        return sum(args) * self.scale + sum(kwargs.values()) * args[0]

    def default(self, a, b=2.0):
        return a * b * self.scale

    def by_keyword(self, a, /, *, b):
        return a * b + self.scale


def methods(x):
    """With arguments behind both stars."""
    o, total = Taking(x), 0.0
    for k in range(4):
        for args, kwargs in (((x,), {"b": x * k}), ((x, 2.0), {}), ((x * k,), {"b": 3.0})):
            total += o.all(*args, **kwargs) + o.default(*args, **kwargs)
        total += o.by_keyword(*(x,), **{"b": x * k}) + o.all(*(x, k), **{"b": x, "c": x * x})
        try:
            o.default(*(x, x), **{"b": x})
        except TypeError as error:
            total += len(str(error)) * x
    return total


def with_options(margin, **fixed):
    def decorate(f):
        def call(*args, **kwargs):
            return f(*args, margin=margin, **kwargs)

        def last(*args, **kwargs):
            try:
                return f(*args, margin=margin, last=2.0, **kwargs)
            finally:
                kwargs["b"] = 0.0

        def of_lists(*args, **kwargs):
            rest = list(args[1:])
            return f(args[0], *rest, margin=margin, **(kwargs | fixed))

        call.last, call.of_lists = last, of_lists
        return call

    return decorate


def price(a, b=2.0, *more, margin, last=1.0, **others):
    others["n"] = a
    return a * b * margin + last * a + sum(more) * b + sum(others.values()) * margin


def decorated(x):
    total = 0.0
    priced = with_options(x, z=x * x)(price)
    for f in (priced, priced.last, priced.of_lists):
        kept = {"b": x, "c": x * x}
        total += f(x) + f(x, 3.0) + f(x, x, x * 2.0) + f(x, b=x) + f(x, b=2.0, c=x, d=3.0) + f(x, **kept)
        total += kept["b"] * kept["c"] + f(x, x, 1.0, **{"c": x})
        kept["b"] = 7.0
        total += f(x, **kept)
    return total


class Scaled:
    def __init__(self, scale, **others):
        self.scale, self.others = scale, others

    def __call__(self, a, *, margin, **others):
        return a * self.scale * margin + sum(others.values()) * a

    def passed_on(self, *args, **kwargs):
        return self(*args, margin=self.scale, **kwargs) + Scaled(*args, first=self.scale, **kwargs).others["first"]


def called_otherwise(x):
    s = Scaled(x)
    g = with_options(x)(lambda a, margin, b=1.0: a * margin * b)
    total = s.passed_on(x) + s.passed_on(x, c=x * x) + with_options(x)(s)(x, c=x) + g(x) * g(x, b=x)
    return total + with_options(x)(dict)(a=x)["margin"] * with_options(x)(dict)({"z": x}, b=2.0)["z"]


def that_do_not_fit(x):
    f, total = with_options(x)(price), x
    for args, kwargs in (
        ((x,), {"margin": x}),
        ((x, x), {"b": x}),
        ((), {"c": x}),
        ((x,), {"last": x}),
        ((x,), {1: x}),
    ):
        for g in (f, f.last):
            try:
                total += g(*args, **kwargs)
            except TypeError as error:
                total += len(str(error)) * x
    return total


class Left(Exception):
    pass


def leave(a, *, margin, **others):
    raise Left(a * margin + sum(others.values()) * a)


def left_by_exceptions(x):
    total, f = 0.0, with_options(x)(leave)
    for kwargs in ({}, {"b": x}, {"c": 2.0, "b": x * x}):
        try:
            f(x, **kwargs)
        except Left as error:
            total += error.args[0] * x
    return total


def sets(x):
    labels = frozenset((1, "a")) | frozenset([2, 3]) | set().union(*[{k} for k in range(3)], "ab", (7,))
    numbers = frozenset((x, 2.0 * x, 3))
    both = set().union([x], {x * x, 4.0}, (5, "a"))
    both.update([x + 1.0], "b", range(2))
    both.difference_update({"a", "b"}, [5])
    total = len(labels) * x + sum(numbers) * len(frozenset({"k": x})) + sum(v * v for v in sorted(both))
    for label in labels - {"a", "b"}:
        total += label * x
    for v in frozenset({x, 1.0}):
        total += v * x
    return total + (frozenset((1, 2)) <= labels) * x + ({x} <= numbers) * x + ([1, "a"] == [1, "a"]) * x


@pytest.mark.parametrize(
    "f",
    [
        classes,
        wrong_names,
        local,
        methods,
        decorated,
        called_otherwise,
        that_do_not_fit,
        left_by_exceptions,
        sets,
    ],
)
def test_first_derivatives(f):
    check(f)


@each_in_long_turn
@pytest.mark.parametrize("f", [classes, local, methods, decorated, called_otherwise, left_by_exceptions, sets])
def test_second_derivatives(f):
    check_second(f)
