"""Typed SSA to LLVM assembly.

Input: a module of functions without `object` values.  Output: `Lowered`, one LLVM module as text in which the IR
function `f` is `@py.f`, with the calling convention

    fastcc {i32 status, results...} @py.f(ptr ctx?, leaves...)

(a function in which nothing can fail returns its results alone);
status 0 is success; k > 0 is the k-th entry of the error table `Lowered.errors`; -1 means that a Python exception is
set. `ctx` (see runtime.py) is passed only to functions that need it, so that scalar functions stay plain.

An array is {data, owner, shape, strides}; the strides are absent for layout C.  The owner is the header of memory that
`alloc` made, or a Python object with its lowest bit set, whose counting is not this call's business.  A stack is {top,
begin, end} of its current chunk; in its function these are three allocas, which LLVM turns into registers.  A tape is a
pointer to such three words; in results and in memory it is the words.

What LLVM is told, because it could not know: memory of stacks, arrays and the context never overlap (TBAA); arrays made
here, and parameters where the function attribute "noalias" says so, do not overlap each other (alias scopes); guards
hold (branch weights); mathematical functions have no effects, and have vector variants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ...ir.analysis import reverse_postorder
from ...ir.core import Block, Const, Function, Instr, Module, Position, Target, Value
from ...ir.records import field, record
from ...ir.types import BOOL, F32, F64, I64, U8, Array, Scalar, Stack, Tape, Tuple, Type, flatten
from . import runtime
from .boxing import Boxing
from .text import (
    MEMORY_TYPES,
    SCALAR_TYPES,
    SELF,
    SIZES,
    Emitter,
    ModuleText,
    Places,
    Record,
    by_value,
    component_types,
    components,
    literal,
    symbol,
    value_types,
)

INT_OVERFLOW = ("OverflowError", "integer result does not fit into 64 bits")
TOO_DEEP = ("RecursionError", "maximum recursion depth exceeded")
NO_MEMORY = ("MemoryError", "not enough memory")
TOO_BIG = ("ValueError", "array is too big; its size in bytes does not fit into 64 bits")
LANES = "zyg.lanes"  # flag of a module whose functions carry several tangents side by side
MAX_SCOPES = 48  # alias metadata grows with the square of their number

MATH = "nounwind willreturn memory(none)"
RUNTIME = "nounwind"
# Reads and writes its arguments' memory and memory that compiled code never touches by itself.
ARENA = "nounwind memory(argmem: readwrite, inaccessiblemem: readwrite)"

READS_STACK = "nounwind memory(argmem: read, inaccessiblemem: read)"


class LoweringError(Exception):
    """The input is not typed SSA as the back end expects it: a bug in an earlier stage."""


@record(frozen=True)
class ErrorSite:
    """What a failing check raises: the exception (a class or the name of a builtin one), the message with {} for each
    of `types`, whose values are in the context, and the place in the user's source."""

    exception: Any
    message: str
    position: Position | None = None
    types: tuple[Type, ...] = ()


@record
class Lowered:
    """A module as LLVM text. `errors[0]` is unused; `objects` are Python objects that the code refers to by index."""

    module: ModuleText
    errors: list[ErrorSite]
    objects: list[object]
    signatures: dict[str, FunctionABI] = field(default_factory=dict)
    calls_python: bool = False

    @property
    def text(self) -> str:
        return self.module.text()


@record(frozen=True)
class FunctionABI:
    """How to call a lowered function."""

    symbol: str
    needs_ctx: bool
    params: tuple[Type, ...]
    results: tuple[Type, ...]
    may_run_python: bool
    recursive: bool = False
    fails: bool = True

    @property
    def result(self) -> str:
        """The LLVM type of what it returns."""
        types = value_types(self.results)
        if self.fails:
            types.insert(0, "i32")
        elif len(types) < 2:
            return types[0] if types else "void"
        return "{" + ", ".join(types) + "}"

    def call(self, emitter: Emitter, arguments: Sequence[str], attributes: str = "") -> tuple[str | None, list[str]]:
        """Emit a call: the status, None if there is none, and the components of the results."""
        result = emitter.call(
            self.result, self.symbol, *arguments, attributes=attributes, convention="fastcc ", hint="r"
        )
        count = len(value_types(self.results))
        if not self.fails and count < 2:
            return None, [result] if count else []
        extract = [emitter.let(f"extractvalue {self.result} {result}, {k}", "r") for k in range(count + self.fails)]
        return (extract[0], extract[1:]) if self.fails else (None, extract)


class VectorMath(Protocol):
    """Finds the vector variants of a function of the C library (see engine.py)."""

    def __call__(self, name: str, arguments: int, single: bool) -> Sequence[tuple[int, str]]: ...


def no_variants(name: str, arguments: int, single: bool) -> Sequence[tuple[int, str]]:
    """For code without vector mathematics."""
    return ()


def lower(
    module: Module, entry: str, vector_variants: VectorMath, exported: bool = False, lines: bool = False
) -> Lowered:
    """Lower `entry` and all that it calls. `exported` keeps `entry` as a function of its own when LLVM optimises, `lines`
    tells LLVM where in the source instructions come from."""
    names = _reachable(module, entry)
    lowered = Lowered(ModuleText(), [ErrorSite("SystemError", "no error")], [])
    if any("lanes" in module.functions[name].attrs for name in names):
        lowered.module.flags.add(LANES)
    recursive = _recursive(module, names)
    needs_ctx = _closure(module, names, lambda f: f.name in recursive or any(map(_uses_ctx, _instrs(f))))
    runs_python = _closure(module, names, lambda f: any(i.op in ("pycall", "poll") for i in _instrs(f)))
    lowered.calls_python = any(i.op == "pycall" for name in names for i in _instrs(module.functions[name]))
    fails = _closure(module, names, lambda f: f.name in recursive or any(map(_may_fail, _instrs(f))))
    for name in names:
        f = module.functions[name]
        lowered.signatures[name] = FunctionABI(
            symbol("py." + name),
            name in needs_ctx,
            tuple(p.type for p in f.params),
            f.results,
            name in runs_python,
            name == entry and any(n in recursive for n in names),
            name in fails,
        )
    for name in names:
        linkage = "" if exported and name == entry else "internal "
        function = FunctionLowering(lowered, module.functions[name], name in recursive, vector_variants)
        if lines:
            function.places = Places(lowered.module, module.functions[name])
        function.lower(linkage)
    return lowered


def _instrs(f: Function) -> list[Instr]:
    return [i for b in f.blocks for i in b.instrs]


_CTX_OPS = frozenset({"alloc", "release", "push", "reserve", "drop", "poll", "pycall", "copyto"})


def _uses_ctx(instr: Instr) -> bool:
    details = {"guard": 1, "raise": 0}.get(instr.op)  # operands before those that the message shows
    return instr.op in _CTX_OPS or (details is not None and len(instr.operands) > details)


_FAILING = frozenset({"raise", "cadd", "csub", "cmul", "cneg", "ipow", "alloc", "reserve", "poll", "pycall"})


def _may_fail(instr: Instr) -> bool:
    if instr.op == "guard":
        condition = instr.operands[0]
        return not (isinstance(condition, Const) and condition.value)
    if instr.op == "push":
        return not instr.attrs.get("unchecked")
    return instr.op in _FAILING or (instr.op == "copyto" and not _copies_at_once(instr))


def _copies_at_once(instr: Instr) -> bool:
    """Whether a `copyto` is one memmove."""
    types = [v.type for v in instr.operands]
    return all(isinstance(t, Array) and (t.layout == "C" or t.ndim == 0) for t in types)


def _callees(f: Function) -> list[str]:
    return [i.attrs["callee"] for i in _instrs(f) if i.op == "call"]


def _reachable(module: Module, entry: str) -> list[str]:
    seen, work = [entry], [entry]
    while work:
        for callee in _callees(module.functions[work.pop()]):
            if callee not in seen:
                seen.append(callee)
                work.append(callee)
    return seen


def _closure(module: Module, names: list[str], holds: Callable[[Function], bool]) -> set[str]:
    """The functions for which `holds`, or that call such a function."""
    result = {n for n in names if holds(module.functions[n])}
    callees = {n: _callees(module.functions[n]) for n in names}
    grew = True
    while grew:
        more = {n for n in names if n not in result and any(c in result for c in callees[n])}
        result |= more
        grew = bool(more)
    return result


def _recursive(module: Module, names: list[str]) -> set[str]:
    """The functions that may call themselves, directly or not."""
    callees = {n: set(_callees(module.functions[n])) for n in names}
    result = set()
    for name in names:
        seen: set[str] = set()
        work = list(callees[name])
        while work:
            n = work.pop()
            if n not in seen:
                seen.add(n)
                work += callees[n]
        if name in seen:
            result.add(name)
    return result


# ------------------------------------------------------------------------------------------ the lowering table

