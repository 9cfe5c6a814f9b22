"""Lowering of what the adjoint pass adds to forward halves: recorded operations, and the tape.

Operators on floats, items, attributes and methods of lists are written out under a test, so that they cost no call.  The tape is
a list; it is read by an iterator over it from the end, which each run of a reverse half makes for itself.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Set
from types import MethodType
from typing import TYPE_CHECKING

from bytecode import Compare, Label

from ..ir.analysis import components
from ..ir.core import Block, Const, Function, Value
from ..ir.core import Instr as Operation
from ..ir.types import I64, OBJECT
from . import pulling
from .opcodes import PY312, PY313, Tree, call, convert_value, format_value
from .phrases import (
    HASHED,
    PLAIN_KEYS,
    REALS,
    begin_call,
    call_function,
    call_method,
    expression_of,
    get_attribute,
    go_unless_type,
    jump,
    jump_if_none,
    length,
    operation,
    operator,
    query,
    store_all,
    type_of,
)
from .pulling import nothing

if TYPE_CHECKING:
    from .python import Emitter


# What is known of methods that are read as attributes, and then called.
PLAIN = "read plainly"


# None is the pullback of an operator that was run plainly.
NOTHING = (nothing,)


def loads_twice(instr: Operation, k: int) -> bool:
    """Whether the code of an instruction loads operand `k` more than once, so that it has to be in a slot."""
    if instr.op == "record":
        if instr.attrs["of"] == "call_object":
            written = not {"inline", "elementary"}.isdisjoint(instr.attrs)
            return k == 1 or written or ("method" in instr.attrs and k >= len(instr.operands) - 2)
        return "direct" in instr.attrs
    return instr.op in ("item", "pull", "rule", "accumulate", "join", "nothing_recorded", "typed", "looked_up", "switch")


def go_unless_real(e: Emitter, value: Value, slow: Label, likely: type = float, types: Set[type] = REALS) -> None:
    """Go on if the value is exactly a float, int or bool (or of another one of `types`), else at `slow`."""
    if isinstance(value, Const):
        if type(value.value) not in types:
            jump(e, slow)
        return
    real, other = Label(), Label()
    type_of(e, value)
    e.out("LOAD_CONST", likely)
    e.out("IS_OP", 0)
    depth = e.depth - 1
    e.jump_if("FALSE", other)
    e.label(real, depth)
    with e.aside():
        e.label(other, depth)
        type_of(e, value)
        e.out("LOAD_CONST", types)
        e.out("CONTAINS_OP", 0)
        e.jump_if("FALSE", slow)
        jump(e, real)


@operation
def op_record(e: Emitter, tree: Tree) -> None:
    instr = tree.operation
    e.set_position(instr.position)
    function, *operands = instr.operands
    direct = instr.attrs.get("direct")
    rare = None
    flags: list[Value] = []
    if "rare" in instr.attrs:
        rare = operands.pop()
        flags = [operands.pop() for _ in range(instr.attrs.get("flags", 0))]
    end = Label()
    if direct == "method":
        _read_method(e, instr, operands)
        return
    if direct is not None:
        slow = Label()
        depth = e.depth
        # It leaves the pullback (unless that is recorded rarely), and the results above it.
        if "plain" in instr.attrs:
            _direct_query(e, instr, operands, flags, slow)
        elif direct in _DIRECT:
            _DIRECT[direct](e, operands, slow, rare is None)
        else:
            _direct_operator(e, instr, operands, flags, slow)
        for r in instr.results:
            e.store(r)
        with e.aside():
            e.label(slow, depth)
            if rare is None and direct in ("getattr", "setattr"):
                _computed_attribute(e, instr, operands, end)
            call_function(e, function, operands)
            if rare is not None:
                _store_rarely(e, instr, rare, instr.results)
            else:
                _store_recorded(e, instr)
            jump(e, end)
        e.label(end, depth)
        return
    elif instr.attrs["of"] == "call_object":
        if "inline" in instr.attrs:
            _call_of_container(e, tree, end)
        if "elementary" in instr.attrs:
            _elementary(e, instr, end)
        _find_callee(e, tree)
        count = len(operands) - (4 if "method" in instr.attrs else 2)
        for k in range(2, 2 + count):
            e.push(tree, k)
        e.set_position(instr.position)
        call(e, count, ())
    else:
        begin_call(e, lambda: e.load(function))
        for k in range(1, len(operands) + 1):
            e.push(tree, k)
        e.set_position(instr.position)
        call(e, len(operands), ())
    _unpack_results(e, instr)
    e.store(instr.results[-1])
    if "inline" in instr.attrs or "elementary" in instr.attrs:
        e.label(end, e.depth)


def _unpack_results(e: Emitter, instr: Operation) -> None:
    """Store what a run-time function gave, but for the pullback."""
    if len(instr.results) > 1:
        e.out("UNPACK_SEQUENCE", len(instr.results))
        store_all(e, instr.results[:-1])


def _store_recorded(e: Emitter, instr: Operation) -> None:
    """Store what a run-time function gave of an operation that was not done plainly."""
    _unpack_results(e, instr)
    _store_back(e, instr.results[-1])


def _call_of_container(e: Emitter, tree: Tree, end: Label) -> None:
    """Methods of lists and deques, if that is what the method is; else the call comes behind. The pullback is a position, below zero
    if something fell out at the other end."""
    instr = tree.operation
    result, back = instr.results
    *_, direct, x = instr.operands
    name = instr.attrs["inline"]
    depth = e.depth
    for cls, handler in instr.attrs["handlers"]:
        other = Label()
        e.load(direct)
        e.out("LOAD_CONST", handler)
        e.out("IS_OP", 0)
        e.jump_if("FALSE", other)
        if name == "append":
            value = instr.operands[2]
            if cls is deque:
                _append_to_deque(e, x, value, result, back, end, other)
            else:
                _append(e, x, lambda value=value: e.load(value))
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


def _elementary(e: Emitter, instr: Operation, end: Label) -> None:
    """A function of a float whose slope is written out, if that is what is called; else the call comes behind."""
    written = instr.attrs["elementary"]
    _, callee, *arguments = instr.operands
    *arguments, site = arguments[: -2 if "method" in instr.attrs else None]
    result, back = instr.results
    undone, dropped, other = Label(), Label(), Label()
    depth = e.depth
    e.load(callee)
    e.out("LOAD_CONST", written.function)
    e.out("IS_OP", 0)
    e.jump_if("FALSE", other)
    e.load(site)
    e.out("LOAD_CONST", 1)
    e.out("BINARY_SUBSCR")
    e.out("LOAD_CONST", written.handler)
    e.out("IS_OP", 0)
    e.jump_if("FALSE", other)
    go_unless_type(e, arguments[0], lambda: e.out("LOAD_CONST", float), "IS_OP", other)
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


def _read_method(e: Emitter, instr: Operation, operands: list[Value]) -> None:
    """An attribute that is only called: where its table knows what such a call is, that takes the place of the attribute."""
    function = instr.operands[0]
    x, name, table = operands
    value, method = instr.results
    assert isinstance(name, Const)
    slow, known, end = Label(), Label(), Label()
    depth = e.depth
    if "module" in instr.attrs:
        other = Label()
        e.load(x)
        e.out("LOAD_CONST", instr.attrs["module"])
        e.out("IS_OP", 0)
        e.jump_if("FALSE", other)
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
    e.load(method)
    e.out("LOAD_CONST", PLAIN)
    e.out("IS_OP", 0)
    e.jump_if("TRUE", known)
    e.out("LOAD_CONST", None)
    e.store(value)
    with e.aside():
        e.label(known, depth)
        e.load(x)
        e.out("LOAD_ATTR", (False, name.value) if PY312 else name.value)
        e.store(value)
        e.out("LOAD_CONST", None)
        e.store(method)
        jump(e, end)
        e.label(slow, depth)
        call_function(e, function, [x, name, table])
        _store_rarely(e, instr, instr.operands[-1], [value])
        jump(e, end)
    e.label(end, depth)


def _store_rarely(e: Emitter, instr: Operation, rare: Value, results: list[Value]) -> None:
    """What a run-time function gave is on the stack: store the results, and the pullback among what is recorded rarely."""
    some = Label()
    if results:
        e.out("UNPACK_SEQUENCE", 1 + len(results))
        store_all(e, results)
    recorded, end = Label(), Label()
    e.out("COPY", 1)
    depth = e.depth - 1
    jump_if_none(e, recorded, negated=True)
    e.out("POP_TOP")
    if "plain" in instr.attrs:  # it carries nothing, if done plainly or not
        jump(e, end)
    else:
        e.out("LOAD_CONST", NOTHING)
    e.label(recorded, depth)
    e.load(rare)
    jump_if_none(e, some, negated=True)
    e.out("BUILD_MAP", 0)
    e.store(rare)
    e.label(some, depth)
    e.load(rare)
    e.out("LOAD_CONST", instr.attrs["rare"])
    e.out("STORE_SUBSCR")
    e.label(end, depth - 1)


def _store_back(e: Emitter, back: Value) -> None:
    """Store a pullback; what was recorded by a function has one that is not None."""
    recorded = Label()
    e.out("COPY", 1)
    depth = e.depth - 1
    jump_if_none(e, recorded, negated=True)
    e.out("POP_TOP")
    e.out("LOAD_CONST", NOTHING)
    e.label(recorded, depth)
    e.store(back)


def _find_callee(e: Emitter, tree: Tree) -> None:
    """What to call: the forward half that the site remembers, if it is for the same callable, or for a bound method of the same
    function (then its `self` is the first argument), else what `find` gives.  Of an attribute that is only called, what is known
    of the method."""
    find, callee, *arguments, site = tree.operation.operands
    read = "method" in tree.operation.attrs
    unknown, function, other, end = Label(), Label(), Label(), Label()
    depth = e.depth

    def remembered(k: int) -> None:
        e.load(site)
        e.out("LOAD_CONST", k)
        e.out("BINARY_SUBSCR")

    def alone(load: Callable[[], None]) -> None:
        """A callable without `self`."""
        if not PY313:
            e.out("PUSH_NULL")
        load()
        if PY313:
            e.out("PUSH_NULL")

    def bound() -> None:
        type_of(e, callee)
        e.out("LOAD_CONST", MethodType)
        e.out("IS_OP", 0)
        e.jump_if("FALSE", function)
        e.load(callee)
        e.out("LOAD_ATTR", (False, "__func__") if PY312 else "__func__")
        remembered(2)
        e.out("IS_OP", 0)
        e.jump_if("FALSE", function)
        remembered(3)
        e.load(callee)
        e.out("LOAD_ATTR", (False, "__self__") if PY312 else "__self__")
        jump(e, end)
        e.label(function, depth)

    if read:
        *arguments, site, direct, receiver = [*arguments, site]
        e.load(direct)
        jump_if_none(e, other)
        e.load(direct)
        e.load(receiver)
    else:
        e.load(callee)
        remembered(0)
        e.out("IS_OP", 0)
        e.jump_if("FALSE", other)
        alone(lambda: remembered(1))
    with e.aside():
        e.label(other, depth)
        bound()
        if read:
            e.load(callee)
            remembered(0)
            e.out("IS_OP", 0)
            e.jump_if("FALSE", unknown)
            alone(lambda: remembered(1))
            jump(e, end)
            e.label(unknown, depth)
        alone(lambda: call_function(e, find, [callee, site, Const(len(arguments), I64)]))
        jump(e, end)
    e.label(end, depth + 2)


def _direct_operator(e: Emitter, instr: Operation, operands: list[Value], flags: list[Value], slow: Label) -> None:
    """An operator on real numbers: on those that have been found to be, where nothing was recorded, and those tested here."""
    # (The flags were put in front of what is recorded rarely, and taken off in the opposite order.)
    for flag, flagged in zip(reversed(flags), instr.attrs["flagged"], strict=True):
        known = Label()
        depth = e.depth
        e.load(flag)
        jump_if_none(e, known)
        for k in flagged:
            go_unless_real(e, operands[k], slow)
        e.label(known, depth)
    for k in instr.attrs["tests"]:
        go_unless_real(e, operands[k], slow, int if k in instr.attrs["ints"] else float)
    for v in operands:
        e.load(v)
    operator(e, instr.attrs["direct"])


def _direct_query(e: Emitter, instr: Operation, operands: list[Value], flags: list[Value], slow: Label) -> None:
    """A comparison or the like, of operands that run no Python code: of real numbers as above, or of types attrs["plain"]."""
    for flag in flags:
        e.load(flag)
        jump_if_none(e, slow, negated=True)
    # What is compared with a text is one, most likely.
    likely = next((str for v in operands if isinstance(v, Const) and type(v.value) is str), float)
    for k in instr.attrs["tests"]:
        go_unless_real(e, operands[k], slow, int if k in instr.attrs["ints"] else likely, instr.attrs["plain"][k])
    op = instr.attrs["direct"]
    if op in ("format", "convert"):
        x, *spec, conversion = operands
        assert isinstance(conversion, Const)
        e.load(x)
        if op == "convert":
            convert_value(e, conversion.value)
        else:
            format_value(e, conversion.value, (lambda: e.load(spec[0])) if spec else None)
        return
    for v in operands:
        e.load(v)
    query(e, op)


def _direct_getattr(e: Emitter, operands: list[Value], slow: Label, dense: bool) -> None:
    x, name, types = operands
    assert isinstance(types, Const)
    go_unless_type(e, x, lambda: e.out("LOAD_CONST", types.value.plain), "CONTAINS_OP", slow)
    assert isinstance(name, Const)
    if dense:
        e.out("LOAD_CONST", None)
    get_attribute(e, x, name.value)


def _direct_setattr(e: Emitter, operands: list[Value], slow: Label, dense: bool) -> None:
    x, value, name, types = operands
    assert isinstance(types, Const)
    go_unless_type(e, x, lambda: e.out("LOAD_CONST", types.value.plain), "CONTAINS_OP", slow)
    e.load(value)
    e.load(x)
    assert isinstance(name, Const)
    e.out("STORE_ATTR", name.value)
    if dense:
        e.out("LOAD_CONST", None)


def _computed_attribute(e: Emitter, instr: Operation, operands: list[Value], end: Label) -> None:
    """A property, by the forward half of its function; else the general way comes behind."""
    *arguments, _, types = operands
    assert isinstance(types, Const)
    other = Label()
    depth = e.depth
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
    _store_back(e, instr.results[-1])
    jump(e, end)
    e.label(other, depth + 1)
    e.out("POP_TOP")


def _go_unless_natural(e: Emitter, key: Value, slow: Label) -> None:
    if isinstance(key, Const):
        return
    go_unless_type(e, key, lambda: e.out("LOAD_CONST", int), "IS_OP", slow)
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
    deque."""
    type_of(e, x)
    if _is_position(key):
        _type_on_stack_is(e, deque, ordered)
    e.out("LOAD_CONST", _DICTS)
    e.out("CONTAINS_OP", 0)
    e.jump_if("FALSE", slow)


