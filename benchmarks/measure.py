"""Timing several contenders side by side: interleaved rounds, so that what disturbs one disturbs all."""

from __future__ import annotations

import gc
import itertools
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Sampler = Callable[[int], float]  # seconds for so many repeats


@dataclass(frozen=True)
class Samples:
    """Seconds per call, one sample a round."""

    label: str
    seconds: tuple[float, ...]

    @property
    def least(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def ratio(self, other: Samples) -> float:
        """How many times as long as `other`: the median over the rounds."""
        return statistics.median(a / b for a, b in zip(self.seconds, other.seconds))


def python_sampler(function: Callable[..., Any], *args: Any) -> Sampler:
    def sample(repeats: int) -> float:
        count = itertools.repeat(None, repeats)
        begin = time.perf_counter()
        for _ in count:
            function(*args)
        return time.perf_counter() - begin

    return sample


def side_by_side(contenders: dict[str, Sampler], rounds: int, seconds: float) -> dict[str, Samples]:
    """Every contender in every round, in turn; a sample takes about `seconds`."""
    repeats = {label: _calibrate(sampler, seconds) for label, sampler in contenders.items()}
    times: dict[str, list[float]] = {label: [] for label in contenders}
    enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            for label, sampler in contenders.items():
                times[label].append(sampler(repeats[label]) / repeats[label])
    finally:
        if enabled:
            gc.enable()
    return {label: Samples(label, tuple(values)) for label, values in times.items()}


def _calibrate(sampler: Sampler, seconds: float) -> int:
    repeats = 1
    while True:
        took = sampler(repeats)
        if took >= 0.5 * seconds:
            return max(1, round(repeats * seconds / took))
        repeats = max(2 * repeats, math.floor(repeats * seconds / max(took, 1e-9) * 0.7))
