"""Single functions of whole arrays: zyg's value to NumPy's, and its value with the gradient to its value."""

from __future__ import annotations

from typing import Any

import numpy as np

import zyg

from ..measure import python_sampler, side_by_side
from ..report import duration, ratio, table
from ..whole_arrays import LINES
from .settings import Settings

NUMPY_LEVEL = 1.0  # zyg's value to NumPy's
GRADIENT_LEVEL = 2.5  # gradient to value


def slope(function: Any, args: tuple[Any, ...]) -> float:
    """Along the first argument times cos(i), by differences."""
    x = args[0]
    along, h = np.cos(np.arange(x.size)).reshape(x.shape), 1e-6
    above, below = function(x + h * along, *args[1:]), function(x - h * along, *args[1:])
    return (above - below) / (2 * h)


def run(settings: Settings) -> dict[str, Any]:
    figures: dict[str, Any] = {"wrong": []}
    rows = []
    for line in LINES:
        value, both = zyg.jit(line.function), None
        for size in line.sizes[:1] if settings.quick else line.sizes:
            args = line.make(size)
            if both is None:
                both = zyg.jit(zyg.value_and_grad(line.function, tuple(range(len(args)))))
            expected, gradient = line.function(*args), np.real(both(*args)[1][0])
            along = np.sum(gradient * np.cos(np.arange(gradient.size)).reshape(gradient.shape))
            if not np.isclose(value(*args), expected, rtol=1e-9):
                figures["wrong"].append(f"{line.name}, {size}: {value(*args)} instead of {expected}")
            if not np.isclose(along, slope(line.function, args), rtol=1e-3, atol=1e-5 * abs(expected)):
                figures["wrong"].append(f"{line.name}, {size}: another gradient than by differences")
            timed = {
                "NumPy": python_sampler(line.function, *args),
                "zyg": python_sampler(value, *args),
                "both": python_sampler(both, *args),
            }
            sampled = side_by_side(timed, 8 * settings.rounds, settings.seconds / 50)
            least = {label: samples.least for label, samples in sampled.items()}
            entry = {
                "value to NumPy": least["zyg"] / least["NumPy"], "gradient to value": least["both"] / least["zyg"]
            }  # fmt: skip
            figures[f"{line.name}, {size}"] = entry
            rows.append([
                line.name, str(size), duration(least["zyg"]), ratio(entry["value to NumPy"], NUMPY_LEVEL),
                duration(least["both"]), ratio(entry["gradient to value"], GRADIENT_LEVEL),
            ])  # fmt: skip
    print("single functions of whole arrays, the least of all rounds")
    header = ["", "n", "zyg", f"to NumPy (<{NUMPY_LEVEL:.0f})", "zyg v+g", f"to value (<{GRADIENT_LEVEL})"]
    print(table(header, rows))
    for problem in figures["wrong"]:
        print("  DISAGREE " + problem)
    return figures
