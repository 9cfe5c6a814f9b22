"""What run-time functions make of the pullbacks of calls that they do for emitted code.

A call that returns gives value and pullback, and each run-time function on the way puts what brings the cotangents to its own
operands around the pullback. A call that is left by an exception leaves its pullback with that (`python.escaping`); the functions on
the way are found in the traceback then, and have said here what they would have put around it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import Any, TypeVar, cast

from zyg.ir.plainly import get_plainly

from . import later

# What is put around a pullback, (what runs it, what that takes besides), from outside; by the variables of the frame. None: not known.
Around = Callable[[Mapping[str, Any]], list[tuple[Any, ...]] | None]
F = TypeVar("F", bound=Callable[..., Any])

_around: dict[int, Around] = {}  # by the identity of the code: code objects compare by value
_kept: list[CodeType] = []  # code that no module holds
_in_turn: dict[int, Around] = {}  # of handlers: the same for the function that they stand for, differentiated in turn
_stands_for: dict[int, CodeType] = {}
_left: dict[int, Any] = {}
_handing_on: dict[int, CodeType] = {}


def _nothing(variables: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    return []


def passes(around: Around = _nothing) -> Callable[[F], F]:
    """The decorated function gives the pullback of a call that it makes, with that around it."""

    def decorate(function: F) -> F:
        _around[id(cast(FunctionType, function).__code__)] = around
        return function

    return decorate


def passes_code(code: CodeType, around: Around = _nothing) -> None:
    """The same of code that is there for good."""
    _around[id(code)] = around
    _kept.append(code)


def around_of(code: CodeType) -> Around | None:
    return _around.get(id(code))


def passes_in_turn(around: Around = _nothing) -> Callable[[F], F]:
    """The decorated handler is what a call of a run-time function means where that is differentiated in turn; `around`: what the
    function would put around the pullback of a call that it makes, by the variables of the handler."""

    def decorate(handler: F) -> F:
        _in_turn[id(cast(FunctionType, handler).__code__)] = around
        return handler

    return decorate


def stands_for(handler: Any, function: Any) -> None:
    """The handler is what a call of this function means where it is differentiated in turn."""
    if isinstance(handler, FunctionType) and isinstance(function, FunctionType):
        _stands_for[id(handler.__code__)] = function.__code__


def stood_for(code: CodeType) -> tuple[CodeType, Around | None] | None:
    """The function that a handler stands for, and what it would put around pullbacks; None of other functions."""
    function = _stands_for.get(id(code))
    return None if function is None else (function, _in_turn.get(id(code)))


def is_on_the_way(code: CodeType) -> bool:
    """Whether it is said what a function, or the one that a handler stands for, puts around pullbacks."""
    return id(code) in _around or id(code) in _in_turn


def hands_on(run: F) -> F:
    """The decorated function runs the pullback of a call, at [1], whose value has been handed on as it is, and is kept nowhere."""
    hands_on_code(cast(FunctionType, run).__code__)
    return run


def hands_on_code(code: CodeType) -> None:
    _handing_on[id(code)] = code


def innermost(back: Any) -> Any:
    """The pullback of the call whose value has been handed on to where `back` is, also by functions that return what they call."""
    while type(back) is tuple:
        code = get_plainly(back[0], "__code__")  # (some are of native code)
        if code is None:
            break
        at = 1 if id(code) in _handing_on else later.compile.hands_on_at(code)
        if at is None:
            break
        back = back[at]
    return back


def leaves(run: Any) -> Callable[[F], F]:
    """The decorated function leaves pullbacks that are run by `run`, which gives a cotangent per operand, with exceptions."""

    def decorate(function: F) -> F:
        _left[id(cast(FunctionType, function).__code__)] = run
        return function

    return decorate


def left_by(code: CodeType) -> Any:
    """What runs the pullbacks that a run-time function leaves with exceptions."""
    return _left.get(id(code))


def run_nothing_flows(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """Of a call that has none of the operands as arguments."""
    back[1][0](back[1], None, shadows)


__all__ = [
    "around_of", "hands_on", "hands_on_code", "innermost", "is_on_the_way", "leaves", "left_by", "passes", "passes_code",
    "passes_in_turn", "run_nothing_flows", "stands_for", "stood_for",
]  # fmt: skip
