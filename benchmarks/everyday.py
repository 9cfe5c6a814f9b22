"""What people write in Python with numbers in it, one habit of the language at a time: for gradients through the Python back end.

Each program takes a tenth of a millisecond or more, and numbers or containers of numbers; its value is a number.
"""

from __future__ import annotations

import enum
import functools
import heapq
import itertools
import json
import math
import operator
import random
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any

PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {}


def registering(programs: dict[str, tuple[Any, tuple[Any, ...]]]) -> Callable[..., Callable[[Any], Any]]:
    """`@program(*args)` for programs that go there, with their arguments."""

    def program(*args: Any) -> Callable[[Any], Any]:
        def register(function: Any) -> Any:
            programs[function.__name__.replace("_", " ").strip()] = function, args
            return function

        return register

    return program


program = registering(PROGRAMS)
VALUES = [0.5 + 0.002 * ((k * 37) % 503) for k in range(500)]  # no two of them equal
OTHERS = [0.1 + 0.004 * ((k * 53) % 509) for k in range(500)]
ROWS = [[0.1 * ((3 * i + 7 * j) % 11) - 0.4 for j in range(12)] for i in range(12)]
COLUMNS = [[0.9 * x for x in row] for row in ROWS]
WORDS = [f"w{(k * k) % 17}" for k in range(500)]
WEIGHTS = {f"w{k}": 0.1 + 0.05 * k for k in range(17)}


# ---------------------------------------------------------------------------------------------------- loops


@program(0.7, 0.3)
def plain_arithmetic(x: float, y: float) -> float:
    total = 0.0
    for k in range(2000):
        x = x + 0.01 * (y - x * 0.5)
        y = y - 0.02 * x * y + 0.001 * k
        total += x * y
    return total


@program(0.7, 0.3)
def branches(x: float, y: float) -> float:
    total = 0.0
    for k in range(1000):
        if x > y:
            x -= 0.1 * y
        elif k % 3 == 0 and y < 2.0:
            x += 0.3
        else:
            y = y * 0.99
        total = max(total * 0.9, x) + min(y, 1.5)
    return total


@program(2.0)
def newton(a: float) -> float:
    total = 0.0
    for k in range(300):
        x = a + 0.1 * k
        while abs(x * x - a) > 1e-12:
            x = 0.5 * (x + a / x)
        total += x
    return total


@program(VALUES, OTHERS)
def zip_loop(xs: list[float], ys: list[float]) -> float:
    total = 0.0
    for _ in range(5):
        for x, y in zip(xs, ys):
            total += x * y - 0.5 * x
    return total


@program(VALUES)
def enumerate_loop(xs: list[float]) -> float:
    total = 0.0
    for _ in range(5):
        for k, x in enumerate(xs):
            total += x * x * k
    return total


@program(VALUES)
def list_items(xs: list[float]) -> float:
    values = [0.0] * len(xs)
    for _ in range(2):
        for i in range(1, len(xs)):
            values[i] = 0.5 * values[i - 1] + xs[i] * xs[i - 1]
    return values[-1]


@program(VALUES)
def in_place_items(xs: list[float]) -> float:
    totals = [0.0] * 10
    for _ in range(1):
        for k in range(500):
            totals[k % 10] += 0.1 * xs[k] * totals[(k + 1) % 10] + 0.01
    return sum(totals)


@program(WEIGHTS)
def dict_items(weights: dict[str, float]) -> float:
    total = 0.0
    for _ in range(200):
        for name, weight in weights.items():
            if name != "w3":
                total += weight * weight
    return total


@program(WEIGHTS)
def dict_values(weights: dict[str, float]) -> float:
    total = 0.0
    for _ in range(300):
        for weight in weights.values():
            total += weight * weight
    return total


@program(WEIGHTS)
def dict_updates(weights: dict[str, float]) -> float:
    state = dict.fromkeys(weights, 1.0)
    for _ in range(100):
        for name in state:
            state[name] = state[name] * 0.9 + weights[name]
            state[name] += 0.01
    return sum(state.values())


@program(VALUES)
def nested_loops(xs: list[float]) -> float:
    """Pairs of particles."""
    energy = 0.0
    for i in range(60):
        for j in range(i + 1, 60):
            d = xs[i] - xs[j]
            energy += 1.0 / (d * d + 0.1)
    return energy


@program(VALUES)
def slices(xs: list[float]) -> float:
    smooth = [sum(xs[i : i + 5]) / 5.0 for i in range(len(xs) - 4)]
    total = 0.0
    for i in range(0, len(smooth), 4):
        a = smooth[i : i + 4]
        total += a[0] * a[-1]
    return total


# ------------------------------------------------------------------------------------------ comprehensions


@program(VALUES)
def comprehensions(xs: list[float]) -> float:
    squares = [x * x for x in xs]
    for _ in range(4):
        squares = [0.5 * x + 0.1 for x in squares if x > 0.0]
    return sum(squares)


