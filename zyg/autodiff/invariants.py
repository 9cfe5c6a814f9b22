"""Loads that a loop does not change are taken out of it before it is differentiated.

Input: a function of typed SSA whose loops have preheaders.  Output: an element that a loop reads in each of its iterations,
at a place and of an array that it does not change, is loaded once, before the loop.

So it is saved once for the reverse part, not once per iteration; and what the iterations add to its cotangent adds up in a
register, not in the shadow.  What stands before the loop runs even if the loop has no iteration, and before checks within it:
so the load asks first whether it is in bounds, and gives zero if not, which nobody uses then.  `ranges` finds most of these
questions answered.
"""

from __future__ import annotations

from collections.abc import Iterable

from zyg.ir.analysis import Dominators, Loop, Loops, definitions
from zyg.ir.builder import Builder
from zyg.ir.core import Block, Const, Function, Instr, Module, Target, Value, const
from zyg.ir.ops import OPS, VIEWS
from zyg.ir.passes import dce, fold, loop_simplify, ranges, simplify_cfg
from zyg.ir.passes.rewriting import replace_uses
from zyg.ir.types import F32, F64, Array

from .activity import Aliases, Summary

# What is computed anew before the loop, to find the place of an element.  Not views: the checks of their indices stay inside.
_PLACES = frozenset({"stop", "dim", "add", "sub", "mul", "cast", "select", "lt", "le", "gt", "ge"})
_ELEMENTS = frozenset({"load", "store", "accum"})


def hoist_loads(function: Function, module: Module, summaries: dict[str, Summary]) -> bool:
    if not any(instr.op == "load" and instr.result.type in (F64, F32) for _, instr in function.instructions()):
        return False
    loops = Loops(function)
    if not loops.all:
        return False
    hoisted = _Hoisting(function, module, summaries, loops).run()
    if hoisted:
        fold.run(function)  # lengths of arrays that are made here
        ranges.run(function)
        fold.run(function)
        simplify_cfg.run(function)
        loop_simplify.run(function)
    return hoisted


