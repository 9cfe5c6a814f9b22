"""`python -m tests.programs --count 3000 --seed 1`: many programs; each new kind of failure minimised and printed.

A kind of failure is an exception class with its message, names and numbers aside.  Once found it is only counted, so
that a long run shows all kinds there are.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import traceback
from collections import Counter

from hypothesis import HealthCheck, Phase, given, seed, settings

from .check import check
from .generate import Program, programs

MINIMISE_SECONDS = 15.0


def kind(error: BaseException) -> str:
    first = (str(error).splitlines() or [""])[0]
    where = traceback.extract_tb(error.__traceback__)[-1].name
    return f"{type(error).__name__} in {where}: " + re.sub(r"'[^']*'|-?\d[\w.+-]*|%[\w.]+|\b[a-z]+\d+\b", "_", first)


def run(count: int, number: int, size: int, what: str, known: Counter[str]) -> tuple[int, BaseException | None]:
    """Up to `count` programs; stops at the first failure of a kind not known, with its smallest program as a note."""
    done, smallest, deadline = 0, "", 0.0

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
        print_blob=False,
    )
    @given(programs(size))
    def one(program: Program) -> None:
        nonlocal done, smallest, deadline
        done += 1
        if smallest and time.perf_counter() > deadline and repr(program) != smallest:
            return  # minimised for long enough
        try:
            check(program, what)
        except Exception as error:
            if kind(error) in known:
                known[kind(error)] += 1
                return
            if not smallest:
                deadline = time.perf_counter() + MINIMISE_SECONDS
            smallest = repr(program)
            raise

    try:
        one()
    except Exception as error:
        error.__notes__ = [*(n for n in getattr(error, "__notes__", []) if n.startswith("zyg")), smallest]
        return min(done, count), error
    return done, None


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.programs", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="how many programs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=14, help="statements per program, at most")
    parser.add_argument("--chunk", type=int, default=100, help="programs per search; a search ends at a new failure")
    parser.add_argument("--check", choices=("value", "gradient", "second"), default="gradient", help="how far to go")
    options = parser.parse_args()
    known: Counter[str] = Counter()
    total, chunk, start = 0, 0, time.perf_counter()
    while total < options.count:
        number = options.seed + chunk
        count = min(options.chunk, options.count - total)
        done, error = run(count, number, options.size, options.check, known)
        total, chunk = total + done, chunk + 1
        if error is not None:
            known[kind(error)] += 1
            print(f"----- failure {len(known)}, seed {number}")
            print("".join(traceback.format_exception(error, limit=-4)), flush=True)
    for text, times in known.most_common():
        print(f"{times:6d}  {text}")
    print(
        f"{total} programs, {sum(known.values())} failures of {len(known)} kinds, {time.perf_counter() - start:.0f} s"
    )
    return 1 if known else 0


if __name__ == "__main__":
    sys.exit(main())
