"""Sequences of the library through the Python back end, by random scripts, against CPython with numbers that know their slopes."""

from __future__ import annotations

import bisect
import functools
import heapq
import itertools
import operator
import random
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.oracles import differences
from tests.oracles.linear import check
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.shadows import Shadows
from zyg.autodiff.objects.wholes import ListsAndTuples
from zyg.fallback import python_pullback

pytestmark = each_in_turn

WEIGHTS = (1.0, -0.5, 2.0)


def on_deque(xs: list[Any], script: list[tuple[str, int, float]], length: int | None) -> Any:
    values: deque[Any] = deque(xs[:3], length)
    total: Any = 0.0
    for what, k, weight in script:
        size = len(values)
        if what == "append":
            values.append(xs[k])
        elif what == "appendleft":
            values.appendleft(weight * xs[k])
        elif what == "extend":
            values.extend([xs[k], xs[k - 1]])
        elif not size:
            total += xs[k]
        elif what == "pop":
            total += weight * values.pop()
        elif what == "popleft":
            total += weight * values.popleft()
        elif what == "read":
            total += weight * values[k % size] + values[-1] + 0.5 * values[0]
        elif what == "set":
            values[k % size] = weight * values[-1]
            values[-1] = xs[k]
        elif what == "sum":
            total += weight * sum(values) + 0.5 * max(values) - [xs[k], *values][-1]
        elif what == "rotate":
            values.rotate(k - 2)
        elif what == "reverse":
            values.reverse()
        else:
            del values[k % size]
    for weight, item in zip(itertools.cycle(WEIGHTS), values):
        total += weight * item
    return total


DEQUES = "append append append appendleft extend pop popleft read read sum set rotate reverse delete".split()


@pytest.mark.parametrize("length", [None, 0, 1, 4])
def test_deques(length: int | None):
    drawn = random.Random(f"deque {length}")
    for _ in range(20):
        xs = [drawn.randrange(1, 64) / 64 for _ in range(7)]  # sums are exact, in whichever way they are made
        script = [
            (drawn.choice(DEQUES), drawn.randrange(7), drawn.choice(WEIGHTS)) for _ in range(drawn.randrange(2, 40))
        ]
        check(lambda xs, script=script: on_deque(xs, script, length), xs)


def on_dict(xs: list[Any], script: list[tuple[str, Any, int, float]], made: Any) -> Any:
    values = made()
    total: Any = 0.0
    for what, key, k, weight in script:
        if what == "set":
            values[key] = weight * xs[k]
        elif what == "add":
            values[key] += xs[k]
        elif what == "read" and key in values:
            total += weight * values[key]
        elif what == "get":
            total += weight * values.get(key, xs[k])
        elif what == "pop":
            total += weight * values.pop(key, xs[k])
        elif what == "default":
            total += weight * values.setdefault(key, xs[k])
        elif what == "delete" and key in values:
            del values[key]
    for weight, key in zip(itertools.cycle(WEIGHTS), values):
        total += weight * values[key]
    for value in values.values():
        total += value
    return total


class Ordered(OrderedDict[Any, Any]):
    def __missing__(self, key: Any) -> Any:
        return 0.5


def floats() -> Any:
    return defaultdict(float)


@pytest.mark.parametrize("made", [floats, Counter, Ordered], ids=["defaultdict", "Counter", "a class"])
def test_dicts_of_the_library(made: Any):
    drawn = random.Random(made.__name__)
    kinds = "set add add read read get pop default delete".split()
    for _ in range(20):
        xs = [drawn.random() for _ in range(6)]
        script = [
            (drawn.choice(kinds), drawn.choice(["a", 1, (2, "b"), -1]), drawn.randrange(6), drawn.choice(WEIGHTS))
            for _ in range(drawn.randrange(2, 40))
        ]
        check(lambda xs, script=script: on_dict(xs, script, made), xs)


def weighed(items: Any) -> Any:
    total: Any = 0.0
    for weight, item in zip(itertools.cycle(WEIGHTS), items):
        total += weight * item
    return total


def counted(xs: list[Any]) -> Any:
    found = Counter("abca", d=1)
    found["a"] = found["a"] * xs[0]
    found["e"] = xs[1]
    found.update(["a", "e", "f"])
    return found["a"] + 2.0 * found["e"] + found["f"]


