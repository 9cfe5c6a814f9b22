"""Functions of one float that use a construct of the language each, for the adjoint of Python ops.

`x` is the point, all else is inside, so that the oracle, differences of the function itself under CPython, knows nothing of
zyg.  All are smooth near the points at which they are tested.
"""

# ruff: noqa: B012, C408, F841, RUF005, RUF007

from __future__ import annotations

import contextlib
import functools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

PROGRAMS: list[Any] = []
SCALE = 1.7


def program(function: Any) -> Any:
    PROGRAMS.append(function)
    return function


# ----------------------------------------------------------------------------------------------- arithmetic


@program
def operators(x):
    y = x + 2
    y = y - x * x
    y = 3 / y + y / x
    y = -y
    y += x
    y -= 2.0
    y *= x
    y /= 3
    y **= 2
    return +y % 700.0 + x**3 + 2**x + 7 // 2


@program
def comparisons(x):
    y = x if 0 < x < 10 else -x
    return y * y if not x > 5 and (x or y) else y


@program
def mathematics(x):
    return math.sin(x) * math.exp(-x) + math.atan2(x, 2.0) + math.hypot(x, 3) + abs(-x) + max(x, 0.1) + math.pow(x, 2.5)


@program
def walrus(x):
    if (y := x * x) > 0:
        return y * SCALE
    return y


# --------------------------------------------------------------------------------------------- control flow


@program
def while_loop(x):
    n = 0
    while n < 5:
        x = x * x * 0.5 + n
        n += 1
    return x


@program
def while_else(x):
    n = 0
    while n < 3:
        n += 1
        x *= 1.1
        if n > 10:
            break
    else:
        x = math.sin(x)
    return x


@program
def breaks(x):
    total = 0.0
    for i in range(10):
        if i == 2:
            continue
        for j in range(i):
            if j > 3:
                break
            total += x * j
            if total > 1e3:
                return total * x
        else:
            total = total * x
            continue
        total += math.cos(x)
        if i == 7:
            break
    return total


@program
def early_returns(x):
    for k in range(5):
        x = x * 1.5
        if x > 3:
            return x * k
    return x


@program
def loop_until(x):
    y = x
    while True:
        y = 0.5 * (y + x / y)
        if abs(y * y - x) < 1e-14:
            return y * 3


@program
def items_after_the_loop(x):
    for y in (x, x * x, 3.0):
        z = y
        if y > 100:
            break
    return y * z + x


# ----------------------------------------------------------------------------------------------- containers


@program
def tuples(x):
    p = (x, 2.0, (x * x, x))
    a, b, (c, d) = p
    first, *rest = (a, b, c)
    q = p + (d,)
    return a * b + c * d + rest[1] * q[-1] + p[2][0]


@program
def lists(x):
    xs = [x, 2 * x]
    xs.append(x * x)
    xs[0] = xs[1] * xs[2]
    xs.insert(1, math.sin(x))
    ys = xs[:]
    ys[-1] += 1.0
    xs.extend([x, 1.0])
    del xs[0]
    last = xs.pop()
    ys.reverse()
    return sum(xs) * last + sum(ys) + len(xs) + ys[0] * xs[-1]


@program
def aliases(x):
    xs = [x, 1.0]
    ys = xs
    ys[1] = x * 3
    zs = [xs, ys]
    zs[0][0] *= zs[1][1]
    return xs[0] * ys[1]


@program
def list_loops(x):
    xs = []
    for k in range(6):
        xs.append(x * k + 1)
    total = 0.0
    for k, v in enumerate(xs):
        total += v * v * k
    for a, b in zip(xs, xs[1:]):
        total += a * b
    for v in reversed(xs):
        total = total * 0.5 + v
    return total


@program
def nested_lists(x):
    m = [[x * (i + j) for j in range(3)] for i in range(3)]
    for i in range(3):
        for j in range(3):
            m[i][j] = m[i][j] * m[j][i] + x
    return sum(sum(row) for row in m)


@program
def dictionaries(x):
    d = {"a": x, "b": x * x}
    d["c"] = d["a"] * d["b"]
    e = dict(a=1.0, z=x)
    d.update(e)
    d["z"] += d.pop("b")
    total = 0.0
    for k, v in d.items():
        total += v * len(k)
    return total + d.get("nothing", x) + sum(d.values()) + d.setdefault("new", x * 2)


