"""Listings: SSA, LLVM IR and assembly as text, coloured where a terminal shows them."""

from __future__ import annotations

import linecache
import os
import re
import sys
from collections.abc import Iterable
from typing import Any

from ..backend.llvm.text import NOWHERE
from ..ir.core import Function, Instr
from ..ir.text import Printer, ansi

RESET = "\x1b[0m"


class Code(str):
    """Program text. A string like any other; printed or shown in a terminal or a notebook it has colours."""

    coloured: str

    def __new__(cls, text: str, coloured: str | None = None) -> Code:
        code = super().__new__(cls, text)
        code.coloured = coloured if coloured is not None else text
        return code

    def __str__(self) -> str:
        return self.coloured if colours_wanted() else str.__str__(self)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from .html import listing

        return listing(self.coloured)

    def __getnewargs__(self) -> tuple[str, str]:
        return (str.__str__(self), self.coloured)


def colours_wanted() -> bool:
    """Whether standard output is a terminal that shows colours; NO_COLOR and FORCE_COLOR have the last word."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


# ----------------------------------------------------------------------------------------------------- SSA


def list_module(functions: Iterable[Function], title: str = "") -> Code:
    """The functions; `title` is text that goes before them, as comments."""
    functions = list(functions)

    def text(paint: Any) -> str:
        comments = [paint("comment", f"# {line}".rstrip()) for line in title.splitlines()]
        return "\n\n".join([*filter(None, ["\n".join(comments)]), *(_list_function(f, paint) for f in functions)])

    return Code(text(_plain), text(ansi))


def _plain(kind: str, text: str) -> str:
    return text


def _list_function(function: Function, paint: Any) -> str:
    """The text of a function, with each source line as a comment above the first instruction that it gave."""
    # Attributes of the function (its code object, its file) are for the compiler, not for readers.
    shown = Function(function.name, function.blocks, function.results)
    printer = Printer(shown, False, paint)
    lines = printer.text().split("\n")
    # The printer gives a line to the head, to each block and to each instruction, in order.
    listed = [lines[0]]
    at = 1
    last: tuple[str, int] | None = None
    for block in function.blocks:
        listed.append(lines[at])
        at += 1
        for instr in block.instrs:
            place = _place(instr)
            if place is not None and place != last:
                last = place
                listed.append(paint("comment", f"  # {_source(*place)}"))
            listed.append(lines[at])
            at += 1
    listed.extend(lines[at:])
    return "\n".join(listed)


def _place(instr: Instr) -> tuple[str, int] | None:
    return (instr.position.file, instr.position.line) if instr.position is not None else None


def _source(file: str, line: int) -> str:
    text = linecache.getline(file, line).strip()
    return f"{os.path.basename(file)}:{line}{': ' + text if text else ''}"


# -------------------------------------------------------------------------------- LLVM IR and assembly

_LLVM = re.compile(
    r"(?P<comment>;.*$)"
    r"|(?P<literal>c?\"[^\"]*\"|\b0x[0-9A-Fa-f]+\b|(?<![%@\w.])-?\d+(?:\.\d+(?:e[+-]?\d+)?)?\b)"
    r"|(?P<function>@[\w.$\"-]+)"
    r"|(?P<value>%[\w.$-]+)"
    r"|(?P<block>^[\w.$-]+:)"
    r"|(?P<keyword>\b(?:define|declare|ret|br|switch|unreachable|call|tail|phi|select)\b)"
    r"|(?P<type>\b(?:i\d+|double|float|ptr|void|label)\b)"
    r"|(?P<op>(?<== )[a-z]\w*)",
    re.MULTILINE,
)
_ASM = re.compile(
    r"(?P<comment>[#;].*$)"
    r"|(?P<block>^[\w.$@]+:)"
    r"|(?P<attribute>^\s*\.\w+.*$)"
    r"|(?P<op>(?<=\t)[a-z]\w*(?=\t|$))"
    r"|(?P<value>%\w+)"
    r"|(?P<literal>\$-?\w+)",
    re.MULTILINE,
)


# What LLVM's printout has for the machine only: attribute groups and where they are used, metadata, declarations.
_LLVM_NOISE = re.compile(
    r"^(?:attributes #\d+ = .*|declare .*|![\w.]+ = .*|; Function Attrs:.*|@llvm\..*)\n?", re.MULTILINE
)
_LLVM_REFERENCE = re.compile(r" (?:#\d+|local_unnamed_addr|unnamed_addr)(?=[ ,{\n])|,? ![\w.]+ !\d+")
_ASM_NOISE = re.compile(
    r"^(?:\t\.(?:file|section|text|globl|p2align|type|size|ident|cfi_\w+|addrsig\w*|prefalign)\b.*|\.Lfunc_end\d+:)\n",
    re.MULTILINE,
)
_BLANK_LINES = re.compile(r"\n{3,}")


def list_llvm(text: str, raw: bool = False) -> Code:
    """LLVM IR; `raw` keeps what is there for the machine only, so that LLVM can read it again."""
    if not raw:
        text = _lines_of_llvm(text)
        text = _LLVM_REFERENCE.sub("", _LLVM_NOISE.sub("", text))
    text = _BLANK_LINES.sub("\n\n", text).strip()
    return Code(text, _highlight(text, _LLVM))


def list_asm(text: str, raw: bool = False) -> Code:
    """Assembly; `raw` keeps the assembler's directives."""
    text = (text if raw else _ASM_NOISE.sub("", _lines_of_asm(text))).strip("\n")
    return Code(text, _highlight(text, _ASM))


