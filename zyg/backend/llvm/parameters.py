"""Which components of its parameters a function takes.

An array is passed as its address, its owner, its lengths and strides; a function that adds up elements takes the address and
a length of each.  What is not needed is not passed: LLVM finds that out by itself only for functions of one module.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...ir.core import Function, Instr, Module, Value
from ...ir.types import Array, Type
from .text import components

ELEMENTS = {"load": 0, "store": 0, "accum": 0}  # the operand of which only elements are taken


def needed_components(module: Module, names: Iterable[str]) -> dict[str, list[list[bool]]]:
    """Per function and parameter, whether each component is needed, in the function or in those it hands it on to."""
    needed = {
        name: [[False] * len(components(p.type)) for p in module.functions[name].params]
        for name in names
    }  # fmt: skip
    grew = True
    while grew:
        grew = False
        for name, found in needed.items():
            grew |= _add_needs(module.functions[name], found, needed)
    return needed


def _add_needs(function: Function, found: list[list[bool]], needed: dict[str, list[list[bool]]]) -> bool:
    place = {p: k for k, p in enumerate(function.params)}
    grew = False

    def need(v: Value, which: list[bool]) -> None:
        nonlocal grew
        own = found[place[v]]
        for k, wanted in enumerate(which):
            if wanted and not own[k]:
                own[k] = grew = True

    for _, instr in function.instructions():
        for k, v in enumerate(instr.operands):
            if v in place:
                need(v, _needs(instr, k, needed))
        for target in instr.targets:
            for v in target.args:
                if v in place:
                    need(v, _all(v.type))
    return grew


def _all(type: Type) -> list[bool]:
    return [True] * len(components(type))


def _needs(instr: Instr, k: int, needed: dict[str, list[list[bool]]]) -> list[bool]:
    """Which components of its k-th operand an instruction needs."""
    type = instr.operands[k].type
    if instr.op == "call" and instr.attrs["callee"] in needed:
        return needed[instr.attrs["callee"]][k]
    if not isinstance(type, Array):
        return _all(type)
    if ELEMENTS.get(instr.op) == k:
        lengths = {f".n{n}" for n in range(1, type.ndim)} if type.layout == "C" else set[str]()
        return [s == ".d" or s in lengths or s.startswith(".s") for s, _ in components(type)]
    if instr.op == "dim":
        return [s == f".n{instr.attrs['axis']}" for s, _ in components(type)]
    return _all(type)
