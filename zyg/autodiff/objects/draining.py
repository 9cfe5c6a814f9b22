"""All items of an iterable at once, for consumers that do nothing in between, and what gives the items their cotangents."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any

from zyg.autodiff import objects
from zyg.backend.phrases import PLAIN_KEYS

from . import sources, wholes
from .cotangents import accumulate
from .iteration import (
    SOURCES,
    Direct,
    Items,
    Iterator,
    Values,
    begun,
    listed,
    mark_keys,
    pairs,
    pairs_to_end,
    place_of_keys,
    stepped_as,
)
from .shadows import add_all, add_at_places, add_keys

_FEW = 100  # that are taken apart at once
COPIED = frozenset({collections.deque, tuple, Direct})  # of which `drained` gives a list that nobody else has


def drained(x: Any, asked: bool = False) -> tuple[list[Any], tuple[Any, ...]]:
    """All items of an iterable, for consumers that do nothing in between, and what gives them their cotangents: `give(drain, ds,
    shadows)`. `asked`: as `listed`."""
    t = type(x)
    if t is list:
        return x[:], (give_list, x)
    if t is collections.deque:
        return list(x), (give_list, x)
    if t is tuple:
        return list(x), (_give_tuple,)
    if t is Direct:
        both = list(x.base)
        if 0 < len(both) < _FEW:
            items, parts = zip(*both)
            return list(items), (give_parts, x.whole, parts)
        return [item for item, _ in both], (give_parts, x.whole, [part for _, part in both])
    drain = DRAINS.get(t)
    if drain is not None:
        return drain(x)
    if not asked:
        stepped = stepped_as(t)
        if stepped is not t:
            return list(stepped.__iter__(x)), (give_list, x) if stepped is list else (_give_tuple,)
    return drained_pairs(x, asked)


def drained_pairs(x: Any, asked: bool = False) -> tuple[list[Any], tuple[Any, ...]]:
    """The same of any iterable, item by item."""
    at_once = _taken(x, None)
    if at_once is not None:
        return at_once[:2]
    iterator, rec = listed(x, pairs_to_end) if asked else pairs_to_end(x)
    if rec is None:
        iterator = zip(iterator, repeat(None))
    items: list[Any] = []
    backs: list[Any] = []
    drain = give_backs, backs, rec
    with objects.reentry.undone((run_left, drain)):
        for item, back in iterator:
            items.append(item)
            backs.append(back)
        note_end(iterator, backs)
    return items, drain


def drained_of_iterator(x: Any) -> tuple[list[Any], tuple[Any, ...]]:
    """`drained`, for what makes a list of an iterator that it has asked for (PySequence_Fast)."""
    iterator, first = begun(x)
    if first is None:
        return drained(iterator, asked=True)
    with objects.reentry.undone(first):
        items, drain = drained(iterator, asked=True)
    return items, (_give_of_iterator, drain, first)


def _give_of_iterator(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> Any:
    _, inner, first = drain
    given = objects.calls.run(first, give(inner, ds, shadows), shadows)
    return None if given is None else given[0]


def _taken(x: Any, types: frozenset[type] | None) -> Any:
    """The same of so many items of a generator; None of other iterators."""
    if type(x) is not Iterator or type(x.pairs) is not objects.generator_items.Sliced:
        return None
    return x.pairs.take(types)


def note_end(iterator: Any, backs: list[Any]) -> None:
    """What was done behind the last item is undone before that."""
    end = sources.record_finish(iterator)[1]
    if end is not None:
        backs.append(end)


_SHORT = 8  # parts of a tuple that are looked at one by one
_STANDING = frozenset({list, tuple, collections.deque, Values})


def leading(x: Any, types: frozenset[type]) -> tuple[list[Any], tuple[Any, ...], Any]:
    """The items of an iterable as far as they are of these types, and the first that is not; what gives them their cotangents; what is
    left behind that one, None if all are of these types. Nothing behind it is made. Where `tuple` is one of the types, what is in tuples has
    to be of these, too."""
    t = type(x)
    lead = LEADING.get(t)
    if lead is not None:
        return lead(x, types)
    if t in _STANDING or t not in SOURCES and stepped_as(t) is not t:
        items, drain = drained(x)
        if all_fit(items, types):
            return items, drain, None
    own = objects.stepped.leading(x, types) if t not in SOURCES else None
    return leading_pairs(x, types) if own is None else own


def all_fit(items: Iterable[Any], types: frozenset[type]) -> bool:
    kinds = set(map(type, items))
    return kinds <= types and (tuple not in kinds or all(fits(x, types) for x in items if type(x) is tuple))


def fits(item: Any, types: frozenset[type]) -> bool:
    """The same of one item."""
    if type(item) not in types:
        return False
    if type(item) is tuple:
        if len(item) > _SHORT:
            return all_fit(item, types)
        for part in item:
            if type(part) not in types or (type(part) is tuple and not fits(part, types)):
                return False
    return True


def leading_pairs(x: Any, types: frozenset[type]) -> tuple[list[Any], tuple[Any, ...], Any]:
    """The same of any iterable, item by item."""
    at_once = _taken(x, types) if types else None
    if at_once is not None:
        return at_once
    iterator, rec = objects.in_step.own_pairs(x)
    iterator = iter(iterator)
    items: list[Any] = []
    backs: list[Any] = []
    rest = None
    drain = give_backs, backs, rec
    with objects.reentry.undone((run_left, drain)):
        for item, back in iterator:
            items.append(item)
            backs.append(back)
            if type(item) not in types or (type(item) is tuple and not fits(item, types)):
                rest = Iterator(iterator)
                break
        else:
            note_end(iterator, backs)
    return items, drain, rest


def _leading_directly(x: Direct, types: frozenset[type]) -> tuple[list[Any], tuple[Any, ...], Any]:
    """No code runs where it steps on, so that all items can be taken."""
    both = list(x.base)
    if 0 < len(both) < _FEW:
        items, parts = map(list, zip(*both))
    else:
        items, parts = [item for item, _ in both], [part for _, part in both]
    rest = None
    if not all_fit(items, types):
        count = next(n for n, item in enumerate(items, 1) if not fits(item, types))
        rest = Direct(iter(both[count:]), x.whole, x.kind)
        del items[count:], parts[count:]
    return items, (give_parts, x.whole, parts), rest


# By type, where that is shorter.
LEADING: dict[type, Callable[[Any, frozenset[type]], tuple[list[Any], tuple[Any, ...], Any]]] = {
    Direct: _leading_directly
}


def is_standing(x: Any) -> bool:
    """Whether the items are there already: to take them runs no code."""
    t = type(x)
    return t is Direct or (t in SOURCES and not issubclass(t, Iterator))


def is_certain(x: Any) -> bool:
    """Whether all items can be taken at once, and nothing raises an exception at one of them."""
    t = type(x)
    return t is list or t is tuple or t is Items or (t is Direct and isinstance(x.whole, wholes.Tuples))


def again(x: Any, items: list[Any], drain: tuple[Any, ...]) -> Any:
    """What gives the items again that were drained of an iterable."""
    return Direct(zip(items, drain[2]), drain[1], x.kind) if type(x) is Direct else x


DRAINED = COPIED | {list}

# By type: the same for sources of another module.
DRAINS: dict[type, Callable[[Any], tuple[list[Any], tuple[Any, ...]]]] = {}

# By type: the same of the first items, so many at most.
FIRST: dict[type, Callable[[Any, int], tuple[list[Any], tuple[Any, ...]]]] = {}

# By type: what brings all items to the end of a list, and gives the pullback of that.
EXTENDING: dict[type, Callable[[Any, Any], Any]] = {}

# The same for a set.
UPDATING: dict[type, Callable[[Any, Any], Any]] = {}


def give(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> Any:
    """Give items that were drained their cotangents (None: there are none); what flows to the iterable is the result."""
    return drain[0](drain, ds, shadows)


def run_left(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """A consumer was left by an exception, before it gave anything: what took the items is undone."""
    return give(back[1], None, shadows)


def undone(drain: tuple[Any, ...], backs: list[Any] | None = None) -> objects.reentry.undone:
    """`with undone(drain):` what took the items is undone where an exception that leaves the block is caught. Every consumer that may raise
    behind that has such a block around the rest of what it does. `backs`: of what was done behind that, before the exception."""
    left = run_left, drain
    return objects.reentry.undone(left if backs is None else (_run_left_behind, left, backs))


def _run_left_behind(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    objects.reentry.run_gathered((None, back[2]), None, shadows)
    return run_left(back[1], None, shadows)


def _drain_values(x: Values) -> tuple[list[Any], tuple[Any, ...]]:
    mapping = x._mapping
    if type(mapping) is not dict:
        iterator, rec = pairs(x)
        both = list(iterator)
        return [item for item, _ in both], (give_backs, [back for _, back in both], rec)
    return list(mapping.values()), (_give_values, mapping, tuple(mapping))


def _give_values(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    _, mapping, keys = drain
    if ds is not None:
        add_keys(shadows, mapping, keys, ds, 0)


def _drain_items(x: Items) -> tuple[list[Any], tuple[Any, ...]]:
    mapping = x._mapping
    if type(mapping) is not dict:
        return drained_pairs(x)
    return list(mapping.items()), (_give_items, mapping, list(mapping), place_of_keys(mapping))


def _give_items(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    _, mapping, keys, place = drain
    if ds is None:
        return
    shadow = shadows.items_of(mapping)
    get = shadow.get
    for key, pair in zip(keys, ds):
        if pair is None:
            continue
        by_key, d = pair
        if by_key is not None:
            mark_keys(mapping, key, by_key, shadows, place)
        if d is not None:
            old = get(key)
            shadow[key] = d if old is None else old + d if type(old) is float else accumulate(old, d)


def _drain_keys(x: dict[Any, Any]) -> tuple[list[Any], tuple[Any, ...]]:
    return (list(x), (_give_nothing,)) if PLAIN_KEYS.issuperset(map(type, x)) else drained_pairs(x)


def _drain_plain(x: Any) -> tuple[list[Any], tuple[Any, ...]]:
    """What gives ints and text."""
    return list(x), (_give_nothing,)


def _give_nothing(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    pass


DRAINS[Values] = _drain_values
DRAINS[Items] = _drain_items
DRAINS[dict] = _drain_keys
DRAINS[str] = DRAINS[range] = _drain_plain


def _give_tuple(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> Any:
    return None if ds is None else tuple(ds)


def give_list(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    if ds is not None:
        add_all(shadows, drain[1], 0, ds)


def give_parts(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    _, whole, parts = drain
    if ds is None:
        return
    if type(whole) is list:
        add_at_places(shadows, whole, parts, ds)
        return
    whole.add_all(shadows, parts, ds)


WITHOUT_STEPS = frozenset({_give_tuple, give_list, _give_nothing})  # where nothing is to be done if nothing has come


def give_backs(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> Any:
    _, backs, rec = drain
    if ds is not None and len(ds) < len(backs):
        ds = [*ds, None]
    for k in range(len(backs) - 1, -1, -1):
        inner = backs[k]
        if inner is not None:
            inner[0](inner, None if ds is None else ds[k], shadows)
    whole = None if rec is None else rec[0](rec, None, shadows)
    return None if whole is None else whole[0]


__all__ = [
    "DRAINED",
    "DRAINS",
    "EXTENDING",
    "FIRST",
    "LEADING",
    "UPDATING",
    "again",
    "drained",
    "drained_of_iterator",
    "drained_pairs",
    "give",
    "give_backs",
    "give_list",
    "give_parts",
    "is_certain",
    "is_standing",
    "leading",
    "leading_pairs",
    "note_end",
    "run_left",
    "undone",
]
