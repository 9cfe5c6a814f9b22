"""Modules made into objects, several at a time.

LLVM works on modules of different contexts side by side, but llvmlite lets one call in at a time.  What takes long here (reading
assembly, the optimiser, the code generator) goes past its lock, and each thread has a target machine, with what refers to it,
and a context per module of its own.  The threads are there for one compilation only, and it waits for them whatever happens: so
nothing is under way when the process forks, which takes the lock of the engine, or ends.  (What is made beside the program:
background.py.)
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from ctypes import c_char_p, string_at
from queue import SimpleQueue
from typing import Any, Literal

import llvmlite.binding as llvm
from llvmlite.binding.newpassmanagers import NewPassManager

from ...ir.records import record

# Runs of a pass builder.  With options of LLVM that print or time passes it has to be 1: their callbacks outlive a run.
BUILDER_RUNS = 16
# (Not `instruction_combine`: it finds nothing that the code generator does not, and goes through all ways by which chains of
# selections, the shapes of broadcasts, may have come about: for some that is as long as all else together.)
BRIEF = ("always_inliner", "global_dead_code_eliminate", "sroa", "simplify_cfg")
_ONE_BY_ONE = "-fast-isel"
MOST = 4  # threads: each has more to do for itself than it takes from the others, from some on


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


# How code is generated: with care; the same, but instructions are chosen one by one (`straight`), for code that goes through its lines
# about once; or as quickly as can be, with few values in registers.
Generator = Literal["careful", "straight", "quick"]


@record(frozen=True)
class Job:
    """What is to become an object: assembly, what the optimiser does with it (None: nothing), and how the code generator works."""

    text: str
    effort: Effort | None = None
    generator: Generator = "careful"


class Worker:
    """What one thread at a time compiles with: target machines and pass builders."""

    def __init__(self, make_machine: Callable[[int], llvm.TargetMachine]) -> None:
        self.machine = make_machine(3)
        self.quick = make_machine(0)
        self.straight: llvm.TargetMachine | None = None
        self._make_machine = make_machine
        self.layout = str(self.machine.target_data)
        self.triple = self.machine.triple
        self.builders: dict[tuple[int, bool, bool], tuple[int, Any]] = {}

    def prepare(self, jobs: Sequence[Job]) -> None:
        """Make machines ready that are not the careful one, if some of these jobs want one, where nothing else compiles meanwhile.

        How instructions are chosen is an option of LLVM's that holds for the process, but is asked when a machine first emits
        something: the machine keeps to it.  (It has to be given for the quick one, too, which would choose them so by itself were
        there no such option.)"""
        if self.straight is None and any(job.generator != "careful" for job in jobs):
            self.straight = self._make_machine(3)
            llvm.set_option("zyg", f"{_ONE_BY_ONE}=true")
            try:
                with self.parse("") as nothing:
                    for machine in (self.straight, self.quick):
                        self.emit(nothing, machine)
            finally:
                llvm.set_option("zyg", f"{_ONE_BY_ONE}=false")

    def generator(self, which: Generator) -> llvm.TargetMachine:
        """The machine that generates code in this way."""
        found = {"careful": self.machine, "straight": self.straight, "quick": self.quick}[which]
        assert found is not None, "prepare comes first"
        return found

    def parse(self, text: str) -> llvm.ModuleRef:
        """A module in a context of its own: types and constants of modules are kept as long as their context."""
        context = llvm.create_context()
        with llvm.ffi.OutputString() as error:
            module = llvm.ModuleRef(_past_the_lock("ParseAssembly")(context, c_char_p(text.encode()), error), context)
            if error:
                module.close()
                raise RuntimeError(f"LLVM does not read the assembly: {error}")
        module.triple = self.triple
        module.data_layout = self.layout
        return module

    def pass_builder(self, level: int, slp: bool, unroll: bool) -> llvm.PassBuilder:
        """A builder of pipelines, which serves for BUILDER_RUNS runs.

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
        """Run LLVM's optimiser."""
        builder = self.pass_builder(effort.level, effort.slp, effort.unroll)
        if effort.brief:
            passes = llvm.create_new_module_pass_manager()
            for name in BRIEF:
                getattr(passes, f"add_{name}_pass")()
        else:
            passes = builder.getModulePassManager()
        _past_the_lock("RunNewModulePassManager")(passes, module, builder)
        # llvmlite's own disposal of it is hidden by that of a base class that does nothing.
        NewPassManager._dispose(passes)

    @staticmethod
    def emit(module: llvm.ModuleRef, machine: llvm.TargetMachine) -> bytes:
        """The object file of a module."""
        with llvm.ffi.OutputString() as error:
            buffer = _past_the_lock("TargetMachineEmitToMemory")(machine, module, 1, error)
            if not buffer:
                raise RuntimeError(str(error))
        try:
            return string_at(llvm.ffi.lib.LLVMPY_GetBufferStart(buffer), llvm.ffi.lib.LLVMPY_GetBufferSize(buffer))
        finally:
            llvm.ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)

    def do(self, job: Job) -> bytes:
        with self.parse(job.text) as module:
            if job.effort is not None:
                assert " optnone" not in job.text, "see pass_builder"
                self.optimise(module, job.effort)
            return self.emit(module, self.generator(job.generator))


