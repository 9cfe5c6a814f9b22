"""Small applications as people write them in Python: simulations, games of records, sheets, interpreters, ledgers. For gradients through
the Python back end, beside the programs of `everyday` and `designs`."""

from __future__ import annotations

import enum
import functools
import heapq
import itertools
import math
import operator
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .everyday import OTHERS, VALUES, WEIGHTS, WORDS, registering

PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {}
program = registering(PROGRAMS)


class _Simulation:
    """What happens when, and which method that is."""

    def __init__(self) -> None:
        self.now: Any = 0.0
        self.queue: list[Any] = []
        self.count = itertools.count()

    def schedule(self, delay: Any, action: Callable[..., None], *args: Any) -> None:
        heapq.heappush(self.queue, (self.now + delay, next(self.count), action, args))

    def run(self, until: float) -> None:
        while self.queue:
            when, _, action, args = heapq.heappop(self.queue)
            if when > until:
                break
            self.now = when
            action(*args)


class _Server:
    def __init__(self, simulation: _Simulation, rate: Any):
        self.simulation, self.rate = simulation, rate
        self.done, self.total = 0, 0.0

    def arrive(self, size: Any) -> None:
        self.simulation.schedule(size * self.rate, self.finish, size)
        if self.done < 60:
            self.simulation.schedule(0.5, self.arrive, size * 0.97)

    def finish(self, size: Any) -> None:
        self.done += 1
        self.total += size * self.simulation.now


@program(0.7, 1.3)
def event_queue_of_methods(rate: float, size: float) -> float:
    simulation = _Simulation()
    server = _Server(simulation, rate)
    simulation.schedule(0.1, server.arrive, size)
    simulation.run(30.0)
    return server.total


class _Rows:
    """A matrix by its rows."""

    def __init__(self, rows: Any):
        self.rows = [list(row) for row in rows]

    def __add__(self, other: _Rows) -> _Rows:
        return _Rows([[a + b for a, b in zip(r, s)] for r, s in zip(self.rows, other.rows)])

    def __mul__(self, k: Any) -> _Rows:
        return _Rows([[k * a for a in row] for row in self.rows])

    __rmul__ = __mul__

    def __matmul__(self, other: _Rows) -> _Rows:
        columns = list(zip(*other.rows))
        return _Rows([[sum(a * b for a, b in zip(row, column)) for column in columns] for row in self.rows])

    def __getitem__(self, place: tuple[int, int]) -> Any:
        i, j = place
        return self.rows[i][j]

    def trace(self) -> Any:
        return sum(self.rows[i][i] for i in range(len(self.rows)))


@program(0.7, 0.3)
def matrix_of_rows(x: float, y: float) -> float:
    a = _Rows([[x, y, 0.1], [y, 1.0, x], [0.2, x, y]])
    b = a
    for _ in range(10):
        b = 0.5 * (b @ a) + a
    return b.trace() + b[0, 2]


class _Machine:
    """A stack machine whose instructions are lines of a text."""

    def __init__(self, x: Any, y: Any):
        self.variables = {"x": x, "y": y}
        self.stack: list[Any] = []
        self.handlers = {name: getattr(self, f"do_{name}") for name in ("push", "load", "store", "add", "mul", "neg")}

    def do_push(self, word: str) -> None:
        self.stack.append(float(word))

    def do_load(self, word: str) -> None:
        self.stack.append(self.variables[word])

    def do_store(self, word: str) -> None:
        self.variables[word] = self.stack.pop()

    def do_add(self, _: str) -> None:
        self.stack.append(self.stack.pop() + self.stack.pop())

    def do_mul(self, _: str) -> None:
        self.stack.append(self.stack.pop() * self.stack.pop())

    def do_neg(self, _: str) -> None:
        self.stack.append(-self.stack.pop())

    def run(self, text: str) -> None:
        for line in text.splitlines():
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            name, _, argument = line.partition(" ")
            self.handlers[name](argument)


_TEXT = "# a program\nload x\nload y\nmul\npush 0.5\nadd\nstore x\nload x\nneg\nload y\nadd\nstore y\n" * 8


