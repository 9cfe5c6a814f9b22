"""What the code of the Python back end does by itself, next to what it leaves to the run-time functions: the same derivatives."""

from __future__ import annotations

import dataclasses
from collections import deque
from typing import Any, ClassVar, NamedTuple

import pytest

from tests.turns import each_in_turn
from zyg.fallback import python_pullback

pytestmark = each_in_turn


class Stack(list):
    def append(self, x):
        super().append(2.0 * x)


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b=2.0, *, c=0.5):
        self.a = a * c
        self.b = b

    def scaled(self, k=3.0):
        return self.a * self.b * k

    @property
    def both(self):
        return self.a + self.b


class Other:
    def __init__(self, a):
        self.a = a

    def scaled(self, k=1.0):
        return self.a * self.a * k


@dataclasses.dataclass(frozen=True, order=True)
class Frozen:
    a: Any
    b: Any = 2.0
    count: ClassVar[int] = 3
    parts: tuple = dataclasses.field(default=(), compare=False)

    def __post_init__(self):
        object.__setattr__(self, "parts", (*self.parts, self.a * self.b))


@dataclasses.dataclass
class Shifted:
    a: Any
    shift: dataclasses.InitVar[Any]
    twice: Any = dataclasses.field(init=False)
    c: Any = dataclasses.field(default=0.5, kw_only=True)

    def __post_init__(self, shift):
        self.twice = 2.0 * self.a + shift


def dataclasses_(x):
    @dataclasses.dataclass(frozen=True)
    class Local:
        a: Any
        b: Any

    p = Frozen(x, x * x)
    q = dataclasses.replace(p, b=3.0 * x)
    r = dataclasses.replace(q, parts=(x,), a=q.b)
    s = dataclasses.replace(Shifted(x, 0.1 * x, c=x), shift=x * x)
    t = dataclasses.replace(Local(x, 2.0), b=x * x)
    u = max(p, q, r)
    return sum(r.parts) * q.a + q.parts[-1] + s.twice * s.c + t.a * t.b + u.b + r.count


class Sample(NamedTuple):
    a: Any
    b: Any = 2.0

    @property
    def both(self):
        return self.a * self.b + self[0]

    def scaled(self, by):
        return Sample(self.a * by, b=self.b)


