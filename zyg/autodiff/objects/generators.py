"""Generators that differentiated code makes and consumes.

The forward half of a generator function gives its back first, then the items.  The reverse half is a generator as well, which
undoes what happened between two items each time it is resumed: so reverse steps come in the opposite order of the forward
ones, with whatever the consumer did in between.  What happens behind the last item is a step of its own, which is undone
where the consumer found the end: where a loop is over, or where the exception that says so was caught.
"""

from __future__ import annotations

import builtins
import dis
import threading
import weakref
from collections.abc import Callable
from itertools import chain, islice, repeat
from types import CodeType
from typing import Any, NoReturn

from zyg.autodiff import objects
from zyg.autodiff.identity import ByIdentity
from zyg.backend.pullbacks import STEP
from zyg.errors import Unsupported, ZygError

from . import foreign, later, sources
from .cotangents import accumulate
from .draining import DRAINS, EXTENDING, LEADING, fits, run_left
from .iteration import SOURCES, Iterator
from .passing import innermost, leaves
from .shadows import Undone


class Items:
    """The items of a generator, with their backs. All that is to be known of them stands in the generator's record: nobody but who
    takes them holds these, and they are made again for who comes next."""

    __slots__ = ("__weakref__", "generator", "source")

    def __init__(self, generator: Generator):
        self.generator = generator
        self.source = generator.record

    def back_of_end(self) -> Any:
        return sources.run_finished, [self.source], self.source.before

    def __iter__(self) -> Items:
        return self

    def __next__(self) -> Any:
        generator, source = self.generator, self.source
        try:
            item = next(generator.forward)
        except StopIteration:
            source.before = [source.given]
            source.done = True
            raise
        except BaseException as error:
            generator.fail(error)
            raise
        source.items += 1
        return item, (run_item, source, source.items)


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


_AT_START = [0]
_NO_PAIRS: Callable[[], Items | None] = lambda: None


class Record:
    """What a reverse pass has to know of a generator. The program does not have it: so the generator goes when the program lets go of
    it, whatever pullbacks there are."""

    __slots__ = (
        "__weakref__",
        "alone",
        "back",
        "before",
        "closing",
        "code",
        "done",
        "failed",
        "generator",
        "handed_over",
        "items",
    )

    def __init__(self, generator: Generator, back: Any, code: CodeType):
        self.back = back
        self.code = code
        # Whether it may do something when it is closed.
        closing = later.compile.CLEAN_UP.get(id(code))
        if closing is not False:
            closing = acts_when_closed(generator.forward)
        self.closing = closing
        self.generator = weakref.ref(generator) if closing else None  # for who has to close it
        self.items = 0  # how many there were
        self.before = _AT_START  # how many steps there had been when the end was found
        self.done = False
        self.failed: BaseException | None = None
        self.handed_over = False  # to another one, which gives all items (`delegation`)
        self.alone = False  # whether a loop goes through it, and nobody else has it

    @property
    def started(self) -> bool:
        return self.items > 0 or self.done or self.failed is not None or self.handed_over

    @property
    def suspended(self) -> bool:
        return self.items > 0 and not self.done and self.failed is None and not self.handed_over

    @property
    def unfinished(self) -> bool:
        """Whether it still may do something when it is closed."""
        return not self.done and self.closing

    @property
    def given(self) -> int:
        """How many steps: what it does behind the last item is one."""
        return self.items + self.done

    def reversal(self, shadows: Any) -> Any:
        return _OfAnother() if self.handed_over else _Reverse(self, shadows)


