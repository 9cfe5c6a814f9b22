"""Python ops as instructions of the running CPython: the lowering table of the Python back end.

What differs between 3.11, 3.12 and 3.13 on the way out is here (and, for control flow, in `python`).  An op is a row of
a table, or a function `op_<name>(emitter, tree)` that puts its operands on the stack and then the instructions that
leave the results there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bytecode import Compare, Label
from bytecode.instr import BinaryOp, CellVar, FreeVar, Intrinsic1Op, Intrinsic2Op, TryBegin, TryEnd

from ..ir.core import Block, Const, Position, Value, uses
from ..ir.core import Instr as Operation
from ..ir.records import field, record
from ..ir.types import BOOL, OBJECT

if TYPE_CHECKING:
    from .python import Emitter

VERSION = sys.version_info[:2]
PY312 = VERSION >= (3, 12)
PY313 = VERSION >= (3, 13)


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


@record(eq=False, slots=True)
class Tree:
    """An operation with those operands that are computed on the stack just before it."""

    operation: Operation
    start: int  # the index of its first operation in the block
    order: list[int]  # operands in the order in which they are pushed
    inner: dict[int, Tree] = field(default_factory=dict)  # by operand
    kept: bool = False  # whether the result stays on the stack


_BINARY = {
    "add": "ADD", "and": "AND", "floordiv": "FLOOR_DIVIDE", "lshift": "LSHIFT", "matmul": "MATRIX_MULTIPLY",
    "mul": "MULTIPLY", "mod": "REMAINDER", "or": "OR", "pow": "POWER", "rshift": "RSHIFT", "sub": "SUBTRACT",
    "truediv": "TRUE_DIVIDE", "xor": "XOR",
}  # fmt: skip
BINARY_OPS: dict[str, BinaryOp] = {name: BinaryOp[op] for name, op in _BINARY.items()}
BINARY_OPS |= {f"i{name}" if name != "pow" else "ipow_": BinaryOp[f"INPLACE_{op}"] for name, op in _BINARY.items()}
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
ORDER = {"setitem": (2, 0, 1), "setattr": (1, 0), "dict_merge": (2, 0, 1)}
_FUNCTION_PARTS = {"defaults": 1, "kwdefaults": 2, "annotations": 4, "closure": 8}
_CONVERSIONS = {"": 0, "s": 1, "r": 2, "a": 3}
# Builtins that look into the caller's frame if they are called with so many arguments.
_FRAME_READERS = {"locals": 0, "vars": 0, "dir": 0, "eval": 1, "exec": 1}


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


def lower(e: Emitter, tree: Tree) -> None:
    """The code of an operation; its results are stored unless the one result is wanted on the stack."""
    instr = tree.operation
    function = OPERATIONS.get(instr.op)
    if function is not None:
        function(e, tree)
    else:
        e.push_all(tree)
        e.set_position(instr.position)
        _lower_row(e, instr)
    if not tree.kept and instr.op not in STORE_THEMSELVES:
        for result in reversed(instr.results) if instr.op not in _TOP_FIRST else instr.results:
            e.store(result)


def _lower_row(e: Emitter, instr: Operation) -> None:
    """An op that is a row of a table."""
    op, attrs = instr.op, instr.attrs
    if op in BINARY_OPS:
        e.out("BINARY_OP", BINARY_OPS[op])
    elif op in _COMPARISONS:
        e.out("COMPARE_OP", _COMPARISONS[op])
    elif op in _PLAIN:
        name, counted = _PLAIN[op]
        e.out(name, *([len(instr.operands)] if counted else []))
    elif op in _NAMED:
        e.out(_NAMED[op], attrs["name"])
    elif op in _LEAVES_BELOW:
        name, below = _LEAVES_BELOW[op]
        e.out(name)
        e.drop_below(below)
    elif op in _CONTAINER:
        e.out(_CONTAINER[op], 1)
        e.out("POP_TOP")
    else:
        raise NotImplementedError(f"the Python back end does not know the op {op}")


def op_is(e: Emitter, tree: Tree) -> None:
    e.push_all(tree)
    e.set_position(tree.operation.position)
    e.out("IS_OP", int(tree.operation.op == "is_not"))


op_is_not = op_is


def op_contains(e: Emitter, tree: Tree) -> None:
    e.push_all(tree)
    e.set_position(tree.operation.position)
    e.out("CONTAINS_OP", 0)


def op_not(e: Emitter, tree: Tree) -> None:
    e.push_all(tree)
    e.set_position(tree.operation.position)
    operand = tree.operation.operands[0]
    if PY313 and operand.type is not BOOL:
        e.to_bool()
    e.out("UNARY_NOT")


def op_truth(e: Emitter, tree: Tree) -> None:
    e.push_all(tree)
    e.set_position(tree.operation.position)
    if PY313:
        e.to_bool()
    else:
        e.out("UNARY_NOT")
        e.out("UNARY_NOT")


def op_pos(e: Emitter, tree: Tree) -> None:
    e.push_all(tree)
    e.set_position(tree.operation.position)
    intrinsic_1(e, "UNARY_POSITIVE", 5)


def op_list_to_tuple(e: Emitter, tree: Tree) -> None:
    e.push_all(tree)
    intrinsic_1(e, "LIST_TO_TUPLE", 6)


def intrinsic_1(e: Emitter, name: str, number: int) -> None:
    """An instruction of its own in 3.11."""
    if PY312:
        e.out("CALL_INTRINSIC_1", Intrinsic1Op(number))
    else:
        e.out(name)


def op_import_star(e: Emitter, tree: Tree) -> None:
    e.push_all(tree)
    intrinsic_1(e, "IMPORT_STAR", 2)
    if PY312:
        e.out("POP_TOP")


def op_intrinsic(e: Emitter, tree: Tree) -> None:
    e.push_all(tree)
    name = tree.operation.attrs["name"]
    if not PY312:
        e.out({"print": "PRINT_EXPR", "async_gen_wrap": "ASYNC_GEN_WRAP"}[name])
        if name == "print":
            e.out("LOAD_CONST", None)
    elif name in _INTRINSICS_1:
        e.out("CALL_INTRINSIC_1", _intrinsic(_INTRINSICS_1.index(name), 1))
    else:
        e.out("CALL_INTRINSIC_2", _intrinsic(_INTRINSICS_2.index(name), 2))


def op_prepare_reraise(e: Emitter, tree: Tree) -> None:
    e.push_all(tree)
    if PY312:
        e.out("CALL_INTRINSIC_2", Intrinsic2Op(1))
    else:
        e.out("PREP_RERAISE_STAR")


def op_global(e: Emitter, tree: Tree) -> None:
    e.set_position(tree.operation.position)
    e.out("LOAD_GLOBAL", (False, tree.operation.attrs["name"]))


def op_getattr(e: Emitter, tree: Tree) -> None:
    e.push(tree, 0)
    e.set_position(tree.operation.position)
    name = tree.operation.attrs["name"]
    e.out("LOAD_ATTR", (False, name) if PY312 else name)


def op_import_from(e: Emitter, tree: Tree) -> None:
    e.push(tree, 0)
    e.out("IMPORT_FROM", tree.operation.attrs["name"])
    e.drop_below(1)


# Cells.


def op_unbound(e: Emitter, tree: Tree) -> None:
    """Uses load the marker; the result has no slot."""


op_free_cell = op_unbound


def op_new_cell(e: Emitter, tree: Tree) -> None:
    """The cell is there from the start; what is left is to make it anew in code that runs again, and to fill it."""
    cell = e.cells[tree.operation.results[0]]
    operands = tree.operation.operands
    in_entry = any(i is tree.operation for i in e.function.entry.instrs)
    if not in_entry:
        e.out("MAKE_CELL", cell)  # a cell that holds the old cell
        e.out("DELETE_DEREF", cell)
    if operands and not (in_entry and operands[0].name == cell.name):
        e.push(tree, 0)
        e.out("STORE_DEREF", cell)


def _cell(e: Emitter, tree: Tree, k: int = 0) -> CellVar | FreeVar:
    value = tree.operation.operands[k]
    if value not in e.cells:
        raise NotImplementedError("the Python back end does not know a cell that was passed on as a value")
    return e.cells[value]


def op_get_cell(e: Emitter, tree: Tree) -> None:
    e.set_position(tree.operation.position)
    e.out("LOAD_DEREF", _cell(e, tree))


def op_set_cell(e: Emitter, tree: Tree) -> None:
    e.push(tree, 1)
    e.out("STORE_DEREF", _cell(e, tree))


def op_del_cell(e: Emitter, tree: Tree) -> None:
    e.set_position(tree.operation.position)
    e.out("DELETE_DEREF", _cell(e, tree))


def op_class_deref(e: Emitter, tree: Tree) -> None:
    e.set_position(tree.operation.position)
    if PY312:
        e.push(tree, 0)
        e.out("LOAD_FROM_DICT_OR_DEREF", _cell(e, tree, 1))
    else:  # it looks into the namespace by itself
        e.out("LOAD_CLASSDEREF", _cell(e, tree, 1))


def op_locals(e: Emitter, tree: Tree) -> None:
    if PY312:
        e.out("LOAD_LOCALS")
    else:
        e.out("LOAD_CONST", None)  # for class_deref, which does not want it


def op_checked_local(e: Emitter, tree: Tree) -> None:
    e.set_position(tree.operation.position)
    value, result = tree.operation.operands[0], tree.operation.results[0]
    slot = e.slots.name_of.get(value)
    if not isinstance(value, Const):
        _check_bound(e, slot, tree.operation.attrs["name"])
    if tree.kept or e.slots.name_of[result] != slot:
        e.load(value)
    if not tree.kept and e.slots.name_of[result] != slot:
        e.store(result)


def _check_bound(e: Emitter, slot: str | None, name: str) -> None:
    bound = Label()
    depth = e.depth
    if slot is not None:
        e.out("LOAD_FAST", slot)
        e.out("LOAD_CONST", UNBOUND)
        e.out("IS_OP", 0)
        e.jump_if("FALSE", bound)
    if not PY313:
        e.out("PUSH_NULL")
    e.out("LOAD_CONST", UnboundLocalError)
    if PY313:
        e.out("PUSH_NULL")
    e.out("LOAD_CONST", f"cannot access local variable '{name}' where it is not associated with a value")
    call(e, 1, ())
    e.out("RAISE_VARARGS", 1)
    e.label(bound, depth)


# Calls.


def call(e: Emitter, count: int, keywords: tuple[str, ...]) -> None:
    if not PY313:
        if keywords:
            e.out("KW_NAMES", keywords)
        if not PY312:
            e.out("PRECALL", count)
        e.out("CALL", count)
    elif keywords:
        e.out("LOAD_CONST", keywords)
        e.out("CALL_KW", count)
    else:
        e.out("CALL", count)


def op_call_object(e: Emitter, tree: Tree) -> None:
    instr = tree.operation
    _refuse_frame_access(e, instr)
    if "unless_in" in instr.attrs and not tree.inner:
        _call_unless_absent(e, instr)
        return
    callee = tree.inner.get(0)
    if callee is not None and callee.operation.op == "getattr":
        e.push(callee, 0)
        e.set_position(callee.operation.position)
        name = callee.operation.attrs["name"]
        e.out(*(("LOAD_ATTR", (True, name)) if PY312 else ("LOAD_METHOD", name)))
    elif callee is not None and callee.operation.op == "global":
        e.set_position(callee.operation.position)
        e.out("LOAD_GLOBAL", (True, callee.operation.attrs["name"]))
    else:
        if not PY313:
            e.out("PUSH_NULL")
        e.push(tree, 0)
        if PY313:
            e.out("PUSH_NULL")
    for k in tree.order[1:]:
        e.push(tree, k)
    e.set_position(instr.position)
    call(e, len(instr.operands) - 1, instr.attrs["keywords"])


def _call_unless_absent(e: Emitter, instr: Operation) -> None:
    """A call with two arguments that gives None, most likely: where a table that is an attribute of the first one has nothing by the
    identity of the second one."""
    callee, table, x = instr.operands
    absent, end = Label(), Label()
    depth = e.depth
    e.set_position(instr.position)

    def call_with(function: Value, *arguments: Value) -> None:
        if not PY313:
            e.out("PUSH_NULL")
        e.load(function)
        if PY313:
            e.out("PUSH_NULL")
        for v in arguments:
            e.load(v)
        call(e, len(arguments), ())

    call_with(Const(id, OBJECT), x)
    e.load(table)
    name = instr.attrs["unless_in"]
    e.out("LOAD_ATTR", (False, name) if PY312 else name)
    e.out("CONTAINS_OP", 0)
    e.jump_if("FALSE", absent)
    call_with(callee, table, x)
    with e.aside():
        e.label(absent, depth)
        e.out("LOAD_CONST", None)
        e.out("JUMP_FORWARD", end)
    e.label(end, depth + 1)


def _refuse_frame_access(e: Emitter, instr: Operation) -> None:
    """Variables are SSA values here: nobody can look them up by name, as locals() and eval(text) do."""
    maker = e.makers.get(instr.operands[0])
    if maker is None or maker.op != "global" or e.template is None or not e.template.co_flags & 0x1:
        return
    name = maker.attrs["name"]
    if _FRAME_READERS.get(name) == len(instr.operands) - 1:
        raise CannotEmit(f"{name}() of the variables of {e.signature.qualname}", instr.position)


def op_call_spread(e: Emitter, tree: Tree) -> None:
    if not PY313:
        e.out("PUSH_NULL")
    e.push(tree, 0)
    if PY313:
        e.out("PUSH_NULL")
    for k in tree.order[1:]:
        e.push(tree, k)
    e.set_position(tree.operation.position)
    e.out("CALL_FUNCTION_EX", len(tree.operation.operands) - 2)


def op_make_function(e: Emitter, tree: Tree) -> None:
    instr = tree.operation
    e.push_all(tree)
    e.set_position(instr.position)
    e.out("LOAD_CONST", e.nested(instr.attrs["code"]))
    flags = [_FUNCTION_PARTS[part] for part in instr.attrs["has"]]
    if PY313:
        e.out("MAKE_FUNCTION")
        for flag in reversed(flags):
            e.out("SET_FUNCTION_ATTRIBUTE", flag)
    else:
        e.out("MAKE_FUNCTION", sum(flags))


# Containers and strings.


def op_dict(e: Emitter, tree: Tree) -> None:
    e.push_all(tree)
    e.out("BUILD_MAP", len(tree.operation.operands) // 2)


def op_frozen_key_dict(e: Emitter, tree: Tree) -> None:
    e.push_all(tree)
    e.out("LOAD_CONST", tree.operation.attrs["keys"])
    e.out("BUILD_CONST_KEY_MAP", len(tree.operation.operands))


def op_dict_merge(e: Emitter, tree: Tree) -> None:
    """The callable lies where the interpreter looks for it to name it in the message."""
    e.push(tree, 2)
    if PY313:
        e.out("LOAD_CONST", None)  # in the place of NULL
    e.out("LOAD_CONST", None)  # in the place of the positional arguments
    e.push(tree, 0)
    e.push(tree, 1)
    e.set_position(tree.operation.position)
    e.out("DICT_MERGE", 1)
    for _ in range(4 if PY313 else 3):
        e.out("POP_TOP")


def op_unpack(e: Emitter, tree: Tree) -> None:
    e.push(tree, 0)
    e.set_position(tree.operation.position)
    e.out("UNPACK_SEQUENCE", tree.operation.attrs["count"])


def op_unpack_rest(e: Emitter, tree: Tree) -> None:
    e.push(tree, 0)
    e.set_position(tree.operation.position)
    e.out("UNPACK_EX", tree.operation.attrs["before"] | tree.operation.attrs["after"] << 8)


def op_format(e: Emitter, tree: Tree) -> None:
    instr = tree.operation
    spec = (lambda: e.push(tree, 1)) if len(instr.operands) > 1 else None
    e.push(tree, 0)
    format_value(e, instr.attrs["conversion"], spec)


def format_value(e: Emitter, how: str, spec: Callable[[], None] | None) -> None:
    """Format what is on the stack, by a specification that `spec` puts there."""
    conversion = _CONVERSIONS[how]
    if PY313 and conversion:
        e.out("CONVERT_VALUE", conversion)
    if spec is not None:
        spec()
    if PY313:
        e.out("FORMAT_SIMPLE" if spec is None else "FORMAT_WITH_SPEC")
    else:
        e.out("FORMAT_VALUE", conversion | 4 * (spec is not None))


def op_convert(e: Emitter, tree: Tree) -> None:
    e.push(tree, 0)
    convert_value(e, tree.operation.attrs["conversion"])


def convert_value(e: Emitter, how: str) -> None:
    e.out("CONVERT_VALUE" if PY313 else "FORMAT_VALUE", _CONVERSIONS[how])


def op_match_class(e: Emitter, tree: Tree) -> None:
    e.push_all(tree)
    e.set_position(tree.operation.position)
    e.out("MATCH_CLASS", tree.operation.attrs["count"])


# Iteration outside the head of a loop.


def op_next(e: Emitter, tree: Tree) -> None:
    finished, end = Label(), Label()
    e.push(tree, 0)
    e.set_position(tree.operation.position)
    before = e.depth - 1
    e.out("FOR_ITER", finished)
    e.out("SWAP", 2)
    e.out("POP_TOP")
    e.out("LOAD_CONST", True)
    e.out("SWAP", 2)
    e.out("JUMP_FORWARD", end)
    e.label(finished, before)
    e.end_for()
    e.out("LOAD_CONST", False)
    e.out("LOAD_CONST", None)
    e.label(end, before + 2)


# Exceptions.


def op_push_exception(e: Emitter, tree: Tree) -> None:
    e.push(tree, 0)
    e.out("PUSH_EXC_INFO")
    e.out("POP_TOP")


def op_with_exit(e: Emitter, tree: Tree) -> None:
    """The interpreter finds the exit method below the place of the exception and the exception before it."""
    e.push(tree, 0)
    e.out("LOAD_CONST", None)
    e.out("LOAD_CONST", None)
    e.push(tree, 1)
    e.set_position(tree.operation.position)
    e.out("WITH_EXCEPT_START")
    e.drop_below(4)


def op_forget(e: Emitter, tree: Tree) -> None:
    """Empty the variable's slot, unless the object has other uses to come."""
    value = tree.operation.operands[0]
    slot = e.slots.name_of.get(value)
    if value in e.remaining:
        e.remaining[value] -= 1
    if slot is not None and not _needed_later(e, e.block, tree.operation, value):
        e.out("DELETE_FAST", slot)


