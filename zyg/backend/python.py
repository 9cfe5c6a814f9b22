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

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

from bytecode import Bytecode, CellVar, Compare, FreeVar, Instr, Label, TryBegin, TryEnd
from bytecode.instr import BinaryOp, InstrLocation, Intrinsic1Op, Intrinsic2Op

from ..ir.analysis import Liveness, use_counts
from ..ir.core import Block, Const, Function, Position, Target, Value, uses
from ..ir.core import Instr as Operation
from ..ir.types import BOOL

VERSION = sys.version_info[:2]
PY312 = VERSION >= (3, 12)
PY313 = VERSION >= (3, 13)

Nested = Callable[[CodeType], CodeType]


class CannotEmit(NotImplementedError):
    """The function does what only its own frame can do. `position` tells where."""

    def __init__(self, what: str, position: Position | None = None):
        super().__init__(what)
        self.position = position


class Unbound:
    """What a slot holds while the Python variable is not bound."""

    def __repr__(self) -> str:
        return "<unbound>"


UNBOUND = Unbound()


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


# ------------------------------------------------------------------------------------------------- tables

_BINARY = {
    "add": "ADD", "and": "AND", "floordiv": "FLOOR_DIVIDE", "lshift": "LSHIFT", "matmul": "MATRIX_MULTIPLY",
    "mul": "MULTIPLY", "mod": "REMAINDER", "or": "OR", "pow": "POWER", "rshift": "RSHIFT", "sub": "SUBTRACT",
    "truediv": "TRUE_DIVIDE", "xor": "XOR",
}  # fmt: skip
_BINARY_OPS: dict[str, BinaryOp] = {name: BinaryOp[op] for name, op in _BINARY.items()}
_BINARY_OPS |= {f"i{name}" if name != "pow" else "ipow_": BinaryOp[f"INPLACE_{op}"] for name, op in _BINARY.items()}
_COMPARISONS = {name: Compare[name.upper()] for name in ("lt", "le", "eq", "ne", "gt", "ge")}

# Ops that are one instruction: its name, and whether its argument is the number of operands.
_PLAIN: dict[str, tuple[str, bool]] = {
    "neg": ("UNARY_NEGATIVE", False),
    "invert": ("UNARY_INVERT", False),
    "getitem": ("BINARY_SUBSCR", False),
    "setitem": ("STORE_SUBSCR", False),
    "delitem": ("DELETE_SUBSCR", False),
    "make_slice": ("BUILD_SLICE", True),
    "tuple": ("BUILD_TUPLE", True),
    "list": ("BUILD_LIST", True),
    "set": ("BUILD_SET", True),
    "string": ("BUILD_STRING", True),
    "iter": ("GET_ITER", False),
    "build_class": ("LOAD_BUILD_CLASS", False),
    "assertion_error": ("LOAD_ASSERTION_ERROR", False),
    "setup_annotations": ("SETUP_ANNOTATIONS", False),
    "with_enter": ("BEFORE_WITH", False),
    "check_group": ("CHECK_EG_MATCH", False),
    "pop_exception": ("POP_EXCEPT", False),
}
# Ops that are one instruction about a name.
_NAMED = {
    "setattr": "STORE_ATTR", "delattr": "DELETE_ATTR", "set_global": "STORE_GLOBAL", "del_global": "DELETE_GLOBAL",
    "name": "LOAD_NAME", "set_name": "STORE_NAME", "del_name": "DELETE_NAME", "import_name": "IMPORT_NAME",
    "dict_or_global": "LOAD_FROM_DICT_OR_GLOBALS",
}  # fmt: skip
# Ops whose instruction leaves some operands below what it pushes: how many.
_LEAVES_BELOW = {
    "check_match": ("CHECK_EXC_MATCH", 1), "match_sequence": ("MATCH_SEQUENCE", 1),
    "match_mapping": ("MATCH_MAPPING", 1), "match_keys": ("MATCH_KEYS", 2), "len_": ("GET_LEN", 1),
}  # fmt: skip
# Ops that change a container, which stays on the stack.
_CONTAINER = {
    "list_append": "LIST_APPEND", "set_add": "SET_ADD", "dict_setitem": "MAP_ADD", "list_extend": "LIST_EXTEND",
    "set_update": "SET_UPDATE", "dict_update": "DICT_UPDATE",
}  # fmt: skip
# The order in which the instruction wants its operands.
_ORDER = {"setitem": (2, 0, 1), "setattr": (1, 0), "dict_merge": (2, 0, 1)}
_FUNCTION_PARTS = {"defaults": 1, "kwdefaults": 2, "annotations": 4, "closure": 8}
_CONVERSIONS = {"": 0, "s": 1, "r": 2, "a": 3}
# Their results are copies of what lives elsewhere, whatever their name.
_FETCHES = frozenset({"get_cell", "free_cell", "new_cell", "global", "name"})
# Builtins that look into the caller's frame if they are called with so many arguments.
_FRAME_READERS = {"locals": 0, "vars": 0, "dir": 0, "eval": 1, "exec": 1}
_NESTING = 150  # how deep an expression may get on the stack, so that recursion here stays shallow