def taken_in_part(xs: list[Any]) -> Any:
    items = itertools.accumulate(xs)
    first = next(items)
    more = map(operator.add, xs, xs[1:])
    return 3.0 * first + weighed(list(items)) + next(more) + sum(more) + sum(items)


def changed_on_the_way(xs: list[Any]) -> Any:
    items = [*xs]

    def step(total: Any, item: Any) -> Any:
        if len(items) < 8:
            items.append(2.0 * item)
            items[0] = item
        return 0.5 * total + item

    return functools.reduce(step, items) + weighed(items)


def grown(xs: list[Any]) -> Any:
    items, total = [*xs], 0.0
    for a, b in itertools.pairwise(items):
        total += a + 2.0 * b
        if len(items) < 9:
            items.append(0.5 * b)
    for a, b in itertools.combinations(items, 2):
        total += a + 2.0 * b
        items.insert(0, b)
    return total + weighed(items[:20])


def parts(xs: list[Any]) -> Any:
    low, high = xs[1:4], xs[-3:]
    low[0], high[1:2] = high[0], [xs[0], xs[0]]
    return weighed(low) + weighed(high) + weighed(xs[::2]) + sum(xs[3:1]) + weighed(xs[-100:2]) + sum(xs[:-2], xs[1])


def with_a_start(xs: list[Any]) -> Any:
    total = functools.reduce(operator.add, xs, xs[2]) + functools.reduce(operator.sub, [xs[1]])
    return total + weighed(itertools.accumulate(xs, operator.sub)) + weighed(map(operator.neg, xs))


def mixed(xs: list[Any]) -> Any:
    both = [3, *xs, 2]
    signs = [1.0, -1.0, 2.0, 0.5, 1, 3.0, 1.0, 1.0]
    total = sum(map(operator.mul, both, signs)) + weighed(itertools.accumulate(both))
    pairs = list(itertools.product(xs[:2], [1.0, xs[3]], repeat=1))
    return total + weighed(a + b for a, b in pairs) + weighed(t[0] - t[2] for t in itertools.permutations(xs[:3]))


def chained(xs: list[Any]) -> Any:
    items, total = [*xs], 0.0
    for item in itertools.chain(items, reversed(xs), [xs[1], 2.0]):
        total += 0.5 * item
        if len(items) < 8:
            items.append(2.0 * item)
    for pair in itertools.chain(zip(xs, items), enumerate(xs)):
        total += 2.0 * pair[1]
    names = itertools.chain(xs, map(operator.neg, xs), (xs[0],))
    return total + next(names) + weighed(list(names)) + weighed(list(itertools.chain(items, reversed(items))))


def chain(items: list[Any]) -> Any:
    """Not itertools' one."""
    return items


def at_places(xs: list[Any]) -> Any:
    items, total = [*xs, 2.0], 0.0
    for item in chain(items):
        total += 2.0 * item
    for k, item in enumerate(itertools.chain(items, [xs[1]])):
        total += 0.5 * item
        items[(k + 2) % 6] = xs[k % 5] - item
    for k, item in enumerate(itertools.chain.from_iterable([items, xs, [], reversed(xs), items])):
        total += item if k % 2 else 0.5 * item
        items[-1 - k % 3] = item
    for item in itertools.chain.from_iterable([items, xs, items]):
        items[0], total = 0.5 * item, total - item
    k = 2
    for a, b in itertools.pairwise(items):
        total += a - 3.0 * b
        items[k % 6] = items[k % 6] * 0.5 if k < 6 else 0.0
        k += 1
    for a, b in itertools.product(xs, (2.0, items[3])):
        total += a - 0.5 * b
        xs = xs[1:]
    for a, b, c in itertools.permutations(items[:4], 3):
        total += a - 0.5 * b
        items[1] = c
    for pair in itertools.combinations_with_replacement(items, 2):
        total += pair[1]
    return total + weighed(items)


