"""Where the runtime and compiled code find what they share: offsets in structures, sizes, kinds."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from ... import cpython as layout


class CTX:
    """Offsets in the context."""

    top = 0  # arena: next free byte, end of the block, the block
    end = 8
    block = 16
    arrays = 24  # list of headers
    headers = 32  # free headers
    work = 40  # since the last look at the clock
    thread = 48  # the saved PyThreadState while the GIL is released
    stack_limit = 56
    kept = 64  # list of (next, object) that live as long as the call
    first_block = 72  # if not 0: no block from the pool, this size for the first (the memory will escape)
    poll_start = 80
    cache = 88  # released arrays by size
    chunks = 152  # dropped chunks of stacks by size
    large = 248  # dropped chunks that are larger than those
    zeroed = 256  # so far everything starts as 0
    error = 256  # values for an error's message
    error_slots = 16
    size = 384


class HEADER:
    """Offsets in the header of an array's memory."""

    count = 0
    next = 8
    previous = 16
    data = 24
    bytes = 32
    object = 40  # the ndarray that owns the data since Python has seen them (a counted reference)
    pin = 48  # a weak reference to it: NumPy does not resize an array that has one
    size = 64


class SAVED:
    """Offsets in what the capsule of a pullback points to."""

    layout = 0
    blocks = 8
    arrays = 16
    kept = 24
    parent = 32
    leaves = 64


class CALLABLE:
    """Offsets in an instance of the callable type."""

    vectorcall = layout.OB_HEAD
    record = layout.OB_HEAD + 8
    dispatcher = layout.OB_HEAD + 16
    dict = layout.OB_HEAD + 24
    weakrefs = layout.OB_HEAD + 32
    entries = layout.OB_HEAD + 40  # what the chain of records belongs to
    size = layout.OB_HEAD + 48


class RECORD:
    """Offsets in the record of an entry: what native code needs to know of one specialisation of one callable."""

    code = 0  # ptr (self, args, nargsf, kwnames, record)
    next = 8  # the record to try on a miss
    watch_count = 16
    watch = 24  # (address, expected word) pairs
    guard_count = 32
    guards = 40  # (kind, object, name, expected, place) five words each
    inputs = 48  # objects of the hidden inputs
    parameter_count = 56
    positional_count = 64
    positional_only = 72
    names = 80
    defaults = 88
    size = 96


class GUARD:
    """Kinds of guards."""

    word = 0  # the word at `object` is `expected`
    name = 1  # dict `object` has `name`: `expected`, or anything if null; it is stored at `place` if that is not null
    absent = 2  # dict `object` does not have `name`
    size = 40


POOL_BYTES = 1 << 30  # what the pool keeps at most, unless the machine has little memory
POOLED = 1 << 16  # bytes from which on blocks come from the pool
IDLE = 10  # seconds after which they leave it
SHELVED = 512  # bytes from which on smaller ones lie on shelves, aligned to cache lines
SHELVES = (POOLED >> 6) + 1
FIRST_SHELF = SHELVED >> 6
SHELF_BYTES = 1 << 20
BLOCK_BYTES = 1 << 16
LARGE_BLOCK = 1 << 22  # from here on blocks are aligned and advised for huge pages
LARGEST_BLOCK = 1 << 26
SMALLEST_CHUNK = 9  # log2
LARGEST_CHUNK = 20
CHUNK_HEADER = 32  # begin, top and end of the chunk before; log2 of its size, or its size if it is a large one
POLL_WORK = 1 << 14  # in iterations of innermost loops, between looks at the clock
HOLD_NS = 5_000_000  # the GIL is given up after this time
AWAY_NS = 50_000_000  # and taken back for a look at signals so often
STACK_MARGIN = 1 << 18
LINUX = sys.platform.startswith("linux")
USABLE_SIZE = "malloc_usable_size" if LINUX else "malloc_size"
MADV_HUGEPAGE = 14
MADV_FREE = 8 if LINUX else 5
COARSE_CLOCK = 6  # of the C library: ticks will do

_C = {f"C_{k}": v for k, v in vars(CTX).items() if isinstance(v, int)}
_NAMES = {
    **_C,
    **{f"H_{k}": v for k, v in vars(HEADER).items() if isinstance(v, int)},
    **{f"S_{k}": v for k, v in vars(SAVED).items() if isinstance(v, int)},
    **{f"J_{k}": v for k, v in vars(CALLABLE).items() if isinstance(v, int)},
    **{f"R_{k}": v for k, v in vars(RECORD).items() if isinstance(v, int)},
    **{f"G_{k}": v for k, v in vars(GUARD).items() if isinstance(v, int)},
    **{k: v for k, v in vars(layout).items() if k.isupper() and isinstance(v, int)},
    **{k: v for k, v in globals().copy().items() if k.isupper() and isinstance(v, int | str)},
}

# Where a context keeps the released arrays of a size.
BUCKET = """
define internal ptr @bucket(ptr %ctx, i64 %bytes) {
  %blocks = lshr i64 %bytes, 6
  %high = lshr i64 %bytes, 9
  %mixed = xor i64 %blocks, %high
  %number = and i64 %mixed, 7
  %base = getelementptr i8, ptr %ctx, i64 $C_cache
  %at = getelementptr ptr, ptr %base, i64 %number
  ret ptr %at
}
"""


def fill(template: str, own: Mapping[str, int] | None = None) -> str:
    """Replace $NAME by what it stands for, by names of a template's own, too."""
    names = {**_NAMES, **(own or {})}
    return re.sub(r"\$(\w+)", lambda match: str(names[match[1]]), template)
