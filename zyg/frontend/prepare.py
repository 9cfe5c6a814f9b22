"""What inference wants to know of untyped SSA before it starts: loops, a good order of the blocks, and liveness.

Computed once per code object and kept, since a function is evaluated once per call that is inlined.
"""

from __future__ import annotations

import functools
import opcode
import os
import types as python_types
import weakref

from zyg.ir.analysis import immediate_dominators
from zyg.ir.core import Block, Const, Function, Instr, Target, Value, clone_blocks
from zyg.ir.records import field, record
from zyg.ir.types import OBJECT

from .capture import capture

_OWN = os.path.dirname(os.path.dirname(__file__)) + os.sep  # where zyg's source is
# Functions of zyg's own that are read anew: to look on the disk takes as long, and code for scalars mostly wants no more.
FEW = 2
_own_read = 0

# What a handler may do that only cleans up: CPython wraps inlined comprehensions in such handlers.
_CLEANUP_OPS = frozenset("push_exception pop_exception unbound reraise jump set_cell del_cell forget".split())


@record(eq=False)
class Prepared:
    """order: the reachable blocks by number, loop bodies before what follows the loop.  live: per block the values that it
    or a successor uses and an earlier block defines.  loops: per loop header the blocks of its loop.  iterators: per loop
    header the iterators that `next` advances in it.  carried: per block in a loop which of its parameters, then of what is live
    there, go round a loop that it is in.  dominators: per block the nearest dominator that is in no loop but those around the block (around the
    loop, if it begins one), and (the headers of) the loops that the block is in; or the only block that leads to it, and the loops which
    that is in.  named: what the code has by a name of its own, not from its arguments."""

    function: Function
    order: dict[Block, int] = field(default_factory=dict)
    live: dict[Block, tuple[Value, ...]] = field(default_factory=dict)
    loops: dict[Block, set[Block]] = field(default_factory=dict)
    iterators: dict[Block, tuple[Value, ...]] = field(default_factory=dict)
    carried: dict[Block, tuple[int, ...]] = field(default_factory=dict)
    dominators: dict[Block, tuple[Block, tuple[Block, ...]]] = field(default_factory=dict)
    trying: dict[Block, Instr] = field(default_factory=dict)
    size: int = 0
    named: frozenset[Value] = frozenset()


# By identity: code objects compare by value. Nothing here may refer to the code object, or it would never be freed.
_cache: dict[int, tuple[weakref.ref[python_types.CodeType], Prepared]] = {}


def prepare(code: python_types.CodeType) -> Prepared:
    found = _cache.get(id(code))
    if found is not None:
        return found[1]
    key = id(code)
    prepared = _own(code) if code.co_filename.startswith(_OWN) else _read(code)
    # The callback is C code, so that no signal comes between; pop has the reference as its default.
    _cache[key] = (weakref.ref(code, functools.partial(_cache.pop, key)), prepared)
    return prepared


def _read(code: python_types.CodeType) -> Prepared:
    prepared = analyse(capture(code).blocks)
    if prepared.trying:
        _place_at_statements(prepared, code)
    return prepared


def _own(code: python_types.CodeType) -> Prepared:
    """The same for code of zyg's own, which is on disk if it was read before."""
    global _own_read
    _own_read += 1
    if _own_read <= FEW:
        return _read(code)
    from . import kept

    prepared = kept.load(code)
    if prepared is None:
        prepared = _read(code)
        kept.add(code, prepared)
    return prepared


def _place_at_statements(prepared: Prepared, code: python_types.CodeType) -> None:
    """Let what is protected stand at the `try` around it, where CPython left a NOP; in a `with` it stays where it is."""
    nop = opcode.opmap["NOP"]
    found = [place for number, place in zip(code.co_code[::2], code.co_positions()) if number == nop]
    for block, instr in prepared.trying.items():
        at = instr.position
        if at is None:
            continue
        for line, end_line, column, _ in found:
            if line is None or end_line is None or column is None:
                continue
            if (line, column) < (at.line, at.column) and at.line <= end_line:
                statement = at._replace(line=line, column=column, end_line=line, end_column=column + len("try"))
                prepared.trying[block] = Instr("try", position=statement)