@program(ROWS, COLUMNS)
def matmul(a: list[list[float]], b: list[list[float]]) -> float:
    n = len(a)
    c = [[sum(a[i][k] * b[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
    return sum(sum(row) for row in c)


@program(ROWS, COLUMNS)
def matmul_loops(a: list[list[float]], b: list[list[float]]) -> float:
    n = len(a)
    c = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c[i][j] += a[i][k] * b[k][j]
    return sum(map(sum, c))


@program(ROWS, VALUES[:12])
def matvec_zip(a: list[list[float]], x: list[float]) -> float:
    for _ in range(6):
        x = [sum(w * v for w, v in zip(row, x)) for row in a]
        x = [v / (1.0 + abs(v)) for v in x]
    return sum(x)


@program(VALUES)
def generator_expressions(xs: list[float]) -> float:
    total = 0.0
    for k in range(5):
        total += sum(x * x for x in xs) + max(x - k for x in xs)
    return total


@program(WEIGHTS)
def dict_comprehensions(weights: dict[str, float]) -> float:
    for _ in range(100):
        total = sum(weights.values())
        weights = {name: weight / total + 0.1 for name, weight in weights.items()}
    return weights["w3"] * weights["w5"]


@program(ROWS)
def transposed(rows: list[list[float]]) -> float:
    for _ in range(6):
        columns = [list(c) for c in zip(*rows)]
        means = [sum(c) / len(c) for c in columns]
        rows = [[x - 0.5 * m for x, m in zip(row, means)] for row in rows]
    return sum(map(sum, rows))


# ----------------------------------------------------------------------------------------------- functions


def _weighted(x: float, y: float, by: float = 0.5, *, shift: float = 0.0) -> float:
    return by * x + (1.0 - by) * y + shift


@program(0.7, 0.3)
def calls(x: float, y: float) -> float:
    for _ in range(1000):
        x = _weighted(x, y)
        y = _weighted(y, x, 0.9)
    return x * y


@program(0.7, 0.3)
def keyword_calls(x: float, y: float) -> float:
    for _ in range(1000):
        x = _weighted(x, y, shift=0.01)
        y = _weighted(y, x, by=0.9)
    return x * y


def _total(*values: float) -> float:
    return values[0] + 0.5 * values[-1]


def _options(**options: float) -> float:
    return options["a"] * 0.5 + options.get("b", 0.1)


@program(0.7, 0.3)
def starred_calls(x: float, y: float) -> float:
    for _ in range(500):
        x = _total(x, y, 0.1)
        y = _options(a=x, b=y)
        x = 0.5 * _total(*[x, y])
    return x * y


@program(0.7, 0.3)
def closures(x: float, y: float) -> float:
    def scaled(k: float) -> Callable[[float], float]:
        return lambda v: k * v + 0.1 * y

    for _ in range(500):
        f = scaled(x)
        x = 0.5 * f(0.3) + 0.2 * f(0.7)
    return x


@program(0.7)
def nonlocal_counter(x: float) -> float:
    total = 0.0

    def add(v: float) -> None:
        nonlocal total
        total += v * v

    for k in range(2000):
        add(x + 0.01 * k)
    return total


def _fibonacci(n: int, x: float) -> float:
    return x if n < 2 else _fibonacci(n - 1, x) + 0.5 * _fibonacci(n - 2, x)


@program(0.7)
def recursion(x: float) -> float:
    return _fibonacci(16, x)


@program(0.7, 0.3)
def memoised(x: float, y: float) -> float:
    known: dict[tuple[int, int], float] = {}

    def paths(i: int, j: int) -> float:
        if i == 0 or j == 0:
            return 1.0
        if (i, j) not in known:
            known[i, j] = x * paths(i - 1, j) + y * paths(i, j - 1)
        return known[i, j]

    return paths(12, 12)


@program(VALUES)
def map_lambda(xs: list[float]) -> float:
    total = 0.0
    for _ in range(5):
        total += sum(map(lambda v: v * v + 0.1, xs))  # noqa: C417
        xs = list(map(lambda v: 0.9 * v, xs))  # noqa: C417
    return total


@program(VALUES)
def filter_lambda(xs: list[float]) -> float:
    total = 0.0
    for k in range(5):
        total += sum(filter(lambda v: v > 0.1 * k, xs))
    return total


@program(VALUES, OTHERS)
def map_operator(xs: list[float], ys: list[float]) -> float:
    total = 0.0
    for _ in range(10):
        total += sum(map(operator.mul, xs, ys))
    return total


@program(VALUES)
def reduced(xs: list[float]) -> float:
    product = functools.reduce(operator.mul, xs)
    return sum(itertools.accumulate(xs)) + functools.reduce(lambda a, b: 0.5 * a + b, xs) + product


@program(0.7, 0.3)
def dispatch_table(x: float, y: float) -> float:
    actions = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b, "mean": lambda a, b: 0.5 * (a + b)}
    for _ in range(500):
        for name in ("mul", "add", "mean"):
            x = 0.9 * actions[name](x, y)
    return x


def _scaled_by(factor: float) -> Callable[[Any], Any]:
    def decorate(f: Any) -> Any:
        @functools.wraps(f)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            return factor * f(*args, **kwargs)

        return wrapped

    return decorate


@_scaled_by(0.9)
def _decorated(x: float, y: float) -> float:
    return x * y + 0.1


@program(0.7, 0.3)
def decorators(x: float, y: float) -> float:
    for _ in range(800):
        x = _decorated(x, y)
    return x


@program(0.7, 0.3)
def partials(x: float, y: float) -> float:
    step = functools.partial(_weighted, y, by=0.3)
    for _ in range(800):
        x = step(x) + 0.01
    return x


# ---------------------------------------------------------------------------------------------- generators


def _decaying(x: float, n: int) -> Iterator[float]:
    for _ in range(n):
        yield x
        x = 0.95 * x + 0.01


@program(0.7)
def generators(x: float) -> float:
    total = 0.0
    for _ in range(50):
        for v in _decaying(x, 50):
            total += v * v
    return total


@program(0.7, 0.3)
def generators_in_step(x: float, y: float) -> float:
    waves = (math.sin(y + 0.1 * k) for k in range(300))
    total = 0.0
    for k, (a, b) in enumerate(zip(_decaying(x, 300), waves), 1):
        total += a * b / k + 0.1 * (a - b) * (a - b)
    return total + sum(a * b for a, b in zip(_decaying(y, 200), VALUES))


@program(0.7, 0.3)
def generators_in_a_row(x: float, y: float) -> float:
    total = 0.0
    for v in itertools.chain(_decaying(x, 200), (y * math.cos(0.1 * k) for k in range(200))):
        total = 0.9 * total + v * v
    rows = (_decaying(x + 0.1 * k, 40) for k in range(5))
    for v in map(math.sin, itertools.chain.from_iterable(rows)):
        total += 0.5 * v * v
    return total


@program(0.7, VALUES)
def yield_from(x: float, xs: list[float]) -> float:
    def both() -> Iterator[float]:
        yield from _decaying(x, 1000)
        yield from xs

    return sum(v * v for v in both())


@program(VALUES)
def itertools_chain(xs: list[float]) -> float:
    total = 0.0
    for a, b in itertools.pairwise(xs):
        total += (b - a) * (b - a)
    for v in itertools.chain(xs, reversed(xs)):
        total += v * v
    for a, b in itertools.combinations(xs[:30], 2):
        total += a * b
    return total


# ------------------------------------------------------------------------------------------------- objects


class Particle:
    def __init__(self, x: Any, v: Any):
        self.x = x
        self.v = v

    def kick(self, force: Any) -> None:
        self.v += 0.1 * force

    def drift(self, h: float = 0.1) -> None:
        self.x += h * self.v

    @property
    def energy(self) -> Any:
        return 0.5 * self.v * self.v + 0.5 * self.x * self.x


@program(0.7, 0.3)
def attributes(x: float, v: float) -> float:
    p = Particle(x, v)
    for _ in range(2000):
        p.x += 0.1 * p.v
        p.v -= 0.1 * p.x
    return p.x * p.v


@program(0.7, 0.3)
def methods(x: float, v: float) -> float:
    p = Particle(x, v)
    total = 0.0
    for _ in range(600):
        p.kick(-p.x)
        p.drift()
        total += p.energy
    return total


@program([(0.1 * k, 0.3 - 0.05 * k) for k in range(10)])
def lists_of_objects(states: list[tuple[float, float]]) -> float:
    particles = [Particle(x, v) for x, v in states]
    for _ in range(60):
        center = sum(p.x for p in particles) / len(particles)
        for p in particles:
            p.kick(center - p.x)
            p.drift(0.05)
    return sum(p.energy for p in particles)


class _Vec:
    def __init__(self, x: Any, y: Any):
        self.x = x
        self.y = y

    def __add__(self, other: Any) -> Any:
        return _Vec(self.x + other.x, self.y + other.y)

    def __sub__(self, other: Any) -> Any:
        return _Vec(self.x - other.x, self.y - other.y)

    def __mul__(self, by: Any) -> Any:
        return _Vec(self.x * by, self.y * by)

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return _Vec(-self.x, -self.y)

    def dot(self, other: Any) -> Any:
        return self.x * other.x + self.y * other.y


@program(1.0, 0.2)
def operators(x: float, y: float) -> float:
    place, speed = _Vec(x, y), _Vec(-y, x)
    for _ in range(200):
        pull = -place * (1.0 / (place.dot(place) + 0.1))
        speed = speed + 0.1 * pull
        place = place + speed * 0.1
    return place.dot(speed)


@dataclass
class Point:
    x: Any
    y: Any
    z: Any = 0.0

    def __add__(self, other: Point) -> Point:
        return Point(self.x + other.x, self.y + other.y, self.z + other.z)

    def scaled(self, by: Any) -> Point:
        return Point(by * self.x, by * self.y, by * self.z)

    def dot(self, other: Point) -> Any:
        return self.x * other.x + self.y * other.y + self.z * other.z


@program(1.0, 0.2)
def dataclasses(x: float, y: float) -> float:
    place, speed = Point(x, y), Point(-y, x, 0.1)
    for _ in range(200):
        speed = speed + place.scaled(-0.1 / (place.dot(place) + 0.1))
        place = place + speed.scaled(0.1)
    return place.dot(speed)


@dataclass(frozen=True)
class _State:
    position: Any
    speed: Any = 0.0
    history: tuple[Any, ...] = field(default=())


@program(1.0, 0.2)
def frozen_dataclasses(x: float, v: float) -> float:
    state = _State(x, v)
    for _ in range(100):
        state = _State(state.position + 0.1 * state.speed, state.speed - 0.1 * state.position)
        state = replace(state, speed=0.99 * state.speed)
    return state.position * state.speed


@dataclass(slots=True)
class Slotted:
    value: Any
    weight: Any

    def step(self, by: Any) -> None:
        self.value = self.value * 0.9 + by * self.weight


@program(1.0, 0.2)
def slotted_classes(x: float, w: float) -> float:
    a, b = Slotted(x, w), Slotted(w, x)
    for _ in range(800):
        a.step(b.value)
        b.step(0.5)
    return a.value * b.value


_Sample = namedtuple("_Sample", "x y weight")


@program(VALUES, OTHERS)
def named_tuples(xs: list[float], ys: list[float]) -> float:
    samples = [_Sample(x, y, 0.5 * x) for x, y in zip(xs, ys)]
    total = 0.0
    for s in samples:
        total += s.weight * (s.x - s.y) * (s.x - s.y)
    return total


@program(1.0, 0.2)
def tuples(x: float, y: float) -> float:
    def rotate(p: tuple[float, float], by: float) -> tuple[float, float]:
        return (p[0] - by * p[1], p[1] + by * p[0])

    state = (x, y)
    for _ in range(1000):
        state = rotate(state, 0.05)
        a, b = state
        state = (0.99 * a, b)
        x, y = y, x
    return state[0] * state[1] * x


class _Shape:
    def __init__(self, scale: Any):
        self.scale = scale

    def area(self) -> Any:
        return self.scale * self.scale

    def cost(self) -> Any:
        return 0.1 * self.area() + self.scale


class _Circle(_Shape):
    def __init__(self, scale: Any, factor: Any):
        super().__init__(scale)
        self.factor = factor

    def area(self) -> Any:
        return self.factor * super().area()


class _Ring(_Circle):
    def area(self) -> Any:
        return super().area() - 0.25 * self.scale


@program(1.0, 0.2)
def inheritance(x: float, y: float) -> float:
    total = 0.0
    for k in range(100):
        shapes = (_Shape(x), _Circle(y, 3.1), _Ring(x, 0.01 * k))
        total += sum(shape.cost() for shape in shapes)
    return total


class _Limited:
    count = 0

    def __init__(self, value: Any):
        self._value = value

    @property
    def value(self) -> Any:
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        self._value = value if value < 10.0 else 10.0

    @classmethod
    def between(cls, a: Any, b: Any) -> Any:
        return cls(0.5 * (a + b))

    @staticmethod
    def decay(value: Any, rate: Any) -> Any:
        return value - rate * value

    def __call__(self, by: Any) -> Any:
        return self._value * by


@program(1.0, 0.2)
def properties(x: float, y: float) -> float:
    a = _Limited(x)
    for _ in range(800):
        a.value = a.value * 0.9 + y
        a.value = _Limited.decay(a.value, 0.05)
    return a.value


@program(1.0, 0.2)
def class_methods(x: float, y: float) -> float:
    for _ in range(600):
        a = _Limited.between(x, y)
        x = a(0.9) + 0.01
    return x


class _Matrix:
    def __init__(self, rows: list[list[Any]]):
        self.rows = rows

    def __getitem__(self, at: tuple[int, int]) -> Any:
        return self.rows[at[0]][at[1]]

    def __setitem__(self, at: tuple[int, int], value: Any) -> None:
        self.rows[at[0]][at[1]] = value

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)


@program(ROWS)
def containers(rows: list[list[float]]) -> float:
    m = _Matrix([list(row) for row in rows])
    n = len(m)
    for _ in range(3):
        for i in range(n):
            for j in range(n):
                m[i, j] = m[i, j] + 0.1 * m[j, i]
    total = 0.0
    for row in m:
        for x in row:
            total += x * x
    return total


class _Node:
    def __init__(self, key: Any, following: Any = None):
        self.key = key
        self.following = following


@program(VALUES)
def linked_lists(xs: list[float]) -> float:
    head = None
    for x in xs:
        head = _Node(x, head)
    total, weight = 0.0, 1.0
    node = head
    while node is not None:
        total += weight * node.key
        weight *= 0.95
        node = node.following
    return total


class _Tree:
    def __init__(self, key: Any):
        self.key = key
        self.left: Any = None
        self.right: Any = None

    def insert(self, key: Any) -> None:
        if key < self.key:
            if self.left is None:
                self.left = _Tree(key)
            else:
                self.left.insert(key)
        elif self.right is None:
            self.right = _Tree(key)
        else:
            self.right.insert(key)

    def total(self, depth: float = 1.0) -> Any:
        result = depth * self.key
        if self.left is not None:
            result += self.left.total(0.5 * depth)
        if self.right is not None:
            result += self.right.total(0.5 * depth)
        return result


@program(VALUES[:200])
def search_trees(xs: list[float]) -> float:
    root = _Tree(xs[0])
    for x in xs[1:]:
        root.insert(x)
    return root.total()


class _Scalar:
    """Somebody's own little autodiff."""

    def __init__(self, data: Any, parents: tuple[Any, ...] = (), slopes: tuple[Any, ...] = ()):
        self.data = data
        self.grad = 0.0
        self.parents = parents
        self.slopes = slopes

    def __add__(self, other: Any) -> Any:
        return _Scalar(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other: Any) -> Any:
        return _Scalar(self.data * other.data, (self, other), (other.data, self.data))

    def backward(self) -> None:
        order: list[Any] = []
        seen = set()

        def visit(node: Any) -> None:
            if node not in seen:
                seen.add(node)
                for parent in node.parents:
                    visit(parent)
                order.append(node)

        visit(self)
        self.grad = 1.0
        for node in reversed(order):
            for parent, slope in zip(node.parents, node.slopes):
                parent.grad += slope * node.grad


@program(0.7, 0.3)
def micrograd(x: float, y: float) -> float:
    a, b = _Scalar(x), _Scalar(y)
    total = a
    for _ in range(100):
        total = total * b + a
    total.backward()
    return a.grad + 0.5 * b.grad


# --------------------------------------------------------------------------------------- with, try, match


class _Scope:
    def __init__(self, log: list[Any], by: Any):
        self.log = log
        self.by = by

    def __enter__(self) -> Any:
        return self.by

    def __exit__(self, *error: object) -> None:
        self.log.append(self.by)


@program(0.7, 0.3)
def with_statements(x: float, y: float) -> float:
    log: list[float] = []
    for _ in range(500):
        with _Scope(log, y) as by:
            x = 0.9 * x + by * by
    return x + sum(log)


@contextmanager
def _scaled(by: Any) -> Iterator[Any]:
    yield 0.5 * by


@program(0.7, 0.3)
def context_managers(x: float, y: float) -> float:
    for _ in range(150):
        with _scaled(y) as by:
            x = 0.9 * x + by * by
    return x


@program(0.7, 0.3)
def exceptions(x: float, y: float) -> float:
    for k in range(1200):
        try:
            if k % 5 == 0:
                raise ValueError(k)
            x = 0.9 * x + y * y
        except ValueError as error:
            x = x + 0.01 * error.args[0]
        finally:
            y *= 0.99
    return x


@program([("push", 0.3), ("scale", 0.9), ("push", 0.5), ("add", 0.1)] * 100)
def matching(commands: list[tuple[str, float]]) -> float:
    total = 0.0
    for command in commands:
        match command:
            case ("push", value):
                total += value * value
            case ("scale", by):
                total *= by
            case (_, other):
                total += other
    return total


# ------------------------------------------------------------------------------------- the standard library


@program(VALUES)
def sorting(xs: list[float]) -> float:
    total = 0.0
    for _ in range(5):
        ranked = sorted(xs, reverse=True)
        for rank in range(10):
            total += ranked[rank] * rank
        xs = [x * 0.9 for x in ranked]
    return total


@program(VALUES, OTHERS)
def sorting_by_key(xs: list[float], ys: list[float]) -> float:
    pairs = list(zip(xs, ys))
    pairs.sort(key=lambda pair: pair[1])
    total = 0.0
    for k, (x, y) in enumerate(pairs):
        total += k * x - y
    best = max(pairs, key=lambda pair: pair[0] * pair[1])
    return total + best[0] + min(pairs, key=operator.itemgetter(0))[1]


@program(VALUES)
def deques(xs: list[float]) -> float:
    window: deque[float] = deque(maxlen=5)
    total = 0.0
    for _ in range(3):
        for x in xs:
            window.append(x)
            total += window[0] * window[-1]
    queue = deque(xs)
    while len(queue) > 1:
        queue.append(0.5 * (queue.popleft() + queue.popleft()))
    return total + queue[0]


@program(WORDS, VALUES)
def defaultdicts(words: list[str], xs: list[float]) -> float:
    totals: defaultdict[str, float] = defaultdict(float)
    groups: defaultdict[str, list[float]] = defaultdict(list)
    for _ in range(2):
        for word, x in zip(words, xs):
            totals[word] += x
            groups[word].append(x * x)
    return sum(totals.values()) + sum(sum(group) / len(group) for group in groups.values())


@program(WORDS, VALUES)
def counters(words: list[str], xs: list[float]) -> float:
    found = Counter(words)
    totals: Any = Counter()
    order: OrderedDict[str, float] = OrderedDict()
    for word, x in zip(words, xs):
        totals[word] += x
        order[word] = x * found[word]
    return sum(totals[word] * order[word] for word in totals)


_GRAPH = {k: [(k * 3 + 1) % 150, (k * 7 + 2) % 150, (k + 1) % 150] for k in range(150)}


@program(VALUES[:450])
def shortest_paths(lengths: list[float]) -> float:
    distances = {0: 0.0}
    queue = [(0.0, 0)]
    while queue:
        distance, node = heapq.heappop(queue)
        if distance > distances.get(node, math.inf):
            continue
        for k, other in enumerate(_GRAPH[node]):
            further = distance + lengths[3 * node + k]
            if further < distances.get(other, math.inf):
                distances[other] = further
                heapq.heappush(queue, (further, other))
    return sum(distances.values())


@program(VALUES[:300])
def elementary_functions(xs: list[float]) -> float:
    total = 0.0
    for x in xs:
        total += math.exp(-x * x) * math.sin(3.0 * x) + math.sqrt(x) + math.log1p(x) + math.pow(x, 1.5)
    return total


@program(1.1, 0.2)
def black_scholes(spot: float, vol: float) -> float:
    def normal(x: float) -> float:
        return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))

    total = 0.0
    for k in range(200):
        strike, t = 0.8 + 0.01 * k, 0.5
        d1 = (math.log(spot / strike) + 0.5 * vol**2 * t) / (vol * math.sqrt(t))
        d2 = d1 - vol * math.sqrt(t)
        total += spot * normal(d1) - strike * normal(d2)
    return total


