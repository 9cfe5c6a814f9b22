"""LLVM itself: target, optimiser, object code, linking. Everything is made on first use, under one lock.

Modules are optimised by the new pass manager's O3 pipeline (loop vectorisation on; SLP only where a function carries
several tangents side by side: elsewhere it was never better and sometimes three times worse on adjoint code), emitted as
an object and linked by ORC.  Code of which a call is over after some hundred instructions gets a few passes only: our
own have done the rest, and it runs as fast.  So have they where there are many loops over whole arrays, for which O1 does what
O3 does (`Effort`).  The linked code is one library per module and goes away with its `Native`,
but not while native code that can run Python is on some thread's stack.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np
from llvmlite.binding.newpassmanagers import NewPassManager

from ...ir.core import Module
from ...ir.counters import is_brief
from ...ir.dtypes import NUMPY_SCALARS
from ...ir.foreign import address_of as foreign_address
from ...ir.foreign import is_foreign
from ...ir.options import Options
from ...ir.records import record
from ...ir.types import Array, leaves_in_pairs
from .. import cpython as layout
from ..tracebacks import make_raiser
from . import matrixmath, runtime, vectormath
from .entry import ENTRY, Signature, write_entry
from .lower import lower
from .lowered import LANES, WHOLE_ARRAYS, Lowered, no_variants
from .lowering.mathematics import OWN_MATH
from .runtime.layout import POOL_BYTES
from .specials import special_text
from .splitting import split

Address = int
LARGE = 3000  # lines of assembly from which on loops are not unrolled, which costs a third of the time that LLVM takes
GENERATION = 16  # libraries per linker
# Runs of a pass builder.  With options of LLVM that print or time passes it has to be 1: their callbacks outlive a run.
BUILDER_RUNS = 16
BRIEF = ("always_inliner", "global_dead_code_eliminate", "sroa", "simplify_cfg", "instruction_combine", "simplify_cfg")


@record(frozen=True)
class Effort:
    """What LLVM does for a module.  (Its text is part of the key of code kept on disk.)

    brief: the passes of BRIEF, no pipeline.  Else the pipeline of the level, with loop vectorisation.
    slp: vectors of what stands side by side.
    careful: with strength reduction of loops.  It takes a sixth of the time of a module of loops over whole arrays, and finds
    nothing: their counters go up by ones, and processors add them to addresses by themselves.
    """

    brief: bool
    level: int
    slp: bool
    unroll: bool
    careful: bool


def effort(assembly: str, brief: bool = False) -> Effort:
    """For a module, `brief` if a call of it is over at once."""
    several, arrays = has_flag(assembly, LANES), has_flag(assembly, WHOLE_ARRAYS)
    return Effort(
        brief=brief and not several,
        level=1 if arrays and not several else 3,
        slp=several,
        unroll=assembly.count("\n") < LARGE,
        careful=several or not arrays,
    )


def has_flag(assembly: str, flag: str) -> bool:
    return f"\n!{flag} = " in assembly


@record(eq=False, slots=True)
class Library:
    """Linked code; it goes away with this object, the linker after its last library."""

    tracker: Any
    linker: Any

    def __getitem__(self, name: str) -> Address:
        return self.tracker[name]


class Engine:
    """The process's LLVM: a target machine, and a JIT linker with the libraries linked so far."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.lock = threading.RLock()
        self.machine = self._machine(3)
        self.quick = self._machine(0)
        self.layout = str(self.machine.target_data)
        self.triple = self.machine.triple
        self.linker: Any = None
        self.links = 0
        self.graveyard: list[Any] = []
        self.running = ctypes.c_int64(0)  # calls under way that may run Python code
        self.parts: dict[str, Any] = {}
        self.builders: dict[tuple[int, bool, bool], tuple[int, Any]] = {}
        self.handler: object = None
        self.vector_lanes = _vector_lanes()

    @staticmethod
    def _machine(level: int) -> llvm.TargetMachine:
        return llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(),
            features=_features().flatten(),
            opt=level,
            reloc="pic",
            codemodel="small",  # the linker puts stubs where the C library is too far away
            jit=True,
        )

    # ---------------------------------------------------------------------------------------- compiling

    def parse(self, text: str) -> llvm.ModuleRef:
        """A module in a context of its own: types and constants of modules are kept as long as their context."""
        module = llvm.parse_assembly(text, llvm.create_context())
        module.triple = self.triple
        module.data_layout = self.layout
        return module

    def pass_builder(self, level: int, slp: bool, unroll: bool) -> llvm.PassBuilder:
        """A builder of pipelines, which serves for BUILDER_RUNS runs; to be used under the lock.

        What llvmlite allocates for the callbacks of a builder is never freed (1.5 kB), so there is not one for each
        run.  Every run leaves a callback behind, so none serves for ever.  It asks whether a function is `optnone`, and
        only for such a one looks at what was gone with its run: there must be none.
        """
        key = level, slp, unroll
        served, builder = self.builders.get(key, (BUILDER_RUNS, None))
        if builder is None or served == BUILDER_RUNS:
            tuning = llvm.create_pipeline_tuning_options(speed_level=level)
            tuning.loop_vectorization = True
            tuning.loop_unrolling = unroll
            tuning.slp_vectorization = slp
            served, builder = 0, llvm.create_pass_builder(self.machine, tuning)
        self.builders[key] = served + 1, builder
        return builder

    def optimise(self, module: llvm.ModuleRef, effort: Effort) -> None:
        """Run LLVM's optimiser, under the lock."""
        builder = self.pass_builder(effort.level, effort.slp, effort.unroll)
        if effort.brief:
            passes = llvm.create_new_module_pass_manager()
            for name in BRIEF:
                getattr(passes, f"add_{name}_pass")()
        else:
            passes = builder.getModulePassManager()
        passes.run(module, builder)
        # llvmlite's own disposal of it is hidden by that of a base class that does nothing.
        NewPassManager._dispose(passes)

    def object_file(self, assembly: str, cached: bool = False, brief: bool = False) -> bytes:
        """The optimised object file of a module; `cached` looks for it on disk, and keeps it there."""
        if cached:
            return self._cached_object_file(assembly, brief)
        assert " optnone" not in assembly, "see pass_builder"
        work = effort(assembly, brief)
        with self.parse(assembly) as module, emission(work.careful):
            self.optimise(module, work)
            return self.machine.emit_object(module)

    def plain_object_file(self, assembly: str, careful: bool = True) -> bytes:
        """The object file of a module that needs no optimiser.

        Its code is generated with care even so, unless calls take long: without, small arrays come and go 10 ns slower.
        """
        with self.parse(assembly) as module:
            return (self.machine if careful else self.quick).emit_object(module)

    def _cached_object_file(self, assembly: str, brief: bool) -> bytes:
        from . import cache  # on demand: what it imports takes as long as a small compilation

        features = _features().flatten()
        settings = f"{effort(assembly, brief)} {BRIEF}"
        name = cache.key(assembly, self.triple, llvm.get_host_cpu_name(), features, llvmlite.__version__, settings)
        image = cache.load(name)
        if image is None:
            image = self.object_file(assembly, brief=brief)
            cache.store(name, image)
        return image

    def link(
        self, images: Sequence[bytes], imports: Iterable[str], exports: Iterable[str], extra: dict[str, int]
    ) -> Any:
        """Load objects; gives the library, a mapping from exported names to addresses that keeps the code alive."""
        if not self.running.value:
            self.graveyard.clear()
        # First of all, since it may link a part of the runtime.
        imports = list(imports)
        self.vector_functions([name for name in imports if name in vectormath.NAMES and name not in self.parts])
        addresses = {name: extra[name] if name in extra else self.address_of(name) for name in imports}
        if self.links % GENERATION == 0:
            # A linker keeps some ten kilobytes per library that it ever held, so each serves for a while only; it
            # lives as long as a library of its own does.
            self.linker = llvm.create_lljit_compiler(self._machine(3), use_jit_link=True)
        self.links += 1
        builder = llvm.JITLibraryBuilder().add_current_process()
        for image in images:
            builder.add_object_img(image)
        for name, address in addresses.items():
            builder.import_symbol(name, address)
        for name in exports:
            builder.export_symbol(name)
        return Library(builder.link(self.linker, f"zyg{self.links}"), self.linker)

    # ------------------------------------------------------------------------------------------ symbols

    def address_of(self, name: str) -> Address:
        """Where an external symbol is: in the runtime, NumPy, CPython, or the C library."""
        part = runtime.HOMES.get(name) or _OWN_MATH.get(name) or _OWN_CODE.get(name)
        if part is not None:
            return self.part(part)[name]
        if is_foreign(name):
            return foreign_address(name)
        if name.startswith("numpy.") or name in layout.numpy_functions():
            return _numpy_address(name)
        if name in ("zyg_pow", "zyg_powf"):
            return _library_address(name.removeprefix("zyg_"))
        if name == "zyg_array_handler":
            return id(self.array_handler())
        if name == "zyg_running":
            return ctypes.addressof(self.running)
        return _library_address(name)

    def part(self, name: str) -> Any:
        """A part of the runtime, or a function of our own mathematics, compiled at its first use."""
        with self.lock:
            if name in vectormath.NAMES and name not in self.parts:
                self.vector_functions([name])
            if name not in self.parts:
                machine = self.quick
                if name in runtime.PARTS:
                    module, exports = self.parse(runtime.text(name)), runtime.PARTS[name]
                    # The others unoptimised: some ten milliseconds less before the first result, and little in them is hot.
                    if name in runtime.HOT or name in runtime.BROAD:
                        machine = self.machine if name in runtime.HOT else self.quick
                        self.optimise(module, effort("", brief=True))
                elif name in matrixmath.NAMES:
                    module, machine, exports = self.parse(matrixmath.text(name)), self.machine, (name,)
                else:
                    module, machine, exports = self.parse(special_text(name)), self.machine, (f"zyg_{name}",)
                    self.optimise(module, effort(""))
                imports = [f.name for f in [*module.functions, *module.global_variables]
                           if f.is_declaration and not f.name.startswith("llvm.")]  # fmt: skip
                library = self.link([machine.emit_object(module)], imports, exports, {})
                if name == "control":
                    main = ctypes.c_int64.from_address(library["zyg_main_thread"])
                    main.value = threading.main_thread().ident or 0
                elif name == "memory":
                    ctypes.c_int64.from_address(library["zyg_pool_limit"]).value = pool_limit()
                    call_around_forks(library["zyg_pool_hold"], library["zyg_pool_release"])
                if name in ("memory", "shelves"):
                    # Arrays that are freed at the very end, and forks, call it: the code is never unloaded.
                    ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))
                self.parts[name] = library
            return self.parts[name]

    def vector_functions(self, names: Sequence[str]) -> None:
        """Compile functions of `vectormath`, all at once: half of what one alone takes is the same for any number of them."""
        called = [name for n in names if (name := vectormath.wider(n, _is_wide()))]
        names = list(dict.fromkeys([*(n for n in called if n not in self.parts), *names]))
        if names:
            declared, bodies = zip(*(vectormath.text(name, _is_wide()) for name in names), strict=True)
            defined = [f"@{name}(" for name in names]
            needed = sorted(line for line in set().union(*declared) if not any(name in line for name in defined))
            with self.parse("\n".join([*needed, *bodies])) as module:
                image = self.machine.emit_object(module)
            imports = [name for name in dict.fromkeys(called) if name not in names]
            self.parts |= dict.fromkeys(names, self.link([image], imports, names, {}))

    def array_handler(self) -> object:
        """The capsule by which NumPy frees arrays of ours."""
        with self.lock:
            if self.handler is None:
                self.handler = layout.make_memory_handler(self.part("shelves")["zyg_array_allocator"])
            return self.handler

    def vector_variants(self, name: str, arguments: int, single: bool) -> Sequence[tuple[int, str]]:
        """The vector variants of a function of the C library as (lanes, symbol): our own, or libmvec's, where there are any."""
        called = name + "f" if single else name
        found = []
        has_fma = _features().get("fma")
        for letter, bits in self.vector_lanes:
            lanes = bits // (32 if single else 64)
            own = f"zyg_v{lanes}_{called}"
            if own in vectormath.NAMES and (_is_wide() if name in vectormath.ONLY_WIDE else has_fma):
                found.append((lanes, own))
                continue
            symbol = f"_ZGV{letter}N{lanes}{'v' * arguments}_{called}"
            if _vector_library() is not None and _has_vector_symbol(symbol):
                found.append((lanes, symbol))
        return found


