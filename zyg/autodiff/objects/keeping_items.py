"""Iterators of itertools that keep items: an item that is given several times, or later, has a place in a list, whose shadow has what
comes to it until the step is undone that took it."""

from __future__ import annotations

import itertools
from typing import Any

from . import calls, iteration, reach, reentry
from .cotangents import accumulate
from .iteration import Iterator
from .sources import Adapted, Steps, record_finish


class Kept(Steps):
    """The items of an iterator of pairs, each with its place in a list; and with a key, by a function of it, that has the same place
    in another list."""

    __slots__ = ("function", "items", "iterator", "keys")

    def __init__(self, iterator: Any, function: Any = None):
        super().__init__()
        self.iterator = iterator
        self.function = function
        self.items: list[Any] = []
        self.keys: list[Any] = [] if function is not None else self.items

    def take(self) -> int:
        """The place of one more item."""
        pair = next(self.iterator, None)
        if pair is None:
            self.backs.append(record_finish(self.iterator)[1])
            raise StopIteration
        item, back = pair
        asked = None
        if self.function is not None:
            try:
                key, asked = calls.call(self.function, (item,))
            except StopIteration as end:
                raise reentry.stopped(self.function, end) from None
            except BaseException as error:
                reentry.leave(error, (_run_left_aside, back))
                raise
            self.keys.append(key)
        at = len(self.items)
        self.items.append(item)
        # (Not this itself, which has the list: that would be a circle.)
        self.backs.append((_run_taken, back, asked, self.items, self.keys, at))
        return at

    def pair(self, at: int) -> tuple[Any, Any]:
        return self.items[at], (iteration.run_list_item, self.items, at)


def _run_left_aside(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    calls.run(back[1], None, shadows)


def _run_taken(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, inner, asked, items, keys, at = back
    d = shadows.take_item(items, at)
    if keys is not items:
        given = calls.run(asked, shadows.take_item(keys, at), shadows)
        d = d if given is None else accumulate(d, given[1])
    calls.run(inner, d, shadows)


class _Going:
    """What goes through items that are kept."""

    __slots__ = ("at", "kept")

    def __init__(self, kept: Kept):
        self.kept = kept
        self.at = 0

    def __iter__(self) -> Any:
        return self


class _Copy(_Going):
    """One of those that `tee` gives."""

    __slots__ = ()

    def __next__(self) -> Any:
        at = self.at
        if at == len(self.kept.items):
            self.kept.take()
        self.at = at + 1
        return self.kept.pair(at)


class _Cycle(_Going):
    __slots__ = ("around",)

    def __init__(self, kept: Kept):
        super().__init__(kept)
        self.around = False  # whether the end was reached

    def __next__(self) -> Any:
        kept = self.kept
        if not self.around:
            try:
                return kept.pair(kept.take())
            except StopIteration:
                if not kept.items:
                    raise
                self.around = True
        at = self.at
        self.at = (at + 1) % len(kept.items)
        return kept.pair(at)


class _Groups(_Going):
    """What `groupby` gives."""

    __slots__ = ("begun", "given", "group", "number")

    def __init__(self, kept: Kept):
        super().__init__(kept)
        self.at = -1  # the item at hand
        self.given = True  # whether a group has given it, or there is none
        self.group = -1  # the item whose key is that of the group
        self.number = 0  # of the group; the others are at their ends

    def step(self) -> None:
        self.at = self.kept.take()
        self.given = False

    def in_group(self, group: int) -> bool:
        """Whether the item at hand has the key of a group."""
        key, other = self.kept.keys[group], self.kept.keys[self.at]
        if type(key) in reach.PLAIN and type(other) in reach.PLAIN:
            return key is other or key == other
        same, asked = reentry.followed(_is_same, (key, other))
        self.kept.backs.append((_run_left_aside, asked))
        return same

    def __next__(self) -> Any:
        self.number += 1
        while self.given or (self.group >= 0 and self.in_group(self.group)):
            self.step()
        self.group = self.at
        kept = self.kept
        members = Iterator(Adapted(_Group(self, self.number, self.at), [kept]), "itertools._grouper")
        return (kept.keys[self.at], members), (_run_key, kept.keys, self.at)


def _is_same(key: Any, other: Any) -> bool:
    return key is other or bool(key == other)


def _run_key(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None and d[0] is not None:
        shadows.add_item(back[1], back[2], d[0])


class _Group:
    __slots__ = ("group", "groups", "number")

    def __init__(self, groups: _Groups, number: int, group: int):
        self.groups = groups
        self.number = number
        self.group = group

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        groups = self.groups
        if groups.number != self.number:
            raise StopIteration
        if groups.given:
            groups.step()
        if not groups.in_group(self.group):
            raise StopIteration
        groups.given = True
        return groups.kept.pair(groups.at)


def copies(iterator: Any, n: int) -> tuple[Iterator, ...]:
    kept = Kept(iterator)
    return tuple([Iterator(Adapted(_Copy(kept), [kept]), "itertools._tee") for _ in range(n)])


def cycle(iterator: Any) -> Iterator:
    kept = Kept(iterator)
    return Iterator(Adapted(_Cycle(kept), [kept]), "itertools.cycle")


def groups(iterator: Any, key: Any) -> Iterator:
    kept = Kept(iterator, key)
    return Iterator(Adapted(_Groups(kept), [kept]), "itertools.groupby")


# ------------------------------------------------------------------------ these are over when an exception has left them


def neighbours(iterable: Any) -> Any:
    """itertools.pairwise, in code that is differentiated: an item stands in two pairs."""

    def pairs(iterator: Any) -> Any:
        for before in iterator:  # noqa: B007
            break
        else:
            return
        for item in iterator:
            yield before, item
            before = item

    return pairs(iter(iterable))


def neighbours_by_steps(iterable: Any) -> Any:
    """The same of an instance of a user's class, whose iterator is asked for items only."""

    def pairs(iterator: Any) -> Any:
        before = next(iterator, _END)
        if before is not _END:
            while (item := next(iterator, _END)) is not _END:
                yield before, item
                before = item

    return pairs(iter(iterable))


_END = object()


def batches(iterable: Any, n: int, *, strict: bool = False) -> Any:
    """itertools.batched, likewise"""
    if n < 1:
        raise ValueError("n must be at least one")

    def made(iterator: Any) -> Any:
        while batch := tuple(itertools.islice(iterator, n)):
            if strict and len(batch) < n:
                raise ValueError("batched(): incomplete batch")
            yield batch

    return made(iter(iterable))


def batches_by_steps(iterable: Any, n: int, *, strict: bool = False) -> Any:
    """The same of an instance of a user's class."""

    def steps(iterator: Any) -> Any:
        while (item := next(iterator, _END)) is not _END:
            yield item

    if n < 1:
        raise ValueError("n must be at least one")
    return batches(steps(iter(iterable)), n, strict=strict)


def begun_twice(iterable: Any) -> Any:
    """What `tee` goes through: it asks an iterator for its iterator, too."""
    return iter(iter(iterable))
