"""The documentation says what is the case."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_the_op_table_is_current():
    spec = importlib.util.spec_from_file_location("op_table", ROOT / "docs" / "op_table.py")
    assert spec and spec.loader
    op_table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(op_table)
    text = op_table.PAGE.read_text()
    assert text == op_table.page(text), "run: python docs/op_table.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
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
