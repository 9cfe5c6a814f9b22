"""Operators that are likely about complex numbers: what is calculated from a complex constant, from `complex(...)` or a function of
`cmath`. Object code then tests for exactly complex numbers, and has the rules of these written out. A guess, about speed alone.

The cotangent of a product by its first operand is d times the conjugate of the second one; by a real operand, the real part.
"""

from __future__ import annotations

import operator
from typing import Any

from zyg.ir.core import Const, Function, Instr, Value

from ..objects.cotangents import real_like
from . import rules
from .activity import ARITHMETIC

conjugate = operator.methodcaller("conjugate")

_OPERATORS = frozenset({"add", "sub", "mul", "truediv"})


def likely_complex(function: Function) -> set[Value]:
    """Values that are likely complex numbers."""
    makers = {r: i for _, i in function.instructions() for r in i.results}
    found: set[Value] = set()

    def is_complex(v: Value) -> bool:
        return v in found or (isinstance(v, Const) and type(v.value) is complex)

    def makes_complex(instr: Instr) -> bool:
        if instr.op in ARITHMETIC:
            return any(map(is_complex, instr.operands))
        if instr.op != "call_object":
            return False
        callee = makers.get(instr.operands[0])
        if callee is not None and callee.op == "getattr":
            callee = makers.get(callee.operands[0])
            return callee is not None and callee.op == "global" and callee.attrs["name"] == "cmath"
        return callee is not None and callee.op == "global" and callee.attrs["name"] == "complex"

    while True:
        before = len(found)
        for _, instr in function.instructions():
            if makes_complex(instr):
                found.update(instr.results)
            for target in instr.targets:
                found.update(p for p, a in zip(target.block.params, target.args, strict=True) if is_complex(a))
        if len(found) == before:
            return found


def is_about_complex(instr: Instr, likely: set[Value]) -> bool:
    """Whether an operator is written out for complex numbers."""
    return rules.base(instr.op) in _OPERATORS and any(v in likely for v in instr.operands)


def expressions(instr: Instr, likely: set[Value], wanted: list[int]) -> tuple[rules.Expression, ...]:
    """The cotangents of operands `wanted`."""
    op = rules.base(instr.op)
    conjugates: list[Any] = []
    for k, v in enumerate(instr.operands):
        if isinstance(v, Const):
            conjugates.append(("const", v.value.conjugate() if type(v.value) is complex else v.value))
        else:
            conjugates.append(("call", conjugate, k) if v in likely else k)
    made: list[Any] = []
    for k in wanted:
        if op == "mul":
            d: Any = ("mul", "d", conjugates[1 - k])
        elif op == "truediv":
            d = ("truediv", "d", conjugates[1])
            if k == 1:
                d = ("mul", ("neg", d), ("call", conjugate, "y"))
        else:
            d = ("neg", "d") if op == "sub" and k == 1 else "d"
        made.append(d if instr.operands[k] in likely else ("call", real_like, k, d))
    return tuple(made)


__all__ = ["expressions", "is_about_complex", "likely_complex"]
