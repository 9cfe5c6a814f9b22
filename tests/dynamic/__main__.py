"""`python -m tests.dynamic --count 3000 --seed 1`: the programs of these numbers; each new kind of failure minimised and printed.

One that failed is run alone by `--count 1 --seed` and its number.
"""

from __future__ import annotations

import sys
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from ..programs.__main__ import MINIMISE_SECONDS, Found, kind, parser, search_all
from ..programs.isolate import Crash, Marker, forked, smaller
from .check import Skipped, check, check_second
from .generate import program
from .tools import Program

Check = Callable[[Program], str]


def failure_of(drawn: Program, check: Check) -> tuple[str, str]:
    """The kind of failure and its text, or in what way the program is right."""
    try:
        return "", f"right through {check(drawn)}"
    except Skipped as skipped:
        return "", f"left out: {skipped}"
    except Exception as error:
        return kind(error), "".join(traceback.format_exception(error, limit=-4))


def failure_in_a_process(drawn: Program, check: Check) -> str:
    """The kind of failure, run in a process of its own: what is left of a program may never end."""

    def attempt(marker: Marker) -> str:
        marker.at(drawn)
        return failure_of(drawn, check)[0]

    try:
        return forked(attempt, 10.0)
    except Crash as crash:
        return f"crash: {crash}"


def minimised(drawn: Program, check: Check, failure: str) -> Program:
    several = range(len(drawn.calls))
    for chosen in [*((n,) for n in several), *(several[:n] for n in several[2:])]:
        if failure_in_a_process(fewer := drawn.only(chosen), check) == failure:
            drawn = fewer
            break
    fails = lambda source: failure_in_a_process(replace(drawn, source=source), check) == failure
    return replace(drawn, source=smaller(drawn.source, fails, 4 * MINIMISE_SECONDS))


def main() -> int:
    words = parser("tests.dynamic", __doc__)
    words.add_argument("--second", action="store_true", help="second derivatives as well, through the Python back end")
    words.add_argument("--through", choices=("both", "python"), default="both", help="which back ends")
    options = words.parse_args()
    checked = check_second if options.second else lambda drawn: check(drawn, options.through)

    def search(count: int, first: int, known: Counter[str], marker: Marker) -> Found:
        found = Found(0, Counter())
        for number in range(first, first + count):
            drawn = program(number, options.size)
            found.done += 1
            marker.at(drawn)
            failure, text = failure_of(drawn, checked)
            if not failure:
                found.ways[text] += 1
                continue
            found.known[failure] += 1
            if failure not in known:
                print(f"program {number}: {failure}", flush=True)
                found.failure = f"program {number}\n{text}\n{minimised(drawn, checked, failure)}"
                break
        return found

    return search_all(search, options, lambda drawn, crash: minimised(drawn, checked, f"crash: {crash}"))


if __name__ == "__main__":
    sys.exit(main())
