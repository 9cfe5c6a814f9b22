"""Functions of the library that are modules of their own: the same in every program, and what fails in them is the program's error."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn
from zyg.backend.llvm import cache, matrixmath, runtime, vectormath
from zyg.backend.llvm.engine import OWN_MATH, _exports, _part_job, engine
from zyg.inspection import compiled

MATRIX = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.3], [0.1, 0.3, 3.0]])


def factored(a):
    return np.sum(np.linalg.cholesky(a + 0j).real)  # (of doubles there are kernels)


def factored_among_others(a):
    if a[0, 0] < 0:
        raise ValueError("below zero")
    first = np.linalg.cholesky(a @ a.T + 0j)
    if first[0, 0].real > 1e6:
        raise OverflowError("too large")
    return np.sum(np.linalg.solve(np.linalg.cholesky(a + 0j), first).real) / a.shape[0]


def kept_by(function):
    return set(compiled(function, (MATRIX,)).native.lowered.kept)


@each_in_turn
def test_the_same_in_every_program():
    one, other = kept_by(factored), kept_by(factored_among_others)
    assert one and one < other
    assert one.issubset(engine().parts)


@each_in_long_turn
def test_equal_operations_on_all_elements_are_a_function_in_them():
    """Copies of lanes are most of what a Hessian does with matrices: each as loops in its place, they are 100 000 lines."""
    stack = np.stack([MATRIX, 2 * MATRIX])
    code = compiled(zyg.grad(lambda a: np.sum(np.linalg.qr(a)[1] ** 3)), (stack,)).native.lowered
    copies = [text.count("\ndefine internal fastcc {i32} @zyg.copyto.each") for text in code.kept.values()]
    calls = [text.count("@zyg.copyto.each") for text in code.kept.values()]
    assert any(few and many > 3 * few for few, many in zip(copies, calls))


def reasons(function, *arguments):
    found = []
    for a in arguments:
        with pytest.raises(Exception) as caught:
            function(a)
        found.append((type(caught.value), str(caught.value)))
    return found


@each_in_turn
@pytest.mark.parametrize("function", [factored, factored_among_others])
def test_errors_are_those_of_the_program(function):
    arguments = -MATRIX, np.array([[1.0, 2.0], [2.0, 1.0]]), MATRIX * 1e7, np.full((2, 3), 2.0)
    expected = reasons(function, *arguments[: 1 if function is factored else 3])
    assert reasons(zyg.jit(function), *arguments[: len(expected)]) == expected
    assert reasons(zyg.grad(function), *arguments[: len(expected)]) == expected


@each_in_turn
def test_values_and_gradients():
    for function in (factored, factored_among_others):
        assert np.isclose(zyg.jit(function)(MATRIX), function(MATRIX), rtol=1e-13)
        zyg.gradcheck(function, MATRIX)


def test_they_are_on_disk(monkeypatch, tmp_path):
    e = engine()
    texts = compiled(factored, (MATRIX,)).native.lowered.kept
    zyg.settle()  # a thread beside the program stores too, what was compiled quickly first
    monkeypatch.setenv("ZYG_CACHE_DIR", str(tmp_path / "kept"))  # empty, whoever compiled them first
    parts = {name: e.parts.pop(name) for name in texts}
    stored = []
    monkeypatch.setattr(cache, "store", lambda name, image: stored.append(name))
    try:
        with e.lock:
            e.library(texts, {})
        assert len(stored) == len(texts)
    finally:
        e.parts |= parts


IN_A_PROCESS = """
import numpy as np
from tests.backend.test_kept import MATRIX, factored, kept_by
from zyg.backend.llvm import cache
from zyg.backend.llvm.engine import engine
stored, loaded = [], []
store, load = cache.store, cache.load_parts
cache.store = lambda name, image: (stored.append(name), store(name, image))
def loading(name):
    parts = load(name)
    if parts is not None:
        loaded.append(name)
    return parts
