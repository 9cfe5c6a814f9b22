"""Expressions of random dynamic programs, over the variables that a program has."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import TypeVar

from . import retyping, small_arrays

T = TypeVar("T")

CONSTANTS = ("0.5", "1.0", "-1.0", "0.25", "2", "1", "-2", "0.1", "1.5")
KEYS = ("a", "b", "c", "e")

# What native code refuses.
DYNAMIC = re.compile(
    r"\b(memo|grow|leave_by|add_global|area_of|default_list|copy|deque|vars)\(|twice_|sorted\(d|else Crate|Box.scale ="
)


class Expressions(ABC):
    """Writes lines and expressions over the variables there are, with `random` for every choice."""

    def __init__(self, random: Random, plain: bool) -> None:
        self.random = random
        self.plain = plain
        self.lines: list[str] = []
        self.indent = 0
        self.names: list[str] = []
        self.frozen: set[str] = set()
        self.counter = 0
        self.loops = 0
        self.inner = 0  # nested functions

    # ---------------------------------------------------------------------------------------- choices, output

    def choose(self, options: Sequence[T]) -> T:
        if self.plain:
            options = [option for option in options if not (isinstance(option, str) and DYNAMIC.search(option))]
        return self.random.choice(options)

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def up_to(self, most: int, least: int = 0) -> int:
        return self.random.randint(least, most)

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
    def block(self, header: str) -> Iterator[None]:
        self.line(header)
        self.indent += 1
        names, length = list(self.names), len(self.lines)
        yield
        if len(self.lines) == length:
            self.line("pass")
        self.names = names
        self.indent -= 1

    @abstractmethod
    def statements(self, count: int) -> None:
        """So many statements: those of the program that is written."""

    # -------------------------------------------------------------------------------------------- expressions

    def integer(self) -> str:
        options = [str(self.up_to(3))]
        options += self.named("n")
        options += [f"len({l})" for l in self.named("l")[:1]]
        return self.choose(options)

    def index(self, l: str) -> str:
        return self.choose(["0", "1", "-1", f"{self.integer()} % len({l})"])

    def key(self) -> str:
        options = ['"a"', '"b"']
        if self.plain:
            return self.choose(options)
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

    def shuffled(self, names: str) -> list[str]:
        drawn = names.split()
        self.random.shuffle(drawn)
        return drawn

    def by_name(self, names: str, some: str = "") -> str:
        """Keyword arguments in any order: all of `names`, and some of the others."""
        chosen = [names, *(name for name in some.split() if self.chance(40))]
        return ", ".join(f"{name}={self.value(0)}" for name in self.shuffled(" ".join(chosen)))

    def level(self) -> str:
        return f"{self.choose(['Level', 'Deeper'])}({self.by_name('z rate')})"

    def value(self, depth: int = 2) -> str:
        """An expression for a float (or an int, now and then)."""
        simple: list[Callable[[], str]] = [lambda: self.choose(CONSTANTS)]
        if self.named("x"):
            simple += [lambda: self.choose(self.named("x"))] * 4
        if self.named("n"):
            simple.append(lambda: self.choose(self.named("n")))
        if depth < 0:
            return self.choose([*simple, self.of_part])()
        for kind, forms in (("l", self.of_list), ("d", self.of_dict), ("o", self.of_object), ("t", self.of_tuple)):
            if self.named(kind):
                simple += [forms] * 2
        for kind, written in (("a", small_arrays.number), ("u", small_arrays.held), ("w", retyping.number)):
            if self.named(kind):
                simple.append(lambda written=written: written(self))
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
            lambda: f"mixed({self.by_name('a b', 'c d e')})",
            lambda: f"mixed({self.value(0)}, {self.by_name('b', 'c d e')})",
            lambda: (
                f"functools.partial({self.choose(['triple', 'mixed'])}, {self.by_name('b')})({self.by_name('a c')})"
            ),
            lambda: f"triple(**{{{', '.join(f'{n!r}: {self.value(0)}' for n in self.shuffled('a b c'))}}})",
            lambda: f"{self.level()}.{self.choose(['height', 'depth'])}",
            lambda: f"{self.level()}.moved({self.by_name('by', 'times')})",
            lambda: f"{self.choose(['Level', 'Deeper'])}.scaled({self.value(0)})",
            lambda: f"({self.value(0)} if {self.level()} else {self.value(0)})",
            lambda: f"sum(steps({self.value(0)}, {self.up_to(3)}))",
            lambda: f"sum(e * {self.value(0)} for e in [{self.value(0)}, {self.value(0)}])",
            lambda: f"Pair({self.value(0)}, {self.value(0)}).swapped().u",
            lambda: f"Duo({self.value(0)}, v={self.value(0)}).v",
            lambda: f"weigh(grow({self.value(0)}, {self.up_to(2)}))",
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
        text = self.choose(simple + deep)()
        return self.value(depth) if self.plain and DYNAMIC.search(text) else text

    def of_part(self) -> str:
        """What a container or an object holds, as it is; the operands of longer expressions."""
        parts = [f"{l}[{self.choose((0, 1, -1))}]" for l in self.named("l")[:2]]
        parts += [f"{d}[{self.choose('ab')!r}]" for d in self.named("d")[:2]]
        parts += [f"{o}.{self.choose('uv')}" for o in self.named("o")[:2]]
        return self.choose([*parts, self.choose(CONSTANTS)])

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
                f"{d}.get({self.choose(KEYS)!r}, {self.value(-1)})",
                f"sum({d}.values())",
                f"sum(z * len(k) for k, z in {d}.items())",
                f"max({d}.items(), key=lambda kz: kz[1])[1]",
                f"sum({d}[k] for k in sorted({d}))",
                f"{{k: z * 0.5 for k, z in {d}.items()}}['a']",
                f"{{**{d}, 'a': {self.value(-1)}}}['a']",
                f"dict({d})['b']",
                f"({d} | {{'b': {self.value(-1)}}})['b']",
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
                f"{o}({self.value(-1)})",
                f"{o}.step({self.value(-1)})",
                f"{o}[0]",
                f"({o} + {self.value(-1)}).u",
                f"({o} * {self.value(-1)}).area",
                f"(-{o}).u",
                f"sum({o})",
                f"{o}.twice_u",
                f"Box.mix({self.value(-1)}, {o}.u)",
                f"type({o}).of({self.value(-1)}).v",
                f"getattr({o}, {self.choose(('u', 'v'))!r})",
                f"max([{o}, Box({self.value(-1)})]).u",
                f"len({o})",
                f"{o}.push({self.value(-1)}).total()",
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
