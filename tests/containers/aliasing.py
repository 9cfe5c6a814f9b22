"""`python -m tests.containers.aliasing --count 1000 --seed 1`: random programs about who refers to what.

A program assigns, swaps, fills and changes objects that variables, tuples, dicts, lists and attributes share, in branches
and loops, some of them arguments that are one object.  CPython says what the value is and what becomes of the arguments;
central differences say what the gradient is.  Programs that native code refuses are counted.
"""

from __future__ import annotations

import linecache
import math
import random
import sys
from collections.abc import Callable
from typing import Any

import zyg

from ..oracles.differences import derivative, kinked
from .searching import search


class Item:
    def __init__(self, x, other=None):
        self.x = x
        self.other = other


NAMES = ["a", "b", "c", "p", "q", "r", "s"]
LISTS = ["l", "m"]

# What arguments are: ordinary numbers, zeros, ones, equal ones.
POINTS = [(1.1, -0.6, 0.4)] * 3 + [(0.0, 0.0, 1.0), (1.0, 1.0, 1.0), (0.5, -0.75, 1.25)]


class Writer:
    def __init__(self, number: int):
        self.random = random.Random(number)
        self.lines = [
            "def f(a, b, c, n, k):",
            "    p = a; q = b; r = Item(c.x * 2.0, a); s = Item(3.0); t = (p, q)",
            "    d = {'u': p, 'v': 1.5}; l = [1.0, 2.0]; m = l",
        ]
        self.block(1, self.random.randint(4, 9))
        self.lines.append(
            "    return (a.x * 1.1 + b.x * 1.3 + c.x * 1.7 + p.x + q.x * 0.5 + r.x * 0.25 + s.x * 0.7 + t[0].x * 0.3"
            " + t[1].x * 0.9 + d['u'].x + d['v'] + sum(l) + 2 * sum(m) + (1.0 if p is q else 0.0)"
            " + (2.0 if r is s else 0.0) + (r.other.x if r.other is not None else 0.0))"
        )

    def choose(self, *options: str) -> str:
        return self.random.choice(options)

    def item(self) -> str:
        return self.choose(*NAMES, "t[0]", "t[1]", "d['u']")

    def number(self) -> str:
        kind = self.random.random()
        if kind < 0.5:
            return f"{self.item()}.x"
        if kind < 0.75:
            return f"{self.choose(*LISTS)}[{self.choose('0', '-1', 'k')}]"
        return self.choose("d['v']", f"len({self.choose(*LISTS)}) * 0.1", "0.5", "1.25", "-0.75")

    def statement(self) -> str:
        statements: list[tuple[int, Callable[[], str]]] = [
            (8, lambda: f"{self.choose(*NAMES)} = {self.item()}"),
            (3, lambda: f"{self.choose(*NAMES[3:])} = Item({self.number()})"),
            (8, lambda: f"{self.item()}.x = {self.number()} * 0.9 + {self.number()} * 0.3"),
            (2, lambda: f"{self.item()}.x += {self.number()}"),
            (2, lambda: f"t = ({self.item()}, {self.item()})"),
            (2, lambda: f"d['u'] = {self.item()}"),
            (1, lambda: f"d['v'] = {self.number()}"),
            (2, lambda: f"{self.choose('r', 's')}.other = {self.choose(self.item(), 'None')}"),
            (1, lambda: f"{self.choose(*LISTS)}.append({self.number()})"),
            (1, lambda: f"{self.choose(*LISTS)}[{self.choose('0', '-1')}] = {self.number()}"),
            (1, lambda: f"{self.choose(*LISTS)} = {self.choose(*LISTS, 'list(l)', '[0.5, ' + self.number() + ']')}"),
            (2, lambda: f"{self.choose(*NAMES[:3])}, {self.choose(*NAMES[3:])} = {self.item()}, {self.item()}"),
        ]
        return self.random.choices([s for _, s in statements], [w for w, _ in statements])[0]()

    def block(self, depth: int, count: int) -> None:
        pad = "    " * depth
        for _ in range(count):
            kind = self.random.random()
            if depth > 2 or kind < 0.86:
                self.lines.append(pad + self.statement())
            elif kind < 0.93:
                test = self.choose(f"{self.number()} > {self.number()}", "n > 2", f"{self.item()} is {self.item()}")
                self.lines.append(f"{pad}if {test}:")
                self.block(depth + 1, self.random.randint(1, 3))
                if self.random.random() < 0.5:
                    self.lines.append(f"{pad}else:")
                    self.block(depth + 1, self.random.randint(1, 2))
            else:
                self.lines.append(f"{pad}for i{depth} in range({self.choose('n', '3')}):")
                self.block(depth + 1, self.random.randint(1, 4))


class Mismatch(AssertionError):
    pass


def check(number: int) -> None:
    """The program of this number; Unsupported if native code refuses it."""
    writer = Writer(number)
    source = "\n".join(writer.lines) + "\n"
    filename = f"<aliasing {number}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    namespace: dict[str, Any] = {"Item": Item}
    exec(compile(source, filename, "exec"), namespace)
    f = namespace["f"]
    shared, n, k = (
        writer.random.choice((0, 0, 0, 1, 2)),
        writer.random.choice((0, 1, 2, 3)),
        writer.random.choice((0, 1)),
    )

    def arguments(*values: float) -> tuple[Item, ...]:
        a, b, c = map(Item, values)
        return a, a if shared == 1 else b, b if shared == 2 else c

    def outcome(function: Callable[..., Any]) -> tuple[Any, list[float]]:
        args = arguments(*values)
        return function(*args, n, k), [arg.x for arg in args]

    values = list(writer.random.choice(POINTS))

    expected, found = outcome(f), outcome(zyg.jit(f, vectormath=False))
    if expected != found and math.isfinite(expected[0]):
        raise Mismatch(f"CPython gives {expected}, zyg {found}, for n={n}, k={k}, shared={shared}:\n{source}")
    if shared or not math.isfinite(expected[0]):
        return
    gradients = zyg.jit(zyg.grad(f, (0, 1, 2)))(*arguments(*values), n, k)
    for at, g in enumerate(gradients):
        moved = lambda x: f(*arguments(*values[:at], x, *values[at + 1 :]), n, k)  # noqa: B023
        numerical, actual = derivative(moved, values[at], 1e-4), (g.x or 0.0) if g is not None else 0.0
        # A comparison may lie within the first step, hence a second, smaller one.
        close = any(abs(d - actual) <= 1e-5 * (1 + abs(d)) for d in (numerical, derivative(moved, values[at], 1e-6)))
        if not close and not kinked(moved, values[at]):
            raise Mismatch(f"derivative {at}: differences {numerical}, zyg {gradients}, n={n}, k={k}:\n{source}")


if __name__ == "__main__":
    sys.exit(search(check, __doc__))
