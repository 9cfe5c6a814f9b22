"""Places where many functions and bound methods come in turn, out of tables: each of them is known again there, and is what it is by
then."""

from __future__ import annotations

import warnings

import pytest

import zyg
from tests.autodiff.against_differences import check
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn


class Machine:
    def __init__(self, x):
        self.stack = [x]
        self.scale = x
        self.table = {
            "twice": lambda by: self.binary(lambda a, b: a + b),
            "times": lambda by: self.binary(lambda a, b: a * b),
            "less": lambda by: self.binary(lambda a, b, c=2.0: a - b * c),
            "push": self.push,
            "scaled": self.scaled,
            "top": self.top,
        }

    def binary(self, operation):
        b, a = self.stack.pop(), self.stack.pop()
        self.stack.append(operation(a, b))

    def push(self, value):
        self.stack.append(value)

    def scaled(self, by):
        self.stack.append(by * self.scale)
        self.scale = 0.9 * self.scale

    def top(self, by):
        self.stack.append(self.stack[-1] * by)

    def run(self, code):
        for name, operand in code:
            self.table[name](operand)
        return self.stack[-1]


CODE = [
    ("push", 2.0), ("times", None), ("scaled", 3.0), ("less", None), ("top", 1.5), ("twice", None), ("push", 0.3), ("less", None), ("scaled", 0.4), ("times", None),
]  # fmt: skip


def test_a_machine_with_a_table():
    check(lambda x: Machine(x).run(CODE * 6))


def test_a_table_in_a_try_body():
    def guarded(x):
        total = 0.0
        for k in range(3):
            machine = Machine(x * k)
            try:
                total += machine.run(CODE * 3 + [("missing", x), ("push", 1.0)])
            except KeyError:
                total += machine.stack[-1]
        return total

    check(guarded)


@each_in_long_turn
def test_a_second_derivative():
    f = lambda x: Machine(x).run(CODE * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        got = zyg.gradient(lambda x: zyg.gradient(f, x)[0], 0.7)[0]
    assert got == pytest.approx(differences.derivative(lambda x: pullback(f, (x,))[1](1.0)[0], 0.7), rel=1e-7)


def test_more_than_are_remembered():
    def many(x):
        functions = [lambda v, k=k: v * x + k for k in range(10)] + [lambda v: v * x * 0.9 for _ in range(30)]
        methods = [Machine(x * k).top for k in range(30)]
        for _ in range(3):
            for f in functions:
                x = 0.5 * f(x) / (1.0 + x)
            for f in methods:
                f(x)
        return x + sum(f.__self__.stack[-1] for f in methods)

    check(many, 0.4, rel=1e-6)


def test_functions_with_a_rule_among_others_of_their_code():
    def of(scale):
        return lambda v: v * scale * scale

    plain, ruled = of(2.0), of(3.0)

    @zyg.adjoint(ruled)
    def rule(v):
        return ruled(v), lambda d: (d * 100.0,)

    def called(x):
        made = [of(x), plain, ruled, of(0.5)]
        return sum(f(x) for _ in range(3) for f in made)

    for _ in range(2):
        assert pullback(called, (0.5,))[1](1.0)[0] == pytest.approx(3 * (3 * 0.25 + 4.0 + 100.0 + 0.25))


def test_code_and_methods_that_are_replaced():
    def replaced(x):
        class Scale:
            def __init__(self, by):
                self.by = by

            def times(self, v):
                return v * self.by

        scale, total = Scale(x), 0.0
        f = lambda v: v * 2.0
        g = lambda v: v * v
        kept = scale.times
        for k in range(6):
            for each in (f, g, kept, scale.times):
                total += each(x) * (k + 1)
            if k == 2:
                f.__code__ = (lambda v: v * v * v).__code__
            if k == 3:
                Scale.times = lambda self, v: v * v * self.by
        return total

    check(replaced)