def _intrinsic(number: int, count: int) -> Any:
    kind = Intrinsic1Op if count == 1 else Intrinsic2Op
    try:
        return kind(number)
    except ValueError:  # `bytecode` does not know 3.13's last one
        member = int.__new__(kind, number)
        member._name_, member._value_ = f"INTRINSIC_{number}", number
        return member


_INTRINSICS_1 = ("", "print", "import_star", "stopiteration_error", "async_gen_wrap", "unary_positive", "list_to_tuple",
                 "typevar", "paramspec", "typevartuple", "subscript_generic", "typealias")  # fmt: skip
_INTRINSICS_2 = ("", "prep_reraise_star", "typevar_with_bound", "typevar_with_constraints", "set_function_type_params",
                 "set_typeparam_default")  # fmt: skip


def variable_name(value: Value, maker: Operation | None) -> str:
    """The Python variable that a value is kept in; empty for scratch values."""
    return "" if maker is not None and maker.op in _FETCHES else value.name


def ends_in_next(block: Block, counts: Mapping[Value, int]) -> bool:
    """Whether the block ends in `more, item = next it; branch more`, where `item` counts only if there is more."""
    if len(block.instrs) < 2:
        return False
    step, end = block.instrs[-2:]
    if step.op != "next" or end.op != "branch" or end.operands[0] is not step.results[0]:
        return False
    more, item = step.results
    return item not in end.targets[1].args and counts[more] == 1


# -------------------------------------------------------------------------------------------------- slots


class Slots:
    """Gives each value that needs one a fast local, so that values which live at the same time have different ones.

    Classes of values that share a slot are built by joining block parameters with their arguments (Chaitin's
    aggressive coalescing); classes that are not live together share a slot if they belong to the same variable, or if
    both are scratch.  Sets of values are integers.
    """

    def __init__(
        self,
        function: Function,
        on_stack: set[Value],
        makers: dict[Value, Operation],
        counts: Mapping[Value, int],
        taken: set[str],
    ):
        self.function = function
        self.counts = counts
        self.live = Liveness(function)
        self.makers = makers
        self.taken = taken
        self.name_of: dict[Value, str] = {}
        # scratch slots, emptied when their value is dead
        self.scratch: set[str] = set()
        for block in function.blocks:
            for value in (*block.params, *(r for i in block.instrs for r in i.results)):
                if value not in self.live.bit:
                    self.live.bit[value] = len(self.live.values)
                    self.live.values.append(value)
        count = len(self.live.values)
        self.conflicts = [0] * count
        self.members = [1 << n for n in range(count)]
        self.parent = list(range(count))
        self.label = [variable_name(v, makers.get(v)) for v in self.live.values]
        for block in function.blocks:
            if block.handler is not None:
                self.label[self.live.bit[block.handler.block.params[0]]] = ""
        self._find_conflicts()
        self._coalesce()
        self._assign(on_stack)

    def mask(self, values: Any) -> int:
        bit = self.live.bit
        result = 0
        for v in values:
            if v in bit:
                result |= 1 << bit[v]
        return result

    def throughout(self, block: Block) -> int:
        """What the block's handler needs, which is live all through the block."""
        handler = block.handler
        if handler is None:
            return 0
        return self.mask(handler.args) | self.live.in_mask.get(handler.block, 0)

    def _find_conflicts(self) -> None:
        bit, conflicts = self.live.bit, self.conflicts
        for block in self.function.blocks:
            kept = self.throughout(block)
            live = self.live.out_mask.get(block, 0) | kept
            for target in block.successors():
                # An interrupt may come after the copies of an edge: the handler's values must still be there.
                for param, arg in zip(target.block.params, target.args):
                    conflicts[bit[param]] |= kept & ~self.mask((arg,))
            for instr in reversed(block.instrs):
                results = self.mask(instr.results)
                for r in instr.results:
                    conflicts[bit[r]] |= live | results
                if instr is block.instrs[-2:][0] and ends_in_next(block, self.counts):
                    # The item is stored on the way into the loop only: what the way out needs may sit in its slot.
                    body = block.successors()[0]
                    into = self.live.in_mask.get(body.block, 0) | self.mask(body.args) | kept
                    conflicts[bit[instr.results[1]]] = into | results
                live = live & ~results | kept
                for v in uses(instr):
                    if v in bit:
                        live |= 1 << bit[v]
            params = self.mask(block.params)
            for p in block.params:
                conflicts[bit[p]] |= live | params
        for number in range(len(conflicts)):
            conflicts[number] &= ~(1 << number)
            rest = conflicts[number]
            while rest:
                low = rest & -rest
                conflicts[low.bit_length() - 1] |= 1 << number
                rest ^= low

    def find(self, number: int) -> int:
        while self.parent[number] != number:
            self.parent[number] = self.parent[self.parent[number]]
            number = self.parent[number]
        return number

    def _join(self, a: int, b: int) -> None:
        a, b = self.find(a), self.find(b)
        if a == b or self.conflicts[a] & self.members[b]:
            return
        if self.label[a] and self.label[b] and self.label[a] != self.label[b]:
            return
        self.parent[b] = a
        self.members[a] |= self.members[b]
        self.conflicts[a] |= self.conflicts[b]
        self.label[a] = self.label[a] or self.label[b]

    def _coalesce(self) -> None:
        bit = self.live.bit
        pairs: list[tuple[int, int]] = []
        for block in self.function.blocks:
            for instr in block.instrs:
                if instr.op == "checked_local" and instr.operands[0] in bit:
                    pairs.append((bit[instr.operands[0]], bit[instr.results[0]]))
            targets = block.successors()
            for target in targets:
                pairs += [(bit[p], bit[a]) for p, a in zip(target.block.params, target.args) if a in bit]
            if block.handler is not None:
                pairs += [
                    (bit[p], bit[a]) for p, a in zip(block.handler.block.params[1:], block.handler.args) if a in bit
                ]
        pairs.sort(key=lambda pair: self.label[pair[0]] != self.label[pair[1]])
        for a, b in pairs:
            self._join(a, b)

    def _assign(self, on_stack: set[Value]) -> None:
        occupied: dict[str, int] = {}
        done: dict[int, str] = {}
        bit = self.live.bit
        params = self.function.params
        # Parameters first: their slots are given.
        for param in params:
            root = self.find(bit[param])
            done[root] = param.name
            occupied[param.name] = self.members[root]
        for value in self.live.values:
            if value in on_stack:
                continue
            root = self.find(bit[value])
            if root not in done:
                done[root] = self._free_slot(root, occupied)
            self.name_of[value] = done[root]
        for param in params:
            self.name_of[param] = param.name

    def _free_slot(self, root: int, occupied: dict[str, int]) -> str:
        label = self.label[root]
        for name in self._candidates(label):
            if name in self.taken or occupied.get(name, 0) & self.conflicts[root]:
                continue
            occupied[name] = occupied.get(name, 0) | self.members[root]
            if not label:
                self.scratch.add(name)
            return name
        raise AssertionError

    @staticmethod
    def _candidates(label: str) -> Iterator[str]:
        if label:
            yield label
        number = 0
        while True:
            number += 1
            yield f"{label}.{number}" if label else f".t{number}"


