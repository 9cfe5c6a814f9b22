"""Loops over ranges of known length that are unrolled, because what they do cannot be typed otherwise: a list of closures,
say, that a loop over range(3) fills, or a list of lists.

Which loops have to be is not known beforehand.  So a function is inferred with none of them unrolled first; if that
fails, with the shortest ones, and so on.  A simulation of many steps over a few bodies keeps its loop over the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

from zyg.errors import Unsupported
from zyg.ir.records import field, record

T = TypeVar("T")

TOTAL = 300  # iterations that are unrolled in one function
LIMITS = (4, 8, 16, 32, TOTAL)  # the longest loop that is unrolled, from one attempt to the next


@record(eq=False)
class Unrolling:
    """Which loops are unrolled in this attempt: those of at most `limit` iterations, `left` more in all."""

    limit: int = 0
    left: int = TOTAL
    met: set[int] = field(default_factory=set)  # the lengths of loops that another attempt could unroll
    granted: set[Hashable] = field(default_factory=set)

    def wants(self, length: int, site: Hashable) -> bool:
        """Whether the loop at `site` is unrolled: the same answer when it is evaluated again."""
        if site in self.granted:
            return True
        if length > self.left:
            return False
        if length > self.limit:
            self.met.add(length)
            return False
        self.left -= length
        self.granted.add(site)
        return True

    def next(self) -> Unrolling | None:
        """What to try when this attempt has failed."""
        longer = [n for n in self.met if n > 0]
        return Unrolling(next(n for n in LIMITS if n >= min(longer))) if longer else None


def attempts(infer: Callable[[Unrolling], T]) -> T:
    """The outcome of the first attempt that does not fail; the error of the first one if all do."""
    unrolling: Unrolling | None = Unrolling()
    first: Unsupported | None = None
    while unrolling is not None:
        try:
            return infer(unrolling)
        except Unsupported as error:
            first = first or error
            if error.final:
                break
            unrolling = unrolling.next()
    assert first is not None
    raise first from None
