"""`python -m tests.frontend.tries --depth 2`: `try`, `with`, loops and branches in all nestings, left in all ways, against CPython.

Value and what was done on the way, natively and through Python; there the derivative too, against differences.
"""

from __future__ import annotations

import argparse
import itertools
import linecache
import math
import textwrap
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import zyg
from zyg.fallback import python_pullback


class Noted:
    """A context manager that notes when it is entered and left, and may swallow what leaves it."""

    def __init__(self, log: list[float], swallows: bool):
        self.log, self.swallows = log, swallows

    def __enter__(self) -> float:
        self.log.append(101.0)
        return 1.0

    def __exit__(self, kind: Any, value: Any, trace: Any) -> bool:
        self.log.append(102.0 if kind is None else 103.0)
        return self.swallows


AROUND = (
    "try:\n{}\nexcept ValueError:\n    log.append(1.0)",
    "try:\n{}\nexcept ValueError:\n    log.append(2.0)\nelse:\n    log.append(3.0)",
    "try:\n{}\nfinally:\n    log.append(4.0)",
    "try:\n{}\nexcept KeyError as e:\n    log.append(5.0)\nfinally:\n    log.append(6.0)",
    "try:\n    log.append(7.0)\nfinally:\n{}",
    "try:\n    raise KeyError('k')\nexcept KeyError:\n{}",
    "try:\n    log.append(8.0)\nexcept KeyError:\n    log.append(9.0)\nelse:\n{}",
    "for i in range(3):\n{}\n    log.append(10.0 + i)\nelse:\n    log.append(20.0)",
    "while len(log) < 6:\n    log.append(21.0)\n{}\n    log.append(22.0)",
    "if x > len(log) - 3.0:\n{}\nelse:\n    log.append(23.0)",
    "with Noted(log, False) as v:\n{}\n    log.append(v)",
    "with Noted(log, True):\n{}\n    log.append(24.0)",
    "try:\n{}\nexcept Exception:\n    log.append(25.0)\n    raise",
    "try:\n{}\nexcept ValueError as e:\n    raise KeyError('n') from e",
)
WITHIN = (
    "log.append(x)", "return x * 2.0", "raise ValueError('v')", "raise KeyError('q')", "break", "continue",
    "log.append(1.0 / (x - 1.0))", "log.append({'a': x}['b'])", "log.append(log[10])",
    "if x > 1.0:\n    raise ValueError('c')\nlog.append(x * 3.0)",
)  # fmt: skip
PROGRAM = """def f(x):
    log = []
    def run():
{}
        log.append(50.0)
        return x
    try:
        log.append(run())
    except Exception as e:
        log.append(60.0 if isinstance(e, ValueError) else 61.0)
    return log
"""
_numbers = itertools.count()


def programs(depth: int) -> Iterator[str]:
    for shapes in itertools.product(AROUND, repeat=depth):
        for body in WITHIN:
            for shape in reversed(shapes):
                body = shape.format(textwrap.indent(body, "    "))
            yield PROGRAM.format(textwrap.indent(body, " " * 8))


def made(source: str) -> Any:
    """The function; SyntaxError where `break` stands in no loop."""
    name = f"<tries {next(_numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace: dict[str, Any] = {"Noted": Noted}
    exec(compile(source, name, "exec"), namespace)
    return namespace["f"]


def check(source: str, x: float, natively: bool = True) -> str:
    """What native code made of it: "native" or "refused"; AssertionError where something is not as in CPython."""
    wanted = made(source)(x)
    f = made(source)
    found, back = python_pullback(f, (x,), {})
    assert found == wanted, (source, x, wanted, found)
    up, down = f(x + 1e-6), f(x - 1e-6)
    if len(up) == len(down) == len(found) and all(abs(p - q) < 1e-2 for p, q in zip(up, down, strict=True)):
        slope = (sum(up) - sum(down)) / 2e-6
        given = back([1.0] * len(found))[0]
        assert math.isclose(given or 0.0, slope, rel_tol=1e-4, abs_tol=1e-5), (source, x, slope, given)
    if not natively:
        return "refused"
    try:
        found = zyg.jit(made(source))(x)
    except zyg.Unsupported:
        return "refused"
    assert found == wanted, (source, x, wanted, found)
    return "native"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--every", type=int, default=1, help="each so manieth program")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    for source in itertools.islice(programs(args.depth), 0, None, args.every):
        for x in (1.0, 2.0):
            try:
                counts[check(source, x)] += 1
            except SyntaxError:
                counts["no program"] += 1
            except AssertionError as error:
                counts["wrong"] += 1
                print(*error.args[0], sep="\n", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
