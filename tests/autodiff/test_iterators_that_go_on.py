"""Iterators that raised an exception and are asked again: those of CPython that are written in C go on with what follows, most of
them, a generator is over. What each does is compared with CPython, with what the functions and sources had changed by then, and with
the derivatives of it all."""

# ruff: noqa: B008, C414, C417, RUF058, SIM105
from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_turn
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn


class Stumbling:
    """An iterator that raises an exception at some of its steps, and goes on; it changes something at each."""

    def __init__(self, s, x, number, at=(2, 3)):
        self.s, self.x, self.number, self.at, self.k = s, x, number, at, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.k += 1
        self.s[0] *= 1.0 + 0.1 * self.x
        if self.k in self.at:
            raise ValueError(self.k)
        if self.k > self.number:
            raise StopIteration
        return self.x * (0.5 + self.k) + 0.1 * self.s[0]


class Indexed:
    def __init__(self, s, x):
        self.s, self.x = s, x

    def __getitem__(self, k):
        self.s[0] *= 1.0 + 0.1 * self.x
        if k == 2:
            raise ValueError(k)
        if k > 4:
            raise IndexError
        return self.x * (0.5 + k)


def items(x, number=7):
    return [x * (1.0 + 0.5 * k) for k in range(number)]


def generated(s, x):
    for k in range(6):
        s[0] *= 1.0 + 0.1 * x
        yield x * (1.0 + k) * s[0]


class Function:
    """Raises an exception at some of its calls, having changed something."""

    def __init__(self, s, x, at=(1, 3)):
        self.s, self.x, self.at, self.k = s, x, at, 0

    def __call__(self, *args):
        self.k += 1
        self.s[0] *= 1.0 + 0.2 * self.x
        if self.k in self.at:
            raise ValueError(self.k)
        self.s[0] += 0.1 * args[0]
        return sum(args) * self.s[0]

    def test(self, *args):
        return self(*args) > 0.0

    def untrue(self, *args):
        return self(*args) < -1000.0

    def label(self, v):
        self(v)
        return self.k // 2


SOURCES: dict[str, Callable[[Any, float], Any]] = {
    "list": lambda s, x: items(x),
    "tuple": lambda s, x: tuple(items(x)),
    "iterator": lambda s, x: iter(items(x)),
    "generator": generated,
    "object": lambda s, x: Stumbling(s, x, 7, (5,)),
    "map": lambda s, x: map(lambda v: v - 0.5 * x, items(x)),
    "values": lambda s, x: dict(enumerate(items(x))).values(),
}


def plain(v):
    """What calculates only, and raises an exception."""
    return 1.0 / (0 if 1.2 < v < 1.5 else v)


def plain_of_two(v, w):
    return plain(v) * w


def is_small(v):
    return plain(v) > 0.0


def nowhere(v):
    return plain(v) < 0.0


WITH_FUNCTIONS: dict[str, Callable[[Function, Any], Any]] = {
    "map": lambda f, source: map(f, source),
    "map of two": lambda f, source: map(f, source, itertools.count(1)),
    "map of harmless code": lambda f, source: map(plain, source),
    "filter": lambda f, source: filter(f.test, source),
    "filter by harmless code": lambda f, source: filter(is_small, source),
    "filterfalse": lambda f, source: itertools.filterfalse(f.untrue, source),
    "filterfalse by harmless code": lambda f, source: itertools.filterfalse(nowhere, source),
    "starmap": lambda f, source: itertools.starmap(f, zip(source, itertools.count(1))),
    "starmap of harmless code": lambda f, source: itertools.starmap(plain_of_two, zip(source, itertools.count(1))),
    "accumulate": lambda f, source: itertools.accumulate(source, f),
    "accumulate from": lambda f, source: itertools.accumulate(source, f, initial=0.5),
    "takewhile": lambda f, source: itertools.takewhile(f.test, source),
    "takewhile by harmless code": lambda f, source: itertools.takewhile(is_small, source),
    "dropwhile": lambda f, source: itertools.dropwhile(f.untrue, source),
    "dropwhile, dropping": lambda f, source: itertools.dropwhile(lambda v: f(v) > 0.0 and f.k < 4, source),
    "dropwhile by harmless code": lambda f, source: itertools.dropwhile(is_small, source),
    "groupby": lambda f, source: itertools.groupby(source, f.label),
    "groupby by harmless code": lambda f, source: itertools.groupby(source, is_small),
    "map of map": lambda f, source: map(lambda v: v * 2.0, map(f, source)),
    "zip of map": lambda f, source: zip(itertools.count(1), map(f, source)),
    "enumerate of map": lambda f, source: enumerate(map(f, source)),
    "islice of map": lambda f, source: itertools.islice(map(f, source), 4),
    "chain of map": lambda f, source: itertools.chain([f.x], map(f, source), [f.x * 3.0]),
    "pairwise of map": lambda f, source: itertools.pairwise(map(f, source)),
    "accumulate of map": lambda f, source: itertools.accumulate(map(f, source)),
    "zip_longest of map": lambda f, source: itertools.zip_longest(map(f, source), [f.x], fillvalue=f.x * 1.5),
    "compress of map": lambda f, source: itertools.compress(map(f, source), [1, 0, 1, 1, 1, 1]),
    "generator expression of map": lambda f, source: (v * 2.0 for v in map(f, source)),
    "calls until": lambda f, source: iter(lambda it=iter(source): f(next(it)), None),
}  # fmt: skip


