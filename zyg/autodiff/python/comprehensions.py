"""Comprehensions become part of the function that they stand in.

A comprehension that is a function of its own (lists, sets and dicts before 3.12), and a generator expression that is passed
straight to a function that takes all its items at once, or stands behind a star, are loops: they need no call, no generator, no
closure. Variables that only they have captured become plain ones again.

What a generator expression is passed to is known by its name when the function is compiled, and looked at again when the code
runs. An exception StopIteration that comes out of a generator expression becomes RuntimeError there (`Block.in_iterator`).
"""

from __future__ import annotations

import builtins
import math
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

from zyg.errors import Unsupported
from zyg.frontend.capture import capture
from zyg.ir.analysis import use_counts
from zyg.ir.builder import Variables
from zyg.ir.core import Block, Const, Function, Instr, Target, Value, clone, map_uses
from zyg.ir.types import BOOL, OBJECT

_OWN = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})
# What takes all items. (Most of these work on an item before they ask for the next one: docs/semantics.md says what differs.)
_CONSUMERS = frozenset(
    {
        sum,
        list,
        tuple,
        set,
        frozenset,
        sorted,
        max,
        min,
        math.prod,
        math.fsum,
        any,
        all,
        next,
        dict,
        OrderedDict,
        Counter,
        deque,
    }
)
# Those that take items until the truth of one decides, and which truth that is.
_DECIDING = {any: True, all: False}
# Those that may leave items.
_LEAVING = frozenset({*_DECIDING, next})
# What takes all items of what stands behind a star.
_STARS = frozenset({"call_spread", "list_extend"})
_UNPACKING = frozenset({"unpack", "unpack_rest"})
_OPTIMIZED = 0x1  # CO_OPTIMIZED: not the body of a class or a module

Made = tuple[Block, Instr]


def taken_in(function: Function, namespace: dict[str, Any] | None) -> Function:
    """The function with its comprehensions taken in; itself if there are none. `namespace`: its global variables."""
    code = function.attrs.get("code")
    if not isinstance(code, CodeType) or not code.co_flags & _OPTIMIZED:
        return function
    if not any(i.op == "make_function" for _, i in function.instructions()):
        return function
    f = clone(function)
    taken = False
    while _take_one(f, namespace):
        taken = True
    if not taken:
        return function
    drop_unused(f)
    plain_variables(f)
    return f


def _take_one(f: Function, namespace: dict[str, Any] | None) -> bool:
    counts = use_counts(f)
    makers: dict[Value, Made] = {r: (b, i) for b, i in f.instructions() for r in i.results}

    def made_by(v: Value, op: str) -> Instr | None:
        found = makers.get(v)
        return found[1] if found is not None and found[1].op == op else None

    def comprehension(call: Instr, names: frozenset[str]) -> Instr | None:
        """What makes the function that is called, if that is a comprehension used for nothing else."""
        made = made_by(call.operands[0], "make_function")
        if made is None or len(call.operands) != 2 or call.attrs["keywords"] or counts[made.result] != 1:
            return None
        return made if made.attrs["code"].co_name in names and made.attrs["has"] in ((), ("closure",)) else None

    for block in f.blocks:
        for at, instr in enumerate(block.instrs):
            if instr.op in _STARS or instr.op in _UNPACKING:
                generator = makers.get(instr.operands[0 if instr.op in _UNPACKING else 1])
                if generator is None or generator[0] is not block or generator[1].op != "call_object":
                    continue
                made = comprehension(generator[1], frozenset({"<genexpr>"}))
                body = None
                if made is not None and counts[generator[1].result] == 1:
                    body = _body(made, makers, namespace, True)
                if body is not None:
                    block.instrs.remove(generator[1])
                    splice = _splice_to_unpack if instr.op in _UNPACKING else _splice_behind_star
                    splice(f, block, at - 1, body, generator[1].operands[1])
                    return True
                continue
            if instr.op != "call_object":
                continue
            made = comprehension(instr, _OWN)
            if made is not None:
                body = _body(made, makers, namespace, False)
                if body is not None:
                    _splice(f, block, at, body, instr.operands[1], None)
                    return True
            elif len(instr.operands) > 1:
                generator = makers.get(instr.operands[1])
                if generator is None or generator[0] is not block or generator[1].op != "call_object":
                    continue
                made = comprehension(generator[1], frozenset({"<genexpr>"}))
                if made is None or counts[generator[1].result] != 1:
                    continue
                consumer = _named(instr.operands[0], made_by, namespace)
                if consumer is None:
                    continue
                if consumer in (max, min) and len(instr.operands) - len(instr.attrs["keywords"]) > 2:
                    continue
                if consumer is next and (len(instr.operands) > 3 or instr.attrs["keywords"]):
                    continue  # (which raises the TypeError)
                body = _body(made, makers, namespace, True)
                if body is not None:
                    block.instrs.remove(generator[1])
                    _splice(f, block, at - 1, body, generator[1].operands[1], consumer)
                    return True
    return False


