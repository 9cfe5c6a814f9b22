"""Instances of classes that are gone through, and calls that pass on what they were given: values, first and second derivatives, in a
`try` body and outside; iterators that do something where they end, that raise, that are left early, that are gone through twice,
that change what they go through, and classes that change meanwhile."""

from __future__ import annotations

import collections
import functools
import itertools
import math
import operator
from collections import namedtuple
from typing import Any

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects import adapters, structure
from zyg.autodiff.objects.api import pullback
from zyg.errors import Unsupported

pytestmark = each_in_turn

PROGRAMS: dict[str, Any] = {}


def program(f):
    PROGRAMS[f.__name__.strip("_")] = f
    return f


class Countdown:
    """Its steps, the last one too, change it."""

    def __init__(self, value: Any, left: int):
        self.value, self.left = value, left

    def __iter__(self):
        self.value *= 1.5
        return self

    def __next__(self):
        self.value = self.value * self.value * 0.9
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.value


class Delegated:
    def __init__(self, items: Any):
        self.items = items
        self.asked = 1.0

    def __iter__(self):
        self.asked = self.asked * self.items[0]
        return iter(self.items)


class Generated(Delegated):
    def __iter__(self):
        self.asked *= 2.0
        for x in self.items:
            yield x * self.asked
            self.asked *= 1.1


class OnlyNext:
    """An iterator without an `__iter__`."""

    def __init__(self, items: Any):
        self.items, self.at = items, 0

    def __next__(self):
        self.at += 1
        if self.at > len(self.items):
            raise StopIteration
        return self.items[self.at - 1] * self.at


class GivesNext(Delegated):
    def __iter__(self):
        return OnlyNext(self.items)


class Listed(list):
    def scaled(self, by):
        return Listed([by * x for x in self])

    def __add__(self, other):
        return Listed(a + b for a, b in zip(self, other))


class Pair(namedtuple("Pair", "a b")):
    def total(self, by=1.0):
        return by * self.a + self.b


@program
def to_the_end(x):
    c = Countdown(x, 3)
    total = 0.0
    for v in c:
        total += v * x
    return total + c.value


@program
def summed(x):
    c = Countdown(x, 3)
    return sum(c) * c.value + sum(Countdown(x, 0)) + max(Countdown(x, 2))


@program
def left_early_and_gone_on(x):
    c = Countdown(x, 4)
    total = 0.0
    for v in c:
        total += v
        if c.left == 2:
            break
    for v in c:
        c.value = c.value * x
        total += v * v
    return total + c.value


@program
def twice_the_same(x):
    """`__iter__` gives the same iterator for both."""
    c = Countdown(x, 5)
    total = 0.0
    for v in c:
        for w in c:
            total += v * w
            break
    return total + c.value


@program
def by_others(x):
    c, d = Countdown(x, 4), Countdown(0.5 * x, 3)
    total = sum(map(operator.mul, c, d))
    for v, (k, w) in zip(Countdown(x, 4), enumerate(Delegated([x, 2.0 * x]))):
        total += v * w * (k + 1)
    return total + c.value + d.value + sum(filter(lambda v: v < 0.5, Countdown(x, 3)))


@program
def delegated(x):
    s = Delegated([x, 2.0 * x, x * x])
    total = 0.0
    for k, v in enumerate(s):
        s.items[1] = s.items[1] * v + k
        total += v * v
    return total + s.asked + sum(s) + s.asked + sum(v * x for v in s) + max(s)


@program
def delegated_to_others(x):
    total = 0.0
    for items in ((x, x * x), {1: x, 2: x * x}.values(), zip([x], [2.0 * x]), map(operator.neg, [x, 1.0])):
        s = Delegated([x])
        s.__class__ = Held
        s.held = items
        for v in s:
            total += v[0] * v[1] if type(v) is tuple else v
    return total


class Held(Delegated):
    def __iter__(self):
        self.asked = self.asked * 3.0
        return iter(self.held)


@program
def generated(x):
    s = Generated([x, x * x, 3.0])
    total = 0.0
    for v in s:
        s.items[-1] = v * x
        total += v
    for v in s:
        total += v * s.asked
        break
    return total * sum(s) + s.asked


@program
def an_iterator_without_iter(x):
    total = 0.0
    try:  # (through Python in any case)
        for v in GivesNext([x, x * x]):
            total += v * v
    except ZeroDivisionError:
        total = x
    return total + sum(GivesNext([x, 1.0]))


