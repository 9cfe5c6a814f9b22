"""SSA is the same for every Python: these tests go by turns."""

from pathlib import Path

from tests.turns import each_in_turn


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(each_in_turn)