@program
def comprehensions(x):
    squares = [k * x * x for k in range(4) if k != 2]
    table = {k: v * x for k, v in enumerate(squares)}
    return sum(v for v in squares) + sum([table[k] for k in table]) + max({1.0, 2.0}) * x


@program
def sorting(x):
    xs = [3 * x, x, 2.0 * x + 1]
    ys = sorted(xs)
    xs.sort(key=lambda v: -v)
    return ys[0] * ys[2] + xs[0] ** 2 + min(xs) * max(ys)


# ------------------------------------------------------------------------------------------------ functions


def square(x):
    return x * x


def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


def weighted(*values, scale=2.0, **more):
    total = 0.0
    for v in values:
        total += v * scale
    for k in more:
        total += more[k]
    return total


@program
def calls(x):
    args = (x, x * x)
    return (
        square(x) + power(x, 4) + weighted(x, square(x), scale=x, extra=x * 3) + weighted(*args, **{"scale": x, "k": x})
    )


def is_even(x, n):
    return x if n == 0 else is_odd(x * 1.1, n - 1)


def is_odd(x, n):
    return -x if n == 0 else is_even(x * x, n - 1)


@program
def mutual_recursion(x):
    return is_even(x, 5)


@program
def closures(x):
    y = x * x

    def inner(z, w=x):
        return z * y + w

    def counter():
        nonlocal y
        y = y * 1.5
        return y

    a = inner(2.0)
    counter()
    return a + counter() * inner(x) + (lambda t: t * x)(y)


@program
def loops_of_closures(x):
    fs = []
    for k in range(3):

        def f(z, k=k):
            return z * k * x

        fs.append(f)
    fs.append(square)
    total = 0.0
    for f in fs:
        total += f(x)
    return total


def compose(f, g):
    return lambda x: f(g(x))


@program
def higher_order(x):
    f = functools.reduce(compose, [square, math.sin, square])
    return (
        f(x) + sum(map(square, [x, 2 * x])) + sum(filter(lambda v: v > 1e-3, [x, x * 2])) + functools.partial(pow, x)(2)
    )


# -------------------------------------------------------------------------------------------------- objects


class Point:
    count = 3

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def norm(self):
        return math.sqrt(self.x * self.x + self.y * self.y)

    @property
    def area(self):
        return self.x * self.y

    @area.setter
    def area(self, value):
        self.y = value / self.x

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __mul__(self, factor):
        return Point(self.x * factor, self.y * factor)

    __rmul__ = __mul__

    def __iadd__(self, other):
        self.x += other.x
        return self

    def __getitem__(self, k):
        return self.y if k else self.x

    def __call__(self, z):
        return self.x * z + self.y

    def __getattr__(self, name):
        if name == "double":
            return self.x * 2
        raise AttributeError(name)

    @classmethod
    def unit(cls, x):
        return cls(x, 1.0)

    @staticmethod
    def twice(x):
        return 2 * x


class Point3(Point):
    def __init__(self, x, y, z):
        super().__init__(x, y)
        self.z = z

    def norm(self):
        return super().norm() + self.z


@dataclass
class Pair:
    a: float
    b: float = 2.0

    def product(self):
        return self.a * self.b


class Named(NamedTuple):
    a: float
    b: float

    def product(self):
        return self.a * self.b


@program
def objects(x):
    p = Point(x, 2.0 * x)
    q = p + Point(1.0, x)
    q += p
    q = 2.0 * q * x
    p.area = q.area
    return p.norm() + q(x) + p[0] * q[1] + p.double + Point.unit(x).area + Point.twice(x) * Point.count


@program
def inheritance(x):
    p = Point3(x, x * x, 3.0)
    p.z *= x
    p.w = x
    return p.norm() + p.w * p.area + Pair(x).product() + Named(x, x * x).product() + Named(b=x, a=2.0).a * x


@program
def objects_in_lists(x):
    points = [Point(x * k, 1.0) for k in range(4)]
    for p in points:
        p.x, p.y = p.y * x, p.x
    points[0].other = points[1]
    return sum(p.norm() for p in points) + points[0].other.y


