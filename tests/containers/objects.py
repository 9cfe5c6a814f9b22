"""Random programs about lists of objects that are arguments, with objects under several names: native code gives what CPython gives, or
refuses; so do gradients, which then go through Python.

python -m tests.containers.objects --count 400 --seed 0
"""

from __future__ import annotations

import argparse
import math
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import zyg

from ..oracles.differences import kinked
from .drawn import function, outcome


@dataclass
class Point:
    x: float
    y: float = 2.0

    def product(self, other: Any) -> float:
        return self.x * other.y - self.y

    def move(self, step: float) -> None:
        self.x += step * self.y


class Body:
    def __init__(self, x: float, y: float):
        self.x, self.y = x, y

    @property
    def both(self) -> float:
        return self.x * self.y

    def product(self, other: Any) -> float:
        return self.x * other.y + self.both

    def move(self, step: float) -> None:
        self.x += step * self.y


class Holder:
    def __init__(self, first: Any, second: Point, mass: float):
        self.first, self.second, self.mass = first, second, mass

    @property
    def x(self) -> float:
        return self.first.x * self.mass

    @property
    def y(self) -> float:
        return self.second.y

    def product(self, other: Any) -> float:
        return self.first.product(other) + self.second.x

    def move(self, step: float) -> None:
        self.mass += step


HELPERS = """
def total(objects):
    return sum(o.x * o.y for o in objects)

def last(objects):
    return objects[-1]

def moved(o, step):
    o.move(step)
    return o.x

"""
OBJECTS = ["p", "q", "one", "items[0]", "items[k]", "items[-1]", "others[1]", "last(items)"]
READS = [
    "total({l})", "{o}.x", "{o}.y * {p}.x", "{o}.product({p})", "sum(o.product({o}) for o in {l})", "len({l}) * x",
    "max({l}, key=lambda o: o.x).y", "sorted({l}, key=lambda o: o.y)[k].x", "sum(o.x for o in reversed({l}))",
    "sum(a.x * b.y for a, b in zip({l}, items))", "min(o.y for o in {l})", "(1.0 if {o} == {p} else {o}.x)",
]  # fmt: skip
WRITES = [
    "{o}.move(0.1)", "{o}.move(x)", "t += moved({o}, t)", "others.append({o})", "items.append({o})", "items[1], items[2] = items[2], items[1]",
    "others[0] = {o}", "items[3] = {o}", "items.reverse()", "others.sort(key=lambda o: o.y)", "q = items.pop()",
    "t += 1.0 if {o} is {p} else 2.0", "items.sort(key=lambda o: -o.y)",
]  # fmt: skip


def statement(rng: random.Random, indent: int, writes: float, grows: bool = True) -> list[str]:
    pad = "    " * indent
    given = {"o": rng.choice(OBJECTS), "p": rng.choice(OBJECTS), "l": rng.choice(["items", "others", "items[2:9]"])}
    drawn = rng.random()
    if indent < 3 and drawn < 0.2:
        head = rng.choice(
            ["for q in items:", "for k, p in enumerate(items):", "for k in range(5):", "if t > x:", "for p in others:"]
        )
        grows = grows and "range" in head  # a list that grows while a loop goes through it has no end
        body = [line for _ in range(rng.randint(1, 2)) for line in statement(rng, indent + 1, writes, grows)]
        return [pad + head, *body, pad + "    t += x * p.x * 0.01"]
    if drawn < 0.2 + writes:
        kinds = [w for w in WRITES if grows or not ("append" in w or "pop" in w)]
        return [pad + rng.choice(kinds).format(**given)]
    if drawn < 0.45:
        kinds = ["p = {o}", "q = {o}", "p, q = q, p", "others = items[1:7]", "others = [o for o in items if o.x > x]",
                 "others = list(items)", "p = {o} if t > x else {p}", "others = [items[2], items[4], p]"]  # fmt: skip
        return [pad + rng.choice(kinds).format(**given)]
    return [pad + f"t += {rng.choice(READS).format(**given)} * 0.1"]


def program(seed: int) -> str:
    rng = random.Random(seed)
    writes = rng.choice([0.0, 0.0, 0.05, 0.15])
    lines = ["def f(items, one, x):", "    others = items[:6]", "    p, q, t, k = items[3], one, 0.0, 2"]
    lines += [line for _ in range(rng.randint(3, 8)) for line in statement(rng, 1, writes)]
    return HELPERS + "\n".join([*lines, "    return t + total(items) + p.x * q.y"]) + "\n"


