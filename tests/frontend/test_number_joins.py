"""Python's numbers that meet NumPy's at a join, which compute to other values: each path as in CPython, or loud."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import zyg

from ..turns import each_in_turn
from .number_joins import alike, cases, elements, judge, program

pytestmark = [each_in_turn, pytest.mark.filterwarnings("ignore")]


def running_best(a: np.ndarray) -> Any:
    best = 0.0
    for v in a:
        if v > 1e9:
            best = v
    return 1e300 * (best + 1)


def product(a: np.ndarray) -> Any:
    m = 1.0
    for v in a:
        if v > 1e9:
            m *= v
    return m * 1e-200 * 1e200


def total(a: np.ndarray) -> Any:
    return sum(v for v in a if v < -1e9) * 1e300 + 16777217


def at_least(a: np.ndarray) -> Any:
    return max(a[2], 99) * 3


def count(a: np.ndarray) -> Any:
    k = 7 if len(a) > 2 else a[0]
    return k * 100000 * 100000


def pick(a: np.ndarray) -> Any:
    h = lambda p: p if p > 2 else 300
    return h(a[0]) * 3


@pytest.mark.parametrize("f", [running_best, product, total, at_least, count, pick])
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8"])
def test_smaller_types_are_kept_apart(f: Any, dtype: str) -> None:
    a = np.array([100, 200, 3], dtype)
    wanted, found = f(a), zyg.jit(f)(a)
    assert type(found) is type(wanted) and alike(found, wanted), (wanted, found)


@pytest.mark.parametrize("turn", range(4))
def test_joins_in_constructs_and_operations(turn: int) -> None:
    """A slice of `python -m tests.frontend.number_joins`, without what is a bug of its own: np.dot of a Python number."""
    with np.errstate(all="ignore"):
        for construct, operation, start, dtype in itertools.islice(cases(), turn * 997, None, 9973):
            for c in (False, True):
                found = judge(program(construct, start, operation), elements(dtype), c)
                assert not found.startswith("wrong") or "np.dot" in operation, (
                    construct,
                    operation,
                    start,
                    dtype,
                    c,
                    found,
                )


def test_an_int_that_meets_int64_does_not_wrap() -> None:
    def f(a: np.ndarray, c: bool) -> Any:
        k = 7 if c else a[0]
        return k * 2**40 * 2**40

    for c in (True, False):
        with pytest.raises(OverflowError):
            zyg.jit(f)(np.array([1, 2, 3]), c)
    assert zyg.jit(lambda a: (7 if len(a) > 2 else a[0]) * a[0])(np.array([1, 2, 3])) == 7


def test_a_float_that_meets_float64_is_not_divided_by_zero() -> None:
    def mean(a: np.ndarray) -> Any:
        s = 0.0
        for v in a:
            s += v
        return s / len(a)

    assert zyg.jit(mean)(np.array([1.0, 4.0])) == 2.5
    with pytest.raises(ZeroDivisionError):
        zyg.jit(mean)(np.zeros(0))


def test_what_depends_on_the_class_is_refused() -> None:
    def f(a: np.ndarray, b: np.ndarray) -> Any:
        s = 0.1
        for v in a:
            s = v
        return s * b

    with pytest.raises(
        zyg.Unsupported, match=r"an operation with a np.float32 of a number that is float on one path and numpy.float64"
    ):
        zyg.jit(f)(np.ones(2), np.ones(2, np.float32))
    assert zyg.jit(f)(np.ones(2), np.ones(2)).tolist() == [1.0, 1.0]


def test_derivatives_of_numbers_of_several_kinds() -> None:
    def squares(x: np.ndarray) -> Any:
        s = 0.0
        for v in x:
            s += v * v
        return s

    def one(x: np.ndarray, c: bool) -> Any:
        return x[0] * x[1] if c else 2.0

    x = np.array([1.5, 2.0, 3.0], np.float32)
    found = zyg.jit(lambda x: zyg.withgradient(squares, x))(x)  # natively
    assert type(found[0]) is np.float32 and found[0] == squares(x)
    assert found[1][0].dtype == np.float32 and found[1][0].tolist() == [3.0, 4.0, 6.0]
    assert zyg.withgradient(squares, x[:0])[0] == 0.0
    assert zyg.grad(one)(x, True).tolist() == [2.0, 1.5, 0.0]
    assert zyg.withgradient(one, x, False)[0] == 2.0 and not zyg.grad(one)(x, False).any()
    value, back = zyg.pullback(squares, x)  # through Python
    assert type(value) is np.float32 and back(1.0)[0].tolist() == [3.0, 4.0, 6.0]


def narrow_or_wide(a: np.ndarray) -> Any:
    q = np.int32(3)
    r = q
    for v in a:
        if r:
            r = q * np.float64(0.5)
        q = max(r, r)
        r = v
    return q


def one_of_four(a: np.ndarray) -> Any:
    p = np.float32(0.5)
    for k in range(len(a)):
        p = (a[k] if k % 2 else p) % (a[0] if a[1] > 1 else np.float64(1.5))
    return p


@pytest.mark.parametrize("f", [narrow_or_wide, one_of_four])
@pytest.mark.parametrize("dtype", ["float32", "int32", "float64"])
def test_choices_of_other_types_meet(f: Any, dtype: str) -> None:
    """(an internal error: choices between as many numbers passed for alike)"""
    a = np.array([2, 3, 1, 5], dtype)
    try:
        found = zyg.jit(f)(a)
    except zyg.Unsupported:  # an operation with a number that is Python's on one path
        return
    assert type(found) in (type(f(a)), float) and alike(found, f(a)), (f(a), found)


SUMS = {
    "a choice among floats": lambda x, n: sum([0.5, min(2.5, x[1])]),
    "two choices": lambda x, n: sum([min(2.5, x[1]), min(0.1, x[0]), 1]),
    "choices of a loop": lambda x, n: sum(min(2.5, v) for v in x),
    "what was lost is added before a NumPy number": lambda x, n: sum([1e16, 1.0, -1e16, x[0]]),
    "... if it is one": lambda x, n: sum([1e16, 1.0, -1e16, x[0] if n > 2 else 1.0]),
    "... but not before an int": lambda x, n: sum([1e16, 1.0, -1e16, n, 1.0, True]),
    "a start": lambda x, n: sum([1.0, -1e16, x[0]], 1e16),
}


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "float64"])
@pytest.mark.parametrize("shown", SUMS)
def test_sums_of_several_types(shown: str, dtype: str, n: int) -> None:
    """(an internal error; and a NumPy number behind floats lost what these had lost to rounding)"""
    f, x = SUMS[shown], np.array([5, 1], dtype)
    wanted, found = f(x, n), zyg.jit(f)(x, n)
    assert type(found) in (type(wanted), float) and found == wanted, (wanted, found)
    slopes = zyg.jit(zyg.grad(f))(x, n)
    assert zyg.gradient(f, x, n)[0] is slopes is None or np.array_equal(zyg.gradient(f, x, n)[0], slopes)
