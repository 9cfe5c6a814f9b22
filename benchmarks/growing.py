"""Dynamic functions of any length: statements of mixed kinds, with objects, containers, loops, branches and calls."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any


class Point:
    def __init__(self, x: float, y: float):
        self.x = x
        self.y = y

    def norm(self) -> float:
        return math.sqrt(self.x * self.x + self.y * self.y)

    def scaled(self, factor: float) -> Point:
        return Point(self.x * factor, self.y * factor)


def bounded(a: float, b: float = 2.0) -> float:
    return a * b if a > b else a + math.sin(b)


# What begins each function keeps it from being native.
_BEGIN = """
def f(v):
    x, y = v
    xs, d, s = [x, y], {}, x * y
    mixed = {"a": x, "b": [y], "c": Point(x, y)}
    for key in sorted(mixed):
        o = mixed[key]
        s = s + (o.x if isinstance(o, Point) else o[0] if isinstance(o, list) else o)
    for name in ["x", "y"]:
        setattr(mixed["c"], name, getattr(mixed["c"], name) * 2.0)
"""
_STATEMENTS = (
    "p{0} = Point(x, y * 0.1)",
    "a{0} = x * y + math.sin(x) - 0.3 * y",
    "d['k{0}'] = a{1} * 2.0",
    "xs.append(a{2} + p{3}.norm())",
    "for i in range(3): s = s + xs[i % len(xs)] * 0.1",
    "s = s * 0.9 if s > 1.0 else s + x",
    "p{6}.x = p{6}.y * s",
    "t{0} = [v * x for v in xs]",
    "s = s + sum(t{1}) * 0.01 + bounded(s, y)",
    "q{0} = p{9}.scaled(0.5)",
)


def function_of(count: int) -> Callable[[Sequence[float]], float]:
    """A function of so many statements, beside those that begin it.

    >>> round(function_of(10)((0.3, 0.7)), 6) == round(function_of(10)([0.3, 0.7]), 6)
    True
    """
    lines = [_STATEMENTS[n % 10].format(*[n - back for back in range(10)]) for n in range(count)]
    text = _BEGIN + "".join(f"    {line}\n" for line in [*lines, "return s + sum(d.values())"])
    scope: dict[str, Any] = {"math": math, "Point": Point, "bounded": bounded, "__name__": __name__}
    exec(compile(text, f"<{count} statements>", "exec"), scope)
    return scope["f"]


__all__ = ["function_of"]
