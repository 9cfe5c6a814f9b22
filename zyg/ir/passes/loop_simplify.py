"""Bring loops into a form that other passes can rely on.

Input: any function.  Output: each natural loop has a preheader (the only block that enters it, by a jump), one latch
(with one back edge), and exit blocks that are entered from the loop alone.

Loops whose header handles exceptions are left as they are.  `merge_returns` makes a function return in one place.
"""

from __future__ import annotations

from collections.abc import Callable

from ..analysis import Loop, Loops
from ..core import Block, Function, Instr, Target, Value
from .rewriting import same

Edge = tuple[Block, Target]


def run(function: Function) -> bool:
    if len(function.blocks) == 1:
        return False
    loops = Loops(function)
    return _Simplifier(function).run(loops) if loops.all else False


class _Simplifier:
    def __init__(self, function: Function):
        self.function = function
        self.predecessors = function.predecessors()
        self.handlers = {b.handler.block for b in function.blocks if b.handler is not None}
        self.changed = False

    def run(self, loops: Loops) -> bool:
        for loop in loops.all:
            if loop.header in self.handlers:
                continue
            self.preheader(loop)
            self.latch(loop)
        for loop in loops.all:
            self.exits(loop)
        return self.changed

    def edges(self, block: Block, wanted: Callable[[Block], bool]) -> list[Edge]:
        return [(source, target) for source, target in self.predecessors[block] if wanted(source)]

    def preheader(self, loop: Loop) -> None:
        entering = self.edges(loop.header, lambda b: b not in loop.blocks)
        if len(entering) == 1 and entering[0][0].terminator.op == "jump":
            return
        block = self.insert(f"{loop.header.name}.enter", loop.header, entering)
        _add_to(loop.parent, block)

    def latch(self, loop: Loop) -> None:
        back = self.edges(loop.header, lambda b: b in loop.blocks)
        if len(back) > 1:
            block = self.insert(f"{loop.header.name}.again", loop.header, back)
            _add_to(loop, block)
            blocks = self.function.blocks  # it reads best at the loop's end
            blocks.remove(block)
            blocks.insert(max(blocks.index(source) for source, _ in back) + 1, block)

    def exits(self, loop: Loop) -> None:
        seen: set[Block] = set()
        for source in [b for b in self.function.blocks if b in loop.blocks]:
            for target in source.successors():
                after = target.block
                if after in loop.blocks or after in seen or after in self.handlers:
                    continue
                seen.add(after)
                edges = self.edges(after, lambda b: b in loop.blocks)
                if len(edges) == len(self.predecessors[after]):
                    continue
                outer = loop.parent
                while outer is not None and after not in outer.blocks:
                    outer = outer.parent
                _add_to(outer, self.insert(f"{after.name}.exit", after, edges))

    def insert(self, name: str, block: Block, edges: list[Edge]) -> Block:
        """A new block on these edges to `block`, which it jumps to; it takes as parameters what the edges differ in."""
        new = Block(name)
        onward = Target(block)
        differing: list[int] = []
        for n, param in enumerate(block.params):
            first = edges[0][1].args[n]
            if all(same(target.args[n], first) for _, target in edges[1:]):
                onward.args.append(first)
            else:
                differing.append(n)
                new.params.append(Value(param.type, param.name))
                onward.args.append(new.params[-1])
        position = edges[0][0].terminator.position
        new.instrs.append(Instr("jump", targets=[onward], position=position))
        moved = {target for _, target in edges}
        for target in moved:
            target.block = new
            target.args[:] = [target.args[n] for n in differing]
        self.predecessors[new] = edges
        self.predecessors[block] = [e for e in self.predecessors[block] if e[1] not in moved] + [(new, onward)]
        self.function.blocks.insert(self.function.blocks.index(block), new)
        self.changed = True
        return new


def _add_to(loop: Loop | None, block: Block) -> None:
    while loop is not None:
        loop.blocks.add(block)
        loop = loop.parent


def merge_returns(function: Function) -> bool:
    """Let the function return in one block only."""
    returning = [b for b in function.blocks if b.instrs and b.instrs[-1].op == "return"]
    if len(returning) < 2:
        return False
    end = Block("return", [Value(x, "result") for x in function.results])
    for block in returning:
        last = block.instrs[-1]
        block.instrs[-1] = Instr("jump", targets=[Target(end, last.operands)], position=last.position)
    end.instrs.append(Instr("return", list(end.params)))
    function.blocks.append(end)
    return True
