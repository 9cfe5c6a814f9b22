"""Program texts put into one another."""

from __future__ import annotations

import textwrap


def within(frame: str, lines: str, word: str = "W") -> str:
    """The frame, with the lines where it has `word` as a line of its own, indented as it is."""
    found = []
    for line in frame.splitlines():
        inner = line.strip()
        found.append(textwrap.indent(lines, line[: -len(inner)]) if inner == word else line)
    return "\n".join(found)
