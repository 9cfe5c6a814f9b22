"""All tests run with the verifier between the stages of the compiler, and draw the same whenever and wherever they run.

`EXPLORE=1 python -m pytest` lets hypothesis draw anew in each run.
"""

import os

import numpy as np
import pytest
from hypothesis import settings

from zyg import pipeline

from .turns import SKIPPED, is_of_another_turn

settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None)
settings.load_profile("explore" if os.environ.get("EXPLORE") else "same")


@pytest.fixture(autouse=True, scope="session")
def verify_after_each_stage():
    before = pipeline.settings.verify
    pipeline.settings.verify = True
    yield
    pipeline.settings.verify = before


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "each_in_turn(days=5): expensive, and run by one of three Pythons, on one of so many days (tests/turns.py)",
    )


def pytest_collection_modifyitems(config, items):
    """Where pytest-xdist hands tests out, those of another turn, most of all, are not among them: to report that each was skipped takes
    longer than most tests do."""
    if hasattr(config, "workerinput"):
        items[:] = [item for item in items if not is_of_another_turn(item)]
    else:
        skip = pytest.mark.skip(reason=SKIPPED)
        for item in items:
            if is_of_another_turn(item):
                item.add_marker(skip)


@pytest.fixture(autouse=True)
def generators_start_anew(request):
    """A generator of a test module gives each test the same numbers, whatever other tests this process ran before."""
    for value in list(vars(getattr(request, "module", None) or object).values()):
        if isinstance(value, np.random.Generator):
            value.bit_generator.state = STATES.setdefault(id(value), (value, value.bit_generator.state))[1]


# By the generator's id: the generator itself and its state when its module had just been loaded.
STATES: dict[int, tuple[np.random.Generator, dict]] = {}


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="golden files: take over what the passes give now")
