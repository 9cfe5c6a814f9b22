# ruff: noqa: UP031
"""Operations whose types say that nothing with a derivative comes of them, or that no code runs, and such ones where that is not so:
sets, text by `%`, `a, *rest = x`, members of enumerations, classes without `__init__`, attributes that may be missing. Against differences."""

from __future__ import annotations

import abc
import enum
import warnings

import pytest

import zyg
from tests.autodiff.against_differences import check
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn


def sets(x):
    places, numbers, total = set(), {x}, 0.0
    for k in range(8):
        places |= {k % 5, (k * k) % 7}
        same = places
        same -= {3}
        total += x * len(same & {1, 2, 5}) + x * x * len(places ^ {k, "a"}) + len(frozenset("ab") | {x}) * x
        numbers |= {x * k, 2}
        numbers = numbers - {2} | {k, x + 1.0}
    for v in sorted(numbers | places):
        total = total * 0.9 + v
    return total


def test_sets():
    check(sets)


class Kind(enum.Enum):
    A = 1
    B = "b"

    @property
    def weight(self):
        return 2.0 if self is Kind.A else 3.0


class Asked(enum.EnumMeta):
    log: list = []  # noqa: RUF012

    def __iter__(cls):
        cls.log.append(1.5)
        return super().__iter__()

    def __len__(cls):
        cls.log.append(cls.log[0])
        return super().__len__()


class Loud(enum.Enum, metaclass=Asked):
    C = 3
    D = 4


def members(x):
    total, seen = 0.0, {}
    for k in range(3):
        for kind in Kind:
            total += x * kind.weight * k
            seen[kind] = seen.get(kind, 0.0) + x * total
        first, second = Kind
        total += list(Kind)[k % 2].weight * x + (first is Kind.A) * x + len(tuple(Kind)) * x * x
        kind.extra = x * k
    total += sum(kind.extra if kind is second else 1.0 for kind in Kind)
    Loud.log[:] = [x]
    for kind in Loud:
        total += kind.value * x
    return total + len(list(Loud)) * x + sum(Loud.log) + sum(seen.values())


def test_members_of_enumerations():
    check(members)


class Bare:
    pass


class Holding(Bare):
    share = 0.5

    def __enter__(self):
        self.items = []
        return self

    def __exit__(self, *exception):
        self.total = sum(self.items) * self.share


class Shape(abc.ABC):
    def __init__(self, size):
        self.size = size

    @abc.abstractmethod
    def area(self): ...


class Square(Shape):
    def area(self):
        return self.size**2


class Round(Shape):
    def __init__(self, size):
        super().__init__(3.0 * size)

    def area(self):
        return self.size


class Empty(abc.ABC):
    @abc.abstractmethod
    def missing(self): ...


def made(x):
    total = 0.0
    for k in range(6):
        with Holding() as held:
            held.items.append(x * k)
            held.items.append(x)
        bare = Bare()
        bare.value = x * held.total
        shapes = [(Square, Round, lambda v: Square(v * x))[(k + n) % 3](x * k) for n in range(2)]
        total += bare.value + sum(shape.area() for shape in shapes)
        for wrong in (Empty, Shape, lambda: Bare(x), lambda: Square()):
            try:
                wrong()
            except TypeError as error:
                total += len(str(error)) * x
        if k == 3:
            Bare.__init__ = lambda self, v=2.0: setattr(self, "value", v * x)
        elif k > 3:
            total += Bare().value * Bare(x).value
    del Bare.__init__
    return total


def test_classes_without_an_init_and_several_classes_at_one_place():
    check(made)


class Shown:
    def __init__(self, log, value):
        self.log, self.value = log, value

    def __str__(self):
        self.log.append(self.value)
        return "shown"


def texts(x):
    log, total = [], 0.0
    for k in range(4):
        total += (
            len("n%d of %s, %5.1f" % (k, "a" * k, x)) * x + len("%s" % Shown(log, x * k)) + len("%(a)s" % {"a": k}) * x
        )
        total += len("ab" * k + k * "c" + "%r" % k) * x
        total += len("%s-%s" % (Shown(log, x * x), k)) * x
    return total + sum(log)


def test_text():
    check(texts)


def parts(x):
    total, numbers = 0.0, [x, x * x, 2.0, 3.0 * x]
    for k in range(4):
        first, *rest, last = numbers
        rest.append(first)
        rest[0] = rest[0] * last
        numbers[0] = total
        *start, end = (x, [x * k], *rest)
        start[1].append(end)
        one, two, *none = first, x**2
        (alone, *_), *others = (numbers, numbers)
        numbers.append(sum(rest) * x)
        total += first * last + len(start) * start[0] + sum(start[1]) + one * two + len(none) + alone + sum(others[0])
        try:
            _, *_, _ = [x]
        except ValueError as error:
            total += len(str(error)) * x
    return total


def test_parts_of_tuples_and_lists():
    check(parts)


class Open:
    kind = "open"
    factor = 2.0

    def __init__(self, value):
        self.value = value


class Answering:
    def __init__(self, log):
        self.log = log

    def __getattr__(self, name):
        self.log.append(3.0 * self.log[0])
        if name == "never":
            raise AttributeError(name)
        return self.log[0] ** 2


class Slotted:
    __slots__ = ("other", "value")


def attributes(x):
    log, total = [x], 0.0
    for k in range(3):
        one, answering, slotted = Open(x * k), Answering(log), Slotted()
        for name in ("value", "other", "factor", "kind", "never"):
            for each in (one, answering, slotted):
                if hasattr(each, name) and name != "kind":
                    total += getattr(each, name) * (k + 1)
                found = getattr(each, name, x * x)
                total += len(found) * x if isinstance(found, str) else found
            if name != "never":
                setattr(one, name, x * k * total)
                slotted.value = x
    Open.factor = 2.0
    return total + sum(log)


def test_attributes_that_may_be_missing():
    check(attributes)


@each_in_long_turn
def test_second_derivatives():
    for f in (sets, texts, parts, attributes):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", zyg.FallbackWarning)
            got = zyg.gradient(lambda x, f=f: zyg.gradient(f, x)[0], 0.7)[0]
        wanted = differences.derivative(lambda x, f=f: pullback(f, (x,))[1](1.0)[0], 0.7)
        assert (got or 0.0) == pytest.approx(wanted, rel=1e-6, abs=1e-9)
