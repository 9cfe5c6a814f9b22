"""Class statements inside of differentiated functions: attributes, defaults and namespaces that carry derivatives."""

from __future__ import annotations

import abc
import dataclasses
import enum
import gc
import typing
from collections import namedtuple
from typing import Any, NamedTuple

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_turn
from zyg.fallback import python_pullback

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


def values_by_call(x):
    values = enum.Enum("Values", {"A": x, "B": x, "C": x * x, "D": 2.0, "f": lambda self: x})
    return values.A.value * x + values.B.value + sum(member.value for member in values) + values["D"].value * x


def paired(x):
    return enum.Enum("Values", [("A", x)]).A.value * x


@pytest.mark.filterwarnings("ignore::zyg.errors.FallbackWarning")
def test_enumerations_by_call():
    """Aliases are their first member: A and B."""
    assert zyg.withgradient(values_by_call, 3.0) == (32.0, (16.0,))
    with pytest.raises(zyg.Unsupported, match="a derivative by a value in the enumeration Values"):
        zyg.gradient(paired, 3.0)


def described(x):
    @dataclasses.dataclass(slots=True)
    class P:
        a: float
        b: float = x * x
        c: list = dataclasses.field(default_factory=list)

    made = dataclasses.make_dataclass("Q", ["a", ("b", int, 2)])
    space = {}
    exec("def of(kind):\n    def f(a: kind): ...\n    return f.__annotations__", space)
    texts.append((P.__doc__, made.__doc__, space["of"](int)))
    return P(x).b * made(x).a


texts: list = []


@pytest.mark.filterwarnings("ignore::zyg.errors.FallbackWarning")
def test_data_classes_and_code_from_text_are_described_as_python_does():
    described(3.0)
    assert zyg.gradient(described, 3.0) == (27.0,)
    assert len(texts) == 2 and texts[0] == texts[1]


def refused(x):
    class P:
        a: float = x
        b: float

    try:
        dataclasses.dataclass(P)
    except TypeError:
        texts.append(P.__doc__)
    return P.a * x


@pytest.mark.filterwarnings("ignore::zyg.errors.FallbackWarning")
def test_a_class_that_cannot_be_a_data_class_keeps_its_text():
    texts.clear()
    assert zyg.gradient(refused, 3.0) == (6.0,)
    assert texts == [None]


class Held:
    rate = 2.0


ATTRIBUTES = vars(Held)


@pytest.mark.filterwarnings("ignore::zyg.errors.FallbackWarning")
def test_attributes_of_classes_that_the_garbage_collector_does_not_list():
    def f(x):
        Held.rate = x * x
        return ATTRIBUTES["rate"] * x

    gc.freeze()  # and it stays so (conftest.py)
    assert zyg.gradient(f, 3.0) == (27.0,)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_metaclasses_and_bases_are_asked_once():
    told = []

    class Prepared(type):
        @classmethod
        def __prepare__(m, name, bases, **keywords):
            told.append(("prepare", name, bases, keywords))
            return {}

        def __new__(m, name, bases, namespace, **keywords):
            return super().__new__(m, name, bases, namespace)

    class Base:
        k = 2.0

    class StandsFor:
        def __mro_entries__(self, bases):
            told.append(("entries", len(bases)))
            return (Base,)

    def f(x):
        class A(metaclass=Prepared, w=1):
            pass

        class B(StandsFor()):
            v = x

        return B.v * B.v * B.k * len(B.__orig_bases__)

    f(0.5)
    expected = [("prepare", "A", (), {"w": 1}), ("entries", 1)]
    assert told == expected
    for derivative, slope in ((zyg.grad(f), 2.0), (zyg.grad(zyg.grad(f)), 4.0)):
        told.clear()
        assert derivative(0.5) == slope
        assert told == expected


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_errors_of_class_statements():
    class Left(type):
        pass

    class Right(type):
        pass

    class Base(metaclass=Left):
        pass

    def f(x, told):
        try:

            class A(Base, metaclass=Right):
                pass

        except TypeError as error:
            told.append(str(error))
        try:

            class B(3):
                pass

        except TypeError as error:
            told.append(str(error))
        return x

    expected, found = [], []
    f(0.5, expected)
    zyg.gradient(f, 0.5, found)
    assert len(found) == 2 and found == expected


class Counted:
    k = 2.0


class StandIn:
    """Asked once for what stands in for it."""

    asked = 0

    def __mro_entries__(self, bases):
        StandIn.asked += 1
        return (Counted,)


class OwnNamespace(type):
    @classmethod
    def __prepare__(metacls, name, bases, /, **keywords):
        return {}


@pytest.mark.parametrize("keywords", [{}, {"metaclass": OwnNamespace}])
def test_bases_are_asked_once(keywords):
    stand_in: Any = StandIn()

    def f(x):
        class A(stand_in, **keywords):
            def times(self):
                return x * x * self.k

        made: Any = A
        assert made.__orig_bases__ == (stand_in,)
        return made().times()

    StandIn.asked = 0
    value, back = python_pullback(f, (1.5,), {})
    assert (value, back(1.0), StandIn.asked) == (4.5, (6.0,), 1)
    StandIn.asked = 0
    assert python_pullback(lambda x: python_pullback(f, (x,), {})[1](1.0)[0], (1.5,), {})[1](1.0) == (4.0,)
    assert StandIn.asked == 1


def classes_made_by_functions(x):
    made = [
        namedtuple("Named", "a b"),
        namedtuple("Named", "a b", defaults=(x,)),
        NamedTuple("Named", [("a", float)]),
        enum.Enum("Kinds", "FIRST SECOND"),
        enum.IntFlag("Flags", names=["FIRST", "SECOND"]),
        type("Plain", (), {"a": x}),
        dataclasses.make_dataclass("Record", ["a"], namespace={"b": x}),
    ]
    told.append([cls.__module__ for cls in made])
    assert namedtuple("Named", "a", module="another").__module__ == "another"
    return made[1](1.0).b * made[5].a * made[6](1.0).b


told: list[list[str]] = []


def test_classes_made_by_functions_are_of_the_module_that_calls_these():
    told.clear()
    classes_made_by_functions(2.0)
    slope = lambda x: python_pullback(classes_made_by_functions, (x,), {})[1](1.0)[0]
    assert slope(2.0) == 12.0
    assert python_pullback(slope, (2.0,), {})[1](1.0) == (12.0,)
    assert told == [told[0]] * 3
