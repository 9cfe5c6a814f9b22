"""Classes derived from those of values (tuples, numbers, text), through Python: how they are made, their items, properties, methods and
operators, first and second derivatives; and what is asked of arguments and of the classes is asked once."""

from __future__ import annotations

import itertools
import math
import operator

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.fallback import python_pullback

pytestmark = [each_in_turn, pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")]


class Row(tuple):
    pass


class Point(tuple):
    __slots__ = ()

    def __new__(cls, x, y):
        return super().__new__(cls, (x, y))

    x = property(operator.itemgetter(0))
    y = property(operator.itemgetter(1))
    both = property(operator.itemgetter(1, 0))
    length = property(operator.methodcaller("norm", 2.0))

    @property
    def swapped(self):
        return Point(self.y, self.x)

    def __add__(self, other):
        return Point(self.x + other.x, self.y * other[1])

    def __abs__(self):
        return math.hypot(*self)

    def norm(self, k):
        return k * (self.x**2 + self[-1] ** 3)


class Farther(Point):
    """`super().__new__` is that of a class in Python."""

    def __new__(cls, x):
        made = super().__new__(cls, x, x * x)
        made.scale = x
        return made

    def norm(self, k):
        return super().norm(k) * self.scale


class Metres(float):
    def __add__(self, other):
        return Metres(float(self) * 2.0 + float(other))

    def feet(self):
        return self * 3.28

    @property
    def half(self):
        return self / 2.0


class Money(float):
    def __new__(cls, value, rate=1.5):
        made = super().__new__(cls, value)
        made.rate = rate
        return made

    def __mul__(self, k):
        return Money(float(self) * k, self.rate * k)

    def worth(self):
        return self * self.rate - self.rate


class Slotted(float):
    __slots__ = ()

    def cube(self):
        return self**3


class Wild(float):
    """Operators of its own, which no derivative of another one may use."""

    def __mul__(self, other):
        return Wild(7.0)

    __rmul__ = __neg__ = __mul__


class Wave(complex):
    def power(self):
        return abs(self) ** 2


class Count(int):
    def twice(self):
        return 2 * self


class Word(str):
    def times(self, x):
        return x * len(self)


class Single:
    """Made by the `__new__` of `object`."""

    def __new__(cls, x):
        made = super().__new__(cls)
        made.square = x * x
        return made

    def __init__(self, x):
        self.x = x


def made_plainly(x):
    row = Row((x, x * x, 2.0))
    return row[0] * row[1] + row[-1] * Row([x, 3.0])[0] + sum(Row(k * x for k in range(4))) + len(Row())


def made_of_iterators(x):
    a = Row(iter([x, x * x]))
    b = Row(map(x.__mul__, Row((x, 1.0))))
    first, second = b
    return a[0] * a[1] + first * second + sum(v * v for v in a) + Row(zip([x], [x * 2.0]))[0][1]


def points(x):
    total, p = 0.0, Point(x, 1.0)
    for k in range(4):
        p = p + Point(0.5 * k, x)
        total += p.x * p.y + p[0] * p[-1] + p.swapped.x + sum(p.both) + p.norm(x) + p.length
    return total + abs(p) + p[0:2][1]


def farther(x):
    return sum(Farther(x * k).norm(x) for k in (1.0, 2.0))


def metres(x):
    total = 0.0
    for k in range(3):
        m = Metres(x) + Metres(k)
        total += m.feet() * m.half + m / 2.0 + 2.0 / m + m**2 - (x - m) + m % 30.0 + (-m) * abs(m)
    return total


def money(x):
    total = 0.0
    for k in (1.0, 2.0):
        m = Money(x * k, x) * k
        total += m.worth() * m.rate + Money(x).worth() + Money(x)
    return total


def slotted(x):
    return Slotted(x).cube() * Slotted("0.5").cube() + sum(Slotted(x * k).cube() for k in (1.0, 2.0))


def wild(x):
    w = Wild(x)
    return w / 5.0 + 5.0 / w - w**2 + w % 30.0 + pow(2.0, w) + math.atan(w) + x * Wild(2.0)


def waves(x):
    return Wave(x, 2.0).power() * Wave(x).real + (Wave(1.0, x) * Wave(x, 1.0)).imag


def counts(x):
    return sum(x**k * Count(k).twice() for k in range(3))


def words(x):
    return sum(Word("ab" * k).times(x * x) * len(Word(k)) for k in range(4))


def singles(x):
    return Single(x).square * Single(x * x).x


def in_try(x):
    total = 0.0
    for k in range(3):
        try:
            p = Point(x, k)
            total += p.x * p.norm(x) + Money(x).worth()
            total += p[5]
        except IndexError:
            total += p.swapped[1]
        try:
            Row(x)
        except TypeError:
            total *= x
        try:
            total += Metres("none")
        except ValueError:
            total += Metres(x).feet()
    return total


PROGRAMS = [
    made_plainly, made_of_iterators, points, farther, metres, money, slotted, wild, waves, counts, words, singles,
    in_try,
]  # fmt: skip


@each_in_long_turn
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f):
    x = 0.7
    for _ in range(3):  # what is called again has been noted
        value, back = python_pullback(f, (x,), {})
        assert value == f(x) and type(value) is type(f(x))
        assert back(1.0)[0] == pytest.approx(differences.derivative(f, x), rel=1e-7)
    second = differences.derivative(lambda v: differences.derivative(f, v), x)
    assert zyg.grad(zyg.grad(f))(x) == pytest.approx(second, rel=1e-4)
    assert zyg.hessian(f, x) == pytest.approx(second, rel=1e-4)
    assert zyg.jvp(f, (x,), (1.0,))[1] == pytest.approx(differences.derivative(f, x), rel=1e-7)


