"""Iterators whose steps run code: each step is undone in its turn, however it is come by, in first and second derivatives."""

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
import math
import sys
from typing import Any

import numpy as np
import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn


def gradient(function: Any, x: float) -> Any:
    return pullback(function, (x,))[1](1.0)[0]


class Grower:
    """An iterator that changes what its consumer changes, also where it ends."""

    def __init__(self, state, x, number=3):
        self.state, self.x, self.left = state, x, number

    def __iter__(self):
        return self

    def __next__(self):
        self.state[0] *= 1.5 * self.x
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        return self.state[0] * self.x


class Indexed:
    def __init__(self, state, x):
        self.state, self.x = state, x

    def __getitem__(self, index):
        self.state[0] *= 1.5 * self.x
        if index > 2:
            raise IndexError
        return self.state[0] * self.x


def growing(state, x, number=1.0):
    """A generator that does so."""
    yield number * x * x
    state[0] *= state[0] * x * number
    yield x
    state[0] *= x + 0.5


def scaled(state, v):
    return v * state[0]


def consume(items, s, x):
    total = 0.0
    for item in items:
        v = math.prod(item) if isinstance(item, tuple) else item
        s[0] = s[0] * v * s[0] + x
        total += s[0]
    return total * s[0]


WAYS = {
    "for": lambda s, x: growing(s, x),
    "zip": lambda s, x: zip(growing(s, x), [x, 2.0, 3.0]),
    "zip that leaves an item": lambda s, x: zip(growing(s, x), [x]),
    "enumerate": lambda s, x: enumerate(growing(s, x), 1),
    "map": lambda s, x: map(functools.partial(scaled, s), growing(s, x)),
    "filter": lambda s, x: filter(lambda v: v > 0.6, growing(s, x)),
    "chain": lambda s, x: itertools.chain(growing(s, x), growing(s, x, 0.5)),
    "from_iterable": lambda s, x: itertools.chain.from_iterable(growing(s, x, k) for k in (1.0, 0.5)),
    "islice": lambda s, x: itertools.islice(growing(s, x), 5),
    "accumulate": lambda s, x: itertools.accumulate(growing(s, x)),
    "pairwise": lambda s, x: itertools.pairwise(growing(s, x)),
    "zip_longest": lambda s, x: itertools.zip_longest(growing(s, x), [x], fillvalue=1.5),
    "product": lambda s, x: itertools.product(growing(s, x), repeat=2),
    "zip of enumerate": lambda s, x: ((a, b[1]) for a, b in zip([x, 2.0], enumerate(growing(s, x)))),
    "objects": lambda s, x: Grower(s, x),
    "objects in zip": lambda s, x: zip(Grower(s, x), [x, 2.0]),
    "by index": lambda s, x: Indexed(s, x),
    "islice of objects": lambda s, x: itertools.islice(Grower(s, x), 5),
}


@pytest.mark.parametrize("way", WAYS)
def test_steps_are_undone_in_their_turn(way):
    def function(x):
        s = [x]
        return consume(WAYS[way](s, x), s, x)

    assert pullback(function, (0.7,))[0] == pytest.approx(function(0.7), rel=1e-15)
    assert gradient(function, 0.7) == pytest.approx(differences.derivative(function, 0.7), rel=1e-7)


def stepping(x):
    s = [x]
    it = iter(Grower(s, x))
    first = next(it) * s[0]
    next(it)
    next(it)
    return first + next(it, x * s[0]) * s[0] + it.left + sum(Grower(s, x)) * s[0] + math.prod([*Indexed(s, x)]) * s[0]


def until(x):
    stack = [None, x, x * x, x**3]
    total = 0.0
    for v in iter(stack.pop, None):
        total = total * x + v
    return total * len(stack) + x


def empty(x):
    s = [x]

    def none():
        s[0] *= x * x
        return
        yield

    it = none()
    s[0] = s[0] * s[0] + x
    total = sum(it)
    s[0] = s[0] * s[0] + x
    for _ in none():
        pass
    return s[0] * s[0] + total


def exhausted(x):
    s = [x]
    it = growing(s, x)
    total = sum(it) * s[0]
    s[0] = s[0] * s[0] + x
    for v in it:
        total += v
    return total * s[0]


