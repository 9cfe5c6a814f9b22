"""What the library does with items of lists: merging, grouping, choosing, pairing and copying, against differences: values, first and
second derivatives, lists that change on the way, exceptions, and items whose operators run code."""

from __future__ import annotations

import collections
import heapq
import itertools
import math
import operator
import sys
from typing import Any, NamedTuple

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback


def numbers(x, count=7):
    return [x * ((3 * k) % 7 + 1) - 0.3 * k for k in range(count)]


class Cost:
    """Compared by code."""

    def __init__(self, value, log):
        self.value, self.log = value, log

    def __lt__(self, other):
        self.log[0] += 0.01 * self.value
        return self.value < other.value


class Point(NamedTuple):
    x: float
    y: float = 2.0
    z: float = 0.0

    @property
    def norm(self):
        return self.x * self.y + self.z


Pair = collections.namedtuple("Pair", "a b")


class Odd(Pair):
    @classmethod
    def _make(cls, items):
        a, b = items
        return cls(a * 2.0, b)


def merged(x):
    total = 0.0
    for k, v in enumerate(heapq.merge(sorted(numbers(x)), sorted(numbers(2.0 * x, 5)), [x, x])):
        total += v * v * k
    return total + sum(heapq.merge(numbers(x, 3), [x], key=lambda v: -v, reverse=True))


def merged_pairs(x):
    a, b = [(x, 1), (2 * x, 0)], [(x * x, 2)]
    return sum(v * n for v, n in heapq.merge(a, b, key=operator.itemgetter(1)))


def merged_costs(x):
    log = [0.0]
    a, b = [Cost(x, log), Cost(2 * x, log)], [Cost(1.5 * x, log)]
    return sum(c.value * k for k, c in enumerate(heapq.merge(a, b))) + log[0]


def few(x):
    xs = numbers(x)
    total = 0.0
    for k, v in enumerate(heapq.nsmallest(3, xs)):
        total += v * v * (k + 1)
    total += math.prod(heapq.nlargest(2, xs, key=lambda v: -abs(v - x)))
    total += sum(heapq.nsmallest(2, (v * v for v in xs))) + sum(heapq.nsmallest(0, xs)) + sum(heapq.nlargest(99, xs))
    return total + heapq.nsmallest(1, xs)[0]


def few_costs(x):
    log = [0.0]
    costs = [Cost(v, log) for v in numbers(x, 4)]
    return sum(c.value * c.value for c in heapq.nlargest(2, costs)) + log[0]


def heaps(x):
    h = [*numbers(x), x, x]
    heapq.heapify(h)
    total = sum(v * v * k for k, v in enumerate(h))
    pairs = [(k % 3, v) for k, v in enumerate(numbers(x))] + [(1, x)]
    pairs.append(pairs[0])
    heapq.heapify(pairs)
    while pairs:
        k, v = heapq.heappop(pairs)
        total += v * v * (k + len(pairs))
    return total


def grouped(x):
    total = 0.0
    for key, group in itertools.groupby(numbers(x, 9), key=lambda v: v > 1.0):
        total += math.prod(group) * (2.0 if key else 1.0)
    for key, group in itertools.groupby([("a", x), ("a", x * x), ("b", 3 * x)], operator.itemgetter(0)):
        items = list(group)
        total += len(key) * items[0][1] * items[-1][1]
    for _, group in itertools.groupby([(1, x), (1, 2 * x)], lambda p: p[:1]):
        total += max(group)[1]
    return total


def grouped_by_numbers(x):
    total = 0.0
    for key, group in itertools.groupby([x, x, 2 * x]):
        total += key * sum(group)
    return total


def groups_left_aside(x):
    total = 0.0
    groups = itertools.groupby(numbers(x, 9), key=lambda v: v > 1.0)
    for _, group in groups:
        total += next(group) * x
    kept = [group for _, group in itertools.groupby(numbers(x), lambda v: v > 1.0)]
    return total + sum(sum(group) for group in kept)