@program(0.7, 0.3)
def interpreter_of_a_text(x: float, y: float) -> float:
    machine = _Machine(x, y)
    machine.run(_TEXT)
    return machine.variables["x"] * machine.variables["y"]


class _State(enum.Enum):
    IDLE = "idle"
    HEATING = "heating"
    COOLING = "cooling"


@dataclass
class _Thermostat:
    temperature: Any
    target: Any
    state: _State = _State.IDLE
    energy: Any = 0.0
    history: list[Any] = field(default_factory=list)

    def step(self, outside: float, dt: float) -> None:
        self.temperature += (outside - self.temperature) * 0.1 * dt
        if self.state is _State.IDLE:
            if self.temperature < self.target - 0.5:
                self.state = _State.HEATING
            elif self.temperature > self.target + 0.5:
                self.state = _State.COOLING
        elif self.state is _State.HEATING:
            self.temperature += 1.5 * dt
            self.energy += 1.5 * dt
            if self.temperature >= self.target:
                self.state = _State.IDLE
        elif self.state is _State.COOLING:
            self.temperature -= 1.0 * dt
            self.energy += 1.0 * dt
            if self.temperature <= self.target:
                self.state = _State.IDLE
        self.history.append(self.temperature)


@program(18.3, 21.1)
def thermostats(temperature: float, target: float) -> float:
    thermostat = _Thermostat(temperature, target)
    for k in range(200):
        thermostat.step(15.0 + (k % 24) * 0.6, 0.25)
    return thermostat.energy * target + sum(thermostat.history) / len(thermostat.history)


@program([0.3, 0.9, 0.5, 0.7, 0.2, 1.1, 0.6, 0.8, 0.4], [2, 3, 1, 4, 2, 5, 3, 2, 1])
def knapsack(values: list[float], weights: list[int]) -> float:
    """Recursion with a dict of what is known."""
    known: dict[tuple[int, int], float] = {}

    def best(k: int, room: int) -> float:
        if k == len(values):
            return 0.0
        if (k, room) in known:
            return known[k, room]
        result = best(k + 1, room)
        if weights[k] <= room:
            result = max(result, values[k] + best(k + 1, room - weights[k]))
        known[k, room] = result
        return result

    return best(0, 12)


_REACTIONS = (
    (("A", "B"), ("C",), 0),
    (("C",), ("A", "B"), 1),
    (("C", "B"), ("D",), 2),
    (("D",), ("A",), 0),
)


@program({"A": 1.0, "B": 0.7, "C": 0.1, "D": 0.0}, [0.9, 0.3, 0.5])
def kinetics(start: dict[str, float], rates: list[float]) -> float:
    amounts = dict(start)
    for _ in range(30):
        change: defaultdict[str, float] = defaultdict(float)
        for taken, given, k in _REACTIONS:
            rate = rates[k]
            for name in taken:
                rate *= amounts[name]
            for name in taken:
                change[name] -= rate
            for name in given:
                change[name] += rate
        for name, by in change.items():
            amounts[name] += 0.01 * by
    return sum(v * v for v in amounts.values())


class _Insufficient(Exception):
    pass


class _Account:
    def __init__(self, owner: str, balance: Any):
        self.owner = owner
        self._balance = balance
        self.log: list[tuple[str, Any]] = []

    @property
    def balance(self) -> Any:
        return self._balance

    def deposit(self, amount: Any) -> None:
        self._balance += amount
        self.log.append(("in", amount))

    def withdraw(self, amount: Any) -> None:
        if amount > self._balance:
            raise _Insufficient(f"{self.owner} has {self._balance:.2f}")
        self._balance -= amount
        self.log.append(("out", amount))


@program(10.3, 5.7)
def bank(x: float, y: float) -> float:
    accounts = {"ann": _Account("ann", x), "bob": _Account("bob", y)}

    def transfer(source: str, target: str, amount: Any) -> None:
        accounts[source].withdraw(amount)
        accounts[target].deposit(amount * 0.99)

    failed = 0
    for k in range(60):
        try:
            transfer("ann", "bob", 0.1 * y)
            transfer("bob", "ann", 0.2 * k)
        except _Insufficient:
            failed += 1
    entries = sum(amount for way, amount in accounts["ann"].log if way == "in")
    return accounts["ann"].balance * 2 + accounts["bob"].balance + entries


