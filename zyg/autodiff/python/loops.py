"""What a `for` loop goes through: pairs of items and pullbacks, or items and the parts that they are of what has a shadow."""

from __future__ import annotations

from itertools import count
from typing import Any

from zyg.backend.pullbacks import nothing

from .. import objects
from ..objects import generators, iteration, sources, stepped
from ..objects.cotangents import INERT
from ..objects.iteration import Direct, Items, Values
from ..objects.wholes import Entries


def loop(x: Any) -> tuple[Any, Any]:
    """`objects.loop`, but where items belong to parts of what has a shadow, that part stands in the place of a pullback."""
    t = type(x)
    if t not in iteration.SOURCES:
        t = iteration.stepped_as(t)
    if t is list:
        return zip(list.__iter__(x), count()), (nothing, x)
    if t is tuple:
        if INERT.issuperset(map(type, tuple.__iter__(x))):
            return tuple.__iter__(x), None
        return zip(tuple.__iter__(x), count()), (nothing, [], run_gathered, tuple.__len__(x))
    if t is Direct:
        return x.base, (nothing, x.whole)
    if t is Items or t is Values:
        mapping = x._mapping
        if type(mapping) is dict:
            if t is Items:
                return zip(mapping.items(), mapping), (nothing, Entries(mapping))
            return zip(mapping.values(), mapping), (nothing, mapping)
    if t is generators.Generator:
        items = generators.quickly(x)
        return items, sources.whole(items)
    if t not in iteration.SOURCES:
        return stepped.through(x, loop) or objects.loop(x)
    return objects.loop(x)


def run_gathered(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The cotangent of a tuple that a loop went through: a list that has nothing but a shadow stood for it."""
    _, gathered, _, length = back
    taken = shadows.take_list(gathered)
    return None if taken is None else ((*taken, *[None] * (length - len(taken))),)
