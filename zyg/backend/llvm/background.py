"""What LLVM makes beside the program, in a thread that is there as long as there is something to do.

    background.add(task)      a task has jobs, and what is to be done with their objects
    background.settle()       wait until nothing is left to do
    background.held()         a context in which nothing is under way: around forks
    background.end()          nothing is under way from here on: when Python ends

It holds Python's lock for some microseconds between LLVM's calls.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None  # while it works
        self._last: threading.Thread | None = None
        self._held = 0

    def add(self, task: Task) -> None:
        with self._lock:
            self._left.append((task, []))
            self._begin()

    def settle(self) -> None:
        """Wait until all that was added is done."""
        with no_collections(), self._lock:
            while self._left and not self._held and self._thread is not threading.current_thread():
                self._begin()
                self._changed.wait(0.05)

    @contextmanager
    def held(self, goes_on: bool = True) -> Iterator[None]:
        """No task goes on in it, and nobody else comes to this object; `goes_on`: what is left is gone on with at its end.  (Whatever a signal's handler raises, and where: the lock
        is given back.)"""
        with self._lock:
            self._held += 1
            try:
                self._pause()
                yield
            finally:
                self._held -= 1
                if goes_on:
                    self._begin()

    def go_on(self) -> None:
        with self._lock:
            self._begin()

    def end(self) -> None:
        """Nothing is begun any more, and what is under way has come to its end.  The lock is free afterwards: other threads may still
        compile, and so may what is called when Python ends."""
        interrupts: list[BaseException] = []
        self._held += 1
        while self._is_under_way():
            try:
                with self._lock:
                    self._pause()
            except BaseException as error:  # of a signal's handler
                interrupts.append(error)
        if interrupts:
            raise interrupts[0]

    def _pause(self) -> None:
        """Wait until the task under way has come to a place where it can be left."""
        with no_collections():
            while self._is_under_way():
                self._changed.wait()
            if self._last not in (None, threading.current_thread()):
                self._last.join()
                _wait_for_end(self._last)  # who forks is warned of threads that are about to end, too

    def _is_under_way(self) -> bool:
        """In another thread: in that which works some `__del__` may be running that asks."""
        return self._thread not in (None, threading.current_thread())

    def is_held(self) -> bool:
        return self._held > 0

    def _begin(self) -> None:
        """Have a thread, if there is something to do. (Where there can be no more threads, what comes next asks again.)"""
        if self._left and not self._held and self._thread is None:
            thread = threading.Thread(target=self._run, name="zyg compiles with care", daemon=True)
            self._thread = self._last = thread
            try:
                thread.start()
            except BaseException as error:
                self._thread = self._last = None
                if not isinstance(error, RuntimeError):
                    raise  # by a signal's handler: the thread may have begun, and finds that it is not wanted

    def _run(self) -> None:
        with self._lock:
            if self._thread is not threading.current_thread():
                return
        try:
            while self._left and not self._held:
                self._go_on()
        finally:
            with self._lock:
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


def _wait_for_end(thread: threading.Thread) -> None:
    """Until the system no longer counts it, either, where that can be seen: Python 3.12's `join` is over before."""
    for _ in range(100):
        if not os.path.exists(f"/proc/self/task/{thread.native_id}"):
            break
        time.sleep(0.0001)


background = Background()
# LLVM is not left in the middle of something when the process ends.  What was registered later is called before, and may have something
# compiled; what is registered while Python ends might never be called.
atexit.register(background.end)
if hasattr(os, "register_at_fork"):
    # Python 3.13 looks for threads, to warn who forks, behind what is called after a fork.  So there is none before it goes on with
    # the program; and this is no function of Python's, between whose lines that would be done.
    _go_on = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(lambda _: background.go_on() or 0)
    _later = functools.partial(ctypes.pythonapi.Py_AddPendingCall, _go_on, None)
    os.register_at_fork(after_in_parent=_later, after_in_child=_later)

__all__ = ["Background", "Task", "background"]