@program
def an_exception_in_a_step(x):
    class Failing(Countdown):
        def __next__(self):
            self.value = self.value * x
            if self.left == 1:
                raise ValueError(self.value)
            self.left -= 1
            return self.value

    c = Failing(x, 3)
    total = 0.0
    try:
        for v in c:
            total += v
    except ValueError as error:
        total += error.args[0]
    try:
        total += sum(c)
    except ValueError:
        total *= c.value
    return total


@program
def an_exception_after_iter(x):
    """What `__iter__` has done is undone, too."""

    class Failing(Countdown):
        def __next__(self):
            self.value = self.value * 2.0
            if self.left == 1:
                raise ValueError(self.value)
            self.left -= 1
            return self.value

    total = 0.0
    for consume in (sum, list, max, lambda c: functools.reduce(operator.mul, c)):
        c = Failing(x, 2)
        try:
            total += consume(c)
        except ValueError:
            total += c.value * x
    return total


@program
def lists_of_a_class(x):
    v, w = Listed([x, 2.0 * x]), Listed((x * x, 1.0))
    for _ in range(3):
        v = (v + w).scaled(x)
        v.append(v[0] * v[1])
        w.extend(Listed([x]))
    total = 0.0
    for k, a in enumerate(v):
        total += a * k
    for a in v:
        v[-1] = v[-1] * a * 0.1
        total += a
    return total + sum(v) + sum(a for a in Pair(x, x * x))


@program
def methods_of_tuples(x):
    p = Pair(x, 2.0)
    for k in range(3):
        p = p._replace(b=p.total() * p.a, a=p.total(by=x))
        p = p._replace(a=p.b * 0.5) if k else p
    total = 0.0
    for a in p:
        total += a * x
    return total + p.total(2.0)


@program
def rows_by_itemgetter(x):
    rows: list[Any] = [(x, 2.0), [x * x, 3.0 * x], (1.0, x, x)]
    total = sum(map(operator.itemgetter(0), rows)) * max(map(operator.itemgetter(1), rows))
    for k, a in enumerate(map(operator.itemgetter(1), rows)):
        if k == 0:
            rows[1][1] = rows[1][1] * a
            rows[2] = (a, x * a)
        total += a * a
    for a in map(operator.itemgetter(-1), rows[:1]):
        total += a * rows[2][1]
    return total + list(map(operator.itemgetter(0), rows))[2]


@program
def picked_by_others(x):
    class Row:
        def __init__(self, y):
            self.y = y

        def __getitem__(self, k):
            self.y = self.y * x
            return self.y

    rows = [Row(x), Row(1.0)]
    first, *_ = map(operator.itemgetter(slice(0, 1)), [(x, 1.0)])
    return sum(map(operator.itemgetter(0), rows)) + rows[0].y + first[0]


@program
def zips_of_zips(x):
    xs, d = [x, 2.0 * x, x * x, 1.0], {"a": x, "b": x * x}
    total = 0.0
    for (a, b), c in zip(zip(xs, reversed(xs)), xs):
        xs[2] = xs[2] * a
        total += a * b * c
    for k, (a, b) in enumerate(zip(xs, d.values()), 1):
        d["b"] = d["b"] * a
        total += a * b * k
    for k, (_, b), (name, c) in zip(range(9), enumerate(xs, 2), d.items()):
        total += b * c * len(name) * k + c
    pairs = iter(xs)
    for a, b in zip(pairs, pairs):
        total += a * b * b
    both = zip(xs, xs)
    first = next(both)
    rest = zip(both, d.values())
    total += first[0] + sum(a * b * c for (a, b), c in rest)
    try:
        for (a, _), b in zip(enumerate(xs), [x], strict=True):
            total += a + b
    except ValueError:
        total *= x
    return total + list(enumerate(zip(xs, xs)))[2][1][0] + max(zip(enumerate(xs), xs))[1]


class Sized:
    """What is asked for its length, or its truth, changes."""

    def __init__(self, x):
        self.items, self.more, self.count = [x, x, x], iter([x, 2.0 * x]), x

    def __len__(self):
        self.items.append(self.items[-1] * self.count)
        return len(self.items)

    def __bool__(self):
        return len(self.items) < 6 and next(self.more, 0.0) > 0.0


class Halved(Sized):
    def __len__(self):
        self.count *= 0.5
        return 2

    def __bool__(self):
        return bool(self.items and self.items.pop())


class Quiet(Sized):
    def __len__(self):
        return len(self.items)

    def __bool__(self):
        return len(self) > 2 and not self.count > 100.0


@program
def asked_again_and_again(x):
    total = 0.0
    for cls in (Sized, Halved, Quiet):
        s = cls(x)
        for _ in range(3):
            if s:
                total += s.count * len(s)
            s.items.insert(0, x * x)
        total += sum(s.items) * s.count + sum(s.more) + (not s)
    return total


