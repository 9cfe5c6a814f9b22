"""Which components of its parameters a function takes.

An array is passed as its address, its owner, its lengths and strides; a function that adds up elements takes the address and
a length of each.  What is not needed is not passed: LLVM finds that out by itself only for functions of one module.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...ir.core import Function, Instr, Module
from ...ir.types import Array
from .text import components

ELEMENTS = {"load": 0, "store": 0, "accum": 0}  # the operand of which only elements are taken

Needs = dict[str, list[list[bool]]]


def needed_components(module: Module, names: Iterable[str]) -> Needs:
    """Per function and parameter, whether each component is needed, in the function or in those it hands it on to."""
    needed: Needs = {}
    handed: list[
        tuple[list[bool], str, int]
    ] = []  # the needs of a parameter, and which one of which function it becomes
    for name in names:
        params = module.functions[name].params
        needed[name] = [[False] * len(components(p.type)) for p in params]
    for name, found in needed.items():
        handed += _own_needs(module.functions[name], found, needed)
    grew = True
    while grew:
        grew = sum(_add(own, needed[callee][k]) for own, callee, k in handed) > 0  # all of them in each round
    return needed


def _own_needs(function: Function, found: list[list[bool]], needed: Needs) -> list[tuple[list[bool], str, int]]:
    """Fill in what the function needs itself; gives what it hands on."""
    of = dict(zip(function.params, found, strict=True))
    handed: list[tuple[list[bool], str, int]] = []
    for _, instr in function.instructions():
        for k, v in enumerate(instr.operands):
            if v in of:
                if instr.op == "call" and instr.attrs["callee"] in needed:
                    handed.append((of[v], instr.attrs["callee"], k))
                else:
                    _add(of[v], _needs(instr, k))
        for target in instr.targets:
            for v in target.args:
                if v in of:
                    _add(of[v], [True] * len(of[v]))
    return handed


def _add(own: list[bool], wanted: list[bool]) -> bool:
    """Whether that makes a difference."""
    before = own.count(True)
    own[:] = [a or b for a, b in zip(own, wanted, strict=True)]
    return own.count(True) > before


def _needs(instr: Instr, k: int) -> list[bool]:
    """Which components of its k-th operand an instruction needs."""
    type = instr.operands[k].type
    if isinstance(type, Array):
        if ELEMENTS.get(instr.op) == k:
            lengths = {f".n{n}" for n in range(1, type.ndim)} if type.layout == "C" else set[str]()
            return [s == ".d" or s in lengths or s.startswith(".s") for s, _ in components(type)]
        if instr.op == "dim":
            return [s == f".n{instr.attrs['axis']}" for s, _ in components(type)]
    return [True] * len(components(type))
