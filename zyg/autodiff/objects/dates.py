"""Dates and times: what C code calculates with them is no derivative, as in `foreign.result`, but nothing has to be
looked for. They never change, hold nothing that can be found in them, and call no Python code (but of a time zone, where
they have one).

A number may have gone into one (`timedelta(seconds=x)`). What comes out of it, a number again, is refused then: the
refusal goes from a date to those that it was made of by their identity. Of dates that no number has gone into while a
pullback was made, as those that are arguments, nothing is recorded.
"""

from __future__ import annotations

import datetime
import operator
import threading
from collections import deque
from collections.abc import Callable
from types import FunctionType, MethodDescriptorType, ModuleType
from typing import Any

from zyg.errors import Unsupported
from zyg.ir.plainly import own_attributes

from . import arithmetic, calls, foreign, iteration
from .cotangents import DATES, INERT, Refused, refused_in
from .foreign_calls import call_foreign

_ZONED = frozenset({datetime.datetime, datetime.time})
_NUMBERS = frozenset({float, int})
_OPERANDS = INERT | _NUMBERS | (DATES - _ZONED) | {datetime.timezone}


def _calculate_alone(operands: tuple[Any, ...]) -> bool:
    """Whether what is calculated with these runs no Python code."""
    for x in operands:
        t = type(x)
        if t not in _OPERANDS and not (t in _ZONED and (x.tzinfo is None or type(x.tzinfo) is datetime.timezone)):
            return False
    return True


class _Holding(threading.local):
    """The dates that a number has gone into, since a pullback was begun within no other one; by identity."""

    held: dict[int, Any] | None = None
    depth = 0


_holding = _Holding()

# Something for each thread in which there are such dates: as long as this is empty there are none, and object code calculates
# with dates by itself.
held_somewhere: deque[None] = deque()


def begin() -> None:
    """A pullback is about to be made."""
    holding = vars(_holding)  # (each look at it finds out which thread this is)
    depth = holding["depth"] = holding.get("depth", 0) + 1
    if depth == 1:
        holding["held"] = {}


def end() -> None:
    """It is made, or has failed."""
    holding = vars(_holding)
    depth = holding["depth"] = holding["depth"] - 1
    if not depth:
        if holding["held"]:
            held_somewhere.pop()
        holding["held"] = None


def hold(value: Any) -> None:
    """A number may have gone into a value, if it is a date, or a tuple with dates."""
    held = _holding.held
    if type(value) is tuple:
        for x in value:
            hold(x)
    elif type(value) in DATES and held is not None:
        if not held:
            held_somewhere.append(None)
        held[id(value)] = value


def held_in(values: Any) -> list[Any]:
    """The dates in values, in their items and attributes, that a number may have gone into."""
    held = _holding.held
    return [x for x in inside(values) if id(x) in held] if held else []


def inside(values: Any) -> list[Any]:
    """The dates in values, in their items and attributes."""
    found: dict[int, Any] = {}
    seen: set[int] = set()
    work = list(values)
    while work:
        x = work.pop()
        t = type(x)
        if t in DATES:
            found[id(x)] = x
        elif t in INERT or t in _NUMBERS or id(x) in seen:
            continue
        elif issubclass(t, (tuple, list, set, frozenset, deque)):
            seen.add(id(x))
            work.extend(iteration.own_items(x))
        elif issubclass(t, dict):
            seen.add(id(x))
            work.extend((*dict.keys(x), *dict.values(x)))
        elif not issubclass(t, (type, ModuleType, FunctionType)):
            seen.add(id(x))
            own = own_attributes(x)
            work.extend(own.values() if type(own) is dict else ())
    return list(found.values())


@calls.known(held_in, exact=True)
def _held_again(values: Any) -> tuple[Any, Any]:
    return held_in(values), None


def _counts(y: Any, operands: tuple[Any, ...]) -> bool:
    """Whether a number may have gone into what was calculated of these, which is noted."""
    held = _holding.held
    if type(y) in INERT:
        return False
    if held is not None and _NUMBERS.isdisjoint(map(type, operands)) and held.keys().isdisjoint(map(id, operands)):
        return False
    hold(y)
    return True


@calls.known(_counts, exact=True)
def _counts_again(y: Any, operands: tuple[Any, ...]) -> tuple[Any, Any]:
    return _counts(y, operands), None


def _record(y: Any, name: str, operands: tuple[Any, ...]) -> Any:
    """The back of what was calculated."""
    if not _counts(y, operands):
        return None
    # (Where a number neither goes in nor comes out a refusal has a place already.)
    passing = type(y) in DATES and _NUMBERS.isdisjoint(map(type, operands))
    return _run_calculated, y, name, None if passing else foreign.caller(), operands


