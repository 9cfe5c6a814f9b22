"""One module of LLVM assembly as two: what LLVM's optimiser has work with, and what it would only read.

Where a function is called from the other module its linkage is external; the names are of one library, which has both.
"""

from __future__ import annotations

import re
from collections.abc import Set

from .text import ModuleText

_CALL = re.compile(r'\bcall fastcc .*?(@(?:"[^"]*"|[-\w$.]+))\(')
_HEAD = re.compile(r'define (?:internal )?(fastcc [^@]*?(@(?:"[^"]*"|[-\w$.]+))\(.*\)[^{]*)\{\n')
_PLACE = re.compile(r" !dbg !\d+")


def split(module: ModuleText, symbols: Set[str]) -> tuple[str, str]:
    """The assembly without the functions of these symbols, and that of these; empty if there are none."""
    sides: tuple[list[str], list[str]] = [], []
    heads: dict[str, str] = {}
    home: dict[str, int] = {}
    for text in module.functions:
        head = _HEAD.match(text)
        name = "" if head is None else head[2]
        if head is not None:
            heads[name] = _PLACE.sub("", head[1])
        home[name] = side = int(name in symbols)
        sides[side].append(text)
    if not sides[1]:
        return module.text(), ""
    if not sides[0]:
        return "", module.text()
    declared: list[list[str]] = []
    crossing: set[str] = set()
    for side, texts in enumerate(sides):
        called = {name for text in texts for name in _CALL.findall(text)}
        others = sorted(name for name in called if home.get(name, side) != side)
        declared.append([f"declare {heads[name]}" for name in others])
        crossing.update(others)
    found = []
    for lines, texts in zip(declared, sides, strict=True):
        for n, text in enumerate(texts):
            head = _HEAD.match(text)
            if head is not None and head[2] in crossing:
                texts[n] = text.replace("define internal ", "define ", 1)
        found.append(module.part([*lines, *texts]))
    return found[0], found[1]
