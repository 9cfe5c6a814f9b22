"""Ordinary programs by a third hand: those whose gradients took more than the level allows when they were first measured. They ask for
attributes that may be missing, delegate, chain generators, retry, nest loops over dicts, and make classes in functions."""

from __future__ import annotations

import itertools
import math
import operator
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from .everyday import registering

PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {}
program = registering(PROGRAMS)


# ------------------------------------------------------------------------------------ settings with parents, by __getattr__
class Config:
    def __init__(self, parent: Config | None = None, **kw: Any):
        self._parent, self._kw = parent, kw

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._kw:
            return self._kw[name]
        if self._parent is not None:
            return getattr(self._parent, name)
        raise AttributeError(name)

    def child(self, **kw: Any) -> Config:
        return Config(self, **kw)


@program(0.01, 0.9)
def training_by_settings(lr: float, momentum: float) -> float:
    base = Config(lr=lr, momentum=momentum, clip=5.0)
    cfgs = [base, base.child(lr=lr * 2), base.child(momentum=0.5).child(clip=0.1)]
    total = 0.0
    for cfg in cfgs:
        w, vel = 3.0, 0.0
        for _ in range(8):
            g = 2 * (w - 1)
            g = max(-cfg.clip, min(cfg.clip, g))
            vel = cfg.momentum * vel - cfg.lr * g
            w += vel
            if hasattr(cfg, "nesterov"):
                w += cfg.nesterov
        total += w * w
    return total


# ------------------------------------------------------------------------------------ a proxy that counts
@program(0.6, 0.4)
def counting_proxy(x: float, y: float) -> float:
    class Inner:
        def __init__(self) -> None:
            self.a = x
            self.b = y

        def area(self) -> Any:
            return self.a * self.b

    class Proxy:
        def __init__(self, o: Any):
            self._o = o
            self._n = 0

        def __getattr__(self, name: str) -> Any:
            self._n += 1
            return getattr(self._o, name)

    p: Any = Proxy(Inner())
    return sum(p.area() + p.a * i for i in range(15)) + p._n * x


# ------------------------------------------------------------------------------------ attributes that may be missing
@program(0.6, 0.4)
def options_that_may_be_missing(x: float, y: float) -> float:
    class Options:
        pass

    o: Any = Options()
    o.lr = x
    t = 0.0
    for i in range(30):
        t += getattr(o, "lr", 1.0) * i + getattr(o, "mom", y)
        if hasattr(o, "decay"):
            t *= o.decay
        elif i == 20:
            o.decay = y
    return t


# ------------------------------------------------------------------------------------ a chain of generators
@program([0.3 * i - 2 for i in range(40)], 0.7)
def chain_of_generators(data: list[float], k: float) -> float:
    def read(xs: Iterable[Any]) -> Iterator[Any]:
        for x in xs:  # noqa: UP028
            yield x

    def clean(xs: Iterable[Any]) -> Iterator[Any]:
        for x in xs:
            if x is not None and x > -1:
                yield x

    def scaled(xs: Iterable[Any]) -> Iterator[Any]:
        prev = 0.0
        for x in xs:
            prev = k * prev + x
            yield prev

    def batches(xs: Iterable[Any], n: int) -> Iterator[list[Any]]:
        batch = []
        for x in xs:
            batch.append(x)
            if len(batch) == n:
                yield batch
                batch = []
        if batch:
            yield batch

    seen = {}
    for i, b in enumerate(batches(scaled(clean(read(data))), 6)):
        seen[i, len(b)] = max(b) - min(b)
    return sum(seen.values()) + sum(max(b) - min(b) + sum(b) / len(b) for b in batches(scaled(clean(read(data))), 6))


# ------------------------------------------------------------------------------------ retries within a context manager
class Timer:
    def __init__(self, clock: list[Any]):
        self.clock = clock

    def __enter__(self) -> Timer:
        self.start = self.clock[0]
        return self

    def __exit__(self, *exc: Any) -> bool:
        self.elapsed = self.clock[0] - self.start
        return exc[0] is TimeoutError


