"""Loops for LLVM's optimiser become functions of their own, where most of a function is calls of loops in lanes (expand.py).

Input: a module whose loops poll.  Output: in functions that call many loops over elements, loops that compute, and hand nothing on to
calls, are such calls too.  What is left of the function is the order in which arrays come, are worked on and go, in which LLVM's full
pipeline finds nothing (`settled`), and which is most of the text; the loops get the pipeline.

Invariant: values do not change.
"""

from __future__ import annotations

from ..analysis import Loop, Loops
from ..core import Block, Const, Function, Instr, Module, Target, Value, clone_blocks, uses
from ..ops import having
from ..readymade import is_library
from ..types import Array, Scalar, is_float
from . import merge
from .accesses import Views
from .expand import MANY
from .rewriting import replace_uses, using_blocks

_STACKS = frozenset({"push", "pop", "reserve", "rewind", "cursor", "drop", "stack"})
_ACCESSES = frozenset({"load", "store", "accum"})
_MOVED = (having("pure", "read") | _ACCESSES | {"poll", "jump", "branch", "switch"}) - {"call"}
_SOME = 4  # calls of loops in lanes, from which on they are most of a function among many
_LITTLE = 24  # instructions of a loop with stacks that is not worth the pipeline for all that is around it


def run(module: Module) -> bool:
    changed = False
    calls = {function: calls_elements(module, function) for function in module.functions.values()}
    inline = {f: sum("elements" in i.attrs for _, i in f.instructions()) for f in calls}
    of_program = sum(n + inline[f] for f, n in calls.items() if not is_library(f))
    for function, count in calls.items():
        many = count + inline[function] if is_library(function) else of_program
        if count > _SOME and many > MANY:
            changed |= _outline(module, function)
    if changed:
        merge.run(module)
    return changed


def calls_elements(module: Module, function: Function) -> int:
    """How many calls of loops over elements there are."""
    return sum(
        i.op == "call" and "elements" in module.functions[i.attrs["callee"]].attrs for _, i in function.instructions()
    )


def computes(loop: Loop) -> bool:
    """Whether LLVM's optimiser may find something in an innermost loop."""
    if loop.children:
        return False
    work = [i for block in loop.blocks for i in block.instrs if not i.targets and i.op != "poll"]
    if not all(i.op in _MOVED or i.op in _STACKS for i in work):
        return False
    if any(i.op in _STACKS for i in work):
        return sum(i.op not in _STACKS for i in work) > _LITTLE
    plain = all(latch.terminator.attrs.get("elements") == "plain" for latch in loop.latches)
    accesses = any(i.op in _ACCESSES for i in work)
    return accesses and not plain and len(loop.exits) == 1


def _is_light(loop: Loop) -> bool:
    """Whether a call of the loop takes no more than a few times as long without LLVM's pipeline, and is soon over: it is one loop, which may
    be cut into strips (polls.py), or only moves what there is."""
    strips = all(latch.terminator.attrs.get("strip") for latch in loop.latches)
    if not loop.children or (strips and not any(child.children for child in loop.children)):
        return True
    work = [i for block in loop.blocks for i in block.instrs if i.op not in _ACCESSES]
    return not any(is_float(r.type) for i in work for r in i.results)


def _outline(module: Module, function: Function) -> bool:
    loops = Loops(function).all
    wanted = {block for loop in loops if computes(loop) for block in loop.blocks}
    gone: set[Block] = set()
    replaced: dict[Value, Value] = {}
    if wanted:
        views, used = Views(function), using_blocks(function)
        for loop in loops:  # outer before inner
            if gone.isdisjoint(loop.blocks) and not wanted.isdisjoint(loop.blocks):
                _enter_once(function, loop)
                made = _results(function, used, loop)
                if made is not None:
                    replaced |= _move(module, function, views, loop, made)
                    gone |= loop.blocks
    replace_uses(function, replaced)
    return bool(gone)


def _enter_once(function: Function, loop: Loop) -> None:
    """Of several ways into a loop, make one block from which it is entered."""
    if len(loop.entering) < 2:
        return
    params = [Value(p.type, p.name) for p in loop.header.params]
    before = Block(f"{loop.header.name}.before", params)
    before.instrs = [
        Instr("jump", targets=[Target(loop.header, list(params))], position=loop.header.instrs[0].position)
    ]
    for _, edge in loop.entering:
        edge.block = before
    loop.entering[:] = [(before, before.terminator.targets[0])]
    function.blocks.insert(function.blocks.index(loop.header), before)


def _results(function: Function, used: dict[Value, set[Block]], loop: Loop) -> list[Value] | None:
    """What comes after the loop needs of it; None if the loop cannot be moved."""
    if len(loop.entering) != 1 or len(loop.exits) != 1:
        return None
    made: list[Value] = []
    for block in [b for b in function.blocks if b in loop.blocks]:
        if block.handler is not None or any(i.op not in _MOVED for i in block.instrs):
            return None
        made += [*block.params, *(r for i in block.instrs for r in i.results)]
        if not all(isinstance(p.type, Scalar) for p in block.params):
            return None
    exit = loop.exits[0][1]
    needed = [v for v in made if v in exit.args or any(block not in loop.blocks for block in used.get(v, ()))]
    return needed if all(isinstance(v.type, Scalar) for v in needed) else None


def _move(module: Module, function: Function, views: Views, loop: Loop, made: list[Value]) -> dict[Value, Value]:
    """Put a call in place of the loop; gives what stands for its values."""
    _, entering = loop.entering[0]
    leaving, _ = loop.exits[0]
    blocks = [b for b in function.blocks if b in loop.blocks]
    inside = {p for b in blocks for p in b.params} | {r for b in blocks for i in b.instrs for r in i.results}
    reached = [*entering.args, *(v for b in blocks for i in b.instrs for v in uses(i))]
    taken = list(dict.fromkeys(v for v in reached if v not in inside and not isinstance(v, Const)))
    position = next((i.position for b in blocks for i in b.instrs if i.position is not None), None)
    new = Function(module.unique_name(f"{function.name}.loop"), [], tuple(v.type for v in made))
    values = {v: Value(v.type, v.name) for v in taken}
    start = Block("entry", list(values.values()))
    copies = dict(zip(blocks, clone_blocks(blocks, values), strict=True))
    out = Block("out")
    out.instrs.append(Instr("return", [values[v] for v in made], position=position))
    arguments = [values.get(v, v) for v in entering.args]
    start.instrs.append(Instr("jump", targets=[Target(copies[loop.header], arguments)], position=position))
    for target in copies[leaving].terminator.targets:
        if target.block not in copies.values():
            target.block, target.args = out, []
    new.blocks = [start, *copies.values(), out]
    arrays = [v for v in taken if isinstance(v.type, Array)]
    new.attrs = {
        "shared": True,
        "light": _is_light(loop),
        "noalias": tuple(n for n, v in enumerate(taken) if v in arrays and views.alone(v, arrays)),
    }
    module.add(new)
    results = [Value(v.type, v.name) for v in made]
    behind = loop.exits[0][1]
    call = Block(f"{loop.header.name}.call")
    call.instrs = [
        Instr("call", taken, results, {"callee": new.name}, position=position),
        Instr("jump", targets=[behind], position=position),  # as it is: a loop behind this one knows it
    ]
    entering.block, entering.args = call, []
    place = function.blocks.index(blocks[0])
    function.blocks[:] = [b for b in function.blocks if b not in loop.blocks]
    function.blocks.insert(min(place, len(function.blocks)), call)
    return dict(zip(made, results, strict=True))
