"""SSA is the same for every Python: these tests go by turns."""

import os

from tests.turns import each_in_turn


def pytest_collection_modifyitems(items):
    here = os.path.dirname(__file__) + os.sep
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(each_in_turn)
