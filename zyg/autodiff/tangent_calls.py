"""The tangents of calls: by the tangent of the callee, by a rule for forward mode, or by one for reverse mode, transposed."""

from __future__ import annotations

from zyg.ir.core import Function, Instr, Value, const
from zyg.ir.types import TAPE, Array, cotangent_type

from . import helpers
from .activity import differentiable
from .tangent_state import Lean, TangentState


class TangentCalls(TangentState):
    """Handles calls."""

    def _call(self, b: Lean, instr: Instr) -> None:
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

    def _apply(self, b: Lean, instr: Instr) -> None:
        """What is done for each element has a tangent, which is done for each element of arrays and shadows."""
        modes = instr.attrs["modes"]
        outs, ins = instr.operands[: len(modes)], instr.operands[len(modes) :]
        taking = [*outs, *instr.results]
        wanted = [k for k, v in enumerate(taking) if self.active(v)]
        mask = [self.active(v) for v in ins]
        callee = self.whole_run.elements(instr.attrs["callee"], mask, wanted, len(outs)) if any(mask) else None
        varying = () if callee is None else callee.outputs
        if callee is None or not varying:
            b.append(instr)
        else:
            arrays = [k for k in varying if k < len(outs)]
            numbers = [k for k in varying if k >= len(outs)]
            operands = [*outs, *(self.shadow(taking[k]) for k in arrays), *ins]
            for k in callee.params:
                operands.extend(self.along(ins[k]))
            results = [*instr.results]
            for k in numbers:
                results.extend(self.new(taking[k]))
            attrs = {**instr.attrs, "callee": callee.function, "modes": (*modes, *(modes[k] for k in arrays))}
            if "kinds" in attrs:
                attrs["kinds"] += ("add",) * len(numbers)
            b.append(Instr("apply", operands, results, attrs, [], instr.position))
        for k in wanted:
            if k < len(outs) and k not in varying and modes[k] == "set":
                b.emit("fill", self.shadow(outs[k]), const(0.0, helpers.dtype(self.shadow(outs[k]))))

    def _tangent_rule(self, b: Lean, instr: Instr) -> None:
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
            # What the call changes it changes once: in all lanes but the last it is a copy.
            last = lane == self.lanes - 1
            given = [v if last or k not in rule.mutates else helpers.twin(b, v) for k, v in enumerate(instr.operands)]
            operands = [*given[: rule.arity], *tangents, *given[rule.arity :]]
            results = instr.results if last else [Value(r.type) for r in instr.results]
            more = [Value(t) for t in types[len(results) :]]
            attrs = {k: v for k, v in instr.attrs.items() if k != "tangent"} | {"callee": rule.function}
            b.append(Instr("call", operands, [*results, *more], attrs, [], instr.position))
            made.append(more)
        for n, r in enumerate(numbers):
            if self.active(r):
                self.define(r, self._together(b, r, [more[n] for more in made]))
        for n, v in enumerate(changed):
            if self.active(v):
                for lane, more in enumerate(made):
                    into = self._lane(b, self.shadow(v), lane) if self.lanes > 1 else self.shadow(v)
                    t = more[len(numbers) + n]
                    assert isinstance(t.type, Array) and isinstance(into.type, Array)
                    b.emit("copyto", into, helpers.as_layout(b, t, into.type))

    def _alone(self, b: Lean, v: Value, lane: int) -> Value:
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

    def _together(self, b: Lean, v: Value, lanes: list[Value]) -> list[Value]:
        """The tangents of `v` from those of the lanes."""
        if self.lanes == 1 or not isinstance(v.type, Array):
            return lanes
        made = self._zeros(v)
        for lane, t in enumerate(lanes):
            assert isinstance(t.type, Array)
            into = self._lane(b, made, lane)
            b.emit("copyto", into, helpers.as_layout(b, t, Array(t.type.dtype, t.type.ndim, "A")))
        return [made]

    def _transposed_rule(self, b: Lean, instr: Instr) -> None:
        """A function with a rule for reverse mode only: the cotangents that the rule gives for a value that is a number are
        its partial derivatives."""
        rule = instr.attrs["rule"]
        forward, reverse = self.module.functions[rule.forward], self.module.functions[rule.reverse]
        name = helpers.of_rule(reverse)
        saved = [Value(t, "saved") for t in forward.results[len(instr.results) :]]
        attrs = {k: v for k, v in instr.attrs.items() if k != "rule"} | {"callee": rule.forward}
        b.append(Instr("call", list(instr.operands), [*instr.results, *saved], attrs, [], instr.position))
        numbers = [r for r in instr.results if differentiable(r.type)]
        changes = any(self.active(instr.operands[p]) for p in self.summaries[rule.forward].written)
        if not rule.gradients and not rule.gathers and not changes:  # the rule says that nothing has a derivative
            for r in numbers:
                if isinstance(r.type, Array) and self.active(r):
                    self.shadows[r] = self._zeros(r)
                elif self.active(r):
                    self.define(r, [const(0.0, cotangent_type(r.type))] * self.lanes)
            return
        if changes or any(isinstance(r.type, Array) for r in numbers):
            raise self._unsupported(
                f"forward mode through {name}, which has a rule for reverse mode and gives or changes an array",
                instr,
                hint=f"give it a rule for forward mode, @zyg.tangent({name})",
            )
        for r in numbers:
            if not self.active(r):
                continue
            seeds = [const(1.0 if r is other else 0.0, cotangent_type(other.type)) for other in numbers]
            gathered = [helpers.zeros_like(b, instr.operands[k], "d") for k in rule.gathers]
            cotangents = b.emit("call", *saved, *seeds, *gathered, types=tuple(reverse.results), callee=rule.reverse)
            totals: list[Value] = [const(0.0, cotangent_type(r.type))] * self.lanes
            for k, c in zip((*rule.gradients, *rule.gathers), (*cotangents, *gathered), strict=True):
                v = instr.operands[k]
                if not self.active(v):
                    continue
                for lane, term in enumerate(self._inner(b, c, v, reverse)):
                    totals[lane] = b.arith("add", totals[lane], term)
            self.define(r, [b.cast(t, cotangent_type(r.type)) for t in totals])

    def _inner(self, b: Lean, cotangent: Value, v: Value, reverse: Function) -> list[Value]:
        """The inner product of a cotangent with the tangents of `v`, per lane."""
        if not isinstance(v.type, Array):
            return [b.arith("mul", t, cotangent) for t in self.of(v)]
        shadow = self.shadow(v)
        helpers.check_shape(b, reverse, v, cotangent, v)
        callee = helpers.dot_function(self.module, cotangent.type, shadow.type, self.lanes)
        return b.emit("call", cotangent, shadow, types=self.module.functions[callee].results, callee=callee)

    def _takes_part(self, call: Instr) -> bool:
        """Whether something that varies goes into a call and comes out of it."""
        if any(v.type is TAPE and self.active_memory(v) for v in call.operands):
            return True  # what one call puts on a tape another takes off: all go along, or none
        written = self.summaries[call.attrs["callee"]].written
        return any(self.active(r) for r in call.results) or any(self.active(call.operands[p]) for p in written)
