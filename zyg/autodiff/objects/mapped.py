"""`map`: its calls one by one, or all at once where somebody takes all that it gives, and what undoes them."""

from __future__ import annotations

import operator
from itertools import count, islice, repeat
from types import BuiltinFunctionType, FunctionType
from typing import Any

from . import (
    calls,
    draining,
    in_step,
    iteration,
    keys,
    later,
    listwise,
    places,
    reentry,
)
from .calls import known
from .cotangents import INERT, accumulate
from .iteration import Iterator
from .quiet import is_quiet
from .shadows import add_all, add_part
from .sources import Ends, adapted, noted


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
    if mapped.places is None and types != frozenset() and type(mapped.function) is not FunctionType:
        made = _mapped_at_once(mapped, most)
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


# What makes numbers of text and bytes, which carry no derivative.
_READERS = frozenset({float, int, complex, ord, len})
_FUNCTIONS = (type, BuiltinFunctionType)  # that have no hash of the user's


def _mapped_at_once(mapped: Mapped, most: int | None) -> tuple[list[Any], tuple[Any, ...]] | None:
    """An operator on lists of real numbers, or what reads numbers from text; None where it is something else, gives more than `most`, or
    raises an error (which it does again)."""
    f, lists = mapped.function, mapped.values()
    if most is not None and len(lists[0]) > most:
        return None
    if type(f) in _FUNCTIONS and f in _READERS:
        rule = None
        if len(lists) != 1 or not INERT.issuperset(map(type, lists[0])) or calls.forward_of(f) is not calls.KNOWN[f]:
            return None
    elif (rule := listwise.rule_of(f, *lists)) is None:
        return None
    try:
        ys = list(map(f, *lists))
    except (ArithmeticError, ValueError, TypeError):
        return None
    mapped.places = iter(())
    return ys, (_give_mapped_at_once, rule, ys[:], lists, mapped.lists)


def _give_mapped_at_once(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    _, rule, ys, values, lists = drain
    if ds is not None and rule is not None:
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
