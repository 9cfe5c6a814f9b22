"""Whether emitted code is sound: what the interpreter does not check, and dies of."""

from __future__ import annotations

from typing import Any

from bytecode import Label
from bytecode.instr import TryBegin, TryEnd

from zyg.backend.assembly import Instruction, stack_effect

_ENDS = frozenset("JUMP_FORWARD JUMP_BACKWARD JUMP_BACKWARD_NO_INTERRUPT RETURN_VALUE RERAISE RAISE_VARARGS".split())
_NEVER_RAISE = frozenset({"JUMP_FORWARD", "JUMP_BACKWARD_NO_INTERRUPT"})


def faults(code: list[Any], params: list[str]) -> list[str]:
    """Where the stack is of another depth on another way, and locals that are read where they may be empty."""
    at = {item: n for n, item in enumerate(code) if isinstance(item, Label)}
    region: dict[int, TryBegin] = {}
    active: TryBegin | None = None
    for n, item in enumerate(code):
        if isinstance(item, (TryBegin, TryEnd)):
            active = item if isinstance(item, TryBegin) else None
        elif active is not None:
            region[n] = active
    found: dict[str, None] = {}
    states: dict[int, tuple[int, frozenset[str]]] = {}
    work: list[int] = []

    def go(n: int, depth: int, filled: frozenset[str]) -> None:
        if n not in states:
            states[n] = depth, filled
            work.append(n)
            return
        known, before = states[n]
        if known != depth:
            found[f"{n}: depth {known} or {depth}"] = None
        if not before <= filled:
            states[n] = known, before & filled
            work.append(n)

    go(0, 0, frozenset(params))
    while work:
        n = work.pop()
        depth, filled = states[n]
        item = code[n]
        if type(item) is not Instruction:
            go(n + 1, depth, filled)
            continue
        if n in region and item.name not in _NEVER_RAISE:
            begin = region[n]
            assert isinstance(begin.target, Label) and begin.stack_depth is not None
            go(at[begin.target], begin.stack_depth + 1 + begin.push_lasti, filled)
        names = item.arg if isinstance(item.arg, tuple) else (item.arg,)
        for step, name in zip(item.name.replace("_FAST_AND_CLEAR", "_FAST").split("_FAST"), names):
            if "_FAST" not in item.name or not isinstance(name, str):
                break
            if "STORE" in step:
                filled |= {name}
            elif name not in filled and "CHECK" not in item.name:
                found[f"{n}: {name} may be empty"] = None
            if "DELETE" in step or "CLEAR" in item.name:
                filled -= {name}
        if isinstance(item.arg, Label):
            go(at[item.arg], depth + stack_effect(item.name, item.arg, jump=True), filled)
        if item.name not in _ENDS:
            go(n + 1, depth + stack_effect(item.name, item.arg), filled)
    return list(found)
