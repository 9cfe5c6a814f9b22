"""The module itertools."""

from __future__ import annotations

import itertools
import operator
import sys
from typing import Any

from . import calls, draining, iteration, keys, listwise, places
from .arithmetic import BINARY_RECORD, of_kink
from .builtins_ import MISSING
from .calls import known
from .cotangents import accumulate
from .iteration import Iterator
from .reentry import by_index
from .sources import Adapted, Steps, adapted, record_finish, run_down_to, sources_of


def _made(pairs: Any, kind: str, *recs: Any) -> tuple[Any, Any]:
    """An iterator; `recs` are the backs of what each argument is as a whole."""
    if all(r is None or r is iteration.NOTHING for r in recs):
        return Iterator(pairs, kind), None
    return Iterator(pairs, kind), (iteration.run_holders, recs)


@known(itertools.chain)
def _chain(*iterables: Any) -> tuple[Any, Any]:
    direct = places.chained(iterables)
    if direct is not None:
        return direct, None
    if not all(t in _STEADY or issubclass(t, Iterator) for t in map(type, iterables)):
        made, back = _from_iterable(
            iterables
        )  # each is asked for its items when those before it have been gone through
        return made, None if back is None else (_run_chain, back)
    sources = iteration.all_with_backs(iterables)
    iterators = [s for s, _ in sources]
    return _made(adapted(itertools.chain(*iterators), *iterators), "chain", *[rec for _, rec in sources])


# For items of these it does not matter when they are asked for.
_STEADY = frozenset({list, tuple, range, str})


