"""Every NumPy and SciPy function that compiled code knows has cases, and every rule for one is checked: both are found here by
themselves. A slice of the cases is run; all of them by `python -m tests.arrays`."""

from __future__ import annotations

import contextlib
import sys

import numpy as np
import pytest

from . import programs
from .cases import CASES
from .check import Checker, Refused
from .registered import covered, entries, library_rules, name_of, run_time_entries, with_entries

# Compiling is what costs; each Python takes another slice.
SLICE, VALUES, DERIVATIVES = sys.version_info[1], 9, 3

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


@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_right(name):
    case = of_rule(name)
    assert case is not None, f"no case with a derivative covers the rule for {name}"
    # Forward mode is taken in turns: each Python compiles it for a third of them.
    forward = RULES.index(name) % 3 == SLICE % 3
    assert not list(Checker(case).derivatives(np.random.default_rng(SLICE), forward=forward))


def test_derivatives_by_the_python_back_end():
    rng = np.random.default_rng(SLICE)
    problems = []
    for case in CASES:
        if case.derivative:
            with contextlib.suppress(Refused):
                problems += Checker(case).through_python(rng)
    assert not problems, "\n".join(problems)


def picked(count, derivative):
    cases = [c for c in with_entries(CASES) if c.derivative or not derivative]
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
