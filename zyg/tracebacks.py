"""The frames of exceptions: those that differentiated code has made and caught, and those that leave it.

What undoes such a program has the exceptions, and they have their tracebacks: the frames of the forward halves that they left, and by
these those of all that was under way, with what is in their variables, such as the whole of the pullback.  That is a circle, and
the arrays in it would stay in memory until Python looks for garbage next.  So when a call is over, the frames that are zyg's own, or
those of forward halves, are emptied.

What leaves such a program has the lines of the user's code in its traceback, without the frames of zyg's that stand between them and
behind them: these say nothing about the program. ZYG_TRACEBACKS=all in the environment keeps them, to look for a fault of zyg's own.
"""

from __future__ import annotations

import inspect
import os
import sys
import threading
from types import CodeType, FrameType, TracebackType

from .autodiff.identity import ByIdentity
from .errors import InternalError
from .own import is_own


class _Made(threading.local):
    def __init__(self) -> None:
        self.calls = 0  # that are under way
        self.exceptions: list[BaseException] = []  # that their tapes have


_made = _Made()


def note(exception: BaseException) -> None:
    """What undoes differentiated code has this exception: it was made there, or caught, and has a part in the derivative."""
    made = _made
    if made.calls and not (made.exceptions and made.exceptions[-1] is exception):
        made.exceptions.append(exception)


def begin() -> int:
    """A call that is differentiated through Python begins."""
    _made.calls += 1
    return len(_made.exceptions)


def leave(mark: int, error: BaseException) -> None:
    """It has failed: who looks at the traceback finds the variables."""
    _made.calls -= 1
    del _made.exceptions[mark:]
    tidy(error)


def tidy(error: BaseException) -> None:
    """Leave frames of zyg's own out of the traceback of an exception, and of those that led to it."""
    if _KEEPS_ALL:
        return
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        waiting += [one.__cause__, one.__context__]
        if not isinstance(one, InternalError):
            one.__traceback__ = _of_user(one.__traceback__)


_KEEPS_ALL = os.environ.get("ZYG_TRACEBACKS") == "all"


def _of_user(entry: TracebackType | None) -> TracebackType | None:
    """The entries of frames that are not zyg's own; all, if there are no others."""
    everything, kept = entry, []
    while entry is not None:
        if not is_own(entry.tb_frame.f_code.co_filename):
            kept.append(entry)
        entry = entry.tb_next
    for one, following in zip(kept, [*kept[1:], None]):
        one.tb_next = following
    return kept[0] if kept else everything


def end(mark: int) -> None:
    """It has given a value."""
    _made.calls -= 1
    exceptions = _made.exceptions[mark:]
    if not exceptions:
        return
    del _made.exceptions[mark:]
    here = sys._getframe(1)
    seen: set[FrameType] = {here}
    for frame in _frames(exceptions, seen):
        code = frame.f_code
        emptied = _emptied.get(id(code))
        if emptied is None:
            emptied = _is_emptied(code)
            _emptied.note(code, emptied)
        if emptied:
            try:
                frame.clear()
            except RuntimeError:  # it is running
                continue


_emptied = ByIdentity()  # by code


def _is_emptied(code: CodeType) -> bool:
    """Whether frames of a code object are zyg's own, or those of forward halves."""
    from .autodiff.python.compile import is_half

    return not code.co_flags & _SUSPENDED and (is_half(code) or is_own(code.co_filename))


# A frame of these may be waiting to go on, and would be closed.
_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def _frames(exceptions: list[BaseException], seen: set[FrameType]) -> list[FrameType]:
    """The frames of tracebacks, and those that called them."""
    found = []
    for exception in exceptions:
        entry = exception.__traceback__
        while entry is not None:
            frame: FrameType | None = entry.tb_frame
            while frame is not None and frame not in seen:
                seen.add(frame)
                found.append(frame)
                frame = frame.f_back
            entry = entry.tb_next
    return found
