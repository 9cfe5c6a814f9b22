"""Many programs of a generator, by number: `python -m tests.containers.aliasing --count N --seed S`."""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Callable

import zyg


def search(check: Callable[[int], object], description: str | None) -> int:
    """Check programs, print how many were right, refused and wrong; gives how many failed."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("error", zyg.FallbackWarning)
    outcomes: Counter[str] = Counter()
    for number in range(options.seed * 1_000_000, options.seed * 1_000_000 + options.count):
        try:
            check(number)
        except zyg.Unsupported as error:
            outcomes["refused: " + str(error).splitlines()[0]] += 1
        except Exception as error:
            outcomes["failed"] += 1
            print(f"{number}: {type(error).__name__}: {error}")
        else:
            outcomes["right"] += 1
    print(*(f"{count:6} {what}" for what, count in outcomes.most_common()), sep="\n")
    return outcomes["failed"]
