"""Halves as functions of plain Python ops, so that they can be differentiated themselves.

A second derivative runs through the first one: through the code that the pass emitted and through the run-time functions that
this calls. Here the instructions that the pass adds are spelled out: what is recorded or run back is a call, the tape is a list
with an iterator from its end.
"""

from __future__ import annotations

from typing import Any

from zyg.backend.pullbacks import NOTHING, STEP
from zyg.ir.core import Block, Const, Function, Instr, Target, Value, clone, const
from zyg.ir.types import BOOL, OBJECT, TAPE

from .. import objects
from . import escaping, landing, loops, sites, special


def plain(half: Function) -> Function:
    """A half without the instructions that are the pass's own."""
    f = clone(half)
    f.attrs.pop("keep", None)
    for block in list(f.blocks):
        _Expansion(f, block).run()
    for block in f.blocks:
        for value in (*block.params, *[r for i in block.instrs for r in i.results]):
            if value.type is not BOOL:
                value.type = OBJECT
    return f


class _Expansion:
    """Of one block."""

    def __init__(self, function: Function, block: Block):
        self.function = function
        self.block = block
        self.instrs: list[Instr] = []
        self.here = block
        self.made: set[Value] = set()  # what the block's instructions have given

    def run(self) -> None:
        self.rarely: list[Value] = []  # the pullbacks that the block records rarely
        self.rare: Value | None = None
        taken = landing.so_far(self.block)
        instrs, last = list(self.block.instrs), self.block.terminator
        for instr in instrs:
            self.position = instr.position
            if taken is not None and instr.op == "record":
                self._split_before(instr, taken.operands, sum("rare" in i.attrs for i in instrs))
            ends = instr.op == "push" or instr is last
            if self.rare is not None and (ends or (instr.op == "tuple" and self.rare in instr.operands)):
                self.emit("tuple", list(self.rarely), [self.rare])
                self.rare = None
            method = getattr(self, f"_{instr.op}", None)
            if method is None:
                self.instrs.append(instr)
            else:
                method(instr)
            self.made.update(instr.results)
        self.here.instrs = self.instrs

    def _split_before(self, instr: Instr, taken: list[Value], count: int) -> None:
        """The block's landing gets what has been computed and recorded by then."""
        handler = self.block.handler
        assert handler is not None
        place = instr.attrs.get("place", 0)
        following = Block(f"{self.block.name}.{len(self.instrs)}.{place}")
        following.in_iterator = self.block.in_iterator
        rare = Value(OBJECT)
        if self.rare in taken:
            self.emit("tuple", [*self.rarely, *[Const(None, OBJECT)] * (count - len(self.rarely))], [rare])
        args = [rare if v is self.rare else v if v in self.made else landing.absent(v) for v in taken]
        following.handler = Target(handler.block, [const(place), *args])
        self.instrs.append(Instr("jump", targets=[Target(following)]))
        self.here.instrs, self.instrs = self.instrs, []
        self.function.blocks.insert(self.function.blocks.index(self.here) + 1, following)
        self.here = following

    def _so_far(self, instr: Instr) -> None:
        """Blocks are split where that changes; before the first operation nothing has been recorded."""
        handler = self.block.handler
        assert handler is not None
        handler.args[1:] = [
            Const((None,) * len(self.rarely), OBJECT) if v is self.rare else a
            for v, a in zip(instr.operands, handler.args[1:], strict=True)
        ]

    def emit(self, op: str, operands: list[Value], results: list[Value], **attrs: Any) -> None:
        self.instrs.append(Instr(op, operands, results, attrs, [], self.position))

    def call(self, function: Any, operands: list[Value], results: list[Value]) -> None:
        """Call a function, which gives a tuple of the results."""
        given = Value(OBJECT)
        callee = function if isinstance(function, Value) else Const(function, OBJECT)
        self.emit("call_object", [callee, *operands], [given], keywords=())
        if results:
            self.emit("unpack", [given], results, count=len(results))

    def _call_object(self, instr: Instr) -> None:
        """What a half leaves with exceptions, and takes from them, is not what the pass over the half does so with."""
        first = instr.operands[0]
        if isinstance(first, Const) and first.value is escaping.leave_generator:
            return  # here there is a record of the steps of all generators
        if isinstance(first, Const) and first.value in (escaping.take, escaping.attach):
            instr.operands[0] = Const(take if first.value is escaping.take else attach, OBJECT)
        self.instrs.append(instr)

    def _nothing_recorded(self, instr: Instr) -> None:
        """Here what is recorded rarely is a tuple of all pullbacks."""
        if not instr.operands:  # (else it tells what is known of a parameter)
            self.rare = instr.result

    def _record(self, instr: Instr) -> None:
        function, *operands = instr.operands
        of = instr.attrs["of"]
        if "rare" in instr.attrs:
            del operands[-1 - instr.attrs.get("flags", 0) :]
            self.rarely.append(Value(OBJECT))
            instr.results.append(self.rarely[-1])
        if of in special.OPERATORS or of in ("getattr", "setattr"):
            general = objects.arithmetic.IN_TURN.get(of) or objects.RECORD[of]  # what keeps no account of types
            if of.endswith("attr") and not (isinstance(function, Const) and function.value is general):
                operands = operands[:-1]
            function = Const(general, OBJECT)
            if instr.attrs.get("direct") == "method":
                self.call(function, operands, [instr.results[0], instr.results[2]])
                return
        elif "names" in instr.attrs:
            of, function = "call_keywords", Const(objects.RECORD["call_keywords"], OBJECT)
            operands = [Const(instr.attrs["names"], OBJECT), *operands[:-1]]
        elif of == "call_keywords" or (isinstance(function, Const) and function.value is sites.record_spread):
            function, operands = Const(objects.RECORD[of], OBJECT), operands[1:]
        elif of == "iter" and isinstance(function, Const) and function.value is loops.loop:
            function = Const(objects.loop, OBJECT)
        elif of == "iter" and isinstance(function, Const) and function.value in loops.ALONE:
            function = Const(objects.iteration.loop_alone, OBJECT)
        elif of == "iter" and isinstance(function, Const) and function.value is loops.loop_over:
            function = Const(objects.iteration.loop_over, OBJECT)
        elif of == "iter" and isinstance(function, Const) and function.value is loops.loop_apart:
            function = Const(loop_apart, OBJECT)
        elif of == "expression":
            of, operands = "call_plainly", operands[:-1]
        elif of == "isinstance":
            of, operands = "call_plainly", operands[:3]
        if of in ("call_object", "call_plainly", "len"):
            found = Value(OBJECT)
            callee, *arguments = (
                operands[: 0 if of != "call_object" else -3 if instr.attrs.get("method") else -1] or operands
            )
            self.emit("call_object", [Const(objects.calls.forward_in_python, OBJECT), callee], [found], keywords=())
            self.call(found, arguments, instr.results)
        elif len(instr.results) == 1:
            self.emit("call_object", [function, *operands], instr.results, keywords=())
        else:
            self.call(function, operands, instr.results)

    def _item(self, instr: Instr) -> None:
        if "apart" not in instr.attrs:
            self.call(item, instr.operands, instr.results)
            return
        *items, back = instr.results
        given = Value(OBJECT)
        self.call(item, instr.operands, [given, back])
        self.emit("unpack", [given], items, count=len(items))

    def _parts(self, instr: Instr) -> None:
        self.emit("call_object", [Const(parts, OBJECT), *instr.operands], instr.results, keywords=())

    def _pull(self, instr: Instr) -> None:
        back, d, shadows, *more = instr.operands
        wanted = Const(instr.attrs["wanted"], OBJECT)
        if "rare" in instr.attrs:
            rare, back = back, Value(OBJECT)
            self.emit("getitem", [rare, Const(instr.attrs["rare"], OBJECT)], [back])
        if "access" in instr.attrs and isinstance(back, Const):
            kind = Const(instr.attrs["access"], OBJECT)
            self.call(access, [kind, d, shadows, more[0], more[2], wanted], instr.results)
        elif instr.attrs["of"] == "item":
            self.call(pull_item, [back, d, shadows, more[0]], instr.results)
        elif "component" in instr.attrs:
            self.call(pull_whole, [back, d, shadows, wanted], instr.results)
        else:
            self.call(pull, [back, d, shadows, wanted], instr.results)

    def _rule(self, instr: Instr) -> None:
        function, d, y, *operands = instr.operands
        wanted = Const(instr.attrs["wanted"], OBJECT)
        if "expressions" in instr.attrs:
            expressions = Const(instr.attrs["expressions"], OBJECT)
            self.call(by_expressions, [expressions, d, y, *operands], instr.results)
        else:
            self.call(by_rule, [wanted, function, d, y, *operands], instr.results)

    def _cotangents(self, instr: Instr) -> None:
        wanted = Const(instr.attrs["wanted"], OBJECT)
        self.call(items, [wanted, *instr.operands], instr.results)

    def _accumulate(self, instr: Instr) -> None:
        self.emit("call_object", instr.operands[:3], instr.results, keywords=())

    def _join(self, instr: Instr) -> None:
        """Here items that were recorded have been added to the cotangent of the tuple, and not by themselves."""
        self.emit("call_object", [Const(join, OBJECT), *instr.operands], instr.results, keywords=())

    def _tape(self, instr: Instr) -> None:
        self.emit("list", [], instr.results)

    def _nothing_looked_up(self, instr: Instr) -> None:
        """Shadows are found by the run-time functions."""

    def _push(self, instr: Instr) -> None:
        tape, *values = instr.operands
        for v in values:
            self.emit("list_append", [tape, v], [])

    def _cursor(self, instr: Instr) -> None:
        backwards = Value(OBJECT)
        self.emit("call_object", [Const(reversed, OBJECT), *instr.operands], [backwards], keywords=())
        self.emit("iter", [backwards], instr.results)

    def _pop(self, instr: Instr) -> None:
        for r in reversed(instr.results):
            if r.type is BOOL:
                got = Value(OBJECT)
                self.emit("next", list(instr.operands), [Value(BOOL), got])
                self.emit("truth", [got], [r])
            else:
                self.emit("next", list(instr.operands), [Value(BOOL), r])


