"""Random programs of generators (chains, `yield from`, recursion, methods, loops that are left, what is sent, exceptions that come out of
them), against dual numbers; and that what generators note comes in CPython's order."""

from __future__ import annotations

import itertools
import random
import sys
import types

import pytest

from tests.oracles import dual
from tests.turns import each_in_long_turn
from zyg.autodiff.objects.api import pullback

PARAMETERS = "xs, p"
FIXED = """
import itertools
import math

class Held:
    def __init__(self, a):
        self.a = a

    def given(self, n):
        for k in range(n):
            self.a = self.a * 0.9 + 0.01 * k
            log.append(("held", k))
            yield self.a

    def __iter__(self):
        yield self.a
        yield from self.given(2)

class Node:
    def __init__(self, a, depth):
        self.a = a
        self.kids = [Node(a * 0.7, depth - 1), Node(0.9 - a, depth - 2)] if depth > 0 else []

    def __iter__(self):
        yield self.a
        for kid in self.kids:
            yield from kid

    def leaves(self):
        if not self.kids:
            yield self.a
        for kid in self.kids:
            yield from kid.leaves()

def mean():
    total, n, given = 0.0, 0, 0.0
    while True:
        v = yield given
        if v is None:
            return
        total, n = total + v * v, n + 1
        given = total / n
"""


class Drawn:
    """The text of a program, drawn by a seed. Generators are functions of the module, or of the function that uses them."""

    def __init__(self, seed: int):
        self.draw = random.Random(seed)
        self.sources: list[str] = []
        self.steps: list[str] = []
        self.shared: list[str] = []
        self.local: list[str] = []

    def number(self) -> str:
        return f"{self.draw.uniform(0.3, 1.2):.3f}"

    def expression(self, *names: str) -> str:
        a, b = self.draw.choice(names), self.draw.choice(names)
        forms = [
            f"{a} * {b}",
            f"{a} + {self.number()} * {b}",
            f"math.sin({a}) * {self.number()}",
            f"{a} * {self.number()} - {b} * {b}",
        ]
        return self.draw.choice(forms)

    def note(self, name: str, value: str) -> list[str]:
        return [f"log.append(({name!r}, {value}))"] if self.draw.random() < 0.4 else []

    def define(self, name: str, parameters: str, body: list[str]) -> None:
        within = any(f"def {known}(" in line for known in self.steps for line in self.local if known in "".join(body))
        where = self.local if within or self.draw.random() < 0.5 else self.shared
        where += [f"def {name}({parameters}):", *[f"    {line}" for line in body], ""]

    def source(self) -> None:
        name = f"source{len(self.sources)}"
        body = [
            "for k in range(n):",
            *[f"    {line}" for line in self.note(name, "k")],
            f"    yield {self.expression('a')}",
        ]
        if self.draw.random() < 0.6:
            body.append(f"    a = a * {self.number()} + 0.05")
        if self.draw.random() < 0.3:
            body = ["if n > 0:", f"    yield a * {self.number()}", f"    yield from {name}(a * {self.number()}, n - 2)"]
            body += [f"    for v in {name}({self.number()} - a, n - 3):", "        yield v * a"]
        self.define(name, "a, n", body)
        self.sources.append(name)

    def step(self) -> None:
        name = f"step{len(self.steps)}"
        draw = self.draw
        kind = draw.randrange(7)
        noted = [f"    {line}" for line in self.note(name, "len(log)")]
        if kind == 0:
            body = ["s = p", "for v in xs:", *noted, f"    s = {self.expression('s', 'v', 'p')}", "    yield s"]
        elif kind == 1:
            leaves = draw.choice(["continue", "break", "return"])
            body = [
                "for v in xs:",
                f"    if v > {self.number()}:",
                f"        {leaves}",
                *noted,
                "    yield v * p",
                "    yield v",
            ]
        elif kind == 2:
            body = ["batch = []", "for v in xs:", "    batch.append(v)", "    if len(batch) == 3:"]
            body += ["        yield sum(batch) * p", "        batch = []", "if batch:", "    yield batch[-1]"]
        elif kind == 3:
            body = [
                "last = None",
                "for k, v in enumerate(xs):",
                "    if last is not None:",
                "        yield v - last * p",
            ]
            body += ["    last = v", *noted]
        elif kind == 4:
            items = draw.choice(["xs", f"(v * {self.number()} for v in xs)"])
            body = [f"yield from {items}", "yield p"]
        elif kind == 5 and self.steps:
            inner = draw.choice(self.steps)
            body = (
                [f"yield from {inner}(xs, p)", "yield p * p"]
                if draw.random() < 0.5
                else [
                    f"ys = {inner}(xs, p * 0.5)",
                    *[line[4:] for line in noted],
                    "for v in ys:",
                    "    yield v",
                    f"    yield {self.expression('v', 'p')}",
                ]
            )
        else:
            body = [
                "for v in xs:",
                f"    if v > {float(self.number()) + 0.9:.3f}:",
                "        raise ValueError(v)",
                *noted,
                "    yield v",
            ]
        self.define(name, PARAMETERS, body)
        self.steps.append(name)

    def chain(self) -> str:
        a, count = self.draw.choice("xy"), self.draw.randrange(1, 7)
        chain = f"{self.draw.choice(self.sources)}({a}, {count})"
        chain = self.draw.choice(
            [
                chain,
                chain,
                chain,
                f"Held({a})",
                f"Held({a}).given({count})",
                "[x, y, x * y]",
                f"Node({a}, 2)",
                f"Node({a}, 3).leaves()",
            ]
        )
        for _ in range(self.draw.randrange(4)):
            chain = f"{self.draw.choice(self.steps)}({chain}, {self.draw.choice(['x', 'y', 'x * y'])})"
        return chain

    def use(self) -> list[str]:
        draw, chain = self.draw, self.chain()
        kind = draw.randrange(9)
        if kind == 0:
            return [f"for v in {chain}:", "    log.append('use')", f"    t = t * {self.number()} + v"]
        if kind == 1:
            return [f"for k, v in enumerate({chain}):", "    t += v * k", "    if k == 3:", "        break"]
        if kind == 2:
            return [f"t += sum(v * v for v in {chain})"]
        if kind == 3:
            return [f"for u, v in zip({chain}, {self.chain()}):", "    t += u * v"]
        if kind == 4:
            return [f"g = {chain}", "g = iter(g)", "t += next(g, 0.5)", "t += sum(g)"]
        if kind == 5:
            return [f"items = list({chain})", "t += max(items, default=0.0) - len(items)"]
        if kind == 6:
            return ["m = mean()", "next(m)", f"for v in {chain}:", f"    t += m.send(v) * {self.number()}"]
        if kind == 7:
            return [
                f"t += sum(itertools.islice({chain}, 1, 5)) * x",
                f"for v in itertools.chain({chain}, [x]):",
                "    t += v * v",
            ]
        return [
            f"g = {chain}",
            "for v in g:",
            "    t += v",
            f"    if v > {self.number()}:",
            "        break",
            "for v in g:",
            "    t -= v * y",
        ]

    def text(self) -> str:
        for _ in range(self.draw.randrange(1, 3)):
            self.source()
        for _ in range(self.draw.randrange(1, 5)):
            self.step()
        body = ["log.clear()", "t = x * y", *self.local]
        tried = self.draw.random() < 0.5
        for _ in range(self.draw.randrange(1, 4)):
            use = self.use()
            if tried:
                use = [
                    "try:",
                    *[f"    {line}" for line in use],
                    "except ValueError as error:",
                    "    t += error.args[0] * 0.3",
                ]
            body += use
        body.append("return t")
        return "\n".join([FIXED, "log = []", *self.shared, "def f(x, y):", *[f"    {line}" for line in body]])


