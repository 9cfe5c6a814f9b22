"""The module itertools."""

from __future__ import annotations

import itertools
import math
import operator
import sys
from types import FunctionType
from typing import Any

from zyg.autodiff import objects
from zyg.errors import Unsupported
from zyg.ir.plainly import is_in_class

from ..trying import bodies
from . import (
    calls,
    draining,
    foreign,
    generator_items,
    generators,
    in_step,
    iteration,
    keeping_items,
    keys,
    later,
    listwise,
    places,
    sources,
)
from .arithmetic import BINARY_RECORD, of_kink
from .builtins_ import MISSING, run_shift
from .calls import known
from .cotangents import accumulate
from .iteration import Iterator
from .quiet import is_quiet
from .reentry import by_index, leave, leave_call, stopped, undone
from .sources import WITHOUT_STEPS, adapted, picked, record_finish
from .wholes import Whole


def _made(pairs: Any, kind: str, *recs: Any) -> tuple[Any, Any]:
    """An iterator; `recs` are the backs of what each argument is as a whole."""
    if all(r is None or r is iteration.NOTHING for r in recs):
        return Iterator(pairs, kind), None
    return Iterator(pairs, kind), (iteration.run_holders, recs)


def _shifted(y: Any, rec: Any) -> tuple[Any, Any]:
    """What goes through one argument, the first; `rec` is the back of that as a whole."""
    return y, None if rec is None or rec is iteration.NOTHING else (run_shift, rec)


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
    iterators, recs = in_step.begin(iterables)
    return Iterator(in_step.chained(iterators), "chain"), in_step.back_of(recs)


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
    iterator, rec = in_step.own_pairs(iterable)
    return _made(in_step.chained_rows(_rows, iterator), "chain", rec)


def _rows(iterator: Any) -> Any:
    """What `chain.from_iterable` goes through, one after the other. What has made one of them is undone when all of its items are:
    then it has its cotangent."""
    for item, back in iterator:
        with undone((_run_row, None, back)):
            row, rec = in_step.own_pairs(item)
        whole = None if in_step.is_undone(rec) else rec
        yield row, None if whole is None and back is None else (_run_row, whole, back)


