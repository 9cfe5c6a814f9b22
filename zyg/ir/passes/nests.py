"""Nests of two counted loops, and which of their iterations meet in memory.

    for j:            outer: its header and what comes before the inner loop are `before`
        for i:        inner: a header that tests, one path through its body
        ...           `behind`

What several iterations of the outer loop have in common is *uniform*: invariants, the inner counter if it runs over the same range
each time, and what is computed from these.
"""

from __future__ import annotations

from typing import NamedTuple

from ..analysis import Loop, Loops
from ..core import Block, Function, Instr, Target, Value
from ..counters import Counter, find_counter
from ..ops import OPS
from ..records import field, record
from .places import Memory, Place

PURE = frozenset(name for name, op in OPS.items() if op.effects == "pure" and op.level == "machine")
ACCESSES = frozenset({"load", "store", "accum"})
STACKS = frozenset({"push", "pop", "reserve", "rewind"})


class Stage(NamedTuple):
    """Where in the nest an access stands: 0 before the inner loop, 1 in it, 2 behind it."""

    instr: Instr
    place: Place
    stage: int

    @property
    def writes(self) -> bool:
        return self.instr.op != "load"

    @property
    def cotangent(self) -> bool:
        return self.instr.op == "accum" and "cotangent" in self.instr.attrs


@record(eq=False)
class Nest:
    """The two loops; `again` is the edge back to the outer header, `enter` that into the inner one, `exit` that out of it."""

    outer: Counter
    inner: Counter
    header: Block
    head: Block
    body: Block
    before: list[Instr]
    behind: list[Instr]
    enter: Target
    exit: Target
    again: Target
    entering: list[Target]
    uniform: set[Value] = field(default_factory=set)  # of what is defined in the nest
    defined: set[Value] = field(default_factory=set)
    accesses: list[Stage] = field(default_factory=list)

    def is_uniform(self, v: Value) -> bool:
        return v not in self.defined or v in self.uniform


def find_nests(function: Function, memory: Memory) -> list[Nest]:
    """Those whose inner loop runs over the same range in each iteration of the outer one, and that do nothing but
    compute, load and store, and push to or pop from stacks outside of the inner loop."""
    nests = []
    for loop in Loops(function).all:
        if len(loop.children) == 1 and not loop.children[0].children:
            nest = _recognise(loop, loop.children[0])
            if nest is not None and _is_plain(nest, memory):
                nests.append(nest)
    return nests


def _recognise(outer: Loop, inner: Loop) -> Nest | None:
    """The blocks in order, if there is one path through them."""
    latch, back = inner.latch, outer.latch
    if len(inner.blocks) != 2 or latch is None or back is None or len(inner.entering) != 1:
        return None
    header, head, body = outer.header, inner.header, latch
    if body.params or body.terminator.op != "jump" or set(body.terminator.attrs) or head is body:
        return None
    if any(block.handler is not None for block in outer.blocks):
        return None
    counters = find_counter(outer), find_counter(inner)
    if counters[0] is None or counters[1] is None:
        return None
    if counters[0].block is not header or counters[0].tested is not counters[0].param or not counters[0].ends:
        return None
    if abs(counters[0].step) != 1 or counters[1].block is not head:
        return None
    inside = header.terminator.targets[1 - counters[0].leaving]
    before = _path(inside, head, header.instrs[:-1])
    exit = head.terminator.targets[counters[1].leaving]
    behind = _path(exit, header, [])
    if before is None or behind is None or inside.args:
        return None
    covered = {header, head, body, *before[1], *behind[1]}
    if covered != outer.blocks or (exit.args and exit.block is not header):
        return None
    entering = [target for _, target in outer.entering]
    return Nest(
        counters[0], counters[1], header, head, body, before[0], behind[0], before[2], exit, behind[2], entering
    )  # fmt: skip


def _path(start: Target, end: Block, instrs: list[Instr]) -> tuple[list[Instr], list[Block], Target] | None:
    """What comes on the way to `end`, with no branch: instructions, blocks, the last edge."""
    instrs, blocks, target = list(instrs), [], start
    while target.block is not end:
        block = target.block
        if block.params or block.terminator.op != "jump" or block in blocks or len(blocks) > 4:
            return None
        blocks.append(block)
        instrs += block.instrs[:-1]
        target = block.terminator.targets[0]
    return instrs, blocks, target


def _is_plain(nest: Nest, memory: Memory) -> bool:
    stages = (nest.before, nest.body.instrs[:-1], nest.behind)
    used: dict[Value, int] = {}  # per stack, where it is used
    for stage, instrs in enumerate(stages):
        for instr in instrs:
            if instr.op in ACCESSES:
                nest.accesses.append(Stage(instr, memory.place(instr), stage))
            elif instr.op in STACKS:
                if stage == 1 or used.setdefault(instr.operands[0], stage) != stage:
                    return False
            elif instr.op not in PURE:
                return False
    if any(i.op not in PURE for i in nest.head.instrs[:-1]):
        return False
    blocks = (nest.header, nest.head)
    nest.defined = {p for block in blocks for p in block.params}
    nest.defined.update(r for instrs in (*stages, nest.head.instrs) for i in instrs for r in i.results)
    if any(access.place.root in nest.defined for access in nest.accesses):
        return False
    _find_uniform(nest)
    return nest.is_uniform(nest.inner.test.result) and nest.is_uniform(nest.inner.param)


