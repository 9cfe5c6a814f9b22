"""Iterables whose `__iter__`, `__next__`, `__len__` and `__getitem__` change something: each is called when, and as often as, CPython
calls it, and what it changes is in the derivatives."""

from __future__ import annotations

import heapq
import itertools
import statistics
import sys

import pytest

import zyg
from tests.autodiff.against_differences import check, check_second
from tests.turns import by_one_python_a_day

LOG: list[str] = []


class Changing:
    def __init__(self, x):
        self.x = x


class Stepped(Changing):
    left = 4

    def __iter__(self):
        LOG.append("iter")
        self.x = self.x * 2.0
        return self

    def __next__(self):
        LOG.append("next")
        if not self.left:
            raise StopIteration
        self.left -= 1
        self.x = self.x * 1.1
        return self.x


class Indexed(Changing):
    def __len__(self):
        LOG.append("len")
        self.x = self.x * 2.0
        return 3

    def __getitem__(self, k):
        LOG.append(f"get {k}")
        if k >= 3:
            raise IndexError
        self.x = self.x * 1.1
        return self.x * (k + 1)


class Generating(Indexed):
    def __iter__(self):
        LOG.append("begin")
        self.x = self.x * 1.3
        yield self.x
        self.x = self.x * 1.2
        yield self.x * self.x
        yield 1.0


def assigned(key):
    def f(o):
        values = [1.0, 2.0, 3.0, 4.0, 5.0]
        values[key] = o
        return sum(values)

    return f


def first_and_rest(o):
    a, *b = o
    return a * b[-1]


def rest_and_last(o):
    *b, a = o
    return a * b[-1]


def only_rest(o):
    (*b,) = o
    return sum(b)


def copies(o, n=2):
    made = itertools.tee(o, n)
    return sum(next(it) for it in made) + sum(v for it in made for v in it)


CONSUMERS = {
    "pairwise": lambda o: sum(a * b for a, b in itertools.pairwise(o)), "tee": copies, "tee_one": lambda o: copies(o, 1),
    "tee_none": lambda o: 1.0 + len(itertools.tee(o, 0)), "slice": assigned(slice(0, 1)), "strided": assigned(slice(0, 5, 2)),
    "first_and_rest": first_and_rest, "rest_and_last": rest_and_last, "only_rest": only_rest, "list_of_iterator": lambda o: sum(list(iter(o))),
    "nlargest": lambda o: sum(heapq.nlargest(2, o)), "nlargest_one": lambda o: heapq.nlargest(1, o)[0],
    "nlargest_all": lambda o: sum(heapq.nlargest(7, o)), "nsmallest": lambda o: sum(heapq.nsmallest(2, o)),
    "nsmallest_by": lambda o: sum(heapq.nsmallest(2, o, key=lambda v: -v * o.x)), "fmean": statistics.fmean,
    "islice": lambda o: sum(itertools.islice(o, 2)), "cycle": lambda o: sum(itertools.islice(itertools.cycle(o), 6)),
}  # fmt: skip
if sys.version_info >= (3, 12):
    CONSUMERS["batched"] = lambda o: sum(a * b[-1] for a, *b in itertools.batched(o, 2) if b)


def logged(f, x=0.7):
    LOG.clear()
    value = f(x)
    log = list(LOG)
    LOG.clear()
    assert zyg.withgradient(f, x)[0] == pytest.approx(value, rel=1e-13)
    assert log == LOG


@by_one_python_a_day
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("way", CONSUMERS)
@pytest.mark.parametrize("cls", [Stepped, Indexed, Generating])
def test_iterables_are_asked_as_cpython_asks_them(cls, way):
    def f(x):
        o = cls(x)
        return CONSUMERS[way](o) * o.x

    try:
        f(0.7)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)[:20]):
            zyg.gradient(f, 0.7)
        return
    logged(f)
    check(f, times=2)
    check_second(f)


class Compared(Changing):
    def __init__(self, x, seen):
        super().__init__(x)
        self.seen = seen

    def __lt__(self, other):
        LOG.append("lt")
        self.seen[0] = self.seen[0] * 1.5
        return self.x < other.x

    def __eq__(self, other):
        LOG.append("eq")
        self.seen[0] = self.seen[0] * 1.2
        return self.x == other.x

    __hash__ = None


def few(function, n, given=list, **options):
    def f(x):
        seen = [x]
        made = function(n, given([Compared(v, seen) for v in (x, x * x, 0.3, x * 3.0)]), **options)
        return sum(o.x for o in made) * seen[0]

    return f


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize(
    "f",
    [
        few(heapq.nsmallest, 2), few(heapq.nlargest, 2), few(heapq.nsmallest, 1), few(heapq.nlargest, 3, tuple), few(heapq.nsmallest, 9),
        few(heapq.nlargest, 2, key=lambda o: -o.x),
    ],
)  # fmt: skip
def test_a_few_of_many_are_compared_as_cpython_compares_them(f):
    logged(f)
    check(f, times=2)
    check_second(f)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_a_few_of_an_iterator_whose_items_change_where_they_are_compared_are_refused():
    with pytest.raises(zyg.Unsupported, match=r"nsmallest.* of an iterator whose items change something"):
        zyg.gradient(few(heapq.nsmallest, 2, lambda items: (o for o in items)), 0.7)


class Copied(Stepped):
    def __copy__(self):
        return Stepped(self.x)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_tee_of_what_has_a_method_for_copies_is_refused():
    with pytest.raises(zyg.Unsupported, match=r"`itertools\.tee` of a Copied"):
        zyg.gradient(lambda x: copies(Copied(x)), 0.7)
