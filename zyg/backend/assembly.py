"""From instructions with labels, names and constants to a code object.

What the package `bytecode` does in general, for what the emitter emits: this is a third of the time that a compilation takes.
Instructions are checked by nobody; tests compare code objects with those that `bytecode` makes.
"""

from __future__ import annotations

import dis
import opcode
from dataclasses import dataclass, field
from itertools import accumulate
from types import CodeType
from typing import Any, Final

from bytecode import Compare, Label
from bytecode.instr import BITFLAG2_OPCODES, BITFLAG_OPCODES, DUAL_ARG_OPCODES, CellVar, FreeVar, TryBegin, TryEnd

from .cpython import VERSION

# (line, last line, column, last column), the last three None if only the line is known
Location = tuple[int, int | None, int | None, int | None]


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

    __slots__ = ("back", "caches", "effect", "effects", "kind", "opcode")

    def __init__(self, name: str):
        self.opcode: Final = opcode.opmap[name]
        self.kind: Final = _kind_of(self.opcode)
        # From 3.13 on the table goes by name.
        table: Any = dis._inline_cache_entries  # type: ignore[attr-defined]
        self.caches: Final[int] = table.get(name, 0) if isinstance(table, dict) else table[self.opcode]
        self.back: Final = "BACKWARD" in name
        self.effects: dict[int, int] = {}  # by argument
        # The same for all, if the argument is not a number.
        self.effect: int | None = None
        if self.kind == _NONE:
            self.effect = dis.stack_effect(self.opcode, jump=False)
        elif self.kind not in (_FLAG_AND_NAME, _FLAGS_AND_NAME, _NUMBER):
            self.effect = dis.stack_effect(self.opcode, 0, jump=False)


def _takes_argument(number: int) -> bool:
    # From 3.12 on there is a table, and numbers have an order no more.
    table: Any = getattr(opcode, "hasarg", None)
    return number in table if table is not None else number >= opcode.HAVE_ARGUMENT


