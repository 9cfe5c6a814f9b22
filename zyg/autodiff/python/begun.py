"""`yield from`: how it begins to hand over to a generator (`objects/delegation`).

Nobody else has a generator that is made for it alone, by a call in `yield from f(x)` or by the `__iter__` of an object: nothing has to be
known of that but its pullback. Neither is there an object that stands for it, nor a record of its steps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .. import objects
from ..objects import calls, delegation, generators
from ..objects.backs import run
from ..objects.passing import passes
from . import sites, special
from .knowledge import HEAP_TYPE


class Otherwise:
    """An iterator that is not handed over to."""

    __slots__ = ("iterator",)

    def __init__(self, iterator: Any):
        self.iterator = iterator


def begin(site: sites.Site, f: Callable[..., Any], handed: Any, *args: Any) -> Any:
    """What `yield from f(*args)` goes through: the forward half of a generator, or Otherwise."""
    return Otherwise(iter(f(*args)))


def begin_over(x: Any, handed: Any) -> Any:
    """The same of `yield from x`."""
    return Otherwise(iter(x))


def is_handed_over(begun: Any) -> bool:
    return type(begun) is not Otherwise


def iterator_of(begun: Any) -> Any:
    return begun.iterator


@calls.known(begin, exact=True)
@passes()
def record_begin(site: sites.Site, f: Any, handed: list[Any], *args: Any) -> tuple[Any, Any]:
    if f is not site[_AT_ONCE]:
        forward = site[1] if f is site[0] else sites.forward_at(f, site, len(args))
        make = forward.args[0] if type(forward) is partial and forward.func is generators.call else None
        if f is not site[0] or make is None or not delegation.gives_items_alone(make.__code__):
            return _otherwise(forward, args)
        site[_AT_ONCE : _AT_ONCE + 2] = f, make
    begun = site[_AT_ONCE + 1](*args)
    back = next(begun)
    handed.append(back)
    return begun, (run_begun, back)


# Where a place notes such a function, and what makes the forward half of its generators.
_AT_ONCE = 4


@passes(lambda variables: [(_run_left,)])
def _otherwise(forward: Any, args: tuple[Any, ...]) -> tuple[Any, Any]:
    y, back = forward(*args)
    iterator, of_iterator = objects.RECORD["iter"](y)
    return Otherwise(iterator), (run_otherwise, of_iterator, back)


@calls.known(begin_over, exact=True)
@passes()
def record_begin_over(x: Any, handed: list[Any]) -> tuple[Any, Any]:
    t = type(x)
    if t is generators.Generator:
        if delegation.can_be_handed_over(x):
            return delegation.hand_over(x, handed), None
    elif t.__flags__ & HEAP_TYPE:
        forward = special.special_method("__iter__", t, 1)
        make = forward.args[0] if type(forward) is partial and forward.func is generators.call else None
        if make is not None and delegation.gives_items_alone(make.__code__):
            begun = make(x)
            back = next(begun)
            handed.append(back)
            return begun, (_run_begun_over, back)
    return _otherwise_over(x, handed)


@passes(lambda variables: [(_run_over,)])
def _otherwise_over(x: Any, handed: list[Any]) -> tuple[Any, Any]:
    iterator, back = objects.RECORD["iter"](x)
    if delegation.can_be_handed_over(iterator):
        begun = delegation.hand_over(iterator, handed)
    else:
        begun = Otherwise(iterator)
    return begun, None if back is None else (_run_over, back)


@calls.known(record_begin_over, exact=True)
def _over_in_turn(*operands: Any) -> tuple[Any, Any]:
    return calls.call(_begin_over_by_step, operands)


def _begin_over_by_step(x: Any, handed: Any) -> tuple[Any, Any]:
    iterator, back = objects.RECORD["iter"](x)
    return Otherwise(iterator), (_run_over, back)


def _run_begun_over(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The cotangents of the operands of `begin_over`, from that of the object whose `__iter__` made the generator."""
    given = shadows.items.pop(id(back[1]), None)
    return None if given is None else (None, given[0], None)


def _run_over(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The same from that of what an iterator is of."""
    given = run(back[1], None, shadows)
    return None if given is None else (None, given[0], None)


@calls.known(record_begin, exact=True)
def _in_turn(*operands: Any) -> tuple[Any, Any]:
    """In a derivative of a derivative the steps are taken one by one."""
    return calls.call(_begin_by_step, operands)


def _begin_by_step(site: sites.Site, f: Any, handed: Any, *args: Any) -> tuple[Any, Any]:
    y, back = calls.call(f, args)
    iterator, of_iterator = objects.RECORD["iter"](y)
    return Otherwise(iterator), (run_otherwise, of_iterator, back)


def run_begun(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The generator has been undone as a whole (`delegation.is_undone`)."""
    given = shadows.items.pop(id(back[1]), None)
    return None if given is None else (None, None, given[0], None, *given[1:])


def run_otherwise(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = run(back[1], None, shadows)
    return _of_operands(run(back[2], None if given is None else given[0], shadows))


def _run_left(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return _of_operands(run(back[1], None, shadows))


def _of_operands(given: Any) -> Any:
    """The cotangents of the operands of `begin`, from those of the function and its arguments."""
    return None if given is None else (None, None, given[0], None, *given[1:])


__all__ = ["begin", "begin_over", "is_handed_over", "iterator_of"]
