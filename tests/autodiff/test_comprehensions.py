"""Comprehensions that become part of the function around them: values and exceptions as in CPython, gradients by differences."""

from __future__ import annotations

import contextlib
import math
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Any

import pytest

import zyg
from tests.oracles.differences import derivative
from tests.turns import by_one_python_a_day
from zyg.fallback import python_pullback

XS = [0.7, 1.3, -0.4]


def sums(xs: list[float]) -> float:
    scale = 0.5
    return sum(scale * x for x in xs) + sum((x * x for x in xs if x > 0), xs[0])


def products(xs: list[float]) -> float:
    return math.prod(1.0 + x * x for x in xs) + math.fsum(x for x in xs)


def nested(xs: list[float]) -> float:
    table = [[x * y for y in xs] for x in xs]
    return sum(sum(row) for row in table) + max(max(row) for row in table)


def pairs(xs: list[float]) -> float:
    return sum(x * y for k, x in enumerate(xs) for y in xs[k:])


def of_dicts(xs: list[float]) -> float:
    table = {k: x * xs[0] for k, x in enumerate(xs)}
    return sum(v * k for k, v in table.items()) + len({round(x) for x in xs})


def captured(xs: list[float]) -> float:
    """A variable that a function keeps stays in its cell."""
    by = xs[0]
    later = lambda: by * 2.0
    total = sum(by * x for x in xs)
    by = xs[1]
    return total + later() + sum(by * x for x in xs)


def assigned_in_a_loop(xs: list[float]) -> float:
    total = 0.0
    for by in xs:
        total = total * 0.5 + sum(by * x + total for x in xs)
    return total


def functions_in_it(xs: list[float]) -> float:
    made = [lambda y, x=x: x * y for x in xs]
    last = [lambda y: x * y for x in xs]  # noqa: B023
    return sum(f(2.0) for f in made) + sum(f(3.0) for f in last)


def sorted_items(xs: list[float]) -> float:
    low, *_, high = sorted(x * x for x in xs)
    return low + 3.0 * high + max((abs(x) for x in xs), default=0.0) + max((x for x in xs), key=lambda v: -v)


def in_a_handler(xs: list[float]) -> float:
    iterator = iter(xs)
    try:
        return sum(next(iterator) for _ in range(9))
    except RuntimeError:
        return 2.0 * xs[1]


def in_a_generator(xs: list[float]) -> float:
    def rows() -> Any:
        for k in range(len(xs)):
            yield sum(x * k for x in xs)

    return sum(row * row for row in rows())


class Asked:
    """Its truth is asked for, which changes something."""

    def __init__(self, x: Any, log: list[Any]):
        self.x, self.log = x, log

    def __bool__(self) -> bool:
        self.log[0] *= 1.0 + self.x
        return self.x > 1.0


def decided(xs: list[float]) -> float:
    total = xs[0]
    for k in range(3):
        if any(x > 1.0 + 0.1 * k for x in xs):
            total *= xs[1] + k
        if not all(x < 1.2 for x in xs if x > 0.0) and all(x * y < 9.0 for x in xs for y in xs):
            total += xs[2] * xs[2]
    return total + any(x for x in []) + all(x > 5.0 for x in xs[3:]) * xs[0]


def decided_early(xs: list[float]) -> float:
    log = [xs[0]]
    asked = [any(Asked(x, log) for x in xs), all(Asked(x, log) for x in reversed(xs))]
    return log[0] * sum(asked)


def decided_in_a_handler(xs: list[float]) -> float:
    total, seen = 0.0, [1.0]
    for k in range(3):
        try:
            if all(seen.append(x * seen[-1]) or 1.0 / (k - 1.0 + 0.0 * x) for x in xs):
                total += seen[-1]
        except ZeroDivisionError:
            total += 2.0 * seen[-1] * xs[1]
    return total


def decided_by_what_ends(xs: list[float]) -> float:
    iterator = iter(xs)
    try:
        return xs[0] * any(next(iterator) > 99.0 for _ in range(9))
    except RuntimeError:
        return 3.0 * xs[2]


def first_ones(xs: list[float]) -> float:
    total, items = next(x for x in xs if x > 1.0), iter([*xs, xs[0] * xs[1]])
    for k in range(2):
        total = total * 0.5 + next((x * k + total for x in items if x > 0.8), xs[2]) * xs[0]
    total += next((x * y for x in xs for y in xs if x + y < 0.0), 1.0) + next((x for x in xs if x > 99.0), 3.0 * xs[1])
    return total + sum(items) * next(iter(xs))


def first_of_none(xs: list[float]) -> float:
    total = 0.0
    for bound in (0.5, 99.0):
        try:
            total += xs[0] * next(x for x in xs if x > bound)
        except StopIteration:
            total += 2.0 * xs[1]
        try:
            total += xs[1] * next(next(iter(xs[:k])) for k in range(2) if bound > 1.0)
        except RuntimeError:
            total += 3.0 * xs[2]
        except StopIteration:
            total += 5.0 * xs[0]
    return total


