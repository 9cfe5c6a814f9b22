"""Derivatives by arrays of integers are those by floats of the same values: reductions, conversions between integers, powers, and a
slice of all cases (the whole: `python -m tests.arrays --what integers`)."""

from __future__ import annotations

import contextlib
import sys

import numpy as np
import pytest

import zyg
from zyg.autodiff.objects.api import pullback

from ..turns import by_one_python_a_day, each_in_long_turn, each_in_turn
from . import integers
from .cases import CASES

VALUES = np.array([[2.0, 3.0, 1.0], [4.0, 0.0, 5.0]])


def extremes(x):
    along = np.max(x, axis=1, keepdims=True) * np.array([[2.0], [3.0]])
    return np.ptp(x[0]) * x.min() + np.sum(along) + np.max(x, initial=9) + np.max(x, where=x > 2, initial=0) * 7.0


def softmax(x):
    raised = np.exp(x[0] - np.maximum.reduce(x[0]))
    return np.sum(raised / np.sum(raised) * np.arange(3.0))


def products(x):
    each = np.prod(x[:, :2], axis=0) * np.array([1.0, 2.0])
    return np.sum(each) + np.prod(x[0], initial=2) * 1.0 + np.sum(np.multiply.reduceat(x[0], [0, 1]) * x[1, 2])


def widened(x):
    total = np.sum(x[0] * x[0]) * 0.5 + np.average(x[1], weights=x[0])
    wide, narrow = (np.int64, np.int32) if x.dtype.kind == "i" else (np.float64, np.float64)
    both = np.cumsum(x[0]) * np.cumprod(x[1]) + x[0].astype(wide) * x[1].astype(narrow)
    return total + np.sum(both) * 1.0 + x[0].tolist()[1] * x[1, 0].item() * 1.0 + np.sum(x + np.arange(3)) * 1.0


def powers(x):
    return (
        np.sum(2 ** x[1]) + np.sum(x[0] ** x[0]) * 1.5 + x[0, 1] ** x[1, 0] * 1.0 + np.sum(np.power(x[1], x[0])) * 1.0
    )


def rounded(x):
    whole = np.floor(x) + np.round(x) + np.ceil(x) + np.trunc(x) + np.fix(x) + np.round(x, -1)
    return np.sum(whole * x * 1.0)


@each_in_long_turn
@pytest.mark.parametrize("dtype", ["int64", "int32"])
@pytest.mark.parametrize("f", [extremes, softmax, products, widened, powers, rounded])
def test_by_integers_as_by_floats(f, dtype):
    wanted = zyg.gradient(f, VALUES)[0]
    of = lambda: VALUES.astype(dtype)
    assert np.allclose(zyg.gradient(f, of())[0], wanted, rtol=1e-12)
    assert np.allclose(pullback(f, (of(),))[1](1.0)[0], wanted, rtol=1e-12)
    direction = np.array([[0.5, -1.0, 2.0], [1.0, 0.25, -2.0]])
    assert np.isclose(zyg.jvp(f, (of(),), (direction,))[1], np.sum(wanted * direction), rtol=1e-12)


@each_in_turn
def test_second_derivatives_by_integers():
    f = lambda x: np.prod(x) * np.max(x) + np.sum(2**x)
    x, v = np.array([1, 3, 2]), np.array([1.0, 0.5, -2.0])
    wanted = zyg.hessian(f, x * 1.0)
    assert np.allclose(zyg.hessian(f, x), wanted, rtol=1e-12)
    assert np.allclose(zyg.hvp(f, x, v), wanted @ v, rtol=1e-12)


def test_by_ints():
    for f, *at in (
        (lambda n: 2**n * 1.0, 3),
        (lambda n, m: n**m * 1.0, 3, 2),
        (lambda a, b: np.max([a, b]) * 1.0, 3, 5),
    ):
        wanted = zyg.gradient(f, *map(float, at))
        assert zyg.gradient(f, *at) == pytest.approx(wanted, rel=1e-12)
        assert pullback(f, tuple(at))[1](1.0) == pytest.approx(wanted, rel=1e-12)
        assert zyg.jvp(f, tuple(at), (1.0,) * len(at))[1] == pytest.approx(sum(wanted), rel=1e-12)


def test_what_is_an_integer_by_nature_is_constant():
    import math

    f = lambda n, x: int(n) + math.floor(n) + round(n) + n // 2 + (x > 1).sum() + x.astype(np.int32)[0] + 0.0
    for n in (3, 3.0):
        assert (
            zyg.gradient(f, n, np.array([1.5, 2.5])) == pullback(f, (n, np.array([1.5, 2.5])))[1](1.0) == (None, None)
        )


WITH_DERIVATIVES = [c for c in CASES if c.derivative]
NATIVE, THROUGH_PYTHON = 2, 12


def picked(count, back_end):
    rng = np.random.default_rng([sys.version_info[1], count])
    return [(WITH_DERIVATIVES[int(i)], back_end) for i in rng.choice(len(WITH_DERIVATIVES), count, replace=False)]


@by_one_python_a_day
@pytest.mark.parametrize(
    "cases", [picked(NATIVE, "natively"), picked(THROUGH_PYTHON, "through Python")], ids=["natively", "python"]
)
def test_cases(cases):
    for n, (case, back_end) in enumerate(cases):
        with contextlib.suppress(integers.Refusal):
            dtype = integers.DTYPES[n % 3]
            assert not list(integers.mismatches(case, np.random.default_rng(n), dtype, back_end))