class Generator(Iterator):
    """A generator in the forward pass."""

    __slots__ = ("_pairs", "forward", "record")

    kind = "generator"

    def __init__(self, forward: Any):
        self.forward = forward
        self._pairs: Any = _NO_PAIRS  # weakly: they refer to this
        self.record = Record(self, next(forward), forward.gi_code)

    @property
    def pairs(self) -> Items:
        pairs = self._pairs()
        if pairs is None:
            pairs = Items(self)
            self._pairs = weakref.ref(pairs)
        return pairs

    @property
    def gi_code(self) -> Any:
        return self.forward.gi_code

    @property
    def gi_running(self) -> bool:
        return self.forward.gi_running

    def refuse_frame(self) -> Any:
        foreign.refuse(
            "the frame of a generator (`gi_frame`) in code that is differentiated",
            foreign.caller(),
            "keep in a variable what is known of the generator",
        )

    gi_frame = property(refuse_frame)
    gi_yieldfrom = gi_suspended = gi_frame

    def fail(self, error: BaseException, run: Any = None) -> None:
        """The generator is left by an exception, which takes along what undoes its last step."""
        record = self.record
        if not record.done:
            record.done = True
            if later.compile.is_watched(self.gi_code):  # it says on its tape where it was left
                later.escaping.attach(error, (run or run_end, record, None))
            else:
                record.failed = error

    def send(self, value: Any) -> Any:
        return self.forward.send(value)

    def throw(self, *exception: Any) -> Any:
        return self.forward.throw(*exception)

    def close(self) -> Any:
        return self.forward.close()


class Away:
    """In the place of the forward half of a generator that another one gives the items of: with that one CPython would close it. So it
    is that forward half again when that is over."""

    __slots__ = ("forward",)

    def __init__(self, forward: Any):
        self.forward = forward

    def __getattr__(self, name: str) -> Any:
        return getattr(self.forward, name)

    def _back(self) -> Any:
        if self.forward.gi_frame is None:
            return self.forward
        raise Unsupported(
            "an item of a generator that another one gives the items of (`yield from`), and has not been gone through to the end",
            foreign.position_of(foreign.caller()),
            hint="go through one of the two, or write a loop that yields in the place of `yield from`",
        )

    def __iter__(self) -> Any:
        return iter(self._back())

    def __next__(self) -> Any:
        return next(self._back())

    def send(self, value: Any) -> Any:
        return self._back().send(value)

    def throw(self, *exception: Any) -> Any:
        return self._back().throw(*exception)

    def close(self) -> Any:
        return self._back().close()


class _Cleaning(threading.local):
    """The generators of running pullbacks that have something to do when they are closed."""

    def __init__(self) -> None:
        self.records: list[Record] = []


_cleaning = _Cleaning()


def call(make: Any, /, *args: Any) -> tuple[Any, Any]:
    """(generator, back) of a call of a generator function."""
    generator = Generator(make(*args))
    record = generator.record
    if record.closing:
        _cleaning.records.append(record)
    return generator, (run_generator, record)


def begin() -> int:
    """A pullback is about to be made."""
    return len(_cleaning.records)


def end(mark: int) -> None:
    """Its forward pass is over: CPython has closed the generators that nobody has any more by now, and may have run code."""
    for record in _cleaning.records[mark:]:
        if record.started and record.unfinished:
            _refuse_unfinished(record)


def forget(mark: int) -> None:
    """The pullback is made, or has failed."""
    del _cleaning.records[mark:]


def _refuse_unfinished(record: Record) -> NoReturn:
    generator = None if record.generator is None else record.generator()
    frame = None if generator is None else _frame(generator)
    raise Unsupported(
        f"a derivative through the generator {record.code.co_name} that was not finished, and has a `try`",
        foreign.position_of((record.code, 0) if frame is None else (frame.f_code, frame.f_lasti)),
        hint="let it finish, or close it: `with contextlib.closing(...) as items:`",
    )


# ----------------------------------------------------------------------------------- what is done with a generator


def resume(generator: Generator, method: Any, *args: Any) -> Any:
    """The next item. An exception that tells of the end takes along what undoes the last step."""
    try:
        item = method(*args)
    except StopIteration as end:
        record = generator.record
        if not record.done:
            record.done = True
            objects.classes.arguments_are_known(end)
            later.escaping.attach(end, (run_sent_end if args else run_end, record, end))
        raise
    except BaseException as error:
        generator.fail(error, run_sent_end if args else run_end)
        raise
    generator.record.items += 1
    return item


def last_step(generator: Generator) -> None:
    """Take a step which is the last one: a StopIteration that says so, without what undoes it (`run_end`)."""
    _last_step(generator, generator.forward.__next__)


