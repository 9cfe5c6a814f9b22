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
from typing import Any

from zyg.ir.builder import Builder
from zyg.ir.core import Block, Const, Function, Instr, Module, Value, array_type, const
from zyg.ir.ops import OPS
from zyg.ir.passes import cse, dce, fold, simplify_cfg
from zyg.ir.trace import Traced, zero_where_zero
from zyg.ir.types import OBJECT, Array, Type, cotangent_type

from . import helpers
from .activity import Summary, differentiable, differentiable_operands, foreign_targets, summarise
from .instructions import drop_unused
from .state import is_zero
from .tangent_calls import TangentCalls
from .tangent_state import Lean, Run, Tangent


def tangent(
    module: Module, name: str, wrt: Sequence[bool], outputs: Sequence[int] | None = None, lanes: int = 1
) -> Tangent:
    """Differentiate function `name` along the parameters marked in `wrt`; `outputs` are the results whose tangents are
    wanted, all unless given."""
    return _Run(module, summarise(module, name), lanes).of(name, list(wrt), outputs, whole=True)


class _Run(Run):
    def __init__(self, module: Module, summaries: dict[str, Summary], lanes: int):
        super().__init__(module, summaries, lanes)
        self.known: dict[object, Tangent] = {}
        self.of_elements: dict[object, Tangent] = {}

    def of(self, name: str, wrt: list[bool], outputs: Sequence[int] | None, whole: bool) -> Tangent:
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

    def elements(self, name: str, wrt: list[bool], outputs: Sequence[int], arrays: int) -> Tangent:
        key = (name, tuple(wrt), tuple(outputs), arrays)
        if key not in self.of_elements:
            from zyg.ir.passes.side_by_side import with_results  # on demand: only whole arrays need it

            made = self.of(name, wrt, outputs, whole=True)
            function = self.module.functions[made.function]
            for simplify in (fold.run, cse.run, dce.run, simplify_cfg.run):
                simplify(function)
            first = len(function.results) - len(made.outputs)
            returned = [b.terminator.operands for b in function.blocks if b.terminator.op == "return"]
            place = {k: first + n for n, k in enumerate(made.outputs)}
            varying = [k for k in made.outputs if not all(is_zero(values[place[k]]) for values in returned)]
            order = [
                *range(arrays), *(place[k] for k in varying if k < arrays),
                *range(arrays, first), *(place[k] for k in varying if k >= arrays),
            ]  # fmt: skip
            function = with_results(self.module, function, order)
            self.of_elements[key] = Tangent(function.name, made.params, tuple(varying))
        return self.of_elements[key]


class _Body(TangentCalls):
    """The tangent of one function. Each method `_<op>` handles an op that the rule in its table does not."""

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
        b = self.builder
        b.at(entry)
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
                elif OPS[instr.op].effects == "write" or any(isinstance(r.type, Array) for r in instr.results):
                    raise self._unsupported(f"forward mode through `{instr.op}`", instr)  # it has no method here
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

    def _by_rule(self, b: Lean, instr: Instr) -> None:
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
                    part: Any = op.vjp(Traced(b, self.of(instr.operands[k])[lane]), y, *operands)[k]
                    part = part() if callable(part) and not isinstance(part, Traced) else part
                    if part is not None:
                        flat = None if op.flat is None else op.flat(y, *operands)[k]
                        if flat is not None:
                            part = zero_where_zero(flat, part)
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

    def _select(self, b: Lean, instr: Instr) -> None:
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
            if instr.op == "strided":  # in bytes: of the shadow's elements, which are wider than an int32
                rest = helpers.strides_of_shadow(b.op, instr.result, rest)
            if self.lanes > 1:
                if instr.op == "view":
                    attrs["spec"] += ":"
                elif instr.op == "transpose":
                    attrs["axes"] += (array_type(instr.result).ndim,)
                elif instr.op == "strided":
                    size = const(helpers.shadow_type(instr.result.type).dtype.bits // 8)
                    rest = [*(b.op("mul", stride, const(self.lanes)) for stride in rest), size]
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

    _reshape = _broadcast = _transpose = _strided = _view

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

    def _pycall(self, b: Builder, instr: Instr) -> None:
        helpers.refuse_unseen_writes(instr, self.active, "zyg.tangent")
        b.append(instr)
        active = [r for r in instr.results if self.active(r)]
        if active and any(self.active(v) for v in instr.operands):
            name = helpers.called_by(instr)
            raise self._unsupported(
                f"a derivative through `{name}`, which zyg cannot see into",
                instr,
                hint=f"give it a rule with @zyg.tangent({name}) or @zyg.adjoint({name}), or wrap its arguments in "
                "zyg.stop_gradient",
            )
        for r in active:  # an array that is constant, but written to
            self.shadows[r] = self._zeros(r)

    def _foreign(self, b: Builder, instr: Instr) -> None:
        b.append(instr)
        if any(self.active(v) for v in foreign_targets(instr)):
            raise self._unsupported(
                f"a derivative through the C function {instr.attrs['symbol']}",
                instr,
                hint="give the function that calls it a rule with @zyg.tangent(f), or wrap its arguments in zyg.stop_gradient",
            )

    def _plain(self, b: Builder, instr: Instr) -> None:
        """These have no tangent of their own."""
        b.append(instr)

    _checkpoint = _stop = _plain
    _arrange = _contiguous = _fits = _guard = _poll = _dim = _stride = _overlap = _same = _retain = _release = (
        _raise
    ) = _unreachable = _plain
    _stack = _tape = _cursor = _drop = _reserve = _rewind = _plain


__all__ = ["Tangent", "tangent"]
