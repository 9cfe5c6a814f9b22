"""How long the compilation of a gradient takes: functions of thirty lines, ordinary and denser ones that others wrote, each in a fresh process
that has compiled something before; and that of a Hessian times a vector, `zyg.hvp`, in one that has not compiled the gradient.

Nothing of the program is kept between processes, but where it says so.  What zyg keeps on disk is its own runtime and kernels, which are
the same for every program: it is there from the second process on.  What the first one takes on a machine is measured as well, and when the
code of long programs has been made once more, with care (zyg/backend/llvm/tiers.py); and the first gradient of a function with `cache=True` in
a process for which it is on disk (zyg/keeping/).
"""

from __future__ import annotations

import inspect
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from .. import compiled, dense, ordinary_arrays, strangers_arrays
from ..report import duration, table
from .settings import Settings, has

TABLES = {
    "programs of ours": compiled.PROGRAMS,
    "ordinary programs with NumPy, by others": ordinary_arrays.PROGRAMS,
    "denser ones, by others": dense.PROGRAMS,
    "many functions of NumPy in each, by others": strangers_arrays.PROGRAMS,
}
PROGRAMS = compiled.PROGRAMS | ordinary_arrays.PROGRAMS | dense.PROGRAMS | strangers_arrays.PROGRAMS
ROOT = Path(__file__).parents[2]
LEVEL = 0.3  # for functions of arrays

TIMED = """
import json, sys, time, warnings
import numpy as np
import zyg
from benchmarks.sections.compiling import PROGRAMS
warnings.simplefilter("error", zyg.FallbackWarning)
zyg.gradient(lambda x: np.sum(x * 2.0), np.ones(3))
zyg.gradient(lambda x: x * 2.0, 1.0)
if sys.argv[2] == "found":
    zyg.jit(lambda x: x * 2.0, cache=True)(1.0)
program = PROGRAMS[sys.argv[1]]
if program.needs == "scipy":
    import scipy.special
arguments = program.arguments()
from zyg.pipeline import timings
with timings() as times:
    begin = time.perf_counter()
    if sys.argv[2] == "gradient":
        zyg.gradient(program.function, *arguments) if program.by is None else zyg.grad(program.function, program.by)(*arguments)
    elif sys.argv[2] == "found":
        by = tuple(range(len(arguments))) if program.by is None else program.by
        zyg.grad(zyg.jit(program.function, cache=True), by)(*arguments)
    elif numbers := [n for n, a in enumerate(arguments) if np.asarray(a).dtype == float]:  # the first that is not of integers
        zyg.hvp(program.function, *arguments, arguments[numbers[0]], argnums=numbers[0])
    total = time.perf_counter() - begin
    zyg.settle()
    settled = time.perf_counter() - begin
stages = {"total": total, "settled": settled}
for _, stage, seconds in times:
    stages[stage] = stages.get(stage, 0.0) + seconds
print(json.dumps(stages))
"""


def stages(name: str, rounds: int, kept: str = "", of: str = "gradient") -> dict[str, float]:
    """Seconds per stage, the medians of several processes. `kept`: the directory where zyg's own code is kept, or an empty
    one for each of them. `of`: "gradient", "hvp", or "found": that of a function with `cache=True`."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", TIMED, name, of]

    def once() -> dict[str, float]:
        with tempfile.TemporaryDirectory() as empty:
            where = {**environment, "ZYG_CACHE_DIR": kept or empty}
            done = subprocess.run(command, cwd=ROOT, env=where, check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    found = [once() for _ in range(rounds)]
    return {stage: statistics.median(one.get(stage, 0.0) for one in found) for stage in found[0]}


def _if_any(seconds: float) -> str:
    """No derivative along objects and dicts is measured."""
    return duration(seconds) if seconds > 1e-3 else "-"


def lines(program: compiled.Program) -> int:
    """Of its function, without the empty ones, the decorators and the text that describes it."""
    source = inspect.getsource(program.function).splitlines()
    first = next(at for at, line in enumerate(source) if line.lstrip().startswith("def "))
    return sum(bool(line.strip()) for line in source[first:]) - bool(program.function.__doc__)


def figures_of(name: str, rounds: int, kept: str) -> dict[str, float]:
    first = stages(name, rounds)
    stages(name, 1, kept)
    found = stages(name, rounds, kept)
    found["with nothing kept"] = first["total"]
    found["hvp"] = stages(name, rounds, kept, "hvp")["total"]
    stages(name, 1, kept, "found")
    found["found"] = stages(name, rounds, kept, "found")["total"]
    return found


def run(settings: Settings) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    rounds = 1 if settings.quick else 3
    chosen = settings.few(PROGRAMS, 30)  # each takes half a dozen processes
    print(f"compilation of gradients (level {duration(LEVEL)} for functions of arrays)")
    print("nothing of a program is kept between processes; zyg's runtime and kernels are, but for `first on a machine`")
    stages_shown = ["inference and differentiation", "our passes", "LLVM"]
    heads = [
        "lines",
        *stages_shown,
        "first gradient",
        "made with care",
        "first on a machine",
        "first hvp",
        "found on disk",
    ]
    with tempfile.TemporaryDirectory() as kept:
        for what, programs in TABLES.items():
            rows = []
            for name, program in programs.items():
                if name not in chosen:
                    continue
                if program.needs and not has(program.needs):
                    print(f"{program.needs} is absent (pip install {program.needs}): without {name}")
                    continue
                figures[name] = found = figures_of(name, rounds, kept)
                total = found["total"]
                mark = "" if not program.arrays else " (level met)" if total <= LEVEL else " !!"
                shown = [duration(found.get(k, 0.0)) for k in ("typed", "optimised", "native")]
                settled = duration(found["settled"]) if found["settled"] > 1.05 * total else "-"
                others = [
                    settled,
                    duration(found["with nothing kept"]),
                    _if_any(found["hvp"]),
                    duration(found["found"]),
                ]
                rows.append([name, str(lines(program)), *shown, duration(total) + mark, *others])
            if not rows:
                continue
            print(f"\n{table([what, *heads], rows)}", flush=True)
            totals = [figures[row[0]]["total"] for row in rows]
            print(
                f"first gradients: {duration(min(totals))} to {duration(max(totals))}, median {duration(statistics.median(totals))}"
            )
    return figures
