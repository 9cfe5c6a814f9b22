"""Functions that do several calls at once, in the lanes of vectors.

A function with attrs["vector"] stands for one lane; its last parameter is the lane's number.  What depends on that is a vector
here, all else is as elsewhere; what it returns is the sum over the lanes.  Control does not depend on it.  Elements that lie behind each other are loaded as a vector.
So the order of what is added up is the source's, whatever LLVM makes of it and the processor has.

Only the operations that `vectorisable` of ir/passes/pairwise.py names are there.
"""

from __future__ import annotations

from collections.abc import Callable

from ....ir.core import Block, Const, Function, Instr, Target, Value, uses
from ....ir.types import BOOL, F64, Array, Scalar
from ..horizontal import add_up
from ..lowered import LoweringError
from ..text import MATH, MEMORY_TYPES, SCALAR_TYPES, SIZES, literal
from ..vectormath import COMPOSED, FUNCTIONS, NAMES, Writer, in_parts, joined, written
from .arithmetic import BINARY, binary, neg
from .arrays import access, element, parts_of
from .control import give
from .function import FunctionLowering, scalar_type
from .mathematics import C_NAMES, INTRINSICS, LIBM, intrinsic
from .neighbours import Neighbours
from .registry import lowering


class VectorLowering(FunctionLowering):
    """Lowers one such function."""

    def lower(self, linkage: str) -> None:
        params = self.function.params
        self.prepare(self.function.attrs["vector"], params[-1])
        for group in self.function.attrs.get("neighbours", ()):
            neighbours = Neighbours(self, [(params[k], ahead) for k, ahead in group])
            self.neighbours |= dict.fromkeys(neighbours.ahead, neighbours)
        super().lower(linkage)

    def lower_block(self, block: Block) -> None:
        if block is self.function.entry:
            for neighbours in dict.fromkeys(self.neighbours.values()):
                neighbours.begin()
        super().lower_block(block)

    def prepare(self, width: int, lane: Value) -> None:
        self.width, self.lane = width, lane
        self.mask = ""  # which of the lanes count, if not all
        self.calls = False  # whether formulas are called, and not written out
        self.scalar = False  # whether one element is gone through, not in lanes
        self.wide: dict[Value, str] = {}  # vectors that depend on the lane
        self.first: dict[Value, str] = {}  # what goes up by one from lane to lane: its value for the first lane
        self.down: dict[Value, str] = {}  # what goes down
        self.varying = varying_in(self.function, lane)
        self.inverted = self.find_inverted()
        self.composed = self.find_composed()  # functions of functions that are one: the inner ones
        self.vectors = False  # whether a varying instruction is being written
        self.neighbours: dict[Value, Neighbours] = {}  # slices of arrays that meet in registers

    def find_inverted(self) -> set[Value]:
        """Comparisons that are asked the other way round: those by which zeros are mostly chosen where they hold. A processor
        with masks adds what is chosen or nothing in one step, but only where the mask is set."""
        users: dict[Value, list[Instr]] = {}
        for block in self.function.blocks:
            for instr in block.instrs:
                for v in dict.fromkeys(uses(instr)):
                    users.setdefault(v, []).append(instr)
        found: set[Value] = set()
        for block in self.function.blocks:
            for instr in block.instrs:
                if (
                    instr.op not in _OPPOSITE
                    or instr.result not in self.varying
                    or scalar_type(instr.operands[0]).kind != "f"
                ):
                    continue
                chosen = users.get(instr.result, [])
                if all(i.op == "select" and instr.result not in i.operands[1:] for i in chosen):
                    zeros = [sum(_is_zero(i.operands[k]) for i in chosen) for k in (1, 2)]
                    if zeros[0] > zeros[1]:
                        found.add(instr.result)
        return found

    def find_composed(self) -> dict[Value, Instr]:
        """Functions that are computed at once with the only one that takes what they give."""
        users: dict[Value, list[Instr]] = {}
        for block in self.function.blocks:
            for instr in block.instrs:
                for v in uses(instr):
                    users.setdefault(v, []).append(instr)
        found: dict[Value, Instr] = {}
        inner = {name for _, name in COMPOSED}
        for block in self.function.blocks:
            for instr in block.instrs:
                if instr.op in inner and instr.result in self.varying and instr.result not in found:
                    name = COMPOSED.get((users[instr.result][0].op, instr.op)) if instr.result in users else None
                    own = name and any(symbol in NAMES for _, symbol in self.vector_variants(name, 1, False))
                    if own and len(users[instr.result]) == 1 and instr.result.type is F64:
                        found[instr.result] = instr
        return found

    def types_of(self, value: Value) -> list[str]:
        types = super().types_of(value)
        return [self.vector_type(t) for t in types] if value in self.varying else types

    def vector_type(self, type: str) -> str:
        return f"<{self.width} x {type}>"

    def bind(self, value: Value, names: list[str]) -> None:
        if self.scalar:
            super().bind(value, names)
        elif value is self.lane:
            self.first[value] = "0"  # the number that is passed is that of the first
        elif value in self.varying:
            (self.wide[value],) = names
        else:
            super().bind(value, names)

    def arguments(self, target: Target) -> list[list[str]]:
        return [
            [self.vector(a)] if p in self.varying else self.components_of(a)
            for p, a in zip(target.block.params, target.args, strict=True)
        ]

    def lower_instr(self, instr: Instr) -> None:
        if instr.op == "return":
            self.lower_return(instr)
        elif self.varying.isdisjoint(instr.operands):
            lowering(instr.op).emit(self, instr)
        elif not self.goes_up(instr) and not (instr.results and instr.result in self.composed):
            emit = (
                _opposite
                if instr.results and instr.result in self.inverted
                else binary
                if instr.op in BINARY
                else intrinsic
                if instr.op in INTRINSICS
                else _LOWERED.get(instr.op)
            )
            if emit is None:
                raise LoweringError(f"{instr.op} is not done in lanes")
            self.vectors = instr.op not in _ACCESSES
            emit(self, instr)
            self.vectors = False

    def goes_up(self, instr: Instr) -> bool:
        """Whether the result goes up or down by one from lane to lane, as what it is computed from goes up."""
        if instr.op == "neg" and instr.operands[0] in self.first:
            self.down[instr.result] = self.let(f"sub i64 0, {self.first[instr.operands[0]]}", instr.result.name)
            return True
        if instr.op not in ("add", "sub"):
            return False
        x, y = instr.operands
        if instr.op == "sub":
            if y not in self.first or x in self.varying:
                return False
            self.down[instr.result] = self.let(f"sub i64 {super().value(x)}, {self.first[y]}", instr.result.name)
            return True
        x, y = (x, y) if x in self.first else (y, x)
        if x not in self.first or y in self.varying:
            return False
        nsw = "nsw " if instr.attrs.get("nsw") else ""
        self.first[instr.result] = self.let(f"add {nsw}i64 {self.first[x]}, {super().value(y)}", instr.result.name)
        return True

    # --------------------------------------------------------------- what the lowering of scalars asks for

    def value(self, value: Value) -> str:
        return self.vector(value) if self.vectors else super().value(value)

    def llvm_type(self, value: Value) -> str:
        type = super().llvm_type(value)
        return self.vector_type(type) if self.vectors else type

    def math_intrinsic(self, name: str, type: str, *args: str, flags: str = "", hint: str = "t") -> str:
        if not self.vectors:
            return super().math_intrinsic(name, type, *args, flags=flags, hint=hint)
        suffix = f"v{self.width}f{32 if 'float' in type else 64}"
        callee = self.module.intrinsic(f"llvm.{name}.{suffix}", type, ", ".join([type] * len(args)))
        return self.let(f"call {flags}{type} {callee}({', '.join(f'{type} {a}' for a in args)})", hint)

    def vector(self, value: Value) -> str:
        """A value in all lanes."""
        if value in self.wide:
            return self.wide[value]
        scalar = SCALAR_TYPES[scalar_type(value)]
        if isinstance(value, Const):
            return f"splat ({scalar} {literal(value.value, value.type)})"
        first = self.first.get(value, self.down.get(value))
        if first is None:
            return self.splat(scalar, super().value(value))
        type, op = self.vector_type(scalar), "add" if value in self.first else "sub"
        lanes = ", ".join(f"{scalar} {k}" for k in range(self.width))
        return self.let(f"{op} {type} {self.splat(scalar, first)}, <{lanes}>")

    def splat(self, scalar: str, name: str) -> str:
        type = self.vector_type(scalar)
        one = self.let(f"insertelement {type} poison, {scalar} {name}, i64 0")
        return self.let(f"shufflevector {type} {one}, {type} poison, <{self.width} x i32> zeroinitializer")

    def lowest(self, array: Value, indices: list[Value]) -> str | None:
        """Where along the last axis the lowest of the lanes' elements is, if these lie behind each other."""
        assert isinstance(array.type, Array)
        *outer, last = indices
        if array.type.layout != "C" or not self.varying.isdisjoint(outer):
            return None
        if last in self.down:
            return self.let(f"sub i64 {self.down[last]}, {self.width - 1}")
        return self.first.get(last)

    def in_order(self, lanes: str, type: str, indices: list[Value]) -> str:
        """Lanes in the order of memory, from those in the order of the loop, and back."""
        if indices[-1] not in self.down:
            return lanes
        order = ", ".join(f"i32 {k}" for k in reversed(range(self.width)))
        return self.let(f"shufflevector {type} {lanes}, {type} poison, <{self.width} x i32> <{order}>")

    def write_row(self, instr: Instr, lanes: str, address: str, type: str, annotation: str) -> None:
        """Store the lanes of a value to elements behind each other."""
        _, value, *indices = instr.operands
        scalar = scalar_type(value)
        if scalar is BOOL:
            lanes = self.let(f"zext {self.vector_type('i1')} {lanes} to {type}")
        self.write_lanes(lanes, address, type, SIZES[scalar], annotation, indices)

    def write_lanes(
        self, lanes: str, address: str, type: str, size: int, annotation: str, indices: list[Value]
    ) -> None:
        """The same of lanes as they are in memory."""
        lanes = self.in_order(lanes, type, indices)
        if not self.mask:
            self.emit(f"store {type} {lanes}, ptr {address}, align {size}{annotation}")
            return
        mask = self.vector_type("i1")
        callee = self.module.intrinsic(f"llvm.masked.store.{self.suffix(type)}.p0", "void", f"{type}, ptr, i32, {mask}")
        chosen = self.in_order(self.mask, mask, indices)
        self.emit(f"call void {callee}({type} {lanes}, ptr {address}, i32 {size}, {mask} {chosen}){annotation}")

    def read_row(
        self, address: str, type: str, size: int, annotation: str, indices: list[Value], hint: str = "t"
    ) -> str:
        """Elements behind each other, in the order of the loop."""
        if not self.mask:
            loaded = self.let(f"load {type}, ptr {address}, align {size}{annotation}", hint)
            return self.in_order(loaded, type, indices)
        mask = self.vector_type("i1")
        callee = self.module.intrinsic(f"llvm.masked.load.{self.suffix(type)}.p0", type, f"ptr, i32, {mask}, {type}")
        chosen = self.in_order(self.mask, mask, indices)
        given = f"ptr {address}, i32 {size}, {mask} {chosen}, {type} zeroinitializer"
        return self.in_order(self.let(f"call {type} {callee}({given}){annotation}", hint), type, indices)

    def suffix(self, type: str) -> str:
        """What intrinsics for vectors of a type are called by."""
        scalar = type.rsplit(" ", 1)[1].rstrip(">")
        return f"v{self.width}{ {'double': 'f64', 'float': 'f32'}.get(scalar, scalar) }"

    def lower_return(self, instr: Instr) -> None:
        """What the lanes have, added up."""
        for neighbours in dict.fromkeys(self.neighbours.values()):
            neighbours.end()
        types = [SCALAR_TYPES[scalar_type(v)] for v in instr.operands]
        sums: dict[int, str] = {}
        for type in dict.fromkeys(types):
            positions = [k for k, t in enumerate(types) if t == type]
            totals = self.added_up(type, [self.vector(instr.operands[k]) for k in positions])
            sums.update(zip(positions, totals, strict=True))
        give(self, [(type, sums[k]) for k, type in enumerate(types)])

    def added_up(self, type: str, vectors: list[str]) -> list[str]:
        """The sum of the lanes of each vector, neighbours first."""
        return [
            self.let(f"extractelement <{len(own)} x {type}> {name}, i64 {at}", "r")
            for name, own in add_up(self.let, type, vectors, self.width)
            for at in range(len(own))
        ]


