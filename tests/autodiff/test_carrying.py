"""Through Python, functions with early returns and branches: what the reverse half wants of several ways is there on each of them.
Random programs, against numbers that carry their derivative through CPython."""

from __future__ import annotations

import random

import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = [each_in_turn, pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")]


class Dual:
    """A number and its derivative; compared by the number."""

    def __init__(self, x, dx=0.0):
        self.x, self.dx = x, dx

    def __add__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.x + other.x, self.dx + other.dx)

    def __mul__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.x * other.x, self.x * other.dx + self.dx * other.x)

    def __lt__(self, other):
        return self.x < (other.x if isinstance(other, Dual) else other)

    __radd__, __rmul__ = __add__, __mul__


class Writer:
    """Writes a function of `x` and `memo` without loops: branches, early returns, values that are used again behind them."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = [
            "def f(x, memo=None):",
            "    try:",
            "        a = x * 0.7",
            "    except KeyError:",
            "        return x",
        ]
        self.names = ["x", "a"]
        if self.random.random() < 0.8:
            self.early(1)
        self.lines += ["    if memo is None:", "        memo = {0: x * x, 'k': a + 0.3}"]
        self.block(1, 5)
        self.lines.append(f"    return {self.expression()} + {self.expression()}")

    @property
    def source(self):
        return "\n".join(self.lines)

    def number(self):
        return repr(round(self.random.uniform(-1.5, 1.5), 2))

    def item(self):
        return (
            self.random.choice(self.names)
            if self.random.random() < 0.7
            else self.random.choice(["memo[0]", "memo['k']"])
        )

    def expression(self):
        return f"({self.item()} * {self.item()} * 0.4 + {self.random.choice([self.item(), self.number()])})"

    def condition(self):
        return f"{self.random.choice(self.names)} < {self.number()}"

    def early(self, depth):
        self.lines += [
            f"{'    ' * depth}if {self.condition()}:",
            f"{'    ' * (depth + 1)}return {self.random.choice(self.names)} * 0.5",
        ]

    def block(self, depth, count):
        indent = "    " * depth
        for _ in range(self.random.randint(1, count)):
            kind = self.random.random()
            if kind < 0.45 or depth > 3:
                target = self.random.choice(self.names[1:] if depth > 1 else [*self.names[1:], f"v{len(self.names)}"])
                self.lines.append(f"{indent}{target} = {self.expression()}")
                if target not in self.names:
                    self.names.append(target)
            elif kind < 0.55:
                self.lines.append(f"{indent}memo[{self.random.choice([0, repr('k')])}] = {self.expression()}")
            elif kind < 0.65 and depth < 3:
                self.early(depth)
            else:
                self.lines.append(f"{indent}if {self.condition()}:")
                self.block(depth + 1, 2)
                if self.random.random() < 0.4:
                    self.lines.append(f"{indent}else:")
                    self.block(depth + 1, 2)


def check(seed):
    source = Writer(seed).source
    space: dict = {}
    exec(compile(source, f"<program {seed}>", "exec"), space)
    f = space["f"]
    for x in (-1.3, -0.4, 0.2, 0.9, 1.7):
        expected = f(Dual(x, 1.0))
        value, (slope,) = zyg.withgradient(f, x)
        assert value == pytest.approx(expected.x, rel=1e-12), (x, source)
        assert (slope or 0.0) == pytest.approx(expected.dx, rel=1e-9, abs=1e-12), (x, source)


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed):
    check(seed)


def fibonacci(x, n, memo=None):
    if n < 2:
        return x
    if memo is None:
        memo = {}
    if n not in memo:
        memo[n] = fibonacci(x, n - 1, memo) + fibonacci(x, n - 2, memo)
    return memo[n]


def fibonacci_by_text(x, n, memo=None):
    if n < 2:
        return x
    if memo is None:
        memo = {}
    if str(n) not in memo:
        memo[str(n)] = fibonacci_by_text(x, n - 1, memo) + fibonacci_by_text(x, n - 2, memo)
    return memo[str(n)]


@pytest.mark.parametrize("f", [fibonacci, fibonacci_by_text])
def test_of_memoised_recursion(f):
    assert [zyg.gradient(f, 0.6, n)[0] for n in range(1, 8)] == [1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0]
