"""Exceptions that leave a differentiated function, and what the function had done by then.

The watched form of a forward half (`forms`) leaves its pullback with the exception, to be run from the place where it was left;
the handler that the exception comes to takes it.  A generator may be made before the `try` statement in which it raises: once there
is a handler at all, generator functions have the watched form alone.
"""

from __future__ import annotations

import dis
import functools
import inspect
import sys
import threading
from collections.abc import Iterator, Mapping
from types import CodeType, FrameType, TracebackType
from typing import Any

from zyg.errors import Unsupported

from .. import trying
from ..objects import calls, foreign, generator_items, generators, later, passing

generators_are_watched = False


def name_at(depth: int) -> str:
    """Where an exception has the pullback. Code that is differentiated again goes on to leave and take its pullbacks: these are
    values like others there, at a depth of their own."""
    return _FIRST if depth == 0 else f"__zyg_pullback_{depth}__"


_FIRST = "__zyg_pullback_0__"


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


def attach(exception: BaseException, back: Any, depth: int = 0, *kept: Any) -> None:
    """Leave the pullback of a forward half that the exception leaves. `kept`: what has to be in the variables of its frame."""
    exception.__dict__[name_at(depth)] = back


def leave_generator(exception: BaseException, back: Any) -> None:
    """The same of a generator, which has given its pullback before: who has a record of its steps says otherwise
    (`generators.Generator.fail`)."""
    if isinstance(exception, StopIteration):  # as CPython makes of it
        instead = RuntimeError("generator raised StopIteration")
        attach(instead, (generator_items.run_left_owned, back))
        raise instead from exception
    attach(exception, (generator_items.run_left_owned, back))


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
    if not depth and not isinstance(exception, Unsupported):
        held = exception.__dict__
        back = held.get(_FIRST)
        if back is None:
            return None
        here, entry = sys._getframe(1), exception.__traceback__
        if entry is not None and entry.tb_frame is here and (entry := entry.tb_next) is not None:
            frame = entry.tb_frame
            if frame is not here and later.compile.reverse_of(frame.f_code) is back[0]:  # it was called directly
                del held[_FIRST]
                return back
    return taken(exception, depth)[0]


def taken(exception: BaseException, depth: int = 0) -> tuple[Any, int]:
    """The same, and within how many others the pullback that was left is."""
    if isinstance(exception, Unsupported):
        _refusals.met.append(exception)
    back = exception.__dict__.pop(name_at(depth), None)
    if back is None:
        return None, 0
    return _passed_on(back, _callees(exception), depth) or ((run_elsewhere, back, foreign.caller(), ()), 1)


def _callees(exception: BaseException) -> TracebackType | None:
    """The entries of the traceback behind that of the function that has caught the exception, which is running."""
    entry = exception.__traceback__
    if entry is None:
        return None
    here: FrameType | None = sys._getframe(1)
    first = entry.tb_frame  # that function itself, most likely, which asks by way of a few others
    for _ in range(4):
        if here is first or here is None:
            break
        here = here.f_back
    if here is not first:
        entries: dict[int, TracebackType] = {}
        while entry is not None:
            entries.setdefault(id(entry.tb_frame), entry)
            entry = entry.tb_next
        here = sys._getframe(1)
        while here is not None and id(here) not in entries:
            here = here.f_back
        if here is None:
            return None
        entry = entries[id(here)]
    while entry is not None and entry.tb_frame is here:
        entry = entry.tb_next
    return entry


# A function of a traceback, what it puts around pullbacks if that is known, and the frame with its variables.
_Step = tuple["CodeType | None", "passing.Around | None", FrameType]


def _steps(entry: TracebackType | None, depth: int) -> Iterator[_Step]:
    """The functions of a traceback, from this entry on, as the derivative has them that pullbacks of this depth belong to.

    The program that is differentiated for the last time is made of halves then, and of run-time functions that these call: the code
    of frames is the forward half of such functions, or a handler that stands for one.  What these call to differentiate them, in turn,
    is not part of that program, and has nothing to do with its pullbacks."""
    while entry is not None and not depth:
        frame = entry.tb_frame
        code = frame.f_code
        yield code, passing.around_of(code), frame
        entry = entry.tb_next
    while entry is not None:
        frame = entry.tb_frame
        code, left = later.compile.differentiated_less(frame.f_code, depth)
        if code is None:
            yield None, None, frame
        elif left == 0:
            yield code, passing.around_of(code), frame
        else:
            found: Any = (code, None)
            while left and found is not None:
                found, left = passing.stood_for(found[0]), left - 1
            if found is not None:
                yield *found, frame
        entry = entry.tb_next


