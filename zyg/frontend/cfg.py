"""Basic blocks of a code object, with what SSA construction has to know about its local variables.

Input is a `Body`, output the reachable blocks in reverse postorder, the entry first.  An exception edge is an edge like
any other, so that a handler comes after some block that it protects.

Sets of variables are integers, bit `i` for slot `i`.
"""

from __future__ import annotations

from ..ir.records import field, record
from .bytecode import JUMPS, VERSION, Body, Instruction, Region

UNCONDITIONAL = frozenset({"JUMP_FORWARD", "JUMP_BACKWARD"})
LEAVES = frozenset({"RETURN_VALUE", "RAISE_VARARGS", "RERAISE"})
_ENDS = JUMPS | LEAVES
_READS = frozenset({"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF"})
_READS |= {"LOAD_FROM_DICT_OR_DEREF"}
_REPLACES = frozenset({"LOAD_FAST_AND_CLEAR", "DELETE_FAST", "MAKE_CELL"})  # reads it, then sets it


@record(eq=False, slots=True)
class Handler:
    """Where an exception goes: the block, with the operand stack cut to `depth` (and a marker on top if `lasti`)."""

    block: BasicBlock
    depth: int
    lasti: bool


@record(eq=False, slots=True)
class BasicBlock:
    """Instructions `start` to `end` (exclusive). `successors`: falling through first, then the jump's target.

    `live`: variables that may be read before they are set, from the start of the block on; handlers count.
    `bound`: variables that are certainly set at the start of the block (computed where the bytecode does not tell).
    """

    start: int
    end: int = 0
    successors: list[BasicBlock] = field(default_factory=list)
    handler: Handler | None = None
    predecessors: int = 0
    order: int = -1
    live: int = 0
    bound: int = 0

    def __repr__(self) -> str:
        return f"<instructions {self.start} to {self.end}>"


def build(body: Body) -> list[BasicBlock]:
    """The basic blocks of `body`."""
    instructions, regions = body.instructions, body.regions
    leaders = {0}
    for index, instruction in enumerate(instructions):
        if instruction.op in _ENDS:
            leaders.add(index + 1)
            if instruction.op in JUMPS:
                leaders.add(instruction.arg)
        elif instruction.op == "PUSH_EXC_INFO":
            leaders.add(index + 1)
    for region in regions:
        leaders.update((region.start, region.end, region.handler))
    leaders.discard(len(instructions))
    starts = sorted(leaders)
    blocks = {start: BasicBlock(start) for start in starts}
    for start, end in zip(starts, [*starts[1:], len(instructions)]):
        _connect(blocks[start], end, instructions[end - 1], blocks)
    for region in regions:
        handler = Handler(blocks[region.handler], region.depth, region.lasti)
        for start in starts:
            # PUSH_EXC_INFO does not raise, and its handler finds on the stack what it pushed: that starts after it.
            if region.start <= start < region.end and instructions[start].op != "PUSH_EXC_INFO":
                blocks[start].handler = handler
    order = _reverse_postorder(blocks[0])
    if regions:
        _live_variables(instructions, order)
        if _skip_cleanups(instructions, regions, blocks, order):
            for block in order:
                block.predecessors, block.order = 0, -1
            order = _reverse_postorder(blocks[0])
    # Later versions tell LOAD_FAST from LOAD_FAST_CHECK, but not so for DELETE_FAST.
    if VERSION == (3, 11) or any(i.op == "DELETE_FAST" for i in instructions):
        _bound_variables(body, order)
    return order


def _connect(block: BasicBlock, end: int, last: Instruction, blocks: dict[int, BasicBlock]) -> None:
    block.end = end
    if last.op in LEAVES:
        return
    if last.op not in UNCONDITIONAL and end in blocks:
        block.successors.append(blocks[end])
    if last.op in JUMPS:
        block.successors.append(blocks[last.arg])


def _reverse_postorder(entry: BasicBlock) -> list[BasicBlock]:
    """Sets `order` and `predecessors` too (an exception edge counts once per block)."""
    order: list[BasicBlock] = []
    # What is pushed last is visited first and so comes last: first the handler, then the target, then falling through.
    entry.order = 0
    stack: list[tuple[BasicBlock, list[BasicBlock]]] = [(entry, _edges(entry))]
    while stack:
        block, rest = stack[-1]
        if not rest:
            stack.pop()
            order.append(block)
            continue
        successor = rest.pop()
        successor.predecessors += 1
        if successor.order < 0:
            successor.order = 0
            stack.append((successor, _edges(successor)))
    order.reverse()
    for number, block in enumerate(order):
        block.order = number
    return order


