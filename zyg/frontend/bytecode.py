"""Reading CPython bytecode: all differences between 3.11, 3.12 and 3.13 end in this file.

Input is a code object, output a `Body`: instructions of one vocabulary, whatever the interpreter, and the protected
regions of its exception table.  A new CPython should need nothing more than rows in the tables below.

The vocabulary is that of CPython, with these differences.

* Absolute: the argument of a jump is the index of the instruction that it goes to.
* Plain: names, constants and comparison operators stand in the argument; no EXTENDED_ARG, CACHE, NOP, RESUME, PRECALL,
  COPY_FREE_VARS, and none of the instructions that load or store two variables at once.
* `LOAD_FAST` finds its variable bound, `LOAD_FAST_CHECK` may not (3.11 knows only the latter kind).
* Calls are `CALL (count, keywords)`.  The callable sits in one of the two places below the arguments and the other
  holds NULL or the first argument; both orders occur.
* Methods are attributes: `LOAD_ATTR name`, and a NULL beneath for calls (`LOAD_METHOD name`).
* `FOR_ITER` that is exhausted goes to the code after the loop, its iterator popped.
* `POP_JUMP_IF_*` and `UNARY_NOT` take any object (3.13 converts to bool first).
* `MAKE_FUNCTION flags` finds what the flags say below the code object; `FORMAT_VALUE (conversion, has_spec)`.
* `YIELD_FROM` is one instruction.
"""

from __future__ import annotations

import opcode
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple

VERSION = sys.version_info[:2]


class Instruction:
    """One instruction. `unit` is its place in the bytecode, which its source position hangs on."""

    __slots__ = ("arg", "op", "unit")

    def __init__(self, op: str, arg: Any, unit: int):
        self.op = op
        self.arg = arg
        self.unit = unit

    def __repr__(self) -> str:
        return f"{self.op} {self.arg!r}"


class Region(NamedTuple):
    """Instructions `start` to `end` (exclusive) are protected: an exception cuts the operand stack to `depth`, pushes a
    marker of the place if `lasti`, then the exception, and goes on at `handler`."""

    start: int
    end: int
    handler: int
    depth: int
    lasti: bool


class Body(NamedTuple):
    """A code object as instructions. `variables` names its local slots: plain locals, cells and free variables."""

    code: CodeType
    instructions: list[Instruction]
    regions: list[Region]
    variables: list[str]


# ------------------------------------------------------------------------------------------------- tables


def _words(text: str) -> list[str]:
    return text.split()


_BINARY = _words("add and floordiv lshift matmul mul mod or pow rshift sub truediv xor")
BINARY_OPERATORS = [*_BINARY, *(f"i{name}" if name != "pow" else "ipow_" for name in _BINARY)]
COMPARISONS = _words("lt le eq ne gt ge")
CONVERSIONS = ("", "s", "r", "a")
INTRINSICS_1 = (
    "", "print", "import_star", "stopiteration_error", "async_gen_wrap", "unary_positive", "list_to_tuple", "typevar",
    "paramspec", "typevartuple", "subscript_generic", "typealias",
)  # fmt: skip
INTRINSICS_2 = (
    "", "prep_reraise_star", "typevar_with_bound", "typevar_with_constraints", "set_function_type_params",
    "set_typeparam_default",
)  # fmt: skip

# How an argument is read: as it is, from a table of the code object, or by a function of (argument, code object) that
# gives a list of (op, argument).
_RAW, _CONST, _NAME, _FORWARD, _BACKWARD, _DROP, _EXPAND, _FUSE = range(8)
Expansion = Callable[[int, CodeType], "list[tuple[str, Any]]"]


def _intrinsic_1(arg: int, code: CodeType) -> list[tuple[str, Any]]:
    name = INTRINSICS_1[arg]
    if name == "import_star":
        return [("IMPORT_STAR", 0), ("LOAD_CONST", None)]
    special = {"unary_positive": "UNARY_POSITIVE", "list_to_tuple": "LIST_TO_TUPLE"}
    return [(special[name], 0)] if name in special else [("INTRINSIC", (name, 1))]


