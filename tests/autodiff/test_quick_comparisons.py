"""Comparisons of objects that are made without being followed, since they only calculate: what they do besides must be seen."""

import functools
import heapq
import math
import operator

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.ordering import is_quiet
from zyg.fallback import python_pullback

pytestmark = each_in_turn


def check(f, *args):
    """The gradient, by central differences of the function itself, in CPython."""
    value, back = python_pullback(f, args, {})
    assert value == f(*args)
    for k, got in enumerate(back(1.0)):
        h = 1e-6

        def moved(by, k=k):
            return f(*args[:k], args[k] + by, *args[k + 1 :])

        assert (got or 0.0) == pytest.approx((moved(h) - moved(-h)) / (2 * h), rel=1e-7, abs=1e-7)


SEEN = [0.0]  # what comparisons leave here is used afterwards


class Base:
    def __init__(self, cost, weight):
        self.cost = cost
        self.weight = weight


class EqualBehindUnequal(Base):
    def __lt__(self, other):
        return self != other and self.cost < other.cost

    def __eq__(self, other):
        SEEN[0] += self.weight
        return self.cost == other.cost


class Added(Base):
    def __lt__(self, other):
        return self + other < 0.0

    def __add__(self, other):
        SEEN[0] += self.weight
        return self.cost - other.cost


class Absolute(Base):
    def __lt__(self, other):
        return abs(self) < abs(other)

    def __abs__(self):
        SEEN[0] += self.weight
        return self.cost


class Truth(Base):
    def __lt__(self, other):
        return self.cost < other.cost if self else False

    def __bool__(self):
        SEEN[0] += self.weight
        return True


class Indexed(Base):
    def __lt__(self, other):
        return self[0] < other[0]

    def __getitem__(self, at):
        SEEN[0] += self.weight
        return self.cost


class ByMethod(Base):
    def __lt__(self, other):
        return self.key() < other.key()

    def key(self):
        SEEN[0] += self.weight
        return self.cost


class ByMethodOfMethod(Base):
    def __lt__(self, other):
        return self.key() < other.key()

    def key(self):
        return self.inner()

    def inner(self):
        SEEN[0] += self.weight
        return self.cost


class ByProperty(Base):
    def __lt__(self, other):
        return self.key < other.key

    @property
    def key(self):
        SEEN[0] += self.weight
        return self.cost


class Offset:
    @property
    def value(self):
        SEEN[0] += 0.5
        return 0.0


class Settings:
    offset = Offset()


SETTINGS = Settings()
OFFSET = Offset()


class ByGlobal(Base):
    def __lt__(self, other):
        return self.cost + OFFSET.value < other.cost


class ByGlobalInside(Base):
    def __lt__(self, other):
        return self.cost + SETTINGS.offset.value < other.cost


class ByClassAttribute(Base):
    offset = Offset()

    def __lt__(self, other):
        return self.cost + self.offset.value < other.cost


class ByDefault(Base):
    def __lt__(self, other, offset=OFFSET):
        return self.cost + offset.value < other.cost


class Descriptor:
    def __get__(self, x, owner):
        SEEN[0] += x.weight
        return x.cost


class ByDescriptor(Base):
    key = Descriptor()

    def __lt__(self, other):
        return self.key < other.key


class Missing(Base):
    def __lt__(self, other):
        return self.key < other.key

    def __getattr__(self, name):
        SEEN[0] += self.weight
        return self.cost


class Tuples(Base):
    def __lt__(self, other):
        return (self, 1) != (other, 2) and self.cost < other.cost

    def __eq__(self, other):
        SEEN[0] += self.weight
        return self.cost == other.cost


class Member(Base):
    def __lt__(self, other):
        return self not in (other, None) and self.cost < other.cost

    def __eq__(self, other):
        SEEN[0] += self.weight
        return other is not None and self.cost == other.cost


class Shown(Base):
    def __lt__(self, other):
        return f"{self}" < f"{other}"

    def __str__(self):
        SEEN[0] += self.weight
        return f"{self.cost:.3f}"


class Looked(Base):
    """What is compared is compared by an object that is held."""

    def __init__(self, cost, weight):
        super().__init__(cost, weight)
        self.key = EqualBehindUnequal(cost, weight)

    def __lt__(self, other):
        return self.key < other.key


class Held(Base):
    def __init__(self, cost, weight):
        super().__init__(cost, weight)
        self.key = EqualBehindUnequal(cost, weight), 1.0

    def __lt__(self, other):
        return self.key < other.key


class Own(Base):
    """A class attribute that an instance has, too."""

    offset = 0.0

    def __init__(self, cost, weight):
        super().__init__(cost, weight)
        self.offset = Offset()

    def __lt__(self, other):
        return self.cost + self.offset.value < other.cost


