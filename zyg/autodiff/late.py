"""Shadows that are made where the reverse part first wants them.

The forward part makes a shadow beside each active array.  Where it does no more with it than to see parts of it, it need not
be made there: it would lie in memory all the time, one for each iteration of a loop, and be cleared long before its use.  So
it is made in the reverse of the last block that is executed exactly when the array is made, which comes before all its uses,
and its views are made again beside them.

Shadows that the forward part passes on (to calls, stacks, block arguments, as results) stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from zyg.ir.builder import Builder
from zyg.ir.core import Block, Instr, Value, uses
from zyg.ir.ops import VIEWS

if TYPE_CHECKING:
    from zyg.ir.analysis import Loop

    from .instructions import ReverseInstructions


class LateShadows:
    """The shadows of one adjoint that are made late."""

    def __init__(
        self,
        adjoint: ReverseInstructions,
        place: Callable[[Block], Block],
        follows: Callable[[Block, Block, Loop | None], bool],
    ):
        """`place`: the last block that is executed exactly when a given one is, in the same loop. `follows`: whether a block is
        executed behind another one, in the same iteration of a loop."""
        self.a = adjoint
        self.follows = follows
        self.root: dict[Value, Value] = {}  # per shadow, or view of one: the shadow
        self.made_in: dict[Value, Block] = {}  # the forward block in whose reverse a shadow is made
        self.made: dict[Value, Value] = {}
        self._find(place)

    def _find(self, place: Callable[[Block], Block]) -> None:
        a = self.a
        allocs: dict[Value, Block] = {}
        for shadow in a.shadows.values():
            seen = [shadow]
            while (definition := a.where.definition.get(seen[-1])) is not None and definition.op in VIEWS:
                seen.append(definition.operands[0])
            if definition is not None and definition.op == "alloc":
                allocs[seen[-1]] = a.where.block[seen[-1]]
                self.root.update(dict.fromkeys(seen, seen[-1]))
        passed_on = {self.root[s] for s in self._returned() if s in self.root}
        for block in a.forward_blocks:
            for instr in block.instrs:
                if instr.op not in VIEWS or instr.result not in self.root:
                    passed_on.update(self.root[v] for v in uses(instr) if v in self.root)
        wanted: dict[Value, list[Block]] = {}
        for need in a.needs.values():
            if need.primal in self.root:
                wanted.setdefault(self.root[need.primal], []).append(need.block)
        for shadow, home in allocs.items():
            at = place(home)
            if shadow not in passed_on and all(self._precedes(at, home, b) for b in wanted.get(shadow, ())):
                self.made_in[shadow] = at
        self.root = {v: s for v, s in self.root.items() if s in self.made_in}

    def _returned(self) -> list[Value]:
        """The shadows that the forward half of a call gives back."""
        a = self.a
        if a.callee is None or a.return_block is None:
            return []
        ret = a.return_block.terminator
        return [a.shadows[ret.operands[k]] for k in a.callee.array_results if ret.operands[k] in a.shadows]

    def _precedes(self, at: Block, home: Block, block: Block) -> bool:
        """Whether the reverse of `at` is executed before that of `block`, in the same iteration of the loop around `home`."""
        a = self.a
        loop = a.loop_of[home]
        if loop is not None and block not in loop.blocks or a.loop_of[at] is not loop:
            return False
        return self.follows(at, block, loop)

    def make(self, shadow: Value, resolve: Callable[[Value, Block], Value]) -> list[Instr]:
        """What makes the shadow; `resolve` gives values of the forward part."""
        at = self.made_in[shadow]
        definition = self.a.where.definition[shadow]
        lengths = [resolve(v, at) for v in definition.operands]
        b = Builder(self.a.function, Block("shadow"))
        b.position = definition.position
        self.made[shadow] = b.op("alloc", *lengths, type=shadow.type, name=shadow.name, **definition.attrs)
        assert b.block is not None
        return b.block.instrs

    def finish(self) -> None:
        """Take them out of the forward part; those of a reverse part that runs again are new each time, and so are zeros."""
        for block in self.a.forward_blocks:
            block.instrs[:] = [i for i in block.instrs if not (i.results and i.results[0] in self.root)]
        again = {fill for fill, shadow in self.a.refills if shadow in self.root}
        for block in self.a.reverse_of.values() if again else ():
            block.instrs[:] = [i for i in block.instrs if i not in again]


__all__ = ["LateShadows"]
