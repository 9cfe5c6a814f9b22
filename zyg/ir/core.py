"""The SSA data structures: Module, Function, Block, Instr, Value.

Invariants (checked by `verify`): every value is defined once, by an instruction, as a parameter of a block, or as a
constant; a definition dominates its uses; a block ends in exactly one terminator; control flow passes values only as
block arguments (there are no phi nodes).  The parameters of a function are those of its first block, which has no
predecessors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any, NamedTuple

from .records import record
from .types import BOOL, F64, I64, NONE, OBJECT, Array, Scalar, Type


class Position(NamedTuple):
    """Where in the user's source an instruction comes from. Lines count from 1, columns from 0, as in `ast`."""

    file: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    function: str = ""

    @classmethod
    def of_instruction(cls, code: CodeType, offset: int) -> Position | None:
        """That of the instruction at `offset` bytes; None if the code does not tell."""
        for at, (line, end_line, column, end_column) in enumerate(code.co_positions()):
            if at == offset // 2 and line is not None:
                return cls(code.co_filename, line, column or 0, end_line or line, end_column or 0, code.co_name)
        return None


class Value:
    """Something that an instruction can use. `name` is a hint for the printer, not an identity."""

    __slots__ = ("name", "type")

    def __init__(self, type: Type, name: str = ""):
        self.type = type
        self.name = name

    def __repr__(self) -> str:
        return f"%{self.name or hex(id(self))} : {self.type}"


class Const(Value):
    """A literal operand: a Python number, bool, None, string, or any object that the compiler knows."""

    __slots__ = ("value",)

    def __init__(self, value: Any, type: Type):
        super().__init__(type)
        self.value = value

    def __repr__(self) -> str:
        return f"{self.value!r} : {self.type}"


def array_type(value: Value) -> Array:
    """The type of a value that is an array."""
    assert isinstance(value.type, Array), f"{value!r} is no array"
    return value.type


def scalar_type(value: Value) -> Scalar:
    """The type of a value that is a machine scalar."""
    assert isinstance(value.type, Scalar), f"{value!r} is no machine scalar"
    return value.type


def const(value: Any, type: Type | None = None) -> Const:
    """A constant of the given type; Python numbers know theirs.

    >>> const(1.5), const(2), const(True), const(2, F64)
    (1.5 : f64, 2 : i64, True : bool, 2.0 : f64)
    """
    if type is None:
        if isinstance(value, bool):
            type = BOOL
        elif isinstance(value, int):
            type = I64
        elif isinstance(value, float):
            type = F64
        else:
            type = NONE if value is None else OBJECT
    if isinstance(type, Scalar):
        assert value is not None
        value = float(value) if type.kind == "f" else bool(value) if type is BOOL else int(value)
    return Const(value, type)


@record(frozen=True, slots=True)
class Rule:
    """How to differentiate a `call` out of line: the attribute "rule" of the instruction.

    forward: IR function, operands of the call -> (results of the call..., saved...)
    reverse: IR function, (saved..., cotangents of the results..., of what the operands in `mutates` hold afterwards...,
        shadows of those in `gathers`...) -> cotangents
    gradients: for each result of `reverse`, the index of the operand whose cotangent it is
    mutates: indices of the array operands whose contents the call changes; the cotangent that `reverse` gives for such a
        one is that of what it held before, and takes the place of that of what it holds afterwards
    constants: indices of the operands that no derivative may flow into
    gathers: indices of the array operands whose shadows `reverse` takes, behind all else, and adds to
    """

    forward: str
    reverse: str
    gradients: tuple[int, ...]
    mutates: tuple[int, ...] = ()
    constants: tuple[int, ...] = ()
    gathers: tuple[int, ...] = ()


