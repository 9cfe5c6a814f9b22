"""Loops over `range`, whose items are ints that carry no derivative: nothing is recorded of them, and nothing comes back to them; and
loops over `zip` and `enumerate`, whose items are tuples that the loop takes apart by itself, and numbers that carry no derivative.

What these names stand for is known when a function is compiled, and what the loop goes through is looked at when it begins.
"""

from __future__ import annotations

import builtins
from typing import Any

from zyg.errors import Unsupported
from zyg.ir.core import Block, Const, Function, Instr, Value, clone
from zyg.ir.types import OBJECT

from .items import steps_a_loop


def with_known_loops(function: Function, namespace: dict[str, Any]) -> Function:
    """The function with such loops marked (attrs["counts"] of `iter` and `next`, attrs["tuples"], how many items they have, and attrs["numbered"] of `iter`: whether
    numbers are never below zero); itself if there are none. `namespace`: its global variables."""
    known = {name for name in _KNOWN if name not in namespace or namespace[name] is getattr(builtins, name)}
    if not any(i.op == "global" and i.attrs["name"] in known for _, i in function.instructions()):
        return function
    f = clone(function)
    makers = {r: i for _, i in f.instructions() for r in i.results}
    for _, made in list(f.instructions()):
        if made.op == "iter" and (call := _called(makers, made.operands[0], known - {"range"})) is not None:
            made.attrs["tuples"] = len(call.operands) - 1
            if makers[call.operands[0]].attrs["name"] == "enumerate":
                made.attrs |= {"tuples": 2, "numbered": _is_natural(call.operands[2:])}
    for block, made, steps in _loops_over_range(f, makers) if "range" in known else ():
        seen = Value(OBJECT)
        check = Instr(
            "call_object", [Const(as_range, OBJECT), *made.operands], [seen], {"keywords": ()}, [], made.position
        )
        block.instrs.insert(block.instrs.index(made), check)
        _, *bounds = makers[made.operands[0]].operands
        for instr in (made, *steps):
            instr.attrs["counts"] = _is_natural(bounds[:1] + bounds[2:] if len(bounds) > 1 else [])
        made.operands[:] = [seen]
    return f


def _is_natural(firsts: list[Value]) -> bool:
    """Whether what begins at such a number, and goes on by steps of another one, never gets below zero."""
    return all(isinstance(v, Const) and type(v.value) is int and v.value >= 0 for v in firsts)


_KNOWN = ("range", "zip", "enumerate")


def _called(makers: dict[Value, Instr], v: Value, names: set[str]) -> Instr | None:
    """The call by position that gives a value, of what has one of these names."""
    made = makers.get(v)
    if made is None or made.op != "call_object" or made.attrs["keywords"]:
        return None
    callee = makers.get(made.operands[0])
    return made if callee is not None and callee.op == "global" and callee.attrs["name"] in names else None


def _loops_over_range(f: Function, makers: dict[Value, Instr]) -> list[tuple[Block, Instr, list[Instr]]]:
    """The block and the instruction that begin such a loop, and its steps."""
    found = {
        i.result: (b, i, list[Instr]())
        for b, i in f.instructions()
        if i.op == "iter" and _called(makers, i.operands[0], {"range"}) is not None
    }
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
    raise is_another("range(...)")


def is_another(what: str) -> Unsupported:
    return Unsupported(
        f"a loop over `{what}`, which is another function than when the code around was first differentiated",
        hint="give that function another name",
    )


__all__ = ["as_range", "is_another", "with_known_loops"]