def _run_chain(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None or given[1] is None else (None, *given[1])


@known(itertools.chain.from_iterable)
def _from_iterable(iterable: Any) -> tuple[Any, Any]:
    direct = places.chained_from(iterable)
    if direct is not None:
        return direct, None
    iterator, rec = iteration.with_backs(iterable)
    rows = _Rows(iterator)
    running: list[Any] = [rows]
    return _made(Adapted(_chained(rows, running), running), "chain", rec)


def _chained(rows: _Rows, running: list[Any]) -> Any:
    for row, _ in rows:
        running += sources_of(row)
        yield from row


class _Rows(Steps):
    """What `chain.from_iterable` goes through, one after the other. What has made one of them is undone when all of its items are:
    then it has its cotangent."""

    __slots__ = ("iterator",)

    def __init__(self, iterator: Any):
        super().__init__()
        self.iterator = iterator

    def step(self) -> tuple[bool, Any, Any]:
        pair = next(self.iterator, None)
        if pair is None:
            return (False, *record_finish(self.iterator))
        item, back = pair
        row, rec = iteration.with_backs(item)
        whole = None if rec is None or rec is iteration.NOTHING or rec[0] is run_down_to else rec
        return True, row, None if whole is None and back is None else (_run_row, whole, back)


def _run_row(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, whole, outer = back
    given = None if whole is None else whole[0](whole, None, shadows)
    if outer is not None:
        outer[0](outer, None if given is None else given[0], shadows)


@known(itertools.islice)
@by_index(1, 2, 3)
def _islice(iterable: Any, *args: Any) -> tuple[Any, Any]:
    iterator, rec = iteration.with_backs(iterable)
    return _made(adapted(itertools.islice(iterator, *args), iterator), "islice", rec)


@known(itertools.takewhile)
def _takewhile(f: Any, iterable: Any) -> tuple[Any, Any]:
    iterator, rec = iteration.with_backs(iterable)
    pairs = keys.keyed(f, iterator)
    taken = keys.items_of(itertools.takewhile(keys.key_of_pair, pairs))
    return _made(adapted(taken, pairs, iterator), "takewhile", None, rec)


@known(itertools.dropwhile)
def _dropwhile(f: Any, iterable: Any) -> tuple[Any, Any]:
    iterator, rec = iteration.with_backs(iterable)
    pairs = _asked_until(f, iterator)
    return _made(adapted(pairs, iterator), "dropwhile", None, rec)


def _asked_until(f: Any, iterator: Any) -> Any:
    """The items from the first one on for which `f` is false; what is behind that is not asked for."""
    asked = keys.keyed(f, iterator)
    return adapted(_from_first(asked, iterator), asked, iterator)


def _from_first(asked: Any, iterator: Any) -> Any:
    for (item, dropped), back in asked:
        if not dropped:
            yield item, back
            break
    yield from iterator


@known(itertools.filterfalse)
def _filterfalse(f: Any, iterable: Any) -> tuple[Any, Any]:
    iterator, rec = iteration.with_backs(iterable)
    pairs = keys.keyed(f, iterator)
    left = keys.items_of(itertools.filterfalse(keys.key_of_pair, pairs))
    return _made(adapted(left, pairs, iterator), "filterfalse", None, rec)


@known(itertools.starmap)
def _starmap(f: Any, iterable: Any) -> tuple[Any, Any]:
    if type(iterable) in _STANDING:
        return _Spread(f, iterable), None
    iterator, rec = iteration.with_backs(iterable)
    return _made(adapted(_starmapped(f, iterator), iterator), "starmap", None, rec)


def _starmapped(f: Any, iterator: Any) -> Any:
    forward = calls.forward_by_others(f)
    for item, back in iterator:
        if type(item) is tuple:
            y, call_back = forward(*item)
            yield y, (_run_spread, call_back, len(item), back)
            continue
        args, unpacking = calls.KNOWN[tuple](item)
        y, call_back = forward(*args)
        yield y, (_run_starmapped, call_back, len(args), unpacking, back)


def _run_spread(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, call_back, count, inner = back
    given = calls.run(call_back, d, shadows)
    if inner is not None:
        inner[0](inner, None if given is None else tuple(given[1 : 1 + count]), shadows)


def _run_starmapped(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, call_back, count, unpacking, inner = back
    given = calls.run(call_back, d, shadows)
    whole = calls.run(unpacking, None if given is None else tuple(given[1 : 1 + count]), shadows)
    if inner is not None:
        inner[0](inner, None if whole is None else whole[1], shadows)


# To take items of these runs no code.
_STANDING = frozenset({list, iteration.Direct})


class _Spread(Iterator):
    """What `starmap` gives of items that are there, or of what steps through such items."""

    __slots__ = ("function", "source")

    def __init__(self, function: Any, source: Any):
        self.function = function
        self.source: Any = source  # as long as it has given nothing
        super().__init__(self._pairs(), "starmap")

    def _pairs(self) -> Any:
        source, self.source = self.source, None
        if source is not None:
            yield from _starmapped(self.function, iteration.with_backs(source)[0])


def _spread_at_once(it: _Spread) -> tuple[list[Any], tuple[Any, ...]] | None:
    """All that an operator gives of tuples of real numbers; None for others, and then nothing has been taken."""
    items = _tuples_to_come(it) if listwise.has_rule(it.function) else None
    if not items:
        return None
    columns = list(map(list, zip(*items)))
    rule = listwise.rule_of(it.function, *columns)
    if rule is None:
        return None
    try:
        ys = list(map(it.function, *columns))
    except ArithmeticError:  # it is raised again where it belongs
        return None
    source, it.source = it.source, None
    _, drain = draining.drained(source)
    return ys, (_give_spread, rule, ys[:], columns, drain)


def _tuples_to_come(it: _Spread) -> list[Any] | None:
    """What the function is still called with, if these are tuples of one length, and nothing has been taken; none of it is taken."""
    source = it.source
    if source is None:
        return None
    if type(source) is iteration.Direct:
        both = list(source.base)
        source.base = iter(both)
        items = [item for item, _ in both]
    else:
        items = source[:]
    return items if {tuple}.issuperset(map(type, items)) and len(set(map(len, items))) == 1 else None


def _spread_in_turn(it: _Spread, types: frozenset[type] | None = None) -> tuple[list[Any], tuple[Any, ...]] | None:
    """All that a function gives which only calculates; None for others, or if not all are of these types. (Then it is called again.)"""
    items = _tuples_to_come(it) if keys.is_harmless(it.function) else None
    if not items:
        return None
    forward = calls.forward_by_others(it.function)
    try:
        both = [forward(*item) for item in items]
    except Exception:  # it is raised again where it belongs
        return None
    ys = [y for y, _ in both]
    if types is not None and not types.issuperset(map(type, ys)):
        return None
    source, it.source = it.source, None
    _, drain = draining.drained(source)
    return ys, (_give_spread_in_turn, [back for _, back in both], len(items[0]), drain)


def _give_spread_in_turn(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    _, backs, count, inner = drain
    parts: list[Any] = [None] * len(backs)
    for k in range(len(backs) - 1, -1, -1):
        given = calls.run(backs[k], None if ds is None else ds[k], shadows)
        if given is not None:
            parts[k] = tuple(given[1 : 1 + count])
    draining.give(inner, parts, shadows)


def _give_spread(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    _, rule, ys, columns, inner = drain
    if ds is not None:
        draining.give(inner, list(zip(*listwise.cotangents(rule, ds, ys, *columns))), shadows)


def _drain_spread(it: _Spread) -> tuple[list[Any], tuple[Any, ...]]:
    return _spread_at_once(it) or _spread_in_turn(it) or draining.drained_pairs(it)


def _leading_spread(it: _Spread, types: frozenset[type]) -> tuple[list[Any], tuple[Any, ...], Any]:
    made = (_spread_at_once(it) or _spread_in_turn(it, types)) if types else None
    return draining.leading_pairs(it, types) if made is None else (*made, None)


iteration.SOURCES[_Spread] = iteration.iterator_pairs
draining.DRAINS[_Spread] = _drain_spread
draining.LEADING[_Spread] = _leading_spread


@known(itertools.accumulate)
def _accumulate(iterable: Any, func: Any = None, *, initial: Any = None) -> tuple[Any, Any]:
    if type(iterable) is list and initial is None:
        return _Totals(iterable, func), None
    iterator, rec = iteration.with_backs(iterable)
    step = BINARY_RECORD["add"] if func is None else None
    if initial is None:
        return _made(adapted(_accumulated(iterator, step, func), iterator), "accumulate", rec, None)
    place = _Running()
    pairs = adapted(_accumulated(iterator, step, func, initial, place), iterator)
    return Iterator(pairs, "accumulate"), (_run_accumulate, rec, place)


class _Totals(Iterator):
    """What `accumulate` gives of a list."""

    __slots__ = ("function", "items")

    def __init__(self, items: list[Any], function: Any):
        self.items: list[Any] | None = items  # as long as it has given nothing
        self.function = function
        super().__init__(self._pairs(items), "accumulate")

    def _pairs(self, items: list[Any]) -> Any:
        if self.items is not None:
            self.items = None
            step = BINARY_RECORD["add"] if self.function is None else None
            yield from _accumulated(iteration.with_backs(items)[0], step, self.function)


def _drain_totals(it: _Totals) -> tuple[list[Any], tuple[Any, ...]]:
    """All that is still to come."""
    return _totals_at_once(it) or _extremes(it) or _totals_in_turn(it) or draining.drained_pairs(it)


def _totals_at_once(it: _Totals) -> tuple[list[Any], tuple[Any, ...]] | None:
    """Totals of real numbers by an operator."""
    x = it.items
    made = None if x is None else listwise.totals(operator.add if it.function is None else it.function, x[:])
    if made is None:
        return None
    it.items = None
    ys, by_total, by_item = made
    return ys, (_give_totals, x, by_total, by_item)


def _extremes(it: _Totals) -> tuple[list[Any], tuple[Any, ...]] | None:
    """The greatest, or least, of floats so far."""
    x, f = it.items, it.function
    if not x or (f is not max and f is not min) or calls.forward_of(f) is not calls.KNOWN[f]:  # the user's rule
        return None
    if not {float}.issuperset(map(type, x)):
        return None
    ys = list(itertools.accumulate(x, f))
    it.items = None
    return ys, (_give_extremes, x, [True, *map(operator.is_not, ys, ys[1:])])


def _give_extremes(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    """Each item that was the greatest gets what comes to it until the next one; others, and those that came before, get zero."""
    _, x, chosen = drain
    if ds is None:
        return
    parts: list[Any] = [None] * len(chosen)
    later: Any = None
    for k in range(len(chosen) - 1, -1, -1):
        here = accumulate(ds[k], later)
        if here is not None:
            zero = of_kink(here)
            parts[k], later = (here, zero) if chosen[k] else (zero, here)
    shadows.add_all(x, 0, parts)


def _totals_in_turn(it: _Totals, types: frozenset[type] | None = None) -> tuple[list[Any], tuple[Any, ...]] | None:
    """Totals by a function that only calculates; None for others, or if not all are of these types. (Then it is called again.)"""
    x = it.items
    if not x or it.function is None or not keys.is_harmless(it.function):
        return None
    forward = calls.forward_by_others(it.function)
    total = x[0]
    ys, backs = [total], []
    for item in x[1:]:
        total, back = forward(total, item)
        ys.append(total)
        backs.append(back)
    if types is not None and not types.issuperset(map(type, ys)):
        return None
    it.items = None
    return ys, (_give_in_turn, x, backs)


def _give_in_turn(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    _, x, backs = drain
    parts: list[Any] = [None] * (len(backs) + 1)
    later: Any = None
    for k in range(len(backs), 0, -1):
        here = later if ds is None else accumulate(ds[k], later)
        given = calls.run(backs[k - 1], here, shadows)
        _, later, parts[k] = (None, None, None) if given is None else given
    parts[0] = later if ds is None else accumulate(ds[0], later)
    shadows.add_all(x, 0, parts)


def _leading_totals(it: _Totals, types: frozenset[type]) -> tuple[list[Any], tuple[Any, ...], Any]:
    made = (_totals_at_once(it) or _extremes(it) or _totals_in_turn(it, types)) if types else None
    return draining.leading_pairs(it, types) if made is None else (*made, None)


def _give_totals(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    _, x, by_total, by_item = drain
    if ds is not None:
        shadows.add_all(x, 0, listwise.all_to_items(ds, by_total, by_item))


iteration.SOURCES[_Totals] = iteration.iterator_pairs
draining.DRAINS[_Totals] = _drain_totals
draining.LEADING[_Totals] = _leading_totals


class _Running:
    """Has the cotangent of a running total as an attribute of its shadow."""

    __slots__ = ()


def _accumulated(iterator: Any, step: Any, func: Any, initial: Any = None, place: Any = None) -> Any:
    """Each total gets the cotangent of its item and, by way of a place of its own, that of the totals after it."""
    total = initial
    if place is not None:
        yield total, (_run_total, place, None, None, None, 0)
    for item, back in iterator:
        here = _Running()
        if place is None:
            total, made = item, None
        elif step is not None:
            total, made = step(total, item)
        else:
            total, made = calls.forward_by_others(func)(total, item)
        yield total, (_run_total, here, place, made, back, 0 if step is not None else 1)
        place = here


def _run_total(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, here, place, made, inner, first = back
    d = accumulate(d, shadows.take_attr(here, "total"))
    if place is not None:
        given = calls.run(made, d, shadows)
        if given is not None and given[first] is not None:
            shadows.add_attr(place, "total", given[first])
        d = None if given is None else given[first + 1]
    elif inner is None and d is not None:
        shadows.add_attr(here, "initial", d)
    if inner is not None:
        inner[0](inner, d, shadows)


def _run_accumulate(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, rec, place = back
    whole = None if rec is None else rec[0](rec, None, shadows)
    first = accumulate(shadows.take_attr(place, "initial"), shadows.take_attr(place, "total"))
    return None, None if whole is None else whole[0], None, first


def _at_once(x: Any) -> tuple[Any, Any]:
    """Pairs for what takes all items before it gives one: what gave them is undone there."""
    iterator, rec = iteration.with_backs(x)
    if not sources_of(iterator):
        return iterator, rec
    made, back = calls.KNOWN[list](x)
    return iteration.pairs(made)[0], (_run_at_once, back)


def _run_at_once(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], None, shadows)
    return None if given is None else (given[1],)


def _materialised(function: Any, kind: str) -> Any:
    """Of the items at hand: combinations, permutations and the like are tuples of items."""

    def handler(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        count = len(args) if function is itertools.product else 1
        numbers = (*args[count:], *kwargs.values())
        if not _COUNTS.issuperset(map(type, numbers)):
            sources = [_at_once(x) for x in args[:count]]
            groups = function(*[list(s) for s, _ in sources], *args[count:], **kwargs)
            return _made(_split(groups), kind, *[rec for _, rec in sources])
        made = [calls.KNOWN[list](x) for x in args[:count]]
        pools = [pool for pool, _ in made]
        return places.groups(function, pools, args[count:], kwargs), (_run_pools, [back for _, back in made])

    return handler


_COUNTS = frozenset({int, type(None)})


def _run_pools(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given: list[Any] = [None]
    for inner in reversed(back[1]):
        parts = calls.run(inner, None, shadows)
        given.insert(1, None if parts is None else parts[1])
    return given


def _split(groups: Any) -> Any:
    for group in groups:
        yield tuple([item for item, _ in group]), (iteration.run_zip, [back for _, back in group])


for _f in (itertools.product, itertools.combinations, itertools.permutations,
           itertools.combinations_with_replacement):  # fmt: skip
    known(_f)(_materialised(_f, _f.__name__))


def _batches(iterable: Any, n: int, *, strict: bool = False) -> Any:
    """itertools.batched, in code that is differentiated."""
    if n < 1:
        raise ValueError("n must be at least one")

    def batches(iterator: Any) -> Any:
        while batch := tuple(itertools.islice(iterator, n)):
            if strict and len(batch) < n:
                raise ValueError("batched(): incomplete batch")
            yield batch

    return batches(iter(iterable))


if sys.version_info >= (3, 12):

    @known(itertools.batched)
    def _batched(iterable: Any, n: int, *, strict: bool = False) -> tuple[Any, Any]:
        return calls.call(_batches, (iterable, n), {"strict": strict})


@known(itertools.zip_longest)
def _zip_longest(*iterables: Any, fillvalue: Any = None) -> tuple[Any, Any]:
    if iterables and {list}.issuperset(map(type, iterables)):
        return places.longest(iterables, fillvalue)
    sources = iteration.all_with_backs(iterables)
    iterators = [s for s, _ in sources]
    holder = iteration.Holder(1)
    groups = itertools.zip_longest(*iterators, fillvalue=(fillvalue, (iteration.run_list_item, holder, 0)))
    made, back = _made(adapted(_split(groups), *iterators), "zip_longest", *[rec for _, rec in sources])
    return made, (_run_filled, back, holder, len(iterables))


def _run_filled(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, holder, count = back
    given = calls.run(inner, d, shadows) or ()
    return (*given, *[None] * (1 + count - len(given)), shadows.take_item(holder, 0))


@known(itertools.compress)
def _compress(data: Any, selectors: Any) -> tuple[Any, Any]:
    iterator, rec = iteration.with_backs(data)
    return _made(adapted(itertools.compress(iterator, selectors), iterator), "compress", rec, None)


@known(itertools.cycle)
def _cycle(iterable: Any) -> tuple[Any, Any]:
    iterator, rec = _at_once(iterable)
    return _made(itertools.cycle(list(iterator)), "cycle", rec)


@known(itertools.repeat)
@by_index(1)
def _repeat(object: Any, times: Any = None) -> tuple[Any, Any]:
    holder = iteration.Holder(1)
    back = (iteration.run_list_item, holder, 0)
    pairs = ((v, back) for v in (itertools.repeat(object) if times is None else itertools.repeat(object, times)))
    return Iterator(pairs, "repeat"), (_run_repeat, holder)


def _run_repeat(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, shadows.take_item(back[1], 0), None


@known(itertools.count)
def _count(start: Any = MISSING, step: Any = MISSING) -> tuple[Any, Any]:
    if start is MISSING and step is MISSING:
        return Iterator(zip(itertools.count(), itertools.repeat(None)), "count"), None
    start, step = 0 if start is MISSING else start, 1 if step is MISSING else step
    holder = iteration.Holder(2)
    pairs = ((v, (_run_counted, holder, k)) for k, v in enumerate(itertools.count(start, step)))
    return Iterator(pairs, "count"), (_run_count, holder)


def _run_counted(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None:
        shadows.add_item(back[1], 0, d)
        shadows.add_item(back[1], 1, d * float(back[2]))


def _run_count(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, shadows.take_item(back[1], 0), shadows.take_item(back[1], 1)


@known(itertools.tee)
def _tee(iterable: Any, n: int = 2) -> tuple[Any, Any]:
    return calls.call(_copies, (iterable, n))


def _copies(iterable: Any, n: int) -> tuple[Any, ...]:
    """itertools.tee, in code that is differentiated: what one copy has taken, the others find in a list, which has a shadow."""
    if n < 0:
        raise ValueError("n must be >= 0")
    iterator = iter(iterable)
    taken: list[Any] = []

    def following() -> Any:
        k = 0
        while True:
            if k == len(taken):
                try:
                    item = next(iterator)
                except StopIteration:
                    return
                taken.append(item)
            yield taken[k]
            k += 1

    return tuple([following() for _ in range(n)])


@known(itertools.groupby)
def _groupby(iterable: Any, key: Any = None) -> tuple[Any, Any]:
    if type(iterable) is list and keys.is_harmless(key):
        groups = places.grouped(iterable, key)
        if groups is not None:
            return Iterator(groups, "groupby"), None
    return calls.call(_groups, (iterable, key))


def _groups(iterable: Any, key: Any) -> Any:
    """itertools.groupby, in code that is differentiated: the key of a group may be one of its items."""
    iterator = iter(iterable)
    item: Any = None
    item_key: Any = None
    taken = more = True  # whether a group has given the item out; whether there may be another one
    number = 0  # of the group that is current; the others are at their ends

    def step() -> None:
        nonlocal item, item_key, taken, more
        try:
            item = next(iterator)
        except StopIteration:
            more = False
            return
        item_key = item if key is None else key(item)
        taken = False

    def members(own: int, wanted: Any) -> Any:
        nonlocal taken
        while more and own == number:
            if taken:
                step()
            if more and wanted == item_key:
                taken = True
                yield item
            else:
                return

    def groups() -> Any:
        nonlocal number
        step()
        while more:
            number += 1
            current = item_key
            yield current, members(number, current)
            while more and current == item_key:
                step()

    return groups()
