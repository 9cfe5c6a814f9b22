"""A hypothesis strategy for dynamic Python programs: `programs()` gives a `Program`, source text and arguments.

A program is a function `f` with a float as value, and the classes, helpers and globals that it uses.  It terminates, keeps to
domains where the mathematics is defined, and indexes what is there, except inside `try`.  The writer keeps track of what each
variable holds, by the first letter of its name:

    x float     n small int     l list of two or more floats     d dict with the keys "a" and "b", floats
    o object (Box or a class derived from it)     g function of a float     t tuple of two floats     q list of lists

Two names may stand for one object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from . import classes, features, language

FLOATS = (0.7, 1.3, -0.4, 0.25, 1.1, -1.6, 0.9, 0.5, -0.8, 1.0)
CONSTANTS = ("0.5", "1.0", "-1.0", "0.25", "2", "1", "-2", "0.1", "1.5")
KEYS = ("a", "b", "c", "e")

HEADER = """\
import abc
import bisect
import collections
import contextlib
import copy
import dataclasses
import functools
import heapq
import itertools
import math
import operator
import types
from collections import deque, namedtuple
from dataclasses import dataclass

Duo = namedtuple("Duo", "u v")
MEMO = {}
LOG = []
"""

BOX = """
class Box:
    made = 0
    scale = 0.5

    def __init__(self, u, v=0.25):
        self.u = u
        self.v = v
        self.items = [u, v * 0.5]
        Box.made += 1

    @property
    def area(self):
        return %(area)s

    @area.setter
    def area(self, z):
        self.v = z * self.scale

    def step(self, z):
        self.u = %(step)s
        return self.u + z

    def push(self, z):
        self.items.append(z)
        return self

    def total(self):
        return sum(self.items) * self.scale

    @staticmethod
    def mix(y, z):
        return %(mix)s

    @classmethod
    def of(cls, z):
        return cls(z, z * cls.scale)

    def __call__(self, z):
        return %(call)s

    def __add__(self, other):
        return type(self)(self.u + (other.u if isinstance(other, Box) else other), self.v)

    def __radd__(self, other):
        return self + other

    def __iadd__(self, other):
        self.v += other
        return self

    def __mul__(self, z):
        return Box(self.u * z, self.v)

    def __neg__(self):
        return Box(-self.u, self.v)

    def __getitem__(self, i):
        return self.items[i]

    def __setitem__(self, i, z):
        self.items[i] = z

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        yield self.u
        yield from self.items

    def __contains__(self, z):
        return z in self.items

    def __eq__(self, other):
        return isinstance(other, Box) and self.u == other.u

    def __lt__(self, other):
        return self.u < other.u

    def __getattr__(self, name):
        if name.startswith("twice_"):
            return 2 * getattr(self, name[6:])
        raise AttributeError(name)


class Crate(Box):
    scale = 0.75

    def __init__(self, u, v=0.5):
        super().__init__(u * 0.5, v)
        self.extra = u

    def step(self, z):
        return super().step(z * self.extra) * 0.5

    @property
    def area(self):
        return self.extra - self.v

    @area.setter
    def area(self, z):
        self.extra = z
"""

TOOLS = {
    "Scope": """
class Scope:
    def __init__(self, box, z):
        self.box = box
        self.z = z

    def __enter__(self):
        self.box.u += self.z
        return self.box

    def __exit__(self, kind, error, trace):
        self.box.u *= 0.5
        return kind is ValueError
""",
    "Pair": """
@dataclass
class Pair:
    u: float
    v: float = 0.5

    def swapped(self):
        return Pair(self.v, self.u)
""",
    "tree": """
class Node:
    __slots__ = ("left", "right", "z")

    def __init__(self, z, left=None, right=None):
        self.z = z
        self.left = left
        self.right = right


def grow(z, depth):
    if depth == 0:
        return Node(z)
    return Node(z * 0.5, grow(math.sin(z), depth - 1), grow(z + 0.25, depth - 1) if depth > 1 else None)


def weigh(node):
    if node is None:
        return 0.25
    return node.z * weigh(node.left) + 0.5 * weigh(node.right) + node.z
