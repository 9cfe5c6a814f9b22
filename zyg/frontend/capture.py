"""From a code object to untyped SSA: symbolic execution of the stack machine, block by block.

Input is a code object, output a Function of Python ops on `object` whose parameters are the code's arguments, in the
order of `co_varnames`.  One method per instruction of the vocabulary of `bytecode`, under the instruction's name.

Local variables and the operand stack are `Variables` (slot i of the locals is variable i, place k of the stack is
variable -1-k), so that both end as SSA values and block arguments, and nothing is left of the stack.  Within a block
the stack is a list; a place that the block has not touched holds a `Place`, and is read when it is popped.

Exceptions.  A block that may raise in a protected region has a handler edge.  The edge carries what the handler needs
as of the *start* of the block; a block therefore ends before a variable that is live in the handler gets a new value,
unless nothing before it can raise.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Iterator
from types import CodeType
from typing import Any

from ..errors import Unsupported
from ..ir.builder import Variables
from ..ir.core import Block, Const, Function, Instr, Position, Target, Value, map_uses, uses
from ..ir.types import BOOL, F64, I64, NONE, OBJECT, Type
from .bytecode import Body, Instruction, read
from .cfg import LEAVES, UNCONDITIONAL, BasicBlock, build

# Ops that cannot raise, so that what they are part of needs no handler.
_SILENT_OPS = (
    "tuple list is is_not make_slice free_cell unbound assertion_error string new_cell set_cell make_function "
    "push_exception pop_exception forget jump return branch match_sequence match_mapping locals build_class"
)
_SILENT = frozenset(_SILENT_OPS.split())
_COROUTINE_FLAGS = 0x80 | 0x100 | 0x200  # coroutine, iterable coroutine, asynchronous generator
_GENERATOR_FLAG = 0x20
_INT64 = range(-(2**63), 2**63)


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


# --------------------------------------------------------------------------------------------------- cache

_captured: dict[int, tuple[weakref.ref[CodeType], Function]] = {}


def capture(code: CodeType) -> Function:
    """The SSA of a code object, untyped. It is cached: clone it before changing it.

    >>> print(capture((lambda x: x * x + 1.0).__code__))  # doctest: +ELLIPSIS
    func @lambda(%x: object) -> object {...
    entry:
      %0 = mul %x, %x : object...
      %1 = add %0, 1.0 : object...
      return %1...
    }
    """
    found = _captured.get(id(code))
    if found is not None and found[0]() is code:
        shared = found[1]
    else:
        shared = Capture(code).run()
        key = id(code)
        _captured[key] = (weakref.ref(code, lambda _, forget=_captured.pop: forget(key, None)), shared)
    # The cache must not keep the code alive, so the function that it holds does not refer to it.
    function = Function(shared.name, shared.blocks, shared.results)
    function.attrs = {**shared.attrs, "code": code}
    return function


def ir_name(code: CodeType) -> str:
    """A name for the function, in the letters that SSA names have."""
    return code.co_qualname.replace(".<locals>", "").replace("<", "").replace(">", "")


def constant(value: Any) -> Const:
    """A constant as an operand; integers past 64 bits are objects."""
    kind = type(value)
    if kind is float:
        return Const(value, F64)
    if kind is int:
        return Const(value, I64 if value in _INT64 else OBJECT)
    if kind is bool:
        return Const(value, BOOL)
    return Const(value, NONE if value is None else OBJECT)


# Methods that differ in the op only.


def _loader(op: str) -> Callable[[Capture, str], None]:
    def load(self: Capture, name: str) -> None:
        self.push(self.emit(op, attrs={"name": name}))

    return load


def _storer(op: str) -> Callable[[Capture, str], None]:
    def store(self: Capture, name: str) -> None:
        self.emit_typed(op, (), self.pop(), name=name)

    return store


def _deleter(op: str) -> Callable[[Capture, str], None]:
    def delete(self: Capture, name: str) -> None:
        self.emit_typed(op, (), name=name)

    return delete


def _builder(op: str) -> Callable[[Capture, int], None]:
    def build(self: Capture, count: int) -> None:
        self.push(self.emit(op, *self.pop_many(count)))

    return build


def _extender(op: str) -> Callable[[Capture, int], None]:
    def extend(self: Capture, depth: int) -> None:
        item = self.pop()
        self.emit_typed(op, (), self.peek(depth), item)

    return extend


class Capture:
    """The state of one decoding."""

    def __init__(self, code: CodeType):
        self.code = code
        self.body: Body = read(code)
        self.names = self.body.variables
        self.function = Function(ir_name(code), [], (OBJECT,))
        self.file = code.co_filename
        self.positions = list(code.co_positions())
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
        if code.co_flags & _COROUTINE_FLAGS:
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
            _drop_checks(self.function, marker)
        if marker is not None and any(_uses(block, marker) for block in self.function.blocks):
            entry.instrs.insert(0, Instr("unbound", [], [marker], {}, [], None))
        if self.body.regions:
            _merge_blocks(self.function)
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
            method = _METHODS.get(instruction.op)
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
            below: list[Item] = [NULL if item is NULL else place(k) for k, item in enumerate(base)]
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
        if op not in _SILENT:
            self.may_raise = True
        return result

    def emit_typed(self, op: str, types: tuple[Type, ...], *operands: Value, **attrs: Any) -> list[Value]:
        results = [Value(t) for t in types]
        self.block.instrs.append(Instr(op, list(operands), results, attrs, [], self.position))
        if op not in _SILENT:
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
            self.entered[basic] = [NULL if item is NULL else place(k) for k, item in enumerate(self.stack)]
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

    def _branch_if(self, jump_if: bool) -> None:
        condition, negated = self.condition()
        falls, jumps = self._successors()
        if jump_if != negated:
            self.branch(condition, jumps, falls)
        else:
            self.branch(condition, falls, jumps)

    def POP_JUMP_IF_FALSE(self, arg: int) -> None:
        self._branch_if(False)

    def POP_JUMP_IF_TRUE(self, arg: int) -> None:
        self._branch_if(True)

    def _branch_if_none(self, jump_if: bool) -> None:
        test = self.emit("is", self.pop(), Const(None, NONE))
        (condition,) = self.emit_typed("truth", (BOOL,), test)
        falls, jumps = self._successors()
        self.branch(condition, *((jumps, falls) if jump_if else (falls, jumps)))

    def POP_JUMP_IF_NONE(self, arg: int) -> None:
        self._branch_if_none(True)

    def POP_JUMP_IF_NOT_NONE(self, arg: int) -> None:
        self._branch_if_none(False)

    def _jump_or_pop(self, jump_if: bool) -> None:
        """The jump keeps the value, falling through drops it; the dropped place is not read."""
        value = self.peek(1)
        if value.type is OBJECT:
            (condition,) = self.emit_typed("truth", (BOOL,), value)
        else:
            assert isinstance(value, Const)
            condition = Const(bool(value.value), BOOL)
        falls, jumps = self._successors()
        self.entered.setdefault(falls, [NULL if item is NULL else place(k) for k, item in enumerate(self.stack[:-1])])
        self.branch(condition, *((jumps, falls) if jump_if else (falls, jumps)))

    def JUMP_IF_FALSE_OR_POP(self, arg: int) -> None:
        self._jump_or_pop(False)

    def JUMP_IF_TRUE_OR_POP(self, arg: int) -> None:
        self._jump_or_pop(True)

    def JUMP_FORWARD(self, arg: int) -> None:
        self.jump(self.basic.successors[0])

    JUMP_BACKWARD = JUMP_FORWARD

    def FOR_ITER(self, arg: int) -> None:
        iterator = self.peek(1)
        more, item = self.emit_typed("next", (BOOL, OBJECT), iterator)
        body, done = self._successors()
        self.entered.setdefault(done, [NULL if entry is NULL else place(k) for k, entry in enumerate(self.stack[:-1])])
        self.push(item)
        self.branch(more, body, done)

    def RETURN_VALUE(self, arg: int) -> None:
        self._append(Instr("return", [self.pop()]))

    def RAISE_VARARGS(self, count: int) -> None:
        self.may_raise = True
        self._append(Instr("raise", self.pop_many(count)))

    def RERAISE(self, arg: int) -> None:
        self.may_raise = True
        self._append(Instr("reraise", [self.pop()]))

    # --------------------------------------------------------------------------------------- operand stack

    def POP_TOP(self, arg: int) -> None:
        self.stack.pop()

    def END_SEND(self, arg: int) -> None:
        del self.stack[-2]

    def PUSH_NULL(self, arg: int) -> None:
        self.stack.append(NULL)

    RETURN_GENERATOR = PUSH_NULL

    def SWAP(self, depth: int) -> None:
        stack = self.stack
        stack[-1], stack[-depth] = stack[-depth], stack[-1]

    def COPY(self, depth: int) -> None:
        self.push(NULL if self.stack[-depth] is NULL else self.peek(depth))

    def LOAD_CONST(self, value: Any) -> None:
        self.stack.append(constant(value))

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

    def LOAD_FAST(self, index: int) -> None:
        cell = self.cells.get(index)
        self.stack.append(self._read_local(index) if cell is None else cell)

    def LOAD_FAST_CHECK(self, index: int) -> None:
        if self.bound >> index & 1:
            self.LOAD_FAST(index)
            return
        self.stack.append(self._checked(index))

    def _checked(self, index: int) -> Value:
        """The variable's value, or UnboundLocalError; from here on it is known to be bound."""
        name = self.names[index]
        value = self.emit("checked_local", self._read_local(index), name=name, attrs={"name": name})
        self.has_checks = True
        self._write_local(index, value)
        self.bound |= 1 << index
        return value

    def STORE_FAST(self, index: int) -> None:
        value = self.pop()
        if isinstance(value, Const) and value.value is None:
            self._forget(index)
        self._write_local(index, value)
        if index not in self.restored:
            self.bound |= 1 << index

    def DELETE_FAST(self, index: int) -> None:
        if not self.bound >> index & 1 and not self._just_bound(index):
            self._checked(index)
        if not self._just_bound(index):
            self._read_local(index)  # settles the value where blocks meet
        self._forget(index)
        self._write_local(index, self._initial(index))
        self.bound &= ~(1 << index)

    def _forget(self, index: int) -> None:
        """A variable is deleted, or set to None: tell that its object may go, where it is known without a new block
        parameter."""
        block, variables = self.block, self.variables
        value = None
        while value is None:
            value = variables.current.get(block, {}).get(index)
            edges = variables.edges.get(block, [])
            if value is None and (block not in variables.sealed or len(edges) != 1 or block.params):
                return  # blocks that have parameters already are handlers: the variable may not be live in them
            if value is None:
                block = edges[0][0]
        value = variables.resolve(value)
        if not isinstance(value, Const) and value is not self.unbound_marker:
            self.emit_typed("forget", (), value, name=self.names[index])

    def _just_bound(self, index: int) -> bool:
        """`name = None; del name` is how a handler forgets its exception."""
        before = self.body.instructions[self.index - 1]
        return self.index > self.basic.start and before.op == "STORE_FAST" and before.arg == index

    def LOAD_FAST_AND_CLEAR(self, index: int) -> None:
        self.stack.append(self._read_local(index))
        self._write_local(index, self._initial(index))

    def MAKE_CELL(self, index: int) -> None:
        if index in self.cells or (self.basic is self._first and self._in_prologue()):
            return
        initial = self._read_local(index)
        operands = [] if initial is self.unbound_marker else [initial]
        name = self.names[index]
        self._write_local(index, self.emit("new_cell", *operands, name=name, attrs={"name": name}))

    def _in_prologue(self) -> bool:
        instructions = self.body.instructions
        return all(instructions[k].op == "MAKE_CELL" for k in range(self.index))

    def _cell(self, index: int) -> Value:
        cell = self.cells.get(index)
        return self._read_local(index) if cell is None else cell

    def LOAD_DEREF(self, index: int) -> None:
        name = self.names[index]
        self.push(self.emit("get_cell", self._cell(index), name=name, attrs={"name": name}))

    def STORE_DEREF(self, index: int) -> None:
        self.emit_typed("set_cell", (), self._cell(index), self.pop())

    def DELETE_DEREF(self, index: int) -> None:
        self.emit_typed("del_cell", (), self._cell(index), name=self.names[index])

    def LOAD_FROM_DICT_OR_DEREF(self, index: int) -> None:
        self.push(self.emit("class_deref", self.pop(), self._cell(index), attrs={"name": self.names[index]}))

    LOAD_GLOBAL, STORE_GLOBAL, DELETE_GLOBAL = _loader("global"), _storer("set_global"), _deleter("del_global")
    LOAD_NAME, STORE_NAME, DELETE_NAME = _loader("name"), _storer("set_name"), _deleter("del_name")

    def LOAD_LOCALS(self, arg: int) -> None:
        self.push(self.emit("locals"))

    def LOAD_FROM_DICT_OR_GLOBALS(self, name: str) -> None:
        self.push(self.emit("dict_or_global", self.pop(), attrs={"name": name}))

    def SETUP_ANNOTATIONS(self, arg: int) -> None:
        self.emit_typed("setup_annotations", ())

    # ------------------------------------------------------------------------------------------- operators

    def BINARY_OP(self, op: str) -> None:
        right, left = self.pop(), self.pop()
        self.push(self.arith(op, left, right))

    COMPARE_OP = BINARY_OP

    def UNARY_NEGATIVE(self, arg: int) -> None:
        self.push(self.arith("neg", self.pop()))

    def UNARY_POSITIVE(self, arg: int) -> None:
        self.push(self.emit("pos", self.pop()))

    def UNARY_INVERT(self, arg: int) -> None:
        self.push(self.arith("invert", self.pop()))

    def UNARY_NOT(self, arg: int) -> None:
        self.push(self.arith("not", self.pop()))

    def IS_OP(self, inverted: bool) -> None:
        right, left = self.pop(), self.pop()
        self.push(self.emit("is_not" if inverted else "is", left, right))

    def CONTAINS_OP(self, inverted: bool) -> None:
        container, item = self.pop(), self.pop()
        found = self.emit("contains", item, container)
        self.push(self.emit("not", found) if inverted else found)

    def BINARY_SUBSCR(self, arg: int) -> None:
        key, container = self.pop(), self.pop()
        self.push(self.emit("getitem", container, key))

    def STORE_SUBSCR(self, arg: int) -> None:
        value, container, key = self.pop_many(3)
        self.emit_typed("setitem", (), container, key, value)

    def DELETE_SUBSCR(self, arg: int) -> None:
        container, key = self.pop_many(2)
        self.emit_typed("delitem", (), container, key)

    def BUILD_SLICE(self, count: int) -> None:
        self.push(self.emit("make_slice", *self.pop_many(count)))

    def BINARY_SLICE(self, arg: int) -> None:
        container, start, stop = self.pop_many(3)
        self.push(self.emit("getitem", container, self.emit("make_slice", start, stop)))

    def STORE_SLICE(self, arg: int) -> None:
        value, container, start, stop = self.pop_many(4)
        self.emit_typed("setitem", (), container, self.emit("make_slice", start, stop), value)

    # ------------------------------------------------------------------------------- attributes and calls

    def LOAD_ATTR(self, name: str) -> None:
        self.push(self.emit("getattr", self.pop(), attrs={"name": name}))

    def LOAD_METHOD(self, name: str) -> None:
        method = self.emit("getattr", self.pop(), attrs={"name": name})
        self.push(NULL)
        self.push(method)

    def STORE_ATTR(self, name: str) -> None:
        value, owner = self.pop_many(2)
        self.emit_typed("setattr", (), owner, value, name=name)

    def DELETE_ATTR(self, name: str) -> None:
        self.emit_typed("delattr", (), self.pop(), name=name)

    def SUPER(self, explicit: bool) -> None:
        """super(class, self), or super() for which class and self need not be loaded."""
        super_type, owner, instance = self.pop_many(3)
        if explicit:
            self.push(self.emit("call_object", super_type, owner, instance, attrs={"keywords": ()}))
            return
        for value in (instance, owner):
            if self.block.instrs[-1].op == "get_cell" and self.block.instrs[-1].results[0] is value:
                self.block.instrs.pop()
        self.push(self.emit("call_object", super_type, attrs={"keywords": ()}))

    def _callable(self) -> list[Value]:
        """The two places below the arguments: the callable, and perhaps its first argument."""
        upper = NULL if self.stack[-1] is NULL else self.peek(1)
        lower = NULL if self.stack[-2] is NULL else self.peek(2)
        del self.stack[-2:]
        return [item for item in (lower, upper) if isinstance(item, Value)]

    def CALL(self, arg: tuple[int, tuple[str, ...]]) -> None:
        count, keywords = arg
        arguments = self.pop_many(count)
        function = self._callable()
        self.push(self.emit("call_object", *function, *arguments, attrs={"keywords": keywords}))

    def CALL_FUNCTION_EX(self, flags: int) -> None:
        arguments = self.pop_many(1 + (flags & 1))
        (function,) = self._callable()
        self.push(self.emit("call_spread", function, *arguments))

    def MAKE_FUNCTION(self, flags: int) -> None:
        code = self.pop()
        assert isinstance(code, Const)
        has = tuple(n for bit, n in enumerate(("defaults", "kwdefaults", "annotations", "closure")) if flags >> bit & 1)
        operands = self.pop_many(len(has))
        self.push(self.emit("make_function", *operands, attrs={"code": code.value, "has": has}))

    def LOAD_BUILD_CLASS(self, arg: int) -> None:
        self.push(self.emit("build_class"))

    def INTRINSIC(self, arg: tuple[str, int]) -> None:
        name, count = arg
        self.push(self.emit("intrinsic", *self.pop_many(count), attrs={"name": name}))

    # ------------------------------------------------------------------------------------------ containers

    BUILD_TUPLE, BUILD_LIST, BUILD_SET = _builder("tuple"), _builder("list"), _builder("set")
    BUILD_STRING = _builder("string")

    def BUILD_MAP(self, count: int) -> None:
        self.push(self.emit("dict", *self.pop_many(2 * count)))

    def BUILD_CONST_KEY_MAP(self, count: int) -> None:
        keys = self.pop()
        assert isinstance(keys, Const)
        self.push(self.emit("frozen_key_dict", *self.pop_many(count), attrs={"keys": keys.value}))

    LIST_APPEND, LIST_EXTEND = _extender("list_append"), _extender("list_extend")
    SET_ADD, SET_UPDATE, DICT_UPDATE = _extender("set_add"), _extender("set_update"), _extender("dict_update")

    def DICT_MERGE(self, depths: tuple[int, int]) -> None:
        container, function = depths
        mapping = self.pop()
        self.emit_typed("dict_merge", (), self.peek(container), mapping, self.peek(function))

    def MAP_ADD(self, depth: int) -> None:
        key, value = self.pop_many(2)
        self.emit_typed("dict_setitem", (), self.peek(depth), key, value)

    def LIST_TO_TUPLE(self, arg: int) -> None:
        self.push(self.emit("list_to_tuple", self.pop()))

    def UNPACK_SEQUENCE(self, count: int) -> None:
        items = self.emit_typed("unpack", (OBJECT,) * count, self.pop(), count=count)
        self.stack.extend(reversed(items))

    def UNPACK_EX(self, arg: int) -> None:
        before, after = arg & 0xFF, arg >> 8
        types = (OBJECT,) * (before + 1 + after)
        items = self.emit_typed("unpack_rest", types, self.pop(), before=before, after=after)
        self.stack.extend(reversed(items))

    def GET_ITER(self, arg: int) -> None:
        self.push(self.emit("iter", self.pop()))

    def FORMAT_VALUE(self, arg: tuple[str, bool]) -> None:
        conversion, has_spec = arg
        self.push(self.emit("format", *self.pop_many(1 + has_spec), attrs={"conversion": conversion}))

    def CONVERT_VALUE(self, conversion: str) -> None:
        self.push(self.emit("convert", self.pop(), attrs={"conversion": conversion}))

    # ------------------------------------------------------------------------------------------- match

    def GET_LEN(self, arg: int) -> None:
        self.push(self.emit("len_", self.peek(1)))

    def MATCH_SEQUENCE(self, arg: int) -> None:
        self.push(self.emit_typed("match_sequence", (BOOL,), self.peek(1))[0])

    def MATCH_MAPPING(self, arg: int) -> None:
        self.push(self.emit_typed("match_mapping", (BOOL,), self.peek(1))[0])

    def MATCH_KEYS(self, arg: int) -> None:
        self.push(self.emit("match_keys", self.peek(2), self.peek(1)))

    def MATCH_CLASS(self, count: int) -> None:
        subject, cls, names = self.pop_many(3)
        self.push(self.emit("match_class", subject, cls, names, attrs={"count": count}))

    # ----------------------------------------------------------------------------------------- imports

    def IMPORT_NAME(self, name: str) -> None:
        level, names = self.pop_many(2)
        self.push(self.emit("import_name", level, names, attrs={"name": name}))

    def IMPORT_FROM(self, name: str) -> None:
        self.push(self.emit("import_from", self.peek(1), attrs={"name": name}))

    def IMPORT_STAR(self, arg: int) -> None:
        self.emit_typed("import_star", (), self.pop())

    # -------------------------------------------------------------------------------------- exceptions

    def LOAD_ASSERTION_ERROR(self, arg: int) -> None:
        self.push(self.emit("assertion_error"))

    def BEFORE_WITH(self, arg: int) -> None:
        leave, value = self.emit_typed("with_enter", (OBJECT, OBJECT), self.pop())
        self.push(leave)
        self.push(value)

    def WITH_EXCEPT_START(self, arg: int) -> None:
        self.push(self.emit("with_exit", self.peek(4), self.peek(1)))

    def PUSH_EXC_INFO(self, arg: int) -> None:
        exception = self.pop()
        self.push(self.emit("push_exception", exception))
        self.push(exception)

    def POP_EXCEPT(self, arg: int) -> None:
        self.emit_typed("pop_exception", (), self.pop())

    def CHECK_EXC_MATCH(self, arg: int) -> None:
        classes = self.pop()
        self.push(self.emit_typed("check_match", (BOOL,), self.peek(1), classes)[0])

    def CHECK_EG_MATCH(self, arg: int) -> None:
        exception, classes = self.pop_many(2)
        rest, match = self.emit_typed("check_group", (OBJECT, OBJECT), exception, classes)
        self.push(rest)
        self.push(match)

    def PREP_RERAISE_STAR(self, arg: int) -> None:
        original, raised = self.pop_many(2)
        self.push(self.emit("prepare_reraise", original, raised))

    # -------------------------------------------------------------------------------------- generators

    def YIELD_VALUE(self, arg: int) -> None:
        self.push(self.emit("yield", self.pop()))

    def YIELD_FROM(self, arg: int) -> None:
        self.push(self.emit("yield_from", self.pop()))


