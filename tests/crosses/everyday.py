"""What people write: fragments that use the language and the standard library, one after the other x what is around them x the values
that go in. Each fragment makes a new `y` of the values before it (drawn)."""

from __future__ import annotations

import random
from collections.abc import Iterator

from .compose import within
from .effects import KNOWN as _KNOWN

_IMPORTS = """import abc, bisect, collections, contextlib, copy, dataclasses, decimal, enum, fractions, functools, heapq, inspect, io, itertools, json, math, operator, pickle, queue, random, re, statistics, string, struct, sys, textwrap, time, types, typing, weakref
import numpy as np
from dataclasses import dataclass, field"""
KNOWN = dict(_KNOWN)
exec(_IMPORTS, KNOWN)

# (what stands outside of the function, what makes `y`); A, B, C stand for values, N for a small number.
FRAGMENTS = tuple(
    (outside.strip("\n"), inside.strip("\n"))
    for outside, _, inside in (
        fragment.partition("---\n")
        for fragment in """
@dataclass
class Item:
    price: float
    count: int = 2
    tags: list = field(default_factory=list)
    total: float = field(init=False, default=0.0)
    def __post_init__(self):
        self.total = self.price * self.count
        self.tags.append(self.price)
@dataclass
class Special(Item):
    rebate: float = 0.5
    def __post_init__(self):
        super().__post_init__()
        self.total -= self.rebate * self.price
---
p, q = Item(A), Special(B, rebate=C)
p.tags += q.tags
y = p.total * q.total + sum(p.tags) + len(q.tags)
======
@dataclass(slots=True)
class Slotted:
    u: float
    v: float = 1.0
    w: list = field(default_factory=lambda: [0.5])
---
s = Slotted(A, v=B)
s.u, s.v = s.v * s.u, s.u
s.w.append(s.u)
y = s.u + s.v * sum(s.w) + dataclasses.replace(s, u=C).u
======
@dataclass(frozen=True, order=True)
class Frozen:
    u: float
    v: float = dataclasses.field(default=0.5, compare=False)
    @property
    def norm(self):
        return math.hypot(self.u, self.v)
    def scaled(self, k):
        return dataclasses.replace(self, u=self.u * k, v=self.v * k)
---
a, b = sorted([Frozen(A, B), Frozen(C).scaled(A)])
y = a.norm * 2.0 - b.norm + max(a, b).u * hash(Frozen(1.0) == Frozen(1.0))
======
@dataclass(kw_only=True)
class Settings:
    rate: float
    shift: dataclasses.InitVar[float] = 0.0
    def __post_init__(self, shift):
        self.rate = self.rate + shift * shift
---
c = Settings(shift=A, rate=B)
y = dataclasses.asdict(c)["rate"] * C + dataclasses.astuple(c)[0] + sum(getattr(c, f.name) for f in dataclasses.fields(c))
======
class Slots:
    __slots__ = ("u", "v")
    def __init__(self, u, v):
        self.u, self.v = u, v
    def swap(self):
        self.u, self.v = self.v, self.u * self.v
        return self
class More(Slots):
    __slots__ = ("w",)
---
m = More(A, B).swap()
m.w = m.u * C
del m.u
y = m.w + m.v * (2.0 if hasattr(m, "u") else 3.0) + sum(getattr(m, n, 0.5) for k in type(m).__mro__ for n in getattr(k, "__slots__", ()))
======
class Celsius:
    count = 0
    def __init__(self, t):
        self.t = t
        Celsius.count += 1
    @property
    def f(self):
        return self.t * 1.8 + 32.0 * 0.01
    @f.setter
    def f(self, value):
        self.t = (value - 0.32) / 1.8
    @f.deleter
    def f(self):
        self.t = 0.5
---
Celsius.count = 0
c, d = Celsius(A), Celsius(B)
c.f = c.f * C
c.f += B
del d.f
y = c.t * Celsius.count + d.t
======
class Counter:
    made = 0
    best = None
    def __init__(self, z):
        type(self).made += 1
        self.number = self.made
        self.z = z
        if Counter.best is None or z > Counter.best.z:
            Counter.best = self
class Own(Counter):
    made = 10
---
Counter.made, Own.made, Counter.best = 0, 10, None
c = [Counter(A), Own(B), Own(C), Counter(A * B)]
y = sum(k.z * k.number for k in c) + Counter.best.z * Counter.made + Own.made
======
---
y = functools.reduce(lambda p, q: p * q + 0.1, [A, B, C], 1.0) + functools.reduce(operator.mul, (A, B))
======
def scale(z, k=1.0, *, by=0.0):
    return z * k + by
---
h = functools.partial(scale, k=A, by=B)
y = h(C) + functools.partial(h, by=C)(A) + h.keywords["k"] + h.func(B, *h.args)
======
---
@functools.lru_cache(maxsize=None)
def fib(n):
    return A if n == 0 else B if n == 1 else fib(n - 1) * 0.5 + fib(n - 2)
y = fib(5) + fib(3)
======
class Show:
    def __init__(self, z):
        self.z = z
    @functools.singledispatchmethod
    def take(self, a):
        return self.z * 0.5
    @take.register
    def _(self, a: float):
        return a * self.z
    @take.register(list)
    @take.register(tuple)
    def _(self, a):
        return sum(map(self.take, a))
---
s = Show(A)
y = s.take(B) + s.take([A, (C, "u")]) + s.take(None)
======
@functools.singledispatch
def area(s):
    return 0.25
@area.register
def _(s: float):
    return s * s
@area.register(dict)
def _(s):
    return sum(area(v) for v in s.values())
---
y = area(A) + area({"u": B, "v": {"w": C, "z": "t"}})
======
class Lazy:
    def __init__(self, z):
        self.z = z
        self.asked = 0
    @functools.cached_property
    def square(self):
        self.asked += 1
        return self.z * self.z
---
l = Lazy(A)
y = l.square + l.square * B
l.z = C
y += l.square * l.asked
del l.square
y += l.square * l.asked
======
---
y = sum(k * v for k, v in enumerate(itertools.accumulate([A, B, C], operator.mul, initial=2.0)))
======
---
y = sum(p * q for p, q in itertools.product([A, B], (C, 2.0))) + sum(p - q * r for p, q, r in itertools.combinations_with_replacement([A, B, C], 3))
======
---
y = sum(q * (p - q) for p, q in itertools.pairwise([A, B, C])) + sum(itertools.islice(itertools.cycle([A, B]), 1, 6, 2))
======
---
y = sum(itertools.takewhile(lambda z: z < 5.0, [A, B, 9.0, C])) - sum(itertools.dropwhile(lambda z: z < 5.0, [A, 9.0, B])) * C
======
---
y = sum(p * q for p, q in itertools.zip_longest([A, B, C], (B, A), fillvalue=C)) + next(itertools.chain.from_iterable([[], [A]]))
======
---
g = {k: [v * v for v in vs] for k, vs in itertools.groupby(sorted([1.5 * A, B, C], key=lambda z: z > 1.0), key=lambda z: z > 1.0)}
y = sum(sum(v) * (2 + k) for k, v in g.items())
======
@contextlib.contextmanager
def scaled(box, k):
    before = box[0]
    box[0] = before * k
    try:
        yield box[0]
    except ValueError as e:
        box.append(e.args[0])
    finally:
        box[0] = before
---
b = [A]
with scaled(b, B) as z:
    y = z * C
    b.append(z)
with scaled(b, C) as z:
    raise ValueError(z * z)
y += sum(b)
======
---
l = []
with contextlib.ExitStack() as stack:
    stack.callback(lambda z: l.append(z * B), A)
    stack.callback(l.append, C)
    stack.push(lambda *e: l.append(A) or True)
    l.append(B)
    raise KeyError
y = sum(k * z for k, z in enumerate(l, 1))
======
---
y = A
with contextlib.suppress(KeyError, ValueError):
    y = y * B
    {}["u"]
    y = 100.0
======
class Level(enum.Enum):
    LOW = 0.5
    HIGH = 2.0
    @property
    def weight(self):
        return self.value * 1.5
    def of(self, z):
        return z * self.weight + len(self.name)
class Number(enum.IntEnum):
    ONE = 1
    TWO = enum.auto()
---
y = Level.LOW.of(A) + Level(2.0).of(B) * Number.TWO + sum(l.value * C for l in Level) + {Level.LOW: A}[Level["LOW"]] + Number.TWO * C
======
class P:
    __match_args__ = ("u", "v")
    def __init__(self, u, v):
        self.u, self.v = u, v
def told(s):
    match s:
        case P(u, P(v=w)) if u > 0.0:
            return u * w
        case P(u=0.0) | P(v=None):
            return 0.5
        case [P(u, v) as p, *rest]:
            return u + v * told(rest) + p.u
        case {"k": float(z), **more} if more:
            return z * told(more)
        case float() | int() as z:
            return z * z
        case []:
            return 0.25
        case _:
            return 0.125
---
y = told(P(A, P(B, C))) + told([P(A, B), P(B, C)]) + told({"k": C, "l": 1}) + told(A) + told(P(A, None)) + told("u")
======
---
y = sum(z for k in (A, B, C) if (z := k * A) > -50.0) + z
y += [last := C, last * B, last ** 2][-1] * last
======
---
p, *q, r = [A, B, C, A * B]
(s, t), *_ = {1: (C, B), 2: None}.values()
*u, (v, w) = "k", (A, C)
y = p * sum(q) - r + s * t + v * w * len(u)
======
---
y = A + (B if 0.0 < A < 100.0 != B else C) + (0.0 <= B <= 90.0) * C + (A is not None is not B)
======
---
def outer(z):
    total, count = z, 0
    def middle(k):
        nonlocal total
        def inner(q):
            nonlocal total, count
            count += 1
            total = total * q + k
            return total
        total += inner(k) * 0.5
        return inner(B)
    return middle(A) + middle(C) * count + total
y = outer(A)
======
---
def early(z):
    for k in range(5):
        try:
            if k == 2:
                return z
            z = z * B
            continue
        finally:
            z = z + C
            l.append(z)
    return 0.0
l = []
y = early(A) + sum(l)
======
---
def averaging():
    total, n, z = 0.0, 0, None
    while True:
        try:
            z = yield (total / n if n else 0.0)
        except ValueError as e:
            total += e.args[0] * 2.0
            continue
        except GeneratorExit:
            out.append(total)
            raise
        total += z * z
        n += 1
out = []
g = averaging()
next(g)
y = g.send(A) + g.send(B) + g.throw(ValueError(C)) + g.send(A)
g.close()
y += out[0]
======
---
d = {"b": A, "a": B}
d["c"] = C
d["b"] = d.pop("b") * A
d["a"] *= 2.0
y = sum(k * v for k, v in enumerate(d.values())) + next(iter(d.values())) + (d | {"z": 1.0, "a": C})["a"] + list(d)[-1].count("b")
del d["a"]
y += len(d) * sum(d.values()) + d.setdefault("q", A) + d.get("q") * d.get("none", B)
======
---
l = [A, B, C, 1.0, 2.0]
del l[1], l[-1:]
l[1:1] = [B * B]
l[::2] = [z * 2.0 for z in l[::2]]
l.insert(-1, A)
y = sum(k * z for k, z in enumerate(l)) + l.pop() * l.pop(0) + l.index(l[1]) + len(l)
l.clear()
y += sum(l, start=A)
======
---
s, t = "abc", b"xyz"
s += str(len(s)) + f"{A:.1f}"[:1]
y = A * len(s) + B * t[0] * 0.01 + C * bytearray(t)[1] * 0.01 + ord(s[0]) * 0.01 + len("-".join([s, "q"]).split("-")) + s.find("c") * A
======
class Node:
    def __init__(self, z, next=None):
        self.z, self.next = z, next
        self.seen = {"z": [z]}
---
n = Node(A, Node(B))
m, k = copy.copy(n), copy.deepcopy(n)
n.next.z = C
m.seen["z"].append(B)
k.seen["z"][0] *= 2.0
y = n.z + m.next.z * k.next.z + sum(n.seen["z"]) + sum(k.seen["z"])
======
class Rec:
    def __init__(self, u, v):
        self.u, self.v = u, v
        self.sub = types.SimpleNamespace(w=u * v)
    def act(self, k, by=1.0):
        return self.u * k + by
---
r = [Rec(A, B), Rec(B, C)]
y = sum(map(operator.attrgetter("u"), r)) + operator.attrgetter("sub.w", "v")(r[0])[0] + operator.methodcaller("act", C, by=A)(r[1])
y += operator.itemgetter(1)([A, B]) * operator.itemgetter("k", "l")({"k": C, "l": A})[0] + max(r, key=operator.attrgetter("v")).u
======
---
h = []
for k, z in enumerate([A, B, C, A * B + 3.0]):
    heapq.heappush(h, (z, k, z * z))
y = heapq.heappop(h)[2] + sum(v for _, _, v in heapq.nlargest(2, h)) + heapq.heapreplace(h, (B, 9, A))[2] + h[0][0]
======
---
l = sorted([0.0, 10.0, 20.0])
k = bisect.bisect_left(l, A)
bisect.insort(l, B * 3.0 + 1.0)
y = l[k] * 0.1 + l[1] + k * C
======
---
y = math.fsum([A, B, C]) * math.prod([A, B], start=C) + math.hypot(A, B, 1.0) + math.dist([A, B], (C + 1.0, 3.0)) + math.copysign(A, -1.0) + math.fmod(B, 10.0)
======
---
l = [A, B, C, 2.5]
y = statistics.mean(l) + statistics.fmean(l) * statistics.variance(l) + statistics.pstdev(l) + statistics.median(l)
======
---
r = random.Random(3)
l = [r.random() * A + r.gauss(0.0, 1.0) * B for _ in range(3)]
r.shuffle(l)
y = sum(k * z for k, z in enumerate(l)) + r.choice([A, B, C]) + r.uniform(0.0, 1.0) * C + r.sample([A, B], 2)[0]
======
---
k = decimal.Decimal("1.5") * 2
q = fractions.Fraction(1, 3) + 1
y = A * float(k) + B * float(q) + C * q.denominator + A / q.numerator
======
---
y = A
for k in range(3):
    for j in range(3):
        if j == k:
            continue
        if j > 1:
            break
        y = y * B + j
    else:
        y += C
        if k:
            break
else:
    y = 0.0
======
---
class Stack:
    def __init__(self):
        self._l = []
    def push(self, z):
        self._l.append(z)
        return self
    def __getattr__(self, name):
        if name.startswith("top"):
            return self._l[-int(name[3:] or 1)]
        raise AttributeError(name)
    def __iter__(self):
        return iter(self._l)
    def __bool__(self):
        return bool(self._l)
    def __len__(self):
        return len(self._l)
    def __getitem__(self, k):
        return self._l[k]
    def __contains__(self, z):
        return z in self._l
s = Stack().push(A).push(B).push(C)
y = s.top * s.top2 + sum(s) + len(s) * s[-1] + (A in s) + (B if s else 0.0) + getattr(s, "none", A) + sum(s[:2]) + max(*s) * sum(reversed(s))
======
---
o = types.SimpleNamespace(u=A, v=[B], w={"k": C})
vars(o)["u"] *= 2.0
setattr(o, "z", o.u * o.v[0])
o.__dict__.update(w={"k": A})
y = sum(v for v in vars(o).values() if isinstance(v, float)) + o.w["k"] + getattr(o, "q", B)
delattr(o, "u")
y += len(vars(o)) * C
======
class Meta(type):
    registry = []
    def __new__(mcs, name, bases, ns, **kw):
        cls = super().__new__(mcs, name, bases, ns)
        cls.k = kw.get("k", 1.0)
        mcs.registry.append(cls)
        return cls
class Root(metaclass=Meta):
    def act(self, z):
        return z * self.k
class Leaf(Root, k=3.0):
    def act(self, z):
        return super().act(z) + 1.0
---
y = sum(cls().act(z) for cls, z in zip(Meta.registry, (A, B))) + Leaf().act(C) * Leaf.k
======
class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...
    def __lt__(self, other):
        return self.area() < other.area()
    def __add__(self, other):
        return Sum([self, other])
    def __radd__(self, other):
        return self
class Square(Shape):
    def __init__(self, a):
        self.a = a
    def area(self):
        return self.a ** 2
class Sum(Shape):
    def __init__(self, parts):
        self.parts = parts
    def area(self):
        return math.fsum(p.area() for p in self.parts)
---
y = sum([Square(A), Square(B), Square(C)]).area() + max(Square(A), Square(B)).area() + (Square(C) + Square(A) + Square(B)).area()
======
class Money(float):
    unit = 2.0
    def __add__(self, other):
        return Money(float(self) + float(other) * self.unit)
    @property
    def half(self):
        return self / 2.0
---
m = Money(A) + Money(B)
y = m.half + m * C + float(m) ** 2 + (m + C)
======
class Table(dict):
    def __missing__(self, key):
        self[key] = z = len(key) * self.base
        return z
    def __setitem__(self, key, z):
        super().__setitem__(key, z * 2.0)
class Log(list):
    def append(self, z):
        super().append(z)
        if len(self) > 2:
            self.pop(0)
---
t, l = Table(k=A), Log()
t.base = B
t["u"] = C
for z in (A, B, C):
    l.append(z * t["vv"])
y = sum(t.values()) + sum(l) * t["k"] + len(t) + t.get("none", A)
======
---
l, m = [A, B], []
m = n = l
n += [C]
m[0] = m[0] * 2.0
y = sum(l) * len(n)
l = l + [1.0]
l[0] = 5.0
y += n[0] + l[0] * A
g = [[0.0] * 2] * 2
g[0][1] = A
y += g[1][1] * B
======
---
def walk(t, depth=1):
    if isinstance(t, dict):
        yield from (z * depth for k in sorted(t) for z in walk(t[k], depth + 1))
    elif isinstance(t, (list, tuple)):
        for k in t:
            yield from walk(k, depth + 1)
    else:
        yield t * depth
y = sum(walk({"u": [A, (B, {"v": C})], "b": A}))
======
---
def compose(*fs):
    return functools.reduce(lambda f, g: lambda z: g(f(z)), fs)
def power(n):
    def of(z):
        return z ** n
    of.n = n
    return of
ps = [power(n) for n in (1, 2, 3)]
y = compose(*ps[:2], math.sin, lambda z: z + B)(A) + sum(p(C) * p.n for p in ps) + compose(*map(functools.partial, ps))(0.5 * A)
======
---
def kinds(a, /, b, *rest, c=2.0, **more):
    return a * b + sum(rest) * c + sum(more.values())
t, d = (A, B), {"c": C}
y = kinds(*t, *t, **d, q=A) + kinds(A, b=B) + kinds(*[A, B, C][:2], **{"z": C}) + kinds(A, *(C for _ in range(2)), c=B)
======
---
def retry(n):
    def wrap(f):
        @functools.wraps(f)
        def inner(*args, **kwargs):
            for k in range(n):
                try:
                    return f(*args, attempt=k, **kwargs)
                except RuntimeError as e:
                    kept.append(e.args[0])
            raise LookupError(sum(kept))
        return inner
    return wrap
kept = []
@retry(3)
def work(z, attempt, need=2):
    if attempt < need:
        raise RuntimeError(z * (attempt + 1))
    return z * z
y = work(A)
try:
    work(B, need=7)
except LookupError as e:
    y += e.args[0] * C
======
class Failure(Exception):
    def __init__(self, z, *, code=1.0):
        super().__init__(z)
        self.code = code
    @property
    def cost(self):
        return self.code * self.args[0]
---
try:
    try:
        raise Failure(A, code=B)
    except Failure as e:
        e.add_note("k")
        raise ValueError(C) from e
    finally:
        z = A * B
except ValueError as e:
    y = e.args[0] + e.__cause__.cost + z + len(e.__cause__.__notes__)
======
class Vec:
    def __init__(self, *z):
        self.z = z
    def __add__(self, o):
        return Vec(*map(operator.add, self.z, o.z))
    def __mul__(self, k):
        return Vec(*[z * k for z in self.z])
    __rmul__ = __mul__
    def __matmul__(self, o):
        return sum(a * b for a, b in zip(self.z, o.z))
    def __iter__(self):
        yield from self.z
    def __neg__(self):
        return -1.0 * self
    def __abs__(self):
        return math.sqrt(self @ self)
    def __eq__(self, o):
        return isinstance(o, Vec) and self.z == o.z
    def __hash__(self):
        return hash(len(self.z))
---
u, v = Vec(A, B), Vec(C, 1.0)
y = (u + v * 2.0) @ -v + abs(u) + sum(3.0 * u) + len({u, u, v}) * A + dict([(u, B)])[u] * (u == Vec(*u))
======
class Desc:
    def __set_name__(self, owner, name):
        self.name = "_" + name
    def __get__(self, o, owner):
        return 0.5 if o is None else getattr(o, self.name) * 2.0
    def __set__(self, o, z):
        setattr(o, self.name, z * z)
class Held:
    u, v = Desc(), Desc()
    def __init__(self, u, v):
        self.u, self.v = u, v
---
h = Held(A, B)
h.u += C
y = h.u * h.v + Held.u + sum(vars(h).values())
======
---
text = io.StringIO()
print("k", 1, sep="=", end=";", file=text)
text.write("u=2")
y = sum(float(p.partition("=")[2]) * z for p, z in zip(text.getvalue().split(";"), (A, B))) + C * len(re.findall(r"\\d", text.getvalue()))
======
---
q = collections.deque([A, B], maxlen=3)
q.append(C)
q.appendleft(q[-1] * A)
q.rotate(1)
y = sum(k * z for k, z in enumerate(q)) + q.popleft() * q.pop()
c = collections.Counter("abca")
c.update({"a": 1})
y += c["a"] * A + c.most_common(1)[0][1] * B + sum((c & c).values())
d = collections.defaultdict(lambda: C)
d["u"] += A
y += d["u"] * d["v"] + len(d)
m = collections.ChainMap({"k": A}, {"k": B, "l": C})
y += m["k"] * m["l"]
P = collections.namedtuple("P", "u v", defaults=[2.0])
y += P(A).v * P(B, C)._replace(u=A).u
======
---
y = (lambda *a, k=A: sum(a) * k)(B, C) + [lambda z, n=n: z * n for n in (1, B)][1](C) + (lambda: (yield A))().__next__() + sum((lambda z: (yield z))(B))
======
---
y = 0.0
for k, (p, *q) in zip("ab", [(A, B), (C,)], strict=True):
    y += p * len(k) + sum(q)
for y_, in [(A,), (B,)]:
    y *= y_
d = {}
for d["k"] in (A, B): y += d["k"]
======
---
z = A
while (z := z * 0.5) > 0.2:
    y = z * B
    if y > 50.0: break
else:
    y = z + C
y = y * (z if z else B) + (None or A) + (A and B) + (not A) + (0.0 or C)
======
class Acc:
    def __init__(self):
        self.l = []
    def __call__(self, z):
        self.l.append(z)
        return sum(self.l) * 0.5
    def __enter__(self):
        self.l.append(A0)
        return self
    def __exit__(self, kind, e, tb):
        if e is not None:
            self.l.append(e.args[0])
        return kind is ValueError
A0 = 0.5
---
with Acc() as a, Acc() as b:
    a(A)
    b(a(B))
    raise ValueError(C)
y = sum(a.l) * sum(b.l) + a(1.0) + sum(map(a, [A, B]))
======
class Tree:
    def __init__(self, z, *kids):
        self.z, self.kids = z, kids
        for k in kids:
            k.parent = weakref.ref(self)
    def __iter__(self):
        yield self
        for k in self.kids:
            yield from k
    @property
    def path(self):
        p = getattr(self, "parent", None)
        return self.z + (p().path * 0.5 if p else 0.0)
    @classmethod
    def of(cls, *zs):
        return cls(zs[0], *map(cls, zs[1:]))
    @staticmethod
    def mix(p, q):
        return p * q
---
t = Tree(A, Tree(B, Tree(C)), Tree.of(A, B))
y = sum(n.z * k for k, n in enumerate(t)) + t.kids[0].kids[0].path + Tree.mix(*[n.z for n in t][:2])
======
---
p = A if B > 0.1 else C
y = {True: A, False: B}[p > 0.0] + (A, B)[p > 100.0] + [B, C][int(p > 0.0)] + int(p > 0.0) * A + float(C) + abs(-B) + round(2.5) * A + divmod(7, 2)[0] * B + pow(A, 2) + max(A, -90.0, key=abs) * 0.01 + min([C, 99.0], default=0.0) + sum([A], B)
======
---
it = iter([A, B, C, 2.0, 3.0])
y = next(it) * next(it)
y += sum(p * q for p, q in zip(it, it)) + next(it, A)
l = [A, B, C]
a, b = itertools.tee(map(lambda z: z * z, l))
next(b)
y += sum(p * q for p, q in zip(a, b)) + sum(map(operator.mul, l, reversed(l))) + sum(z for z in filter(None, [0.0, A]))
======
---
n = {"k": {"l": [A, {"m": B}]}, "p": (C, [A])}
n["k"]["l"][1]["m"] *= C
n["p"][1].append(n["k"]["l"][0])
o = {**n["k"], "q": [*n["p"][1], B]}
o["l"][0] = A * B
y = n["k"]["l"][0] + n["k"]["l"][1]["m"] + sum(o["q"]) + len(o) + sum(n["p"][1])
======
---
class Base:
    def __init__(self, **kw):
        for k, v in kw.items():
            setattr(self, k, v)
        super().__init__()
class Mixin:
    extra = 0.5
    def total(self):
        return sum(v for k, v in self.__dict__.items() if not k.startswith("_")) * self.extra
class Both(Mixin, Base):
    def total(self, k=1.0):
        return super().total() * k + super(Mixin, self).__getattribute__("u")
b = Both(u=A, v=B, _w=C)
b.extra = C
y = b.total(B) + isinstance(b, Mixin) + b._w + (Both.total(b, k=A) if issubclass(Both, Base) else 0.0) + len(Both.__mro__)
======
---
m = np.array([A, B, C])
v = m[1:]
v *= 2.0
m[0] += v.sum()
n = np.outer(m, m) + np.eye(3)
y = float(m @ m) + n[0, 1] + n.diagonal().sum() + np.where(m > 0.0, m, 0.0).mean() + n.T[2].max() + np.linalg.norm(m)
======
---
class Layer:
    def __init__(self, w, b):
        self.w, self.b = w, b
    def __call__(self, z):
        return np.tanh(self.w @ z + self.b)
    def parameters(self):
        return [self.w, self.b]
net = [Layer(np.full((2, 2), A), np.array([B, 0.1])), Layer(np.ones((1, 2)) * C, np.zeros(1))]
z = np.array([0.5, B])
for layer in net:
    z = layer(z)
y = z[0] + sum((p ** 2).sum() for layer in net for p in layer.parameters())
======
def step(state, z):
    state = dict(state, n=state["n"] + 1)
    state["m"] = 0.9 * state["m"] + 0.1 * z
    return state
---
s = {"n": 0, "m": A}
for z in (B, C, A):
    s = step(s, z)
    if s["n"] >= N: break
y = s["m"] / (1.0 - 0.9 ** s["n"]) + s["n"]
""".split("======\n")
    )
)

