"""`yield from`: of a generator of which nothing has been taken, whose items CPython hands on, and so does the reverse; else step by step.

A generator that gives all items of another one is resumed for none of them: in the forward half it waits in `yield from` of the other
one's forward half, in the reverse half in `yield from` of the reverse half, which undoes what the other one did back to its start.
So an item that comes through many generators costs what it costs in CPython. Whoever else takes an item of the other generator
meanwhile is refused.

An exception that leaves such a generator goes through the other one's `yield from`: each says on its tape that it was left. A reverse pass
begins with the outer one, which goes to the reverse of its `yield from` from there, so that the inner one undoes what it did till then.
Where the other one handles exceptions (`yield from` in its `try` statement) the steps are taken one by one: a `try` body counts as
entered while the inner one runs, and not while both are suspended.

The emitted code keeps the generators that it has handed over to in a list, in order (`handed_over`); a reverse pass goes through that
from its end.
"""

from __future__ import annotations

from typing import Any

from zyg.autodiff import objects

from . import later
from .generator_items import gives_items_alone
from .generators import Away, Generator, Record, record_send
from .iteration import Iterator
from .passing import passes
from .reversals import end_of, run_item, run_send


def handed_over() -> list[Any]:
    """The generators that this one will have handed over to: the record of each, or its pullback where there is none."""
    return []


def can_be_handed_over(iterator: Any) -> bool:
    """Whether all that a generator gives is still to come, and nothing that has to be known of it in between."""
    if type(iterator) is not Generator:
        return False
    record = iterator.record
    if record.items or record.done or record.handed_over or record.failed is not None:
        return False  # (it was started)
    return gives_items_alone(record.code)


def hand_over(iterator: Generator, handed: list[Any]) -> Any:
    """What `yield from` goes through."""
    forward = iterator.forward
    handed.append(iterator.record)
    iterator.forward = Away(forward)
    iterator.record.handed_over = True
    return forward


def undo(handed: list[Any], d: Any, shadows: Any) -> Any:
    """The reverse half of the generator that was handed over to last; `d` is the cotangent of its value."""
    left = shadows.items.get(id(handed))
    if left is None:
        left = shadows.items[id(handed)] = handed[:]
        shadows.kept.append(handed)
    back = last.back if type(last := left[-1]) is Record else last
    return back[0](back, d, shadows)


def is_undone(handed: list[Any], cotangents: Any, shadows: Any) -> None:
    """It has come to its start, and gives the cotangents of what it was called with."""
    shadows.items[id(shadows.items[id(handed)].pop())] = cotangents  # (`reversals.run_generator` takes them)


# ---------------------------------------------------------------------------------------------------- step by step


def delegated(iterator: Any, sent: Any) -> tuple[bool, Any]:
    """A step of `yield from`: (True, the next item), or (False, the value of the iterator) at its end."""
    try:
        return True, next(iterator) if sent is None else iterator.send(sent)
    except StopIteration as end:
        return False, end.value


@passes()
def record_delegated(iterator: Any, sent: Any) -> tuple[Any, Any]:
    """(the step of `yield from`, back)"""
    if type(iterator) is Generator:
        record = iterator.record
        if type(iterator.forward) is Away and not record.handed_over:
            iterator.forward = iterator.forward.forward
        if sent is not None:
            try:
                item, back = record_send(iterator, sent)
            except StopIteration as end:
                return (False, end.value), (_run_delegated_end, record)
            iterator.forward = Away(iterator.forward)
            return (True, item), (_run_delegated_send, back)
        try:
            item = next(iterator.forward)
        except StopIteration as end:
            if record.done:
                return (False, end.value), None
            record.done = True
            return (False, end.value), (_run_delegated_end, record)
        except BaseException as error:
            iterator.fail(error)
            raise
        number = record.items = record.items + 1
        iterator.forward = Away(iterator.forward)
        return (True, item), (_run_delegated_item, record, number)
    if sent is None and type(iterator) in _WITHOUT_DERIVATIVE:
        return delegated(iterator, None), None
    if sent is not None or not isinstance(iterator, Iterator):
        return _delegated_by_methods(iterator, sent)
    has, item, back = objects.iteration.record_next(iterator)
    return (has, item), None if back is None else (_run_delegated, back)


# Iterators over ranges and text.
_WITHOUT_DERIVATIVE = frozenset(type(iter(x)) for x in (range(0), range(1 << 70), "a", "\u00e4", b""))


def _delegated_by_methods(iterator: Any, sent: Any) -> tuple[Any, Any]:
    step = iterator.__next__ if sent is None else iterator.send
    try:
        item, back = later.escaping.attempt(objects.calls.call, step, () if sent is None else (sent,))
    except StopIteration as end:
        return (False, end.value), (_run_delegated_value, later.escaping.swallowed(end), end)
    return (True, item), None if back is None else (_run_delegated_by_call, back)


def _run_delegated(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    inner = back[1]
    inner[0](inner, None if d is None else d[1], shadows)


def _run_delegated_item(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    run_item(back, None if d is None else d[1], shadows)


def _run_delegated_send(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = run_send(back[1], None if d is None else d[1], shadows)
    return None, None, given[2]


def _run_delegated_by_call(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = objects.calls.run(back[1], None if d is None else d[1], shadows)
    return None if given is None else (None, None, given[1] if len(given) > 1 else None)


def _run_delegated_end(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, None, end_of(back[1], None if d is None else d[1], shadows).sent


def _run_delegated_value(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, inner, end = back
    if d is not None and d[1] is not None:
        shadows.add_attr(end, "value", d[1])
    objects.calls.run(inner, None, shadows)


__all__ = [
    "can_be_handed_over",
    "delegated",
    "gives_items_alone",
    "hand_over",
    "handed_over",
    "is_undone",
    "record_delegated",
    "undo",
]
