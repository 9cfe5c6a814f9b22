"""The textual form of the IR, read back: the inverse of text.py. What it does not understand is a `ParseError` with the line."""

from __future__ import annotations

import importlib
import json
import math
import re
import types as python_types
from collections.abc import Callable
from typing import Any

from . import types as t
from .core import CALLING, Block, Function, Instr, Module, Position, Rule, TangentRule, Target, Value, const
from .text import SUFFIX, SYMBOL, Opaque
from .types import Type


class ParseError(ValueError):
    """What is wrong, with the line number and the line."""

    def __init__(self, message: str, number: int, line: str):
        super().__init__(f"line {number}: {message}\n    {line.strip()}")
        self.number = number


def parse_function(text: str) -> Function:
    """The function that `text` describes; inverse of `format_function`."""
    functions = list(parse_module(text).functions.values())
    if len(functions) != 1:
        raise ValueError(f"expected the text of one function, found {len(functions)}")
    return functions[0]


def parse_module(text: str) -> Module:
    """The functions that `text` describes; inverse of `format_module`."""
    module = Module()
    lines = _Lines(text)
    while lines.next():
        function = _FunctionParser(lines).parse()
        if function.name in module.functions:
            raise ParseError(f"function @{function.name} is defined twice", lines.number, lines.line)
        module.add(function)
    return module


def parse_type(text: str) -> Type:
    """
    >>> print(parse_type("array<f64, 2, A>"))
    array<f64, 2, A>
    """
    cursor = _Cursor(text, 1)
    result = cursor.type()
    cursor.end()
    return result


class _Lines:
    """Lines that say something, one after the other."""

    def __init__(self, text: str):
        self.lines = text.split("\n")
        self.number = 0
        self.line = ""

    def next(self) -> bool:
        while self.number < len(self.lines):
            self.line = self.lines[self.number]
            self.number += 1
            stripped = self.line.strip()
            if stripped and not stripped.startswith("#"):
                return True
        return False


_SPACE = re.compile(r"\s*")


_WORD = re.compile(r"[^\W\d][\w$]*(?:\.[\w$]+)*")


_VALUE = re.compile(r"%([\w$]+(?:\.[\w$]+)*)")


_NUMBER = re.compile(r"-?(?:inf\b|nan\b|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)")


_ATTRIBUTES = re.compile(r"\{\s*[^\W\d]\w*\s*=")


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


_POSITION = re.compile(r"(.*):(\d+):(\d+)-(\d+):(\d+)(?: (.*))?\Z")


_SHORT_POSITION = re.compile(r"(\S+):(\d+)\Z")