def _named(callee: Value, made_by: Callable[[Value, str], Instr | None], namespace: Any) -> Any:
    """The function that a name stands for now, if it takes all items of an iterable at once."""
    name, attribute = made_by(callee, "global"), made_by(callee, "getattr")
    if attribute is not None and attribute.attrs["name"] == "join" and _is_text(attribute.operands[0]):
        return str.join
    if namespace is None:
        return None
    found: Any = None
    if attribute is not None:
        name = made_by(attribute.operands[0], "global")
    if name is not None:
        known = name.attrs["name"]
        found = namespace[known] if known in namespace else getattr(builtins, known, None)
        if attribute is not None:
            found = found.__dict__.get(attribute.attrs["name"]) if type(found) is ModuleType else None
    if fills(found):
        return found
    try:
        return found if found in _CONSUMERS else None
    except TypeError:
        return None  # not hashable


def _is_text(v: Value) -> bool:
    return isinstance(v, Const) and type(v.value) is str


def fills(cls: Any) -> bool:
    """Whether this is a class derived from list that is filled as lists are."""
    if not isinstance(cls, type) or not issubclass(cls, list) or type(cls).__call__ is not type.__call__:
        return False
    return cls.__init__ is list.__init__ and cls.__new__ is list.__new__


def is_filled(callee: Any, consumer: type) -> bool:
    """Whether what is called is the class that it was, which is still filled as lists are."""
    return callee is consumer and fills(consumer)


def _body(made: Instr, makers: dict[Value, Made], namespace: Any, generator: bool) -> Function | None:
    """A copy of the comprehension's function, in which its free variables are the cells of the function around it."""
    code: CodeType = made.attrs["code"]
    cells: dict[str, Value] = {}
    if made.operands:
        closure = makers.get(made.operands[0])
        if closure is None or closure[1].op != "tuple":
            return None
        cells = dict(zip(code.co_freevars, closure[1].operands, strict=True))
    original = taken_in(capture(code), namespace)
    if bool(original.attrs.get("generator")) is not generator or any(b.handler is not None for b in original.blocks):
        return None
    body = clone(original)
    returns = [b for b in body.blocks if b.terminator.op == "return"]
    counts = use_counts(body)
    yields = [i for _, i in body.instructions() if i.op == "yield"]
    if (
        len(returns) != 1
        or any(counts[i.result] for i in yields)
        or any(i.op == "yield_from" for _, i in body.instructions())
    ):
        return None
    instead: dict[Value, Value] = {}
    for block in body.blocks:
        for instr in list(block.instrs):
            if instr.op == "free_cell":
                instead[instr.result] = cells[instr.attrs["name"]]
                block.instrs.remove(instr)
    replace(body, instead)
    return body


