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


def test_numpys_constants_wrap_in_bytes() -> None:
    def f(a: np.ndarray, c: bool) -> Any:
        b = a.copy()
        b[0] = c and a[1] or np.int64(300)
        b[1] = np.int64(-1)
        return b

    for c in (False, True):
        assert zyg.jit(f)(np.array([1, 2], np.uint8), c).tolist() == f(np.array([1, 2], np.uint8), c).tolist()


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


def _either(start: str, other: str, operation: str) -> Any:
    namespace: dict[str, Any] = {"np": np}
    body = f"    if c:\n        r = {start}\n    else:\n        r = {other}\n"
    # (Not `return {operation}` at once: CPython 3.13 puts so short an end into both branches, where the number is of one type.)
    exec(f"def f(a, c):\n{body}    y = {operation}\n    return y", namespace)
    return namespace["f"]


UNLIKE = [  # what an int and a float, a bool and an int, a float and a complex number do not have alike
    ("3", "2.5", ["r + np.int32(3)", "np.uint8(3) * r", "np.array([1, 2]) * r", "np.array([1, 2], np.int32) - r", "np.int64(7) // r",
                  "np.array([2, 0]) ** r", "np.power(r, 2)", "np.maximum(np.uint8(3), r)", "np.where(a > 2, r, 1)", "a[r]", "np.invert(r)",
                  "np.clip(np.array([1, 2]), 0, r)", "np.array([7, 0]) // r", "np.add(r, np.int32(1))"]),
    ("True", "3", ["a[r]", "np.array([True, False]) * r", "a[r, r]"]),
    ("True", "np.float64(2.5)", ["np.hypot(r, np.float32(0.1))", "np.ones(2, np.float32) * r", "np.float32(2) + r"]),
    ("2.5", "1j", ["a * r", "np.add(r, a)", "np.ones(2, np.float32) * r", "np.float64(r)", "np.where(a > 2, r, 0.5)", "np.hypot(r, a)"]),
    ("3", "2.5j", ["np.array([1, 2]) + r", "r * np.int32(2)", "np.full(2, 1.5, np.float32) + r", "np.float32(r)"]),
]  # fmt: skip
ALIKE = [
    ("3", "2.5", ["a * r", "a[0] - r", "r / np.int32(2)", "np.array([1, 2]) / r", "a > r", "np.abs(r) + 0.5", "np.maximum(r, 0) * 1.5", "np.sqrt(r)",
                  "np.int64(4) * r", "r + np.float32(2)", "np.ones(2, np.float32) * r", "np.array([1, 2]) == r", "np.hypot(r, 2.0)", "a ** r"]),
    ("3", "np.float64(2.5)", ["a * r", "np.negative(r) * a", "np.array([1, 2]) / r"]),
    ("2.5", "1j", ["(r * a[0] + 2j) * a", "np.abs(r) * a", "r * np.array([1j, 2])"]),
    ("0", "1j", ["(r * a[0] + a[1]) * 1j", "r + np.array([1j, 2])"]),
    ("True", "3", ["a * r", "np.array([1, 2]) * r", "np.int64(2) * r"]),
]  # fmt: skip


@pytest.mark.parametrize(("start", "other", "operation"), [(s, o, op) for s, o, ops in UNLIKE for op in ops])
def test_what_comes_out_otherwise_is_refused(start: str, other: str, operation: str) -> None:
    """(became values of other types, and other values)"""
    f = _either(start, other, operation)
    with pytest.raises(zyg.Unsupported, match=r"of a number that is .* on one path and .* on another|complex64"):
        zyg.jit(f)(np.array([5.0, 1.0, 2.0, 3.0]), True)


@pytest.mark.parametrize(("start", "other", "operation"), [(s, o, op) for s, o, ops in ALIKE for op in ops])
def test_what_comes_out_alike_is_native(start: str, other: str, operation: str) -> None:
    f, a = _either(start, other, operation), np.array([5.0, 1.0])
    for c in (True, False):
        wanted, found = f(a, c), zyg.jit(f)(a, c)
        assert np.array_equal(wanted, found) and getattr(found, "dtype", None) in (getattr(wanted, "dtype", None), None)


def test_what_is_refused_has_a_gradient() -> None:
    f = _either("3", "a[0] / 2", "np.sum(np.array([1, 2]) * r) * a[1]")
    assert zyg.gradient(f, np.array([5.0, 4.0]), True)[0].tolist() == [0.0, 9.0]
    assert zyg.gradient(f, np.array([5.0, 4.0]), False)[0].tolist() == [6.0, 7.5]


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
    if shown == "choices of a loop" and dtype in ("int32", "uint8"):
        with pytest.raises(zyg.Unsupported, match=r"an operation with a np\.(int32|uint8) of a number that is float"):
            zyg.jit(f)(x, n)
        return
    wanted, found = f(x, n), zyg.jit(f)(x, n)
    assert type(found) in (type(wanted), float) and found == wanted, (wanted, found)
    slopes = zyg.jit(zyg.grad(f))(x, n)
    assert zyg.gradient(f, x, n)[0] is slopes is None or np.array_equal(zyg.gradient(f, x, n)[0], slopes)