def _run_calculated(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, name, place, operands = back
    refused = None if d is None else refused_in(d) or Refused(None, (_refusal, name, place))
    if refused is None and shadows.marks and type(y) in DATES:
        refused = shadows.mark_of(y)
    if refused is None:
        return None
    for x in operands:
        if type(x) in DATES:
            shadows.mark(x, refused)
    return [refused if type(x) in _NUMBERS else None for x in operands]


def _refusal(name: str, place: Any) -> Unsupported:
    what = f"a derivative through {name}, which zyg cannot see into"
    return Unsupported(what, foreign.position_of(place), hint=arithmetic.HINT)


def _run_called(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = back[1][0](back[1], d, shadows)
    return None if given is None else (None, *given)


def caller_of(f: Any) -> Callable[..., tuple[Any, Any]]:
    """What a call of one of the classes means, or of a class method of one."""
    name = f"`{foreign.name_of(f)}`"

    def call(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        if not kwargs and INERT.issuperset(map(type, args)):  # such as the text of a date
            return f(*args), None
        operands = (*args, *kwargs.values())
        if not _calculate_alone(operands):
            return call_foreign(f, *args, **kwargs)
        y = f(*args, **kwargs)
        back = _record(y, name, operands)
        return y, None if back is None else (_run_called, back)

    def of_constants(names: tuple[str, ...], *args: Any) -> tuple[Any, Any]:
        if not _calculate_alone(args):
            return call(*args[: len(args) - len(names)], **dict(zip(names, args[len(args) - len(names) :])))
        if not names:
            return f(*args), None
        return f(*args[: -len(names)], **dict(zip(names, args[-len(names) :]))), None

    vars(call)["of_constants"] = of_constants
    return call


def method(cls: type, name: str) -> Callable[..., tuple[Any, Any]]:
    """What a call of a method means: a function of the date and the arguments."""
    what = f"`datetime.{cls.__name__}.{name}`"
    bare = getattr(cls, name) if cls not in _ZONED and type(vars(cls).get(name)) is MethodDescriptorType else None

    def call(x: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        if bare is not None and not args and not kwargs:
            y = bare(x)
            held = _holding.held
            return y, None if held is not None and id(x) not in held else _record(y, what, (x,))
        operands = (x, *args, *kwargs.values())
        f = getattr(x, name)
        if not _calculate_alone(operands):
            return call_foreign(f, *args, **kwargs)
        y = f(*args, **kwargs)
        return y, _record(y, what, operands)

    return call


def reader(cls: type, name: str) -> Callable[[Any], tuple[Any, Any]]:
    """What reading an attribute of a date means."""
    what = f"the attribute `{name}` of a {cls.__name__}"

    get = operator.attrgetter(name)

    def read(x: Any) -> tuple[Any, Any]:
        y = get(x)
        held = _holding.held
        return y, None if held is not None and id(x) not in held else _record(y, what, (x,))

    return read


def _operator(op: str, ta: type, tb: type) -> Callable[[Any, Any], tuple[Any, Any]]:
    function = getattr(operator, op)
    of_zones = ta in _ZONED and tb in _ZONED
    of_numbers = ta in _NUMBERS or tb in _NUMBERS
    what = f"`{op}` of {ta.__name__} and {tb.__name__}"

    def record(a: Any, b: Any) -> tuple[Any, Any]:
        if of_zones and not _calculate_alone((a, b)):
            return arithmetic.unknown(op, a, b, function)
        y = function(a, b)
        held = _holding.held
        if of_numbers or held is None or id(a) in held or id(b) in held:
            return y, _record(y, what, (a, b))
        return y, None

    return record


def _operators() -> None:
    days, span = (datetime.date, datetime.datetime), datetime.timedelta
    pairs = {
        "add": [(span, span), *[(d, span) for d in days], *[(span, d) for d in days]],
        "sub": [(span, span), *[(d, span) for d in days], *[(d, d) for d in days]],
        "mul": [*[(span, n) for n in (int, float)], *[(n, span) for n in (int, float)]],
        "truediv": [(span, span), (span, int), (span, float)],
        "floordiv": [(span, span), (span, int)],
        "mod": [(span, span)],
    }
    for op, types in pairs.items():
        for ta, tb in types:
            arithmetic.OF_CONTAINERS[op][ta, tb] = _operator(op, ta, tb)


_operators()

__all__ = ["begin", "caller_of", "end", "hold", "method", "reader"]
