"""The modules functools, itertools and copy."""

from __future__ import annotations

import copy
import functools
import itertools
import operator
import sys
from collections import deque
from types import FunctionType
from typing import Any

import numpy as np

from zyg.errors import Unsupported

from . import builtins_, calls, foreign, iterables_, iteration, keys, listwise
from .adapters import adapter
from .arithmetic import BINARY_RECORD, method_of
from .calls import known
from .cotangents import INERT, accumulate, is_number
from .iteration import Iterator
from .reentry import by_index
from .sources import Adapted, adapted, run_down_to, sources_of

# --------------------------------------------------------------------------------------------------- functools

_MISSING = object()


@known(functools.reduce)
def _reduce(f: Any, iterable: Any, initial: Any = _MISSING, /) -> tuple[Any, Any]:
    if type(iterable) is list:
        return _reduce_list(f, iterable, initial)
    iterator, rec = iteration.with_backs(iterable)
    forward = calls.forward_of(f)
    steps: list[Any] = []
    total = initial
    first_back = None
    for item, back in iterator:
        if total is _MISSING:
            total, first_back = item, back
            continue
        total, step = forward(total, item)
        steps.append((step, back))
    if total is _MISSING:
        functools.reduce(f, ())  # raises the TypeError
    return total, (_run_reduce, steps, rec, first_back, initial is not _MISSING)


