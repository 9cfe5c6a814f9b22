"""Random programs about lists of objects: native code gives what CPython gives, or refuses (`python -m tests.containers.objects` draws more)."""

from __future__ import annotations

import sys

from ..turns import each_in_turn
from . import objects

pytestmark = each_in_turn


def test_random_programs() -> None:
    counts = objects.search(25, seed=500 * sys.version_info.minor)
    assert counts["native"] and counts["refused"]
