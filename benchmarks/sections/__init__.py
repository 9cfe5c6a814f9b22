"""The sections of the benchmark, in the order in which they run."""

from __future__ import annotations

from . import calls, first, growth, programs
from .settings import Settings

SECTIONS = {"calls": calls.run, "programs": programs.run, "growth": growth.run, "first": first.run}

__all__ = ["SECTIONS", "Settings", "calls", "first", "growth", "programs"]
