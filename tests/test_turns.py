"""Whose turn a case is."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from tests import turns


def item(name: str, *marks: pytest.MarkDecorator) -> Any:
    return SimpleNamespace(name=name, iter_markers=lambda kind: (m.mark for m in marks if m.name == kind))


@pytest.mark.parametrize(
    "marks, runs",
    [
        ([], 45),
        ([turns.each_in_turn], 5),
        ([turns.each_in_long_turn], 3),
        ([turns.each_in_long_turn, turns.each_in_turn], 3),  # a function, and its module
    ],
)
def test_in_fifteen_days_three_pythons_run_each_case(
    marks: list[Any], runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "EVERY_TURN", False)
    whose: Counter[tuple[int, int]] = Counter()
    for name in (f"test_it[{n}]" for n in range(900)):
        own = []
        for turn in range(3):
            for day in range(20010, 20025):
                monkeypatch.setattr(turns, "TURN", turn)
                monkeypatch.setattr(turns, "DAY", day)
                if not turns.is_of_another_turn(item(name, *marks)):
                    own.append((turn, day))
        assert len(own) == runs and (runs == 45 or len({turn for turn, _ in own}) == 1)
        whose.update(own)
    assert len(whose) == 45 and min(whose.values()) > 0.6 * 900 * runs / 45
    monkeypatch.setattr(turns, "EVERY_TURN", True)
    assert not turns.is_of_another_turn(item("test_it", *marks))
