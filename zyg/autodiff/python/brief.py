"""Run-time functions of zyg's own, where they are differentiated in turn: for a derivative of a derivative.

Much of what they do is to ask what something is. Names in their modules stay what they are, so such calls need not be recorded.
"""

from __future__ import annotations

import builtins
from typing import Any

from zyg.ir.core import Const, Function, clone
from zyg.ir.types import OBJECT

from ..objects.arithmetic import is_python
from ..objects.attributes import plain_lookup
from ..objects.cotangents import is_number

# They give a class, a truth, or an int that is no number of the program's. (What the user's code asks comes as a value, not by name.)
QUIET = (type, id, len, isinstance, issubclass, is_python, plain_lookup, is_number)


def with_quiet_calls(function: Function, namespace: dict[str, Any]) -> Function:
    """The function with constants in the place of the names of quiet functions that are called."""
    made = clone(function)
    makers = {r: i for _, i in made.instructions() for r in i.results}
    for _, instr in made.instructions():
        if instr.op != "call_object" or instr.attrs["keywords"] or len(instr.operands) > 3:
            continue
        callee = makers.get(instr.operands[0])
        if callee is None or callee.op != "global":
            continue
        name = callee.attrs["name"]
        value = namespace[name] if name in namespace else getattr(builtins, name, None)
        if any(value is f for f in QUIET) and (value is not type or len(instr.operands) == 2):
            instr.operands[0] = Const(value, OBJECT)
    return made


__all__ = ["QUIET", "with_quiet_calls"]
