"""Random programs `f(a, b)` of arrays, lists or objects, which read and write them by several names.

A program is text. The same text runs with floats through zyg, and with dual numbers through CPython alone (`duals.py`).
"""

from __future__ import annotations

import random

KINDS = ("array", "list", "object")
# How the arguments are related: f(a, b) with different ones, with one object twice, with views that overlap, with one that is in the
# other; where `a` is a global or captured variable, too.
PATTERNS = {
    "array": ("apart", "same", "overlapping", "global", "captured"),
    "list": ("apart", "same", "within", "global", "captured"),
    "object": ("apart", "same", "within", "global", "captured"),
}


class Program:
    """`helpers` and `body` are the text; `objects` tells whether there is something that native code refuses."""

    def __init__(self, number: int):
        self.random = random.Random(number)
        self.kind = self.choose(*KINDS)
        self.pattern = self.choose(*PATTERNS[self.kind])
        self.writes = self.random.random() < 0.7
        self.objects = self.random.random() < 0.5
        self.names = ["a", "b"]
        if self.pattern in ("global", "captured"):
            self.names.append("G" if self.pattern == "global" else "captured")
        self.readable = list(self.names)
        lines = [self.statement() for _ in range(self.random.randint(3, 7))]
        if self.objects:
            lines.insert(0, "    {'x': 1, ('y', 1): 2}.clear()")
        terms = [f"{w} * {self.place(n)}" for w, n in zip((1.1, 1.3, 1.7, 0.7, 0.3, 0.9), self.readable)]
        self.lines = ["def f(a, b):", *lines, f"    return {' + '.join(terms)} + s * s"]
        self.lines.insert(1, "    s = 0.5")

    def choose(self, *options: str) -> str:
        return self.random.choice(options)

    def place(self, name: str) -> str:
        """A number in what stands in a variable."""
        if self.kind == "object":
            return f"{name}.{self.choose('x', 'y')}"
        return f"{name}[{self.choose('0', '1')}]"

    def read(self) -> str:
        return self.place(self.choose(*self.readable))

    def number(self) -> str:
        return self.choose(
            self.read(), f"{self.read()} * {self.read()}", f"s * {self.read()}", f"{self.read()} * 0.5 - 0.25", "s"
        )

    def statement(self) -> str:
        made = f"v{len(self.readable)}"
        options = [f"    s = s + {self.number()}", f"    s = {self.number()} * 0.7 + 0.1 * s"]
        if len(self.readable) < 6 and self.random.random() < 0.5:
            # what is read is a variable of its own or another name, whichever the helper gives
            name = self.choose(*self.readable)
            given = [f"given({name})", name, f"first({name}, {self.choose(*self.readable)})", f"kept({name})[0]"]
            if self.kind == "array":
                given += [f"{name}[::-1]", f"turned({name})", f"{name}[:]", f"{name}.copy()", f"{name}.reshape(2)"]
            elif self.kind == "list":
                given += [f"list({name})", f"{name}[:]"]
            text = f"    {made} = {self.choose(*given)}"
            self.readable.append(made)
            return text
        if not self.writes:
            return self.choose(*options)
        at = self.read()
        options += [f"    {at} = {self.number()}", f"    {at} += {self.number()} * 0.3"] * 2
        name = self.choose(*self.readable)
        options.append(f"    written({name}, {self.number()})")
        if self.kind == "array":
            options.append(f"    {name}[:] = {name} * {self.number()}")
            if name not in ("G", "captured"):  # (which would be a variable of the function's own)
                options.append(f"    {name} += {self.number()} * 0.1")
        if self.kind == "list":
            options += [f"    {name}.append({self.number()})", f"    {name}[0], {name}[1] = {name}[1], {name}[0]"]
        options.append(
            f"    for k in range(2):\n        {self.read()} = {self.read()} * 0.8 + {self.number()} * 0.1"
            if self.random.random() < 0.5
            else f"    if s > 0.6:\n        {at} = {self.number()}"
        )
        return self.choose(*options)

    def text(self) -> str:
        put = "v.x = n" if self.kind == "object" else "v[0] = n"
        helpers = [
            "def given(v):\n    return v",
            "def first(v, w):\n    return v",
            "def kept(v):\n    return (v, 1.0)",
            "def turned(v):\n    return v[::-1]",
            f"def written(v, n):\n    {put}\n    return v",
        ]
        body = self.lines
        if self.pattern == "captured":
            body = ["def make(captured):", *["    " + line.replace("\n", "\n    ") for line in body], "    return f"]
        return "\n".join([*helpers, *body]) + "\n"