def varying_in(function: Function, lane: Value) -> set[Value]:
    """What depends on the lane."""
    found = {lane}
    grew = True
    while grew:
        before = len(found)
        for block in function.blocks:
            for instr in block.instrs:
                if not found.isdisjoint(instr.operands):
                    found.update(instr.results)
                for target in instr.targets:
                    found.update(p for p, a in zip(target.block.params, target.args, strict=True) if a in found)
        grew = len(found) > before
    return found


def _not(e: FunctionLowering, instr: Instr) -> None:
    x = instr.operands[0]
    e.define(instr, [e.let(f"xor {e.llvm_type(x)} {e.value(x)}, splat (i1 true)", instr.result.name)])


def _neg(e: FunctionLowering, instr: Instr) -> None:
    (x,) = instr.operands
    if scalar_type(x).kind == "f":
        neg(e, instr)
    else:
        e.define(instr, [e.let(f"sub {e.llvm_type(x)} zeroinitializer, {e.value(x)}", instr.result.name)])


def _abs(e: FunctionLowering, instr: Instr) -> None:
    x = instr.operands[0]
    e.define(instr, [e.math_intrinsic("fabs", e.llvm_type(x), e.value(x), flags=e.flags(instr))])


def _same(e: FunctionLowering, instr: Instr) -> None:
    e.define(instr, [e.value(instr.operands[0])])