def _intrinsic_2(arg: int, code: CodeType) -> list[tuple[str, Any]]:
    name = INTRINSICS_2[arg]
    return [("PREP_RERAISE_STAR", 0)] if name == "prep_reraise_star" else [("INTRINSIC", (name, 2))]


def _pair(first: str, second: str) -> Expansion:
    return lambda arg, code: [(first, arg >> 4), (second, arg & 15)]


def _named(op: str) -> Expansion:
    return lambda arg, code: [(op, code.co_names[arg])]


def _global_with_null(arg: int, code: CodeType) -> list[tuple[str, Any]]:
    load = ("LOAD_GLOBAL", code.co_names[arg >> 1])
    return [("PUSH_NULL", 0), load] if arg & 1 else [load]


def _global_below_null(arg: int, code: CodeType) -> list[tuple[str, Any]]:
    load = ("LOAD_GLOBAL", code.co_names[arg >> 1])
    return [load, ("PUSH_NULL", 0)] if arg & 1 else [load]


def _attribute_with_method(arg: int, code: CodeType) -> list[tuple[str, Any]]:
    return [("LOAD_METHOD" if arg & 1 else "LOAD_ATTR", code.co_names[arg >> 1])]


def _super_attribute(arg: int, code: CodeType) -> list[tuple[str, Any]]:
    # Without flag 2 the source says super(), and class and self were pushed for speed only.
    return [("SUPER", bool(arg & 2)), ("LOAD_METHOD" if arg & 1 else "LOAD_ATTR", code.co_names[arg >> 2])]


def _one(op: str, value: Callable[[int], Any]) -> tuple[int, Any]:
    return _EXPAND, lambda arg, code: [(op, value(arg))]


_AS_IT_IS = _words(
    """
    POP_TOP PUSH_NULL UNARY_NEGATIVE UNARY_NOT UNARY_INVERT UNARY_POSITIVE BINARY_SUBSCR STORE_SUBSCR
    DELETE_SUBSCR BINARY_SLICE STORE_SLICE GET_LEN MATCH_MAPPING MATCH_SEQUENCE MATCH_KEYS MATCH_CLASS
    PUSH_EXC_INFO CHECK_EXC_MATCH CHECK_EG_MATCH WITH_EXCEPT_START BEFORE_WITH GET_ITER GET_YIELD_FROM_ITER
    LOAD_BUILD_CLASS LOAD_ASSERTION_ERROR LIST_TO_TUPLE RETURN_VALUE IMPORT_STAR SETUP_ANNOTATIONS YIELD_VALUE
    PREP_RERAISE_STAR POP_EXCEPT UNPACK_SEQUENCE UNPACK_EX SWAP COPY BUILD_TUPLE BUILD_LIST BUILD_SET
    BUILD_MAP BUILD_STRING BUILD_SLICE RERAISE RAISE_VARARGS LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_AND_CLEAR
    STORE_FAST DELETE_FAST MAKE_CELL LOAD_DEREF STORE_DEREF DELETE_DEREF CALL_FUNCTION_EX LIST_APPEND SET_ADD
    MAP_ADD LIST_EXTEND SET_UPDATE DICT_UPDATE BUILD_CONST_KEY_MAP MAKE_FUNCTION LOAD_LOCALS
    LOAD_FROM_DICT_OR_DEREF END_SEND CLEANUP_THROW GET_AITER GET_ANEXT GET_AWAITABLE BEFORE_ASYNC_WITH
    END_ASYNC_FOR
    """
)
_ABOUT_NAMES = _words(
    """
    STORE_NAME DELETE_NAME LOAD_NAME STORE_ATTR DELETE_ATTR LOAD_ATTR LOAD_METHOD STORE_GLOBAL DELETE_GLOBAL
    IMPORT_NAME IMPORT_FROM LOAD_FROM_DICT_OR_GLOBALS
    """
)
_JUMPING = _words(
    """
    JUMP_FORWARD FOR_ITER SEND POP_JUMP_IF_FALSE POP_JUMP_IF_TRUE POP_JUMP_IF_NONE POP_JUMP_IF_NOT_NONE
    JUMP_IF_FALSE_OR_POP JUMP_IF_TRUE_OR_POP
    """
)

