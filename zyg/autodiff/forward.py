"""The forward part of an adjoint: the function itself, with shadows for active arrays, and with calls replaced by the
forward halves of their adjoints or rules.

Each method `_forward_<op>` handles an op that needs more than a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from zyg.errors import Misuse, Unsupported
from zyg.ir.builder import Builder
from zyg.ir.core import Block, Function, Instr, Value
from zyg.ir.departures import departing
from zyg.ir.readymade import Readymade, code_of, function_of, is_library
from zyg.ir.types import TAPE, Array, Scalar, Stack, Type, cotangent_type

from . import helpers
from .activity import Aliases, Summary, differentiable, summary_of
from .state import Callee, Rerun, State, lent_arrays

_WRITTEN_IN = "are written in code that is checkpointed or has a rule, which"


class ForwardPart(State):
    """Adds to the forward part what the reverse part needs of it."""

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
        shadowed = self.callee.array_params if self.callee is not None else ()
        for k, p in enumerate(self.primal_params):
            if not isinstance(p.type, Array) or not differentiable(p.type):
                continue
            if self.mode == "callee":
                if k in shadowed:
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
        self.prologue_length = len(block.instrs)

    def _instructions(self) -> list[Instr]:
        return [instr for block in self.order for instr in block.instrs]

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
        b.append(instr)
        array = instr.result
        if self._has_shadow(array):
            shape = instr.operands
            self.shadows[array] = b.op(
                "alloc", *shape, type=helpers.shadow_type(array.type), name=f"d_{array.name}", fill="zeros"
            )

    def _forward_pycall(self, b: Builder, instr: Instr) -> None:
        """What comes from outside is constant (or else refused by the reverse part), but an array may be written to."""
        b.append(instr)
        for r in instr.results:
            if isinstance(r.type, Array) and self._has_shadow(r):
                self.shadows[r] = helpers.zeros_like(b, r, f"d_{r.name}")

    def _forward_view(self, b: Builder, instr: Instr) -> None:
        b.append(instr)
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

    _forward_reshape = _forward_broadcast = _forward_transpose = _forward_view

    def _forward_strided(self, b: Builder, instr: Instr) -> None:
        """Strides are in bytes: those of the shadow are by its own elements, which are wider than an int32."""
        b.append(instr)
        array = instr.result
        if self._has_shadow(array):
            base, *strides = instr.operands
            made, strides = helpers.shadow_type(array.type), helpers.strides_of_shadow(b.op, array, strides)
            self.shadows[array] = b.op("strided", self.shadow(base), *strides, type=made, name=f"d_{array.name}")

    def _forward_apply(self, b: Builder, instr: Instr) -> None:
        """What the elements were is kept, as far as the reverse wants them (see elementwise.py)."""
        from . import elementwise  # on demand: only whole arrays need it

        elementwise.forward_apply(self, b, instr)

    def _forward_select(self, b: Builder, instr: Instr) -> None:
        b.append(instr)
        if isinstance(instr.result.type, Array) and self._has_shadow(instr.result):
            c, x, y = instr.operands
            self.shadows[instr.result] = b.op("select", c, self.shadow(x), self.shadow(y), name=f"d_{x.name}")

    def _forward_undefined(self, b: Builder, instr: Instr) -> None:
        b.append(instr)
        if isinstance(instr.result.type, Array) and self._has_shadow(instr.result):
            self.shadows[instr.result] = b.op("undefined", type=helpers.shadow_type(instr.result.type))

    # Arrays that go through a stack or tape take their shadows along on a companion; so do stacks that have companions.

    def _forward_stack(self, b: Builder, instr: Instr) -> None:
        b.append(instr)
        item = _companion_item(instr.result.type)
        if item is not None:
            self.companions[instr.result] = b.op("stack", type=Stack(item), name=f"shadows_{instr.result.name}")

    def _forward_tape(self, b: Builder, instr: Instr) -> None:
        b.append(instr)
        self.companions[instr.result] = b.op("tape", name=f"shadows_{instr.result.name}")

    def _forward_cursor(self, b: Builder, instr: Instr) -> None:
        b.append(instr)
        companion = self.companions.get(instr.operands[0])
        if companion is not None:
            self.companions[instr.result] = b.op("cursor", companion, name=companion.name)

    def _forward_push(self, b: Builder, instr: Instr) -> None:
        b.append(instr)
        stack, *values = instr.operands
        companion = self.companions.get(stack)
        if companion is not None:
            shadows = [self._going_along(b, v) for v in values if _goes_along(v.type)]
            if shadows:
                b.emit("push", companion, *shadows)

    def _forward_pop(self, b: Builder, instr: Instr) -> None:
        b.append(instr)
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

    def _forward_call(self, b: Builder, instr: Instr) -> None:
        if not self._takes_part(instr):
            b.append(instr)
            self._shadows_of_what_moves(b, instr)
            return
        if "rule" in instr.attrs:
            self._forward_rule(b, instr)
            self._shadows_of_what_moves(b, instr)
            return
        callee = self._callee(instr)
        if instr.attrs.get("checkpoint") and not callee.tape_params:
            self._forward_rerun(b, instr, callee)
            return
        assert self.tape is not None
        # Out of line a function takes its arrays to be apart: what it does not write to under one name it reads again later.
        changed = self.summaries[instr.attrs["callee"]].changed
        self._refuse_overlap(
            b, instr, changed, departing("ValueError"), "are written in a recursive function, whose derivative"
        )
        operands = list(instr.operands)
        operands += [self._shadow_or_dummy(b, instr.operands[k]) for k in callee.array_params]
        operands += [self.companions[instr.operands[k]] for k in callee.tape_params]
        shadows = [
            Value(helpers.shadow_type(instr.results[k].type), f"d_{instr.results[k].name}")
            for k in callee.array_results
        ]
        for k, s in zip(callee.array_results, shadows, strict=True):
            self.shadows[instr.results[k]] = s
        attrs = {k: v for k, v in instr.attrs.items() if k != "writes"} | {
            "callee": callee.forward
        }  # it writes the tape
        call = b.append(Instr("call", [*operands, self.tape], [*instr.results, *shadows], attrs, [], instr.position))
        self.made_by[call] = (instr, callee)

    def _shadows_of_what_moves(self, b: Builder, call: Instr) -> None:
        """New arrays that a call gives without a derivative, places for instance, and that go through a stack, may meet others there
        that have shadows: so they have one, of zeros. (What may be memory of an argument would have the shadow of that.)"""
        shares = self.summaries[call.attrs["callee"]].shares
        for r, result in enumerate(call.results):
            if (
                isinstance(result.type, Array)
                and result not in self.shadows
                and self._has_shadow(result)
                and not shares[r]
            ):
                self.shadows[result] = helpers.zeros_like(b, result, f"d_{result.name}")

    def _forward_rerun(self, b: Builder, instr: Instr, callee: Callee) -> None:
        """A call that the reverse part makes again: here it is made as it is, and what it starts from is kept."""
        written = self.summaries[instr.attrs["callee"]].written
        self._refuse_overlap(b, instr, written, "ValueError", _WRITTEN_IN)
        kept = [self._kept(b, instr, v, k in written, helpers.twin) if isinstance(v.type, Array) else v
                for k, v in enumerate(instr.operands)]  # fmt: skip
        if callee.array_results:
            # The forward half tells which shadow belongs to an array that comes back; what it would save is not for us.
            given = [self._shadow_or_dummy(b, instr.operands[k]) for k in callee.array_params]
            shadows = [Value(helpers.shadow_type(instr.results[k].type), f"d_{instr.results[k].name}")
                       for k in callee.array_results]  # fmt: skip
            attrs = {**instr.attrs, "callee": self.callees.untaped_name(self.module, callee.forward)}
            operands = [*instr.operands, *given]
            call = b.append(Instr("call", operands, [*instr.results, *shadows], attrs, [], instr.position))
            self.shadows.update(zip([instr.results[k] for k in callee.array_results], shadows, strict=True))
        else:
            call = b.append(Instr("call", list(instr.operands), instr.results, instr.attrs, [], instr.position))
        self.made_by[call] = (instr, Rerun(callee, kept, written))

    def _kept(
        self,
        b: Builder,
        reader: Instr,
        array: Value,
        written: bool = False,
        copy: Callable[[Builder, Value], Value] = helpers.copy,
    ) -> Value:
        """What an array holds when `reader` is given it, for as long as the reverse part may want it."""
        if written or not self.last_writes.lasts(reader, array):
            return copy(b, array)
        if self.stays(array):
            return array
        definition = self.where.definition.get(array)
        if definition is not None and definition.op == "alloc" or self.activity.rep(array) in self.activity.written:
            return copy(b, array)  # its contents came after it was made
        key = array, copy
        if key not in self.copies:  # it changes behind the function's back only: one copy, where it is made, will do
            home = self.where.block[array]
            definition = self.where.definition.get(array)
            at = Builder(self.function, Block("copy"))
            self.copies[key] = copy(at, array)
            assert at.block is not None
            here = b.block if home is b.block else home
            assert here is not None
            # What made it may be a call by now that stands for another one: its results are the same.
            made = [n for n, i in enumerate(here.instrs) if array in i.results]
            index = made[0] + 1 if made else self._behind_prologue(here)
            here.instrs[index:index] = at.block.instrs
        return self.copies[key]

    def _behind_prologue(self, block: Block) -> int:
        return self.prologue_length if block is self.function.entry else 0

    def _refuse_overlap(self, b: Builder, call: Instr, written: set[int], exception: str, what: str) -> None:
        """A call is made again with copies, which are apart, and a rule has separate cotangents: so have to be the arrays."""
        arrays = [k for k, v in enumerate(call.operands) if isinstance(v.type, Array)]
        for n, k in enumerate(arrays):
            for other in arrays[n + 1 :]:
                x, y = call.operands[k], call.operands[other]
                if (k in written or other in written) and self.activity.rep(x) is self.activity.rep(y):
                    apart = b.op("not", b.op("overlap", x, y))
                    message = f"{helpers.two_arrays(x, y)} overlap in memory and {what} needs arrays that are apart; use a copy"
                    b.emit("guard", apart, exc=exception, message=message)

    def _forward_rule(self, b: Builder, instr: Instr) -> None:
        rule = instr.attrs["rule"]
        forward = self.module.functions[rule.forward]
        name = instr.attrs["callee"].removesuffix(".rule")
        written = summary_of(self.module, rule.forward, self.activity.summaries).stored
        if any(self.active(instr.operands[k]) for k in written.difference(rule.mutates)):
            raise Unsupported(
                f"the rule for {name}, which writes to an array that it is given",
                instr.position,
                hint="say so: zyg.adjoint(f, mutates=...); or let the rule work on a copy and return the new array; or leave "
                "the rule out, zyg differentiates writes",
            )
        if any(self.activity.varied_by(instr.operands[k]) & self.bits for k in rule.constants):
            raise Misuse(
                f"a derivative by a keyword argument of {name}, or by the default of a parameter of a function that it is "
                "given: its rule gives cotangents for positional arguments, and of what functions captured, only",
                instr.position,
                hint="pass it by position, let the function capture it, or make it a constant: zyg.stop_gradient(x)",
            )
        self._refuse_overlap(b, instr, set(rule.mutates), "ValueError", _WRITTEN_IN)
        saved = [Value(t, "saved") for t in forward.results[len(instr.results) :]]
        attrs = {k: v for k, v in instr.attrs.items() if k != "rule"} | {"callee": rule.forward}
        call = b.append(Instr("call", list(instr.operands), [*instr.results, *saved], attrs, [], instr.position))
        for r in instr.results:
            if isinstance(r.type, Array) and self.active(r):
                self.shadows[r] = helpers.zeros_like(b, r, f"d_{r.name}")
        self.made_by[call] = (instr, self._lasting(b, instr, forward, saved))

    def _lasting(self, b: Builder, call: Instr, forward: Function, saved: list[Value]) -> list[Value]:
        """What a rule saved, with copies of arrays that may change before the reverse part runs: of what it was given, and of
        what it gave, which a solution of equations is, for instance, whose first element is set then."""
        aliases = Aliases(forward, self.module)
        returned = [i.operands for _, i in forward.instructions() if i.op == "return"]
        result = list(saved)
        changing = [p for p, v in zip(forward.params, call.operands) if isinstance(v.type, Array)
                    and not self._lasts(call, v)]  # fmt: skip
        given = {aliases.find(p) for p in changing}
        changed = [k for k, v in enumerate(call.results) if isinstance(v.type, Array) and not self._lasts(call, v)]
        reverse = call.attrs["rule"].reverse
        stored = summary_of(self.module, reverse, self.activity.summaries).stored if given or changed else ()
        for n, v in enumerate(saved):
            at = len(call.results) + n
            if isinstance(v.type, Array) and any(
                aliases.find(values[at]) in given.union([aliases.find(values[k]) for k in changed])
                for values in returned
            ):
                if n in stored and any(aliases.find(values[at]) in given for values in returned):
                    raise Unsupported(
                        "a backward pass that writes to an array, as the function of a hook may that has captured it, and that runs by itself "
                        "(of a pullback or checkpoint): the array is a copy there",
                        call.position,
                        hint="use zyg.gradient, or leave the call to Python: keep what is written in a list",
                    )
                result[n] = helpers.copy(b, v)
        return result

    def _lasts(self, reader: Instr, array: Value) -> bool:
        """Whether an array holds until the reverse part has run what `reader` finds there."""
        return self.stays(array) and self.last_writes.lasts(reader, array)

    def _callee(self, call: Instr) -> Callee:
        """The out-of-line adjoint of a callee, made at its first use; recursion finds the names already there. That of a function of the
        library, which is called in many ways, is by the parameters that vary here, and those that it writes to; and for arrays that
        stay as they are, or may change before the reverse half has read them, which saves what it wants of those."""
        name = call.attrs["callee"]
        source = self.module.functions[name]
        summary = self.summaries[name]
        wrt, lent = [*range(len(call.operands))], list[int]()
        if is_library(source):
            wrt = [k for k, v in enumerate(call.operands) if self.active(v) or k in summary.written or v.type is TAPE]
            lent = [k for k in lent_arrays(source, summary) if self._lasts(call, call.operands[k])]
        key = (name, tuple(wrt), tuple(lent))
        if key in self.callees:
            return self.callees[key]
        flowing = 0
        for bits in summary.results:
            flowing |= bits
        for bits in summary.arrays.values():
            flowing |= bits
        params = source.params
        callee = Callee(
            forward=self.module.unique_name(f"{name}.fwd"),
            reverse=self.module.unique_name(f"{name}.rev"),
            scalar_gradients=tuple(
                k for k, p in enumerate(params)
                if k in wrt and differentiable(p.type) and isinstance(p.type, Scalar) and flowing >> k & 1
            ),
            array_params=tuple(
                k for k, p in enumerate(params)
                if k in wrt and isinstance(p.type, Array) and differentiable(p.type) and _has_part(summary, k)
            ),
            seeds=tuple(
                k for k, t in enumerate(source.results) if differentiable(t) and isinstance(t, Scalar)
            ),
            array_results=tuple(
                k for k, t in enumerate(source.results) if differentiable(t) and isinstance(t, Array)
            ),
            tape_params=tuple(k for k, p in enumerate(params) if p.type is TAPE),
            lent=tuple(lent),
        )  # fmt: skip
        self.callees[key] = callee
        self.module.add(Function(callee.forward))  # placeholders keep the names; the run replaces them
        self.module.add(Function(callee.reverse))
        code = code_of(source)
        if code is not None and code.halves:
            from zyg.frontend import readymade

            self._readymade_halves(source, callee, readymade.halves_of(code, wrt, lent))
            return callee
        chosen = [k in wrt for k in range(len(params))]
        type(self)(self.module, name, chosen, self.summaries, "callee", self.callees, callee=callee).run()
        if "offers" in source.attrs:
            from zyg.frontend import readymade  # on demand: code for scalars has none

            forward, reverse = self.module.functions[callee.forward], self.module.functions[callee.reverse]
            readymade.offer_halves(source, summary.key(), wrt, lent, (forward, reverse))
        return callee

    def _readymade_halves(self, source: Function, callee: Callee, codes: Sequence[Readymade]) -> None:
        """The halves that an earlier process made, with the parameters and results that those of this one would have."""
        params, results = [p.type for p in source.params], list(source.results)
        tapes = [TAPE for _ in callee.tape_params]
        given = {
            callee.forward: [*params, *[helpers.shadow_type(params[k]) for k in callee.array_params], *tapes, TAPE],
            callee.reverse: [TAPE, *[cotangent_type(results[k]) for k in callee.seeds], *tapes],
        }
        gives = {
            callee.forward: [*results, *[helpers.shadow_type(results[k]) for k in callee.array_results]],
            callee.reverse: [cotangent_type(params[k]) for k in callee.scalar_gradients],
        }
        position = source.entry.terminator.position
        for name, code in zip((callee.forward, callee.reverse), codes, strict=True):
            made = function_of(code, name, [Value(t) for t in given[name]], [Value(t) for t in gives[name]], position)
            made.attrs["name"] = source.attrs["name"]
            self.module.functions[name] = made


def _has_part(summary: Summary, k: int) -> bool:
    """Whether something flows from an array parameter, or into it."""
    flowing = [*summary.results, *[bits for p, bits in summary.arrays.items() if p != k]]
    return any(bits >> k & 1 for bits in flowing) or bool(summary.arrays.get(k, 0) & ~(1 << k)) or k in summary.written


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
