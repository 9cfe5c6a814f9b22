"""The reverse of each instruction: by the rule in the op table, or by a method `_reverse_<op>` here for what has to do
with memory, calls and stacks."""

from __future__ import annotations

from typing import Any

from zyg.errors import Unsupported
from zyg.ir.core import Block, Const, Instr, Value, const
from zyg.ir.ops import OPS
from zyg.ir.trace import Traced, zero_where_zero
from zyg.ir.types import TAPE, Array, Scalar, Stack, Type, cotangent_type

from . import helpers
from .activity import differentiable, differentiable_operands, foreign_targets, summary_of
from .reverse import ReverseGraph
from .state import Callee, Rerun, is_zero


class ReverseInstructions(ReverseGraph):
    """Visits instructions backwards."""

    def _reverse_instr(self, instr: Instr) -> None:
        method = getattr(self, f"_reverse_{instr.op}", None)
        if method is not None:
            method(instr)
            return
        if not instr.results or not isinstance(instr.results[0].type, Scalar) or not self.active(instr.results[0]):
            return
        wanted = [k for k in differentiable_operands(instr) if self.active(instr.operands[k])]
        d = self._take(instr.results[0])
        if not wanted or is_zero(d):
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
            c: Any = contributions[k]
            c = c() if callable(c) and not isinstance(c, Traced) else c
            if isinstance(c, Traced) and instr.results[0] in self.singular and instr.op in ("div", "mul"):
                c = zero_where_zero(Traced(b, d), c)
            if c is not None:
                kept.append((k, c.value() if isinstance(c, Traced) else const(float(c))))
        drop_unused(self._here, start, [c for _, c in kept])
        fast = instr.attrs.get("fast")
        if fast:
            for made in self._here.instrs[start:]:
                made.attrs.setdefault("fast", fast)
        if instr.attrs.get("vectormath"):
            for made in self._here.instrs[start:]:
                made.attrs.setdefault("vectormath", True)
        for k, c in kept:
            self._add(instr.operands[k], c)

    def _nothing(self, instr: Instr) -> None:
        """These have no reverse."""

    _reverse_jump = _reverse_branch = _reverse_switch = _reverse_return = _nothing
    _reverse_checkpoint = _nothing
    _reverse_arrange = _reverse_contiguous = _reverse_fits = _reverse_guard = _reverse_poll = _reverse_dim = (
        _reverse_stride
    ) = _reverse_overlap = _reverse_same = _reverse_reshapable = _nothing
    _reverse_view = _reverse_reshape = _reverse_broadcast = _reverse_transpose = _reverse_strided = _reverse_stack = (
        _reverse_tape
    ) = _reverse_cursor = _reverse_drop = _nothing
    _reverse_reserve = _reverse_rewind = _reverse_retain = _reverse_release = _reverse_undefined = _nothing

    def _indices(self, instr: Instr, start: int) -> list[Value]:
        return [self.need(v, self.current) for v in instr.operands[start:]]

    def _reverse_load(self, instr: Instr) -> None:
        if not self.active(instr.result):
            return
        d = self._take(instr.result)
        if is_zero(d):
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

    def _reverse_apply(self, instr: Instr) -> None:
        from . import elementwise  # on demand: only whole arrays need it

        elementwise.reverse_apply(self, instr)

    def _reverse_alloc(self, instr: Instr) -> None:
        """A reverse part that may run again finds its shadows zeroed, as they were made."""
        if self.mode != "joint" and instr.result in self.shadows:
            shadow = self._needed_shadow(instr.result)
            self.builder.emit("fill", shadow, const(0.0, helpers.dtype(shadow)))
            self.refills.append((self._here.instrs[-1], self.shadows[instr.result]))

    def _reverse_select(self, instr: Instr) -> None:
        if isinstance(instr.result.type, Array) or not self.active(instr.result):
            return
        c, x, y = instr.operands
        d = self._take(instr.result)
        if is_zero(d):
            return
        zero = const(0.0, d.type)
        if isinstance(c, Const):
            v = x if c.value else y
            if self.active(v):
                self._add(v, d)
            return
        b = self.builder
        chosen = self.need(c, self.current)
        attrs: dict[str, Any] = {}
        if instr.attrs.get("strong"):
            # Where the cotangent c tests happens to be 0 the quotient y is 0 too, and has its own slope.  Only where it is
            # nan, the rule being singular, there is none.
            quotient = self.need(y, self.current)
            self.singular.add(y)
            chosen, attrs = b.op("and", chosen, b.op("ne", quotient, quotient)), {"strong": True}
        for v, then, other in ((x, d, zero), (y, zero, d)):
            if self.active(v):
                self._add(v, b.op("select", chosen, then, other, **attrs))

    def _reverse_pycall(self, instr: Instr) -> None:
        if any(self.active(r) for r in instr.results) and any(self.active(v) for v in instr.operands):
            name = helpers.called_by(instr)
            raise Unsupported(
                f"a derivative through `{name}`, which zyg cannot see into",
                instr.position,
                hint=f"give it a rule with @zyg.adjoint({name}), or wrap its arguments in zyg.stop_gradient",
            )
        helpers.refuse_unseen_writes(instr, self.active, "zyg.adjoint")

    def _reverse_foreign(self, instr: Instr) -> None:
        if any(self.active(v) for v in foreign_targets(instr)):
            raise Unsupported(
                f"a derivative through the C function {instr.attrs['symbol']}",
                instr.position,
                hint="give the function that calls it a rule with @zyg.adjoint(f), or wrap its arguments in zyg.stop_gradient",
            )

    # ---- stacks of an inner derivative: a push is undone by a pop of cotangents, and a pop by a push

    def _shadow_stack(self, stack: Value) -> Value:
        root = self._stack_root(stack)
        if root not in self.shadow_stacks:
            made = Value(TAPE if stack.type is TAPE else _shadow_stack_type(stack.type), f"d_{stack.name}")
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
        types = tuple(_shadow_stack_type(v.type) if isinstance(v.type, Stack) else cotangent_type(v.type)
                      for v in along)  # fmt: skip
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
        if isinstance(info, Callee):
            self._reverse_callee(original, info)
        elif isinstance(info, Rerun):
            self._reverse_rerun(original, info)
        else:
            assert isinstance(info, list)
            self._reverse_rule(original, info)

    def _reverse_callee(self, instr: Instr, callee: Callee) -> None:
        assert self.tape is not None
        tape = self.reverse_tape if self.mode == "callee" else self.need(self.tape, self.current)
        self._call_reverse(instr, callee, tape)

    def _call_reverse(self, instr: Instr, callee: Callee, tape: Value, reverse: str = "") -> None:
        b = self.builder
        seeds = []
        for k in callee.seeds:
            r = instr.results[k]
            seeds.append(self._take(r) if self.active(r) else const(0.0, cotangent_type(r.type)))
        types = tuple(cotangent_type(instr.operands[k].type) for k in callee.scalar_gradients)
        shadows = [self._shadow_stack(instr.operands[k]) for k in callee.tape_params]
        cotangents = b.emit("call", tape, *seeds, *shadows, types=types, callee=reverse or callee.reverse)
        for k, d in zip(callee.scalar_gradients, cotangents, strict=True):
            if self.active(instr.operands[k]):
                self._add(instr.operands[k], d)

    def _reverse_rerun(self, instr: Instr, info: Rerun) -> None:
        """Make the call again, from what it started from, on a tape of its own; and then its reverse."""
        b = self.builder
        callee = info.callee
        tape = b.op("tape", name="again")
        operands: list[Value] = []
        for k, v in enumerate(info.kept):
            start = self.need(v, self.current)
            # `back` may be called again: what is kept stays as it is.
            operands.append(helpers.twin(b, start) if k in info.written else start)
        for k in callee.array_params:
            v = instr.operands[k]
            known = v in self.shadows
            operands.append(self._needed_shadow(v) if known else helpers.zeros_like(b, operands[k], f"d_{v.name}"))
        types = [r.type for r in instr.results]
        types += [helpers.shadow_type(types[k]) for k in callee.array_results]
        results = b.emit("call", *operands, tape, types=tuple(types), callee=callee.forward)
        for k, shadow in zip(callee.array_results, results[len(instr.results) :], strict=True):
            if instr.results[k] in self.shadows:
                # What has gathered goes to the shadow that the reverse of the call knows: often the very same one.
                old = self._needed_shadow(instr.results[k])
                gathered = helpers.copy(b, old)
                b.emit("fill", old, const(0.0, helpers.dtype(old)))
                b.emit("addto", shadow, gathered)
        whole = b.op("cursor", tape, name="whole")  # its position before anything is taken off
        self._call_reverse(instr, callee, tape, self.callees.last_name(self.module, callee.reverse))
        b.emit("drop", whole)

    def _reverse_rule(self, instr: Instr, saved: list[Value]) -> None:
        b = self.builder
        rule = instr.attrs["rule"]
        seeds: list[Value] = []
        reverse = self.module.functions[rule.reverse]
        written = summary_of(self.module, rule.reverse, self.activity.summaries).written
        for r in instr.results:
            if not differentiable(r.type):
                continue
            if isinstance(r.type, Array):
                if r in self.shadows:
                    shadow = self._needed_shadow(r)
                    # A rule that writes to it gets a copy.
                    seeds.append(helpers.copy(b, shadow) if len(saved) + len(seeds) in written else shadow)
                else:
                    seeds.append(helpers.zeros_like(b, self.need(r, self.current), f"d_{r.name}"))
            else:
                seeds.append(self._take(r) if self.active(r) else const(0.0, cotangent_type(r.type)))
        for k in rule.mutates:
            v = instr.operands[k]
            if v in self.shadows:
                shadow = self._needed_shadow(v)
                seeds.append(helpers.copy(b, shadow))
                b.emit("fill", shadow, const(0.0, helpers.dtype(shadow)))
            else:
                seeds.append(helpers.zeros_like(b, self.need(v, self.current), f"d_{v.name}"))
        totals: list[tuple[Value, Value]] = []
        for k in rule.gathers:
            v = instr.operands[k]
            shadow = (
                self._needed_shadow(v)
                if self.active(v)
                else helpers.zeros_like(b, self.need(v, self.current), "unused")
            )
            if self.active(v) and self.may_share_places(v):
                # What a rule calls to add up has a rule, too, which tells of elements that are apart.
                gathered = helpers.zeros_apart(b, shadow)
                totals.append((shadow, gathered))
                shadow = gathered
            seeds.append(shadow)
        arguments = [self.need(v, self.current) for v in saved] + seeds
        cotangents = b.emit("call", *arguments, types=tuple(reverse.results), callee=rule.reverse)
        for total, gathered in totals:
            b.emit("addto", total, gathered)
        for k, d in zip(rule.gradients, cotangents, strict=True):
            v = instr.operands[k]
            if not self.active(v):
                continue
            if isinstance(v.type, Array):
                shadow = self._needed_shadow(v)
                helpers.check_shape(b, reverse, v, d, shadow)
                b.emit("addto", shadow, d)
            else:
                self._add(v, d)
        for r in instr.results:
            if self.mode != "joint" and isinstance(r.type, Array) and r in self.shadows:
                shadow = self._needed_shadow(r)
                b.emit("fill", shadow, const(0.0, helpers.dtype(shadow)))


def _shadow_stack_type(stack: Type) -> Stack:
    item = _cotangent_item(stack)
    assert item is not None
    return Stack(item)


def _cotangent_item(stack: Type) -> Type | None:
    """The item type of the shadow of a stack: the cotangents of the numbers among its fields; None if there are none."""
    numbers = [cotangent_type(t) for t in helpers.fields(stack) if isinstance(t, Scalar) and differentiable(t)]
    return helpers.record(numbers) if numbers else None


def drop_unused(block: Block, start: int, kept: list[Value]) -> None:
    """Remove instructions from `start` on that no value in `kept` needs: rules compute for all operands."""
    wanted = set(kept)
    result: list[Instr] = []
    for instr in reversed(block.instrs[start:]):
        if any(r in wanted for r in instr.results):
            wanted.update(instr.operands)
            result.append(instr)
    block.instrs[start:] = result[::-1]