@lru_cache(None)
def _features() -> llvm.targets.FeatureMap:
    """What the processor can do; LLVM takes a tenth of a millisecond to say it."""
    return llvm.get_host_cpu_features()


def _is_wide() -> bool:
    """Whether there is AVX-512 with all that vectormath.py takes of it."""
    return bool(_features().get("avx512f") and _features().get("avx512dq"))


def has_masks() -> bool:
    """Whether loads and stores can leave out lanes, of bytes too."""
    return _is_wide() and bool(_features().get("avx512bw") and _features().get("avx512vl"))


def _vector_lanes() -> list[tuple[str, int]]:
    """The instruction sets of x86's vector function ABI that this machine has: letter and register width."""
    features = _features()
    if not llvm.get_process_triple().startswith("x86_64"):
        return []
    lanes = []
    if features.get("avx2"):
        lanes.append(("d", 256))
    if _is_wide():
        lanes.append(("e", 512))
    return lanes or [("b", 128)]


@lru_cache(None)
def _vector_library() -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL("libmvec.so.1")
    except OSError:
        return None


@lru_cache(None)
def _has_vector_symbol(name: str) -> bool:
    library = _vector_library()
    return library is not None and hasattr(library, name)


@lru_cache(None)
def _libraries() -> tuple[ctypes.CDLL, ...]:
    libraries: list[ctypes.CDLL] = [ctypes.pythonapi, ctypes.CDLL(None)]
    for name in ("libm.so.6", "libm.dylib"):
        try:
            libraries.append(ctypes.CDLL(name))
        except OSError:
            continue
    vector = _vector_library()
    return (*libraries, vector) if vector is not None else tuple(libraries)