def _direct_getitem(e: Emitter, operands: list[Value], slow: Label, dense: bool) -> None:
    """An item of a list, dict or tuple; `dense`: counted from the end. Then the pullback of an item of a tuple is the tuple's
    length, that of an item of a list the position."""
    x, key = operands
    ordered, of_tuple, other, there, end = (Label() for _ in range(5))
    depth = e.depth

    def get() -> None:
        e.load(x)
        e.load(key)
        e.out("BINARY_SUBSCR")

    type_of(e, x)
    if _is_position(key):
        _type_on_stack_is(e, list, ordered)
        _type_on_stack_is(e, tuple, of_tuple if dense else ordered)
    e.out("LOAD_CONST", dict)
    e.out("IS_OP", 0)
    e.jump_if("FALSE", other)
    if not isinstance(key, Const):
        go_unless_type(e, key, lambda: e.out("LOAD_CONST", HASHED), "CONTAINS_OP", slow)
    e.label(there, depth)
    with e.aside():
        e.label(other, depth)
        _go_by_type_of_library(e, x, key, ordered, slow)
        if not isinstance(key, Const):
            go_unless_type(e, key, lambda: e.out("LOAD_CONST", HASHED), "CONTAINS_OP", slow)
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


def _direct_setitem(e: Emitter, operands: list[Value], slow: Label, dense: bool) -> None:
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
        go_unless_type(e, key, lambda: e.out("LOAD_CONST", PLAIN_KEYS), "CONTAINS_OP", slow)
    if _is_position(key):
        jump(e, store)
        e.label(ordered, depth + 1)
        e.out("POP_TOP")
        _go_unless_natural(e, key, slow)
    e.label(store, depth)
    for v in (value, x, key):
        e.load(v)
    e.out("STORE_SUBSCR")