# opname: how to read the argument, and the op (or, for _EXPAND, the function that makes the ops)
_TABLE: dict[str, tuple[int, Any]] = {
    **{name: (_RAW, name) for name in _AS_IT_IS},
    **{name: (_NAME, name) for name in _ABOUT_NAMES},
    **{name: (_DROP, name) for name in _words("CACHE NOP RESUME PRECALL COPY_FREE_VARS EXTENDED_ARG TO_BOOL END_FOR")},
    **{name: (_FORWARD, name) for name in _JUMPING},
    "JUMP_BACKWARD": (_BACKWARD, "JUMP_BACKWARD"),
    "JUMP_BACKWARD_NO_INTERRUPT": (_BACKWARD, "JUMP_FORWARD"),
    "LOAD_CONST": (_CONST, "LOAD_CONST"),
    "LOAD_GLOBAL": (_EXPAND, _global_with_null),
    "LOAD_CLOSURE": (_RAW, "LOAD_FAST"),
    "RETURN_CONST": (_EXPAND, lambda arg, code: [("LOAD_CONST", code.co_consts[arg]), ("RETURN_VALUE", 0)]),
    "RETURN_GENERATOR": (_RAW, "RETURN_GENERATOR"),
    "LOAD_CLASSDEREF": (_EXPAND, lambda arg, code: [("LOAD_LOCALS", 0), ("LOAD_FROM_DICT_OR_DEREF", arg)]),
    "LOAD_SUPER_ATTR": (_EXPAND, _super_attribute),
    "LOAD_FAST_LOAD_FAST": (_EXPAND, _pair("LOAD_FAST", "LOAD_FAST")),
    "STORE_FAST_LOAD_FAST": (_EXPAND, _pair("STORE_FAST", "LOAD_FAST")),
    "STORE_FAST_STORE_FAST": (_EXPAND, _pair("STORE_FAST", "STORE_FAST")),
    "BINARY_OP": _one("BINARY_OP", BINARY_OPERATORS.__getitem__),
    "IS_OP": _one("IS_OP", bool),
    # Where the dict is, and where the callable that messages name.
    "DICT_MERGE": _one("DICT_MERGE", lambda arg: (arg, arg + 2)),
    "CONTAINS_OP": _one("CONTAINS_OP", bool),
    "FORMAT_VALUE": _one("FORMAT_VALUE", lambda arg: (CONVERSIONS[arg & 3], bool(arg & 4))),
    "CONVERT_VALUE": _one("CONVERT_VALUE", CONVERSIONS.__getitem__),
    "FORMAT_WITH_SPEC": _one("FORMAT_VALUE", lambda arg: ("", True)),
    "CALL_INTRINSIC_1": (_EXPAND, _intrinsic_1),
    "CALL_INTRINSIC_2": (_EXPAND, _intrinsic_2),
    "PRINT_EXPR": (_EXPAND, lambda arg, code: [("INTRINSIC", ("print", 1)), ("POP_TOP", 0)]),
    "ASYNC_GEN_WRAP": _one("INTRINSIC", lambda arg: ("async_gen_wrap", 1)),
    # These join their neighbour, see `_fuse`.
    **{name: (_FUSE, name) for name in _words("KW_NAMES CALL CALL_KW FORMAT_SIMPLE SET_FUNCTION_ATTRIBUTE")},
}