def _select(e: FunctionLowering, instr: Instr) -> None:
    assert isinstance(e, VectorLowering)
    condition, x, y = instr.operands
    if condition in e.inverted:
        x, y = y, x
    type = e.llvm_type(x)
    fast = e.flags(instr) if scalar_type(x).kind == "f" else ""
    text = f"select {fast}{e.llvm_type(condition)} {e.value(condition)}, {type} {e.value(x)}, {type} {e.value(y)}"
    e.define(instr, [e.let(text, instr.result.name)])


_OPPOSITE = {"lt": "uge", "le": "ugt", "gt": "ule", "ge": "ult", "eq": "une", "ne": "oeq"}


def _opposite(e: FunctionLowering, instr: Instr) -> None:
    x, y = instr.operands
    text = f"fcmp {e.flags(instr)}{_OPPOSITE[instr.op]} {e.llvm_type(x)} {e.value(x)}, {e.value(y)}"
    e.define(instr, [e.let(text, instr.result.name)])


def _is_zero(v: Value) -> bool:
    return isinstance(v, Const) and v.value == 0


def _extremum(comparison: str) -> Callable[[FunctionLowering, Instr], None]:
    def emit(e: FunctionLowering, instr: Instr) -> None:
        """y if it is better, or if x is a nan."""
        x, y = map(e.value, instr.operands)
        type, fast = e.llvm_type(instr.operands[0]), e.flags(instr)
        bits = type.replace("double", "i1").replace("float", "i1")
        better = e.let(f"fcmp {fast}{comparison} {type} {y}, {x}")
        chosen = e.let(f"select {fast}{bits} {better}, {type} {y}, {type} {x}")
        nan = e.let(f"fcmp {fast}uno {type} {x}, {x}")
        e.define(instr, [e.let(f"select {fast}{bits} {nan}, {type} {y}, {type} {chosen}", instr.result.name)])

    return emit


