"""Lowering of recorded operations: attributes and items, which are read and set plainly where their types are known."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from bytecode import Compare, Label

from ..ir.core import Const, Value
from ..ir.core import Instr as Operation
from ..ir.types import OBJECT
from .labels import is_label
from .opcodes import PY313, call
from .phrases import (
    HASHED,
    PLAIN_KEYS,
    call_function,
    call_method,
    get_attribute,
    go_unless_is,
    go_unless_type,
    go_unless_type_in,
    jump,
    jump_if_none,
    length,
    operator,
    subscript,
    type_of,
)
from .recorded import store_back

if TYPE_CHECKING:
    from .python import Emitter


def _getattr(e: Emitter, operands: list[Value], slow: Label, dense: bool) -> None:
    x, name, types = operands
    assert isinstance(types, Const)
    go_unless_type_in(e, x, types.value.plain, slow)
    assert isinstance(name, Const)
    if dense:
        e.out("LOAD_CONST", None)
    get_attribute(e, x, name.value)


def read_of_class(e: Emitter, instr: Operation, operands: list[Value], slow: Label) -> None:
    """A member of an enumeration, or a number that a class holds, where that is most likely this one."""
    x, name, _ = operands
    assert isinstance(name, Const)
    go_unless_is(e, x, instr.attrs["class"], slow)
    if "constants" in instr.attrs:
        e.load(x)
        e.out("LOAD_CONST", instr.attrs["constants"])
        e.out("CONTAINS_OP", 0)
        e.jump_if("FALSE", slow)
    get_attribute(e, x, name.value)


def _setattr(e: Emitter, operands: list[Value], slow: Label, dense: bool) -> None:
    x, value, name, types = operands
    assert isinstance(types, Const)
    go_unless_type_in(e, x, types.value.plain, slow)
    e.load(value)
    e.load(x)
    assert isinstance(name, Const)
    e.out("STORE_ATTR", name.value)
    if dense:
        e.out("LOAD_CONST", None)


def read_field(e: Emitter, instr: Operation, operands: list[Value], other: Label) -> None:
    """A field of a named tuple, whose pullback is known by the class; else go to `other`, with something on the stack."""
    x, name, types = operands
    value, back = instr.results
    assert isinstance(types, Const)
    assert isinstance(name, Const)
    call_method(e, Const(types.value.fields, OBJECT), "get", lambda: type_of(e, x))
    e.out("COPY", 1)
    jump_if_none(e, other)
    e.store(back)
    get_attribute(e, x, name.value)
    e.store(value)


def read_computed(e: Emitter, instr: Operation, operands: list[Value], other: Label) -> None:
    """A property, by the forward half of its function; else go to `other`, with something on the stack."""
    *arguments, _, types = operands
    assert isinstance(types, Const)
    call_method(e, Const(types.value.properties, OBJECT), "get", lambda: type_of(e, arguments[0]))
    e.out("COPY", 1)
    jump_if_none(e, other)
    e.out("PUSH_NULL")
    if not PY313:
        e.out("SWAP", 2)
    for v in arguments:
        e.load(v)
    call(e, len(arguments), ())
    e.out("UNPACK_SEQUENCE", 2)
    if len(instr.results) > 1:
        e.store(instr.results[0])
    else:
        e.out("POP_TOP")
    store_back(e, instr.results[-1])


def _go_unless_natural(e: Emitter, key: Value, slow: Label) -> None:
    if isinstance(key, Const):
        return
    go_unless_type(e, key, int, slow)
    e.load(key)
    e.out("LOAD_CONST", 0)
    e.out("COMPARE_OP", Compare.GE)
    e.jump_if("FALSE", slow)


def _type_on_stack_is(e: Emitter, t: type, label: Label) -> None:
    """Go to `label` if the type that is on the stack, and stays there, is `t`."""
    e.out("COPY", 1)
    e.out("LOAD_CONST", t)
    e.out("IS_OP", 0)
    e.jump_if("TRUE", label)


def _is_position(key: Value) -> bool:
    """Whether a key may be a position in a list."""
    return not isinstance(key, Const) or type(key.value) is int


# Items that are there are read, and set, as those of dicts.
_DICTS = frozenset({defaultdict, OrderedDict, Counter})


def _go_by_type_of_library(e: Emitter, x: Value, key: Value, ordered: Label, slow: Label) -> None:
    """Neither a list nor a dict: go on if it is one of the library's dicts, or to `ordered`, with the type on the stack, if it is a
    deque or text."""
    type_of(e, x)
    if _is_position(key):
        _type_on_stack_is(e, deque, ordered)
        _type_on_stack_is(e, str, ordered)
    e.out("LOAD_CONST", _DICTS)
    e.out("CONTAINS_OP", 0)
    e.jump_if("FALSE", slow)


def _getitem(e: Emitter, operands: list[Value], slow: Label, dense: bool) -> None:
    """An item of a list, dict or tuple; `dense`: counted from the end. Then the pullback of an item of a tuple is the tuple's
    length, that of an item of a list the position."""
    x, key = operands
    ordered, of_tuple, other, there, end = (Label() for _ in range(5))
    depth = e.depth

    def get() -> None:
        subscript(e, x, key)

    type_of(e, x)
    if _is_position(key):
        _type_on_stack_is(e, list, ordered)
        _type_on_stack_is(e, tuple, of_tuple if dense else ordered)
    e.out("LOAD_CONST", dict)
    e.out("IS_OP", 0)
    e.jump_if("FALSE", other)
    if not isinstance(key, Const):
        go_unless_type_in(e, key, HASHED, slow)
    e.label(there, depth)
    with e.aside():
        e.label(other, depth)
        _go_by_type_of_library(e, x, key, ordered, slow)
        if not isinstance(key, Const):
            go_unless_type_in(e, key, HASHED, slow)
        e.load(key)
        e.load(x)
        e.out("CONTAINS_OP", 0)
        e.jump_if("FALSE", slow)
        jump(e, there)
    if dense:
        e.out("LOAD_CONST", None)
    get()
    if _is_position(key):
        jump(e, end)
        if dense:
            e.label(of_tuple, depth + 1)
            e.out("POP_TOP")
            length(e, x)
            get()
            jump(e, end)
        e.label(ordered, depth + 1)
        e.out("POP_TOP")
        if dense:
            length(e, x)
            e.load(key)
            operator(e, "add")
        else:
            _go_unless_natural(e, key, slow)
        get()
    e.label(end, depth + 1 + dense)


def _go_unless_label(e: Emitter, key: Value, slow: Label) -> None:
    """Go on if a key carries no derivative, and is compared without code."""
    other, known = Label(), Label()
    depth = e.depth
    go_unless_type_in(e, key, PLAIN_KEYS, other)
    e.label(known, depth)
    with e.aside():
        e.label(other, depth)
        call_function(e, Const(is_label, OBJECT), [key])
        e.jump_if("FALSE", slow)
        jump(e, known)


def _setitem(e: Emitter, operands: list[Value], slow: Label, dense: bool) -> None:
    """An item of a list or dict."""
    x, key, value = operands
    ordered, other, of_dict, store = (Label() for _ in range(4))
    depth = e.depth
    if isinstance(key, Const) and type(key.value) is int and key.value < 0:
        jump(e, slow)
        return
    type_of(e, x)
    if _is_position(key):
        _type_on_stack_is(e, list, ordered)
    e.out("LOAD_CONST", dict)
    e.out("IS_OP", 0)
    e.jump_if("FALSE", other)
    e.label(of_dict, depth)
    with e.aside():
        e.label(other, depth)
        _go_by_type_of_library(e, x, key, ordered, slow)
        jump(e, of_dict)
    if not isinstance(key, Const):
        _go_unless_label(e, key, slow)
    if _is_position(key):
        jump(e, store)
        e.label(ordered, depth + 1)
        e.out("POP_TOP")
        _go_unless_natural(e, key, slow)
    e.label(store, depth)
    for v in (value, x, key):
        e.load(v)
    e.out("STORE_SUBSCR")


def _unpack(e: Emitter, operands: list[Value], slow: Label, dense: bool) -> None:
    """A tuple."""
    x, count = operands
    assert isinstance(count, Const)
    go_unless_type(e, x, tuple, slow)
    e.load(x)
    e.out("UNPACK_SEQUENCE", count.value)


def ask_length(e: Emitter, instr: Operation, operands: list[Value], slow: Label) -> None:
    """What is called is `len`, most likely, and its argument of a type that runs no Python code for it."""
    callee, x = operands
    go_unless_is(e, callee, len, slow)
    go_unless_type_in(e, x, instr.attrs["types"], slow)
    length(e, x)


def ask_for_class(e: Emitter, instr: Operation, operands: list[Value], slow: Label) -> None:
    """What is called is `isinstance`, most likely, of classes without a metaclass, and of what is asked without running code."""
    callee, x, cls, *parts = operands
    go_unless_is(e, callee, isinstance, slow)
    for part in parts or [cls]:
        go_unless_type(e, part, type, slow)
    go_unless_type_in(e, x, instr.attrs["types"], slow)
    call_function(e, Const(isinstance, OBJECT), [x, cls])


def match_nothing(e: Emitter, instr: Operation, operands: list[Value], slow: Label) -> None:
    """A class pattern that does not match: what is asked for its class runs no code, and is of another one, most likely."""
    subject, cls, *_ = operands
    go_unless_type(e, cls, type, slow)
    go_unless_type_in(e, subject, instr.attrs["types"], slow)
    call_function(e, Const(isinstance, OBJECT), [subject, cls])
    e.jump_if("TRUE", slow)
    e.out("LOAD_CONST", None)


def end_loop(e: Emitter, instr: Operation, operands: list[Value], slow: Label) -> None:
    """A loop is over: its iterator is one whose steps run no Python code, most likely."""
    (iterator,) = operands
    go_unless_type_in(e, iterator, instr.attrs["types"], slow)
    e.out("LOAD_CONST", None)


def append(e: Emitter, x: Value, value: Callable[[], None]) -> None:
    """Append to a list, and leave the position on the stack."""
    length(e, x)
    e.load(x)
    value()
    e.out("LIST_APPEND", 1)
    e.out("POP_TOP")


def _list_append(e: Emitter, operands: list[Value], slow: Label, dense: bool) -> None:
    """Its pullback is the index of the item."""
    x, value = operands
    go_unless_type(e, x, list, slow)
    append(e, x, lambda: e.load(value))


DIRECT = {
    "list_append": _list_append,
    "getattr": _getattr, "setattr": _setattr, "getitem": _getitem, "setitem": _setitem,
    "unpack": _unpack,
}  # fmt: skip
