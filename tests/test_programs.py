"""Random programs: a slice of what `python -m tests.programs` runs, another one on each Python."""

import sys

from hypothesis import HealthCheck, given, seed, settings

from .programs.check import check
from .programs.generate import Program, programs

QUICK = settings(deadline=None, derandomize=False, database=None, suppress_health_check=list(HealthCheck))


@seed(sys.version_info[1])
@settings(QUICK, max_examples=4)
@given(programs())
def test_programs(program: Program) -> None:
    check(program)


@seed(sys.version_info[1])
@settings(QUICK, max_examples=2)
@given(programs(7))
def test_second_derivatives_of_programs(program: Program) -> None:
    check(program, "second")
