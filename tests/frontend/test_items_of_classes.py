"""`Class[key]`: what the class of the class says, or its own `__class_getitem__`; of what is generic, the class."""

from __future__ import annotations

import collections.abc
import enum
from types import GenericAlias
from typing import Generic, TypeVar

import pytest

import zyg
from tests.side_by_side import check
from tests.turns import each_in_turn

pytestmark = [pytest.mark.filterwarnings("ignore::zyg.FallbackWarning"), each_in_turn]
T = TypeVar("T")


class Base:
    known: dict = {}  # noqa: RUF012

    def __class_getitem__(cls, key):
        return cls.known[key]

    def __call__(self, x):
        return 100.0 * x


class Square(Base):
    def __call__(self, x):
        return x * x


Base.known["square"] = Square


class Twice:
    def __class_getitem__(cls, key):
        return key * 2.0


class Derived(Twice):
    weight = 3.0


class Static:
    @staticmethod
    def __class_getitem__(key):
        return key * 5.0


class Of(type):
    def __getitem__(cls, key):
        return cls.weight * key


class Weighing(metaclass=Of):
    weight = 7.0

    def __class_getitem__(cls, key):
        return -1.0


class Refusing(Of):
    def __getitem__(cls, key):
        raise KeyError(key)


class Refused(metaclass=Refusing):
    pass


class Plain:
    pass


class Silent(Twice):
    __class_getitem__ = None


class Box(Generic[T]):
    def __init__(self, v):
        self.v = v


class OwnBox(Box[T]):
    def __class_getitem__(cls, key):
        return 4.0 if key == "four" else super().__class_getitem__(key)


class Alias:
    __class_getitem__ = classmethod(GenericAlias)

    def __init__(self, v):
        self.v = v


class Row(collections.abc.Sequence):
    def __init__(self, v):
        self.v = v

    def __len__(self):
        return 1

    def __getitem__(self, k):
        return self.v


class Colour(enum.Enum):
    RED = 2.0


class Answering(type):
    def __getattr__(cls, name):
        if name != "__class_getitem__":
            raise AttributeError(name)
        return lambda key: key * 3.0


class Answered(metaclass=Answering):
    pass


EXAMPLES = {
    "a class out of a table": lambda x: Base["square"]()(x),
    "a number": lambda x: Twice[3] * x,
    "of the argument": lambda x: Twice[x] * x,
    "derived": lambda x: Derived[x] * Derived.weight,
    "a static method": lambda x: Static[x] * x,
    "a tuple": lambda x: Twice[1, 2] if isinstance(x, int) else x * x,
    "by the metaclass": lambda x: Weighing[x] * x,
    "the metaclass raises": lambda x: Refused["no"] * x,
    "not subscriptable": lambda x: Plain[3] * x,
    "None": lambda x: Silent[3] * x,
    "generic": lambda x: Box[float](x).v * x,
    "generic by another": lambda x: OwnBox["four"] * x,
    "an alias": lambda x: Alias[int](x).v * x,
    "of collections.abc": lambda x: Row[float](x).v * x,
    "a builtin class": lambda x: list[float]([x, 2.0])[0] * x,
    "an enumeration": lambda x: Colour["RED"].value * x,
    "by __getattr__ of the metaclass": lambda x: Answered[x] * x,
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_items_of_classes_are_those_of_cpython(name):
    check(EXAMPLES[name], 1.5)


def test_compiled_code_calls_the_method():
    assert zyg.jit(EXAMPLES["of the argument"])(1.5) == 4.5
    assert zyg.jit(EXAMPLES["by the metaclass"])(1.5) == 15.75
    assert zyg.jit(EXAMPLES["generic"])(1.5) == 2.25


def test_a_method_that_comes_later_is_called():
    class Late:
        def __class_getitem__(cls, key):
            return key * 2.0

    f = zyg.jit(lambda x: Late[x])
    assert f(1.5) == 3.0
    Late.__class_getitem__ = classmethod(lambda cls, key: key * 4.0)
    assert f(1.5) == 6.0
