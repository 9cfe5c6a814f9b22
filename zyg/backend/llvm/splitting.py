"""One module of LLVM assembly as several: what LLVM's optimiser has work with, and what it would only read; each in pieces, on which
several threads work at once (workers.py).

Where a function is called from another module its linkage is external; the names are of one library, which has all of them.
What is inlined is in one piece with its caller, and so is what the optimiser sees of one another.  The pieces depend on the code
alone: it is the same on every machine of a kind.
"""

from __future__ import annotations

import re
from collections.abc import Set

from ...ir.records import record
from .text import REFERENCE, ModuleText

PIECE = 800  # lines, from which on functions are put into another piece
_HEAD = re.compile(r'define (?:internal )?(fastcc [^@]*?(@(?:"[^"]*"|[-\w$.]+))\(.*\)[^{]*)\{\n')
_PLACE = re.compile(r" !dbg !\d+")


@record(eq=False)
class _Function:
    text: str
    name: str  # its symbol; empty for what is called from outside only
    head: str
    lines: int
    references: set[str]


def split(module: ModuleText, settled: Set[str], inlined: Set[str] = frozenset()) -> list[tuple[str, bool]]:
    """The assembly in pieces, and of each whether its functions are among the settled ones, which need little of the optimiser;
    the others come first. `inlined`: symbols of functions that are to be in one piece with those that call them."""
    functions = [_read(text) for text in module.functions]
    if not any(f.name in settled for f in functions) and sum(f.lines for f in functions) < 2 * PIECE:
        return [(module.text(), False)]
    home: dict[str, int] = {}
    pieces: list[tuple[list[_Function], bool]] = []
    for side in (False, True):
        own = [f for f in functions if (f.name in settled) == side]
        for piece in _packed(_together(own, inlined if side else None)):
            home |= dict.fromkeys((f.name for f in piece if f.name), len(pieces))
            pieces.append((piece, side))
    heads = {f.name: f.head for f in functions if f.name}
    called = [{r for f in piece for r in f.references if home.get(r, n) != n} for n, (piece, _) in enumerate(pieces)]
    crossing = set[str]().union(*called)
    found = []
    for others, (piece, side) in zip(called, pieces, strict=True):
        texts = [f"declare {heads[name]}" for name in sorted(others)]
        references = set[str]().union(*(f.references for f in piece), *(REFERENCE.findall(text) for text in texts))
        for f in piece:
            texts.append(f.text.replace("define internal ", "define ", 1) if f.name in crossing else f.text)
        found.append((module.part(texts, references), side))
    return found


def _read(text: str) -> _Function:
    head = _HEAD.match(text)
    name, what = ("", "") if head is None else (head[2], _PLACE.sub("", head[1]))
    return _Function(text, name, what, text.count("\n"), set(REFERENCE.findall(text)))


def _together(functions: list[_Function], inlined: Set[str] | None) -> list[list[_Function]]:
    """Groups of functions that have to be in one piece: those that call one another, or only what is `inlined`."""
    group = {f.name: n for n, f in enumerate(functions)}
    for f in functions:
        for name in f.references & group.keys() if inlined is None else f.references & inlined & group.keys():
            one, other = group[f.name], group[name]
            if one != other:
                group |= {of: one for of, n in group.items() if n == other}
    members: dict[int, list[_Function]] = {}
    for f in functions:
        members.setdefault(group[f.name], []).append(f)
    return list(members.values())


def _packed(groups: list[list[_Function]]) -> list[list[_Function]]:
    """Groups put together to pieces of about as many lines as a piece has; what is larger is one by itself."""
    pieces: list[list[_Function]] = []
    lines: list[int] = []
    for group in sorted(groups, key=lambda g: -sum(f.lines for f in g)):
        size = sum(f.lines for f in group)
        room = next((n for n, taken in enumerate(lines) if taken + size <= PIECE), None)
        if room is None:
            pieces.append([])
            lines.append(0)
            room = -1
        pieces[room] += group
        lines[room] += size
    return pieces