_VERSIONS: dict[tuple[int, int], dict[str, tuple[int, Any]]] = {
    (3, 11): {
        "COMPARE_OP": _one("COMPARE_OP", COMPARISONS.__getitem__),
        "LOAD_FAST": (_RAW, "LOAD_FAST_CHECK"),
        **{
            f"POP_JUMP_{way}_IF_{what}": (kind, f"POP_JUMP_IF_{what}")
            for way, kind in (("FORWARD", _FORWARD), ("BACKWARD", _BACKWARD))
            for what in ("FALSE", "TRUE", "NONE", "NOT_NONE")
        },
    },
    (3, 12): {
        "COMPARE_OP": _one("COMPARE_OP", lambda arg: COMPARISONS[arg >> 4]),
        "LOAD_ATTR": (_EXPAND, _attribute_with_method),
    },
    (3, 13): {
        "COMPARE_OP": _one("COMPARE_OP", lambda arg: COMPARISONS[arg >> 5]),
        "DICT_MERGE": _one("DICT_MERGE", lambda arg: (arg, arg + 3)),
        "LOAD_GLOBAL": (_EXPAND, _global_below_null),
        "LOAD_ATTR": (_EXPAND, _attribute_with_method),
    },
}


def _cache_units(name: str) -> int:
    entries: Any = vars(opcode)["_inline_cache_entries"]  # a list by number, or a dict by name
    return entries.get(name, 0) if isinstance(entries, dict) else entries[opcode.opmap[name]]


def _rows() -> list[tuple[int, Any, int] | None]:
    """Per opcode number of this interpreter: how to read it, its op, and the distance to the next instruction."""
    table = {**_TABLE, **_VERSIONS.get(VERSION, _VERSIONS[max(_VERSIONS)])}
    rows: list[tuple[int, Any, int] | None] = [None] * 256
    for name, number in opcode.opmap.items():
        if name in table and number < 256:
            kind, op = table[name]
            rows[number] = (kind, op, 1 + _cache_units(name))
    return rows


_ROWS = _rows()
_EXTENDED_ARG = opcode.opmap["EXTENDED_ARG"]
# Instructions from an exhausted FOR_ITER's target to the code after the loop: END_FOR on 3.12, and POP_TOP on 3.13.
_AFTER_LOOP = {(3, 11): 0, (3, 12): 1}.get(VERSION, 2)
# The target of a SEND is END_SEND, which drops the iterator, except on 3.11 where SEND itself does.
JUMPS = frozenset(op for kind, op in {**_TABLE, **_VERSIONS[3, 11]}.values() if kind in (_FORWARD, _BACKWARD))


# ------------------------------------------------------------------------------------------------ reading


def read(code: CodeType) -> Body:
    """The instructions and protected regions of a code object.

    >>> body = read((lambda x: x.y + 1).__code__)
    >>> [i for i in body.instructions if i.op != "LOAD_FAST_CHECK"][-4:]
    [LOAD_ATTR 'y', LOAD_CONST 1, BINARY_OP 'add', RETURN_VALUE 0]
    """
    raw = code.co_code  # the interpreter's own specialisations are undone in it
    constants, names = code.co_consts, code.co_names
    out: list[Instruction] = []
    first: list[int] = []  # per code unit: the index of the first instruction from there on
    jumps: list[tuple[Instruction, int]] = []
    keywords: tuple[str, ...] = ()
    extended = 0
    for unit in range(len(raw) >> 1):
        first.append(len(out))
        number = raw[2 * unit]
        if number == 0:  # CACHE
            continue
        arg = raw[2 * unit + 1] | extended
        if number == _EXTENDED_ARG:
            extended = arg << 8
            continue
        extended = 0
        row = _ROWS[number]
        if row is None:
            out.append(Instruction("UNKNOWN", opcode.opname[number], unit))
            continue
        kind, op, length = row
        if kind == _RAW:
            out.append(Instruction(op, arg, unit))
        elif kind == _DROP:
            pass
        elif kind == _CONST:
            out.append(Instruction(op, constants[arg], unit))
        elif kind == _NAME:
            out.append(Instruction(op, names[arg], unit))
        elif kind == _EXPAND:
            out.extend([Instruction(name, value, unit) for name, value in op(arg, code)])
        elif kind == _FUSE:
            if op == "KW_NAMES":
                keywords = constants[arg]
            else:
                _fuse(op, arg, keywords, out, unit)
                keywords = ()
        else:
            instruction = Instruction(op, 0, unit)
            jumps.append((instruction, unit + length + (arg if kind == _FORWARD else -arg)))
            out.append(instruction)
    first.append(len(out))
    for instruction, target in jumps:
        instruction.arg = first[target + _AFTER_LOOP if instruction.op == "FOR_ITER" else target]
    regions = _regions(code, first) if code.co_exceptiontable else []
    if code.co_flags & 0x20:  # CO_GENERATOR
        regions = _tidy_generator(out, regions)
    own = code.co_varnames
    variables = [*own, *(n for n in code.co_cellvars if n not in own), *code.co_freevars]
    return Body(code, out, regions, variables)


