"""`zyg.explain`: what of a derivative is native code, what is not and why, and what it puts on the tape.

The function runs once, on copies of its arguments, so that the functions that it calls are seen with the arguments that they
get; each of them is then given to the compiler.  If all is native the gradient runs as well, with its tape counted.
"""

from __future__ import annotations

import contextlib
import copy
import gc
import inspect
import io
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from zyg.ir.plainly import get_plainly

from .. import pipeline, rules
from ..api import gradient, known_refusal, pullback
from ..autodiff.objects.native import worthwhile
from ..departures import Departed
from ..errors import ArgumentError, InternalError, Misuse, Unsupported, UntypableValue, ZygError
from ..fallback import check_repeatable, strict
from ..ir.records import record
from ..ir.types import Type
from ..own import is_own
from ..transforms import describe, python_function, transform_of
from ..typeof import MAX_ROWS, type_of
from .stages import staged, unbound
from .tape import Tape, counted

# So many of the functions that are called are looked at.
CALLEES = 100


@record(frozen=True)
class Piece:
    """A function as it was called: `refusal` says why its derivative is not native, None if nothing forbids that. `inline`: it
    compiles, but Python code calls it and it has no loop, so it is differentiated as a part of that code."""

    name: str
    file: str
    line: int
    parameters: tuple[tuple[str, str], ...]
    refusal: ZygError | None
    inline: bool = False

    @property
    def native(self) -> bool:
        return self.refusal is None and not self.inline

    @property
    def how(self) -> str:
        return "native" if self.native else "through Python, inlined" if self.inline else "through Python"

    @property
    def signature(self) -> str:
        return f"{self.name}({', '.join(f'{name}: {type}' for name, type in self.parameters)})"

    @property
    def place(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}" if self.file else ""


@record(frozen=True, eq=False)
class Explanation:
    """What `zyg.explain` found; it prints as a listing. `root` is the function asked about, `callees` the Python functions
    that it called, `tape` what a native gradient keeps, `value_native` whether the function without derivative is native,
    `strict` whether the function is jitted, so that it is never run through Python."""

    root: Piece
    value_refusal: ZygError | None
    callees: tuple[Piece, ...]
    tape: Tape | None
    strict: bool
    notes: tuple[str, ...]

    @property
    def native(self) -> bool:
        """Whether the derivative is native."""
        return self.root.native

    def __bool__(self) -> bool:
        return self.native

    def __str__(self) -> str:
        lines = [f"{self.root.signature}   {self.root.place}".rstrip()]
        lines += self._verdict()
        if self.callees:
            lines.append("  calls")
            for piece in self.callees:
                lines.append(f"    {piece.how:<15} {piece.signature}   {piece.place}")
                if piece.refusal is not None:
                    lines += _indented(str(piece.refusal), 8)
        if self.tape is not None:
            lines.append(f"  {_title(self.tape)}")
            for saved in self.tape.saved:
                line = (
                    f"    {_bytes(saved.bytes):>12} {f'{saved.count} x {saved.type}':<14} {saved.place}: {saved.source}"
                )
                lines.append(line.rstrip(": "))
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    __repr__ = __str__

    def _verdict(self) -> list[str]:
        lines = []
        value, derivative = self.value_refusal, self.root.refusal
        if derivative is None:
            lines.append("  derivative: native")
        else:
            lines.append(f"  derivative: {'refused' if self.strict else 'through Python'}, because of")
            lines += _indented(str(derivative), 4)
        if (value is None) != (derivative is None):
            lines.append(f"  value: {'native with zyg.jit' if value is None else 'not native, because of'}")
            lines += _indented(str(value), 4) if value is not None else []
        return lines

    def _repr_html_(self) -> str:
        from .html import Markup, code, listing, markup, table

        rows = []
        for piece in (self.root, *self.callees):
            how = "refused" if self.strict and piece is self.root and not piece.native else piece.how
            reason = listing(str(piece.refusal)) if piece.refusal is not None else ""
            rows.append((code(piece.signature), piece.place, how, Markup(reason)))
        parts = [table(("function", "", "derivative", "because of"), rows, f"explain {self.root.name}")]
        if self.tape is not None and self.tape.saved:
            entries = [(_bytes(s.bytes), f"{s.count} x {s.type}", s.place, code(s.source)) for s in self.tape.saved]
            title = _title(self.tape)
            parts.append(table(("bytes", "values", "asked for by", ""), entries, title))
        elif self.tape is not None:
            parts.append(f"<div>{_title(self.tape)}</div>")
        parts += [f"<div>{markup(note)}</div>" for note in self.notes]
        return "\n".join(parts)


