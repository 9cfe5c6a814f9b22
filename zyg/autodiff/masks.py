"""Cotangents that are 0 for one outcome of a condition, in the reverse of a function of elements.

What `np.where`, `abs` and their like choose gets the cotangent where it was chosen, 0 elsewhere:

    d = select c, seed, 0;   e = mul d, x;   f = mul d, y;   g = add e, f

Cotangents are linear in the seeds, so the choice may come last, `select c, (add (mul seed, x), (mul seed, y)), 0`: products with
a seed of 1 are then none, sums of what is added under a condition and under its opposite are one choice, and processors with
masks choose while they compute.  It is also what is meant: what was not chosen does not matter, be it infinite (0 * inf is nan).

Input: the reverse of a function of elements, straight from the adjoint pass.  Output: the same with choices later; `dce` takes
what is left over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from typing import NamedTuple

from zyg.ir.core import Const, Function, Instr, Value, const, uses
from zyg.ir.passes.rewriting import replace_uses, substitute
from zyg.ir.types import is_float


class Masked(NamedTuple):
    """A cotangent that is `value` where `condition` is `outcome`, else 0."""

    condition: Value
    outcome: bool
    value: Value


def run(function: Function, seeds: list[Value]) -> None:
    """`seeds`: the parameters of the function that everything it gives is linear in."""
    _Walk(function, seeds).run()


def add_nothing(function: Function, first: int) -> None:
    """Where a result from number `first` on, which is only summed up, is chosen, or 0: let it be -0.0 instead, which changes no
    sum, so that a processor with masks adds nothing, instead of choosing zeros to add."""
    blocks = [b for b in function.blocks if b.instrs[-1].op == "return"]
    made = {r: i for _, i in function.instructions() for r in i.results}
    counts = Counter(v for _, i in function.instructions() for v in uses(i))
    for result in [v for b in blocks for v in b.instrs[-1].operands[first:]]:
        choice = made.get(result)
        if choice is not None and choice.op == "select" and counts[result] == 1 and is_float(result.type):
            choice.operands[1:] = [const(-0.0, v.type) if _is_zero(v) else v for v in choice.operands[1:]]


class _Walk:
    def __init__(self, function: Function, seeds: list[Value]):
        self.function = function
        self.linear = set(seeds)  # cotangents
        self.masked: dict[Value, Masked] = {}
        self.made: dict[Value, Instr] = {}
        self.replaced: dict[Value, Value] = {}
        self.kept: list[Instr] = []

    def run(self) -> None:
        for block in self.function.blocks:
            self.kept = []
            for instr in block.instrs:
                substitute(instr, self.replaced)
                lifted = self.lifted(instr) if instr.op in _LINEAR else None
                if lifted is None:
                    self.keep(instr)
                else:
                    self.replaced[instr.result] = lifted
            block.instrs[:] = self.kept
        replace_uses(self.function, self.replaced)  # blocks are not in the order in which they run

    def keep(self, instr: Instr) -> None:
        self.kept.append(instr)
        self.made.update(dict.fromkeys(instr.results, instr))
        if instr.op not in _LINEAR or self.linear.isdisjoint(instr.operands):
            return
        self.linear.add(instr.result)
        if instr.op == "select" and not instr.attrs.get("strong"):  # whose derivative is not under its condition
            condition, x, y = instr.operands
            if _is_zero(x) or _is_zero(y):
                self.masked[instr.result] = Masked(condition, _is_zero(y), x if _is_zero(y) else y)

    def lifted(self, instr: Instr) -> Value | None:
        """The result, chosen after what the instruction computes; None if its operands do not agree on a condition."""
        first = 1 if instr.op == "select" else 0  # of the operands that it is linear in
        operands = instr.operands[first:]
        masks = [self.masked.get(v) for v in operands]
        chosen = next((m for m in masks if m is not None), None)
        if chosen is None or any(m.condition is not chosen.condition for m in masks if m is not None):
            return None
        if instr.op in _PRODUCTS:
            if instr.op != "mul" and masks[0] is None or len(self.linear.intersection(operands)) > 1:
                return None
        elif not all(m is not None or _is_zero(v) for m, v in zip(masks, operands, strict=True)):
            return None
        values = [v if m is None else m.value for m, v in zip(masks, operands, strict=True)]
        if any(m.outcome != chosen.outcome for m in masks if m is not None):
            if instr.op != "add":
                return None
            return self.emit(instr, "select", [chosen.condition, *(values if chosen.outcome else reversed(values))])
        if first:
            test = self.test_of(instr.operands[0], chosen)
            if test is None:
                return None
            values = [test, *values]
        value = self.emit(instr, instr.op, values, nested=True)
        zero = const(0.0, value.type)
        values = [value, zero] if chosen.outcome else [zero, value]
        return self.emit(instr, "select", [chosen.condition, *values], {"strong"})

    def test_of(self, condition: Value, chosen: Masked) -> Value | None:
        """The condition of a choice among cotangents; one that asks whether a cotangent is 0 asks what is chosen."""
        made = self.made.get(condition)
        if made is None or self.linear.isdisjoint(made.operands):
            return condition
        mask = self.masked.get(made.operands[0])
        if made.op != "eq" or not _is_zero(made.operands[1]) or mask is None or mask[:2] != chosen[:2]:
            return None
        return self.emit(made, "eq", [mask.value, made.operands[1]])

    def emit(
        self, like: Instr, op: str, operands: list[Value], without: Container[str] = (), nested: bool = False
    ) -> Value:
        """`without`: what is true of `like`, and not of what chooses among its results (a mask is no strong zero).
        `nested`: the operands may be cotangents under further masks, which come behind this instruction, too."""
        result = Value(like.result.type, like.result.name)
        attrs = {name: value for name, value in like.attrs.items() if name not in without}
        made = Instr(op, operands, [result], attrs, [], like.position)
        lifted = self.lifted(made) if nested else None
        if lifted is not None:
            return lifted
        self.keep(made)
        return result


def _is_zero(v: Value) -> bool:
    return isinstance(v, Const) and v.value == 0


_PRODUCTS = frozenset({"mul", "div", "sdiv"})
_LINEAR = _PRODUCTS | {"add", "sub", "neg", "select"}
