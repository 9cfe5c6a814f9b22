"""Keys and tests of items: what functions like `sorted` and `filter` call for each item. Nothing flows to what these calls give,
but they may have done something."""

from __future__ import annotations

import dis
import operator
from types import BuiltinFunctionType, FunctionType
from typing import Any

from zyg.autodiff.identity import ByIdentity

from . import calls, ordering, reach, reentry
from .cotangents import accumulate
from .sources import Steps

_harmless = ByIdentity()  # of a code object
_looking = ByIdentity()  # the same
_MADE_BY_A_STATEMENT = 1 << 9  # Py_TPFLAGS_HEAPTYPE: its instances may be made by Python code
_STORING = (
    "STORE_ATTR",
    "STORE_SUBSCR",
    "STORE_SLICE",
    "STORE_GLOBAL",
    "STORE_DEREF",
    "STORE_NAME",
    "DELETE_",
    "IMPORT_",
    "YIELD",
)
_DOING = (*_STORING, "CALL", "PRECALL")


def is_harmless(f: Any) -> bool:
    """Whether a call of `f` does nothing but calculate, as far as its code tells.

    >>> is_harmless(lambda z: -z[1]), is_harmless(lambda z: print(z)), is_harmless(len)
    (True, False, True)
    """
    if type(f) is not FunctionType:
        if type(f) is type:
            return not f.__flags__ & _MADE_BY_A_STATEMENT
        return f is None or type(f) is BuiltinFunctionType or type(f).__module__ == "operator"
    found = _harmless.of(f.__code__)
    if found is None:
        found = not any(
            i.opname.startswith(_DOING) or (i.opname == "BINARY_OP" and i.argrepr.endswith("="))  # in place
            for i in dis.get_instructions(f.__code__)
        )
        _harmless.note(f.__code__, found)
    return found


def only_looks(f: FunctionType) -> bool:
    """Whether a function stores and deletes nothing by itself: only what it calls may.

    >>> only_looks(lambda z: len(z.items)), only_looks(lambda z: z.__setitem__(0, 1.0))
    (True, True)
    """
    found = _looking.of(f.__code__)
    if found is None:
        found = not any(i.opname.startswith(_STORING) for i in dis.get_instructions(f.__code__))
        _looking.note(f.__code__, found)
    return found


def keys_of(items: list[Any], key: Any) -> tuple[list[Any], list[Any] | None]:
    """The key of each item, and the backs of the calls, if these may have done something."""
    if key is None:
        return items, None
    if is_harmless(key) and (
        type(key) is FunctionType or reach.PLAIN.issuperset(map(type, items)) or _picks_an_item(key, items)
    ):
        return [key(v) for v in items], None
    forward = calls.forward_of(key)
    found: list[Any] = []
    backs: list[Any] = []
    with reentry.gathering(backs):
        for v in items:
            k, back = forward(v)
            found.append(k)
            backs.append(back)
    return found, backs


def _picks_an_item(key: Any, items: list[Any]) -> bool:
    """Whether a key is an `operator.itemgetter` of what runs no code, of plain sequences."""
    if type(key) is not operator.itemgetter or not _SEQUENCES.issuperset(map(type, items)):
        return False
    return reach.PLAIN.issuperset(map(type, key.__reduce__()[1]))


_SEQUENCES = frozenset({list, tuple})


class Compared:
    """What undoes that keys were compared, and then what undoes the calls for them."""

    __slots__ = ("asked", "back")

    def __init__(self, back: Any, asked: list[Any] | None):
        self.back = back
        self.asked = asked


def chosen(function: Any, found: list[Any], asked: list[Any] | None, **options: Any) -> tuple[Any, Any]:
    """What `min`, `max` or `sorted` choose among the numbers of the items, by their keys; with what undoes the comparisons."""
    numbers = range(len(found))
    if reach.PLAIN.issuperset(map(type, found)) or (len(found) > 1 and ordering.all_ordered(found)):
        return function(numbers, key=found.__getitem__, **options), asked
    y, back = reentry.followed(function, (numbers,), {"key": found.__getitem__, **options}, others=(found,))
    return y, asked if back is None else Compared(back, asked)


def undo(backs: list[Any] | Compared | None, shadows: Any) -> list[Any] | None:
    """Undo the calls; what flows to the items, if anything does."""
    if backs is None:
        return None
    if isinstance(backs, Compared):
        calls.run(backs.back, None, shadows)
        backs = backs.asked
        if backs is None:
            return None
    ds: list[Any] = [None] * len(backs)
    for k in range(len(backs) - 1, -1, -1):
        given = calls.run(backs[k], None, shadows)
        ds[k] = None if given is None else given[1]
    return ds


def added(ds: list[Any] | None, more: list[Any] | None) -> list[Any] | None:
    """The sums of the cotangents of items."""
    if ds is None or more is None:
        return more if ds is None else ds
    return [accumulate(a, b) for a, b in zip(ds, more)]


class Keyed(Steps):
    """Pairs of ((item, its key), back). A key is asked for in the step that gives the item, and undone with it."""

    __slots__ = ("function", "iterator")

    def __init__(self, function: Any, iterator: Any):
        super().__init__()
        self.function = function
        self.iterator = iterator

    def step(self) -> tuple[bool, Any, Any]:
        pair = next(self.iterator, None)
        if pair is None:
            return False, None, None
        item, back = pair
        key, asked = calls.call(self.function, (item,))
        return True, (item, key), (run_keyed, back, asked)


def run_keyed(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, inner, asked = back
    given = calls.run(asked, None, shadows)
    if given is not None:
        d = accumulate(d, given[1])
    calls.run(inner, d, shadows)


def keyed(f: Any, iterator: Any) -> Any:
    """Pairs of ((item, its key), back), of an iterator of pairs."""
    if is_harmless(f):
        return (((item, item if f is None else f(item)), back) for item, back in iterator)
    return Keyed(f, iterator)


def items_of(pairs: Any) -> Any:
    """Pairs of (item, back) again."""
    return ((item, back) for (item, _), back in pairs)


def key_of_pair(pair: tuple[tuple[Any, Any], Any]) -> Any:
    return pair[0][1]


__all__ = ["Keyed", "added", "chosen", "is_harmless", "items_of", "key_of_pair", "keyed", "keys_of", "undo"]
