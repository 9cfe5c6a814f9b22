"""The square of a norm has the derivative of the sum of squares that it is.

A norm has none at 0, where 0 is used (`abs`, `hypot`, the square root of a sum of squares).  Its square is smooth there; but the
product rule would take the derivative of the norm twice in a second derivative, which makes 0 of what is 2: the Hessian of a perfect fit.

Input: a function that is to be differentiated.  Output: the same values to the last bit; the derivative of `mul h, h`, for a norm h,
is that of x * x, of x * x + y * y, or of what h is the root of.
"""

from __future__ import annotations

from ..core import Const, Function, Instr, Value, const
from ..types import BOOL


def run(function: Function) -> bool:
    made = {r: instr for _, instr in function.instructions() for r in instr.results}
    changed = False
    for block in function.blocks:
        for position in range(len(block.instrs) - 1, -1, -1):
            instr = block.instrs[position]
            if instr.op == "mul" and instr.operands[0] is instr.operands[1]:
                changed |= _square(instr, block.instrs, position, made)
    return changed


def _square(instr: Instr, instrs: list[Instr], position: int, made: dict[Value, Instr]) -> bool:
    norm = made.get(instr.operands[0])
    if norm is None or len(norm.results) > 1:
        return False
    if norm.op == "abs":
        instr.operands = [norm.operands[0]] * 2  # exactly the same
        return True
    before: list[Instr] = []
    slope: Value = const(1.0, norm.result.type)

    def op(name: str, *operands: Value) -> Value:
        result = Value(operands[0].type)
        before.append(Instr(name, list(operands), [result], dict(instr.attrs), position=instr.position))
        return result

    if norm.op in ("hypot", "modulus"):
        x, y = norm.operands
        total = op("add", op("mul", x, x), op("mul", y, y))
    else:
        radicand = _radicand(norm, made)
        if radicand is None:
            return False
        # A sum of squares is never negative; but others may write the same, and what is no root is 0.
        negative = Value(BOOL)
        before.append(Instr("lt", [radicand, const(0.0, radicand.type)], [negative], {}, position=instr.position))
        total = radicand
        chosen = Value(radicand.type)
        none = const(0.0, radicand.type)
        before.append(Instr("select", [negative, none, slope], [chosen], {}, position=instr.position))
        slope = chosen
    h = op("stop", instr.operands[0])
    instr.op, instr.operands = "slope", [op("mul", h, h), slope, total]
    instrs[position:position] = before
    return True


def _radicand(norm: Instr, made: dict[Value, Instr]) -> Value | None:
    """s of `s > 0 ? sqrt(s > 0 ? s : 1) : s * 0`, which is a square root with the slope 0 at 0."""
    if norm.op != "select":
        return None
    positive, root, otherwise = norm.operands
    found, zero = made.get(root), made.get(otherwise)
    if found is None or found.op != "sqrt" or zero is None or zero.op != "mul":
        return None
    s, by = zero.operands
    if not (isinstance(by, Const) and by.value == 0 and _is_positive(made.get(positive), s)):
        return None
    inner = made.get(found.operands[0])
    if inner is None or inner.op != "select" or inner.operands[1] is not s:
        return None
    return s if _is_positive(made.get(inner.operands[0]), s) else None


def _is_positive(test: Instr | None, s: Value) -> bool:
    if test is None or test.op != "gt" or test.operands[0] is not s:
        return False
    zero = test.operands[1]
    return isinstance(zero, Const) and zero.value == 0
