"""Symbolic execution of the stack machine, block by block: what all instructions work on.

Local variables and the operand stack are `Variables` (slot i of the locals is variable i, place k of the stack is
variable -1-k), so that both end as SSA values and block arguments, and nothing is left of the stack.  Within a block
the stack is a list; a place that the block has not touched holds a `Place`, and is read when it is popped.

Exceptions.  A block that may raise in a protected region has a handler edge.  The edge carries what the handler needs
as of the *start* of the block; a block therefore ends before a variable that is live in the handler gets a new value,
unless nothing before it can raise.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import CodeType
from typing import Any, ClassVar

from ..errors import Unsupported
from ..ir.builder import Variables
from ..ir.core import Block, Const, Function, Instr, Position, Target, Value
from ..ir.types import BOOL, OBJECT, Type
from .bytecode import Body, Instruction, read
from .cfg import LEAVES, UNCONDITIONAL, BasicBlock, build
from .leftovers import SILENT, drop_checks, merge_blocks, refers_to

COROUTINE_FLAGS = 0x80 | 0x100 | 0x200  # coroutine, iterable coroutine, asynchronous generator
_GENERATOR_FLAG = 0x20


class Place:
    """A place of the operand stack that holds what it held at the start of the block."""

    __slots__ = ("index",)

    def __init__(self, index: int):
        self.index = index


class Null:
    """What the interpreter pushes where there is no object: the missing `self` of a call, the place of an exception.
    The decoder always knows where they are, so they never become SSA values."""


NULL = Null()
_PLACES = [Place(i) for i in range(64)]

Item = Value | Place | Null


def place(index: int) -> Place:
    return _PLACES[index] if index < 64 else Place(index)


def untouched(stack: list[Item]) -> list[Item]:
    """The same stack at the start of a block, which has to look what is in it."""
    return [NULL if item is NULL else place(k) for k, item in enumerate(stack)]


def ir_name(code: CodeType) -> str:
    """A name for the function, in the letters that SSA names have."""
    return code.co_qualname.replace(".<locals>", "").replace("<", "").replace(">", "")


class Machine:
    """The state of one decoding; a subclass has a method for each instruction, under the instruction's name."""

    methods: ClassVar[dict[str, Callable[[Any, Any], None]]]

    def __init__(self, code: CodeType):
        self.code = code
        self.body: Body = read(code)
        self.names = self.body.variables
        self.function = Function(ir_name(code), [], (OBJECT,))
        self.file = code.co_filename
        self.positions = list(code.co_positions())
        # (Code that was made, or stripped, may have fewer than it has instructions.)
        self.positions += [(None, None, None, None)] * (len(code.co_code) // 2 - len(self.positions))
        self.variables = Variables(self._type_of, self._initial, self._name_of)
        self.cells: dict[int, Value] = {}  # by slot; cells that comprehensions make anew are variables instead
        self.unbound_marker: Value | None = None
        self.operators: list[Instr] = []
        self.has_checks = False
        self.restored: set[int] = set()  # variables that comprehensions put away and back, perhaps unbound
        self.blocks: dict[BasicBlock, Block] = {}
        self.entered: dict[BasicBlock, list[Item]] = {}  # the operand stack at the start of a block
        self.missing: dict[BasicBlock, int] = {}  # edges that have not been announced yet
        # The state within a block:
        self.basic: BasicBlock
        self.block: Block
        self.stack: list[Item] = []
        self.may_raise = False
        self.bound = 0
        self.position: Position | None = None
        self.index = 0

    # ------------------------------------------------------------------------------------------ the whole

    def run(self) -> Function:
        code = self.code
        self.function.attrs = {"name": code.co_qualname, "file": code.co_filename, "line": code.co_firstlineno}
        if code.co_flags & COROUTINE_FLAGS:
            raise Unsupported(
                f"{code.co_qualname} is asynchronous",
                Position(self.file, code.co_firstlineno, 0, 0, 0, code.co_qualname),
                hint="an ordinary function; async and await are not compiled",
            )
        if code.co_flags & _GENERATOR_FLAG:
            self.function.attrs["generator"] = True
        order = build(self.body)
        entry = self._make_entry(order[0])
        self._make_blocks(order)
        self._prologue(entry)
        for basic in order:
            self._decode(basic)
        self.variables.finish(self.function.blocks)
        for instr in self.operators:  # with constants alone an operator would not be Python's
            first = instr.operands[0]
            if isinstance(first, Const) and all(v.type is not OBJECT for v in instr.operands):
                instr.operands[0] = Const(first.value, OBJECT)
        marker = self.unbound_marker
        if self.has_checks:
            drop_checks(self.function, marker)
        if marker is not None and any(refers_to(block, marker) for block in self.function.blocks):
            entry.instrs.insert(0, Instr("unbound", [], [marker], {}, [], None))
        if self.body.regions:
            merge_blocks(self.function)
        return self.function

    def _make_entry(self, first: BasicBlock) -> Block:
        """The entry holds the parameters and has neither predecessors nor a handler."""
        entry = Block("entry")
        self.function.blocks.append(entry)
        self.variables.sealed.add(entry)
        if not first.predecessors and first.handler is None:
            self.blocks[first] = entry
        return entry

    def _prologue(self, entry: Block) -> None:
        """Parameters, and the cells and free variables that are there throughout."""
        code = self.code
        flags = code.co_flags
        count = code.co_argcount + code.co_kwonlyargcount + bool(flags & 0x04) + bool(flags & 0x08)
        for index in range(count):
            param = Value(OBJECT, self.names[index])
            entry.params.append(param)
            self.variables.write(entry, index, param)
        if first_line := code.co_firstlineno:
            self.position = Position(self.file, first_line, 0, first_line, 0, code.co_qualname)
        self.block = entry
        instructions = self.body.instructions
        self.restored = {i.arg for i in instructions if i.op == "LOAD_FAST_AND_CLEAR"}
        makers = [i for i in instructions if i.op == "MAKE_CELL"]
        renewed = self.restored | {i.arg for k, i in enumerate(makers) if instructions[k] is not i}
        for k, instruction in enumerate(makers):
            if instructions[k] is not instruction:
                break
            index = instruction.arg
            initial = [entry.params[index]] if index < count else []
            cell = self.emit("new_cell", *initial, name=self.names[index], attrs={"name": self.names[index]})
            if index in renewed:
                self.variables.write(entry, index, cell)
            else:
                self.cells[index] = cell
        for index in range(len(self.names) - len(code.co_freevars), len(self.names)):
            name = self.names[index]
            self.cells[index] = self.emit("free_cell", name=name, attrs={"name": name})
        if self.blocks[self._first] is not entry:
            self._jump_from(entry, self._first)

    def _make_blocks(self, order: list[BasicBlock]) -> None:
        self._first = order[0]
        self.entered[order[0]] = []
        names: dict[str, int] = {}
        self.missing = {basic: basic.predecessors for basic in order}
        if order[0] not in self.blocks:
            self.missing[order[0]] += 1  # from the entry
        for basic in order:
            if basic not in self.blocks:
                self.blocks[basic] = Block("")
        handlers = {b.handler.block for b in order if b.handler is not None}
        roles: dict[BasicBlock, str] = {}
        for basic in order:
            last = self.body.instructions[basic.end - 1].op
            if len(basic.successors) == 2:
                first, second = ("body", "done") if last == "FOR_ITER" else ("then", "else")
                if "TRUE" in last or last == "POP_JUMP_IF_NONE":
                    first, second = second, first
                roles.setdefault(basic.successors[0], first)
                roles.setdefault(basic.successors[1], second)
            for successor in basic.successors:
                if successor.order <= basic.order:
                    roles[successor] = "loop"
        for basic in order:
            block = self.blocks[basic]
            if block.name == "entry":
                continue
            role = "catch" if basic in handlers else roles.get(basic, "next")
            if self.body.instructions[basic.start].op == "FOR_ITER" and basic not in handlers:
                role = "loop"
            elif basic.predecessors > 1 and role not in ("loop", "catch"):
                role = "join"
            names[role] = names.get(role, 0) + 1
            block.name = role if names[role] == 1 else f"{role}{names[role]}"
            if basic in handlers:
                block.params.append(Value(OBJECT, "exception"))
        self.block_names = names

    def _type_of(self, variable: Hashable) -> Type:
        return OBJECT

    def _name_of(self, variable: Hashable) -> str:
        return self.names[variable] if isinstance(variable, int) and variable >= 0 else ""

    def _initial(self, variable: Hashable) -> Value:
        """A local variable that nothing has been assigned to."""
        if self.unbound_marker is None:
            self.unbound_marker = Value(OBJECT, "unbound")
        return self.unbound_marker

    # ------------------------------------------------------------------------------------------- one block

    def _decode(self, basic: BasicBlock) -> None:
        if basic not in self.entered:  # a handler of code that cannot raise, or what comes after one
            for successor in basic.successors:
                self._announced(successor)
            if basic.handler is not None:
                self._announced(basic.handler.block)
            return
        block = self.blocks[basic]
        if block is not self.function.blocks[0]:
            self.function.blocks.append(block)
        self.basic, self.block = basic, block
        self.stack = list(self.entered[basic])
        self.may_raise = False
        self.bound = basic.bound
        instructions = self.body.instructions
        qualified, file, positions = self.code.co_qualname, self.file, self.positions
        position_unit = -1
        for index in range(basic.start, basic.end):
            instruction = instructions[index]
            if instruction.unit != position_unit:
                position_unit = instruction.unit
                line, end_line, column, end_column = positions[position_unit]
                if line is not None:
                    self.position = Position(file, line, column or 0, end_line or 0, end_column or 0, qualified)
            self.index = index
            method = self.methods.get(instruction.op)
            if method is None:
                raise self._unsupported(instruction)
            method(self, instruction.arg)
        last = instructions[basic.end - 1].op
        if last not in LEAVES and last not in UNCONDITIONAL and len(basic.successors) == 1:
            self.jump(basic.successors[0])
        self._close()
        if basic.handler is not None:
            self._announced(basic.handler.block)

    def _close(self) -> None:
        """The present block is complete: give it its handler, if something in it may raise."""
        handler = self.basic.handler
        if handler is None or not self.may_raise:
            return
        target = Target(self.blocks[handler.block])
        self.block.handler = target
        self.variables.add_edge(self.block, target)
        if handler.block not in self.entered:
            base = self.entered[self.basic][: handler.depth]
            assert len(base) == handler.depth, "a protected region starts before its stack is complete"
            below = untouched(base)
            exception = target.block.params[0]
            self.entered[handler.block] = [*below, NULL, exception] if handler.lasti else [*below, exception]

    def _announced(self, basic: BasicBlock) -> None:
        """One edge more into `basic` is known. When all are, its variables can be settled."""
        self.missing[basic] -= 1
        if not self.missing[basic]:
            self.variables.seal(self.blocks[basic])

    def _split(self) -> None:
        """Go on in a new block."""
        old = self.block
        new = Block(self._fresh("next"))
        self.function.blocks.append(new)
        target = Target(new)
        self._append(Instr("jump", targets=[target]))
        self._close()
        self.variables.add_edge(old, target)
        self.variables.seal(new)
        self.block = new
        self.may_raise = False

    def _fresh(self, role: str) -> str:
        self.block_names[role] = number = self.block_names.get(role, 0) + 1
        return role if number == 1 else f"{role}{number}"

    def _unsupported(self, instruction: Instruction) -> Unsupported:
        name = instruction.arg if instruction.op == "UNKNOWN" else instruction.op
        return Unsupported(f"the instruction {name}", self.position, hint="a construct that zyg's decoder knows")

    # -------------------------------------------------------------------------------------------- emitting

    def _append(self, instr: Instr) -> None:
        instr.position = self.position
        self.block.instrs.append(instr)

    def emit(self, op: str, *operands: Value, name: str = "", attrs: dict[str, Any] | None = None) -> Value:
        """Emit an op with one object as its result."""
        result = Value(OBJECT, name)
        self.block.instrs.append(Instr(op, list(operands), [result], attrs or {}, [], self.position))
        if op not in SILENT:
            self.may_raise = True
        return result

    def emit_typed(self, op: str, types: tuple[Type, ...], *operands: Value, **attrs: Any) -> list[Value]:
        results = [Value(t) for t in types]
        self.block.instrs.append(Instr(op, list(operands), results, attrs, [], self.position))
        if op not in SILENT:
            self.may_raise = True
        return results

    def arith(self, op: str, *operands: Value) -> Value:
        """An operator that machine types have too."""
        result = self.emit(op, *operands)
        self.operators.append(self.block.instrs[-1])
        return result

    def push(self, value: Item) -> None:
        self.stack.append(value)

    def pop(self) -> Value:
        item = self.stack.pop()
        if isinstance(item, Place):
            return self.variables.read(self.block, -1 - item.index)
        assert isinstance(item, Value), "a NULL is used as a value"
        return item

    def pop_many(self, count: int) -> list[Value]:
        values = [self.pop() for _ in range(count)]
        values.reverse()
        return values

    def peek(self, depth: int) -> Value:
        """The value at `depth`, 1 being the top."""
        item = self.stack[-depth]
        if isinstance(item, Place):
            item = self.stack[-depth] = self.variables.read(self.block, -1 - item.index)
        assert isinstance(item, Value)
        return item

    # ---------------------------------------------------------------------------------------- control flow

    def _flush(self) -> None:
        """Before a terminator: put what the stack list holds where the next block looks for it."""
        moved = [
            (k, self.variables.read(self.block, -1 - item.index) if isinstance(item, Place) else item)
            for k, item in enumerate(self.stack)
            if not isinstance(item, Null) and not (isinstance(item, Place) and item.index == k)
        ]
        handler = self.basic.handler
        if handler is not None and self.block.instrs and any(k < handler.depth for k, _ in moved):
            self._split()  # what raised found the places as they were at the start of the block
        for k, value in moved:
            self.variables.write(self.block, -1 - k, value)

    def _edge(self, basic: BasicBlock) -> Target:
        if basic not in self.entered:
            self.entered[basic] = untouched(self.stack)
        return Target(self.blocks[basic])

    def jump(self, basic: BasicBlock) -> None:
        if basic.order <= self.basic.order:
            self.may_raise = True  # Ctrl-C is seen when a loop goes round
        self._flush()
        target = self._edge(basic)
        self._append(Instr("jump", targets=[target]))
        self.variables.add_edge(self.block, target)
        self._announced(basic)

    def _jump_from(self, entry: Block, basic: BasicBlock) -> None:
        target = Target(self.blocks[basic])
        self._append(Instr("jump", targets=[target]))
        self.variables.add_edge(entry, target)
        self._announced(basic)

    def branch(self, condition: Value, then: BasicBlock, other: BasicBlock) -> None:
        """Both ways with the present stack."""
        if min(then.order, other.order) <= self.basic.order:
            self.may_raise = True
        self._flush()
        targets = [self._edge(then), self._edge(other)]
        self._append(Instr("branch", [condition], targets=targets))
        for basic, target in zip((then, other), targets, strict=True):
            self.variables.add_edge(self.block, target)
            self._announced(basic)

    def _successors(self) -> tuple[BasicBlock, BasicBlock]:
        """Falling through, and the jump's target; they may be the same."""
        successors = self.basic.successors
        return successors[0], successors[-1]

    def condition(self) -> tuple[Value, bool]:
        """The popped object's truth for a branch, and whether it stands for its opposite."""
        value = self.pop()
        negated = False
        instructions, instrs = self.body.instructions, self.block.instrs
        before = self.index - 1
        while before >= self.basic.start and instructions[before].op in ("UNARY_NOT", "CONTAINS_OP"):
            if not (instrs and instrs[-1].op == "not" and instrs[-1].results[0] is value):
                break
            value = instrs.pop().operands[0]
            negated = not negated
            before -= 1
        if value.type is not BOOL or isinstance(value, Const):
            if value.type is not OBJECT:
                assert isinstance(value, Const)
                return Const(bool(value.value), BOOL), negated
            (value,) = self.emit_typed("truth", (BOOL,), value)
        return value, negated

    # ------------------------------------------------------------------------------------------- variables

    def _read_local(self, index: int) -> Value:
        return self.variables.read(self.block, index)

    def _write_local(self, index: int, value: Value) -> None:
        handler = self.basic.handler
        if handler is not None and handler.block.live >> index & 1 and (self.may_raise or self._made_here(value)):
            self._split()
        if not value.name and not isinstance(value, Const):
            value.name = self.names[index]
        self.variables.write(self.block, index, value)

    def _made_here(self, value: Value) -> bool:
        return any(value in instr.results for instr in self.block.instrs)
