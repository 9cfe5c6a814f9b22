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
import sys
import threading
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from ...ir.dtypes import NUMPY_SCALARS
from ...ir.foreign import address_of as foreign_address
from ...ir.foreign import is_foreign, provider_of
from ...ir.readymade import NeedsBody, Readymade
from ...ir.records import record, replace
from .. import cpython as layout
from . import matrixmath, runtime, vectormath
from .background import background
from .jobs import HUGE, effort
from .lowered import Lowered
from .lowering.mathematics import OWN_MATH
from .runtime.layout import POOL_BYTES
from .specials import special_text
from .text import declared, is_variant
from .workers import BRIEF, Crew, Job, Worker, threads

Address = int
GENERATION = 16  # libraries per linker
SMALL = 400  # lines of assembly that no other thread is asked to help with


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
        self.workers = [Worker(self._machine)]  # the first is that of the thread which compiles
        self.crews = 0  # that work
        self.linker: Any = None
        self.links = 0
        self.graveyard: list[Any] = []
        self.running = ctypes.c_int64(0)  # calls under way that may run Python code
        self.parts: dict[str, Any] = {}
        self.handler: object = None
        self.vector_lanes = _vector_lanes()
        # Functions of the library that are to be made with care (tiers.CarefulFunction), and those of them that the background has.
        self.unfinished: dict[str, Any] = {}
        self.begun: set[Any] = set()
        self.careful: list[tuple[Any, Any]] = []  # with the code that has come in their places

    @staticmethod
    def _machine(level: int) -> llvm.TargetMachine:
        return llvm.Target.from_default_triple().create_target_machine(
            cpu=_processor()[0],
            features=_processor()[1],
            opt=level,
            reloc="pic",
            codemodel="small",  # the linker puts stubs where the C library is too far away
            jit=True,
        )

    # ---------------------------------------------------------------------------------------- compiling

    @property
    def worker(self) -> Worker:
        return self.workers[0]

    def ready_worker(self) -> Worker:
        """One for another thread, whose machine has emitted something: how it chooses instructions no longer depends on options."""
        # With all others that there will be: what makes them ready sets options that hold for the process.
        self.workers += [Worker(self._machine) for _ in range(len(self.workers), threads())]
        for other in self.workers:
            other.prepare([Job("", None, "straight")])
        worker = Worker(self._machine)
        with worker.parse("") as nothing:
            worker.emit(nothing, worker.machine)
        return worker

    def objects(self, jobs: Sequence[Job], kept: bool = False) -> list[bytes]:
        """The object files of modules; `kept` looks for them on disk, and keeps them there.  To be called under the lock."""
        if kept:
            from . import cache  # on demand: code for scalars that nobody keeps needs none of it

            names = [self._key(job) for job in jobs]
            images = [cache.load(name) for name in names]
            missing = [n for n, image in enumerate(images) if image is None]
            for n, image in zip(missing, self.objects([jobs[n] for n in missing]), strict=True):
                cache.store(names[n], image)
                images[n] = image
            return [image for image in images if image is not None]
        if not jobs:  # all were found
            return []
        few = sum(job.text.count("\n") for job in jobs) < SMALL
        with self.crew(jobs, 1 if few else min(threads(), len(jobs))) as crew:
            return crew.objects(jobs)

    @contextlib.contextmanager
    def crew(self, jobs: Sequence[Job], size: int) -> Iterator[Crew]:
        """So many workers, prepared for jobs like these.  To be called under the lock.  (What a signal's handler has compiled while others
        work has but the first, which is this thread's.)"""
        size = 1 if self.crews else size
        self.workers += [Worker(self._machine) for _ in range(len(self.workers), size)]
        for worker in self.workers[:size]:
            worker.prepare(jobs)
        careful = all(job.effort is None or job.effort.careful for job in jobs)
        self.crews += 1
        try:
            with emission(careful), Crew(self.workers[:size]) as crew:
                yield crew
        finally:
            self.crews -= 1

    def _key(self, job: Job) -> str:
        from . import cache

        return cache.key(
            job.text, self.worker.triple, *_processor(), llvmlite.__version__, f"{job.effort} {job.generator} {BRIEF}"
        )

    def link(
        self, images: Sequence[bytes], imports: Iterable[str], exports: Iterable[str], extra: dict[str, int]
    ) -> Any:
        """Load objects; gives the library, a mapping from exported names to addresses that keeps the code alive."""
        # First of all, since it may link a part of the runtime.
        imports = list(imports)
        self.load([part for name in imports if name not in extra and (part := _home(name)) and part not in self.parts])
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

    def clear_away(self) -> None:
        """Let go of code, and of what it refers to, that nobody can call any more.  What that runs (`__del__` of anything) is to run in a
        thread of the program's."""
        if not self.running.value:
            self.graveyard.clear()

    # ------------------------------------------------------------------------------------------ symbols

    def address_of(self, name: str) -> Address:
        """Where an external symbol is: in the runtime, NumPy, CPython, or the C library."""
        part = _home(name)
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
            if name not in self.parts:
                self.load([name])
            return self.parts[name]

    def load(self, names: Iterable[str]) -> None:
        """Have these parts, and those that they call; what is not on disk is compiled at once."""
        jobs: dict[str, Job] = {}
        imports: dict[str, None] = {}
        work = list(dict.fromkeys(names))
        while work:
            name = work.pop()
            if name not in self.parts and name not in jobs:
                jobs[name] = _part_job(name)
                called = declared(jobs[name].text)
                imports |= dict.fromkeys(called)
                work += filter(None, map(_home, called))
                if name in vectormath.NAMES and (wider := vectormath.wider(name, _is_wide())):
                    work.append(wider)
        if "zyg_array_handler" in imports:  # it is made by a part, which has to be there, with those that it calls
            self.array_handler()
        images: dict[str, bytes] = {}
        quick = runtime.QUICK if f"{__package__}.cache" not in sys.modules else ()
        for kept in (False, True):
            own = [name for name in jobs if kept != (name in quick) and name not in self.parts]
            if own:
                images |= zip(own, self.objects([jobs[name] for name in own], kept), strict=True)
        if images:
            self._link_parts(images, imports)

    def _link_parts(self, parts: dict[str, bytes], imports: Iterable[str]) -> None:
        """As one library: to link takes half a millisecond, whatever there is of it."""
        exports = dict.fromkeys(symbol for name in parts for symbol in _exports(name))
        library = self.link(list(parts.values()), [name for name in imports if name not in exports], exports, {})
        assert self.parts.keys().isdisjoint(parts), "linked twice: what they call was not found beforehand"
        if "control" in parts:
            main = ctypes.c_int64.from_address(library["zyg_main_thread"])
            main.value = threading.main_thread().ident or 0
        if "memory" in parts:
            ctypes.c_int64.from_address(library["zyg_pool_limit"]).value = pool_limit()
            call_around_forks(library["zyg_pool_hold"], library["zyg_pool_release"])
        if not {"memory", "shelves"}.isdisjoint(parts):
            # Arrays that are freed at the very end, and forks, call it: the code is never unloaded.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))
        self.parts |= dict.fromkeys(parts, library)

    def library(
        self, texts: Mapping[str, str], readymade: Mapping[str, Readymade], replaceable: bool = False
    ) -> dict[str, Address]:
        """Where functions of the library are, modules of their own (kept.py) by their symbols, and those that another process made.
        `replaceable`: what is not on disk is made quickly, and once more when there is time (`begin_functions`)."""
        if not texts and not readymade:
            return {}
        from . import cache  # on demand: code for scalars needs none of it

        new = {symbol: text for symbol, text in texts.items() if symbol not in self.parts}
        # (One of them may be the same as what was made anew, for another level of derivatives.)
        found = {symbol: code for symbol, code in readymade.items() if symbol not in self.parts.keys() | new.keys()}
        images = {symbol: cache.load(code.entry) for symbol, code in found.items()}
        # What was made quickly says of what it is made, and can be made with care.
        left = {symbol: found.pop(symbol) for symbol, image in images.items() if image is None}
        quick = {symbol: made_quickly(code.entry) for symbol, code in left.items()}
        if missing := [code for symbol, code in left.items() if quick[symbol] is None]:
            raise NeedsBody(*missing)
        new |= {symbol: text for symbol, made in quick.items() if made is not None for text in made[:1]}
        if replaceable:
            self._make_quickly(new)
        if new or found:
            made = self.objects([_library_job(text) for text in new.values()], kept=True)
            wanted = dict.fromkeys(name for text in new.values() for name in declared(text))
            idle = {n for n in wanted if is_variant(n) and not any(n.encode() in i for i in made)}
            for symbol, code in found.items():
                image = images[symbol]
                assert image is not None
                made.append(image)
                wanted |= dict.fromkeys(code.imports)
            try:
                library = self.link(made, [name for name in wanted if name not in idle], [*new, *found], {})
            except LookupError:  # what it calls is another one here: another BLAS, say
                if found:
                    raise NeedsBody(next(iter(found.values()))) from None
                raise
            self.parts |= dict.fromkeys([*new, *found], library)
        return {symbol: self.parts[symbol][symbol] for symbol in [*texts, *readymade]}

    def _make_quickly(self, texts: dict[str, str]) -> None:
        """Have those of these functions that are not on disk, and are to be replaced. The others are left."""
        from . import cache
        from .tiers import CarefulFunction

        made: dict[str, CarefulFunction] = {}
        images: dict[str, bytes] = {}
        for symbol, text in list(texts.items()):
            job = _library_job(text)
            entry = self._key(job)
            if not cache.has(entry) and CarefulFunction.can_be(text):
                made[symbol] = CarefulFunction(symbol, [job], self, entry)
                del texts[symbol]
                if (found := made_quickly(entry)) is not None:
                    images[symbol] = found[1]
        if made:
            missing = [symbol for symbol in made if symbol not in images]
            for symbol, image in zip(missing, self.objects([made[symbol].quick() for symbol in missing]), strict=True):
                images[symbol] = image
                content = made[symbol].jobs[0].text.encode()
                cache.store(_quick_entry(made[symbol].entry), len(content).to_bytes(8, "little") + content + image)
            imports = dict.fromkeys(name for f in made.values() for name in declared(f.jobs[0].text))
            places = {name: place for f in made.values() for name, place in f.places().items()}
            exports = [name for f in made.values() for name in f.exports()]
            library = self.link(list(images.values()), [*imports, *places], exports, places)
            for f in made.values():
                f.begin(library)
            self.parts |= dict.fromkeys(made, library)
            self.unfinished |= made

    def begin_functions(self) -> list[Any]:
        """What is to be made once more, for the background."""
        found, self.begun = [f for f in self.unfinished.values() if f not in self.begun], set(self.unfinished.values())
        if found:
            background.worker = background.worker or self.ready_worker()
        return found

    def replace_function(self, f: Any, image: bytes) -> Any:
        """Link the code that was made with care, and have it on disk."""
        from . import cache

        (job,) = f.jobs
        cache.store(f.entry, image)
        cache.drop(_quick_entry(f.entry))
        library = self.link([image], declared(job.text), [f.symbol], {})
        self.careful.append((f, library))  # the pointer is looked at as long as there is code
        self.unfinished.pop(f.symbol, None)
        return library

    def on_disk(self, code: Readymade, text: str) -> Readymade | None:
        """The code with what its object file tells, which is there by now; None if later processes cannot call it."""
        from . import cache

        entry, imports = self._key(_library_job(text)), declared(text)
        if cache.has(_quick_entry(entry)):
            return replace(code, entry=entry, imports=tuple(imports))
        image = cache.load(entry) or b""
        variants = {name for name in imports if is_variant(name)}
        # (What calls vector variants of mathematical functions does so in programs with loops only.)
        if not image or any(name.encode() in image for name in variants):
            return None
        return replace(code, entry=entry, imports=tuple(name for name in imports if name not in variants))

    def pieces(self, jobs: Sequence[Job], imports: Sequence[str], lowered: Lowered) -> Pieces:
        """What a later process needs of a module that was compiled of these jobs and is kept on disk."""
        from . import cache

        library = list(lowered.readymade.values())
        for symbol, text in lowered.kept.items():
            entry, called = self._key(_library_job(text)), declared(text)
            image = cache.load(entry) or b""
            idle = {name for name in called if is_variant(name) and name.encode() not in image}
            wanted = tuple([name for name in called if name not in idle])
            library.append(Readymade(symbol, entry, wanted, False, False, None, (), ()))
        called = self._all_called([name for names in (imports, *[code.imports for code in library]) for name in names])
        providers = sorted({provider_of(name) for name in called if is_foreign(name)})
        return Pieces([self._key(job) for job in jobs], imports, library, providers)

    def _all_called(self, names: Sequence[str]) -> set[str]:
        """With what the parts take from elsewhere that have these."""
        found: set[str] = set()
        parts: set[str] = set()
        work = list(names)
        while work:
            name = work.pop()
            found.add(name)
            part = _home(name)
            if part is not None and part not in parts:
                parts.add(part)
                work += declared(_part_job(part).text)
        return found

    def circumstances(self) -> str:
        """What machine code depends on, beside what it is made of."""
        return " ".join((self.worker.triple, *_processor(), llvmlite.__version__))

    def is_kept(self, name: str) -> bool:
        """Whether a part is there at once: its object file is on disk."""
        from . import cache

        return name in self.parts or cache.load(self._key(_part_job(name))) is not None

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


