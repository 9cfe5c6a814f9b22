"""What iterators change at their ends, and what keys and tests of items change, is undone in its place."""

# ruff: noqa: B023, C417, SIM105
from __future__ import annotations

import functools
import itertools
import math
import types

import pytest

import zyg
from tests.oracles import differences
from zyg.autodiff.objects.api import pullback
from zyg.autodiff.objects.quiet import is_quiet


class Counting:
    """Changes something whenever it is asked, at its end too."""

    def __init__(self, s, x, number):
        self.s, self.x, self.number, self.k = s, x, number, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.k += 1
        self.s[0] *= 1 + 0.1 * self.x
        if self.k > self.number:
            raise StopIteration
        return self.x * self.k


def two(s, x):
    yield x
    yield x
    s[0] *= x


def nothing(s, x):
    s[0] *= x
    return
    yield


def once(s, x):
    yield s[0] * x


def starred(s, x):
    _, *rest = map(lambda v: v * s[0], two(s, x))
    return rest[0]


def into_a_slice(s, x):
    found = [1.0]
    found[:] = map(lambda v: v * s[0], two(s, x))
    return found[1]


def of_nothing(s, x):
    for function in (max, lambda it: functools.reduce(lambda a, b: a, it)):
        try:
            function(Counting(s, x, 0))
        except (TypeError, ValueError):
            pass
    return s[0]


ENDS = {
    "starred": starred,
    "slice": into_a_slice,
    "reduce": lambda s, x: functools.reduce(lambda a, b: a * b, map(lambda v: v * s[0], two(s, x))),
    "arguments": lambda s, x: max(*map(lambda v: v * s[0], two(s, x))),
    "fsum": lambda s, x: math.fsum(map(lambda v: v * s[0], two(s, x))),
    "zip_longest": lambda s, x: sum(a for a, _ in itertools.zip_longest(once(s, x), nothing(s, x))),
    "zip_longest, the first": lambda s, x: sum(b for _, b in itertools.zip_longest(nothing(s, x), once(s, x))),
    "pairwise": lambda s, x: sum(1 for _ in itertools.pairwise(Counting(s, x, 3))) * s[0],
    "pairwise of nothing": lambda s, x: (sum(1 for _ in itertools.pairwise(Counting(s, x, 0))) + 1) * s[0],
    "nothing": of_nothing,
}


@pytest.mark.parametrize("name", ENDS)
def test_what_is_done_at_an_end(name):
    def f(x):
        s = [x]
        return ENDS[name](s, x) + 0.1 * s[0]

    value, back = pullback(f, (0.9,))
    assert value == f(0.9)
    assert back(1.0)[0] == pytest.approx(differences.derivative(f, 0.9), rel=1e-7)


def test_groups_compare_keys_as_often_as_in_python():
    asked = []

    class Key:
        def __init__(self, v):
            self.v = v

        def __eq__(self, other):
            asked.append((self.v, other.v))
            return abs(self.v - other.v) < 1

    def f(x):
        return sum(v for _, group in itertools.groupby(iter([x, x * 1.1, 3 * x, 3 * x]), Key) for v in group)

    value = f(0.9)
    expected = asked[:]
    asked.clear()
    assert pullback(f, (0.9,))[0] == value
    assert asked == expected


def keep(disc):
    if disc.known is None:
        disc.known = 3.0 * disc.radius**2
    return disc.known


HELPERS = types.ModuleType("helpers")
HELPERS.keep = keep


class Disc:
    def __init__(self, radius):
        self.radius = radius
        self.known = None

    area = property(keep)


class ByObject(Disc):
    @property
    def area(self):
        if self.known is None:
            object.__setattr__(self, "known", 3.0 * self.radius**2)
        return self.known


class ByBuiltin(Disc):
    @property
    def area(self):
        if self.known is None:
            setattr(self, "known", 3.0 * self.radius**2)  # noqa: B010
        return self.known


class ByModule(Disc):
    @property
    def area(self):
        return HELPERS.keep(self)


class Slotted:
    __slots__ = ("inner",)

    def __init__(self, inner):
        self.inner = inner


