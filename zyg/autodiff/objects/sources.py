"""Iterators whose steps run code that is differentiated: generators, objects with `__next__`, and what goes through these.

A step may change what the consumer changes too. So it is undone in its turn: when the reverse pass comes to the item that the
step gave, to one that was given before it (`filter` and `zip` leave items aside), or to the place where the consumer found the
end.  A source counts its steps in `given`, and has `reversal(shadows)`, which undoes them one by one: its `left` tells how
many are left, and `resume(d)` undoes the last of these.

Most iterators of CPython that are written in C go on with what follows where they raised an exception and are asked again; a
generator is over. So pairs are made by the same C iterators as the items are in CPython (`map` of what makes a pair, not a
generator), or by objects with a `__next__`.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from zyg.autodiff import objects
from zyg.errors import Unsupported

from . import foreign, later


class Steps:
    """Pairs (item, back) by calls that are differentiated. A step that finds the end counts, too."""

    __slots__ = ("__weakref__", "backs")

    def __init__(self) -> None:
        self.backs: list[Any] = []

    @property
    def given(self) -> int:
        return len(self.backs)

    started = True

    def back_of_end(self) -> Any:
        return run_finished, [self], [len(self.backs) - 1]

    @abstractmethod
    def step(self) -> tuple[bool, Any, Any]:
        """(True, the next item, its back), or (False, None, the back of finding the end)"""
        ...

    def __iter__(self) -> Steps:
        return self

    def __next__(self) -> Any:
        more, item, back = self.step()
        self.backs.append(back)
        if not more:
            raise StopIteration
        return item, (run_item, self, len(self.backs))

    def reversal(self, shadows: Any) -> Any:
        return _Undoing(self.backs, shadows)


class ByNext(Steps):
    """The items of an object with a `__next__` that is differentiated."""

    __slots__ = ("iterator",)

    def __init__(self, x: Any):
        super().__init__()
        check_iterator(x)
        self.iterator = x

    def step(self) -> tuple[bool, Any, Any]:
        try:
            item, back = later.escaping.attempt(next_of, self.iterator)
        except StopIteration as end:
            return False, None, later.escaping.swallowed(end)
        return True, item, back


def check_iterator(x: Any) -> None:
    """Refuse an iterator that is a value: its cotangent would have to go on from each step."""
    base = next((cls for cls in (tuple, float, complex) if isinstance(x, cls)), None)
    if base is not None:
        raise Unsupported(
            f"an iterator of the class {type(x).__name__}, which is derived from {base.__name__}",
            foreign.position_of(foreign.caller()),
            hint="keep what it needs in attributes of a plain class, or write a generator",
        )


def next_of(x: Any) -> tuple[Any, Any]:
    """(value, back) of `x.__next__()`."""
    cls = type(x)
    forward = later.special.special_method("__next__", cls, 1)
    if forward is not None:
        return forward(x)
    return objects.calls.call(objects.arithmetic.find(cls, "__next__").__get__(x, cls), ())


class ByIndex(Steps):
    """The old protocol: `x[0]`, `x[1]`, ... until IndexError or StopIteration."""

    __slots__ = ("get", "index", "over", "sequence")
    further = 1

    def __init__(self, x: Any):
        super().__init__()
        self.sequence = x
        self.get = objects.arithmetic.find(type(x), "__getitem__").__get__(x, type(x))
        self.index = 0
        self.over = False

    def step(self) -> tuple[bool, Any, Any]:
        if self.over or self.index < 0:
            return False, None, None
        try:
            item, back = later.escaping.attempt(objects.calls.call, self.get, (self.index,))
        except (IndexError, StopIteration) as end:
            self.over = True
            return False, None, later.escaping.swallowed(end, constants=(2,))  # the index
        except BaseException:
            self.over = self.further < 0  # `reversed` is over then, an iterator asks again
            raise
        self.index += self.further
        return True, item, back


class BackwardsByIndex(ByIndex):
    """The same from the last one on, as `reversed` takes them."""

    __slots__ = ()
    further = -1

    def __init__(self, x: Any, length: int):
        super().__init__(x)
        self.index = length - 1


class Noted(Steps):
    """What any iterator of pairs gives, for what may leave items aside, or be left by an exception when it has taken one: all that was
    done to give them is kept."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: Any):
        super().__init__()
        self.pairs = pairs

    def step(self) -> tuple[bool, Any, Any]:
        pair = next(self.pairs, None)
        return (False, *record_finish(self.pairs)) if pair is None else (True, *pair)


class Until(Steps):
    """What a function gives until that is equal to a sentinel, or it raises StopIteration: `iter(f, sentinel)`."""

    __slots__ = ("function", "over", "sentinel")

    def __init__(self, function: Any, sentinel: Any):
        super().__init__()
        self.function = function
        self.sentinel = sentinel
        self.over = False

    def step(self) -> tuple[bool, Any, Any]:
        if self.over:
            return False, None, None
        try:
            item, back = later.escaping.attempt(objects.calls.forward_by_others(self.function))
        except StopIteration as end:
            self.over = True
            return False, None, later.escaping.swallowed(end)
        if item == self.sentinel:
            self.over = True
            return False, None, back
        return True, item, back


class Ends(Steps):
    """Where one source stands for ends that are found in others: only what finding them has done is undone."""

    __slots__ = ()


