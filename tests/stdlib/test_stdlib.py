"""A slice of the standard library: decoded and verified here, emitted and tested by its own tests in a subprocess,
each module on one Python in its turn.

The whole of it: `python -m tests.stdlib.decode`; any module: `python -m tests.stdlib.emitted <name>`.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.turns import by_one_python_a_day, each_in_turn, own_third

from .decode import decode, modules

ROOT = Path(__file__).parents[2]

# Modules emitted and run by their own tests, and tests of the language that are emitted themselves.
MODULES = ["textwrap", "json", "heapq", "bisect", "difflib", "fractions", "string", "colorsys"]
LANGUAGE = [
    "grammar", "with", "except_star", "exception_group", "generators", "contextlib", "listcomps", "unpack_ex", "scope",
    "super", "raise", "named_expressions", "augassign", "extcall", "keywordonlyarg", "dictcomps", "genexps",
]  # fmt: skip

needs_tests = pytest.mark.skipif(
    importlib.util.find_spec("test.test_grammar") is None, reason="this Python comes without the package `test`"
)


@by_one_python_a_day
def test_decoding():
    paths = modules(["json/", "email/message", "decimal", "typing", "dataclasses", "argparse"])
    reports: list[object] = []
    total, failed = decode(paths, reports.append)
    assert total["function"] > 500
    assert failed["function"] <= 0.01 * total["function"], reports
    assert not failed["generator"] and not failed["class or module"], reports


@each_in_turn
@needs_tests
@pytest.mark.parametrize("name", MODULES)
def test_emitted_module_passes_its_tests(name):
    run(name)


@needs_tests
def test_emitted_tests_of_the_language_pass():
    names = [f"test.test_{name}" for name in own_third(LANGUAGE)]
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    assert not missing, f"this Python comes with a part of the package `test`, without {missing}"
    run(*names)


def run(*names: str) -> None:
    """In a process of its own: modules that were replaced stay so."""
    command = [sys.executable, "-m", "tests.stdlib.emitted", *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-5000:]
    assert " 0 failed" in done.stdout or "not here" in done.stdout