def _run_row(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, whole, outer = back
    given = None if whole is None else whole[0](whole, None, shadows)
    if outer is not None:
        outer[0](outer, None if given is None else given[0], shadows)


@known(itertools.islice, exact=True)
@by_index(1, 2, 3)
def _islice(iterable: Any, *args: Any) -> tuple[Any, Any]:
    steps, whole, back = places.gone_through(iterable)
    if steps is not None:
        y: Any = iteration.Direct(itertools.islice(steps, *args), whole, "islice")
    else:
        iterator, rec = iteration.noted_with_backs(iterable)
        steps = itertools.islice(iterator, *args)
        pairs = generator_items.sliced(iterable, steps, args) if type(iterable) is generators.Generator else None
        y, back = _made(pairs or picked(steps, iterator), "islice", rec)
    return y, None if back is None else (calls.run_padded, back, 2 + len(args))


def _selecting(choose: Any, until: bool = False) -> None:
    """What goes through items by whether a function is true of them."""

    def handler(f: Any, iterable: Any) -> tuple[Any, Any]:
        pairs, rec = keys.selected(choose, f, iterable, until)
        return _made(pairs, choose.__name__, None, rec)

    known(choose)(handler)


_selecting(itertools.takewhile)
_selecting(itertools.dropwhile, until=True)
_selecting(itertools.filterfalse)


@known(itertools.starmap)
def _starmap(f: Any, iterable: Any) -> tuple[Any, Any]:
    if type(iterable) in _STANDING:
        return _Spread(f, iterable), None
    iterator, rec = iteration.noted_with_backs(iterable)
    return _made(adapted(_starmapped(f, iterator), iterator), "starmap", None, rec)


def _starmapped(f: Any, iterator: Any) -> Any:
    forward = calls.forward_by_others(f)

    def step(pair: tuple[Any, Any]) -> tuple[Any, Any]:
        item, back = pair
        if type(item) is tuple:
            try:
                y, call_back = forward(*item)
            except StopIteration as end:
                raise stopped(f, end) from None
            except BaseException as error:
                leave_call(error, _run_spread, len(item), back)
                raise
            return y, (_run_spread, call_back, len(item), back)
        args, unpacking = calls.KNOWN[tuple](item)
        try:
            y, call_back = forward(*args)
        except StopIteration as end:
            leave(end, (_run_starmapped, None, len(args), unpacking, None))
            raise stopped(f, end) from None
        except BaseException as error:
            left = later.escaping.left_call(error) if bodies else None
            leave(error, (_run_starmapped, left, len(args), unpacking, back if left is not None else None))
            raise
        return y, (_run_starmapped, call_back, len(args), unpacking, back)

    return map(step, iterator)


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


class _Spread(iteration.Begun):
    """What `starmap` gives of items that are there, or of what steps through such items."""

    __slots__ = ("function", "source")

    def __init__(self, function: Any, source: Any):
        super().__init__("starmap")
        self.function = function
        self.source: Any = source  # as long as it has given nothing

    def only_calculates(self) -> bool:
        items = _tuples_to_come(self) if keys.is_harmless(self.function) else None
        return bool(items) and is_quiet(self.function, [*itertools.chain(*items)])

    def begun(self) -> Any:
        source, self.source = self.source, None
        return iter(()) if source is None else _starmapped(self.function, iteration.with_backs(source)[0])


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
    if not items or not is_quiet(it.function, [*itertools.chain(*items)]):
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
    parts, stop = [], 1 + count
    for back, d in zip(reversed(backs), itertools.repeat(None) if ds is None else reversed(ds)):
        given = back[0](back, d, shadows) if type(back) is tuple else calls.run(back, d, shadows)
        parts.append(None if given is None else tuple(given[1:stop]))
    parts.reverse()
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
    t, of_tuple = type(iterable), None
    if t is tuple or (t is range and len(iterable) <= _LONG):  # which stay as they are
        iterable = [*iterable]
        of_tuple = (_run_of_tuple, iterable) if t is tuple else None
        t = list
    if t is list or t is iteration.Direct:
        if initial is None:
            return _Totals(iterable, func), None if of_tuple is None else (_run_accumulate_plainly, of_tuple)
        place = _Running()
        return _Totals(iterable, func, initial, place), (_run_accumulate, of_tuple, place)
    iterator, rec = iteration.noted_with_backs(iterable)
    step = BINARY_RECORD["add"] if func is None else None
    if initial is None:
        return _made(adapted(_accumulated(iterator, step, func), iterator), "accumulate", rec, None)
    place = _Running()
    pairs = adapted(_accumulated(iterator, step, func, initial, place), iterator)
    return Iterator(pairs, "accumulate"), (_run_accumulate, rec, place)


_LONG = 10_000


def _run_of_tuple(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The items of a tuple stand in a list."""
    taken = shadows.take_list(back[1])
    return None if taken is None else (tuple(taken + [None] * (len(back[1]) - len(taken))),)


def _run_accumulate_plainly(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    whole = back[1][0](back[1], None, shadows)
    return None if whole is None else (None, whole[0])


class _Totals(iteration.Begun):
    """What `accumulate` gives of a list, or of what goes by places. `place`: of the cotangent of what it begins with, if that is no item."""

    __slots__ = ("function", "initial", "items", "parts", "place")

    def __init__(self, items: Any, function: Any, initial: Any = None, place: Any = None):
        super().__init__("accumulate")
        self.items: Any = items  # as long as it has given nothing
        self.parts: Any = None  # of what goes by places, once it has been looked at
        self.function = function
        self.initial = initial
        self.place = place

    def begun(self) -> Any:
        items, self.items = self.items, None
        if items is None:
            return iter(())
        step = BINARY_RECORD["add"] if self.function is None else None
        return _accumulated(iteration.with_backs(items)[0], step, self.function, self.initial, self.place)

    def values(self) -> list[Any] | None:
        """What is added up, as the list is now; None if something has been given already."""
        items = self.items
        if items is None:
            return None
        if type(items) is not list:
            if items.is_begun():
                return None
            both = list(items.base)  # no code runs where it steps on
            items.base = iter(both)
            items, self.parts = [x for x, _ in both], [part for _, part in both]
        return items[:] if self.place is None else [self.initial, *items]

    def taken(self) -> Any:
        """All is given at once: what `_give_to` gives the cotangents of the values to."""
        items, self.items = self.items, None
        if type(items) is list:
            return self.place, (draining.give_list, items)
        items.base = iter(())
        return self.place, (draining.give_parts, items.whole, self.parts)


def _give_to(of: tuple[Any, Any], ds: list[Any], shadows: Any) -> None:
    place, items = of
    if place is not None:
        if ds[0] is not None:
            shadows.add_attr(place, "initial", ds[0])
        ds = ds[1:]
    items[0](items, ds, shadows)


def _drain_totals(it: _Totals) -> tuple[list[Any], tuple[Any, ...]]:
    """All that is still to come."""
    return _totals_at_once(it) or _extremes(it) or _totals_in_turn(it) or draining.drained_pairs(it)


def _totals_at_once(it: _Totals) -> tuple[list[Any], tuple[Any, ...]] | None:
    """Totals of real numbers by an operator."""
    x = it.values() if type(it.function) is not FunctionType else None
    made = None if x is None else listwise.totals(operator.add if it.function is None else it.function, x)
    if made is None:
        return None
    ys, by_total, by_item = made
    return ys, (_give_totals, it.taken(), by_total, by_item)


def _extremes(it: _Totals) -> tuple[list[Any], tuple[Any, ...]] | None:
    """The greatest, or least, of floats so far."""
    f = it.function
    if (f is not max and f is not min) or calls.forward_of(f) is not calls.KNOWN[f]:  # the user's rule
        return None
    x = it.values()
    if not x or not {float}.issuperset(map(type, x)):
        return None
    ys = list(itertools.accumulate(x, f))
    return ys, (_give_extremes, it.taken(), [True, *map(operator.is_not, ys, ys[1:])])


def _give_extremes(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    """Each item that was the greatest gets what comes to it until the next one; others, and those that came before, get zero."""
    _, of, chosen = drain
    if ds is None:
        return
    parts: list[Any] = [None] * len(chosen)
    later: Any = None
    if {float}.issuperset(map(type, ds)) and math.isfinite(sum(map(abs, ds))):
        parts, end = [0.0] * len(chosen), len(chosen)
        for k in reversed([*itertools.compress(itertools.count(), chosen)]):
            parts[k], end = sum(ds[k:end]), k
        _give_to(of, parts, shadows)
        return
    for k in range(len(chosen) - 1, -1, -1):
        d = ds[k]
        here = later if d is None else d if later is None else d + later if type(d) is float else accumulate(d, later)
        if here is not None:
            zero = 0.0 * here
            zero = zero if zero == zero else of_kink(here)
            parts[k], later = (here, zero) if chosen[k] else (zero, here)
    _give_to(of, parts, shadows)


def _totals_in_turn(it: _Totals, types: frozenset[type] | None = None) -> tuple[list[Any], tuple[Any, ...]] | None:
    """Totals by a function that only calculates; None for others, or if not all are of these types. (Then it is called again.)"""
    x = it.values()
    if not x or it.function is None or not keys.is_harmless(it.function) or not is_quiet(it.function, x):
        return None
    forward = calls.forward_by_others(it.function)
    last = x[0], None
    try:
        both = [last := forward(last[0], item) for item in x[1:]]
    except Exception:  # it is raised again where it belongs
        return None
    ys, backs = [x[0], *[total for total, _ in both]], [back for _, back in both]
    if types is not None and not types.issuperset(map(type, ys)):
        return None
    return ys, (_give_in_turn, it.taken(), backs)


def _give_in_turn(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    _, of, backs = drain
    if ds is None:
        ds = [None] * (len(backs) + 1)
    parts: list[Any] = []
    later: Any = None
    for back, d in zip(reversed(backs), reversed(ds[: len(backs) + 1])):
        if later is not None:
            d = d + later if type(d) is type(later) is float else accumulate(d, later)
        given = back[0](back, d, shadows) if type(back) is tuple else calls.run(back, d, shadows)
        if given is None:
            later = None
            parts.append(None)
        else:
            later = given[1]
            parts.append(given[2])
    parts.append(accumulate(ds[0], later))
    parts.reverse()
    _give_to(of, parts, shadows)


def _leading_totals(it: _Totals, types: frozenset[type]) -> tuple[list[Any], tuple[Any, ...], Any]:
    made = (_totals_at_once(it) or _extremes(it) or _totals_in_turn(it, types)) if types else None
    return draining.leading_pairs(it, types) if made is None else (*made, None)


def _give_totals(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    _, of, by_total, by_item = drain
    if ds is not None:
        _give_to(of, listwise.all_to_items(ds, by_total, by_item), shadows)


iteration.SOURCES[_Totals] = iteration.iterator_pairs
draining.DRAINS[_Totals] = _drain_totals
draining.LEADING[_Totals] = _leading_totals


class _Running:
    """Has the cotangent of a running total as an attribute of its shadow."""

    __slots__ = ()


def _accumulated(iterator: Any, step: Any, func: Any, initial: Any = None, place: Any = None) -> Any:
    """Each total gets the cotangent of its item and, by way of a place of its own, that of the totals after it."""
    first = 0 if step is not None else 1

    def add(last: tuple[Any, ...], pair: tuple[Any, Any]) -> tuple[Any, Any]:
        item, back = pair
        if not last:
            return item, (_run_total, _Running(), None, None, back, first)
        try:
            total, made = step(last[0], item) if step is not None else calls.forward_by_others(func)(last[0], item)
        except StopIteration as end:
            raise stopped(func, end) from None
        except BaseException as error:
            leave_call(error, _run_total_left, last[1][1], back, first)
            raise
        return total, (_run_total, _Running(), last[1][1], made, back, first)

    if place is None:
        return filter(None, itertools.accumulate(iterator, add, initial=()))
    return itertools.accumulate(iterator, add, initial=(initial, (_run_total, place, None, None, None, 0)))


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


def _run_total_left(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, made, place, inner, first = back
    _run_total((None, _Running(), place, made, inner, first), None, shadows)


def _run_accumulate(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, rec, place = back
    whole = None if rec is None else rec[0](rec, None, shadows)
    first = accumulate(shadows.take_attr(place, "initial"), shadows.take_attr(place, "total"))
    return None, None if whole is None else whole[0], None, first


def _at_once(x: Any) -> tuple[Any, Any]:
    """Pairs for what takes all items before it gives one: what gave them is undone there."""
    iterator, rec = iteration.with_backs(x)
    if type(iterator) in WITHOUT_STEPS:
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
            return _made(map(iteration.of_group, groups), kind, *[rec for _, rec in sources])
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


for _f in (itertools.product, itertools.combinations, itertools.permutations,
           itertools.combinations_with_replacement):  # fmt: skip
    known(_f)(_materialised(_f, _f.__name__))


if sys.version_info >= (3, 12):

    @known(itertools.batched)
    def _batched(iterable: Any, n: int, *, strict: bool = False) -> tuple[Any, Any]:
        by_steps = objects.stepped.asks(iterable)
        batches = keeping_items.batches_by_steps if by_steps else keeping_items.batches
        return calls.call(batches, (iterable, n), {"strict": strict})


@known(itertools.zip_longest, exact=True)
def _zip_longest(*iterables: Any, fillvalue: Any = None) -> tuple[Any, Any]:
    if iterables and {list}.issuperset(map(type, iterables)):
        return places.longest(iterables, fillvalue)
    handed = later.handing.all_handed_on(iterables)
    if handed is not None:
        containers, reads = handed
        return later.handing.read_for(_zip_longest(*containers, fillvalue=fillvalue), reads)
    if iterables and {list, tuple}.issuperset(map(type, iterables)):
        return places.longest_of_tuples(iterables, fillvalue)
    sources = iteration.all_with_backs(iterables)
    iterators = [s for s, _ in sources]
    holder = iteration.Holder(1)
    filled = (fillvalue, (iteration.run_list_item, holder, 0))
    ended: set[int] = set()

    def of_group(group: tuple[tuple[Any, Any], ...]) -> tuple[Any, Any]:
        """What an iterator did at its end is undone in its place among those of the group."""
        item, (run, backs) = iteration.of_group(group)
        for k, pair in enumerate(group):
            if pair is filled and k not in ended:
                ended.add(k)
                backs[k] = (_run_first_filled, backs[k], record_finish(iterators[k])[1])
        return item, (run, backs)

    groups = itertools.zip_longest(*iterators, fillvalue=filled)
    made, back = _made(adapted(map(of_group, groups), *iterators), "zip_longest", *[rec for _, rec in sources])
    return made, (_run_filled, back, holder, len(iterables))


def _run_first_filled(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    calls.run(back[2], None, shadows)
    calls.run(back[1], d, shadows)


def _run_filled(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, holder, count = back
    given = calls.run(inner, d, shadows) or ()
    return (*given, *[None] * (1 + count - len(given)), shadows.take_item(holder, 0))


@known(itertools.compress)
def _compress(data: Any, selectors: Any) -> tuple[Any, Any]:
    if draining.is_standing(selectors) or type(selectors) is iteration.Endless:
        steps, whole, back = places.gone_through(data)
        if steps is not None:
            made = iteration.Direct(itertools.compress(steps, selectors), whole, "compress")
            return made, None if back is None else (calls.run_padded, back, 3)
        iterator, rec = iteration.noted_with_backs(data)
        return _made(picked(itertools.compress(iterator, selectors), iterator), "compress", rec, None)
    made, back = calls.call(zip, (data, selectors))
    pairs, _ = keys.selected(filter, operator.itemgetter(1), made)
    return Iterator(adapted(map(_first_of_both, pairs), pairs), "compress"), back


def _first_of_both(pair: tuple[Any, Any]) -> tuple[Any, Any]:
    return pair[0][0], (_run_first_of_both, pair[1])


def _run_first_of_both(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    back[1][0](back[1], (d, None), shadows)


@known(itertools.cycle)
def _cycle(iterable: Any) -> tuple[Any, Any]:
    steps, whole, back = places.gone_through(iterable)
    if steps is not None:
        return iteration.Endless(itertools.cycle(steps), whole, "cycle"), back
    if draining.is_standing(iterable):
        iterator, rec = iteration.with_backs(iterable)
        return _made(itertools.cycle(iterator), "cycle", rec)
    iterator, rec = iteration.with_backs(iterable)
    return _shifted(keeping_items.cycle(iterator), rec)


@known(itertools.repeat)
@by_index(1)
def _repeat(object: Any, times: Any = None) -> tuple[Any, Any]:
    held = [object]  # what comes to it gathers in the shadow of this
    if times is None:
        y = iteration.Endless(zip(itertools.repeat(object), itertools.repeat(0)), held, "repeat")
    else:
        y = iteration.Direct(zip(itertools.repeat(object, times), itertools.repeat(0)), held, "repeat")
    return y, (_run_repeat, held)


def _run_repeat(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, shadows.take_item(back[1], 0), None


@known(itertools.count)
def _count(start: Any = MISSING, step: Any = MISSING) -> tuple[Any, Any]:
    if start is MISSING and step is MISSING:
        # (These are mostly taken one by one, by `next`.)
        return Iterator(zip(itertools.count(), itertools.repeat(None)), "count"), None
    begin = [0 if start is MISSING else start, 1 if step is MISSING else step]
    numbers = zip(itertools.count(*begin), itertools.count())
    return iteration.Endless(numbers, _Counting(begin), "count"), (_run_count, begin)


class _Counting(Whole):
    """What `count` goes through: what it begins with, and by how much it goes on."""

    __slots__ = ("begin",)

    def __init__(self, begin: list[Any]):
        super().__init__()
        self.begin = begin

    def adder(self, shadows: Any) -> Any:
        def add(part: int, d: Any) -> None:
            shadows.add_item(self.begin, 0, d)
            shadows.add_item(self.begin, 1, d * float(part))

        return add


def _run_count(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, shadows.take_item(back[1], 0), shadows.take_item(back[1], 1)


@known(itertools.tee)
def _tee(iterable: Any, n: int = 2) -> tuple[Any, Any]:
    if n < 0:
        raise ValueError("n must be >= 0")
    if not n:
        return (), None
    if objects.stepped.asks(iterable):
        return _tee_of_steps(iterable, n)
    made = places.copies(iterable, n)
    if made is not None:
        return made
    iterator, rec = iteration.with_backs(iterable)
    return _shifted(keeping_items.copies(iterator, n), rec)


def _tee_of_steps(iterable: Any, n: int) -> tuple[Any, Any]:
    """The same of an instance of a user's class."""
    iterator, back = calls.call(keeping_items.begun_twice, (iterable,))
    if is_in_class(type(iterator), "__copy__") and objects.stepped.has_steps(iterator):
        raise Unsupported(
            f"`itertools.tee` of a {type(iterator).__name__}, which has a method `__copy__`",
            foreign.position_of(foreign.caller()),
            hint="call `copy.copy` in the place of `tee`, or write a generator",
        )
    if objects.stepped.has_steps(iterator):
        pairs = sources.ByNext(iterator)
        rec = sources.whole(pairs)
    else:
        pairs, rec = iteration.with_backs(iterator)
    return keeping_items.copies(pairs, n), (_run_tee, rec, back)


def _run_tee(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, rec, begun = back
    whole = None if rec is None else rec[0](rec, None, shadows)
    given = calls.run(begun, None if whole is None else whole[0], shadows)
    return None if given is None else (None, given[1], None)


@known(itertools.groupby)
def _groupby(iterable: Any, key: Any = None) -> tuple[Any, Any]:
    back = None
    if type(iterable) is str:
        iterable = list(iterable)
    elif type(iterable) is tuple:
        iterable, back = calls.KNOWN[list](iterable)
    if type(iterable) is list and keys.calculates_with(key, iterable):
        groups = places.grouped(iterable, key)
        if groups is not None:
            return Iterator(groups, "groupby"), back
    iterator, rec = iteration.with_backs(iterable)
    made, whole = _shifted(keeping_items.groups(iterator, key), rec)
    return made, whole if back is None else (_run_group_by, whole, back)


def _run_group_by(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    calls.run(back[1], d, shadows)
    return calls.run(back[2], None, shadows)
