"""`python -m tests.dynamic --count 3000 --seed 1`: many dynamic programs; each new kind of failure minimised and printed."""

from __future__ import annotations

import contextlib
import sys

from ..programs.__main__ import parser, search_all
from .check import Skipped, check, check_second
from .generate import Program, programs


def main() -> int:
    words = parser("tests.dynamic", __doc__)
    words.add_argument("--second", action="store_true", help="second derivatives as well, through the Python back end")
    words.add_argument("--through", choices=("both", "python"), default="both", help="which back ends")
    options = words.parse_args()

    def check_unless_skipped(program: Program) -> str | None:
        with contextlib.suppress(Skipped):
            return check_second(program) if options.second else check(program, options.through)
        return None

    return search_all(programs(options.size), check_unless_skipped, options, lambda program, crash: program)


if __name__ == "__main__":
    sys.exit(main())
