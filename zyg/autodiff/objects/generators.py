"""Generators that differentiated code makes: their steps in the forward pass, and what is done with them by name.

The forward half of a generator function gives its back first, then the items.  The reverse half is a generator as well, which
undoes what happened between two items each time it is resumed (`reversals`): so reverse steps come in the opposite order of the
forward ones, with whatever the consumer did in between.  What happens behind the last item is a step of its own, which is undone
where the consumer found the end: where a loop is over, or where the exception that says so was caught.  What loops and functions do
that take the items, one by one or all of them, is in `generator_items`.
"""

from __future__ import annotations

import builtins
import dis
import threading
import weakref
from collections.abc import Callable
from types import CodeType
from typing import Any, NoReturn

from zyg.autodiff import objects
from zyg.autodiff.identity import ByIdentity
from zyg.errors import Unsupported
from zyg.ir.plainly import get_plainly

from . import foreign, later, sources
from .iteration import Iterator
from .passing import innermost, leaves
from .reversals import (
    OfAnother,
    Reverse,
    run_end,
    run_end_of_method,
    run_generator,
    run_item,
    run_send,
    run_sent,
    run_sent_end,
)


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

    def refuse_unfinished(self) -> NoReturn:
        generator = None if self.generator is None else self.generator()
        frame = None if generator is None else _frame(generator)
        raise Unsupported(
            f"a derivative through the generator {self.code.co_name} that was not finished, and has a `try`",
            foreign.position_of((self.code, 0) if frame is None else (frame.f_code, frame.f_lasti)),
            hint="let it finish, or close it: `with contextlib.closing(...) as items:`",
        )

    def reversal(self, shadows: Any) -> Any:
        return OfAnother() if self.handed_over else Reverse(self, shadows)


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
            record.refuse_unfinished()


def forget(mark: int) -> None:
    """The pullback is made, or has failed."""
    del _cleaning.records[mark:]


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


leaves(run_end_of_method)(send_as_method)


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
        calls = any(get_plainly(x, "__module__") == _DELEGATION for x in code.co_consts)
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
    value, back = close(generator)
    if value is not None:  # from 3.13 on
        raise Unsupported(
            "the value of `close` of a generator", hint="let the generator finish, and take its value there"
        )
    return None, back


def close(generator: Generator) -> tuple[Any, Any]:
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


leaves(run_end_of_method)(send_as_method)
