"""One function of typed SSA as LLVM text: blocks, values, failures.

The operations are in the other modules of this package.
"""

from __future__ import annotations

from typing import Any

from ....ir.analysis import reverse_postorder
from ....ir.core import Block, Const, Function, Instr, Target, Value
from ....ir.types import Array, Scalar, Stack, Tape, Type
from .. import runtime
from ..lowered import CodeEmitter, ErrorSite, Lowered, LoweringError, VectorMath
from ..text import SCALAR_TYPES, Places, component_types, components, literal
from .registry import lowering
from .scopes import Scopes

TOO_DEEP = ("RecursionError", "maximum recursion depth exceeded")
NO_MEMORY = ("MemoryError", "not enough memory")
_MANY_PARTS = 1000  # of results, times the ways in which they may fail


def scalar_type(value: Value) -> Scalar:
    if not isinstance(value.type, Scalar):
        raise LoweringError(f"{value!r} is not a machine scalar")
    return value.type


class FunctionLowering(CodeEmitter):
    """Lowers one function."""

    def __init__(self, lowered: Lowered, function: Function, recursive: bool, vector_variants: VectorMath):
        super().__init__(lowered, lowered.module)
        self.function = function
        self.recursive = recursive
        self.vector_variants = vector_variants
        self.abi = lowered.signatures[function.name]
        self.values: dict[Value, list[str]] = {}
        self.stacks: dict[Value, list[str]] = {}  # a stack's three allocas: top, begin, end of the chunk
        self.labels: dict[Block, str] = {}
        self.edges: dict[Block, list[tuple[str, list[list[str]]]]] = {}  # incoming: LLVM label, components of the args
        self.phi_places: dict[Block, tuple[int, list[Value]]] = {}
        self.phi_names: dict[Block, list[str]] = {}
        self.failures: list[tuple[str, str]] = []  # edges into the block that returns a status: label, status
        self.unmade: list[tuple[str, str, str]] = []  # arrays that were not made: label, status, instead
        self.instr = Instr("jump")
        self.parallel = False  # whether the block goes back in a loop of independent iterations
        self.scopes = Scopes(self.module, function, self.abi.symbol)
        self.places: Places | None = None

    def lower(self, linkage: str) -> None:
        f = self.function
        parameters = ["ptr %ctx"] if self.abi.needs_ctx else []
        if self.abi.needs_ctx:
            self.name("ctx")
        for label in ("entry", "fail", "unmade"):
            self.name(label)
        blocks = reverse_postorder(f)
        for block in blocks:
            self.labels[block] = self.name(block.name or "block") if block is not f.entry else "entry"
        starts: list[tuple[Value, list[str]]] = []
        apart = f.attrs.get("noalias", ())
        for k, p in enumerate(f.params):
            names = self.new_components(p)
            words = [f"{t} {n}" for n, t in zip(names, component_types([p.type]))]
            if k in apart:  # an array, whose data come first
                words[0] = words[0].replace("ptr", "ptr noalias", 1)
            parameters += words
            starts.append((p, names))
        parameters = self.abi.passed(parameters)
        for k, (p, names) in enumerate(starts):
            if k in f.attrs.get("pairs", ()):
                names = self.of_pairs(p, names)
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
        words = "nounwind"
        if self.recursive:
            words += ' "disable-tail-calls"="true"'
        if any(i.attrs.get("vectormath") for _, i in f.instructions()):
            # What vector registers hold over calls is kept on the stack, where it must not straddle two cache lines.
            words += ' "stackrealign"'
        if self.abi.symbol in self.lowered.inlined:
            words = f"alwaysinline {words}"
        if f.attrs.get("noinline"):
            words = f"noinline {words}"
        attributes = self.module.group(words)
        text = "\n".join([f"{head} {attributes}{subprogram} {{", "entry:", *self.allocas, *self.lines, "}"])
        self.module.functions.append(text)

    def of_pairs(self, v: Value, names: list[str]) -> list[str]:
        """The components of an array whose last axis is known to have two elements that lie together."""
        assert isinstance(v.type, Array)
        last = f"{v.type.ndim - 1}"
        known = {".n" + last: "2", ".s" + last: "8"}
        return [known.get(suffix, name) for (suffix, _), name in zip(components(v.type), names, strict=True)]

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
        lowering(instr.op).emit(self, instr)

    def insert_phis(self, blocks: list[Block]) -> None:
        """Block parameters become phis, once the LLVM blocks that jump there are known."""
        for block in reversed(blocks):
            if block is self.function.entry:
                continue
            place, params = self.phi_places[block]
            types = [t for p in params for t in self.types_of(p)]
            incoming = [(label, [c for arg in args for c in arg]) for label, args in self.edges.get(block, [])]
            phis = []
            for index, (name, type) in enumerate(zip(self.phi_names[block], types, strict=True)):
                pairs = ", ".join(f"[ {args[index]}, %{label} ]" for label, args in incoming)
                phis.append(f"  {name} = phi {type} {pairs}")
            self.lines[place:place] = phis

    def types_of(self, value: Value) -> list[str]:
        """The LLVM types of the components."""
        return component_types([value.type])

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

    def arguments(self, target: Target) -> list[list[str]]:
        """The components of what a jump passes."""
        return [self.components_of(a) for a in target.args]

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
        return SCALAR_TYPES[scalar_type(value)]

    def flags(self, instr: Instr) -> str:
        fast = instr.attrs.get("fast")
        return " ".join(sorted(fast)) + " " if fast else ""

    def site(self, exception: Any, message: str, types: tuple[Type, ...] = ()) -> str:
        """The status that stands for this error at the present position."""
        return str(self.lowered.status(ErrorSite(exception, message, self.instr.position, types)))

    def check(self, holds: str, status: str, go_on: str = "") -> None:
        """Go on if `holds`, at `go_on` if it is given, else return `status`."""
        if holds == "true":
            return
        go_on = go_on or self.name("ok")
        self.branch(holds, go_on, "fail", likely=True)
        self.failures.append((self.label, status))
        self.start(go_on)

    def check_made(self, header: str, no_memory: tuple[Any, str], too_big: tuple[Any, str]) -> None:
        """Go on with an array that was made; null and 1 stand for two errors."""
        status = self.lowered.two_statuses(*(ErrorSite(*what, self.instr.position) for what in (no_memory, too_big)))
        go_on = self.name("ok")
        self.branch(self.let(f"icmp ugt ptr {header}, inttoptr (i64 1 to ptr)"), go_on, "unmade", likely=True)
        self.unmade.append((self.label, str(status), header))
        self.start(go_on)

    def check_status(self, status: str, go_on: str = "") -> None:
        """Return a callee's status unless it is 0."""
        holds = self.let(f"icmp eq i32 {status}, 0")
        self.check(holds, status, go_on)

    def fail(self, status: str) -> None:
        self.jump("fail")
        self.failures.append((self.label, status))

    def write_failures(self) -> None:
        if self.unmade:
            # Which error it is is found out in one place for all of them, where nothing is in haste.
            self.start("unmade")
            statuses = ", ".join(f"[ {status}, %{label} ]" for label, status, _ in self.unmade)
            headers = ", ".join(f"[ {header}, %{label} ]" for label, _, header in self.unmade)
            first, header = self.let(f"phi i32 {statuses}", "status"), self.let(f"phi ptr {headers}", "header")
            second = self.let(f"zext i1 {self.let(f'icmp ne ptr {header}, null')} to i32")
            self.fail(self.let(f"add i32 {first}, {second}", "status"))
        if not self.failures:
            return
        assert self.abi.fails, self.function.name
        self.start("fail")
        pairs = ", ".join(f"[ {status}, %{label} ]" for label, status in self.failures)
        status = self.let(f"phi i32 {pairs}", "status")
        if len(self.failures) * len(self.function.results) > _MANY_PARTS:
            # LLVM would join whole results, one for each status, instead of the statuses: it does not see that this gives it back.
            status = self.let(f'call i32 asm "", "=r,0"(i32 {status})', "status")
        result = self.let(f"insertvalue {self.abi.result} poison, i32 {status}, 0", "failed")
        self.emit(f"ret {self.abi.result} {result}")

    def check_depth(self) -> None:
        """Recursive functions compare the native stack with the limit of the thread."""
        here = self.let(f"call ptr {self.module.intrinsic('llvm.frameaddress.p0', 'ptr', 'i32 immarg')}(i32 0)", "sp")
        limit = self.field("ptr", "%ctx", runtime.CTX.stack_limit, "ctx", "limit")
        self.check(self.let(f"icmp ugt ptr {here}, {limit}", "deep"), self.site(*TOO_DEEP))

    def with_overflow(self, operation: str, x: str, y: str) -> str:
        name = self.module.intrinsic(f"llvm.{operation}.with.overflow.i64", "{i64, i1}", "i64, i64")
        return self.let(f"call {{i64, i1}} {name}(i64 {x}, i64 {y})")

    def math_intrinsic(self, name: str, type: str, *args: str, flags: str = "", hint: str = "t") -> str:
        suffix = "f32" if type == "float" else "f64"
        callee = self.module.intrinsic(f"llvm.{name}.{suffix}", type, ", ".join([type] * len(args)))
        return self.let(f"call {flags}{type} {callee}({', '.join(f'{type} {a}' for a in args)})", hint)

    def check_none(self, bits: list[str], status: str) -> None:
        any_bit = bits[0]
        for bit in bits[1:]:
            any_bit = self.let(f"or i1 {any_bit}, {bit}")
        self.check(self.let(f"xor i1 {any_bit}, true"), status)

    def position(self, stack: Value) -> list[str]:
        """Where the three words of a stack or tape live: top, begin, end."""
        if isinstance(stack.type, Stack):
            return self.stacks[stack]
        pointer = self.value(stack)
        return [pointer, self.at(pointer, 8), self.at(pointer, 16)]
