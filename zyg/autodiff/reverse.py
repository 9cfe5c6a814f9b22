"""The reverse part of an adjoint as a graph: its blocks, the way from each to the reverses of its predecessors, and the
cotangents as variables along it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from typing import Any

from zyg.ir.analysis import Loop
from zyg.ir.builder import Variables
from zyg.ir.core import Block, Const, Instr, Target, Value, const
from zyg.ir.types import BOOL, I64, U8, Array, cotangent_type

from . import helpers
from .forward import ForwardPart
from .state import Counted, Entrance, Need, is_zero, zero
from .used_later import UsedLater

REASSOCIATE = frozenset({"reassoc"})


class ReverseGraph(ForwardPart):
    """Makes the blocks of the reverse part and the edges between them."""

    def _reverse(self) -> None:
        """Make the reverse blocks, from the return block to the entry."""
        assert self.return_block is not None
        f = self.function
        self.cotangents = Variables(
            type_of=lambda v: cotangent_type(v.type) if isinstance(v, Value) else I64,
            initial=lambda v: zero(cotangent_type(v.type)) if isinstance(v, Value) else const(0),
            name_of=lambda v: f"d_{v.name}" if isinstance(v, Value) else "k" if isinstance(v, Loop) else "entrance",
            at_start=self._cotangent_at_start,
        )
        self.forward_blocks = list(f.blocks)
        self._find_used_later()
        for block in self.order:
            if block in self.live:
                reverse = self.reverse_of[block] = self.builder.new_block(f"{block.name}.r")
                self.reversed_by[reverse] = block
        self.cotangents.seal(self.reverse_of[self.return_block])
        self.dispatch: dict[Loop, Block] = {}
        self._make_dispatches()
        for block in self._reverse_order():
            self._reverse_block(block)
        for rb in [*self.reverse_of.values(), *self.dispatch.values()]:
            if rb not in self.cotangents.sealed:
                self.cotangents.seal(rb)

    def _find_used_later(self) -> None:
        """Of numbers: what is in arrays has its cotangents in arrays."""
        numbers = lambda values: [v for v in values if not isinstance(v.type, Array)]
        live = lambda block: [t for t in block.successors() if t.block in self.live]
        self.used_later = UsedLater(
            [block for block in reversed(self.order) if block in self.live],
            following=lambda block: [t.block for t in live(block)],
            passed=lambda block: numbers(v for t in live(block) for v in t.args),
            used=lambda block: numbers(v for i in block.instrs for v in i.operands),
            defined=lambda block: [*block.params, *(r for i in block.instrs for r in i.results)],
        )
        self.reversed_by: dict[Block, Block] = {}  # by the block where the reverse begins

    def _cotangent_at_start(self, reverse: Block, v: Hashable) -> Value | None:
        """Zero, if nothing can have been added to the cotangent of `v` when a reverse block begins."""
        block = self.reversed_by.get(reverse)
        if block is None or not isinstance(v, Value) or self.used_later(v, block):
            return None
        return zero(cotangent_type(v.type))

    def _make_dispatches(self) -> None:
        """A loop that can be left from the middle would be entered in the middle by the reverse part.  So that the result
        is reducible again, the reversed loop gets a head of its own, which chooses where its iteration starts."""
        b = self.builder
        self.exits: dict[Loop, list[tuple[Block, Target]]] = {}
        for loop in self.loops.all:
            if loop.header not in self.live:
                continue
            exits = [(s, t) for s, t in loop.exits if t.block in self.live and s in self.live]
            self.exits[loop] = exits
            if len(exits) > 1 or any(s is not loop.header and s is not loop.latch for s, _ in exits):
                self.dispatch[loop] = b.new_block(f"{loop.header.name}.enter.r")
        for loop, head in self.dispatch.items():
            entrance = self.cotangents.read(head, Entrance(loop))
            ways = [b.new_block(f"{s.name}.enter.r") for s in [loop.latch, *[s for s, _ in self.exits[loop]]] if s]
            b.at(head).switch(entrance, *ways)
            for target in head.terminator.targets:
                self.cotangents.add_edge(head, target)
                self.cotangents.seal(target.block)
            assert loop.latch is not None
            self._enter(ways[0], loop.latch, None, loop)
            for way, edge in zip(ways[1:], self.exits[loop], strict=True):
                self._enter(way, edge[0], edge[1], loop)

    def _enter(self, here: Block, source: Block, edge: Target | None, outer: Loop | None) -> None:
        """From `here` to the reverse of `source`, through the heads of the reversed loops between `outer` and it."""
        between: list[Loop] = []
        loop = self.loop_of[source]
        while loop is not outer:
            assert loop is not None
            between.append(loop)
            loop = loop.parent
        destination = self.reverse_of[source]
        for loop in reversed(between):
            if loop in self.dispatch:
                number = next(k for k, (_, t) in enumerate(self.exits[loop], 1) if t is edge)
                self.cotangents.write(here, Entrance(loop), const(number))
                destination = self.dispatch[loop]
                break
        self.builder.at(here).jump(destination)
        self.cotangents.add_edge(here, here.terminator.targets[0])

    def _reverse_order(self) -> list[Block]:
        """Blocks in reverse postorder of the reversed graph, so that a head of a loop comes before its body."""
        seen: set[Block] = set()
        postorder: list[Block] = []
        assert self.return_block is not None
        stack = [(self.return_block, iter(self._reverse_successors(self.return_block)))]
        seen.add(self.return_block)
        while stack:
            block, following = stack[-1]
            for b in following:
                if b not in seen:
                    seen.add(b)
                    stack.append((b, iter(self._reverse_successors(b))))
                    break
            else:
                postorder.append(block)
                stack.pop()
        return postorder[::-1]

    def _reverse_successors(self, block: Block) -> list[Block]:
        return [source for source, _ in self.predecessors[block] if source in self.live]

    def need(self, v: Value, block: Block) -> Value:
        """`v` of the forward part, for use in the reverse of `block`."""
        if isinstance(v, Const):
            return v
        key = (v, block)
        if key not in self.needs:
            self.needs[key] = Need(v, block)
        return self.needs[key]

    def _read(self, v: Value) -> Value:
        return self.cotangents.read(self._here, v)

    def _take(self, v: Value) -> Value:
        """The cotangent of `v`, which is thereby used up: where control comes again, it starts from zero."""
        d = self._read(v)
        self.cotangents.write(self._here, v, zero(cotangent_type(v.type)))
        return d

    def _add(self, v: Value, contribution: Value) -> None:
        """Add to the cotangent of `v`."""
        b = self.builder
        old = self._read(v)
        contribution = b.cast(contribution, cotangent_type(v.type))
        if is_zero(contribution):
            return
        if is_zero(old):
            new = contribution
        else:
            loop, home = self.loop_of[self.current], self.where.block.get(v)
            # Over the iterations of a loop, cotangents add up in whatever order is fastest.
            attrs: dict[str, Any] = {"fast": REASSOCIATE} if loop is not None and home not in loop.blocks else {}
            new = b.op("add", old, contribution, name=f"d_{v.name}", **attrs)
        if not new.name and not isinstance(new, Const):
            new.name = f"d_{v.name}"
        self.cotangents.write(self._here, v, new)

    @property
    def dispatch_headers(self) -> set[Block]:
        return {loop.header for loop in self.dispatch}

    @property
    def _here(self) -> Block:
        assert self.builder.block is not None
        return self.builder.block

    def _reverse_block(self, block: Block) -> None:
        b = self.builder.at(self.reverse_of[block])
        self.current = block
        if block is self.return_block:
            self._seed(block)
        for instr in reversed(block.instrs):
            b.position = instr.position
            self._reverse_instr(instr)
        b.position = block.instrs[0].position if block.instrs else None
        if block is self.function.entry:
            self._cotangents_of_params()
            return
        self._reverse_edges(block)

    def _seed(self, block: Block) -> None:
        """Let the cotangents of the results in."""
        returned = block.terminator.operands
        b = self.builder
        if self.mode == "split":  # `back` may be called again: its shadows start from zero
            for p in self.primal_params:
                if p in self.shadows:
                    shadow = self._needed_shadow(p)
                    b.emit("fill", shadow, const(0.0, helpers.dtype(shadow)))
                    self.refills.append((self._here.instrs[-1], self.shadows[p]))
        for r in self.seeds:
            v = returned[r]
            if self.mode == "callee" and isinstance(v.type, Array):
                continue
            seed = Value(
                helpers.shadow_type(v.type) if isinstance(v.type, Array) else cotangent_type(v.type), f"seed{r}"
            )
            self.seed_params.append(seed)
            if isinstance(v, Const) or not self.active(v):
                continue
            if isinstance(v.type, Array):
                b.emit("addto", self._needed_shadow(v), seed)
            else:
                self._add(v, seed)

    # ---- edges

    def _reverse_edges(self, block: Block) -> None:
        """From the reverse of `block` to the reverses of its predecessors, with the cotangents of block arguments."""
        b = self.builder
        scalars = [k for k, p in enumerate(block.params) if not isinstance(p.type, Array) and self.active(p)]
        taken = [(k, self._take(block.params[k])) for k in scalars]
        taken = [(k, d) for k, d in taken if not is_zero(d)]
        edges = [(s, t) for s, t in self.predecessors[block] if s in self.live]
        if len(edges) == 1:
            self._reverse_edge(block, edges[0], taken)
            return
        loop = self.loop_of[block]
        ways = [b.new_block(f"{s.name}.to.{block.name}.r") for s, _ in edges]
        head = self._here
        if loop is not None and loop.header is block:
            inside = [s in loop.blocks for s, _ in edges]
            assert inside.count(True) == 1 and len(edges) == 2, "loops are in simplified form"
            k = self.cotangents.read(head, loop)
            first = b.op("eq", k, const(0), ends=True)
            again, out = (ways[0], ways[1]) if inside[0] else (ways[1], ways[0])
            self._branch(head, first, out, again)
            b.at(again)
            self.cotangents.write(again, loop, b.op("sub", k, const(1), name="k", nsw=True))
            if loop in self.dispatch:
                self.cotangents.write(again, Entrance(loop), const(0))
        else:
            condition = self._diamond(block, edges)
            if condition is not None:
                self._branch(head, self.need(condition, block), *ways)
            else:
                number = self._edge_number(block, edges)
                b.switch(self.need(number, block), *ways)
                for target in head.terminator.targets:
                    self.cotangents.add_edge(head, target)
                for way in ways:
                    self.cotangents.seal(way)
        for edge, way in zip(edges, ways, strict=True):
            b.at(way)
            self._reverse_edge(block, edge, taken)

    def _branch(self, head: Block, condition: Value, then: Block, other: Block) -> None:
        self.builder.at(head).branch(condition, then, other)
        for target in head.terminator.targets:
            self.cotangents.add_edge(head, target)
            self.cotangents.seal(target.block)

    def _reverse_edge(self, block: Block, edge: tuple[Block, Target], taken: list[tuple[int, Value]]) -> None:
        source, target = edge
        for k, d in taken:
            if self.active(target.args[k]):
                self._add(target.args[k], d)
        here = self._here
        headed = self.loop_of[block] if block in self.dispatch_headers else None
        if headed is not None and source in headed.blocks:
            self.builder.jump(self.dispatch[headed])
            self.cotangents.add_edge(here, here.terminator.targets[0])
            return
        outer = loop = self.loop_of[source]
        while loop is not None and block not in loop.blocks:
            # The edge left the loop: its reverse enters the reversed loop, with as many iterations as there were.
            trips = self._count(loop)
            self.cotangents.write(here, loop, self.need(trips.trips, block))
            self.loop_entries.setdefault(loop, []).append((here, block))
            outer = loop = loop.parent
        self._enter(here, source, target, outer)

    def _count(self, loop: Loop) -> Counted:
        if loop not in self.counted:
            trips = helpers.trip_count(self.function, loop, self.loops, self.where, self.live)
            if trips is not None:
                self.counted[loop] = Counted(trips, True)
            else:
                self.counted[loop] = Counted(self._counter(loop), False)
        return self.counted[loop]

    def _counter(self, loop: Loop) -> Value:
        """Count the iterations in the forward part."""
        counter, following = Value(I64, "trips"), Value(I64, "trips")
        latch = loop.latch
        assert latch is not None, "loops are in simplified form"
        self.where.insert([Instr("add", [counter, const(1)], [following], {"nsw": True})], latch)
        loop.header.params.append(counter)
        for source, target in self.predecessors[loop.header]:
            target.args.append(following if source is latch else const(0))
        self.where.block[counter] = loop.header
        return counter

    def _diamond(self, block: Block, edges: list[tuple[Block, Target]]) -> Value | None:
        """The condition on which control came along the first of two edges, if it was one branch that decided."""
        if len(edges) != 2:
            return None
        top = self.dominators.immediate.get(block)
        if top is None or top.terminator.op != "branch" or self.loop_of[top] is not self.loop_of[block]:
            return None
        then, other = (t.block for t in top.terminator.targets)
        if then is other:
            return None

        def side(source: Block) -> int | None:
            if source is top:
                targets = [t.block for t in top.terminator.targets]
                return targets.index(block)
            for k, arm in enumerate((then, other)):
                if arm is not block and len(self.predecessors[arm]) == 1 and self.dominators.dominates(arm, source):
                    return k
            return None

        sides = [side(s) for s, _ in edges]
        condition = top.terminator.operands[0]
        if sides == [0, 1]:
            return condition
        if sides == [1, 0]:
            key = (condition, top)
            if key not in self.negations:
                inverse = Value(BOOL, f"not_{condition.name}")
                self.where.insert([Instr("not", [condition], [inverse])], top)
                self.negations[key] = inverse
            return self.negations[key]
        return None

    def _edge_number(self, block: Block, edges: list[tuple[Block, Target]]) -> Value:
        """A block parameter that tells which edge control came along."""
        t = U8 if len(edges) < 256 else I64
        number = Value(t, "came_from")
        block.params.append(number)
        self.where.block[number] = block
        numbers = {id(target): k for k, (_, target) in enumerate(edges)}
        for _, target in self.predecessors[block]:
            target.args.append(const(numbers.get(id(target), 0), t))
        return number

    def _needed_shadow(self, v: Value) -> Value:
        return self.need(self.shadow(v), self.current)

    def _cotangents_of_params(self) -> None:
        """What the reverse part returns, read at its end."""
        b = self.builder
        self.end = self._here
        self.final: list[Value] = []
        chosen = self.callee.scalar_gradients if self.callee is not None else self.gradients
        for k in chosen:
            p = self.primal_params[k]
            if isinstance(p.type, Array):
                shadow = self._needed_shadow(p)
                self.final.append(shadow if self.mode == "joint" else helpers.copy(b, shadow))
            else:
                self.final.append(self._read(p) if self.active(p) else zero(cotangent_type(p.type)))

    @abstractmethod
    def _reverse_instr(self, instr: Instr) -> None:
        """Emit the reverse of one instruction (in instructions.py)."""