# Ops that are one LLVM instruction, by the kind of their operands: "f" floats, "i" integers, "u" bytes, "b" booleans.
# {F} is the place of the fast-math flags, {N} that of `nsw`, {T} the LLVM type.
BINARY: dict[str, dict[str, str]] = {
    "add": {"f": "fadd {F}{T}", "i": "add {N}{T}", "u": "add {T}"},
    "sub": {"f": "fsub {F}{T}", "i": "sub {N}{T}", "u": "sub {T}"},
    "mul": {"f": "fmul {F}{T}", "i": "mul {N}{T}", "u": "mul {T}"},
    "div": {"f": "fdiv {F}{T}"},
    "sdiv": {"f": "fdiv {F}{T}"},
    "lt": {"f": "fcmp {F}olt {T}", "i": "icmp slt {T}", "u": "icmp ult {T}", "b": "icmp ult {T}"},
    "le": {"f": "fcmp {F}ole {T}", "i": "icmp sle {T}", "u": "icmp ule {T}", "b": "icmp ule {T}"},
    "gt": {"f": "fcmp {F}ogt {T}", "i": "icmp sgt {T}", "u": "icmp ugt {T}", "b": "icmp ugt {T}"},
    "ge": {"f": "fcmp {F}oge {T}", "i": "icmp sge {T}", "u": "icmp uge {T}", "b": "icmp uge {T}"},
    "eq": {"f": "fcmp {F}oeq {T}", "i": "icmp eq {T}", "u": "icmp eq {T}", "b": "icmp eq {T}"},
    "ne": {"f": "fcmp {F}une {T}", "i": "icmp ne {T}", "u": "icmp ne {T}", "b": "icmp ne {T}"},
    "and": {"i": "and {T}", "u": "and {T}", "b": "and {T}"},
    "or": {"i": "or {T}", "u": "or {T}", "b": "or {T}"},
    "xor": {"i": "xor {T}", "u": "xor {T}", "b": "xor {T}"},
}

# Checked integer arithmetic: LLVM's intrinsics that also give an overflow bit.
CHECKED = {"cadd": "sadd", "csub": "ssub", "cmul": "smul"}

# Exact operations that LLVM has as intrinsics (their results are determined by IEEE 754).
INTRINSICS = {
    "sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint",
    "copysign": "copysign", "fma": "fma",
}  # fmt: skip

# Functions of the C library, which CPython's `math` calls too; with "f" appended for f32.
LIBM = frozenset(
    {
        "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "atan2",
        "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "cbrt", "pow", "fmod", "remainder",
        "nextafter", "modulus",
    }
)  # fmt: skip

_C_NAMES = {"modulus": "hypot"}  # `math.hypot` is CPython's own; `abs` of a complex number is C's

# Functions that CPython computes by its own algorithms, or that no C library has: see runtime.py.
OWN_MATH = {"lgamma": 1, "gamma": 1, "digamma": 1, "trigamma": 1, "hypot": 2}


