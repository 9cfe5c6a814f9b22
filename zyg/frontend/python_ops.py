"""A handler per operation of untyped SSA. A handler gets the evaluator, the frame and the instruction, reads operands with
`e.read`, emits, and returns the abstract value of the result, if there is one."""

from __future__ import annotations

import sys
import types as python_types
from collections.abc import Callable
from typing import Any

from zyg.ir.core import Block, Const, Instr, Target, Value
from zyg.remedies import OUTSIDE
from zyg.typeof import UNBOUND

from . import classes, comparison, environment, iterators, kinds, operators, patterns, scalars
from .binding import call_by_rows
from .evaluator import Evaluator
from .frames import Frame, Stop
from .later import arrays, dicts, lists, subscripts
from .scalars import boolean
from .type_names import settled_operand
from .values import (
    ARRAYS,
    NONE,
    UNBOUND_VALUE,
    Abstract,
    ChoiceValue,
    ComplexValue,
    FunctionValue,
    Known,
    MaybeValue,
    Number,
    Record,
    Reference,
    SliceValue,
    StructValue,
    TupleValue,
    describe,
    is_choice_of_data,
    is_reference,
    known,
)

Handler = Callable[[Evaluator, Frame, Instr], "Abstract | None"]
HANDLERS: dict[str, Handler] = {}


def execute(e: Evaluator, frame: Frame, instr: Instr) -> None:
    handler = HANDLERS.get(instr.op)
    if handler is None:
        what, hint = UNSUPPORTED.get(instr.op, (f"the operation `{instr.op}`", OUTSIDE))
        refusal = e.refuse(what + " in native code", hint=hint)
        refusal.final = True
        raise refusal
    if instr.op not in _ANY_OBJECT:
        operands = instr.operands[:1] if instr.op.startswith("call") else instr.operands
        for operand in operands:
            v = e.env.get(operand)
            if isinstance(v, ChoiceValue) and (is_reference(v) or is_choice_of_data(v)):
                _by_option(e, frame, instr, operand, v)
                return
    elif instr.op == "iter" and is_choice_of_data(e.env.get(instr.operands[0])):
        choice = e.read(instr.operands[0])
        assert isinstance(choice, ChoiceValue)
        _by_option(e, frame, instr, instr.operands[0], choice)
        return
    result = handler(e, frame, instr)
    if result is not None:
        e.env[instr.results[0]] = result


# Operations that pass objects on as they are.
_ANY_OBJECT = frozenset(
    "jump branch return yield tuple list dict frozen_key_dict list_append set_cell new_cell make_function forget "
    "checked_local format convert string iter".split()
)


def _by_option(e: Evaluator, frame: Frame, instr: Instr, operand: Value, choice: ChoiceValue) -> None:
    """An operation on one of several objects, or on a number or an array: for each of them."""

    def for_option(option: Abstract) -> Abstract:
        e.env[operand] = option
        execute(e, frame, instr)
        return TupleValue(tuple(e.env[r] for r in instr.results))

    try:
        joined = e.each(choice, for_option)
    finally:
        e.env[operand] = choice  # where each of them raises, too: another operand may have other options to go through
    assert isinstance(joined, TupleValue)
    e.env.update(zip(instr.results, joined.items))


def handler(*names: str) -> Callable[[Handler], Handler]:
    def register(function: Handler) -> Handler:
        for name in names:
            assert name not in HANDLERS, name
            HANDLERS[name] = function
        return function

    return register