# What the back end writes out, as functions.


def attach(exception: BaseException, back: Any, depth: int = 0, *kept: Any) -> None:
    escaping.attach(exception, back, depth)


def take(exception: BaseException, depth: int = 0) -> Any:
    return escaping.take(exception, depth)


def item(given: Any, whole: Any) -> tuple[Any, Any]:
    return (given, None) if whole is None else given


def loop_apart(call: tuple[Any, ...]) -> tuple[Any, Any]:
    loops.as_known(call[0])
    return objects.iteration.loop_over(call)


def parts(*ds: Any) -> tuple[Any, ...] | None:
    for d in ds:
        if d is not None:
            return ds
    return None


def pull(back: Any, d: Any, shadows: Any, wanted: tuple[int, ...]) -> tuple[Any, ...]:
    if back is None:
        return (None,) * len(wanted)
    if type(back) is float:
        if d is None:
            return (None,) * len(wanted)
        return tuple([d * back if k == 1 else None for k in wanted])
    if type(back) is int:
        given: Any = (None, shadows.take_appended(d, back))
    else:
        given = back[0](back, d, shadows)
    return (None,) * len(wanted) if given is None else tuple([given[k] for k in wanted])


def pull_whole(back: Any, d: Any, shadows: Any, wanted: tuple[int, ...]) -> tuple[Any, ...]:
    """The same where the cotangent of an item may be given by itself."""
    return (*pull(back, d, shadows, wanted), None)


