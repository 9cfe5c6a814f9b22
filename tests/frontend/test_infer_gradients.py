"""Gradients through what inference turns into SSA: closures, objects, lists, generators, optional values."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest

import zyg

from ..turns import each_in_turn


@dataclass
class Total:
    value: float = 0.0
    count: int = 0

    def add(self, x):
        self.value += x
        self.count += 1
        return self

    def mean(self):
        return self.value / self.count if self.count else 0.0


def comprehension(n, x):
    v = [x * i for i in range(n)]
    return sum(v)


def growing_list(n, x):
    v = []
    for i in range(n):
        v.append((x * i, math.sin(x + i)))
    t = 0.0
    for a, b in v:
        t += a * b
    return t * v[n // 2][0]


def list_as_stack(x, n):
    v = [x, 1.0]
    for _ in range(n):
        v.append(v[-1] * v[-2] + x)
    w = v.pop()
    v[1] = x * x
    return sum(v) * w


def reductions(x, n):
    return sum(x**i for i in range(n) if i % 2) + max(x * i for i in range(n))


def closure(x):
    k = 1.0

    def h(y):
        nonlocal k
        k += y * x
        return k * x

    return h(1) + h(2) * k


def math_of_many(x):
    return (
        math.fsum((x, x * x, 3.0)) + math.prod((x, x, 2.0)) + math.hypot(x, 2 * x, 1.0) + math.dist((x, 1.0), (2.0, x))
    )


def mutable_object(x, n):
    a = Total()
    for i in range(n):
        a.add(math.sin(x * i))
    return a.mean() * a.value


def objects_that_trade_places(x, n):
    a, b = Total(x), Total(2.0 * x)
    for _ in range(n):
        a.add(b.value * x)
        a, b = b, a
    return a.value * b.value


def chosen_function(x, n):
    f = math.sin
    for _ in range(n):
        x = f(x)
        f = math.cos if x > 0.5 else math.tanh
    return x


def generator(x, n):
    def g(m):
        a = x
        for i in range(m):
            yield a
            a = a * x + i

    t = 0.0
    for v in g(n):
        t = t * 0.5 + v * v
    return t


def optional_value(x, n):
    b = None
    for i in range(n):
        if b is None or i * x > b * 1.1:
            b = i * x
    return b


def rounding(x):
    return round(x, 2) + x * x


def recursion(x, n):
    return 0.0 if n == 0 else x * n + recursion(x * x, n - 1) * x


def division_with_remainder(x, y):
    q, r = divmod(x, y)
    return q * x + r * y


def parts_of_a_float(x):
    a, b = math.modf(x)
    m, _ = math.frexp(x)
    return a * x + b + m * math.ldexp(x, 2)


@each_in_turn
@pytest.mark.parametrize(
    ("function", "args"),
    [
        (comprehension, (5, 1.5)), (growing_list, (7, 1.5)), (list_as_stack, (1.1, 6)), (reductions, (1.2, 7)),
        (closure, (1.3,)), (math_of_many, (0.7,)), (mutable_object, (0.4, 6)), (objects_that_trade_places, (0.3, 5)),
        (chosen_function, (1.0, 4)), (generator, (0.7, 5)), (optional_value, (1.2, 5)), (rounding, (1.234,)),
        (recursion, (0.9, 4)), (division_with_remainder, (7.3, 2.1)), (parts_of_a_float, (3.3,)),
    ],
)  # fmt: skip
def test_gradient_against_central_differences(function, args):
    found = zyg.gradient(function, *args)
    h = 1e-6
    for i, x in enumerate(args):
        if isinstance(x, float):
            high, low = list(args), list(args)
            high[i], low[i] = x + h, x - h
            expected = (function(*high) - function(*low)) / (2 * h)
            assert found[i] == pytest.approx(expected, rel=1e-6, abs=1e-6)
