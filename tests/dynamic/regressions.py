"""What random programs found, made small: functions `f` over the tools of the generator, by what they show."""

from __future__ import annotations

from .tools import Program, assemble

_BODIES = {
    "zip takes an item too many": """
def f(x):
    return sum(z * w for z, w in zip(steps(x, 3), (0.5, x)))
""",
    "zip of a generator second": """
def f(x):
    return sum(z * w for z, w in zip((0.5, x), steps(x, 3)))
""",
    "filter drops items": """
def f(x):
    return sum(filter(lambda z: z < 0.5, steps(x, 4)))
""",
    "first item left aside": """
def f(x):
    items = steps(x, 3)
    next(items)
    return sum(items)
""",
    "last items left aside": """
def f(x):
    items = steps(x, 5)
    first = next(items)
    next(items)
    return first
""",
    "left by break": """
def f(x):
    r = 0.0
    for z in steps(x, 5):
        if z < 0.45:
            break
        r += z
    return r
""",
    "largest by key": """
def f(x):
    return max(steps(x, 3), key=lambda z: -z)
""",
    "starred target": """
def f(x):
    first, *rest = steps(x, 3)
    return first * rest[1]
""",
    "end of what is sent to": """
def f(x):
    return drive(drawn(x, 2), (x, x * x, 0.1))
""",
    "largest of spread arguments, of a list that has grown": """
def f(x):
    values, sums = [x], [[x, 2.0]]
    values.append(x * x)
    sums.append(x)
    first = max(0.0, *values) * min(*values, 9.0) + sum(*sums)
    return first + sum(itertools.starmap(max, [values, (x, 0.25)])) * values[1]
""",
    "single dispatch": """
def f(x):
    return area_of([x, (x * x, x)])
""",
    "a key compares by identity": """
class Compared:
    def __init__(self, t):
        self.t = t

    def __eq__(self, other):
        self.t = self.t * 2
        return self is other

    __hash__ = object.__hash__


def f(x):
    k = Compared(x)
    d = {k: x * x}
    return d[k] * k.t
""",
    "starred constants": """
def f(x):
    first, *rest = ("sin", 2, 0.5)
    *spec, last = (x, None)
    return getattr(math, first)(x) * sum(rest) * spec[0] if last is None else x
""",
    "itertools over tuples, whose cotangents have no identity": """
def f(x):
    a, b = itertools.tee((x, 2 * x))
    for _, group in itertools.groupby((x, x * x), key=lambda z: z > 0.5):
        x = x * sum(group)
    return sum(a) * next(b) + sum(y * z for y, z in itertools.pairwise((x, 2 * x, 0.5)))
""",
    "a loop behind which an exception is certain": """
def f(x):
    if x > 1.0:
        for z in [x, 0.5]:
            x = x * z
        raise ValueError(x)
    for z in [x, 0.5]:
        x = x * z
    return x
""",
    "what a sum has taken when a step raises, and the order of steps and operators": """
STATE = {}


class Steps:
    def __init__(self, z):
        self.z = z
        self.n = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.n += 1
        STATE["k"] = STATE["k"] * 0.5 + self.z
        if self.n > 3:
            raise ValueError(self.z)
        return self.z * self.n


class Summed:
    def __init__(self, z):
        self.z = z

    def __radd__(self, other):
        return self + other

    def __add__(self, other):
        STATE["k"] = STATE["k"] * 0.5 + self.z
        return Summed(self.z + (other.z if isinstance(other, Summed) else other))

    def __gt__(self, other):
        STATE["k"] = STATE["k"] * 0.5 + self.z * other.z
        return self.z > other.z


def summed(z):
    yield z
    for i in range(3):
        yield Summed(math.sin(STATE["k"]) * z + i)


def largest(z):
    for i in range(3):
        yield Summed(math.sin(STATE["k"]) * z + i)


def f(x):
    STATE["k"] = x
    for taking in (sum, max, math.prod):
        try:
            taking(Steps(x))
        except ValueError as error:
            x = x * 0.5 + error.args[0]
    return STATE["k"] * x + sum(summed(x)).z + max(largest(x)).z + STATE["k"]
""",
    "what a handler leads to is no loop": """
def f(x):
    y = x
    if x > 0.0:
        try:
            raise Worse(x) from Trouble(x)
        except Worse as error:
            pass
        y = y * 0.5 + y
    return y
""",
}


_BODIES |= {
    "an OrderedDict has an order of its own": """
def f(x):
    d = collections.OrderedDict([("p", x), ("q", 0.1), ("r", x * x)])
    d.move_to_end("p")
    y = 0.0
    for z in (*d.values(), *[d[k] for k in d], *[z for _, z in d.items()], *{**d}.values(), *dict(d).values()):
        y = y * x + z
    for z in (next(iter(d.values())), next(reversed(d.values())), [*d, *reversed(d)].index("p"), list(d.copy().values())[-1]):
        y = y * x + z
    return y + positional(0.5, d=2.0, **{k * 2: z for k, z in d.items()}) + d.popitem(last=False)[1] + d.popitem()[1]
""",
    "copies of an OrderedDict, and of one of a class of its own": """
class Named(collections.OrderedDict):
    by = 0.5


def f(x):
    d = collections.OrderedDict(p=x, q=0.1)
    e = d.copy()
    e["p"] *= x
    c = Named(r=x * x)
    b = c.copy()
    b["r"] += x
    return d["p"] * e["p"] + c["r"] * b["r"] * b.by
""",
    "the dict of an object that looks its attributes up itself": """
class Looking:
    def __init__(self, z):
        self.z = z

    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


def f(x):
    a = Looking(x)
    a.__dict__["k"] = x * x
    vars(a)["m"] = a.k * x
    object.__getattribute__(a, "__dict__")["n"] = a.m * 2.0
    a.z = a.z * x
    return a.k * a.m + a.n * a.__dict__["z"]
""",
}

PROGRAMS: dict[str, Program] = {
    shown: assemble(body.strip("\n"), ("x",), (("1.1",), ("0.4",), ("2",))) for shown, body in _BODIES.items()
}
