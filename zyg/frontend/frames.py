"""What inference goes over: a `Frame` is one activation of a Python function, a `Node` a block of it (several nodes per block
where a loop over a tuple is unrolled), an `Edge` a way into a node with the state that holds there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from zyg.ir.core import Block, Position, Target, Value
from zyg.ir.options import Options
from zyg.ir.records import field, record
from zyg.ir.types import Array

from .carried import CarriedLengths
from .merging import Merge, State
from .prepare import Prepared
from .values import Abstract, Reference, leaf_values
from .versions import Versions


class Stop(Exception):
    """Control does not come past this point: the block has its terminator."""


@record(frozen=True)
class Context:
    """What holds for the code being emitted: options, how many derivatives are being taken around it, and whether one of them is
    taken forwards."""

    options: Options
    level: int = 0
    forwards: bool = False


@record(eq=False, slots=True)
class Edge:
    """An edge to a node: `block` ends in the terminator that `target` belongs to; `state` is what holds there."""

    block: Block
    target: Target
    state: State
    position: Position | None
    source: Node


class Node:
    """A block of a frame being evaluated; `block` is None for the end of a frame and for joins inside handlers."""

    __slots__ = (
        "apart", "at_head", "block", "blocks", "chain", "edges", "force", "head", "key", "lost", "maps", "number", "order", "out", "parameters", "place", "rounds", "sizes",
        "stale", "state", "versions",
    )  # fmt: skip

    def __init__(self, block: Block | None, key: Hashable, number: int, name: str, place: int = 0):
        self.place = place  # of its frame: objects that are joined here are named after it
        self.apart = False  # whether arrays that can be written are kept apart from those that cannot: in users' code
        self.block = block
        self.key = key
        self.number = number
        self.order: tuple[int, ...] = ()  # when it is evaluated, among the nodes of the frame
        self.head = Block(name)
        self.edges: dict[Hashable, Edge] = {}
        self.parameters: dict[tuple[Any, ...], Value] = {}
        self.force: frozenset[int] = frozenset()
        self.out: list[tuple[Node, Hashable]] = []
        self.state: State | None = None
        self.blocks: list[Block] = []
        # What has been evaluated in it: its block, and those that this leads to whatever the values are when it runs.
        self.chain: dict[Block, None] = {}
        self.rounds = 0
        self.sizes: list[int] = []  # how many objects were there, round by round
        # Back edges of a loop whose entry has changed: out of date if the header's state has.
        self.stale: dict[Hashable, Edge] = {}
        # Those of them that turned out to be: they are made anew, if what has changed is seen where they come from.
        self.lost: dict[Hashable, Edge] = {}
        # Per edge: which of its objects became which one here, where that was decided last.
        self.maps: dict[Hashable, dict[Hashable, Hashable]] = {}
        # Of which loops around this, and of the block itself, it belongs to which version.
        self.versions: dict[Versions, int] = {}
        self.at_head: tuple[State, frozenset[Value]] | None = None

    def arrays_at_head(self, owner: Callable[[Value], Value]) -> frozenset[Value]:
        """The arrays that there were when its evaluation began; `owner` tells which array one is a view of."""
        if self.state is None:
            return frozenset()
        if self.at_head is None or self.at_head[0] is not self.state:
            fields = [x for r in self.state.heap.values() for x in r.fields]
            leaves = [leaf for v in (*self.state.slots, *fields) for leaf in leaf_values(v)]
            self.at_head = self.state, frozenset(owner(v) for v in leaves if isinstance(v.type, Array))
        return self.at_head[1]

    def merge(self, lengths: CarriedLengths) -> State:
        states = [e.state for e in self.edges.values()]
        if len(states) == 1 and not self.parameters and not self.force:
            return states[0]
        owner = (self.place, self.number, self.key)
        state = Merge(self.parameters, states, self.force, owner, lengths, self.rounds, self.apart).run()
        assert state.maps is not None
        self.maps = dict(zip(self.edges, state.maps))
        return state


@record(eq=False)
class Frame:
    """One activation of a Python function."""

    prepared: Prepared
    code: Any
    name: str
    globals: dict[str, Any]
    free: dict[str, Abstract]
    parent: Frame | None
    library: bool  # zyg's own library code: positions and errors are those of the caller
    outer: tuple[Reference, ...] = ()  # the objects that callers may still use
    arguments: tuple[Abstract, ...] = ()
    nodes: dict[tuple[Block, Hashable], Node] = field(default_factory=dict)
    lengths: dict[Hashable, int] = field(default_factory=dict)  # of lists where an unrolled loop over them began
    versions: dict[Hashable, Versions] = field(default_factory=dict)
    extra: dict[Block, int] = field(default_factory=dict)  # how many versions of a block there are beside first ones
    queue: list[tuple[tuple[int, ...], Node]] = field(default_factory=list)
    steps: dict[Hashable, int] = field(default_factory=dict)  # of unrolled loops, in the order that they were come to
    exit: Node = field(default_factory=lambda: Node(None, None, 1 << 30, "return"))
    resume: Block | None = None  # generators: where to go on
    generator: Hashable = None  # the id of the generator's record
    yields: dict[Hashable, Node] = field(default_factory=dict)  # per place and position: where it gives a value
    number: int = 0  # that of its place
    rounds: int = 0  # of unrolled loops that were evaluated where the code before them was
    calls_given: bool = False  # library code is calling a function that it was given, which follows users' rules
    place: Hashable = None  # where the call stands, the same when the code around it is evaluated again
    seeds: dict[tuple[Block, Hashable], dict[tuple[Any, ...], Value]] = field(default_factory=dict)
    base: Node = field(default_factory=lambda: Node(None, (), 0, "body"))
    reached: list[Node] = field(default_factory=list)
