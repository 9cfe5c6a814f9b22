"""The methods and operators of sets and frozen sets.

The shadow of a set has the cotangents of its items, by item. What is made of several sets has the very objects that these have (of
equal ones CPython takes one): that tells where a cotangent belongs.
"""

from __future__ import annotations

import functools
import operator
from collections import deque
from collections.abc import Callable
from typing import Any

from zyg.backend.phrases import PLAIN_KEYS

from . import calls, construction, draining, iteration, reentry
from .builtins_ import ask
from .calls import method
from .cotangents import INERT, SETS
from .dict_methods import run_dict_copied
from .reach import PLAIN, check_key


@method(set, "add", exact=True)
def _set_add(x: Any, value: Any) -> tuple[Any, Any]:
    return None, construction.record_set_add(x, value)


method(set, "discard", exact=True)(functools.partial(ask, set.discard))
method(set, "remove", exact=True)(functools.partial(ask, set.remove))
method(set, "clear", exact=True)(functools.partial(ask, set.clear))


@method(set, "pop", exact=True)
def _pop(x: Any) -> tuple[Any, Any]:
    y = set.pop(x)
    return y, (_run_popped, x, y)


def _run_popped(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """The item is there again, with the cotangent of what was popped."""
    if d is not None:
        shadows.add_key(back[1], back[2], d)


def _copied(cls: Any, x: Any) -> tuple[Any, Any]:
    y = cls.copy(x)
    return y, None if y is x else (run_dict_copied, y, x)


for _cls in SETS:
    method(_cls, "copy", exact=True)(functools.partial(_copied, _cls))


@method(set, "update")
def _set_update(x: Any, *values: Any) -> tuple[Any, Any]:
    return _in_turn(construction.record_set_update, x, values)


@method(set, "difference_update")
def _difference_update(x: Any, *others: Any) -> tuple[Any, Any]:
    return _in_turn(_without, x, others)


def _in_turn(step: Callable[[Any, Any], Any], x: Any, others: tuple[Any, ...]) -> tuple[Any, Any]:
    backs: list[Any] = []
    with reentry.gathering(backs):
        for other in others:
            backs.append(step(x, other))
    return None, None if backs.count(None) == len(backs) else (_run_in_turn, backs)


def _run_in_turn(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    result = []
    for inner in reversed(back[1]):
        given = calls.run(inner, None, shadows)
        result.append(None if given is None else given[1])
    return (None, *reversed(result))


def _without(x: Any, other: Any) -> Any:
    """The items of another one leave a set, one by one."""
    if isinstance(other, SETS):
        set.difference_update(x, other)
        return None
    iterator, rec = iteration.with_backs(other)
    backs: list[Any] = []
    removed = (_run_without, backs, rec)
    with reentry.undone(removed):
        for item, back in iterator:
            if type(item) not in PLAIN:
                check_key(item)
            set.discard(x, item)
            backs.append(back)
        draining.note_end(iterator, backs)
    return removed


def _run_without(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, draining.give_backs(back, None, shadows)


def _combined(f: Callable[..., Any], x: Any, *others: Any) -> tuple[Any, Any]:
    """`f(x, *others)`: a set of items that these have, or `x`, which it changes to that."""
    if type(x) in SETS and construction.holds_labels(x) and all(map(construction.holds_labels, others)):
        return f(x, *others), None
    own = set(map(id, iteration.own_items(x)))
    drains: list[Any] = []
    lists: list[list[Any]] = []
    left = frozenset(iteration.own_items(x)) if f in _INTERSECTIONS else None
    with reentry.gathering(drains):
        for other in others:
            items, drain = _drained(other) if left is None else _drained_until_all(other, left)
            left = None if left is None else left.intersection(items)
            lists.append(items)
            drains.append((draining.run_left, drain))
        y = f(x, *[a if isinstance(a, SETS) else items for a, items in zip(others, lists)])
    made = x if y is None else y
    if all(isinstance(a, SETS) for a in others) and INERT.issuperset(map(type, iteration.own_items(made))):
        return y, None
    taken = [v for v in iteration.own_items(made) if id(v) not in own]
    places = {id(v): (k, at) for k, items in enumerate(lists) for at, v in enumerate(items)} if taken else {}
    return y, (_run_combined, made, x, [(v, *places[id(v)]) for v in taken], [len(a) for a in lists], drains)


def _drained(other: Any) -> tuple[list[Any], tuple[Any, ...]]:
    """The items of an operand, as C code takes them from a set."""
    if isinstance(other, SETS):
        return list(iteration.own_items(other)), (_give_set, other)
    items, drain = draining.drained(other)
    for item in items:
        if type(item) not in PLAIN:
            check_key(item)
    return items, drain


_INTERSECTIONS = (set.intersection, set.intersection_update, frozenset.intersection)


def _drained_until_all(other: Any, wanted: frozenset[Any]) -> tuple[list[Any], tuple[Any, ...]]:
    """The same for an intersection, which takes no more items once all of the set have been among them."""
    if type(other) in _STANDING or isinstance(other, SETS):
        return _drained(other)  # nothing is done to take them
    iterator, rec = iteration.with_backs(other)
    items: list[Any] = []
    backs: list[Any] = []
    drain = (draining.give_backs, backs, rec)
    missing = set(wanted)
    with reentry.undone((draining.run_left, drain)):
        for item, back in iterator:
            if type(item) not in PLAIN:
                check_key(item)
            items.append(item)
            backs.append(back)
            if item in wanted:
                missing.discard(item)
                if not missing:
                    break
        else:
            draining.note_end(iterator, backs)
    return items, drain


_STANDING = frozenset({list, tuple, dict, deque})


def _give_set(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    for item, c in zip(iteration.own_items(drain[1]), ds or ()):
        if c is not None:
            shadows.add_key(drain[1], item, c)


def _run_combined(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, x, taken, lengths, drains = back
    given: list[Any] = [None] * len(lengths)
    for v, k, at in taken:
        c = shadows.take_key(y, v)
        if c is not None:
            if given[k] is None:
                given[k] = [None] * lengths[k]
            given[k][at] = c
    if y is not x:
        run_dict_copied((None, y, x), None, shadows)
    result: list[Any] = [None] * len(drains)
    for k in range(len(drains) - 1, -1, -1):
        result[k] = draining.give(drains[k][1], given[k], shadows)
    return (None, *result)


for _cls in SETS:
    for _name in ("union", "intersection", "difference", "symmetric_difference"):
        method(_cls, _name)(functools.partial(_combined, getattr(_cls, _name)))
for _name in ("intersection_update", "symmetric_difference_update"):
    method(set, _name)(functools.partial(_combined, getattr(set, _name)))


# ------------------------------------------------------------------------------------------------------- operators

_OPERATORS: dict[str, tuple[Any, Any]] = {
    "or": (operator.or_, operator.ior),
    "and": (operator.and_, operator.iand),
    "sub": (operator.sub, operator.isub),
    "xor": (operator.xor, operator.ixor),
}


def operated(op: str, a: Any, b: Any, in_place: bool = False) -> tuple[Any, Any] | None:
    """(value, back) of an operator on sets; None if it is something else."""
    if op not in _OPERATORS or not isinstance(a, SETS) or not isinstance(b, SETS):
        return None
    if type(a) in SETS and type(b) in SETS and _hold_labels(a, b):
        return _OPERATORS[op][in_place](a, b), None
    own = set(map(id, iteration.own_items(a)))
    y = _OPERATORS[op][in_place](a, b)
    return y, (_run_operated, y, a, b, [v for v in iteration.own_items(y) if id(v) not in own])


def _hold_labels(*sets: Any) -> bool:
    """Whether all items are ints, texts and their like, which have no cotangents."""
    return all(PLAIN_KEYS.issuperset(map(type, s)) for s in sets)


def _run_operated(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, y, a, b, taken = back
    for v in taken:
        c = shadows.take_key(y, v)
        if c is not None:
            shadows.add_key(b, v, c)
    if y is not a:
        run_dict_copied((None, y, a), None, shadows)


def _by_name(op: str, name: str) -> Callable[..., Any]:
    """An operator as a method, which says NotImplemented of what is no set."""

    def handler(x: Any, other: Any, /) -> tuple[Any, Any]:
        if not isinstance(other, SETS):
            return NotImplemented, None
        made = operated(op, other, x) if name[2] == "r" else operated(op, x, other, name[2] == "i")
        return made or (NotImplemented, None)

    return handler


for _cls in SETS:
    for _op in _OPERATORS:
        for _name in (f"__{_op}__", f"__r{_op}__", f"__i{_op}__"):
            if hasattr(_cls, _name):
                method(_cls, _name)(_by_name(_op, _name))