def _splice(f: Function, block: Block, at: int, body: Function, passed: Value, consumer: Any) -> None:
    """Put the blocks of a comprehension in the place of the call at `at`; or, for a generator expression, of the items that
    the `consumer` called there takes: that gets a list of them, unless it looks at one after the other until it has decided."""
    call = block.instrs[at]
    position = call.position
    after = Block(f"{block.name}.made")
    over = Target(after)  # where it goes on when the items have come to their end
    more: list[Block] = []
    end = next(b for b in body.blocks if b.terminator.op == "return")
    if consumer is None:
        result = end.terminator.operands[0]
        replace(f, {call.result: result})
        after.instrs = block.instrs[at + 1 :]
    elif consumer in _LEAVING:
        result = Value(OBJECT)
        after.params = [result]
        after.instrs = block.instrs[at + 1 :]
        replace(f, {call.result: result})
        if consumer is next:
            _leave_at_yields(body, after)
            if len(call.operands) > 2:
                over = Target(after, [call.operands[2]])
            else:
                more = [_stopped(f"{block.name}.over", position)]
                over = Target(more[0])
        else:
            _decide_at_yields(body, after, _DECIDING[consumer])
            over = Target(after, [Const(not _DECIDING[consumer], OBJECT)])
    else:
        result = Value(OBJECT)
        after.instrs = block.instrs[at:]
        for b, instr in body.instructions():
            b.in_iterator = "generator"
            if instr.op == "yield":
                instr.op, instr.operands, instr.results, instr.attrs = "list_append", [result, *instr.operands], [], {}
    end.instrs[-1] = Instr("jump", targets=[over], position=position)
    (iterator,) = body.params
    replace(body, {iterator: passed})
    body.entry.params = []
    inner = [*body.blocks, *more, after]
    enter = Instr("jump", targets=[Target(body.entry)], position=position)
    if consumer is None:
        block.instrs[at:] = [enter]
    elif consumer is str.join:  # of text that stands there
        block.instrs[at:] = [Instr("list", [], [result], {}, [], position), enter]
        call.operands[1] = result
    else:
        same, holds = Value(OBJECT), Value(BOOL)
        compared = [call.operands[0], Const(consumer, OBJECT)]
        asked = Instr("is", compared, [same], {}, [], position)
        if isinstance(consumer, type) and consumer not in _CONSUMERS:
            asked = Instr("call_object", [Const(is_filled, OBJECT), *compared], [same], {"keywords": ()}, [], position)
        block.instrs[at:] = [asked, Instr("truth", [same], [holds], {}, [], position)]
        start, other = Block(f"{block.name}.items"), Block(f"{block.name}.another")
        block.instrs.append(Instr("branch", [holds], targets=[Target(start), Target(other)], position=position))
        start.instrs = [enter] if consumer in _LEAVING else [Instr("list", [], [result], {}, [], position), enter]
        error = Value(OBJECT)
        name = Const(consumer.__name__, OBJECT)
        other.instrs = [
            Instr("call_object", [Const(another_function, OBJECT), name], [error], {"keywords": ()}, [], position),
            Instr("raise", [error], position=position),
        ]
        if consumer not in _LEAVING:
            call.operands[0], call.operands[1] = Const(consumer, OBJECT), result
        inner = [start, *inner, other]
    _put_behind(f, block, inner)


def _splice_behind_star(f: Function, block: Block, at: int, body: Function, passed: Value) -> None:
    """The same in the place of the items in `g(*items)`, of which there is a tuple, or in `[a, *items]`, whose list they come to."""
    instr = block.instrs[at]
    before, behind = [], block.instrs[at + 1 :]
    if instr.op == "list_extend":
        items = instr.operands[0]
    else:
        items, whole = Value(OBJECT), Value(OBJECT)
        before = [Instr("list", [], [items], {}, [], instr.position)]
        behind = [Instr("list_to_tuple", [items], [whole], {}, [], instr.position), *block.instrs[at:]]
        instr.operands[1] = whole
    for b, i in body.instructions():
        b.in_iterator = "generator"
        if i.op == "yield":
            i.op, i.operands, i.results, i.attrs = "list_append", [items, *i.operands], [], {}
    after = Block(f"{block.name}.made")
    after.instrs = behind
    end = next(b for b in body.blocks if b.terminator.op == "return")
    end.instrs[-1] = Instr("jump", targets=[Target(after)], position=instr.position)
    (iterator,) = body.params
    replace(body, {iterator: passed})
    body.entry.params = []
    block.instrs[at:] = [*before, Instr("jump", targets=[Target(body.entry)], position=instr.position)]
    _put_behind(f, block, [*body.blocks, after])


