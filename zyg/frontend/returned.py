"""Arrays that a rule returns as it got them: under differentiation the result of such a call is a value with a cotangent of its own, in
memory that it shares with the argument.  As long as nobody writes there, both have their derivatives.  What is written by one name
and read by the other would take the wrong one of two cotangents: it is refused.

The analysis of memory is that of listed.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from zyg.errors import Unsupported
from zyg.ir.core import Function, Instr, Module, Value
from zyg.ir.ops import SAME_MEMORY
from zyg.ir.types import Array

from .listed import Analysis, Root, Summary, analyses, made_at

if TYPE_CHECKING:
    from .evaluator import Inference

WHAT = "a change of an array that a rule (or zyg.hook) returned as it had got it, and that is read under its other name"
HINT = "go on with what the function returned and nothing else, or let the rule return a copy"

# Which results of a function are which of its parameters, by way of a rule.
Ruled = dict[str, dict[int, set[int]]]


def check(inference: Inference) -> None:
    module = inference.module
    if not any(_may_return_argument(module, call) for f in module.functions.values() for call in _rule_calls(f)):
        return
    summaries: dict[str, Summary] = {}
    found = analyses(module, summaries, inference)
    ruled: Ruled = {name: {} for name in module.functions}
    before = -1
    while before != (before := sum(len(ks) for table in ruled.values() for ks in table.values())):
        for analysis in found:
            _summarise(analysis, summaries, ruled)
    for analysis in found:
        for call, n, k in _aliases(analysis, summaries, ruled):
            _check(analysis, call, call.results[n], analysis.of(call.operands[k]))


def _rule_calls(function: Function) -> Iterator[Instr]:
    for block in function.blocks:
        for instr in block.instrs:
            if instr.op == "call" and instr.attrs.get("rule") is not None:
                yield instr


def _may_return_argument(module: Module, call: Instr) -> bool:
    """Whether the function called may return an array that it was given, from a look at what it returns."""
    callee = module.functions.get(call.attrs["callee"])
    if callee is None or not any(isinstance(v.type, Array) for v in call.results):
        return False
    defined = {v: instr for block in callee.blocks for instr in block.instrs for v in instr.results}
    for block in callee.blocks:
        last = block.instrs[-1] if block.instrs else None
        for v in last.operands if last is not None and last.op == "return" else ():
            made = defined.get(v)
            while made is not None and made.op in SAME_MEMORY:
                made = defined.get(made.operands[0])
            if isinstance(v.type, Array) and (made is None or made.op in ("call", "select")):
                return True
    return False


def _aliases(analysis: Analysis, summaries: dict[str, Summary], ruled: Ruled) -> Iterator[tuple[Instr, int, int]]:
    """Calls with the number of a result and that of the operand that it is, by way of a rule."""
    for instr in analysis.places:
        if instr.op == "call":
            name = instr.attrs["callee"]
            by_rule = instr.attrs.get("rule") is not None and name in summaries
            table = summaries[name].aliases if by_rule else ruled.get(name, {})
            for n, operands in table.items():
                for k in operands:
                    if n < len(instr.results) and k < len(instr.operands) and isinstance(instr.results[n].type, Array):
                        yield instr, n, k


def _summarise(analysis: Analysis, summaries: dict[str, Summary], ruled: Ruled) -> None:
    own = ruled[analysis.function.name]
    for call, n, k in _aliases(analysis, summaries, ruled):
        _, some = _derived(analysis, call.results[n])
        parameters = {r[1] for r in analysis.of(call.operands[k]) if isinstance(r, tuple) and r[0] == "parameter"}
        for instr in analysis.places:
            if instr.op == "return":
                for m, v in enumerate(instr.operands):
                    if v in some and parameters:
                        own.setdefault(m, set()).update(parameters)


def _derived(analysis: Analysis, start: Value) -> tuple[set[Value], set[Value]]:
    """The values that are the same memory as one by way of it: those that are for certain, and those that may be."""
    sources: dict[Value, list[Value]] = {}
    for instr in analysis.places:
        if instr.op in SAME_MEMORY:
            sources.setdefault(instr.results[0], []).append(instr.operands[0])
        elif instr.op == "select" and isinstance(instr.results[0].type, Array):
            sources.setdefault(instr.results[0], []).extend(instr.operands[1:3])
        for target in instr.targets:
            for p, v in zip(target.block.params, target.args):
                if isinstance(p.type, Array):
                    sources.setdefault(p, []).append(v)
    some = {start}
    while found := {v for v, given in sources.items() if v not in some and any(g in some for g in given)}:
        some |= found
    certain = set(some)
    while lost := {v for v in certain if v is not start and not all(g in certain for g in sources[v])}:
        certain -= lost
    return certain, some


def _check(analysis: Analysis, call: Instr, result: Value, memory: set[Root]) -> None:
    certain, some = _derived(analysis, result)
    reads = [
        (instr, [v for v in instr.operands if isinstance(v.type, Array) and analysis.of(v) & memory])
        for instr in analysis.places
        if instr.op not in ("dim", "stride") and instr.op not in SAME_MEMORY
    ]
    for change, values in analysis.changed_values():
        shared = [v for v in values if analysis.of(v) & memory]
        roots = {r for v in shared for r in analysis.of(v) & memory}
        if not any(analysis.reaches(call, change, made_at(root)) for root in roots):
            continue
        # What may be the one name or the other counts as both.
        names = [(lambda v: v not in certain, None)] if any(v in some for v in shared) else []
        names += [(lambda v: v in some, call)] if any(v not in certain for v in shared) else []
        for other, until in names:
            for read, operands in reads:
                others = [v for v in operands if other(v) and not (read is change and v in values)]
                if others and (read is change or analysis.reaches(change, read, until)):
                    raise Unsupported(WHAT, change.position, hint=HINT)