def first_in_a_generator(xs: list[float]) -> float:
    def rows() -> Any:
        for bound in (0.5, 1.0):
            yield next(x * x for x in xs if x > bound)

    return sum(row * row for row in rows())


def containers(xs: list[float]) -> float:
    table = dict(((k % 2, x * xs[0]) for k, x in enumerate(xs)), other=xs[1])
    ordered = OrderedDict((k, x) for k, x in zip("abc", xs))
    last = deque((x * x for x in xs), 2)
    names = Counter(k % 2 for k, _ in enumerate(xs))
    text = ", ".join(f"{x:.0f}" for x in xs) + "".join(str(k) for k in range(3) if k)
    return sum(table.values()) + ordered["b"] * last[0] + xs[0] * names[0] + xs[2] * len(text)


FUNCTIONS = [
    first_ones, first_of_none, first_in_a_generator, containers,
    decided, decided_early, decided_in_a_handler, decided_by_what_ends,
    sums, products, nested, pairs, of_dicts, captured, assigned_in_a_loop, functions_in_it, sorted_items, in_a_handler,
    in_a_generator,
]  # fmt: skip


@by_one_python_a_day
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradient(function: Callable[[list[float]], float]) -> None:
    value, back = python_pullback(function, (XS,), {})
    assert value == function(XS)
    (gradient,) = back(1.0)
    for k, d in enumerate(gradient):
        moved = lambda by, k=k: function([x + by * (j == k) for j, x in enumerate(XS)])
        assert math.isclose((moved(1e-6) - moved(-1e-6)) / 2e-6, d, rel_tol=1e-6, abs_tol=1e-8)


def unbound(xs: list[float]) -> float:
    if xs[0] > 100.0:
        by = 1.0
    return sum(by * x for x in xs)


def exhausted(xs: list[float]) -> float:
    iterator = iter(xs)
    return sum(next(iterator) for _ in range(9))


@pytest.mark.parametrize("function", [unbound, exhausted], ids=lambda f: f.__name__)
def test_exception(function: Callable[[list[float]], float]) -> None:
    with pytest.raises(Exception) as expected:
        function(XS)
    with pytest.raises((type(expected.value), UnboundLocalError)):
        python_pullback(function, (XS,), {})


def largest(xs: Any) -> float:
    return sum(x * x for x in xs)


def test_a_name_that_stands_for_another_function() -> None:
    value, back = python_pullback(largest, (XS,), {})
    assert back(1.0) == ([2.0 * x for x in XS],)
    globals()["sum"] = max
    try:
        with pytest.raises(zyg.Unsupported, match="another function than when"):
            python_pullback(largest, (XS,), {})
    finally:
        del globals()["sum"]
    namespace = {"sum": lambda items: next(iter(items))}
    exec("def first(xs):\n    return sum(x * x for x in xs)", namespace)
    value, back = python_pullback(namespace["first"], (XS,), {})
    assert (value, back(1.0)) == (XS[0] ** 2, ([2.0 * XS[0], 0.0, 0.0],))


# A variable of a comprehension within `try` or `with` that is captured, as another one of this name is.


def captured_in_try(x: float) -> float:
    try:
        scaled = [lambda a: a * x for x in (x, 2.0)]  # noqa: B023
    except KeyError:
        return x
    return scaled[0](x) * x


def captured_in_with(x: float) -> float:
    with contextlib.nullcontext():
        scaled = [lambda a: a * x + y for x in (x, 2.0) for y in (x, 3.0)]  # noqa: B023
    return scaled[0](x) * x


def captured_outside(x: float) -> float:
    outer = lambda: x
    try:
        total = sum([x * 2.0 for x in (x, 3.0)])
    except KeyError:
        return x
    return total * outer()


def captured_and_raised(x: float) -> float:
    outer = lambda: x
    try:
        quotients = [(lambda: x)() / z for x in (x, 3.0) for z in (1, 0)]
    except ZeroDivisionError:
        return x * x * outer()
    return quotients[0] * x


def captured_and_changed(x: float) -> float:
    def double() -> None:
        nonlocal x
        x = x * 2.0

    for _ in range(2):
        try:
            scaled = {x: (lambda a: a * x) for x in (x, 2.0)}  # noqa: B023
            double()
        finally:
            x = x + 1.0
    return sum(f(x) for f in scaled.values()) * x


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize(
    "f", [captured_in_try, captured_in_with, captured_outside, captured_and_raised, captured_and_changed]
)
def test_a_captured_variable_with_the_name_of_another_one(f: Callable[[float], float]) -> None:
    value, back = python_pullback(f, (0.8,), {})
    expected = f(0.8), pytest.approx(derivative(f, 0.8), rel=1e-7)
    assert (value, back(1.0)[0]) == expected
    assert zyg.withgradient(f, 0.8) == (expected[0], (expected[1],))
