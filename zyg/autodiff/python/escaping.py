"""Exceptions that leave a differentiated function, and what the function had done by then.

The watched form of a forward half (`forms`) leaves its pullback with the exception, to be run from the place where it was left;
the handler that the exception comes to takes it.  A generator may be made before the `try` statement in which it raises: once there
is a handler at all, generator functions have the watched form alone.
"""

from __future__ import annotations

import sys
import threading
from types import CodeType, FrameType, TracebackType
from typing import Any

from zyg.errors import Unsupported

from .. import trying
from ..objects import adapters, calls, foreign, generators, later, passing

generators_are_watched = False


def name_at(depth: int) -> str:
    """Where an exception has the pullback. Code that is differentiated again goes on to leave and take its pullbacks: these are
    values like others there, at a depth of their own."""
    return f"__zyg_pullback_{depth}__"


def watch_generators() -> None:
    """There is a handler: from now on generators leave their pullbacks with exceptions."""
    global generators_are_watched
    if not generators_are_watched:
        generators_are_watched = True
        from .compile import forget_unwatched

        forget_unwatched()
        calls.forget()


def attempt(record: Any, *operands: Any) -> tuple[Any, Any]:
    """(value, back) by a run-time function, whose exceptions the caller catches."""
    watch_generators()
    trying.enter()
    try:
        return record(*operands)
    finally:
        trying.leave()


def attach(exception: BaseException, back: Any, depth: int = 0) -> None:
    """Leave the pullback of a forward half that the exception leaves."""
    exception.__dict__[name_at(depth)] = back


class _Refusals(threading.local):
    """What was refused while a pullback is being made, and came to a handler of the user's: it is not for that."""

    def __init__(self) -> None:
        self.met: list[Unsupported] = []


_refusals = _Refusals()


def begin() -> int:
    """A pullback is about to be made."""
    return len(_refusals.met)


def end(mark: int) -> None:
    """It is made."""
    met = _refusals.met[mark:]
    del _refusals.met[mark:]
    if met:
        raise met[0]


def fail(mark: int, error: BaseException) -> None:
    """It has failed: by what a handler made of a refusal, if one was met."""
    met = _refusals.met[mark:]
    del _refusals.met[mark:]
    if met and isinstance(error, Exception) and not isinstance(error, Unsupported):
        raise met[0] from None


def take(exception: BaseException, depth: int = 0) -> Any:
    """The pullback that a callee left with the exception, with cotangents for the operands of the call, or None."""
    if isinstance(exception, Unsupported):
        _refusals.met.append(exception)
    back = exception.__dict__.pop(name_at(depth), None)
    if back is None:
        return None
    is_half = later.compile.is_half
    here: FrameType | None = sys._getframe(1)
    while here is not None and not is_half(here.f_code):
        here = here.f_back
    entry = exception.__traceback__
    while entry is not None and entry.tb_frame is not here:
        entry = entry.tb_next
    while entry is not None and entry.tb_frame is here:
        entry = entry.tb_next
    return _passed_on(back, entry) or (run_elsewhere, back, foreign.caller(), ())


def _passed_on(back: Any, entry: TracebackType | None) -> Any:
    """What the calls on the way, from this entry of a traceback on, would have made of a pullback if they had returned; None if that is
    not known of one of them."""
    around: list[tuple[Any, ...]] = []  # from outside
    while entry is not None and not _has_left(entry.tb_frame.f_code, back):
        following = entry.tb_next
        if following is not None and following.tb_frame.f_code is later.forms.run_watched.__code__:
            entry = following.tb_next  # a plain form has had the watched one do the work
            continue
        code = entry.tb_frame.f_code
        of = adapters.around_of(code) or passing.around_of(code)
        found = None if of is None else of(entry.tb_frame.f_locals)
        if found is None:
            return None
        around += found
        entry = following
    if entry is None:
        return None
    for run, *more in reversed(around):
        back = (run, back, *more)
    return back


def swallowed(exception: BaseException, depth: int = 0, constants: tuple[int, ...] = ()) -> Any:
    """What undoes a call that was left by an exception which the run-time rules handle, at the place where they do; or None.
    `constants`: where the callee is a Python function, which of its cotangents are those of constants."""
    back = exception.__dict__.pop(name_at(depth), None)
    return None if back is None else (run_elsewhere, back, foreign.caller(), constants)


def left_call(exception: BaseException, up: int = 1) -> Any:
    """The pullback of the call that was left by an exception, in the frame so far up from here, with cotangents as if the call had
    returned; None if there is none, or that is not known."""
    back = exception.__dict__.get(name_at(0))
    if back is None:
        return None
    here = sys._getframe(up)
    entry = exception.__traceback__
    while entry is not None and entry.tb_frame is not here:
        entry = entry.tb_next
    made = None if entry is None else _passed_on(back, entry.tb_next)
    if made is not None:
        del exception.__dict__[name_at(0)]
    return made


def _has_left(code: CodeType, back: Any) -> bool:
    """Whether this is the code that has left the pullback with the exception."""
    if code is generators.record_send.__code__ or passing.left_by(code) is back[0]:
        return True
    if later.compile.reverse_of(code) is back[0]:
        return True
    # That of a half, differentiated, leaves the half's pullback.
    return code.co_name == back[0].__name__ and any(constant is back[0] for constant in code.co_consts)


def run_elsewhere(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """A callee that was called by way of the run-time rules: shadows are right, but whose cotangents these are is not known."""
    _, inner, place, constants = back
    given = inner[0](inner, d, shadows)
    if given is not None and any(_matters(c) for k, c in enumerate(given) if k not in constants):
        raise Unsupported(
            "the derivative of a call that was left by an exception, which was caught",
            foreign.position_of(place),
            hint="call a function or method, not by way of a builtin or an operator, in the `try` block; or pass on numbers as attributes of objects",
        )


def _matters(c: Any) -> bool:
    if isinstance(c, tuple):
        return any(map(_matters, c))
    return c is not None and not (isinstance(c, float) and c == 0.0)
