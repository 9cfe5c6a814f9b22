"""Whole small programs, each of which mixes many habits of the language: for gradients through the Python back end."""

from __future__ import annotations

import enum
import heapq
import itertools
import math
import operator
import random
import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

from .everyday import VALUES, registering

PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {}
program = registering(PROGRAMS)

# ------------------------------------------------------------------------------------- a queue of events


@dataclass(order=True)
class Event:
    time: float
    order: int
    action: Callable[[], None] = field(compare=False)


class Simulation:
    def __init__(self) -> None:
        self.now = 0.0
        self.queue: list[Event] = []
        self.counter = itertools.count()

    def after(self, delay: Any, action: Callable[[], None]) -> None:
        heapq.heappush(self.queue, Event(self.now + delay, next(self.counter), action))

    def run(self, until: float) -> None:
        while self.queue:
            event = heapq.heappop(self.queue)
            if event.time > until:
                break
            self.now = event.time
            event.action()


class Server:
    def __init__(self, simulation: Simulation, service: Any):
        self.simulation = simulation
        self.service = service
        self.waiting: list[Any] = []
        self.busy = False
        self.waited = 0.0
        self.served = 0

    def arrive(self, work: Any) -> None:
        self.waiting.append((self.simulation.now, work))
        if not self.busy:
            self.begin()

    def begin(self) -> None:
        since, work = self.waiting.pop(0)
        self.busy = True
        self.waited += self.simulation.now - since
        self.simulation.after(self.service * work, self.finish)

    def finish(self) -> None:
        self.served += 1
        self.busy = False
        if self.waiting:
            self.begin()


@program(0.87, 0.71)
def servers_and_events(between: float, service: float) -> float:
    """Two servers, the faster of which is chosen by its queue, in a loop of events."""
    simulation = Simulation()
    servers = [Server(simulation, service), Server(simulation, 1.4 * service)]

    def arrive(k: int) -> None:
        server = min(servers, key=lambda s: len(s.waiting) + s.busy)
        server.arrive(0.8 + 0.05 * (k % 7))
        if k < 60:
            simulation.after(between * (0.3 + 0.1 * (k * k % 5)), lambda: arrive(k + 1))

    simulation.after(between, lambda: arrive(0))
    simulation.run(1000.0)
    return sum(s.waited / max(s.served, 1) for s in servers) + 0.01 * simulation.now


# ------------------------------------------------------------------------------- an interpreter with a stack


class Machine:
    def __init__(self, registers: dict[str, Any]):
        self.stack: list[Any] = []
        self.registers = dict(registers)
        self.counter = 0
        self.operations: dict[str, Callable[..., Any]] = {
            "push": self.push,
            "load": self.load,
            "store": self.store,
            "add": lambda _: self.binary(lambda a, b: a + b),
            "sub": lambda _: self.binary(lambda a, b: a - b),
            "mul": lambda _: self.binary(lambda a, b: a * b),
            "jump": self.jump,
        }

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def load(self, name: str) -> None:
        try:
            self.stack.append(self.registers[name])
        except KeyError:
            raise NameError(name) from None

    def store(self, name: str) -> None:
        self.registers[name] = self.stack.pop()

    def binary(self, operation: Callable[[Any, Any], Any]) -> None:
        b, a = self.stack.pop(), self.stack.pop()
        self.stack.append(operation(a, b))

    def jump(self, target: int) -> None:
        if self.stack.pop() > 0:
            self.counter = target

    def run(self, code: list[tuple[str, Any]]) -> Any:
        while self.counter < len(code):
            name, operand = code[self.counter]
            self.counter += 1
            self.operations[name](operand)
        return self.stack.pop()


@program(0.95, 0.3)
def stack_machine(x: float, y: float) -> float:
    """A loop in the language of a machine with a stack: s = s * x + y, n times."""
    code: list[tuple[str, Any]] = [
        ("load", "s"), ("load", "x"), ("mul", None), ("load", "y"), ("add", None), ("store", "s"),
        ("load", "n"), ("push", 1), ("sub", None), ("store", "n"), ("load", "n"), ("jump", 0), ("load", "s"),
    ]  # fmt: skip
    return Machine({"s": 1.0, "x": x, "y": y, "n": 25}).run(code)


# --------------------------------------------------------------------------------------- a parser of formulas

TOKEN = re.compile(r"\s*(?:(\d+\.?\d*)|(\w+)|(.))")


