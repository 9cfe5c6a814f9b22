"""Large blocks of memory are kept between calls, within a limit."""

import ctypes
import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn
from zyg.backend.llvm.engine import engine, pool_limit

from .memory import linux, resident

SLACK = 24 << 20  # what else may come to be resident in a process that runs many tests, far below what is measured
MEGABYTE = 1 << 17  # doubles


@pytest.fixture(scope="module")
def made():
    compiled = zyg.jit(lambda n, x: np.zeros(n) + x)
    compiled(3, 1.0)
    return compiled


@pytest.fixture
def small_pool() -> Iterator[int]:
    limit = ctypes.c_int64.from_address(engine().part("memory")["zyg_pool_limit"])
    before, limit.value = limit.value, 8 << 20
    yield limit.value
    limit.value = before


def test_what_a_result_was_in_holds_the_next_one(made):
    first = made(MEGABYTE, 1.0)
    second = made(MEGABYTE, 2.0)
    assert first.flags.owndata
    assert first.base is None
    assert not np.shares_memory(first, second)
    places = {first.ctypes.data, second.ctypes.data}
    del first, second
    third, fourth = made(MEGABYTE, 3.0), made(MEGABYTE, 4.0)
    assert {third.ctypes.data, fourth.ctypes.data} & places
    assert np.all(third == 3.0)
    assert np.all(fourth == 4.0)


def test_zeros_are_zeros_again():
    zeros = zyg.jit(lambda n: np.zeros(n))
    for _ in range(3):
        a = zeros(MEGABYTE)
        assert not a.any()
        a[:] = 7.0
        del a


def test_results_can_be_resized(made):
    for length in (MEGABYTE, 10 * MEGABYTE):
        a = made(length, 1.0)
        a.resize(2 * length, refcheck=False)
        assert a.sum() == length
        a.resize(10, refcheck=False)
        assert a.tolist() == [1.0] * 10
        a.resize(length, refcheck=False)
        assert a.sum() == 10.0


def test_small_ones_have_shelves(made):
    places = set()
    for k in range(200):
        a = made(1000, float(k))
        assert a.ctypes.data % 64 == 0 and np.all(a == k)
        places.add(a.ctypes.data)
        del a
    assert len(places) < 10
    kept = [made(n, 1.0) for n in range(60, 8300, 97) for _ in range(3)]  # more than the shelves hold
    assert all(np.all(a == 1.0) for a in kept)
    for a in kept[::2]:
        a.resize(len(a) + 50, refcheck=False)
    del kept
    assert np.all(made(1000, 2.0) == 2.0)
    zeros = zyg.jit(lambda n: np.zeros(n))
    assert not any(zeros(n).any() for n in range(60, 8300, 97))


@pytest.mark.parametrize("length", [100, 20_000])
def test_threads_share_it(made, length):
    wrong: list[float] = []

    def work(x: float) -> None:
        for k in range(50):
            a = made(length + length // 200 * k, x)
            if a.sum() != x * len(a):
                wrong.append(x)

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@each_in_turn
@linux
def test_it_keeps_no_more_than_the_limit(made, small_pool):
    made(MEGABYTE, 1.0)
    before = resident()
    results = [made(MEGABYTE, 1.0) for _ in range(100)]
    assert resident() - before > 90 << 20
    del results
    gc.collect()
    assert resident() - before < small_pool + SLACK
    made(60 * MEGABYTE, 1.0)  # larger than what is kept
    assert resident() - before < small_pool + SLACK


@each_in_turn
@linux
def test_sizes_that_never_come_again_do_not_stay(made, small_pool):
    made(MEGABYTE, 1.0)
    before = resident()
    for k in range(300):
        made(MEGABYTE // 4 + 997 * k, 1.0)
    assert resident() - before < small_pool + SLACK


@each_in_turn
@linux
def test_what_lies_idle_is_freed(made):
    """When something else is given back; blocks say themselves when they came."""
    held = made(64 * MEGABYTE, 1.0)
    block = held.ctypes.data
    del held
    before = resident()
    came = ctypes.c_int64.from_address(block + 16)
    assert came.value > 0
    came.value -= 3600
    deadline = time.monotonic() + 5.0
    while resident() - before > -(48 << 20) and time.monotonic() < deadline:
        made(MEGABYTE, 1.0)  # the pool looks once a second
        time.sleep(0.05)
    assert resident() - before < -(48 << 20)


@each_in_turn
@linux
def test_what_is_full_is_emptied(made, small_pool):
    """Blocks that fit into it, until there are too many of them: all go, and are asked of the system anew."""
    before = resident()
    for _ in range(4):
        results = [made(MEGABYTE, float(k)) for k in range(20)]
        assert all(np.all(a == float(k)) for k, a in enumerate(results))
        del results
        assert resident() - before < small_pool + SLACK


FORKS = """
import os, signal, threading
import numpy as np
import zyg

def churn(n, rounds):
    total = 0.0
    for k in range(rounds):
        total += np.zeros(n + k)[k]
    return total

allocating = zyg.jit(churn, nogil=True)
allocating(20_000, 2)
over = []

def allocate():
    while not over:
        allocating(20_000, 2_000)

def compile():
    while not over:
        zyg.jit(lambda x: x * len(over))(1.0)

threads = [threading.Thread(target={0}) for _ in range(2)]
for thread in threads:
    thread.start()
failed = 0
for _ in range({1}):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit({2})
    failed += os.waitpid(child, 0)[1] != 0
over.append(True)
for thread in threads:
    thread.join()
print(failed, "failed")
"""
FORKED = [
    ("allocate", 50, "allocating(20_000, 3) != 0.0"),
    ("compile", 4, "zyg.jit(lambda x: x + 1.0)(1.0) != 2.0"),
]


@each_in_turn
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
@pytest.mark.parametrize("meanwhile, times, check", FORKED, ids=[meanwhile for meanwhile, _, _ in FORKED])
def test_a_fork_while_other_threads_are_at_it(meanwhile, times, check):
    """The child finds the pool open, and can compile."""
    assert run_alone("-W", "ignore::DeprecationWarning", "-c", FORKS.format(meanwhile, times, check)) == "0 failed"


def test_the_limit_can_be_set(monkeypatch):
    assert 0 < pool_limit() <= 1 << 30
    monkeypatch.setenv("ZYG_POOL_BYTES", "12345678")
    assert pool_limit() == 12345678


@each_in_long_turn
def test_arrays_that_outlive_the_interpreter():
    """Freed at the very end, when modules are gone."""
    code = "import sys, numpy as np, zyg; sys.kept = [zyg.jit(lambda n: np.zeros(n) + 1.0)(100_000) for _ in range(2)]"
    assert run_alone("-c", code) == ""


def run_alone(*arguments: str) -> str:
    """What an interpreter of its own prints."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
    run = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=True)
    assert run.stderr == ""
    return run.stdout.strip()
