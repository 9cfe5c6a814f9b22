"""Random programs about lists of lists, with rows under several names: native code gives what CPython gives, or refuses.

python -m tests.containers.tables --count 400 --seed 0
"""

from __future__ import annotations

import argparse
import math
import random
import warnings

import zyg

from ..oracles.differences import kinked
from .drawn import function, outcome

POINTS = (0.7, 0.7, 1.0, 0.0, 2.0, -1.0)  # what x is
HELPERS = """
def fill(c, x):
    for i in range(len(c)):
        c[i][0] = x + i

def more(c, x, m):
    c.append([x] * m)

def set_row(r, x):
    r[0] = x * 2

def first(c):
    return c[0]

def both(c, r, x, m):
    c.append([x] * m)
    r[0] = x

def table(n, m, x):
    c = []
    for i in range(n):
        c.append([x * i] * m)
    return c

"""
TABLES = ["[[x + j for j in range(m)] for _ in range(n)]", "[[1.0] * m for _ in range(n)]", "table(n, m, x)",
          "[[x] * m for i in range(n)]"]  # fmt: skip
END = "    return t + c[0][0] * 3 + c[1][1] + d[0][1] * 5 + d[1][0] + r[0] * 7"


def statement(rng: random.Random, indent: int) -> list[str]:
    pad = "    " * indent
    t, i, j = rng.choice("cd"), rng.choice(["0", "1", "n - 1", "-1", "k % n"]), rng.choice(["0", "1", "m - 1", "k % m"])
    if indent < 3 and rng.random() < 0.15:
        head = rng.choice(
            ["for k in range(n):", "for k in range(3):", f"for q in {t}:", "if t > x:", f"for i, q in enumerate({t}):"]
        )
        body = [line for _ in range(rng.randint(1, 3)) for line in statement(rng, indent + 1)]
        if " q in" in head:  # a list that grows while a loop goes through it has no end
            body = [line for line in body if not any(w in line for w in ("append", "more(", "both(", "for ", "if "))]
            body = [pad + "    t += q[0]", *(pad + "    " + line.strip() for line in body)]
        if " q in" in head and rng.random() < 0.6:
            body.append(pad + "    " + rng.choice(["q[0] = x", "q[1] += x * t", "t += q[0]", "r = q"]))
        return [pad + head, *body]
    value = rng.choice(["x", "x * x", "t", "r[0]", "c[0][1] * x", "d[1][0]", "2.0"])
    number = rng.choice(
        [f"{t}[{i}][{j}]", "r[0]", "r[1] * x", "sum(r)", "len(c)", f"len({t}[0])", f"{t}[{i}][{j}] * x"]
    )
    row = rng.choice(["[x] * m", "[t] * m", "[2.0 * x for _ in range(m)]", "r", "r[:]", f"{t}[1]"])
    other = ["c = d", "c, d = d, c", "d = c[:]", "c = table(n, m, x)", "r = [x] * m", f"d = {rng.choice(TABLES)}", "r = d.pop()",
             "d = list(c)", "c.reverse()", "r.reverse()", "c[0].sort()"]  # fmt: skip
    calls = [
        f"fill({t}, x)",
        f"more({t}, x, m)",
        "set_row(r, x)",
        f"set_row({t}[{i}], x)",
        f"r = first({t})",
        f"both({t}, r, x, m)",
    ]
    kinds = [
        f"{t}[{i}][{j}] {rng.choice(['=', '+=', '*='])} {value}", f"r = {t}[{i}]", f"r[{j}] = {value}", f"t += {number}",
        f"{t}.append({row})", f"{t}[{i}] = {row}", rng.choice(calls), rng.choice(other),
    ]  # fmt: skip
    return [pad + rng.choices(kinds, [30, 12, 8, 20, 6, 4, 5, 4])[0]]


def program(seed: int) -> str:
    rng = random.Random(seed)
    row = rng.choice(["c[0]", "d[1]", "[x] * m", "c[n - 1]"])
    lines = [
        "def f(x, n, m):",
        f"    c = {rng.choice(TABLES)}",
        f"    d = {rng.choice(TABLES)}",
        f"    r = {row}",
        "    t = 0.0",
        "    k = 0",
    ]
    lines += [line for _ in range(rng.randint(3, 7)) for line in statement(rng, 1)]
    return HELPERS + "\n".join([*lines, END]) + "\n"


def search(count: int, seed: int) -> dict[str, int]:
    """Compares values and derivatives of programs; how many were native, and how many refused."""
    counts = {"native": 0, "refused": 0}
    for number in range(seed, seed + count):
        text = program(number)
        f = function(text, f"<tables {number}>")
        x = POINTS[number % len(POINTS)]
        expected = outcome(f, x, 3, 4)
        with warnings.catch_warnings():
            warnings.simplefilter("error", zyg.FallbackWarning)
            try:
                if isinstance(expected, type):
                    assert outcome(zyg.jit(f), x, 3, 4) is expected, f"{expected} is expected of seed {number}:\n{text}"
                else:
                    slope = (f(x + 1e-6, 3, 4) - f(x - 1e-6, 3, 4)) / 2e-6
                    value, (d, *_) = zyg.withgradient(f, x, 3, 4)
                    close = math.isclose(d or 0.0, slope, rel_tol=1e-4, abs_tol=1e-4)
                    right = math.isclose(value, expected, rel_tol=1e-9, abs_tol=1e-12)
                    right = right and (close or kinked(lambda x: f(x, 3, 4), x))  # noqa: B023
                    assert right, f"{value}, {d}; {expected}, {slope} are expected of seed {number}:\n{text}"
            except (zyg.Unsupported, zyg.FallbackWarning):
                counts["refused"] += 1
            else:
                counts["native"] += 1
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(search(options.count, options.seed))
