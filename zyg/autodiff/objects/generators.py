"""Generators that differentiated code makes and consumes.

The forward half of a generator function gives its back first, then the items.  The reverse half is a generator as well, which
undoes what happened between two items each time it is resumed: so reverse steps come in the opposite order of the forward
ones, with whatever the consumer did in between.
"""

from __future__ import annotations

from typing import Any

from zyg.errors import Unsupported

from .iteration import SOURCES, Iterator, iterator_pairs


class Generator(Iterator):
    """A generator in the forward pass."""

    __slots__ = ("back", "failed", "forward", "given", "started", "value")

    def __init__(self, forward: Any):
        self.back = next(forward)
        self.forward = forward
        self.started = False
        self.given = 0  # how many items
        self.failed: BaseException | None = None
        self.value: Any = None
        super().__init__(_items(self), "generator")

    def send(self, value: Any) -> Any:
        return self.forward.send(value)

    def throw(self, *exception: Any) -> Any:
        return self.forward.throw(*exception)

    def close(self) -> None:
        self.forward.close()


def call(make: Any, /, *args: Any) -> tuple[Any, Any]:
    """(generator, back) of a call of a generator function."""
    generator = Generator(make(*args))
    return generator, (run_generator, generator)


def _items(generator: Generator) -> Any:
    """Its items, with their backs."""
    forward = generator.forward
    generator.started = True
    try:
        while True:
            item = next(forward)
            generator.given += 1
            yield item, (run_item, generator, generator.given)
    except StopIteration as end:
        generator.value = end.value
    except BaseException as error:
        generator.failed = error
        raise


class _Reverse:
    """The reverse half of a generator in one reverse pass; `left` items have not been undone yet."""

    __slots__ = ("cotangents", "left", "sent", "steps")

    def __init__(self, generator: Generator, d: Any, shadows: Any):
        if generator.failed is not None:
            raise Unsupported(
                f"a derivative through a generator that was left by {type(generator.failed).__name__}",
                hint="let the generator finish, or compute the items in a list",
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


def _reverse_of(generator: Generator, shadows: Any, d: Any = None) -> _Reverse:
    held = shadows.attributes.setdefault(id(generator), {})
    if "reverse" not in held:
        shadows.kept.append(generator)
        held["reverse"] = _Reverse(generator, d, shadows)
    return held["reverse"]


def run_item(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """(run_item, generator, which item, counted from 1)"""
    reverse = _reverse_of(back[1], shadows)
    _skip(reverse, back[2])
    reverse.resume(d)


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