class Asked:
    def __init__(self, state, x):
        self.state, self.x = state, x

    @property
    def missing(self):
        self.state[0] *= self.state[0] * self.x
        raise AttributeError


class Answering(Asked):
    def __getattr__(self, name):
        self.state[0] *= 2.0 * self.x
        return self.state[0]


def asked(x):
    s = [x]
    total = Answering(s, x).missing * s[0]
    total += getattr(Asked(s, x), "missing", x) * s[0]
    return total + hasattr(Asked(s, x), "missing") + s[0]


def stopped(x):
    def inner():
        yield x
        return x * x * x

    steps = inner()
    next(steps)
    try:
        next(steps)
    except StopIteration as end:
        return end.value * x


def left_by_exception(x):
    held = [x]

    def inner():
        held[0] = x * x * x
        raise ValueError(x * x)

    try:
        inner()
    except ValueError as error:
        return held[0] * x * error.args[0]


def sliced(x):
    def fibonacci():
        a, b = x, x * x
        while True:
            yield a
            a, b = b, a * b

    return sum(itertools.islice(fibonacci(), 4))


def delegated(x):
    def inner():
        yield from growing([x], x)
        yield x**4

    return sum(inner())


def sent(x):
    def inner():
        r = yield x
        yield r * r * x

    steps = inner()
    return steps.send(None) and steps.send(x * x)


def rotated(x):
    d = collections.deque([x, x * x])
    d.appendleft(d[0] * d[1])
    d.rotate(1)
    return d.pop() * d.popleft() * x


def displays(x):
    return sum([*map(abs, [x, x * x])]) + sum((*[x, x * x], x**3)) + sum({*[x, x * x]})


FUNCTIONS = {
    "squares": lambda x: sum(v * v for v in [x, 2.0 * x]),
    "nested": lambda x: sum(sum(u * v for u in [x, v]) for v in growing([x], x)),
    "next": lambda x: next(growing([x], x)),
    "product": lambda x: sum(a * b for a, b in itertools.product([x, x * x], repeat=2)),
    "sorted": lambda x: sum(v * i for i, v in enumerate(sorted([x * x, 1 / x, x], key=lambda v: -v))),
    "accumulate": lambda x: sum(v * v for v in itertools.accumulate([x, x * x, 2.0])),
    "reduce": lambda x: functools.reduce(lambda a, b: a * b + x, growing([x], x), x),
    "filled": lambda x: sum(a * b for a, b in itertools.zip_longest([x, x * x], [x], fillvalue=x)),
    "fromiter": lambda x: float((np.fromiter((x * k * v for k, v in enumerate([x, 2.0])), float) ** 2).sum()),
    "items": lambda x: sum(v * w for (_, v), w in zip({"a": x * x, "b": x}.items(), {"c": x, "d": 2.0}.values())),
    "containers": lambda x: math.prod(list(growing([x], x))) + dict(zip("ab", growing([x], x)))["a"] * max(growing([x], x)),
}  # fmt: skip
FUNCTIONS |= {
    f.__name__: f
    for f in (until, empty, exhausted, asked, stopped, left_by_exception, sliced, delegated, sent, rotated, displays)
}
SECOND = {
    way: lambda x, way=way: (lambda s: consume(WAYS[way](s, x), s, x))([x]) for way in ("zip", "chain", "objects")
}


def test_next():
    assert gradient(stepping, 0.7) == pytest.approx(differences.derivative(stepping, 0.7), rel=1e-7)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_first_derivatives(name):
    function = FUNCTIONS[name]
    assert gradient(function, 0.7) == pytest.approx(differences.derivative(function, 0.7), rel=1e-7)


# Dear, and made of what others in the list go through, too.
FIRST_ONLY = {"squares", "filled", "fromiter", "product", "sorted", "items", "containers", "asked"}


@each_in_long_turn
@pytest.mark.parametrize("name", [*[n for n in FUNCTIONS if n not in FIRST_ONLY], *SECOND])
def test_second_derivatives(name):
    function = FUNCTIONS.get(name) or SECOND[name]
    got = gradient(lambda x: zyg.gradient(function, x)[0], 0.7)
    assert got == pytest.approx(differences.derivative(lambda x: gradient(function, x), 0.7), rel=1e-6)


def abandoned(x):
    s = [x]

    def items():
        try:
            yield x
            yield x
        finally:
            s[0] *= 5.0

    for v in items():
        if v > 0.0:
            break
    return s[0] * v


