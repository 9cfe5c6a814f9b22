"""BFGS with a backtracking line search: enough for a handful of parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

ValueAndGradient = Callable[[np.ndarray], tuple[float, np.ndarray]]


@dataclass(frozen=True)
class Progress:
    iteration: int
    x: np.ndarray
    value: float
    gradient: np.ndarray
    evaluations: int

    @property
    def slope(self) -> float:
        return float(np.max(np.abs(self.gradient)))


def minimise(function: ValueAndGradient, x: np.ndarray, tolerance: float = 1e-8, most: int = 200) -> Iterator[Progress]:
    """Yields the state after every iteration, the minimum last.

    >>> bowl = lambda x: (float(((x - 3) ** 2).sum()), 2 * (x - 3))
    >>> *_, last = minimise(bowl, np.zeros(2))
    >>> last.x.round(6).tolist()
    [3.0, 3.0]
    """
    value, gradient = function(x)
    inverse = np.eye(len(x)) / max(1.0, float(np.linalg.norm(gradient)))
    evaluations, iteration = 1, 0
    yield Progress(0, x, value, gradient, evaluations)
    while iteration < most and np.max(np.abs(gradient)) > tolerance:
        direction = -inverse @ gradient
        slope = float(gradient @ direction)
        length, trial = 1.0, (value, gradient)
        for _ in range(40):
            try:
                trial = function(x + length * direction)
            except (ArithmeticError, ValueError):
                trial = (np.inf, gradient)  # the model left the domain of exp or log: too long a step
            evaluations += 1
            if trial[0] <= value + 1e-4 * length * slope:
                break
            length *= 0.5
        else:
            return  # rounding no longer lets the value fall
        stalled = value - trial[0] <= 1e-15 * abs(value)
        moved, change = length * direction, trial[1] - gradient
        x, (value, gradient) = x + moved, trial
        curvature = float(moved @ change)
        if curvature > 1e-12 * float(np.linalg.norm(moved) * np.linalg.norm(change)):
            if iteration == 0:
                inverse = np.eye(len(x)) * curvature / float(change @ change)
            left = np.eye(len(x)) - np.outer(moved, change) / curvature
            inverse = left @ inverse @ left.T + np.outer(moved, moved) / curvature
        iteration += 1
        yield Progress(iteration, x, value, gradient, evaluations)
        if stalled:
            return