def through_dicts(xs: list[Any]) -> Any:
    values = {str(k): x for k, x in enumerate(xs)}
    doubled = {key: 2.0 * value for key, value in values.items() if key != "2"}
    doubled |= {key[0]: values[key] for key in ("3", "4")}
    total = max(doubled.values()) + min(values.values()) + weighed([*values.values()])
    for key, value in doubled.items():
        total += value + 0.5 * values[key]
        values[key] = 0.5 * value
    for value in values.values():
        total += 2.0 * value
    return total + weighed(list(values.values())) + weighed(sorted(doubled.values()))


def by_keys(xs: list[Any]) -> Any:
    pairs = list(zip(xs, [3, 1, 2, 1, 0]))
    lists = [[x, k] for x, k in pairs]
    pairs.sort(key=operator.itemgetter(1), reverse=True)
    total = weighed([x for x, _ in pairs]) + 2.0 * max(pairs, key=operator.itemgetter(0))[0]
    return (
        total
        + min(lists, key=operator.itemgetter(1, 0))[0]
        + weighed([x for x, k in sorted(lists, key=lambda p: p[0])])
    )


def transposed(xs: list[Any]) -> Any:
    rows = [xs[:3], xs[1:4], tuple(xs[2:])]
    columns = [list(c) for c in zip(*rows)]
    columns[0].append(xs[4])
    columns[1][0], both = columns[2][1], list(zip(xs, columns[0]))
    return weighed(weighed(c) for c in columns) + weighed(a + 2.0 * b for a, b in both) + weighed(list(rows[2]))


class Item:
    def __init__(self, key: Any, value: Any):
        self.key = key
        self.value = value

    def __lt__(self, other: Item) -> bool:
        return self.key < other.key


@dataclass(order=True)
class Pair:
    key: Any
    value: Any


class Asked(Item):
    """Comparisons change it."""

    def __lt__(self, other: Item) -> bool:
        other.value = other.value + self.value
        return self.key < other.key


def ordered(xs: list[Any], cls: Any) -> Any:
    items: list[Any] = []
    for k, x in enumerate(xs):
        bisect.insort(items, cls((3 * k) % 5, x))
        bisect.insort_left(items, cls(k % 2, 0.5 * x))
    at = bisect.bisect(items, cls(2, xs[0])) - bisect.bisect_left(items, cls(1, xs[1]))
    total = weighed([item.value for item in items]) + at * xs[2]
    total += min(items).value + 2.0 * max(items).value + weighed([i.value for i in sorted(items, reverse=True)])
    heap: list[Any] = []
    for item in items:
        heapq.heappush(heap, item)
    total += heapq.heapreplace(heap, cls(2, xs[3])).value
    while heap:
        total += len(heap) * heapq.heappop(heap).value
    return total


@pytest.mark.parametrize("cls", [Item, Pair, Asked], ids=lambda cls: cls.__name__)
def test_objects_with_an_order(cls: Any):
    check(lambda xs: ordered(xs, cls), [0.5, 1.25, -2.0, 4.0, 0.75])


def test_an_order_that_changes(monkeypatch: pytest.MonkeyPatch):
    def program(xs: list[Any]) -> Any:
        items = [Item(k, x) for k, x in enumerate(xs)]
        return min(items).value + 2.0 * max(items).value

    check(program, [0.5, 1.25, -2.0])
    monkeypatch.setattr(Item, "__lt__", lambda self, other: self.key > other.key)
    check(program, [0.5, 1.25, -2.0])


def copied_and_merged(xs: list[Any]) -> Any:
    total: Any = 0.0
    names = {"a": xs[0], "b": xs[1]}
    for x in xs:
        merged = {"q": x, **names, "a": total, "c": 4.0 * x}
        other = {**merged, **{"z": 1.0, "c": total}, 1: x, "q": 2.0 * x}
        try:
            more = {**merged, "d": xs[len(other)]}
        except IndexError:
            more = {"d": x, **merged} | names
        more |= {"c": 0.5 * x}
        copy = list(xs)
        copy.append(x)
        copy[0] = total
        both = copy + [x, *sorted(copy)] + copy[1:3] * 2
        total += merged["a"] + other["q"] + 2.0 * more["d"] + (names | merged)["b"] + (merged | {"b": x})["b"]
        total += both[0] + 2.0 * both[-1] - both[7] + max(copy) - min(more.values()) + sorted(more.items())[2][1]
        total += sum(k * v for k, v in enumerate(reversed(copy))) + sum([*reversed(both)][::3]) + max(more.items())[1]
        total *= 0.25
    return total + names["a"]