def closed(x):
    s = [x]

    def items():
        try:
            yield x
            yield x
        finally:
            s[0] *= 5.0 * x

    with contextlib.closing(items()) as steps:
        for v in steps:
            if v > 0.0:
                break
    return s[0] * v


LEFT = []


class Scope:
    def __init__(self, state, x):
        self.state, self.x = state, x

    def __enter__(self):
        LEFT.append("enter")
        return self

    def __exit__(self, *raised):
        LEFT.append(("exit", raised[0] is GeneratorExit))
        self.state[0] *= 3.0 * self.x


def _with_finally(state, x):
    try:
        for k in range(1, 10):
            yield x * k * state[0]
    finally:
        LEFT.append("closed")
        state[0] = state[0] * x + 1.0


def _with_scope(state, x):
    k = 0
    while True:
        k += 1
        with Scope(state, x):
            yield x * k


def broken_out_of(x):
    state = [x]
    total = 0.0
    for v in _with_finally(state, x):
        total += v * v
        state[0] += v
        if total > 5.0:
            LEFT.append("found")
            total *= state[0]
            break
    else:
        total = -1.0
    LEFT.append("behind")
    return total * state[0]


def returned_from(x):
    state = [x]

    def search():
        for v in _with_scope(state, x):
            if v > 1.5:
                return LEFT.append("value") or v * state[0]
        return 0.0

    return search() * state[0]


def left_in_a_loop(x):
    state = [x]
    total = 0.0
    for k in range(3):
        for n, v in enumerate([x, 2.0 * x]):
            for w in _with_finally(state, v):
                total += w * state[0] * (n + k + 1)
                break
    return total + state[0]


class WithItems:
    def __init__(self, x):
        self.state = [x]

    def __iter__(self):
        return _with_finally(self.state, 2.0 * self.state[0])


def left_by_a_class(x):
    held = WithItems(x)
    for v in held:
        if v > x:
            break
    return v * held.state[0]


def raised_in_the_loop(x):
    state = [x]
    try:
        for v in _with_finally(state, x):
            if v > 2.0:
                LEFT.append("raises")
                break
        raise ValueError(v * state[0])
    except ValueError as error:
        return error.args[0] * state[0]


def kept_and_gone_on_with(x):
    state = [x]
    items = _with_finally(state, x)
    for v in items:
        if v > 1.0:
            break
    for w in items:
        v += w * state[0]
    return v * state[0]


@pytest.mark.parametrize(
    "f",
    [
        abandoned,
        broken_out_of,
        returned_from,
        left_in_a_loop,
        left_by_a_class,
        raised_in_the_loop,
        kept_and_gone_on_with,
    ],
)
def test_generators_that_a_loop_leaves_are_closed_there(f):
    LEFT.clear()
    value, effects = f(0.7), LEFT[:]
    expected = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    LEFT.clear()
    got, back = pullback(f, (0.7,))
    assert (got, LEFT) == (value, effects)
    assert back(1.0) == (pytest.approx(expected, rel=1e-7),)
    assert back(2.0) == (pytest.approx(2.0 * expected, rel=1e-7),)
    assert effects == LEFT


def kept_and_left(x):
    items = _with_finally([x], x)
    for v in items:
        x *= v
        break
    return x


def kept_in_a_list(x):
    items = [_with_finally([x], x)]
    for v in items[0]:
        x *= v
        break
    return x


def test_generators_left_early():
    """CPython runs what is behind `finally` where nobody has the generator any more: at a place that is not known here."""
    for f in (kept_and_left, kept_in_a_list):
        with pytest.raises(zyg.Unsupported, match="was not finished, and has a `try`"):
            pullback(f, (0.7,))
    assert gradient(closed, 0.7) == pytest.approx(15.0 * 0.7**2)


class Items:
    def __init__(self, x):
        self.values = iter([1.0, x, x, 3.0, x * x])

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.values)


def grown(x):
    s = x
    for v in [1.0, x, 3.0]:
        s = s * v * x
        yield s


