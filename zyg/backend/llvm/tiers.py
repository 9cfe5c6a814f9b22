"""Code that is made twice: at once by LLVM's quick generator, so that the first call begins soon, and with care beside the program.

The quick generator takes a fifth of the time; its loops over elements take 1.4 to 2 times as long, what calls them a twentieth more.
LLVM's passes are the same, only instructions and registers are chosen otherwise, so values are the same to the last bit.  What
computes (splitting.py) is made with care at once: by the quick generator, and without vectors, it could take many times as long.
But where a call is one loop that calls no mathematical functions, or a nest that only moves what there is, it has its vectors later, too;
and where the arguments of the first call are small, what computes has its vectors at once and its registers later.

The functions of the other pieces are called through pointers.  These are set to the careful code when it is linked
(background.py): calls that are under way find it with the next loop that they come to.

So are functions of the library that are compiled for the first time on a machine (kept.py).  What was made quickly is on
disk until then, so that a process that ends before saves the next one its part of the work.
"""

from __future__ import annotations

import ctypes
import os
import re
import weakref
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from ...ir.options import Options
from ...ir.records import field, record, replace
from .background import background
from .jobs import HUGE, effort, job_of, used
from .lowered import Lowered
from .splitting import COMPUTES, Piece, by_itself, pointer, split, through_pointers
from .text import declared, is_variant, name_of
from .workers import Crew, Job, threads

if TYPE_CHECKING:
    from .engine import Engine
    from .native import Native

TWICE = (
    1500  # lines of assembly that can be replaced, from which on it is made twice: some 30 ms less for the first call
)


def may_be_replaced(options: Options) -> bool:
    """Not where machine code is kept on disk, nor where values depend on which instructions are chosen."""
    return not options.cache and not options.fastmath and os.environ.get("ZYG_BACKGROUND") != "0"


