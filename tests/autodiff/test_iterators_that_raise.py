"""Iterators that change something and then raise an exception, which is caught around what takes their items: what they have changed
is in the derivatives. So it is where the items are all there, and what takes them raises."""

# ruff: noqa: C417, RUF017, RUF058, SIM105

from __future__ import annotations

import array
import bisect
import collections
import functools
import heapq
import itertools
import math
import operator
import random
import statistics
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import zyg
from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_turn
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn


class Stepped:
    """Raises behind the second item."""

    raises: type[Exception] = ValueError

    def __init__(self, x):
        self.x = x
        self.z = x
        self.left = 2

    def __iter__(self):
        self.z = self.z * self.x
        return self

    def __next__(self):
        self.z = self.z * self.x
        if not self.left:
            self.z = self.z * self.x
            raise self.raises
        self.left -= 1
        return self.z


class Ending(Stepped):
    """The same that raises nothing."""

    raises = StopIteration


class Indexed:
    def __init__(self, x):
        self.x = x
        self.z = x

    def __len__(self):
        self.z = self.z * self.x
        return 3

    def __getitem__(self, k):
        self.z = self.z * self.x
        if k == 2:
            raise ValueError
        return self.z


class Generating:
    def __init__(self, x):
        self.x = x
        self.z = x

    def __iter__(self):
        self.z = self.z * self.x
        yield self.z
        self.z = self.z * self.x
        yield self.z
        self.z = self.z * self.x
        raise ValueError


class Begun(Generating):
    """Raises before there is any item."""

    def __iter__(self) -> Iterator[float]:
        self.z = self.z * self.x
        raise ValueError


class Measured(Ending):
    """Raises where it is asked for its length."""

    def __len__(self):
        self.z = self.z * self.x
        raise ValueError


class Texts(Ending):
    """The last item is no number."""

    def __next__(self):
        return super().__next__() if self.left != 1 else (setattr(self, "left", 0), "text")[1]


class Number:
    def __init__(self, of, refuses):
        self.of = of
        self.refuses = refuses

    def __float__(self):
        self.of.z = self.of.z * self.of.x
        if self.refuses:
            raise ValueError
        return self.of.z


class Converted(Ending):
    """The items make numbers of themselves, the second one refuses."""

    def __next__(self):
        super().__next__()
        return Number(self, self.left == 0)


def put(key: slice) -> Callable[[Any], Any]:
    def f(o: Any) -> Any:
        values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
        values[key] = o
        return sum(values)

    return f


def put_mapped(o):
    values = [1.0, 2.0]
    values[0:2] = map(lambda v: v * 2.0, o)
    return sum(values)


def put_in_array(o):
    values = array.array("d", [1.0, 2.0])
    values[0:1] = array.array("d", o)
    return sum(values)


def extended(o):
    values = [1.0]
    values.extend(o)
    return sum(values)


def added(o):
    values = [1.0]
    values += o
    return sum(values)


def array_extended(o):
    values = array.array("d", [1.0])
    values.extend(o)
    return sum(values)


def deque_extended(o):
    values = collections.deque([1.0])
    values.extend(o)
    return sum(values)


def deque_extended_left(o):
    values = collections.deque([1.0])
    values.extendleft(o)
    return sum(values)


def two(o):
    a, b = o
    return a * b


def four(o):
    a, b, c, d = o
    return a * b * c * d


def first_and_rest(o):
    a, *b = o
    return a * sum(b)


def nested(o):
    (a, b), c = o, 2.0
    return a * b * c


def keys_updated(o):
    values: dict[Any, Any] = {}
    values.update((str(k), v) for k, v in enumerate(o))
    return sum(values.values())


def pairs_updated(o):
    values: dict[Any, Any] = {}
    values.update(zip("abc", o))
    return sum(values.values())


def set_updated(name: str) -> Callable[[Any], Any]:
    def f(o: Any) -> Any:
        values = {1.0, 2.0}
        getattr(values, name)(o)
        return sum(values)

    return f


def set_made(name: str) -> Callable[[Any], Any]:
    return lambda o: sum(getattr({1.0, 2.0}, name)(o)) * 1.0


