"""Mark what takes no time beside what is around it: `rare` polls, reserves and rewinds are calls of the runtime.

Input: a module after polls.  Output: where a loop calls functions, makes arrays or goes through whole ones in each iteration,
such operations in it carry attrs["rare"]; outside of loops, where the function makes arrays or goes through them.  They are
small then rather than fast: written out, each of them is ten to thirty lines that LLVM optimises.

Invariant: values do not change.
"""

from __future__ import annotations

from ..analysis import Loop, Loops
from ..core import CALLING, Block, Function
from ..counters import walks_array

_MARKED = frozenset({"poll", "reserve", "rewind"})


def run(function: Function) -> bool:
    found = [(block, instr) for block, instr in function.instructions() if instr.op in _MARKED]
    if not found:
        return False
    loops = Loops(function)
    busy: dict[Loop | None, bool] = {}
    changed = False
    for block, instr in found:
        loop = loops.of.get(block)
        # The strips of a loop: there is nothing in them but the loop, and a poll.
        while loop is not None and any(latch.terminator.attrs.get("strip") for latch in loop.latches):
            loop = loop.parent
        if loop not in busy:
            busy[loop] = _is_busy([b for b in function.blocks if loops.of.get(b) is loop], loop is not None)
        if busy[loop] and not instr.attrs.get("rare"):
            instr.attrs = {**instr.attrs, "rare": True}
            changed = True
    return changed


def _is_busy(blocks: list[Block], calls: bool) -> bool:
    """Whether much is done there; `calls` are much in a loop, but a function that only calls others may be a small one."""
    return any(walks_array(i) or calls and i.op in CALLING for block in blocks for i in block.instrs)