@program(1.7, 0.1)
def retries_with_backoff(base: float, jitter: float) -> float:
    clock: list[Any] = [0.0]
    calls, spent = 0, []

    def fetch(n: int) -> Any:
        nonlocal calls
        calls += 1
        clock[0] += jitter * (1 + n % 3)
        if calls % 3:
            raise ConnectionError(n)
        return n * jitter

    out = 0.0
    for n in range(8):
        with Timer(clock) as t:
            for attempt in range(4):
                try:
                    out += fetch(n)
                    break
                except ConnectionError:
                    clock[0] += 0.01 * base**attempt
            else:
                raise TimeoutError
        spent.append(t.elapsed)
    return out + math.fsum(spent) + clock[0] * spent[-1]


# ------------------------------------------------------------------------------------ an exception from some calls deep
@program(0.3)
def raised_some_calls_deep(x: float) -> float:
    def g(n: int) -> Any:
        if n == 0:
            raise ValueError(n)
        return g(n - 1)

    t = 0.0
    for _ in range(20):
        try:
            t += g(2)
        except ValueError:
            t += x
    return t


# ------------------------------------------------------------------------------------ Newton's method with a history
@program(2.0, 3.0)
def newton_with_history(a: float, b: float) -> float:
    history = {}

    def f(x: Any) -> Any:
        return x**3 - a * x - b

    def df(x: Any) -> Any:
        return 3 * x * x - a

    x = 2.5
    for i in range(40):
        history[i, "x"] = x
        try:
            step = f(x) / df(x)
        except ZeroDivisionError:
            step = 1e-3
        x -= 0.5 * step
        if abs(step) < 1e-14:
            break
    return x + sum(history[k] for k in history if k[0] % 2)


# ------------------------------------------------------------------------------------ sparse matrices as dicts
@program(0.6, 0.4)
def product_of_sparse_matrices(x: float, y: float) -> float:
    m = {}
    for i in range(6):
        for j in range(6):
            if (i + j) % 3 == 0:
                m[i, j] = x * i + y * j + 1
    out: dict[tuple[int, int], Any] = defaultdict(float)
    for (i, k), a in m.items():
        for (k2, j), b in m.items():
            if k == k2:
                out[i, j] += a * b
    return sum(v for (i, j), v in out.items() if i <= j)


# ------------------------------------------------------------------------------------ texts that are taken apart
DOCS = [
    ("spam", "buy cheap pills now"),
    ("ham", "meeting at noon now"),
    ("spam", "cheap cheap offer"),
    ("ham", "lunch at the cheap place"),
]


@program(1.0, 0.5)
def bayes_by_words(smooth: float, prior: float) -> float:
    counts: dict[str, dict[str, int]] = {"spam": {}, "ham": {}}
    vocab = set()
    for label, text in DOCS:
        for w in text.split():
            counts[label][w] = counts[label].get(w, 0) + 1
            vocab.add(w)

    def logp(label: str, words: list[str]) -> Any:
        total = sum(counts[label].values()) + smooth * len(vocab)
        p = math.log(prior if label == "spam" else 1 - prior)
        for w in words:
            p += math.log((counts[label].get(w, 0) + smooth) / total)
        return p

    out = 0.0
    for text in ("cheap pills at noon", "lunch meeting", "buy now now"):
        a, b = (logp(label, text.split()) for label in ("spam", "ham"))
        m = max(a, b)
        out += a - (m + math.log(math.exp(a - m) + math.exp(b - m)))
    return out


@program("1.5,2.5;3.5,4;4,5;6,7", 0.7)
def numbers_in_lines(text: str, k: float) -> float:
    total = 0.0
    for line in text.split(";") * 4:
        a, b = map(float, line.split(","))
        c, d = map(lambda v: v * k, (a, b))  # noqa: C417
        total += c * k + d
    return total


# ------------------------------------------------------------------------------------ classes that are made in a function
@program(0.6, 0.4)
def observers(x: float, y: float) -> float:
    class Observed:
        def __init__(self, v: Any):
            self._v = v
            self.subs: list[Any] = []

        def set(self, v: Any) -> None:
            old, self._v = self._v, v
            for f in self.subs:
                f(old, v)

    total: list[Any] = [0.0]
    a, b = Observed(x), Observed(y)
    a.subs.append(lambda o, n: b.set(n * y))
    a.subs.append(lambda o, n: total.append(n - o))
    b.subs.append(lambda o, n: total.__setitem__(0, total[0] + n * o))
    for i in range(10):
        a.set(a._v + x * 0.1 * i)
    return sum(total)


