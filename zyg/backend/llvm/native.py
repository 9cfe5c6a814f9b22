"""Machine code that can be called: that of a module, with its entry for Python, and that of a program which is on disk as a whole.

It is one library of the engine's (engine.py), which goes away with the object that stands for it, but not while native code that can run Python
is on some thread's stack.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm

from ...ir.core import Module
from ...ir.counters import is_brief
from ...ir.options import Options
from ...ir.readymade import NeedsBody
from ...ir.records import record
from ...ir.types import Array, leaves_in_pairs
from ..tracebacks import make_raiser
from .background import background
from .engine import Address, Pieces, bury, emission, engine, has_masks
from .entry import ENTRY, Signature, write_entry
from .jobs import jobs_of, used
from .lower import lower
from .lowered import WHOLE_ARRAYS, Lowered, no_variants
from .tiers import Begun, Careful, may_be_replaced
from .workers import Job


@record(eq=False)
class Linked:
    """Machine code that can be called. Keeps alive what the code refers to."""

    signature: Signature
    objects: list[object]
    library: Any = None
    table: Any = None
    careful: Careful | None = None  # what comes in the place of code that was made quickly

    def address(self, name: str = ENTRY) -> Address:
        return self.library[name]

    def hold(self) -> Address:
        """Where the objects are that the code refers to."""
        self.table = (ctypes.py_object * max(1, len(self.objects)))(*map(ctypes.py_object, self.objects))
        return ctypes.addressof(self.table)

    def __del__(self) -> None:
        # Code may be on the stack of a call that is still under way.
        if self.library is not None:
            bury(self.library, self.table, self.objects, self.careful)


@record(eq=False)
class Kept(Linked):
    """That of a program which is on disk as a whole. What it was made of is asked of the same program, compiled."""

    anew: Callable[[], Any] = lambda: None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "anew" not in vars(self):
            raise AttributeError(name)
        return getattr(self.anew(), name)


class Native(Linked):
    """That of a module. Texts of the stages are made when asked for."""

    def __init__(self, module: Module, entry: str, options: Options, signature: Signature, lowered: Lowered):
        super().__init__(signature, lowered.objects)
        self.module = module
        self.entry = entry
        self.options = options
        self.lowered = lowered
        self.pieces: Pieces | None = None  # of what is kept on disk

    @property
    def llvm(self) -> str:
        """LLVM IR of the functions as they come out of lowering, without the Python entry."""
        return self._bodies().text

    @property
    def llvm_optimised(self) -> str:
        """The same after optimisation."""
        return self._optimised_text(False)

    @property
    def asm(self) -> str:
        """Machine code of the functions, as assembly."""
        return self._assembly(False)

    def llvm_with_places(self, optimised: bool) -> str:
        """LLVM IR that says by its debugging information where in the source instructions come from."""
        return self._optimised_text(True) if optimised else self._bodies(True).text

    def asm_with_places(self) -> str:
        """The same of the assembly, by its directives .file and .loc."""
        return self._assembly(True)

    def _optimised_text(self, lines: bool) -> str:
        return "".join(_without_noise(str(module)) for module, _ in self._optimised(lines))

    def _assembly(self, lines: bool) -> str:
        e = engine()
        texts = []
        for module, job in self._optimised(lines):
            assert job.effort is not None
            with e.lock, emission(job.effort.careful):
                e.worker.prepare([job])
                texts.append(e.worker.generator(job.generator).emit_assembly(module))
        return "".join(texts)

    def _bodies(self, lines: bool = False) -> Lowered:
        brief = is_brief(self.module)
        variants = engine().vector_variants if self.options.vectormath and not brief else no_variants
        return lower(self.module, self.entry, variants, exported=True, lines=lines, masks=has_masks())

    def _optimised(self, lines: bool) -> list[tuple[llvm.ModuleRef, Job]]:
        e = engine()
        found = []
        with e.lock:
            for job in jobs_of(self._bodies(lines), is_brief(self.module)):
                assert job.effort is not None
                module = e.worker.parse(job.text)
                e.worker.optimise(module, job.effort)
                found.append((module, job))
        return found


def _without_noise(text: str) -> str:
    """LLVM's printout without what only the linker needs."""
    drop = ("; ModuleID", "source_filename", "target ", "@llvm.compiler.used")
    return "\n".join(line for line in text.splitlines() if not line.startswith(drop)).strip() + "\n"


