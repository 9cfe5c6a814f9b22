"""One module of LLVM assembly as several: what LLVM's optimiser has work with, and what it would only read; each in pieces, on which
several threads work at once (workers.py).

Where a function is called from another module its linkage is external; the names are of one library, which has all of them.
What is inlined is in one piece with its caller, and so is what the optimiser sees of one another.  The pieces depend on the code
alone: it is the same on every machine of a kind.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from typing import NamedTuple

from ...ir.records import record
from .text import REFERENCE, ModuleText

# Lines, from which on functions are put into another piece; of those that the optimiser finds something in, for which LLVM takes several times as long.
PIECE, COMPUTING_PIECE = 800, 120
_HEAD = re.compile(r'define (?:internal )?(fastcc [^@]*?(@(?:"[^"]*"|[-\w$.]+))\(.*\)[^{]*)\{\n')
_CALL = re.compile(r'call [^@\n]*(@(?:"[^"]*"|[-\w$.]+))\(')  # (begins with what it is searched by)
_PLACE = re.compile(r" !dbg !\d+")


@record(eq=False)
class _Function:
    text: str
    name: str  # its symbol; empty for what is called from outside only
    head: str
    lines: int
    references: set[str]

    def only_polls(self) -> bool:
        """Whether it calls nothing else."""
        return all(r == self.name or r in _POLLS for r in self.references if r.startswith("@"))


# What the functions of a piece are like: the optimiser finds something in them; the same, but each call is soon over without it, too; they
# go through their lines about once, calling others; or they are loops in which it finds little.
COMPUTES, LIGHT, STRAIGHT, LOOPS = range(4)
_POLLS = {"@zyg_work", "@zyg_poll"}


class Piece(NamedTuple):
    text: str
    kind: int
    called: tuple[str, ...] = ()  # symbols of its functions that are called from elsewhere
    calls: tuple[str, ...] = ()  # of those of others that it calls, where it is a piece by itself
    whole: _Function | None = None  # what it is then


def split(
    module: ModuleText,
    settled: Set[str],
    inlined: Set[str] = frozenset(),
    straight: Set[str] = frozenset(),
    light: Set[str] = frozenset(),
    entry: str | None = None,
    begun: Mapping[str, Piece] = {},
    soon: bool = False,
) -> list[Piece]:
    """The assembly in pieces, those in order of their kind. `settled`: symbols of functions that need little of the optimiser, `straight`:
    of those among them that are no loops; `inlined`: of functions that are to be in one piece with those that call them; `light`: of
    others that are soon over.

    With an `entry`, the symbol of a function that is called from outside, all that does not compute, or is light, is called through
    pointers by the other pieces (`through_pointers`), so that such a piece can be replaced; if the first call is `soon` over, all
    is.  `begun`: functions that are pieces already (`by_itself`), by their symbols."""
    whole = [piece.whole for piece in begun.values() if piece.whole is not None]
    read = {id(f.text) for f in whole}
    functions = [_read(text) for text in module.functions if id(text) not in read]
    if not (whole or any(f.name in settled for f in functions)) and sum(f.lines for f in functions) < 2 * PIECE:
        return [Piece(module.text(), COMPUTES)]
    home: dict[str, int] = {}
    pieces: list[tuple[list[_Function], int]] = []
    kinds = [STRAIGHT if f.name in straight else LOOPS if f.name in settled else COMPUTES for f in functions]
    if entry is not None:
        # (What calls mathematical functions does so in vectors, when it is optimised: others, with other last bits.)
        kinds = [LIGHT if f.name in light and f.only_polls() else k for f, k in zip(functions, kinds, strict=True)]
    for kind in (COMPUTES, LIGHT, STRAIGHT, LOOPS):
        own = [f for f, of in zip(functions, kinds, strict=True) if of == kind]
        lines = COMPUTING_PIECE if kind == COMPUTES else PIECE
        for piece in _packed(_together(own, None if kind == COMPUTES else inlined), lines):
            home |= dict.fromkeys((f.name for f in piece if f.name), len(pieces))
            pieces.append((piece, kind))
    heads = {f.name: f.head for f in [*whole, *functions] if f.name}
    home |= dict.fromkeys(begun, -1)
    called = [{r for f in piece for r in f.references if home.get(r, n) != n} for n, (piece, _) in enumerate(pieces)]
    crossing = set[str]().union(*called, *(f.references & home.keys() for f in whole))
    replaced: set[str] = set()
    if entry is not None:
        crossing.add(entry)
        replaced = {
            f.name for piece, kind in pieces if soon or kind != COMPUTES for f in piece if f.name in crossing
        } | begun.keys()
    found = []
    for others, (piece, kind) in zip(called, pieces, strict=True):
        texts = [f"declare {heads[name]}" for name in sorted(others)]
        references = set[str]().union(*(f.references for f in piece), *(REFERENCE.findall(text) for text in texts))
        for f in piece:
            texts.append(f.text.replace("define internal ", "define ", 1) if f.name in crossing else f.text)
        text = through_pointers(module.part(texts, references), others & replaced)
        found.append(Piece(text, kind, tuple(f.name for f in piece if f.name in crossing)))
    return [*begun.values(), *found]


def by_itself(module: ModuleText, text: str, declarations: Mapping[str, str]) -> Piece:
    """A piece of one function that goes through its lines about once, before there is all that it calls: of others there are
    `declarations`, by their symbols, and all of them are called through pointers."""
    f = _read(text)
    others = f.references & declarations.keys() - {f.name}
    texts = [*(declarations[name] for name in sorted(others)), text.replace("define internal ", "define ", 1)]
    part = module.part(texts, f.references.union(*(REFERENCE.findall(text) for text in texts)))
    return Piece(through_pointers(part, others), STRAIGHT, (f.name,), tuple(sorted(others)), f)


def through_pointers(text: str, symbols: Set[str]) -> str:
    """Assembly in which these functions are called by what is at their pointers (`pointer`), whatever that is at the time."""
    if not symbols:
        return text
    parts = [f"{pointer(name)} = external global ptr\n" for name in sorted(symbols)]
    done = count = 0
    for call in _CALL.finditer(text):
        if call[1] in symbols:
            count += 1
            line = text.rfind("\n", 0, call.start()) + 1
            local = f'%"to {count}"'  # (no other name has a space)
            parts += (
                text[done:line],
                f"  {local} = load ptr, ptr {pointer(call[1])}\n",
                text[line : call.start(1)],
                local,
            )
            done = call.end(1)
    return "".join([*parts, text[done:]])


def pointer(symbol: str) -> str:
    """The symbol of the pointer by which a function is called."""
    name = symbol[1:].strip('"')
    return f'@"to {name}"'


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


def _packed(groups: list[list[_Function]], lines: int) -> list[list[_Function]]:
    """Groups put together to pieces of about so many lines: what is larger is one by itself, but for a few lines that
    are left, as LLVM takes a millisecond or two for any piece."""
    sized = sorted(((sum(f.lines for f in g), g) for g in groups), key=lambda pair: -pair[0])
    large = sum(size > lines for size, _ in sized)
    count = large + round(sum(size for size, _ in sized[large:]) / lines)
    pieces: list[tuple[int, list[_Function]]] = [(0, []) for _ in range(max(1, count) if groups else 0)]
    for size, group in sized:
        n = min(range(len(pieces)), key=lambda n: pieces[n][0])
        pieces[n] = pieces[n][0] + size, pieces[n][1] + group
    return [piece for _, piece in pieces]