@program(0.6, 0.4)
def tree_of_generators(x: float, y: float) -> float:
    class Tree:
        def __init__(self, v: Any, kids: tuple[Any, ...] = ()):
            self.v = v
            self.kids = kids

        def __iter__(self) -> Iterator[Any]:
            yield self.v
            for k in self.kids:
                yield from k

    def made(d: int, v: Any) -> Tree:
        return Tree(v, (made(d - 1, v * y), made(d - 1, v + x)) if d else ())

    try:
        return sum(v * v for v in made(3, x))
    except RecursionError:
        return 0.0


@program([0.5, 1.5, 2.5, 3.5, 4.5], 0.5)
def windows_as_iterators(data: list[float], k: float) -> float:
    class Window:
        def __init__(self, xs: list[float], n: int):
            self.xs, self.n, self.i = xs, n, 0

        def __iter__(self) -> Window:
            return self

        def __next__(self) -> list[float]:
            if self.i + self.n > len(self.xs):
                raise StopIteration
            self.i += 1
            return self.xs[self.i - 1 : self.i - 1 + self.n]

    t = 0.0
    for n in (1, 2, 3, 4):
        for w in Window(data, n):
            t = t * k + sum(w) / n
    return t


@program(1.0, 0.9)
def classes_above_classes(x: float, y: float) -> float:
    class A:
        def __init__(self, v: Any):
            self.v = v

        def f(self, t: float) -> Any:
            return self.v * t

    class B(A):
        def __init__(self, v: Any, w: Any):
            super().__init__(v)
            self.w = w

        def f(self, t: float) -> Any:
            return super().f(t) + self.w

    class C(B):
        def f(self, t: float) -> Any:
            return super().f(t) ** 2

    objs = [A(x), B(x, y), C(y, x)]
    return sum(o.f(t * 0.1) for t in range(10) for o in objs)


@program(0.8, 1.1)
def property_in_slots(x: float, y: float) -> float:
    class Temperature:
        __slots__ = ("_c",)

        def __init__(self, c: Any):
            self._c = c

        @property
        def f(self) -> Any:
            return self._c * 1.8 + 32

        @f.setter
        def f(self, v: Any) -> None:
            if v < -400:
                raise ValueError
            self._c = (v - 32) / 1.8

    t = Temperature(x)
    for i in range(25):
        t.f = t.f * 0.9 + y * i
    return t.f


@program(1.2, 0.3)
def visitor_by_names(x: float, y: float) -> float:
    class Num:
        def __init__(self, v: Any):
            self.v = v

    class Bin:
        def __init__(self, op: str, left: Any, right: Any):
            self.op, self.l, self.r = op, left, right

    class Eval:
        def visit(self, n: Any) -> Any:
            return getattr(self, "visit_" + type(n).__name__)(n)

        def visit_Num(self, n: Any) -> Any:
            return n.v

        def visit_Bin(self, n: Any) -> Any:
            left, right = self.visit(n.l), self.visit(n.r)
            return {"+": operator.add, "*": operator.mul, "-": operator.sub}[n.op](left, right)

    t: Any = Num(x)
    for i in range(8):
        t = Bin("+*-"[i % 3], t, Bin("*", Num(y), Num(float(i))))
    return Eval().visit(t)


# ------------------------------------------------------------------------------------ all orders
@program(0.7, 1.3)
def shortest_of_all_orders(x: float, y: float) -> float:
    d = {
        ("a", "b"): x, ("b", "c"): y, ("a", "c"): x + y, ("c", "d"): x * y, ("b", "d"): 2.0, ("a", "d"): 3.0,
    }  # fmt: skip
    best = None
    for p in itertools.permutations("abcd"):
        c = sum(d[min(u, v), max(u, v)] for u, v in zip(p, p[1:]))
        if best is None or c < best:
            best = c
    assert best is not None
    return best**2


__all__ = ["PROGRAMS"]
