"""Whose turn a case is."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from tests import turns


def item(name: str, *marks: pytest.MarkDecorator) -> Any:
    return SimpleNamespace(name=name, iter_markers=lambda kind: (m.mark for m in marks if m.name == kind))


@pytest.mark.parametrize(
    "marks, days",
    [
        ([turns.by_one_python_a_day], 1),
        ([turns.each_in_turn], 5),
        ([turns.each_in_long_turn], 15),
        ([turns.each_in_long_turn, turns.each_in_turn], 15),  # a function, and its module
        ([turns.by_one_python_a_day, turns.each_in_turn], 5),
    ],
)
def test_in_so_many_days_a_python_runs_each_case_and_another_the_next_time(
    marks: list[Any], days: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "EVERY_TURN", False)
    whose: Counter[tuple[int, int]] = Counter()
    begin, count = 20010, 900
    assert begin % days == 0
    for name in (f"test_it[{n}]" for n in range(count)):
        own = []
        for day in range(begin, begin + 3 * days):
            for turn in range(3):
                monkeypatch.setattr(turns, "TURN", turn)
                monkeypatch.setattr(turns, "DAY", day)
                if not turns.is_of_another_turn(item(name, *marks)):
                    own.append((day, turn))
        assert [(day - begin) // days for day, _ in own] == [0, 1, 2]
        assert {turn for _, turn in own} == {0, 1, 2}
        whose.update(own)
    assert len(whose) == 9 * days and min(whose.values()) > 0.3 * count / (3 * days)
    monkeypatch.setattr(turns, "EVERY_TURN", True)
    assert not turns.is_of_another_turn(item("test_it", *marks))


def test_what_has_no_mark_is_run_each_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "EVERY_TURN", False)
    assert not turns.is_of_another_turn(item("test_it"))


def test_in_three_days_a_python_takes_all_thirds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "EVERY_TURN", False)
    taken = []
    for day in range(3):
        monkeypatch.setattr(turns, "DAY", day)
        taken += turns.own_third(["a", "b", "c", "d"])
    assert sorted(taken) == ["a", "b", "c", "d"]
