"""Every entry in the tables of the run-time rules: value against CPython, derivative against differences."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

from tests.autodiff.library_examples import PROGRAMS as LIBRARY
from tests.autodiff.library_examples import cached_with_equal_numbers
from tests.autodiff.object_examples import PROGRAMS as OBJECTS
from tests.autodiff.reentry_examples import PROGRAMS as REENTRY
from tests.oracles import differences
from tests.turns import each_in_turn
from zyg.autodiff.objects import builtins_, calls, classes, matches, numpy_, numpy_random, numpy_shortcuts
from zyg.autodiff.objects.api import pullback
from zyg.backend.pulls import State

PROGRAMS = {**OBJECTS, **LIBRARY, **{f"entered_{name}": program for name, program in REENTRY.items()}}


@each_in_turn
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_example(name):
    program = PROGRAMS[name]
    value, back = pullback(program, (0.7,))
    expected = program(0.7)
    assert value == expected or math.isclose(value, expected, rel_tol=1e-15)
    (got,) = back(1.0)
    assert (got or 0.0) == pytest.approx(differences.derivative(program, 0.7), rel=1e-6, abs=1e-7)
    assert back(2.0) == (None if got is None else pytest.approx(2.0 * got),)


def without_derivative(handler):
    """Whether an entry says that its function carries no derivative."""
    around = numpy_.guarded, numpy_random.behind_function, numpy_shortcuts.run_method, calls.run_known
    while isinstance(handler, functools.partial) and handler.func in around:
        handler = handler.args[-1]
    return isinstance(handler, functools.partial) and handler.func in (
        builtins_._constant,
        numpy_.constant_ufunc,
        numpy_random.drawn,
        numpy_random.seeded,
        builtins_._query,
        builtins_.ask,
        matches.call_on_bytes,
        classes._new,
    )


@each_in_turn
def test_every_entry_has_an_example(monkeypatch):
    used = set()

    def watched(key, handler):
        def run(*args, **kwargs):
            used.add(key)
            return handler(*args, **kwargs)

        return run

    tables = (calls.KNOWN, calls.METHODS)
    wanted = {key: handler for table in tables for key, handler in table.items() if not without_derivative(handler)}
    for table in tables:
        for key in list(table):
            if key in wanted:
                monkeypatch.setitem(table, key, watched(key, table[key]))
    monkeypatch.setattr(calls, "_epoch", -1)  # forget what was looked up before
    for program in PROGRAMS.values():
        pullback(program, (0.7,))
    monkeypatch.undo()
    monkeypatch.setattr(calls, "_epoch", -1)
    calls.refresh()
    missing = [key for key in wanted if key not in used]
    # `locals`, `resize` and edits of memory are refused; one entry stands for the constructors of all builtin exceptions; what nested derivatives know of
    # zyg's own functions has its tests in test_python_nested.py; some of these native code takes over.
    missing = [
        key
        for key in missing
        if key not in (locals, (np.ndarray, "resize"), (memoryview, "__setitem__"))
        and not (type(key) is tuple and issubclass(key[0], BaseException))
        and not str(getattr(key[0] if type(key) is tuple else key, "__module__", "")).startswith("zyg.")
        and not isinstance(getattr(key, "__self__", None), State)
    ]
    assert not missing, "\n".join(map(str, missing))


def test_a_cache_tells_a_constant_from_the_number_that_it_is_equal_to():
    assert pullback(cached_with_equal_numbers, (3.0,))[1](1.0) == (54.0,)
