"""On which parameters a result depends whatever path is taken: those get 0.0 where the path that was taken gives nothing.

Only what is certain counts: numbers that flow through arithmetic, joins, and functions of `math`.  What goes by way of objects
and other calls is told by what happened when it ran.
"""

from __future__ import annotations

from types import CodeType

from zyg.frontend.capture import capture
from zyg.ir.core import Const, Function, Instr, Value

from ..identity import ByIdentity
from .activity import ARITHMETIC

_cache = ByIdentity()  # of code objects: the numbers of parameters
_CUTTING = frozenset("ceil floor trunc isfinite isinf isnan isclose comb perm gcd lcm factorial isqrt".split())


def flowing(code: CodeType) -> frozenset[int]:
    """The numbers of the parameters that flow into the result.

    >>> sorted(flowing((lambda x, y, z: x if z > 0 else 2.0 * y).__code__))
    [0, 1]
    """
    found = _cache.of(code)
    if found is None:
        found = _flowing(capture(code))
        _cache.note(code, found)
    return found


def _flowing(function: Function) -> frozenset[int]:
    makers = {r: i for _, i in function.instructions() for r in i.results}
    useful: set[Value] = set()
    for _, instr in function.instructions():
        if instr.op == "return":
            useful.update(instr.operands)
    changed = True
    while changed:
        before = len(useful)
        for block in function.blocks:
            for target in block.successors():
                useful.update(a for p, a in zip(target.block.params, target.args, strict=True) if p in useful)
            if block.handler is not None:
                handler = block.handler
                useful.update(a for p, a in zip(handler.block.params[1:], handler.args, strict=True) if p in useful)
            for instr in reversed(block.instrs):
                if instr.results and instr.results[0] in useful and _passes(instr, makers):
                    useful.update(instr.operands)
        changed = len(useful) != before
    return frozenset(k for k, p in enumerate(function.params) if p in useful)


def _passes(instr: Instr, makers: dict[Value, Instr]) -> bool:
    if instr.op == "checked_local" or (instr.op in ARITHMETIC and "floordiv" not in instr.op):
        return True
    if instr.op != "call_object" or instr.attrs["keywords"] or isinstance(instr.operands[0], Const):
        return False
    callee = makers.get(instr.operands[0])
    if callee is None or callee.op != "getattr" or callee.attrs["name"] in _CUTTING:
        return False
    module = makers.get(callee.operands[0])
    return module is not None and module.op == "global" and module.attrs["name"] == "math"
