"""Which values are used behind the end of a block: only these can have a cotangent when the block's reverse begins.

The reverse halves ask for the cotangent of a value where it is used last, mostly, and would go through all blocks behind for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from zyg.ir.core import Block, Const, Value


class UsedLater:
    """Liveness, as bit sets; a value that is neither used nor defined in the blocks is used nowhere.

    The blocks are given last ones first. `passed` gives what a block passes on at its end, `used` what it uses before (and the
    blocks that an exception in it leads to), `defined` its parameters and results, `following` the blocks that come after it.
    """

    def __init__(
        self,
        blocks: list[Block],
        *,
        following: Callable[[Block], Iterable[Block]],
        passed: Callable[[Block], Iterable[Value]],
        used: Callable[[Block], Iterable[Value]],
        defined: Callable[[Block], Iterable[Value]],
    ):
        self._bit_of: dict[Value, int] = {}
        bits_passed = {block: self._bits(passed(block)) for block in blocks}
        bits_used = {block: self._bits(used(block)) for block in blocks}
        others = {block: ~self._bits(defined(block)) for block in blocks}
        after = {block: list(following(block)) for block in blocks}
        self._behind = dict.fromkeys(blocks, 0)  # per block
        at_start = dict.fromkeys(blocks, 0)
        changed = True
        while changed:
            changed = False
            for block in blocks:
                later = bits_passed[block]
                for b in after[block]:
                    later |= at_start[b]
                self._behind[block] = later
                now = (later | bits_used[block]) & others[block]
                if now != at_start[block]:
                    at_start[block] = now
                    changed = True

    def _bits(self, values: Iterable[Value]) -> int:
        result = 0
        for v in values:
            if not isinstance(v, Const):
                result |= 1 << self._bit_of.setdefault(v, len(self._bit_of))
        return result

    def __call__(self, v: Value, block: Block) -> bool:
        """Whether `v` may be used behind the end of `block`."""
        at = self._bit_of.get(v)
        return at is not None and bool(self._behind[block] >> at & 1)