def _splice_to_unpack(f: Function, block: Block, at: int, body: Function, passed: Value) -> None:
    """The same in the place of the items in `a, b = items` and `a, *b = items`: a list of them; or of one more, which is one too many."""
    instr = block.instrs[at]
    items = Value(OBJECT)
    after = Block(f"{block.name}.made")
    after.instrs = block.instrs[at:]
    instr.operands[0] = items
    _enough_at_yields(body, after, items, instr.attrs.get("count"))
    end = next(b for b in body.blocks if b.terminator.op == "return")
    end.instrs[-1] = Instr("jump", targets=[Target(after)], position=instr.position)
    (iterator,) = body.params
    replace(body, {iterator: passed})
    body.entry.params = []
    enter = Instr("jump", targets=[Target(body.entry)], position=instr.position)
    block.instrs[at:] = [Instr("list", [], [items], {}, [], instr.position), enter]
    _put_behind(f, block, [*body.blocks, after])


def _enough_at_yields(body: Function, after: Block, items: Value, count: int | None) -> None:
    """What a generator expression gives comes to a list, until there is more than `count` (None: all)."""
    blocks: list[Block] = []
    for block in body.blocks:
        while True:
            block.in_iterator = "generator"
            blocks.append(block)
            at = next((n for n, instr in enumerate(block.instrs) if instr.op == "yield"), None)
            if at is None:
                break
            given = block.instrs[at]
            append = Instr("list_append", [items, *given.operands], [], {}, [], given.position)
            if count is None:
                block.instrs[at] = append
                blocks.pop()
                continue
            rest = Block(f"{block.name}.rest")
            rest.instrs = block.instrs[at + 1 :]
            length, more, holds = Value(OBJECT), Value(OBJECT), Value(BOOL)
            block.instrs[at:] = [
                append,
                Instr("call_object", [Const(len, OBJECT), items], [length], {"keywords": ()}, [], given.position),
                Instr("gt", [length, Const(count, OBJECT)], [more], {}, [], given.position),
                Instr("truth", [more], [holds], {}, [], given.position),
                Instr("branch", [holds], targets=[Target(after), Target(rest)], position=given.position),
            ]
            block = rest
    body.blocks[:] = blocks


def _put_behind(f: Function, block: Block, inner: list[Block]) -> None:
    if block.handler is not None:
        for b in inner:
            b.handler = Target(block.handler.block, list(block.handler.args))
    where = f.blocks.index(block)
    f.blocks[where + 1 : where + 1] = inner


def _decide_at_yields(body: Function, after: Block, deciding: bool) -> None:
    """Where a generator expression gives an item, its truth is asked for, outside of it: one is the answer, with the other it goes
    on."""
    blocks: list[Block] = []
    for block in body.blocks:
        while True:
            block.in_iterator = "generator"
            blocks.append(block)
            at = next((n for n, instr in enumerate(block.instrs) if instr.op == "yield"), None)
            if at is None:
                break
            item = block.instrs[at]
            holds = Value(BOOL)
            asked, rest = Block(f"{block.name}.asked"), Block(f"{block.name}.rest")
            rest.instrs = block.instrs[at + 1 :]
            ways = [Target(rest), Target(rest)]
            ways[0 if deciding else 1] = Target(after, [Const(deciding, OBJECT)])
            asked.instrs = [
                Instr("truth", list(item.operands), [holds], {}, [], item.position),
                Instr("branch", [holds], targets=ways, position=item.position),
            ]
            block.instrs[at:] = [Instr("jump", targets=[Target(asked)], position=item.position)]
            blocks.append(asked)
            block = rest
    body.blocks[:] = blocks


def _leave_at_yields(body: Function, after: Block) -> None:
    """The first item that a generator expression gives is all that is asked for."""
    for block in body.blocks:
        block.in_iterator = "generator"
        at = next((n for n, instr in enumerate(block.instrs) if instr.op == "yield"), None)
        if at is not None:
            item = block.instrs[at]
            block.instrs[at:] = [Instr("jump", targets=[Target(after, list(item.operands))], position=item.position)]


def _stopped(name: str, position: Any) -> Block:
    """`next` finds no item: what it raises then comes from outside of the generator expression."""
    block, error = Block(name), Value(OBJECT)
    block.instrs = [
        Instr("call_object", [Const(StopIteration, OBJECT)], [error], {"keywords": ()}, [], position),
        Instr("raise", [error], position=position),
    ]
    return block


