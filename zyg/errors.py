"""What zyg raises and warns of, and how a message shows the place in the user's source.

A refusal says what was found, where (file, line, the source line with a caret), of which types, and what to write
instead.  At run time compiled code raises CPython's own exceptions; the classes here are for compilation and for calls.
"""

from __future__ import annotations

import contextlib
import functools
import linecache
import types
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from zyg.ir.plainly import get_plainly

from .remedies import OUTSIDE, remedy_in

if TYPE_CHECKING:
    from .ir.core import Position


class ZygError(Exception):
    """Base of all errors that are zyg's own."""


class Unsupported(ZygError, TypeError):
    """The compiler refuses a construct.

    what: what was found, a phrase ("a call of print_table, which has no derivative rule").
    position: where, or None if the raiser does not know; `at` fills it in.
    types: the types found, as (name, type) pairs or plain types.
    hint: what to write instead.
    notes: further lines (how the compiler came there: called from ...).
    """

    final = False  # whether it is of no use to try otherwise, with loops unrolled

    def __init__(
        self,
        what: str,
        position: Position | None = None,
        *,
        types: Iterable[object] = (),
        hint: str = "",
        notes: Iterable[str] = (),
    ):
        self.what = what
        self.position = position
        self.types = tuple(types)
        self.hint = hint
        self.caller: Position | None = None  # where the user's code calls the library that `position` is in
        self.notes = list(notes)
        # What the compiler had looked up by then: if it is something else later, the refusal may be void.
        self.guards: tuple[tuple[object, ...], ...] = ()
        super().__init__(what)

    def at(self, position: Position | None) -> Unsupported:
        """This error with a position, if it has none yet; for `raise error.at(position)`."""
        if self.position is None:
            self.position = position
        return self

    def called_at(self, position: Position | None) -> Unsupported:
        """This error, which comes out of a call at `position`: that is the user's own line if the place is in a library."""
        if self.caller is None and position is not None and in_library(self.position) and not in_library(position):
            self.caller = position
        return self

    def note(self, text: str) -> Unsupported:
        """This error with one more line at its end."""
        if text not in self.notes:
            self.notes.append(text)
        return self

    def __str__(self) -> str:
        lines = [self.what]
        if self.position is not None:
            lines.append(excerpt(self.position))
        if self.caller is not None:
            lines.append("which is called here:")
            lines.append(excerpt(self.caller))
        if self.types:
            lines.append("types found: " + ", ".join(map(type_text, self.types)))
        if self.caller is not None:
            lines.append(
                "instead: " + remedy_in(self.position.file, self.position.function) if self.position else OUTSIDE
            )
        elif self.hint:
            lines.append("instead: " + self.hint)
        lines.extend(self.notes)
        return "\n".join(lines)


@contextlib.contextmanager
def final_refusals() -> Iterator[None]:
    """What is refused inside is of no use to try otherwise."""
    try:
        yield
    except Unsupported as error:
        error.final = True
        raise


class Misuse(Unsupported):
    """What is wrong whichever way the function runs (the gradient of a value that is no number, a rule of the wrong form),
    so that going through Python does not help."""


class NeedsConstant(Unsupported):
    """A value that has to be known when compiling, such as an axis.  If it comes from an argument or a global variable, the
    function is compiled for its present value."""


class UntypableValue(Unsupported):
    """A Python value that compiled code cannot take. `argument` names it where it is an argument."""

    def __init__(self, what: str, *, hint: str = "", argument: str = ""):
        super().__init__(what, hint=hint)
        self.argument = argument

    def __str__(self) -> str:
        prefix = f"argument '{self.argument}': " if self.argument else ""
        return prefix + super().__str__()


class IntegerTooLarge(UntypableValue, OverflowError):
    """An int that does not fit into 64 bits."""


