"""Functions that go through elements, each by itself: in the lanes of vectors, and what is left over at once.

A function with attrs["each"] is one loop that counts up by one, whose iterations may be done in any order (ir/passes/expand.py).
It is written as a loop of vectors.  A mask says which lanes count, all but in the last round: it costs nothing that could be measured, and
what is over needs no code of its own.  On processors without masks that is gone through one by one.
"""

from __future__ import annotations

from typing import NamedTuple

from ....ir.analysis import Loops
from ....ir.core import Block, Function, Instr, Target, Value
from ....ir.passes.pairwise import is_mathematical, vectorisable
from .function import FunctionLowering
from .registry import lowering
from .vectors import VectorLowering, varying_in


class Plain(NamedTuple):
    """A loop `for counter in range(..., stop)`, of two blocks."""

    header: Block
    body: Block
    exit: Block
    counter: Value
    stop: Value


def plain_loop(function: Function) -> Plain | None:
    """The loop of a function, if it is as it was made; passes between may have made something else of it."""
    loops = Loops(function).all if len(function.blocks) > 1 else []
    if len(loops) != 1 or len(loops[0].blocks) != 2:
        return None
    header, body = loops[0].header, loops[0].latch
    if body is None or body is header or len(header.params) != 1 or len(header.instrs) != 2 or body.params:
        return None
    test, branch = header.instrs
    if test.op != "lt" or branch.op != "branch" or branch.operands != [test.result] or body.terminator.op != "jump":
        return None
    (counter,), (inside, outside) = header.params, branch.targets
    if inside.block is not body or outside.args or test.operands[0] is not counter or test.operands[1] is counter:
        return None
    step = next((i for i in body.body if i.results == body.terminator.targets[0].args), None)
    if (
        step is None
        or step.op != "add"
        or step.operands[0] is not counter
        or getattr(step.operands[1], "value", 0) != 1
    ):
        return None
    varying = varying_in(function, counter)
    if not all(_in_lanes(i) for i in body.body if not varying.isdisjoint(i.operands)):
        return None
    used_behind = {v for b in function.blocks if b not in (header, body) for i in b.instrs for v in i.operands}
    if not used_behind.isdisjoint([counter, *(r for i in body.instrs for r in i.results)]):
        return None
    return Plain(header, body, outside.block, counter, test.operands[1])


def _in_lanes(instr: Instr) -> bool:
    return instr.op in ("store", "accum") or vectorisable(instr) or is_mathematical(instr)


class EachLowering(VectorLowering):
    """Lowers one such function."""

    def lower(self, linkage: str) -> None:
        loop = plain_loop(self.function)
        assert loop is not None
        self.loop = loop
        self.prepare(self.function.attrs["each"], loop.counter)
        FunctionLowering.lower(self, linkage)

    def types_of(self, value: Value) -> list[str]:
        return ["i64"] if value is self.loop.counter else super().types_of(value)

    def arguments(self, target: Target) -> list[list[str]]:
        return FunctionLowering.arguments(self, target)  # the loop is written elsewhere: nothing varies outside of it

    def lower_block(self, block: Block) -> None:
        if block is self.loop.header:
            self.lower_loop()
        elif block is self.loop.body:
            self.phi_places[block], self.phi_names[block] = (0, []), []
        else:
            FunctionLowering.lower_block(self, block)

    def lower_loop(self) -> None:
        loop = self.loop
        self.start(self.labels[loop.header])
        self.phi_places[loop.header] = (len(self.lines), [loop.counter])
        first = "%" + self.name(loop.counter.name or "i")
        self.phi_names[loop.header] = [first]
        stop = FunctionLowering.value(self, loop.stop)
        body, exit = self.labels[loop.body], self.labels[loop.exit]
        following = self.let(f"add nsw i64 {first}, {self.width}")
        if self.lowered.masks:
            self.branch(self.let(f"icmp slt i64 {first}, {stop}"), body, exit)
            self.edges.setdefault(loop.exit, []).append((self.label, []))
            self.start(body)
            left = self.splat("i64", self.let(f"sub nsw i64 {stop}, {first}"))
            lanes = ", ".join(f"i64 {k}" for k in range(self.width))
            self.mask = self.let(f"icmp sgt {self.vector_type('i64')} {left}, <{lanes}>", "mask")
        else:
            rest = self.name("rest")
            self.branch(self.let(f"icmp sle i64 {following}, {stop}"), body, rest)
            self.start(rest)
            self.one_by_one(first, stop, exit)
            self.start(body)
        self.lower_body(first)
        self.edges[loop.header].append((self.label, [[following]]))
        self.jump(self.labels[loop.header])

    def lower_body(self, first: str) -> None:
        """The work on the elements from `first` on."""
        self.first = {self.loop.counter: first}
        self.down.clear()
        self.wide.clear()
        for instr in self.loop.body.body:
            self.lower_marked(instr)

    def one_by_one(self, first: str, stop: str, exit: str) -> None:
        """The elements that are left, without vectors."""
        one, again = self.name("one"), self.name("again")
        before = self.label
        self.jump(one)
        self.start(one)
        place = len(self.lines)
        counter = "%" + self.name("i")
        self.branch(self.let(f"icmp slt i64 {counter}, {stop}"), again, exit)
        self.edges.setdefault(self.loop.exit, []).append((self.label, []))
        self.start(again)
        self.scalar = True
        self.values[self.loop.counter] = [counter]
        for instr in self.loop.body.body:
            self.lower_marked(instr)
        self.scalar = False
        following = self.let(f"add nsw i64 {counter}, 1")
        self.lines.insert(place, f"  {counter} = phi i64 [ {first}, %{before} ], [ {following}, %{self.label} ]")
        self.jump(one)

    def lower_marked(self, instr: Instr) -> None:
        """An instruction, with its place in the source."""
        self.instr = instr
        before = len(self.lines)
        if self.scalar:
            lowering(instr.op).emit(self, instr)
        else:
            self.lower_instr(instr)
        if self.places is not None:
            self.lines[before:] = [self.places.mark(line, instr.position) for line in self.lines[before:]]
