"""Where a reverse half has to ask whether the shadow of an object is at hand, and where that is known.

A variable holds the object whose shadow was looked up last (`nothing_looked_up` makes it), so that loops look up once. Outside of
loops it is mostly known what it holds. At the first access that is nothing: the shadow is looked up without a question
(attrs["lookup"] is "first"). Behind an access that always looks up, it is that object ("found"). What no access asks for later is
not noted (attrs["forgets"]), and is not there from the start (attrs["idle"] of `nothing_looked_up`).

This is for emission alone.
"""

from __future__ import annotations

from typing import NamedTuple

from zyg.ir.analysis import reverse_postorder
from zyg.ir.core import Block, Const, Function, Instr, Value

from .zeros import is_nothing

_UNSET = object()
# Per variable the value that it holds, or _UNSET; nothing is known of one that is not there.
_State = dict[Value, object]


class _Lookup(NamedTuple):
    last: Value  # the variable
    x: Value | None  # what is looked up; None: something else decides what to do
    always: bool = False  # wherever control comes here


_Lookups = list[tuple[Instr, _Lookup]]  # of a block, in order


def settle_lookups(function: Function) -> None:
    """Note what is known of look-ups in a reverse half, which is changed."""
    starts = [instr for instr in function.entry.instrs if instr.op == "nothing_looked_up"]
    if not starts:
        return
    lookups: dict[Block, _Lookups] = {}
    for block in function.blocks:
        found = [(instr, about) for instr in block.instrs if (about := _lookup(instr)) is not None]
        if found:
            lookups[block] = found
    _find_known(function, starts, lookups)
    _find_wanted(function, starts, lookups)


def _lookup(instr: Instr) -> _Lookup | None:
    attrs = instr.attrs
    if instr.op == "looked_up":
        x, _, last, *_ = instr.operands
        return _Lookup(last, x if attrs["kind"][0] == "items" else None, True)
    if instr.op != "pull" or "brief" in attrs or ("access" not in attrs and "inline" not in attrs):
        return None
    if "inline" in attrs:
        x, last, _ = instr.operands[3:]
        return _Lookup(last, x, True) if "position" in attrs else _Lookup(last, None)
    back, d, _, x, key, name, last, _ = instr.operands
    kind = attrs["access"]
    if "shadow" in attrs:  # it has been looked up before
        return None
    if kind == "get_next" or (kind == "getitem" and "rare" not in attrs and not is_nothing(back)):
        return _Lookup(last, None)
    if isinstance(name, Const) and name.value is not None and name.value.startswith("__"):  # of a method
        return None
    if kind.startswith("get"):
        if is_nothing(d):
            return None
        may_be_tuple = kind == "getitem" and not (isinstance(key, Const) and type(key.value) is not int)
        return _Lookup(last, x, is_nothing(back) and bool(attrs.get("given")) and not may_be_tuple)
    return _Lookup(last, x, is_nothing(back))


def _find_known(function: Function, starts: list[Instr], lookups: dict[Block, _Lookups]) -> None:
    """Forward: what the variables hold."""
    entry = function.entry
    made = {entry: {start.results[0]: _UNSET for start in starts}}
    into: dict[Block, _State] = {entry: {}}
    for block in function.blocks:
        if block.handler is not None:
            into[block.handler.block] = {}
    order = reverse_postorder(function)
    changed = True
    while changed:
        changed = False
        for block in order:
            if block not in into:
                continue
            states = _behind(block, into[block] | made.get(block, {}), lookups.get(block, []))
            for target, state in zip(block.terminator.targets, states):
                before = into.get(target.block)
                after = state if before is None else {k: v for k, v in before.items() if state.get(k) is v}
                if before is None or len(after) < len(before):
                    into[target.block] = dict(after)
                    changed = True
    for block, found in lookups.items():
        if block in into:
            _behind(block, into[block] | made.get(block, {}), found, note=True)


def _behind(block: Block, state: _State, lookups: _Lookups, note: bool = False) -> list[_State]:
    """What is known on each way out of a block."""
    about = dict(lookups)
    state = {last: x for last, x in state.items() if x not in block.params}
    otherwise = None  # where a look-up fails
    for instr in block.instrs:
        lookup = about.get(instr)
        if lookup is not None:
            last, x, always = lookup
            held = state.get(last)
            if note and x is not None and held is not None and (held is _UNSET or held is x):
                instr.attrs["lookup"] = "first" if held is _UNSET else "found"
            if instr.op == "looked_up" and x is not None:
                otherwise = dict(state)
            if always and x is not None:
                state[last] = x
            elif held is not x or x is None:
                state.pop(last, None)
        for r in instr.results:
            if r in state.values():
                state = {last: x for last, x in state.items() if x is not r}
    return [state] + [state if otherwise is None else otherwise] * (len(block.terminator.targets) - 1)


def _find_wanted(function: Function, starts: list[Instr], lookups: dict[Block, _Lookups]) -> None:
    """Backward: whether what the variables hold is asked for later."""
    every = {start.results[0] for start in starts}
    at_start: dict[Block, set[Value]] = {}
    order = reverse_postorder(function)[::-1]

    def before(block: Block, note: bool = False) -> set[Value]:
        wanted = set[Value]()
        for target in block.terminator.targets:
            wanted |= at_start.get(target.block, set())
        if block.handler is not None:
            wanted = set(every)
        for instr, (last, _, always) in reversed(lookups.get(block, [])):
            if note and last not in wanted:
                instr.attrs["forgets"] = True
            known = instr.attrs.get("lookup")
            if known == "found":
                continue
            if always and instr.op == "pull" and block.handler is None:
                wanted.discard(last)
            if known is None:
                wanted.add(last)
        return wanted

    changed = True
    while changed:
        changed = False
        for block in order:
            wanted = before(block)
            if wanted != at_start.get(block, set()):
                at_start[block] = wanted
                changed = True
    for block in order:
        wanted = before(block, note=True)
        if block is function.entry:
            for start in starts:
                if start.results[0] not in wanted:
                    start.attrs["idle"] = True