# ------------------------------------------------------------------------------------------------ emission


@dataclass(eq=False, slots=True)
class Tree:
    """An operation with those operands that are computed on the stack just before it."""

    operation: Operation
    start: int  # the index of its first operation in the block
    order: list[int]  # operands in the order in which they are pushed
    inner: dict[int, Tree] = field(default_factory=dict)  # by operand
    kept: bool = False  # whether the result stays on the stack


class Emitter:
    """The state of one emission."""

    def __init__(self, function: Function, template: CodeType | None, nested: Nested):
        self.function = function
        self.template = template
        self.nested = nested
        self.code = Bytecode()
        self.generator = bool(function.attrs.get("generator"))
        self.counts = use_counts(function)
        self.makers = {r: i for _, i in function.instructions() for r in i.results}
        self.cells: dict[Value, CellVar | FreeVar] = {}
        self.labels: dict[Block, Label] = {b: Label() for b in function.blocks}
        self.position: Position | None = None
        self.location: InstrLocation | None = None
        self.depth = 0
        self.deepest = 2
        self.remaining: dict[Value, int] = {}  # loads to come in this block, of scratch values that die in it
        self.stubs: list[tuple[Label, Target, Callable[[], None], Block]] = []
        self.pads: dict[tuple[Any, ...], Label] = {}
        self.pad_code: list[tuple[Label, Target]] = []
        self.placed: set[Block] = set()  # blocks whose code is out
        self.sources: dict[Block, list[Block]] = {}
        self.block = function.entry
        self.next_block: Block | None = None
        self.region: TryBegin | None = None
        self.region_pad: Label | None = None
        self.stop_iteration = Label()

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
        self._signature()
        self._prologue()
        self._find_sources()
        for block, following in zip(function.blocks, [*function.blocks[1:], None]):
            self.next_block = following
            self._block(block, trees[block])
        self._cold_code()
        return self.code.to_code(stacksize=self.deepest + 2, compute_exception_stack_depths=False)

    # --------------------------------------------------------------------------------- signature and cells

    def _find_cells(self) -> None:
        """Cells that the interpreter can keep: each new_cell is a variable of the code object."""
        template = self.template
        self.cell_names: list[str] = []
        free = list(template.co_freevars) if template is not None else []
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
                    name = next(n for n in Slots._candidates(name) if n not in self.cell_names and n not in arguments)
                self.cell_names.append(name)
                self.cells[instr.results[0]] = CellVar(name)
        self.free_names = free

    def _reserved_names(self) -> set[str]:
        names = {*self.cell_names, *self.free_names}
        if "__class__" in self.free_names and self.function.params:
            names.add(self.function.params[0].name)  # super() looks there
        return names

    def _signature(self) -> None:
        code, template, function = self.code, self.template, self.function
        code.argnames = [p.name for p in function.params]
        code.cellvars = self.cell_names
        code.freevars = self.free_names
        if template is None:
            code.argcount = len(function.params)
            code.name = code.qualname = function.attrs.get("name", function.name)
            code.filename = function.attrs.get("file", "<zyg>")
            code.first_lineno = function.attrs.get("line", 1)
            code.flags = 0x3 | (0x20 if self.generator else 0)  # type: ignore[assignment]
            code.docstring = None  # type: ignore[assignment]
            return
        code.argcount = template.co_argcount
        code.posonlyargcount = template.co_posonlyargcount
        code.kwonlyargcount = template.co_kwonlyargcount
        code.name, code.qualname = template.co_name, template.co_qualname
        code.filename, code.first_lineno = template.co_filename, template.co_firstlineno
        code.flags = template.co_flags  # type: ignore[assignment]
        if template.co_flags & 0x1:
            first = template.co_consts[0] if template.co_consts else None
            code.docstring = first if isinstance(first, str) else None  # type: ignore[assignment]

    def _prologue(self) -> None:
        self.location = InstrLocation(self.code.first_lineno, None, None, None)
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
        index_of = {i.results[0]: n for n, i in enumerate(instrs) if len(i.results) == 1}
        passed_on = {a for t in block.successors() for a in t.args}
        if block.handler is not None:
            passed_on.update(block.handler.args)

        def build(index: int, depth: int) -> Tree:
            instr = instrs[index]
            order = list(_ORDER.get(instr.op, range(len(instr.operands))))
            tree = Tree(instr, index, order)
            for k in reversed(order):
                operand = instr.operands[k]
                at = index_of.get(operand, -1)
                if at != tree.start - 1 or at < 0 or depth >= _NESTING or operand in passed_on:
                    continue
                if self.counts[operand] != 1 or operand in self.cells or instrs[at].op in ("unbound", "new_cell"):
                    continue
                if variable_name(operand, instrs[at]):
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
        instr = Instr(name, *arg, location=self.location)
        self.code.append(instr)
        self.depth += instr.stack_effect(jump=False)
        self.deepest = max(self.deepest, self.depth)

    def label(self, label: Label, depth: int = 0) -> None:
        self.code.append(label)
        self.depth = depth
        self.deepest = max(self.deepest, depth)

    def jump_out(self, name: str, label: Label) -> None:
        """A conditional jump, always forward."""
        self.out(name, label)

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
        # In module and class scope LOAD_FAST_AND_CLEAR marks the slot as hidden, and locals() is not the namespace then.
        if PY312 and self.code.flags & 0x1:
            self.out("LOAD_FAST_AND_CLEAR", slot)
        else:
            self.out("LOAD_FAST", slot)
            self.out("DELETE_FAST", slot)

    def store(self, value: Value) -> None:
        if not self.counts[value] and not variable_name(value, self.makers.get(value)):
            self.out("POP_TOP")
        else:
            self.out("STORE_FAST", self.slots.name_of[value])

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
            self.location = InstrLocation(position.line, position.end_line, position.column, end)
        else:
            self.location = InstrLocation(position.line, None, None, None)

    # --------------------------------------------------------------------------------------------- blocks

    def _block(self, block: Block, forest: list[Tree]) -> None:
        pad = self._pad(block)
        # A label is a place where regions may change; two blocks with one pad are one region.
        if pad is not self.region_pad:
            self._end_region()
        self.label(self.labels[block])
        self.placed.add(block)
        self.block = block
        if pad is not None and self.region is None:
            self._begin_region(pad)
        self._forget_dead(block)
        self._count_loads(block)
        end = len(forest) - 1
        fused = ends_in_next(block, self.counts)
        for tree in forest[: end - fused]:
            self.tree(tree)
        self.set_position(forest[end].operation.position)
        if fused:
            self._loop_head(block, forest[end - 1], forest[end])
        else:
            self._terminator(block, forest[end])

    def _begin_region(self, pad: Label) -> None:
        self.region_pad = pad
        lasti = pad is self.stop_iteration
        self.region = TryBegin(pad, push_lasti=lasti, stack_depth=0)
        self.code.append(self.region)

    def _end_region(self) -> None:
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
        handler = block.handler
        if handler is None:
            return self.stop_iteration if self.generator and PY312 else None
        key = (handler.block, *(_identity(a) for a in handler.args))
        pad = self.pads.get(key)
        if pad is None:
            pad = self.pads[key] = Label()
            self.pad_code.append((pad, handler))
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
        for label, target, prepare, source in self.stubs:
            pad = self._pad(source)
            if pad is not self.region_pad:
                self._end_region()
            self.label(label, 0)
            if pad is not None and self.region is None:
                self._begin_region(pad)
            prepare()
            self._copies(target)
            self._jump_back(target.block)
        self._end_region()
        for label, target in self.pad_code:
            self.label(label, 1)
            moves = self._moves(target, skip=1)
            for arg, _ in moves:
                self.load(arg)
            for _, slot in reversed(moves):
                self.out("STORE_FAST", slot)
            self.store(target.block.params[0])
            self._jump_back(target.block)
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
            self.out("RETURN_VALUE")
        elif instr.op == "reraise":
            self.push(tree, 0)
            self.out("RERAISE", 0)
        elif instr.op == "raise":
            self.push_all(tree)
            self.out("RAISE_VARARGS", len(instr.operands))
        else:
            raise NotImplementedError(f"the Python back end does not know the terminator {instr.op}")

    def _branch(self, block: Block, tree: Tree) -> None:
        then, other = tree.operation.targets
        condition = tree.operation.operands[0]
        inner = tree.inner.get(0)
        if isinstance(condition, Const):
            self._go(then if condition.value else other)
            return
        test = "TRUE"
        if inner is not None and inner.operation.op == "truth":
            of = inner.inner.get(0)
            if of is not None and of.operation.op == "is" and _is_none(of.operation.operands[1]) and 0 in of.order:
                self.push(of, 0)
                test = "NONE"
            else:
                self.push(inner, 0)
                if PY313 and not (of is not None and of.operation.op in ("is", "is_not", "contains", "not")):
                    self.out("TO_BOOL")
        else:
            self.push(tree, 0)
        opposite = {"TRUE": "FALSE", "NONE": "NOT_NONE"}[test]
        # The jump that is taken is forward on 3.12: rather let the way back be the one that falls through.
        if self._is_next(other.block) or (other.block in self.placed and then.block not in self.placed):
            self._jump_if(test, self._forward_label(block, then))
            self._go(other)
        else:
            self._jump_if(opposite, self._forward_label(block, other))
            self._go(then)

    def _jump_if(self, test: str, label: Label) -> None:
        self.out(f"POP_JUMP_IF_{test}" if PY312 else f"POP_JUMP_FORWARD_IF_{test}", label)

    def _switch(self, block: Block, tree: Tree) -> None:
        """A number: compared with 0, 1, ..."""
        *cases, default = tree.operation.targets
        self.push(tree, 0)
        for number, target in enumerate(cases):
            self.out("COPY", 1)
            self.out("LOAD_CONST", number)
            self.out("COMPARE_OP", Compare.EQ)
            if PY313:
                self.out("TO_BOOL")
            label = Label()
            # The number is still on the stack there.
            self.stubs.append((label, target, self._drop_one, block))
            self._jump_if("TRUE", label)
        self.out("POP_TOP")
        self._go(default)

    def _drop_one(self) -> None:
        self.depth += 1
        self.out("POP_TOP")

    def _loop_head(self, block: Block, step: Tree, end: Tree) -> None:
        body, done = end.operation.targets
        self.set_position(step.operation.position)
        self.push(step, 0)
        finished = Label()
        self.out("FOR_ITER", finished)
        self.store(step.operation.results[1])
        self.out("POP_TOP")
        self.stubs.append((finished, done, self._end_for, block))
        self._go(body)

    def _end_for(self) -> None:
        """What an exhausted FOR_ITER wants to find; the interpreter steps over it with the iterator popped."""
        if PY313:
            self.code.append(Instr("END_FOR", location=self.location))
            self.code.append(Instr("POP_TOP", location=self.location))
        elif PY312:
            self.code.append(Instr("END_FOR", location=self.location))

    # ------------------------------------------------------------------------------------------ operations

    def push(self, tree: Tree, k: int) -> None:
        inner = tree.inner.get(k)
        if inner is not None:
            self.tree(inner)
        else:
            self.load(tree.operation.operands[k])

    def push_all(self, tree: Tree) -> None:
        for k in tree.order:
            self.push(tree, k)

    def tree(self, tree: Tree) -> None:
        """The code of an operation; its results are stored unless the one result is wanted on the stack."""
        instr = tree.operation
        method = _OPERATIONS.get(instr.op)
        if method is not None:
            method(self, tree)
        else:
            self.push_all(tree)
            self.set_position(instr.position)
            self._simple(instr)
        if not tree.kept and instr.op not in _STORE_THEMSELVES:
            for result in reversed(instr.results) if instr.op not in _TOP_FIRST else instr.results:
                self.store(result)

    def _simple(self, instr: Operation) -> None:
        op, attrs = instr.op, instr.attrs
        if op in _BINARY_OPS:
            self.out("BINARY_OP", _BINARY_OPS[op])
        elif op in _COMPARISONS:
            self.out("COMPARE_OP", _COMPARISONS[op])
        elif op in _PLAIN:
            name, counted = _PLAIN[op]
            self.out(name, *([len(instr.operands)] if counted else []))
        elif op in _NAMED:
            self.out(_NAMED[op], attrs["name"])
        elif op in _LEAVES_BELOW:
            name, below = _LEAVES_BELOW[op]
            self.out(name)
            self.drop_below(below)
        elif op in _CONTAINER:
            self.out(_CONTAINER[op], 1)
            self.out("POP_TOP")
        else:
            raise NotImplementedError(f"the Python back end does not know the op {op}")

    def op_is(self, tree: Tree) -> None:
        self.push_all(tree)
        self.set_position(tree.operation.position)
        self.out("IS_OP", int(tree.operation.op == "is_not"))

    op_is_not = op_is

    def op_contains(self, tree: Tree) -> None:
        self.push_all(tree)
        self.set_position(tree.operation.position)
        self.out("CONTAINS_OP", 0)

    def op_not(self, tree: Tree) -> None:
        self.push_all(tree)
        self.set_position(tree.operation.position)
        operand = tree.operation.operands[0]
        if PY313 and operand.type is not BOOL:
            self.out("TO_BOOL")
        self.out("UNARY_NOT")

    def op_truth(self, tree: Tree) -> None:
        self.push_all(tree)
        self.set_position(tree.operation.position)
        if PY313:
            self.out("TO_BOOL")
        else:
            self.out("UNARY_NOT")
            self.out("UNARY_NOT")

    def op_pos(self, tree: Tree) -> None:
        self.push_all(tree)
        self.set_position(tree.operation.position)
        self._intrinsic_1("UNARY_POSITIVE", 5)

    def op_list_to_tuple(self, tree: Tree) -> None:
        self.push_all(tree)
        self._intrinsic_1("LIST_TO_TUPLE", 6)

    def _intrinsic_1(self, name: str, number: int) -> None:
        """An instruction of its own in 3.11."""
        if PY312:
            self.out("CALL_INTRINSIC_1", Intrinsic1Op(number))
        else:
            self.out(name)

    def op_import_star(self, tree: Tree) -> None:
        self.push_all(tree)
        self._intrinsic_1("IMPORT_STAR", 2)
        if PY312:
            self.out("POP_TOP")

    def op_intrinsic(self, tree: Tree) -> None:
        self.push_all(tree)
        name = tree.operation.attrs["name"]
        if not PY312:
            self.out({"print": "PRINT_EXPR", "async_gen_wrap": "ASYNC_GEN_WRAP"}[name])
            if name == "print":
                self.out("LOAD_CONST", None)
        elif name in _INTRINSICS_1:
            self.out("CALL_INTRINSIC_1", _intrinsic(_INTRINSICS_1.index(name), 1))
        else:
            self.out("CALL_INTRINSIC_2", _intrinsic(_INTRINSICS_2.index(name), 2))

    def op_prepare_reraise(self, tree: Tree) -> None:
        self.push_all(tree)
        if PY312:
            self.out("CALL_INTRINSIC_2", Intrinsic2Op(1))
        else:
            self.out("PREP_RERAISE_STAR")

    def op_global(self, tree: Tree) -> None:
        self.set_position(tree.operation.position)
        self.out("LOAD_GLOBAL", (False, tree.operation.attrs["name"]))

    def op_getattr(self, tree: Tree) -> None:
        self.push(tree, 0)
        self.set_position(tree.operation.position)
        name = tree.operation.attrs["name"]
        self.out("LOAD_ATTR", (False, name) if PY312 else name)

    def op_import_from(self, tree: Tree) -> None:
        self.push(tree, 0)
        self.out("IMPORT_FROM", tree.operation.attrs["name"])
        self.drop_below(1)

    # Cells.

    def op_unbound(self, tree: Tree) -> None:
        """Uses load the marker; the result has no slot."""

    op_free_cell = op_unbound

    def op_new_cell(self, tree: Tree) -> None:
        """The cell is there from the start; what is left is to make it anew in code that runs again, and to fill it."""
        cell = self.cells[tree.operation.results[0]]
        operands = tree.operation.operands
        in_entry = any(i is tree.operation for i in self.function.entry.instrs)
        if not in_entry:
            self.out("MAKE_CELL", cell)  # a cell that holds the old cell
            self.out("DELETE_DEREF", cell)
        if operands and not (in_entry and operands[0].name == cell.name):
            self.push(tree, 0)
            self.out("STORE_DEREF", cell)

    def _cell(self, tree: Tree, k: int = 0) -> CellVar | FreeVar:
        value = tree.operation.operands[k]
        if value not in self.cells:
            raise NotImplementedError("the Python back end does not know a cell that was passed on as a value")
        return self.cells[value]

    def op_get_cell(self, tree: Tree) -> None:
        self.set_position(tree.operation.position)
        self.out("LOAD_DEREF", self._cell(tree))

    def op_set_cell(self, tree: Tree) -> None:
        self.push(tree, 1)
        self.out("STORE_DEREF", self._cell(tree))

    def op_del_cell(self, tree: Tree) -> None:
        self.set_position(tree.operation.position)
        self.out("DELETE_DEREF", self._cell(tree))

    def op_class_deref(self, tree: Tree) -> None:
        self.set_position(tree.operation.position)
        if PY312:
            self.push(tree, 0)
            self.out("LOAD_FROM_DICT_OR_DEREF", self._cell(tree, 1))
        else:  # it looks into the namespace by itself
            self.out("LOAD_CLASSDEREF", self._cell(tree, 1))

    def op_locals(self, tree: Tree) -> None:
        if PY312:
            self.out("LOAD_LOCALS")
        else:
            self.out("LOAD_CONST", None)  # for class_deref, which does not want it

    def op_checked_local(self, tree: Tree) -> None:
        self.set_position(tree.operation.position)
        value, result = tree.operation.operands[0], tree.operation.results[0]
        slot = self.slots.name_of.get(value)
        if not isinstance(value, Const):
            self._check_bound(slot, tree.operation.attrs["name"])
        if tree.kept or self.slots.name_of[result] != slot:
            self.load(value)
        if not tree.kept and self.slots.name_of[result] != slot:
            self.store(result)

    def _check_bound(self, slot: str | None, name: str) -> None:
        bound = Label()
        depth = self.depth
        if slot is not None:
            self.out("LOAD_FAST", slot)
            self.out("LOAD_CONST", UNBOUND)
            self.out("IS_OP", 0)
            self._jump_if("FALSE", bound)
        if not PY313:
            self.out("PUSH_NULL")
        self.out("LOAD_CONST", UnboundLocalError)
        if PY313:
            self.out("PUSH_NULL")
        self.out("LOAD_CONST", f"cannot access local variable '{name}' where it is not associated with a value")
        self._call(1, ())
        self.out("RAISE_VARARGS", 1)
        self.label(bound, depth)

    # Calls.

    def _call(self, count: int, keywords: tuple[str, ...]) -> None:
        if not PY313:
            if keywords:
                self.out("KW_NAMES", keywords)
            if not PY312:
                self.out("PRECALL", count)
            self.out("CALL", count)
        elif keywords:
            self.out("LOAD_CONST", keywords)
            self.out("CALL_KW", count)
        else:
            self.out("CALL", count)

    def op_call_object(self, tree: Tree) -> None:
        instr = tree.operation
        self._refuse_frame_access(instr)
        callee = tree.inner.get(0)
        if callee is not None and callee.operation.op == "getattr":
            self.push(callee, 0)
            self.set_position(callee.operation.position)
            name = callee.operation.attrs["name"]
            self.out(*(("LOAD_ATTR", (True, name)) if PY312 else ("LOAD_METHOD", name)))
        elif callee is not None and callee.operation.op == "global":
            self.set_position(callee.operation.position)
            self.out("LOAD_GLOBAL", (True, callee.operation.attrs["name"]))
        else:
            if not PY313:
                self.out("PUSH_NULL")
            self.push(tree, 0)
            if PY313:
                self.out("PUSH_NULL")
        for k in tree.order[1:]:
            self.push(tree, k)
        self.set_position(instr.position)
        self._call(len(instr.operands) - 1, instr.attrs["keywords"])

    def _refuse_frame_access(self, instr: Operation) -> None:
        """Variables are SSA values here: nobody can look them up by name, as locals() and eval(text) do."""
        maker = self.makers.get(instr.operands[0])
        if maker is None or maker.op != "global" or self.template is None or not self.template.co_flags & 0x1:
            return
        name = maker.attrs["name"]
        if _FRAME_READERS.get(name) == len(instr.operands) - 1:
            raise CannotEmit(f"{name}() of the variables of {self.code.qualname}", instr.position)

    def op_call_spread(self, tree: Tree) -> None:
        if not PY313:
            self.out("PUSH_NULL")
        self.push(tree, 0)
        if PY313:
            self.out("PUSH_NULL")
        for k in tree.order[1:]:
            self.push(tree, k)
        self.set_position(tree.operation.position)
        self.out("CALL_FUNCTION_EX", len(tree.operation.operands) - 2)

    def op_make_function(self, tree: Tree) -> None:
        instr = tree.operation
        self.push_all(tree)
        self.set_position(instr.position)
        self.out("LOAD_CONST", self.nested(instr.attrs["code"]))
        flags = [_FUNCTION_PARTS[part] for part in instr.attrs["has"]]
        if PY313:
            self.out("MAKE_FUNCTION")
            for flag in reversed(flags):
                self.out("SET_FUNCTION_ATTRIBUTE", flag)
        else:
            self.out("MAKE_FUNCTION", sum(flags))

    # Containers and strings.

    def op_dict(self, tree: Tree) -> None:
        self.push_all(tree)
        self.out("BUILD_MAP", len(tree.operation.operands) // 2)

    def op_frozen_key_dict(self, tree: Tree) -> None:
        self.push_all(tree)
        self.out("LOAD_CONST", tree.operation.attrs["keys"])
        self.out("BUILD_CONST_KEY_MAP", len(tree.operation.operands))

    def op_dict_merge(self, tree: Tree) -> None:
        """The callable lies where the interpreter looks for it to name it in the message."""
        self.push(tree, 2)
        if PY313:
            self.out("LOAD_CONST", None)  # in the place of NULL
        self.out("LOAD_CONST", None)  # in the place of the positional arguments
        self.push(tree, 0)
        self.push(tree, 1)
        self.set_position(tree.operation.position)
        self.out("DICT_MERGE", 1)
        for _ in range(4 if PY313 else 3):
            self.out("POP_TOP")

    def op_unpack(self, tree: Tree) -> None:
        self.push(tree, 0)
        self.set_position(tree.operation.position)
        self.out("UNPACK_SEQUENCE", tree.operation.attrs["count"])

    def op_unpack_rest(self, tree: Tree) -> None:
        self.push(tree, 0)
        self.set_position(tree.operation.position)
        self.out("UNPACK_EX", tree.operation.attrs["before"] | tree.operation.attrs["after"] << 8)

    def op_format(self, tree: Tree) -> None:
        instr = tree.operation
        conversion = _CONVERSIONS[instr.attrs["conversion"]]
        has_spec = len(instr.operands) > 1
        self.push(tree, 0)
        if PY313 and conversion:
            self.out("CONVERT_VALUE", conversion)
        if has_spec:
            self.push(tree, 1)
        self.set_position(instr.position)
        if PY313:
            self.out("FORMAT_WITH_SPEC" if has_spec else "FORMAT_SIMPLE")
        else:
            self.out("FORMAT_VALUE", conversion | 4 * has_spec)

    def op_convert(self, tree: Tree) -> None:
        self.push(tree, 0)
        conversion = _CONVERSIONS[tree.operation.attrs["conversion"]]
        self.out("CONVERT_VALUE" if PY313 else "FORMAT_VALUE", conversion)

    def op_match_class(self, tree: Tree) -> None:
        self.push_all(tree)
        self.set_position(tree.operation.position)
        self.out("MATCH_CLASS", tree.operation.attrs["count"])

    # Iteration outside the head of a loop.

    def op_next(self, tree: Tree) -> None:
        finished, end = Label(), Label()
        self.push(tree, 0)
        self.set_position(tree.operation.position)
        before = self.depth - 1
        self.out("FOR_ITER", finished)
        self.out("SWAP", 2)
        self.out("POP_TOP")
        self.out("LOAD_CONST", True)
        self.out("SWAP", 2)
        self.out("JUMP_FORWARD", end)
        self.label(finished, before)
        self._end_for()
        self.out("LOAD_CONST", False)
        self.out("LOAD_CONST", None)
        self.label(end, before + 2)

    # Exceptions.

    def op_push_exception(self, tree: Tree) -> None:
        self.push(tree, 0)
        self.out("PUSH_EXC_INFO")
        self.out("POP_TOP")

    def op_with_exit(self, tree: Tree) -> None:
        """The interpreter finds the exit method below the place of the exception and the exception before it."""
        self.push(tree, 0)
        self.out("LOAD_CONST", None)
        self.out("LOAD_CONST", None)
        self.push(tree, 1)
        self.set_position(tree.operation.position)
        self.out("WITH_EXCEPT_START")
        self.drop_below(4)

    def op_forget(self, tree: Tree) -> None:
        """Empty the variable's slot, unless the object has other uses to come."""
        value = tree.operation.operands[0]
        slot = self.slots.name_of.get(value)
        if value in self.remaining:
            self.remaining[value] -= 1
        if slot is not None and not self._needed_later(self.block, tree.operation, value):
            self.out("DELETE_FAST", slot)

    def _needed_later(self, block: Block, operation: Operation, value: Value) -> bool:
        bit = self.slots.live.bit[value]
        if (self.slots.live.out_mask.get(block, 0) | self.slots.throughout(block)) >> bit & 1:
            return True
        after = block.instrs[block.instrs.index(operation) + 1 :]
        return any(v is value for instr in after for v in uses(instr))

    # Generators.

    def op_yield(self, tree: Tree) -> None:
        self.push(tree, 0)
        self.set_position(tree.operation.position)
        self._yield(1)

    def _yield(self, kind: int) -> None:
        """3.12 lets close() skip the generator's code where the argument is 1 (no handler), 3.13 by a flag of RESUME:
        not used here."""
        if PY313:
            self.out("YIELD_VALUE", int(kind > 1))
        elif PY312:
            self.out("YIELD_VALUE", 2)
        else:
            self.out("YIELD_VALUE")
        self.out("RESUME", kind)

    def op_yield_from(self, tree: Tree) -> None:
        self.push(tree, 0)
        self.set_position(tree.operation.position)
        self.out("GET_YIELD_FROM_ITER")
        self.out("LOAD_CONST", None)
        send, end, thrown = Label(), Label(), Label()
        depth = self.depth
        self.label(send, depth)
        self.out("SEND", end)
        outer = self.region_pad
        if PY312:  # throw() and close() of the generator end the inner one: that comes back as StopIteration
            self._end_region()
            inner = TryBegin(thrown, push_lasti=False, stack_depth=depth)
            self.code.append(inner)
            self._yield(2)
            self.code.append(TryEnd(inner))
            if outer is not None:
                self._begin_region(outer)
        else:
            self._yield(2)
        self.out("JUMP_BACKWARD_NO_INTERRUPT", send)
        if PY312:
            self.label(thrown, depth + 1)
            self.out("CLEANUP_THROW")
            self.label(end, depth)
            self.out("END_SEND")
        else:
            self.label(end, depth - 1)


def _identity(value: Value) -> Any:
    return (type(value.value), id(value.value)) if isinstance(value, Const) else value


def _is_none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


# Ops of several results whose first one is on top of the stack; others push the last one last.
_TOP_FIRST = frozenset({"unpack", "unpack_rest"})

# Ops whose method takes care of the result.
_STORE_THEMSELVES = frozenset({"unbound", "free_cell", "new_cell", "checked_local"})

_OPERATIONS: dict[str, Callable[[Emitter, Tree], None]] = {
    name[3:]: method for name, method in vars(Emitter).items() if name.startswith("op_")
}
