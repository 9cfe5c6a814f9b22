"""What is known of objects of the program, by their identity: as long as it is true, and no longer than they live.

* `ByIdentity`: tables about objects that can be referred to weakly (code objects). An entry goes with its object, which nothing
  in the entry may hold.
* Tables that compiled code looks into hold what they are about: classes, functions. What is there for good, since it is found
  under its name in its module, stays in them. The rest is passing: it is taken out again when a pullback has been made.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Iterator
from typing import Any, TypeVar

from zyg.ir.plainly import own_attributes

Item = TypeVar("Item")

_MANY = 1000  # references to what is gone, which are swept together


class ByIdentity(dict[int, Any]):
    """Entries by the identity of an object, which go with it."""

    def __init__(self) -> None:
        super().__init__()
        self._references: dict[int, Any] = {}

    def of(self, x: Any) -> Any:
        """What is known of `x`, None if nothing is."""
        return self.get(id(x))

    def note(self, x: Any, value: Any) -> None:
        """Let `value` be what is known of `x`."""
        key = id(x)
        known = self._references.get(key)
        if known is None or known() is not x:
            # The callback is C code, which no signal interrupts: an entry that outlived its object would be found for the next
            # one that lies there. (The reference that it is called with is the default of pop.)
            self._references[key] = weakref.ref(x, functools.partial(self.pop, key))
            if len(self._references) > 2 * len(self) + _MANY:
                self._references = {k: r for k, r in list(self._references.items()) if r() is not None}
        self[key] = value


def lasts(x: Any) -> bool:
    """Whether a class or function is what is found under its name in its module (or part of that: a getter, a static method).

    >>> lasts(ByIdentity), lasts(ByIdentity.note), lasts(lambda: None)
    (True, True, False)
    """
    if isinstance(x, type) and not x.__flags__ & _HEAP_TYPE:
        return True  # some of which are found nowhere
    if "<locals>" in x.__qualname__:
        return False
    held: Any = sys.modules.get(x.__module__ or "")
    for part in x.__qualname__.split("."):
        held = (own_attributes(held) or {}).get(part)
    return held is x or any(getattr(held, name, None) is x for name in _PARTS)


_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_PARTS = ("fget", "fset", "fdel", "__func__", "__wrapped__")
_passing: list[tuple[Any, Any]] = []


def note(table: Any, key: Any, about: tuple[Any, ...], value: Any = None) -> bool:
    """Put `key` (with `value`) into a set (or dict); what it is `about` tells for how long. Whether it is there for good."""
    if isinstance(table, set):
        table.add(key)
    else:
        table[key] = value
    for x in about:
        if "<locals>" in x.__qualname__ or not lasts(x):  # (most do not for this reason)
            _passing.append((table, key))
            return False
    return True


def taken_out(items: list[Item]) -> Iterator[Item]:
    """The items of a list that several threads empty and fill, each for one of them."""
    while items:
        try:
            item = items.pop()
        except IndexError:  # another one has the last
            return
        yield item


def let_go() -> None:
    """Take out what is passing. (What another thread needs of it, it finds again.)"""
    for table, key in taken_out(_passing):
        if isinstance(table, set):
            table.discard(key)
        else:
            table.pop(key, None)


__all__ = ["ByIdentity", "lasts", "let_go", "note", "taken_out"]
