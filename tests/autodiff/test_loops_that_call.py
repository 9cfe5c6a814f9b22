"""Loops over what `zip`, `enumerate` and functions of itertools give, and places where many functions, or classes, are called: what is
done at once, or remembered, gives what one by one gives."""

# ruff: noqa: RUF058

from __future__ import annotations

import builtins
import contextlib
import itertools
import operator
from typing import Any

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn


def gradient(function: Any, x: float) -> Any:
    return pullback(function, (x,))[1](1.0)[0]


def tuples_by_number(x):
    total, pair = 0.0, (x, x * x, 0.5)
    for number, value in enumerate(pair):
        total += number * value * value
    for number, (a, b) in enumerate(((x, 2 * x), (x * x, 3.0))):
        total += a * b * (number + 1)
    for at, text in enumerate(("a", "b")):
        total += pair[at] * len(text)
    for entry in enumerate(pair, 1):
        total += entry[0] * entry[1]
    return total * list(enumerate(pair))[1][1]


def zips_of_all_kinds(x):
    items, more, total = [x, 2 * x, x * x], (x, 3.0, x * x), 0.0
    for a, b in zip(items, more):
        total += a * b * b
    for a, b in zip(more, [v * v for v in more]):
        total += a * b
    for both in zip(items, items):
        total += both[0] * both[1]
    for (_, a), b in zip(enumerate(items), {1: x, 2: x * x}.values()):
        total += a * b
    for a, b in zip(iter(items), (v * x for v in items)):
        items.append(a * b)
        total += items[-1]
        if len(items) > 5:
            break
    return total


def filled_up(x):
    short, long, total = [x, x * x], [x, 2.0, 3 * x, x], 0.0
    for a, b in itertools.zip_longest(short, long, fillvalue=x * 0.5):
        total += a * b * b
        if len(short) < 3:
            short.append(total)
    for a, b in itertools.zip_longest(long, short, fillvalue=0.0):
        total += a * b
    return total + sum(short)


def spread(x):
    items = [x, 2 * x, x * x]
    total = sum(itertools.starmap(lambda a, b: a * b - a / b, zip(items, [x, 1.0, 2.0])))
    total += sum(itertools.starmap(lambda a, *more: a * more[0], [(x, x), (2.0, x * x, x)]))
    with contextlib.suppress(ZeroDivisionError):
        total += sum(itertools.starmap(lambda a, b: a / b, zip(items, [x, 0.0, x])))
    return total


def extremes_so_far(x):
    items = [x, 0.5 * x, x * x, x * x, 4 * x, x]
    weighted = sum(v * w for v, w in zip(itertools.accumulate(items, max), [1.0, x, 2.0, x * x, 3.0, x]))
    return weighted + sum(itertools.accumulate(items, min)) + list(itertools.accumulate(items, max))[3]


def functions_in_turn(x):
    def by(k):
        return lambda v: v * k + x

    functions = [by(x * k) for k in range(4)]
    many = [by(0.01 * k) for k in range(40)]
    total = x
    for _ in range(3):
        for f in functions:
            total = 0.3 * f(total)
    for f in [*many, operator.neg, abs, float, *many]:
        total = f(total) * 0.5
    return total


class Own(Exception):
    pass


class Tally(dict):
    def __init__(self, start, **more):
        super().__init__(**more)
        self["start"] = start * 2.0


class Stack(list):
    def __init__(self, *items):
        super().__init__(items)
        self.top = items[-1]


def classes_of_builtin_ones(x):
    total = 0.0
    for k in range(3):
        try:
            if k:
                raise Own(x * k, "text")
            total += x
        except Own as error:
            total += error.args[0] ** 2
        tally, stack = Tally(x * k, more=x), Stack(x, total)
        tally["more"] *= x
        stack.append(tally["start"] * stack.top)
        total += tally["more"] * len(tally) + sum(stack) * isinstance(tally, Tally)
    return total


class Changing:
    """Its `__iter__` changes something, and may raise an exception then."""

    def __init__(self, state, x, works):
        self.state, self.x, self.works = state, x, works

    def __iter__(self):
        self.state[0] *= self.x
        if not self.works:
            raise ValueError(self.works)
        return iter([self.state[0] * self.x, self.x])


def left_as_they_begin(x):
    state, total = [x], 0.0
    for made in (zip, lambda a, b: map(lambda u, v: (u, v), a, b), itertools.zip_longest):
        for works in (False, True):
            try:
                for item in made(Changing(state, x, True), Changing(state, x, works)):
                    total += sum(item)
            except ValueError:
                total += state[0] * x
    for works in (False, True):
        try:
            for at, v in enumerate(Changing(state, x, works)):
                total += v * at
        except ValueError:
            total += state[0] * x
    for a, b in ((x, [1.0]), ([x], None)):
        try:
            for v, w in zip(a, b):
                total += v * w
        except TypeError:
            total += state[0] * x
    return total * state[0]


class Bag:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)