def _title(tape: Tape) -> str:
    """Behind it come lines that say what was written over the whole run."""
    whole = sum(saved.bytes for saved in tape.saved)
    most = tape.peak + tape.arrays
    arrays = f", {_bytes(tape.arrays)} of them in arrays" if tape.arrays else ""
    return f"tape: at most {_bytes(most)}{arrays}{f' ({_bytes(whole)} over the whole run)' if whole > most else ''}"


def _bytes(count: int) -> str:
    return f"{count} byte{'' if count == 1 else 's'}"


def _indented(text: str, by: int) -> list[str]:
    return [" " * by + line for line in text.splitlines()]


def explain(function: Callable[..., Any], /, *args: Any, run: bool = True, **keywords: Any) -> Explanation:
    """What of the derivative of `function` at `args` is native code, what is not, and why; and what is on its tape.

    The function is run once or twice, on copies of the arguments and with standard output held back, to see what it calls and
    how much it keeps. `run=False` looks at the function itself only. Arrays count where a loop makes them for its own stacks; those on
    stacks that a checkpoint or a recursive call hands on do not.

    >>> import zyg
    >>> def total(prices):
    ...     return sum(prices.values())
    >>> def double(x):
    ...     return 2.0 * x
    >>> zyg.explain(double, 1.5)
    double(x: f64)   <doctest zyg.inspection.explain.explain[2]>:1
      derivative: native
      tape: at most 0 bytes
    """
    if not callable(function):
        raise TypeError(f"explain takes a function and its arguments; {function!r} is not a function")
    function, args, keywords = unbound(function, args, keywords)
    plain = python_function(function)
    asked = _asked(function, args, keywords, "optimised" if run else "typed")
    refusal = asked if isinstance(asked, ZygError) else None
    if isinstance(refusal, Misuse):  # the value is not a number, which is no matter to pullbacks
        refusal = _refusal(pullback, (function, *args), keywords)
    # Native derivatives have native values in them, but for what rules stand for.
    value_refusal = _refusal(function, args, keywords) if refusal is not None or rules.users_rules() else None
    notes: list[str] = []
    calls: list[_Call] = []
    kept: Tape | None = None
    if run:
        calls = _record_calls(function, args, keywords, notes)
        if isinstance(asked, tuple):
            kept = _tape(*asked, function, args, keywords, notes)
    code = _code_of(plain)
    named = _has_name(plain) or transform_of(function) is not None
    root = Piece(
        describe(function) if named else type(function).__qualname__,
        code.co_filename if code is not None else "",
        code.co_firstlineno if code is not None else 0,
        _named(plain, args, keywords),
        refusal,
    )
    callees = tuple(_callee(c, refusal is None) for c in calls[:CALLEES] if c.code is not code)
    if len(calls) > CALLEES:
        notes.append(f"... and {len(calls) - CALLEES} more functions that it calls")
    return Explanation(root, value_refusal, callees, kept, strict(function), tuple(notes))


def _callee(call: _Call, with_native: bool) -> Piece:
    """What a native function calls was compiled with it; what Python code calls is native where that gains something."""
    refusal = None if with_native else call.refusal()
    inline = not with_native and refusal is None and not worthwhile(call.code)
    return Piece(call.name, call.file, call.line, call.parameters, refusal, inline)


