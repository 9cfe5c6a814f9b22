"""What a `for` loop goes through gives items that an `item` instruction takes apart, at the head of the loop's body; of `zip` and
`enumerate`, whose items are tuples, into the items of these."""

from __future__ import annotations

from typing import Any

from zyg.ir.analysis import is_call_of
from zyg.ir.core import Block, Const, Function, Instr, Target, Value
from zyg.ir.types import OBJECT

from ..objects import sources


def iterate_what_is_passed(f: Function) -> None:
    """A comprehension that is a function of its own gets an iterator: its loop is one like others, over that."""
    passed = next((p for p in f.params if p.name == ".0"), None)
    if passed is None:
        return
    steps = [i for _, i in f.instructions() if i.op == "next" and i.operands[0] is passed]
    if steps:
        iterator = Value(OBJECT)
        for step in steps:
            step.operands[0] = iterator
        at = next(n for n, i in enumerate(f.entry.instrs) if i.op not in ("free_cell", "new_cell", "unbound"))
        f.entry.instrs.insert(at, Instr("iter", [passed], [iterator], {}, [], steps[0].position))


def separate_items(f: Function, brief: bool) -> None:
    """Where an iterator is only stepped through by loops, `next` gives what `item` takes apart."""
    uses_of: dict[Value, list[tuple[Block, Instr]]] = {}
    passed: set[Value] = set()
    edges = f.predecessors()
    for block, instr in f.instructions():
        for v in instr.operands:
            uses_of.setdefault(v, []).append((block, instr))
        for target in instr.targets:
            passed.update(target.args)
    for block in f.blocks:
        if block.handler is not None:
            passed.update(block.handler.args)
    for home, made in list(f.instructions()):
        if made.op != "iter" or made.result in passed or "counts" in made.attrs:
            continue
        steps = [use for use in uses_of.get(made.result, []) if not is_call_of(use[1], sources.leave)]
        if all(instr.op == "next" and steps_a_loop(block, instr) for block, instr in steps):
            made.attrs["loop"] = True
            if not brief:
                _call_with_the_loop(home, made, uses_of)
            apart = made.attrs.get("tuples") if "calls" in made.attrs else None
            for block, instr in steps:
                start, item = block.terminator.targets[0].block, instr.results[1]
                taken = start.instrs[0]
                alone = item not in passed and len(uses_of.get(item, ())) == 1 and len(edges[start]) == 1
                if alone and taken.op == "unpack" and taken.operands == [item] and taken.attrs["count"] == apart:
                    made.attrs["apart"] = apart
                    del start.instrs[0]
                    _take_apart(f, block, instr, made, taken.results)
                else:
                    _take_apart(f, block, instr, made, [item])


def _call_with_the_loop(block: Block, loop: Instr, uses_of: dict[Value, list[tuple[Block, Instr]]]) -> None:
    """`for ... in zip(...)` begins by one operation, of what is called and its arguments."""
    at = block.instrs.index(loop)
    call = block.instrs[at - 1] if at else loop
    if call.op != "call_object" or call.attrs["keywords"] or call.results != loop.operands:
        return
    callee = next((i for i in block.instrs[:at] if call.operands[0] in i.results), None)
    if callee is None or callee.op != "global" or callee.attrs["name"] not in _BEGIN_LOOPS:
        return
    if len(uses_of[call.result]) == 1:
        call.op, call.attrs = "tuple", {"call": True}
        loop.attrs["calls"] = True
        loop.position = call.position


def calls_before_loops(block: Block, makers: dict[Value, Instr]) -> None:
    """The same undone, for the loops of a block that are not recorded."""
    for loop in block.instrs:
        if loop.attrs.pop("calls", False):
            call = makers[loop.operands[0]]
            call.op, call.attrs = "call_object", {"keywords": ()}


# The names of functions that are mostly called for a loop to go through what they give.
_BEGIN_LOOPS = frozenset({"zip", "enumerate"})


def steps_a_loop(block: Block, step: Instr) -> bool:
    """Whether a block ends in `more, item = next it; branch more`, where the item counts only if there is more."""
    end = block.terminator
    if len(block.instrs) < 2 or block.instrs[-2] is not step or end.op != "branch":
        return False
    more, item = step.results
    return end.operands[0] is more and item not in end.targets[1].args and more not in end.targets[0].args


def _take_apart(f: Function, block: Block, step: Instr, made: Instr, items: list[Value]) -> None:
    target = block.terminator.targets[0]
    attrs: dict[str, Any] = {}
    if items != [step.results[1]]:
        attrs = {"apart": len(items)} | ({k: v for k, v in made.attrs.items() if k == "numbered"})
    pair = step.results[1] = Value(OBJECT)
    body = Block(f"{block.name}.item")
    body.in_iterator = block.in_iterator
    body.instrs.append(Instr("item", [pair, made.result], items, attrs, [], step.position))
    body.instrs.append(Instr("jump", targets=[Target(target.block, target.args)], position=step.position))
    block.terminator.targets[0] = Target(body)
    out = block.terminator.targets[1]
    over = Block(f"{block.name}.over")
    over.in_iterator = block.in_iterator
    told = Instr("call_object", [Const(sources.finish, OBJECT), made.result], [Value(OBJECT)], {"keywords": ()})
    over.instrs = [told, Instr("jump", targets=[Target(out.block, out.args)], position=step.position)]
    block.terminator.targets[1] = Target(over)
    at = f.blocks.index(block)
    f.blocks.insert(at + 1, body)
    f.blocks.insert(f.blocks.index(out.block), over)


__all__ = ["calls_before_loops", "iterate_what_is_passed", "separate_items", "steps_a_loop"]