class Giving:
    def __init__(self, inner):
        self.hidden = inner

    @property
    def inner(self):
        return self.hidden


class Plain:
    def __init__(self, inner):
        self.inner = inner


class Shared:
    inner = None


def by_key(make, key=lambda o: o.inner.area):
    def f(x):
        discs = [Disc(x), Disc(2 * x)]
        held = sorted(map(make, discs), key=key)
        return sum(d.area + d.radius for d in discs) + 0.0 * len(held)

    return f


def of_a_class(x):
    Shared.inner = Disc(x)
    try:
        return sorted([Shared(), Shared()], key=lambda o: o.inner.area)[0].inner.area
    finally:
        Shared.inner = None


def of_a_default(x):
    d = Disc(x)
    return sorted([1.0, 2.0, 3.0], key=lambda v, d=d: -v * d.area)[0] * d.area


def captured(consumer):
    def f(x):
        d = Disc(x)
        return len(list(consumer(lambda v: v < d.area, [1.0, 2.0, 3.0]))) + d.area

    return f


KEYS = {
    **{c.__name__: (lambda c: lambda x: sum(o.area for o in sorted([c(x), c(2 * x)], key=lambda o: o.area)))(c)
       for c in (Disc, ByObject, ByBuiltin, ByModule)},
    "slot": by_key(Slotted),
    "property": by_key(Giving),
    "attribute": by_key(Plain),
    "deep": by_key(lambda d: Plain(Plain(Plain(Plain(d)))), lambda o: o.inner.inner.inner.inner.area),
    "keys of a dict": by_key(lambda d: [d], lambda o: o[0].area),
    "class": of_a_class,
    "default": of_a_default,
    "filter": captured(filter),
    "takewhile": captured(itertools.takewhile),
    "filterfalse": captured(itertools.filterfalse),
    "sorted": captured(lambda f, items: sorted(items, key=f)),
    "min": lambda x: (lambda d: min([1.0, 2.0], key=lambda v: -v * d.area) + d.area)(Disc(x)),
}  # fmt: skip


@pytest.mark.parametrize("name", KEYS)
def test_keys_that_keep_what_they_computed(name):
    value, back = pullback(KEYS[name], (0.9,))
    assert value == KEYS[name](0.9)
    assert back(1.0)[0] == pytest.approx(differences.derivative(KEYS[name], 0.9), rel=1e-7)


def test_tests_of_items_that_keep_what_they_computed_are_refused():
    with pytest.raises(zyg.Unsupported, match="items chosen by Python code that changes something"):
        pullback(lambda x: len(list(filter(lambda d: d.area > 1.0, map(lambda d: d, [ByModule(x)])))), (0.9,))


class Circle:
    """Keeps what it has computed, and notes that."""

    def __init__(self, r, log):
        self.r, self.log = r, log

    @functools.cached_property
    def area(self):
        self.log.append(self.r * 2.0)
        self.r = self.r * self.r
        return self.r * 3.0

    @property
    def kept(self):
        if not hasattr(self, "_kept"):
            self._kept = self.r * self.r * self.log[0]
            self.log[0] *= self.r
        return self._kept

    def __lt__(self, other):
        self.log[0] *= self.r
        return self.r < other

    def __bool__(self):
        self.log[0] *= self.r
        return self.r > 0.5


def circles(x, log):
    return [Circle(x, log), Circle(2.0 * x, log), Circle(0.3 * x, log)]


def circles_made(x, log):
    for circle in circles(x, log):
        log[0] *= x
        yield circle
    log[0] *= x


CIRCLES = {
    "list": circles,
    "tuple": lambda x, log: tuple(circles(x, log)),
    "generator": circles_made,
    "iterator": lambda x, log: iter(circles(x, log)),
    "values": lambda x, log: dict(enumerate(circles(x, log))).values(),
}
ASKED = [lambda c: c.area > 1.0, lambda c: c.kept > 1.0, lambda c: c < 1.0, lambda c: c]
CHOICES = [filter, itertools.filterfalse, itertools.takewhile, itertools.dropwhile]


