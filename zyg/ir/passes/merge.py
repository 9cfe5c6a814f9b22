"""Keep one of several functions that are equal.

Input: a module.  Output: calls of functions that do the same, instruction by instruction, are calls of one of them.  The sums
of a program over whole arrays are often of the same terms.

Invariant: where something may fail, or Python runs, the places in the user's source are the same too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from ..core import CALLING, JUMPS, Const, Function, Module, Value
from ..ops import having
from .inline import bottom_up
from .rewriting import constant_key

SILENT = having("pure", "read", "write") - {"alloc", "reserve", "push"} | JUMPS | {"apply", "poll"}


def run(module: Module) -> bool:
    if len(module.functions) < 3:  # the one that is called from outside, and another
        return False
    alike = Counter(map(_outline, module.functions.values()))
    known: dict[Hashable, str] = {}
    replaced: dict[str, str] = {}
    changed = False
    for name in bottom_up(module)[0]:
        function = module.functions[name]
        for _, instr in function.instructions() if replaced else ():
            if instr.op in CALLING and instr.attrs["callee"] in replaced:
                instr.attrs = {**instr.attrs, "callee": replaced[instr.attrs["callee"]]}
                changed = True
        if alike[_outline(function)] == 1:
            continue
        first = known.setdefault(_contents(module, function), name)
        if first != name:
            replaced[name] = first
            if "offers" in function.attrs:  # what it would be kept as, the other one is kept as, too
                kept = module.functions[first].attrs
                kept["offers"] = (*kept.get("offers", ()), *function.attrs["offers"])
    return changed


def _outline(function: Function) -> Hashable:
    """Equal for functions that do the same, and found in no time."""
    types = tuple(p.type for p in function.params)
    return types, function.results, tuple(len(block.instrs) for block in function.blocks)


def _contents(module: Module, function: Function) -> Hashable:
    """Equal for functions that do the same."""
    numbers: dict[Value, int] = {}
    blocks = {block: n for n, block in enumerate(function.blocks)}
    for block in function.blocks:
        for v in (*block.params, *(r for i in block.instrs for r in i.results)):
            numbers[v] = len(numbers)

    def key(v: Value) -> Hashable:
        return constant_key(v) if isinstance(v, Const) else numbers[v]

    parts: list[Hashable] = [function.results, _attributes(function.attrs)]
    for block in function.blocks:
        handler = block.handler
        parts.append(tuple(p.type for p in block.params))
        parts.append(None if handler is None else (blocks[handler.block], tuple(map(key, handler.args))))
        for instr in block.instrs:
            attrs = instr.attrs
            silent = instr.op in SILENT
            if instr.op in CALLING:
                callee = attrs["callee"]
                if callee == function.name:
                    attrs = {**attrs, "callee": None}
                silent |= bool(module.functions[callee].attrs.get("shallow"))
            targets = tuple((blocks[t.block], tuple(map(key, t.args))) for t in instr.targets)
            types = tuple(r.type for r in instr.results)
            position = None if silent else instr.position
            parts.append((instr.op, tuple(map(key, instr.operands)), types, _attributes(attrs), targets, position))
    return tuple(parts)


def _attributes(attrs: dict[str, object]) -> Hashable:
    return tuple((name, _hashable(attrs[name])) for name in sorted(attrs) if name != "offers")


def _hashable(value: object) -> Hashable:
    try:
        hash(value)
    except TypeError:
        return id(value)
    return (type(value), value)
