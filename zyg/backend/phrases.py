"""What the code of recorded operations and of their pullbacks is made of: jumps, calls, tests of types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import TYPE_CHECKING, Any

from bytecode import Compare, Label

from ..ir.core import Const, Value
from .opcodes import BINARY_OPS, OPERATIONS, PY312, PY313, STORE_THEMSELVES, Tree, call, intrinsic_1

if TYPE_CHECKING:
    from .python import Emitter


REALS = frozenset({float, int, bool})
# Types of the keys of dicts that carry no derivative.
PLAIN_KEYS = frozenset({str, int, bool, bytes, type(None)})
# Types of keys that may be looked up plainly: those whose hash and comparison change nothing, as far as is known.
HASHED: set[type] = {*PLAIN_KEYS, float, complex, tuple}
_ALWAYS_HASHED = frozenset(HASHED)
# By class the attributes that comparisons read, as far as is known, if they only calculate, else None.
COMPARED: dict[type, frozenset[str] | None] = {}


def forget_hashed() -> None:
    """Classes may have changed."""
    HASHED.intersection_update(_ALWAYS_HASHED)
    COMPARED.clear()


def operation(function: Callable[[Emitter, Tree], None]) -> Callable[[Emitter, Tree], None]:
    name = function.__name__[3:]
    OPERATIONS[name] = function
    STORE_THEMSELVES.add(name)
    return function


def is_none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


def jump_if_none(e: Emitter, label: Label, negated: bool = False) -> None:
    e.jump_if("NOT_NONE" if negated else "NONE", label)


def jump(e: Emitter, label: Label) -> None:
    e.out("JUMP_FORWARD", label)


Operand = Value | Callable[[], None]  # a value, or what puts it on the stack


def put(e: Emitter, operand: Operand) -> None:
    e.load(operand) if isinstance(operand, Value) else operand()


def begin_call(e: Emitter, load: Callable[[], None]) -> None:
    if not PY313:
        e.out("PUSH_NULL")
    load()
    if PY313:
        e.out("PUSH_NULL")


def call_function(e: Emitter, function: Value, arguments: list[Value]) -> None:
    begin_call(e, lambda: e.load(function))
    for v in arguments:
        e.load(v)
    call(e, len(arguments), ())


def call_method(e: Emitter, receiver: Operand, name: str, *arguments: Operand) -> None:
    put(e, receiver)
    e.out(*(("LOAD_ATTR", (True, name)) if PY312 else ("LOAD_METHOD", name)))
    for v in arguments:
        put(e, v)
    call(e, len(arguments), ())


def type_of(e: Emitter, value: Value) -> None:
    begin_call(e, lambda: e.out("LOAD_CONST", type))
    e.load(value)
    call(e, 1, ())


def type_on_top(e: Emitter) -> None:
    """The type of what is on the stack, above that."""
    begin_call(e, lambda: e.out("LOAD_CONST", type))
    e.out("COPY", 3)
    call(e, 1, ())


def call_on_top(e: Emitter, function: Callable[[Any], Any]) -> None:
    """What a function gives of what is on the stack takes its place."""
    if PY313:
        e.out("LOAD_CONST", function)
        e.out("SWAP", 2)
        e.out("PUSH_NULL")
        e.out("SWAP", 2)
    else:
        e.out("PUSH_NULL")
        e.out("SWAP", 2)
        e.out("LOAD_CONST", function)
        e.out("SWAP", 2)
    call(e, 1, ())


def go_if_same(e: Emitter, a: Operand, b: Operand, label: Label, holds: bool = True) -> None:
    put(e, a)
    put(e, b)
    e.out("IS_OP", 0)
    e.jump_if("TRUE" if holds else "FALSE", label)


def go_unless_same(e: Emitter, a: Operand, b: Operand, label: Label) -> None:
    go_if_same(e, a, b, label, False)


def go_if_is(e: Emitter, operand: Operand, constant: Any, label: Label, holds: bool = True) -> None:
    go_if_same(e, operand, lambda: e.out("LOAD_CONST", constant), label, holds)


def go_unless_is(e: Emitter, operand: Operand, constant: Any, label: Label) -> None:
    go_if_is(e, operand, constant, label, False)


def go_if_type(e: Emitter, value: Value, cls: type, label: Label, holds: bool = True) -> None:
    go_if_is(e, lambda: type_of(e, value), cls, label, holds)


def go_unless_type(e: Emitter, value: Value, cls: type, label: Label) -> None:
    go_if_type(e, value, cls, label, False)


def go_unless_type_in(e: Emitter, value: Value, types: Set[type], label: Label) -> None:
    type_of(e, value)
    e.out("LOAD_CONST", types)
    e.out("CONTAINS_OP", 0)
    e.jump_if("FALSE", label)


def go_unless_real(
    e: Emitter, value: Value, slow: Label, likely: type | None = float, types: Set[type] = REALS
) -> None:
    """Go on if the value is exactly a float, int or bool (or of another one of `types`), else at `slow`."""
    if isinstance(value, Const):
        if type(value.value) not in types:
            jump(e, slow)
        return
    if likely is None:
        go_unless_type_in(e, value, types, slow)
        return
    if types == {likely}:
        go_unless_type(e, value, likely, slow)
        return
    real, other = Label(), Label()
    depth = e.depth
    go_unless_type(e, value, likely, other)
    e.label(real, depth)
    with e.aside():
        e.label(other, depth)
        go_unless_type_in(e, value, types, slow)
        jump(e, real)


def item_at(e: Emitter, x: Value, number: int) -> None:
    e.load(x)
    e.out("LOAD_CONST", number)
    e.out("BINARY_SUBSCR")


def subscript(e: Emitter, x: Value, key: Value) -> None:
    e.load(x)
    e.load(key)
    e.out("BINARY_SUBSCR")


def length(e: Emitter, x: Value) -> None:
    begin_call(e, lambda: e.out("LOAD_CONST", len))
    e.load(x)
    call(e, 1, ())


def get_attribute(e: Emitter, x: Value, name: str) -> None:
    e.load(x)
    e.out("LOAD_ATTR", (False, name) if PY312 else name)


def operator(e: Emitter, op: str) -> None:
    if op == "neg":
        e.out("UNARY_NEGATIVE")
    elif op == "pos":
        intrinsic_1(e, "UNARY_POSITIVE", 5)
    else:
        e.out("BINARY_OP", BINARY_OPS[op])


def expression_of(e: Emitter, expression: Any, leaves: Mapping[Any, Value | Callable[[], None]]) -> None:
    """Arithmetic and calls of constant functions, as trees: ("mul", "d", 1), of the `leaves`."""
    if not isinstance(expression, tuple):
        leaf = leaves[expression]
        e.load(leaf) if isinstance(leaf, Value) else leaf()
        return
    op, *parts = expression
    if op == "const":
        e.out("LOAD_CONST", parts[0])
        return
    if op == "call":
        function, *parts = parts
        begin_call(e, lambda: e.out("LOAD_CONST", function))
    for part in parts:
        expression_of(e, part, leaves)
    if op == "call":
        call(e, len(parts), ())
    else:
        operator(e, op)


_COMPARISONS = {name: Compare[name.upper()] for name in ("lt", "le", "eq", "ne", "gt", "ge")}


def query(e: Emitter, op: str) -> None:
    """A comparison, `in`, `not`, the length, or the truth, of what is on the stack."""
    if op in _COMPARISONS:
        e.out("COMPARE_OP", _COMPARISONS[op])
    elif op == "contains":
        e.out("CONTAINS_OP", 0)
    elif op == "len_":
        e.out("GET_LEN")
        e.out("SWAP", 2)
        e.out("POP_TOP")
    elif op == "not":
        if PY313:
            e.to_bool()
        e.out("UNARY_NOT")
    elif PY313:
        e.to_bool()
    else:
        e.out("UNARY_NOT")
        e.out("UNARY_NOT")


def store_all(e: Emitter, results: list[Value]) -> None:
    """What UNPACK_SEQUENCE has left on the stack, the first on top."""
    for r in results:
        e.store(r)


def store_none(e: Emitter, results: list[Value]) -> None:
    for r in results:
        if e.counts[r]:
            e.out("LOAD_CONST", None)
            e.store(r)