@program
def least_of_several(x):
    return min(x, 2.0 * x, 0.1) + max(x * x, x, 0.2, -1) * min(3, x, 4) + max(x, x * 1.0, 0.0)


@program
def dynamic_names(x):
    s = Delegated([x])
    for k in range(3):
        setattr(s, f"n{k % 2}", getattr(s, f"n{k % 2}", x) * x)
    setattr(s, "__own__", x)  # noqa: B010
    return s.n0 * getattr(s, "n1") + getattr(s, "__own__") * getattr(s, "asked") + getattr(s, "none", x)  # noqa: B009


class Counted:
    made: Any = 0
    total: Any = 0.0

    def __init__(self, x):
        Counted.made += 1
        Counted.total += x
        self.x = x


@program
def counted(x):
    Counted.made, Counted.total = 0, 0.0
    for k in range(3):
        Counted(x * k)
    return Counted.made * Counted.total * x


def spread(x, scale=2.0, *more, **options):
    return x * scale + sum(more) * 3.0 + options.get("shift", 0.0) * x


def passed_on(f, *args, **kwargs):
    return f(*args, **kwargs)


@program
def arguments_passed_on(x):
    total = 0.0
    hooks = [spread, lambda v, k=1.0, **rest: v * k + rest.get("shift", 0.0), lambda *a, **kw: sum(a) * kw.get("k", x)]
    for k in range(4):
        total += (
            passed_on(spread, x, shift=x) + passed_on(spread, x, x, x, shift=k) + passed_on(spread, x=x, scale=x * x)
        )
        for h in hooks[k % 2 :]:
            total += h(x, shift=x * k) + passed_on(h, x, **({"k": x} if k else {"shift": x}))
    return total


@program
def kept_by_a_cache(x):
    @functools.cache
    def cost(i, j=0):
        return x * (i + j) if not i else min(cost(i - 1, j) + x, cost(i - 1, j + 1) * x, 10.0)

    @functools.lru_cache(maxsize=None)  # noqa: UP033
    def again(n):
        return x if n < 2 else again(n - 1) * again(n - 2)

    return cost(4) + cost(4, 0) * cost(3) + again(5) + again(5)


def in_a_try(f):
    def tried(x):
        try:
            return f(x)
        except ZeroDivisionError:
            return 0.0

    return tried


def derivative(f, x):
    return pullback(f, (x,))[1](1.0)[0]


