"""What a function of one float does in CPython, and what it does compiled, differentiated natively and through Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import zyg
from tests.oracles import differences
from zyg.fallback import python_pullback


def outcome(call: Callable[[], Any]) -> tuple[str, Any]:
    """("value", what it gives), or the name and text of what it raises."""
    try:
        return "value", call()
    except Exception as error:
        return type(error).__name__, str(error)


def through_python(f: Callable[[float], Any], x: float) -> tuple[Any, Any]:
    value, back = python_pullback(f, (x,), {})
    return value, back(1.0)[0]


WAYS = {
    "natively": lambda f, x: (lambda value, slopes: (value, slopes[0]))(*zyg.withgradient(f, x)),
    "through Python": through_python,
    "tangents": lambda f, x: zyg.jvp(f, (x,), (1.0,)),
}


def check(f: Callable[[float], Any], x: float, reset: Callable[[], None] = lambda: None) -> None:
    """Value or exception, the derivative, and the second derivative; compiled code may refuse the function."""

    def of(y: float) -> Any:
        reset()
        return f(y)

    expected = outcome(lambda: of(x))
    reset()
    compiled = outcome(lambda: zyg.jit(f)(x))
    assert compiled == expected or compiled[0] == "Unsupported", compiled
    for name, way in WAYS.items():
        reset()
        kind, found = outcome(lambda: way(f, x))  # noqa: B023
        if expected[0] != "value":
            assert (kind, found) == expected, name
            continue
        assert kind == "value", (name, found)
        assert found[0] == expected[1], name
        assert (found[1] or 0.0) == pytest.approx(differences.derivative(of, x), rel=1e-6, abs=1e-8), name
    if expected[0] == "value":
        reset()
        second = differences.derivative(lambda y: differences.derivative(of, y), x)
        assert (zyg.derivative(zyg.derivative(f))(x) or 0.0) == pytest.approx(second, rel=1e-3, abs=1e-3)