@program(WORDS[:200], VALUES[:200])
def groups_by_word(words: list[str], xs: list[float]) -> float:
    groups: dict[str, list[float]] = {}
    for word, x in zip(words, xs):
        groups.setdefault(word, []).append(x)
    means = {word: sum(found) / len(found) for word, found in groups.items()}
    spread = {word: sum((x - means[word]) ** 2 for x in found) / len(found) for word, found in groups.items()}
    most = sorted(spread, key=lambda word: spread[word], reverse=True)[:5]
    return sum(spread[word] * means[word] for word in most)


class _Signal:
    def __init__(self) -> None:
        self.slots: list[Any] = []

    def connect(self, slot: Any) -> None:
        self.slots.append(slot)

    def emit(self, *args: Any, **more: Any) -> None:
        for slot in self.slots:
            slot(*args, **more)


class _Sheet:
    """Cells and formulas; who listens is told of changes."""

    def __init__(self) -> None:
        self.cells: dict[str, Any] = {}
        self.formulas: dict[str, Callable[[_Sheet], Any]] = {}
        self.changed = _Signal()

    def __setitem__(self, key: str, value: Any) -> None:
        self.cells[key] = value
        self.changed.emit(key, value=value)

    def __getitem__(self, key: str) -> Any:
        if key in self.formulas:
            return self.formulas[key](self)
        return self.cells[key]


@program(0.7, 0.3)
def spreadsheet(x: float, y: float) -> float:
    sheet = _Sheet()
    seen: list[Any] = []
    sheet.changed.connect(lambda key, value: seen.append(value))
    sheet.formulas["sum"] = lambda s: s["a"] + s["b"]
    sheet.formulas["double"] = lambda s: 2.0 * s["sum"] * s["a"]
    total = 0.0
    for k in range(40):
        sheet["a"] = x * k
        sheet["b"] = y + total * 0.1
        total += sheet["double"] * 0.001
    return total + sum(seen)


class _Query:
    """Steps that give a query each."""

    def __init__(self, rows: list[Any]):
        self.rows = rows

    def where(self, holds: Callable[[Any], Any]) -> _Query:
        return _Query([row for row in self.rows if holds(row)])

    def select(self, f: Callable[[Any], Any]) -> _Query:
        return _Query([f(row) for row in self.rows])

    def order_by(self, key: Callable[[Any], Any]) -> _Query:
        return _Query(sorted(self.rows, key=key))

    def take(self, count: int) -> _Query:
        return _Query(self.rows[:count])

    def sum(self) -> Any:
        return sum(self.rows)


@program(VALUES[:80], OTHERS[:80])
def queries(xs: list[float], ys: list[float]) -> float:
    rows = [{"x": x, "y": y, "k": k} for k, (x, y) in enumerate(zip(xs, ys))]
    chosen = _Query(rows).where(lambda row: row["k"] % 3).select(lambda row: row["x"] * row["y"])
    return chosen.where(lambda v: v > 0.2).order_by(lambda v: -v).take(20).sum()


@dataclass
class _Tree:
    key: Any
    left: Any = None
    right: Any = None

    def insert(self, key: Any) -> None:
        side = "left" if key < self.key else "right"
        child = getattr(self, side)
        if child is None:
            setattr(self, side, _Tree(key))
        else:
            child.insert(key)

    def walk(self) -> Iterator[Any]:
        if self.left is not None:
            yield from self.left.walk()
        yield self.key
        if self.right is not None:
            yield from self.right.walk()


@program(VALUES[:60])
def trees_in_order(xs: list[float]) -> float:
    root = _Tree(xs[0])
    for x in xs[1:]:
        root.insert(x)
    return sum(k * v * v for k, v in enumerate(root.walk()))


class _Vector(NamedTuple):
    x: Any
    y: Any
    z: Any

    def plus(self, other: _Vector, by: Any = 1.0) -> _Vector:
        return _Vector(self.x + by * other.x, self.y + by * other.y, self.z + by * other.z)

    def dot(self, other: _Vector) -> Any:
        return self.x * other.x + self.y * other.y + self.z * other.z

    def unit(self) -> _Vector:
        length = math.sqrt(self.dot(self))
        return _Vector(self.x / length, self.y / length, self.z / length)


