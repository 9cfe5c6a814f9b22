"""Slices of generators, several side by side, and loops over generators in functions with handlers: they become part of the function, and
give what they give under CPython, in the same order, as far as they get there."""

from __future__ import annotations

import itertools
from itertools import islice

import pytest

from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects import sources
from zyg.autodiff.objects.api import pullback
from zyg.autodiff.python.comprehensions import taken_in
from zyg.autodiff.python.inlining import as_it_was, with_generators
from zyg.frontend.capture import capture
from zyg.ir.verify import check_arguments, check_blocks, check_definitions, check_dominance, check_targets

LOG: list = []


def powers(x, r):
    while True:
        LOG.append(("powers", len(LOG)))
        yield x
        x = x * r


def multiples(x, n):
    for i in range(n):
        LOG.append(("multiple", i))
        yield x * i
    LOG.append("no more multiples")


def three_ways(x):
    yield x
    y = x * x
    for k in range(2):
        yield y * k
        y = y + x
    if x > 0.5:
        LOG.append("returns")
        return
    yield y


def never(x):
    if x > 100.0:
        yield x


def nested(x, n):
    for i in range(n):
        y = x
        for j in range(i):
            y = y * x
            yield y * j + i
        x = x * 1.1


def slices(x):
    total = 0.0
    for v in islice(powers(x, 0.9), 6):
        total += v * v
    for v in itertools.islice(powers(x, x), 2, 7):
        total = total * 0.5 + v
    for v in islice(multiples(x, 5), 3, None):
        total += v * x
    for v in islice(multiples(x, 4), 0):
        total += v * 100.0
    for v in islice(multiples(x, 4), 3, 2):
        total += v * 100.0
    for v in islice(multiples(x, 4), 2, 2):
        total += v * 100.0
    for v in islice(three_ways(x), 10):
        total += v
    for v in islice(never(x), 2, 5):
        total += v
    return total


def slices_by_variables(x):
    total = x
    for n in (0, 1, 3, 9):
        for v in islice(multiples(x, 5), n):
            total = total * 0.7 + v
        for v in islice(multiples(total, 5), n, n + 2):
            total += v * 0.1
    return total


def slices_by_other_things(x):
    total = 0.0
    for n in (True, None):
        for v in islice(multiples(x, 4), n):
            total += v * v
    return total


def pairs(x):
    total = 0.0
    for a, b in zip(multiples(x, 5), powers(x, 0.9)):
        total += a * b
    for a, b in zip(powers(x, 0.8), multiples(x * x, 5)):
        total = total * 0.5 + a * b
    return total + sum(a - b * x for a, b in zip(powers(x, 1.1), multiples(x, 4)))


def pairs_that_are_kept(x):
    kept = [p for p in zip(three_ways(x), multiples(x, 9))]  # noqa: C416
    total = 0.0
    for p in zip(powers(x, 0.5), three_ways(x * 0.5)):
        kept.append(p)
    for a, b in kept:
        total += a * b * b
    return total


def the_first_ends(x):
    total = 0.0
    for a, b in zip(three_ways(x), three_ways(x * 0.3)):
        total += a * b
    for a, b in zip(nested(x, 4), nested(x * 0.4, 3)):
        total = total * 0.9 + a * b
    for a, b in zip(never(x), powers(x, x)):
        total += a * b * 100.0
    for a, b in zip(powers(x, x), never(x)):
        total += a * b * 100.0
    return total


def three(x):
    total = 0.0
    for a, b, c in zip(powers(x, 0.9), nested(x, 4), three_ways(x)):
        total += a * b * c
    for a, b, c in zip(three_ways(x * 0.4), powers(x, 0.9), multiples(x, 3)):
        total = total * x + a * b - c
    return total


def with_a_list(x):
    xs = [x, x * x, 3.0]
    total = 0.0
    for a, b in zip(xs, powers(x, 0.9)):
        total += a * b
        xs[2] = total
    for a, b in zip(powers(x, 0.5), xs):
        total += a * b
        if len(xs) < 6:
            xs.append(total)
    for a, b, c in zip(powers(x, 0.5), tuple(xs), multiples(x, 9)):
        total += a * b * c
    for k, a in zip(range(5), powers(x, 0.9)):
        total += a * k
    return total