# ----------------------------------------------------------------------------------------------- exceptions


@program
def catching(x):
    total = 0.0
    for k in range(4):
        try:
            total += x / (k - 2)
            total *= x
        except ZeroDivisionError:
            total = total + x * x
        else:
            total += 1.0
        finally:
            total *= 1.1
    return total


@program
def catching_by_type(x):
    y = x
    for key in ("a", "b", 0, None):
        try:
            table = {"a": x}
            if key is None:
                raise ValueError("no")
            y *= table[key] + [x * 2][key]
        except KeyError as error:
            y += x * len(error.args)
        except (TypeError, ValueError):
            y = y * x + 1
    return y


def fails(x, k):
    if k == 1:
        raise ValueError(x * x)
    return x * k


@program
def raising_in_callees(x):
    total = x
    for k in range(3):
        try:
            total += fails(x, k)
        except ValueError as error:
            total *= error.args[0]
    return total


@program
def finally_with_return(x):
    def inner(y):
        try:
            return y * x
        finally:
            y = y * 2
            if y > 1e5:
                return y

    return inner(x) + inner(2.0)


@program
def nested_handlers(x):
    y = x
    try:
        try:
            y = y * x
            raise KeyError(1)
        except ValueError:
            y = 0.0
        finally:
            y = y * 3
    except KeyError:
        try:
            y = y / 0
        except ZeroDivisionError:
            y = y + math.sin(x)
    return y


class Scaled:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        self.x = self.x * 2
        return self

    def __exit__(self, kind, value, traceback):
        self.x = self.x * self.x
        return kind is ValueError


@program
def with_statement(x):
    with Scaled(x) as s, contextlib.suppress(KeyError):
        y = s.x * x
        {}["nothing"]
        y = 0.0
    with Scaled(y) as t:
        t.x *= x
        raise ValueError
    return s.x + t.x * y


# --------------------------------------------------------------------------------------------------- others


@program
def matching(x):
    total = 0.0
    for subject in [(1, x), Pair(x, 3.0), {"k": x}, [x, x, x * 2], 7, "s", None]:
        match subject:
            case (1, y):
                total += y * y
            case Pair(a=a, b=b):
                total += a * b
            case {"k": v}:
                total *= v
            case [y, *rest]:
                total += y * sum(rest)
            case int(n) if n > 5:
                total *= 1.5
            case "s" | None:
                total += x
    return total


def powers(x, n):
    y = 1.0
    for _ in range(n):
        y = y * x
        yield y


def chained(x):
    yield x
    yield from powers(x, 2)
    yield x * 3


@program
def generators(x):
    total = 0.0
    for y in powers(x, 4):
        total += y * x
    for y in powers(x, 100):
        if y > 50 or y < 1e-2:
            break
        total *= y
    return total + sum(y * y for y in powers(x, 3)) + sum(chained(x)) + max(list(powers(x, 2)))


@program
def strings(x):
    name = f"{x:.3f}" + "!" * 2
    print(end="")
    return x * len(name.split(".")) + float("2.5") * x


@program
def imports_inside(x):
    import math as m
    from math import cos

    return m.sin(x) * cos(x)


@program
def dynamic_dispatch(x):
    table = {"sin": math.sin, "square": square, "twice": lambda v: 2 * v}
    for name in ("sin", "square", "twice"):
        x = table[name](x)
    return x


@program
def deletions(x):
    y = x * x
    z = y
    del y
    p = Point(x, z)
    del p.x
    d = {1: x, 2: z}
    del d[1]
    return d[2] * z + p.y


RATE = 0.5
gathered = 0.0


def gather(x):
    return gathered * x * RATE


@program
def globals_that_change(x):
    global gathered
    gathered = x * x
    gathered += RATE * x
    return gather(x) + gathered


def together(*values):
    return values


@program
def arguments_from_iterables(x):
    a = together(*[x, 2 * x])
    b = together(*(v * x for v in (x, 3.0)))
    c = together(*{"k": x}.values())
    return a[0] * a[1] + b[0] * b[1] + c[0]