VALUES = (
    "x",
    "x",
    "x",
    "y",
    "y",
    "x * x",
    "x * y",
    "2.0",
    "math.sin(y)",
    "(x + 1.0)",
    "1.5",
    "abs(y)",
    "x ** 3",
    "y / (1.0 + y * y)",
)
AROUND = (
    "W", "W", "W", "W", "W", "for _ in range(2):\n    W", "if x > 0.0:\n    W", "try:\n    W\nfinally:\n    y = y * 1.5", "try:\n    W\nexcept ValueError:\n    y = x\nelse:\n    y = y + x",
    "with contextlib.nullcontext(x) as z:\n    W", "while True:\n    W\n    break", "for w in (x, 2.0):\n    if w > 1.0:\n        break\n    W\nelse:\n    y = y + 1.0",
    "def go(x, y):\n    W\n    return y\ny = go(x, y)", "def go(x, y=y):\n    W\n    yield y\n    yield x\ny = sum(go(x))", "def go(x):\n    def y_(y):\n        W\n        return y\n    return y_\ny = go(x)(y) + go(x * x)(x)",
    "class Go:\n    def __init__(self, y):\n        self.y = y\n    def go(self, x):\n        y = self.y\n        W\n        self.y = y\n        return y * x\ngo = Go(y)\ny = go.go(x) + go.go(1.0) + go.y",
)  # fmt: skip


def programs(seed: int) -> Iterator[str]:
    """Without end."""
    draw = random.Random(seed)
    while True:
        chosen = [draw.choice(FRAGMENTS) for _ in range(draw.choice((1, 1, 2, 3)))]
        outside = list(dict.fromkeys(before for before, _ in chosen if before))
        lines = ["y = x"]
        for _, inside in chosen:
            text = "".join(_filled(inside, draw))
            lines += [within(draw.choice(AROUND), text), "y = math.tanh(y * 0.1)"]
        yield "\n".join([*(outside or ["pass"]), "---", *lines, "return y * 10.0 + x"])


def _filled(text: str, draw: random.Random) -> Iterator[str]:
    """The values in the place of the letters that stand for one."""
    word = ""
    for c in text + " ":
        if c.isalnum() or c == "_":
            word += c
            continue
        if word in ("A", "B", "C"):
            word = draw.choice(VALUES)
            word = f"({word})" if not word.isalnum() else word
        elif word == "N":
            word = str(draw.randint(1, 4))
        yield word + c
        word = ""
