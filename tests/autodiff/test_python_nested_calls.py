"""Second derivatives through calls with keywords, defaults, `*args` and `**kwargs`."""

from __future__ import annotations

import collections
import dataclasses
import functools
import importlib
import inspect
import pkgutil

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff import objects
from zyg.autodiff.objects import foreign
from zyg.fallback import python_pullback


def decorated(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs) * args[0]

    return wrapper


@decorated
def g(a, b=2.0, *, c=3.0):
    return a * a * b * c


def decorators(x):
    s = {1}  # noqa: F841  (not for native code)
    return g(x) + g(x, x) + g(x, b=x * x) + g(x, c=x) + g(*(x,), b=x, c=x * x)


def h(a, *rest, k=1.0, **more):
    return a * rest[0] * rest[-1] * k * more.get("z", 1.0)


def spread(x):
    s = {1}  # noqa: F841
    return h(x, x, x) + h(x, x, 2.0, k=x) + h(x, x, z=x * x)


def default(x):
    def q(a, b=x * x):
        return a * b

    s = {1}  # noqa: F841
    return q(x)


@dataclasses.dataclass
class P:
    a: float
    b: float = 2.0


def replaced(x):
    p = P(x, x * x)
    q = dataclasses.replace(p, b=x * p.b)
    return q.a * q.b


Pair = collections.namedtuple("Pair", "a b")


def fields(x):
    s = {1}  # noqa: F841
    p = Pair(x, x * x)
    q = p._replace(b=p.a * p.b)
    return q.a * q.b


def steps(x):
    following = iter([x, x * x]).__next__
    return following() * following()


@functools.lru_cache
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def cached(x):
    return x * fibonacci(6) * x


class Reason(Exception):
    def __init__(self, text, at=None, *, hint=None):
        super().__init__(text)
        self.at, self.hint = at, hint


def raised(x):
    try:
        raise Reason(x, hint=x * x)
    except Reason as reason:
        return reason.hint * reason.args[0]


class Attributes:
    def __init__(self, **held):
        self.__dict__.update(held)


def joined(x):
    made = Attributes(a=x * x)
    return vars(made)["a"] * vars(made)["a"]


def frozen(x):
    return sum(v * v for v in frozenset([x, x * x, x])) * max(frozenset([x]) | {x * x})


PROGRAMS = [decorators, spread, default, replaced, fields, steps, cached, raised, joined, frozen]


@each_in_long_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@each_in_turn
@pytest.mark.parametrize("function", PROGRAMS)
def test_second_derivative(function):
    got = zyg.gradient(lambda x: zyg.gradient(function, x)[0], 0.7)[0]
    assert got == pytest.approx(differences.derivative(lambda x: zyg.gradient(function, x)[0], 0.7), rel=1e-6)


@each_in_long_turn
def test_second_derivatives_behind_several_comparisons():
    """What stands for one comparison in a second derivative does not stand for another one."""

    def back(x, y):
        return x * x if x > y else x if x >= y else y * y * y

    def inner(x, y):
        return x * x * x * y if x < y else x if x <= y else y

    for function, expected in ((back, 6.0 * 5.0), (inner, 6.0 * 1.5 * 5.0)):
        first = lambda x, y, function=function: python_pullback(function, (x, y), {})[1](1.0)
        at = 1 if function is back else 0
        _, second = python_pullback(lambda x, y, first=first, at=at: first(x, y)[at], (1.5, 5.0), {})
        assert second(1.0)[at] == pytest.approx(expected)


def test_pullbacks_are_differentiated():
    """What does a pullback's work is none of the functions of zyg that a second derivative takes for constants."""
    found = {}
    for module in pkgutil.iter_modules(objects.__path__, f"{objects.__name__}."):
        for function in vars(importlib.import_module(module.name)).values():
            if inspect.isfunction(function) and [*inspect.signature(function).parameters][:2] == ["back", "d"]:
                found[function] = foreign.is_compiler(function)
    assert len(found) > 100
    assert [f.__qualname__ for f, constant in found.items() if constant] == []


FOUND: list[float] = []


def squares(x):
    for _ in range(2):  # worth trying natively, where the list is refused
        FOUND.append(x * x)
    return x


@each_in_turn
@pytest.mark.parametrize(
    "f",
    [
        lambda x: sum(map(squares, [x])) + sum(FOUND),
        lambda x: sorted([x, 2.0 * x], key=squares)[0] + sum(FOUND),
        lambda x: functools.partial(squares)(x) + sum(FOUND),
    ],
)
def test_what_functions_with_loops_change_that_are_called_by_others(f):
    """Native code, which had refused them, had a pullback through Python of their own, which knew nothing of the list."""

    def value(x):
        FOUND.clear()
        return f(x)

    slope = lambda x: python_pullback(value, (x,), {})[1](1.0)[0]
    expected = (value(0.75) - 2.0 * value(0.5) + value(0.25)) * 16.0  # a square
    found, second = python_pullback(slope, (0.5,), {})
    assert found == slope(0.5)
    assert second(1.0)[0] == expected
