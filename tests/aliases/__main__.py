"""`python -m tests.aliases --count 1000 --seed 1`: random programs that have one thing by several names, by every transform."""

from __future__ import annotations

import argparse
import sys
import warnings

from .check import check


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="the number of the first program")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    count = check(range(options.seed, options.seed + options.count))
    for name, n in sorted(count.items()):
        print(f"{n:6} {name}")
    sys.exit(1 if count["wrong"] else 0)


main()