def _asked(
    function: Any, args: tuple[Any, ...], keywords: dict[str, Any], until: str
) -> tuple[pipeline.Request, Any] | ZygError:
    """The gradient as it is compiled, as far as to this stage, or why it goes through Python."""
    found = _staged(lambda wanted: (wanted, pipeline.compile(wanted, until)), gradient, (function, *args), keywords)
    known = known_refusal(function, args, keywords) if isinstance(found, tuple) else None
    if known is None:
        return found
    return Unsupported(
        f"a call before this one, with arguments of the same kinds, was refused, which is not tried again. The reason: {known}"
    )


def _refusal(function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> ZygError | None:
    """Why a call has no native code; None if it has."""
    found = _staged(lambda wanted: pipeline.compile(wanted, "typed"), function, args, keywords)
    return found if isinstance(found, ZygError) else None


def _staged(
    run: Callable[[pipeline.Request], Any],
    function: Any,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    exact: bool | None = None,
) -> Any:
    """What `run` makes of a call, or the error that says why there is no native code for it."""
    try:
        return staged(run, function, args, keywords, exact=exact)
    except (Unsupported, ArgumentError, InternalError) as error:
        return error.with_traceback(None)
    except RecursionError as error:
        return Unsupported(f"the compiler's recursion: {error}", hint="this is for zyg to mend: please report it")


def _code_of(function: Any) -> types.CodeType | None:
    function = get_plainly(function, "__func__", function)
    code = get_plainly(function, "__code__")
    if code is None and not isinstance(function, type):
        code = getattr(vars(type(function)).get("__call__"), "__code__", None)
    return code if isinstance(code, types.CodeType) else None


def _named(function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """The arguments of the call, with their types as far as the compiler has them."""
    code = _code_of(function)
    names: list[str] = []
    if code is not None:
        bound = not isinstance(function, types.FunctionType)
        names = list(code.co_varnames[bound : code.co_argcount])
    named = [(names[at] if at < len(names) else str(at), arg) for at, arg in enumerate(args)]
    return tuple((name, _type_text(value)) for name, value in (*named, *keywords.items()))


def _type_text(value: Any) -> str:
    if isinstance(value, Type):
        return str(value)
    if _has_name(value) or transform_of(value) is not None:
        return describe(value)
    if isinstance(value, (str, bytes)):
        return type(value).__qualname__
    try:
        return str(type_of(value, lends_beyond=MAX_ROWS))
    except (UntypableValue, RecursionError):
        return type(value).__qualname__


def _has_name(value: Any) -> bool:
    """Whether this is a function, a class or the like. (An object's `__getattr__` is not asked: it may not be ready for that.)"""
    try:
        object.__getattribute__(value, "__qualname__")
    except AttributeError:
        return False
    return True


# ------------------------------------------------------------------------------------------------- running


@record(frozen=True, eq=False)
class _Call:
    """The first call of a Python function that was seen: the function, and its arguments as the compiler knows them."""

    code: types.CodeType
    function: types.FunctionType
    types: tuple[Type, ...]
    keywords: dict[str, Type]
    untypable: ZygError | None
    parameters: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        return self.code.co_qualname

    @property
    def file(self) -> str:
        return self.code.co_filename

    @property
    def line(self) -> int:
        return self.code.co_firstlineno

    def refusal(self) -> ZygError | None:
        if self.untypable is not None:
            return self.untypable
        found = _staged(_apart, pullback, (self.function, *self.types), self.keywords, exact=True)
        return found if isinstance(found, ZygError) else None


def _apart(wanted: pipeline.Request) -> None:
    """Compile what Python code can call."""
    check_repeatable(pipeline.compile(wanted, "typed"))


def _record_calls(function: Any, args: tuple[Any, ...], keywords: dict[str, Any], notes: list[str]) -> list[_Call]:
    """Run the function on copies, and note each Python function of the user's that is called, at its first call."""
    found: dict[types.CodeType, _Call | None] = {}
    start = sys._getframe()

    def watch(frame: types.FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event != "call" or code in found or _imports(frame, start):
            return
        found[code] = None
        if _is_users(code) and not str(frame.f_globals.get("__name__")).startswith(_OTHERS):
            sys.setprofile(None)
            try:
                found[code] = _call_of(frame)
            finally:
                sys.setprofile(watch)

    copies = _copies((args, keywords), notes)
    if copies is None:
        return []
    plain = _uncompiled(function)
    with _quiet():
        before, collecting = sys.getprofile(), gc.isenabled()
        gc.disable()  # what it would call is not called by the function
        sys.setprofile(watch)
        try:
            plain(*copies[0], **copies[1])
        except Exception as error:
            notes.append(f"the call raises {type(error).__name__}: {error}")
        finally:
            sys.setprofile(before)
            if collecting:
                gc.enable()
    return [call for call in found.values() if call is not None]


def _uncompiled(function: Any) -> Any:
    """A jitted function as it was written, so that its calls can be seen."""
    transform = transform_of(function)
    while transform is not None and transform.kind == "jit":
        function = transform.function
        transform = transform_of(function)
    return function


def _is_users(code: types.CodeType) -> bool:
    """Whether this is a function that somebody wrote, outside of Python's library and of zyg."""
    name, file = code.co_name, code.co_filename
    inner = name.startswith("<") and name != "<lambda>"  # comprehensions belong to the function around them
    made = file == "<string>" and name.startswith("__")  # by @dataclass and its like
    return (
        not inner
        and not made
        and not is_own(file)
        and not file.startswith((_LIBRARY, "<frozen", "<__array_function__"))
    )


def _imports(frame: types.FrameType | None, start: types.FrameType) -> bool:
    """Whether a call is made by an import since `start`: of a finder in `sys.meta_path`, or by the body of a module."""
    while frame is not None and frame is not start:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


# What differentiation knows as a whole, or not at all: nobody asks what is inside.
# (`__new__` of a named tuple is in a module of its own.)
_OTHERS = ("zyg.", "numpy", "scipy", "llvmlite", "namedtuple_")
_LIBRARY = os.path.dirname(os.__file__) + os.sep


def _call_of(frame: types.FrameType) -> _Call:
    code = frame.f_code
    local = frame.f_locals
    cells = tuple(types.CellType(local[n]) if n in local else types.CellType() for n in code.co_freevars)
    function = types.FunctionType(code, frame.f_globals, code.co_name, None, cells)
    function.__qualname__ = code.co_qualname
    at = code.co_argcount + code.co_kwonlyargcount
    positional = [(name, local[name]) for name in code.co_varnames[: code.co_argcount]]
    named = [(name, local[name]) for name in code.co_varnames[code.co_argcount : at]]
    if code.co_flags & inspect.CO_VARARGS:
        rest = code.co_varnames[at]
        positional += [(f"{rest}[{n}]", item) for n, item in enumerate(local[rest])]
        at += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        named += local[code.co_varnames[at]].items()
    found: dict[str, Type] = {}
    untypable: ZygError | None = None
    for name, value in (*positional, *named):
        try:
            found[name] = type_of(value)
        except UntypableValue as error:
            error.argument = name
            untypable = untypable or error.with_traceback(None)
        except RecursionError:
            untypable = untypable or UntypableValue("objects in objects, too deep for the compiler", argument=name)
    given = tuple(found[name] for name, _ in positional if name in found)
    keywords = {name: found[name] for name, _ in named if name in found}
    parameters = tuple((name, _type_text(value)) for name, value in (*positional, *named))
    return _Call(code, function, given, keywords, untypable, parameters)


def _tape(
    wanted: pipeline.Request,
    inferred: Any,
    function: Any,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    notes: list[str],
) -> Tape | None:
    copies = None if keywords else _copies(args, notes)
    if copies is None:
        return None
    with _quiet():
        try:
            return counted(wanted, inferred, (function, *copies))
        except Departed as error:
            notes.append(f"this call goes through Python all the same, as {error}")
        except Exception as error:
            notes.append(f"no tape: the gradient raises {type(error).__name__}: {error}")
    return None


def _copies(value: Any, notes: list[str]) -> Any:
    try:
        return copy.deepcopy(value)
    except Exception as error:
        notes.append(f"not run, since the arguments cannot be copied: {type(error).__name__}: {error}")
        return None


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


__all__ = ["Explanation", "Piece", "explain"]