class _Hoisting:
    def __init__(self, function: Function, module: Module, summaries: dict[str, Summary], loops: Loops):
        self.function = function
        self.loops = loops
        self.dominators: Dominators = loops.dominators
        self.aliases = Aliases(function, module, summaries)
        self.made = definitions(function)
        self.shared = self._shared()
        self.writes = {loop: self._written(loop) for loop in loops.all}
        self.replaced: dict[Value, Value] = {}
        self.known: dict[object, Value] = {}  # what has been hoisted, by its preheader, array and indices

    def _shared(self) -> set[Value]:
        """The classes with memory that is not made here: two of them may be the same memory."""
        local: set[Value] = set()
        other: set[Value] = set(self.function.params)
        for block in self.function.blocks:
            for instr in block.instrs:
                if instr.op == "alloc":
                    local.update(instr.results)
                elif instr.op not in VIEWS and instr.op != "select":
                    other.update(v for v in instr.results if isinstance(v.type, Array))
        return {self.aliases.find(v) for v in other if isinstance(v.type, Array)}

    def _written(self, loop: Loop) -> set[Value]:
        """The classes that a loop may write to."""
        written: set[Value] = set()
        for block in loop.blocks:
            for instr in block.instrs:
                op = instr.op
                if op in ("store", "accum"):
                    written.add(self.aliases.find(instr.operands[0]))
                elif op == "alloc" or op in VIEWS or op in ("load", "dim", "stride", "select", "same", "overlap"):
                    continue
                elif OPS[op].effects != "pure":
                    # Whatever it is given, and what is not made here.
                    written.update(self.aliases.find(v) for v in instr.operands if isinstance(v.type, Array))
                    if op in ("call", "pycall"):
                        written |= self.shared
        return written

    def run(self) -> bool:
        for block in list(self.function.blocks):
            loop = self.loops.of.get(block)
            if loop is None or loop.latch is None or not self.dominators.dominates(block, loop.latch):
                continue
            for instr in list(block.instrs):
                if instr.op == "load" and instr.result.type in (F64, F32):
                    self._hoist(instr, loop)
        replace_uses(self.function, self.replaced)
        if self.replaced:
            dce.run(self.function)
        return bool(self.replaced)

    def _hoist(self, load: Instr, loop: Loop) -> None:
        """Before the outermost loop that it can leave."""
        best: Loop | None = None
        around: Loop | None = loop
        while around is not None and around.preheader is not None and self._is_invariant(load, around):
            best, around = around, around.parent
        if best is not None:
            self.replaced[load.result] = self._load_before(best, load)

    def _is_invariant(self, load: Instr, loop: Loop) -> bool:
        array = self.aliases.find(load.operands[0])
        written = self.writes[loop]
        if array in written or (array in self.shared and written & self.shared):
            return False
        return all(self._can_leave(v, loop, 8) for v in load.operands)

    def _can_leave(self, v: Value, loop: Loop, budget: int) -> bool:
        """Whether a value is made outside of the loop, or can be made there."""
        if isinstance(v, Const) or v not in self.made:
            return True
        block, instr = self.made[v]
        if block not in loop.blocks:
            return True
        if budget == 0 or instr is None or instr.op not in _PLACES:
            return False
        return all(self._can_leave(o, loop, budget - 1) for o in instr.operands)

    # ---------------------------------------------------------------------------------------- rewriting

    def _load_before(self, loop: Loop, load: Instr) -> Value:
        preheader = loop.preheader
        assert preheader is not None
        b = Builder(self.function, Block("place"))
        b.position = load.position
        copies: dict[Value, Value] = {}
        array, *indices = (self._outside(v, loop, b, copies) for v in load.operands)
        key = (loop, array, *((i.value if isinstance(i, Const) else i) for i in indices))
        if key in self.known:
            return self.known[key]
        inside = self._in_bounds(b, array, indices)
        assert b.block is not None and b.block is not preheader
        result = Value(load.result.type, load.result.name)
        if isinstance(inside, Const) and inside.value:
            preheader.instrs[-1:-1] = [
                *b.block.instrs,
                Instr("load", [array, *indices], [result], {}, [], load.position),
            ]
        else:
            enter = preheader.instrs.pop()
            preheader.instrs.extend(b.block.instrs)
            element, joined = Block(f"{loop.header.name}.load"), Block(f"{loop.header.name}.loaded")
            loaded = Value(load.result.type, load.result.name)
            zero = const(0.0, load.result.type)
            preheader.instrs.append(Instr("branch", [inside], [], {}, [Target(element), Target(joined, [zero])]))
            element.instrs = [
                Instr("load", [array, *indices], [loaded], {}, [], load.position),
                Instr("jump", [], [], {}, [Target(joined, [loaded])]),
            ]
            joined.params = [result]
            joined.instrs = [enter]
            at = self.function.blocks.index(preheader)
            self.function.blocks[at + 1 : at + 1] = [element, joined]
            self._note((element, joined), loop.parent)
            loop.entering[:] = [(joined, enter.targets[0])]
        self.made[result] = (loop.entering[0][0], None)
        self.known[key] = result
        return result

    def _note(self, blocks: Iterable[Block], parent: Loop | None) -> None:
        """The new blocks are in the loops around."""
        while parent is not None:
            parent.blocks.update(blocks)
            parent = parent.parent

    def _outside(self, v: Value, loop: Loop, b: Builder, copies: dict[Value, Value]) -> Value:
        if v in self.replaced:
            return self.replaced[v]
        if isinstance(v, Const) or v not in self.made or self.made[v][0] not in loop.blocks:
            return v
        if v not in copies:
            _, instr = self.made[v]
            assert instr is not None
            operands = [self._outside(o, loop, b, copies) for o in instr.operands]
            attrs = {k: a for k, a in instr.attrs.items() if k != "nsw"}  # promised for where it stood
            copies[v] = Value(v.type, v.name)
            b.append(Instr(instr.op, operands, [copies[v]], attrs, [], instr.position))
        return copies[v]

    def _in_bounds(self, b: Builder, array: Value, indices: list[Value]) -> Value:
        inside: Value = const(True)
        for axis, index in enumerate(indices):
            length = b.op("dim", array, axis=axis)
            for test in (b.op("ge", index, const(0)), b.op("lt", index, length)):
                inside = test if isinstance(inside, Const) else b.op("and", inside, test)
        return inside


__all__ = ["hoist_loads"]
