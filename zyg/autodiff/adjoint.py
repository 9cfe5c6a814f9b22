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

from zyg.ir.builder import Builder
from zyg.ir.core import Block, Const, Function, Instr, Module, Target, Value, map_uses, uses
from zyg.ir.records import record
from zyg.ir.types import OBJECT, TAPE, Array, Stack, Type, cotangent_type

from . import helpers
from .activity import Summary, summarise
from .instructions import ReverseInstructions
from .state import is_zero
from .storage import Storage


@record(frozen=True)
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
    module: Module,
    name: str,
    wrt: Sequence[bool],
    split: bool = False,
    outputs: Sequence[int] | None = None,
    summaries: dict[str, Summary] | None = None,
) -> Adjoint:
    """Differentiate function `name` by the parameters marked in `wrt`; `outputs` are the results to differentiate, all
    that are numbers or arrays unless given; `summaries` those of the functions, if they have been made.

    Joint (the default): a function of the parameters and a seed per differentiable result, giving the results and the
    cotangents.  Split: a function of the parameters giving the results and what was saved; and a function of what was
    saved and the seeds, giving the cotangents, which may be called any number of times.

    A function of Python ops is always split, and gives cotangents for all its parameters (see zyg.autodiff.python).
    """
    if module.functions[name].results == (OBJECT,):
        return _of_objects(module, name)
    summaries = summarise(module, name) if summaries is None else summaries
    run = _Adjoint(module, name, list(wrt), summaries, "split" if split else "joint", outputs=outputs)
    made = run.run()
    run.callees.make_variants(module)
    return made


def _of_objects(module: Module, name: str) -> Adjoint:
    from .python import halves

    forward, reverse = halves(module.functions[name])
    for half in (forward, reverse):
        half.name = module.unique_name(half.name)
        module.add(half)
    params = tuple(range(len(module.functions[name].params)))
    return Adjoint(forward=forward.name, reverse=reverse.name, gradients=params, seeds=(0,))


class _Adjoint(ReverseInstructions):
    """The whole pass over one function."""

    def run(self) -> Adjoint:
        self._forward()
        self.where = helpers.Position(self.function)
        if self.return_block is None:
            return self._never_returns()
        self._reverse()
        return self._finish()

    # ----------------------------------------------------------------------------------------- the result

    def _finish(self) -> Adjoint:
        f = self.function
        storage = Storage(self)
        storage.run()
        final = [storage.replacement.get(v, v) for v in self.final]
        assert self.return_block is not None
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
            block.instrs[:] = [i for i in block.instrs if not (i.op == "accum" and is_zero(i.operands[1]))]
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
        callee = self.callee
        if callee is not None:
            forward_name, reverse_name = callee.forward, callee.reverse
        else:
            forward_name = self.module.unique_name(f"{self.name}.fwd")
            reverse_name = self.module.unique_name(f"{self.name}.rev")
        reverse = Function(reverse_name, [], tuple(v.type for v in self.end.terminator.operands))
        entry = Block("entry")
        b = Builder(reverse, entry)
        copies: dict[Value, Value]
        ret = self.return_block.terminator
        if callee is not None:
            assert self.tape is not None
            entry.params = [self.reverse_tape, *self.seed_params, *shadow_tapes]
            if saved:
                types = tuple(v.type for v in saved)
                copies = dict(zip(saved, b.emit("pop", self.reverse_tape, types=types), strict=True))
                self.return_block.instrs.insert(-1, Instr("push", [self.tape, *saved]))
            else:
                copies = {}
            self.return_block.instrs.pop()
            at_end = Builder(f, self.return_block)
            at_end.position = ret.position
            shadows = [self._shadow_or_dummy(at_end, ret.operands[k]) for k in callee.array_results]
            self.return_block.instrs.append(ret)
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
        chosen = self.callee.scalar_gradients if self.callee is not None else self.gradients
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
        callee = self.callee
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