class Likewise:
    """Its attributes are called as the fields are."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    @property
    def both(self):
        return self.a - self.b

    @both.setter
    def both(self, value):
        self.a = value * self.b


def fields(x):
    t = 0.0
    for s in (Sample(x, x * x), Likewise(x, 3.0 * x), Sample(x), Sample(2.0, b=x).scaled(x)):
        for _ in range(2):
            t = t * 0.5 + s.a * s.b + s.both
            if t > 3.0:
                t += s.a
        if isinstance(s, Sample):
            u, v = s
            t += u * s.b + s[0] * v + s[-1] + s._replace(a=x * s.a).a
        else:
            s.both = s.both * x
            t += s.both + s.a
    p = (Sample(x, x), x)
    return t + p[0].a * p[0][1] * p[1]


def containers(x):
    d = {"a": x, "b": x * x, 1: 3.0 * x}
    t = 0.0
    for k in reversed(("a", "b")):
        t = t * 0.5 + d[k]
    for a, b in zip([x, 2.0], [x, x]):
        t += a * b
    for k, y in zip(("a", "b"), [x, x]):
        t += d[k] * y
    t += max(x, 0.5 * x) + min(x, 2.0) + abs(-x) + max(x, x)
    w = (t, x)
    u, v = w
    key = 1
    d[key] += w[-1] * w[0] + w[key]
    return d[key] * u + v


def tuples(x):
    p, q = (x, 2.0 * x, x * x), [x, 0.5, x]
    t = 0.0
    for k, v in enumerate(p):
        t += k * v
        for w in p:
            if w > 2.0 * v:
                break
            t += w * v
    for a, b in zip(p, q):
        t += a * b * b
    for a, b, c in zip(p, ("a", 2.0), p[::-1]):
        t += c * (len(a) if isinstance(a, str) else a) * (2.0 if b == "a" else b)
    for v in reversed(q):
        t = 0.5 * t + v
        if v is q[0]:
            q.pop()
    for w in ((x, x * x), (2.0 * x, t)):
        for v in w:
            t += v * v
    return t + sum(a * b for a, b in zip(p, p)) + next(zip(p, q))[1] + next(reversed(q)) + next(zip(p, p))[0]


def lists(x):
    s = [x, 2.0 * x]
    s.append(s[-1] * s[0])
    s.append(s.pop() + s[-2])
    s[-1] = s[-1] * s[0]
    own, q = Stack(), deque([x])
    for xs in (s, own, q):
        xs.append(x)
        xs.append(x * x)
    return sum(s) + own[0] * own.pop() + q.pop() * q[0] + s.pop(0) * s[-2]


class Ends(list):
    def __getitem__(self, k):
        return 3.0 * super().__getitem__(k)


def ends(x):
    """Items from the end, of containers of several types at the same place, which get longer and shorter in between."""
    t = 0.0
    for xs in ([x, 2.0], [3.0, x, x], (x, x * x), deque([x, x], maxlen=2), deque([2.0, x, t]), Ends([x, x]), [x], []):
        for k in range(3):
            try:
                a = xs[-1] * x
                b = xs[-2] + a * xs[-1]
            except IndexError:
                t += x * x
                continue
            if type(xs) is deque and k == 1:
                xs.rotate(1)
                xs.appendleft(a)
            if type(xs) is not tuple:
                xs.append(a * b)
                t += xs[-1] - xs[-2] * xs[0]
                if k == 2:
                    xs.pop()
            t += 0.1 * b * a + xs[-1]
    return t


def windows(x):
    """A deque that lets go of its first items, read at both ends: all of it plain."""
    window = deque(maxlen=3)
    queue = deque([x, 0.5, x * x])
    t = 0.0
    for k in range(6):
        window.append(x * k)
        t += window[0] * window[-1] + window[len(window) - 1]
        queue.append(0.5 * (queue.popleft() + queue[-1]))
        if k % 3 == 0:
            queue[1] = queue[0] * t
        elif k % 3 == 1:
            t *= 0.5
        else:
            t += queue[-2] * x
    return t + queue[-1] * queue[0]


def unpacked(x):
    """Tuples that loops go through, of which some parts have no derivative, or none at all."""
    t = 0.0
    for entry in [("push", x), ("scale", 0.5 * x), ("push", 2.0), (3.0, x), ("none", None), (x, x), ("deep", (x, x))]:
        match entry:
            case ("push", value):
                t += value * value
            case ("scale", by):
                t *= by
            case ("none", _):
                t += x
            case ("deep", (a, b)):
                t += a * b
            case (first, second):
                t += first * second
    for name, (a, b) in {"a": (x, 2.0), "b": (x * x, x)}.items():
        t += a * b * len(name)
    for pair in {"a": (x, 2.0), "b": (x * x, x)}.values():
        a, b = pair
        t += a - b * a
    return t


def methods(x):
    t = 0.0
    for p in (Slotted(x), Other(x), Slotted(x, x), Slotted(x, c=x)):
        t += p.scaled() + p.scaled(2.0) + p.scaled(k=x)
    p.a = x * p.both
    other = Other(x)
    other.scaled = lambda k=1.0: k * x  # an attribute of the instance
    return t + p.both * p.a + other.scaled() + other.scaled(x)


class Odd:
    """Names that shadows of attributes might have for themselves; attributes that come late, and in slots."""

    __slots__ = ("__dict__", "a")

    def __init__(self, a):
        self.a = a
        self.__b = 2.0 * a
        self.missed, self.names, self._classes = a, 3.0 * a, a * a

    def total(self):
        return self.__b * self.missed + self.names * self._classes


def attributes(x):
    t = 0.0
    for k in range(3):
        odd = Odd(x * k)
        odd.late = x * odd.a
        odd.missed += odd.late
        odd.names = x * x
        t += odd.total() + odd.late * odd.a
    odd.total = odd.late
    del odd.late
    odd.late = odd.total * x
    return t + odd.late * odd.total


def slope(f, x, h=1e-6):
    return (f(x + h) - f(x - h)) / (2 * h)


@pytest.mark.parametrize(
    "f",
    [containers, lists, ends, windows, unpacked, tuples, methods, dataclasses_, fields, attributes],
    ids=lambda f: f.__name__,
)
def test_derivative(f):
    for x in (1.3, 0.7, 1.3):
        value, back = python_pullback(f, (x,), {})
        assert value == pytest.approx(f(x), rel=1e-14)
        for _ in range(2):
            assert back(1.0)[0] == pytest.approx(slope(f, x), rel=1e-7)


def test_errors_of_replace():
    for make, names in (
        (lambda x: Frozen(x), ("d",)),
        (lambda x: Shifted(x, x), ("twice",)),
        (lambda x: Shifted(x, x), ()),
    ):
        program = lambda x, make=make, names=names: dataclasses.replace(make(x), **dict.fromkeys(names, x)).a
        with pytest.raises((TypeError, ValueError)) as expected:
            program(0.5)
        with pytest.raises(type(expected.value)) as got:
            python_pullback(program, (0.5,), {})
        assert str(got.value) == str(expected.value)


def with_defaults(y, k=2.0, *, m=1.0):
    return y * k + m


def test_defaults_that_change():
    f = lambda x: with_defaults(x) + with_defaults(x, m=x) + with_defaults(k=x, y=x)
    gradient = lambda x: python_pullback(f, (x,), {})[1](1.0)[0]
    assert [gradient(3.0) for _ in range(3)] == [11.0] * 3
    before = with_defaults.__defaults__, dict(with_defaults.__kwdefaults__)
    try:
        with_defaults.__defaults__ = (5.0,)
        assert gradient(3.0) == 17.0
        with_defaults.__kwdefaults__["m"] = 10.0
        assert python_pullback(f, (3.0,), {})[0] == f(3.0)
        with_defaults.__defaults__ = None
        with pytest.raises(TypeError, match="k"):
            gradient(3.0)
    finally:
        with_defaults.__defaults__, with_defaults.__kwdefaults__ = before


def test_a_shadow_stays_the_same_object():
    def f(x):
        s = [x, 2.0 * x, 3.0 * x]
        total = s[0]
        for _ in range(3):
            s.sort(reverse=True)
            s[0] = s[0] * s[2]
            s[1:] = [s[2], s[1]]
            total += s[0] * s[1]
            s.reverse()
        return total + s[-1]

    _, back = python_pullback(f, (0.6,), {})
    assert back(1.0)[0] == pytest.approx(slope(f, 0.6), rel=1e-7)
