"""Memory: nothing grows, nothing is freed too early."""

import gc
import json
import math
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

from .memory import growth, linux, resident
from .oracles import dual

ROOT = Path(__file__).resolve().parent.parent


def loop(x, n):
    for _ in range(n):
        x = math.sin(x) + 0.1
    return x


def array_work(a):
    b = a.copy()
    for i in range(len(a)):
        b[i] *= b[i - 1]
    return b


@each_in_turn
@linux
def test_a_million_calls_do_not_grow():
    value = zyg.jit(loop)
    slope = zyg.grad(loop)
    made = zyg.jit(array_work)
    a = np.ones(3)

    def work(times):
        for _ in range(times // 4):
            value(0.5, 3)
            slope(0.5, 3)
            made(a)
            zyg.gradient(loop, 0.5, 2)

    assert growth(work, 40_000, 1_000_000) < 1 << 20


@each_in_turn
@linux
def test_compilations_do_not_grow():
    """In a process of its own, where malloc serves Python's objects too: a thousand take less than a megabyte."""
    # A window is a multiple of what a linker and a pass builder serve for.
    measures = "lambda: np.array([resident(), allocated()])"
    code = f"""if True:
        import numpy as np
        from tests.memory import allocated, growth, resident
        from tests.test_memory import compile_many
        growth(compile_many, 96, 384, {measures})
        """
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONMALLOC": "malloc"},
                         capture_output=True, text=True, check=True)  # fmt: skip
    pages, bytes_held = np.array(json.loads(run.stdout)).T
    assert min(pages) * 1000 / 96 < 1 << 20, pages
    assert min(bytes_held) * 1000 / 96 < 1 << 19, bytes_held


def compile_many(times):
    source = "def f(x, n):\n    for _ in range(n):\n        x = x * {} + 0.5\n    return x\n"
    for i in range(times):
        scope: dict = {}
        exec(source.format(1 + i / 1000), scope)
        if i % 10 == 0:
            zyg.grad(scope["f"])(0.5, 3)
        else:
            zyg.jit(scope["f"])(0.5, 3)


@linux
def test_new_lambdas_of_one_code_object_do_not_compile_again():
    def work(times):
        for i in range(times):
            zyg.gradient(lambda x, i=i: x * i, 2.0)

    assert growth(work, 2_000, 50_000) < 1 << 20


@each_in_turn
@linux
def test_a_tape_is_freed_when_an_exception_leaves():
    def f(x, n):
        for i in range(n):
            x = math.sin(x) + 0.1
            if i == n - 1:
                raise ValueError("stopped")
        return x

    def work(times):
        for _ in range(times):
            with pytest.raises(ValueError, match="stopped"):
                zyg.gradient(f, 0.5, 100_000)  # 800 kB of tape

    assert growth(work, 20, 300) < 1 << 20


@linux
def test_arrays_are_freed_when_an_exception_leaves():
    def f(n):
        total = 0.0
        for i in range(n):
            a = np.zeros(10_000)
            a[i] = 1.0
            total += a[i]
            if i == n - 1:
                a[10_000] = 1.0
        return total

    compiled = zyg.jit(f)

    def work(times):
        for _ in range(times):
            with pytest.raises(IndexError):
                compiled(5)

    assert growth(work, 50, 500) < 1 << 20


@each_in_turn
@linux
def test_arrays_made_in_a_loop_are_freed_when_dead():
    def f(x, n):
        total = 0.0
        for i in range(n):
            a = np.zeros(100_000)
            a[i] = x
            total += a[i]
        return total

    compiled = zyg.jit(f)
    compiled(1.0, 10)
    before = resident()
    assert compiled(1.0, 2_000) == 2_000.0  # 1.6 GB if none were freed
    assert resident() - before < 4 << 20


@each_in_turn
@linux
def test_pullbacks_are_freed():
    def work(times):
        for _ in range(times):
            _, back = zyg.pullback(loop, 0.5, 20_000)
            back(1.0)

    assert growth(work, 50, 1_000) < 1 << 20


def test_it_works_with_another_allocator_of_python():
    """malloc instead of Python's own, with the hooks that overwrite what is freed and check what is written around a block."""
    code = """if True:
        import numpy as np, zyg
        def f(x, a):
            total = complex(x, 1.0)
            for i in range(len(a)):
                a[i] *= x
                total = total * a[i] + 1j
            return abs(total)
        print(zyg.gradient(f, 0.5, np.ones(3))[0])
        twice = zyg.jit(lambda n: (np.zeros(n), np.ones(n)[1:]))
        for n in (0, 1, 3):
            kept = [twice(n) for _ in range(50)]  # more than NumPy keeps for reuse
        """
    run = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONMALLOC": "malloc_debug"},
                         cwd=ROOT, capture_output=True, text=True, check=True)  # fmt: skip
    step = 1e-20

    def f(x):  # |total|^2 by hand, its derivative by the complex step
        re, im = x, 1.0
        for _ in range(3):
            re, im = re * x, im * x + 1.0
        return (re * re + im * im) ** 0.5

    assert float(run.stdout) == pytest.approx(f(complex(0.5, step)).imag / step, rel=1e-12)


def test_a_pullback_outlives_its_arguments():
    def f(a, b):
        total = 0.0
        for i in range(len(a)):
            total += a[i] * a[i] * b[i]
        return total

    a, b = np.arange(1000.0), np.ones(1000) * 3
    _, back = zyg.pullback(f, a, b)
    expected = 2 * a * b, a * a
    del a, b
    gc.collect()
    ballast = [np.full(1000, 7.0) for _ in range(100)]
    da, db = back(1.0)
    np.testing.assert_array_equal(da, expected[0])
    np.testing.assert_array_equal(db, expected[1])
    da2, _ = back(0.5)
    np.testing.assert_array_equal(da2, 0.5 * expected[0])
    assert len(ballast) == 100


