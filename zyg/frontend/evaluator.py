"""The evaluator: it builds one function of typed SSA by evaluating frames, block by block, until nothing changes."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable
from contextlib import contextmanager, suppress
from types import CellType
from typing import Any

from zyg.assumptions import Input
from zyg.errors import Unsupported, final_refusals
from zyg.ir import types as t
from zyg.ir.builder import Builder
from zyg.ir.core import Block, Const, Function, Instr, Module, Position, Target, Value, const
from zyg.ir.ops import SAME_MEMORY
from zyg.ir.options import Options
from zyg.ir.types import Scalar, Type
from zyg.own import ABOVE

from .boundary import Assembly
from .carried import CarriedLengths
from .edges import convert_edges
from .folding import folded
from .frames import Context, Edge, Frame, Node, Stop
from .later import calls, functions, iterators, python_ops
from .merging import State
from .orders import seen_axis
from .sized import COMPUTED, KnownLengths, length_of
from .strides import Stride
from .unrolling import Unrolling
from .values import READ_ONLY, Abstract, ChoiceValue, Heap, Reference, known, reachable, references
from .versions import goes_round, version_of

# A loop whose state keeps changing is not getting anywhere (a tuple that grows, for example).
MAX_ROUNDS = 40
MAX_NODES = 5000
# A list that grows with each round of an unrolled loop over it has no end that could be seen.
MAX_GROWN = 50


class Inference:
    """What the functions of one module share."""

    def __init__(self, options: Options):
        self.module = Module()
        self.options = options
        self.guards: dict[Hashable, tuple[Any, ...]] = {}
        self.classes: set[type] = set()  # whose instances there are
        self.specialisations: dict[Hashable, Any] = {}
        # Instructions by which growing lists change what they are made of; those that put arrays into lists (listed.py).
        self.listings: set[Instr] = set()
        self.pooled: set[Instr] = set()
        # What arrays do not have any more that those put into growing lists, and what of arrays is read (listed.py).
        self.lost: dict[Instr, frozenset[str]] = {}
        self.reads: dict[Instr, str] = {}
        self.grown: set[Instr] = set()
        self.row_stores: set[Instr] = set()
        # Instructions that look at an array of which a copy of all windows is made, and these (listed.py).
        self.windows: dict[Instr, Value] = {}
        self.ruled = False  # whether a call by a rule gives an array (returned.py)
        self.fresh: set[Value] = set()  # arrays that operators on whole arrays have made
        # Functions for the elements of arrays (elementwise.py).
        self.elements: dict[Hashable, tuple[str, tuple[Scalar, ...]]] = {}
        self.active: list[Any] = []
        self.evaluators: list[Evaluator] = []
        self.inputs: dict[Hashable, Input] = {}
        self.given: dict[Hashable, Type] = {}  # hidden parameters that a caller has values for (library/reading.py)
        self.global_types: dict[Hashable, Any] = {}
        self.unrolling = Unrolling()
        self.fixed = False  # whether integers in global and captured variables are constants
        self.bodies = (
            True  # whether functions of the library have bodies that are on disk as machine code (readymade.py)
        )
        self.cells: dict[int, CellType] = {}  # hold the objects that code refers to directly (defaults of parameters)

    def within(self, outer: Inference) -> Inference:
        """This inference as a part of another one."""
        self.guards, self.classes = outer.guards, outer.classes
        self.unrolling, self.cells = outer.unrolling, outer.cells
        self.fixed, self.given, self.bodies = outer.fixed, outer.given, outer.bodies
        return self

    def guard(self, *entry: Any) -> None:
        key = tuple(e if isinstance(e, str) else id(e) for e in entry)
        self.guards.setdefault(key, entry)


_NATURAL_OF_NATURALS = frozenset({"stop", "select", "cadd", "cmul", "floordiv", "mod"})
_SHAPED = frozenset({"alloc", *SAME_MEMORY})


class Evaluator:
    """Builds one function of typed SSA.

    Handlers and library emitters get it as their first argument, and use: `op` and `guard` to emit, `call` to call
    abstract values, `if_else` and `join` for control flow, `heap` for objects.
    """

    def __init__(self, inference: Inference, name: str, context: Context):
        self.inference = inference
        self.function = Function(name)
        self.builder = Builder(self.function)
        self.builder.at(self.builder.new_block("entry"))
        self.left_at: Position | None = None  # the `return` of the function that was evaluated last, if it has one
        self.context = context
        self.heap: Heap = {}
        self.env: dict[Value, Abstract] = {}
        self.frame: Frame | None = None
        # The operator that is evaluated in place, and the frame in which it stands.
        self.in_place: tuple[Frame, str] | None = None
        self.node: Node = Node(None, (), 0, "entry")
        self.inputs: dict[Hashable, tuple[Input, Abstract]] = {}
        self.calls: list[tuple[Instr, Any]] = []
        # What a bool says about optional values: id -> (the bool, the flag `present`, what that is where the bool holds, and
        # what it is where it does not; None if that is not known).
        self.facts: dict[int, tuple[Value, Value, bool | None, bool | None]] = {}
        self.advancing: dict[Value, tuple[Abstract, Value]] = {}
        self.views: dict[int, tuple[Value, Value, Abstract]] = {}  # basic slices: the view, of what, and the key
        # How arrays were made whose lengths that tells, and of what lengths a length is the common one.
        self.shaped: dict[Value, tuple[str, tuple[Value, ...], dict[str, Any]]] = {}
        # The strides that NumPy's array has where ours is a copy of others.
        self.seeming: dict[Value, tuple[Stride, ...]] = {}
        self.broadcasts: dict[Value, frozenset[Value]] = {}
        self.long: set[Value] = set()  # lengths that are known to be above 1
        self.lengths = KnownLengths()
        self.carried = CarriedLengths(self)
        self.before: frozenset[Hashable] | dict[Hashable, Any] = frozenset()  # objects older than the instruction
        self.seeds: dict[Hashable, tuple[Hashable, dict[tuple[Block, Hashable], dict[tuple[Any, ...], Value]]]] = {}
        self.nonnegative: dict[int, Value] = {}  # by id: lengths and counters, which are not below 0
        self.local: tuple[Block | None, dict[Hashable, Any]] = (None, {})
        # What is evaluated next in the present node, with which values.
        self.following: tuple[Block, list[Abstract]] | None = None
        self.straight: Block | None = None  # where the instruction that is evaluated began
        self.serial = 0
        self.depth = 0
        self.of_elements = False  # whether it is called for each element of arrays, of which there may be none
        # What asks for an attribute that there may not be, by code of the user's: AttributeError would be an answer.
        self.asking = ""
        self.unruled: Any = None  # a function whose next call is made without its tangent rule
        self.outer: tuple[Reference, ...] = ()  # objects that whoever calls this function can still see
        self.pinned: list[list[Reference]] = []
        self.places: dict[Hashable, int] = {}
        inference.evaluators.append(self)

    # ------------------------------------------------------------------------------------------ emission

    @property
    def position(self) -> Position | None:
        return self.builder.position

    @property
    def options(self) -> Options:
        return self.context.options

    def op(self, op: str, *operands: Value, type: Type | None = None, name: str = "", **attrs: Any) -> Value:
        """Emit an op with one result."""
        if op == "floordiv" and isinstance(by := operands[1], Const) and by.type is t.I64 and by.value == 1:
            op, operands = "stop", operands[:1]  # a quotient carries no derivative
        found = folded(op, operands)
        if found is not None:
            return found
        if operands and id(operands[0]) in self.nonnegative:
            if op == "stop" and not name:
                return operands[0]  # no derivative flows into it
            if op in ("lt", "ge") and isinstance(operands[1], Const) and operands[1].value == 0:
                return const(op == "ge")
        if self.options.fastmath and operands:
            first = operands[-1].type
            if isinstance(first, Scalar) and first.kind == "f" and op not in ("cast", "stop", "guard"):
                attrs["fast"] = self.options.fastmath
        result = self.builder.op(op, *operands, type=type, name=name, **attrs)
        if op in _SHAPED and isinstance(result.type, t.Array):
            self.shaped[result] = (op, operands, attrs)
        elif op == "dim" or op in _NATURAL_OF_NATURALS and all(map(self.is_natural, operands[-2:])):
            self.nonnegative[id(result)] = result
        if op in COMPUTED and operands[-1].type is t.I64:
            self.lengths.computed[result] = op, operands
        return result

    def is_natural(self, value: Value) -> bool:
        """Whether an integer is known not to be below 0."""
        return value.value >= 0 if isinstance(value, Const) and value.type is t.I64 else id(value) in self.nonnegative

    def emit(self, op: str, *operands: Value, types: tuple[Type, ...] | None = None, **attrs: Any) -> list[Value]:
        return self.builder.emit(op, *operands, types=types, **attrs)

    @property
    def latest(self) -> Instr:
        """The instruction that was emitted last."""
        assert self.builder.block is not None
        return self.builder.block.instrs[-1]

    def forget(self) -> None:
        """Drop what only inference needs: there is much of it, in cycles."""
        self.seeds.clear()
        self.places.clear()
        self.input_objects.clear()
        self.env.clear()
        self.heap.clear()
        self.facts.clear()
        self.views.clear()
        self.shaped.clear()
        self.seeming.clear()
        self.broadcasts.clear()
        self.long.clear()
        self.lengths = KnownLengths()
        self.carried = CarriedLengths(self)
        self.nonnegative.clear()
        self.local = (None, {})
        self.frame = None
        self.node = Node(None, (), 0, "")

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What `make()` emits, once per block: for pure instructions and guards that are often repeated."""
        block = self.builder.block
        if self.local[0] is not block:
            self.local = (block, {})
        found = self.local[1].get(key)
        if found is None:
            # The values in the key are kept alive, so that their ids stay theirs.
            found = self.local[1][key] = (make(), key)
        return found[0]

    def dim(self, array: Value, axis: int) -> Value:
        """The length of an axis: that which the array was made with, if it was made here."""
        known, array, axis = self.known_length(array, axis)
        if known is not None:
            return known
        length = self.once(("dim", array, axis), lambda: self.op("dim", array, axis=axis))
        self.lengths.dims[length] = array, axis
        if axis in self.lengths.sized.get(array, ()):
            self.lengths.not_one.add(length)
        return length

    def known_length(self, array: Value, axis: int) -> tuple[Value | None, Value, int]:
        """The length of an axis if it is known, and which array's and axis's length it is if that has to be asked."""
        told = self.lengths.told.get(array)
        if told is not None and told[axis] is not None:
            return told[axis], array, axis
        other = self.lengths.as_of.get(array, ())
        if other and (length := other[axis]) is not None:
            return self.known_length(*length)
        op, operands, attrs = self.shaped.get(array, ("", (), {}))
        if op in ("alloc", "given"):
            return operands[axis], array, axis
        if op in ("reshape", "broadcast"):
            return operands[axis + 1], array, axis
        if op in ("strided", "stop"):
            return self.known_length(operands[0], axis)
        if op == "transpose":
            axes = [n for n, to in enumerate(attrs["axes"]) if to == axis]
            if len(axes) == 1 or len({length_of(self, operands[0], n)[0] for n in axes}) == 1:
                return self.known_length(operands[0], axes[0])
        if op == "view":
            letter, source, parts = seen_axis(attrs["spec"], operands[1:], axis)
            if letter not in "ns":
                return self.known_length(operands[0], source)
            return const(1) if letter == "n" else parts[1], array, axis
        return None, array, axis

    def guard(self, ok: Value, exc: str, message: str, *values: Value) -> None:
        """Raise `exc(message)` unless `ok` holds."""
        if isinstance(ok, Const) and (ok.value or not self.of_elements):
            if not ok.value:
                self.throw(exc, message, *values)
            return
        self.refuse_answer(exc == "AttributeError")
        self.builder.emit("guard", ok, *values, exc=exc, message=self._worded(message))

    def throw(self, exc: str, message: str, *values: Value) -> None:
        """Raise here, always."""
        self.refuse_answer(exc == "AttributeError")
        message = self._worded(message)
        if values:
            self.builder.emit("guard", const(False), *values, exc=exc, message=message)
        self.builder.append(Instr("raise", attrs={"exc": exc, "message": message}))
        raise Stop

    @contextmanager
    def without_attribute_errors(self, asking: str) -> Any:
        """While code runs whose AttributeError is an answer to what is asked here: code that may raise it is refused."""
        saved = self.asking
        self.asking = asking
        try:
            yield
        finally:
            self.asking = saved

    def refuse_answer(self, may_be_attribute_error: bool) -> None:
        if self.asking and may_be_attribute_error:
            raise self.refuse(
                f"{self.asking}, by code that may raise AttributeError",
                hint="give it another way to say that there is none",
            )

    def _worded(self, message: str) -> str:
        """The message of an error, in which CPython names an operator as it is written."""
        if self.in_place is None or self.in_place[0] is not self.frame:
            return message
        symbol = self.in_place[1]
        return message.replace(f" for {symbol}:", f" for {symbol.partition(' ')[0]}=:", 1)

    def refuse(self, what: str, *, hint: str, types: Any = ()) -> Unsupported:
        """The error for something that cannot be compiled; `raise e.refuse(...)`."""
        return Unsupported(what, self.position, types=types, hint=hint)

    def type_error(self, message: str) -> None:
        """What CPython answers with a TypeError at run time, whatever the values are."""
        self.throw("TypeError", message)

    # ----------------------------------------------------------------------------------------- objects

    def new_id(self, what: str) -> Hashable:
        """An identity for an object made here: the same one when this place is evaluated again, but not one that is alive."""
        base = (what, self.depth, self.node.number, self.node.key, self.serial)
        self.serial += 1
        number = 0
        while (*base, number) in self.heap:
            number += 1
        return (*base, number)

    def site(self) -> Hashable:
        """Where the evaluation stands, the same when it comes here again."""
        frame = self.frame.number if self.frame is not None else 0
        return (self.function.name, frame, self.node.number, self.node.key, self.serial)

    def surviving(self) -> tuple[Reference, ...]:
        """The objects that code behind the present instruction may still use: those that variables refer to, and those that
        the instruction itself has made so far. (What these refer to in turn may be replaced, so it is not among them.)"""
        if not self.heap:
            return ()
        roots: list[Abstract] = list(self.env.values())
        roots.extend(self.frame.outer if self.frame is not None else self.outer)
        roots.extend(Reference(id) for id in self.heap if id not in self.before)
        roots.extend(r for pinned in self.pinned for r in pinned)
        direct = dict.fromkeys(id for v in roots for id in references(v))
        return tuple(Reference(id) for id in direct if id in self.heap)

    # ---------------------------------------------------------------------------------------- control flow

    def edge(self, node: Node, values: list[Abstract], order: Hashable = None) -> Target:
        """The target of a terminator (that the caller emits into the current block) going to `node` with `values`."""
        assert self.builder.block is not None
        target = Target(node.head)
        state = State(values, reachable(values, self.heap))
        key = (self.node.number, self.node.key, order if order is not None else len(node.edges))
        while key in node.edges:
            key = (*key, "more")
        node.edges[key] = Edge(self.builder.block, target, state, self.builder.position, self.node)
        return target

    def jump_to(self, target: Target) -> None:
        self.builder.append(Instr("jump", targets=[target]))

    def join(self) -> Join:
        return Join(self)

    def block(self, name: str) -> Block:
        return self.builder.new_block(name)

    def split(self, condition: Value, then: str = "then", other: str = "else") -> tuple[Block, Block]:
        """Branch to two new blocks; the caller goes on in them with `at`."""
        blocks = self.block(then), self.block(other)
        self.builder.branch(condition, *blocks)
        return blocks

    def at(self, block: Block) -> None:
        self.builder.at(block)

    def if_else(self, condition: Value, then: Callable[[], Abstract], other: Callable[[], Abstract]) -> Abstract:
        """The value of `then()` if the condition holds, else of `other()`; either may raise Stop."""
        if isinstance(condition, Const):
            return then() if condition.value else other()
        blocks = self.split(condition)
        heap = self.heap
        join = self.join()
        for block, side in zip(blocks, (then, other)):
            self.at(block)
            self.heap = dict(heap)
            with suppress(Stop):
                join.add(side())
        return join.finish()

    def each(self, choice: ChoiceValue, function: Callable[[Abstract], Abstract]) -> Abstract:
        """The value of `function` for the option that it is at run time; it may raise Stop."""
        join = self.join()
        join.node.apart = self.frame is not None and not self.frame.library
        heap = self.heap
        last = len(choice.options) - 1
        for n, option in enumerate(choice.options):
            if n < last:
                here, following = self.split(self.op("eq", choice.tag, const(n)), "option", "next_option")
                self.at(here)
            self.heap = dict(heap)
            self.pinned.append(join.outer)  # the other options too, which `function` does not see
            with suppress(Stop):
                join.add(function(option))
            self.pinned.pop()
            if n < last:
                self.at(following)
        return join.finish()

    @contextmanager
    def in_context(self, context: Context) -> Any:
        saved = self.context
        self.context = context
        try:
            yield
        finally:
            self.context = saved

    # -------------------------------------------------------------------------------------------- frames

    def activate(self, frame: Frame, args: list[Abstract]) -> Abstract:
        """Evaluate a function's body in place and give its result; control goes on behind it."""
        straight = self.is_straight
        self.run(frame, args)
        places = {edge.position for edge in frame.exit.edges.values()}
        self.left_at = places.pop() if len(places) == 1 else None
        value = self.finish(frame.exit)[0]
        self.keep_straight(straight)
        return value

    def run(self, frame: Frame, args: list[Abstract]) -> None:
        """Evaluate a function's body; the ways out are `frame.exit` and, of a generator, `frame.yields`."""
        self.depth += 1
        saved = self.frame, self.env, self.node, self.builder.position, self.serial, self.advancing
        before, straight = self.before, self.straight
        frame.outer = self.surviving()
        frame.arguments = tuple(args) if frame.resume is None else ()
        frame.exit.apart = not frame.library
        self.frame = frame
        self.serial = 0
        outer_number = self.node.number, self.node.key, saved[4]
        shape = self._seed(frame, args, saved[0], saved[2], saved[4])
        base = frame.base = Node(None, outer_number, 0, "body")
        try:
            self._start(frame, base, args)
            self._iterate(frame)
        finally:
            self.frame, self.env, self.node, self.builder.position, _, self.advancing = saved
            self.serial = saved[4] + 1
            self.before, self.straight = before, straight
            self.depth -= 1
        for node in frame.reached:
            self.builder.function.blocks.extend(node.blocks)
        self.seeds[frame.place] = (shape, {key: node.parameters for key, node in frame.nodes.items()})
        for node in (base, *frame.nodes.values()):  # cycles, which would otherwise wait for the garbage collector
            node.edges.clear()
            node.out.clear()
            node.state = None
        frame.nodes.clear()
        frame.reached.clear()

    def _seed(self, frame: Frame, args: list[Abstract], parent: Frame | None, node: Node, serial: int) -> Hashable:
        """A call that is evaluated again with arguments of the same types starts from the types that it settled on."""
        above = parent.place if parent is not None else None
        frame.place = (above, id(node.block), node.key, serial, frame.code, frame.resume)
        shape = functions.Outline(self.heap).of([*args, *frame.free.values()])
        frame.number = frame.exit.place = self.places.setdefault(frame.place, len(self.places) + 1)
        found = self.seeds.get(frame.place)
        if found is not None and found[0] == shape:
            frame.seeds = found[1]
        return shape

    def _start(self, frame: Frame, base: Node, args: list[Abstract]) -> None:
        """Evaluate the first block, in the block where the call stands."""
        block = frame.resume or frame.prepared.function.entry
        self.node = base
        self._bind(frame, block, [*args, *frame.outer])
        if block in frame.prepared.loops and not self._unrolled(frame, block):
            node = self._node(frame, block, args)
            self.jump_to(self.edge(node, [*args, *frame.outer]))
            base.out.append((node, next(iter(node.edges))))
            heapq.heappush(frame.queue, (node.order, node))
            return
        base.block = block
        self._evaluate(frame, block)

    def _bind(self, frame: Frame, block: Block, slots: list[Abstract]) -> None:
        self.env = dict(zip((*block.params, *frame.prepared.live[block]), slots))
        self.advancing = {}

    def _evaluate(self, frame: Frame, block: Block) -> None:
        chain = self.node.chain = {block: None}
        self._evaluate_block(frame, block)
        while self.following is not None:
            block, slots = self.following
            self.following = None
            self.heap = reachable([*slots, *frame.outer], self.heap)  # what nobody can see any more is no other object
            chain[block] = None
            self._bind(frame, block, slots)
            self._evaluate_block(frame, block)

    def _evaluate_block(self, frame: Frame, block: Block) -> None:
        if block in frame.prepared.trying and not python_ops.passes_on(self, frame, block):
            refusal = Unsupported(
                "try/except (or with), which native code does not have",
                frame.prepared.trying[block].position or self.position,
                hint="test for the condition with `if`",
            )
            refusal.final = True
            raise refusal
        execute = python_ops.execute
        shown = (
            not frame.library and frame.code.co_filename not in ABOVE
        )  # the user's lines, not those of zyg that call them
        try:
            for instr in block.instrs:
                if shown and instr.position is not None:
                    self.builder.position = instr.position
                self.before = frozenset(self.heap) if self.heap else frozenset()
                self.straight = self.builder.block
                execute(self, frame, instr)
        except Stop:
            pass
        except Unsupported as error:
            raise error.at(self.position).called_at(self.position) from None

    def _iterate(self, frame: Frame) -> None:
        while True:
            self._settle(frame)
            # Code that only an earlier, too narrow, state reached is dead: forget its edges.
            reached: dict[Node, None] = {}
            work = [frame.base]
            while work:
                node = work.pop()
                if node in reached:
                    continue
                reached[node] = None
                work.extend(n for n, _ in node.out)
            if not self._recover(frame, reached):
                break
        for node in frame.nodes.values():
            if node not in reached:
                for target, key in node.out:
                    target.edges.pop(key, None)
        nodes = sorted((n for n in reached if n.block is not None and n.state is not None), key=lambda n: n.number)
        frame.reached = nodes
        for node in nodes:
            convert_edges(self, node)

    def _settle(self, frame: Frame) -> None:
        """Evaluate blocks until what they begin with changes no more."""
        queue = frame.queue
        while queue:
            _, node = heapq.heappop(queue)
            if not node.edges or node.block is None:
                continue
            state = node.merge(self.carried)
            if node.stale:
                if node.state is not None and state.same(node.state):
                    node.edges.update(node.stale)
                    state = node.merge(self.carried)
                else:
                    node.lost.update(node.stale)
                node.stale = {}
            if node.state is not None and state.same(node.state):
                continue
            node.rounds += 1
            node.sizes.append(len(state.heap))
            if self.inference.unrolling.is_spent(len(node.edges), state.heap):
                with final_refusals():
                    raise self.refuse(
                        "loops over what has a known length, a tuple, say, or objects that they gather in a list: their rounds are compiled one "
                        "by one, and come together in more ways than compile in a few seconds",
                        hint="keep what they go through, or gather, in an array or a list of numbers",
                    )
            if node.rounds > MAX_ROUNDS or _explodes(node.sizes):
                raise self.refuse(
                    "the types of this loop's variables do not settle", hint="keep the type and length of each the same"
                )
            node.state = state
            self._process(frame, node)

    def _recover(self, frame: Frame, reached: dict[Node, None]) -> bool:
        """Back edges that were held to be out of date, and come from blocks that nothing has changed for, still are edges."""
        found = False
        for node in reached:
            for key, edge in node.lost.items():
                if edge.source in reached and key not in node.edges:
                    node.edges[key] = edge
                    heapq.heappush(frame.queue, (node.order, node))
                    found = True
            node.lost = {}
        return found

    def _process(self, frame: Frame, node: Node) -> None:
        assert node.state is not None and node.block is not None
        for target, key in node.out:
            target.edges.pop(key, None)
            target.stale.pop(key, None)
            target.lost.pop(key, None)
            if target.block is not None:
                heapq.heappush(frame.queue, (target.order, target))
        node.out = []
        node.head.instrs = []
        self.local = (None, {})
        blocks = self.builder.function.blocks
        self.builder.function.blocks = node.blocks = [node.head]
        self.node = node
        self.serial = 0
        self.heap = dict(node.state.heap)
        self.at(node.head)
        self._bind(frame, node.block, node.state.slots)
        try:
            self._evaluate(frame, node.block)
        finally:
            self.builder.function.blocks = blocks

    def _node(self, frame: Frame, block: Block, slots: list[Abstract]) -> Node:
        """The node of a block for these values: where loops over tuples are unrolled there is one per iteration, and one per
        version of the loops around it."""
        prepared = frame.prepared
        key = self._positions(slots)
        versions = version_of(frame, self.node, block, tuple(key), slots)
        full = (*key, *versions.values()) if any(versions.values()) else tuple(key)
        node = frame.nodes.get((block, full))
        if node is None:
            self._refuse_if_endless(frame, block, slots, key, len(frame.nodes))
            node = Node(block, full, prepared.order[block], block.name, frame.number)
            node.versions, node.order, node.apart = versions, self._turn(frame, block, slots), not frame.library
            frame.nodes[block, full] = node
            node.parameters = dict(frame.seeds.get((block, full), ()))
            if block in prepared.loops:
                live = prepared.live[block]
                iterators_ = {len(block.params) + live.index(i) for i in prepared.iterators[block] if i in live}
                static = {n for n, _ in key}
                # What a loop changes becomes a parameter at once: its variables and the counters of its iterators. (Where there is
                # one node per item of what it goes through, it does not come back to any.)
                if not any(iterators.is_stepped(self, slots[n]) for n in iterators_):
                    node.force = frozenset({*range(len(block.params)), *iterators_} - static)
        return node

    def _turn(self, frame: Frame, block: Block, slots: list[Abstract]) -> tuple[int, ...]:
        """When the node of a block is evaluated: after all that may lead to it, but for ways back.  Each round of an unrolled loop comes
        before the next one, and with it before the loop's header, which the round leads to; nodes of one block are in order of age."""
        prepared = frame.prepared
        env = dict(zip((*block.params, *prepared.live[block]), slots))
        around = [header for header, body in prepared.loops.items() if block in body]
        found: list[int] = []
        for header in sorted(around, key=lambda h: len(prepared.loops[h]), reverse=True):
            steps = [v for i in prepared.iterators[header] if iterators.is_stepped(self, v := env.get(i))]
            if steps:
                place = (header, *found, *(iterators.static_position(self, v) for v in steps))
                found += prepared.order[header], frame.steps.setdefault(place, len(frame.steps))
                if header is block:
                    found.append(len(prepared.order))
        return (*found, prepared.order[block], len(frame.nodes))

    def _positions(self, slots: list[Abstract]) -> list[tuple[int, Hashable]]:
        """Where the iterators among these values stand, if code is made per position."""
        found = [(n, iterators.static_position(self, v)) for n, v in enumerate(slots) if isinstance(v, Reference)]
        return [(n, position) for n, position in found if position is not None]

    def _refuse_if_endless(
        self, frame: Frame, block: Block, slots: list[Abstract], positions: list[tuple[int, Hashable]], rounds: int
    ) -> None:
        """Unsupported for a loop that is unrolled and does not end, or not soon enough."""
        if rounds > MAX_NODES:
            raise self.refuse("a loop over a tuple that is too long to unroll", hint="use an array")
        for n, _ in positions:
            iterator = slots[n]
            assert isinstance(iterator, Reference)
            for k, (given, length) in enumerate(iterators.steps_in_lists(self, iterator)):
                if given > frame.lengths.setdefault((block, n, k), length) + MAX_GROWN:
                    raise self.refuse(
                        "a loop over a list that grows meanwhile",
                        hint="count the rounds with `range`, or go through a copy of the list",
                    )

    def go(self, frame: Frame, target: Target, narrow: Callable[[Abstract], Abstract] | None = None) -> Target:
        """An edge to an untyped block: the target for the terminator."""
        return self.go_with(frame, target.block, self._slots(frame, target), narrow)

    def _slots(self, frame: Frame, target: Target) -> list[Abstract]:
        slots = [self.read(v) for v in target.args]
        env = self.env
        slots.extend(env[v] for v in frame.prepared.live[target.block])
        return slots

    def go_with(
        self, frame: Frame, block: Block, slots: list[Abstract], narrow: Callable[[Abstract], Abstract] | None = None
    ) -> Target:
        if narrow is not None:
            slots = [narrow(v) for v in slots]
        node = self._node(frame, block, slots)
        slots = [*slots, *frame.outer]
        order = len(self.node.out)
        loop = frame.prepared.loops.get(block)
        if loop is not None and not goes_round(self.node, node, loop):
            for key in [k for k, edge in node.edges.items() if goes_round(edge.source, node, loop)]:
                node.stale[key] = node.edges.pop(key)
        result = self.edge(node, slots, order)
        self.node.out.append((node, next(reversed(node.edges))))
        heapq.heappush(frame.queue, (node.order, node))
        return result

    def go_on(self, frame: Frame, target: Target) -> None:
        """Go to an untyped block whatever the values are when the code runs: on in the typed block that there is, if there is no other
        way to it than that from the blocks evaluated in it.  Not in loops that are not unrolled: what is known in one round might not be
        in the next."""
        block, chain = target.block, self.node.chain
        above, loops = frame.prepared.dominators.get(block, (None, ()))
        header = block in frame.prepared.loops
        if (
            (above in chain or header and block in chain)
            and self.is_straight
            and all(self._unrolled(frame, h) for h in loops)
        ):
            slots = self._slots(frame, target)
            if header:
                frame.rounds += 1
                self._refuse_if_endless(frame, block, slots, self._positions(slots), frame.rounds)
            assert self.following is None, "two ways on"
            self.following = block, slots
        else:
            self.jump_to(self.go(frame, target))

    @property
    def is_straight(self) -> bool:
        """Whether the instruction that is evaluated has one way on so far: the typed block that it is in."""
        return self.builder.block is self.straight

    def keep_straight(self, straight: bool) -> None:
        """Where all ways have met: if there was one way before they parted, there is one now."""
        if straight:
            self.straight = self.builder.block

    def _unrolled(self, frame: Frame, header: Block) -> bool:
        """Whether there is a node per item of what a loop goes through."""
        return any(iterators.is_stepped(self, self.env.get(i)) for i in frame.prepared.iterators[header])

    def leave(self, frame: Frame, value: Abstract, way: Node | None = None) -> None:
        """Return from the frame, or give a value of a generator."""
        order = len(self.node.out)
        way = way or frame.exit
        self.jump_to(self.edge(way, [value, *frame.outer], order))
        self.node.out.append((way, next(reversed(way.edges))))

    def finish(self, node: Node) -> list[Abstract]:
        """Go on behind a frame or a join: the joined values."""
        if not node.edges:
            raise Stop
        state = node.merge(self.carried)
        self.heap = dict(state.heap)
        if len(node.edges) == 1:
            (edge,) = node.edges.values()
            last = edge.block.instrs[-1]
            if last.op == "jump" and not node.parameters:
                edge.block.instrs.pop()
                self.at(edge.block)
                return state.slots
        node.state = state
        self.builder.function.blocks.append(node.head)
        convert_edges(self, node)
        self.at(node.head)
        return state.slots

    def read(self, value: Value) -> Abstract:
        """The abstract value of an operand of untyped SSA."""
        if isinstance(value, Const):
            return known(value.value)
        return self.env[value]

    # --------------------------------------------------------------------------------------------- inputs

    def input(self, kind: str, container: Any, name: str | None, type: Type) -> Abstract:
        """What a global variable or a cell holds, as hidden parameters of this function."""
        key = (kind, id(container), name)
        found = self.inputs.get(key)
        if found is None:
            entry = self.inference.inputs.setdefault(key, Input(kind, container, name, type))
            leaves = [Value(leaf, name or "captured") for leaf in t.flatten(type)]
            assembly = Assembly(self, iter(leaves), lambda number: ("input", key, number), READ_ONLY)
            found = self.inputs[key] = (entry, assembly.of(type))
            self.input_leaves[key] = leaves
            self.input_objects[key] = {i: self.heap[i] for i in assembly.ids}
        # The objects in it are as they were at entry, on whatever path this is read first.
        for i, record_ in self.input_objects[key].items():
            self.heap.setdefault(i, record_)
        return found[1]

    @property
    def input_leaves(self) -> dict[Hashable, list[Value]]:
        return self.__dict__.setdefault("_input_leaves", {})

    @property
    def input_objects(self) -> dict[Hashable, Heap]:
        return self.__dict__.setdefault("_input_objects", {})

    def call(self, callee: Abstract, args: list[Abstract], keywords: dict[str, Abstract] | None = None) -> Abstract:
        return calls.call(self, callee, args, keywords or {})


def _explodes(sizes: list[int]) -> bool:
    """Whether each round of a loop finds many more objects than the one before: a tree that grows by a level."""
    return len(sizes) > 3 and sizes[-1] >= 12 and all(4 * b > 5 * a for a, b in zip(sizes[-4:], sizes[-3:]))


class Join:
    """Control flow that meets again inside a handler: `add` a value at the end of each path, then `finish`."""

    def __init__(self, evaluator: Evaluator):
        self.evaluator = evaluator
        place = evaluator.frame.number if evaluator.frame is not None else 0
        key = ("join", evaluator.node.key, evaluator.depth, evaluator.serial)
        evaluator.serial += 1  # the next one has another name
        self.node = Node(None, key, evaluator.node.number, "join", place)
        self.outer = list(evaluator.surviving())

    def add(self, value: Abstract) -> None:
        e = self.evaluator
        e.jump_to(e.edge(self.node, [value, *self.outer]))

    def finish(self) -> Abstract:
        return self.evaluator.finish(self.node)[0]