def arguments(seed: int) -> tuple[Callable[[float], tuple[Any, ...]], int]:
    """What makes the arguments, moved by a step along a direction; how many numbers there are in them."""
    rng = random.Random(-seed)
    count, kind = rng.choice([4, 10, 45]), rng.choice([Point, Body, Holder])
    alias, twice = rng.random() < 0.2, rng.random() < 0.1

    def made(step: float) -> tuple[Any, ...]:
        numbers = iter(range(1, 10**6))

        def number() -> float:
            n = next(numbers)
            return 0.3 + math.fmod(0.618 * n, 1.7) + step * math.cos(n)

        def one() -> Any:
            if kind is Holder:
                return Holder(Body(number(), number()), Point(number(), number()), number())
            return kind(number(), number())

        items = [one() for _ in range(count)]
        if twice:
            items[1] = items[2]
        return items, items[2] if alias else one(), number()

    return made, count


def numbers(value: Any) -> list[float]:
    """All numbers in arguments, in order; those of an object that is met again, again."""
    if isinstance(value, (list, tuple)):
        return [n for item in value for n in numbers(item)]
    return [value] if isinstance(value, float) else numbers(list(vars(value).values()))


def along(args: Any, gradient: Any, made: Callable[[float], tuple[Any, ...]], seen: set[int]) -> float:
    """The derivative along the direction of `arguments`: each object counts once."""
    if isinstance(args, float):
        raise AssertionError("numbers are taken by their owners")
    total = 0.0
    ahead, behind = made(1.0), made(-1.0)

    def walk(x: Any, d: Any, one: Any, other: Any) -> None:
        nonlocal total
        if isinstance(x, float):
            total += (d or 0.0) * (one - other) / 2.0
            return
        if d is None or id(x) in seen:
            return
        seen.add(id(x))
        if isinstance(x, (list, tuple)):
            for parts in zip(x, d, one, other):
                walk(*parts)
        else:
            for name in vars(x):
                walk(getattr(x, name), getattr(d, name, None), getattr(one, name), getattr(other, name))

    walk(args, gradient, ahead, behind)
    return total


def search(count: int, seed: int) -> dict[str, int]:
    """Compares values, effects and derivatives of programs; how many were native, and how many refused."""
    counts = {"native": 0, "refused": 0}
    for number in range(seed, seed + count):
        text = program(number)
        f = function(text, f"<objects {number}>")
        made, _ = arguments(number)
        args = made(0.0)
        expected = outcome(f, *args)
        own = made(0.0)
        before = list(own[0])
        try:
            found = outcome(zyg.jit(f), *own)
        except zyg.ZygError:
            counts["refused"] += 1
            assert numbers(own) == numbers(made(0.0)), (
                f"a refused call has changed arguments, of seed {number}:\n{text}"
            )
        else:
            counts["native"] += 1
            if isinstance(expected, type):
                assert found is expected, f"{found}; {expected} is expected of seed {number}:\n{text}"
                continue
            assert math.isclose(found, expected, rel_tol=1e-9), f"{found}; {expected} is expected of {number}:\n{text}"
            same = numbers(own) == numbers(args) and all(any(p is o for o in (*before, own[1])) for p in own[0])
            assert same, f"arguments are not left as in CPython by seed {number}:\n{text}"
        if isinstance(expected, type):
            continue
        own = made(0.0)
        slope = (f(*made(1e-6)) - f(*made(-1e-6))) / 2e-6
        kept = made(0.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", zyg.FallbackWarning)
            value, gradient = zyg.withgradient(f, *own)
        assert math.isclose(value, expected, rel_tol=1e-9), f"{value}; {expected} is expected of seed {number}:\n{text}"
        assert numbers(own) == numbers(args), f"arguments are not left as in CPython by seed {number}:\n{text}"
        got = along(kept, gradient, made, set())
        close = math.isclose(got, slope, rel_tol=1e-4, abs_tol=1e-4)
        assert close or kinked(lambda s: f(*made(s)), 0.0), f"{got}; {slope} is expected of seed {number}:\n{text}"  # noqa: B023
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(search(options.count, options.seed))
