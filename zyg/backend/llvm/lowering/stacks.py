"""Stacks and tapes: what the forward part of an adjoint leaves for the reverse part."""

from __future__ import annotations

from collections.abc import Callable

from ....ir.core import Instr, Value
from ....ir.types import Stack, Tape, Tuple, Type
from ..text import ARENA, Record, by_value, components
from .function import NO_MEMORY, FunctionLowering
from .registry import lowers

# Reads its arguments' memory, and what compiled code never touches by itself.
READS_STACK = "nounwind memory(argmem: read, inaccessiblemem: read)"
CHUNK = "{ptr, ptr, ptr}"  # a stack's position: its top, and where the present chunk begins and ends


def record_types(stack: Value) -> tuple[Type, ...]:
    """The types of what one push puts on a stack: a tuple is a record of several values."""
    assert isinstance(stack.type, Stack)
    item = stack.type.item
    return item.items if isinstance(item, Tuple) else (item,)


def record_layout(stack: Value, values: list[Value]) -> tuple[Record, int]:
    """How a record of `values` lies on a stack or tape, and its size."""
    if isinstance(stack.type, Tape):
        layout = Record([v.type for v in values])
        return layout, -(-layout.size // 8) * 8
    layout = Record(record_types(stack))
    return layout, layout.size


def word_tag(e: FunctionLowering, stack: Value) -> str:
    return "" if isinstance(stack.type, Stack) else e.module.tag("tape")


def stack_memory(e: FunctionLowering, stack: Value) -> str:
    return e.module.tag("stack") + e.scopes.annotation(stack)


@lowers("stack")
def stack(e: FunctionLowering, instr: Instr) -> None:
    room = instr.attrs.get("room")
    if room is None:
        e.define(instr, ["null", "null", "null"])
    else:
        frame = e.alloca(f"[{room * Record(record_types(instr.result)).size} x i8]", "frame", align=8)
        e.define(instr, [frame, frame, "null"])


@lowers("tape")
def tape(e: FunctionLowering, instr: Instr) -> None:
    e.define(instr, [e.new_tape(["null", "null", "null"])])


@lowers("cursor")
def cursor(e: FunctionLowering, instr: Instr) -> None:
    e.bind_copied(instr.result, e.copied(instr.operands[0]))


@lowers("drop", context=True)
def drop(e: FunctionLowering, instr: Instr) -> None:
    _, begin, _ = e.copied(instr.operands[0])
    callee = e.module.external("zyg_stack_drop", "void", "ptr, ptr", ARENA)
    e.call("void", callee, "ptr %ctx", f"ptr {begin}")


def may_grow(push: Instr) -> bool:
    return not push.attrs.get("unchecked")


@lowers("push", context=may_grow, fails=may_grow)
def push(e: FunctionLowering, instr: Instr) -> None:
    stack, *values = instr.operands
    layout, size = record_layout(stack, values)
    top_slot, begin_slot, end_slot = e.position(stack)
    words, memory = word_tag(e, stack), stack_memory(e, stack)
    # First all components: those of a stack that is pushed are loads.
    parts = [c for v in values for c in e.copied(v)]
    top = e.let(f"load ptr, ptr {top_slot}{words}", "top")
    if not instr.attrs.get("unchecked"):
        top = make_room(e, top, begin_slot, end_slot, str(size), words)
    for (offset, type), part in zip(layout.fields, parts, strict=True):
        if type == "i1":
            type, part = "i8", e.let(f"zext i1 {part} to i8")
        e.emit(f"store {type} {part}, ptr {e.at(top, offset)}{memory}")
    e.emit(f"store ptr {e.at(top, size)}, ptr {top_slot}{words}")


def make_room(e: FunctionLowering, top: str, begin_slot: str, end_slot: str, size: str, words: str) -> str:
    """The top of the stack, in a new chunk if this one has less than `size` bytes left."""
    begin = e.let(f"load ptr, ptr {begin_slot}{words}", "begin")
    end = e.let(f"load ptr, ptr {end_slot}{words}", "end")
    top_number = e.let(f"ptrtoint ptr {top} to i64")
    end_number = e.let(f"ptrtoint ptr {end} to i64")
    room = e.let(f"sub i64 {end_number}, {top_number}", "room")
    fits = e.let(f"icmp sge i64 {room}, {size}")
    go_on, grow, before = e.name("room"), e.name("grow"), e.label
    e.branch(fits, go_on, grow, likely=True)
    e.start(grow)
    callee = e.module.external("zyg_stack_grow", CHUNK, "ptr, ptr, ptr, ptr, i64", ARENA)
    new = e.call(CHUNK, callee, "ptr %ctx", f"ptr {top}", f"ptr {begin}", f"ptr {end}", f"i64 {size}",
                    attributes="cold")  # fmt: skip
    new_top, new_begin, new_end = (e.let(f"extractvalue {CHUNK} {new}, {k}") for k in range(3))
    e.check(e.let(f"icmp ne ptr {new_top}, null"), e.site(*NO_MEMORY))
    e.emit(f"store ptr {new_begin}, ptr {begin_slot}{words}")
    e.emit(f"store ptr {new_end}, ptr {end_slot}{words}")
    grown = e.label
    e.jump(go_on)
    e.start(go_on)
    return e.let(f"phi ptr [ {top}, %{before} ], [ {new_top}, %{grown} ]", "top")


def move(e: FunctionLowering, stack: Value, call: Callable[[list[str]], str]) -> list[str]:
    """Set a stack's position to what a function of the runtime makes of it."""
    slots, words = e.position(stack), word_tag(e, stack)
    chunk = call([f"ptr {e.let(f'load ptr, ptr {slot}{words}', 's')}" for slot in slots])
    parts = [e.let(f"extractvalue {CHUNK} {chunk}, {k}", "s") for k in range(3)]
    for part, slot in zip(parts, slots, strict=True):
        e.emit(f"store ptr {part}, ptr {slot}{words}")
    return parts


@lowers("reserve", context=True, fails=True)
def reserve(e: FunctionLowering, instr: Instr) -> None:
    stack, count = instr.operands
    top_slot, begin_slot, end_slot = e.position(stack)
    words = word_tag(e, stack)
    size = Record(record_types(stack)).size
    if instr.attrs.get("rare"):
        callee = e.module.external("zyg_stack_reserve", CHUNK, "ptr, ptr, ptr, ptr, i64, i64", ARENA)
        chunk = move(
            e, stack, lambda at: e.call(CHUNK, callee, "ptr %ctx", *at, f"i64 {e.value(count)}", f"i64 {size}")
        )
        e.check(e.let(f"icmp ne ptr {chunk[2]}, null"), e.site(*NO_MEMORY))
        return
    both = e.with_overflow("smul", e.value(count), str(size))
    e.check_none([e.let(f"extractvalue {{i64, i1}} {both}, 1")], e.site(*NO_MEMORY))
    needed = e.let(f"extractvalue {{i64, i1}} {both}, 0")
    top = e.let(f"load ptr, ptr {top_slot}{words}", "top")
    top = make_room(e, top, begin_slot, end_slot, needed, words)
    e.emit(f"store ptr {top}, ptr {top_slot}{words}")


@lowers("pop")
def pop(e: FunctionLowering, instr: Instr) -> None:
    (stack,) = instr.operands
    layout, size = record_layout(stack, instr.results)
    top_slot, begin_slot, end_slot = e.position(stack)
    words, memory = word_tag(e, stack), stack_memory(e, stack)
    top = e.let(f"load ptr, ptr {top_slot}{words}", "top")
    if not instr.attrs.get("unchecked"):
        top = go_back(e, top, begin_slot, end_slot, words)
    top = e.let(f"getelementptr inbounds i8, ptr {top}, i64 -{size}", "top")
    names = []
    for (offset, type), hint in zip(layout.fields, result_hints(e, instr), strict=True):
        address = e.at(top, offset)
        if type == "i1":
            byte = e.let(f"load i8, ptr {address}{memory}")
            names.append(e.let(f"trunc i8 {byte} to i1", hint))
        else:
            names.append(e.let(f"load {type}, ptr {address}{memory}", hint))
    e.emit(f"store ptr {top}, ptr {top_slot}{words}")
    index = 0
    for value in instr.results:
        count = len(components(by_value(value.type)))
        e.bind_copied(value, names[index : index + count])
        index += count


def result_hints(e: FunctionLowering, instr: Instr) -> list[str]:
    return [(v.name or "v") + suffix for v in instr.results for suffix, _ in components(by_value(v.type))]


def go_back(e: FunctionLowering, top: str, begin_slot: str, end_slot: str, words: str) -> str:
    """The top of the stack, in the chunk before if this one is read to its beginning."""
    begin = e.let(f"load ptr, ptr {begin_slot}{words}", "begin")
    more = e.let(f"icmp ne ptr {top}, {begin}")
    go_on, back, before = e.name("item"), e.name("back"), e.label
    e.branch(more, go_on, back, likely=True)
    e.start(back)
    callee = e.module.external("zyg_stack_back", CHUNK, "ptr", READS_STACK)
    new = e.call(CHUNK, callee, f"ptr {begin}", attributes="cold")
    new_top, new_begin, new_end = (e.let(f"extractvalue {CHUNK} {new}, {k}") for k in range(3))
    e.emit(f"store ptr {new_begin}, ptr {begin_slot}{words}")
    e.emit(f"store ptr {new_end}, ptr {end_slot}{words}")
    e.jump(go_on)
    e.start(go_on)
    return e.let(f"phi ptr [ {top}, %{before} ], [ {new_top}, %{back} ]", "top")


@lowers("rewind")
def rewind(e: FunctionLowering, instr: Instr) -> None:
    stack, count = instr.operands
    top_slot, begin_slot, end_slot = e.position(stack)
    words = word_tag(e, stack)
    if instr.attrs.get("rare"):
        callee = e.module.external("zyg_stack_rewind", CHUNK, "ptr, ptr, ptr, i64", READS_STACK)
        move(e, stack, lambda at: e.call(CHUNK, callee, *at, f"i64 {e.value(count)}"))
        return
    top = e.let(f"load ptr, ptr {top_slot}{words}", "top")
    go_on, some = e.name("rewound"), e.name("rewind")
    empty = e.let(f"icmp sle i64 {e.value(count)}, 0")
    e.branch(empty, go_on, some)
    e.start(some)
    top = go_back(e, top, begin_slot, end_slot, words)
    e.emit(f"store ptr {top}, ptr {top_slot}{words}")
    e.jump(go_on)
    e.start(go_on)