_LLVM_NODE = re.compile(r"^!(\d+) = (?:distinct )?!(DI\w+)\((.*)\)$", re.MULTILINE)
_LLVM_FIELD = re.compile(r'(\w+): (?:!(\d+)|(\d+)|"([^"]*)")')


def _lines_of_llvm(text: str) -> str:
    """LLVM IR with a comment wherever the instructions begin to come from another line of the source."""
    nodes: dict[str, dict[str, str]] = {}
    for number, kind, fields in _LLVM_NODE.findall(text):
        nodes[number] = {"": kind, **{name: a or b or c for name, a, b, c in _LLVM_FIELD.findall(fields)}}

    def place(number: str) -> tuple[str, int] | None:
        node = nodes.get(number, {})
        scope = nodes.get(node.get("scope", ""), {})
        file = nodes.get(scope.get("file", ""), {})
        if node.get("") != "DILocation" or file.get("filename", NOWHERE) == NOWHERE:
            return None
        return _unquoted(file["filename"]), int(node["line"])

    result: list[str] = []
    current = None
    for line in text.splitlines():
        if line.startswith("define "):
            current = None
        found = re.search(r", !dbg !(\d+)", line) if line.startswith("  ") else None
        here = place(found[1]) if found else None
        if here is not None and here != current:
            current = here
            result.append(f"  ; {_source(*here)}")
        result.append(line)
    return "\n".join(line for line in result if not line.strip().startswith("#dbg_")) + "\n"


def _unquoted(text: str) -> str:
    return re.sub(r"(?:\\[0-9A-F]{2})+", lambda m: bytes.fromhex(m[0].replace("\\", "")).decode(errors="replace"), text)


_ASM_FILE = re.compile(r'\t\.file\t(\d+) (?:"([^"]*)" )?"([^"]*)"')
_ASM_PLACE = re.compile(r"\t\.loc\t(\d+) (\d+)")


def _lines_of_asm(text: str) -> str:
    """Assembly with comments in place of its directives about lines, and without the sections for debuggers."""
    files: dict[str, str] = {}
    result: list[str] = []
    current = None
    dropped = False
    for line in text.splitlines():
        if line.startswith("\t.section"):
            dropped = ".debug_" in line
        file, place = _ASM_FILE.match(line), _ASM_PLACE.match(line)
        if file is not None:
            files[file[1]] = os.path.join(file[2] or "", file[3])
        elif dropped or re.match(r"\.L(?:tmp|func_begin|debug|line|info)\w*:", line):
            continue
        elif place is None:
            result.append(line)
        else:
            here = files.get(place[1], ""), int(place[2])
            if here != current and here[1]:
                current = here
                result.append(f"\t# {_source(*here)}")
    return "\n".join(result) + "\n"


def _highlight(text: str, pattern: re.Pattern[str]) -> str:
    return pattern.sub(lambda match: ansi(match.lastgroup or "value", match.group()), text)