def _edges(block: BasicBlock) -> list[BasicBlock]:
    return [*block.successors, block.handler.block] if block.handler is not None else list(block.successors)


def _live_variables(instructions: list[Instruction], order: list[BasicBlock]) -> None:
    reads: list[int] = []
    sets: list[int] = []
    for block in order:
        read = written = 0
        for instruction in instructions[block.start : block.end]:
            op = instruction.op
            if op in _READS:
                read |= 1 << instruction.arg & ~written
            elif op == "STORE_FAST":
                written |= 1 << instruction.arg
            elif op in _REPLACES:
                read |= 1 << instruction.arg & ~written
                written |= 1 << instruction.arg
        reads.append(read)
        sets.append(written)
    changed = True
    while changed:
        changed = False
        for block in reversed(order):
            live = 0
            for successor in block.successors:
                live |= successor.live
            live = reads[block.order] | live & ~sets[block.order]
            if block.handler is not None:
                live |= block.handler.block.live
            if live != block.live:
                block.live = live
                changed = True


def _skip_cleanups(
    instructions: list[Instruction], regions: list[Region], blocks: dict[int, BasicBlock], order: list[BasicBlock]
) -> bool:
    """Let exceptions bypass handlers that only reset local variables that nobody reads afterwards, and raise again.

    They come from comprehensions, which 3.12 inlines, and from the end of `except ... as name`.
    """
    changed = False
    for block in order:
        while block.handler is not None:
            cleanup = _cleanup(instructions, block.handler.block.start)
            if cleanup is None:
                break
            stored, last = cleanup
            outer = _handler_at(last, regions, blocks)
            if outer is not None and (outer.block.live & stored or outer.block is block.handler.block):
                break
            block.handler = outer
            changed = True
    return changed


def _handler_at(index: int, regions: list[Region], blocks: dict[int, BasicBlock]) -> Handler | None:
    for region in regions:
        if region.start <= index < region.end:
            return Handler(blocks[region.handler], region.depth, region.lasti)
    return None


def _cleanup(instructions: list[Instruction], start: int) -> tuple[int, int] | None:
    """If the code from `start` only stores to variables and raises again: those variables, and where it raises."""
    stored = 0
    for index in range(start, len(instructions)):
        instruction = instructions[index]
        if instruction.op in ("STORE_FAST", "DELETE_FAST"):
            stored |= 1 << instruction.arg
        elif instruction.op == "RERAISE":
            return stored, index
        elif instruction.op not in ("SWAP", "POP_TOP") and not (
            instruction.op == "LOAD_CONST" and instruction.arg is None
        ):
            return None
    return None


def _bound_variables(body: Body, order: list[BasicBlock]) -> None:
    code = body.code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    everything = (1 << len(body.variables)) - 1
    # Comprehensions put these variables away and back, bound or not.
    restored = {i.arg for i in body.instructions if i.op == "LOAD_FAST_AND_CLEAR"}
    gains: list[int] = []
    losses: list[int] = []  # deleted anywhere in the block: what a handler cannot rely on
    ends: list[int] = []  # deleted, and not set again
    for block in order:
        gain = loss = end = 0
        for instruction in body.instructions[block.start : block.end]:
            op = instruction.op
            # A variable that was loaded was bound.
            if op in ("LOAD_FAST", "LOAD_FAST_CHECK") or (op == "STORE_FAST" and instruction.arg not in restored):
                gain |= 1 << instruction.arg
                end &= ~(1 << instruction.arg)
            elif op in ("DELETE_FAST", "LOAD_FAST_AND_CLEAR") or op == "STORE_FAST":
                gain &= ~(1 << instruction.arg)
                loss |= 1 << instruction.arg
                end |= 1 << instruction.arg
        gains.append(gain)
        losses.append(loss)
        ends.append(end)
        block.bound = everything
    order[0].bound = (1 << count) - 1
    changed = True
    while changed:
        changed = False
        for block in order:
            out = block.bound & ~ends[block.order] | gains[block.order]
            targets = [(successor, out) for successor in block.successors]
            if block.handler is not None:
                targets.append((block.handler.block, block.bound & ~losses[block.order]))
            for target, bound in targets:
                if target.bound & ~bound:
                    target.bound &= bound
                    changed = True