class Keeper:
    def __init__(self):
        self.back = None


def into_an_object(x, keeper):
    y, back = zyg.pullback(array_work, x)
    keeper.back = back
    return y.sum()


def on_one_path(x, other):
    back = zyg.pullback(array_work, x)[1]
    after = zyg.pullback(array_work, 2.0 * x)[1]
    return (after if other else None), back


@each_in_turn
def test_pullbacks_outlive_a_call_wherever_they_go():
    x, ones = np.linspace(0.0, 1.0, 50), np.ones(50)
    expected = zyg.pullback(array_work, x)[1](ones)[0]
    store, give = zyg.jit(into_an_object), zyg.jit(on_one_path)
    keepers = [Keeper() for _ in range(3)]
    for keeper in keepers:
        store(x, keeper)
    pairs = [give(x, other) for other in (False, True, False)]
    assert [pair[0] is None for pair in pairs] == [True, False, True]
    gc.collect()
    for _ in range(20):
        store(ones, Keeper())
        give(ones, False)
    for back in [*(keeper.back for keeper in keepers), *(pair[1] for pair in pairs)]:
        np.testing.assert_array_equal(back(ones)[0], expected)


def test_a_pullback_outlives_its_function():
    def make():
        def f(x):
            return math.sin(x) * x

        return zyg.pullback(f, 0.5)[1], weakref.ref(f)

    back, _ = make()
    gc.collect()
    assert back(1.0)[0] == pytest.approx(math.sin(0.5) + 0.5 * math.cos(0.5), rel=1e-15)


def test_results_outlive_the_call():
    compiled = zyg.jit(array_work)
    results = [compiled(np.full(4, float(i))) for i in range(100)]
    for i, result in enumerate(results):
        np.testing.assert_array_equal(result, array_work(np.full(4, float(i))))
        result[0] = -1.0  # owned and writable


def test_a_returned_view_keeps_its_array():
    def f(n):
        a = np.zeros(n)
        for i in range(n):
            a[i] = i
        return a[2:]

    views = [zyg.jit(f)(50) for _ in range(20)]
    gc.collect()
    ballast = [np.full(50, 9.0) for _ in range(50)]
    assert all(view.tolist() == list(range(2, 50)) for view in views)
    assert ballast


@pytest.mark.parametrize(
    ("array", "part"),
    [
        (np.array([True, False, True]), slice(1, None)),
        (np.zeros(0), slice(None, None, -1)),
        (np.arange(3), slice(0, 2)),
    ],
)
def test_a_part_is_returned_before_the_whole(array, part):
    compiled = zyg.jit(lambda a: (lambda b: (b[part], b))(a.copy()))
    shown, whole = compiled(array)
    assert (shown.dtype, whole.dtype) == (array.dtype, array.dtype)
    assert (shown.tolist(), whole.tolist()) == (array[part].tolist(), array.tolist())
    assert np.shares_memory(shown, whole) == bool(array.size)


def test_a_returned_argument_is_the_argument():
    def f(a):
        a[0] += 1.0
        return a

    a = np.zeros(3)
    before = sys.getrefcount(a)
    result = zyg.jit(f)(a)
    assert result is a or result.base is a or np.shares_memory(result, a)
    assert a[0] == 1.0
    del result
    assert sys.getrefcount(a) == before


def test_references_are_balanced():
    compiled = zyg.jit(loop)
    x, n = 0.123456, 123_456_789_000
    zero = 10**12  # not one of the small ints
    args = x, zero
    before = [sys.getrefcount(arg) for arg in args]
    short = zyg.jit(lambda x, n: x + n)
    for _ in range(1000):
        short(x, zero)
        with pytest.raises(TypeError):
            compiled(x)
    assert [sys.getrefcount(arg) for arg in args] == before
    assert n


def test_gradients_from_many_threads():
    expected = dual.gradient(loop, 0.3, 500)[0]
    failures: list[object] = []

    def work():
        for _ in range(200):
            got = zyg.gradient(loop, 0.3, 500)[0]
            if abs(got - expected) > 1e-12:
                failures.append(got)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_pullbacks_cross_threads():
    backs: list = []
    made = threading.Thread(target=lambda: backs.extend(zyg.pullback(loop, 0.3 + i, 1000)[1] for i in range(20)))
    made.start()
    made.join()  # the thread that owned the arena is gone
    for i, back in enumerate(backs):
        assert back(1.0)[0] == pytest.approx(dual.gradient(loop, 0.3 + i, 1000)[0], rel=1e-12)
    results: list[float] = []
    used = threading.Thread(target=lambda: results.extend(back(2.0)[0] for back in backs))
    used.start()
    used.join()
    assert results == [2 * back(1.0)[0] for back in backs]


def test_deep_recursion_raises_and_does_not_crash():
    def f(x, n):
        return x if n == 0 else 0.5 * f(x, n - 1) + 1.0

    with pytest.raises(RecursionError):
        zyg.jit(f)(1.0, 10**8)
    with pytest.raises(RecursionError):
        zyg.gradient(f, 1.0, 10**8)
    assert zyg.gradient(f, 1.0, 10) == (0.5**10, None)


def test_too_much_memory_raises():
    def f(n):
        return np.zeros(n)[0]

    with pytest.raises(MemoryError):
        zyg.jit(f)(1 << 50)
