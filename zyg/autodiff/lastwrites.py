"""Which loads see what their array holds for good: elements that the reverse part may read again.

An array that is filled first and only read then, such as a transposed copy, keeps what was read.  So a load needs nothing on
a stack if no write to its alias class can be executed after it, by any way through the function.
"""

from __future__ import annotations

from zyg.ir.analysis import edges
from zyg.ir.core import Block, Function, Instr, Value

from .activity import Activity


class LastWrites:
    """Made before the forward part is changed: it remembers where reads and writes stood."""

    def __init__(self, function: Function, activity: Activity):
        self.activity = activity
        self.place: dict[Instr, tuple[Block, int]] = {}
        self.writers: dict[Value, list[tuple[Block, int]]] = {}
        self._behind: dict[Block, set[Block]] = {}
        if not any(instr.op == "load" for _, instr in function.instructions()):
            return
        for block in function.blocks:
            for n, instr in enumerate(block.instrs):
                self.place[instr] = block, n
        for memory, instrs in activity.writers.items():
            self.writers[memory] = [self.place[i] for i in instrs if i in self.place]

    def lasts(self, load: Instr) -> bool:
        """Whether what `load` reads is never written again."""
        memory = self.activity.rep(load.operands[0])
        if memory not in self.activity.written:
            return True
        if load not in self.place:
            return False
        block, n = self.place[load]
        behind = self._reached_from(block)
        return not any(b in behind or (b is block and k > n) for b, k in self.writers[memory])

    def _reached_from(self, block: Block) -> set[Block]:
        """The blocks that may be executed after `block`; it is one of them if it is in a loop."""
        if block not in self._behind:
            reached: set[Block] = set()
            work = [block]
            while work:
                for target in edges(work.pop()):
                    if target.block not in reached:
                        reached.add(target.block)
                        work.append(target.block)
            self._behind[block] = reached
        return self._behind[block]


__all__ = ["LastWrites"]
