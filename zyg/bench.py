"""Small benchmarks that come with the package: what a call costs, what a first call costs, what a loop costs.

The comparison with derivatives written by hand in C is in the source tree's `benchmarks/`.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import math
import subprocess
import sys
import time
import timeit
from collections.abc import Callable, Sequence
from typing import Any

import zyg


def f(x: float) -> float:
    return 5 * math.sin(math.log(x))


def power(x: float, n: int) -> float:
    r = 1.0
    while n > 0:
        n -= 1
        r *= x
    return r


def twenty_lines(x: float, y: float) -> float:
    a = math.sin(x) * y
    b = math.cos(y) + a * a
    c = math.exp(-b * b) + x
    if c > y:
        d = c - y
    else:
        d = y - c
    e = d * a + b * c
    g = math.log(1.0 + e * e)
    h = math.sqrt(g + 1.0)
    i = h * h * h - e
    j = i / (1.0 + h)
    k = math.tanh(j) + a
    m = k * k + j * d
    o = math.atan2(m, 1.0 + k * k)
    p = o + m * math.sin(k)
    q = p * b - h
    r = q / (2.0 + math.cos(q))
    return r + p * o


def nanoseconds(statement: str, names: dict[str, Any]) -> float:
    """The time of a statement, the loop of timeit included; best of several."""
    timer = timeit.Timer(statement, globals=names)
    number, _ = timer.autorange()
    number = max(1, number // 4)
    return min(timer.repeat(7, number)) / number * 1e9


def calls() -> None:
    names = {
        "zyg_f": zyg.jit(f), "zyg_df": zyg.derivative(f), "zyg_jdf": zyg.jit(zyg.derivative(f)), "f": f, "x": 3.0,
        "sqrt": math.sqrt, "gradient": zyg.gradient,
    }  # fmt: skip
    rows = [
        ("math.sqrt(x), a builtin", "sqrt(x)"),
        ("f(x) in Python", "f(x)"),
        ("jit(f)(x)", "zyg_f(x)"),
        ("derivative(f)(x)", "zyg_df(x)"),
        ("jit(derivative(f))(x)", "zyg_jdf(x)"),
        ("gradient(f, x)", "gradient(f, x)"),
    ]
    if importlib.util.find_spec("numba"):
        names["numba_f"] = importlib.import_module("numba").njit(f)
        names["numba_f"](3.0)
        rows.append(("numba.njit(f)(x)", "numba_f(x)"))
    print("a call, f(x) = 5*sin(log(x)); ns, the loop of timeit (about 10) included")
    for label, statement in rows:
        eval(statement, names)
        print(f"  {label:28} {nanoseconds(statement, names):8.1f}")


def first_calls() -> None:
    from zyg import pipeline

    def latency(run: Callable[[], Any]) -> float:
        start = time.perf_counter()
        run()
        return (time.perf_counter() - start) * 1e3

    print("first calls, ms")
    # The very first compilation also loads LLVM and the library.
    print(f"  {'first compilation of all':28} {latency(lambda: zyg.jit(lambda x: x + 1.0)(2.0)):8.1f}")
    print(f"  {'value, 20 lines':28} {latency(lambda: zyg.jit(twenty_lines)(0.5, 0.7)):8.1f}")
    with pipeline.timings() as stages:
        total = latency(lambda: zyg.gradient(twenty_lines, 0.5, 0.7))
    print(f"  {'gradient, 20 lines':28} {total:8.1f}")
    for _, stage, seconds in stages:
        print(f"    {stage:26} {seconds * 1e3:8.1f}")


def loops() -> None:
    compiled, slope = zyg.jit(power), zyg.grad(power)
    n = 100_000
    print(f"power by a loop of {n}; ns per iteration")
    for label, function, count in [("Python", power, n // 10), ("value", compiled, n), ("gradient", slope, n)]:
        function(1.0, 10)
        best = min(timeit.repeat(lambda f=function, c=count: f(1.0, c), number=1, repeat=7))
        print(f"  {label:28} {best / count * 1e9:8.2f}")


def imports() -> None:
    def milliseconds(code: str) -> float:
        script = f"import time; t = time.perf_counter(); {code}; print(time.perf_counter() - t)"
        run = lambda: float(subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout)
        return min(run() for _ in range(3)) * 1e3

    print("imports, ms")
    for label, code in [
        ("import zyg", "import zyg"),
        ("import numpy, llvmlite", "import numpy, llvmlite.binding"),
        ("the same, and zyg's compiler", "import numpy, llvmlite.binding, zyg; zyg.jit(lambda x: x)"),
    ]:
        print(f"  {label:28} {milliseconds(code):8.1f}")


PARTS: dict[str, Callable[[], None]] = {
    "calls": calls, "first": first_calls, "loops": loops, "imports": imports,
}  # fmt: skip


def main(argv: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="zyg bench", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"which ones ({', '.join(PARTS)}); all by default")
    wanted = parser.parse_args(list(argv)).parts or list(PARTS)
    for part in wanted:
        if part not in PARTS:
            parser.error(f"there is no {part!r}; there are {', '.join(PARTS)}")
        PARTS[part]()
    return 0