class Begun:
    """What LLVM begins with while the rest is lowered: functions that are so long that each is a piece by itself."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.pieces: dict[str, Piece] = {}  # by the symbols of the functions
        self._crew: Crew | None = None
        self._context = ExitStack()

    def __enter__(self) -> Begun:
        return self

    def __exit__(self, *raised: Any) -> None:
        self._context.__exit__(*raised)

    def written(self, lowered: Lowered, name: str) -> None:
        """Told by lowering of the last function of the module."""
        symbol, text = lowered.signatures[name].symbol, lowered.module.functions[-1]
        if symbol in lowered.straight and text.count("\n") >= TWICE:
            abis = [*lowered.signatures.values(), *lowered.shared.values()]
            # (What is in other modules is declared already.)
            others = {abi.symbol: abi.declaration() for abi in abis if abi.symbol[1:] not in lowered.module.externals}
            self.pieces[symbol] = by_itself(lowered.module, text, others)
            job = _quick(self.pieces[symbol])
            if self._crew is None:
                self._crew = self._context.enter_context(self.engine.crew([job], threads()))
            self._crew.begin(job)

    def objects(self, jobs: Sequence[Job]) -> list[bytes]:
        """Of what was begun, and of these jobs."""
        return self.engine.objects(jobs) if self._crew is None else self._crew.objects(jobs)


class _Task:
    """Code that the background makes with care, and what is done with it then."""

    engine: Any

    def wanted(self) -> bool:
        return True

    def link(self, objects: Sequence[bytes]) -> None:
        raise NotImplementedError

    def finish(self, objects: Sequence[bytes]) -> bool:
        while not self.engine.lock.acquire(timeout=0.01):  # who has it may be about to fork
            if background.is_held():
                return False
        try:
            if self.wanted():
                self.link(objects)
        finally:
            self.engine.lock.release()
        return True


@record(eq=False)
class Careful(_Task):
    """The code by which that of a module will be replaced.

    `quick`: the jobs that are done at once, but for what is `Begun`; `jobs`: those of the same texts with care; `pointers`: the names of
    functions that are called through pointers, by their symbols; `stay`: of those that are not replaced, but called by what is.
    """

    quick: list[Job]
    jobs: list[Job]
    pointers: dict[str, str]
    stay: list[str]
    addresses: Any  # an array of what the pointers are
    native: Any = None  # a weak reference to what is replaced
    engine: Any = None
    imports: list[str] = field(default_factory=list)
    extra: dict[str, int] = field(default_factory=dict)
    library: Any = None

    @staticmethod
    def of(
        lowered: Lowered, entry: str, brief: bool, begun: Mapping[str, Piece] = {}, soon: bool = False
    ) -> Careful | None:
        """None if there is not enough of it. `soon`: the first call is over before long, however its code is made."""
        if not lowered.settled or sum(text.count("\n") for text in lowered.module.functions) < TWICE:
            return None
        called = lowered.signatures[entry].symbol
        of = lowered.settled, lowered.inlined, lowered.straight, lowered.light
        pieces = split(lowered.module, *of, called, begun, soon)
        replaced = [p for p in pieces if soon or p.kind != COMPUTES]
        if sum(p.text.count("\n") for p in replaced) < TWICE:
            return None
        symbols = [symbol for p in replaced for symbol in (*p.called, *p.calls)]
        pointers = {symbol: name_of(symbol) for symbol in symbols}
        return Careful(
            [_at_once(p, brief, soon) if p.kind == COMPUTES else _quick(p) for p in pieces[len(begun) :]],
            [_careful(p, brief) for p in replaced],
            pointers,
            [name_of(symbol) for p in pieces if not soon and p.kind == COMPUTES for symbol in p.called],
            (ctypes.c_void_p * len(pointers))(),
        )

    def called_by(self, text: str) -> str:
        """Assembly of another module, which calls them through the pointers."""
        return through_pointers(text, self.pointers.keys())

    def places(self) -> dict[str, int]:
        """Where the pointers are, by their names."""
        first, size = ctypes.addressof(self.addresses), ctypes.sizeof(ctypes.c_void_p)
        return {name_of(pointer(symbol)): first + n * size for n, symbol in enumerate(self.pointers)}

    def exports(self) -> list[str]:
        """What has to be found in the code that is made at once."""
        return [*self._replaced(), *self.stay]

    def _replaced(self) -> list[str]:
        stay = {*self.stay}
        return [name for name in self.pointers.values() if name not in stay]

    def begin(self, native: Native, engine: Engine, imports: Sequence[str], extra: dict[str, int]) -> None:
        """Set the pointers to the code that there is, before the other is made. `imports`, `extra`: what it was linked with."""
        self.native = weakref.ref(native)
        self.engine = engine
        self.imports = [*imports, *self.stay]
        self.extra = extra | {name: native.library[name] for name in self.stay}
        self._set(native.library)
        background.worker = background.worker or engine.ready_worker()

    def _set(self, library: Any) -> None:
        for n, name in enumerate(self.pointers.values()):
            if library is not self.library or name not in self.stay:
                self.addresses[n] = library[name]  # (eight bytes at once, whoever reads them)

    def wanted(self) -> bool:
        return self.native() is not None

    def link(self, objects: Sequence[bytes]) -> None:
        native = self.native()
        if native is not None:
            imports = used(native.lowered, self.imports, objects)
            self.library = self.engine.link(objects, imports, self._replaced(), self.extra)
            self._set(self.library)


@record(eq=False)
class CarefulFunction(_Task):
    """The code by which that of a function of the library will be replaced, and which is kept on disk as the entry."""

    symbol: str
    jobs: list[Job]
    engine: Any
    entry: str
    address: Any = field(default_factory=lambda: (ctypes.c_void_p * 1)())

    @staticmethod
    def can_be(text: str) -> bool:
        """Not where values depend on how the code is made: on vector variants of mathematical functions, or on sums in any order."""
        return _ANY_ORDER.search(text) is None and not any(map(is_variant, declared(text)))

    def quick(self) -> Job:
        """A module with the code for now, and with a function that calls what is at the pointer."""
        (job,) = self.jobs
        head = re.search(rf"^define (fastcc (.+?)) @{self.symbol}\((.*)\)([^()\n]*) {{$", job.text, re.MULTILINE)
        assert head is not None
        result, arguments, place = head[2], head[3], pointer("@" + self.symbol)
        given = "void" if result == "void" else "%given"
        caller = (
            f"{place} = external global ptr\n"
            f"define {head[1]} @{self.symbol}({arguments}){head[4]} {{\n"
            f"  %to = load ptr, ptr {place}\n"
            f"  {'' if result == 'void' else '%given = '}tail call fastcc {result} %to({arguments})\n"
            f"  ret {'void' if result == 'void' else f'{result} {given}'}\n}}\n"
        )
        text = re.sub(rf"@{self.symbol}\(", f"@{self.symbol}.quick(", job.text)
        return Job(text + caller, replace(effort(job.text), brief=True), "quick")

    def places(self) -> dict[str, int]:
        return {name_of(pointer("@" + self.symbol)): ctypes.addressof(self.address)}

    def exports(self) -> list[str]:
        return [self.symbol, f"{self.symbol}.quick"]

    def begin(self, library: Any) -> None:
        self.address[0] = library[f"{self.symbol}.quick"]

    def link(self, objects: Sequence[bytes]) -> None:
        library = self.engine.replace_function(self, objects[0])
        self.address[0] = library[self.symbol]


_ANY_ORDER = re.compile(r"\b(reassoc|fast|contract|arcp|afn)\b")  # flags of operations on floats


def _at_once(piece: Piece, brief: bool, soon: bool) -> Job:
    """What computes. (Its optimiser is the same in any case: it decides on the last bits.)"""
    job = job_of(piece, brief)
    return replace(job, generator="quick") if soon else job


def _careful(piece: Piece, brief: bool) -> Job:
    job = job_of(piece, brief)
    return replace(job, generator="quick" if job.generator == "quick" or piece.text.count("\n") >= HUGE else "careful")


def _quick(piece: Piece) -> Job:
    return replace(job_of(piece, brief=True), generator="quick")


__all__ = ["Begun", "Careful", "CarefulFunction", "may_be_replaced"]
