"""Loops in several versions: one per kind of the numbers and arrays that they carry round.

`total = 0` before a loop that adds float32 elements, or rows, is a Python int in the first round and a np.float32 or an array in all
others. Joined they would be a choice by number, told apart in each round. So what does not meet (meeting.py) leads to nodes
of its own inside of a loop, and the loop for the int is one that is left after a round. This is the iterative type analysis
and extended message splitting of Chambers and Ungar (1990).

The versions of a block are those of the loops around it, times its own if it begins with a variable that such a loop carries.
Among the versions of a loop there are no ways back, so that each is a loop with one entry; what would be a way back is a join.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zyg.ir.core import Block
from zyg.ir.records import field, record

from .meeting import join_numbers
from .values import Abstract, ArrayValue, Number, is_number, option_kind

if TYPE_CHECKING:
    from .frames import Frame, Node

MAX_VERSIONS = 3  # of a block, beside the first one on each way to it


@record(eq=False)
class Versions:
    """Those of a block, where all that comes before is the same: for which values, by slot, and from which there are ways to which."""

    block: Block
    values: list[dict[int, Abstract]] = field(default_factory=list)
    ways: list[set[int]] = field(default_factory=list)

    def choose(self, values: dict[int, Abstract], own: int | None, full: bool) -> int:
        """The one for these values, on a way from version `own` of this loop, or from outside of it."""
        fitting = [n for n, known in enumerate(self.values) if _meet(known, values)]
        if own is None:
            found = fitting[0] if fitting else 0 if full else len(self.values)
        else:
            forwards = [n for n in fitting if own not in self.reached(n)]
            found = own if own in fitting else next(iter(forwards), own if fitting or full else len(self.values))
        if found == len(self.values):
            self.values.append({})
            self.ways.append(set())
        if own not in (None, found):
            self.ways[own].add(found)
        for n, v in values.items():
            self.values[found].setdefault(n, v)
        return found

    def reached(self, version: int) -> set[int]:
        found, work = {version}, [version]
        while work:
            new = self.ways[work.pop()] - found
            found |= new
            work.extend(new)
        return found


def _meet(known: dict[int, Abstract], values: dict[int, Abstract]) -> bool:
    for n, v in values.items():
        other = known.get(n)
        if other is None or other is v:
            continue
        if isinstance(v, ArrayValue) or isinstance(other, ArrayValue):
            if option_kind(v) != option_kind(other):
                return False
        elif (_numpys(v) or _numpys(other)) and join_numbers([other, v]) is None:
            return False
    return True


def _numpys(v: Abstract) -> bool:
    return isinstance(v, Number) and v.numpy


def goes_round(source: Node, header: Node, loop: set[Block]) -> bool:
    """Whether a way to the header of a loop comes from the same version of the loop."""
    return source.block in loop and all(source.versions.get(v) == n for v, n in header.versions.items())


def version_of(frame: Frame, source: Node, block: Block, place: Any, slots: list[Abstract]) -> dict[Versions, int]:
    """In which versions of loops, and of the block, the node of a block is that `source` goes to; `place` tells the iterations of
    unrolled loops."""
    carried = frame.prepared.carried.get(block)
    if carried is None:
        return {}
    loops = frame.prepared.loops
    around = {v: n for v, n in source.versions.items() if v.block is not block and block in loops.get(v.block, ())}
    versions = frame.versions.setdefault((block, place, *around.items()), Versions(block))
    values = {n: slots[n] for n in carried if isinstance(slots[n], ArrayValue) or is_number(slots[n])}
    full = frame.extra.get(block, 0) >= MAX_VERSIONS
    before = len(versions.values)
    chosen = versions.choose(values, source.versions.get(versions) if block in loops else None, full)
    if chosen == before > 0:
        frame.extra[block] = frame.extra.get(block, 0) + 1
    return {**around, versions: chosen}