class Asked:
    def __init__(self, value):
        self.value, self.times = value, 0

    def __float__(self):
        self.times += 1
        return self.value * self.times


def test_arguments_are_asked_once():
    def f(x, make):
        asked = Asked(x)
        return make(asked) * x + asked.times

    class Own(float):
        def __new__(cls, value):
            return super().__new__(cls, value)

    for make in (Metres, Slotted, Money, Own, lambda a: float.__new__(Metres, a)):
        assert zyg.withgradient(f, 1.5, make) == (3.25, (3.0, None)), make


def test_iterators_are_taken_once():
    def f(x):
        items = itertools.count(1)
        row = Row(x * k for k in itertools.islice(items, 3))
        return sum(row) * next(items)

    assert zyg.withgradient(f, 1.5) == (36.0, (24.0,))


def test_classes_that_change():
    class Odd(tuple):
        first = property(operator.itemgetter(0))

        def __new__(cls, *items):
            return super().__new__(cls, items)

        def kept(self):
            return self[0]

    class Length(float):
        def kept(self):
            return self + 1.0

    f = lambda x: Odd(x, 2.0)[0] * Odd(3.0, x).first + Odd(x, x).kept() + Length(x).kept() * Length(x) * 2.0
    for _ in range(2):
        assert zyg.gradient(f, 1.5) == (pytest.approx(differences.derivative(f, 1.5)),)
    Odd.__getitem__ = lambda self, k: 5.0 * tuple.__getitem__(self, k)
    assert zyg.gradient(f, 1.5) == (pytest.approx(differences.derivative(f, 1.5)),)
    Odd.first = property(operator.itemgetter(1))
    assert zyg.gradient(f, 1.5) == (pytest.approx(differences.derivative(f, 1.5)),)
    Odd.__new__ = lambda cls, *items: tuple.__new__(cls, [2.0 * v for v in items])
    Odd.kept = lambda self: self[1] * 3.0
    assert zyg.gradient(f, 1.5) == (pytest.approx(differences.derivative(f, 1.5)),)
    Length.__mul__ = lambda self, other: float(self) * float(self)
    assert zyg.gradient(f, 1.5) == (pytest.approx(differences.derivative(f, 1.5)),)
    Length.__new__ = lambda cls, v: float.__new__(cls, v * v)
    assert zyg.gradient(f, 1.5) == (pytest.approx(differences.derivative(f, 1.5)),)

    def changing(x):
        total = 0.0
        for k in range(4):
            p = Odd(x, 3.0)
            total += p[0] * p.first + p.kept() + Length(x).kept() * Length(x)
            if k == 1:
                Odd.__getitem__ = tuple.__getitem__
                Odd.first = property(operator.itemgetter(0))
                Odd.kept = lambda self: self.first**2
                Length.kept = lambda self: self * 2.0
                Length.__mul__ = float.__mul__
            if k == 3:
                Odd.__getitem__ = lambda self, k: 5.0 * tuple.__getitem__(self, k)
                Odd.first = property(operator.itemgetter(1))
        return total

    for _ in range(2):
        expected = differences.derivative(changing, 1.5)
        assert zyg.gradient(changing, 1.5) == (pytest.approx(expected),)