class FunctionLowering(Emitter):
    """Lowers one function. A method `op_<name>` per op that is more than a row of the tables above."""

    def __init__(self, lowered: Lowered, function: Function, recursive: bool, vector_variants: VectorMath):
        super().__init__(lowered.module)
        self.lowered = lowered
        self.function = function
        self.recursive = recursive
        self.vector_variants = vector_variants
        self.abi = lowered.signatures[function.name]
        self.boxing = Boxing(self)
        self.values: dict[Value, list[str]] = {}
        self.stacks: dict[Value, list[str]] = {}  # a stack's three allocas: top, begin, end of the chunk
        self.labels: dict[Block, str] = {}
        self.edges: dict[Block, list[tuple[str, list[list[str]]]]] = {}  # incoming: LLVM label, components of the args
        self.phi_places: dict[Block, tuple[int, list[Value]]] = {}
        self.phi_names: dict[Block, list[str]] = {}
        self.failures: list[tuple[str, str]] = []  # edges into the block that returns a status: label, status
        self.instr = Instr("jump")
        self.parallel = False  # whether the block goes back in a loop of independent iterations
        self.scopes = Scopes(self.module, function)
        self.places: Places | None = None

    # ---------------------------------------------------------------------------------------- framework

    def lower(self, linkage: str) -> None:
        f = self.function
        parameters = ["ptr %ctx"] if self.abi.needs_ctx else []
        if self.abi.needs_ctx:
            self.name("ctx")
        self.name("entry")
        self.name("fail")
        blocks = reverse_postorder(f)
        for block in blocks:
            self.labels[block] = self.name(block.name or "block") if block is not f.entry else "entry"
        starts: list[tuple[Value, list[str]]] = []
        for p in f.params:
            names = self.new_components(p)
            parameters += [f"{t} {n}" for n, t in zip(names, component_types([p.type]))]
            starts.append((p, names))
        for p, names in starts:
            self.bind(p, names)
        if self.recursive:
            self.check_depth()
        for block in blocks:
            self.lower_block(block)
        self.write_failures()
        self.insert_phis(blocks)
        head = f"define {linkage}fastcc {self.abi.result} {self.abi.symbol}({', '.join(parameters)})"
        subprogram = f" !dbg !{self.places.subprogram}" if self.places is not None else ""
        # A tail call made a loop would take no stack: recursion without end would never be seen to be too deep.
        attributes = self.module.group('nounwind "disable-tail-calls"="true"' if self.recursive else "nounwind")
        text = "\n".join([f"{head} {attributes}{subprogram} {{", "entry:", *self.allocas, *self.lines, "}"])
        self.module.functions.append(text)

    def lower_block(self, block: Block) -> None:
        if block is not self.function.entry:
            self.start(self.labels[block])
            self.phi_places[block] = (len(self.lines), list(block.params))
            incoming = [(p, self.new_components(p)) for p in block.params]
            for p, names in incoming:
                self.bind(p, names)
            self.phi_names[block] = [n for _, names in incoming for n in names]
        self.parallel = bool(block.terminator.attrs.get("parallel"))
        for instr in block.instrs:
            self.instr = instr
            before = len(self.lines)
            self.lower_instr(instr)
            if self.places is not None:
                self.lines[before:] = [self.places.mark(line, instr.position) for line in self.lines[before:]]

    def lower_instr(self, instr: Instr) -> None:
        op = instr.op
        method = getattr(self, "op_" + op, None)
        if method is not None:
            method(instr)
        elif op in BINARY:
            self.define(instr, [self.binary(instr)])
        elif op in CHECKED:
            self.define(instr, [self.checked(CHECKED[op], *map(self.value, instr.operands))])
        elif op in INTRINSICS:
            self.define(instr, [self.intrinsic_math(instr)])
        elif op in LIBM:
            self.define(instr, [self.library_math(instr)])
        elif op in OWN_MATH:
            self.define(instr, [self.own_math(instr)])
        else:
            raise LoweringError(f"no lowering of {op} to machine code (in {self.function.name})")

    def insert_phis(self, blocks: list[Block]) -> None:
        """Block parameters become phis, once the LLVM blocks that jump there are known."""
        for block in reversed(blocks):
            if block is self.function.entry:
                continue
            place, params = self.phi_places[block]
            types = component_types(p.type for p in params)
            incoming = [(label, [c for arg in args for c in arg]) for label, args in self.edges.get(block, [])]
            phis = []
            for index, (name, type) in enumerate(zip(self.phi_names[block], types, strict=True)):
                pairs = ", ".join(f"[ {args[index]}, %{label} ]" for label, args in incoming)
                phis.append(f"  {name} = phi {type} {pairs}")
            self.lines[place:place] = phis

    def new_components(self, value: Value) -> list[str]:
        base = value.name or "v"
        return [f"%{self.name(base + suffix)}" for suffix, _ in components(value.type)]

    def bind(self, value: Value, names: list[str]) -> None:
        """`value` has these components; a stack gets allocas of its own, since it changes."""
        if isinstance(value.type, Stack):
            slots = [self.alloca("ptr", (value.name or "stack") + suffix) for suffix in (".top", ".begin", ".end")]
            self.stacks[value] = slots
            for slot, name in zip(slots, names, strict=True):
                self.emit(f"store ptr {name}, ptr {slot}")
        else:
            self.values[value] = names

    def define(self, instr: Instr, names: list[str]) -> None:
        self.bind(instr.result, names)

    def components_of(self, value: Value) -> list[str]:
        """The components as of now (of a stack: its present position)."""
        if isinstance(value, Const):
            return [literal(value.value, value.type)]
        if isinstance(value.type, Stack):
            return [self.let(f"load ptr, ptr {slot}", "s") for slot in self.stacks[value]]
        try:
            return self.values[value]
        except KeyError:
            raise LoweringError(f"{value!r} is used in {self.function.name} before it is defined") from None

    def copied(self, value: Value) -> list[str]:
        """The components that a copy in a result or in memory consists of."""
        if not isinstance(value.type, Tape):
            return self.components_of(value)
        tag = self.module.tag("tape")
        return [self.let(f"load ptr, ptr {word}{tag}", "s") for word in self.position(value)]

    def bind_copied(self, value: Value, parts: list[str]) -> None:
        """`value` is such a copy; a tape gets a place of its own."""
        self.bind(value, [self.new_tape(parts)] if isinstance(value.type, Tape) else parts)

    def new_tape(self, words: list[str]) -> str:
        place = self.alloca("[3 x ptr]", "tape")
        for offset, word in zip((0, 8, 16), words, strict=True):
            self.set_field("ptr", word, place, offset, "tape")
        return place

    def value(self, value: Value) -> str:
        (component,) = self.components_of(value)
        return component

    def typed(self, value: Value) -> str:
        return f"{self.llvm_type(value)} {self.value(value)}"

    def llvm_type(self, value: Value) -> str:
        return _scalar(value)[1]

    def flags(self, instr: Instr) -> str:
        fast = instr.attrs.get("fast")
        return " ".join(sorted(fast)) + " " if fast else ""

    # ------------------------------------------------------------------------------------------- errors

    def site(self, exception: Any, message: str, types: tuple[Type, ...] = ()) -> str:
        """The status that stands for this error at the present position."""
        position = self.instr.position
        site = ErrorSite(exception, message, position, types)
        if site in self.lowered.errors:
            return str(self.lowered.errors.index(site))
        self.lowered.errors.append(site)
        return str(len(self.lowered.errors) - 1)

    def check(self, holds: str, status: str) -> None:
        """Go on if `holds`, else return `status`."""
        if holds == "true":
            return
        go_on = self.name("ok")
        self.branch(holds, go_on, "fail", likely=True)
        self.failures.append((self.label, status))
        self.start(go_on)

    def check_status(self, status: str) -> None:
        """Return a callee's status unless it is 0."""
        holds = self.let(f"icmp eq i32 {status}, 0")
        self.check(holds, status)

    def fail(self, status: str) -> None:
        self.jump("fail")
        self.failures.append((self.label, status))

    def write_failures(self) -> None:
        if not self.failures:
            return
        assert self.abi.fails, self.function.name
        self.start("fail")
        pairs = ", ".join(f"[ {status}, %{label} ]" for label, status in self.failures)
        status = self.let(f"phi i32 {pairs}", "status")
        result = self.let(f"insertvalue {self.abi.result} poison, i32 {status}, 0", "failed")
        self.emit(f"ret {self.abi.result} {result}")

    def check_depth(self) -> None:
        """Recursive functions compare the native stack with the limit of the thread."""
        here = self.let(f"call ptr {self.module.intrinsic('llvm.frameaddress.p0', 'ptr', 'i32 immarg')}(i32 0)", "sp")
        limit = self.field("ptr", "%ctx", runtime.CTX.stack_limit, "ctx", "limit")
        self.check(self.let(f"icmp ugt ptr {here}, {limit}", "deep"), self.site(*TOO_DEEP))

    def op_guard(self, instr: Instr) -> None:
        condition, *details = instr.operands
        holds = self.value(condition)
        site = self.site(instr.attrs["exc"], instr.attrs.get("message", ""), tuple(v.type for v in details))
        if not details:
            self.check(holds, site)
            return
        go_on, cold = self.name("ok"), self.name("error")
        self.branch(holds, go_on, cold, likely=True)
        self.start(cold)
        self.save_error_values(details)
        self.fail(site)
        self.start(go_on)

    def save_error_values(self, values: list[Value]) -> None:
        for index, value in enumerate(values[: runtime.CTX.error_slots]):
            type, component = self.llvm_type(value), self.value(value)
            if type == "i1":
                type, component = "i8", self.let(f"zext i1 {component} to i8")
            self.set_field(type, component, "%ctx", runtime.CTX.error + 8 * index, "ctx")

    def op_raise(self, instr: Instr) -> None:
        self.save_error_values(instr.operands)
        types = tuple(v.type for v in instr.operands)
        self.fail(self.site(instr.attrs["exc"], instr.attrs.get("message", ""), types))

    # -------------------------------------------------------------------------------------- terminators

    def edge(self, target: Target, split: bool) -> str:
        """Record the edge from the present block; gives the label to jump to."""
        args = [self.components_of(a) for a in target.args]
        label, destination = self.label, self.labels[target.block]
        if split:
            label = self.name("edge")
            self.split_edges.append((label, destination))
            destination = label
        self.edges.setdefault(target.block, []).append((label, args))
        return destination

    def jump_to(self, instr: Instr, template: Callable[[list[str]], str]) -> None:
        """A terminator with several targets; two edges to one block are told apart by blocks of their own."""
        blocks = [t.block for t in instr.targets]
        self.split_edges: list[tuple[str, str]] = []
        destinations = [self.edge(t, bool(t.args) and blocks.count(t.block) > 1) for t in instr.targets]
        self.emit(template(destinations))
        for label, destination in self.split_edges:
            self.start(label)
            self.jump(destination)

    def op_jump(self, instr: Instr) -> None:
        self.jump_to(instr, lambda to: f"br label %{to[0]}")

    def op_branch(self, instr: Instr) -> None:
        condition = self.value(instr.operands[0])
        likely = instr.attrs.get("likely")
        weights = "" if likely is None else f", !prof !{self.module.likely if likely else self.module.unlikely}"
        if self.parallel:
            group = self.module.access_group()
            parallel = self.module.node(f'!{{!"llvm.loop.parallel_accesses", !{group}}}')
            weights += f", !llvm.loop !{self.module.node(f'!{{{SELF}, !{parallel}}}')}"
        self.jump_to(instr, lambda to: f"br i1 {condition}, label %{to[0]}, label %{to[1]}{weights}")

    def op_switch(self, instr: Instr) -> None:
        value = instr.operands[0]
        type, name = self.llvm_type(value), self.value(value)

        def template(to: list[str]) -> str:
            cases = " ".join(f"{type} {_case(number, type)}, label %{label}" for number, label in enumerate(to[:-1]))
            return f"switch {type} {name}, label %{to[-1]} [ {cases} ]"

        self.jump_to(instr, template)

    def op_return(self, instr: Instr) -> None:
        pairs = [("i32", "0")] if self.abi.fails else []
        for value in instr.operands:
            pairs += zip(value_types([value.type]), self.copied(value), strict=True)
        if not pairs:
            self.emit("ret void")
        elif not self.abi.fails and len(pairs) == 1:
            self.emit(f"ret {pairs[0][0]} {pairs[0][1]}")
        else:
            self.emit(f"ret {self.abi.result} {self.aggregate(self.abi.result, pairs)}")

    def op_unreachable(self, instr: Instr) -> None:
        self.emit("unreachable")

    # --------------------------------------------------------------------------------------- arithmetic

    def binary(self, instr: Instr) -> str:
        x, y = instr.operands
        scalar, type = _scalar(x)
        template = BINARY[instr.op].get(scalar.kind)
        if template is None:
            raise LoweringError(f"{instr.op} on {scalar}")
        nsw = "nsw " if instr.attrs.get("nsw") else ""
        text = template.replace("{F}", self.flags(instr)).replace("{N}", nsw).replace("{T}", type)
        return self.let(f"{text} {self.value(x)}, {self.value(y)}", instr.result.name)

    def checked(self, operation: str, x: str, y: str) -> str:
        both = self.with_overflow(operation, x, y)
        overflow = self.let(f"extractvalue {{i64, i1}} {both}, 1")
        self.check(self.let(f"xor i1 {overflow}, true"), self.site(*INT_OVERFLOW))
        return self.let(f"extractvalue {{i64, i1}} {both}, 0", self.instr.results[0].name)

    def with_overflow(self, operation: str, x: str, y: str) -> str:
        name = self.module.intrinsic(f"llvm.{operation}.with.overflow.i64", "{i64, i1}", "i64, i64")
        return self.let(f"call {{i64, i1}} {name}(i64 {x}, i64 {y})")

    def op_cneg(self, instr: Instr) -> None:
        self.define(instr, [self.checked("ssub", "0", self.value(instr.operands[0]))])

    def op_ipow(self, instr: Instr) -> None:
        x, n = instr.operands
        if isinstance(n, Const) and n.value == 2:
            self.define(instr, [self.checked("smul", self.value(x), self.value(x))])
            return
        callee = self.module.external("zyg_ipow", "{i64, i1}", "i64, i64", MATH)
        both = self.call("{i64, i1}", callee, self.typed(x), self.typed(n), attributes=MATH)
        overflow = self.let(f"extractvalue {{i64, i1}} {both}, 1")
        self.check(self.let(f"xor i1 {overflow}, true"), self.site(*INT_OVERFLOW))
        self.define(instr, [self.let(f"extractvalue {{i64, i1}} {both}, 0", instr.result.name)])

    def op_neg(self, instr: Instr) -> None:
        scalar, type = _scalar(instr.operands[0])
        x = self.value(instr.operands[0])
        text = f"fneg {self.flags(instr)}{type} {x}" if scalar.kind == "f" else f"sub {type} 0, {x}"
        self.define(instr, [self.let(text, instr.result.name)])

    def op_abs(self, instr: Instr) -> None:
        scalar, type = _scalar(instr.operands[0])
        x = self.value(instr.operands[0])
        if scalar.kind == "u":
            self.define(instr, [x])
        elif scalar.kind == "f":
            name = self.module.intrinsic(f"llvm.fabs.{_suffix(type)}", type, type)
            self.define(instr, [self.let(f"call {self.flags(instr)}{type} {name}({type} {x})", instr.result.name)])
        else:
            name = self.module.intrinsic(f"llvm.abs.{type}", type, f"{type}, i1 immarg")
            self.define(instr, [self.let(f"call {type} {name}({type} {x}, i1 false)", instr.result.name)])

    def op_fmin(self, instr: Instr) -> None:
        self.define(instr, [self.extremum(instr, "olt")])

    def op_fmax(self, instr: Instr) -> None:
        self.define(instr, [self.extremum(instr, "ogt")])

    def extremum(self, instr: Instr, comparison: str) -> str:
        """y if it is better, or if x is a nan; LLVM's own minnum leaves open which zero comes out."""
        x, y = map(self.value, instr.operands)
        type, fast = self.llvm_type(instr.operands[0]), self.flags(instr)
        better = self.let(f"fcmp {fast}{comparison} {type} {y}, {x}")
        chosen = self.let(f"select {fast}i1 {better}, {type} {y}, {type} {x}")
        nan = self.let(f"fcmp {fast}uno {type} {x}, {x}")
        return self.let(f"select {fast}i1 {nan}, {type} {y}, {type} {chosen}", instr.result.name)

    def op_not(self, instr: Instr) -> None:
        self.define(instr, [self.let(f"xor i1 {self.value(instr.operands[0])}, true", instr.result.name)])

    def op_invert(self, instr: Instr) -> None:
        self.define(instr, [self.let(f"xor {self.typed(instr.operands[0])}, -1", instr.result.name)])

    def op_shl(self, instr: Instr) -> None:
        # LLVM leaves a shift by 64 or more open; all bits are lost then.
        x, n = instr.operands
        shifted = self.let(f"shl {self.typed(x)}, {self.value(n)}")
        type = self.llvm_type(x)
        fits = self.let(f"icmp ult {type} {self.value(n)}, {type[1:]}")
        self.define(instr, [self.let(f"select i1 {fits}, {type} {shifted}, {type} 0", instr.result.name)])

    def op_shr(self, instr: Instr) -> None:
        x, n = instr.operands
        operation = "lshr" if x.type is U8 else "ashr"
        self.define(instr, [self.let(f"{operation} {self.typed(x)}, {self.value(n)}", instr.result.name)])

    def op_select(self, instr: Instr) -> None:
        condition, x, y = instr.operands
        c = self.value(condition)
        types = component_types([x.type])
        fast = self.flags(instr) if types[0] in ("double", "float") else ""
        self.define(
            instr,
            [
                self.let(f"select {fast}i1 {c}, {t} {a}, {t} {b}", instr.result.name)
                for t, a, b in zip(types, self.components_of(x), self.components_of(y), strict=True)
            ],
        )

    def op_slope(self, instr: Instr) -> None:
        self.define(instr, self.components_of(instr.operands[0]))

    def op_stop(self, instr: Instr) -> None:
        self.define(instr, self.components_of(instr.operands[0]))

    def op_undefined(self, instr: Instr) -> None:
        # Stacks are empty and arrays are nobody's, since both may be released; all else is never looked at.
        null = isinstance(instr.result.type, (Stack, Tape))
        parts = components(instr.result.type)
        self.define(instr, ["null" if null or suffix == ".o" else "poison" for suffix, _ in parts])

    def op_cast(self, instr: Instr) -> None:
        value = instr.operands[0]
        self.define(instr, [self.cast(self.value(value), *_scalars(value, instr.result), instr.result.name)])

    def cast(self, x: str, source: Scalar, target: Scalar, hint: str = "t") -> str:
        """Between scalar types, as C has it; to bool by comparison with zero."""
        if source is target:
            return x
        a, b = SCALAR_TYPES[source], SCALAR_TYPES[target]
        if target is BOOL:
            zero = literal(0, source)
            return self.let(f"fcmp une {a} {x}, {zero}" if source.kind == "f" else f"icmp ne {a} {x}, {zero}", hint)
        if source.kind == "f" and target.kind == "f":
            return self.let(f"{'fptrunc' if target is F32 else 'fpext'} {a} {x} to {b}", hint)
        if source.kind == "f":
            # Out of range the result is unspecified, but `freeze` makes it one value instead of undefined behaviour.
            number = self.let(f"{'fptoui' if target.kind == 'u' else 'fptosi'} {a} {x} to {b}")
            return self.let(f"freeze {b} {number}", hint)
        unsigned = source.kind in "ub"
        if target.kind == "f":
            return self.let(f"{'uitofp' if unsigned else 'sitofp'} {a} {x} to {b}", hint)
        if target.bits > source.bits:
            return self.let(f"{'zext' if unsigned else 'sext'} {a} {x} to {b}", hint)
        return self.let(f"trunc {a} {x} to {b}", hint) if target.bits < source.bits else x

    def op_floordiv(self, instr: Instr) -> None:
        x, y = instr.operands
        scalar, type = _scalar(x)
        if scalar.kind == "f":
            self.define(instr, [self.float_divmod(x, y)[0]])
        elif scalar.kind == "u":
            self.define(instr, [self.let(f"udiv {self.typed(x)}, {self.value(y)}", instr.result.name)])
        elif isinstance(y, Const) and y.value > 0 and y.value & (y.value - 1) == 0:
            shift = y.value.bit_length() - 1
            self.define(instr, [self.let(f"ashr {self.typed(x)}, {shift}", instr.result.name)])
        else:
            # The quotient towards zero, less one if there is a remainder of the other sign.  -2**63 // -1 wraps.
            a, b = self.value(x), self.value(y)
            minus_one = self.let(f"icmp eq {type} {b}, -1")
            safe = self.let(f"select i1 {minus_one}, {type} 1, {type} {b}")
            quotient = self.let(f"sdiv {type} {a}, {safe}")
            remainder = self.let(f"srem {type} {a}, {safe}")
            inexact = self.let(f"icmp ne {type} {remainder}, 0")
            signs = self.let(f"xor {type} {remainder}, {b}")
            differ = self.let(f"icmp slt {type} {signs}, 0")
            lower = self.let(f"and i1 {inexact}, {differ}")
            less = self.let(f"sext i1 {lower} to {type}")
            floored = self.let(f"add {type} {quotient}, {less}")
            negated = self.let(f"sub {type} 0, {a}")
            text = f"select i1 {minus_one}, {type} {negated}, {type} {floored}"
            self.define(instr, [self.let(text, instr.result.name)])

    def op_mod(self, instr: Instr) -> None:
        x, y = instr.operands
        scalar, type = _scalar(x)
        if scalar.kind == "f":
            self.define(instr, [self.float_divmod(x, y)[1]])
        elif scalar.kind == "u":
            self.define(instr, [self.let(f"urem {self.typed(x)}, {self.value(y)}", instr.result.name)])
        elif isinstance(y, Const) and y.value > 0 and y.value & (y.value - 1) == 0:
            self.define(instr, [self.let(f"and {self.typed(x)}, {y.value - 1}", instr.result.name)])
        else:
            a, b = self.value(x), self.value(y)
            minus_one = self.let(f"icmp eq {type} {b}, -1")
            safe = self.let(f"select i1 {minus_one}, {type} 1, {type} {b}")
            remainder = self.let(f"srem {type} {a}, {safe}")
            inexact = self.let(f"icmp ne {type} {remainder}, 0")
            signs = self.let(f"xor {type} {remainder}, {safe}")
            differ = self.let(f"icmp slt {type} {signs}, 0")
            other = self.let(f"and i1 {inexact}, {differ}")
            more = self.let(f"select i1 {other}, {type} {safe}, {type} 0")
            self.define(instr, [self.let(f"add {type} {remainder}, {more}", instr.result.name)])

    def float_divmod(self, x: Value, y: Value) -> tuple[str, str]:
        """Quotient and remainder as CPython's float_divmod computes them; y is not 0."""
        type = self.llvm_type(x)
        a, b = self.value(x), self.value(y)
        zero, one, half = (literal(c, x.type) for c in (0.0, 1.0, 0.5))
        name = "fmodf" if x.type is F32 else "fmod"
        fmod = self.module.external(name, type, f"{type}, {type}", MATH)
        r = self.call(type, fmod, f"{type} {a}", f"{type} {b}", attributes=MATH)
        q = self.let(f"fsub {type} {a}, {r}")
        q = self.let(f"fdiv {type} {q}, {b}")
        exact = self.let(f"fcmp oeq {type} {r}, {zero}")
        negative_y = self.let(f"fcmp olt {type} {b}, {zero}")
        negative_r = self.let(f"fcmp olt {type} {r}, {zero}")
        differ = self.let(f"xor i1 {negative_y}, {negative_r}")
        adjusted = self.let(f"fadd {type} {r}, {b}")
        less = self.let(f"fsub {type} {q}, {one}")
        adjusted = self.let(f"select i1 {differ}, {type} {adjusted}, {type} {r}")
        less = self.let(f"select i1 {differ}, {type} {less}, {type} {q}")
        signed_zero = self.math_intrinsic("copysign", type, zero, b)
        remainder = self.let(f"select i1 {exact}, {type} {signed_zero}, {type} {adjusted}", self.instr.result.name)
        q = self.let(f"select i1 {exact}, {type} {q}, {type} {less}")
        floored = self.math_intrinsic("floor", type, q)
        gap = self.let(f"fsub {type} {q}, {floored}")
        nearer = self.let(f"fcmp ogt {type} {gap}, {half}")
        up = self.let(f"fadd {type} {floored}, {one}")
        floored = self.let(f"select i1 {nearer}, {type} {up}, {type} {floored}")
        ratio = self.let(f"fdiv {type} {a}, {b}")
        signed_zero = self.math_intrinsic("copysign", type, zero, ratio)
        is_zero = self.let(f"fcmp oeq {type} {q}, {zero}")
        quotient = self.let(f"select i1 {is_zero}, {type} {signed_zero}, {type} {floored}", self.instr.result.name)
        return quotient, remainder

    # -------------------------------------------------------------------------------------- mathematics

    def math_intrinsic(self, name: str, type: str, *args: str, flags: str = "", hint: str = "t") -> str:
        callee = self.module.intrinsic(f"llvm.{name}.{_suffix(type)}", type, ", ".join([type] * len(args)))
        return self.let(f"call {flags}{type} {callee}({', '.join(f'{type} {a}' for a in args)})", hint)

    def intrinsic_math(self, instr: Instr) -> str:
        args = [self.value(v) for v in instr.operands]
        type = self.llvm_type(instr.operands[0])
        return self.math_intrinsic(INTRINSICS[instr.op], type, *args, flags=self.flags(instr), hint=instr.result.name)

    def library_math(self, instr: Instr) -> str:
        name = instr.op
        single = instr.operands[0].type is F32
        type = self.llvm_type(instr.operands[0])
        args = [self.typed(v) for v in instr.operands]
        called = _C_NAMES.get(name, name) + "f" * single
        if name == "pow" and not instr.attrs.get("fast"):
            # By its own name LLVM would make pow(x, 2.0) x * x, which differs in the last bit for some x.
            called = "zyg_" + called
        callee = self.module.external(called, type, ", ".join([type] * len(args)), MATH)
        attributes = MATH
        if instr.attrs.get("vectormath"):
            attributes += self.vector_attribute(called, name, len(args), single)
        group = self.module.group(attributes)
        return self.let(f"call {self.flags(instr)}{type} {callee}({', '.join(args)}) {group}", instr.result.name)

    def vector_attribute(self, called: str, name: str, arity: int, single: bool) -> str:
        """Names the vector variants of the function, so that a vectorised loop calls them."""
        variants = self.vector_variants(name, arity, single)
        if not variants:
            return ""
        lane = "float" if single else "double"
        entries = []
        for lanes, vector_name in variants:
            vector = f"<{lanes} x {lane}>"
            arguments = ", ".join([vector] * arity)
            declaration = f"declare {vector} @{vector_name}({arguments}) {self.module.group(MATH)}"
            self.module.vector_symbols[vector_name] = declaration
            entries.append(f"_ZGV_LLVM_N{lanes}{'v' * arity}_{called}({vector_name})")
        return f' "vector-function-abi-variant"="{",".join(entries)}"'

    def own_math(self, instr: Instr) -> str:
        """Functions of our own, in double precision."""
        name = "zyg_" + instr.op
        callee = self.module.external(name, "double", ", ".join(["double"] * OWN_MATH[instr.op]), MATH)
        args = []
        for operand in instr.operands:
            scalar, _ = _scalar(operand)
            args.append("double " + self.cast(self.value(operand), scalar, F64))
        result = self.call("double", callee, *args, attributes=MATH, hint=instr.result.name)
        return self.cast(result, F64, _scalar(instr.operands[0])[0])

    # -------------------------------------------------------------------------------------------- calls

    def op_call(self, instr: Instr) -> None:
        callee = self.lowered.signatures.get(instr.attrs["callee"])
        if callee is None:
            raise LoweringError(f"call of unknown function {instr.attrs['callee']}")
        args = ["ptr %ctx"] if callee.needs_ctx else []
        for value in instr.operands:
            types = component_types([value.type])
            args += [f"{t} {c}" for t, c in zip(types, self.components_of(value), strict=True)]
        status, parts = callee.call(self, args)
        if status is not None:
            self.check_status(status)
        index = 0
        for value in instr.results:
            count = len(components(by_value(value.type)))
            self.bind_copied(value, parts[index : index + count])
            index += count

    def op_checkpoint(self, instr: Instr) -> None:
        """It concerns differentiation only."""

    def op_poll(self, instr: Instr) -> None:
        """Adds up the work in the context; every so often the runtime looks at signals and lets other threads run."""
        done = self.field("i64", "%ctx", runtime.CTX.work, "ctx")
        done = self.let(f"add i64 {done}, {self.value(instr.operands[0])}")
        self.set_field("i64", done, "%ctx", runtime.CTX.work, "ctx")
        go_on, slow = self.name("polled"), self.name("poll")
        self.branch(self.let(f"icmp slt i64 {done}, {runtime.POLL_WORK}"), go_on, slow, likely=True)
        self.start(slow)
        callee = self.module.external("zyg_poll", "i32", "ptr", RUNTIME)
        self.check_status(self.call("i32", callee, "ptr %ctx", attributes="cold"))
        self.jump(go_on)
        self.start(go_on)

    def op_pycall(self, instr: Instr) -> None:
        take = self.module.external("zyg_gil_take", "void", "ptr", RUNTIME)
        self.call("void", take, "ptr %ctx")
        function = self.object(instr.attrs["callable"])
        leaves = [c for v in instr.operands for c in self.components_of(v)]
        failed = self.name("pycall_failed")
        result = self.boxing.call(function, instr.attrs["arguments"], leaves, "%ctx", failed)
        values = self.boxing.unbox_result(result, instr.attrs["result"], "%ctx", failed)
        self.boxing.pin_arrays(flatten(instr.attrs["result"]), values, "%ctx", failed)
        self.boxing.release_slots()
        go_on = self.name("ok")
        self.jump(go_on)
        self.start(failed)
        self.boxing.release_slots()
        self.boxing.slots.clear()
        self.fail("-1")
        self.start(go_on)
        index = 0
        for value in instr.results:
            count = len(components(value.type))
            self.bind(value, values[index : index + count])
            index += count

    def object(self, value: object) -> str:
        """A borrowed reference to a Python object that the compiled code keeps."""
        objects = self.lowered.objects
        index = next((k for k, o in enumerate(objects) if o is value), len(objects))
        if index == len(objects):
            objects.append(value)
        table = self.module.external("zyg_objects")
        return self.field("ptr", table, 8 * index, "", "object")

    # ------------------------------------------------------------------------------------------- arrays

    def array(self, value: Value) -> ArrayParts:
        assert isinstance(value.type, Array)
        return ArrayParts(value.type, self.components_of(value))

    def strides(self, a: ArrayParts) -> list[str]:
        """Strides in bytes; those of layout C follow from the shape."""
        if a.type.layout != "C":
            return a.strides
        strides = [str(SIZES[a.type.dtype])]
        for extent in reversed(a.shape[1:]):
            strides.append(self.product(strides[-1], extent))
        return strides[::-1] if a.type.ndim else []

    def product(self, x: str, y: str) -> str:
        if x == "1":
            return y
        if y == "1":
            return x
        return self.let(f"mul nsw i64 {x}, {y}")

    def size(self, a: ArrayParts) -> str:
        total = "1"
        for extent in a.shape:
            total = self.product(total, extent)
        return total

    def element(self, a: ArrayParts, indices: list[str]) -> str:
        """The address of an element, which is in bounds."""
        if not indices:
            return a.data
        if a.type.layout == "C":
            linear = indices[0]
            for extent, index in zip(a.shape[1:], indices[1:], strict=True):
                row = self.let(f"mul nsw i64 {linear}, {extent}")
                linear = self.let(f"add nsw i64 {row}, {index}")
            return self.let(f"getelementptr inbounds {MEMORY_TYPES[a.type.dtype]}, ptr {a.data}, i64 {linear}", "p")
        address = a.data
        for stride, index in zip(a.strides, indices, strict=True):
            offset = self.let(f"mul nsw i64 {index}, {stride}")
            address = self.let(f"getelementptr inbounds i8, ptr {address}, i64 {offset}", "p")
        return address

    def load(self, address: str, dtype: Scalar, annotation: str, hint: str = "t") -> str:
        value = self.let(f"load {MEMORY_TYPES[dtype]}, ptr {address}{annotation}", hint)
        return self.let(f"icmp ne i8 {value}, 0", hint) if dtype is BOOL else value

    def store(self, value: str, address: str, dtype: Scalar, annotation: str) -> None:
        if dtype is BOOL:
            value = self.let(f"zext i1 {value} to i8")
        self.emit(f"store {MEMORY_TYPES[dtype]} {value}, ptr {address}{annotation}")

    def memory(self, array: Value) -> str:
        """Annotations of an access to an array's elements."""
        parallel = f", !llvm.access.group !{self.module.access_group()}" if self.parallel else ""
        return self.module.tag("array") + self.scopes.annotation(array) + parallel

    def op_load(self, instr: Instr) -> None:
        a = self.array(instr.operands[0])
        address = self.element(a, [self.value(i) for i in instr.operands[1:]])
        annotation = self.memory(instr.operands[0])
        self.define(instr, [self.load(address, a.type.dtype, annotation, instr.result.name)])

    def op_store(self, instr: Instr) -> None:
        array, value, *indices = instr.operands
        a = self.array(array)
        address = self.element(a, [self.value(i) for i in indices])
        self.store(self.value(value), address, a.type.dtype, self.memory(array))

    def op_accum(self, instr: Instr) -> None:
        array, value, *indices = instr.operands
        a = self.array(array)
        address = self.element(a, [self.value(i) for i in indices])
        self.accumulate(address, a.type.dtype, self.value(value), self.memory(array), self.flags(instr))

    def accumulate(self, address: str, dtype: Scalar, value: str, annotation: str, flags: str = "") -> None:
        old = self.load(address, dtype, annotation)
        operation = f"fadd {flags}" if dtype.kind == "f" else "or " if dtype is BOOL else "add "
        self.store(self.let(f"{operation}{SCALAR_TYPES[dtype]} {old}, {value}"), address, dtype, annotation)

    def op_dim(self, instr: Instr) -> None:
        self.define(instr, [self.array(instr.operands[0]).shape[instr.attrs["axis"]]])

    def op_stride(self, instr: Instr) -> None:
        self.define(instr, [self.strides(self.array(instr.operands[0]))[instr.attrs["axis"]]])

    def op_alloc(self, instr: Instr) -> None:
        type = instr.result.type
        assert isinstance(type, Array)
        shape = [self.value(v) for v in instr.operands]
        size, overflows = str(SIZES[type.dtype]), []
        for extent in shape:
            both = self.with_overflow("umul", size, extent)
            size = self.let(f"extractvalue {{i64, i1}} {both}, 0")
            overflows.append(self.let(f"extractvalue {{i64, i1}} {both}, 1"))
        if len(overflows) > 1:
            # A length of 0 makes the array empty however long the others are; NumPy refuses these as we do.
            self.check_none(overflows, self.site(*TOO_BIG))
        elif overflows:
            self.check_none(overflows, self.site(*NO_MEMORY))
        zeroed = "true" if instr.attrs.get("fill") == "zeros" else "false"
        callee = self.module.external("zyg_array_new", "ptr", "ptr, i64, i1", ARENA)
        header = self.call("ptr", callee, "ptr %ctx", f"i64 {size}", f"i1 {zeroed}", hint="header")
        self.check(self.let(f"icmp ne ptr {header}, null"), self.site(*NO_MEMORY))
        data = self.field("ptr", header, runtime.HEADER.data, "header", (instr.result.name or "a") + ".d")
        parts = [data, header, *shape]
        if type.layout != "C":
            parts += self.strides(ArrayParts(Array(type.dtype, type.ndim), parts))
        self.define(instr, parts)

    def check_none(self, bits: list[str], status: str) -> None:
        any_bit = bits[0]
        for bit in bits[1:]:
            any_bit = self.let(f"or i1 {any_bit}, {bit}")
        self.check(self.let(f"xor i1 {any_bit}, true"), status)

    def op_view(self, instr: Instr) -> None:
        a = self.array(instr.operands[0])
        operands = [self.value(v) for v in instr.operands[1:]]
        type = instr.result.type
        assert isinstance(type, Array)
        data, shape, strides = a.data, [], []
        for letter, extent, stride in zip(instr.attrs["spec"], a.shape, self.strides(a), strict=True):
            if letter == ":":
                shape.append(extent)
                strides.append(stride)
                continue
            # Not inbounds: an empty slice may start one past the end.
            offset = self.let(f"mul i64 {operands.pop(0)}, {stride}")
            data = self.let(f"getelementptr i8, ptr {data}, i64 {offset}", (instr.result.name or "view") + ".d")
            if letter == "s":
                shape.append(operands.pop(0))
                strides.append(self.product(stride, operands.pop(0)))
        parts = [data, a.owner, *shape]
        self.define(instr, parts if type.layout == "C" else [*parts, *strides])

    def op_broadcast(self, instr: Instr) -> None:
        a = self.array(instr.operands[0])
        shape = [self.value(v) for v in instr.operands[1:]]
        missing = len(shape) - len(a.shape)
        strides = ["0"] * missing
        for extent, stride in zip(a.shape, self.strides(a), strict=True):
            strides.append(self.let(f"select i1 {self.let(f'icmp eq i64 {extent}, 1')}, i64 0, i64 {stride}"))
        self.define(instr, [a.data, a.owner, *shape, *strides])

    def op_reshape(self, instr: Instr) -> None:
        a = self.array(instr.operands[0])
        type = instr.result.type
        assert isinstance(type, Array)
        shape = [self.value(v) for v in instr.operands[1:]]
        parts = [a.data, a.owner, *shape]
        if type.layout != "C":
            parts += self.strides(ArrayParts(Array(type.dtype, type.ndim), parts))
        self.define(instr, parts)

    def op_fill(self, instr: Instr) -> None:
        array, value = instr.operands
        a, v, annotation = self.array(array), self.value(value), self.memory(instr.operands[0])
        self.each_element([a], lambda at: self.store(v, at[0], a.type.dtype, annotation))

    def op_addto(self, instr: Instr) -> None:
        target, source = instr.operands
        a, b = self.array(target), self.array(source)

        def add(at: list[str]) -> None:
            value = self.load(at[1], b.type.dtype, self.memory(source))
            self.accumulate(at[0], a.type.dtype, value, self.memory(target), self.flags(instr))

        self.each_element([a, b], add)

    def op_copyto(self, instr: Instr) -> None:
        """As if by way of a temporary: memmove where both are contiguous, a real temporary where strides overlap."""
        target, source = instr.operands
        a, b = self.array(target), self.array(source)
        size = SIZES[a.type.dtype]
        if _copies_at_once(instr):
            length = self.product(self.size(a), str(size))
            self.memmove(a.data, b.data, length)
            return
        plain, careful, done = self.name("copy"), self.name("overlapping"), self.name("copied")
        self.branch(self.overlap(a, b), careful, plain, likely=False)
        self.start(careful)
        length = self.product(self.size(b), str(size))
        callee = self.module.external("zyg_array_new", "ptr", "ptr, i64, i1", ARENA)
        header = self.call("ptr", callee, "ptr %ctx", f"i64 {length}", "i1 false", hint="header")
        self.check(self.let(f"icmp ne ptr {header}, null"), self.site(*NO_MEMORY))
        data = self.field("ptr", header, runtime.HEADER.data, "header")
        temporary = ArrayParts(Array(a.type.dtype, a.type.ndim), [data, header, *b.shape])
        self.copy_elements(temporary, b)
        self.copy_elements(a, temporary)
        self.release(header)
        self.jump(done)
        self.start(plain)
        self.copy_elements(a, b, self.memory(target), self.memory(source))
        self.jump(done)
        self.start(done)

    def copy_elements(self, a: ArrayParts, b: ArrayParts, to: str = "", of: str = "") -> None:
        tag = self.module.tag("array")
        to, of = to or tag, of or tag
        self.each_element([a, b], lambda at: self.store(self.load(at[1], b.type.dtype, of), at[0], a.type.dtype, to))

    def memmove(self, to: str, source: str, length: str) -> None:
        name = self.module.intrinsic("llvm.memmove.p0.p0.i64", "void", "ptr, ptr, i64, i1 immarg")
        self.emit(f"call void {name}(ptr {to}, ptr {source}, i64 {length}, i1 false)")

    def each_element(self, arrays: list[ArrayParts], body: Callable[[list[str]], None]) -> None:
        """Loops over arrays of one shape; `body` gets the addresses of the elements."""
        flat = all(a.type.layout == "C" for a in arrays)
        shape = [self.size(arrays[0])] if flat else arrays[0].shape
        if flat:
            arrays = [ArrayParts(Array(a.type.dtype, 1), [a.data, a.owner, shape[0]]) for a in arrays]
        self.nest(shape, [], lambda indices: body([self.element(a, indices) for a in arrays]))

    def nest(self, shape: list[str], indices: list[str], body: Callable[[list[str]], None]) -> None:
        if not shape:
            body(indices)
            return
        head, inside, done = self.name("each"), self.name("element"), self.name("done")
        before = self.label
        self.jump(head)
        self.start(head)
        index, following = "%" + self.name("k"), "%" + self.name("k")
        place = len(self.lines)
        self.lines.append("")
        self.branch(self.let(f"icmp slt i64 {index}, {shape[0]}"), inside, done)
        self.start(inside)
        self.nest(shape[1:], [*indices, index], body)
        self.emit(f"{following} = add nuw nsw i64 {index}, 1")
        self.lines[place] = f"  {index} = phi i64 [ 0, %{before} ], [ {following}, %{self.label} ]"
        self.jump(head)
        self.start(done)

    def op_overlap(self, instr: Instr) -> None:
        a, b = map(self.array, instr.operands)
        meets, before = self.overlap(a, b), self.label
        look, done = self.name("look"), self.name("overlap")
        self.branch(meets, look, done, likely=False)
        self.start(look)
        shared = self.elements_overlap(a, b)
        self.jump(done)
        self.start(done)
        self.define(instr, [self.let(f"phi i1 [ false, %{before} ], [ {shared}, %{look} ]", instr.result.name)])

    def elements_overlap(self, a: ArrayParts, b: ArrayParts) -> str:
        """Whether elements overlap too where ranges do: those of two columns of a matrix do not."""
        count = a.type.ndim + b.type.ndim
        table = self.alloca(f"[{max(1, count)} x i64]", "strides")
        steps = zip(a.shape + b.shape, self.strides(a) + self.strides(b), strict=True)
        for k, (extent, stride) in enumerate(steps):
            several = self.let(f"icmp sgt i64 {extent}, 1")
            self.set_field("i64", self.let(f"select i1 {several}, i64 {stride}, i64 0"), table, 8 * k)
        callee = self.module.external("zyg_apart", "i1", "ptr, ptr, i64, i64, ptr, i64", RUNTIME)
        sizes = [f"i64 {SIZES[x.type.dtype]}" for x in (a, b)]
        arguments = [f"ptr {a.data}", f"ptr {b.data}", *sizes, f"ptr {table}", f"i64 {count}"]
        return self.let(f"xor i1 {self.call('i1', callee, *arguments)}, true")

    def overlap(self, a: ArrayParts, b: ArrayParts) -> str:
        """Whether the address ranges from first to last element intersect."""
        (a_low, a_high), (b_low, b_high) = self.extent(a), self.extent(b)
        first = self.let(f"icmp ult ptr {a_low}, {b_high}")
        second = self.let(f"icmp ult ptr {b_low}, {a_high}")
        both = self.let(f"and i1 {first}, {second}")
        for extent in a.shape + b.shape:
            filled = self.let(f"icmp ne i64 {extent}, 0")
            both = self.let(f"and i1 {both}, {filled}")
        return both

    def extent(self, a: ArrayParts) -> tuple[str, str]:
        """The first address, and that after the last, of an array that is not empty."""
        low = high = a.data
        if a.type.layout == "C":
            length = self.product(self.size(a), str(SIZES[a.type.dtype]))
            return low, self.let(f"getelementptr i8, ptr {high}, i64 {length}")
        for extent, stride in zip(a.shape, a.strides, strict=True):
            last = self.let(f"sub i64 {extent}, 1")
            span = self.let(f"mul i64 {last}, {stride}")
            backwards = self.let(f"icmp slt i64 {span}, 0")
            down = self.let(f"select i1 {backwards}, i64 {span}, i64 0")
            up = self.let(f"select i1 {backwards}, i64 0, i64 {span}")
            low = self.let(f"getelementptr i8, ptr {low}, i64 {down}")
            high = self.let(f"getelementptr i8, ptr {high}, i64 {up}")
        return low, self.let(f"getelementptr i8, ptr {high}, i64 {SIZES[a.type.dtype]}")

    def op_same(self, instr: Instr) -> None:
        a, b = map(self.array, instr.operands)
        result = self.let(f"icmp eq ptr {a.data}, {b.data}")
        pairs = list(zip(a.shape, b.shape)) + list(zip(self.strides(a), self.strides(b)))
        for x, y in pairs:
            equal = self.let(f"icmp eq i64 {x}, {y}")
            result = self.let(f"and i1 {result}, {equal}")
        self.define(instr, [result])

    def op_retain(self, instr: Instr) -> None:
        callee = self.module.external("zyg_array_retain", "void", "ptr", RUNTIME)
        self.call("void", callee, f"ptr {self.array(instr.operands[0]).owner}")

    def op_release(self, instr: Instr) -> None:
        self.release(self.array(instr.operands[0]).owner)

    def release(self, owner: str) -> None:
        callee = self.module.external("zyg_array_release", "void", "ptr, ptr", RUNTIME)
        self.call("void", callee, "ptr %ctx", f"ptr {owner}")

    # ------------------------------------------------------------------------------------------- stacks

    def position(self, stack: Value) -> list[str]:
        """Where the three words of a stack or tape live: top, begin, end."""
        if isinstance(stack.type, Stack):
            return self.stacks[stack]
        pointer = self.value(stack)
        return [pointer, self.at(pointer, 8), self.at(pointer, 16)]

    def word_tag(self, stack: Value) -> str:
        return "" if isinstance(stack.type, Stack) else self.module.tag("tape")

    def stack_memory(self, stack: Value) -> str:
        return self.module.tag("stack") + self.scopes.annotation(stack)

    def op_stack(self, instr: Instr) -> None:
        self.define(instr, ["null", "null", "null"])

    def op_tape(self, instr: Instr) -> None:
        self.define(instr, [self.new_tape(["null", "null", "null"])])

    def op_cursor(self, instr: Instr) -> None:
        self.bind_copied(instr.result, self.copied(instr.operands[0]))

    def op_drop(self, instr: Instr) -> None:
        _, begin, _ = self.copied(instr.operands[0])
        callee = self.module.external("zyg_stack_drop", "void", "ptr, ptr", ARENA)
        self.call("void", callee, "ptr %ctx", f"ptr {begin}")

    def op_push(self, instr: Instr) -> None:
        stack, *values = instr.operands
        if isinstance(stack.type, Tape):
            layout = Record([v.type for v in values])
            size = -(-layout.size // 8) * 8
        else:
            layout = Record(_record_types(stack))
            size = layout.size
        top_slot, begin_slot, end_slot = self.position(stack)
        words, memory = self.word_tag(stack), self.stack_memory(stack)
        # First all components: those of a stack that is pushed are loads.
        parts = [c for v in values for c in self.copied(v)]
        top = self.let(f"load ptr, ptr {top_slot}{words}", "top")
        if not instr.attrs.get("unchecked"):
            top = self.make_room(top, begin_slot, end_slot, str(size), words)
        for (offset, type), part in zip(layout.fields, parts, strict=True):
            if type == "i1":
                type, part = "i8", self.let(f"zext i1 {part} to i8")
            self.emit(f"store {type} {part}, ptr {self.at(top, offset)}{memory}")
        self.emit(f"store ptr {self.at(top, size)}, ptr {top_slot}{words}")

    def make_room(self, top: str, begin_slot: str, end_slot: str, size: str, words: str) -> str:
        """The top of the stack, in a new chunk if this one has less than `size` bytes left."""
        begin = self.let(f"load ptr, ptr {begin_slot}{words}", "begin")
        end = self.let(f"load ptr, ptr {end_slot}{words}", "end")
        top_number = self.let(f"ptrtoint ptr {top} to i64")
        end_number = self.let(f"ptrtoint ptr {end} to i64")
        room = self.let(f"sub i64 {end_number}, {top_number}", "room")
        fits = self.let(f"icmp sge i64 {room}, {size}")
        go_on, grow, before = self.name("room"), self.name("grow"), self.label
        self.branch(fits, go_on, grow, likely=True)
        self.start(grow)
        chunk = "{ptr, ptr, ptr}"
        callee = self.module.external("zyg_stack_grow", chunk, "ptr, ptr, ptr, ptr, i64", ARENA)
        new = self.call(chunk, callee, "ptr %ctx", f"ptr {top}", f"ptr {begin}", f"ptr {end}", f"i64 {size}",
                        attributes="cold")  # fmt: skip
        new_top, new_begin, new_end = (self.let(f"extractvalue {chunk} {new}, {k}") for k in range(3))
        self.check(self.let(f"icmp ne ptr {new_top}, null"), self.site(*NO_MEMORY))
        self.emit(f"store ptr {new_begin}, ptr {begin_slot}{words}")
        self.emit(f"store ptr {new_end}, ptr {end_slot}{words}")
        grown = self.label
        self.jump(go_on)
        self.start(go_on)
        return self.let(f"phi ptr [ {top}, %{before} ], [ {new_top}, %{grown} ]", "top")

    def op_reserve(self, instr: Instr) -> None:
        stack, count = instr.operands
        top_slot, begin_slot, end_slot = self.position(stack)
        words = self.word_tag(stack)
        size = Record(_record_types(stack)).size
        both = self.with_overflow("smul", self.value(count), str(size))
        self.check_none([self.let(f"extractvalue {{i64, i1}} {both}, 1")], self.site(*NO_MEMORY))
        needed = self.let(f"extractvalue {{i64, i1}} {both}, 0")
        top = self.let(f"load ptr, ptr {top_slot}{words}", "top")
        top = self.make_room(top, begin_slot, end_slot, needed, words)
        self.emit(f"store ptr {top}, ptr {top_slot}{words}")

    def op_pop(self, instr: Instr) -> None:
        (stack,) = instr.operands
        types = [v.type for v in instr.results]
        if isinstance(stack.type, Tape):
            layout = Record(types)
            size = -(-layout.size // 8) * 8
        else:
            layout = Record(_record_types(stack))
            size = layout.size
        top_slot, begin_slot, end_slot = self.position(stack)
        words, memory = self.word_tag(stack), self.stack_memory(stack)
        top = self.let(f"load ptr, ptr {top_slot}{words}", "top")
        if not instr.attrs.get("unchecked"):
            top = self.go_back(top, begin_slot, end_slot, words)
        top = self.let(f"getelementptr inbounds i8, ptr {top}, i64 -{size}", "top")
        names = []
        for (offset, type), hint in zip(layout.fields, self.result_hints(instr), strict=True):
            address = self.at(top, offset)
            if type == "i1":
                byte = self.let(f"load i8, ptr {address}{memory}")
                names.append(self.let(f"trunc i8 {byte} to i1", hint))
            else:
                names.append(self.let(f"load {type}, ptr {address}{memory}", hint))
        self.emit(f"store ptr {top}, ptr {top_slot}{words}")
        index = 0
        for value in instr.results:
            count = len(components(by_value(value.type)))
            self.bind_copied(value, names[index : index + count])
            index += count

    def result_hints(self, instr: Instr) -> list[str]:
        return [(v.name or "v") + suffix for v in instr.results for suffix, _ in components(by_value(v.type))]

    def go_back(self, top: str, begin_slot: str, end_slot: str, words: str) -> str:
        """The top of the stack, in the chunk before if this one is read to its beginning."""
        begin = self.let(f"load ptr, ptr {begin_slot}{words}", "begin")
        more = self.let(f"icmp ne ptr {top}, {begin}")
        go_on, back, before = self.name("item"), self.name("back"), self.label
        self.branch(more, go_on, back, likely=True)
        self.start(back)
        chunk = "{ptr, ptr, ptr}"
        callee = self.module.external("zyg_stack_back", chunk, "ptr", READS_STACK)
        new = self.call(chunk, callee, f"ptr {begin}", attributes="cold")
        new_top, new_begin, new_end = (self.let(f"extractvalue {chunk} {new}, {k}") for k in range(3))
        self.emit(f"store ptr {new_begin}, ptr {begin_slot}{words}")
        self.emit(f"store ptr {new_end}, ptr {end_slot}{words}")
        self.jump(go_on)
        self.start(go_on)
        return self.let(f"phi ptr [ {top}, %{before} ], [ {new_top}, %{back} ]", "top")

    def op_rewind(self, instr: Instr) -> None:
        stack, count = instr.operands
        top_slot, begin_slot, end_slot = self.position(stack)
        words = self.word_tag(stack)
        top = self.let(f"load ptr, ptr {top_slot}{words}", "top")
        go_on, some = self.name("rewound"), self.name("rewind")
        empty = self.let(f"icmp sle i64 {self.value(count)}, 0")
        self.branch(empty, go_on, some)
        self.start(some)
        top = self.go_back(top, begin_slot, end_slot, words)
        self.emit(f"store ptr {top}, ptr {top_slot}{words}")
        self.jump(go_on)
        self.start(go_on)


class ArrayParts:
    """The components of an array by name."""

    __slots__ = ("data", "owner", "shape", "strides", "type")

    def __init__(self, type: Array, parts: list[str]):
        self.type = type
        self.data, self.owner = parts[0], parts[1]
        self.shape = parts[2 : 2 + type.ndim]
        self.strides = parts[2 + type.ndim :]


class Scopes:
    """Alias scopes: which arrays and stacks of a function cannot overlap, by where their memory comes from.

    A root is an `alloc` (fresh memory, unlike any other), a `stack` (likewise), or an array parameter, which is
    distinct only where the function attribute "noalias" says so.  What is loaded from a stack or returned by a call may
    be anything, and gets no annotation.
    """

    UNKNOWN = None

    def __init__(self, module: ModuleText, function: Function):
        self.module = module
        self.roots: dict[Value, frozenset[object]] = {}
        self.numbers: dict[object, int] = {}
        self.annotations: dict[frozenset[object], str] = {}
        self.unknown = frozenset({self.UNKNOWN})
        distinct: list[object] = []
        noalias = bool(function.attrs.get("noalias"))
        for p in function.params:
            if isinstance(p.type, Array):
                self.roots[p] = frozenset({p if noalias else "parameters"})
                if noalias:
                    distinct.append(p)
        for instr in _instrs(function):
            if instr.op in ("alloc", "stack"):
                self.roots[instr.result] = frozenset({instr.result})
                distinct.append(instr.result)
        self.distinct = distinct
        parameters = any("parameters" in roots for roots in self.roots.values())
        if 0 < len(distinct) <= MAX_SCOPES and (len(distinct) > 1 or parameters):
            self.propagate(function)
            domain = module.node(f'!{{{SELF}, !"{_metadata_string(function.name)}"}}')
            for root in distinct:
                self.numbers[root] = module.node(f"!{{{SELF}, !{domain}}}")

    def propagate(self, function: Function) -> None:
        """Roots flow through views, selects and block arguments, to a fixpoint."""
        flows: list[tuple[Value, list[Value]]] = []
        incoming: dict[Value, list[Value]] = {}
        for block in function.blocks:
            for instr in block.instrs:
                for value in instr.results:
                    if not isinstance(value.type, (Array, Stack)) or value in self.roots:
                        continue
                    if instr.op in ("view", "reshape", "broadcast", "select", "cursor", "stop"):
                        flows.append((value, [v for v in instr.operands if isinstance(v.type, (Array, Stack))]))
                    else:
                        self.roots[value] = self.unknown
                for target in instr.targets:
                    for param, arg in zip(target.block.params, target.args):
                        if isinstance(param.type, (Array, Stack)):
                            incoming.setdefault(param, []).append(arg)
        flows += incoming.items()
        changed = True
        while changed:
            changed = False
            for value, sources in flows:
                new = frozenset().union(*(self.roots.get(s, frozenset()) for s in sources))
                if new != self.roots.get(value, frozenset()):
                    self.roots[value] = new
                    changed = True

    def annotation(self, value: Value) -> str:
        if not self.numbers:
            return ""
        roots = self.roots.get(value, self.unknown)
        known = self.annotations.get(roots)
        if known is None:
            known = self.annotations[roots] = self._annotation(roots)
        return known

    def _annotation(self, roots: frozenset[object]) -> str:
        if not roots or self.UNKNOWN in roots:
            return ""
        mine = [self.numbers[r] for r in self.distinct if r in roots]
        others = [self.numbers[r] for r in self.distinct if r not in roots]
        text = ""
        if mine and "parameters" not in roots:
            text += f", !alias.scope !{self._list(mine)}"
        if others:
            text += f", !noalias !{self._list(others)}"
        return text

    def _list(self, numbers: list[int]) -> int:
        return self.module.node("!{" + ", ".join(f"!{n}" for n in numbers) + "}")


def _record_types(stack: Value) -> tuple[Type, ...]:
    """The types of what one push puts on a stack: a tuple is a record of several values."""
    assert isinstance(stack.type, Stack)
    item = stack.type.item
    return item.items if isinstance(item, Tuple) else (item,)


def _metadata_string(text: str) -> str:
    return "".join(c if (c.isalnum() and c.isascii()) or c in "._" else "_" for c in text)


def _scalar(value: Value) -> tuple[Scalar, str]:
    if not isinstance(value.type, Scalar):
        raise LoweringError(f"{value!r} is not a machine scalar")
    return value.type, SCALAR_TYPES[value.type]


def _scalars(*values: Value) -> tuple[Scalar, Scalar]:
    x, y = (_scalar(v)[0] for v in values)
    return x, y


def _suffix(type: str) -> str:
    return {"double": "f64", "float": "f32"}[type]


def _case(number: int, type: str) -> str:
    return ("false", "true")[number] if type == "i1" else str(number)


LOWERED_OPS = frozenset(
    [*BINARY, *CHECKED, *INTRINSICS, *LIBM, *OWN_MATH]
    + [name.removeprefix("op_") for name in vars(FunctionLowering) if name.startswith("op_")]
)
__all__ = ["I64", "LOWERED_OPS", "ErrorSite", "FunctionABI", "Lowered", "LoweringError", "Record", "lower"]
