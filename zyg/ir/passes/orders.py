"""Make temporaries in C order whose order in memory nobody sees.

Input: a function in which what NumPy would make of transposed arrays lies as they do (frontend/orders.py).  Output: a new array
that is only read and written element by element, or seen in views of which that is true, is contiguous, and so can be fused.
Other arrays lie as they did: where its strides tell how they do, these are known without it.

Invariant: values do not change, as elements are found by their indices.
"""

from __future__ import annotations

from ..core import Function, Instr, Value, uses
from . import dce
from .rewriting import replace_uses

_BY_INDEX = frozenset({"apply", "copyto", "addto", "fill", "dim", "load", "store", "accum", "overlap"})
_SEEN_IN = frozenset({"view", "broadcast", "transpose"})


def run(function: Function) -> bool:
    new = {i.result for _, i in function.instructions() if i.op == "alloc"}
    laid = {i.result: i for _, i in function.instructions() if i.op == "strided" and i.operands[0] in new}
    if not laid:
        return False
    told = _tell_strides(function, laid)
    told |= _without_copies(function, laid)
    users = users_of(function)
    replaced = {
        v: i.operands[0]
        for v, i in laid.items()
        if len(users.get(i.operands[0], ())) == 1 and is_found_by_index(users, v)
    }
    replace_uses(function, replaced)
    return dce.run(function) or told


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
