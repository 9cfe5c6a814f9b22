"""Builtin classes that take an iterable: containers made of one, and iterators over others."""

from __future__ import annotations

import array
import functools
import operator
import types
from collections import OrderedDict, defaultdict, deque
from itertools import count, islice, repeat
from typing import Any

import numpy as np

from zyg.autodiff import objects

from . import (
    calls,
    construction,
    conversions,
    delegation,
    draining,
    generator_items,
    generators,
    in_step,
    iteration,
    keys,
    later,
    listwise,
    places,
    reentry,
    reversals,
    subscripts,
    wholes,
)
from .arithmetic import find, is_python, method_of
from .builtins_ import MISSING, as_call, run_shift, shift
from .calls import known, method
from .cotangents import INERT, accumulate
from .iteration import Iterator
from .quiet import is_quiet
from .reach import PLAIN, check_key
from .shadows import add_all, add_at_places, add_part
from .sources import BackwardsByIndex, Ends, Until, adapted, noted, whole

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
    for item, back in iterator:
        check_key(item)
        count = len(items)
        items.add(item)
        if len(items) > count:  # equal ones are the first
            pairs.append((item, back))
    y = frozenset.__new__(cls, items)
    return y, (_run_frozen, y, pairs, rec)


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
    if isinstance(iterable, (bytes, bytearray, str)) or typecode not in "fd":
        return array.array(typecode, iterable), None
    items, drain = conversions.drained(iterable)
    y = array.array(typecode, items)
    return y, (run_filled, y, len(items), 0, drain, 2)


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


# ---------------------------------------------------------------------------------------------- iterators


@known(iter, exact=True)
def _iter(*args: Any) -> tuple[Any, Any]:
    return shift(iteration.record_iter(args[0])) if len(args) == 1 else calls.run_known(_until, *args)


def _until(x: Any, sentinel: Any = MISSING, /) -> tuple[Any, Any]:
    return (iter(x) if sentinel is MISSING else Iterator(Until(x, sentinel), "callable_iterator")), None


calls.takes_what(_iter, _until)


@known(next, exact=True)
def _next(*args: Any) -> tuple[Any, Any]:
    if len(args) == 1 or len(args) == 2:
        t = type(args[0])
        if t is generators.Generator:
            return generators.record_next(args[0]) if len(args) == 1 else _next_of_generator(*args)
        if t is iteration.Direct or t is iteration.Endless:
            return _next_directly(*args)
        if t is Iterator:
            return _stepped(*args)
        if t is count:
            return iteration.step_of_numbering(args[0], next(*args))
    return calls.run_known(_step, *args)


def _next_directly(it: iteration.Direct, default: Any = MISSING) -> tuple[Any, Any]:
    """No code runs where it steps on, and nothing is to be undone at its end."""
    step = next(it.base, None)
    if step is not None:
        return step[0], (iteration.run_part, it.whole, step[1])
    if default is MISSING:
        raise StopIteration
    return default, (run_next_default, None)


def _next_of_generator(generator: generators.Generator, default: Any) -> tuple[Any, Any]:
    """(Nobody sees the exception that tells of the end.)"""
    record = generator.record
    try:
        item = next(generator.forward)
    except StopIteration:
        if record.done:
            return default, (run_next_default, None)
        record.done = True
        return default, (run_next_default, (reversals.run_end, record, None))
    except BaseException as error:
        generator.fail(error)
        raise
    record.items += 1
    return item, (reversals.run_item, record, record.items)


def _step(it: Any, default: Any = MISSING) -> tuple[Any, Any]:
    step = find(type(it), "__next__")
    if step is None:
        return next(it), None  # raises the TypeError
    if is_python(step) and not isinstance(it, Iterator):
        function = step.__get__(it, type(it))
        if default is MISSING:
            return as_call(calls.call(function, ()))
        try:
            return as_call(later.escaping.attempt(calls.call, function, ()))
        except StopIteration as end:
            return default, (run_next_default, later.escaping.swallowed(end))
    if type(it) is generators.Generator:
        return generators.record_next(it) if default is MISSING else _next_of_generator(it, default)
    return _stepped(it, default)


calls.takes_what(_next, _step)


def _stepped(it: Any, default: Any = MISSING) -> tuple[Any, Any]:
    has, item, back = iteration.record_next(it)
    if not has:
        if default is MISSING:
            end = StopIteration()
            if back is not None:
                later.escaping.attach(end, back)
            raise end
        return default, (run_next_default, back)
    return item, None if back is None else (run_next, back)


