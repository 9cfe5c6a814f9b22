"""The frames of exceptions that differentiated code has made and caught.

What undoes such a program has the exceptions, and they have their tracebacks: the frames of the forward halves that they left, and by
these those of all that was under way, with what is in their variables, such as the whole of the pullback.  That is a circle, and
the arrays in it would stay in memory until Python looks for garbage next.  So when a call is over, the frames that are zyg's own, or
those of forward halves, are emptied.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import threading
from collections.abc import Iterator
from types import FrameType

from .own import is_own


class _Made(threading.local):
    def __init__(self) -> None:
        self.exceptions: list[BaseException] = []  # by calls that are under way


_made = _Made()


def note(exception: BaseException) -> None:
    """Differentiated code has made this exception."""
    _made.exceptions.append(exception)


def begin() -> int:
    """A call that is differentiated through Python begins."""
    return len(_made.exceptions)


def leave(mark: int) -> None:
    """It has failed: who looks at the traceback finds the variables."""
    del _made.exceptions[mark:]


def end(mark: int) -> None:
    """It has given a value."""
    exceptions = _made.exceptions[mark:]
    if not exceptions:
        return
    del _made.exceptions[mark:]
    from .autodiff.python.compile import is_half

    here = sys._getframe(1)
    seen: set[FrameType] = {here}
    for exception in exceptions:
        for frame in _frames(exception, seen):
            code = frame.f_code
            if code.co_flags & _SUSPENDED or not (is_own(code.co_filename) or is_half(code)):
                continue
            with contextlib.suppress(RuntimeError):  # it is running
                frame.clear()


# A frame of these may be waiting to go on, and would be closed.
_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def _frames(exception: BaseException, seen: set[FrameType]) -> Iterator[FrameType]:
    """The frames of a traceback, and those that called them."""
    entry = exception.__traceback__
    while entry is not None:
        frame: FrameType | None = entry.tb_frame
        while frame is not None and frame not in seen:
            seen.add(frame)
            yield frame
            frame = frame.f_back
        entry = entry.tb_next
