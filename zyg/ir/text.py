"""The textual form of the IR, printed; parsing.py reads it back to the same thing.

    func @power(%x: f64, %n: i64) -> f64 {file="power.py"} {
    entry:
      jump loop(1.0, %n)
    loop(%r: f64, %i: i64):
      %more = gt %i, 0 : bool                   # power.py:3:10-3:15 power
      branch %more, body, done
    ...

One instruction per line: results, op, operands, attributes in braces, the types of the results after a colon, the
source position as a comment.  Names are hints: the printer makes them unique within a function by `.1`, `.2`, and the
parser takes such suffixes off again, so that printing what was parsed gives the same text.

A literal whose type is not the natural one says so (`0.0:f32`).  Objects print as `<module.qualified_name>`; they parse
back by import where that works, else as an `Opaque` of that name.
"""

from __future__ import annotations

import json
import re
import types as python_types
from collections.abc import Callable
from typing import Any

from zyg.ir.plainly import get_plainly

from . import types as t
from .core import CALLING, Block, Const, Function, Instr, Module, Position, Rule, TangentRule, Target, Value, const
from .records import record
from .types import Type

Paint = Callable[[str, str], str]


@record(frozen=True)
class Opaque:
    """Stands for a Python object that text names but cannot bring back."""

    name: str


_COLOURS = {
    "keyword": "1", "op": "36", "value": "0", "type": "2;32", "literal": "33", "block": "1;34", "function": "1;35",
    "attribute": "2", "comment": "2",
}  # fmt: skip


def ansi(kind: str, text: str) -> str:
    """Paint for a terminal."""
    return f"\x1b[{_COLOURS[kind]}m{text}\x1b[0m"


def _plain(kind: str, text: str) -> str:
    return text


def format_function(function: Function, *, positions: bool = True, paint: Paint | None = None) -> str:
    """The text of a function. `paint(kind, text)` may decorate each piece, see `ansi`."""
    return Printer(function, positions, paint or _plain).text()


def format_module(module: Module, *, positions: bool = True, paint: Paint | None = None) -> str:
    return "\n\n".join(format_function(f, positions=positions, paint=paint) for f in module.functions.values())


def format_instruction(instr: Instr, function: Function | None = None) -> str:
    """One instruction as text, for messages; names are those of the function's text if it is given."""
    return Printer(function or Function("?"), True, _plain).instruction(instr).strip()


_NAME = re.compile(r"[^\W\d][\w$]*(?:\.[^\W\d][\w$]*)*\Z")
SUFFIX = re.compile(r"(?:\.\d+)+\Z|\A\d+\Z")
SYMBOL = re.compile(r"[\w.$<>-]+")
_KEYWORDS = frozenset({"true", "false", "none", "nan", "inf", "func", "handler"})


def _base(name: str) -> str:
    """A hint without the printer's suffix, made of the characters that the parser takes for a name."""
    name = SUFFIX.sub("", name)
    if not name or _NAME.match(name):
        return name
    name = re.sub(r"[^\w$]+", "_", name).strip("_")
    return f"_{name}" if name[:1].isdigit() else name


def _symbol(name: str) -> str:
    return f"@{name}" if SYMBOL.fullmatch(name) else f"@{json.dumps(name)}"


