"""Stacks of a few records, known when compiling, lie in the function's frame.

Input: a function after the full pipeline.  Output: where all pushes on a stack together run at most so many times while it
lives, the stack says so by attrs["room"]; its pushes and pops check nothing, and `reserve`, `rewind` and `drop` of it are
gone.  A function with such stacks only needs no context, and no part of the runtime that keeps stacks.

Invariant: values do not change; stacks that escape from the function are left alone, and so are all of a function that
has loops which count in no way that is seen.
"""

from __future__ import annotations

from ..analysis import Loop, Loops
from ..core import Block, Function
from ..counters import find_counter
from ..types import Array, Stack, Type, flatten
from . import stacks

FRAME_WORDS = 256  # of all stacks in a frame: a recursive function has many frames


def run(function: Function) -> bool:
    found = stacks.find_local(function)
    if not found:
        return False
    loops = Loops(function)
    if not loops.complete:
        return False
    where = {id(instr): block for block, instr in function.instructions() if instr.op == "push"}
    left, changed = FRAME_WORDS, False
    for stack in found:
        room = _room(stack, loops, [where[id(push)] for push in stack.pushes])
        if room is None or room * _words(stack.values[0].type) > left:
            continue
        left -= room * _words(stack.values[0].type)
        stack.made.attrs = {**stack.made.attrs, "room": room}
        for instr in (*stack.pushes, *(pop for _, _, pop in stack.pops)):
            instr.attrs = {**instr.attrs, "unchecked": True}
        _drop_housekeeping(function, stack)
        changed = True
    return changed


def _room(stack: stacks.Local, loops: Loops, pushed_in: list[Block]) -> int | None:
    """How many records are pushed at most from when the stack is made to when it is made again."""
    total = 0
    for block in pushed_in:
        times = 1
        loop = loops.of.get(block)
        while loop is not None and stack.home not in loop.blocks:
            trips = _trips(loop)
            if trips is None:
                return None
            times *= trips
            loop = loop.parent
        total += times
    return total


def _trips(loop: Loop) -> int | None:
    """How often the loop is gone through at most, its last part included."""
    counter = find_counter(loop)
    return None if counter is None or counter.trips is None else counter.trips + 1


def _words(stack: Type) -> int:
    assert isinstance(stack, Stack)
    return sum(2 + 2 * leaf.ndim if isinstance(leaf, Array) else 1 for leaf in flatten(stack.item))


def _drop_housekeeping(function: Function, stack: stacks.Local) -> None:
    values = set(stack.values)
    for block in function.blocks:
        block.instrs = [i for i in block.instrs if not (i.op in _HOUSEKEEPING and i.operands[0] in values)]


_HOUSEKEEPING = frozenset({"reserve", "rewind", "drop"})