@pytest.mark.parametrize("watched", [False, True], ids=["plain", "watched"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name, watched):
    f = PROGRAMS[name]
    g = in_a_try(f) if watched else f
    for x in (0.7, 1.1, 0.7):
        value, back = pullback(g, (x,))
        assert value == f(x)
        assert math.isclose(back(1.0)[0], differences.derivative(f, x), rel_tol=1e-7)


@each_in_long_turn
@pytest.mark.parametrize(
    "name", ["to_the_end", "delegated", "generated", "lists_of_a_class", "arguments_passed_on", "zips_of_zips"]
)
def test_second_derivatives(name):
    f = PROGRAMS[name]
    found = derivative(lambda x: derivative(f, x), 0.7) or 0.0
    assert math.isclose(found, differences.derivative(lambda x: derivative(f, x), 0.7), rel_tol=1e-6, abs_tol=1e-9)


def test_classes_that_change_in_the_loop():
    class Steps:
        def __init__(self, x):
            self.x, self.left = x, 6

        def __iter__(self):
            return self

        def __next__(self):
            self.left -= 1
            if self.left < 0:
                raise StopIteration
            return self.x

    first = Steps.__next__

    def other(self):
        self.left -= 1
        if self.left < 0:
            raise StopIteration
        return self.x * self.x

    def f(x):
        Steps.__next__ = first
        total = 0.0
        for v, _ in zip(Steps(x), itertools.count()):
            total += v
        for v in Steps(x):
            total += v
            Steps.__next__ = other
        return total

    for x in (0.7, 1.3):
        value, back = pullback(f, (x,))
        assert value == f(x)
        assert math.isclose(back(1.0)[0], 7.0 + 10.0 * x)


def test_what_is_no_iterator_is_refused_as_by_python():
    class Wrong:
        def __init__(self, x):
            self.x = [x]

        def __iter__(self):
            return self.x

    def looped(x):
        for v in Wrong(x):
            x += v
        return x

    for f in (looped, lambda x: sum(Wrong(x)), lambda x: max(Wrong(x))):
        with pytest.raises(TypeError) as expected:
            f(0.5)
        with pytest.raises(TypeError) as found:
            pullback(f, (0.5,))
        assert str(found.value) == str(expected.value)


def test_a_list_of_rows_that_changes_while_it_is_picked_from():
    class Own:
        def __getitem__(self, k):
            return 2.0

    def f(x):
        rows: list[Any] = [(x,), (x,)]
        total = 0.0
        for v in map(operator.itemgetter(0), rows):
            rows[1] = Own()
            total += v
        return total

    with pytest.raises(Exception, match="go through a copy"):
        pullback(f, (0.5,))


@pytest.mark.parametrize("f", [min, max, lambda *xs: min(xs), lambda x, y: max(x, y, 0.5), lambda x, y: min([x, y])])
def test_what_was_not_chosen_gets_nothing_of_an_infinite_cotangent(f):
    _, back = pullback(lambda x, y: f(x, y), (1.0, 2.0))
    assert sorted(back(math.inf)) == [0.0, math.inf]


class Window(collections.deque):
    pass


class Table(collections.defaultdict):
    pass


class Doubling(type):
    def __setattr__(cls, name, value):
        super().__setattr__(name, value * 2.0)

    def __delattr__(cls, name):
        type.__delattr__(cls, name)


class Setting(metaclass=Doubling):
    rate = 1.0


class Twice(Setting):
    pass


@program
def derived_containers(x):
    last = Window([x, x * x, 2.0 * x], 2)
    last.append(x**3)
    by_name = Table(float, {"a": x})
    return sum(last) * len(last) * by_name["a"] + by_name["b"] + sum(Window((x, x), maxlen=1))


@program
def attributes_of_classes_by_their_metaclass(x):
    Setting.rate = x
    type.__setattr__(Twice, "rate", Setting.rate * x)
    total = Twice.rate * 3.0
    del Twice.rate
    return total * Twice.rate


def test_an_iterator_that_is_a_value_is_refused():
    class Powers(tuple):
        def __iter__(self):
            return self

        def __next__(self):
            return self[0]

    def f(x):
        for v in Powers((x,)):
            return v

    for g in (f, lambda x: next(y for y, _ in zip(Powers((x,)), (1, 2)))):
        with pytest.raises(Unsupported, match="derived from tuple"):
            pullback(g, (0.5,))


def test_a_class_that_unknown_code_may_change_is_refused_natively():
    class Rate:
        value = 1.0

    def f(x):
        type.__setattr__(Rate, "value", x * 2.0)
        return Rate.value * x

    with pytest.raises(Unsupported, match="might change or keep"):
        zyg.jit(f)(3.0)
    with pytest.warns(zyg.FallbackWarning):
        assert zyg.withgradient(f, 3.0) == (18.0, (12.0,))


@program
def consumers_that_raise_by_themselves(x):
    total = x

    def unpacked(it):
        a, b, c, d, e = it
        return a, b, c, d, e

    def rest(it):
        a, b, c, d, e, *f = it
        return a, b, c, d, e, f

    def logged(values, log):
        for v in values:
            log[0] *= v
            yield v

    for left in (unpacked, rest, lambda it: (lambda a: a)(*it), lambda it: len(*it)):
        it = Countdown(x, 2)
        try:
            left(it)
        except (TypeError, ValueError):
            total += it.value * x
    log = [x]
    repr(*logged([x * x], log))
    return total + log[0]


@each_in_long_turn
def test_second_derivatives_do_not_go_through_the_compiler(monkeypatch):
    """What makes forward halves is run as it is: it was recorded, with the SSA of functions that were met first there."""
    form, seen = structure.form, set()

    def watched(x, *more):
        seen.add(type(x).__module__.partition(".")[0])
        return form(x, *more)

    monkeypatch.setattr(structure, "form", watched)
    for made in (adapters.making, adapters.making_spread, adapters.constructing):
        made.cache_clear()
    f = arguments_passed_on
    found = derivative(lambda x: derivative(f, x), 0.7)
    assert found == pytest.approx(differences.derivative(lambda x: derivative(f, x), 0.7), rel=1e-6)
    assert "zyg" not in seen


class OverTuple:
    def __init__(self, *items):
        self.items = items

    def __iter__(self):
        return iter(self.items)


def test_loops_over_what_gives_the_iterator_of_a_tuple():
    def f(x, y):
        total = 0.0
        for v in OverTuple(x, y, x * y):
            total += v * x
        return total + sum([v * y for v in OverTuple(x, y)])

    value, back = pullback(f, (0.7, 1.3))
    assert value == f(0.7, 1.3)
    assert back(1.0) == pytest.approx(differences.gradient(f, 0.7, 1.3), rel=1e-8)
