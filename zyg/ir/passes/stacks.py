"""Take off the tape what need not be on it.

Input: any function, best after licm.  Output: what every push on a stack of this function gives it, because it does not
change while the stack lives, is used directly where it was popped; so is a field of a record that equals another field.
Records lose such fields, and those that nobody uses where they are popped; dce removes stacks that nobody reads any more.  (The adjoint pass saves what it sees to
change; that something is invariant shows only when its computation has left the loop.)

Invariant: stacks that escape from the function, and tapes, are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from ..analysis import Dominators, Loops, definitions, use_counts
from ..core import Block, Const, Function, Instr, Value, uses
from ..records import field, record
from ..types import Stack, Tuple, Type
from .rewriting import replace_uses, same

_LOCAL_USES = frozenset({"push", "pop", "reserve", "rewind", "drop"})


@record
class Local:
    """A stack that only this function sees, with its cursors."""

    made: Instr
    home: Block
    values: list[Value]
    pushes: list[Instr] = field(default_factory=list)
    pops: list[tuple[Block, int, Instr]] = field(default_factory=list)


def run(function: Function) -> bool:
    stacks = find_local(function)
    if not any(stack.pushes and stack.pops for stack in stacks):
        return False
    dominators = Dominators(function)
    loops = Loops(function, dominators)
    defined = definitions(function)
    replaced: dict[Value, Value] = {}
    used = use_counts(function)
    changed = False

    def invariant(stack: Local, value: Value) -> bool:
        """Whether `value` stays what it is while `stack` lives, and is there wherever it is popped."""
        if isinstance(value, Const):
            return True
        block, instr = defined[value]
        loop = loops.of.get(block)
        if loop is not None and stack.home not in loop.blocks:
            return False
        for pop_block, index, _ in stack.pops:
            if block is not pop_block:
                if not dominators.dominates(block, pop_block):
                    return False
            elif instr is not None and block.instrs.index(instr) > index:
                return False
        return True

    for stack in stacks:
        if stack.pushes and stack.pops and all(dominators.reachable(b) for b, _, _ in stack.pops):
            changed |= _shrink(stack, replaced, partial(invariant, stack), used)
    replace_uses(function, replaced)
    return changed


def find_local(function: Function) -> list[Local]:
    """The stacks made here that nothing but pushes, pops and the like sees."""
    owner: dict[Value, Local] = {}
    cursors: list[Instr] = []
    for block, instr in function.instructions():
        if instr.op == "stack":
            owner[instr.results[0]] = Local(instr, block, [instr.results[0]])
        elif instr.op == "cursor":
            cursors.append(instr)
    if not owner:
        return []
    for instr in cursors:  # cursors of cursors do not occur
        stack = owner.get(instr.operands[0])
        if stack is not None:
            owner[instr.results[0]] = stack
            stack.values.append(instr.results[0])
    escaping: set[int] = set()
    for block in function.blocks:
        for index, instr in enumerate(block.instrs):
            for n, value in enumerate(uses(instr)):
                stack = owner.get(value)
                if stack is None:
                    continue
                if n > 0 or not (instr.op in _LOCAL_USES or instr.op == "cursor"):
                    escaping.add(id(stack))
                elif instr.op == "push":
                    stack.pushes.append(instr)
                elif instr.op == "pop":
                    stack.pops.append((block, index, instr))
    return [s for value, s in owner.items() if s.values[0] is value and id(s) not in escaping]


def _shrink(
    stack: Local, replaced: dict[Value, Value], invariant: Callable[[Value], bool], used: Mapping[Value, int]
) -> bool:
    """Find fields that are known without the stack, or that nobody wants to know, and take them out."""
    count = len(stack.pushes[0].operands) - 1
    columns = [[push.operands[1 + n] for push in stack.pushes] for n in range(count)]
    keep: list[int] = []
    for n, column in enumerate(columns):
        if not any(pop.results[n] in used for _, _, pop in stack.pops):
            continue
        twin = next((k for k in keep if all(map(same, columns[k], column))), None)
        if twin is not None:
            for _, _, pop in stack.pops:
                replaced[pop.results[n]] = pop.results[twin]
        elif all(same(v, column[0]) for v in column) and invariant(column[0]):
            for _, _, pop in stack.pops:
                replaced[pop.results[n]] = column[0]
        else:
            keep.append(n)
    if len(keep) == count or not keep:  # nothing to do here, or nothing left: then dce takes the stack away
        return len(keep) < count
    item: Type = stack.values[0].type
    assert isinstance(item, Stack) and isinstance(item.item, Tuple)
    items = tuple(item.item.items[n] for n in keep)
    for value in stack.values:
        value.type = Stack(items[0] if len(items) == 1 else Tuple(items))
    for push in stack.pushes:
        push.operands[1:] = [push.operands[1 + n] for n in keep]
    for _, _, pop in stack.pops:
        pop.results[:] = [pop.results[n] for n in keep]
    return True
