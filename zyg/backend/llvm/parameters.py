"""Which components of its parameters a function takes.

An array is passed as its address, its owner, its lengths and strides; a function that adds up elements takes the address and
a length of each.  What is not needed is not passed: LLVM finds that out by itself only for functions of one module.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...ir.analysis import reverse_postorder
from ...ir.core import Function, Instr, Module
from ...ir.types import Array
from .text import components

ELEMENTS = {"load": 0, "store": 0, "accum": 0}  # the operand of which only elements are taken

Needs = dict[str, list[list[bool]]]
# What is needed of a value, what is needed of what it becomes (a parameter of another function, a view), and by which components of the
# latter each of its own is; None: by the same.
Handed = tuple[list[bool], list[bool], "list[list[int]] | None"]


def needed_components(module: Module, names: Iterable[str]) -> Needs:
    """Per function and parameter, whether each component is needed, in the function or in those it hands it on to."""
    needed: Needs = {}
    for name in names:
        params = module.functions[name].params
        needed[name] = [[False] * len(components(p.type)) for p in params]
    handed: list[Handed] = []
    for name, found in needed.items():
        handed += _own_needs(module.functions[name], found, needed)
    grew = True
    while grew:
        grew = False
        for own, later, by in handed:
            wanted = later if by is None else [any(later[n] for n in its) for its in by]
            grew |= _add(own, wanted)
    return needed


def _own_needs(function: Function, found: list[list[bool]], needed: Needs) -> list[Handed]:
    """Fill in what the function needs itself; gives what it hands on."""
    of = dict(zip(function.params, found, strict=True))
    handed: list[Handed] = []
    for instr in (
        i for block in reverse_postorder(function) for i in block.instrs
    ):  # views behind what they are views of
        for k, v in enumerate(instr.operands):
            if v in of:
                if instr.op == "call" and instr.attrs["callee"] in needed:
                    handed.append((of[v], needed[instr.attrs["callee"]][k], None))
                elif instr.op == "view" and k == 0:
                    of[instr.result] = [False] * len(components(instr.result.type))
                    _add(of[v], _of_beginning(instr))
                    handed.append((of[v], of[instr.result], _of_view(instr)))
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
        wanted: set[str] | None = None
        if ELEMENTS.get(instr.op) == k:
            wanted = {".d"}.union(*(_stride(type, n) for n in range(type.ndim)))
        elif instr.op == "foreign":
            wanted = {".d"}
        elif instr.op == "dim":
            wanted = {f".n{instr.attrs['axis']}"}
        elif instr.op == "stride":
            wanted = _stride(type, 0 if type.layout == "C" else instr.attrs["axis"])
        if wanted is not None:
            return [s in wanted for s, _ in components(type)]
    return [True] * len(components(type))


def _stride(type: Array, axis: int) -> set[str]:
    """The components by which it is known how far it is from one element to the next along an axis."""
    return {f".n{n}" for n in range(axis + 1, type.ndim)} if type.layout == "C" else {f".s{axis}"}


def _of_view(instr: Instr) -> list[list[int]]:
    """For each component of an array, those of a view that are made of it."""
    type, made = instr.operands[0].type, instr.result.type
    assert isinstance(type, Array) and isinstance(made, Array)
    place = {suffix: n for n, (suffix, _) in enumerate(components(made))}
    by: dict[str, list[int]] = {suffix: [] for suffix, _ in components(type)}
    by[".d"].append(place[".d"])
    by[".o"].append(place[".o"])
    axis = own = 0  # of the view, of the array
    for letter in instr.attrs["spec"]:
        if letter == ":":
            by[f".n{own}"].append(place[f".n{axis}"])
        if letter in "is":  # it begins elsewhere
            for suffix in _stride(type, own):
                by[suffix].append(place[".d"])
        if letter in "s:" and made.layout != "C":
            for suffix in _stride(type, own):
                by[suffix].append(place[f".s{axis}"])
        own += letter != "n"
        axis += letter != "i"
    return list(by.values())


def _of_beginning(view: Instr) -> list[bool]:
    """What it takes to say where a view begins, which is written whether or not anybody asks."""
    type = view.operands[0].type
    assert isinstance(type, Array)
    wanted = {f".n{n}" for n in range(1, type.ndim)} if type.layout == "C" else set[str]()
    own = [letter for letter in view.attrs["spec"] if letter != "n"]
    for axis, letter in enumerate(own):
        if letter in "is":
            wanted |= {".d", *_stride(type, axis)}
    return [suffix in wanted for suffix, _ in components(type)]