def check(seed: int) -> None:
    text = Drawn(seed).text()
    name = f"drawn_generators_{seed}"
    module = sys.modules[name] = types.ModuleType(name)
    try:
        exec(compile(text, name, "exec"), vars(module))
        for x, y in ((0.7, 0.4), (0.35, 0.9)):
            try:
                expected = module.f(x, y)
            except ValueError:
                with pytest.raises(ValueError):
                    pullback(module.f, (x, y))
                continue
            order = list(module.log)
            _, gradient = dual.value_and_gradient(_as_written(text, name), x, y)
            for _ in range(2):
                value, back = pullback(module.f, (x, y))
                assert value == expected, text
                assert [*module.log] == order, text
                for _ in range(2):
                    got = [0.0 if d is None else d for d in back(1.0)]
                    assert got == pytest.approx(list(gradient), rel=1e-9, abs=1e-11), text
    finally:
        del sys.modules[name]


def _as_written(text: str, name: str) -> types.FunctionType:
    """The function with dual numbers in the place of `math`."""
    space: dict[str, object] = {"__name__": name}
    exec(compile(text.replace("import math", ""), name, "exec"), space)
    space["math"] = dual.namespace
    made = space["f"]
    assert isinstance(made, types.FunctionType)
    return made


@each_in_long_turn
@pytest.mark.parametrize("seed", range(540))
def test_drawn_generators(seed: int) -> None:
    check(seed)


if __name__ == "__main__":
    for seed in itertools.count(int(sys.argv[1]) if len(sys.argv) > 1 else 0):
        check(seed)
