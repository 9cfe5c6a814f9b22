"""`python -m tests.crosses containers --count 400 --seed 1`: crosses of features, each in every mode through both back ends."""

from __future__ import annotations

import argparse
import itertools
import signal
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

from . import arguments, bindings, classes, complexes, containers, effects, everyday, keywords, numbers, views
from .check import check

CROSSES: dict[str, Any] = {
    "arguments": arguments, "bindings": bindings, "classes": classes, "complexes": complexes, "containers": containers, "effects": effects, "everyday": everyday,
    "keywords": keywords, "numbers": numbers, "views": views,
}  # fmt: skip


def _too_long(*_: Any) -> None:
    raise TimeoutError("more than a minute")


def _outcomes(cross: Any, program: Any, second: bool, natively: bool) -> Iterator[tuple[str, str]]:
    if cross is arguments:
        return arguments.check(program, second)
    return check(program, cross.KNOWN, second, natively)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cross", choices=CROSSES)
    parser.add_argument("--count", type=int, help="so many programs")
    parser.add_argument(
        "--seed", type=int, default=0, help="of what is drawn; where all are listed, the number of the first"
    )
    parser.add_argument("--every", type=int, default=1, help="each so manieth program")
    parser.add_argument("--second", action="store_true", help="second derivatives, too")
    parser.add_argument("--python", action="store_true", help="through Python only")
    parser.add_argument("--refused", action="store_true", help="show what is refused, too")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, _too_long)
    cross, counts, kinds = CROSSES[args.cross], Counter[str](), Counter[str]()
    chosen = itertools.islice(cross.programs(args.seed), 0, None, args.every)
    for number, body in enumerate(itertools.islice(chosen, args.count)):
        signal.setitimer(signal.ITIMER_PROF, 60.0)  # of processor time
        wrong = []
        try:
            for mode, outcome in _outcomes(cross, body, args.second, not args.python):
                kind = outcome if outcome in ("right", "refused", "no number", "raises") else "wrong"
                counts[f"{mode} {kind}"] += 1
                if kind == "wrong" or (kind == "refused" and args.refused):
                    wrong.append(f"    {mode}: {outcome}")
        except TimeoutError as error:
            wrong.append(f"    {error}")
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        if wrong:
            kinds["wrong"] += 1
            print(f"# {number}\n{body}", *wrong, "", sep="\n", flush=True)
    print(dict(kinds), *(f"{count:7} {kind}" for kind, count in sorted(counts.items())), sep="\n")


if __name__ == "__main__":
    main()