def _needed_later(e: Emitter, block: Block, operation: Operation, value: Value) -> bool:
    bit = e.slots.live.bit[value]
    if (e.slots.live.out_mask.get(block, 0) | e.slots.throughout(block)) >> bit & 1:
        return True
    after = block.instrs[block.instrs.index(operation) + 1 :]
    return any(v is value for instr in after for v in uses(instr))


# Generators.


def op_yield(e: Emitter, tree: Tree) -> None:
    e.push(tree, 0)
    e.set_position(tree.operation.position)
    _yield(e, 1)


def _yield(e: Emitter, kind: int) -> None:
    """3.12 lets close() skip the generator's code where the argument is 1 (no handler), 3.13 by a flag of RESUME:
    not used here."""
    if PY313:
        e.out("YIELD_VALUE", int(kind > 1))
    elif PY312:
        e.out("YIELD_VALUE", 2)
    else:
        e.out("YIELD_VALUE")
    e.out("RESUME", kind)


def op_yield_from(e: Emitter, tree: Tree) -> None:
    e.push(tree, 0)
    e.set_position(tree.operation.position)
    e.out("GET_YIELD_FROM_ITER")
    e.out("LOAD_CONST", None)
    send, end, thrown = Label(), Label(), Label()
    depth = e.depth
    e.label(send, depth)
    e.out("SEND", end)
    outer = e.region_pad
    if PY312:  # throw() and close() of the generator end the inner one: that comes back as StopIteration
        e.end_region()
        inner = TryBegin(thrown, push_lasti=False, stack_depth=depth)
        e.code.append(inner)
        _yield(e, 2)
        e.code.append(TryEnd(inner))
        if outer is not None:
            e.begin_region(outer)
    else:
        _yield(e, 2)
    e.out("JUMP_BACKWARD_NO_INTERRUPT", send)
    if PY312:
        e.label(thrown, depth + 1)
        e.out("CLEANUP_THROW")
        e.label(end, depth)
        e.out("END_SEND")
    else:
        e.label(end, depth - 1)


def is_none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


# Ops of several results whose first one is on top of the stack; others push the last one last.
_TOP_FIRST = frozenset({"unpack", "unpack_rest"})

# Ops whose function takes care of the result.
STORE_THEMSELVES = {"unbound", "free_cell", "new_cell", "checked_local"}

OPERATIONS: dict[str, Callable[[Emitter, Tree], None]] = {
    name[3:]: function for name, function in list(globals().items()) if name.startswith("op_")
}
