"""Timing several contenders side by side: interleaved rounds, so that what disturbs one disturbs all."""

from __future__ import annotations

import gc
import itertools
import math
import os
import pickle
import statistics
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import zyg

T = TypeVar("T")
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


def python_sampler(function: Callable[..., Any], *args: Any, clock: Callable[[], float] = time.perf_counter) -> Sampler:
    """Calls of a function. What runs in one thread can be measured by `time.process_time`, which other programs disturb less."""

    def sample(repeats: int) -> float:
        count = itertools.repeat(None, repeats)
        begin = clock()
        for _ in count:
            function(*args)
        return clock() - begin

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


def apart(measure: Callable[[], T]) -> T:
    """What `measure` gives in a process of its own, which has not run what was measured before (where there is fork)."""
    if not hasattr(os, "fork"):
        return measure()
    sys.stdout.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with os.fdopen(writing, "wb") as file:
                pickle.dump(measure(), file)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        data = file.read()
    _, status = os.waitpid(child, 0)
    if status:
        raise RuntimeError("a measurement has failed")
    return pickle.loads(data)


def _calibrate(sampler: Sampler, seconds: float) -> int:
    sampler(1)  # which may compile, and tells nothing of the next ones
    zyg.settle()
    repeats = 1
    while True:
        took = min(sampler(repeats), sampler(repeats))  # (something may have come in between)
        if took >= 0.5 * seconds:
            return max(1, round(repeats * seconds / took))
        repeats = max(2 * repeats, math.floor(repeats * seconds / max(took, 1e-9) * 0.7))