@lru_cache(None)
def _processor() -> tuple[str, str]:
    """Its name and features, as LLVM takes them."""
    return llvm.get_host_cpu_name(), _features().flatten()


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


def holding() -> Generator[None]:
    """Waits until no other thread is at the engine or in LLVM, and keeps them out until it is closed.  (llvmlite's own lock is not in
    its documentation.)"""
    library = getattr(getattr(llvm.ffi.lib, "_lock", None), "_lock", None) or contextlib.nullcontext()
    with _engine_lock:
        if _engine is None:
            with library:
                yield
        else:
            with background.held(goes_on=False), _engine.lock, library:  # (it goes on by itself, see there)
                yield


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


def bury(*what: object) -> None:
    """Let go of code, and of what it refers to, when no call of it can be under way."""
    if _engine is not None:
        _engine.graveyard.append(what)


def _home(name: str) -> str | None:
    """The part that has a symbol, if one has."""
    return runtime.HOMES.get(name) or _OWN_MATH.get(name) or _OWN_CODE.get(name)


def _exports(part: str) -> Sequence[str]:
    """The symbols that a part has for others."""
    return runtime.PARTS.get(part) or ((f"zyg_{part}",) if part in OWN_MATH else (part,))


def _part_job(name: str) -> Job:
    """How a part of the runtime, a kernel or a function of our own mathematics is made.

    The runtime is not optimised where it is not hot: some ten milliseconds less before the first result of all. (Generated with
    care, the large parts would take ten times as long, and save a twentieth.)"""
    if name in runtime.PARTS:
        careful = name in runtime.HOT
        return Job(
            runtime.text(name),
            effort("", brief=True) if careful or name in runtime.LARGE else None,
            "careful" if careful else "quick",
        )
    if name in matrixmath.NAMES:
        optimised = name in matrixmath.DRIVERS or name in matrixmath.LOOPS
        return Job(matrixmath.text(name), effort("", brief=name in matrixmath.DRIVERS) if optimised else None)
    if name in vectormath.NAMES:
        declared, body = vectormath.text(name, _is_wide())
        return Job("\n".join([*sorted(declared), body]))
    return Job(special_text(name), effort(""))