def grouped_while_it_grows(x):
    xs = [x, 2 * x]
    total = 0.0
    for _, group in itertools.groupby(xs, key=lambda v: v > 100.0):
        for v in group:
            if len(xs) < 5:
                xs.append(v * x)
            total += v * v
    return total


def spread(x):
    xs, ys = numbers(x), numbers(x * x, 5)
    total = sum(itertools.starmap(operator.mul, zip(xs, ys)))  # noqa: RUF058
    total += sum(itertools.starmap(operator.truediv, [(x, 2.0), (3.0, x)]))
    total += math.prod(itertools.starmap(lambda a, b: a * b + a, zip(ys, xs)))  # noqa: RUF058
    pairs = zip(xs, ys)
    total += next(pairs)[1]
    total += sum(list(itertools.starmap(operator.sub, pairs))[1:])
    steps = itertools.starmap(operator.mul, [(x, x), (2.0, x)])
    total += next(steps) * x
    return (
        total
        + sum(steps)
        + sum(itertools.starmap(pow, [[x, 2], (x, 3)]))
        + max(itertools.starmap(operator.neg, [(x,)]))
    )


def totals(x):
    xs = numbers(x)
    total = sum(itertools.accumulate(xs, lambda a, b: 0.9 * a * b + b))
    ys = list(itertools.accumulate(xs, max))
    total += ys[2] * ys[-1] + max(itertools.accumulate(xs, lambda a, b: a + b * x))
    steps = itertools.accumulate(xs, lambda a, b: a * b)
    total += next(steps) * next(steps)
    return total + sum(steps) + sum(list(itertools.accumulate([], min)))


def totals_of_other_kinds(x):
    return sum(v.real for v in itertools.accumulate([x, 2 * x, x], lambda a, b: a * b * (1 + 0j)))


def longest(x):
    total = 0.0
    for a, b in itertools.zip_longest(numbers(x, 3), numbers(x * x, 5), fillvalue=0.5 * x):
        total += a * b
    for a, b, c in itertools.zip_longest([x], [x, 2 * x], [], fillvalue=x * x):
        total += a * b * c
    return total + sum(a or b for a, b in itertools.zip_longest([x, x], [2.0] * 3)) + len(list(itertools.zip_longest()))


def longest_while_it_grows(x):
    xs, ys = [x], [x, 2 * x, 3 * x]
    total = 0.0
    for a, b in itertools.zip_longest(xs, ys, fillvalue=x):
        if len(xs) < 2:
            xs.append(a * b)
        total += a * b
    return total


def chained(x):
    rows = [numbers(x, 3), [], numbers(x * x, 2), [x]]
    same = rows[0]
    total = sum(itertools.chain.from_iterable(rows)) * max(itertools.chain(*rows, same))
    return (
        total + math.prod(itertools.chain(same, same)) + sum(itertools.chain(enumerate([x]) and [x], zip([x]) and [x]))
    )


def got(x):
    first, both, last = operator.itemgetter(0), operator.itemgetter(0, 1), operator.itemgetter(-1)
    pairs = [(x * k, x * x) for k in range(1, 4)]
    total = sum(first(p) * last(p) for p in pairs) + sum(map(first, pairs)) + sum(map(last, [[x, 2 * x]]))
    named = operator.itemgetter("a")
    total += sum(named(d) * named(d) for d in [{"a": x}, {"a": 2 * x}])
    a, b = both([x, x * x, 1.0])
    return total + a * b + first(Pair(x, 1.0)) + sum(first(slice_) for slice_ in [numbers(x)[1:]])


def copied(x):
    p, total = Point(x), 0.0
    for k in range(4):
        p = p._replace(x=p.x * 0.9 + p.y * x, z=p.z + p.x)
        q = p._replace(**{"y": p.norm})
        total += q.norm * k + q._replace().x
    o = Odd(x, x)._replace(b=3.0 * x)
    return total + p.z + o.a * o.b


