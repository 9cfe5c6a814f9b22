"""How much memory the process takes, and whether something makes it grow."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

WINDOWS = 4  # of a measurement
PAGE = os.sysconf("SC_PAGESIZE") if hasattr(os, "sysconf") else 4096
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def resident() -> int:
    """Bytes of this process that are in memory, after what can be given back has been given back."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * PAGE


class MallocInfo(ctypes.Structure):
    """What glibc's mallinfo2 tells."""

    _fields_ = [(name, ctypes.c_size_t) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]  # fmt: skip


def allocated() -> int:
    """Bytes that malloc has given out, to the byte, where the C library tells."""
    tell = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if tell is None:
        return 0
    gc.collect()
    tell.restype = MallocInfo
    told = tell()
    return told.uordblks + told.hblkhd


def growth(work: Callable[[int], object], warm_up: int, times: int, measure: Callable[[], Any] = resident) -> Any:
    """What `times` calls take, by the least that one of several windows took: what leaks grows in each of them; pages
    that the allocators keep, and what is collected later, do not."""
    taken = []
    gc.collect()
    # So that the collections to come do not go through all that was made before. (It stays frozen: to unfreeze it would let in
    # what conftest.py left out.)
    gc.freeze()
    work(warm_up)
    for _ in range(WINDOWS):
        before = measure()
        work(times // WINDOWS)
        taken.append(measure() - before)
    print([np.asarray(one).tolist() for one in taken])
    return WINDOWS * np.min(taken, axis=0)
