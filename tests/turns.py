"""Expensive cases are taken in turns: each of three successive Python versions runs a third of them, all three run all.

What is true of every Python alike (a derivative's formula, compiled code against NumPy) and takes long to compile goes by
turns; `EVERY_TURN=1 python -m pytest` runs all cases on one Python.
"""

from __future__ import annotations

import os
import sys
import zlib

import pytest

TURN = sys.version_info[1] % 3
EVERY_TURN = bool(os.environ.get("EVERY_TURN"))

# A mark of a test, or `pytestmark` of a module. By the test's name and parameters, it is one Python's turn (conftest.py reads
# the mark).
each_in_turn = pytest.mark.each_in_turn


def own_third(cases: list[str]) -> list[str]:
    """What of these is this Python's turn, for a test that takes all of them at once."""
    return cases if EVERY_TURN else cases[TURN::3]


def is_of_another_turn(item: pytest.Item) -> bool:
    if EVERY_TURN or item.get_closest_marker("each_in_turn") is None:
        return False
    return zlib.crc32(item.name.encode()) % 3 != TURN


def skip_if_of_another_turn(item: pytest.Item) -> None:
    if is_of_another_turn(item):
        pytest.skip("it is the turn of another Python (EVERY_TURN=1 runs all)")
