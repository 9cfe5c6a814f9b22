"""Compute the elements of an array once.

Input: any function, best after `fuse` and `merge`.  Output: a new array that an `apply` makes of the same arrays and numbers, and by
the same function, as another before it has made one is that one; so are sums of all elements.  A normalisation takes the mean, and so does
the variance in it.

Invariant: both arrays are only read afterwards, element by element, so that nobody can tell one from the other; nothing that they are
made of is written between the two.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from ..core import CALLING, Block, Const, Function, Instr, Value
from ..ops import OPS, VIEWS
from ..types import Array
from .fuse import ins_of, outs_of, root_of
from .orders import users_of
from .rewriting import constant_key, replace_uses


class _Made(NamedTuple):
    """An array that one `apply` of a block makes, and nothing else ever writes to."""

    alloc: Instr
    fill: Instr | None
    shown: list[Instr]  # the views of it by which that is done, where it is added up in


def run(function: Function) -> bool:
    # (What becomes equal by what is reused comes behind that.)
    computed = [_computed(i) for block in function.blocks for i in block.instrs if i.op == "apply"]
    return len(set(computed)) < len(computed) and _Reuse(function).run()


def _computed(apply: Instr) -> Hashable:
    """Equal for those that compute the same elements."""
    attrs = tuple(sorted((k, v) for k, v in apply.attrs.items() if k != "effects"))
    return (attrs, *map(_key, ins_of(apply)))


def _key(v: Value) -> Hashable:
    return constant_key(v) if isinstance(v, Const) else v


class _Reuse:
    def __init__(self, function: Function):
        self.function = function
        self.users = users_of(function)
        self.made = {r: i for _, i in function.instructions() for r in i.results}
        self.replaced: dict[Value, Value] = {}
        self.places: dict[int, int] = {}  # of the instructions of the block that is gone through

    def run(self) -> bool:
        for block in self.function.blocks:
            self.block(block)
        replace_uses(self.function, self.replaced)
        return bool(self.replaced)

    def block(self, block: Block) -> None:
        known: dict[Hashable, tuple[int, list[Value]]] = {}
        own = {i.result for i in block.instrs if i.op == "alloc"}
        gone: set[int] = set()
        self.places = {id(i): n for n, i in enumerate(block.instrs)}
        for n, instr in enumerate(block.instrs):
            if instr.op != "apply" or instr.attrs.get("effects"):
                continue
            found = self.what(instr, own)
            if found is None:
                continue
            key, made = found
            values = instr.results if made is None else [made.alloc.result]
            before = known.get(key)
            if before is None or not self.holds(block.instrs[before[0] + 1 : n], instr, own):
                known[key] = n, values
                continue
            self.replaced |= zip(values, before[1], strict=True)
            gone.add(id(instr))
            if made is not None:  # (what shows it may show it to others, too)
                gone |= {id(made.alloc), id(made.fill)}
        if gone:
            block.instrs[:] = [i for i in block.instrs if id(i) not in gone]

    def what(self, apply: Instr, own: set[Value]) -> tuple[Hashable, _Made | None] | None:
        """What it makes: equal for what is the same; None if that is not to be told from something else."""
        outs = outs_of(apply)
        apply.operands[len(outs) :] = [self.replaced.get(v, v) for v in ins_of(apply)]
        computed = _computed(apply)
        if apply.results:
            return None if outs else (computed, None)
        made = self.only_written_by(apply, outs[0], own) if len(outs) == 1 else None
        if made is None:
            return None
        filled = _key(made.fill.operands[1]) if made.fill is not None else made.alloc.attrs["fill"]
        seen_in = tuple((i.op, tuple(sorted(i.attrs.items())), *map(_key, i.operands[1:])) for i in made.shown)
        lengths = tuple(map(_key, made.alloc.operands))
        return (computed, made.alloc.result.type, filled, lengths, seen_in), made

    def only_written_by(self, apply: Instr, out: Value, own: set[Value]) -> _Made | None:
        root, shown = out, list[Instr]()
        while (instr := self.made.get(root)) is not None and instr.op in VIEWS:
            shown.append(instr)
            root = instr.operands[0]
        if root not in own or apply.operands.count(out) > 1:
            return None
        fills: list[Instr] = []
        if not self.is_read(root, apply, fills) or len(fills) > 1:
            return None
        if any(self.places.get(id(fill), len(self.places)) > self.places[id(apply)] for fill in fills):
            return None
        return _Made(self.made[root], fills[0] if fills else None, shown)

    def is_read(self, array: Value, apply: Instr, fills: list[Instr]) -> bool:
        """Whether all that is done with an array, but for this `apply` and what fills it beforehand, is to read elements of it then."""
        for user in self.users.get(array, ()):
            if user is apply or user.op == "dim":
                continue
            if user.op in VIEWS and user.operands[0] is array:
                if not self.is_read(user.result, apply, fills):
                    return False
                continue
            if user.op == "fill" and apply.attrs["modes"] == ("add",):
                fills.append(user)
                continue
            reads = user.op == "apply" and array not in outs_of(user)
            reads |= user.op == "load" or user.op == "copyto" and user.operands[0] is not array
            if not reads or self.places.get(id(user), len(self.places)) < self.places[id(apply)]:
                return False
        return True

    def holds(self, between: list[Instr], apply: Instr, own: set[Value]) -> bool:
        """Whether nothing has written to what it reads."""
        read = {root_of(self.made, v) for v in ins_of(apply) if isinstance(v.type, Array)}
        # What no instruction makes may be an array that was made in another block; what a call gives, any that was made before.
        given = read - self.made.keys() - {*self.function.entry.params}
        if any(v in self.made and self.made[v].op != "alloc" for v in read):
            new = frozenset[Value]()
        else:
            new = frozenset(own) if given else frozenset(self.made)
        for instr in between:
            if instr.op == "alloc" or OPS[instr.op].effects not in ("write", "effect") and instr.op not in CALLING:
                continue
            if instr.op not in ("apply", "fill", "copyto", "addto", "store", "accum"):
                return False
            for v in outs_of(instr) if instr.op == "apply" else instr.operands[:1]:
                root = root_of(self.made, v)
                if root in read or root not in new or self.made[root].op != "alloc":
                    return False
        return True


__all__ = ["run"]
