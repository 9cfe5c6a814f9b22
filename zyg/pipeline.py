"""The compiler on one screen.

`compile` takes a Request (a callable, the types of its arguments, options) through STAGES.  Each stage is a function of
what the stage before it made.  After each one the SSA may be verified (`settings.verify`, as in all tests, or
ZYG_VERIFY=1) and dumped (ZYG_DUMP=typed,optimised); each one is timed (`timings`, or ZYG_TIMING=1).

    request --infer--> typed --optimise--> optimised --own--> owned --generate--> native

Decoding and capture happen inside `infer`, function by function as calls are met; so does differentiation, where a call
of `gradient` is met: its result has a type that inference needs to go on.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

from zyg.ir.plainly import get_plainly

from . import collecting
from .errors import InternalError, Unsupported, ZygError, of_a_signal
from .ir.core import Module, Position
from .ir.options import Options
from .ir.readymade import NeedsBody
from .ir.records import field, record, replace
from .ir.types import Const, PullbackType, Type
from .own import ABOVE
from .transforms import DIRECT_KINDS, describe, python_function, transform_of


@record(frozen=True)
class Request:
    """What to compile: a call of `function` with arguments of these types, the last len(keywords) by keyword.

    `fixed`: integers in global and captured variables are constants, and it is compiled again when they change.
    `exact`: Python code goes on with what it gives, in the place of what the function gives in CPython.
    `small`: the call that waits for it has small arguments.
    `bodies`: functions of the library that are on disk as machine code have bodies all the same, for who looks at them
    (frontend/readymade.py).
    """

    function: Any
    types: tuple[Type, ...]
    keywords: tuple[str, ...] = ()
    options: Options = field(default_factory=Options)
    fixed: bool = False
    exact: bool = False
    bodies: bool = True
    small: bool = False


@record(frozen=True)
class Compiled:
    """What came out: the typed SSA after the last pass with its signature (`inferred`), and the native code.

    It does not know the request: a callable that owns its code would own itself, and wait for the garbage collector.
    """

    inferred: Any
    native: Any
    anew: Any = None  # of a program that was found on disk (keeping/programs.py)


# ------------------------------------------------------------------------------------------------- stages


def infer(request: Request) -> Any:
    from .frontend.infer import infer

    given = (request.function, request.types, request.keywords)
    return infer(*given, options=request.options, fixed=request.fixed, exact=request.exact, bodies=request.bodies)


def optimise(request: Request, inferred: Any) -> Any:
    from .ir.passes import optimise

    optimise(inferred.module, "full", entry=inferred.entry, verify=settings.verify)
    return inferred


def own(request: Request, inferred: Any) -> Any:
    from .ir.passes import optimise

    optimise(inferred.module, "ownership", verify=settings.verify)
    return inferred


def generate(request: Request, inferred: Any) -> Compiled:
    from . import departures
    from .backend.calling import Signature, compile_module

    signature = Signature(
        parameters=inferred.parameters,
        result=inferred.result,
        inputs=tuple((source.kind, source.type) for source in inferred.inputs),
        guarded=bool(inferred.guards) or any(source.kind == "global" for source in inferred.inputs),
        keyword_only=bool(request.keywords),
        orders=True,
        writes=inferred.writes,
        parted=_takes_functions_as_constants(request, inferred.parameters),
        rebuild=lambda type, options=request.options: _rebuild(type, options),
        departed=departures.handler(request.function, inferred),
    )
    native = compile_module(inferred.module, inferred.entry, request.options, signature, request.small)
    if native.lowered.offers:
        from .frontend import readymade

        readymade.keep(inferred.module, native.lowered.offers, native.lowered.kept)
    return Compiled(inferred, native)


def _takes_functions_as_constants(request: Request, parameters: tuple[Type, ...]) -> bool:
    """Whether a derivative is of a function whose captured data are hidden inputs, and constants (`typeof.Typing.constant`)."""
    transform = transform_of(request.function)
    functions = [t.value for t in parameters if isinstance(t, Const) and isinstance(t.value, types.FunctionType)]
    return transform is not None and transform.kind in DIRECT_KINDS and any(f.__closure__ for f in functions)


def _rebuild(type: Type, options: Options) -> Callable[..., Any]:
    """What makes a Python object of a structured type whose leaves native code has boxed."""
    from .backend.calling import rebuild

    if isinstance(type, PullbackType):
        from .pullbacks import rebuild_pullback

        return rebuild_pullback(type, options)
    return rebuild(type)


STAGES: list[tuple[str, Callable[..., Any]]] = [
    ("typed", infer),
    ("optimised", optimise),
    # Ownership comes after differentiation and optimisation: what they remove or keep alive decides who frees what.
    ("owned", own),
    ("native", generate),
]


# ------------------------------------------------------------------------------------------------ driving


@record
class _Settings:
    verify: bool = bool(os.environ.get("ZYG_VERIFY"))
    dump: frozenset[str] = frozenset(filter(None, os.environ.get("ZYG_DUMP", "").split(",")))
    report: bool = bool(os.environ.get("ZYG_TIMING"))


settings = _Settings()
_listeners: list[list[tuple[str, str, float]]] = []


@contextlib.contextmanager
def timings() -> Iterator[list[tuple[str, str, float]]]:
    """Collect (function, stage, seconds) of everything that is compiled inside.

    >>> with timings() as times:
    ...     pass
    >>> times
    []
    """
    record: list[tuple[str, str, float]] = []
    _listeners.append(record)
    try:
        yield record
    finally:
        _listeners.remove(record)


@contextlib.contextmanager
def timed(name: str, stage: str) -> Iterator[None]:
    """Report what happens inside to `timings`."""
    start = time.perf_counter()
    try:
        yield
    finally:
        elapsed = time.perf_counter() - start
        for record in list(_listeners):
            record.append((name, stage, elapsed))
        if settings.report:
            print(f"zyg: {name}: {stage} {elapsed * 1e3:.2f} ms", file=sys.stderr)


@contextlib.contextmanager
def rare_collections() -> Iterator[None]:
    """While something is compiled.

    Where modules of the compiler were loaded, what they made stays: it is counted among the old objects at once, instead of
    being looked through in the end.
    """
    modules = len(sys.modules)
    with collecting.rarely(collecting.COMPILING):
        try:
            yield
        finally:
            if len(sys.modules) > modules and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()


def compile(request: Request, until: str = "native") -> Any:
    """Take `request` through the stages, as far as the one named."""
    with rare_collections():
        missing: set[str] = set()
        while True:
            try:
                result = _compile(request, until)
                break
            except NeedsBody as found:
                from .frontend import readymade

                # Once more without those functions: they are kept then, with what they lacked.
                for code in found.codes:
                    readymade.want(code)
                    if code.symbol in missing:
                        request = replace(request, bodies=True)
                    missing.add(code.symbol)
        if kept := sys.modules.get("zyg.frontend.kept"):  # which is loaded where much of zyg's own is read
            kept.store()
        return result


def _compile(request: Request, until: str) -> Any:
    name = describe(request.function)
    result: Any = None
    for stage, run in STAGES:
        with timed(name, stage):
            try:
                result = run(request) if result is None else run(request, result)
            except Unsupported as error:
                # What concerns the function as a whole, such as its result, is at its first line.
                raise error.at(_first_line(request)) from error.__cause__
            except (ZygError, NeedsBody, RecursionError, MemoryError):
                raise
            except Exception as error:
                if of_a_signal(error):  # (a time limit, say) it is for who called
                    raise
                signature = ", ".join(map(str, request.types))
                raise InternalError(
                    f"a bug in zyg, in stage '{stage}' of compiling {name} for ({signature}): "
                    f"{type(error).__name__}: {error}",
                    stage,
                ) from error
        module = getattr(result, "module", None)
        if isinstance(module, Module):
            check(module, stage, name)
        if stage == until:
            break
    return result


def _first_line(request: Request) -> Position | None:
    """Where the function that the user wrote begins."""
    function = request.function
    transform = transform_of(function)
    if transform is not None and transform.kind in DIRECT_KINDS and request.types:
        first = request.types[0]
        function = getattr(first, "function", None) or getattr(first, "value", None)
    plain = python_function(function)
    code = get_plainly(plain, "__code__")
    if (
        isinstance(code, types.CodeType) and code.co_filename in ABOVE
    ):  # made of the user's: part of a second derivative
        code = get_plainly(get_plainly(plain, "__wrapped__", None), "__code__")
    if not isinstance(code, types.CodeType):
        return None
    return Position(code.co_filename, code.co_firstlineno, function=code.co_qualname)


def check(module: Module, stage: str, name: str) -> None:
    """Dump and verify what a stage made."""
    if stage in settings.dump or "all" in settings.dump:
        print(f"# {name}, {stage}\n{module}\n", file=sys.stderr)
    if settings.verify:
        from .ir.verify import verify

        try:
            verify(module)
        except Exception as error:
            if of_a_signal(error):
                raise
            raise InternalError(f"stage '{stage}' made SSA of {name} that does not verify: {error}", stage) from error
