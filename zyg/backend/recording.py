"""Lowering of what the adjoint pass adds to Python ops: recorded operations, their pullbacks, cotangents, the tape.

Operators on floats and sums of cotangents are written out, so that they cost no call.  The tape is a list; it is read by an
iterator over it from the end, which each run of a reverse half makes for itself.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any

from bytecode import Compare, Label

from ..ir.core import Const, Value
from ..ir.core import Instr as Operation
from ..ir.types import I64
from .opcodes import BINARY_OPS, OPERATIONS, PY312, PY313, STORE_THEMSELVES, Tree, call, intrinsic_1

if TYPE_CHECKING:
    from .python import Emitter

REALS = frozenset({float, int, bool})


def nothing(back: Any, d: Any, shadows: Any) -> None:
    """The pullback of what was recorded and carries nothing."""


# What is known of methods that are read as attributes, and then called.
PLAIN = "read plainly"

# None is the pullback of an operator that was run plainly.
NOTHING = (nothing,)


def operation(function: Callable[[Emitter, Tree], None]) -> Callable[[Emitter, Tree], None]:
    name = function.__name__[3:]
    OPERATIONS[name] = function
    STORE_THEMSELVES.add(name)
    return function


def loads_twice(instr: Operation, k: int) -> bool:
    """Whether the code of an instruction loads operand `k` more than once, so that it has to be in a slot."""
    if instr.op == "record":
        if instr.attrs["of"] == "call_object":
            return k == 1 or "inline" in instr.attrs or ("method" in instr.attrs and k >= len(instr.operands) - 2)
        return "direct" in instr.attrs
    return instr.op in ("item", "pull", "rule", "accumulate")


def _is_none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


def _jump_if_none(e: Emitter, label: Label, negated: bool = False) -> None:
    e.jump_if("NOT_NONE" if negated else "NONE", label)


def _jump(e: Emitter, label: Label) -> None:
    e.out("JUMP_FORWARD", label)


def _begin_call(e: Emitter, load: Callable[[], None]) -> None:
    if not PY313:
        e.out("PUSH_NULL")
    load()
    if PY313:
        e.out("PUSH_NULL")


def _call_function(e: Emitter, function: Value, arguments: list[Value]) -> None:
    _begin_call(e, lambda: e.load(function))
    for v in arguments:
        e.load(v)
    call(e, len(arguments), ())


def _type_of(e: Emitter, value: Value) -> None:
    _begin_call(e, lambda: e.out("LOAD_CONST", type))
    e.load(value)
    call(e, 1, ())


def _go_unless_real(e: Emitter, value: Value, slow: Label) -> None:
    """Go on if the value is exactly a float, int or bool, else at `slow`."""
    if isinstance(value, Const):
        if type(value.value) not in REALS:
            _jump(e, slow)
        return
    real = Label()
    _type_of(e, value)
    e.out("LOAD_CONST", float)
    e.out("IS_OP", 0)
    depth = e.depth - 1
    e.jump_if("TRUE", real)
    _type_of(e, value)
    e.out("LOAD_CONST", REALS)
    e.out("CONTAINS_OP", 0)
    e.jump_if("FALSE", slow)
    e.label(real, depth)


def _store_all(e: Emitter, results: list[Value]) -> None:
    """What UNPACK_SEQUENCE has left on the stack, the first on top."""
    for r in results:
        e.store(r)


@operation
def op_record(e: Emitter, tree: Tree) -> None:
    instr = tree.operation
    e.set_position(instr.position)
    function, *operands = instr.operands
    direct = instr.attrs.get("direct")
    end = Label()
    if direct == "method":
        _read_method(e, instr)
        return
    if direct is not None:
        slow = Label()
        depth = e.depth
        _DIRECT.get(direct, _direct_operator)(e, operands, slow, direct)  # leaves the pullback, and the results above it
        for r in instr.results:
            e.store(r)
        _jump(e, end)
        e.label(slow, depth)
    if direct is not None:
        _call_function(e, function, operands)
    elif instr.attrs["of"] == "call_object":
        if "inline" in instr.attrs:
            _call_of_list(e, tree, end)
        _find_callee(e, tree)
        count = len(operands) - (4 if "method" in instr.attrs else 2)
        for k in range(2, 2 + count):
            e.push(tree, k)
        e.set_position(instr.position)
        call(e, count, ())
    else:
        _begin_call(e, lambda: e.load(function))
        for k in range(1, len(operands) + 1):
            e.push(tree, k)
        e.set_position(instr.position)
        call(e, len(operands), ())
    if len(instr.results) > 1:
        e.out("UNPACK_SEQUENCE", len(instr.results))
        _store_all(e, instr.results[:-1])
    if direct is not None:
        _store_back(e, instr.results[-1])
        e.label(end, e.depth)
    else:
        e.store(instr.results[-1])
        if "inline" in instr.attrs:
            e.label(end, e.depth)


def _call_of_list(e: Emitter, tree: Tree, end: Label) -> None:
    """`append` and `pop` of a list, if that is what the method is; else the call comes behind."""
    instr = tree.operation
    result, back = instr.results
    *_, direct, x = instr.operands
    other = Label()
    depth = e.depth
    e.load(direct)
    e.out("LOAD_CONST", instr.attrs["handler"])
    e.out("IS_OP", 0)
    e.jump_if("FALSE", other)
    if instr.attrs["inline"] == "append":
        _append(e, x, lambda: e.load(instr.operands[2]))
        e.store(back)
        e.out("LOAD_CONST", None)
        e.store(result)
    else:
        _call_method(e, x, "pop")
        _length(e, x)
        e.store(back)
        e.store(result)
    _jump(e, end)
    e.label(other, depth)


def _read_method(e: Emitter, instr: Operation) -> None:
    """An attribute that is only called: where its table knows what such a call is, that takes the place of the attribute."""
    function, x, name, table = instr.operands
    value, method, back = instr.results
    assert isinstance(name, Const)
    slow, known, end = Label(), Label(), Label()
    depth = e.depth
    _call_method(e, table, "get", lambda: _type_of(e, x))
    e.out("COPY", 1)
    e.store(method)
    _jump_if_none(e, slow)
    e.load(method)
    e.out("LOAD_CONST", PLAIN)
    e.out("IS_OP", 0)
    e.jump_if("FALSE", known)
    e.load(x)
    e.out("LOAD_ATTR", (False, name.value) if PY312 else name.value)
    e.store(value)
    e.out("LOAD_CONST", None)
    e.out("COPY", 1)
    e.store(method)
    e.store(back)
    _jump(e, end)
    e.label(known, depth)
    e.out("LOAD_CONST", None)
    e.out("COPY", 1)
    e.store(value)
    e.store(back)
    _jump(e, end)
    e.label(slow, depth)
    _call_function(e, function, [x, name, table])
    e.out("UNPACK_SEQUENCE", 2)
    e.store(value)
    _store_back(e, back)
    e.label(end, depth)


def _store_back(e: Emitter, back: Value) -> None:
    """Store a pullback; what was recorded by a function has one that is not None."""
    recorded = Label()
    e.out("COPY", 1)
    depth = e.depth - 1
    _jump_if_none(e, recorded, negated=True)
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
    known, method, function, other, end = Label(), Label(), Label(), Label(), Label()
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

    if read:
        *arguments, site, direct, receiver = [*arguments, site]
        unknown = Label()
        e.load(direct)
        _jump_if_none(e, unknown)
        e.load(direct)
        e.load(receiver)
        _jump(e, end)
        e.label(unknown, depth)
    else:
        e.load(callee)
        remembered(0)
        e.out("IS_OP", 0)
        e.jump_if("TRUE", known)
    _type_of(e, callee)
    e.out("LOAD_CONST", MethodType)
    e.out("IS_OP", 0)
    e.jump_if("FALSE", function)
    e.load(callee)
    e.out("LOAD_ATTR", (False, "__func__") if PY312 else "__func__")
    remembered(2)
    e.out("IS_OP", 0)
    e.jump_if("TRUE", method)
    e.label(function, depth)
    if read:
        e.load(callee)
        remembered(0)
        e.out("IS_OP", 0)
        e.jump_if("TRUE", known)
    e.label(other, depth)
    alone(lambda: _call_function(e, find, [callee, site, Const(len(arguments), I64)]))
    _jump(e, end)
    e.label(known, depth)
    alone(lambda: remembered(1))
    _jump(e, end)
    e.label(method, depth)
    remembered(3)
    e.load(callee)
    e.out("LOAD_ATTR", (False, "__self__") if PY312 else "__self__")
    e.label(end, depth + 2)


def _direct_operator(e: Emitter, operands: list[Value], slow: Label, op: str) -> None:
    for v in operands:
        _go_unless_real(e, v, slow)
    e.out("LOAD_CONST", None)
    for v in operands:
        e.load(v)
    _operator(e, op)


def _go_unless_type(e: Emitter, value: Value, types: Callable[[], None], test: str, slow: Label) -> None:
    _type_of(e, value)
    types()
    e.out(test, 0)
    e.jump_if("FALSE", slow)


def _direct_getattr(e: Emitter, operands: list[Value], slow: Label, op: str) -> None:
    x, name, types = operands
    _go_unless_type(e, x, lambda: e.load(types), "CONTAINS_OP", slow)
    e.out("LOAD_CONST", None)
    assert isinstance(name, Const)
    _get_attribute(e, x, name.value)


def _direct_setattr(e: Emitter, operands: list[Value], slow: Label, op: str) -> None:
    x, value, name, types = operands
    _go_unless_type(e, x, lambda: e.load(types), "CONTAINS_OP", slow)
    e.load(value)
    e.load(x)
    assert isinstance(name, Const)
    e.out("STORE_ATTR", name.value)
    e.out("LOAD_CONST", None)


def _go_unless_natural(e: Emitter, key: Value, slow: Label) -> None:
    if isinstance(key, Const):
        return
    _go_unless_type(e, key, lambda: e.out("LOAD_CONST", int), "IS_OP", slow)
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


def _length(e: Emitter, x: Value) -> None:
    _begin_call(e, lambda: e.out("LOAD_CONST", len))
    e.load(x)
    call(e, 1, ())


def _direct_getitem(e: Emitter, operands: list[Value], slow: Label, op: str) -> None:
    """An item of a list, dict or tuple. The pullback of an item of a tuple is the tuple's length, that of an item of a list that
    is counted from its end the position."""
    x, key = operands
    from_end = isinstance(key, Const) and type(key.value) is int and key.value < 0
    ordered, of_tuple, found, drop, end = Label(), Label(), Label(), Label(), Label()
    depth = e.depth

    def get() -> None:
        e.load(x)
        e.load(key)
        e.out("BINARY_SUBSCR")

    _type_of(e, x)
    if _is_position(key):
        _type_on_stack_is(e, list, ordered)
        _type_on_stack_is(e, tuple, of_tuple)
    e.out("LOAD_CONST", dict)
    e.out("IS_OP", 0)
    e.jump_if("FALSE", slow)
    e.out("LOAD_CONST", None)
    get()
    _jump(e, end)
    if _is_position(key):
        e.label(of_tuple, depth + 1)
        e.out("POP_TOP")
        _go_unless_natural(e, key, slow)
        _length(e, x)
        get()
        _jump(e, end)
        e.label(ordered, depth + 1)
        e.out("POP_TOP")
        _go_unless_natural(e, key, slow)
        if from_end:
            _length(e, x)
            e.load(key)
            _operator(e, "add")
        else:
            e.out("LOAD_CONST", None)
        get()
    e.label(end, depth + 2)


def _direct_setitem(e: Emitter, operands: list[Value], slow: Label, op: str) -> None:
    """An item of a list or dict."""
    x, key, value = operands
    ordered, store = Label(), Label()
    depth = e.depth
    if isinstance(key, Const) and type(key.value) is int and key.value < 0:
        _jump(e, slow)
        return
    _type_of(e, x)
    if _is_position(key):
        _type_on_stack_is(e, list, ordered)
    e.out("LOAD_CONST", dict)
    e.out("IS_OP", 0)
    e.jump_if("FALSE", slow)
    if _is_position(key):
        _jump(e, store)
        e.label(ordered, depth + 1)
        e.out("POP_TOP")
        _go_unless_natural(e, key, slow)
    e.label(store, depth)
    for v in (value, x, key):
        e.load(v)
    e.out("STORE_SUBSCR")
    e.out("LOAD_CONST", None)


def _direct_unpack(e: Emitter, operands: list[Value], slow: Label, op: str) -> None:
    """A tuple of the right length."""
    x, count = operands
    assert isinstance(count, Const)
    _go_unless_type(e, x, lambda: e.out("LOAD_CONST", tuple), "IS_OP", slow)
    _length(e, x)
    e.load(count)
    e.out("COMPARE_OP", Compare.EQ)
    e.jump_if("FALSE", slow)
    e.out("LOAD_CONST", None)
    e.load(x)
    e.out("UNPACK_SEQUENCE", count.value)


def _append(e: Emitter, x: Value, value: Callable[[], None]) -> None:
    """Append to a list, and leave the position on the stack."""
    _length(e, x)
    e.load(x)
    value()
    e.out("LIST_APPEND", 1)
    e.out("POP_TOP")


def _direct_list_append(e: Emitter, operands: list[Value], slow: Label, op: str) -> None:
    """Its pullback is the index of the item."""
    x, value = operands
    _go_unless_type(e, x, lambda: e.out("LOAD_CONST", list), "IS_OP", slow)
    _append(e, x, lambda: e.load(value))


_DIRECT = {
    "list_append": _direct_list_append,
    "getattr": _direct_getattr, "setattr": _direct_setattr, "getitem": _direct_getitem, "setitem": _direct_setitem,
    "unpack": _direct_unpack,
}  # fmt: skip


# What was done plainly: which shadow it is about, and what tells the part of it.
_ACCESS = {
    "getitem": ("items", "key"), "getattr": ("holder", "name"), "get_cell": ("holder", "name"),
    "setitem": ("items", "key"), "setattr": ("holder", "name"), "set_cell": ("holder", "name"),
    "list_append": ("items", "back"), "get_global": ("items", "name"), "get_next": ("items", "back"),
}  # fmt: skip


def _look_up(
    e: Emitter, shadows: Value, x: Value, kind: str, last: Value, shadow: Value, load: Callable[[], None] | None
) -> None:
    """`shadow` is that of `last`, the object that was looked up last at the places where `x` is used: let it be that of `x`
    (or of what `load` gives)."""
    found = Label()
    e.load(x)
    e.load(last)
    e.out("IS_OP", 0)
    depth = e.depth - 1
    e.jump_if("TRUE", found)
    e.load(x)
    e.store(last)
    _call_method(e, shadows, f"{kind}_of", x if load is None else load)
    e.store(shadow)
    e.label(found, depth)


def _access(e: Emitter, instr: Operation, none: Label, end: Label) -> None:
    """What was read plainly gets its cotangent into the shadow, what was written takes it out."""
    back, d, shadows, x, key, name, last, shadow = instr.operands
    kind, results, wanted = instr.attrs["access"], instr.results, instr.attrs["wanted"]
    which, where = _ACCESS[kind]
    part = {"key": key, "name": name, "back": back}[where]
    position = True if where == "back" else None if where == "key" else False  # whether the part is known to be one
    if position is None and isinstance(key, Const):
        position = False if type(key.value) is not int else None
    attribute = name.value if which == "holder" and isinstance(name, Const) else None
    if attribute is not None and attribute.startswith("__"):  # of a method
        _jump(e, none)
        return

    def gone_through() -> None:
        e.load(x)
        e.out("LOAD_CONST", 1)
        e.out("BINARY_SUBSCR")

    if kind.startswith("get"):
        if not _is_none(d):
            e.load(d)
            _jump_if_none(e, none)
            _look_up(e, shadows, x, which, last, shadow, gone_through if kind == "get_next" else None)
            _add_part(e, shadows, shadow, part, d, position, attribute)
        _jump(e, none)
        return
    _look_up(e, shadows, x, which, last, shadow, None)
    if attribute is not None:
        _get_attribute(e, shadow, attribute)
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
    _store_none(e, [r for r, k in zip(results, wanted, strict=True) if k != value])
    _jump(e, end)


def _get_attribute(e: Emitter, x: Value, name: str) -> None:
    e.load(x)
    e.out("LOAD_ATTR", (False, name) if PY312 else name)


def _add_part(
    e: Emitter,
    shadows: Value,
    shadow: Value,
    part: Value,
    d: Value,
    position: bool | None,
    attribute: str | None = None,
) -> None:
    """Add a cotangent to the part of a shadow: by position in a list, else by key in a dict, or as an attribute."""
    mapping, read, slow, first, store, end = (Label() for _ in range(6))
    depth = e.depth
    if position is None:
        _type_of(e, shadow)
        e.out("LOAD_CONST", list)
        e.out("IS_OP", 0)
        e.jump_if("FALSE", mapping)
    if position is not False:
        _go_unless_within(e, shadow, part, slow)
        e.load(shadow)
        e.load(part)
        e.out("BINARY_SUBSCR")
        if position is None:
            _jump(e, read)
    if position is not True:
        e.label(mapping, depth)
        if attribute is not None:
            _get_attribute(e, shadow, attribute)
        else:
            _call_method(e, shadow, "get", part)
        e.label(read, depth + 1)
    e.out("COPY", 1)
    _jump_if_none(e, first)
    e.out("COPY", 1)
    _type_on_top(e)
    e.out("LOAD_CONST", float)
    e.out("IS_OP", 0)
    other = Label()
    e.jump_if("FALSE", other)
    e.load(d)
    _operator(e, "add")
    _jump(e, store)
    e.label(other, depth + 1)
    e.out("POP_TOP")
    e.label(slow, depth)
    _call_method(e, shadows, "add_part", shadow, part, d)
    e.out("POP_TOP")
    _jump(e, end)
    e.label(first, depth + 1)
    e.out("POP_TOP")
    e.load(d)
    e.label(store, depth + 1)
    e.load(shadow)
    if attribute is not None:
        e.out("STORE_ATTR", attribute)
    else:
        e.load(part)
        e.out("STORE_SUBSCR")
    e.label(end, depth)


def _type_on_top(e: Emitter) -> None:
    """The type of what is on the stack takes its place."""
    if PY313:
        e.out("LOAD_CONST", type)
        e.out("SWAP", 2)
        e.out("PUSH_NULL")
        e.out("SWAP", 2)
    else:
        e.out("PUSH_NULL")
        e.out("SWAP", 2)
        e.out("LOAD_CONST", type)
        e.out("SWAP", 2)
    call(e, 1, ())


def _go_unless_within(e: Emitter, shadow: Value, position: Value, slow: Label) -> None:
    """Go on if a shadow, a list, has something at a position."""
    e.load(position)
    _begin_call(e, lambda: e.out("LOAD_CONST", len))
    e.load(shadow)
    call(e, 1, ())
    e.out("COMPARE_OP", Compare.LT)
    e.jump_if("FALSE", slow)


def _take_part(e: Emitter, shadow: Value, part: Value, position: bool | None, last: bool) -> None:
    """Take the part of a shadow out and leave it on the stack; `last`: with its place."""
    mapping, absent, end = Label(), Label(), Label()
    depth = e.depth
    if position is None:
        _type_of(e, shadow)
        e.out("LOAD_CONST", list)
        e.out("IS_OP", 0)
        e.jump_if("FALSE", mapping)
    if position is not False:
        _go_unless_within(e, shadow, part, absent)
        if last:
            _call_method(e, shadow, "pop")
        else:
            e.load(shadow)
            e.load(part)
            e.out("BINARY_SUBSCR")
            e.out("LOAD_CONST", None)
            e.load(shadow)
            e.load(part)
            e.out("STORE_SUBSCR")
        _jump(e, end)
        e.label(absent, depth)
        e.out("LOAD_CONST", None)
        if position is None:
            _jump(e, end)
    if position is not True:
        e.label(mapping, depth)
        _call_method(e, shadow, "pop", part, lambda: e.out("LOAD_CONST", None))
    e.label(end, depth + 1)


def _call_method(e: Emitter, receiver: Value, name: str, *arguments: Value | Callable[[], None]) -> None:
    e.load(receiver)
    e.out(*(("LOAD_ATTR", (True, name)) if PY312 else ("LOAD_METHOD", name)))
    for v in arguments:
        e.load(v) if isinstance(v, Value) else v()
    call(e, len(arguments), ())


def _operator(e: Emitter, op: str) -> None:
    if op == "neg":
        e.out("UNARY_NEGATIVE")
    elif op == "pos":
        intrinsic_1(e, "UNARY_POSITIVE", 5)
    else:
        e.out("BINARY_OP", BINARY_OPS[op])


def _expression(e: Emitter, expression: Any, leaves: dict[Any, Value]) -> None:
    if not isinstance(expression, tuple):
        e.load(leaves[expression])
        return
    op, *parts = expression
    if op == "const":
        e.out("LOAD_CONST", parts[0])
        return
    for part in parts:
        _expression(e, part, leaves)
    _operator(e, op)


def _items(e: Emitter, results: list[Value], wanted: tuple[int, ...], end: Label) -> None:
    """A tuple, or None, is on the stack: store its items `wanted`, else go on with None on the way to `end`."""
    if not results:
        e.out("POP_TOP")
        return
    nothing = Label()
    e.out("COPY", 1)
    _jump_if_none(e, nothing)
    depth = e.depth
    for r, k in zip(results, wanted, strict=True):
        e.out("COPY", 1)
        e.out("LOAD_CONST", k)
        e.out("BINARY_SUBSCR")
        e.store(r)
    e.out("POP_TOP")
    _jump(e, end)
    e.label(nothing, depth)
    e.out("POP_TOP")


def _store_none(e: Emitter, results: list[Value]) -> None:
    for r in results:
        e.out("LOAD_CONST", None)
        e.store(r)


@operation
def op_pull(e: Emitter, tree: Tree) -> None:
    instr = tree.operation
    e.set_position(instr.position)
    back, d, shadows, *operands = instr.operands
    results, attrs = instr.results, instr.attrs
    wanted = attrs["wanted"]
    none, end = Label(), Label()
    depth = e.depth
    if "expressions" in attrs:
        recorded = Label()
        e.load(back)
        _jump_if_none(e, recorded, negated=True)
        if not _is_none(d) and results:
            e.load(d)
            _jump_if_none(e, none)
            leaves = {"d": d, "y": operands[0], **dict(enumerate(operands[1:]))}
            _expressions(e, attrs["expressions"], leaves, results)
            _jump(e, end)
        else:
            _jump(e, none)
        e.label(recorded, depth)
    elif "access" in attrs:
        recorded = Label()
        if attrs["access"] in ("list_append", "get_next"):
            if attrs["access"] == "get_next":
                e.load(back)
                _jump_if_none(e, none)
            _type_of(e, back)
            e.out("LOAD_CONST", int)
            e.out("IS_OP", 0)
            e.jump_if("FALSE", recorded)
        elif not _is_none(back):
            e.load(back)
            _jump_if_none(e, recorded, negated=True)
        _access(e, instr, none, end)
        if _is_none(back):
            e.label(none, depth)
            _store_none(e, results)
            e.label(end, depth)
            return
        e.label(recorded, depth)
        if attrs["access"] == "getitem":
            _item_by_number(e, instr, none, end)
    elif attrs["of"] == "unpack":
        recorded = Label()
        e.load(back)
        _jump_if_none(e, recorded, negated=True)
        _unpacked(e, instr, none, end)
        e.label(recorded, depth)
    else:
        e.load(back)
        _jump_if_none(e, none)
        if attrs["of"] == "call_object":
            _slope(e, back, d, results, wanted, none, end)
        if "inline" in attrs:
            _undo_of_list(e, instr, none, end)
    _begin_call(e, lambda: _first(e, back))
    for v in (back, d, shadows):
        e.load(v)
    call(e, 3, ())
    _items(e, results, wanted, end)
    e.label(none, depth)
    _store_none(e, results)
    e.label(end, depth)


def _unpacked(e: Emitter, instr: Operation, none: Label, end: Label) -> None:
    """A tuple that was taken apart plainly: its cotangent is the tuple of those of the items, if there is one."""
    d, parts, results = instr.operands[1], instr.operands[3:], instr.results
    some = Label()
    depth = e.depth
    if results:
        for part in parts:
            if not _is_none(part):
                e.load(part)
                _jump_if_none(e, some, negated=True)
        _jump(e, none)
        e.label(some, depth)
        e.load(d)
        e.store(results[0])
        _jump(e, end)
    else:
        _jump(e, none)


def _item_by_number(e: Emitter, instr: Operation, none: Label, end: Label) -> None:
    """The pullback of an item is a number: the length of a tuple, or the position in a list."""
    back, d, shadows, x, key, _, last, shadow = instr.operands
    results, wanted = instr.results, instr.attrs["wanted"]
    other, ordered = Label(), Label()
    depth = e.depth
    _type_of(e, back)
    e.out("LOAD_CONST", int)
    e.out("IS_OP", 0)
    e.jump_if("FALSE", other)
    if _is_none(d):
        _jump(e, none)
    else:
        e.load(d)
        _jump_if_none(e, none)
        _type_of(e, x)
        e.out("LOAD_CONST", tuple)
        e.out("IS_OP", 0)
        e.jump_if("FALSE", ordered)
        if 0 in wanted:
            _call_method(e, shadows, "in_tuple", d, key, back)
            e.store(results[wanted.index(0)])
            _store_none(e, [r for r, k in zip(results, wanted, strict=True) if k != 0])
            _jump(e, end)
        else:
            _jump(e, none)
        e.label(ordered, depth)
        _look_up(e, shadows, x, "items", last, shadow, None)
        _add_part(e, shadows, shadow, back, d, True)
        _jump(e, none)
    e.label(other, depth)


def _undo_of_list(e: Emitter, instr: Operation, none: Label, end: Label) -> None:
    """The pullback of `append` and `pop` of a list is the position."""
    back, d, shadows, x, last, shadow = instr.operands
    results, wanted = instr.results, instr.attrs["wanted"]
    other = Label()
    depth = e.depth
    _type_of(e, back)
    e.out("LOAD_CONST", int)
    e.out("IS_OP", 0)
    e.jump_if("FALSE", other)
    _look_up(e, shadows, x, "items", last, shadow, None)
    if instr.attrs["inline"] == "append":
        _take_part(e, shadow, back, True, last=True)
        if 1 in wanted:
            e.store(results[wanted.index(1)])
        else:
            e.out("POP_TOP")
        _store_none(e, [r for r, k in zip(results, wanted, strict=True) if k != 1])
        _jump(e, end)
    else:
        _call_method(e, shadows, "put_back", shadow, back, d)
        e.out("POP_TOP")
        _jump(e, none)
    e.label(other, depth)


def _first(e: Emitter, back: Value) -> None:
    e.load(back)
    e.out("LOAD_CONST", 0)
    e.out("BINARY_SUBSCR")


def _slope(
    e: Emitter, back: Value, d: Value, results: list[Value], wanted: tuple[int, ...], none: Label, end: Label
) -> None:
    """The pullback may be a float: the slope by the only argument."""
    other = Label()
    _type_of(e, back)
    e.out("LOAD_CONST", float)
    e.out("IS_OP", 0)
    depth = e.depth - 1
    e.jump_if("FALSE", other)
    if _is_none(d) or not results:
        _jump(e, none)
    else:
        e.load(d)
        _jump_if_none(e, none)
        for k in wanted:
            if k == 1:
                e.load(d)
                e.load(back)
                _operator(e, "mul")
            else:
                e.out("LOAD_CONST", None)
        for r in reversed(results):
            e.store(r)
        _jump(e, end)
    e.label(other, depth)


def _expressions(e: Emitter, expressions: Any, leaves: dict[Any, Value], results: list[Value]) -> None:
    """All are computed before any is stored: a result may share its slot with what another one uses."""
    for expression in expressions:
        _expression(e, expression, leaves)
    for r in reversed(results):
        e.store(r)


@operation
def op_rule(e: Emitter, tree: Tree) -> None:
    instr = tree.operation
    e.set_position(instr.position)
    function, d, y, *operands = instr.operands
    none, end = Label(), Label()
    depth = e.depth
    e.load(d)
    _jump_if_none(e, none)
    if "expressions" in instr.attrs:
        leaves = {"d": d, "y": y, **dict(enumerate(operands))}
        _expressions(e, instr.attrs["expressions"], leaves, instr.results)
        _jump(e, end)
    else:
        _call_function(e, function, [d, y, *operands])
        _items(e, instr.results, instr.attrs["wanted"], end)
    e.label(none, depth)
    _store_none(e, instr.results)
    e.label(end, depth)


@operation
def op_item(e: Emitter, tree: Tree) -> None:
    given, whole = tree.operation.operands
    item, back = tree.operation.results
    plain, end = Label(), Label()
    depth = e.depth
    e.load(whole)
    _jump_if_none(e, plain)
    e.load(given)
    e.out("UNPACK_SEQUENCE", 2)
    _store_all(e, [item, back])
    _jump(e, end)
    e.label(plain, depth)
    e.load(given)
    e.store(item)
    e.out("LOAD_CONST", None)
    e.store(back)
    e.label(end, depth)


@operation
def op_cotangents(e: Emitter, tree: Tree) -> None:
    instr = tree.operation
    end = Label()
    e.push(tree, 0)
    depth = e.depth - 1
    _items(e, instr.results, instr.attrs["wanted"], end)
    _store_none(e, instr.results)
    e.label(end, depth)


@operation
def op_accumulate(e: Emitter, tree: Tree) -> None:
    instr = tree.operation
    function, a, b = instr.operands
    first, second, slow, end = Label(), Label(), Label(), Label()
    depth = e.depth
    e.load(b)
    _jump_if_none(e, first)
    e.load(a)
    _jump_if_none(e, second)
    _type_of(e, a)
    e.out("LOAD_CONST", float)
    e.out("IS_OP", 0)
    e.jump_if("FALSE", slow)
    e.load(a)
    e.load(b)
    _operator(e, "add")
    e.store(instr.result)
    _jump(e, end)
    e.label(slow, depth)
    _call_function(e, function, [a, b])
    e.store(instr.result)
    _jump(e, end)
    e.label(second, depth)
    e.load(b)
    e.store(instr.result)
    _jump(e, end)
    e.label(first, depth)
    e.load(a)
    e.store(instr.result)
    e.label(end, depth)


# ---------------------------------------------------------------------------------------------------- the tape


@operation
def op_tape(e: Emitter, tree: Tree) -> None:
    e.out("BUILD_LIST", 0)
    e.store(tree.operation.result)


@operation
def op_nothing_looked_up(e: Emitter, tree: Tree) -> None:
    """Variables for the object whose shadow was looked up last, and its shadow: what wants a shadow writes them."""
    for r in tree.operation.results:
        e.out("LOAD_CONST", None)
        e.store(r)


@operation
def op_push(e: Emitter, tree: Tree) -> None:
    e.push(tree, 0)
    for k in range(1, len(tree.operation.operands)):
        e.push(tree, k)
        e.out("LIST_APPEND", 1)
    e.out("POP_TOP")


@operation
def op_cursor(e: Emitter, tree: Tree) -> None:
    _begin_call(e, lambda: e.out("LOAD_CONST", reversed))
    e.load(tree.operation.operands[0])
    call(e, 1, ())
    e.store(tree.operation.result)


@operation
def op_pop(e: Emitter, tree: Tree) -> None:
    instr = tree.operation
    e.load(instr.operands[0])
    for r in reversed(instr.results):
        e.out("FOR_ITER", e.exhausted_tape())
        e.store(r)
    e.out("POP_TOP")


OPS = frozenset({"record", "item", "pull", "rule", "cotangents", "accumulate", "tape", "push", "cursor", "pop", "nothing_looked_up"})