def one_behind_the_other(x):
    first, second, by_name, state, total = Bag([x, x * x]), Bag([x]), {"a": x}, [x], 0.0
    for v in itertools.chain(first, second, by_name.values()):
        total += v * v * x
        if len(second.items) < 3:
            second.items = [*second.items, v * total]
            by_name[str(total)] = total
    for works in (True, False):
        try:
            for v in itertools.chain(Changing(state, x, True), Changing(state, x, works)):
                total += v * state[0]
        except ValueError:
            total += state[0]
    return total * state[0] + sum(itertools.chain((x, x * x), [x], (v * x for v in (x, 2.0)), Bag((x, x)), range(2)))


FUNCTIONS = [
    one_behind_the_other,
    left_as_they_begin,
    classes_of_builtin_ones,
    tuples_by_number,
    zips_of_all_kinds,
    filled_up,
    spread,
    extremes_so_far,
    functions_in_turn,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_first_derivatives(function):
    for x in (0.7, 1.3):  # the second time places remember
        assert pullback(function, (x,))[0] == function(x)
        assert gradient(function, x) == pytest.approx(differences.derivative(function, x), rel=1e-7)


@each_in_long_turn
@pytest.mark.parametrize("function", [tuples_by_number, filled_up, extremes_so_far])
def test_second_derivatives(function):
    slope = lambda x: gradient(function, x)
    assert gradient(slope, 0.7) == pytest.approx(differences.derivative(slope, 0.7), rel=1e-6)


def looped(x):
    return sum([number * a * b for number, (a, b) in enumerate(zip([x, x * x], [2.0, x]))])


def looped_over_pairs(x):
    return sum([pair[0] * pair[1][0] for pair in enumerate(zip([x, x * x], [2.0, x]))])


def test_names_that_stand_for_something_else_later(monkeypatch):
    for function in (looped, looped_over_pairs):
        assert gradient(function, 0.7) == pytest.approx(differences.derivative(function, 0.7))
    monkeypatch.setitem(globals(), "zip", lambda a, b: [(p * p, q) for p, q in builtins.zip(a, b)])
    for function in (looped, looped_over_pairs):
        assert gradient(function, 0.7) == pytest.approx(differences.derivative(function, 0.7))
    monkeypatch.setitem(globals(), "enumerate", lambda x: iter((3, v) for v in x))
    assert gradient(looped_over_pairs, 0.7) == pytest.approx(differences.derivative(looped_over_pairs, 0.7))
    with pytest.raises(zyg.Unsupported, match=r"`enumerate.*which is another function than when"):
        gradient(looped, 0.7)  # (its loop takes the tuples apart)


def test_wrong_calls():
    def wrong(x):
        for _ in zip(x, [1.0]):
            pass
        return x

    with pytest.raises(TypeError, match="'float' object is not iterable"):
        zyg.gradient(wrong, 1.0)


def _checked(z):
    if z > 3.0:
        raise ValueError("large", z)
    return z


def test_loops_over_pairs_on_the_way_to_an_exception():
    def left(x):
        values = [x, 2.0, 3.0]
        try:
            _checked(x * 6.0)
        finally:
            total = 0.0
            for n, v in enumerate(values):
                total = total + v * values[n]
            for v, w in zip(values, values):
                total += v * w
        return total

    def raised(x):
        values = [x, 2.0, 3.0]
        try:
            _checked(x * 6.0)
        except ValueError:
            for n, v in enumerate(values):
                values[n] = v * v
            raise

    def caught(x, seen):
        values = [x, 2.0, 3.0]
        try:
            _checked(x * 6.0)
        except ValueError:
            for n, v in enumerate(values):
                seen.append(v * (n + 2.0))
            for v, w in zip(values, seen):
                seen[0] = seen[0] * v * w
            raise

    def catches(x):
        seen = [x]
        try:
            caught(x, seen)
        except ValueError as error:
            return sum(seen) * error.args[1]
        return 0.0

    for f in (left, raised):
        with pytest.raises(ValueError, match="large") as error:
            gradient(f, 1.1)
        assert error.value.args == ("large", 1.1 * 6.0)
    assert gradient(left, 0.4) == pytest.approx(4 * 0.4)
    slope = (catches(1.1 + 1e-6) - catches(1.1 - 1e-6)) / 2e-6
    assert gradient(catches, 1.1) == pytest.approx(slope, rel=1e-6)


def test_items_of_generators_step_by_step():
    """What `next` takes of views and generators, in a loop within `try` (comprehensions have their loop there from 3.12 on)."""

    def of_values(x):
        y, given = x, {"a": x, "b": 0.5}
        for n in range(3):
            try:
                made = {k: v * (n + 1.0) for k, v in given.items()}
                y = y * made["a"] * made["b"]
            except ValueError:
                y = 0.0
        return y

    def items(x):
        yield x
        yield x * x

    def of_generators(x):
        y = x
        for _ in range(2):
            try:
                y = y * {n: v * x for n, v in enumerate(items(x))}[1] + sum({v * 2.0 for v in items(y)})
            finally:
                y = y * 0.5
        return y

    for f in (of_values, of_generators):
        assert gradient(f, 0.7) == pytest.approx(differences.gradient(f, 0.7)[0], rel=1e-8)


def test_notes_of_exceptions():
    def f(x):
        try:
            raise ValueError("large", x)
        except ValueError as error:
            error.add_note("seen")
            return error.args[1] * 2.0 + len(error.__notes__)

    assert gradient(f, 0.7) == 2.0
