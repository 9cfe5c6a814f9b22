"""What the parts of the tangent pass share: what varies, and the tangents of numbers, arrays and records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from zyg.errors import Unsupported
from zyg.ir.analysis import Dominators
from zyg.ir.builder import Builder
from zyg.ir.core import CALLING, Block, Const, Function, Instr, Module, Value, clone, const, rule_functions
from zyg.ir.ops import OPS
from zyg.ir.passes import expand, simplify_cfg
from zyg.ir.readymade import require_body
from zyg.ir.records import record
from zyg.ir.types import TAPE, Array, Stack, Type, cotangent_type

from . import helpers
from .activity import Activity, Summary, differentiable, summarise
from .state import inline_pullbacks


@record(frozen=True)
class Tangent:
    """What the pass made: the name of the function; the indices of the parameters that take a tangent and of the results
    that have one.  Tangents stand behind all parameters or results, in this order; those of a number are one per lane."""

    function: str
    params: tuple[int, ...]
    outputs: tuple[int, ...]


class Lean(Builder):
    """Computes a pure thing once within the rule of one instruction: lanes and operands share much."""

    def __init__(self, function: Function, block: Block | None = None):
        super().__init__(function, block)
        self.seen: dict[object, Value] = {}

    def start(self) -> None:
        """The next instruction begins."""
        self.seen.clear()

    def op(self, op: str, *operands: Value, type: Type | None = None, name: str = "", **attrs: object) -> Value:
        operand = lambda v: (v.type, repr(v.value)) if isinstance(v, Const) else v
        key = (op, type, *map(operand, operands), *sorted(attrs.items()))
        if OPS[op].effects != "pure":
            return super().op(op, *operands, type=type, name=name, **attrs)
        if key not in self.seen:
            self.seen[key] = super().op(op, *operands, type=type, name=name, **attrs)
        return self.seen[key]


class Run(ABC):
    """One run of the pass: the tangents of a function and of what it calls."""

    def __init__(self, module: Module, summaries: dict[str, Summary], lanes: int):
        self.module = module
        self.summaries = summaries
        self.lanes = lanes

    @abstractmethod
    def of(self, name: str, wrt: list[bool], outputs: Sequence[int] | None, whole: bool) -> Tangent:
        """The tangent of one function. `whole`: it is the outermost, whose array arguments nobody looks at afterwards."""

    @abstractmethod
    def elements(self, name: str, wrt: list[bool], outputs: Sequence[int], arrays: int) -> Tangent:
        """The tangent of a function of elements, of which the first results are for `arrays`: tangents stand behind these, and behind the
        others.  What is 0 for all elements has none."""


class TangentState:
    """The state of the pass over one function."""

    def __init__(self, run: Run, name: str, wrt: list[bool], made: Tangent, whole: bool):
        self.whole_run = run
        self.module = run.module
        self.lanes = run.lanes
        self.made = made
        self.whole = whole
        require_body(run.module.functions[name])
        self.function = f = clone(run.module.functions[name])
        self.name = name
        expand.expand(run.module, f, chosen=self._has_no_tangent)
        inline_pullbacks(run.module, f)
        simplify_cfg.remove_redundant_params(f)
        f.blocks[:] = Dominators(f).order
        self.summaries = self._summaries()
        self.activity = Activity(f, run.module, self.summaries)
        self.bits = sum(1 << k for k, chosen in enumerate(wrt) if chosen)
        self.activity.backward(list(made.outputs))
        if not whole:
            for k, p in enumerate(f.params):
                if wrt[k] and (isinstance(p.type, Array) or p.type is TAPE):
                    self.activity.mark_useful(p, 1 << (len(f.results) + k))
        self.tangents: dict[Value, tuple[Value, ...]] = {}  # of numbers: one per lane
        self.shadows: dict[Value, Value] = {}  # of arrays
        self.stacks = Layouts(self)
        self.builder = Lean(f)

    def _has_no_tangent(self, apply: Instr) -> bool:
        """Whether loops take the place of an operation on whole arrays: what is neither set nor added up, and where a shadow has
        more dimensions than its array."""
        kinds = [*apply.attrs["modes"], *apply.attrs.get("kinds", ("add",) * len(apply.results))]
        types = self.module.functions[apply.attrs["callee"]].results
        other = any(k not in ("set", "add") and differentiable(t) for k, t in zip(kinds, types, strict=True))
        return other or self.lanes > 1 or "neighbours" in apply.attrs

    def _summaries(self) -> dict[str, Summary]:
        """Inlined halves of pullbacks may call functions that the summaries do not have yet."""
        known = self.whole_run.summaries
        for _, instr in self.function.instructions():
            if instr.op in CALLING and instr.attrs["callee"] not in known:
                for name, summary in summarise(self.module, instr.attrs["callee"]).items():
                    known.setdefault(name, summary)
            for function in rule_functions(instr) if instr.op == "call" else []:
                if function not in known:
                    for name, summary in summarise(self.module, function).items():
                        known.setdefault(name, summary)
        return known

    # ------------------------------------------------------------------------------------------ what varies

    def active(self, v: Value) -> bool:
        """Whether `v` has a tangent that may not be zero, and a result whose tangent is wanted depends on it."""
        return not isinstance(v, Const) and differentiable(v.type) and self.active_memory(v)

    def active_memory(self, v: Value) -> bool:
        return bool(self.activity.varied_by(v) & self.bits) and bool(self.activity.useful_for(v))

    def of(self, v: Value) -> tuple[Value, ...]:
        """The tangents of a number, one per lane."""
        found = self.tangents.get(v)
        return found if found is not None else (const(0.0, cotangent_type(v.type)),) * self.lanes

    def along(self, v: Value) -> list[Value]:
        """The tangents of a number or of an array that has one."""
        return [self.shadow(v)] if isinstance(v.type, Array) else list(self.of(v))

    def shadow(self, v: Value) -> Value:
        """The tangent of an array; zeros, made here, if it has none of its own."""
        if v not in self.shadows:
            return self._zeros(v)
        return self.shadows[v]

    def shadow_type(self, t: Type) -> Array:
        made = helpers.shadow_type(t)
        return made if self.lanes == 1 else Array(made.dtype, made.ndim + 1, made.layout)

    def types(self, t: Type) -> list[Type]:
        """The types of the tangents of a number or an array."""
        return [self.shadow_type(t)] if isinstance(t, Array) else [cotangent_type(t)] * self.lanes

    def new(self, v: Value) -> list[Value]:
        """Names for the tangents of `v`."""
        made = [Value(t, f"d_{v.name}") for t in self.types(v.type)]
        self.define(v, made)
        return made

    def define(self, v: Value, tangents: Sequence[Value]) -> None:
        if isinstance(v.type, Array):
            (self.shadows[v],) = tangents
        else:
            self.tangents[v] = tuple(tangents)

    def _zeros(self, array: Value) -> Value:
        b = self.builder
        wanted = self.shadow_type(array.type)
        shape = [*helpers.lengths(b, array), *self._lane_shape()]
        plain = Array(wanted.dtype, wanted.ndim, "C")
        made = b.op("alloc", *shape, type=plain, name=f"d_{array.name}", fill="zeros")
        return helpers.lying_as(b.op, made, array)

    def _lane_shape(self) -> list[Value]:
        return [] if self.lanes == 1 else [const(self.lanes)]

    def _lane_index(self, lane: int) -> list[Value]:
        return [] if self.lanes == 1 else [const(lane)]

    def _lane(self, b: Builder, shadow: Value, lane: int) -> Value:
        assert isinstance(shadow.type, Array)
        one = Array(shadow.type.dtype, shadow.type.ndim - 1, "A")
        return b.op("view", shadow, const(lane), type=one, spec=":" * one.ndim + "i")

    def _unsupported(self, what: str, instr: Instr, hint: str = "") -> Unsupported:
        return Unsupported(what, instr.position, hint=hint)


class Layouts:
    """Which fields of the records on a stack have tangents.

    Stacks that are one by alias have one layout, and so have those that go through the same field of another stack.  A
    local stack carries tangents for the fields that vary.  Of what is on a tape every field that can carries one: the
    function that pushes and the one that pops are differentiated apart, and have to agree.
    """

    def __init__(self, body: TangentState):
        self.body = body
        self.activity = body.activity
        self.parent: dict[Value, Value] = {}
        self.travelling: set[Value] = set()
        self.chosen: dict[Value, set[int]] = {}
        self.holders: dict[tuple[Value, int], Value] = {}
        moves = [i for _, i in body.function.instructions() if i.op in ("push", "pop")]
        for i in moves:
            for k, v in enumerate(i.operands[1:] if i.op == "push" else i.results):
                if isinstance(v.type, Stack):
                    self._join(v, self.holders.setdefault((self.find(i.operands[0]), k), v))
        # Where a stack goes through a tape, the same holds for it and for the stacks that go through it.
        self.active: set[Value] = set()
        changed = True
        while changed:
            before = len(self.active) + len(self.travelling)
            for i in moves:
                outer = i.operands[0]
                full = outer.type is TAPE or self.find(outer) in self.travelling
                for v in i.operands[1:] if i.op == "push" else i.results:
                    if isinstance(v.type, Stack):
                        if full:
                            self.travelling.add(self.find(v))
                        if body.active_memory(v) or full and self.carries(outer):
                            self.active.add(self.find(v))
            changed = before != len(self.active) + len(self.travelling)
        for i in moves:
            outer = i.operands[0]
            if self.carries(outer) and outer.type is not TAPE:
                chosen = self.chosen.setdefault(self.find(outer), set())
                full = self.find(outer) in self.travelling
                for k, v in enumerate(i.operands[1:] if i.op == "push" else i.results):
                    if differentiable(v.type) and (full or i.op == "push" and body.active(v)
                                                   or isinstance(v.type, Array) and body.active(v)):  # fmt: skip
                        chosen.add(k)
        self.types: dict[Value, Stack] = {}

    def find(self, v: Value) -> Value:
        v = self.activity.rep(v)
        while (up := self.parent.get(v, v)) is not v:
            v = up
        return v

    def _join(self, a: Value, b: Value) -> None:
        a, b = self.find(a), self.find(b)
        if a is not b:
            self.parent[a] = b

    def carries(self, stack: Value) -> bool:
        return self.body.active_memory(stack) or self.find(stack) in self.active

    def fields(self, stack: Value, values: Sequence[Value]) -> list[int]:
        """The indices of the fields of a record that go along with a tangent."""
        if not self.carries(stack):
            return []
        if stack.type is TAPE:
            return [k for k, v in enumerate(values) if differentiable(v.type)]
        return sorted(self.chosen.get(self.find(stack), ()))

    def retype(self) -> None:
        """Give the stacks that carry tangents their new types."""
        f = self.body.function
        values = [p for b in f.blocks for p in b.params] + [r for _, i in f.instructions() for r in i.results]
        stacks = [v for v in values if isinstance(v.type, Stack) and self.carries(v)]
        # from the outside in: the type of an inner stack is part of the outer one's
        made = {v: self._type(v, v.type) for v in stacks}
        for v, t in made.items():
            v.type = t

    def _type(self, stack: Value, t: Type) -> Stack:
        fields = list(helpers.fields(t))
        chosen = self.chosen.get(self.find(stack), set())
        for k, field in enumerate(fields):
            if isinstance(field, Stack):
                inner = self.holders.get((self.find(stack), k))
                if inner is not None and self.carries(inner):
                    fields[k] = self._type(inner, field)
        return Stack(helpers.record(fields + [x for k in sorted(chosen) for x in self.body.types(fields[k])]))