def _uses(block: Block, value: Value) -> bool:
    if block.handler is not None and value in block.handler.args:
        return True
    return any(v is value for instr in block.instrs for v in uses(instr))


def _drop_checks(function: Function, marker: Value | None) -> None:
    """Remove the checks of values that cannot be the marker of an unbound variable.

    3.12 and later check too often around comprehensions, 3.11 where a variable is a copy of a bound one.
    """
    unbound: set[Value] = set() if marker is None else {marker}
    edges = [(p, a) for p, a in _passed(function) if not isinstance(a, Const)]
    size = -1
    while size != len(unbound):
        size = len(unbound)
        unbound.update(p for p, a in edges if a in unbound)
    bound: dict[Value, Value] = {}
    for block in function.blocks:
        kept = []
        for instr in block.instrs:
            if instr.op == "checked_local" and instr.operands[0] not in unbound:
                bound[instr.results[0]] = instr.operands[0]
            else:
                kept.append(instr)
        block.instrs[:] = kept

    def resolve(value: Value) -> Value:
        while value in bound:
            value = bound[value]
        return value

    if bound:
        for block in function.blocks:
            for instr in block.instrs:
                map_uses(instr, resolve)
            if block.handler is not None:
                block.handler.args[:] = map(resolve, block.handler.args)