PROGRAMS = [
    at_places,
    copied_and_merged,
    chained,
    through_dicts,
    by_keys,
    transposed,
    counted,
    taken_in_part,
    changed_on_the_way,
    grown,
    parts,
    with_a_start,
    mixed,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_program(program: Any):
    check(program, [0.5, 1.25, -2.0, 4.0, 0.75])


def test_products():
    """Not linear: by differences."""

    def program(xs: list[Any]) -> Any:
        product = functools.reduce(operator.mul, xs)
        quotients = map(operator.truediv, xs, reversed(xs))
        return (
            product + sum(map(operator.mul, xs, xs)) + weighed(itertools.accumulate(xs, operator.mul)) + sum(quotients)
        )

    from zyg.fallback import python_pullback

    xs = [0.5, 1.25, -2.0, 4.0, 0.75]
    value, back = python_pullback(program, (xs,), {})
    assert value == program(xs)
    for k, c in enumerate(back(1.0)[0]):
        up, down = xs[:], xs[:]
        up[k] += 1e-6
        down[k] -= 1e-6
        assert c == pytest.approx((program(up) - program(down)) / 2e-6, rel=1e-7)


def test_places_of_numbers_of_all_kinds():
    """`bisect` of lists and arrays of Python's and NumPy's numbers."""

    def program(xs: Any, x: Any) -> Any:
        return [bisect.bisect_left(xs, x), bisect.bisect_right(xs, x)], x * xs[bisect.bisect(xs, x) - 1]

    given = [1.0, 2.0, 2.0, 3.5]
    for xs in (
        given,
        [np.float64(v) for v in given],
        np.array(given),
        [1, np.int64(2), 2.0, 3],
        np.array([1, 2, 2, 4]),
    ):
        for x in (0.5, 2.0, 4.0, np.float64(2.0), np.float32(3.5), 2, np.int64(3)):
            value, back = python_pullback(program, (xs, x), {})
            assert value == program(xs, x)
            assert back((None, 1.0))[1] == program(xs, x)[1] / x


def made_rows(x: float, y: float) -> float:
    """Rows that calls make as the chain comes to them, which note what they did; some have no items, the last too."""
    noted: list[float] = []
    chained = itertools.chain.from_iterable

    def row(k: float) -> list[float]:
        noted.append(k * x)
        return [k, y * noted[-1]] if len(noted) % 3 else []

    total = x * next(chained(map(row, [y, x]))) + sum(map(operator.mul, chained(map(row, [x, y, x, 2.0, y])), [y] * 9))
    for k, v in enumerate(chained([(a, b), [b * y], (c * a for c in [x, y])] for a, b in [(x, y), (y, 0.5)])):
        total += sum(v) * (k % 3 - 0.5)
    return total + sum(noted)


def test_rows_that_are_made_for_a_chain():
    value, back = python_pullback(made_rows, (0.7, 1.3), {})
    assert value == made_rows(0.7, 1.3)
    slopes = (
        differences.derivative(lambda x: made_rows(x, 1.3), 0.7),
        differences.derivative(lambda y: made_rows(0.7, y), 1.3),
    )
    assert back(1.0) == pytest.approx(slopes, rel=1e-7)


def out_of_order(p: Any) -> Any:
    return p[0] + p[2] * 10.0 + p[1] * 100.0


def as_many_as_there_are(p: Any) -> Any:
    return p[0] * p[2] if len(p) > 2 else p[0] * p[1]


def from_both_ends(*p: float) -> Any:
    return p[0] * p[1] + 0.5 * p[-1] + p[-2]


def passed_on(a: float, b: float) -> Any:
    return from_both_ends(a, b) + 10.0 * from_both_ends(b, a, a * b)


@pytest.mark.parametrize(
    ("f", "args", "expected"),
    [
        (out_of_order, ((1.0, 2.0, 3.0),), ((1.0, 100.0, 10.0),)),
        (as_many_as_there_are, ((2.0, 3.0),), ((3.0, 2.0),)),
        (as_many_as_there_are, ((2.0, 3.0, 4.0),), ((4.0, None, 2.0),)),
        # a * b + 0.5 * b + a + 10 * (b * a + 0.5 * a * b + a)
        (passed_on, (2.0, 3.0), (16.0 * 3.0 + 11.0, 16.0 * 2.0 + 0.5)),
    ],
)
def test_items_of_tuples_by_position(f: Any, args: tuple[Any, ...], expected: Any):
    value, back = python_pullback(f, args, {})
    assert value == f(*args)
    assert back(1.0) == expected


def gathering(*p: Any, **o: Any) -> Any:
    return p[0] * p[2] + p[1] * p[2] * p[-1] * p[0] * p[0] + o["a"] * o["a"] * p[0]


def gathered(a: Any, b: Any, c: Any) -> Any:
    return gathering(a, b, c, a=b * a)


def by_name(x: Any, y: Any, by: Any = 0.5, *, shift: Any = 0.0) -> Any:
    return by * x * x * y + shift * shift * x


def named(a: Any, b: Any, c: Any) -> Any:
    return by_name(a, b, shift=c * c) + by_name(a, y=c, by=b)


@each_in_long_turn
@pytest.mark.parametrize("f", [gathered, named])
def test_second_derivatives_of_gathered_and_named_arguments(f: Any):
    def first(k: int, args: tuple[Any, ...]) -> Any:
        return python_pullback(f, args, {})[1](1.0)[k]

    at = (1.0, 2.0, 3.0)
    for k in range(3):
        _, back = python_pullback(lambda *args, k=k: first(k, args), at, {})
        row = [0.0 if d is None else d for d in back(1.0)]
        for j in range(3):
            numerical = differences.derivative(lambda v, j=j, k=k: first(k, (*at[:j], v, *at[j + 1 :])), at[j])
            assert row[j] == pytest.approx(numerical, rel=1e-6, abs=1e-6)


def test_passes_at_once_over_zip_of_tuples():
    """What comes to the items of tuples belongs to the pass, not to what was gone through: two threads may run one pullback."""
    whole = ListsAndTuples(((1.0, 2.0), [3.0, 4.0]))
    first, second = Shadows(), Shadows()
    whole.add(first, 1, (5.0, None))
    whole.add(second, 0, (7.0, None))
    whole.add(first, 0, (6.0, None))
    assert whole.taken(first) == [(6.0, 5.0), None]
    assert whole.taken(second) == [(7.0, None), None]


class Scaled:
    """An operand that sequences are added to, or multiplied by."""

    def __init__(self, z: Any) -> None:
        self.z = z

    def __radd__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, tuple) else self.z * len(other)

    def __rmul__(self, other: Any) -> Any:
        return [self.z * x for x in other]