@program(0.3, 0.4)
def complex_numbers(a: float, b: float) -> float:
    z, c = 0j, complex(a, b)
    for _ in range(1000):
        z = 0.5 * z * z + c
    return abs(z) + z.real


@program(WEIGHTS)
def text(weights: dict[str, float]) -> float:
    total = 0.0
    for line in ["a=w1, b=w2", "a=w3, b=w4; c=w5"] * 50:
        for part in line.replace(";", ",").split(","):
            name, _, key = part.strip().partition("=")
            total += weights[key] * (2.0 if name == "a" else 0.5) * len(f"{name}:{key}")
    return total


@program([[0.9, 0.1, -0.2], [0.3, -0.5, 0.4]], [0.2, -0.7], [0.5, -0.3, 0.8])
def perceptron(weights: list[list[float]], bias: list[float], x: list[float]) -> float:
    total = 0.0
    for k in range(100):
        hidden = []
        for row, b in zip(weights, bias):
            hidden.append(math.tanh(sum(w * v for w, v in zip(row, x)) + b))
        total += sum(h * h for h in hidden) * k
    return total


# ------------------------------------------------------------------------------------------------ what classes say


class _Settings:
    """Answers to any name."""

    def __init__(self, **values: Any):
        self._values = values
        self.scale = 0.5

    def __getattr__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(name) from None