cache.load_parts = loading
kept = kept_by(factored)
import zyg
assert np.isclose(zyg.jit(factored)(MATRIX), factored(MATRIX), rtol=1e-13)
zyg.gradcheck(factored, MATRIX)
zyg.settle()
print(len(kept), len({*stored}), len({*stored, *loaded}))
"""


@each_in_turn
def test_a_second_process_loads_what_the_first_one_kept(tmp_path):
    def counts():
        environment = os.environ | {"ZYG_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": os.pathsep.join(sys.path)}
        process = subprocess.run(
            [sys.executable, "-c", IN_A_PROCESS], env=environment, capture_output=True, text=True, check=True
        )
        return tuple(map(int, process.stdout.split()))

    kept, stored, used = counts()
    assert 0 < kept <= stored <= used
    assert counts()[:2] == (kept, 0)


REPLACED = """
import ctypes, gc, os
import numpy as np
import zyg
from zyg.backend.llvm.engine import engine

def function(x, y):
    return np.sum(np.cumsum(x, axis=0) ** 2) + np.median(x) * np.sum(np.interp(y, np.sort(y), x[:, 0]) * np.cumprod(y))

x, y = np.random.default_rng(5).normal(size=(7, 3)), np.random.default_rng(6).normal(size=7)
gradient = zyg.grad(function, (0, 1))
first = gradient(x, y)
if os.environ.get("ZYG_TEST_ENDS_AT_ONCE"):
    print(*[a.tobytes() == b.tobytes() for a, b in zip(first, zyg.gradient(function, x, y))])
    os._exit(0)
made = len(engine().unfinished) + len(engine().careful)
zyg.settle()
gc.collect()
filled = [np.full(9, 1e300) for _ in range(10000)]  # where something may have been
again, once_more = gradient(x, y), zyg.gradient(lambda x, y: function(x, y) * 1.0, x, y)
print(made, len(engine().unfinished), len(engine().careful))
print(*[a.tobytes() == b.tobytes() == c.tobytes() for a, b, c in zip(first, again, once_more)])
"""


@each_in_turn
def test_functions_are_replaced_when_they_are_made_with_care(tmp_path):
    def output(**more):
        environment = os.environ | {"ZYG_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)} | more
        process = subprocess.run(
            [sys.executable, "-c", REPLACED], env=environment, capture_output=True, text=True, check=True
        )
        return process.stdout.splitlines()

    assert output(ZYG_TEST_ENDS_AT_ONCE="1") == ["True True"]  # the next one finds what it has made quickly
    counts, same = output()
    made, left, careful = map(int, counts.split())
    assert made == careful > 3 and left == 0 and same == "True True"
    assert output() == ["0 0 0", "True True"]  # all is on disk
    assert output(ZYG_BACKGROUND="0", ZYG_CACHE_DIR=str(tmp_path / "other")) == ["0 0 0", "True True"]


ALL = """
import hashlib
import numpy as np
import zyg

CASES = [
    lambda x, y: np.cumsum(x, axis=0)[-1, 0] * np.cumprod(x, axis=1)[0, 1],
    lambda x, y: np.prod(x, axis=0).sum(),
    lambda x, y: np.sort(x, axis=0)[1, 0] + np.partition(x, 2, axis=0)[2, 1] + np.unique(y)[3],
    lambda x, y: np.sum(np.linalg.lstsq(x, y, rcond=None)[0] ** 2),
    lambda x, y: np.sum(np.interp(y, np.sort(x[:, 0]), x[:, 1])),
    lambda x, y: np.sum(np.roll(x, 1, axis=1) * x) + np.sum(np.pad(y, 2, mode="edge") ** 2),
    lambda x, y: np.sum(np.repeat(y, np.arange(7)) ** 2) + np.sum(x[[0, 2, 2], [1, 0, 1]] ** 2),
    lambda x, y: np.unwrap(3.0 * y)[-1] * np.maximum.accumulate(y)[3] + np.multiply.accumulate(y)[2],
    lambda x, y: np.sum(np.column_stack([x, y, y]) ** 3) + np.sum(np.concatenate([x, x]) ** 2),
    lambda x, y: np.sum(np.quantile(x, [0.3, 0.7], axis=0) ** 2) + np.median(x, axis=1)[2],
    lambda x, y: np.sum(np.cov(x.T) ** 2) + np.corrcoef(x[:, 0], y)[0, 1],
    lambda x, y: np.sum(np.einsum("ij,kj,kl->il", x, x, x) ** 2),
]
x, y = np.random.default_rng(5).normal(size=(7, 3)), np.random.default_rng(6).normal(size=7)
def bits():
    values = [v for f in CASES for v in (zyg.jit(f)(x, y), *zyg.gradient(f, x, y), *zyg.pullback(f, x, y)[1](0.5))]
    return [hashlib.md5(np.asarray(v).tobytes()).hexdigest()[:8] for v in values if v is not None]
