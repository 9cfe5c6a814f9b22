"""Hessian-vector products of dynamic programs through Python, against their gradients: processor time, once both are compiled."""

from __future__ import annotations

import math
import warnings
from typing import Any

import zyg

from ..dynamic import PROGRAMS
from ..measure import apart, side_by_side
from ..report import duration, table
from .dynamic import floats, gradient_of, interpreted, moved
from .settings import Settings

STEP = 1e-4


def run(settings: Settings) -> dict[str, Any]:
    figures: dict[str, Any] = {"wrong": []}
    rows = []
    for name, program in settings.few(PROGRAMS.items()):
        problem, entry = apart(lambda program=program: measured(settings, *program))
        figures[name] = entry
        if problem:
            figures["wrong"].append(f"{name}: {problem}")
        rows.append([name, duration(entry["gradient"]), duration(entry["hvp"]), f"{entry['hvp to gradient']:.0f}x"])
    print("Hessian-vector products through the Python back end")
    print(table(["", "gradient", "hvp", "ratio"], rows))
    for problem in figures["wrong"]:
        print("  DISAGREE " + problem)
    return figures


def measured(settings: Settings, function: Any, args: tuple[Any, ...]) -> tuple[str | None, dict[str, float]]:
    """What is wrong, and the figures of a program."""

    def whole(args: tuple[Any, ...]) -> float:
        try:  # native code does not take this
            return function(*args, math)
        except ArithmeticError:
            return math.nan

    direction = moved(args, lambda _: 1.0)
    gradient = lambda at: list(floats(at, gradient_of(whole, (at,))[0]))
    product = lambda: zyg.hvp(whole, args, direction)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        got = list(floats(args, product()))
    ahead, behind = (gradient(along(args, direction, step)) for step in (STEP, -STEP))
    expected = [(a - b) / (2 * STEP) for a, b in zip(ahead, behind)]
    problem, scale = None, 1.0 + max(map(abs, expected))
    if not all(math.isclose(x, y, rel_tol=1e-3, abs_tol=1e-5 * scale) for x, y in zip(got, expected)):
        problem = f"zyg gives {got}, differences of its gradient {expected}"
    samplers = {"gradient": interpreted(gradient_of, whole, (args,)), "hvp": interpreted(product)}
    samples = side_by_side(samplers, settings.rounds, settings.seconds)
    entry = {label: s.median for label, s in samples.items()}
    return problem, {**entry, "hvp to gradient": samples["hvp"].ratio(samples["gradient"])}


def along(value: Any, direction: Any, step: float) -> Any:
    """A point further on in a direction."""
    parts = iter(list(floats(direction, direction)))
    return moved(value, lambda _: step * next(parts))
