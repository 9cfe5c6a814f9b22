"""What itertools makes of lists: items, and tuples of items, that belong to a place each in a list.

Loops get them at the speed of itertools, each with its place; where that is in another list for each item, with that, too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from operator import is_, itemgetter
from typing import Any

from zyg.autodiff import objects
from zyg.backend.phrases import PLAIN_KEYS
from zyg.errors import Unsupported

from . import calls, foreign, iteration, keeping_items
from .builtins_ import run_shift
from .calls import known
from .cotangents import INERT, accumulate
from .math_ import place_got
from .shadows import Elsewhere, add_at_places
from .wholes import NOBODY, Whole, add_at

_FIRST, _SECOND = itemgetter(0), itemgetter(1)


def gone_through(x: Any) -> tuple[Any, Any, Any]:
    """What goes through an iterable whose items have places in it, (item, place); what these are places of; and the back
    of a call that was given the iterable, as its first argument. None for what has no places."""
    t = type(x)
    if t is list:
        return zip(x, itertools.count()), x, None
    if t is iteration.Direct:
        return x.base, x.whole, None
    if t is tuple:
        gathered = list(x)
        return zip(x, itertools.count()), gathered, (run_shift, (iteration.run_gathered, gathered, len(x)))
    return None, None, None


def copies(x: Any, n: int) -> Any:
    """(iterators, back) of `tee`, where the items have places in a list; else None."""
    steps, whole, back = gone_through(x)
    if steps is None or type(whole) is not list:
        return None
    place = foreign.caller()

    def stays(step: tuple[Any, int]) -> tuple[Any, int]:
        """An item may be given when it was taken long ago."""
        item, at = step
        if at < len(whole) and whole[at] is item:
            return step
        what, hint = "a list that changes between the iterators of `tee`", "let `tee` go through a copy of the list"
        raise Unsupported(what, foreign.position_of(place), hint=hint)

    return tuple(
        [iteration.Direct(map(stays, made), whole, "itertools._tee") for made in itertools.tee(steps, n)]
    ), back


# ------------------------------------------------------------------------------------------- items of the items


class _Picked(Whole):
    """What `map(itemgetter(key), rows)` goes through: a list of tuples and lists. A part is (place of the row, the row)."""

    __slots__ = ("key", "rows")

    def __init__(self, rows: list[Any], key: int):
        super().__init__()
        self.rows = rows
        self.key = key

    def steps(self, get: Any) -> Any:
        for part in enumerate(self.rows):
            if type(part[1]) not in _ROWS:
                hint = "let `map` go through a copy of the list"
                raise Unsupported("a list of rows that becomes another one on the way", None, hint=hint)
            yield get(part[1]), part

    def adder(self, shadows: Any) -> Callable[[Any, Any], None]:
        shadow, key = shadows.list_of(self.rows), self.key

        def add(part: tuple[int, Any], d: Any) -> None:
            at, row = part
            if type(row) is list:
                shadows.add_item(row, key, d)
                return
            if at >= len(shadow):
                shadow.extend([None] * (at + 1 - len(shadow)))
            old = shadow[at]
            if old is None:
                parts = [None] * len(row)
                parts[key] = d
            elif type(old) is tuple:
                parts = list(old)
                parts[key] = accumulate(parts[key], d)
            else:  # refused
                return
            shadow[at] = tuple(parts)

        return add


_ROWS = frozenset({tuple, list})


def picked(get: Any, rows: list[Any]) -> Any:
    """`map` of an `itemgetter` of one place, of rows that are tuples and lists; else None."""
    if not _ROWS.issuperset(map(type, rows)):
        return None
    forward = calls.forward_by_others(get)
    key = place_got(forward)
    if key is None or (key < 0 and list in map(type, rows)):
        return None  # (a list may have another length when its item gets a cotangent)
    whole = _Picked(rows, key)
    return iteration.Direct(whole.steps(get), whole, "map")


# -------------------------------------------------------------------------------------------------- chain


class Chained(Whole):
    """What `chain` goes through."""

    __slots__ = ()

    says_where = True

    def adder(self, shadows: Any) -> Callable[[Any, Any], None]:
        def add(part: tuple[Any, Any], d: Any) -> None:
            x, inner = part
            if type(x) is list:
                shadows.add_item(x, inner, d)
            else:
                x.add(shadows, inner, d)

        return add

    def add_all(self, shadows: Any, parts: Sequence[Any], ds: list[Any]) -> None:
        x: Any = None
        shadow: list[Any] = []
        for k in range(len(parts) - 1, -1, -1):
            d = ds[k]
            if d is None:
                continue
            of, at = parts[k]
            if of is not x:
                if type(of) is not list:
                    of.add(shadows, at, d)
                    continue
                x, shadow = of, shadows.list_of(of)
            if at < len(shadow):  # (as `add_at`, without a call for each item)
                old = shadow[at]
                shadow[at] = d if old is None else old + d if type(old) is float else accumulate(old, d)
            else:
                add_at(shadow, at, d)


def chained(iterables: tuple[Any, ...]) -> Any:
    """`chain`, where each of the iterables has places; else None."""
    if iterables and _BY_PLACES.issuperset(map(type, iterables)):
        return iteration.Direct(itertools.chain(*map(_steps_of, iterables)), Chained(), "chain")
    return None


def chained_from(rows: Any) -> Any:
    """`chain.from_iterable` of a list of lists; else None."""
    if type(rows) is list and {list}.issuperset(map(type, rows)):
        return iteration.Direct(itertools.chain.from_iterable(map(steps_of_list, rows)), Chained(), "chain")
    return None


_BY_PLACES = frozenset({list, iteration.Direct})


def _steps_of(x: Any) -> Any:
    if type(x) is list:
        return zip(x, zip(itertools.repeat(x), itertools.count()))
    items, parts = itertools.tee(x.base)
    return zip(map(_FIRST, items), zip(itertools.repeat(x.whole), map(_SECOND, parts)))


def steps_of_list(x: Any) -> Any:
    if type(x) is not list:
        hint = "let `chain.from_iterable` go through a copy of the list"
        raise Unsupported("a list of lists that becomes another one on the way", None, hint=hint)
    return _steps_of(x)


# ------------------------------------------------------------------------------------------------ groups of items


def grouped(items: list[Any], key: Any) -> Any:
    """Pairs of ((key, items), None), as `groupby` makes groups of a list by a key that only calculates with the items; None
    where the derivative by a key may be asked for, or keys are compared by code."""
    try:
        found = items if key is None else list(map(key, items))
    except Exception:  # it is raised again where it belongs
        return None
    if not (PLAIN_KEYS.issuperset(map(type, found)) or all(map(iteration.is_label, found))):
        return None
    groups = itertools.groupby(zip(items, itertools.count()), key=_KeyOfStep(key))

    def group(made: tuple[Any, Any]) -> tuple[Any, Any]:
        return (made[0], iteration.Direct(made[1], items, "itertools._grouper")), None

    return map(group, groups)


class _KeyOfStep:
    """The key of an item that comes with its place."""

    __slots__ = ("key",)

    def __init__(self, key: Any):
        self.key = key

    def __call__(self, step: tuple[Any, int]) -> Any:
        key = step[0] if self.key is None else self.key(step[0])
        if type(key) not in PLAIN_KEYS and not iteration.is_label(key):
            hint = "let `groupby` go through a copy of the list"
            raise Unsupported("a list that gets items with other keys while it is grouped", None, hint=hint)
        return key


# ------------------------------------------------------------------------------------------------ tuples of items


class _Longest(Whole):
    """What `zip_longest` of lists goes through."""

    __slots__ = ("lists",)

    def __init__(self, lists: tuple[list[Any], ...]):
        self.found = NOBODY
        self.lists = lists

    def apart(self, shadows: Any, count: int) -> tuple[Any, ...] | None:
        return tuple(map(shadows.list_of, self.lists)) if len(self.lists) == count else None

    def adder(self, shadows: Any) -> Callable[[Any, Any], None]:
        found = [shadows.list_of(x) for x in self.lists]

        def add(places: tuple[Any, ...], d: Any) -> None:
            for shadow, at, c in zip(found, places, d):
                if c is None:
                    continue
                if type(at) is int:
                    add_at(shadow, at, c)
                else:
                    at.add(shadows, c)

        return add


class _Filled(Elsewhere):
    """The place of what fills up. What comes to it is kept by its identity."""

    __slots__ = ()

    def add(self, shadows: Any, d: Any) -> None:
        items = shadows.items
        items[id(self)] = accumulate(items.get(id(self)), d)


def longest(lists: tuple[list[Any], ...], fillvalue: Any) -> tuple[Any, Any]:
    """(iterator, back) of `zip_longest`."""
    items = itertools.zip_longest(*lists, fillvalue=fillvalue)
    filled = _Filled(math.inf)
    places = itertools.zip_longest(*[map(_SECOND, zip(x, itertools.count())) for x in lists], fillvalue=filled)
    back = None if type(fillvalue) in INERT else (_run_longest, filled, len(lists))
    return iteration.Direct(zip(items, places), _Longest(lists), "zip_longest"), back


def longest_of_tuples(iterables: tuple[Any, ...], fillvalue: Any) -> tuple[Any, Any]:
    """The same where some are tuples, for which lists stand."""
    lists = tuple([x if type(x) is list else list(x) for x in iterables])
    made, back = longest(lists, fillvalue)
    tuples = [(k, items) for k, (x, items) in enumerate(zip(iterables, lists)) if x is not items]
    return made, (_run_longest_of_tuples, back, tuples, len(lists))


def _run_longest_of_tuples(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, tuples, count = back
    given = (inner[0](inner, d, shadows) if inner is not None else None) or ()
    result = [*given, *[None] * (2 + count - len(given))]
    for k, items in tuples:
        taken = iteration.run_gathered((None, items, len(items)), None, shadows)
        result[1 + k] = None if taken is None else taken[0]
    return result


def _run_longest(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, filled, count = back
    given = shadows.items.pop(id(filled), None)
    return None if given is None else (None, *[None] * count, given)


class _Neighbours(Whole):
    """What `pairwise` of a list goes through."""

    __slots__ = ("items", "place", "stayed")

    def __init__(self, items: list[Any]):
        super().__init__()
        self.items = items
        self.place = foreign.caller()
        self.stayed: dict[
            bool, bool
        ] = {}  # whether the first item was still at its place: False is a key if one was not

    def steps(self) -> Any:
        """The pairs, with the places of their items."""
        pairs, others = itertools.tee(itertools.pairwise(self.items))
        stayed = map(is_, map(_FIRST, others), iter(self.items))
        kept = map(self.stayed.setdefault, stayed, itertools.repeat(True))
        return zip(pairs, itertools.compress(zip(itertools.count(), itertools.count(1)), kept))

    def apart(self, shadows: Any, count: int) -> tuple[Any, ...] | None:
        return None if count != 2 or False in self.stayed else (shadows.list_of(self.items),) * 2

    def adder(self, shadows: Any) -> Callable[[Any, Any], None]:
        shadow = shadows.list_of(self.items)

        def add(places: tuple[int, int], d: Any) -> None:
            a, b = d
            if a is not None and False in self.stayed:
                hint = "go through a copy of the list"
                raise Unsupported("`pairwise` of a list that changes", foreign.position_of(self.place), hint=hint)
            if b is not None:
                add_at(shadow, places[1], b)
            if a is not None:
                add_at(shadow, places[0], a)

        return add


class _Groups(Whole):
    """What combinations and the like of items go through: lists of the items, per group the places in them, in turn."""

    __slots__ = ("lists",)

    def __init__(self, lists: list[list[Any]]):
        super().__init__()
        self.lists = lists

    def apart(self, shadows: Any, count: int) -> tuple[Any, ...] | None:
        return tuple(itertools.islice(itertools.cycle(map(shadows.list_of, self.lists)), count))

    def adder(self, shadows: Any) -> Callable[[Any, Any], None]:
        if len(self.lists) == 1:
            (items,) = self.lists
            return lambda places, d: add_at_places(shadows, items, places, list(d))
        found = [shadows.list_of(x) for x in self.lists]

        def add(places: tuple[int, ...], d: Any) -> None:
            for shadow, index, c in zip(itertools.cycle(found), places, d):
                if c is not None:
                    add_at(shadow, index, c)

        return add


@known(itertools.pairwise)
def _pairwise(iterable: Any) -> tuple[Any, Any]:
    if type(iterable) is list:
        whole = _Neighbours(iterable)
        return iteration.Direct(whole.steps(), whole, "pairwise"), None
    by_steps = objects.stepped.asks(iterable)
    return calls.call(keeping_items.neighbours_by_steps if by_steps else keeping_items.neighbours, (iterable,))


def groups(function: Any, pools: list[list[Any]], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What combinations and the like give of lists that nobody changes."""
    made = function(*pools, *args, **kwargs)
    places = function(*[range(len(pool)) for pool in pools], *args, **kwargs)
    return iteration.Direct(zip(made, places), _Groups(pools), function.__name__)