def _run_reduce(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, steps, rec, first, started = back
    for step, inner in reversed(steps):
        given = calls.run(step, d, shadows)
        if inner is not None:
            inner[0](inner, None if given is None else given[2], shadows)
        d = None if given is None else given[1]
    if first is not None:
        first[0](first, d, shadows)
    whole = None if rec is None else rec[0](rec, None, shadows)
    return None, None, None if whole is None else whole[0], d if started else None


def _reduce_list(f: Any, x: list[Any], initial: Any) -> tuple[Any, Any]:
    """The same of a list, which `f` may change on the way."""
    started = initial is not _MISSING
    items = [initial, *x] if started else x[:]
    made = listwise.totals(f, items) if items else None
    if made is not None:
        ys, by_total, by_item = made
        return ys[-1], (_run_reduced, x, by_total, by_item, started)
    forward = calls.forward_of(f)
    iterator = iter(x)
    total = initial if started else next(iterator, _MISSING)
    if total is _MISSING:
        functools.reduce(f, ())  # raises the TypeError
    steps: list[Any] = []
    for item in iterator:
        total, step = forward(total, item)
        steps.append(step)
    return total, (_run_reduce_list, x, steps, started)


def _run_reduced(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, by_total, by_item, started = back
    if d is None:
        return None
    ds = listwise.last_to_items(d, by_total, by_item)
    first = ds.pop(0) if started else None
    shadows.add_all(x, 0, ds)
    return None, None, None, first


def _run_reduce_list(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, steps, started = back
    shadow = shadows.list_of(x)
    at = len(steps) if not started else len(steps) - 1  # which item a step was about
    for step in reversed(steps):
        given = None if step is None else step[0](step, d, shadows)
        if given is None:
            d = None
        else:
            d, c = given[1], given[2]
            if c is not None:
                if at >= len(shadow):
                    shadow.extend([None] * (at - len(shadow)))
                    shadow.append(c)
                else:
                    old = shadow[at]
                    shadow[at] = c if old is None else old + c if type(old) is float else accumulate(old, c)
        at -= 1
    if started:
        return None, None, None, d
    if d is not None:
        shadows.add_item(x, 0, d)
    return None


@known(functools.partial)
def _partial(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    y = functools.partial(f, *args, **kwargs)
    inner = f if y.func is not f else None
    return y, (_run_partial, y, inner, len(y.args) - len(args), len(args), tuple(kwargs))


def _run_partial(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The cotangents of fixed arguments gather in the shadow of the partial object; those that were another one's (`inner`) go to
    that."""
    _, y, inner, before, count, names = back
    held = shadows.take_attr(y, "args")
    if inner is not None:
        if held is not None and any(c is not None for c in held[:before]):
            shadows.add_attr(inner, "args", held[:before])
        for name in inner.keywords:
            if name not in names and (c := shadows.take_key(y.keywords, name)) is not None:
                shadows.add_key(inner.keywords, name, c)
    given = held[before:] if held is not None else (None,) * count
    return None, None, *given, *[shadows.take_key(y.keywords, name) for name in names]


def call_partial(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A call of a `functools.partial`."""
    names = tuple(f.keywords)
    if not kwargs and type(f.func) is FunctionType:
        forward = adapter(f.func, len(f.args) + len(args), names)
        if forward is not None:
            y, back = forward(*f.args, *args, *f.keywords.values())
            return y, None if back is None else (_run_fixed, back, f, len(args))
    y, back = calls.call(f.func, (*f.args, *args), {**f.keywords, **kwargs})
    fixed = tuple([n for n in names if n not in kwargs])
    order = tuple({**f.keywords, **kwargs})
    return y, None if back is None else (_run_call_partial, back, f, len(args), fixed, order, tuple(kwargs))


def forward_of_partial(f: Any, arity: int) -> Any:
    """The same for a place that is passed again and again, with `arity` arguments by position; None if it is not that simple."""
    fixed, keywords, names = f.args, f.keywords, [*f.keywords]
    if type(f) is not functools.partial or type(f.func) is not FunctionType:
        return None
    forward = adapter(f.func, len(fixed) + arity, tuple(names))
    if forward is None:
        return None
    start = 1 + len(fixed)
    end = start + arity

    def call(*args: Any) -> tuple[Any, Any]:
        if f.args is not fixed or f.keywords is not keywords or [*keywords] != names:  # the object has been changed
            return call_partial(f, *args)
        y, back = forward(*fixed, *args, *keywords.values())
        return y, None if back is None else (run, back)

    def run(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
        inner = back[1]
        given = inner[0](inner, d, shadows)
        if given is None:
            return None
        if start > 1 and any(c is not None for c in given[1:start]):
            holder = shadows.holders.get(id(f)) or shadows.holder_of(f)
            holder.args = accumulate(getattr(holder, "args", None), tuple(given[1:start]))
        for name, c in zip(names, given[end:]):
            if c is not None:
                shadows.add_key(keywords, name, c)
        return None, *given[start:end]

    return call


def _run_fixed(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """(run_fixed, back of the function, the partial object, how many arguments the call had)"""
    _, inner, f, count = back
    given = calls.run(inner, d, shadows)
    if given is None:
        return None
    start = 1 + len(f.args)
    for c in given[1:start]:
        if c is not None:
            shadows.add_attr(f, "args", tuple(given[1:start]))
            break
    for name, c in zip(f.keywords, given[start + count :]):
        if c is not None:
            shadows.add_key(f.keywords, name, c)
    return None, *given[start : start + count]


def _run_call_partial(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, f, count, fixed, order, names = back
    given = calls.run(inner, d, shadows)
    if given is None:
        return None
    bound = tuple(given[1 : 1 + len(f.args)])
    if any(c is not None for c in bound):
        shadows.add_attr(f, "args", bound)
    start = 1 + len(f.args) + count
    by_name = dict(zip(order, given[start:]))
    for name in fixed:
        if by_name.get(name) is not None:
            shadows.add_key(f.keywords, name, by_name[name])
    return None, *given[1 + len(f.args) : start], *[by_name.get(name) for name in names]


builtins_.constant(functools.lru_cache, functools.wraps, functools.update_wrapper)

# --------------------------------------------------------------------------------------------------- itertools


def _made(pairs: Any, kind: str, *recs: Any) -> tuple[Any, Any]:
    """An iterator; `recs` are the backs of what each argument is as a whole."""
    if all(r is None or r is iteration.NOTHING for r in recs):
        return Iterator(pairs, kind), None
    return Iterator(pairs, kind), (iteration.run_holders, recs)


@known(itertools.chain)
def _chain(*iterables: Any) -> tuple[Any, Any]:
    if iterables and _BY_PLACES.issuperset(map(type, iterables)):
        steps = [_steps_of(k, x) for k, x in enumerate(iterables)]
        wholes = [x if type(x) is list else x.whole for x in iterables]
        return iteration.Direct(itertools.chain(*steps), _Chained(wholes), "chain"), None
    sources = [iteration.with_backs(x) for x in iterables]
    iterators = [s for s, _ in sources]
    return _made(adapted(itertools.chain(*iterators), *iterators), "chain", *[rec for _, rec in sources])


_BY_PLACES = frozenset({list, iteration.Direct})


def _steps_of(k: int, x: Any) -> Any:
    if type(x) is list:
        return zip(x, zip(itertools.repeat(k), itertools.count()))
    return ((item, (k, part)) for item, part in x.base)


class _Chained(iteration.Whole):
    """What `chain` of lists goes through, and of what goes through lists: the parts are numbered."""

    __slots__ = ("wholes",)

    def __init__(self, wholes: list[Any]):
        super().__init__()
        self.wholes = wholes

    def adder(self, shadows: Any) -> Any:
        found = [shadows.gone_through(x) for x in self.wholes]

        def add(part: tuple[int, Any], d: Any) -> None:
            k, index = part
            shadow = found[k]
            if type(shadow) is not list:
                shadow(index, d)
            elif index < len(shadow):
                old = shadow[index]
                shadow[index] = d if old is None else old + d if type(old) is float else accumulate(old, d)
            else:
                iteration.add_at(shadow, index, d)

        return add


@known(itertools.chain.from_iterable)
def _from_iterable(iterable: Any) -> tuple[Any, Any]:
    iterator, rec = iteration.with_backs(iterable)
    running = sources_of(iterator)
    return _made(Adapted(_chained(iterator, running), running), "chain", rec)


def _chained(iterator: Any, running: list[Any]) -> Any:
    for item, back in iterator:
        inner, rec = iteration.with_backs(item)
        running += sources_of(inner)
        if rec is None or rec is iteration.NOTHING or rec[0] is run_down_to:
            yield from inner
            continue
        both = list(inner)
        for k, (value, inner_back) in enumerate(both):
            # The first item is the last that the reverse pass comes to: then the whole has its cotangent.
            yield value, inner_back if k else (_run_first_of, inner_back, rec, back)


def _run_first_of(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, inner, rec, outer = back
    if inner is not None:
        inner[0](inner, d, shadows)
    whole = rec[0](rec, None, shadows)
    if outer is not None:
        outer[0](outer, None if whole is None else whole[0], shadows)


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
    iterator, rec = iteration.with_backs(iterable)
    return _made(adapted(_starmapped(f, iterator), iterator), "starmap", None, rec)


def _starmapped(f: Any, iterator: Any) -> Any:
    for item, back in iterator:
        args, unpacking = calls.KNOWN[tuple](item)
        y, call_back = calls.call(f, args)
        yield y, (_run_starmapped, call_back, unpacking, back)


def _run_starmapped(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, call_back, unpacking, inner = back
    given = calls.run(call_back, d, shadows)
    whole = calls.run(unpacking, None if given is None else tuple(given[1:]), shadows)
    if inner is not None:
        inner[0](inner, None if whole is None else whole[1], shadows)


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
    x = it.items
    made = None if x is None else listwise.totals(operator.add if it.function is None else it.function, x[:])
    if made is None:
        both = list(it.pairs)
        return [item for item, _ in both], (iteration.give_backs, [back for _, back in both], None)
    it.items = None
    ys, by_total, by_item = made
    return ys, (_give_totals, x, by_total, by_item)


def _give_totals(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    _, x, by_total, by_item = drain
    if ds is not None:
        shadows.add_all(x, 0, listwise.all_to_items(ds, by_total, by_item))


iteration.SOURCES[_Totals] = iteration.iterator_pairs
iteration.DRAINS[_Totals] = _drain_totals


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
            total, made = calls.call(func, (total, item))
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
        groups = function(*pools, *args[count:], **kwargs)
        places = function(*[range(len(pool)) for pool in pools], *args[count:], **kwargs)
        return iteration.Direct(zip(groups, places), _Groups(pools), kind), (_run_pools, [back for _, back in made])

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


class _Neighbours(iteration.Whole):
    """What `pairwise` of a list goes through."""

    __slots__ = ("items", "place")

    def __init__(self, items: list[Any]):
        super().__init__()
        self.items = items
        self.place = foreign.caller()

    def steps(self) -> Any:
        """The pairs, with the index of the first; below zero, where that is not there any more."""
        items = self.items
        iterator = iter(items)
        for before in iterator:
            for index, item in enumerate(iterator):
                here = index < len(items) and items[index] is before
                yield (before, item), index if here else ~index
                before = item

    def adder(self, shadows: Any) -> Any:
        shadow = shadows.list_of(self.items)

        def add(index: int, d: Any) -> None:
            a, b = d
            if index < 0:
                if a is not None:
                    hint = "go through a copy of the list"
                    raise Unsupported("`pairwise` of a list that changes", foreign.position_of(self.place), hint=hint)
                index = ~index
            if index + 1 >= len(shadow):
                shadow.extend([None] * (index + 2 - len(shadow)))
            if b is not None:
                old = shadow[index + 1]
                shadow[index + 1] = b if old is None else old + b if type(old) is float else accumulate(old, b)
            if a is not None:
                old = shadow[index]
                shadow[index] = a if old is None else old + a if type(old) is float else accumulate(old, a)

        return add


class _Groups(iteration.Whole):
    """What combinations and the like of items go through: lists of the items, per group the places in them, in turn."""

    __slots__ = ("lists",)

    def __init__(self, lists: list[list[Any]]):
        super().__init__()
        self.lists = lists

    def adder(self, shadows: Any) -> Any:
        found = [shadows.list_of(x) for x in self.lists]
        for shadow, x in zip(found, self.lists):  # nothing changes them
            shadow.extend([None] * (len(x) - len(shadow)))

        def add(places: tuple[int, ...], d: Any) -> None:
            for shadow, index, c in zip(itertools.cycle(found), places, d):
                if c is not None:
                    old = shadow[index]
                    shadow[index] = c if old is None else old + c if type(old) is float else accumulate(old, c)

        return _adder_of_one(found[0]) if len(found) == 1 else add


def _adder_of_one(shadow: list[Any]) -> Any:
    def add(places: tuple[int, ...], d: Any) -> None:
        for index, c in zip(places, d):
            if c is not None:
                old = shadow[index]
                shadow[index] = c if old is None else old + c if type(old) is float else accumulate(old, c)

    return add


@known(itertools.pairwise)
def _pairwise(iterable: Any) -> tuple[Any, Any]:
    if type(iterable) is list:
        whole = _Neighbours(iterable)
        return iteration.Direct(whole.steps(), whole, "pairwise"), None
    return builtins_.shift(calls.call(_neighbours, (iterable,)))


def _neighbours(iterable: Any) -> Any:
    """itertools.pairwise, in code that is differentiated: an item stands in two pairs."""

    def pairs(iterator: Any) -> Any:
        for before in iterator:
            for item in iterator:
                yield before, item
                before = item

    return pairs(iter(iterable))


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
        return builtins_.shift(calls.call(_batches, (iterable, n), {"strict": strict}))


@known(itertools.zip_longest)
def _zip_longest(*iterables: Any, fillvalue: Any = None) -> tuple[Any, Any]:
    sources = [iteration.with_backs(x) for x in iterables]
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
def _repeat(value: Any, *times: Any) -> tuple[Any, Any]:
    holder = iteration.Holder(1)
    back = (iteration.run_list_item, holder, 0)
    pairs = ((v, back) for v in itertools.repeat(value, *times))
    return Iterator(pairs, "repeat"), (_run_repeat, holder)


def _run_repeat(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, shadows.take_item(back[1], 0), None


@known(itertools.count)
def _count(start: Any = 0, step: Any = 1) -> tuple[Any, Any]:
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
    return builtins_.shift(calls.call(_copies, (iterable, n)))


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
    return builtins_.shift(calls.call(_groups, (iterable, key)))


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


# -------------------------------------------------------------------------------------------------------- copy


@known(copy.copy)
def _copy(x: Any) -> tuple[Any, Any]:
    if type(x) in INERT or is_number(x) or isinstance(x, tuple):
        return x, (iterables_.run_same,)
    method = method_of(x, "__copy__")
    if method is not None:
        return builtins_.shift(calls.call(method, ()))
    _refuse_own_ways(x, "copy.copy", _COPYING)
    y = copy.copy(x)
    return y, (_run_copied, [(x, y)])


@known(copy.deepcopy)
def _deepcopy(x: Any, memo: Any = None) -> tuple[Any, Any]:
    memo = {} if memo is None else memo
    for old in _within(x, {}):
        _refuse_own_ways(old, "copy.deepcopy", ("__deepcopy__", *_COPYING))
    y = copy.deepcopy(x, memo)
    copied = [(old, memo[id(old)]) for old in _within(x, {}) if id(old) in memo]
    return y, (_run_copied, copied) if not (is_number(x) or isinstance(x, tuple)) else (_run_deep_tuple, copied)


# What says how an object is copied; that of a container goes through its items, which a subclass may say.
_COPYING = ("__reduce_ex__", "__reduce__", "__getstate__", "__setstate__")
_ITEMS = {list: ("__iter__", "append", "extend"), dict: ("items", "__setitem__")}


def _refuse_own_ways(x: Any, name: str, methods: tuple[str, ...]) -> None:
    """Code of a class by which C code or the standard library copies objects of it is not followed."""
    cls = type(x)
    for method in (*methods, *next((names for base, names in _ITEMS.items() if issubclass(cls, base)), ())):
        found = getattr(cls, method, None)
        if type(found) is FunctionType and found.__module__.partition(".")[0] not in sys.stdlib_module_names:
            foreign.refuse(
                f"{name} of a {cls.__qualname__}, whose {method} says how it is copied",
                foreign.caller(),
                f"give {cls.__qualname__} a method that makes the copy, and call that",
            )


def _within(x: Any, seen: dict[int, Any]) -> list[Any]:
    """The mutable objects in a value."""
    if id(x) in seen or type(x) in INERT or is_number(x):
        return []
    seen[id(x)] = x
    if isinstance(x, (tuple, set, frozenset)):
        return [o for v in x for o in _within(v, seen)] + ([x] if isinstance(x, set) else [])
    found = [x]
    if isinstance(x, (list, deque)):
        found += [o for v in x for o in _within(v, seen)]
    elif isinstance(x, dict):
        found += [o for v in x.values() for o in _within(v, seen)]
    held = getattr(x, "__dict__", None)
    if held and not isinstance(x, type):
        found += [o for v in held.values() for o in _within(v, seen)]
    return found


def _run_deep_tuple(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _run_copied(back, None, shadows)
    return None, d


def _run_copied(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """What the copies have gathered goes to the originals."""
    for old, new in back[1]:
        if isinstance(old, np.ndarray):
            c = shadows.take_array(new)
            if c is not None:
                shadows.add_array(old, c)
            continue
        items = shadows.items.get(id(new))
        if items:
            shadows.items[id(new)] = type(items)()
            for key, c in items.items() if isinstance(items, dict) else enumerate(items):
                if c is not None:
                    (shadows.add_key if isinstance(items, dict) else shadows.add_item)(old, key, c)
        for name, c in shadows.take_attributes(new).items():
            if c is not None:
                shadows.add_attr(old, name, c)
    return None
