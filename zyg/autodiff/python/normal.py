"""The form of object SSA that is differentiated.

* Every block can be reached, and one block returns.
* An instruction that may raise into a handler is the first of its block, and the only such one.  An exception then means that
  nothing of the block has happened, and the way back from the handler leads to the start of the block.
* Such a block has one edge into it and no parameters, so that nothing has to be known of it when it was not completed.
"""

from __future__ import annotations

from zyg.ir.core import Block, Function, Instr, Target, Value, clone
from zyg.ir.types import OBJECT

# Ops that do not raise, so that a block may hold any number of them.
_SILENT = frozenset(
    "tuple list is is_not make_slice free_cell unbound assertion_error string new_cell set_cell make_function push_exception "
    "pop_exception forget jump return branch switch match_sequence match_mapping locals build_class".split()
)


def normalise(function: Function) -> Function:
    """A copy of a decoded function, in normal form."""
    f = clone(function)
    _explicit_super(f)
    _remove_unreachable(f)
    for block in list(f.blocks):
        if block.handler is not None:
            _split_at_raising(f, block)
    _one_return(f)
    _single_entry_of_trying_blocks(f)
    _remove_unreachable(f)
    _unique_names(f)
    return f


def may_raise(instr: Instr) -> bool:
    return instr.op not in _SILENT


def successors(block: Block) -> list[Block]:
    """Where control may go from a block, handler included."""
    found = [t.block for t in block.successors()]
    if block.handler is not None:
        found.append(block.handler.block)
    return found


def _remove_unreachable(f: Function) -> None:
    seen = {f.entry}
    work = [f.entry]
    while work:
        for b in successors(work.pop()):
            if b not in seen:
                seen.add(b)
                work.append(b)
    f.blocks[:] = [b for b in f.blocks if b in seen]


def _split_at_raising(f: Function, block: Block) -> None:
    """Each instruction that may raise starts a block of its own; what comes before the first one needs no handler."""
    handler = block.handler
    assert handler is not None
    groups: list[list[Instr]] = [[]]
    for instr in block.instrs:
        if may_raise(instr):
            groups.append([])
        groups[-1].append(instr)
    block.instrs = groups[0]
    block.handler = None
    current, at = block, f.blocks.index(block)
    for n, group in enumerate(groups[1:], 1):
        following = Block(f"{block.name}.{n}")
        following.instrs = group
        following.handler = Target(handler.block, list(handler.args))
        current.instrs.append(Instr("jump", targets=[Target(following)], position=group[0].position))
        f.blocks.insert(at + n, following)
        current = following


def _one_return(f: Function) -> None:
    returning = [b for b in f.blocks if b.terminator.op == "return"]
    if len(returning) <= 1 and not any(b.handler is not None for b in returning):
        return
    value = Value(OBJECT, "")
    end = Block("end", [value])
    for block in returning:
        ret = block.instrs.pop()
        block.instrs.append(Instr("jump", targets=[Target(end, list(ret.operands))], position=ret.position))
    end.instrs.append(Instr("return", [value]))
    f.blocks.append(end)


def _single_entry_of_trying_blocks(f: Function) -> None:
    edges = f.predecessors()
    handlers = {b.handler.block for b in f.blocks if b.handler is not None}
    for block in list(f.blocks):
        if block.handler is None:
            continue
        if len(edges[block]) == 1 and not block.params and block is not f.entry and block not in handlers:
            continue
        # What was the block takes the edges and the parameters; its instructions move.
        inner = Block(f"{block.name}.try")
        inner.instrs, block.instrs = block.instrs, []
        inner.handler, block.handler = block.handler, None
        block.instrs.append(Instr("jump", targets=[Target(inner)], position=inner.instrs[0].position))
        f.blocks.insert(f.blocks.index(block) + 1, inner)


def _explicit_super(f: Function) -> None:
    """`super()` finds its arguments in the caller's frame: here they are passed."""
    makers = {r: i for _, i in f.instructions() for r in i.results}
    cell = next(
        (i.results[0] for _, i in f.instructions() if i.op == "free_cell" and i.attrs["name"] == "__class__"), None
    )
    if cell is None or not f.params:
        return
    for block, instr in list(f.instructions()):
        if instr.op != "call_object" or len(instr.operands) != 1:
            continue
        callee = makers.get(instr.operands[0])
        if callee is None or callee.op != "global" or callee.attrs["name"] != "super":
            continue
        owner = Value(OBJECT)
        at = block.instrs.index(instr)
        fetch = Instr("get_cell", [cell], [owner], {"name": "__class__"}, [], instr.position)
        block.instrs.insert(at, fetch)
        instr.operands += [owner, _first_argument(f, block)]


def _first_argument(f: Function, block: Block) -> Value:
    """What `self` is: the first parameter as it was passed (it is hardly ever assigned to)."""
    return f.params[0]


def _unique_names(f: Function) -> None:
    taken: set[str] = set()
    for block in f.blocks:
        base, number = block.name, 1
        while block.name in taken:
            number += 1
            block.name = f"{base}.{number}"
        taken.add(block.name)
