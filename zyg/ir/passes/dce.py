"""Remove what nobody needs.

Input: any function.  Output: without instructions whose results and effects are not needed, without parameters (and
arguments) that nothing needs, even around a loop, and without memory that is only written: an array or a stack made
here and never read goes together with the stores and pushes into it (and the pops, if no popped value is needed).

Invariant: whatever may raise stays, except overflow checks, which die with their value, and running out of memory.
"""

from __future__ import annotations

from ..analysis import edges
from ..core import Block, Function, Instr, Target, Value
from ..foreign import arrays_written
from ..ops import VIEWS, having
from .simplify_cfg import keep_params

REMOVABLE = having("pure", "read", "value_check")
# ops whose result is new memory, or another way to the memory of the first operand
_MAKES = frozenset({"alloc", "stack"})
_ALIASES = frozenset({*VIEWS, "cursor"})
# ops that only matter to who looks at the memory of their first operand
_WRITES = frozenset({"store", "accum", "fill", "push", "pop", "reserve", "rewind", "drop", "retain", "release"})
_COPIES = frozenset({"copyto", "addto"})
_LISTS = frozenset({"apply", "foreign"})  # ops of which `arrays_written` tells all that they do
_TOUCHES = _ALIASES | _WRITES | _COPIES | _LISTS
_ONLY_GIVES = REMOVABLE - _MAKES - _TOUCHES  # most operations: they matter to who takes what they give


def run(function: Function) -> bool:
    return _Marker(function).sweep()


def unread(function: Function) -> dict[Instr, list[int]]:
    """The `apply`s that set or add to arrays which nobody reads, beside what is wanted of them: which of their arrays these are."""
    marker = _Marker(function, in_parts=True)
    found: dict[Instr, list[int]] = {}
    for instr in marker.live:
        if instr.op == "apply":
            outs = [marker.root.get(v) for v in arrays_written(instr)]
            if places := [k for k, root in enumerate(outs) if root is not None and root not in marker.needed]:
                found[instr] = places
    return found


def removable(instr: Instr) -> bool:
    """Whether an instruction whose results nobody needs may go."""
    return instr.op in REMOVABLE or (instr.op == "call" and instr.attrs.get("writes") == ())


def _tells(instr: Instr) -> bool:
    """Whether `arrays_written` tells all that an instruction does."""
    return instr.op in _LISTS or bool(instr.attrs.get("writes"))


class _Marker:
    """Marks needed values from the roots: effects, terminators, results."""

    def __init__(self, function: Function, in_parts: bool = False):
        self.function = function
        self.in_parts = in_parts  # whether an `apply` that is needed does not need all arrays that it writes to
        self.needed: set[Value] = set()  # parameters and roots of memory
        self.live: set[Instr] = set()
        self.work: list[Value] = []
        self.made_by: dict[Value, Instr] = {}
        self.param_of: dict[Value, tuple[Block, int]] = {}
        self.incoming: dict[Block, list[Target]] = {}
        self.root: dict[Value, Value] = {}  # of memory made here
        self.writers: dict[Value, list[Instr]] = {}  # per root
        self.find()
        self.mark()

    def find(self) -> None:
        roots: list[Instr] = []
        pending: list[Instr] = []
        for block in self.function.blocks:
            for n, param in enumerate(block.params):
                self.param_of[param] = (block, n)
            for target in edges(block):
                self.incoming.setdefault(target.block, []).append(target)
            if block.handler is not None:
                self.work += block.handler.args
            for instr in block.instrs:
                for result in instr.results:
                    self.made_by[result] = instr
                op = instr.op
                if op in _ONLY_GIVES:
                    continue
                if op in _MAKES:
                    self.root[instr.results[0]] = instr.results[0]
                elif op in _TOUCHES or instr.attrs.get("writes"):
                    pending.append(instr)
                elif not removable(instr):
                    roots.append(instr)
        # A use may stand before its definition in the list of blocks; one more look settles chains of views.
        for _ in range(2):
            for instr in pending:
                if instr.op in _ALIASES and instr.operands[0] in self.root:
                    self.root[instr.results[0]] = self.root[instr.operands[0]]
        for instr in pending:
            if instr.op == "apply" and instr.attrs.get("effects"):
                roots.append(instr)
            elif _tells(instr):
                written = [self.root.get(v) for v in arrays_written(instr)]
                if None in written:
                    roots.append(instr)
                for root in filter(None, written):
                    self.writers.setdefault(root, []).append(instr)
                continue
            root = self.root.get(instr.operands[0])
            if instr.op in _ALIASES:
                if instr.op == "cursor" and root is None:
                    roots.append(instr)
            elif root is None:
                roots.append(instr)
            else:
                self.writers.setdefault(root, []).append(instr)
        for instr in roots:
            self.mark_instr(instr)
        # what the entry receives, and what a handler receives as its exception, cannot go
        self.needed.update(self.function.params)

    def mark_instr(self, instr: Instr) -> None:
        if instr in self.live:
            return
        self.live.add(instr)
        if self.in_parts and instr.op == "apply":
            outs = arrays_written(instr)
            self.work += (v for v in outs if v not in self.root)
            self.work += instr.operands[len(outs) :]
        else:
            self.work += instr.operands

    def mark(self) -> None:
        needed, live, work, made_by, roots = self.needed, self.live, self.work, self.made_by, self.root
        while work:
            value = work.pop()
            if value in needed:
                continue
            needed.add(value)
            instr = made_by.get(value)
            if instr is not None:
                if instr not in live:
                    self.mark_instr(instr)
                if value in roots:
                    work.append(roots[value])
                    for writer in self.writers.get(value, ()):
                        self.mark_instr(writer)
            elif (home := self.param_of.get(value)) is not None:
                block, n = home
                for target in self.incoming.get(block, ()):
                    shift = len(block.params) - len(target.args)  # 1 for a handler edge: its first is the exception
                    if n >= shift:
                        work.append(target.args[n - shift])

    def sweep(self) -> bool:
        changed = False
        needed, live = self.needed, self.live
        handlers = {b.handler.block for b in self.function.blocks if b.handler is not None}
        for block in self.function.blocks:
            kept = [i for i in block.instrs if i in live]
            if len(kept) < len(block.instrs):
                block.instrs[:] = kept
                changed = True
            if block.params and block is not self.function.entry and block not in handlers:
                keep = [n for n, p in enumerate(block.params) if p in needed]
                if len(keep) < len(block.params):
                    keep_params(block, keep, self.incoming.get(block, ()))
                    changed = True
        return changed
