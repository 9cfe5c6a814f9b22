"""Classes that a function makes at each call: data classes and named tuples with what is derived from the arguments among their defaults,
and how much is compiled for them."""

from __future__ import annotations

import copy
import dataclasses
import gc
import inspect
import typing
import warnings
import weakref
from collections import namedtuple
from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import Any, ClassVar

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.python import compile as compilation
from zyg.fallback import python_pullback


def plain(x, y):
    @dataclass
    class Point:
        a: Any
        b: Any = 2.0

        def dot(self, other):
            return self.a * other.a + self.b * other.b

    return Point(x, y).dot(Point(y))


def default(x, y):
    @dataclass
    class Point:
        a: Any
        b: Any = x * y

    return Point(x).b * Point(y).a + Point.b * y


def default_by_keyword(x, y):
    @dataclass(kw_only=True)
    class Point:
        a: Any = x * y
        b: Any = y

    return Point(b=x).a * Point().b


def default_behind_the_mark(x, y):
    @dataclass
    class Point:
        a: Any
        _: KW_ONLY
        b: Any = x * y

    return Point(x).b * Point(y, b=x).a


def default_of_a_field(x, y):
    @dataclass
    class Point:
        a: Any = field(default=x * y)
        b: Any = field(default_factory=lambda: [x, y], repr=False)

    return Point().a * Point(1.0).b[0] + Point.a


def default_of_a_base(x, y):
    @dataclass
    class Base:
        a: Any = x * y

    @dataclass
    class Derived(Base):
        b: Any = y

    return Derived().a * Derived(b=x).b + Base().a


def default_of_a_base_that_is_hidden(x, y):
    @dataclass
    class Base:
        a: Any = x * y

    @dataclass
    class Derived(Base):
        a = x
        b: Any = y

    return Derived().a * Derived(b=x).b * Derived.a + Base().a + dataclasses.fields(Base)[0].default


def default_of_a_plain_base(x, y):
    class Base:
        b = x * y

    @dataclass
    class Derived(Base):
        b: Any

    return Derived().b * Derived(x).b


def default_that_is_a_tuple(x, y):
    @dataclass
    class Point:
        a: Any = (x, y)

    return Point().a[0] * Point().a[1]


def frozen_and_ordered(x, y):
    @dataclass(frozen=True, order=True)
    class Point:
        a: Any
        b: Any = x * y
        scale: ClassVar[Any] = y

    p, q = Point(x), Point(y, 1.0)
    return max(p, q).a * p.b + p.scale * min(p, q).a


def slotted(x, y):
    @dataclass(slots=True)
    class Point:
        a: Any
        b: Any = x * y

        @property
        def total(self):
            return self.a + self.b

    return Point(x).b * Point(y).total


def slotted_with_an_attribute(x, y):
    @dataclass(slots=True)
    class Point:
        a: Any
        scale = x * y

    return Point(x).scale * Point.scale


def slotted_with_a_base_that_counts(x, y):
    class Base:
        made: ClassVar[Any] = []

        def __init_subclass__(cls):
            Base.made.append(x * y)

    @dataclass(slots=True)
    class Point(Base):
        a: Any

    return Point(x).a * sum(Base.made)


def after_init(x, y):
    @dataclass
    class Point:
        a: Any
        k: InitVar[Any]
        b: Any = field(init=False)

        def __post_init__(self, k):
            self.b = k * self.a

    return Point(x, y).b * Point(y, 2.0).b


def made_by_a_function(x, y):
    Point = dataclasses.make_dataclass("Point", ["a", ("b", Any, x * y)])
    return Point(x).b * Point(y).a


def with_a_metaclass(x, y):
    class Meta(type):
        k = x

    @dataclass
    class Point(metaclass=Meta):
        a: Any = y

    return Point().a * type(Point).k


def named_tuple(x, y):
    Point = namedtuple("Point", "a b", defaults=[x * y])
    p, q = Point(x), Point(y, 2.0)
    return p.a * p.b + q.a * q.b


def typed_named_tuple(x, y):
    class Point(typing.NamedTuple):
        a: Any
        b: Any = x * y

    return Point(x).b * Point(y).a


FUNCTIONS = [
    plain, default, default_by_keyword, default_behind_the_mark, default_of_a_field, default_of_a_base, default_of_a_base_that_is_hidden,
    default_of_a_plain_base,
    default_that_is_a_tuple, frozen_and_ordered, slotted, slotted_with_an_attribute, slotted_with_a_base_that_counts, after_init,
    made_by_a_function, with_a_metaclass, named_tuple, typed_named_tuple,
]  # fmt: skip


