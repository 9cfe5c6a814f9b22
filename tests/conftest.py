"""All tests run with the verifier between the stages of the compiler."""

import pytest

from zyg import pipeline


@pytest.fixture(autouse=True, scope="session")
def verify_after_each_stage():
    before = pipeline.settings.verify
    pipeline.settings.verify = True
    yield
    pipeline.settings.verify = before


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="golden files: take over what the passes give now")