""",
    "nested": """
def flat(tree):
    if isinstance(tree, (list, tuple)):
        return sum(flat(item) for item in tree)
    if isinstance(tree, dict):
        return sum(flat(tree[k]) * (0.5 if k == "a" else 1.0) for k in tree)
    return tree
""",
    "memo": """
def memo(z, n):
    if n not in MEMO:
        MEMO[n] = z if n < 2 else 0.5 * memo(z, n - 1) + 0.25 * memo(z, n - 2) * z
    return MEMO[n]
""",
    "steps": """
def steps(z, n, pull=0.5):
    while n > 0:
        n -= 1
        z = math.sin(z) * pull + 0.1
        yield z
    return
""",
    "windows": """
def windows(values):
    last = None
    for value in values:
        if last is not None:
            yield last, value
        last = value
""",
    "check": """
def check(z):
    if z > 0.5:
        raise ValueError("large", z * 0.5)
    if z < -0.5:
        raise KeyError("small")
    return z * z
""",
    "keywords": """
def keywords(y, *rest, z=0.5, **more):
    for k, e in more.items():
        y = y * 0.5 + e if k != "skip" else y
    return y * z + sum(rest)
""",
    "twice": """
def twice(function):
    @functools.wraps(function)
    def both(*args):
        return 0.5 * (function(*args) + function(*args))
    return both
""",
    "counter": """
def counter(start):
    total = start

    def add(z):
        nonlocal total
        total = total * 0.5 + z
        return total

    return add
""",
}

TOOLS |= features.TOOLS | classes.TOOLS | language.TOOLS
TOOLS["Base"] = """
class Base:
    def __init__(self, z):
        self.z = z

    def act(self, y):
        return self.z + y
"""

STATEMENTS = (*features.STATEMENTS, *classes.STATEMENTS, *language.STATEMENTS)

# By what name a tool is used, where that is not its own.
NAMES = {"tree": "weigh", "nested": "flat", **features.NAMES, **classes.NAMES, **language.NAMES}


@dataclass(frozen=True)
class Program:
    """`args` are Python expressions, evaluated in the program's module: each run gets objects of its own."""

    source: str
    parameters: tuple[str, ...]
    args: tuple[str, ...]

    def __repr__(self) -> str:
        return f"\n{self.source}\n# called as f({', '.join(self.args)})\n"