def throw_last(generator: Generator, error: BaseException) -> None:
    """The same, of a step that begins with an exception."""
    _last_step(generator, generator.forward.throw, error)


def _last_step(generator: Generator, method: Any, *args: Any) -> None:
    try:
        method(*args)
    except StopIteration:
        generator.record.done = True
        raise
    except BaseException as error:
        generator.fail(error)
        raise
    generator.record.items += 1


def record_next(generator: Generator) -> tuple[Any, Any]:
    """`next(generator)`"""
    item = resume(generator, generator.forward.__next__)
    return item, (run_item, generator.record, generator.record.items)


def record_send(generator: Generator, value: Any) -> tuple[Any, Any]:
    item = resume(generator, generator.forward.send, value)
    return item, (run_send, generator.record, generator.record.items)


def send_as_method(generator: Generator, value: Any) -> tuple[Any, Any]:
    """The same as a method: the pullback gives the cotangent of the generator first."""
    record = generator.record
    try:
        item = generator.forward.send(value)
    except StopIteration as end:
        if not record.done:
            record.done = True
            objects.classes.arguments_are_known(end)
            later.escaping.attach(end, (run_end_of_method, record, end))
        raise
    except BaseException as error:
        generator.fail(error, run_end_of_method)
        raise
    record.items += 1
    return item, (run_sent, record, record.items)


def _frame(generator: Generator) -> Any:
    """That of its forward half, which is None when it is over."""
    forward = generator.forward
    while type(forward) is Generator:  # in a second derivative
        forward = forward.forward
    return forward.gi_frame


def goes_on(generator: Generator) -> bool:
    return _frame(generator) is not None


def gives_items_of_another(generator: Generator) -> bool:
    """Whether a suspended generator is within `yield from`."""
    forward = generator.forward
    while type(forward) is Generator:  # in a second derivative
        forward = forward.forward
    frame = forward.gi_frame
    if frame is not None and _delegates(frame.f_code):
        if forward.gi_yieldfrom is not None:
            return True
        for x in frame.f_locals.values():
            if type(x) is Generator and type(x.forward) is Away:
                return True
    return False


def _delegates(code: CodeType) -> bool:
    """Whether there is `yield from` in a generator, by the code of its forward half."""
    found = _DELEGATES.get(id(code))
    if found is None:
        calls = any(getattr(x, "__module__", None) == _DELEGATION for x in code.co_consts)
        found = calls or any(instr.opname == "SEND" for instr in dis.get_instructions(code))
        _DELEGATES.note(code, found)
    return found


_DELEGATES = ByIdentity()
_DELEGATION = f"{__package__}.delegation"  # the module of what such a half calls


def record_throw(generator: Generator, *exception: Any) -> tuple[Any, Any]:
    if gives_items_of_another(generator):
        raise Unsupported(
            "an exception that is thrown into a generator which gives the items of another one (`yield from`)",
            foreign.position_of(foreign.caller()),
            hint="write a loop that yields in the place of `yield from`, with a handler around the `yield`",
        )
    item = resume(generator, generator.forward.throw, *exception)
    return item, (run_item, generator.record, generator.record.items)


def record_close(generator: Generator) -> tuple[Any, Any]:
    value, back = _close(generator)
    if value is not None:  # from 3.13 on
        raise Unsupported(
            "the value of `close` of a generator", hint="let the generator finish, and take its value there"
        )
    return None, back


def _close(generator: Generator) -> tuple[Any, Any]:
    record = generator.record
    suspended = record.started and not record.done
    try:
        value = generator.forward.close()
    except BaseException as error:
        if goes_on(generator):  # it caught GeneratorExit, and gave another item
            record.items += 1
            later.escaping.attach(error, (run_item, record, record.items))
        else:
            generator.fail(error)
        raise
    record.done = record.done or suspended
    return value, (run_end, record, None) if suspended else None