def _kind_of(number: int) -> int:
    if not _takes_argument(number):
        return _NONE
    tables: tuple[tuple[Any, int], ...] = (
        (opcode.hasconst, _CONSTANT), (DUAL_ARG_OPCODES, _PAIR), (opcode.haslocal, _LOCAL), (BITFLAG_OPCODES, _FLAG_AND_NAME),
        (BITFLAG2_OPCODES, _FLAGS_AND_NAME), (opcode.hasname, _NAME), (opcode.hasfree, _CELL), (opcode.hascompare, _COMPARISON),
        (opcode.hasjrel, _JUMP), (opcode.hasjabs, _JUMP),
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
    if jump:
        return dis.stack_effect(kind.opcode, 0, jump=True)
    if kind.effect is not None:
        return kind.effect
    number = int(arg[0] if type(arg) is tuple else arg)
    found = kind.effects.get(number)
    if found is None:
        found = kind.effects[number] = dis.stack_effect(kind.opcode, number, jump=False)
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
        self.opcodes: list[int] = []
        self.args: list[int] = []
        self.caches: list[int] = []
        self.sizes: list[int] = []  # without caches
        self.locations: list[Location] = []
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
            *signature.counts, len(self.locals), depth, signature.flags, self._code(), tuple(self.constants), tuple(self.names),
            tuple(self.locals), signature.filename, signature.name, signature.qualname, signature.first_line,
            self._lines(), self._exceptions(starts), tuple(signature.free), tuple(signature.cells),
        )  # fmt: skip

    def _number(self) -> None:
        """Opcodes and arguments, but for those of jumps and cells."""
        opcodes, args, caches, locations = self.opcodes, self.args, self.caches, self.locations
        kinds, local_numbers = _KINDS, self.locals
        location: Location = (self.signature.first_line, None, None, None)
        begun: dict[TryBegin, int] = {}
        for item in self.items:
            if type(item) is not Instruction:
                if isinstance(item, Label):
                    self.labels[item] = len(opcodes)
                elif isinstance(item, TryBegin):
                    begun[item] = len(opcodes)
                elif isinstance(item, TryEnd):
                    self.regions.append((item.entry, begun[item.entry], len(opcodes)))
                continue
            kind = kinds[item.name]
            which, arg = kind.kind, item.arg
            number = 0
            if which == _LOCAL:
                if isinstance(arg, str):
                    number = local_numbers[arg]
                else:
                    self.cells.append((len(opcodes), arg))
            elif which == _CONSTANT:
                number = self._constant(arg)
            elif which == _JUMP:
                self.jumps.append((len(opcodes), arg, kind.back))
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
                self.cells.append((len(opcodes), arg))
            elif which == _FLAGS_AND_NAME:
                number = arg[0] + 2 * arg[1] + (self.names[arg[2]] << 2)
            if item.location is not None:
                location = item.location
            opcodes.append(kind.opcode)
            args.append(number)
            caches.append(kind.caches)
            locations.append(location)

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
        args, caches = self.args, self.caches
        extended = [0] * len(args)
        for n, arg in enumerate(args):
            if arg > 255:
                extended[n] = (arg.bit_length() - 1) // 8
        jumps = [(at, self.labels[label], back) for at, label, back in self.jumps]
        while True:
            starts = list(accumulate(map(_unit_sum, extended, caches), initial=0))
            longer = False
            for at, to, back in jumps:
                arg = starts[to] - starts[at + 1]
                arg = -arg if back else arg
                args[at] = arg
                if arg > 255 and (needed := (arg.bit_length() - 1) // 8) > extended[at]:
                    extended[at] = needed
                    longer = True
            if not longer:
                self.sizes = extended
                return starts

    def _code(self) -> bytes:
        out = bytearray()
        for number, arg, more, caches in zip(self.opcodes, self.args, self.sizes, self.caches):
            for k in range(more, 0, -1):
                out += bytes((opcode.EXTENDED_ARG, arg >> 8 * k & 255))
            out.append(number)
            out.append(arg & 255)
            if caches:
                out += bytes(2 * caches)
        return bytes(out)

    # ---- tables

    def _lines(self) -> bytes:
        out = bytearray()
        line = self.signature.first_line
        units = 0
        current: Location | None = None
        for location, more, caches in zip(self.locations, self.sizes, self.caches):
            if location is not current and location != current:
                if current is not None:
                    line = _put_location(out, units, line, current)
                current, units = location, 0
            units += 1 + more + caches
        if current is not None:
            _put_location(out, units, line, current)
        return bytes(out)

    def _exceptions(self, starts: list[int]) -> bytes:
        out = bytearray()
        for region, first, last in self.regions:
            assert isinstance(region.target, Label) and isinstance(region.stack_depth, int)
            begin = starts[first]
            depth = (region.stack_depth << 1) + region.push_lasti
            for n, value in enumerate((begin, starts[last] - begin, starts[self.labels[region.target]], depth)):
                _put_varint(out, value, 128 if n == 0 else 0)
        return bytes(out)


def _unit_sum(extended: int, caches: int) -> int:
    return 1 + extended + caches


def _put_varint(out: bytearray, value: int, mark: int) -> None:
    """Six bits a byte, the highest first, as tables of exceptions have them."""
    shifts = range(6 * ((max(value.bit_length(), 1) - 1) // 6), -1, -6)
    for shift in shifts:
        out.append(value >> shift & 63 | (64 if shift else 0) | mark)
        mark = 0


def _put_location(out: bytearray, units: int, line: int, location: Location) -> int:
    """Add so many units of code to a table of lines (as CPython's Objects/locations.md says), behind code of `line`."""
    first, last, column, end = location
    while units > 0:
        step = min(units, 8)
        units -= step
        delta = first - line
        line = first
        if last is None or column is None or end is None:
            out.append(0x80 + (13 << 3) + step - 1)
            _put_small(out, delta << 1 if delta >= 0 else -delta << 1 | 1)
        elif last == first and delta == 0 and column < 72 and 0 <= end - column <= 15:
            out.append(0x80 + (column // 8 << 3) + step - 1)
            out.append((column % 8 << 4) + end - column)
        elif last == first and delta in (0, 1, 2) and column < 128 and end < 128:
            out += bytes((0x80 + (10 + delta << 3) + step - 1, column, end))
        else:
            out.append(0x80 + (14 << 3) + step - 1)
            _put_small(out, delta << 1 if delta >= 0 else -delta << 1 | 1)
            for value in (last - first, column + 1, end + 1):
                _put_small(out, value)
    return line


def _put_small(out: bytearray, value: int) -> None:
    """Six bits a byte, the lowest first, as tables of lines have them."""
    while value > 63:
        out.append(value & 63 | 64)
        value >>= 6
    out.append(value)


__all__ = ["Instruction", "Location", "Signature", "assemble", "length", "stack_effect"]
