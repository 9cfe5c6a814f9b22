"""Machine code kept on disk: found again by another process, never trusted blindly."""

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import zyg
from zyg.backend.llvm import cache, engine, runtime

from ..turns import each_in_turn

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("ZYG_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_entries_are_read_back(place):
    name = cache.key("define ...", "cpu")
    assert cache.load(name) is None
    cache.store(name, b"code")
    assert cache.load(name) == b"code"
    assert [entry.name for entry in place.iterdir()] == [name]
    assert cache.key("define ...", "other cpu") != name != cache.key("define ....", "cpu")
    assert cache.key("a", "bc") != cache.key("ab", "c")


def test_a_damaged_entry_is_ignored(place):
    name = cache.key("x")
    cache.store(name, b"code" * 100)
    path = place / name
    whole = path.read_bytes()
    for content in (b"", whole[:-1], whole[:20] + b"!" + whole[21:], b"zyg object 0\n" + whole[13:]):
        path.write_bytes(content)
        assert cache.load(name) is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="POSIX permissions")
def test_a_directory_that_others_can_write_is_not_used(place):
    name = cache.key("x")
    cache.store(name, b"code")
    place.chmod(0o777)
    assert cache.load(name) is None
    cache.store(cache.key("y"), b"code")
    assert len(list(place.iterdir())) == 1


def test_a_directory_that_cannot_be_made_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ZYG_CACHE_DIR", str(tmp_path / "file" / "cache"))
    cache.store(cache.key("x"), b"code")
    assert cache.load(cache.key("x")) is None
    assert zyg.jit(lambda x: x + 1.0, cache=True)(1.0) == 2.0


def test_the_oldest_entries_go(place, monkeypatch):
    monkeypatch.setattr(cache, "MAX_ENTRIES", 8)
    for n in range(9):
        cache.store(cache.key(str(n)), b"code")
        os.utime(place / cache.key(str(n)), (n, n))
    cache.store(cache.key("last"), b"code")
    left = {entry.name for entry in place.iterdir()}
    assert cache.key("0") not in left and cache.key("last") in left and len(left) <= 8


SCRIPT = """
import math, zyg
from zyg.backend.llvm import engine
parsed = []
real = engine.Worker.optimise
engine.Worker.optimise = lambda self, module, *rest: (parsed.append(1), real(self, module, *rest))[1]
before = None
@zyg.jit(cache=True)
def f(x, a):
    return 5 * math.sin(math.log(x)) + a[1]
import numpy as np
engine.engine().part("callables")
zyg.jit(lambda x, a: x + a[0])(1.0, np.ones(2))
count = len(parsed)
print(f(3.0, np.ones(2)), len(parsed) - count)
"""


@each_in_turn
def test_another_process_finds_the_code(place):
    def run():
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        result = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=environment)
        assert result.returncode == 0, result.stderr
        value, optimised = result.stdout.split()
        assert float(value) == 5 * math.sin(math.log(3.0)) + 1.0
        return int(optimised)

    assert run() > 0
    assert run() == 0
    for entry in place.iterdir():
        entry.write_bytes(b"rubbish")
    assert run() > 0
    assert run() == 0


def test_without_the_option_nothing_of_the_program_is_written(place):
    def entries():
        return sorted(place.iterdir()) if place.exists() else []

    assert zyg.jit(lambda x: x * 2.0)(1.0) == 2.0  # what zyg itself needs for such a function is there now
    before = entries()
    assert zyg.jit(lambda x: x * 3.0)(1.0) == 3.0
    assert entries() == before


@pytest.mark.each_in_turn
@pytest.mark.parametrize("part", ["pulls", "zyg_rows"])
def test_what_is_the_same_for_every_program_is_kept(place, part):
    first = engine.Engine()
    assert not first.is_kept(part)
    assert all(first.part(part)[name] for name in runtime.PARTS.get(part, (part,)))
    before = {entry: entry.stat().st_ino for entry in place.iterdir()}
    again = engine.Engine()
    assert again.is_kept(part) and again.part(part)[runtime.PARTS.get(part, (part,))[0]]
    assert {entry: entry.stat().st_ino for entry in place.iterdir()} == before


def test_parts_without_a_directory(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ZYG_CACHE_DIR", str(tmp_path / "file" / "cache"))
    fresh = engine.Engine()
    assert fresh.part("zyg_rows")["zyg_rows"] and not engine.Engine().is_kept("zyg_rows")
