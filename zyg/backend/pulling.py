"""Lowering of what the adjoint pass adds to reverse halves: pullbacks, rules, and sums of cotangents."""

from __future__ import annotations

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
    go_if_is,
    go_if_same,
    go_unless_is,
    go_unless_type,
    go_unless_type_in,
    is_none,
    item_at,
    jump,
    jump_if_none,
    operation,
    operator,
    store_all,
    store_none,
)
from .pullbacks import HELD, STEP, in_field, nothing, pulled
from .shadowing import access, add_part, look_up, take_part

if TYPE_CHECKING:
    from .python import Emitter


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
    if "position" in attrs:
        _undo_of_container(e, instr)
        return
    called = False  # whether the pullback is called, mostly
    field = bool(component) and attrs.get("computed") == "field"
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
            go_unless_is(e, lambda: item_at(e, whole, 0), nothing, recorded)
        elif attrs["access"] == "list_append":
            go_unless_type(e, back, int, recorded)
        elif "computed" in attrs:
            read = Label()
            e.load(back)
            jump_if_none(e, read)
            if field:
                _part_by_name(e, instr, none, end)
            go_unless_is(e, back, HELD, recorded)
            e.label(read, depth)
        else:
            _go_if_recorded(e, instr, recorded)
        done = access(e, instr, none, end)
        if done and (is_none(back) or "shadow" in attrs):
            return
        if done:
            jump(e, end)
        if attrs["access"] == "get_next" and "shadow" not in attrs:
            e.label(recorded, depth)
            recorded = Label()
            e.load(back)
            jump_if_none(e, none)
            if "apart" not in attrs:
                _undo_step(e, instr, end)
        if is_none(back) or "shadow" in attrs:
            e.label(none, depth)
            store_none(e, [*results, *component])
            e.label(end, depth)
            return
        e.label(recorded, depth)
        if attrs["access"] == "getitem" and "rare" not in attrs:
            _item_by_number(e, instr, none, end)
        if attrs["access"] == "getattr" and component and not field:
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
            _items(e, results, wanted, none)
            jump(e, end)
        else:
            jump(e, none)
        e.label(recorded, depth)
    elif attrs["of"] == "call_object" and "inline" not in attrs:
        called = True
        is_tuple, other = Label(), Label()
        go_unless_type(e, back, tuple, other)
        e.label(is_tuple, depth)
        with e.aside():
            e.label(other, depth)
            e.load(back)
            jump_if_none(e, none)
            _slope(e, back, d, results, wanted, none, end)
            jump(e, is_tuple)
    else:
        called = "inline" not in attrs
        e.load(back)
        jump_if_none(e, none)
        if "inline" in attrs:
            other = Label()
            go_unless_type(e, back, int, other)
            _undo_of_container(e, instr)
            taken = 1 if attrs["inline"] == "append" else None
            store_none(e, [r for r, k in zip(results, wanted, strict=True) if k != taken])
            jump(e, end)
            e.label(other, depth)
        if attrs["of"] == "call_object":
            _slope(e, back, d, results, wanted, none, end)
    if "rare" in attrs:
        _begin_rare(e, back, attrs["rare"])
    else:
        begin_call(e, lambda: item_at(e, back, 0))
        e.load(back)
    for v in (d, shadows):
        e.load(v)
    call(e, 3, ())
    _items(e, results, wanted, none, component)
    if called:
        with e.aside():
            e.label(none, depth)
            store_none(e, [*results, *component])
            jump(e, end)
    else:
        jump(e, end)
        e.label(none, depth)
        store_none(e, [*results, *component])
    e.label(end, depth)


def _undo_step(e: Emitter, instr: Operation, end: Label) -> None:
    """If an item is one of a generator that the loop alone has: resume the reverse half of that."""
    back, d, shadows, whole, _, _, last, steps = instr.operands
    step, resume, over = (Label() for _ in range(3))
    depth = e.depth
    go_if_is(e, back, STEP, step)
    with e.aside():
        e.label(step, depth)
        go_if_same(e, whole, last, resume)
        e.load(whole)
        e.store(last)
        call_method(e, shadows, "steps_of", whole)
        e.store(steps)
        e.label(resume, depth)
        e.load(steps)
        e.load(d)
        e.out("SEND", over)
        e.out("POP_TOP")
        e.out("POP_TOP")
        jump(e, end)
        if PY312:
            e.label(over, depth + 2)
            e.out("END_SEND")
        else:
            e.label(over, depth + 1)
        e.store(steps)
        call_method(e, shadows, "all_undone", whole, steps)
        e.store(last)  # (it is None: another generator begins)
        jump(e, end)


def _items(
    e: Emitter, results: list[Value], wanted: tuple[int, ...], none: Label, others: list[Value] | None = None
) -> None:
    """A tuple, or None, is on the stack: store its items `wanted` (and None for `others`), or go to `none`."""
    if not results:
        e.out("POP_TOP")
        store_none(e, others or [])
        return
    nothing = Label()
    e.out("COPY", 1)
    jump_if_none(e, nothing)
    with e.aside():
        e.label(nothing, e.depth)
        e.out("POP_TOP")
        jump(e, none)
    for r, k in zip(results, wanted, strict=True):
        if r is not results[-1]:
            e.out("COPY", 1)
        e.out("LOAD_CONST", k)
        e.out("BINARY_SUBSCR")
        e.store(r)
    store_none(e, others or [])


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
    go_unless_type(e, back, int, other)
    if is_none(d):
        jump(e, none)
    else:
        e.load(d)
        jump_if_none(e, none)
        go_unless_type(e, x, tuple, ordered)
        if 0 in wanted:
            call_method(e, shadows, "in_tuple", d, key, back)
            e.store(results[wanted.index(0)])
            store_none(e, [r for r, k in zip(results, wanted, strict=True) if k != 0])
            jump(e, end)
        else:
            jump(e, none)
        e.label(ordered, depth)
        look_up(e, shadows, x, "items", last, shadow)
        add_part(e, shadows, shadow, back, d, True)
        jump(e, none)
    e.label(other, depth)


