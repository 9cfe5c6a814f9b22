"""Modules of zyg are loaded whole, whatever a signal's handler raises meanwhile.

Everything is loaded at first use, so who interrupts a first call most likely interrupts the execution of a module.  Python forgets that
module, but not what others have of it by then: entries in tables, and its classes in modules that were loaded on the way.  A later call
would find two of each.  So the handlers of signals (Python runs them in the main thread alone) wait while a module is executed, and
with it all that it imports.  What came meanwhile is sent again by a thread, when the import is done: a handler that is called here and
raises would end it all the same.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import FrameType, ModuleType
from typing import Any

SOON = 1e-3  # seconds, in which an import is done whose module has been executed

_under_way = False


class Finder:
    """Of `sys.meta_path`: where Python finds the source of one of zyg's modules, `Whole` loads it."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not name.startswith("zyg."):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = Whole(spec.loader.name, spec.loader.path)
        return spec


class Whole(SourceFileLoader):
    """Executes a module without signals' handlers, with all that it imports."""

    def exec_module(self, module: ModuleType) -> None:
        import threading

        if _under_way or threading.current_thread() is not threading.main_thread():
            super().exec_module(module)
        else:
            with _no_handlers():
                super().exec_module(module)


@contextmanager
def _no_handlers() -> Iterator[None]:
    global _under_way
    import _thread
    from importlib import import_module

    signal: Any = import_module("_signal")  # what `signal` makes enumerations of: those took 0.3 ms for each module

    came: list[int] = []

    def wait(number: int, frame: FrameType | None) -> None:
        came.append(number)

    handlers: dict[int, Any] = {}
    try:
        _under_way = True
        for number in signal.valid_signals():
            handler = signal.getsignal(number)
            if callable(handler):
                handlers[number] = handler
                signal.signal(number, wait)
        yield
    finally:
        for number, handler in handlers.items():
            if signal.getsignal(number) is wait:  # else the module has set its own
                signal.signal(number, handler)
        _under_way = False
        if came:
            _thread.start_new_thread(_send, (came,))


def _send(numbers: list[int]) -> None:
    import signal
    import time

    time.sleep(SOON)
    for number in numbers:
        signal.raise_signal(number)


def begin() -> None:
    sys.meta_path.insert(0, Finder)