first = bits()
zyg.settle()
print(*first)
print(*bits())
"""


@each_in_long_turn
def test_what_is_made_quickly_gives_the_same_bits(tmp_path):
    def output(place, **more):
        environment = (
            os.environ | {"ZYG_CACHE_DIR": str(tmp_path / place), "PYTHONPATH": os.pathsep.join(sys.path)} | more
        )
        process = subprocess.run(
            [sys.executable, "-c", ALL], env=environment, capture_output=True, text=True, check=True
        )
        return process.stdout.splitlines()

    quickly, with_care = output("one")
    assert quickly == with_care
    assert output("one") == [quickly, quickly]
    assert output("other", ZYG_BACKGROUND="0") == [quickly, quickly]


@each_in_turn
def test_no_symbol_is_in_two_parts_which_are_linked_together():
    names = [*runtime.PARTS, *OWN_MATH, *vectormath.NAMES, *matrixmath.NAMES]
    defined = [symbol for name in names for symbol in re.findall(DEFINED, _part_job(name).text, re.MULTILINE)]
    assert len(defined) > len(names) and len(defined) == len(set(defined))
    exported = [symbol for name in names for symbol in _exports(name)]
    assert set(exported) <= set(defined)


@each_in_turn
def test_every_part_is_assembly_that_the_verifier_passes():
    """Most parts reach LLVM only where a program asks for them, and the verifier never: it would cost time at each first call."""
    for name in [*runtime.PARTS, *OWN_MATH, *vectormath.NAMES, *matrixmath.NAMES]:
        parsed = engine().worker.parse(_part_job(name).text)
        parsed.verify()


DEFINED = r"^(?:define (?!internal|private)[^@]*@|@)([\w.]+)(?:\(| = (?!external|internal|private|appending))"


def middle(x):
    return np.median(x) * x[0]


def middle_among_others(x):
    y = np.sort(np.exp(-x * x))
    if y[0] < 0:
        raise ValueError("below zero")
    return np.sum(y * x[::-1]) + np.median(y) * np.median(x - 1.0)


@each_in_turn
def test_statistics_and_their_derivatives_are_the_same_in_every_program():
    x = np.arange(5.0)
    one, other = (set(compiled(zyg.grad(f), (x,)).native.lowered.kept) for f in (middle, middle_among_others))
    assert one and one < other


def named_otherwise(matrix, right):
    ordered = np.sort(right)
    triangle = np.linalg.cholesky(matrix)
    return (
        np.median(ordered)
        + np.quantile(right, 0.3)
        + np.sum(np.linalg.solve(triangle, ordered))
        + np.linalg.svd(matrix)[1][0]
    )


def named_so(a, b):
    if a[0, 0] < 0:
        raise ValueError("below zero")
    x = np.linalg.solve(np.linalg.cholesky(a), b)
    return np.quantile(x, 0.1) + np.linalg.svd(a)[1][1] + np.median(b) + np.sum(np.sort(x) * b)


@each_in_turn
def test_texts_do_not_say_what_programs_call_things():
    one, other = (
        set(compiled(zyg.grad(f, (0, 1)), (MATRIX, np.arange(3.0))).native.lowered.kept)
        for f in (named_otherwise, named_so)
    )
    assert len(one) > 4
    assert one == other