class Printer:
    """Prints one function."""

    def __init__(self, function: Function, positions: bool, paint: Paint):
        self.function = function
        self.positions = positions
        self.paint = paint
        self.names: dict[Value, str] = {}
        self.block_names: dict[Block, str] = {}
        counts: dict[str, int] = {}
        block_counts: dict[str, int] = {}
        for block in function.blocks:
            base = _base(block.name) or "block"
            base = f"{base}_" if base in _KEYWORDS else base
            self.block_names[block] = _numbered(base, block_counts)
            for param in block.params:
                self.names[param] = "%" + _numbered(_base(param.name), counts)
            for instr in block.instrs:
                for result in instr.results:
                    self.names[result] = "%" + _numbered(_base(result.name), counts)

    def text(self) -> str:
        f, paint = self.function, self.paint
        params = ", ".join(map(self.parameter, f.params)) if f.blocks else ""
        head = f"{paint('keyword', 'func')} {paint('function', _symbol(f.name))}({params})"
        if f.results:
            types = ", ".join(paint("type", format_type(x)) for x in f.results)
            head += f" -> {types}" if len(f.results) == 1 else f" -> ({types})"
        if f.attrs:
            head += " " + self.attributes(f.attrs)
        lines = [head + " {"]
        for block in f.blocks:
            lines.append(self.block_head(block, with_params=block is not f.blocks[0]))
            lines += map(self.instruction, block.instrs)
        lines.append("}")
        return "\n".join(lines)

    def block_head(self, block: Block, with_params: bool) -> str:
        text = self.paint("block", self.block_names[block])
        if block.params and with_params:
            text += f"({', '.join(map(self.parameter, block.params))})"
        if block.handler is not None:
            text += f" {self.paint('keyword', 'handler')} {self.target(block.handler)}"
        return text + ":"

    def parameter(self, value: Value) -> str:
        return f"{self.paint('value', self.names[value])}: {self.paint('type', format_type(value.type))}"

    def target(self, target: Target) -> str:
        name = self.paint("block", self.block_names.get(target.block, f"{target.block.name}?"))
        return f"{name}({', '.join(map(self.operand, target.args))})" if target.args else name

    def operand(self, value: Value) -> str:
        if isinstance(value, Const):
            return self.paint("literal", format_const(value))
        return self.paint("value", self.names.get(value) or f"%{value.name}?")

    def attributes(self, attrs: dict[str, Any]) -> str:
        inside = ", ".join(f"{key}={format_value(value)}" for key, value in attrs.items())
        return self.paint("attribute", "{" + inside + "}")

    def instruction(self, instr: Instr) -> str:
        attrs = instr.attrs
        text = self.paint("op", instr.op)
        if instr.op in CALLING and isinstance(attrs.get("callee"), str):
            text += " " + self.paint("function", _symbol(attrs["callee"]))
            attrs = {k: v for k, v in attrs.items() if k != "callee"}
        arguments = [*map(self.operand, instr.operands), *map(self.target, instr.targets)]
        if arguments:
            text += " " + ", ".join(arguments)
        if attrs:
            text += " " + self.attributes(attrs)
        if instr.results:
            text = ", ".join(map(self.operand, instr.results)) + " = " + text
            text += " : " + ", ".join(self.paint("type", format_type(r.type)) for r in instr.results)
        text = "  " + text
        if instr.position is not None and self.positions:
            visible = re.sub(r"\x1b\[[\d;]*m", "", text) if self.paint is ansi else text
            text += " " * max(46 - len(visible), 0) + "  "
            text += self.paint("comment", f"# {format_position(instr.position)}")
        return text


def _numbered(base: str, counts: dict[str, int]) -> str:
    number = counts.get(base, 0)
    counts[base] = number + 1
    if not base:
        return str(number)
    return f"{base}.{number}" if number else base


def format_position(p: Position) -> str:
    text = f"{p.file}:{p.line}:{p.column}-{p.end_line}:{p.end_column}"
    return f"{text} {p.function}" if p.function else text


def _natural_type(value: Any) -> Type:
    return const(value).type


def format_const(c: Const) -> str:
    """An operand that is a literal.

    >>> format_const(const(1.0)), format_const(const(1, t.F32)), format_const(const(json.dumps))
    ('1.0', '1.0:f32', '<json.dumps>')
    """
    text = format_value(c.value)
    return text if c.type == _natural_type(c.value) else f"{text}:{format_type(c.type)}"


def format_value(value: Any) -> str:
    """A constant or an attribute."""
    kind = type(value)
    if value is None or kind is bool:
        return str(value).lower()
    if kind in (int, float):
        return repr(value)
    if kind is str:
        return json.dumps(value, ensure_ascii=False)
    if kind is bytes:
        return "b" + json.dumps(value.decode("latin-1"))
    if kind is complex:
        return f"complex({value.real!r}, {value.imag!r})"
    if kind is tuple:
        return f"({', '.join(map(format_value, value))}{',' if len(value) == 1 else ''})"
    if kind is list:
        return f"[{', '.join(map(format_value, value))}]"
    if kind is dict and value:
        return "{" + ", ".join(f"{format_value(k)}: {format_value(v)}" for k, v in value.items()) + "}"
    if kind is dict:
        return "{:}"
    if kind is frozenset:
        return "{" + ", ".join(sorted(map(format_value, value))) + "}" if value else "{,}"
    if kind is Rule:
        parts = [value.forward, value.reverse, value.gradients]
        rest = [value.mutates, value.constants, value.gathers]
        while rest and not rest[-1]:
            rest.pop()
        parts += rest
        return f"rule({', '.join(map(format_value, parts))})"
    if kind is TangentRule:
        parts = [value.function, value.perturbed, value.arity] + ([value.mutates] if value.mutates else [])
        return f"tangent({', '.join(map(format_value, parts))})"
    if value is Ellipsis:
        return "..."
    if isinstance(value, Type):
        return format_type(value)
    return f"<{object_name(value)}>"


