"""Class statements inside of differentiated functions: attributes, defaults and namespaces that carry derivatives."""

from __future__ import annotations

import abc
import dataclasses
import enum
import typing

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_turn

pytestmark = each_in_turn


def attributes(x, y):
    class C:
        k = x * y
        items = []  # noqa: RUF012

    C.k *= 2
    C.items.append(y)
    c = C()
    c.k += 1
    return c.k * C.k * C().items[0]


def constants(x, y):
    class C:
        k = 2.0

        def m(self, a=3.0):
            return a * x * self.k

    return C().m() * C.k * y


def defaults_of_methods(x, y):
    class C:
        def m(self, a=x * y):
            return a * x

    return C().m()


def inherited(x, y):
    class A(abc.ABC):
        k = x * y
        z: float = k * 2

        class B:
            q = x * x

        def m(self, a=k * y):
            return a * self.k * self.B.q

        @abc.abstractmethod
        def w(self): ...

    class D(A):
        many = [A.k * i for i in range(3)]  # noqa: RUF012

        def w(self):
            return super().m() * self.many[2]

    return D().w() * D.z * D.k


def data(x, y):
    @dataclasses.dataclass
    class P:
        a: float
        b: float = x * y

    return P(x).b * P(y, x).a + P(2.0).b * y


def descriptors(x, y):
    class P:
        u = x

        @property
        def b(self):
            return self.u * y

        @staticmethod
        def s(a=x * x):
            return a

        @classmethod
        def c(cls):
            return cls.u * cls.u

    p = P()
    return p.b * P.s() + p.c()


def named(x, y):
    class N(typing.NamedTuple):
        a: float
        b: float = 2.0

    return N(x).a * N(x, y).b


def of_a_metaclass(x, y):
    class M(type):
        def __new__(m, name, bases, namespace, **k):
            return super().__new__(m, name, bases, namespace)

        def __init__(c, name, bases, namespace, f=1):
            c.f = f * namespace["k"]

    class P(metaclass=M, f=3):
        k = x * y

    return P.k * P.f


def enumerated(x, y):
    class E(enum.Enum):
        A = 1
        B = 2

    return x * E.A.value + y * E["B"].value


FIRST = [attributes, constants, defaults_of_methods, inherited, data, descriptors, named, of_a_metaclass, enumerated]


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("function", FIRST)
def test_class_statement(function):
    value, gradient = zyg.withgradient(function, 0.7, 1.3)
    assert value == function(0.7, 1.3)
    by_x = differences.derivative(lambda x: function(x, 1.3), 0.7)
    by_y = differences.derivative(lambda y: function(0.7, y), 1.3)
    assert gradient == pytest.approx((by_x, by_y), rel=1e-6)


class AnswersToAll:
    def __getattribute__(self, name):
        return len


HOSTILE = AnswersToAll()
SCALE = [2.0]


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_code_from_text_sees_only_the_names_that_it_uses():
    """A module's names lead to objects of all kinds, which are no business of a dataclass made in a function."""
    assert zyg.gradient(data, 0.7, 1.3)[0] == pytest.approx(
        differences.derivative(lambda x: data(x, 1.3), 0.7), rel=1e-6
    )

    def through(x):
        SCALE[0] = x * x
        names = {}
        exec("y = SCALE[0] * 3", globals(), names)
        return names["y"]

    with pytest.raises(zyg.Unsupported, match="exec"):
        zyg.gradient(through, 1.5)
    SCALE[0] = 2.0