def _part_by_name(e: Emitter, instr: Operation, none: Label, end: Label) -> None:
    """A field of a named tuple: its cotangent is a part of that of the tuple."""
    back, d = instr.operands[:2]
    other = Label()
    depth = e.depth
    go_unless_is(e, lambda: item_at(e, back, 0), in_field, other)
    e.load(d)
    e.store(instr.results[-1])
    store_none(e, instr.results[:-1])
    jump(e, end)
    e.label(other, depth)


def _undo_of_container(e: Emitter, instr: Operation) -> None:
    """Undo a method of a list or a deque, and store the cotangent of what was appended. The pullback is the position."""
    back, d, shadows, x, last, shadow = instr.operands
    name = instr.attrs["inline"]
    look_up(e, shadows, x, "items", last, shadow, about=instr.attrs)
    if name == "popleft":
        call_method(e, shadow, "insert", lambda: e.out("LOAD_CONST", 0), d)
        e.out("POP_TOP")
        return
    if name == "pop":
        call_method(e, shadows, "put_back", shadow, back, d)
        e.out("POP_TOP")
        return
    rotated, taken = Label(), Label()
    depth = e.depth
    e.load(back)
    e.out("LOAD_CONST", 0)
    e.out("COMPARE_OP", Compare.LT)
    e.jump_if("TRUE", rotated)
    take_part(e, shadow, back, True, last=True)
    e.label(taken, depth + 1)
    with e.aside():
        e.label(rotated, depth)
        call_method(e, shadows, "undo_rotation", shadow, back)
        jump(e, taken)
    given = instr.results[instr.attrs["wanted"].index(1)] if 1 in instr.attrs["wanted"] else None
    if given is not None:
        e.store(given)
    else:
        e.out("POP_TOP")


def _begin_rare(e: Emitter, rare: Value, number: int) -> None:
    """Begin the call of a pullback that was recorded rarely, which is its first argument."""
    if not PY313:
        e.out("PUSH_NULL")
    item_at(e, rare, number)
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
    depth = e.depth
    go_unless_type(e, back, float, other)
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
        _items(e, instr.results, instr.attrs["wanted"], none)
        jump(e, end)
    e.label(none, depth)
    store_none(e, instr.results)
    e.label(end, depth)


@operation
def op_cotangents(e: Emitter, tree: Tree) -> None:
    instr = tree.operation
    none, end = Label(), Label()
    e.push(tree, 0)
    depth = e.depth - 1
    _items(e, instr.results, instr.attrs["wanted"], none)
    with e.aside():
        e.label(none, depth)
        store_none(e, instr.results)
        jump(e, end)
    e.label(end, depth)


# What is added plainly where numbers are likely complex.
_ADDED = frozenset({float, complex})


def adds_to_what_may_be_none(instr: Operation) -> bool:
    """Whether a number is added to what is a number or None. (Then the number may be on the stack: it is computed on either way.)"""
    return bool(instr.attrs.get("numbers")) and instr.attrs.get("given") == (False, True) and "brief" not in instr.attrs


def _add_to_what_may_be_none(e: Emitter, tree: Tree) -> None:
    _, a, b, *_ = tree.operation.operands
    result = tree.operation.result
    none, end = Label(), Label()
    depth = e.depth
    there = 2 not in tree.inner and e.are_one(b, result)
    e.load(a)
    jump_if_none(e, end if there else none)
    e.load(a)
    e.push(tree, 2)
    operator(e, "add")
    e.store(result)
    if not there:
        with e.aside():
            e.label(none, depth)
            e.push(tree, 2)
            e.store(result)
            jump(e, end)
    e.label(end, depth)


@operation
def op_accumulate(e: Emitter, tree: Tree) -> None:
    instr = tree.operation
    if adds_to_what_may_be_none(instr):
        _add_to_what_may_be_none(e, tree)
        return
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
        if instr.attrs.get("complex"):
            go_unless_type_in(e, a, _ADDED, slow)
        else:
            go_unless_type(e, a, float, slow)
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
def op_parts(e: Emitter, tree: Tree) -> None:
    """The tuple of its operands, or None if all of them are."""
    operands, result = tree.operation.operands, tree.operation.result
    *others, last = [v for v in operands if not is_none(v)]
    some, none, end = Label(), Label(), Label()
    depth = e.depth
    for v in others:
        e.load(v)
        jump_if_none(e, some, negated=True)
    e.load(last)
    jump_if_none(e, none)
    e.label(some, depth)
    for v in operands:
        e.load(v)
    e.out("BUILD_TUPLE", len(operands))
    e.store(result)
    with e.aside():
        e.label(none, depth)
        e.out("LOAD_CONST", None)
        e.store(result)
        jump(e, end)
    e.label(end, depth)


@operation
def op_nothing_looked_up(e: Emitter, tree: Tree) -> None:
    """Variables for the object whose shadow was looked up last, and its shadow: what wants a shadow writes them."""
    if "idle" in tree.operation.attrs:
        return
    for r in tree.operation.results:
        e.out("LOAD_CONST", None)
        e.store(r)


OPS = frozenset({"pull", "rule", "cotangents", "accumulate", "join", "parts", "nothing_looked_up"})