@lru_cache(None)
def _library_address(name: str) -> Address:
    for library in _libraries():
        try:
            address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        except AttributeError:
            continue
        assert address is not None
        return address
    raise LookupError(f"no function {name} in this process")


def hold() -> list[Any]:
    """Wait until no other thread is at the engine or in LLVM, and keep them out: the locks that are held then, to be released
    from the last to the first.  (llvmlite's own lock is not in its documentation.)"""
    locks = [_engine_lock, *([] if _engine is None else [_engine.lock])]
    library = getattr(getattr(llvm.ffi.lib, "_lock", None), "_lock", None)
    if library is not None:
        locks.append(library)
    for lock in locks:
        lock.acquire()
    return locks


def call_around_forks(before: Address, after: Address) -> None:
    """Native functions for this process to call before it is forked, and afterwards, in it and in the child.

    Not by os.register_at_fork: what Python runs between its handlers may free arrays, and so take the lock that is held."""
    try:
        register = getattr(ctypes.pythonapi, "pthread_atfork", None) or ctypes.pythonapi.__register_atfork
    except AttributeError:
        return  # no forks here
    handlers = [ctypes.c_void_p(address) for address in (before, after, after)]
    register(*handlers, None)  # glibc's takes whose handlers they are as well: nobody's, so they stay