class Parser:
    functions: ClassVar[dict[str, Any]] = {"sin": math.sin, "exp": math.exp, "sqrt": math.sqrt}

    def __init__(self, text: str, names: dict[str, Any]):
        self.tokens = [m.groups() for m in TOKEN.finditer(text)]
        self.names = names
        self.at = 0

    def peek(self) -> str:
        if self.at >= len(self.tokens):
            return ""
        return self.tokens[self.at][2] or ""

    def sum(self) -> Any:
        value = self.product()
        while self.peek() in ("+", "-"):
            sign = self.peek()
            self.at += 1
            other = self.product()
            value = value + other if sign == "+" else value - other
        return value

    def product(self) -> Any:
        value = self.atom()
        while (sign := self.peek()) and sign in "*/":
            self.at += 1
            value = value * self.atom() if sign == "*" else value / self.atom()
        return value

    def atom(self) -> Any:
        number, name, sign = self.tokens[self.at]
        self.at += 1
        if number is not None:
            return float(number)
        if sign == "-":
            return -self.atom()
        if name is not None and name not in self.functions:
            return self.names[name]
        if name is not None:
            self.at += 1
        value = self.sum()
        self.at += 1
        return self.functions[name](value) if name is not None else value


FORMULAS = """
area = 2 * x * (y + 0.5)
drag = exp(-0.5 * x) / (1 + y * y)
lift = area * drag - sin(3 * y)
cost = sqrt(area + 4) + 0.1 * lift - (x - y) * 0.25
"""


@program(0.8, 0.6)
def formulas_in_text(x: float, y: float) -> float:
    """Formulas in text, which name what was computed before."""
    names = {"x": x, "y": y}
    for line in FORMULAS.strip().splitlines():
        if line.strip():
            name, formula = line.split("=", 1)
            names[name.strip()] = Parser(formula, names).sum()
    return names["cost"] + names["lift"]


# ------------------------------------------------------------------------------------------ a tree of parts


@dataclass
class Part:
    name: str
    weight: Any
    children: list[Part] = field(default_factory=list)
    factor: Any = 1.0

    def add(self, *children: Part) -> Part:
        self.children.extend(children)
        return self

    @property
    def total(self) -> Any:
        return self.factor * (self.weight + sum(c.total for c in self.children))

    def depth(self) -> int:
        return 1 + max((c.depth() for c in self.children), default=0)

    def walk(self) -> Iterator[Part]:
        yield self
        for child in self.children:
            yield from child.walk()

    def scaled(self, by: Any) -> Part:
        return Part(self.name, self.weight * by, [c.scaled(0.9 * by) for c in self.children], self.factor)


def assembly(name: str, weight: Any, depth: int) -> Part:
    part = Part(name, weight, factor=1.0 + 0.01 * depth)
    if depth > 0:
        part.add(*(assembly(f"{name}.{k}", 0.5 * weight + 0.1 * k, depth - 1) for k in range(3)))
    return part


@program(1.3, 0.8)
def tree_of_parts(weight: float, by: float) -> float:
    """A tree of dataclasses, built, scaled, walked and summed."""
    tree = assembly("root", weight, 3)
    scaled = tree.scaled(by)
    heavy = [p.weight for p in scaled.walk() if p.weight > 0.2]
    return tree.total + scaled.total / scaled.depth() + sum(heavy) / len(heavy)


# ------------------------------------------------------------------------------------ recursion with caches


@program([0.3 + 0.07 * (k * 5 % 11) for k in range(12)], 0.6)
def recursion_with_caches(costs: list[float], swap: float) -> float:
    """The distance of two words, by recursion with a cache, and a knapsack by a dict of results."""
    first, second = "kitchens", "sittings"

    @lru_cache(maxsize=1000)
    def distance(i: int, j: int) -> Any:
        if i == 0:
            return j * costs[0]
        if j == 0:
            return i * costs[1]
        same = first[i - 1] == second[j - 1]
        return min(
            distance(i - 1, j) + costs[i],
            distance(i, j - 1) + costs[j],
            distance(i - 1, j - 1) + (0.0 if same else swap),
        )

    memory: dict[tuple[int, int], Any] = {}

    def best(k: int, room: int) -> Any:
        if k == len(costs) or room <= 0:
            return 0.0
        key = (k, room)
        if key not in memory:
            without = best(k + 1, room)
            size = 2 + k % 3
            memory[key] = max(without, costs[k] + best(k + 1, room - size)) if size <= room else without
        return memory[key]

    return distance(len(first), len(second)) + best(0, 14)