def _passed_on(back: Any, entry: TracebackType | None, depth: int) -> tuple[Any, int] | None:
    """What the calls on the way, from this entry of a traceback on, would have made of a pullback if they had returned, and how many of
    them have put something around it; None if that is not known of one of them."""
    around: list[tuple[Any, ...]] = []  # from outside
    steps = _steps(entry, depth)
    step = next(steps, None)
    while step is not None:
        code, of, frame = step
        if code is not None and _has_left(code, back):
            for run, *more in reversed(around):
                back = (run, back, *more)
            return back, len(around)
        step = next(steps, None)
        if step is not None and step[0] is later.forms.run_watched.__code__:
            step = next(steps, None)  # a plain form has had the watched one do the work
            continue
        found = None if code is None or of is None else _found_around(code, of, frame)
        if found is None:
            return None
        around += found
    return None


def is_on_the_way(code: CodeType) -> bool:
    """Whether what a function puts around pullbacks is known."""
    return passing.is_on_the_way(code)


@functools.lru_cache(1000)
def _never_bound_anew(code: CodeType) -> frozenset[str]:
    """The parameters, and variables of functions around it, that a function uses as they are."""
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    bound: set[str] = set()
    for instr in dis.get_instructions(code):
        if instr.opname.startswith(("STORE_", "DELETE_")):  # (of two variables, in some versions of Python)
            bound.update(instr.argval if isinstance(instr.argval, tuple) else (instr.argval,))
    return frozenset(code.co_varnames[:count] + code.co_freevars).difference(code.co_cellvars, bound)


class _Parameters(Mapping[str, Any]):
    """What the half of a run-time function was given, and what it has of functions around it: its other variables are not those of the
    function when an exception has left it."""

    def __init__(self, code: CodeType, variables: Mapping[str, Any]):
        self._found = {name: variables[name] for name in _never_bound_anew(code) if name in variables}

    def __getitem__(self, name: str) -> Any:
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        if name not in self._found:
            raise KeyError(name)  # nobody knows
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def _found_around(code: CodeType, of: passing.Around, frame: FrameType) -> list[tuple[Any, ...]] | None:
    """What a function of a traceback would have put around a pullback."""
    half = later.compile.is_half(frame.f_code)
    if half and (code.co_flags & inspect.CO_GENERATOR or not later.compile.is_watched(frame.f_code)):
        return None
    try:
        return of(_Parameters(code, frame.f_locals) if half else frame.f_locals)
    except KeyError:  # it hangs on something else, too, or the exception came before it was known
        return None


def swallowed(exception: BaseException, depth: int = 0, constants: tuple[int, ...] = ()) -> Any:
    """What undoes a call that was left by an exception which the run-time rules handle, at the place where they do; or None.
    `constants`: where the callee is a Python function, which of its cotangents are those of constants."""
    back = exception.__dict__.pop(name_at(depth), None)
    return None if back is None else (run_elsewhere, back, foreign.caller(), constants)


def left_call(exception: BaseException) -> Any:
    """The pullback of the call that was left by an exception which has been caught here, with cotangents as if the call had returned;
    None if there is none, or that is not known."""
    return left_in(exception, 0)[0]


def left_in(exception: BaseException, depth: int) -> tuple[Any, int]:
    """The same, and within how many others the pullback that was left is."""
    back = exception.__dict__.get(name_at(depth))
    made = None if back is None else _passed_on(back, _callees(exception), depth)
    if made is None:
        return None, 0
    del exception.__dict__[name_at(depth)]
    return made


def _has_left(code: CodeType, back: Any) -> bool:
    """Whether this is the code that has left the pullback with the exception."""
    if code is generators.record_send.__code__ or passing.left_by(code) is back[0]:
        return True
    return later.compile.reverse_of(code) is back[0]


def run_elsewhere(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """A callee that was called by way of the run-time rules: shadows are right, but whose cotangents these are is not known."""
    _, inner, place, constants = back
    given = inner[0](inner, d, shadows)
    for c in given or ():
        if c is not None:
            break
    else:
        return
    if any(_matters(c) for k, c in enumerate(given) if k not in constants):
        raise refusal(place)


def refusal(place: Any, what: str = "the derivative") -> Unsupported:
    return Unsupported(
        f"{what} of a call that was left by an exception, which was caught",
        foreign.position_of(place),
        hint="let the `try` block call what raises by itself, or write out there what that does; or pass numbers on as attributes of objects",
    )


def _matters(c: Any) -> bool:
    if isinstance(c, tuple):
        return any(map(_matters, c))
    return c is not None and not (isinstance(c, float) and c == 0.0)
