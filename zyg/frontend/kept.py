"""Untyped SSA of zyg's own functions, kept on disk between processes.

A program on whole arrays calls forty to a hundred and fifty functions of `zyg.library` that are written in Python.  What `prepare` makes of
them is the same in each process, so it is an entry of the cache that machine code is in (`backend/llvm/cache.py`): one for all
functions that were ever read on this machine, by a digest of all source that `prepare` is made of.  It begins with a table, in which
a function is found by its code object's contents; the others are not looked at.  It is data alone (`marshal`, without code objects):
what is made of it is made here.

Code of users is not kept, nor is what has anything in it but numbers, texts, and code objects that are constants of the function.
"""

from __future__ import annotations

import marshal
import sys
import threading
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import CodeType
from typing import Any
from zlib import crc32

import zyg
from zyg.backend.llvm import cache as disk
from zyg.ir.core import Block, Const, Function, Instr, Position, Target, Value
from zyg.ir.types import BOOL, F64, I64, NONE, OBJECT, Type

from .prepare import Prepared

_ROOT = Path(zyg.__file__).parent
# What `prepare` loads (a test holds the list to it).
SOURCES = (
    "frontend/bytecode.py", "frontend/capture.py", "frontend/cfg.py", "frontend/kept.py", "frontend/leftovers.py",
    "frontend/machine.py", "frontend/prepare.py", "ir/analysis.py", "ir/builder.py", "ir/core.py", "ir/ops.py", "ir/plainly.py", "ir/records.py",
    "ir/trace.py", "ir/types.py", "loading.py",
)  # fmt: skip
_TYPES: tuple[Type, ...] = (OBJECT, BOOL, I64, F64, NONE)
_NUMBERS: dict[Type, int] = {type: n for n, type in enumerate(_TYPES)}
_PLAIN = (str, int, float, complex, bool, bytes, type(None), type(...))
_CODE, _VALUE = "code", "value"  # what a constant is

# By a digest of the code: a sum of the function's text, where that begins behind the table, and where it ends.
Table = dict[bytes, tuple[int, int, int]]
_NOTHING = memoryview(b"")
LARGEST = 16 << 20  # bytes; all of zyg takes a few of them, which are kept as long as the process lives
_added: dict[bytes, bytes] = {}


def load(code: CodeType) -> Prepared | None:
    """A function of zyg's own; None if it is not there."""
    table, images = _entries()
    try:
        total, begin, end = table[_key(code)]
        image = images[begin:end]
        if crc32(image) != total:
            return None
    except (KeyError, TypeError, ValueError):  # or the file is not whole
        return None
    return _read(marshal.loads(image), code)


def add(code: CodeType, prepared: Prepared) -> None:
    """Keep it from the next `store` on, if all that is in it can be."""
    if _name() is not None:
        written = _written(prepared, code)
        if written is not None:
            _added[_key(code)] = marshal.dumps(written)


def store() -> None:
    """Write what was added, beside what is there by now."""
    name = _name()
    if _added and name is not None:
        added = _added.copy()  # (another thread may add some)
        _added.clear()
        table, images = _loaded(name)
        found = {key: bytes(images[begin:end]) for key, (_, begin, end) in table.items()}
        sound = {key: image for key, image in found.items() if crc32(image) == table[key][0]}
        # What nobody reads any more, of other installations and of code that was edited since, is not told apart.
        disk.store(name, _written_out(added if len(images) > LARGEST else sound | added))


def _written_out(found: dict[bytes, bytes]) -> bytes:
    table: Table = {}
    end = 0
    for key, image in found.items():
        begin, end = end, end + len(image)
        table[key] = crc32(image), begin, end
    head = marshal.dumps(table)
    return b"".join([len(head).to_bytes(8, "little"), crc32(head).to_bytes(4, "little"), head, *found.values()])


@cache
def _entries() -> tuple[Table, memoryview]:
    name = _name()
    return ({}, _NOTHING) if name is None else _loaded(name)


def _loaded(name: str) -> tuple[Table, memoryview]:
    """The table, and what is behind it. (All of it would take longer to check than what a program wants of it takes to read.)"""
    parts = disk.load_parts(name)
    if parts is None:
        return {}, _NOTHING
    content = parts[1]
    begin = 12 + int.from_bytes(content[:8], "little")
    head, images = content[12:begin], content[begin:]
    if crc32(head) == int.from_bytes(content[8:12], "little"):
        table: Table = marshal.loads(head) if head else {}
        if max((end for _, _, end in table.values()), default=0) == len(images):
            return table, images
    return {}, _NOTHING  # the file is damaged, or not whole


@cache
def _name() -> str | None:
    """The name of the entry; None if nobody can tell what the source is, since it is not there, or was changed after it was imported."""
    try:
        paths = [_ROOT / source for source in SOURCES]
        if max(map(disk.changed, paths)) > zyg._imported_at:
            return None
        texts = [path.read_bytes() for path in paths]
    except OSError:
        return None
    return disk.key(disk.digest_of_much(b"\0".join(texts)), "untyped SSA", sys.version)


def _key(code: CodeType) -> bytes:
    """All that is in a code object, its places in the source included. (Version 2 does not write what else refers to an object.)"""
    return disk.digest_of(marshal.dumps(code, 2))


# ------------------------------------------------------------------------------------------------- writing


class _NotPlain(Exception):
    """Something that is found in this process only."""