@lru_cache(None)
def _numpy_address(name: str) -> Address:
    if name in layout.numpy_functions():
        return layout.numpy_api(name)
    objects = {"ndarray": np.ndarray, "memmap": np.memmap, "complex128": np.complex128,
               **{cls.__name__: cls for cls in NUMPY_SCALARS.values()}}  # fmt: skip
    return id(objects[name.removeprefix("numpy.")])


_OWN_MATH = {f"zyg_{name}": name for name in OWN_MATH}
_OWN_CODE = {name: name for name in (*vectormath.NAMES, *matrixmath.NAMES)}  # parts of their own


_engine: Engine | None = None
_engine_lock = threading.Lock()


def engine() -> Engine:
    global _engine
    if _engine is None:
        with _engine_lock:
            if _engine is None:
                _engine = Engine()
    return _engine


# ------------------------------------------------------------------------------------------ compiled modules


@record(eq=False)
class Native:
    """Machine code of a module. Keeps alive what the code refers to; texts of the stages are made when asked for."""

    module: Module
    entry: str
    options: Options
    signature: Signature
    lowered: Lowered
    library: Any = None
    table: Any = None

    def address(self, name: str = ENTRY) -> Address:
        return self.library[name]

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
        for module, work in self._optimised(lines):
            with e.lock, emission(work.careful):
                texts.append(e.machine.emit_assembly(module))
        return "".join(texts)

    def _bodies(self, lines: bool = False) -> Lowered:
        brief = is_brief(self.module)
        variants = engine().vector_variants if self.options.vectormath and not brief else no_variants
        return lower(self.module, self.entry, variants, exported=True, lines=lines, masks=has_masks())

    def _optimised(self, lines: bool) -> list[tuple[llvm.ModuleRef, Effort]]:
        e = engine()
        found = []
        with e.lock:
            for text, brief in _modules(self._bodies(lines), is_brief(self.module)):
                module, work = e.parse(text), effort(text, brief)
                e.optimise(module, work)
                found.append((module, work))
        return found

    def __del__(self) -> None:
        # Code may be on the stack of a call that is still under way.
        if _engine is not None and self.library is not None:
            _engine.graveyard.append((self.library, self.table, self.lowered.objects))


