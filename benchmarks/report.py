"""Tables of text."""

from __future__ import annotations

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns aligned: the first to the left, the others to the right.

    >>> print(table(["what", "us"], [["power", "0.8"]]))
    what    us
    power  0.8
    """
    lines = [list(header), *(list(row) for row in rows)]
    widths = [max(len(row[i]) for row in lines) for i in range(len(header))]
    align = lambda row: [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]
    return "\n".join("  ".join(align(row)).rstrip() for row in lines)


def duration(seconds: float) -> str:
    """
    >>> duration(31e-9), duration(0.0123), duration(2.5)
    ('31.0 ns', '12.3 ms', '2.50 s')
    """
    for limit, scale, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if seconds < limit:
            value = seconds * scale
            return f"{value:.{2 if value < 10 else 1}f} {unit}"
    return f"{seconds:.2f} s"


def ratio(value: float, level: float | None = None) -> str:
    """A ratio, marked where it is past the level that is to be held."""
    mark = "" if level is None else (" ok" if value <= level else " !!")
    return f"{value:.2f}x{mark}"