def join(joined: Any, d: Any, x: Any, places: Any, *parts: Any) -> Any:
    for part in parts:
        if part is not None:
            return joined(d, x, places, *parts)
    return d


def pull_item(back: Any, d: Any, shadows: Any, whole: Any) -> tuple[Any, ...]:
    if type(back) is int:
        if d is not None:
            shadows.add_item(whole[1], back, d)
    elif back is STEP:
        objects.generator_items.undo_step(whole, d, shadows)
    elif back is not None:
        back[0](back, d, shadows)
    return ()


def access(kind: str, d: Any, shadows: Any, cell: Any, name: Any, wanted: tuple[int, ...]) -> tuple[Any, ...]:
    if kind == "get_global":
        if d is not None:
            shadows.add_key(cell, name, d)
        return ()
    if kind == "get_cell":
        if d is not None:
            shadows.add_cell(cell, d)
        return (None,) * len(wanted)
    taken = shadows.take_cell(cell)
    return tuple([taken if k == 1 else None for k in wanted])


def by_rule(wanted: tuple[int, ...], function: Any, d: Any, y: Any, *operands: Any) -> tuple[Any, ...]:
    return (None,) * len(wanted) if d is None else items(wanted, function(d, y, *operands))


def items(wanted: tuple[int, ...], given: Any) -> tuple[Any, ...]:
    return (None,) * len(wanted) if given is None else tuple([given[k] for k in wanted])


def by_expressions(expressions: Any, d: Any, y: Any, *operands: Any) -> tuple[Any, ...]:
    return tuple([None if d is None else evaluate(e, d, y, operands) for e in expressions])


def evaluate(e: Any, d: Any, y: Any, operands: tuple[Any, ...]) -> Any:
    """An expression of a rule."""
    if not isinstance(e, tuple):
        return d if e == "d" else y if e == "y" else operands[e]
    op = e[0]
    if op == "const":
        return e[1]
    a = evaluate(e[1], d, y, operands)
    if op == "neg":
        return -a
    b = evaluate(e[2], d, y, operands)
    return a + b if op == "add" else a - b if op == "sub" else a * b if op == "mul" else a / b


__all__ = ["NOTHING", "TAPE", "Target", "plain"]
