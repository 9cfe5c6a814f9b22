"""Where the reverse part gets the values of the forward part from.

The adjoint pass leaves a `Need(primal, block)` wherever the reverse of `block` uses a value of the forward part.  For each,
the first of these that applies:

1.  At hand: a constant, a parameter, or a value outside loops that dominates the return.  Nothing to do.
2.  Recomputed: an induction variable, which follows from the number of the iteration; a load from an array that nobody
    writes; and cheap instructions whose operands are at hand or saved anyway.
3.  Carried: a value outside loops that is defined on some paths only becomes a block argument as far as the return.
4.  On a stack: pushed once per execution of a place in the loop, popped at the mirrored place.  The place is the last block
    that is executed exactly when `block` is, or, for what an inner loop does not change, outside that loop.  All values of
    one place form one record, on one stack, unless the loop may vectorise: then each has its own.

A loop whose trip count is known beforehand reserves room for all its records, and its pushes and pops check nothing.
Shadows that only the reverse part uses are none of these: it makes them (late.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zyg.ir.analysis import Loop
from zyg.ir.builder import Builder, Variables
from zyg.ir.core import Block, Const, Instr, Target, Value, const, map_uses
from zyg.ir.ops import VIEWS
from zyg.ir.types import F32, F64, I64, TAPE, Scalar, Stack, Type

from . import helpers
from .late import LateShadows

if TYPE_CHECKING:
    from .instructions import ReverseInstructions
    from .state import Need

# What recomputing may cost, in units of one addition; a pop costs about as much as a few additions.
BUDGET = 5
COSTS = {
    **dict.fromkeys(
        "add sub mul neg abs select fmin fmax minimum maximum lt le eq ne gt ge and or xor not invert cast".split(), 1
    ),
    **dict.fromkeys("cadd csub cmul cneg shl shr".split(), 1),
    **dict.fromkeys("stop dim stride".split(), 0),
    **dict.fromkeys(VIEWS, 1),
    "load": 2,
}
UNCHECKED = {"cadd": "add", "csub": "sub", "cmul": "mul", "cneg": "neg"}  # it did not overflow in the forward part
_LOOPS = frozenset({"apply", "fill", "copyto", "addto", "alloc", "foreign", "pycall"})  # loops themselves, or calls
SAVED_OUTSIDE = 1  # a value that the loop does not change, saved once per run of the loop
INFINITE = 10**9


class Storage:
    """Resolves the needs of one adjoint."""

    def __init__(self, adjoint: ReverseInstructions):
        self.a = adjoint
        self.prologue: dict[Block, list[Instr]] = {}  # per forward block: what goes to the start of its reverse
        self.known: dict[tuple[Value, Block], Value] = {}
        self.saved: dict[Value, dict[Block, Value]] = {}  # per value: the places that save it, what is popped there
        self.carried: dict[Value, Value] = {}
        self.stacks: list[Value] = []
        self.representative: dict[Block, Block] = {}
        self.carrier: Variables[Value] | None = None
        self.reached: dict[Block, set[Block]] = {}  # by paths from a block
        self.following: dict[tuple[Block, Block, Loop], bool] = {}
        self.undefined: dict[Value, Value] = {}
        self.replacement: dict[Value, Value] = {}

    def run(self) -> None:
        """Replace every Need in the reverse part."""
        a = self.a
        self.late = LateShadows(a, self._last_equivalent, self._follows)
        needs = sorted(a.needs.values(), key=self._key)
        replacement = self.replacement
        for need in needs:
            replacement[need] = self.resolve(need.primal, need.block)
        self._emit_stacks()
        for block, instrs in self.prologue.items():
            reverse = a.reverse_of[block]
            reverse.instrs[:0] = instrs
        if self.carrier is not None:
            self.carrier.finish(a.function.blocks)
            for need, value in replacement.items():
                replacement[need] = self.carrier.resolve(value)

        def replace(v: Value) -> Value:
            return replacement.get(v, v)

        forward = set(a.forward_blocks)
        for block in a.function.blocks:
            if block not in forward:
                for instr in block.instrs:
                    map_uses(instr, replace)
        a.cotangents.replace(replace)
        self.late.finish()

    def _key(self, need: Need) -> tuple[int, int, int, int]:
        """Definitions in order, outer uses before inner ones, so that later needs find earlier ones saved."""
        a = self.a
        home = a.where.block[need.primal]
        definition = a.where.definition.get(need.primal)
        within = home.instrs.index(definition) + 1 if definition is not None else 0
        loop = a.loop_of[need.block]
        return (a.position[home], within, loop.depth if loop else 0, a.position[need.block])

    # ---------------------------------------------------------------------------------------- resolving

    def resolve(self, v: Value, block: Block) -> Value:
        """A value equal to `v` that can be used in the reverse of `block`."""
        if self._at_hand(v, block):
            return v
        key = (v, block)
        if key in self.known:
            return self.known[key]
        if v in self.late.root:
            result = self.known[key] = self._late_shadow(v) if v in self.late.made_in else self._view_again(v, block)
            return result
        ready = self._popped(v, block)
        if ready is not None:
            return ready
        if self._cost(v, block, BUDGET) <= BUDGET:
            result = self._recompute(v, block)
        elif self._settled(v, block):
            result = self._carry(v)
        elif self._is_seen_again(v, block):
            result = self._view_again(v, block)
        else:
            result = self._save(v, block)
        self.known[key] = result
        return result

    def _is_seen_again(self, v: Value, block: Block) -> bool:
        """Whether `v` is a view that is made again: saving the array, if it is not at hand, or indices is no dearer than saving
        the view, and the reverse part then knows how the one lies in the other."""
        instr = self.a.where.definition.get(v)
        if instr is None or instr.op not in VIEWS or any(v.type is not I64 for v in instr.operands[1:]):
            return False
        base = instr.operands[0]
        if self._at_hand(base, block) or (base, block) in self.known or self._popped(base, block) is not None:
            return True
        return self._is_seen_again(base, block) or all(
            self._cost(index, block, BUDGET) <= BUDGET for index in instr.operands[1:]
        )

    def _view_again(self, v: Value, block: Block) -> Value:
        instr = self.a.where.definition[v]
        operands = [self.resolve(o, block) for o in instr.operands]
        b = Builder(self.a.function, Block("view"))
        b.position = instr.position
        result = b.op(instr.op, *operands, type=v.type, name=v.name, **instr.attrs)
        assert b.block is not None
        self.prologue.setdefault(block, []).extend(b.block.instrs)
        return result

    def _late_shadow(self, v: Value) -> Value:
        """A shadow that the reverse part makes, for all that want it."""
        if v not in self.late.made:
            instrs = self.late.make(v, self.resolve)
            self.prologue.setdefault(self.late.made_in[v], []).extend(instrs)
        return self.late.made[v]

    def _at_hand(self, v: Value, block: Block) -> bool:
        """Whether `v` itself can be used in the reverse of `block`: it has been computed, for good, before the return."""
        a = self.a
        if isinstance(v, Const) or v not in a.where.block:
            return True
        if v in self.late.root:
            return False
        assert a.return_block is not None
        return a.dominators.dominates(a.where.block[v], a.return_block) and self._settled(v, block)

    def _settled(self, v: Value, block: Block) -> bool:
        """Whether no loop around `block` computes `v` anew."""
        loop = self.a.loop_of[self.a.where.block[v]]
        while loop is not None and block not in loop.blocks:
            loop = loop.parent
        return loop is None

    def _popped(self, v: Value, block: Block) -> Value | None:
        """What a place that already saves `v` pops, if that can be used in the reverse of `block`."""
        for place, value in self.saved.get(v, {}).items():
            if self._covers(place, v, block):
                return value
        return None

    def _covers(self, place: Block, v: Value, block: Block) -> bool:
        """Whether the pop in the reverse of `place` gives the `v` that the reverse of `block` wants: it comes first, and
        `v` is not defined anew between the two."""
        a = self.a
        home = a.where.block[v]
        loop = a.loop_of[block]
        while loop is not None and not (place in loop.blocks and home in loop.blocks):
            if home in loop.blocks:
                return False
            loop = loop.parent
        outer = a.loop_of[place]
        return self._follows(place, block, loop) and (outer is None or block in outer.blocks)

    def _follows(self, place: Block, block: Block, loop: Loop | None) -> bool:
        """Whether `place` is executed behind `block` on each path that returns, in the same iteration of `loop`. (In a loop that
        is left from the middle, what post-dominates may be executed in the next iteration only.)"""
        if place is block:
            return True
        if not self.a.postdominators.post_dominates(place, block):
            return False
        if loop is None:
            return True
        key = (place, block, loop)
        if key not in self.following:
            met = self._left_without(place, loop) or self._always_met(place, block, loop)
            self.following[key] = place is not loop.header and met
        return self.following[key]

    def _left_without(self, place: Block, loop: Loop) -> bool:
        """Whether the loop is left at its head alone, and `place` need not come after that: then a way from anywhere in the loop
        to its head that misses `place` would be one to a return."""
        post = self.a.postdominators
        left = [(block, target.block) for block, target in loop.exits if post.returns(target.block)]
        return bool(left) and all(
            block is loop.header and not post.post_dominates(place, behind) for block, behind in left
        )

    def _always_met(self, place: Block, block: Block, loop: Loop) -> bool:
        seen, work = {place}, [block]
        while work:
            for target in work.pop().successors():
                following = target.block
                if following in seen or not self.a.postdominators.returns(following):
                    continue
                if following is loop.header or following not in loop.blocks:
                    return False
                seen.add(following)
                work.append(following)
        return True

    # ---- recomputing

    def _cost(self, v: Value, block: Block, budget: int) -> int:
        """What it would cost to have `v` in the reverse of `block` without saving anything more in the loop around it."""
        if self._at_hand(v, block) or (v, block) in self.known or self._popped(v, block) is not None:
            return 0
        if budget < 0:
            return INFINITE
        cost = self._cost_of_recomputing(v, block, budget)
        if cost > budget and self._is_saved_outside(v, block):
            return SAVED_OUTSIDE
        return cost

    def _is_saved_outside(self, v: Value, block: Block) -> bool:
        """Whether `v`, if it is saved for the reverse of `block`, is saved before the innermost loop around `block`."""
        loop = self.a.loop_of[block]
        return (
            loop is not None and self.a.where.block[v] not in loop.blocks and self._place(v, block) not in loop.blocks
        )

    def _cost_of_recomputing(self, v: Value, block: Block, budget: int) -> int:
        a = self.a
        counter = self._induction(v, block)
        if counter is not None:
            start, step = counter
            own = 0 if step == 1 and isinstance(start, Const) and start.value == 0 else 1
            return own + self._cost(start, block, budget - own)
        instr = a.where.definition.get(v)
        if instr is None or instr.op not in COSTS or len(instr.results) != 1:
            return INFINITE
        if instr.op == "load" and not self._may_reload(instr):
            return INFINITE
        total = COSTS[instr.op]
        for operand in instr.operands:
            total += self._cost(operand, block, budget - total)
            if total > budget:
                return INFINITE
        return total

    def _induction(self, v: Value, block: Block) -> tuple[Value, int] | None:
        """(start, step) if `v` counts the iterations of a loop around `block`."""
        a = self.a
        home = a.where.block[v]
        loop = a.loop_of[home]
        if v.type is not I64 or loop is None or loop.header is not home or block not in loop.blocks:
            return None
        if not any(p is v for p in home.params):
            return None
        return helpers.induction(loop, v)

    def _may_reload(self, load: Instr) -> bool:
        """Whether the element is still there: nobody writes the array later, and it is not the caller's to change."""
        array = load.operands[0]
        return self.a.stays(array) and self.a.last_writes.lasts(load, array)

    def _recompute(self, v: Value, block: Block) -> Value:
        a = self.a
        key = (v, block)
        if self._at_hand(v, block):
            return v
        if key in self.known:
            return self.known[key]
        ready = self._popped(v, block)
        if ready is not None:
            return ready
        if self._is_saved_outside(v, block) and self._cost_of_recomputing(v, block, BUDGET) > BUDGET:
            result = self.known[key] = self._save(v, block)
            return result
        instrs = self.prologue.setdefault(block, [])
        b = Builder(a.function, Block("recompute"))
        counter = self._induction(v, block)
        if counter is not None:
            start, step = counter
            loop = a.loop_of[a.where.block[v]]
            first = self._recompute(start, block)
            k = a.cotangents.read(a.reverse_of[block], loop)
            result = b.arith("add", first, b.arith("mul", k, const(step)))
        else:
            definition = a.where.definition[v]
            operands = [self._recompute(o, block) for o in definition.operands]
            b.position = definition.position
            op = UNCHECKED.get(definition.op, definition.op)
            result = b.op(op, *operands, type=v.type, name=v.name, **definition.attrs)
        assert b.block is not None
        instrs.extend(b.block.instrs)
        self.known[key] = result
        return result

    # ---- carrying

    def _carry(self, v: Value) -> Value:
        a = self.a
        if v in self.carried:
            return self.carried[v]
        if self.carrier is None:
            self.carrier = Variables(
                type_of=lambda v: v.type,
                initial=self._nothing,
                name_of=lambda v: v.name,
                at_start=self._carried_at_start,
            )
            for block in a.order:
                for target in block.successors():
                    self.carrier.add_edge(block, target)
            for block in a.order:
                self.carrier.seal(block)
        self.carrier.write(a.where.block[v], v, v)
        assert a.return_block is not None
        result = self.carrier.read(a.return_block, v)
        self.carried[v] = result
        return result

    def _carried_at_start(self, block: Block, v: Value) -> Value | None:
        """`v` behind its definition, nothing where no path from that leads; between the two it takes a search."""
        home = self.a.where.block[v]
        if block is not home and self.a.dominators.dominates(home, block):
            return v
        return None if block in self._reached_from(home) else self._nothing(v)

    def _reached_from(self, home: Block) -> set[Block]:
        if home not in self.reached:
            reached: set[Block] = set()
            work = [home]
            while work:
                for following in work.pop().successors():
                    if following.block not in reached:
                        reached.add(following.block)
                        work.append(following.block)
            self.reached[home] = reached
        return self.reached[home]

    def _nothing(self, v: Value) -> Value:
        if isinstance(v.type, Scalar):
            return const(0, v.type)
        if v not in self.undefined:
            instr = Instr("undefined", [], [Value(v.type, v.name)])
            self.a.function.entry.instrs.insert(0, instr)
            self.undefined[v] = instr.result
        return self.undefined[v]

    # ---- saving

    def _save(self, v: Value, block: Block) -> Value:
        place = self._place(v, block)
        popped = Value(v.type, v.name)
        self.saved.setdefault(v, {})[place] = popped
        return popped

    def _place(self, v: Value, block: Block) -> Block:
        """The block whose executions push `v` for the reverse of `block`."""
        a = self.a
        home = a.where.block[v]
        best = self._last_equivalent(block)
        loop = a.loop_of[block]
        while loop is not None and home not in loop.blocks:
            outside = loop.preheader
            assert outside is not None
            candidate = self._last_equivalent(outside)
            if not a.postdominators.post_dominates(candidate, block):
                break
            best = candidate
            loop = loop.parent
        return best

    def _last_equivalent(self, block: Block) -> Block:
        """The last block that is executed exactly when `block` is, in the same loop."""
        a = self.a
        if block not in self.representative:
            last = block
            loop = a.loop_of[block]
            candidate = a.postdominators.immediate.get(block)
            while candidate is not None and (loop is None or candidate in loop.blocks):
                if candidate is block or candidate is (loop.header if loop else None):
                    break
                if a.loop_of[candidate] is loop and a.dominators.dominates(block, candidate):
                    if not self._follows(candidate, block, loop):
                        break
                    last = candidate
                candidate = a.postdominators.immediate.get(candidate)
            self.representative[block] = last
        return self.representative[block]

    def _emit_stacks(self) -> None:
        places: dict[Block, list[tuple[Value, Value]]] = {}
        for v, by_place in self.saved.items():
            for place, popped in by_place.items():
                places.setdefault(place, []).append((v, popped))
        for place in sorted(places, key=self.a.position.__getitem__):
            values = places[place]
            if self._may_vectorise(place):
                for pair in values:
                    self._emit_stack(place, [pair])
            else:
                self._emit_stack(place, values)

    def _emit_stack(self, place: Block, values: list[tuple[Value, Value]]) -> None:
        a = self.a
        types: list[Type] = [v.type for v, _ in values]
        name = values[0][0].name + "s" if len(values) == 1 and values[0][0].name else f"{place.name}.saved"
        stack = Value(Stack(helpers.record(types)), name)
        self.stacks.append(stack)
        a.function.entry.instrs.insert(0, Instr("stack", [], [stack]))
        a.where.note(a.function.entry.instrs[0], a.function.entry)
        attrs: dict[str, object] = {}
        loop = a.loop_of[place]
        counted = a.counted.get(loop) if loop is not None else None
        if loop is not None and counted is not None and counted.known:
            attrs["unchecked"] = True
            self._reserve(stack, place, loop, counted.trips)
        place.instrs.insert(len(place.instrs) - 1, Instr("push", [stack, *[v for v, _ in values]], [], dict(attrs)))
        pop = Instr("pop", [stack], [p for _, p in values], dict(attrs))
        self.prologue.setdefault(place, []).insert(0, pop)

    def _reserve(self, stack: Value, place: Block, loop: Loop, trips: Value) -> None:
        """Room for all pushes of an execution of the loop.  What may be executed in the last, partial, iteration too (all
        but what comes after the place where the loop is left) pushes once more than the loop goes round."""
        a = self.a
        ((exiting, _),) = a.exits[loop]
        once_more = place is exiting or not a.dominators.dominates(exiting, place)
        preheader = loop.preheader
        assert preheader is not None
        b = Builder(a.function, Block("reserve"))
        b.emit("reserve", stack, b.arith("add", trips, const(1)) if once_more else trips)
        assert b.block is not None
        a.where.insert(b.block.instrs, preheader)
        for reverse, behind in a.loop_entries.get(loop, []):
            b = Builder(a.function, Block("rewind"))
            known = self.resolve(trips, behind)
            b.emit("rewind", stack, b.arith("add", known, const(1)) if once_more else known)
            assert b.block is not None
            reverse.instrs[-1:-1] = b.block.instrs

    def _may_vectorise(self, place: Block) -> bool:
        """An innermost counted loop that carries nothing but its counter from one iteration to the next, and goes through no array."""
        a = self.a
        loop = a.loop_of[place]
        if loop is None or loop.children or loop not in a.counted or not a.counted[loop].known:
            return False
        if any(i.op in _LOOPS for block in loop.blocks for i in block.instrs):
            return False
        return not any(p.type in (F64, F32) for p in loop.header.params)


__all__ = ["TAPE", "Storage", "Target"]