def compile_module(module: Module, entry: str, options: Options, signature: Signature, soon: bool = False) -> Native:
    """Compile `entry`, and what it calls, to machine code with a Python entry for the given signature. `soon`: a first call, which waits
    for it, is over before long."""
    e = engine()
    with e.lock:
        brief = is_brief(module)
        variants = e.vector_variants if options.vectormath and not brief else no_variants
        # An entry that boxes arrays is hundreds of lines, of which the optimiser makes nothing better.
        apart = not brief and any(isinstance(v.type, Array) for v in module.functions[entry].params)
        types = (*signature.parameters, *(type for _, type in signature.inputs))
        module.functions[entry].attrs["pairs"] = leaves_in_pairs(types)
        twice = apart and may_be_replaced(options)
        with Begun(e) as begun:
            written = begun.written if twice else None
            lowered = lower(module, entry, variants, exported=apart, masks=has_masks(), apart=True, written=written)
            native = Native(module, entry, options, signature, lowered)
            raiser = make_raiser(lowered.errors, signature.departed is not None)
            outer = write_entry(lowered, entry, signature, options, raiser, apart)
            careful = Careful.of(lowered, entry, brief, begun.pieces, soon) if twice else None
            jobs = jobs_of(lowered, brief) if careful is None else careful.quick
            if apart:
                # Code of an entry is generated with care, unless calls take long: without, small arrays come and go 10 ns slower.
                text = outer.text() if careful is None else careful.called_by(outer.text())
                jobs = [*jobs, Job(text, None, "quick" if WHOLE_ARRAYS in lowered.module.flags else "careful")]
            images = begun.objects(jobs) if twice else e.objects(jobs, options.cache)
        extra = {"zyg_objects": native.hold(), **e.library(lowered.kept, lowered.readymade, may_be_replaced(options))}
        imports = dict.fromkeys(n for m in (lowered.module, outer) for n in m.imports())
        exports = [ENTRY]
        if careful is not None:
            extra |= careful.places()
            imports |= dict.fromkeys(careful.places())
            exports += careful.exports()
        e.clear_away()
        wanted = used(lowered, imports, images)
        native.library = e.link(images, wanted, exports, extra)
        if options.cache:
            native.pieces = e.pieces(jobs, wanted, lowered)
        if careful is not None:
            native.careful = careful
            careful.begin(native, e, list(imports), extra)
        functions = e.begin_functions() if may_be_replaced(options) else []
    for task in [careful, *functions] if careful is not None else functions:
        background.add(task)  # (not under the engine's lock: who is about to fork has that of the background first)
    return native


def link_program(pieces: Pieces, objects: list[object], signature: Signature, anew: Callable[[], Any]) -> Kept | None:
    """A program that is on disk; None if parts of it are not there any more, or it calls what is not."""
    from . import cache

    e = engine()
    with e.lock:
        images = [image for name in pieces.images if (image := cache.load(name)) is not None]
        if len(images) < len(pieces.images):
            return None
        kept = Kept(signature, objects, anew=anew)
        try:
            extra = {"zyg_objects": kept.hold(), **e.library({}, {code.symbol: code for code in pieces.library})}
            e.clear_away()
            kept.library = e.link(images, pieces.imports, [ENTRY], extra)
        except (NeedsBody, LookupError):
            return None
    return kept


__all__ = ["Kept", "Linked", "Native", "Pieces", "Signature", "compile_module", "link_program"]