TWICE = {
    "tee": lambda items: (lambda a, b: sum(p * q for p, q in zip(a, b)))(*itertools.tee(items)),
    "tee_ahead": lambda items: (lambda a, b: next(b) * sum(a) * sum(b))(*itertools.tee(items)),
    "pairwise": lambda items: sum(p * q for p, q in itertools.pairwise(items)),
    "groupby": lambda items: sum(key * sum(group) for key, group in itertools.groupby(items)),
    "groups_late": lambda items: sum(k * len(list(g)) for k, g in list(itertools.groupby(items))),
}
if sys.version_info >= (3, 12):
    TWICE["batched"] = lambda items: sum(sum(batch) ** 2 for batch in itertools.batched(items, 2))
SOURCES = {"expression": lambda x: (v * x for v in [1.0, x, x, 3.0]), "generator": grown, "class": Items}


@pytest.mark.parametrize("name", TWICE)
@pytest.mark.parametrize("source", SOURCES)
def test_items_that_are_handed_on_twice(name, source):
    def function(x):
        return TWICE[name](SOURCES[source](x))

    expected = differences.derivative(function, 1.5)
    if name != "groups_late":  # groups are at their ends when the next one is asked for
        assert expected
    assert (gradient(function, 1.5) or 0.0) == pytest.approx(expected, rel=1e-6)


def test_unpacking_nothing() -> None:
    def f(x: float) -> float:
        values = [x]
        values.pop()
        () = values
        [] = ()
        return x * x

    value, back = pullback(f, (3.0,))
    assert (value, back(1.0)) == (9.0, (6.0,))


class Doubled(list):
    def __iter__(self) -> Any:
        return (v * 2.0 for v in list.__iter__(self))


class DoubledTuple(tuple):
    def __iter__(self) -> Any:
        return (v * 2.0 for v in tuple.__iter__(self))


class Odd(dict):
    def __iter__(self) -> Any:
        return iter(["a"])

    def values(self) -> Any:
        return [v * 2.0 for v in dict.values(self)]

    def __contains__(self, key: object) -> bool:
        return not dict.__contains__(self, key)


class Mapping:
    def __init__(self, x: float):
        self.x = x

    def keys(self) -> Any:
        return ["a", "b"]

    def __getitem__(self, key: str) -> float:
        return self.x * (1.0 + (key == "b"))


def looped(items: Any) -> Any:
    total = 0.0
    for v in items:
        total += v * v
    first, second = items
    return total + first * second + sum(a * b for a, b in zip(items, [1.0, 3.0])) + max(items) + sum(list(items))


def product(a: Any, b: Any) -> Any:
    return a * b


def test_containers_with_ways_of_their_own() -> None:
    def odd(x: Any) -> Any:
        table = Odd(a=x, b=2.0)
        total = sum(table.values()) + sum(table[k] for k in table) + sum(dict.values(table))
        return total + table["a"] * ("b" in table) + sum(v * v for _, v in table.items())

    functions = [
        lambda x: looped(Doubled([x, 2.0])),
        lambda x: looped(DoubledTuple((x, 2.0))),
        lambda x: sorted(Doubled([x, 2.0]))[0] * product(*Doubled([x, x])),
        odd,
        lambda x: product(**Mapping(x)),
    ]
    for function in functions:
        value, back = pullback(function, (1.3,))
        assert value == pytest.approx(function(1.3))
        assert back(1.0)[0] == pytest.approx(differences.derivative(function, 1.3), rel=1e-6)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: list(itertools.accumulate((x, 0.1, x), initial=y))[-2],
        lambda x, y: sum(itertools.accumulate([x, y], initial=y, func=lambda a, b: a * b)),
        lambda x, y: sum(itertools.accumulate(iterable=[x, x], func=lambda a, b: a * b, initial=y)),
        lambda x, y: sum(itertools.repeat(y, times=2)) * x,
        lambda x, y: sum(itertools.repeat(times=2, object=y)) * x,
    ],
)
def test_arguments_by_name_have_their_own_derivatives(f):
    x, y = -0.8, 0.43
    value, back = pullback(f, (x, y))
    assert value == f(x, y)
    assert back(1.0) == pytest.approx(
        (differences.derivative(lambda x: f(x, y), x), differences.derivative(lambda y: f(x, y), y))
    )


class Restarting:
    """An iterator that starts again whenever somebody asks it for an iterator."""

    def __init__(self, v: float):
        self.v, self.place, self.asked = v, 0, 0

    def __iter__(self) -> Any:
        self.place = 0
        self.asked += 1
        return self

    def __next__(self) -> float:
        if self.place == 3:
            raise StopIteration
        self.place += 1
        return self.v**self.place