def with_a_dict(x):
    d = {"a": x, "b": x * x}
    total = 0.0
    for (k, v), p in zip(d.items(), powers(x, 0.7)):
        d[k] = v + p
        total += v * p
    return total + d["a"] * d["b"]


def left_early(x):
    total = 0.0
    for a, b in zip(powers(x, 0.9), three_ways(x)):
        if a < 0.6 * x or total > 3.0:
            break
        if b == 0.0:
            continue
        total += a * b
    else:
        total *= 2.0
    for a, b in zip(powers(x, 0.9), nested(x, 3)):
        if a < 0.85 * x:
            return total * a + b
    return total


def in_rounds(x):
    total = 0.0
    for k in range(4):
        for a, b in zip(three_ways(x * k), multiples(x, k)):
            total = total * 0.9 + a * b
        for n, (a, b) in enumerate(zip(powers(total, 0.5), multiples(x, 3))):
            total += a * n - b
    return total


def of_each_other(x):
    total = 0.0
    for a, b in islice(zip(powers(x, 0.9), powers(x, 1.1)), 5):
        total += a * b
    for a, b in zip(islice(powers(x, 0.9), 3), map(lambda v: v * v, multiples(x, 4))):  # noqa: C417
        total += a * b
    for a, (b, c) in zip(powers(x, 0.9), zip(powers(x, 1.1), multiples(x, 4))):
        total += a * b * c
    for a in itertools.takewhile(lambda v: v > 0.2, powers(x, 0.7)):
        total += a
    return total


def changes_what_others_see(x):
    seen = [x]

    def first(y):
        for k in range(4):
            seen.append(seen[-1] * y)
            yield k + seen[0]
            seen[0] = seen[0] * x

    def second(y):
        while len(seen) < 9:
            seen[0] = seen[0] + y
            yield seen[-1]
            seen.append(y * seen[0])

    total = 0.0
    for a, b in zip(first(x * 0.5), second(x)):
        total += a * b * seen[-1]
        seen[0] += total * 0.1
    for b, a in zip(second(x), first(x * 0.5)):
        total += a * b * seen[-1]
    return total + sum(seen)


def handlers_elsewhere(x):
    total = 0.0
    for v in islice(powers(x, 0.9), 6):
        total += v * x
    try:
        total = total / (x - x)
    except ZeroDivisionError:
        total = total * 2.0
    for a, b in zip(powers(x, 0.9), multiples(x, 3)):
        total += a * b
    return total


def handlers_in_the_loop(x):
    total, failures, last = 0.0, 0, x
    for n, v in enumerate(three_ways(x)):
        try:
            w = v / (n % 2)
            total += w
        except ZeroDivisionError:
            failures += 1
            total += v * last
            continue
        finally:
            last = last * v + total
        total = total * 1.1
    for a, b in zip(powers(x, 0.9), multiples(x, 4)):
        try:
            if b > 2.5 * x:
                raise ValueError(a)
            total += a * b
        except ValueError as error:
            total += error.args[0]
            break
    return total + failures * last


def returns_from_a_handler(x):
    kept = x
    for v in powers(x, 0.5):
        try:
            kept = kept + v
            if v < 0.1:
                raise KeyError(v)
        except KeyError:
            return kept * v
    return 0.0


def handlers_around_the_loop(x):
    total = 0.0
    try:
        for a, b in zip(powers(x, 0.9), three_ways(x)):
            total += a / b
    except ZeroDivisionError:
        total = total * a
    return total


def captured_with_handlers(x):
    scale = x * 2.0

    def items(n):
        for k in range(n):
            yield k * scale * x

    total = 0.0
    for v in items(3):
        total += v * v
    scale = x
    try:
        total = total / 0
    except ZeroDivisionError:
        scale = scale * total
    for v in islice(items(9), 1, 3):
        total += v
    return total + scale


def captured_and_set_in_a_handler(x):
    scale = x

    def items(n):
        for k in range(n):
            yield k * scale

    total = 0.0
    for k in range(3):
        try:
            scale = scale * 1.5
            total += x / (k % 2)
            scale = scale + 1.0
        except ZeroDivisionError:
            total += scale
            scale = scale * x
        for v in items(3):
            total += v
    return total


class Numbers:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        LOG.append("begun")
        yield self.x
        yield self.x * 2.0