class ArgumentError(ZygError, TypeError):
    """A call with an argument that does not fit. `argument` is its name, `what` what was found, `hint` what to pass instead."""

    def __init__(self, what: str, argument: str = "", hint: str = ""):
        super().__init__(f"{what}\ninstead: {hint}" if hint else what)
        self.what = what
        self.argument = argument
        self.hint = hint


class IntegerArgumentTooLarge(ArgumentError, OverflowError):
    """An argument that is an int and does not fit into 64 bits."""


class GradcheckError(ZygError, AssertionError):
    """A derivative disagrees with central differences. `report` is the GradcheckReport."""

    def __init__(self, report: object):
        super().__init__(str(report))
        self.report = report


class InternalError(ZygError, RuntimeError):
    """The compiler broke one of its own rules: a bug in zyg. `stage` names the stage that did."""

    def __init__(self, message: str, stage: str = ""):
        super().__init__(message)
        self.stage = stage


class FallbackWarning(UserWarning):
    """A function is differentiated by way of Python since native code refuses it: right, but slower."""


class SpecialisationWarning(RuntimeWarning):
    """A function is being compiled for very many different argument types."""


def in_library(position: Position | None) -> bool:
    """Whether a place is in Python's library or in an installed package."""
    return position is not None and is_library(position.file)


def is_library(file: str) -> bool:
    return file.startswith(_libraries()) or file.startswith("<frozen ")


def as_called(function: object) -> str:
    """How CPython's messages name what is called, with a space behind it."""
    name, module = get_plainly(function, "__qualname__"), get_plainly(function, "__module__")
    if name is None:
        return f"{function} "
    return f"{name}() " if module in (None, "builtins") else f"{module}.{name}() "


def of_a_signal(error: BaseException) -> bool:
    """Whether the handler of a signal raised an exception: only such functions are given a number and a frame."""
    import inspect  # (slow to load)

    trace = error.__traceback__
    while trace is not None:
        code, local = trace.tb_frame.f_code, trace.tb_frame.f_locals
        given = [local.get(name) for name in code.co_varnames[: code.co_argcount]]
        if code.co_flags & inspect.CO_VARARGS:
            more = local.get(code.co_varnames[code.co_argcount + code.co_kwonlyargcount])
            given += more if isinstance(more, tuple) else ()
        match given:
            case [*_, int(), types.FrameType()]:
                return True
        trace = trace.tb_next
    return False


@functools.cache
def _libraries() -> tuple[str, ...]:
    import sysconfig  # (it is slow to load, and for messages only)

    return tuple({f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def type_text(entry: object) -> str:
    """A type as messages show it; long ones are cut."""
    if isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str):
        return f"{entry[0]}: {cut(str(entry[1]))}"
    return cut(str(entry))


def cut(text: str, most: int = 120) -> str:
    """A text, or its beginning and its end.

    >>> cut("const 'abc'"), cut("const 'abcabcabcabc'", 16)
    ("const 'abc'", "const 'ab... bc'")
    """
    return text if len(text) <= most else f"{text[: most - 7]}... {text[-3:]}"


def excerpt(position: Position, indent: str = "  ") -> str:
    """File, line and function, then the source line with carets under the construct, if the source can be read."""
    where = f', in "{position.function}"' if position.function else ""
    lines = [f'{indent}File "{position.file}", line {position.line}{where}']
    source = linecache.getline(position.file, position.line).rstrip("\n")
    if source.strip():
        stripped = source.lstrip()
        margin = len(source) - len(stripped)
        lines.append(f"{indent}  {stripped}")
        # Columns count UTF-8 bytes, as CPython stores them.
        start = _characters(source, position.column) - margin
        if position.end_line == position.line and position.end_column > position.column:
            length = _characters(source, position.end_column) - margin - start
        else:
            length = len(stripped) - start
        if start >= 0 and (position.end_column or position.column):
            lines.append(f"{indent}  {' ' * start}{'^' * max(1, length)}")
    return "\n".join(lines)


def _characters(line: str, byte_offset: int) -> int:
    return len(line.encode()[:byte_offset].decode(errors="ignore"))