def summed(x):
    xs, ys = numbers(x), tuple(numbers(x * x))
    total = math.fsum(xs) + math.fsum(ys) + math.fsum(v * v for v in xs) + math.fsum([x, 2, True])
    total += math.dist(xs, ys) + math.dist((x, 1.0), [2.0, x]) + math.hypot(*xs) + math.hypot(*ys, x)
    if sys.version_info >= (3, 12):
        total += math.sumprod(xs, ys)
    return total


class Vector(list):
    def __add__(self, other):
        return Vector(a + b for a, b in zip(self, other))


def of_subclasses(x):
    v, w, total = Vector([x, 2 * x]), Vector(numbers(x, 2)), 0.0
    for _ in range(3):
        v = v + w
        a, b = Pair(x, v[0])
        total += sum(Pair(a, b)) * max(Point(x, a)) + sum(v) * len(Point(x))
        for k, c in enumerate(v):
            total += c * k
        if v and Pair(0.0, 0.0):
            total += math.prod(v)
    return total


class Tripled(list):
    def __getitem__(self, k):
        return list.__getitem__(self, k) * 3.0


def of_subclasses_with_items_of_their_own(x):
    v = Tripled([x, x * x])
    return sum(v) * v[0] + sum(a * k for k, a in enumerate(reversed(v), 1)) + math.prod(v)


def counted(x):
    c = collections.Counter({"a": x, "b": 2.0 * x}) + collections.Counter({"b": x * x, "c": 1.0})
    d = c - collections.Counter(b=x)
    return sum(v * v for v in c.values()) + sum(d.values()) + ("a" in c) * c["a"] + c.most_common(1)[0][1]


PROGRAMS = {
    f.__name__: f
    for f in (
        merged, merged_pairs, merged_costs, few, few_costs, heaps, grouped, grouped_by_numbers, groups_left_aside,
        grouped_while_it_grows, spread, totals, totals_of_other_kinds, longest, longest_while_it_grows, chained, got, copied, summed,
        of_subclasses, of_subclasses_with_items_of_their_own, counted,
    )
}  # fmt: skip


def derivative(f: Any, x: float) -> Any:
    return pullback(f, (x,))[1](1.0)[0]


@each_in_turn
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name):
    f = PROGRAMS[name]
    for x in (0.73, 1.31, 0.73):
        value, back = pullback(f, (x,))
        assert value == f(x)
        assert math.isclose(back(1.0)[0], differences.derivative(f, x, 1e-3), rel_tol=1e-7)


@each_in_long_turn
@pytest.mark.parametrize(
    "name", ["merged", "few", "heaps", "grouped", "spread", "totals", "longest", "chained", "copied"]
)
def test_second_derivatives(name):
    f = PROGRAMS[name]
    found = derivative(lambda x: derivative(f, x), 0.73) or 0.0
    expected = differences.derivative(lambda x: derivative(f, x) or 0.0, 0.73, 1e-3)
    assert math.isclose(found, expected, rel_tol=1e-6, abs_tol=1e-8)


def raising(f: Any) -> Any:
    def program(x: float) -> float:
        xs, total = [x, 2.0 * x], x
        for _ in range(2):
            try:
                total = total * f(xs)
            except (TypeError, ZeroDivisionError, ValueError) as error:
                total = total + len(str(error)) * xs[0]
        return total

    return program