WITHOUT: dict[str, Callable[[Any, float], Any]] = {
    "an object": lambda s, x: Stumbling(s, x, 6),
    "by index": lambda s, x: iter(Indexed(s, x)),
    "zip": lambda s, x: zip(itertools.count(1), Stumbling(s, x, 6), items(x)),
    "zip behind": lambda s, x: zip(items(x), Stumbling(s, x, 6)),
    "zip by index": lambda s, x: zip(items(x), Indexed(s, x)),
    "enumerate": lambda s, x: enumerate(Stumbling(s, x, 6), 3),
    "map": lambda s, x: map(lambda v: v * x, Stumbling(s, x, 6)),
    "filter": lambda s, x: filter(None, Stumbling(s, x, 6)),
    "filterfalse": lambda s, x: itertools.filterfalse(lambda v: v < 0.0, Stumbling(s, x, 6)),
    "starmap": lambda s, x: itertools.starmap(lambda k, v: k * v, zip(itertools.count(1), Stumbling(s, x, 6))),
    "accumulate": lambda s, x: itertools.accumulate(Stumbling(s, x, 6)),
    "accumulate at first": lambda s, x: itertools.accumulate(Stumbling(s, x, 6, (1, 3))),
    "takewhile": lambda s, x: itertools.takewhile(lambda v: v > 0.0, Stumbling(s, x, 6)),
    "dropwhile": lambda s, x: itertools.dropwhile(lambda v: v < 0.0, Stumbling(s, x, 6)),
    "dropwhile, dropping": lambda s, x: itertools.dropwhile(lambda v: v < 2.0, Stumbling(s, x, 6)),
    "chain": lambda s, x: itertools.chain([x], Stumbling(s, x, 4), [x * 2.0]),
    "from_iterable": lambda s, x: itertools.chain.from_iterable([[x], Stumbling(s, x, 4), [x * 2.0]]),
    "from_iterable that stumbles": lambda s, x: itertools.chain.from_iterable(map(lambda v: [v, v], Stumbling(s, x, 4))),
    "from_iterable of numbers": lambda s, x: itertools.chain.from_iterable(iter([[x], x, [x * 2.0]])),
    "islice": lambda s, x: itertools.islice(Stumbling(s, x, 6), 5),
    "compress": lambda s, x: itertools.compress(Stumbling(s, x, 6), [1, 0, 1, 1, 1]),
    "pairwise": lambda s, x: itertools.pairwise(Stumbling(s, x, 6)),
    "pairwise at first": lambda s, x: itertools.pairwise(Stumbling(s, x, 6, (1, 4))),
    "zip_longest": lambda s, x: itertools.zip_longest(items(x, 2), Stumbling(s, x, 4), fillvalue=x),
    "groupby": lambda s, x: itertools.groupby(Stumbling(s, x, 6), lambda v: v > 2.0),
    "tee": lambda s, x: itertools.tee(Stumbling(s, x, 6))[1],
    "cycle": lambda s, x: itertools.islice(itertools.cycle(Stumbling(s, x, 4)), 6),
    "a generator": lambda s, x: (v * 2.0 for v in Stumbling(s, x, 6)),
    "calls until": lambda s, x: iter(Stumbling(s, x, 6).__next__, None),
    "zip, strict": lambda s, x: zip(items(x, 2), items(x, 4), strict=True),
    "reversed": lambda s, x: reversed(items(x)),
}  # fmt: skip

if sys.version_info >= (3, 12):
    WITHOUT["batched"] = lambda s, x: itertools.batched(Stumbling(s, x, 6), 2)


def number(item):
    if isinstance(item, tuple):
        return sum(map(number, item))
    if isinstance(item, Iterator):
        return sum(map(number, item))
    return item


