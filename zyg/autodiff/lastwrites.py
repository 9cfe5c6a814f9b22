"""Which reads see what an array holds for good, so that the reverse part finds it there and nothing has to be copied.

An array that is filled first and only read then, such as a transposed copy, keeps what was read.  So a load needs nothing on
a stack, and what an operation was given needs no copy, if no write to its alias class can be executed afterwards, by any way
through the function.  What is made anew in each iteration of a loop is written in the iterations that follow, but that is
other memory.
"""

from __future__ import annotations

from zyg.ir.analysis import edges
from zyg.ir.core import Block, Function, Instr, Value
from zyg.ir.ops import VIEWS
from zyg.ir.types import Array

from .activity import Activity


class LastWrites:
    """Made before the forward part is changed: it remembers where reads and writes stood."""

    def __init__(self, function: Function, activity: Activity):
        self.activity = activity
        self.place: dict[Instr, tuple[Block, int]] = {}
        self.writers: dict[Value, list[tuple[Block, int]]] = {}
        self._behind: dict[tuple[Block, Block | None], set[Block]] = {}
        if not activity.written:
            return
        self.following = {block: [t.block for t in edges(block)] for block in function.blocks}
        for block in function.blocks:
            for n, instr in enumerate(block.instrs):
                self.place[instr] = block, n
        for memory, instrs in activity.writers.items():
            self.writers[memory] = [self.place[i] for i in instrs if i in self.place]
        self.made_in = self._homes(function)

    def _homes(self, function: Function) -> dict[Value, Block]:
        """Per alias class that is one new array and views of it, which no block argument hands on: the block of its `alloc`."""
        homes: dict[Value, Block] = {}
        others = {self.activity.rep(p) for b in function.blocks for p in b.params if isinstance(p.type, Array)}
        for block, instr in function.instructions():
            for r in instr.results:
                if not isinstance(r.type, Array) or instr.op in VIEWS:
                    continue
                memory = self.activity.rep(r)
                if instr.op != "alloc" or memory in homes:
                    others.add(memory)
                homes[memory] = block
        return {memory: block for memory, block in homes.items() if memory not in others}

    def lasts(self, reader: Instr, array: Value) -> bool:
        """Whether what `array` holds when `reader` looks at it is never written again."""
        memory = self.activity.rep(array)
        if memory not in self.activity.written:
            return True
        if reader not in self.place:
            return False
        block, n = self.place[reader]
        behind = self._reached_from(block, self.made_in.get(memory))
        return not any(b in behind or (b is block and k >= n) for b, k in self.writers[memory])

    def _reached_from(self, block: Block, home: Block | None) -> set[Block]:
        """The blocks that may be executed after `block`, which is one of them if it is in a loop, without passing `home`."""
        key = block, home
        if key not in self._behind:
            reached: set[Block] = set()
            work = [block]
            while work:
                for following in self.following[work.pop()]:
                    if following not in reached and following is not home:
                        reached.add(following)
                        work.append(following)
            self._behind[key] = reached
        return self._behind[key]


__all__ = ["LastWrites"]
