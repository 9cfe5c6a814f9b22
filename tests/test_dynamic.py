"""Random dynamic programs: a slice of what `python -m tests.dynamic` runs, another one on each Python."""

import contextlib
import sys

import pytest

from .dynamic import regressions
from .dynamic.check import Skipped, check
from .dynamic.generate import program
from .dynamic.tools import Program

FIRST = 100 * sys.version_info[1]


@pytest.mark.parametrize("number", range(FIRST, FIRST + 8))
def test_dynamic_programs(number: int) -> None:
    """One that fails is made smaller by `python -m tests.dynamic --count 1 --seed` and its number."""
    with contextlib.suppress(Skipped):
        check(program(number))


@pytest.mark.parametrize("small", regressions.PROGRAMS.values(), ids=list(regressions.PROGRAMS))
def test_what_random_programs_found(small: Program) -> None:
    check(small, "python")