def rest_of_restarting(x):
    it = Restarting(x)
    try:
        first, *rest = it
        *most, last = it
        return first * sum(rest) + len(most) * last * it.asked
    finally:
        len([])


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_the_rest_is_what_an_iterator_gives_that_is_asked_again():
    assert pullback(rest_of_restarting, (0.7,))[0] == rest_of_restarting(0.7)
    assert zyg.derivative(rest_of_restarting)(0.7) == pytest.approx(differences.derivative(rest_of_restarting, 0.7))
    slope = differences.derivative(zyg.derivative(rest_of_restarting), 0.7)
    assert zyg.hvp(rest_of_restarting, 0.7, 1.0) == pytest.approx(slope)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_vars_of_what_has_no_attributes():
    def f(x):
        try:
            return sum(vars(np.array(x)).values())
        finally:
            len([])

    with pytest.raises(TypeError, match="vars"):
        pullback(f, (1.0,))


def by_slices(x):
    held = [x, 2.0 * x]

    def key(v):
        held[:] = [v * h for h in held]
        return v > 0.0

    return len(list(itertools.groupby([x, 3.0 * x], key=key))) * sum(held)


def in_place(x):
    rows = [[x], [2.0 * x]]

    def key(row):
        row += [x]
        return len(row)

    return len(list(itertools.groupby(rows, key=key))) * sum(map(sum, rows))


@pytest.mark.parametrize("f", [by_slices, in_place])
def test_keys_that_do_something_run_once(f):
    value, back = pullback(f, (0.7,))
    assert value == f(0.7)
    assert back(1.0)[0] == pytest.approx(differences.derivative(f, 0.7))


def smoothed_in_place(x):
    xs = [x, 2.0 * x, x * x, 0.5]
    first, second = itertools.tee(xs)
    next(second)
    for k, (a, b) in enumerate(zip(first, second)):
        xs[k] = 0.5 * (a + b) * x
    return sum(xs) + sum(v * k for k, v in enumerate(xs))


def apart_from_each_other(x):
    first, second, third = itertools.tee((x, x * x, 2.0, 3.0 * x), 3)
    total = sum(first) * next(second)
    return total + sum(a * b for a, b in zip(second, third)) * next(second, x)


def windows(xs, size):
    made = itertools.tee(xs, size)
    for k, it in enumerate(made):
        next(itertools.islice(it, k, k), None)
    return zip(*made)


def batches(xs, size):
    items = iter(xs)
    while batch := list(itertools.islice(items, size)):
        yield batch


PLACES = {
    "in place": smoothed_in_place,
    "apart": apart_from_each_other,
    "windows": lambda x: sum(a * b - c for a, b, c in windows([x, x * x, 2.0, 3.0 * x, x], 3)),
    "windows of a tuple": lambda x: sum(a * b for a, b in windows((x, x * x, 2.0 * x), 2)),
    "windows of an iterator": lambda x: sum(a * b for a, b in windows(iter([x, x * x, 2.0 * x]), 2)),
    "batches": lambda x: sum(b[0] * len(b) * sum(b) for b in batches([x, x * x, 2.0, 3.0 * x, x], 2)),
    "batches of a tuple": lambda x: sum(b[0] * sum(b) for b in batches((x, x * x, 2.0, 3.0 * x, x), 3)),
    "steps": lambda x: sum(itertools.islice([x, 2.0, x * x, 3.0 * x], 0, None, 2)) * x,
    "the first ones": lambda x: max(itertools.islice((v * x for v in (1.0, 5.0, 2.0)), 2)) * x,
    "of an islice": lambda x: sum(a * b for a, b in zip(*itertools.tee(itertools.islice([x, x * x, 3.0], 1, 3)))),
    "runs": lambda x: sum(x ** len(list(group)) for letter, group in itertools.groupby("aabccc") if letter != "b"),
}


@pytest.mark.parametrize("name", PLACES)
def test_items_that_keep_their_places(name):
    f = PLACES[name]
    value, back = pullback(f, (0.9,))
    assert value == f(0.9)
    assert back(1.0)[0] == pytest.approx(differences.derivative(f, 0.9), rel=1e-7)