def _direct_unpack(e: Emitter, operands: list[Value], slow: Label, dense: bool) -> None:
    """A tuple."""
    x, count = operands
    assert isinstance(count, Const)
    go_unless_type(e, x, lambda: e.out("LOAD_CONST", tuple), "IS_OP", slow)
    e.load(x)
    e.out("UNPACK_SEQUENCE", count.value)


def _append(e: Emitter, x: Value, value: Callable[[], None]) -> None:
    """Append to a list, and leave the position on the stack."""
    length(e, x)
    e.load(x)
    value()
    e.out("LIST_APPEND", 1)
    e.out("POP_TOP")


def _direct_list_append(e: Emitter, operands: list[Value], slow: Label, dense: bool) -> None:
    """Its pullback is the index of the item."""
    x, value = operands
    go_unless_type(e, x, lambda: e.out("LOAD_CONST", list), "IS_OP", slow)
    _append(e, x, lambda: e.load(value))


_DIRECT = {
    "list_append": _direct_list_append,
    "getattr": _direct_getattr, "setattr": _direct_setattr, "getitem": _direct_getitem, "setitem": _direct_setitem,
    "unpack": _direct_unpack,
}  # fmt: skip


@operation
def op_item(e: Emitter, tree: Tree) -> None:
    given, whole = tree.operation.operands
    item, back = tree.operation.results
    plain, end = Label(), Label()
    depth = e.depth
    e.load(whole)
    jump_if_none(e, plain)
    e.load(given)
    e.out("UNPACK_SEQUENCE", 2)
    store_all(e, [item, back])
    jump(e, end)
    e.label(plain, depth)
    e.load(given)
    e.store(item)
    e.out("LOAD_CONST", None)
    e.store(back)
    e.label(end, depth)


