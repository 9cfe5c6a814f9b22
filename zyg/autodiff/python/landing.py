"""Blocks of `try` bodies with several operations, which an exception may leave halfway.

Operations that only look, where they are run plainly (arithmetic, comparisons, reads), share a block with a handler, so that it
has a plain version.  When an exception leaves that version, nothing has happened that would have to be undone.  Where code of the
user's may have run instead, it has to: a *landing* stands between such a block and its handler.  It takes the number of the
operation that raised, and what had been computed and recorded by then; the reverse half begins there with what was done.

In both halves the block is one; `so_far`, an instruction before its end, has what the landing takes.  Just before emission the
block is split where that changes (`split_halfway`), in all its versions but the plain one, in which the landing gets nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

from zyg.ir.core import Block, Const, Function, Instr, Target, Value, const
from zyg.ir.types import BOOL, I64, OBJECT, Type

from ..objects import queries
from . import rules

_WRITES = frozenset("setattr setitem list_append".split())
_READS = frozenset("getattr getitem unpack get_cell checked_local".split())
# What does not raise and may stand between such operations: it needs no undoing.
_BETWEEN = frozenset("tuple is is_not string unbound free_cell".split())
_QUERIES = frozenset(queries.QUERIES)
MOST = 16  # operations of a block: with each there is more to be taken

_ABSENT: dict[Type, Const] = {OBJECT: Const(None, OBJECT), BOOL: const(False), I64: const(0)}


def only_looks(instr: Instr) -> bool:
    """Whether an operation that is run plainly has no effect."""
    return instr.op in _READS or instr.op in _QUERIES or rules.base(instr.op) in rules.DIRECT


def may_be_last(instr: Instr) -> bool:
    """Whether an operation may follow those that only look in their block: where it raises, it has not been done."""
    return instr.op in _WRITES


def stands_between(instr: Instr) -> bool:
    return instr.op in _BETWEEN


def is_undone(instr: Instr) -> bool:
    """Whether an instruction of a block that was left halfway may be one of those before."""
    return only_looks(instr) or stands_between(instr) or instr.op == "global"


def add_landings(function: Function, several: Iterable[Block]) -> dict[Block, Block]:
    """A landing for each block with several operations."""
    landings: dict[Block, Block] = {}
    for block in several:
        handler = block.handler
        assert handler is not None
        exception = Value(OBJECT, "exception")
        landing = landings[block] = Block(f"{block.name}.left", [exception])
        landing.in_iterator = block.in_iterator
        landing.instrs.append(Instr("jump", targets=[Target(handler.block, [exception, *handler.args])]))
        block.handler = Target(landing)
        function.blocks.append(landing)
    return landings


def absent(v: Value) -> Const:
    """What stands for a value that has not been computed."""
    return _ABSENT.get(v.type, _ABSENT[OBJECT])


def tell_so_far(block: Block, values: list[Value]) -> None:
    """Let the landing of a block take the number of the operation, and these values, as far as they have been computed."""
    assert block.handler is not None
    block.instrs.insert(-1, Instr("so_far", list(values)))
    block.handler.args = [const(0), *map(absent, values)]


def so_far(block: Block) -> Instr | None:
    return next((i for i in block.instrs if i.op == "so_far"), None)


def split_halfway(
    chain: list[Block],
    taken: list[Value],
    current: Callable[[Value], Value],
    there: set[Value],
    made: set[Value],
    general: bool = False,
) -> list[Block]:
    """Split blocks so that their landing gets what has been computed by then; `chain`: blocks that follow each other. `current`: what
    is in the place of a value there; `there`: values that have been computed before, of those that are `made` in the block;
    `general`: whether the blocks are of the general version. The blocks in order."""
    result: list[Block] = []
    recorded = general  # something may have been recorded that has to be undone
    for block in chain:
        handler = block.handler
        assert handler is not None
        landing = handler.block
        pieces = [block]
        instrs, block.instrs = block.instrs, []
        last = instrs.pop()
        for instr in instrs:
            if instr.op == "record" or (recorded and instr.op not in _TESTS):
                values = [(v, current(v)) for v in taken]
                args: list[Value] = [const(instr.attrs.get("place", 0))]
                args += [c if isinstance(c, Const) or c in there or c not in made else absent(v) for v, c in values]
                piece = Block(f"{block.name}.{len(pieces)}")
                piece.in_iterator = block.in_iterator
                piece.handler = Target(landing, args)
                pieces.append(piece)
            if instr.op != "so_far":
                pieces[-1].instrs.append(instr)
            there.update(instr.results)
            recorded = recorded or instr.op == "record"
        pieces[-1].instrs.append(last)
        for piece, following in pairwise(pieces):
            piece.instrs.append(Instr("jump", targets=[Target(following)]))
        result += pieces
    return result


_TESTS = frozenset("typed looked_up truth is is_not so_far push tuple".split())
