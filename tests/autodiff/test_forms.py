"""Functions that are called plainly and in `try` bodies: each has two forms, which the same places come to."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.python import differentiated, is_watched
from zyg.autodiff.trying import bodies
from zyg.fallback import python_pullback

log: list[float] = []
FACTORS = [0.5, 1.5, 2.5, 3.5] * 10


def _step(x: float, k: int) -> float:
    log.append(x * x)
    if k % 3 == 1:
        raise ValueError(x * FACTORS[k])
    log.append(x)
    return x * x * FACTORS[k]


class _Number:
    def __init__(self, value: float):
        self.value = value

    def __add__(self, other: Any) -> Any:
        return _Number(_step(self.value, other))

    def __getitem__(self, k: int) -> float:
        return _step(self.value, k)

    def __call__(self, k: int) -> float:
        return _step(self.value, k)

    def method(self, k: int = 1) -> float:
        return _step(self.value, k)

    @property
    def computed(self) -> float:
        return _step(self.value, len(log))

    @computed.setter
    def computed(self, k: int) -> None:
        self.value = _step(self.value, k)

    def __enter__(self) -> float:
        return _step(self.value, len(log))

    def __exit__(self, *error: object) -> bool:
        log.append(self.value)
        return error[0] is ValueError


def _items(x: float) -> Iterator[float]:
    for k in range(4):
        yield _step(x, k)


def _guarded(x: float) -> Iterator[float]:
    for k in range(4):
        try:
            yield _step(x, k)
        except ValueError as error:
            yield error.args[0] * x
        finally:
            log.append(x)


@contextmanager
def _scope(x: float) -> Iterator[float]:
    try:
        yield _step(x, 2)
    except ValueError:
        log.append(x * x * x)


def _swallowed(x: float, run: Callable[[int], Any]) -> float:
    total = 0.0
    for k in range(3):
        try:
            total += run(k)
        except ValueError as error:
            total += error.args[0] * x
    return total


def function(x: float, safe: bool) -> float:
    ks = (0, 2) if safe else (0, 1, 2)
    return sum(_step(x, k) for k in ks) if safe else _swallowed(x, lambda k: _step(x, k))


def operators(x: float, safe: bool) -> float:
    a = _Number(x)
    return (a + 2).value + a[3] if safe else _swallowed(x, lambda k: (a + k).value + a[k])


def methods(x: float, safe: bool) -> float:
    a = _Number(x)
    if safe:
        return a.method(2) + a.method(k=3) + a(2)
    return _swallowed(x, lambda k: a.method(k) + a(k)) + _swallowed(x, lambda k: a.method(k=k) + a.method())


def properties(x: float, safe: bool) -> float:
    a = _Number(x)
    if safe:
        a.computed = 2
        return a.computed

    def run(k: int) -> float:
        a.computed = k
        return a.value

    return _swallowed(x, run) + _swallowed(x, lambda k: a.computed)


def made_before(x: float, safe: bool) -> float:
    """What is called was found before the `try` statement."""
    if safe:
        return sum(item for _, item in zip(range(1), _items(x)))
    items = _items(x)
    return _swallowed(x, lambda k: next(items, 0.0))


class _Counter:
    def __init__(self, x: float):
        self.x = x
        self.k = 2

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> float:
        self.k += 1
        return _step(self.x, self.k)


class _Sequence:
    def __init__(self, x: float):
        self.x = x

    def __getitem__(self, k: int) -> float:
        return _step(self.x, k + 2)


def _mapped(x: float, ks: Any) -> Any:
    def called(k: int) -> float:
        return _step(x, k)

    return map(called, ks)


SOURCES: list[Callable[[float], Any]] = [
    _Counter,
    _Sequence,
    lambda x: _mapped(x, [2, 3, 4]),
    lambda x: zip(_Counter(x), _mapped(x, (2, 3, 3, 4))),
    lambda x: filter(None, _Counter(x)),
]


def steps_of_loops(x: float, safe: bool) -> float:
    total = 0.0
    for source in SOURCES[: 1 if safe else None]:
        try:
            for item in source(x):
                total += x * (item if type(item) is float else item[0] * item[1])
                if safe:
                    break
        except ValueError:
            total *= 1.5
    return total


def made_at_once(x: float, safe: bool) -> float:
    """What had been called before one call raised is undone."""
    ks = [0, 2, 3] if safe else [0, 2, 1]

    def called(k: int) -> float:
        return _step(x, k)

    makers: list[Callable[[], float]] = [
        lambda: sum([*map(called, ks)]),
        lambda: sorted(ks, key=called)[0],
        lambda: max(ks, key=called),
        lambda: functools.reduce(lambda a, k: a + called(k), ks, x),
        lambda: tuple(map(called, ks))[1],
    ]
    if safe:
        return sum([make() for make in makers])
    return sum([_swallowed(x, lambda _, make=make: make()) for make in makers])


def generators(x: float, safe: bool) -> float:
    if safe:
        return sum(item for _, item in zip(range(1), _items(x)))
    total = sum(_guarded(x))
    for item in _guarded(x):
        total += _swallowed(item, lambda k: _step(x, k))
    return total


def contexts(x: float, safe: bool) -> float:
    total = 0.0
    with _Number(x) as a:
        total += a
    if safe:
        return total
    for k in range(3):
        with _scope(x) as b:
            total += b * _step(x, k)
    return total


def left_early(x: float, safe: bool) -> float:
    def first(k: int) -> float:
        while True:
            try:
                if k > 1:
                    return x
                if k == 1:
                    break
                return _step(x, 1 - safe)
            finally:
                log.append(x)
                k += 1
        return _step(x, 2)

    return first(2) + first(1) + (first(0) if safe else _swallowed(x, first))


def nested(x: float, safe: bool) -> float:
    total = 0.0
    for k in range(4 - 2 * safe):
        try:
            try:
                total += _step(x, 2 * k if safe else k)
            finally:
                total += _step(x, 2)
        except ValueError as error:
            try:
                total += _step(error.args[0], k)
            except ValueError:
                total *= x
    return total


class _Odd:
    """Its operations note what they do, give plain numbers, and one of them raises an error halfway."""

    left = 0  # operations until then

    def __init__(self, value: float):
        self.value = value

    def _done(self, other: float) -> float:
        log.append(self.value)
        _Odd.left -= 1
        if not _Odd.left:
            raise ValueError(self.value * self.value)
        log.append(self.value * other)
        return self.value * other + other

    __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __getitem__ = _done
    computed = property(lambda self: self._done(2.5), lambda self, value: self._written(1, value))

    def _written(self, key: int, value: float) -> None:
        self.value += key * self._done(value)

    __setitem__ = _written

    def __truediv__(self, other: float) -> Any:
        return _Odd(self._done(other))

    def __lt__(self, other: float) -> bool:
        return self._done(other) > 0.0

    def __iter__(self) -> Any:
        return iter((self._done(1.5), self.value))


def halfway(x: float, safe: bool) -> float:
    """Several operations in one go, of plain numbers and of others: each of them may be the one that raises."""
    total = 0.0
    for _Odd.left in (0,) if safe else (3, 0, 1, 2, *range(4, 17)):
        a, b, c = (_Odd(x * k) for k in (1.0, 1.5, 2.0))
        first = second = x
        try:
            total += _mixed(x, a if total < 50.0 else x, b)
            first = ((a + x) * x - (b * (x * x + 1.0))) / ((a - x) + 2.5)
            first, second = c / (b.computed * first)
            c.computed = (a + second) * x
            b[2] = x * c[x] * first
            total += x * (a < first * x) + (x + second * c[first]) * (x - second)
        except ValueError as error:
            total += error.args[0] * first * second
        total *= 0.3
    return total


def _mixed(x: float, a: Any, b: _Odd) -> float:
    y = x * x
    return (a * (x + y) - y) * (y * b[2.0 * y] + x)


PROGRAMS = [
    halfway, function, operators, methods, properties, steps_of_loops, made_at_once, made_before, generators, contexts, left_early, nested,
]  # fmt: skip


def _value(program: Callable[[float, bool], float], x: float, safe: bool) -> float:
    log.clear()
    return program(x, safe) + sum(log)


def _slope(f: Callable[[float, bool], float], x: float, safe: bool) -> float:
    """By differences of the fourth order."""
    h = 1e-3
    a, b, c, d = [f(x + k * h, safe) for k in (-2, -1, 1, 2)]
    return (8 * (c - b) - (d - a)) / (12 * h)


@each_in_long_turn
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_plain_and_watched_in_turn(program: Callable[[float, bool], float]) -> None:
    for safe in (True, False, True, False, False):
        value, back = python_pullback(_value, (program, 1.3, safe), {})
        assert value == _value(program, 1.3, safe)
        assert back(1.0)[1] == pytest.approx(_slope(functools.partial(_value, program), 1.3, safe), rel=1e-8)
        assert not bodies


@each_in_long_turn
@each_in_turn
def test_second_derivatives() -> None:
    def slope(x: float, safe: bool) -> float:
        return python_pullback(_value, (function, x, safe), {})[1](1.0)[1]

    for safe in (True, False):
        _, back = python_pullback(slope, (1.3, safe), {})
        assert back(1.0)[0] == pytest.approx(_slope(slope, 1.3, safe), rel=1e-8)
        assert not bodies


def test_what_is_called_outside_of_try_bodies_stays_plain() -> None:
    def called(x: float) -> float:
        return x * x

    def caught(x: float) -> float:
        if x > 5:
            raise ValueError(x)
        return x * x * x

    def program(x: float) -> float:
        total = called(x)
        try:
            total += caught(x)
        except ValueError:
            total += 1.0
        return total + called(total)

    _, back = python_pullback(program, (1.5,), {})
    y = 1.5**2 + 1.5**3
    assert back(1.0)[0] == pytest.approx((2 * 1.5 + 3 * 1.5**2) * (1 + 2 * y))
    assert is_watched(differentiated(caught.__code__, watched=True))


def left_with_defaults(x):
    state = [0.0]

    class Counter:
        def add(self, v, by=2.0):
            state[0] += v * by * x
            raise ValueError

    calls = []
    for k in (1.0, x):

        def call(v, c=k, d=0.5):
            state[0] += v * c * d
            raise KeyError

        calls.append(call)
    for call in calls:
        try:
            call(x * x)
        except KeyError:
            x = x * 1.5
    try:
        Counter().add(x)
    except ValueError:
        x = x + state[0]
    return x * state[0]


def test_arguments_that_are_left_out():
    value, back = python_pullback(left_with_defaults, (0.6,), {})
    assert value == left_with_defaults(0.6)
    assert back(1.0)[0] == pytest.approx(differences.derivative(left_with_defaults, 0.6))


def _climbing(x, n, step=0.5):
    """Has a loop, so that native code is tried first."""
    for _ in range(n):
        x *= 1.0 + step
        if x > 0.9:
            raise ValueError(x * step)
    return x


class _Falling:
    def __init__(self, value, limit=0.0):
        self.value = value * value
        if limit > 1.0:
            raise ValueError(limit * value)

    def fall(self, x, n):
        self.value += x * n
        if n == 0:
            raise ValueError(self.value * x)
        try:
            return self.fall(x * x, n - 1)
        except ValueError as error:
            if n == 3:
                return error.args[0] * x
            raise ValueError(error.args[0] + self.value) from error
        finally:
            log.append(self.value * x)

    def __call__(self, x):
        for k in range(3):
            self.value += x * k
            if self.value > 1.0:
                raise ValueError(self.value * x)
        return x


def _left(x):
    """By what calls functions the first time, and functions with defaults, keywords and `self`."""
    total = 0.0
    a = _Falling(x)
    calls = [
        lambda: _climbing(x, 5), lambda: _climbing(x * 0.7, 5, x), lambda: _climbing(x=x, n=4), lambda: a.fall(x, 3),
        lambda: a(x * 0.9), lambda: _Falling(x, x + 1.0).value, lambda: _Falling(value=x, limit=x + 2.0).value,
    ]  # fmt: skip
    for call in calls:
        try:
            total += call()
        except ValueError as error:
            total += error.args[0]
        total *= 1.5
    try:
        total += _climbing(x, 3) * _climbing(x, n=2)
    except ValueError as error:
        total += error.args[0] * x
    return total + a.value + sum(log)


@each_in_turn
def test_calls_that_are_left_have_derivatives_by_their_arguments() -> None:
    def value(x: float) -> float:
        log.clear()
        return _left(x)

    for x in (0.8, 0.8, 0.35):
        expected = (8 * (value(x + 1e-3) - value(x - 1e-3)) - (value(x + 2e-3) - value(x - 2e-3))) / 12e-3
        log.clear()
        found, back = python_pullback(_left, (x,), {})
        assert found == value(x)
        assert back(1.0)[0] == pytest.approx(expected, rel=1e-8)
