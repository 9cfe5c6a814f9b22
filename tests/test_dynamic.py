"""Random dynamic programs: a slice of what `python -m tests.dynamic` runs."""

from hypothesis import HealthCheck, given, settings

from .dynamic.check import Skipped, check
from .dynamic.generate import Program, programs

QUICK = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


@settings(QUICK, max_examples=15)
@given(programs(7))
def test_dynamic_programs(program: Program) -> None:
    try:
        check(program)
    except Skipped:
        return