@each_in_long_turn
@pytest.mark.parametrize("name", ["windows", "windows of a tuple", "batches", "steps", "runs"])
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_second_derivatives_of_items_that_keep_their_places(name):
    second = zyg.derivative(zyg.derivative(PLACES[name]))(0.9)
    assert second == pytest.approx(differences.derivative(zyg.derivative(PLACES[name]), 0.9), rel=1e-6)


def test_a_list_that_changes_between_iterators_of_tee_is_refused():
    def f(x):
        xs = [x, 2.0 * x]
        first, second = itertools.tee(xs)
        total = next(first)
        xs[0] = x * x
        return total * next(second) * xs[0]

    with pytest.raises(zyg.Unsupported, match="changes between the iterators of `tee`"):
        pullback(f, (0.9,))


def averages():
    total, count, mean = 0.0, 0, None
    while True:
        x = yield mean
        total += x
        count += 1
        mean = total / count
        if count == 4:
            return mean * total


def sent_until_it_ends(x):
    mean, value, k = averages(), 0.0, 0
    mean.send(None)
    try:
        while True:
            value += mean.send(x * (k + 1)) * x
            k += 1
    except StopIteration as end:
        value += end.value * x
    return value


def checked():
    x = 1.0
    while True:
        x = yield x * x
        if x > 2.0:
            raise ValueError(x * 3.0)


def sent_until_it_fails(x):
    checks, value = checked(), 0.0
    next(checks)
    for k in range(5):
        try:
            value += checks.send(x * k)
        except ValueError as error:
            value += error.args[0] * x
        except StopIteration:
            value += x
    return value


def sent_by_a_name(x):
    mean = averages()
    send = mean.send
    send(None)
    return send(x * x) * send(2.0 * x)


def sent_nothing_much(x):
    mean = averages()
    next(mean)
    unused = [mean.send(v) for v in (x, x * x)]
    return len(unused) * mean.send(x * 3.0)


SENDING = [sent_until_it_ends, sent_until_it_fails, sent_by_a_name, sent_nothing_much]


@pytest.mark.parametrize("f", SENDING, ids=lambda f: f.__name__)
def test_what_is_sent(f):
    value, back = pullback(f, (0.9,))
    assert value == f(0.9)
    assert back(1.0)[0] == pytest.approx(differences.derivative(f, 0.9), rel=1e-7)


@each_in_long_turn
@pytest.mark.parametrize("f", [sent_by_a_name, sent_nothing_much], ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_second_derivatives_of_what_is_sent(f):
    second = zyg.derivative(zyg.derivative(f))(0.9)
    assert second == pytest.approx(differences.derivative(zyg.derivative(f), 0.9), rel=1e-6)


# ---- what is asked for its length


class Counted:
    """Counts how often it is asked for its length."""

    def __init__(self, items, fails=False):
        self.items, self.asked, self.fails = items, 1.0, fails

    def __iter__(self):
        yield from self.items

    def __len__(self):
        self.asked = self.asked * 2.0
        if self.fails:
            raise ValueError(self.asked)
        return len(self.items)


class Unsized(Counted):
    def __len__(self):
        raise TypeError("no length")


class UnsizedLate(Counted):
    def __len__(self):
        self.asked = self.asked * 3.0
        raise TypeError("no length")


def listed(x, cls, fails=False):
    counted = cls([x, 2 * x, x * x], fails)
    counted.asked = x
    try:
        items = list(counted)
    except ValueError as error:
        return error.args[0] * counted.asked
    return items[2] * counted.asked + sorted(counted)[0]


@pytest.mark.parametrize(
    "cls, fails, expected",
    [
        (Counted, False, lambda x: 2 * x**3 + x),
        (Counted, True, lambda x: 4 * x * x),
        (Unsized, False, lambda x: x**3 + x),
    ],
)
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_lists_of_what_is_asked_for_its_length(cls, fails, expected) -> None:
    x = 1.5
    assert listed(x, cls, fails) == pytest.approx(expected(x))
    slope = (expected(x + 1e-6) - expected(x - 1e-6)) / 2e-6
    for _ in range(2):
        assert zyg.gradient(listed, x, cls, fails)[0] == pytest.approx(slope)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_a_length_that_changes_something_and_is_none_is_refused() -> None:
    with pytest.raises(zyg.Unsupported, match="changes something and raises TypeError"):
        zyg.gradient(listed, 1.5, UnsizedLate)
