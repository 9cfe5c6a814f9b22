"""The bytes of a code object: instructions, where they come from, and its regions with a handler.

The formats are described in CPython's InternalDocs (`code_objects.md`, `exception_handling.md`). The package `bytecode` writes them, too, by
an object for each instruction, which took a quarter of emission; tests compare what comes out.
"""

from __future__ import annotations

import dis
from collections.abc import Iterable
from functools import lru_cache

# (line, last line, column, last column), the last three None if only the line is known
Location = tuple[int, int | None, int | None, int | None]

_EXTENDED = dis.opmap["EXTENDED_ARG"]
_MOST = 8  # units of an entry of the line table
_WITHOUT_COLUMNS, _LONG = 13, 14
# The last column that a short entry of a line table holds. Where one ends later, only its line is told: what is longer in the table than
# the code is read as more entries, behind whose end tracing and profiling write.
_LAST_COLUMN = 127


@lru_cache(8192)
def unit(number: int, arg: int, extended: int, caches: int) -> bytes:
    """An instruction with its caches; `extended`: how many bytes of the argument come before it."""
    before = [part for n in range(extended, 0, -1) for part in (_EXTENDED, arg >> 8 * n & 255)]
    return bytes([*before, number, arg & 255]) + bytes(2 * caches)


def line_table(first_line: int, runs: Iterable[tuple[int, Location]]) -> bytes:
    """Of the units that are from a place, in order; neighbours are from different places."""
    table = bytearray()
    line = first_line
    for units, location in runs:
        while units > 0:
            size = min(units, _MOST)
            table += _entry(size, location[0] - line, location)
            line = location[0]
            units -= size
    return bytes(table)


@lru_cache(4096)
def _entry(units: int, delta: int, location: Location) -> bytes:
    line, last_line, column, end = location
    head = lambda form: 128 | form << 3 | units - 1
    if column is None or end is None or last_line is None or (last_line == line and end > _LAST_COLUMN):
        return bytes([head(_WITHOUT_COLUMNS), *_signed(delta)])
    if last_line == line and delta == 0 and column < 72 and 0 <= end - column <= 15:
        return bytes([head(column >> 3), (column & 7) << 4 | end - column])
    if last_line == line and delta in (1, 2) and column <= end:
        return bytes([head(10 + delta), column, end])
    long = [*_signed(delta), *_number(last_line - line), *_number(column + 1), *_number(end + 1)]
    return bytes([head(_LONG), *long])


def _number(value: int) -> list[int]:
    """Six bits at a time, the least first; all but the last are marked."""
    parts = [value & 63]
    while value := value >> 6:
        parts[-1] |= 64
        parts.append(value & 63)
    return parts


def _number_from_the_top(value: int) -> list[int]:
    """The same, the least bits last."""
    parts = [value & 63]
    while value := value >> 6:
        parts.append(64 | value & 63)
    return parts[::-1]


def _signed(value: int) -> list[int]:
    return _number(-value << 1 | 1 if value < 0 else value << 1)


def exception_table(entries: Iterable[tuple[int, int, int, int, bool]]) -> bytes:
    """Of regions: where one begins and ends, its handler, the depth of the stack there, and whether the place of the exception is put
    on it."""
    table = bytearray()
    for start, end, target, depth, with_place in entries:
        first, *rest = _number_from_the_top(start)
        table += bytes([first | 128, *rest])
        for value in (end - start, target, depth << 1 | with_place):
            table += bytes(_number_from_the_top(value))
    return bytes(table)


__all__ = ["Location", "exception_table", "line_table", "unit"]
