"""Calls with stars among their arguments, and with keywords behind stars: `f(x, *rest, scale=y)`.

The code makes a list, a tuple and a dict of what the call takes apart again. Here a function per shape of such calls, written out,
is called with the parts; what stands behind stars are tuples mostly, and lists, and dicts behind two of them (`f(*args, scale=y,
**options)`, as decorators call).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from zyg.ir.core import Block, Const, Instr, Value
from zyg.ir.types import OBJECT

from ..identity import note
from ..objects import calls
from ..objects.adapters import adapter
from ..objects.backs import run
from ..objects.passing import passes, passes_in_turn
from ..objects.shadows import add_all, add_keys
from ..trying import bodies
from .knowledge import is_permanent, note_code
from .sites import new_tables

_MANY = 100
_TEXT = frozenset({str})
_DISPLAYS = frozenset({"list", "tuple"})
_found = new_tables()  # forward halves, by function, number of arguments and names


def forward_for(f: Any, count: int, names: tuple[str, ...]) -> Any:
    """The forward half of a plain function for so many arguments by position, and others by these names; None for others."""
    if type(f) is not FunctionType:
        return None
    table = _found[1 if bodies else 0]
    key = f, count, names
    made = table.get(key)
    if made is None and calls.known_entry(f) is not None and _TEXT.issuperset(map(type, names)):
        made = adapter(f, count, names)
        if made is not None and is_permanent(f):
            note_code(f)
            note(table, key, (f,), made)
        elif made is not None and len(table) < _MANY:
            note(table, key, (f,), made)  # for one pullback
    return made


@functools.cache
def calling(stars: tuple[bool, ...], names: tuple[str, ...], further: bool = False) -> Callable[..., Any]:
    """A function of `f`, the arguments by position, of which some stand behind a star, and those by keyword, that calls `f`; `further`:
    behind them a dict of other arguments."""
    parts, values = [f"p{k}" for k in range(len(stars))], [f"v{k}" for k in range(len(names))]
    given = ", ".join(["f", *parts, *values, *["more"] * further])
    options = "{" + ", ".join(f"{name!r}: {v}" for name, v in zip(names, values)) + "}"
    items = "".join(f"*{p}, " if star else f"{p}, " for p, star in zip(parts, stars))
    starred = [p for p, star in zip(parts, stars) if star]
    count = " + ".join([str(len(parts) - len(starred)), *[f"n{p}" for p in starred]])
    kept = [part for p in starred for part in (f"n{p}", f"{p} if type({p}) is list else None")]
    strange = [f"(type({p}) is not tuple and type({p}) is not list)" for p in starred]
    named, passed = repr(names), [*values]
    if further:  # (a name that is there twice is an error)
        strange.append("type(more) is not dict")
        strange += [f"{name!r} in more" for name in names]
        kept += ["more", "keys"]
        named = f"{named} + keys"
        passed.append("*more.values()")
    lines = [
        f"def generally({given}):",
        f"    options = {options}",
        "    items = []",
        *[f"    items.extend([{'*' * star}{p}])" for p, star in zip(parts, stars) if len(parts) > 1],
        f"    return f(*{'items' if len(parts) > 1 else parts[0]}, **{'dict(options), **more' if further else 'options'})",
        f"def forward({given}):",
        f"    if {' or '.join(strange)}:",
        f"        return differentiated(generally)({given})",
        # (What is put around pullbacks is found by parameters.)
        *[f"    return forward_by_name({given}, tuple(more))", f"def forward_by_name({given}, keys):"] * further,
        *[f"    n{p} = len({p})" for p in starred],
        f"    names = {named}",
        f"    made = FOUND[1 if bodies else 0].get((f, {count}, names)) if type(f) is FunctionType else None",
        "    if made is None:",
        f"        made = forward_for(f, {count}, names)",
        "    if made is None:",
        *["        if not TEXT.issuperset(map(type, keys)):", f"            return differentiated(generally)({given})"]
        * further,
        f"        y, back = call(f, ({items}), {f'{options} | more' if further else options})",
        "    else:",
        f"        y, back = made({items}{', '.join(passed)})",
        f"    return y, None if back is None else ({', '.join(['bring', 'back', *kept])})",
        "def bring(back, d, shadows):",
        "    inner = back[1]",
        "    given = inner[0](inner, d, shadows) if type(inner) is tuple else run(inner, d, shadows)",
        "    if given is None:",
        "        return None",
        "    at = 1",
    ]
    taken, number = ["None", "given[0]"], 2
    for p, star in zip(parts, stars):
        if star:
            lines += [
                f"    {p} = tuple(given[at : at + back[{number}]])",
                f"    at += back[{number}]",
                f"    if back[{number + 1}] is not None:",  # a list, which has no cotangent that flows
                f"        add_all(shadows, back[{number + 1}], 0, list({p}))",
                f"        {p} = None",
            ]
            number += 2
        else:
            lines += [f"    {p} = given[at] if at < len(given) else None", "    at += 1"]
        taken.append(p)
    if names:  # (backs may leave out the last ones)
        lines += [
            f"    if at + {len(values)} <= len(given):",
            f"        {', '.join(values)}, = given[at : at + {len(values)}]",
            "    else:",
            f"        {', '.join(values)}, *_ = *given[at:], {', '.join(['None'] * len(values))}",
        ]
    taken += values
    if further:
        lines += [
            f"    if back[{number + 1}]:",
            f"        add_keys(shadows, back[{number}], back[{number + 1}], given, at + {len(values)})",
        ]
        taken.append("None")
    lines.append(f"    return {', '.join(taken)}")
    scope: dict[str, Any] = {
        "__name__": __name__, "forward_for": forward_for, "differentiated": calls.differentiated, "call": calls.call, "run": run, "TEXT": _TEXT,
        "FOUND": _found, "bodies": bodies, "FunctionType": FunctionType,
        "add_all": add_all, "add_keys": add_keys,
    }  # fmt: skip
    exec(compile("\n".join(lines), __file__, "exec"), scope)

    def around(variables: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        kept: list[Any] = []
        for p in starred:
            x = variables[p]
            if type(x) is not tuple and type(x) is not list:
                return []  # it was `generally` that has been left
            # (The call may have changed a list.)
            kept += [len(x), None] if type(x) is tuple else [variables[f"n{p}"], x]
        if further:
            kept += [variables["more"], variables["keys"]]
        return [(scope["bring"], *kept)]

    if further:
        passes()(scope["forward"])
    passes(around)(scope["forward_by_name" if further else "forward"])
    passes_in_turn()(scope["forward"])  # which is called in the place of a function that is called so
    calls.known(scope["generally"], exact=True)(scope["forward"])
    _shapes[scope["generally"]] = stars, names, further
    return scope["generally"]


_shapes: dict[Any, tuple[tuple[bool, ...], tuple[str, ...], bool]] = {}


def shape_of(f: Any) -> tuple[tuple[bool, ...], tuple[str, ...], bool] | None:
    """What `calling` was given when it gave this function; None for others."""
    return _shapes.get(f)


def pass_parts(block: Block, call: Instr, counts: dict[Value, int]) -> None:
    """Let a call take its parts, where the tuple and the dict of its arguments are made for it alone, just before."""
    made = {i.results[0]: i for i in block.instrs if len(i.results) == 1}
    dropped: list[Instr] = []
    names: tuple[str, ...] = ()
    values: list[Value] = []
    more: list[Value] = []
    if len(call.operands) == 3:
        options = made.get(call.operands[2])
        if options is None or options.op != "dict":
            return
        before = block.instrs[block.instrs.index(call) - 1]
        if before.op == "dict_merge" and before.operands[0] is options.result and counts[options.result] == 2:
            more.append(before.operands[1])
            dropped.append(before)
        elif counts[options.result] != 1:
            return
        keys = options.operands[::2]
        names = tuple([k.value for k in keys if isinstance(k, Const) and type(k.value) is str])
        if len(names) != len(keys) or len(set(names)) != len(names):
            return
        values = options.operands[1::2]
        dropped.append(options)
    parts = [(call.operands[1], True)]
    whole = made.get(call.operands[1])
    if whole is not None and whole.op == "list_to_tuple" and counts[whole.result] == 1:
        display = made.get(whole.operands[0])
        if display is not None and display.op == "list":
            steps = [
                i for i in block.instrs if i.op in ("list_extend", "list_append") and i.operands[0] is display.result
            ]
            begins = block.instrs.index(steps[0]) if steps else 0
            others = {*steps, *dropped, whole}
            between = block.instrs[begins : block.instrs.index(call)]
            if counts[display.result] != 1 + len(steps) or not others.issuperset(between):
                return
            parts = [(v, False) for v in display.operands]
            for step in steps:
                of = made.get(step.operands[1])
                if step.op == "list_extend" and of is not None and of.op in _DISPLAYS and counts[of.result] == 1:
                    parts += [(v, False) for v in of.operands]
                    dropped.append(of)
                else:
                    parts.append((step.operands[1], step.op == "list_extend"))
            dropped += [display, *steps, whole]
    if not names and len(parts) == 1:
        return
    for instr in dropped:
        instr.op = "dropped"
    if not more and not any(star for _, star in parts):
        call.op, call.attrs = "call_object", {**call.attrs, "keywords": names}
        call.operands = [call.operands[0], *[v for v, _ in parts], *values]
        return
    function = calling(tuple([star for _, star in parts]), names, bool(more))
    call.op, call.attrs = "call_object", {**call.attrs, "keywords": ()}
    call.operands = [Const(function, OBJECT), call.operands[0], *[v for v, _ in parts], *values, *more]


__all__ = ["calling", "forward_for", "pass_parts", "shape_of"]
