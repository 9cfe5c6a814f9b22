"""Kernels for products of matrices, and for places of numbers, against NumPy."""

import ctypes
import math
from fractions import Fraction

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn
from zyg.backend.llvm import matrixmath
from zyg.backend.llvm.engine import engine
from zyg.library import blas, kernels

wide = pytest.mark.skipif(not matrixmath.available(), reason="this machine has no AVX-512, for which the kernel is")
draw = np.random.default_rng(3)


def guarded(rows, columns):
    """A matrix within a larger one, whose other elements are nan."""
    whole = np.full((rows + 2, columns + 3), np.nan)
    inner = whole[1 : rows + 1, 1 : columns + 1]
    inner[...] = draw.normal(size=(rows, columns))
    return whole, inner


@each_in_turn
def test_products_of_few_elements_in_any_order():
    matrix = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
    types = [ctypes.c_int64] * 3 + matrix * 3 + [ctypes.c_int64]
    function = ctypes.CFUNCTYPE(None, *types)(engine().part("zyg_rows")["zyg_rows"])
    orders = (lambda v: v, lambda v: np.asfortranarray(v), lambda v: np.repeat(v, 2, axis=1)[:, ::2], lambda v: v[::-1])
    for n, m, length in np.ndindex(4, 10, 5):
        whole, c = guarded(n, m)
        for k, order in enumerate(orders):
            a, b = order(draw.normal(size=(n, length))), orders[(n + k) % 4](draw.normal(size=(length, m)))
            for target in (c, np.full((m, n), np.nan).T):
                for adds in (0, 1):
                    if adds == 0:
                        target[...] = np.nan
                    before, expected = whole.copy(), (target if adds else 0.0) + a @ b
                    function(n, m, length, *(x for v in (a, b, target) for x in (v.ctypes.data, *v.strides)), adds)
                    np.testing.assert_allclose(target, expected, rtol=1e-12, atol=1e-12)
                    before[1 : n + 1, 1 : m + 1] = c
                    assert np.array_equal(whole, before, equal_nan=True)