def counted(o):
    counter: collections.Counter[Any] = collections.Counter()
    counter.update(o)
    return sum(counter.values()) * 1.0


def looped(o):
    total = 1.0
    for v in o:
        total = total * v
    return total


def zipped(**options: Any) -> Callable[[Any], Any]:
    return lambda o: sum(a * b for a, b in zip(o, [2.0, 3.0, 4.0, 5.0], **options))


def delegated(o):
    def generator():
        yield from o

    return sum(generator())


def drawn(o):
    return sum(random.Random(1).choices([1.0, 2.0], weights=list(o)))


def drawn_by(o):
    return sum(random.Random(1).choices([1.0, 2.0], weights=o))


def looked_up(o):
    return bisect.bisect([1.0, 2.0, 3.0], 2.5, *map(int, o)) * 1.0


def matched(o):
    match list(o):
        case [p, q]:
            return p * q
    return 1.0


CONSUMERS: dict[str, Callable[[Any], Any]] = {
    "list": lambda o: sum(list(o)),
    "tuple": lambda o: sum(tuple(o)),
    "set": lambda o: sum(set(o)),
    "frozenset": lambda o: sum(frozenset(o)),
    "dict": lambda o: sum(dict(zip("abc", o)).values()),
    "fromkeys": lambda o: len(dict.fromkeys(o)) * 1.0,
    "sum": sum,
    "sum of lists": lambda o: sum(([v] for v in o), [])[0],
    "min": min,
    "max": max,
    "max by a key": lambda o: max(o, key=lambda v: -v),
    "min with a default": lambda o: min(o, default=1.0),
    "sorted": lambda o: sorted(o)[0],
    "sorted by a key": lambda o: sorted(o, key=lambda v: -v)[0],
    "sort": lambda o: (values := list(o), values.sort(), values[0])[2],
    "any": lambda o: any(o) * 1.0,
    "any of a generator": lambda o: any(v > 1e6 for v in o) * 1.0,
    "all": lambda o: all(o) * 1.0,
    "in": lambda o: (1e6 in o) * 1.0,
    "count": lambda o: operator.countOf(o, 1e6) * 1.0,
    "index": lambda o: operator.indexOf(o, 1e6) * 1.0,
    "fsum": math.fsum,
    "prod": math.prod,
    "prod with a start": lambda o: math.prod(o, start=2.0),
    "hypot": lambda o: math.hypot(*o),
    "dist": lambda o: math.dist(o, [1.0, 2.0]),
    "dist to": lambda o: math.dist([1.0, 2.0], o),
    "join": lambda o: len("".join(str(v) for v in o)) * 1.0,
    "join of texts": lambda o: len("".join(o)) * 1.0,
    "bytes": lambda o: len(bytes(map(int, o))) * 1.0,
    "array": lambda o: sum(array.array("d", o)),
    "array of ints": lambda o: sum(array.array("i", map(int, o))) * 1.0,
    "array.extend": array_extended,
    "deque": lambda o: sum(collections.deque(o)),
    "the last of a deque": lambda o: collections.deque(o, maxlen=1)[0],
    "deque.extend": deque_extended,
    "deque.extendleft": deque_extended_left,
    "extend": extended,
    "+=": added,
    "update by a generator": keys_updated,
    "update by pairs": pairs_updated,
    "Counter": lambda o: len(collections.Counter(o)) * 1.0,
    "Counter.update": counted,
    "OrderedDict": lambda o: sum(collections.OrderedDict(zip("abc", o)).values()),
    "UserList": lambda o: sum(collections.UserList(o)),
    "put a slice": put(slice(1, 2)),
    "put all": put(slice(None)),
    "put at the end": put(slice(9, None)),
    "put at places": put(slice(None, None, 3)),
    "put at places from the end": put(slice(None, None, -4)),
    "put what is mapped": put_mapped,
    "put in an array": put_in_array,
    "unpack": two,
    "unpack more": four,
    "unpack the rest": first_and_rest,
    "unpack nested": nested,
    "star of a list": lambda o: sum([1.0, *o]),
    "star of a tuple": lambda o: sum((1.0, *o, 2.0)),
    "star of a set": lambda o: sum({*o}),
    "stars of a call": lambda o: (lambda *args: sum(args))(*o),
    "stars of C code": lambda o: max(*o),
    "comprehension": lambda o: sum([v * v for v in o]),
    "set comprehension": lambda o: sum({v * v for v in o}),
    "dict comprehension": lambda o: sum({str(v): v for v in o}.values()),
    "loop": looped,
    "yield from": delegated,
    "enumerate": lambda o: sum(k * v for k, v in enumerate(o)),
    "zip": zipped(),
    "zip strictly": zipped(strict=True),
    "map": lambda o: sum(map(lambda v: v * v, o)),
    "map of two": lambda o: sum(map(lambda v, w: v * w, o, [1.0, 2.0, 3.0])),
    "filter": lambda o: sum(filter(lambda v: v > 0.0, o)),
    "chain": lambda o: sum(itertools.chain(o, [2.0])),
    "chain.from_iterable": lambda o: sum(itertools.chain.from_iterable([[1.0], o])),
    "accumulate": lambda o: sum(itertools.accumulate(o)),
    "islice": lambda o: sum(itertools.islice(o, 1, 3)),
    "takewhile": lambda o: sum(itertools.takewhile(lambda v: v > 0.0, o)),
    "dropwhile": lambda o: sum(itertools.dropwhile(lambda v: v > 1e6, o)),
    "filterfalse": lambda o: sum(itertools.filterfalse(lambda v: v > 1e6, o)),
    "compress": lambda o: sum(itertools.compress(o, [1, 0, 1])),
    "compress by": lambda o: sum(itertools.compress([1.0, 2.0, 3.0], o)),
    "starmap": lambda o: sum(itertools.starmap(lambda v, w: v * w, zip(o, [1.0, 2.0, 3.0]))),
    "pairwise": lambda o: sum(v * w for v, w in itertools.pairwise(o)),
    "zip_longest": lambda o: sum(v * w for v, w in itertools.zip_longest(o, [1.0] * 4, fillvalue=2.0)),
    "groupby": lambda o: sum(k * len(list(group)) for k, group in itertools.groupby(o)),
    "product": lambda o: sum(v * w for v, w in itertools.product(o, [1.0, 2.0])),
    "permutations": lambda o: sum(v * w for v, w in itertools.permutations(o, 2)),
    "combinations": lambda o: sum(v * w for v, w in itertools.combinations(o, 2)),
    "cycle": lambda o: sum(itertools.islice(itertools.cycle(o), 5)),
    "tee": lambda o: sum(itertools.tee(o)[1]),
    "reduce": lambda o: functools.reduce(lambda v, w: v * w, o),
    "reduce by C code": lambda o: functools.reduce(operator.mul, o, 2.0),
    "nlargest": lambda o: heapq.nlargest(2, o)[0],
    "nsmallest": lambda o: heapq.nsmallest(2, o)[0],
    "nlargest by a key": lambda o: heapq.nlargest(2, o, key=lambda v: -v)[0],
    "merge": lambda o: sum(heapq.merge(o, [0.1, 0.2])),
    "mean": statistics.mean,
    "fmean": statistics.fmean,
    "fmean with weights": lambda o: statistics.fmean(o, [1.0, 2.0]),
    "fmean by weights": lambda o: statistics.fmean([1.0, 2.0], o),
    "median": statistics.median,
    "median_low": statistics.median_low,
    "mode": statistics.mode,
    "variance": statistics.variance,
    "pvariance": statistics.pvariance,
    "stdev": statistics.stdev,
    "pstdev": statistics.pstdev,
    "geometric_mean": statistics.geometric_mean,
    "harmonic_mean": statistics.harmonic_mean,
    "median_grouped": statistics.median_grouped,
    "NormalDist": lambda o: statistics.NormalDist.from_samples(o).mean,
    "quantiles": lambda o: statistics.quantiles(o, n=2)[0],
    "set.union": set_made("union"),
    "set.intersection": set_made("intersection"),
    "set.difference": set_made("difference"),
    "set.symmetric_difference": set_made("symmetric_difference"),
    "issubset": lambda o: {1.0, 2.0}.issubset(o) * 1.0,
    "issuperset": lambda o: {1.0, 2.0}.issuperset(o) * 1.0,
    "isdisjoint": lambda o: {1e6, 2e6}.isdisjoint(o) * 1.0,
    "set.update": set_updated("update"),
    "intersection_update": set_updated("intersection_update"),
    "difference_update": set_updated("difference_update"),
    "symmetric_difference_update": set_updated("symmetric_difference_update"),
    "choices": drawn,
    "choices by": drawn_by,
    "sample": lambda o: sum(random.Random(1).sample(list(o), 2)),
    "bisect": looked_up,
    "np.array of a list": lambda o: np.sum(np.array(list(o))),
    "np.fromiter": lambda o: np.sum(np.fromiter(o, float)),
    "match": matched,
}
if sys.version_info >= (3, 12):
    CONSUMERS["sumprod"] = lambda o: math.sumprod(o, [1.0, 2.0])
    CONSUMERS["sumprod by"] = lambda o: math.sumprod([1.0, 2.0], o)
    CONSUMERS["batched"] = lambda o: sum(a[0] for a in itertools.batched(o, 2))