class OfItsOwn(list[Any]):
    def __add__(self, other: Any) -> Any:
        return self[0] * other.z


def plus(values: Any, z: Any) -> Any:
    return values + Scaled(z)


def added_to(values: Any, z: Any) -> Any:
    values += Scaled(z)
    return values


def not_implemented(x: Any) -> Any:
    try:
        return plus((x, 1.0), x)
    except TypeError:
        return x * x


REFLECTED = {
    "text": lambda x: plus("text", x),
    "bytes": lambda x: plus(b"text", x * x),
    "list": lambda x: plus([x, 2.0], x * x),
    "deque": lambda x: plus(deque([x, 2.0]), x * x),
    "in place": lambda x: added_to([x, 1.0], x * x),
    "list times": lambda x: sum([0.5, x] * Scaled(x)),
    "tuple times": lambda x: sum((0.5, x) * Scaled(x)),
    "by the library": lambda x: functools.reduce(operator.add, [[x], Scaled(x)]),
    "its own method": lambda x: plus(OfItsOwn([x]), x),
    "not implemented": not_implemented,
}


@pytest.mark.parametrize("shown", REFLECTED)
def test_reflected_methods_come_before_those_of_sequences(shown: str) -> None:
    """(TypeError, where CPython asks the other operand first)"""
    f = REFLECTED[shown]
    value, back = python_pullback(f, (1.3,), {})
    assert value == f(1.3)
    assert back(1.0)[0] == pytest.approx((f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6, rel=1e-6)
