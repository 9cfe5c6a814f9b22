"""Loops over ranges of known length that are unrolled, because what they do cannot be typed otherwise: a list of closures,
say, that a loop over range(3) fills, or a list of lists.

Which loops have to be is not known beforehand.  So a function is inferred with none of them unrolled first; if that
fails, with the shortest ones, and so on.  A simulation of many steps over a few bodies keeps its loop over the steps.

An attempt with long loops takes seconds.  Mostly it fails for something that has nothing to do with them, a set, say: so such
loops are tried first with a few iterations, and what is refused then is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

from zyg.errors import Unsupported
from zyg.ir.records import field, record

T = TypeVar("T")

TOTAL = 300  # iterations that are unrolled in one function
LIMITS = (4, 8, 16, 32, TOTAL)  # the longest loop that is unrolled, from one attempt to the next
MERGED = (
    60_000  # fields that are looked at until it is given up: some seconds; eight times what any everyday program takes
)
SOME = 8  # iterations of a long loop that tell whether it can be unrolled at all


@record(eq=False)
class Unrolling:
    """Which loops are unrolled in this attempt: those of at most `limit` iterations, `left` more in all."""

    limit: int = 0
    left: int = TOTAL
    some: bool = False  # no more than the first iterations
    met: set[int] = field(default_factory=set)  # the lengths of loops that another attempt could unroll
    granted: set[Hashable] = field(default_factory=set)
    merged: int = 0  # fields of objects, so far, that were looked at where blocks begin

    def wants(self, length: int, site: Hashable) -> bool:
        """Whether the loop at `site` is unrolled: the same answer when it is evaluated again."""
        if site in self.granted:
            return True
        if length > self.left:
            return False
        if length > self.limit:
            self.met.add(length)
            return False
        self.left -= min(length, SOME) if self.some else length
        self.granted.add(site)
        return True

    def is_spent(self, edges: int, heap: Mapping[Hashable, Any]) -> bool:
        """Whether too much has been looked at, now that a block with so many edges begins with these objects: a list that grows in an
        unrolled loop of many branches is looked at anew at each of them, and again by all that comes behind; so is a generator that goes on
        from any of many places."""
        self.merged += edges * sum(len(made.fields) for made in heap.values())
        return self.merged > MERGED

    def next(self) -> Unrolling | None:
        """What to try when this attempt has failed."""
        longer = [n for n in self.met if n > 0]
        if not longer:
            return None
        limit = next(n for n in LIMITS if n >= min(longer))
        return Unrolling(limit, some=limit == TOTAL)


def attempts(infer: Callable[[Unrolling], T]) -> T:
    """The outcome of the first attempt that does not fail; the error of the first one if all do."""
    unrolling: Unrolling | None = Unrolling()
    first: Unsupported | None = None
    while unrolling is not None:
        try:
            found = infer(unrolling)
            if not unrolling.some:
                return found
            unrolling = Unrolling(unrolling.limit)
        except Unsupported as error:
            first = first or error
            if error.final:
                break
            unrolling = unrolling.next()
    assert first is not None
    raise first from None
