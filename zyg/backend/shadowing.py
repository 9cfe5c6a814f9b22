"""Lowering of pullbacks: the shadows of objects, which the code looks up and changes by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from bytecode import Compare, Label

from ..ir.core import Const, Value
from ..ir.core import Instr as Operation
from ..ir.types import OBJECT
from .phrases import (
    call_function,
    call_method,
    get_attribute,
    go_if_same,
    go_if_type,
    go_unless_real,
    go_unless_type,
    is_none,
    item_at,
    jump,
    jump_if_none,
    length,
    operator,
    store_all,
    store_none,
    subscript,
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


# Functions that most likely make the tuples that a loop goes through.
_MAKE_TUPLES = frozenset({"zip", "enumerate", "items", "pairwise", "product", "zip_longest"})


def look_up(
    e: Emitter,
    shadows: Value,
    x: Value,
    kind: str,
    last: Value,
    shadow: Value,
    unless: Callable[[], None] | None = None,
    about: Mapping[str, Any] = {},
) -> None:
    """`shadow` is that of `last`, the object that was looked up last at the places where `x` is used: let it be that of `x`.
    `unless` goes elsewhere where that has no such shadow. `about`: what is known of it, as in `autodiff/python/lookups.py`."""
    found = Label()
    depth = e.depth
    known = about.get("lookup")
    if known == "found":
        return
    if known is None:
        go_if_same(e, x, last, found)
    if unless is not None:
        unless()
    if "forgets" not in about:
        e.load(x)
        e.store(last)
    # As `items_of` and `holder_of` do where there is one.
    new, there = Label(), Label()
    found_at = "items" if kind == "items" else "holders"
    identity = lambda: call_function(e, Const(id, OBJECT), [x])
    call_method(e, lambda: get_attribute(e, shadows, found_at), "get", identity)
    e.out("COPY", 1)
    jump_if_none(e, new)
    e.label(there, depth + 1)
    e.store(shadow)
    with e.aside():
        e.label(new, depth + 1)
        e.out("POP_TOP")
        call_method(e, shadows, f"new_{kind}", x)
        jump(e, there)
    e.label(found, depth)


# How to look up the shadows of what a loop goes through: where its items have a place each; where all the items of a tuple have
# the same place, or one each; and where each place says in what it is.
_LOOK_UP = {
    ("next", False): "shadow_gone_through",
    ("next", True): "shadows_gone_through",
    ("apart", True): "shadows_apart",
    ("where", False): "says_where",
}


def go_unless_looked_up(e: Emitter, instr: Operation, other: Label) -> None:
    """Let `shadow` be that of `x`, or of what a loop goes through, as above, if it is of the kind that was likely."""
    x, shadows, last, *found = instr.operands
    of, kinds = instr.attrs["kind"]

    def unless() -> None:
        if isinstance(kinds, frozenset):
            go_unless_real(e, x, other, list, kinds)
        else:
            go_unless_type(e, x, kinds, other)

    if of == "items":
        look_up(e, shadows, x, "items", last, found[0], None if kinds is None else unless, instr.attrs)
        return
    known = Label()
    depth = e.depth
    go_if_same(e, x, last, known)
    e.load(x)
    e.store(last)
    call_method(e, shadows, _LOOK_UP[of, type(kinds) is tuple], x, lambda: e.out("LOAD_CONST", kinds))
    if type(kinds) is tuple:
        e.out("UNPACK_SEQUENCE", len(kinds))
    store_all(e, found)
    e.label(known, depth)
    e.load(found[-1])
    jump_if_none(e, other)


def _add_to_whole(
    e: Emitter, shadows: Value, x: Value, part: Value, d: Value, last: Value, shadow: Value, number: bool, tuples: bool
) -> None:
    """Add the cotangent of an item to that of what a loop went through: of a list or dict, or by a function (`x` holds it); by a
    function, if most likely its items are `tuples` that are made for it."""
    found, other, mapping, end = (Label() for _ in range(4))
    depth = e.depth
    go_if_same(e, x, last, found)
    e.load(x)
    e.store(last)

    def held() -> None:
        item_at(e, x, 1)

    call_method(e, shadows, "adder" if tuples else "gone_through", held)
    e.store(shadow)
    e.label(found, depth)
    if tuples:
        call_function(e, shadow, [part, d])
        e.out("POP_TOP")
        return
    go_unless_type(e, shadow, list, other)
    add_part(e, shadows, shadow, part, d, True, None, number)
    with e.aside():
        e.label(other, depth)
        go_if_type(e, shadow, dict, mapping)
        call_function(e, shadow, [part, d])
        e.out("POP_TOP")
        jump(e, end)
        e.label(mapping, depth)
        add_part(e, shadows, shadow, part, d, False, None, number)
        jump(e, end)
    e.label(end, depth)


def access(e: Emitter, instr: Operation, none: Label, end: Label) -> bool:
    """What was read plainly gets its cotangent into the shadow, what was written takes it out. Whether control is still there: the
    results are stored."""
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
        return False

    if kind.startswith("get"):
        if not is_none(d):
            if not instr.attrs.get("given"):
                e.load(d)
                jump_if_none(e, none)
            elsewhere = Label()
            depth = e.depth

            def unless_tuple() -> None:
                go_if_type(e, x, tuple, elsewhere)

            if kind == "get_next" and "shadow" not in instr.attrs:
                tuples = instr.attrs["over"] in _MAKE_TUPLES
                _add_to_whole(e, shadows, x, part, d, last, shadow, instr.attrs.get("number", False), tuples)
                jump(e, none)
                return False
            if "called" in instr.attrs and results:
                _give_to_self(e, x, d, results[0], end)
            unless = unless_tuple if kind == "getitem" and position is None else None
            if "shadow" not in instr.attrs:
                look_up(e, shadows, x, which, last, shadow, unless, instr.attrs)
            add_part(e, shadows, shadow, part, d, position, attribute, instr.attrs.get("number", False))
            if unless is not None:
                jump(e, none)
                e.label(elsewhere, depth)
                if "component" in instr.attrs:
                    e.load(d)
                    e.store(instr.results[-1])
                    store_none(e, results)
                    jump(e, end)
                    return False
                elif 0 in wanted:
                    call_method(e, shadows, "in_tuple", d, key, lambda: length(e, x))
                    e.store(results[wanted.index(0)])
                    store_none(e, [r for r, k in zip(results, wanted, strict=True) if k != 0])
                    jump(e, end)
                    return False
        jump(e, none)
        return False
    if "shadow" not in instr.attrs:
        look_up(e, shadows, x, which, last, shadow, about=instr.attrs)
    stays = instr.attrs.get("stays", False)
    if attribute is not None:
        get_attribute(e, shadow, attribute)
        if not stays:
            e.out("LOAD_CONST", None)
            e.load(shadow)
            e.out("STORE_ATTR", attribute)
    else:
        take_part(e, shadow, part, position, last=kind == "list_append", stays=stays)
    value = 2 if kind == "setitem" else 1
    if value in wanted:
        e.store(results[wanted.index(value)])
    else:
        e.out("POP_TOP")
    store_none(e, [r for r, k in zip(results, wanted, strict=True) if k != value])
    return True


def _give_to_self(e: Emitter, x: Value, d: Value, result: Value, end: Label) -> None:
    """The cotangent of a method that was called, and not read: that of the object, if it is a value, else that of an attribute."""
    other = Label()
    depth = e.depth
    call_function(e, Const(isinstance, OBJECT), [x, Const((tuple, float, int, complex), OBJECT)])
    e.jump_if("FALSE", other)
    e.load(d)
    e.store(result)
    jump(e, end)
    e.label(other, depth)


def add_part(
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
    mapping, read, slow, more, store, end = (Label() for _ in range(6))
    depth = e.depth
    if position is None:
        go_unless_type(e, shadow, list, mapping)
    if position is not False:
        _go_unless_within(e, shadow, part, slow)
        subscript(e, shadow, part)
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
    jump_if_none(e, more, negated=True)
    e.out("POP_TOP")
    e.load(d)
    jump(e, store)
    e.label(more, depth + 1)
    other = Label()
    if not number:
        type_on_top(e)
        e.out("LOAD_CONST", float)
        e.out("IS_OP", 0)
        e.jump_if("FALSE", other)
    e.load(d)
    operator(e, "add")
    with e.aside():
        call = Label()
        if position is not False:
            e.label(slow, depth)
            e.load(part)
            length(e, shadow)
            e.out("COMPARE_OP", Compare.EQ)
            e.jump_if("FALSE", call)
            e.load(shadow)  # a loop that went from the end comes back from the start
            e.load(d)
            e.out("LIST_APPEND", 1)
            e.out("POP_TOP")
            jump(e, end)
        e.label(other, depth + 1)
        e.out("POP_TOP")
        e.label(call, depth)
        call_method(e, shadows, "add_part", shadows, shadow, part, d)
        e.out("POP_TOP")
        jump(e, end)
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
    length(e, shadow)
    e.out("COMPARE_OP", Compare.LT)
    e.jump_if("FALSE", slow)


def take_part(e: Emitter, shadow: Value, part: Value, position: bool | None, last: bool, stays: bool = False) -> None:
    """Take the part of a shadow out and leave it on the stack; `last`: with its place. `stays`: it is there afterwards, too."""
    mapping, absent, end = Label(), Label(), Label()
    depth = e.depth
    if position is None:
        go_unless_type(e, shadow, list, mapping)
    if position is not False:
        _go_unless_within(e, shadow, part, absent)
        if last:
            call_method(e, shadow, "pop")
        else:
            subscript(e, shadow, part)
            if not stays:
                e.out("LOAD_CONST", None)
                e.load(shadow)
                e.load(part)
                e.out("STORE_SUBSCR")
        if position is None:
            jump(e, end)
        with e.aside():
            e.label(absent, depth)
            e.out("LOAD_CONST", None)
            jump(e, end)
    if position is not True:
        e.label(mapping, depth)
        if stays:
            call_method(e, shadow, "get", part)
        else:
            call_method(e, shadow, "pop", part, lambda: e.out("LOAD_CONST", None))
    e.label(end, depth + 1)
