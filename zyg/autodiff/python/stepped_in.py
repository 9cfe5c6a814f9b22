"""Generators whose steps stand in several places become part of the function, too: those that `zip` takes a step of before each step of
the last one (`stepping`).

    before:    call, iter             ->   before:    (nothing: a generator does nothing before its first step)
    first:     next; branch                first:     the code of `g` from its start, which goes on where `first` did at each `yield`
    again:     next; branch                again:     another copy, from behind the `yield` that was the last one

A copy per place, so that each goes on by a way that is known, and what the generator goes through itself stays what a loop goes through.
Which `yield` was the last one is a variable, if there are several.
"""

from __future__ import annotations

from collections.abc import Iterable

from zyg.ir.analysis import is_call_of
from zyg.ir.core import Block, Const, Function, Instr, Target, Value, clone_blocks
from zyg.ir.types import BOOL, OBJECT

from ..objects import sources
from .copied import find_values, onward

Step = tuple[Block, Instr]


class SteppedIn:
    """The steps of what one call of a generator function has made, whose code is `generator`."""

    def __init__(self, f: Function, block: Block, call: Instr, made: Instr, steps: list[Step], generator: Function):
        self.f = f
        self.block = block  # where `made` gives the iterator
        self.call = call
        self.made = made
        self.steps = steps
        self.generator = generator

    def fits(self) -> bool:
        """Whether it is known of each place if a step is the first one or a later one, and none comes behind the end."""
        heads = dict(self.steps)
        if any(head.handler is not None for head in heads):
            return False
        first = self._reached([t.block for t in onward(self.block)], heads)
        later: set[Block] = set()
        for head in heads:
            into, out = head.terminator.targets
            if self._reached([out.block], heads):
                return False
            later |= self._reached([into.block], heads)
        self.first = first
        return not first & later

    def _reached(self, work: list[Block], heads: Iterable[Block]) -> set[Block]:
        """The first of these that control comes to, unless the generator is made anew before that."""
        found: set[Block] = set()
        seen: set[Block] = set()
        while work:
            block = work.pop()
            if block in heads:
                found.add(block)
            elif block is not self.block and block not in seen:
                seen.add(block)
                work += [t.block for t in onward(block)]
        return found

    def _is_gone(self, instr: Instr) -> bool:
        iterator = self.made.result
        return instr is self.made or (is_call_of(instr, sources.leave) and instr.operands[1] is iterator)

    def take_in(self) -> None:
        f, g = self.f, self.generator
        for block in f.blocks:
            block.instrs[:] = [i for i in block.instrs if i is not self.call and not self._is_gone(i)]
        g.entry.params = []
        resumed = _separate_yields(g)
        which = Value(OBJECT, "which")  # `yield` was the last one, if there are several
        variables: dict[Value, None] = {which: None}
        for block in g.blocks:
            variables |= dict.fromkeys([*block.params, *[r for i in block.instrs for r in i.results]])
        assigned: dict[Block, list[tuple[Value, Value]]] = {}
        stands_for: dict[Block, dict[Value, Value]] = {}
        copies: list[Block] = []
        for head, step in self.steps:
            into, out = head.terminator.targets
            item = step.results[1]
            variables[item] = None
            values: dict[Value, Value] = {}
            names = head.name
            blocks = clone_blocks(g.blocks, values, lambda name, names=names: f"{names}.{name}")
            originals = dict(zip(g.blocks, blocks, strict=True))
            for block, copy in originals.items():
                stands_for[copy] = values
                end = copy.terminator
                if block in resumed:
                    given = copy.instrs[-2]
                    at = list(resumed).index(block)
                    assigned[copy] = [(item, given.operands[0]), (which, Const(at, OBJECT))]
                    copy.instrs[-2:] = [
                        Instr("jump", targets=[Target(into.block, list(into.args))], position=given.position)
                    ]
                elif end.op == "return":
                    copy.instrs[-1] = Instr("jump", targets=[Target(out.block, list(out.args))], position=end.position)
            copies += blocks
            if head in self.first:
                start = [originals[g.entry]]
            else:
                start = [originals[after] for after in resumed.values()]
            copies += _go_to(head, start, which, step)
        f.blocks += copies
        _drop_unreachable(f)
        find_values(f, variables, assigned, stands_for, crossing=True)


def _separate_yields(g: Function) -> dict[Block, Block]:
    """Let each `yield` be the last thing that its block does; the block behind it, by that block."""
    resumed: dict[Block, Block] = {}
    for block in list(g.blocks):
        while (at := next((n for n, i in enumerate(block.instrs) if i.op == "yield"), None)) is not None:
            after = Block(f"{block.name}.resumed")
            after.in_iterator = block.in_iterator
            after.instrs = block.instrs[at + 1 :]
            block.instrs[at + 1 :] = [Instr("jump", targets=[Target(after)], position=block.instrs[at].position)]
            g.blocks.insert(g.blocks.index(block) + 1, after)
            resumed[block] = after
            block = after
    return resumed


def _go_to(head: Block, start: list[Block], which: Value, step: Instr) -> list[Block]:
    """Let a place go on at one of these, by the number of the `yield`; the blocks that are there for that."""
    position = step.position
    made: list[Block] = []
    block = head
    block.instrs = []
    for number, target in enumerate(start[:-1]):
        same, truth = Value(OBJECT), Value(BOOL)
        other = Block(f"{head.name}.or.{number}")
        block.instrs = [
            Instr("is", [which, Const(number, OBJECT)], [same], {}, [], position),
            Instr("truth", [same], [truth], {}, [], position),
            Instr("branch", [truth], targets=[Target(target), Target(other)], position=position),
        ]
        made.append(other)
        block = other
    block.instrs = [Instr("jump", targets=[Target(start[-1])], position=position)]
    return made


def _drop_unreachable(f: Function) -> None:
    reached: set[Block] = set()
    work = [f.entry]
    while work:
        block = work.pop()
        if block not in reached:
            reached.add(block)
            work += [t.block for t in onward(block)]
    f.blocks[:] = [b for b in f.blocks if b in reached]


__all__ = ["SteppedIn"]
