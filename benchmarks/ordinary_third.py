"""Ordinary programs by a third hand: those whose gradients took more than the level allows when they were first measured. They ask for
attributes that may be missing, delegate, chain generators, retry, nest loops over dicts, make classes in functions, keep polynomials and
graphs in dicts, make each state out of the one before, and go through heaps, permutations and slices of generators."""

from __future__ import annotations

import heapq
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


# ------------------------------------------------------------------------------------ polynomials in dicts
Terms = dict[tuple[int, int], Any]


def product_of_terms(p: Terms, q: Terms) -> Terms:
    d: Terms = {}
    for (i, j), a in p.items():
        for (k, m), b in q.items():
            d[(i + k, j + m)] = d.get((i + k, j + m), 0.0) + a * b
    return d


@program(0.7, 1.3)
def sparse_polynomials(x: float, y: float) -> float:
    p: Terms = {(1, 0): x, (0, 2): y, (0, 0): 1.0}
    q: Terms = {(0, 0): y, (1, 1): x * y}
    r = product_of_terms(product_of_terms(p, q), product_of_terms(p, p))
    try:
        return sum(c * 0.5**i * 0.3**j for (i, j), c in r.items()) + sum(c * x**i * y**j for (i, j), c in q.items())
    except OverflowError:
        return 0.0


@program({(1, 0): 0.5, (0, 2): 1.5, (1, 1): -0.3}, {(0, 0): 1.1, (2, 1): 0.4, (0, 1): -0.7}, 0.8)
def given_polynomials(p: Terms, q: Terms, x: float) -> float:
    def times(a: Terms, b: Terms) -> Terms:
        out: Terms = {}
        for ea, ca in a.items():
            for eb, cb in b.items():
                e = (ea[0] + eb[0], ea[1] + eb[1])
                if e in out:
                    out[e] += ca * cb
                else:
                    out[e] = ca * cb
        return out

    try:
        total = 0.0
        for (i, j), c in times(times(times(p, q), q), p).items():
            total += c * x**i * (1 - x) ** j
        return total
    except ZeroDivisionError:
        return 0.0


class Poly:
    def __init__(self, terms: dict[tuple[int, ...], Any]):
        self.terms = terms

    def __mul__(self, other: Poly) -> Poly:
        out: dict[tuple[int, ...], Any] = defaultdict(float)
        for m, a in self.terms.items():
            for n, b in other.terms.items():
                key = tuple(i + j for i, j in zip(m, n))
                out[key] += a * b
        return Poly(dict(out))

    def __add__(self, other: Poly) -> Poly:
        out = dict(self.terms)
        for n, b in other.terms.items():
            out[n] = out.get(n, 0.0) + b
        return Poly(out)

    def __call__(self, *xs: Any) -> Any:
        return sum(c * math.prod(v**e for v, e in zip(xs, m)) for m, c in self.terms.items())


@program(0.7, 1.3)
def polynomials_of_a_class(a: float, b: float) -> float:
    p = Poly({(1, 0): a, (0, 1): b})
    q = Poly({(0, 0): 1.0, (1, 1): a * b})
    return (p * q + q * q * p)(0.5, b)


# ------------------------------------------------------------------------------------ each state out of the one before
class State:
    def __init__(self, x: Any, v: Any):
        self.x, self.v = x, v


@program(1.0, 0.2, 0.5)
def states_out_of_their_variables(x: float, v: float, k: float) -> float:
    s = State(x, v)
    dt = 0.05
    try:
        for _ in range(20):
            s = type(s)(**{**vars(s), "x": s.x + dt * s.v})
            s = type(s)(**{**vars(s), "v": s.v - dt * k * s.x})
    except ValueError:
        return 0.0
    return s.x * s.x + s.v


class Record:
    def __init__(self, **kw: Any):
        self.__dict__.update(kw)

    def copy(self, **changes: Any) -> Any:
        return type(self)(**{**self.__dict__, **changes})


@program(1.0, 0.2, 0.5)
def records_with_changes(x: float, v: float, k: float) -> float:
    s: Any = Record(x=x, v=v, k=k)
    dt = 0.05
    for _ in range(20):
        s = s.copy(x=s.x + dt * s.v)
        s = s.copy(v=s.v - dt * s.k * s.x)
    return s.x * s.x + s.v


# ------------------------------------------------------------------------------------ graphs as dicts of dicts
GRAPH = {
    u: {(u * 3 + d) % 12: 0.3 * u + d + 0.1 + 0.01 * ((u * 7 + d * d) % 13) ** 1.5 for d in (1, 2, 5)}
    for u in range(12)
}


@program(GRAPH, 1.1)
def bellman_ford(graph: dict[int, dict[int, float]], scale: float) -> float:
    dist = {u: math.inf for u in graph}  # noqa: C420
    dist[0] = 0.0
    for _ in range(5):
        for u, edges in graph.items():
            for v, w in edges.items():
                if dist[u] + w * scale < dist[v]:
                    dist[v] = dist[u] + w * scale
    try:
        return sum(d for d in dist.values() if d < math.inf) / len(dist)
    except ZeroDivisionError:
        return 0.0


