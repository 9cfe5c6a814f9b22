"""Class patterns that run no code of the user's: plain classes, dataclasses, named tuples, and those that are changed meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_turn

pytestmark = each_in_turn


class Pair(NamedTuple):
    a: Any
    b: Any


class Odd(Pair):
    @property
    def a(self):  # pyright: ignore[reportIncompatibleVariableOverride]
        return self[1] * 3


@dataclass
class Point:
    a: Any
    b: Any = 2.0


class Bare:
    """Which has its attributes now and then."""


class Answering:
    __match_args__ = ("a",)

    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        return self.x * len(name)


def both(s):
    match s:
        case Odd(b=q, a=p):
            return p * q
        case Pair(b=q, a=p):
            return p * q * q
        case Point(p, q):
            return p * q + q
        case Bare(a=p, b=q) | Answering(p, b=q):
            return p * p * q
        case Bare(b=q):
            return q * 5.0
        case float() | int():
            return s * 2.0
    return 1.0


def one(s):
    match s:
        case Pair(p):
            return p * p
        case Point(b=p):
            return p * p
        case Answering(p):
            return p * 2.0
        case Bare(a=_):
            return 7.0
        case float(p):
            return p * 3.0
    return 1.0


def bare(**held):
    made = Bare()
    vars(made).update(held)
    return made


SUBJECTS = {
    "a named tuple": lambda x: Pair(x, x * x),
    "part of one": lambda x: Pair(2.0, x),
    "one with a property": lambda x: Odd(x, x),
    "a dataclass with its default": lambda x: Point(x),
    "a dataclass": lambda x: Point(x, x * 2),
    "all attributes": lambda x: bare(a=x, b=x * x),
    "one of the attributes": lambda x: bare(b=x),
    "no attributes": lambda x: bare(),
    "__getattr__": Answering,
    "a number": lambda x: x,
    "a text": lambda x: str(x),
}


@pytest.mark.parametrize("f", [both, one])
@pytest.mark.parametrize("name", SUBJECTS)
def test_derivatives(name, f):
    made = SUBJECTS[name]
    check(lambda x: f(made(x)) * x, 1.3)
    check_second(lambda x: f(made(x)) * x, 1.3)


def test_attributes_that_come_and_go():
    def f(x):
        total = 0.0
        for k in range(6):
            held = {"a": x * k, "b": x} if k % 2 else {"b": x * x}
            total = total + both(bare(**held))
        return total

    check(f, 1.3)
    check_second(f, 1.3)


def test_classes_that_change():
    def f(x):
        @dataclass
        class Changing:
            a: Any
            b: Any

        def matched(s):
            match s:
                case Changing(p):
                    return p * p
                case _:
                    return x

        s = Changing(x, x * x * x)
        total = matched(s)
        Changing.__match_args__ = ("b", "a")
        total = total + matched(s)
        Changing.b = property(lambda s: s.a * 2.0)  # pyright: ignore[reportAttributeAccessIssue]
        total = total + matched(s)
        del Changing.__match_args__
        try:
            matched(s)
        except TypeError:
            total = total * x
        return total

    check(f, 1.3)
