"""Slices of one array that lie a few elements apart, which one `apply` adds to: as the gradient of differences of neighbours does.

What it adds through one slice is read through another a few elements later.  An `apply` that is done in the lanes of vectors
keeps that in registers, and goes through the array once: attrs["neighbours"] has for each such array the operands that are
slices of it, those that lie furthest ahead first, each with how far it lies ahead of the last one.
"""

from __future__ import annotations

from ..core import Const, Function, Instr, Value, array_type
from ..types import F64, Array, Scalar
from .fuse import outs_of
from .rewriting import same

_FURTHEST = 7  # what is kept of a vector of eight lanes for the next one

Group = tuple[tuple[int, int], ...]


def groups_of(apply: Instr) -> tuple[Group, ...]:
    return apply.attrs.get("neighbours", ())


def shifted(groups: tuple[Group, ...], by: dict[int, int]) -> tuple[Group, ...]:
    """The same groups where operands have moved."""
    return tuple(tuple((by[k], ahead) for k, ahead in group) for group in groups)


def found(made: dict[Value, Instr], outs: list[Value], roots: list[Value]) -> tuple[Group, ...] | None:
    """The groups of what is added to, slices of new arrays (`roots`); None where they do not lie close together."""
    groups: list[Group] = []
    for root in dict.fromkeys(roots):
        members = [k for k, r in enumerate(roots) if r is root]
        if len(members) == 1:
            continue
        starts = {k: _start(made, root, outs[k]) for k in members}
        known = {s for s in starts.values() if s is not None}
        if len(known) < len(members) or max(known) - min(known) > _FURTHEST:
            return None
        ahead = {k: s - min(known) for k, s in starts.items() if s is not None}
        groups.append(tuple(sorted(ahead.items(), key=lambda member: -member[1])))
    return tuple(groups)


def in_lanes(apply: Instr, callee: Function) -> bool:
    """Whether an `apply` becomes a loop in lanes, wherever it stands."""
    from .pairwise import in_lanes

    arrays = [v.type for v in apply.operands if isinstance(v.type, Array)]
    return (
        in_lanes(callee)
        and all(t.ndim == 1 and t.layout == "C" for t in arrays)
        and all(isinstance(v.type, Array) and v.type.dtype is F64 for v in outs_of(apply))
        and set(apply.attrs["modes"]) <= {"set", "add"}
        and set(apply.attrs.get("kinds", ())) <= {"add"}
        and all(isinstance(r.type, Scalar) and r.type.kind == "f" for r in apply.results)
    )


def same_length(made: dict[Value, Instr], a: Value, b: Value) -> bool:
    x, y = made.get(a), made.get(b)
    if x is None or y is None or not x.op == y.op == "dim":
        return same(a, b)
    return x.operands[0] is y.operands[0] and x.attrs["axis"] == y.attrs["axis"]


def _start(made: dict[Value, Instr], root: Value, v: Value) -> int | None:
    """Where a slice of neighbours begins in a new array, if it has any elements."""
    view = made.get(v)
    if view is None or view.op != "view" or view.attrs["spec"] != "s" or array_type(v).layout != "C":
        return None
    array, start, _, step = view.operands
    if array is not root or not isinstance(step, Const) or step.value != 1:
        return None
    # a[k:] begins at the end where a is shorter, and is empty then.
    chosen = made.get(start)
    test = made.get(chosen.operands[0]) if chosen is not None and chosen.op == "select" else None
    if chosen is not None and test is not None and test.op == "lt":
        length, least = test.operands
        whole = same_length(made, made[root].operands[0], length)
        if whole and same(chosen.operands[1], length) and same(chosen.operands[2], least):
            start = least
    return start.value if isinstance(start, Const) else None