def of_an_object(x):
    total = 0.0
    for a, b in zip(Numbers(x), powers(x, 0.9)):
        total += a * b
    for a, b in zip(powers(x, 0.9), Numbers(x)):
        total += a - b * b
    for a, b in zip(Numbers(x), Numbers(total)):
        total += a * b
    return total


def of_what_breaks(x):
    def short(xs, limit):
        for v in xs:
            if v > limit:
                break
            LOG.append(len(LOG))
            yield v * x
            yield v

    total = 0.0
    for a, b in zip(short(short(multiples(x, 9), 2.0), 1.5), multiples(x, 6)):
        total += a * b
    for a, b in zip(short(powers(x, 1.3), 2.0), short(multiples(x, 6), 1.0)):
        total += a * b
    return total


PROGRAMS = [
    of_what_breaks,
    slices, slices_by_variables, slices_by_other_things, pairs, pairs_that_are_kept, the_first_ends, three, with_a_list, with_a_dict, left_early, in_rounds, of_each_other,
    changes_what_others_see, handlers_elsewhere, handlers_in_the_loop, returns_from_a_handler, handlers_around_the_loop, captured_with_handlers,
    captured_and_set_in_a_handler, of_an_object,
]  # fmt: skip


@each_in_turn
@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f):
    for x in (0.7, 0.3):
        check(f, x, times=2, rel=1e-6, step=1e-3)


@each_in_turn
@pytest.mark.parametrize("f", PROGRAMS)
def test_order(f):
    LOG.clear()
    f(0.7)
    expected = LOG[:]
    LOG.clear()
    pullback(f, (0.7,))
    assert expected == LOG


@each_in_long_turn
@each_in_turn
@pytest.mark.parametrize("f", [slices, pairs, the_first_ends, changes_what_others_see, handlers_in_the_loop, three])
def test_second_derivatives(f):
    check_second(f, step=1e-3)


def asked(f):
    """How many functions are looked at again, in whose place there is their code."""
    made = with_generators(capture(f.__code__), globals())
    return sum(getattr(i.operands[0], "value", None) is as_it_was for _, i in made.instructions() if i.operands)


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_is_made_is_valid(f):
    made = with_generators(taken_in(capture(f.__code__, sources.leave), globals()), globals())
    for check_of in (check_blocks, check_targets, check_arguments, check_definitions, check_dominance):
        assert not list(check_of(made, None))


def test_what_is_taken_in():
    assert asked(slices) == 10
    assert asked(pairs) == 6  # (the generator expression is taken in before)
    assert asked(three) == 8
    assert asked(handlers_elsewhere) == 5
    assert asked(handlers_in_the_loop) == 5


def negative(x):
    n = -1
    for v in islice(powers(x, 0.5), n):
        x += v
    return x


def negative_constant(x):
    for v in islice(powers(x, 0.5), -1):
        x += v
    return x


def too_many(x):
    for v in islice(three_ways(x), 10**30):
        x += v
    return x


def test_what_cpython_refuses():
    for f in (negative, negative_constant, too_many):
        with pytest.raises(ValueError, match="Stop argument for islice"):
            pullback(f, (0.7,))


def raising(x):
    yield x
    yield x / 0


def beside_what_raises(x):
    for a, b in zip(powers(x, 0.5), raising(x)):
        x += a * b
    return x


def tried(x):
    y = x
    try:
        y = x * beside_what_raises(x)
    except ZeroDivisionError:
        y = y * 3.0
    return y


def stops(x):
    def items(y):
        yield y
        yield next(iter(()))

    for a, b in zip(items(x), powers(x, 0.5)):
        x += a * b
    return x


def test_exceptions():
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            pullback(beside_what_raises, (0.5,))
        with pytest.raises(RuntimeError, match="generator raised StopIteration"):
            pullback(stops, (0.5,))
        assert pullback(tried, (0.5,))[1](1.0)[0] == 3.0


def test_other_functions_of_these_names(monkeypatch):
    monkeypatch.setitem(globals(), "powers", lambda x, r: iter([x, r, x * r]))
    check(pairs, rel=1e-6, step=1e-3)
    check(handlers_elsewhere, rel=1e-6, step=1e-3)
    monkeypatch.undo()
    check(pairs, rel=1e-6, step=1e-3)
    monkeypatch.setitem(globals(), "islice", lambda xs, *limits: [next(xs), 2.0])
    check(handlers_elsewhere, rel=1e-6, step=1e-3)
