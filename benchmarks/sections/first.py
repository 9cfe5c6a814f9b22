"""Latency: the first gradient of a function of twenty lines, and the import of zyg; each in a fresh process."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from ..report import duration, ratio, table
from .settings import Settings, has_numba

ROOT = Path(__file__).parents[2]
LEVEL_FIRST = 0.1
LEVEL_NUMBA = 0.25
LEVEL_IMPORT = 0.1
ARGS = "0.3, 0.4, 0.5, 0.6, 0.7"

# Each prints seconds.  NumPy and llvmlite are loaded beforehand, as Numba loads them when it is imported; zyg's own
# modules are not.
FIRST_ZYG = f"""
import time, numpy, llvmlite.binding, zyg
from benchmarks.programs import twenty_lines
begin = time.perf_counter()
zyg.gradient(twenty_lines, {ARGS})
print(time.perf_counter() - begin)
"""
NEXT_ZYG = f"""
import time, zyg
from benchmarks.programs import five_sin_log, twenty_lines
zyg.gradient(five_sin_log, 2.0)
begin = time.perf_counter()
zyg.gradient(twenty_lines, {ARGS})
print(time.perf_counter() - begin)
"""
FIRST_NUMBA = f"""
import time, numba
from benchmarks.programs import twenty_lines
f = numba.njit(twenty_lines)
begin = time.perf_counter()
f({ARGS})
print(time.perf_counter() - begin)
"""
NEXT_NUMBA = f"""
import time, numba
from benchmarks.programs import five_sin_log, twenty_lines
numba.njit(five_sin_log)(2.0)
f = numba.njit(twenty_lines)
begin = time.perf_counter()
f({ARGS})
print(time.perf_counter() - begin)
"""
IMPORT_ZYG = """
import time, numpy, llvmlite.binding
begin = time.perf_counter()
import zyg
zyg.gradient, zyg.jit, zyg.derivative
print(time.perf_counter() - begin)
"""


def fresh(code: str, rounds: int) -> float:
    """The median of what `code` prints, each time in a process of its own."""
    command = [sys.executable, "-c", code]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    run = lambda: float(
        subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True).stdout
    )
    run()  # writes the bytecode of modules to their caches, as an installation does
    return statistics.median(run() for _ in range(rounds))


def run(settings: Settings) -> dict[str, Any]:
    rounds = 1 if settings.quick else 5
    what = {
        "first gradient, zyg": FIRST_ZYG,
        "the same, not the first thing compiled": NEXT_ZYG,
        "import zyg": IMPORT_ZYG,
    }
    if has_numba():
        what |= {"first value, Numba": FIRST_NUMBA, "the same for Numba, not the first thing compiled": NEXT_NUMBA}
    figures: dict[str, Any] = {label: fresh(code, rounds) for label, code in what.items()}
    print("first calls of a function of twenty lines, each in a fresh process")
    print(table(["", "median"], [[label, duration(seconds)] for label, seconds in figures.items()]))
    first = figures["first gradient, zyg"]
    print(f"first gradient: {duration(first)} (level {duration(LEVEL_FIRST)})")
    if "first value, Numba" in figures:
        figures["to numba"] = first / figures["first value, Numba"]
        figures["next to numba"] = (
            figures["the same, not the first thing compiled"]
            / figures["the same for Numba, not the first thing compiled"]
        )
        print(f"to Numba's first value: {ratio(figures['to numba'], LEVEL_NUMBA)} (level {LEVEL_NUMBA}); "
              f"neither the first thing compiled: {ratio(figures['next to numba'], LEVEL_NUMBA)}")  # fmt: skip
    print(f"import beyond numpy and llvmlite: {duration(figures['import zyg'])} (level {duration(LEVEL_IMPORT)})")
    return figures