@each_in_turn
@pytest.mark.parametrize(
    "f",
    [
        lambda xs: heapq.heapify([xs[0], "a", xs[1]]),
        lambda xs: heapq.nsmallest(2, [xs[0], "a"]),
        lambda xs: sum(heapq.merge(xs, ["a"])),
        lambda xs: [list(g) for _, g in itertools.groupby([*xs, "a"], key=lambda v: v > 1.0)],
        lambda xs: sum(itertools.starmap(operator.truediv, [(xs[0], 1.0), (xs[1], 0.0)])),
        lambda xs: list(itertools.accumulate([*xs, "a"], lambda a, b: a * 1.0 - b)),
        lambda xs: math.fsum([*xs, "a"]),
        lambda xs: math.dist(xs, [1.0]),
        lambda xs: Pair(*xs)._replace(c=xs[0]),
    ],
)
def test_exceptions_are_as_ever(f):
    program = raising(f)
    value, back = pullback(program, (0.7,))
    assert value == program(0.7)
    assert math.isclose(back(1.0)[0], differences.derivative(program, 0.7), rel_tol=1e-8)


def test_what_would_be_followed_later_is_refused():
    def f(x):
        log, xs = [0.0], [x, 2 * x]
        ys = [3 * x]
        for v in heapq.merge(xs, ys):
            if len(xs) < 3:
                xs.append(Cost(v, log))
        return log[0]

    with pytest.raises(zyg.Unsupported, match="merged"):
        pullback(f, (0.7,))


def test_lists_of_texts_beside_numbers_have_no_gradient():
    def f(words, xs, mixed):
        words.append(xs[0] * xs[0])
        return words[-1] * len(words[0]) + sum(v for v in mixed if type(v) is float)

    assert pullback(f, (["ab", None], [3.0], [("a", 1.0), 2.0]))[1](1.0) == (None, [12.0], [None, 1.0])
    value, back = pullback(lambda x: ["a", None, "b"], (1.0,))
    assert value == ["a", None, "b"]
    assert back([None, None, None]) == (None,)
    assert pullback(lambda rows: rows[0][1] * 2.0, ([("a", 1.5), ("b", None)],))[1](1.0) == ([(None, 2.0), None],)


class Ordered(collections.OrderedDict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.made = True

    def last(self):
        return next(reversed(self.values()))


class Tally(collections.defaultdict):
    def __init__(self, start, **kwargs):
        super().__init__(lambda: start, **kwargs)


def test_dicts_of_the_library_as_base_classes():
    def f(x):
        d = Ordered([("a", x), ("b", x * x)], c=3.0 * x)
        d.move_to_end("a")
        t = Tally(x, q=2.0 * x)
        t["n"] += x
        return d.last() * d["c"] + d["b"] + sum(d.values()) + t["n"] * t["q"] + len(Ordered({"z": x}))

    for x in (0.7, 1.2):
        value, back = pullback(f, (x,))
        assert value == f(x)
        assert math.isclose(back(1.0)[0], differences.derivative(f, x), rel_tol=1e-8)


def test_a_method_that_changes_what_is_gone_through():
    def f(x):
        xs, ys = [x, 2.0 * x], [x * x, 3.0 * x, x]
        steps = itertools.starmap(lambda a, b: xs.append(a * b) if len(xs) < 4 else None, zip(xs, ys))  # noqa: RUF058
        list(steps)
        list(itertools.starmap(xs.insert, [(0, x * x)]))
        return sum(v * k for k, v in enumerate(xs)) + xs[0]

    for x in (0.7, 1.2):
        value, back = pullback(f, (x,))
        assert value == f(x)
        assert math.isclose(back(1.0)[0], differences.derivative(f, x), rel_tol=1e-8)


class OwnCopy(Pair):
    def _replace(self, **changes):
        return OwnCopy(9.0, self.b)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("cls", [Pair, Odd, OwnCopy])
def test_copies_by_methods_of_a_subclass(cls):
    def f(x):
        total = 0.0
        for _ in range(2):
            p = cls(x, x * x)._replace(b=3.0 * x)
            total += p.a * p.b
        return total

    value, (gradient,) = zyg.withgradient(f, 0.7)
    assert value == f(0.7)
    assert math.isclose(gradient, differences.derivative(f, 0.7), rel_tol=1e-8)
