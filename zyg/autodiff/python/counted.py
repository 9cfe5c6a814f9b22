"""Loops over `range`, whose items are ints that carry no derivative: nothing is recorded of them, and nothing comes back to them.

What the name `range` stands for is known when a function is compiled, and what the loop goes through is looked at when it begins.
"""

from __future__ import annotations

import builtins
from typing import Any

from zyg.errors import Unsupported
from zyg.ir.core import Block, Const, Function, Instr, Value, clone
from zyg.ir.types import OBJECT

from .normal import steps_a_loop


def with_counted_loops(function: Function, namespace: dict[str, Any]) -> Function:
    """The function with such loops marked (attrs["counts"] of `iter` and `next`); itself if there are none. `namespace`: its
    global variables."""
    if namespace.get("range", builtins.range) is not range or not _loops_over_range(function):
        return function
    f = clone(function)
    for block, made, steps in _loops_over_range(f):
        seen = Value(OBJECT)
        check = Instr(
            "call_object", [Const(as_range, OBJECT), *made.operands], [seen], {"keywords": ()}, [], made.position
        )
        block.instrs.insert(block.instrs.index(made), check)
        made.operands[:] = [seen]
        for instr in (made, *steps):
            instr.attrs["counts"] = True
    return f


def _loops_over_range(f: Function) -> list[tuple[Block, Instr, list[Instr]]]:
    """The block and the instruction that begin such a loop, and its steps."""
    makers = {r: i for _, i in f.instructions() for r in i.results}

    def is_range(v: Value) -> bool:
        made = makers.get(v)
        callee = makers.get(made.operands[0]) if made is not None and made.op == "call_object" else None
        return callee is not None and callee.op == "global" and callee.attrs["name"] == "range"

    found = {i.result: (b, i, list[Instr]()) for b, i in f.instructions() if i.op == "iter" and is_range(i.operands[0])}
    if not found:
        return []
    for block, instr in f.instructions():
        if instr.op == "next" and instr.operands[0] in found and steps_a_loop(block, instr):
            found[instr.operands[0]][2].append(instr)
        else:
            for v in (*instr.operands, *[a for t in instr.targets for a in t.args]):
                found.pop(v, None)
        for v in block.handler.args if block.handler is not None else ():
            found.pop(v, None)
    return list(found.values())


def as_range(x: Any) -> Any:
    """What a loop goes through that looks like one over a range."""
    if type(x) is range:
        return x
    raise Unsupported(
        "a loop over `range(...)`, which is another function than when the code around was first differentiated",
        hint="give that function another name",
    )


__all__ = ["as_range", "with_counted_loops"]
