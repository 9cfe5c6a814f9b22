"""The same calls with what they were given, and what they gave, overwritten behind them: what a derivative needs of either has to
be kept."""

from __future__ import annotations

import linecache
from dataclasses import replace
from typing import Any

import numpy as np

from .case import Case
from .check import copies, outcome

# What is written, by the kind of the elements: a number for which mathematics is defined.
FILLED = {"f": "0.125", "c": "0.125", "i": "0", "b": "False", "u": "0"}


def overwriting(case: Case, drawn: dict[str, Any]) -> Case | None:
    """The case with a function that calls its function and returns copies of what that gives, for arguments such as these; None if
    there is nothing to write, or nothing that is copied."""
    expected = outcome(case.function, copies(drawn))
    lines = [f"def overwriting({', '.join(drawn)}):"]
    for name, value in drawn.items():
        if isinstance(value, np.ndarray) and value.dtype.kind not in "fc":
            lines.append(f"    {name} = {name}.copy()")  # differences are taken by moving the others
    lines += [f"    made = function({', '.join(drawn)})", f"    kept = {_copied(expected, 'made')}"]
    length = len(lines)
    for text, value in (("made", expected), *drawn.items()):
        lines += [f"    {text}" for text in _filled(value, text)]
    if isinstance(expected, Exception) or len(lines) == length:
        return None
    lines.append("    return kept")
    source, filename, space = "\n".join(lines), f"<overwriting {case}>", {"function": case.function}
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    exec(compile(source, filename, "exec"), space)
    made = replace(case, function=space["overwriting"], memory=False)
    return None if isinstance(outcome(made.function, copies(drawn)), Exception) else made


def _copied(value: Any, text: str) -> str:
    if isinstance(value, tuple):
        return f"({''.join(_copied(v, f'{text}[{i}]') + ', ' for i, v in enumerate(value))})"
    return f"{text}.copy()" if isinstance(value, np.ndarray) else text


def _filled(value: Any, text: str) -> list[str]:
    if isinstance(value, tuple):
        return [line for i, v in enumerate(value) for line in _filled(v, f"{text}[{i}]")]
    if isinstance(value, np.ndarray) and value.flags.writeable and value.size and value.dtype.kind in FILLED:
        return [f"{text}[...] = {FILLED[value.dtype.kind]}"]
    return []