def run_next(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    back[1][0](back[1], d, shadows)


known(Iterator.__next__)(_step)
known(generators.Generator.send)(generators.record_send)
known(reversals.run_sent)(lambda *args: calls.call(reversals.run_sent_by_step, args))
calls.AS_METHODS[generators.Generator.send] = generators.send_as_method, 2
known(delegation.delegated, exact=True)(delegation.record_delegated)
known(reversals.give_generator)(lambda *args: calls.call(reversals.give_by_steps, args))
known(reversals.resume_in_turn)(lambda *args: calls.call(reversals.one_by_one, args))
known(reversals.run_item)(lambda *args: calls.call(reversals.run_item_by_step, args))
known(generator_items.quickly)(lambda generator: calls.call(generator_items.slowly, (generator,)))
known(generators.Generator.throw)(generators.record_throw)
known(generators.Generator.close)(generators.record_close)


def run_next_default(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """(run_next_default, back of the step that found the end)"""
    calls.run(back[1], None, shadows)
    return None, None, d


def _made(pairs: Any, kind: str, rec: Any) -> tuple[Any, Any]:
    return Iterator(pairs, kind), None if rec is None or rec is iteration.NOTHING else (run_shift, rec)


@known(enumerate, exact=True)
def _enumerate(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if len(args) == 1 and not kwargs:  # (what small loops take is this)
        (items,) = args
        t = type(items)
        if t is list:
            return iteration.Direct(zip(enumerate(items), count()), wholes.Numbered(items), "enumerate"), None
        if t is tuple:
            if INERT.issuperset(map(type, items)):
                return enumerate_plainly(iter(items), 0), None
            whole = wholes.NumberedTuple((items,))
            made = iteration.Direct(zip(enumerate(items), count()), whole, "enumerate")
            return made, (_run_zip_of_tuples, whole)
    return calls.run_known(_numbered, *args, **kwargs)


def _of_list(items: list[Any], start: int) -> iteration.Direct:
    return iteration.Direct(zip(enumerate(items, start), count()), wholes.Numbered(items), "enumerate")


def _numbered(iterable: Any, start: Any = 0) -> tuple[Any, Any]:
    if type(start) is not int:
        start, asked = reentry.index_of(start)
        if asked is not None:
            y, back = _numbered(iterable, start)
            return y, (reentry.run_at_index, back, asked)
    if type(iterable) is list:
        return _of_list(iterable, start), None
    counted = wholes.counted(iterable, start)
    if counted is not None:
        return counted, None
    iterator, rec = in_step.own_pairs(iterable, iteration.pairs)
    if rec is None:
        return enumerate_plainly(iterator, start), None
    rec = None if in_step.is_undone(rec) else rec
    return _made(in_step.along(_of_enumerated, enumerate(iterator, start), iterator), "enumerate", rec)


calls.takes_what(_enumerate, _numbered)


def enumerate_plainly(iterator: Any, start: int) -> Any:
    return Iterator(zip(enumerate(iterator, start), repeat(None)), "enumerate")


def _of_enumerated(step: tuple[int, Any]) -> tuple[Any, Any]:
    index, (item, back) = step
    return (index, item), None if back is None else (iteration.run_second, back)


_LISTS = frozenset({list})
_SEQUENCES = frozenset({list, tuple})


@known(zip, exact=True)
def _zip(*iterables: Any, strict: bool = False) -> tuple[Any, Any]:
    if strict and not _as_long(iterables):
        return _zip_in_general(iterables, strict)
    if iterables and _LISTS.issuperset(map(type, iterables)):
        return iteration.Direct(zip(zip(*iterables, strict=strict), count()), wholes.Lists(iterables), "zip"), None
    if iterables and _SEQUENCES.issuperset(map(type, iterables)):
        whole = wholes.ListsAndTuples(iterables)
        made = iteration.Direct(zip(zip(*iterables, strict=strict), count()), whole, "zip")
        return made, (_run_zip_of_tuples, whole)
    if iterables and _SEQUENCES.issuperset(map(iteration.stepped_as, map(type, iterables))):
        whole, back = wholes.Lists(iterables), None
        if any(issubclass(type(x), tuple) for x in iterables):
            whole = wholes.ListsAndTuples(iterables)
            back = (_run_zip_of_tuples, whole)
        return iteration.Direct(zip(zip(*iterables, strict=strict), count()), whole, "zip"), back
    return _zip_in_general(iterables, strict)


def _as_long(iterables: tuple[Any, ...]) -> bool:
    """Whether they are known to be of one length."""
    return _SEQUENCES.issuperset(map(type, iterables)) and len(set(map(len, iterables))) == 1


def _zip_in_general(iterables: tuple[Any, ...], strict: bool) -> tuple[Any, Any]:
    together = wholes.together(iterables, strict)
    if together is not None:
        return together, None
    if all(map(objects.stepped.is_known, map(type, iterables))):
        begun = iteration.all_with_backs(iterables, objects.stepped.begun)
        together = wholes.together(tuple([made for made, _ in begun]), strict)
        if together is not None:
            return together, (iteration.run_holders, [back for _, back in begun])
        iterators, recs = in_step.begin(tuple(begun), objects.stepped.pairs_of_begun)
    else:
        iterators, recs = in_step.begin(iterables)
    pairs = in_step.abreast_strictly(iterators) if strict else in_step.abreast(iterators)
    return Iterator(pairs, "zip"), in_step.back_of(recs)


def _run_zip_of_tuples(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return [None, *back[1].taken(shadows)]


class Mapped(iteration.Begun):
    """What `map` gives of lists: a function of the items at each place. Some of the lists, by their number, have one item, which stands for as
    many as there are of the others (`repeated`)."""

    __slots__ = ("function", "lists", "places", "repeated")

    def __init__(self, function: Any, lists: tuple[list[Any], ...], repeated: tuple[int, ...] = ()):
        self.kind = "map"
        self._made: Any = None
        self.function = function
        self.lists = lists
        self.repeated = repeated
        self.places: Any = None  # as long as it has given nothing

    def only_calculates(self) -> bool:
        return keys.is_harmless(self.function) and all(is_quiet(self.function, x) for x in self.lists)

    def begin(self) -> Any:
        """(items, which place) of what is still to come."""
        if self.places is None and not self.repeated:
            self.places = zip(zip(*self.lists), count())
        if self.places is None:
            sources = [repeat(x[0]) if k in self.repeated else x for k, x in enumerate(self.lists)]
            self.places = zip(zip(*sources), count())
        return self.places

    def values(self) -> list[list[Any]]:
        """The items of each as far as all have some."""
        length = min([len(x) for k, x in enumerate(self.lists) if k not in self.repeated])
        return [x * length if k in self.repeated else x[:length] for k, x in enumerate(self.lists)]

    def begun(self) -> Any:
        f, lists = self.function, self.lists
        forward = calls.forward_by_others(f)

        def step(at_place: tuple[Any, int]) -> tuple[Any, Any]:
            items, at = at_place
            try:
                y, back = forward(*items)
            except StopIteration as end:
                raise reentry.stopped(f, end) from None
            except BaseException as error:
                reentry.leave_call(error, _run_mapped, lists, at)
                raise
            return y, (_run_mapped, back, lists, at)

        return map(step, self.begin())


def _run_mapped(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, inner, lists, at = back
    given = calls.run(inner, d, shadows)
    if given is not None:
        for x, c in zip(lists, given[1:]):
            if c is not None:
                shadows.add_item(x, at, c)


def drain_mapped(
    mapped: Mapped, types: frozenset[type] | None = None, most: int | None = None
) -> tuple[list[Any], tuple[Any, ...]]:
    """All that `map` still gives; or up to the first item that is not of these types; or at most so many."""
    if most is None and mapped.places is None and types != frozenset():
        made = _mapped_at_once(mapped)
        if made is not None:
            return made
    forward = calls.forward_by_others(mapped.function)
    items: list[Any] = []
    backs: list[Any] = []
    first: list[int] = []
    drain = (_give_mapped, backs, mapped.lists, first)
    with reentry.undone((draining.run_left, drain), backs):
        for arguments, at in mapped.begin() if most is None else islice(mapped.begin(), most):
            if not first:
                first.append(at)
            try:
                y, back = forward(*arguments)
            except StopIteration as end:
                raise reentry.stopped(None, end) from None
            items.append(y)
            backs.append(back)
            if types is not None and type(y) not in types:
                break
    return items, drain


def _leading_mapped(mapped: Mapped, types: frozenset[type]) -> tuple[list[Any], tuple[Any, ...], Any]:
    items, drain = drain_mapped(mapped, types)
    return items, drain, mapped if items and type(items[-1]) not in types else None


def _mapped_at_once(mapped: Mapped) -> tuple[list[Any], tuple[Any, ...]] | None:
    """An operator on lists of real numbers; None where it is something else, or raises an error (which it does again)."""
    if type(mapped.function) is types.FunctionType:
        return None
    lists = mapped.values()
    rule = listwise.rule_of(mapped.function, *lists)
    if rule is None:
        return None
    try:
        ys = list(map(mapped.function, *lists))
    except ArithmeticError:
        return None
    mapped.places = iter(())
    return ys, (_give_mapped_at_once, rule, ys[:], lists, mapped.lists)


def _give_mapped_at_once(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    _, rule, ys, values, lists = drain
    if ds is not None:
        for x, part in zip(lists, listwise.cotangents(rule, ds, ys, *values)):
            add_all(shadows, x, 0, part)


def _give_mapped(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    _, backs, lists, begin = drain
    first = begin[0] if begin else 0
    if len(lists) == 1 and type(lists[0]) is not Numbers:  # as a rule
        found = [(1, shadows.list_of(lists[0]))]
    else:
        found = [(n, shadows.list_of(x)) for n, x in enumerate(lists, 1) if type(x) is not Numbers]
    for k in range(len(backs) - 1, -1, -1):
        back, d = backs[k], None if ds is None else ds[k]
        if back is None:
            continue
        if type(back) is float:
            given: Any = (None, d * back) if d is not None else None
        else:
            given = back[0](back, d, shadows)
        if given is not None:
            at = first + k
            for number, shadow in found:
                if (c := given[number]) is not None:
                    add_part(shadows, shadow, at, c)


def _first_mapped(mapped: Mapped, most: int) -> tuple[list[Any], tuple[Any, ...]]:
    return drain_mapped(mapped, None, most)


draining.FIRST[Mapped] = _first_mapped
iteration.SOURCES[Mapped] = iteration.iterator_pairs
draining.DRAINS[Mapped] = drain_mapped
draining.LEADING[Mapped] = _leading_mapped


@known(map)
def _map(f: Any, iterable: Any, /, *more: Any) -> tuple[Any, Any]:
    iterables = (iterable, *more)
    if f is not next and all(type(x) is list for x in iterables):
        if type(f) is operator.itemgetter and len(iterables) == 1:
            made = places.picked(f, iterables[0])
            if made is not None:
                return made, None
        return Mapped(f, iterables), None
    if f is not next and more:
        made = _mapped_beside_others(f, iterables)
        if made is not None:
            return made
    iterators, recs = in_step.begin(iterables)
    back = in_step.back_of([None, *recs])
    if f is next:
        return Iterator(_mapped_next(iterators), "map"), back
    if len(iterators) == 1:
        (iterator,) = iterators
        return Iterator(in_step.along(_mapping(f), iterator, iterator), "map"), back
    groups = in_step.abreast(iterators)
    return Iterator(in_step.along(_mapping_groups(f), groups, groups), "map"), back


def _map_of_one(f: Any, iterable: Any, /) -> tuple[Any, Any]:
    """The same of a list, or of a tuple, which stays as it is: for that a list gathers what comes to it."""
    if f is not next and type(f) is not operator.itemgetter:
        t = type(iterable)
        if t is tuple:
            items = [*iterable]
            return Mapped(f, (items,)), (_run_mapped_tuple, items, len(items))
        if t is list:
            return Mapped(f, (iterable,)), None
    return calls.KNOWN[map](f, iterable)


calls.SHORT[map, 2] = _map_of_one


def _run_mapped_tuple(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = iteration.run_gathered(back, d, shadows)
    return None if given is None else (None, None, *given)


_LONG = 10_000


class Numbers(list[Any]):
    """Those of a range: nobody wants their cotangents."""

    __slots__ = ()


def _mapped_beside_others(f: Any, iterables: tuple[Any, ...]) -> tuple[Any, Any] | None:
    """`map` of lists, tuples, ranges, and what repeats one object; None of others."""
    lists: list[list[Any]] = []
    repeated: list[int] = []
    for k, x in enumerate(iterables):
        t = type(x)
        if t is list:
            lists.append(x)
        elif t is tuple:  # which stays as it is
            lists.append([*x])
        elif t is range and len(x) <= _LONG:
            lists.append(Numbers(x))
        elif t is iteration.Endless and x.kind == "repeat" and not x.is_begun():
            repeated.append(k)
            lists.append(x.whole[:])
        else:
            return None
    if len(repeated) == len(lists):
        return None
    return Mapped(f, tuple(lists), tuple(repeated)), (_run_mapped_beside, iterables, lists)


def _run_mapped_beside(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, iterables, lists = back
    given: list[Any] = [None, None]
    for x, items in zip(iterables, lists):
        taken = None if items is x else shadows.take_list(items)
        given.append(None)
        if taken is None:
            continue
        if type(x) is tuple:
            given[-1] = tuple(taken + [None] * (len(x) - len(taken)))
        elif type(x) is not range:
            total: Any = None
            for c in taken:
                total = total + c if type(total) is type(c) is float else accumulate(total, c)
            if total is not None:
                shadows.add_item(x.whole, 0, total)
    return given


def _mapping(f: Any) -> Any:
    """What makes the pairs of what `f` gives of those of items."""
    forward = calls.forward_by_others(f)

    def step(pair: tuple[Any, Any]) -> tuple[Any, Any]:
        item, inner = pair
        try:
            y, back = forward(item)
        except StopIteration as end:
            raise reentry.stopped(f, end) from None
        except BaseException as error:
            reentry.leave_call(error, _run_call_of_item, inner)
            raise
        return y, (_run_call_of_item, back, inner)

    return step


def _run_call_of_item(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, call, inner = back
    given = calls.run(call, d, shadows)
    if inner is not None:
        inner[0](inner, None if given is None else given[1], shadows)


def _mapping_groups(f: Any) -> Any:
    """The same of those of tuples of items."""
    forward = calls.forward_by_others(f)

    def step(pair: tuple[Any, Any]) -> tuple[Any, Any]:
        items, inner = pair
        try:
            y, back = forward(*items)
        except StopIteration as end:
            raise reentry.stopped(f, end) from None
        except BaseException as error:
            reentry.leave_call(error, _run_call_of_items, inner)
            raise
        return y, (_run_call_of_items, back, inner)

    return step


def _run_call_of_items(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, call, inner = back
    given = calls.run(call, d, shadows)
    inner[0](inner, None if given is None else given[1:], shadows)


def _mapped_next(iterators: list[Any]) -> Any:
    """Of `map(next, iterators)`: finding an end there is one here."""
    forward = calls.forward_by_others(next)
    ends = Ends()

    def step(group: tuple[Any, ...]) -> tuple[Any, Any]:
        inner = [back for _, back in group]
        try:
            y, back = forward(*[item for item, _ in group])
        except StopIteration as end:
            ends.backs.append((iteration.run_call, later.escaping.swallowed(end), inner))
            raise
        except BaseException as error:
            reentry.leave_call(error, iteration.run_call, inner)
            raise
        return y, (iteration.run_call, back, inner)

    iterators = [noted(x) for x in iterators]
    return adapted(map(step, zip(*iterators)), *iterators, ends)


@known(filter)
def _filter(f: Any, iterable: Any, /) -> tuple[Any, Any]:
    pairs, rec = keys.selected(filter, f, iterable)
    y, back = _made(pairs, "filter", rec)
    return y, None if back is None else (_run_second_of_two, back)


def _run_second_of_two(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, *given)


@known(reversed, exact=True)
def _reversed(*args: Any) -> tuple[Any, Any]:
    if len(args) == 1 and type(args[0]) is list:  # (what small loops take is this)
        (x,) = args
        return iteration.Direct(zip(reversed(x), count(len(x) - 1, -1)), x, "list_reverseiterator"), None
    return calls.run_known(_from_the_end, *args)


def _from_the_end(x: Any) -> tuple[Any, Any]:
    made = method_of(x, "__reversed__")
    if made is not None:
        y, back = calls.call(made, ())
        return y, None if back is None else (run_shift, back)
    if isinstance(x, (list, deque, array.array)):
        return Iterator(_backwards(x), "list_reverseiterator"), None
    if isinstance(x, tuple) and not is_python(find(type(x), "__getitem__")):
        iterator, rec = iteration.tuple_pairs(x)
        iterator = zip(iterator, repeat(None)) if rec is None else iterator
        return Iterator(iter(list(iterator)[::-1]), "reversed"), None if rec is None else (run_shift, rec)
    if isinstance(x, (iteration.Values, iteration.Items)):
        iterator, rec = iteration.pairs(x)
        return Iterator(iter(list(iterator)[::-1]), "reversed"), None
    if is_python(find(type(x), "__getitem__")) and not isinstance(x, dict):
        length, asked = calls.call(len, (x,))
        steps = BackwardsByIndex(x, length)
        return Iterator(steps, "reversed"), (_run_backwards, whole(steps), asked)
    y = reversed(x)
    if isinstance(x, np.ndarray):
        return Iterator(iter(list(iteration.with_backs(x)[0])[::-1]), "reversed"), None
    return y, None


calls.takes_what(_reversed, _from_the_end)


def _backwards(x: Any) -> Any:
    base: Any = next(c for c in (list, deque, array.array) if isinstance(x, c))  # whatever a subclass does
    for index in range(base.__len__(x) - 1, -1, -1):
        if index < base.__len__(x):
            yield base.__getitem__(x, index), (iteration.run_list_item, x, index)


def _run_backwards(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    calls.run(back[1], None, shadows)
    calls.run(back[2], None, shadows)
