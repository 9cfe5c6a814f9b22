"""Who takes the items of a generator: loops, one by one, with what undoes each step or with a tape that knows; functions that take
all of them, the leading ones, or a slice."""

from __future__ import annotations

from itertools import chain, islice, repeat
from types import CodeType
from typing import Any

from zyg.autodiff import objects
from zyg.backend.pullbacks import STEP
from zyg.errors import Unsupported, ZygError

from . import foreign, later, sources
from .draining import DRAINS, EXTENDING, LEADING, fits, run_left
from .generators import Generator, Items, Record, close, gives_items_of_another, goes_on, hand_to_hook
from .iteration import SOURCES, Iterator
from .passing import innermost
from .reversals import give_generator, run_generator, run_item, run_numbered_item, step, undo_items
from .shadows import Undone


class Quick(chain[Any]):
    """The same without Python code but for a generator's."""

    __slots__ = ("before", "generator", "source")

    before: list[int] | None
    generator: Generator
    source: Record

    def back_of_end(self) -> Any:
        """Whoever asks once more finds the end without a step."""
        before, self.before = self.before, None
        return None if before is None else (_run_end_of_items, self.source, before[0])

    def ended(self) -> Any:
        """The same where somebody else has asked the generator, and it has ended."""
        source = self.source
        given = source.given
        source.done = True
        self.before = None
        return _run_end_of_items, source, given


def quickly(generator: Generator) -> Quick:
    """The items of a generator, until it ends or fails."""
    before = [0]
    return _quick(generator, _pairs(generator, before), before)


def quickly_numbered(generator: Generator, start: int) -> Quick:
    """The same with their numbers, as `enumerate` gives them to a loop."""
    before = [0]
    return _quick(generator, _numbered_pairs(generator, before, start), before)


def _quick(generator: Generator, pairs: Any, before: list[int]) -> Quick:
    quick = Quick(pairs)
    quick.before = before
    quick.generator = generator
    quick.source = generator.record
    return quick