def _cast(e: FunctionLowering, instr: Instr) -> None:
    """To floats, and to bool by comparison with zero."""
    operand = instr.operands[0]
    source, target, x = scalar_type(operand), scalar_type(instr.result), e.value(operand)
    a, b = e.llvm_type(operand), e.llvm_type(instr.result)
    if source is target:
        e.define(instr, [x])
        return
    if target is BOOL:
        text = f"{'fcmp une' if source.kind == 'f' else 'icmp ne'} {a} {x}, zeroinitializer"
    elif source.kind == "f":
        text = f"{'fpext' if target.bits > source.bits else 'fptrunc'} {a} {x} to {b}"
    else:
        text = f"{'uitofp' if source.kind in 'ub' else 'sitofp'} {a} {x} to {b}"
    e.define(instr, [e.let(text, instr.result.name)])


class _InPlace(Writer):
    """Writes formulas of vectormath.py where they are used: constants stay in registers, and nothing is saved for a call."""

    def __init__(self, e: FunctionLowering, lanes: int, parts: int, wide: bool):
        super().__init__(lanes, parts, wide)
        self.e = e

    def let(self, what: str) -> str:
        return self.e.let(what)


def _function(e: FunctionLowering, instr: Instr) -> None:
    """A mathematical function of doubles."""
    assert isinstance(e, VectorLowering)
    name, operands = instr.op, instr.operands
    if inner := e.composed.get(operands[0]):
        name, operands = COMPOSED[name, inner.op], inner.operands
    args, arity = [e.vector(x) for x in operands], len(operands)
    variants = e.vector_variants(name, arity, False)
    own = [lanes for lanes, symbol in variants if symbol in NAMES]
    if own and not e.calls:
        lanes = min(e.width, max(own))
        w = _InPlace(e, lanes, e.width // lanes, wide=lanes == 8)
        e.define(instr, [written(w, name, *args)])
        for name, declaration in w.declared.items():
            e.module.externals.setdefault(name, declaration)
        return
    if variants := [v for v in variants if v[0] <= e.width]:
        lanes, symbol = max(variants)
        w, type = _InPlace(e, lanes, e.width // lanes, wide=False), f"<{lanes} x double>"
        types = ", ".join([type] * arity)
        e.module.vector_symbols[symbol] = f"declare {type} @{symbol}({types}) {e.module.group(MATH)}"
        parts = zip(*(in_parts(w, x) for x in args), strict=True)
        given = [", ".join(f"{type} {x}" for x in part) for part in parts]
        e.define(instr, [joined(w, [e.call(type, f"@{symbol}", g, attributes=MATH) for g in given])])
        return
    type, name = e.vector_type("double"), "zyg_pow" if instr.op == "pow" else C_NAMES.get(instr.op, instr.op)
    callee = e.module.external(name, "double", ", ".join(["double"] * arity), MATH)
    result = "poison"
    for lane in range(e.width):
        one = ", ".join(f"double {e.let(f'extractelement {type} {x}, i64 {lane}')}" for x in args)
        value = e.call("double", callee, one, attributes=MATH)
        result = e.let(f"insertelement {type} {result}, double {value}, i64 {lane}")
    e.define(instr, [result])


def _load(e: FunctionLowering, instr: Instr) -> None:
    assert isinstance(e, VectorLowering)
    array, *indices = instr.operands
    a = parts_of(e, array)
    dtype, annotation, hint = a.type.dtype, access(e, array), instr.result.name
    fixed = [None if i in e.varying else e.value(i) for i in indices]
    type = e.vector_type(MEMORY_TYPES[dtype])
    if (lowest := e.lowest(array, indices)) is not None:
        address = element(e, a, [*(i for i in fixed if i is not None), lowest])
        loaded = e.read_row(address, type, SIZES[dtype], annotation, indices, hint)
    else:
        loaded = gathered(e, array, fixed, [e.vector(i) for i in indices if i in e.varying], dtype, annotation)
    e.define(instr, [e.let(f"icmp ne {type} {loaded}, zeroinitializer", hint) if dtype is BOOL else loaded])


def _store(e: FunctionLowering, instr: Instr) -> None:
    assert isinstance(e, VectorLowering)
    address, type, annotation = row(e, instr)
    if instr.operands[0] in e.neighbours:
        e.neighbours[instr.operands[0]].put(instr, address, annotation)
    else:
        e.write_row(instr, e.vector(instr.operands[1]), address, type, annotation)


def _accum(e: FunctionLowering, instr: Instr) -> None:
    """Neighbouring elements are different ones."""
    assert isinstance(e, VectorLowering)
    address, type, annotation = row(e, instr)
    if instr.operands[0] in e.neighbours:
        e.neighbours[instr.operands[0]].put(instr, address, annotation)
        return
    _, value, *indices = instr.operands
    scalar = scalar_type(value)
    old = e.read_row(address, type, SIZES[scalar], annotation, indices)
    if scalar is BOOL:
        old = e.let(f"icmp ne {type} {old}, zeroinitializer")
    operation = f"fadd {e.flags(instr)}" if scalar.kind == "f" else "or " if scalar is BOOL else "add "
    vector = e.vector_type(SCALAR_TYPES[scalar])
    e.write_row(instr, e.let(f"{operation}{vector} {old}, {e.vector(value)}"), address, type, annotation)


def row(e: VectorLowering, instr: Instr) -> tuple[str, str, str]:
    """Where the elements behind each other are that are stored to: address, type in memory, annotation."""
    array, _, *indices = instr.operands
    a = parts_of(e, array)
    lowest = e.lowest(array, indices)
    if lowest is None:
        raise LoweringError(f"{instr.op} to elements that do not lie behind each other")
    address = element(e, a, [*map(e.value, indices[:-1]), lowest])
    return address, e.vector_type(MEMORY_TYPES[a.type.dtype]), access(e, array)


def gathered(
    e: VectorLowering, array: Value, fixed: list[str | None], varying: list[str], dtype: Scalar, annotation: str
) -> str:
    """Elements from places that do not lie behind each other."""
    assert isinstance(array.type, Array)
    a, type, scalar = parts_of(e, array), e.vector_type(MEMORY_TYPES[dtype]), MEMORY_TYPES[dtype]
    result = "poison"
    if e.mask:  # lanes that do not count go where the first one does
        varying = [
            e.let(
                f"select {e.vector_type('i1')} {e.mask}, {e.vector_type('i64')} {v}, {e.vector_type('i64')} {_first(e, v)}"
            )
            for v in varying
        ]
    for lane in range(e.width):
        own = iter([e.let(f"extractelement {e.vector_type('i64')} {v}, i64 {lane}") for v in varying])
        address = element(e, a, [i if i is not None else next(own) for i in fixed])
        value = e.let(f"load {scalar}, ptr {address}{annotation}")
        result = e.let(f"insertelement {type} {result}, {scalar} {value}, i64 {lane}")
    return result


def _first(e: VectorLowering, v: str) -> str:
    """The first lane's number in all of them."""
    type = e.vector_type("i64")
    return e.let(f"shufflevector {type} {v}, {type} poison, <{e.width} x i32> zeroinitializer")


_LOWERED: dict[str, Callable[[FunctionLowering, Instr], None]] = {
    "neg": _neg,
    "abs": _abs,
    "not": _not,
    "select": _select,
    "slope": _same,
    "stop": _same,
    "fmin": _extremum("olt"),
    "fmax": _extremum("ogt"),
    "cast": _cast,
    "load": _load,
    "store": _store,
    "accum": _accum,
}
_LOWERED |= dict.fromkeys((*FUNCTIONS, *LIBM), _function)
_ACCESSES = frozenset({"load", "store", "accum"})
