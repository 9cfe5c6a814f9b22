"""Make temporaries in C order whose order in memory nobody sees.

Input: a function in which what NumPy would make of transposed arrays lies as they do (frontend/orders.py).  Output: a new array
that is only read and written element by element, or seen in views of which that is true, is contiguous, and so can be fused.
Other arrays lie as they did: where its strides tell how they do, these are known without it.

Invariant: values do not change, as elements are found by their indices.
"""

from __future__ import annotations

from collections.abc import Hashable

from ..core import Const, Function, Instr, Value, uses
from . import dce
from .rewriting import constant_key, replace_uses, same

_BY_INDEX = frozenset({"apply", "copyto", "addto", "fill", "dim", "load", "store", "accum", "overlap"})
_SEEN_IN = frozenset({"view", "broadcast", "transpose"})


def run(function: Function) -> bool:
    arranged = _arrange_once(function)
    new = {i.result for _, i in function.instructions() if i.op == "alloc"}
    laid = {i.result: i for _, i in function.instructions() if i.op == "strided" and i.operands[0] in new}
    if not laid:
        return arranged
    told = arranged | _tell_strides(function, laid)
    told |= _without_copies(function, laid)
    users = users_of(function)
    replaced = {
        v: i.operands[0]
        for v, i in laid.items()
        if len(users.get(i.operands[0], ())) == 1 and is_found_by_index(users, v)
    }
    replace_uses(function, replaced)
    return dce.run(function) or told


def _arrange_once(function: Function) -> bool:
    """What is made of arrays that lie as one of them was arranged, and of such as have no say, lies as that does."""
    arranges = [i for _, i in function.instructions() if i.op == "arrange"]
    made = {r: i for i in arranges for r in i.results}
    replaced: dict[Value, Value] = {}
    changed = False
    for instr in arranges:
        axes, kept = instr.attrs["axes"], instr.attrs["kept"]
        instr.operands[:] = [replaced.get(v, v) for v in instr.operands]
        told, lengths = instr.operands[: -len(kept)], instr.operands[-len(kept) :]
        rows = [told[n : n + 2 * axes] for n in range(0, len(told), 2 * axes)]
        # One stride alone has nothing to be compared with; and who says the same as another adds nothing.
        own = {tuple(map(_key, row)): row for row in rows if sum(not _says_nothing(v) for v in row[1::2]) > 1}
        if own and len(own) < len(rows):
            instr.operands[:] = [*(v for row in own.values() for v in row), *lengths]
            changed = True
        if not own or kept != tuple(range(axes)):
            continue
        alike = {_arranged_alike(made, row, lengths, instr.attrs["item"]) for row in own.values()}
        like = alike.pop()
        if not alike and like is not None:
            replaced |= zip(instr.results, like.results, strict=True)
    replace_uses(function, replaced)
    return changed or bool(replaced)


def _arranged_alike(made: dict[Value, Instr], row: list[Value], lengths: list[Value], item: int) -> Instr | None:
    """What has arranged an array of these lengths and strides, if it has such items, or what that one is arranged like."""
    like = made.get(row[1])
    while like is not None:
        own = like.operands[-len(like.results) :]
        if len(own) != len(lengths) or not all(map(same, own, lengths)):
            return None
        if not all(map(same, row[1::2], like.results)) or not all(map(same, row[::2], lengths)):
            return None
        if like.attrs["item"] == item:
            return like
        row = like.operands[: -len(own)]
        if len(row) != 2 * len(own):
            return None
        like = made.get(row[1])
    return None


def _says_nothing(step: Value) -> bool:
    return isinstance(step, Const) and step.value == 0


def _key(v: Value) -> Hashable:
    return constant_key(v) if isinstance(v, Const) else v


def _tell_strides(function: Function, laid: dict[Value, Instr]) -> bool:
    """Strides that tell an order are those that the array was given."""
    told: dict[Value, Value] = {}
    for _, instr in function.instructions():
        if instr.op == "stride" and instr.attrs.get("order") and instr.operands[0] in laid:
            told[instr.result] = laid[instr.operands[0]].operands[1 + instr.attrs["axis"]]
    replace_uses(function, told)
    return bool(told) and dce.run(function)


def _without_copies(function: Function, laid: dict[Value, Instr]) -> bool:
    """What is found by index need not be a copy that only lies in another order."""
    users, replaced = users_of(function), dict[Value, Value]()
    for block in function.blocks:
        copies = [i for i in block.instrs if i.op == "copyto" and i.attrs.get("lays") and i.operands[0] in laid]
        gone = {id(i) for i in copies if is_found_by_index(users, i.operands[0])}
        replaced |= {i.operands[0]: i.operands[1] for i in copies if id(i) in gone}
        block.instrs[:] = [i for i in block.instrs if id(i) not in gone]
    replace_uses(function, replaced)
    return bool(replaced) and dce.run(function)


def users_of(function: Function) -> dict[Value, list[Instr]]:
    """The instructions that use each value; the ends of blocks from which an exception takes it elsewhere, too."""
    users: dict[Value, list[Instr]] = {}
    for block in function.blocks:
        for instr in block.instrs:
            for v in dict.fromkeys(uses(instr)):
                users.setdefault(v, []).append(instr)
        for v in block.handler.args if block.handler is not None else ():
            users.setdefault(v, []).append(block.instrs[-1])
    return users


def is_found_by_index(users: dict[Value, list[Instr]], array: Value, also: frozenset[str] = frozenset()) -> bool:
    """Whether everything that uses an array, but for the operations in `also`, takes elements of it by their indices."""
    for user in users.get(array, ()):
        if user.op in _SEEN_IN:
            if not is_found_by_index(users, user.result, also):
                return False
        elif user.op not in _BY_INDEX and user.op not in also:
            return False
    return True
