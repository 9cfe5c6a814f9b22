"""Insert `retain` and `release`, so that the memory of an array is freed when the array is dead.

Input: typed code without them.  Output: code in which each array that is made here (by `alloc`, a call, a `select`)
and each array parameter of a block is released after its last use, on every path that goes on or returns; from where control
only comes to a `raise`, nothing is: the caller frees everything.

Who owns what:
* Parameters of the function are borrowed: the caller keeps them alive.  So are views of them, what is popped from a
  stack (the stack keeps its owner until the end, unless the pop says that it takes it: attrs["owned"]), and block
  parameters that only receive such values.
* A view lives on its base: a use of the view counts as a use of the array that it was made from, and no owner is
  counted.
* Results of the function are owned by the caller.  An array that dies as an argument of a jump, as a pushed value or as
  a result is moved there; any other use of this kind retains it first.
* A `fill` that an array made here, which nobody else ever has, dies in is left out: cotangents are taken, and set to zero again.

Invariant: run once, as the last pass (`attrs["ownership"]` remembers it).
"""

from __future__ import annotations

from ..analysis import reverse_postorder
from ..core import Block, Function, Instr, Position, Target, Value, uses
from ..ops import SAME_MEMORY
from ..types import Array, Scalar
from .rewriting import remove_blocks, split_edge

_MAKES = frozenset({"alloc", "call", "pycall", "readymade", "select"})  # their array results have an owner of their own
# What takes and sets elements, and hands an array on to nobody.
_KEEPS_NONE = SAME_MEMORY | {"load", "store", "accum", "fill", "addto", "copyto", "dim", "stride", "foreign", "apply"}


def run(function: Function) -> bool:
    if "ownership" in function.attrs:
        return False
    function.attrs["ownership"] = True
    if not _has_arrays(function) and not _passes_on(function) or any(b.handler is not None for b in function.blocks):
        return False
    owners = find_owners(function)
    owned = set(owners.values())
    if not owned and not _passes_on(function):
        return False
    return _Inserter(function, owners).run()


def _has_arrays(function: Function) -> bool:
    """Whether there are any but the function's own parameters."""
    for block in function.blocks:
        for value in block.params if block is not function.blocks[0] else ():
            if isinstance(value.type, Array):
                return True
        for instr in block.instrs:
            for value in instr.results:
                if isinstance(value.type, Array):
                    return True
    return False


def _passes_on(function: Function) -> bool:
    """Whether some array is pushed or returned (else borrowed arrays need nothing)."""
    return any(
        instr.op in ("push", "return") and any(isinstance(v.type, Array) for v in instr.operands)
        for _, instr in function.instructions()
    )


def find_owners(function: Function) -> dict[Value, Value]:
    """Per array value, the value that owns its memory here; arrays that are not in the result are borrowed for good."""
    order = reverse_postorder(function)
    remove_blocks(function, set(order))
    owners: dict[Value, Value] = {}
    views: list[tuple[Value, Value]] = []
    params: dict[Value, list[Value]] = {p: [] for b in order[1:] for p in b.params if isinstance(p.type, Array)}
    for block in order:
        for instr in block.instrs:
            for result in instr.results:
                if isinstance(result.type, Array):
                    if instr.op in _MAKES or instr.attrs.get("owned"):
                        owners[result] = result
                    elif instr.op in SAME_MEMORY:
                        views.append((result, instr.operands[0]))
            for target in instr.targets:
                for param, arg in zip(target.block.params, target.args, strict=True):
                    if param in params:
                        params[param].append(arg)
    # A block parameter is owned as soon as something owned flows into it; views follow what they are made of.
    changed = True
    while changed:
        changed = False
        for view, base in views:
            if base in owners and view not in owners:
                owners[view] = owners[base]
                changed = True
        for param, incoming in params.items():
            if param not in owners and any(a in owners for a in incoming):
                owners[param] = param
                changed = True
    return owners