@program(0.7, 0.4)
def names_by_getattr(x: float, y: float) -> float:
    settings: Any = _Settings(rate=x, decay=y)
    total = 1.0
    for _ in range(300):
        total = settings.scale * total * settings.decay + settings.rate
    return total


class _AttributeDict(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__  # type: ignore[assignment]


@program(0.7, 0.4)
def attribute_dicts(x: float, y: float) -> float:
    p: Any = _AttributeDict(a=x, b=y)
    for _ in range(300):
        p.a = 0.9 * p.a + 0.1 * p.b
    return p["a"]


class _Positive:
    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"_{name}"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return getattr(instance, self.name)

    def __set__(self, instance: Any, value: Any) -> None:
        if value < 0.0:
            raise ValueError(self.name)
        setattr(instance, self.name, value)


class _Part:
    mass: Any = _Positive()
    size: Any = _Positive()

    def __init__(self, mass: Any, size: Any):
        self.mass, self.size = mass, size


@program(0.7, 0.4)
def descriptors(x: float, y: float) -> float:
    part = _Part(x, y)
    for _ in range(300):
        part.mass = 0.99 * part.mass + 0.01 * part.size
    return part.mass


class _Kind(enum.Enum):
    LINE = 1
    SQUARE = 2

    def of(self, x: Any) -> Any:
        return x if self is _Kind.LINE else x * x


@program(0.7, 0.4)
def enumerations(x: float, y: float) -> float:
    total = 0.0
    for k in range(300):
        kind = _Kind.LINE if k % 3 else _Kind.SQUARE
        total = 0.9 * total + kind.of(x)
        if kind == _Kind.SQUARE:
            total += y * kind.value
    return total


class _Cell:
    made = 0
    rate = 0.1

    def __init__(self, value: Any):
        self.value = value
        _Cell.made += 1

    def grow(self) -> Any:
        return self.value * (1.0 + self.rate)


@program(0.7)
def class_attributes(x: float) -> float:
    for _ in range(200):
        x = _Cell(x).grow() * 0.9 + _Cell.rate
    return x


class _Stack:
    def __init__(self) -> None:
        self._items: list[Any] = []

    def push(self, item: Any) -> None:
        self._items.append(item)

    def pop(self) -> Any:
        return self._items.pop()

    def __len__(self) -> int:
        return len(self._items)

    def __bool__(self) -> bool:
        return bool(self._items)


@program(VALUES[:200])
def sized_classes(xs: list[float]) -> float:
    stack = _Stack()
    for x in xs:
        stack.push(x)
    total = 0.0
    while stack:
        total = 0.9 * total + stack.pop() * len(stack)
    return total


class _Countdown:
    def __init__(self, value: Any, left: int):
        self.value, self.left = value, left

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if not self.left:
            raise StopIteration
        self.left -= 1
        self.value *= 0.99
        return self.value


@program(0.7)
def iterator_classes(x: float) -> float:
    total = 0.0
    for v in _Countdown(x, 200):
        total += v * v
    return total + sum(_Countdown(x, 100))


class _Vector(list):
    def __add__(self, other: Any) -> Any:
        return _Vector(a + b for a, b in zip(self, other))

    def scaled(self, by: Any) -> Any:
        return _Vector([by * a for a in self])


@program(0.7, 0.4)
def list_subclasses(x: float, y: float) -> float:
    v, w = _Vector([x, y, x * y]), _Vector([y, x, 1.0])
    for _ in range(60):
        v = (v + w).scaled(0.5)
    return sum(v)


@program(0.7, 0.4)
def named_tuples_replaced(x: float, y: float) -> float:
    s = _Sample(x, y, 0.0)
    for _ in range(150):
        s = s._replace(x=0.9 * s.x + 0.1 * s.y, weight=s.weight + s.x)
    return s.weight


# ---------------------------------------------------------------------------------------- classes made in functions


@program(VALUES[:100])
def local_dataclasses(xs: list[float]) -> float:
    @dataclass
    class Point:
        x: Any
        y: Any = 2.0

        def dot(self, other: Any) -> Any:
            return self.x * other.x + self.y * other.y

    return sum(Point(x, y).dot(Point(y)) for x, y in itertools.pairwise(xs))


@program(VALUES[:100])
def local_named_tuples(xs: list[float]) -> float:
    Point = namedtuple("Point", "x y")
    points = [Point(x, y) for x, y in itertools.pairwise(xs)]
    return sum(p.x * p.y + p.x for p in points)


@program(VALUES[:100])
def local_classes(xs: list[float]) -> float:
    class Point:
        def __init__(self, x: Any, y: Any):
            self.x, self.y = x, y

        def dot(self, other: Any) -> Any:
            return self.x * other.x + self.y * other.y

    return sum(Point(x, y).dot(Point(y, 2.0)) for x, y in itertools.pairwise(xs))


class _Tuple:
    def __init__(self, *items: Any):
        self.items = items

    def dot(self, other: _Tuple) -> Any:
        return sum(x * y for x, y in zip(self.items, other.items))


@program(VALUES[:10])
def generators_behind_stars(xs: list[float]) -> float:
    v, total = _Tuple(*xs), 0.0
    for _ in range(40):
        w = _Tuple(*(0.9 * x + 0.1 for x in v.items))
        total += v.dot(w)
        v = w
    return total


# ------------------------------------------------------------------------------------------- what the library does


@program(VALUES)
def heaps_of_numbers(xs: list[float]) -> float:
    heap = list(xs)
    heapq.heapify(heap)
    total = sum(heapq.nsmallest(5, xs)) - sum(heapq.nlargest(5, xs))
    for k in range(200):
        total += k * heapq.heappop(heap)
        heapq.heappush(heap, 1.5 * xs[k])
    for k, x in enumerate(heapq.merge(sorted(xs), sorted(heap))):
        total += x * k
    return total


@program(WORDS, VALUES)
def grouping(words: list[str], xs: list[float]) -> float:
    total = 0.0
    for _, group in itertools.groupby(sorted(zip(words, xs)), key=operator.itemgetter(0)):
        total += max(x for _, x in group)
    for above, group in itertools.groupby(xs, key=lambda x: x > 1.051):
        total += sum(group) * (2.0 if above else 1.0)
    return total


@program(VALUES, OTHERS[:400])
def pairs_of_the_library(xs: list[float], ys: list[float]) -> float:
    total = sum(itertools.starmap(lambda x, y: x * y - x, zip(xs, ys)))  # noqa: RUF058
    for x, y in itertools.zip_longest(xs, ys, fillvalue=0.5):
        total += x * y
    first = operator.itemgetter(0)
    return total + sum(first(pair) for pair in zip(xs, ys)) + sum(itertools.accumulate(xs, max))


@program(WEIGHTS)
def counters_added(weights: dict[str, float]) -> float:
    total = 0.0
    for _ in range(5):
        found = Counter(weights) + Counter({word: 0.5 * x for word, x in weights.items() if x > 0.3})
        total += sum(x * x for _, x in found.most_common(5))
    return total


@program(0.3)
def cached_closures(x: float) -> float:
    total = 0.0
    for k in range(5):

        @functools.cache
        def cost(i: int, j: int) -> float:
            if not i or not j:
                return x * (i + j)
            return min(cost(i - 1, j) + 0.1 * x, cost(i, j - 1) + 0.2, cost(i - 1, j - 1) + 0.05 * i)

        total += cost(6, 4 + k)
    return total


# ------------------------------------------------------------------------------------------------ whole programs


class _Num:
    def __init__(self, value: Any):
        self.value = value


class _Sum:
    def __init__(self, left: Any, right: Any):
        self.left, self.right = left, right


class _Product(_Sum):
    pass


class _Evaluation:
    """A visitor that finds its methods by name."""

    def __init__(self, scale: Any):
        self.scale = scale

    def visit(self, node: Any) -> Any:
        return getattr(self, "visit" + type(node).__name__.lower())(node)

    def visit_num(self, node: _Num) -> Any:
        return node.value * self.scale

    def visit_sum(self, node: _Sum) -> Any:
        return self.visit(node.left) + self.visit(node.right)

    def visit_product(self, node: _Product) -> Any:
        return self.visit(node.left) * self.visit(node.right)


@program(1.1, 0.9)
def visitors(x: float, scale: float) -> float:
    tree: Any = _Num(x)
    for k in range(100):
        tree = _Sum(tree, _Product(_Num(0.1 * k), _Num(x))) if k % 2 else _Product(tree, _Num(0.9))
    return _Evaluation(scale).visit(tree)


class _OverLimit(Exception):
    def __init__(self, excess: Any):
        super().__init__("over the limit")
        self.excess = excess


def _limited(value: Any, limit: float) -> Any:
    if value > limit:
        raise _OverLimit(value - limit)
    return value


@program(1.0, 0.2)
def exceptions_of_their_own(x: float, y: float) -> float:
    total = 0.0
    for k in range(300):
        try:
            total += _limited(x * (1 + k % 5), 3.5)
        except _OverLimit as error:
            total -= y * error.excess
    return total


class _Polynomial:
    def __init__(self, coefficients: Any):
        self.coefficients = list(coefficients)

    def __add__(self, other: _Polynomial) -> _Polynomial:
        pairs = itertools.zip_longest(self.coefficients, other.coefficients, fillvalue=0.0)
        return _Polynomial(a + b for a, b in pairs)

    def __mul__(self, other: _Polynomial) -> _Polynomial:
        made = [0.0] * (len(self.coefficients) + len(other.coefficients) - 1)
        for i, a in enumerate(self.coefficients):
            for j, b in enumerate(other.coefficients):
                made[i + j] += a * b
        return _Polynomial(made)

    def __call__(self, x: Any) -> Any:
        value = 0.0
        for c in reversed(self.coefficients):
            value = value * x + c
        return value


@program(0.5, 0.3)
def polynomials(x: float, y: float) -> float:
    p, total = _Polynomial([x, y, 1.0]), 0.0
    for _ in range(20):
        q = p * _Polynomial([y, x]) + p
        total += q(x) - (q * q)(y)
    return total


def _scaled_sum(x: Any, *more: Any, scale: Any = 1.0) -> Any:
    total = 0.0
    for y in more:
        total = total * x + y
    return scale * total


@program(0.5, 0.7)
def keywords_behind_stars(x: float, y: float) -> float:
    total, rest = 0.0, (x, y, 1.0)
    for _ in range(150):
        total += _scaled_sum(x, *rest, scale=y)
    return total


class _Account:
    def __init__(self, balance: Any):
        self._balance = balance

    @property
    def balance(self) -> Any:
        return self._balance

    @balance.setter
    def balance(self, value: Any) -> None:
        if value < 0.0:
            raise ValueError("negative")
        self._balance = value


@program(10.0, 0.02)
def validated_properties(x: float, rate: float) -> float:
    account = _Account(x)
    for _ in range(500):
        account.balance = account.balance * (1.0 + 0.01 * rate) - 0.001
    return account.balance


@functools.cache
def _binomial(n: int, k: int) -> int:
    return 1 if k in (0, n) else _binomial(n - 1, k - 1) + _binomial(n - 1, k)


@program(0.3)
def cached_numbers(p: float) -> float:
    total = 0.0
    for n in range(4, 24):
        for k in range(n + 1):
            total += _binomial(n, k) * p**k * (1.0 - p) ** (n - k) * k
    return total


@program(0.5)
def random_walk(x: float) -> float:
    draws = random.Random(1)
    total = x
    for _ in range(300):
        total = total * 0.99 + x * draws.gauss(0.0, 1.0) + draws.random()
    return total


class _Branch:
    def __init__(self, value: Any, children: Any = ()):
        self.value = value
        self.children = list(children)

    def __iter__(self) -> Iterator[Any]:
        yield self.value
        for child in self.children:
            yield from child

    def depth(self) -> int:
        return 1 + max((child.depth() for child in self.children), default=0)


def _grown(depth: int, value: Any) -> _Branch:
    return _Branch(value, [_grown(depth - 1, value * 0.5), _grown(depth - 1, value * 0.4)] if depth else [])


@program(1.1)
def recursive_generators(x: float) -> float:
    tree = _grown(6, x)
    return sum(v * v for v in tree) * tree.depth()


# ------------------------------------------------------------------------------------- what the library does in C

RECORDS = [{"name": f"w{(k * k) % 17}", "amount": 0.5 + 0.002 * ((k * 37) % 503)} for k in range(200)]


def _by_name_and_amount(a: Any, b: Any) -> int:
    if a["name"] != b["name"]:
        return -1 if a["name"] < b["name"] else 1
    return (a["amount"] > b["amount"]) - (a["amount"] < b["amount"])


@program(RECORDS)
def sorted_by_comparing(records: list[dict[str, Any]]) -> float:
    total = 0.0
    for k, record in enumerate(sorted(records, key=functools.cmp_to_key(_by_name_and_amount))):
        total += record["amount"] / (k + 1)
    return total


def _compared(a: Any, b: Any) -> int:
    return (a > b) - (a < b)


def _by_both(a: Any, b: Any) -> int:
    return _compared(a["name"], b["name"]) or -_compared(a["amount"], b["amount"])


@program(RECORDS)
def sorted_by_helpers(records: list[dict[str, Any]]) -> float:
    total = 0.0
    for k, record in enumerate(sorted(records, key=functools.cmp_to_key(_by_both))):
        total += record["amount"] / (k + 1)
    return total


FLOWS = [(date(2020, 1, 1) + timedelta(days=37 * (k % 60)), 10.0 + (k * 7) % 13) for k in range(600)]


@program(0.05, FLOWS)
def present_value(rate: float, flows: list[tuple[date, float]]) -> float:
    start = flows[0][0]
    total = 0.0
    for day, amount in flows:
        total += amount / (1.0 + rate) ** ((day - start).days / 365.0)
    return total


@program(1000.0, 0.03)
def interest_between_dates(balance: float, rate: float) -> float:
    day, end = date(2021, 1, 15), date(2041, 1, 15)
    while day < end:
        following = day + timedelta(days=30)
        balance *= 1.0 + rate * (following - day).days / 360
        if following.month == 1:
            balance -= 0.5
        day = following
    return balance


@program(1.5)
def hours_between_times(price: float) -> float:
    start, total = datetime(2024, 3, 1, 8, 30), 0.0
    for k in range(100):
        end = start + timedelta(minutes=20 + k % 7)
        hours = (end - start).total_seconds() / 3600.0
        total += price * hours * (1.2 if end.hour >= 18 or end.weekday() > 4 else 1.0)
        start = end + timedelta(hours=1)
    return total


@program(VALUES)
def pairs_by_tee(xs: list[float]) -> float:
    total = 0.0
    for _ in range(3):
        first, second = itertools.tee(xs)
        next(second, None)
        for a, b in zip(first, second):
            total += (b - a) ** 2
    return total


def _windows(xs: Any, size: int) -> Iterator[tuple[Any, ...]]:
    made = itertools.tee(xs, size)
    for k, it in enumerate(made):
        next(itertools.islice(it, k, k), None)
    return zip(*made)


@program(VALUES)
def rolling_windows(xs: list[float]) -> float:
    total = 0.0
    for a, b, c in _windows(xs, 3):
        total += max(a, b, c) - (a + b + c) / 3.0
    return total


@program(VALUES)
def sums_of_islices(xs: list[float]) -> float:
    total = 0.0
    for k in range(0, len(xs) - 10, 3):
        total += sum(itertools.islice(xs, k, k + 10)) ** 2
    return total


def _batches(xs: Any, size: int) -> Iterator[list[Any]]:
    items = iter(xs)
    while batch := list(itertools.islice(items, size)):
        yield batch


@program(VALUES)
def batches_by_islice(xs: list[float]) -> float:
    total = 0.0
    for _ in range(4):
        for batch in _batches(xs, 8):
            total += (sum(batch) / len(batch)) ** 2
    return total


SETTINGS = json.dumps(
    {
        "layers": [
            {"weight": 0.1 * k + 0.2, "bias": 0.05 * k, "kind": "tanh" if k % 2 else "linear"} for k in range(12)
        ],
        "rate": 0.1,
        "steps": 5,
    }
)


@program(0.7)
def settings_by_json(x: float) -> float:
    total = 0.0
    for _ in range(6):
        settings = json.loads(SETTINGS)
        y = x
        for _ in range(settings["steps"]):
            for layer in settings["layers"]:
                z = layer["weight"] * y + layer["bias"]
                y = math.tanh(z) if layer["kind"] == "tanh" else 0.5 * z
        total += y * settings["rate"]
    return total


@program(RECORDS)
def sums_by_groups(records: list[dict[str, Any]]) -> float:
    total = 0.0
    ordered = sorted(records, key=operator.itemgetter("name"))
    for rate in (0.1, 0.2, 0.3, 0.4, 0.5):
        for _, group in itertools.groupby(ordered, key=lambda r: r["name"]):
            total += sum(r["amount"] for r in group) ** 2 * rate
    return total


@program(VALUES)
def runs_by_groups(xs: list[float]) -> float:
    total = 0.0
    for _ in range(3):
        for above, group in itertools.groupby(xs, lambda x: x > 1.001):
            for x in group:
                total += x * x if above else 0.5 * x
    return total


@program({"a": 0.5, "b": 1.5, "c": 0.7, "d": 2.0})
def lengths_of_runs(weights: dict[str, float]) -> float:
    total = 0.0
    for label, group in itertools.groupby("aaabbcccdaabbbcdd" * 60):
        total += weights[label] * len(list(group)) ** 0.5
    return total


def _running_mean() -> Any:
    total, count, mean = 0.0, 0, None
    while True:
        x = yield mean
        total += x
        count += 1
        mean = total / count


@program(VALUES)
def means_by_send(xs: list[float]) -> float:
    value = 0.0
    for _ in range(3):
        mean = _running_mean()
        next(mean)
        for x in xs:
            value += mean.send(x) * x
    return value


def _controller(gain: Any) -> Any:
    integral, output = 0.0, 0.0
    while True:
        error = yield output
        integral += 0.1 * error
        output = gain * error + 0.3 * integral


@program(0.5, 1.0)
def controlled_by_send(gain: float, target: float) -> float:
    control, state, cost = _controller(gain), 0.0, 0.0
    control.send(None)
    for _ in range(600):
        state += 0.1 * (control.send(target - state) - 0.2 * state)
        cost += (target - state) ** 2
    return cost


@program(100.0, 0.2)
def monte_carlo(spot: float, volatility: float) -> float:
    draws = random.Random(42)
    total = 0.0
    for _ in range(300):
        s = spot * math.exp(-0.5 * volatility * volatility + volatility * draws.gauss(0.0, 1.0))
        total += max(s - 95.0, 0.0)
    return total / 300


@program(0.5)
def draws_of_the_module(x: float) -> float:
    random.seed(5)
    total = 0.0
    for _ in range(1000):
        total += x * random.random()
    return total


@program(0.5)
def chosen_and_drawn(x: float) -> float:
    draws = random.Random(7)
    total = 0.0
    for _ in range(200):
        total += x * draws.choice([1, 2, 3, 4]) + draws.uniform(0.0, x) + draws.randint(1, 6)
    return total


@functools.cache
def _cached_fibonacci(n: int) -> int:
    return n if n < 2 else _cached_fibonacci(n - 1) + _cached_fibonacci(n - 2)


@program(0.3)
def cached_ints(x: float) -> float:
    total = 0.0
    for k in range(1500):
        total += x * _cached_fibonacci(k % 40)
    return total


@program(0.7)
def arithmetic_of_counters(x: float) -> float:
    total = 0.0
    stock = Counter(a=10, b=7, c=3)
    for k in range(40):
        order = Counter({"a": 1, "b": k % 3})
        stock = stock - order + Counter(a=1, c=2)
        total += x * stock["a"] + x * x * sum(stock.values())
    return total


def _leaves(tree: Any) -> Iterator[Any]:
    if isinstance(tree, list):
        for part in tree:
            yield from _leaves(part)
    else:
        yield tree


def _nested(depth: int, x: Any) -> Any:
    return [_nested(depth - 1, 0.5 * x), _nested(depth - 1, 0.7 * x)] if depth else x


@program(1.1)
def leaves_by_yield_from(x: float) -> float:
    return sum(v * v for v in _leaves(_nested(8, x)))


@program(1.1)
def yield_from_where_exceptions_are_caught(x: float) -> float:
    try:
        return leaves_by_yield_from(x)
    except ZeroDivisionError:
        return x


class _PlaneVector(tuple):
    __slots__ = ()

    def __new__(cls, x: Any, y: Any) -> Any:
        return super().__new__(cls, (x, y))

    x = property(operator.itemgetter(0))
    y = property(operator.itemgetter(1))

    def __add__(self, other: Any) -> Any:
        return _PlaneVector(self.x + other.x, self.y + other.y)

    def dot(self, other: Any) -> Any:
        return self.x * other.x + self.y * other.y


@program(0.7)
def vectors_as_tuples(x: float) -> float:
    at, step, total = _PlaneVector(x, 1.0), _PlaneVector(0.01 * x, 0.02), 0.0
    for _ in range(200):
        at = at + step
        total += at.dot(step)
    return total


class _Seconds(float):
    def __add__(self, other: Any) -> Any:
        return _Seconds(float(self) + float(other))

    def minutes(self) -> float:
        return self / 60.0


@program(0.7)
def units_as_floats(x: float) -> float:
    elapsed, total = _Seconds(x), 0.0
    for _ in range(200):
        elapsed = elapsed + _Seconds(x)
        total += elapsed.minutes()
    return total


@contextmanager
def _set(options: dict[str, Any], name: str, value: Any) -> Iterator[Any]:
    before = options[name]
    options[name] = value
    try:
        yield value
    finally:
        options[name] = before


@program(0.7, 0.3)
def options_in_a_stack(x: float, y: float) -> float:
    options, total = {"a": x, "b": y}, 0.0
    for k in range(50):
        with ExitStack() as stack:
            a = stack.enter_context(_set(options, "a", x * k))
            stack.enter_context(_set(options, "b", a * y))
            total += options["a"] * options["b"]
        total += options["a"]
    return total


__all__ = ["PROGRAMS"]