SOURCES = (Stepped, Ending, Indexed, Generating, Begun, Measured, Texts, Converted)


def taken(consumer: Callable[[Any], Any], source: Any) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        o = source(x)
        r: Any = 1.0
        try:
            r = consumer(o)
        except (ValueError, TypeError, IndexError, statistics.StatisticsError):
            pass
        return o.z * r

    return f


# What asks for its items in another order, or more often, than zyg has it: where that shows, in other values, it is left out.
_OF_STATISTICS = "mean variance pvariance stdev pstdev geometric_mean harmonic_mean mode NormalDist".split()
_BY_ITEM = (
    "min,max,max by a key,min with a default,enumerate,groupby,fmean,np.fromiter,sumprod,sumprod by,batched,median_low,fmean with weights,"
    "fmean by weights,array,array.extend,put in an array,dist,dist to"
).split(",")
LEFT_OUT = {
    *[(name, source) for name in _OF_STATISTICS for source in (Ending, Measured, Texts, Converted)],
    *[(name, source) for name in _BY_ITEM for source in (Texts, Converted)],
    *[(name, Stepped) for name in ("harmonic_mean", "mode")],
    *[("harmonic_mean", source) for source in (Indexed, Generating)],
    ("NormalDist", Indexed),
    ("sum of lists", Converted), ("the last of a deque", Converted), ("the last of a deque", Texts),
    *[("join", source) for source in (Ending, Measured, Texts)],  # the length of a text
    *[("count", source) for source in (Ending, Measured, Texts, Converted)],  # refused
    *[(f"fmean {how} weights", source) for how in ("by", "with") for source in (Ending, Indexed, Measured)],  # refused
}  # fmt: skip


@pytest.mark.parametrize("name", CONSUMERS)
def test_what_iterators_changed_is_in_derivatives(name):
    for source in SOURCES:
        if (name, source) not in LEFT_OUT:
            check(taken(CONSUMERS[name], source), 1.1, times=2, rel=1e-6)


SECOND = (
    "set", "frozenset", "fsum", "dist", "sorted by a key", "array", "array.extend", "put a slice", "put at places", "put what is mapped",
    "mean", "fmean", "median", "unpack", "max", "deque", "nlargest",
)  # fmt: skip


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives(name):
    for source in (Stepped, Ending, Indexed):
        if (name, source) not in LEFT_OUT:
            check_second(taken(CONSUMERS[name], source), 1.1)


@pytest.mark.parametrize("source", [Ending, Indexed])
def test_means_with_weights_of_what_changes_are_refused(source):
    def f(x):
        return statistics.fmean(source(x), [1.0, 2.0])

    with pytest.raises((zyg.Unsupported, ValueError)):
        pullback(f, (1.1,))[1](1.0)