def _library_job(text: str) -> Job:
    """How a function of the library that is a module of its own is made."""
    if text.count("\n") >= HUGE:
        from .tiers import CarefulFunction

        if CarefulFunction.can_be(text):
            return Job(text, effort("", brief=True), "quick")
    return Job(text, effort(""))


def _quick_entry(entry: str) -> str:
    """The entry of what was made quickly in the place of another."""
    from . import cache

    return cache.digest(f"made quickly: {entry}")


def made_quickly(entry: str) -> tuple[str, bytes] | None:
    """The assembly of a function of the library and the object that was made of it quickly; None if there is none."""
    from . import cache

    content = cache.load(_quick_entry(entry))
    if content is None:
        return None
    end = 8 + int.from_bytes(content[:8], "little")
    return content[8:end].decode(), content[end:]


def is_there(code: Readymade) -> bool:
    """Whether there is an object file of it."""
    from . import cache

    return cache.has(code.entry) or cache.has(_quick_entry(code.entry))


@record(frozen=True)
class Pieces:
    """Machine code as a later process finds it: the names of its object files on disk, what they take from elsewhere, the functions of the
    library that they call (of which symbol, entry and imports are told), and the modules that know where C functions are."""

    images: Sequence[str]
    imports: Sequence[str]
    library: Sequence[Readymade]
    providers: Sequence[str]


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


# What is left out where code is emitted in haste: the strength reduction of loops; that instructions are put in order once
# more when registers are chosen, which takes a tenth and changes nothing on processors that do it themselves; and what finds
# nothing in loops over whole arrays and their calls, and leaves every byte as it was, a twentieth together.
_LEFT_OUT = (
    "-disable-lsr",
    "-disable-post-ra",
    "-disable-constant-hoisting",
    "-disable-early-ifcvt",
    "-disable-early-taildup",
    "-disable-mergeicmps",
    "-disable-partial-libcall-inlining",
)


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


__all__ = [
    "Address",
    "Engine",
    "Pieces",
    "arena_bytes",
    "bury",
    "emission",
    "engine",
    "has_masks",
    "holding",
    "pool_limit",
]