@each_in_turn
@wide
def test_products_are_set_or_added_and_nothing_else_is_touched():
    types = [ctypes.c_int64] * 3 + [ctypes.c_void_p, *[ctypes.c_int64] * 2] + [ctypes.c_void_p, ctypes.c_int64] * 2
    function = ctypes.CFUNCTYPE(None, *types, ctypes.c_int64)(engine().part("zyg_product")["zyg_product"])
    for n in (0, 1, 4, 5, 6, 7, 8, 12, 13, 19):
        for m in (0, 1, 7, 8, 9, 31, 32, 33, 70):
            for length in (1, 2, 65, 255, 256, 257, 520):
                (_, a), (_, b), (whole, c) = guarded(n, length), guarded(length, m), guarded(n, m)
                if (n + m) % 2:
                    a = np.asfortranarray(a)
                for adds in (0, 1):
                    before, expected = whole.copy(), adds * c + a @ b
                    steps = [s // 8 for s in a.strides]
                    given = [x for v in (b, c) for x in (v.ctypes.data, v.strides[0] // 8)]
                    function(n, m, length, a.ctypes.data, *steps, *given, adds)
                    np.testing.assert_allclose(c, expected, rtol=1e-11, atol=1e-11)
                    before[1 : n + 1, 1 : m + 1] = c
                    assert np.array_equal(whole, before, equal_nan=True)


@each_in_turn
@pytest.mark.skipif(not blas.AVAILABLE, reason="there is no BLAS that can be called")
def test_products_of_any_size_in_any_order():
    matrix = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
    types = [ctypes.c_int64] * 3 + matrix * 3 + [ctypes.c_int64]
    name = f"zyg_matmul_{blas.provider().bits}"
    function = ctypes.CFUNCTYPE(None, *types)(engine().part(name)[name])

    def orders(rows, columns):
        whole = draw.normal(size=(2 * rows + 1, 2 * columns + 1))
        fields = np.zeros((rows, columns), dtype=[("before", "i4"), ("x", "f8")])
        fields["x"] = whole[:rows, :columns]
        yield from (whole[1 : rows + 1, :columns].copy(), np.array(whole[:rows, :columns], order="F"))
        yield from (whole[: 2 * rows : 2, : 2 * columns : 2], whole[:rows, :columns][::-1], fields["x"])
        yield from (
            np.broadcast_to(whole[0, :columns], (rows, columns)),
            np.broadcast_to(whole[:rows, :1], (rows, columns)),
        )

    for n, length, m in (
        (0, 3, 2),
        (3, 0, 2),
        (6, 6, 6),
        (7, 7, 7),
        (1, 300, 1),
        (300, 1, 1),
        (5, 50, 13),
        (9, 200, 140),
    ):
        for a in orders(n, length):
            for b in orders(length, m):
                whole, c = guarded(n, m)
                for target in (c, np.zeros((m, n)).T, np.zeros((2 * n, 2 * m))[::2, ::2]):
                    for adds in (0, 1):
                        before, expected = whole.copy(), adds * target + a @ b
                        function(n, m, length, *(x for v in (a, b, target) for x in (v.ctypes.data, *v.strides)), adds)
                        np.testing.assert_allclose(target, expected, rtol=1e-11, atol=1e-11)
                        before[1 : n + 1, 1 : m + 1] = c
                        assert np.array_equal(whole, before, equal_nan=True)


@each_in_turn
@pytest.mark.skipif(not blas.AVAILABLE, reason="there is no BLAS that can be called")
def test_products_of_a_matrix_and_a_vector_in_any_order():
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    types = [number, number, pointer, number, number, pointer, number, pointer, number, number]
    name = f"zyg_matvec_{blas.provider().bits}"
    function = ctypes.CFUNCTYPE(None, *types)(engine().part(name)[name])

    def matrices(rows, columns):
        whole = draw.normal(size=(2 * rows + 1, 2 * columns + 1))
        fields = np.zeros((rows, columns), dtype=[("before", "i4"), ("x", "f8")])
        fields["x"] = whole[:rows, :columns]
        yield from (whole[1 : rows + 1, :columns].copy(), np.array(whole[:rows, :columns], order="F"))
        yield from (whole[: 2 * rows : 2, : 2 * columns : 2], whole[:rows, :columns][::-1], fields["x"])
        yield from (
            whole[1 : rows + 1, :columns],
            whole.T[:columns, :rows].T,
            np.broadcast_to(whole[0, :columns], (rows, columns)),
            np.broadcast_to(whole[:rows, :1], (rows, columns)),
        )

    def vectors(length):
        whole = draw.normal(size=2 * length + 1)
        fields = np.zeros(length, dtype=[("before", "i4"), ("x", "f8")])
        fields["x"] = whole[:length]
        yield from (whole[:length], whole[: 2 * length : 2], whole[:length][::-1], fields["x"])
        yield np.broadcast_to(whole[0], (length,))

    for n, length in ((0, 3), (3, 0), (1, 1), (6, 6), (8, 8), (1, 300), (300, 1), (5, 50), (70, 7)):
        for a in matrices(n, length):
            for x in vectors(length):
                targets = [np.zeros(n + 2)[1:-1], np.zeros(2 * n)[::2], np.zeros(n)[::-1]]
                for y in targets:
                    y[...] = draw.normal(size=n)
                    for adds in (0, 1):
                        around = None if y.base is None else y.base.copy()
                        expected = adds * y + a @ x
                        function(n, length, *(v for w in (a, x, y) for v in (w.ctypes.data, *w.strides)), adds)
                        np.testing.assert_allclose(y, expected, rtol=1e-11, atol=1e-11)
                        if around is not None and n:
                            changed = np.zeros(len(around), bool)
                            step = y.strides[0] // 8
                            first = (y.ctypes.data - y.base.ctypes.data) // 8
                            changed[[first + k * step for k in range(n)]] = True
                            assert np.array_equal(y.base[~changed], around[~changed])


@each_in_turn
@pytest.mark.skipif(not blas.AVAILABLE, reason="there is no BLAS that can be called")
def test_products_with_vectors_are_numpys_to_the_last_bit():
    """Where BLAS computes them; below it is sums in the order of the elements."""
    by_rows = zyg.jit(lambda a, x: a @ x)
    for n, k in ((9, 8), (40, 33), (3, 200), (200, 3)):
        a, x = draw.normal(size=(n, k)), draw.normal(size=k)
        for given in (a, np.asfortranarray(a)):
            assert np.array_equal(by_rows(given, x), given @ x)
    a, x = draw.normal(size=(7, 8)), draw.normal(size=8)
    sums = [float(sum((p * q for p, q in zip(row, x)), 0.0)) for row in a]
    assert by_rows(a, x).tolist() == pytest.approx(sums, rel=1e-15, abs=1e-15)


def lapack(name, *types, result=None):
    """A function of factors.py."""
    whole = f"zyg_{name}_{blas.provider().bits}"
    return ctypes.CFUNCTYPE(result, *types)(engine().part(whole)[whole])


@each_in_turn
@pytest.mark.skipif(not blas.AVAILABLE, reason="there is no LAPACK that can be called")
def test_factors_and_what_is_solved_by_them():
    number, pointer = ctypes.c_int64, ctypes.c_void_p
    factor = lapack("factor", number, number, pointer, pointer, result=number)
    solve = lapack("solve_factored", number, number, pointer, pointer, pointer, number)
    for n in (0, 1, 2, 3, 5, 8, 9, 30):
        matrix = draw.normal(size=(n, n))
        lu, pivots = matrix.copy(), np.empty(n, blas.INTEGER)
        assert factor(n, n, lu.ctypes.data, pivots.ctypes.data) == 0
        for count in (0, 1, 4):
            for transposed in (0, 1):
                given = draw.normal(size=(count, n))
                rows = given.copy()
                solve(count, n, lu.ctypes.data, pivots.ctypes.data, rows.ctypes.data, transposed)
                expected = np.linalg.solve(matrix.T if transposed else matrix, given.T).T if n else given
                np.testing.assert_allclose(rows, expected, rtol=1e-7, atol=1e-9)
    for n, m in ((3, 5), (5, 3), (20, 9), (9, 20)):  # packed rows are columns to LAPACK
        matrix = draw.normal(size=(n, m))
        lu, pivots = matrix.copy(), np.empty(min(n, m), blas.INTEGER)
        assert factor(n, m, lu.ctypes.data, pivots.ctypes.data) == 0
        low, up = np.tril(lu.T, -1)[:, : min(n, m)] + np.eye(m, min(n, m)), np.triu(lu.T)[: min(n, m)]
        product = low @ up
        for k in reversed(range(min(n, m))):
            other = pivots[k] - 1
            product[[k, other]] = product[[other, k]]
        np.testing.assert_allclose(product.T, matrix, rtol=1e-11, atol=1e-11)
    for n in (1, 4, 8, 20):
        for singular in (np.zeros((n, n)), np.outer(np.arange(1.0, n + 1), np.ones(n)) if n > 1 else np.zeros((1, 1))):
            pivots = np.empty(n, blas.INTEGER)
            made = singular.copy()  # (by a name: .ctypes.data alone does not keep an array)
            assert factor(n, n, made.ctypes.data, pivots.ctypes.data) == 1


@each_in_turn
@pytest.mark.skipif(not blas.AVAILABLE, reason="there is no LAPACK that can be called")
def test_what_the_kernels_of_factors_say_in_python():
    number, pointer = ctypes.c_int64, ctypes.c_void_p
    factor = lapack("factor", number, number, pointer, pointer, result=number)
    solve = lapack("solve_factored", number, number, pointer, pointer, pointer, number)
    cholesky = lapack("cholesky", number, pointer, result=number)
    for n, m in ((1, 1), (4, 4), (12, 12), (3, 6), (6, 3)):
        one, other = draw.normal(size=(2, n, m)), np.zeros((2, min(n, m)), blas.INTEGER)
        one[1] = one[0]
        assert factor(n, m, one[0].ctypes.data, other[0].ctypes.data) == kernels.factor(n, m, one[1], other[1]) == 0
        np.testing.assert_allclose(one[0], one[1], rtol=1e-9, atol=1e-11)
        assert np.array_equal(other[0], other[1])
        for transposed in (0, 1) if n == m else ():
            x = np.repeat(draw.normal(size=(1, 2, n)), 2, axis=0)
            solve(2, n, one[0].ctypes.data, other[0].ctypes.data, x[0].ctypes.data, transposed)
            kernels.solve_factored(2, n, one[1], other[1], x[1], transposed)
            np.testing.assert_allclose(x[0], x[1], rtol=1e-7, atol=1e-9)
    for matrix, failed in ((np.eye(4) + 0.1, 0), (-np.eye(4), 1)):
        made = matrix.copy()
        assert kernels.cholesky(4, made) == cholesky(4, matrix.ctypes.data) == failed
        assert failed or np.allclose(made, matrix)


@each_in_turn
@pytest.mark.skipif(not blas.AVAILABLE, reason="there is no LAPACK that can be called")
def test_choleskys_factor():
    cholesky = lapack("cholesky", ctypes.c_int64, ctypes.c_void_p, result=ctypes.c_int64)
    for n in (0, 1, 2, 3, 8, 9, 30):
        root = draw.normal(size=(n, n))
        matrix = root @ root.T + n * np.eye(n)
        made = np.tril(matrix) + np.triu(draw.normal(size=(n, n)), 1)  # only the lower triangle is looked at
        assert cholesky(n, made.ctypes.data) == 0
        np.testing.assert_allclose(made, np.linalg.cholesky(matrix), rtol=1e-11, atol=1e-11)
        if n:
            matrix[n // 2, n // 2] = -1.0
            made = matrix.copy()
            assert cholesky(n, made.ctypes.data) == 1
    nan = np.full((3, 3), math.nan)
    assert cholesky(3, nan.ctypes.data) == 0 and np.isnan(nan[0, 0])


@each_in_turn
def test_the_place_of_a_number_in_a_row():
    types = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_double]
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *types)(engine().part("zyg_first_equal")["zyg_first_equal"])
    for n in (0, 1, 3, 7, 8, 9, 16, 21, 31, 32, 45, 75):
        numbers = np.arange(2.0 * n)
        for row in (numbers[:n], numbers[::2], numbers[:n][::-1]):
            for at in range(n):
                for value in (row[at], math.nan):
                    row[at], before = value, row[at]
                    assert function(n, row.ctypes.data, *row.strides, value) == at
                    assert function(n, row.ctypes.data, *row.strides, -1.0) == n
                    row[at] = before
            assert function(n, row.ctypes.data, *row.strides, math.nan) == n
    zeros = np.array([1.0, -0.0, 0.0])
    assert function(3, zeros.ctypes.data, 8, 0.0) == 1


@each_in_turn
def test_the_first_index_that_is_out_of_range():
    types = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *types)(engine().part("zyg_first_outside")["zyg_first_outside"])
    for n in (0, 1, 7, 8, 9, 21, 32, 45, 75):
        whole = draw.integers(-5, 5, 2 * n)
        for row in (whole[:n], whole[::2], whole[:n][::-1]):
            assert function(n, row.ctypes.data, *row.strides, 5) == n
            assert function(n, row.ctypes.data, *row.strides, 0) == 0
            for at in range(n):
                for wrong in (-6, 5, 2**63 - 1, -(2**63)):
                    row[at], before = wrong, row[at]
                    assert function(n, row.ctypes.data, *row.strides, 5) == at
                    row[at] = before


@each_in_turn
def test_the_largest_of_a_row_and_its_place():
    for name, reference in (("zyg_largest", np.max), ("zyg_smallest", np.min)):
        types = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
        function = ctypes.CFUNCTYPE(ctypes.c_int64, *types)(engine().part(name)[name])
        for n in (1, 2, 15, 16, 17, 100, 1024, 1025, 2047, 3000):
            for kind in range(6):
                row = np.round(draw.normal(size=n), 1 if kind < 3 else 9)
                if kind % 3:
                    row[draw.integers(n)] = (0, math.nan, math.inf)[kind % 3]
                if kind == 3:
                    row[:] = -math.inf
                value, expected = ctypes.c_double(), reference(row)
                place = function(n, row.ctypes.data, ctypes.addressof(value))
                np.testing.assert_equal(value.value, expected)
                places = np.isnan(row) if np.isnan(expected) else row == expected
                assert place == np.flatnonzero(places)[0]


def _layouts(n, m):
    """Matrices of these lengths with the bytes around them filled, by rows, by columns, and in steps."""
    for whole, key in (
        (np.empty((n, m)), np.s_[:, :]),
        (np.empty((m, n)).T, np.s_[:, :]),
        (np.empty((2 * n, 2 * m)), np.s_[::2, ::-2]),
    ):
        whole[...] = draw.normal(size=whole.shape)
        yield whole, whole[key]


@each_in_turn
def test_places_of_extrema_of_rows():
    for name, reference in (("zyg_row_largest", np.argmax), ("zyg_row_smallest", np.argmin)):
        types = [ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]]
        function = ctypes.CFUNCTYPE(None, *types)(engine().part(name)[name])
        for n, m in ((0, 1), (1, 1), (9, 1), (7, 15), (8, 16), (9, 17), (17, 3), (3, 64), (2, 1100)):
            for _, rows in _layouts(n, m):
                rows[...] = np.round(rows, 1)
                for numbers in (0, 3):
                    for _ in range(numbers if rows.size else 0):
                        rows[draw.integers(n), draw.integers(m)] = math.nan
                    places = np.full(n + 1, -7)
                    function(n, m, rows.ctypes.data, *rows.strides, places.ctypes.data)
                    assert places[:n].tolist() == reference(rows, axis=1).tolist() and places[n] == -7


