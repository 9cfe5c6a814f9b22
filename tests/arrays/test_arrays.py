"""Every NumPy and SciPy function that compiled code knows has cases, and every rule for one is checked: both are found here by
themselves. Derivatives by rules and by the Python back end take turns (tests/turns.py); of the rest a slice is run, all of
them by `python -m tests.arrays`."""

from __future__ import annotations

import contextlib
import functools
import sys

import numpy as np
import pytest

from ..turns import by_one_python_a_day, each_in_turn
from . import programs
from .cases import CASES
from .check import Checker, Refused, drawn, of_floats
from .overwriting import overwriting
from .points import Points
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
SLICE, VALUES, DERIVATIVES, SECONDS = sys.version_info[1], 9, 1, 2

# Entries whose first derivative alone is checked, and why.
NO_SECOND: dict[str, str] = {}

# Entries that take and give floats without a derivative, and why.
NO_DERIVATIVE = {
    **dict.fromkeys(("numpy.dtype", "ndarray.dtype", "numpy.finfo", "numpy.iinfo", "numpy.can_cast"), "gives types"),
    **dict.fromkeys(("numpy.promote_types", "numpy.result_type", "numpy.isdtype", "numpy.issubdtype"), "gives types"),
    **dict.fromkeys(("numpy.zeros_like", "numpy.ones_like", "generic.std"), "is constant"),
    **dict.fromkeys(("numpy.floor_divide", "numpy.spacing"), "is constant but for steps"),
    **dict.fromkeys(("numpy.argpartition", "ndarray.argpartition"), "gives indices; its case takes what they point at"),
    "numpy.float32": "rounds so that differences tell nothing; conversions have cases with astype",
}

# Of the Python back end: what gives no numbers, none that can be compared, or draws integers.
NOT_COMPARED = {
    "ndarray.__contains__", "ndarray.setflags", "ndarray.tobytes", "ndarray.tofile", "ndarray.view", "numpy.array2string", "numpy.array_repr",
    "numpy.array_str", "numpy.can_cast", "numpy.complex64", "numpy.errstate", "numpy.finfo", "numpy.fromstring",
    "numpy.genfromtxt", "numpy.get_printoptions", "numpy.geterr", "numpy.iinfo", "numpy.int16", "numpy.int8", "numpy.isnat",
    "numpy.issubdtype", "numpy.load", "numpy.loadtxt", "numpy.ndarray", "numpy.ndindex", "numpy.printoptions", "numpy.promote_types", "numpy.save",
    "numpy.random.Generator", "numpy.random.PCG64", "numpy.random.RandomState", "numpy.random.SeedSequence", "numpy.random.bytes",
    "numpy.random.integers", "numpy.random.random_integers", "numpy.random.tomaxint",
    "numpy.__enter__", "numpy.__exit__", "numpy.seterrcall",  # (the first two of np.errstate)
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


WITH_RULES = library_rules()
RULES = sorted({name for name, _ in WITH_RULES})


def test_every_rule_has_a_case():
    missing = [name for name in RULES if of_rule(name) is None]
    assert not missing, f"write cases with a derivative for them in tests/arrays/cases: {', '.join(missing)}"


@each_in_turn
@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_right(name):
    case = of_rule(name)
    assert case is not None
    assert not list(Checker(case).derivatives(np.random.default_rng(SLICE)))


@each_in_turn
@pytest.mark.parametrize("case", [c for c in CASES if c.derivative][::3], ids=str)
def test_derivatives_by_the_python_back_end(case):
    # Every third one of the turn; all of them: python -m tests.arrays --what python, and with --overwriting.
    own = drawn(case, np.random.default_rng(SLICE))
    for checked in (overwriting(case, own), case):
        with contextlib.suppress(Refused):
            assert checked is None or not list(Checker(checked).through_python(np.random.default_rng(SLICE)))
            if checked is not None:
                return


# Those that a rule is for have their derivatives checked above.
TARGETS = [rule.target for _, rule in WITH_RULES]
BY_RULES = {name for name, (_, entry) in entries_with_code().items() if uses_rules(entry, TARGETS)} | set(RULES)


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
    assert not list(Checker(case).derivatives(np.random.default_rng(SLICE)))


# One case of each entry, in turns over many runs: all of them by `python -m tests.arrays --second`.
SECOND = sorted({str(c): c for c in picked(SECONDS, True)}.items())


@pytest.mark.parametrize("case", [c for _, c in SECOND], ids=str)
def test_second_derivatives(case):
    assert not list(Checker(case).second_derivatives(np.random.default_rng(SLICE)))


@functools.cache
def cases_by_entry():
    found = {}
    for case in CASES:
        for name in set(map(name_of, case.covers)):
            found.setdefault(name, []).append(case)
    return found


def without_second(name):
    """Why an entry has no second derivative checked; None if it has a case, "" if nothing says why."""
    own = cases_by_entry().get(name, [])
    if any(c.derivative and c.second for c in own):
        return None
    if name in NO_SECOND:
        return NO_SECOND[name]
    return "" if any(c.derivative for c in own) else without_derivative(name, own)


def without_derivative(name, own):
    """Why an entry has no derivative: its numbers are drawn, it takes no floats, or gives none."""
    if name.startswith(("numpy.random.", "Generator.")):
        return "draws are constants"
    return "what it takes or gives is no float" if not any(of_floats(c) for c in own) else NO_DERIVATIVE.get(name, "")


@by_one_python_a_day
def test_every_derivative_has_a_second_one():
    missing = sorted(name for name in entries() if without_second(name) == "")
    assert not missing, f"cases with second derivatives, or reasons why there are none: {', '.join(missing)}"


@each_in_turn
@pytest.mark.parametrize("name", ["std#0", "prod#0"])
def test_derivatives_at_special_points(name):
    case = next(c for c in CASES if c.name == name)
    assert not list(Points(case, np.random.default_rng(SLICE)).run(draws=4, second=True))


@pytest.mark.parametrize("seed", range(100 * SLICE, 100 * SLICE + 2))
def test_programs_of_whole_arrays(seed):
    assert not list(programs.check(seed))
