"""Expensive cases are taken in turns: each of three successive Python versions runs some of them.

What is true of every Python alike (a derivative's formula, compiled code against NumPy) and takes long to compile is run by one Python, each
case every fifth day; what takes longest every fifteenth day, and the next time by another Python. What may differ between Pythons and takes
long is run by one of them each day, by all three in three days. Fifteen days run all. `EVERY_TURN=1 python -m pytest` runs all cases on one Python.
"""

from __future__ import annotations

import os
import sys
import time
import zlib

import pytest

TURN = sys.version_info[1] % 3
EVERY_TURN = bool(os.environ.get("EVERY_TURN"))
# In the environment it is the same for all processes of a run, past midnight too; ZYG_TESTS_DAY=0 to 44 runs what a certain day does.
DAY = int(os.environ.setdefault("ZYG_TESTS_DAY", str(int(time.time()) // 86400)))

# A mark of a test, or `pytestmark` of a module. By the test's name and parameters, it is one Python's turn, every fifth day
# (conftest.py reads the mark).
each_in_turn = pytest.mark.each_in_turn
# What takes a second and more is, beside that, every fifteenth day's turn.
each_in_long_turn = pytest.mark.each_in_turn(days=15)
# What depends on the Python is run by another one each day.
by_one_python_a_day = pytest.mark.each_in_turn(days=1)


def own_third(cases: list[str]) -> list[str]:
    """What of these is this Python's turn, for a test that takes all of them at once."""
    return cases if EVERY_TURN else cases[(TURN + DAY) % 3 :: 3]


def is_of_another_turn(item: pytest.Item) -> bool:
    days = max((mark.kwargs.get("days", 5) for mark in item.iter_markers("each_in_turn")), default=0)
    if EVERY_TURN or not days:
        return False
    number = zlib.crc32(item.name.encode())
    time, day = divmod(DAY, days)  # one day of so many, another Python the next time
    return (number + time) % 3 != TURN or (number // 3 + day) % days != 0


SKIPPED = "it is the turn of another Python, or day (EVERY_TURN=1 runs all)"