@program(0.85, 0.3)
def ranks_in_a_weighted_graph(d: float, w: float) -> float:
    graph = {"a": {"b": w, "c": 1.0}, "b": {"c": 2 * w}, "c": {"a": 1.0, "d": w * w}, "d": {"a": 0.5}}
    rank = {n: 1 / len(graph) for n in graph}
    for _ in range(6):
        new = {n: (1 - d) / len(graph) for n in graph}
        for u, edges in graph.items():
            total = sum(edges.values())
            for v, weight in edges.items():
                new[v] += d * rank[u] * weight / total
        rank = new
    try:
        return rank["a"] + rank["d"] ** 2
    except KeyError:
        return 0.0


@program(GRAPH, 1.1)
def strengths_of_nodes(graph: dict[int, dict[int, float]], scale: float) -> float:
    total = 0.0
    for _ in range(5):
        for u, edges in graph.items():
            total += sum(edges.values()) * scale + max(edges.values()) * u
    try:
        return math.log(total)
    except ValueError:
        return 0.0


# ------------------------------------------------------------------------------------ heaps of tuples
@program(GRAPH, 1.1)
def dijkstra(graph: dict[int, dict[int, float]], scale: float) -> float:
    total = 0.0
    for start in (0, 5, 7):
        dist = {start: 0.0}
        heap = [(0.0, start)]
        done = set()
        while heap:
            d, u = heapq.heappop(heap)
            if u in done:
                continue
            done.add(u)
            for v, w in graph[u].items():
                nd = d + w * scale
                if v not in dist or nd < dist[v]:
                    dist[v] = nd
                    heapq.heappush(heap, (nd, v))
        total += sum(dist.values())
    return total


@program(0.5, 1.2)
def cheapest_way_through_a_grid(x: float, y: float) -> float:
    n = 4
    cost = [[1.0 + x * abs(math.sin(i * 2 + j)) + y * ((i * j) % 3) for j in range(n)] for i in range(n)]
    dist = {(0, 0): cost[0][0]}
    heap = [(cost[0][0], (0, 0))]
    while heap:
        d, (i, j) = heapq.heappop(heap)
        if d > dist[(i, j)]:
            continue
        if (i, j) == (n - 1, n - 1):
            return d
        for di, dj in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            a, b = i + di, j + dj
            if 0 <= a < n and 0 <= b < n:
                nd = d + cost[a][b]
                if nd < dist.get((a, b), float("inf")):
                    dist[(a, b)] = nd
                    heapq.heappush(heap, (nd, (a, b)))
    raise ValueError("no way")


@program([1.0, 0.5, 2.0, 0.8], 0.4)
def customers_in_a_queue(times: list[float], rate: float) -> float:
    queue: list[tuple[Any, int, str]] = []
    for i, t in enumerate(times):
        heapq.heappush(queue, (t, i, "arrive"))
    served, done = 0.0, 0
    while queue and done < 60:
        now, i, kind = heapq.heappop(queue)
        if kind == "arrive":
            heapq.heappush(queue, (now + rate * (i + 1), i, "leave"))
        else:
            served += now * 0.1
            done += 1
            heapq.heappush(queue, (now + rate, i, "arrive"))
    return served


# ------------------------------------------------------------------------------------ slices of generators, and two side by side
@program(0.9, 1.5)
def slices_of_generators(x: float, k: float) -> float:
    def geometric(a: Any, r: Any) -> Iterator[Any]:
        while True:
            yield a
            a *= r

    total = 0.0
    for g in itertools.islice(geometric(k, x), 60):
        total += g * k
    for g in itertools.takewhile(lambda v: v > 0.01, geometric(k, x)):
        total += g
    for g in itertools.islice(geometric(x, x), 5, 40):
        total += g * g
    try:
        return math.sqrt(total)
    except ValueError:
        return 0.0


@program(0.9, 1.5)
def generators_side_by_side(x: float, k: float) -> float:
    def up(a: Any) -> Iterator[Any]:
        for i in range(60):
            yield a * i

    def down(b: Any) -> Iterator[Any]:
        while True:
            yield b
            b *= 0.9

    total = 0.0
    for a, b in zip(up(x), down(k)):
        total += a * b
    try:
        return total + sum(p - q for p, q in zip(down(x), up(k)))
    except ValueError:
        return 0.0


# ------------------------------------------------------------------------------------ pairs and orders of values
@program([(i * 37) % 29 * 0.05 + 0.1 for i in range(12)], 1.5)
def energies_of_pairs(xs: list[float], k: float) -> float:
    total = 0.0
    for a, b in itertools.combinations(xs, 2):
        try:  # noqa: SIM105
            total += k / abs(a - b)
        except ZeroDivisionError:
            pass
    for a, b, c in itertools.combinations(xs, 3):
        total += a * b * c
    return total


@program([0.1, 0.9, 0.4, 0.6], 1.5)
def orders_of_values(xs: list[float], k: float) -> float:
    total = 0.0
    for p in itertools.permutations(xs):
        t = 0.0
        for a, b in zip(p, p[1:]):
            t += a * b * k
        total += t * t
    try:
        return math.log(total)
    except ValueError:
        return 0.0


# ------------------------------------------------------------------------------------ flags that become numbers
@program([(i * 7919) % 101 * 0.05 + 0.1 for i in range(60)], 1.5)
def flags_that_become_numbers(xs: list[float], k: float) -> float:
    best: Any = False
    found: Any = None
    for i, v in enumerate(xs):
        w = v * k
        if not best or w > best:
            best = w
        if found is None and w > 4.0:
            found = w
        elif found is not None and i % 2:
            found = found + w * 0.1
    try:
        return best * found
    except TypeError:
        return 0.0


__all__ = ["PROGRAMS"]