@record(frozen=True, slots=True)
class TangentRule:
    """How to differentiate a `call` out of line in forward mode: the attribute "tangent" of the instruction.

    function: IR function, (the first `arity` operands of the call, tangents of those in `perturbed`, the other operands) ->
        (results of the call, tangents of those that can have one, tangents of what the operands in `mutates` hold afterwards)
    perturbed: indices of the operands whose tangents it takes; no derivative may flow into others
    """

    function: str
    perturbed: tuple[int, ...]
    arity: int
    mutates: tuple[int, ...] = ()


def rule_functions(call: Instr) -> list[str]:
    """The functions that a call names besides its callee."""
    names: list[str] = []
    if "rule" in call.attrs:
        names += [call.attrs["rule"].forward, call.attrs["rule"].reverse]
    if "tangent" in call.attrs:
        names.append(call.attrs["tangent"].function)
    return names


@record(eq=False, slots=True)
class Target:
    """A successor of a terminator: the block, and the arguments for its parameters."""

    block: Block
    args: list[Value]

    def __init__(self, block: Block, args: list[Value] | None = None):
        self.block = block
        self.args = [] if args is None else args


@record(eq=False, slots=True)
class Instr:
    """One instruction. `attrs` holds what is not a value (a name, a callee), `targets` a terminator's successors."""

    op: str
    operands: list[Value]
    results: list[Value]
    attrs: dict[str, Any]
    targets: list[Target]
    position: Position | None

    def __init__(
        self,
        op: str,
        operands: list[Value] | None = None,
        results: list[Value] | None = None,
        attrs: dict[str, Any] | None = None,
        targets: list[Target] | None = None,
        position: Position | None = None,
    ):
        self.op = op
        self.operands = [] if operands is None else operands
        self.results = [] if results is None else results
        self.attrs = {} if attrs is None else attrs
        self.targets = [] if targets is None else targets
        self.position = position

    @property
    def result(self) -> Value:
        (value,) = self.results
        return value


class Block:
    """A basic block: parameters, instructions, and last of them the terminator.

    `handler` is where an exception raised in this block goes (object code only).  The handler block's first parameter
    receives the exception; the rest are passed by `handler.args`.  `in_iterator`: it stands for code
    of a "generator", from which StopIteration comes as RuntimeError, or of an iterator of the "library", which it ends (object code only).
    """

    __slots__ = ("handler", "in_iterator", "instrs", "name", "params")

    def __init__(self, name: str, params: list[Value] | None = None):
        self.name = name
        self.params: list[Value] = params or []
        self.instrs: list[Instr] = []
        self.handler: Target | None = None
        self.in_iterator: str | None = None

    @property
    def terminator(self) -> Instr:
        return self.instrs[-1]

    @property
    def terminated(self) -> bool:
        return bool(self.instrs) and self.instrs[-1].op in TERMINATORS

    @property
    def body(self) -> list[Instr]:
        """The instructions before the terminator."""
        return self.instrs[:-1]

    def successors(self) -> list[Target]:
        """Targets of the terminator (without the handler)."""
        return self.instrs[-1].targets if self.instrs else []

    def __repr__(self) -> str:
        return f"<block {self.name}>"


TERMINATORS = frozenset({"jump", "branch", "switch", "return", "raise", "reraise", "unreachable"})
JUMPS = TERMINATORS - {"raise", "reraise"}  # those that do nothing else


