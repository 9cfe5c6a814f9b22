"""`python -m tests.dynamic --count 3000 --seed 1`: many dynamic programs; each new kind of failure minimised and printed."""

from __future__ import annotations

import sys

from ..programs.__main__ import parser, search_all
from .check import Skipped, check
from .generate import Program, programs


def check_unless_skipped(program: Program) -> None:
    try:
        check(program)
    except Skipped:
        return


def main() -> int:
    options = parser("tests.dynamic", __doc__).parse_args()
    return search_all(programs(options.size), check_unless_skipped, options, lambda program, crash: program)


if __name__ == "__main__":
    sys.exit(main())
