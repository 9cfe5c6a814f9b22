"""Lowering of what the adjoint pass adds to forward halves: recorded operations.

Operators on floats, items, attributes and methods of lists are written out under a test, so that they cost no call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytecode import Label

from ..ir.core import Const, Value
from ..ir.core import Instr as Operation
from . import pulling, tape
from .opcodes import PY313, CannotEmit, Tree, call, convert_value, format_value
from .phrases import (
    REALS,
    begin_call,
    call_function,
    go_unless_real,
    go_unless_type,
    jump,
    jump_if_none,
    operation,
    operator,
    query,
    store_all,
)
from .recorded import store_rarely, store_recorded, unpack_results
from .recorded_accesses import (
    DIRECT,
    ask_for_class,
    ask_length,
    end_loop,
    match_nothing,
    read_computed,
    read_field,
    read_of_class,
)
from .recorded_calls import call_elementary, call_of_container, call_of_get, call_of_view, find_callee, read_method

if TYPE_CHECKING:
    from .python import Emitter


_REAL_OR_COMPLEX = REALS | {complex}

# What says that a way to make a call is written out before the call.
_WRITTEN = frozenset({"inline", "elementary", "view", "get"})


def loads_twice(instr: Operation, k: int) -> bool:
    """Whether the code of an instruction loads operand `k` more than once, so that it has to be in a slot."""
    if instr.op == "record":
        if instr.attrs["of"] == "call_object":
            written = not _WRITTEN.isdisjoint(instr.attrs)
            return k == 1 or written or ("method" in instr.attrs and k >= len(instr.operands) - 2)
        return "direct" in instr.attrs
    if instr.op == "accumulate" and pulling.adds_to_what_may_be_none(instr):
        return k != 2
    return instr.op in (
        "item",
        "pull",
        "rule",
        "accumulate",
        "join",
        "parts",
        "nothing_recorded",
        "typed",
        "looked_up",
        "switch",
    )


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
        read_method(e, instr, operands)
        return
    if "computed" in instr.attrs:
        _computed(e, instr, operands)
        return
    if direct is not None:
        slow = Label()
        depth = e.depth
        # It leaves the pullback (unless that is recorded rarely), and the results above it.
        if "complex" in instr.attrs:
            _direct_complex(e, instr, operands, slow)
        elif "exactly" in instr.attrs:
            _direct_of_types(e, instr, operands, slow)
        elif "plain" in instr.attrs:
            _direct_query(e, instr, operands, flags, slow)
        elif "class" in instr.attrs:
            read_of_class(e, instr, operands, slow)
        elif direct == "len":
            ask_length(e, instr, operands, slow)
        elif direct == "isinstance":
            ask_for_class(e, instr, operands, slow)
        elif direct == "match_class":
            match_nothing(e, instr, operands, slow)
        elif direct == "finish":
            end_loop(e, instr, operands, slow)
        elif direct in DIRECT:
            DIRECT[direct](e, operands, slow, rare is None)
        else:
            _direct_operator(e, instr, operands, flags, slow)
        for r in instr.results:
            e.store(r)
        with e.aside():
            e.label(slow, depth)
            call_function(e, function, operands)
            if rare is not None:
                store_rarely(e, instr, rare, instr.results)
            else:
                store_recorded(e, instr)
            jump(e, end)
        e.label(end, depth)
        return
    elif instr.attrs["of"] == "call_object":
        if "inline" in instr.attrs:
            call_of_container(e, tree, end)
        if "elementary" in instr.attrs:
            call_elementary(e, instr, end)
        if "view" in instr.attrs:
            call_of_view(e, instr, end)
        if "get" in instr.attrs:
            call_of_get(e, instr, end)
        find_callee(e, tree)
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
    unpack_results(e, instr)
    e.store(instr.results[-1])
    if not _WRITTEN.isdisjoint(instr.attrs):
        e.label(end, e.depth)


def _computed(e: Emitter, instr: Operation, operands: list[Value]) -> None:
    """An attribute that most likely is computed; if not, it is read, or set, plainly."""
    function = instr.operands[0]
    other, slow, end = Label(), Label(), Label()
    depth = e.depth
    (read_field if instr.attrs["computed"] == "field" and instr.attrs["direct"] == "getattr" else read_computed)(
        e, instr, operands, other
    )
    with e.aside():
        e.label(other, depth + 1)
        e.out("POP_TOP")
        DIRECT[instr.attrs["direct"]](e, operands, slow, True)
        for r in instr.results:
            e.store(r)
        jump(e, end)
        e.label(slow, depth)
        call_function(e, function, operands)
        store_recorded(e, instr)
        jump(e, end)
    e.label(end, depth)


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


def _direct_of_types(e: Emitter, instr: Operation, operands: list[Value], slow: Label) -> None:
    """An operator on what is exactly of some types, of which nothing is recorded, as long as attrs["unless"] is empty."""
    if "unless" in instr.attrs:
        e.out("LOAD_CONST", instr.attrs["unless"])
        if PY313:
            e.to_bool()
        e.jump_if("TRUE", slow)
    for k in instr.attrs["tests"]:
        go_unless_type(e, operands[k], instr.attrs["exactly"][k], slow)
    for v in operands:
        e.load(v)
    operator(e, instr.attrs["direct"])


def _direct_complex(e: Emitter, instr: Operation, operands: list[Value], slow: Label) -> None:
    """An operator on complex numbers, as it looks; the other operand may be real. The pullback is None."""
    for v, likely in zip(operands, instr.attrs["complex"], strict=True):
        if likely:
            go_unless_type(e, v, complex, slow)
        else:
            go_unless_real(e, v, slow, types=_REAL_OR_COMPLEX if isinstance(v, Const) else REALS)
    e.out("LOAD_CONST", None)
    for v in operands:
        e.load(v)
    operator(e, instr.attrs["direct"])


def _direct_query(e: Emitter, instr: Operation, operands: list[Value], flags: list[Value], slow: Label) -> None:
    """A comparison or the like, of operands that run no Python code: of real numbers as above, or of types attrs["plain"]."""
    for flag in flags:
        e.load(flag)
        jump_if_none(e, slow, negated=True)
    # What is compared with a text is one, most likely.
    likely: type | None = next((str for v in operands if isinstance(v, Const) and type(v.value) is str), float)
    op = instr.attrs["direct"]
    if op in ("contains", "len_"):
        likely = None
    for k in instr.attrs["tests"]:
        go_unless_real(e, operands[k], slow, int if k in instr.attrs["ints"] else likely, instr.attrs["plain"][k])
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


@operation
def op_item(e: Emitter, tree: Tree) -> None:
    given, whole = tree.operation.operands
    *items, back = tree.operation.results
    plain, end = Label(), Label()
    depth = e.depth
    apart = "apart" in tree.operation.attrs
    if not apart:
        e.load(whole)
        jump_if_none(e, plain)
    e.load(given)
    e.out("UNPACK_SEQUENCE", 2)
    if apart:
        e.out("UNPACK_SEQUENCE", len(items))
    store_all(e, items)
    e.store(back)
    if apart:
        return
    with e.aside():
        e.label(plain, depth)
        e.load(given)
        store_all(e, items)
        e.out("LOAD_CONST", None)
        e.store(back)
        jump(e, end)
    e.label(end, depth)


@operation
def op_so_far(e: Emitter, tree: Tree) -> None:
    raise CannotEmit("so_far: the block has to be split before (autodiff/python/landing.py)", tree.operation.position)


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


OPS = pulling.OPS | tape.OPS | frozenset({"record", "nothing_recorded", "item"})