_BY_KEY = 'look the keys up: `if "k" in d: v = d["k"]`'
_IN_A_FUNCTION = "write it in a function, or outside of the one that is differentiated"
UNSUPPORTED: dict[str, tuple[str, str]] = {
    "set_global": ("an assignment to a global variable", "return the value, or store into an array"),
    "del_global": ("`del` of a global variable", "set it to None, outside of the function"),
    "set": ("a set", "use a tuple"),
    "set_add": ("a set comprehension", "use a tuple"),
    "build_class": ("a class statement", "define the class at the top of the module"),
    "match_mapping": ("a mapping pattern", _BY_KEY),
    "match_keys": ("a mapping pattern", _BY_KEY),
    "locals": ("locals()", "name the variables, or keep them in a dict"),
    "set_name": ("code of a class or a module", _IN_A_FUNCTION),
    "del_name": ("code of a class or a module", _IN_A_FUNCTION),
    "class_deref": ("code of a class", _IN_A_FUNCTION),
    "dict_or_global": ("code of a class", _IN_A_FUNCTION),
    "setup_annotations": ("code of a class or a module", _IN_A_FUNCTION),
    "import_star": ("`from ... import *`", "import at the top of the module"),
    "set_update": ("a set", "use a tuple"),
    "with_exit": ("a `with` statement", "do it outside of the function, and pass what comes of it"),
    "push_exception": ("an exception handler", "test for the condition with `if`"),
    "pop_exception": ("an exception handler", "test for the condition with `if`"),
    "check_match": ("an exception handler", "test for the condition with `if`"),
    "check_group": ("an exception handler", "test for the condition with `if`"),
    "prepare_reraise": ("an exception handler", "test for the condition with `if`"),
    "yield_from": ("`yield from`", "write a loop that yields"),
}
# What only the adjoint pass emits, for the Python back end.
UNSUPPORTED |= dict.fromkeys(
    "record nothing_recorded so_far item pull rule cotangents accumulate join nothing_looked_up".split(),
    ("a half of an object adjoint", OUTSIDE),
)


# ------------------------------------------------------------------------------------------- arithmetic

_BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor", "matmul"]
_BINARY += ["lt", "le", "eq", "ne", "gt", "ge"]
_INPLACE = {f"i{name}": name for name in _BINARY[:13] if name != "pow"} | {"ipow_": "pow"}