@each_in_turn
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_derivatives(function):
    for x, y in ((0.7, 1.3), (1.1, 0.4), (0.9, 0.8)):
        value, back = python_pullback(function, (x, y), {})
        assert value == function(x, y)
        assert back(1.0) == pytest.approx(differences.gradient(function, x, y), rel=1e-7)


@each_in_long_turn
@pytest.mark.parametrize("function", [default, default_by_keyword, named_tuple, slotted], ids=lambda f: f.__name__)
def test_second_derivatives(function):
    def slope(x, y):
        return zyg.gradient(function, x, y)[0]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        found = zyg.gradient(slope, 0.7, 1.3)
    expected = differences.gradient(lambda x, y: differences.gradient(function, x, y)[0], 0.7, 1.3)
    assert [d or 0.0 for d in found] == pytest.approx(expected, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize(
    "function",
    [plain, frozen_and_ordered, default_by_keyword, named_tuple, typed_named_tuple],
    ids=lambda f: f.__name__,
)
def test_what_is_compiled_for_a_class_serves_for_the_next_one(function, monkeypatch):
    for _ in range(3):
        python_pullback(function, (0.7, 1.3), {})[1](1.0)
    compiled = []
    own = compilation._compile
    monkeypatch.setattr(compilation, "_compile", lambda code, *more: compiled.append(code) or own(code, *more))
    python_pullback(function, (0.6, 1.3), {})[1](1.0)
    assert [code.co_qualname for code in compiled] == []


def test_classes_of_one_text_are_told_apart():
    """Two classes have equal methods, that of one with a default of its own."""

    def two(x, y):
        made = []
        for k in (x, y):

            @dataclass
            class Point:
                a: Any
                b: Any = k

            made.append(Point)
        P, Q = made
        return P(x).b * Q(y).b + (5.0 if P(1.0) == Q(1.0) else 0.0)

    value, back = python_pullback(two, (0.7, 1.3), {})
    assert value == two(0.7, 1.3)
    assert back(1.0) == (1.3, 0.7)


def test_data_classes_are_what_they_are_in_python():
    made = []

    def f(x):
        @dataclass(order=True)
        class Point:
            a: Any
            b: Any = 2.0

        made.append(Point)
        return Point(x).a * Point(x, x).b

    f(0.5)
    python_pullback(f, (0.5,), {})
    expected, found = made
    assert inspect.signature(expected) == inspect.signature(found) and expected.__doc__ == found.__doc__
    for name in ("__init__", "__eq__", "__lt__"):
        one, other = getattr(expected, name), getattr(found, name)
        assert one.__code__ == other.__code__ and one.__qualname__ == other.__qualname__
    assert repr(found(1.0)) == repr(expected(1.0)) and found(1.0) == found(1.0) and found(1.0) < found(1.0, 3.0)


def test_errors_are_those_of_data_classes():
    def mutable(x):
        @dataclass
        class Point:
            a: Any = []  # noqa: RUF008

        return Point().a

    def order(x):
        @dataclass
        class Point:
            a: Any = 1.0
            b: Any

        return x

    for function in (mutable, order):
        with pytest.raises((TypeError, ValueError)) as expected:
            function(0.5)
        with pytest.raises(type(expected.value)) as found:
            python_pullback(function, (0.5,), {})
        assert str(found.value) == str(expected.value)


def test_classes_go_when_nobody_has_them():
    """Those of which an instance had a gradient."""
    classes = []

    def f(x):
        class Model:
            def __init__(self, w):
                self.w = w

        classes.append(weakref.ref(Model))
        (g,) = zyg.gradient(lambda model: model.w * model.w * 0.5, Model(x))
        return g.w

    for _ in range(12):
        assert python_pullback(f, (0.5,), {})[1](1.0) == (1.0,)
    gc.collect()
    assert sum(reference() is not None for reference in classes) < 6


def test_a_gradient_outlives_the_class_of_its_object():
    class Model:
        def __init__(self, w):
            self.w = w

    (g,) = python_pullback(lambda model: model.w * model.w, (Model(1.5),), {})[1](1.0)
    gone = weakref.ref(Model)
    del Model
    gc.collect()
    assert gone() is None
    assert g == (3.0,) and copy.deepcopy(g) == g and type(copy.copy(g)) is type(g)