@operation
def op_nothing_recorded(e: Emitter, tree: Tree) -> None:
    """A variable for what is recorded rarely, a dict by number: `record` instructions write it. Or None where a parameter is a
    real number."""
    other, end = Label(), Label()
    depth = e.depth
    parameters = tree.operation.operands
    for p in parameters:
        go_unless_real(e, p, other)
    e.out("LOAD_CONST", None)
    if parameters:
        with e.aside():
            e.label(other, depth)
            e.out("LOAD_CONST", False)
            jump(e, end)
        e.label(end, depth + 1)
    e.store(tree.operation.result)


@operation
def op_tape(e: Emitter, tree: Tree) -> None:
    e.out("BUILD_LIST", 0)
    e.store(tree.operation.result)


@operation
def op_push(e: Emitter, tree: Tree) -> None:
    e.push(tree, 0)
    for k in range(1, len(tree.operation.operands)):
        e.push(tree, k)
        e.out("LIST_APPEND", 1)
    e.out("POP_TOP")


@operation
def op_cursor(e: Emitter, tree: Tree) -> None:
    """An iterator over the tape from its end. 3.13 steps through lists by an instruction of its own: where loops take many values
    off, that is worth a copy."""
    tape = tree.operation.operands[0]
    if PY313 and _pops_in_loops(e.function):
        e.load(tape)
        e.out("LOAD_CONST", slice(None, None, -1))
        e.out("BINARY_SUBSCR")
        e.out("GET_ITER")
    else:
        call_method(e, tape, "__reversed__")  # (`reversed` looks that up, and takes twice as long)
    e.store(tree.operation.result)


def _pops_in_loops(function: Function) -> bool:
    def following(block: Block) -> list[Block]:
        return [target.block for target in block.successors()]

    return any(
        instr.op == "pop"
        for blocks in components([function.entry], following)
        if len(blocks) > 1 or blocks[0] in following(blocks[0])
        for block in blocks
        for instr in block.instrs
    )


@operation
def op_pop(e: Emitter, tree: Tree) -> None:
    instr = tree.operation
    e.load(instr.operands[0])
    for r in reversed(instr.results):
        e.out("FOR_ITER", e.exhausted_tape())
        e.store(r)
    e.out("POP_TOP")


OPS = pulling.OPS | frozenset({"record", "nothing_recorded", "item", "tape", "push", "cursor", "pop"})