class _Cursor:
    """Reads one line from left to right."""

    def __init__(self, line: str, number: int):
        self.line = line
        self.number = number
        self.at = 0

    def error(self, message: str) -> ParseError:
        return ParseError(message, self.number, self.line)

    def skip(self) -> None:
        match = _SPACE.match(self.line, self.at)
        assert match is not None
        self.at = match.end()

    def peek(self) -> str:
        """The next character, '' at the end of the line or before a comment."""
        self.skip()
        character = self.line[self.at : self.at + 1]
        return "" if character == "#" else character

    def take(self, text: str) -> bool:
        self.skip()
        if not self.line.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def expect(self, text: str) -> None:
        if not self.take(text):
            rest = self.line[self.at :].strip() or "the end of the line"
            raise self.error(f"expected {text!r} before {rest}")

    def match(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        self.skip()
        match = pattern.match(self.line, self.at)
        if match is None:
            raise self.error(f"expected {what} before {self.line[self.at :].strip() or 'the end of the line'}")
        self.at = match.end()
        return match

    def word(self, what: str = "a word") -> str:
        return self.match(_WORD, what).group()

    def string(self) -> str:
        return json.loads(self.match(_STRING, "a string").group(), strict=False)

    def symbol(self) -> str:
        self.expect("@")
        return self.string() if self.peek() == '"' else self.match(SYMBOL, "a function's name").group()

    def end(self) -> None:
        if self.peek():
            raise self.error(f"unexpected {self.line[self.at :].strip()}")

    def list(self, close: str, item: Callable[[], Any]) -> list[Any]:
        """Items separated by commas up to `close`, which is consumed; a comma may follow the last."""
        items = []
        while not self.take(close):
            items.append(item())
            if not self.take(","):
                self.expect(close)
                break
        return items

    def position(self) -> Position | None:
        if not self.take("#"):
            return None
        comment = self.line[self.at :].strip()
        self.at = len(self.line)
        if match := _POSITION.match(comment):
            file, line, column, end_line, end_column, function = match.groups()
            return Position(file, int(line), int(column), int(end_line), int(end_column), function or "")
        if match := _SHORT_POSITION.match(comment):
            return Position(match.group(1), int(match.group(2)))
        return None

    # ---------------------------------------------------------------------------------- types and values

    def type(self) -> Type:
        word = self.word("a type")
        result = self.type_named(word)
        if result is None:
            raise self.error(f"unknown type {word}")
        return result

    def type_named(self, word: str) -> Type | None:
        simple = _SIMPLE_TYPES.get(word)
        if simple is not None:
            return simple
        build = _TYPE_BUILDERS.get(word)
        if build is None:
            return None
        self.expect("<")
        arguments = self.list(">", self.value)
        try:
            return build(*arguments)
        except (TypeError, AttributeError, ValueError) as problem:
            raise self.error(f"wrong arguments of type {word}<...>: {problem}") from None

    def value(self) -> Any:
        """A constant or attribute, see `format_value`."""
        character = self.peek()
        if character == '"':
            return self.string()
        if character == "(":
            self.take("(")
            return tuple(self.list(")", self.value))
        if character == "[":
            self.take("[")
            return self.list("]", self.value)
        if character == "{":
            return self.braces()
        if character == "<":
            return self.object()
        if character.isdigit() or character == "-":
            match = self.match(_NUMBER, "a number")
            number = match.group()
            return int(number) if number.lstrip("-").isdigit() else float(number)
        if self.take("..."):
            return Ellipsis
        word = self.word("a value")
        if word in _WORD_VALUES:
            return _WORD_VALUES[word]
        if word == "b" and self.peek() == '"':
            return self.string().encode("latin-1")
        if word == "complex":
            self.expect("(")
            return complex(*self.list(")", self.value))
        if word == "rule":
            self.expect("(")
            return Rule(*self.list(")", self.value))
        if word == "tangent":
            self.expect("(")
            return TangentRule(*self.list(")", self.value))
        result = self.type_named(word)
        # single letters are the layouts of array types, `readonly` their mode
        if result is None and word in ("C", "A", "readonly"):
            return word
        if result is None:
            raise self.error(f"unknown value {word}")
        return result

    def braces(self) -> frozenset[Any] | dict[Any, Any]:
        self.expect("{")
        if self.take(":"):
            self.expect("}")
            return {}
        if self.take(","):
            self.expect("}")
            return frozenset()
        pairs: dict[Any, Any] = {}

        def item() -> Any:
            key = self.value()
            if self.take(":"):
                pairs[key] = self.value()
            return key

        items = self.list("}", item)
        return pairs if pairs else frozenset(items)

    def object(self) -> Any:
        """`<name>`, where name may have balanced angle brackets inside."""
        start, depth = self.at, 0
        for at in range(start, len(self.line)):
            depth += {"<": 1, ">": -1}.get(self.line[at], 0)
            if depth == 0:
                self.at = at + 1
                return _import(self.line[start + 1 : at])
        raise self.error("this < is never closed")

    def attributes(self) -> dict[str, Any]:
        def item() -> tuple[str, Any]:
            key = self.word("an attribute's name")
            self.expect("=")
            return key, self.value()

        return dict(self.list("}", item)) if self.take("{") else {}


_SIMPLE_TYPES: dict[str, Type] = {
    **t.SCALARS, "object": t.OBJECT, "tape": t.TAPE, "None": t.NONE, "range": t.RANGE,
}  # fmt: skip


def _closure(whose: Any, counts: tuple[int, int], names: tuple[str, ...], *items: Type) -> t.Closure:
    captured, defaults = counts
    function = whose if isinstance(whose, python_types.FunctionType) else None
    return t.Closure(
        whose if function is None else function.__code__,
        items[:captured],
        items[captured : captured + defaults],
        tuple(zip(names, items[captured + defaults :], strict=True)),
        0 if function is None else id(function.__globals__),
        function,
    )


_TYPE_BUILDERS: dict[str, Callable[..., Type]] = {
    "array": lambda dtype, ndim, layout, mode=None: t.Array(dtype, ndim, layout, mode is None),
    "complex": t.Complex,
    "complex_array": lambda ndim, layout, mode=None: t.ComplexArray(ndim, layout, mode is None),
    "fortran": t.Fortran,
    "sized": t.Sized,
    "stack": t.Stack,
    "np": t.NpScalar,
    "tuple": lambda *items: t.Tuple(items),
    "list": lambda *items: t.ListType(items),
    "optional": t.Optional,
    "const": t.Const,
    "instance": lambda cls, names, *items: t.ObjectOf(cls, names, items),
    "dict": lambda keys, *items: t.DictType(keys, items),
    "sequence": t.Sequence,
    "one_of": lambda *items: t.OneOf(items),
    "shared": t.Shared,
    "given": t.Given,
    "opaque": t.Opaque,
    "struct": lambda cls, names, *items: t.Struct(cls, names, items),
    "lent": lambda cls, names, *items: t.Struct(cls, names, items, lent=True),
    "closure": _closure,
    "pullback": lambda reverse, value, gradients, *saved: t.PullbackType(reverse, value, gradients, saved),
}


_WORD_VALUES: dict[str, Any] = {"true": True, "false": False, "none": None, "nan": math.nan, "inf": math.inf}


def _import(name: str) -> Any:
    """The object called `name` in text, or an `Opaque`."""
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        return Opaque(name)
    for split in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:split]))
        except ImportError:
            continue
        try:
            for part in parts[split:]:
                value = getattr(value, part)
        except AttributeError:
            continue
        return value
    return Opaque(name)


