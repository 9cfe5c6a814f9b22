"""`python -m tests.containers.recursive --count 200 --seed 1`: random recursive functions over linked objects.

They change, replace and return nodes that their callers know by other names.  CPython says what the value is, central
differences what the gradient is.  Programs that native code refuses are counted.
"""

from __future__ import annotations

import linecache
import math
import random
import sys
from typing import Any

import zyg

from ..oracles.differences import derivative, kinked
from .aliasing import Mismatch
from .searching import search


class Node:
    def __init__(self, v: Any):
        self.v = v
        self.left: Any = None
        self.right: Any = None


POINTS = ((0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (-0.5, -0.5))

CHANGES = (
    "n.v = n.v * x + d",
    "n.v += 0.5 * d",
    "if n.left is not None and n.v > {c}:\n        n.left, n.right = n.right, n.left",
    "if n.left is not None and n.v < {c}:\n        n.left.v += n.v * x",
    "if n.left is None and d < 3 and n.v > {c}:\n        n.left = Node(n.v * {c} + x)",
    "if n.right is None and d < 3:\n        n.right = Node(x * {c})",
    "if n.right is not None and n.right.v > {c}:\n        n.right = Node(n.right.v * 0.5)",
    "if n.left is not None and n.right is not None and n.v > {c}:\n        n.right.left = n.left",
    "if n.right is not None:\n        old = n.right\n        n.right = None if n.v > {c} else old\n        old.v = old.v + x",
)
DESCENTS = (
    "if n.left is not None:\n        work(n.left, x, d + 1)",
    "if n.left is not None and d < 3:\n        work(n.left, x, d + 1)\n"
    "    if n.right is not None and d < 3:\n        work(n.right, x, d + 1)",
    "if d < 2:\n        if n.left is not None:\n            work(n.left, x, d + 1)\n"
    "        elif n.right is not None:\n            work(n.right, x * 0.5, d + 1)",
    "if d < 2:\n        work(n, x * 0.5, d + 1)",
)
TOTAL = """
def total(n, d=0):
    if n is None or d > 4:
        return 0.0
    return n.v + 0.5 * total(n.left, d + 1) + 0.25 * total(n.right, d + 1)

"""


def program(rng: random.Random) -> str:
    """The source of `f(x, y)` with the recursive functions that it calls."""
    names = ["a", "b", "c"]
    chosen = (rng.choice(CHANGES).format(c=round(rng.uniform(-1, 1), 2)) for _ in range(rng.randint(1, 4)))
    parts = ["\n    ".join(chosen), rng.choice(DESCENTS)]
    rng.shuffle(parts)
    result = rng.choice(("n", "n if n.left is None or n.v > 0.3 else n.left", "n.v"))
    work = "def work(n, x, d):\n    " + "\n    ".join([*parts, f"return {result}"]) + "\n"
    lines = ["def f(x, y):", "a = Node(x)", "b = Node(y)", "c = Node(x * y)"]
    for _ in range(rng.randint(1, 3)):
        upper, lower = sorted(rng.sample(names, 2))  # no cycles
        lines.append(f"{upper}.{rng.choice(('left', 'right'))} = {lower}")
    for k in range(rng.randint(1, 3)):
        lines.append(f"r{k} = work({rng.choice(names)}, {rng.choice(('x', 'y', '0.5'))}, {rng.choice((0, 1))})")
        if rng.random() < 0.4:
            lines.append(f"{rng.choice(names)}.v += y")
        if rng.random() < 0.3:
            one, other = rng.choice(names), rng.choice(names)
            lines.append(f"if {one}.v > 0.2:\n        {one} = {other}")
    value = "r0" if result == "n.v" else "r0.v"
    lines.append(f"return total(a) + 2.0 * total(b) + 3.0 * total(c) + 1.5 * {value}")
    return work + TOTAL + "\n    ".join(lines) + "\n"


def check(number: int) -> None:
    """The program of this number; Unsupported if native code refuses it."""
    rng = random.Random(number)
    source = program(rng)
    filename = f"<recursive {number}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    namespace: dict[str, Any] = {"Node": Node, "__name__": __name__}
    exec(compile(source, filename, "exec"), namespace)
    f = namespace["f"]
    x, y = (rng.uniform(-1, 1), rng.uniform(-1, 1)) if rng.random() < 0.6 else rng.choice(POINTS)
    expected = f(x, y)
    value, gradients = zyg.jit(zyg.value_and_grad(f, (0, 1)))(x, y)
    if not math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-12):
        raise Mismatch(f"CPython gives {expected}, zyg {value} at {x}, {y}:\n{source}")
    for moved, at, found in ((lambda t: f(t, y), x, gradients[0]), (lambda t: f(x, t), y, gradients[1])):
        # A comparison may lie within the first step, hence a second, smaller one.
        numerical = [derivative(moved, at, step) for step in (1e-4, 1e-6)]
        close = any(abs(d - (found or 0.0)) <= 1e-5 * (1 + abs(d)) for d in numerical)
        if not close and not kinked(moved, at):
            raise Mismatch(f"differences {numerical}, zyg {gradients} at {x}, {y}:\n{source}")


if __name__ == "__main__":
    sys.exit(search(check, __doc__))