# -------------------------------------------------------------------------------------------- records by key


@program(VALUES[:60], 0.1)
def records_by_key(amounts: list[float], tax: float) -> float:
    """Records by month and kind, aggregated, sorted and reported."""
    rows = [
        {"month": f"2024-{k % 6 + 1:02d}", "kind": ("food", "rent", "fun")[k % 3], "amount": a, "paid": k % 4 != 0}
        for k, a in enumerate(amounts)
    ]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["month"], row["kind"]].append(row)
    report = {}
    for key, members in sorted(groups.items()):
        paid = [r["amount"] for r in members if r["paid"]]
        if not paid:
            continue
        mean = sum(paid) / len(paid)
        spread = math.sqrt(sum((a - mean) ** 2 for a in paid) / len(paid) + 1e-3)
        report[key] = {"total": sum(paid) * (1.0 + tax), "mean": mean, "spread": spread, "top": max(paid)}
    by_kind: dict[str, float] = {}
    for (_, kind), line in report.items():
        by_kind[kind] = by_kind.get(kind, 0.0) + line["total"] + 0.1 * line["spread"]
    best = max(by_kind, key=by_kind.__getitem__)
    ranked = sorted(report.values(), key=lambda r: r["mean"], reverse=True)
    return (
        by_kind[best] + sum(r["top"] / (1 + i) for i, r in enumerate(ranked[:5])) + sum(by_kind.values()) / len(by_kind)
    )


# ------------------------------------------------------------------------------------------ a bank's ledger


class InsufficientFunds(Exception):
    def __init__(self, account: str, missing: Any):
        super().__init__(f"{account} lacks money")
        self.account = account
        self.missing = missing


class Account:
    fee = 0.02

    def __init__(self, name: str, balance: Any = 0.0):
        self.name = name
        self._balance = balance
        self.history: list[tuple[str, Any]] = []

    @property
    def balance(self) -> Any:
        return self._balance

    def deposit(self, amount: Any) -> None:
        if amount <= 0:
            raise ValueError("a deposit has to be positive")
        self._balance += amount
        self.history.append(("deposit", amount))

    def withdraw(self, amount: Any) -> None:
        if amount > self._balance:
            raise InsufficientFunds(self.name, amount - self._balance)
        self._balance -= amount
        self.history.append(("withdraw", amount))


class Bank:
    def __init__(self, interest: Any):
        self.accounts: dict[str, Account] = {}
        self.interest = interest
        self.fees = 0.0

    def __getitem__(self, name: str) -> Account:
        return self.accounts[name]

    def open(self, name: str, balance: Any) -> None:
        self.accounts[name] = Account(name, balance)

    @contextmanager
    def transaction(self, *names: str) -> Iterator[None]:
        before = {n: self.accounts[n].balance for n in names}
        try:
            yield
        except InsufficientFunds as error:
            for n in names:
                self.accounts[n]._balance = before[n]
            self.fees += 0.1 * error.missing
        finally:
            self.fees += Account.fee

    def transfer(self, source: str, target: str, amount: Any) -> None:
        with self.transaction(source, target):
            self[target].deposit(amount)
            self[source].withdraw(amount * (1 + Account.fee))

    def accrue(self) -> None:
        for account in self.accounts.values():
            account.deposit(account.balance * self.interest)


@program(1.0, 0.05)
def bank_with_transactions(start: float, interest: float) -> float:
    """Accounts with transactions that are undone by exceptions."""
    bank = Bank(interest)
    names = ["ann", "bob", "cid"]
    for k, name in enumerate(names):
        bank.open(name, start * (k + 1))
    for k in range(30):
        bank.transfer(names[k % 3], names[(k * k + 1) % 3], 0.3 + 0.1 * (k % 5) * start)
        if k % 10 == 9:
            bank.accrue()
    moved = sum(amount for a in bank.accounts.values() for kind, amount in a.history if kind == "deposit")
    return sum(a.balance for a in bank.accounts.values()) + 0.1 * moved - bank.fees


# ------------------------------------------------------------------------------- a network made of objects


class Neuron:
    def __init__(self, weights: list[Any], bias: Any):
        self.weights = weights
        self.bias = bias

    def __call__(self, inputs: list[Any]) -> Any:
        return sum((w * x for w, x in zip(self.weights, inputs)), self.bias)