def _passed(function: Function) -> Iterator[tuple[Value, Value]]:
    """Block parameters with what is passed for them."""
    for block in function.blocks:
        for target in block.successors():
            yield from zip(target.block.params, target.args, strict=True)
        if block.handler is not None:
            yield from zip(block.handler.block.params[1:], block.handler.args, strict=True)


def _silent(block: Block) -> bool:
    return all(instr.op in _SILENT for instr in block.instrs)


def _merge_blocks(function: Function) -> None:
    """Join blocks that one jump connects, where that leaves the same instructions to the same handlers.

    Protected regions begin and end at many places where nothing can raise.
    """
    edges = function.predecessors()
    merged: dict[Block, Block] = {}
    for block in function.blocks:
        while block.instrs and block.terminator.op == "jump" and block not in merged:
            after = block.terminator.targets[0].block
            if len(edges[after]) != 1 or after.params or after is block:
                break
            if after.handler is None and (block.handler is None or _silent(after)):
                handler = block.handler
            elif block.handler is None and len(block.instrs) == 1:
                # Only a jump: what a block defines, its handler cannot see.
                handler = after.handler
            else:
                break
            block.instrs[-1:] = after.instrs
            block.handler = handler
            for target in [*block.successors(), *([handler] if handler is not None else [])]:
                edges[target.block] = [(block if b is after else b, t) for b, t in edges[target.block]]
            merged[after] = block
    function.blocks[:] = [b for b in function.blocks if b not in merged]


_METHODS: dict[str, Callable[[Capture, Any], None]] = {
    name: method for name, method in vars(Capture).items() if name.isupper()
}