def by_next(it, s, x):
    """Asked again and again, also when it is over; what the consumer does in between changes the same."""
    told, total = [], 0.0
    for k in range(12):
        total += s[0]
        try:
            item = number(next(it))
        except ValueError as error:
            told.append(str(error))
            s[0] *= 1.0 + 0.3 * x
        except StopIteration:
            told.append("over")
            s[0] *= 1.0 - 0.2 * x
        except (TypeError, ZeroDivisionError) as error:
            told.append(type(error).__name__)
        else:
            told.append("item")
            total += item * s[0] * (1.0 + 0.1 * k)
            s[0] *= 1.0 + 0.1 * x
    return total * s[0], told


def by_loops(it, s, x):
    told, total = [], 0.0
    for k in range(4):
        try:
            for item in it:
                told.append("item")
                total += number(item) * s[0]
                s[0] *= 1.0 + 0.1 * x
                if len(told) == 2:
                    break
        except (ValueError, ZeroDivisionError) as error:
            told.append(type(error).__name__)
            s[0] *= 1.0 + 0.3 * x
        except TypeError:
            told.append("TypeError")
        total += s[0] * (1.0 + k)
    return total * s[0], told


def at_once(it, s, x):
    told, total = [], 0.0
    for k in range(4):
        try:
            if k == 0:
                total += number(next(it)) * s[0]
            elif k == 2:
                for v in it:
                    total += number(v) * s[0]
            else:
                found = list(it)
                told.append(len(found))
                total += sum(map(number, found)) * s[0]
        except (ValueError, ZeroDivisionError) as error:
            told.append(type(error).__name__)
            s[0] *= 1.0 + 0.3 * x
        except (TypeError, StopIteration) as error:
            told.append(type(error).__name__)
        total += s[0] * (1.0 + k)
    return total * s[0], told


def agrees(make, consume, x=0.9):
    def function(x):
        s = [1.0 + x]
        return consume(make(s, x), s, x)

    expected, told = function(x)
    heard: list[Any] = []

    def value(x):
        y, parts = function(x)
        heard[:] = parts
        return y

    y, back = pullback(value, (x,))
    assert heard == told
    assert y == pytest.approx(expected, rel=1e-14)
    assert back(1.0)[0] == pytest.approx(differences.derivative(lambda v: function(v)[0], x), rel=1e-6)


CONSUMERS = [by_next, by_loops, at_once]


@pytest.mark.parametrize("consume", CONSUMERS)
@pytest.mark.parametrize("kind", WITHOUT)
def test_what_follows_an_exception_of_a_source(kind, consume):
    agrees(WITHOUT[kind], consume)


@pytest.mark.parametrize("consume", CONSUMERS)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("kind", WITH_FUNCTIONS)
def test_what_follows_an_exception_of_a_function(kind, source, consume):
    agrees(lambda s, x: WITH_FUNCTIONS[kind](Function(s, x), SOURCES[source](s, x)), consume)


ENDING: dict[str, Callable[[Any, Any], Any]] = {
    "map": lambda f, xs: map(f, xs),
    "map of a tuple": lambda f, xs: map(f, tuple(xs)),
    "filter": lambda f, xs: filter(f, xs),
    "takewhile": lambda f, xs: itertools.takewhile(f, xs),
    "starmap": lambda f, xs: itertools.starmap(f, zip(xs)),
    "starmap of lists": lambda f, xs: itertools.starmap(f, [[v] for v in xs]),
    "accumulate": lambda f, xs: itertools.accumulate(xs, lambda a, b: f(b)),
    "groupby": lambda f, xs: (k for k, _ in itertools.groupby(xs, f)),
}  # fmt: skip


@pytest.mark.parametrize("take", [list, sum, lambda it: [next(it, 0.0), *it]])
@pytest.mark.parametrize("kind", ENDING)
def test_a_function_that_ends_its_iterator(kind, take):
    def function(x):
        s = [x]

        def f(v):
            s[0] *= 1.5 * x
            if s[0] > 3.0:
                raise StopIteration
            return v * s[0]

        found = take(ENDING[kind](f, items(x)))
        return (sum(map(number, found)) if take is not sum else found) * s[0]

    try:
        y, back = pullback(function, (1.1,))
    except zyg.Unsupported as error:
        assert "StopIteration" in str(error)
        return
    assert y == function(1.1)
    assert back(1.0)[0] == pytest.approx(differences.derivative(function, 1.1), rel=1e-8)


class Truth:
    """Is true or not by Python code that changes something."""

    def __init__(self, s, v):
        self.s, self.v = s, v

    def __bool__(self):
        self.s[0] *= 1.0 + 0.1 * self.v
        return self.v > 1.5