class Layer:
    def __init__(self, neurons: list[Neuron], activation: Callable[[Any], Any]):
        self.neurons = neurons
        self.activation = activation

    def __call__(self, inputs: list[Any]) -> list[Any]:
        return [self.activation(n(inputs)) for n in self.neurons]


class Network:
    def __init__(self, layers: list[Layer]):
        self.layers = layers

    def __call__(self, inputs: list[Any]) -> list[Any]:
        for layer in self.layers:
            inputs = layer(inputs)
        return inputs

    def loss(self, data: list[tuple[list[float], float]]) -> Any:
        total = 0.0
        for inputs, target in data:
            (guess,) = self(inputs)
            total += (guess - target) ** 2
        return total / len(data)


@program([0.3 * math.sin(1.7 * k) for k in range(3 * 4 + 4 * 5 + 5)], [0.5, -0.2])
def neurons_and_layers(parameters: list[float], scale: list[float]) -> float:
    """A network of neurons that are objects, made of a list of parameters."""
    sizes, numbers, layers = [2, 4, 4, 1], iter(parameters), []
    for before, after in itertools.pairwise(sizes):
        neurons = [Neuron([next(numbers) for _ in range(before)], next(numbers)) for _ in range(after)]
        layers.append(Layer(neurons, math.tanh if after > 1 else lambda v: v))
    data = [([scale[0] * math.cos(k), scale[1] * k], 0.1 * k) for k in range(6)]
    return Network(layers).loss(data)


# ---------------------------------------------------------------------------------------- a chain of states


class Chain:
    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.moves: dict[str, list[tuple[str, float]]] = {
            "sunny": [("sunny", 0.6), ("cloudy", 0.3), ("rainy", 0.1)],
            "cloudy": [("sunny", 0.3), ("cloudy", 0.4), ("rainy", 0.3)],
            "rainy": [("sunny", 0.2), ("cloudy", 0.5), ("rainy", 0.3)],
        }

    def next(self, state: str) -> str:
        names, weights = zip(*self.moves[state])
        return self.random.choices(names, weights)[0]

    def walk(self, state: str, steps: int) -> Iterator[str]:
        for _ in range(steps):
            yield state
            state = self.next(state)


@program({"sunny": 1.2, "cloudy": 0.4, "rainy": -0.7}, 0.95)
def walks_of_a_chain(rewards: dict[str, float], discount: float) -> float:
    """What walks through the states of a chain bring in, discounted."""
    chain = Chain(7)
    visits: dict[str, int] = {}
    total = 0.0
    for _ in range(8):
        value, factor = 0.0, 1.0
        start = chain.random.choice(list(rewards))
        for state in chain.walk(start, 12):
            visits[state] = visits.get(state, 0) + 1
            noise = chain.random.uniform(-0.1, 0.1)
            value += factor * (rewards[state] + noise * discount)
            factor *= discount
        total += value
    share = {state: n / sum(visits.values()) for state, n in visits.items()}
    return total / 8 + sum(share[s] * rewards[s] for s in sorted(share))


# ------------------------------------------------------------------------------------- matrices as lists


class Matrix:
    def __init__(self, rows: list[list[Any]]):
        self.rows = rows

    @classmethod
    def identity(cls, n: int) -> Matrix:
        return cls([[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)])

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.rows[0])

    def __getitem__(self, at: tuple[int, int]) -> Any:
        return self.rows[at[0]][at[1]]

    def __add__(self, other: Matrix) -> Matrix:
        return Matrix([[a + b for a, b in zip(r, s)] for r, s in zip(self.rows, other.rows)])

    def __mul__(self, by: Any) -> Matrix:
        return Matrix([[by * a for a in row] for row in self.rows])

    def __matmul__(self, other: Matrix) -> Matrix:
        if self.shape[1] != other.shape[0]:
            raise ValueError("shapes do not fit")
        columns = list(zip(*other.rows))
        return Matrix([[sum(a * b for a, b in zip(row, column)) for column in columns] for row in self.rows])

    @property
    def transposed(self) -> Matrix:
        return Matrix([list(column) for column in zip(*self.rows)])

    def trace(self) -> Any:
        return sum(self[i, i] for i in range(self.shape[0]))


