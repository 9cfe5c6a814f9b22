"""Backs of small arrays of float64 that native code runs: (`run`, y, a, b, p, q, plan).

`y` was made of `a` and `b`, each an array, a number, or None (whose cotangent nobody wants); `p` and `q` are what a rule keeps. A plan is
a pair: what native code reads, and a function of y, a, b, p, and q that gives the back by which Python does the same, for
what is not as usual: large arrays, refusals, what has no shadow of its own.

The native code takes some twenty milliseconds to compile, so Python does all of it until about as much time has gone into that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zyg.backend import pulls
from zyg.backend.pulls import LOOPS

from . import calls
from .shadows import Shadows

Plan = tuple[bytes, Callable[[Any, Any, Any, Any, Any], tuple[Any, ...]]]
SMALL = 512  # elements, or products that are summed: of more, NumPy's vector code and BLAS make up for what it takes to call them


def in_python(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, a, b, p, q, plan = back
    usual = plan[1](y, a, b, p, q)
    return usual[0](usual, d, shadows)


run = pulls.deferred("pull", in_python)
ABOUT_SHADOWS = pulls.about_shadows(Shadows, ("views", "kept", "refusals", "arrays"), "of_array")
pulls.when_started(lambda: pulls.settle(run, "zyg_pull", *ABOUT_SHADOWS))


@calls.method(pulls.State, "pull", "record", "add", "ask", exact=True)
def _in_python(state: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A second derivative goes through what Python does."""
    return calls.call(state[0], args, kwargs)


def plan(rule: str, usual: Any, limit: int = SMALL, skip: int = 0, of_number: bool = False, **maps: Any) -> Plan:
    return pulls.plan(rule, limit, skip, of_number, **maps), usual


def _kept(x: Any) -> Any:
    return x if type(x) is not np.ndarray else x.astype(float, "C")


def recorded(case: pulls.Case, y: Any, a: Any, b: Any = None) -> tuple[Any, Any]:
    """What native code gives, too. (Of arrays of ints what is kept are floats.)"""
    operands = {"": None, "y": y, "a": a, "b": b}
    p, q = _kept(operands[case.p]), _kept(operands[case.q])
    return y, (run, y, a if case.a else None, b if case.b else None, p, q, case.plan)


__all__ = [
    "ABOUT_SHADOWS",
    "LOOPS",
    "SMALL",
    "Plan",
    "in_python",
    "plan",
    "recorded",
    "run",
]
