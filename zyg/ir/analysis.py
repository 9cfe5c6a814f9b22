"""What passes ask about a function: orders, dominators, loops, liveness, definitions, uses.

Every analysis is computed from the function as it is and does not follow later changes.  Handler edges count as edges;
an exception can leave a block anywhere, so an instruction's results are not available on its block's handler edge.

Dominators: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from .core import CALLING, JUMPS, Block, Const, Function, Instr, Module, Target, Value, uses
from .ops import VIEWS, having
from .records import field, record
from .types import Array, Scalar

Node = TypeVar("Node", bound=Hashable)


def edges(block: Block) -> list[Target]:
    """The edges out of a block, that to its handler included."""
    targets = block.instrs[-1].targets if block.instrs else []
    return targets if block.handler is None else [*targets, block.handler]


def reverse_postorder(function: Function) -> list[Block]:
    """The blocks that can be reached, each before its successors except along back edges; first targets first."""
    entry = function.blocks[0]
    if len(function.blocks) == 1:
        return [entry]
    seen = {entry}
    postorder: list[Block] = []
    stack: list[tuple[Block, Iterator[Target]]] = [(entry, reversed(edges(entry)))]
    while stack:
        block, targets = stack[-1]
        for target in targets:
            successor = target.block
            if successor in seen:
                continue
            seen.add(successor)
            following = edges(successor)
            if following:
                stack.append((successor, reversed(following)))
                break
            postorder.append(successor)
        else:
            postorder.append(block)
            stack.pop()
    postorder.reverse()
    return postorder


def reached_blocks(function: Function) -> set[Block]:
    """The same blocks in no order."""
    work = [function.blocks[0]]
    seen = set(work)
    while work:
        for target in edges(work.pop()):
            if target.block not in seen:
                seen.add(target.block)
                work.append(target.block)
    return seen


# --------------------------------------------------------------------------------------------- dominance


def components(roots: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> list[list[Node]]:
    """The strongly connected components of what the roots reach, each behind all that it leads to (Tarjan 1972)."""
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    path: list[Node] = []
    on_path: set[Node] = set()
    found: list[list[Node]] = []
    work: list[tuple[Node, Iterator[Node]]] = []

    def enter(node: Node) -> None:
        index[node] = low[node] = len(index)
        path.append(node)
        on_path.add(node)
        work.append((node, iter(successors(node))))

    for root in roots:
        if root not in index:
            enter(root)
        while work:
            node, rest = work[-1]
            for following in rest:
                if following not in index:
                    enter(following)
                    break
                if following in on_path:
                    low[node] = min(low[node], index[following])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = [path.pop()]
                    while component[-1] != node:
                        component.append(path.pop())
                    on_path.difference_update(component)
                    found.append(component)
    return found


@lru_cache(256)
def _dominance(successors: tuple[tuple[int, ...], ...]) -> tuple[list[int], list[int], _Tree]:
    """What immediate_dominators says of a graph with root 0, and the tree of that.  Passes ask for the same graphs again and again:
    few of them change it, and loops over elements are alike.  Nobody may change the answer."""
    idom, order = immediate_dominators(successors, 0)
    return idom, order, _Tree(idom, order)


def immediate_dominators(successors: Sequence[Sequence[int]], root: int) -> tuple[list[int], list[int]]:
    """(immediate dominator per node, -1 where not reachable; nodes in reverse postorder). The root is its own."""
    count = len(successors)
    number = [-1] * count  # in postorder
    state = [0] * count
    postorder: list[int] = []
    stack = [root]
    while stack:
        node = stack[-1]
        if state[node] == 0:
            state[node] = 1
            stack.extend(s for s in successors[node] if state[s] == 0)
        else:
            stack.pop()
            if state[node] == 1:
                state[node] = 2
                number[node] = len(postorder)
                postorder.append(node)
    order = postorder[::-1]
    predecessors: list[list[int]] = [[] for _ in range(count)]
    for node in order:
        for s in successors[node]:
            predecessors[s].append(node)
    idom = [-1] * count
    idom[root] = root
    changed = True
    while changed:
        changed = False
        for node in order:
            if node == root:
                continue
            new = -1
            for p in predecessors[node]:
                if idom[p] == -1:
                    continue
                if new == -1:
                    new = p
                    continue
                while p != new:
                    while number[p] < number[new]:
                        p = idom[p]
                    while number[new] < number[p]:
                        new = idom[new]
            if idom[node] != new:
                idom[node] = new
                changed = True
    return idom, order


class _Tree:
    """Ancestor queries in a tree given by parents, by entry and exit times."""

    def __init__(self, parent: list[int], order: list[int]):
        # In reverse postorder a dominator comes before what it dominates, so sizes add up from the end.
        size = [1] * len(parent)
        for node in reversed(order):
            if parent[node] != node:
                size[parent[node]] += size[node]
        self.start = [-1] * len(parent)
        self.end = [-1] * len(parent)
        free = [0] * len(parent)  # the next free time inside a node
        for node in order:
            start = 0 if parent[node] == node else free[parent[node]]
            if parent[node] != node:
                free[parent[node]] += size[node]
            self.start[node], self.end[node], free[node] = start, start + size[node], start + 1

    def ancestor(self, a: int, b: int) -> bool:
        return self.start[a] <= self.start[b] < self.end[a]


class Dominators:
    """The dominator tree of the blocks that can be reached.

    order: those blocks in reverse postorder.  immediate: per block its immediate dominator, None for the entry.
    """

    def __init__(self, function: Function):
        if all(block.handler is None for block in function.blocks):
            blocks = function.blocks
            number = self.top = self.rest = {block: n for n, block in enumerate(blocks)}
            graph = tuple([tuple([number[t.block] for t in b.instrs[-1].targets] if b.instrs else ()) for b in blocks])
            idom, order, self.tree = _dominance(graph)
            self.order = [blocks[n] for n in order]
            self.immediate: dict[Block, Block | None] = {blocks[n]: blocks[idom[n]] for n in order}
            self.immediate[blocks[0]] = None
        else:
            self._with_handlers(function)

    def _with_handlers(self, function: Function) -> None:
        """A block with a handler is two nodes: its parameters, from which the handler is reached, and its instructions."""
        self.top, self.rest = {}, {}
        blocks: list[Block] = []  # per node
        for block in function.blocks:
            self.top[block] = self.rest[block] = len(blocks)
            blocks.append(block)
            if block.handler is not None:
                self.rest[block] = len(blocks)
                blocks.append(block)
        top = self.top
        successors: list[list[int]] = [[] for _ in blocks]
        for block in function.blocks:
            if block.instrs:
                successors[self.rest[block]] += [top[t.block] for t in block.instrs[-1].targets]
            if block.handler is not None:
                successors[top[block]] = [self.rest[block], top[block.handler.block]]
        idom, order, self.tree = _dominance(tuple(map(tuple, successors)))
        self.order = [blocks[n] for n in order if top[blocks[n]] == n]
        self.immediate = {b: blocks[idom[top[b]]] for b in self.order}
        self.immediate[function.blocks[0]] = None

    def reachable(self, block: Block) -> bool:
        return block in self.immediate

    def dominates(self, a: Block, b: Block) -> bool:
        """Whether each path to `b` goes through `a` (both reachable); a block dominates itself."""
        return self.tree.ancestor(self.top[a], self.top[b])

    def available(self, a: Block, b: Block) -> bool:
        """Whether what the instructions of `a` define can be used at the start of another block `b`."""
        return self.tree.ancestor(self.rest[a], self.top[b])

    def children(self) -> dict[Block, list[Block]]:
        """The blocks immediately dominated by each block, in reverse postorder."""
        result: dict[Block, list[Block]] = {b: [] for b in self.order}
        for block in self.order:
            parent = self.immediate[block]
            if parent is not None:
                result[parent].append(block)
        return result


class PostDominators:
    """Post-dominance over the paths that return.

    Blocks from which no `return` can be reached (they raise, or loop for ever) take no part: a branch to a `raise` does
    not keep the other side from post-dominating.  immediate: per block that can return, the nearest block that every
    path from it to a return goes through, None where there is none (different returns).
    """

    def __init__(self, function: Function):
        blocks = function.blocks
        index = {b: n + 1 for n, b in enumerate(blocks)}  # 0 is the common exit
        backwards: list[list[int]] = [[] for _ in range(len(blocks) + 1)]
        for block in blocks:
            if block.instrs and block.instrs[-1].op == "return":
                backwards[0].append(index[block])
            for target in edges(block):
                backwards[index[target.block]].append(index[block])
        idom, order, self.tree = _dominance(tuple(map(tuple, backwards)))
        self.index = index
        self.immediate: dict[Block, Block | None] = {}
        for node in order[1:]:
            self.immediate[blocks[node - 1]] = blocks[idom[node] - 1] if idom[node] != 0 else None

    def returns(self, block: Block) -> bool:
        """Whether a return can be reached from `block`."""
        return block in self.immediate

    def post_dominates(self, a: Block, b: Block) -> bool:
        """Whether each path from `b` to a return goes through `a`; False where no return can be reached."""
        return self.returns(a) and self.returns(b) and self.tree.ancestor(self.index[a], self.index[b])


# ------------------------------------------------------------------------------------------------- loops


@record(eq=False)
class Loop:
    """A natural loop: all blocks from which a back edge to `header` is reached without passing the header."""

    header: Block
    blocks: set[Block]
    latches: list[Block]
    entering: list[tuple[Block, Target]]  # the edges from outside to the header
    exits: list[tuple[Block, Target]] = field(default_factory=list)  # the edges that leave
    parent: Loop | None = None
    children: list[Loop] = field(default_factory=list)
    depth: int = 1

    @property
    def preheader(self) -> Block | None:
        """The one block outside that jumps to the header and nowhere else, if there is one."""
        if len(self.entering) != 1:
            return None
        block = self.entering[0][0]
        return block if block.terminator.op == "jump" and block.handler is None else None

    @property
    def latch(self) -> Block | None:
        """The only latch, if there is only one."""
        return self.latches[0] if len(self.latches) == 1 else None

    def __repr__(self) -> str:
        return f"<loop {self.header.name}, depth {self.depth}, {len(self.blocks)} blocks>"


class Loops:
    """The loop nest of a function. all: every loop, outer before inner; of: the innermost loop around a block.

    Cycles that are entered at several places (irreducible ones) are no natural loops and are not found; `complete` says
    whether there are none.
    """

    def __init__(self, function: Function, dominators: Dominators | None = None):
        self.dominators = dominators = dominators or Dominators(function)
        self.all: list[Loop] = []
        self.of: dict[Block, Loop] = {}
        self.complete = True
        position = {b: n for n, b in enumerate(dominators.order)}
        back_edges: dict[Block, list[Block]] = {}
        for block in dominators.order:
            for target in edges(block):
                header = target.block
                if position[header] > position[block]:
                    continue
                if not dominators.dominates(header, block):
                    self.complete = False
                    continue
                latches = back_edges.setdefault(header, [])
                if block not in latches:
                    latches.append(block)
        if not back_edges:
            return
        predecessors = function.predecessors()
        for header in sorted(back_edges, key=lambda b: -position[b]):  # inner loops first
            self._make(header, back_edges[header], predecessors, position)
        self.all.reverse()
        for loop in self.all:
            if loop.parent is not None:
                loop.parent.children.append(loop)
                loop.depth = loop.parent.depth + 1
            for block in sorted(loop.blocks, key=position.__getitem__):
                loop.exits += [(block, target) for target in edges(block) if target.block not in loop.blocks]

    def _make(
        self,
        header: Block,
        latches: list[Block],
        predecessors: dict[Block, list[tuple[Block, Target]]],
        position: dict[Block, int],
    ) -> None:
        blocks = {header}
        work = list(latches)
        while work:
            block = work.pop()
            if block not in blocks:
                blocks.add(block)
                work += [p for p, _ in predecessors[block] if p in position]
        entering = [(p, t) for p, t in predecessors[header] if p not in blocks and p in position]
        loop = Loop(header, blocks, latches, entering)
        for block in blocks:
            inner = self.of.get(block)
            if inner is None:
                self.of[block] = loop
            else:
                while inner.parent is not None and inner.parent is not loop:
                    inner = inner.parent
                inner.parent = loop
        self.all.append(loop)

    def depth(self, block: Block) -> int:
        loop = self.of.get(block)
        return loop.depth if loop is not None else 0


def has_cycles(function: Function) -> bool:
    """Whether control may come back to where it was."""
    position = {block: n for n, block in enumerate(reverse_postorder(function))}
    return any(position[target.block] <= n for block, n in position.items() for target in edges(block))


# ------------------------------------------------------------------------------- liveness, definitions, uses


class Liveness:
    """Which values are needed later.

    A value is live into a block if the block or a later one uses it before its definition; a block's parameters are
    defined in it.  Arguments on an edge are used by the terminator of the edge's source.  Values live into a handler,
    and the handler's arguments, are live throughout the blocks that it handles.
    """

    def __init__(self, function: Function):
        self.values: list[Value] = []
        bit: dict[Value, int] = {}
        self.bit = bit
        order = reverse_postorder(function)
        used: dict[Block, int] = {}
        defined: dict[Block, int] = {}

        def mask(value: Value) -> int:
            number = bit.get(value)
            if number is None:
                bit[value] = number = len(self.values)
                self.values.append(value)
            return 1 << number

        for block in order:
            here = 0
            for p in block.params:
                here |= mask(p)
            needed = 0
            if block.handler is not None:
                for v in block.handler.args:
                    if not isinstance(v, Const):
                        needed |= mask(v)
            for instr in block.instrs:
                for v in uses(instr):
                    if not isinstance(v, Const):
                        needed |= mask(v) & ~here
                for r in instr.results:
                    here |= mask(r)
            used[block], defined[block] = needed, here
        self.in_mask: dict[Block, int] = dict.fromkeys(order, 0)
        self.out_mask: dict[Block, int] = dict.fromkeys(order, 0)
        backwards = order[::-1]
        changed = True
        while changed:
            changed = False
            for block in backwards:
                out = 0
                for target in block.instrs[-1].targets if block.instrs else ():
                    out |= self.in_mask[target.block]
                into = used[block] | out & ~defined[block]
                if block.handler is not None:
                    thrown = self.in_mask[block.handler.block]
                    out |= thrown
                    into |= thrown & ~defined[block]
                if out != self.out_mask[block] or into != self.in_mask[block]:
                    self.out_mask[block], self.in_mask[block] = out, into
                    changed = True

    def _set(self, mask: int) -> set[Value]:
        result = set()
        while mask:
            low = mask & -mask
            result.add(self.values[low.bit_length() - 1])
            mask ^= low
        return result

    def live_in(self, block: Block) -> set[Value]:
        return self._set(self.in_mask[block])

    def live_out(self, block: Block) -> set[Value]:
        """What is needed after the block, the arguments on its edges not included."""
        return self._set(self.out_mask[block])

    def is_live_in(self, value: Value, block: Block) -> bool:
        bit = self.bit.get(value)
        return bit is not None and bool(self.in_mask[block] >> bit & 1)

    def is_live_out(self, value: Value, block: Block) -> bool:
        bit = self.bit.get(value)
        return bit is not None and bool(self.out_mask[block] >> bit & 1)


def definitions(function: Function) -> dict[Value, tuple[Block, Instr | None]]:
    """Per value the block and the instruction that define it; None as instruction for a parameter."""
    result: dict[Value, tuple[Block, Instr | None]] = {}
    for block in function.blocks:
        for param in block.params:
            result[param] = (block, None)
        for instr in block.instrs:
            for value in instr.results:
                result[value] = (block, instr)
    return result


def is_call_of(instr: Instr, *functions: Any) -> bool:
    """Whether an instruction calls one of these functions, which is a constant in it."""
    if instr.op != "call_object":
        return False
    callee = instr.operands[0]
    return isinstance(callee, Const) and callee.value in functions


def use_counts(function: Function) -> Counter[Value]:
    """How often each value is used, constants left out."""
    counts: Counter[Value] = Counter()
    for block in function.blocks:
        if block.handler is not None:
            counts.update(v for v in block.handler.args if not isinstance(v, Const))
        for instr in block.instrs:
            for value in uses(instr):
                if not isinstance(value, Const):
                    counts[value] += 1
    return counts


_KEEPING = frozenset({"push", "pycall", "raise"})


def confined_arrays(function: Function) -> set[Value]:
    """The arrays made by `alloc` that are reached through views of them only: what is loaded from a stack, given by a call, or
    comes as a parameter of the function or of a block never has memory in common with them."""
    views: dict[Value, Value] = {}
    for block in reverse_postorder(function):
        for instr in block.instrs:
            if instr.op == "alloc":
                views[instr.result] = instr.result
            elif instr.op in VIEWS and instr.operands[0] in views:
                views[instr.result] = views[instr.operands[0]]
    confined = set(views.values())
    if not confined:
        return confined
    shown = views.keys()
    for block in function.blocks:
        passed = [] if block.handler is None else [*block.handler.args]
        for instr in block.instrs:
            for target in instr.targets:
                passed += target.args
            if instr.op not in VIEWS and not shown.isdisjoint(instr.operands) and may_keep(instr):
                passed += instr.operands
        confined.difference_update(views[v] for v in passed if v in views)
    return confined


_QUIET = having("pure", "read", "write", "value_check") | JUMPS | {"poll"}


def has_effects(module: Module, name: str) -> bool:
    """Whether a call of the function may raise (but for overflow checks, which die with their values) or run Python."""
    seen, pending = {name}, [name]
    while pending:
        for _, instr in module.functions[pending.pop()].instructions():
            if instr.op in CALLING:
                callee = instr.attrs["callee"]
                if callee not in seen:
                    seen.add(callee)
                    pending.append(callee)
            elif instr.op not in _QUIET:
                return True
    return False


def may_keep(instr: Instr) -> bool:
    """Whether a result, or what is written, may lead to an array among the operands."""
    if instr.op in _KEEPING:
        return True
    reached = [*instr.results, *instr.operands] if instr.op in CALLING else instr.results
    return any(not isinstance(v.type, (Scalar, Array)) for v in reached) or any(
        isinstance(r.type, Array) for r in instr.results
    )
