"""The sections of the benchmark, in the order in which they run."""

from __future__ import annotations

from . import calls, dynamic, first, growth, programs
from .settings import Settings

SECTIONS = {
    "calls": calls.run,
    "programs": programs.run,
    "growth": growth.run,
    "dynamic": dynamic.run,
    "first": first.run,
}

__all__ = ["SECTIONS", "Settings", "calls", "dynamic", "first", "growth", "programs"]
