"""What a `for` loop goes through: pairs of items and pullbacks, or items and the parts that they are of what has a shadow."""

from __future__ import annotations

from collections import OrderedDict
from itertools import count, repeat
from typing import Any

from zyg.backend.pullbacks import VIEWED, nothing

from .. import objects
from ..objects import calls, generator_items, generators, iteration, reentry, stepped
from ..objects.cotangents import INERT
from ..objects.iteration import Direct, Endless, Items, Values
from ..objects.wholes import NOWHERE, Entries, Lists, ListsAndTuples, Numbered, NumberedTuple
from . import counted
from .sites import as_they_are


def loop(x: Any) -> tuple[Any, Any]:
    """`objects.loop`, but where items belong to parts of what has a shadow, that part stands in the place of a pullback."""
    t = type(x)
    if t is list:
        return zip(x, count()), (nothing, x)
    if t is generators.Generator:
        return generator_items.quickly(x), iteration.NOTHING  # all of its steps are undone, each for itself
    if t is Direct or t is Endless:
        return x.base, (nothing, x.whole)
    if t is tuple:
        if INERT.issuperset(map(type, x)):
            return iter(x), None
        return zip(x, count()), (nothing, [], iteration.run_gathered, len(x))  # as `_gathering`
    if t is Items or t is Values:
        mapping = x._mapping
        if type(mapping) is dict:
            if t is Items:
                return zip(mapping.items(), mapping), (nothing, Entries(mapping))
            return zip(mapping.values(), mapping), (nothing, mapping)
        if isinstance(mapping, dict):
            own: Any = (
                OrderedDict if isinstance(mapping, OrderedDict) else dict
            )  # whatever its class does in their place
            if t is Items:
                return zip(own.items(mapping), own.__iter__(mapping)), (
                    nothing,
                    Entries(mapping, own.__iter__(mapping)),
                )
            return zip(own.values(mapping), own.__iter__(mapping)), (nothing, mapping)
    if t not in iteration.SOURCES:
        t = iteration.stepped_as(t)
        if t is list:
            return zip(list.__iter__(x), count()), (nothing, x)
        if t is tuple:
            return _gathering(tuple.__iter__(x), tuple.__len__(x))
    if t not in iteration.SOURCES:
        return stepped.through(x, loop) or objects.loop(x)
    return objects.loop(x)


def loop_alone(x: Any, back: Any) -> tuple[Any, Any]:
    """The same for what a call has just given to the loop and to nothing else; `back` is that of the call."""
    generators.is_alone(x, back)
    return loop(x)


def loop_own(x: Any, back: Any) -> tuple[Any, Any]:
    """The same, where a generator that nobody else has is gone through without a record of its steps."""
    if type(x) is generators.Generator:
        own = generator_items.owned(x, back)
        if own is not None:
            return own
    elif type(x) is list:
        return zip(x, count()), (nothing, x)
    return loop_alone(x, back)


def loop_own_tried(x: Any, back: Any) -> tuple[Any, Any]:
    """The same where an exception that comes out of the generator may be handled: the generator has to leave its pullback with it."""
    return generator_items.owned_if_quiet(x, back) or loop_alone(x, back)


def loop_items(x: Any, back: Any) -> tuple[Any, Any]:
    """The same for what `x.items()` gives; of a dict, `x` itself stands for that."""
    return (zip(x.items(), x), (nothing, Entries(x))) if back is VIEWED else loop_own(x, back)


def loop_items_tried(x: Any, back: Any) -> tuple[Any, Any]:
    return (zip(x.items(), x), (nothing, Entries(x))) if back is VIEWED else loop_own_tried(x, back)


def loop_values(x: Any, back: Any) -> tuple[Any, Any]:
    """The same for `x.values()`."""
    return (zip(x.values(), x), (nothing, x)) if back is VIEWED else loop_own(x, back)


def loop_values_tried(x: Any, back: Any) -> tuple[Any, Any]:
    return (zip(x.values(), x), (nothing, x)) if back is VIEWED else loop_own_tried(x, back)


def loop_keys(x: Any, back: Any) -> tuple[Any, Any]:
    """The same for `x.keys()`."""
    return objects.loop(x) if back is VIEWED else loop_own(x, back)