def truth_by(f):
    def call(v):
        f(v)
        return Truth(f.s, v)

    return call


def every_other(f):
    return lambda *v: f(*v) > 0.0 and f.k % 2 == 0


LEAVING: dict[str, Callable[[Function, Any], Any]] = {
    "zip": lambda f, source: zip(map(f, source), [1.0]),
    "zip of enumerate": lambda f, source: zip(enumerate(map(f, source)), [1.0]),
    "zip of chain": lambda f, source: zip(itertools.chain(map(f, source), [1.0]), [1.0] * 3),
    "map": lambda f, source: map(lambda a, b: a, map(f, source), [1.0]),
    "islice": lambda f, source: itertools.islice(map(f, source), 1, 4, 2),
    "compress": lambda f, source: itertools.compress(map(f, source), [0, 1, 0, 1]),
    "compress by what changes something": lambda f, source: itertools.compress(source, map(every_other(f), items(f.x))),
    "filter": lambda f, source: filter(every_other(f), source),
    "filter of map": lambda f, source: filter(lambda v: v > 3.0, map(f, source)),
    "filter by truth": lambda f, source: filter(truth_by(f), source),
    "filter of what is true": lambda f, source: filter(None, map(lambda v: Truth(f.s, v), source)),
    "filterfalse": lambda f, source: itertools.filterfalse(every_other(f), source),
    "filterfalse of map": lambda f, source: itertools.filterfalse(lambda v: v > 3.0, map(f, source)),
    "filterfalse by truth": lambda f, source: itertools.filterfalse(truth_by(f), source),
    "takewhile": lambda f, source: itertools.takewhile(lambda v: f(v) < 6.0, source),
    "takewhile of map": lambda f, source: itertools.takewhile(lambda v: v < 6.0, map(f, source)),
    "takewhile by truth": lambda f, source: itertools.takewhile(truth_by(f), source),
    "dropwhile": lambda f, source: itertools.dropwhile(lambda v: f(v) < 6.0, source),
    "dropwhile of map": lambda f, source: itertools.dropwhile(lambda v: v < 6.0, map(f, source)),
    "cycle": lambda f, source: itertools.islice(itertools.cycle(map(f, source)), 16),
    "tee": lambda f, source: itertools.tee(map(f, source))[0],
    "zip_longest": lambda f, source: itertools.zip_longest(map(f, source), [1.0], fillvalue=2.0),
}  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("kind", LEAVING)
def test_what_is_done_for_items_that_are_left_aside(kind, source):
    def consume(it, s, x):
        total = s[0] * s[0]
        s[0] *= 1.1 * x
        total += s[0] * s[0]
        while True:
            try:
                item = next(it)
            except ValueError:
                continue
            except StopIteration:
                break
            total += (item.v if isinstance(item, Truth) else number(item)) * s[0]
            s[0] *= 1.0 + 0.1 * x
        return total * s[0] + s[0], []

    agrees(lambda s, x: LEAVING[kind](Function(s, x, ()), SOURCES[source](s, x)), consume)


def test_items_of_a_list_that_changes_while_it_is_gone_through_again_and_again():
    def function(x):
        values = [x, 2.0 * x]
        it = itertools.cycle(values)
        values[0] = x * x
        values.append(3.0 * x)
        return sum(next(it) * k for k in range(1, 8))

    y, back = pullback(function, (0.9,))
    assert y == function(0.9)
    assert back(1.0)[0] == pytest.approx(differences.derivative(function, 0.9), rel=1e-8)


@pytest.mark.parametrize("take", [list, sum, sorted, tuple], ids=lambda f: f.__name__)
def test_a_generator_that_is_over_is_taken_again(take):
    def growing(s, x):
        yield x * s[0]
        s[0] *= x + 0.5

    def function(x):
        s = [x]
        it = growing(s, x)
        first = take(it)
        total = (first if take is sum else first[0]) * s[0]
        s[0] *= 1.5 * x
        take(it)
        return total * s[0]

    assert pullback(function, (0.9,))[1](1.0)[0] == pytest.approx(differences.derivative(function, 0.9), rel=1e-8)


class Disc:
    """Keeps what a property has computed, and counts what it is asked."""

    def __init__(self, s, radius):
        self.s, self.radius, self.known = s, radius, None

    @property
    def area(self):
        if self.known is None:
            self.known = 3.0 * self.radius**2
        return self.known

    @functools.cached_property
    def edge(self):
        return 6.0 * self.radius

    def __neg__(self):
        self.s[0] *= 1.0 + 0.1 * self.radius
        return -self.radius

    def __gt__(self, other):
        self.s[0] *= 1.0 + 0.1 * self.radius
        return self.radius > other


