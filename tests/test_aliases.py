"""A small part of `python -m tests.aliases`: one thing by several names, by every transform."""

from __future__ import annotations

import pytest

from tests.aliases.check import check
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = [each_in_turn, pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")]


@each_in_long_turn
@pytest.mark.parametrize("start", range(0, 18, 3))
def test_no_wrong_number(start):
    wrong: list[str] = []
    count = check(range(start, start + 3), wrong.append)
    assert not wrong, "\n".join(wrong)
    assert count["ok"] + count["refused"] + count["by the object"] >= 16
