"""Expensive cases are taken in turns: each of three successive Python versions runs a third of them, all three run all.

What is true of every Python alike (a derivative's formula, compiled code against NumPy) and takes long to compile goes by
turns, each every third day; what takes longest every fifth day. Fifteen days run all. `EVERY_TURN=1 python -m pytest` runs all cases on one
Python.
"""

from __future__ import annotations

import os
import sys
import time
import zlib

import pytest

TURN = sys.version_info[1] % 3
EVERY_TURN = bool(os.environ.get("EVERY_TURN"))
# In the environment it is the same for all processes of a run, past midnight too; ZYG_TESTS_DAY=0 to 14 runs what a certain day does.
DAY = int(os.environ.setdefault("ZYG_TESTS_DAY", str(int(time.time()) // 86400)))

# A mark of a test, or `pytestmark` of a module. By the test's name and parameters, it is one Python's turn, every third day
# (conftest.py reads the mark).
each_in_turn = pytest.mark.each_in_turn
# What takes a second and more is, beside that, every fifth day's turn.
each_in_long_turn = pytest.mark.each_in_turn(days=5)


def own_third(cases: list[str]) -> list[str]:
    """What of these is this Python's turn, for a test that takes all of them at once."""
    return cases if EVERY_TURN else cases[TURN::3]


def is_of_another_turn(item: pytest.Item) -> bool:
    days = [mark.kwargs.get("days", 3) for mark in item.iter_markers("each_in_turn")]
    if EVERY_TURN or not days:
        return False
    number = zlib.crc32(item.name.encode())
    return number % 3 != TURN or (number // 3 + DAY) % max(days) != 0


def skip_if_of_another_turn(item: pytest.Item) -> None:
    if is_of_another_turn(item):
        pytest.skip("it is the turn of another Python, or day (EVERY_TURN=1 runs all)")
