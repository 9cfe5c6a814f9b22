"""Every NumPy and SciPy function that compiled code knows has cases, and a slice of them is run here; all of them by
`python -m tests.arrays`."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from .cases import CASES
from .check import Checker
from .registered import covered, entries, with_entries

# Compiling is what costs; each Python of a run of all takes another slice.
SLICE, VALUES, DERIVATIVES = sys.version_info[1], 18, 7


def test_every_entry_has_a_case():
    missing = sorted(set(entries()) - covered(CASES))
    assert not missing, f"write cases for them in tests/arrays/cases: {', '.join(missing)}"


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
