"""Where the Python back end keeps values: fast locals, shared by values that are not needed at the same time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..ir.analysis import Liveness
from ..ir.core import Block, Function, Value, uses
from ..ir.core import Instr as Operation

# Their results are copies of what lives elsewhere, whatever their name.
_FETCHES = frozenset({"get_cell", "free_cell", "new_cell", "global", "name"})


def variable_name(value: Value, maker: Operation | None) -> str:
    """The Python variable that a value is kept in; empty for scratch values."""
    return "" if maker is not None and maker.op in _FETCHES else value.name


def ends_in_next(block: Block, counts: Mapping[Value, int]) -> bool:
    """Whether the block ends in `more, item = next it; branch more`, where `item` counts only if there is more."""
    if len(block.instrs) < 2:
        return False
    step, end = block.instrs[-2:]
    if step.op != "next" or end.op != "branch" or end.operands[0] is not step.results[0]:
        return False
    more, item = step.results
    return item not in end.targets[1].args and counts[more] == 1


def candidates(label: str) -> Iterator[str]:
    """Names for slots of a variable; of scratch slots, if it has no name."""
    if label:
        yield label
    number = 0
    while True:
        number += 1
        yield f"{label}.{number}" if label else f".t{number}"


class Slots:
    """Gives each value that needs one a fast local, so that values which live at the same time have different ones.

    Classes of values that share a slot are built by joining block parameters with their arguments (Chaitin's
    aggressive coalescing); classes that are not live together share a slot if they belong to the same variable, or if
    both are scratch.  Sets of values are integers.
    """

    def __init__(
        self,
        function: Function,
        on_stack: set[Value],
        makers: dict[Value, Operation],
        counts: Mapping[Value, int],
        taken: set[str],
    ):
        self.function = function
        self.counts = counts
        self.live = Liveness(function)
        self.makers = makers
        self.taken = taken
        self.name_of: dict[Value, str] = {}
        # scratch slots, emptied when their value is dead
        self.scratch: set[str] = set()
        for block in function.blocks:
            for value in (*block.params, *(r for i in block.instrs for r in i.results)):
                if value not in self.live.bit:
                    self.live.bit[value] = len(self.live.values)
                    self.live.values.append(value)
        count = len(self.live.values)
        self.conflicts = [0] * count  # each pair may be noted with one of the two
        self.members = [1 << n for n in range(count)]
        self.parent = list(range(count))
        self.label = [variable_name(v, makers.get(v)) for v in self.live.values]
        for block in function.blocks:
            if block.handler is not None:
                self.label[self.live.bit[block.handler.block.params[0]]] = ""
        self._find_conflicts()
        self._coalesce()
        self._assign(on_stack)

    def mask(self, values: Any) -> int:
        bit = self.live.bit
        result = 0
        for v in values:
            if v in bit:
                result |= 1 << bit[v]
        return result

    def throughout(self, block: Block) -> int:
        """What the block's handler needs, which is live all through the block."""
        handler = block.handler
        if handler is None:
            return 0
        return self.mask(handler.args) | self.live.in_mask.get(handler.block, 0)

    def _find_conflicts(self) -> None:
        bit, conflicts = self.live.bit, self.conflicts
        for block in self.function.blocks:
            kept = self.throughout(block)
            live = self.live.out_mask.get(block, 0) | kept
            for target in block.successors():
                # An interrupt may come after the copies of an edge: the handler's values must still be there.
                for param, arg in zip(target.block.params, target.args):
                    conflicts[bit[param]] |= kept & ~self.mask((arg,))
            for instr in reversed(block.instrs):
                results = self.mask(instr.results)
                for r in instr.results:
                    conflicts[bit[r]] |= live | results
                if instr is block.instrs[-2:][0] and ends_in_next(block, self.counts):
                    # The item is stored on the way into the loop only: what the way out needs may sit in its slot.
                    body = block.successors()[0]
                    into = self.live.in_mask.get(body.block, 0) | self.mask(body.args) | kept
                    conflicts[bit[instr.results[1]]] = into | results
                if "rare" in instr.attrs:  # it may be written behind the results
                    for r in instr.results:
                        conflicts[bit[r]] |= self.mask(instr.operands[-1:])
                live = live & ~results | kept
                for v in uses(instr):
                    if v in bit:
                        live |= 1 << bit[v]
            params = self.mask(block.params)
            for p in block.params:
                conflicts[bit[p]] |= live | params
        for number in range(len(conflicts)):
            conflicts[number] &= ~(1 << number)

    def find(self, number: int) -> int:
        while self.parent[number] != number:
            self.parent[number] = self.parent[self.parent[number]]
            number = self.parent[number]
        return number

    def _join(self, a: int, b: int) -> None:
        a, b = self.find(a), self.find(b)
        if a == b or self.conflicts[a] & self.members[b] or self.conflicts[b] & self.members[a]:
            return
        if self.label[a] and self.label[b] and self.label[a] != self.label[b]:
            return
        self.parent[b] = a
        self.members[a] |= self.members[b]
        self.conflicts[a] |= self.conflicts[b]
        self.label[a] = self.label[a] or self.label[b]

    def _coalesce(self) -> None:
        bit = self.live.bit
        pairs: list[tuple[int, int]] = []
        sums: list[tuple[int, int]] = []  # which are one of their terms, where there is no other
        for block in self.function.blocks:
            for instr in block.instrs:
                if instr.op == "checked_local" and instr.operands[0] in bit:
                    pairs.append((bit[instr.operands[0]], bit[instr.results[0]]))
                if instr.op == "accumulate":
                    sums += [(bit[instr.result], bit[v]) for v in instr.operands[1:3] if v in bit]
            targets = block.successors()
            for target in targets:
                pairs += [(bit[p], bit[a]) for p, a in zip(target.block.params, target.args) if a in bit]
            if block.handler is not None:
                pairs += [
                    (bit[p], bit[a]) for p, a in zip(block.handler.block.params[1:], block.handler.args) if a in bit
                ]
        pairs.sort(key=lambda pair: self.label[pair[0]] != self.label[pair[1]])
        for a, b in pairs + sums:
            self._join(a, b)

    def _assign(self, on_stack: set[Value]) -> None:
        # The values that are in a slot, and those that these may not share it with.
        occupied: dict[str, tuple[int, int]] = {}
        done: dict[int, str] = {}
        bit = self.live.bit
        params = self.function.params
        # Parameters first: their slots are given.
        for param in params:
            root = self.find(bit[param])
            done[root] = param.name
            occupied[param.name] = self.members[root], self.conflicts[root]
        for value in self.live.values:
            if value in on_stack:
                continue
            root = self.find(bit[value])
            if root not in done:
                done[root] = self._free_slot(root, occupied)
            self.name_of[value] = done[root]
        for param in params:
            self.name_of[param] = param.name

    def _free_slot(self, root: int, occupied: dict[str, tuple[int, int]]) -> str:
        label, members, conflicts = self.label[root], self.members[root], self.conflicts[root]
        for name in candidates(label):
            inside, apart = occupied.get(name, (0, 0))
            if name in self.taken or inside & conflicts or apart & members:
                continue
            occupied[name] = inside | members, apart | conflicts
            if not label:
                self.scratch.add(name)
            return name
        raise AssertionError