def discs(s, x):
    return [Disc(s, x), Disc(s, 2.0 * x), Disc(s, 0.5 * x)]


ASKING: dict[str, Callable[[Any, float], Any]] = {
    "sorted by a property that keeps": lambda s, x: sorted(discs(s, x), key=lambda o: o.area),
    "sorted by a cached property": lambda s, x: sorted(discs(s, x), key=lambda o: o.edge),
    "sorted by an operator": lambda s, x: sorted(discs(s, x), key=lambda o: -o),
    "the least": lambda s, x: [min(discs(s, x), key=lambda o: o.area)],
    "in pairs": lambda s, x: [o for o, _ in sorted([(o, 1.0) for o in discs(s, x)], key=lambda pair: pair[0].area)],
    "filter": lambda s, x: filter(lambda o: o.area > 1.0, discs(s, x)),
    "filter by an operator": lambda s, x: filter(lambda o: o > 0.7, discs(s, x)),
    "takewhile": lambda s, x: itertools.takewhile(lambda o: o.edge > 3.0, discs(s, x)),
    "groupby": lambda s, x: [next(g) for _, g in itertools.groupby(discs(s, x), lambda o: o.area > 2.0)],
    "groupby by an operator": lambda s, x: [next(g) for _, g in itertools.groupby(discs(s, x), lambda o: o > 2.0)],
    "map that is left": lambda s, x: [Disc(s, -v) for v, _ in zip(map(lambda o: -o, discs(s, x)), [1.0])],
}  # fmt: skip


@pytest.mark.parametrize("way", ASKING)
def test_items_that_change_when_they_are_asked(way):
    def function(x):
        s = [1.0 + x]
        total = 0.0
        for o in ASKING[way](s, x):
            total += o.radius * s[0] + o.area + o.edge
        return total * s[0]

    try:
        y, back = pullback(function, (0.9,))
    except zyg.Unsupported as error:
        assert "filter" in way or "takewhile" in way
        assert "choose in a loop" in str(error)
        return
    assert y == function(0.9)
    assert back(1.0)[0] == pytest.approx(differences.derivative(function, 0.9), rel=1e-8)


@pytest.mark.parametrize("choose", [filter, itertools.filterfalse, itertools.dropwhile, itertools.takewhile])
def test_a_method_that_changes_its_list_chooses(choose):
    def function(x):
        seen: list[float] = []
        left = list(choose(seen.append, [x, 2.0 * x, x * x]))
        return sum(seen) * x + len(left)

    y, back = pullback(function, (0.9,))
    assert y == function(0.9)
    assert back(1.0)[0] == pytest.approx(differences.derivative(function, 0.9), rel=1e-8)


def keeping_all(seen, number):
    def f(*args):
        seen.extend(args)
        if len(seen) > number:
            raise ValueError
        return args[0]

    return f


TAKING: dict[str, Callable[[Any, list[float]], Any]] = {
    "sorted": lambda f, xs: sorted(xs, key=f),
    "sorted tuple": lambda f, xs: sorted(tuple(xs), key=f),
    "sorted by what cannot be compared": lambda f, xs: sorted(xs, key=lambda v: (f(v), None)[1]),
    "min by what cannot be compared": lambda f, xs: min(xs, key=lambda v: (f(v), None)[1]),
    "reduce": lambda f, xs: functools.reduce(f, xs),
    "reduce of a tuple": lambda f, xs: functools.reduce(f, tuple(xs)),
    "list of map": lambda f, xs: list(map(f, xs)),
    "in": lambda f, xs: -1.0 in map(f, xs),
    "text": lambda f, xs: ",".join(map(str, map(f, xs))),
    "accumulate": lambda f, xs: list(itertools.accumulate(xs, f)),
}  # fmt: skip


@pytest.mark.parametrize("number", [2, 100])
@pytest.mark.parametrize("way", TAKING)
def test_a_callback_that_keeps_its_arguments_and_raises(way, number):
    """What comes to these arguments is right, or refused."""

    def function(x):
        seen: list[float] = []
        try:
            TAKING[way](keeping_all(seen, number), [x, 2.0 * x, x * x])
        except (ValueError, TypeError):
            pass
        return sum(v * (k + 1.0) for k, v in enumerate(seen)) * x

    try:
        y, back = pullback(function, (0.9,))
        given = back(1.0)[0]
    except zyg.Unsupported as error:
        assert "left by an exception" in str(error)
        return
    assert y == function(0.9)
    assert given == pytest.approx(differences.derivative(function, 0.9), rel=1e-8)