@each_in_turn
def test_rows_are_taken_and_added_by_indices():
    matrix = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
    types = [ctypes.c_int64, ctypes.c_int64, *matrix, *matrix, *[ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]]
    take, add = (ctypes.CFUNCTYPE(None, *types)(engine().part(n)[n]) for n in ("zyg_take_rows", "zyg_add_rows"))
    for count, size, m in ((0, 0, 2), (5, 3, 0), (5, 3, 1), (7, 4, 4), (2, 9, 11)):
        index = draw.integers(-size, size, 2 * count)[::2] if size else np.zeros(0, np.int64)
        given = [index.ctypes.data, *index.strides, size]
        for whole, listed in _layouts(count, m):
            for _, table in _layouts(size, m):
                parts = [listed.ctypes.data, *listed.strides, table.ctypes.data, *table.strides]
                expected = table.copy()
                np.add.at(expected, index, listed)
                before, around = table.copy(), whole.copy()
                add(count, m, *parts, *given)
                np.testing.assert_array_equal(table, expected)
                assert np.array_equal(whole, around)
                table[...] = before
                take(count, m, *parts, *given)
                np.testing.assert_array_equal(listed, table[index])
                assert np.array_equal(table, before)


@each_in_turn
def test_an_element_of_each_row_is_taken_and_added_to():
    types = [ctypes.c_int64, *[ctypes.c_void_p, ctypes.c_int64], *[ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]]
    names = ("zyg_take_places", "zyg_add_places")
    take, add = (ctypes.CFUNCTYPE(None, *types, ctypes.c_void_p)(engine().part(n)[n]) for n in names)
    for _, rows in _layouts(6, 5):
        places, listed = draw.integers(0, 5, 6), np.zeros(12)[::2]
        parts = [listed.ctypes.data, *listed.strides, rows.ctypes.data, *rows.strides, places.ctypes.data]
        take(6, *parts)
        np.testing.assert_array_equal(listed, rows[np.arange(6), places])
        add(6, *parts)
        np.testing.assert_array_equal(2 * listed, rows[np.arange(6), places])


