"""The Python back end: from SSA on `object` to a code object of the running CPython.

Input is a Function of Python ops, handler edges included, output a code object (`emit`) or a function
(`emit_function`).  It is the inverse of the decoder, and shares no state with it.

*Where values are.* A value without a Python name that is used once, where the stack machine wants it, stays on the
operand stack. Every other value has a fast local: that of its Python variable if it has a name, so that objects live
as long as they would in the interpreter, else a scratch slot that is emptied at the last use. Block parameters share
the slot of their arguments where lifetimes allow (`Slots`), so that most edges copy nothing.

*Exceptions.*  The operand stack is empty at block boundaries.  The code of a block with a handler is one entry of the
exception table; it leads to a landing pad that puts the exception and the handler's arguments where the handler wants
them.  The ops push_exception and pop_exception keep sys.exc_info() as the interpreter does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any

from bytecode import Compare, Label
from bytecode.instr import CellVar, FreeVar, Intrinsic1Op, TryBegin, TryEnd

from ..ir.analysis import use_counts
from ..ir.core import Block, Const, Function, Position, Target, Value
from . import recording, shadowing, tape
from .assembly import Instruction, Location, Signature, assemble, stack_effect
from .islands import with_islands
from .layout import cleared, combined, directed
from .opcodes import ORDER, PY312, PY313, UNBOUND, CannotEmit, Tree, is_none, lower
from .phrases import call_on_top, go_unless_real
from .slots import Slots, candidates, ends_in_next, variable_name

__all__ = ["CannotEmit", "Emitter", "emit", "emit_function"]

Nested = Callable[[CodeType], CodeType]
# Ops whose results are not left on the stack.
IN_SLOTS = frozenset({"unbound", "new_cell", *recording.OPS})
_SMALL = 257  # ints below are one object each
_NESTING = 150  # how deep an expression may get on the stack, so that recursion here stays shallow


def emit(function: Function, code: CodeType | None = None, *, nested: Nested = lambda code: code) -> CodeType:
    """A code object that does what `function` says.

    code: where the signature, the flags and the names come from; `function.attrs["code"]` if it is not given, and
    without either all parameters are positional.
    nested: applied to the code objects that the function makes functions of.
    """
    template = code if code is not None else function.attrs.get("code")
    return Emitter(function, template, nested).run()


def emit_function(function: Function, template: FunctionType, *, nested: Nested = lambda code: code) -> FunctionType:
    """A Python function that runs `function`, with the globals, defaults, closure and attributes of `template`."""
    code = emit(function, template.__code__, nested=nested)
    result = FunctionType(code, template.__globals__, template.__name__, template.__defaults__, template.__closure__)
    result.__kwdefaults__ = template.__kwdefaults__
    result.__annotations__ = template.__annotations__
    result.__qualname__ = template.__qualname__
    result.__module__ = template.__module__
    result.__doc__ = template.__doc__
    result.__dict__.update(template.__dict__)
    return result


class Emitter:
    """The state of one emission."""

    def __init__(self, function: Function, template: CodeType | None, nested: Nested):
        self.function = function
        self.template = template
        self.nested = nested
        self.code: list[Any] = []  # instructions, labels, begins and ends of regions with a handler
        self.signature = Signature()
        self.sink: list[Any] = self.code  # where instructions go to
        self.asides: list[tuple[list[Any], Label | None]] = []  # code that runs rarely, with its landing pad
        self.generator = bool(function.attrs.get("generator"))
        self.counts = use_counts(function)
        self.makers = {r: i for _, i in function.instructions() for r in i.results}
        self.cells: dict[Value, CellVar | FreeVar] = {}
        self.labels: dict[Block, Label] = {b: Label() for b in function.blocks}
        self.position: Position | None = None
        self.location: Location | None = None
        self.depth = 0
        self.deepest = 2
        self.remaining: dict[Value, int] = {}  # loads to come in this block, of scratch values that die in it
        self.stubs: list[tuple[Label, Target, Callable[[], None], Block]] = []
        self.pads: dict[tuple[Any, ...], Label] = {}
        self.pad_code: list[tuple[Label, Target | None, str | None]] = []
        self.placed: set[Block] = set()  # blocks whose code is out
        self.sources: dict[Block, list[Block]] = {}
        self.block = function.entry
        self.next_block: Block | None = None
        self.region: TryBegin | None = None
        self.region_pad: Label | None = None
        self.stop_iteration = Label()
        self.exhausted: Label | None = None
        self.resident = tape.stays_on_stack(function)  # lies at the bottom of the stack, where depths begin

    def run(self) -> CodeType:
        function = self.function
        self._find_cells()
        trees = {block: self._trees(block) for block in function.blocks}
        on_stack: set[Value] = set()
        for forest in trees.values():
            for tree in forest:
                self._collect(tree, on_stack)
        fetched = {v for v in self.makers if self.makers[v].op == "unbound" or v in self.cells}
        self.slots = Slots(function, on_stack | fetched, self.makers, self.counts, self._reserved_names())
        if function.attrs.get("keep"):
            self.slots.scratch.clear()
        self._signature()
        self._prologue()
        self._find_sources()
        for block, following in zip(function.blocks, [*function.blocks[1:], None]):
            self.next_block = following
            self._block(block, trees[block])
        self._cold_code()
        code, more = cleared(directed(self.code))
        code, self.signature.argument_names = combined(code, self.signature.argument_names)
        return assemble(self.signature, with_islands(code), self.deepest + 2 + more + (self.resident is not None))

    # --------------------------------------------------------------------------------- signature and cells

    def _find_cells(self) -> None:
        """Cells that the interpreter can keep: each new_cell is a variable of the code object."""
        template = self.template
        self.cell_names: list[str] = []
        free = list(template.co_freevars if template is not None else self.function.attrs.get("free", ()))
        arguments = {p.name for p in self.function.params}
        entry = self.function.entry
        for block, instr in self.function.instructions():
            if instr.op == "free_cell":
                name = instr.attrs["name"]
                if name not in free:
                    free.append(name)
                self.cells[instr.results[0]] = FreeVar(name)
            elif instr.op == "new_cell":
                name = instr.attrs["name"]
                whole = bool(instr.operands) and self.counts[instr.operands[0]] == 1 and block is entry
                if name in self.cell_names or (name in arguments and not (whole and instr.operands[0].name == name)):
                    name = next(n for n in candidates(name) if n not in self.cell_names and n not in arguments)
                self.cell_names.append(name)
                self.cells[instr.results[0]] = CellVar(name)
        self.free_names = free

    def _reserved_names(self) -> set[str]:
        names = {*self.cell_names, *self.free_names}
        if "__class__" in self.free_names and self.function.params:
            names.add(self.function.params[0].name)  # super() looks there
        return names

    def _signature(self) -> None:
        made, template, function = self.signature, self.template, self.function
        made.argument_names = [p.name for p in function.params]
        made.cells = self.cell_names
        made.free = self.free_names
        if template is None:
            made.counts = (len(function.params), 0, 0)
            made.qualname = function.attrs.get("name", function.name)
            made.name = made.qualname.rpartition(".")[2]  # what tracebacks and logging tell
            made.filename = function.attrs.get("file", "<zyg>")
            made.first_line = function.attrs.get("line", 1)
            made.flags = 0x3 | (0x20 if self.generator else 0)
            return
        made.counts = (template.co_argcount, template.co_posonlyargcount, template.co_kwonlyargcount)
        made.name, made.qualname = template.co_name, template.co_qualname
        made.filename, made.first_line = template.co_filename, template.co_firstlineno
        made.flags = template.co_flags
        if template.co_flags & 0x1:
            first = template.co_consts[0] if template.co_consts else None
            made.docstring = first if isinstance(first, str) else None

    def _prologue(self) -> None:
        self.location = (self.signature.first_line, None, None, None)
        if self.free_names:
            self.out("COPY_FREE_VARS", len(self.free_names))
        for name in self.cell_names:
            self.out("MAKE_CELL", CellVar(name))
        if self.generator:
            self.out("RETURN_GENERATOR")
            self.out("POP_TOP")
        self.out("RESUME", 0)

    # ---------------------------------------------------------------------------------------------- trees

    def _trees(self, block: Block) -> list[Tree]:
        """The block's operations as expression trees, in order; effects stay in their order.

        An operand is computed on the stack if it is used only there and its operation comes right before those of the
        operands that are pushed after it.
        """
        instrs = block.instrs
        ways = {i.results[0] for i in instrs if tape.leaves_on_stack(i, self.resident)}
        index_of = {
            i.results[0]: n for n, i in enumerate(instrs) if len(i.results) == 1 or not ways.isdisjoint(i.results)
        }
        passed_on = {a for t in block.successors() for a in t.args}
        if block.handler is not None:
            passed_on.update(block.handler.args)

        def build(index: int, depth: int) -> Tree:
            instr = instrs[index]
            order = list(ORDER.get(instr.op, range(len(instr.operands))))
            tree = Tree(instr, index, order)
            for k in reversed(order):
                operand = instr.operands[k]
                at = index_of.get(operand, -1)
                if at != tree.start - 1 or at < 0 or depth >= _NESTING or operand in passed_on:
                    continue
                if self.counts[operand] != 1 or operand in self.cells or recording.loads_twice(instr, k):
                    continue
                if operand not in ways and (instrs[at].op in IN_SLOTS or variable_name(operand, instrs[at])):
                    continue
                inner = build(at, depth + 1)
                inner.kept = True
                tree.inner[k] = inner
                tree.start = inner.start
            return tree

        forest: list[Tree] = []
        index = len(instrs) - 1
        while index >= 0:
            tree = build(index, 0)
            forest.append(tree)
            index = tree.start - 1
        forest.reverse()
        return forest

    def _collect(self, tree: Tree, on_stack: set[Value]) -> None:
        for inner in tree.inner.values():
            on_stack.add(inner.operation.results[0])
            self._collect(inner, on_stack)

    # ----------------------------------------------------------------------------------- instructions out

    def out(self, name: str, *arg: Any) -> None:
        argument = arg[0] if arg else None
        self.sink.append(Instruction(name, argument, self.location))
        self.depth += stack_effect(name, argument)
        self.deepest = max(self.deepest, self.depth)

    def label(self, label: Label, depth: int = 0) -> None:
        self.sink.append(label)
        self.depth = depth
        self.deepest = max(self.deepest, depth)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is emitted runs rarely: it goes behind the blocks. It begins with a label and ends with a jump."""
        outer, depth = self.sink, self.depth
        self.sink = []
        yield
        self.asides.append((self.sink, self.region_pad))
        self.sink, self.depth = outer, depth

    def load(self, value: Value) -> None:
        if isinstance(value, Const):
            self.out("LOAD_CONST", value.value)
            return
        cell = self.cells.get(value)
        if cell is not None:
            self.out("LOAD_FAST" if PY313 else "LOAD_CLOSURE", cell)
            return
        maker = self.makers.get(value)
        if maker is not None and maker.op == "unbound":
            self.out("LOAD_CONST", UNBOUND)
            return
        slot = self.slots.name_of[value]
        left = self.remaining.get(value)
        if left is None:
            self.out("LOAD_FAST", slot)
            return
        self.remaining[value] = left - 1
        self._load_last(slot) if left == 1 else self.out("LOAD_FAST", slot)

    def _load_last(self, slot: str) -> None:
        """Load, and leave the slot empty."""
        # In module and class scope LOAD_FAST_AND_CLEAR hides the slot, and locals() is then not the namespace.
        if PY312 and self.signature.flags & 0x1:
            self.out("LOAD_FAST_AND_CLEAR", slot)
        else:
            self.out("LOAD_FAST", slot)
            self.out("DELETE_FAST", slot)

    def store(self, value: Value) -> None:
        if not self.counts[value] and not variable_name(value, self.makers.get(value)):
            last = self.sink[-1]
            if type(last) is Instruction and last.name == "LOAD_CONST":  # nobody wants it
                self.sink.pop()
                self.depth -= 1
            else:
                self.out("POP_TOP")
        else:
            self.out("STORE_FAST", self.slots.name_of[value])

    def are_one(self, a: Value, b: Value) -> bool:
        """Whether two values are in the same place."""
        slot = self.slots.name_of.get(a)
        return slot is not None and slot == self.slots.name_of.get(b)

    def drop_below(self, count: int) -> None:
        """Drop `count` items below the top."""
        self.out("SWAP", count + 1)
        for _ in range(count):
            self.out("POP_TOP")

    def set_position(self, position: Position | None) -> None:
        if position is None or position is self.position:
            return
        self.position = position
        if position.end_line >= position.line:
            same = position.end_line == position.line
            end = max(position.end_column, position.column) if same else position.end_column
            self.location = (position.line, position.end_line, position.column, end)
        else:
            self.location = (position.line, None, None, None)

    # --------------------------------------------------------------------------------------------- blocks

    def _block(self, block: Block, forest: list[Tree]) -> None:
        pad = self._pad(block)
        # A label is a place where regions may change; two blocks with one pad are one region.
        if pad is not self.region_pad:
            self.end_region()
        self.label(self.labels[block])
        self.placed.add(block)
        self.block = block
        if pad is not None and self.region is None:
            self.begin_region(pad)
        self._forget_dead(block)
        self._count_loads(block)
        end = len(forest) - 1
        fused = ends_in_next(block, self.counts)
        for tree in forest[: end - fused]:
            lower(self, tree)
        self.set_position(forest[end].operation.position)
        if fused:
            self._loop_head(block, forest[end - 1], forest[end])
        else:
            self._terminator(block, forest[end])

    def begin_region(self, pad: Label) -> None:
        self.region_pad = pad
        lasti = pad is self.stop_iteration
        self.region = TryBegin(pad, push_lasti=lasti, stack_depth=0)
        self.code.append(self.region)

    def end_region(self) -> None:
        if self.region is None:
            return
        at = len(self.code) - 1
        while isinstance(self.code[at], Label):
            at -= 1
        if self.code[at] is self.region:
            del self.code[at]  # nothing in it
        else:
            self.code.append(TryEnd(self.region))
        self.region = self.region_pad = None

    def _pad(self, block: Block) -> Label | None:
        """The landing pad of the block's handler, shared by blocks that pass the same values."""
        handler, inner = block.handler, block.in_iterator
        if handler is None and inner is None:
            return self.stop_iteration if self.generator and PY312 else None
        key = (inner, handler and handler.block, *(_identity(a) for a in (handler.args if handler else ())))
        pad = self.pads.get(key)
        if pad is None:
            pad = self.pads[key] = Label()
            self.pad_code.append((pad, handler, inner))
        return pad

    def _count_loads(self, block: Block) -> None:
        """Find the scratch values whose last use is a load in this block."""
        live = self.slots.live
        kept = live.out_mask.get(block, 0) | self.slots.throughout(block)
        passed_on = {a for t in block.successors() for a in t.args}
        remaining: dict[Value, int] = {}
        for instr in block.instrs:
            for v in instr.operands:
                slot = self.slots.name_of.get(v)
                if slot in self.slots.scratch and v not in passed_on and not kept >> live.bit[v] & 1:
                    remaining[v] = remaining.get(v, 0) + 1
        self.remaining = remaining

    def _forget_dead(self, block: Block) -> None:
        """Empty scratch slots whose value was live on all edges into this block and is not any more: the iterator of a
        loop that ended, say. (Not in handlers, where the slot may be empty already.)"""
        sources = self.sources.get(block)
        if not sources:
            return
        live = self.slots.live
        dying = -1
        for source in sources:
            dying &= live.out_mask.get(source, 0)
            for instr in source.instrs[-2:]:
                if instr.op == "next":  # an exhausted iterator gives no item
                    dying &= ~self.slots.mask(instr.results)
        into = live.in_mask.get(block, 0)
        dying &= ~into & ((1 << len(live.values)) - 1)
        if not dying:
            return
        needed = {self.slots.name_of.get(v) for v in [*live.live_in(block), *block.params]}
        for value in live._set(dying):
            slot = self.slots.name_of.get(value)
            if slot in self.slots.scratch and slot not in needed:
                needed.add(slot)
                self.out("DELETE_FAST", slot)

    def _find_sources(self) -> None:
        """Per block the blocks that jump to it; none for handlers."""
        handlers = {b.handler.block for b in self.function.blocks if b.handler is not None}
        for block in self.function.blocks:
            for target in block.successors():
                if target.block not in handlers:
                    self.sources.setdefault(target.block, []).append(block)

    def _cold_code(self) -> None:
        """After the blocks: edges that copy values, and landing pads."""
        for code, pad in self.asides:
            if pad is not self.region_pad:
                self.end_region()
            if pad is not None and self.region is None:
                self.code.append(Label())  # a place where regions may change
                self.begin_region(pad)
            self.code += code
        for label, target, prepare, source in self.stubs:
            pad = self._pad(source)
            if pad is not self.region_pad:
                self.end_region()
            self.label(label, 0)
            if pad is not None and self.region is None:
                self.begin_region(pad)
            prepare()
            self._copies(target)
            self._jump_back(target.block)
        self.end_region()
        for label, target, inner in self.pad_code:
            self.label(label, 1)
            if inner is not None:
                call_on_top(self, leaving[inner])
            if target is None:
                self.out("RERAISE", 0)
                continue
            moves = self._moves(target, skip=1)
            for arg, _ in moves:
                self.load(arg)
            for _, slot in reversed(moves):
                self.out("STORE_FAST", slot)
            self.store(target.block.params[0])
            self._jump_back(target.block)
        if self.exhausted is not None:
            self.label(self.exhausted, 0)
            self.end_for()
            self.out("LOAD_CONST", None)
            self.out("RETURN_VALUE")
        if self.generator and PY312:
            self.label(self.stop_iteration, 2)
            self.out("CALL_INTRINSIC_1", Intrinsic1Op(3))
            self.out("RERAISE", 1)

    # -------------------------------------------------------------------------------------- control flow

    def _moves(self, target: Target, skip: int = 0) -> list[tuple[Value, str]]:
        moves = []
        for param, arg in zip(target.block.params[skip:], target.args, strict=True):
            slot = self.slots.name_of[param]
            if self.slots.name_of.get(arg) != slot:
                moves.append((arg, slot))
        return moves

    def _copies(self, target: Target) -> None:
        """Pass the arguments of an edge, all at once."""
        moves = self._moves(target)
        live = self.slots.live
        sources = [arg for arg, _ in moves]
        written = {slot for _, slot in moves}
        needed = {self.slots.name_of.get(p) for p in target.block.params}
        for arg, _ in moves:
            slot = self.slots.name_of.get(arg)
            dies = slot in self.slots.scratch and not live.is_live_in(arg, target.block)
            if slot is not None and dies and sources.count(arg) == 1 and slot not in written and slot not in needed:
                self._load_last(slot)
            else:
                self.load(arg)
        for _, slot in reversed(moves):
            self.out("STORE_FAST", slot)

    def _is_next(self, block: Block) -> bool:
        return block is self.next_block

    def _jump_back(self, block: Block) -> None:
        """From the cold code everything is behind."""
        self.out("JUMP_BACKWARD", self.labels[block])

    def _go(self, target: Target) -> None:
        """Copy and go on at the target, by falling through if it comes next."""
        self._copies(target)
        if self._is_next(target.block):
            return
        back = target.block in self.placed
        self.out("JUMP_BACKWARD" if back else "JUMP_FORWARD", self.labels[target.block])

    def _forward_label(self, source: Block, target: Target) -> Label:
        """Where a conditional jump goes, which has to be forward: the block, or a stub that copies first."""
        if not self._moves(target) and target.block not in self.placed:
            return self.labels[target.block]
        label = Label()
        self.stubs.append((label, target, lambda: None, source))
        return label

    def _terminator(self, block: Block, tree: Tree) -> None:
        instr = tree.operation
        if instr.op == "jump":
            self._go(instr.targets[0])
        elif instr.op == "branch":
            self._branch(block, tree)
        elif instr.op == "switch":
            self._switch(block, tree)
        elif instr.op == "return":
            self.push(tree, 0)
            self._leave()
            if self.resident is not None:
                self.out("SWAP", 2)
                self.out("POP_TOP")
            self.out("RETURN_VALUE")
        elif instr.op == "reraise":
            self.push(tree, 0)
            if block.handler is None:
                self._leave()
            self.out("RERAISE", 0)
        elif instr.op == "raise":
            self.push_all(tree)
            self.out("RAISE_VARARGS", len(instr.operands))
        else:
            raise NotImplementedError(f"the Python back end does not know the terminator {instr.op}")

    def _leave(self) -> None:
        """Half of an adjoint that catches exceptions is left: its frame, which their tracebacks keep, lets go of what refers to
        them."""
        if not self.function.attrs.get("keep") or all(b.handler is None for b in self.function.blocks):
            return
        kept = {*self.signature.argument_names, *self.cell_names, *self.free_names}
        for name in dict.fromkeys(self.slots.name_of.values()):
            if name not in kept:
                self.out("LOAD_CONST", None)
                self.out("STORE_FAST", name)

    def _branch(self, block: Block, tree: Tree) -> None:
        then, other = tree.operation.targets
        condition = tree.operation.operands[0]
        inner = tree.inner.get(0)
        if isinstance(condition, Const):
            self._go(then if condition.value else other)
            return
        test = "TRUE"
        if inner is not None and inner.operation.op == "typed":
            tested = inner.operation
            other_way = self._forward_label(block, other)
            go_unless_real(self, tested.operands[0], other_way, tested.attrs["likely"], tested.attrs["types"])
            self._go(then)
            return
        if inner is not None and inner.operation.op == "looked_up":
            shadowing.go_unless_looked_up(self, inner.operation, self._forward_label(block, other))
            self._go(then)
            return
        if inner is not None and inner.operation.op == "truth":
            of = inner.inner.get(0)
            if of is not None and of.operation.op == "is" and is_none(of.operation.operands[1]) and 0 in of.order:
                self.push(of, 0)
                test = "NONE"
            else:
                self.push(inner, 0)
                if PY313 and not (of is not None and of.operation.op in ("is", "is_not", "contains", "not")):
                    self.to_bool()
        else:
            self.push(tree, 0)
        opposite = {"TRUE": "FALSE", "NONE": "NOT_NONE"}[test]
        # The jump that is taken is forward on 3.12: rather let the way back be the one that falls through.
        if self._is_next(other.block) or (other.block in self.placed and then.block not in self.placed):
            self.jump_if(test, self._forward_label(block, then))
            self._go(other)
        else:
            self.jump_if(opposite, self._forward_label(block, other))
            self._go(then)

    def to_bool(self) -> None:
        """From 3.13 on: let what is on the stack be a bool. A comparison can do that by itself."""
        last = self.sink[-1]
        if type(last) is Instruction and last.name == "COMPARE_OP":
            last.arg = Compare(int(last.arg) | 16)
        else:
            self.out("TO_BOOL")

    def jump_if(self, test: str, label: Label) -> None:
        self.out(f"POP_JUMP_IF_{test}" if PY312 else f"POP_JUMP_FORWARD_IF_{test}", label)

    def _switch(self, block: Block, tree: Tree) -> None:
        """A number: is it 0, 1, ...? Of small ones there is one object each."""
        (number,) = tree.operation.operands
        *cases, default = tree.operation.targets
        self.remaining.pop(number, None)
        for at, target in enumerate(cases):
            self.load(number)
            self.out("LOAD_CONST", at)
            if at < _SMALL:
                self.out("IS_OP", 0)
            else:
                self.out("COMPARE_OP", Compare.EQ)
                if PY313:
                    self.to_bool()
            self.jump_if("TRUE", self._forward_label(block, target))
        self._go(default)

    def _loop_head(self, block: Block, step: Tree, end: Tree) -> None:
        body, done = end.operation.targets
        self.set_position(step.operation.position)
        self.push(step, 0)
        finished = Label()
        self.out("FOR_ITER", finished)
        self.store(step.operation.results[1])
        self.out("POP_TOP")
        self.stubs.append((finished, done, self.end_for, block))
        self._go(body)

    def exhausted_tape(self) -> Label:
        """Where an iterator over a tape goes at its end, which it never comes to."""
        if self.exhausted is None:
            self.exhausted = Label()
        return self.exhausted

    def end_for(self) -> None:
        """What an exhausted FOR_ITER wants to find; the interpreter steps over it with the iterator popped."""
        if PY313:
            self.sink.append(Instruction("END_FOR", None, self.location))
            self.sink.append(Instruction("POP_TOP", None, self.location))
        elif PY312:
            self.sink.append(Instruction("END_FOR", None, self.location))

    # ------------------------------------------------------------------------------------------ operations

    def push(self, tree: Tree, k: int) -> None:
        inner = tree.inner.get(k)
        if inner is not None:
            lower(self, inner)
        else:
            self.load(tree.operation.operands[k])

    def push_all(self, tree: Tree) -> None:
        for k in tree.order:
            self.push(tree, k)


def out_of_generator(exception: BaseException) -> BaseException:
    """What comes out of a generator where `exception` is raised in it.

    >>> out_of_generator(StopIteration())
    RuntimeError('generator raised StopIteration')
    """
    if not isinstance(exception, StopIteration):
        return exception
    made = RuntimeError("generator raised StopIteration")
    made.__cause__ = made.__context__ = exception
    return made


# What comes out of blocks that stand for code of an iterator (`Block.in_iterator`), by its kind.
leaving: dict[str, Callable[[BaseException], BaseException]] = {"generator": out_of_generator}


def _identity(value: Value) -> Any:
    return (type(value.value), id(value.value)) if isinstance(value, Const) else value