class Function:
    """A function: its blocks (the first is the entry) and the types of its results.

    `attrs` carries what passes need to know and text keeps: "file", "line", "name" of the Python function.
    """

    def __init__(self, name: str, blocks: list[Block] | None = None, results: tuple[Type, ...] = ()):
        self.name = name
        self.blocks: list[Block] = blocks or []
        self.results = results
        self.attrs: dict[str, Any] = {}

    @property
    def entry(self) -> Block:
        return self.blocks[0]

    @property
    def params(self) -> list[Value]:
        return self.blocks[0].params

    def instructions(self) -> Iterator[tuple[Block, Instr]]:
        for block in self.blocks:
            for instr in block.instrs:
                yield block, instr

    def predecessors(self) -> dict[Block, list[tuple[Block, Target]]]:
        """For each block, the (block, target) pairs that lead to it; a block twice if two of its edges do."""
        result: dict[Block, list[tuple[Block, Target]]] = {b: [] for b in self.blocks}
        for block in self.blocks:
            for target in block.instrs[-1].targets if block.instrs else ():
                result[target.block].append((block, target))
            if block.handler is not None:
                result[block.handler.block].append((block, block.handler))
        return result

    def __repr__(self) -> str:
        return f"<zyg.ir.Function {self.name}, {len(self.blocks)} blocks>"

    def __str__(self) -> str:
        from .text import format_function

        return format_function(self)


CALLING = ("call", "apply")  # ops whose attrs['callee'] names a function of the module


def plain_name(text: str, also: str = "") -> str:
    """A text as the name of a function: letters, digits, underscores, and what may be there `also`."""
    return "".join(c if c.isalnum() or c == "_" or c in also else "_" for c in text).strip("_") or "lambda"


class Module:
    """Functions that call one another by name (`call @name`)."""

    def __init__(self, functions: list[Function] | None = None):
        self.functions: dict[str, Function] = {f.name: f for f in functions or []}

    def add(self, function: Function) -> Function:
        assert function.name not in self.functions, function.name
        self.functions[function.name] = function
        return function

    def unique_name(self, base: str) -> str:
        if base not in self.functions:
            return base
        number = 2
        while f"{base}.{number}" in self.functions:
            number += 1
        return f"{base}.{number}"

    def __str__(self) -> str:
        return "\n\n".join(str(f) for f in self.functions.values())


def callees(instr: Instr) -> list[str]:
    """The functions of the module that `instr` names: what it calls, and the functions of its rules."""
    return [instr.attrs["callee"], *rule_functions(instr)] if instr.op in CALLING else []


def map_uses(instr: Instr, replace: Callable[[Value], Value]) -> None:
    """Replace each value that `instr` uses, as operand or as block argument, by `replace(value)`."""
    instr.operands[:] = map(replace, instr.operands)
    for target in instr.targets:
        target.args[:] = map(replace, target.args)


def uses(instr: Instr) -> Iterator[Value]:
    """The values that `instr` uses, block arguments included."""
    yield from instr.operands
    for target in instr.targets:
        yield from target.args


def clone_blocks(blocks: list[Block], values: dict[Value, Value], rename: Callable[[str], str] = str) -> list[Block]:
    """Copy blocks. `values` maps old values to new ones and is extended with those defined inside."""
    copies = {b: Block(rename(b.name)) for b in blocks}
    for b in blocks:
        copies[b].in_iterator = b.in_iterator
        for p in b.params:
            values[p] = Value(p.type, p.name)
        copies[b].params = [values[p] for p in b.params]
        for i in b.instrs:
            for r in i.results:
                values[r] = Value(r.type, r.name)

    find, made = values.get, values.__getitem__

    def copy_target(t: Target) -> Target:
        return Target(copies.get(t.block, t.block), list(map(find, t.args, t.args)))

    for b in blocks:
        instrs = copies[b].instrs
        for i in b.instrs:
            operands, targets = i.operands, list(map(copy_target, i.targets)) if i.targets else []
            results = list(map(made, i.results))
            instrs.append(
                Instr(i.op, list(map(find, operands, operands)), results, i.attrs.copy(), targets, i.position)
            )
        if b.handler is not None:
            copies[b].handler = copy_target(b.handler)
    return list(copies.values())


def clone(function: Function, name: str | None = None) -> Function:
    """A deep copy (constants are shared), which may become another function: it is not on offer (frontend/readymade.py)."""
    copy = Function(name or function.name, clone_blocks(function.blocks, {}), function.results)
    copy.attrs = {k: v for k, v in function.attrs.items() if k != "offers"}
    return copy
