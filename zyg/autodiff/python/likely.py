"""What values most likely are, as it looks: ints that positions are calculated with; text that is put together (`"visit_" + name`) and
constants that are repeated (`[0.0] * n`), which carry no derivative. Guesses, about speed alone: object code tests for these types."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping
from typing import Any

from zyg.ir.core import Const, Function, Instr, Value

from ..objects import dates
from . import rules

_OF_INTS = frozenset({"add", "sub", "mul", "floordiv", "mod", "neg", "pos"})
_OF_NATURALS = frozenset({"add", "mul", "floordiv", "mod", "pos"})


def _called(makers: dict[Value, Instr], v: Value) -> str:
    """The name of the function, or method, whose result a value is."""
    made = makers.get(v)
    return _name_of(makers, made.operands[0]) if made is not None and made.op == "call_object" else ""


def _name_of(makers: dict[Value, Instr], v: Value) -> str:
    callee = makers.get(v)
    return callee.attrs["name"] if callee is not None and callee.op in ("global", "getattr") else ""


def gone_through(makers: dict[Value, Instr], v: Value) -> str:
    """The name of the function over whose result the loop goes that has a value as its item."""
    item = makers.get(v)
    loop = makers.get(item.operands[1]) if item is not None and item.op == "item" else None
    if loop is None or loop.op != "iter":
        return ""
    whole = loop.operands[0]
    return _called(makers, whole) if "calls" not in loop.attrs else _name_of(makers, makers[whole].operands[0])


def counting(function: Function) -> set[Value]:
    """Most likely ints, as it looks: items of loops over `range`, lengths, numbers of `enumerate`, and what is calculated with
    these."""
    makers = {r: i for _, i in function.instructions() for r in i.results}
    incoming: dict[Value, list[Value]] = {}
    for _, instr in function.instructions():
        for target in instr.targets:
            for p, a in zip(target.block.params, target.args, strict=True):
                incoming.setdefault(p, []).append(a)

    def calculated_with(v: Value) -> list[Value] | None:
        made = makers.get(v)
        return incoming.get(v) if made is None else made.operands if rules.base(made.op) in _OF_INTS else None

    found = {v for v in makers if _called(makers, v) == "len" or makers[v].op == "len_"}
    for v, made in makers.items():
        if gone_through(makers, v) == "range" or (
            "counts" in made.attrs and v is made.results[-1] and made.op == "next"
        ):
            found.add(v)
    for v, made in makers.items():
        if "numbered" in made.attrs and made.op == "item" and v is made.results[0]:
            found.add(v)
        if made.op == "unpack" and v is made.results[0] and gone_through(makers, made.operands[0]) == "enumerate":
            found.add(v)
    _add_parts_of_keys(function, makers, found)
    ints = found | {v for v in [*makers, *incoming] if calculated_with(v) is not None}
    while True:  # optimistically: what goes round a loop is an int as long as nothing tells otherwise
        still = {
            v
            for v in ints
            if v in found
            or all(type(a.value) is int if isinstance(a, Const) else a in ints for a in calculated_with(v) or ())
        }
        if still == ints:
            return ints
        ints = still


def _add_parts_of_keys(function: Function, makers: dict[Value, Instr], found: set[Value]) -> None:
    """What a tuple is made of that is a key, `d[i + k, j]`, is counted with, and what it is calculated with."""
    work: list[Value] = []
    for _, instr in function.instructions():
        key = None
        if instr.op in ("getitem", "setitem"):
            key = instr.operands[1]
        elif instr.op == "contains":
            key = instr.operands[0]
        elif (
            instr.op == "call_object" and len(instr.operands) > 1 and _name_of(makers, instr.operands[0]) in _TAKE_KEYS
        ):
            key = instr.operands[1]
        made = makers.get(key) if key is not None else None
        if made is not None and made.op == "tuple":
            work += made.operands
        elif made is not None and made.op == "call_object" and len(made.operands) == 2:
            callee, items = made.operands
            if (isinstance(callee, Const) and callee.value is tuple) or _name_of(makers, callee) == "tuple":
                work += [
                    i.operands[1]
                    for _, i in function.instructions()
                    if i.op == "list_append" and i.operands[0] is items
                ]
    while work:
        v = work.pop()
        made = makers.get(v)
        if isinstance(v, Const) or v in found:
            continue
        found.add(v)
        if made is not None and rules.base(made.op) in _OF_INTS:
            work += made.operands


_TAKE_KEYS = frozenset({"get", "setdefault", "pop"})


def integers(function: Function) -> dict[Value, bool]:
    """What is exactly an int for sure: numbers of loops over `range` and `enumerate`, and what is calculated of these alone; and whether
    it is never below zero."""
    found: dict[Value, bool] = {}
    for _, instr in function.instructions():  # (what is calculated behind a loop's number stands behind it)
        if instr.op == "item" and "numbered" in instr.attrs:
            found[instr.results[0]] = instr.attrs["numbered"]
        elif instr.op == "next" and "counts" in instr.attrs:
            found[instr.results[1]] = instr.attrs["counts"]
        elif rules.base(instr.op) in _OF_INTS:
            known = [
                type(v.value) is int and v.value >= 0 if isinstance(v, Const) else found.get(v) for v in instr.operands
            ]
            exact = [type(v.value) is int if isinstance(v, Const) else v in found for v in instr.operands]
            if all(exact):
                found[instr.result] = rules.base(instr.op) in _OF_NATURALS and all(known)
    return found


def spans(function: Function) -> set[Value]:
    """Most likely the time between two days, by the attribute that is read of it."""
    return {i.operands[0] for _, i in function.instructions() if i.op == "getattr" and i.attrs["name"] == "days"}


def likely_types(
    instr: Instr, makers: Mapping[Value, Instr], counts: Counter[Value], of_days: set[Value]
) -> dict[str, Any]:
    """For an operator that most likely carries no derivative, what object code notes of it: the types that the operands have
    (`exactly`), and which of them are not known before the program runs."""
    if instr.op == "sub" and instr.result in of_days:
        return _of_types(instr, (datetime.date, datetime.date)) | {"unless": dates.held_somewhere}
    if rules.base(instr.op) == "add" and any(_is_text(v, makers) for v in instr.operands):
        return _of_types(instr, (str, str))
    if instr.op == "mul":
        for k, v in enumerate(instr.operands):
            kind = _holds_constants(v, makers, counts)
            if kind is not None:
                return _of_types(instr, (kind, int) if k == 0 else (int, kind))
    return {}


def _of_types(instr: Instr, types: tuple[type, type]) -> dict[str, Any]:
    unknown = [k for k, v in enumerate(instr.operands) if not (isinstance(v, Const) and type(v.value) is types[k])]
    return {"exactly": types, "tests": tuple(unknown)}


def _is_text(v: Value, makers: Mapping[Value, Instr]) -> bool:
    if isinstance(v, Const):
        return type(v.value) is str
    made = makers.get(v)
    if made is None:
        return False
    return made.op == "string" or (rules.base(made.op) == "add" and any(_is_text(x, makers) for x in made.operands))


def _holds_constants(v: Value, makers: Mapping[Value, Instr], counts: Counter[Value]) -> type | None:
    """list or tuple, if a value is one of constants that nobody else sees."""
    if isinstance(v, Const):
        return tuple if type(v.value) is tuple else None
    made = makers.get(v)
    return list if made is not None and made.op == "list" and counts[v] == 1 and holds_constants(made) else None


def holds_constants(made: Instr) -> bool:
    """Whether a display has nothing in it to which a cotangent could come."""
    return all(isinstance(v, Const) for v in made.operands)


__all__ = ["counting", "gone_through", "holds_constants", "integers", "likely_types"]
