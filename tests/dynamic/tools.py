"""What the programs are made of: a header, classes, functions and globals, each put in where it is used; `assemble` makes a
`Program` of a function's text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from . import (
    algorithms,
    asked,
    changes,
    classes,
    coincidences,
    designs,
    effects,
    features,
    flow,
    iterators,
    language,
    library,
    matching,
    patterns,
    retyping,
    small_arrays,
)

HEADER = """\
import abc
import bisect
import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import heapq
import itertools
import math
import operator
import types
import typing
from collections import deque, namedtuple
from dataclasses import dataclass

import numpy as np

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
        %(made)s

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
    "trailing": """
def trailing(z, n):
    for k in range(n):
        yield z
        z = math.sin(z) * 0.5 + 0.1 * k
    yield z * 0.25
    z = z + 0.5
    yield z
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
    "mixed": """
def mixed(a, b, c=0.25, *, d=0.5, e=0.75):
    return a * b - c * d * d + math.sin(a * e) + b * e
""",
    "triple": """
def triple(a, b, c):
    return a * b * b + c * b
""",
    "Level": """
class Level:
    share = 0.5

    def __init__(self, z, rate):
        self.z = z
        self.rate = rate

    @property
    def height(self):
        return self.z * self.rate

    @functools.cached_property
    def depth(self):
        LOG.append(self.rate * 0.01)
        return self.z - self.rate

    @classmethod
    def scaled(cls, z):
        return z * cls.share

    def moved(self, by, *, times=1.0):
        return self.z * times + by * by


class Deeper(Level):
    share = 0.75

    def __init__(self, rate, z):
        super().__init__(rate=rate, z=z)

    @property
    def height(self):
        return super().height * self.rate

    @functools.cached_property
    def depth(self):
        return super().depth * self.z

    @classmethod
    def scaled(cls, z):
        return super().scaled(z) + z * z

    def moved(self, by, *, times=1.0):
        return super().moved(times=by, by=times) * super().share

    def __bool__(self):
        return self.z > self.rate
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

PARTS = (
    features,
    classes,
    language,
    small_arrays,
    retyping,
    effects,
    library,
    changes,
    designs,
    patterns,
    matching,
    algorithms,
    flow,
    coincidences,
    iterators,
    asked,
)
for part in PARTS:
    TOOLS |= part.TOOLS
TOOLS["Base"] = """
class Base:
    def __init__(self, z):
        self.z = z

    def act(self, y):
        return self.z + y
"""

# By what name a tool is used, where that is not its own.
NAMES = {"Level": "(?:Level|Deeper)", "tree": "weigh", "nested": "flat"}
for part in PARTS:
    NAMES |= part.NAMES


@dataclass(frozen=True)
class Program:
    """`calls` are the arguments of calls made one after the other, in one module: Python expressions, evaluated in the module, so
    that each run gets objects of its own. What a call leaves behind in globals and classes is there for the next one. `changes`
    are statements that the caller executes in the module, before the call of the same number."""

    source: str
    parameters: tuple[str, ...]
    calls: tuple[tuple[str, ...], ...]
    changes: tuple[str, ...]

    def __repr__(self) -> str:
        calls = (f"{before}\nf({', '.join(args)})".strip() for args, before in zip(self.calls, self.changes))
        return f"\n{self.source}\n# then\n" + "\n".join(calls) + "\n"

    def only(self, chosen: Sequence[int]) -> Program:
        """With some of its calls."""
        calls, changes = ((tuple(xs[n] for n in chosen)) for xs in (self.calls, self.changes))
        return replace(self, calls=calls, changes=changes)


# Expressions of the methods of `Box`, and those that are taken where nothing is drawn.
METHODS = {
    "area": ("self.u * self.v", "self.u - self.scale", "math.sin(self.u) + self.v"),
    "step": ("self.u * z", "self.v + z * 0.5", "math.cos(self.u) * z", "z"),
    "mix": ("y * z", "y - 0.5 * z", "max(y, z)"),
    "call": ("self.u * z + self.v", "math.sin(z) * self.total()", "self.step(z) * 0.5"),
}


def assemble(
    body: str,
    parameters: tuple[str, ...],
    calls: tuple[tuple[str, ...], ...],
    choose: Callable[[Sequence[str]], str] = lambda options: options[0],
    plain: bool = False,
    changes: tuple[str, ...] = (),
) -> Program:
    """The program of the function `body`, with the tools that it uses."""
    used = body + repr(calls)
    methods = {name: choose(texts) for name, texts in METHODS.items()}
    methods["made"] = "pass" if plain else "Box.made += 1"
    box = BOX % methods if re.search(r"\b(Box|Crate|HELD)\b", used) else ""
    tools = "".join(text for name, text in TOOLS.items() if re.search(rf"\b{NAMES.get(name, name)}\b", used))
    return Program(f"{HEADER}{box}{tools}\n\n{body}\n", parameters, calls, changes or ("",) * len(calls))
