"""Generators that differentiated code makes and consumes.

The forward half of a generator function gives its back first, then the items.  The reverse half is a generator as well, which
undoes what happened between two items each time it is resumed: so reverse steps come in the opposite order of the forward
ones, with whatever the consumer did in between.  What happens behind the last item is a step of its own, which is undone
where the consumer found the end: where a loop is over, or where the exception that says so was caught.
"""

from __future__ import annotations

from typing import Any

from zyg.errors import Unsupported

from .iteration import SOURCES, Iterator, iterator_pairs


class Items:
    """The items of a generator, with their backs."""

    __slots__ = ("generator",)

    def __init__(self, generator: Generator):
        self.generator = generator

    def __iter__(self) -> Items:
        return self

    def __next__(self) -> Any:
        generator = self.generator
        try:
            item = next(generator.forward)
        except StopIteration:
            generator.done = True
            raise
        except BaseException as error:
            generator.fail(error)
            raise
        generator.given += 1
        return item, (run_item, generator, generator.given)


class Generator(Iterator):
    """A generator in the forward pass."""

    __slots__ = ("back", "done", "failed", "forward", "given", "watched")

    def __init__(self, forward: Any):
        from zyg.autodiff.python import escaping

        self.back = next(forward)
        self.forward = forward
        self.watched = escaping.watched  # what leaves the generator then says so on the tape
        self.given = 0  # how many items
        self.done = False
        self.failed: BaseException | None = None
        super().__init__(Items(self), "generator")

    @property
    def started(self) -> bool:
        return self.done or self.given > 0 or self.failed is not None

    def fail(self, error: BaseException) -> None:
        """The generator is left by an exception, which takes along what undoes its last step."""
        from zyg.autodiff.python import escaping

        if not self.done:
            self.done = True
            if self.watched:
                escaping.attach(error, (run_end, self, None))
            else:
                self.failed = error

    def send(self, value: Any) -> Any:
        return self.forward.send(value)

    def throw(self, *exception: Any) -> Any:
        return self.forward.throw(*exception)

    def close(self) -> Any:
        return self.forward.close()


def call(make: Any, /, *args: Any) -> tuple[Any, Any]:
    """(generator, back) of a call of a generator function."""
    generator = Generator(make(*args))
    return generator, (run_generator, generator)


# ----------------------------------------------------------------------------------- what is done with a generator


def resume(generator: Generator, method: Any, *args: Any) -> Any:
    """The next item. An exception that tells of the end takes along what undoes the last step."""
    from zyg.autodiff.python import escaping

    from . import classes

    try:
        item = method(*args)
    except StopIteration as end:
        if not generator.done:
            generator.done = True
            classes.arguments_are_known(end)
            escaping.attach(end, (run_sent_end if args else run_end, generator, end))
        raise
    except BaseException as error:
        generator.fail(error)
        raise
    generator.given += 1
    return item


def record_next(generator: Generator) -> tuple[Any, Any]:
    """`next(generator)`"""
    item = resume(generator, generator.forward.__next__)
    return item, (run_item, generator, generator.given)


def record_send(generator: Generator, value: Any) -> tuple[Any, Any]:
    item = resume(generator, generator.forward.send, value)
    return item, (run_send, generator, generator.given)


def record_throw(generator: Generator, *exception: Any) -> tuple[Any, Any]:
    item = resume(generator, generator.forward.throw, *exception)
    return item, (run_item, generator, generator.given)


def record_close(generator: Generator) -> tuple[Any, Any]:
    suspended = generator.started and not generator.done
    try:
        value = generator.forward.close()
    except BaseException as error:
        generator.fail(error)
        raise
    generator.done = generator.done or suspended
    if value is not None:  # from 3.13 on
        raise Unsupported(
            "the value of `close` of a generator", hint="let the generator finish, and take its value there"
        )
    return None, (run_end, generator, None) if suspended else None


def finish(iterator: Any) -> None:
    """A loop is over: what its iterator did behind the last item belongs here."""


def record_finish(iterator: Any) -> tuple[Any, Any]:
    if type(iterator) is Items and iterator.generator.done:
        return None, (run_end, iterator.generator, None)
    return None, None


# ------------------------------------------------------------------------------------------------------------ backs


class _Reverse:
    """The reverse half of a generator in one reverse pass; `left` items have not been undone yet."""

    __slots__ = ("cotangents", "left", "sent", "steps")

    def __init__(self, generator: Generator, d: Any, shadows: Any):
        if generator.failed is not None:
            raise Unsupported(
                f"a derivative through a generator that was left by {type(generator.failed).__name__}",
                hint="let the generator finish, or compute the items in a list",
            )
        if not generator.done and _cleans_up(generator):
            raise Unsupported(
                f"a derivative through the generator {generator.forward.__name__} that was not finished, and has a `try`",
                hint="let it finish, or close it: `with contextlib.closing(...) as items:`",
            )
        self.steps = generator.back[0](generator.back, d, shadows)
        self.cotangents: Any = None
        self.left = generator.given + 1
        self.sent = self.resume(None)

    def resume(self, d: Any) -> Any:
        """Undo one step; the cotangent of what was sent to begin it."""
        self.left -= 1
        try:
            return self.steps.send(d)
        except StopIteration as end:
            self.cotangents = end.value
            return None


def _cleans_up(generator: Generator) -> bool:
    """Whether a generator may do something when it is closed, as CPython does with one that nobody has any more."""
    from zyg.autodiff.python import cleans_up

    return cleans_up(generator.forward.gi_code)


def _reverse_of(generator: Generator, shadows: Any, d: Any = None) -> _Reverse:
    held = shadows.attributes.setdefault(id(generator), {})
    if "reverse" not in held:
        shadows.kept.append(generator)
        held["reverse"] = _Reverse(generator, d, shadows)
    elif d is not None:
        raise Unsupported(
            "the derivative through the value of a generator that has been used again",
            hint="take the value where the generator ends",
        )
    return held["reverse"]


def run_item(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """(run_item, generator, which item, counted from 1)"""
    reverse = _reverse_of(back[1], shadows)
    _skip(reverse, back[2])
    reverse.resume(d)


def run_send(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    reverse = _reverse_of(back[1], shadows)
    _skip(reverse, back[2])
    return None, None, reverse.resume(d)


def run_end(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """(run_end, generator, the StopIteration that told of the end, or None)"""
    _undo_end(back, shadows)


def run_sent_end(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The same, where something was sent."""
    return None, None, _undo_end(back, shadows).sent


def _undo_end(back: tuple[Any, ...], shadows: Any) -> _Reverse:
    from .cotangents import accumulate

    _, generator, end = back
    d = None
    if end is not None:
        d = shadows.take_attr(end, "value")
        args = shadows.take_attr(end, "args")
        if args is not None:
            d = accumulate(d, args[0])
    return _reverse_of(generator, shadows, d)


def _skip(reverse: _Reverse, down_to: int) -> None:
    """Undo items that were taken and left aside, as `zip` and `filter` do: nothing flows to them."""
    while reverse.left > down_to:
        reverse.resume(None)


def run_generator(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The cotangents of the arguments of the call that made the generator."""
    generator = back[1]
    if not generator.started:
        return None
    reverse = _reverse_of(generator, shadows)
    _skip(reverse, 0)
    return reverse.cotangents


SOURCES[Generator] = iterator_pairs
