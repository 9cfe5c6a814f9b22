"""Waiting for code that is made with care beside the program (backend/llvm/tiers.py)."""

from __future__ import annotations

import sys


def settle() -> None:
    """Wait until all that was compiled is as fast as it will be.

    Code of a long program on whole arrays is there twice: at once, to give its first results soon, and some tenths of a second later
    with registers chosen carefully, by a thread beside the program. The results are the same to the last bit. Call this before
    you measure how long calls take.

    >>> import zyg
    >>> zyg.settle()
    """
    background = sys.modules.get("zyg.backend.llvm.background")
    if background is not None:
        background.background.settle()


__all__ = ["settle"]