def _modules(lowered: Lowered, brief: bool) -> list[tuple[str, bool]]:
    """The assembly of what is compiled: each module with whether brief passes will do."""
    main, settled = split(lowered.module, lowered.settled)
    return [*([(main, brief)] if main else []), *([(settled, True)] if settled else [])]


def _without_noise(text: str) -> str:
    """LLVM's printout without what only the linker needs."""
    drop = ("; ModuleID", "source_filename", "target ", "@llvm.compiler.used")
    return "\n".join(line for line in text.splitlines() if not line.startswith(drop)).strip() + "\n"


def pool_limit() -> int:
    """How many bytes of large blocks are kept between calls at most: a gigabyte, or an eighth of the machine's memory if that
    is less, or what ZYG_POOL_BYTES says."""
    given = os.environ.get("ZYG_POOL_BYTES", "")
    if given.isdecimal():
        return int(given)
    try:
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return POOL_BYTES
    return min(POOL_BYTES, machine // 8)


def arena_bytes() -> int:
    """How many bytes of tape, with what chunks of stacks have left over, the last call that used any took."""
    return ctypes.c_int64.from_address(engine().part("arena")["zyg_arena_bytes"]).value


# What is left out where code is emitted in haste: the strength reduction of loops, and that instructions are put in order once
# more when registers are chosen, which takes a tenth and changes nothing on processors that do it themselves.
_LEFT_OUT = ("-disable-lsr", "-disable-post-ra")


@contextlib.contextmanager
def emission(careful: bool) -> Iterator[None]:
    """How code is emitted.  LLVM has options for that which hold for the process: what others compile meanwhile in another
    thread is slower at worst."""
    if not careful:
        for option in _LEFT_OUT:
            llvm.set_option("zyg", f"{option}=true")
    try:
        yield
    finally:
        if not careful:
            for option in _LEFT_OUT:
                llvm.set_option("zyg", f"{option}=false")


def compile_module(module: Module, entry: str, options: Options, signature: Signature) -> Native:
    """Compile `entry`, and what it calls, to machine code with a Python entry for the given signature."""
    e = engine()
    with e.lock:
        brief = is_brief(module)
        variants = e.vector_variants if options.vectormath and not brief else no_variants
        # An entry that boxes arrays is hundreds of lines, of which the optimiser makes nothing better.
        apart = not brief and any(isinstance(v.type, Array) for v in module.functions[entry].params)
        types = (*signature.parameters, *(type for _, type in signature.inputs))
        module.functions[entry].attrs["pairs"] = leaves_in_pairs(types)
        lowered = lower(module, entry, variants, exported=apart, masks=has_masks())
        native = Native(module, entry, options, signature, lowered)
        raiser = make_raiser(lowered.errors)
        outer = write_entry(lowered, entry, signature, options, raiser, apart)
        images = [e.object_file(text, options.cache, needs_little) for text, needs_little in _modules(lowered, brief)]
        if apart:
            images.append(e.plain_object_file(outer.text(), WHOLE_ARRAYS not in lowered.module.flags))
        objects = lowered.objects
        native.table = (ctypes.py_object * max(1, len(objects)))(*map(ctypes.py_object, objects))
        extra = {"zyg_objects": ctypes.addressof(native.table)}
        imports = dict.fromkeys(n for m in (lowered.module, outer) for n in m.imports())
        # Of the vector variants that LLVM might have called, only those that it does call have to be there.
        idle = {n for n in lowered.module.vector_symbols if not any(n.encode() in image for image in images)}
        native.library = e.link(images, [n for n in imports if n not in idle], [ENTRY], extra)
    return native


__all__ = ["Engine", "Native", "Signature", "arena_bytes", "compile_module", "engine"]