def _past_the_lock(name: str) -> Callable[..., Any]:
    """A function of LLVM without llvmlite's lock, if its versions still have it so."""
    function = getattr(llvm.ffi.lib, f"LLVMPY_{name}")
    return getattr(function, "_cfn", function)


def threads() -> int:
    """How many threads the process may have on processors at once, as far as they are of use here."""
    try:
        found = len(os.sched_getaffinity(0))
    except AttributeError:
        found = os.cpu_count() or 1
    return min(found, MOST)


class Crew:
    """Workers that have a thread each; the one that calls has the first.

        with Crew(workers) as crew:
            crew.begin(job)                 # beside what this thread goes on with
            objects = crew.objects(jobs)    # those of all jobs, in order

    What comes first is begun first; once a job has failed no other is begun, and its exception is raised when all threads are done.
    At the end of the context no thread is under way, whatever happened."""

    def __init__(self, workers: Sequence[Worker]) -> None:
        self._workers = workers
        self._left: SimpleQueue[tuple[int, Job] | None] = SimpleQueue()  # None: there is nothing more
        self._count = 0
        self._objects: dict[int, bytes] = {}
        self._errors: list[BaseException] = []
        self._helpers: list[_Helper] = []
        self._ended = False
        self._beside = ExitStack()

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *raised: object) -> None:
        before = 0 if raised[0] is None else len(self._errors)
        with self._beside:
            self._end()
            _wait(self._helpers, self._errors)
        if len(self._errors) > before:  # of a job, or of a signal's handler meanwhile
            raise self._errors[before]

    def begin(self, job: Job) -> None:
        self._add(job)
        self._have_helpers(self._count)

    def objects(self, jobs: Sequence[Job]) -> list[bytes]:
        for job in jobs:
            self._add(job)
        self._have_helpers(self._count - 1)
        self._end()
        try:
            self._work(self._workers[0])
        finally:
            _wait(self._helpers, self._errors)
        if self._errors:
            raise self._errors[0]
        return [self._objects[n] for n in range(self._count)]

    def _add(self, job: Job) -> None:
        self._left.put((self._count, job))
        self._count += 1

    def _have_helpers(self, count: int) -> None:
        if not self._helpers and min(count, len(self._workers) - 1) > 0:
            self._beside.enter_context(no_collections())
            self._beside.enter_context(turns_taken_often())
        for worker in self._workers[len(self._helpers) + 1 : count + 1]:
            helper = _Helper(self._work, worker)
            self._helpers.append(helper)
            helper.start()

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            for _ in self._workers:
                self._left.put(None)

    def _work(self, worker: Worker) -> None:
        try:
            while (left := self._left.get()) is not None and not self._errors:
                n, job = left
                self._objects[n] = worker.do(job)
        except BaseException as error:
            self._errors.append(error)


def at_once(workers: Sequence[Worker], jobs: Sequence[Job]) -> list[bytes]:
    """The objects of these jobs."""
    with Crew(workers) as crew:
        return crew.objects(jobs)


class _Helper:
    """A thread in which a worker works, unless there is nothing left to do when it is about to begin."""

    def __init__(self, work: Callable[[Worker], None], worker: Worker) -> None:
        self.work = work
        self.worker = worker
        self.first: dict[None, object] = {}
        self.working = threading.Lock()
        self.working.acquire()

    def start(self) -> None:
        with suppress(RuntimeError):  # there may be no more threads
            threading.Thread(target=self.run, name="zyg compiles", daemon=True).start()

    def run(self) -> None:
        if self.is_first(self):
            try:
                self.work(self.worker)
            finally:
                self.work = _nothing
                self.working.release()

    def is_first(self, who: object) -> bool:
        """Whether `who` was the first to ask: the thread, which begins then, or the one that waits, so that it never does.  (An
        interrupt does not tell whether the thread was started.)"""
        return self.first.setdefault(None, who) is who

    def wait(self) -> None:
        """May be called again where it was interrupted."""
        if not self.is_first(None) and self.work is not _nothing:
            self.working.acquire()


def _nothing(worker: Worker) -> None:
    """The work of those that are done."""


def _wait(helpers: Sequence[_Helper], errors: list[BaseException]) -> None:
    """Wait for the threads, whatever a signal's handler raises."""
    while True:
        try:
            for helper in helpers:
                helper.wait()
            return
        except BaseException as error:
            errors.append(error)


@contextmanager
def no_collections() -> Iterator[None]:
    """Were garbage collected in another thread, what it runs (`__del__` of anything) could wait for this one for ever."""
    who = object()
    _without[who] = enabled = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if enabled:
            gc.enable()
        _without.pop(who, None)


@contextmanager
def turns_taken_often() -> Iterator[None]:
    """Threads that want Python's lock for some microseconds, between LLVM's calls, do not wait 5 ms for it each time."""
    before = sys.getswitchinterval()
    try:
        sys.setswitchinterval(min(before, _TURN))
        yield
    finally:
        sys.setswitchinterval(before)


_TURN = 1e-4  # seconds
_without: dict[object, bool] = {}  # whether garbage was collected before, by those that want no collections


def _collect_in_child() -> None:
    """The threads that wanted no collections are not there to have them again."""
    if any(_without.values()):
        gc.enable()
    _without.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_collect_in_child)
