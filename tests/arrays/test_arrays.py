"""Every NumPy and SciPy function that compiled code knows has cases, and every rule for one is checked: both are found here by
themselves. Derivatives by rules and by the Python back end take turns (tests/turns.py); of the rest a slice is run, all of
them by `python -m tests.arrays`."""

from __future__ import annotations

import contextlib
import sys

import numpy as np
import pytest

from ..turns import in_turn
from . import programs
from .cases import CASES
from .check import Checker, Refused
from .registered import (
    covered,
    entries,
    entries_with_code,
    library_rules,
    name_of,
    run_time_entries,
    uses_rules,
    with_entries,
)

# Compiling is what costs; each Python takes another slice.
SLICE, VALUES, DERIVATIVES = sys.version_info[1], 9, 2

# Of the Python back end: what gives no numbers, or none that can be compared.
NOT_COMPARED = {
    "ndarray.__contains__", "ndarray.setflags", "ndarray.tobytes", "ndarray.tofile", "ndarray.view", "numpy.array2string", "numpy.array_repr",
    "numpy.array_str", "numpy.can_cast", "numpy.complex64", "numpy.errstate", "numpy.finfo", "numpy.fromstring",
    "numpy.genfromtxt", "numpy.get_printoptions", "numpy.geterr", "numpy.iinfo", "numpy.int16", "numpy.int8", "numpy.isnat",
    "numpy.issubdtype", "numpy.load", "numpy.loadtxt", "numpy.ndarray", "numpy.ndindex", "numpy.printoptions", "numpy.promote_types", "numpy.save",
    "numpy.savetxt", "numpy.savez", "numpy.set_printoptions", "numpy.seterr", "numpy.uint16", "numpy.uint32", "numpy.uint64",
}  # fmt: skip


def test_every_entry_has_a_case():
    missing = sorted(set(entries()) - covered(CASES))
    assert not missing, f"write cases for them in tests/arrays/cases: {', '.join(missing)}"


def test_every_entry_of_the_python_back_end_has_a_case():
    missing = sorted(set(run_time_entries()) - covered(CASES) - NOT_COMPARED)
    assert not missing, f"write cases for them in tests/arrays/cases: {', '.join(missing)}"


def of_rule(name):
    """The first case of a function that has a rule."""
    return next((c for c in CASES if c.derivative and name in map(name_of, c.covers)), None)


RULES = sorted({name for name, _ in library_rules()})


def test_every_rule_has_a_case():
    missing = [name for name in RULES if of_rule(name) is None]
    assert not missing, f"write cases with a derivative for them in tests/arrays/cases: {', '.join(missing)}"


@pytest.mark.parametrize("name", in_turn(RULES))
def test_every_rule_is_right(name):
    case = of_rule(name)
    assert case is not None
    assert not list(Checker(case).derivatives(np.random.default_rng(SLICE)))


@pytest.mark.parametrize("case", in_turn([c for c in CASES if c.derivative])[::2], ids=str)
def test_derivatives_by_the_python_back_end(case):
    # Every second one of the turn; all of them: python -m tests.arrays --what python.
    with contextlib.suppress(Refused):
        assert not list(Checker(case).through_python(np.random.default_rng(SLICE)))


# Those that a rule is for have their derivatives checked above.
BY_RULES = {name for name, (_, entry) in entries_with_code().items() if uses_rules(entry)} | set(RULES)


def picked(count, derivative):
    cases = with_entries(CASES)
    if derivative:
        cases = [c for c in cases if c.derivative and BY_RULES.isdisjoint(map(name_of, c.covers))]
    rng = np.random.default_rng(SLICE + 100 * derivative)
    return [cases[int(i)] for i in rng.choice(len(cases), count, replace=False)]


@pytest.mark.parametrize("case", picked(VALUES, False), ids=str)
def test_values(case):
    assert not list(Checker(case).values(np.random.default_rng(SLICE), 6))


@pytest.mark.parametrize("case", picked(DERIVATIVES, True), ids=str)
def test_derivatives(case):
    assert not list(Checker(case).derivatives(np.random.default_rng(SLICE), second=True))


@pytest.mark.parametrize("seed", range(100 * SLICE, 100 * SLICE + 2))
def test_programs_of_whole_arrays(seed):
    assert not list(programs.check(seed))
