"""`python -m benchmarks`: zyg, hand-written C and Numba side by side in one run.

    python -m benchmarks                      everything
    python -m benchmarks wave lorenz          some of the programs: primal and value with gradient
    python -m benchmarks calls growth first   sections: call overhead, growth with the trip count, first-call latency
    python -m benchmarks dynamic-first        first calls through Python, by the length of the function
    python -m benchmarks dynamic-second       Hessian-vector products through Python
    python -m benchmarks compiling            how long compilation takes, by stage
    python -m benchmarks dynamic              dynamic programs: through the Python back end, ordinary ones, and objects in native code
    python -m benchmarks elementwise linalg   whole arrays: fused expressions with sums; matrices
    python -m benchmarks whole-arrays         single functions of whole arrays: to NumPy, and the gradient to the value
    python -m benchmarks adbench              ADBench's GMM and LSTM objectives against JAX and C
    --data FOLDER                             ADBench's folder `data`, for its larger instances
    --quick                                   small sizes, few rounds, some of the programs by turns of the day: does it work, not how fast is it
    --json FILE                               the figures as JSON

Ratios are to C: the better of gcc and clang, -O3 -march=native, without contraction, and with contraction against
zyg's fastmath={"contract"} (in the sections of whole arrays: -ffast-math).  They are medians over rounds in which all
contenders take turns.  C is timed inside C; zyg, Numba and JAX are timed from Python, with the cost of the call.  All run in
one process that is bound to one core.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

from .sections import SECTIONS, Settings, programs


def bind_to_one_core() -> None:
    """Starts this process anew on one core, before anything has asked how many there are."""
    if hasattr(os, "sched_setaffinity") and len(cores := os.sched_getaffinity(0)) > 1:
        os.sched_setaffinity(0, {max(cores)})
        os.execv(sys.executable, [sys.executable, "-m", "benchmarks", *sys.argv[1:]])


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=f"of {', '.join([*SECTIONS, *programs.names()])}")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=0, help="rounds of measurement")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--data", metavar="FOLDER", type=Path)
    options = parser.parse_args()
    unknown = set(options.names) - {*SECTIONS, *programs.names()}
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    bind_to_one_core()
    rounds = options.rounds or (3 if options.quick else 15)
    settings = Settings(quick=options.quick, rounds=rounds, data=options.data)
    print(f"Python {platform.python_version()}, {platform.machine()}; {settings.describe()}\n", flush=True)
    wanted = [n for n in options.names if n in programs.names()]
    figures: dict[str, Any] = {}
    for name, section in SECTIONS.items():
        if name in options.names or not options.names or (name == "programs" and wanted):
            figures[name] = section(settings, wanted) if name == "programs" else section(settings)
            print(flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(figures, file, indent=1)
    return 1 if any(isinstance(f, dict) and f.get("wrong") for f in figures.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
