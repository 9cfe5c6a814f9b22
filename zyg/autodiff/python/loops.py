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
    if t is list:
        return zip(x, count()), (nothing, x)
    if t is Direct:
        return x.base, (nothing, x.whole)
    if t is tuple:
        return (iter(x), None) if INERT.issuperset(map(type, x)) else _gathering(x, len(x))
    if t is Items or t is Values:
        mapping = x._mapping
        if type(mapping) is dict:
            if t is Items:
                return zip(mapping.items(), mapping), (nothing, Entries(mapping))
            return zip(mapping.values(), mapping), (nothing, mapping)
    if t not in iteration.SOURCES:
        t = iteration.stepped_as(t)
        if t is list:
            return zip(list.__iter__(x), count()), (nothing, x)
        if t is tuple:
            return _gathering(tuple.__iter__(x), tuple.__len__(x))
    if t is generators.Generator:
        items = generators.quickly(x)
        return items, sources.whole(items)
    if t not in iteration.SOURCES:
        return stepped.through(x, loop) or objects.loop(x)
    return objects.loop(x)


def _gathering(items: Any, length: int) -> tuple[Any, Any]:
    """A tuple has no shadow: a list that has nothing else stands for it."""
    return zip(items, count()), (nothing, [], iteration.run_gathered, length)