@program(0.4, 0.7)
def matrices_of_lists(x: float, y: float) -> float:
    """The exponential of a matrix of lists, by its series."""
    a = Matrix([[x * math.sin(i + j) + (y if i == j else 0.1 * y * i) for j in range(4)] for i in range(4)])
    result, term = Matrix.identity(4), Matrix.identity(4)
    for k in range(1, 6):
        term = (term @ a) * (1.0 / k)
        result = result + term
    return (result @ result.transposed).trace() + max(max(abs(v) for v in row) for row in result.rows)


# ------------------------------------------------------------------------------------------- a stock of goods


class Kind(enum.Enum):
    FOOD = "food"
    TOOL = "tool"
    BOOK = "book"

    @property
    def tax(self) -> float:
        return 0.07 if self is Kind.BOOK else 0.19


class Rejected(ValueError):
    pass


class Good(ABC):
    kind = Kind.FOOD

    def __init__(self, name: str, price: Any):
        self.name = name
        self.price = price

    def __str__(self) -> str:
        return f"{self.name} ({self.kind.value})"

    @abstractmethod
    def value(self, age: int) -> Any: ...


class Fresh(Good):
    def value(self, age: int) -> Any:
        if age > 6:
            raise Rejected(f"{self} is {age} days old")
        return self.price * 0.9**age


class Lasting(Good):
    def __init__(self, name: str, price: Any, kind: Kind):
        super().__init__(name, price)
        self.kind = kind
        self.discount = 0.01 * price

    def value(self, age: int) -> Any:
        return self.price - age * self.discount


class Log:
    lines: list[str]

    def __enter__(self) -> Log:
        self.lines = []
        return self

    def __exit__(self, *exception: Any) -> None:
        self.lines.append("%d lines" % len(self.lines))  # noqa: UP031


@program(VALUES[:30], 0.3)
def stock_of_goods(prices: list[float], penalty: float) -> float:
    """Goods of several kinds, some of which are rejected, and what is said of them."""
    makers = [Fresh, lambda n, p: Lasting(n, p, Kind.TOOL), lambda n, p: Lasting(n, p, Kind.BOOK)]
    goods = [makers[k % 3](f"good {k}", price) for k, price in enumerate(prices)]
    totals: dict[Kind, float] = dict.fromkeys(Kind, 0.0)
    rejected, names, total = 0.0, set(), 0.0
    for day in (2, 5, 8):
        with Log() as log:
            for good in goods:
                try:
                    totals[good.kind] += good.value(day) * (1.0 + good.kind.tax)
                except Rejected as error:
                    rejected += penalty * (good.price + 0.001 * len(str(error)))
                    log.lines.append(f"{good}: {error}")
                else:
                    names |= {good.name, good.kind.value}
                total += getattr(good, "discount", penalty) if hasattr(good, "discount") else 0.1 * penalty
            total += 0.01 * len(log.lines)
    for kind in Kind:
        total += totals[kind] * (2.0 if kind.value in names else 1.0)
    return total - rejected


# ------------------------------------------------------------------------------- parts that are numbered


class Numbered(type):
    parts: list[Any]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__call__(*args, **kwargs)
        made.number = len(cls.parts)
        cls.parts.append(made)
        return made


class In:
    """An attribute that is kept in another unit."""

    def __init__(self, factor: float):
        self.factor = factor

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"_{name}"

    def __get__(self, x: Any, owner: type) -> Any:
        return getattr(x, self.name) * self.factor

    def __set__(self, x: Any, value: Any) -> None:
        setattr(x, self.name, value / self.factor)


class Plank(metaclass=Numbered):
    parts: ClassVar[list[Any]] = []
    length = In(1000.0)

    def __init__(self, length: Any, *, width: Any = 1.0):
        self.length, self.width = length, width


class Where(tuple):
    __slots__ = ()

    def __neg__(self) -> Where:
        return Where([-v for v in self])


class Costs(dict[str, Any]):
    def __init__(self, rate: Any):
        super().__init__()
        self.rate = rate

    def __missing__(self, key: str) -> Any:
        self[key] = value = self.rate * len(key)
        return value


def with_margin(margin: Any) -> Any:
    def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            return f(*args, margin=margin, **kwargs)

        return call

    return decorate