@pytest.mark.parametrize("source", CIRCLES)
@pytest.mark.parametrize("number", range(len(ASKED)))
@pytest.mark.parametrize("choose", CHOICES)
def test_items_chosen_by_properties_that_keep_what_they_computed(choose, number, source):
    """They are followed item by item, with those that are left aside."""

    def f(x):
        log = [1.0 + x]
        total = 0.0
        for circle in choose(ASKED[number], CIRCLES[source](x, log)):
            total = total * log[0] + circle.r + circle.kept * log[0]
        return total * log[0] + sum(log)

    value, back = pullback(f, (0.9,))
    assert value == f(0.9)
    assert back(1.0)[0] == pytest.approx(differences.derivative(f, 0.9), rel=1e-7)


class KeepsCount:
    """Its property changes it."""

    def __init__(self, x):
        self.x = x
        self.asked = 0

    @property
    def scaled(self):
        self.asked += 1
        return self.x * self.asked


@pytest.mark.parametrize(
    ("wrap", "key"),
    [
        (lambda o: [o], lambda t: lambda i: t[0].scaled * (i + 1)),
        (lambda o: {0: o}, lambda t: lambda i: t[0].scaled * (i + 1)),
        (lambda o: [[1.0, 2.0], (3.0, [o])], lambda t: lambda i: t[1][1][0].scaled * (i + 1)),
        (lambda o: [{(0, 1): 2.0}, {(0, 1): (o, None)}], lambda t: lambda i: t[1][0, 1][0].scaled * (i + 1)),
        (lambda o: [[[[[o]]]]], lambda t: lambda i: t[0][0][0][0][0].scaled * (i + 1)),
        (lambda o: [2.0, {3.0}, [(o,)]], lambda t: lambda i: t[2][0][0].scaled * (i + 1)),
    ],
)
def test_a_key_captures_what_stands_deep_in_tables(wrap, key):
    """What such an object does when it is asked must be seen however deep it stands among plain items."""

    def f(x, y):
        o = KeepsCount(x)
        best = max(range(3), key=key(wrap(o)))
        return o.scaled * (1 + best) * y

    value, back = pullback(f, (0.7, 1.3))
    assert value == f(0.7, 1.3) == pytest.approx(0.7 * 4 * 3 * 1.3)
    assert back(1.0) == pytest.approx((4 * 3 * 1.3, 4 * 3 * 0.7))


@pytest.mark.parametrize("depth", range(5))
@pytest.mark.parametrize(
    "kind", [lambda v: [v], lambda v: (1.0, v), lambda v: {"a": v}, lambda v: [[1.0], {2: 3.0}, v]]
)
def test_what_a_key_captures_is_looked_at_by_levels(kind, depth):
    """As deep as the key can reach; where that is deeper than is looked at, the answer is no."""

    def table_with(x):
        for _ in range(depth):
            x = kind(x)
        return x

    plain, asked = table_with((1.0, "a")), table_with(KeepsCount(1.0))
    assert is_quiet(lambda v: v + plain[0][0][0][0] + plain[1][1][1][1], ()) is (depth < 4)
    assert not is_quiet(lambda v: v + asked[0][0][0][0][0].scaled + asked[1], ())


def test_best_by_tables_that_a_key_captures():
    def f(a, b):
        steps = {(i, j): math.log(a if i == j else b / 2) for i in range(3) for j in range(3)}
        rows = [{i: (0.1 * i * a, None) for i in range(3)}]
        for t in range(1, 5):
            row = {}
            for j in range(3):
                i = max(range(3), key=lambda i: rows[-1][i][0] + steps[i, j] - 0.2 * ((t * i) % 3))
                row[j] = (rows[-1][i][0] + steps[i, j] - 0.1 * abs(j - t % 3) * b, i)
            rows.append(row)
        return rows[-1][max(rows[-1], key=lambda j: rows[-1][j][0])][0]

    def by_differences(k, h=1e-6):
        x = [0.3, 0.8]
        x[k] += h
        above = f(*x)
        x[k] -= 2 * h
        return (above - f(*x)) / (2 * h)

    value, back = pullback(f, (0.3, 0.8))
    assert value == f(0.3, 0.8)
    assert back(1.0) == pytest.approx([by_differences(0), by_differences(1)], rel=1e-6)
