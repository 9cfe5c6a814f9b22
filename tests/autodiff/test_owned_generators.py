"""Loops that alone have a generator, and loops that only seem to: whoever else takes an item, or keeps the generator. Against differences."""

from __future__ import annotations

import pytest

from tests.oracles import differences
from tests.turns import by_one_python_a_day
from zyg.autodiff.objects.api import pullback
from zyg.autodiff.python import compile as compile_
from zyg.autodiff.python import escaping


class Source:
    """Its methods are generators that are not known by a name, so that they do not become part of the loop."""

    def __init__(self, x):
        self.x = x
        self.kept = None
        self.asked = 0

    def items(self, n):
        for k in range(n):
            self.x = self.x * 0.9 + 0.1 * k
            yield self.x
        self.x = self.x * self.x  # behind the last item

    def keeping(self, n):
        self.kept = self.items(n)
        return self.kept

    def once(self):
        if self.kept is None:
            self.kept = self.items(4)
        return self.kept

    def doubled(self, n):
        for v in self.items(n):
            yield v
            yield v * self.x

    def failing(self, n):
        for v in self.items(n):
            self.x = self.x + v
            if v > 0.9:
                raise ValueError(v)
            yield v * v

    def stopping(self, n):
        for v in self.items(n):
            self.x = self.x * v
            yield v + next(iter([1.0] if v < 0.9 else []))

    def __iter__(self):
        self.asked += 1
        yield self.x * self.asked
        yield from self.items(2)


class Kept(Source):
    def __iter__(self):
        return self.once()


def to_the_end(x):
    s, total = Source(x), 0.0
    for v in s.items(4):
        total += v * s.x
    return total * s.x


def left(x):
    s, total = Source(x), 0.0
    for v in s.doubled(4):
        total = total * 0.5 + v
        if total > 1.0:
            break
    return total * s.x


def nothing(x):
    s, total = Source(x), x
    for v in s.items(0):
        total += v
    return total * s.x


def returns_from_the_loop(x):
    s = Source(x)
    for v in s.items(4):
        for w in s.items(2):
            if w > v:
                return v * w * s.x
    return x


def taken_meanwhile(x):
    s, total = Source(x), 0.0
    for v in s.keeping(5):
        total += v * next(s.kept, 2.0)
    return total * s.x


def goes_on_with_what_is_kept(x):
    s, total = Source(x), 0.0
    for v in s.once():
        total += v
        if total > 1.0:
            break
    for v in s.once():
        total += v * 3.0
    for _v in s.once():
        total += 100.0
    return total * s.x


def objects(x):
    s, total = Source(x), 0.0
    for v in s:
        total += v
        for w in s:
            total += w * v
            if w > v:
                break
    return total * s.x


def objects_that_keep(x):
    s, total = Kept(x), 0.0
    for v in s:
        total += v
        for w in s:
            total += w * v
            break
    return total * s.x


def handled(x):
    s, total = Source(x), 0.0
    for n in range(2, 6):
        try:
            for v in s.failing(n):
                total += v * s.x
        except ValueError as error:
            total += error.args[0] * n
            s.x = s.x * 0.4
    return total + s.x


def handled_within(x):
    def several(s):
        for n in (3, 4):
            try:
                for v in s.failing(n):  # noqa: UP028
                    yield v
            except ValueError as error:
                yield error.args[0] * s.x
                s.x = x

    s, total = Source(x), 0.0
    for v in several(s):
        total = total * 0.7 + v
    return total * s.x


def stops(x):
    s, total = Source(x), 0.0
    try:
        for v in s.stopping(4):
            total += v
    except RuntimeError as error:
        assert str(error) == "generator raised StopIteration"
        assert type(error.__cause__) is StopIteration
        total *= s.x
    return total + s.x


def handled_around(x):
    s = Source(x)

    def inner():
        total = 0.0
        for v in s.failing(5):
            total += v
        return total

    try:
        return inner()
    except ValueError as error:
        return error.args[0] * s.x


def ends(x):
    s, total = Source(x), 0.0
    for k, v in enumerate(s.items(3)):
        total += v * k
    return total + sum(s.items(3)) + max(s.doubled(2)) + sum(v * v for v in s.items(3))


PROGRAMS = [
    to_the_end, left, nothing, returns_from_the_loop, taken_meanwhile, goes_on_with_what_is_kept, objects, objects_that_keep, handled,
    handled_within, stops, handled_around, ends,
]  # fmt: skip


@pytest.fixture
def watched(monkeypatch, request):
    monkeypatch.setattr(escaping, "generators_are_watched", request.param)
    compile_.forget()
    yield
    compile_.forget()


@by_one_python_a_day
@pytest.mark.parametrize("watched", [False, True], indirect=True)
@pytest.mark.parametrize("f", PROGRAMS)
def test_gradient(f, watched):
    for x in (0.7, 0.3):
        expected = differences.derivative(f, x, step=1e-4)
        for _ in range(2):
            value, back = pullback(f, (x,))
            assert value == f(x)
            for d in (1.0, -2.0):
                assert back(d)[0] == pytest.approx(d * expected, rel=1e-6)


@by_one_python_a_day
@pytest.mark.parametrize("f", [to_the_end, left, objects, handled, handled_within])
def test_second_derivative(f):
    slope = lambda x: pullback(f, (x,))[1](1.0)[0]
    value, back = pullback(slope, (0.7,))
    assert value == pytest.approx(slope(0.7))
    assert back(1.0)[0] == pytest.approx(differences.derivative(slope, 0.7, step=1e-4), rel=1e-5)
