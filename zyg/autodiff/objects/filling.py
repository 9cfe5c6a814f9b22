"""Containers that are made of what an iterable gives: lists, tuples, sets, dicts, deques, arrays; `sorted`."""

from __future__ import annotations

import array
import functools
import types
from collections import OrderedDict, defaultdict, deque
from typing import Any

from zyg.autodiff import objects

from . import (
    calls,
    construction,
    conversions,
    draining,
    generators,
    iteration,
    keys,
    reentry,
    reversals,
    sources,
    subscripts,
)
from .calls import known, method
from .cotangents import INERT
from .reach import PLAIN, check_key
from .shadows import add_all, add_at_places

# ---------------------------------------------------------------------------------------- containers from iterables


@known(list, exact=True)
def _list(iterable: Any = (), /) -> tuple[Any, Any]:
    if type(iterable) is list:
        y = iterable[:]
        return y, (subscripts.run_list_part, y, iterable, 0, 1)
    y, drain = draining.drained(iterable, asked=True)
    return y, (run_copied, y, len(y), drain)


def run_copied(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, count, drain = back
    shadow = shadows.items.get(id(y))
    if not shadow:
        return None, drain[0](drain, None, shadows)
    taken = shadow[:]
    shadow.clear()
    if len(taken) < count:
        taken.extend([None] * (count - len(taken)))
    return None, drain[0](drain, taken, shadows)


@known(types.MappingProxyType)
def _mapping_proxy(mapping: Any, /) -> tuple[Any, Any]:
    return types.MappingProxyType(mapping), None  # what is read through it belongs to the mapping


def run_made(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = back[1][0](back[1], None, shadows)
    return None if given is None else (None, given[1])


@known(tuple, exact=True)
def _tuple(iterable: Any = (), /) -> tuple[Any, Any]:
    if type(iterable) is tuple:
        return iterable, (run_same,)
    if type(iterable) is list and INERT.issuperset(map(type, iterable)):
        return tuple(iterable), None
    if type(iterable) is list:
        return tuple(iterable), (run_tuple_of_list, iterable)
    items, drain = draining.drained(iterable, asked=True)
    return tuple(items), (run_tuple, drain)


def run_same(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, d


def run_tuple_of_list(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None:
        add_all(shadows, back[1], 0, list(d))


def run_tuple(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, draining.give(back[1], None if d is None else list(d), shadows)


@known(set, exact=True)
def _set(iterable: Any = (), /) -> tuple[Any, Any]:
    y: set[Any] = set()
    back = construction.record_set_update(y, iterable)
    return y, None if back is None else (run_made, back)


def _updating(x: set[Any], generator: generators.Generator) -> Any:
    """All that a generator still gives comes into a set, one after the other: it may look at the set meanwhile."""
    record = generator.record
    before, given = record.items, record.given
    come: list[Any] = []
    back = (_run_updating, record, x, come, before, given)
    try:
        for item in generator.forward:
            come.append(_THERE_ALREADY)
            if type(item) not in PLAIN:
                check_key(item)
            if item not in x:
                set.add(x, item)
                come[-1] = item
    except BaseException as error:
        record.items = before + len(come)
        if not generators.goes_on(generator):  # else it is the item that has no hash
            generator.fail(error)
        reentry.leave(error, back)
        raise
    record.items = before + len(come)
    record.done = True
    return back


_THERE_ALREADY = object()


def _run_updating(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    reversals.undo_items(back, shadows.take_key, shadows)


draining.UPDATING[generators.Generator] = _updating


def _frozen(cls: type, iterable: Any = (), /) -> tuple[Any, Any]:
    if construction.holds_labels(iterable):
        return frozenset.__new__(cls, iterable), None
    iterator, rec = iteration.with_backs(iterable)
    items: set[Any] = set()
    pairs: list[tuple[Any, Any]] = []
    with reentry.undone((_run_frozen, items, pairs, rec)):
        for item, back in iterator:
            pairs.append((_UNUSED, back))
            check_key(item)
            count = len(items)
            items.add(item)
            if len(items) > count:  # equal ones are the first
                pairs[-1] = item, back
        pairs.append((_UNUSED, sources.record_finish(iterator)[1]))
        y = frozenset.__new__(cls, items)
    return y, (_run_frozen, y, pairs, rec)


_UNUSED = object()  # in the place of an item that did not come into a set


known(frozenset, exact=True)(functools.partial(_frozen, frozenset))


def _run_frozen(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, pairs, rec = back
    taken = shadows.take_dict(y) or {}
    for item, inner in reversed(pairs):
        if inner is not None:
            inner[0](inner, taken.get(item), shadows)
    whole = None if rec is None else rec[0](rec, None, shadows)
    return None, None if whole is None else whole[0]


@known(frozenset.__new__)
def _frozenset_new(cls: type, iterable: Any = ()) -> tuple[Any, Any]:
    y, back = _frozen(cls, iterable)
    return y, None if back is None else (_run_after_class, back)


def _run_after_class(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, *calls.run(back[1], d, shadows)


@method(set, "__init__")
def _set_init(x: set[Any], values: Any = ()) -> tuple[Any, Any]:
    set.clear(x)
    return None, construction.record_set_update(x, values)


@known(dict, exact=True)
def _dict(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if len(args) > 1:
        return calls.call_wrongly(dict, *args, **kwargs)
    y: dict[Any, Any] = {}
    back = construction.record_dict_update(y, args[0]) if args else None
    y.update(kwargs)
    return y, (run_dict, y, back, len(args), tuple(kwargs))


def run_dict(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, inner, count, names = back
    rest = [shadows.take_key(y, name) for name in names]
    if not count:
        return None, *rest
    given = inner[0](inner, None, shadows)
    return None, None if given is None else given[1], *rest


@known(defaultdict)
def _defaultdict(factory: Any = None, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    y: Any = defaultdict(factory)
    back = construction.record_dict_update(y, args[0]) if args else None
    y.update(kwargs)
    return y, (_run_defaultdict, y, back, len(args), tuple(kwargs))


def _run_defaultdict(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = run_dict(back, d, shadows)
    return None, None, *given[1:]


@known(OrderedDict)
def _ordered_dict(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    y: Any = OrderedDict()
    back = construction.record_dict_update(y, args[0]) if args else None
    y.update(kwargs)
    return y, (run_dict, y, back, len(args), tuple(kwargs))


@known(deque)
def _deque(iterable: Any = (), maxlen: Any = None) -> tuple[Any, Any]:
    items, drain = draining.drained(iterable)
    with draining.undone(drain):
        y = deque(items, maxlen)
    return y, (run_filled, y, len(y), len(items) - len(y), drain, 1)


def run_filled(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """What a new sequence has gathered goes to the items that it was made of, argument `at` of the call; the first ones may have been
    left out."""
    _, y, count, left_out, drain, at = back
    taken = shadows.take_list(y)
    if taken is not None:
        taken = [*[None] * left_out, *taken, *[None] * (count - len(taken))]
    whole = draining.give(drain, taken, shadows)
    return None if whole is None else (*[None] * at, whole)


@known(array.array)
def _array(typecode: str, iterable: Any = (), /) -> tuple[Any, Any]:
    plain = isinstance(iterable, (bytes, bytearray, str))
    if plain or (typecode not in "fd" and draining.is_standing(iterable)):
        return array.array(typecode, iterable), None
    if type(iterable) not in iteration.SOURCES or typecode not in "fd":
        return _array_of_iterator(typecode, iterable)
    items, drain = conversions.drained(iterable)
    with draining.undone(drain):
        y = array.array(typecode, items)
    return y, (run_filled, y, len(items), 0, drain, 2)


def _array_of_iterator(typecode: str, iterable: Any) -> tuple[Any, Any]:
    """An array that C code makes item by item."""
    iterator, first = iteration.begun(iterable)
    y = array.array(typecode)
    with reentry.undone(first):
        extended = construction.record_list_extend(y, iterator)
    return y, (_run_array_of_iterator, extended, first)


def _run_array_of_iterator(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], None, shadows)
    whole = None if given is None else given[1]
    if back[2] is not None:
        given = calls.run(back[2], whole, shadows)
        whole = None if given is None else given[0]
    return None, None, whole


@known(sorted, exact=True)
def _sorted(iterable: Any, /, *, key: Any = None, reverse: bool = False) -> tuple[Any, Any]:
    given = iterable
    if type(iterable) is list:
        if key is None and PLAIN.issuperset(map(type, iterable)):
            if INERT.issuperset(map(type, iterable)):
                return sorted(iterable, reverse=reverse), None
            order, asked = sorted(range(len(iterable)), key=iterable.__getitem__, reverse=reverse), None
        else:
            iterable = iterable[:]  # which keys may change
            order, asked = order_of(iterable, key, reverse, (draining.give_list, given))
        ordered = [iterable[k] for k in order]
        return ordered, (run_sorted_list, ordered, given, order, asked)
    if type(iterable) is tuple and key is None and INERT.issuperset(map(type, iterable)):
        return sorted(iterable, reverse=reverse), None
    items, drain = draining.drained(iterable, asked=True)
    if key is None and PLAIN.issuperset(map(type, items)):
        with draining.undone(drain):
            order, asked = sorted(range(len(items)), key=items.__getitem__, reverse=reverse), None
    else:
        order, asked = order_of(items, key, reverse, drain)
    y = [items[k] for k in order]
    return y, (run_sorted, y, order, asked, drain)


def order_of(
    items: list[Any], key: Any, reverse: Any, drain: tuple[Any, ...], sort: Any = sorted
) -> tuple[list[int], Any]:
    """The order of the items, and what undoes the calls for their keys. `sort`: what sorts their numbers."""
    compare = None if key is None else objects.stdlib_.compared_by(key)
    if compare is not None:
        return keys.order_by(compare, items, reverse, drain, sort)
    found, asked = keys.keys_of(items, key, drain)
    return keys.chosen(sort, found, asked, drain, reverse=reverse)


def run_sorted_list(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, y, x, order, asked = back
    shadow = shadows.items.get(id(y))
    if shadow:
        add_at_places(shadows, x, order, shadow)
        shadow.clear()
    if asked is not None:
        undo_keys(x, asked, shadows)


def undo_keys(x: list[Any], asked: Any, shadows: Any) -> None:
    ds = keys.undo(asked, shadows)
    if ds is not None:
        shadows.add_items(x, enumerate(ds))


def run_sorted(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, order, asked, drain = back
    taken = shadows.take_list(y)
    ds: list[Any] | None = None
    if taken is not None:
        ds = [None] * len(order)
        for index, c in zip(order, taken):
            ds[index] = c
    if asked is not None:
        ds = keys.added(ds, keys.undo(asked, shadows))
    return None, drain[0](drain, ds, shadows), None, None
