"""What the parts of the adjoint pass share: the function as it is analysed, activity, and the small records.

The pass is one class in four files, each a step: `State` (here), `ForwardPart`, `ReverseGraph`, `ReverseInstructions`,
and `adjoint.py`, which runs them and puts the result together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any

from zyg.errors import Unsupported
from zyg.ir.analysis import Dominators, Loop, Loops, PostDominators
from zyg.ir.builder import Builder
from zyg.ir.core import CALLING, Block, Const, Function, Instr, Module, Position, Value, array_type, clone, const
from zyg.ir.passes import inline, loop_simplify, simplify_cfg
from zyg.ir.readymade import is_library, require_body
from zyg.ir.records import record
from zyg.ir.types import I64, TAPE, Array, Stack, Type

from . import helpers
from .activity import Activity, Summary, differentiable, summarise
from .invariants import hoist_loads
from .lastwrites import LastWrites


class Need(Value):
    """Stands in the reverse part for `primal`, a value of the forward part, wanted in the reverse of `block`."""

    __slots__ = ("block", "primal")

    def __init__(self, primal: Value, block: Block):
        super().__init__(primal.type, primal.name)
        self.primal = primal
        self.block = block


@record(frozen=True)
class Entrance:
    """The variable of the reverse part that tells where the reverse of the next iteration of `loop` starts: 0 at the
    latch, k at the k-th of the edges by which the loop can be left."""

    loop: Loop

    type = I64
    name = "entrance"


@record
class Counted:
    """What is known about the iterations of a loop: `trips` is a value of the forward part that, behind the loop, is the
    number of times that it went round.  `known` is whether it is available before the loop (no `break`)."""

    trips: Value
    known: bool


@record
class Callee:
    """The out-of-line adjoint of a callee: names, which scalar parameters get cotangents, which array parameters have
    shadows passed, which results take seeds, which array results come with shadows."""

    forward: str
    reverse: str
    scalar_gradients: tuple[int, ...]
    array_params: tuple[int, ...]
    seeds: tuple[int, ...]
    array_results: tuple[int, ...]
    tape_params: tuple[int, ...]  # tapes of an inner derivative: a companion goes forward, a shadow tape backward
    # Array parameters that nobody changes until the reverse half has run (of functions of the library only).
    lent: tuple[int, ...]


class Callees(dict[tuple[Any, ...], Callee]):
    """The adjoints of callees, by name, those of functions of the library also by which parameters they are and which arrays are lent.
    Checkpointed calls want variants of them: forward halves that save nothing
    (`untaped`), and reverse halves of which it is known that they use a tape for the last time (`last`)."""

    def __init__(self) -> None:
        self.untaped: dict[str, str] = {}
        self.last: dict[str, str] = {}

    def untaped_name(self, module: Module, forward: str) -> str:
        if forward not in self.untaped:
            self.untaped[forward] = module.unique_name(f"{forward}.untaped")
            module.add(Function(self.untaped[forward]))  # keeps the name
        return self.untaped[forward]

    def last_name(self, module: Module, reverse: str) -> str:
        if reverse not in self.last:
            self.last[reverse] = module.unique_name(f"{reverse}.last")
            module.add(Function(self.last[reverse]))
        return self.last[reverse]

    def make_variants(self, module: Module) -> None:
        """When all halves are made."""
        self._make_untaped(module)
        work = list(self.last)
        while work:
            reverse = work.pop()
            known = set(self.last)
            require_body(module.functions[reverse])
            made = clone(module.functions[reverse], self.last[reverse])
            module.functions[made.name] = made
            _free_as_it_goes(made, lambda inner: self.last_name(module, inner))
            work += [name for name in self.last if name not in known]

    def _make_untaped(self, module: Module) -> None:
        work = list(self.untaped)
        while work:
            forward = work.pop()
            require_body(module.functions[forward])
            made = clone(module.functions[forward], self.untaped[forward])
            module.functions[made.name] = made
            tape = made.params.pop()
            for block in made.blocks:
                block.instrs[:] = [i for i in block.instrs if i.op != "push" or i.operands[0] is not tape]
                for instr in block.instrs:
                    if tape in instr.operands:
                        assert instr.op == "call" and instr.operands.pop() is tape
                        inner = instr.attrs["callee"]
                        if inner not in self.untaped:
                            work.append(inner)
                        instr.attrs = {**instr.attrs, "callee": self.untaped_name(module, inner)}


def _free_as_it_goes(reverse: Function, last_name: Callable[[str], str]) -> None:
    """Let a reverse half give back what was saved for it: arrays when they have been used, the stacks that it takes off its
    tape when it is done."""
    tape = reverse.params[0]
    ours: set[Value] = {tape}
    whole: list[Value] = []  # the positions of the stacks before anything was taken off them
    for block in reverse.blocks:
        instrs, block.instrs = block.instrs, []
        for instr in instrs:
            block.instrs.append(instr)
            if instr.op == "call" and tape in instr.operands:
                instr.attrs = {**instr.attrs, "callee": last_name(instr.attrs["callee"])}
            elif instr.op == "pop" and instr.operands[0] in ours:
                instr.attrs = {**instr.attrs, "owned": True}
                for r in instr.results if instr.operands[0] is tape else ():
                    if isinstance(r.type, Stack):
                        ours.add(r)
                        whole.append(Value(r.type, r.name))
                        block.instrs.append(Instr("cursor", [r], [whole[-1]]))
    for block in reverse.blocks:
        if block.terminator.op == "return":
            block.instrs[-1:-1] = [Instr("drop", [s]) for s in whole]


@record
class Rerun:
    """A checkpointed call: what it starts from, with copies of arrays that change, and the shadows of its array results."""

    callee: Callee
    kept: list[Value]
    written: set[int]


class State(ABC):
    """The state of one run. `mode` is "joint", "split" (a pullback) or "callee" (for an out-of-line call: shadows of
    arrays are parameters, and what is saved goes on a tape)."""

    def __init__(
        self,
        module: Module,
        name: str,
        wrt: list[bool],
        summaries: dict[str, Summary],
        mode: str,
        callees: Callees | None = None,
        outputs: Sequence[int] | None = None,
        callee: Callee | None = None,
    ):
        self.module = module
        self.name = name
        self.mode = mode
        self.wrt = wrt
        self.outputs = outputs
        self.summaries = summaries
        self.callees = callees if callees is not None else Callees()
        self.callee = callee  # what is made, in mode "callee"
        require_body(module.functions[name])
        self.function = clone(module.functions[name])
        inline_ruled(module, self.function)
        inline_pullbacks(module, self.function)
        write_out_reductions(module, self.function, summaries)
        loop_simplify.run(self.function)
        loop_simplify.merge_returns(self.function)
        simplify_cfg.remove_redundant_params(self.function)  # new preheaders pass on what their loops start from
        hoist_loads(self.function, module, summaries)
        self.primal_params = list(self.function.params)
        self.builder = Builder(self.function)
        self.shadows: dict[Value, Value] = {}
        self.companions: dict[Value, Value] = {}  # per stack: carries the shadows of arrays that go through it
        self.shadow_stacks: dict[Value, Value] = {}  # per stack or tape: cotangents of numbers, in the reverse part
        self.own_shadow_stacks: list[Value] = []  # those of them that the reverse part makes at its start
        self.made_by: dict[Instr, tuple[Instr, object]] = {}  # adjoint calls of the forward part
        self.reversed: dict[
            Hashable, tuple[str, list[int], bool]
        ] = {}  # functions of elements that were (elementwise.py)
        self.refills: list[tuple[Instr, Value]] = []  # what clears a shadow for a reverse part that may run again
        self.needs: dict[tuple[Value, Block], Need] = {}
        # Of arrays that may change when the function is done, by the array and what copies it.
        self.copies: dict[tuple[Value, Any], Value] = {}
        # Quotients of rules that count as 0 where they are nan: so do those of their own rules.
        self.singular: set[Value] = set()
        self.prologue_length = 0
        self.counted: dict[Loop, Counted] = {}
        self.negations: dict[tuple[Value, Block], Value] = {}
        self.reverse_of: dict[Block, Block] = {}
        self.loop_entries: dict[Loop, list[tuple[Block, Block]]] = {}  # (reverse block that enters, exit block)
        self.seed_params: list[Value] = []
        self.reverse_tape = Value(TAPE, "tape")  # parameter of the reverse half of a callee
        self.activity = Activity(self.function, module, summaries)
        self.slices = {
            i.result for _, i in self.function.instructions() if i.op == "view" and set(i.attrs["spec"]) <= set(":sn")
        }  # all but those by which arrays fall into parts that have no element in common
        self.array_makers = {
            r: i for _, i in self.function.instructions() for r in i.results if isinstance(r.type, Array)
        }
        self.bits = sum(1 << k for k, chosen in enumerate(wrt) if chosen)
        results = range(len(self.function.results)) if outputs is None else outputs
        self.seeds = tuple(r for r in results if differentiable(self.function.results[r]))
        self.gradients = tuple(k for k, p in enumerate(self.primal_params) if wrt[k] and differentiable(p.type))
        self.activity.backward(list(self.seeds))
        if callee is not None:
            shadowed = callee.array_params
            for k, p in enumerate(self.primal_params):
                if k in shadowed or p.type is TAPE:
                    self.activity.mark_useful(p, 1 << (len(self.function.results) + k))
        # Arrays keep their contents between the forward and the reverse part, unless the function writes them, where the
        # two parts are one function.
        self.settled = mode == "joint"
        self._analyse()
        self.last_writes = LastWrites(self.function, self.activity)
        self.seen_outside = self._seen_outside()
        if callee is not None and is_library(self.function):
            self.seen_outside = self._seen_outside_library(callee.lent)

    def stays(self, array: Value) -> bool:
        """Whether nobody else changes what an array holds before the reverse part has run."""
        return self.settled or self.activity.rep(array) not in self.seen_outside

    @abstractmethod
    def run(self) -> object:
        """Make the adjoint (in adjoint.py)."""

    def may_share_places(self, array: Value) -> bool:
        """Whether several elements of an array, and so of its shadow, may lie in one place: of one that was broadcast, or of windows."""
        while array_type(array).layout != "C":
            maker = self.array_makers.get(array)
            if maker is None:
                return self.mode == "callee" or array not in self.primal_params
            if maker.op == "alloc":
                return False
            if maker.op not in ("view", "transpose", "reshape"):
                return True
            array = maker.operands[0]
        return False

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
                    raise Unsupported("a jump into the middle of a loop", position_of(block))
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

    def _takes_part(self, call: Instr) -> bool:
        """Whether a call is part of the derivative: something active goes in, and something comes out."""
        if any(self.active(r) for r in call.results):
            return True
        if any(v.type is TAPE for v in call.operands):
            return True  # what one call puts on a tape another takes off: all go along, or none
        written = self.summaries[call.attrs["callee"]].written
        return any(self.active(call.operands[p]) for p in written)

    def _has_shadow(self, array: Value) -> bool:
        """Active arrays have shadows, and so do those that go through stacks: who pops them may find them active.
        Parameters to differentiate by have one that is returned, if only zeros."""
        if self.mode != "callee" and any(array is self.primal_params[k] for k in self.gradients):
            return True
        return self.active(array) or differentiable(array.type) and self.activity.rep(array) in self.moving

    def _seen_outside(self) -> set[Value]:
        """Alias classes of arrays of which others than this function have a hold: they come from outside, or go there, and may
        change between the forward and the reverse part where these are two functions."""
        seen = {self.activity.rep(p) for p in self.primal_params if isinstance(p.type, Array)}
        return seen | self._memory_of("call", "pycall", "return", "push", "pop")

    def _seen_outside_library(self, lent: Collection[int]) -> set[Value]:
        """The same in a function of the library, which calls others of these only: what it hands to them they hand to nobody."""
        of = self.activity.rep
        params = enumerate(self.primal_params)
        seen = {of(p) for k, p in params if isinstance(p.type, Array) and k not in lent}
        return seen | self._memory_of("pycall", "return")

    def _memory_of(self, *ops: str) -> set[Value]:
        """The alias classes of arrays that these instructions have to do with."""
        found = [i for _, i in self.function.instructions() if i.op in ops]
        return {self.activity.rep(v) for i in found for v in [*i.operands, *i.results] if isinstance(v.type, Array)}

    def _active_memory(self, v: Value) -> bool:
        return bool(self.activity.varied_by(v) & self.bits) and bool(self.activity.useful_for(v))

    def _stack_root(self, stack: Value) -> Value:
        """The `stack` behind a chain of cursors."""
        while (definition := self.where.definition.get(stack)) is not None and definition.op == "cursor":
            stack = definition.operands[0]
        return stack

    # Calls: by a user's rule, or by the adjoint of the callee.


def lent_arrays(function: Function, summary: Summary) -> list[int]:
    """The array parameters of a function of the library that it has as long as its adjoint takes: those that it neither writes to nor
    gives back."""
    return [
        k for k, p in enumerate(function.params)
        if isinstance(p.type, Array) and k not in summary.changed and not any(bits >> k & 1 for bits in summary.shares)
    ]  # fmt: skip


def write_out_reductions(module: Module, function: Function, summaries: dict[str, Summary]) -> None:
    """Loops for the reductions other than sums that a derivative goes through, as products, maxima and minima of integers: the
    reverse of an `apply` adds up.  (Those of floats have ways of their own, and none goes through them.)"""

    def chosen(apply: Instr) -> bool:
        kinds = [*apply.attrs["modes"], *apply.attrs.get("kinds", ())]
        flowing = summaries[apply.attrs["callee"]].results
        return any(kind not in ("set", "add") and bits for kind, bits in zip(kinds, flowing, strict=False))

    if any(i.op == "apply" and chosen(i) for _, i in function.instructions()):
        from zyg.ir.passes import expand  # on demand: only whole arrays need it

        expand.expand(module, function, chosen=chosen)
        for _, instr in function.instructions():
            if instr.op in CALLING and instr.attrs["callee"] not in summaries:
                summarise(module, instr.attrs["callee"], summaries)


def inline_ruled(module: Module, function: Function) -> None:
    """Inline what has a rule for forward mode only: reverse mode differentiates it as it stands."""
    if not any("tangent" in i.attrs for _, i in function.instructions()):
        return
    recursive = inline.bottom_up(module)[1]
    work = list(function.blocks)
    while work:
        block = work.pop()
        for n, instr in enumerate(block.instrs):
            if "tangent" in instr.attrs and instr.attrs["callee"] not in recursive:
                work += [block, inline.inline_call(module, function, block, n)]
                break
    simplify_cfg.run(function)


def inline_pullbacks(module: Module, function: Function) -> None:
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


def is_zero(v: Value) -> bool:
    return isinstance(v, Const) and v.value == 0


def zero(t: Type) -> Const:
    return const(0.0, t)


def position_of(block: Block) -> Position | None:
    return next((i.position for i in block.instrs if i.position is not None), None)
