"""What the reverse half of a function without loops wants to have goes to where the function returns: no tape is made.

Along each way to the return a value is passed on from block to block. Values of different ways share a block parameter: the
reverse half asks for a value only on the way on which it was made.
"""

from __future__ import annotations

from typing import NamedTuple

from zyg.ir.core import Block, Const, Target, Value, const
from zyg.ir.types import BOOL, I64, OBJECT, Type

_NOTHING: dict[Type, Const] = {OBJECT: Const(None, OBJECT), BOOL: const(False), I64: const(0)}
_MOST = 300  # arguments of edges: handlers have many edges, which pass all that was made before


class _Carrier(NamedTuple):
    """A value, and those for which it stands."""

    value: Value
    of: frozenset[Value]


def carried(
    wanted: dict[Block, list[Value]], order: list[Block], edges: dict[Block, list[tuple[Block, Target]]], end: Block
) -> dict[Value, Value] | None:
    """Let values that are wanted of blocks be there at the end: per value what stands for it there. None where two would have to.
    `order`: the blocks, each behind those that it comes from."""
    at_start: dict[Block, list[_Carrier]] = {}  # (what a handler gets of a block that was left by an exception)
    at_end: dict[Block, list[_Carrier]] = {}
    made: dict[Value, tuple[Block, list[_Carrier | None]]] = {}  # per parameter what comes along each edge
    passed = 0
    for block in order:
        coming = [(at_start if target is source.handler else at_end)[source] for source, target in edges[block]]
        carriers = list(coming[0]) if len(coming) == 1 else []
        if len(coming) > 1:
            everywhere = set(coming[0]).intersection(*coming[1:])
            carriers = [c for c in coming[0] if c in everywhere]
            columns = _columns([[c for c in some if c not in everywhere] for some in coming], _MOST - passed)
            if columns is None:
                return None
            for column in columns:
                of = frozenset[Value]().union(*[c.of for c in column if c is not None])
                param = Value(_type_of(column))
                made[param] = block, column
                carriers.append(_Carrier(param, of))
            passed += len(columns) * len(coming)
        at_start[block] = list(carriers)
        known = {v: c for c in carriers for v in c.of}
        for v in wanted.get(block, ()):
            if v not in known:
                carriers.append(_Carrier(v, frozenset({v})))
            elif not _stands_everywhere(known[v], v, made):
                return None
        at_end[block] = carriers
    for param, (block, column) in made.items():
        block.params.append(param)
        for (_, target), c in zip(edges[block], column, strict=True):
            target.args.append(_NOTHING[param.type] if c is None else c.value)
    return {v: c.value for c in at_end[end] for v in c.of}


def _stands_everywhere(carrier: _Carrier, v: Value, made: dict[Value, tuple[Block, list[_Carrier | None]]]) -> bool:
    """Let a carrier of `v`, which is wanted on some of the ways before and now on all of them, stand for it on each; whether it can.
    (`v` was made before the ways parted.)"""
    if carrier.value not in made:
        return True
    _, column = made[carrier.value]
    for edge, c in enumerate(column):
        if c is None:
            column[edge] = _Carrier(v, frozenset({v}))
        elif v not in c.of or not _stands_everywhere(c, v, made):
            return False
    return True


def _columns(coming: list[list[_Carrier]], most: int) -> list[list[_Carrier | None]] | None:
    """What comes along each edge, side by side: one parameter for each column. What stands for the same value has to be in one.
    None where it cannot be, or where that are more than `most` arguments."""
    columns: list[list[_Carrier | None]] = []
    place: dict[Value, int] = {}  # the column of what stands for a value
    for edge, carriers in enumerate(coming):
        free: dict[Type, list[int]] = {}
        for n in reversed(range(len(columns))):
            free.setdefault(_type_of(columns[n]), []).append(n)
        for carrier in carriers:
            same = {place[v] for v in carrier.of if v in place}
            if len(same) > 1 or any(columns[n][edge] is not None for n in same):
                return None
            untaken = free.get(carrier.value.type, [])
            while not same and untaken:
                n = untaken.pop()
                if columns[n][edge] is None:
                    same.add(n)
            if not same:
                same.add(len(columns))
                columns.append([None] * len(coming))
                if len(columns) * len(coming) > most:
                    return None
            (n,) = same
            columns[n][edge] = carrier
            place.update(dict.fromkeys(carrier.of, n))
    return columns


def _type_of(column: list[_Carrier | None]) -> Type:
    return next(c.value.type for c in column if c is not None)
