"""Lowering of recorded operations: calls. What is called is found by the place, by what is known of a method, or written out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING

from bytecode import Compare, Label
from bytecode.instr import TryBegin, TryEnd

from ..ir.core import Const, Value
from ..ir.core import Instr as Operation
from ..ir.types import I64, OBJECT
from .opcodes import PY312, PY313, Tree
from .phrases import (
    HASHED,
    begin_call,
    call_function,
    call_method,
    expression_of,
    get_attribute,
    go_if_is,
    go_unless_is,
    go_unless_same,
    go_unless_type,
    go_unless_type_in,
    item_at,
    jump,
    jump_if_none,
    length,
    operator,
    type_of,
)
from .pullbacks import KNOWN_AT, PLAIN, VIEWED
from .recorded import store_rarely
from .recorded_accesses import append

if TYPE_CHECKING:
    from .python import Emitter


_ID = Const(id, OBJECT)


def find_callee(e: Emitter, tree: Tree) -> None:
    """What to call: the forward half that the site remembers, if it is for the same callable, or for a bound method of the same
    function (then its `self` is the first argument), else what `find` gives.  Of an attribute that is only called, what is known
    of the method."""
    find, callee, *arguments, site = tree.operation.operands
    read = "method" in tree.operation.attrs
    unknown, function, other, end = Label(), Label(), Label(), Label()
    depth = e.depth

    def remembered(k: int) -> Callable[[], None]:
        return lambda: item_at(e, site, k)

    def bound() -> None:
        go_unless_type(e, callee, MethodType, function)
        go_unless_same(e, lambda: get_attribute(e, callee, "__func__"), remembered(2), function)
        item_at(e, site, 3)
        get_attribute(e, callee, "__self__")
        jump(e, end)
        e.label(function, depth)

    if read:
        *arguments, site, direct, receiver = [*arguments, site]
        e.load(direct)
        jump_if_none(e, other)
        e.load(direct)
        e.load(receiver)
    else:
        go_unless_same(e, callee, remembered(0), other)
        begin_call(e, remembered(1))
    with e.aside():
        e.label(other, depth)
        bound()
        if read:
            go_unless_same(e, callee, remembered(0), unknown)
            begin_call(e, remembered(1))
            jump(e, end)
            e.label(unknown, depth)
        names = tree.operation.attrs.get("names")  # of the last arguments
        if not read and names is None:
            strange, passing = Label(), Label()
            item_at(e, site, KNOWN_AT)
            if PY313:
                e.to_bool()
            e.jump_if("FALSE", passing)
            call_method(e, lambda: item_at(e, site, KNOWN_AT), "get", lambda: call_function(e, _ID, [callee]))
            e.out("COPY", 1)
            jump_if_none(e, strange)
            e.out("PUSH_NULL")
            if not PY313:
                e.out("SWAP", 2)
            jump(e, end)
            e.label(strange, depth + 1)
            e.out("POP_TOP")
            e.label(passing, depth)
        about = Const(len(arguments), I64) if names is None else Const(names, OBJECT)
        begin_call(e, lambda: call_function(e, find, [callee, site, about]))
        jump(e, end)
    e.label(end, depth + 2)


def read_method(e: Emitter, instr: Operation, operands: list[Value]) -> None:
    """An attribute that is only called: where its table knows what such a call is, that takes the place of the attribute."""
    function = instr.operands[0]
    x, name, table = operands
    value, method = instr.results
    assert isinstance(name, Const)
    slow, known, end = Label(), Label(), Label()
    depth = e.depth
    if "module" in instr.attrs:
        other = Label()
        go_unless_is(e, x, instr.attrs["module"], other)
        get_attribute(e, x, name.value)
        e.store(value)
        e.out("LOAD_CONST", None)
        e.store(method)
        jump(e, end)
        e.label(other, depth)
    call_method(e, table, "get", lambda: type_of(e, x))
    e.out("COPY", 1)
    e.store(method)
    jump_if_none(e, slow)
    own, of_builtin = Label(), Label()
    if instr.attrs["checked"]:
        for _, handler in instr.attrs["handlers"][:1]:
            go_if_is(e, method, handler, of_builtin)
    go_if_is(e, method, PLAIN, known)
    if instr.attrs["checked"]:
        _go_if_own(e, x, name.value, value, own)
        e.label(of_builtin, depth)
    e.out("LOAD_CONST", None)
    e.store(value)
    with e.aside():
        if instr.attrs["checked"]:
            e.label(own, depth + 1)
            e.out("POP_TOP")
            e.out("LOAD_CONST", None)
            e.store(method)
            jump(e, slow)
        e.label(known, depth)
        get_attribute(e, x, name.value)
        e.store(value)
        e.out("LOAD_CONST", None)
        e.store(method)
        jump(e, end)
        e.label(slow, depth)
        call_function(e, function, [x, name, table])
        store_rarely(e, instr, instr.operands[-1], [value])
        jump(e, end)
    e.label(end, depth)


def _go_if_own(e: Emitter, x: Value, name: str, free: Value, own: Label) -> None:
    """Go on where an attribute is a function of the object's class; at `own`, with an exception on the stack, where the object has
    one of its own. (For that CPython leaves NULL on the stack, which nothing but a variable takes: this is then unbound.)"""
    slot = e.slots.name_of[free]
    e.load(x)
    e.out(*(("LOAD_ATTR", (True, name)) if PY312 else ("LOAD_METHOD", name)))
    if PY313:  # it is above the attribute, in the place of the object
        e.out("STORE_FAST", slot)
        e.out("POP_TOP")
    else:
        e.out("POP_TOP")
        e.out("STORE_FAST", slot)
    region = TryBegin(own, push_lasti=False, stack_depth=e.depth + (e.resident is not None))
    e.sink.append(region)
    e.out("LOAD_FAST_CHECK" if PY312 else "LOAD_FAST", slot)
    e.sink.append(TryEnd(region))
    e.out("POP_TOP")


def call_of_container(e: Emitter, tree: Tree, end: Label) -> None:
    """Methods of lists and deques, if that is what the method is; else the call comes behind. The pullback is a position, below zero
    if something fell out at the other end."""
    instr = tree.operation
    result, back = instr.results
    *_, direct, x = instr.operands
    name = instr.attrs["inline"]
    depth = e.depth
    for cls, handler in instr.attrs["handlers"]:
        other = Label()
        go_unless_is(e, direct, handler, other)
        if name == "append":
            value = instr.operands[2]
            if cls is deque:
                _append_to_deque(e, x, value, result, back, end, other)
            else:
                append(e, x, lambda value=value: e.load(value))
            e.store(back)
            e.out("LOAD_CONST", None)
        else:
            call_method(e, x, name)
            if name == "popleft":
                e.out("LOAD_CONST", 0)
            else:
                length(e, x)
            e.store(back)
        e.store(result)
        jump(e, end)
        e.label(other, depth)


def call_of_view(e: Emitter, instr: Operation, end: Label) -> None:
    """A view of a dict that only a loop goes through, if that is what the call gives: the dict takes its place. Else the call comes
    behind."""
    *_, direct, x = instr.operands
    result, back = instr.results
    other = Label()
    depth = e.depth
    go_unless_is(e, direct, instr.attrs["view"], other)
    go_unless_type(e, x, dict, other)
    e.load(x)
    e.store(result)
    e.out("LOAD_CONST", VIEWED)
    e.store(back)
    jump(e, end)
    e.label(other, depth)


def call_of_get(e: Emitter, instr: Operation, end: Label) -> None:
    """`get` of a dict, if that is what the method is; else the call comes behind. The pullback is that of an item that is there, or
    says that the default was given."""
    handler, run_item, missing, default_back = instr.attrs["get"]
    _, _, key, *default, _, direct, x = instr.operands
    result, back = instr.results
    other, absent = Label(), Label()
    depth = e.depth
    go_unless_is(e, direct, handler, other)
    go_unless_type(e, x, dict, other)
    if not isinstance(key, Const):
        go_unless_type_in(e, key, HASHED, other)
    call_method(e, x, "get", key, lambda: e.out("LOAD_CONST", missing))
    e.out("COPY", 1)
    e.out("LOAD_CONST", missing)
    e.out("IS_OP", 0)
    e.jump_if("TRUE", absent)
    # (A result may share its slot with an operand.)
    e.out("LOAD_CONST", run_item)
    e.load(x)
    e.load(key)
    e.out("BUILD_TUPLE", 3)
    e.store(back)
    e.store(result)
    jump(e, end)
    with e.aside():
        e.label(absent, depth + 1)
        e.out("POP_TOP")
        e.out("LOAD_CONST", None) if not default else e.load(default[0])
        e.out("LOAD_CONST", None if not default or isinstance(default[0], Const) else default_back)
        e.store(back)
        e.store(result)
        jump(e, end)
    e.label(other, depth)


def _append_to_deque(e: Emitter, x: Value, value: Value, result: Value, back: Value, end: Label, other: Label) -> None:
    """Append, and leave the position on the stack. A full deque lets go of its first item."""
    full = Label()
    depth = e.depth
    length(e, x)
    get_attribute(e, x, "maxlen")
    e.out("COMPARE_OP", Compare.EQ)
    e.jump_if("TRUE", full)
    length(e, x)
    call_method(e, x, "append", value)
    e.out("POP_TOP")
    with e.aside():
        e.label(full, depth)
        length(e, x)
        e.out("LOAD_CONST", 0)
        e.out("COMPARE_OP", Compare.GT)
        e.jump_if("FALSE", other)
        length(e, x)
        operator(e, "neg")
        call_method(e, x, "append", value)
        e.out("POP_TOP")
        e.store(back)
        e.out("LOAD_CONST", None)
        e.store(result)
        jump(e, end)


def call_elementary(e: Emitter, instr: Operation, end: Label) -> None:
    """A function of a float whose slope is written out, if that is what is called; else the call comes behind."""
    written = instr.attrs["elementary"]
    _, callee, *arguments = instr.operands
    *arguments, site = arguments[: -2 if "method" in instr.attrs else None]
    result, back = instr.results
    undone, dropped, other = Label(), Label(), Label()
    depth = e.depth
    go_unless_is(e, callee, written.function, other)
    go_unless_is(e, lambda: item_at(e, site, 1), written.handler, other)
    go_unless_type(e, arguments[0], float, other)
    call_function(e, Const(written.function, OBJECT), arguments)
    # The value stays on the stack: it may share its slot with an argument.
    leaves = {"y": lambda: e.out("COPY", e.depth - depth), **dict(enumerate(arguments))}
    for expression in written.nonzero:
        expression_of(e, expression, leaves)
        e.out("LOAD_CONST", 0.0)
        e.out("COMPARE_OP", Compare.NE)
        e.jump_if("FALSE", dropped)
    expression_of(e, written.slope, leaves)
    # An infinite slope is minded by the function that does all of this.
    e.out("COPY", 1)
    e.out("COPY", 1)
    operator(e, "sub")
    e.out("LOAD_CONST", 0.0)
    e.out("COMPARE_OP", Compare.EQ)
    e.jump_if("FALSE", undone)
    e.store(back)
    e.store(result)
    jump(e, end)
    e.label(undone, depth + 2)
    e.out("POP_TOP")
    e.label(dropped, depth + 1)
    e.out("POP_TOP")
    e.label(other, depth)