def loop_keys_tried(x: Any, back: Any) -> tuple[Any, Any]:
    return objects.loop(x) if back is VIEWED else loop_own_tried(x, back)


# By the name of the method whose result the loop goes through, and the function that begins others.
OF_VIEWS = {
    ("items", loop_own): loop_items, ("items", loop_own_tried): loop_items_tried,
    ("values", loop_own): loop_values, ("values", loop_own_tried): loop_values_tried,
    ("keys", loop_own): loop_keys, ("keys", loop_own_tried): loop_keys_tried,
}  # fmt: skip

ALONE = frozenset({loop_alone, loop_own, loop_own_tried, *OF_VIEWS.values()})


def loop_over(call: tuple[Any, ...]) -> tuple[Any, Any]:
    """The same for what a call gives: of what, and with which arguments."""
    f = call[0]
    return loop_apart(call) if f is zip or f is enumerate else _over_call(f, call)


def loop_apart(call: tuple[Any, ...]) -> tuple[Any, Any]:
    """The same for a call of `zip` or `enumerate`, whose items are tuples that the loop takes apart."""
    f = call[0]
    if f is zip:
        if zip in as_they_are:  # (what small loops take is this)
            lists = call[1:]
            if len(lists) == 2:
                a, b = lists
                kind = type(a)
                if kind is type(b):
                    if kind is list:
                        return zip(zip(a, b), count()), (nothing, Lists(lists))
                    if kind is tuple:
                        return zip(zip(a, b), count()), (nothing, ListsAndTuples(lists), run_taken)
            if _are_lists(map(type, lists)):
                return zip(zip(*lists), count()), (nothing, Lists(lists))
            if _are_sequences(map(type, lists)):
                return zip(zip(*lists), count()), (nothing, ListsAndTuples(lists), run_taken)
    elif f is enumerate and len(call) == 2 and enumerate in as_they_are:
        items = call[1]
        if type(items) is list:
            return zip(enumerate(items), count()), (nothing, Numbered(items))
        if type(items) is tuple:
            return zip(enumerate(items), count()), (nothing, NumberedTuple((items,)), run_taken)
        if type(items) is generators.Generator:
            return generator_items.quickly_numbered(items, 0), iteration.NOTHING  # as in `loop`
    elif f is enumerate and len(call) == 3 and enumerate in as_they_are:
        _, items, start = call
        if type(items) is list and type(start) is int:
            return zip(enumerate(items, start), count()), (nothing, Numbered(items))
        if type(items) is generators.Generator and type(start) is int:
            return generator_items.quickly_numbered(items, start), iteration.NOTHING
    as_known(f)
    if calls.forward_of(f) is calls.KNOWN[f]:
        as_they_are.add(f)
    items, whole = _over_call(f, call)
    return (zip(items, repeat(None)), (nothing, NOWHERE)) if whole is None else (items, whole)


def as_known(f: Any) -> None:
    if f is not zip and f is not enumerate:
        raise counted.is_another("zip(...)` or `enumerate(...)")


def _over_call(f: Any, call: tuple[Any, ...]) -> tuple[Any, Any]:
    forward = calls.forward_of(f)
    y, back = forward(*call[1:])
    if type(y) is Direct:
        return y.base, (nothing, y.whole) if back is None else (nothing, y.whole, run_call, back)
    with reentry.undone(back):
        items, whole = iteration.loop(y)
    return items, None if whole is None and back is None else (iteration.run_loop_over, whole, back)


_are_lists, _are_sequences = frozenset({list}).issuperset, frozenset({list, tuple}).issuperset


def run_taken(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The cotangent of (what is called, its arguments), where tuples among these are gone through."""
    return ((None, *back[1].taken(shadows)),)


def run_call(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The cotangent of (what is called, its arguments), where that of what the call gives has been gathered."""
    given = calls.run(back[3], None, shadows)
    return None if given is None else (tuple(given),)


def _gathering(items: Any, length: int) -> tuple[Any, Any]:
    """A tuple has no shadow: a list that has nothing else stands for it."""
    return zip(items, count()), (nothing, [], iteration.run_gathered, length)
