"""Methods of builtin classes with arguments that they do not take, attributes that cannot be set, functions that only raise, objects
that have no hash: CPython's exceptions, with CPython's texts."""

from __future__ import annotations

import copy
import types
from dataclasses import dataclass

import pytest

import zyg
from tests.side_by_side import check, outcome
from tests.turns import each_in_turn
from zyg.errors import Misuse

pytestmark = [pytest.mark.filterwarnings("ignore::zyg.FallbackWarning"), each_in_turn]


class Slotted:
    __slots__ = ("a",)
    k = 3

    def __init__(self, a):
        self.a = a

    def method(self):
        return self.a


class Open:
    def __init__(self, a):
        self.a = a

    def times(self, y):
        return self.a * y


@dataclass
class Called:  # it has an __eq__, and no hash
    a: float

    def __call__(self, y):
        return self.a * y


class Copied:
    def __init__(self, v, w):
        self.v, self.w = v, w

    def __deepcopy__(self, memo):
        return Copied(copy.deepcopy(self.v, memo), copy.deepcopy(self.w, memo))


class Real(float):
    pass


def set_slot(x):
    Slotted(x).c = x


def set_method(x):
    Slotted(x).method = x


def set_constant(x):
    Slotted(x).k = x


def delete_slot(x):
    del Slotted(x).c


def delete_constant(x):
    del Slotted(x).k


def delete(x):
    del Open(x).c


def set_of_none(x):
    thing = None
    thing.c = x


def set_of_what_may_be_none(x):
    thing = Open(x) if x > 5 else None
    thing.c = x


def delete_of_what_may_be_none(x):
    thing = Open(x) if x > 5 else None
    del thing.a


def deep(x):
    both = [x, x * x]
    made = copy.deepcopy(Copied(both, both))
    made.v[0] = made.v[0] * x
    return made.w[0] * made.w[1] + (made.v is made.w) + (made.v is both)


EXAMPLES = {
    "slot": set_slot,
    "method": set_method,
    "constant": set_constant,
    "deleted slot": delete_slot,
    "deleted constant": delete_constant,
    "deleted": delete,
    "of None": set_of_none,
    "of what may be None": set_of_what_may_be_none,
    "deleted of what may be None": delete_of_what_may_be_none,
    "is_integer": lambda x: x.is_integer(x),
    "is_integer, by name": lambda x: x.is_integer(k=x),
    "bit_length": lambda x: (2).bit_length(3) * x,
    "hex": lambda x: x.hex(3),
    "conjugate": lambda x: x.conjugate(x),
    "conjugate of a complex number": lambda x: (x + 2j).conjugate(x).real,
    "as_integer_ratio": lambda x: x.as_integer_ratio(3),
    "copy": lambda x: [x].copy(2)[0],
    "append": lambda x: [x].append(),
    "append of two": lambda x: [x].append(x, x),
    "append by name": lambda x: [x].append(k=x),
    "sort": lambda x: [x].sort(x),
    "pop": lambda x: [x].pop(1, 2),
    "index": lambda x: [x].index(),
    "count": lambda x: (x,).count(),
    "keys": lambda x: {"a": x}.keys(1),
    "values": lambda x: {"a": x}.values(k=1),
    "get": lambda x: {"a": x}.get("a", 1, 2),
    "dict.pop": lambda x: {"a": x}.pop(),
    "upper": lambda x: "a".upper(1),
    "an object as the function of a method": lambda x: types.MethodType(Called(x), x)(),
    "a static method of an object": lambda x: staticmethod(Called(x))(x),
    "__call__ of a method": lambda x: Open(x).times.__call__(x),
    "__call__ of a builtin": lambda x: max.__call__(x, 1.0) * x,
    "__float__": lambda x: x.__float__() * x,
    "__float__ of an int": lambda x: (3).__float__() * x,
    "of a derived float": lambda x: Real(x).conjugate() * Real(x).__float__() * (type(Real(x).__float__()) is float),
    "a number cut off": lambda x: x.__int__() * x + x.__trunc__() * x,
    "deepcopy by the object": deep,
    "deepcopy by objects in objects": lambda x: copy.deepcopy(Copied(Copied([x], 2.0), x)).v.v[0] * x,
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_values_and_exceptions_are_those_of_cpython(name):
    check(EXAMPLES[name], 1.5)


def test_a_method_that_is_bound_to_a_number_is_refused_by_its_call():
    with pytest.raises(zyg.Unsupported):
        zyg.gradient(lambda x: types.MethodType(lambda a, b: a * b, x).__call__(x), 1.5)


def asserting(x):
    assert x > 10


def asserting_with_a_text(x):
    assert x > 10, (x, "small")


def asserting_at_last(x):
    while x < 5.0:
        x = x * 2
    assert x > 10


@pytest.mark.parametrize("f", [asserting, asserting_with_a_text, asserting_at_last])
def test_what_raises_before_it_returns_nothing_raises(f):
    expected = outcome(lambda: f(1.5))
    assert expected[0] == "AssertionError"
    for run in (zyg.gradient, zyg.withgradient, lambda f, x: zyg.grad(f)(x), lambda f, x: zyg.derivative(f)(x)):
        assert outcome(lambda: run(f, 1.5)) == expected  # noqa: B023
        with pytest.raises(Misuse, match="None"):
            run(f, 20.0)