def _find_uniform(nest: Nest) -> None:
    """What is the same in each iteration of the outer loop, in as much as it is of the same iteration of the inner one."""
    uniform = nest.uniform
    uniform.update(p for p, following in zip(nest.header.params, nest.again.args, strict=True) if following is p)
    _add(nest, nest.before)
    following = nest.body.terminator.targets[0].args
    candidates = {
        p: v for p, v, first in zip(nest.head.params, following, nest.enter.args, strict=True) if nest.is_uniform(first)
    }
    known = set(uniform)
    while True:  # what is uniform if these are
        uniform.clear()
        uniform.update(known, candidates)
        _add(nest, nest.head.instrs[:-1])
        _add(nest, nest.body.instrs[:-1])
        wrong = [p for p, v in candidates.items() if not nest.is_uniform(v)]
        if not wrong:
            return
        for p in wrong:
            del candidates[p]


def _add(nest: Nest, instrs: list[Instr]) -> None:
    for instr in instrs:
        if instr.op in PURE and all(nest.is_uniform(v) for v in instr.operands):
            nest.uniform.update(instr.results)


# ------------------------------------------------------------------------------------------------ dependences


class Distances:
    """How far apart iterations are that come to the same element, for some iterations of the outer loop at once.

    `apart`: pairs of arrays that are taken to have no memory in common, which has to be tested before the loops.
    """

    def __init__(self, nest: Nest, memory: Memory):
        self.nest = nest
        self.memory = memory
        self.apart: dict[tuple[Value, Value], None] = {}

    def different(self, a: Value, b: Value, test: bool = True) -> bool:
        """Whether two different arrays have no memory in common, as far as is known, or can be tested."""
        if self.memory.distinct(a, b) or (a, b) in self.apart or (b, a) in self.apart:
            return True
        x, y = self.memory.owner(a), self.memory.owner(b)
        if not test or (x is y and x is not None):
            return False
        self.apart[a, b] = None
        return True

    def keeps_order(self, width: int) -> bool:
        """Whether `width` iterations of the outer loop may go through the inner one together: all that comes before it first,
        then the first iterations of all of them, the second ones and so on, then all that is behind it."""
        accesses = self.nest.accesses
        for a in accesses:
            for b in accesses:
                if not (a.writes or b.writes) or (a.cotangent and b.cotangent):
                    continue
                if a.place.root is not b.place.root:
                    if self.different(a.place.root, b.place.root):
                        continue
                    return False
                # a in an iteration of the outer loop, b in a later one: is a b done before an a that it meets?
                if a.stage == b.stage != 1 or b.stage > a.stage:
                    continue
                for later in range(1, width):
                    if a.stage == b.stage:
                        when = self.inner_distance(a.place, b.place, later)
                        wrong = when is not None and (when == "any" or int(when) < 0)
                    else:
                        wrong = self.meet(a.place, b.place, later)
                    if wrong:
                        return False
        return True

    def independent(self, width: int) -> bool:
        """Whether no two different iterations of the inner loop meet, in all that so many iterations of the outer one do."""
        accesses = [a for a in self.nest.accesses if a.stage == 1]
        for a in accesses:
            for b in accesses:
                if not (a.writes or b.writes):
                    continue
                if a.place.root is not b.place.root:
                    if self.different(a.place.root, b.place.root, test=False):
                        continue
                    return False
                if any(self.inner_distance(a.place, b.place, d) not in (None, 0) for d in range(1 - width, width)):
                    return False
        return True

    def inner_distance(self, a: Place, b: Place, later: int) -> int | str | None:
        """b is in the outer iteration `later` than a: by how many inner iterations later it meets a; None for never, "any" if
        that is not known."""
        if not self.memory.proper(a.root):
            return "any"
        nest, found = self.nest, None
        for n in range(len(a.terms)):
            form = self.form(a, b, n)
            if form is None:
                continue
            outer, inner, constant = form
            rest = constant + outer * nest.outer.step * later
            step = inner * nest.inner.step
            if step == 0:
                if rest != 0:
                    return None
                continue
            if rest % step or (found is not None and found != -rest // step):
                return None
            found = -rest // step
        return "any" if found is None else found

    def meet(self, a: Place, b: Place, later: int) -> bool:
        """Whether two places may be the same in any inner iterations, b's in an outer iteration that comes `later`."""
        if not self.memory.proper(a.root):
            return True
        for n in range(len(a.terms)):
            form = self.form(a, b, n)
            if form is not None and form[1] == 0 and form[2] + form[0] * self.nest.outer.step * later != 0:
                return False
        return True

    def form(self, a: Place, b: Place, n: int) -> tuple[int, int, int] | None:
        """The two counters' coefficients in dimension n, and b's constant less a's; None unless all else is the same."""
        if a.terms[n] != b.terms[n]:
            return None
        outer, inner = self.nest.outer.param, self.nest.inner.param
        coefficients = dict(a.terms[n])
        rest = [v for v in coefficients if v is not outer and v is not inner]
        if any(v in self.nest.defined and not self.invariant(v) for v in rest):
            return None
        return coefficients.get(outer, 0), coefficients.get(inner, 0), b.constants[n] - a.constants[n]

    def invariant(self, v: Value) -> bool:
        """Whether a parameter of a header never changes."""
        nest = self.nest
        if v in nest.header.params:
            return nest.again.args[nest.header.params.index(v)] is v
        if v in nest.head.params and v in nest.uniform:
            return nest.body.terminator.targets[0].args[nest.head.params.index(v)] is v
        return False


__all__ = ["ACCESSES", "PURE", "Distances", "Nest", "find_nests"]
