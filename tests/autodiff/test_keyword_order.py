"""Keyword arguments in another order than the parameters: each gets its own cotangent, in first and second derivatives."""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections import namedtuple

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn


def plain(a, b):
    return a * a * b


def with_defaults(a, b=2.0, c=3.0):
    return a * a * b * c**3


def by_keyword_only(a, *, b, c=1.0):
    return a * a * b * c**3


def of_any(a, *rest, b=1.0, **more):
    return a * a * b * sum(rest, 1.0) * more.get("z", 1.0) ** 3 * more.get("y", 1.0) ** 4


class Base:
    def __init__(self, a, b, c=2.0):
        self.a, self.b, self.c = a, b, c

    def method(self, p, q=1.0, *, r=2.0):
        return self.a * p**2 * q**3 * r**4

    fixed = functools.partialmethod(method, q=3.0)

    @classmethod
    def of_class(cls, p, q):
        return p * p * q

    @staticmethod
    def static(p, q):
        return p * p * q

    def __call__(self, p, q):
        return p**2 * q * self.a


class Derived(Base):
    def __init__(self, b, a):
        super().__init__(b=b, a=a)

    def method(self, p, q):
        return super().method(q=q, p=p)


class MadeByNew:
    def __new__(cls, a, b):
        made = super().__new__(cls)
        made.a, made.b, made.c = a, b, 1.0
        return made


class Failure(Exception):
    def __init__(self, a, b):
        super().__init__(a)
        self.a, self.b, self.c = a, b, 1.0


@dataclasses.dataclass
class Data:
    a: float
    b: float = 1.0
    c: float = dataclasses.field(default=2.0, kw_only=True)


Named = namedtuple("Named", "a b c", defaults=[3.0])


def value(o):
    return o.a**2 * o.b * o.c**3


def wrapped(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs)

    return inner


around = wrapped(plain)


@functools.lru_cache
def cached(p, q):
    return p * p * q


def raised(x):
    try:
        raise Failure(b=x * 2, a=x)
    except Failure as error:
        return value(error)


def generated(p, q):
    yield p * p * q
    yield q**3


def recursive(x, n):
    return x if n == 0 else x * recursive(n=n - 1, x=x * x)


PROGRAMS = {
    "function": lambda x: plain(b=x * 3, a=x),
    "defaults": lambda x: with_defaults(c=x, a=x * 2) * with_defaults(x, c=x * x, b=3.0),
    "keyword only": lambda x: by_keyword_only(c=x, b=2 * x, a=x**2) * by_keyword_only(x, c=x * 2, b=x),
    "any": lambda x: of_any(x, 2.0, x, z=x * 2, b=x, y=x) * of_any(b=x, y=2 * x, a=x, z=x**2),
    "construction": lambda x: value(Base(c=x, b=x * 3, a=x)) * value(Base(b=x * 3, a=x)),
    "methods": lambda x: Base(x, 1.0).method(q=x * 2, p=x) * Base(x, 1.0).method(x, r=x * 2, q=x),
    "of classes": lambda x: Base.of_class(q=x * 2, p=x) * Base(1.0, 1.0).of_class(q=x, p=2 * x),
    "static": lambda x: Base.static(q=x * 2, p=x) * Base(b=1.0, a=x)(q=x * 2, p=x),
    "derived": lambda x: value(Derived(a=x * 2, b=x)) * Derived(1.0, x).method(q=x * 2, p=x),
    "through the class": lambda x: Base.method(Base(b=1.0, a=x), q=x, p=x * 2),
    "new": lambda x: value(MadeByNew(b=x * 3, a=x)),
    "dataclass": lambda x: value(Data(c=x, b=x * 2, a=x**2)),
    "replaced": lambda x: value(dataclasses.replace(Data(x, x * 2), c=x, a=x * x)),
    "named tuple": lambda x: value(Named(c=x, b=x * 2, a=x**2)) * value(Named(x, x * 2)._replace(c=x, a=x * x)),
    "wrapper": lambda x: around(b=x * 3, a=x),
    "partial": lambda x: functools.partial(with_defaults, b=x * 2)(c=x, a=x**2),
    "partial of a plain function": lambda x: functools.partial(plain, b=x * 3)(a=x),
    "partial of partial": lambda x: functools.partial(functools.partial(by_keyword_only, b=x * 3), c=x)(a=x),
    "partial method": lambda x: Base(x, 1.0).fixed(p=x),
    "a dict with names of parameters": lambda x: (
        d := {"f": x},
        d.update(x=x * x, args=x),
        d["f"] * d["x"] * d["args"],
    )[2],
    "partial in map": lambda x: next(map(functools.partial(plain, b=x), [x])),
    "methodcaller": lambda x: operator.methodcaller("method", q=x * 2, p=x)(Base(x, 1.0)),
    "lambda": lambda x: (lambda p, q: p * p * q * x)(q=x * 2, p=x),
    "spread": lambda x: plain(**{"b": x * 3, "a": x}) * by_keyword_only(x, **{"c": x * 2, "b": x}),
    "bound method": lambda x: (lambda f: f(q=x * 2, p=x))(Base(x, 1.0).method),
    "reduce": lambda x: functools.reduce(lambda total, v: plain(b=total, a=v), [x, x * 2, x + 1]),
    "exception": raised,
    "generator": lambda x: sum(v for v in generated(q=x * 2, p=x)),
    "nested": lambda x: plain(b=plain(b=x, a=x * 2), a=plain(b=x * 2, a=x)),
    "recursive": lambda x: recursive(n=3, x=x),
    "cached": lambda x: cached(q=x * 2, p=x),
    "builtin": lambda x: pow(exp=x * 2, base=x + 1) * sum([x * x, x], start=x**3),
}


def through_python(program):
    def function(x):
        try:
            return program(x)
        finally:
            len([])

    return function


@each_in_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_first_derivatives(name):
    wanted = differences.derivative(PROGRAMS[name], 0.7)
    assert zyg.derivative(through_python(PROGRAMS[name]))(0.7) == pytest.approx(wanted, rel=1e-7)


@each_in_long_turn
@each_in_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives(name):
    function = through_python(PROGRAMS[name])
    assert zyg.hvp(function, 0.7, 1.0) == pytest.approx(differences.derivative(zyg.derivative(function), 0.7), rel=1e-6)
