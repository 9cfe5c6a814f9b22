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
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from .check import check
from .generate import programs
from .isolate import Crash, Marker, crash_of, forked, smaller

MINIMISE_SECONDS = 15.0
HANG_SECONDS = 60.0


def kind(error: BaseException) -> str:
    first = (str(error).splitlines() or [""])[0]
    where = traceback.extract_tb(error.__traceback__)[-1].name
    return f"{type(error).__name__} in {where}: " + re.sub(r"'[^']*'|-?\d[\w.+-]*|%[\w.]+|\b[a-z]+\d+\b", "_", first)


@dataclass
class Found:
    """What a search came to: how many programs it ran, and the first failure of a new kind, as text; how many went which way, if
    the check tells."""

    done: int
    known: Counter[str]
    failure: str = ""
    ways: Counter[str] = field(default_factory=Counter)


Search = Callable[[int, int, Counter[str], Marker], Found]


class _Enough(KeyboardInterrupt):
    """A program has been minimised for long enough. (Hypothesis lets only this through.)"""


def search(
    strategy: Any, check: Callable[[Any], object], count: int, number: int, known: Counter[str], marker: Marker
) -> Found:
    """Up to `count` programs; stops at the first failure of a kind not known, and minimises it."""
    found = Found(0, Counter())
    smallest, failure, deadline = "", Exception(), 0.0

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
    @given(strategy)
    def one(program: Any) -> None:
        nonlocal smallest, failure, deadline
        if smallest and time.perf_counter() > deadline:
            raise _Enough
        found.done += not smallest
        marker.at(program)
        try:
            check(program)
        except Exception as error:
            if kind(error) in known:
                found.known[kind(error)] += 1
                return
            if not smallest:
                deadline = time.perf_counter() + MINIMISE_SECONDS
            smallest, failure = repr(program), error
            raise

    try:
        one()
    except (Exception, _Enough) as raised:
        error = failure if isinstance(raised, _Enough) else raised
        error.__notes__ = [*(n for n in getattr(error, "__notes__", []) if n.startswith("zyg")), smallest]
        found.known[kind(error)] += 1
        found.failure = "".join(traceback.format_exception(error, limit=-4))
    return found


def search_all(search: Search, options: argparse.Namespace, reduce: Callable[[Any, str], Any]) -> int:
    """Searches of `options.chunk` programs until there were `options.count`; prints what was found. `reduce(program, crash)`
    minimises a program that ends the process."""
    known: Counter[str] = Counter()
    ways: Counter[str] = Counter()
    total, start = 0, time.perf_counter()
    while total < options.count:
        number = options.seed + total
        count = min(options.chunk, options.count - total)
        try:
            found = forked(lambda marker: search(count, number, known, marker), HANG_SECONDS)  # noqa: B023
        except Crash as crash:
            found = Found(crash.number, Counter({f"crash: {crash}": 1}))
            if crash.program and f"crash: {crash}" not in known:
                found.failure = f"crash: {crash}\n{reduce(crash.program, str(crash))}"
        total += max(1, min(found.done, count))
        known += found.known
        ways += found.ways
        if found.failure:
            print(f"----- failure, seed {number}\n{found.failure}", flush=True)
    for text, times in ways.items():
        print(f"{times:6d}  {text}")
    for text, times in known.most_common():
        print(f"{times:6d}  {text}")
    print(
        f"{total} programs, {sum(known.values())} failures of {len(known)} kinds, {time.perf_counter() - start:.0f} s"
    )
    return 1 if known else 0


def parser(name: str, description: str | None) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog=f"python -m {name}", description=description)
    made.add_argument("--count", type=int, default=1000, help="how many programs")
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--size", type=int, default=14, help="statements per program, at most")
    made.add_argument("--chunk", type=int, default=100, help="programs per search; a search ends at a new failure")
    return made


def main() -> int:
    words = parser("tests.programs", __doc__)
    words.add_argument("--check", choices=("value", "gradient", "second"), default="gradient", help="how far to go")
    options = words.parse_args()
    what = lambda program: check(program, options.check)
    return search_all(
        partial(search, programs(options.size), what),
        options,
        lambda program, crash: replace(
            program,
            source=smaller(program.source, lambda source: crash_of(replace(program, source=source), what) == crash),
        ),
    )


if __name__ == "__main__":
    sys.exit(main())
