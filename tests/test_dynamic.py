"""Random dynamic programs: a slice of what `python -m tests.dynamic` runs, another one on each Python."""

import contextlib
import sys

import pytest
from hypothesis import HealthCheck, given, seed, settings

from zyg.fallback import python_pullback

from .dynamic import regressions
from .dynamic.check import Skipped, check
from .dynamic.generate import Program, programs
from .oracles import dual

QUICK = settings(deadline=None, derandomize=False, database=None, suppress_health_check=list(HealthCheck))


@seed(sys.version_info[1])
@settings(QUICK, max_examples=4)
@given(programs(7))
def test_dynamic_programs(program: Program) -> None:
    with contextlib.suppress(Skipped):
        check(program)


@seed(sys.version_info[1])
@settings(QUICK, max_examples=5)
@given(programs(9))
def test_dynamic_programs_through_python(program: Program) -> None:
    with contextlib.suppress(Skipped):
        check(program, "python")


@pytest.mark.parametrize("f", regressions.FUNCTIONS, ids=lambda f: f.__name__)
def test_what_random_programs_found(f) -> None:
    value, back = python_pullback(f, (1.1,), {})
    assert value == f(1.1)
    for _ in range(2):
        assert back(1.0) == pytest.approx(dual.gradient(f, 1.1), rel=1e-14)