def _run_end_of_items(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """(_run_end_of_items, generator, how many steps there had been when the end was found)"""
    if back[1].started:
        sources.skip(sources.reversal_of(back[1], shadows), back[2])


class Owned(zip):
    """The items of a generator that a loop alone has. How many there were tells the tape of the function that the loop is in, and where
    the loop was left: so nothing is noted here."""

    __slots__ = ("record",)

    record: Record

    def back_of_end(self) -> Any:
        self.record.done = True
        return _run_end_of_owned, self.record


_STEPS = repeat(STEP)


def owned(generator: Generator, back: Any) -> tuple[Any, Any] | None:
    """What a loop goes through, and its back, if this is a generator that the call has made whose back this is; and if it does nothing
    when it is closed. The loop alone has it then: each of its steps is undone by the reverse of the loop, in turn. (For loops that no
    exception leaves in a way that what they did is undone: then nobody has to know that the generator was left, too.)"""
    record = generator.record
    if type(back) is not tuple or back[0] is not run_generator:
        back = innermost(back)
        if type(back) is not tuple or back[0] is not run_generator:
            return None
    if back[1] is not record or record.closing or record.items or record.done:
        return None
    items: Any = Owned(generator.forward, _STEPS)
    items.record = record
    return items, (run_owned, record)


def gives_items_alone(code: CodeType) -> bool:
    """Whether nobody has to know where a generator is suspended, whose forward half this is."""
    found = later.compile.GIVE_ITEMS.get(id(code))
    return later.compile.only_gives_items(code) if found is None else found


def owned_if_quiet(x: Any, back: Any) -> tuple[Any, Any] | None:
    """The same, whatever it is, where an exception that comes out of the generator may be handled: it has to leave its pullback with it."""
    if type(x) is not Generator or not gives_items_alone(x.record.code):
        return None
    return owned(x, back)


def run_owned(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """(run_owned, generator): the reverse of the loop has undone it."""


def _run_end_of_owned(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """(_run_end_of_owned, generator): undo what it did behind its last item."""
    _undo_from_end(back[1].back, shadows)


def run_left_owned(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """(run_left_owned, back of a generator): the same where an exception has left it."""
    _undo_from_end(back[1], shadows)


def _undo_from_end(back: Any, shadows: Any) -> None:
    steps = back[0](back, None, shadows)
    try:
        steps.send(None)
    except StopIteration as end:
        steps = Undone(end.value)
    shadows.reversals[id(back)] = steps


def undo_step(whole: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """Undo the next step of such a generator. (Emitted code does that by itself.)"""
    more, given = step(shadows.steps_of(whole), d)
    if not more:
        shadows.all_undone(whole, given)


def _quick_pairs(generator: Generator) -> tuple[Any, Any]:
    items = quickly(generator)
    return items, sources.whole(items)


def slowly(generator: Generator) -> Items:
    """The same where this is differentiated in turn."""
    return generator.pairs


def quickly_sliced(sliced: Sliced) -> Quick | None:
    """The items that `islice` gives of a generator, for a loop; None if somebody has taken steps of the generator already."""
    generator, record = sliced.of, sliced.of.record
    if record.given != sliced.given or record.handed_over:
        return None
    sliced.given = -1
    before = [record.given]
    # (Who has the iterator may go on with it when the loop was left.)
    sliced.pairs = pairs = _pairs(generator, before, sliced.start, sliced.stop)
    return _quick(generator, pairs, before)


def _pairs(generator: Generator, before: list[int], start: int = 0, stop: int | None = None) -> Any:
    source = generator.record
    first = source.items
    try:
        for _ in islice(generator.forward, start):  # which are left aside
            source.items += 1
        for item in generator.forward if stop is None else islice(generator.forward, stop - start):
            number = source.items = source.items + 1
            yield item, (run_item, source, number)
    except GeneratorExit:  # the loop was left
        raise
    except BaseException as error:
        generator.fail(error)
        before[0] = source.given
        raise
    before[0] = source.given
    if stop is None or source.items - first < stop:
        source.done = True


def _numbered_pairs(generator: Generator, before: list[int], index: int) -> Any:
    source = generator.record
    try:
        for item in generator.forward:
            number = source.items = source.items + 1
            yield (index, item), (run_numbered_item, source, number)
            index += 1
    except GeneratorExit:  # the loop was left
        raise
    except BaseException as error:
        generator.fail(error)
        before[0] = source.given
        raise
    before[0] = source.given
    source.done = True


def record_leave(iterator: Any) -> tuple[Any, Any]:
    """A loop is left from the middle. CPython closes a generator that nobody else has; what it raises then comes to no handler."""
    if type(iterator) is not Quick and type(iterator) is not Items:
        return None, None
    generator = iterator.generator
    record = generator.record
    if not (record.alone and record.suspended and record.unfinished) or gives_items_of_another(generator):
        return None, None
    try:
        back = later.escaping.attempt(close, generator)[1]
    except ZygError:
        raise
    except (RecursionError, MemoryError) as error:
        raise Unsupported(
            f"{type(error).__name__} out of a generator that is closed where a loop is left",
            hint="close it where its exceptions are handled: `with contextlib.closing(...) as items:`",
        ) from error  # CPython might have got further
    except BaseException as error:
        if goes_on(generator):
            raise Unsupported(
                f"the generator {record.code.co_name}, which gives an item when it is closed, where a loop over it is left",
                foreign.position_of(foreign.caller()),
                hint="raise GeneratorExit again",
            ) from error
        back = later.escaping.swallowed(error)
        hand_to_hook(error, record.code)
    return None, back


def drained(generator: Generator) -> tuple[list[Any], tuple[Any, ...]]:
    """All that a generator still gives."""
    record = generator.record
    before, given = record.items, record.given
    items: list[Any] = []
    try:
        items.extend(generator.forward)
    except BaseException as error:
        _fail_at_once(generator, error, before, len(items), given)
        raise
    record.items = before + len(items)
    record.done = True
    return items, (give_generator, record, before, len(items), given)


def leading(generator: Generator, types: frozenset[type]) -> tuple[list[Any], tuple[Any, ...], Any]:
    """What it gives as far as that is of these types; see `draining.leading`."""
    record = generator.record
    before, given = record.items, record.given
    items: list[Any] = []
    rest = None
    try:
        for item in generator.forward:
            items.append(item)
            if type(item) not in types or (type(item) is tuple and not fits(item, types)):
                rest = generator
                break
    except BaseException as error:
        _fail_at_once(generator, error, before, len(items), given)
        raise
    record.items = before + len(items)
    record.done = rest is None
    return items, (give_generator, record, before, len(items), given), rest


class Sliced(sources.Adapted):
    """The pairs of items of a generator, from `start` to `stop`, counted from where it was when these were made."""

    __slots__ = ("given", "of", "start", "stop")

    def __init__(self, generator: Generator, steps: Any, start: int, stop: int | None):
        super().__init__(steps, [generator.record], True)
        self.of = generator
        self.given = generator.record.given
        self.start = start
        self.stop = stop

    def take(self, types: frozenset[type] | None) -> tuple[list[Any], tuple[Any, ...], Any] | None:
        """All items, or those up to the first that is not of these types; what gives them their cotangents; what is left behind. None, if
        steps have been taken already, by whomever."""
        generator, record, stop = self.of, self.of.record, self.stop
        if record.given != self.given or record.handed_over or stop == 0:
            return None
        self.given = -1
        before = record.items
        items: list[Any] = []
        others = False
        try:
            for item in generator.forward:
                items.append(item)
                if types is not None and (type(item) not in types or type(item) is tuple):
                    others = len(items) > self.start and not fits(item, types)
                    if others:
                        break
                if len(items) == stop:
                    break
            else:
                record.done = True
        except BaseException as error:
            _fail_at_once(generator, error, before, len(items), before)
            raise
        record.items = before + len(items)
        drain = give_generator, record, before, len(items), before
        self.pairs = islice(quickly(generator), None if stop is None else stop - len(items))  # what is still to come
        rest = Iterator(self, "islice") if others else None
        if not self.start:
            return items, drain, rest
        return items[self.start :], (_give_sliced, drain, min(self.start, len(items))), rest


def _give_sliced(drain: tuple[Any, ...], ds: list[Any] | None, shadows: Any) -> None:
    """What was left aside in front gets nothing."""
    _, inner, count = drain
    inner[0](inner, None if ds is None else [None] * count + ds, shadows)


def sliced(generator: Generator, steps: Any, args: tuple[Any, ...]) -> Sliced | None:
    """The pairs that `islice` gives, `steps`, with these arguments; None for those that skip some."""
    limits = slice(*args)
    start = limits.start or 0
    if limits.step not in (None, 1) or (limits.stop is not None and limits.stop < start):
        return None
    return Sliced(generator, steps, start, limits.stop)


def extending(x: Any, generator: Generator) -> Any:
    """All that a generator still gives comes to the end of a list, one after the other: it may look at the list meanwhile."""
    record = generator.record
    before, given = record.items, record.given
    places: list[int] = []
    append = objects.subscripts.base_of(x).append
    back = (_run_extending, record, x, places, before, given)
    try:
        for item in generator.forward:
            places.append(len(x))
            append(x, item)
    except BaseException as error:
        record.items = before + len(places)
        generator.fail(error)
        objects.reentry.leave(error, back)
        raise
    record.items = before + len(places)
    record.done = True
    return back


def _run_extending(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    undo_items(back, shadows.take_appended, shadows)


def _fail_at_once(generator: Generator, error: BaseException, before: int, count: int, given: int) -> None:
    """A generator is left by an exception which loses the items that it gave before."""
    generator.record.items = before + count
    generator.fail(error)
    objects.reentry.leave(error, (run_left, (give_generator, generator.record, before, count, given)))


SOURCES[Generator] = _quick_pairs
DRAINS[Generator] = drained
EXTENDING[Generator] = extending
LEADING[Generator] = leading
