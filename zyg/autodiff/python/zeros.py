"""Cotangents that turned out to be zero, which stand as None in a reverse half."""

from __future__ import annotations

from zyg.ir.core import Const, Function, Value, map_uses
from zyg.ir.types import NONE

NOTHING = Const(None, NONE)


def drop_zeros(function: Function) -> None:
    """Fold sums with what turned out to be zero, and block parameters that only ever get zero."""
    zero = _zeros(function)
    replaced: dict[Value, Value] = dict.fromkeys(zero, NOTHING)

    def resolve(v: Value) -> Value:
        while v in replaced:
            v = replaced[v]
        return v

    def nothing(v: Value) -> bool:
        return v in zero or is_nothing(v)

    for block in function.blocks:
        kept = []
        for instr in block.instrs:
            if instr.op == "accumulate" and any(map(nothing, instr.operands[1:3])):
                _, a, b = instr.operands[:3]
                replaced.setdefault(instr.result, b if nothing(a) else a)
            elif instr.op == "parts" and all(map(nothing, instr.operands)):
                pass  # it is one of the zeros
            elif instr.op == "join" and all(map(nothing, instr.operands[4:])):
                replaced.setdefault(instr.result, instr.operands[1])
            else:
                kept.append(instr)
        block.instrs[:] = kept
    if not replaced:
        return
    for block in function.blocks:
        for target in block.successors():
            target.args[:] = [a for p, a in zip(target.block.params, target.args, strict=True) if p not in zero]
        for instr in block.instrs:
            map_uses(instr, resolve)
    for block in function.blocks:
        block.params[:] = [p for p in block.params if p not in zero]


def _zeros(function: Function) -> set[Value]:
    """The sums and block parameters that are zero: optimistically, so that cycles that only pass zero around are."""
    summed: dict[Value, list[Value]] = {}  # per value, those that have to be zero for it to be
    for block in function.blocks:
        for instr in block.instrs:
            if instr.op == "accumulate":
                summed[instr.result] = instr.operands[1:3]
            elif instr.op == "parts":
                summed[instr.result] = instr.operands
            elif instr.op == "join":
                summed[instr.result] = [instr.operands[1], *instr.operands[4:]]
            for target in instr.targets:
                for p, a in zip(target.block.params, target.args, strict=True):
                    summed.setdefault(p, []).append(a)
    users: dict[Value, list[Value]] = {}
    varies: set[Value] = set()
    for v, values in summed.items():
        for a in values:
            if a in summed:
                users.setdefault(a, []).append(v)
            elif not is_nothing(a):
                varies.add(v)
    work = list(varies)
    while work:
        for user in users.get(work.pop(), ()):
            if user not in varies:
                varies.add(user)
                work.append(user)
    return summed.keys() - varies


def is_nothing(v: Value) -> bool:
    return isinstance(v, Const) and v.value is None
