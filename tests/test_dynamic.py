"""Random dynamic programs: a slice of what `python -m tests.dynamic` runs."""

import contextlib

from hypothesis import HealthCheck, given, settings

from .dynamic.check import Skipped, check
from .dynamic.generate import Program, programs

QUICK = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


@settings(QUICK, max_examples=8)
@given(programs(7))
def test_dynamic_programs(program: Program) -> None:
    with contextlib.suppress(Skipped):
        check(program)


@settings(QUICK, max_examples=30)
@given(programs(9))
def test_dynamic_programs_through_python(program: Program) -> None:
    with contextlib.suppress(Skipped):
        check(program, "python")
