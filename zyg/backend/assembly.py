"""From instructions with labels, names and constants to a code object.

Numbering names and constants and finding how far jumps go is done here, for just what the emitter emits; how code objects are
written is in `tables`. (`Bytecode` of the package `bytecode`, which does all of it and checks each instruction twice, took a third of
the time that a compilation takes; tests compare what comes out.)
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from operator import add
from types import CodeType
from typing import Any, Final

from bytecode import Compare, ConcreteInstr, Label
from bytecode.instr import (
    BITFLAG2_OPCODES,
    BITFLAG_OPCODES,
    DUAL_ARG_OPCODES,
    CellVar,
    FreeVar,
    TryBegin,
    TryEnd,
    opcode_has_argument,
)

from . import tables
from .cpython import VERSION
from .tables import Location


class Instruction:
    """One instruction; its argument is what it is about: a name, a constant, a label."""

    __slots__ = ("arg", "location", "name")

    def __init__(self, name: str, arg: Any = None, location: Location | None = None):
        self.name = name
        self.arg = arg
        self.location = location

    def __repr__(self) -> str:
        return self.name if self.arg is None else f"{self.name} {self.arg!r}"


@dataclass
class Signature:
    """What a code object says of itself, beside its code."""

    argument_names: list[str] = field(default_factory=list)
    counts: tuple[int, int, int] = (0, 0, 0)  # of arguments, those by position only, and those by keyword only
    cells: list[str] = field(default_factory=list)
    free: list[str] = field(default_factory=list)
    name: str = ""
    qualname: str = ""
    filename: str = ""
    first_line: int = 1
    flags: int = 0
    docstring: str | None = None


# ---------------------------------------------------------------------------------------- kinds of instructions

_NONE, _CONSTANT, _LOCAL, _PAIR, _NAME, _FLAG_AND_NAME, _FLAGS_AND_NAME, _CELL, _COMPARISON, _NUMBER, _JUMP = range(11)


class _Kind:
    """What is known of all instructions with a name."""

    __slots__ = ("back", "caches", "effect", "effects", "kind", "number")

    def __init__(self, name: str):
        number = dis.opmap[name]
        self.number: Final = number
        self.kind: Final = _kind_of(number)
        sample = ConcreteInstr(name) if self.kind == _NONE else ConcreteInstr(name, 0)
        self.caches: Final = sample.use_cache_opcodes()
        self.back: Final = sample.is_backward_rel_jump()
        self.effects: dict[tuple[int, bool], int] = {}  # by argument, and whether it jumps
        # The same for all, if the argument is not a number.
        by_argument = self.kind in (_FLAG_AND_NAME, _FLAGS_AND_NAME, _NUMBER)
        self.effect: Final = None if by_argument else sample.stack_effect(jump=False)


def _kind_of(number: int) -> int:
    if not opcode_has_argument(number):
        return _NONE
    tables: tuple[tuple[Any, int], ...] = (
        (dis.hasconst, _CONSTANT), (DUAL_ARG_OPCODES, _PAIR), (dis.haslocal, _LOCAL), (BITFLAG_OPCODES, _FLAG_AND_NAME),
        (BITFLAG2_OPCODES, _FLAGS_AND_NAME), (dis.hasname, _NAME), (dis.hasfree, _CELL), (dis.hascompare, _COMPARISON),
        (dis.hasjrel, _JUMP), (dis.hasjabs, _JUMP),
    )  # fmt: skip
    return next((kind for table, kind in tables if number in table), _NUMBER)


class _Kinds(dict[str, _Kind]):
    def __missing__(self, name: str) -> _Kind:
        made = self[name] = _Kind(name)
        return made


_KINDS = _Kinds()


def length(item: Any) -> int:
    """The units that an instruction takes with its caches, without what extends its argument; 0 for labels."""
    return 1 + _KINDS[item.name].caches if type(item) is Instruction else 0


def stack_effect(name: str, arg: Any, jump: bool = False) -> int:
    """By how much the stack is longer behind an instruction, where it jumps or where it does not."""
    kind = _KINDS[name]
    if kind.effect is not None and not jump:
        return kind.effect
    number = 0 if jump else int(arg[0] if type(arg) is tuple else arg)
    found = kind.effects.get((number, jump))
    if found is None:
        found = kind.effects[number, jump] = ConcreteInstr(name, number).stack_effect(jump=jump)
    return found


_MASKS = {Compare.EQ: 8, Compare.NE: 7, Compare.LT: 2, Compare.LE: 10, Compare.GT: 4, Compare.GE: 12}


def _comparison(arg: Any) -> int:
    """From 3.12 on with the bits that the specialising interpreter looks at, from 3.13 on with whether to make a bool."""
    if VERSION < (3, 12):
        return int(arg)
    plain = int(arg) & 15
    if VERSION < (3, 13):
        return _MASKS[Compare(plain)] + (plain << 4)
    return _MASKS[Compare(plain)] + (plain << 5) + (int(arg) & 16)


class _Numbers(dict[Any, int]):
    """Things by number, in the order in which they are asked for."""

    def __missing__(self, key: Any) -> int:
        number = self[key] = len(self)
        return number


# ---------------------------------------------------------------------------------------------------- assembly


def assemble(signature: Signature, items: list[Any], depth: int) -> CodeType:
    """The code object; `items` are instructions, labels, and the begins and ends of regions with a handler; `depth`: of the
    stack."""
    return _Assembly(signature, items).code(depth)


class _Assembly:
    def __init__(self, signature: Signature, items: list[Any]):
        self.signature = signature
        self.items = items
        self.names = _Numbers()
        self.locals = _Numbers()
        for name in signature.argument_names:
            self.locals[name]
        self.constant_numbers = _Numbers()
        self.constants: list[Any] = [signature.docstring]
        self.constant_numbers[type(None) if signature.docstring is None else str, signature.docstring]
        # Per instruction:
        self.kinds: list[_Kind] = []
        self.args: list[int] = []
        self.extended: list[int] = []  # by how many units the argument makes it longer
        self.locations: list[Location | None] = []
        self.labels: dict[Label, int] = {}
        self.jumps: list[tuple[int, Label, bool]] = []
        self.cells: list[tuple[int, CellVar | FreeVar]] = []
        self.regions: list[tuple[TryBegin, int, int]] = []

    def code(self, depth: int) -> CodeType:
        self._number()
        self._place_cells()
        starts = self._place_jumps()
        signature = self.signature
        return CodeType(
            *signature.counts, len(self.locals), depth, signature.flags, self._instructions(), tuple(self.constants), tuple(self.names),
            tuple(self.locals), signature.filename, signature.name, signature.qualname, signature.first_line,
            tables.line_table(signature.first_line, self._places()), tables.exception_table(self._exceptions(starts)),
            tuple(signature.free), tuple(signature.cells),
        )  # fmt: skip

    def _number(self) -> None:
        """Kinds and arguments, but for those of jumps and cells."""
        kinds, args, locations, local_numbers = self.kinds, self.args, self.locations, self.locals
        begun: dict[TryBegin, int] = {}
        for item in self.items:
            if type(item) is not Instruction:
                if isinstance(item, Label):
                    self.labels[item] = len(kinds)
                elif isinstance(item, TryBegin):
                    begun[item] = len(kinds)
                elif isinstance(item, TryEnd):
                    self.regions.append((item.entry, begun[item.entry], len(kinds)))
                continue
            kind = _KINDS[item.name]
            which, arg = kind.kind, item.arg
            number = 0
            if which == _LOCAL:
                if isinstance(arg, str):
                    number = local_numbers[arg]
                else:
                    self.cells.append((len(kinds), arg))
            elif which == _CONSTANT:
                number = self._constant(arg)
            elif which == _JUMP:
                self.jumps.append((len(kinds), arg, kind.back))
            elif which == _NUMBER:
                number = int(arg)
            elif which == _NAME:
                number = self.names[arg]
            elif which == _FLAG_AND_NAME:
                number = arg[0] + (self.names[arg[1]] << 1)
            elif which == _COMPARISON:
                number = _comparison(arg)
            elif which == _PAIR:
                number = (local_numbers[arg[0]] << 4) + local_numbers[arg[1]]
            elif which == _CELL:
                self.cells.append((len(kinds), arg))
            elif which == _FLAGS_AND_NAME:
                number = arg[0] + 2 * arg[1] + (self.names[arg[2]] << 2)
            kinds.append(kind)
            args.append(number)
            locations.append(item.location)

    def _constant(self, value: Any) -> int:
        """Equal strings and small numbers are one constant; all else goes by its identity."""
        cls = type(value)
        known = cls is str or cls is int or cls is bool or value is None or cls is bytes
        before = len(self.constants)
        number = self.constant_numbers[(cls, value) if known else id(value)]
        if number == before:
            self.constants.append(value)
        return number

    def _place_cells(self) -> None:
        """Cells come behind the locals; those of arguments are the arguments' places."""
        signature, count = self.signature, len(self.locals)
        places: dict[tuple[type, str], int] = {}
        for name in signature.cells:
            if name in self.locals:
                places[CellVar, name] = self.locals[name]
            else:
                places[CellVar, name] = count
                count += 1
        for n, name in enumerate(signature.free):
            places[FreeVar, name] = count + n
        for at, cell in self.cells:
            self.args[at] = places[type(cell), cell.name]

    def _place_jumps(self) -> list[int]:
        """Find the arguments of jumps; the places of the instructions, and of the end, when that is done. An argument that takes
        more than a byte makes the code longer, which may make others longer: until that ends."""
        args = self.args
        lengths = [1 + kind.caches for kind in self.kinds]
        extended = self.extended = [0 if arg < 256 else (arg.bit_length() - 1) // 8 for arg in args]
        jumps = [(at, self.labels[label], back) for at, label, back in self.jumps]
        while True:
            starts = list(accumulate(map(add, extended, lengths), initial=0))
            longer = False
            for at, to, back in jumps:
                arg = starts[to] - starts[at + 1]
                arg = -arg if back else arg
                args[at] = arg
                if arg > 255 and (needed := (arg.bit_length() - 1) // 8) > extended[at]:
                    extended[at] = needed
                    longer = True
            if not longer:
                return starts

    def _instructions(self) -> bytes:
        return b"".join(
            map(tables.unit, [k.number for k in self.kinds], self.args, self.extended, [k.caches for k in self.kinds])
        )

    def _places(self) -> Iterator[tuple[int, Location]]:
        """How many units come from which place. An instruction that says nothing of its location has that of the one before it."""
        current: Location = (self.signature.first_line, None, None, None)
        units = 0
        for kind, extended, location in zip(self.kinds, self.extended, self.locations):
            if location is not None and location is not current and location != current:
                if units:
                    yield units, current
                current, units = location, 0
            units += 1 + extended + kind.caches
        if units:
            yield units, current

    def _exceptions(self, starts: list[int]) -> Iterator[tuple[int, int, int, int, bool]]:
        for region, first, last in _apart(self.regions):
            assert isinstance(region.target, Label) and isinstance(region.stack_depth, int)
            target = starts[self.labels[region.target]]
            yield starts[first], starts[last], target, region.stack_depth, region.push_lasti


def _apart(regions: list[tuple[TryBegin, int, int]]) -> list[tuple[TryBegin, int, int]]:
    """Regions in order, none within another (CPython looks for one by bisection): what is around one is in pieces. Given are those
    within first."""
    found: list[tuple[TryBegin, int, int]] = []
    for region, first, last in regions:
        within = len(found)
        while within and found[within - 1][1] >= first:
            within -= 1
        inner = found[within:]
        del found[within:]
        for other in inner:
            if first < other[1]:
                found.append((region, first, other[1]))
            found.append(other)
            first = other[2]
        if first < last:
            found.append((region, first, last))
    return found


__all__ = ["Instruction", "Location", "Signature", "assemble", "length", "stack_effect"]