class OwnMethod(Base):
    """An instance has a function in the place of a method."""

    def __init__(self, cost, weight):
        super().__init__(cost, weight)
        self.key = self.counted

    def __lt__(self, other):
        return self.key() < other.key()

    def key(self):
        return self.cost

    def counted(self):
        SEEN[0] += self.weight
        return self.cost


class GivingSelf(Base):
    """A method gives an object, whose operators do something."""

    def __lt__(self, other):
        return self.me() + other.me() < 0.0

    def me(self):
        return self

    def __add__(self, other):
        SEEN[0] += self.weight
        return self.cost - other.cost


class Vars(Base):
    def __init__(self, cost, weight):
        self.key = EqualBehindUnequal(cost, weight)

    def __lt__(self, other):
        return self.__dict__ != other.__dict__ and self.key.cost < other.key.cost


@functools.total_ordering
class TotallyByLess(Base):
    def __eq__(self, other):
        SEEN[0] += self.weight
        return self.cost == other.cost

    def __lt__(self, other):
        return self.cost < other.cost


@functools.total_ordering
class TotallyByAtMost(Base):
    def __eq__(self, other):
        return self.cost == other.cost

    def __le__(self, other):
        SEEN[0] += self.weight * other.weight
        return self.cost <= other.cost


@functools.total_ordering
class TotallyByMore(Base):
    def __eq__(self, other):
        return self.cost == other.cost

    def __gt__(self, other):
        SEEN[0] += self.weight * other.weight
        return self.cost > other.cost


@functools.total_ordering
class TotallyUnequal(Base):
    def __eq__(self, other):
        return self.cost == other.cost

    def __ne__(self, other):
        SEEN[0] += self.weight * other.weight
        return self.cost != other.cost

    def __lt__(self, other):
        return self.cost < other.cost


class Slots:
    __slots__ = ("cost", "key", "weight")

    def __init__(self, cost, weight):
        self.cost, self.weight = cost, weight
        self.key = EqualBehindUnequal(cost, weight), 1.0


class HeldInSlots(Slots):
    __slots__ = ()

    def __lt__(self, other):
        return self.key < other.key


class ByPropertyOfSlots(Slots):
    __slots__ = ()

    def __lt__(self, other):
        return self.rank < other.rank

    @property
    def rank(self):
        SEEN[0] += self.weight
        return self.cost


class OffsetBesideSlots(Slots):
    __slots__ = ()
    offset = Offset()

    def __lt__(self, other):
        return self.cost + self.offset.value < other.cost


class MissingInSlots(Slots):
    __slots__ = ()

    def __lt__(self, other):
        return self.rank < other.rank

    def __getattr__(self, name):
        SEEN[0] += self.weight
        return self.cost


COUNTING = [
    HeldInSlots, ByPropertyOfSlots, OffsetBesideSlots, MissingInSlots,
    EqualBehindUnequal, Added, Absolute, Truth, Indexed, ByMethod, ByMethodOfMethod, ByProperty, ByGlobal, ByGlobalInside, ByClassAttribute,
    ByDefault, ByDescriptor, Missing, Tuples, Member, Shown, Looked, Held, Own, OwnMethod, GivingSelf, Vars, TotallyByLess, TotallyByAtMost, TotallyByMore,
    TotallyUnequal,
]  # fmt: skip


def cost_of(item):
    return item.key.cost if type(item) is Vars else item.cost


def sorted_by(cls, x, y):
    SEEN[0] = 0.0
    items = [cls(x * ((5 * k) % 7) + 0.25 * k, y + 0.5 * k) for k in range(6)]
    items.sort()
    return sum(k * cost_of(item) for k, item in enumerate(items)) + SEEN[0] * x


def heaped_by(cls, x, y):
    SEEN[0] = 0.0
    heap = []
    for k in range(6):
        heapq.heappush(heap, cls(x * ((5 * k) % 7) + 0.25 * k, y + 0.5 * k))
    total = 0.0
    for k in range(6):
        total += k * cost_of(heapq.heappop(heap))
    return total + SEEN[0] * x


def compared_by(cls, x, y):
    """With the operators that the class has."""
    SEEN[0] = 0.0
    a, b = cls(x, y), cls(x + 1.0, 2.0 * y)
    total = 0.0
    if a < b:
        total += x
    if a > b:
        total += y
    if functools.reduce(max, [a, b, a]) is b:
        total += x * y
    if a != b:
        total += 2.0 * y
    if cls.__le__ is not object.__le__ and (a <= b) > (a >= b):
        total += 3.0 * y
    return total + SEEN[0] * x


@pytest.mark.parametrize("cls", COUNTING, ids=operator.attrgetter("__name__"))
@pytest.mark.parametrize("program", [sorted_by, heaped_by, compared_by])
def test_what_comparisons_leave_behind_is_seen(cls, program):
    for _ in range(2):  # what is found out the first time is known the second time
        check(lambda x, y: program(cls, x, y), 1.3, 0.7)


# ------------------------------------------------------------------------------------ what only calculates is right, too


