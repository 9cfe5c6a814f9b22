"""What LLVM makes beside the program, in a thread that is there as long as there is something to do.

    background.add(task)      a task has jobs, and what is to be done with their objects
    background.settle()       wait until nothing is left to do
    background.acquire()      nothing is under way from here on, until `release`: around forks, and when Python ends

It holds Python's lock for some microseconds between LLVM's calls.
"""

from __future__ import annotations

import atexit
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from .workers import Job, Worker, no_collections


class Task(Protocol):
    @property
    def jobs(self) -> Sequence[Job]: ...

    def wanted(self) -> bool:
        """Whether there still is what the objects are for."""
        ...

    def finish(self, objects: Sequence[bytes]) -> bool:
        """Do with the objects what is to be done. False: it has to wait, as the background is held."""
        ...


class Background:
    """Tasks that wait, and the thread that does them one after another."""

    def __init__(self) -> None:
        self.worker: Worker | None = None  # to be set before anything is added
        self._left: deque[tuple[Task, list[bytes]]] = deque()  # with the objects that there are already
        self._changed = threading.Condition(threading.RLock())
        self._thread: threading.Thread | None = None  # while it works
        self._last: threading.Thread | None = None
        self._held = 0

    def add(self, task: Task) -> None:
        with self._changed:
            # Registered last it is called first: no thread is in LLVM when anything of Python's is taken down.
            atexit.unregister(self.acquire)
            atexit.register(self.acquire)
            self._left.append((task, []))
            self._begin()

    def settle(self) -> None:
        """Wait until all that was added is done."""
        with no_collections(), self._changed:
            while self._left and not self._held:
                self._begin()
                self._changed.wait(0.05)

    def acquire(self) -> None:
        """Let no task go on, and wait until the one under way has come to a place where it can be left."""
        with no_collections():
            self._changed.acquire()
            self._held += 1
            own = threading.current_thread()  # which may be the one that works, where it runs some `__del__`
            while self._thread not in (None, own):
                self._changed.wait()
            if self._last not in (None, own):
                self._last.join()  # who forks is warned of threads that are about to end, too

    def release(self) -> None:
        self._held -= 1
        self._begin()
        self._changed.release()

    def is_held(self) -> bool:
        return self._held > 0

    def _begin(self) -> None:
        """Have a thread, if there is something to do. (Where there can be no more threads, what comes next asks again.)"""
        if self._left and not self._held and self._thread is None:
            thread = threading.Thread(target=self._run, name="zyg compiles with care", daemon=True)
            with suppress(RuntimeError):
                thread.start()
                self._thread = self._last = thread

    def _run(self) -> None:
        try:
            while self._left and not self._held:
                self._go_on()
        finally:
            with self._changed:
                self._thread = None
                self._begin()  # something was added meanwhile
                self._changed.notify_all()

    def _go_on(self) -> None:
        assert self.worker is not None
        task, objects = self._left[0]
        done = True
        try:
            if task.wanted():
                if len(objects) < len(task.jobs):
                    objects.append(self.worker.do(task.jobs[len(objects)]))
                    done = False
                else:
                    done = task.finish(objects)
        finally:  # what fails is not tried again: there is code that works
            if done:
                self._left.popleft()


background = Background()

__all__ = ["Background", "Task", "background"]
