"""The adjoint of Python ops against differences of the functions under CPython: each construct of the language once."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.autodiff import python_programs
from tests.oracles import differences
from tests.turns import by_one_python_a_day
from zyg.autodiff.objects.api import pullback
from zyg.autodiff.python import halves
from zyg.frontend.capture import capture
from zyg.ir.parsing import parse_function
from zyg.ir.verify import verify


def names(function: Any) -> str:
    return function.__name__


@by_one_python_a_day
@pytest.mark.parametrize("function", python_programs.PROGRAMS, ids=names)
@pytest.mark.parametrize("x", [0.7, 1.9])
def test_gradients(function, x):
    value, back = pullback(function, (x,))
    assert value == function(x)
    expected = differences.derivative(function, x)
    (got,) = back(1.0)
    assert got == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert back(1.0) == (got,), "a pullback may be called again"
    assert back(2.0) == (pytest.approx(2 * got),)


@pytest.mark.parametrize("function", python_programs.PROGRAMS, ids=names)
def test_halves_are_legal_ssa(function):
    for half in halves(capture(function.__code__)):
        verify(half)
        text = str(half)
        assert str(parse_function(text)) == text


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x, y: x if x > 0 else y, (1.0, 0.0)),
        (lambda x, y: x if x > 0 else math.sin(y), (1.0, 0.0)),
        (lambda x, y: x * 2.0, (2.0, None)),
        (lambda x, y: x * (y // 2), (1.0, None)),
        (lambda x, y: {"a": x, "b": y}["a"], (1.0, None)),
    ],
)
def test_none_is_decided_by_data_flow(function, expected):
    assert pullback(function, (0.5, 2))[1](1.0) == expected