@each_in_turn
def test_elements_are_filled_added_and_copied():
    array = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
    given = lambda a: (a.ctypes.data, *a.strides)

    def kernel(name, *types):
        return ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, *array, *types)(engine().part(name)[name])

    fill, add, copy = kernel("zyg_fill", ctypes.c_double), kernel("zyg_add_to", *array), kernel("zyg_copy_to", *array)
    for n, m in ((0, 3), (1, 1), (1, 20), (3, 17), (5, 8)):
        for whole, a in _layouts(n, m):
            for _, b in _layouts(n, m):
                around, own = whole.copy(), a.copy()
                add(n, m, *given(a), *given(b))
                np.testing.assert_array_equal(a, own + b)
                copy(n, m, *given(a), *given(b))
                np.testing.assert_array_equal(a, b)
                fill(n, m, *given(a), 2.5)
                np.testing.assert_array_equal(a, np.full((n, m), 2.5))
                a[...] = own
                assert np.array_equal(whole, around)
    count_up = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)(engine().part("zyg_count_up")["zyg_count_up"])
    for n in (0, 1, 7, 8, 19):
        numbers = np.full(n + 1, -7)
        count_up(n, numbers.ctypes.data)
        assert numbers.tolist() == [*range(n), -7]
    for behind in range(-9, 10):  # in order, whatever overlaps
        x = draw.normal(size=60)
        expected = x.copy()
        for k in range(20, 40):
            expected[k + behind] += expected[k]
        add(1, 20, x[20 + behind :].ctypes.data, 0, 8, x[20:].ctypes.data, 0, 8)
        np.testing.assert_array_equal(x, expected)