def another_function(name: str) -> Unsupported:
    """What a generator expression is passed to is not what its name stood for."""
    return Unsupported(
        f"a generator expression that is passed to `{name}`, which is another function than when the code around was first "
        "differentiated",
        hint="give that function another name, or pass it a list",
    )


def replace(f: Function, instead: dict[Value, Value]) -> None:
    def resolve(v: Value) -> Value:
        while v in instead:
            v = instead[v]
        return v

    for block in f.blocks:
        for instr in block.instrs:
            map_uses(instr, resolve)
        if block.handler is not None:
            block.handler.args[:] = [resolve(v) for v in block.handler.args]


def drop_unused(f: Function) -> None:
    """The functions that were made, and the tuples of their cells."""
    while True:
        counts = use_counts(f)
        dropped = False
        for block in f.blocks:
            kept = [i for i in block.instrs if i.op not in ("make_function", "tuple") or counts[i.result]]
            dropped = dropped or len(kept) < len(block.instrs)
            block.instrs[:] = kept
        if not dropped:
            return


# ------------------------------------------------------------------------------------------------- plain variables


def plain_variables(f: Function) -> None:
    """Variables in cells that nothing has captured any more become values."""
    if any(b.handler is not None for b in f.blocks):
        return
    cells = _alone(f)
    if not cells:
        return
    unbound = Value(OBJECT)
    variables: Variables[Value] = Variables(
        initial=lambda cell: unbound, name_of=lambda cell: cell.name.partition(".")[0]
    )
    for block in f.blocks:
        for target in block.successors():
            variables.add_edge(block, target)
    instead: dict[Value, Value] = {}
    for block in f.blocks:
        kept = []
        for instr in block.instrs:
            if instr.op == "new_cell" and instr.result in cells:
                variables.write(block, instr.result, instr.operands[0] if instr.operands else unbound)
            elif instr.op == "set_cell" and instr.operands[0] in cells:
                variables.write(block, instr.operands[0], instr.operands[1])
            elif instr.op == "get_cell" and instr.operands[0] in cells:
                instead[instr.result] = variables.read(block, instr.operands[0])
            else:
                kept.append(instr)
        block.instrs[:] = kept
    for block in f.blocks:
        variables.seal(block)
    variables.finish(f.blocks)
    instead = {old: variables.resolve(new) for old, new in instead.items()}
    replace(f, instead)
    if any(v is unbound for _, i in f.instructions() for v in (*i.operands, *[a for t in i.targets for a in t.args])):
        f.entry.instrs.insert(0, Instr("unbound", [], [unbound]))


def _alone(f: Function) -> set[Value]:
    """Cells that are only read and set in this function, and read only where they have been set."""
    cells = {i.result for _, i in f.instructions() if i.op == "new_cell"}
    for _, instr in f.instructions():
        first = 1 if instr.op in ("get_cell", "set_cell") else 0
        cells.difference_update(instr.operands[first:])
        for target in instr.targets:
            cells.difference_update(target.args)
    edges = f.predecessors()
    at_end: dict[Block, set[Value]] = {b: set(cells) for b in f.blocks}

    def through(block: Block, unsafe: set[Value] | None = None) -> set[Value]:
        """The cells that are set at the end of a block."""
        came = [at_end[source] for source, _ in edges[block]]
        known = set.intersection(*came) if came and block is not f.entry else set()
        for instr in block.instrs:
            if instr.op == "new_cell":
                (known.add if instr.operands else known.discard)(instr.result)
            elif instr.op == "set_cell":
                known.add(instr.operands[0])
            elif instr.op == "get_cell" and unsafe is not None and instr.operands[0] not in known:
                unsafe.add(instr.operands[0])
        return known & cells

    changed = True
    while changed:
        changed = False
        for block in f.blocks:
            known = through(block)
            if known != at_end[block]:
                at_end[block] = known
                changed = True
    unsafe: set[Value] = set()
    for block in f.blocks:
        through(block, unsafe)
    return cells - unsafe
