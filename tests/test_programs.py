"""Random programs: a slice of what `python -m tests.programs` runs."""

from hypothesis import HealthCheck, given, settings

from .programs.check import check
from .programs.generate import Program, programs

QUICK = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


@settings(QUICK, max_examples=25)
@given(programs())
def test_programs(program: Program) -> None:
    check(program)


@settings(QUICK, max_examples=5)
@given(programs(7))
def test_second_derivatives_of_programs(program: Program) -> None:
    check(program, "second")
