"""Pairs (item, back) that are made of those of other iterators, a step of each in a step: `zip`, `enumerate`, `map`; and those of one after the
other: `chain`.

The back of an item undoes all that the step did which gave it. So nobody has to count the steps of what is gone through, as
`sources.Adapted` does for what leaves items aside: what a step has taken before it found an end, or failed, is known by its backs.
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

from zyg.autodiff import objects

from . import calls, iteration
from .iteration import of_group, run_zip
from .sources import WITHOUT_STEPS, adapted, noted, record_finish, run_down_to, whole


def begin(iterables: tuple[Any, ...], each: Any = None) -> tuple[list[Any], list[Any]]:
    """The pairs of each, and what flows to each as a whole, None for nothing."""
    made = iteration.all_with_backs(iterables, each or own_pairs)
    return [pairs for pairs, _ in made], [None if is_undone(rec) else rec for _, rec in made]


def own_pairs(x: Any, pairs: Any = iteration.with_backs) -> Any:
    """`iteration.with_backs` or `pairs`, for who notes what undoes the end (`record_finish`)."""
    return (x.pairs, iteration.NOTHING) if type(x) is iteration.Iterator else pairs(x)


def back_of(recs: list[Any]) -> Any:
    """The back of what is made of these."""
    return None if recs.count(None) == len(recs) else (iteration.run_holders, recs)


def is_undone(rec: Any) -> bool:
    """Whether nothing is to be done of what is gone through as a whole, where all of its steps are undone."""
    return rec is None or rec is iteration.NOTHING or rec[0] is run_down_to


class Along(map):
    """What a function makes of the pairs of one iterator, or of what C code makes of these one by one."""

    __slots__ = ("inner",)

    inner: tuple[Any, ...]  # (that iterator,)

    def back_of_end(self) -> Any:
        return record_finish(self.inner[0])[1]


def along(function: Callable[[Any], Any], steps: Any, inner: Any) -> Any:
    """What `function` makes of `steps`, each of which takes one pair of `inner`."""
    made = Along(function, steps)
    made.inner = (inner,)
    return made


@calls.known(along)
def _along_in_turn(function: Any, steps: Any, inner: Any) -> tuple[Any, Any]:
    return calls.call(_counting_along, (function, steps, inner))


def _counting_along(function: Any, steps: Any, inner: Any) -> Any:
    return adapted(map(function, steps), inner)


class _Taking:
    """Pairs by steps that take others, and may find an end or fail when they have taken some."""

    __slots__ = ("behind", "inner")

    def __init__(self, inner: tuple[Any, ...]):
        self.inner = inner  # iterators of pairs
        self.behind: Any = None  # what undoes what was done behind the last item

    @abstractmethod
    def step(self) -> tuple[Any, Any]: ...

    def going(self) -> Iterator[Any]:
        """All pairs, as a generator."""
        step = self.step
        while True:
            try:
                pair = step()
            except StopIteration:
                return
            except BaseException as error:
                objects.reentry.leave(error, self.back_of_end())
                raise
            yield pair

    def back_of_end(self) -> Any:
        behind, self.behind = self.behind, None
        return behind

    def __iter__(self) -> _Taking:
        return self

    def __next__(self) -> Any:
        try:
            return self.step()
        except StopIteration:
            raise
        except BaseException as error:
            objects.reentry.leave(error, self.back_of_end())
            raise


class Abreast(_Taking):
    """Of `zip`: tuples of items."""

    __slots__ = ()

    def going(self) -> Iterator[Any]:
        if len(self.inner) == 2:
            first, second = self.inner
            if type(first) is objects.generator_items.Quick and type(second) is objects.generator_items.Quick:
                return self._of_two_generators(first, second)
        return super().going()

    def _of_two_generators(self, first: Any, second: Any) -> Iterator[Any]:
        """The same pairs, without a step in Python for each of the two."""
        a, b = first.source, second.source
        xs, ys = iter(first.generator.forward), iter(second.generator.forward)
        while True:
            try:
                x = next(xs)
            except StopIteration:
                self.behind = run_zip, [first.ended()]
                return
            except BaseException as error:
                first.generator.fail(error)
                raise
            k = a.items = a.items + 1
            try:
                y = next(ys)
            except StopIteration:
                self.behind = run_zip, [(objects.reversals.run_item, a, k), second.ended()]
                return
            except BaseException as error:
                second.generator.fail(error)
                objects.reentry.leave(error, (run_zip, [(objects.reversals.run_item, a, k)]))
                raise
            n = b.items = b.items + 1
            yield (x, y), (objects.reversals.run_items_of_two, a, k, b, n)

    def step(self) -> tuple[Any, Any]:
        items: list[Any] = []
        backs: list[Any] = []
        try:
            for iterator in self.inner:
                item, back = next(iterator)
                items.append(item)
                backs.append(back)
        except BaseException as error:
            if type(error) is StopIteration:
                backs.append(record_finish(iterator)[1])
            self.behind = run_zip, backs
            raise
        return tuple(items), (run_zip, backs)


def abreast(iterators: list[Any]) -> Any:
    """The pairs of tuples of items of each."""
    if WITHOUT_STEPS.issuperset(map(type, iterators)):
        return map(of_group, zip(*iterators))
    return Abreast(tuple(iterators))


def abreast_strictly(iterators: list[Any]) -> Any:
    """The same of those that have to be of one length."""
    iterators = [noted(x) for x in iterators]
    return adapted(map(of_group, zip(*iterators, strict=True)), *iterators)


class Chained(_Taking):
    """Of `chain`: items of one after the other. The first one of each undoes the end of those before it, too."""

    __slots__ = ("maker", "row", "rows")

    def __init__(self, rows: Iterator[tuple[Any, Any]], maker: Any, inner: tuple[Any, ...]):
        """`rows`: of iterators of pairs, each with what undoes that it was begun; `maker`: the iterator of pairs that these are made of."""
        super().__init__(inner)
        self.rows = rows
        self.maker = maker
        self.row: Any = None

    def step(self) -> tuple[Any, Any]:
        while True:
            row = self.row
            if row is None:
                rows, maker = self.rows, self.maker
                self.rows = self.maker = iter(())  # they are not asked again when they have failed
                made = next(rows, None)
                if made is None:
                    self._note(record_finish(maker)[1])
                    raise StopIteration
                self.row, begun = made
                self.rows, self.maker = rows, maker
                self._note(begun)
                continue
            pair = next(row, None)
            if pair is not None:
                behind = self.behind
                if behind is None:
                    return pair
                self.behind = None
                return pair[0], (_run_behind, pair[1], behind)
            self._end(row)

    def going(self) -> Iterator[Any]:
        for pair in super().going():
            row = self.row
            yield pair
            if self.row is not row:  # somebody else has taken items, too
                continue
            try:
                yield from row
            except BaseException as error:
                objects.reentry.leave(error, self.back_of_end())
                raise
            if self.row is row:
                self._end(row)

    def _end(self, row: Any) -> None:
        self.row = None
        self._note(record_finish(row)[1])

    def _note(self, back: Any) -> None:
        if back is not None:
            self.behind = back if self.behind is None else (_run_behind, back, self.behind)


def _run_behind(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, inner, behind = back
    if inner is not None:
        inner[0](inner, d, shadows)
    behind[0](behind, None, shadows)


def chained(iterators: list[Any]) -> Any:
    """The pairs of several iterators, one after the other."""
    if WITHOUT_STEPS.issuperset(map(type, iterators)):
        return itertools.chain(*iterators)
    rows = zip(iterators, itertools.repeat(None))
    return Chained(rows, rows, tuple(iterators))


def chained_rows(rows: Callable[[Any], Iterator[tuple[Any, Any]]], maker: Any) -> Any:
    """The same of those that are made on the way."""
    return Chained(rows(maker), maker, (maker,))


class Going(itertools.chain[Any]):
    """The same pairs without Python code but a generator's, for who goes through them to the end, or until they fail."""

    __slots__ = ("inner",)

    inner: tuple[Any, ...]

    def back_of_end(self) -> Any:
        return self.inner[0].back_of_end()


def going(pairs: Any) -> Any:
    """An iterator of pairs, for such a consumer."""
    if type(pairs) is objects.generator_items.Sliced:
        return objects.generator_items.quickly_sliced(pairs) or pairs
    if type(pairs) is not Abreast and type(pairs) is not Chained:
        return pairs
    made: Any = Going(pairs.going())
    made.inner = (pairs,)
    return made


def loop(x: iteration.Iterator) -> tuple[Any, Any]:
    """`iteration.loop` of an iterator."""
    pairs = x.pairs
    return going(pairs), (None if type(pairs) in KINDS else whole(pairs)) or iteration.NOTHING


@calls.known(going)
def _going_in_turn(pairs: Any) -> tuple[Any, Any]:
    return pairs, (_run_same,)


def _run_same(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, d


KINDS = frozenset({Along, Abreast, Chained, Going})  # which have `inner`

__all__ = [
    "KINDS",
    "abreast",
    "abreast_strictly",
    "along",
    "back_of",
    "begin",
    "chained",
    "chained_rows",
    "going",
    "is_undone",
    "loop",
    "own_pairs",
]  # fmt: skip
