"""Writing LLVM assembly as text: modules, functions in progress, types and layouts of values.

Strings are an order of magnitude faster than an object model of LLVM IR, and LLVM parses them in no time.  A
`ModuleText` collects what a module refers to (external symbols, metadata, attribute groups) while functions are
written; an `Emitter` appends instructions to one function.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from ...ir.core import Function, Position
from ...ir.dtypes import single
from ...ir.types import BOOL, F32, F64, I32, I64, U8, Array, Scalar, Stack, Tape, Type

SCALAR_TYPES = {F64: "double", F32: "float", I64: "i64", I32: "i32", U8: "i8", BOOL: "i1"}
MEMORY_TYPES = {F64: "double", F32: "float", I64: "i64", I32: "i32", U8: "i8", BOOL: "i8"}
SIZES = {F64: 8, F32: 4, I64: 8, I32: 4, U8: 1, BOOL: 1}

Component = tuple[str, str]  # name suffix, LLVM type

# Attributes of external functions.
MATH = "nounwind willreturn memory(none)"
RUNTIME = "nounwind"
# Reads and writes its arguments' memory and memory that compiled code never touches by itself.
ARENA = "nounwind memory(argmem: readwrite, inaccessiblemem: readwrite)"


@lru_cache(256)
def components(type: Type) -> tuple[Component, ...]:
    """What a value of an SSA type consists of in LLVM.

    >>> from zyg.ir.types import Array, F64
    >>> components(Array(F64, 1, "A"))
    (('.d', 'ptr'), ('.o', 'ptr'), ('.n0', 'i64'), ('.s0', 'i64'))
    """
    if isinstance(type, Scalar):
        return (("", SCALAR_TYPES[type]),)
    if isinstance(type, Array):
        shape = [(f".n{k}", "i64") for k in range(type.ndim)]
        strides = [(f".s{k}", "i64") for k in range(type.ndim)] if type.layout != "C" else []
        return (".d", "ptr"), (".o", "ptr"), *shape, *strides
    if isinstance(type, Stack):
        return (".t", "ptr"), (".b", "ptr"), (".e", "ptr")
    if isinstance(type, Tape):
        return ((".p", "ptr"),)  # where its three words are: calls share a tape
    raise TypeError(f"a value of type {type} cannot be compiled to machine code")


def component_types(types: Iterable[Type]) -> list[str]:
    return [t for type in types for _, t in components(type)]


def by_value(type: Type) -> Type:
    """What stands for a type where values are copied, in results and in memory: a tape is its three words there."""
    return Stack(F64) if isinstance(type, Tape) else type


def value_types(types: Iterable[Type]) -> list[str]:
    """The LLVM types of values that are copied."""
    return component_types(map(by_value, types))


class Record:
    """How several values lie in memory, in order: `fields` has (offset, LLVM type in registers) per component."""

    def __init__(self, types: Iterable[Type]):
        self.fields: list[tuple[int, str]] = []
        offset, widest = 0, 1
        for register in value_types(types):
            size = _REGISTER_SIZES[register]
            offset = -(-offset // size) * size
            self.fields.append((offset, register))
            offset += size
            widest = max(widest, size)
        self.size = -(-offset // widest) * widest
        self.align = widest


_REGISTER_SIZES = {"double": 8, "float": 4, "i64": 8, "i32": 4, "i8": 1, "i1": 1, "ptr": 8}


def declared(text: str) -> list[str]:
    """What the assembly of a module takes from elsewhere."""
    names = re.findall(r"^(?:declare [^@]*)?@([\w.]+)(?:\(| = external )", text, re.MULTILINE)
    return [name for name in names if not name.startswith("llvm.")]


def is_variant(name: str) -> bool:
    """Whether this is the name of a vector variant of a mathematical function."""
    return name.startswith(("_ZGV", "zyg_v"))


def literal(value: Any, type: Type) -> str:
    """A constant of a scalar type.

    >>> literal(True, BOOL), literal(3, I64), literal(1.5, F64)
    ('true', '3', '0x3FF8000000000000')
    """
    if type in (F64, F32):
        value = float(value)
        if type is F32:
            value = single(value)
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
    if type is BOOL:
        return "true" if value else "false"
    return str(int(value))


_PLAIN = re.compile(r"[-a-zA-Z$._][-a-zA-Z$._0-9]*\Z")
_ESCAPED = re.compile(rb"\\([0-9A-F]{2})")
SELF = "\0"  # in a metadata node: the node itself, which makes it distinct
_STRANGE = re.compile(r"[^-a-zA-Z$._0-9]+")
# To a symbol, a group of attributes, a node of metadata. (Where each begins with one character, it is looked for that first.)
REFERENCE = re.compile(r'@(?:"[^"]*"|[-\w$.]+)|#\d+|!\d+')


def symbol(name: str) -> str:
    """A global name, quoted if need be."""
    if _PLAIN.match(name):
        return "@" + name
    escaped = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in name.encode())
    return f'@"{escaped}"'


def name_of(written: str) -> str:
    """The name that `symbol` gives as this.

    >>> name_of(symbol("py.f")), name_of(symbol("py.<λ>"))
    ('py.f', 'py.<λ>')
    """
    text = written[1:].strip('"').encode()
    return _ESCAPED.sub(lambda match: bytes([int(match[1], 16)]), text).decode()


@lru_cache(4096)
def identifier(name: str) -> str:
    """`name` made of characters that a local LLVM name may have."""
    return _STRANGE.sub("_", name)


class ModuleText:
    """A module being written. `externals` are the symbols that have to be found when it is linked."""

    def __init__(self) -> None:
        self.functions: list[str] = []
        self.declarations: list[str] = []  # of functions in another module that is linked with this one
        self.externals: dict[str, str] = {}
        self.vector_symbols: dict[str, str] = {}  # name -> declaration of a vector variant
        self.attributes: dict[str, int] = {}
        self.metadata: list[str] = []
        self.flags: set[str] = set()  # named metadata without contents
        self.named: dict[str, int] = {}  # with one node
        self._interned: dict[str, int] = {}
        root = self.node('!{!"zyg memory"}')
        self._tags: dict[str, int] = {}
        self._root = root
        self.likely = self.node('!{!"branch_weights", i32 2000, i32 1}')
        self.unlikely = self.node('!{!"branch_weights", i32 1, i32 2000}')

    def node(self, text: str) -> int:
        """A metadata node; equal ones are shared, unless they refer to themselves by SELF."""
        if text in self._interned:
            return self._interned[text]
        number = len(self.metadata)
        if SELF in text:
            text = "distinct " + text.replace(SELF, f"!{number}")
        else:
            self._interned[text] = number
        self.metadata.append(text)
        return number

    def access_group(self) -> int:
        """The group of accesses that do not depend on each other in different iterations of a loop.  One will do: loops
        that refer to it are never nested."""
        return self.node("distinct !{}")

    def tag(self, kind: str) -> str:
        """A TBAA annotation: memory of different kinds ("array", "stack", "ctx", "header") never overlaps."""
        number = self._tags.get(kind)
        if number is None:
            type_node = self.node(f'!{{!"{kind}", !{self._root}, i64 0}}')
            number = self._tags[kind] = self.node(f"!{{!{type_node}, !{type_node}, i64 0}}")
        return f", !tbaa !{number}"

    def external(self, name: str, result: str = "", arguments: str = "", attributes: str = "") -> str:
        """The symbol of an external function (or, without a result type, of external data)."""
        at = symbol(name)
        if name not in self.externals:
            if result:
                self.externals[name] = f"declare {result} {at}({arguments}) {self.group(attributes)}"
            else:
                self.externals[name] = f"{at} = external global i8"
        return at

    def group(self, attributes: str) -> str:
        """A reference to an attribute group with this text."""
        if not attributes:
            return ""
        number = self.attributes.setdefault(attributes, len(self.attributes))
        return f"#{number}"

    def intrinsic(self, name: str, result: str, arguments: str) -> str:
        self.externals.setdefault(name, f"declare {result} @{name}({arguments})")
        return "@" + name

    def imports(self) -> list[str]:
        """The symbols that the linker has to find."""
        return [*(name for name in self.externals if not name.startswith("llvm.")), *self.vector_symbols]

    def text(self) -> str:
        lines = [
            *self.declarations,
            *self.externals.values(),
            *self.vector_symbols.values(),
            *self._kept(),
            *self.functions,
        ]
        lines += [f"attributes #{number} = {{ {text} }}" for text, number in self.attributes.items()]
        lines += [f"!{number} = {text}" for number, text in enumerate(self.metadata)]
        return "\n".join([*lines, *self._named()]) + "\n"

    def part(self, texts: list[str], references: set[str]) -> str:
        """A module of these functions and declarations, with what they refer to (REFERENCE)."""
        lines = [line for name, line in self.externals.items() if symbol(name) in references]
        found = references.union(*map(REFERENCE.findall, [*lines, *self.vector_symbols.values(), *self._named()]))
        lines += [*self.vector_symbols.values(), *self._kept(), *texts]
        lines += [
            f"attributes #{number} = {{ {text} }}" for text, number in self.attributes.items() if f"#{number}" in found
        ]
        nodes: set[int] = set()
        new = {int(name[1:]) for name in found if name[0] == "!"}
        while new:
            nodes |= new
            new = {int(name[1:]) for n in new for name in REFERENCE.findall(self.metadata[n]) if name[0] == "!"} - nodes
        lines += [f"!{number} = {self.metadata[number]}" for number in sorted(nodes)]
        return "\n".join([*lines, *self._named()]) + "\n"

    def _kept(self) -> list[str]:
        """Without this LLVM forms vector intrinsics of calls that have vector variants, which are then scalarised."""
        used = ", ".join(f"ptr @{name}" for name in self.vector_symbols)
        type = f"[{len(self.vector_symbols)} x ptr]"
        what = f'@llvm.compiler.used = appending global {type} [{used}], section "llvm.metadata"'
        return [what] if self.vector_symbols else []

    def _named(self) -> list[str]:
        """The flags, and named metadata with one node."""
        flags = [f"!{name} = !{{}}" for name in sorted(self.flags)]
        return flags + [f"!{name} = !{{!{number}}}" for name, number in self.named.items()]


NOWHERE = "<unknown>"  # the file of code without places: LLVM wants a name


class Places:
    """The places in the source of one function's instructions, as LLVM's debugging information: lines and columns only."""

    def __init__(self, module: ModuleText, function: Function):
        self.module = module
        first = next((i.position for _, i in function.instructions() if i.position is not None), None)
        file = self.file(first.file if first is not None else "")
        if "llvm.dbg.cu" not in module.named:
            what = f'language: DW_LANG_Python, file: !{file}, producer: "zyg", isOptimized: true, runtimeVersion: 0'
            module.named["llvm.dbg.cu"] = module.node(f"distinct !DICompileUnit({what}, emissionKind: LineTablesOnly)")
            module.named["llvm.module.flags"] = module.node('!{i32 2, !"Debug Info Version", i32 3}')
        unit, type = module.named["llvm.dbg.cu"], module.node("!DISubroutineType(types: !{})")
        self.line = first.line if first is not None else 0
        self.home = first.file if first is not None else ""
        name = quoted(function.name)
        what = f"name: {name}, scope: !{file}, file: !{file}, line: {self.line}, type: !{type}"
        self.subprogram = module.node(f"distinct !DISubprogram({what}, spFlags: DISPFlagDefinition, unit: !{unit})")

    def file(self, name: str) -> int:
        return self.module.node(f'!DIFile(filename: {quoted(name or NOWHERE)}, directory: "")')

    def mark(self, line: str, position: Position | None) -> str:
        """An instruction with its place; labels stay as they are."""
        if not line.startswith("  ") or line.endswith("[") or line.startswith("   ") or line.strip() == "]":
            return line
        scope, row, column = self.subprogram, self.line, 0
        if position is not None:
            row, column = position.line, min(position.column + 1, 65535)
            if position.file != self.home:
                file = self.file(position.file)
                scope = self.module.node(f"!DILexicalBlockFile(scope: !{scope}, file: !{file}, discriminator: 0)")
        place = self.module.node(f"!DILocation(line: {max(row, 0)}, column: {column}, scope: !{scope})")
        return f"{line}, !dbg !{place}"


def quoted(text: str) -> str:
    """A string of LLVM assembly, which escapes by two hexadecimal digits."""
    encoded = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in text.encode())
    return f'"{encoded}"'


class Emitter:
    """Instructions of one function, appended block by block.

    `label` is the LLVM block being written, which `branch`es to cold blocks keep splitting.
    """

    def __init__(self, module: ModuleText):
        self.module = module
        self.lines: list[str] = []
        self.allocas: list[str] = []
        self.label = "entry"
        self._names: dict[str, int] = {}

    def name(self, hint: str) -> str:
        """A local name not used before, after the hint (without the percent sign)."""
        hint = identifier(hint) or "t"
        if hint[0].isdigit():
            hint = "v" + hint
        count = self._names.get(hint)
        if count is None:
            self._names[hint] = 0
            return hint
        while True:
            count += 1
            candidate = f"{hint}.{count}"
            if candidate not in self._names:
                self._names[hint] = count
                self._names[candidate] = 0
                return candidate

    def emit(self, text: str) -> None:
        self.lines.append("  " + text)

    def let(self, text: str, hint: str = "t") -> str:
        """Emit an instruction that has a result; gives its name."""
        name = "%" + self.name(hint)
        self.lines.append(f"  {name} = {text}")
        return name

    def start(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.label = label

    def jump(self, label: str) -> None:
        self.emit(f"br label %{label}")

    def branch(self, condition: str, then: str, other: str, likely: bool | None = None) -> None:
        weights = {None: "", True: f", !prof !{self.module.likely}", False: f", !prof !{self.module.unlikely}"}[likely]
        self.emit(f"br i1 {condition}, label %{then}, label %{other}{weights}")

    def require(self, condition: str, otherwise: str) -> None:
        """Go on only where the condition holds, which is likely; else to the block `otherwise`."""
        if condition == "true":
            return
        go_on = self.name("ok")
        self.branch(condition, go_on, otherwise, likely=True)
        self.start(go_on)

    def alloca(self, type: str, hint: str, align: int = 0) -> str:
        name = "%" + self.name(hint)
        self.allocas.append(f"  {name} = alloca {type}" + (f", align {align}" if align else ""))
        return name

    def field(self, type: str, base: str, offset: int, kind: str = "", hint: str = "t") -> str:
        """Load from `base` + `offset`."""
        tag = self.module.tag(kind) if kind else ""
        return self.let(f"load {type}, ptr {self.at(base, offset)}{tag}", hint)

    def set_field(self, type: str, value: str, base: str, offset: int, kind: str = "") -> None:
        tag = self.module.tag(kind) if kind else ""
        self.emit(f"store {type} {value}, ptr {self.at(base, offset)}{tag}")

    def at(self, base: str, offset: int) -> str:
        return base if offset == 0 else self.let(f"getelementptr inbounds i8, ptr {base}, i64 {offset}", "at")

    def call(self, result: str, callee: str, *arguments: str, hint: str = "t", attributes: str = "", kind: str = "call",
             convention: str = "") -> str:  # fmt: skip
        """A call; arguments as "type value". Gives the name of the result ("" for void)."""
        group = self.module.group(attributes)
        text = f"{kind} {convention}{result} {callee}({', '.join(arguments)}) {group}".rstrip()
        if result == "void":
            self.emit(text)
            return ""
        return self.let(text, hint)

    def aggregate(self, type: str, values: list[tuple[str, str]]) -> str:
        """A first-class struct of (LLVM type, value) pairs."""
        current = "poison"
        for index, (t, value) in enumerate(values):
            current = self.let(f"insertvalue {type} {current}, {t} {value}, {index}", "r")
        return current
