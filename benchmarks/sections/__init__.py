"""The sections of the benchmark, in the order in which they run."""

from __future__ import annotations

from . import (
    adbench,
    calls,
    compiling,
    dynamic,
    dynamic_first,
    dynamic_second,
    elementwise,
    first,
    growth,
    linalg,
    programs,
    whole_arrays,
)
from .settings import Settings

SECTIONS = {
    "calls": calls.run,
    "programs": programs.run,
    "growth": growth.run,
    "dynamic": dynamic.run,
    "elementwise": elementwise.run,
    "linalg": linalg.run,
    "whole-arrays": whole_arrays.run,
    "adbench": adbench.run,
    "first": first.run,
    "dynamic-first": dynamic_first.run,
    "dynamic-second": dynamic_second.run,
    "compiling": compiling.run,
}

__all__ = ["SECTIONS", "Settings", "programs"]
