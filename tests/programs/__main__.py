"""`python -m tests.programs --count 3000 --seed 1`: many programs, each failure minimised and printed."""

from __future__ import annotations

import argparse
import sys
import time
import traceback

from hypothesis import HealthCheck, Phase, given, seed, settings

from .check import check
from .generate import Program, programs


def run(count: int, number: int, size: int, second: bool) -> tuple[int, BaseException | None, Program | None]:
    """Up to `count` programs; stops at the first failure and returns it with its smallest program."""
    done, smallest = 0, None

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
        nonlocal done, smallest
        done += 1
        try:
            check(program, second)
        except BaseException:
            smallest = program
            raise

    try:
        one()
    except Exception as error:
        return done, error, smallest
    return done, None, None


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.programs", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="how many programs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=14, help="statements per program, at most")
    parser.add_argument(
        "--chunk", type=int, default=100, help="programs per search; each search ends at its first failure"
    )
    parser.add_argument("--second", action="store_true", help="second derivatives too")
    options = parser.parse_args()
    total, failures, start = 0, 0, time.perf_counter()
    chunk = 0
    while total < options.count:
        done, error, program = run(min(options.chunk, options.count - total), options.seed + chunk, options.size,
                                   options.second)  # fmt: skip
        total += min(done, options.chunk)
        chunk += 1
        if error is not None:
            failures += 1
            print(f"----- failure {failures}, seed {options.seed + chunk - 1}", program)
            print("".join(traceback.format_exception(error, limit=-4)), flush=True)
    print(f"{total} programs, {failures} failures, {time.perf_counter() - start:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