@program(VALUES[:10], 0.3)
def parts_that_are_numbered(lengths: list[float], rate: float) -> float:
    """Parts by a metaclass, in units, at costs that are made when they are asked for, with a decorator and a cache."""
    Plank.parts.clear()
    costs, total = Costs(rate), 0.0

    @with_margin(rate)
    def price(length: Any, width: Any, *, margin: Any, sort: str = "plain") -> Any:
        return length * width * (1.0 + margin) * costs[sort]

    @lru_cache(maxsize=100)
    def waste(count: int, length: Any) -> Any:
        return length if count < 2 else 0.5 * waste(count - 1, length) + 0.1 * waste(count - 2, length)

    for k, length in enumerate(lengths):
        part = Plank(length, width=rate + k)
        where = -Where((part.length, part.width))
        total += price(*where) + price(*[part.length], 2.0, sort="polished") + waste(4, length) * part.number
    return total


# ------------------------------------------------------------------------------------- the best way through a table


@program(VALUES[:12], 0.4)
def best_way_through_layers(heights: list[float], slope: float) -> float:
    """Each layer keeps, for each place, the best sum so far and where it came from; keys look into what they capture."""
    costs = {(i, j): slope * abs(i - j) + 0.1 * slope for i in range(4) for j in range(4)}
    layers: list[dict[int, tuple[float, int | None]]] = [{i: (0.1 * i * slope, None) for i in range(4)}]
    for height in heights:
        layer: dict[int, tuple[float, int | None]] = {}
        for j in range(4):
            i = min(range(4), key=lambda i: layers[-1][i][0] + costs[i, j])
            layer[j] = layers[-1][i][0] + costs[i, j] + height * math.sin(j + height), i
        layers.append(layer)
    return min(value for value, _ in layers[-1].values())


# ------------------------------------------------------------------------------------- formulas in brackets


class Scope(dict[str, Any]):
    """Names, and where to look for others."""

    def __init__(self, names: Any = (), values: Any = (), outer: Any = None):
        self.update(zip(names, values))
        self.outer = outer

    def find(self, name: str) -> Any:
        return self if name in self else self.outer.find(name)


def read(tokens: list[str]) -> Any:
    token = tokens.pop(0)
    if token != "(":
        return float(token) if token[0].isdigit() else token
    items = []
    while tokens[0] != ")":
        items.append(read(tokens))
    tokens.pop(0)
    return items


def worth(formula: Any, scope: Scope) -> Any:
    if isinstance(formula, str):
        return scope.find(formula)[formula]
    if not isinstance(formula, list):
        return formula
    match formula[0]:
        case "if":
            return worth(formula[2] if worth(formula[1], scope) else formula[3], scope)
        case "lambda":
            return lambda *values: worth(formula[2], Scope(formula[1], values, scope))
        case "let":
            scope[formula[1]] = worth(formula[2], scope)
            return None
    f = worth(formula[0], scope)
    return f(*[worth(part, scope) for part in formula[1:]])


@program(0.9, 1.7)
def formulas_in_brackets(x: float, y: float) -> float:
    """An interpreter with scopes, whose functions are closures, and which are derived from dict."""
    scope = Scope(["+", "-", "*", "<", "x", "y"], [operator.add, operator.sub, operator.mul, operator.lt, x, y])
    power = "( let power ( lambda ( b k ) ( if ( < k 1 ) 1 ( * b ( power b ( - k 1 ) ) ) ) ) )"
    for text in (power, "( let square ( lambda ( a ) ( * a a ) ) )"):
        worth(read(text.split()), scope)
    return worth(read("( + ( power x 4 ) ( square ( - y ( * 2 x ) ) ) )".split()), scope)


# ------------------------------------------------------------------------------------- a table that is text


LINES = "part,count,price\n" + "\n".join(f"part{k},{k + 1},{'abcde'[k % 5]}" for k in range(25))


@program({"a": 0.25, "b": 0.1, "c": 12.5, "d": 2.0, "e": 0.7}, LINES)
def table_of_text(prices: dict[str, float], text: str) -> float:
    """Rows become dicts by their heads, are put in groups, and these in their order."""
    heads, *rows = [line.split(",") for line in text.split("\n")]
    groups: dict[str, list[Any]] = {}
    for row in rows:
        entry = dict(zip(heads, row))
        groups.setdefault(entry["price"], []).append(int(entry["count"]) * prices[entry["price"]])
    ranked = sorted(groups.items(), key=lambda group: -sum(group[1]))
    best = next(name for name, amounts in ranked if len(amounts) > 2)
    return sum(sum(amounts) ** 2 / rank for rank, (_, amounts) in enumerate(ranked, 1)) + prices[best]


__all__ = ["PROGRAMS"]
