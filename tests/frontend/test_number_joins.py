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