def assigns_first(code: CodeType) -> bool:
    """Whether a function assigns to its first parameter, which `super()` reads as it is then."""
    assigning = ("STORE_FAST", "DELETE_FAST", "STORE_DEREF", "DELETE_DEREF")
    return any(i.op in assigning and i.arg == 0 for i in read(code).instructions)


SUPER_OF_ANOTHER = "super() in a method that assigns to its first parameter"
SUPER_HINT = "give what is assigned another name"


def _fuse(op: str, arg: int, keywords: tuple[str, ...], out: list[Instruction], unit: int) -> None:
    """Instructions that belong to the one before them."""
    if op == "CALL":
        out.append(Instruction("CALL", (arg, keywords), unit))
    elif op == "CALL_KW":  # the constant tuple of names was pushed just before
        out[-1] = Instruction("CALL", (arg, out[-1].arg), unit)
    elif op == "FORMAT_SIMPLE":
        if out[-1].op == "CONVERT_VALUE":
            out[-1] = Instruction("FORMAT_VALUE", (out[-1].arg, False), unit)
        else:
            out.append(Instruction("FORMAT_VALUE", ("", False), unit))
    elif op == "SET_FUNCTION_ATTRIBUTE":
        out[-1].arg |= arg


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = data[at] & 63
    while data[at] & 64:
        at += 1
        value = value << 6 | data[at] & 63
    return value, at + 1


def _regions(code: CodeType, first: list[int]) -> list[Region]:
    """The exception table (Objects/exception_handling_notes.txt in CPython), in instruction indices."""
    data = code.co_exceptiontable
    regions: list[Region] = []
    at = 0
    while at < len(data):
        start, at = _varint(data, at)
        length, at = _varint(data, at)
        handler, at = _varint(data, at)
        depth_and_lasti, at = _varint(data, at)
        region = Region(
            first[start], first[start + length], first[handler], depth_and_lasti >> 1, bool(depth_and_lasti & 1)
        )
        if region.start < region.end:
            regions.append(region)
    return regions


def _tidy_generator(out: list[Instruction], regions: list[Region]) -> list[Region]:
    """Replace the loop around SEND by YIELD_FROM, and forget handlers that every generator has.

    3.12 turns StopIteration into RuntimeError by a handler (3.11 does so elsewhere), and CLEANUP_THROW belongs to the
    loop around SEND.
    """
    for index, instruction in enumerate(out):
        if instruction.op != "GET_YIELD_FROM_ITER":
            continue
        send = out[index + 2]
        assert send.op == "SEND", "a yield from of an unknown shape"
        after = send.arg + (out[send.arg].op == "END_SEND")
        out[index] = Instruction("YIELD_FROM", 0, instruction.unit)
        out[index + 1] = Instruction("JUMP_FORWARD", after, instruction.unit)
    return [r for r in regions if out[r.handler].op != "CLEANUP_THROW" and not _is_stop_iteration(out[r.handler])]


def _is_stop_iteration(instruction: Instruction) -> bool:
    return instruction.op == "INTRINSIC" and instruction.arg[0] == "stopiteration_error"
