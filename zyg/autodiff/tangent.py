"""The tangent pass: from the SSA of a function to the SSA of its forward-mode derivative.

Input: a function of typed SSA, and which of its parameters to differentiate by.  Output: in the same module, a function
`name.tan` that takes the parameters and tangents of those, and gives the results and tangents of those that vary.  The
output is legal input to this pass and to the adjoint pass.

The transform is local.  Behind each instruction stands the one that computes its tangent:

* A number's tangent is a number; the rule is the op's own, read off its `vjp` (an op has one result, so the tangent is the
  sum of what the vjp makes of each operand's tangent), or its `jvp` where several operands together have a shorter one.
* An array's tangent is an array of the same shape and layout: it is made, viewed, stored to and copied where the array is.
* A record on a stack or tape carries the tangents of its fields, so the code of a reverse pass has a tangent: forward over
  reverse.
* Control flow, guards and effects stay as they are, once.  A block has a parameter for the tangent of each parameter.
* A callee gets a tangent of its own, per set of parameters that vary, at its first call; recursion finds it there.

With several *lanes* one pass carries as many tangents: a number has one per lane, side by side, an array one array with
the lanes as its last dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from zyg.errors import Unsupported
from zyg.ir.analysis import Dominators
from zyg.ir.builder import Builder
from zyg.ir.core import Block, Const, Function, Instr, Module, Value, clone, const, rule_functions
from zyg.ir.ops import OPS
from zyg.ir.passes import expand, simplify_cfg
from zyg.ir.trace import Traced
from zyg.ir.types import OBJECT, TAPE, Array, Stack, Type, cotangent_type

from . import helpers
from .activity import Activity, Summary, differentiable, differentiable_operands, summarise
from .instructions import drop_unused
from .state import inline_pullbacks, is_zero


@dataclass(frozen=True)
class Tangent:
    """What the pass made: the name of the function; the indices of the parameters that take a tangent and of the results
    that have one.  Tangents stand behind all parameters or results, in this order; those of a number are one per lane."""

    function: str
    params: tuple[int, ...]
    outputs: tuple[int, ...]


def tangent(
    module: Module, name: str, wrt: Sequence[bool], outputs: Sequence[int] | None = None, lanes: int = 1
) -> Tangent:
    """Differentiate function `name` along the parameters marked in `wrt`; `outputs` are the results whose tangents are
    wanted, all unless given."""
    return _Pass(module, summarise(module, name), lanes).of(name, list(wrt), outputs, whole=True)


class _Pass:
    """One run: the tangents of a function and of what it calls."""

    def __init__(self, module: Module, summaries: dict[str, Summary], lanes: int):
        self.module = module
        self.summaries = summaries
        self.lanes = lanes
        self.known: dict[object, Tangent] = {}

    def of(self, name: str, wrt: list[bool], outputs: Sequence[int] | None, whole: bool) -> Tangent:
        """The tangent of one function. `whole`: it is the outermost, whose array arguments nobody looks at afterwards."""
        key = (name, tuple(wrt), None if outputs is None else tuple(outputs), whole)
        if key not in self.known:
            source = self.module.functions[name]
            bits = sum(1 << k for k, chosen in enumerate(wrt) if chosen)
            results = range(len(source.results)) if outputs is None else outputs
            made = Tangent(
                self.module.unique_name(f"{name}.tan"),
                tuple(k for k, p in enumerate(source.params) if wrt[k] and differentiable(p.type)),
                tuple(
                    r for r in results if self.summaries[name].results[r] & bits and differentiable(source.results[r])
                ),
            )
            self.known[key] = made
            self.module.add(Function(made.function))  # keeps the name; the run replaces it
            _Body(self, name, wrt, made, whole).run()
        return self.known[key]


class _Lean(Builder):
    """Computes a pure thing once within the rule of one instruction: lanes and operands share much."""

    def start(self) -> None:
        self.seen: dict[object, Value] = {}

    def op(self, op: str, *operands: Value, type: Type | None = None, name: str = "", **attrs: object) -> Value:
        operand = lambda v: (v.type, repr(v.value)) if isinstance(v, Const) else v
        key = (op, type, *map(operand, operands), *sorted(attrs.items()))
        if OPS[op].effects != "pure":
            return super().op(op, *operands, type=type, name=name, **attrs)
        if key not in self.seen:
            self.seen[key] = super().op(op, *operands, type=type, name=name, **attrs)
        return self.seen[key]


class _Body:
    """The tangent of one function. Each method `_<op>` handles an op that the rule in its table does not."""

    def __init__(self, run: _Pass, name: str, wrt: list[bool], made: Tangent, whole: bool):
        self.whole_run = run
        self.module = run.module
        self.lanes = run.lanes
        self.made = made
        self.whole = whole
        self.function = f = clone(run.module.functions[name])
        self.name = name
        expand.expand(run.module, f)  # loops over elements have a tangent; so has what is applied to the elements
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
        self.stacks = _Layouts(self)
        self.builder = _Lean(f)

    def _summaries(self) -> dict[str, Summary]:
        """Inlined halves of pullbacks may call functions that the summaries do not have yet."""
        known = self.whole_run.summaries
        for _, instr in self.function.instructions():
            if instr.op == "call" and instr.attrs["callee"] not in known:
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
        return helpers.as_layout(b, made, wanted)

    def _lane_shape(self) -> list[Value]:
        return [] if self.lanes == 1 else [const(self.lanes)]

    def _lane_index(self, lane: int) -> list[Value]:
        return [] if self.lanes == 1 else [const(lane)]

    # ------------------------------------------------------------------------------------------ the function

    def run(self) -> None:
        f = self.function
        entry = f.entry
        primal = list(entry.params)
        for k in self.made.params:
            entry.params.extend(self.new(primal[k]))
        self.stacks.retype()
        old = {block: block.instrs for block in f.blocks}
        for block in f.blocks:
            block.instrs = []
        b = self.builder.at(entry)
        b.start()
        for p in primal:
            if isinstance(p.type, Array) and p not in self.shadows and self.active(p):
                self.shadows[p] = self._zeros(p)
        self.active_params: dict[Block, list[int]] = {}
        for block in f.blocks:
            if block is not entry:
                self.active_params[block] = [k for k, p in enumerate(block.params) if self.active(p)]
                for k in self.active_params[block]:
                    block.params.extend(self.new(block.params[k]))
        for block in f.blocks:
            b.at(block)
            for instr in old[block]:
                b.position = instr.position
                b.start()
                method = getattr(self, f"_{instr.op}", None)
                if method is not None:
                    method(b, instr)
                else:
                    b.append(instr)
                    self._by_rule(b, instr)
        extra = [t for r in self.made.outputs for t in self.types(f.results[r])]
        f.results = (*self._plain_results(), *extra)
        f.name = self.made.function
        if self.lanes > 1:
            f.attrs["lanes"] = self.lanes
        self.module.functions[f.name] = f

    def _plain_results(self) -> tuple[Type, ...]:
        for block in self.function.blocks:
            if block.terminator.op == "return":
                values = block.terminator.operands[: len(self.function.results)]
                if any(v.type != t for v, t in zip(values, self.function.results)):
                    raise self._unsupported("the tangent of a pullback, which the function returns", block.terminator)
        return self.function.results

    def _unsupported(self, what: str, instr: Instr, hint: str = "") -> Unsupported:
        return Unsupported(what, instr.position, hint=hint)

    # ------------------------------------------------------------------------------------------- control flow

    def _jump(self, b: Builder, instr: Instr) -> None:
        for target in instr.targets:
            active = self.active_params.get(target.block, [])
            target.args.extend([t for k in active for t in self.along(target.args[k])])
        b.append(instr)

    _branch = _switch = _jump

    def _return(self, b: Builder, instr: Instr) -> None:
        values = [instr.operands[r] for r in self.made.outputs]
        instr.operands.extend([t for v in values for t in self.along(v)])
        b.append(instr)

    # ------------------------------------------------------------------------------------------- mathematics

    def _by_rule(self, b: _Lean, instr: Instr) -> None:
        if not instr.results or not self.active(instr.results[0]):
            return
        if any(r.type is OBJECT for r in instr.results):
            raise self._unsupported(f"the tangent of `{instr.op}` on an object", instr)
        varying = [k for k in differentiable_operands(instr) if not all(map(is_zero, self.of(instr.operands[k])))]
        if not varying:
            return
        op = OPS[instr.op]
        if isinstance(op.vjp, str):
            raise self._unsupported(
                f"the derivative of `{instr.op}`",
                instr,
                hint="zyg has no rule for it; take it out of the derivative's path with zyg.stop_gradient",
            )
        assert b.block is not None
        start = len(b.block.instrs)
        y, *operands = (Traced(b, v) for v in (instr.result, *instr.operands))
        made = []
        for lane in range(self.lanes):
            if op.jvp is not None and len(varying) > 1:
                ts = [Traced(b, self.of(v)[lane]) if k in varying else 0.0 for k, v in enumerate(instr.operands)]
                total = op.jvp(ts, y, *operands)
                value = total.value() if isinstance(total, Traced) else const(total)
            else:
                value = const(0.0)
                for k in varying:
                    part = op.vjp(Traced(b, self.of(instr.operands[k])[lane]), y, *operands)[k]
                    part = part() if callable(part) and not isinstance(part, Traced) else part
                    if part is not None:
                        term = part.value() if isinstance(part, Traced) else const(float(part))
                        value = b.arith("add", value, term)
            made.append(b.cast(value, cotangent_type(instr.result.type)))
        drop_unused(b.block, start, made)
        for name in ("fast", "vectormath"):
            if instr.attrs.get(name):
                for i in b.block.instrs[start:]:
                    i.attrs.setdefault(name, instr.attrs[name])
        for value in made:
            if not isinstance(value, Const) and not value.name and instr.result.name:
                value.name = f"d_{instr.result.name}"
        self.define(instr.result, made)

    def _select(self, b: _Lean, instr: Instr) -> None:
        b.append(instr)
        if not self.active(instr.result):
            return
        c, x, y = instr.operands
        if isinstance(instr.result.type, Array):
            self.shadows[instr.result] = b.op("select", c, self.shadow(x), self.shadow(y), name=f"d_{x.name}")
            return
        attrs = {}
        if instr.attrs.get("strong"):  # 0 where the quotient y is nan, else y: see `zero_where_zero`
            c, attrs = b.op("and", c, b.op("ne", y, y)), {"strong": True}
        made = [b.arith("select", c, u, v, **attrs) for u, v in zip(self.of(x), self.of(y))]
        self.define(instr.result, made)

    # ------------------------------------------------------------------------------------------- memory

    def _alloc(self, b: Builder, instr: Instr) -> None:
        b.append(instr)
        if self.active(instr.result):
            array = instr.result
            shape = [*instr.operands, *self._lane_shape()]
            made = b.op("alloc", *shape, type=self.shadow_type(array.type), name=f"d_{array.name}", **instr.attrs)
            self.shadows[array] = made

    def _view(self, b: Builder, instr: Instr) -> None:
        b.append(instr)
        if self.active(instr.result):
            base, *rest = instr.operands
            attrs = dict(instr.attrs)
            if self.lanes > 1:
                if instr.op == "view":
                    attrs["spec"] += ":"
                else:
                    rest = [*rest, const(self.lanes)]
            made = b.op(
                instr.op,
                self.shadow(base),
                *rest,
                type=self.shadow_type(instr.result.type),
                name=f"d_{instr.result.name}",
                **attrs,
            )
            self.shadows[instr.result] = made

    _reshape = _broadcast = _view

    def _undefined(self, b: Builder, instr: Instr) -> None:
        b.append(instr)
        if isinstance(instr.result.type, Array) and self.active(instr.result):
            self.shadows[instr.result] = b.op("undefined", type=self.shadow_type(instr.result.type))

    def _load(self, b: Builder, instr: Instr) -> None:
        b.append(instr)
        if self.active(instr.result):
            array, *indices = instr.operands
            name = f"d_{instr.result.name}" if instr.result.name else ""
            at = self.shadow(array)
            made = [b.op("load", at, *indices, *self._lane_index(lane), name=name) for lane in range(self.lanes)]
            self.define(instr.result, made)

    def _store(self, b: Builder, instr: Instr) -> None:
        b.append(instr)
        array, value, *indices = instr.operands
        if self.active(array):
            for lane, t in enumerate(self.of(value)):
                t = b.cast(t, helpers.dtype(self.shadow(array)))
                b.emit("store", self.shadow(array), t, *indices, *self._lane_index(lane))

    def _accum(self, b: Builder, instr: Instr) -> None:
        b.append(instr)
        array, value, *indices = instr.operands
        if self.active(array):
            for lane, t in enumerate(self.of(value)):
                if not is_zero(t):
                    t = b.cast(t, helpers.dtype(self.shadow(array)))
                    b.emit("accum", self.shadow(array), t, *indices, *self._lane_index(lane), **instr.attrs)

    def _fill(self, b: Builder, instr: Instr) -> None:
        b.append(instr)
        array, value = instr.operands
        if not self.active(array):
            return
        shadow = self.shadow(array)
        values = [b.cast(t, helpers.dtype(shadow)) for t in self.of(value)]
        if self.lanes == 1 or all(map(is_zero, values)):
            b.emit("fill", shadow, values[0])
            return
        for lane, t in enumerate(values):
            b.emit("fill", self._lane(b, shadow, lane), t)

    def _copyto(self, b: Builder, instr: Instr) -> None:
        b.append(instr)
        target, source = instr.operands
        if self.active(target):
            into = self.shadow(target)
            if self.active(source):
                b.emit("copyto", into, self.shadow(source))
            else:
                b.emit("fill", into, const(0.0, helpers.dtype(into)))

    def _addto(self, b: Builder, instr: Instr) -> None:
        b.append(instr)
        target, source = instr.operands
        if self.active(target) and self.active(source):
            b.emit("addto", self.shadow(target), self.shadow(source))

    # ------------------------------------------------------------------------------------- stacks and tapes

    def _push(self, b: Builder, instr: Instr) -> None:
        stack, *values = instr.operands
        along = [t for k in self.stacks.fields(stack, values) for t in self._along_stack(values[k])]
        instr.operands.extend(along)
        b.append(instr)

    def _along_stack(self, v: Value) -> list[Value]:
        return self.along(v)

    def _pop(self, b: Builder, instr: Instr) -> None:
        stack, results = instr.operands[0], list(instr.results)
        for k in self.stacks.fields(stack, results):
            instr.results.extend(self.new(results[k]))
        b.append(instr)

    # --------------------------------------------------------------------------------------------- calls

    def _call(self, b: Builder, instr: Instr) -> None:
        if not self._takes_part(instr):
            b.append(instr)
            return
        if "tangent" in instr.attrs:
            self._tangent_rule(b, instr)
            return
        if "rule" in instr.attrs:
            self._transposed_rule(b, instr)
            return
        mask = [self.active(v) or v.type is TAPE and self.active_memory(v) for v in instr.operands]
        callee = self.whole_run.of(instr.attrs["callee"], mask, None, whole=False)
        operands = list(instr.operands)
        for k in callee.params:
            operands.extend(self.along(instr.operands[k]))
        results = list(instr.results)
        for r in callee.outputs:
            results.extend(self.new(instr.results[r]))
        b.append(Instr("call", operands, results, {**instr.attrs, "callee": callee.function}, [], instr.position))
        for r in instr.results:  # arrays that do not vary but are of a kind with others that do
            if isinstance(r.type, Array) and r not in self.shadows and self.active(r):
                self.shadows[r] = self._zeros(r)

    def _tangent_rule(self, b: _Lean, instr: Instr) -> None:
        """A function with a rule for forward mode: one call of the rule per lane."""
        rule = instr.attrs["tangent"]
        name = instr.attrs["callee"].removesuffix(".ruled")
        written = self.summaries[rule.function].written
        for k, v in enumerate(instr.operands):
            if k not in rule.perturbed and self.active(v):
                raise self._unsupported(
                    f"a derivative through what {name}, which has a tangent rule, captures or takes by keyword",
                    instr,
                    hint="a rule differentiates by positional arguments: pass it as one",
                )
            if k in written and k not in rule.mutates and self.active(v):
                raise self._unsupported(
                    f"{name}, whose tangent rule writes to an array that it is given",
                    instr,
                    hint="say so: zyg.tangent(f, mutates=...)",
                )
        types = self.module.functions[rule.function].results
        numbers = [r for r in instr.results if differentiable(r.type)]
        changed = [instr.operands[k] for k in rule.mutates]
        made: list[list[Value]] = []  # per lane, the tangents of `numbers` and `changed`
        for lane in range(self.lanes):
            tangents = [self._alone(b, instr.operands[k], lane) for k in rule.perturbed]
            tangents = [helpers.copy(b, t) if isinstance(t.type, Array) and rule.arity + n in written else t
                        for n, t in enumerate(tangents)]  # fmt: skip
            operands = [*instr.operands[: rule.arity], *tangents, *instr.operands[rule.arity :]]
            results = instr.results if lane == 0 else [Value(r.type) for r in instr.results]
            more = [Value(t) for t in types[len(results) :]]
            attrs = {k: v for k, v in instr.attrs.items() if k != "tangent"} | {"callee": rule.function}
            if lane and changed:
                raise self._unsupported(f"several tangents at once through {name}, which changes arrays", instr)
            b.append(Instr("call", operands, [*results, *more], attrs, [], instr.position))
            made.append(more)
        for n, r in enumerate(numbers):
            if self.active(r):
                self.define(r, self._together(b, r, [more[n] for more in made]))
        for n, v in enumerate(changed):
            if self.active(v):
                b.emit("copyto", self.shadow(v), made[0][len(numbers) + n])

    def _alone(self, b: _Lean, v: Value, lane: int) -> Value:
        """The tangent of `v` in one lane, as if there were no others."""
        if not isinstance(v.type, Array):
            return self.of(v)[lane]
        shadow = self.shadow(v)
        if self.lanes == 1:
            return shadow
        wanted = helpers.shadow_type(v.type)
        plain = Array(wanted.dtype, wanted.ndim, "C")
        made = b.op("alloc", *helpers.lengths(b, v), type=plain, name=shadow.name, fill="empty")
        b.emit("copyto", helpers.as_layout(b, made, Array(wanted.dtype, wanted.ndim, "A")), self._lane(b, shadow, lane))
        return helpers.as_layout(b, made, wanted)

    def _together(self, b: _Lean, v: Value, lanes: list[Value]) -> list[Value]:
        """The tangents of `v` from those of the lanes."""
        if self.lanes == 1 or not isinstance(v.type, Array):
            return lanes
        made = self._zeros(v)
        for lane, t in enumerate(lanes):
            assert isinstance(t.type, Array)
            into = self._lane(b, made, lane)
            b.emit("copyto", into, helpers.as_layout(b, t, Array(t.type.dtype, t.type.ndim, "A")))
        return [made]

    def _lane(self, b: Builder, shadow: Value, lane: int) -> Value:
        assert isinstance(shadow.type, Array)
        one = Array(shadow.type.dtype, shadow.type.ndim - 1, "A")
        return b.op("view", shadow, const(lane), type=one, spec=":" * one.ndim + "i")

    def _transposed_rule(self, b: _Lean, instr: Instr) -> None:
        """A function with a rule for reverse mode only: the cotangents that the rule gives for a value that is a number are
        its partial derivatives."""
        rule = instr.attrs["rule"]
        name = instr.attrs["callee"].removesuffix(".rule")
        forward, reverse = self.module.functions[rule.forward], self.module.functions[rule.reverse]
        saved = [Value(t, "saved") for t in forward.results[len(instr.results) :]]
        attrs = {k: v for k, v in instr.attrs.items() if k != "rule"} | {"callee": rule.forward}
        b.append(Instr("call", list(instr.operands), [*instr.results, *saved], attrs, [], instr.position))
        numbers = [r for r in instr.results if differentiable(r.type)]
        if any(isinstance(r.type, Array) for r in numbers) or any(
            self.active(instr.operands[p]) for p in self.summaries[rule.forward].written
        ):
            raise self._unsupported(
                f"forward mode through {name}, which has a rule for reverse mode and gives or changes an array",
                instr,
                hint=f"give it a rule for forward mode, @zyg.tangent({name})",
            )
        for r in numbers:
            if not self.active(r):
                continue
            seeds = [const(1.0 if r is other else 0.0, cotangent_type(other.type)) for other in numbers]
            cotangents = b.emit("call", *saved, *seeds, types=tuple(reverse.results), callee=rule.reverse)
            totals: list[Value] = [const(0.0, cotangent_type(r.type))] * self.lanes
            for k, c in zip(rule.gradients, cotangents, strict=True):
                v = instr.operands[k]
                if not self.active(v):
                    continue
                for lane, term in enumerate(self._inner(b, c, v, name)):
                    totals[lane] = b.arith("add", totals[lane], term)
            self.define(r, [b.cast(t, cotangent_type(r.type)) for t in totals])

    def _inner(self, b: _Lean, cotangent: Value, v: Value, name: str) -> list[Value]:
        """The inner product of a cotangent with the tangents of `v`, per lane."""
        if not isinstance(v.type, Array):
            return [b.arith("mul", t, cotangent) for t in self.of(v)]
        shadow = self.shadow(v)
        for axis in range(v.type.ndim):
            same = b.op("eq", b.op("dim", v, axis=axis), b.op("dim", cotangent, axis=axis))
            message = f"{name} gave a cotangent of another shape than its argument"
            b.emit("guard", same, exc="ValueError", message=message)
        callee = helpers.dot_function(self.module, cotangent.type, shadow.type, self.lanes)
        return b.emit("call", cotangent, shadow, types=self.module.functions[callee].results, callee=callee)

    def _takes_part(self, call: Instr) -> bool:
        """Whether something that varies goes into a call and comes out of it."""
        if any(v.type is TAPE and self.active_memory(v) for v in call.operands):
            return True  # what one call puts on a tape another takes off: all go along, or none
        written = self.summaries[call.attrs["callee"]].written
        return any(self.active(r) for r in call.results) or any(self.active(call.operands[p]) for p in written)

    def _pycall(self, b: Builder, instr: Instr) -> None:
        b.append(instr)
        if any(self.active(r) for r in instr.results):
            called = instr.attrs.get("callable")
            name = getattr(called, "__qualname__", None) or repr(called)
            raise self._unsupported(
                f"a derivative through `{name}`, which zyg cannot see into",
                instr,
                hint=f"give it a rule with @zyg.tangent({name}) or @zyg.adjoint({name}), or wrap its arguments in "
                "zyg.stop_gradient",
            )

    def _plain(self, b: Builder, instr: Instr) -> None:
        """These have no tangent of their own."""
        b.append(instr)

    _checkpoint = _plain
    _guard = _poll = _dim = _stride = _overlap = _same = _retain = _release = _raise = _unreachable = _plain
    _stack = _tape = _cursor = _drop = _reserve = _rewind = _plain


class _Layouts:
    """Which fields of the records on a stack have tangents.

    Stacks that are one by alias have one layout, and so have those that go through the same field of another stack.  A
    local stack carries tangents for the fields that vary.  Of what is on a tape every field that can carries one: the
    function that pushes and the one that pops are differentiated apart, and have to agree.
    """

    def __init__(self, body: _Body):
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
