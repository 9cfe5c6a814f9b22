"""The entry from Python: a vectorcall function that unboxes arguments, calls compiled code and boxes its results.

It is `@zyg_entry(self, args, nargsf, kwnames, record)`, where `record` (runtime.RECORD) holds what belongs to one
callable rather than to the code: guards, containers of hidden inputs, names, defaults.  A wrong count, a type that is
not the one compiled for, or a guard that no longer holds, leads to the next record, finally to the Python dispatcher,
by a tail call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ir.departures import departs
from ...ir.options import Options
from ...ir.records import field, record
from ...ir.types import (
    Closure,
    DictType,
    ListType,
    ObjectOf,
    Optional,
    PullbackType,
    Sequence,
    Struct,
    Tuple,
    Type,
    children,
    flatten,
)
from .. import cpython as layout
from . import runtime
from .boxing import Boxing, is_native
from .lowered import CodeEmitter, Lowered
from .text import ModuleText, component_types, value_types

ENTRY = "zyg_entry"


@record(frozen=True)
class Signature:
    """How Python calls a compiled function: structured types, whose leaves in order are the IR function's parameters.

    parameters: of the arguments, in order; after them come the hidden inputs.
    inputs: (kind, type) per hidden input; kind "global": the object that a guard puts in place, "cell": the contents
        of a closure cell.  The containers are given per callable, to `make_entry`.
    result: of what is returned; its leaves in order are the IR function's results.
    guarded: whether there are guards to check at all.
    keyword_only: whether any parameter can be passed by keyword only, so that counting arguments is not enough.
    orders: whether arguments that are arrays in Fortran order are of a type of their own, and not of that of strided arrays.
    writes: what is written back into objects that came in as arguments; their leaves come behind those of the result.
    parted: whether an object that comes in as an argument must not be in a hidden input, too.
    departed: gets the errors that CPython does not raise, in the form of a function that raises the error, together with the callable
        and its arguments; it gives the value of the call, or that function. None: they are raised.
    rebuild: makes, for a structured type, the Python function that builds such an object (None: calling.rebuild).
    """

    parameters: tuple[Type, ...]
    result: Type
    inputs: tuple[tuple[str, Type], ...] = ()
    guarded: bool = False
    keyword_only: bool = False
    orders: bool = False
    writes: tuple[Any, ...] = ()
    parted: bool = False
    rebuild: Callable[[Type], Callable[..., Any]] | None = field(default=None, compare=False)
    departed: Callable[..., Any] | None = field(default=None, compare=False)


def write_entry(
    lowered: Lowered, entry: str, signature: Signature, options: Options, raiser: object, apart: bool = False
) -> ModuleText:
    """Write the Python entry of function `entry`: into the module, or `apart` from it into one of its own, for which LLVM's
    optimiser need not run."""
    module = ModuleText() if apart else lowered.module
    if apart:
        module.declarations.append(lowered.signatures[entry].declaration())
    EntryLowering(lowered, module, entry, signature, options, raiser).write()
    return module


class EntryLowering:
    def __init__(
        self,
        lowered: Lowered,
        module: ModuleText,
        entry: str,
        signature: Signature,
        options: Options,
        raiser: object,
    ):
        self.e = CodeEmitter(lowered, module)
        self.lowered = lowered
        self.abi = lowered.signatures[entry]
        self.signature = signature
        self.raiser = raiser
        self.boxing = Boxing(self.e, signature.rebuild)
        types = (*signature.parameters, *(t for _, t in signature.inputs))
        leaves = tuple(leaf for t in types for leaf in flatten(t))
        results = (signature.result, *(w.content for w in signature.writes))
        returned = tuple(leaf for t in results for leaf in flatten(t))
        if leaves != self.abi.params or returned != self.abi.results:
            given = _signature_text(leaves, returned)
            its = _signature_text(self.abi.params, self.abi.results)
            raise TypeError(f"the signature {given} is not that of @{entry}: {its}")
        self.escapes = any(map(_has_pullback, results))
        self.departed = signature.departed if any(departs(site.exception) for site in lowered.errors) else None
        self.kept = "null"
        self.nogil = options.nogil
        self.needs_ctx = self.abi.needs_ctx or self.escapes or self.nogil
        self.runs_python = (
            self.abi.may_run_python
            or self.nogil
            or bool(signature.writes)
            or not _plain(signature.result)
            or any(map(_asks_python, types))
        )
        self.boxing.careful = any(map(_asks_python, types))
        self.boxing.hold_arrays = self.boxing.careful or self.abi.may_run_python or self.nogil

    def write(self) -> None:
        e = self.e
        for name in ("self", "args", "nargs", "kwnames", "record", "entry", "miss", "drop"):
            e.name(name)
        args = self.bind_arguments()
        if self.signature.guarded:
            self.check_guards()
        if self.runs_python:
            self.count_running(1)
        leaves: list[str] = []
        unbox = self.boxing.unbox_argument if self.signature.orders else self.boxing.unbox
        for index, type in enumerate(self.signature.parameters):
            leaves += unbox(type, e.field("ptr", args, 8 * index, "", "arg"), "drop")
        self.boxing.require_different("drop")
        leaves += self.fetch_inputs()
        result = self.call(leaves)
        if self.departed is not None:
            self.go_on_if_departed()
        e.emit(f"ret ptr {result}")
        self.write_misses()
        text = f"define ptr @{ENTRY}(ptr %self, ptr %args, i64 %nargs, ptr %kwnames, ptr %record)"
        body = "\n".join([f"{text} {e.module.group('nounwind')} {{", "entry:", *e.allocas, *e.lines, "}"])
        e.module.functions.append(body)

    # ------------------------------------------------------------------------------------------- coming in

    def bind_arguments(self) -> str:
        """A pointer to the arguments in order: as they come if all are positional, else bound out of line."""
        e, count = self.e, len(self.signature.parameters)
        given = e.let(f"and i64 %nargs, {2**63 - 1}", "given")
        # As many positional arguments as parameters are right unless some of them take no positional argument.
        right = "false" if self.signature.keyword_only else e.let(f"icmp eq i64 {given}, {count}")
        plain = e.let("icmp eq ptr %kwnames, null")
        e.branch(e.let(f"and i1 {right}, {plain}"), e.name("bound"), e.name("bind"), likely=True)
        e.start("bind")
        place = e.alloca(f"[{max(1, count)} x ptr]", "arguments")
        bind = e.module.external("zyg_bind", "i1", "ptr, i64, ptr, ptr, ptr", "nounwind")
        fits = e.call(
            "i1", bind, "ptr %args", f"i64 {given}", "ptr %kwnames", "ptr %record", f"ptr {place}", attributes="cold"
        )
        e.branch(fits, "bound", "miss")
        e.start("bound")
        return e.let(f"phi ptr [ %args, %entry ], [ {place}, %bind ]", "values")

    def check_guards(self) -> None:
        """Compare the watched words; if one has changed, the runtime looks at the guards themselves."""
        e = self.e
        revalidate = e.module.external("zyg_revalidate", "i1", "ptr", "nounwind")
        if not layout.DICT_HAS_VERSION:
            # Nothing tells of changes in a dict: look every time.
            holds = e.name("valid")
            e.branch(e.call("i1", revalidate, "ptr %record"), holds, "miss", likely=True)
            e.start(holds)
            return
        before = e.label
        count = e.field("i64", "%record", runtime.RECORD.watch_count, "", "watches")
        table = e.field("ptr", "%record", runtime.RECORD.watch, "", "watch")
        head, body, following, changed, valid = (e.name(n) for n in ("watch", "word", "watched", "changed", "valid"))
        e.jump(head)
        e.start(head)
        k, k1 = "%" + e.name("w"), "%" + e.name("w")
        e.emit(f"{k} = phi i64 [ 0, %{before} ], [ {k1}, %{following} ]")
        e.branch(e.let(f"icmp slt i64 {k}, {count}"), body, valid)
        e.start(body)
        pair = e.let(f"getelementptr {{ptr, i64}}, ptr {table}, i64 {k}")
        word = e.let(f"load i64, ptr {e.field('ptr', pair, 0)}")
        same = e.let(f"icmp eq i64 {word}, {e.field('i64', pair, 8)}")
        e.branch(same, following, changed, likely=True)
        e.start(following)
        e.emit(f"{k1} = add i64 {k}, 1")
        e.jump(head)
        e.start(changed)
        e.branch(e.call("i1", revalidate, "ptr %record", attributes="cold"), valid, "miss", likely=True)
        e.start(valid)

    def fetch_inputs(self) -> list[str]:
        e, leaves = self.e, []
        if not self.signature.inputs:
            return []
        table = e.field("ptr", "%record", runtime.RECORD.inputs, "", "inputs")
        given, tables = list(self.boxing.objects), len(self.boxing.tables)
        for index, (kind, type) in enumerate(self.signature.inputs):
            self.boxing.first = len(self.boxing.objects)
            container = e.field("ptr", table, 8 * index, "", "input")
            if kind == "cell":
                leaves += self.boxing.unbox_cell(type, container, "drop")
            else:
                leaves += self.boxing.unbox(type, self.boxing.hold(container), "drop")
        # An object that is changed as an argument must not be read as a global too.
        asked = given if self.signature.parted else [given[write.number] for write in self.signature.writes]
        for other in self.boxing.objects[len(given) :]:
            for one in asked:
                e.require(e.let(f"icmp ne ptr {other}, {one}"), "drop")
        for table in self.boxing.tables[tables:] if asked else ():
            self.boxing.require_apart([table], asked, "drop")
        return leaves

    def write_misses(self) -> None:
        """Undo what unboxing did, then on to the next record."""
        e = self.e
        e.start("drop")
        self.boxing.release_slots()
        if self.runs_python:
            self.count_running(-1)
        e.jump("miss")
        e.start("miss")
        miss = e.module.external("zyg_miss", "ptr", "ptr, ptr, i64, ptr, ptr")
        arguments = ("ptr %self", "ptr %args", "i64 %nargs", "ptr %kwnames", "ptr %record")
        e.emit(f"ret ptr {e.call('ptr', miss, *arguments, kind='musttail call')}")

    def go_on_if_departed(self) -> None:
        e = self.e
        departed, over = e.name("departed"), e.name("over")
        e.branch(e.let(f"icmp eq ptr {self.kept}, null"), over, departed, likely=True)
        e.start(departed)
        function = e.module.external("zyg_departed", "ptr", "ptr, ptr, ptr, ptr, i64, ptr", "nounwind")
        arguments = ("ptr %self", "ptr %args", "i64 %nargs", "ptr %kwnames")
        handler = e.object(self.departed, "departed")
        self.count_running(1)
        found = e.call("ptr", function, f"ptr {handler}", f"ptr {self.kept}", *arguments, attributes="cold")
        self.count_running(-1)
        e.emit(f"ret ptr {found}")
        e.start(over)

    def count_running(self, step: int) -> None:
        """Code that may run Python code must not be unloaded meanwhile."""
        at = self.e.module.external("zyg_running")
        self.e.set_field("i64", self.e.let(f"add i64 {self.e.field('i64', at, 0)}, {step}"), at, 0)

    # -------------------------------------------------------------------------------------------- the call

    def call(self, leaves: list[str]) -> str:
        """Call, box, clean up; gives the object to return (null: an exception is set)."""
        e, abi = self.e, self.abi
        arguments = [f"{t} {v}" for t, v in zip(component_types(abi.params), leaves, strict=True)]
        failed = e.name("failed")
        ctx = self.make_ctx() if self.needs_ctx else "null"
        if abi.needs_ctx:
            arguments.insert(0, f"ptr {ctx}")
        if self.lowered.calls_python:
            self.boxing.pin_arrays(abi.params, leaves, ctx, failed)
        one = not abi.recursive and e.module is self.lowered.module
        status, parts = abi.call(e, arguments, "alwaysinline" if one else "")
        if self.needs_ctx and (abi.may_run_python or self.nogil):
            e.call("void", e.module.external("zyg_gil_take", "void", "ptr", "nounwind"), f"ptr {ctx}")
        good, bad, done = (e.name(n) for n in ("returned", "error", "finish"))
        if status is None:
            self.departed = None
            e.jump(good)
        else:
            e.branch(e.let(f"icmp eq i32 {status}, 0"), good, bad, likely=True)

        e.start(good)
        self.boxing.last = _without_python(self.signature.result) and not self.signature.writes
        if self.is_scalar_call():
            # Nothing to clean up: the boxed result, or null if there was no memory for it, is what we return.
            boxed = self.boxing.box_native(self.signature.result, parts, ctx, failed)
        else:
            boxed = self.box_result(parts, ctx, failed)
        from_good = e.label
        e.jump(done)

        incoming = [(boxed, from_good), ("null", failed)]
        if status is not None:
            e.start(bad)
            self.kept = self.raise_error(ctx, status)
            incoming.append(("null", e.label))
            e.jump(done)

        e.start(failed)
        e.jump(done)

        e.start(done)
        returned = e.let("phi ptr " + ", ".join(f"[ {v}, %{label} ]" for v, label in incoming), "boxed")
        if self.departed is not None:
            kept = ", ".join(
                f"[ {self.kept if label == incoming[-1][1] else 'null'}, %{label} ]" for _, label in incoming
            )
            self.kept = e.let(f"phi ptr {kept}", "kept")
        self.clean_up(ctx)
        return returned

    def box_result(self, parts: list[str], ctx: str, failed: str) -> str:
        """The object to return; what became of objects that came in is written back into them."""
        from ..calling import writer

        count = len(value_types(flatten(self.signature.result)))
        boxed = self.boxing.box(self.signature.result, parts[:count], ctx, failed)
        if not self.signature.writes:
            return boxed
        slot = self.boxing.keep(boxed)
        for write in self.signature.writes:
            end = count + len(value_types(flatten(write.content)))
            self.boxing.write_back(write, writer(write), parts[count:end], ctx, failed)
            count = end
        self.e.emit(f"store ptr null, ptr {slot}")
        return boxed

    def raise_error(self, ctx: str, status: str) -> str:
        """Turn a status into a Python exception; null. (Or what is kept of one that CPython does not raise.)"""
        e = self.e
        if not self.runs_python:
            self.count_running(1)
        fail = e.module.external("zyg_fail", "ptr", "ptr, i32, ptr", "nounwind")
        values = e.at(ctx, runtime.CTX.error) if self.abi.needs_ctx else "null"
        raiser = e.object(self.raiser, "raiser")
        nothing = e.call("ptr", fail, f"ptr {raiser}", f"i32 {status}", f"ptr {values}", attributes="cold")
        if not self.runs_python:
            self.count_running(-1)
        return nothing

    def is_scalar_call(self) -> bool:
        plain = not isinstance(self.signature.result, Tuple) and is_native(self.signature.result)
        return plain and not self.signature.writes

    def make_ctx(self) -> str:
        e = self.e
        headers = FRAME_HEADERS if not self.escapes and self.makes_arrays() else 0
        ctx = e.alloca(f"[{runtime.CTX.size + headers * runtime.HEADER.size} x i8]", "ctx", align=16)
        memset = e.module.intrinsic("llvm.memset.p0.i64", "void", "ptr, i8, i64, i1 immarg")
        e.emit(f"call void {memset}(ptr {ctx}, i8 0, i64 {runtime.CTX.zeroed}, i1 false)")
        for k in range(headers):
            header = e.at(ctx, runtime.CTX.size + k * runtime.HEADER.size)
            following = e.at(header, runtime.HEADER.size) if k + 1 < headers else "null"
            e.set_field("ptr", following, header, runtime.HEADER.next)
            if k == 0:
                e.set_field("ptr", header, ctx, runtime.CTX.headers, "ctx")
        if self.abi.recursive:
            limit = e.call("ptr", e.module.external("zyg_stack_limit", "ptr", "", "nounwind"))
            e.set_field("ptr", limit, ctx, runtime.CTX.stack_limit, "ctx")
        if self.escapes:
            # What a pullback holds should be little: no large block out of the pool.
            e.set_field("i64", "1024", ctx, runtime.CTX.first_block, "ctx")
        if self.nogil:
            e.call("void", e.module.external("zyg_gil_give", "void", "ptr", "nounwind"), f"ptr {ctx}")
        return ctx

    def makes_arrays(self) -> bool:
        return any(runtime.HOMES.get(name) == "fastpaths" for name in self.lowered.module.externals)

    def clean_up(self, ctx: str) -> None:
        """Free what the call used; what a pullback needs that Python has got, also one of a call that failed, is freed with it."""
        e = self.e
        if self.needs_ctx:
            # Code without arrays does not need the part of the runtime that frees them.
            externals = {*e.module.externals, *self.lowered.module.externals}
            only_stacks = {runtime.HOMES.get(name) for name in externals}.isdisjoint(_KEEPING)
            finish = "zyg_arena_finish" if only_stacks else "zyg_ctx_finish"
            finish = e.module.external(finish, "void", "ptr", "nounwind")
            if self.boxing.saved_slot is not None:
                escape = e.module.external("zyg_ctx_escape", "void", "ptr, ptr", "nounwind")
                escaping, ending, over = e.name("escape"), e.name("end"), e.name("over")
                owner = e.let(f"load ptr, ptr {self.boxing.saved_slot}")
                e.branch(e.let(f"icmp ne ptr {owner}, null"), escaping, ending)
                e.start(escaping)
                e.call("void", escape, f"ptr {ctx}", f"ptr {owner}")
                e.jump(over)
                e.start(ending)
                e.call("void", finish, f"ptr {ctx}")
                e.jump(over)
                e.start(over)
            elif self.makes_arrays():
                e.call("void", finish, f"ptr {ctx}")
            else:
                used, over = e.name("used"), e.name("over")
                block = e.field("ptr", ctx, runtime.CTX.block, "ctx")
                e.branch(e.let(f"icmp eq ptr {block}, null"), over, used)
                e.start(used)
                e.call("void", finish, f"ptr {ctx}")
                e.jump(over)
                e.start(over)
        self.boxing.release_slots()
        if self.runs_python:
            self.count_running(-1)


# Parts of the runtime that leave something in a context for `zyg_ctx_finish`.
_KEEPING = {"arrays", "boxes", "fastpaths", "saved"}
FRAME_HEADERS = 4  # arrays whose headers lie in the entry's frame


def _signature_text(parameters: tuple[Type, ...], results: tuple[Type, ...]) -> str:
    return f"({', '.join(map(str, parameters))}) -> ({', '.join(map(str, results))})"


def _has_pullback(type: Type) -> bool:
    return isinstance(type, PullbackType) or any(map(_has_pullback, children(type)))


def _plain(type: Type) -> bool:
    """Whether boxing runs no Python code (before 3.12 a new tuple may start the garbage collector)."""
    return _without_python(type) and (layout.VERSION >= (3, 12) or not isinstance(type, Tuple))


def _without_python(type: Type) -> bool:
    """Whether boxing calls no Python functions."""
    return all(map(_without_python, type.items)) if isinstance(type, Tuple) else is_native(type)


def _asks_python(type: Type) -> bool:
    """Whether unboxing may run Python code: attributes of dataclasses and of pullbacks."""
    if isinstance(type, (PullbackType, ObjectOf, DictType, Sequence)):
        return True
    if isinstance(type, Struct) and not issubclass(type.cls, tuple):
        return True
    if isinstance(type, (Tuple, ListType, Struct, Closure)):
        return any(map(_asks_python, type.items))
    return isinstance(type, Optional) and _asks_python(type.item)


__all__ = ["ENTRY", "Signature", "write_entry"]
