"""The reverse halves of generators, and the backs of what was done with a generator: each undoes the steps that it stands for, and
those that were taken later and that nothing has undone yet."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import TYPE_CHECKING, Any, NoReturn

from zyg.errors import Unsupported

from . import sources
from .cotangents import accumulate
from .shadows import Undone

if TYPE_CHECKING:
    from .generators import Generator, Record


class OfAnother:
    """The steps of a generator are undone by the one that gave its items; what came behind gave none."""

    left = 0
    sent = None

    def give_value(self, d: Any) -> None:
        pass

    @property
    def cotangents(self) -> NoReturn:
        raise Unsupported(
            "a derivative through a generator whose items another one gave (`yield from`) that is not undone yet",
            hint="write a loop that yields in the place of `yield from`",
        )


class Reverse:
    """The reverse half of a generator in one reverse pass; `left` steps have not been undone yet."""

    __slots__ = ("cotangents", "generator", "left", "sent", "shadows", "steps", "value")

    def __init__(self, generator: Record, shadows: Any):
        if generator.failed is not None:
            raise Unsupported(
                f"a derivative through a generator that was left by {type(generator.failed).__name__}",
                hint="let the generator finish, or compute the items in a list",
            )
        if generator.unfinished:
            generator.refuse_unfinished()
        self.generator = generator
        self.shadows = shadows
        self.value: Any = None  # the cotangent of what the generator returned
        self.steps: Any = None
        self.cotangents: Any = None
        self.sent: Any = None  # that of what was sent to begin the last step
        self.left = generator.items + 1
        if not generator.done:
            self.resume(None)  # it was left where it gave the last item

    def give_value(self, d: Any) -> None:
        if d is not None and self.steps is not None:
            raise Unsupported(
                "the derivative through the value of a generator that has been used again",
                hint="take the value where the generator ends",
            )
        self.value = d

    def resume(self, d: Any) -> Any:
        """Undo one step; the cotangent of what was sent to begin it."""
        self.left -= 1
        if self.steps is None:
            back = self.generator.back
            self.steps = back[0](back, self.value, self.shadows)
            self.sent = self._resume(None)
            return self.sent
        return self._resume(d)

    def _resume(self, d: Any) -> Any:
        more, given = step(self.steps, d)
        if more:
            return given
        self.end(given)
        return None

    def end(self, cotangents: Any) -> None:
        """All is undone."""
        self.cotangents = cotangents
        self.shadows = None  # which refer to this


def step(steps: Any, d: Any) -> tuple[bool, Any]:
    """(True, the next item), or (False, the value) at the end: what is derived in turn tells that by no exception."""
    try:
        return True, steps.send(d)
    except StopIteration as end:
        return False, end.value


def record_step(steps: Generator, d: Any) -> tuple[Any, Any]:
    """`step` where it is differentiated: second derivatives go through the reverse halves of generators."""
    more, item = step(steps.forward, d)
    if more:
        steps.record.items += 1
        return (True, item), (run_step, steps.record, steps.record.items)
    steps.record.done = True
    return (False, item), (run_last_step, steps.record)


def run_step(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    reverse = sources.reversal_of(back[1], shadows)
    sources.skip(reverse, back[2])
    return None, None, reverse.resume(None if d is None else d[1])


def run_last_step(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, None, end_of(back[1], None if d is None else d[1], shadows).sent


def run_item(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """(run_item, generator, which item, counted from 1)"""
    _, generator, number = back
    reverse = shadows.reversals.get(id(generator))
    if reverse is None or reverse.left != number or reverse.steps is None:
        reverse = sources.reversal_of(generator, shadows)
        sources.skip(reverse, number)
        reverse.resume(d)
        return
    reverse.left = number - 1
    try:
        reverse.steps.send(d)
    except StopIteration as end:
        reverse.end(end.value)


def run_items_of_two(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """(run_items_of_two, generator, which item, another generator, which item of that): of a tuple of the two items."""
    _, first, k, second, n = back
    x, y = _NEITHER if d is None else d
    reverse = shadows.reversals.get(id(second))
    if reverse is None or reverse.left != n or reverse.steps is None:
        run_item((run_item, second, n), y, shadows)
    else:
        reverse.left = n - 1
        try:
            reverse.steps.send(y)
        except StopIteration as end:
            reverse.end(end.value)
    reverse = shadows.reversals.get(id(first))
    if reverse is None or reverse.left != k or reverse.steps is None:
        run_item((run_item, first, k), x, shadows)
    else:
        reverse.left = k - 1
        try:
            reverse.steps.send(x)
        except StopIteration as end:
            reverse.end(end.value)


_NEITHER = (None, None)


def run_numbered_item(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """The same of a tuple of a number and an item."""
    _, generator, number = back
    reverse = shadows.reversals.get(id(generator))
    d = None if d is None else d[1]
    if reverse is None or reverse.left != number or reverse.steps is None:
        return run_item(back, d, shadows)
    reverse.left = number - 1
    try:
        reverse.steps.send(d)
    except StopIteration as end:
        reverse.end(end.value)


def run_item_by_step(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """The same where this is differentiated in turn."""
    reverse = sources.reversal_of(back[1], shadows)
    sources.skip(reverse, back[2])
    reverse.resume(d)


def run_send(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    reverse = sources.reversal_of(back[1], shadows)
    sources.skip(reverse, back[2])
    return None, None, reverse.resume(d)


def run_sent(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """(run_sent, generator, which item, counted from 1)"""
    _, generator, number = back
    reverse = shadows.reversals.get(id(generator))
    if reverse is None or reverse.left != number or reverse.steps is None:
        return run_sent_by_step(back, d, shadows)
    reverse.left = number - 1
    try:
        return None, reverse.steps.send(d)
    except StopIteration as end:
        reverse.end(end.value)
    return None


def run_sent_by_step(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The same where this is differentiated in turn."""
    reverse = sources.reversal_of(back[1], shadows)
    sources.skip(reverse, back[2])
    return None, reverse.resume(d)


