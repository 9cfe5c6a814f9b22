"""Remove loops that do nothing.

Input: any function, best after dce.  Output: a counted loop that has no effect, gives nothing to what comes after it and is left at
one place only is not entered: control goes on behind it.  (In a gradient such loops are what is left of the forward part where
the reverse part needs nothing of it, and of the reverse part where nothing was active, as in a loop that looks for a number.)

Invariant: loops of which it is not known that they end stay.
"""

from __future__ import annotations

from collections.abc import Collection

from ..analysis import Loop, Loops
from ..core import Block, Function, Target, Value
from ..counters import find_counter
from .dce import removable
from .rewriting import remove_blocks, using_blocks


def run(function: Function) -> bool:
    gone: set[Block] = set()
    used: dict[Value, set[Block]] | None = None
    for loop in reversed(Loops(function).all):  # inner before outer
        behind = _behind(loop, gone)
        if behind is None:
            continue
        used = used or using_blocks(function)
        if not _is_used(used, loop, gone):
            for source, target in loop.entering:
                target.block, target.args = behind.block, list(behind.args)
                for v in behind.args:
                    used.setdefault(v, set()).add(source)
            gone |= loop.blocks
    return bool(gone) and remove_blocks(function, {b for b in function.blocks if b not in gone})


def _behind(loop: Loop, gone: set[Block]) -> Target | None:
    """Where a loop leads that only counts."""
    if len(loop.exits) != 1 or not ends(loop, gone):
        return None
    for block in loop.blocks - gone:
        if block.handler is not None or not all(removable(i) for i in block.instrs[:-1]):
            return None
    return loop.exits[0][1]


def ends(loop: Loop, gone: Collection[Block] = ()) -> bool:
    """Whether it is known that a loop comes to its end, with those in it that are not gone."""
    if not _counts_back(loop):
        counter = find_counter(loop)
        # One that waits for a number to be met may have gone past it.
        if counter is None or not counter.ends or counter.op == "ne":
            return False
    return all(inner.header in gone or ends(inner, gone) for inner in loop.children)


def _counts_back(loop: Loop) -> bool:
    """Whether a loop of a reverse part goes on until as many rounds are over as the forward loop had."""
    for block, _ in loop.exits:
        if any(i.attrs.get("ends") and i.results == block.terminator.operands for i in block.instrs):
            return True
    return False


def _is_used(used: dict[Value, set[Block]], loop: Loop, gone: set[Block]) -> bool:
    """Whether what comes after a loop uses something of it."""
    made = [v for b in loop.blocks for v in b.params]
    made += [v for b in loop.blocks for i in b.instrs for v in i.results]
    if not set(made).isdisjoint(loop.exits[0][1].args):
        return True
    return any(block not in loop.blocks and block not in gone for v in made for block in used.get(v, ()))