class _FunctionParser:
    """Parses one function, whose first line `lines` stands at."""

    _OPERANDS_BEFORE_TARGETS = {"jump": 0, "branch": 1, "switch": 1}  # noqa: RUF012

    def __init__(self, lines: _Lines):
        self.lines = lines
        self.values: dict[str, Value] = {}
        self.defined: set[str] = set()
        self.blocks: dict[str, Block] = {}
        self.used_at: dict[str, ParseError] = {}

    def parse(self) -> Function:
        cursor = _Cursor(self.lines.line, self.lines.number)
        if cursor.word("func") != "func":
            raise cursor.error("expected 'func @name(...)'")
        function = Function(cursor.symbol())
        cursor.expect("(")
        params = cursor.list(")", lambda: self.parameter(cursor))
        if cursor.take("->"):
            many = cursor.take("(")
            function.results = tuple(cursor.list(")", cursor.type)) if many else (cursor.type(),)
        cursor.expect("{")
        if cursor.peek():
            cursor.at = cursor.line.rindex("{", 0, cursor.at)
            function.attrs = cursor.attributes()
            cursor.expect("{")
        cursor.end()
        self.body(function, params)
        return function

    def body(self, function: Function, params: list[Value]) -> None:
        block: Block | None = None
        while self.lines.next():
            line = self.lines.line
            cursor = _Cursor(line, self.lines.number)
            if cursor.take("}"):
                cursor.end()
                break
            if line[0].isspace():
                if block is None:
                    raise cursor.error("an instruction before the first block")
                block.instrs.append(self.instruction(cursor))
                continue
            block = self.block_head(cursor)
            if block in function.blocks:
                raise cursor.error(f"block {block.name} appears twice")
            if not function.blocks:
                if block.params:
                    raise cursor.error("the first block's parameters are those of the function")
                block.params = params
            function.blocks.append(block)
        else:
            raise ParseError(f"function @{function.name} is not closed by a }}", self.lines.number, self.lines.line)
        self.check_complete(function)

    def check_complete(self, function: Function) -> None:
        for name, error in self.used_at.items():
            if name not in self.defined:
                raise error
        present = set(function.blocks)
        for name, block in self.blocks.items():
            if block not in present:
                raise self.used_at.get(f"block {name}", ParseError(f"no block {name}", self.lines.number, ""))

    def define(self, cursor: _Cursor, name: str, type: Type | None) -> Value:
        if name in self.defined:
            raise cursor.error(f"%{name} is defined twice")
        self.defined.add(name)
        value = self.use(cursor, name)
        if type is not None:
            value.type = type
        return value

    def use(self, cursor: _Cursor, name: str) -> Value:
        value = self.values.get(name)
        if value is None:
            value = self.values[name] = Value(t.OBJECT, SUFFIX.sub("", name))
            self.used_at[name] = cursor.error(f"%{name} is not defined in this function")
        return value

    def parameter(self, cursor: _Cursor) -> Value:
        name = cursor.match(_VALUE, "a parameter").group(1)
        cursor.expect(":")
        return self.define(cursor, name, cursor.type())

    def block(self, name: str) -> Block:
        if name not in self.blocks:
            self.blocks[name] = Block(SUFFIX.sub("", name))
            self.used_at.setdefault(f"block {name}", ParseError(f"no block {name}", self.lines.number, self.lines.line))
            self.defined.add(f"block {name}")  # looked for separately
        return self.blocks[name]

    def block_head(self, cursor: _Cursor) -> Block:
        block = self.block(cursor.word("a block's name"))
        if cursor.take("("):
            block.params = cursor.list(")", lambda: self.parameter(cursor))
        if cursor.take("handler"):
            block.handler = self.target(cursor)
        cursor.expect(":")
        cursor.end()
        return block

    def target(self, cursor: _Cursor) -> Target:
        block = self.block(cursor.word("a block's name"))
        return Target(block, cursor.list(")", lambda: self.operand(cursor)) if cursor.take("(") else [])

    def operand(self, cursor: _Cursor) -> Value:
        if cursor.peek() == "%":
            return self.use(cursor, cursor.match(_VALUE, "a value").group(1))
        value = cursor.value()
        if cursor.line[cursor.at : cursor.at + 1] == ":" and not cursor.line[cursor.at + 1 : cursor.at + 2].isspace():
            cursor.expect(":")
            return const(value, cursor.type())
        return const(value)

    def instruction(self, cursor: _Cursor) -> Instr:
        names: list[str] = []
        if cursor.peek() == "%":
            names.append(cursor.match(_VALUE, "a result").group(1))
            while cursor.take(","):
                names.append(cursor.match(_VALUE, "a result").group(1))
            cursor.expect("=")
        instr = Instr(cursor.word("an op"))
        callee = cursor.symbol() if instr.op in CALLING and cursor.peek() == "@" else None
        operands_left = self._OPERANDS_BEFORE_TARGETS.get(instr.op)
        while cursor.peek() not in ("", "{", ":") or self.at_set(cursor):
            if operands_left is not None and len(instr.operands) >= operands_left:
                instr.targets.append(self.target(cursor))
            else:
                instr.operands.append(self.operand(cursor))
            if not cursor.take(","):
                break
        instr.attrs = cursor.attributes()
        if callee is not None:
            instr.attrs = {"callee": callee, **instr.attrs}
        types: list[Type] = []
        if cursor.take(":"):
            types.append(cursor.type())
            while cursor.take(","):
                types.append(cursor.type())
        if len(types) != len(names):
            raise cursor.error(f"{len(names)} results but {len(types)} types")
        instr.results = [self.define(cursor, n, x) for n, x in zip(names, types, strict=True)]
        instr.position = cursor.position()
        cursor.end()
        return instr

    @staticmethod
    def at_set(cursor: _Cursor) -> bool:
        """Whether a brace opens a constant set or dictionary rather than the attributes (`name=`)."""
        return cursor.peek() == "{" and _ATTRIBUTES.match(cursor.line, cursor.at) is None
