"""Programs as Python people write them (dictionaries, lists, objects, recursion), for gradients through the Python back end; and
particles written with scalars, with a class and with dictionaries, for native code.

Where a program has an elementary function, it takes it from `m`: HIPS autograd wants its own NumPy there, all others `math`.
"""

from __future__ import annotations

from typing import Any


def pendulum(theta: float, p: dict[str, float], m: Any) -> float:
    """A damped pendulum whose constants are in a dictionary."""
    omega = 0.0
    energy = 0.0
    for _ in range(100):
        pull = p["g"] * m.sin(theta)
        omega = omega - (pull + p["damping"] * omega) * p["h"]
        theta = theta + omega * p["h"]
        energy = energy + 0.5 * omega * omega - p["g"] * m.cos(theta)
    return energy


def horner(x: float, coefficients: list[float], m: Any) -> float:
    """A polynomial by its list of coefficients, at many points."""
    total = 0.0
    for _ in range(20):
        value = 0.0
        for c in coefficients:
            value = value * x + c
        total = total + value * value
        x = x * 0.9
    return total


class Body:
    def __init__(self, x: Any, v: Any):
        self.x = x
        self.v = v

    @property
    def energy(self) -> Any:
        return 0.5 * self.v * self.v + 0.5 * self.x * self.x

    def step(self, force: Any, h: float) -> None:
        self.v = self.v + force * h
        self.x = self.x + self.v * h


def springs(x: float, v: float, m: Any) -> float:
    """Two coupled bodies, as objects that change."""
    a, b = Body(x, v), Body(-x, 0.5 * v)
    for _ in range(40):
        try:
            pull = 0.3 * (b.x - a.x)
            a.step(pull - a.x, 0.05)
            b.step(-pull - b.x, 0.05)
        except ZeroDivisionError:
            return 0.0
    return a.energy + b.energy


def build(z: Any, depth: int) -> Any:
    return (build(z * 0.9, depth - 1), build(z + 0.1, depth - 1)) if depth else z


def fold(tree: Any, m: Any) -> Any:
    if isinstance(tree, tuple):
        left, right = tree
        return m.tanh(fold(left, m) + 0.5 * fold(right, m))
    return tree * tree


def tree(z: float, m: Any) -> float:
    """A recursion over a nested structure."""
    return fold(build(z, 6), m)


def viterbi(p: dict[str, float], m: Any) -> float:
    """A table that grows, filled from its own entries."""
    table = {0: (p["a"], p["b"])}
    for k in range(1, 40):
        u, v = table[k - 1]
        table[k] = (0.5 * u + m.sin(v * p["c"]), 0.4 * v + u * p["a"])
    return table[39][0] * table[39][1]


def history(x: float, rate: float, m: Any) -> float:
    """A list that grows, each item made of the last ones."""
    values = [x, 0.5 * x]
    for _ in range(100):
        values.append(rate * values[-1] - 0.2 * values[-2] + 0.1)
    return sum(values)


def reverse_polish(x: float, y: float, m: Any) -> float:
    """A stack that things are pushed on and popped from."""
    stack: list[float] = []
    for _ in range(20):
        for word in ("x", "y", "+", "x", "*", "y", "-", "x", "*"):
            if word == "x":
                stack.append(x)
            elif word == "y":
                stack.append(y)
            else:
                b, a = stack.pop(), stack.pop()
                stack.append(a + b if word == "+" else a - b if word == "-" else 0.5 * a * b)
    return sum(stack)


class Account:
    def __init__(self, balance: Any):
        self.balance = balance
        self.entries: list[Any] = []

    def rate(self) -> Any:
        return 0.01 * self.balance

    def deposit(self, amount: Any, fee: float = 0.1) -> None:
        self.balance += amount - fee
        self.entries.append(amount)

    def accrue(self, share: Any) -> None:
        self.deposit(self.rate() * share)


def ledger(x: float, share: float, m: Any) -> float:
    """An object whose methods call each other."""
    account = Account(x)
    for _ in range(50):
        account.accrue(share)
    return account.balance + sum(account.entries)


def counts(weights: dict[str, float], m: Any) -> float:
    """Weights by what is counted."""
    found: dict[str, float] = {}
    for word in "the cat the dog a cat the end".split() * 10:
        found[word] = found.get(word, 0.0) + 0.1 * weights[word]
    total = 0.0
    for word, weight in found.items():
        if word in weights:
            total += weight * weight
    return total


CONSTANTS = {"g": 9.81, "damping": 0.2, "h": 0.01}
PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "pendulum": (pendulum, (0.5, CONSTANTS)),
    "horner": (horner, (0.8, [0.5, -1.0, 0.25, 2.0, 1.5, -0.75, 0.3, 1.0])),
    "springs": (springs, (1.0, 0.5)),
    "tree": (tree, (0.7,)),
    "table": (viterbi, ({"a": 0.9, "b": 0.3, "c": 1.1},)),
    "history": (history, (0.7, 0.9)),
    "stack": (reverse_polish, (0.7, 0.4)),
    "ledger": (ledger, (0.7, 0.5)),
    "counts": (counts, ({"the": 0.9, "cat": 0.3, "dog": 1.1, "a": 0.2, "end": 0.5},)),
}


# ------------------------------------------------------------------------------ native: three ways to write one thing


def orbit_scalars(x: float, y: float, u: float, v: float, n: int) -> float:
    for _ in range(n):
        r2 = x * x + y * y + 0.01
        pull = -0.01 / (r2 * r2)
        u, v = u + pull * x, v + pull * y
        x, y = x + 0.01 * u, y + 0.01 * v
    return x * x + y * y


class Point:
    def __init__(self, x: float, y: float):
        self.x = x
        self.y = y

    def __add__(self, other: Point) -> Point:
        return Point(self.x + other.x, self.y + other.y)

    def scaled(self, by: float) -> Point:
        return Point(by * self.x, by * self.y)

    @property
    def square(self) -> float:
        return self.x * self.x + self.y * self.y


def orbit_points(x: float, y: float, u: float, v: float, n: int) -> float:
    place, speed = Point(x, y), Point(u, v)
    for _ in range(n):
        r2 = place.square + 0.01
        speed = speed + place.scaled(-0.01 / (r2 * r2))
        place = place + speed.scaled(0.01)
    return place.square


def orbit_dicts(x: float, y: float, u: float, v: float, n: int) -> float:
    place, speed = {"x": x, "y": y}, {"x": u, "y": v}
    for _ in range(n):
        r2 = place["x"] * place["x"] + place["y"] * place["y"] + 0.01
        pull = -0.01 / (r2 * r2)
        for k in ("x", "y"):
            speed[k] += pull * place[k]
        for k in ("x", "y"):
            place[k] += 0.01 * speed[k]
    return place["x"] * place["x"] + place["y"] * place["y"]


ORBIT = (1.0, 0.2, 0.1, 0.9, 1000)
WAYS = {"scalars": orbit_scalars, "Point": orbit_points, "dict": orbit_dicts}

__all__ = ["ORBIT", "PROGRAMS", "WAYS"]