def _plain(x: Any) -> Any:
    if type(x) is tuple:
        return tuple(map(_plain, x))
    if type(x) not in _PLAIN:
        raise _NotPlain
    return x


def _written(prepared: Prepared, code: CodeType) -> Any:
    """The function as numbers, texts and tuples; None if that is not all there is."""
    function = prepared.function
    values: dict[Value, int] = {}
    listed: list[Any] = []
    blocks = {block: n for n, block in enumerate(function.blocks)}
    positions: dict[Position | None, int] = {}
    codes = {id(x): n for n, x in enumerate(code.co_consts) if type(x) is CodeType}

    def value(v: Value) -> int:
        if v not in values:
            values[v] = len(listed)
            type_ = _NUMBERS[v.type]
            if type(v) is Value:
                listed.append((type_, v.name))
            elif type(v) is not Const or v.name:
                raise _NotPlain
            elif id(v.value) in codes:
                listed.append((type_, _CODE, codes[id(v.value)]))
            else:
                listed.append((type_, _VALUE, _plain(v.value)))
        return values[v]

    def target(t: Target) -> Any:
        return blocks[t.block], tuple(map(value, t.args))

    def instruction(i: Instr) -> Any:
        attrs = {k: codes[id(v)] if k == "code" else _plain(v) for k, v in i.attrs.items()}
        place = positions.setdefault(i.position, len(positions))
        targets = tuple(map(target, i.targets))
        return i.op, tuple(map(value, i.operands)), tuple(map(value, i.results)), attrs, targets, place

    def block(b: Block) -> Any:
        params = tuple(map(value, b.params))
        handler = None if b.handler is None else target(b.handler)
        return b.name, params, tuple(map(instruction, b.instrs)), handler, b.in_iterator

    def of_blocks(table: dict[Block, Any], write: Any) -> Any:
        return tuple((blocks[b], tuple(map(write, found))) for b, found in table.items())

    try:
        if prepared.trying or function.attrs:
            raise _NotPlain
        made = tuple(map(block, function.blocks))
        tables = (
            tuple(map(blocks.__getitem__, prepared.order)),
            of_blocks(prepared.live, value),
            of_blocks(prepared.loops, blocks.__getitem__),
            of_blocks(prepared.iterators, value),
            of_blocks(prepared.carried, int),
            of_blocks({b: (above, *loops) for b, (above, loops) in prepared.dominators.items()}, blocks.__getitem__),
            tuple(map(value, prepared.named)),
            prepared.size,
        )
        places = tuple(None if p is None else tuple(p) for p in positions)
        return tuple(listed), places, made, tables
    except (_NotPlain, KeyError):
        return None


# ------------------------------------------------------------------------------------------------- reading


_reading = threading.Lock()


class _Unread(Block):
    """A block whose instructions are read when somebody looks at them: inference comes to a third of the blocks of most functions."""

    __slots__ = ("_instrs", "_read")

    def __init__(self, name: str):
        self._instrs: list[Instr] | None = None
        self._read: Callable[[], list[Instr]] = list
        super().__init__(name)
        self._instrs = None

    @property
    def instrs(self) -> list[Instr]:
        if self._instrs is None:
            with _reading:  # for all threads the same
                if self._instrs is None:
                    self._instrs = self._read()
        return self._instrs

    @instrs.setter
    def instrs(self, instrs: list[Instr]) -> None:
        self._instrs = instrs


def _read(written: Any, code: CodeType) -> Prepared:
    listed, places, made, tables = written
    values: list[Value] = []
    for entry in listed:
        type_ = _TYPES[entry[0]]
        if len(entry) == 2:
            values.append(Value(type_, entry[1]))
        else:
            values.append(Const(code.co_consts[entry[2]] if entry[1] == _CODE else entry[2], type_))
    positions: list[Position | None] = [None] * len(places)
    blocks = [_Unread(block[0]) for block in made]
    find = values.__getitem__

    def target(t: Any) -> Target:
        return Target(blocks[t[0]], list(map(find, t[1])))

    constants = code.co_consts

    def position(place: int) -> Position | None:
        if positions[place] is None and places[place] is not None:
            positions[place] = Position(*places[place])
        return positions[place]

    def instructions(instrs: Any) -> list[Instr]:
        made = [
            Instr(op, list(map(find, operands)), list(map(find, results)), of_instr, list(map(target, targets)) if targets else [],
                  position(place))
            for op, operands, results, of_instr, targets, place in instrs
        ]  # fmt: skip
        for instr in made:
            if "code" in instr.attrs:
                instr.attrs["code"] = constants[instr.attrs["code"]]
        return made

    for block, (_, params, instrs, handler, in_iterator) in zip(blocks, made):
        block.params = list(map(find, params))
        block.in_iterator = in_iterator
        block.handler = None if handler is None else target(handler)
        block._read = partial(instructions, instrs)
    order, live, loops, iterators, carried, dominators, named, size = tables
    return Prepared(
        Function("", [*blocks]),
        {blocks[n]: k for k, n in enumerate(order)},
        {blocks[n]: tuple(map(find, found)) for n, found in live},
        {blocks[n]: set(map(blocks.__getitem__, found)) for n, found in loops},
        {blocks[n]: tuple(map(find, found)) for n, found in iterators},
        {blocks[n]: found for n, found in carried},
        {blocks[n]: (blocks[above], tuple([blocks[h] for h in around])) for n, (above, *around) in dominators},
        {},
        size,
        frozenset(map(find, named)),
    )


__all__ = ["SOURCES", "add", "load", "store"]
