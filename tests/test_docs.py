"""The documentation says what is the case."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.turns import by_one_python_a_day

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["ir.md", "architecture.md", "python.md"])
def test_what_is_generated_is_current(name):
    if name != "ir.md" and sys.version_info[:2] != (3, 11):
        pytest.skip("shows the stages and the library of Python 3.11")
    text = (ROOT / "docs" / name).read_text()
    assert text == generator().page(text, machine=False), "run: python docs/generate.py"


@by_one_python_a_day
def test_the_table_of_numpys_functions_is_current():
    pytest.importorskip("scipy")
    if sys.version_info[:2] != (3, 11):
        pytest.skip("shows the signatures of the NumPy for Python 3.11")
    text = (ROOT / "docs" / "numpy.md").read_text()
    assert text == generator().page(text), "run: python docs/generate.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([\w./:-]+)(?:#[\w-]+)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_files_that_are_named_exist(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for name in re.findall(r"`((?:zyg|tests|docs|benchmarks)/[\w/]+\.\w+)`", text):
        assert (ROOT / name).exists(), name


def test_decisions_are_numbered_without_gaps():
    numbers = [int(page.name[:4]) for page in sorted((ROOT / "docs" / "decisions").glob("*.md"))]
    assert numbers == list(range(1, len(numbers) + 1))
