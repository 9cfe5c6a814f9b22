"""Move what does not change in a loop out of it.

Input: loops with preheaders (loop_simplify).  Output: pure instructions with invariant operands stand in the
preheader of the outermost loop in which they are invariant.  Instructions that may fail (guards, checked arithmetic,
integer division, loads) move only from the header, where nothing that could be seen comes before them: then they run
whenever the loop is entered.

Invariant: no instruction with an effect moves past another.
"""

from __future__ import annotations

from ..analysis import Loop, Loops
from ..core import Block, Const, Function, Instr, Value, array_type
from ..ops import OPS, having
from ..types import is_int

_PURE = frozenset(
    name for name, op in OPS.items() if op.effects == "pure" and op.level == "machine" and name != "undefined"
)
# Effects that a guard or a load may not move across; what only makes or reads something is none.
_QUIET = having("pure", "read") | {"poll", "cursor", "stack"}
_FAILING = having("check", "value_check")
_WRITES_ARRAYS = frozenset({"store", "accum", "fill", "copyto", "addto", "apply", "call", "pycall", "foreign"})


def run(function: Function) -> bool:
    if len(function.blocks) == 1:
        return False
    loops = Loops(function)
    changed = False
    position = {b: n for n, b in enumerate(loops.dominators.order)} if loops.all else {}
    for loop in reversed(loops.all):  # inner before outer, so that what is moved can move on
        preheader = loop.preheader
        if preheader is not None:
            changed |= hoist(loop, preheader, sorted(loop.blocks, key=position.__getitem__))
    return changed


def hoist(loop: Loop, preheader: Block, blocks: list[Block]) -> bool:
    varying: set[Value] = set()
    writes = False
    for block in blocks:
        varying.update(block.params)
        for instr in block.instrs:
            varying.update(instr.results)
            writes = writes or instr.op in _WRITES_ARRAYS
    moved: list[Instr] = []
    for block in blocks:
        certain = block is loop.header  # whether the instruction runs first in every round
        kept = []
        for instr in block.instrs:
            op = instr.op
            movable = op in _PURE and (certain or not _may_trap(instr))
            if certain and not movable:
                movable = op in _FAILING or (op == "load" and not writes)
            if movable:
                for v in instr.operands:
                    if v in varying:
                        movable = False
                        break
            if movable:
                if "nsw" in instr.attrs:  # promised for where it stood
                    instr.attrs = {k: v for k, v in instr.attrs.items() if k != "nsw"}
                moved.append(instr)
                varying.difference_update(instr.results)
                continue
            certain = certain and op in _QUIET
            kept.append(instr)
        if len(kept) < len(block.instrs):
            block.instrs[:] = kept
    if moved:
        preheader.instrs[-1:-1] = moved
    return bool(moved)


def _may_trap(instr: Instr) -> bool:
    """Integer division by zero, and of the smallest integer by -1, stops the processor; an array whose strides do not allow it is not
    seen in another shape."""
    if instr.op == "reshape":
        return array_type(instr.operands[0]).layout != "C"
    if instr.op not in ("floordiv", "mod"):
        return False
    divisor = instr.operands[1]
    return is_int(divisor.type) and not (isinstance(divisor, Const) and divisor.value not in (0, -1))
