"""Lowering of what the adjoint pass adds to reverse halves: pullbacks, rules, sums of cotangents, and accesses to the shadows
of objects, which are written out where the forward half did the operation plainly."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bytecode import Compare, Label

from ..ir.core import Const, Value
from ..ir.core import Instr as Operation
from ..ir.types import OBJECT
from .opcodes import PY312, PY313, Tree, call
from .phrases import (
    begin_call,
    call_function,
    call_method,
    expression_of,
    get_attribute,
    is_none,
    jump,
    jump_if_none,
    length,
    operation,
    operator,
    store_all,
    store_none,
    type_of,
    type_on_top,
)

if TYPE_CHECKING:
    from .python import Emitter


# What was done plainly: which shadow it is about, and what tells the part of it.
_ACCESS = {
    "getitem": ("items", "key"), "getattr": ("holder", "name"), "get_cell": ("holder", "name"),
    "setitem": ("items", "key"), "setattr": ("holder", "name"), "set_cell": ("holder", "name"),
    "list_append": ("items", "back"), "get_global": ("items", "name"), "get_next": ("items", "back"),
}  # fmt: skip


def nothing(back: Any, d: Any, shadows: Any) -> Any:
    """The pullback of what was recorded and carries nothing. With what a loop goes through it says that the loop's items have
    the part of it that they are in the place of a pullback; and the function that gives what these parts have gathered to what
    the loop goes through, unless that has a shadow."""
    return back[2](back, d, shadows) if len(back) > 2 else None


def in_field(back: Any, d: Any, shadows: Any) -> Any:
    """The pullback of a field of a named tuple: (in_field, its number, how many there are)."""
    if d is None:
        return None
    parts = [None] * back[2]
    parts[back[1]] = d
    return (tuple(parts),)


def pulled(back: Any, d: Any, shadows: Any, wanted: tuple[int, ...]) -> Any:
    """What a pullback gives for the operands `wanted`: for code that is brief, and does not write that out."""
    if back is None:
        given: Any = None
    elif type(back) is float:
        given = None if d is None else (None, d * back)
    else:
        given = back[0](back, d, shadows)
    if given is None:
        return (None,) * len(wanted)
    return [given[k] for k in wanted]


def _go_if_recorded(e: Emitter, instr: Operation, recorded: Label) -> None:
    """Go on where an operation was done plainly."""
    back = instr.operands[0]
    if is_none(back):
        return
    e.load(back)
    if "rare" not in instr.attrs:
        jump_if_none(e, recorded, negated=True)
        return
    plain = Label()
    depth = e.depth - 1
    jump_if_none(e, plain)
    e.out("LOAD_CONST", instr.attrs["rare"])
    e.load(back)
    e.out("CONTAINS_OP", 0)
    e.jump_if("TRUE", recorded)
    e.label(plain, depth)


def _look_up(
    e: Emitter,
    shadows: Value,
    x: Value,
    kind: str,
    last: Value,
    shadow: Value,
    unless: Callable[[], None] | None = None,
) -> None:
    """`shadow` is that of `last`, the object that was looked up last at the places where `x` is used: let it be that of `x`.
    `unless` goes elsewhere where that has no such shadow."""
    found = Label()
    e.load(x)
    e.load(last)
    e.out("IS_OP", 0)
    depth = e.depth - 1
    e.jump_if("TRUE", found)
    if unless is not None:
        unless()
    e.load(x)
    e.store(last)
    # As `items_of` and `holder_of` do where there is one.
    new, there = Label(), Label()
    get_attribute(e, shadows, "items" if kind == "items" else "holders")
    e.out(*(("LOAD_ATTR", (True, "get")) if PY312 else ("LOAD_METHOD", "get")))
    begin_call(e, lambda: e.out("LOAD_CONST", id))
    e.load(x)
    call(e, 1, ())
    call(e, 1, ())
    e.out("COPY", 1)
    jump_if_none(e, new)
    e.label(there, depth + 1)
    e.store(shadow)
    with e.aside():
        e.label(new, depth + 1)
        e.out("POP_TOP")
        call_method(e, shadows, f"{kind}_of", x)
        jump(e, there)
    e.label(found, depth)


def go_unless_looked_up(e: Emitter, instr: Operation, other: Label) -> None:
    """Let `shadow` be that of `x`, or of what a loop goes through, as above, if it is of the kind that was likely."""
    x, shadows, last, *found = instr.operands
    of, kinds = instr.attrs["kind"]

    def unless() -> None:
        type_of(e, x)
        e.out("LOAD_CONST", kinds)
        e.out("IS_OP", 0)
        e.jump_if("FALSE", other)

    if of == "items":
        _look_up(e, shadows, x, "items", last, found[0], unless)
        return
    known = Label()
    e.load(x)
    e.load(last)
    e.out("IS_OP", 0)
    depth = e.depth - 1
    e.jump_if("TRUE", known)
    e.load(x)
    e.store(last)
    method = "shadows_gone_through" if type(kinds) is tuple else "shadow_gone_through"
    call_method(e, shadows, method, x, lambda: e.out("LOAD_CONST", kinds))
    if type(kinds) is tuple:
        e.out("UNPACK_SEQUENCE", len(kinds))
    store_all(e, found)
    e.label(known, depth)
    e.load(found[-1])
    jump_if_none(e, other)


def _add_to_whole(
    e: Emitter, shadows: Value, x: Value, part: Value, d: Value, last: Value, shadow: Value, number: bool
) -> None:
    """Add the cotangent of an item to that of what a loop went through: of a list or dict, or by a function (`x` holds it)."""
    found, other, mapping, end = (Label() for _ in range(4))
    e.load(x)
    e.load(last)
    e.out("IS_OP", 0)
    depth = e.depth - 1
    e.jump_if("TRUE", found)
    e.load(x)
    e.store(last)

    def held() -> None:
        e.load(x)
        e.out("LOAD_CONST", 1)
        e.out("BINARY_SUBSCR")

    call_method(e, shadows, "gone_through", held)
    e.store(shadow)
    e.label(found, depth)
    type_of(e, shadow)
    e.out("LOAD_CONST", list)
    e.out("IS_OP", 0)
    e.jump_if("FALSE", other)
    _add_part(e, shadows, shadow, part, d, True, None, number)
    with e.aside():
        e.label(other, depth)
        type_of(e, shadow)
        e.out("LOAD_CONST", dict)
        e.out("IS_OP", 0)
        e.jump_if("TRUE", mapping)
        call_function(e, shadow, [part, d])
        e.out("POP_TOP")
        jump(e, end)
        e.label(mapping, depth)
        _add_part(e, shadows, shadow, part, d, False, None, number)
        jump(e, end)
    e.label(end, depth)


def _access(e: Emitter, instr: Operation, none: Label, end: Label) -> None:
    """What was read plainly gets its cotangent into the shadow, what was written takes it out."""
    back, d, shadows, x, key, name, last, shadow = instr.operands
    kind, wanted = instr.attrs["access"], instr.attrs["wanted"]
    results = instr.results[: len(wanted)]
    which, where = _ACCESS[kind]
    part = {"key": key, "name": name, "back": back}[where]
    position = True if where == "back" else None if where == "key" else False  # whether the part is known to be one
    if position is None and isinstance(key, Const):
        position = False if type(key.value) is not int else None
    if "shadow" in instr.attrs:  # it has been looked up, and is of that type
        position = instr.attrs["shadow"] is list
    attribute = name.value if which == "holder" and isinstance(name, Const) else None
    if attribute is not None and attribute.startswith("__"):  # of a method
        jump(e, none)
        return

    if kind.startswith("get"):
        if not is_none(d):
            if not instr.attrs.get("given"):
                e.load(d)
                jump_if_none(e, none)
            elsewhere = Label()
            depth = e.depth

            def unless_tuple() -> None:
                type_of(e, x)
                e.out("LOAD_CONST", tuple)
                e.out("IS_OP", 0)
                e.jump_if("TRUE", elsewhere)

            if kind == "get_next" and "shadow" not in instr.attrs:
                _add_to_whole(e, shadows, x, part, d, last, shadow, instr.attrs.get("number", False))
                jump(e, none)
                return
            unless = unless_tuple if kind == "getitem" and position is None else None
            if not instr.attrs.get("found"):
                _look_up(e, shadows, x, which, last, shadow, unless)
            _add_part(e, shadows, shadow, part, d, position, attribute, instr.attrs.get("number", False))
            if unless is not None:
                jump(e, none)
                e.label(elsewhere, depth)
                if "component" in instr.attrs:
                    e.load(d)
                    e.store(instr.results[-1])
                    store_none(e, results)
                    jump(e, end)
                    return
                elif 0 in wanted:
                    call_method(e, shadows, "in_tuple", d, key, lambda: length(e, x))
                    e.store(results[wanted.index(0)])
                    store_none(e, [r for r, k in zip(results, wanted, strict=True) if k != 0])
                    jump(e, end)
                    return
        jump(e, none)
        return
    if not instr.attrs.get("found"):
        _look_up(e, shadows, x, which, last, shadow)
    if attribute is not None:
        get_attribute(e, shadow, attribute)
        e.out("LOAD_CONST", None)
        e.load(shadow)
        e.out("STORE_ATTR", attribute)
    else:
        _take_part(e, shadow, part, position, last=kind == "list_append")
    value = 2 if kind == "setitem" else 1
    if value in wanted:
        e.store(results[wanted.index(value)])
    else:
        e.out("POP_TOP")
    store_none(e, [r for r, k in zip(results, wanted, strict=True) if k != value])
    jump(e, end)


def _add_part(
    e: Emitter,
    shadows: Value,
    shadow: Value,
    part: Value,
    d: Value,
    position: bool | None,
    attribute: str | None = None,
    number: bool = False,
) -> None:
    """Add a cotangent to the part of a shadow: by position in a list, else by key in a dict, or as an attribute. `number`: it is
    known to be a number, and so is what it is added to."""
    mapping, read, slow, first, store, end = (Label() for _ in range(6))
    depth = e.depth
    if position is None:
        type_of(e, shadow)
        e.out("LOAD_CONST", list)
        e.out("IS_OP", 0)
        e.jump_if("FALSE", mapping)
    if position is not False:
        _go_unless_within(e, shadow, part, slow)
        e.load(shadow)
        e.load(part)
        e.out("BINARY_SUBSCR")
        if position is None:
            jump(e, read)
    if position is not True:
        e.label(mapping, depth)
        if attribute is not None:
            get_attribute(e, shadow, attribute)
        else:
            call_method(e, shadow, "get", part)
        e.label(read, depth + 1)
    e.out("COPY", 1)
    jump_if_none(e, first)
    other = Label()
    if not number:
        type_on_top(e)
        e.out("LOAD_CONST", float)
        e.out("IS_OP", 0)
        e.jump_if("FALSE", other)
    e.load(d)
    operator(e, "add")
    with e.aside():
        e.label(other, depth + 1)
        e.out("POP_TOP")
        e.label(slow, depth)
        call_method(e, shadows, "add_part", shadow, part, d)
        e.out("POP_TOP")
        jump(e, end)
        e.label(first, depth + 1)
        e.out("POP_TOP")
        e.load(d)
        jump(e, store)
    e.label(store, depth + 1)
    e.load(shadow)
    if attribute is not None:
        e.out("STORE_ATTR", attribute)
    else:
        e.load(part)
        e.out("STORE_SUBSCR")
    e.label(end, depth)


def _go_unless_within(e: Emitter, shadow: Value, position: Value, slow: Label) -> None:
    """Go on if a shadow, a list, has something at a position."""
    e.load(position)
    begin_call(e, lambda: e.out("LOAD_CONST", len))
    e.load(shadow)
    call(e, 1, ())
    e.out("COMPARE_OP", Compare.LT)
    e.jump_if("FALSE", slow)


def _take_part(e: Emitter, shadow: Value, part: Value, position: bool | None, last: bool) -> None:
    """Take the part of a shadow out and leave it on the stack; `last`: with its place."""
    mapping, absent, end = Label(), Label(), Label()
    depth = e.depth
    if position is None:
        type_of(e, shadow)
        e.out("LOAD_CONST", list)
        e.out("IS_OP", 0)
        e.jump_if("FALSE", mapping)
    if position is not False:
        _go_unless_within(e, shadow, part, absent)
        if last:
            call_method(e, shadow, "pop")
        else:
            e.load(shadow)
            e.load(part)
            e.out("BINARY_SUBSCR")
            e.out("LOAD_CONST", None)
            e.load(shadow)
            e.load(part)
            e.out("STORE_SUBSCR")
        jump(e, end)
        e.label(absent, depth)
        e.out("LOAD_CONST", None)
        if position is None:
            jump(e, end)
    if position is not True:
        e.label(mapping, depth)
        call_method(e, shadow, "pop", part, lambda: e.out("LOAD_CONST", None))
    e.label(end, depth + 1)


@operation
def op_pull(e: Emitter, tree: Tree) -> None:
    instr = tree.operation
    e.set_position(instr.position)
    back, d, shadows, *operands = instr.operands
    results, attrs = instr.results, instr.attrs
    wanted = attrs["wanted"]
    component = [results[-1]] if "component" in attrs else []  # what comes to an item of a tuple
    results = results[: len(wanted)]
    none, end = Label(), Label()
    depth = e.depth
    if attrs.get("brief"):
        call_function(e, Const(pulled, OBJECT), [back, d, shadows, Const(wanted, OBJECT)])
        if results:
            e.out("UNPACK_SEQUENCE", len(results))
            store_all(e, results)
        else:
            e.out("POP_TOP")
        return
    if "expressions" in attrs:
        recorded = Label()
        _go_if_recorded(e, instr, recorded)
        if not is_none(d) and results:
            e.load(d)
            jump_if_none(e, none)
            leaves = {"d": d, "y": operands[0], **dict(enumerate(operands[1:]))}
            _expressions(e, attrs["expressions"], leaves, results)
            jump(e, end)
        else:
            jump(e, none)
        e.label(recorded, depth)
    elif "access" in attrs:
        recorded = Label()
        if "shadow" in attrs:
            pass
        elif attrs["access"] == "get_next":
            whole = operands[0]
            e.load(whole)
            jump_if_none(e, none)
            _first(e, whole)
            e.out("LOAD_CONST", nothing)
            e.out("IS_OP", 0)
            e.jump_if("FALSE", recorded)
        elif attrs["access"] == "list_append":
            type_of(e, back)
            e.out("LOAD_CONST", int)
            e.out("IS_OP", 0)
            e.jump_if("FALSE", recorded)
        else:
            _go_if_recorded(e, instr, recorded)
        _access(e, instr, none, end)
        if attrs["access"] == "get_next" and "shadow" not in attrs:
            e.label(recorded, depth)
            recorded = Label()
            e.load(back)
            jump_if_none(e, none)
        if is_none(back) or "shadow" in attrs:
            e.label(none, depth)
            store_none(e, [*results, *component])
            e.label(end, depth)
            return
        e.label(recorded, depth)
        if attrs["access"] == "getitem" and "rare" not in attrs:
            _item_by_number(e, instr, none, end)
        if attrs["access"] == "getattr" and component:
            _part_by_name(e, instr, none, end)
    elif attrs["of"] == "unpack":
        recorded = Label()
        _go_if_recorded(e, instr, recorded)
        _unpacked(e, instr, none, end)
        e.label(recorded, depth)
    elif "rare" in attrs:
        recorded = Label()
        _go_if_recorded(e, instr, recorded)
        if "rule" in attrs and results and not is_none(d):
            e.load(d)
            jump_if_none(e, none)
            function, y, *numbers = operands
            call_function(e, function, [d, y, *numbers])
            _items(e, results, wanted, end)
        jump(e, none)
        e.label(recorded, depth)
    else:
        e.load(back)
        jump_if_none(e, none)
        if "inline" in attrs:
            _undo_of_container(e, instr, none, end)
        if attrs["of"] == "call_object":
            _slope(e, back, d, results, wanted, none, end)
    if "rare" in attrs:
        _begin_rare(e, back, attrs["rare"])
    else:
        begin_call(e, lambda: _first(e, back))
        e.load(back)
    for v in (d, shadows):
        e.load(v)
    call(e, 3, ())
    _items(e, results, wanted, end, component)
    e.label(none, depth)
    store_none(e, [*results, *component])
    e.label(end, depth)


def _items(
    e: Emitter, results: list[Value], wanted: tuple[int, ...], end: Label, others: list[Value] | None = None
) -> None:
    """A tuple, or None, is on the stack: store its items `wanted` (and None for `others`), else go on with None on the way to
    `end`."""
    if not results:
        e.out("POP_TOP")
        return
    nothing = Label()
    e.out("COPY", 1)
    jump_if_none(e, nothing)
    depth = e.depth
    for r, k in zip(results, wanted, strict=True):
        e.out("COPY", 1)
        e.out("LOAD_CONST", k)
        e.out("BINARY_SUBSCR")
        e.store(r)
    e.out("POP_TOP")
    store_none(e, others or [])
    jump(e, end)
    e.label(nothing, depth)
    e.out("POP_TOP")


def _expressions(e: Emitter, expressions: Any, leaves: dict[Any, Value], results: list[Value]) -> None:
    """All are computed before any is stored: a result may share its slot with what another one uses."""
    for expression in expressions:
        expression_of(e, expression, leaves)
    for r in reversed(results):
        e.store(r)


def _unpacked(e: Emitter, instr: Operation, none: Label, end: Label) -> None:
    """A tuple that was taken apart plainly: its cotangent is the tuple of those of the items, if there is one."""
    d, parts, results = instr.operands[1], instr.operands[3:], instr.results
    some = Label()
    depth = e.depth
    if results:
        for part in parts:
            if not is_none(part):
                e.load(part)
                jump_if_none(e, some, negated=True)
        jump(e, none)
        e.label(some, depth)
        e.load(d)
        e.store(results[0])
        jump(e, end)
    else:
        jump(e, none)


def _item_by_number(e: Emitter, instr: Operation, none: Label, end: Label) -> None:
    """The pullback of an item is a number: the length of a tuple, or the position in a list."""
    back, d, shadows, x, key, _, last, shadow = instr.operands
    results, wanted = instr.results, instr.attrs["wanted"]
    other, ordered = Label(), Label()
    depth = e.depth
    type_of(e, back)
    e.out("LOAD_CONST", int)
    e.out("IS_OP", 0)
    e.jump_if("FALSE", other)
    if is_none(d):
        jump(e, none)
    else:
        e.load(d)
        jump_if_none(e, none)
        type_of(e, x)
        e.out("LOAD_CONST", tuple)
        e.out("IS_OP", 0)
        e.jump_if("FALSE", ordered)
        if 0 in wanted:
            call_method(e, shadows, "in_tuple", d, key, back)
            e.store(results[wanted.index(0)])
            store_none(e, [r for r, k in zip(results, wanted, strict=True) if k != 0])
            jump(e, end)
        else:
            jump(e, none)
        e.label(ordered, depth)
        _look_up(e, shadows, x, "items", last, shadow)
        _add_part(e, shadows, shadow, back, d, True)
        jump(e, none)
    e.label(other, depth)


def _part_by_name(e: Emitter, instr: Operation, none: Label, end: Label) -> None:
    """A field of a named tuple: its cotangent is a part of that of the tuple."""
    back, d = instr.operands[:2]
    other = Label()
    depth = e.depth
    _first(e, back)
    e.out("LOAD_CONST", in_field)
    e.out("IS_OP", 0)
    e.jump_if("FALSE", other)
    e.load(d)
    e.store(instr.results[-1])
    store_none(e, instr.results[:-1])
    jump(e, end)
    e.label(other, depth)


def _undo_of_container(e: Emitter, instr: Operation, none: Label, end: Label) -> None:
    """The pullback of methods of lists and deques is the position."""
    back, d, shadows, x, last, shadow = instr.operands
    results, wanted = instr.results, instr.attrs["wanted"]
    name = instr.attrs["inline"]
    other = Label()
    depth = e.depth
    type_of(e, back)
    e.out("LOAD_CONST", int)
    e.out("IS_OP", 0)
    e.jump_if("FALSE", other)
    _look_up(e, shadows, x, "items", last, shadow)
    if name == "append":
        rotated, taken = Label(), Label()
        e.load(back)
        e.out("LOAD_CONST", 0)
        e.out("COMPARE_OP", Compare.LT)
        e.jump_if("TRUE", rotated)
        _take_part(e, shadow, back, True, last=True)
        e.label(taken, depth + 1)
        with e.aside():
            e.label(rotated, depth)
            call_method(e, shadows, "undo_rotation", shadow, back)
            jump(e, taken)
        if 1 in wanted:
            e.store(results[wanted.index(1)])
        else:
            e.out("POP_TOP")
        store_none(e, [r for r, k in zip(results, wanted, strict=True) if k != 1])
        jump(e, end)
    else:
        if name == "popleft":
            call_method(e, shadow, "insert", lambda: e.out("LOAD_CONST", 0), d)
        else:
            call_method(e, shadows, "put_back", shadow, back, d)
        e.out("POP_TOP")
        jump(e, none)
    e.label(other, depth)


def _first(e: Emitter, back: Value) -> None:
    e.load(back)
    e.out("LOAD_CONST", 0)
    e.out("BINARY_SUBSCR")


def _begin_rare(e: Emitter, rare: Value, number: int) -> None:
    """Begin the call of a pullback that was recorded rarely, which is its first argument."""
    if not PY313:
        e.out("PUSH_NULL")
    e.load(rare)
    e.out("LOAD_CONST", number)
    e.out("BINARY_SUBSCR")
    e.out("COPY", 1)
    e.out("LOAD_CONST", 0)
    e.out("BINARY_SUBSCR")
    e.out("SWAP", 2)
    if PY313:
        e.out("PUSH_NULL")
        e.out("SWAP", 2)


def _slope(
    e: Emitter, back: Value, d: Value, results: list[Value], wanted: tuple[int, ...], none: Label, end: Label
) -> None:
    """The pullback may be a float: the slope by the only argument."""
    other = Label()
    type_of(e, back)
    e.out("LOAD_CONST", float)
    e.out("IS_OP", 0)
    depth = e.depth - 1
    e.jump_if("FALSE", other)
    if is_none(d) or not results:
        jump(e, none)
    else:
        e.load(d)
        jump_if_none(e, none)
        for k in wanted:
            if k == 1:
                e.load(d)
                e.load(back)
                operator(e, "mul")
            else:
                e.out("LOAD_CONST", None)
        for r in reversed(results):
            e.store(r)
        jump(e, end)
    e.label(other, depth)


@operation
def op_rule(e: Emitter, tree: Tree) -> None:
    instr = tree.operation
    e.set_position(instr.position)
    function, d, y, *operands = instr.operands
    none, end = Label(), Label()
    depth = e.depth
    e.load(d)
    jump_if_none(e, none)
    if "expressions" in instr.attrs:
        leaves = {"d": d, "y": y, **dict(enumerate(operands))}
        _expressions(e, instr.attrs["expressions"], leaves, instr.results)
        jump(e, end)
    else:
        call_function(e, function, [d, y, *operands])
        _items(e, instr.results, instr.attrs["wanted"], end)
    e.label(none, depth)
    store_none(e, instr.results)
    e.label(end, depth)


@operation
def op_cotangents(e: Emitter, tree: Tree) -> None:
    instr = tree.operation
    end = Label()
    e.push(tree, 0)
    depth = e.depth - 1
    _items(e, instr.results, instr.attrs["wanted"], end)
    store_none(e, instr.results)
    e.label(end, depth)


@operation
def op_accumulate(e: Emitter, tree: Tree) -> None:
    instr = tree.operation
    function, a, b, *rare = instr.operands
    numbers = instr.attrs.get("numbers", False)
    if instr.attrs.get("brief"):
        call_function(e, function, [a, b])
        e.store(instr.result)
        return
    plain, slow, end = Label(), Label(), Label()
    depth = e.depth
    given_a, given_b = instr.attrs.get("given", (False, False))
    copies: list[tuple[Label, Value]] = []
    for given, tested, alone in ((given_b, b, a), (given_a, a, b)):
        if not given:
            there = e.are_one(alone, instr.result)
            label = end if there else Label()
            e.load(tested)
            jump_if_none(e, label)
            if not there:
                copies.append((label, alone))
    if not numbers:
        if rare:
            e.load(rare[0])
            jump_if_none(e, plain)
        type_of(e, a)
        e.out("LOAD_CONST", float)
        e.out("IS_OP", 0)
        e.jump_if("FALSE", slow)
    e.label(plain, depth)
    e.load(a)
    e.load(b)
    operator(e, "add")
    e.store(instr.result)
    with e.aside():
        e.label(slow, depth)
        call_function(e, function, [a, b])
        e.store(instr.result)
        jump(e, end)
        for label, v in copies:
            e.label(label, depth)
            e.load(v)
            e.store(instr.result)
            jump(e, end)
    e.label(end, depth)


@operation
def op_join(e: Emitter, tree: Tree) -> None:
    """The cotangents of items of what may be a tuple: if there are any, a function adds them to the tuple's."""
    instr = tree.operation
    function, d, x, places, *parts = instr.operands
    some, end = Label(), Label()
    depth = e.depth
    for part in parts:
        if not is_none(part):
            e.load(part)
            jump_if_none(e, some, negated=True)
    e.load(d)
    e.store(instr.result)
    jump(e, end)
    e.label(some, depth)
    call_function(e, function, [d, x, places, *parts])
    e.store(instr.result)
    e.label(end, depth)


@operation
def op_nothing_looked_up(e: Emitter, tree: Tree) -> None:
    """Variables for the object whose shadow was looked up last, and its shadow: what wants a shadow writes them."""
    for r in tree.operation.results:
        e.out("LOAD_CONST", None)
        e.store(r)


OPS = frozenset({"pull", "rule", "cotangents", "accumulate", "join", "nothing_looked_up"})
