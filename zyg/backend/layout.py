"""The last step of emission: directions of jumps, once all code has its place, and instructions that do two things at once."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

from bytecode import Label

from .assembly import Instruction
from .opcodes import PY312, PY313

# 3.13 makes one instruction of two that are about fast locals; before, the interpreter did by itself.
_TOGETHER = {
    ("LOAD_FAST", "LOAD_FAST"): "LOAD_FAST_LOAD_FAST",
    ("STORE_FAST", "LOAD_FAST"): "STORE_FAST_LOAD_FAST",
    ("STORE_FAST", "STORE_FAST"): "STORE_FAST_STORE_FAST",
}  # fmt: skip
_NUMBERS = 16  # both locals have to be among the first


def directed(code: list[Any]) -> list[Any]:
    """The code with jumps that are forward or backward as their labels lie, and without those to what comes next anyway."""
    code = _without_idle_jumps(code)
    at = {item: n for n, item in enumerate(code) if type(item) is Label}
    result: list[Any] = []
    behind: list[Any] = []
    for n, item in enumerate(code):
        if type(item) is Instruction and type(item.arg) is Label:
            target = item.arg
            forward = at[target] > n
            if item.name == "JUMP_FORWARD" and not forward:
                item = Instruction("JUMP_BACKWARD_NO_INTERRUPT", target, item.location)
            elif item.name == "JUMP_BACKWARD" and forward:
                item = Instruction("JUMP_FORWARD", target, item.location)
            elif item.name.startswith("POP_JUMP") and not forward:
                if PY312:  # such a jump is forward there
                    way = Label()
                    behind += [way, Instruction("JUMP_BACKWARD_NO_INTERRUPT", target, item.location)]
                    item = Instruction(item.name, way, item.location)
                else:
                    item = Instruction(item.name.replace("FORWARD", "BACKWARD"), target, item.location)
        result.append(item)
    return result + behind


def _without_idle_jumps(code: list[Any]) -> list[Any]:
    """The code without jumps forward to what comes next."""
    result: list[Any] = []
    here: set[Label] = set()  # the labels that come next
    for item in reversed(code):
        if type(item) is Label:
            here.add(item)
        elif here:
            if type(item) is Instruction and item.name == "JUMP_FORWARD" and item.arg in here:
                continue
            here.clear()
        result.append(item)
    result.reverse()
    return result


def cleared(code: list[Any]) -> tuple[list[Any], int]:
    """The code with variables that start as None set together, from a tuple: half as many instructions, or less where one sets two
    variables; and how much it needs on the stack for that."""
    result: list[Any] = []
    deepest = n = 0
    while n < len(code):
        item = code[n]
        if type(item) is not Instruction or item.name != "LOAD_CONST" or item.arg is not None:
            result.append(item)
            n += 1
            continue
        count = 0
        while count < _TOGETHER_AT_MOST and _sets_none(code, n + 2 * count):
            count += 1
        if count < 3:
            result.append(item)
            n += 1
            continue
        where, nothing = item.location, _nothing(count)
        result += [Instruction("LOAD_CONST", nothing, where), Instruction("UNPACK_SEQUENCE", count, where)]
        result += [Instruction("STORE_FAST", store.arg, where) for store in code[n + 1 : n + 2 * count : 2]]
        deepest = max(deepest, count)
        n += 2 * count
    return result, deepest


_TOGETHER_AT_MOST = 32


def _nothing(count: int) -> Any:
    return (None,) * count


def _sets_none(code: list[Any], n: int) -> bool:
    if n + 1 >= len(code) or type(code[n]) is not Instruction or type(code[n + 1]) is not Instruction:
        return False
    return code[n].name == "LOAD_CONST" and code[n].arg is None and code[n + 1].name == "STORE_FAST"


def combined(code: list[Any], arguments: list[str]) -> tuple[list[Any], list[str]]:
    """The code with one instruction for two that follow each other, where there is one, and the names of the first locals: the
    arguments, and those that this takes."""
    if not PY313:
        return code, arguments
    wanted: Counter[str] = Counter()
    for first, second in pairwise(code):
        if _are_one(first, second):
            wanted.update((first.arg, second.arg))
    others = [name for name, _ in wanted.most_common() if name not in arguments]
    names = [*arguments, *others[: max(0, _NUMBERS - len(arguments))]]
    numbered = frozenset(names[:_NUMBERS])
    result: list[Any] = []
    for item in code:
        last: Any = result[-1] if result else None
        if _are_one(last, item) and last.arg in numbered and item.arg in numbered:
            both: Any = (last.arg, item.arg)
            result[-1] = Instruction(_TOGETHER[last.name, item.name], both, last.location)
        else:
            result.append(item)
    return result, names


def _are_one(first: Any, second: Any) -> bool:
    return (
        type(first) is Instruction
        and type(second) is Instruction
        and (first.name, second.name) in _TOGETHER
        and first.location == second.location
        and type(first.arg) is str
        and type(second.arg) is str
    )


__all__ = ["cleared", "combined", "directed"]
