"""What people build in Python out of classes, callbacks and the library, a design at a time: caches, parsers, simulations, decorators,
pipelines. For gradients through the Python back end, beside the programs of `everyday`.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import math
import re
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .everyday import VALUES, registering

PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {}
program = registering(PROGRAMS)


class _Cache:
    """What was used least recently goes first."""

    def __init__(self, size: int):
        self.size = size
        self.items: OrderedDict[int, Any] = OrderedDict()
        self.hits = 0

    def get(self, key: int, make: Callable[[int], Any]) -> Any:
        if key in self.items:
            self.items.move_to_end(key)
            self.hits += 1
            return self.items[key]
        value = make(key)
        self.items[key] = value
        if len(self.items) > self.size:
            self.items.popitem(last=False)
        return value


@program(0.7, 0.3)
def least_recently_used(x: float, y: float) -> float:
    cache = _Cache(8)
    total = 0.0
    for k in range(300):
        total += cache.get((k * k) % 13, lambda n: x * n + y) * 0.5
    return total


_TOKENS = re.compile(r"\s*(?:(\d+\.?\d*)|([a-z]+)|(.))")


def _tokens(text: str) -> Iterator[tuple[str, Any]]:
    for number, name, sign in _TOKENS.findall(text):
        if number:
            yield "number", float(number)
        elif name:
            yield "name", name
        else:
            yield "sign", sign
    yield "end", None


class _Parser:
    """An expression by recursive descent, calculated as it is read."""

    def __init__(self, text: str, names: dict[str, Any]):
        self.tokens = list(_tokens(text))
        self.at = 0
        self.names = names

    def peek(self) -> Any:
        return self.tokens[self.at][1]

    def take(self) -> tuple[str, Any]:
        token = self.tokens[self.at]
        self.at += 1
        return token

    def expression(self) -> Any:
        value = self.term()
        while self.peek() in ("+", "-"):
            _, sign = self.take()
            right = self.term()
            value = value + right if sign == "+" else value - right
        return value

    def term(self) -> Any:
        value = self.factor()
        while self.peek() in ("*", "/"):
            _, sign = self.take()
            right = self.factor()
            value = value * right if sign == "*" else value / right
        return value

    def factor(self) -> Any:
        kind, what = self.take()
        if kind == "number":
            return what
        if kind == "name":
            return self.names[what]
        if what == "-":
            return -self.factor()
        if what != "(":
            raise ValueError(f"unexpected {what!r}")
        value = self.expression()
        self.take()
        return value


_FORMULAS = ("x * (y + 2.5) - 3 * x / (y + 1)", "-(x + y) * (x - y) + 0.5", "x * x * y - 2 * (y - x * 3)")


@program(0.7, 0.3)
def calculator(x: float, y: float) -> float:
    return sum(_Parser(text, {"x": x, "y": y}).expression() for text in _FORMULAS * 4)


@dataclass(order=True)
class _Event:
    time: Any
    rank: int
    kind: str = field(compare=False)
    size: Any = field(compare=False, default=0.0)


@program(0.7, 0.3)
def queue_simulation(rate: float, service: float) -> float:
    counter = itertools.count()
    events = [_Event(0.0, next(counter), "arrival", 1.0)]
    waiting: deque[tuple[Any, Any]] = deque()
    busy, served, total = False, 0, 0.0
    while events and served < 60:
        event = heapq.heappop(events)
        if event.kind == "arrival":
            waiting.append((event.time, event.size))
            after = event.time + rate * (1.0 + 0.1 * (served % 5))
            heapq.heappush(events, _Event(after, next(counter), "arrival", event.size * 0.99))
        else:
            busy = False
            served += 1
        if waiting and not busy:
            came, size = waiting.popleft()
            busy = True
            total += (event.time - came) * size
            heapq.heappush(events, _Event(event.time + service * size, next(counter), "done"))
    return total


class _Loop:
    def __init__(self) -> None:
        self.time: Any = 0.0
        self.queue: list[Any] = []
        self.handlers: defaultdict[str, list[Any]] = defaultdict(list)

    def on(self, name: str, handler: Any) -> None:
        self.handlers[name].append(handler)

    def later(self, delay: Any, name: str, *args: Any) -> None:
        self.queue.append((self.time + delay, name, args))

    def run(self, steps: int) -> None:
        while self.queue and steps:
            self.time, name, args = self.queue.pop(0)
            for handler in self.handlers[name]:
                handler(*args)
            steps -= 1


@program(0.7, 0.3)
def event_loop(x: float, y: float) -> float:
    """Callbacks with different numbers of arguments, called from one place."""
    loop, log = _Loop(), []

    def tick(value: Any) -> None:
        log.append(value)
        loop.later(0.1, "tick", value * 0.9 + y)
        loop.later(0.05, "tock", value, x)

    def tock(value: Any, scale: Any) -> None:
        log.append(value * scale)

    loop.on("tick", tick)
    loop.on("tock", tock)
    loop.on("tock", lambda value, scale: log.append(value - scale))
    loop.later(x, "tick", 1.0)
    loop.run(100)
    return sum(log) + loop.time


class _Matrix:
    def __init__(self, rows: int, columns: int, data: Any = None):
        self.shape = rows, columns
        self.data = data or [0.0] * (rows * columns)

    def __getitem__(self, place: tuple[int, int]) -> Any:
        i, j = place
        return self.data[i * self.shape[1] + j]

    def __setitem__(self, place: tuple[int, int], value: Any) -> None:
        i, j = place
        self.data[i * self.shape[1] + j] = value

    def __matmul__(self, other: _Matrix) -> _Matrix:
        n, m = self.shape
        _, p = other.shape
        result = _Matrix(n, p)
        for i in range(n):
            for j in range(p):
                total = 0.0
                for k in range(m):
                    total += self[i, k] * other[k, j]
                result[i, j] = total
        return result

    @property
    def T(self) -> _Matrix:
        n, m = self.shape
        return _Matrix(m, n, [self[i, j] for j in range(m) for i in range(n)])


@program([0.1 * k for k in range(16)])
def matrix_class(data: list[float]) -> float:
    a = _Matrix(4, 4, list(data))
    b = a @ a.T
    b[1, 2] += b[0, 0]
    c = b @ a
    return sum(c[i, i] for i in range(4))


def _scaled(by: float, offset: float = 0.0) -> Any:
    def decorate(f: Any) -> Any:
        @functools.wraps(f)
        def inner(*args: Any, **kwargs: Any) -> Any:
            return by * f(*args, **kwargs) + offset

        return inner

    return decorate


def _counted(f: Any) -> Any:
    @functools.wraps(f)
    def inner(*args: Any) -> Any:
        inner.calls += 1
        return f(*args)

    inner.calls = 0
    return inner


@_scaled(0.5, offset=0.1)
@_counted
def _bump(x: Any, y: Any) -> Any:
    return x * x - y


@_counted
@_scaled(2.0)
def _dip(x: Any, y: Any = 1.0) -> Any:
    return x * y


@program(0.7, 0.3)
def decorators_with_arguments(x: float, y: float) -> float:
    for _ in range(60):
        x = _bump(x, y)
        y = 0.3 * _dip(x, y) + 0.1
    return x + y


class _Levels:
    def __init__(self) -> None:
        self.level: Any = 1.0
        self.trace: list[Any] = []

    @contextmanager
    def scope(self, factor: Any) -> Iterator[Any]:
        old = self.level
        self.level = self.level * factor
        try:
            yield self.level
        finally:
            self.trace.append(self.level)
            self.level = old


@program(0.7, 0.3)
def nested_scopes(x: float, y: float) -> float:
    levels = _Levels()
    total = 0.0
    for k in range(30):
        with levels.scope(x) as outer:
            total += outer
            with levels.scope(y):
                total += levels.level * k
    return total + sum(levels.trace)


@dataclass
class _Layer:
    weight: Any
    bias: Any = 0.1
    history: list[Any] = field(default_factory=list)
    norm: Any = field(init=False)

    def __post_init__(self) -> None:
        self.norm = math.sqrt(self.weight**2 + self.bias**2)

    def __call__(self, x: Any) -> Any:
        y = x * self.weight / self.norm + self.bias
        self.history.append(y)
        return y


@program(0.7, 0.3)
def fields_made_afterwards(x: float, y: float) -> float:
    total = 0.0
    for k in range(25):
        layers = [_Layer(x + 0.1 * k), _Layer(y, bias=0.2 * x)]
        value = 1.0
        for layer in layers * 2:
            value = layer(value)
        total += value + sum(layers[0].history)
    return total


def _smooth(items: Iterable[Any], a: float) -> Iterator[Any]:
    last = None
    for x in items:
        last = x if last is None else a * x + (1.0 - a) * last
        yield last


def _above(items: Iterable[Any], least: float) -> Iterator[Any]:
    for x in items:
        if x > least:
            yield x


def _steps(items: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    items = iter(items)
    before = next(items)
    for x in items:
        yield before, x
        before = x


@program(VALUES[:200], 0.3)
def pipelines_of_generators(xs: list[float], a: float) -> float:
    return sum(q - p * a for p, q in _steps(_above(_smooth(iter(xs), a), 0.6)))


@dataclass
class _Circle:
    r: Any


@dataclass
class _Box:
    w: Any
    h: Any


class _Group(NamedTuple):
    parts: tuple[Any, ...]
    scale: Any


def _area(shape: Any) -> Any:
    match shape:
        case _Circle(r=r):
            return 3.14 * r * r
        case _Box(w, h) if w == h:
            return w**2
        case _Box(w, h):
            return w * h
        case _Group(parts=parts, scale=scale):
            return scale * sum(_area(p) for p in parts)
        case [first, *rest]:
            return _area(first) + _area(rest)
        case []:
            return 0.0
        case {"side": side}:
            return side * side
        case float() | int():
            return shape
        case _:
            raise TypeError(shape)


@program(0.7, 0.3)
def matching_objects(x: float, y: float) -> float:
    total = 0.0
    for _ in range(15):
        for shape in (_Circle(x), _Box(x, y), _Group((_Box(y, y), _Circle(x * y)), x), {"side": y}, [_Circle(y), x]):
            total += _area(shape)
    return total


@functools.singledispatch
def _cost(thing: Any) -> Any:
    raise TypeError(thing)


@_cost.register
def _of_circle(thing: _Circle) -> Any:
    return 2.0 * thing.r


@_cost.register
def _of_box(thing: _Box) -> Any:
    return thing.w + thing.h


@_cost.register(list)
def _of_list(thing: Any) -> Any:
    return functools.reduce(lambda total, t: total * 0.9 + _cost(t), thing, 0.0)


@_cost.register(float)
def _of_number(thing: Any) -> Any:
    return thing


@program(0.7, 0.3)
def single_dispatch(x: float, y: float) -> float:
    return sum(_cost([_Circle(x), _Box(x, y), y, [_Circle(y), x]]) for _ in range(25))


class _Light:
    """Its state is a method."""

    def __init__(self, delay: Any):
        self.state = self.red
        self.left = self.delay = delay
        self.output: Any = 0.0

    def red(self, dt: Any) -> None:
        self.left -= dt
        if self.left <= 0.0:
            self.state = self.green
            self.left += 2.0 * self.delay

    def green(self, dt: Any) -> None:
        self.output += dt
        self.left -= dt
        if self.left <= 0.0:
            self.state = self.yellow
            self.left += 0.5 * self.delay

    def yellow(self, dt: Any) -> None:
        self.output += 0.5 * dt
        self.left -= dt
        if self.left <= 0.0:
            self.state = self.red
            self.left += self.delay


@program([0.517, 0.731, 1.113], 0.1)
def state_machines(delays: list[float], dt: float) -> float:
    lights = [_Light(delay) for delay in delays]
    for _ in range(60):
        for light in lights:
            light.state(dt)
    return sum(light.output * delay for light, delay in zip(lights, delays))


@program({"a": {"x": 0.5, "y": 0.25}, "b": {"x": 1.517, "z": 0.75}}, 0.3)
def merged_settings(settings: dict[str, dict[str, float]], scale: float) -> float:
    total = 0.0
    for k in range(25):
        merged = {**settings["a"], **settings["b"], "k": scale * k}
        merged |= {"w": scale}
        total += sum(v * scale for key, v in sorted(merged.items()) if key != "z")
        total += max(merged.values()) - merged.get("q", scale) + merged.pop("w")
        total += settings.get("a", {}).get("y", 0.0)
    return total


class _Meter:
    made = 0

    def __init__(self) -> None:
        self.values: list[Any] = []

    @classmethod
    def of(cls, *values: Any) -> _Meter:
        self = cls()
        cls.made += 1
        self.values.extend(values)
        return self

    @staticmethod
    def weight(k: int) -> float:
        return 1.0 / (k + 1)

    def mean(self) -> Any:
        return sum(v * self.weight(k) for k, v in enumerate(self.values)) / len(self.values)


@program(0.7, 0.3)
def class_and_static_methods(x: float, y: float) -> float:
    return sum(_Meter.of(x, y * k, x * y).mean() for k in range(50))


__all__ = ["PROGRAMS"]