@handler(*_BINARY)
def _binary(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    a, b = instr.operands
    return operators.binary(e, instr.op, e.read(a), e.read(b))


@handler(*_INPLACE)
def _inplace(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    a, b = instr.operands
    name, before = _INPLACE[instr.op], e.in_place
    e.in_place = frame, operators.SYMBOLS[name]
    try:
        return inplace(e, name, e.read(a), e.read(b))
    finally:
        e.in_place = before


def inplace(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract:
    if isinstance(a, MaybeValue):  # (what it is says whether it changes in place)
        a = settled_operand(e, a, operators.UNSUPPORTED.format(operators.SYMBOLS[name], "{}", "{}"), a, b)
    if isinstance(a, ARRAYS):
        return arrays.inplace(e, name, a, b)
    if isinstance(a, Reference):
        if e.heap[a.id].kind in ("list", "growing") and name in ("add", "mul"):
            scalar = isinstance(b, (Number, ComplexValue)) and b.numpy
            if isinstance(b, ARRAYS) or name == "add" and scalar:
                return operators.binary(e, name, a, b)  # NumPy is asked before a list: what comes out is an array
            result = classes.operator_method(e, name, a, b)  # so are objects
            return result if result is not None else lists.inplace(e, name, a, b)
        if e.heap[a.id].kind == "dict" and name == "or":
            dicts.update(e, a, b)
            return a
    if isinstance(a, (Reference, StructValue)):
        result = classes.operator_method(e, f"i{name}", a, b)
        if result is not None:
            return result
    return operators.binary(e, name, a, b)


@handler("neg", "pos", "invert", "not")
def _unary(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    return operators.unary(e, instr.op, e.read(instr.operands[0]))


@handler("is", "is_not")
def _identity(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    a, b = instr.operands
    flag = comparison.identical(e, e.read(a), e.read(b))
    return boolean(flag if instr.op == "is" else scalars.negate(e, flag))


@handler("contains")
def _contains(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    item, container = instr.operands
    return subscripts.contains(e, e.read(item), e.read(container))


@handler("truth")
def _truth(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    return boolean(comparison.truth(e, e.read(instr.operands[0])))


# --------------------------------------------------------------------------------------- control flow


@handler("jump")
def _jump(e: Evaluator, frame: Frame, instr: Instr) -> None:
    e.go_on(frame, instr.targets[0])


@handler("branch")
def _branch(e: Evaluator, frame: Frame, instr: Instr) -> None:
    condition = instr.operands[0]
    if condition in e.advancing:
        iterator, item = e.advancing[condition]
        iterate(e, frame, iterator, item, instr.targets)
        return
    value = e.read(condition)
    flag = comparison.truth(e, value)
    if isinstance(flag, Const):
        e.go_on(frame, instr.targets[0 if flag.value else 1])
        return
    fact = e.facts.get(id(flag))
    narrow: list[Any] = [None, None]
    if fact is not None and fact[0] is flag:
        _, present, if_true, if_false = fact
        narrow = [None if known is None else narrowing(present, known) for known in (if_true, if_false)]
    then, other = (e.go(frame, t, n) for t, n in zip(instr.targets, narrow))
    e.builder.append(Instr("branch", [flag], targets=[then, other]))


def narrowing(present: Value, holds: bool) -> Callable[[Abstract], Abstract]:
    """Replaces optional values that hang on `present` by what they are where it holds, or does not."""

    def narrow(v: Abstract) -> Abstract:
        if isinstance(v, MaybeValue) and v.present is present:
            return narrow(v.item) if holds else Known(v.absent)
        if isinstance(v, TupleValue):
            items = tuple(map(narrow, v.items))
            return TupleValue(items) if any(map(lambda a, b: a is not b, items, v.items)) else v
        return v

    return narrow


def iterate(e: Evaluator, frame: Frame, iterator: Abstract, item: Value, targets: list[Target]) -> None:
    """Advance an iterator: with an item go to the first target, at the end to the second."""

    def on_item(value: Abstract) -> None:
        e.env[item] = value
        e.go_on(frame, targets[0])
        del e.env[item]

    def on_end() -> None:
        e.go_on(frame, targets[1])

    iterators.advance(e, iterator, on_item, on_end)


@handler("return")
def _return(e: Evaluator, frame: Frame, instr: Instr) -> None:
    e.leave(frame, e.read(instr.operands[0]))


@handler("unreachable")
def _unreachable(e: Evaluator, frame: Frame, instr: Instr) -> None:
    e.builder.append(Instr("unreachable"))
    raise Stop


@handler("yield")
def _yield(e: Evaluator, frame: Frame, instr: Instr) -> None:
    value = e.read(instr.operands[0])
    e.env[instr.results[0]] = NONE
    iterators.suspend(e, frame, value, instr)
    raise Stop


@handler("iter")
def _iter(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    return iterators.make_iterator(e, e.read(instr.operands[0]))


@handler("next")
def _next(e: Evaluator, frame: Frame, instr: Instr) -> None:
    e.advancing[instr.results[0]] = (e.read(instr.operands[0]), instr.results[1])


@handler("with_enter")
def _with_enter(e: Evaluator, frame: Frame, instr: Instr) -> None:
    """Managers that have an entry in the library: they change nothing, and their blocks are evaluated as any other. The
    entry gives what to call in place of `__exit__`, and the value."""
    from zyg.library import registry

    manager = e.read(instr.operands[0])
    entry = registry.method(type(manager.object), "__enter__") if isinstance(manager, Known) else None
    if entry is None:
        refusal = e.refuse(
            "a `with` statement in native code", hint="do it outside of the function, and pass what comes of it"
        )
        refusal.final = True
        raise refusal
    leave_and_value = entry.function(e, manager)
    assert isinstance(leave_and_value, TupleValue)
    e.env.update(zip(instr.results, leave_and_value.items))


def passes_on(e: Evaluator, frame: Frame, block: Block) -> bool:
    """Whether the handler of a block is that of a `with` which does nothing, nor do handlers around it."""
    assert block.handler is not None
    first = here = block.handler.block
    while True:
        for instr in here.instrs:
            if instr.op == "with_exit":
                entered = instr.operands[0] in e.env
                return entered and (first not in frame.prepared.trying or passes_on(e, frame, first))
        last = here.instrs[-1]
        if last.op != "jump":
            return False
        here = last.targets[0].block


@handler("raise")
def _raise(e: Evaluator, frame: Frame, instr: Instr) -> None:
    from .exceptions import raise_value

    if not instr.operands:
        raise e.refuse("`raise` without an exception", hint="name the exception")
    if len(instr.operands) > 1:
        cause = e.read(instr.operands[1])
        if not isinstance(cause, Known) or cause.object is not None:
            raise e.refuse("`raise ... from` an exception in native code", hint="leave the cause out")
    raise_value(e, e.read(instr.operands[0]))


@handler("reraise")
def _reraise(e: Evaluator, frame: Frame, instr: Instr) -> None:
    raise e.refuse("an exception handler", hint="test for the condition with `if`")


@handler("assertion_error")
def _assertion_error(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    return Known(AssertionError)


# ------------------------------------------------------------------------------------------- variables


@handler("global", "name")
def _global(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    return environment.global_value(e, frame, instr.attrs["name"])


@handler("unbound")
def _unbound(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    return UNBOUND_VALUE


@handler("forget")
def _forget(e: Evaluator, frame: Frame, instr: Instr) -> None:
    """When the memory of a value goes is decided by `passes.ownership`."""


@handler("checked_local")
def _checked_local(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    v = e.read(instr.operands[0])
    name = instr.attrs["name"]
    message = f"cannot access local variable '{name}' where it is not associated with a value"
    return bound(e, v, "UnboundLocalError", message)


def bound(e: Evaluator, v: Abstract, exc: str, message: str) -> Abstract:
    if isinstance(v, Known) and v.object is UNBOUND:
        e.throw(exc, message)
    if isinstance(v, MaybeValue) and v.absent is UNBOUND:
        e.guard(v.present, exc, message)
        return v.item
    return v


@handler("new_cell")
def _new_cell(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    id = e.new_id("cell")
    content = e.read(instr.operands[0]) if instr.operands else UNBOUND_VALUE
    e.heap[id] = Record("cell", instr.attrs.get("name"), (content,))
    return Reference(id)


@handler("free_cell")
def _free_cell(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    return frame.free[instr.attrs["name"]]


@handler("get_cell")
def _get_cell(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    v = cell_content(e, e.read(instr.operands[0]))
    name = instr.attrs.get("name", "")
    if name in frame.code.co_freevars:
        text = f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
        return bound(e, v, "NameError", text)
    text = f"cannot access local variable '{name}' where it is not associated with a value"
    return bound(e, v, "UnboundLocalError", text)


def cell_content(e: Evaluator, v: Abstract) -> Abstract:
    if isinstance(v, Reference) and e.heap[v.id].kind == "cell":
        return e.heap[v.id].fields[0]
    return v  # what a function captured before this code was entered: its value


@handler("set_cell")
def _set_cell(e: Evaluator, frame: Frame, instr: Instr) -> None:
    set_cell(e, e.read(instr.operands[0]), e.read(instr.operands[1]))


def set_cell(e: Evaluator, cell: Abstract, value: Abstract) -> None:
    if not isinstance(cell, Reference):
        raise e.refuse(
            "an assignment to a variable of a function that is not compiled here",
            hint="return the value, or store into an array",
        )
    e.heap[cell.id] = e.heap[cell.id].replace(0, value)


@handler("del_cell")
def _del_cell(e: Evaluator, frame: Frame, instr: Instr) -> None:
    set_cell(e, e.read(instr.operands[0]), UNBOUND_VALUE)


@handler("import_name")
def _import_name(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    """An import inside a function happens when it is compiled."""
    level, names = (e.read(v) for v in instr.operands)
    items = kinds.known_items(e, names) or ()
    fromlist = tuple(n.object for n in items if isinstance(n, Known))
    if not isinstance(level, Known):
        raise e.refuse("an import", hint="import at the top of the module")
    try:
        module = __import__(instr.attrs["name"], frame.globals, None, fromlist, level.object)
        if not frame.library:
            e.inference.guard("imported", module)
            e.inference.guard("imported", sys.modules.get(instr.attrs["name"], module))
        return Known(module)
    except ImportError as error:
        e.inference.guard("imported", None)
        e.throw(type(error).__name__, str(error))
        raise AssertionError from None


@handler("import_from")
def _import_from(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    return classes.get_attribute(e, e.read(instr.operands[0]), instr.attrs["name"])


# ------------------------------------------------------------------------------------ objects, subscripts


@handler("getattr")
def _getattr(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    return classes.get_attribute(e, e.read(instr.operands[0]), instr.attrs["name"])


@handler("setattr")
def _setattr(e: Evaluator, frame: Frame, instr: Instr) -> None:
    target, value = (e.read(v) for v in instr.operands)
    classes.set_attribute(e, target, instr.attrs["name"], value)


@handler("delattr")
def _delattr(e: Evaluator, frame: Frame, instr: Instr) -> None:
    classes.del_attribute(e, e.read(instr.operands[0]), instr.attrs["name"])


@handler("delitem")
def _delitem(e: Evaluator, frame: Frame, instr: Instr) -> None:
    target, key = (e.read(v) for v in instr.operands)
    subscripts.del_item(e, target, key)


@handler("getitem")
def _getitem(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    target, key = (e.read(v) for v in instr.operands)
    return subscripts.get_item(e, target, key)


@handler("setitem")
def _setitem(e: Evaluator, frame: Frame, instr: Instr) -> None:
    target, key, value = (e.read(v) for v in instr.operands)
    subscripts.set_item(e, target, key, value)


@handler("make_slice")
def _make_slice(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    parts = [e.read(v) for v in instr.operands]
    return SliceValue(*parts, *[NONE] * (3 - len(parts)))


@handler("tuple")
def _tuple(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    return TupleValue(tuple(e.read(v) for v in instr.operands))


@handler("list")
def _list(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    return lists.new_list(e, [e.read(v) for v in instr.operands])


@handler("list_append")
def _list_append(e: Evaluator, frame: Frame, instr: Instr) -> None:
    lists.append(e, e.read(instr.operands[0]), e.read(instr.operands[1]))


@handler("list_extend")
def _list_extend(e: Evaluator, frame: Frame, instr: Instr) -> None:
    lists.extend(e, e.read(instr.operands[0]), e.read(instr.operands[1]))


@handler("list_to_tuple")
def _list_to_tuple(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    return _tuple_of(e, frame, instr)


def _tuple_of(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    """A tuple of a list that was made for it. What is nothing but the arguments of a call, `f(x, *xs)`, may be of a length that is not known."""
    made = e.read(instr.operands[0])
    if lists.all_items(e, made) is None:
        blocks = frame.prepared.function.blocks
        users = [user.op for block in blocks for user in block.instrs if instr.results[0] in user.operands]
        if set(users) == {"call_spread"}:
            return made
    return lists.to_tuple(e, made)


@handler("unpack")
def _unpack(e: Evaluator, frame: Frame, instr: Instr) -> None:
    items = subscripts.unpack(e, e.read(instr.operands[0]), instr.attrs["count"])
    e.env.update(zip(instr.results, items))


@handler("unpack_rest")
def _unpack_rest(e: Evaluator, frame: Frame, instr: Instr) -> None:
    before, after = instr.attrs["before"], instr.attrs["after"]
    items = subscripts.unpack_rest(e, e.read(instr.operands[0]), before, after)
    e.env.update(zip(instr.results, items))


@handler("len_")
def _len(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    return lists.length(e, e.read(instr.operands[0]))


@handler("match_sequence")
def _match_sequence(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    return patterns.is_sequence(e, e.read(instr.operands[0]))


@handler("match_class")
def _match_class(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    subject, cls, names = (e.read(v) for v in instr.operands)
    return patterns.match_class(e, subject, cls, names, instr.attrs["count"])


# ------------------------------------------------------------------------------------------- functions


@handler("make_function")
def _make_function(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    code: python_types.CodeType = instr.attrs["code"]
    parts = dict(zip(instr.attrs["has"], map(e.read, instr.operands)))
    closure = parts.get("closure")
    captured = closure.items if isinstance(closure, TupleValue) else ()
    defaults = parts.get("defaults")
    kwdefaults = parts.get("kwdefaults")
    default_items = defaults.items if isinstance(defaults, TupleValue) else ()
    pairs = dicts.named_items(e, kwdefaults).items() if kwdefaults is not None else ()
    return FunctionValue(code, frame.globals, code.co_name, captured, default_items, tuple(pairs))


@handler("call_object")
def _call_object(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    callee, *args = (e.read(v) for v in instr.operands)
    names = instr.attrs["keywords"]
    positional = args[: len(args) - len(names)]
    return _call(e, frame, instr, callee, positional, dict(zip(names, args[len(positional) :])))


@handler("call_spread")
def _call_spread(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    callee, args, *rest = (e.read(v) for v in instr.operands)
    items = lists.all_items(e, args)
    if items is None and iterators.is_iterator(e, args):
        items = kinds.known_items(e, lists.to_list(e, args))
    keywords = dicts.from_value(e, rest[0]) if rest else {}
    if items is None and isinstance(args, ARRAYS) and not keywords:
        made = call_by_rows(e, callee, args)
        if made is not None:
            return made
    if (
        items is None
        and isinstance(callee, Known)
        and any(callee.object is f for f in (min, max))
        and keywords.keys() <= {"key"}
    ):
        from zyg.library.reductions import extreme_of_arguments

        name = Known(callee.object.__name__)
        return e.call(known(extreme_of_arguments), [callee, name, args, keywords.get("key", NONE)])
    if items is None:
        raise e.refuse(
            "a call with *args of a length that is not known when compiling",
            types=[describe(args, e.heap)],
            hint="give them names first: x, y = rows",
        )
    return _call(e, frame, instr, callee, list(items), keywords)


def _call(
    e: Evaluator, frame: Frame, instr: Instr, callee: Abstract, args: list[Abstract], keywords: dict[str, Abstract]
) -> Abstract:
    frame.calls_given = frame.library and instr.operands[0] not in frame.prepared.named
    try:
        return e.call(callee, args, keywords)
    finally:
        frame.calls_given = False


@handler("dict", "frozen_key_dict", "dict_merge", "dict_update")
def _dict(e: Evaluator, frame: Frame, instr: Instr) -> Abstract | None:
    return dicts.from_instruction(e, instr)


@handler("dict_setitem")
def _dict_setitem(e: Evaluator, frame: Frame, instr: Instr) -> None:
    target, key, value = (e.read(v) for v in instr.operands)
    assert isinstance(target, Reference)
    dicts.set_item(e, target, key, value)


# ---------------------------------------------------------------------------------------------- strings


@handler("format")
def _format(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    from .exceptions import format_value

    value, *spec = (e.read(v) for v in instr.operands)
    return format_value(e, value, instr.attrs.get("conversion", ""), spec[0] if spec else Known(""))


@handler("convert")
def _convert(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    from .exceptions import format_value

    return format_value(e, e.read(instr.operands[0]), instr.attrs.get("conversion", "s"), Known(""))


@handler("string")
def _string(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    from .exceptions import join_strings

    return join_strings(e, [e.read(v) for v in instr.operands])


@handler("intrinsic")
def _intrinsic(e: Evaluator, frame: Frame, instr: Instr) -> Abstract:
    if instr.attrs["name"] == "list_to_tuple":
        return _tuple_of(e, frame, instr)
    if instr.attrs["name"] == "unary_positive":
        return operators.unary(e, "pos", e.read(instr.operands[0]))
    raise e.refuse(f"the interpreter's intrinsic {instr.attrs['name']}", hint=OUTSIDE)
