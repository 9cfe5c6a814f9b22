"""Which components of its parameters a function takes.

An array is passed as its address, its owner, its lengths and strides; a function that adds up elements takes the address and
a length of each.  What is not needed is not passed: LLVM finds that out by itself only for functions of one module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from ...ir.analysis import reverse_postorder
from ...ir.core import Function, Instr, Module
from ...ir.types import Array
from .text import components

ELEMENTS = {"load": 0, "store": 0, "accum": 0}  # the operand of which only elements are taken

Needs = dict[str, list[list[bool]]]
# Bits stand for components, the first for the lowest.  What is needed of a value is at a place of a list of such numbers (`_Uses.needed`).
# It needs what is needed of what it becomes (a parameter of another function, a view), at another place; by each of its own components
# those of the latter that are made of it, None: the same ones.
Handed = tuple[int, int, "list[int] | None"]


def needed_components(module: Module, names: Iterable[str]) -> Needs:
    """Per function and parameter, whether each component is needed, in the function or in those it hands it on to."""
    functions = {name: module.functions[name] for name in names}
    uses = _Uses(functions)
    for name, function in functions.items():
        uses.find(function, uses.first[name])
    uses.hand_back()
    return {
        name: [
            [bool(uses.needed[uses.first[name] + k] >> n & 1) for n in range(len(components(p.type)))]
            for k, p in enumerate(function.params)
        ]
        for name, function in functions.items()
    }


class _Uses:
    def __init__(self, functions: Mapping[str, Function]):
        self.first: dict[str, int] = {}  # the place of the first parameter of a function
        self.needed: list[int] = []
        self.handed: list[Handed] = []
        for name, function in functions.items():
            self.first[name] = len(self.needed)
            self.needed += [0] * len(function.params)

    def find(self, function: Function, first: int) -> None:
        """What the function needs itself, and what it hands on."""
        needed, handed = self.needed, self.handed
        of = {p: first + k for k, p in enumerate(function.params)}
        for block in reverse_postorder(function):  # views behind what they are views of
            for instr in block.instrs:
                for k, v in enumerate(instr.operands):
                    if v in of:
                        own = of[v]
                        if instr.op == "call" and instr.attrs["callee"] in self.first:
                            handed.append((own, self.first[instr.attrs["callee"]] + k, None))
                        elif instr.op == "view" and k == 0:
                            needed[own] |= _of_beginning(instr)
                            of[instr.result] = len(needed)
                            handed.append((own, len(needed), _of_view(instr)))
                            needed.append(0)
                        else:
                            needed[own] |= _needs(instr, k)
                for target in instr.targets:
                    for v in target.args:
                        if v in of:
                            needed[of[v]] = (1 << len(components(v.type))) - 1

    def hand_back(self) -> None:
        """Until nothing changes: what is needed of what values become is needed of them."""
        needed = self.needed
        grew = True
        while grew:
            grew = False
            for own, later, by in reversed(self.handed):
                wanted = needed[later]
                if by is not None:
                    wanted = sum(1 << n for n, its in enumerate(by) if wanted & its)
                if wanted & ~needed[own]:
                    needed[own] |= wanted
                    grew = True


def _needs(instr: Instr, k: int) -> int:
    """Which components of its k-th operand an instruction needs."""
    type = instr.operands[k].type
    if isinstance(type, Array):
        if ELEMENTS.get(instr.op) == k:
            return _bits(type, {".d"}.union(*(_stride(type, n) for n in range(type.ndim))))
        if instr.op == "foreign":
            return _bits(type, {".d"})
        if instr.op == "dim":
            return _bits(type, {f".n{instr.attrs['axis']}"})
        if instr.op == "stride":
            return _bits(type, _stride(type, 0 if type.layout == "C" else instr.attrs["axis"]))
    return (1 << len(components(type))) - 1


def _bits(type: Array, suffixes: Set[str]) -> int:
    return sum(1 << n for n, (suffix, _) in enumerate(components(type)) if suffix in suffixes)


def _stride(type: Array, axis: int) -> set[str]:
    """The components by which it is known how far it is from one element to the next along an axis."""
    return {f".n{n}" for n in range(axis + 1, type.ndim)} if type.layout == "C" else {f".s{axis}"}


def _of_view(instr: Instr) -> list[int]:
    """For each component of an array, those of a view that are made of it."""
    type, made = instr.operands[0].type, instr.result.type
    assert isinstance(type, Array) and isinstance(made, Array)
    place = {suffix: 1 << n for n, (suffix, _) in enumerate(components(made))}
    by = dict.fromkeys((suffix for suffix, _ in components(type)), 0)
    by[".d"] |= place[".d"]
    by[".o"] |= place[".o"]
    axis = own = 0  # of the view, of the array
    for letter in instr.attrs["spec"]:
        if letter == ":":
            by[f".n{own}"] |= place[f".n{axis}"]
        if letter in "is":  # it begins elsewhere
            for suffix in _stride(type, own):
                by[suffix] |= place[".d"]
        if letter in "s:" and made.layout != "C":
            for suffix in _stride(type, own):
                by[suffix] |= place[f".s{axis}"]
        own += letter != "n"
        axis += letter != "i"
    return list(by.values())


def _of_beginning(view: Instr) -> int:
    """What it takes to say where a view begins, which is written whether or not anybody asks."""
    type = view.operands[0].type
    assert isinstance(type, Array)
    wanted = {f".n{n}" for n in range(1, type.ndim)} if type.layout == "C" else set[str]()
    own = [letter for letter in view.attrs["spec"] if letter != "n"]
    for axis, letter in enumerate(own):
        if letter in "is":
            wanted |= {".d", *_stride(type, axis)}
    return _bits(type, wanted)