@functools.total_ordering
class Job(Base):
    def __eq__(self, other):
        return (self.cost, self.weight) == (other.cost, other.weight)

    def __lt__(self, other):
        return (self.cost, self.weight) < (other.cost, other.weight)


class Node(Base):
    """It holds others, which comparisons do not look at; it has other operators, which they do not use."""

    def __init__(self, cost, weight):
        super().__init__(cost, weight)
        self.others = [weight]
        self.parent = Base(cost, weight)
        self.priority = (cost, "b")

    def key(self):
        return self.cost + math.sqrt(abs(self.weight))

    @property
    def first(self):
        return self.priority

    def __lt__(self, other):
        if not isinstance(other, Node):
            return NotImplemented
        return self.first < other.first and self.key() < other.key()

    def __add__(self, other):
        return Node(self.cost + other.cost, self.weight)

    def __repr__(self):
        return ", ".join([str(self.cost)])


class Event:
    __slots__ = ("cost", "note", "weight")

    def __init__(self, cost, weight):
        self.cost, self.weight = cost, weight  # (not everything is set)

    def __lt__(self, other):
        return (self.cost, self.weight) < (other.cost, other.weight)


class Later(Event):
    __slots__ = ("further",)

    def __gt__(self, other):
        return self.cost > other.cost


def test_what_is_in_slots_is_looked_at():
    assert is_quiet(Event(1.0, 2.0)) and is_quiet(Later(1.0, 2.0)) and not is_quiet(Event(1.0, Offset()))
    assert not is_quiet(HeldInSlots(1.0, 2.0))


@pytest.mark.parametrize("cls", [Job, Node, Event, Later])
@pytest.mark.parametrize("program", [sorted_by, heaped_by, compared_by])
def test_comparisons_that_only_calculate(cls, program):
    check(lambda x, y: program(cls, x, y), 1.3, 0.7)


def test_a_class_whose_comparisons_change_is_looked_at_again():
    class Changing(Base):
        def __lt__(self, other):
            return self.cost < other.cost

    def counted(self, other):
        SEEN[0] += self.weight
        return self.cost < other.cost

    check(lambda x, y: sorted_by(Changing, x, y), 1.3, 0.7)
    Changing.__lt__ = counted
    check(lambda x, y: sorted_by(Changing, x, y), 1.3, 0.7)


@each_in_long_turn
@pytest.mark.parametrize("cls", [Job, Node, TotallyByLess])
@pytest.mark.parametrize("program", [sorted_by, heaped_by, compared_by])
def test_second_derivatives(cls, program):
    def f(x):
        return program(cls, x * x, 0.7)

    def slope(x):
        (d,) = python_pullback(f, (x,), {})[1](1.0)
        return d

    check(slope, 1.3)


# ------------------------------------------------------------------------------------------- elements of arrays
def elements_in_a_heap(x):
    heap, total = [], 0.0
    for k in range(12):
        heapq.heappush(heap, (x[k % 4] * k, k))
    while heap:
        value, k = heapq.heappop(heap)
        total += value * value * k
    return total


def elements_beside_numbers(x):
    heap = [x[2], 0.75, x[0] * x[1], 1]
    heapq.heapify(heap)
    first = heapq.heappushpop(heap, x[3])
    return first * 2.0 + sum(v * k for k, v in enumerate(sorted(heap, reverse=True)))


def elements_of_float32(x):
    ranked = sorted([(np.float32(0.5), x[1]), (x[0], x[2]), (np.int64(1), x[3])])
    return sum(a * b * k for k, (a, b) in enumerate(ranked, 1))


def smallest_elements(x):
    return sum(v * v for v in heapq.nsmallest(2, list(x))) + max(x[0], x[3]) * min(list(x), default=0.0)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("f", [elements_in_a_heap, elements_beside_numbers, elements_of_float32, smallest_elements])
def test_elements_of_arrays_are_compared_as_numbers_are(f):
    x = np.array([0.3, 0.8, 1.2, 0.55])
    value, (gradient,) = zyg.withgradient(f, x)
    assert value == pytest.approx(f(x), rel=1e-12)
    h, along = 1e-6, np.array([1.0, -0.5, 0.25, 2.0])
    by_differences = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(4)]
    assert gradient == pytest.approx(by_differences, rel=1e-6, abs=1e-7)
    steps = [zyg.gradient(f, x + s * h * along)[0] for s in (1, -1)]
    assert zyg.hvp(f, x, along) == pytest.approx((steps[0] - steps[1]) / (2 * h), rel=1e-5, abs=1e-6)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_elements_beside_text_are_errors():
    def f(x):
        return sorted([x[0], "b", x[1]])[0]

    with pytest.raises(TypeError) as expected:
        f(np.ones(2))
    with pytest.raises(TypeError) as raised:
        zyg.gradient(f, np.ones(2))
    assert str(raised.value) == str(expected.value)