class _Undoing:
    """The steps of one source in one reverse pass."""

    __slots__ = ("backs", "left", "shadows")

    def __init__(self, backs: list[Any], shadows: Any):
        self.backs = backs
        self.left = len(backs)
        self.shadows = shadows

    def resume(self, d: Any) -> None:
        self.left -= 1
        objects.calls.run(self.backs[self.left], d, self.shadows)


class Adapted:
    """The pairs of what goes through such iterators, as `zip`, `map` and `filter` do: what these did in a step of it is undone
    with that step. `choosing`: whether these are pairs of one source, of which others are left aside."""

    __slots__ = ("before", "choosing", "pairs", "sources")

    def __init__(self, pairs: Any, sources: list[Any], choosing: bool = False):
        self.pairs = pairs
        self.sources = sources
        self.choosing = choosing
        self.before = counts(sources)

    def __iter__(self) -> Adapted:
        return self

    def back_of_end(self) -> Any:
        return (run_finished, self.sources, self.before) if self.sources else None

    def __next__(self) -> Any:
        before = self.before = counts(self.sources)
        try:
            pair = next(self.pairs)
        except StopIteration:
            raise
        except BaseException as error:
            objects.reentry.leave(error, (run_finished, self.sources, before))
            raise
        after = counts(self.sources)
        if self.choosing and after[0] == before[0] + 1:
            return pair  # whose back undoes all that has been done
        return pair[0], (run_adapted, pair[1], self.sources, before, after)


WITHOUT_STEPS = frozenset({zip, type(iter(range(1))), type(iter([])), type(iter({})), type(iter(()))})


def sources_of(iterator: Any) -> list[Any]:
    """The sources whose steps run code, of an iterator of pairs."""
    if type(iterator) in WITHOUT_STEPS:
        return []

    if isinstance(iterator, Steps):
        return [iterator]
    if isinstance(iterator, Adapted):
        return iterator.sources
    if type(iterator) in objects.in_step.KINDS:
        return [source for inner in iterator.inner for source in sources_of(inner)]
    return [iterator.source] if is_of_generator(iterator) else []


def is_of_generator(iterator: Any) -> bool:
    """Whether these are the pairs of a generator."""
    return type(iterator) is objects.generator_items.Quick or type(iterator) is objects.generators.Items


def noted(iterator: Any) -> Any:
    """An iterator of pairs, for what may leave items of it aside."""
    if type(iterator) in WITHOUT_STEPS or isinstance(iterator, Steps) or is_of_generator(iterator):
        return iterator
    return Noted(iterator)


def adapted(pairs: Any, *iterators: Any) -> Any:
    """The pairs that something makes of those of other iterators."""
    sources = [source for iterator in iterators for source in sources_of(iterator)]
    return Adapted(pairs, sources) if sources else pairs


def picked(pairs: Any, iterator: Any) -> Any:
    """The pairs of an iterator, some of which are left aside."""
    sources = sources_of(iterator)
    return Adapted(pairs, sources, len(sources) == 1) if sources else pairs


def counts(sources: list[Any]) -> list[int]:
    if len(sources) == 1:  # as a rule
        return [sources[0].given]
    return [source.given for source in sources]


def whole(iterator: Any) -> Any:
    """The back, of what begins to go through an iterator of pairs as a whole: all is undone that was done from here on."""
    sources = sources_of(iterator)
    return (run_down_to, sources, counts(sources)) if sources else None


# ------------------------------------------------------------------------------------------------- the end of a loop


_NOTHING_DONE = (None, None)


def finish(iterator: Any) -> None:
    """A loop is over: what its iterator did after the last item belongs here."""


def leave(iterator: Any) -> None:
    """A loop is left from the middle: nobody has its iterator any more, unless somebody else has it."""


def record_finish(iterator: Any) -> tuple[Any, Any]:
    if type(iterator) in WITHOUT_STEPS:
        return _NOTHING_DONE
    ends = getattr(iterator, "back_of_end", None)
    return _NOTHING_DONE if ends is None else (None, ends())


# ------------------------------------------------------------------------------------------------------------ backs


def reversal_of(source: Any, shadows: Any) -> Any:
    reversal = shadows.reversals.get(id(source))
    if reversal is None:
        reversal = shadows.reversals[id(source)] = source.reversal(shadows)
        shadows.kept.append(source)
    return reversal


def skip(reversal: Any, down_to: int) -> None:
    """Undo steps whose items were left aside, or that gave none: nothing flows to them."""
    while reversal.left > down_to:
        reversal.resume(None)


def run_item(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """(run_item, source, which item, counted from 1)"""
    reversal = reversal_of(back[1], shadows)
    skip(reversal, back[2])
    reversal.resume(d)


def run_adapted(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """(run_adapted, back of the item, sources, how many items they had given before this step, and after it)"""
    inner = back[1]
    _down_to(back[2], back[4], shadows)
    if inner is not None:
        inner[0](inner, d, shadows)
    _down_to(back[2], back[3], shadows)


def run_finished(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _down_to(back[1], back[2], shadows)


def run_down_to(back: tuple[Any, ...], d: Any, shadows: Any) -> tuple[None, ...]:
    """The same, of what was gone through as a whole, which has its cotangent in its shadow."""
    _down_to(back[1], back[2], shadows)
    return (None,)


def _down_to(sources: list[Any], before: list[int], shadows: Any) -> None:
    for k in range(len(before) - 1, -1, -1):
        source = sources[k]
        if source.started:
            reversal, down_to = reversal_of(source, shadows), before[k]
            while reversal.left > down_to:  # as `skip`, which is called for each item that is adapted, twice
                reversal.resume(None)
