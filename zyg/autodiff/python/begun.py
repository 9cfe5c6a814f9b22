"""`yield from f(x)`: a generator that is made for it alone is handed over to (`objects/delegation`) as it is made.

Nobody else has such a generator, so that nothing has to be known of it but its pullback: neither is there an object that stands for it,
nor a record of its steps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .. import objects
from ..objects import calls, delegation, generators
from ..objects.backs import run
from ..objects.passing import passes
from . import sites


class Otherwise:
    """An iterator that is not handed over to."""

    __slots__ = ("iterator",)

    def __init__(self, iterator: Any):
        self.iterator = iterator


def begin(site: sites.Site, f: Callable[..., Any], handed: Any, *args: Any) -> Any:
    """What `yield from f(*args)` goes through: the forward half of a generator, or Otherwise."""
    return Otherwise(iter(f(*args)))


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


__all__ = ["begin", "is_handed_over", "iterator_of"]