def analyse(blocks: list[Block]) -> Prepared:
    if any(i.op in ("yield", "yield_from") for b in blocks for i in b.instrs):
        blocks = clone_blocks(blocks, {})
    function = Function("", blocks)
    prepared = Prepared(function)
    for block in list(function.blocks):
        _expand_yield_from(function, block)
    for block in list(function.blocks):
        _split_after_yields(function, block)
    prepared.loops = _loops(function)
    prepared.order = _order(function, prepared.loops)
    prepared.live = _liveness(prepared)
    prepared.carried = _carried(prepared)
    prepared.dominators = _dominators(prepared)
    prepared.size = sum(len(b.instrs) for b in prepared.order)
    names = [i for _, i in function.instructions() if i.op in ("global", "getattr", "get_cell")]
    prepared.named = frozenset(r for i in names for r in i.results)
    for header in prepared.loops:
        found = [i.operands[0] for i in header.instrs if i.op == "next"]
        prepared.iterators[header] = tuple(v for v in found if not isinstance(v, Const))
    for block in prepared.order:
        if block.handler is not None and not _only_cleans_up(block.handler.block):
            prepared.trying[block] = block.instrs[0]
    return prepared


def _expand_yield_from(function: Function, block: Block) -> None:
    """`yield from x`, whose value is not used, as a loop that yields the items of x."""
    for n, instr in enumerate(block.instrs):
        if instr.op == "yield_from" and not _used(function, instr.results):
            position = instr.position
            head, body, rest = (Block(f"{block.name}.{part}") for part in ("items", "item", "after"))
            iterator, more, item, sent = (Value(OBJECT) for _ in range(4))
            rest.instrs = block.instrs[n + 1 :]
            head.handler = body.handler = rest.handler = block.handler
            block.instrs = [
                *block.instrs[:n],
                Instr("iter", list(instr.operands), [iterator], position=position),
                Instr("jump", targets=[Target(head)], position=position),
            ]
            head.instrs = [
                Instr("next", [iterator], [more, item], position=position),
                Instr("branch", [more], targets=[Target(body), Target(rest)], position=position),
            ]
            body.instrs = [
                Instr("yield", [item], [sent], position=position),
                Instr("jump", targets=[Target(head)], position=position),
            ]
            at = function.blocks.index(block) + 1
            function.blocks[at:at] = [head, body, rest]
            _expand_yield_from(function, rest)
            return


def _split_after_yields(function: Function, block: Block) -> None:
    """End a block behind each `yield`, so that a generator resumes at the head of a block.

    The parameter of the new block is what `yield` gives; the `yield` becomes the terminator's predecessor.
    """
    for n, instr in enumerate(block.instrs):
        if instr.op == "yield":
            following = block.instrs[n + 1 :]
            if len(following) == 1 and following[0].op == "jump" and not _used(function, instr.results):
                return
            rest = Block(f"{block.name}.resume")
            rest.instrs = following
            rest.handler = block.handler
            received = instr.results
            rest.params = list(received)
            instr.results = [Value(v.type, v.name) for v in received]
            block.instrs = block.instrs[: n + 1]
            block.instrs.append(Instr("jump", targets=[Target(rest, list(instr.results))], position=instr.position))
            function.blocks.insert(function.blocks.index(block) + 1, rest)
            _split_after_yields(function, rest)
            return


def _used(function: Function, values: list[Value]) -> bool:
    wanted = set(map(id, values))
    for block in function.blocks:
        for instr in block.instrs:
            if any(id(v) in wanted for v in instr.operands):
                return True
            if any(id(v) in wanted for target in instr.targets for v in target.args):
                return True
    return False


def _successors(block: Block) -> list[Block]:
    return [t.block for t in block.successors()]


def _loops(function: Function) -> dict[Block, set[Block]]:
    """Natural loops by their headers; back edges are those of a depth-first search (Python's loops are reducible)."""
    back: dict[Block, list[Block]] = {}
    predecessors: dict[Block, list[Block]] = {function.entry: []}
    open_: set[Block] = {function.entry}
    stack = [(function.entry, iter(_successors(function.entry)))]
    while stack:
        block, rest = stack[-1]
        for s in rest:
            new = s not in predecessors
            predecessors.setdefault(s, []).append(block)
            if new:
                open_.add(s)
                stack.append((s, iter(_successors(s))))
                break
            if s in open_:
                back.setdefault(s, []).append(block)
        else:
            open_.discard(block)
            stack.pop()
    loops: dict[Block, set[Block]] = {}
    for header, latches in back.items():
        body = {header}
        work = list(latches)
        while work:
            b = work.pop()
            if b not in body:
                body.add(b)
                work.extend(predecessors[b])
        loops[header] = body
    return loops