class Writer:
    """Writes one program, statement by statement, asking `draw` for every choice."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any], budget: int) -> None:
        self.draw = draw
        self.budget = budget
        self.lines: list[str] = []
        self.indent = 0
        self.names: list[str] = []
        self.frozen: set[str] = set()
        self.counter = 0
        self.loops = 0
        self.inner = 0  # nested functions

    # ---------------------------------------------------------------------------------------- choices, output

    def choose(self, options: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(options))

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) >= 100 - percent

    def named(self, kind: str) -> list[str]:
        return [name for name in self.names if name[0] == kind]

    def new(self, kind: str) -> str:
        self.counter += 1
        return f"{kind}{self.counter}"

    def bind(self, name: str) -> None:
        if name not in self.names:
            self.names.append(name)

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def let(self, kind: str, text: str) -> str:
        """Assign to a new name, or to one of the kind that is there."""
        own = [n for n in self.named(kind) if n not in self.frozen] if not self.inner else []
        name = self.choose(own) if own and self.chance(35) else self.new(kind)
        self.line(f"{name} = {text}")
        self.bind(name)
        return name

    @contextmanager
    def block(self, header: str):
        self.line(header)
        self.indent += 1
        names, length = list(self.names), len(self.lines)
        yield
        if len(self.lines) == length:
            self.line("pass")
        self.names = names
        self.indent -= 1

    # -------------------------------------------------------------------------------------------- expressions

    def integer(self) -> str:
        options = [str(self.draw(st.integers(0, 3)))]
        options += self.named("n")
        options += [f"len({l})" for l in self.named("l")[:1]]
        return self.choose(options)

    def index(self, l: str) -> str:
        return self.choose(["0", "1", "-1", f"{self.integer()} % len({l})"])

    def key(self) -> str:
        options = ['"a"', '"b"']
        if self.named("n"):
            options.append(f'"ab"[{self.choose(self.named("n"))} % 2]')
        if self.named("x"):
            options.append(f'("a" if {self.choose(self.named("x"))} > 0 else "b")')
        return self.choose(options)

    def condition(self) -> str:
        options = [f"{self.value(0)} > {self.choose(CONSTANTS)}", f"{self.value(0)} < {self.value(0)}"]
        options += [f"{n} % 2 == 0" for n in self.named("n")[:1]]
        options += [f"len({l}) > 2" for l in self.named("l")[:1]]
        options += [f'"{self.choose(KEYS)}" in {d}' for d in self.named("d")[:1]]
        options += [f"isinstance({o}, Crate)" for o in self.named("o")[:1]]
        return self.choose(options)

    def value(self, depth: int = 2) -> str:
        """An expression for a float (or an int, now and then)."""
        simple: list[Callable[[], str]] = [lambda: self.choose(CONSTANTS)]
        if self.named("x"):
            simple += [lambda: self.choose(self.named("x"))] * 4
        if self.named("n"):
            simple.append(lambda: self.choose(self.named("n")))
        for kind, forms in (("l", self.of_list), ("d", self.of_dict), ("o", self.of_object), ("t", self.of_tuple)):
            if self.named(kind):
                simple += [forms] * 2
        if depth <= 0:
            return self.choose(simple)()
        deep: list[Callable[[], str]] = [
            lambda: f"({self.value(depth - 1)} {self.choose('+-*')} {self.value(depth - 1)})",
            lambda: f"({self.value(depth - 1)} {self.choose('+-*')} {self.value(depth - 1)})",
            lambda: f"math.{self.choose(('sin', 'cos', 'tanh', 'atan'))}({self.value(depth - 1)})",
            lambda: f"(-{self.value(depth - 1)})",
            lambda: f"abs({self.value(depth - 1)})",
            lambda: f"max({self.value(depth - 1)}, {self.value(0)})",
            lambda: f"({self.value(depth - 1)} / (1.5 + {self.value(0)} ** 2))",
            lambda: f"math.exp(-abs({self.value(depth - 1)}))",
            lambda: f"({self.value(depth - 1)} if {self.condition()} else {self.value(depth - 1)})",
            lambda: f"({self.value(0)} or {self.value(0)})",
            lambda: f"float({self.value(depth - 1)})",
            lambda: f"(lambda z: z * {self.value(0)})({self.value(depth - 1)})",
            lambda: f"{{'p': math.sin, 'q': math.cos}}['p' if {self.condition()} else 'q']({self.value(depth - 1)})",
            lambda: f"memo({self.value(0)}, {self.integer()})",
            lambda: f"keywords({self.value(0)}, {self.value(0)}, z={self.value(0)}, c={self.value(0)})",
            lambda: f"keywords(*({self.value(0)}, {self.value(0)}), **dict(z={self.value(0)}))",
            lambda: f"sum(steps({self.value(0)}, {self.draw(st.integers(0, 3))}))",
            lambda: f"sum(e * {self.value(0)} for e in [{self.value(0)}, {self.value(0)}])",
            lambda: f"Pair({self.value(0)}, {self.value(0)}).swapped().u",
            lambda: f"Duo({self.value(0)}, v={self.value(0)}).v",
            lambda: f"weigh(grow({self.value(0)}, {self.draw(st.integers(0, 2))}))",
            lambda: f"flat([{self.value(0)}, ({self.value(0)}, [{self.value(0)}])])",
            lambda: f"operator.mul({self.value(0)}, {self.value(0)})",
            lambda: f"functools.reduce(lambda y, z: y * 0.5 + z, ({self.value(0)}, {self.value(0)}, {self.value(0)}))",
            lambda: f"functools.partial(max, {self.value(0)})({self.value(0)})",
        ]
        if self.named("k"):
            k = self.choose(self.named("k"))
            deep += [lambda: f"{k}.act({self.value(0)})", lambda: f"({k}.half - {k}.z)"]
        if self.named("s"):
            deep.append(lambda: f"len({self.choose(self.named('s'))}) * {self.value(depth - 1)}")
        if self.named("g"):
            deep += [lambda: f"{self.choose(self.named('g'))}({self.value(depth - 1)})"] * 3
        return self.choose(simple + deep)()

    def of_list(self) -> str:
        l = self.choose(self.named("l"))
        return self.choose(
            [
                f"{l}[{self.index(l)}]",
                f"{l}[{self.index(l)}]",
                f"sum({l})",
                f"max({l})",
                f"min({l}, key=lambda z: z * z)",
                f"sum({l}[1:])",
                f"sum(map(math.sin, {l}))",
                f"sum(y * z for y, z in zip({l}, {l}[1:]))",
                f"sum([z * 0.5 for z in {l} if z > 0])",
                f"sorted({l})[0]",
                f"sorted({l}, key=lambda z: -z)[1]",
                f"next(iter({l}))",
                f"list(reversed({l}))[0]",
                f"sum(i * z for i, z in enumerate({l}))",
                f"sum(z for z in filter(lambda z: z < 1.0, {l}))",
                f"copy.copy({l})[0]",
                f"len({l})",
                f"math.prod({l}[:2])",
                f"sum(a * b for a, b in windows({l}))",
            ]
        )

    def of_dict(self) -> str:
        d = self.choose(self.named("d"))
        return self.choose(
            [
                f"{d}[{self.key()}]",
                f"{d}[{self.key()}]",
                f"{d}.get({self.choose(KEYS)!r}, {self.value(0)})",
                f"sum({d}.values())",
                f"sum(z * len(k) for k, z in {d}.items())",
                f"max({d}.items(), key=lambda kz: kz[1])[1]",
                f"sum({d}[k] for k in sorted({d}))",
                f"{{k: z * 0.5 for k, z in {d}.items()}}['a']",
                f"{{**{d}, 'a': {self.value(0)}}}['a']",
                f"dict({d})['b']",
                f"({d} | {{'b': {self.value(0)}}})['b']",
            ]
        )

    def of_object(self) -> str:
        o = self.choose(self.named("o"))
        return self.choose(
            [
                f"{o}.u",
                f"{o}.v",
                f"{o}.area",
                f"{o}.total()",
                f"{o}({self.value(0)})",
                f"{o}.step({self.value(0)})",
                f"{o}[0]",
                f"({o} + {self.value(0)}).u",
                f"({o} * {self.value(0)}).area",
                f"(-{o}).u",
                f"sum({o})",
                f"{o}.twice_u",
                f"Box.mix({self.value(0)}, {o}.u)",
                f"type({o}).of({self.value(0)}).v",
                f"getattr({o}, {self.choose(('u', 'v'))!r})",
                f"max([{o}, Box({self.value(0)})]).u",
                f"len({o})",
                f"{o}.push({self.value(0)}).total()",
                f"sum(vars({o})[k] for k in ('u', 'v'))",
            ]
        )

    def of_tuple(self) -> str:
        t = self.choose(self.named("t"))
        return self.choose([f"{t}[0]", f"{t}[-1]", f"sum({t})", f"max({t})", f"({t} + (0.5,))[2 - 1]"])

    def new_list(self) -> str:
        options = [f"[{self.value(1)}, {self.value(1)}]", f"[{self.value(0)}, {self.value(0)}, {self.value(0)}]"]
        options += [f"[{self.value(0)}] * 2", f"list(({self.value(0)}, {self.value(0)}))"]
        options.append(f"[z * {self.value(0)} for z in ({self.value(0)}, {self.value(0)}, 0.5)]")
        options.append(f"list(steps({self.value(0)}, 3))")
        if self.named("l"):
            l = self.choose(self.named("l"))
            options += [l, l, f"{l}[:]", f"{l} + [{self.value(0)}]", f"sorted({l})", f"[*{l}, {self.value(0)}]"]
            options += [f"{l}[::-1]", f"list(map(lambda z: z * {self.value(0)}, {l}))", f"{l}.copy()"]
        if self.named("d"):
            options.append(f"list({self.choose(self.named('d'))}.values())")
        if self.named("o"):
            options.append(f"{self.choose(self.named('o'))}.items")
        if self.named("q"):
            options.append(f"{self.choose(self.named('q'))}[{self.choose((0, 1, -1))}]")
        return self.choose(options)

    def new_dict(self) -> str:
        options = [f"{{'a': {self.value(1)}, 'b': {self.value(0)}}}", f"dict(a={self.value(0)}, b={self.value(0)})"]
        options.append(f"{{k: {self.value(0)} for k in 'ab'}}")
        options.append(f"dict(zip('abc', ({self.value(0)}, {self.value(0)}, {self.value(0)})))")
        for d in self.named("d")[:2]:
            options += [d, f"{{**{d}, 'c': {self.value(0)}}}", f"dict({d})", f"copy.copy({d})"]
        return self.choose(options)

    def new_object(self) -> str:
        options = [
            f"Box({self.value(1)}, {self.value(0)})",
            f"Crate({self.value(1)})",
            f"Box(v={self.value(0)}, u=0.5)",
        ]
        options.append(f"(Box if {self.condition()} else Crate)({self.value(0)})")
        for o in self.named("o")[:2]:
            options += [o, f"{o} + {self.value(0)}", f"copy.copy({o})"]
        return self.choose(options)

    # -------------------------------------------------------------------------------------------- statements

    def statements(self, count: int) -> None:
        for _ in range(count):
            if self.budget <= 0:
                return
            self.budget -= 1
            self.statement()

    def statement(self) -> None:
        forms: list[Callable[[], None]] = [self.assign_float] * 3
        forms += [lambda: self.keep(self.let("l", self.new_list())), lambda: self.keep(self.let("d", self.new_dict()))]
        forms += [lambda: self.keep(self.let("o", self.new_object()))]
        forms += [lambda: self.keep(self.let("t", f"({self.value(1)}, {self.value(1)})")), self.nested_list]
        forms += [self.list_statement] * 3 * bool(self.named("l"))
        forms += [self.dict_statement] * 2 * bool(self.named("d"))
        forms += [self.object_statement] * 3 * bool(self.named("o"))
        forms += [self.nested_statement] * bool(self.named("q"))
        if self.indent < 4:
            forms += [self.branch, self.loop, self.loop, self.attempt, self.attempt, self.closure, self.context]
            forms += [self.dispatch, self.consume]
            forms += [lambda form=form: form(self) for form in STATEMENTS]
        forms += [self.leave] * bool(self.loops)
        self.choose(forms)()

    def keep(self, name: str) -> None:
        pass

    def assign_float(self) -> None:
        own = [x for x in self.named("x") if x not in self.frozen]
        if own and not self.inner and self.chance(30):
            self.line(f"{self.choose(own)} {self.choose('+-*')}= {self.value(1)}")
        elif own and len(own) > 1 and not self.inner and self.chance(20):
            a, b = self.choose(own), self.choose(own)
            self.line(f"{a}, {b} = {b}, {self.value(1)}")
        else:
            self.let("x", self.value())

    def nested_list(self) -> None:
        if self.named("l"):
            l = self.choose(self.named("l"))
            self.let("q", self.choose([f"[{l}, {l}]", f"[{l}, {self.new_list()}]", f"[[{self.value(0)}, 0.5], {l}]"]))

    def nested_statement(self) -> None:
        q = self.choose(self.named("q"))
        self.line(
            self.choose(
                [
                    f"{q}[0][{self.choose((0, 1))}] {self.choose(('', '+', '*'))}= {self.value(1)}",
                    f"{q}.append({self.choose(self.named('l'))})" if self.named("l") else f"{q}.reverse()",
                    f"{q}[0], {q}[1] = {q}[1], {q}[0]",
                    f"{q}[1] = [z * 0.5 for z in {q}[0]]",
                ]
            )
        )

    def list_statement(self) -> None:
        l = self.choose(self.named("l"))
        v = lambda: self.value(1)
        self.line(
            self.choose(
                [
                    f"{l}.append({v()})",
                    f"{l}.append({v()})",
                    f"{l}[{self.index(l)}] = {v()}",
                    f"{l}[{self.index(l)}] = {v()}",
                    f"{l}[{self.index(l)}] += {v()}",
                    f"{l}[{self.index(l)}] *= {v()}",
                    f"{l}.insert({self.choose((0, 1, -1, 7))}, {v()})",
                    f"{l}.extend([{v()}, {self.value(0)}])",
                    f"{l} += [{v()}]" if not self.inner else f"{l}.extend([{v()}])",
                    f"{l}.reverse()",
                    f"{l}.sort()",
                    f"{l}.sort(key=lambda z: z * z, reverse=True)",
                    f"{l}[0], {l}[1] = {l}[1], {l}[0]",
                    f"{l}[:1] = [{v()}, {self.value(0)}]",
                    f"{l}[1:] = [z * 0.5 for z in {l}]",
                    f"del {l}[2:]",
                    f"{l}[:] = {l}[::-1]",
                    f"LOG.append({l}[0])",
                ]
            )
        ) if self.chance(80) else self.take(l)

    def take(self, l: str) -> None:
        with self.block(f"if len({l}) > 2:"):
            form = self.choose([f"{l}.pop()", f"{l}.pop(0)", f"{l}.pop(1)"])
            self.line(self.choose([form, f"del {l}[0]", f"{l}[0] += {form}"]))
            x = self.new("x")
            self.line(f"{x}, *rest = {l}")
            self.line(f"{l}[-1] = {x} + sum(rest)")

    def dict_statement(self) -> None:
        d = self.choose(self.named("d"))
        self.line(
            self.choose(
                [
                    f"{d}[{self.key()}] = {self.value(1)}",
                    f"{d}[{self.key()}] += {self.value(1)}",
                    f"{d}[{self.choose(KEYS)!r}] = {self.value(1)}",
                    f"{d}.update(a={self.value(0)}, c={self.value(0)})",
                    f"{d}.setdefault({self.choose(KEYS)!r}, {self.value(0)})",
                    f"{d}['a'] = {d}.pop('c', {self.value(0)})",
                    f"{d}.pop('e', None)",
                    f"{d} |= {{'b': {self.value(0)}}}" if not self.inner else f"{d}.update(b={self.value(0)})",
                    f"{d}['a'], {d}['b'] = {d}['b'], {d}['a']",
                ]
            )
        )

    def object_statement(self) -> None:
        o = self.choose(self.named("o"))
        options = [
            f"{o}.u = {self.value(1)}",
            f"{o}.v {self.choose('+-*')}= {self.value(1)}",
            f"{o}.area = {self.value(1)}",
            f"{o}.step({self.value(1)})",
            f"{o}.push({self.value(1)})",
            f"{o}[0] = {self.value(1)}",
            f"{o}[-1] += {self.value(1)}",
            f"{o} += {self.value(0)}" if not self.inner else f"{o}.u += {self.value(0)}",
            f"setattr({o}, 'v', {self.value(0)})",
            f"{o}.u, {o}.v = {o}.v, {o}.u",
            f"Box.scale = {self.value(0)}" if self.chance(10) else f"{o}.scale = {self.value(0)}",
        ]
        if self.named("l"):
            options.append(f"{o}.items = {self.choose(self.named('l'))}")
        self.line(self.choose(options))

    # ------------------------------------------------------------------------------------------- control flow

    def branch(self) -> None:
        with self.block(f"if {self.condition()}:"):
            self.statements(2)
        if self.chance(50):
            with self.block("else:"):
                self.statements(2)

    def loop(self) -> None:
        options = [("n", f"for @ in range({self.draw(st.integers(0, 4))}):")]
        for l in self.named("l")[:2]:
            options += [("x", f"for @ in {l}[:4]:"), ("x", f"for @ in tuple({l})[:4]:")]
        for d in self.named("d")[:1]:
            options += [("x", f"for key, @ in list({d}.items()):"), ("x", f"for @ in list({d}.values()):")]
        for o in self.named("o")[:1]:
            options += [("x", f"for @ in list({o})[:4]:")]
        options.append(("x", f"for @ in steps({self.value(0)}, 3):"))
        options.append(("n", "while"))
        kind, header = self.choose(options)
        name = self.new(kind)
        self.loops += 1
        if header == "while":
            self.line(f"{name} = {self.draw(st.integers(1, 4))}")
            with self.block(f"while {name} > 0:"):
                self.line(f"{name} -= 1")
                self.bind(name)
                self.frozen.add(name)
                self.statements(3)
        else:
            with self.block(header.replace("@", name)):
                self.bind(name)
                self.frozen.add(name)
                self.statements(3)
        self.loops -= 1
        if self.chance(15):
            with self.block("else:"):
                self.statements(1)

    def leave(self) -> None:
        with self.block(f"if {self.condition()}:"):
            self.line(self.choose(["break", "continue"]))

    def attempt(self) -> None:
        with self.block("try:"):
            self.statements(1)
            self.line(
                self.choose(
                    [
                        f"check({self.value(1)})",
                        f"LOG.append(check({self.value(1)}))",
                        f"raise ValueError({self.value(0)}, {self.value(0)})",
                        f"[][{self.integer()}]",
                        f"{{'a': 1.0}}[{self.choose(KEYS)!r}]",
                        "1.0 / 0.0",
                        f"math.sqrt(-1.0 - {self.value(0)} ** 2)",
                        f"assert {self.condition()}",
                        "None.u",
                        "pass",
                    ]
                )
            )
            self.statements(1)
        error = self.choose(
            ["ValueError", "(KeyError, IndexError)", "(ZeroDivisionError, AssertionError, AttributeError)", "Exception"]
        )
        if self.chance(30):
            with self.block(f"except {error} as error:"):
                x = self.let("x", f"error.args[1] if len(error.args) > 1 else {self.value(0)}")
                self.statements(1)
                self.line(f"{x} = {x} * 0.5")
        else:
            with self.block(f"except {error}:"):
                self.statements(2)
        if error != "Exception" and self.chance(80):
            with self.block("except Exception:"):
                self.statements(1)
        if self.chance(25):
            with self.block("else:"):
                self.statements(1)
        if self.chance(30):
            with self.block("finally:"):
                loops, self.loops = self.loops, 0  # `continue` there would swallow the exception
                self.statements(1)
                self.loops = loops

    def context(self) -> None:
        if not self.named("o"):
            return
        o = self.new("o")
        with self.block(f"with Scope({self.choose(self.named('o'))}, {self.value(1)}) as {o}:"):
            self.bind(o)
            self.frozen.add(o)
            self.statements(2)
            if self.chance(30):
                with self.block(f"if {self.condition()}:"):
                    self.line("raise ValueError('left')")

    def closure(self) -> None:
        g = self.new("g")
        form = self.choose(["lambda", "def", "counter", "twice", "method", "table", "decorated"])
        if form == "lambda":
            self.line(f"{g} = lambda z: z * {self.value(1)}")
        elif form == "counter":
            self.line(f"{g} = counter({self.value(0)})")
        elif form == "twice":
            self.line(f"{g} = twice(lambda z: math.sin(z) * {self.value(0)})")
        elif form == "method" and self.named("o"):
            o = self.choose(self.named("o"))
            self.line(f"{g} = {self.choose([o, f'{o}.step', f'{o}.push({self.value(0)}).step'])}")
        elif form == "table":
            self.line(f"{g} = {{0: math.sin, 1: lambda z: z * {self.value(0)}}}[{self.integer()} % 2]")
        else:
            if form == "decorated":
                self.line("@twice")
            own = [n for n in self.names if n not in self.frozen and n[0] == "x"]
            changed = self.choose(own) if own and not self.inner and self.chance(50) and self.indent == 1 else None
            names, loops, self.loops = list(self.names), self.loops, 0
            with self.block(f"def {g}(x_):"):
                if changed is not None:
                    self.line(f"nonlocal {changed}")
                self.inner += 1
                self.names = [n for n in self.names if n[0] != "q"]
                self.bind("x_")
                self.statements(2)
                if changed is not None:
                    self.line(f"{changed} = {changed} * 0.5 + {self.value(1)}")
                self.line(f"return {self.value(1)}")
                self.inner -= 1
            self.names, self.loops = names, loops
        self.bind(g)

    def dispatch(self) -> None:
        subject = self.choose([f"({self.value(0)}, {self.integer()})", f"{{'k': {self.value(0)}}}", self.integer()])
        x = self.new("x")
        with self.block(f"match {subject}:"):
            with self.block(f"case ({x}, 0):"):
                self.line(f"LOG.append({x})")
            with self.block(f"case {{'k': {x}}} | ({x}, 1 | 2):"):
                self.bind(x)
                self.statements(2)
            with self.block("case _:"):
                self.line(f"{x} = {self.value(0)}")
        self.line(f"LOG.append({x}) if {self.condition()} else None")

    def consume(self) -> None:
        source = self.choose([f"steps({self.value(0)}, 3)", f"steps({self.value(0)}, n=2, pull={self.value(0)})"])
        options = [f"sum({source})", f"max({source})", f"next({source})", f"[*{source}, 0.5][0]"]
        options.append(f"sum(z * w for z, w in zip({source}, (0.5, {self.value(0)})))")
        options.append(f"deque({source}, maxlen=1)[0]")
        self.let("x", self.choose(options))

    # ---------------------------------------------------------------------------------------------- programs

    def program(self) -> Program:
        kinds = self.choose(["x", "xx", "xl", "xd", "xo", "lx", "xlo", "xnd", "xxt"])
        parameters = tuple(f"{kind}{at}" for at, kind in enumerate(kinds))
        self.counter = len(kinds)
        for name in parameters:
            self.bind(name)
        args = tuple(map(self.argument, kinds))
        self.indent = 1
        self.statements(1 + self.draw(st.integers(2, self.budget)))
        result = [self.value(2)]
        for kind in "xldo":
            if self.named(kind):
                self.names = [n for n in self.names if n[0] != kind] + self.named(kind)[-1:]
                result.append({"x": lambda: self.named("x")[-1], "l": lambda: f"sum({self.named('l')[-1]})",
                               "d": lambda: f"sum({self.named('d')[-1]}.values())",
                               "o": lambda: f"{self.named('o')[-1]}.u"}[kind]())  # fmt: skip
        self.line(f"return math.tanh(0.25 * ({' + '.join(result)})) + 0.1 * sum(LOG)")
        body = "\n".join([f"def f({', '.join(parameters)}):", *self.lines])
        box = ""
        if re.search(r"\b(Box|Crate)\(", body + repr(args)) or "Crate" in body:
            box = BOX % {
                "area": self.choose(("self.u * self.v", "self.u - self.scale", "math.sin(self.u) + self.v")),
                "step": self.choose(("self.u * z", "self.v + z * 0.5", "math.cos(self.u) * z", "z")),
                "mix": self.choose(("y * z", "y - 0.5 * z", "max(y, z)")),
                "call": self.choose(("self.u * z + self.v", "math.sin(z) * self.total()", "self.step(z) * 0.5")),
            }
        tools = "".join(text for name, text in TOOLS.items() if re.search(rf"\b{NAMES.get(name, name)}\b", body))
        return Program(f"{HEADER}{box}{tools}\n\n{body}\n", parameters, args)

    def argument(self, kind: str) -> str:
        number = lambda: repr(self.choose(FLOATS))
        return {
            "x": number,
            "n": lambda: str(self.draw(st.integers(0, 3))),
            "l": lambda: f"[{', '.join(number() for _ in range(self.draw(st.integers(2, 4))))}]",
            "d": lambda: f"{{'a': {number()}, 'b': {number()}}}",
            "o": lambda: f"{self.choose(('Box', 'Crate'))}({number()}, {number()})",
            "t": lambda: f"({number()}, {number()})",
        }[kind]()


@st.composite
def programs(draw: Callable[[st.SearchStrategy[Any]], Any], budget: int = 10) -> Program:
    return Writer(draw, budget).program()