@dataclass(frozen=True)
class _Ball:
    centre: _Vector
    radius: Any

    def hit(self, start: _Vector, way: _Vector) -> Any:
        off = start.plus(self.centre, -1.0)
        along = off.dot(way)
        rest = along * along - off.dot(off) + self.radius * self.radius
        return -along - math.sqrt(rest) if rest > 0.0 else None


@program(1.0, 0.2)
def ray_tracer(radius: float, height: float) -> float:
    balls = [_Ball(_Vector(0.0, height, 3.0), radius), _Ball(_Vector(0.5, -0.3, 4.0), 0.7)]
    light, start, total = _Vector(1.0, 2.0, -1.0).unit(), _Vector(0.0, 0.0, -1.0), 0.0
    for i, j in itertools.product(range(6), range(6)):
        way = _Vector(0.2 * i - 0.5, 0.2 * j - 0.5, 1.0).unit()
        hits = [(t, ball) for ball in balls if (t := ball.hit(start, way)) is not None]
        if hits:
            t, ball = min(hits, key=operator.itemgetter(0))
            total += max(0.1, start.plus(way, t).plus(ball.centre, -1.0).unit().dot(light))
    return total


class _Statistics:
    def __init__(self) -> None:
        self.count, self.mean, self.squares = 0, 0.0, 0.0

    def __iadd__(self, x: Any) -> _Statistics:
        self.count += 1
        off = x - self.mean
        self.mean += off / self.count
        self.squares += off * (x - self.mean)
        return self

    @property
    def variance(self) -> Any:
        return self.squares / (self.count - 1) if self.count > 1 else 0.0


@program(VALUES[:150])
def running_statistics(xs: list[float]) -> float:
    every, some = _Statistics(), _Statistics()
    for k, x in enumerate(xs):
        every += x
        if k % 2:
            some += x * x
    return every.variance + some.mean


@dataclass
class _Item:
    name: str
    price: Any
    count: int = 1

    @property
    def cost(self) -> Any:
        return self.price * self.count


@program(WEIGHTS)
def shopping_carts(prices: dict[str, float]) -> float:
    total = 0.0
    for k in range(10):
        cart = [_Item(name, price, 1 + (k + i) % 4) for i, (name, price) in enumerate(prices.items())]
        cart.sort(key=operator.attrgetter("price"), reverse=True)
        cost = sum(item.cost for item in cart)
        by_name = {item.name: item for item in cart}
        total += cost - (0.1 * cost if cost > 5 else 0.0) + by_name["w3"].cost
    return total


@program(0.7, 0.3)
def composed_functions(x: float, y: float) -> float:
    steps: list[Any] = [lambda v: v * x, lambda v: v + y, math.sin, lambda v: v**2, abs]
    steps.append(functools.partial(operator.mul, 0.9))
    pipeline = functools.reduce(lambda f, g: lambda v: g(f(v)), steps)
    return sum(pipeline(0.1 * k) for k in range(1, 51))


class _Shape:
    def __init__(self, name: str, scale: Any = 1.0):
        self.name = name
        self.scale = scale

    def area(self) -> Any:
        raise NotImplementedError

    def weight(self, density: float) -> Any:
        return self.area() * density * self.scale


class _Rectangle(_Shape):
    def __init__(self, w: Any, h: Any, **more: Any):
        super().__init__("rectangle", **more)
        self.w, self.h = w, h

    def area(self) -> Any:
        return self.w * self.h


class _Square(_Rectangle):
    def __init__(self, w: Any, **more: Any):
        super().__init__(w, w, **more)

    def weight(self, density: float) -> Any:
        return super().weight(density) + 0.1


@program(0.7, 0.3)
def class_hierarchies(x: float, y: float) -> float:
    total = 0.0
    for _ in range(30):
        shapes: list[_Shape] = [_Rectangle(x, y), _Square(y, scale=x), _Rectangle(y, y, scale=2.0)]
        total += sum(shape.weight(0.5) for shape in shapes)
    return total


__all__ = ["PROGRAMS"]
