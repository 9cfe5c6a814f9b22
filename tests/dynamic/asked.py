"""Statements of random dynamic programs that ask mappings, sequences and iterables whose special methods change something: how often,
and when, a method is called decides what comes out.
"""

from __future__ import annotations

from collections.abc import Callable

from .features import Writing

TOOLS = {
    "Asked": """
class Asked:
    def __init__(self, z):
        self.z = z
        self.asked = 0

    def turn(self, by):
        self.asked += 1
        self.z = self.z * by + 0.125 * self.asked
        return self.z


class AskedForKeys(Asked):
    def keys(self):
        self.turn(0.75)
        return ["a", "b"]

    def __getitem__(self, k):
        return self.turn(0.5) + (k == "b")


class GivesKeys(AskedForKeys):
    def keys(self):
        self.turn(0.75)
        yield "a"
        self.turn(-0.5)
        yield "b"
        self.turn(0.25)


class AskedMapping(AskedForKeys, collections.abc.Mapping):
    keys = collections.abc.Mapping.keys

    def __iter__(self):
        self.turn(0.75)
        yield "b"
        self.turn(-0.5)
        yield "a"

    def __len__(self):
        self.turn(0.5)
        return 2


class AskedSteps(Asked):
    left = 3

    def __iter__(self):
        self.turn(0.75)
        return self

    def __next__(self):
        self.turn(-0.5)
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.turn(0.75)


class AskedItems(Asked):
    def __len__(self):
        self.turn(-0.75)
        return 3

    def __getitem__(self, k):
        if k >= 3:
            raise IndexError(k)
        return self.turn(0.5) + k


class AskedGenerator(AskedItems):
    def __iter__(self):
        self.turn(0.75)
        yield self.z
        yield self.turn(-0.5) * 0.5
        yield 0.25


class AskedManager(Asked):
    @property
    def __enter__(self):
        self.turn(0.75)
        return lambda: self.turn(0.5)

    @property
    def __exit__(self):
        self.turn(-0.5)
        return lambda *exception: self.turn(0.5) is None


def named(a, b=0.5, **more):
    return a * b + sum(more.values())


def items_of(d):
    return d["a"] * d["b"] + len(d)


def put_in(l, key, items):
    l[key] = items
    return sum(l)


def taken_apart(items):
    a, *b = items
    return a + sum(z * (k + 2) for k, z in enumerate(b))


def taken_from_behind(items):
    *a, b = items
    return b + sum(z * (k + 2) for k, z in enumerate(a))
""",
}
NAMES = {
    "Asked": "(?:Asked[A-Za-z]*|GivesKeys|named|items_of|put_in|taken_apart|taken_from_behind)",
}


def mappings(w: Writing) -> None:
    o = w.let("r", f"{w.choose(['AskedForKeys', 'GivesKeys', 'AskedMapping'])}({w.value(1)})")
    forms = [
        f"named(**{o})",
        f"named(**{o}, c={w.value(0)})",
        f"functools.partial(named, **{o})()",
        f"items_of(dict(**{o}))",
        f"items_of({{**{o}}})",
        f"items_of({{'a': {w.value(0)}, **{o}}})",
        f"items_of(dict({o}))",
        f"items_of(collections.OrderedDict({o}))",
        f"items_of(collections.defaultdict(float, {o}))",
        f"items_of({{}} | dict({o}))",
    ]
    w.let("x", f"{w.choose(forms)} + {o}.z")


def iterables(w: Writing) -> None:
    o = w.let("r", f"{w.choose(['AskedSteps', 'AskedItems', 'AskedGenerator'])}({w.value(1)})")
    forms = [
        f"sum(p * q for p, q in itertools.pairwise({o}))",
        f"sum(p * (k + 1) for k, p in enumerate(itertools.tee({o})[{w.choose('01')}]))",
        f"sum(heapq.nlargest({w.choose('124')}, {o}))",
        f"sum(heapq.nsmallest({w.choose('124')}, {o}))",
        f"put_in([0.5, 0.25, 0.125], slice({w.choose('01')}, 2), {o})",
        f"put_in([0.5] * 5, slice(None, None, 2), {o})",
        f"taken_apart({o})",
        f"taken_from_behind({o})",
        f"sum(list(iter({o})))",
        f"sum([*{o}])",
        f"max({o})",
        f"({w.value(0)} in {o}) * 0.5",
        f"(7.5 in {o}) * 0.5",
    ]
    w.let("x", f"{w.choose(forms)} + {o}.z")


def managers(w: Writing) -> None:
    o = w.let("r", f"AskedManager({w.value(1)})")
    x = w.let("x", w.value(0))
    with w.block(f"with {o} as {w.new('entered')}:"):
        w.line(f"{o}.z = {o}.z * {x} + {w.value(0)}")
    w.let("x", f"{o}.z * {x}")


STATEMENTS: tuple[Callable[[Writing], None], ...] = (mappings, mappings, iterables, iterables, managers)
PLAIN: tuple[Callable[[Writing], None], ...] = ()
