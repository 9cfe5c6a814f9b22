"""Expensive cases are taken in turns: each of three successive Python versions runs a third of them, all three run all.

What is true of every Python alike (a derivative's formula, compiled code against NumPy) and takes long to compile goes by
turns; `EVERY_TURN=1 python -m pytest` runs all cases on one Python.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Sequence
from typing import TypeVar

import pytest

T = TypeVar("T")

TURN = sys.version_info[1] % 3


def in_turn(cases: Sequence[T]) -> list[T]:
    """The cases of this Python's turn: every third one, from 0 on for 3.12, 1 for 3.13, 2 for 3.11."""
    return list(cases if os.environ.get("EVERY_TURN") else cases[TURN::3])


def one_of_three(turn: int) -> pytest.MarkDecorator:
    """A single expensive test that one Python has in its turn: 0 for 3.12, 1 for 3.13, 2 for 3.11."""
    skipped = turn != TURN and not os.environ.get("EVERY_TURN")
    return pytest.mark.skipif(skipped, reason="it is the turn of another Python (EVERY_TURN=1 runs all)")


# For a module, `pytestmark = each_in_turn`: one Python runs each of its tests, by the test's name.
each_in_turn = pytest.mark.usefixtures("own_turn")


def skip_unless_own_turn(name: str) -> None:
    if zlib.crc32(name.encode()) % 3 != TURN and not os.environ.get("EVERY_TURN"):
        pytest.skip("it is the turn of another Python (EVERY_TURN=1 runs all)")
