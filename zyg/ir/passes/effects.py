"""Say which elementwise operations may raise.

Input: a module.  Output: an `apply` whose function may raise or run Python has attrs['effects']: it stays, though nobody reads
what it sets.

Invariant: what is made of two such operations has it if one of them has.
"""

from __future__ import annotations

from ..analysis import has_effects
from ..core import Function, Module


def run(module: Module) -> list[Function]:
    """Gives the functions with operations of which that has changed."""
    changed: list[Function] = []
    for function in module.functions.values():
        for _, instr in function.instructions():
            if instr.op == "apply" and instr.attrs.get("effects", False) != has_effects(module, instr.attrs["callee"]):
                instr.attrs = {**instr.attrs, "effects": not instr.attrs.get("effects", False)}
                if changed[-1:] != [function]:
                    changed.append(function)
    return changed
