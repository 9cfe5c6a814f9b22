"""The adjoint pass: from the SSA of a function to the SSA of its reverse-mode derivative.

Input: a function of typed SSA, reducible, and which of its parameters to differentiate by.  Output: in the same module, a
joint function `name.adj`, or a pair `name.fwd`, `name.rev` that are its two halves.  The output is legal input.

The transform is that of Innes, "Don't Unroll Adjoint: Differentiating SSA-Form Programs" (2018), with shadows for memory as
in Enzyme (Moses and Churavy, NeurIPS 2020):

* The forward part is the function itself.  The reverse part has a block for each of its blocks and the edges the other
  way.  Where several edges met, the reverse part chooses by what the forward part recorded: at the head of a loop by the
  number of iterations, behind an `if` by its condition, elsewhere by a block argument that numbers the edges.
* Each active scalar has a cotangent variable in the reverse part; SSA form is built from these on the fly.  Instructions
  are visited backwards and add to the cotangents of their operands by the rule of the op table.
* Each active array has a shadow, made where the array is made: a load adds to it, a store takes from it and zeroes.

This file is the mathematics.  Where the reverse part needs a value of the forward part it puts a `Need`; storage.py then
decides for each whether the value is at hand, recomputed, or pushed on a stack and popped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from zyg.errors import Unsupported
from zyg.ir.analysis import Dominators, Loop, Loops, PostDominators
from zyg.ir.builder import Builder, Variables
from zyg.ir.core import Block, Const, Function, Instr, Module, Position, Target, Value, clone, const, map_uses, uses
from zyg.ir.ops import OPS
from zyg.ir.passes import inline, loop_simplify, simplify_cfg
from zyg.ir.trace import Traced
from zyg.ir.types import BOOL, I64, OBJECT, TAPE, U8, Array, Scalar, Stack, Type, cotangent_type

from . import helpers, objects
from .activity import Activity, Summary, differentiable, differentiable_operands, summarise
from .storage import Storage


@dataclass(frozen=True)
class Adjoint:
    """What the pass made. `gradients` are the indices of the parameters that get a cotangent (those asked for, if they can
    carry one at all), in the order of the cotangents; `seeds` the indices of the results that take one; `saved` the types that go from forward to reverse."""

    function: str = ""
    forward: str = ""
    reverse: str = ""
    gradients: tuple[int, ...] = ()
    seeds: tuple[int, ...] = ()
    saved: tuple[Type, ...] = ()


def adjoint(
    module: Module, name: str, wrt: Sequence[bool], split: bool = False, outputs: Sequence[int] | None = None
) -> Adjoint:
    """Differentiate function `name` by the parameters marked in `wrt`; `outputs` are the results to differentiate, all
    that are numbers or arrays unless given.

    Joint (the default): a function of the parameters and a seed per differentiable result, giving the results and the
    cotangents.  Split: a function of the parameters giving the results and what was saved; and a function of what was
    saved and the seeds, giving the cotangents, which may be called any number of times.
    """
    summaries = summarise(module, name)
    return _Adjoint(module, name, list(wrt), summaries, "split" if split else "joint", outputs=outputs).run()


class Need(Value):
    """Stands in the reverse part for `primal`, a value of the forward part, wanted in the reverse of `block`."""

    __slots__ = ("block", "primal")

    def __init__(self, primal: Value, block: Block):
        super().__init__(primal.type, primal.name)
        self.primal = primal
        self.block = block


@dataclass(frozen=True)
class Entrance:
    """The variable of the reverse part that tells where the reverse of the next iteration of `loop` starts: 0 at the
    latch, k at the k-th of the edges by which the loop can be left."""

    loop: Loop

    type = I64
    name = "entrance"


@dataclass
class Counted:
    """What is known about the iterations of a loop: `trips` is a value of the forward part that, behind the loop, is the
    number of times that it went round.  `known` is whether it is available before the loop (no `break`)."""

    trips: Value
    known: bool


@dataclass
class _Callee:
    """The out-of-line adjoint of a callee: names, which scalar parameters get cotangents, which array parameters have
    shadows passed, which results take seeds, which array results come with shadows."""

    forward: str
    reverse: str
    scalar_gradients: tuple[int, ...]
    array_params: tuple[int, ...]
    seeds: tuple[int, ...]
    array_results: tuple[int, ...]
    tape_params: tuple[int, ...]  # tapes of an inner derivative: a companion goes forward, a shadow tape backward


class _Adjoint:
    """The state of one run. `mode` is "joint", "split" (a pullback) or "callee" (for an out-of-line call: shadows of
    arrays are parameters, and what is saved goes on a tape)."""

    def __init__(
        self,
        module: Module,
        name: str,
        wrt: list[bool],
        summaries: dict[str, Summary],
        mode: str,
        callees: dict[str, _Callee] | None = None,
        outputs: Sequence[int] | None = None,
    ):
        self.module = module
        self.name = name
        self.mode = mode
        self.wrt = wrt
        self.outputs = outputs
        self.summaries = summaries
        self.callees = callees if callees is not None else {}
        self.function = clone(module.functions[name])
        _inline_pullbacks(module, self.function)
        loop_simplify.run(self.function)
        loop_simplify.merge_returns(self.function)
        simplify_cfg.remove_redundant_params(self.function)  # new preheaders pass on what their loops start from
        self.primal_params = list(self.function.params)
        self.builder = Builder(self.function)
        self.shadows: dict[Value, Value] = {}
        self.companions: dict[Value, Value] = {}  # per stack: carries the shadows of arrays that go through it
        self.shadow_stacks: dict[Value, Value] = {}  # per stack or tape: cotangents of numbers, in the reverse part
        self.own_shadow_stacks: list[Value] = []  # those of them that the reverse part makes at its start
        self.made_by: dict[Instr, tuple[Instr, object]] = {}  # adjoint calls of the forward part
        self.needs: dict[tuple[Value, Block], Need] = {}
        self.counted: dict[Loop, Counted] = {}
        self.negations: dict[tuple[Value, Block], Value] = {}
        self.reverse_of: dict[Block, Block] = {}
        self.loop_entries: dict[Loop, list[tuple[Block, Block]]] = {}  # (reverse block that enters, exit block)
        self.seed_params: list[Value] = []
        self.reverse_tape = Value(TAPE, "tape")  # parameter of the reverse half of a callee

    # ------------------------------------------------------------------------------------------- the run

    def run(self) -> Adjoint:
        f = self.function
        self.activity = Activity(f, self.module, self.summaries)
        self.bits = sum(1 << k for k, chosen in enumerate(self.wrt) if chosen)
        chosen = range(len(f.results)) if self.outputs is None else self.outputs
        self.seeds = tuple(r for r in chosen if differentiable(f.results[r]))
        self.activity.backward(list(self.seeds))
        if self.mode == "callee":
            for k, p in enumerate(self.primal_params):
                if isinstance(p.type, Array) and differentiable(p.type) or p.type is TAPE:
                    self.activity.mark_useful(p, 1 << (len(f.results) + k))
        # Classes of arrays that keep their contents between the forward and the reverse part unless the function writes
        # them: where the two parts are one function, all.
        self.settled_everywhere = self.mode == "joint"
        self._analyse()
        self.gradients = tuple(k for k, p in enumerate(self.primal_params) if self.wrt[k] and differentiable(p.type))
        self._forward()
        self.where = helpers.Position(f)
        if self.return_block is None:
            return self._never_returns()
        self._reverse()
        return self._finish()

    def settled(self, v: Value) -> bool:
        return self.settled_everywhere

    def _analyse(self) -> None:
        f = self.function
        self.dominators = Dominators(f)
        self.order = list(self.dominators.order)
        f.blocks[:] = self.order
        self.position = {b: k for k, b in enumerate(self.order)}
        self.predecessors = f.predecessors()
        self.postdominators = PostDominators(f)
        self.loops = Loops(f, self.dominators)
        self.loop_of: dict[Block, Loop | None] = {b: self.loops.of.get(b) for b in self.order}
        self.where = helpers.Position(f)
        returns = [b for b in self.order if b.terminator.op == "return"]
        self.return_block = returns[0] if returns else None
        popped = {i.operands[0] for _, i in f.instructions() if i.op == "pop"}
        self.cursors = [i.result for _, i in f.instructions() if i.op == "cursor" and i.result in popped]
        self.moving = {
            self.activity.rep(v)
            for _, i in f.instructions()
            if i.op in ("push", "pop")
            for v in [*i.operands[1:], *i.results]
            if isinstance(v.type, Array)
        }
        self.travelling = {
            self._stack_root(v)
            for _, i in f.instructions()
            if i.op in ("push", "pop") and i.operands[0].type is TAPE
            for v in [*i.operands[1:], *i.results]
            if isinstance(v.type, Stack)
        }
        for block in self.order:
            for target in block.successors():
                backwards = self.position[target.block] <= self.position[block]
                if backwards and not self.dominators.dominates(target.block, block):
                    raise Unsupported("a jump into the middle of a loop", _position(block))
        self.live = self._blocks_that_return()

    def _blocks_that_return(self) -> set[Block]:
        live: set[Block] = set()
        work = [self.return_block] if self.return_block is not None else []
        while work:
            block = work.pop()
            if block is None or block in live:
                continue
            live.add(block)
            work.extend(source for source, _ in self.predecessors[block] if source in self.position)
        return live

    def active(self, v: Value) -> bool:
        """Whether `v` needs a cotangent or a shadow."""
        if isinstance(v, Const) or not differentiable(v.type):
            return False
        return bool(self.activity.varied_by(v) & self.bits) and bool(self.activity.useful_for(v))

    # --------------------------------------------------------------------------------- the forward part

    def _forward(self) -> None:
        """Add to the forward part what the reverse part needs of it: shadows of arrays, adjoint calls, the tape."""
        entry = self.function.entry
        self._prologue()
        for block in self.order:
            if block is not entry:
                for p in list(block.params):
                    if isinstance(p.type, Array) and self._has_shadow(p):
                        self.shadows[p] = Value(helpers.shadow_type(p.type), f"d_{p.name}")
        for block in self.order:
            self._forward_block(block)
        for block in self.order:
            arrays = [k for k, p in enumerate(block.params) if p in self.shadows and block is not entry]
            for _, target in self.predecessors[block]:
                target.args.extend([self.shadow(target.args[k]) for k in arrays])
            block.params.extend([self.shadows[block.params[k]] for k in arrays])

    def _prologue(self) -> None:
        """At entry: shadows of array parameters (passed in, for a callee), and the tape."""
        block = Block("prologue")
        b = Builder(self.function, block)
        extra: list[Value] = []
        for p in self.primal_params:
            if not isinstance(p.type, Array) or not differentiable(p.type):
                continue
            if self.mode == "callee":
                self.shadows[p] = Value(helpers.shadow_type(p.type), f"d_{p.name}")
                extra.append(self.shadows[p])
            elif self._has_shadow(p):
                self.shadows[p] = helpers.zeros_like(b, p, f"d_{p.name}")
        self.tape: Value | None = None
        if self.mode == "callee":
            for p in self.primal_params:
                if p.type is TAPE:
                    self.companions[p] = Value(TAPE, f"shadows_{p.name}")
                    self.shadow_stacks[p] = Value(TAPE, f"d_{p.name}")
                    extra.append(self.companions[p])
            self.tape = Value(TAPE, "tape")
            extra.append(self.tape)
        elif any(i.op == "call" and "rule" not in i.attrs and self._takes_part(i) for i in self._instructions()):
            self.tape = b.op("tape", name="tape")
        entry = self.function.entry
        entry.params.extend(extra)
        entry.instrs[:0] = block.instrs

    def _instructions(self) -> list[Instr]:
        return [instr for block in self.order for instr in block.instrs]

    def _takes_part(self, call: Instr) -> bool:
        """Whether a call is part of the derivative: something active goes in, and something comes out."""
        if any(self.active(r) for r in call.results):
            return True
        if any(v.type is TAPE for v in call.operands):
            return True  # what one call puts on a tape another takes off: all go along, or none
        written = self.summaries[call.attrs["callee"]].written
        return any(self.active(call.operands[p]) for p in written)

    def shadow(self, v: Value) -> Value:
        return self.shadows[v]

    def _forward_block(self, block: Block) -> None:
        old, block.instrs = block.instrs, []
        b = self.builder.at(block)
        for instr in old:
            b.position = instr.position
            method = getattr(self, f"_forward_{instr.op}", None)
            if method is None:
                block.instrs.append(instr)
            else:
                method(b, instr)

    def _forward_alloc(self, b: Builder, instr: Instr) -> None:
        b.block.instrs.append(instr)
        array = instr.result
        if self._has_shadow(array):
            shape = instr.operands
            self.shadows[array] = b.op(
                "alloc", *shape, type=helpers.shadow_type(array.type), name=f"d_{array.name}", fill="zeros"
            )

    def _forward_view(self, b: Builder, instr: Instr) -> None:
        b.block.instrs.append(instr)
        if self._has_shadow(instr.result):
            base, *rest = instr.operands
            self.shadows[instr.result] = b.op(
                instr.op,
                self.shadow(base),
                *rest,
                type=helpers.shadow_type(instr.result.type),
                name=f"d_{instr.result.name}",
                **instr.attrs,
            )

    _forward_reshape = _forward_view

    def _forward_select(self, b: Builder, instr: Instr) -> None:
        b.block.instrs.append(instr)
        if isinstance(instr.result.type, Array) and self._has_shadow(instr.result):
            c, x, y = instr.operands
            self.shadows[instr.result] = b.op("select", c, self.shadow(x), self.shadow(y), name=f"d_{x.name}")

    def _forward_undefined(self, b: Builder, instr: Instr) -> None:
        b.block.instrs.append(instr)
        if isinstance(instr.result.type, Array) and self._has_shadow(instr.result):
            self.shadows[instr.result] = b.op("undefined", type=helpers.shadow_type(instr.result.type))

    # Arrays that go through a stack or tape take their shadows along on a companion; so do stacks that have companions.

    def _forward_stack(self, b: Builder, instr: Instr) -> None:
        b.block.instrs.append(instr)
        item = _companion_item(instr.result.type)
        if item is not None:
            self.companions[instr.result] = b.op("stack", type=Stack(item), name=f"shadows_{instr.result.name}")

    def _forward_tape(self, b: Builder, instr: Instr) -> None:
        b.block.instrs.append(instr)
        self.companions[instr.result] = b.op("tape", name=f"shadows_{instr.result.name}")

    def _forward_cursor(self, b: Builder, instr: Instr) -> None:
        b.block.instrs.append(instr)
        companion = self.companions.get(instr.operands[0])
        if companion is not None:
            self.companions[instr.result] = b.op("cursor", companion, name=companion.name)

    def _forward_push(self, b: Builder, instr: Instr) -> None:
        b.block.instrs.append(instr)
        stack, *values = instr.operands
        companion = self.companions.get(stack)
        if companion is not None:
            shadows = [self._going_along(b, v) for v in values if _goes_along(v.type)]
            if shadows:
                b.emit("push", companion, *shadows)

    def _forward_pop(self, b: Builder, instr: Instr) -> None:
        b.block.instrs.append(instr)
        companion = self.companions.get(instr.operands[0])
        if companion is not None:
            along = [r for r in instr.results if _goes_along(r.type)]
            types = tuple(_along_type(r.type) for r in along)
            for r, s in zip(along, b.emit("pop", companion, types=types) if along else [], strict=True):
                (self.shadows if isinstance(r.type, Array) else self.companions)[r] = s

    def _going_along(self, b: Builder, v: Value) -> Value:
        return self._shadow_or_dummy(b, v) if isinstance(v.type, Array) else self.companions[v]

    def _shadow_or_dummy(self, b: Builder, v: Value) -> Value:
        return self.shadows[v] if v in self.shadows else helpers.zeros_like(b, v, f"d_{v.name}")

    def _has_shadow(self, array: Value) -> bool:
        """Active arrays have shadows, and so do those that go through stacks: who pops them may find them active.
        Parameters to differentiate by have one that is returned, if only zeros."""
        if self.mode != "callee" and any(array is self.primal_params[k] for k in self.gradients):
            return True
        return self.active(array) or differentiable(array.type) and self.activity.rep(array) in self.moving

    def _active_memory(self, v: Value) -> bool:
        return bool(self.activity.varied_by(v) & self.bits) and bool(self.activity.useful_for(v))

    def _stack_root(self, stack: Value) -> Value:
        """The `stack` behind a chain of cursors."""
        while (definition := self.where.definition.get(stack)) is not None and definition.op == "cursor":
            stack = definition.operands[0]
        return stack

    # Calls: by a user's rule, or by the adjoint of the callee.

    def _forward_call(self, b: Builder, instr: Instr) -> None:
        if not self._takes_part(instr):
            b.block.instrs.append(instr)
            return
        if "rule" in instr.attrs:
            self._forward_rule(b, instr)
            return
        callee = self._callee(instr.attrs["callee"])
        assert self.tape is not None
        operands = list(instr.operands)
        operands += [self._shadow_or_dummy(b, instr.operands[k]) for k in callee.array_params]
        operands += [self.companions[instr.operands[k]] for k in callee.tape_params]
        shadows = [
            Value(helpers.shadow_type(instr.results[k].type), f"d_{instr.results[k].name}") for k in callee.array_results
        ]
        for k, s in zip(callee.array_results, shadows, strict=True):
            self.shadows[instr.results[k]] = s
        attrs = {**instr.attrs, "callee": callee.forward}
        call = b.append(Instr("call", [*operands, self.tape], [*instr.results, *shadows], attrs, [], instr.position))
        self.made_by[call] = (instr, callee)

    def _forward_rule(self, b: Builder, instr: Instr) -> None:
        rule = instr.attrs["rule"]
        forward = self.module.functions[rule.forward]
        saved = [Value(t, "saved") for t in forward.results[len(instr.results) :]]
        attrs = {k: v for k, v in instr.attrs.items() if k != "rule"} | {"callee": rule.forward}
        call = b.append(Instr("call", list(instr.operands), [*instr.results, *saved], attrs, [], instr.position))
        for r in instr.results:
            if isinstance(r.type, Array) and self.active(r):
                self.shadows[r] = helpers.zeros_like(b, r, f"d_{r.name}")
        self.made_by[call] = (instr, saved)

    def _callee(self, name: str) -> _Callee:
        """The out-of-line adjoint of a callee, made at its first use; recursion finds the names already there."""
        if name in self.callees:
            return self.callees[name]
        source = self.module.functions[name]
        summary = self.summaries[name]
        flowing = 0
        for bits in summary.results:
            flowing |= bits
        for bits in summary.arrays.values():
            flowing |= bits
        params = source.params
        callee = _Callee(
            forward=self.module.unique_name(f"{name}.fwd"),
            reverse=self.module.unique_name(f"{name}.rev"),
            scalar_gradients=tuple(
                k for k, p in enumerate(params)
                if differentiable(p.type) and isinstance(p.type, Scalar) and flowing >> k & 1
            ),
            array_params=tuple(
                k for k, p in enumerate(params) if isinstance(p.type, Array) and differentiable(p.type)
            ),
            seeds=tuple(
                k for k, t in enumerate(source.results) if differentiable(t) and isinstance(t, Scalar)
            ),
            array_results=tuple(
                k for k, t in enumerate(source.results) if differentiable(t) and isinstance(t, Array)
            ),
            tape_params=tuple(k for k, p in enumerate(params) if p.type is TAPE),
        )  # fmt: skip
        self.callees[name] = callee
        self.module.add(Function(callee.forward))  # placeholders keep the names; the run replaces them
        self.module.add(Function(callee.reverse))
        everything = [True] * len(params)
        _Adjoint(self.module, name, everything, self.summaries, "callee", self.callees).run()
        return callee

    # --------------------------------------------------------------------------------- the reverse part

    def _reverse(self) -> None:
        """Make the reverse blocks, from the return block to the entry."""
        assert self.return_block is not None
        f = self.function
        self.cotangents = Variables(
            type_of=lambda v: cotangent_type(v.type) if isinstance(v, Value) else I64,
            initial=lambda v: _zero(cotangent_type(v.type)) if isinstance(v, Value) else const(0),
            name_of=lambda v: f"d_{v.name}" if isinstance(v, Value) else "k" if isinstance(v, Loop) else "entrance",
        )
        self.forward_blocks = list(f.blocks)
        for block in self.order:
            if block in self.live:
                self.reverse_of[block] = self.builder.new_block(f"{block.name}.r")
        self.cotangents.seal(self.reverse_of[self.return_block])
        self.dispatch: dict[Loop, Block] = {}
        self._make_dispatches()
        for block in self._reverse_order():
            self._reverse_block(block)
        for rb in [*self.reverse_of.values(), *self.dispatch.values()]:
            if rb not in self.cotangents.sealed:
                self.cotangents.seal(rb)

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
        self.cotangents.write(self._here, v, _zero(cotangent_type(v.type)))
        return d

    def _add(self, v: Value, contribution: Value) -> None:
        """Add to the cotangent of `v`."""
        b = self.builder
        old = self._read(v)
        contribution = b.cast(contribution, cotangent_type(v.type))
        if _is_zero(contribution):
            return
        if _is_zero(old):
            new = contribution
        elif v.type is OBJECT:
            new = b.op("call_object", const(objects.accumulate), old, contribution, keywords=())
        else:
            new = b.op("add", old, contribution, name=f"d_{v.name}")
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
        taken = [(k, d) for k, d in taken if not _is_zero(d)]
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
            first = b.op("eq", k, const(0))
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
        if block in self.dispatch_headers and source in self.loop_of[block].blocks:  # type: ignore[union-attr]
            self.builder.jump(self.dispatch[self.loop_of[block]])  # type: ignore[index]
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

    # ---- instructions

    def _reverse_instr(self, instr: Instr) -> None:
        method = getattr(self, f"_reverse_{instr.op}", None)
        if method is not None:
            method(instr)
            return
        if any(r.type is OBJECT for r in instr.results):
            self._reverse_object(instr)
            return
        if not instr.results or not isinstance(instr.results[0].type, Scalar) or not self.active(instr.results[0]):
            return
        wanted = [k for k in differentiable_operands(instr) if self.active(instr.operands[k])]
        d = self._take(instr.results[0])
        if not wanted or _is_zero(d):
            return
        rule = OPS[instr.op].vjp
        if isinstance(rule, str):
            raise Unsupported(
                f"the derivative of `{instr.op}`",
                instr.position,
                hint="zyg has no rule for it; take it out of the derivative's path with zyg.stop_gradient",
            )
        b = self.builder
        start = len(self._here.instrs)
        block = self.current
        leaf = lambda v: Traced(b, v if isinstance(v, Const) else (lambda _: self.need(v, block)))
        contributions = rule(Traced(b, d), leaf(instr.results[0]), *[leaf(v) for v in instr.operands])
        kept: list[tuple[int, Value]] = []
        for k in wanted:
            c = contributions[k]
            c = c() if callable(c) and not isinstance(c, Traced) else c
            if c is not None:
                kept.append((k, c.value() if isinstance(c, Traced) else const(float(c))))
        _drop_unused(self._here, start, [c for _, c in kept])
        fast = instr.attrs.get("fast")
        if fast:
            for made in self._here.instrs[start:]:
                made.attrs.setdefault("fast", fast)
        if instr.attrs.get("vectormath"):
            for made in self._here.instrs[start:]:
                made.attrs.setdefault("vectormath", True)
        for k, c in kept:
            self._add(instr.operands[k], c)

    # ---- operations on objects

    def _forward_call_object(self, b: Builder, instr: Instr) -> None:
        """A call of something unknown gives, in the forward part, its value and its pullback."""
        if not self.active(instr.result):
            b.append(instr)
            return
        if instr.attrs.get("keywords"):
            raise Unsupported(
                "the derivative of a call with keyword arguments of a function that is not known when compiling",
                instr.position,
                hint="pass the arguments by position",
            )
        pair = b.op("call_object", const(objects.pullback), *instr.operands, keywords=())
        back = Value(OBJECT, "back")
        unpack = b.append(Instr("unpack", [pair], [instr.result, back], {"count": 2}, [], instr.position))
        self.made_by[unpack] = (instr, back)

    def _reverse_object(self, instr: Instr) -> None:
        """Objects: the rule runs when the code runs, on whatever the operands are."""
        active = [r for r in instr.results if self.active(r)]
        wanted = [k for k in differentiable_operands(instr) if self.active(instr.operands[k])]
        ds = [self._take(r) if r in active else const(None, OBJECT) for r in instr.results]
        if not active or not wanted or all(map(_is_zero, ds)):
            return
        b = self.builder
        if instr.op == "unpack":
            d = b.op("call_object", const(objects.unpacked), *ds, keywords=())
            self._add(instr.operands[0], d)
            return
        rule = objects.RULES.get(instr.op)
        if rule is None:
            raise Unsupported(
                f"the derivative of `{instr.op}` on an object whose type is not known when compiling",
                instr.position,
                hint="make the types of all values clear, so that the function compiles natively",
            )
        operands = [self.need(v, self.current) for v in instr.operands]
        given = b.op("call_object", const(rule), ds[0], self.need(instr.result, self.current), *operands, keywords=())
        self._spread(given, instr.operands, wanted)

    def _spread(self, given: Value, operands: list[Value], wanted: list[int]) -> None:
        """Add the items of a tuple of cotangents to those of the operands."""
        types = (OBJECT,) * len(operands)
        parts = self.builder.emit("unpack", given, types=types, count=len(operands))
        for k in wanted:
            self._add(operands[k], parts[k])

    def _reverse_unpack(self, instr: Instr) -> None:
        made = self.made_by.get(instr)
        if made is None:
            self._reverse_object(instr)
            return
        call, back = made
        assert isinstance(back, Value)
        d = self._take(call.result)
        if not _is_zero(d):
            given = self.builder.op("call_object", self.need(back, self.current), d, keywords=())
            wanted = [k for k, v in enumerate(call.operands) if self.active(v)]
            self._spread(given, call.operands, wanted)

    def _nothing(self, instr: Instr) -> None:
        """These have no reverse."""

    _reverse_jump = _reverse_branch = _reverse_switch = _reverse_return = _nothing
    _reverse_guard = _reverse_poll = _reverse_dim = _reverse_stride = _reverse_overlap = _reverse_same = _nothing
    _reverse_view = _reverse_reshape = _reverse_stack = _reverse_tape = _reverse_cursor = _reverse_drop = _nothing
    _reverse_reserve = _reverse_rewind = _reverse_retain = _reverse_release = _reverse_undefined = _nothing

    def _indices(self, instr: Instr, start: int) -> list[Value]:
        return [self.need(v, self.current) for v in instr.operands[start:]]

    def _needed_shadow(self, v: Value) -> Value:
        return self.need(self.shadow(v), self.current)

    def _reverse_load(self, instr: Instr) -> None:
        if not self.active(instr.result):
            return
        d = self._take(instr.result)
        if _is_zero(d):
            return
        shadow = self._needed_shadow(instr.operands[0])
        d = self.builder.cast(d, helpers.dtype(shadow))
        # The order in which cotangents are added up is nobody's business: the optimiser may change it.
        self.builder.emit("accum", shadow, d, *self._indices(instr, 1), cotangent=True)

    def _reverse_store(self, instr: Instr) -> None:
        """What was stored gets what has gathered at the place, and the place starts from zero."""
        array, value, *_ = instr.operands
        if not self._active_memory(array):
            return
        shadow, indices = self._needed_shadow(array), self._indices(instr, 2)
        b = self.builder
        if self.active(value):
            self._add(value, b.op("load", shadow, *indices, name=f"d_{value.name}"))
        b.emit("store", shadow, const(0.0, helpers.dtype(shadow)), *indices)

    def _reverse_accum(self, instr: Instr) -> None:
        array, value, *_ = instr.operands
        if self._active_memory(array) and self.active(value):
            shadow = self._needed_shadow(array)
            self._add(value, self.builder.op("load", shadow, *self._indices(instr, 2), name=f"d_{value.name}"))

    def _reverse_fill(self, instr: Instr) -> None:
        array, value = instr.operands
        if not self._active_memory(array):
            return
        shadow = self._needed_shadow(array)
        if self.active(value):
            total = helpers.sum_function(self.module, shadow.type)
            self._add(value, self.builder.op("call", shadow, type=helpers.dtype(shadow), callee=total))
        self.builder.emit("fill", shadow, const(0.0, helpers.dtype(shadow)))

    def _reverse_copyto(self, instr: Instr) -> None:
        target, source = instr.operands
        if not self._active_memory(target):
            return
        b = self.builder
        shadow = self._needed_shadow(target)
        if self.active(source):
            moved = shadow
            into = self._needed_shadow(source)
            if self.activity.rep(target) is self.activity.rep(source):  # they may overlap: go by way of a copy
                moved = helpers.copy(b, shadow)
                b.emit("fill", shadow, const(0.0, helpers.dtype(shadow)))
                b.emit("addto", into, moved)
                return
            b.emit("addto", into, moved)
        b.emit("fill", shadow, const(0.0, helpers.dtype(shadow)))

    def _reverse_addto(self, instr: Instr) -> None:
        target, source = instr.operands
        if self._active_memory(target) and self.active(source):
            b = self.builder
            shadow, into = self._needed_shadow(target), self._needed_shadow(source)
            if self.activity.rep(target) is self.activity.rep(source):
                shadow = helpers.copy(b, shadow)
            b.emit("addto", into, shadow)

    def _reverse_alloc(self, instr: Instr) -> None:
        """A reverse part that may run again finds its shadows zeroed, as they were made."""
        if self.mode != "joint" and instr.result in self.shadows:
            shadow = self._needed_shadow(instr.result)
            self.builder.emit("fill", shadow, const(0.0, helpers.dtype(shadow)))

    def _reverse_select(self, instr: Instr) -> None:
        if isinstance(instr.result.type, Array) or not self.active(instr.result):
            return
        c, x, y = instr.operands
        d = self._take(instr.result)
        if _is_zero(d):
            return
        chosen = self.builder.traced(self.need(c, self.current)) if not isinstance(c, Const) else None
        zero = const(0.0, d.type)
        for v, then, other in ((x, d, zero), (y, zero, d)):
            if self.active(v):
                if chosen is None:
                    value = then if c.value else other  # type: ignore[union-attr]
                else:
                    value = self.builder.op("select", chosen.value(), then, other)
                self._add(v, value)

    def _reverse_pycall(self, instr: Instr) -> None:
        if any(self.active(r) for r in instr.results):
            name = getattr(instr.attrs.get("callable"), "__qualname__", None) or repr(instr.attrs.get("callable"))
            raise Unsupported(
                f"a derivative through `{name}`, which zyg cannot see into",
                instr.position,
                hint=f"give it a rule with @zyg.adjoint({name}), or wrap its arguments in zyg.stop_gradient",
            )

    # ---- stacks of an inner derivative: a push is undone by a pop of cotangents, and a pop by a push

    def _shadow_stack(self, stack: Value) -> Value:
        root = self._stack_root(stack)
        if root not in self.shadow_stacks:
            made = Value(TAPE if stack.type is TAPE else Stack(_cotangent_item(stack.type)), f"d_{stack.name}")
            self.shadow_stacks[root] = made
            self.own_shadow_stacks.append(made)
        return self.shadow_stacks[root]

    def _mirrored(self, stack: Value) -> bool:
        """Whether pushes and pops of this stack are undone.  What travels on tapes always is: the function that pushes
        and the one that pops are differentiated apart, and have to agree."""
        return stack.type is TAPE or self._stack_root(stack) in self.travelling or self._active_memory(stack)

    def _reverse_pop(self, instr: Instr) -> None:
        stack = instr.operands[0]
        if not self._mirrored(stack):
            return
        cotangents: list[Value] = []
        for r in instr.results:
            if isinstance(r.type, Scalar) and differentiable(r.type):
                cotangents.append(self._take(r) if self.active(r) else const(0.0, cotangent_type(r.type)))
            elif isinstance(r.type, Stack) and _cotangent_item(r.type) is not None:
                cotangents.append(self._shadow_stack(r))
        if cotangents:
            self._one_reader(stack, instr)
            self.builder.emit("push", self._shadow_stack(stack), *cotangents)

    def _reverse_push(self, instr: Instr) -> None:
        stack, *values = instr.operands
        if not self._mirrored(stack):
            return
        along = [v for v in values if isinstance(v.type, Scalar) and differentiable(v.type)
                 or isinstance(v.type, Stack) and _cotangent_item(v.type) is not None]  # fmt: skip
        if not along:
            return
        types = tuple(Stack(_cotangent_item(v.type)) if isinstance(v.type, Stack) else cotangent_type(v.type)
                      for v in along)  # type: ignore[arg-type]  # fmt: skip
        for v, d in zip(along, self.builder.emit("pop", self._shadow_stack(stack), types=types), strict=True):
            if isinstance(v.type, Stack):
                self.shadow_stacks[self._stack_root(v)] = d
            elif self.active(v):
                self._add(v, d)

    def _one_reader(self, stack: Value, instr: Instr) -> None:
        root = self._stack_root(stack)
        cursors = [v for v in self.cursors if self._stack_root(v) is root]
        if len(cursors) > 1:
            raise Unsupported(
                "the derivative of a pullback that is called more than once",
                instr.position,
                hint="call zyg.pullback again for each call of `back` inside a function that is differentiated",
            )

    # ---- calls

    def _reverse_call(self, instr: Instr) -> None:
        made = self.made_by.get(instr)
        if made is None:
            return
        original, info = made
        if isinstance(info, _Callee):
            self._reverse_callee(original, info)
        else:
            self._reverse_rule(original, info)

    def _reverse_callee(self, instr: Instr, callee: _Callee) -> None:
        b = self.builder
        seeds = []
        for k in callee.seeds:
            r = instr.results[k]
            seeds.append(self._take(r) if self.active(r) else const(0.0, cotangent_type(r.type)))
        assert self.tape is not None
        types = tuple(cotangent_type(instr.operands[k].type) for k in callee.scalar_gradients)
        tape = self.reverse_tape if self.mode == "callee" else self.need(self.tape, self.current)
        shadows = [self._shadow_stack(instr.operands[k]) for k in callee.tape_params]
        cotangents = b.emit("call", tape, *seeds, *shadows, types=types, callee=callee.reverse)
        for k, d in zip(callee.scalar_gradients, cotangents, strict=True):
            if self.active(instr.operands[k]):
                self._add(instr.operands[k], d)

    def _reverse_rule(self, instr: Instr, saved: list[Value]) -> None:
        b = self.builder
        rule = instr.attrs["rule"]
        seeds = []
        for r in instr.results:
            if not differentiable(r.type):
                continue
            if isinstance(r.type, Array):
                seeds.append(self._needed_shadow(r) if r in self.shadows else helpers.zeros_like(
                    b, self.need(r, self.current), f"d_{r.name}"))  # fmt: skip
            else:
                seeds.append(self._take(r) if self.active(r) else const(0.0, cotangent_type(r.type)))
        reverse = self.module.functions[rule.reverse]
        arguments = [self.need(v, self.current) for v in saved] + seeds
        cotangents = b.emit("call", *arguments, types=tuple(reverse.results), callee=rule.reverse)
        for k, d in zip(rule.gradients, cotangents, strict=True):
            v = instr.operands[k]
            if not self.active(v):
                continue
            if isinstance(v.type, Array):
                b.emit("addto", self._needed_shadow(v), d)
            else:
                self._add(v, d)
        for r in instr.results:
            if isinstance(r.type, Array) and r in self.shadows:
                shadow = self._needed_shadow(r)
                b.emit("fill", shadow, const(0.0, helpers.dtype(shadow)))

    # ----------------------------------------------------------------------------------------- the result

    def _cotangents_of_params(self) -> None:
        """What the reverse part returns, read at its end."""
        b = self.builder
        self.end = self._here
        self.final: list[Value] = []
        chosen = self.callees[self.name].scalar_gradients if self.mode == "callee" else self.gradients
        for k in chosen:
            p = self.primal_params[k]
            if isinstance(p.type, Array):
                shadow = self._needed_shadow(p)
                self.final.append(shadow if self.mode == "joint" else helpers.copy(b, shadow))
            else:
                self.final.append(self._read(p) if self.active(p) else _zero(cotangent_type(p.type)))

    def _finish(self) -> Adjoint:
        f = self.function
        storage = Storage(self)
        storage.run()
        final = [storage.replacement.get(v, v) for v in self.final]
        start = self.reverse_of[self.return_block]
        for stack in self.own_shadow_stacks:
            start.instrs.insert(0, Instr("tape" if stack.type is TAPE else "stack", [], [stack]))
        if self.mode == "joint":
            temporary = [*storage.stacks, *self.own_shadow_stacks] + ([self.tape] if self.tape else [])
            self.end.instrs.extend(Instr("drop", [s]) for s in temporary)
        self.end.instrs.append(Instr("return", final))
        forward = set(self.forward_blocks)
        reverse_blocks = [b for b in f.blocks if b not in forward]
        self.cotangents.finish(reverse_blocks, zeros=True)
        for block in reverse_blocks:
            block.instrs[:] = [i for i in block.instrs if not (i.op == "accum" and _is_zero(i.operands[1]))]
        if self.mode == "joint":
            return self._finish_joint(start)
        return self._finish_split(start)

    def _finish_joint(self, start: Block) -> Adjoint:
        f = self.function
        assert self.return_block is not None
        ret = self.return_block.instrs.pop()
        self.return_block.instrs.append(Instr("jump", targets=[Target(start)]))
        self.end.terminator.operands[:0] = ret.operands
        f.entry.params.extend(self.seed_params)
        f.results = (*f.results, *[v.type for v in self.end.terminator.operands[len(f.results) :]])
        f.name = self.module.unique_name(f"{self.name}.adj")
        self.module.add(f)
        return Adjoint(function=f.name, gradients=self.gradients, seeds=self.seeds)

    def _finish_split(self, start: Block) -> Adjoint:
        """Cut into two functions; what the second uses of the first is saved."""
        f = self.function
        assert self.return_block is not None
        reverse_blocks = [b for b in f.blocks if b not in set(self.forward_blocks)]
        shadow_tapes = [self.shadow_stacks[p] for p in self.primal_params if p.type is TAPE and self.mode == "callee"]
        inside: set[Value] = {*self.seed_params, *shadow_tapes, self.reverse_tape}
        for block in reverse_blocks:
            inside.update(block.params)
            for instr in block.instrs:
                inside.update(instr.results)
        saved = list(
            dict.fromkeys(
                v
                for block in reverse_blocks
                for instr in block.instrs
                for v in uses(instr)
                if v not in inside and not isinstance(v, Const)
            )
        )
        if self.mode == "callee":
            callee = self.callees[self.name]
            forward_name, reverse_name = callee.forward, callee.reverse
        else:
            forward_name = self.module.unique_name(f"{self.name}.fwd")
            reverse_name = self.module.unique_name(f"{self.name}.rev")
        reverse = Function(reverse_name, [], tuple(v.type for v in self.end.terminator.operands))
        entry = Block("entry")
        b = Builder(reverse, entry)
        copies: dict[Value, Value]
        ret = self.return_block.terminator
        if self.mode == "callee":
            assert self.tape is not None
            entry.params = [self.reverse_tape, *self.seed_params, *shadow_tapes]
            if saved:
                types = tuple(v.type for v in saved)
                copies = dict(zip(saved, b.emit("pop", self.reverse_tape, types=types), strict=True))
                self.return_block.instrs.insert(-1, Instr("push", [self.tape, *saved]))
            else:
                copies = {}
            shadows = [self.shadows[ret.operands[k]] for k in callee.array_results]  # type: ignore[possibly-undefined]
            ret.operands.extend(shadows)
            f.results = (*f.results, *[s.type for s in shadows])
        else:
            copies = {v: Value(v.type, v.name) for v in saved}
            entry.params = [*copies.values(), *self.seed_params]
            for v, c in copies.items():
                if isinstance(v.type, Stack) or v.type is TAPE:
                    copies[v] = b.op("cursor", c, name=c.name)
            ret.operands.extend(saved)
            f.results = (*f.results, *[v.type for v in saved])
        for v, c in copies.items():
            c.name = v.name
        b.jump(start)
        for block in reverse_blocks:
            for instr in block.instrs:
                map_uses(instr, lambda v: copies.get(v, v))
        reverse.blocks = [entry, *reverse_blocks]
        reverse.attrs = dict(f.attrs)
        f.blocks = list(self.forward_blocks)
        f.name = forward_name
        self.module.functions[forward_name] = f
        self.module.functions[reverse_name] = reverse
        return Adjoint(
            forward=forward_name,
            reverse=reverse_name,
            gradients=self.gradients,
            seeds=self.seeds,
            saved=tuple(v.type for v in saved),
        )

    def _never_returns(self) -> Adjoint:
        """The function raises whatever happens: so does its derivative."""
        f = self.function
        chosen = self.callees[self.name].scalar_gradients if self.mode == "callee" else self.gradients
        cotangents = tuple(
            helpers.shadow_type(p.type) if isinstance(p.type, Array) else cotangent_type(p.type)
            for p in (self.primal_params[k] for k in chosen)
        )
        f.entry.params.extend(
            Value(helpers.shadow_type(t) if isinstance(t, Array) else cotangent_type(t), "seed")
            for t in (f.results[r] for r in self.seeds)
            if self.mode == "joint"
        )
        if self.mode == "joint":
            f.results = (*f.results, *cotangents)
            f.name = self.module.unique_name(f"{self.name}.adj")
            self.module.add(f)
            return Adjoint(function=f.name, gradients=self.gradients, seeds=self.seeds)
        # The reverse half is never called.
        callee = self.callees.get(self.name)
        forward_name = callee.forward if callee else self.module.unique_name(f"{self.name}.fwd")
        reverse_name = callee.reverse if callee else self.module.unique_name(f"{self.name}.rev")
        seeds = [
            Value(helpers.shadow_type(t) if isinstance(t, Array) else cotangent_type(t), "seed")
            for t in (f.results[r] for r in (callee.seeds if callee else self.seeds))
        ]
        shadow_tapes = [self.shadow_stacks[p] for p in self.primal_params if p.type is TAPE and callee]
        entry = Block("entry", [self.reverse_tape, *seeds, *shadow_tapes] if callee else seeds)
        entry.instrs.append(Instr("unreachable"))
        reverse = Function(reverse_name, [entry], cotangents)
        if callee:
            extra = tuple(helpers.shadow_type(f.results[k]) for k in callee.array_results)
            f.results = (*f.results, *extra)
        f.name = forward_name
        self.module.functions[forward_name] = f
        self.module.functions[reverse_name] = reverse
        return Adjoint(forward=forward_name, reverse=reverse_name, gradients=self.gradients, seeds=self.seeds)


def _inline_pullbacks(module: Module, function: Function) -> None:
    """Inline calls that pass stacks by value, the halves of pullbacks: their stacks are then ordinary ones."""
    changed = False
    work = list(function.blocks)
    while work:
        block = work.pop()
        for n, instr in enumerate(block.instrs):
            if instr.op != "call" or instr.attrs["callee"] == function.name:
                continue
            results = [r for r in instr.results if isinstance(r.type, Stack) or r.type is TAPE]
            if results or any(isinstance(v.type, Stack) for v in instr.operands):
                before = set(function.blocks)
                inline.inline_call(module, function, block, n)
                work.extend(b for b in function.blocks if b not in before)
                changed = True
                break
    if changed:
        simplify_cfg.run(function)  # stacks that came as block arguments are the stacks themselves


def _companion_item(stack: Type) -> Type | None:
    """The item type of the companion of a stack: what goes along with its fields; None if nothing does."""
    along = [_along_type(t) for t in helpers.fields(stack) if _goes_along(t)]
    return helpers.record(along) if along else None


def _goes_along(t: Type) -> bool:
    return isinstance(t, Array) and differentiable(t) or isinstance(t, Stack) and _companion_item(t) is not None


def _along_type(t: Type) -> Type:
    if isinstance(t, Stack):
        item = _companion_item(t)
        assert item is not None
        return Stack(item)
    return helpers.shadow_type(t)


def _cotangent_item(stack: Type) -> Type | None:
    """The item type of the shadow of a stack: the cotangents of the numbers among its fields; None if there are none."""
    numbers = [cotangent_type(t) for t in helpers.fields(stack) if isinstance(t, Scalar) and differentiable(t)]
    return helpers.record(numbers) if numbers else None


def _is_zero(v: Value) -> bool:
    if not isinstance(v, Const):
        return False
    return v.value is None if v.type is OBJECT else v.value == 0


def _zero(t: Type) -> Const:
    return const(None, OBJECT) if t is OBJECT else const(0.0, t)


def _position(block: Block) -> Position | None:
    return next((i.position for i in block.instrs if i.position is not None), None)


def _drop_unused(block: Block, start: int, kept: list[Value]) -> None:
    """Remove instructions from `start` on that no value in `kept` needs: rules compute for all operands."""
    wanted = set(kept)
    result: list[Instr] = []
    for instr in reversed(block.instrs[start:]):
        if any(r in wanted for r in instr.results):
            wanted.update(instr.operands)
            result.append(instr)
    block.instrs[start:] = result[::-1]
