"""`yield from` of a generator of which nothing has been taken: CPython hands its items on, and so does the reverse.

A generator that gives all items of another one is resumed for none of them: in the forward half it waits in `yield from` of the other
one's forward half, in the reverse half in `yield from` of the reverse half, which undoes what the other one did back to its start.
So an item that comes through many generators costs what it costs in CPython. Whoever else takes an item of the other generator
meanwhile is refused.

The emitted code keeps the generators that it has handed over to in a list, in order (`handed_over`); a reverse pass goes through that
from its end.
"""

from __future__ import annotations

from typing import Any

from . import later
from .calls import known
from .generators import Away, Generator, Record


def handed_over() -> list[Record]:
    """The generators that this one will have handed over to."""
    return []


def can_be_handed_over(iterator: Any) -> bool:
    """Whether all that a generator gives is still to come, and nothing that has to be known of it in between."""
    if type(iterator) is not Generator or iterator.record.started:
        return False
    return later.compile.only_gives_items(iterator.forward.gi_code)


@known(can_be_handed_over, exact=True)
def _in_turn(iterator: Any) -> tuple[Any, Any]:
    """In a derivative of a derivative the steps are taken one by one."""
    return False, None


def hand_over(iterator: Generator, handed: list[Record]) -> Any:
    """What `yield from` goes through."""
    forward = iterator.forward
    handed.append(iterator.record)
    iterator.forward = Away(forward)
    iterator.record.handed_over = True
    return forward


def is_back(iterator: Generator) -> None:
    """It has come to its end."""
    iterator.record.done = True
    iterator.forward = iterator.forward.forward


def undo(handed: list[Record], d: Any, shadows: Any) -> Any:
    """The reverse half of the generator that was handed over to last; `d` is the cotangent of its value."""
    left = shadows.items.get(id(handed))
    if left is None:
        left = shadows.items[id(handed)] = handed[:]
        shadows.kept.append(handed)
    back = left[-1].back
    return back[0](back, d, shadows)


def is_undone(handed: list[Record], cotangents: Any, shadows: Any) -> None:
    """It has come to its start, and gives the cotangents of what it was called with."""
    shadows.items[id(shadows.items[id(handed)].pop())] = cotangents  # (`generators.run_generator` takes them)


__all__ = ["can_be_handed_over", "hand_over", "handed_over", "is_back", "is_undone", "undo"]