def _order(function: Function, loops: dict[Block, set[Block]]) -> dict[Block, int]:
    depth: dict[Block, int] = {}
    for body in loops.values():
        for b in body:
            depth[b] = depth.get(b, 0) + 1

    def by_depth(block: Block) -> list[Block]:
        # What is visited first finishes first and so comes last: leave loops first, to come to their bodies before.
        backwards = list(reversed(_successors(block)))
        return sorted(backwards, key=lambda b: depth.get(b, 0))

    seen = {function.entry}
    postorder: list[Block] = []
    stack = [(function.entry, iter(by_depth(function.entry)))]
    while stack:
        block, rest = stack[-1]
        for s in rest:
            if s not in seen:
                seen.add(s)
                stack.append((s, iter(by_depth(s))))
                break
        else:
            postorder.append(block)
            stack.pop()
    return {b: n for n, b in enumerate(reversed(postorder))}


def _liveness(prepared: Prepared) -> dict[Block, tuple[Value, ...]]:
    uses: dict[Block, dict[Value, None]] = {}
    defined: dict[Block, set[Value]] = {}
    for block in prepared.order:
        here: dict[Value, None] = {}
        own = set(block.params)
        for instr in block.instrs:
            for v in instr.operands:
                if v not in own and not isinstance(v, Const):
                    here[v] = None
            own.update(instr.results)
            for target in instr.targets:
                for v in target.args:
                    if v not in own and not isinstance(v, Const):
                        here[v] = None
        uses[block], defined[block] = here, own
    live = {b: dict(u) for b, u in uses.items()}
    changed = True
    while changed:
        changed = False
        for block in reversed(prepared.order):
            here = live[block]
            before = len(here)
            for s in _successors(block):
                for v in live[s]:
                    if v not in defined[block]:
                        here[v] = None
            changed |= len(here) != before
    return {b: tuple(vs) for b, vs in live.items()}


def _carried(prepared: Prepared) -> dict[Block, tuple[int, ...]]:
    inside: dict[Block, set[Value]] = {}
    for header, body in prepared.loops.items():
        into: dict[Value, list[Value]] = {}
        for block in body:
            for target in block.successors():
                if target.block in body:
                    for param, v in zip(target.block.params, target.args):
                        into.setdefault(param, []).append(v)
        round_ = set(header.params)
        work = list(header.params)
        while work:
            new = {v for v in into.get(work.pop(), ()) if not isinstance(v, Const)} - round_
            round_ |= new
            work.extend(new)
        for block in body:
            inside.setdefault(block, set()).update(round_)
    return {
        block: tuple(n for n, v in enumerate((*block.params, *prepared.live[block])) if v in values)
        for block, values in inside.items()
    }


def _dominators(prepared: Prepared) -> dict[Block, tuple[Block, tuple[Block, ...]]]:
    blocks = list(prepared.order)
    number = {block: n for n, block in enumerate(blocks)}
    immediate, _ = immediate_dominators([[number[s] for s in _successors(b)] for b in blocks], 0)
    around = [{h for h, body in prepared.loops.items() if block in body} for block in blocks]
    before: dict[Block, list[int]] = {block: [] for block in blocks}
    for n, block in enumerate(blocks):
        for s in _successors(block):
            before[s].append(n)
    found: dict[Block, tuple[Block, tuple[Block, ...]]] = {}
    for n, block in enumerate(blocks[1:], 1):
        if len(before[block]) == 1 and block not in prepared.loops:
            (only,) = before[block]
            found[block] = blocks[only], tuple(around[only])
            continue
        outside, above = around[n] - {block}, immediate[n]
        while left := around[above] - outside:
            outermost = max(left, key=lambda h: len(prepared.loops[h]))
            above = immediate[number[outermost]]
        if around[above] == outside:
            found[block] = blocks[above], tuple(around[n])
    return found


def _only_cleans_up(block: Block) -> bool:
    """Whether a handler always raises again and does nothing else that could be seen."""
    seen: set[Block] = set()
    work = [block]
    while work:
        b = work.pop()
        if b in seen:
            continue
        seen.add(b)
        if any(i.op not in _CLEANUP_OPS for i in b.instrs):
            return False
        work.extend(_successors(b))
        if b.handler is not None:  # which has what is raised again
            work.append(b.handler.block)
    return True
