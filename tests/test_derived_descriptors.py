"""Classes derived from property, staticmethod, classmethod and cached_property that say themselves what is got or set, and other
descriptors that stand where an instance has an attribute by itself: as CPython has them, by both back ends."""

from __future__ import annotations

import collections
import functools
import itertools
import operator
import types
import weakref
from dataclasses import dataclass

import pytest

import zyg
from tests.oracles.differences import derivative
from tests.turns import by_one_python_a_day
from zyg.errors import Unsupported
from zyg.fallback import python_pullback

pytestmark = pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")


class Doubled(property):
    def __get__(self, instance, cls=None):
        return super().__get__(instance, cls) * 2.0


class Further(Doubled):
    pass


class SetTripled(property):
    def __set__(self, instance, value):
        super().__set__(instance, value * 3.0)


class Renamed(property):
    """Only another name."""


class DoubledStatic(staticmethod):
    def __get__(self, instance, cls=None):
        function = super().__get__(instance, cls)
        return lambda x: function(x) * 2.0


class DoubledClass(classmethod):
    def __get__(self, instance, cls=None):
        function = super().__get__(instance, cls)
        return lambda x: function(x) * 2.0


class DoubledCached(functools.cached_property):
    def __get__(self, instance, cls=None):
        return super().__get__(instance, cls) * 2.0


class Scaled:
    """A data descriptor: it is asked although the instance has an attribute of that name."""

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, cls=None):
        return 5.0 if instance is None else vars(instance)[self.name] * 2.0

    def __set__(self, instance, value):
        if value < 0.0:
            raise ValueError("negative")
        vars(instance)[self.name] = value * 3.0


class Meta(type):
    @Doubled
    def area(cls):
        return cls.side * cls.side


class Square(metaclass=Meta):
    side = 3.0


class Thing:
    def __init__(self, weight):
        self.weight = weight

    @Doubled
    def doubled(self):
        return self.weight * self.weight

    @Further
    def further(self):
        return self.weight

    @SetTripled
    def tripled(self):
        return self.weight

    @tripled.setter
    def tripled(self, value):
        self.weight = value

    @Renamed
    def renamed(self):
        return self.weight * 3.0

    @renamed.setter
    def renamed(self, value):
        self.weight = value * value

    @DoubledStatic
    def static(x):
        return x * x

    @DoubledClass
    def of_class(cls, x):
        return x * x

    @DoubledCached
    def cached(self):
        return self.weight * self.weight


class Derived(Thing):
    @property
    def doubled(self):
        return super().doubled * 3.0

    def of_class(self, x):
        return super().of_class(x) * 5.0


@dataclass
class Record:
    size: float = Scaled()
    other: float = 2.0


def tripled(x):
    thing = Thing(x)
    thing.tripled = x
    thing.tripled *= x
    return thing.weight


def set_by_name(x):
    thing = Thing(x)
    thing.tripled = x * x
    return thing.weight


def renamed(x):
    thing = Thing(x)
    thing.renamed = x
    return thing.renamed


def matched(x):
    match Thing(x):
        case Thing(doubled=value):
            return value
    return 1.0


def of_a_metaclass(x):
    Square.side = x
    y = Square.area
    Square.side = 3.0
    return y


def made_here(x):
    class Local:
        weight = x

        @Doubled
        def doubled(self):
            return self.weight * x

    return Local().doubled + Doubled(lambda number: number * x).__get__(x)


THING = Thing(2.0)

GOT = {
    "doubled": lambda x: Thing(x).doubled,
    "further": lambda x: Thing(x).further,
    "tripled": tripled,
    "set by name": set_by_name,
    "renamed": renamed,
    "static": lambda x: Thing(x).static(x) + Thing.static(x),
    "of a class": lambda x: Thing(x).of_class(x) + Thing.of_class(x),
    "cached": lambda x: Thing(x).cached,
    "derived": lambda x: Derived(x).doubled,
    "method by super": lambda x: Derived(x).of_class(x),
    "getattr": lambda x: Thing(x).doubled * getattr(Thing(x), "further", 1.0),
    "hasattr": lambda x: x * 3.0 if hasattr(Thing(x), "doubled") else x,
    "attrgetter": lambda x: sum(map(operator.attrgetter("doubled"), [Thing(x), Thing(2.0 * x)])),
    "global": lambda x: THING.doubled * x,
    "matched": matched,
    "field": lambda x: Record(x).size * Record(x, x).other,
    "metaclass": of_a_metaclass,
    "made here": made_here,
}


@by_one_python_a_day
@pytest.mark.parametrize("name", GOT)
def test_what_descriptors_say(name):
    f = GOT[name]
    x = 1.3
    expected, slope = f(x), derivative(f, x)
    value, back = python_pullback(f, (x,), {})
    assert (value, back(1.0)[0]) == (expected, pytest.approx(slope, rel=1e-7))
    assert zyg.withgradient(f, x) == (expected, (pytest.approx(slope, rel=1e-7),))
    try:
        assert zyg.jit(f)(x) == expected
    except Unsupported:
        assert name != "renamed"


def test_of_an_argument():
    value, (gradient,) = zyg.withgradient(lambda t: t.doubled * t.further, Thing(1.5))
    assert (value, gradient.weight) == (13.5, 27.0)
    value, (gradient,) = zyg.withgradient(lambda r: r.size * r.other, Record(1.5))
    assert (value, gradient.size, gradient.other) == (18.0, 4.0, 9.0)


def test_fields_are_set_by_their_descriptors():
    def f(x):
        return Record(-x, x).other

    with pytest.raises(ValueError, match="negative"):
        zyg.gradient(f, 1.0)
    with pytest.raises(Unsupported, match="the field 'size' of a Record, which is a descriptor"):
        zyg.jit(f)(1.0)


# Classes derived from other classes of C code.


class OwnMap(map):
    pass


class OwnChain(itertools.chain):
    pass


class OwnCycle(itertools.cycle):
    pass


class Space(types.SimpleNamespace):
    pass


class OwnReference(weakref.ref):
    pass


class OwnDeque(collections.deque):
    pass


def by_reference(x):
    thing = Thing(x)
    return OwnReference(thing)().weight * x


@pytest.mark.parametrize(
    "f", [lambda x: Space(a=x, b=2.0).a * x, by_reference, lambda x: OwnDeque([x, 2.0 * x], 5)[1] * x]
)
def test_classes_derived_from_those_of_c_code(f):
    value, back = python_pullback(f, (1.3,), {})
    assert (value, back(1.0)[0]) == (f(1.3), pytest.approx(derivative(f, 1.3), rel=1e-7))


@pytest.mark.parametrize(
    "f",
    [lambda x: sum(OwnMap(lambda a: a * x, [x])), lambda x: sum(OwnChain([x], [x])), lambda x: next(OwnCycle([x])) * x],
)
def test_classes_derived_from_iterators_are_refused(f):
    with pytest.raises(Unsupported, match="an instance of Own"):
        python_pullback(f, (1.3,), {})
