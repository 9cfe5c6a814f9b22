"""Random dynamic programs: a slice of what `python -m tests.dynamic` runs, another one on each Python."""

import contextlib
import sys
import warnings

import numpy as np
import pytest

from zyg.autodiff.objects import native

from .dynamic import regressions
from .dynamic.check import Skipped, check
from .dynamic.generate import program
from .dynamic.tools import Program
from .turns import by_one_python_a_day, each_in_turn

FIRST = 100 * sys.version_info[1]


@by_one_python_a_day
@pytest.mark.parametrize("number", range(FIRST, FIRST + 4))
def test_dynamic_programs(number: int) -> None:
    """One that fails is made smaller by `python -m tests.dynamic --count 1 --seed` and its number."""
    with contextlib.suppress(Skipped):
        check(program(number))


@each_in_turn
@pytest.mark.parametrize("small", regressions.PROGRAMS.values(), ids=list(regressions.PROGRAMS))
def test_what_random_programs_found(small: Program) -> None:
    check(small, "python")


def test_looking_for_functions_asks_modules_for_nothing() -> None:
    """NumPy warns where it is asked for `str`, which it once had."""

    def named(x: float) -> float:
        return float(np.sin(x)) * len(str(x > 0.0))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not native._reads_assigned(named, set())