def _raising(function: Function) -> set[Block]:
    """The blocks from which control only comes to a `raise`, or to what a call that raises leaves unreachable."""
    found: set[Block] = set()
    grew = True
    while grew:
        before = len(found)
        for block in function.blocks:
            last = block.terminator
            if last.op in ("raise", "unreachable") or (last.targets and found.issuperset(block.successors())):
                found.add(block)
        grew = len(found) > before
    return found


class _Inserter:
    def __init__(self, function: Function, owners: dict[Value, Value]):
        self.function = function
        self.owners = owners
        self.bit: dict[Value, int] = {}
        for owner in owners.values():
            self.bit.setdefault(owner, 1 << len(self.bit))
        self.live_in: dict[Block, int] = {}
        self.predecessors = function.predecessors()
        self.raising = _raising(function)
        self.alone = self.never_shared()
        self.changed = False

    def run(self) -> bool:
        self.liveness()
        at_start: list[tuple[Block, list[Instr]]] = []  # put in last: they are uses, but no part of the analysis
        for block in list(self.function.blocks):
            self.block(block, at_start)
        for block, instrs in at_start:
            block.instrs[:0] = instrs
        return self.changed

    def mask(self, value: Value) -> int:
        owner = self.owners.get(value)
        return self.bit[owner] if owner is not None else 0

    def never_shared(self) -> int:
        """The owners that are made here and that nobody else ever has."""
        found = 0
        for _, instr in self.function.instructions():
            if instr.op == "alloc":
                found |= self.bit[instr.result]
        for _, instr in self.function.instructions():
            if instr.op == "call":  # which might give it back, or push it
                keeps = any(not isinstance(v.type, Scalar) for v in instr.results)
                keeps |= any(not isinstance(v.type, (Scalar, Array)) for v in instr.operands)
            else:
                keeps = instr.op not in _KEEPS_NONE
            if keeps:
                found &= ~self.used(instr)
        return found

    def used(self, instr: Instr) -> int:
        mask = 0
        for v in uses(instr):
            mask |= self.mask(v)
        return mask

    def liveness(self) -> None:
        """Which owners are needed at the start of each block (block parameters are made in their block)."""
        needed: dict[Block, int] = {}
        made: dict[Block, int] = {}
        for block in self.function.blocks:
            use = here = 0
            for p in block.params:
                here |= self.bit.get(p, 0)
            for instr in block.instrs:
                use |= self.used(instr) & ~here
                for r in instr.results:
                    here |= self.bit.get(r, 0)
            needed[block], made[block] = use, here
        self.made = made
        self.live_in = dict.fromkeys(self.function.blocks, 0)
        backwards = reverse_postorder(self.function)[::-1]
        changed = True
        while changed:
            changed = False
            for block in backwards:
                mask = needed[block] | self.live_out(block) & ~made[block]
                if mask != self.live_in[block]:
                    self.live_in[block] = mask
                    changed = True

    def live_out(self, block: Block) -> int:
        mask = 0
        for target in block.instrs[-1].targets:
            mask |= self.live_in[target.block]
        return mask

    # ------------------------------------------------------------------------------------------- inserting

    def block(self, block: Block, at_start: list[tuple[Block, list[Instr]]]) -> None:
        """Release after last uses inside the block, then settle its end."""
        instrs = block.instrs
        terminator = instrs[-1]
        after = self.live_out(block) | self.used(terminator)
        held = self.live_in[block] | self.made[block]  # at the end, once the releases below are in
        inserted: list[Instr] = []  # backwards
        if block not in self.raising:
            live = after
            for instr in reversed(instrs[:-1]):
                self.around(instr, live, inserted)
                live |= self.used(instr)
                for r in instr.results:
                    live &= ~self.bit.get(r, 0)
            released_first = [
                _instr("release", p, instrs[0].position)
                for p in block.params if p in self.bit and not live & self.bit[p]
            ]  # fmt: skip
            inserted += reversed(released_first)
            inserted.reverse()
            if inserted != instrs[:-1]:
                self.changed = True
                instrs[:] = [*inserted, terminator]
        else:
            self.retain_pushes(block)
        held &= after
        if block in self.raising:
            return
        if terminator.op == "return":
            self.at_return(block, terminator, held)
        else:
            for target in terminator.targets:
                if target.block not in self.raising:
                    self.on_edge(block, terminator, target, held, at_start)

    def around(self, instr: Instr, live: int, inserted: list[Instr]) -> None:
        """An instruction, what it needs before, and releases of what dies with it; `live` is what is needed after."""
        dying = self.used(instr) & ~live
        for r in instr.results:
            mask = self.bit.get(r, 0)
            if mask and not mask & live:
                inserted.append(_instr("release", r, instr.position))  # never used
        moved = 0
        before: list[Instr] = []
        if instr.op == "push":
            for v in instr.operands[1:]:
                if isinstance(v.type, Array):
                    mask = self.bit.get(v, 0)
                    if mask & dying & ~moved:
                        moved |= mask
                    else:
                        before.append(_instr("retain", v, instr.position))
        for owner in self.in_mask(dying & ~moved):
            inserted.append(_instr("release", owner, instr.position))
        if instr.op == "fill" and self.used(instr) & dying & self.alone:
            return  # nobody sees it
        inserted.append(instr)
        if instr.op == "select" and instr.results[0] in self.bit:
            inserted[-1:] = [_instr("retain", instr.results[0], instr.position), instr]
        inserted += before

    def retain_pushes(self, block: Block) -> None:
        kept: list[Instr] = []
        for instr in block.instrs:
            if instr.op == "push":
                kept += [_instr("retain", v, instr.position) for v in instr.operands[1:] if isinstance(v.type, Array)]
            kept.append(instr)
            if instr.op == "select" and instr.results[0] in self.bit:
                kept.append(_instr("retain", instr.results[0], instr.position))
        if len(kept) > len(block.instrs):
            block.instrs[:] = kept
            self.changed = True

    def at_return(self, block: Block, terminator: Instr, held: int) -> None:
        retains: list[Instr] = []
        for v in terminator.operands:
            if isinstance(v.type, Array):
                mask = self.bit.get(v, 0)
                if mask & held:
                    held &= ~mask  # moved
                else:
                    retains.append(_instr("retain", v, terminator.position))
        releases = [_instr("release", owner, terminator.position) for owner in self.in_mask(held)]
        self.insert_at_end(block, retains + releases)

    def on_edge(
        self,
        block: Block,
        terminator: Instr,
        target: Target,
        held: int,
        at_start: list[tuple[Block, list[Instr]]],
    ) -> None:
        """What the edge has to count: arguments for owned parameters, and what dies on it."""
        dying = held & ~self.live_in[target.block]
        retains: list[Instr] = []
        for param, arg in zip(target.block.params, target.args, strict=True):
            if param in self.bit:
                mask = self.bit.get(arg, 0)
                if mask & dying:
                    dying &= ~mask  # moved
                else:
                    retains.append(_instr("retain", arg, terminator.position))
        counted = retains + [_instr("release", owner, terminator.position) for owner in self.in_mask(dying)]
        if not counted:
            return
        if len(terminator.targets) == 1:
            self.insert_at_end(block, counted)
            return
        if len(self.predecessors[target.block]) == 1 and not target.block.params:
            at_start.append((target.block, counted))
        else:
            split_edge(self.function, target, terminator.position).instrs[:0] = counted
        self.changed = True

    def insert_at_end(self, block: Block, new: list[Instr]) -> None:
        if new:
            block.instrs[-1:-1] = new
            self.changed = True

    def in_mask(self, mask: int) -> list[Value]:
        return [owner for owner, bit in self.bit.items() if mask & bit] if mask else []


def _instr(op: str, value: Value, position: Position | None) -> Instr:
    return Instr(op, [value], position=position)
