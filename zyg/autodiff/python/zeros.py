"""Cotangents that turned out to be zero, which stand as None in a reverse half."""

from __future__ import annotations

from zyg.ir.core import Const, Function, Value, map_uses
from zyg.ir.types import NONE

NOTHING = Const(None, NONE)


def drop_zeros(function: Function) -> None:
    """Fold sums with what turned out to be zero, and block parameters that only ever get zero."""
    replaced: dict[Value, Value] = {}

    def resolve(v: Value) -> Value:
        while v in replaced:
            v = replaced[v]
        return v

    changed = True
    while changed:
        changed = False
        incoming: dict[Value, list[Value]] = {}
        for block in function.blocks:
            kept = []
            for instr in block.instrs:
                map_uses(instr, resolve)
                if instr.op == "accumulate" and any(map(is_nothing, instr.operands[1:3])):
                    _, a, b = instr.operands[:3]
                    replaced[instr.result] = b if is_nothing(a) else a
                    changed = True
                elif instr.op == "parts" and all(map(is_nothing, instr.operands)):
                    replaced[instr.result] = NOTHING
                    changed = True
                elif instr.op == "join" and all(map(is_nothing, instr.operands[4:])):
                    replaced[instr.result] = instr.operands[1]
                    changed = True
                else:
                    kept.append(instr)
                for target in instr.targets:
                    for p, a in zip(target.block.params, target.args, strict=True):
                        incoming.setdefault(p, []).append(a)
            block.instrs[:] = kept
        zero = set(incoming)
        while True:  # optimistically: a cycle of parameters that pass zero around is zero
            still = {p for p in zero if all(is_nothing(a) or a in zero for a in map(resolve, incoming[p]))}
            if still == zero:
                break
            zero = still
        for block in function.blocks:
            gone = [k for k, p in enumerate(block.params) if p in zero]
            if gone:
                changed = True
                replaced.update((block.params[k], NOTHING) for k in gone)
                for b in function.blocks:
                    for target in b.successors():
                        if target.block is block:
                            target.args[:] = [a for k, a in enumerate(target.args) if k not in gone]
                block.params[:] = [p for p in block.params if p not in zero]


def is_nothing(v: Value) -> bool:
    return isinstance(v, Const) and v.value is None