def test_instances_with_a_method_of_their_own():
    def f(x):
        total = 0.0
        for k in range(4):
            m = Money(x)
            if k > 1:
                m.worth = lambda: x * x
            total += m.worth()
        return total

    for _ in range(2):
        assert zyg.gradient(f, 1.5) == (pytest.approx(differences.derivative(f, 1.5)),)


def test_what_object_new_is_given_too_much():
    class Strict:
        def __new__(cls, x):
            return super().__new__(cls, x)

    def f(x):
        try:
            Strict(x)
        except TypeError as error:
            return x * len(str(error))

    assert zyg.withgradient(f, 1.5) == (
        f(1.5),
        (float(len("object.__new__() takes exactly one argument (the type to instantiate)")),),
    )


class Direction(tuple):
    __slots__ = ()

    def __neg__(self):
        return Direction([-v for v in self])

    def __abs__(self):
        return math.hypot(*self)

    def __getitem__(self, k):
        return tuple.__getitem__(self, k) * 2.0


class Backwards(tuple):
    __slots__ = ()

    def __iter__(self):
        return reversed([self[0], self[1]])


class Length(float):
    def __abs__(self):
        return Length(float(self) ** 2)

    def __neg__(self):
        return Length(float(self) * -3.0)


def weighted(a, b=2.0, *, c=1.0):
    return a * a + 3.0 * b * c


def of_operators_and_stars(x):
    d, total = Direction((x, x * x)), 0.0
    for _ in range(3):
        total = total + abs(-d) * d[1] + abs(-Length(x)) + weighted(*d) * weighted(*Backwards((x, 3.0 * x)), c=x)
        total = total + weighted(*Row((x,))) + max(*Row((x, 2.0 * x)))
    return total


def of_another_operator(x):
    before, total = Direction.__abs__, 0.0
    try:
        for k in range(4):
            if k == 2:
                Direction.__abs__ = lambda self: self[0] * x
            total += abs(Direction((x, x * k)))
    finally:
        Direction.__abs__ = before
    return total


@pytest.mark.parametrize("f", [of_operators_and_stars, of_another_operator])
def test_operators_and_arguments_behind_a_star(f):
    for _ in range(3):
        value, back = python_pullback(f, (0.7,), {})
        assert value == f(0.7)
        assert back(1.0)[0] == pytest.approx(differences.derivative(f, 0.7), rel=1e-8)

    def first(x):
        return python_pullback(f, (x,), {})[1](1.0)[0]

    if f is of_operators_and_stars:
        assert python_pullback(first, (0.7,), {})[1](1.0)[0] == pytest.approx(
            differences.derivative(first, 0.7), rel=1e-7
        )


class Swapped(tuple):
    """Its properties are out of order, one of them counts from the end, and not all of its tuples have the same length."""

    second = property(operator.itemgetter(1))
    first = property(operator.itemgetter(0))
    last = property(operator.itemgetter(-1))


@pytest.mark.parametrize("length", [2, 3, 4])
def test_properties_that_get_items_in_tuples_of_several_lengths(length):
    def f(x, y):
        total = 0.0
        for k in range(2):
            p = Swapped([x * y] * (length + k - 2) + [x, y])
            total += p.second * p.first * p.last + p[0] * p.first**2 + p.second
        return total

    value, back = python_pullback(f, (0.7, 1.3), {})
    assert value == pytest.approx(f(0.7, 1.3), rel=1e-15)
    assert back(1.0) == pytest.approx(differences.gradient(f, 0.7, 1.3))
    slope = zyg.grad(lambda x, y: back_of(f, x, y))(0.7, 1.3)
    expected = differences.derivative(lambda x: differences.derivative(lambda v: f(v, 1.3), x), 0.7)
    assert slope == pytest.approx(expected, rel=1e-5)


def back_of(f, *args):
    return zyg.gradient(f, *args)[0]


def test_a_property_that_comes_to_get_another_item():
    class Pair(tuple):
        a = property(operator.itemgetter(0))

    def f(x, y):
        p = Pair((x, y))
        total = p.a * x
        Pair.a = property(operator.itemgetter(1))
        total += p.a * y * y
        Pair.a = property(operator.itemgetter(0))
        return total + p.a

    for _ in range(3):
        value, back = python_pullback(f, (0.7, 1.3), {})
        assert value == pytest.approx(0.7**2 + 1.3**3 + 0.7)
        assert back(1.0) == pytest.approx((2.0 * 0.7 + 1.0, 3.0 * 1.3**2))