def object_name(value: Any) -> str:
    """The name under which text mentions an object."""
    if isinstance(value, Opaque):
        return value.name
    if isinstance(value, python_types.ModuleType):
        return value.__name__
    if isinstance(value, python_types.CodeType):
        return f"code {value.co_qualname}"
    name = get_plainly(value, "__qualname__") or get_plainly(value, "__name__")
    if not isinstance(name, str):
        return f"object of {type(value).__module__}.{type(value).__qualname__}"
    module = get_plainly(value, "__module__")
    if not isinstance(module, str):
        owner = get_plainly(value, "__objclass__") or get_plainly(value, "__self__") or type(value)
        module = get_plainly(owner, "__module__")
    return f"{module}.{name}" if isinstance(module, str) else name


def format_type(x: Type) -> str:
    """A type as the parser reads it: value types as they print, structured types in functional notation.

    >>> format_type(t.Tuple((t.F64, t.Optional(t.Array(t.F64, 2)))))
    'tuple<f64, optional<array<f64, 2, C>>>'
    """
    if isinstance(x, (t.Tuple, t.ListType)):
        return f"{'tuple' if isinstance(x, t.Tuple) else 'list'}<{_types(x.items)}>"
    if isinstance(x, t.NpScalar):
        return f"np<{x.scalar}>"
    if isinstance(x, t.Complex):
        return f"complex<{format_value(x.numpy)}>"
    if isinstance(x, t.ComplexArray):
        return f"complex_array<{x.ndim}, {x.layout}{'' if x.writable else ', readonly'}>"
    if isinstance(x, t.Fortran):
        return f"fortran<{format_type(x.transpose)}>"
    if isinstance(x, t.Sized):
        return f"sized<{format_type(x.array)}, {format_value(x.ones)}>"
    if isinstance(x, t.Optional):
        return f"optional<{format_type(x.item)}>"
    if isinstance(x, t.Stack):
        return f"stack<{format_type(x.item)}>"
    if isinstance(x, t.Const):
        return f"const<{format_value(x.value)}>"
    if isinstance(x, t.Struct):
        return f"{'lent' if x.lent else 'struct'}<{format_value(x.cls)}, {format_value(x.names)}{_more(x.items)}>"
    if isinstance(x, t.ObjectOf):
        return f"instance<{format_value(x.cls)}, {format_value(x.names)}{_more(x.items)}>"
    if isinstance(x, t.DictType):
        return f"dict<{format_value(x.keys)}{_more(x.items)}>"
    if isinstance(x, t.OneOf):
        return f"one_of<{_types(x.items)}>"
    if isinstance(x, t.Sequence):
        return f"sequence<{format_type(x.item)}>"
    if isinstance(x, (t.Shared, t.Given)):
        return f"{'shared' if isinstance(x, t.Shared) else 'given'}<{x.number}>"
    if isinstance(x, t.Opaque):
        return f"opaque<{format_value(x.what)}, {format_value(x.hint)}>"
    if isinstance(x, t.Closure):
        whose = x.function if x.function is not None else x.code
        names = tuple(name for name, _ in x.kwdefaults)
        counts = (len(x.captured), len(x.defaults))
        return f"closure<{format_value(whose)}, {format_value(counts)}, {format_value(names)}{_more(x.items)}>"
    if isinstance(x, t.PullbackType):
        types = f"{format_type(x.value)}, {format_type(x.gradients)}{_more(x.saved)}"
        return f"pullback<{format_value(x.reverse)}, {types}>"
    return str(x)


def _types(items: tuple[Type, ...]) -> str:
    return ", ".join(map(format_type, items))


def _more(items: tuple[Type, ...]) -> str:
    return f", {_types(items)}" if items else ""
