"""The kernel for products of matrices in reverse parts, against NumPy."""

import ctypes

import numpy as np
import pytest

import zyg
from zyg.backend.llvm import matrixmath
from zyg.backend.llvm.engine import engine

pytestmark = pytest.mark.skipif(not matrixmath.available(), reason="for vectors of 512 bits")
draw = np.random.default_rng(3)


def guarded(rows, columns):
    """A matrix within a larger one, whose other elements are nan."""
    whole = np.full((rows + 2, columns + 3), np.nan)
    inner = whole[1 : rows + 1, 1 : columns + 1]
    inner[...] = draw.normal(size=(rows, columns))
    return whole, inner


def test_it_adds_products_and_touches_nothing_else():
    matrix = [ctypes.c_void_p, ctypes.c_int64]
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3, *matrix * 3)(engine().part("zyg_add_dots")["zyg_add_dots"])
    for n in (0, 1, 2, 3, 4, 5, 9, 18):
        for m in (0, 1, 2, 3, 4, 6, 15, 16, 17, 35):
            for length in (0, 1, 7, 8, 9, 64, 511, 512, 513, 1030):
                (_, a), (_, b), (whole, c) = guarded(n, length), guarded(m, length), guarded(n, m)
                before, expected = whole.copy(), c + a @ b.T
                given = [x for v in (a, b, c) for x in (v.ctypes.data, v.strides[0] // 8)]
                function(n, m, length, *given)
                np.testing.assert_allclose(c, expected, rtol=1e-11, atol=1e-11)
                before[1 : n + 1, 1 : m + 1] = c
                assert np.array_equal(whole, before, equal_nan=True)


def test_gradients_of_products_take_it():
    loss = lambda a, b, w: np.vdot(a @ b, w)
    by_factors = zyg.grad(loss, (0, 1))
    for n, k, m in ((3, 5, 200), (40, 33, 129), (130, 7, 20), (1, 90, 90), (200, 200, 70)):
        a, b, w = draw.normal(size=(n, k)), draw.normal(size=(k, m)), draw.normal(size=(n, m))
        for given in (a, np.asfortranarray(a)):
            by_a, by_b = by_factors(given, b, w)
            np.testing.assert_allclose(by_a, w @ b.T, rtol=1e-11, atol=1e-11)
            np.testing.assert_allclose(by_b, given.T @ w, rtol=1e-11, atol=1e-11)
    assert "zyg_add_dots" in str(zyg.code_llvm(by_factors, a, b, w, raw=True))