@each_in_turn
def test_multiples_of_rows_are_added():
    matrix = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
    outer_types = [ctypes.c_int64] * 2 + matrix * 2 + [ctypes.c_void_p, ctypes.c_int64]
    outer = ctypes.CFUNCTYPE(None, *outer_types)(engine().part("zyg_add_outer")["zyg_add_outer"])
    given = lambda v: (v.ctypes.data, *v.strides)
    for n, m in ((0, 3), (3, 0), (1, 1), (1, 20), (3, 17), (5, 8)):
        for whole, a in _layouts(n, m):
            for _, b in _layouts(n, m):
                around, own = whole.copy(), a.copy()
                x = draw.normal(size=3 * n)[::-3]
                if n:
                    outer(n, m, *given(a), *given(b), x.ctypes.data, x.strides[0])
                    np.testing.assert_array_equal(a, own + x[:, None] * b[0])
                a[...] = own
                assert np.array_equal(whole, around)


@each_in_turn
def test_products_of_vectors_have_second_derivatives():
    def f(v):
        a, x, y = v[:20].reshape(5, 4), v[20:24], v[24:]
        b = a[::-1].T
        return (y @ (a @ x)) ** 2 + (x @ x[::-1]) * np.sum(a @ x) + (x @ b) @ y

    v = draw.normal(size=29)
    near = lambda f, v: np.array([(f(v + h) - f(v - h)) / 2e-5 for h in 1e-5 * np.eye(len(v))])
    slope = zyg.grad(f)
    np.testing.assert_allclose(slope(v), near(f, v), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(zyg.hessian(f, v), near(slope, v), rtol=1e-6, atol=1e-6)
    along = lambda v: slope(v) @ v
    np.testing.assert_allclose(zyg.grad(along)(v), near(along, v), rtol=1e-6, atol=1e-6)


@each_in_turn
def test_where_flags_are_set():
    integer, pointer = ctypes.c_int64, ctypes.c_void_p
    count = ctypes.CFUNCTYPE(integer, integer, pointer, integer)(engine().part("zyg_count_set")["zyg_count_set"])
    types = [integer, pointer, integer, pointer, integer]
    places = ctypes.CFUNCTYPE(None, *types)(engine().part("zyg_places_set")["zyg_places_set"])
    for n in (0, 1, 31, 32, 33, 100):
        for step in (1, 2, -1):
            flags = (draw.random(2 * n) < 0.4)[::step][:n]
            number = count(n, flags.ctypes.data, *flags.strides)
            result = np.full(number + 1, -7)
            places(number, result.ctypes.data, n, flags.ctypes.data, *flags.strides)
            assert [*result] == [*np.flatnonzero(flags), -7]


@wide
def test_each_element_is_one_sum_in_order():
    """With products that are not rounded; which integers cannot tell, but small numbers beside large ones can."""
    a, b = draw.normal(size=(9, 40)), draw.normal(size=(40, 50))
    made = zyg.jit(lambda a, b: a @ b)(a, b)
    for i, j in ((0, 0), (4, 31), (8, 49)):
        total = Fraction(0)
        for x, y in zip(a[i], b[:, j]):
            total = Fraction(float(total + Fraction(x) * Fraction(y)))
        assert made[i, j] == float(total)


@each_in_turn
@wide
def test_dots_are_added_and_nothing_else_is_touched():
    matrix = [ctypes.c_void_p, ctypes.c_int64]
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3, *matrix * 3)(engine().part("zyg_add_dots")["zyg_add_dots"])
    for n in (0, 1, 3, 4, 5, 7, 9, 14, 18):
        for m in (0, 1, 2, 3, 4, 6, 15, 16, 17, 35):
            for length in (0, 1, 7, 8, 9, 64, 1023, 1024, 1025, 2050):
                (_, a), (_, b), (whole, c) = guarded(n, length), guarded(m, length), guarded(n, m)
                before, expected = whole.copy(), c + a @ b.T
                given = [x for v in (a, b, c) for x in (v.ctypes.data, v.strides[0] // 8)]
                function(n, m, length, *given)
                np.testing.assert_allclose(c, expected, rtol=1e-11, atol=1e-11)
                before[1 : n + 1, 1 : m + 1] = c
                assert np.array_equal(whole, before, equal_nan=True)


@each_in_long_turn
@wide
def test_gradients_of_products_take_it():
    loss = lambda a, b, w: np.vdot(a @ b, w)
    by_factors, value = zyg.grad(loss, (0, 1)), zyg.jit(lambda a, b: a @ b)
    for n, k, m in ((3, 5, 200), (40, 33, 129), (130, 7, 20), (1, 90, 90), (200, 200, 70)):
        a, b, w = draw.normal(size=(n, k)), draw.normal(size=(k, m)), draw.normal(size=(n, m))
        for given in (a, np.asfortranarray(a), np.repeat(a, 2, axis=0)[::-2]):
            by_a, by_b = by_factors(given, b, w)
            np.testing.assert_allclose(by_a, w @ b.T, rtol=1e-11, atol=1e-11)
            np.testing.assert_allclose(by_b, given.T @ w, rtol=1e-11, atol=1e-11)
            np.testing.assert_allclose(value(given, b), given @ b, rtol=1e-11, atol=1e-11)
    by_a, by_b = by_factors(np.broadcast_to(a[0], (200, 200)), b, w)
    np.testing.assert_allclose(by_b, np.outer(a[0], w.sum(0)), rtol=1e-10, atol=1e-10)
    code = str(zyg.code_llvm(by_factors, a, b, w, raw=True))
    assert f"zyg_matmul_{blas.provider().bits}" in code


@each_in_turn
def test_products_that_nobody_reads_are_not_computed():
    """Neither the value, of which the gradient takes nothing, nor the cotangent of the other factor."""
    a, b, w = draw.normal(size=(5, 4)), draw.normal(size=(4, 3)), draw.normal(size=(5, 3))
    by_first = zyg.grad(lambda a, b: np.vdot(a @ b, w))
    np.testing.assert_allclose(by_first(a, b), w @ b.T, rtol=1e-13)
    assert str(zyg.code_typed(by_first, a, b)).count("call @rows_into") == 1