def run_end(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """(run_end, generator, the StopIteration that told of the end, or None)"""
    _undo_end(back, shadows)


def run_gone_on(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """The same, and of the item that it gave instead of ending."""
    sources.skip(sources.reversal_of(back[1], shadows), back[1].items - 1)


def run_sent_end(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The same, where something was sent."""
    return None, None, _undo_end(back, shadows).sent


def run_end_of_method(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The same of a method."""
    return None, _undo_end(back, shadows).sent


def _undo_end(back: tuple[Any, ...], shadows: Any) -> Reverse:
    _, generator, end = back
    d = None
    if end is not None:
        d = shadows.take_attr(end, "value")
        args = shadows.take_attr(end, "args")
        if args is not None:
            d = accumulate(d, args[0])
    return end_of(generator, d, shadows)


def end_of(generator: Record, d: Any, shadows: Any) -> Reverse:
    """Undo what a generator did behind its last item, where `d` is the cotangent of what it returned."""
    reverse = sources.reversal_of(generator, shadows)
    reverse.give_value(d)
    sources.skip(reverse, generator.items)
    return reverse


def run_generator(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The cotangents of the arguments of the call that made the generator."""
    generator = back[1]
    if generator.handed_over:  # which undid it as a whole
        cotangents = shadows.items.pop(id(generator), None)
        if cotangents is not None:
            return cotangents
    reverse = shadows.reversals.get(id(generator))
    if reverse is None:
        owned = shadows.reversals.get(id(generator.back))
        if owned is not None:
            return owned.cotangents
        if not generator.started:
            return None
        reverse = sources.reversal_of(generator, shadows)
    if reverse.left:
        sources.skip(reverse, 0)
    return reverse.cotangents


def resume_in_turn(reversal: Reverse, ds: Any, count: int) -> None:
    """Undo so many steps, from the cotangents of what they gave: an iterator, which is asked for one when its step is undone."""
    if reversal.steps is None:
        reversal.resume(next(ds))
        count -= 1
    steps: Any = reversal.steps
    try:
        for d in ds:
            steps.send(d)
    except StopIteration as end:
        reversal.end(end.value)
    reversal.left -= count


def one_by_one(reversal: Reverse, ds: Any, count: int) -> None:
    """The same where this is differentiated in turn."""
    for d in ds:
        reversal.resume(d)


def undo_items(back: tuple[Any, ...], take: Callable[[Any, Any], Any], shadows: Any) -> None:
    """(..., generator, what its items came to, where each came, how many items and steps there had been before)"""
    _, generator, x, places, before, given = back
    reversal = sources.reversal_of(generator, shadows)
    sources.skip(reversal, max(before + len(places), given))
    if places:
        resume_in_turn(reversal, map(take, repeat(x), reversed(places)), len(places))
    if reversal.left > given and generator.started:
        sources.skip(reversal, given)


def give_generator(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    """(..., how many items there were before, and how many of these; how many steps there had been)"""
    _, generator, before, count, given = drain
    reversals = shadows.reversals
    at_once = not (before or given) and generator.items == count and generator.done and generator.failed is None
    if not at_once or id(generator) in reversals:
        give_by_steps(drain, ds, shadows)
        return
    # Nobody else has taken a step of it: it is undone from its end to its beginning.
    back = generator.back
    undo = back[0](back, None, shadows).send
    try:
        undo(None)
        for d in [None] * count if ds is None or not count else ds[count - 1 :: -1]:
            undo(d)
    except StopIteration as end:
        reversals[id(generator)] = Undone(end.value)
        shadows.kept.append(generator)


def give_by_steps(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    """The same, whoever has taken steps."""
    _, generator, before, count, given = drain
    reversal = sources.reversal_of(generator, shadows)
    down_to = before + count
    if reversal.left > down_to:
        sources.skip(reversal, max(down_to, given))  # (it may have been at its end before)
    if count:
        resume_in_turn(reversal, iter([None] * count if ds is None else ds[count - 1 :: -1]), count)
    if reversal.left > given and generator.started:
        sources.skip(reversal, given)