def is_alone(x: Any, back: Any) -> None:
    """`x` was given by a call, whose back this is, to a loop and to nobody else. If it is a generator that this very call has made, then
    CPython closes it when the loop lets go of it. (What another function returns may be kept anywhere.)"""
    if type(x) is not Generator:
        return
    made = innermost(back)
    if made is not None and made[0] is run_generator and made[1] is x.record:
        x.record.alone = True


def record_leave(iterator: Any) -> tuple[Any, Any]:
    """A loop is left from the middle. CPython closes a generator that nobody else has; what it raises then comes to no handler."""
    if type(iterator) is not Quick and type(iterator) is not Items:
        return None, None
    generator = iterator.generator
    record = generator.record
    if not (record.alone and record.suspended and record.unfinished) or gives_items_of_another(generator):
        return None, None
    try:
        back = later.escaping.attempt(_close, generator)[1]
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


def hand_to_hook(error: BaseException, code: CodeType) -> None:
    """What CPython does with an exception out of a generator that it closes: sys.unraisablehook gets it."""

    def closed() -> Any:
        try:
            yield
        finally:
            raise error

    generator = closed()
    generator.__name__, generator.__qualname__ = code.co_name, code.co_qualname
    next(generator)
    del generator


# ------------------------------------------------------------------------------------------------------------ backs


class _OfAnother:
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


class _Reverse:
    """The reverse half of a generator in one reverse pass; `left` steps have not been undone yet."""

    __slots__ = ("cotangents", "generator", "left", "sent", "shadows", "steps", "value")

    def __init__(self, generator: Record, shadows: Any):
        if generator.failed is not None:
            raise Unsupported(
                f"a derivative through a generator that was left by {type(generator.failed).__name__}",
                hint="let the generator finish, or compute the items in a list",
            )
        if generator.unfinished:
            _refuse_unfinished(generator)
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


def acts_when_closed(forward: Any) -> bool:
    """Whether a generator may do something when it is closed, as CPython does with one that nobody has any more; found out from what
    its items come from."""
    while type(forward) is Generator:  # where this is differentiated in turn
        forward = forward.forward
    found = later.compile.CLEAN_UP.get(id(forward.gi_code))
    if found is None:
        found = later.compile.cleans_up(forward.gi_code)
    if found is True or found is False:
        return found
    space = forward.gi_frame.f_globals
    held = [space.get(name, getattr(builtins, name, None)) for name in found]
    return not all(isinstance(x, type) and issubclass(x, Exception) for x in held)


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


leaves(run_end_of_method)(send_as_method)


def _undo_end(back: tuple[Any, ...], shadows: Any) -> _Reverse:
    _, generator, end = back
    d = None
    if end is not None:
        d = shadows.take_attr(end, "value")
        args = shadows.take_attr(end, "args")
        if args is not None:
            d = accumulate(d, args[0])
    return end_of(generator, d, shadows)


def end_of(generator: Record, d: Any, shadows: Any) -> _Reverse:
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


def resume_in_turn(reversal: _Reverse, ds: Any, count: int) -> None:
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


def one_by_one(reversal: _Reverse, ds: Any, count: int) -> None:
    """The same where this is differentiated in turn."""
    for d in ds:
        reversal.resume(d)


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


def undo_items(back: tuple[Any, ...], take: Callable[[Any, Any], Any], shadows: Any) -> None:
    """(..., generator, what its items came to, where each came, how many items and steps there had been before)"""
    _, generator, x, places, before, given = back
    reversal = sources.reversal_of(generator, shadows)
    sources.skip(reversal, max(before + len(places), given))
    if places:
        resume_in_turn(reversal, map(take, repeat(x), reversed(places)), len(places))
    if reversal.left > given and generator.started:
        sources.skip(reversal, given)


def _fail_at_once(generator: Generator, error: BaseException, before: int, count: int, given: int) -> None:
    """A generator is left by an exception which loses the items that it gave before."""
    generator.record.items = before + count
    generator.fail(error)
    objects.reentry.leave(error, (run_left, (give_generator, generator.record, before, count, given)))


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


SOURCES[Generator] = _quick_pairs
DRAINS[Generator] = drained
EXTENDING[Generator] = extending
LEADING[Generator] = leading
